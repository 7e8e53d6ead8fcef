// SPDX-License-Identifier: GPL-2.0
/*
 * RoCE, selective repeat in the manner of IRN (Mittal et al., 2018), for reads
 * and writes, which can be placed out of order: a packet beyond a gap shows
 * what is missing before it; each of these is sent again once, and after that
 * by time-out alone. Window: the bandwidth-delay product, from the oldest
 * packet not acknowledged, as the receiver's bitmap has it.
 */
#include "model.h"

static void sr_init(struct sim_model *m)
{
}

static void sr_acked(struct sim_model *m, const struct sim_pkt *pkt, u32 news)
{
}

static void sr_gap(struct sim_model *m, const struct sim_pkt *pkt)
{
	u32 psn = (s32)(m->recover - m->base) > 0 ? m->recover : m->base;

	for (; (s32)(pkt->model.got - psn) > 0; psn++)
		model_lose(m, psn);
	m->recover = psn;
}

static void sr_timeout(struct sim_model *m)
{
	model_lose(m, m->base);
}

const struct sim_model_ops model_roce_sr = {
	.name	= "roce-sr",
	.any_order = true,
	.init	= sr_init,
	.acked	= sr_acked,
	.gap	= sr_gap,
	.timeout = sr_timeout,
};
