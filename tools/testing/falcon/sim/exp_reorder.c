// SPDX-License-Identifier: GPL-2.0
/*
 * Reordering without loss: of the packets of one connection a fraction is
 * late, by up to 5 us, which lets thirty others pass. Goodput against the
 * fraction; what is sent again is sent for nothing.
 */
#include <string.h>
#include "exps.h"

#define LINK_MBPS	SIM_RACK_MBPS
#define RTT_PS		(10 * SIM_US)
#define LATE_PS		(5 * SIM_US)

static const u32 late_ppm[] = { 0, 10000, 50000, 100000, 250000 };

static const char * const transports[] = {
	"falcon", "falcon-ooo", "roce-gbn", "roce-sr",
};

static u32 reorder_cells(void)
{
	return ARRAY_SIZE(late_ppm) * ARRAY_SIZE(transports);
}

static void reorder_run(u32 cell, FILE *csv)
{
	u32 late = late_ppm[cell % ARRAY_SIZE(late_ppm)];
	const char *transport = transports[cell / ARRAY_SIZE(late_ppm)];
	struct sim_model_cfg model = { .window_pkts = 128, .rto_ps = SIM_MS };
	struct sim_load load = {
		.op = SIM_WRITE, .bytes = 8192, .depth = 256,
	};
	u64 len = sim_scale == SIM_SMOKE ? SIM_MS : 20 * SIM_MS;
	struct falcon_core_cfg cfg;
	struct sim_port *data;
	struct sim_pair pair;
	struct sim_net net;
	u64 retx, bytes;

	sim_rack(&net, 2, RTT_PS);
	sim_falcon_cfg(&cfg);
	if (!strcmp(transport, "falcon-ooo"))
		cfg.loss = FALCON_LOSS_OOO | FALCON_LOSS_OWN;
	sim_open(&pair, transport, &cfg, &model, &net.host[0], &net.host[1]);
	data = sim_net_down(&net, 1);
	data->drop_reliable = true;
	data->late_ppm = late;
	data->late_ps = LATE_PS;
	load.ep = pair.a;
	sim_load_start(&load);
	sim_run(sim_now + len);
	bytes = load.bytes_delivered;
	sim_run(sim_now + len);
	retx = pair.ma ? pair.ma->retx : sim_retx(&pair, FALCON_RETX_RACK) +
	       sim_retx(&pair, FALCON_RETX_OOO) +
	       sim_retx(&pair, FALCON_RETX_TLP) +
	       sim_retx(&pair, FALCON_RETX_RTO);
	fprintf(csv, "%s,%.1f,%.2f,%.3f\n", transport, late / 1e4,
		(load.bytes_delivered - bytes) * 8000.0 / len,
		100.0 * retx * 4096 / load.bytes_delivered);
}

static double goodput(const struct sim_table *t, const char *transport,
		      const char *late)
{
	return sim_value(t, "goodput_gbps", "transport", transport,
			 "late_percent", late, NULL);
}

static void reorder_judge(const struct sim_table *t)
{
	double gbn = goodput(t, "roce-gbn", "25.0");

	sim_judge("25 % late / none", "flat: >= 0.99",
		  goodput(t, "falcon", "25.0") / goodput(t, "falcon", "0.0"),
		  goodput(t, "roce-sr", "25.0") / goodput(t, "roce-sr", "0.0"),
		  0.99, INFINITY);
	sim_judge("25 % late, over go-back-N, times", "up to 20",
		  goodput(t, "falcon", "25.0") / gbn, NAN, 1, INFINITY);
	sim_judge("10 % late / none, out-of-order distance", "-",
		  goodput(t, "falcon-ooo", "10.0") /
		  goodput(t, "falcon-ooo", "0.0"), NAN, -INFINITY, INFINITY);
	sim_judge("25 % late, sent for nothing, %", "-",
		  sim_value(t, "retx_percent", "transport", "falcon",
			    "late_percent", "25.0", NULL),
		  sim_value(t, "retx_percent", "transport", "roce-sr",
			    "late_percent", "25.0", NULL),
		  -INFINITY, INFINITY);
}

const struct sim_exp exp_reorder = {
	.name = "reorder",
	.title = "goodput of one connection under reordering",
	.setup = "two hosts, 200 Gb/s, RTT 10 us, window 128, 8 KiB writes",
	.columns = "transport,late_percent,goodput_gbps,retx_percent",
	.cells = reorder_cells,
	.run = reorder_run,
	.judge = reorder_judge,
};
