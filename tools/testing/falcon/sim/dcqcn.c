// SPDX-License-Identifier: GPL-2.0
/*
 * DCQCN (Zhu et al., SIGCOMM 2015) at the sender, for the models of RoCE: a
 * congestion notification cuts the rate by half of alpha; then five quick steps
 * back toward the old rate, and additive ones. Times as in that paper, the
 * additive step in proportion to the link.
 */
#include "model.h"

#define G		(1.0 / 256)
#define ALPHA_PS	(55 * SIM_US)
#define RATE_PS		(300 * SIM_US)
#define CUT_GAP_PS	(50 * SIM_US)
#define FAST_STEPS	5
#define STEP		(1.0 / 1000)	/* of the link's rate */
#define LEAST		(1.0 / 100000)

static void alpha_timer(struct sim_event *ev)
{
	struct model_dcqcn *cc = container_of(ev, struct model_dcqcn,
					      alpha_timer);

	cc->alpha *= 1 - G;
	sim_at(ev, sim_now + ALPHA_PS);
}

static void rate_timer(struct sim_event *ev)
{
	struct model_dcqcn *cc = container_of(ev, struct model_dcqcn,
					      rate_timer);

	if (++cc->steps > FAST_STEPS)
		cc->target += cc->limit * STEP;
	if (cc->target > cc->limit)
		cc->target = cc->limit;
	cc->rate = (cc->rate + cc->target) / 2;
	sim_at(ev, sim_now + RATE_PS);
}

void model_dcqcn_init(struct sim_model *m, u64 rate_mbps)
{
	m->cc = (struct model_dcqcn){
		.rate = rate_mbps, .target = rate_mbps, .limit = rate_mbps,
		.alpha = 1,
	};
	sim_event_init(&m->cc.alpha_timer, alpha_timer);
	sim_event_init(&m->cc.rate_timer, rate_timer);
}

void model_dcqcn_notified(struct sim_model *m)
{
	struct model_dcqcn *cc = &m->cc;

	if (!cc->limit || sim_now < cc->cut_ps + CUT_GAP_PS)
		return;
	cc->cut_ps = sim_now;
	cc->target = cc->rate;
	cc->rate *= 1 - cc->alpha / 2;
	if (cc->rate < cc->limit * LEAST)
		cc->rate = cc->limit * LEAST;
	cc->alpha = (1 - G) * cc->alpha + G;
	cc->steps = 0;
	sim_at(&cc->alpha_timer, sim_now + ALPHA_PS);
	sim_at(&cc->rate_timer, sim_now + RATE_PS);
}

/* Time from a packet to the next */
u64 model_dcqcn_gap(const struct sim_model *m, u32 bytes)
{
	return m->cc.limit ? bytes * 8e6 / m->cc.rate : 0;
}
