// SPDX-License-Identifier: GPL-2.0
/*
 * The flows of a connection: which one the next packet takes, and when it may
 * depart. A flow has its own path label and fabric window; PSNs are shared.
 * With one flow the gate is exactly that of 9.1.2: PSN < base + fcwnd. With
 * several, fcwnd of that gate is their sum, and a packet, or a run of them that
 * can leave as one train, goes to the flow with the largest open window.
 *
 * Called by sched.c and pdl_tx.c.
 */
#include <linux/limits.h>
#include <linux/minmax.h>
#include "fae.h"
#include "internal.h"

/* A spread of one seed over labels; any good mixing does. */
static u32 falcon_mix(u32 x)
{
	x ^= x >> 16;
	x *= 0x7feb352du;
	x ^= x >> 15;
	x *= 0x846ca68bu;
	return x ^ x >> 16;
}

void falcon_flow_init(struct falcon_core *c)
{
	u8 i;

	for (i = 0; i < FALCON_MAX_FLOWS; i++) {
		struct falcon_flow *f = &c->flow[i];

		INIT_LIST_HEAD(&f->sent);
		f->rack_due_ns = FALCON_NO_TIMER;
		f->rack_quarters = 1;
		f->label = falcon_mix(c->cfg.flow_seed + i);
	}
}

/* 10.3.5: the integer portion; below one, one packet is outstanding. */
u32 falcon_flow_fcwnd(const struct falcon_flow *f)
{
	return max(f->fcwnd >> FALCON_FCWND_SHIFT, 1U);
}

u32 falcon_flow_fcwnd_total(const struct falcon_core *c)
{
	u32 sum = 0;
	u8 i;

	for (i = 0; i < c->cfg.nr_flows; i++)
		sum += falcon_flow_fcwnd(&c->flow[i]);
	return sum;
}

/* Packets of a window in flight: not lost, not received, for all we know */
u32 falcon_flow_outstanding(const struct falcon_core *c, u8 win)
{
	u32 sum = 0;
	u8 i;

	for (i = 0; i < c->cfg.nr_flows; i++)
		sum += c->flow[i].outstanding[win];
	return sum;
}

static s32 falcon_flow_open(const struct falcon_flow *f, u8 win)
{
	return falcon_flow_fcwnd(f) - f->outstanding[win];
}

/* The flow of the last packet, if the run may go on. */
static bool falcon_flow_stay(const struct falcon_core *c, u8 win)
{
	return c->flow_run && c->flow_run < c->cfg.flow_burst &&
	       falcon_flow_open(&c->flow[c->last_flow], win) > 0;
}

/* A packet leaves on @flow. */
void falcon_flow_took(struct falcon_core *c, u8 flow)
{
	if (flow != c->last_flow || c->flow_run >= c->cfg.flow_burst)
		c->flow_run = 0;
	c->flow_run++;
	c->last_flow = flow;
}

/*
 * The flow with the largest open window; equals take turns. @any: even if all
 * are closed. That is for the packet at the window's base, which everything
 * waits for, and with one flow, where the gate of 9.1.2 has decided already.
 */
bool falcon_flow_pick(struct falcon_core *c, u8 win, bool any, u8 *flow)
{
	u8 n = c->cfg.nr_flows, best = 0, i;
	s32 best_open = S32_MIN;

	if (n == 1) {
		*flow = 0;
		return true;
	}
	if (falcon_flow_stay(c, win)) {
		*flow = c->last_flow;
		return true;
	}
	for (i = 0; i < n; i++) {
		u8 id = (c->last_flow + 1 + i) % n;
		s32 open = falcon_flow_open(&c->flow[id], win);

		if (open > best_open) {
			best_open = open;
			best = id;
		}
	}
	*flow = best;
	return any || best_open > 0;
}

/*
 * 10.3.5, 10.6.2.2: below one packet, packets leave inter_packet_gap apart. It
 * is the gap in force when a packet leaves that counts: one from before the
 * window recovered, of up to 137 ms, holds nothing back.
 */
u64 falcon_flow_depart(struct falcon_flow *f, u64 now_ns)
{
	u64 gap = 0;

	if (f->fcwnd < 1U << FALCON_FCWND_SHIFT)
		gap = falcon_units_to_ns(f->inter_packet_gap);
	f->last_depart_ns = max(now_ns, f->last_depart_ns + gap);
	return f->last_depart_ns;
}
