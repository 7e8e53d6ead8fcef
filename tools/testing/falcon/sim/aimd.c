// SPDX-License-Identifier: GPL-2.0
/*
 * Loss-based AIMD on a network that keeps order, as TCP's first: slow start,
 * one packet more a round trip, half after a loss, once a round trip. Three
 * packets beyond a gap make it a loss.
 */
#include "model.h"

#define DUP_THRESHOLD	3

static void aimd_init(struct sim_model *m)
{
	m->cwnd = 10;
}

static void aimd_acked(struct sim_model *m, const struct sim_pkt *pkt, u32 news)
{
	bool slow_start = !m->mark_ps;

	m->cwnd += slow_start ? news : news / m->cwnd;
	if (m->cwnd > m->max_cwnd)
		m->cwnd = m->max_cwnd;
}

static void aimd_cut(struct sim_model *m, double to)
{
	if (m->mark_ps && sim_now - m->mark_ps < m->srtt_ps)
		return;
	m->mark_ps = sim_now;
	m->cwnd = to > 1 ? to : 1;
}

/* What was sent before a packet that arrived, DUP_THRESHOLD ago, and did not */
static void aimd_gap(struct sim_model *m, const struct sim_pkt *pkt)
{
	u32 psn, end = pkt->model.got - DUP_THRESHOLD;
	u64 sent = model_slot(m, pkt->model.got)->sent_ps;
	bool any = false;

	for (psn = m->base; (s32)(end - psn) > 0; psn++) {
		struct model_slot *s = model_slot(m, psn);

		if (s->flags & (MODEL_ARRIVED | MODEL_LOST) ||
		    s->sent_ps >= sent)
			continue;
		model_lose(m, psn);
		any = true;
	}
	if (any)
		aimd_cut(m, m->cwnd / 2);
}

static void aimd_timeout(struct sim_model *m)
{
	model_lose_all(m);
	aimd_cut(m, 1);
}

const struct sim_model_ops model_aimd = {
	.name	= "aimd",
	.any_order = true,
	.init	= aimd_init,
	.acked	= aimd_acked,
	.gap	= aimd_gap,
	.timeout = aimd_timeout,
};
