// SPDX-License-Identifier: GPL-2.0
/* Transmitter: PSNs, gates, order, scheduling, AR bit: 8.3, 9.1 */
#include "solo.h"

static struct solo s;

/*
 * spec: 6.1.2-2 7.2-10 9-1 9.1.1-4 9.1.1-5 9.1.3-1 9.1.3-4 a packet gets
 * NextPSN of its window when it is transmitted
 */
TEST(tx_psn_is_given_at_transmission_9_1_3)
{
	solo_init(&s, true);
	solo_push(&s, 100);
	solo_pull(&s, 500);
	solo_push(&s, 200);
	EXPECT_EQ(s.c.tx[DATA].next, 0);
	solo_expect_tx(&s, FALCON_PKT_PUSH_DATA, 0);
	EXPECT_EQ(s.pi.rsn, 0);
	EXPECT_EQ(s.pi.req_len, 100);
	EXPECT_EQ(s.pi.fn, s.cfg.peer_fn);
	EXPECT_EQ(s.pi.proto, s.cfg.proto);
	EXPECT_TRUE(s.tx.payload == &s.txn[0]);
	solo_expect_tx(&s, FALCON_PKT_PULL_REQ, 0);
	EXPECT_EQ(s.pi.rsn, 1);
	EXPECT_EQ(s.pi.req_len, 500);
	EXPECT_EQ(s.tx.len, 8);
	solo_expect_tx(&s, FALCON_PKT_PUSH_DATA, 1);
	EXPECT_EQ(s.pi.rsn, 2);
	solo_expect_quiet(&s);
	EXPECT_EQ(s.c.stats.tx_pkts, 3);
	EXPECT_EQ(s.c.stats.tx_bytes, 308);
}

/* spec: 6.1.2-2 9.1.1-5 PSN and RSN wrap at 2^32 */
TEST(tx_psn_and_rsn_wrap_9_1_1)
{
	u32 i;

	solo_cfg(&s, true);
	s.cfg.tx_psn[DATA] = 0xfffffffe;
	s.cfg.tx_rsn = 0xffffffff;
	solo_start(&s);
	for (i = 0; i < 4; i++)
		solo_push(&s, 1);
	for (i = 0; i < 4; i++) {
		solo_expect_tx(&s, FALCON_PKT_PUSH_DATA, 0xfffffffe + i);
		EXPECT_EQ(s.pi.rsn, 0xffffffff + i);
	}
	solo_back(&s, 0, 1);
	EXPECT_EQ(s.c.tx[DATA].base, 1);
	for (i = 0; i < 3; i++)
		EXPECT_TRUE(solo_completed(&s) == &s.txn[i]);
	EXPECT_TRUE(!solo_completed(&s));
}

/*
 * spec: 8.4.3.1-3 9.1.2-1 9.1.3-2 first transmission of a pull request: PSN <
 * RBPSN + fcwnd
 */
TEST(gate_pull_request_fcwnd_9_1_2)
{
	u32 i;

	solo_init(&s, true);
	solo_window(&s, 3, 100);
	for (i = 0; i < 5; i++)
		solo_pull(&s, 10);
	EXPECT_EQ(solo_flush(&s), 3);
	solo_back(&s, 1, 0);
	EXPECT_EQ(solo_flush(&s), 1);
	solo_back(&s, 4, 0);
	EXPECT_EQ(solo_flush(&s), 1);
}

/* spec: 9.1.1-7 9.1.2-1 first transmission of a pull request: RORC < ncwnd */
TEST(gate_pull_request_ncwnd_9_1_2)
{
	u32 i;

	solo_init(&s, true);
	solo_window(&s, 100, 2);
	for (i = 0; i < 5; i++)
		solo_pull(&s, 10);
	EXPECT_EQ(solo_flush(&s), 2);
	EXPECT_EQ(s.c.tx[REQ].orc, 2);
	/* RORC counts: an acknowledgement beyond the base opens it too */
	solo_eack(&s, 0, 0, 0x2, 0, 0, 0);
	EXPECT_EQ(s.c.tx[REQ].orc, 1);
	EXPECT_EQ(solo_flush(&s), 1);
}

/* spec: 8.4.3.3-2 9.1.2-3 push data: PSN < DBPSN + fcwnd and DORC < ncwnd */
TEST(gate_push_data_9_1_2)
{
	u32 i;

	solo_init(&s, true);
	solo_window(&s, 4, 2);
	for (i = 0; i < 9; i++)
		solo_push(&s, 10);
	EXPECT_EQ(solo_flush(&s), 2);
	EXPECT_EQ(s.c.tx[DATA].orc, 2);
	s.c.ncwnd = 100;
	EXPECT_EQ(solo_flush(&s), 2);
	solo_back(&s, 0, 3);
	EXPECT_EQ(solo_flush(&s), 3);
}

/*
 * spec: 9.1.2+5 if fcwnd is of packets in flight, what the peer has makes room
 * behind a lost packet; that one always leaves
 */
TEST(gate_of_packets_in_flight_9_1_2)
{
	u32 i;

	solo_cfg(&s, true);
	s.cfg.gate_flight = true;
	s.cfg.loss = FALCON_LOSS_RACK;
	solo_start(&s);
	solo_window(&s, 4, 100);
	for (i = 0; i < 20; i++)
		solo_push(&s, 10);
	EXPECT_EQ(solo_flush(&s), 4);
	solo_eack(&s, 0, 0, 0, 0, 0xe, 0);	/* 0 is missing */
	EXPECT_EQ(solo_flush(&s), 3);
	EXPECT_EQ(s.c.tx[DATA].next, 7);
	solo_wait(&s, 1 * MS);			/* 0 times out: it goes first */
	solo_expect_tx(&s, FALCON_PKT_PUSH_DATA, 0);
	solo_back(&s, 0, 7);
	EXPECT_EQ(solo_flush(&s), 4);
}

/*
 * spec: 6.1.2-1 9.1.1-7 ncwnd is counted by window: RORC and DORC are two
 * counters
 */
TEST(gate_ncwnd_is_per_window_9_1_2)
{
	solo_init(&s, true);
	solo_window(&s, 100, 1);
	solo_push(&s, 10);
	solo_pull(&s, 10);
	solo_pull(&s, 10);
	EXPECT_EQ(solo_flush(&s), 2);
	EXPECT_EQ(s.c.tx[REQ].orc, 1);
	EXPECT_EQ(s.c.tx[DATA].orc, 1);
}

static void respond_to_pulls(u32 n)
{
	u32 i;

	for (i = 0; i < n; i++) {
		solo_rx_pull(&s, i, i);
		solo_respond(&s, solo_delivered(&s), 1000);
	}
	while (s.c.ack_now)
		solo_tx(&s);
}

/* spec: 9.1.1-8 9.1.2-2 pull data: PSN < DBPSN + fcwnd only, not ncwnd */
TEST(gate_pull_data_ignores_ncwnd_9_1_2)
{
	solo_init(&s, true);
	solo_window(&s, 3, 1);
	respond_to_pulls(5);
	EXPECT_EQ(solo_flush(&s), 3);
	EXPECT_EQ(s.c.tx[DATA].orc, 0);
}

/*
 * spec: 9.1.2-4 9.1.2-6 9.1.5-2 a retransmission: PSN < base + fcwnd, with
 * fcwnd of now
 */
TEST(gate_retransmission_fcwnd_9_1_2)
{
	u32 i;

	solo_init(&s, true);
	for (i = 0; i < 6; i++)
		solo_push(&s, 10);
	EXPECT_EQ(solo_flush(&s), 6);
	solo_window(&s, 2, 100);
	solo_wait(&s, 1 * MS);
	solo_expect_tx(&s, FALCON_PKT_PUSH_DATA, 0);
	solo_expect_tx(&s, FALCON_PKT_PUSH_DATA, 1);
	solo_expect_quiet(&s);
	solo_back(&s, 0, 1);
	solo_expect_tx(&s, FALCON_PKT_PUSH_DATA, 2);
	solo_expect_quiet(&s);
}

/* spec: 9.1.2-6 9.1.2-7 a retransmitted request: RORRC / DORRC < ncwnd */
TEST(gate_retransmission_orrc_9_1_2)
{
	u32 i;

	solo_init(&s, true);
	for (i = 0; i < 4; i++)
		solo_push(&s, 10);
	solo_flush(&s);
	EXPECT_EQ(s.c.tx[DATA].orrc, 0);
	solo_window(&s, 100, 2);
	solo_wait(&s, 1 * MS);
	EXPECT_EQ(solo_flush(&s), 2);
	EXPECT_EQ(s.c.tx[DATA].orrc, 2);
	/* acknowledged: decremented */
	solo_back(&s, 0, 1);
	EXPECT_EQ(s.c.tx[DATA].orrc, 1);
	EXPECT_EQ(solo_flush(&s), 1);
	EXPECT_EQ(s.c.tx[DATA].orrc, 2);
}

/*
 * spec: 9.1.2+6 what the peer holds for its turn counts in DORRC; the packet
 * that it waits for passes all the same
 */
TEST(gate_retransmission_of_the_base_9_1_2)
{
	u32 i;

	solo_init(&s, true);
	for (i = 0; i < 4; i++)
		solo_push(&s, 10);
	solo_flush(&s);
	solo_wait(&s, 1 * MS);
	EXPECT_EQ(solo_flush(&s), 4);
	solo_eack(&s, 0, 0, 0, 0, 0xe, 0);
	EXPECT_EQ(s.c.tx[DATA].orrc, 4);
	solo_window(&s, 100, 1);
	ASSERT_TRUE(solo_timer(&s));
	EXPECT_EQ(s.c.tx[DATA].orrc, 3);
	solo_expect_tx(&s, FALCON_PKT_PUSH_DATA, 0);
}

/* spec: 9.1.2-9 ORRC: eligible for retransmission again decrements it */
TEST(orrc_drops_when_eligible_again_9_1_2)
{
	solo_init(&s, true);
	solo_push(&s, 10);
	solo_flush(&s);
	solo_wait(&s, 1 * MS);
	EXPECT_EQ(s.c.tx[DATA].orrc, 0);
	EXPECT_EQ(solo_flush(&s), 1);
	EXPECT_EQ(s.c.tx[DATA].orrc, 1);
	solo_wait(&s, 2 * MS);
	EXPECT_EQ(s.c.tx[DATA].orrc, 0);
	EXPECT_EQ(solo_flush(&s), 1);
	EXPECT_EQ(s.c.tx[DATA].orrc, 1);
	EXPECT_EQ(s.c.tx[DATA].orc, 1);
}

/* spec: 9.1.2-7 retransmitted pull data is not counted in DORRC */
TEST(orrc_counts_requests_only_9_1_2)
{
	solo_init(&s, true);
	respond_to_pulls(3);
	solo_flush(&s);
	s.c.ncwnd = 1;
	solo_wait(&s, 1 * MS);
	EXPECT_EQ(solo_flush(&s), 3);
	EXPECT_EQ(s.c.tx[DATA].orrc, 0);
}

/* spec: 6.1.2-7 9-10 the transmit window bounds what is outstanding */
TEST(tx_window_bounds_outstanding_9_1)
{
	u32 i;

	solo_cfg(&s, true);
	s.cfg.tx_win[DATA] = 5;
	solo_start(&s);
	for (i = 0; i < 9; i++)
		solo_push(&s, 10);
	EXPECT_EQ(solo_flush(&s), 5);
}

/* spec: 10.3.5-1 10.3.5-2 fcwnd counts in whole packets, one at least */
TEST(fcwnd_is_rounded_down_to_one_10_3_5)
{
	u32 i;

	solo_init(&s, true);
	for (i = 0; i < 9; i++)
		solo_push(&s, 10);
	s.c.flow[0].fcwnd = 10;		/* 0.01 */
	EXPECT_EQ(solo_flush(&s), 1);
	s.c.flow[0].fcwnd = (2 << FALCON_FCWND_SHIFT) + 1023;
	EXPECT_EQ(solo_flush(&s), 1);
	EXPECT_EQ(s.c.tx[DATA].next, 2);
}

/* spec: 10.3.5-2 below one, packets depart inter_packet_gap apart */
TEST(pacing_by_inter_packet_gap_10_3_5)
{
	u64 gap = 1000 * 131072 / 1000;

	solo_init(&s, true);
	solo_push(&s, 10);
	solo_push(&s, 10);
	solo_push(&s, 10);
	s.c.flow[0].fcwnd = 512;
	s.c.flow[0].inter_packet_gap = 1000;
	solo_expect_tx(&s, FALCON_PKT_PUSH_DATA, 0);
	EXPECT_EQ(s.tx.depart_ns, 0);
	solo_back(&s, 0, 1);
	solo_expect_tx(&s, FALCON_PKT_PUSH_DATA, 1);
	EXPECT_EQ(s.tx.depart_ns, s.now + gap);
	/* its time-out runs from its departure */
	solo_wait(&s, 1 * MS + gap - 1);
	solo_expect_quiet(&s);
	solo_wait(&s, 1);
	solo_expect_tx(&s, FALCON_PKT_PUSH_DATA, 1);
	solo_back(&s, 0, 2);
	s.now += 2 * gap;
	solo_expect_tx(&s, FALCON_PKT_PUSH_DATA, 2);
	EXPECT_EQ(s.tx.depart_ns, 0);
}

/*
 * spec: 10.3.4-5 10.6.2.1-4 at one packet and more the timing wheel is
 * bypassed
 */
TEST(no_pacing_once_the_window_recovers_10_6_2_1)
{
	solo_init(&s, true);
	solo_push(&s, 10);
	solo_push(&s, 10);
	s.c.flow[0].fcwnd = 512;
	s.c.flow[0].inter_packet_gap = 1000000;
	solo_expect_tx(&s, FALCON_PKT_PUSH_DATA, 0);
	solo_back(&s, 0, 1);
	s.c.flow[0].fcwnd = 1024;		/* with the gap of before */
	solo_expect_tx(&s, FALCON_PKT_PUSH_DATA, 1);
	EXPECT_EQ(s.tx.depart_ns, 0);
}

/* A connection with a rate: packets depart their length apart */
TEST(rate_is_kept_by_departure_times)
{
	u32 i;

	solo_init(&s, true);
	falcon_core_set_rate(&s.c, 1000000);
	for (i = 0; i < 9; i++)
		solo_push(&s, 1000);
	for (i = 0; i < 9; i++) {
		solo_expect_tx(&s, FALCON_PKT_PUSH_DATA, i);
		EXPECT_EQ(s.tx.depart_ns, i ? s.now + i * MS : 0);
	}
	/* no rate any more */
	falcon_core_set_rate(&s.c, 0);
	solo_push(&s, 1000);
	s.now += 9 * MS;
	solo_expect_tx(&s, FALCON_PKT_PUSH_DATA, 9);
	EXPECT_EQ(s.tx.depart_ns, 0);
}

/* What departs later than in 20 ms is not formed yet, and a timer says when */
TEST(rate_forms_packets_at_the_last_moment)
{
	u64 start;

	solo_init(&s, true);
	start = s.now;
	falcon_core_set_rate(&s.c, 20000);	/* 50 ms apart */
	solo_push(&s, 1000);
	solo_push(&s, 1000);
	solo_expect_tx(&s, FALCON_PKT_PUSH_DATA, 0);
	solo_expect_quiet(&s);
	EXPECT_EQ(s.c.pace_due_ns, start + 30 * MS);
	solo_back(&s, 0, 1);
	EXPECT_TRUE(falcon_core_next_timer(&s.c) <= start + 30 * MS);
	s.now = start + 30 * MS;
	solo_expect_tx(&s, FALCON_PKT_PUSH_DATA, 1);
	EXPECT_EQ(s.tx.depart_ns, start + 50 * MS);
}

/* A timer that is late makes no rate slower; silence saves nothing up */
TEST(rate_makes_up_lateness_not_silence)
{
	u64 start;
	u32 i;

	solo_init(&s, true);
	start = s.now;
	falcon_core_set_rate(&s.c, 100000);	/* 10 ms apart */
	for (i = 0; i < 8; i++)
		solo_push(&s, 1000);
	for (i = 0; i < 3; i++)
		solo_expect_tx(&s, FALCON_PKT_PUSH_DATA, i);
	solo_expect_quiet(&s);
	solo_back(&s, 0, 3);
	s.now = start + 55 * MS;
	for (i = 3; i < 6; i++) {
		solo_expect_tx(&s, FALCON_PKT_PUSH_DATA, i);
		EXPECT_EQ(s.tx.depart_ns, 0);
	}
	solo_expect_tx(&s, FALCON_PKT_PUSH_DATA, 6);
	EXPECT_EQ(s.tx.depart_ns, start + 60 * MS);
	solo_expect_tx(&s, FALCON_PKT_PUSH_DATA, 7);
	solo_expect_quiet(&s);
	solo_back(&s, 0, 8);
	s.now += 500 * MS;
	solo_expect_quiet(&s);
	start = s.now;
	solo_push(&s, 1000);
	solo_push(&s, 1000);
	solo_expect_tx(&s, FALCON_PKT_PUSH_DATA, 8);
	EXPECT_EQ(s.tx.depart_ns, 0);
	solo_expect_tx(&s, FALCON_PKT_PUSH_DATA, 9);
	EXPECT_EQ(s.tx.depart_ns, start + 10 * MS);
}

/* spec: 8.2.1.1-1 8.3-2 9.1.3-3 ordered: RSN order across both windows */
TEST(ordered_rsn_order_across_windows_9_1_3)
{
	u32 i;

	solo_init(&s, true);
	for (i = 0; i < 20; i++)
		if (i % 3)
			solo_push(&s, 10);
		else
			solo_pull(&s, 10);
	for (i = 0; i < 20; i++) {
		ASSERT_TRUE(solo_tx(&s));
		EXPECT_EQ(s.pi.rsn, i);
	}
}

/* spec: 9.1.3-3 ordered: a packet that its gate holds back holds later RSNs */
TEST(ordered_blocked_head_blocks_later_rsns_9_1_3)
{
	solo_init(&s, true);
	s.c.ncwnd = 1;
	solo_push(&s, 10);
	solo_push(&s, 10);
	solo_pull(&s, 10);	/* its own window is open */
	EXPECT_EQ(solo_flush(&s), 1);
	solo_back(&s, 0, 1);
	EXPECT_EQ(solo_flush(&s), 2);
}

/*
 * spec: 8.2.1.1-1 9.1.5-4 ordered: retransmissions in RSN order across both
 * windows
 */
TEST(ordered_retransmission_in_rsn_order_9_1_5)
{
	u32 i;

	solo_init(&s, true);
	for (i = 0; i < 12; i++)
		if (i & 1)
			solo_push(&s, 10);
		else
			solo_pull(&s, 10);
	solo_flush(&s);
	solo_wait(&s, 1 * MS);
	solo_push(&s, 10);
	for (i = 0; i < 13; i++) {
		ASSERT_TRUE(solo_tx(&s));
		EXPECT_EQ(s.pi.rsn, i);
		EXPECT_EQ(s.tx.retx, i < 12);
	}
}

/* spec: 9.1.5-4 ordered: a retransmission held back holds new packets too */
TEST(ordered_blocked_retransmission_blocks_new_9_1_5)
{
	solo_init(&s, true);
	solo_push(&s, 10);
	solo_push(&s, 10);
	solo_flush(&s);
	solo_wait(&s, 1 * MS);
	s.c.ncwnd = 1;
	solo_pull(&s, 10);
	solo_expect_tx(&s, FALCON_PKT_PUSH_DATA, 0);
	solo_expect_quiet(&s);		/* DORRC = ncwnd */
}

/*
 * spec: 8.2.1.2-2 8.3-3 8.5.3.2-3 CR rule 2: pull data does not wait for the
 * initiator's queue
 */
TEST(pull_data_is_independent_of_requests_8_2_1_2)
{
	solo_init(&s, true);
	s.c.ncwnd = 1;
	solo_push(&s, 10);
	solo_push(&s, 10);
	respond_to_pulls(2);
	solo_expect_tx(&s, FALCON_PKT_PUSH_DATA, 0);
	solo_expect_tx(&s, FALCON_PKT_PULL_DATA, 1);
	solo_expect_tx(&s, FALCON_PKT_PULL_DATA, 2);
	solo_expect_quiet(&s);
	/* nor when all of it is lost and DORRC holds the pushes back */
	solo_back(&s, 0, 1);
	solo_expect_tx(&s, FALCON_PKT_PUSH_DATA, 3);
	solo_wait(&s, 2 * MS);
	s.c.tx[DATA].orrc = 1;
	solo_expect_tx(&s, FALCON_PKT_PULL_DATA, 1);
	solo_expect_tx(&s, FALCON_PKT_PULL_DATA, 2);
	solo_expect_quiet(&s);
	s.c.tx[DATA].orrc = 0;
	solo_expect_tx(&s, FALCON_PKT_PUSH_DATA, 3);
}

/*
 * spec: 8.2.1.2-2 pull data does not wait for pushes that the peer's ULP does not
 * take: that one may wait for what it has pulled
 */
TEST(pull_data_passes_pushes_at_the_ulp_8_2_1_2)
{
	u32 i;

	solo_init(&s, true);
	for (i = 0; i < 8; i++)
		solo_push(&s, 10);
	solo_window(&s, 8, 64);
	EXPECT_EQ(solo_flush(&s), 8);
	respond_to_pulls(3);
	solo_expect_quiet(&s);		/* they are in the fabric */
	for (i = 0; i < 8; i++)
		solo_rnr(&s, i, 0x10);
	solo_window(&s, 2, 64);
	solo_expect_tx(&s, FALCON_PKT_PULL_DATA, 8);
	solo_expect_tx(&s, FALCON_PKT_PULL_DATA, 9);
	solo_expect_quiet(&s);
	solo_eack(&s, 0, 0, 0, 0, 0x3 << 8, 0);
	solo_expect_tx(&s, FALCON_PKT_PULL_DATA, 10);
}

/* spec: 8.2.1.2-2 pushes leave some of the data window to pull data */
TEST(pushes_leave_room_for_pull_data_8_2_1_2)
{
	u32 i, room;

	solo_cfg(&s, true);
	s.cfg.pulls = true;
	solo_start(&s);
	room = s.c.tx[DATA].size;
	solo_window(&s, 2 * room, 2 * room);
	for (i = 0; i < room; i++)
		solo_push(&s, 1);
	EXPECT_EQ(solo_flush(&s), room - 8);
	for (i = 0; i < room - 8; i++)
		solo_rnr(&s, i, 0x10);
	respond_to_pulls(8);
	EXPECT_EQ(solo_flush(&s), 8);
	EXPECT_EQ(s.pi.type, FALCON_PKT_PULL_DATA);
	EXPECT_EQ(s.pi.psn, room - 1);
}

/* spec: 8.3-1 the two queues are served round robin */
TEST(scheduler_queues_take_turns_8_3)
{
	u32 i, pull_data = 0;

	solo_init(&s, true);
	for (i = 0; i < 8; i++)
		solo_push(&s, 10);
	respond_to_pulls(8);
	for (i = 0; i < 16; i++) {
		u8 last = s.pi.type;

		ASSERT_TRUE(solo_tx(&s));
		if (i)
			EXPECT_NE(s.pi.type, last);
		pull_data += s.pi.type == FALCON_PKT_PULL_DATA;
	}
	EXPECT_EQ(pull_data, 8);
}

/* spec: 8.4.2-3 unordered: a lost packet does not hold back other requests */
TEST(unordered_has_no_order_8_4_2)
{
	solo_init(&s, false);
	solo_pull(&s, 10);
	solo_pull(&s, 10);
	solo_push(&s, 10);
	solo_flush(&s);
	solo_wait(&s, 1 * MS);
	s.c.ncwnd = 1;
	solo_expect_tx(&s, FALCON_PKT_PULL_REQ, 0);
	solo_expect_tx(&s, FALCON_PKT_PUSH_DATA, 0);
	solo_expect_quiet(&s);
	solo_back(&s, 1, 0);
	solo_expect_tx(&s, FALCON_PKT_PULL_REQ, 1);
}

/* spec: 9-14 9.1.5-3 a retransmission has the PSN and RSN of the original */
TEST(retransmission_keeps_psn_9_1_5)
{
	solo_init(&s, true);
	solo_push(&s, 10);
	solo_push(&s, 20);
	solo_flush(&s);
	solo_wait(&s, 1 * MS);
	solo_push(&s, 30);
	solo_expect_tx(&s, FALCON_PKT_PUSH_DATA, 0);
	EXPECT_EQ(s.pi.rsn, 0);
	EXPECT_EQ(s.tx.len, 10);
	EXPECT_TRUE(s.tx.retx);
	EXPECT_EQ(s.tx.reason, FALCON_RETX_RTO);
	EXPECT_TRUE(s.tx.payload == &s.txn[0]);
	solo_expect_tx(&s, FALCON_PKT_PUSH_DATA, 1);
	solo_expect_tx(&s, FALCON_PKT_PUSH_DATA, 2);
	EXPECT_FALSE(s.tx.retx);
	EXPECT_EQ(s.c.stats.retx[FALCON_RETX_RTO], 2);
}

/*
 * spec: 9.1.1-17 9.1.3.1-1 AR on every packet while fcwnd <= ACK Request Fcwnd
 * Threshold
 */
TEST(ar_always_below_threshold_9_1_3_1)
{
	u32 i;

	solo_cfg(&s, true);
	s.cfg.ar_fcwnd = 4;
	solo_start(&s);
	solo_window(&s, 4, 1000);
	for (i = 0; i < 3; i++) {
		solo_push(&s, 10);
		solo_tx(&s);
		EXPECT_TRUE(s.pi.ar);
	}
	s.c.flow[0].fcwnd++;
	solo_back(&s, 0, 3);
	solo_push(&s, 10);
	solo_tx(&s);
	EXPECT_FALSE(s.pi.ar);
}

/*
 * spec: 9.1.1-17 9.1.3.1-1 AR on ACK Request Percent of packets above the
 * threshold
 */
TEST(ar_percent_above_threshold_9_1_3_1)
{
	u32 pct, i;

	for (pct = 0; pct <= 100; pct += 5) {
		u32 n = 0;

		solo_cfg(&s, true);
		s.cfg.ar_percent = pct;
		solo_start(&s);
		for (i = 0; i < 400; i++)
			solo_push(&s, 1);
		for (i = 0; i < 400; i++) {
			solo_tx(&s);
			n += s.pi.ar;
		}
		EXPECT_EQ(n, 4 * pct);
	}
}

/* spec: 9.1.3.1+1 we ask for an ACK when the window closes */
TEST(ar_when_window_closes_9_1_3_1)
{
	u32 i;

	solo_init(&s, true);
	solo_window(&s, 5, 1000);
	for (i = 0; i < 9; i++)
		solo_push(&s, 1);
	for (i = 0; i < 5; i++) {
		solo_tx(&s);
		EXPECT_EQ(s.pi.ar, i == 4);
	}
	solo_window(&s, 1000, 7);
	for (i = 5; i < 7; i++) {
		solo_tx(&s);
		EXPECT_EQ(s.pi.ar, i == 6);
	}
}

/* spec: 9.1.3.1+1 we ask for an ACK at the end of a burst, if it is long enough */
TEST(ar_at_end_of_burst_9_1_3_1)
{
	u32 i;

	solo_cfg(&s, true);
	s.cfg.ar_last_bytes = 100;
	solo_start(&s);
	for (i = 0; i < 3; i++)
		solo_push(&s, 100);
	for (i = 0; i < 3; i++) {
		solo_tx(&s);
		EXPECT_EQ(s.pi.ar, i == 2);
	}
	solo_push(&s, 99);
	solo_tx(&s);
	EXPECT_FALSE(s.pi.ar);
	solo_pull(&s, 100);
	solo_tx(&s);
	EXPECT_FALSE(s.pi.ar);
}

/* Our next packet, which is answered by data @psn; does it ask for an ACK? */
static bool asks_in_turn(u32 psn)
{
	solo_push(&s, 1);
	solo_tx(&s);
	EXPECT_EQ(s.pi.type, FALCON_PKT_PUSH_DATA);
	solo_rx_push(&s, psn, psn);
	return s.pi.ar;
}

/*
 * spec: 9.1.3.1+1 we do not ask a peer that answers each packet with data: its
 * answer is the ACK; until it sends one alone, or we send two packets in a row
 */
TEST(ar_not_when_data_answers_9_1_3_1)
{
	u32 i;

	solo_cfg(&s, true);
	s.cfg.ar_percent = 0;
	s.cfg.ar_last_bytes = 1;
	solo_start(&s);
	for (i = 0; i < 16; i++)
		EXPECT_EQ(asks_in_turn(i), i < 8);
	solo_back(&s, 0, 16);
	for (; i < 32; i++)
		EXPECT_EQ(asks_in_turn(i), i < 16 + 7);
	solo_push(&s, 1);
	solo_tx(&s);
	EXPECT_FALSE(s.pi.ar);
	solo_push(&s, 1);
	solo_tx(&s);
	EXPECT_TRUE(s.pi.ar);
}

/*
 * spec: 9.1.6+1 in ping-pong an ACK waits for our answer two RTTs longer, and a
 * tail loss probe for such an ACK
 */
TEST(ack_waits_for_answer_in_ping_pong_9_1_6)
{
	u64 wait, probe = 0;
	u32 i;

	solo_cfg(&s, true);
	s.cfg.loss = FALCON_LOSS_TLP;
	s.cfg.ack_slack_ns = 1000;
	solo_start(&s);
	s.c.srtt_ns = 3 * s.cfg.ack_coalesce_ns;
	for (i = 0; i < 9; i++) {
		solo_push(&s, 1);
		solo_tx(&s);
		EXPECT_EQ(s.c.ack_due_ns, FALCON_NO_TIMER);
		wait = s.cfg.ack_coalesce_ns;
		if (i == 8)
			wait += 2 * s.c.srtt_ns + 1000;
		if (i == 7)
			probe = s.c.tlp_due_ns - s.now;
		if (i == 8)
			EXPECT_NEAR(s.c.tlp_due_ns - s.now,
				    probe + 2 * s.c.srtt_ns + 1000, 5);
		solo_rx_push(&s, i, i);
		falcon_core_target_ack(&s.c, solo_delivered(&s), s.now);
		EXPECT_EQ(s.c.ack_due_ns, s.now + wait);
	}
}

/* spec: 9.1.3.1+1 we ask for an ACK of a retransmission after a time-out */
TEST(ar_after_timeout_9_1_3_1)
{
	solo_init(&s, true);
	solo_push(&s, 1);
	solo_tx(&s);
	EXPECT_FALSE(s.pi.ar);
	solo_wait(&s, 1 * MS);
	solo_tx(&s);
	EXPECT_TRUE(s.pi.ar);
}

/*
 * spec: 6.1.2-5 7.2-9 8.4.3.1-4 9-9 9.1.6-3 each packet carries the latest
 * bases of both receiver windows
 */
TEST(tx_piggybacks_latest_bases_9_1_6)
{
	solo_init(&s, true);
	solo_rx_pull(&s, 0, 0);
	solo_rx_pull(&s, 1, 1);
	solo_rx_push(&s, 0, 2);
	solo_delivered(&s);
	solo_delivered(&s);
	falcon_core_target_ack(&s.c, solo_delivered(&s), s.now);
	solo_push(&s, 1);
	solo_expect_tx(&s, FALCON_PKT_PUSH_DATA, 0);
	EXPECT_EQ(s.pi.rbpsn[REQ], 2);
	EXPECT_EQ(s.pi.rbpsn[DATA], 1);
}

/* spec: 9.1.2+1 several flows: the sum of windows, and each its own */
TEST(flows_share_the_gate_9_1_2)
{
	u32 i, n[FALCON_MAX_FLOWS] = { 0 };

	solo_cfg(&s, true);
	s.cfg.nr_flows = 4;
	solo_start(&s);
	for (i = 0; i < 4; i++)
		s.c.flow[i].fcwnd = (2 + i) << FALCON_FCWND_SHIFT;
	for (i = 0; i < 30; i++)
		solo_push(&s, 1);
	while (solo_tx(&s))
		n[s.tx.flow]++;
	for (i = 0; i < 4; i++) {
		EXPECT_EQ(n[i], 2 + i);
		EXPECT_EQ(s.c.flow[i].outstanding[DATA], 2 + i);
	}
}

/* spec: 9.1.2+1 several flows: the next packet takes the largest open window */
TEST(flow_with_largest_open_window_9_1_2)
{
	solo_cfg(&s, true);
	s.cfg.nr_flows = 2;
	solo_start(&s);
	s.c.flow[0].fcwnd = 2 << FALCON_FCWND_SHIFT;
	s.c.flow[1].fcwnd = 5 << FALCON_FCWND_SHIFT;
	solo_push(&s, 1);
	solo_push(&s, 1);
	solo_push(&s, 1);
	solo_push(&s, 1);
	solo_tx(&s);
	EXPECT_EQ(s.tx.flow, 1);
	solo_tx(&s);
	EXPECT_EQ(s.tx.flow, 1);
	solo_tx(&s);
	EXPECT_EQ(s.tx.flow, 1);
	solo_tx(&s);
	EXPECT_EQ(s.tx.flow, 0);	/* equal: they take turns */
}

/* spec: 9.1.2+1 the base packet is retransmitted even if every flow is full */
TEST(flows_never_block_the_base_9_1_2)
{
	u32 i;

	solo_cfg(&s, true);
	s.cfg.nr_flows = 2;
	solo_start(&s);
	for (i = 0; i < 10; i++)
		solo_push(&s, 1);
	solo_flush(&s);
	solo_window(&s, 1, 1000);
	solo_nack(&s, DATA, 0, FALCON_NACK_CIE);
	solo_expect_tx(&s, FALCON_PKT_RESYNC, 0);
	solo_expect_quiet(&s);
}

/* spec: 9.1.2+1 what is received is not in the network: it frees its flow */
TEST(flow_outstanding_excludes_received_9_1_2)
{
	u32 i;

	solo_cfg(&s, true);
	s.cfg.nr_flows = 2;
	solo_start(&s);
	solo_window(&s, 4, 1000);
	for (i = 0; i < 20; i++)
		solo_push(&s, 1);
	EXPECT_EQ(solo_flush(&s), 8);
	solo_eack(&s, 0, 0, 0, 0, 0xfe, 0);
	EXPECT_EQ(s.c.flow[0].outstanding[DATA] +
		  s.c.flow[1].outstanding[DATA], 1);
	EXPECT_EQ(s.c.nr_flight, 1);
}

/*
 * spec: 7.6-3 7.6-4 9.1.8-1 9.1.8-2 9.1.8-3 a resync has PSN, RSN, type and
 * reason of the packet it replaces
 */
TEST(resync_stands_for_the_original_9_1_8)
{
	solo_init(&s, true);
	solo_push(&s, 10);
	solo_push(&s, 10);
	solo_flush(&s);
	solo_nack(&s, DATA, 1, FALCON_NACK_NRE);
	solo_expect_tx(&s, FALCON_PKT_RESYNC, 1);
	EXPECT_EQ(s.pi.rsn, 1);
	EXPECT_EQ(s.pi.resync_type, FALCON_PKT_PUSH_DATA);
	EXPECT_EQ(s.pi.resync_code, FALCON_RESYNC_NRE);
	EXPECT_EQ(s.pi.vendor, 0);
	EXPECT_EQ(s.tx.len, 0);
	EXPECT_TRUE(!s.tx.payload);
	EXPECT_EQ(s.c.stats.tx_resyncs, 1);
}

/* spec: 9.1.8-4 a resync obeys the gate of the packet it replaces */
TEST(resync_obeys_the_gate_9_1_8)
{
	u32 i;

	solo_init(&s, true);
	for (i = 0; i < 4; i++)
		solo_push(&s, 10);
	solo_flush(&s);
	solo_window(&s, 2, 1000);
	solo_nack(&s, DATA, 3, FALCON_NACK_CIE);
	solo_expect_quiet(&s);
	solo_back(&s, 0, 2);
	solo_expect_tx(&s, FALCON_PKT_RESYNC, 3);
}

/* spec: 9+1 the state of one connection is small */
TEST(state_of_a_connection_is_small)
{
	EXPECT_LE(sizeof(struct falcon_core), 2688);
	EXPECT_LE(sizeof(struct falcon_rxpkt), 48);
}

/*
 * spec: 6.2-2 7.2-3 7.2-4 8.4.3.1-1 all packets carry the CID that the peer
 * assigned, and reliable ones its function; two connections to peers that
 * chose the same CID are two
 */
TEST(packets_carry_the_receivers_cid_6_2)
{
	static struct solo other;

	solo_cfg(&s, true);
	s.cfg.cid = 10;
	s.cfg.peer_cid = 5;
	s.cfg.peer_fn = 0xabcdef;
	solo_start(&s);
	solo_cfg(&other, true);
	other.cfg.cid = 11;
	other.cfg.peer_cid = 5;
	solo_start(&other);

	solo_push(&s, 1);
	solo_expect_tx(&s, FALCON_PKT_PUSH_DATA, 0);
	EXPECT_EQ(s.pi.cid, 5);
	EXPECT_EQ(s.pi.fn, 0xabcdef);
	solo_rx_pull(&s, 0, 0);
	solo_wait(&s, s.cfg.ack_coalesce_ns);
	ASSERT_TRUE(solo_tx(&s));
	EXPECT_EQ(s.pi.type, FALCON_PKT_BACK);
	EXPECT_EQ(s.pi.cid, 5);
	solo_expect_quiet(&other);
	EXPECT_EQ(other.c.tx[DATA].next, 0);
}

/* spec: 7.3-2 8.1-1 a request says how long the answer shall be, data its own */
TEST(requests_say_their_length_7_3)
{
	solo_init(&s, true);
	solo_pull(&s, 3000);
	solo_push(&s, 77);
	solo_expect_tx(&s, FALCON_PKT_PULL_REQ, 0);
	EXPECT_EQ(s.pi.req_len, 3000);
	solo_expect_tx(&s, FALCON_PKT_PUSH_DATA, 0);
	EXPECT_EQ(s.pi.req_len, 77);
	EXPECT_EQ(s.tx.len, 77);
}

/* spec: 9.1.2-4 retransmitted pull requests: PSN < RBPSN + fcwnd, RORRC */
TEST(gate_retransmission_of_pull_request_9_1_2)
{
	u32 i;

	solo_init(&s, true);
	for (i = 0; i < 6; i++)
		solo_pull(&s, 10);
	EXPECT_EQ(solo_flush(&s), 6);
	solo_window(&s, 4, 2);
	solo_wait(&s, 1 * MS);
	EXPECT_EQ(solo_flush(&s), 2);		/* RORRC */
	EXPECT_EQ(s.c.tx[REQ].orrc, 2);
	EXPECT_EQ(s.c.tx[DATA].orrc, 0);
	s.c.ncwnd = 100;
	EXPECT_EQ(solo_flush(&s), 2);		/* fcwnd */
	solo_expect_quiet(&s);
}

/* spec: 9.1.2-5 retransmitted pull data: PSN < DBPSN + fcwnd, no ncwnd */
TEST(gate_retransmission_of_pull_data_9_1_2)
{
	solo_init(&s, true);
	respond_to_pulls(6);
	EXPECT_EQ(solo_flush(&s), 6);
	solo_window(&s, 4, 1);
	solo_wait(&s, 1 * MS);
	EXPECT_EQ(solo_flush(&s), 4);
	solo_back(&s, 0, 1);
	EXPECT_EQ(solo_flush(&s), 1);
	solo_expect_quiet(&s);
}

/* spec: 9.1.2-8 RORRC and DORRC fall when a retransmitted request is ACKed */
TEST(orrc_falls_when_acked_9_1_2)
{
	solo_init(&s, false);
	solo_push(&s, 10);
	solo_push(&s, 10);
	solo_pull(&s, 10);
	solo_flush(&s);
	solo_wait(&s, 1 * MS);
	EXPECT_EQ(solo_flush(&s), 3);
	EXPECT_EQ(s.c.tx[DATA].orrc, 2);
	EXPECT_EQ(s.c.tx[REQ].orrc, 1);
	solo_eack(&s, 0, 0, 0, 0, 0x2, 0);	/* received is not ACKed */
	EXPECT_EQ(s.c.tx[DATA].orrc, 2);
	solo_eack(&s, 0, 0, 0, 0x2, 0x2, 0);
	EXPECT_EQ(s.c.tx[DATA].orrc, 1);
	solo_back(&s, 1, 1);
	EXPECT_EQ(s.c.tx[DATA].orrc, 0);
	EXPECT_EQ(s.c.tx[REQ].orrc, 0);
}

/* spec: 9.1.1-8 fcwnd bounds each window for itself */
TEST(fcwnd_is_per_window_9_1_1)
{
	u32 i;

	solo_init(&s, false);
	solo_window(&s, 3, 1000);
	for (i = 0; i < 3; i++) {
		solo_push(&s, 1);
		solo_pull(&s, 1);
	}
	EXPECT_EQ(solo_flush(&s), 6);
	solo_pull(&s, 1);
	solo_expect_quiet(&s);
	solo_back(&s, 1, 0);
	solo_expect_tx(&s, FALCON_PKT_PULL_REQ, 3);
}

/*
 * spec: 9.1.1-9 RORC counts pull requests, DORC push data, from transmission
 * to acknowledgement; pull data is in neither
 */
TEST(orc_counts_sent_and_not_acknowledged_9_1_1)
{
	solo_init(&s, false);
	solo_push(&s, 1);
	solo_push(&s, 1);
	solo_pull(&s, 1);
	EXPECT_EQ(s.c.tx[DATA].orc, 0);
	respond_to_pulls(1);
	solo_flush(&s);
	EXPECT_EQ(s.c.tx[DATA].orc, 2);
	EXPECT_EQ(s.c.tx[REQ].orc, 1);
	solo_wait(&s, 1 * MS);
	solo_flush(&s);				/* a retransmission is no new one */
	EXPECT_EQ(s.c.tx[DATA].orc, 2);
	EXPECT_EQ(s.c.tx[REQ].orc, 1);
	solo_back(&s, 1, 1);
	EXPECT_EQ(s.c.tx[DATA].orc, 1);
	EXPECT_EQ(s.c.tx[REQ].orc, 0);
	solo_back(&s, 1, 3);
	EXPECT_EQ(s.c.tx[DATA].orc, 0);
}

/* spec: 9-12 9.1.3-5 a packet is kept, whole, until it is acknowledged */
TEST(packets_are_kept_until_acknowledged_9_1_3)
{
	u32 i;

	solo_init(&s, true);
	solo_push(&s, 123);
	solo_flush(&s);
	for (i = 0; i < 3; i++) {
		s.now += 20 * MS;
		falcon_core_timer(&s.c, s.now);
		solo_expect_tx(&s, FALCON_PKT_PUSH_DATA, 0);
		EXPECT_TRUE(s.tx.payload == &s.txn[0]);
		EXPECT_EQ(s.tx.len, 123);
	}
	EXPECT_FALSE(falcon_core_idle(&s.c));
	solo_back(&s, 0, 1);
	EXPECT_TRUE(solo_completed(&s) == &s.txn[0]);
	EXPECT_TRUE(falcon_core_idle(&s.c));
	s.now += 100 * MS;
	falcon_core_timer(&s.c, s.now);
	solo_expect_quiet(&s);
}

/*
 * spec: 9.1.5-5 retransmissions leave in PSN order of their window, push and
 * pull data alike
 */
TEST(retransmissions_in_psn_order_9_1_5)
{
	u32 i, psn = 0;

	solo_init(&s, true);
	for (i = 0; i < 3; i++)
		solo_push(&s, 1);
	solo_flush(&s);
	respond_to_pulls(3);
	solo_flush(&s);
	for (i = 0; i < 3; i++)
		solo_push(&s, 1);
	solo_flush(&s);
	solo_wait(&s, 1 * MS);
	for (i = 0; i < 9; i++) {
		ASSERT_TRUE(solo_tx(&s));
		EXPECT_TRUE(s.tx.retx);
		EXPECT_EQ(s.pi.psn, psn++);
	}
	solo_expect_quiet(&s);
}

/* spec: 9.1.5-5 though a pull request has to go before the push data */
TEST(retransmissions_in_psn_order_behind_a_pull_9_1_5)
{
	solo_init(&s, true);
	solo_pull(&s, 10);
	solo_push(&s, 1);		/* data PSN 0 */
	solo_flush(&s);
	respond_to_pulls(1);
	solo_flush(&s);			/* data PSN 1 */
	solo_wait(&s, 1 * MS);
	s.c.sched_turn = FALCON_QUEUE_PULL_DATA;
	solo_expect_tx(&s, FALCON_PKT_PULL_REQ, 0);
	solo_expect_tx(&s, FALCON_PKT_PUSH_DATA, 0);
	solo_expect_tx(&s, FALCON_PKT_PULL_DATA, 1);
}

/* spec: 9.1.5-5 but what the gate holds back holds nothing of the other kind */
TEST(blocked_push_lets_pull_data_pass_9_1_5)
{
	solo_init(&s, true);
	solo_push(&s, 1);
	solo_push(&s, 1);
	solo_flush(&s);
	respond_to_pulls(1);
	solo_flush(&s);
	s.c.ncwnd = 1;
	solo_wait(&s, 1 * MS);
	solo_expect_tx(&s, FALCON_PKT_PUSH_DATA, 0);
	solo_expect_tx(&s, FALCON_PKT_PULL_DATA, 2);
	solo_expect_quiet(&s);
}

/* spec: 9.1.5-6 an ACK that comes before a retransmission has left cancels it */
TEST(ack_cancels_a_pending_retransmission_9_1_5)
{
	solo_init(&s, true);
	solo_push(&s, 1);
	solo_push(&s, 1);
	solo_flush(&s);
	solo_wait(&s, 1 * MS);
	solo_expect_tx(&s, FALCON_PKT_PUSH_DATA, 0);
	solo_back(&s, 0, 2);
	solo_expect_quiet(&s);
	EXPECT_EQ(s.c.stats.retx[FALCON_RETX_RTO], 1);
}

/* spec: 8.3-4 a queue whose window is closed is passed over for the other */
TEST(scheduler_passes_over_closed_windows_8_3)
{
	u32 i;

	solo_init(&s, true);
	solo_window(&s, 1000, 1);
	for (i = 0; i < 4; i++)
		solo_push(&s, 1);
	respond_to_pulls(4);
	EXPECT_EQ(solo_flush(&s), 1 + 4);
	solo_window(&s, 1, 1);			/* and all of it, if both are */
	respond_to_pulls(0);
	solo_expect_quiet(&s);
}

/*
 * spec: 8.2.1.2-3 a request window that is full does not stop pull data of the
 * same direction
 */
TEST(window_full_of_requests_lets_pull_data_pass_8_2_1_2)
{
	u32 i;

	solo_cfg(&s, true);
	s.cfg.tx_win[REQ] = 4;
	solo_start(&s);
	for (i = 0; i < 8; i++)
		solo_pull(&s, 1);
	EXPECT_EQ(solo_flush(&s), 4);
	respond_to_pulls(2);
	solo_expect_tx(&s, FALCON_PKT_PULL_DATA, 0);
	solo_expect_tx(&s, FALCON_PKT_PULL_DATA, 1);
	solo_expect_quiet(&s);
}

/* spec: 9.1.8-1 a resync is retransmitted until it is acknowledged */
TEST(resync_is_reliable_9_1_8)
{
	solo_init(&s, true);
	solo_push(&s, 1);
	solo_flush(&s);
	solo_nack(&s, DATA, 0, FALCON_NACK_CIE);
	solo_expect_tx(&s, FALCON_PKT_RESYNC, 0);
	solo_wait(&s, 1 * MS + 10);
	solo_expect_tx(&s, FALCON_PKT_RESYNC, 0);
	EXPECT_EQ(s.pi.resync_code, FALCON_RESYNC_CIE);
	EXPECT_TRUE(!solo_completed(&s));
	solo_back(&s, 0, 1);
	EXPECT_TRUE(solo_completed(&s) == &s.txn[0]);
}
