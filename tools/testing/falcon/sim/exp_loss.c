// SPDX-License-Identifier: GPL-2.0
/*
 * Random loss (paper, figure 10): one connection, 8 KiB messages, enough of
 * them at a time to fill the pipe; packets of the data direction are lost by
 * chance. Goodput against loss.
 *
 * A receiver window of 128 packets holds 21 us of 200 Gb/s. A packet that is
 * lost comes 2.25 RTTs after it was sent first (RACK: one RTT and a quarter),
 * and what follows it must find room: at 5 us the window of the specification
 * does; at 50 us a wider one is needed, and of 512 would be one for 36 us.
 */
#include <string.h>
#include "exps.h"

#define LINK_MBPS	SIM_RACK_MBPS
#define MSG_BYTES	8192
#define DEPTH		512

static const u32 losses_ppm[] = { 0, 1000, 2500, 5000, 10000 };

static const char * const transports[] = { "falcon", "roce-gbn", "roce-sr" };

/* Base RTT, and Falcon's receiver window for data that goes with it */
static const struct path {
	u32 rtt_us;
	u32 window;
} paths[] = {
	{ 5, 128 },
	{ 10, 128 },
	{ 50, 128 },
	{ 50, 256 },
	{ 50, 512 },
	{ 36, 512 },
};

static const char * const ops[] = { "write", "read" };

static u32 loss_cells(void)
{
	return ARRAY_SIZE(losses_ppm) * ARRAY_SIZE(paths) * ARRAY_SIZE(ops) *
	       ARRAY_SIZE(transports);
}

static void measure(struct sim_load *load, const struct sim_pair *p,
		    const char *head, FILE *csv)
{
	u64 warm = sim_scale == SIM_SMOKE ? SIM_MS : 40 * SIM_MS;
	u64 len = sim_scale == SIM_SMOKE ? SIM_MS : 20 * SIM_MS;
	u64 bytes;

	sim_load_start(load);
	sim_run(sim_now + warm);
	bytes = load->bytes_delivered;
	sim_run(sim_now + len);
	bytes = load->bytes_delivered - bytes;
	fprintf(csv, "%s,%.2f,%llu,%llu,%llu\n", head, bytes * 8000.0 / len,
		sim_retx(p, FALCON_RETX_RACK), sim_retx(p, FALCON_RETX_TLP),
		sim_retx(p, FALCON_RETX_RTO));
}

static void loss_run(u32 cell, FILE *csv)
{
	u32 loss = losses_ppm[cell % ARRAY_SIZE(losses_ppm)];
	u32 rest = cell / ARRAY_SIZE(losses_ppm);
	const char *transport = transports[rest % ARRAY_SIZE(transports)];
	const struct path *path = &paths[rest / ARRAY_SIZE(transports) %
					 ARRAY_SIZE(paths)];
	u32 op = rest / ARRAY_SIZE(transports) / ARRAY_SIZE(paths);
	struct sim_model_cfg model = {
		.window_pkts = 4096, .rto_ps = SIM_MS,
	};
	struct sim_load load = {
		.op = op ? SIM_READ : SIM_WRITE,
		.bytes = MSG_BYTES, .depth = DEPTH,
	};
	struct falcon_core_cfg cfg;
	struct sim_port *data;
	struct sim_pair pair;
	struct sim_net net;
	char head[64];

	if (strcmp(transport, "falcon") && path->window != 128)
		return;
	if (!strcmp(transport, "roce-sr")) {
		model.window_pkts = sim_bdp_pkts(LINK_MBPS, path->rtt_us * SIM_US) + 2;
		model.rto_ps = 320 * SIM_US;
	}
	sim_rack(&net, 2, path->rtt_us * SIM_US);
	sim_falcon_cfg(&cfg);
	sim_falcon_widen(&cfg, path->window / 256);
	sim_falcon_windows(1023, 32);
	sim_open(&pair, transport, &cfg, &model, &net.host[0], &net.host[1]);
	data = sim_net_down(&net, op ? 0 : 1);
	data->drop_ppm = loss;
	data->drop_reliable = true;
	load.ep = pair.a;
	snprintf(head, sizeof(head), "%s,%s,%u,%u,%.2f", transport, ops[op],
		 path->rtt_us, path->window, loss / 1e4);
	measure(&load, &pair, head, csv);
}

static double goodput(const struct sim_table *t, const char *transport,
		      const char *op, const char *rtt, const char *window,
		      const char *loss)
{
	return sim_value(t, "goodput_gbps", "transport", transport, "op", op,
			 "rtt_us", rtt, "window", window, "loss_percent", loss,
			 NULL);
}

static void loss_judge(const struct sim_table *t)
{
	static const char * const wide[] = { "128", "256", "512" };
	char what[80];
	double g, r, s;
	u32 i, k;

	for (i = 0; i < ARRAY_SIZE(ops); i++) {
		g = goodput(t, "falcon", ops[i], "5", "128", "1.00") /
		    goodput(t, "falcon", ops[i], "5", "128", "0.00");
		r = goodput(t, "roce-gbn", ops[i], "5", "128", "1.00") /
		    goodput(t, "roce-gbn", ops[i], "5", "128", "0.00");
		snprintf(what, sizeof(what),
			 "%s, 1 %% loss / lossless, 5 us, window 128", ops[i]);
		sim_judge(what, "flat: >= 0.97", g, r, 0.97, INFINITY);
		for (k = 0; k < ARRAY_SIZE(wide); k++) {
			g = goodput(t, "falcon", ops[i], "50", wide[k],
				    "1.00") /
			    goodput(t, "falcon", ops[i], "50", "512", "0.00");
			r = goodput(t, "roce-gbn", ops[i], "50", "128",
				    "1.00") /
			    goodput(t, "roce-gbn", ops[i], "50", "128", "0.00");
			snprintf(what, sizeof(what),
				 "%s, 1 %% loss / lossless, 50 us, window %s",
				 ops[i], wide[k]);
			sim_judge(what, k == 2 ? "flat: >= 0.97" : "-", g, r,
				  k == 2 ? 0.97 : -INFINITY, INFINITY);
		}
		g = goodput(t, "falcon", ops[i], "36", "512", "1.00") /
		    goodput(t, "falcon", ops[i], "36", "512", "0.00");
		snprintf(what, sizeof(what),
			 "%s, 1 %% loss / lossless, 36 us, window 512", ops[i]);
		sim_judge(what, "flat: >= 0.97", g, NAN, 0.97, INFINITY);
		g = goodput(t, "falcon", ops[i], "50", "512", "1.00");
		s = goodput(t, "roce-sr", ops[i], "50", "128", "1.00");
		r = goodput(t, "roce-gbn", ops[i], "50", "128", "1.00");
		snprintf(what, sizeof(what),
			 "%s, over selective repeat at 1 %%, 50 us, %%", ops[i]);
		sim_judge(what, ">= 5; paper: to 65", 100 * (g / s - 1), NAN,
			  5, INFINITY);
		snprintf(what, sizeof(what),
			 "%s, SR over GBN at 1 %%, 50 us, %%", ops[i]);
		sim_judge(what, "5 to 95", 100 * (s / r - 1), NAN, -INFINITY,
			  INFINITY);
	}
}

const struct sim_exp exp_loss = {
	.name = "loss",
	.title = "goodput of one connection under random loss",
	.setup = "two hosts, 200 Gb/s, one switch, 8 KiB messages, one path",
	.columns = "transport,op,rtt_us,window,loss_percent,goodput_gbps,rack,tlp,rto",
	.cells = loss_cells,
	.run = loss_run,
	.judge = loss_judge,
};
