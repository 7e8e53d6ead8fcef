// SPDX-License-Identifier: GPL-2.0
/*
 * What ties the sublayers together: an acknowledgement that reaches loss
 * detection and congestion control, memory that is used again, flows.
 */
#include "solo.h"

static struct solo s;

#define RTT (20 * US)

static void sent(u8 loss, const struct falcon_fae_ops *fae, u32 n)
{
	solo_cfg(&s, true);
	s.cfg.loss = loss;
	s.cfg.fae = fae;
	falcon_core_init(&s.c, &s.cfg, NULL, s.now);
	if (fae == &falcon_fae_fixed)
		solo_window(&s, 1000, 1000);
	s.c.srtt_ns = RTT;
	s.c.min_rtt_ns = RTT;
	while (s.nr_txn < n)
		solo_push(&s, 1);
	ASSERT_EQ(solo_flush(&s), n);
	s.now += RTT;
}

static void done(void)
{
	falcon_core_abort(&s.c, FALCON_CMPL_DEAD_CONN);
}

/* spec: 9.1.6-6 an ACK is a packet of its own: no payload, not paced, not sent again */
TEST(ack_is_a_bare_header_9_1_6)
{
	solo_init(&s, true);
	solo_rx_pull(&s, 0, 0);
	solo_wait(&s, s.cfg.ack_coalesce_ns);
	ASSERT_TRUE(solo_tx(&s));
	EXPECT_EQ(s.pi.type, FALCON_PKT_BACK);
	EXPECT_EQ(s.tx.hdr_len, 32);
	EXPECT_EQ(s.tx.len, 0);
	EXPECT_TRUE(!s.tx.payload);
	EXPECT_EQ(s.tx.depart_ns, 0);
	EXPECT_FALSE(s.tx.retx);
	EXPECT_EQ(s.c.stats.tx_acks, 1);
	EXPECT_EQ(s.c.stats.tx_eacks, 0);
}

/* spec: 9.1.4+2 a NACK by the ULP shows that its packet arrived: RACK goes by it */
TEST(rack_hears_of_nacks_9_1_4)
{
	sent(FALCON_LOSS_RACK, &falcon_fae_fixed, 2);
	solo_rnr(&s, 1, 0x10);
	EXPECT_TRUE(s.txn[1].pkt.flags & FALCON_TXF_DELIVERED);
	solo_wait(&s, RTT / 2);
	solo_expect_tx(&s, FALCON_PKT_PUSH_DATA, 0);
	EXPECT_EQ(s.tx.reason, FALCON_RETX_RACK);
}

/* spec: 9.1.4+2 a NACK's bases show what was delivered before it */
TEST(rack_hears_of_bases_of_nacks_9_1_4)
{
	struct falcon_pkt_info pi;

	sent(FALCON_LOSS_RACK, &falcon_fae_fixed, 0);
	solo_pull(&s, 1);
	solo_push(&s, 1);
	solo_flush(&s);
	s.now += 2 * RTT;
	solo_base_pi(&s, FALCON_PKT_NACK, &pi);
	pi.rbpsn[DATA] = 1;
	pi.nack_win = REQ;
	pi.nack_code = FALCON_NACK_RESOURCE;
	solo_rx(&s, &pi);
	EXPECT_NE(s.c.flow[0].rack_due_ns, FALCON_NO_TIMER);
}

/* spec: 9.1.4+2 9.2.3+2 piggybacked bases show what was delivered */
TEST(rack_hears_of_piggybacked_bases_9_1_4)
{
	struct falcon_pkt_info pi;

	sent(FALCON_LOSS_RACK, &falcon_fae_fixed, 0);
	solo_pull(&s, 1);
	solo_push(&s, 1);
	solo_flush(&s);
	s.now += RTT;
	solo_base_pi(&s, FALCON_PKT_PULL_REQ, &pi);
	pi.rbpsn[DATA] = 1;
	pi.req_len = 10;
	EXPECT_TRUE(solo_rx(&s, &pi));
	solo_wait(&s, RTT);
	solo_flush(&s);
	EXPECT_EQ(s.c.stats.retx[FALCON_RETX_RACK], 1);
}

/* spec: 11+2 a reliable packet shows life, as an ACK does */
TEST(any_reliable_packet_is_life_11)
{
	sent(0, &falcon_fae_fixed, 1);
	EXPECT_NE(s.c.silent_ns, FALCON_NO_TIMER);
	solo_rx_pull(&s, 0, 0);
	EXPECT_EQ(s.c.silent_ns, FALCON_NO_TIMER);
	EXPECT_EQ(s.c.last_rx_ns, s.now);
}

/* spec: 9.2.3-1 with one flow a stale ACK is discarded altogether */
TEST(stale_ack_of_one_flow_is_no_sample_9_2_3)
{
	sent(0, &falcon_fae_swift, 2);
	solo_back(&s, 0, 2);
	s.c.flow[0].num_acked = 5;
	solo_back(&s, 0, 1);
	EXPECT_EQ(s.c.flow[0].num_acked, 5);
	done();
}

/* spec: 10.6.2.1-1 an early loss is an event: one that an EACK shows */
TEST(early_loss_by_eack_is_an_event_10_6_2_1)
{
	u32 fcwnd;

	sent(FALCON_LOSS_OOO, &falcon_fae_aimd, 8);
	s.now += RTT;
	fcwnd = s.c.flow[0].fcwnd;
	solo_eack(&s, 0, 0, 0, 0, 0x80, 0);
	EXPECT_LT(s.c.flow[0].fcwnd, fcwnd * 3 / 4);
	done();
}

/* spec: 10.6.2.1-1 and one that the RACK timer finds */
TEST(early_loss_by_timer_is_an_event_10_6_2_1)
{
	u32 fcwnd;

	sent(FALCON_LOSS_RACK, &falcon_fae_aimd, 8);
	solo_eack(&s, 0, 0, 0, 0, 0x80, 0);
	fcwnd = s.c.flow[0].fcwnd;
	solo_wait(&s, RTT / 2);
	EXPECT_GT(s.c.stats.tx_pkts + solo_flush(&s), 8);
	EXPECT_LT(s.c.flow[0].fcwnd, fcwnd * 3 / 4);
	done();
}

/* spec: 9.1.2+1 a retransmission waits for a flow with an open window */
TEST(flows_hold_a_retransmission_9_1_2)
{
	u32 i;

	solo_cfg(&s, true);
	s.cfg.nr_flows = 2;
	solo_start(&s);
	for (i = 0; i < 8; i++)
		solo_push(&s, 1);
	solo_flush(&s);
	EXPECT_EQ(s.c.flow[0].outstanding[DATA], 4);
	solo_nack(&s, DATA, 1, FALCON_NACK_CIE);
	for (i = 0; i < 2; i++)
		s.c.flow[i].fcwnd = s.c.flow[i].outstanding[DATA] <<
				    FALCON_FCWND_SHIFT;
	solo_expect_quiet(&s);
	s.c.flow[1].fcwnd += 1 << FALCON_FCWND_SHIFT;
	solo_expect_tx(&s, FALCON_PKT_RESYNC, 1);
	EXPECT_EQ(s.tx.flow, 1);
}

/* spec: 10.4+1 each flow has a path label, from the connection's seed */
TEST(flows_have_labels_10_4)
{
	u32 first, i;

	solo_init(&s, true);
	first = s.c.flow[0].label;
	for (i = 1; i < FALCON_MAX_FLOWS; i++)
		EXPECT_NE(s.c.flow[i].label, first);
	s.cfg.flow_seed = 12345;
	solo_start(&s);
	EXPECT_NE(s.c.flow[0].label, first);
}

/* spec: 8.4.3.1-2 a transaction's memory may be used again: nothing is left of before */
TEST(transaction_memory_is_reused_8_4_3_1)
{
	struct falcon_txn *t = &s.txn[0];

	solo_init(&s, true);
	memset(t, 0xa5, sizeof(*t));
	solo_pull(&s, 10);
	solo_flush(&s);
	solo_rx_pull_data(&s, 0, 0, 0);
	EXPECT_TRUE(solo_completed(&s) == t);
	EXPECT_TRUE(!t->rx);
	EXPECT_EQ(t->cmpl, FALCON_CMPL_ACK);
	EXPECT_EQ(t->ulp_code, 0);
	EXPECT_EQ(t->pkt.attempts, 0);
}

/* spec: 8.5.2+1 an RSN that comes twice holds resources once */
TEST(duplicate_rsn_holds_nothing_8_5_2)
{
	solo_init(&s, true);
	solo_rx_push(&s, 0, 5);
	solo_rx_push(&s, 1, 5);
	EXPECT_EQ(s.c.stats.rx_bad_pkt, 1);
	EXPECT_EQ(s.c.use.pkts[FALCON_POOL_RX_NET], 1);
}

/* spec: 8.5.1-6 an answer out of place moves nothing */
TEST(answer_out_of_place_moves_nothing_8_5_1)
{
	struct falcon_rxpkt *rx;

	solo_init(&s, true);
	solo_rx_push(&s, 0, 0);
	rx = solo_delivered(&s);
	falcon_core_target_ack(&s.c, rx, s.now);
	EXPECT_WARN(1);
	falcon_core_target_ack(&s.c, rx, s.now);
	EXPECT_EQ(s.c.rx_brsn, 1);
	EXPECT_EQ(s.c.rsn.done[0], 0);
}

/* spec: 8.2.3+1 a connection that recovers from loss may hold less, until it has */
TEST(recovery_halves_the_share_8_2_3)
{
	static struct falcon_resources res;
	u32 i;

	solo_cfg(&s, true);
	falcon_res_init(&res);
	falcon_res_limit(&res, FALCON_POOL_TX_REQ, 90, 0);
	falcon_core_init(&s.c, &s.cfg, &res, s.now);
	for (i = 0; i < 8; i++)
		solo_push(&s, 1);
	solo_flush(&s);
	solo_wait(&s, 1 * MS);			/* lost */
	EXPECT_EQ(falcon_core_push(&s.c, &s.txn[8], NULL, 0, s.now), -EAGAIN);
	EXPECT_EQ(solo_flush(&s), 8);		/* on their way again */
	solo_back(&s, 0, 1);
	EXPECT_EQ(falcon_core_push(&s.c, &s.txn[8], NULL, 0, s.now), -EAGAIN);
	solo_back(&s, 0, 8);
	for (i = 0; i < 9; i++)
		solo_push(&s, 1);
	done();
}

/* spec: 8.2.3+1 Xoff ends with what caused it */
TEST(xoff_ends_8_2_3)
{
	static struct falcon_resources res;

	solo_cfg(&s, true);
	falcon_res_init(&res);
	falcon_res_limit(&res, FALCON_POOL_TX_REQ, 9, 0);
	falcon_core_init(&s.c, &s.cfg, &res, s.now);
	solo_push(&s, 1);
	solo_push(&s, 1);
	EXPECT_EQ(falcon_core_push(&s.c, &s.txn[2], NULL, 0, s.now), -EAGAIN);
	EXPECT_TRUE(s.c.use.xoff);
	solo_flush(&s);
	solo_back(&s, 0, 2);
	solo_push(&s, 1);
	EXPECT_FALSE(s.c.use.xoff);
	done();
}
