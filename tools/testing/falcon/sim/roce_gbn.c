// SPDX-License-Identifier: GPL-2.0
/*
 * RoCE, go-back-N: the receiver drops what is out of order and reports the gap
 * once; the sender begins again there. A time-out begins again at the oldest.
 * Window: fixed.
 */
#include "model.h"

static void gbn_init(struct sim_model *m)
{
}

static void gbn_acked(struct sim_model *m, const struct sim_pkt *pkt, u32 news)
{
}

static void gbn_gap(struct sim_model *m, const struct sim_pkt *pkt)
{
	model_lose_all(m);
}

const struct sim_model_ops model_roce_gbn = {
	.name	= "roce-gbn",
	.init	= gbn_init,
	.acked	= gbn_acked,
	.gap	= gbn_gap,
	.timeout = model_lose_all,
};
