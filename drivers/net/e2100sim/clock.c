// SPDX-License-Identifier: GPL-2.0
/*
 * The clocks of a device. The counter runs free, in picoseconds, from wherever
 * it began and with a drift of its own; nothing sets it while the device lives
 * between two resets, and a change of drift bends it without a step. The PHC
 * that people set and discipline is a timecounter over it.
 *
 * Whoever stamps calls e2100_counter(), whoever shows a stamp e2100_phc_time().
 */
#include <linux/math64.h>
#include "e2100sim.h"

#define E2100_PHC_SHIFT		10	/* ps of the counter in a cycle */
/* 1.024 ns a cycle; a timecounter's nanoseconds do not overflow for a minute. */
#define E2100_CC_SHIFT		28
#define E2100_CC_MULT		((u32)(1024ULL * (1ULL << E2100_CC_SHIFT) / 1000))
#define E2100_PHC_REFRESH	(10 * HZ)

/* In a section of @clock->seq. */
static u64 e2100_counter_at(const struct e2100_clock *clock, u64 now_ns)
{
	u64 ns = now_ns - clock->base_ns;
	u64 bend = mul_u64_u64_div_u64(ns, abs(clock->drift_ppb), 1000000);
	u64 ps = clock->base_ps + ns * 1000;

	return clock->drift_ppb < 0 ? ps - bend : ps + bend;
}

/**
 * e2100_counter - the free-running counter
 * @clock:	of the device
 *
 * Context: any.
 * Return: picoseconds, never 0.
 */
u64 e2100_counter(const struct e2100_clock *clock)
{
	unsigned int seq;
	u64 ps;

	do {
		seq = read_seqbegin(&clock->seq);
		ps = e2100_counter_at(clock, ktime_get_ns());
	} while (read_seqretry(&clock->seq, seq));
	return ps ?: 1;
}

/**
 * e2100_counter_was - can the counter have been at @ps?
 * @clock:	of the device
 * @ps:		a stamp, perhaps from before a reset
 *
 * It wraps once in 213 days.
 *
 * Context: any.
 */
bool e2100_counter_was(const struct e2100_clock *clock, u64 ps)
{
	u64 since = READ_ONCE(clock->since_ps);

	return ps - since <= e2100_counter(clock) - since;
}

/**
 * e2100_clock_drift - let the counter run at another rate from now on
 * @clock:	of the device
 * @ppb:	faster than ktime, parts in 10^9
 *
 * Context: process.
 */
void e2100_clock_drift(struct e2100_clock *clock, s32 ppb)
{
	u64 now;

	write_seqlock_bh(&clock->seq);
	now = ktime_get_ns();
	clock->base_ps = e2100_counter_at(clock, now);
	clock->base_ns = now;
	clock->drift_ppb = ppb;
	write_sequnlock_bh(&clock->seq);
}

/**
 * e2100_clock_reset - the counter begins anew
 * @clock:	of a device whose ports are not registered with Falcon
 * @start_ps:	where
 *
 * The PHC goes on: its time is kept.
 *
 * Context: process.
 */
void e2100_clock_reset(struct e2100_clock *clock, u64 start_ps)
{
	u64 ns;

	spin_lock_bh(&clock->lock);
	ns = timecounter_read(&clock->tc);
	write_seqlock(&clock->seq);
	clock->base_ns = ktime_get_ns();
	clock->base_ps = start_ps;
	clock->since_ps = start_ps;
	write_sequnlock(&clock->seq);
	timecounter_init(&clock->tc, &clock->cc, ns);
	spin_unlock_bh(&clock->lock);
}

/**
 * e2100_phc_time - what the PHC showed when the counter was @counter_ps
 * @clock:	of the device
 * @counter_ps:	a stamp
 *
 * Context: process or softirq.
 * Return: nanoseconds.
 */
u64 e2100_phc_time(struct e2100_clock *clock, u64 counter_ps)
{
	u64 cycles = counter_ps >> E2100_PHC_SHIFT, before, ns;

	spin_lock_bh(&clock->lock);
	before = (clock->tc.cycle_last - cycles) & clock->cc.mask;
	/* A stamp may be read long after it was taken. */
	if (before <= clock->cc.mask / 2)
		ns = clock->tc.nsec - mul_u64_u32_shr(before, clock->cc.mult,
						      clock->cc.shift);
	else
		ns = timecounter_cyc2time(&clock->tc, cycles);
	spin_unlock_bh(&clock->lock);
	return ns;
}

static u64 e2100_cc_read(const struct cyclecounter *cc)
{
	return e2100_counter(container_of(cc, struct e2100_clock, cc)) >>
	       E2100_PHC_SHIFT;
}

static struct e2100_clock *e2100_ptp_clock(struct ptp_clock_info *info)
{
	return container_of(info, struct e2100_clock, info);
}

static int e2100_ptp_gettimex(struct ptp_clock_info *info,
			      struct timespec64 *ts,
			      struct ptp_system_timestamp *sts)
{
	struct e2100_clock *clock = e2100_ptp_clock(info);
	u64 ns;

	spin_lock_bh(&clock->lock);
	ptp_read_system_prets(sts);
	ns = timecounter_read(&clock->tc);
	ptp_read_system_postts(sts);
	spin_unlock_bh(&clock->lock);
	*ts = ns_to_timespec64(ns);
	return 0;
}

static int e2100_ptp_settime(struct ptp_clock_info *info,
			     const struct timespec64 *ts)
{
	struct e2100_clock *clock = e2100_ptp_clock(info);

	spin_lock_bh(&clock->lock);
	timecounter_init(&clock->tc, &clock->cc, timespec64_to_ns(ts));
	spin_unlock_bh(&clock->lock);
	return 0;
}

static int e2100_ptp_adjtime(struct ptp_clock_info *info, s64 delta)
{
	struct e2100_clock *clock = e2100_ptp_clock(info);

	spin_lock_bh(&clock->lock);
	timecounter_adjtime(&clock->tc, delta);
	spin_unlock_bh(&clock->lock);
	return 0;
}

static int e2100_ptp_adjfine(struct ptp_clock_info *info, long scaled_ppm)
{
	struct e2100_clock *clock = e2100_ptp_clock(info);
	u64 diff = mul_u64_u64_div_u64(E2100_CC_MULT, abs(scaled_ppm),
				       1000000ULL << 16);

	spin_lock_bh(&clock->lock);
	timecounter_read(&clock->tc);
	clock->cc.mult = scaled_ppm < 0 ? E2100_CC_MULT - diff :
					  E2100_CC_MULT + diff;
	spin_unlock_bh(&clock->lock);
	return 0;
}

static int e2100_ptp_getcycles(struct ptp_clock_info *info,
			       struct timespec64 *ts,
			       struct ptp_system_timestamp *sts)
{
	struct e2100_clock *clock = e2100_ptp_clock(info);
	u64 ps;

	ptp_read_system_prets(sts);
	ps = e2100_counter(clock);
	ptp_read_system_postts(sts);
	*ts = ns_to_timespec64(div_u64(ps, 1000));
	return 0;
}

/* Cycles since the last reading must not overflow nanoseconds. */
static long e2100_ptp_refresh(struct ptp_clock_info *info)
{
	struct e2100_clock *clock = e2100_ptp_clock(info);

	spin_lock_bh(&clock->lock);
	timecounter_read(&clock->tc);
	spin_unlock_bh(&clock->lock);
	return E2100_PHC_REFRESH;
}

static const struct ptp_clock_info e2100_ptp_info = {
	.owner		= THIS_MODULE,
	.name		= E2100_NAME,
	.max_adj	= 100000000,
	.adjfine	= e2100_ptp_adjfine,
	.adjtime	= e2100_ptp_adjtime,
	.gettimex64	= e2100_ptp_gettimex,
	.settime64	= e2100_ptp_settime,
	.getcyclesx64	= e2100_ptp_getcycles,
	.do_aux_work	= e2100_ptp_refresh,
};

/**
 * e2100_clock_init - start counter and PHC
 * @clock:	zeroed
 * @parent:	of the PHC's device
 *
 * The PHC begins with the system's time.
 *
 * Context: process, may sleep.
 * Return: 0 or a negative errno.
 */
int e2100_clock_init(struct e2100_clock *clock, struct device *parent)
{
	seqlock_init(&clock->seq);
	spin_lock_init(&clock->lock);
	clock->base_ns = ktime_get_ns();
	clock->cc.read = e2100_cc_read;
	clock->cc.mask = CYCLECOUNTER_MASK(64 - E2100_PHC_SHIFT);
	clock->cc.mult = E2100_CC_MULT;
	clock->cc.shift = E2100_CC_SHIFT;
	timecounter_init(&clock->tc, &clock->cc, ktime_get_real_ns());
	clock->info = e2100_ptp_info;
	clock->ptp = ptp_clock_register(&clock->info, parent);
	if (IS_ERR(clock->ptp))
		return PTR_ERR(clock->ptp);
	ptp_schedule_worker(clock->ptp, E2100_PHC_REFRESH);
	return 0;
}

/**
 * e2100_clock_exit - the PHC goes
 * @clock:	nobody stamps with it any more
 */
void e2100_clock_exit(struct e2100_clock *clock)
{
	ptp_clock_unregister(clock->ptp);
}
