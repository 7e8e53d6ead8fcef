// SPDX-License-Identifier: GPL-2.0
/*
 * Fabric incast: five clients with 10, 100 or 1000 connections each write 1 MiB
 * messages, one at a time a connection, to one server. All share its link;
 * ideally each message takes as long as one of each connection takes there.
 *
 * "falcon" has the default delay target, 25 us above the smallest delay between
 * the two hosts; "falcon-absolute" 25 us in all, as the specification and the
 * paper have it in a fabric whose RTT is known. "falcon-alone" has 25 us above
 * the smallest delay that a connection has seen itself: those that begin in the
 * middle of a crowd take the crowd for the path.
 *
 * What is measured begins after some messages of each: Swift's windows have
 * come down by then.
 */
#include <string.h>
#include "exps.h"

#define LINK_MBPS	200000
#define CLIENTS		5
#define MSG_BYTES	1048576
#define RTT_PS		(10 * SIM_US)

static const char * const transports[] = {
	"falcon", "falcon-absolute", "falcon-alone", "roce-gbn", "roce-sr",
};

static const u32 conns[] = { 10, 100, 1000 };	/* a client */

static u32 incast_cells(void)
{
	u32 sizes = sim_scale == SIM_SMOKE ? 1 : ARRAY_SIZE(conns);

	/* 5000:1 takes longest: Falcon alone */
	if (sim_scale == SIM_NORMAL)
		return ARRAY_SIZE(transports) * (sizes - 1) + 1;
	return ARRAY_SIZE(transports) * sizes;
}

/* Rounds, that is messages of each connection, before and while measuring */
static void rounds(u32 nr, u32 *warm, u32 *measured)
{
	if (sim_scale == SIM_SMOKE) {
		*warm = 1;
		*measured = 2;
	} else if (nr >= 5000) {
		*warm = 4;
		*measured = sim_scale == SIM_FULL ? 8 : 3;
	} else {
		*warm = nr >= 500 ? 5 : 20;
		*measured = nr >= 500 ? 10 : 100;
	}
}

struct incast {
	u32 nr;
	struct sim_net net;
	struct sim_pair *pair;
	struct sim_load *load;
	struct sim_samples latency;
	struct sim_port *bottleneck;
};

static void build(struct incast *in, const char *transport)
{
	struct sim_net_cfg topo = {
		.hosts = CLIENTS + 1, .leaves = 1, .host_mbps = LINK_MBPS,
		.rtt_ps = RTT_PS, .buffer_bytes = 64 << 20,
	};
	struct sim_model_cfg model = {
		.window_pkts = MSG_BYTES / MODEL_MTU, .rate_mbps = LINK_MBPS,
		.dcqcn = true, .rto_ps = 4 * SIM_MS,
	};
	struct falcon_core_cfg cfg;
	u32 i;

	sim_net_init(&in->net, &topo);
	in->bottleneck = sim_net_down(&in->net, 0);
	if (strncmp(transport, "falcon", 6)) {
		in->bottleneck->ecn_min_bytes = 400 << 10;
		in->bottleneck->ecn_max_bytes = 1600 << 10;
	}
	sim_falcon_cfg(&cfg);
	cfg.delay_absolute = !strcmp(transport, "falcon-absolute");
	in->pair = sim_alloc(in->nr * sizeof(*in->pair));
	in->load = sim_alloc(in->nr * sizeof(*in->load));
	for (i = 0; i < in->nr; i++) {
		sim_open(&in->pair[i], transport, &cfg, &model,
			 &in->net.host[1 + i % CLIENTS], &in->net.host[0]);
		if (!strcmp(transport, "falcon-alone"))
			falcon_core_share(&in->pair[i].fa->c, NULL);
		in->load[i] = (struct sim_load){
			.ep = in->pair[i].a, .op = SIM_WRITE,
			.bytes = MSG_BYTES, .depth = 1,
			.completed = &in->latency,
		};
	}
}

/* Variance of the connections' goodputs over the square of their mean */
static double unfairness(const struct incast *in)
{
	double sum = 0, squares = 0, mean;
	u32 i;

	for (i = 0; i < in->nr; i++) {
		sum += in->load[i].bytes_delivered;
		squares += (double)in->load[i].bytes_delivered *
			   in->load[i].bytes_delivered;
	}
	mean = sum / in->nr;
	return (squares / in->nr - mean * mean) / (mean * mean);
}

static void incast_run(u32 cell, FILE *csv)
{
	const char *transport = transports[cell % ARRAY_SIZE(transports)];
	struct incast in = {
		.nr = CLIENTS * conns[cell / ARRAY_SIZE(transports)],
	};
	struct sim_samples queue = { 0 };
	u64 ideal, bytes = 0, len, retx = 0;
	u32 warm, measured, i;

	rounds(in.nr, &warm, &measured);
	build(&in, transport);
	ideal = in.nr * (u64)MSG_BYTES * 8000 /
		sim_goodput_limit(LINK_MBPS);
	for (i = 0; i < in.nr; i++)
		sim_load_start(&in.load[i]);
	sim_run(sim_now + warm * ideal);

	for (i = 0; i < in.nr; i++)
		in.load[i].bytes_delivered = 0;
	sim_samples_reset(&in.latency);
	if (in.nr < 5000)
		in.bottleneck->delays = &queue;
	len = measured * ideal;
	sim_run(sim_now + len);
	for (i = 0; i < in.nr; i++) {
		bytes += in.load[i].bytes_delivered;
		retx += in.pair[i].fa ? sim_retx(&in.pair[i], FALCON_RETX_RACK) +
		       sim_retx(&in.pair[i], FALCON_RETX_RTO) +
		       sim_retx(&in.pair[i], FALCON_RETX_TLP) :
		       in.pair[i].ma->retx;
	}
	fprintf(csv, "%s,%u,%.2f,%.3f,%.3f,%.3f,%.5f,%.1f,%.1f,%llu,%llu\n",
		transport, in.nr, bytes * 8000.0 / len,
		sim_mean(&in.latency) / ideal,
		(double)sim_percentile(&in.latency, 50) / ideal,
		(double)sim_percentile(&in.latency, 99) / ideal,
		unfairness(&in), sim_percentile(&queue, 50) / 1e6,
		sim_percentile(&queue, 99) / 1e6, in.bottleneck->tail_drops,
		retx);
}

static void incast_judge(const struct sim_table *t)
{
	static const char * const nr[] = { "50", "500", "5000" };
	static const struct {
		const char *what;
		const char *column;
		const char *paper;
		double scale;
		double low;
		double high;
	} lines[] = {
		{ "latency, mean / ideal", "mean", "near ideal", 1, 0, 1.1 },
		{ "latency, p50 / ideal", "p50", "near ideal", 1, 0, 1.1 },
		{ "latency, p99 / ideal", "p99", "<= 2.0", 1, 0, 2 },
		{ "goodput / line rate", "goodput_gbps", ">= 0.97", 0, 0.97,
		  INFINITY },
		{ "variance of goodputs, %", "variance", "< 1", 100, 0, 1 },
	};
	u32 i, k;

	for (i = 0; i < ARRAY_SIZE(nr); i++)
		for (k = 0; k < ARRAY_SIZE(lines); k++) {
			double scale = lines[k].scale ?:
				       1 / sim_goodput_limit(LINK_MBPS);
			char what[64];

			snprintf(what, sizeof(what), "%s:1, %s", nr[i],
				 lines[k].what);
			sim_judge(what, lines[k].paper,
				  scale * sim_value(t, lines[k].column,
						    "transport", "falcon",
						    "conns", nr[i], NULL),
				  scale * sim_value(t, lines[k].column,
						    "transport", "roce-gbn",
						    "conns", nr[i], NULL),
				  lines[k].low, lines[k].high);
		}
}

const struct sim_exp exp_incast = {
	.name = "incast",
	.title = "fabric incast, 50:1 to 5000:1",
	.setup = "six hosts, 200 Gb/s, RTT 10 us, window 128, 1 MiB writes",
	.columns = "transport,conns,goodput_gbps,mean,p50,p99,variance,q50_us,q99_us,drops,retx",
	.cells = incast_cells,
	.run = incast_run,
	.judge = incast_judge,
	.bounded = true,
};
