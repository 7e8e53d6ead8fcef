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

/* How long 4000 pushes take with a window of 32, in ns, over @n transfers */
static u64 duration(bool gate_flight, u32 drop_ppm, u32 n)
{
	struct falcon_core_cfg cfg;
	u64 sum = 0;
	u32 i, k;

	for (i = 0; i < n; i++) {
		struct pair *p = calloc(1, sizeof(*p));
		u64 start;

		unit_srand(i + 1);
		pair_cfg(&cfg, true);
		cfg.gate_flight = gate_flight;
		p->delay_ns = RTT / 2;
		p->drop_ppm = drop_ppm;
		pair_init(p, &cfg);
		start = p->now_ns;
		for (k = 0; k < 4000; k++)
			pair_push(&p->end[0], PAIR_MTU);
		EXPECT_TRUE(pair_run_idle(p, 1000 * PAIR_MS));
		sum += p->now_ns - start;
		pair_destroy(p);
		free(p);
	}
	return sum / n;
}

/*
 * spec: 9.1.2+5 at 1 % loss the gate of 9.1.2 stands still behind each lost
 * packet; with one of packets in flight fewer than half as much is lost by that
 */
TEST(gate_stalls_behind_a_loss_9_1_2)
{
	u32 n = runs(400) / 40 + 1;
	u64 clean = duration(false, 0, n);
	u64 literal = duration(false, 10000, n);
	u64 flight = duration(true, 10000, n);

	if (getenv("STAT_RUNS"))
		printf("# us: %llu lossless, %llu by 9.1.2, %llu by flight\n",
		       clean / 1000, literal / 1000, flight / 1000);
	EXPECT_LT(2 * (flight - clean), literal - clean);
}
