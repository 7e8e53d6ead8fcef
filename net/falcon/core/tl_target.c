// SPDX-License-Identifier: GPL-2.0
/*
 * Transaction sublayer, target (8.5): pushes and pulls of the peer, from their
 * packet to the ULP's answer, and the pull data that goes back.
 *
 * On an ordered connection requests reach the ULP in RSN order over both
 * windows. An RNR of RSN N takes that back: N is delivered again, and nothing
 * after it until the ULP has accepted N (8.5.3.4). What was accepted out of
 * turn before that stays accepted, so each RSN between BRSN and NRSN has a
 * state of its own (struct falcon_rsn_win).
 */
#include <linux/bug.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/minmax.h>
#include "internal.h"
#include "window.h"
#include "wire.h"

#define RING FALCON_RSN_WIN

/* 8.5.1: where each state may lead. An RNR leads back. */
static const u16 falcon_target_next[] = {
	[FALCON_PULL_REQ_RX] = BIT(FALCON_PULL_REQ_ULP_TX),
	[FALCON_PULL_REQ_ULP_TX] = BIT(FALCON_PULL_REQ_ULP_ACKD) |
				   BIT(FALCON_PULL_REQ_RX),
	[FALCON_PULL_REQ_ULP_ACKD] = BIT(FALCON_PULL_DATA_ULP_RX),
	[FALCON_PULL_DATA_ULP_RX] = BIT(FALCON_PULL_DATA_TX),
	[FALCON_PULL_DATA_TX] = BIT(FALCON_PULL_DATA_ACKD),
	[FALCON_PULL_DATA_ACKD] = 0,
	[FALCON_PUSH_DATA_RX] = BIT(FALCON_PUSH_REQ_ULP_TX),
	[FALCON_PUSH_REQ_ULP_TX] = BIT(FALCON_PUSH_REQ_ULP_ACKD) |
				   BIT(FALCON_PUSH_DATA_RX),
	[FALCON_PUSH_REQ_ULP_ACKD] = 0,
};

static bool falcon_target_may(u8 from, u8 to)
{
	return falcon_target_next[from] & BIT(to);
}

static bool falcon_rx_state(struct falcon_rxpkt *rx, u8 state)
{
	if (WARN_ON_ONCE(!falcon_target_may(rx->state, state)))
		return false;
	rx->state = state;
	return true;
}

static bool falcon_rx_is_pull(const struct falcon_rxpkt *rx)
{
	return rx->type == FALCON_PKT_PULL_REQ;
}

/* 8.2.4: a pull request takes a buffer, with or without a ULP header. */
static u32 falcon_net_bytes(const struct falcon_rxpkt *rx)
{
	return falcon_rx_is_pull(rx) ? max_t(u32, rx->len, 1) : rx->len;
}

/* After the end of the connection everything has gone back already. */
static void falcon_rx_release(struct falcon_core *c, struct falcon_rxpkt *rx)
{
	if (rx->flags & FALCON_RXF_HELD && !c->fatal) {
		rx->flags &= ~FALCON_RXF_HELD;
		falcon_res_put_net(c->res, &c->use, c->peer_pool,
				   falcon_net_bytes(rx));
	}
}

/* Out of the list it is on, if any, to be freed by the caller */
static void falcon_rx_drop(struct falcon_core *c, struct falcon_rxpkt *rx)
{
	falcon_rx_release(c, rx);
	list_move_tail(&rx->node, &c->drop);
}

static void falcon_target_give(struct falcon_core *c, struct falcon_rxpkt *rx)
{
	falcon_rx_state(rx, falcon_rx_is_pull(rx) ? FALCON_PULL_REQ_ULP_TX :
						    FALCON_PUSH_REQ_ULP_TX);
	rx->flags &= ~FALCON_RXF_RNR;
	list_move_tail(&rx->node, &c->deliver);
}

/* ------------------------------------------------- RSN order, RNR barriers */

/* The oldest RSN that the ULP RNR NACKed and has not accepted since */
static bool falcon_rnr_barrier(const struct falcon_core *c, u32 *rsn)
{
	u32 r;

	if (!c->nr_rnr)
		return false;
	for (r = c->rx_brsn; !falcon_ring_test(c->rsn.rnr, RING, r); r++)
		;
	*rsn = r;
	return true;
}

/* A barrier whose transaction is still to come back to the ULP */
static bool falcon_rnr_waiting(const struct falcon_core *c, u32 *rsn)
{
	return falcon_rnr_barrier(c, rsn) &&
	       !falcon_ring_test(c->rsn.at_ulp, RING, *rsn);
}

/* The RSN to be delivered next; false if none may be now. */
static bool falcon_target_expects(const struct falcon_core *c, u32 *rsn)
{
	if (falcon_rnr_barrier(c, rsn))
		return !falcon_ring_test(c->rsn.at_ulp, RING, *rsn);
	*rsn = c->rx_nrsn;
	return c->rx_nrsn - c->rx_brsn < FALCON_RSN_WIN;
}

/* The ULP accepted an RSN, or a resync cancelled it: BRSN may move (8.5.1). */
static void falcon_rsn_accept(struct falcon_core *c, u32 rsn)
{
	struct falcon_rsn_win *w = &c->rsn;

	if (!falcon_ordered(c))
		return;
	if (rsn == c->rx_brsn && rsn != c->rx_nrsn && !c->nr_done &&
	    !c->nr_rnr) {			/* in order */
		c->rx_brsn++;
		return;
	}
	if (falcon_ring_test(w->rnr, RING, rsn)) {
		falcon_ring_clear(w->rnr, RING, rsn);
		falcon_ring_clear(w->at_ulp, RING, rsn);
		c->nr_rnr--;
	}
	if (!falcon_ring_test(w->done, RING, rsn)) {
		falcon_ring_set(w->done, RING, rsn);
		c->nr_done++;
	}
	while (c->rx_brsn != c->rx_nrsn &&
	       falcon_ring_test(w->done, RING, c->rx_brsn)) {
		falcon_ring_clear(w->done, RING, c->rx_brsn);
		c->nr_done--;
		c->rx_brsn++;
	}
}

static void falcon_rsn_rnr(struct falcon_core *c, u32 rsn, u8 timeout)
{
	struct falcon_rsn_win *w = &c->rsn;
	u32 oldest;

	if (!falcon_ring_test(w->rnr, RING, rsn)) {
		falcon_ring_set(w->rnr, RING, rsn);
		c->nr_rnr++;
	}
	falcon_ring_clear(w->at_ulp, RING, rsn);
	if (falcon_rnr_barrier(c, &oldest) && oldest == rsn)
		w->timeout = timeout;
}

/* @rx has its turn: to the ULP, or away if a resync cancelled it. */
static void falcon_target_take_turn(struct falcon_core *c,
				    struct falcon_rxpkt *rx)
{
	if (rx->rsn == c->rx_nrsn)
		c->rx_nrsn++;
	else
		falcon_ring_set(c->rsn.at_ulp, RING, rx->rsn);

	if (rx->type == FALCON_PKT_RESYNC) {
		falcon_rsn_accept(c, rx->rsn);
		falcon_rx_drop(c, rx);
	} else {
		falcon_target_give(c, rx);
	}
}

/* Delivers what RSN order and RNR timers allow. */
static void falcon_target_run(struct falcon_core *c, u64 now_ns)
{
	struct falcon_rxpkt *rx;
	u32 rsn;

	while (falcon_target_expects(c, &rsn)) {
		rx = list_first_entry_or_null(&c->reorder, struct falcon_rxpkt,
					      node);
		if (!rx || rx->rsn != rsn)
			break;
		if (rx->flags & FALCON_RXF_RNR && rx->due_ns > now_ns)
			break;
		falcon_target_take_turn(c, rx);
	}
}

/*
 * Section 11: all resources are reclaimed after a time. What waits in core,
 * for its turn or for a resync, is given up that long after @from_ns; its
 * initiator has given it up by then.
 */
static u64 falcon_target_hold_time(const struct falcon_core *c)
{
	return 2 * c->cfg.txn_timeout_ns;
}

static void falcon_target_hold(struct falcon_core *c, struct falcon_rxpkt *rx,
			       u64 from_ns)
{
	rx->due_ns = from_ns;
	if (c->cfg.txn_timeout_ns)
		c->reclaim_ns = min(c->reclaim_ns,
				    from_ns + falcon_target_hold_time(c));
}

/* Into RSN order, from the back; false if the RSN is there already. */
static bool falcon_reorder_insert(struct falcon_core *c,
				  struct falcon_rxpkt *rx)
{
	struct falcon_rxpkt *q;

	list_for_each_entry_reverse(q, &c->reorder, node) {
		if (q->rsn == rx->rsn)
			return false;
		if (falcon_before(q->rsn, rx->rsn))
			break;
	}
	list_add(&rx->node, &q->node);
	return true;
}

/* An RSN that is not to come any more: the packet of an RNR excepted */
static bool falcon_rsn_over(const struct falcon_core *c, u32 rsn)
{
	if (!falcon_before(rsn, c->rx_nrsn))
		return false;
	return falcon_before(rsn, c->rx_brsn) ||
	       !falcon_ring_test(c->rsn.rnr, RING, rsn) ||
	       falcon_ring_test(c->rsn.at_ulp, RING, rsn);
}

/* ------------------------------------------------------ from the network */

static enum falcon_admit falcon_target_refuse(struct falcon_core *c,
					      struct falcon_rxpkt *rx,
					      u8 code, u8 timeout)
{
	falcon_nack_queue(c, falcon_type_win(rx->type), rx->psn, code, timeout,
			  0);
	return FALCON_ADMIT_REFUSED;
}

/*
 * 8.5.3.4: while an RNR NACKed transaction is still to come back, later push
 * data is RNR NACKed on arrival. (If the NACK queue is full it is held, which
 * looks to the initiator like a slow ULP. Pulls are always held.)
 */
static bool falcon_rnr_covers(const struct falcon_core *c,
			      const struct falcon_rxpkt *rx)
{
	u32 rsn;

	return !falcon_rx_is_pull(rx) && c->nr_nacks < FALCON_NACK_QUEUE &&
	       falcon_rnr_waiting(c, &rsn) && falcon_before(rsn, rx->rsn);
}

/*
 * Later RSNs wait as long as the oldest: it may be tried again no sooner. A
 * pull waits here, so that what is left of its time is known.
 */
static u8 falcon_rnr_timeout(struct falcon_core *c, u64 now_ns)
{
	const struct falcon_rxpkt *rx;
	u32 rsn;

	rx = list_first_entry_or_null(&c->reorder, struct falcon_rxpkt, node);
	if (!rx || !(rx->flags & FALCON_RXF_RNR) ||
	    !falcon_rnr_barrier(c, &rsn) || rx->rsn != rsn)
		return c->rsn.timeout;
	return falcon_rnr_timeout_code(rx->due_ns > now_ns ?
				       rx->due_ns - now_ns : 0);
}

static enum falcon_admit falcon_target_rx_ordered(struct falcon_core *c,
						  struct falcon_rxpkt *rx,
						  u64 now_ns)
{
	bool hol;
	u32 rsn;

	if (falcon_rsn_over(c, rx->rsn)) {
		c->stats.rx_bad_pkt++;
		return FALCON_ADMIT_DROP;
	}
	if (falcon_rnr_covers(c, rx))
		return falcon_target_refuse(c, rx, FALCON_NACK_RNR,
					    falcon_rnr_timeout(c, now_ns));

	hol = falcon_target_expects(c, &rsn) && rx->rsn == rsn;
	if ((s32)(rx->rsn - c->rx_nrsn) >= FALCON_REORDER_MAX ||
	    !falcon_res_get_net(c->res, &c->use, c->peer_pool,
				falcon_net_bytes(rx), hol)) {
		c->stats.rx_no_resource++;
		return falcon_target_refuse(c, rx, FALCON_NACK_RESOURCE, 0);
	}
	rx->flags |= FALCON_RXF_HELD;
	falcon_target_hold(c, rx, now_ns);
	if (!falcon_reorder_insert(c, rx)) {
		falcon_rx_release(c, rx);
		c->stats.rx_bad_pkt++;
		return FALCON_ADMIT_DROP;
	}
	falcon_target_run(c, now_ns);
	return FALCON_ADMIT_TAKEN;
}

/* Push data or a pull request, new to its window (8.5.3.1, 8.5.3.3) */
enum falcon_admit falcon_target_rx(struct falcon_core *c,
				   struct falcon_rxpkt *rx, u64 now_ns)
{
	if (c->cfg.xlr & FALCON_XLR_TARGET)
		return falcon_target_refuse(c, rx, FALCON_NACK_XLR, 0);
	if (falcon_ordered(c))
		return falcon_target_rx_ordered(c, rx, now_ns);

	if (!falcon_res_get_net(c->res, &c->use, c->peer_pool,
				falcon_net_bytes(rx), false)) {
		c->stats.rx_no_resource++;
		return falcon_target_refuse(c, rx, FALCON_NACK_RESOURCE, 0);
	}
	rx->flags |= FALCON_RXF_HELD;
	falcon_target_give(c, rx);
	return FALCON_ADMIT_TAKEN;
}

/*
 * A resync for a request that never arrived. On an ordered connection its RSN
 * must be passed over in its turn: the resync stands in for it.
 */
enum falcon_admit falcon_target_resync(struct falcon_core *c,
				       struct falcon_rxpkt *rx, u64 now_ns)
{
	if (!falcon_ordered(c) || falcon_rsn_over(c, rx->rsn))
		return FALCON_ADMIT_DROP;
	if (falcon_before(rx->rsn, c->rx_nrsn)) {
		falcon_rsn_accept(c, rx->rsn);
		falcon_target_run(c, now_ns);
		return FALCON_ADMIT_DROP;
	}
	if (rx->rsn - c->rx_nrsn >= FALCON_REORDER_MAX)
		return FALCON_ADMIT_REFUSED;
	if (!falcon_reorder_insert(c, rx))
		return FALCON_ADMIT_DROP;
	falcon_target_run(c, now_ns);
	return FALCON_ADMIT_TAKEN;
}

static struct falcon_rxpkt *falcon_find_psn(struct list_head *head, u32 psn)
{
	struct falcon_rxpkt *rx;

	list_for_each_entry(rx, head, node)
		if (rx->psn == psn && rx->type == FALCON_PKT_PUSH_DATA)
			return rx;
	return NULL;
}

/*
 * A resync for push data that is here: the initiator learnt of our NACK, or
 * has given it up. What waits for its turn becomes a stand-in; what the ULP
 * has, the ULP will answer, and nobody waits for that.
 */
void falcon_target_cancel(struct falcon_core *c, u32 psn, u64 now_ns)
{
	struct falcon_rxpkt *rx = falcon_find_psn(&c->nacked, psn);

	if (rx) {
		falcon_rx_drop(c, rx);
		return;
	}
	rx = falcon_find_psn(&c->reorder, psn);
	if (rx) {
		rx->type = FALCON_PKT_RESYNC;
		falcon_rx_release(c, rx);
		falcon_target_run(c, now_ns);
	}
}

/* 6.6.5: a duplicate of NACKed push data draws the same NACK again. */
bool falcon_target_repeat_nack(struct falcon_core *c, u32 psn)
{
	struct falcon_rxpkt *rx = falcon_find_psn(&c->nacked, psn);

	if (rx)
		falcon_nack_queue(c, FALCON_WIN_DATA, psn, rx->code, 0,
				  rx->ulp_code);
	return rx;
}

/* ------------------------------------------------------------ from the ULP */

/* The ULP took the transaction: its resources are free, its RSN is done. */
static void falcon_target_accept(struct falcon_core *c,
				 struct falcon_rxpkt *rx, u64 now_ns)
{
	falcon_rx_release(c, rx);
	if (!falcon_ordered(c))
		return;
	falcon_rsn_accept(c, rx->rsn);
	falcon_target_run(c, now_ns);
}

/**
 * falcon_core_target_ack() - the ULP acknowledges a push, or has taken a pull
 * @c:		the connection
 * @rx:		what was delivered; a push is the ULP's alone from now on
 * @now_ns:	time
 *
 * The packet of a push is acknowledged with that (8.5.3.3).
 *
 * Context: connection lock.
 */
void falcon_core_target_ack(struct falcon_core *c, struct falcon_rxpkt *rx,
			    u64 now_ns)
{
	bool pull = falcon_rx_is_pull(rx);

	if (c->fatal || !falcon_rx_state(rx, pull ? FALCON_PULL_REQ_ULP_ACKD :
						    FALCON_PUSH_REQ_ULP_ACKD))
		return;
	if (!pull)
		falcon_pdl_ack_push(c, rx, now_ns);
	falcon_target_accept(c, rx, now_ns);
}

/* Later push data that is held goes the way of the one before it. */
static void falcon_rnr_held(struct falcon_core *c, u64 now_ns)
{
	u8 timeout = falcon_rnr_timeout(c, now_ns);
	struct falcon_rxpkt *rx, *n;

	list_for_each_entry_safe(rx, n, &c->reorder, node) {
		if (rx->type != FALCON_PKT_PUSH_DATA ||
		    !falcon_rnr_covers(c, rx))
			continue;
		falcon_nack_queue(c, FALCON_WIN_DATA, rx->psn, FALCON_NACK_RNR,
				  timeout, 0);
		falcon_rxwin_forget(&c->rx[FALCON_WIN_DATA], rx->psn);
		falcon_rx_drop(c, rx);
	}
}

static void falcon_rnr_pull(struct falcon_core *c, struct falcon_rxpkt *rx,
			    u64 due_ns)
{
	struct falcon_rxpkt *q;

	rx->flags |= FALCON_RXF_RNR;
	falcon_target_hold(c, rx, due_ns);
	if (falcon_ordered(c)) {
		falcon_reorder_insert(c, rx);
		return;
	}
	list_for_each_entry_reverse(q, &c->pull_rnr, node)
		if (q->due_ns <= due_ns)
			break;
	list_add(&rx->node, &q->node);
}

/* False if a resync has acknowledged the packet: it will not come again. */
static bool falcon_rnr_push(struct falcon_core *c, struct falcon_rxpkt *rx,
			    u8 timeout)
{
	bool open = falcon_pdl_push_open(c, rx);

	if (open) {
		falcon_nack_queue(c, FALCON_WIN_DATA, rx->psn, FALCON_NACK_RNR,
				  timeout, 0);
		falcon_rxwin_forget(&c->rx[FALCON_WIN_DATA], rx->psn);
	}
	falcon_rx_drop(c, rx);
	return open;
}

/**
 * falcon_core_target_rnr() - the ULP is not ready for a push or pull (8.5.3.4)
 * @c:		the connection
 * @rx:		what was delivered; core's from now on
 * @rnr_timeout: RNR NACK Timeout, 5 bits (7.8)
 * @now_ns:	time
 *
 * A push is dropped and comes again from the initiator, a pull is kept and
 * delivered again when the time is over.
 *
 * Context: connection lock.
 */
void falcon_core_target_rnr(struct falcon_core *c, struct falcon_rxpkt *rx,
			    u8 rnr_timeout, u64 now_ns)
{
	bool pull = falcon_rx_is_pull(rx);

	INIT_LIST_HEAD(&rx->node);
	if (c->fatal || !falcon_rx_state(rx, pull ? FALCON_PULL_REQ_RX :
						    FALCON_PUSH_DATA_RX)) {
		falcon_rx_drop(c, rx);
		return;
	}
	if (pull) {
		falcon_rnr_pull(c, rx, now_ns +
				falcon_rnr_timeout_ns(rnr_timeout));
	} else if (!falcon_rnr_push(c, rx, rnr_timeout)) {
		falcon_target_accept(c, rx, now_ns);
		return;
	}
	if (falcon_ordered(c)) {
		falcon_rsn_rnr(c, rx->rsn, rnr_timeout);
		falcon_rnr_held(c, now_ns);
	}
}

/**
 * falcon_core_target_nack() - the ULP ends a push in error (8.5.3.5)
 * @c:		the connection
 * @rx:		what was delivered; core's from now on
 * @code:	FALCON_NACK_CIE, _NRE or _CID
 * @ulp_code:	for the initiator's ULP
 * @now_ns:	time
 *
 * What is left of the packet is kept until the initiator's resync, to repeat
 * the NACK if that gets lost. A pull is only dropped (section 11): to tell the
 * initiator, the ULP responds with no bytes instead.
 *
 * Context: connection lock.
 */
void falcon_core_target_nack(struct falcon_core *c, struct falcon_rxpkt *rx,
			     u8 code, u8 ulp_code, u64 now_ns)
{
	bool pull = falcon_rx_is_pull(rx);

	INIT_LIST_HEAD(&rx->node);
	if (c->fatal || !falcon_rx_state(rx, pull ? FALCON_PULL_REQ_ULP_ACKD :
						    FALCON_PUSH_REQ_ULP_ACKD)) {
		falcon_rx_drop(c, rx);
		return;
	}
	if (pull || !falcon_pdl_push_open(c, rx)) {
		falcon_rx_drop(c, rx);
	} else {
		rx->code = code;
		rx->ulp_code = ulp_code;
		falcon_target_hold(c, rx, now_ns);
		list_add_tail(&rx->node, &c->nacked);
		falcon_nack_queue(c, FALCON_WIN_DATA, rx->psn, code, 0,
				  ulp_code);
	}
	falcon_target_accept(c, rx, now_ns);
}

static void falcon_resp_state(struct falcon_resp *resp, u8 state)
{
	WARN_ON_ONCE(!falcon_target_may(resp->state, state));
	resp->state = state;
}

/**
 * falcon_core_target_respond() - pull data for a delivered pull (8.5.3.2)
 * @c:		the connection
 * @rx:		the pull; the ULP's alone from now on, if this succeeds
 * @resp:	the response, core's until it is on the release list
 * @payload:	handle of ULP header and payload, valid until then
 * @len:	bytes of it, at most what was asked for. 0 tells an error
 * @now_ns:	time
 *
 * A ULP that gets -ENOBUFS should acknowledge the pull until it can respond:
 * one that is taken holds no resources of network requests, which the pushes
 * that hold the pool's pull data up may be waiting for (8.2.1.2).
 *
 * Context: connection lock.
 * Return: 0; -ENOTCONN if the connection is dead, -EINVAL if @rx is no pull
 * that waits for an answer, -EMSGSIZE, -ENOBUFS if the pool of ULP data is
 * exhausted.
 */
int falcon_core_target_respond(struct falcon_core *c, struct falcon_rxpkt *rx,
			       struct falcon_resp *resp, void *payload,
			       u16 len, u64 now_ns)
{
	if (c->fatal)
		return -ENOTCONN;
	if (rx->state != FALCON_PULL_REQ_ULP_TX &&
	    rx->state != FALCON_PULL_REQ_ULP_ACKD)
		return -EINVAL;
	if (len > rx->req_len || len > c->cfg.mtu)
		return -EMSGSIZE;
	if (!falcon_res_get(c->res, &c->use, FALCON_POOL_TX_DATA, len))
		return -ENOBUFS;

	if (rx->state == FALCON_PULL_REQ_ULP_TX)
		falcon_core_target_ack(c, rx, now_ns);
	falcon_rx_state(rx, FALCON_PULL_DATA_ULP_RX);
	falcon_pkt_init(&resp->pkt, FALCON_PKT_PULL_DATA, rx->rsn, payload, len,
			0);
	resp->state = FALCON_PULL_DATA_ULP_RX;
	list_add_tail(&resp->pkt.win_node, &c->sched[FALCON_QUEUE_PULL_DATA]);
	return 0;
}

/* -------------------------------------------------------------- pull data */

void falcon_target_sent(struct falcon_resp *resp)
{
	falcon_resp_state(resp, FALCON_PULL_DATA_TX);
}

static void falcon_resp_release(struct falcon_core *c, struct falcon_resp *resp)
{
	falcon_res_put(c->res, &c->use, FALCON_POOL_TX_DATA, resp->pkt.len);
	list_add_tail(&resp->node, &c->release);
}

void falcon_target_acked(struct falcon_core *c, struct falcon_resp *resp)
{
	falcon_resp_state(resp, FALCON_PULL_DATA_ACKD);
	falcon_resp_release(c, resp);
}

/* ------------------------------------------------------------------ timer */

/* When a pull is delivered again, if that is what is next */
static u64 falcon_rnr_pull_due(const struct falcon_core *c)
{
	const struct list_head *list = falcon_ordered(c) ? &c->reorder :
							   &c->pull_rnr;
	const struct falcon_rxpkt *rx;
	u32 rsn;

	if (list_empty(list))
		return FALCON_NO_TIMER;
	rx = list_first_entry(list, struct falcon_rxpkt, node);
	if (!(rx->flags & FALCON_RXF_RNR))
		return FALCON_NO_TIMER;
	if (falcon_ordered(c) &&
	    (!falcon_target_expects(c, &rsn) || rsn != rx->rsn))
		return FALCON_NO_TIMER;
	return rx->due_ns;
}

u64 falcon_target_due(const struct falcon_core *c)
{
	u64 due = falcon_rnr_pull_due(c);

	if (list_empty(&c->reorder) && list_empty(&c->nacked))
		return due;
	return min(due, c->reclaim_ns);
}

/*
 * Push data may come again from the wire. A pull request, which is
 * acknowledged, may not: its RSN is passed over in its turn.
 */
static void falcon_target_give_up(struct falcon_core *c,
				  struct falcon_rxpkt *rx)
{
	if (falcon_rx_is_pull(rx)) {
		falcon_rx_release(c, rx);
		rx->type = FALCON_PKT_RESYNC;
		if (c->cfg.gapless)
			c->dying = FALCON_CMPL_LOCAL_TO;
		return;
	}
	falcon_rxwin_forget(&c->rx[FALCON_WIN_DATA], rx->psn);
	falcon_rx_drop(c, rx);
}

static void falcon_target_reclaim(struct falcon_core *c, u64 now_ns)
{
	u64 hold = falcon_target_hold_time(c);
	struct falcon_rxpkt *rx, *n;

	if (c->reclaim_ns > now_ns)
		return;
	c->reclaim_ns = FALCON_NO_TIMER;
	list_for_each_entry_safe(rx, n, &c->reorder, node) {
		if (rx->type == FALCON_PKT_RESYNC)
			continue;
		if (rx->due_ns + hold <= now_ns)
			falcon_target_give_up(c, rx);
		else
			c->reclaim_ns = min(c->reclaim_ns, rx->due_ns + hold);
	}
	list_for_each_entry_safe(rx, n, &c->nacked, node) {
		if (rx->due_ns + hold > now_ns) {
			c->reclaim_ns = min(c->reclaim_ns, rx->due_ns + hold);
			break;
		}
		falcon_rx_drop(c, rx);
	}
}

/* The RNR time of a pull is over (8.5.3.4), or a wait has been too long. */
void falcon_target_timer(struct falcon_core *c, u64 now_ns)
{
	struct falcon_rxpkt *rx, *n;

	falcon_target_reclaim(c, now_ns);
	if (falcon_ordered(c)) {
		falcon_target_run(c, now_ns);
		return;
	}
	list_for_each_entry_safe(rx, n, &c->pull_rnr, node) {
		if (rx->due_ns > now_ns)
			break;
		falcon_target_give(c, rx);
	}
}

static void falcon_drop_all(struct falcon_core *c, struct list_head *head)
{
	struct falcon_rxpkt *rx, *n;

	list_for_each_entry_safe(rx, n, head, node)
		falcon_rx_drop(c, rx);
}

/* The connection ends: what the ULP has not seen it will not see. */
void falcon_target_abort(struct falcon_core *c)
{
	struct falcon_txpkt *p, *n;

	falcon_drop_all(c, &c->deliver);
	falcon_drop_all(c, &c->reorder);
	falcon_drop_all(c, &c->nacked);
	falcon_drop_all(c, &c->pull_rnr);

	list_for_each_entry_safe(p, n, &c->sched[FALCON_QUEUE_PULL_DATA],
				 win_node) {
		list_del_init(&p->win_node);
		falcon_resp_release(c, falcon_pkt_resp(p));
	}
	list_for_each_entry_safe(p, n, &c->tx[FALCON_WIN_DATA].pkts, win_node) {
		if (falcon_pkt_is_request(p))
			continue;
		falcon_pkt_unlink(c, p);
		falcon_resp_release(c, falcon_pkt_resp(p));
	}
}
