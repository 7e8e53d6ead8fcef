// SPDX-License-Identifier: GPL-2.0
/* Connections that share a link take turns: 8.3 */
#include "net/falcon/core/arbiter.h"
#include "solo.h"

#define QUANTUM		4096
#define MAX_COST	8192
#define NR		64

static struct falcon_arbiter arb;
static struct falcon_turn turn[NR];
static u64 sent[NR];

static void round_of(u32 n, const u8 *weight)
{
	u32 i;

	falcon_arbiter_init(&arb, QUANTUM);
	for (i = 0; i < n; i++) {
		falcon_turn_init(&turn[i], weight ? weight[i] : 1);
		falcon_turn_wait(&arb, &turn[i]);
		sent[i] = 0;
	}
}

/* A turn of somebody who always has more to send: who it was */
static u32 serve(u32 cost)
{
	struct falcon_turn *t = falcon_turn_next(&arb);
	u32 i = t - turn;

	ASSERT_TRUE(t);
	EXPECT_FALSE(falcon_turn_waits(t));
	do {
		u32 n = cost ?: 1 + unit_rand_below(MAX_COST);

		falcon_turn_used(t, n);
		sent[i] += n;
	} while (t->credit > 0);
	falcon_turn_wait(&arb, t);
	return i;
}

/* spec: 8.3-1 equal weights: connection after connection, round robin */
TEST(connections_take_turns_8_3)
{
	u32 i;

	round_of(5, NULL);
	for (i = 0; i < 50; i++)
		EXPECT_EQ(serve(QUANTUM), i % 5);
}

/* spec: 8.3+1 shares follow the weights, whatever the sizes of packets are */
TEST(connections_share_by_weight_8_3)
{
	static const u8 weight[] = { 1, 2, 5, 16, 255 };
	u64 least = ~0ULL, most = 0;
	u32 i;

	round_of(ARRAY_SIZE(weight), weight);
	unit_srand(1);
	for (i = 0; i < 100000; i++)
		serve(0);
	for (i = 0; i < ARRAY_SIZE(weight); i++) {
		least = min(least, sent[i] / weight[i]);
		most = max(most, sent[i] / weight[i]);
	}
	EXPECT_LE(most - least, QUANTUM + MAX_COST);
}

/* spec: 8.3+1 the lightest waits for one turn of each of the others, no more */
TEST(connections_do_not_starve_8_3)
{
	u8 weight[NR];
	u64 others, before, last = 0;
	u32 i, n = 0;

	memset(weight, FALCON_WEIGHT_MAX, sizeof(weight));
	weight[0] = 1;
	round_of(NR, weight);
	others = (NR - 1) * ((u64)FALCON_WEIGHT_MAX * QUANTUM + MAX_COST);
	unit_srand(2);
	while (n < 100) {
		before = 0;
		for (i = 1; i < NR; i++)
			before += sent[i];
		if (serve(0))
			continue;
		/* a debt of one packet is two turns at most */
		EXPECT_LE(before - last, (1 + MAX_COST / QUANTUM) * others);
		last = before;
		n++;
	}
}

/* spec: 8.3+1 what was not used lapses; what was overdrawn is paid later */
TEST(credit_lapses_and_debt_stays_8_3)
{
	round_of(2, NULL);
	ASSERT_TRUE(falcon_turn_next(&arb) == &turn[0]);
	falcon_turn_used(&turn[0], 100);
	falcon_turn_end(&turn[0]);
	EXPECT_EQ(turn[0].credit, 0);
	falcon_turn_wait(&arb, &turn[0]);
	ASSERT_TRUE(falcon_turn_next(&arb) == &turn[1]);
	falcon_turn_used(&turn[1], 3 * QUANTUM);
	falcon_turn_wait(&arb, &turn[1]);
	EXPECT_EQ(turn[1].credit, -2 * QUANTUM);
	falcon_turn_end(&turn[1]);
	falcon_turn_wait(&arb, &turn[1]);
	/* turns of 1 pay its debt */
	EXPECT_EQ(serve(QUANTUM), 0);
	EXPECT_EQ(serve(QUANTUM), 0);
	EXPECT_EQ(serve(QUANTUM), 0);
	EXPECT_EQ(serve(QUANTUM), 1);
}

/* spec: 8.3-4 who has ended is passed over, wherever it was in the round */
TEST(turn_ends_anywhere_in_the_round_8_3)
{
	round_of(4, NULL);
	falcon_turn_end(&turn[1]);
	falcon_turn_end(&turn[3]);
	falcon_turn_wait(&arb, &turn[0]);	/* waits already */
	EXPECT_EQ(serve(QUANTUM), 0);
	EXPECT_EQ(serve(QUANTUM), 2);
	EXPECT_EQ(serve(QUANTUM), 0);
	falcon_turn_end(&turn[0]);
	falcon_turn_end(&turn[2]);
	EXPECT_TRUE(falcon_arbiter_idle(&arb));
	EXPECT_TRUE(!falcon_turn_next(&arb));
}

/*
 * spec: 8.3+1 O(1): in steps, of turns served and of turns that only pay,
 * there are no more than what was sent explains
 */
TEST(turns_cost_no_more_than_what_is_sent_8_3)
{
	u64 steps = 0, total = 0;
	s32 credit[NR];
	u32 i, n;

	round_of(NR, NULL);
	unit_srand(3);
	for (n = 0; n < 20000; n++) {
		for (i = 0; i < NR; i++)
			credit[i] = turn[i].credit;
		i = serve(0);
		steps++;
		for (i = 0; i < NR; i++)
			if (turn[i].credit > credit[i])
				steps += (turn[i].credit - credit[i]) / QUANTUM;
	}
	for (i = 0; i < NR; i++)
		total += sent[i];
	EXPECT_LE(steps, n + total / QUANTUM + NR);
}

/* ----------------------------------------------- both levels, on one link */

static struct solo end[3];

/* spec: 8.3+2 an ACK or NACK waits for no turn, and nothing else comes along */
TEST(acks_wait_for_no_turn_8_3)
{
	struct solo *s = &end[0];
	struct falcon_tx tx;

	solo_init(s, true);
	EXPECT_FALSE(falcon_core_tx_queued(&s->c));
	EXPECT_FALSE(falcon_core_tx_ack(&s->c, &tx));
	solo_push(s, 1000);
	EXPECT_TRUE(falcon_core_tx_queued(&s->c));
	EXPECT_FALSE(falcon_core_tx_ack(&s->c, &tx));
	solo_rx_push(s, 0, 0);
	falcon_core_target_rnr(&s->c, solo_delivered(s), 5, s->now);
	solo_rx_push(s, 200, 200);		/* beyond the window */
	s->c.ack_now = true;
	ASSERT_TRUE(falcon_core_tx_ack(&s->c, &tx));
	EXPECT_EQ(tx.type, FALCON_PKT_NACK);
	ASSERT_TRUE(falcon_core_tx_ack(&s->c, &tx));
	EXPECT_EQ(tx.type, FALCON_PKT_EACK);
	EXPECT_FALSE(falcon_core_tx_ack(&s->c, &tx));
	solo_expect_tx(s, FALCON_PKT_PUSH_DATA, 0);
	EXPECT_FALSE(falcon_core_tx_queued(&s->c));
	/* what waits for its retransmission is queued again */
	ASSERT_TRUE(solo_timer(s));
	EXPECT_TRUE(falcon_core_tx_queued(&s->c));
	falcon_core_abort(&s->c, FALCON_CMPL_DEAD_CONN);
	EXPECT_FALSE(falcon_core_tx_ack(&s->c, &tx));
}

static void flood(struct solo *s, bool ordered)
{
	u32 i;

	solo_init(s, ordered);
	for (i = 0; i < 30; i++)
		solo_push(s, 1000);
}

/*
 * spec: 8.3-1 8.3-3 pull data waits for no requests, neither of its own
 * connection nor of others: a round brings one of it
 */
TEST(pull_data_is_not_behind_requests_8_3)
{
	u32 i, served, pull_data = 0;

	falcon_arbiter_init(&arb, 1);	/* a turn is a packet */
	for (i = 0; i < ARRAY_SIZE(end); i++) {
		flood(&end[i], i % 2);
		falcon_turn_init(&turn[i], 1);
		falcon_turn_wait(&arb, &turn[i]);
	}
	for (i = 0; i < 10; i++) {
		solo_rx_pull(&end[1], i, i);
		solo_respond(&end[1], solo_delivered(&end[1]), 1000);
	}
	while (end[1].c.ack_now)
		solo_tx(&end[1]);
	for (served = 0; served < 60; served++) {
		struct falcon_turn *t = falcon_turn_next(&arb);

		ASSERT_TRUE(t == &turn[served % 3]);
		ASSERT_TRUE(solo_tx(&end[served % 3]));
		pull_data += end[served % 3].pi.type == FALCON_PKT_PULL_DATA;
		falcon_turn_used(t, 1);
		falcon_turn_wait(&arb, t);
	}
	/* of 20 turns of that connection every other one */
	EXPECT_EQ(pull_data, 10);
}
