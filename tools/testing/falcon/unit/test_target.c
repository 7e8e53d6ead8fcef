// SPDX-License-Identifier: GPL-2.0
/* Transactions at their target: order, RNR, NACKs, responses: 8.5, 11 */
#include "solo.h"

static struct solo s;

static struct falcon_rxpkt *delivers(u32 rsn)
{
	struct falcon_rxpkt *rx = solo_delivered(&s);

	if (!rx) {
		unit_fail(__FILE__, __LINE__, "RSN %u not delivered", rsn);
		unit_end_test();
	}
	ASSERT_EQ(rx->rsn, rsn);
	return rx;
}

static void delivers_nothing(void)
{
	EXPECT_TRUE(!solo_delivered(&s));
}

static void ack(struct falcon_rxpkt *rx)
{
	falcon_core_target_ack(&s.c, rx, s.now);
}

static void rnr(struct falcon_rxpkt *rx)
{
	falcon_core_target_rnr(&s.c, rx, 5, s.now);	/* 60 us */
}

static void nack(struct falcon_rxpkt *rx)
{
	falcon_core_target_nack(&s.c, rx, FALCON_NACK_CIE, 0x11, s.now);
}

static void expect_nack(u32 psn, u8 code)
{
	ASSERT_TRUE(solo_tx(&s));
	ASSERT_EQ(s.pi.type, FALCON_PKT_NACK);
	EXPECT_EQ(s.pi.nack_psn, psn);
	EXPECT_EQ(s.pi.nack_code, code);
}

static u32 dropped(void)
{
	u32 n = 0;

	while (solo_dropped(&s))
		n++;
	return n;
}

/* spec: 8.5.1-6 8.5.3.3-2 8.5.3.3-3 the states of a push */
TEST(target_push_states_8_5_1)
{
	struct falcon_rxpkt *rx;

	solo_init(&s, true);
	rx = solo_rx_push(&s, 1, 1);
	EXPECT_EQ(rx->state, FALCON_PUSH_DATA_RX);
	solo_rx_push(&s, 0, 0);
	delivers(0);
	EXPECT_TRUE(delivers(1) == rx);
	EXPECT_EQ(rx->state, FALCON_PUSH_REQ_ULP_TX);
	ack(rx);
	EXPECT_EQ(rx->state, FALCON_PUSH_REQ_ULP_ACKD);
}

/*
 * spec: 7.3-4 8.5.1-5 8.5.3.1-2 8.5.3.1-3 8.5.3.2-1 8.5.3.2-4 the states of a
 * pull and its data
 */
TEST(target_pull_states_8_5_1)
{
	struct falcon_resp *resp;
	struct falcon_rxpkt *rx;

	solo_init(&s, true);
	solo_rx_pull(&s, 0, 0);
	rx = delivers(0);
	EXPECT_EQ(rx->state, FALCON_PULL_REQ_ULP_TX);
	EXPECT_EQ(rx->req_len, 1000);
	ack(rx);
	EXPECT_EQ(rx->state, FALCON_PULL_REQ_ULP_ACKD);
	resp = solo_respond(&s, rx, 500);
	EXPECT_EQ(rx->state, FALCON_PULL_DATA_ULP_RX);
	EXPECT_EQ(resp->state, FALCON_PULL_DATA_ULP_RX);
	solo_expect_tx(&s, FALCON_PKT_PULL_DATA, 0);
	EXPECT_EQ(resp->state, FALCON_PULL_DATA_TX);
	EXPECT_EQ(s.pi.rsn, 0);
	EXPECT_EQ(s.tx.len, 500);
	EXPECT_TRUE(s.tx.payload == resp);
	EXPECT_TRUE(!solo_released(&s));
	solo_back(&s, 0, 1);
	EXPECT_EQ(resp->state, FALCON_PULL_DATA_ACKD);
	EXPECT_TRUE(solo_released(&s) == resp);
}

/*
 * spec: 8.5.1-5 8.5.1-6 an answer out of place is a bug of the ULP, and does
 * nothing
 */
TEST(target_answer_twice_8_5_1)
{
	struct falcon_rxpkt *rx;

	solo_init(&s, true);
	solo_rx_push(&s, 0, 0);
	rx = delivers(0);
	ack(rx);
	EXPECT_WARN(1);
	ack(rx);
	EXPECT_EQ(s.c.rx[DATA].base, 1);
}

/*
 * spec: 7.2-12 8.5.1-3 8.5.1-4 8.5.2-1 8.5.3.1-2 8.5.3.3-2 ordered: pushes and
 * pulls are delivered in RSN order
 */
TEST(delivery_in_rsn_order_8_5_2)
{
	solo_init(&s, true);
	solo_rx_pull(&s, 1, 3);
	solo_rx_push(&s, 1, 2);
	solo_rx_pull(&s, 0, 1);
	delivers_nothing();
	EXPECT_EQ(s.c.rx_nrsn, 0);
	solo_rx_push(&s, 0, 0);
	delivers(0);
	delivers(1);
	delivers(2);
	delivers(3);
	EXPECT_EQ(s.c.rx_nrsn, 4);
	EXPECT_EQ(s.c.rx_brsn, 0);
}

/* spec: 8.5.2-2 unordered: as they arrive */
TEST(delivery_unordered_8_5_2)
{
	solo_init(&s, false);
	solo_rx_pull(&s, 1, 3);
	delivers(3);
	solo_rx_push(&s, 1, 2);
	delivers(2);
}

/* spec: 8.5.1-2 8.5.1-4 RSN order wraps at 2^32 */
TEST(delivery_order_wraps_8_5_1)
{
	u32 i;

	solo_cfg(&s, true);
	s.cfg.rx_rsn = 0xfffffffd;
	solo_start(&s);
	for (i = 6; i--;)
		solo_rx_push(&s, i, 0xfffffffd + i);
	for (i = 0; i < 6; i++)
		delivers(0xfffffffd + i);
}

/*
 * spec: 8.5.1-1 8.5.1-2 BRSN is the oldest delivered and not acknowledged by
 * the ULP
 */
TEST(brsn_follows_acceptance_8_5_1)
{
	struct falcon_rxpkt *rx[4];
	u32 i;

	solo_init(&s, true);
	for (i = 0; i < 4; i++) {
		solo_rx_push(&s, i, i);
		rx[i] = delivers(i);
	}
	ack(rx[1]);
	EXPECT_EQ(s.c.rx_brsn, 0);
	ack(rx[0]);
	EXPECT_EQ(s.c.rx_brsn, 2);
	ack(rx[3]);
	ack(rx[2]);
	EXPECT_EQ(s.c.rx_brsn, 4);
}

/* spec: 8.5.2+1 an RSN comes once: another PSN with it is acked and dropped */
TEST(duplicate_rsn_is_dropped_8_5_2)
{
	solo_init(&s, true);
	solo_rx_push(&s, 0, 0);
	delivers(0);
	EXPECT_TRUE(!solo_rx_push(&s, 1, 0));
	EXPECT_TRUE(solo_rx_push(&s, 2, 5));
	EXPECT_TRUE(!solo_rx_push(&s, 3, 5));
	EXPECT_EQ(s.c.stats.rx_bad_pkt, 2);
	delivers_nothing();
}

/* spec: 8.5.1+1 what is held ahead of its turn is bounded */
TEST(reorder_is_bounded_8_5_3)
{
	u32 i;

	solo_cfg(&s, true);
	solo_start(&s);
	for (i = 0; i < 1200; i++) {
		solo_rx_pull(&s, i, i + 1);
		while (s.c.nr_nacks || s.c.ack_now)
			solo_tx(&s);
		if (s.verdict == FALCON_RX_DONE)
			break;
	}
	EXPECT_EQ(i, FALCON_REORDER_MAX - 1);
	EXPECT_EQ(s.pi.type, FALCON_PKT_NACK);
	EXPECT_EQ(s.pi.nack_code, FALCON_NACK_RESOURCE);
	EXPECT_EQ(s.pi.nack_win, REQ);
	EXPECT_EQ(s.c.stats.rx_no_resource, 1);
	/* the head of the line is let in always */
	EXPECT_TRUE(solo_rx_pull(&s, i, 0));
	delivers(0);
}

/*
 * spec: 8.5.1+1 delivered and unanswered RSNs are bounded, and go on after
 * that
 */
TEST(unanswered_are_bounded_8_5_1)
{
	static struct falcon_rxpkt *rx[FALCON_RSN_WIN + 40];
	u32 i, n;

	solo_init(&s, true);
	for (i = 0; i < FALCON_RSN_WIN + 40; i++) {
		solo_rx_pull(&s, i, i);
		solo_flush(&s);
	}
	for (n = 0; (rx[n] = solo_delivered(&s)); n++)
		;
	EXPECT_EQ(n, FALCON_RSN_WIN);
	solo_respond(&s, rx[7], 1);
	delivers_nothing();
	for (i = 0; i < 7; i++)
		solo_respond(&s, rx[i], 1);
	for (n = 0; solo_delivered(&s); n++)
		;
	EXPECT_EQ(n, 8);
}

/*
 * spec: 8.5.3.1-1 8.5.3.3-1 11-15 no resources: a NACK, and the packet may
 * come again
 */
TEST(no_resources_draws_nack_8_5_3)
{
	static struct falcon_resources res;
	struct falcon_rxpkt *rx;

	solo_cfg(&s, true);
	falcon_res_init(&res);
	falcon_res_limit(&res, FALCON_POOL_RX_NET, 1, 0);
	falcon_core_init(&s.c, &s.cfg, &res, s.now);
	solo_rx_push(&s, 0, 0);
	rx = delivers(0);
	EXPECT_TRUE(!solo_rx_push(&s, 1, 1));
	EXPECT_EQ(s.c.stats.rx_no_resource, 1);
	expect_nack(1, FALCON_NACK_RESOURCE);
	EXPECT_EQ(s.c.rx[DATA].nr_rx, 1);
	ack(rx);
	EXPECT_TRUE(solo_rx_push(&s, 1, 1));
	ack(delivers(1));
	EXPECT_EQ(atomic_read(&res.pool[FALCON_POOL_RX_NET].pkts), 0);
}

/*
 * spec: 8.2.1.2-5 8.2.4-2 CR rule 3: in the red zone the head of the line
 * still enters
 */
TEST(red_zone_admits_head_of_line_8_2_1_2)
{
	static struct falcon_resources res;
	u32 i;

	solo_cfg(&s, true);
	falcon_res_init(&res);
	falcon_res_limit(&res, FALCON_POOL_RX_NET, 8, 0);
	falcon_core_init(&s.c, &s.cfg, &res, s.now);
	for (i = 1; i <= 7; i++)
		EXPECT_TRUE(solo_rx_push(&s, i, i));
	EXPECT_TRUE(!solo_rx_push(&s, 8, 8));
	EXPECT_TRUE(solo_rx_push(&s, 0, 0));
	for (i = 0; i <= 7; i++)
		ack(delivers(i));
	EXPECT_EQ(s.c.rx[DATA].base, 8);
}

/* spec: 8.2.4+1 unordered requests enter in the green zone */
TEST(unordered_admission_8_2_4)
{
	static struct falcon_resources res;
	u32 i;

	solo_cfg(&s, false);
	falcon_res_init(&res);
	falcon_res_limit(&res, FALCON_POOL_RX_NET, 8, 0);
	falcon_core_init(&s.c, &s.cfg, &res, s.now);
	for (i = 0; i < 7; i++)
		EXPECT_TRUE(solo_rx_push(&s, i, i));
	EXPECT_TRUE(!solo_rx_push(&s, 7, 7));
	EXPECT_EQ(s.c.stats.rx_no_resource, 1);
	falcon_core_abort(&s.c, FALCON_CMPL_DEAD_CONN);
	EXPECT_EQ(atomic_read(&res.pool[FALCON_POOL_RX_NET].pkts), 0);
	EXPECT_EQ(dropped(), 7);
}

/*
 * spec: 8.5.3.4-1 9.1.7-3 11-25 RNR of a push: NACK with its time-out, the
 * packet is dropped
 */
TEST(rnr_of_push_8_5_3_4)
{
	struct falcon_rxpkt *rx;

	solo_init(&s, true);
	solo_rx_push(&s, 0, 0);
	rx = delivers(0);
	rnr(rx);
	EXPECT_EQ(dropped(), 1);
	expect_nack(0, FALCON_NACK_RNR);
	EXPECT_EQ(s.pi.rnr_timeout, 5);
	EXPECT_EQ(s.pi.nack_win, DATA);
	EXPECT_EQ(s.c.rx[DATA].nr_rx, 0);
	EXPECT_EQ(s.c.use.pkts[FALCON_POOL_RX_NET], 0);
	/* it comes again, and is delivered again */
	EXPECT_TRUE(solo_rx_push(&s, 0, 0));
	ack(delivers(0));
	EXPECT_EQ(s.c.rx[DATA].base, 1);
	EXPECT_EQ(s.c.rx_brsn, 1);
}

/*
 * spec: 8.5.3.4-2 8.5.3.4-4 11-26 RNR of a pull: delivered again when the time
 * is over
 */
TEST(rnr_of_pull_8_5_3_4)
{
	struct falcon_rxpkt *rx;

	solo_init(&s, true);
	solo_rx_pull(&s, 0, 0);
	solo_flush(&s);
	solo_wait(&s, 8 * US);
	solo_flush(&s);
	rx = delivers(0);
	rnr(rx);
	solo_expect_quiet(&s);		/* it is acknowledged: no NACK */
	EXPECT_EQ(falcon_core_next_timer(&s.c), s.now + 60 * US);
	solo_wait(&s, 59 * US);
	delivers_nothing();
	solo_wait(&s, 1 * US);
	EXPECT_TRUE(delivers(0) == rx);
	solo_respond(&s, rx, 1);
	EXPECT_EQ(s.c.rx_brsn, 1);
	EXPECT_EQ(falcon_core_next_timer(&s.c), FALCON_NO_TIMER);
}

/* spec: 8.5.3.4-2 unordered pulls are delivered again as they are due */
TEST(rnr_of_pulls_unordered_8_5_3_4)
{
	struct falcon_rxpkt *rx[2];
	u32 i;

	solo_init(&s, false);
	for (i = 0; i < 2; i++) {
		solo_rx_pull(&s, i, i);
		rx[i] = delivers(i);
	}
	falcon_core_target_rnr(&s.c, rx[0], 8, s.now);	/* 160 us */
	falcon_core_target_rnr(&s.c, rx[1], 1, s.now);	/* 10 us */
	solo_wait(&s, 10 * US);
	EXPECT_TRUE(delivers(1) == rx[1]);
	delivers_nothing();
	solo_wait(&s, 150 * US);
	EXPECT_TRUE(delivers(0) == rx[0]);
}

/* spec: 8.5.3.4-3 ordered: after an RNR of N later pushes are RNR NACKed */
TEST(rnr_covers_later_pushes_8_5_3_4)
{
	struct falcon_rxpkt *rx;

	solo_init(&s, true);
	solo_rx_push(&s, 0, 0);
	rx = delivers(0);
	solo_rx_push(&s, 2, 2);		/* held: 1 is missing */
	rnr(rx);
	EXPECT_EQ(dropped(), 2);
	expect_nack(0, FALCON_NACK_RNR);
	expect_nack(2, FALCON_NACK_RNR);
	EXPECT_EQ(s.pi.rnr_timeout, 5);
	EXPECT_TRUE(!solo_rx_push(&s, 1, 1));
	expect_nack(1, FALCON_NACK_RNR);
	EXPECT_EQ(s.c.rx[DATA].nr_rx, 0);
	delivers_nothing();
}

/*
 * spec: 8.5.3.4-3 the time-out of the oldest: a pull that is refused for long
 * has later pushes wait as long, whatever the ULP said of one in between
 */
TEST(rnr_of_later_pushes_waits_for_the_oldest_8_5_3_4)
{
	struct falcon_rxpkt *rx[2];

	solo_init(&s, true);
	solo_rx_pull(&s, 0, 0);
	solo_rx_push(&s, 0, 1);
	rx[0] = delivers(0);
	rx[1] = delivers(1);
	falcon_core_target_rnr(&s.c, rx[0], 20, s.now);
	falcon_core_target_rnr(&s.c, rx[1], 1, s.now);
	expect_nack(0, FALCON_NACK_RNR);
	EXPECT_EQ(s.pi.rnr_timeout, 1);
	solo_rx_push(&s, 1, 2);
	expect_nack(1, FALCON_NACK_RNR);
	EXPECT_EQ(s.pi.rnr_timeout, 20);
}

/*
 * spec: 8.5.3.4-3 the oldest has been accepted: now the next one's time counts,
 * as far as it is not over
 */
TEST(rnr_of_later_pushes_waits_for_the_next_oldest_8_5_3_4)
{
	struct falcon_rxpkt *rx[2];

	solo_init(&s, true);
	solo_rx_pull(&s, 0, 0);
	solo_rx_pull(&s, 1, 1);
	rx[0] = delivers(0);
	rx[1] = delivers(1);
	falcon_core_target_rnr(&s.c, rx[0], 1, s.now);		/* 10 us */
	falcon_core_target_rnr(&s.c, rx[1], 8, s.now);		/* 160 us */
	solo_wait(&s, 10 * US);
	solo_respond(&s, delivers(0), 1);
	solo_flush(&s);
	solo_rx_push(&s, 0, 2);
	expect_nack(0, FALCON_NACK_RNR);
	EXPECT_EQ(falcon_rnr_timeout_ns(s.pi.rnr_timeout), 160 * US);
	solo_wait(&s, 100 * US);
	solo_flush(&s);
	solo_rx_push(&s, 0, 2);
	expect_nack(0, FALCON_NACK_RNR);
	EXPECT_EQ(falcon_rnr_timeout_ns(s.pi.rnr_timeout), 60 * US);
}

/* spec: 8.5.3.4-3 until the ULP has accepted N; then in order */
TEST(rnr_until_accepted_8_5_3_4)
{
	struct falcon_rxpkt *rx;

	solo_init(&s, true);
	solo_rx_push(&s, 0, 0);
	rnr(delivers(0));
	expect_nack(0, FALCON_NACK_RNR);
	solo_rx_push(&s, 0, 0);
	rx = delivers(0);
	/* with the ULP, not accepted yet: later ones are held */
	EXPECT_TRUE(solo_rx_push(&s, 1, 1));
	delivers_nothing();
	rnr(rx);
	expect_nack(0, FALCON_NACK_RNR);
	expect_nack(1, FALCON_NACK_RNR);
	solo_rx_push(&s, 0, 0);
	solo_rx_push(&s, 1, 1);
	rx = delivers(0);
	delivers_nothing();
	ack(rx);
	ack(delivers(1));
	EXPECT_EQ(s.c.rx_brsn, 2);
	EXPECT_EQ(s.c.nr_rnr, 0);
}

/* spec: 8.5.3.4-3 a pull after an RNR is held, it cannot be NACKed */
TEST(rnr_holds_later_pulls_8_5_3_4)
{
	struct falcon_rxpkt *rx;

	solo_init(&s, true);
	solo_rx_push(&s, 0, 0);
	rx = delivers(0);
	rnr(rx);
	expect_nack(0, FALCON_NACK_RNR);
	EXPECT_TRUE(solo_rx_pull(&s, 0, 1));
	delivers_nothing();
	EXPECT_EQ(s.c.rx[REQ].base, 1);
	solo_rx_push(&s, 0, 0);
	ack(delivers(0));
	delivers(1);
}

/*
 * spec: 8.5.3.4+1 what was accepted out of turn before an RNR is not repeated
 */
TEST(rnr_after_later_was_accepted_8_5_3_4)
{
	struct falcon_rxpkt *rx[4];
	u32 i;

	solo_init(&s, true);
	for (i = 0; i < 4; i++) {
		solo_rx_push(&s, i, i);
		rx[i] = delivers(i);
	}
	ack(rx[1]);
	rnr(rx[2]);
	rnr(rx[0]);
	ack(rx[3]);
	expect_nack(2, FALCON_NACK_RNR);
	expect_nack(0, FALCON_NACK_RNR);
	solo_rx_push(&s, 4, 4);
	expect_nack(4, FALCON_NACK_RNR);
	/* 2 comes back first: 0 was first */
	EXPECT_TRUE(!solo_rx_push(&s, 2, 2));
	expect_nack(2, FALCON_NACK_RNR);
	solo_rx_push(&s, 0, 0);
	ack(delivers(0));
	delivers_nothing();
	solo_rx_push(&s, 2, 2);
	ack(delivers(2));
	solo_rx_push(&s, 4, 4);
	ack(delivers(4));
	EXPECT_EQ(s.c.rx[DATA].base, 5);
	EXPECT_EQ(s.c.rx_brsn, 5);
}

/* spec: 8.5.3.4+1 unordered: an RNR is nobody else's business */
TEST(rnr_unordered_push_8_5_3_4)
{
	solo_init(&s, false);
	solo_rx_push(&s, 0, 0);
	rnr(delivers(0));
	expect_nack(0, FALCON_NACK_RNR);
	solo_rx_push(&s, 1, 1);
	ack(delivers(1));
	solo_rx_push(&s, 0, 0);
	ack(delivers(0));
	EXPECT_EQ(s.c.rx[DATA].base, 2);
}

/* spec: 8.5.3.4+3 an RNR whose packet the initiator has given up ends there */
TEST(rnr_after_resync_8_5_3_4)
{
	struct falcon_rxpkt *rx;

	solo_init(&s, true);
	solo_rx_push(&s, 0, 0);
	rx = delivers(0);
	solo_rx_push(&s, 1, 1);
	delivers(1);
	solo_rx_resync(&s, FALCON_PKT_PUSH_DATA, 0, 0, FALCON_RESYNC_TIMEOUT);
	rnr(rx);
	EXPECT_EQ(dropped(), 1);
	EXPECT_EQ(s.c.nr_nacks, 0);
	EXPECT_EQ(s.c.rx_brsn, 1);
	EXPECT_EQ(s.c.nr_rnr, 0);
}

/* spec: 9.2.5+1 a resync for an RSN that an RNR awaits ends the wait */
TEST(resync_ends_rnr_wait_9_2_5)
{
	solo_init(&s, true);
	solo_rx_push(&s, 0, 0);
	rnr(delivers(0));
	solo_rx_pull(&s, 0, 1);
	delivers_nothing();
	solo_rx_resync(&s, FALCON_PKT_PUSH_DATA, 0, 0, FALCON_RESYNC_TIMEOUT);
	delivers(1);
	EXPECT_EQ(s.c.rx_brsn, 1);
}

/* spec: 8.5.3.5-1 CIE of a push: NACK with code, the RSN is done */
TEST(cie_of_push_8_5_3_5)
{
	solo_init(&s, true);
	solo_rx_push(&s, 0, 0);
	nack(delivers(0));
	expect_nack(0, FALCON_NACK_CIE);
	EXPECT_EQ(s.pi.ulp_code, 0x11);
	EXPECT_EQ(s.c.rx_brsn, 1);
	EXPECT_EQ(s.c.rx[DATA].base, 0);
	EXPECT_EQ(s.c.use.pkts[FALCON_POOL_RX_NET], 0);
	EXPECT_EQ(dropped(), 0);
}

/* spec: 6.6.5-1 a duplicate of a CIE NACKed push draws the same NACK again */
TEST(cie_is_repeated_for_duplicates_6_6_5)
{
	u32 i;

	solo_init(&s, true);
	solo_rx_push(&s, 0, 0);
	nack(delivers(0));
	expect_nack(0, FALCON_NACK_CIE);
	for (i = 0; i < 3; i++) {
		EXPECT_TRUE(!solo_rx_push(&s, 0, 0));
		expect_nack(0, FALCON_NACK_CIE);
		EXPECT_EQ(s.pi.ulp_code, 0x11);
		delivers_nothing();
	}
}

/*
 * spec: 6.6.5-2 11-24 the resync that answers it moves the window and frees
 * the rest
 */
TEST(cie_ends_with_resync_6_6_5)
{
	solo_init(&s, true);
	solo_rx_push(&s, 0, 0);
	nack(delivers(0));
	expect_nack(0, FALCON_NACK_CIE);
	solo_rx_resync(&s, FALCON_PKT_PUSH_DATA, 0, 0, FALCON_RESYNC_CIE);
	EXPECT_EQ(s.c.rx[DATA].base, 1);
	EXPECT_EQ(dropped(), 1);
	EXPECT_TRUE(list_empty(&s.c.nacked));
	EXPECT_TRUE(!solo_rx_push(&s, 0, 0));
	EXPECT_EQ(s.c.nr_nacks, 0);
}

/* spec: 8.5.3.5+1 a push that the initiator gave up needs no NACK */
TEST(cie_after_resync_8_5_3_5)
{
	struct falcon_rxpkt *rx;

	solo_init(&s, true);
	solo_rx_push(&s, 0, 0);
	rx = delivers(0);
	solo_rx_resync(&s, FALCON_PKT_PUSH_DATA, 0, 0, FALCON_RESYNC_TIMEOUT);
	nack(rx);
	EXPECT_EQ(s.c.nr_nacks, 0);
	EXPECT_EQ(dropped(), 1);
	EXPECT_EQ(s.c.rx_brsn, 1);
}

/* spec: 11-27 a NACK of a pull only reclaims: its error is an empty response */
TEST(nack_of_pull_reclaims_11)
{
	solo_init(&s, true);
	solo_rx_pull(&s, 0, 0);
	nack(delivers(0));
	EXPECT_EQ(s.c.nr_nacks, 0);
	EXPECT_EQ(dropped(), 1);
	EXPECT_EQ(s.c.rx_brsn, 1);
	EXPECT_EQ(s.c.use.pkts[FALCON_POOL_RX_NET], 0);
}

/* spec: 9.2.5+1 a resync fills the place of an RSN that never came */
TEST(resync_passes_its_rsn_9_2_5)
{
	solo_init(&s, true);
	solo_rx_push(&s, 1, 1);
	solo_rx_pull(&s, 0, 2);
	delivers_nothing();
	EXPECT_TRUE(solo_rx_resync(&s, FALCON_PKT_PUSH_DATA, 0, 0,
				   FALCON_RESYNC_TIMEOUT));
	EXPECT_EQ(dropped(), 1);
	ack(delivers(1));
	delivers(2);
	EXPECT_EQ(s.c.rx_brsn, 2);
	EXPECT_EQ(s.c.rx[DATA].base, 2);
}

/* spec: 9.2.5+1 it waits for its turn like the request it stands for */
TEST(resync_waits_for_its_turn_9_2_5)
{
	solo_init(&s, true);
	EXPECT_TRUE(solo_rx_resync(&s, FALCON_PKT_PULL_REQ, 0, 1,
				   FALCON_RESYNC_TIMEOUT));
	EXPECT_EQ(dropped(), 0);
	solo_rx_push(&s, 0, 0);
	ack(delivers(0));
	EXPECT_EQ(dropped(), 1);
	EXPECT_EQ(s.c.rx_nrsn, 2);
	EXPECT_EQ(s.c.rx_brsn, 2);
}

/* spec: 11-24 a resync for push data that waits for its turn cancels it */
TEST(resync_cancels_held_push_11)
{
	solo_init(&s, true);
	solo_rx_push(&s, 1, 1);
	EXPECT_EQ(s.c.use.pkts[FALCON_POOL_RX_NET], 1);
	solo_rx_resync(&s, FALCON_PKT_PUSH_DATA, 1, 1, FALCON_RESYNC_TIMEOUT);
	EXPECT_EQ(s.c.use.pkts[FALCON_POOL_RX_NET], 0);
	solo_rx_push(&s, 0, 0);
	ack(delivers(0));
	delivers_nothing();
	EXPECT_EQ(dropped(), 1);
	EXPECT_EQ(s.c.rx_brsn, 2);
	EXPECT_EQ(s.c.rx[DATA].base, 2);
}

/*
 * spec: 11+4 without gaps, a resync of a request is the end of the connection
 * at the target: what follows is not delivered
 */
TEST(gapless_resync_is_fatal_11)
{
	solo_cfg(&s, true);
	s.cfg.gapless = true;
	solo_start(&s);
	solo_rx_push(&s, 1, 1);
	delivers_nothing();
	EXPECT_TRUE(!solo_rx_resync(&s, FALCON_PKT_PUSH_DATA, 0, 0,
				    FALCON_RESYNC_EXHAUSTED));
	EXPECT_EQ(s.c.fatal, FALCON_CMPL_REMOTE_ERR);
	delivers_nothing();
	EXPECT_EQ(dropped(), 1);
	solo_expect_quiet(&s);

	/* one that is here and waits for its turn, likewise */
	solo_cfg(&s, true);
	s.cfg.gapless = true;
	solo_start(&s);
	solo_rx_push(&s, 1, 1);
	solo_rx_resync(&s, FALCON_PKT_PUSH_DATA, 1, 1, FALCON_RESYNC_TIMEOUT);
	EXPECT_EQ(s.c.fatal, FALCON_CMPL_REMOTE_ERR);
}

/* spec: 8.5.1-5 8.5.3.1-2 the state of a pull that waits for its turn */
TEST(target_pull_waits_in_its_state_8_5_1)
{
	struct falcon_rxpkt *rx;

	solo_init(&s, true);
	rx = solo_rx_pull(&s, 0, 1);
	EXPECT_EQ(rx->state, FALCON_PULL_REQ_RX);
	solo_rx_push(&s, 0, 0);
	delivers(0);
	EXPECT_TRUE(delivers(1) == rx);
	EXPECT_EQ(rx->state, FALCON_PULL_REQ_ULP_TX);
}

/*
 * spec: 11-16 the xLR drop filter of a target: an xLR NACK, no resources, no
 * delivery; the resync that answers it moves window and order on
 */
TEST(target_xlr_filter_11)
{
	solo_init(&s, true);
	EXPECT_EQ(falcon_core_xlr(&s.c, FALCON_XLR_TARGET), 0);
	EXPECT_TRUE(!solo_rx_push(&s, 0, 0));
	expect_nack(0, FALCON_NACK_XLR);
	EXPECT_TRUE(!solo_rx_pull(&s, 0, 1));
	expect_nack(0, FALCON_NACK_XLR);
	EXPECT_EQ(s.pi.nack_win, FALCON_WIN_REQ);
	EXPECT_EQ(s.c.use.pkts[FALCON_POOL_RX_NET], 0);
	delivers_nothing();

	solo_rx_resync(&s, FALCON_PKT_PUSH_DATA, 0, 0,
		       FALCON_RESYNC_REMOTE_XLR);
	solo_rx_resync(&s, FALCON_PKT_PULL_REQ, 0, 1, FALCON_RESYNC_REMOTE_XLR);
	EXPECT_EQ(s.c.rx_brsn, 2);
	EXPECT_EQ(falcon_core_xlr(&s.c, 0), 0);
	solo_rx_push(&s, 1, 2);
	ack(delivers(2));
}

/* spec: 9.2.5+1 a resync too far ahead is not received: it comes again */
TEST(resync_too_far_ahead_9_2_5)
{
	solo_init(&s, true);
	EXPECT_TRUE(!solo_rx_resync(&s, FALCON_PKT_PUSH_DATA, 0, 5000,
				    FALCON_RESYNC_TIMEOUT));
	EXPECT_EQ(s.c.rx[DATA].base, 0);
	/* and one with an RSN that is over, or held, only moves the window */
	solo_rx_push(&s, 0, 0);
	solo_rx_push(&s, 1, 2);
	EXPECT_TRUE(!solo_rx_resync(&s, FALCON_PKT_PUSH_DATA, 2, 0,
				    FALCON_RESYNC_TIMEOUT));
	EXPECT_TRUE(!solo_rx_resync(&s, FALCON_PKT_PUSH_DATA, 3, 2,
				    FALCON_RESYNC_TIMEOUT));
	EXPECT_EQ(s.c.rx[DATA].nr_ack, 2);
}

/*
 * spec: 8.5.3.2+1 a response is at most what was asked for, and only to a pull
 */
TEST(response_is_checked_8_5_3_2)
{
	struct falcon_rxpkt *pull, *push;

	solo_init(&s, true);
	solo_rx_pull(&s, 0, 0);
	pull = delivers(0);
	EXPECT_EQ(falcon_core_target_respond(&s.c, pull, &s.resp[0], NULL,
					     1001, s.now), -EMSGSIZE);
	solo_rx_push(&s, 0, 1);
	push = delivers(1);
	EXPECT_EQ(falcon_core_target_respond(&s.c, push, &s.resp[0], NULL, 1,
					     s.now), -EINVAL);
	EXPECT_EQ(falcon_core_target_respond(&s.c, pull, &s.resp[0], NULL,
					     1000, s.now), 0);
	EXPECT_EQ(falcon_core_target_respond(&s.c, pull, &s.resp[1], NULL, 1,
					     s.now), -EINVAL);
	falcon_core_abort(&s.c, FALCON_CMPL_DEAD_CONN);
	EXPECT_EQ(falcon_core_target_respond(&s.c, pull, &s.resp[1], NULL, 1,
					     s.now), -ENOTCONN);
}

/* Two pulls have come; there is room for one answer, and it is given. */
static void answer_one_of_two(struct falcon_resources *res,
			      struct falcon_rxpkt **rx)
{
	u32 i;

	solo_cfg(&s, true);
	falcon_res_init(res);
	falcon_res_limit(res, FALCON_POOL_TX_DATA, 1, 0);
	falcon_core_init(&s.c, &s.cfg, res, s.now);
	for (i = 0; i < 2; i++) {
		solo_rx_pull(&s, i, i);
		rx[i] = delivers(i);
	}
	solo_respond(&s, rx[0], 1);
}

/* spec: 8.2.1.2-4 8.2.2-6 8.5.3.2-3 pull data takes resources of its own */
TEST(response_takes_resources_8_2_2)
{
	static struct falcon_resources res;
	struct falcon_rxpkt *rx[2];

	answer_one_of_two(&res, rx);
	EXPECT_EQ(falcon_core_target_respond(&s.c, rx[1], &s.resp[1], NULL, 1,
					     s.now), -ENOBUFS);
	solo_flush(&s);
	solo_back(&s, 0, 1);
	solo_respond(&s, rx[1], 1);
	falcon_core_abort(&s.c, FALCON_CMPL_DEAD_CONN);
	EXPECT_EQ(atomic_read(&res.pool[FALCON_POOL_TX_DATA].pkts), 0);
}

/* spec: 11+3 exhausted pull data is resynced; its resources are released */
TEST(response_exhausted_11)
{
	u32 i;

	solo_init(&s, true);
	solo_rx_pull(&s, 0, 0);
	solo_respond(&s, delivers(0), 10);
	solo_flush(&s);
	for (i = 0; i < 20 && s.resp[0].pkt.type != FALCON_PKT_RESYNC; i++) {
		solo_timer(&s);
		solo_flush(&s);
	}
	EXPECT_EQ(s.pi.type, FALCON_PKT_RESYNC);
	EXPECT_EQ(s.pi.resync_type, FALCON_PKT_PULL_DATA);
	EXPECT_EQ(s.pi.resync_code, FALCON_RESYNC_EXHAUSTED);
	solo_back(&s, 0, 1);
	EXPECT_TRUE(solo_released(&s) == &s.resp[0]);
}

/* spec: 9.2.4-5 an xLR NACK of pull data is answered by a resync */
TEST(response_xlr_9_2_4)
{
	solo_init(&s, true);
	solo_rx_pull(&s, 0, 0);
	solo_respond(&s, delivers(0), 10);
	solo_flush(&s);
	solo_nack(&s, DATA, 0, FALCON_NACK_XLR);
	solo_expect_tx(&s, FALCON_PKT_RESYNC, 0);
	solo_back(&s, 0, 1);
	EXPECT_TRUE(solo_released(&s));
}

/* spec: 11-10 the end drops what was not delivered and releases responses */
TEST(abort_drops_and_releases_11)
{
	struct falcon_rxpkt *rx, *late;

	solo_init(&s, true);
	solo_window(&s, 1, 100);
	solo_rx_pull(&s, 0, 0);
	solo_rx_pull(&s, 1, 1);
	solo_respond(&s, delivers(0), 1);
	solo_respond(&s, delivers(1), 1);
	solo_rx_push(&s, 0, 2);
	rx = delivers(2);
	solo_rx_push(&s, 1, 3);
	late = delivers(3);
	nack(rx);
	solo_rx_push(&s, 2, 4);		/* on the deliver list */
	solo_rx_push(&s, 3, 9);		/* held */
	solo_flush(&s);
	falcon_core_abort(&s.c, FALCON_CMPL_DEAD_CONN);
	EXPECT_EQ(dropped(), 3);
	delivers_nothing();
	EXPECT_TRUE(solo_released(&s));
	EXPECT_TRUE(solo_released(&s));
	EXPECT_TRUE(!solo_released(&s));
	/* an answer after the end gives the packet back, and no more */
	rnr(late);
	EXPECT_EQ(dropped(), 1);
	EXPECT_EQ(s.c.use.pkts[FALCON_POOL_RX_NET], 0);
	solo_expect_quiet(&s);
}

/*
 * spec: 8.2.1.1-2 a slow ULP stalls its own connection only as far as its
 * window
 */
TEST(slow_ulp_closes_the_window_8_2_1_1)
{
	u32 i, kept = 0;

	solo_init(&s, true);
	for (i = 0; i < 200; i++)
		kept += !!solo_rx_push(&s, i, i);
	EXPECT_EQ(kept, FALCON_RX_WIN_DATA);
	EXPECT_EQ(s.c.stats.rx_out_of_window, 200 - FALCON_RX_WIN_DATA);
}

/* spec: 8.5.3.1-1 9.1.7-2 a pull request without resources: NACK, W is 1 */
TEST(no_resources_draws_nack_of_pull_8_5_3_1)
{
	static struct falcon_resources res;

	solo_cfg(&s, true);
	falcon_res_init(&res);
	falcon_res_limit(&res, FALCON_POOL_RX_NET, 1, 0);
	falcon_core_init(&s.c, &s.cfg, &res, s.now);
	solo_rx_push(&s, 0, 0);
	EXPECT_TRUE(!solo_rx_pull(&s, 0, 1));
	expect_nack(0, FALCON_NACK_RESOURCE);
	EXPECT_EQ(s.pi.nack_win, REQ);
	EXPECT_EQ(s.c.rx[REQ].base, 0);		/* it comes again */
	ack(delivers(0));
	EXPECT_TRUE(solo_rx_pull(&s, 0, 1));
	delivers(1);
	falcon_core_abort(&s.c, FALCON_CMPL_DEAD_CONN);
}

/* spec: 11-24 NRE and CID of a push, like CIE: NACK, repeated, resync, reclaim */
TEST(nre_and_cid_end_with_resync_11)
{
	static const u8 nacks[] = { FALCON_NACK_NRE, FALCON_NACK_CID };
	static const u8 resyncs[] = { FALCON_RESYNC_NRE, FALCON_RESYNC_CID };
	u32 i;

	solo_init(&s, true);
	for (i = 0; i < 2; i++) {
		solo_rx_push(&s, i, i);
		falcon_core_target_nack(&s.c, delivers(i), nacks[i], 3, s.now);
		EXPECT_EQ(s.c.use.pkts[FALCON_POOL_RX_NET], 0);
		expect_nack(i, nacks[i]);
		solo_rx_push(&s, i, i);
		expect_nack(i, nacks[i]);
		solo_rx_resync(&s, FALCON_PKT_PUSH_DATA, i, i, resyncs[i]);
		EXPECT_EQ(s.c.rx[DATA].base, i + 1);
		EXPECT_EQ(dropped(), 1);
		solo_wait(&s, s.cfg.ack_coalesce_ns);
		solo_flush(&s);
	}
}

/* spec: 8.5.3.2-2 pull data has its request's RSN, whatever the order of answers */
TEST(pull_data_has_the_rsn_of_its_request_8_5_3_2)
{
	struct falcon_rxpkt *rx[3];
	u32 i;

	solo_init(&s, true);
	for (i = 0; i < 3; i++) {
		solo_rx_pull(&s, i, i);
		rx[i] = delivers(i);
	}
	for (i = 0; i < 3; i++)
		solo_respond(&s, rx[2 - i], 1);
	for (i = 0; i < 3; i++) {
		solo_expect_tx(&s, FALCON_PKT_PULL_DATA, i);
		EXPECT_EQ(s.pi.rsn, 2 - i);
	}
}

/* spec: 8.5.3.5-2 a response without bytes leaves as any other does */
TEST(empty_response_leaves_as_any_other_8_5_3_5)
{
	solo_init(&s, true);
	solo_rx_pull(&s, 0, 0);
	solo_respond(&s, delivers(0), 0);
	solo_expect_tx(&s, FALCON_PKT_PULL_DATA, 0);
	EXPECT_EQ(s.tx.len, 0);
	EXPECT_EQ(s.resp[0].state, FALCON_PULL_DATA_TX);
	solo_back(&s, 0, 1);
	EXPECT_TRUE(solo_released(&s) == &s.resp[0]);
}

/* spec: 8.2.4-1 the table of network resources: push data and pull requests */
TEST(network_requests_take_8_2_4)
{
	struct falcon_pkt_info pi;
	struct falcon_rxpkt *rx;

	solo_init(&s, true);
	solo_base_pi(&s, FALCON_PKT_PUSH_DATA, &pi);
	pi.len = FALCON_CELL_BYTES + 1;
	pi.req_len = pi.len;
	solo_rx(&s, &pi);
	EXPECT_EQ(s.c.use.pkts[FALCON_POOL_RX_NET], 1);
	EXPECT_EQ(s.c.use.cells[FALCON_POOL_RX_NET], 2);
	ack(delivers(0));

	/* a pull request without a ULP header takes a buffer all the same */
	solo_base_pi(&s, FALCON_PKT_PULL_REQ, &pi);
	pi.rsn = 1;
	pi.req_len = SOLO_MTU;
	solo_rx(&s, &pi);
	EXPECT_EQ(s.c.use.pkts[FALCON_POOL_RX_NET], 1);
	EXPECT_EQ(s.c.use.cells[FALCON_POOL_RX_NET], 1);
	rx = delivers(1);
	solo_respond(&s, rx, 0);
	EXPECT_EQ(s.c.use.pkts[FALCON_POOL_RX_NET], 0);
	EXPECT_EQ(s.c.use.cells[FALCON_POOL_RX_NET], 0);
}

static void with_timeout(void)
{
	solo_cfg(&s, true);
	s.cfg.txn_timeout_ns = 5 * MS;
	solo_start(&s);
}

static void wait_until_reclaimed(void)
{
	u64 due = falcon_core_next_timer(&s.c);

	while (due < s.now + 20 * MS) {
		solo_timer(&s);
		solo_flush(&s);
		due = falcon_core_next_timer(&s.c);
	}
}

/*
 * spec: 6.4-9 11-1 push data that waits for an RSN that does not come is given
 * up after a time, and may come again
 */
TEST(target_reclaims_held_push_6_4)
{
	with_timeout();
	EXPECT_TRUE(solo_rx_push(&s, 1, 1));
	solo_wait(&s, 9 * MS);
	EXPECT_TRUE(solo_rx_push(&s, 2, 2));
	solo_wait(&s, 2 * MS);
	EXPECT_EQ(dropped(), 1);
	EXPECT_EQ(s.c.use.pkts[FALCON_POOL_RX_NET], 1);
	wait_until_reclaimed();
	EXPECT_EQ(dropped(), 1);
	EXPECT_EQ(s.c.use.pkts[FALCON_POOL_RX_NET], 0);
	EXPECT_EQ(falcon_core_next_timer(&s.c), FALCON_NO_TIMER);
	EXPECT_TRUE(solo_rx_push(&s, 1, 1));
	EXPECT_TRUE(solo_rx_push(&s, 0, 0));
	delivers(0);
	delivers(1);
	delivers_nothing();
}

/*
 * spec: 6.4-9 a pull request is acknowledged and cannot come again: its RSN is
 * passed over, as its initiator has given it up long since
 */
TEST(target_reclaims_held_pull_6_4)
{
	with_timeout();
	solo_rx_pull(&s, 0, 1);
	wait_until_reclaimed();
	EXPECT_EQ(s.c.use.pkts[FALCON_POOL_RX_NET], 0);
	EXPECT_EQ(falcon_core_next_timer(&s.c), FALCON_NO_TIMER);
	solo_rx_push(&s, 0, 0);
	ack(delivers(0));
	solo_rx_push(&s, 1, 2);
	delivers(2);
	EXPECT_EQ(dropped(), 1);
}

/*
 * spec: 6.4-9 what is left of a NACKed push is given up after a time; its
 * initiator's resync still passes
 */
TEST(target_reclaims_nacked_push_6_4)
{
	with_timeout();
	solo_rx_push(&s, 0, 0);
	nack(delivers(0));
	wait_until_reclaimed();
	EXPECT_EQ(dropped(), 1);
	EXPECT_EQ(falcon_core_next_timer(&s.c), FALCON_NO_TIMER);
	solo_rx_push(&s, 0, 0);
	delivers_nothing();
	solo_rx_resync(&s, FALCON_PKT_PUSH_DATA, 0, 0, FALCON_RESYNC_TIMEOUT);
	EXPECT_EQ(s.c.rx[DATA].base, 1);
}

/* spec: 6.4-9 a pull that waits out an RNR is not given up for that */
TEST(target_keeps_pull_in_rnr_6_4)
{
	with_timeout();
	solo_rx_pull(&s, 0, 0);
	s.now += 9 * MS;
	falcon_core_target_rnr(&s.c, delivers(0), 0x12, s.now);	/* 5.12 ms */
	solo_wait(&s, 4 * MS);
	EXPECT_EQ(dropped(), 0);
	solo_wait(&s, 2 * MS);
	delivers(0);
}

/*
 * spec: 11+5 the target gives up after the initiator has: what that would
 * still retransmit is not lost
 */
TEST(target_reclaims_after_the_initiator_11)
{
	with_timeout();
	solo_rx_push(&s, 1, 1);
	solo_wait(&s, s.cfg.txn_timeout_ns + 1 * MS);
	EXPECT_EQ(dropped(), 0);
	solo_wait(&s, s.cfg.txn_timeout_ns - 1 * MS);
	EXPECT_EQ(dropped(), 1);
}

/*
 * spec: 6.4-6 a connection that dies gives back what it held, and takes
 * nothing of another on the same pools
 */
TEST(errors_are_contained_6_4)
{
	static struct falcon_resources res;
	static struct solo other;
	struct falcon_rxpkt *rx;

	falcon_res_init(&res);
	falcon_res_limit(&res, FALCON_POOL_RX_NET, 4, 0);
	solo_cfg(&s, true);
	falcon_core_init(&s.c, &s.cfg, &res, s.now);
	solo_cfg(&other, true);
	falcon_core_init(&other.c, &other.cfg, &res, other.now);

	solo_rx_push(&other, 0, 0);
	solo_rx_push(&s, 0, 0);
	solo_rx_push(&s, 1, 1);
	solo_rx_push(&s, 2, 2);
	solo_rx_push(&other, 1, 1);		/* refused, for now */
	EXPECT_EQ(other.c.stats.rx_no_resource, 1);
	rx = delivers(0);			/* the ULP has one */
	falcon_core_abort(&s.c, FALCON_CMPL_DEAD_CONN);
	EXPECT_EQ(atomic_read(&res.pool[FALCON_POOL_RX_NET].pkts), 1);

	EXPECT_TRUE(solo_rx_push(&other, 1, 1));
	rx = solo_delivered(&other);
	falcon_core_target_ack(&other.c, rx, other.now);
	falcon_core_target_ack(&other.c, solo_delivered(&other), other.now);
	EXPECT_EQ(other.c.rx[DATA].base, 2);
	EXPECT_EQ(other.c.fatal, 0);
	EXPECT_EQ(atomic_read(&res.pool[FALCON_POOL_RX_NET].pkts), 0);
	EXPECT_EQ(dropped(), 2);
}

/*
 * spec: 8.2.1.2+1 a pull that its ULP has taken holds no network resources
 * while there is no room for the answer, and can be answered when there is
 */
TEST(taken_pull_holds_no_network_resources_8_2_1_2)
{
	static struct falcon_resources res;
	struct falcon_rxpkt *rx[2];

	answer_one_of_two(&res, rx);
	EXPECT_EQ(falcon_core_target_respond(&s.c, rx[1], &s.resp[1], NULL, 1,
					     s.now), -ENOBUFS);
	EXPECT_EQ(s.c.use.pkts[FALCON_POOL_RX_NET], 1);
	ack(rx[1]);
	EXPECT_EQ(s.c.use.pkts[FALCON_POOL_RX_NET], 0);
	solo_flush(&s);
	solo_back(&s, 0, 1);
	solo_respond(&s, rx[1], 1);
	solo_expect_tx(&s, FALCON_PKT_PULL_DATA, 1);
	falcon_core_abort(&s.c, FALCON_CMPL_DEAD_CONN);
}
