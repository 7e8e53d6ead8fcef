// SPDX-License-Identifier: GPL-2.0
/*
 * Loss recovery: RACK and TLP against the out-of-order distance with recency
 * check and EACK-OWN, on a network that loses, reorders, or both: a stream's
 * goodput and what it sends for nothing, and the latency of messages of 16 KiB
 * that come one by one, whose last packets nothing follows that would show a
 * loss.
 */
#include <string.h>
#include "exps.h"

#define LINK_MBPS	SIM_RACK_MBPS
#define RTT_PS		(10 * SIM_US)
#define LATE_PS		(5 * SIM_US)

static const struct {
	const char *name;
	u8 loss;
} policies[] = {
	{ "rack-tlp", FALCON_LOSS_RACK | FALCON_LOSS_TLP },
	{ "rack", FALCON_LOSS_RACK },
	{ "ooo-own", FALCON_LOSS_OOO | FALCON_LOSS_OWN },
	{ "rto", 0 },
};

static const struct {
	const char *name;
	u32 drop_ppm;
	u32 late_ppm;
} networks[] = {
	{ "loss", 5000, 0 },
	{ "late", 0, 100000 },
	{ "both", 5000, 100000 },
};

static u32 recovery_cells(void)
{
	return ARRAY_SIZE(policies) * ARRAY_SIZE(networks) * 2;
}

static void recovery_run(u32 cell, FILE *csv)
{
	u32 policy = cell % ARRAY_SIZE(policies);
	u32 network = cell / ARRAY_SIZE(policies) % ARRAY_SIZE(networks);
	bool stream = cell < ARRAY_SIZE(policies) * ARRAY_SIZE(networks);
	struct sim_samples latency = { 0 };
	struct sim_load load = {
		.op = SIM_WRITE, .bytes = 16384, .depth = stream ? 128 : 1,
		.completed = &latency,
	};
	u64 len = sim_scale == SIM_SMOKE ? SIM_MS : 20 * SIM_MS;
	struct falcon_core_cfg cfg;
	struct sim_port *data;
	struct sim_pair pair;
	struct sim_net net;
	u64 sent;

	if (!stream)
		len *= 10;
	sim_rack(&net, 2, RTT_PS);
	sim_falcon_cfg(&cfg);
	cfg.loss = policies[policy].loss;
	if (!(cfg.loss & FALCON_LOSS_RACK))
		cfg.features &= ~FALCON_F_EACK_ALWAYS;
	sim_open(&pair, "falcon", &cfg, NULL, &net.host[0], &net.host[1]);
	data = sim_net_down(&net, 1);
	data->drop_reliable = true;
	data->drop_ppm = networks[network].drop_ppm;
	data->late_ppm = networks[network].late_ppm;
	data->late_ps = LATE_PS;
	load.ep = pair.a;
	sim_load_start(&load);
	sim_run(sim_now + len);
	sent = pair.fa->c.stats.tx_pkts;
	fprintf(csv, "%s,%s,%s,%.2f,%.3f,%.2f,%.2f,%.2f\n",
		stream ? "stream" : "single", networks[network].name,
		policies[policy].name, load.bytes_delivered * 8000.0 / len,
		100.0 * (sent - load.bytes_delivered / SIM_MTU) / sent,
		sim_percentile(&latency, 50) / 1e6,
		sim_percentile(&latency, 99) / 1e6,
		sim_percentile(&latency, 99.9) / 1e6);
}

static double value(const struct sim_table *t, const char *load,
		    const char *network, const char *policy,
		    const char *column)
{
	return sim_value(t, column, "load", load, "network", network, "policy",
			 policy, NULL);
}

static void recovery_judge(const struct sim_table *t)
{
	sim_judge("0.5 % loss: goodput over OOO distance", ">= 1",
		  value(t, "stream", "loss", "rack-tlp", "goodput_gbps") /
		  value(t, "stream", "loss", "ooo-own", "goodput_gbps"), NAN,
		  1, INFINITY);
	sim_judge("0.5 % loss, 10 % late: goodput over OOO distance", ">= 1",
		  value(t, "stream", "both", "rack-tlp", "goodput_gbps") /
		  value(t, "stream", "both", "ooo-own", "goodput_gbps"), NAN,
		  1, INFINITY);
	sim_judge("10 % late, no loss: sent for nothing, %", "-",
		  value(t, "stream", "late", "rack-tlp", "again_percent"),
		  NAN, 0, 1);
	sim_judge("the same, OOO distance", "-",
		  value(t, "stream", "late", "ooo-own", "again_percent"), NAN,
		  -INFINITY, INFINITY);
	sim_judge("single 16 KiB, 0.5 % loss: p99 with TLP, us", "-",
		  value(t, "single", "loss", "rack-tlp", "p99_us"), NAN,
		  -INFINITY, INFINITY);
	sim_judge("the same with OOO distance", "-",
		  value(t, "single", "loss", "ooo-own", "p99_us"), NAN,
		  -INFINITY, INFINITY);
}

const struct sim_exp exp_recovery = {
	.name = "recovery",
	.title = "RACK and TLP against out-of-order distance",
	.setup = "two hosts, 200 Gb/s, RTT 10 us, window 128, 16 KiB writes",
	.columns = "load,network,policy,goodput_gbps,again_percent,p50_us,p99_us,p999_us",
	.cells = recovery_cells,
	.run = recovery_run,
	.judge = recovery_judge,
};
