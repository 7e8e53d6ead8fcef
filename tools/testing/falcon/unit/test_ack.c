// SPDX-License-Identifier: GPL-2.0
/* Processing of ACKs, NACKs and piggybacked bases: 9.2.3, 9.2.4, 11 */
#include "solo.h"

static struct solo s;

static void sent(u32 pushes, u32 pulls)
{
	u32 i;

	solo_init(&s, true);
	for (i = 0; i < pushes; i++)
		solo_push(&s, 100);
	for (i = 0; i < pulls; i++)
		solo_pull(&s, 100);
	ASSERT_EQ(solo_flush(&s), pushes + pulls);
}

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
 * spec: 7.7.1-1 9.1.1-1 9.2.3-2 9.2.3-3 larger bases move ours, and free what
 * is acknowledged
 */
TEST(ack_moves_bases_9_2_3)
{
	sent(4, 3);
	solo_back(&s, 2, 3);
	EXPECT_EQ(s.c.tx[REQ].base, 2);
	EXPECT_EQ(s.c.tx[DATA].base, 3);
	completes(&s.txn[0], FALCON_CMPL_ACK);
	completes(&s.txn[1], FALCON_CMPL_ACK);
	completes(&s.txn[2], FALCON_CMPL_ACK);
	nothing_completes();
	EXPECT_EQ(s.txn[4].state, FALCON_PULL_REQ_ACKD);
	EXPECT_EQ(s.txn[6].state, FALCON_PULL_REQ_TX);
	EXPECT_EQ(s.c.stats.rx_acks, 1);
}

/* spec: 9.2.3-1 an ACK with a smaller base is discarded, all of it */
TEST(ack_stale_is_discarded_9_2_3)
{
	sent(4, 3);
	solo_back(&s, 2, 2);
	while (solo_completed(&s))
		;
	solo_back(&s, 1, 4);		/* request base is stale */
	EXPECT_EQ(s.c.tx[DATA].base, 2);
	solo_back(&s, 3, 1);		/* data base is stale */
	EXPECT_EQ(s.c.tx[REQ].base, 2);
	nothing_completes();
	EXPECT_EQ(s.c.stats.rx_bad_ack, 2);
}

/* spec: 9.2.3+1 a base beyond what was sent moves nothing */
TEST(ack_beyond_sent_is_rejected_9_2_3)
{
	sent(4, 3);
	solo_back(&s, 0, 5);
	solo_back(&s, 4, 0);
	solo_back(&s, 3, 0x7fffffff);
	EXPECT_EQ(s.c.tx[REQ].base, 0);
	EXPECT_EQ(s.c.tx[DATA].base, 0);
	EXPECT_EQ(s.c.stats.rx_bad_ack, 3);
	nothing_completes();
	solo_back(&s, 3, 4);		/* what was sent, exactly */
	EXPECT_EQ(s.c.tx[REQ].base, 3);
	EXPECT_EQ(s.c.tx[DATA].base, 4);
}

/* spec: 9.1.1-2 9.2.3-2 the comparison is modular */
TEST(ack_bases_wrap_9_2_3)
{
	u32 i;

	solo_cfg(&s, true);
	s.cfg.tx_psn[DATA] = 0xfffffffe;
	solo_start(&s);
	for (i = 0; i < 4; i++)
		solo_push(&s, 1);
	solo_flush(&s);
	solo_back(&s, 0, 3);		/* beyond: 2 is next */
	EXPECT_EQ(s.c.tx[DATA].base, 0xfffffffe);
	solo_back(&s, 0, 1);
	EXPECT_EQ(s.c.tx[DATA].base, 1);
	solo_back(&s, 0, 0xffffffff);	/* stale */
	EXPECT_EQ(s.c.tx[DATA].base, 1);
}

/* spec: 9.2.3+1 a bitmap with a bit beyond what was sent moves nothing */
TEST(eack_bits_beyond_sent_are_rejected_9_2_3)
{
	sent(4, 3);
	solo_eack(&s, 1, 1, 0, 0, 1ULL << 3, 0);	/* PSN 4 */
	EXPECT_EQ(s.c.tx[DATA].base, 0);
	solo_eack(&s, 1, 1, 1ULL << 2, 0, 0, 0);	/* PSN 3 */
	EXPECT_EQ(s.c.tx[REQ].base, 0);
	solo_eack(&s, 0, 0, 0, 1ULL << 63, 0, 0);
	EXPECT_EQ(s.c.stats.rx_bad_ack, 3);
	nothing_completes();
	solo_eack(&s, 1, 1, 1ULL << 1, 0, 1ULL << 2, 0);
	EXPECT_EQ(s.c.tx[DATA].base, 1);
	EXPECT_EQ(s.c.tx[REQ].base, 1);
}

/*
 * spec: 9.1.1-2 9.2.3-5 the request bitmap acknowledges requests beyond the
 * base
 */
TEST(eack_request_bits_acknowledge_9_2_3)
{
	sent(0, 5);
	solo_eack(&s, 0, 0, 0x16, 0, 0, 0);	/* PSN 1, 2, 4 */
	EXPECT_EQ(s.txn[0].state, FALCON_PULL_REQ_TX);
	EXPECT_EQ(s.txn[1].state, FALCON_PULL_REQ_ACKD);
	EXPECT_EQ(s.txn[2].state, FALCON_PULL_REQ_ACKD);
	EXPECT_EQ(s.txn[3].state, FALCON_PULL_REQ_TX);
	EXPECT_EQ(s.txn[4].state, FALCON_PULL_REQ_ACKD);
	EXPECT_EQ(s.c.tx[REQ].orc, 2);
	EXPECT_EQ(s.c.tx[REQ].base, 0);
}

/* spec: 9.2.3-6 9.2.3-7 the data ACK bitmap completes pushes, in RSN order */
TEST(eack_data_ack_bits_complete_9_2_3)
{
	sent(4, 0);
	solo_eack(&s, 0, 0, 0, 0x6, 0x6, 0);
	nothing_completes();
	solo_back(&s, 0, 1);
	completes(&s.txn[0], FALCON_CMPL_ACK);
	completes(&s.txn[1], FALCON_CMPL_ACK);
	completes(&s.txn[2], FALCON_CMPL_ACK);
	nothing_completes();
	/* 9.1.1: the base is the oldest that is not acknowledged */
	EXPECT_EQ(s.c.tx[DATA].base, 3);
}

/* spec: 9.2.3+3 the data Rx bitmap tells received from acknowledged */
TEST(eack_data_rx_bits_are_received_9_2_3)
{
	sent(4, 0);
	solo_eack(&s, 0, 0, 0, 0x2, 0xe, 0);
	nothing_completes();
	EXPECT_EQ(s.txn[0].pkt.state, FALCON_TXPKT_FLIGHT);
	EXPECT_EQ(s.txn[1].pkt.state, FALCON_TXPKT_DONE);
	EXPECT_EQ(s.txn[2].pkt.state, FALCON_TXPKT_RCVD);
	EXPECT_EQ(s.txn[3].pkt.state, FALCON_TXPKT_RCVD);
	EXPECT_EQ(s.c.tx[DATA].orc, 3);
}

/* spec: 9-11 9.1.1-6 9.2.3-5 bitmaps are ORed: a bit once seen stays */
TEST(eack_bitmaps_are_ored_9_2_3)
{
	sent(10, 0);
	solo_eack(&s, 0, 0, 0, 0, 0x3f0, 0);
	EXPECT_EQ(s.c.tx[DATA].rcvd[0], 0x3f0);
	solo_eack(&s, 0, 4, 0, 0, 0, 0);
	EXPECT_EQ(s.c.tx[DATA].rcvd[0], 0x3f0);
	EXPECT_EQ(s.txn[9].pkt.state, FALCON_TXPKT_RCVD);
	solo_eack(&s, 0, 4, 0, 0x2, 0x2, 0);
	EXPECT_EQ(s.c.tx[DATA].acked[0], 0x20);
	EXPECT_EQ(s.c.tx[DATA].rcvd[0], 0x3d0);
}

/* spec: 9.1.1-6 9.2.3-6 all 128 bits of the data bitmaps count */
TEST(eack_high_bits_9_2_3)
{
	struct falcon_pkt_info pi;

	sent(128, 0);
	solo_base_pi(&s, FALCON_PKT_EACK, &pi);
	pi.data_ack[1] = 1ULL << 62;
	pi.data_rx[1] = 3ULL << 62;
	solo_rx(&s, &pi);
	EXPECT_EQ(s.txn[125].pkt.state, FALCON_TXPKT_FLIGHT);
	EXPECT_EQ(s.txn[126].pkt.state, FALCON_TXPKT_DONE);
	EXPECT_EQ(s.txn[127].pkt.state, FALCON_TXPKT_RCVD);
}

/*
 * spec: 7.7.2+1 9.2.3-6 a wide EACK acknowledges as far as its bitmaps reach;
 * one of another width than agreed is not believed
 */
TEST(eack_wide_9_2_3)
{
	struct falcon_pkt_info pi;
	u32 i;

	solo_cfg(&s, true);
	s.cfg.win_shift = 2;
	solo_start(&s);
	for (i = 0; i < 300; i++)
		solo_push(&s, 100);
	ASSERT_EQ(solo_flush(&s), 300);
	solo_base_pi(&s, FALCON_PKT_EACK, &pi);
	pi.rbpsn[DATA] = 1;
	pi.data_ack[4] = 1ULL << 20;
	pi.data_rx[4] = 3ULL << 20;
	pi.win_shift = 1;
	solo_rx(&s, &pi);
	EXPECT_EQ(s.c.stats.rx_bad_ack, 1);
	EXPECT_EQ(s.c.tx[DATA].base, 0);
	pi.win_shift = 2;
	solo_rx(&s, &pi);
	EXPECT_EQ(s.txn[0].pkt.state, FALCON_TXPKT_DONE);
	EXPECT_EQ(s.txn[276].pkt.state, FALCON_TXPKT_FLIGHT);
	EXPECT_EQ(s.txn[277].pkt.state, FALCON_TXPKT_DONE);
	EXPECT_EQ(s.txn[278].pkt.state, FALCON_TXPKT_RCVD);
	EXPECT_EQ(s.txn[279].pkt.state, FALCON_TXPKT_FLIGHT);
	solo_back(&s, 0, 300);
	EXPECT_EQ(s.c.tx[DATA].acked[4] | s.c.tx[DATA].rcvd[4], 0);
}

/* spec: 9.2.3+3 received shows that a packet marked lost is not */
TEST(eack_revokes_a_loss_9_2_3)
{
	sent(2, 0);
	solo_wait(&s, 1 * MS);
	EXPECT_EQ(s.txn[1].pkt.state, FALCON_TXPKT_LOST);
	solo_eack(&s, 0, 0, 0, 0, 2, 0);
	EXPECT_EQ(s.txn[1].pkt.state, FALCON_TXPKT_RCVD);
	solo_expect_tx(&s, FALCON_PKT_PUSH_DATA, 0);
	solo_expect_quiet(&s);
}

/* spec: 9.2.3-4 RTT is the ACK's receive time minus t1; the average follows */
TEST(rtt_from_t1_and_receive_time_9_2_3)
{
	sent(3, 0);
	s.rtt_ns = 100 * US;
	solo_back(&s, 0, 1);
	EXPECT_NEAR(s.c.srtt_ns, 100000, 200);
	s.rtt_ns = 180 * US;
	solo_back(&s, 0, 2);
	EXPECT_NEAR(s.c.srtt_ns, 110000, 300);
	EXPECT_NEAR(s.c.min_rtt_ns, 100000, 200);
	EXPECT_EQ(s.c.stats.rtt_samples, 2);
}

/* spec: 10.1+1 time-stamps are 32 bits, and differences wrap */
TEST(rtt_wraps_10_1)
{
	struct falcon_rx_meta meta = {
		.now_ns = 1000 * MS, .t_rx = 0x00000100, .t_tx = 0x00000100,
		.stamp_ok = true,
	};
	struct falcon_pkt_info pi;

	sent(1, 0);
	solo_base_pi(&s, FALCON_PKT_BACK, &pi);
	pi.rbpsn[DATA] = 1;
	pi.echo_t1 = 0xffffff00;
	pi.echo_t2 = 0x00000100;
	falcon_core_rx(&s.c, &pi, &meta, &s.rx[0]);
	EXPECT_NEAR(s.c.srtt_ns, 512 * 131.072, 1);
}

/* spec: 10.1+1 no sample from stamps of two devices, or of the future */
TEST(rtt_needs_valid_stamps_10_1)
{
	struct falcon_pkt_info pi;

	sent(4, 0);
	s.rtt_ns = 0;
	solo_back(&s, 0, 1);
	EXPECT_EQ(s.c.srtt_ns, 0);
	s.rtt_ns = 20 * US;
	solo_base_pi(&s, FALCON_PKT_BACK, &pi);
	pi.rbpsn[DATA] = 2;
	pi.echo_t1 += 1000;
	solo_rx(&s, &pi);
	EXPECT_EQ(s.c.stats.rtt_samples, 0);
	/* the peer held it longer than it was away */
	solo_base_pi(&s, FALCON_PKT_BACK, &pi);
	pi.rbpsn[DATA] = 3;
	pi.echo_t2 -= 1000;
	solo_rx(&s, &pi);
	EXPECT_EQ(s.c.stats.rtt_samples, 0);
	solo_back(&s, 0, 4);
	EXPECT_EQ(s.c.stats.rtt_samples, 1);
}

/* spec: 9.2.3+4 a ULP that acknowledges late does not lengthen the RTT */
TEST(rtt_excludes_a_slow_ulp_9_2_3)
{
	struct falcon_pkt_info pi;

	sent(1, 0);
	s.rtt_ns = 900 * US;
	solo_base_pi(&s, FALCON_PKT_BACK, &pi);
	pi.rbpsn[DATA] = 1;
	/* received 850 us before the ACK left: 50 us in the network */
	pi.echo_t2 = (u32)((s.now - 850 * US) * 1000 >> FALCON_TS_SHIFT);
	solo_rx(&s, &pi);
	EXPECT_NEAR(s.c.srtt_ns, 50000 + 8000, 300);
}

/* spec: 7.2-9 9.2.3+2 piggybacked bases acknowledge, as those of an ACK do */
TEST(piggybacked_bases_acknowledge_9_2_3)
{
	struct falcon_pkt_info pi;

	sent(3, 0);
	solo_base_pi(&s, FALCON_PKT_PULL_REQ, &pi);
	pi.rbpsn[DATA] = 2;
	pi.req_len = 10;
	EXPECT_TRUE(solo_rx(&s, &pi));
	completes(&s.txn[0], FALCON_CMPL_ACK);
	completes(&s.txn[1], FALCON_CMPL_ACK);
	nothing_completes();
}

/* spec: 9.2.3+2 a packet with a stale base is not dropped for that */
TEST(piggybacked_stale_base_keeps_packet_9_2_3)
{
	struct falcon_pkt_info pi;

	sent(3, 2);
	solo_back(&s, 1, 2);
	solo_base_pi(&s, FALCON_PKT_PULL_REQ, &pi);
	pi.rbpsn[DATA] = 0;
	pi.rbpsn[REQ] = 2;
	pi.req_len = 10;
	EXPECT_TRUE(solo_rx(&s, &pi));
	EXPECT_EQ(s.c.tx[DATA].base, 2);
	EXPECT_EQ(s.c.tx[REQ].base, 2);
	EXPECT_TRUE(solo_delivered(&s));
}

/* spec: 9.2.3+1 a packet with a base beyond what was sent is dropped whole */
TEST(piggybacked_forged_base_drops_packet_9_2_3)
{
	struct falcon_pkt_info pi;

	sent(3, 0);
	solo_base_pi(&s, FALCON_PKT_PULL_REQ, &pi);
	pi.rbpsn[DATA] = 4;
	pi.req_len = 10;
	EXPECT_TRUE(!solo_rx(&s, &pi));
	EXPECT_EQ(s.c.tx[DATA].base, 0);
	EXPECT_EQ(s.c.rx[REQ].base, 0);
	EXPECT_EQ(s.c.stats.rx_bad_ack, 1);
	EXPECT_TRUE(!solo_delivered(&s));
}

/*
 * spec: 9.2.4-1 a NACK's bases acknowledge; a stale or forged one is discarded
 */
TEST(nack_bases_9_2_4)
{
	struct falcon_pkt_info pi;

	sent(5, 0);
	solo_base_pi(&s, FALCON_PKT_NACK, &pi);
	pi.nack_win = DATA;
	pi.nack_psn = 3;
	pi.nack_code = FALCON_NACK_CIE;
	pi.rbpsn[DATA] = 6;
	solo_rx(&s, &pi);
	EXPECT_EQ(s.txn[3].pkt.type, FALCON_PKT_PUSH_DATA);
	pi.rbpsn[DATA] = 2;
	solo_rx(&s, &pi);
	EXPECT_EQ(s.c.tx[DATA].base, 2);
	EXPECT_EQ(s.txn[3].pkt.type, FALCON_PKT_RESYNC);
	pi.nack_psn = 4;
	pi.rbpsn[DATA] = 1;
	solo_rx(&s, &pi);
	EXPECT_EQ(s.txn[4].pkt.type, FALCON_PKT_PUSH_DATA);
	EXPECT_EQ(s.c.stats.rx_bad_ack, 2);
	EXPECT_EQ(s.c.stats.rx_nacks, 3);
}

/* spec: 9.2.4-1 a NACK whose request base is stale is discarded, all of it */
TEST(nack_with_stale_request_base_9_2_4)
{
	struct falcon_pkt_info pi;

	sent(3, 2);
	solo_back(&s, 1, 1);
	solo_base_pi(&s, FALCON_PKT_NACK, &pi);
	pi.nack_win = FALCON_WIN_DATA;
	pi.nack_psn = 2;
	pi.nack_code = FALCON_NACK_CIE;
	pi.rbpsn[FALCON_WIN_REQ] = 0;
	pi.rbpsn[FALCON_WIN_DATA] = 2;
	solo_rx(&s, &pi);
	EXPECT_EQ(s.c.tx[FALCON_WIN_DATA].base, 1);
	EXPECT_EQ(s.txn[2].pkt.type, FALCON_PKT_PUSH_DATA);
}

/*
 * spec: 8.4.3.4-2 8.4.3.5-1 9.2.4+1 a NACK of a PSN never sent, or
 * acknowledged, does nothing
 */
TEST(nack_of_unknown_psn_9_2_4)
{
	sent(3, 0);
	solo_nack(&s, DATA, 3, FALCON_NACK_CIE);
	EXPECT_EQ(s.c.stats.rx_bad_ack, 1);
	solo_nack(&s, REQ, 0, FALCON_NACK_CIE);
	EXPECT_EQ(s.c.stats.rx_bad_ack, 2);
	solo_back(&s, 0, 2);
	solo_nack(&s, DATA, 1, FALCON_NACK_CIE);
	solo_expect_quiet(&s);
	completes(&s.txn[0], FALCON_CMPL_ACK);
	completes(&s.txn[1], FALCON_CMPL_ACK);
	nothing_completes();
}

static void nack_to_resync(u8 nack, u8 resync, u8 cmpl)
{
	sent(2, 0);
	solo_nack(&s, DATA, 0, nack);
	nothing_completes();
	solo_expect_tx(&s, FALCON_PKT_RESYNC, 0);
	EXPECT_EQ(s.pi.resync_code, resync);
	EXPECT_EQ(s.pi.rsn, 0);
	nothing_completes();
	solo_back(&s, 0, 1);
	EXPECT_EQ(s.txn[0].ulp_code, 0x77);
	completes(&s.txn[0], cmpl);
}

/*
 * spec: 6.4-4 7.8-7 8.4.3.5-1 8.4.3.5-2 8.4.3.5-3 9.2.4-6 11-21 CIE: resync,
 * then completion in error with the ULP's code
 */
TEST(nack_cie_9_2_4)
{
	nack_to_resync(FALCON_NACK_CIE, FALCON_RESYNC_CIE,
		       FALCON_CMPL_TARGET_NACK_CIE);
}

/* spec: 9.2.4-7 11-6 11-21 non-recoverable error */
TEST(nack_nre_9_2_4)
{
	nack_to_resync(FALCON_NACK_NRE, FALCON_RESYNC_NRE,
		       FALCON_CMPL_TARGET_NACK_NRE);
}

/* spec: 9.2.4-8 11-6 11-21 invalid CID */
TEST(nack_cid_9_2_4)
{
	nack_to_resync(FALCON_NACK_CID, FALCON_RESYNC_CID,
		       FALCON_CMPL_TARGET_NACK_CID);
}

/* spec: 9.2.4-5 11-6 11-20 xLR drop; section 11: kCmplRemoteErr */
TEST(nack_xlr_9_2_4)
{
	nack_to_resync(FALCON_NACK_XLR, FALCON_RESYNC_REMOTE_XLR,
		       FALCON_CMPL_REMOTE_ERR);
}

/* spec: 11-6 a NACK that asks for a resync resets the retransmit counter */
TEST(nack_resets_retransmit_counter_11)
{
	sent(1, 0);
	solo_wait(&s, 1 * MS);
	solo_flush(&s);
	EXPECT_EQ(s.txn[0].pkt.attempts, 1);
	solo_nack(&s, DATA, 0, FALCON_NACK_CIE);
	EXPECT_EQ(s.txn[0].pkt.attempts, 0);
}

/* spec: 9.2.4+1 a second NACK of the same packet changes nothing */
TEST(nack_repeated_9_2_4)
{
	sent(1, 0);
	solo_nack(&s, DATA, 0, FALCON_NACK_CIE);
	solo_expect_tx(&s, FALCON_PKT_RESYNC, 0);
	solo_nack(&s, DATA, 0, FALCON_NACK_NRE);
	solo_expect_quiet(&s);
	solo_rnr(&s, 0, 1);
	solo_back(&s, 0, 1);
	completes(&s.txn[0], FALCON_CMPL_TARGET_NACK_CIE);
}

/* spec: 9.2.4+1 8.4.3.4+2 an RNR NACK that comes twice counts once */
TEST(nack_rnr_twice_counts_once_9_2_4)
{
	u64 due;

	sent(1, 0);
	s.c.cfg.rnr_limit = 2;
	solo_rnr(&s, 0, 0x10);
	due = falcon_core_next_timer(&s.c);
	s.now += 100 * US;
	solo_rnr(&s, 0, 0x10);
	EXPECT_EQ(s.txn[0].rnrs, 1);
	EXPECT_EQ(falcon_core_next_timer(&s.c), due);
	solo_expect_quiet(&s);
}

/*
 * spec: 9.2.4-3 11-8 resource drop: ncwnd is told, the packet goes again as
 * normal
 */
TEST(nack_resource_9_2_4)
{
	solo_cfg(&s, true);
	s.cfg.fae = &falcon_fae_swift;
	falcon_core_init(&s.c, &s.cfg, NULL, s.now);
	solo_push(&s, 10);
	solo_flush(&s);
	s.c.ncwnd = 64;
	s.now += 1 * MS - 1;
	solo_nack(&s, DATA, 0, FALCON_NACK_RESOURCE);
	EXPECT_LT(s.c.ncwnd, 64);
	EXPECT_EQ(s.txn[0].pkt.state, FALCON_TXPKT_FLIGHT);
	solo_expect_quiet(&s);
	solo_wait(&s, 1);
	solo_expect_tx(&s, FALCON_PKT_PUSH_DATA, 0);
	falcon_core_abort(&s.c, FALCON_CMPL_DEAD_CONN);
}

/*
 * spec: 8.4.3.4-1 8.4.3.4-2 9.2.4-4 RNR: the packet waits as long as the NACK
 * says
 */
TEST(nack_rnr_delays_8_4_3_4)
{
	sent(1, 0);
	solo_rnr(&s, 0, 0x10);			/* 2.56 ms */
	solo_expect_quiet(&s);
	EXPECT_EQ(falcon_core_next_timer(&s.c), s.now + 2560 * US);
	solo_wait(&s, 2560 * US - 1);
	solo_expect_quiet(&s);
	solo_wait(&s, 1);
	solo_expect_tx(&s, FALCON_PKT_PUSH_DATA, 0);
	EXPECT_EQ(s.tx.reason, FALCON_RETX_RNR);
	EXPECT_EQ(s.c.stats.retx[FALCON_RETX_RNR], 1);
	EXPECT_EQ(s.c.stats.retx[FALCON_RETX_RTO], 0);
}

/* spec: 11-7 RNR: the wait is max(RTO, RNR timeout) */
TEST(nack_rnr_waits_an_rto_at_least_11)
{
	sent(1, 0);
	solo_rnr(&s, 0, 1);			/* 10 us, RTO is 1 ms */
	EXPECT_EQ(falcon_core_next_timer(&s.c), s.now + 1 * MS);
}

/* spec: 8.4.3.4+1 RNR waits are no retransmission attempts */
TEST(nack_rnr_is_no_attempt_8_4_3_4)
{
	u32 i;

	sent(1, 0);
	for (i = 0; i < 50; i++) {
		solo_rnr(&s, 0, 1);
		solo_wait(&s, 1 * MS);
		solo_expect_tx(&s, FALCON_PKT_PUSH_DATA, 0);
	}
	EXPECT_EQ(s.txn[0].pkt.attempts, 0);
	EXPECT_EQ(s.c.fatal, 0);
	solo_back(&s, 0, 1);
	completes(&s.txn[0], FALCON_CMPL_ACK);
}

/* spec: 8.4.3.4+2 a ULP's bound of RNR NACKs: the last one ends the push */
TEST(nack_rnr_one_too_many_ends_a_push_8_4_3_4)
{
	sent(1, 0);
	s.c.cfg.rnr_limit = 2;
	solo_rnr(&s, 0, 1);
	solo_wait(&s, 1 * MS);
	solo_expect_tx(&s, FALCON_PKT_PUSH_DATA, 0);
	EXPECT_EQ(s.txn[0].rnrs, 1);
	solo_rnr(&s, 0, 1);
	solo_expect_tx(&s, FALCON_PKT_RESYNC, 0);
	EXPECT_EQ(s.txn[0].pkt.resync_code, FALCON_RESYNC_TIMEOUT);
	solo_back(&s, 0, 1);
	EXPECT_EQ(s.txn[0].rnrs, 2);
	completes(&s.txn[0], FALCON_CMPL_LOCAL_TO);
	EXPECT_EQ(s.c.fatal, 0);
}

/*
 * spec: 8.4.3.4+2 ordered: a push behind one that its ULP does not take is NACKed
 * with it, which is no RNR of its own
 */
TEST(nack_rnr_of_the_oldest_counts_8_4_3_4)
{
	sent(2, 0);
	s.c.cfg.rnr_limit = 2;
	solo_rnr(&s, 0, 1);
	solo_rnr(&s, 1, 1);
	EXPECT_EQ(s.txn[0].rnrs, 1);
	EXPECT_EQ(s.txn[1].rnrs, 0);
	solo_wait(&s, 1 * MS);
	EXPECT_EQ(solo_flush(&s), 2);
	solo_back(&s, 0, 1);			/* taken */
	completes(&s.txn[0], FALCON_CMPL_ACK);
	solo_rnr(&s, 1, 1);
	EXPECT_EQ(s.txn[1].rnrs, 1);
	EXPECT_EQ(s.txn[1].pkt.state, FALCON_TXPKT_RNR);
	solo_wait(&s, 1 * MS);
	solo_expect_tx(&s, FALCON_PKT_PUSH_DATA, 1);
	solo_back(&s, 0, 2);
	completes(&s.txn[1], FALCON_CMPL_ACK);
}

/* spec: 8.5.3.4+2 ordered: nothing later leaves while an RNR is waited out */
TEST(rnr_holds_later_rsns_8_5_3_4)
{
	sent(3, 0);
	solo_rnr(&s, 1, 1);
	solo_push(&s, 1);
	solo_pull(&s, 1);
	solo_expect_quiet(&s);
	solo_wait(&s, 1 * MS);
	/* 0 and 2 timed out: 2 after 1 */
	solo_expect_tx(&s, FALCON_PKT_PUSH_DATA, 0);
	solo_expect_tx(&s, FALCON_PKT_PUSH_DATA, 1);
	solo_expect_tx(&s, FALCON_PKT_PUSH_DATA, 2);
	solo_expect_tx(&s, FALCON_PKT_PUSH_DATA, 3);
	solo_expect_tx(&s, FALCON_PKT_PULL_REQ, 0);
}

/* spec: 8.5.3.4+2 unordered: an RNR holds nobody else */
TEST(rnr_unordered_holds_nobody_8_5_3_4)
{
	u32 i;

	solo_init(&s, false);
	for (i = 0; i < 3; i++)
		solo_push(&s, 1);
	solo_flush(&s);
	solo_rnr(&s, 0, 0x1f);
	solo_rnr(&s, 1, 0x10);
	solo_push(&s, 1);
	solo_expect_tx(&s, FALCON_PKT_PUSH_DATA, 3);
	EXPECT_EQ(s.c.rnr.next, &s.txn[1].pkt.time_node);
	solo_back(&s, 0, 0);
	solo_eack(&s, 0, 0, 0, 0xc, 0xc, 0);
	solo_wait(&s, 2560 * US);
	solo_expect_tx(&s, FALCON_PKT_PUSH_DATA, 1);
	solo_expect_quiet(&s);
}

/* spec: 8.4.3.4-1 an ACK that arrives in an RNR wait ends it */
TEST(rnr_ended_by_ack_8_4_3_4)
{
	sent(1, 0);
	solo_rnr(&s, 0, 0);
	solo_back(&s, 0, 1);
	completes(&s.txn[0], FALCON_CMPL_ACK);
	EXPECT_TRUE(list_empty(&s.c.rnr));
}

/* spec: 8.4.3.4+1 an EACK older than the RNR does not undo it */
TEST(rnr_not_undone_by_eack_8_4_3_4)
{
	sent(2, 0);
	solo_rnr(&s, 1, 0x10);
	solo_eack(&s, 0, 0, 0, 0, 0x2, 0);
	EXPECT_EQ(s.txn[1].pkt.state, FALCON_TXPKT_RNR);
}

/* spec: 8.4.3.4-3 only push data is RNR NACKed by the target */
TEST(nack_rnr_of_a_pull_is_ignored_8_4_3_4)
{
	struct falcon_pkt_info pi;

	sent(0, 1);
	solo_base_pi(&s, FALCON_PKT_NACK, &pi);
	pi.nack_win = REQ;
	pi.nack_code = FALCON_NACK_RNR;
	solo_rx(&s, &pi);
	EXPECT_EQ(s.txn[0].pkt.state, FALCON_TXPKT_FLIGHT);
}

/* spec: 9.2.3+4 with several flows a stale ACK is still a delay sample */
TEST(stale_ack_of_another_flow_is_a_sample_9_2_3)
{
	solo_cfg(&s, true);
	s.cfg.nr_flows = 2;
	s.cfg.fae = &falcon_fae_swift;
	falcon_core_init(&s.c, &s.cfg, NULL, s.now);
	solo_push(&s, 1);
	solo_push(&s, 1);
	solo_flush(&s);
	s.flow = 0;
	solo_back(&s, 0, 2);
	s.flow = 1;
	EXPECT_EQ(s.c.flow[1].num_acked, 1);
	solo_back(&s, 0, 1);
	EXPECT_EQ(s.c.tx[DATA].base, 2);
	EXPECT_EQ(s.c.flow[1].num_acked, 0);	/* its event has it */
	falcon_core_abort(&s.c, FALCON_CMPL_DEAD_CONN);
}

/* spec: 10.5.5-1 num_packets_acked counts a packet once, on its flow */
TEST(num_packets_acked_counts_once_10_5_5)
{
	sent(8, 0);
	s.c.flow[0].num_acked = 0;
	falcon_pkt_rcvd(&s.c, &s.txn[3].pkt, s.now);
	EXPECT_EQ(s.c.flow[0].num_acked, 1);
	falcon_ack_one(&s.c, &s.txn[3].pkt, s.now);
	falcon_ack_one(&s.c, &s.txn[4].pkt, s.now);
	EXPECT_EQ(s.c.flow[0].num_acked, 2);
}

/* spec: 9.2.4-2 a NACK's t1 and receive time are an RTT sample */
TEST(nack_is_an_rtt_sample_9_2_4)
{
	solo_init(&s, true);
	solo_push(&s, 1);
	solo_flush(&s);
	EXPECT_EQ(s.c.srtt_ns, 0);
	s.rtt_ns = 40 * US;
	solo_nack(&s, DATA, 0, FALCON_NACK_RESOURCE);
	EXPECT_EQ(s.c.stats.rtt_samples, 1);
	EXPECT_NEAR(s.c.srtt_ns, 40 * US, 300);
	s.rtt_ns = 80 * US;
	solo_nack(&s, DATA, 0, FALCON_NACK_RESOURCE);
	EXPECT_NEAR(s.c.srtt_ns, 45 * US, 300);
}

/* spec: 8.4.3.5-3 on an ordered connection the completion in error has its turn */
TEST(nack_cie_completes_in_rsn_order_8_4_3_5)
{
	u32 i;

	solo_init(&s, true);
	for (i = 0; i < 3; i++)
		solo_push(&s, 1);
	solo_flush(&s);
	solo_nack(&s, DATA, 1, FALCON_NACK_CIE);
	solo_expect_tx(&s, FALCON_PKT_RESYNC, 1);
	solo_eack(&s, 0, 0, 0, 0x6, 0x6, 0);	/* resync and 2, not 0 */
	EXPECT_TRUE(!solo_completed(&s));
	solo_back(&s, 0, 3);
	for (i = 0; i < 3; i++) {
		EXPECT_TRUE(solo_completed(&s) == &s.txn[i]);
		EXPECT_EQ(s.txn[i].cmpl, i == 1 ? FALCON_CMPL_TARGET_NACK_CIE :
						  FALCON_CMPL_ACK);
	}
	EXPECT_EQ(s.txn[1].ulp_code, 0x77);
}
