// SPDX-License-Identifier: GPL-2.0
/*
 * Swift, PLB and PRR (section 10.3, 10.4), and their fixed point against the
 * same formulas in double precision.
 */
#include <linux/errno.h>
#include <net/falcon/core/core.h>
#include <net/falcon/core/fae.h>

#include "harness.h"

#define MASK		FALCON_FAE_TIME_MASK
#define PKT		1024u	/* fcwnd is 11.10 */
#define UNIT_NS		131.072

struct world {
	u64 priv[FALCON_FAE_PRIV_WORDS];
	struct falcon_fae_event ev;
	struct falcon_fae_result res;
};

static void set_rtt(struct world *w, u32 rtt, u32 delay)
{
	w->ev.t1 = 5000;
	w->ev.t2 = 9000;
	w->ev.t4 = (w->ev.t1 + rtt) & MASK;
	w->ev.t3 = w->ev.t2 + rtt - delay;
	w->ev.rtt_valid = 1;
}

/* An ACK of one packet, RTT 400 units, delay 100 below a target of 200 */
static void begin(struct world *w)
{
	memset(w, 0, sizeof(*w));
	w->ev.event_type = FALCON_FAE_ACK;
	w->ev.delay_select = FALCON_FAE_DELAY_FABRIC;
	w->ev.fcwnd = 10 * PKT;
	w->ev.ncwnd = 64;
	w->ev.ncwnd_direction = 1;
	w->ev.num_packets_acked = 1;
	w->ev.base_delay_target = 200;
	w->ev.retransmit_timeout = 7629;
	w->ev.now = 100000;
	w->ev.fabric_window_time_marker = 50000;
	w->ev.nic_window_time_marker = 50000;
	w->ev.rx_buffer_level = 15;
	set_rtt(w, 400, 100);
}

static void run(struct world *w, const struct falcon_fae_ops *ops)
{
	const struct falcon_fae_event *ev = &w->ev;

	w->res = (struct falcon_fae_result){
		.fcwnd = ev->fcwnd, .ncwnd = ev->ncwnd,
		.ncwnd_direction = ev->ncwnd_direction,
		.inter_packet_gap = ev->inter_packet_gap,
		.retransmit_timeout = ev->retransmit_timeout,
		.fabric_window_time_marker = ev->fabric_window_time_marker,
		.nic_window_time_marker = ev->nic_window_time_marker,
		.base_delay_target = ev->base_delay_target,
		.delay_state = ev->delay_state, .rtt_state = ev->rtt_state,
	};
	ops->on_event(w->priv, ev, &w->res);
}

static void swift(struct world *w)
{
	run(w, &falcon_fae_swift);
}

/* The result becomes what is in force. */
static void carry(struct world *w)
{
	w->ev.fcwnd = w->res.fcwnd;
	w->ev.ncwnd = w->res.ncwnd;
	w->ev.ncwnd_direction = w->res.ncwnd_direction;
	w->ev.inter_packet_gap = w->res.inter_packet_gap;
	w->ev.retransmit_timeout = w->res.retransmit_timeout;
	w->ev.fabric_window_time_marker = w->res.fabric_window_time_marker;
	w->ev.nic_window_time_marker = w->res.nic_window_time_marker;
	w->ev.delay_state = w->res.delay_state;
	w->ev.rtt_state = w->res.rtt_state;
}

/* Flow scaling by the Swift paper, for the default parameters */
static double scaling_units(double fcwnd)
{
	double alpha = 100000 / UNIT_NS / (1 / sqrt(0.1) - 1 / sqrt(256));
	double adder = alpha / sqrt(fcwnd) - alpha / sqrt(256);

	return fmin(fmax(adder, 0), 100000 / UNIT_NS);
}

static double target_units(const struct falcon_fae_event *ev, double fcwnd)
{
	return ev->base_delay_target + scaling_units(fcwnd) +
	       ev->forward_hops * 1000 / UNIT_NS;
}

/* The largest delay, in units, at which fcwnd still increases */
static u32 measured_target(struct world *w)
{
	u32 delay;

	for (delay = 1; delay < 2000; delay++) {
		set_rtt(w, 4000, delay);
		memset(w->priv, 0, sizeof(w->priv));
		swift(w);
		if (w->res.fcwnd < w->ev.fcwnd)
			break;
	}
	return delay - 1;
}

/* spec: 10.1-1 full, fabric, forward and reverse delay */
TEST(delay_select)
{
	struct falcon_fae_event ev = {
		.t1 = 1000, .t2 = 1300, .t3 = 1350, .t4 = 1720,
	};

	ev.delay_select = FALCON_FAE_DELAY_FULL;
	EXPECT_EQ(falcon_fae_delay(&ev), 720);
	ev.delay_select = FALCON_FAE_DELAY_FABRIC;
	EXPECT_EQ(falcon_fae_delay(&ev), 670);
	ev.delay_select = FALCON_FAE_DELAY_FWD;
	EXPECT_EQ(falcon_fae_delay(&ev), 300);
	ev.delay_select = FALCON_FAE_DELAY_REV;
	EXPECT_EQ(falcon_fae_delay(&ev), 370);
	EXPECT_EQ(falcon_fae_rtt(&ev), 720);
}

/* spec: 10.1-1 time-stamps of 24 bits wrap */
TEST(delay_across_the_wrap)
{
	struct falcon_fae_event ev = {
		.t1 = MASK - 99, .t2 = MASK, .t3 = 50, .t4 = 200,
		.delay_select = FALCON_FAE_DELAY_FABRIC,
	};

	EXPECT_EQ(falcon_fae_rtt(&ev), 300);
	EXPECT_EQ(falcon_fae_delay(&ev), 300 - 51);
}

/* spec: 10.1-1 a delay below zero, by rounding, is none */
TEST(negative_delay_is_none)
{
	struct falcon_fae_event ev = {
		.t1 = 1000, .t2 = 2000, .t3 = 2101, .t4 = 1100,
		.delay_select = FALCON_FAE_DELAY_FABRIC,
	};

	EXPECT_EQ(falcon_fae_delay(&ev), 0);
	ev.delay_select = FALCON_FAE_DELAY_REV;
	EXPECT_EQ(falcon_fae_delay(&ev), 0);
}

/* spec: 10.3.1-1 additive increase: fabric_additive_increment an RTT */
TEST(increase_above_one_packet)
{
	struct world w;

	begin(&w);
	w.ev.num_packets_acked = 5;
	swift(&w);
	EXPECT_EQ(w.res.fcwnd, 10 * PKT + PKT / 2);
	EXPECT_EQ(w.res.inter_packet_gap, 0);
}

/* spec: 10.3.1-1 below one packet the increase is not divided by fcwnd */
TEST(increase_below_one_packet)
{
	struct world w;

	begin(&w);
	w.ev.fcwnd = PKT / 4;
	w.ev.num_packets_acked = 2;
	swift(&w);
	EXPECT_EQ(w.res.fcwnd, 2 * PKT + PKT / 4);

	begin(&w);
	w.ev.fcwnd = PKT;
	swift(&w);
	EXPECT_EQ(w.res.fcwnd, 2 * PKT);
}

/* spec: 10.3.1-1 fcwnd increases while smoothed_delay <= delay_target */
TEST(delay_at_the_target_increases)
{
	struct world w;
	u32 target;

	begin(&w);
	w.ev.fcwnd = 256 * PKT;		/* no flow scaling there */
	target = measured_target(&w);
	EXPECT_EQ(target, 200);
}

/*
 * spec: 10.3.1-1 small increases add up, though one is below the wire's 2^-10
 */
TEST(increases_below_the_interface_quantum_add_up)
{
	struct world w;
	unsigned int i;

	begin(&w);
	w.ev.fcwnd = 200 * PKT;
	for (i = 0; i < 200; i++) {
		swift(&w);
		carry(&w);
	}
	EXPECT_NEAR(w.res.fcwnd / 1024.0, 201, 0.005);
}

/* spec: 10.3.1-2 multiplicative decrease by beta x the excess of delay */
TEST(decrease_in_proportion)
{
	struct world w;
	double t, want;

	begin(&w);
	set_rtt(&w, 500, 450);
	swift(&w);
	t = target_units(&w.ev, 10);
	want = 10 * (1 - 0.8 * (450 - t) / 450);
	EXPECT_NEAR(w.res.fcwnd / 1024.0, want, 0.005 * want);
	EXPECT_EQ(w.res.fabric_window_time_marker, w.ev.now);
}

/* spec: 10.3.1-2 max_fabric_multiplicative_decrease_factor */
TEST(decrease_at_most_by_half)
{
	struct world w;

	begin(&w);
	set_rtt(&w, 40000, 39000);
	w.ev.now = 150000;
	swift(&w);
	EXPECT_EQ(w.res.fcwnd, 5 * PKT);
}

/* spec: 10.3.1-2 10.3.6-1 fcwnd decreases at most once an RTT */
TEST(no_second_decrease_within_an_rtt)
{
	struct world w;

	begin(&w);
	set_rtt(&w, 1000, 900);
	w.ev.fabric_window_time_marker = w.ev.now - 999;
	swift(&w);
	EXPECT_EQ(w.res.fcwnd, 10 * PKT);
	EXPECT_EQ(w.res.fabric_window_time_marker, w.ev.now - 999);

	w.ev.fabric_window_time_marker = w.ev.now - 1000;
	swift(&w);
	EXPECT_LT(w.res.fcwnd, 10 * PKT);
	EXPECT_EQ(w.res.fabric_window_time_marker, w.ev.now);
}

/*
 * spec: 10.3.4-3 10.3.6-2 an increase drags an old marker to now - RTT, never
 * a young
 */
TEST(increase_drags_the_fabric_marker)
{
	struct world w;

	begin(&w);
	swift(&w);
	EXPECT_EQ(w.res.fabric_window_time_marker, w.ev.now - 400);
	w.ev.fabric_window_time_marker = w.ev.now - 10;
	swift(&w);
	EXPECT_EQ(w.res.fabric_window_time_marker, w.ev.now - 10);
	w.ev.fabric_window_time_marker = w.ev.now - 400;
	swift(&w);
	EXPECT_EQ(w.res.fabric_window_time_marker, w.ev.now - 400);
}

/* spec: 10.3.4-3 10.3.6-2 the guards hold across the wrap of 24 bits */
TEST(guards_across_the_wrap)
{
	struct world w;

	begin(&w);
	set_rtt(&w, 1000, 900);
	w.ev.now = 200;
	w.ev.fabric_window_time_marker = MASK - 700;	/* 901 ago */
	swift(&w);
	EXPECT_EQ(w.res.fcwnd, 10 * PKT);

	w.ev.fabric_window_time_marker = MASK - 799;	/* 1000 ago */
	swift(&w);
	EXPECT_LT(w.res.fcwnd, 10 * PKT);

	/* An increase leaves the marker within reach, before the wrap. */
	begin(&w);
	w.ev.now = 100;
	w.ev.fabric_window_time_marker = 5000;		/* nearly 2.2 s ago */
	swift(&w);
	EXPECT_EQ(w.res.fabric_window_time_marker, (100 - 400) & MASK);
}

/* spec: 10.3.1-3 fcwnd stays within min_fcwnd and max_fcwnd */
TEST(fcwnd_bounds)
{
	struct world w;

	begin(&w);
	w.ev.fcwnd = 256 * PKT;
	w.ev.num_packets_acked = 1023;
	swift(&w);
	EXPECT_EQ(w.res.fcwnd, 256 * PKT);

	begin(&w);
	w.ev.fcwnd = 11;
	set_rtt(&w, 30000, 29000);
	swift(&w);
	EXPECT_EQ(w.res.fcwnd, 10);		/* 0.01 */
}

/* spec: 10.3.1-3 fcwnd at its minimum counts as decreased */
TEST(fcwnd_at_minimum_renews_the_marker)
{
	struct world w;

	begin(&w);
	w.ev.fcwnd = 10;
	set_rtt(&w, 30000, 29000);
	w.ev.fabric_window_time_marker = w.ev.now - 100;
	swift(&w);
	EXPECT_EQ(w.res.fabric_window_time_marker, w.ev.now);
}

/*
 * spec: 10.3.4-1 10.3.4-2 flow scaling: max at the smallest window, 0 at the
 * largest
 */
TEST(flow_scaling)
{
	static const u32 fcwnd[] = {
		10, 64, 102, 103, 200, 512, 1024, 1025, 4096, 30000, 100000,
		200000, 256 * PKT, 300 * PKT,
	};
	struct world w;
	unsigned int i;

	begin(&w);
	w.ev.num_packets_acked = 0;
	for (i = 0; i < ARRAY_SIZE(fcwnd); i++) {
		double want;

		w.ev.fcwnd = fcwnd[i];
		want = target_units(&w.ev, fcwnd[i] / 1024.0);
		/* at the bounds of fcwnd no decrease can be seen */
		if (fcwnd[i] > 10 && fcwnd[i] <= 256 * PKT)
			EXPECT_NEAR(measured_target(&w), want - 0.5,
				    0.501 + want * 0.001);
	}
	EXPECT_NEAR(scaling_units(0.1), 762.9, 0.1);
	EXPECT_NEAR(scaling_units(256), 0, 0.0001);
}

/* spec: 10.3.4-1 topology scaling: 1 us a hop */
TEST(topology_scaling)
{
	struct world w;
	unsigned int hops;

	begin(&w);
	w.ev.fcwnd = 256 * PKT;
	for (hops = 0; hops < 16; hops++) {
		w.ev.forward_hops = hops;
		EXPECT_EQ(measured_target(&w),
			  (u32)(200 + hops * 1000 / UNIT_NS));
	}
}

/* spec: 10.1-4 GetSmoothed weighs the old value by alpha */
TEST(rtt_smoothing)
{
	struct world w;

	begin(&w);
	w.ev.rtt_state = 800;
	swift(&w);
	EXPECT_EQ(w.res.rtt_state, 800 * 3 / 4 + 400 / 4);
	EXPECT_EQ(w.res.delay_state, 100);
}

/* spec: 10.1-4 a state of 0 takes the first sample whole */
TEST(first_sample_is_taken_whole)
{
	struct world w;

	begin(&w);
	swift(&w);
	EXPECT_EQ(w.res.rtt_state, 400);
	EXPECT_EQ(w.res.delay_state, 100);
}

/* spec: 10.6.2.1-5 delay_state and rtt_state serve when there is no sample */
TEST(states_serve_without_a_sample)
{
	struct world w;

	begin(&w);
	w.ev.rtt_valid = 0;
	w.ev.t4 = 77;
	w.ev.rtt_state = 1000;
	w.ev.delay_state = 900;
	w.ev.fabric_window_time_marker = w.ev.now - 1000;
	swift(&w);
	EXPECT_LT(w.res.fcwnd, 10 * PKT);
	EXPECT_EQ(w.res.rtt_state, 1000);
	EXPECT_EQ(w.res.delay_state, 900);

	w.ev.fabric_window_time_marker = w.ev.now - 999;
	memset(w.priv, 0, sizeof(w.priv));
	swift(&w);
	EXPECT_EQ(w.res.fcwnd, 10 * PKT);
}

/* spec: 10.3.4-4 10.3.4-5 the gap is rtt / fcwnd below one packet, else 0 */
TEST(inter_packet_gap)
{
	struct world w;
	unsigned int i;

	begin(&w);
	set_rtt(&w, 400, 100);
	w.ev.fcwnd = PKT / 2;
	w.ev.num_packets_acked = 0;
	for (i = 0; i < 5; i++) {
		swift(&w);
		EXPECT_EQ(w.res.inter_packet_gap, 800);
		carry(&w);
	}
	w.ev.fcwnd = PKT;
	swift(&w);
	EXPECT_EQ(w.res.inter_packet_gap, 0);
	w.ev.fcwnd = PKT - 1;
	swift(&w);
	EXPECT_EQ(w.res.inter_packet_gap, 400);
}

/* spec: 10.6.2.2-2 inter_packet_gap has 20 bits */
TEST(inter_packet_gap_saturates)
{
	struct world w;

	begin(&w);
	set_rtt(&w, 100000, 100);
	w.ev.fcwnd = 20;
	w.ev.num_packets_acked = 0;
	swift(&w);
	EXPECT_EQ(w.res.inter_packet_gap, 0xfffff);
}

static double gbps_of_gap(u32 rtt, u32 fcwnd)
{
	struct world w;

	begin(&w);
	set_rtt(&w, rtt, 20);
	w.ev.fcwnd = fcwnd;
	w.ev.num_packets_acked = 0;
	swift(&w);
	return 4096 * 8 / (w.res.inter_packet_gap * UNIT_NS);
}

/* spec: 10.6.2.1-6 pacing reaches from 800 kb/s to 8 Gb/s, in packets of 4 KiB */
TEST(gap_reaches_from_800_kbps_to_8_gbps)
{
	EXPECT_TRUE(gbps_of_gap(31, PKT - 1) >= 8);
	EXPECT_TRUE(gbps_of_gap(100000, 20) <= 0.0008);
}

static void nic(struct world *w, u32 ncwnd, u8 level, bool up, u32 since)
{
	begin(w);
	w->ev.ncwnd = ncwnd;
	w->ev.rx_buffer_level = level;
	w->ev.ncwnd_direction = up;
	w->ev.nic_window_time_marker = w->ev.now - since;
	swift(w);
}

/*
 * spec: 10.3.1-4 10.3.6-1 ncwnd increases once an RTT while the level is below
 * target
 */
TEST(ncwnd_increase_once_an_rtt)
{
	struct world w;

	nic(&w, 64, 14, true, 400);
	EXPECT_EQ(w.res.ncwnd, 65);
	EXPECT_EQ(w.res.nic_window_time_marker, w.ev.now);
	nic(&w, 64, 14, true, 399);
	EXPECT_EQ(w.res.ncwnd, 64);
	EXPECT_EQ(w.res.nic_window_time_marker, w.ev.now - 399);
}

/* spec: 10.3.1-4 after a decrease ncwnd may increase at once */
TEST(ncwnd_increase_after_decrease)
{
	struct world w;

	nic(&w, 64, 14, false, 1);
	EXPECT_EQ(w.res.ncwnd, 65);
	EXPECT_EQ(w.res.ncwnd_direction, 1);
	EXPECT_EQ(w.res.nic_window_time_marker, w.ev.now);
}

/*
 * spec: 10.3.1-5 10.5-2 ncwnd decreases by the excess of the level, at most by
 * half
 */
TEST(ncwnd_decrease_in_proportion)
{
	struct world w;

	nic(&w, 64, 20, true, 400);
	EXPECT_EQ(w.res.ncwnd, 64 * 15 / 20);
	EXPECT_EQ(w.res.ncwnd_direction, 0);
	EXPECT_EQ(w.res.nic_window_time_marker, w.ev.now);
	nic(&w, 64, 31, true, 400);
	EXPECT_EQ(w.res.ncwnd, 32);
	nic(&w, 64, 31, true, 399);
	EXPECT_EQ(w.res.ncwnd, 64);
	EXPECT_EQ(w.res.ncwnd_direction, 1);
}

/* spec: 10.3.1-5 a level at its target decreases by nothing */
TEST(ncwnd_at_target_level)
{
	struct world w;

	nic(&w, 64, 15, true, 1000);
	EXPECT_EQ(w.res.ncwnd, 64);
	EXPECT_EQ(w.res.ncwnd_direction, 0);
	EXPECT_EQ(w.res.nic_window_time_marker, w.ev.now - 400);
}

/* spec: 10.3.1-5 10.3.5-3 ncwnd stays within min_ncwnd and max_ncwnd */
TEST(ncwnd_bounds)
{
	struct world w;

	nic(&w, 256, 0, true, 400);
	EXPECT_EQ(w.res.ncwnd, 256);
	EXPECT_EQ(w.res.nic_window_time_marker, w.ev.now);
	nic(&w, 1, 31, true, 400);
	EXPECT_EQ(w.res.ncwnd, 1);
	EXPECT_EQ(w.res.nic_window_time_marker, w.ev.now);
}

/*
 * spec: 10.3.1-7 ncwnd at its maximum can decrease within an RTT of congestion
 */
TEST(ncwnd_leaves_its_maximum)
{
	struct world w;
	unsigned int i;

	begin(&w);
	w.ev.ncwnd = 256;
	for (i = 0; i < 1000; i++) {
		w.ev.rx_buffer_level = i < 500 ? 0 : 31;
		w.ev.now += 100;	/* four events an RTT */
		swift(&w);
		carry(&w);
		if (i < 500)
			ASSERT_EQ(w.res.ncwnd, 256);
		if (i == 503)
			EXPECT_EQ(w.res.ncwnd, 128);
	}
	EXPECT_EQ(w.res.ncwnd, 1);
}

/* spec: 10.3.1-7 ncwnd leaves its minimum, one request an RTT */
TEST(ncwnd_leaves_its_minimum)
{
	struct world w;
	unsigned int i;

	begin(&w);
	w.ev.ncwnd = 1;
	w.ev.rx_buffer_level = 0;
	w.ev.nic_window_time_marker = w.ev.now;
	for (i = 0; i < 40; i++) {
		w.ev.now += 100;
		swift(&w);
		carry(&w);
	}
	EXPECT_EQ(w.res.ncwnd, 11);
}

static void resource_nack(struct world *w, u32 ncwnd, bool up, u32 since)
{
	begin(w);
	w->ev.event_type = FALCON_FAE_NACK;
	w->ev.nack_code = FALCON_NACK_RESOURCE;
	w->ev.ncwnd = ncwnd;
	w->ev.rx_buffer_level = 0;
	w->ev.ncwnd_direction = up;
	w->ev.nic_window_time_marker = w->ev.now - since;
	swift(w);
}

/* spec: 9.2.4-3 10.3.3-1 a resource NACK takes the maximum decrease of ncwnd */
TEST(resource_nack_halves_ncwnd)
{
	struct world w;

	resource_nack(&w, 64, true, 1);
	EXPECT_EQ(w.res.ncwnd, 32);
	EXPECT_EQ(w.res.ncwnd_direction, 0);
	EXPECT_EQ(w.res.nic_window_time_marker, w.ev.now);
	EXPECT_GT(w.res.fcwnd, 10 * PKT);	/* as by any other NACK */
}

/*
 * spec: 10.3.3-2 10.3.6-1 a second resource NACK within an RTT decreases no
 * more
 */
TEST(resource_nack_once_an_rtt)
{
	struct world w;

	resource_nack(&w, 64, false, 399);
	EXPECT_EQ(w.res.ncwnd, 64);
	EXPECT_EQ(w.res.nic_window_time_marker, w.ev.now - 399);
	resource_nack(&w, 64, false, 400);
	EXPECT_EQ(w.res.ncwnd, 32);
	resource_nack(&w, 1, true, 400);
	EXPECT_EQ(w.res.ncwnd, 1);
}

/* spec: 10.3.1-6 other NACKs are processed as ACKs */
TEST(other_nacks_are_as_acks)
{
	struct world a, n;

	begin(&a);
	a.ev.rx_buffer_level = 20;
	n = a;
	n.ev.event_type = FALCON_FAE_NACK;
	n.ev.nack_code = FALCON_NACK_RNR;
	swift(&a);
	swift(&n);
	EXPECT_BYTES(&a.res, &n.res, sizeof(a.res));
}

static void retx(struct world *w, u8 count, u32 since)
{
	begin(w);
	w->ev.event_type = FALCON_FAE_RETX;
	w->ev.retransmit_reason = FALCON_FAE_RETX_EARLY;
	w->ev.retransmit_count = count;
	w->ev.rtt_state = 400;
	w->ev.rtt_valid = 0;
	w->ev.fabric_window_time_marker = w->ev.now - since;
	swift(w);
}

/* spec: 10.3.2-1 the first retransmission halves fcwnd, once an RTT */
TEST(first_retransmission_halves_fcwnd)
{
	struct world w;

	retx(&w, 1, 400);
	EXPECT_EQ(w.res.fcwnd, 5 * PKT);
	EXPECT_EQ(w.res.fabric_window_time_marker, w.ev.now);
	EXPECT_EQ(w.res.ncwnd, 64);
	retx(&w, 1, 399);
	EXPECT_EQ(w.res.fcwnd, 10 * PKT);
	EXPECT_EQ(w.res.fabric_window_time_marker, w.ev.now - 399);
	retx(&w, 2, 4000);
	EXPECT_EQ(w.res.fcwnd, 10 * PKT);
}

/*
 * spec: 10.3.2-2 10.3.2-5 retransmit_limit sends fcwnd to its minimum, and
 * paces
 */
TEST(retransmit_limit)
{
	struct world w;
	u8 count;

	for (count = 3; count <= 7; count++) {
		retx(&w, count, 1);
		EXPECT_EQ(w.res.fcwnd, 10);
		EXPECT_EQ(w.res.fabric_window_time_marker, w.ev.now);
		EXPECT_NEAR(w.res.inter_packet_gap, 40000, 40);
	}
}

/* spec: 10.3.2-2 10.3.2-5 fcwnd does not fall below its minimum */
TEST(retransmission_at_the_minimum)
{
	struct world w;

	retx(&w, 1, 400);
	w.ev.fcwnd = 12;
	memset(w.priv, 0, sizeof(w.priv));
	swift(&w);
	EXPECT_EQ(w.res.fcwnd, 10);
}

/* spec: 10.3.2-3 retransmit_timeout = max(scalar x smoothed_rtt, min) */
TEST(retransmit_timeout)
{
	struct world w;

	begin(&w);
	set_rtt(&w, 4000, 100);
	swift(&w);
	EXPECT_EQ(w.res.retransmit_timeout, 8000);
	set_rtt(&w, 953, 100);
	swift(&w);
	EXPECT_EQ(w.res.retransmit_timeout, 1907);	/* 250 us */
	set_rtt(&w, 954, 100);
	swift(&w);
	EXPECT_EQ(w.res.retransmit_timeout, 1908);
	retx(&w, 1, 400);
	EXPECT_EQ(w.res.retransmit_timeout, 1907);
	w.ev.rtt_state = MASK - 3;
	swift(&w);
	EXPECT_EQ(w.res.retransmit_timeout, MASK);
}

/* spec: 10.3.2-3 without an RTT the initial timeout stays in force */
TEST(retransmit_timeout_before_any_sample)
{
	struct world w;

	retx(&w, 1, 400);
	w.ev.rtt_state = 0;
	swift(&w);
	EXPECT_EQ(w.res.retransmit_timeout, 7629);
}

/* spec: 10.3.4-3 an algorithm may guard by the smoothed RTT instead */
TEST(guard_by_smoothed_rtt)
{
	struct falcon_swift_params old = *falcon_swift_in_use, p = old;
	struct world w;

	p.rtt_smoothing = true;
	ASSERT_EQ(falcon_swift_set_params(&p), 0);
	begin(&w);
	w.ev.rtt_state = 2000;			/* smoothed: 1600 */
	w.ev.fabric_window_time_marker = w.ev.now - 1000;
	w.ev.base_delay_target = 1;
	w.ev.fcwnd = 256 * PKT;
	swift(&w);
	EXPECT_EQ(w.res.fcwnd, 256 * PKT);
	w.ev.fabric_window_time_marker = w.ev.now - 1600;
	swift(&w);
	EXPECT_LT(w.res.fcwnd, 256 * PKT);
	falcon_swift_set_params(&old);
}

/* One round trip for PLB: @ok packets below, @bad packets above the target */
static bool plb_round(struct world *w, u32 ok, u32 bad)
{
	bool reroute = false;

	w->ev.fcwnd = (ok + bad) * PKT;
	w->ev.fabric_window_time_marker = w->ev.now;	/* holds fcwnd */
	if (ok) {
		set_rtt(w, 1000, 150);
		w->ev.num_packets_acked = ok;
		run(w, &falcon_fae_swift);
		reroute |= w->res.randomize_path;
	}
	if (bad) {
		set_rtt(w, 1000, 900);
		w->ev.num_packets_acked = bad;
		run(w, &falcon_fae_swift);
		reroute |= w->res.randomize_path;
	}
	return reroute;
}

/* spec: 10.4-3 five consecutive congested RTTs reroute the flow, then anew */
TEST(plb_reroutes_after_consecutive_congested_rounds)
{
	struct world w;
	unsigned int i;

	begin(&w);
	for (i = 1; i <= 20; i++)
		EXPECT_EQ(plb_round(&w, 0, 10), i % 5 == 0);
}

/*
 * spec: 10.4-3 a round with a smaller congested fraction begins the count anew
 */
TEST(plb_count_restarts)
{
	struct world w;
	unsigned int i;

	begin(&w);
	for (i = 0; i < 4; i++)
		EXPECT_FALSE(plb_round(&w, 0, 10));
	EXPECT_FALSE(plb_round(&w, 6, 4));
	for (i = 0; i < 4; i++)
		EXPECT_FALSE(plb_round(&w, 0, 10));
	EXPECT_TRUE(plb_round(&w, 0, 10));
}

/* spec: 10.4-2 a fraction no less than plb_congestion_threshold is congested */
TEST(plb_fraction_at_the_threshold)
{
	struct world w;
	unsigned int i;

	begin(&w);
	for (i = 0; i < 4; i++)
		EXPECT_FALSE(plb_round(&w, 5, 5));
	EXPECT_TRUE(plb_round(&w, 5, 5));
	for (i = 0; i < 20; i++)
		EXPECT_FALSE(plb_round(&w, 501, 499));
}

/* spec: 10.4-1 congested: smoothed_delay > delay_target x multiplier */
TEST(plb_delay_multiplier)
{
	struct world w;
	unsigned int i, delay;

	for (delay = 150; delay < 260; delay++) {
		bool reroute = false;

		begin(&w);
		w.ev.fcwnd = 256 * PKT;		/* target 200 */
		w.ev.num_packets_acked = 256;
		w.ev.ncwnd = 256;
		w.ev.fabric_window_time_marker = w.ev.now;
		set_rtt(&w, 1000, delay);
		for (i = 0; i < 5; i++) {
			swift(&w);
			reroute |= w.res.randomize_path;
		}
		EXPECT_EQ(reroute, delay > 200 * 1034 / 1024);
	}
}

/* spec: 10.4-2 a round is the smaller of fcwnd and ncwnd before the event */
TEST(plb_round_is_the_smaller_window)
{
	struct falcon_plb plb = { 0 };
	struct world w;
	unsigned int i;

	begin(&w);
	w.ev.fcwnd = 100 * PKT;
	w.ev.ncwnd = 8;
	for (i = 1; i <= 40; i++)
		EXPECT_EQ(falcon_plb_ack(&plb, falcon_swift_in_use, &w.ev, 900,
					 200 << 8), i % 40 == 0);
	w.ev.fcwnd = 4 * PKT;
	for (i = 1; i <= 20; i++)
		EXPECT_EQ(falcon_plb_ack(&plb, falcon_swift_in_use, &w.ev, 900,
					 200 << 8), i % 20 == 0);
}

/* spec: 10.4-4 PLB runs at ACK events only, and can be turned off */
TEST(plb_not_at_nacks)
{
	struct falcon_swift_params p = *falcon_swift_in_use;
	struct falcon_plb plb = { 0 };
	struct world w;
	unsigned int i;

	begin(&w);
	w.ev.event_type = FALCON_FAE_NACK;
	w.ev.nack_code = FALCON_NACK_RNR;
	for (i = 0; i < 50; i++)
		EXPECT_FALSE(plb_round(&w, 0, 10));

	p.plb_attempts = 0;
	for (i = 0; i < 500; i++)
		EXPECT_FALSE(falcon_plb_ack(&plb, &p, &w.ev, 900, 200 << 8));
}

/* spec: 10.4+1 after the second time-out of a packet its flow is rerouted */
TEST(prr_after_repeated_timeouts)
{
	struct falcon_plb plb = { 0 };
	struct falcon_fae_event ev = {
		.event_type = FALCON_FAE_RETX, .now = 7,
		.retransmit_reason = FALCON_FAE_RETX_RTO,
		.retransmit_timeout = 2000,
	};

	ev.retransmit_count = 1;
	EXPECT_FALSE(falcon_prr_retx(&plb, 2, &ev));
	ev.retransmit_count = 2;
	EXPECT_FALSE(falcon_prr_retx(&plb, 0, &ev));
	EXPECT_FALSE(falcon_prr_retx(&plb, 3, &ev));
	EXPECT_TRUE(falcon_prr_retx(&plb, 2, &ev));
	ev.retransmit_count = 7;
	EXPECT_FALSE(falcon_prr_retx(&plb, 2, &ev));	/* same time-out */
	ev.now = 2006;
	EXPECT_FALSE(falcon_prr_retx(&plb, 2, &ev));
	ev.now = 2007;
	EXPECT_TRUE(falcon_prr_retx(&plb, 2, &ev));
	ev.now = 9999;
	EXPECT_TRUE(falcon_prr_retx(&plb, 200, &ev));	/* count saturates */
	ev.now = 20000;
	ev.retransmit_reason = FALCON_FAE_RETX_EARLY;
	EXPECT_FALSE(falcon_prr_retx(&plb, 2, &ev));
}

/* spec: 10.4+1 a dead path: Swift asks for a new one */
TEST(swift_reroutes_after_timeouts)
{
	struct world w;

	retx(&w, 2, 4000);
	EXPECT_FALSE(w.res.randomize_path);
	w.ev.retransmit_reason = FALCON_FAE_RETX_RTO;
	swift(&w);
	EXPECT_TRUE(w.res.randomize_path);
}

/* spec: 10.5-1 initial windows, and the default parameters */
TEST(initial_windows)
{
	struct falcon_fae_result res = { 0 };
	u64 priv[FALCON_FAE_PRIV_WORDS] = { 0 };

	falcon_fae_swift.init(priv, &res);
	EXPECT_EQ(res.fcwnd, 32 * PKT);
	EXPECT_EQ(res.ncwnd, 64);
	EXPECT_EQ(res.inter_packet_gap, 0);
}

/* spec: 10.5-1 what follows from the default parameters is what is built in */
TEST(built_in_parameters_are_consistent)
{
	struct world a, b;
	unsigned int n;

	for (n = 0; n < 1000; n++) {
		begin(&a);
		a.ev.fcwnd = 10 + unit_rand_below(256 * PKT);
		a.ev.forward_hops = unit_rand_below(16);
		set_rtt(&a, 1200, unit_rand_below(1200));
		b = a;
		swift(&a);
		if (!n)
			ASSERT_EQ(falcon_swift_set_params(falcon_swift_in_use),
				  0);
		swift(&b);
		ASSERT_BYTES(&a.res, &b.res, sizeof(a.res));
	}
}

#define REFUSED(field, value) do {					\
	struct falcon_swift_params _p = *falcon_swift_in_use;		\
	_p.field = value;						\
	EXPECT_EQ(falcon_swift_set_params(&_p), -EINVAL);		\
} while (0)

/* spec: 10.5-1 a parameter out of its range is refused, and none changes */
TEST(parameter_ranges)
{
	struct falcon_swift_params before = *falcon_swift_in_use;

	REFUSED(min_fcwnd_q20, 1023);
	REFUSED(min_fcwnd_q20, before.init_fcwnd_q20 + 1);
	REFUSED(init_fcwnd_q20, before.max_fcwnd_q20 + 1);
	REFUSED(max_fcwnd_q20, 0x80000000);
	REFUSED(fabric_ai_q10, (1024 << 10) + 1);
	REFUSED(min_ncwnd, 0);
	REFUSED(min_ncwnd, before.init_ncwnd + 1);
	REFUSED(init_ncwnd, before.max_ncwnd + 1);
	REFUSED(max_ncwnd, 2048);
	REFUSED(fabric_md_q16, 65537);
	REFUSED(nic_md_q16, 65537);
	REFUSED(max_fabric_md_q16, 65537);
	REFUSED(max_nic_md_q16, 65537);
	REFUSED(rtt_smoothing_alpha_q16, 65536);
	REFUSED(delay_smoothing_alpha_q16, 65536);
	REFUSED(plb_threshold_q16, 65537);
	REFUSED(min_flow_scaling_q20, 0);
	REFUSED(min_flow_scaling_q20, before.max_flow_scaling_q20 / 2 + 1);
	REFUSED(max_flow_scaling_ns, 1000001);
	REFUSED(topology_scaling_per_hop_ns, 1000001);
	REFUSED(min_retransmit_timeout_ns, 1000000001);
	REFUSED(target_rx_buffer_level, 32);
	EXPECT_BYTES(falcon_swift_in_use, &before, sizeof(before));
}

/* spec: 10.3.1-5 a target level of 0: an empty buffer decreases nothing */
TEST(target_level_zero)
{
	struct falcon_swift_params old = *falcon_swift_in_use, p = old;
	struct world w;

	p.target_rx_buffer_level = 0;
	ASSERT_EQ(falcon_swift_set_params(&p), 0);
	nic(&w, 64, 0, true, 400);
	EXPECT_EQ(w.res.ncwnd, 64);
	nic(&w, 64, 1, true, 400);
	EXPECT_EQ(w.res.ncwnd, 32);
	falcon_swift_set_params(&old);
}

/*
 * The formulas of 10.3 in double precision, from the same event. Windows in
 * packets, times in units.
 */
struct ref {
	double fcwnd, gap, rto, srtt;
	u32 ncwnd, fmarker, nmarker;
	bool up;
};

static bool ref_elapsed(u32 now, u32 marker, double rtt)
{
	return ((now - marker) & MASK) >= rtt;
}

static u32 ref_update(u32 now, u32 marker, u32 rtt)
{
	return ((now - marker) & MASK) > rtt ? (now - rtt) & MASK : marker;
}

static void ref_fabric(struct ref *r, const struct falcon_fae_event *ev,
		       u32 rtt, double delay)
{
	double prev = r->fcwnd, target = target_units(ev, prev);

	if (delay <= target) {
		if (r->fcwnd >= 1)
			r->fcwnd += ev->num_packets_acked / r->fcwnd;
		else
			r->fcwnd += ev->num_packets_acked;
	} else if (ref_elapsed(ev->now, r->fmarker, rtt)) {
		r->fcwnd *= fmax(1 - 0.8 * (delay - target) / delay, 0.5);
	}
	r->fcwnd = fmin(fmax(r->fcwnd, 0.01), 256);
	if (r->fcwnd < prev || r->fcwnd == 0.01)
		r->fmarker = ev->now;
	else
		r->fmarker = ref_update(ev->now, r->fmarker, rtt);
}

static void ref_nic(struct ref *r, const struct falcon_fae_event *ev, u32 rtt)
{
	bool elapsed = ref_elapsed(ev->now, r->nmarker, rtt);
	double level = ev->rx_buffer_level, n = r->ncwnd, prev = n;
	bool want_up = false;

	if (ev->event_type == FALCON_FAE_NACK &&
	    ev->nack_code == FALCON_NACK_RESOURCE) {
		if (r->up || elapsed) {
			n = floor(n * 0.5);
			r->up = false;
		}
	} else if (level < 15) {
		want_up = true;
		if (!r->up || elapsed) {
			n++;
			r->up = true;
		}
	} else if (elapsed) {
		n = floor(n * fmax(1 - (level - 15) / level, 0.5) + 0.000001);
		r->up = false;
	}
	n = fmin(fmax(n, 1), 256);
	if (n != prev || (want_up && n == 256) || (!want_up && n == 1))
		r->nmarker = ev->now;
	else
		r->nmarker = ref_update(ev->now, r->nmarker, rtt);
	r->ncwnd = n;
}

static void ref_event(struct ref *r, const struct falcon_fae_event *ev)
{
	u32 rtt = ev->rtt_state;

	if (ev->event_type == FALCON_FAE_RETX) {
		if (ev->retransmit_count == 1 &&
		    ref_elapsed(ev->now, r->fmarker, rtt)) {
			r->fcwnd = fmax(r->fcwnd * 0.5, 0.01);
			r->fmarker = ev->now;
		} else if (ev->retransmit_count >= 3) {
			r->fcwnd = 0.01;
			r->fmarker = ev->now;
		}
	} else {
		double delay = ev->delay_state;

		if (ev->rtt_valid) {
			rtt = (ev->t4 - ev->t1) & MASK;
			delay = (rtt - ((ev->t3 - ev->t2) & MASK)) & MASK;
			r->srtt = r->srtt ? 0.75 * r->srtt + 0.25 * rtt : rtt;
		}
		ref_fabric(r, ev, rtt, delay);
		ref_nic(r, ev, rtt);
	}
	r->gap = r->fcwnd < 1 ? fmin(rtt / r->fcwnd, 0xfffff) : 0;
	if (r->srtt)
		r->rto = fmax(2 * r->srtt, 250000 / UNIT_NS);
}

/* Windows over all magnitudes, with the bounds among them */
static u32 random_fcwnd(void)
{
	static const u32 edge[] = {
		10, 11, PKT - 1, PKT, PKT + 1, 2 * PKT, 256 * PKT - 1,
		256 * PKT, 102, 103,
	};

	if (!unit_rand_below(20))
		return edge[unit_rand_below(ARRAY_SIZE(edge))];
	return 10 + (unit_rand_below(256 * PKT - 10) >> unit_rand_below(18));
}

/* A delay that is not so near to the target that rounding may decide */
static u32 random_delay(double target, u32 rtt)
{
	u32 delay;

	do {
		if (unit_rand_below(4))
			delay = unit_rand_below(rtt + 1);
		else	/* the neighbours of the target */
			delay = target + 3 - unit_rand_below(6);
	} while (delay > rtt || fabs(delay - target) < 0.02);
	return delay;
}

static void random_event(struct world *w, bool own_states)
{
	struct falcon_fae_event *ev = &w->ev;
	u32 rtt = 20 + (unit_rand_below(100000) >> unit_rand_below(12));
	double fcwnd;

	ev->event_type = unit_rand_below(20) ? FALCON_FAE_ACK :
		unit_rand_below(2) ? FALCON_FAE_NACK : FALCON_FAE_RETX;
	ev->nack_code = 1 + unit_rand_below(2);
	ev->retransmit_count = unit_rand_below(8);
	ev->retransmit_reason = FALCON_FAE_RETX_EARLY;
	ev->num_packets_acked = unit_rand_below(16) ? unit_rand_below(12) :
				unit_rand_below(1024);
	ev->base_delay_target = 1 + unit_rand_below(1000);
	ev->forward_hops = unit_rand_below(16);
	ev->rx_buffer_level = unit_rand_below(32);
	ev->now = own_states ? unit_rand() & MASK :
		  (ev->now + unit_rand_below(2 * rtt)) & MASK;
	if (own_states) {
		ev->fcwnd = random_fcwnd();
		ev->ncwnd = 1 + unit_rand_below(256);
		ev->ncwnd_direction = unit_rand() & 1;
		ev->rtt_state = unit_rand_below(4) ? rtt : 0;
		ev->delay_state = unit_rand_below(rtt);
		ev->fabric_window_time_marker =
			(ev->now - unit_rand_below(2 * rtt)) & MASK;
		ev->nic_window_time_marker =
			(ev->now - unit_rand_below(2 * rtt)) & MASK;
		ev->retransmit_timeout = 1907;
	}
	fcwnd = ev->fcwnd / 1024.0;
	ev->rtt_valid = 1;
	ev->t1 = unit_rand() & MASK;
	ev->t2 = unit_rand() & MASK;
	ev->t4 = (ev->t1 + rtt) & MASK;
	ev->t3 = (ev->t2 + rtt - random_delay(target_units(ev, fcwnd), rtt)) &
		 MASK;
}

static void compare(const struct world *w, const struct ref *r)
{
	const struct falcon_fae_result *res = &w->res;

	/* 0.5 %, and what the 11.10 format itself cannot show */
	ASSERT_NEAR(res->fcwnd / 1024.0, r->fcwnd,
		    0.005 * r->fcwnd + 1 / 1024.0);
	if (fabs(r->fcwnd - 1) > 0.005)
		ASSERT_NEAR(res->inter_packet_gap, r->gap, 0.005 * r->gap + 1);
	if (r->srtt)
		ASSERT_NEAR(res->retransmit_timeout, r->rto,
			    0.005 * r->rto + 2);
	ASSERT_EQ(res->ncwnd, r->ncwnd);
	ASSERT_EQ(res->ncwnd_direction, r->up);
	ASSERT_EQ(res->fabric_window_time_marker, r->fmarker);
	ASSERT_EQ(res->nic_window_time_marker, r->nmarker);
}

/* spec: 10.3+2 within 0.5 % of double precision, event by event, any state */
TEST(fixed_point_against_double_one_event)
{
	struct world w;
	unsigned int n;

	for (n = 0; n < 1000000; n++) {
		struct ref r;

		begin(&w);
		random_event(&w, true);
		r = (struct ref){
			.fcwnd = w.ev.fcwnd / 1024.0, .ncwnd = w.ev.ncwnd,
			.fmarker = w.ev.fabric_window_time_marker,
			.nmarker = w.ev.nic_window_time_marker,
			.up = w.ev.ncwnd_direction, .srtt = w.ev.rtt_state,
		};
		/* The same bound in both: 0.01 is not a multiple of 2^-10. */
		if (w.ev.fcwnd == 10)
			r.fcwnd = 0.01;
		ref_event(&r, &w.ev);
		swift(&w);
		compare(&w, &r);
	}
}

/* spec: 10.3+2 within 0.5 % of double precision, over a million events */
TEST(fixed_point_against_double_trajectory)
{
	struct ref r = { .fcwnd = 32, .ncwnd = 64, .up = true };
	struct world w;
	unsigned int n;

	begin(&w);
	w.ev.fcwnd = 32 * PKT;
	r.fmarker = w.ev.fabric_window_time_marker;
	r.nmarker = w.ev.nic_window_time_marker;
	for (n = 0; n < 1000000; n++) {
		double target;

		random_event(&w, false);
		/* The trajectories may not part by a decision of rounding. */
		target = target_units(&w.ev, r.fcwnd);
		if (fabs((double)falcon_fae_delay(&w.ev) - target) <
		    0.01 * target)
			continue;
		ref_event(&r, &w.ev);
		swift(&w);
		if (n && r.srtt)
			r.srtt = w.res.rtt_state;	/* rounds to units */
		compare(&w, &r);
		carry(&w);
	}
}

/* Any value of a range, its ends more often than the rest */
static u32 any(u32 lo, u32 hi)
{
	switch (unit_rand_below(4)) {
	case 0:
		return lo;
	case 1:
		return hi;
	default:
		return lo + unit_rand_below((u64)hi - lo + 1);
	}
}

static void random_params(struct falcon_swift_params *p)
{
	p->min_fcwnd_q20 = any(1024, 0x7fffffff);
	p->max_fcwnd_q20 = any(p->min_fcwnd_q20, 0x7fffffff);
	p->init_fcwnd_q20 = any(p->min_fcwnd_q20, p->max_fcwnd_q20);
	p->fabric_ai_q10 = any(0, 1024 << 10);
	p->fabric_md_q16 = any(0, 65536);
	p->max_fabric_md_q16 = any(0, 65536);
	p->min_ncwnd = any(1, 2047);
	p->max_ncwnd = any(p->min_ncwnd, 2047);
	p->init_ncwnd = any(p->min_ncwnd, p->max_ncwnd);
	p->nic_ai = any(0, 65535);
	p->nic_md_q16 = any(0, 65536);
	p->max_nic_md_q16 = any(0, 65536);
	p->target_rx_buffer_level = any(0, 31);
	p->rtt_smoothing = any(0, 1);
	p->rtt_smoothing_alpha_q16 = any(0, 65535);
	p->delay_smoothing_alpha_q16 = any(0, 65535);
	p->topology_scaling_per_hop_ns = any(0, 1000000);
	p->max_flow_scaling_q20 = any(2048, 0xffffffff);
	p->min_flow_scaling_q20 = any(1024, p->max_flow_scaling_q20 / 2);
	p->max_flow_scaling_ns = any(0, 1000000);
	p->retransmit_timeout_scalar_q16 = any(0, 0xffffffff);
	p->min_retransmit_timeout_ns = any(0, 1000000000);
	p->retransmit_limit = any(0, 255);
	p->plb_attempts = any(0, 255);
	p->prr_attempts = any(0, 255);
	p->plb_delay_multiplier_q10 = any(0, 0xffffffff);
	p->plb_threshold_q16 = any(0, 65536);
}

/* spec: 10.3+2 no parameters and no event take a result out of its bounds */
TEST(results_stay_in_bounds)
{
	struct falcon_swift_params old = *falcon_swift_in_use, p = old;
	struct world w;
	unsigned int n;

	for (n = 0; n < 300000; n++) {
		if (n % 10 == 0) {
			random_params(&p);
			ASSERT_EQ(falcon_swift_set_params(&p), 0);
		}
		begin(&w);
		random_event(&w, true);
		w.ev.fcwnd = any(1, FALCON_FAE_MAX_FCWND);
		w.ev.ncwnd = any(1, FALCON_FAE_MAX_NCWND);
		w.ev.base_delay_target = any(0, MASK);
		w.ev.rtt_state = any(0, MASK);
		w.ev.delay_state = any(0, MASK);
		w.ev.t1 = any(0, MASK);
		w.ev.t4 = any(0, MASK);
		w.ev.rtt_valid = any(0, 1);
		swift(&w);
		ASSERT_GE(w.res.fcwnd, p.min_fcwnd_q20 >> 10);
		ASSERT_LE(w.res.fcwnd, p.max_fcwnd_q20 >> 10);
		ASSERT_LE(w.res.inter_packet_gap, 0xfffff);
		ASSERT_LE(w.res.retransmit_timeout, MASK);
		if (w.ev.event_type != FALCON_FAE_RETX) {
			ASSERT_GE(w.res.ncwnd, p.min_ncwnd);
			ASSERT_LE(w.res.ncwnd, p.max_ncwnd);
		}
	}
	falcon_swift_set_params(&old);
}

/* spec: 10.3+3 AIMD: one packet more an RTT, half at a loss, no pacing */
TEST(aimd)
{
	struct falcon_fae_result res = { 0 };
	struct world w;

	begin(&w);
	falcon_fae_aimd.init(w.priv, &res);
	EXPECT_EQ(res.fcwnd, 32 * PKT);
	EXPECT_EQ(res.ncwnd, 64);

	w.ev.num_packets_acked = 5;
	set_rtt(&w, 5000, 4000);		/* delay does not matter */
	run(&w, &falcon_fae_aimd);
	EXPECT_EQ(w.res.fcwnd, 10 * PKT + PKT / 2);
	EXPECT_EQ(w.res.retransmit_timeout, 10000);

	carry(&w);
	w.ev.event_type = FALCON_FAE_RETX;
	w.ev.retransmit_count = 1;
	w.ev.fabric_window_time_marker = w.ev.now - 5000;
	run(&w, &falcon_fae_aimd);
	EXPECT_EQ(w.res.fcwnd, 5 * PKT + PKT / 4);
	EXPECT_EQ(w.res.fabric_window_time_marker, w.ev.now);
	carry(&w);
	run(&w, &falcon_fae_aimd);
	EXPECT_EQ(w.res.fcwnd, 5 * PKT + PKT / 4);
	w.ev.retransmit_count = 3;
	run(&w, &falcon_fae_aimd);
	EXPECT_EQ(w.res.fcwnd, PKT);
	EXPECT_EQ(w.res.inter_packet_gap, 0);

	begin(&w);
	w.ev.fcwnd = 256 * PKT;
	run(&w, &falcon_fae_aimd);
	EXPECT_EQ(w.res.fcwnd, 256 * PKT);
}

/* spec: 10.3+3 fixed: the windows never move, the timeout does */
TEST(fixed)
{
	struct falcon_fae_result res = { 0 };
	struct world w;

	begin(&w);
	falcon_fae_fixed.init(w.priv, &res);
	EXPECT_EQ(res.fcwnd, 32 * PKT);
	EXPECT_EQ(res.ncwnd, 64);
	w.ev.rx_buffer_level = 31;
	set_rtt(&w, 5000, 4000);
	run(&w, &falcon_fae_fixed);
	EXPECT_EQ(w.res.fcwnd, 10 * PKT);
	EXPECT_EQ(w.res.ncwnd, 64);
	EXPECT_EQ(w.res.retransmit_timeout, 10000);
	w.ev.event_type = FALCON_FAE_RETX;
	w.ev.retransmit_count = 7;
	run(&w, &falcon_fae_fixed);
	EXPECT_EQ(w.res.fcwnd, 10 * PKT);
	EXPECT_TRUE(w.res.randomize_path);
}
