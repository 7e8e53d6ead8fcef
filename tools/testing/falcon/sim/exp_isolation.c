// SPDX-License-Identifier: GPL-2.0
/*
 * Isolation (paper, figure 24): 500 slow flows to another rack, whose receiver
 * has a link of 50 Gb/s, and eight fast ones within the rack share the NIC's
 * transmit contexts. How much longer do the fast ones' writes of 16 KiB take
 * than alone, if the NIC's ULP is not held back, is by a fixed number of
 * transactions a connection, or by core's dynamic threshold, alpha times what
 * is free?
 *
 * Whoever finds the pool full waits, and gets one transaction in turn.
 */
#include <string.h>
#include "exps.h"

#define LINK_MBPS	200000
#define SLOW_MBPS	50000
#define SLOW_FLOWS	(sim_scale == SIM_SMOKE ? 50 : 500)
#define FAST_FLOWS	8
#define CONTEXTS	4096
#define STATIC_TXNS	64	/* a connection alone must fill the link */
#define RTT_PS		(20 * SIM_US)	/* between racks */

static const char * const modes[] = { "alone", "none", "static", "dynamic" };

static u32 isolation_cells(void)
{
	return ARRAY_SIZE(modes);
}

static void connect_to(struct sim_net *net, struct sim_pair *pair, u32 to,
		       bool is_static)
{
	struct falcon_core_cfg cfg;

	sim_falcon_cfg(&cfg);
	cfg.delay_absolute = true;
	cfg.delay_target = falcon_ns_to_units(25000 + 10000);
	sim_open(pair, "falcon", &cfg, NULL, &net->host[0], &net->host[to]);
	if (is_static)
		pair->fa->max_txns = STATIC_TXNS;
}

static void isolation_run(u32 cell, FILE *csv)
{
	const char *mode = modes[cell];
	struct sim_net_cfg topo = {
		.hosts = 2, .leaves = 2, .spines = 2, .host_mbps = LINK_MBPS,
		.spine_mbps = LINK_MBPS, .rtt_ps = RTT_PS,
		.buffer_bytes = 64 << 20,
	};
	u64 len = sim_scale == SIM_SMOKE ? 2 * SIM_MS : 40 * SIM_MS;
	u32 nr_slow = strcmp(mode, "alone") ? SLOW_FLOWS : 0;
	struct sim_load *load = sim_alloc((FAST_FLOWS + SLOW_FLOWS) *
					  sizeof(*load));
	struct sim_samples latency = { 0 };
	struct sim_pair pair;
	u64 slow_bytes = 0;
	struct sim_net net;
	u32 i;

	sim_net_init(&net, &topo);
	sim_net_down(&net, 2)->mbps = SLOW_MBPS;
	falcon_res_limit(&net.host[0].res, FALCON_POOL_TX_REQ, CONTEXTS, 0);
	if (strcmp(mode, "dynamic")) {
		net.host[0].res.alpha_shift = FALCON_ALPHA_NONE;
		net.host[0].res.alpha_retx_shift = FALCON_ALPHA_NONE;
	}
	for (i = 0; i < FAST_FLOWS + nr_slow; i++) {
		bool fast = i >= nr_slow;

		connect_to(&net, &pair, fast ? 1 : 2, !strcmp(mode, "static"));
		load[i] = (struct sim_load){
			.ep = pair.a, .op = SIM_WRITE,
			.bytes = fast ? 16384 : 262144,
			.depth = fast ? 1 : 4,
			.completed = fast ? &latency : NULL,
		};
		sim_load_start(&load[i]);
	}
	sim_run(sim_now + len);
	sim_samples_reset(&latency);
	for (i = 0; i < nr_slow; i++)
		load[i].bytes_delivered = 0;
	sim_run(sim_now + len);
	for (i = 0; i < nr_slow; i++)
		slow_bytes += load[i].bytes_delivered;
	fprintf(csv, "%s,%llu,%.2f,%.2f,%.2f,%.3f\n", mode, latency.nr,
		sim_mean(&latency) / 1e6, sim_percentile(&latency, 50) / 1e6,
		sim_percentile(&latency, 99) / 1e6,
		slow_bytes * 8000.0 / len);
}

static double slowdown(const struct sim_table *t, const char *mode)
{
	return sim_value(t, "mean_us", "backpressure", mode, NULL) /
	       sim_value(t, "mean_us", "backpressure", "alone", NULL);
}

static void isolation_judge(const struct sim_table *t)
{
	sim_judge("slowdown, dynamic threshold", "<= 3",
		  slowdown(t, "dynamic"), NAN, 0, 3);
	sim_judge("slowdown, static threshold", "37",
		  slowdown(t, "static"), NAN, -INFINITY, INFINITY);
	sim_judge("slowdown, no backpressure", "63", slowdown(t, "none"), NAN,
		  -INFINITY, INFINITY);
}

const struct sim_exp exp_isolation = {
	.name = "isolation",
	.title = "fast flows beside 500 slow ones",
	.setup = "two racks, 200 Gb/s, RTT 10 and 20 us, window 128, 4096 contexts",
	.columns = "backpressure,messages,mean_us,p50_us,p99_us,slow_gbps",
	.cells = isolation_cells,
	.run = isolation_run,
	.judge = isolation_judge,
};
