// SPDX-License-Identifier: GPL-2.0
/*
 * Between the packet delivery sublayer and an algorithm (section 10.6): what
 * an event says, which flow it is about, and what becomes of a result. The
 * algorithm here records events and answers as told.
 */
#include <linux/errno.h>
#include <net/falcon/core/core.h>
#include <net/falcon/core/fae.h>

#include "harness.h"

#define SEC		1000000000ULL
#define MASK		FALCON_FAE_TIME_MASK
#define PKT		1024u	/* fcwnd is 11.10 */

static struct falcon_fae_event seen;
static struct falcon_fae_result answer;
static unsigned int events, inits, releases;
static bool answering;

static void spy_init(void *priv, struct falcon_fae_result *res)
{
	inits++;
	*(u64 *)priv = 1000 + res->flow;
	res->fcwnd = 20 * PKT;
	res->ncwnd = 30;
}

static void spy_event(void *priv, const struct falcon_fae_event *ev,
		      struct falcon_fae_result *res)
{
	events++;
	seen = *ev;
	EXPECT_EQ(*(u64 *)priv, 1000 + ev->flow);
	EXPECT_EQ(res->connection_id, ev->connection_id);
	EXPECT_EQ(res->flow, ev->flow);
	EXPECT_FALSE(res->randomize_path);
	if (answering)
		*res = answer;
}

static void spy_release(void *priv)
{
	releases++;
}

static const struct falcon_fae_ops spy = {
	.name = "spy", .init = spy_init, .on_event = spy_event,
	.release = spy_release,
};

static struct falcon_core c;
static struct falcon_pkt_info pi;
static struct falcon_rx_meta meta;

/* Four flows, 100 s after the clock began, an ACK of flow 2 at hand */
static void begin(const struct falcon_fae_ops *fae)
{
	events = 0;
	inits = 0;
	releases = 0;
	answering = false;
	memset(&c, 0, sizeof(c));
	c.cfg.cid = 0xabcdef;
	c.cfg.nr_flows = 4;
	c.cfg.rto_ns = 1000000;
	c.cfg.min_rto_ns = 100000;
	c.cfg.max_rto_ns = SEC;
	c.cfg.delay_target = 191;
	c.cfg.fae = fae;
	falcon_fae_init(&c, 100 * SEC);

	pi = (struct falcon_pkt_info){
		.type = FALCON_PKT_BACK, .hops = 3, .rx_level = 17,
		.ecn = 0x1234, .cc_metadata = 0x2abcde,
		.echo_t1 = 0x12345678, .echo_t2 = 0x87654321,
	};
	meta = (struct falcon_rx_meta){
		.now_ns = 100 * SEC + 500000, .flow = 2, .stamp_ok = true,
		.t_tx = 0x87654321 + 50, .t_rx = 0x12345678 + 450,
	};
}

static void ack(void)
{
	falcon_fae_ack(&c, &pi, &meta, false);
}

/* An ACK whose fabric delay is @delay, @ns after the last */
static void ack_delay(u32 delay, u64 ns)
{
	meta.now_ns += ns;
	meta.t_tx = pi.echo_t2 + 10;
	meta.t_rx = pi.echo_t1 + 10 + delay;
	ack();
}

/* spec: 10.6.2.2-1 every flow of a connection begins at the initial windows */
TEST(init_of_each_flow)
{
	unsigned int f;

	begin(&spy);
	EXPECT_EQ(inits, 4);
	for (f = 0; f < 4; f++) {
		EXPECT_EQ(c.flow[f].fcwnd, 20 * PKT);
		EXPECT_EQ(c.flow[f].inter_packet_gap, 0);
		EXPECT_EQ(c.flow[f].retransmit_timeout, 7629);
	}
	EXPECT_EQ(c.ncwnd, 30);
	EXPECT_EQ(c.rto_ns, 1000000);
	EXPECT_EQ(c.stats.relabels, 0);

	falcon_fae_release(&c);
	EXPECT_EQ(releases, 4);
}

/* spec: 10.3+3 no algorithm named is Swift; one without release is released */
TEST(default_is_swift)
{
	begin(NULL);
	EXPECT_TRUE(c.cfg.fae == &falcon_fae_swift);
	EXPECT_EQ(c.flow[3].fcwnd, 32 * PKT);
	falcon_fae_release(&c);
}

/* spec: 10.3.6-2 no guard of a new connection holds up its first change */
TEST(guards_of_a_new_connection_are_open)
{
	begin(&spy);
	ack();
	EXPECT_GE((seen.now - seen.fabric_window_time_marker) & MASK,
		  MASK / 2);
	EXPECT_GE((seen.now - seen.nic_window_time_marker) & MASK, MASK / 2);
}

/* spec: 6.3-1 10.1-2 10.6.2.1-1 fields of an ACK event */
TEST(ack_event_fields)
{
	begin(&spy);
	c.flow[2].num_acked = 9;
	c.flow[2].fcwnd = 0x12345;
	c.flow[2].inter_packet_gap = 77;
	c.flow[2].delay_state = 88;
	c.flow[2].rtt_state = 99;
	c.flow[2].cc_opaque = 2;
	c.flow[2].fabric_time_marker = 0x111111;
	c.flow[2].retransmit_timeout = 0x222;
	c.nic_time_marker = 0x333333;
	c.ncwnd = 44;
	c.ncwnd_direction = 1;
	falcon_fae_ack(&c, &pi, &meta, true);

	ASSERT_EQ(events, 1);
	EXPECT_EQ(seen.connection_id, 0xabcdef);
	EXPECT_EQ(seen.flow, 2);
	EXPECT_EQ(seen.event_type, FALCON_FAE_ACK);
	EXPECT_EQ(seen.t1, 0x345678);
	EXPECT_EQ(seen.t2, 0x654321);
	EXPECT_EQ(seen.t3, 0x654321 + 50);
	EXPECT_EQ(seen.t4, 0x345678 + 450);
	EXPECT_TRUE(seen.rtt_valid);
	EXPECT_EQ(seen.forward_hops, 3);
	EXPECT_EQ(seen.rx_buffer_level, 17);
	EXPECT_EQ(seen.ecn_accumulated, 0x1234);
	EXPECT_EQ(seen.cc_metadata, 0x2abcde);
	EXPECT_EQ(seen.delay_select, FALCON_FAE_DELAY_FABRIC);
	EXPECT_EQ(seen.num_packets_acked, 9);
	EXPECT_EQ(seen.fcwnd, 0x12345);
	EXPECT_EQ(seen.inter_packet_gap, 77);
	EXPECT_EQ(seen.delay_state, 88);
	EXPECT_EQ(seen.rtt_state, 99);
	EXPECT_EQ(seen.cc_opaque, 2);
	EXPECT_EQ(seen.fabric_window_time_marker, 0x111111);
	EXPECT_EQ(seen.nic_window_time_marker, 0x333333);
	EXPECT_EQ(seen.retransmit_timeout, 0x222);
	EXPECT_EQ(seen.ncwnd, 44);
	EXPECT_EQ(seen.ncwnd_direction, 1);
	EXPECT_TRUE(seen.eack_drop);
	EXPECT_FALSE(seen.eack);
	EXPECT_EQ(seen.base_delay_target, 400 + 191);

	pi.type = FALCON_PKT_EACK;
	ack();
	EXPECT_TRUE(seen.eack);
	EXPECT_FALSE(seen.eack_drop);
}

/* spec: 10.6.2.1-1 an event's time is 24 bits of 131.072 ns units, and wraps */
TEST(event_time)
{
	begin(&spy);
	meta.now_ns = 131072ULL * 1000;
	ack();
	EXPECT_EQ(seen.now, 1000000);
	meta.now_ns = 131072ULL * ((1ULL << 24) + 7) / 1000 + 1;
	ack();
	EXPECT_EQ(seen.now, 7);
}

/* spec: 6.3-1 10.6.2.1-1 fields of a NACK event */
TEST(nack_event_fields)
{
	begin(&spy);
	pi.type = FALCON_PKT_NACK;
	pi.nack_code = FALCON_NACK_RNR;
	falcon_fae_nack(&c, &pi, &meta);
	EXPECT_EQ(events, 1);
	EXPECT_EQ(seen.event_type, FALCON_FAE_NACK);
	EXPECT_EQ(seen.nack_code, FALCON_NACK_RNR);
	EXPECT_EQ(seen.rx_buffer_level, 17);
	EXPECT_TRUE(seen.rtt_valid);
	EXPECT_EQ(seen.t4, 0x345678 + 450);
	EXPECT_EQ(seen.base_delay_target, 400 + 191);
}

/*
 * spec: 6.3-1 10.6.2.1-1 fields of a retransmission event; the count saturates
 * at 7
 */
TEST(retx_event_fields)
{
	begin(&spy);
	c.flow[1].num_acked = 4;
	falcon_fae_retx(&c, 1, FALCON_FAE_RETX_EARLY, 5, 131072000);
	EXPECT_EQ(seen.event_type, FALCON_FAE_RETX);
	EXPECT_EQ(seen.flow, 1);
	EXPECT_EQ(seen.retransmit_reason, FALCON_FAE_RETX_EARLY);
	EXPECT_EQ(seen.retransmit_count, 5);
	EXPECT_EQ(seen.now, 1000000);
	EXPECT_FALSE(seen.rtt_valid);
	EXPECT_EQ(seen.num_packets_acked, 4);
	falcon_fae_retx(&c, 1, FALCON_FAE_RETX_RTO, 8, 0);
	EXPECT_EQ(seen.retransmit_count, 7);
	EXPECT_EQ(seen.retransmit_reason, FALCON_FAE_RETX_RTO);
	EXPECT_EQ(seen.num_packets_acked, 0);
}

/* spec: 10.6.2.1-2 num_packets_acked ceils without wrapping around */
TEST(num_packets_acked_saturates)
{
	begin(&spy);
	c.flow[2].num_acked = 1023;
	ack();
	EXPECT_EQ(seen.num_packets_acked, 1023);
	c.flow[2].num_acked = 100000;
	ack();
	EXPECT_EQ(seen.num_packets_acked, 1023);
}

/* spec: 10.6.2.1-2 the counter is reset by an event, of its own flow only */
TEST(flows_without_a_sample_accumulate)
{
	unsigned int i;

	begin(&spy);
	for (i = 0; i < 10; i++) {
		c.flow[1].num_acked += 2;
		c.flow[2].num_acked += 3;
		ack();
		EXPECT_EQ(seen.flow, 2);
		EXPECT_EQ(seen.num_packets_acked, 3);
	}
	meta.flow = 1;
	ack();
	EXPECT_EQ(seen.flow, 1);
	EXPECT_EQ(seen.num_packets_acked, 20);
	ack();
	EXPECT_EQ(seen.num_packets_acked, 0);
}

/* spec: 10.6.2.1-1 an ACK of a flow that there is not makes no event */
TEST(unknown_flow_is_ignored)
{
	begin(&spy);
	c.cfg.nr_flows = 2;
	ack();
	pi.type = FALCON_PKT_NACK;
	falcon_fae_nack(&c, &pi, &meta);
	meta.flow = 255;
	ack();
	EXPECT_EQ(events, 0);
}

/* spec: 10.1+1 stamps of different NICs are no sample */
TEST(samples_across_a_nic_switch_do_not_count)
{
	begin(&spy);
	meta.stamp_ok = false;
	c.flow[2].delay_state = 50;
	ack();
	EXPECT_FALSE(seen.rtt_valid);
	EXPECT_EQ(c.flow[2].min_delay, U32_MAX);
	EXPECT_EQ(seen.base_delay_target, 50 + 191);
}

/* spec: 10.1+1 an RTT that 24 bits cannot hold for sure is no sample */
TEST(ambiguous_rtt_is_no_sample)
{
	begin(&spy);
	meta.t_rx = pi.echo_t1 + MASK / 2;
	ack();
	EXPECT_TRUE(seen.rtt_valid);
	meta.t_rx = pi.echo_t1 + MASK / 2 + 1;
	ack();
	EXPECT_FALSE(seen.rtt_valid);
	meta.t_rx = pi.echo_t1 - 1;
	ack();
	EXPECT_FALSE(seen.rtt_valid);
}

/* spec: 10.3+1 base_delay_target, absolute: as configured */
TEST(absolute_delay_target)
{
	begin(&spy);
	c.cfg.delay_absolute = true;
	ack();
	EXPECT_EQ(seen.base_delay_target, 191);
}

/* spec: 10.3+1 base_delay_target, relative: on the flow's smallest delay */
TEST(relative_delay_target)
{
	begin(&spy);
	ack_delay(400, 1000);
	EXPECT_EQ(seen.base_delay_target, 400 + 191);
	ack_delay(900, 1000);
	EXPECT_EQ(seen.base_delay_target, 400 + 191);
	ack_delay(300, 1000);
	EXPECT_EQ(seen.base_delay_target, 300 + 191);
	meta.flow = 0;
	ack_delay(700, 1000);
	EXPECT_EQ(seen.base_delay_target, 700 + 191);
	falcon_fae_retx(&c, 2, FALCON_FAE_RETX_RTO, 1, meta.now_ns);
	EXPECT_EQ(seen.base_delay_target, 300 + 191);
	EXPECT_EQ(c.flow[2].min_delay, 300);
}

/*
 * spec: 10.3+1 a delay below zero, of stamps that do not belong together, is no
 * smallest delay
 */
TEST(delay_below_zero_is_no_smallest_delay)
{
	begin(&spy);
	ack_delay(400, 1000);
	ack_delay(-5, 1000);
	EXPECT_EQ(c.flow[2].min_delay, 400);
	ack_delay(500, 1000);
	EXPECT_EQ(seen.base_delay_target, 400 + 191);
}

/* spec: 10.3+1 the smallest delay of a flow with a queue of its own is kept */
TEST(smallest_delay_does_not_age)
{
	unsigned int s;

	begin(&spy);
	ack_delay(100, 0);
	for (s = 1; s <= 100; s++) {
		ack_delay(300, SEC);
		ASSERT_EQ(seen.base_delay_target, 100 + 191);
	}
}

/* spec: 10.3+1 below four packets for 10 s, a flow measures its path anew */
TEST(smallest_delay_of_a_flow_of_few_packets)
{
	unsigned int s;

	begin(&spy);
	meta.now_ns = 100 * SEC;
	ack_delay(100, 0);
	c.flow[2].fcwnd = 4 * PKT;
	ack_delay(300, 20 * SEC);
	EXPECT_EQ(seen.base_delay_target, 100 + 191);

	c.flow[2].fcwnd = 4 * PKT - 1;
	for (s = 1; s < 10; s++) {
		ack_delay(s == 5 ? 290 : 300, SEC);
		ASSERT_EQ(seen.base_delay_target, 100 + 191);
	}
	ack_delay(300, SEC);
	EXPECT_EQ(seen.base_delay_target, 290 + 191);
	ack_delay(120, SEC);
	EXPECT_EQ(seen.base_delay_target, 120 + 191);
}

static struct falcon_core other;
static struct falcon_least least;

/* @c and @other between the same two hosts */
static void begin_shared(void)
{
	begin(&spy);
	other = c;
	falcon_least_init(&least);
	falcon_core_share(&other, &least);
	falcon_core_share(&c, &least);
}

static void other_ack_delay(u32 delay, u64 ns)
{
	meta.now_ns += ns;
	meta.t_tx = pi.echo_t2 + 10;
	meta.t_rx = pi.echo_t1 + 10 + delay;
	falcon_fae_ack(&other, &pi, &meta, false);
}

/*
 * spec: 10.3+4 a connection that begins in a crowd has the smallest delay of
 * those before it
 */
TEST(smallest_delay_is_of_all_between_two_hosts)
{
	begin_shared();
	other_ack_delay(100, 1000);
	ack_delay(900, 1000);
	EXPECT_EQ(seen.base_delay_target, 100 + 191);
	ack_delay(90, 1000);
	other_ack_delay(800, 1000);
	EXPECT_EQ(seen.base_delay_target, 90 + 191);
	/* Without others it is its own. */
	falcon_core_share(&c, NULL);
	ack_delay(700, 1000);
	EXPECT_EQ(seen.base_delay_target, 90 + 191);
}

/* spec: 10.3+4 it lasts while one that is in use knows of it */
TEST(smallest_delay_lasts_while_somebody_knows)
{
	unsigned int s;

	begin_shared();
	other_ack_delay(100, 1000);
	for (s = 0; s < 30; s++) {
		other_ack_delay(500, SEC / 2);
		ack_delay(900, SEC / 2);
		ASSERT_EQ(seen.base_delay_target, 100 + 191);
	}
}

/* spec: 10.3+4 and is forgotten when none has for min_delay_window_ms */
TEST(smallest_delay_that_nobody_knows_is_forgotten)
{
	unsigned int s;

	begin_shared();
	other_ack_delay(100, 1000);
	for (s = 0; s < 9; s++) {
		ack_delay(900, SEC);
		ASSERT_EQ(seen.base_delay_target, 100 + 191);
	}
	ack_delay(950, SEC);
	ack_delay(950, SEC);
	EXPECT_EQ(seen.base_delay_target, 900 + 191);
	/* Who still knows brings it again. */
	other_ack_delay(950, SEC);
	EXPECT_EQ(seen.base_delay_target, 100 + 191);
	ack_delay(950, SEC);
	EXPECT_EQ(seen.base_delay_target, 100 + 191);
}

/* spec: 10.3+1 base_delay_target has 24 bits */
TEST(delay_target_saturates)
{
	begin(&spy);
	c.cfg.delay_target = MASK;
	ack();
	EXPECT_EQ(seen.base_delay_target, MASK);
}

/*
 * spec: 9.1.1-7 9.1.1-8 10.6.2.2-1 a result is applied to its flow and to the
 * connection
 */
TEST(result_is_applied)
{
	begin(&spy);
	answering = true;
	answer = (struct falcon_fae_result){
		.fcwnd = 5555, .inter_packet_gap = 66, .ncwnd = 77,
		.ncwnd_direction = 1, .cc_opaque = 3, .cc_metadata = 0x88,
		.retransmit_timeout = 9000, .fabric_window_time_marker = 10,
		.nic_window_time_marker = 11, .delay_state = 12,
		.rtt_state = 13,
	};
	ack();
	EXPECT_EQ(c.flow[2].fcwnd, 5555);
	EXPECT_EQ(c.flow[2].inter_packet_gap, 66);
	EXPECT_EQ(c.flow[2].cc_opaque, 3);
	EXPECT_EQ(c.flow[2].fabric_time_marker, 10);
	EXPECT_EQ(c.flow[2].delay_state, 12);
	EXPECT_EQ(c.flow[2].rtt_state, 13);
	EXPECT_EQ(c.flow[2].retransmit_timeout, 9000);
	EXPECT_EQ(c.ncwnd, 77);
	EXPECT_EQ(c.ncwnd_direction, 1);
	EXPECT_EQ(c.nic_time_marker, 11);
	EXPECT_EQ(c.cc_metadata, 0x88);
	EXPECT_EQ(c.flow[1].fcwnd, 20 * PKT);
	EXPECT_EQ(c.flow[1].rtt_state, 0);
}

/* spec: 10.6.2.2-1 what an algorithm does not write stays in force */
TEST(result_begins_as_in_force)
{
	struct falcon_core before;

	begin(&spy);
	c.flow[2].inter_packet_gap = 5;
	c.flow[2].delay_state = 6;
	c.flow[2].rtt_state = 7;
	c.flow[2].cc_opaque = 1;
	c.cc_metadata = 9;
	before = c;
	ack();
	EXPECT_EQ(c.flow[2].fcwnd, before.flow[2].fcwnd);
	EXPECT_EQ(c.flow[2].inter_packet_gap, 5);
	EXPECT_EQ(c.flow[2].delay_state, 6);
	EXPECT_EQ(c.flow[2].rtt_state, 7);
	EXPECT_EQ(c.flow[2].cc_opaque, 1);
	EXPECT_EQ(c.flow[2].retransmit_timeout, 7629);
	EXPECT_EQ(c.flow[2].fabric_time_marker,
		  before.flow[2].fabric_time_marker);
	EXPECT_EQ(c.nic_time_marker, before.nic_time_marker);
	EXPECT_EQ(c.ncwnd, before.ncwnd);
	EXPECT_EQ(c.cc_metadata, 9);
	EXPECT_EQ(c.rto_ns, 1000000);
}

/* spec: 10.6.2.2-2 a result beyond the widths of the interface is cut */
TEST(result_is_cut_to_its_widths)
{
	begin(&spy);
	answering = true;
	memset(&answer, 0, sizeof(answer));
	ack();
	EXPECT_EQ(c.flow[2].fcwnd, 1);
	EXPECT_EQ(c.ncwnd, 1);

	answer.fcwnd = ~0u;
	answer.ncwnd = 0xffff;
	answer.inter_packet_gap = ~0u;
	answer.cc_metadata = ~0u;
	ack();
	EXPECT_EQ(c.flow[2].fcwnd, 0x1fffff);
	EXPECT_EQ(c.ncwnd, 2047);
	EXPECT_EQ(c.flow[2].inter_packet_gap, 0xfffff);
	EXPECT_EQ(c.cc_metadata, 0xffffff);
}

static void answer_rto(u8 flow, u32 units)
{
	answering = true;
	answer = (struct falcon_fae_result){
		.fcwnd = PKT, .ncwnd = 1, .retransmit_timeout = units,
	};
	meta.flow = flow;
	ack();
}

/*
 * spec: 9.1.1-10 10.6.2.2-3 retransmit_timeout: the longest of the flows,
 * within bounds
 */
TEST(rto_is_the_longest_of_the_flows)
{
	u8 f;

	begin(&spy);
	for (f = 0; f < 4; f++)
		answer_rto(f, 2000 + f);
	EXPECT_EQ(c.rto_ns, 2003ULL * 131072 / 1000);
	answer_rto(1, 4000);
	EXPECT_EQ(c.rto_ns, 4000ULL * 131072 / 1000);
	answer_rto(1, 0xffffff);
	EXPECT_EQ(c.rto_ns, SEC);
	for (f = 0; f < 4; f++)
		answer_rto(f, 1);
	EXPECT_EQ(c.rto_ns, 100000);
}

/* spec: 10.6.2.2-3 a flow without an RTT does not hold retransmit_timeout up */
TEST(rto_of_flows_that_have_an_rtt)
{
	begin(&spy);
	answer_rto(1, 3000);
	EXPECT_EQ(c.rto_ns, falcon_units_to_ns(7629));	/* initial, others */
	answer.rtt_state = 1000;
	answer.retransmit_timeout = 2000;
	ack();
	EXPECT_EQ(c.rto_ns, falcon_units_to_ns(2000));
}

/* spec: 10.6.2.2-4 randomize_path gives the flow, and it alone, a new label */
TEST(randomize_path)
{
	u32 labels[4], i, j;

	begin(&spy);
	for (i = 0; i < 4; i++) {
		labels[i] = 100 + i;
		c.flow[i].label = labels[i];
	}
	answering = true;
	answer = (struct falcon_fae_result){
		.fcwnd = PKT, .ncwnd = 1, .randomize_path = 1,
	};
	for (i = 0; i < 4; i++) {
		ack();
		for (j = 0; j < 4; j++)
			EXPECT_NE(c.flow[2].label, labels[j]);
		labels[i == 2 ? 0 : i] = c.flow[2].label;
	}
	EXPECT_EQ(c.flow[1].label, 101);
	EXPECT_EQ(c.flow[3].label, 103);
	EXPECT_EQ(c.stats.relabels, 4);
}

/* spec: 10.4+1 a label does not come again within 2^20 path changes */
TEST(labels_do_not_repeat)
{
	static u8 used[1 << 17];
	u32 i;

	begin(&spy);
	memset(used, 0, sizeof(used));
	answering = true;
	answer = (struct falcon_fae_result){
		.fcwnd = PKT, .ncwnd = 1, .randomize_path = 1,
	};
	for (i = 0; i < 1 << 20; i++) {
		u32 label = c.flow[2].label & 0xfffff;	/* IPv6 flow label */

		ASSERT_FALSE(used[label / 8] & 1 << label % 8);
		used[label / 8] |= 1 << label % 8;
		ack();
	}
}

/* spec: 10.4+1 a path change out of congestion keeps the smallest delay */
TEST(path_change_keeps_the_smallest_delay)
{
	begin(&spy);
	ack_delay(100, 1000);
	answering = true;
	answer = (struct falcon_fae_result){
		.fcwnd = PKT, .ncwnd = 1, .randomize_path = 1,
	};
	ack_delay(900, 1000);
	answering = false;
	ack_delay(800, 1000);
	EXPECT_EQ(seen.base_delay_target, 100 + 191);
}

/* spec: 10.6.1-1 the event policy: three thresholds, P1 and P2 */
TEST(event_policy)
{
	static const struct falcon_fae_params p = {
		.policy_depth = { 10, 20, 30 },
		.policy_time_ns = 1000, .policy_acked = 8,
	};
	static const struct {
		u32 depth;
		bool neither, p1, p2, both;
	} want[] = {
		{ 0, true, true, true, true },
		{ 9, true, true, true, true },
		{ 10, false, true, true, true },
		{ 19, false, true, true, true },
		{ 20, false, false, false, true },
		{ 29, false, false, false, true },
		{ 30, false, false, false, false },
		{ U32_MAX, false, false, false, false },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(want); i++) {
		u32 d = want[i].depth;

		EXPECT_EQ(falcon_fae_event_due(&p, d, 1000, 8),
			  want[i].neither);
		EXPECT_EQ(falcon_fae_event_due(&p, d, 1001, 8), want[i].p1);
		EXPECT_EQ(falcon_fae_event_due(&p, d, 1000, 9), want[i].p2);
		EXPECT_EQ(falcon_fae_event_due(&p, d, 1001, 9), want[i].both);
	}
}

/* spec: 10.6.1-1 what is not queued as an event accumulates */
TEST(unqueued_acks_accumulate)
{
	u32 old = falcon_fae_params.policy_depth[0];

	begin(&spy);
	falcon_fae_params.policy_depth[0] = 0;
	c.flow[2].num_acked = 10;
	meta.now_ns = falcon_units_to_ns(c.flow[2].fae_event) + 1000;
	ack();
	EXPECT_EQ(events, 0);
	c.flow[2].num_acked += 10;
	ack();
	EXPECT_EQ(events, 1);
	EXPECT_EQ(seen.num_packets_acked, 20);
	meta.now_ns += 50001;
	ack();
	EXPECT_EQ(events, 2);
	falcon_fae_params.policy_depth[0] = old;
}

static struct falcon_fae_slot slots[8];
static struct falcon_fae_queue queue;

static void begin_queue(const struct falcon_fae_ops *fae, u32 size)
{
	begin(fae);
	falcon_fae_queue_init(&queue, slots, size);
	meta.fae = &queue;
}

static u32 run_queue(u64 now_ns)
{
	u32 n = 0;

	while (falcon_fae_queue_first(&queue)) {
		EXPECT_TRUE(falcon_fae_queue_first(&queue) == &c);
		falcon_fae_queue_run(&queue, now_ns);
		n++;
	}
	return n;
}

/* spec: 10.6+1 10.6.2.1-2 an event waits in the queue until it is taken */
TEST(event_waits_in_the_queue)
{
	begin_queue(&spy, 8);
	c.flow[2].num_acked = 5;
	ack();
	EXPECT_EQ(events, 0);
	EXPECT_EQ(c.flow[2].num_acked, 0);
	EXPECT_EQ(falcon_fae_queue_depth(&queue), 1);
	falcon_fae_nack(&c, &pi, &meta);
	EXPECT_EQ(run_queue(meta.now_ns), 2);
	EXPECT_EQ(events, 2);
	EXPECT_EQ(seen.event_type, FALCON_FAE_NACK);
	EXPECT_EQ(falcon_fae_queue_depth(&queue), 0);
}

/*
 * spec: 10.6+2 events of one flow that wait together see each other's results,
 * and all the time of the algorithm
 */
TEST(events_that_wait_together_see_each_other)
{
	begin_queue(&spy, 8);
	ack();
	ack();
	answering = true;
	answer = (struct falcon_fae_result){
		.flow = 2, .fcwnd = 7 * PKT, .ncwnd = 9, .delay_state = 11,
		.fabric_window_time_marker = 13, .retransmit_timeout = 7000,
	};
	falcon_fae_queue_run(&queue, meta.now_ns + 131072);
	EXPECT_EQ(seen.fcwnd, 20 * PKT);
	EXPECT_EQ(seen.now, (falcon_ns_to_units(meta.now_ns) + 1000) & MASK);
	falcon_fae_queue_run(&queue, meta.now_ns + 131072);
	EXPECT_EQ(seen.fcwnd, 7 * PKT);
	EXPECT_EQ(seen.ncwnd, 9);
	EXPECT_EQ(seen.delay_state, 11);
	EXPECT_EQ(seen.fabric_window_time_marker, 13);
}

/* spec: 10.6+3 a retransmission is told at once, whatever waits */
TEST(retransmission_overtakes_the_queue)
{
	begin_queue(&spy, 8);
	ack();
	falcon_fae_retx(&c, 2, FALCON_FAE_RETX_RTO, 1, meta.now_ns);
	EXPECT_EQ(events, 1);
	EXPECT_EQ(seen.event_type, FALCON_FAE_RETX);
	EXPECT_EQ(run_queue(meta.now_ns), 1);
}

/* spec: 10.6+4 a full queue loses no NACK: the algorithm runs at once */
TEST(nack_finds_the_queue_full)
{
	u32 i;

	begin_queue(&spy, 4);
	for (i = 0; i < 4; i++)
		falcon_fae_nack(&c, &pi, &meta);
	EXPECT_EQ(events, 0);
	falcon_fae_nack(&c, &pi, &meta);
	EXPECT_EQ(events, 1);
	EXPECT_EQ(run_queue(meta.now_ns), 4);
}

/* spec: 10.6+5 what waits of a connection that has died is dropped */
TEST(queued_events_of_a_dead_connection)
{
	begin_queue(&spy, 8);
	ack();
	ack();
	c.fatal = FALCON_CMPL_DEAD_CONN;
	EXPECT_EQ(run_queue(meta.now_ns), 2);
	EXPECT_EQ(events, 0);
}

/* How many of 8 ACKs become events, each @acked packets and @ns after the last */
static u32 queued_of_8(u32 acked, u64 ns)
{
	u32 i;

	begin_queue(&spy, 8);
	meta.now_ns = falcon_units_to_ns(c.flow[2].fae_event);
	for (i = 0; i < 8; i++) {
		meta.now_ns += ns;
		c.flow[2].num_acked += acked;
		ack();
	}
	EXPECT_EQ(queue.held_back + falcon_fae_queue_depth(&queue), 8);
	return run_queue(meta.now_ns);
}

/* spec: 10.6.1-1 how many events wait decides which ACKs become events */
TEST(thresholds_bind_on_the_queue_10_6_1)
{
	struct falcon_fae_params old = falcon_fae_params;

	falcon_fae_params.policy_depth[0] = 2;
	falcon_fae_params.policy_depth[1] = 4;
	falcon_fae_params.policy_depth[2] = 6;
	EXPECT_EQ(queued_of_8(1, 1000), 2);	/* neither P1 nor P2 */
	EXPECT_EQ(queued_of_8(17, 1000), 4);	/* P2 */
	EXPECT_EQ(queued_of_8(1, 50001), 4);	/* P1 */
	EXPECT_EQ(queued_of_8(17, 50001), 6);	/* both */
	/* What was held back is in the next event. */
	queued_of_8(10, 1000);
	EXPECT_EQ(c.flow[2].num_acked, 20);
	falcon_fae_params = old;
}

/* spec: 11-29 an ACK that shows OWN becomes an event, however many wait */
TEST(own_is_told_at_once_11)
{
	struct falcon_fae_params old = falcon_fae_params;

	memset(falcon_fae_params.policy_depth, 0,
	       sizeof(falcon_fae_params.policy_depth));
	EXPECT_EQ(queued_of_8(1, 1000), 0);
	begin_queue(&spy, 8);
	pi.own = FALCON_OWN_DATA;
	ack();
	EXPECT_EQ(run_queue(meta.now_ns), 1);
	pi.own = 0;
	falcon_fae_params = old;
}

/*
 * spec: 10.6+1 Swift comes to the same windows whether each event runs at once
 * or a batch of them at its end
 */
TEST(swift_in_batches_comes_to_the_same_windows)
{
	u32 at_once, i;

	begin(&falcon_fae_swift);
	for (i = 0; i < 64; i++) {
		c.flow[2].num_acked = 2;
		ack_delay(300, 1000);
	}
	at_once = c.flow[2].fcwnd;
	begin_queue(&falcon_fae_swift, 8);
	for (i = 0; i < 64; i++) {
		c.flow[2].num_acked = 2;
		ack_delay(300, 1000);
		if (i % 8 == 7)
			EXPECT_EQ(run_queue(meta.now_ns), 8);
	}
	EXPECT_GT(at_once, 32 * PKT);
	EXPECT_EQ(c.flow[2].fcwnd, at_once);
}

/* spec: 10.3+3 algorithms are found by name */
TEST(algorithms_by_name)
{
	EXPECT_TRUE(falcon_fae_builtin("swift") == &falcon_fae_swift);
	EXPECT_TRUE(falcon_fae_builtin("aimd") == &falcon_fae_aimd);
	EXPECT_TRUE(falcon_fae_builtin("fixed") == &falcon_fae_fixed);
	EXPECT_TRUE(!falcon_fae_builtin("cubic"));
	EXPECT_TRUE(!falcon_fae_builtin(""));
}

/* spec: 10.1+1 ns units to nanoseconds and back */
TEST(units)
{
	EXPECT_EQ(falcon_ns_to_units(131), 0);
	EXPECT_EQ(falcon_ns_to_units(132), 1);
	EXPECT_EQ(falcon_ns_to_units(25000), 190);
	EXPECT_EQ(falcon_ns_to_units(~0ULL), 140737488355327999ULL);
	EXPECT_EQ(falcon_units_to_ns(125), 16384);
	EXPECT_EQ(falcon_units_to_ns(~0u), 562949953290ULL);
}

/* A link of one packet every 4 us, @far_ns away from both ends, FIFO */
struct link {
	u64 far_ns;
	u64 free_ns;
	u64 sent_ns[512], acked_ns[512];
	u32 head, tail;
};

static struct link link;
static double queue_sum, queue_most, queue_least;

static void link_send(u64 now)
{
	u32 i = link.tail++ % ARRAY_SIZE(link.sent_ns);

	link.free_ns = max(now + link.far_ns, link.free_ns) + 4000;
	link.sent_ns[i] = now;
	link.acked_ns[i] = link.free_ns + link.far_ns;
}

/* As core does: by the window, and below one packet by the gap */
static void link_fill(u64 now)
{
	struct falcon_flow *fl = &c.flow[0];

	while (link.tail - link.head < max(fl->fcwnd / PKT, 1u)) {
		u64 gap = 0;

		if (fl->fcwnd < PKT)
			gap = falcon_units_to_ns(fl->inter_packet_gap);
		fl->last_depart_ns = max(now, fl->last_depart_ns + gap);
		link_send(fl->last_depart_ns);
	}
}

/* The oldest packet is acknowledged; returns its time in the queue, us. */
static double link_ack(void)
{
	u32 i = link.head++ % ARRAY_SIZE(link.sent_ns);
	u64 delay_ns = link.acked_ns[i] - link.sent_ns[i];

	meta.now_ns = link.acked_ns[i];
	meta.t_tx = pi.echo_t2 + 8;
	meta.t_rx = pi.echo_t1 + 8 + falcon_ns_to_units(delay_ns);
	c.flow[0].num_acked = 1;
	ack();
	link_fill(meta.now_ns);
	return (delay_ns - 2 * link.far_ns) / 1000.0 - 4;
}

/* Returns how many packets were acknowledged until @ns from now. */
static unsigned int link_run(u64 ns)
{
	u64 end_ns = meta.now_ns + ns;
	unsigned int n = 0;

	queue_sum = 0;
	queue_most = 0;
	queue_least = 1e9;
	while (meta.now_ns < end_ns) {
		double queue = link_ack();

		queue_sum += queue;
		queue_most = fmax(queue_most, queue);
		queue_least = fmin(queue_least, queue);
		n++;
	}
	return n;
}

static void link_begin(void)
{
	begin(&falcon_fae_swift);
	c.cfg.nr_flows = 1;
	meta.flow = 0;
	pi.hops = 0;
	memset(&link, 0, sizeof(link));
	link.far_ns = 20000;
	link_fill(100 * SEC);
	meta.now_ns = 100 * SEC;
}

/*
 * spec: 10.3+2 Swift keeps the queue near its target, and the link busy
 *
 * The queue is the model's, not what Swift believes. 25 us of target and, at
 * some 17 packets, 5.8 us of flow scaling.
 */
TEST(swift_converges_on_one_bottleneck)
{
	unsigned int n;

	link_begin();
	link_run(40000000);
	n = link_run(400000000);
	EXPECT_NEAR(n, 100000, 1000);
	EXPECT_NEAR(queue_sum / n, 29, 4);
	EXPECT_LT(queue_most, 40);
	EXPECT_GT(queue_least, 10);
}

/* spec: 10.3+1 a queue of its own making does not raise a flow's target */
TEST(standing_queue_does_not_grow)
{
	unsigned int n;

	link_begin();
	link_run(30 * SEC);
	n = link_run(SEC);
	EXPECT_NEAR(n, 250000, 2500);
	EXPECT_NEAR(queue_sum / n, 29, 4);
}

static void lengthen(u64 ns, unsigned int most_before)
{
	unsigned int n;

	link_begin();
	link_run(SEC);
	link.far_ns += ns / 2;
	link_run(SEC);
	n = link_run(SEC);
	EXPECT_LT(n, most_before);
	link_run(10 * SEC);
	n = link_run(SEC);
	EXPECT_NEAR(n, 250000, 2500);
	EXPECT_NEAR(queue_sum / n, 29, 6);
}

/* spec: 10.3+1 a path that became 40 us longer, or more, is believed in 10 s */
TEST(longer_path_is_believed)
{
	lengthen(40000, 50000);
	lengthen(80000, 25000);
	lengthen(400000, 25000);
}
