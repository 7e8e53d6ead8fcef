// SPDX-License-Identifier: GPL-2.0
/*
 * Transaction sublayer, initiator (8.4): from submission by the ULP to
 * completion. An RSN is given at submission; completions go back in RSN order
 * on ordered connections, at once on unordered ones. Every transaction has a
 * time-out that reclaims it (section 11).
 *
 * The ULP submits; the packet delivery sublayer reports what was sent,
 * acknowledged or received.
 */
#include <linux/bug.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include "internal.h"
#include "window.h"

/* 8.4.1: where each state may lead. Completion in error may cut one short. */
static const u16 falcon_init_next[] = {
	[FALCON_PULL_REQ_ULP_RX] = BIT(FALCON_PULL_REQ_TX) |
				   BIT(FALCON_PULL_DATA_ULP_TX),
	[FALCON_PULL_REQ_TX] = BIT(FALCON_PULL_REQ_ACKD) |
			       BIT(FALCON_PULL_DATA_ULP_TX),
	[FALCON_PULL_REQ_ACKD] = BIT(FALCON_PULL_DATA_RX) |
				 BIT(FALCON_PULL_DATA_ULP_TX),
	[FALCON_PULL_DATA_RX] = BIT(FALCON_PULL_DATA_ULP_TX),
	[FALCON_PULL_DATA_ULP_TX] = 0,
	[FALCON_PUSH_REQ_ULP_RX] = BIT(FALCON_PUSH_DATA_TX) |
				   BIT(FALCON_PUSH_CPL_TX),
	[FALCON_PUSH_DATA_TX] = BIT(FALCON_PUSH_DATA_ACKD) |
				BIT(FALCON_PUSH_CPL_TX),
	[FALCON_PUSH_DATA_ACKD] = BIT(FALCON_PUSH_CPL_TX),
	[FALCON_PUSH_CPL_TX] = 0,
};

static void falcon_init_state(struct falcon_txn *txn, u8 state)
{
	WARN_ON_ONCE(!(falcon_init_next[txn->state] & BIT(state)));
	txn->state = state;
}

/* 8.2.3: a pull request takes a buffer, with or without a ULP header. */
static u16 falcon_init_tx_bytes(bool pull, u16 len)
{
	return pull ? max_t(u16, len, 1) : len;
}

static u32 falcon_init_rx_bytes(const struct falcon_txn *txn)
{
	return txn->pull ? txn->pkt.req_len : 0;
}

static int falcon_init_reserve(struct falcon_core *c, u16 tx_bytes,
			       u16 rx_bytes)
{
	if (!falcon_res_xon(c->res, &c->use, falcon_loss_recovering(c)))
		return -EAGAIN;
	if (!falcon_res_get(c->res, &c->use, FALCON_POOL_TX_REQ, tx_bytes))
		return -ENOBUFS;
	if (!falcon_res_get(c->res, &c->use, FALCON_POOL_RX_REQ, rx_bytes)) {
		falcon_res_put(c->res, &c->use, FALCON_POOL_TX_REQ, tx_bytes);
		return -ENOBUFS;
	}
	return 0;
}

/* Section 11: the ULP is told why in the specification's words as well. */
static int falcon_init_refuse(struct falcon_txn *txn, u8 cmpl, int err)
{
	txn->cmpl = cmpl;
	return err;
}

static int falcon_init_submit(struct falcon_core *c, struct falcon_txn *txn,
			      bool pull, void *payload, u16 len, u16 req_len,
			      u64 now_ns)
{
	u8 type = pull ? FALCON_PKT_PULL_REQ : FALCON_PKT_PUSH_DATA;
	int err;

	if (c->fatal)
		return falcon_init_refuse(txn, FALCON_CMPL_DEAD_CONN,
					  -ENOTCONN);
	if (len > c->cfg.mtu || req_len > c->cfg.mtu)
		return falcon_init_refuse(txn, FALCON_CMPL_OP_ERR, -EMSGSIZE);
	err = falcon_init_reserve(c, falcon_init_tx_bytes(pull, len),
				  pull ? req_len : 0);
	if (err)
		return falcon_init_refuse(txn, FALCON_CMPL_LOCAL_RSRC, err);

	falcon_pkt_init(&txn->pkt, type, c->tx_nrsn++, payload, len, req_len);
	INIT_HLIST_NODE(&txn->by_rsn);
	txn->rx = NULL;
	txn->state = pull ? FALCON_PULL_REQ_ULP_RX : FALCON_PUSH_REQ_ULP_RX;
	txn->cmpl = FALCON_CMPL_ACK;
	txn->ulp_code = 0;
	txn->rnrs = 0;
	txn->pull = pull;
	txn->done = false;
	txn->expires_ns = FALCON_NO_TIMER;
	if (c->cfg.txn_timeout_ns) {
		txn->expires_ns = now_ns + c->cfg.txn_timeout_ns;
		c->expire_ns = min(c->expire_ns, txn->expires_ns);
	}
	list_add_tail(&txn->node, &c->init_txns);
	list_add_tail(&txn->pkt.win_node, &c->sched[FALCON_QUEUE_REQUESTS]);
	if (c->cfg.xlr & FALCON_XLR_INITIATOR)
		falcon_pkt_resync(c, &txn->pkt, FALCON_RESYNC_LOCAL_XLR);
	return 0;
}

/**
 * falcon_core_push() - submit a push transaction (8.4.3.3)
 * @c:		the connection
 * @txn:	the transaction, core's until it completes
 * @payload:	handle of ULP header and payload, valid until then
 * @len:	bytes of it, at most the MTU
 * @now_ns:	time
 *
 * Context: connection lock.
 * Return: 0; -ENOTCONN if the connection is dead, -EMSGSIZE, -EAGAIN if
 * backpressure says to wait (Xoff), -ENOBUFS if the pools are exhausted.
 */
int falcon_core_push(struct falcon_core *c, struct falcon_txn *txn,
		     void *payload, u16 len, u64 now_ns)
{
	return falcon_init_submit(c, txn, false, payload, len, len, now_ns);
}

/**
 * falcon_core_pull() - submit a pull transaction (8.4.3.1)
 * @c:		the connection
 * @txn:	the transaction, core's until it completes
 * @payload:	handle of the ULP header that the request carries, or NULL
 * @len:	bytes of it
 * @req_len:	bytes asked for, at most the MTU
 * @now_ns:	time
 *
 * Context: connection lock.
 * Return: as falcon_core_push().
 */
int falcon_core_pull(struct falcon_core *c, struct falcon_txn *txn,
		     void *payload, u16 len, u16 req_len, u64 now_ns)
{
	return falcon_init_submit(c, txn, true, payload, len, req_len, now_ns);
}

/* Hands a transaction to the ULP, and its resources back. */
static void falcon_init_complete(struct falcon_core *c, struct falcon_txn *txn)
{
	hlist_del_init(&txn->by_rsn);
	falcon_init_state(txn, txn->pull ? FALCON_PULL_DATA_ULP_TX :
					   FALCON_PUSH_CPL_TX);
	falcon_res_put(c->res, &c->use, FALCON_POOL_TX_REQ,
		       falcon_init_tx_bytes(txn->pull, txn->pkt.len));
	falcon_res_put(c->res, &c->use, FALCON_POOL_RX_REQ,
		       falcon_init_rx_bytes(txn));
	list_move_tail(&txn->node, &c->complete);
}

/* BRSN: the oldest that is yet to be completed (8.4.1) */
static void falcon_init_update_brsn(struct falcon_core *c)
{
	struct falcon_txn *txn;

	txn = list_first_entry_or_null(&c->init_txns, struct falcon_txn, node);
	c->tx_brsn = txn ? txn->pkt.rsn : c->tx_nrsn;
}

/* 8.4.2: on ordered connections, completions in RSN order */
static void falcon_init_flush(struct falcon_core *c)
{
	struct falcon_txn *txn, *n;

	list_for_each_entry_safe(txn, n, &c->init_txns, node) {
		if (!txn->done)
			break;
		falcon_init_complete(c, txn);
	}
	falcon_init_update_brsn(c);
}

/* The outcome is known; with an unordered connection it is told now. */
static void falcon_init_decide(struct falcon_core *c, struct falcon_txn *txn,
			       u8 cmpl)
{
	txn->done = true;
	txn->cmpl = cmpl;
	if (!falcon_ordered(c))
		falcon_init_complete(c, txn);
}

static void falcon_init_finish(struct falcon_core *c, struct falcon_txn *txn,
			       u8 cmpl)
{
	falcon_init_decide(c, txn, cmpl);
	if (falcon_ordered(c))
		falcon_init_flush(c);
	else
		falcon_init_update_brsn(c);
}

static struct hlist_head *falcon_pull_bucket(struct falcon_core *c, u32 rsn)
{
	return &c->pulls[rsn % FALCON_PULL_BUCKETS];
}

void falcon_init_sent(struct falcon_core *c, struct falcon_txn *txn)
{
	falcon_init_state(txn, txn->pull ? FALCON_PULL_REQ_TX :
					   FALCON_PUSH_DATA_TX);
	if (txn->pull)
		hlist_add_head(&txn->by_rsn,
			       falcon_pull_bucket(c, txn->pkt.rsn));
}

/* Section 11: what a resync in place of the packet means to the ULP */
u8 falcon_resync_cmpl(u8 code)
{
	switch (code) {
	case FALCON_RESYNC_CIE:
		return FALCON_CMPL_TARGET_NACK_CIE;
	case FALCON_RESYNC_NRE:
		return FALCON_CMPL_TARGET_NACK_NRE;
	case FALCON_RESYNC_CID:
		return FALCON_CMPL_TARGET_NACK_CID;
	case FALCON_RESYNC_REMOTE_XLR:
		return FALCON_CMPL_REMOTE_ERR;
	case FALCON_RESYNC_LOCAL_XLR:
		return FALCON_CMPL_LOCAL_XLR;
	default:
		return FALCON_CMPL_LOCAL_TO;
	}
}

/*
 * The peer acknowledged the packet (8.4.3). If that is a resync, the outcome
 * is what its code says; but if a push was given up for lack of an answer and
 * the resync never left, it is the push that was acknowledged.
 */
void falcon_init_acked(struct falcon_core *c, struct falcon_txn *txn)
{
	const struct falcon_txpkt *p = &txn->pkt;
	u8 cmpl = FALCON_CMPL_ACK;

	falcon_init_state(txn, txn->pull ? FALCON_PULL_REQ_ACKD :
					   FALCON_PUSH_DATA_ACKD);
	if (p->type == FALCON_PKT_RESYNC)
		cmpl = falcon_resync_cmpl(p->resync_code);
	if (cmpl == FALCON_CMPL_LOCAL_TO && !txn->pull &&
	    !(p->flags & FALCON_TXF_RESYNC_SENT))
		cmpl = FALCON_CMPL_ACK;
	if (!txn->pull || cmpl != FALCON_CMPL_ACK)
		falcon_init_finish(c, txn, cmpl);
}

/* A pull that was sent and waits for its data, by RSN */
static struct falcon_txn *falcon_init_find_pull(struct falcon_core *c, u32 rsn)
{
	struct falcon_txn *txn;

	hlist_for_each_entry(txn, falcon_pull_bucket(c, rsn), by_rsn)
		if (txn->pkt.rsn == rsn)
			return txn->done ||
			       txn->pkt.type == FALCON_PKT_RESYNC ? NULL : txn;
	return NULL;
}

/*
 * Pull data (8.4.3.2). It shows that the request arrived, whatever became of
 * that one's ACK. Smaller than requested is normal, though 8.4.3.2 would have
 * it discarded: conflict, resolved by note 2 of section 11. Larger ends the
 * transaction, and so does an empty one, by which the target's ULP tells an
 * error (8.5.3.5).
 */
enum falcon_rx_verdict falcon_init_pull_data(struct falcon_core *c,
					     struct falcon_rxpkt *rx,
					     u64 now_ns)
{
	struct falcon_txn *txn = falcon_init_find_pull(c, rx->rsn);

	if (!txn) {
		c->stats.rx_bad_pkt++;
		return FALCON_RX_DONE;
	}
	if (txn->pkt.state != FALCON_TXPKT_DONE)
		falcon_ack_one(c, &txn->pkt, now_ns);

	falcon_init_state(txn, FALCON_PULL_DATA_RX);
	if (rx->len > txn->pkt.req_len) {
		falcon_init_finish(c, txn, FALCON_CMPL_OP_ERR);
		return FALCON_RX_DONE;
	}
	if (rx->len)
		txn->rx = rx;
	falcon_init_finish(c, txn, FALCON_CMPL_ACK);
	return rx->len ? FALCON_RX_KEPT : FALCON_RX_DONE;
}

/* The target gave its pull data up: the pull ends in error. */
void falcon_init_pull_resync(struct falcon_core *c, u32 rsn, u64 now_ns)
{
	struct falcon_txn *txn = falcon_init_find_pull(c, rsn);

	if (!txn)
		return;
	if (txn->pkt.state != FALCON_TXPKT_DONE)
		falcon_ack_one(c, &txn->pkt, now_ns);
	falcon_init_finish(c, txn, FALCON_CMPL_REMOTE_ERR);
}

/*
 * A transaction timed out (section 11). Its PSN, or on an ordered connection
 * its RSN, leaves a hole unless a resync fills it; it completes when that is
 * acknowledged. Where there is no hole to fill it completes now.
 */
static void falcon_init_expire(struct falcon_core *c, struct falcon_txn *txn)
{
	struct falcon_txpkt *p = &txn->pkt;

	txn->expires_ns = FALCON_NO_TIMER;
	if (p->state == FALCON_TXPKT_QUEUED && !falcon_ordered(c)) {
		list_del_init(&p->win_node);
		p->state = FALCON_TXPKT_DONE;
	}
	if (p->state == FALCON_TXPKT_DONE)
		falcon_init_decide(c, txn, FALCON_CMPL_LOCAL_TO);
	else
		falcon_pkt_resync(c, p, FALCON_RESYNC_TIMEOUT);
}

void falcon_init_timer(struct falcon_core *c, u64 now_ns)
{
	struct falcon_txn *txn, *n;

	if (c->expire_ns > now_ns)
		return;
	c->expire_ns = FALCON_NO_TIMER;
	list_for_each_entry_safe(txn, n, &c->init_txns, node) {
		if (txn->done || txn->expires_ns == FALCON_NO_TIMER)
			continue;
		if (txn->expires_ns > now_ns) {
			c->expire_ns = txn->expires_ns;
			break;
		}
		falcon_init_expire(c, txn);
	}
	if (falcon_ordered(c))
		falcon_init_flush(c);
	else
		falcon_init_update_brsn(c);
}

/* The connection ends: what is not decided ends with @code, all in order. */
void falcon_init_abort(struct falcon_core *c, u8 code)
{
	struct falcon_txn *txn, *n;

	list_for_each_entry_safe(txn, n, &c->init_txns, node) {
		struct falcon_txpkt *p = &txn->pkt;

		if (!txn->done) {
			txn->cmpl = code;
			if (p->type == FALCON_PKT_RESYNC)
				txn->cmpl = falcon_resync_cmpl(p->resync_code);
		}
		if (p->state == FALCON_TXPKT_QUEUED)
			list_del_init(&p->win_node);
		else if (p->state != FALCON_TXPKT_DONE)
			falcon_pkt_unlink(c, p);
		falcon_init_complete(c, txn);
	}
	falcon_init_update_brsn(c);
}
