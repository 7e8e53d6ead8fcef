// SPDX-License-Identifier: GPL-2.0
/*
 * A peer that knows SPI and PCID and means ill: packets that parse, with
 * whatever in them, against one connection that transacts and whose ULP
 * answers at random. Nothing may break, nothing may grow, and everything must
 * come back at the end.
 */
#include <stdlib.h>
#include "solo.h"

static struct solo s;
static u8 used[SOLO_MAX];		/* rx memory core or the ULP holds */
static struct falcon_rxpkt *held[SOLO_MAX];
static u32 nr_used, nr_held, most, completed, submitted, responses, released;

static u32 malice;			/* per cent of fields that are forged */

static bool evil(void)
{
	return unit_rand_below(100) < malice;
}

static u32 near(u32 x, u32 spread)
{
	if (!evil())
		return x + unit_rand_below(spread);
	return unit_rand() & 1 ? unit_rand() :
				 x + unit_rand_below(2000) - 1000;
}

/* Bits of an EACK from a base on: sent, if it is an honest one */
static u64 some_bits(u32 base, u32 next)
{
	u64 bits = unit_rand() & unit_rand();

	if (evil())
		return bits;
	return next - base >= 64 ? bits : bits & ((1ULL << (next - base)) - 1);
}

static void forge_reliable(struct falcon_pkt_info *pi)
{
	static const u8 orig[] = {
		FALCON_PKT_PULL_REQ, FALCON_PKT_PULL_DATA, FALCON_PKT_PUSH_DATA,
	};
	u8 type = pi->type;

	pi->resync_type = orig[unit_rand_below(3)];
	pi->resync_code = 1 + unit_rand_below(7);
	if (type == FALCON_PKT_RESYNC)
		type = pi->resync_type;
	pi->psn = near(s.c.rx[falcon_type_win(type)].base, 6);
	if (type == FALCON_PKT_PULL_DATA)
		pi->rsn = near(s.c.tx_brsn, 6);
	else	/* something new, or what an RNR awaits */
		pi->rsn = near(unit_rand() & 1 ? s.c.rx_nrsn : s.c.rx_brsn, 3);
	pi->len = unit_rand_below(SOLO_MTU + evil());
	pi->req_len = unit_rand_below(SOLO_MTU + evil());
	pi->ar = unit_rand() & 1;
	if (evil())
		pi->proto = unit_rand() & 7;
}

static void forge_ack(struct falcon_pkt_info *pi)
{
	static const u8 nacks[] = { 1, 2, 2, 2, 4, 6, 7, 8 };

	pi->own = evil() ? unit_rand() & 3 : 0;
	pi->nack_win = unit_rand() & 1;
	pi->nack_psn = near(s.c.tx[pi->nack_win].base, 5);
	pi->nack_code = nacks[unit_rand_below(8)];
	pi->rnr_timeout = 1 + unit_rand_below(10);
	pi->data_rx[0] = some_bits(pi->rbpsn[DATA], s.c.tx[DATA].next);
	pi->data_ack[0] = unit_rand() & pi->data_rx[0];
	pi->data_rx[1] = evil() ? unit_rand() : 0;
	pi->data_ack[1] = evil() ? unit_rand() : 0;
	pi->req_bits[0] = some_bits(pi->rbpsn[REQ], s.c.tx[REQ].next);
	pi->echo_t1 += evil() ? unit_rand() : 0;
	pi->echo_t2 += evil() ? unit_rand() : 0;
	pi->ecn = unit_rand() & 0x3fff;
	pi->rx_level = evil() ? unit_rand() & 31 : 3;
	pi->hops = unit_rand() & 15;
	pi->cc_metadata = unit_rand() & 0x3fffff;
}

static void forge(struct falcon_pkt_info *pi)
{
	static const u8 types[] = {
		FALCON_PKT_PULL_REQ, FALCON_PKT_PULL_DATA, FALCON_PKT_PUSH_DATA,
		FALCON_PKT_RESYNC, FALCON_PKT_NACK, FALCON_PKT_BACK,
		FALCON_PKT_EACK, FALCON_PKT_EACK,
	};
	u8 win;

	solo_base_pi(&s, types[unit_rand_below(8)], pi);
	if (pi->type == FALCON_PKT_RESYNC && !evil())
		pi->type = FALCON_PKT_PUSH_DATA;
	if (pi->type == FALCON_PKT_NACK && !evil())
		pi->type = FALCON_PKT_BACK;
	for (win = 0; win < 2; win++) {
		const struct falcon_txwin *w = &s.c.tx[win];

		if (unit_rand() & 1)
			pi->rbpsn[win] += unit_rand_below(w->next - w->base + 1);
		if (evil())
			pi->rbpsn[win] = near(w->base, 100);
	}
	forge_reliable(pi);
	forge_ack(pi);
}

static void give_back(struct falcon_rxpkt *rx)
{
	ASSERT_TRUE(used[rx - s.rx]);
	used[rx - s.rx] = 0;
	nr_used--;
}

static void inject(void)
{
	struct falcon_rx_meta meta = {
		.now_ns = s.now, .t_tx = unit_rand(), .t_rx = unit_rand(),
		.hops = 3, .flow = unit_rand_below(6), .stamp_ok = unit_rand() & 1,
		.ecn_ce = unit_rand() & 1,
	};
	struct falcon_pkt_info pi;
	u32 i = 0;

	while (used[i])
		i++;
	ASSERT_LT(i, SOLO_MAX);
	forge(&pi);
	used[i] = 1;
	nr_used++;
	if (falcon_core_rx(&s.c, &pi, &meta, &s.rx[i]) == FALCON_RX_DONE)
		give_back(&s.rx[i]);
	most = max(most, nr_used);
}

static void answer(u32 i)
{
	struct falcon_rxpkt *rx = held[i];
	bool pull = rx->type == FALCON_PKT_PULL_REQ;

	held[i] = held[--nr_held];
	switch (unit_rand_below(8)) {
	case 0:
		falcon_core_target_rnr(&s.c, rx, 1 + unit_rand_below(5), s.now);
		return;
	case 1:
		falcon_core_target_nack(&s.c, rx, FALCON_NACK_NRE, 1, s.now);
		return;
	}
	if (!pull) {
		falcon_core_target_ack(&s.c, rx, s.now);
		give_back(rx);
		return;
	}
	if (responses - released >= SOLO_MAX ||
	    falcon_core_target_respond(&s.c, rx, &s.resp[responses % SOLO_MAX],
				       &s, unit_rand_below(rx->req_len + 1),
				       s.now)) {
		falcon_core_target_nack(&s.c, rx, FALCON_NACK_CIE, 1, s.now);
		return;
	}
	responses++;
	give_back(rx);
}

static void effects(void)
{
	struct falcon_rxpkt *rx;
	struct falcon_txn *txn;

	while ((rx = solo_delivered(&s)))
		held[nr_held++] = rx;
	while ((rx = solo_dropped(&s)))
		give_back(rx);
	while (solo_released(&s))
		released++;
	while ((txn = solo_completed(&s))) {
		ASSERT_FALSE(txn->pkt.flags & BIT(15));
		txn->pkt.flags |= BIT(15);
		completed++;
		if (txn->rx)
			give_back(txn->rx);
	}
}

static void submit(void)
{
	struct falcon_txn *txn = &s.txn[submitted % SOLO_MAX];
	u16 len = unit_rand_below(SOLO_MTU + 1);
	int err;

	/* in a ring: on an ordered connection the oldest completes first */
	if (submitted - completed >= 200)
		return;
	if (unit_rand() & 1)
		err = falcon_core_push(&s.c, txn, txn, len, s.now);
	else
		err = falcon_core_pull(&s.c, txn, txn, 8, len, s.now);
	submitted += !err;
}

/* Every counter that is kept beside a list or bitmap agrees with it. */
static void check_counters(void)
{
	u32 flight = 0, by_flow = 0, i, win;

	for (win = 0; win < FALCON_NR_WIN; win++) {
		const struct falcon_txwin *t = &s.c.tx[win];
		const struct falcon_rxwin *r = &s.c.rx[win];
		u32 orc = 0, orrc = 0, psn = t->base, rx = 0, ack = 0;
		struct falcon_txpkt *p;

		list_for_each_entry(p, &t->pkts, win_node) {
			EXPECT_FALSE(falcon_before(p->psn, psn));
			EXPECT_TRUE(falcon_before(p->psn, t->next));
			psn = p->psn + 1;
			orc += falcon_pkt_is_request(p);
			orrc += !!(p->flags & FALCON_TXF_ORRC);
			flight += p->state == FALCON_TXPKT_FLIGHT;
		}
		EXPECT_EQ(t->orc, orc);
		EXPECT_EQ(t->orrc, orrc);
		for (i = 0; i < FALCON_RX_WIN_MAX / 64; i++) {
			rx += __builtin_popcountll(r->rx[i]);
			ack += __builtin_popcountll(r->ack[i]);
			EXPECT_EQ(r->ack[i] & ~r->rx[i], 0);
		}
		EXPECT_EQ(r->nr_rx, rx);
		EXPECT_EQ(r->nr_ack, ack);
		EXPECT_FALSE(falcon_rxwin_acked(r, r->base));
	}
	for (i = 0; i < FALCON_MAX_FLOWS; i++)
		by_flow += s.c.flow[i].outstanding[REQ] +
			   s.c.flow[i].outstanding[DATA];
	EXPECT_EQ(s.c.nr_flight, flight);
	EXPECT_EQ(by_flow, flight);
}

static void one_attack(u64 seed, u32 packets)
{
	static const u8 levels[] = { 0, 1, 5, 20, 60 };
	u32 i;

	unit_srand(seed);
	malice = levels[seed % 5];
	solo_cfg(&s, true);
	s.cfg.nr_flows = 1 + unit_rand_below(4);
	s.cfg.loss = unit_rand_below(16);
	s.cfg.fae = unit_rand() & 1 ? &falcon_fae_swift : &falcon_fae_aimd;
	s.cfg.max_attempts = 20;
	s.cfg.txn_timeout_ns = 20 * MS;
	falcon_core_init(&s.c, &s.cfg, NULL, s.now);
	memset(used, 0, sizeof(used));
	nr_used = 0;
	nr_held = 0;
	submitted = 0;
	completed = 0;
	responses = 0;
	released = 0;

	for (i = 0; i < packets && !s.c.fatal; i++) {
		s.now += unit_rand_below(20 * US);
		submit();
		inject();
		if (nr_held && unit_rand() & 1)
			answer(unit_rand_below(nr_held));
		if (falcon_core_next_timer(&s.c) <= s.now)
			falcon_core_timer(&s.c, s.now);
		while (falcon_core_tx(&s.c, s.now, &s.tx))
			;
		effects();
		if (i % 16 == 0)
			check_counters();
	}
	falcon_core_abort(&s.c, FALCON_CMPL_DEAD_CONN);
	effects();
	while (nr_held)
		answer(0);
	effects();
	EXPECT_EQ(nr_used, 0);
	EXPECT_EQ(completed, submitted);
	EXPECT_EQ(released, responses);
	EXPECT_EQ(s.c.nr_flight, 0);
}

/*
 * spec: 9.2.2+1 no packet that parses can break a connection's memory or grow
 * it
 */
TEST(hostile_peer_breaks_nothing)
{
	const char *e = getenv("HOSTILE_SEEDS");
	u32 seeds = e ? atoi(e) : 300, seed;
	u64 total = 0;

	for (seed = 1; seed <= seeds; seed++) {
		unsigned int failures = unit_failed();

		one_attack(seed, 3000);
		total += completed;
		if (unit_failed() != failures) {
			printf("# seed %u\n", seed);
			return;
		}
	}
	/* it was a conversation, and not all of it refused */
	EXPECT_GT(total, seeds * 200);
	EXPECT_LT(most, SOLO_MAX);
}
