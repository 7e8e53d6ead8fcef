// SPDX-License-Identifier: GPL-2.0
/* Receiver, and generation of ACKs and NACKs: 9.1.6, 9.1.7, 9.2, 11 */
#include "solo.h"

static struct solo s;

static void ack_push(struct falcon_rxpkt *rx)
{
	falcon_core_target_ack(&s.c, rx, s.now);
}

/* Runs the coalescing timer and takes the ACK. */
static void take_ack(u8 type)
{
	ASSERT_NE(s.c.ack_due_ns, FALCON_NO_TIMER);
	ASSERT_EQ(solo_flush(&s), 0);
	solo_wait(&s, s.c.ack_due_ns - s.now);
	ASSERT_TRUE(solo_tx(&s));
	ASSERT_EQ(s.pi.type, type);
}

/* Takes the ACK that waits for no timer. */
static void take_ack_now(u8 type)
{
	ASSERT_TRUE(solo_tx(&s));
	ASSERT_EQ(s.pi.type, type);
}

/*
 * spec: 9-1 9-4 9.2.2.4-8 all but push data is acknowledged when it is
 * received
 */
TEST(rx_pull_request_is_acknowledged_at_once_9_2_2_4)
{
	solo_init(&s, true);
	EXPECT_TRUE(solo_rx_pull(&s, 0, 0));
	EXPECT_EQ(s.c.rx[REQ].base, 1);
	take_ack(FALCON_PKT_BACK);
	EXPECT_EQ(s.pi.rbpsn[REQ], 1);
	EXPECT_EQ(s.pi.rbpsn[DATA], 0);
}

/*
 * spec: 6.1.1.1-2 8.1-3 8.5.3.3-3 9-4 9.2.2.4-7 push data is received, and
 * acknowledged only by its ULP
 */
TEST(rx_push_is_acknowledged_by_its_ulp_9_2_2_4)
{
	struct falcon_rxpkt *rx;

	solo_init(&s, true);
	EXPECT_TRUE(solo_rx_push(&s, 0, 0));
	rx = solo_delivered(&s);
	EXPECT_EQ(s.c.rx[DATA].base, 0);
	take_ack(FALCON_PKT_EACK);
	EXPECT_EQ(s.pi.rbpsn[DATA], 0);
	EXPECT_EQ(s.pi.data_rx[0], 1);
	EXPECT_EQ(s.pi.data_ack[0], 0);
	ack_push(rx);
	EXPECT_EQ(s.c.rx[DATA].base, 1);
	take_ack(FALCON_PKT_BACK);
	EXPECT_EQ(s.pi.rbpsn[DATA], 1);
}

/*
 * spec: 9.1.6-12 9.2.2.4-2 OWN is set by a packet beyond the window, and not
 * delivered
 */
TEST(rx_own_bit_set_beyond_window_9_2_2_4)
{
	solo_init(&s, true);
	EXPECT_TRUE(!solo_rx_push(&s, 128, 128));
	EXPECT_EQ(s.verdict, FALCON_RX_DONE);
	EXPECT_EQ(s.c.stats.rx_out_of_window, 1);
	EXPECT_TRUE(!solo_rx_pull(&s, 64, 64));
	take_ack(FALCON_PKT_EACK);
	EXPECT_EQ(s.pi.own, FALCON_OWN_REQUEST | FALCON_OWN_DATA);
	EXPECT_EQ(s.pi.data_rx[0], 0);
	EXPECT_EQ(s.pi.data_rx[1], 0);
}

/* spec: 9.2.1-8 OWN is reset when an EACK has carried it */
TEST(rx_own_bit_reset_by_eack_9_2_1)
{
	solo_init(&s, true);
	solo_rx_push(&s, 200, 200);
	take_ack(FALCON_PKT_EACK);
	EXPECT_EQ(s.pi.own, FALCON_OWN_DATA);
	solo_rx_pull(&s, 0, 0);
	take_ack(FALCON_PKT_BACK);
	EXPECT_EQ(s.pi.own, 0);
}

/* spec: 9-2 9.2.2-1 the last PSN of the window is inside it */
TEST(rx_last_psn_of_window_9_2_2_4)
{
	solo_init(&s, true);
	EXPECT_TRUE(solo_rx_push(&s, 127, 127));
	EXPECT_TRUE(solo_rx_pull(&s, 63, 63));
	take_ack(FALCON_PKT_EACK);
	EXPECT_EQ(s.pi.data_rx[1], 1ULL << 63);
	EXPECT_EQ(s.pi.req_bits[0], 1ULL << 63);
}

/*
 * spec: 9.2.2.4-4 9.2.2.4-6 11-12 an old packet is discarded, and triggers ACK
 * coalescing
 */
TEST(rx_old_packet_triggers_coalescing_9_2_2_4)
{
	solo_init(&s, true);
	solo_rx_pull(&s, 0, 0);
	take_ack(FALCON_PKT_BACK);
	EXPECT_EQ(s.c.ack_due_ns, FALCON_NO_TIMER);
	EXPECT_TRUE(!solo_rx_pull(&s, 0, 0));
	EXPECT_EQ(s.c.stats.rx_dup, 1);
	take_ack(FALCON_PKT_BACK);
}

/* spec: 9.2.2.4-4 the AR bit of a packet discarded is ignored */
TEST(rx_ar_of_discarded_is_ignored_9_2_2_4)
{
	struct falcon_rxpkt *rx;

	solo_init(&s, true);
	solo_rx_push_ar(&s, 0, 0);
	rx = solo_delivered(&s);
	EXPECT_EQ(solo_flush(&s), 0);
	solo_rx_push_ar(&s, 0, 0);		/* duplicate, received */
	EXPECT_EQ(solo_flush(&s), 0);
	ack_push(rx);
	EXPECT_EQ(solo_flush(&s), 1);
	solo_rx_push_ar(&s, 0, 0);		/* duplicate, old */
	EXPECT_EQ(solo_flush(&s), 0);
	solo_rx_push_ar(&s, 500, 500);		/* beyond */
	EXPECT_EQ(solo_flush(&s), 0);
	EXPECT_NE(s.c.ack_due_ns, FALCON_NO_TIMER);
}

/* spec: 9.2.2.4-3 a PSN acknowledged inside the window is a duplicate */
TEST(rx_acked_in_window_is_duplicate_9_2_2_4)
{
	solo_init(&s, true);
	EXPECT_TRUE(solo_rx_pull(&s, 2, 2));
	EXPECT_TRUE(!solo_rx_pull(&s, 2, 2));
	EXPECT_EQ(s.c.stats.rx_dup, 1);
}

/*
 * spec: 9.2.2.4-5 9.2.2.4-6 11-13 a duplicate received and not acknowledged is
 * dropped and ACKed
 */
TEST(rx_duplicate_received_draws_ack_11)
{
	solo_cfg(&s, true);
	s.cfg.features &= ~FALCON_F_EACK_ALWAYS;
	solo_start(&s);
	solo_rx_push(&s, 0, 0);
	solo_delivered(&s);
	take_ack(FALCON_PKT_BACK);
	solo_rx_push(&s, 0, 0);
	EXPECT_TRUE(!solo_delivered(&s));
	/* with what we have: the sender does not seem to know */
	take_ack(FALCON_PKT_EACK);
	EXPECT_EQ(s.pi.data_rx[0], 1);
}

/* spec: 11-14 a duplicate resync of push data received acknowledges its PSN */
TEST(rx_resync_of_received_acknowledges_psn_11)
{
	solo_init(&s, true);
	solo_rx_push(&s, 0, 0);
	solo_delivered(&s);
	EXPECT_EQ(s.c.rx[DATA].base, 0);
	solo_rx_resync(&s, FALCON_PKT_PUSH_DATA, 0, 0, FALCON_RESYNC_TIMEOUT);
	EXPECT_EQ(s.c.rx[DATA].base, 1);
	take_ack(FALCON_PKT_BACK);
	EXPECT_EQ(s.pi.rbpsn[DATA], 1);
}

/*
 * spec: 9.2.5-1 9.2.5-2 a resync sets its bit, moves the base and is
 * acknowledged
 */
TEST(rx_resync_fills_hole_9_2_5)
{
	solo_init(&s, false);
	solo_rx_pull_data(&s, 1, 77, 10);
	EXPECT_EQ(s.c.rx[DATA].base, 0);
	solo_rx_resync(&s, FALCON_PKT_PUSH_DATA, 0, 0, FALCON_RESYNC_CIE);
	EXPECT_EQ(s.c.rx[DATA].base, 2);
	EXPECT_EQ(s.c.stats.rx_resyncs, 1);
	take_ack(FALCON_PKT_BACK);
	EXPECT_EQ(s.pi.rbpsn[DATA], 2);
}

/* spec: 7.2-11 a resync moves the window of the packet type that it names */
TEST(rx_resync_goes_to_window_of_its_type_9_2_5)
{
	solo_init(&s, true);
	solo_rx_resync(&s, FALCON_PKT_PULL_REQ, 0, 0, FALCON_RESYNC_TIMEOUT);
	EXPECT_EQ(s.c.rx[REQ].base, 1);
	EXPECT_EQ(s.c.rx[DATA].base, 0);
	solo_rx_resync(&s, FALCON_PKT_PULL_DATA, 0, 0, FALCON_RESYNC_TIMEOUT);
	EXPECT_EQ(s.c.rx[DATA].base, 1);
}

/* spec: 11-14 a duplicate resync is a duplicate */
TEST(rx_duplicate_resync_draws_ack_11)
{
	solo_init(&s, true);
	solo_rx_resync(&s, FALCON_PKT_PUSH_DATA, 0, 0, FALCON_RESYNC_TIMEOUT);
	take_ack(FALCON_PKT_BACK);
	solo_rx_resync(&s, FALCON_PKT_PUSH_DATA, 0, 0, FALCON_RESYNC_TIMEOUT);
	EXPECT_EQ(s.c.stats.rx_dup, 1);
	take_ack(FALCON_PKT_BACK);
	EXPECT_EQ(s.pi.rbpsn[DATA], 1);
}

/*
 * spec: 9.1.1-16 9.1.6-1 9.1.6-5 without AR the coalescing timer is started,
 * if it is not yet
 */
TEST(ack_timer_started_once_9_1_6)
{
	u64 due;

	solo_init(&s, true);
	solo_rx_pull(&s, 0, 0);
	due = s.c.ack_due_ns;
	EXPECT_EQ(due, s.now + s.cfg.ack_coalesce_ns);
	s.now += 3 * US;
	solo_rx_pull(&s, 1, 1);
	EXPECT_EQ(s.c.ack_due_ns, due);
	EXPECT_EQ(falcon_core_next_timer(&s.c), due);
}

/* spec: 9.1.1-11 the timer starts when push data is received, and when acked */
TEST(ack_timer_started_by_push_9_1_1)
{
	struct falcon_rxpkt *rx;

	solo_init(&s, true);
	solo_rx_push(&s, 0, 0);
	rx = solo_delivered(&s);
	take_ack(FALCON_PKT_EACK);
	EXPECT_EQ(s.c.ack_due_ns, FALCON_NO_TIMER);
	ack_push(rx);
	EXPECT_EQ(s.c.ack_due_ns, s.now + s.cfg.ack_coalesce_ns);
}

/* spec: 9.1.1-12 9.1.6-2 with AR an ACK is sent at once, and the timer stops */
TEST(ack_at_once_with_ar_9_1_6)
{
	struct falcon_pkt_info pi;

	solo_init(&s, true);
	solo_rx_pull(&s, 0, 0);
	solo_base_pi(&s, FALCON_PKT_PULL_REQ, &pi);
	pi.psn = 1;
	pi.rsn = 1;
	pi.req_len = 10;
	pi.ar = true;
	solo_rx(&s, &pi);
	ASSERT_TRUE(solo_tx(&s));
	EXPECT_EQ(s.pi.type, FALCON_PKT_BACK);
	EXPECT_EQ(s.pi.rbpsn[REQ], 2);
	EXPECT_EQ(s.c.ack_due_ns, FALCON_NO_TIMER);
	solo_expect_quiet(&s);
}

/* spec: 9.1.6-2 AR of push data: when its ULP acknowledges it */
TEST(ack_with_ar_of_push_when_ulp_acks_9_1_6)
{
	struct falcon_rxpkt *rx;

	solo_init(&s, true);
	solo_rx_push_ar(&s, 0, 0);
	rx = solo_delivered(&s);
	solo_expect_quiet(&s);
	ack_push(rx);
	ASSERT_TRUE(solo_tx(&s));
	EXPECT_EQ(s.pi.type, FALCON_PKT_BACK);
	EXPECT_EQ(s.pi.rbpsn[DATA], 1);
}

/*
 * spec: 9-8 9.1.6+1 an ACK after ack_coalesce_pkts packets, whatever the timer
 * says
 */
TEST(ack_after_so_many_packets_9_1_6)
{
	u32 i;

	solo_init(&s, true);
	for (i = 0; i < 9; i++) {
		solo_rx_pull(&s, i, i);
		solo_expect_quiet(&s);
	}
	solo_rx_pull(&s, 9, 9);
	EXPECT_EQ(solo_flush(&s), 1);
	EXPECT_EQ(s.pi.rbpsn[REQ], 10);
	for (i = 10; i < 19; i++)
		solo_rx_pull(&s, i, i);
	solo_expect_quiet(&s);
}

/*
 * spec: 9.1.1-12 9.1.6-4 a packet that carries all there is to say stops the
 * timer
 */
TEST(piggyback_stops_timer_9_1_6)
{
	solo_init(&s, true);
	solo_rx_pull(&s, 0, 0);
	EXPECT_NE(s.c.ack_due_ns, FALCON_NO_TIMER);
	solo_push(&s, 1);
	solo_expect_tx(&s, FALCON_PKT_PUSH_DATA, 0);
	EXPECT_EQ(s.pi.rbpsn[REQ], 1);
	EXPECT_EQ(s.c.ack_due_ns, FALCON_NO_TIMER);
}

/* spec: 9.1.6-4 it does not while a request bit is set */
TEST(piggyback_keeps_timer_with_req_bits_9_1_6)
{
	solo_init(&s, true);
	solo_rx_pull(&s, 1, 1);
	solo_push(&s, 1);
	solo_expect_tx(&s, FALCON_PKT_PUSH_DATA, 0);
	EXPECT_NE(s.c.ack_due_ns, FALCON_NO_TIMER);
}

/* spec: 9.1.6-4 nor while a data Rx bit is set */
TEST(piggyback_keeps_timer_with_data_rx_bits_9_1_6)
{
	solo_init(&s, true);
	solo_rx_push(&s, 0, 0);
	solo_push(&s, 1);
	solo_expect_tx(&s, FALCON_PKT_PUSH_DATA, 0);
	EXPECT_NE(s.c.ack_due_ns, FALCON_NO_TIMER);
}

/* spec: 9.1.6-4 nor while an OWN bit is set */
TEST(piggyback_keeps_timer_with_own_9_1_6)
{
	solo_init(&s, true);
	solo_rx_push(&s, 128, 128);
	solo_push(&s, 1);
	solo_expect_tx(&s, FALCON_PKT_PUSH_DATA, 0);
	EXPECT_NE(s.c.ack_due_ns, FALCON_NO_TIMER);
	take_ack(FALCON_PKT_EACK);
	EXPECT_EQ(s.pi.own, FALCON_OWN_DATA);
}

/*
 * spec: 9.1.1-16 9.1.6-4 a packet that departs after the ACK is due does not
 * stand for it
 */
TEST(piggyback_on_the_wheel_keeps_timer_9_1_6)
{
	solo_init(&s, true);
	solo_push(&s, 1);
	solo_push(&s, 1);
	s.c.flow[0].fcwnd = 1 << (FALCON_FCWND_SHIFT - 1);
	s.c.flow[0].inter_packet_gap = 1000;	/* 131 us */
	solo_expect_tx(&s, FALCON_PKT_PUSH_DATA, 0);
	solo_back(&s, 0, 1);
	solo_rx_pull(&s, 0, 0);
	solo_expect_tx(&s, FALCON_PKT_PUSH_DATA, 1);
	EXPECT_GT(s.tx.depart_ns, s.c.ack_due_ns);
	take_ack(FALCON_PKT_BACK);
	EXPECT_EQ(s.pi.rbpsn[REQ], 1);
}

/* spec: 7.7.2-4 9.1.6-9 9.2.1-4 EACK if the request bitmap is not zero */
TEST(eack_for_request_bits_9_1_6)
{
	solo_init(&s, true);
	solo_rx_pull(&s, 1, 1);
	take_ack(FALCON_PKT_EACK);
	EXPECT_EQ(s.pi.req_bits[0], 2);
}

/* spec: 9.1.6-10 EACK if the data ACK bitmap is not zero */
TEST(eack_for_data_ack_bits_9_1_6)
{
	struct falcon_rxpkt *rx[2];

	solo_cfg(&s, true);
	s.cfg.features &= ~FALCON_F_EACK_ALWAYS;
	solo_start(&s);
	solo_rx_push(&s, 0, 0);
	solo_rx_push(&s, 1, 1);
	rx[0] = solo_delivered(&s);
	rx[1] = solo_delivered(&s);
	ack_push(rx[1]);
	take_ack(FALCON_PKT_EACK);
	EXPECT_EQ(s.pi.data_ack[0], 2);
	EXPECT_EQ(s.pi.data_rx[0], 3);
	ack_push(rx[0]);
}

/* spec: 9.1.6-11 EACK if PSNs are missing in the data Rx bitmap */
TEST(eack_for_missing_psns_9_1_6)
{
	solo_cfg(&s, true);
	s.cfg.features &= ~FALCON_F_EACK_ALWAYS;
	solo_start(&s);
	solo_rx_push(&s, 0, 0);
	take_ack(FALCON_PKT_BACK);
	solo_rx_push(&s, 2, 2);
	take_ack(FALCON_PKT_EACK);
	EXPECT_EQ(s.pi.data_rx[0], 5);
}

/* spec: 9.1.6-14 RACK-TLP: EACK whenever the data Rx bitmap is not zero */
TEST(eack_always_for_rack_9_1_6)
{
	solo_init(&s, true);
	solo_rx_push(&s, 0, 0);
	take_ack(FALCON_PKT_EACK);
	EXPECT_EQ(s.pi.data_rx[0], 1);
}

/*
 * spec: 7.7.1-4 7.7.1-5 9.1.6-7 10.1-3 an ACK echoes t1 and t2 of the most
 * recent packet
 */
TEST(ack_echoes_latest_timestamps_10_1)
{
	struct falcon_rx_meta meta = {
		.now_ns = 1000 * MS, .hops = 4, .flow = 0, .stamp_ok = true,
	};
	struct falcon_pkt_info pi;
	u32 i;

	solo_init(&s, true);
	for (i = 0; i < 3; i++) {
		solo_base_pi(&s, FALCON_PKT_PULL_REQ, &pi);
		pi.psn = i;
		pi.rsn = i;
		meta.t_tx = 1000 + i;
		meta.t_rx = 2000 + i;
		falcon_core_rx(&s.c, &pi, &meta, &s.rx[i]);
	}
	take_ack(FALCON_PKT_BACK);
	EXPECT_EQ(s.pi.echo_t1, 1002);
	EXPECT_EQ(s.pi.echo_t2, 2002);
	EXPECT_EQ(s.pi.hops, 4);
}

/*
 * spec: 7.7.1-8 9.1.6-8 an ACK has the cumulative, 14-bit count of ECN-marked
 * packets
 */
TEST(ack_counts_ecn_7_7_1)
{
	u32 i;

	solo_init(&s, true);
	s.ce = true;
	for (i = 0; i < 9; i++)
		solo_rx_pull(&s, i, i);
	s.ce = false;
	solo_rx_pull(&s, 9, 9);
	solo_tx(&s);
	EXPECT_EQ(s.pi.ecn, 9);
	s.c.ecn_count = 0x3fff;
	s.ce = true;
	solo_rx_pull(&s, 10, 10);
	take_ack(FALCON_PKT_BACK);
	EXPECT_EQ(s.pi.ecn, 0);
}

/*
 * spec: 7.7.1-7 9.1.6-8 10.2-4 an ACK carries the larger of the pools' and the
 * ULP's level
 */
TEST(ack_carries_rx_buffer_level_10_2)
{
	static struct falcon_resources res;

	solo_cfg(&s, true);
	falcon_res_init(&res);
	falcon_res_limit(&res, FALCON_POOL_RX_NET, 32, 0);
	falcon_core_init(&s.c, &s.cfg, &res, s.now);
	falcon_core_rx_level(&s.c, 3);
	solo_rx_pull(&s, 0, 0);
	take_ack(FALCON_PKT_BACK);
	EXPECT_EQ(s.pi.rx_level, 3);
	solo_rx_pull(&s, 1, 1);
	solo_rx_pull(&s, 2, 2);
	solo_rx_pull(&s, 3, 3);
	solo_rx_pull(&s, 4, 4);
	take_ack(FALCON_PKT_BACK);
	EXPECT_EQ(s.pi.rx_level, 5);
	falcon_core_rx_level(&s.c, 200);
	solo_rx_pull(&s, 5, 5);
	take_ack(FALCON_PKT_BACK);
	EXPECT_EQ(s.pi.rx_level, 31);
	falcon_core_abort(&s.c, FALCON_CMPL_DEAD_CONN);
}

/*
 * spec: 7.7.1-10 9.1.6-8 an ACK carries the metadata of the congestion control
 */
TEST(ack_carries_cc_metadata_10_6_2)
{
	solo_init(&s, true);
	s.c.cc_metadata = 0x2abcde;
	solo_rx_pull(&s, 0, 0);
	take_ack(FALCON_PKT_BACK);
	EXPECT_EQ(s.pi.cc_metadata, 0x2abcde);
}

/* spec: 10.1+1 an ACK goes back on the flow of the packet it echoes */
TEST(ack_goes_back_on_its_flow_10_1)
{
	solo_cfg(&s, true);
	s.cfg.nr_flows = 4;
	solo_start(&s);
	s.flow = 3;
	solo_rx_pull(&s, 0, 0);
	take_ack(FALCON_PKT_BACK);
	EXPECT_EQ(s.tx.flow, 3);
	s.flow = 7;			/* the peer has more flows than we */
	solo_rx_pull(&s, 1, 1);
	take_ack(FALCON_PKT_BACK);
	EXPECT_EQ(s.tx.flow, 0);
}

/*
 * spec: 7.8-2 7.8-3 7.8-8 9.1.7-1 9.1.7-2 9.1.7-3 9.1.7-4 10.1-2 a NACK has
 * bases, PSN, window, codes and time-stamps
 */
TEST(nack_has_all_its_fields_9_1_7)
{
	struct falcon_rxpkt *rx;

	solo_init(&s, true);
	solo_rx_pull(&s, 0, 0);
	solo_rx_push(&s, 0, 1);
	solo_delivered(&s);
	rx = solo_delivered(&s);
	falcon_core_target_nack(&s.c, rx, FALCON_NACK_CIE, 0x42, s.now);
	ASSERT_TRUE(solo_tx(&s));
	EXPECT_EQ(s.pi.type, FALCON_PKT_NACK);
	EXPECT_EQ(s.pi.rbpsn[REQ], 1);
	EXPECT_EQ(s.pi.rbpsn[DATA], 0);
	EXPECT_EQ(s.pi.nack_psn, 0);
	EXPECT_EQ(s.pi.nack_win, DATA);
	EXPECT_EQ(s.pi.nack_code, FALCON_NACK_CIE);
	EXPECT_EQ(s.pi.ulp_code, 0x42);
	EXPECT_EQ(s.pi.echo_t1, s.c.ack_t1);
	EXPECT_EQ(s.pi.echo_t2, s.c.ack_t2);
	EXPECT_EQ(s.pi.hops, 5);
	EXPECT_EQ(s.c.stats.tx_nacks, 1);
}

/* spec: 7.8-8 7.8-9 9.1.7-4 a NACK has stamps and congestion metadata of now */
TEST(nack_has_the_latest_of_everything_9_1_7)
{
	struct falcon_rx_meta meta = { .now_ns = 1000 * MS, .ecn_ce = true };
	struct falcon_pkt_info pi;
	u32 i;

	solo_init(&s, true);
	s.c.cc_metadata = 0xabcdef;
	falcon_core_rx_level(&s.c, 7);
	for (i = 0; i < 2; i++) {
		solo_base_pi(&s, i ? FALCON_PKT_PULL_REQ :
				     FALCON_PKT_PUSH_DATA, &pi);
		pi.rsn = i;
		meta.t_tx = 1000 + i;
		meta.t_rx = 2000 + i;
		meta.hops = 3 + i;
		falcon_core_rx(&s.c, &pi, &meta, &s.rx[i]);
	}
	falcon_core_target_nack(&s.c, solo_delivered(&s), FALCON_NACK_CIE, 1,
				s.now);
	ASSERT_TRUE(solo_tx(&s));
	ASSERT_EQ(s.pi.type, FALCON_PKT_NACK);
	EXPECT_EQ(s.pi.echo_t1, 1001);
	EXPECT_EQ(s.pi.echo_t2, 2001);
	EXPECT_EQ(s.pi.hops, 4);
	EXPECT_EQ(s.pi.ecn, 2);
	EXPECT_EQ(s.pi.rx_level, 7);
	EXPECT_EQ(s.pi.cc_metadata, 0xabcdef);
}

/* spec: 9.1.6+1 what the NACK queue cannot hold is lost as on the wire */
TEST(nack_queue_is_bounded_9_1_7)
{
	u32 i, n = 0;

	solo_init(&s, true);
	for (i = 0; i < 20; i++)
		solo_rx_push(&s, i, i);
	for (i = 0; i < 20; i++)
		falcon_core_target_nack(&s.c, solo_delivered(&s),
					FALCON_NACK_CIE, i, s.now);
	while (solo_tx(&s) && s.pi.type == FALCON_PKT_NACK) {
		EXPECT_EQ(s.pi.nack_psn, n);
		EXPECT_EQ(s.pi.ulp_code, n);
		n++;
	}
	EXPECT_EQ(n, FALCON_NACK_QUEUE);
	/* a duplicate brings a lost one back */
	solo_flush(&s);
	solo_rx_push(&s, 15, 15);
	ASSERT_TRUE(solo_tx(&s));
	EXPECT_EQ(s.pi.nack_psn, 15);
	EXPECT_EQ(s.pi.ulp_code, 15);
}

/* spec: 7.2-5 a packet of another protocol type is no packet of ours */
TEST(rx_wrong_protocol_is_dropped_7_2)
{
	struct falcon_pkt_info pi;

	solo_init(&s, true);
	solo_base_pi(&s, FALCON_PKT_PUSH_DATA, &pi);
	pi.proto = FALCON_PROTO_RDMA;
	EXPECT_TRUE(!solo_rx(&s, &pi));
	EXPECT_EQ(s.c.stats.rx_bad_pkt, 1);
	EXPECT_EQ(s.c.rx[DATA].nr_rx, 0);
	EXPECT_EQ(s.c.ack_due_ns, FALCON_NO_TIMER);
}

/* spec: 8.1+1 payloads and requests of more than an MTU are refused */
TEST(rx_oversize_is_dropped_8_1)
{
	struct falcon_pkt_info pi;

	solo_init(&s, true);
	solo_base_pi(&s, FALCON_PKT_PULL_REQ, &pi);
	pi.req_len = SOLO_MTU + 1;
	EXPECT_TRUE(!solo_rx(&s, &pi));
	solo_base_pi(&s, FALCON_PKT_PUSH_DATA, &pi);
	pi.len = SOLO_MTU + 1;
	EXPECT_TRUE(!solo_rx(&s, &pi));
	EXPECT_EQ(s.c.stats.rx_bad_pkt, 2);
	EXPECT_EQ(s.c.rx[REQ].base, 0);
}

/*
 * spec: 9+1 7.7.2+1 receiver windows four times as wide work, if agreed, and
 * the EACK shows them whole
 */
TEST(rx_wide_window_9)
{
	u32 i;

	solo_cfg(&s, true);
	s.cfg.win_shift = 2;
	s.cfg.rx_win[DATA] = 512;
	s.cfg.rx_win[REQ] = 256;
	solo_start(&s);
	EXPECT_TRUE(solo_rx_push(&s, 511, 511));
	EXPECT_TRUE(!solo_rx_push(&s, 512, 512));
	EXPECT_TRUE(solo_rx_pull(&s, 255, 700));
	EXPECT_TRUE(!solo_rx_pull(&s, 256, 701));
	take_ack(FALCON_PKT_EACK);
	EXPECT_EQ(s.pi.hdr_len, 192);
	EXPECT_EQ(s.pi.data_rx[7], 1ULL << 63);
	EXPECT_EQ(s.pi.req_bits[3], 1ULL << 63);
	EXPECT_EQ(s.pi.own, FALCON_OWN_REQUEST | FALCON_OWN_DATA);
	for (i = 0; i < 511; i++)
		EXPECT_TRUE(solo_rx_push(&s, i, i));
	solo_flush(&s);
	for (i = 0; i < 512; i++)
		ack_push(solo_delivered(&s));
	EXPECT_EQ(s.c.rx[DATA].base, 512);
}

/* spec: 9+1 without the agreement a window has the size of section 9 at most */
TEST(rx_wide_window_needs_agreement_9)
{
	solo_cfg(&s, true);
	s.cfg.rx_win[DATA] = 512;
	s.cfg.rx_win[REQ] = 256;
	solo_start(&s);
	EXPECT_TRUE(solo_rx_push(&s, 127, 127));
	EXPECT_TRUE(!solo_rx_push(&s, 128, 128));
	EXPECT_TRUE(!solo_rx_pull(&s, 64, 64));
}

/*
 * spec: 6.1.2-4 7.7.2-2 7.7.2-3 9-8 9.2.1-5 9.2.1-6 an EACK is a snapshot of
 * what is received, and of what is acknowledged, when it is sent
 */
TEST(eack_shows_both_states_7_7_2)
{
	struct falcon_rxpkt *rx[4];
	u32 i;

	solo_init(&s, false);
	for (i = 1; i < 4; i++) {
		solo_rx_push(&s, i, i);
		rx[i] = solo_delivered(&s);
	}
	ack_push(rx[2]);
	solo_rx_pull_data(&s, 70, 5, 1);	/* acknowledged on receipt */
	take_ack(FALCON_PKT_EACK);
	EXPECT_EQ(s.pi.rbpsn[DATA], 0);
	EXPECT_EQ(s.pi.data_rx[0], 0xe);
	EXPECT_EQ(s.pi.data_ack[0], 0x4);
	EXPECT_EQ(s.pi.data_rx[1], 1ULL << 6);
	EXPECT_EQ(s.pi.data_ack[1], 1ULL << 6);
	/* the next one shows what has changed since */
	solo_rx_push(&s, 0, 0);
	ack_push(solo_delivered(&s));
	ack_push(rx[1]);
	take_ack_now(FALCON_PKT_EACK);
	EXPECT_EQ(s.pi.rbpsn[DATA], 3);
	EXPECT_EQ(s.pi.data_rx[0], 1);
	EXPECT_EQ(s.pi.data_ack[0], 0);
}

/* spec: 7.7.1-3 9.1.6-6 an ACK has the bases as they are when it leaves */
TEST(ack_has_latest_bases_9_1_6)
{
	solo_init(&s, true);
	solo_rx_pull(&s, 0, 0);
	solo_wait(&s, s.cfg.ack_coalesce_ns);	/* due, and not taken yet */
	solo_rx_pull(&s, 1, 1);
	solo_rx_push(&s, 0, 2);
	solo_delivered(&s);
	solo_delivered(&s);
	ack_push(solo_delivered(&s));
	ASSERT_TRUE(solo_tx(&s));
	EXPECT_EQ(s.pi.type, FALCON_PKT_BACK);
	EXPECT_EQ(s.pi.rbpsn[REQ], 2);
	EXPECT_EQ(s.pi.rbpsn[DATA], 1);
}

/* spec: 7.7.1-6 an ACK has the hop count of the packet received last */
TEST(ack_carries_hops_7_7_1)
{
	struct falcon_rx_meta meta = { .now_ns = 1000 * MS, .hops = 3 };
	struct falcon_pkt_info pi;

	solo_init(&s, true);
	solo_base_pi(&s, FALCON_PKT_PULL_REQ, &pi);
	falcon_core_rx(&s.c, &pi, &meta, &s.rx[0]);
	pi.psn = 1;
	pi.rsn = 1;
	meta.hops = 11;
	falcon_core_rx(&s.c, &pi, &meta, &s.rx[1]);
	take_ack(FALCON_PKT_BACK);
	EXPECT_EQ(s.pi.hops, 11);
}

/*
 * spec: 9.1.6+2 a packet that comes after a later one of its flow is told of at
 * once, in either window
 */
TEST(late_packet_is_told_at_once_9_1_6)
{
	solo_init(&s, true);
	solo_rx_push(&s, 3, 3);
	solo_rx_pull(&s, 1, 5);
	EXPECT_TRUE(!solo_tx(&s));
	solo_rx_push(&s, 1, 1);			/* held, behind RSN 0 */
	take_ack_now(FALCON_PKT_EACK);
	EXPECT_EQ(s.pi.data_rx[0], 0xa);
	solo_rx_pull(&s, 0, 4);
	take_ack_now(FALCON_PKT_EACK);
	EXPECT_EQ(s.pi.rbpsn[REQ], 2);
}

/* spec: 9.1.6+2 push data that its ULP has, when that acknowledges it */
TEST(late_push_is_told_when_it_is_acknowledged_9_1_6)
{
	solo_init(&s, true);
	solo_rx_push(&s, 1, 1);
	solo_rx_push(&s, 0, 0);
	EXPECT_TRUE(!solo_tx(&s));
	ack_push(solo_delivered(&s));
	take_ack_now(FALCON_PKT_EACK);
	EXPECT_EQ(s.pi.rbpsn[DATA], 1);
}

/* spec: 9.1.6+2 PSNs wrap, and so do the low bits that a flow remembers */
TEST(late_packet_across_the_wrap_9_1_6)
{
	solo_cfg(&s, true);
	s.cfg.rx_psn[DATA] = 0xfffffffe;
	solo_start(&s);
	solo_rx_push(&s, 2, 4);
	EXPECT_TRUE(!solo_tx(&s));
	solo_rx_push(&s, 0xffffffff, 1);
	EXPECT_TRUE(solo_tx(&s));
	solo_rx_push(&s, 0, 2);
	EXPECT_TRUE(solo_tx(&s));
	solo_rx_push(&s, 3, 5);
	EXPECT_TRUE(!solo_tx(&s));
}

/* spec: 9.1.6+2 flows overtake each other: no packet is late for that */
TEST(flows_that_overtake_each_other_are_not_late_9_1_6)
{
	u32 i;

	solo_cfg(&s, true);
	s.cfg.nr_flows = 2;
	solo_start(&s);
	for (i = 0; i < 4; i++) {
		s.flow = i < 2;
		solo_rx_pull(&s, i ^ 2, i ^ 2);
	}
	EXPECT_TRUE(!solo_tx(&s));
}

/* spec: 9.1.6+2 a duplicate is not late, nor is any packet without RACK */
TEST(late_packets_of_a_peer_without_rack_9_1_6)
{
	solo_cfg(&s, true);
	s.cfg.features &= ~FALCON_F_EACK_ALWAYS;
	solo_start(&s);
	solo_rx_pull(&s, 1, 1);
	solo_rx_pull(&s, 0, 0);
	EXPECT_TRUE(!solo_tx(&s));

	solo_init(&s, true);
	solo_rx_pull(&s, 0, 0);
	solo_rx_pull(&s, 1, 1);
	solo_rx_pull(&s, 0, 0);
	EXPECT_TRUE(!solo_tx(&s));
}

/*
 * spec: 10.6+6 what switches wrote on a packet goes back in the RUE's field; a
 * packet on which nothing is written changes nothing
 */
TEST(ack_carries_csig)
{
	struct falcon_rx_meta meta = { .now_ns = 1000 * MS, .csig = 0x212345 };
	struct falcon_pkt_info pi;
	u32 i;

	solo_init(&s, true);
	s.c.cc_metadata = 0x7777;
	solo_base_pi(&s, FALCON_PKT_PULL_REQ, &pi);
	for (i = 0; i < 2; i++) {
		pi.psn = i;
		pi.rsn = i;
		falcon_core_rx(&s.c, &pi, &meta, &s.rx[i]);
		meta.csig = 0;
	}
	take_ack(FALCON_PKT_BACK);
	EXPECT_EQ(s.pi.cc_metadata, 0x212345);
}

/* spec: 7.8-10 a packet beyond the window draws OWN in an EACK, and no NACK */
TEST(beyond_the_window_draws_own_not_nack_7_8)
{
	solo_init(&s, true);
	solo_rx_push(&s, 128, 128);
	solo_rx_pull(&s, 64, 64);
	EXPECT_EQ(s.c.nr_nacks, 0);
	take_ack(FALCON_PKT_EACK);
	EXPECT_EQ(s.pi.own, FALCON_OWN_REQUEST | FALCON_OWN_DATA);
	solo_expect_quiet(&s);
}

/*
 * spec: 9.1.6-12 9.2.1-7 9.2.2.4-2 R-OWN alone makes the ACK an EACK, which
 * resets it
 */
TEST(eack_for_request_own_9_1_6)
{
	solo_init(&s, true);
	solo_rx_pull(&s, 64, 64);
	EXPECT_TRUE(s.c.rx[REQ].own);
	EXPECT_FALSE(s.c.rx[DATA].own);
	take_ack(FALCON_PKT_EACK);
	EXPECT_EQ(s.pi.own, FALCON_OWN_REQUEST);
	EXPECT_FALSE(s.c.rx[REQ].own);
}

/*
 * spec: 9-7 9.1.6-13 a BACK when no bitmap has a bit, and when, without RACK,
 * the data Rx bitmap has no hole
 */
TEST(back_when_bitmaps_say_nothing_9_1_6)
{
	solo_cfg(&s, true);
	s.cfg.features &= ~FALCON_F_EACK_ALWAYS;
	solo_start(&s);
	solo_rx_pull(&s, 0, 0);
	take_ack(FALCON_PKT_BACK);
	solo_rx_push(&s, 0, 1);
	solo_rx_push(&s, 1, 2);
	take_ack(FALCON_PKT_BACK);
	EXPECT_EQ(s.c.stats.tx_eacks, 0);
}

/* spec: 9-6 the receiver's windows are 64 requests and 128 data */
TEST(receiver_windows_are_64_and_128_9)
{
	EXPECT_EQ(FALCON_RX_WIN_REQ, 64);
	EXPECT_EQ(FALCON_RX_WIN_DATA, 128);
}

/* A push in flight, and a packet of the peer whose base acknowledges it */
static void acknowledging(u8 type, u32 psn, u32 rsn, struct falcon_pkt_info *pi)
{
	solo_base_pi(&s, type, pi);
	pi->rbpsn[DATA] = s.c.tx[DATA].next;
	pi->psn = psn;
	pi->rsn = rsn;
	pi->len = 100;
	pi->req_len = 100;
}

static void push_in_flight(void)
{
	solo_push(&s, 1);
	while (solo_tx(&s))
		;
}

/* spec: 11-11 the base on a packet that is none of ours acknowledges nothing */
TEST(rx_violation_acknowledges_nothing_11)
{
	struct falcon_pkt_info pi;

	solo_init(&s, true);
	push_in_flight();
	acknowledging(FALCON_PKT_PUSH_DATA, 0, 0, &pi);
	pi.proto = FALCON_PROTO_RDMA;
	EXPECT_TRUE(!solo_rx(&s, &pi));
	EXPECT_EQ(s.c.tx[DATA].base, 0);
	acknowledging(FALCON_PKT_PUSH_DATA, 0, 0, &pi);
	pi.len = SOLO_MTU + 1;
	pi.req_len = SOLO_MTU + 1;
	EXPECT_TRUE(!solo_rx(&s, &pi));
	EXPECT_EQ(s.c.tx[DATA].base, 0);
	EXPECT_TRUE(!solo_completed(&s));
	EXPECT_EQ(s.c.stats.rx_bad_pkt, 2);
}

/* spec: 11-12 11-13 the base on a duplicate acknowledges */
TEST(rx_duplicate_acknowledges_11)
{
	struct falcon_pkt_info pi;
	struct falcon_rxpkt *rx;

	solo_init(&s, true);
	solo_rx_push(&s, 0, 0);
	rx = solo_delivered(&s);
	push_in_flight();
	acknowledging(FALCON_PKT_PUSH_DATA, 0, 0, &pi);	/* received */
	EXPECT_TRUE(!solo_rx(&s, &pi));
	EXPECT_EQ(s.c.tx[DATA].base, 1);
	ack_push(rx);
	push_in_flight();
	acknowledging(FALCON_PKT_PUSH_DATA, 0, 0, &pi);	/* acknowledged */
	EXPECT_TRUE(!solo_rx(&s, &pi));
	EXPECT_EQ(s.c.tx[DATA].base, 2);
	EXPECT_EQ(s.c.stats.rx_dup, 2);
}

/* spec: 11-15 the base on a packet that finds no resources acknowledges */
TEST(rx_refused_acknowledges_11)
{
	static struct falcon_resources res;
	struct falcon_pkt_info pi;

	solo_cfg(&s, true);
	falcon_res_init(&res);
	falcon_res_limit(&res, FALCON_POOL_RX_NET, 1, 0);
	falcon_core_init(&s.c, &s.cfg, &res, s.now);
	solo_rx_push(&s, 0, 0);
	push_in_flight();
	acknowledging(FALCON_PKT_PUSH_DATA, 1, 1, &pi);
	EXPECT_TRUE(!solo_rx(&s, &pi));
	EXPECT_EQ(s.c.stats.rx_no_resource, 1);
	EXPECT_EQ(s.c.tx[DATA].base, 1);
	ASSERT_TRUE(solo_tx(&s));
	EXPECT_EQ(s.pi.type, FALCON_PKT_NACK);
	falcon_core_abort(&s.c, FALCON_CMPL_DEAD_CONN);
}

/* spec: 11-16 so does the base on one that an xLR drop filter matches */
TEST(rx_filtered_acknowledges_11)
{
	struct falcon_pkt_info pi;

	solo_init(&s, true);
	push_in_flight();
	EXPECT_EQ(falcon_core_xlr(&s.c, FALCON_XLR_TARGET), 0);
	acknowledging(FALCON_PKT_PUSH_DATA, 0, 0, &pi);
	EXPECT_TRUE(!solo_rx(&s, &pi));
	EXPECT_EQ(s.c.tx[DATA].base, 1);
	ASSERT_TRUE(solo_tx(&s));
	EXPECT_EQ(s.pi.type, FALCON_PKT_NACK);
	EXPECT_EQ(s.pi.nack_code, FALCON_NACK_XLR);
}
