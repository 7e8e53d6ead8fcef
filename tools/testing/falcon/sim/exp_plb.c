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

static void trial_steps(double *gbps, struct sim_load *load, u32 steps)
{
	u32 i;

	for (i = 0; i < steps; i++) {
		load->bytes_delivered = 0;
		sim_run(sim_now + STEP_PS);
		gbps[i] = load->bytes_delivered * 8000.0 / STEP_PS;
	}
}

static void trial_run(double *gbps, u64 seed, u32 way, u32 steps,
		      struct sim_trials *all)
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
	struct sim_pace pace = { gbps + steps, steps, SMOOTH, STEP_PS };
	struct sim_background bg;
	struct falcon_core_cfg cfg;
	u64 sent[SPINES];
	struct sim_pair pair;
	struct sim_net net;
	double before;
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
	trial_steps(gbps, &load, steps / 2);
	for (i = 0; i < SPINES; i++)
		sent[i] = sim_net_up(&net, 0, i)->tx_bytes;
	trial_steps(gbps + steps / 2, &load, steps - steps / 2);
	before = sim_mean_of(gbps + steps / 2, steps - steps / 2);
	all->relabels -= pair.fa->c.stats.relabels;
	sim_background_start(&bg, busiest(&net, sent), LINK_MBPS * 21 / 20);
	trial_steps(gbps + steps, &load, steps);
	all->nr++;
	all->relabels += pair.fa->c.stats.relabels;
	all->before += before;
	all->after += sim_mean_of(gbps + steps + steps / 2, steps - steps / 2);
	/* The queue takes a moment to fill: goodput falls first. */
	sim_sample(&all->back, sim_back(&pace, SMOOTH, 0.9 * before));
}

static void plb_run(u32 cell, FILE *csv)
{
	u32 steps = sim_scale == SIM_SMOKE ? 40 : STEPS, i;
	u32 trials = sim_scale == SIM_SMOKE ? 1 : TRIALS;
	double *gbps = sim_alloc(2 * steps * sizeof(*gbps));
	struct sim_trials all = { 0 };
	u64 seed[TRIALS];

	for (i = 0; i < trials; i++)
		seed[i] = sim_rand();
	for (i = 0; i < trials; i++)
		trial_run(gbps, seed[i], cell, steps, &all);
	fprintf(csv, "%s,", ways[cell].name);
	sim_trials_print(&all, csv);
	fputc('\n', csv);
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
		snprintf(what, sizeof(what), "%s: back", ways[i].name);
		sim_judge_back(what, value(t, ways[i].name, "p50_us"),
			       value(t, ways[i].name, "max_us"));
	}
}

const struct sim_exp exp_plb = {
	.name = "plb",
	.title = "background traffic takes a spine: PLB",
	.setup = "two racks, 4 spines, 200 Gb/s, RTT 20 us, window 512, one connection",
	.columns = "way," SIM_TRIALS_COLUMNS,
	.cells = plb_cells,
	.run = plb_run,
	.judge = plb_judge,
};
