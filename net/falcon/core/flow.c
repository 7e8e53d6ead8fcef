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
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/time64.h>
#include "fae.h"
#include "internal.h"

#define PACE_AHEAD_NS	20000000ULL	/* before it departs, a packet is formed */
#define PACE_BEHIND_NS	1000000000ULL	/* lateness that is made up */

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
	u8 i, win;

	for (i = 0; i < FALCON_MAX_FLOWS; i++) {
		struct falcon_flow *f = &c->flow[i];

		for (win = 0; win < FALCON_NR_WIN; win++)
			f->rx_top[win] = c->cfg.rx_psn[win] - 1;
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

/*
 * One of several flows whose packets have timed out gets one packet, to see
 * whether its path is alive: all that others have room for need not go there.
 */
static s32 falcon_flow_open(const struct falcon_core *c,
			    const struct falcon_flow *f, u8 win)
{
	u32 fcwnd = falcon_flow_fcwnd(f);

	if (f->rto_streak && c->cfg.nr_flows > 1)
		fcwnd = 1;
	return fcwnd - f->outstanding[win];
}

/*
 * 10.3.5, 10.6.2.2: below one packet, packets leave inter_packet_gap apart. It
 * is the gap in force when a packet leaves that counts: one from before the
 * window recovered, of up to 137 ms, holds nothing back.
 */
static u64 falcon_flow_next_depart(const struct falcon_flow *f)
{
	if (f->fcwnd >= 1U << FALCON_FCWND_SHIFT)
		return f->last_depart_ns;
	return f->last_depart_ns + falcon_units_to_ns(f->inter_packet_gap);
}

/*
 * Flows that would depart later than this take no packet. While some flow is at
 * a packet or more, it is the first departure of these: now, or what is left of
 * a gap from before the window recovered. If none is, each waits on the wheel.
 */
static u64 falcon_flows_depart_by(const struct falcon_core *c, u64 now_ns)
{
	u64 by = U64_MAX;
	u8 i;

	for (i = 0; i < c->cfg.nr_flows; i++)
		if (c->flow[i].fcwnd >= 1U << FALCON_FCWND_SHIFT)
			by = min(by, max(now_ns, c->flow[i].last_depart_ns));
	return by;
}

/* The flow of the last packet, if the run may go on. */
static bool falcon_flow_stay(const struct falcon_core *c, u8 win)
{
	return c->flow_run && c->flow_run < c->cfg.flow_burst &&
	       falcon_flow_open(c, &c->flow[c->last_flow], win) > 0;
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
 * The flow with the largest open window; of equals the one that may depart
 * first, then they take turns. @any: even if all are closed. That is for the
 * packet at the window's base, which everything waits for, and with one flow,
 * where the gate of 9.1.2 has decided already.
 *
 * A flow below one packet may have to wait a hundred round trips for its next
 * departure, and all later packets with the one that it takes: while others are
 * faster, it takes none before that.
 */
bool falcon_flow_pick(struct falcon_core *c, u8 win, bool any, u64 now_ns,
		      u8 *flow)
{
	u64 depart, best_depart = 0, by;
	u8 n = c->cfg.nr_flows, i;
	s32 best_open = S32_MIN;

	*flow = 0;
	if (n == 1)
		return true;
	by = falcon_flows_depart_by(c, now_ns);
	*flow = c->last_flow;
	if (falcon_flow_stay(c, win))
		return true;
	for (i = 0; i < n; i++) {
		u8 id = (c->last_flow + 1 + i) % n;
		s32 open = falcon_flow_open(c, &c->flow[id], win);

		depart = max(falcon_flow_next_depart(&c->flow[id]), now_ns);
		if (depart > by || open < best_open ||
		    (open == best_open && depart >= best_depart))
			continue;
		best_open = open;
		best_depart = depart;
		*flow = id;
	}
	return any || best_open > 0;
}

/*
 * Is it too early to form the next packet, if the connection has a rate? What
 * waits in the NIC for its departure, nothing can overtake, not even what is
 * found lost meanwhile: so it waits here, but for the last moment.
 */
bool falcon_pace_wait(struct falcon_core *c, u64 now_ns)
{
	if (!c->cfg.paced)
		return false;
	c->pace_due_ns = FALCON_NO_TIMER;
	if (c->pace_ns <= now_ns + PACE_AHEAD_NS)
		return false;
	c->pace_due_ns = c->pace_ns - PACE_AHEAD_NS;
	c->pace_waits = true;
	return true;
}

/*
 * What has waited leaves in its turn even if the timer was late; whoever had
 * nothing to send saves nothing up.
 */
static u64 falcon_pace(struct falcon_core *c, u32 len, u64 depart_ns)
{
	u64 least = depart_ns;

	if (c->pace_waits)
		least -= min_t(u64, least, PACE_BEHIND_NS);
	c->pace_ns = max(c->pace_ns, least);
	depart_ns = max(depart_ns, c->pace_ns);
	c->pace_ns += div64_u64((u64)len * NSEC_PER_SEC, c->max_rate);
	return depart_ns;
}

/* When a packet of @len bytes that leaves on @f now departs */
u64 falcon_flow_depart(struct falcon_core *c, struct falcon_flow *f, u32 len,
		       u64 now_ns)
{
	f->last_depart_ns = max(now_ns, falcon_flow_next_depart(f));
	if (c->cfg.paced)
		f->last_depart_ns = falcon_pace(c, len, f->last_depart_ns);
	return f->last_depart_ns;
}
