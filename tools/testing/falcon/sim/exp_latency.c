// SPDX-License-Identifier: GPL-2.0
/*
 * Unloaded latency of writes of 1 byte to 2 MiB, one at a time, until the last
 * byte is in the memory of the target, and until the initiator knows. Ideal is
 * the network's own: the way there, and the link's time for the bytes with the
 * headers that they have.
 *
 * Ping and pong take turns, as latency tests do, at times that vary: nothing is
 * in step with a timer of the transport. The first messages do not count: the
 * first window, of 32 packets, is half of what 200 Gb/s and 10 us hold.
 */
#include <string.h>
#include "exps.h"

#define LINK_MBPS	SIM_RACK_MBPS
#define RTT_PS		(10 * SIM_US)
#define PIPE_PS		(300 * SIM_NS)
#define PCIE_PS		(400 * SIM_NS)

static const u32 sizes[] = { 1, 64, 1024, 4096, 16384, 65536, 262144, 2097152 };
static const char * const transports[] = { "falcon", "roce-gbn" };

static u32 latency_cells(void)
{
	return ARRAY_SIZE(sizes) * ARRAY_SIZE(transports);
}

/* One message each way, in turns, after a pause of chance */
struct pingpong {
	struct sim_event ev;
	struct sim_ep *end[2];
	u32 turn;
	u32 left;
	u32 warm;
	u64 bytes;
	u64 counter;
	struct sim_samples delivered;
	struct sim_samples completed;
};

static void delivered(struct sim_msg *msg)
{
	struct pingpong *pp = msg->priv;

	if (!pp->warm)
		sim_sample(&pp->delivered, sim_now - msg->start_ps);
	if (pp->left--)
		sim_at(&pp->ev, sim_now + sim_rand_below(20 * SIM_US));
}

static void done(struct sim_msg *msg)
{
	struct pingpong *pp = msg->priv;

	if (pp->warm)
		pp->warm--;
	else
		sim_sample(&pp->completed, sim_now - msg->start_ps);
	sim_msg_free(msg);
}

static void ping(struct sim_event *ev)
{
	struct pingpong *pp = container_of(ev, struct pingpong, ev);
	struct sim_msg *msg = sim_msg_alloc();

	msg->ep = pp->end[pp->turn];
	pp->turn = !pp->turn;
	msg->op = SIM_WRITE;
	msg->bytes = pp->bytes;
	msg->start_ps = sim_now;
	msg->on_delivered = delivered;
	msg->on_done = done;
	msg->counter = &pp->counter;
	msg->priv = pp;
	msg->ep->ops->send(msg->ep, msg);
}

/*
 * First packet's way through two links and a switch that stores it, then the
 * rest at the pace of the link
 */
static double ideal(u64 bytes, u32 overhead)
{
	u64 first = min_t(u64, bytes, SIM_MTU) + overhead;
	u64 pkts = DIV_ROUND_UP(bytes, SIM_MTU);
	u64 wire = bytes + pkts * overhead;

	return RTT_PS / 2 + sim_wire_ps(wire, LINK_MBPS) +
	       sim_wire_ps(bytes <= SIM_MTU ? wire : first, LINK_MBPS) +
	       2 * PIPE_PS + PCIE_PS;
}

static void latency_run(u32 cell, FILE *csv)
{
	u32 bytes = sizes[cell % ARRAY_SIZE(sizes)];
	const char *transport = transports[cell / ARRAY_SIZE(sizes)];
	struct sim_model_cfg model = { .window_pkts = 4096, .rto_ps = SIM_MS };
	struct pingpong pp = {
		.bytes = bytes,
		.left = sim_scale == SIM_SMOKE ? 20 : 1500,
		.warm = sim_scale == SIM_SMOKE ? 5 : 500,
	};
	u32 overhead = SIM_L4_BYTES + 32, i;
	struct falcon_core_cfg cfg;
	struct sim_pair pair;
	struct sim_net net;
	double best;

	sim_rack(&net, 2, RTT_PS);
	for (i = 0; i < 2; i++) {
		net.host[i].nic.pipe_ps = PIPE_PS;
		net.host[i].nic.pcie_ps = PCIE_PS;
		net.host[i].nic.phc_offset_ps = i * 777 * SIM_MS;
		net.host[i].nic.phc_ppb = i ? 20000 : -15000;
	}
	sim_falcon_cfg(&cfg);
	sim_open(&pair, transport, &cfg, &model, &net.host[0], &net.host[1]);
	if (pair.fa)
		overhead = SIM_L4_BYTES + sizeof(struct falcon_psp_hdr) +
			   FALCON_PSP_ICV_LEN +
			   sizeof(struct falcon_push_data_hdr);
	pp.end[0] = pair.a;
	pp.end[1] = pair.b;
	sim_event_init(&pp.ev, ping);
	sim_at(&pp.ev, sim_now);
	sim_run(sim_now + SIM_S);
	best = ideal(bytes, overhead);
	fprintf(csv, "%s,%u,%.3f,%.4f,%.4f,%.3f,%.3f\n", transport, bytes,
		best / 1e6, sim_percentile(&pp.delivered, 50) / best,
		sim_percentile(&pp.delivered, 99) / best,
		sim_percentile(&pp.completed, 50) / 1e6,
		sim_percentile(&pp.completed, 99) / 1e6);
}

static void latency_judge(const struct sim_table *t)
{
	static const char * const columns[] = { "p50", "p99" };
	char size[16], what[64];
	double worst, worst_roce;
	u32 i, k;

	for (k = 0; k < ARRAY_SIZE(columns); k++) {
		worst = 0;
		worst_roce = 0;
		for (i = 0; i < ARRAY_SIZE(sizes); i++) {
			snprintf(size, sizeof(size), "%u", sizes[i]);
			worst = fmax(worst, sim_value(t, columns[k],
						      "transport", "falcon",
						      "bytes", size, NULL));
			worst_roce = fmax(worst_roce,
					  sim_value(t, columns[k], "transport",
						    "roce-gbn", "bytes", size,
						    NULL));
		}
		snprintf(what, sizeof(what),
			 "delivered, %s / ideal, worst of 1 B - 2 MiB",
			 columns[k]);
		sim_judge(what, "<= 1.01", worst, worst_roce, 0, 1.01);
	}
	sim_judge("completed, 1 B, p99, us", "-",
		  sim_value(t, "completed_p99_us", "transport", "falcon",
			    "bytes", "1", NULL),
		  sim_value(t, "completed_p99_us", "transport", "roce-gbn",
			    "bytes", "1", NULL), -INFINITY, INFINITY);
}

const struct sim_exp exp_latency = {
	.name = "latency",
	.title = "unloaded latency of writes, 1 B to 2 MiB",
	.setup = "two hosts, 200 Gb/s, RTT 10 us, NIC 2 x 0.3 us, PCIe 0.4 us",
	.columns = "transport,bytes,ideal_us,p50,p99,completed_p50_us,completed_p99_us",
	.cells = latency_cells,
	.run = latency_run,
	.judge = latency_judge,
};
