// SPDX-License-Identifier: GPL-2.0
/*
 * Swift (specification 10.3): fcwnd from the delay of the fabric, ncwnd from
 * the level of the receiver's buffer, in fixed point.
 *
 * Called by fae.c through falcon_fae_swift, under the connection lock. Knows
 * nothing but the event, the values in force and its private words.
 *
 * Conflicts in the specification, resolved as:
 * - Smoothing: 10.1 weighs the sample by alpha, 10.3.4 the old value. As
 *   10.3.4, whose alpha of 0 means none, as the usual parameters have it.
 * - Flow scaling: 10.3.4 divides by sqrt(min) - sqrt(max), which is negative
 *   and makes the adder 0 for every window. As in the Swift paper that 10.3
 *   follows: alpha = max / (1/sqrt(min) - 1/sqrt(max)), so that the adder is
 *   max_flow_scaling at the smallest window and 0 at the largest.
 * - Inter-packet gap: 10.3.4 divides the gap in force by fcwnd again at each
 *   event, which grows without bound; 10.6.2 has 1/R - RTT after an ACK. Here
 *   rtt / fcwnd at each event, the distance between departures.
 * - Pacing begins below one packet (10.3.5, 10.6.2), not at exactly one
 *   (10.3.4).
 * - 10.3.2 returns the gap of the window before the decrease. It is computed
 *   for the new one, and the minimum of fcwnd holds there too.
 * - Retransmit timeout: computed in 10.3.2 only, yet an output of every event
 *   (10.5.7, 10.6.2.2): computed for each, from the smoothed RTT.
 * - ncwnd at its maximum (10.3.1) renews its marker at every event, so that it
 *   could never decrease while events come faster than one an RTT; likewise at
 *   its minimum it could never increase twice. "Treated as increased (if at
 *   max) or decreased (if at min)" (10.3.6) is read as: when the event asks
 *   for that direction.
 * - 10.3.3 leaves ncwnd_direction at increase after its decrease, so that
 *   every following NACK decreases again: it is set to decrease.
 * - nic_multiplicative_decrease_factor is a parameter (10.5.2) that no formula
 *   has: it scales the decrease of 10.3.1 as its fabric counterpart does, and
 *   is 1 by default, which is the formula as written.
 * - A state of 0 (rtt_state, delay_state) is none yet: the first sample is
 *   taken whole.
 */
#include <linux/bitops.h>
#include <linux/build_bug.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <net/falcon_wire.h>

#include "fae.h"

#define Q16_ONE		0x10000u
#define Q20_ONE		0x100000u

struct swift_priv {
	u32 fcwnd_q20;
	struct falcon_plb plb;
};

/*
 * Parameters and what follows from them, in 131.072 ns units with 8 more bits.
 * fs_alpha is for 1/sqrt(fcwnd) with fcwnd in packets.
 */
struct swift_derived {
	u32 fs_alpha_q8;
	u32 fs_beta_q8;
	u32 fs_max_q8;
	u32 per_hop_q8;
	u32 min_rto;		/* units */
};

static struct falcon_swift_params params = {
	.min_fcwnd_q20			= 10486,	/* 0.01 */
	.max_fcwnd_q20			= 256 * Q20_ONE,
	.init_fcwnd_q20			= 32 * Q20_ONE,
	.fabric_ai_q10			= 1024,		/* 1.0 */
	.fabric_md_q16			= 52429,	/* 0.8 */
	.max_fabric_md_q16		= 32768,	/* 0.5 */
	.min_ncwnd			= 1,
	.max_ncwnd			= 256,
	.init_ncwnd			= 64,
	.nic_ai				= 1,
	.nic_md_q16			= Q16_ONE,
	.max_nic_md_q16			= 32768,	/* 0.5 */
	.target_rx_buffer_level		= 15,
	.rtt_smoothing			= false,
	.rtt_smoothing_alpha_q16	= 49152,	/* 0.75 */
	.delay_smoothing_alpha_q16	= 0,
	.topology_scaling_per_hop_ns	= 1000,
	.min_flow_scaling_q20		= 104858,	/* 0.1 */
	.max_flow_scaling_q20		= 256 * Q20_ONE,
	.max_flow_scaling_ns		= 100000,
	.retransmit_timeout_scalar_q16	= 2 * Q16_ONE,
	.min_retransmit_timeout_ns	= 250000,
	.retransmit_limit		= 3,
	.plb_delay_multiplier_q10	= 1034,		/* 1.01 */
	.plb_threshold_q16		= 32768,	/* 0.5 */
	.plb_attempts			= 5,
	.prr_attempts			= 2,
};

const struct falcon_swift_params * const falcon_swift_in_use = &params;

/* What swift_derive() makes of the above */
static struct swift_derived derived = {
	.fs_alpha_q8	= 63008,
	.fs_beta_q8	= 3937,
	.fs_max_q8	= 195313,
	.per_hop_q8	= 1953,
	.min_rto	= 1907,
};

#define NS_MAX		1000000000u

/* Units of 131.072 ns with 8 more bits: 125 / 16384 * 256, to nearest */
static u32 ns_to_q8(u32 ns)
{
	return (u32)(((u64)ns * 125 + 32) >> 6);
}

/* 65536 / sqrt(x) in the middle of the 48 sixteenths that make [1, 4) */
static const u16 rsqrt_seed[48] = {
	64535, 62664, 60947, 59364, 57898, 56535, 55265, 54076,
	52961, 51912, 50923, 49989, 49104, 48265, 47467, 46707,
	45983, 45292, 44630, 43997, 43390, 42808, 42248, 41710,
	41192, 40693, 40211, 39746, 39297, 38863, 38443, 38036,
	37642, 37260, 36889, 36529, 36179, 35840, 35509, 35188,
	34875, 34571, 34274, 33985, 33703, 33427, 33159, 32897,
};

/*
 * 1 / sqrt(x), x in packets, 20 bits behind each point: every event needs it,
 * for flow scaling. x = m * 4^k with m in [1, 4); two steps of Newton's method
 * bring the table's 1.6 % below 10^-6.
 */
static u32 inv_sqrt_q20(u32 x_q20)
{
	unsigned int shift = (32 - fls(x_q20)) & ~1u;
	u32 m_q30 = x_q20 << shift;
	u64 y_q16 = rsqrt_seed[(m_q30 >> 26) - 16];
	u64 y_q30;

	y_q16 = y_q16 * ((3ULL << 30) - (m_q30 * (y_q16 * y_q16) >> 32)) >> 31;
	y_q30 = y_q16 * ((3ULL << 30) - (m_q30 * (y_q16 * y_q16) >> 32)) >> 17;
	return (u32)((y_q30 << (shift / 2)) >> 15);
}

static void swift_derive(const struct falcon_swift_params *p,
			 struct swift_derived *d)
{
	u32 inv_min = inv_sqrt_q20(p->min_flow_scaling_q20);
	u32 inv_max = inv_sqrt_q20(p->max_flow_scaling_q20);

	d->fs_max_q8 = ns_to_q8(p->max_flow_scaling_ns);
	d->fs_alpha_q8 = div_u64((u64)d->fs_max_q8 << 20, inv_min - inv_max);
	d->fs_beta_q8 = mul_u64_u32_shr(d->fs_alpha_q8, inv_max, 20);
	d->per_hop_q8 = ns_to_q8(p->topology_scaling_per_hop_ns);
	d->min_rto = falcon_ns_to_units(p->min_retransmit_timeout_ns);
}

static bool swift_windows_valid(const struct falcon_swift_params *p)
{
	return p->min_fcwnd_q20 >= Q20_ONE >> FALCON_FCWND_SHIFT &&
	       p->min_fcwnd_q20 <= p->init_fcwnd_q20 &&
	       p->init_fcwnd_q20 <= p->max_fcwnd_q20 &&
	       p->max_fcwnd_q20 >> 10 <= FALCON_FAE_MAX_FCWND &&
	       p->fabric_ai_q10 <= Q20_ONE &&
	       p->min_ncwnd >= 1 && p->min_ncwnd <= p->init_ncwnd &&
	       p->init_ncwnd <= p->max_ncwnd &&
	       p->max_ncwnd <= FALCON_FAE_MAX_NCWND;
}

static bool swift_fractions_valid(const struct falcon_swift_params *p)
{
	return p->fabric_md_q16 <= Q16_ONE && p->nic_md_q16 <= Q16_ONE &&
	       p->max_fabric_md_q16 <= Q16_ONE &&
	       p->max_nic_md_q16 <= Q16_ONE &&
	       p->rtt_smoothing_alpha_q16 < Q16_ONE &&
	       p->delay_smoothing_alpha_q16 < Q16_ONE &&
	       p->plb_threshold_q16 <= Q16_ONE;
}

static bool swift_scaling_valid(const struct falcon_swift_params *p)
{
	return p->min_flow_scaling_q20 >= Q20_ONE >> FALCON_FCWND_SHIFT &&
	       p->min_flow_scaling_q20 <= p->max_flow_scaling_q20 / 2 &&
	       p->max_flow_scaling_ns <= NS_MAX / 1000 &&
	       p->topology_scaling_per_hop_ns <= NS_MAX / 1000 &&
	       p->min_retransmit_timeout_ns <= NS_MAX;
}

/**
 * falcon_swift_set_params() - change the parameters, of all connections
 * @p:		the new ones
 *
 * Windows of connections follow at their next events.
 *
 * Context: Process context; the caller keeps other writers out. Readers take
 * no lock: one event may see some of the old values.
 * Return: 0, or -EINVAL if a value is out of its range.
 */
int falcon_swift_set_params(const struct falcon_swift_params *p)
{
	if (!swift_windows_valid(p) || !swift_fractions_valid(p) ||
	    !swift_scaling_valid(p) || p->target_rx_buffer_level > 31)
		return -EINVAL;
	params = *p;
	swift_derive(p, &derived);
	return 0;
}

/* HasRttElapsed (10.3.4) */
static bool swift_rtt_elapsed(const struct falcon_fae_event *ev, u32 marker,
			      u32 rtt)
{
	return falcon_fae_since(ev->now, marker) >= rtt;
}

/* UpdateTimeMarker (10.3.4): at most one RTT back, so that it cannot wrap */
static u32 swift_update_marker(const struct falcon_fae_event *ev, u32 marker,
			       u32 rtt)
{
	if (falcon_fae_since(ev->now, marker) > rtt)
		marker = (ev->now - rtt) & FALCON_FAE_TIME_MASK;
	return marker;
}

/* GetSmoothed (10.3.4) */
static u32 swift_smoothed(u32 alpha_q16, u32 state, u32 sample)
{
	if (!state)
		return sample;
	return ((u64)state * alpha_q16 +
		(u64)sample * (Q16_ONE - alpha_q16) + Q16_ONE / 2) >> 16;
}

/**
 * falcon_fae_rtt() - t4 - t1 of an event (10.1)
 * @ev:		an event with a valid sample
 *
 * Return: 131.072 ns units.
 */
u32 falcon_fae_rtt(const struct falcon_fae_event *ev)
{
	return falcon_fae_since(ev->t4, ev->t1);
}

/**
 * falcon_fae_delay() - the delay that an event's delay_select names (10.1)
 * @ev:		an event with a valid sample
 *
 * A delay below zero, by the rounding of four time-stamps or by clocks that
 * are not synchronised, is none.
 *
 * Return: 131.072 ns units.
 */
u32 falcon_fae_delay(const struct falcon_fae_event *ev)
{
	u32 delay;

	switch (ev->delay_select) {
	case FALCON_FAE_DELAY_FABRIC:
		delay = (ev->t4 - ev->t1) - (ev->t3 - ev->t2);
		break;
	case FALCON_FAE_DELAY_FWD:
		delay = ev->t2 - ev->t1;
		break;
	case FALCON_FAE_DELAY_REV:
		delay = ev->t4 - ev->t3;
		break;
	default:
		delay = ev->t4 - ev->t1;
		break;
	}
	delay &= FALCON_FAE_TIME_MASK;
	return delay > FALCON_FAE_TIME_MASK / 2 ? 0 : delay;
}

/**
 * falcon_swift_smooth() - smoothed_rtt and smoothed_delay (10.3.1)
 * @ev:		an ACK or NACK event
 * @res:	rtt_state and delay_state are updated if the event has a sample
 */
void falcon_swift_smooth(const struct falcon_fae_event *ev,
			 struct falcon_fae_result *res)
{
	if (!ev->rtt_valid)
		return;
	res->rtt_state = swift_smoothed(params.rtt_smoothing_alpha_q16,
					ev->rtt_state, falcon_fae_rtt(ev));
	res->delay_state = swift_smoothed(params.delay_smoothing_alpha_q16,
					  ev->delay_state,
					  falcon_fae_delay(ev));
}

/**
 * falcon_swift_guard_rtt() - the RTT of the window guards and of pacing
 * @ev:		an ACK or NACK event
 * @res:	after falcon_swift_smooth()
 *
 * Return: 131.072 ns units, 0 if there has been no sample.
 */
u32 falcon_swift_guard_rtt(const struct falcon_fae_event *ev,
			   const struct falcon_fae_result *res)
{
	if (ev->rtt_valid && !params.rtt_smoothing)
		return falcon_fae_rtt(ev);
	return res->rtt_state;
}

/**
 * falcon_swift_rto() - retransmit_timeout (10.3.2)
 * @res:	with rtt_state; the timeout in force stays until there is one
 *
 * Return: 131.072 ns units, at most 24 bits.
 */
u32 falcon_swift_rto(const struct falcon_fae_result *res)
{
	u64 rto;

	if (!res->rtt_state)
		return res->retransmit_timeout;
	rto = (u64)res->rtt_state * params.retransmit_timeout_scalar_q16 >> 16;
	return clamp_t(u64, rto, derived.min_rto, FALCON_FAE_TIME_MASK);
}

/* FabricDelayTarget (10.3.4), 8 more bits */
static u32 swift_delay_target_q8(const struct falcon_fae_event *ev,
				 u32 fcwnd_q20)
{
	u32 scaling = mul_u64_u32_shr(derived.fs_alpha_q8,
				      inv_sqrt_q20(fcwnd_q20), 20);
	u64 target = (u64)ev->base_delay_target << 8;

	if (scaling > derived.fs_beta_q8)
		target += min(scaling - derived.fs_beta_q8, derived.fs_max_q8);
	target += derived.per_hop_q8 * ev->forward_hops;
	return min_t(u64, target, U32_MAX);
}

/* Additive increase: fabric_additive_increment an RTT */
static u32 swift_increased(u32 fcwnd_q20, u32 acked)
{
	u64 inc = (u64)params.fabric_ai_q10 * acked << 10;

	if (fcwnd_q20 >= Q20_ONE)
		inc = div_u64(inc << 20, fcwnd_q20);
	return min_t(u64, fcwnd_q20 + inc, params.max_fcwnd_q20);
}

/*
 * Multiplicative decrease by how far @delay is above the target. However
 * little that is, fcwnd decreases: the window guard takes note of it.
 */
static u32 swift_decreased(u32 fcwnd_q20, u32 delay, u32 target_q8)
{
	u64 delay_q8 = (u64)delay << 8;
	u64 dec_q31 = div64_u64((params.fabric_md_q16 *
				 (delay_q8 - target_q8)) << 15, delay_q8);

	dec_q31 = min(dec_q31, (u64)params.max_fabric_md_q16 << 15);
	return fcwnd_q20 - max_t(u64, 1, mul_u64_u32_shr(dec_q31, fcwnd_q20,
							 31));
}

static u32 swift_clamp_fcwnd(u32 fcwnd_q20)
{
	return clamp(fcwnd_q20, params.min_fcwnd_q20, params.max_fcwnd_q20);
}

/* ComputeAckFabricCongestionWindow (10.3.1); the window guard is 10.3.6 */
static u32 swift_ack_fcwnd(const struct falcon_fae_event *ev, u32 rtt,
			   u32 target_q8, u32 prev_q20,
			   struct falcon_fae_result *res)
{
	u32 marker = ev->fabric_window_time_marker;
	u32 fcwnd_q20 = prev_q20;

	if ((u64)res->delay_state << 8 <= target_q8)
		fcwnd_q20 = swift_increased(prev_q20, ev->num_packets_acked);
	else if (swift_rtt_elapsed(ev, marker, rtt))
		fcwnd_q20 = swift_decreased(prev_q20, res->delay_state,
					    target_q8);
	fcwnd_q20 = swift_clamp_fcwnd(fcwnd_q20);

	if (fcwnd_q20 < prev_q20 || fcwnd_q20 == params.min_fcwnd_q20)
		marker = ev->now;
	else
		marker = swift_update_marker(ev, marker, rtt);
	res->fabric_window_time_marker = marker;
	return fcwnd_q20;
}

/* ComputeInterPacketGap (10.3.4) */
static u32 swift_gap(u32 fcwnd_q20, u32 rtt)
{
	if (fcwnd_q20 >= Q20_ONE)
		return 0;
	return min_t(u64, div_u64((u64)rtt << 20, fcwnd_q20),
		     FALCON_FAE_MAX_GAP);
}

static void swift_set_fcwnd(struct swift_priv *sp, u32 fcwnd_q20, u32 rtt,
			    struct falcon_fae_result *res)
{
	sp->fcwnd_q20 = fcwnd_q20;
	res->fcwnd = fcwnd_q20 >> 10;
	res->inter_packet_gap = swift_gap(fcwnd_q20, rtt);
}

/* Multiplicative decrease of ncwnd, in whole requests, rounded down */
static u32 swift_ncwnd_decreased(u32 ncwnd, u32 dec_q16)
{
	dec_q16 = min(dec_q16, params.max_nic_md_q16);
	return ncwnd * (Q16_ONE - dec_q16) >> 16;
}

/* ComputeAckNICCongestionWindow (10.3.1) */
static u32 swift_ack_ncwnd(const struct falcon_fae_event *ev, bool elapsed,
			   struct falcon_fae_result *res)
{
	u32 over;

	if (ev->rx_buffer_level < params.target_rx_buffer_level) {
		if (ev->ncwnd_direction && !elapsed)
			return ev->ncwnd;
		res->ncwnd_direction = 1;
		return ev->ncwnd + params.nic_ai;
	}
	if (!elapsed)
		return ev->ncwnd;
	res->ncwnd_direction = 0;
	if (!ev->rx_buffer_level)
		return ev->ncwnd;
	over = ev->rx_buffer_level - params.target_rx_buffer_level;
	return swift_ncwnd_decreased(ev->ncwnd, params.nic_md_q16 * over /
						ev->rx_buffer_level);
}

/* ProcessNackResourceExhaustion (10.3.3), the part of ncwnd */
static u32 swift_nack_ncwnd(const struct falcon_fae_event *ev, bool elapsed,
			    struct falcon_fae_result *res)
{
	if (!ev->ncwnd_direction && !elapsed)
		return ev->ncwnd;
	res->ncwnd_direction = 0;
	return swift_ncwnd_decreased(ev->ncwnd, params.max_nic_md_q16);
}

static bool falcon_fae_no_resource(const struct falcon_fae_event *ev)
{
	return ev->event_type == FALCON_FAE_NACK &&
	       ev->nack_code == FALCON_NACK_RESOURCE;
}

/**
 * falcon_swift_ncwnd() - the NIC window after an ACK or NACK (10.3.1, 10.3.3)
 * @ev:		the event
 * @rtt:	131.072 ns units, of the window guard
 * @res:	ncwnd, its direction and its marker are set
 */
void falcon_swift_ncwnd(const struct falcon_fae_event *ev, u32 rtt,
			struct falcon_fae_result *res)
{
	u32 marker = ev->nic_window_time_marker;
	bool elapsed = swift_rtt_elapsed(ev, marker, rtt);
	bool nack = falcon_fae_no_resource(ev);
	bool up = !nack && ev->rx_buffer_level < params.target_rx_buffer_level;
	u32 ncwnd;

	if (nack)
		ncwnd = swift_nack_ncwnd(ev, elapsed, res);
	else
		ncwnd = swift_ack_ncwnd(ev, elapsed, res);
	ncwnd = clamp_t(u32, ncwnd, params.min_ncwnd, params.max_ncwnd);

	if (ncwnd != ev->ncwnd || (up && ncwnd == params.max_ncwnd) ||
	    (!up && ncwnd == params.min_ncwnd))
		marker = ev->now;
	else
		marker = swift_update_marker(ev, marker, rtt);
	res->nic_window_time_marker = marker;
	res->ncwnd = ncwnd;
}

/* ProcessAckNackCommon (10.3.1) and, of a resource NACK, 10.3.3 */
static void swift_ack(struct swift_priv *sp, const struct falcon_fae_event *ev,
		      struct falcon_fae_result *res)
{
	u32 prev_q20 = falcon_fine_fcwnd(sp->fcwnd_q20, ev->fcwnd);
	u32 target_q8 = swift_delay_target_q8(ev, prev_q20);
	u32 rtt;

	falcon_swift_smooth(ev, res);
	rtt = falcon_swift_guard_rtt(ev, res);
	swift_set_fcwnd(sp, swift_ack_fcwnd(ev, rtt, target_q8, prev_q20, res),
			rtt, res);
	falcon_swift_ncwnd(ev, rtt, res);

	if (ev->event_type == FALCON_FAE_ACK)
		res->randomize_path = falcon_plb_ack(&sp->plb, &params, ev,
						     res->delay_state,
						     target_q8);
}

/* ProcessRetransmit (10.3.2) */
static void swift_retx(struct swift_priv *sp,
		       const struct falcon_fae_event *ev,
		       struct falcon_fae_result *res)
{
	u32 fcwnd_q20 = falcon_fine_fcwnd(sp->fcwnd_q20, ev->fcwnd);
	u32 marker = ev->fabric_window_time_marker;
	u32 rtt = ev->rtt_state;

	if (ev->retransmit_count == 1 && swift_rtt_elapsed(ev, marker, rtt)) {
		fcwnd_q20 = mul_u64_u32_shr(fcwnd_q20, Q16_ONE -
					    params.max_fabric_md_q16, 16);
		res->fabric_window_time_marker = ev->now;
	} else if (ev->retransmit_count >= params.retransmit_limit) {
		fcwnd_q20 = params.min_fcwnd_q20;
		res->fabric_window_time_marker = ev->now;
	}
	swift_set_fcwnd(sp, swift_clamp_fcwnd(fcwnd_q20), rtt, res);
	res->randomize_path = falcon_prr_retx(&sp->plb, params.prr_attempts,
					      ev);
}

static void swift_on_event(void *priv, const struct falcon_fae_event *ev,
			   struct falcon_fae_result *res)
{
	if (ev->event_type == FALCON_FAE_RETX)
		swift_retx(priv, ev, res);
	else
		swift_ack(priv, ev, res);
	res->retransmit_timeout = falcon_swift_rto(res);
}

static void swift_init(void *priv, struct falcon_fae_result *res)
{
	struct swift_priv *sp = priv;

	BUILD_BUG_ON(sizeof(*sp) > FALCON_FAE_PRIV_WORDS * sizeof(u64));
	sp->fcwnd_q20 = params.init_fcwnd_q20;
	res->fcwnd = params.init_fcwnd_q20 >> 10;
	res->ncwnd = params.init_ncwnd;
	res->ncwnd_direction = 1;
}

const struct falcon_fae_ops falcon_fae_swift = {
	.name		= "swift",
	.init		= swift_init,
	.on_event	= swift_on_event,
};
