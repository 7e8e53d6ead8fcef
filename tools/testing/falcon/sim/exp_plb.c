// SPDX-License-Identifier: GPL-2.0
/*
 * One connection between two racks over four spines, beside background traffic
 * that heeds nothing: after half of the time it takes all of the spine that the
 * connection uses most, and a little more. A flow's way out is PLB (10.4), and
 * with several flows the others. Without PLB one flow stays for good.
 *
 * Back at nine tenths of what it had before, over a tenth of a millisecond.
 * Sixteen trials, as the next path is a matter of chance: one in four is the
 * same spine again.
 */
#include "exps.h"

#define LINK_MBPS	200000
#define SPINES		4
#define RTT_PS		(20 * SIM_US)
#define STEP_PS		(10 * SIM_US)
#define SMOOTH		10
#define STEPS		1000
#define TRIALS		16

static const struct {
	const char *name;
	u8 flows;
	u8 attempts;		/* plb_attempt_threshold */
} ways[] = {
	{ "falcon-1", 1, 5 },
	{ "falcon-1-no-plb", 1, 0 },
	{ "falcon-4", 4, 5 },
	{ "falcon-4-no-plb", 4, 0 },
};

static u32 plb_cells(void)
{
	return ARRAY_SIZE(ways);
}

static struct sim_port *busiest(struct sim_net *net, const u64 *sent)
{
	struct sim_port *best = sim_net_up(net, 0, 0);
	u64 most = 0;
	u32 i;

	for (i = 0; i < SPINES; i++) {
		struct sim_port *up = sim_net_up(net, 0, i);

		if (up->tx_bytes - sent[i] > most) {
			most = up->tx_bytes - sent[i];
			best = up;
		}
	}
	return best;
}

struct trial {
	double gbps[2 * STEPS];
	double before;
	double after;
	u64 relabels;
};

static void trial_steps(double *gbps, struct sim_load *load, u32 steps)
{
	u32 i;

	for (i = 0; i < steps; i++) {
		load->bytes_delivered = 0;
		sim_run(sim_now + STEP_PS);
		gbps[i] = load->bytes_delivered * 8000.0 / STEP_PS;
	}
}

static double mean(const double *v, u32 n)
{
	double sum = 0;
	u32 i;

	for (i = 0; i < n; i++)
		sum += v[i];
	return sum / n;
}

static void trial_run(struct trial *x, u64 seed, u32 way, u32 steps)
{
	struct sim_net_cfg topo = {
		.hosts = 1, .leaves = 2, .spines = SPINES,
		.host_mbps = LINK_MBPS, .spine_mbps = LINK_MBPS,
		.rtt_ps = RTT_PS, .buffer_bytes = 8 << 20,
	};
	struct sim_load load = {
		.op = SIM_WRITE, .bytes = 65536, .depth = 64,
	};
	struct falcon_swift_params p = *falcon_swift_in_use;
	struct sim_background bg;
	struct falcon_core_cfg cfg;
	u64 sent[SPINES];
	struct sim_pair pair;
	struct sim_net net;
	u32 i;

	sim_start(seed);
	sim_net_init(&net, &topo);
	p.plb_attempts = ways[way].attempts;
	if (falcon_swift_set_params(&p))
		sim_die("parameters out of range");
	sim_falcon_cfg(&cfg);
	sim_falcon_widen(&cfg, 2);
	cfg.nr_flows = ways[way].flows;
	sim_open(&pair, "falcon", &cfg, NULL, &net.host[0], &net.host[1]);
	load.ep = pair.a;
	sim_load_start(&load);
	trial_steps(x->gbps, &load, steps / 2);
	for (i = 0; i < SPINES; i++)
		sent[i] = sim_net_up(&net, 0, i)->tx_bytes;
	trial_steps(x->gbps + steps / 2, &load, steps - steps / 2);
	x->relabels = pair.fa->c.stats.relabels;
	sim_background_start(&bg, busiest(&net, sent), LINK_MBPS * 21 / 20);
	trial_steps(x->gbps + steps, &load, steps);
	x->relabels = pair.fa->c.stats.relabels - x->relabels;
	x->before = mean(x->gbps + steps / 2, steps - steps / 2);
	x->after = mean(x->gbps + steps + steps / 2, steps - steps / 2);
}

static u64 trial_recovery(const struct trial *x, u32 steps)
{
	u32 i;

	/* The queue takes a moment to fill: goodput falls first. */
	for (i = SMOOTH; i + SMOOTH < steps; i++)
		if (mean(x->gbps + steps + i, SMOOTH) > 0.9 * x->before)
			return i * STEP_PS;
	return SIM_NEVER;
}

static double microseconds(u64 ps)
{
	return ps == SIM_NEVER ? INFINITY : ps / 1e6;
}

static void plb_run(u32 cell, FILE *csv)
{
	u32 steps = sim_scale == SIM_SMOKE ? 40 : STEPS, i;
	u32 trials = sim_scale == SIM_SMOKE ? 1 : TRIALS;
	struct trial *x = sim_alloc(sizeof(*x));
	struct sim_samples recovery = { 0 };
	double before = 0, after = 0;
	u64 seed[TRIALS], relabels = 0;

	for (i = 0; i < trials; i++)
		seed[i] = sim_rand();
	for (i = 0; i < trials; i++) {
		trial_run(x, seed[i], cell, steps);
		before += x->before / trials;
		after += x->after / trials;
		relabels += x->relabels;
		sim_sample(&recovery, trial_recovery(x, steps));
	}
	fprintf(csv, "%s,%.2f,%.2f,%.0f,%.0f,%.2f\n", ways[cell].name, before,
		after, microseconds(sim_percentile(&recovery, 50)),
		microseconds(sim_percentile(&recovery, 100)),
		(double)relabels / trials);
}

static double value(const struct sim_table *t, const char *way,
		    const char *column)
{
	return sim_value(t, column, "way", way, NULL);
}

static void plb_judge(const struct sim_table *t)
{
	char what[64];
	u32 i;

	for (i = 0; i < ARRAY_SIZE(ways); i++) {
		bool plb = ways[i].attempts;

		snprintf(what, sizeof(what), "%s: goodput after / before",
			 ways[i].name);
		sim_judge(what, plb ? ">= 0.9" : "-",
			  value(t, ways[i].name, "after_gbps") /
			  value(t, ways[i].name, "before_gbps"), NAN,
			  plb ? 0.9 : -INFINITY, INFINITY);
		snprintf(what, sizeof(what), "%s: back after (p50), us",
			 ways[i].name);
		sim_judge(what, "-", value(t, ways[i].name, "p50_us"), NAN,
			  -INFINITY, INFINITY);
		snprintf(what, sizeof(what), "%s: back after (worst), us",
			 ways[i].name);
		sim_judge(what, "-", value(t, ways[i].name, "max_us"), NAN,
			  -INFINITY, INFINITY);
	}
}

const struct sim_exp exp_plb = {
	.name = "plb",
	.title = "background traffic takes a spine: PLB",
	.setup = "two racks, 4 spines, 200 Gb/s, RTT 20 us, window 512, one connection",
	.columns = "way,before_gbps,after_gbps,p50_us,max_us,relabels",
	.cells = plb_cells,
	.run = plb_run,
	.judge = plb_judge,
};
