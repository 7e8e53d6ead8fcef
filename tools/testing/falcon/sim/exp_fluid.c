// SPDX-License-Identifier: GPL-2.0
/*
 * Many flows, one queue: 32 senders share a link of 100 Gb/s, RTT 25 us, a
 * drop-tail queue of two bandwidth-delay products. How long is the queue? A
 * fluid model has 50 us for AIMD, always, and for Swift with a target of 5 us a
 * mean of 6.2 and 8.8 at the 99th percentile. Here are packets, whole ones.
 *
 * Swift's target is absolute: the path's delay and 5 us; scaling by flows and
 * hops is off, as in the fluid. Its additive increment is one packet an RTT and
 * flow by default, 32 together: 10.9 us of queue in one RTT. That this is what
 * makes the queue, fewer flows and a smaller increment show; scaling by flows,
 * on as it is by default, adds to the target.
 */
#include <string.h>
#include "exps.h"

#define LINK_MBPS	100000
#define FLOWS		32		/* at most */
#define RTT_PS		(25 * SIM_US)
#define BDP_BYTES	312500

/* Two packets and an ACK through two links, beyond RTT_PS; and the target */
#define PATH_NS		(25000 + 700)
#define TARGET_NS	5000

static const struct {
	const char *name;
	const struct falcon_fae_ops *fae;	/* NULL: a model */
	u32 ai_q10;
	u32 flows;
	bool scaling;
} algorithms[] = {
	{ "falcon-swift", &falcon_fae_swift, 1024, 32, false },
	{ "falcon-swift-ai-1/4", &falcon_fae_swift, 256, 32, false },
	{ "falcon-swift-ai-1/16", &falcon_fae_swift, 64, 32, false },
	{ "falcon-aimd", &falcon_fae_aimd, 1024, 32, false },
	{ "aimd", NULL, 1024, 32, false },
	{ "falcon-swift-8-flows", &falcon_fae_swift, 1024, 8, false },
	{ "falcon-swift-16-flows", &falcon_fae_swift, 1024, 16, false },
	{ "falcon-swift-scaling", &falcon_fae_swift, 1024, 32, true },
};

static u32 fluid_cells(void)
{
	return ARRAY_SIZE(algorithms);
}

static void set_swift(u32 ai_q10, bool scaling)
{
	struct falcon_swift_params p = *falcon_swift_in_use;

	p.fabric_ai_q10 = ai_q10;
	if (!scaling)
		p.max_flow_scaling_ns = 0;
	p.topology_scaling_per_hop_ns = 0;
	if (falcon_swift_set_params(&p))
		sim_die("parameters out of range");
}

struct sender {
	struct sim_event ev;
	struct sim_pair pair;
	struct sim_load load;
};

static void start(struct sim_event *ev)
{
	sim_load_start(&container_of(ev, struct sender, ev)->load);
}

static void fluid_run(u32 cell, FILE *csv)
{
	u32 flows = algorithms[cell].flows;
	struct sim_net_cfg topo = {
		.hosts = FLOWS + 1, .leaves = 1, .host_mbps = LINK_MBPS,
		.rtt_ps = RTT_PS, .buffer_bytes = 64 << 20,
	};
	struct sim_model_cfg model = { .window_pkts = 512, .rto_ps = SIM_MS };
	struct sender *s = sim_alloc(FLOWS * sizeof(*s));
	u64 len = sim_scale == SIM_SMOKE ? SIM_MS : 50 * SIM_MS;
	struct sim_samples queue = { 0 };
	struct falcon_core_cfg cfg;
	struct sim_port *port;
	struct sim_net net;
	u64 bytes = 0;
	u32 i;

	sim_net_init(&net, &topo);
	port = sim_net_down(&net, 0);
	port->limit_bytes = 2 * BDP_BYTES;
	set_swift(algorithms[cell].ai_q10, algorithms[cell].scaling);
	sim_falcon_cfg(&cfg);
	cfg.fae = algorithms[cell].fae;
	cfg.delay_absolute = true;
	cfg.delay_target = falcon_ns_to_units(PATH_NS + TARGET_NS);
	for (i = 0; i < flows; i++) {
		sim_open(&s[i].pair, algorithms[cell].name, &cfg, &model,
			 &net.host[1 + i], &net.host[0]);
		s[i].load = (struct sim_load){
			.ep = s[i].pair.a, .op = SIM_WRITE, .bytes = 65536,
			.depth = 32,
		};
		sim_event_init(&s[i].ev, start);
		sim_at(&s[i].ev, sim_now + sim_rand_below(SIM_MS));
	}
	sim_run(sim_now + len);
	for (i = 0; i < flows; i++)
		s[i].load.bytes_delivered = 0;
	port->delays = &queue;
	sim_run(sim_now + len);
	for (i = 0; i < flows; i++)
		bytes += s[i].load.bytes_delivered;
	fprintf(csv, "%s,%.4f,%.2f,%.2f,%.2f,%llu\n", algorithms[cell].name,
		bytes * 8000.0 / len / sim_goodput_limit(LINK_MBPS),
		sim_mean(&queue) / 1e6, sim_percentile(&queue, 50) / 1e6,
		sim_percentile(&queue, 99) / 1e6, port->tail_drops);
}

static double value(const struct sim_table *t, const char *who,
		    const char *column)
{
	return sim_value(t, column, "algorithm", who, NULL);
}

static void fluid_judge(const struct sim_table *t)
{
	static const char * const swift[] = {
		"falcon-swift", "falcon-swift-ai-1/4", "falcon-swift-ai-1/16",
	};
	static const char * const evidence[] = {
		"falcon-swift-8-flows", "falcon-swift-16-flows",
		"falcon-swift-scaling",
	};
	char what[80];
	u32 i;

	for (i = 0; i < ARRAY_SIZE(swift); i++) {
		snprintf(what, sizeof(what), "%s: queue p99, us", swift[i]);
		sim_judge(what, "<= 8.8", value(t, swift[i], "p99_us"), NAN,
			  0, 8.8);
		snprintf(what, sizeof(what), "%s: link used", swift[i]);
		sim_judge(what, ">= 0.99", value(t, swift[i], "used"), NAN,
			  0.99, INFINITY);
	}
	for (i = 0; i < ARRAY_SIZE(evidence); i++) {
		snprintf(what, sizeof(what), "%s: queue p99, us", evidence[i]);
		sim_judge(what, "-", value(t, evidence[i], "p99_us"), NAN,
			  -INFINITY, INFINITY);
	}
	sim_judge("falcon with aimd: queue mean, us", "50",
		  value(t, "falcon-aimd", "mean_us"),
		  value(t, "aimd", "mean_us"), -INFINITY, INFINITY);
}

const struct sim_exp exp_fluid = {
	.name = "fluid",
	.title = "queue of 32 flows: Swift and AIMD",
	.setup = "33 hosts, one switch, 100 Gb/s, RTT 25 us, queue of 2 BDP, 4 KiB packets",
	.columns = "algorithm,used,mean_us,p50_us,p99_us,drops",
	.cells = fluid_cells,
	.run = fluid_run,
	.judge = fluid_judge,
};
