// SPDX-License-Identifier: GPL-2.0
/*
 * Host congestion: the receiver's PCIe slows from 200 to 100 Gb/s and recovers.
 * What has arrived and is not in memory waits in the NIC: Falcon's pools of
 * network requests, whose level goes back in ACKs and rules ncwnd. RoCE's
 * packets queue in the NIC as well; DCQCN hears of it by marks, which the NIC
 * sets as a switch would.
 *
 * It takes some time for the buffer to fill to the level at which anything is
 * told. The windows fall from then on, and have settled when they are within a
 * tenth of the way to what they are in the second half of the slow phase, for
 * good. An RTT is what the connections measure then. Goodput has recovered when
 * a tenth of a millisecond has 95 % of what the link can do.
 */
#include <string.h>
#include "exps.h"

#define LINK_MBPS	SIM_RACK_MBPS
#define SLOW_MBPS	100000
#define BUFFER		1048576
#define STEP_PS		(5 * SIM_US)
#define SMOOTH		20		/* steps */
#define CONNS		8
#define MAX_STEPS	40000

enum { BEFORE, SLOW, AFTER, NR_PHASES };

static const char * const transports[] = { "falcon", "roce-gbn", "roce-sr" };
static const u32 rtts_us[] = { 10, 50 };

struct pcie {
	struct sim_net net;
	struct sim_pair pair[CONNS];
	struct sim_load load[CONNS];
	u32 steps;			/* a phase */
	double gbps[MAX_STEPS];
	double window[MAX_STEPS];	/* mean ncwnd, or rate in Gb/s */
};

static u32 pcie_cells(void)
{
	return ARRAY_SIZE(transports) * ARRAY_SIZE(rtts_us);
}

static void build(struct pcie *x, const char *transport, u32 rtt_us)
{
	struct sim_model_cfg model = {
		.window_pkts = 1024, .rate_mbps = LINK_MBPS, .dcqcn = true,
		.rto_ps = SIM_MS,
	};
	struct falcon_core_cfg cfg;
	u32 i;

	sim_rack(&x->net, 2, rtt_us * SIM_US);
	x->net.host[1].nic.rx_buffer = BUFFER;
	x->net.host[1].nic.pcie_mbps = LINK_MBPS;
	x->net.host[1].nic.pcie_ps = 400 * SIM_NS;
	falcon_res_limit(&x->net.host[1].res, FALCON_POOL_RX_NET,
			 BUFFER / SIM_MTU, BUFFER);
	sim_falcon_cfg(&cfg);
	cfg.delay_absolute = true;
	cfg.delay_target = falcon_ns_to_units(rtt_us * 1000 + 25000);
	for (i = 0; i < CONNS; i++) {
		sim_open(&x->pair[i], transport, &cfg, &model,
			 &x->net.host[0], &x->net.host[1]);
		x->load[i] = (struct sim_load){
			.ep = x->pair[i].a, .op = SIM_WRITE,
			.bytes = 65536, .depth = 16,
		};
		sim_load_start(&x->load[i]);
	}
}

static void step(struct pcie *x, u32 n)
{
	u64 bytes = 0;
	u32 i;

	sim_run(sim_now + STEP_PS);
	for (i = 0; i < CONNS; i++) {
		bytes += x->load[i].bytes_delivered;
		x->load[i].bytes_delivered = 0;
		x->window[n] += x->pair[i].fa ? x->pair[i].fa->c.ncwnd :
				x->pair[i].ma->cc.rate / 1e3;
	}
	x->gbps[n] = bytes * 8000.0 / STEP_PS;
	if (x->pair[0].fa)
		x->window[n] /= CONNS;
}

static double mean_gbps(const struct pcie *x, u32 from, u32 n)
{
	return sim_mean_of(x->gbps + from, n);
}

/* Steps from the change on until the windows begin to fall, and have settled */
static void fall(const struct pcie *x, u32 *first, u32 *last)
{
	const double *window = x->window + SLOW * x->steps;
	u32 half = x->steps / 2, i;
	double old = window[-1], new = sim_mean_of(window + half, half);

	*first = 0;
	*last = 0;
	for (i = 0; i < x->steps; i++) {
		if (!*first && window[i] < old - 0.01 * (old - new))
			*first = i;
		if (fabs(window[i] - new) > 0.1 * (old - new))
			*last = i + 1;
	}
}

/* Of the first connection; microseconds */
static double rtt_us(const struct pcie *x)
{
	const struct sim_pair *p = &x->pair[0];

	return p->fa ? falcon_units_to_ns(p->fa->c.flow[0].rtt_state) / 1e3 :
		       p->ma->srtt_ps / 1e6;
}

static double recovered_us(const struct pcie *x)
{
	struct sim_pace pace = {
		x->gbps + AFTER * x->steps, x->steps, SMOOTH, STEP_PS
	};

	return sim_us(sim_back(&pace, 0,
			       0.95 * sim_goodput_limit(LINK_MBPS)));
}

static void pcie_run(u32 cell, FILE *csv)
{
	const char *transport = transports[cell % ARRAY_SIZE(transports)];
	u32 rtt = rtts_us[cell / ARRAY_SIZE(transports)];
	struct pcie *x = sim_alloc(sizeof(*x));
	double loaded_us = 0;
	char name[32];
	u64 nacks = 0;
	u32 i, phase, half, first, last;
	FILE *series;

	x->steps = sim_scale == SIM_SMOKE ? 100 : 2000;
	build(x, transport, rtt);
	for (phase = 0; phase < NR_PHASES; phase++) {
		x->net.host[1].nic.pcie_mbps = phase == SLOW ? SLOW_MBPS :
							       LINK_MBPS;
		for (i = 0; i < x->steps; i++)
			step(x, phase * x->steps + i);
		if (phase == SLOW)
			loaded_us = rtt_us(x);
	}
	for (i = 0; i < CONNS && x->pair[i].fa; i++)
		nacks += x->pair[i].fa->c.stats.rx_nacks;
	snprintf(name, sizeof(name), "%s-%uus", transport, rtt);
	series = sim_series(name, "time_us,gbps,window");
	for (i = 0; i < NR_PHASES * x->steps; i++)
		fprintf(series, "%llu,%.2f,%.2f\n", i * STEP_PS / SIM_US,
			x->gbps[i], x->window[i]);
	fclose(series);
	half = x->steps / 2;
	fall(x, &first, &last);
	fprintf(csv, "%s,%u,%.2f,%.2f,%.2f,%.1f,%.1f,%.1f,%.1f,%llu,%llu\n",
		transport, rtt,
		mean_gbps(x, half, half),
		mean_gbps(x, SLOW * x->steps + half, half),
		mean_gbps(x, AFTER * x->steps + half, half),
		loaded_us, first * STEP_PS / 1e6, last * STEP_PS / 1e6,
		recovered_us(x),
		x->net.host[1].rx_drops, nacks);
}

static double value(const struct sim_table *t, const char *transport,
		    const char *rtt, const char *column)
{
	return sim_value(t, column, "transport", transport, "rtt_us", rtt,
			 NULL);
}

static void judge_at(const struct sim_table *t, const char *rtt)
{
	static const char * const who[] = { "falcon", "roce-gbn" };
	double rtts[2];
	char what[80];
	u32 i;

	for (i = 0; i < 2; i++)
		rtts[i] = (value(t, who[i], rtt, "end_us") -
			   value(t, who[i], rtt, "first_us")) /
			  value(t, who[i], rtt, "busy_us");
	snprintf(what, sizeof(what),
		 "%s us: ncwnd (RoCE: rate) settles within, RTTs", rtt);
	sim_judge(what, "<= 5", rtts[0], rtts[1], 0, 5);
	snprintf(what, sizeof(what),
		 "%s us: has settled after, us", rtt);
	sim_judge(what, "-", value(t, "falcon", rtt, "end_us"),
		  value(t, "roce-gbn", rtt, "end_us"), -INFINITY, INFINITY);
	snprintf(what, sizeof(what), "%s us: goodput while slow / PCIe", rtt);
	sim_judge(what, "~ 1",
		  value(t, "falcon", rtt, "slow") * 1000 / SLOW_MBPS,
		  value(t, "roce-gbn", rtt, "slow") * 1000 / SLOW_MBPS,
		  0.97, INFINITY);
	snprintf(what, sizeof(what), "%s us: back at 95 %% of the link after, us",
		 rtt);
	sim_judge(what, "RoCE 6x longer",
		  value(t, "falcon", rtt, "back_us"),
		  value(t, "roce-gbn", rtt, "back_us"), -INFINITY, INFINITY);
	snprintf(what, sizeof(what), "%s us: packets without buffer", rtt);
	sim_judge(what, "-", value(t, "falcon", rtt, "nacks"),
		  value(t, "roce-gbn", rtt, "drops"), -INFINITY, INFINITY);
}

static void pcie_judge(const struct sim_table *t)
{
	judge_at(t, "10");
	judge_at(t, "50");
}

const struct sim_exp exp_pcie = {
	.name = "pcie",
	.title = "receiver's PCIe slows from 200 to 100 Gb/s, and back",
	.setup = "two hosts, one switch, 200 Gb/s, 8 connections, NIC buffer 1 MiB, window 128",
	.columns = "transport,rtt_us,before,slow,after,busy_us,first_us,end_us,back_us,drops,nacks",
	.cells = pcie_cells,
	.run = pcie_run,
	.judge = pcie_judge,
};
