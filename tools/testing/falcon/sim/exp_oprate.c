// SPDX-License-Identifier: GPL-2.0
/*
 * Operation rate: 8-byte writes, on one connection and on twelve. The NIC's
 * pipeline is an input (50 ns a packet of one connection, 8.33 ns of all); what
 * shows is whether windows and acknowledgements keep it busy.
 */
#include "exps.h"

#define LINK_MBPS	SIM_RACK_MBPS
#define RTT_PS		(5 * SIM_US)

static const u32 conns[] = { 1, 2, 4, 8, 12, 16 };

static u32 oprate_cells(void)
{
	return ARRAY_SIZE(conns);
}

static void oprate_run(u32 cell, FILE *csv)
{
	u64 len = sim_scale == SIM_SMOKE ? 100 * SIM_US : SIM_MS;
	u32 nr = conns[cell], i;
	struct sim_pair *pair = sim_alloc(nr * sizeof(*pair));
	struct sim_load *load = sim_alloc(nr * sizeof(*load));
	struct falcon_core_cfg cfg;
	struct sim_net net;
	u64 ops = 0;

	sim_rack(&net, 2, RTT_PS);
	for (i = 0; i < 2; i++) {
		net.host[i].nic.conn_gap_ps = 50 * SIM_NS;
		net.host[i].nic.pkt_gap_ps = SIM_US / 120;
	}
	sim_falcon_cfg(&cfg);
	for (i = 0; i < nr; i++) {
		sim_open(&pair[i], "falcon", &cfg, NULL, &net.host[0],
			 &net.host[1]);
		load[i] = (struct sim_load){
			.ep = pair[i].a, .op = SIM_WRITE, .bytes = 8,
			.depth = 512,
		};
		sim_load_start(&load[i]);
	}
	sim_run(sim_now + 2 * len);
	for (i = 0; i < nr; i++)
		load[i].done = 0;
	sim_run(sim_now + len);
	for (i = 0; i < nr; i++)
		ops += load[i].done;
	fprintf(csv, "%u,%.2f\n", nr, ops * 1e6 / len);
}

static void oprate_judge(const struct sim_table *t)
{
	sim_judge("one connection, Mop/s", "20",
		  sim_value(t, "mops", "conns", "1", NULL), NAN, 19, INFINITY);
	sim_judge("twelve connections, Mop/s", "120",
		  sim_value(t, "mops", "conns", "12", NULL), NAN, 114,
		  INFINITY);
}

const struct sim_exp exp_oprate = {
	.name = "oprate",
	.title = "operation rate, 8 B writes",
	.setup = "two hosts, 200 Gb/s, RTT 5 us, window 128",
	.columns = "conns,mops",
	.cells = oprate_cells,
	.run = oprate_run,
	.judge = oprate_judge,
};
