// SPDX-License-Identifier: GPL-2.0
/* Sliding windows, serial arithmetic, acceptance checks: 9.1.1, 9.2.1, 9.2.2 */
#include "net/falcon/core/accept.h"
#include "net/falcon/core/window.h"
#include "harness.h"

#define SEC_PS	1000000000000ULL

/* spec: 9.1.1-2 sequence numbers are compared modulo 2^32 */
TEST(serial_numbers_wrap)
{
	EXPECT_TRUE(falcon_before(0xffffffff, 0));
	EXPECT_FALSE(falcon_before(0, 0xffffffff));
	EXPECT_TRUE(falcon_before(5, 6));
	EXPECT_FALSE(falcon_before(6, 6));
	EXPECT_TRUE(falcon_before(1, 0x80000000));
	EXPECT_FALSE(falcon_before(0x80000000, 1));
}

/*
 * spec: 9.1.1-3 when the base moves, the transmitter's bitmaps move with it: the
 * bits that it leaves behind are free for what comes a ring later
 */
TEST(tx_bitmaps_move_with_base_9_1_1)
{
	u32 base, n, psn;

	for (base = 0xffffffc0; base != 71; base += 5)
		for (n = 0; n <= FALCON_TX_WIN_MAX; n += 37) {
			struct falcon_rings rings = { 0 };
			struct falcon_txwin w;

			falcon_txwin_init(&w, &rings, base, FALCON_TX_WIN_MAX);
			for (psn = base; psn != base + 600; psn++) {
				falcon_txwin_note_acked(&w, psn);
				falcon_txwin_note_rcvd(&w, psn, true);
			}
			falcon_txwin_advance(&w, base + n);
			EXPECT_EQ(w.base, base + n);
			for (psn = w.base; psn != w.base + 512; psn++) {
				bool in = psn - base < 512;

				EXPECT_EQ(falcon_ring_test(w.acked, 512, psn),
					  in);
				EXPECT_EQ(falcon_ring_test(w.rcvd, 512, psn),
					  in);
			}
		}
}

/* spec: 9.1.1-6 bits beyond the bitmap are neither set nor cleared */
TEST(tx_bitmap_ignores_bits_beyond_it)
{
	struct falcon_rings rings = { 0 };
	struct falcon_txwin w;

	falcon_txwin_init(&w, &rings, 7, FALCON_TX_WIN_MAX);
	falcon_txwin_note_rcvd(&w, 7, true);
	falcon_txwin_note_rcvd(&w, 7 + 512, false);
	EXPECT_TRUE(falcon_ring_test(w.rcvd, 512, 7));
	falcon_txwin_note_rcvd(&w, 7, false);
	falcon_txwin_note_rcvd(&w, 7 + 512, true);
	falcon_txwin_note_acked(&w, 7 + 512);
	EXPECT_FALSE(falcon_ring_test(w.rcvd, 512, 7));
	EXPECT_FALSE(falcon_ring_test(w.acked, 512, 7));
}

/* spec: 9.2.3-5 9.2.3-6 64 bits of an EACK, from any PSN on, ORed into a ring */
TEST(eack_bits_into_ring_9_2_3)
{
	struct falcon_pkt_info pi = { .rbpsn = { 0xfffffff0, 0xfffffff0 } };
	u32 shift, at, bit, psn, i;

	for (shift = 0; shift <= FALCON_WIN_SHIFT_MAX; shift++)
		for (bit = 0; bit < 128u << shift; bit++)
			for (at = 0; at < 600; at += 13) {
				u64 ring[FALCON_RX_WIN_MAX / 64] = { 0 };
				struct falcon_eack e;

				pi.win_shift = shift;
				memset(pi.data_rx, 0, sizeof(pi.data_rx));
				pi.data_rx[bit / 64] = 1ULL << bit % 64;
				e = falcon_eack_of(&pi, FALCON_WIN_DATA);
				EXPECT_EQ(falcon_eack_len(&e), bit + 1);
				psn = e.base + at;
				falcon_ring_or(ring, 512, psn,
					       falcon_eack_bits(&e, e.rx, psn));
				psn = e.base + bit;
				EXPECT_EQ(falcon_ring_test(ring, 512, psn),
					  bit - at < 64);
				falcon_ring_clear(ring, 512, psn);
				for (i = 0; i < ARRAY_SIZE(ring); i++)
					EXPECT_EQ(ring[i], 0);
			}
}

static void rx_window(struct falcon_rxwin *w, u32 base, u16 size)
{
	static struct falcon_rings rings;

	memset(&rings, 0, sizeof(rings));
	falcon_rxwin_init(w, &rings, base, size);
	EXPECT_EQ(w->base, base);
	EXPECT_FALSE(falcon_rxwin_has_hole(w));
}

/* spec: 9.2.2.4-1 a PSN before the window is old */
TEST(rx_old_before_base_9_2_2_4)
{
	struct falcon_rxwin w;

	rx_window(&w, 5, 64);
	EXPECT_EQ(falcon_accept_psn(&w, 4), FALCON_ACCEPT_OLD);
	EXPECT_EQ(falcon_accept_psn(&w, 0xfffffff0), FALCON_ACCEPT_OLD);
	EXPECT_EQ(falcon_accept_psn(&w, 5), FALCON_ACCEPT_NEW);
}

/*
 * spec: 9-3 9-6 9.2.2.4-2 a PSN at or after base + 64 / + 128 is beyond the
 * window
 */
TEST(rx_beyond_window_9_2_2_4)
{
	struct falcon_rxwin w;

	rx_window(&w, 0xffffffe0, 64);
	EXPECT_EQ(falcon_accept_psn(&w, 0xffffffe0 + 63), FALCON_ACCEPT_NEW);
	EXPECT_EQ(falcon_accept_psn(&w, 0xffffffe0 + 64), FALCON_ACCEPT_BEYOND);
	rx_window(&w, 0xffffffe0, 128);
	EXPECT_EQ(falcon_accept_psn(&w, 0xffffffe0 + 127), FALCON_ACCEPT_NEW);
	EXPECT_EQ(falcon_accept_psn(&w, 0xffffffe0 + 128),
		  FALCON_ACCEPT_BEYOND);
}

/* spec: 9.2.2.4-3 a PSN whose acknowledged bit is set is a duplicate */
TEST(rx_acknowledged_is_duplicate_9_2_2_4)
{
	struct falcon_rxwin w;

	rx_window(&w, 0xffffffff, 128);
	falcon_rxwin_receive(&w, 3);
	EXPECT_EQ(falcon_accept_psn(&w, 3), FALCON_ACCEPT_RECEIVED);
	EXPECT_TRUE(falcon_rxwin_ack(&w, 3));
	EXPECT_EQ(falcon_accept_psn(&w, 3), FALCON_ACCEPT_ACKED);
	EXPECT_FALSE(falcon_rxwin_ack(&w, 3));
}

/*
 * spec: 9.2.1-2 9.2.2.4-9 the base moves to the next PSN that is not
 * acknowledged
 */
TEST(rx_base_moves_by_acknowledged_9_2_2_4)
{
	struct falcon_rxwin w;
	u32 i, base = 0xfffffffe;

	rx_window(&w, base, 128);
	for (i = 0; i < 10; i++)
		falcon_rxwin_receive(&w, base + i);
	EXPECT_EQ(w.base, base);
	falcon_rxwin_ack(&w, base + 1);
	falcon_rxwin_ack(&w, base + 2);
	falcon_rxwin_ack(&w, base + 5);
	EXPECT_EQ(w.base, base);
	EXPECT_EQ(w.nr_ack, 3);
	falcon_rxwin_ack(&w, base);
	EXPECT_EQ(w.base, base + 3);
	EXPECT_EQ(w.nr_ack, 1);
	EXPECT_EQ(w.nr_rx, 7);
	EXPECT_EQ(w.top, base + 10);
}

/*
 * spec: 9.2.1-3 9.2.2.4-9 the bits of PSNs that the base has passed are
 * cleared
 */
TEST(rx_passed_bits_are_cleared_9_2_1)
{
	struct falcon_rxwin w;
	u32 i;

	/* round the ring several times: a stale bit would be a duplicate */
	rx_window(&w, 0, 128);
	for (i = 0; i < 5 * FALCON_RX_WIN_MAX; i++) {
		EXPECT_EQ(falcon_accept_psn(&w, i), FALCON_ACCEPT_NEW);
		EXPECT_EQ(falcon_accept_psn(&w, i + 127), FALCON_ACCEPT_NEW);
		falcon_rxwin_receive(&w, i);
		falcon_rxwin_ack(&w, i);
	}
	for (i = 0; i < FALCON_RX_WIN_MAX / 64; i++) {
		EXPECT_EQ(w.rx[i], 0);
		EXPECT_EQ(w.ack[i], 0);
	}
}

/* spec: 9.1.6-11 the Rx bitmap has a hole if its ones are not consecutive */
TEST(rx_hole_is_seen_9_1_6)
{
	struct falcon_rxwin w;

	rx_window(&w, 100, 128);
	falcon_rxwin_receive(&w, 100);
	falcon_rxwin_receive(&w, 101);
	EXPECT_FALSE(falcon_rxwin_has_hole(&w));
	falcon_rxwin_receive(&w, 103);
	EXPECT_TRUE(falcon_rxwin_has_hole(&w));
	falcon_rxwin_receive(&w, 102);
	EXPECT_FALSE(falcon_rxwin_has_hole(&w));
}

/* spec: 8.5.3.4+3 a packet given up after an RNR is new when it comes again */
TEST(rx_forgotten_is_new_again_8_5_3_4)
{
	struct falcon_rxwin w;

	rx_window(&w, 100, 128);
	falcon_rxwin_receive(&w, 100);
	falcon_rxwin_receive(&w, 102);
	falcon_rxwin_forget(&w, 102);
	EXPECT_EQ(falcon_accept_psn(&w, 102), FALCON_ACCEPT_NEW);
	EXPECT_FALSE(falcon_rxwin_has_hole(&w));
	EXPECT_EQ(w.top, 101);
	falcon_rxwin_forget(&w, 100);
	EXPECT_EQ(w.top, 100);
	EXPECT_EQ(w.nr_rx, 0);
}

/*
 * spec: 7.7.2-2 a bitmap's bit 0 is the base PSN, wherever that is in the ring
 */
TEST(rx_bitmap_starts_at_base_7_7_2)
{
	u32 base, i;

	for (base = 0xffffffff - 700; base != 700; base++) {
		struct falcon_rings rings = { 0 };
		struct falcon_rxwin w;
		u64 lo, hi;

		falcon_rxwin_init(&w, &rings, base, 128);
		for (i = 1; i < 128; i += 3)
			falcon_rxwin_receive(&w, base + i);
		lo = falcon_ring_extract(w.rx, FALCON_RX_WIN_MAX, base);
		hi = falcon_ring_extract(w.rx, FALCON_RX_WIN_MAX, base + 64);
		for (i = 0; i < 128; i++)
			EXPECT_EQ((i < 64 ? lo >> i : hi >> (i - 64)) & 1,
				  i % 3 == 1);
	}
}

/* A random walk against the plainest model of 9.2.1 */
/*
 * spec: 6.1.2-3 9-5 9.2.1-1 9.2.1-4 9.2.1-5 9.2.1-6 received, acknowledged and
 * base follow the definitions
 */
TEST(rx_window_agrees_with_model_9_2_1)
{
	static u8 rx[4096], ack[4096];
	struct falcon_rings rings = { 0 };
	struct falcon_rxwin w;
	u32 start = 0xfffffc00, base = 0, n;

	memset(rx, 0, sizeof(rx));
	memset(ack, 0, sizeof(ack));
	falcon_rxwin_init(&w, &rings, start, 128);
	unit_srand(7);
	for (n = 0; n < 200000 && base < 3900; n++) {
		u32 i = base + unit_rand_below(140);
		enum falcon_accept want;

		want = i >= base + 128 ? FALCON_ACCEPT_BEYOND :
		       ack[i] ? FALCON_ACCEPT_ACKED :
		       rx[i] ? FALCON_ACCEPT_RECEIVED : FALCON_ACCEPT_NEW;
		ASSERT_EQ(falcon_accept_psn(&w, start + i), want);
		if (want == FALCON_ACCEPT_NEW) {
			falcon_rxwin_receive(&w, start + i);
			rx[i] = 1;
		} else if (want == FALCON_ACCEPT_RECEIVED) {
			if (unit_rand() & 7) {
				falcon_rxwin_ack(&w, start + i);
				ack[i] = 1;
			} else {
				falcon_rxwin_forget(&w, start + i);
				rx[i] = 0;
			}
		}
		while (ack[base])
			base++;
		ASSERT_EQ(w.base, start + base);
	}
	EXPECT_GE(base, 3900);
}

/*
 * spec: 6.5-2 9.2.1-12 9.2.2.2-1 9.2.2.2-2 a packet older than Remote Time -
 * margin is dropped
 */
TEST(replay_older_than_margin_9_2_2_2)
{
	u64 remote = 100 * SEC_PS, margin = 2 * SEC_PS;

	EXPECT_FALSE(falcon_accept_time(remote, margin, 98 * SEC_PS));
	EXPECT_TRUE(falcon_accept_time(remote, margin, 98 * SEC_PS + 1));
	EXPECT_FALSE(falcon_accept_time(remote, margin, 0));
}

/*
 * spec: 6.5-3 9.2.1-10 Remote Time moves to the IV of a newer packet, never
 * back
 */
TEST(remote_time_only_moves_forward_9_2_1)
{
	u64 remote = 100 * SEC_PS;

	falcon_accept_commit(&remote, 101 * SEC_PS);
	EXPECT_EQ(remote, 101 * SEC_PS);
	falcon_accept_commit(&remote, 100 * SEC_PS);
	EXPECT_EQ(remote, 101 * SEC_PS);
}

/*
 * spec: 9.2.1-10 a packet from far ahead that fails authentication leaves the
 * peer's own packets acceptable
 */
TEST(remote_time_waits_for_authentication_9_2_1)
{
	u64 remote = 100 * SEC_PS, margin = 2 * SEC_PS;

	EXPECT_TRUE(falcon_accept_time(remote, margin, 1000 * SEC_PS));
	EXPECT_TRUE(falcon_accept_time(remote, margin, 100 * SEC_PS));
	falcon_accept_commit(&remote, 1000 * SEC_PS);
	EXPECT_FALSE(falcon_accept_time(remote, margin, 100 * SEC_PS));
}

/* spec: 9.2.2.2-1 the comparison is modular */
TEST(replay_check_wraps_9_2_2_2)
{
	u64 remote = 5, margin = 100;

	EXPECT_FALSE(falcon_accept_time(remote, margin, (u64)-100));
	EXPECT_TRUE(falcon_accept_time(remote, margin, (u64)-90));
	falcon_accept_commit(&remote, (u64)-90);
	EXPECT_EQ(remote, 5);
	remote = (u64)-5;
	EXPECT_TRUE(falcon_accept_time(remote, margin, 7));
	falcon_accept_commit(&remote, 7);
	EXPECT_EQ(remote, 7);
}

static const struct falcon_spi_state spi_conn = {
	.cur_spi = 0x80000001, .prev_spi = 0x80000001, .cur_gen = 7,
	.pcid = 0x1234567890abcdefULL,
};

static const struct falcon_spi_global spi_global = {
	.cur_gen = 7, .pcid_match = true,
};

static bool spi_ok(u32 spi)
{
	return falcon_accept_spi(&spi_conn, &spi_global, spi, spi_conn.pcid);
}

/* spec: 9.2.2.3-2 SPI 0 means that the connection is not configured */
TEST(spi_zero_is_refused_9_2_2_3)
{
	struct falcon_spi_state c = spi_conn;

	c.cur_spi = 0;
	c.prev_spi = 0;
	EXPECT_FALSE(falcon_accept_spi(&c, &spi_global, 0, c.pcid));
}

/* spec: 6.5-4 9.2.2.3-1 the current SPI passes, another does not */
TEST(spi_current_passes_9_2_2_3)
{
	EXPECT_TRUE(spi_ok(0x80000001));
	EXPECT_FALSE(spi_ok(0x80000002));
	EXPECT_FALSE(spi_ok(0));
}

/*
 * spec: 9.2.1-11 9.2.1-13 9.2.2.3-6 the PCID must match, if PCID Match Enable
 * is set
 */
TEST(pcid_must_match_9_2_2_3)
{
	struct falcon_spi_global g = spi_global;

	EXPECT_FALSE(falcon_accept_spi(&spi_conn, &g, 0x80000001,
				       spi_conn.pcid ^ 1));
	g.pcid_match = false;
	EXPECT_TRUE(falcon_accept_spi(&spi_conn, &g, 0x80000001,
				      spi_conn.pcid ^ 1));
}

/*
 * The whole table, against the specification's pseudo-code written out.
 * spec: 9.2.1-9 9.2.1-13 9.2.2.3-3 9.2.2.3-4 9.2.2.3-5 SPIs and generations
 * around a key rotation
 */
TEST(spi_generations_as_pseudo_code_9_2_2_3)
{
	static const u32 spis[] = { 0, 1, 2, 0x80000001, 0x80000002 };
	u32 c, p, s, gen, g, allow, n = 0;

	for (n = 0; n < 5 * 5 * 5 * 4 * 2; n++) {
		struct falcon_spi_state conn = { .pcid = 1 };
		struct falcon_spi_global global = { .cur_gen = 10 };
		bool cur_gen_ok, cur, same, prev, want;
		u32 prev_gen = 9;

		c = spis[n % 5];
		p = spis[n / 5 % 5];
		s = spis[n / 25 % 5];
		gen = 8 + n / 125 % 4;
		allow = n / 500;
		g = global.cur_gen;
		conn.cur_spi = c;
		conn.prev_spi = p;
		conn.cur_gen = gen;
		global.allow_prev_gen = allow;

		cur_gen_ok = allow ? gen == g || gen == prev_gen : gen == g;
		cur = c == s && cur_gen_ok;
		same = (c ^ p) >> 31 == 0 && p == s && p && cur_gen_ok;
		prev = (c ^ p) >> 31 && allow && p == s && p &&
		       gen - 1 == prev_gen;
		want = c && (cur || same || prev);
		EXPECT_EQ(falcon_accept_spi(&conn, &global, s, 1), want);
	}
}
