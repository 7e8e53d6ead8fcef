// SPDX-License-Identifier: GPL-2.0
/* Loss detection, time-outs, budgets: 9.1.4, 9.1.5, 11 */
#include "solo.h"

static struct solo s;

#define RTT (20 * US)

/* @n pushes on the wire, a known RTT, the policies @loss. */
static void sent(u8 loss, u32 n)
{
	u32 i;

	solo_cfg(&s, true);
	s.cfg.loss = loss;
	solo_start(&s);
	s.c.srtt_ns = RTT;
	s.c.min_rtt_ns = RTT;
	for (i = 0; i < n; i++)
		solo_push(&s, 1);
	ASSERT_EQ(solo_flush(&s), n);
}

static void rx_bits(u64 bits)
{
	solo_eack(&s, 0, s.c.tx[DATA].base, 0, 0, bits, 0);
}

/*
 * spec: 9.1.1-18 9.1.4-1 9.2.3-8 OOO: '0' below psn_high - ooo_threshold is
 * lost, others are not
 */
TEST(ooo_distance_threshold_9_1_4)
{
	sent(FALCON_LOSS_OOO, 8);
	s.now += 2 * RTT;
	rx_bits(0x08);			/* high 3: limit 0 */
	solo_expect_quiet(&s);
	rx_bits(0x20);			/* high 5: 0 and 1 */
	solo_expect_tx(&s, FALCON_PKT_PUSH_DATA, 0);
	EXPECT_EQ(s.tx.reason, FALCON_RETX_OOO);
	solo_expect_tx(&s, FALCON_PKT_PUSH_DATA, 1);
	solo_expect_quiet(&s);
	EXPECT_EQ(s.c.stats.retx[FALCON_RETX_OOO], 2);
}

/* spec: 9.1.4-2 OOO: not within an RTT of the last transmission */
TEST(ooo_recency_check_9_1_4)
{
	sent(FALCON_LOSS_OOO, 8);
	s.now += RTT / 2;
	rx_bits(0x80);
	solo_expect_quiet(&s);
	s.now += RTT;
	rx_bits(0x80);
	EXPECT_EQ(solo_flush(&s), 4);
	s.now += RTT / 2;
	rx_bits(0x80);
	solo_expect_quiet(&s);
	s.now += RTT;
	rx_bits(0x80);
	EXPECT_EQ(solo_flush(&s), 4);
}

/* spec: 9.1.4-1 OOO looks at the request bitmap as well */
TEST(ooo_request_window_9_1_4)
{
	u32 i;

	sent(FALCON_LOSS_OOO, 0);
	for (i = 0; i < 6; i++)
		solo_pull(&s, 1);
	solo_flush(&s);
	s.now += 2 * RTT;
	solo_eack(&s, 0, 0, 0x20, 0, 0, 0);
	solo_expect_tx(&s, FALCON_PKT_PULL_REQ, 0);
	solo_expect_tx(&s, FALCON_PKT_PULL_REQ, 1);
	solo_expect_quiet(&s);
}

/*
 * spec: 9.1.4-3 early retransmission uses the Rx bitmap: received is not lost
 */
TEST(ooo_received_is_not_lost_9_1_4)
{
	sent(FALCON_LOSS_OOO, 8);
	s.now += 2 * RTT;
	rx_bits(0x9f);			/* 5 and 6 missing, high 7: limit 4 */
	solo_expect_quiet(&s);
	rx_bits(0x8d);			/* 1 missing: seen above already */
	solo_expect_quiet(&s);
}

/* spec: 9.1.4+1 OOO is off when the policy is */
TEST(ooo_is_switchable_9_1_4)
{
	sent(0, 8);
	s.now += 2 * RTT;
	rx_bits(0x80);
	solo_expect_quiet(&s);
}

/* spec: 10.6.2.1-3 eack_drop: the EACK shows a loss by out-of-order distance */
TEST(eack_drop_10_6_2_1)
{
	struct falcon_pkt_info pi;
	u32 high, hole;

	sent(0, 128);
	for (high = 0; high < 128; high++)
		for (hole = 0; hole < high; hole++) {
			u32 i;

			solo_base_pi(&s, FALCON_PKT_EACK, &pi);
			for (i = 0; i <= high; i++)
				if (i != hole)
					pi.data_rx[i / 64] |= 1ULL << i % 64;
			EXPECT_EQ(falcon_loss_eack_drop(&s.c, &pi),
				  hole + s.cfg.ooo_threshold < high);
		}
}

/*
 * spec: 9.1.4-4 9.2.3-8 OWN: what the bitmap does not show is sent again, in
 * it and after
 */
TEST(own_retransmits_unreceived_9_1_4)
{
	sent(FALCON_LOSS_OWN, 10);
	s.now += 2 * RTT;
	solo_eack(&s, 0, 0, 0, 0, 0x5, 0);
	solo_expect_quiet(&s);
	solo_eack(&s, 0, 0, 0, 0, 0x5, FALCON_OWN_DATA);
	solo_expect_tx(&s, FALCON_PKT_PUSH_DATA, 1);
	EXPECT_EQ(s.tx.reason, FALCON_RETX_OWN);
	EXPECT_EQ(solo_flush(&s), 7);
}

/* spec: 9.1.4-5 OWN: each packet at most once an RTT */
TEST(own_once_an_rtt_9_1_4)
{
	sent(FALCON_LOSS_OWN, 4);
	s.now += 2 * RTT;
	solo_eack(&s, 0, 0, 0, 0, 0, FALCON_OWN_DATA);
	EXPECT_EQ(solo_flush(&s), 4);
	s.now += RTT / 2;
	s.txn[0].pkt.sent_ns -= 2 * RTT;	/* one that is due */
	solo_eack(&s, 0, 0, 0, 0, 0, FALCON_OWN_DATA);
	solo_expect_tx(&s, FALCON_PKT_PUSH_DATA, 0);
	solo_expect_quiet(&s);
	s.now += RTT + 10;
	solo_eack(&s, 0, 0, 0, 0, 0, FALCON_OWN_DATA);
	EXPECT_EQ(solo_flush(&s), 4);
}

/* spec: 9.1.4-6 OWN: the bit of one window says nothing about the other */
TEST(own_is_per_window_9_1_4)
{
	sent(FALCON_LOSS_OWN, 2);
	solo_pull(&s, 1);
	solo_flush(&s);
	s.now += 2 * RTT;
	solo_eack(&s, 0, 0, 0, 0, 0, FALCON_OWN_REQUEST);
	solo_expect_tx(&s, FALCON_PKT_PULL_REQ, 0);
	solo_expect_quiet(&s);
}

/* spec: 9.1.4+2 RACK: sent before the newest delivered, older by the window */
TEST(rack_window_9_1_4)
{
	sent(FALCON_LOSS_RACK, 3);
	s.now += RTT;
	rx_bits(0x4);
	solo_expect_quiet(&s);
	/* a quarter of an RTT after their turn would have been */
	EXPECT_NEAR(falcon_core_next_timer(&s.c), s.now + RTT / 4, 10);
	solo_wait(&s, RTT / 4 - 10);
	solo_expect_quiet(&s);
	solo_wait(&s, 20);
	solo_expect_tx(&s, FALCON_PKT_PUSH_DATA, 0);
	EXPECT_EQ(s.tx.reason, FALCON_RETX_RACK);
	solo_expect_tx(&s, FALCON_PKT_PUSH_DATA, 1);
	solo_expect_quiet(&s);
}

/* spec: 9.1.4+2 RACK: what was sent after the newest delivered is not lost */
TEST(rack_later_packets_are_not_lost_9_1_4)
{
	sent(FALCON_LOSS_RACK, 3);
	s.now += RTT;
	rx_bits(0x1);
	s.now += 10 * RTT;
	falcon_core_timer(&s.c, s.now);
	solo_expect_quiet(&s);
}

/* spec: 9.1.4+2 RACK: a retransmission lost again is found by later ones */
TEST(rack_finds_lost_retransmission_9_1_4)
{
	sent(FALCON_LOSS_RACK, 2);
	s.now += RTT;
	rx_bits(0x2);
	solo_wait(&s, RTT / 2);
	solo_expect_tx(&s, FALCON_PKT_PUSH_DATA, 0);
	solo_push(&s, 1);
	solo_expect_tx(&s, FALCON_PKT_PUSH_DATA, 2);
	s.now += RTT;
	rx_bits(0x6);
	solo_wait(&s, RTT / 2);
	solo_expect_tx(&s, FALCON_PKT_PUSH_DATA, 0);
	EXPECT_EQ(s.txn[0].pkt.early, 2);
}

/* spec: 9.1.4+2 RACK is per flow: another flow's delivery says nothing */
TEST(rack_is_per_flow_9_1_4)
{
	u32 i;

	solo_cfg(&s, true);
	s.cfg.loss = FALCON_LOSS_RACK;
	s.cfg.nr_flows = 2;
	solo_start(&s);
	s.c.srtt_ns = RTT;
	s.c.min_rtt_ns = RTT;
	for (i = 0; i < 4; i++)
		solo_push(&s, 1);
	solo_flush(&s);
	EXPECT_NE(s.txn[0].pkt.flow, s.txn[1].pkt.flow);
	s.now += RTT;
	rx_bits(0x8);			/* of the flow of 1 and 3 */
	solo_wait(&s, RTT);
	solo_expect_tx(&s, FALCON_PKT_PUSH_DATA, 1);
	solo_expect_quiet(&s);
}

/* spec: 9.1.4+1 early retransmissions of one packet are capped; then its RTO */
TEST(early_retransmissions_are_capped_9_1_4)
{
	u32 i, n = 0;

	sent(FALCON_LOSS_OOO, 8);
	for (i = 0; i < 40; i++) {
		s.now += 2 * RTT;
		if (falcon_core_next_timer(&s.c) <= s.now)
			break;
		rx_bits(0x10);
		n += solo_flush(&s);
	}
	EXPECT_EQ(n, FALCON_MAX_EARLY);
	solo_wait(&s, 1 * MS);
	EXPECT_GE(solo_flush(&s), 1);
	EXPECT_GE(s.c.stats.retx[FALCON_RETX_RTO], 1);
}

/* spec: 9.1.4+3 the original arrived: the retransmission was needless */
TEST(spurious_by_min_rtt_9_1_4)
{
	sent(FALCON_LOSS_RACK, 2);
	s.now += RTT;
	rx_bits(0x2);
	solo_wait(&s, RTT / 2);
	EXPECT_EQ(solo_flush(&s), 1);
	s.now += RTT / 2;
	EXPECT_EQ(s.c.stats.spurious, 0);
	solo_back(&s, 0, 2);
	EXPECT_EQ(s.c.stats.spurious, 1);
}

/* spec: 9.1.4+3 the ACK echoes a packet older than the retransmission */
TEST(spurious_by_echoed_time_9_1_4)
{
	sent(FALCON_LOSS_RACK, 2);
	s.now += RTT;
	rx_bits(0x2);
	solo_wait(&s, RTT / 2);
	EXPECT_EQ(solo_flush(&s), 1);
	s.now += 3 * RTT;
	s.rtt_ns = 4 * RTT;		/* t1 is of before that */
	solo_back(&s, 0, 2);
	EXPECT_EQ(s.c.stats.spurious, 1);
	/* and one that was needed is none */
	sent(FALCON_LOSS_RACK, 2);
	s.now += RTT;
	rx_bits(0x2);
	solo_wait(&s, RTT / 2);
	EXPECT_EQ(solo_flush(&s), 1);
	s.now += RTT - 100;		/* less than a unit of time-stamps */
	s.rtt_ns = RTT;
	solo_back(&s, 0, 2);
	EXPECT_EQ(s.c.stats.spurious, 0);
}

/* spec: 9.1.4+3 without an RTT nothing is known to be needless */
TEST(spurious_needs_an_rtt_9_1_4)
{
	solo_init(&s, true);
	s.rtt_ns = 0;
	solo_push(&s, 1);
	solo_flush(&s);
	solo_wait(&s, 1 * MS);
	EXPECT_EQ(solo_flush(&s), 1);
	s.now += RTT;
	solo_back(&s, 0, 1);
	EXPECT_EQ(s.c.stats.spurious, 0);
}

/*
 * spec: 9.1.4+3 needless retransmissions widen the RACK window, up to an RTT
 */
TEST(rack_window_follows_reordering_9_1_4)
{
	u32 i;

	sent(FALCON_LOSS_RACK, 0);
	for (i = 0; i < 6; i++) {
		solo_push(&s, 1);
		solo_push(&s, 1);
		solo_flush(&s);
		s.now += RTT;
		rx_bits(0x2);
		s.rtt_ns = RTT;
		EXPECT_NEAR(falcon_core_next_timer(&s.c) - s.now,
			    RTT / 4 * min(1 << i, 4), 1000);
		solo_timer(&s);
		EXPECT_EQ(solo_flush(&s), 1);
		s.now += 2 * US;	/* the original arrives */
		solo_back(&s, 0, s.c.tx[DATA].next);
	}
	EXPECT_EQ(s.c.stats.spurious, 6);
	/* calm: a quarter less each time */
	for (i = 3; i >= 1; i--) {
		s.now += 65 * RTT;
		solo_push(&s, 1);
		solo_push(&s, 1);
		solo_flush(&s);
		s.now += RTT;
		rx_bits(0x2);
		EXPECT_NEAR(falcon_core_next_timer(&s.c) - s.now, RTT / 4 * i,
			    1000);
		solo_back(&s, 0, s.c.tx[DATA].next);
	}
}

/*
 * spec: 9.1.4+4 TLP: after max(50 us, 2 RTT + coalescing) the first unreceived
 */
TEST(tlp_probes_first_unreceived_9_1_4)
{
	sent(FALCON_LOSS_TLP, 3);
	EXPECT_NEAR(falcon_core_next_timer(&s.c), s.now + 50 * US, 5);
	rx_bits(0x1);
	s.c.srtt_ns = 100 * US;
	rx_bits(0x1);
	EXPECT_EQ(s.txn[0].pkt.state, FALCON_TXPKT_RCVD);
	solo_timer(&s);
	solo_expect_tx(&s, FALCON_PKT_PUSH_DATA, 1);
	EXPECT_EQ(s.tx.reason, FALCON_RETX_TLP);
	EXPECT_TRUE(s.pi.ar);
	solo_expect_quiet(&s);
}

/* spec: 9.1.4+4 TLP: by RTT if that is longer */
TEST(tlp_timeout_by_rtt_9_1_4)
{
	sent(FALCON_LOSS_TLP, 0);
	s.c.srtt_ns = 100 * US;
	solo_push(&s, 1);
	solo_flush(&s);
	EXPECT_EQ(falcon_core_next_timer(&s.c), s.now + 208 * US);
}

/*
 * spec: 9.1.4+4 TLP: twice, the second after double the time, until something
 * is delivered; then the RTO
 */
TEST(tlp_twice_9_1_4)
{
	u64 first;

	sent(FALCON_LOSS_TLP, 2);
	first = falcon_core_next_timer(&s.c);
	solo_timer(&s);
	EXPECT_EQ(solo_flush(&s), 1);
	EXPECT_NEAR(falcon_core_next_timer(&s.c), first + 2 * 50 * US, 10);
	solo_timer(&s);
	EXPECT_EQ(solo_flush(&s), 1);
	EXPECT_EQ(s.c.stats.retx[FALCON_RETX_TLP], 2);
	solo_timer(&s);			/* RTO */
	EXPECT_EQ(solo_flush(&s), 1);
	EXPECT_EQ(s.c.stats.retx[FALCON_RETX_TLP], 2);
	EXPECT_EQ(s.c.stats.retx[FALCON_RETX_RTO], 1);
	rx_bits(0x1);
	solo_timer(&s);
	EXPECT_EQ(solo_flush(&s), 1);
	EXPECT_EQ(s.c.stats.retx[FALCON_RETX_TLP], 3);
}

/* spec: 9.1.4+4 TLP: before an RTT is known, after half the time-out */
TEST(tlp_before_an_rtt_is_known_9_1_4)
{
	solo_cfg(&s, true);
	s.cfg.loss = FALCON_LOSS_TLP;
	solo_start(&s);
	solo_push(&s, 1);
	solo_flush(&s);
	EXPECT_EQ(falcon_core_next_timer(&s.c),
		  s.txn[0].pkt.sent_ns + 500 * US);
	solo_timer(&s);
	solo_expect_tx(&s, FALCON_PKT_PUSH_DATA, 0);
	EXPECT_EQ(s.tx.reason, FALCON_RETX_TLP);
}

/* spec: 9.1.4+4 TLP: of two windows, the packet that was sent first */
TEST(tlp_probes_oldest_window_9_1_4)
{
	sent(FALCON_LOSS_TLP, 0);
	solo_pull(&s, 1);
	solo_push(&s, 1);
	solo_flush(&s);
	solo_timer(&s);
	solo_expect_tx(&s, FALCON_PKT_PULL_REQ, 0);
	solo_expect_quiet(&s);
}

/*
 * spec: 9-13 9-14 9.1.1-10 9.1.1-13 9.1.3-6 11-3 a packet is retransmitted
 * when its timer expires, not before
 */
TEST(rto_expires_9_1_5)
{
	solo_init(&s, true);
	solo_push(&s, 1);
	solo_flush(&s);
	s.now += 300 * US;
	solo_push(&s, 1);
	solo_flush(&s);
	EXPECT_EQ(falcon_core_next_timer(&s.c), s.txn[0].pkt.sent_ns + 1 * MS);
	solo_wait(&s, 700 * US);
	solo_expect_tx(&s, FALCON_PKT_PUSH_DATA, 0);
	solo_expect_quiet(&s);
	solo_wait(&s, 300 * US);
	solo_expect_tx(&s, FALCON_PKT_PUSH_DATA, 1);
	EXPECT_EQ(s.txn[1].pkt.attempts, 1);
}

/* spec: 9.1.1+1 the time-out backs off, up to its maximum */
TEST(rto_backs_off_9_1_5)
{
	static const u64 wait[] = { 1, 2, 4, 8, 16, 16, 16 };
	u32 i;

	solo_cfg(&s, true);
	s.cfg.max_attempts = 100;
	solo_start(&s);
	solo_push(&s, 1);
	solo_flush(&s);
	for (i = 0; i < ARRAY_SIZE(wait); i++) {
		EXPECT_NEAR(falcon_core_next_timer(&s.c) - s.now,
			    wait[i] * MS, 10);
		solo_timer(&s);
		solo_expect_tx(&s, FALCON_PKT_PUSH_DATA, 0);
	}
	/* anything delivered on the flow ends it */
	solo_push(&s, 1);
	solo_flush(&s);
	solo_eack(&s, 0, 0, 0, 0, 2, 0);
	EXPECT_NEAR(falcon_core_next_timer(&s.c), s.now + 1 * MS, 10);
}

/* spec: 9.1.1+1 packets sent before a time-out keep the timer they had */
TEST(rto_backoff_spares_what_was_sent_before_9_1_5)
{
	solo_init(&s, true);
	solo_push(&s, 1);
	solo_flush(&s);
	s.now += 500 * US;
	solo_push(&s, 1);
	solo_flush(&s);
	solo_wait(&s, 500 * US);
	EXPECT_EQ(solo_flush(&s), 1);
	EXPECT_NEAR(falcon_core_next_timer(&s.c), s.now + 500 * US, 10);
	solo_wait(&s, 501 * US);
	EXPECT_EQ(solo_flush(&s), 1);
	EXPECT_EQ(s.c.flow[0].rto_streak, 1);
	EXPECT_NEAR(falcon_core_next_timer(&s.c), s.now + 1499 * US, 10);
}

/*
 * spec: 9.1.1-10 RTO follows congestion control within the connection's bounds
 */
TEST(rto_has_bounds_9_1_5)
{
	solo_init(&s, true);
	s.c.rto_ns = 10 * US;
	EXPECT_EQ(falcon_rto(&s.c, 0), 1 * MS);
	s.c.rto_ns = 3 * MS;
	EXPECT_EQ(falcon_rto(&s.c, 0), 3 * MS);
	EXPECT_EQ(falcon_rto(&s.c, 200), 16 * MS);
}

/*
 * spec: 9.1.1-14 9.1.1-15 9.1.5-1 11-3 11-4 at Max Retransmit Attempts a
 * resync, its counter from zero
 */
TEST(max_attempts_then_resync_11)
{
	u32 i;

	solo_init(&s, true);
	solo_push(&s, 100);
	solo_flush(&s);
	for (i = 1; i <= 3; i++) {
		solo_timer(&s);
		solo_expect_tx(&s, FALCON_PKT_PUSH_DATA, 0);
		EXPECT_EQ(s.txn[0].pkt.attempts, i);
	}
	solo_timer(&s);
	solo_expect_tx(&s, FALCON_PKT_RESYNC, 0);
	EXPECT_EQ(s.pi.resync_code, FALCON_RESYNC_EXHAUSTED);
	EXPECT_EQ(s.txn[0].pkt.attempts, 0);
	EXPECT_TRUE(!solo_completed(&s));
	solo_back(&s, 0, 1);
	EXPECT_EQ(solo_completed(&s)->cmpl, FALCON_CMPL_LOCAL_TO);
	EXPECT_EQ(s.c.fatal, 0);
}

/*
 * spec: 6.4-7 9.1.1-15 9.1.5-1 11-5 a resync at Max Retransmit Attempts is the
 * end of the connection
 */
TEST(max_attempts_of_resync_is_fatal_11)
{
	u32 i;

	solo_init(&s, true);
	solo_push(&s, 100);
	solo_push(&s, 100);
	solo_flush(&s);
	for (i = 0; i < 7; i++) {
		solo_timer(&s);
		EXPECT_EQ(solo_flush(&s), 2);
		EXPECT_EQ(s.c.fatal, 0);
	}
	solo_timer(&s);
	EXPECT_EQ(s.c.fatal, FALCON_CMPL_DEAD_CONN);
	EXPECT_EQ(solo_completed(&s)->cmpl, FALCON_CMPL_LOCAL_TO);
	EXPECT_TRUE(solo_completed(&s));
	EXPECT_TRUE(!solo_completed(&s));
	EXPECT_EQ(falcon_core_next_timer(&s.c), FALCON_NO_TIMER);
	solo_expect_quiet(&s);
	EXPECT_EQ(falcon_core_push(&s.c, &s.txn[5], NULL, 0, s.now), -ENOTCONN);
}

/* spec: 9.1.4+4 the silence begins when the last packet departs, if it is paced */
TEST(tlp_waits_for_the_departure_9_1_4)
{
	solo_cfg(&s, true);
	s.cfg.loss = FALCON_LOSS_TLP;
	solo_start(&s);
	s.c.srtt_ns = RTT;
	falcon_core_set_rate(&s.c, 1000000);
	solo_push(&s, 1000);
	solo_push(&s, 1000);
	solo_flush(&s);
	EXPECT_GT(s.txn[1].pkt.sent_ns, s.now + RTT);
	solo_back(&s, 0, 1);
	EXPECT_GE(s.c.tlp_due_ns, s.txn[1].pkt.sent_ns + RTT);
}

/* One packet that the peer holds for longer than any probe; how many went */
static u32 probes_of_a_held_packet(void)
{
	u64 due = s.now + 40 * RTT;
	u32 sent = 0;

	solo_push(&s, 1);
	solo_flush(&s);
	while (falcon_core_next_timer(&s.c) < due) {
		solo_timer(&s);
		sent += solo_flush(&s);
	}
	s.now = due;
	s.rtt_ns = 40 * RTT;
	s.held_ns = 39 * RTT;
	solo_back(&s, 0, s.c.tx[DATA].next);
	s.held_ns = 0;
	return sent;
}

/* How long the next probe waits, of a push whose answer comes in time */
static u64 probe_wait(void)
{
	u64 wait;

	solo_push(&s, 1);
	solo_flush(&s);
	wait = falcon_core_next_timer(&s.c) - s.now;
	s.now += RTT;
	s.rtt_ns = RTT;
	solo_back(&s, 0, s.c.tx[DATA].next);
	return wait;
}

/* spec: 9.1.4+8 a second of calm takes back one doubling */
TEST(tlp_forgets_a_peer_that_held_9_1_4)
{
	u64 first, calm;
	u32 i;

	sent(FALCON_LOSS_TLP, 0);
	first = probe_wait();
	probes_of_a_held_packet();
	probes_of_a_held_packet();
	EXPECT_GT(probe_wait(), 3 * first);
	for (i = 0; i < 2; i++) {
		s.now += 1100 * MS;
		probe_wait();
	}
	calm = probe_wait();
	EXPECT_LT(calm, 2 * first);
}

/*
 * spec: 9.1.4+8 needless probes double the wait, a probe that was needed ends
 * that
 */
TEST(tlp_waits_for_a_peer_that_holds_9_1_4)
{
	u64 wait;
	u32 i;

	sent(FALCON_LOSS_TLP, 0);
	EXPECT_EQ(probes_of_a_held_packet(), 2);
	for (i = 0; i < 5 && probes_of_a_held_packet(); i++)
		;
	EXPECT_EQ(probes_of_a_held_packet(), 0);

	solo_push(&s, 1);
	solo_flush(&s);
	wait = falcon_core_next_timer(&s.c) - s.now;
	solo_timer(&s);			/* it was lost */
	EXPECT_EQ(solo_flush(&s), 1);
	s.now += RTT;
	s.rtt_ns = RTT;
	solo_back(&s, 0, s.c.tx[DATA].next);
	solo_push(&s, 1);
	solo_flush(&s);
	EXPECT_GT(wait, 4 * (falcon_core_next_timer(&s.c) - s.now));
}

/*
 * spec: 11+4 without gaps, Max Retransmit Attempts are the end of the
 * connection, and no resync tells the target to pass over the packet
 */
TEST(gapless_exhaustion_is_fatal_11)
{
	u32 i;

	solo_cfg(&s, true);
	s.cfg.gapless = true;
	solo_start(&s);
	solo_push(&s, 100);
	solo_push(&s, 100);
	solo_flush(&s);
	for (i = 0; i < 3; i++) {
		solo_timer(&s);
		EXPECT_EQ(solo_flush(&s), 2);
	}
	EXPECT_EQ(s.c.fatal, 0);
	solo_timer(&s);
	EXPECT_EQ(s.c.fatal, FALCON_CMPL_LOCAL_TO);
	EXPECT_EQ(solo_completed(&s)->cmpl, FALCON_CMPL_LOCAL_TO);
	EXPECT_TRUE(solo_completed(&s));
	solo_expect_quiet(&s);
}

/* spec: 11+1 a slow reader is no dead peer: received packets do not count */
TEST(received_never_exhausts_while_peer_lives_11)
{
	u32 i;

	solo_init(&s, true);
	for (i = 0; i < 20; i++)
		solo_push(&s, 1);
	solo_flush(&s);
	for (i = 0; i < 100; i++) {
		solo_eack(&s, 0, 0, 0, 0, 0xfffff, 0);
		ASSERT_TRUE(solo_timer(&s));
		/* only the oldest goes again, as a probe */
		EXPECT_LE(solo_flush(&s), 1);
		if (s.tx.type != 0xff)
			EXPECT_EQ(s.pi.psn, 0);
	}
	EXPECT_EQ(s.c.fatal, 0);
	EXPECT_EQ(s.txn[0].pkt.attempts, 0);
	EXPECT_GE(s.c.stats.retx[FALCON_RETX_RTO], 50);
	solo_back(&s, 0, 20);
	for (i = 0; i < 20; i++)
		EXPECT_EQ(solo_completed(&s)->cmpl, FALCON_CMPL_ACK);
}

/* spec: 9.1.5+1 probes of a slow reader back off */
TEST(received_probe_backs_off_11)
{
	u64 last = 0;
	u32 i;

	solo_init(&s, true);
	solo_push(&s, 1);
	solo_flush(&s);
	solo_eack(&s, 0, 0, 0, 0, 1, 0);
	for (i = 0; i < 5; i++) {
		u64 wait = falcon_core_next_timer(&s.c) - s.now;

		EXPECT_GT(wait, last);
		last = wait;
		solo_timer(&s);
		EXPECT_EQ(solo_flush(&s), 1);
		solo_eack(&s, 0, 0, 0, 0, 1, 0);
	}
	EXPECT_EQ(last, 16 * MS);
}

/* spec: 11+1 but a silent peer is dead, whatever it had received */
TEST(received_exhausts_when_peer_is_silent_11)
{
	u32 i;

	solo_init(&s, true);
	solo_push(&s, 1);
	solo_flush(&s);
	solo_eack(&s, 0, 0, 0, 0, 1, 0);
	for (i = 0; i < 30 && !s.c.fatal; i++) {
		ASSERT_TRUE(solo_timer(&s));
		solo_flush(&s);
	}
	EXPECT_EQ(s.c.fatal, FALCON_CMPL_DEAD_CONN);
}

/*
 * spec: 9.1.5+1 received and not confirmed since: a NACK was lost, it goes
 * again
 */
TEST(received_goes_stale_9_1_5)
{
	solo_init(&s, true);
	solo_push(&s, 1);
	solo_push(&s, 1);
	solo_flush(&s);
	solo_eack(&s, 0, 0, 0, 0, 3, 0);
	solo_timer(&s);
	solo_expect_tx(&s, FALCON_PKT_PUSH_DATA, 0);
	solo_expect_quiet(&s);
	/* the answer to the probe shows PSN 1 no more: RNR NACKed */
	solo_eack(&s, 0, 0, 0, 0, 1, 0);
	solo_timer(&s);
	solo_expect_tx(&s, FALCON_PKT_PUSH_DATA, 0);
	solo_expect_tx(&s, FALCON_PKT_PUSH_DATA, 1);
}

/* spec: 9.1.5+1 received and confirmed by each EACK: it does not go again */
TEST(received_stays_fresh_9_1_5)
{
	u32 i;

	solo_init(&s, true);
	solo_push(&s, 1);
	solo_push(&s, 1);
	solo_flush(&s);
	for (i = 0; i < 20; i++) {
		solo_eack(&s, 0, 0, 0, 0, 3, 0);
		solo_timer(&s);
		while (solo_tx(&s))
			EXPECT_EQ(s.pi.psn, 0);
	}
}

/* spec: 11+1 a resource NACK answers: the time-out after it does not count */
TEST(resource_nack_does_not_count_11)
{
	u32 i;

	solo_init(&s, true);
	solo_push(&s, 1);
	solo_flush(&s);
	for (i = 0; i < 20; i++) {
		s.now += 100;
		solo_nack(&s, DATA, 0, FALCON_NACK_RESOURCE);
		ASSERT_TRUE(solo_timer(&s));
		EXPECT_EQ(solo_flush(&s), 1);
	}
	EXPECT_EQ(s.txn[0].pkt.attempts, 0);
	solo_timer(&s);
	EXPECT_EQ(s.txn[0].pkt.attempts, 1);
}

/*
 * spec: 11+1 PSNs beyond the peer's window cannot arrive: that does not count
 */
TEST(beyond_peer_window_does_not_count_11)
{
	u32 i, k;

	solo_init(&s, true);
	for (i = 0; i < 130; i++)
		solo_push(&s, 1);
	solo_flush(&s);
	for (k = 0; k < 10; k++) {
		struct falcon_pkt_info pi;

		s.now += 100;
		solo_base_pi(&s, FALCON_PKT_EACK, &pi);
		pi.data_rx[0] = ~0ULL;
		pi.data_rx[1] = ~0ULL;
		pi.own = FALCON_OWN_DATA;
		solo_rx(&s, &pi);
		ASSERT_TRUE(solo_timer(&s));
		solo_flush(&s);
	}
	EXPECT_EQ(s.txn[129].pkt.attempts, 0);
	EXPECT_GE(s.c.stats.retx[FALCON_RETX_RTO], 10);
}

/*
 * spec: 11+2 the time budget: silence that long after a transmission is the
 * end
 */
TEST(user_timeout_of_silence_11)
{
	solo_cfg(&s, true);
	s.cfg.user_timeout_ns = 5 * MS;
	s.cfg.max_attempts = 255;
	solo_start(&s);
	s.now += 100 * MS;		/* idle: silence means nothing */
	falcon_core_timer(&s.c, s.now);
	solo_push(&s, 1);
	solo_flush(&s);
	while (s.now < 1105 * MS - 1 && solo_timer(&s))
		solo_flush(&s);
	EXPECT_EQ(s.now, 1105 * MS);
	EXPECT_EQ(s.c.fatal, FALCON_CMPL_DEAD_CONN);
	EXPECT_EQ(solo_completed(&s)->cmpl, FALCON_CMPL_DEAD_CONN);
}

/*
 * spec: 11+2 the window is closed when the peer says its last word: the budget
 * does not wait for the next transmission, which backs off
 */
TEST(user_timeout_runs_while_nothing_may_be_sent_11)
{
	u32 i;

	solo_cfg(&s, true);
	s.cfg.user_timeout_ns = 20 * MS;
	s.cfg.max_attempts = 255;
	s.cfg.tx_win[DATA] = 8;
	solo_start(&s);
	for (i = 0; i < 8; i++)
		solo_push(&s, 1);
	solo_flush(&s);
	for (i = 0; i < 4; i++) {	/* time-outs back off */
		ASSERT_TRUE(solo_timer(&s));
		solo_flush(&s);
	}
	solo_eack(&s, 0, 0, 0, 0, 1, 0);
	solo_expect_quiet(&s);
	i = s.now / MS;
	while (!s.c.fatal && solo_timer(&s))
		solo_flush(&s);
	EXPECT_EQ(s.c.fatal, FALCON_CMPL_DEAD_CONN);
	EXPECT_EQ(s.now / MS, i + 20);
}

/*
 * spec: 11+2 a reader that takes its time is asked in time: half of the budget
 * bounds the RTO
 */
TEST(user_timeout_bounds_rto_11)
{
	u64 heard;
	u32 i;

	solo_cfg(&s, true);
	s.cfg.user_timeout_ns = 10 * MS;
	s.cfg.max_rto_ns = 1000 * MS;
	s.cfg.max_attempts = 255;
	solo_start(&s);
	solo_push(&s, 1);
	solo_flush(&s);
	for (i = 0; i < 10; i++) {	/* received, not acknowledged */
		solo_eack(&s, 0, 0, 0, 0, 1, 0);
		heard = s.now;
		ASSERT_TRUE(solo_timer(&s));
		solo_flush(&s);
		EXPECT_LE(s.now - heard, 5 * MS);
	}
	EXPECT_EQ(s.c.fatal, 0);
	heard = s.now;
	while (!s.c.fatal && solo_timer(&s))
		solo_flush(&s);
	EXPECT_EQ(s.now, heard + 10 * MS);
}

/* spec: 11+2 any valid packet of the peer renews the budget */
TEST(user_timeout_renewed_by_any_packet_11)
{
	u32 i;

	solo_cfg(&s, true);
	s.cfg.user_timeout_ns = 5 * MS;
	s.cfg.max_attempts = 255;
	solo_start(&s);
	solo_push(&s, 1);
	solo_flush(&s);
	for (i = 0; i < 20; i++) {
		solo_wait(&s, 4 * MS);
		solo_flush(&s);
		solo_back(&s, 0, 0);
	}
	EXPECT_EQ(s.c.fatal, 0);
	/* and a forged one does not */
	for (i = 0; i < 3; i++) {
		solo_wait(&s, 4 * MS);
		solo_flush(&s);
		solo_back(&s, 0, 77);
	}
	EXPECT_EQ(s.c.fatal, FALCON_CMPL_DEAD_CONN);
}

/*
 * spec: 10.3.2-1 10.3.2-4 the first time-out of a packet halves fcwnd, the
 * third ends it
 */
TEST(fae_hears_of_timeouts_10_3_2)
{
	u32 i;

	solo_cfg(&s, true);
	s.cfg.max_attempts = 10;
	s.cfg.fae = &falcon_fae_swift;
	falcon_core_init(&s.c, &s.cfg, NULL, s.now);
	solo_push(&s, 1);
	solo_flush(&s);
	s.c.flow[0].fcwnd = 100 << FALCON_FCWND_SHIFT;
	for (i = 1; i <= 3; i++) {
		EXPECT_GT(s.c.flow[0].fcwnd, 40 << FALCON_FCWND_SHIFT);
		solo_timer(&s);
		EXPECT_LT(s.c.flow[0].fcwnd, 51 << FALCON_FCWND_SHIFT);
		EXPECT_EQ(solo_flush(&s), 1);
		EXPECT_EQ(s.txn[0].pkt.attempts, i);
	}
	EXPECT_LT(s.c.flow[0].fcwnd, 1 << FALCON_FCWND_SHIFT);
	falcon_core_abort(&s.c, FALCON_CMPL_DEAD_CONN);
}

/*
 * spec: 9.1.1-14 10.3.2-4 early retransmissions are not in the counter that
 * fcwnd falls by
 */
TEST(early_retransmission_halves_nothing_9_1_1)
{
	solo_cfg(&s, true);
	s.cfg.loss = FALCON_LOSS_OOO;
	s.cfg.fae = &falcon_fae_swift;
	falcon_core_init(&s.c, &s.cfg, NULL, s.now);
	s.c.srtt_ns = RTT;
	while (s.nr_txn < 8)
		solo_push(&s, 1);
	solo_flush(&s);
	s.now += 500 * US;
	s.c.flow[0].fcwnd = 100 << FALCON_FCWND_SHIFT;
	rx_bits(0x80);
	EXPECT_EQ(solo_flush(&s), 4);
	EXPECT_GE(s.c.flow[0].fcwnd, 100 << FALCON_FCWND_SHIFT);
	falcon_core_abort(&s.c, FALCON_CMPL_DEAD_CONN);
}

/* spec: 10.3.2-4 a tail loss probe is no sign of congestion */
TEST(fae_does_not_hear_of_probes_10_3_2)
{
	u32 fcwnd;

	solo_cfg(&s, true);
	s.cfg.loss = FALCON_LOSS_TLP;
	s.cfg.fae = &falcon_fae_swift;
	falcon_core_init(&s.c, &s.cfg, NULL, s.now);
	s.c.srtt_ns = RTT;
	solo_push(&s, 1);
	solo_flush(&s);
	fcwnd = s.c.flow[0].fcwnd;
	solo_timer(&s);
	EXPECT_EQ(solo_flush(&s), 1);
	EXPECT_EQ(s.c.flow[0].fcwnd, fcwnd);
	falcon_core_abort(&s.c, FALCON_CMPL_DEAD_CONN);
}

/*
 * spec: 9-13 9.1.1-13 9.1.5-7 the retransmit timer starts anew with each
 * retransmission, of any reason
 */
TEST(retransmit_timer_restarts_9_1_1)
{
	sent(FALCON_LOSS_OOO, 8);
	s.now += 500 * US;
	rx_bits(0xfe);				/* 0 is lost */
	solo_expect_tx(&s, FALCON_PKT_PUSH_DATA, 0);
	EXPECT_EQ(s.tx.reason, FALCON_RETX_OOO);
	solo_wait(&s, 1 * MS - 1);
	EXPECT_EQ(s.c.stats.retx[FALCON_RETX_RTO], 0);
	solo_wait(&s, 1);
	solo_expect_tx(&s, FALCON_PKT_PUSH_DATA, 0);
	EXPECT_EQ(s.tx.reason, FALCON_RETX_RTO);
}

/* spec: 9-13 an ACK clears the timer of what it acknowledges, not of the rest */
TEST(retransmit_timer_is_cleared_by_ack_9)
{
	sent(0, 1);
	s.now += 400 * US;
	solo_push(&s, 1);
	solo_flush(&s);
	solo_back(&s, 0, 1);
	EXPECT_EQ(falcon_core_next_timer(&s.c), s.now + 1 * MS);
	solo_back(&s, 0, 2);
	EXPECT_EQ(falcon_core_next_timer(&s.c), FALCON_NO_TIMER);
}

/*
 * spec: 9.1.1+2 where RACK or TLP find losses early, the retransmit timer of a
 * flow starts again with each delivery on it; elsewhere each packet has its own
 */
TEST(retransmit_timer_restarts_with_progress_9_1_1)
{
	static const u8 loss[] = { 0, FALCON_LOSS_RACK, FALCON_LOSS_TLP };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(loss); i++) {
		sent(loss[i], 3);
		s.c.tlp_due_ns = FALCON_NO_TIMER;
		s.now += 900 * US;
		solo_back(&s, 0, 1);
		s.c.tlp_due_ns = FALCON_NO_TIMER;
		solo_wait(&s, 101 * US);
		EXPECT_EQ(solo_flush(&s), (loss[i] ? 0u : 2u));
		s.c.tlp_due_ns = FALCON_NO_TIMER;
		solo_wait(&s, 900 * US);
		solo_flush(&s);
		EXPECT_EQ(s.c.stats.retx[FALCON_RETX_RTO], 2);
	}
}

/* spec: 9.1.1+2 the progress of one flow does not excuse another */
TEST(retransmit_timer_restarts_by_flow_9_1_1)
{
	solo_cfg(&s, true);
	s.cfg.loss = FALCON_LOSS_RACK;
	s.cfg.nr_flows = 2;
	solo_start(&s);
	solo_push(&s, 1);
	solo_push(&s, 1);
	ASSERT_EQ(solo_flush(&s), 2);
	ASSERT_TRUE(s.txn[0].pkt.flow != s.txn[1].pkt.flow);
	s.now += 900 * US;
	solo_back(&s, 0, 1);
	solo_wait(&s, 100 * US);
	solo_expect_tx(&s, FALCON_PKT_PUSH_DATA, 1);
	EXPECT_EQ(s.tx.reason, FALCON_RETX_RTO);
}

/*
 * spec: 9.1.1+3 the RTO leaves a tail loss probe and its answer their time,
 * which grows with the variance of the RTT
 */
TEST(rto_follows_variance_9_1_1)
{
	sent(FALCON_LOSS_TLP, 0);
	s.c.srtt_ns = 2 * MS;
	EXPECT_EQ(falcon_rto(&s.c, 0), 2 * (4 * MS + 8 * US));
	s.c.rttvar_ns = 1 * MS;
	EXPECT_EQ(falcon_rto(&s.c, 0), 2 * (6 * MS + 8 * US));
	EXPECT_EQ(falcon_rto(&s.c, 1), s.cfg.max_rto_ns);
	s.c.cfg.loss = 0;
	EXPECT_EQ(falcon_rto(&s.c, 0), 1 * MS);
}

/* spec: 9.1.1+3 the variance is the mean deviation of RTT samples, by 1/4 */
TEST(rtt_variance_9_1_1)
{
	sent(FALCON_LOSS_TLP, 3);
	s.c.srtt_ns = 0;
	s.rtt_ns = 100 * US;
	s.now += 100 * US;
	solo_back(&s, 0, 1);
	EXPECT_NEAR(s.c.srtt_ns, 100 * US, 200);
	EXPECT_NEAR(s.c.rttvar_ns, 50 * US, 200);
	s.now += 80 * US;
	s.rtt_ns = 180 * US;
	solo_back(&s, 0, 2);
	EXPECT_NEAR(s.c.srtt_ns, 110 * US, 300);
	EXPECT_NEAR(s.c.rttvar_ns, 57500, 300);
	s.now += 1 * US;
	s.rtt_ns = 10 * US;
	solo_back(&s, 0, 3);
	EXPECT_NEAR(s.c.rttvar_ns, 68125, 500);
}

/* spec: 9.1.3-6 the timer starts when the packet leaves, not when it is queued */
TEST(retransmit_timer_starts_at_departure_9_1_3)
{
	sent(0, 0);
	solo_window(&s, 1, 1);
	solo_push(&s, 1);
	solo_push(&s, 1);
	solo_expect_tx(&s, FALCON_PKT_PUSH_DATA, 0);
	solo_expect_quiet(&s);
	s.now += 900 * US;
	solo_back(&s, 0, 1);
	solo_expect_tx(&s, FALCON_PKT_PUSH_DATA, 1);
	EXPECT_EQ(falcon_core_next_timer(&s.c), s.now + 1 * MS);
}

/*
 * spec: 9.1.4-4 EACK-OWN is about the whole transmit window, inside the bitmap
 * and beyond
 */
TEST(own_reaches_the_whole_transmit_window_9_1_4)
{
	sent(FALCON_LOSS_OWN, 300);
	s.now += 2 * RTT;
	solo_eack(&s, 0, 0, 0, 0, 0xf0, FALCON_OWN_DATA);
	EXPECT_EQ(solo_flush(&s), 300 - 4);
}

/* spec: 9-15 a lost ACK is made good by the next, or by the retransmit timer */
TEST(lost_ack_is_made_good_9)
{
	sent(0, 3);
	solo_back(&s, 0, 2);			/* that of 0 was lost */
	EXPECT_EQ(s.c.tx[DATA].base, 2);
	solo_wait(&s, 1 * MS + 10);		/* that of 2 as well */
	solo_expect_tx(&s, FALCON_PKT_PUSH_DATA, 2);
	solo_back(&s, 0, 3);			/* drawn by the duplicate */
	EXPECT_TRUE(falcon_core_idle(&s.c));
}

/* spec: 10.6.2.2-3 a new retransmit_timeout holds for packets on their way */
TEST(rto_applies_to_packets_outstanding_10_6_2_2)
{
	sent(0, 1);
	EXPECT_EQ(falcon_core_next_timer(&s.c), s.now + 1 * MS);
	s.c.rto_ns = 3 * MS;
	EXPECT_EQ(falcon_core_next_timer(&s.c), s.now + 3 * MS);
	solo_wait(&s, 3 * MS - 1);
	solo_expect_quiet(&s);
	solo_wait(&s, 1);
	solo_expect_tx(&s, FALCON_PKT_PUSH_DATA, 0);
}
