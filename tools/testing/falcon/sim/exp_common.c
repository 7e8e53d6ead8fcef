// SPDX-License-Identifier: GPL-2.0
/* What experiments share; see exp.h. */
#include <string.h>
#include "exp.h"

static const struct sim_model_ops * const models[] = {
	&model_roce_gbn, &model_roce_sr, &model_aimd, &model_spray,
};

static const struct sim_model_ops *find_model(const char *name)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(models); i++)
		if (!strcmp(models[i]->name, name))
			return models[i];
	sim_die("no transport %s", name);
}

void sim_rack(struct sim_net *net, u32 hosts, u64 rtt_ps)
{
	struct sim_net_cfg topo = {
		.hosts = hosts, .leaves = 1, .host_mbps = SIM_RACK_MBPS,
		.rtt_ps = rtt_ps, .buffer_bytes = 32 << 20,
	};

	sim_net_init(net, &topo);
}

void sim_open(struct sim_pair *p, const char *transport,
	      const struct falcon_core_cfg *falcon,
	      const struct sim_model_cfg *model, struct sim_host *a,
	      struct sim_host *b)
{
	memset(p, 0, sizeof(*p));
	if (!strncmp(transport, "falcon", 6)) {
		p->fa = sim_alloc(sizeof(*p->fa));
		p->fb = sim_alloc(sizeof(*p->fb));
		sim_falcon_pair(falcon, a, b, p->fa, p->fb);
		p->a = &p->fa->ep;
		p->b = &p->fb->ep;
		return;
	}
	p->ma = sim_alloc(sizeof(*p->ma));
	p->mb = sim_alloc(sizeof(*p->mb));
	sim_model_pair(find_model(transport), model, a, b, p->ma, p->mb);
	p->a = &p->ma->ep;
	p->b = &p->mb->ep;
}

u64 sim_retx(const struct sim_pair *p, enum falcon_retx_reason reason)
{
	return p->fa ? p->fa->c.stats.retx[reason] + p->fb->c.stats.retx[reason]
		     : 0;
}

u32 sim_bdp_pkts(u64 mbps, u64 rtt_ps)
{
	return mbps * (rtt_ps / 1000) / (8000ULL * SIM_MTU) + 1;
}

double sim_goodput_limit(u64 mbps)
{
	u32 wire = SIM_L4_BYTES + sizeof(struct falcon_psp_hdr) +
		   FALCON_PSP_ICV_LEN + sizeof(struct falcon_push_data_hdr) +
		   SIM_MTU;

	return mbps / 1e3 * SIM_MTU / wire;
}

double sim_mean_of(const double *v, u32 n)
{
	double sum = 0;
	u32 i;

	for (i = 0; i < n; i++)
		sum += v[i];
	return sum / n;
}

u64 sim_back(const struct sim_pace *p, u32 from, double gbps)
{
	u32 i;

	for (i = from; i + p->smooth < p->steps; i++)
		if (sim_mean_of(p->gbps + i, p->smooth) > gbps)
			return i * p->step_ps;
	return SIM_NEVER;
}

double sim_us(u64 ps)
{
	return ps == SIM_NEVER ? INFINITY : ps / 1e6;
}

void sim_trials_print(struct sim_trials *t, FILE *csv)
{
	fprintf(csv, "%.2f,%.2f,%.0f,%.0f,%.2f", t->before / t->nr,
		t->after / t->nr, sim_us(sim_percentile(&t->back, 50)),
		sim_us(sim_percentile(&t->back, 100)),
		(double)t->relabels / t->nr);
}

void sim_judge_back(const char *what, double p50_us, double max_us)
{
	char line[80];

	snprintf(line, sizeof(line), "%s after (p50), us", what);
	sim_judge(line, "-", p50_us, NAN, -INFINITY, INFINITY);
	snprintf(line, sizeof(line), "%s after (worst), us", what);
	sim_judge(line, "-", max_us, NAN, -INFINITY, INFINITY);
}
