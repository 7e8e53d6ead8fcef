// SPDX-License-Identifier: GPL-2.0
/*
 * AIMD on loss alone: what Swift is compared with. One packet more a round
 * trip, half the window once a round trip that loses, one packet after
 * repeated losses of the same. The fabric's delay is measured for the
 * retransmit timeout only; ncwnd, which is the receiver's matter, is Swift's.
 *
 * Called by fae.c through falcon_fae_aimd, under the connection lock.
 */
#include <linux/build_bug.h>
#include <linux/kernel.h>

#include "fae.h"

#define AIMD_ONE_Q20	0x100000u

struct aimd_priv {
	u32 fcwnd_q20;
	struct falcon_plb path;
};

static void aimd_set_fcwnd(struct aimd_priv *ap, u64 fcwnd_q20,
			   struct falcon_fae_result *res)
{
	ap->fcwnd_q20 = clamp_t(u64, fcwnd_q20, AIMD_ONE_Q20,
				max(falcon_swift_in_use->max_fcwnd_q20,
				    AIMD_ONE_Q20));
	res->fcwnd = ap->fcwnd_q20 >> 10;
	res->inter_packet_gap = 0;
}

static void aimd_ack(struct aimd_priv *ap, const struct falcon_fae_event *ev,
		     struct falcon_fae_result *res)
{
	u32 fcwnd_q20 = max(falcon_fine_fcwnd(ap->fcwnd_q20, ev->fcwnd),
			    AIMD_ONE_Q20);

	falcon_swift_smooth(ev, res);
	aimd_set_fcwnd(ap, fcwnd_q20 + div_u64((u64)ev->num_packets_acked << 40,
					       fcwnd_q20), res);
	falcon_swift_ncwnd(ev, falcon_swift_guard_rtt(ev, res), res);
}

static void aimd_retx(struct aimd_priv *ap, const struct falcon_fae_event *ev,
		      struct falcon_fae_result *res)
{
	u32 since = falcon_fae_since(ev->now, ev->fabric_window_time_marker);
	u32 fcwnd_q20 = falcon_fine_fcwnd(ap->fcwnd_q20, ev->fcwnd);

	if (ev->retransmit_count >= falcon_swift_in_use->retransmit_limit)
		fcwnd_q20 = AIMD_ONE_Q20;
	else if (since >= ev->rtt_state)
		fcwnd_q20 /= 2;
	else
		return;
	res->fabric_window_time_marker = ev->now;
	aimd_set_fcwnd(ap, fcwnd_q20, res);
}

static void aimd_on_event(void *priv, const struct falcon_fae_event *ev,
			  struct falcon_fae_result *res)
{
	struct aimd_priv *ap = priv;

	if (ev->event_type == FALCON_FAE_RETX) {
		aimd_retx(ap, ev, res);
		res->randomize_path =
			falcon_prr_retx(&ap->path,
					falcon_swift_in_use->prr_attempts, ev);
	} else {
		aimd_ack(ap, ev, res);
	}
	res->retransmit_timeout = falcon_swift_rto(res);
}

static void aimd_init(void *priv, struct falcon_fae_result *res)
{
	struct aimd_priv *ap = priv;

	BUILD_BUG_ON(sizeof(*ap) > FALCON_FAE_PRIV_WORDS * sizeof(u64));
	aimd_set_fcwnd(ap, falcon_swift_in_use->init_fcwnd_q20, res);
	res->ncwnd = falcon_swift_in_use->init_ncwnd;
	res->ncwnd_direction = 1;
}

const struct falcon_fae_ops falcon_fae_aimd = {
	.name		= "aimd",
	.init		= aimd_init,
	.on_event	= aimd_on_event,
};
