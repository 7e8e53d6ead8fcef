// SPDX-License-Identifier: GPL-2.0
/*
 * Paths: four hosts of a rack each write to one of another, over four spines.
 * Then one spine fails, silently, or slows to a tenth. Falcon with one flow and
 * with four, go-back-N and packet spraying with one window.
 *
 * Four spines carry what four hosts send, if they all are used alike; three
 * carry three quarters. The traffic has recovered when half a millisecond has
 * nine tenths of what is left of the spines, or of what there was before. Sixteen
 * trials, as labels and so paths are a matter of chance.
 */
#include <string.h>
#include "exps.h"

#define LINK_MBPS	200000
#define PAIRS		4
#define SPINES		4
#define RTT_PS		(20 * SIM_US)
#define STEP_PS		(50 * SIM_US)
#define SMOOTH		10
#define TRIALS		16

static const char * const faults[] = { "failed", "slow" };

static const struct {
	const char *name;
	const char *transport;
	u8 flows;
} ways[] = {
	{ "falcon-4", "falcon", 4 },
	{ "falcon-1", "falcon", 1 },
	{ "roce-gbn", "roce-gbn", 1 },
	{ "spray", "spray", 1 },
};

static u32 multipath_cells(void)
{
	return ARRAY_SIZE(ways) * ARRAY_SIZE(faults);
}

static void spine_fault(struct sim_net *net, u32 fault)
{
	u32 i;

	for (i = 0; i < net->nr_leaves; i++) {
		struct sim_port *up = sim_net_up(net, i, 0);
		struct sim_port *down = &net->spine[0].port[i];

		if (fault) {
			up->mbps /= 10;
			down->mbps /= 10;
		} else {
			up->down = true;
			down->down = true;
		}
	}
}

struct trial {
	struct sim_net net;
	struct sim_pair pair[PAIRS];
	struct sim_load load[PAIRS];
	double *gbps;
};

static void trial_start(struct trial *x, u32 way)
{
	struct sim_net_cfg topo = {
		.hosts = PAIRS, .leaves = 2, .spines = SPINES,
		.host_mbps = LINK_MBPS, .spine_mbps = LINK_MBPS,
		.rtt_ps = RTT_PS, .buffer_bytes = 64 << 20,
	};
	struct sim_model_cfg model = {
		.window_pkts = 512, .rate_mbps = LINK_MBPS, .dcqcn = true,
		.rto_ps = SIM_MS,
	};
	struct falcon_core_cfg cfg;
	u32 i;

	sim_net_init(&x->net, &topo);
	for (i = 0; i < 2 * SPINES; i++) {
		struct sim_port *up = sim_net_up(&x->net, i / SPINES,
						 i % SPINES);

		up->ecn_min_bytes = 400 << 10;
		up->ecn_max_bytes = 1600 << 10;
	}
	sim_falcon_cfg(&cfg);
	sim_falcon_widen(&cfg, 2);
	cfg.delay_absolute = true;
	cfg.delay_target = falcon_ns_to_units(RTT_PS / SIM_NS + 25000);
	cfg.nr_flows = ways[way].flows;
	for (i = 0; i < PAIRS; i++) {
		sim_open(&x->pair[i], ways[way].transport, &cfg, &model,
			 &x->net.host[i], &x->net.host[PAIRS + i]);
		x->load[i] = (struct sim_load){
			.ep = x->pair[i].a, .op = SIM_WRITE, .bytes = 65536,
			.depth = 64,
		};
		sim_load_start(&x->load[i]);
	}
}

static void trial_step(struct trial *x, u32 step)
{
	u32 i;

	sim_run(sim_now + STEP_PS);
	x->gbps[step] = 0;
	for (i = 0; i < PAIRS; i++) {
		x->gbps[step] += x->load[i].bytes_delivered * 8000.0 / STEP_PS;
		x->load[i].bytes_delivered = 0;
	}
}

/* What is left of the spines, or what there was, and nine tenths of it */
static double enough(double before, u32 fault)
{
	double left = sim_goodput_limit(LINK_MBPS) * (fault ? 3.1 : 3);

	return 0.9 * fmin(before, left);
}

static void trial_run(struct trial *x, u64 seed, u32 way, u32 fault, u32 steps,
		      struct sim_trials *all)
{
	struct sim_pace pace = { x->gbps + steps, steps, SMOOTH, STEP_PS };
	double before;
	u32 i;

	sim_start(seed);
	trial_start(x, way);
	for (i = 0; i < 2 * steps; i++) {
		if (i == steps)
			spine_fault(&x->net, fault);
		trial_step(x, i);
	}
	before = sim_mean_of(x->gbps + steps / 2, steps / 2);
	all->nr++;
	all->before += before;
	all->after += sim_mean_of(x->gbps + steps + steps / 2, steps / 2);
	for (i = 0; i < PAIRS && x->pair[i].fa; i++)
		all->relabels += x->pair[i].fa->c.stats.relabels;
	sim_sample(&all->back, sim_back(&pace, 0, enough(before, fault)));
}

static void multipath_run(u32 cell, FILE *csv)
{
	u32 way = cell % ARRAY_SIZE(ways), fault = cell / ARRAY_SIZE(ways);
	u32 steps = sim_scale == SIM_SMOKE ? 20 : 300, i, k;
	u32 trials = sim_scale == SIM_SMOKE ? 1 : TRIALS;
	double *sum = sim_alloc(2 * steps * sizeof(*sum));
	struct sim_trials all = { 0 };
	u64 seed[TRIALS];
	char name[32];
	FILE *series;

	for (i = 0; i < trials; i++)
		seed[i] = sim_rand();

	for (i = 0; i < trials; i++) {
		struct trial *x = sim_alloc(sizeof(*x));

		x->gbps = sim_alloc(2 * steps * sizeof(*x->gbps));
		trial_run(x, seed[i], way, fault, steps, &all);
		for (k = 0; k < 2 * steps; k++)
			sum[k] += x->gbps[k] / trials;
	}
	snprintf(name, sizeof(name), "%s-%s", ways[way].name, faults[fault]);
	series = sim_series(name, "time_us,gbps");
	for (k = 0; k < 2 * steps; k++)
		fprintf(series, "%llu,%.2f\n", k * STEP_PS / SIM_US, sum[k]);
	fclose(series);
	fprintf(csv, "%s,%s,%.2f,", ways[way].name, faults[fault],
		sim_mean_of(sum + steps, SMOOTH));
	sim_trials_print(&all, csv);
	fputc('\n', csv);
}

static double value(const struct sim_table *t, const char *way,
		    const char *fault, const char *column)
{
	return sim_value(t, column, "transport", way, "fault", fault, NULL);
}

static void multipath_judge(const struct sim_table *t)
{
	double all = SPINES * sim_goodput_limit(LINK_MBPS);
	char what[64];
	u32 i, k;

	for (k = 0; k < ARRAY_SIZE(ways); k++) {
		snprintf(what, sizeof(what), "%s: goodput / all spines'",
			 ways[k].name);
		sim_judge(what, "-", value(t, ways[k].name, "failed",
					   "before_gbps") / all,
			  NAN, -INFINITY, INFINITY);
	}
	for (i = 0; i < ARRAY_SIZE(faults); i++)
		for (k = 0; k < ARRAY_SIZE(ways); k++) {
			double after = value(t, ways[k].name, faults[i],
					     "after_gbps");

			snprintf(what, sizeof(what),
				 "%s, spine %s: goodput / what is left",
				 ways[k].name, faults[i]);
			sim_judge(what, "-", after / (all / SPINES *
						      (i ? 3.1 : 3)), NAN,
				  -INFINITY, INFINITY);
			snprintf(what, sizeof(what), "%s, spine %s: back",
				 ways[k].name, faults[i]);
			sim_judge_back(what, value(t, ways[k].name, faults[i],
						   "p50_us"),
				       value(t, ways[k].name, faults[i],
					     "max_us"));
		}
}

const struct sim_exp exp_multipath = {
	.name = "multipath",
	.title = "a spine of a Clos fails or slows",
	.setup = "two racks of 4, 4 spines, 200 Gb/s, RTT 20 us, window 512",
	.columns = "transport,fault,first_gbps," SIM_TRIALS_COLUMNS,
	.cells = multipath_cells,
	.run = multipath_run,
	.judge = multipath_judge,
};
