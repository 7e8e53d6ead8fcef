// SPDX-License-Identifier: GPL-2.0
/*
 * Connection scheduler (8.3) and the transmit gate (9.1.2).
 *
 * Two queues take turns: what the initiator generates (pull requests and push
 * data) and what the target generates (pull data), so that neither waits for
 * the other (CR rule 2). On an ordered connection the initiator's packets,
 * first transmissions and retransmissions over both windows, leave in RSN
 * order: what may not leave now holds back all later RSNs (UR rule).
 *
 * The other level of 8.3, among connections, is in arbiter.c.
 */
#include <linux/minmax.h>
#include "internal.h"
#include "window.h"

static struct falcon_txpkt *falcon_first_lost(struct falcon_core *c, u8 class)
{
	return list_first_entry_or_null(&c->lost[class], struct falcon_txpkt,
					time_node);
}

static struct falcon_txpkt *falcon_first_queued(struct falcon_core *c, u8 queue)
{
	return list_first_entry_or_null(&c->sched[queue], struct falcon_txpkt,
					win_node);
}

/*
 * PSNs of the data window that push data leaves to pull data, if the connection
 * has any: a window full of pushes that the peer's ULP does not take, because it
 * waits for what it has pulled, would be the end (CR rule 2).
 */
#define PULL_DATA_PSNS	8

static bool falcon_at_ulp(const struct falcon_txwin *w)
{
	const struct falcon_txpkt *base;

	if (list_empty(&w->pkts))
		return false;
	base = list_first_entry(&w->pkts, struct falcon_txpkt, win_node);
	return base->state == FALCON_TXPKT_RCVD ||
	       base->state == FALCON_TXPKT_RNR;
}

/*
 * 9.1.2: PSN < base + fcwnd; or fcwnd of packets in flight, if the connection is
 * told so, and for pull data while the base waits for the peer's ULP: that one is
 * in no fabric. Then the one at the base, which everything waits for, always
 * passes.
 */
static bool falcon_fcwnd_open(const struct falcon_core *c, u8 type, u32 off,
			      bool retx)
{
	u32 fcwnd = falcon_flow_fcwnd_total(c);
	u8 win = falcon_type_win(type);

	if (!c->cfg.gate_flight) {
		if (off < fcwnd)
			return true;
		if (type != FALCON_PKT_PULL_DATA || !falcon_at_ulp(&c->tx[win]))
			return false;
	}
	return (retx && !off) || falcon_flow_outstanding(c, win) < fcwnd;
}

static u32 falcon_tx_size(const struct falcon_core *c, u8 type)
{
	u32 size = c->tx[falcon_type_win(type)].size;

	return type == FALCON_PKT_PUSH_DATA && c->cfg.pulls ?
	       size - min_t(u32, size / 2, PULL_DATA_PSNS) : size;
}

/*
 * 9.1.2: ncwnd, of requests first sent or sent again. What the peer has received
 * and its ULP not acknowledged goes on counting; on an ordered connection it
 * waits for the one at the base, which therefore passes whenever it is lost.
 */
static bool falcon_ncwnd_open(const struct falcon_core *c,
			      const struct falcon_txwin *w, u32 off, bool retx)
{
	if (!retx)
		return w->orc < c->ncwnd;
	return !off || w->orrc < c->ncwnd;
}

/* 9.1.2, with @base and PSN of the packet's window */
static bool falcon_gate(struct falcon_core *c, const struct falcon_txpkt *p,
			u64 now_ns, u8 *flow)
{
	u8 win = falcon_type_win(p->orig_type);
	struct falcon_txwin *w = &c->tx[win];
	bool retx = falcon_pkt_sent(p);
	u32 off = (retx ? p->psn : w->next) - w->base;

	if (!falcon_fcwnd_open(c, p->orig_type, off, retx))
		return false;
	if (!retx && off >= falcon_tx_size(c, p->orig_type))
		return false;
	if (falcon_pkt_is_request(p) && !falcon_ncwnd_open(c, w, off, retx))
		return false;
	return falcon_flow_pick(c, win, retx && !off, now_ns, flow);
}

/* The lower RSN of two packets, either of which may be missing */
static struct falcon_txpkt *falcon_lower_rsn(struct falcon_txpkt *a,
					     struct falcon_txpkt *b)
{
	if (!a || !b)
		return a ?: b;
	return falcon_before(a->rsn, b->rsn) ? a : b;
}

/*
 * UR rule. A packet that waits out an RNR holds back later RSNs as well: the
 * target would only RNR NACK them (8.5.3.4).
 */
static struct falcon_txpkt *falcon_next_ordered(struct falcon_core *c,
						u64 now_ns, u8 *flow)
{
	struct falcon_txpkt *p, *rnr;

	p = falcon_lower_rsn(falcon_first_lost(c, FALCON_CLASS_PULL_REQ),
			     falcon_first_lost(c, FALCON_CLASS_PUSH_DATA));
	if (!p)
		p = falcon_first_queued(c, FALCON_QUEUE_REQUESTS);
	if (!p)
		return NULL;

	rnr = list_first_entry_or_null(&c->rnr, struct falcon_txpkt,
				       time_node);
	if (rnr && falcon_before(rnr->rsn, p->rsn))
		return NULL;
	return falcon_gate(c, p, now_ns, flow) ? p : NULL;
}

static struct falcon_txpkt *falcon_next_unordered(struct falcon_core *c,
						  u64 now_ns, u8 *flow)
{
	struct falcon_txpkt *p;

	p = falcon_first_lost(c, FALCON_CLASS_PULL_REQ);
	if (p && falcon_gate(c, p, now_ns, flow))
		return p;
	p = falcon_first_lost(c, FALCON_CLASS_PUSH_DATA);
	if (p && falcon_gate(c, p, now_ns, flow))
		return p;
	p = falcon_first_queued(c, FALCON_QUEUE_REQUESTS);
	if (p && falcon_gate(c, p, now_ns, flow))
		return p;
	return NULL;
}

static struct falcon_txpkt *falcon_next_pull_data(struct falcon_core *c,
						  u64 now_ns, u8 *flow)
{
	struct falcon_txpkt *p = falcon_first_lost(c, FALCON_CLASS_PULL_DATA);

	if (!p)
		p = falcon_first_queued(c, FALCON_QUEUE_PULL_DATA);
	return p && falcon_gate(c, p, now_ns, flow) ? p : NULL;
}

static struct falcon_txpkt *falcon_next_of(struct falcon_core *c, u8 queue,
					   u64 now_ns, u8 *flow)
{
	if (queue == FALCON_QUEUE_PULL_DATA)
		return falcon_next_pull_data(c, now_ns, flow);
	return falcon_ordered(c) ? falcon_next_ordered(c, now_ns, flow) :
				   falcon_next_unordered(c, now_ns, flow);
}

/*
 * 9.1.5: within a window retransmissions leave in PSN order. @p is the turn of
 * @queue; the other one goes first with a lower PSN, if it may leave: neither
 * kind waits for the other (CR rule 2). A pull request is of the other window,
 * but push data behind it counts.
 */
static struct falcon_txpkt *falcon_in_psn_order(struct falcon_core *c,
						struct falcon_txpkt *p,
						u8 queue, u64 now_ns, u8 *flow)
{
	struct falcon_txpkt *q, *low;
	u8 q_flow;

	q = falcon_next_of(c, (queue + 1) % FALCON_NR_QUEUE, now_ns, &q_flow);
	if (!q || !falcon_pkt_sent(q))
		return p;
	low = q;
	if (falcon_pkt_class(q) == FALCON_CLASS_PULL_REQ)
		low = falcon_first_lost(c, FALCON_CLASS_PUSH_DATA);
	if (!low || falcon_before(p->psn, low->psn) ||
	    falcon_type_win(p->orig_type) != falcon_type_win(low->orig_type))
		return p;
	*flow = q_flow;
	return q;
}

/*
 * The packet that may leave now, still where it was, and its flow. The queues
 * take turns packet by packet.
 */
struct falcon_txpkt *falcon_sched_next(struct falcon_core *c, u64 now_ns,
				       u8 *flow)
{
	struct falcon_txpkt *p;
	u8 i;

	for (i = 0; i < FALCON_NR_QUEUE; i++) {
		u8 queue = (c->sched_turn + i) % FALCON_NR_QUEUE;

		p = falcon_next_of(c, queue, now_ns, flow);
		if (!p)
			continue;
		c->sched_turn = (queue + 1) % FALCON_NR_QUEUE;
		return falcon_pkt_sent(p) ?
		       falcon_in_psn_order(c, p, queue, now_ns, flow) : p;
	}
	return NULL;
}

/**
 * falcon_core_tx_queued() - is there anything to transmit but ACKs?
 * @c:		the connection
 *
 * Context: connection lock.
 * Return: true also for what no gate would let pass now.
 */
bool falcon_core_tx_queued(const struct falcon_core *c)
{
	u8 i;

	for (i = 0; i < FALCON_NR_QUEUE; i++)
		if (!list_empty(&c->sched[i]))
			return true;
	for (i = 0; i < FALCON_NR_CLASS; i++)
		if (!list_empty(&c->lost[i]))
			return true;
	return false;
}

/* Is the window closed for the next of @type? Then an ACK is wanted soon. */
bool falcon_sched_window_closes(const struct falcon_core *c, u8 type)
{
	const struct falcon_txwin *w = &c->tx[falcon_type_win(type)];
	u32 off = w->next - w->base;

	return off >= falcon_tx_size(c, type) || w->orc >= c->ncwnd ||
	       !falcon_fcwnd_open(c, type, off, false);
}
