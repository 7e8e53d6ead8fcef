// SPDX-License-Identifier: GPL-2.0
/*
 * Draining: what core and the life cycle have caused is carried out.
 *
 * One context at a time drains: it takes packets, deliveries, completions and
 * releases from core under the lock, drops it, transmits, calls the ULP, and
 * looks again. So nothing transmits or calls up under the lock, ULP calls are
 * one at a time and in order, and a ULP may call back in: it finds the drainer
 * at work and leaves the rest to it. The loop is bounded; what remains goes to
 * the timer, whose end is here too.
 */
#include <uapi/linux/falcon_netlink.h>
#include "conn/conn.h"
#include "core/fae.h"

#define FALCON_DRAIN_PKTS	64	/* transmitted between two look-ups */
#define FALCON_DRAIN_ROUNDS	8	/* before softirq gets a rest */
#define FALCON_SPACE_RETRY_NS	NSEC_PER_MSEC

/* What a drainer carries out after dropping the lock. */
struct falcon_effects {
	struct sk_buff_head tx;
	struct list_head deliver;
	struct list_head complete;
	struct list_head release;
	struct list_head drop;
	u8  events;
	int err;
	bool let_go;
};

/* Section 11: what kills a connection from inside, as an errno. */
static int falcon_fatal_errno(u8 fatal)
{
	switch (fatal) {
	case FALCON_CMPL_TARGET_NACK_CIE:
	case FALCON_CMPL_TARGET_NACK_NRE:
	case FALCON_CMPL_TARGET_NACK_CID:
	case FALCON_CMPL_REMOTE_ERR:
		return -ECONNRESET;
	case FALCON_CMPL_OP_ERR:
		return -EPROTO;
	default:
		return -ETIMEDOUT;
	}
}

/* What may leave now: ACKs always, the rest as far as it is the turn of @conn. */
static void falcon_collect_tx(struct falcon_conn *conn,
			      struct falcon_effects *fx)
{
	u32 room = falcon_txq_room(conn), sent = 0;
	struct falcon_core *core = &conn->core;
	u64 now = ktime_get_ns();
	struct falcon_tx tx;
	int i;

	for (i = 0; i < FALCON_DRAIN_PKTS; i++) {
		if (!(sent < room ? falcon_core_tx(core, now, &tx) :
			     falcon_core_tx_ack(core, &tx)))
			break;
		sent += tx.hdr_len + tx.len;
		if (tx.retx)
			trace_falcon_retransmit(conn, &tx);
		else
			trace_falcon_send(conn, &tx);
		falcon_udp_build(conn, &tx, &fx->tx);
	}
	if (i == FALCON_DRAIN_PKTS)
		conn->again = true;
	falcon_udp_charge(conn, &fx->tx);
	/* More than the room, by less than a packet: its next turn pays. */
	falcon_txq_sent(conn, sent,
			sent >= room && falcon_core_tx_queued(core));
}

static void falcon_collect(struct falcon_conn *conn, struct falcon_effects *fx)
{
	struct falcon_core *core = &conn->core;

	lockdep_assert_held(&conn->lock);
	__skb_queue_head_init(&fx->tx);
	INIT_LIST_HEAD(&fx->deliver);
	INIT_LIST_HEAD(&fx->complete);
	INIT_LIST_HEAD(&fx->release);
	INIT_LIST_HEAD(&fx->drop);

	if (conn->established_ns) {
		if (conn->state != FALCON_CONN_DEAD)
			falcon_collect_tx(conn, fx);
		if (core->fatal)
			falcon_conn_die(conn, falcon_fatal_errno(core->fatal));
		list_splice_init(&core->deliver, &fx->deliver);
		list_splice_init(&core->complete, &fx->complete);
		list_splice_init(&core->release, &fx->release);
		list_splice_init(&core->drop, &fx->drop);
	}
	if ((conn->flags & FALCON_CONN_WANT_SPACE) &&
	    !(list_empty(&fx->complete) && list_empty(&fx->release))) {
		conn->flags &= ~FALCON_CONN_WANT_SPACE;
		falcon_conn_tell(conn, FALCON_EV_TX_SPACE);
	}
	fx->events = conn->events;
	fx->err = conn->err;
	fx->let_go = conn->flags & FALCON_CONN_LET_GO &&
		     !(conn->events & BIT(FALCON_EV_CLOSED));
	conn->events = 0;
}

static void falcon_conn_event(struct falcon_conn *conn,
			      const struct falcon_effects *fx, u8 ev)
{
	static const u8 nl_event[] = {
		[FALCON_EV_ESTABLISHED]	= FALCON_NL_EVENT_ESTABLISHED,
		[FALCON_EV_FAILED]	= FALCON_NL_EVENT_FAILED,
		[FALCON_EV_ABORTED]	= FALCON_NL_EVENT_ABORTED,
		[FALCON_EV_CLOSED]	= FALCON_NL_EVENT_CLOSED,
		[FALCON_EV_KILL]	= 0,
	};
	int err = 0;

	if (!(fx->events & BIT(ev)))
		return;
	if (ev == FALCON_EV_FAILED || ev == FALCON_EV_ABORTED)
		err = fx->err;
	if (ev == FALCON_EV_KILL)
		err = -ECONNABORTED;
	if (nl_event[ev])
		falcon_netlink_event(conn, nl_event[ev], err);
	if (conn->ulp)
		conn->ulp->event(conn, ev, err);
}

static void falcon_free_rx(struct list_head *list)
{
	struct falcon_rxpkt *rx, *next;

	list_for_each_entry_safe(rx, next, list, node)
		kfree_skb(falcon_rx_skb(rx));
}

/* A ULP that has let go gets nothing; its transactions had ended. */
static void falcon_carry_up(struct falcon_conn *conn, struct falcon_effects *fx)
{
	struct falcon_rxpkt *rx, *next_rx;
	struct falcon_txn *txn, *next_txn;
	struct falcon_resp *resp, *next_resp;

	if (fx->let_go) {
		falcon_free_rx(&fx->deliver);
		return;
	}
	if (list_empty(&fx->deliver) && list_empty(&fx->complete) &&
	    list_empty(&fx->release))
		return;
	list_for_each_entry_safe(rx, next_rx, &fx->deliver, node) {
		list_del_init(&rx->node);
		conn->ulp->deliver(conn, rx, falcon_rx_skb(rx));
	}
	list_for_each_entry_safe(txn, next_txn, &fx->complete, node) {
		list_del_init(&txn->node);
		conn->ulp->complete(conn, txn);
	}
	list_for_each_entry_safe(resp, next_resp, &fx->release, node) {
		list_del_init(&resp->node);
		conn->ulp->release(conn, resp);
	}
	if (conn->ulp->batch)
		conn->ulp->batch(conn);
}

static void falcon_carry_out(struct falcon_conn *conn,
			     struct falcon_effects *fx)
{
	falcon_udp_xmit(conn, &fx->tx);
	falcon_free_rx(&fx->drop);
	falcon_conn_event(conn, fx, FALCON_EV_ESTABLISHED);
	falcon_carry_up(conn, fx);
	falcon_conn_event(conn, fx, FALCON_EV_FAILED);
	falcon_conn_event(conn, fx, FALCON_EV_ABORTED);
	falcon_conn_event(conn, fx, FALCON_EV_TX_SPACE);
	falcon_conn_event(conn, fx, FALCON_EV_KILL);
	falcon_conn_event(conn, fx, FALCON_EV_CLOSED);
}

static bool falcon_effects_none(const struct falcon_effects *fx)
{
	return skb_queue_empty(&fx->tx) && list_empty(&fx->deliver) &&
	       list_empty(&fx->complete) && list_empty(&fx->release) &&
	       list_empty(&fx->drop) && !fx->events;
}

/* Occupancy of the receive buffers behind this connection, for its ACKs. */
static u8 falcon_conn_rx_level(struct falcon_conn *conn)
{
	u8 level;

	rcu_read_lock();
	level = falcon_nic_rx_level(rcu_dereference(conn->nic));
	rcu_read_unlock();
	if (conn->ulp && conn->ulp->rx_level)
		level = max(level, conn->ulp->rx_level(conn));
	return level;
}

static void falcon_conn_arm(struct falcon_conn *conn)
{
	bool dead = conn->state == FALCON_CONN_DEAD;
	u64 due;

	lockdep_assert_held(&conn->lock);
	if (!dead && !conn->established_ns)
		return;
	if (conn->again) {
		/* Of a dead one, too: its ULP has yet to hear. */
		falcon_timer_update(conn, ktime_get_ns());
		return;
	}
	if (dead)
		return;
	due = falcon_core_next_timer(&conn->core);
	if (conn->state == FALCON_CONN_CLOSING)
		due = min(due, falcon_linger_end(conn));
	if (conn->flags & FALCON_CONN_WANT_SPACE)
		due = min(due, ktime_get_ns() + FALCON_SPACE_RETRY_NS);
	falcon_timer_update(conn, due);
}

/* One round; false: nothing was pending. */
static bool falcon_drain_round(struct falcon_conn *conn)
	__must_hold(&conn->lock)
{
	struct falcon_effects fx;
	u8 level;

	falcon_collect(conn, &fx);
	if (falcon_effects_none(&fx))
		return false;
	spin_unlock(&conn->lock);
	falcon_carry_out(conn, &fx);
	if (fx.events & BIT(FALCON_EV_CLOSED))
		fx.let_go = true;
	level = fx.let_go ? 0 : falcon_conn_rx_level(conn);
	spin_lock(&conn->lock);
	if (conn->established_ns)
		falcon_core_rx_level(&conn->core, level);
	return true;
}

/**
 * falcon_conn_drain - carry out what core and the life cycle have caused
 * @conn:	locked; unlocked and locked again inside
 *
 * Context: bottom halves off. Calls the ULP.
 */
void falcon_conn_drain(struct falcon_conn *conn)
	__must_hold(&conn->lock)
{
	int rounds = 0;

	lockdep_assert_held(&conn->lock);
	conn->again = true;
	if (conn->draining)
		return;
	conn->draining = true;
	while (conn->again && rounds++ < FALCON_DRAIN_ROUNDS) {
		conn->again = false;
		if (!falcon_drain_round(conn))
			break;
	}
	conn->draining = false;
	falcon_conn_arm(conn);
}

/**
 * falcon_watch_begin() - remember what congestion control has set
 * @w:	written
 * @conn:	connection, locked
 *
 * Context: any.
 */
void falcon_watch_begin(struct falcon_watch *w, const struct falcon_conn *conn)
{
	u8 i;

	w->on = trace_falcon_cc_enabled() || trace_falcon_relabel_enabled();
	if (!w->on)
		return;
	for (i = 0; i < conn->core.cfg.nr_flows; i++) {
		falcon_cc_read(&w->cc[i], conn, i);
		w->label[i] = conn->core.flow[i].label;
	}
}

/**
 * falcon_watch_end() - trace what congestion control has changed
 * @w:	from falcon_watch_begin()
 * @conn:	connection, locked
 *
 * Context: any.
 */
void falcon_watch_end(const struct falcon_watch *w,
		      const struct falcon_conn *conn)
{
	u8 i;

	if (!w->on)
		return;
	for (i = 0; i < conn->core.cfg.nr_flows; i++) {
		if (falcon_cc_changed(&w->cc[i], conn, i))
			trace_falcon_cc(conn, i, &w->cc[i]);
		if (w->label[i] != conn->core.flow[i].label)
			trace_falcon_relabel(conn, i, w->label[i]);
	}
}

/**
 * falcon_conn_run - carry out what is pending
 * @conn:	connection, not locked
 *
 * Context: process or softirq. Calls the ULP.
 */
void falcon_conn_run(struct falcon_conn *conn)
{
	spin_lock_bh(&conn->lock);
	falcon_conn_drain(conn);
	spin_unlock_bh(&conn->lock);
}

/**
 * falcon_conn_turn - it is the turn of a connection to transmit
 * @conn:	connection, not locked, with credit and no longer in a round
 *
 * Context: softirq. Calls the ULP.
 */
void falcon_conn_turn(struct falcon_conn *conn)
{
	spin_lock_bh(&conn->lock);
	conn->txq = NULL;
	falcon_conn_drain(conn);
	spin_unlock_bh(&conn->lock);
}

/**
 * falcon_conn_timeout - the timer fired
 * @conn:	connection, not locked
 *
 * Context: softirq.
 */
void falcon_conn_timeout(struct falcon_conn *conn)
{
	struct falcon_watch watch;
	u64 now;

	spin_lock_bh(&conn->lock);
	now = ktime_get_ns();
	conn->timer_ns = FALCON_NO_TIMER;
	if (conn->state == FALCON_CONN_DEAD)
		goto drain;
	if (conn->state == FALCON_CONN_CLOSING &&
	    now >= falcon_linger_end(conn)) {
		falcon_conn_set_state(conn, FALCON_CONN_DEAD);
		falcon_core_abort(&conn->core, FALCON_CMPL_DEAD_CONN);
		falcon_conn_unhash(conn);
	} else {
		falcon_watch_begin(&watch, conn);
		falcon_core_timer(&conn->core, now);
		falcon_watch_end(&watch, conn);
	}
	if (conn->flags & FALCON_CONN_WANT_SPACE) {
		conn->flags &= ~FALCON_CONN_WANT_SPACE;
		falcon_conn_tell(conn, FALCON_EV_TX_SPACE);
	}
drain:
	falcon_conn_drain(conn);
	spin_unlock_bh(&conn->lock);
}

/**
 * falcon_conn_events - run events that have waited in a queue
 * @conn:	whose event is the first, not locked; each event's reference goes
 * @q:		the queue of this CPU
 * @most:	so many at most
 *
 * Context: softirq. Calls the ULP.
 * Return: how many were taken, all of @conn; at least 1.
 */
u32 falcon_conn_events(struct falcon_conn *conn, struct falcon_fae_queue *q,
		       u32 most)
{
	struct falcon_watch watch;
	u64 now = ktime_get_ns();
	u32 n = 0, i;

	spin_lock_bh(&conn->lock);
	falcon_watch_begin(&watch, conn);
	do {
		falcon_fae_queue_run(q, now);
		n++;
	} while (n < most && falcon_fae_queue_first(q) == &conn->core);
	falcon_watch_end(&watch, conn);
	falcon_conn_drain(conn);
	spin_unlock_bh(&conn->lock);
	for (i = 0; i < n; i++)
		falcon_conn_put(conn);
	return n;
}
