// SPDX-License-Identifier: GPL-2.0
/*
 * The adaptive engine's speed (10.6.1): hosts whose engine takes so many events
 * a second and no more. 100 connections of five clients write 1 MiB messages to
 * one server, some 6 million packets a second, of which each has an ACK at
 * small windows. When events come faster than the engine takes them, the queue
 * grows, and its thresholds decide which ACKs become events; the rest is in
 * later ones.
 */
#include "exps.h"

#define CLIENTS		5
#define CONNS		100
#define MSG_BYTES	1048576
#define RTT_PS		(10 * SIM_US)
#define ROUNDS		10		/* messages of each, measured */

/* Thousand events a second and host; 0: no bound, and no queue */
static const u32 rates[] = { 0, 20000, 2000, 500, 200, 50 };

static u32 engine_cells(void)
{
	return ARRAY_SIZE(rates);
}

static void engine_run(u32 cell, FILE *csv)
{
	u32 rounds = sim_scale == SIM_SMOKE ? 1 : ROUNDS, i, depth = 0;
	u64 ideal = CONNS * (u64)MSG_BYTES * 8000 /
		    sim_goodput_limit(SIM_RACK_MBPS);
	struct sim_pair *pair = sim_alloc(CONNS * sizeof(*pair));
	struct sim_load *load = sim_alloc(CONNS * sizeof(*load));
	struct sim_samples latency = { 0 }, queue = { 0 };
	u64 bytes = 0, held_back = 0;
	struct falcon_core_cfg cfg;
	struct sim_net net;

	sim_rack(&net, CLIENTS + 1, RTT_PS);
	for (i = 0; i <= CLIENTS && rates[cell]; i++)
		net.host[i].nic.fae_ps = 1000000000 / rates[cell];
	sim_falcon_cfg(&cfg);
	for (i = 0; i < CONNS; i++) {
		sim_open(&pair[i], "falcon", &cfg, NULL,
			 &net.host[1 + i % CLIENTS], &net.host[0]);
		load[i] = (struct sim_load){
			.ep = pair[i].a, .op = SIM_WRITE, .bytes = MSG_BYTES,
			.depth = 1, .completed = &latency,
		};
		sim_load_start(&load[i]);
	}
	sim_run(sim_now + rounds * ideal);
	sim_samples_reset(&latency);
	for (i = 0; i < CONNS; i++)
		load[i].bytes_delivered = 0;
	sim_net_down(&net, 0)->delays = &queue;
	sim_run(sim_now + rounds * ideal);
	for (i = 0; i < CONNS; i++)
		bytes += load[i].bytes_delivered;
	for (i = 1; i <= CLIENTS; i++) {
		held_back += net.host[i].fae.held_back;
		depth = max(depth, net.host[i].fae_max);
	}
	fprintf(csv, "%u,%.2f,%.3f,%.1f,%u,%llu\n", rates[cell],
		bytes * 8000.0 / (rounds * ideal),
		(double)sim_percentile(&latency, 99) / ideal,
		sim_percentile(&queue, 99) / 1e6, depth, held_back);
}

static void engine_judge(const struct sim_table *t)
{
	char what[64], rate[16];
	double depth, held_back;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(rates); i++) {
		snprintf(rate, sizeof(rate), "%u", rates[i]);
		if (rates[i])
			snprintf(what, sizeof(what),
				 "%g M events/s: p99 / ideal", rates[i] / 1e3);
		else
			snprintf(what, sizeof(what), "no bound: p99 / ideal");
		sim_judge(what, "-", sim_value(t, "p99", "kilo_events", rate,
					       NULL), NAN, -INFINITY, INFINITY);
	}
	depth = sim_value(t, "depth", "kilo_events", "50", NULL);
	held_back = sim_value(t, "held_back", "kilo_events", "50", NULL);
	sim_judge("0.05 M events/s: most events that waited", "<= 1024", depth,
		  NAN, 0, 1024);
	sim_judge("0.05 M events/s: ACKs that became no event", "> 0",
		  held_back, NAN, 1, INFINITY);
}

const struct sim_exp exp_engine = {
	.name = "engine",
	.title = "an adaptive engine of limited speed, 100:1",
	.setup = "six hosts, 200 Gb/s, RTT 10 us, window 128, 1 MiB writes, thresholds 256 to 1024",
	.columns = "kilo_events,goodput_gbps,p99,q99_us,depth,held_back",
	.cells = engine_cells,
	.run = engine_run,
	.judge = engine_judge,
};
