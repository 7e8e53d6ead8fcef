// SPDX-License-Identifier: GPL-2.0
/*
 * Random loss (paper, figure 10): one connection, 8 KiB messages, enough of
 * them at a time to fill the pipe; packets of the data direction are lost by
 * chance. Goodput against loss.
 */
#include "exps.h"

#define LINK_MBPS	200000
#define MSG_BYTES	8192
#define DEPTH		256

static const u32 losses_ppm[] = { 0, 1000, 2500, 5000, 10000 };

/* Base RTT, and the receiver's data window that goes with it */
static const struct path {
	u32 rtt_us;
	u32 window;
} paths[] = {
	{ 5, 128 },
	{ 10, 128 },
	{ 50, 128 },
	{ 50, 512 },
};

static const char * const ops[] = { "write", "read" };

static u32 loss_cells(void)
{
	return ARRAY_SIZE(losses_ppm) * ARRAY_SIZE(paths) * ARRAY_SIZE(ops);
}

static void loss_run(u32 cell, FILE *csv)
{
	u32 loss = losses_ppm[cell % ARRAY_SIZE(losses_ppm)];
	u32 rest = cell / ARRAY_SIZE(losses_ppm);
	const struct path *path = &paths[rest % ARRAY_SIZE(paths)];
	u32 op = rest / ARRAY_SIZE(paths);
	struct sim_net_cfg topo = {
		.hosts = 2, .leaves = 1, .host_mbps = LINK_MBPS,
		.rtt_ps = path->rtt_us * SIM_US, .buffer_bytes = 32 << 20,
	};
	struct sim_falcon *a = sim_alloc(sizeof(*a));
	struct sim_falcon *b = sim_alloc(sizeof(*b));
	struct sim_load load = {
		.ep = &a->ep, .op = op ? SIM_READ : SIM_WRITE,
		.bytes = MSG_BYTES, .depth = DEPTH,
	};
	u64 warm = sim_scale == SIM_SMOKE ? SIM_MS : 40 * SIM_MS;
	u64 len = sim_scale == SIM_SMOKE ? SIM_MS :
					   20 * SIM_MS;
	struct falcon_core_cfg cfg;
	struct sim_port *data;
	struct sim_net net;
	u64 bytes;

	sim_net_init(&net, &topo);
	sim_falcon_cfg(&cfg);
	cfg.rx_win[FALCON_WIN_DATA] = path->window;
	sim_falcon_windows(1023, 32);
	sim_falcon_pair(&cfg, &net.host[0], &net.host[1], a, b);
	data = sim_net_down(&net, op ? 0 : 1);
	data->drop_ppm = loss;
	data->drop_reliable = true;
	sim_load_start(&load);
	sim_run(sim_now + warm);
	bytes = load.bytes_delivered;
	sim_run(sim_now + len);
	bytes = load.bytes_delivered - bytes;
	fprintf(csv, "falcon,%s,%u,%u,%.2f,%.2f,%llu,%llu,%llu,%llu,%llu\n",
		ops[op], path->rtt_us, path->window, loss / 1e4,
		bytes * 8000.0 / len, a->c.stats.retx[FALCON_RETX_RACK] +
		b->c.stats.retx[FALCON_RETX_RACK],
		a->c.stats.retx[FALCON_RETX_TLP] + b->c.stats.retx[FALCON_RETX_TLP],
		a->c.stats.retx[FALCON_RETX_RTO] + b->c.stats.retx[FALCON_RETX_RTO],
		a->c.stats.spurious + b->c.stats.spurious, sim_events);
}

const struct sim_exp exp_loss = {
	.name = "loss",
	.title = "goodput of one connection under random loss",
	.setup = "two hosts, 200 Gb/s, one switch, 8 KiB messages",
	.columns = "transport,op,rtt_us,window,loss_percent,goodput_gbps,rack,tlp,rto,spurious,events",
	.cells = loss_cells,
	.run = loss_run,
};
