// SPDX-License-Identifier: GPL-2.0
/*
 * Two ends and a hostile network: properties that must hold whatever is lost,
 * duplicated, delayed or answered. Each seed is one life of a pair. The number
 * of seeds is PAIR_SEEDS of the environment, and PAIR_SEED runs one alone.
 */
#include <stdlib.h>
#include "pair.h"

static u32 seeds(void)
{
	const char *s = getenv("PAIR_SEEDS");

	return s ? atoi(s) : 10000;
}

static void random_cfg(struct pair *p, struct falcon_core_cfg *cfg)
{
	pair_cfg(cfg, unit_rand() & 1);
	if (unit_rand() & 1)
		cfg->features &= ~FALCON_F_EACK_ALWAYS;
	cfg->loss = unit_rand_below(16);
	cfg->nr_flows = 1 + unit_rand_below(FALCON_MAX_FLOWS);
	cfg->fae = unit_rand() & 1 ? &falcon_fae_swift : &falcon_fae_fixed;
	cfg->max_attempts = 100;
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

/* One life; returns false if anything was wrong. */
static void one_life(u64 seed, bool abort_early)
{
	struct falcon_core_cfg cfg;
	struct pair *p = calloc(1, sizeof(*p));
	u32 waves = 4, i;

	unit_srand(seed);
	random_cfg(p, &cfg);
	random_ulps(p);
	pair_init(p, &cfg);
	for (i = 0; i < waves; i++) {
		submit_some(p, unit_rand_below(20));
		pair_run_until(p, p->now_ns + unit_rand_below(PAIR_MS));
	}
	if (abort_early) {
		pair_abort(&p->end[0], FALCON_CMPL_DEAD_CONN);
		pair_pump(p);
		EXPECT_EQ(p->end[0].nr_completed, p->end[0].nr_txns);
		pair_run_until(p, p->now_ns + 10 * PAIR_MS);
		pair_abort(&p->end[1], FALCON_CMPL_DEAD_CONN);
	}
	if (!pair_run_idle(p, 100000 * PAIR_MS))
		unit_fail(__FILE__, __LINE__, "stall, seed %llu",
			  (unsigned long long)seed);
	EXPECT_LE(p->end[0].max_rx, 400);
	EXPECT_LE(p->end[1].max_rx, 400);
	pair_check_clean(p);
	pair_destroy(p);
	free(p);
}

static void lives(bool abort_early)
{
	const char *one = getenv("PAIR_SEED");
	u64 seed;

	if (one) {
		one_life(strtoull(one, NULL, 0), abort_early);
		return;
	}
	for (seed = 1; seed <= seeds(); seed++) {
		unsigned int failures = unit_failed();

		one_life(seed, abort_early);
		if (unit_failed() != failures) {
			printf("# seed %llu\n", (unsigned long long)seed);
			return;
		}
	}
}

/* spec: 8.4.2, 8.5.2 every transaction completes once, in order, under loss */
TEST(pair_every_transaction_completes_once_and_in_order)
{
	lives(false);
}

/* spec: 11 the end of a connection completes everything and leaves nothing */
TEST(pair_abort_leaves_nothing)
{
	lives(true);
}
