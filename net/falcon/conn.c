// SPDX-License-Identifier: GPL-2.0
/*
 * Connections: their ids, their life, and the loop that carries core's effects
 * out.
 *
 * Whoever calls core holds the connection lock; then one context at a time
 * drains: it takes packets, deliveries, completions and releases from core
 * under the lock, drops it, transmits, calls the ULP, and looks again. So
 * nothing transmits or calls up under the lock, ULP calls are one at a time
 * and in order, and a ULP may call back in: it finds the drainer at work and
 * leaves the rest to it. The loop is bounded; what remains goes to the timer.
 *
 * Received packets pass the acceptance checks of 9.2.2 here before any state
 * moves. ulp.c, cm/cm.c, udp.c and timer.c call in.
 */
#include <linux/module.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <net/inet_ecn.h>
#include <net/ipv6.h>
#include <uapi/linux/falcon_netlink.h>
#include "core/accept.h"
#include "core/fae.h"
#include "falcon.h"
#include "psp/psp.h"
#include "trace.h"

#define FALCON_DRAIN_PKTS	64	/* transmitted between two look-ups */
#define FALCON_DRAIN_ROUNDS	8	/* before softirq gets a rest */
#define FALCON_SPACE_RETRY_NS	NSEC_PER_MSEC
#define FALCON_STAMP_GUARD_NS	NSEC_PER_SEC
#define FALCON_LINGER_MAX	8	/* linger times, whatever the peer does */
#define FALCON_CID_TRIES	64
#define FALCON_MAX_HELD		32	/* packets that come before CONFIRM's key */
#define FALCON_TTL		64

/* A value entry of falcon_net::conns rests; marks tell for how long. */
#define FALCON_CID_YOUNG	XA_MARK_0
#define FALCON_CID_OLD		XA_MARK_1

static struct kmem_cache *falcon_conn_cache;
static DECLARE_WAIT_QUEUE_HEAD(falcon_conns_gone);

/* Work in process context: freeing connections, telling NICs, CID rest. */
struct workqueue_struct *falcon_wq;

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

/*
 * Connection ids
 */

static void falcon_cid_reap(struct work_struct *work)
{
	struct falcon_net *fn = container_of(to_delayed_work(work),
					     struct falcon_net, reap_work);
	unsigned long cid;
	void *entry;

	xa_for_each_marked(&fn->conns, cid, entry, FALCON_CID_OLD) {
		xa_erase_bh(&fn->conns, cid);
		atomic_dec(&fn->nr_quarantined);
		cond_resched();
	}
	xa_for_each_marked(&fn->conns, cid, entry, FALCON_CID_YOUNG) {
		xa_lock_bh(&fn->conns);
		__xa_clear_mark(&fn->conns, cid, FALCON_CID_YOUNG);
		__xa_set_mark(&fn->conns, cid, FALCON_CID_OLD);
		xa_unlock_bh(&fn->conns);
		cond_resched();
	}
	if (atomic_read(&fn->nr_quarantined))
		queue_delayed_work(falcon_wq, &fn->reap_work,
				   msecs_to_jiffies(READ_ONCE(fn->sysctl.quarantine_ms)));
}

/*
 * A CID rests for one to two quarantine times. As many may rest as may live;
 * beyond that they are free at once, and late packets of the old connection
 * are told apart by SPI and PCID alone.
 */
static void falcon_cid_rest(struct falcon_net *fn, u32 cid)
{
	unsigned int ms = READ_ONCE(fn->sysctl.quarantine_ms);
	int max = READ_ONCE(fn->sysctl.max_conns);
	void *old;

	xa_lock_bh(&fn->conns);
	if (!ms || atomic_read(&fn->nr_quarantined) >= max) {
		__xa_erase(&fn->conns, cid);
		ms = 0;
	} else {
		old = __xa_store(&fn->conns, cid, xa_mk_value(0), GFP_ATOMIC);
		WARN_ON_ONCE(xa_is_err(old));
		__xa_set_mark(&fn->conns, cid, FALCON_CID_YOUNG);
		atomic_inc(&fn->nr_quarantined);
	}
	xa_unlock_bh(&fn->conns);
	if (ms)
		queue_delayed_work(falcon_wq, &fn->reap_work,
				   msecs_to_jiffies(ms));
}

/* CIDs are random: not the next, not the last, not to be guessed. */
static int falcon_cid_take(struct falcon_conn *conn, gfp_t gfp)
{
	int i, err = -EBUSY;

	for (i = 0; i < FALCON_CID_TRIES && err == -EBUSY; i++) {
		conn->cid = get_random_u32() & FALCON_CID_MASK;
		if (!conn->cid)
			continue;
		err = xa_insert_bh(&conn->fn->conns, conn->cid, conn, gfp);
	}
	return err == -EBUSY ? -ENOBUFS : err;
}

/*
 * Life and death
 */

/* A packet that came before there was a key to answer it with */
struct falcon_held {
	struct list_head node;
	struct sk_buff *skb;
	struct falcon_rx rx;
};

static void falcon_free_held(struct falcon_conn *conn)
{
	struct falcon_held *held, *next;

	list_for_each_entry_safe(held, next, &conn->held, node) {
		kfree_skb(held->skb);
		kfree(held);
	}
}

static void falcon_conn_free(struct work_struct *work)
{
	struct falcon_conn *conn = container_of(to_rcu_work(work),
						struct falcon_conn, free_work);
	struct falcon_net *fn = conn->fn;

	falcon_timer_cancel(conn);
	falcon_nic_detach(conn);
	falcon_psp_release(conn);
	falcon_cm_sec_free(conn);
	falcon_host_leave(conn);
	falcon_free_held(conn);
	falcon_peer_leave(conn);
	dst_release(rcu_dereference_protected(conn->dst, true));
	if (conn->core.cfg.fae)
		falcon_fae_put(conn->core.cfg.fae);
	if (conn->ulp)
		module_put(conn->ulp->owner);
	kmem_cache_free(falcon_conn_cache, conn);
	if (atomic_dec_and_test(&fn->nr_conns))
		wake_up_all(&falcon_conns_gone);
}

/**
 * falcon_conn_get - take a reference
 * @conn:	found under RCU, or known to the ULP whose reference is not gone
 *
 * It keeps the memory, not the connection's life.
 *
 * Context: any.
 * Return: false if the last reference has gone.
 */
bool falcon_conn_get(struct falcon_conn *conn)
{
	return refcount_inc_not_zero(&conn->refs);
}
EXPORT_SYMBOL_GPL(falcon_conn_get);

/**
 * falcon_conn_put - drop a reference
 * @conn:	connection; freed after a grace period if this was the last one
 *
 * Context: any.
 */
void falcon_conn_put(struct falcon_conn *conn)
{
	if (!refcount_dec_and_test(&conn->refs))
		return;
	INIT_RCU_WORK(&conn->free_work, falcon_conn_free);
	queue_rcu_work(falcon_wq, &conn->free_work);
}
EXPORT_SYMBOL_GPL(falcon_conn_put);

/**
 * falcon_conn_lookup - find a connection by its own CID
 * @fn:		namespace
 * @cid:	24 bits
 *
 * Context: any.
 * Return: the connection, referenced, or NULL.
 */
struct falcon_conn *falcon_conn_lookup(struct falcon_net *fn, u32 cid)
{
	struct falcon_conn *conn;

	rcu_read_lock();
	conn = xa_load(&fn->conns, cid);
	if (!conn || xa_is_value(conn) || !falcon_conn_get(conn))
		conn = NULL;
	rcu_read_unlock();
	return conn;
}

static void falcon_conn_setup_path(struct falcon_conn *conn,
				   const struct falcon_path *path)
{
	u16 base = get_random_u32() & 0x3ffc;
	unsigned int i;

	conn->path = *path;
	if (!conn->path.ttl)
		conn->path.ttl = FALCON_TTL;
	conn->path.tclass = (path->tclass & ~INET_ECN_MASK) | INET_ECN_ECT_0;
	for (i = 0; i < FALCON_MAX_FLOWS; i++)
		conn->flow_port[i] = htons(0xc000 | base | i);
}

/* An event for the ULP, unless it has let go. */
static void falcon_conn_tell(struct falcon_conn *conn, u8 ev)
{
	lockdep_assert_held(&conn->lock);
	if (!(conn->flags & FALCON_CONN_LET_GO))
		conn->events |= BIT(ev);
}

/**
 * falcon_conn_alloc - a new connection in state SETUP, with its CID
 * @fn:		namespace
 * @path:	where its packets go
 * @ulp:	upper layer, or NULL: falcon_conn_accept() follows
 * @ulp_priv:	for its calls
 * @gfp:	allocation flags
 *
 * SPI and PCID of the receiving association are set, CM fills in the sending
 * one.
 *
 * Context: as @gfp says.
 * Return: the connection, with one reference for falcon_conn_close();
 * -ENOMEM; -ENOBUFS: net.falcon.max_conns; -ENODEV: the ULP is going.
 */
struct falcon_conn *falcon_conn_alloc(struct falcon_net *fn,
				      const struct falcon_path *path,
				      const struct falcon_ulp_ops *ulp,
				      void *ulp_priv, gfp_t gfp)
{
	struct falcon_conn *conn;
	int err = -ENOBUFS;

	if (atomic_inc_return(&fn->nr_conns) >
	    READ_ONCE(fn->sysctl.max_conns)) {
		FALCON_INC(fn, CONN_LIMIT);
		goto uncount;
	}
	err = -ENOMEM;
	conn = kmem_cache_zalloc(falcon_conn_cache, gfp);
	if (!conn)
		goto uncount;
	refcount_set(&conn->refs, 2);
	spin_lock_init(&conn->lock);
	INIT_LIST_HEAD(&conn->held);
	conn->fn = fn;
	conn->flags = FALCON_CONN_HASHED;
	falcon_conn_setup_path(conn, path);
	falcon_psp_sa_init(&conn->rx_sa, FALCON_PSP_VER_NONE);
	conn->rx_sa.gen = fn->key_gen;
	falcon_nic_init_conn(conn);
	falcon_turn_init(&conn->turn, READ_ONCE(fn->sysctl.tx_weight));
	conn->txq_width = 1;
	falcon_timer_init(conn);
	if (ulp) {
		err = falcon_conn_accept(conn, ulp, ulp_priv);
		if (err)
			goto free;
	}
	err = falcon_cid_take(conn, gfp);
	if (err)
		goto unref_ulp;
	return conn;

unref_ulp:
	if (ulp)
		module_put(ulp->owner);
free:
	kmem_cache_free(falcon_conn_cache, conn);
uncount:
	if (atomic_dec_and_test(&fn->nr_conns))
		wake_up_all(&falcon_conns_gone);
	return ERR_PTR(err);
}

/**
 * falcon_conn_accept - give a responder's connection its ULP
 * @conn:	in SETUP, without one
 * @ulp:	upper layer
 * @ulp_priv:	for its calls
 *
 * An operator or the end of the namespace may have aborted @conn before: then
 * the ULP hears FALCON_EV_FAILED from here. If the ULP has let go meanwhile, it
 * hears FALCON_EV_CLOSED.
 *
 * Context: process or softirq. The caller has a reference of its own.
 * Return: 0; -ENODEV: the ULP's module is going.
 */
int falcon_conn_accept(struct falcon_conn *conn,
		       const struct falcon_ulp_ops *ulp, void *ulp_priv)
{
	if (!try_module_get(ulp->owner))
		return -ENODEV;
	spin_lock_bh(&conn->lock);
	conn->ulp_priv = ulp_priv;
	conn->ulp = ulp;
	/* Ended when there was nobody to tell yet. */
	if (conn->state == FALCON_CONN_DEAD) {
		if (conn->flags & FALCON_CONN_LET_GO)
			conn->events |= BIT(FALCON_EV_CLOSED);
		else
			falcon_conn_tell(conn, FALCON_EV_FAILED);
		falcon_conn_drain(conn);
	}
	spin_unlock_bh(&conn->lock);
	return 0;
}

static void falcon_conn_set_state(struct falcon_conn *conn, u8 state)
{
	u8 old = conn->state;

	lockdep_assert_held(&conn->lock);
	conn->state = state;
	trace_falcon_conn_state(conn, old, state);
}

static void falcon_conn_unhash(struct falcon_conn *conn)
{
	lockdep_assert_held(&conn->lock);
	if (!(conn->flags & FALCON_CONN_HASHED))
		return;
	conn->flags &= ~FALCON_CONN_HASHED;
	falcon_txq_leave(conn);
	falcon_cm_rekey_end(conn);
	falcon_cid_rest(conn->fn, conn->cid);
	falcon_conn_put(conn);
}

/* The end, before or after establishment. */
static void falcon_conn_die(struct falcon_conn *conn, int err)
{
	bool setup = conn->state == FALCON_CONN_SETUP;

	lockdep_assert_held(&conn->lock);
	if (conn->state == FALCON_CONN_DEAD)
		return;
	conn->err = err;
	if (!setup) {
		FALCON_INC(conn->fn, CONN_ABORTED);
		falcon_core_abort(&conn->core, FALCON_CMPL_DEAD_CONN);
	}
	falcon_conn_set_state(conn, FALCON_CONN_DEAD);
	falcon_conn_tell(conn, setup ? FALCON_EV_FAILED : FALCON_EV_ABORTED);
	falcon_conn_unhash(conn);
}

/* Section 11: what kills a connection from inside, as an errno. */
static int falcon_fatal_errno(u8 fatal)
{
	switch (fatal) {
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

/*
 * Linger: the peer may have missed the last acknowledgements and repeat
 * itself; a closed connection answers until that has been quiet for a while,
 * but not for ever.
 */
static u64 falcon_linger_end(const struct falcon_conn *conn)
{
	u64 linger = (u64)READ_ONCE(conn->fn->sysctl.linger_ms) * NSEC_PER_MSEC;

	return min(conn->last_rx_ns + linger,
		   conn->closed_ns + FALCON_LINGER_MAX * linger);
}

/*
 * Draining
 */

/* What may leave now: ACKs always, the rest as far as it is the turn of @conn. */
static void falcon_collect_tx(struct falcon_conn *conn,
			      struct falcon_effects *fx)
{
	u32 room = falcon_txq_room(conn), left = room;
	struct falcon_core *core = &conn->core;
	u64 now = ktime_get_ns();
	struct falcon_tx tx;
	int i;

	for (i = 0; i < FALCON_DRAIN_PKTS; i++) {
		if (!(left ? falcon_core_tx(core, now, &tx) :
			     falcon_core_tx_ack(core, &tx)))
			break;
		left -= min_t(u32, left, tx.hdr_len + tx.len);
		if (tx.retx)
			trace_falcon_retransmit(conn, &tx);
		else
			trace_falcon_send(conn, &tx);
		falcon_udp_build(conn, &tx, &fx->tx);
	}
	if (i == FALCON_DRAIN_PKTS)
		conn->again = true;
	falcon_udp_charge(conn, &fx->tx);
	falcon_txq_sent(conn, room - left,
			!left && falcon_core_tx_queued(core));
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
	u64 due = FALCON_NO_TIMER;

	lockdep_assert_held(&conn->lock);
	if (conn->state == FALCON_CONN_DEAD || !conn->established_ns)
		return;
	if (conn->again)
		due = ktime_get_ns();
	else
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

/* What congestion control does inside core, for the tracepoints. */
struct falcon_watch {
	bool on;
	struct falcon_cc_state cc[FALCON_MAX_FLOWS];
	u32 label[FALCON_MAX_FLOWS];
};

static void falcon_watch_begin(struct falcon_watch *w,
			       const struct falcon_conn *conn)
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

static void falcon_watch_end(const struct falcon_watch *w,
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
	u64 now = ktime_get_ns();

	spin_lock_bh(&conn->lock);
	conn->timer_ns = FALCON_NO_TIMER;
	if (conn->state == FALCON_CONN_DEAD)
		goto unlock;
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
	falcon_conn_drain(conn);
unlock:
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

/*
 * The life cycle as CM and ULPs drive it
 */

/**
 * falcon_conn_cfg_defaults - configuration of a connection by net.falcon.*
 * @fn:		namespace
 * @family:	AF_INET or AF_INET6
 * @cfg:	written whole; @cfg->fae holds a reference of the caller, who
 *		drops it by falcon_fae_put()
 *
 * Context: any.
 */
void falcon_conn_cfg_defaults(struct falcon_net *fn, sa_family_t family,
			      struct falcon_core_cfg *cfg)
{
	const struct falcon_sysctls *s = &fn->sysctl;
	u8 i;

	memset(cfg, 0, sizeof(*cfg));
	cfg->nr_flows = family == AF_INET ? READ_ONCE(s->flows_ipv4) :
					    READ_ONCE(s->flows_ipv6);
	cfg->loss = READ_ONCE(s->loss_policy);
	cfg->features = FALCON_F_EACK_ALWAYS;
	cfg->max_attempts = READ_ONCE(s->max_attempts);
	cfg->win_shift = READ_ONCE(s->win_shift);
	for (i = 0; i < FALCON_NR_WIN; i++) {
		cfg->tx_win[i] = falcon_win_max(cfg, i);
		cfg->rx_win[i] = falcon_win_max(cfg, i);
	}
	cfg->min_rto_ns = (u64)READ_ONCE(s->min_rto_us) * NSEC_PER_USEC;
	cfg->max_rto_ns = max((u64)READ_ONCE(s->max_rto_us) * NSEC_PER_USEC,
			      cfg->min_rto_ns);
	cfg->rto_ns = clamp((u64)READ_ONCE(s->rto_us) * NSEC_PER_USEC,
			    cfg->min_rto_ns, cfg->max_rto_ns);
	cfg->ack_coalesce_ns = READ_ONCE(s->ack_coalesce_us) * NSEC_PER_USEC;
	cfg->ack_coalesce_pkts = READ_ONCE(s->ack_coalesce_pkts);
	cfg->ar_fcwnd = READ_ONCE(s->ar_fcwnd);
	cfg->ar_percent = READ_ONCE(s->ar_percent);
	cfg->ooo_threshold = READ_ONCE(s->ooo_threshold);
	cfg->gate_flight = READ_ONCE(s->gate_flight);
	cfg->delay_absolute = READ_ONCE(s->delay_absolute);
	cfg->delay_target = (u64)READ_ONCE(s->delay_target_us) * 1000000 /
			    FALCON_TS_UNIT_PS;
	cfg->user_timeout_ns =
		(u64)READ_ONCE(s->user_timeout_ms) * NSEC_PER_MSEC;
	cfg->txn_timeout_ns =
		(u64)READ_ONCE(s->txn_timeout_ms) * NSEC_PER_MSEC;
	cfg->flow_seed = get_random_u32();
	cfg->fae = falcon_fae_get(s->fae) ?:
		   falcon_fae_get(falcon_fae_swift.name);
}

/*
 * Whoever waits for an operation to complete does so for its last packet, which
 * asks for an ACK. Of a socket's that is a full one: room for more. A short one
 * is mostly answered by data, which brings the ACK along.
 */
static u16 falcon_conn_ar_last(const struct falcon_core_cfg *cfg)
{
	return cfg->proto == FALCON_PROTO_SOCK ? cfg->mtu : 1;
}

/*
 * Stamps taken in software include how late the softirq ran. That is no
 * congestion, nor is an acknowledgement lost that comes as late: the probe of
 * the tail waits for it, and the RTO longer, for the answer to the probe. The
 * answer of a process takes as long as a softirq may, so that ACKs wait for it
 * half of that time: one less packet, and one less interrupt of a timer.
 */
static void falcon_conn_slacken(const struct falcon_conn *conn,
				struct falcon_core_cfg *cfg)
{
	u64 slack_ns = (u64)READ_ONCE(conn->fn->sysctl.soft_slack_us) *
		       NSEC_PER_USEC;

	if (rcu_access_pointer(conn->nic) != &falcon_nic_soft)
		slack_ns = 0;
	cfg->delay_target = conn->slack_target;
	if (!cfg->delay_absolute)
		cfg->delay_target += div_u64(slack_ns * 1000,
					     FALCON_TS_UNIT_PS);
	cfg->ack_slack_ns = slack_ns;
	cfg->ack_coalesce_ns = max_t(u64, conn->slack_coalesce_ns,
				     slack_ns / 2);
	cfg->min_rto_ns = min(conn->slack_rto_ns + 4 * slack_ns,
			      cfg->max_rto_ns);
	cfg->rto_ns = max(cfg->rto_ns, cfg->min_rto_ns);
}

/**
 * falcon_conn_reslacken - a connection has changed NICs
 * @conn:	connection, not locked
 *
 * Context: process or softirq.
 */
void falcon_conn_reslacken(struct falcon_conn *conn)
{
	spin_lock_bh(&conn->lock);
	if (conn->established_ns)
		falcon_conn_slacken(conn, &conn->core.cfg);
	spin_unlock_bh(&conn->lock);
}

static void falcon_rx_held(struct falcon_conn *conn);

/**
 * falcon_conn_start - a connection is established
 * @conn:	in SETUP; both associations, @peer_ttl and @remote_time are set
 * @cfg:	what was agreed
 *
 * The ULP gets FALCON_EV_ESTABLISHED, perhaps before the return.
 *
 * Context: process or softirq.
 * Return: 0; or why it is not in SETUP any more, a negative errno.
 */
int falcon_conn_start(struct falcon_conn *conn,
		      const struct falcon_core_cfg *cfg)
{
	struct dst_entry *dst = falcon_path_dst(conn);
	struct falcon_core_cfg own = *cfg;
	u64 now = ktime_get_ns();
	int err = 0;

	spin_lock_bh(&conn->lock);
	if (conn->state != FALCON_CONN_SETUP) {
		err = conn->err ?: -EALREADY;
		goto unlock;
	}
	falcon_fae_hold(cfg->fae);
	conn->slack_target = cfg->delay_target;
	conn->slack_rto_ns = cfg->min_rto_ns;
	conn->slack_coalesce_ns = cfg->ack_coalesce_ns;
	falcon_conn_slacken(conn, &own);
	own.ar_last_bytes = falcon_conn_ar_last(&own);
	own.flow_burst = falcon_udp_train_pkts(conn->fn, cfg->mtu);
	falcon_core_init(&conn->core, &own, &conn->fn->res, now);
	conn->core.peer_pool = falcon_host_pool(conn);
	falcon_peer_join(conn);
	conn->mtu = cfg->mtu;
	conn->established_ns = now;
	conn->last_rx_ns = now;
	falcon_conn_set_state(conn, FALCON_CONN_ESTABLISHED);
	falcon_conn_tell(conn, FALCON_EV_ESTABLISHED);
	falcon_rx_held(conn);
	falcon_conn_drain(conn);
unlock:
	spin_unlock_bh(&conn->lock);
	if (IS_ERR(dst))
		return err;
	if (!err)
		falcon_nic_attach(conn, dst->dev);
	dst_release(dst);
	return err;
}

/**
 * falcon_conn_fail - the set-up of a connection failed
 * @conn:	connection; nothing happens unless it is in SETUP
 * @err:	negative errno for FALCON_EV_FAILED
 *
 * Context: process or softirq. Calls the ULP.
 */
void falcon_conn_fail(struct falcon_conn *conn, int err)
{
	spin_lock_bh(&conn->lock);
	if (conn->state == FALCON_CONN_SETUP) {
		falcon_conn_die(conn, err);
		falcon_conn_drain(conn);
	}
	spin_unlock_bh(&conn->lock);
}

/**
 * falcon_conn_abort - end a connection now
 * @conn:	connection
 * @err:	negative errno for FALCON_EV_ABORTED, or _FAILED if it was not
 *		established
 *
 * Every open transaction completes with FALCON_CMPL_DEAD_CONN first. The peer
 * is not told: a ULP that wants it to know says so in band.
 *
 * Context: process or softirq. Calls the ULP.
 */
void falcon_conn_abort(struct falcon_conn *conn, int err)
{
	bool setup;

	spin_lock_bh(&conn->lock);
	setup = conn->state == FALCON_CONN_SETUP;
	falcon_conn_die(conn, err);
	falcon_conn_drain(conn);
	spin_unlock_bh(&conn->lock);
	if (setup)
		falcon_cm_release(conn);
}
EXPORT_SYMBOL_GPL(falcon_conn_abort);

/**
 * falcon_conn_kill - an operator ends a connection
 * @conn:	connection
 *
 * A ULP that can tell its peer in band does, and closes; otherwise, and if the
 * ULP has let go already, the connection is aborted.
 *
 * Context: process or softirq. Calls the ULP.
 */
void falcon_conn_kill(struct falcon_conn *conn)
{
	bool told;

	spin_lock_bh(&conn->lock);
	told = conn->state == FALCON_CONN_ESTABLISHED && conn->ulp->kills &&
	       !(conn->flags & FALCON_CONN_LET_GO);
	if (told) {
		falcon_conn_tell(conn, FALCON_EV_KILL);
		falcon_conn_drain(conn);
	}
	spin_unlock_bh(&conn->lock);
	if (!told)
		falcon_conn_abort(conn, -ECONNABORTED);
}

/**
 * falcon_conn_close - the ULP lets go
 * @conn:	connection, in any state; the ULP's reference goes
 *
 * Transactions that are still open complete with FALCON_CMPL_DEAD_CONN; then
 * the last call is FALCON_EV_CLOSED, perhaps before the return. If all was
 * done, the connection goes on answering duplicates until linger ends.
 *
 * Context: process or softirq. Calls the ULP.
 */
void falcon_conn_close(struct falcon_conn *conn)
{
	bool setup;

	spin_lock_bh(&conn->lock);
	setup = conn->state == FALCON_CONN_SETUP;
	if (conn->state == FALCON_CONN_ESTABLISHED &&
	    falcon_core_idle(&conn->core)) {
		conn->closed_ns = ktime_get_ns();
		conn->last_rx_ns = conn->closed_ns;
		falcon_conn_set_state(conn, FALCON_CONN_CLOSING);
	} else if (conn->state != FALCON_CONN_DEAD) {
		conn->err = -ECONNABORTED;
		if (!setup)
			falcon_core_abort(&conn->core, FALCON_CMPL_DEAD_CONN);
		falcon_conn_set_state(conn, FALCON_CONN_DEAD);
		falcon_conn_unhash(conn);
	}
	conn->sk = NULL;
	/* Without a ULP that knows of it, falcon_conn_accept() tells, if ever. */
	conn->events = conn->ulp ? BIT(FALCON_EV_CLOSED) : 0;
	conn->flags |= FALCON_CONN_LET_GO;
	conn->flags &= ~FALCON_CONN_WANT_SPACE;
	falcon_conn_drain(conn);
	spin_unlock_bh(&conn->lock);
	if (setup)
		falcon_cm_release(conn);
	falcon_conn_put(conn);
}
EXPORT_SYMBOL_GPL(falcon_conn_close);

/**
 * falcon_conn_set_sk - charge packets in flight to a socket
 * @conn:	connection
 * @sk:		socket that outlives @conn's use by its ULP, or NULL
 *
 * Context: process or softirq.
 */
void falcon_conn_set_sk(struct falcon_conn *conn, struct sock *sk)
{
	spin_lock_bh(&conn->lock);
	conn->sk = sk;
	spin_unlock_bh(&conn->lock);
}

/*
 * Receiving
 */

/* Not of this connection, whatever else may be right about it. */
static bool falcon_rx_from_peer(const struct falcon_conn *conn,
				const struct falcon_rx *rx)
{
	if (!ipv6_addr_equal(&rx->saddr, &conn->path.daddr))
		return false;
	return !conn->path.scope_id || rx->iif == conn->path.scope_id;
}

/* 9.2.2.3 on the connection's association. */
static bool falcon_rx_spi(const struct falcon_conn *conn,
			  const struct falcon_psp_info *psp)
{
	struct falcon_spi_state state = {
		.cur_spi	= conn->rx_sa.spi,
		.prev_spi	= conn->rx_sa.prev_spi,
		.cur_gen	= conn->rx_sa.gen,
	};
	struct falcon_spi_global global = {
		.cur_gen	= READ_ONCE(conn->fn->key_gen),
		.allow_prev_gen	= READ_ONCE(conn->fn->prev_gen_ok),
	};

	/* Without encryption no key is behind an SPI that could be rotated. */
	if (psp->version == FALCON_PSP_VER_NONE)
		state.cur_gen = global.cur_gen;
	return falcon_accept_spi(&state, &global, psp->spi, psp->cookie);
}

static bool falcon_rx_in_time(const struct falcon_conn *conn, u64 iv)
{
	u64 margin = (u64)READ_ONCE(conn->fn->sysctl.replay_margin_ms) *
		     NSEC_PER_MSEC * 1000;

	return falcon_accept_time(conn->remote_time, margin, iv);
}

static bool falcon_rx_has_fn(u8 type)
{
	return type != FALCON_PKT_BACK && type != FALCON_PKT_EACK &&
	       type != FALCON_PKT_NACK;
}

/*
 * Acceptance, in the order of what is cheapest to forge. Nothing moves here:
 * Remote Time follows the IV of what PSP has verified (falcon_rx_commit()).
 */
static bool falcon_rx_accept(const struct falcon_conn *conn,
			     const struct falcon_rx *rx)
{
	struct falcon_net *fn = conn->fn;

	lockdep_assert_held(&conn->lock);
	if (!falcon_rx_from_peer(conn, rx)) {
		FALCON_INC(fn, IN_BAD_ADDR);
		return false;
	}
	if (rx->psp.version != conn->rx_sa.version) {
		FALCON_INC(fn, IN_BAD_VERSION);
		return false;
	}
	if (!falcon_rx_spi(conn, &rx->psp)) {
		FALCON_INC(fn, IN_BAD_SPI);
		return false;
	}
	if (rx->psp.cookie != conn->rx_sa.pcid) {
		FALCON_INC(fn, IN_BAD_PCID);
		return false;
	}
	if (!falcon_rx_in_time(conn, rx->psp.iv)) {
		FALCON_INC(fn, IN_REPLAY);
		return false;
	}
	return true;
}

/* Which passed falcon_rx_accept(), so it has one of the two SPIs. Under RCU. */
static const struct falcon_psp_key *
falcon_rx_key(const struct falcon_conn *conn, const struct falcon_rx *rx)
{
	const struct falcon_psp_sa *sa = &conn->rx_sa;

	lockdep_assert_held(&conn->lock);
	if (rx->psp.spi == sa->spi)
		return rcu_dereference(sa->key);
	return rcu_dereference(sa->prev_key);
}

/* 9.2.2.1: integrity, then what the headers say. Not under the lock. */
static bool falcon_rx_open(const struct falcon_conn *conn,
			   const struct falcon_psp_key *key,
			   struct sk_buff *skb, struct falcon_rx *rx)
{
	unsigned int hdr = sizeof(struct falcon_psp_hdr);
	struct falcon_net *fn = conn->fn;
	int err = -ENOKEY;

	if (key && key->version == rx->psp.version) {
		if (falcon_nic_opened(conn, key, rx))
			err = falcon_psp_opened(fn, skb);
		else
			err = falcon_psp_open(key, skb, &rx->psp);
	}
	if (err == -ENOMEM)
		FALCON_INC(fn, IN_NO_MEM);
	else if (err)
		FALCON_INC(fn, IN_BAD_ICV);
	if (err)
		return false;
	FALCON_INC(fn, IN_OPENED);
	if (falcon_wire_parse(skb->data + hdr, skb->len - hdr, &rx->pi)) {
		FALCON_INC(fn, IN_BAD_HDR);
		return false;
	}
	return true;
}

/* All checks before the windows'; @conn is not locked meanwhile. */
static bool falcon_rx_verify(struct falcon_conn *conn, struct sk_buff *skb,
			     struct falcon_rx *rx)
	__must_hold(&conn->lock)
{
	const struct falcon_psp_key *key;
	bool ok = false;

	rcu_read_lock();
	if (!falcon_rx_accept(conn, rx))
		goto out;
	ok = true;
	if (rx->psp.version != FALCON_PSP_VER_NONE) {
		key = falcon_rx_key(conn, rx);
		spin_unlock_bh(&conn->lock);
		ok = falcon_rx_open(conn, key, skb, rx);
		spin_lock_bh(&conn->lock);
	}
	if (ok && falcon_rx_has_fn(rx->pi.type) &&
	    rx->pi.fn != conn->fn->dest_fn) {
		FALCON_INC(conn->fn, IN_BAD_FN);
		ok = false;
	}
out:
	rcu_read_unlock();
	return ok;
}

/* 9.2.1, of a packet that passed falcon_rx_verify() */
static void falcon_rx_commit(struct falcon_conn *conn,
			     const struct falcon_rx *rx)
{
	lockdep_assert_held(&conn->lock);
	falcon_accept_commit(&conn->remote_time, rx->psp.iv);
	if (rcu_access_pointer(conn->rx_sa.prev_key))
		falcon_psp_rx_used(conn, rx->psp.spi, rx->meta.now_ns);
}

/* Times and hops, which depend on the connection. */
static void falcon_rx_measure(struct falcon_conn *conn, struct falcon_rx *rx)
{
	struct falcon_rx_meta *meta = &rx->meta;
	u64 stamp_ns;

	meta->t_rx = falcon_nic_arrival(conn, rx) >> FALCON_TS_SHIFT;
	stamp_ns = READ_ONCE(conn->stamp_ns);
	meta->stamp_ok = !stamp_ns ||
			 meta->now_ns > stamp_ns + FALCON_STAMP_GUARD_NS;
	meta->t_tx = falcon_psp_time(rx->psp.iv);
	meta->hops = 0;
	if (conn->peer_ttl > rx->ttl)
		meta->hops = min(conn->peer_ttl - rx->ttl, 15);
}

/* An event that waits holds the connection. */
static void falcon_rx_events(struct falcon_conn *conn,
			     const struct falcon_fae_queue *q, u32 tail,
			     u64 held_back)
{
	if (q->tail != tail) {
		falcon_conn_get(conn);
		FALCON_INC(conn->fn, FAE_QUEUED);
	}
	if (q->held_back != held_back)
		FALCON_INC(conn->fn, FAE_HELD_BACK);
}

static enum falcon_rx_verdict falcon_rx_core(struct falcon_conn *conn,
					     const struct falcon_rx *rx,
					     struct sk_buff *skb)
{
	const struct falcon_fae_queue *q = rx->meta.fae;
	u64 held_back = q ? q->held_back : 0;
	enum falcon_rx_verdict verdict;
	u32 tail = q ? q->tail : 0;
	struct falcon_watch watch;

	if (falcon_rx_has_fn(rx->pi.type))
		trace_falcon_receive(conn, &rx->pi, &rx->meta);
	else
		trace_falcon_ack(conn, &rx->pi, &rx->meta);
	falcon_watch_begin(&watch, conn);
	verdict = falcon_core_rx(&conn->core, &rx->pi, &rx->meta,
				 (struct falcon_rxpkt *)skb->cb);
	falcon_watch_end(&watch, conn);
	if (q)
		falcon_rx_events(conn, q, tail, held_back);
	return verdict;
}

/* From the PSP header to the payload. */
static void falcon_rx_strip(struct sk_buff *skb, const struct falcon_rx *rx)
{
	__skb_pull(skb, sizeof(struct falcon_psp_hdr) + rx->pi.hdr_len);
	skb_orphan(skb);
}

/*
 * With encryption a responder can open packets from ACCEPT on, but answers from
 * CONFIRM on. What it opens in between waits, as far as the bound goes.
 */
static bool falcon_rx_hold(struct falcon_conn *conn, struct sk_buff *skb,
			   const struct falcon_rx *rx)
{
	struct falcon_held *held = NULL;

	lockdep_assert_held(&conn->lock);
	if (conn->nr_held < FALCON_MAX_HELD)
		held = kmalloc(sizeof(*held), GFP_ATOMIC | __GFP_NOWARN);
	if (!held) {
		FALCON_INC(conn->fn, IN_EARLY);
		return false;
	}
	held->skb = skb;
	held->rx = *rx;
	list_add_tail(&held->node, &conn->held);
	conn->nr_held++;
	return true;
}

/* A packet that has passed all checks meets the protocol. Consumes @skb. */
static void falcon_rx_admit(struct falcon_conn *conn, struct sk_buff *skb,
			    struct falcon_rx *rx)
{
	lockdep_assert_held(&conn->lock);
	conn->last_rx_ns = rx->meta.now_ns;
	falcon_rx_measure(conn, rx);
	falcon_rx_strip(skb, rx);
	if (falcon_rx_core(conn, rx, skb) == FALCON_RX_DONE)
		consume_skb(skb);
}

static void falcon_rx_held(struct falcon_conn *conn)
{
	struct falcon_held *held, *next;

	list_for_each_entry_safe(held, next, &conn->held, node) {
		held->rx.meta.fae = NULL;
		falcon_rx_admit(conn, held->skb, &held->rx);
		kfree(held);
	}
	INIT_LIST_HEAD(&conn->held);
	conn->nr_held = 0;
}

/**
 * falcon_conn_rx - a packet has come for a connection
 * @conn:	connection, not locked
 * @skb:	from its PSP header on, headers linear; consumed
 * @rx:		what is known of it
 *
 * Effects wait for falcon_conn_run(), so that a train has them once.
 *
 * Context: softirq. May call CM.
 */
void falcon_conn_rx(struct falcon_conn *conn, struct sk_buff *skb,
		    struct falcon_rx *rx)
{
	BUILD_BUG_ON(sizeof(struct falcon_rxpkt) > sizeof(skb->cb));
	spin_lock_bh(&conn->lock);
	if (!falcon_rx_verify(conn, skb, rx))
		goto drop;
	falcon_rx_commit(conn, rx);
	if (conn->state == FALCON_CONN_SETUP &&
	    rx->psp.version != FALCON_PSP_VER_NONE &&
	    falcon_rx_hold(conn, skb, rx))
		goto unlock;
	if (conn->state == FALCON_CONN_SETUP) {
		/* Data from the peer says what a lost CONFIRM would have. */
		spin_unlock_bh(&conn->lock);
		falcon_cm_confirmed(conn);
		spin_lock_bh(&conn->lock);
	}
	if (conn->state != FALCON_CONN_ESTABLISHED &&
	    conn->state != FALCON_CONN_CLOSING)
		goto drop;
	rx->meta.fae = falcon_fae_batch_queue(conn->fn);
	falcon_rx_admit(conn, skb, rx);
unlock:
	spin_unlock_bh(&conn->lock);
	return;
drop:
	spin_unlock_bh(&conn->lock);
	consume_skb(skb);
}

/*
 * Namespaces and the module
 */

/**
 * falcon_conn_net_init - set up the connection table of a namespace
 * @fn:		its settings are in place
 *
 * Return: 0.
 */
int falcon_conn_net_init(struct falcon_net *fn)
{
	const struct falcon_sysctls *s = &fn->sysctl;

	xa_init_flags(&fn->conns, XA_FLAGS_LOCK_BH);
	atomic_set(&fn->nr_conns, 0);
	atomic_set(&fn->nr_quarantined, 0);
	spin_lock_init(&fn->peer_lock);
	INIT_DELAYED_WORK(&fn->reap_work, falcon_cid_reap);
	do {
		fn->dest_fn = get_random_u32() >> 8;
	} while (!fn->dest_fn);
	falcon_res_init(&fn->res);
	falcon_res_limit(&fn->res, FALCON_POOL_RX_NET, s->rx_pool_pkts,
			 s->rx_pool_bytes);
	return 0;
}

/**
 * falcon_conn_find_next - go through the connections of a namespace
 * @fn:		namespace
 * @cid:	in: where to go on; out: the own CID of what was found
 *
 * Context: any.
 * Return: the connection with the smallest CID of @cid or above, referenced;
 * NULL after the last.
 */
struct falcon_conn *falcon_conn_find_next(struct falcon_net *fn,
					  unsigned long *cid)
{
	struct falcon_conn *conn;

	rcu_read_lock();
	for (conn = xa_find(&fn->conns, cid, FALCON_CID_MASK, XA_PRESENT); conn;
	     conn = xa_find_after(&fn->conns, cid, FALCON_CID_MASK, XA_PRESENT))
		if (!xa_is_value(conn) && falcon_conn_get(conn))
			break;
	rcu_read_unlock();
	return conn;
}

/**
 * falcon_conn_net_exit - end the connections of a namespace
 * @fn:		CM makes no new ones; ULPs still answer events
 *
 * ULPs hear FALCON_EV_ABORTED with -ENETDOWN and let go. Returns when the last
 * connection has been freed.
 *
 * Context: process, may sleep.
 */
void falcon_conn_net_exit(struct falcon_net *fn)
{
	unsigned int waited = 0;
	struct falcon_conn *conn;
	unsigned long cid;

	for (cid = 0; (conn = falcon_conn_find_next(fn, &cid)); cid++) {
		falcon_conn_abort(conn, -ENETDOWN);
		falcon_conn_put(conn);
		cond_resched();
	}
	falcon_nic_flush(fn->net);
	while (!wait_event_timeout(falcon_conns_gone,
				   !atomic_read(&fn->nr_conns), HZ / 10)) {
		falcon_nic_flush(fn->net);
		if (++waited % 100)
			continue;
		pr_warn("falcon: waiting for %d connections to be let go\n",
			atomic_read(&fn->nr_conns));
	}
	cancel_delayed_work_sync(&fn->reap_work);
	xa_destroy(&fn->conns);
}

/**
 * falcon_conn_init - make what all namespaces share
 *
 * Context: module init.
 * Return: 0 or -ENOMEM.
 */
int falcon_conn_init(void)
{
	falcon_conn_cache = KMEM_CACHE(falcon_conn, SLAB_ACCOUNT);
	if (!falcon_conn_cache)
		return -ENOMEM;
	falcon_wq = alloc_workqueue("falcon", WQ_MEM_RECLAIM, 0);
	if (!falcon_wq) {
		kmem_cache_destroy(falcon_conn_cache);
		return -ENOMEM;
	}
	return 0;
}

/**
 * falcon_conn_exit - undo falcon_conn_init(); all connections are freed
 */
void falcon_conn_exit(void)
{
	rcu_barrier();
	destroy_workqueue(falcon_wq);
	kmem_cache_destroy(falcon_conn_cache);
}
