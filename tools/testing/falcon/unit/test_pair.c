// SPDX-License-Identifier: GPL-2.0
/*
 * Two ends and a hostile network: properties that must hold whatever is lost,
 * duplicated, delayed or answered. Each seed is one life of a pair. The number
 * of seeds is PAIR_SEEDS of the environment, for every test then, and PAIR_SEED
 * runs one alone.
 */
#include <stdlib.h>
#include "pair.h"

static u32 dead, timed_out;
static int policy = -1;			/* FALCON_LOSS_*; -1: any mixture */

static u32 seeds(u32 some)
{
	const char *s = getenv("PAIR_SEEDS");

	return s ? atoi(s) : some;
}

static void random_cfg(struct pair *p, struct falcon_core_cfg *cfg)
{
	pair_cfg(cfg, unit_rand() & 1);
	if (unit_rand() & 1)
		cfg->features &= ~FALCON_F_EACK_ALWAYS;
	cfg->loss = unit_rand_below(16);
	if (policy >= 0)
		cfg->loss = policy;
	cfg->nr_flows = 1 + unit_rand_below(FALCON_MAX_FLOWS);
	cfg->fae = unit_rand() & 1 ? &falcon_fae_swift : &falcon_fae_fixed;
	cfg->max_attempts = 100;
	cfg->gate_flight = unit_rand() & 1;
	cfg->win_shift = unit_rand_below(FALCON_WIN_SHIFT_MAX + 1);
	cfg->rx_win[0] = falcon_win_max(cfg, 0);
	cfg->rx_win[1] = falcon_win_max(cfg, 1);
	p->delay_ns = 1000 + unit_rand_below(50000);
	if (unit_rand() & 1)
		p->jitter_ns = unit_rand_below(4 * p->delay_ns) + 1;
	if (unit_rand() & 1)
		p->drop_ppm = unit_rand_below(250000);
	if (unit_rand() & 1)
		p->dup_ppm = unit_rand_below(200000);
	if (unit_rand() & 1)
		p->extra_flow_ns = unit_rand_below(20000);
	p->ecn_ppm = 10000;
}

static void random_ulps(struct pair *p)
{
	if (unit_rand() & 1)
		p->rnr_ppm = unit_rand_below(300000);
	if (unit_rand() & 1)
		p->cie_ppm = unit_rand_below(100000);
	if (unit_rand() & 1)
		p->late_ppm = unit_rand_below(1000000);
	p->late_ns = unit_rand_below(2 * PAIR_MS);
	p->short_ppm = 100000;
	p->empty_ppm = 50000;
}

static void submit_some(struct pair *p, u32 n)
{
	while (n--) {
		struct pair_end *e = &p->end[unit_rand() & 1];
		u16 len = unit_rand_below(PAIR_MTU + 1);

		if (unit_rand() & 1)
			pair_pull(e, len);
		else
			pair_push(e, len);
	}
}

/* Attempts that run out, transactions that time out, a network that is gone */
static void random_budgets(struct pair *p, struct falcon_core_cfg *cfg)
{
	cfg->max_attempts = unit_rand_below(5);
	if (unit_rand() & 1)
		cfg->txn_timeout_ns = 100000 + unit_rand_below(5 * PAIR_MS);
	if (unit_rand() & 1)
		cfg->user_timeout_ns = 1 + unit_rand_below(50 * PAIR_MS);
	cfg->rnr_limit = unit_rand_below(4);
	if (unit_rand() & 1) {
		p->black_from_ns = 1000 * PAIR_MS + unit_rand_below(5 * PAIR_MS);
		p->black_to_ns = p->black_from_ns +
				 unit_rand_below(20 * PAIR_MS);
	}
}

enum life { LIFE_FULL, LIFE_ABORTED, LIFE_BUDGETS, LIFE_GAPLESS };

static void one_life(u64 seed, enum life life)
{
	struct falcon_core_cfg cfg;
	struct pair *p = calloc(1, sizeof(*p));
	u32 waves = 4, i;

	unit_srand(seed);
	random_cfg(p, &cfg);
	random_ulps(p);
	if (life >= LIFE_BUDGETS)
		random_budgets(p, &cfg);
	if (life == LIFE_GAPLESS) {
		cfg.features |= FALCON_F_ORDERED;
		cfg.gapless = true;
	}
	pair_init(p, &cfg);
	for (i = 0; i < waves; i++) {
		submit_some(p, unit_rand_below(20));
		pair_run_until(p, p->now_ns + unit_rand_below(PAIR_MS));
	}
	if (life == LIFE_ABORTED) {
		pair_abort(&p->end[0], FALCON_CMPL_DEAD_CONN);
		pair_pump(p);
		EXPECT_EQ(p->end[0].nr_completed, p->end[0].nr_txns);
		pair_run_until(p, p->now_ns + 10 * PAIR_MS);
		pair_abort(&p->end[1], FALCON_CMPL_DEAD_CONN);
	}
	if (!pair_run_idle(p, 100000 * PAIR_MS))
		unit_fail(__FILE__, __LINE__, "stall, seed %llu",
			  (unsigned long long)seed);
	/* one end may have died: the other has nobody to close it */
	for (i = 0; i < 2 && life >= LIFE_BUDGETS; i++)
		if (p->end[!i].dead)
			pair_abort(&p->end[i], FALCON_CMPL_DEAD_CONN);
	pair_run_idle(p, 1000 * PAIR_MS);
	dead += p->end[0].dead;
	timed_out += p->end[0].cmpl_count[FALCON_CMPL_LOCAL_TO];
	EXPECT_LE(p->end[0].max_rx, 400);
	EXPECT_LE(p->end[1].max_rx, 400);
	pair_check_clean(p);
	pair_destroy(p);
	free(p);
}

static void lives(enum life life, u32 some)
{
	const char *one = getenv("PAIR_SEED");
	u64 seed;

	if (one) {
		one_life(strtoull(one, NULL, 0), life);
		return;
	}
	for (seed = 1; seed <= seeds(some); seed++) {
		unsigned int failures = unit_failed();

		one_life(seed, life);
		if (unit_failed() != failures) {
			printf("# seed %llu\n", (unsigned long long)seed);
			return;
		}
	}
}

/*
 * spec: 6.1-1 6.1.3-1 8-1 8.4.2-1 8.5.2-1 every transaction completes once, in
 * order, under loss
 */
TEST(pair_every_transaction_completes_once_and_in_order)
{
	lives(LIFE_FULL, 10000);
	EXPECT_EQ(dead, 0);
	EXPECT_EQ(timed_out, 0);
}

static void lives_under(u8 loss)
{
	policy = loss;
	dead = 0;
	lives(LIFE_FULL, 1000);
	policy = -1;
	EXPECT_EQ(dead, 0);
}

/* spec: 9.1.4+7 with no early policy: the time-out alone */
TEST(pair_policy_none)
{
	lives_under(0);
}

/* spec: 9.1.4+7 with out-of-order distance alone */
TEST(pair_policy_ooo)
{
	lives_under(FALCON_LOSS_OOO);
}

/* spec: 9.1.4+7 with EACK-OWN alone */
TEST(pair_policy_own)
{
	lives_under(FALCON_LOSS_OWN);
}

/* spec: 9.1.4+7 with RACK alone */
TEST(pair_policy_rack)
{
	lives_under(FALCON_LOSS_RACK);
}

/* spec: 9.1.4+7 with the tail loss probe alone */
TEST(pair_policy_tlp)
{
	lives_under(FALCON_LOSS_TLP);
}

/* spec: 9.1.4+7 with the default, RACK and the tail loss probe */
TEST(pair_policy_default)
{
	lives_under(FALCON_LOSS_RACK | FALCON_LOSS_TLP);
}

/*
 * spec: 11-23 the end of a connection completes everything and leaves nothing
 */
TEST(pair_abort_leaves_nothing)
{
	lives(LIFE_ABORTED, 4000);
}

/*
 * spec: 11-1 whatever runs out, every transaction is told once, and all comes
 * back
 */
TEST(pair_budgets_reclaim_everything)
{
	dead = 0;
	timed_out = 0;
	lives(LIFE_BUDGETS, 4000);
	if (!getenv("PAIR_SEED")) {
		EXPECT_GT(dead, 0);
		EXPECT_GT(timed_out, 0);
	}
}

/*
 * spec: 11+4 without gaps, nothing is delivered that follows what was given up,
 * whatever runs out, and at whichever end
 */
TEST(pair_gapless_delivers_a_prefix)
{
	dead = 0;
	lives(LIFE_GAPLESS, 4000);
	if (!getenv("PAIR_SEED"))
		EXPECT_GT(dead, 0);
}

/*
 * Connections that share pools at both ends, far too small for them together,
 * must all get on: the head of each line is admitted in the end.
 * spec: 8.2.1.2-5 CR rules: constrained resources make nobody wait for ever
 */
TEST(pair_shared_pools_make_progress_8_2_1_2)
{
	enum { PAIRS = 8 };
	struct falcon_core_cfg cfg;
	u64 seed, refused = 0;

	for (seed = 1; seed <= max(seeds(6000) / 20, 1u); seed++) {
		static struct falcon_resources res[2];
		struct pair *p[PAIRS], *next;
		unsigned int failures = unit_failed();
		u64 limit = 1000 * PAIR_MS + 60000 * PAIR_MS, t;
		u32 i, k;

		unit_srand(seed);
		for (i = 0; i < 2; i++) {
			falcon_res_init(&res[i]);
			falcon_res_limit(&res[i], FALCON_POOL_RX_NET,
					 2 + unit_rand_below(12), 131072);
		}
		for (i = 0; i < PAIRS; i++) {
			p[i] = calloc(1, sizeof(*p[i]));
			random_cfg(p[i], &cfg);
			random_ulps(p[i]);
			p[i]->res[0] = &res[0];
			p[i]->res[1] = &res[1];
			pair_init(p[i], &cfg);
			submit_some(p[i], 30);
			pair_pump(p[i]);
		}
		do {
			next = p[0];
			for (i = 1; i < PAIRS; i++)
				if (pair_next(p[i]) < pair_next(next))
					next = p[i];
			t = pair_next(next);
			if (t == FALCON_NO_TIMER)
				break;
			pair_step(next);
		} while (t < limit);
		if (t != FALCON_NO_TIMER)
			unit_fail(__FILE__, __LINE__, "stall, seed %llu",
				  (unsigned long long)seed);
		for (i = 0; i < PAIRS; i++) {
			pair_check_clean(p[i]);
			refused += p[i]->end[0].c.stats.rx_no_resource;
			pair_destroy(p[i]);
			free(p[i]);
		}
		for (i = 0; i < 2; i++)
			for (k = 0; k < FALCON_NR_POOL; k++)
				EXPECT_EQ(atomic_read(&res[i].pool[k].pkts), 0);
		if (unit_failed() != failures) {
			printf("# seed %llu\n", (unsigned long long)seed);
			return;
		}
	}
	EXPECT_GT(refused, 0);
}
