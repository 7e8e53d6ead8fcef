// SPDX-License-Identifier: GPL-2.0
/*
 * When a flow gets a new path: Protective Load Balancing (specification 10.4)
 * after consecutive congested round trips, and Protective ReRoute after
 * repeated time-outs of a packet, when the path may be dead and no ACK will
 * say so.
 *
 * Called by the algorithms from their on_event. Pure functions of the event
 * and of the flow's struct falcon_plb.
 */
#include <linux/kernel.h>

#include "fae.h"

/* old_window_size: fcwnd or ncwnd before the event, packets, 11.10 */
static u32 falcon_plb_window(const struct falcon_fae_event *ev)
{
	return min(ev->fcwnd, (u32)ev->ncwnd << FALCON_FCWND_SHIFT);
}

/* A round trip is over: is it the last of too many congested ones? */
static bool falcon_plb_round(struct falcon_plb *plb,
			     const struct falcon_swift_params *p,
			     u32 acked, u32 congested)
{
	if ((u64)congested << 16 < (u64)p->plb_threshold_q16 * acked) {
		plb->attempted = 0;
		return false;
	}
	if (++plb->attempted < p->plb_attempts)
		return false;
	plb->attempted = 0;
	return true;
}

/**
 * falcon_plb_ack() - ComputePlb (10.4)
 * @plb:	state of the flow
 * @p:		parameters
 * @ev:		an ACK event, windows as before Swift adjusts them
 * @delay:	smoothed delay, 131.072 ns units
 * @target_q8:	delay target after scaling, units with 8 more bits
 *
 * Return: true if the flow shall get a new path.
 */
bool falcon_plb_ack(struct falcon_plb *plb,
		    const struct falcon_swift_params *p,
		    const struct falcon_fae_event *ev, u32 delay,
		    u32 target_q8)
{
	u32 acked = plb->acked + ev->num_packets_acked;
	u32 congested = plb->congested;
	bool reroute = false;

	if (!p->plb_attempts)
		return false;

	if ((u64)delay << (8 + 10) >
	    (u64)target_q8 * p->plb_delay_multiplier_q10)
		congested += ev->num_packets_acked;

	if (acked << FALCON_FCWND_SHIFT >= falcon_plb_window(ev)) {
		reroute = falcon_plb_round(plb, p, acked, congested);
		acked = 0;
		congested = 0;
	}
	plb->acked = acked;
	plb->congested = congested;
	return reroute;
}

/**
 * falcon_prr_retx() - does a retransmission call for a new path?
 * @plb:	state of the flow
 * @attempts:	time-outs of one packet that do; 0: none does
 * @ev:		a retransmit event
 *
 * All packets of a flow time out together when its path dies: one new path a
 * retransmit timeout is enough, and all that one gets a chance to show.
 *
 * Return: true if the flow shall get a new path.
 */
bool falcon_prr_retx(struct falcon_plb *plb, u8 attempts,
		     const struct falcon_fae_event *ev)
{
	if (!attempts || ev->retransmit_reason != FALCON_FAE_RETX_RTO ||
	    ev->retransmit_count < min_t(u8, attempts, FALCON_FAE_MAX_RETX))
		return false;
	if (plb->prr_marked && falcon_fae_since(ev->now, plb->prr_marker) <
			       ev->retransmit_timeout)
		return false;

	plb->prr_marked = true;
	plb->prr_marker = ev->now;
	return true;
}
