// SPDX-License-Identifier: GPL-2.0
/*
 * How well loss recovery does, over many transfers with seeds of their own:
 * figures, not single cases. The seeds are always the same. STAT_RUNS of the
 * environment says how many transfers, and prints what was counted.
 */
#include <stdlib.h>
#include "pair.h"

#define RTT	(20 * PAIR_US)

struct figures {
	u64 transfers, packets, with_rto, retx, by_rack;
};

static u32 late_ppm;
static u64 late_ns;

/* A part of the packets comes late by up to late_ns: no jitter for the rest. */
static bool some_late(struct pair *p, struct pair_pkt *pkt)
{
	if (unit_rand_below(1000000) < late_ppm)
		pkt->at_ns += unit_rand_below(late_ns);
	return true;
}

static u32 runs(u32 some)
{
	const char *s = getenv("STAT_RUNS");

	return s ? atoi(s) : some;
}

/* One transfer of @n pushes over a connection of its own */
static void transfer(u64 seed, u32 n, u32 drop_ppm, struct figures *f)
{
	struct pair *p = calloc(1, sizeof(*p));
	const struct falcon_core_stats *st = &p->end[0].c.stats;
	struct falcon_core_cfg cfg;
	u32 i;

	unit_srand(seed);
	pair_cfg(&cfg, true);
	p->delay_ns = RTT / 2;
	p->drop_ppm = drop_ppm;
	p->filter = some_late;
	pair_init(p, &cfg);
	for (i = 0; i < n; i++)
		pair_push(&p->end[0], PAIR_MTU);
	EXPECT_TRUE(pair_run_idle(p, 1000 * PAIR_MS));
	pair_check_clean(p);

	f->transfers++;
	f->packets += n;
	f->with_rto += !!st->retx[FALCON_RETX_RTO];
	for (i = 0; i < FALCON_NR_RETX; i++)
		f->retx += st->retx[i];
	f->by_rack += st->retx[FALCON_RETX_RACK];
	pair_destroy(p);
	free(p);
}

static void print(const char *what, const struct figures *f)
{
	if (!getenv("STAT_RUNS"))
		return;
	printf("# %s: %llu transfers, %llu of them with an RTO; %llu packets, ",
	       what, f->transfers, f->with_rto, f->packets);
	printf("%llu retransmitted, %llu by RACK\n", f->retx, f->by_rack);
}

/*
 * spec: 9.1.4+5 of transfers of 100 packets at 1 % loss, both ways, one in a
 * thousand at most waits for a retransmit time-out
 */
TEST(one_percent_loss_needs_no_rto)
{
	struct figures f = { 0 };
	u32 i;

	late_ppm = 0;
	for (i = 0; i < runs(5000); i++)
		transfer(i + 1, 100, 10000, &f);
	print("1 % loss", &f);
	EXPECT_LE(f.with_rto * 1000, f.transfers);
	/* it was lossy */
	EXPECT_GT(f.retx * 200, f.packets);
}

/*
 * spec: 9.1.4+6 where 5 % of packets come late by up to half an RTT and none is
 * lost, RACK sends fewer than one in a thousand needlessly
 */
TEST(reordering_retransmits_nothing)
{
	struct figures f = { 0 };
	u32 i;

	late_ppm = 50000;
	late_ns = RTT / 2;
	for (i = 0; i < runs(50); i++)
		transfer(i + 1, 4000, 0, &f);
	print("5 % reordered", &f);
	EXPECT_LT(f.by_rack * 1000, f.packets);
}
