// SPDX-License-Identifier: GPL-2.0
/*
 * No congestion control: both windows stay where Swift's begin. For
 * measurements in which a window that moves would be one cause too many.
 *
 * Called by fae.c through falcon_fae_fixed, under the connection lock.
 */
#include <linux/kernel.h>

#include "fae.h"

static void fixed_on_event(void *priv, const struct falcon_fae_event *ev,
			   struct falcon_fae_result *res)
{
	if (ev->event_type == FALCON_FAE_RETX)
		res->randomize_path =
			falcon_prr_retx(priv, falcon_swift_in_use->prr_attempts,
					ev);
	else
		falcon_swift_smooth(ev, res);
	res->retransmit_timeout = falcon_swift_rto(res);
}

static void fixed_init(void *priv, struct falcon_fae_result *res)
{
	res->fcwnd = falcon_swift_in_use->init_fcwnd_q20 >> 10;
	res->ncwnd = falcon_swift_in_use->init_ncwnd;
}

const struct falcon_fae_ops falcon_fae_fixed = {
	.name		= "fixed",
	.init		= fixed_init,
	.on_event	= fixed_on_event,
};
