// SPDX-License-Identifier: GPL-2.0
/*
 * Connection scale (paper, figure 21): reads of 8 bytes in closed loop, each on
 * a connection taken by chance, among up to 100 000. Contexts that are not in
 * the NIC's cache must be fetched.
 *
 * Inputs, from a model of the cliff (latency 1 + k (1 - C / N)): Falcon's NIC
 * has 10 000 contexts and keeps the others in memory of its own (k = 0.3),
 * RoCE's has 6000 and keeps them in the host's (k = 2). A read needs two
 * contexts that may be missing, one at each end: a miss costs k/2 of the
 * latency without any. What shows is how often there is a miss, and what
 * follows from that when several reads are under way.
 */
#include <string.h>
#include "exps.h"

#define LINK_MBPS	200000
#define RTT_PS		(2 * SIM_US)
#define PIPE_PS		(300 * SIM_NS)
#define PCIE_PS		(400 * SIM_NS)
#define BASE_PS		(RTT_PS + 4 * PIPE_PS + 2 * PCIE_PS)
#define DEPTH		16

static const u32 sizes[] = { 1000, 5000, 10000, 20000, 50000, 100000 };

static const struct {
	const char *name;
	u32 cache;
	u64 miss_ps;
} nics[] = {
	{ "falcon", 10000, BASE_PS * 3 / 20 },
	{ "roce-gbn", 6000, BASE_PS },
};

struct scale {
	struct sim_pair *pair;
	u32 nr;
	u64 counter;
	struct sim_samples latency;
	struct sim_msg msg[DEPTH];
};

static u32 scale_cells(void)
{
	return ARRAY_SIZE(nics) * (sim_scale == SIM_SMOKE ? 1 :
				   ARRAY_SIZE(sizes));
}

static void next_read(struct sim_msg *msg)
{
	struct scale *x = msg->priv;

	if (msg->start_ps)
		sim_sample(&x->latency, sim_now - msg->start_ps);
	msg->ep = x->pair[sim_rand_below(x->nr)].a;
	msg->submitted = 0;
	msg->delivered = 0;
	msg->completed = 0;
	msg->start_ps = sim_now;
	msg->ep->ops->send(msg->ep, msg);
}

static void reads_start(struct scale *x)
{
	u32 i;

	for (i = 0; i < DEPTH; i++) {
		x->msg[i] = (struct sim_msg){
			.op = SIM_READ, .bytes = 8, .on_done = next_read,
			.counter = &x->counter, .priv = x,
		};
		next_read(&x->msg[i]);
	}
}

static void scale_run(u32 cell, FILE *csv)
{
	u32 nic = cell % ARRAY_SIZE(nics);
	struct sim_net_cfg topo = {
		.hosts = 2, .leaves = 1, .host_mbps = LINK_MBPS,
		.rtt_ps = RTT_PS, .buffer_bytes = 32 << 20,
	};
	struct sim_model_cfg model = { .window_pkts = 64, .rto_ps = SIM_MS };
	struct scale *x = sim_alloc(sizeof(*x));
	struct falcon_core_cfg cfg;
	struct sim_net net;
	u32 i, ops;

	x->nr = sizes[cell / ARRAY_SIZE(nics)];
	sim_net_init(&net, &topo);
	for (i = 0; i < 2; i++) {
		net.host[i].nic.pipe_ps = PIPE_PS;
		net.host[i].nic.pcie_ps = PCIE_PS;
		net.host[i].nic.cache = nics[nic].cache;
		net.host[i].nic.miss_ps = nics[nic].miss_ps;
	}
	sim_falcon_cfg(&cfg);
	x->pair = sim_alloc(x->nr * sizeof(*x->pair));
	for (i = 0; i < x->nr; i++)
		sim_open(&x->pair[i], nics[nic].name, &cfg, &model,
			 &net.host[0], &net.host[1]);
	reads_start(x);
	/* until the cache holds what it will */
	ops = sim_scale == SIM_SMOKE ? 3000 : 60000;
	while (x->latency.nr < ops && sim_step(SIM_NEVER - 1))
		;
	net.host[0].misses = 0;
	sim_samples_reset(&x->latency);
	while (x->latency.nr < ops && sim_step(SIM_NEVER - 1))
		;
	fprintf(csv, "%s,%u,%.3f,%.3f,%.3f,%.4f\n", nics[nic].name, x->nr,
		sim_mean(&x->latency) / 1e6,
		sim_percentile(&x->latency, 50) / 1e6,
		sim_percentile(&x->latency, 99) / 1e6,
		(double)net.host[0].misses / ops);
}

static double ratio(const struct sim_table *t, const char *who, const char *n)
{
	return sim_value(t, "mean_us", "transport", who, "conns", n, NULL) /
	       sim_value(t, "mean_us", "transport", who, "conns", "1000",
			 NULL);
}

static void scale_judge(const struct sim_table *t)
{
	sim_judge("latency, 100 000 connections / 1000",
		  "<= 1.3; RoCE about 3", ratio(t, "falcon", "100000"),
		  ratio(t, "roce-gbn", "100000"), 0, 1.3);
	sim_judge("latency, 10 000 connections / 5000",
		  "RoCE jumps here", ratio(t, "falcon", "10000") /
		  ratio(t, "falcon", "5000"), ratio(t, "roce-gbn", "10000") /
		  ratio(t, "roce-gbn", "5000"), 0, 1.05);
}

const struct sim_exp exp_scale = {
	.name = "scale",
	.title = "8 B reads on 1000 to 100 000 connections",
	.setup = "two hosts, 200 Gb/s, RTT 2 us, NIC 2 x 0.3 us, PCIe 0.4 us",
	.columns = "transport,conns,mean_us,p50_us,p99_us,initiator_misses_per_op",
	.cells = scale_cells,
	.run = scale_run,
	.judge = scale_judge,
};
