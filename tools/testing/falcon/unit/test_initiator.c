// SPDX-License-Identifier: GPL-2.0
/* Transactions at their initiator, and the end of a connection: 8.4, 11 */
#include "solo.h"

static struct solo s;

static void completes(struct falcon_txn *txn, u8 cmpl)
{
	struct falcon_txn *got = solo_completed(&s);

	ASSERT_TRUE(got == txn);
	EXPECT_EQ(got->cmpl, cmpl);
}

static void nothing_completes(void)
{
	EXPECT_TRUE(!solo_completed(&s));
}

/*
 * spec: 8.1-3 8.4.1-6 8.4.3.3-1 8.4.3.3-2 8.4.3.3-3 8.4.3.3-4 the states of a
 * push, one after another
 */
TEST(push_states_8_4_1)
{
	struct falcon_txn *t;

	solo_init(&s, true);
	t = solo_push(&s, 10);
	EXPECT_EQ(t->state, FALCON_PUSH_REQ_ULP_RX);
	solo_flush(&s);
	EXPECT_EQ(t->state, FALCON_PUSH_DATA_TX);
	solo_back(&s, 0, 1);
	EXPECT_EQ(t->state, FALCON_PUSH_CPL_TX);
	completes(t, FALCON_CMPL_ACK);
}

/*
 * spec: 8.1-1 8.1-2 8.4.1-5 8.4.3.1-2 8.4.3.1-4 8.4.3.1-5 8.4.3.2-5 the states
 * of a pull, one after another
 */
TEST(pull_states_8_4_1)
{
	struct falcon_rxpkt *rx;
	struct falcon_txn *t;

	solo_init(&s, true);
	t = solo_pull(&s, 10);
	EXPECT_EQ(t->state, FALCON_PULL_REQ_ULP_RX);
	solo_flush(&s);
	EXPECT_EQ(t->state, FALCON_PULL_REQ_TX);
	solo_back(&s, 1, 0);
	EXPECT_EQ(t->state, FALCON_PULL_REQ_ACKD);
	nothing_completes();
	rx = solo_rx_pull_data(&s, 0, 0, 10);
	EXPECT_EQ(t->state, FALCON_PULL_DATA_ULP_TX);
	completes(t, FALCON_CMPL_ACK);
	EXPECT_TRUE(rx && t->rx == rx);
}

/* spec: 8.4.1-5 8.4.1-6 a state follows only from those before it */
TEST(state_transitions_are_checked_8_4_1)
{
	struct falcon_txn *t;

	solo_init(&s, true);
	t = solo_push(&s, 10);
	t->state = FALCON_PUSH_CPL_TX;
	EXPECT_WARN(1);
	solo_flush(&s);
}

/*
 * spec: 6.1.1-1 8.4.1-1 8.4.1-2 8.4.1-3 8.4.1-4 8.4.3.1-2 8.4.3.3-1 NRSN is
 * given at submission; BRSN is the oldest not completed
 */
TEST(nrsn_and_brsn_8_4_1)
{
	solo_cfg(&s, true);
	s.cfg.tx_rsn = 0xffffffff;
	solo_start(&s);
	EXPECT_EQ(s.c.tx_brsn, 0xffffffff);
	solo_push(&s, 1);
	solo_push(&s, 1);
	EXPECT_EQ(s.txn[0].pkt.rsn, 0xffffffff);
	EXPECT_EQ(s.txn[1].pkt.rsn, 0);
	EXPECT_EQ(s.c.tx_nrsn, 1);
	solo_flush(&s);
	solo_back(&s, 0, 1);
	EXPECT_EQ(s.c.tx_brsn, 0);
	solo_back(&s, 0, 2);
	EXPECT_EQ(s.c.tx_brsn, 1);
}

/*
 * spec: 8.4.2-1 8.4.2-2 8.4.3.2-5 8.4.3.3-4 ordered: completions of pushes and
 * pulls in RSN order
 */
TEST(completions_in_rsn_order_8_4_2)
{
	solo_init(&s, true);
	solo_pull(&s, 10);
	solo_push(&s, 10);
	solo_pull(&s, 10);
	solo_flush(&s);
	solo_back(&s, 2, 1);
	nothing_completes();
	solo_rx_pull_data(&s, 1, 2, 10);
	nothing_completes();
	solo_rx_pull_data(&s, 0, 0, 10);
	completes(&s.txn[0], FALCON_CMPL_ACK);
	completes(&s.txn[1], FALCON_CMPL_ACK);
	completes(&s.txn[2], FALCON_CMPL_ACK);
}

/* spec: 8.4.2-3 unordered: completions at once */
TEST(completions_unordered_8_4_2)
{
	solo_init(&s, false);
	solo_pull(&s, 10);
	solo_push(&s, 10);
	solo_pull(&s, 10);
	solo_flush(&s);
	solo_back(&s, 2, 1);
	completes(&s.txn[1], FALCON_CMPL_ACK);
	EXPECT_EQ(s.c.tx_brsn, 0);
	solo_rx_pull_data(&s, 1, 2, 10);
	completes(&s.txn[2], FALCON_CMPL_ACK);
	solo_rx_pull_data(&s, 0, 0, 10);
	completes(&s.txn[0], FALCON_CMPL_ACK);
	EXPECT_EQ(s.c.tx_brsn, 3);
}

/* spec: 8.4.3.2-2 pull data is matched by RSN; unknown is dropped, PSN acked */
TEST(pull_data_unknown_rsn_8_4_3_2)
{
	solo_init(&s, true);
	solo_pull(&s, 10);
	solo_push(&s, 10);
	solo_flush(&s);
	EXPECT_TRUE(!solo_rx_pull_data(&s, 0, 5, 10));
	EXPECT_TRUE(!solo_rx_pull_data(&s, 1, 1, 10));	/* a push */
	EXPECT_EQ(s.c.rx[DATA].base, 2);
	EXPECT_EQ(s.c.stats.rx_bad_pkt, 2);
	nothing_completes();
}

/* spec: 8.4.3.2-2 pull data for a request that never left is no answer */
TEST(pull_data_before_request_8_4_3_2)
{
	solo_init(&s, true);
	solo_pull(&s, 10);
	EXPECT_TRUE(!solo_rx_pull_data(&s, 0, 0, 10));
	nothing_completes();
	EXPECT_EQ(s.c.stats.rx_bad_pkt, 1);
}

/* spec: 8.4.3.2-2 among a thousand pulls, last asked first answered */
TEST(pull_data_among_many_8_4_3_2)
{
	u32 i;

	solo_init(&s, false);
	for (i = 0; i < 1000; i++)
		solo_pull(&s, 10);
	ASSERT_EQ(solo_flush(&s), 1000);
	for (i = 0; i < 1000; i++) {
		EXPECT_TRUE(solo_rx_pull_data(&s, 2 * i, 999 - i, 10));
		completes(&s.txn[999 - i], FALCON_CMPL_ACK);
		EXPECT_TRUE(!solo_rx_pull_data(&s, 2 * i + 1, 999 - i, 10));
	}
	EXPECT_EQ(s.c.stats.rx_bad_pkt, 1000);
}

/* spec: 8.4.3.2-2 a second answer is dropped */
TEST(pull_data_twice_8_4_3_2)
{
	solo_init(&s, true);
	solo_pull(&s, 10);
	solo_pull(&s, 10);
	solo_flush(&s);
	EXPECT_TRUE(solo_rx_pull_data(&s, 0, 1, 10));
	EXPECT_TRUE(!solo_rx_pull_data(&s, 1, 1, 10));
	EXPECT_EQ(s.c.stats.rx_bad_pkt, 1);
}

/* spec: 8.4.3.2+1 pull data shows that the request arrived */
TEST(pull_data_acknowledges_its_request_8_4_3_2)
{
	solo_init(&s, true);
	solo_pull(&s, 10);
	solo_pull(&s, 10);
	solo_flush(&s);
	solo_rx_pull_data(&s, 0, 1, 10);
	EXPECT_EQ(s.txn[1].pkt.state, FALCON_TXPKT_DONE);
	EXPECT_EQ(s.c.tx[REQ].base, 0);
	EXPECT_EQ(s.c.tx[REQ].orc, 1);
	solo_rx_pull_data(&s, 1, 0, 10);
	EXPECT_EQ(s.c.tx[REQ].base, 2);
	/* an ACK that says so as well is fine */
	solo_back(&s, 2, 0);
	completes(&s.txn[0], FALCON_CMPL_ACK);
	completes(&s.txn[1], FALCON_CMPL_ACK);
}

/* spec: 8.4.3.2-3 pull data smaller than requested is a normal case (note 2) */
TEST(pull_data_smaller_is_normal_11)
{
	solo_init(&s, true);
	solo_pull(&s, 10);
	solo_flush(&s);
	EXPECT_TRUE(solo_rx_pull_data(&s, 0, 0, 9));
	completes(&s.txn[0], FALCON_CMPL_ACK);
	EXPECT_EQ(s.txn[0].rx->len, 9);
}

/* spec: 8.4.3.2-3 11-19 pull data larger than requested: kCmplOpErr */
TEST(pull_data_larger_is_op_err_11)
{
	solo_init(&s, true);
	solo_pull(&s, 10);
	solo_flush(&s);
	EXPECT_TRUE(!solo_rx_pull_data(&s, 0, 0, 11));
	completes(&s.txn[0], FALCON_CMPL_OP_ERR);
	EXPECT_TRUE(!s.txn[0].rx);
	EXPECT_EQ(s.c.rx[DATA].base, 1);
}

/*
 * spec: 6.4-3 8.5.3.5-2 pull data without bytes is how the target's ULP tells
 * an error
 */
TEST(pull_data_empty_8_5_3_5)
{
	solo_init(&s, true);
	solo_pull(&s, 10);
	solo_flush(&s);
	EXPECT_TRUE(!solo_rx_pull_data(&s, 0, 0, 0));
	completes(&s.txn[0], FALCON_CMPL_ACK);
	EXPECT_TRUE(!s.txn[0].rx);
}

/* spec: 9.1.8+1 a resync for the pull data: the target gave it up */
TEST(pull_data_resync_is_remote_error_9_1_8)
{
	solo_init(&s, true);
	solo_pull(&s, 10);
	solo_flush(&s);
	solo_rx_resync(&s, FALCON_PKT_PULL_DATA, 0, 0, FALCON_RESYNC_EXHAUSTED);
	completes(&s.txn[0], FALCON_CMPL_REMOTE_ERR);
	EXPECT_TRUE(falcon_core_idle(&s.c));
	solo_rx_resync(&s, FALCON_PKT_PULL_DATA, 1, 9, FALCON_RESYNC_EXHAUSTED);
	EXPECT_EQ(s.c.rx[DATA].base, 2);
	nothing_completes();
}

/* spec: 6.2-1 8.1+1 a transaction is at most one MTU */
TEST(submission_is_one_mtu_8_1)
{
	solo_init(&s, true);
	EXPECT_EQ(falcon_core_push(&s.c, &s.txn[0], NULL, SOLO_MTU + 1, s.now),
		  -EMSGSIZE);
	EXPECT_EQ(falcon_core_pull(&s.c, &s.txn[0], NULL, 0, SOLO_MTU + 1,
				   s.now), -EMSGSIZE);
	EXPECT_EQ(s.c.tx_nrsn, 0);
	solo_push(&s, SOLO_MTU);
	solo_push(&s, 0);
	EXPECT_EQ(solo_flush(&s), 2);
	EXPECT_EQ(s.pi.req_len, 0);
}

/*
 * spec: 8.2.2-8 8.2.3-8 8.4.3.1-2 8.4.3.3-1 resources are taken at submission
 * and back at completion
 */
TEST(submission_takes_resources_8_2_3)
{
	static struct falcon_resources res;

	solo_cfg(&s, true);
	falcon_res_init(&res);
	falcon_res_limit(&res, FALCON_POOL_RX_REQ, 2, 0);
	falcon_res_limit(&res, FALCON_POOL_TX_REQ, 100, 0);
	falcon_core_init(&s.c, &s.cfg, &res, s.now);
	solo_push(&s, 1);
	solo_pull(&s, 100);
	EXPECT_EQ(falcon_core_push(&s.c, &s.txn[2], NULL, 0, s.now), -ENOBUFS);
	EXPECT_EQ(s.c.use.pkts[FALCON_POOL_TX_REQ], 2);
	EXPECT_EQ(s.c.tx_nrsn, 2);
	solo_flush(&s);
	solo_back(&s, 1, 1);
	EXPECT_EQ(s.c.use.pkts[FALCON_POOL_TX_REQ], 1);
	solo_rx_pull_data(&s, 0, 1, 100);
	EXPECT_EQ(s.c.use.pkts[FALCON_POOL_RX_REQ], 0);
	EXPECT_EQ(atomic_read(&res.pool[FALCON_POOL_TX_REQ].pkts), 0);
}

/* spec: 8.2.3-1 Xoff: a connection that holds its share is told to wait */
TEST(submission_backpressure_8_2_3)
{
	static struct falcon_resources res;

	solo_cfg(&s, true);
	falcon_res_init(&res);
	falcon_res_limit(&res, FALCON_POOL_TX_REQ, 9, 0);
	falcon_core_init(&s.c, &s.cfg, &res, s.now);
	solo_push(&s, 1);
	solo_push(&s, 1);
	EXPECT_EQ(falcon_core_push(&s.c, &s.txn[2], NULL, 0, s.now), -EAGAIN);
	solo_flush(&s);
	solo_back(&s, 0, 2);
	EXPECT_EQ(falcon_core_push(&s.c, &s.txn[2], NULL, 0, s.now), 0);
	falcon_core_abort(&s.c, FALCON_CMPL_DEAD_CONN);
	EXPECT_EQ(atomic_read(&res.pool[FALCON_POOL_TX_REQ].pkts), 0);
}

static void with_timeout(bool ordered)
{
	solo_cfg(&s, ordered);
	s.cfg.txn_timeout_ns = 5 * MS;
	s.cfg.max_attempts = 200;
	solo_start(&s);
}

/*
 * spec: 6.4-8 11-1 11-17 transaction time-out on the wire: resync, then
 * kCmplLocalTO
 */
TEST(timeout_of_push_11)
{
	with_timeout(true);
	solo_push(&s, 1);
	solo_flush(&s);
	while (s.now < 1005 * MS && solo_timer(&s))
		if (s.now < 1005 * MS)
			solo_flush(&s);
	solo_expect_tx(&s, FALCON_PKT_RESYNC, 0);
	EXPECT_EQ(s.pi.resync_code, FALCON_RESYNC_TIMEOUT);
	nothing_completes();
	solo_back(&s, 0, 1);
	completes(&s.txn[0], FALCON_CMPL_LOCAL_TO);
}

/*
 * spec: 8.4.1-5 8.4.1-6 8.4.3.2-5 8.4.3.3-3 the states in which the end of a
 * transaction waits for those before it
 */
TEST(states_of_waiting_8_4_1)
{
	solo_init(&s, true);
	solo_pull(&s, 10);
	solo_push(&s, 10);
	solo_pull(&s, 10);
	solo_flush(&s);
	solo_back(&s, 2, 1);
	EXPECT_EQ(s.txn[1].state, FALCON_PUSH_DATA_ACKD);
	solo_rx_pull_data(&s, 0, 2, 10);
	EXPECT_EQ(s.txn[2].state, FALCON_PULL_DATA_RX);
	nothing_completes();
}

/*
 * spec: 11-16 the local xLR drop filter: a resync leaves in the place of each
 * request, and completes it with kCmplXlr
 */
TEST(local_xlr_filter_11)
{
	solo_init(&s, true);
	EXPECT_EQ(falcon_core_xlr(&s.c, FALCON_XLR_INITIATOR), 0);
	solo_push(&s, 100);
	solo_expect_tx(&s, FALCON_PKT_RESYNC, 0);
	EXPECT_EQ(s.pi.resync_code, FALCON_RESYNC_LOCAL_XLR);
	EXPECT_EQ(s.pi.resync_type, FALCON_PKT_PUSH_DATA);
	nothing_completes();
	solo_back(&s, 0, 1);
	completes(&s.txn[0], FALCON_CMPL_LOCAL_XLR);
	solo_pull(&s, 10);
	solo_expect_tx(&s, FALCON_PKT_RESYNC, 0);
	EXPECT_EQ(s.pi.resync_type, FALCON_PKT_PULL_REQ);
	solo_back(&s, 1, 1);
	completes(&s.txn[1], FALCON_CMPL_LOCAL_XLR);

	EXPECT_EQ(falcon_core_xlr(&s.c, 0), 0);
	solo_push(&s, 100);
	solo_expect_tx(&s, FALCON_PKT_PUSH_DATA, 1);
	s.c.cfg.gapless = true;
	EXPECT_EQ(falcon_core_xlr(&s.c, FALCON_XLR_INITIATOR), -EINVAL);
}

/* spec: 11-2 11-17 acknowledged before the resync left: it was the push itself */
TEST(timeout_overtaken_by_ack_11)
{
	with_timeout(true);
	solo_push(&s, 1);
	solo_flush(&s);
	solo_wait(&s, 5 * MS);
	solo_back(&s, 0, 1);
	completes(&s.txn[0], FALCON_CMPL_ACK);
}

/*
 * spec: 6.4-8 11-1 11-17 11-18 a pull that waits for its data completes at
 * once: no PSN to fill
 */
TEST(timeout_of_acked_pull_11)
{
	with_timeout(true);
	solo_pull(&s, 10);
	solo_flush(&s);
	solo_back(&s, 1, 0);
	EXPECT_EQ(falcon_core_next_timer(&s.c), s.now + 5 * MS);
	solo_wait(&s, 5 * MS);
	completes(&s.txn[0], FALCON_CMPL_LOCAL_TO);
	solo_expect_quiet(&s);
	/* its data comes too late */
	EXPECT_TRUE(!solo_rx_pull_data(&s, 0, 0, 10));
	EXPECT_EQ(s.c.rx[DATA].base, 1);
}

/*
 * spec: 7.2-11 11-1 a pull request timed out on the wire is resynced in its
 * window
 */
TEST(timeout_of_sent_pull_11)
{
	with_timeout(true);
	solo_pull(&s, 10);
	solo_flush(&s);
	solo_wait(&s, 5 * MS);
	solo_expect_tx(&s, FALCON_PKT_RESYNC, 0);
	EXPECT_EQ(s.pi.resync_type, FALCON_PKT_PULL_REQ);
	/* the data crosses it */
	EXPECT_TRUE(!solo_rx_pull_data(&s, 0, 0, 10));
	nothing_completes();
	solo_back(&s, 1, 0);
	completes(&s.txn[0], FALCON_CMPL_LOCAL_TO);
}

/*
 * spec: 11-1 11-9 ordered, never sent: the target waits for its RSN, a resync
 * fills it
 */
TEST(timeout_of_queued_ordered_11)
{
	with_timeout(true);
	s.c.ncwnd = 1;
	solo_push(&s, 1);
	solo_push(&s, 1);
	solo_flush(&s);
	solo_back(&s, 0, 0);
	solo_wait(&s, 5 * MS);
	solo_expect_tx(&s, FALCON_PKT_RESYNC, 0);
	solo_back(&s, 0, 1);
	solo_expect_tx(&s, FALCON_PKT_RESYNC, 1);
	EXPECT_EQ(s.pi.rsn, 1);
	EXPECT_EQ(s.tx.len, 0);
	solo_back(&s, 0, 2);
	completes(&s.txn[0], FALCON_CMPL_LOCAL_TO);
	completes(&s.txn[1], FALCON_CMPL_LOCAL_TO);
}

/* spec: 11-1 11-9 unordered, never sent: reclaimed at once */
TEST(timeout_of_queued_unordered_11)
{
	with_timeout(false);
	s.c.ncwnd = 1;
	solo_push(&s, 1);
	solo_push(&s, 1);
	solo_flush(&s);
	solo_wait(&s, 5 * MS);
	completes(&s.txn[1], FALCON_CMPL_LOCAL_TO);
	nothing_completes();
	solo_expect_tx(&s, FALCON_PKT_RESYNC, 0);
	solo_expect_quiet(&s);
}

/* spec: 11-1 each transaction has its own time */
TEST(timeout_of_each_11)
{
	with_timeout(false);
	solo_pull(&s, 10);
	solo_flush(&s);
	solo_back(&s, 1, 0);
	s.now += 1 * MS;
	solo_pull(&s, 10);
	solo_flush(&s);
	solo_back(&s, 2, 0);
	solo_wait(&s, 4 * MS);
	completes(&s.txn[0], FALCON_CMPL_LOCAL_TO);
	nothing_completes();
	EXPECT_EQ(falcon_core_next_timer(&s.c), s.now + 1 * MS);
	solo_wait(&s, 1 * MS);
	completes(&s.txn[1], FALCON_CMPL_LOCAL_TO);
}

/* spec: 11-17 several that time out together, ordered, complete in order */
TEST(timeouts_together_in_order_11)
{
	u32 i;

	with_timeout(true);
	for (i = 0; i < 6; i++)
		solo_pull(&s, 10);
	solo_flush(&s);
	solo_back(&s, 6, 0);
	solo_rx_pull_data(&s, 0, 3, 10);
	solo_wait(&s, 5 * MS);
	for (i = 0; i < 6; i++)
		completes(&s.txn[i], i == 3 ? FALCON_CMPL_ACK :
					      FALCON_CMPL_LOCAL_TO);
}

/* spec: 11-5 11-23 connection not alive: everything open completes, in order */
TEST(abort_completes_everything_11)
{
	u32 i;

	solo_init(&s, true);
	solo_window(&s, 4, 100);
	for (i = 0; i < 8; i++)
		solo_push(&s, 1);
	solo_pull(&s, 1);
	solo_flush(&s);
	solo_eack(&s, 0, 0, 0, 2, 6, 0);	/* 1 acked, 2 received */
	solo_nack(&s, DATA, 3, FALCON_NACK_CIE);
	falcon_core_abort(&s.c, FALCON_CMPL_DEAD_CONN);
	for (i = 0; i < 9; i++)
		completes(&s.txn[i], i == 1 ? FALCON_CMPL_ACK :
			  i == 3 ? FALCON_CMPL_TARGET_NACK_CIE :
				   FALCON_CMPL_DEAD_CONN);
	nothing_completes();
	falcon_core_abort(&s.c, FALCON_CMPL_DEAD_CONN);
	nothing_completes();
	EXPECT_TRUE(falcon_core_idle(&s.c));
	EXPECT_EQ(s.c.nr_flight, 0);
}

/* spec: 11-10 connection not alive: packets are dropped, nothing is sent */
TEST(abort_is_silence_11)
{
	solo_init(&s, true);
	solo_rx_push(&s, 0, 0);
	solo_push(&s, 1);
	falcon_core_abort(&s.c, FALCON_CMPL_DEAD_CONN);
	solo_expect_quiet(&s);
	EXPECT_TRUE(!solo_rx_push(&s, 1, 1));
	EXPECT_EQ(s.c.stats.rx_pkts, 1);
	solo_back(&s, 0, 0);
	EXPECT_EQ(s.c.stats.rx_acks, 0);
	EXPECT_EQ(falcon_core_next_timer(&s.c), FALCON_NO_TIMER);
	falcon_core_timer(&s.c, s.now + 100000 * MS);
	EXPECT_EQ(falcon_core_pull(&s.c, &s.txn[9], NULL, 0, 1, s.now),
		  -ENOTCONN);
}

/* spec: 11-21 completion codes of resyncs */
TEST(resync_completion_codes_11)
{
	static const u8 want[] = {
		[FALCON_RESYNC_CIE] = FALCON_CMPL_TARGET_NACK_CIE,
		[FALCON_RESYNC_LOCAL_XLR] = FALCON_CMPL_LOCAL_XLR,
		[FALCON_RESYNC_EXHAUSTED] = FALCON_CMPL_LOCAL_TO,
		[FALCON_RESYNC_TIMEOUT] = FALCON_CMPL_LOCAL_TO,
		[FALCON_RESYNC_REMOTE_XLR] = FALCON_CMPL_REMOTE_ERR,
		[FALCON_RESYNC_NRE] = FALCON_CMPL_TARGET_NACK_NRE,
		[FALCON_RESYNC_CID] = FALCON_CMPL_TARGET_NACK_CID,
	};
	u8 code;

	for (code = FALCON_RESYNC_CIE; code <= FALCON_RESYNC_CID; code++) {
		solo_init(&s, true);
		solo_push(&s, 1);
		solo_flush(&s);
		falcon_pkt_resync(&s.c, &s.txn[0].pkt, code);
		solo_expect_tx(&s, FALCON_PKT_RESYNC, 0);
		EXPECT_EQ(s.pi.resync_code, code);
		solo_back(&s, 0, 1);
		completes(&s.txn[0], want[code]);
	}
}

/* spec: 8.4.1-2 8.4.1-4 BRSN and NRSN wrap at 2^32 */
TEST(brsn_and_nrsn_wrap_8_4_1)
{
	u32 i;

	solo_cfg(&s, true);
	s.cfg.tx_rsn = 0xfffffffe;
	solo_start(&s);
	for (i = 0; i < 4; i++)
		solo_push(&s, 1);
	EXPECT_EQ(s.c.tx_nrsn, 2);
	EXPECT_EQ(s.c.tx_brsn, 0xfffffffe);
	solo_flush(&s);
	solo_back(&s, 0, 2);
	EXPECT_EQ(s.c.tx_brsn, 0);
	solo_back(&s, 0, 4);
	EXPECT_EQ(s.c.tx_brsn, 2);
}

/* spec: 7.5-3 push data has NRSN, whatever pulls are outstanding */
TEST(push_has_an_rsn_of_its_own_7_5)
{
	solo_init(&s, true);
	solo_pull(&s, 10);
	solo_push(&s, 10);
	solo_expect_tx(&s, FALCON_PKT_PULL_REQ, 0);
	EXPECT_EQ(s.pi.rsn, 0);
	solo_expect_tx(&s, FALCON_PKT_PUSH_DATA, 0);
	EXPECT_EQ(s.pi.rsn, 1);
}

/*
 * spec: 8.2.2-8 8.4.3.2-4 pull data is stored in what its request took: it is
 * not refused though nothing else is left
 */
TEST(pull_data_uses_what_its_request_took_8_4_3_2)
{
	static struct falcon_resources res;
	struct falcon_txn *t;

	solo_cfg(&s, true);
	falcon_res_init(&res);
	falcon_res_limit(&res, FALCON_POOL_RX_REQ, 1, 4096);
	falcon_res_limit(&res, FALCON_POOL_RX_NET, 1, 4096);
	falcon_core_init(&s.c, &s.cfg, &res, s.now);
	t = solo_pull(&s, 4096);
	solo_flush(&s);
	solo_rx_push(&s, 0, 0);			/* the last network request */
	EXPECT_EQ(falcon_core_pull(&s.c, &s.txn[1], NULL, 0, 1, s.now),
		  -ENOBUFS);
	EXPECT_TRUE(solo_rx_pull_data(&s, 1, 0, 4096));
	EXPECT_EQ(s.c.stats.rx_no_resource, 0);
	completes(t, FALCON_CMPL_ACK);
	EXPECT_EQ(s.c.use.cells[FALCON_POOL_RX_REQ], 0);
	falcon_core_abort(&s.c, FALCON_CMPL_DEAD_CONN);
}

/* spec: 11-18 a pull request that exhausts its attempts: kCmplLocalTO */
TEST(pull_exhausted_is_local_to_11)
{
	struct falcon_txn *t;
	u32 i;

	solo_init(&s, true);
	t = solo_pull(&s, 10);
	solo_flush(&s);
	for (i = 0; i < 20 && t->pkt.type != FALCON_PKT_RESYNC; i++) {
		solo_timer(&s);
		solo_flush(&s);
	}
	EXPECT_EQ(s.pi.type, FALCON_PKT_RESYNC);
	EXPECT_EQ(s.pi.resync_code, FALCON_RESYNC_EXHAUSTED);
	EXPECT_EQ(s.pi.resync_type, FALCON_PKT_PULL_REQ);
	nothing_completes();
	solo_back(&s, 1, 0);
	completes(t, FALCON_CMPL_LOCAL_TO);
}

/* spec: 11-23 a submission on a dead connection: kCmplDeadConn */
TEST(submission_on_dead_connection_11)
{
	solo_init(&s, true);
	falcon_core_abort(&s.c, FALCON_CMPL_DEAD_CONN);
	EXPECT_EQ(falcon_core_push(&s.c, &s.txn[0], NULL, 1, s.now),
		  -ENOTCONN);
	EXPECT_EQ(s.txn[0].cmpl, FALCON_CMPL_DEAD_CONN);
	nothing_completes();
}

/*
 * spec: 8.2.3-2 11-22 a submission that finds no resources is refused and has
 * its code, kCmplLocalRsrc; nothing is taken
 */
TEST(submission_without_resources_is_local_rsrc_11)
{
	static const u8 pools[] = { FALCON_POOL_TX_REQ, FALCON_POOL_RX_REQ };
	static struct falcon_resources res;
	u32 i;

	for (i = 0; i < 2; i++) {
		solo_cfg(&s, true);
		falcon_res_init(&res);
		res.alpha_shift = 0;
		falcon_res_limit(&res, pools[i], 2, 0);
		falcon_core_init(&s.c, &s.cfg, &res, s.now);
		solo_push(&s, 1);
		solo_pull(&s, 1);
		s.txn[2].cmpl = FALCON_CMPL_ACK;
		EXPECT_LT(falcon_core_push(&s.c, &s.txn[2], NULL, 1, s.now), 0);
		EXPECT_EQ(s.txn[2].cmpl, FALCON_CMPL_LOCAL_RSRC);
		EXPECT_EQ(s.c.tx_nrsn, 2);
		EXPECT_EQ(s.c.use.pkts[FALCON_POOL_TX_REQ], 2);
		EXPECT_EQ(s.c.use.pkts[FALCON_POOL_RX_REQ], 2);
		nothing_completes();
		falcon_core_abort(&s.c, FALCON_CMPL_DEAD_CONN);
	}
}

static void holds(enum falcon_pool pool, u32 pkts, u32 cells)
{
	EXPECT_EQ(s.c.use.pkts[pool], pkts);
	EXPECT_EQ(s.c.use.cells[pool], cells);
}

/*
 * spec: 8.2.2-1 8.2.2-3 8.2.3-4 8.2.3-5 8.2.3-6 8.2.3-7 the table of credits:
 * pushes, pulls and pull responses
 */
TEST(credits_of_each_transaction_8_2_3)
{
	struct falcon_rxpkt *rx;

	solo_init(&s, false);
	solo_push(&s, 3 * FALCON_CELL_BYTES + 1);
	holds(FALCON_POOL_TX_REQ, 1, 4);
	holds(FALCON_POOL_RX_REQ, 1, 0);
	holds(FALCON_POOL_TX_DATA, 0, 0);
	solo_flush(&s);
	solo_back(&s, 0, 1);
	holds(FALCON_POOL_TX_REQ, 0, 0);

	/* a request without a header of the ULP is a request all the same */
	EXPECT_EQ(falcon_core_pull(&s.c, &s.txn[1], NULL, 0,
				   2 * FALCON_CELL_BYTES, s.now), 0);
	holds(FALCON_POOL_TX_REQ, 1, 1);
	holds(FALCON_POOL_RX_REQ, 1, 2);
	holds(FALCON_POOL_TX_DATA, 0, 0);
	solo_flush(&s);
	solo_rx_pull_data(&s, 0, 1, 2 * FALCON_CELL_BYTES);
	holds(FALCON_POOL_TX_REQ, 0, 0);
	holds(FALCON_POOL_RX_REQ, 0, 0);

	solo_rx_pull(&s, 0, 0);
	rx = solo_delivered(&s);
	solo_respond(&s, rx, FALCON_CELL_BYTES + 1);
	holds(FALCON_POOL_TX_DATA, 1, 2);
	holds(FALCON_POOL_TX_REQ, 0, 0);
	falcon_core_abort(&s.c, FALCON_CMPL_DEAD_CONN);
}

/* spec: 11-28 completion codes are those of the table */
TEST(completion_codes_have_their_values_11)
{
	EXPECT_EQ(FALCON_CMPL_ACK, 0x0);
	EXPECT_EQ(FALCON_CMPL_TARGET_NACK_CIE, 0x1);
	EXPECT_EQ(FALCON_CMPL_TARGET_NACK_NRE, 0x3);
	EXPECT_EQ(FALCON_CMPL_TARGET_NACK_CID, 0x4);
	EXPECT_EQ(FALCON_CMPL_LOCAL_TO, 0x8);
	EXPECT_EQ(FALCON_CMPL_OP_ERR, 0x9);
	EXPECT_EQ(FALCON_CMPL_DEAD_CONN, 0xa);
	EXPECT_EQ(FALCON_CMPL_LOCAL_RSRC, 0xb);
	EXPECT_EQ(FALCON_CMPL_ULP_CDT_ERR, 0xc);
	EXPECT_EQ(FALCON_CMPL_REMOTE_ERR, 0xd);
	EXPECT_EQ(FALCON_CMPL_LOCAL_XLR, 0xf);
}
