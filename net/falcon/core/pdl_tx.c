// SPDX-License-Identifier: GPL-2.0
/*
 * Packet delivery sublayer, transmitter (9.1): a packet's way through its
 * window. It gets its PSN when it first leaves, is kept until acknowledged,
 * and is at any time in one state (enum falcon_txpkt_state), which names the
 * list it waits on. What decides that a packet is lost is in loss.c; what an
 * ACK says of it, in ack.c.
 */
#include <linux/bug.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include "internal.h"
#include "window.h"
#include "wire.h"

static struct falcon_txwin *falcon_pkt_win(struct falcon_core *c,
					   const struct falcon_txpkt *p)
{
	return &c->tx[falcon_type_win(p->orig_type)];
}

void falcon_pkt_init(struct falcon_txpkt *p, u8 type, u32 rsn, void *payload,
		     u16 len, u16 req_len)
{
	memset(p, 0, sizeof(*p));
	INIT_LIST_HEAD(&p->win_node);
	INIT_LIST_HEAD(&p->time_node);
	p->payload = payload;
	p->rsn = rsn;
	p->len = len;
	p->req_len = req_len;
	p->type = type;
	p->orig_type = type;
	p->state = FALCON_TXPKT_QUEUED;
}

/* RORRC / DORRC: no longer an outstanding retransmitted request (9.1.2) */
static void falcon_orrc_put(struct falcon_txwin *w, struct falcon_txpkt *p)
{
	if (p->flags & FALCON_TXF_ORRC) {
		p->flags &= ~FALCON_TXF_ORRC;
		w->orrc--;
	}
}

/* Takes a packet off the list of its state, for another state. */
static void falcon_pkt_leave_state(struct falcon_core *c,
				   struct falcon_txpkt *p)
{
	u8 win = falcon_type_win(p->orig_type);

	list_del_init(&p->time_node);
	switch (p->state) {
	case FALCON_TXPKT_FLIGHT:
		c->flow[p->flow].outstanding[win]--;
		c->nr_flight--;
		break;
	case FALCON_TXPKT_RCVD:
		p->flags &= ~FALCON_TXF_STALE;
		falcon_txwin_note_rcvd(&c->tx[win], p->psn, false);
		break;
	}
}

/* First news that a packet has arrived counts for congestion control. */
void falcon_pkt_delivered(struct falcon_core *c, struct falcon_txpkt *p,
			  u64 now_ns)
{
	if (p->state == FALCON_TXPKT_FLIGHT)
		falcon_loss_delivered(c, p, now_ns);
	if (!(p->flags & FALCON_TXF_DELIVERED)) {
		p->flags |= FALCON_TXF_DELIVERED;
		c->flow[p->flow].num_acked++;
	}
}

/* Removes a packet that was sent from its window, and its counters. */
void falcon_pkt_unlink(struct falcon_core *c, struct falcon_txpkt *p)
{
	struct falcon_txwin *w = falcon_pkt_win(c, p);

	falcon_pkt_leave_state(c, p);
	falcon_orrc_put(w, p);
	if (falcon_pkt_is_request(p))
		w->orc--;
	list_del_init(&p->win_node);
	p->state = FALCON_TXPKT_DONE;
}

/* The peer acknowledged it: its resources go back (9.2.3). */
void falcon_pkt_acked(struct falcon_core *c, struct falcon_txpkt *p, u64 now_ns)
{
	struct falcon_txwin *w = falcon_pkt_win(c, p);

	falcon_pkt_delivered(c, p, now_ns);
	falcon_pkt_unlink(c, p);
	w->probe_backoff = 0;
	if (falcon_pkt_is_request(p))
		falcon_init_acked(c, falcon_pkt_txn(p));
	else
		falcon_target_acked(c, falcon_pkt_resp(p));
}

/*
 * The peer has received it, but its ULP is not done: nothing to retransmit,
 * though the acknowledgement, or a NACK, may get lost. So it keeps a timer.
 */
void falcon_pkt_rcvd(struct falcon_core *c, struct falcon_txpkt *p, u64 now_ns)
{
	struct falcon_txwin *w = falcon_pkt_win(c, p);

	if (p->state == FALCON_TXPKT_RNR || p->type == FALCON_PKT_RESYNC)
		return;
	falcon_pkt_delivered(c, p, now_ns);
	falcon_pkt_leave_state(c, p);
	p->state = FALCON_TXPKT_RCVD;
	p->due_ns = now_ns + falcon_rto(c, w->probe_backoff);
	list_add_tail(&p->time_node, &w->rcvd_pkts);
	falcon_txwin_note_rcvd(w, p->psn, true);
}

/* PSN order within each class: from the back, where most belong. */
static void falcon_lost_insert(struct falcon_core *c, struct falcon_txpkt *p)
{
	struct list_head *head = &c->lost[falcon_pkt_class(p)];
	struct falcon_txpkt *q;

	list_for_each_entry_reverse(q, head, time_node)
		if (falcon_before(q->psn, p->psn))
			break;
	list_add(&p->time_node, &q->time_node);
}

/* It is to be retransmitted, with the same PSN, as soon as the gate allows. */
void falcon_pkt_lost(struct falcon_core *c, struct falcon_txpkt *p, u8 reason)
{
	falcon_pkt_leave_state(c, p);
	falcon_orrc_put(falcon_pkt_win(c, p), p);
	p->state = FALCON_TXPKT_LOST;
	p->reason = reason;
	falcon_lost_insert(c, p);
}

/*
 * 8.4.3.4: it waits. On an ordered connection in RSN order, as later ones are
 * NACKed because of the first; else in the order they are due.
 */
void falcon_pkt_rnr(struct falcon_core *c, struct falcon_txpkt *p, u64 due_ns)
{
	struct falcon_txpkt *q;

	falcon_pkt_leave_state(c, p);
	falcon_orrc_put(falcon_pkt_win(c, p), p);
	p->state = FALCON_TXPKT_RNR;
	p->due_ns = due_ns;
	list_for_each_entry_reverse(q, &c->rnr, time_node)
		if (falcon_ordered(c) ? falcon_before(q->rsn, p->rsn) :
					q->due_ns <= due_ns)
			break;
	list_add(&p->time_node, &q->time_node);
}

u64 falcon_rnr_due(const struct falcon_core *c)
{
	if (list_empty(&c->rnr))
		return FALCON_NO_TIMER;
	return list_first_entry(&c->rnr, struct falcon_txpkt,
				time_node)->due_ns;
}

/* RNR waits are no retransmission attempts: the peer has answered. */
void falcon_rnr_timer(struct falcon_core *c, u64 now_ns)
{
	while (falcon_rnr_due(c) <= now_ns)
		falcon_pkt_lost(c, list_first_entry(&c->rnr,
						    struct falcon_txpkt,
						    time_node),
				FALCON_RETX_RNR);
}

/*
 * 9.1.8: a resync with the PSN and RSN of the packet takes its place; the
 * retransmit counter starts again (section 11). Before its first transmission
 * a packet only changes what it will be: RSN order needs it all the same.
 * Where the target may not pass over it, it is the end of the connection.
 */
void falcon_pkt_resync(struct falcon_core *c, struct falcon_txpkt *p, u8 code)
{
	if (p->type == FALCON_PKT_RESYNC)
		return;
	p->type = FALCON_PKT_RESYNC;
	p->resync_code = code;
	p->attempts = 0;
	p->early = 0;
	if (c->cfg.gapless)
		c->dying = falcon_resync_cmpl(code);
	else if (falcon_pkt_sent(p))
		falcon_pkt_lost(c, p, FALCON_RETX_RTO);
}

/* Walks in PSN order; callers are NACKs and other rare events. */
struct falcon_txpkt *falcon_pkt_find(struct falcon_core *c, u8 win, u32 psn)
{
	struct falcon_txpkt *p;

	list_for_each_entry(p, &c->tx[win].pkts, win_node) {
		if (p->psn == psn)
			return p;
		if (falcon_before(psn, p->psn))
			break;
	}
	return NULL;
}

static void falcon_tx_turn(struct falcon_core *c)
{
	if (!c->heard)
		c->turns = 0;
	else if (c->turns < FALCON_TURNS)
		c->turns++;
	c->heard = false;
}

/* The end of a burst: who waits for its completion gets it without coalescing */
static bool falcon_tx_last(const struct falcon_core *c,
			   const struct falcon_txpkt *p)
{
	return c->cfg.ar_last_bytes && p->len >= c->cfg.ar_last_bytes &&
	       p->type == FALCON_PKT_PUSH_DATA && !falcon_ping_pong(c) &&
	       list_empty(&c->sched[FALCON_QUEUE_REQUESTS]) &&
	       list_empty(&c->lost[FALCON_CLASS_PUSH_DATA]);
}

/*
 * 9.1.3.1 AR: on every packet while fcwnd is small, else on a fixed fraction.
 * We also ask when the window closes, as nothing then leaves before an ACK, at
 * the end of a burst, and after a time-out.
 */
static bool falcon_tx_ar(struct falcon_core *c, const struct falcon_txpkt *p)
{
	u32 fcwnd = c->flow[p->flow].fcwnd;

	if (fcwnd <= (u32)c->cfg.ar_fcwnd << FALCON_FCWND_SHIFT)
		return true;
	c->ar_count += c->cfg.ar_percent;
	if (c->ar_count >= 100) {
		c->ar_count -= 100;
		return true;
	}
	if (p->flags & FALCON_TXF_RETX &&
	    (p->reason == FALCON_RETX_RTO || p->reason == FALCON_RETX_TLP))
		return true;
	if (falcon_tx_last(c, p))
		return true;
	return falcon_sched_window_closes(c, p->orig_type);
}

static void falcon_tx_build(struct falcon_core *c, struct falcon_txpkt *p,
			    struct falcon_tx *tx)
{
	struct falcon_pkt_info pi;

	pi.type = p->type;
	pi.cid = c->cfg.peer_cid;
	pi.fn = c->cfg.peer_fn;
	pi.proto = c->cfg.proto;
	pi.psn = p->psn;
	pi.rsn = p->rsn;
	pi.req_len = p->req_len;
	pi.resync_code = p->resync_code;
	pi.resync_type = p->orig_type;
	pi.vendor = 0;
	pi.ar = falcon_tx_ar(c, p);
	c->ar_sent = pi.ar;
	falcon_ack_piggyback(c, &pi, tx->depart_ns);

	tx->hdr_len = falcon_wire_build(&pi, tx->hdr);
	tx->type = p->type;
	tx->flow = p->flow;
	tx->retx = p->flags & FALCON_TXF_RETX;
	tx->reason = p->reason;
	tx->psn = p->psn;
	tx->rsn = p->rsn;
	tx->len = p->type == FALCON_PKT_RESYNC ? 0 : p->len;
	tx->payload = tx->len ? p->payload : NULL;
}

/* First transmission: the next PSN of the window, and its place in it */
static void falcon_tx_first(struct falcon_core *c, struct falcon_txpkt *p)
{
	struct falcon_txwin *w = falcon_pkt_win(c, p);

	p->psn = w->next++;
	list_move_tail(&p->win_node, &w->pkts);
	c->stats.tx_bytes += p->len;
	if (p->type == FALCON_PKT_PUSH_DATA)
		falcon_tx_turn(c);
	if (falcon_pkt_is_request(p)) {
		w->orc++;
		falcon_init_sent(c, falcon_pkt_txn(p));
	} else {
		falcon_target_sent(falcon_pkt_resp(p));
	}
}

static void falcon_tx_again(struct falcon_core *c, struct falcon_txpkt *p)
{
	list_del_init(&p->time_node);
	p->flags |= FALCON_TXF_RETX;
	p->flags &= ~FALCON_TXF_NO_RESOURCE;
	if (falcon_pkt_is_request(p)) {
		p->flags |= FALCON_TXF_ORRC;
		falcon_pkt_win(c, p)->orrc++;
	}
	if (p->type != FALCON_PKT_RESYNC)
		c->stats.retx[p->reason]++;
}

static void falcon_tx_depart(struct falcon_core *c, struct falcon_txpkt *p,
			     u8 flow, u64 now_ns, struct falcon_tx *tx)
{
	struct falcon_flow *f = &c->flow[flow];
	u64 depart = falcon_flow_depart(c, f, p->len, now_ns);

	tx->depart_ns = depart > now_ns ? depart : 0;
	if (c->silent_ns == FALCON_NO_TIMER)
		c->silent_ns = c->nr_flight ? c->last_rx_ns : depart;
	p->sent_ns = max(depart, f->last_sent_ns + 1);
	f->last_sent_ns = p->sent_ns;
	p->flow = flow;
	p->state = FALCON_TXPKT_FLIGHT;
	list_add_tail(&p->time_node, &f->sent);
	f->outstanding[falcon_type_win(p->orig_type)]++;
	c->nr_flight++;
	falcon_flow_took(c, flow);
}

static void falcon_tx_packet(struct falcon_core *c, struct falcon_txpkt *p,
			     u8 flow, u64 now_ns, struct falcon_tx *tx)
{
	if (falcon_pkt_sent(p))
		falcon_tx_again(c, p);
	else
		falcon_tx_first(c, p);
	if (p->type == FALCON_PKT_RESYNC) {
		p->flags |= FALCON_TXF_RESYNC_SENT;
		c->stats.tx_resyncs++;
	}
	falcon_tx_depart(c, p, flow, now_ns, tx);
	falcon_tx_build(c, p, tx);
	falcon_loss_sent(c, p->sent_ns);
	c->stats.tx_pkts++;
}

/**
 * falcon_core_tx_ack() - the next NACK or ACK, if one is due
 * @c:		the connection
 * @tx:		the packet
 *
 * These wait for no turn among connections (arbiter.c): there are few, and the
 * peer's windows wait for them.
 *
 * Context: connection lock.
 * Return: false if there is none now; @tx is undefined then.
 */
bool falcon_core_tx_ack(struct falcon_core *c, struct falcon_tx *tx)
{
	if (c->fatal)
		return false;
	if (c->nr_nacks)
		falcon_nack_build(c, tx);
	else if (c->ack_now)
		falcon_ack_build(c, tx);
	else
		return false;
	return true;
}

/**
 * falcon_core_tx() - the next packet to transmit, if one may leave
 * @c:		the connection
 * @now_ns:	time
 * @tx:		the packet
 *
 * NACKs first, then an ACK that is due, then reliable packets by scheduler and
 * gate. To be called until it returns false, after every other event.
 *
 * Context: connection lock.
 * Return: false if there is nothing to transmit now; @tx is undefined then.
 */
bool falcon_core_tx(struct falcon_core *c, u64 now_ns, struct falcon_tx *tx)
{
	struct falcon_txpkt *p;
	u8 flow;

	if (falcon_core_tx_ack(c, tx))
		return true;
	if (c->fatal)
		return false;
	if (falcon_pace_wait(c, now_ns))
		return false;
	p = falcon_sched_next(c, now_ns, &flow);
	if (!p) {
		if (c->cfg.paced)
			c->pace_waits = false;
		return false;
	}
	falcon_tx_packet(c, p, flow, now_ns, tx);
	return true;
}
