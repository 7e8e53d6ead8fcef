// SPDX-License-Identifier: GPL-2.0
/*
 * Packet spraying with one window: each packet takes a path of its own, chosen
 * by chance; one window for all paths follows the delay of whatever comes back.
 * As order means nothing, a packet is lost when it is older than one that
 * arrived by a round trip and a half.
 */
#include "model.h"

#define TARGET_PS	(25 * SIM_US)

static void spray_init(struct sim_model *m)
{
	m->cwnd = 32;
}

static void spray_acked(struct sim_model *m, const struct sim_pkt *pkt,
			u32 news)
{
	u64 rtt = pkt->rx_ps - pkt->model.echo_ps;
	u64 target = m->min_rtt_ps + TARGET_PS;
	double cut;

	if (rtt <= target) {
		m->cwnd += news / m->cwnd;
	} else if (sim_now - m->mark_ps >= m->srtt_ps) {
		m->mark_ps = sim_now;
		cut = 0.8 * (rtt - target) / rtt;
		m->cwnd *= 1 - (cut < 0.5 ? cut : 0.5);
	}
	m->cwnd = m->cwnd < 1 ? 1 : m->cwnd;
	if (m->cwnd > m->max_cwnd)
		m->cwnd = m->max_cwnd;
}

static void spray_gap(struct sim_model *m, const struct sim_pkt *pkt)
{
	u32 psn;

	for (psn = m->base; (s32)(pkt->model.got - psn) > 0; psn++) {
		struct model_slot *s = model_slot(m, psn);

		if (s->sent_ps + m->srtt_ps * 3 / 2 < sim_now)
			model_lose(m, psn);
	}
}

static u32 spray_label(struct sim_model *m)
{
	return sim_rand();
}

static void spray_timeout(struct sim_model *m)
{
	model_lose(m, m->base);
}

const struct sim_model_ops model_spray = {
	.name	= "spray",
	.any_order = true,
	.init	= spray_init,
	.acked	= spray_acked,
	.gap	= spray_gap,
	.timeout = spray_timeout,
	.label	= spray_label,
};
