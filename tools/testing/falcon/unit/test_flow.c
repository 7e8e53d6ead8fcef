// SPDX-License-Identifier: GPL-2.0
/*
 * Which flow a packet takes: runs, so that they leave as a train; flows that may
 * send little, or whose path is dead (flow.c, and what loss.c and fae.c do about
 * those).
 */
#include "pair.h"
#include "solo.h"
#include "net/falcon/core/fae.h"

static struct solo s;
static struct pair p;

static void burst_start(u8 burst, u32 fcwnd)
{
	u8 i;

	solo_cfg(&s, true);
	s.cfg.nr_flows = 4;
	s.cfg.flow_burst = burst;
	solo_start(&s);
	solo_window(&s, fcwnd, 256);
	for (i = 0; i < 64; i++)
		solo_push(&s, 100);
}

/* How many packets in a row leave on the flow that the first leaves on. */
static u32 burst_run(u8 *flow)
{
	u32 n = 1;

	EXPECT_TRUE(solo_tx(&s));
	*flow = s.tx.flow;
	while (solo_tx(&s) && s.tx.flow == *flow)
		n++;
	return n;
}

/* spec: 9.1.2+2 packets follow each other on one flow up to the burst */
TEST(flow_keeps_a_run_up_to_the_burst)
{
	u8 a, b;

	burst_start(7, 32);
	EXPECT_EQ(burst_run(&a), 7);
	b = s.tx.flow;			/* began the next run */
	EXPECT_NE(a, b);
	EXPECT_EQ(burst_run(&a), 6);
	EXPECT_EQ(a, b);
}

/* spec: 9.1.2+3 a run ends where the flow's own window closes */
TEST(flow_run_ends_with_its_window)
{
	u8 a, i, used[4] = {};

	burst_start(7, 3);
	EXPECT_EQ(burst_run(&a), 3);
	burst_start(7, 3);
	for (i = 0; i < 12; i++) {
		ASSERT_TRUE(solo_tx(&s));
		used[s.tx.flow]++;
	}
	for (i = 0; i < 4; i++)
		EXPECT_EQ(used[i], 3);
	solo_expect_quiet(&s);
}

/* spec: 9.1.2+4 without bursts each packet takes the largest open window */
TEST(flows_take_turns_without_bursts)
{
	u8 i, last = 0xff;

	burst_start(0, 32);
	for (i = 0; i < 8; i++) {
		ASSERT_TRUE(solo_tx(&s));
		EXPECT_NE(s.tx.flow, last);
		last = s.tx.flow;
	}
}

/* @n flows of 8 packets each, and more packets than that */
static void flows_start(u8 n)
{
	u8 i;

	solo_cfg(&s, true);
	s.cfg.nr_flows = n;
	solo_start(&s);
	solo_window(&s, 8, 256);
	for (i = 0; i < 64; i++)
		solo_push(&s, 100);
}

/* Flow @i has half a packet, and its next departure comes @ns from now. */
static void flow_crawls(u8 i, u64 ns)
{
	s.c.flow[i].fcwnd = 1U << (FALCON_FCWND_SHIFT - 1);
	s.c.flow[i].inter_packet_gap = falcon_ns_to_units(ns);
	s.c.flow[i].last_depart_ns = s.now;
}

/* How many packets leave on each of the flows */
static void flows_used(u32 used[4])
{
	memset(used, 0, 4 * sizeof(*used));
	while (solo_tx(&s)) {
		EXPECT_EQ(s.tx.depart_ns, 0);
		used[s.tx.flow]++;
	}
}

/*
 * spec: 9.1.2+7 a flow below one packet takes none before its departure while
 * another is faster: what it would take would wait, and all after it
 */
TEST(slow_flow_takes_none_before_its_departure)
{
	u32 used[4];

	flows_start(2);
	flow_crawls(1, MS);
	flows_used(used);
	EXPECT_EQ(used[0], 8);
	EXPECT_EQ(used[1], 0);
	s.now += MS;
	flows_used(used);
	EXPECT_EQ(used[0], 0);
	EXPECT_EQ(used[1], 1);
}

/* spec: 9.1.2+7 10.3.5-2 if all are below one, the earliest departure waits */
TEST(slow_flows_wait_on_the_wheel)
{
	flows_start(3);
	flow_crawls(0, 3 * MS);
	flow_crawls(1, MS);
	flow_crawls(2, 2 * MS);
	ASSERT_TRUE(solo_tx(&s));
	EXPECT_EQ(s.tx.flow, 1);
	EXPECT_NEAR(s.tx.depart_ns, s.now + MS, 200);
	ASSERT_TRUE(solo_tx(&s));
	EXPECT_EQ(s.tx.flow, 2);
	ASSERT_TRUE(solo_tx(&s));
	EXPECT_EQ(s.tx.flow, 0);
	EXPECT_NEAR(s.tx.depart_ns, s.now + 3 * MS, 200);
	solo_expect_quiet(&s);
}

/*
 * spec: 9.1.2+7 windows have recovered, but last packets wait for a departure of
 * before: nobody would try again later, so the next goes after the first of them
 */
TEST(recovered_flows_do_not_wait_for_each_other)
{
	flows_start(2);
	s.c.flow[0].last_depart_ns = s.now + 100 * MS;
	s.c.flow[1].last_depart_ns = s.now + 5 * MS;
	ASSERT_TRUE(solo_tx(&s));
	EXPECT_EQ(s.tx.flow, 1);
	EXPECT_NEAR(s.tx.depart_ns, s.now + 5 * MS, 200);
}

/* spec: 9.1.2+8 a flow that has timed out gets one packet, until it delivers */
TEST(flow_after_a_time_out_gets_one_packet)
{
	u32 used[4];

	flows_start(2);
	s.c.flow[1].rto_streak = 1;
	flows_used(used);
	EXPECT_EQ(used[0], 8);
	EXPECT_EQ(used[1], 1);
	s.c.flow[1].rto_streak = 0;
	flows_used(used);
	EXPECT_EQ(used[1], 7);
}

/* spec: 9.1.5+2 a flow does not back off while another delivers */
TEST(no_back_off_while_another_flow_delivers)
{
	flows_start(2);
	s.c.flow[1].rto_streak = 3;
	s.c.flow[1].rto_epoch_ns = s.now - 1;
	s.c.flow[0].progress_ns = s.now;
	s.c.flow[0].fcwnd = 0;
	flow_crawls(0, MS);
	ASSERT_TRUE(solo_tx(&s));
	ASSERT_EQ(s.tx.flow, 1);
	EXPECT_EQ(falcon_core_next_timer(&s.c), s.now + MS);
	s.c.flow[0].progress_ns = s.now - 2;
	EXPECT_EQ(falcon_core_next_timer(&s.c), s.now + 8 * MS);
}

static u32 first_label;

/* The first path of end 0's flow 1 is dead. */
static bool path_is_dead(struct pair *pair, struct pair_pkt *pkt)
{
	return pkt->to != 1 || pkt->flow != 1 ||
	       pair->end[0].c.flow[1].label != first_label;
}

/* The first path of end 1's only flow is dead, by which ACKs go. */
static bool ack_path_is_dead(struct pair *pair, struct pair_pkt *pkt)
{
	return pkt->to != 0 || pair->end[1].c.flow[0].label != first_label;
}

static void run_dead_path(u8 flows, bool (*dead)(struct pair *pair,
						 struct pair_pkt *pkt))
{
	struct falcon_core_cfg cfg;
	u32 i;

	pair_cfg(&cfg, true);
	cfg.nr_flows = flows;
	cfg.fae = &falcon_fae_swift;
	cfg.loss = FALCON_LOSS_RACK | FALCON_LOSS_TLP;
	memset(&p, 0, sizeof(p));
	pair_init(&p, &cfg);
	first_label = p.end[flows == 1].c.flow[flows - 1].label;
	p.filter = dead;
	p.delay_ns = 500 * PAIR_US;	/* a window's time is more than an RTO */
	for (i = 0; i < 4000; i++)
		pair_push(&p.end[0], PAIR_MTU);
	EXPECT_TRUE(pair_run_idle(&p, 500 * PAIR_MS));
	EXPECT_EQ(p.end[0].nr_completed, 4000);
	EXPECT_EQ(p.end[0].cmpl_count[FALCON_CMPL_ACK], 4000);
	pair_check_clean(&p);
}

/*
 * spec: 10.4+2 time-outs of a flow in a row give it a new path, though each
 * packet that was lost there has left on another flow since
 */
TEST(dead_flow_gets_a_new_path)
{
	run_dead_path(2, path_is_dead);
	EXPECT_GE(p.end[0].c.stats.relabels, 1);
	EXPECT_EQ(p.end[0].c.flow[1].rto_streak, 0);
	pair_destroy(&p);
}

/* spec: 10.4+3 duplicates in a row, and nothing new, give ACKs a new path */
TEST(dead_path_of_acks_is_left)
{
	run_dead_path(1, ack_path_is_dead);
	EXPECT_GE(p.end[1].c.stats.relabels, 1);
	pair_destroy(&p);
}

/* spec: 10.4+3 a duplicate now and then gives no new path */
TEST(single_duplicates_move_no_path)
{
	u32 psn;

	solo_init(&s, true);
	for (psn = 0; psn < 20; psn++) {
		solo_rx_push(&s, psn, psn);
		solo_rx_push(&s, psn, psn);
	}
	EXPECT_EQ(s.c.stats.rx_dup, 20);
	EXPECT_EQ(s.c.stats.relabels, 0);
	solo_rx_push(&s, 19, 19);
	EXPECT_EQ(s.c.stats.relabels, 1);
	solo_rx_push(&s, 19, 19);		/* once an RTO */
	EXPECT_EQ(s.c.stats.relabels, 1);
	s.now += 2 * MS;
	solo_rx_push(&s, 19, 19);
	EXPECT_EQ(s.c.stats.relabels, 2);
}
