// SPDX-License-Identifier: GPL-2.0
/*
 * The life of a connection: from the set-up that CM drives to the end that its
 * ULP, its peer, its time or an operator brings, and its memory.
 *
 * ulp.c, cm/cm.c, netlink.c and sysctl.c call in. conn.h says how connections
 * are locked and where the rest of them is.
 */
#include <linux/module.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <net/inet_ecn.h>
#include "conn/conn.h"
#include "psp/psp.h"

#define FALCON_LINGER_MAX	8	/* linger times, whatever the peer does */
#define FALCON_TTL		64

static struct kmem_cache *falcon_conn_cache;
static DECLARE_WAIT_QUEUE_HEAD(falcon_conns_gone);

/* Work in process context: freeing connections, telling NICs, CID rest. */
struct workqueue_struct *falcon_wq;

/*
 * Life and death
 */

static void falcon_conn_free(struct work_struct *work)
{
	struct falcon_conn *conn = container_of(to_rcu_work(work),
						struct falcon_conn, free_work);
	struct falcon_net *fn = conn->fn;

	falcon_timer_cancel(conn);
	falcon_nic_detach(conn);
	falcon_psp_release(conn);
	falcon_cm_sec_free(conn);
	falcon_free_held(conn);
	falcon_host_leave(conn);
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

/**
 * falcon_conn_tell() - an event for the ULP, unless it has let go
 * @conn:	connection, locked
 * @ev:	FALCON_EV_*
 *
 * Context: any but hard interrupts.
 */
void falcon_conn_tell(struct falcon_conn *conn, u8 ev)
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

/**
 * falcon_conn_set_state() - the life of a connection goes on
 * @conn:	connection, locked
 * @state:	FALCON_CONN_*
 *
 * Context: any but hard interrupts.
 */
void falcon_conn_set_state(struct falcon_conn *conn, u8 state)
{
	u8 old = conn->state;

	lockdep_assert_held(&conn->lock);
	conn->state = state;
	trace_falcon_conn_state(conn, old, state);
}

/**
 * falcon_conn_unhash() - no packet finds the connection any more
 * @conn:	connection, locked; the reference of the table goes
 *
 * Context: any but hard interrupts.
 */
void falcon_conn_unhash(struct falcon_conn *conn)
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

/**
 * falcon_conn_die() - the end, before or after establishment
 * @conn:	connection, locked
 * @err:	negative errno for FALCON_EV_FAILED or _ABORTED
 *
 * Context: any but hard interrupts.
 */
void falcon_conn_die(struct falcon_conn *conn, int err)
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

/**
 * falcon_linger_end() - until when a closed connection answers
 * @conn:	connection, locked
 *
 * The peer may have missed the last acknowledgements and repeat itself; a closed
 * connection answers until that has been quiet for a while, but not for ever.
 *
 * Context: any.
 * Return: the time, in ns of ktime_get_ns().
 */
u64 falcon_linger_end(const struct falcon_conn *conn)
{
	u64 linger = (u64)READ_ONCE(conn->fn->sysctl.linger_ms) * NSEC_PER_MSEC;

	return min(conn->last_rx_ns + linger,
		   conn->closed_ns + FALCON_LINGER_MAX * linger);
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

	if (falcon_nic_stamps(conn))
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
	own.pulls = own.proto != FALCON_PROTO_SOCK;
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
 * Namespaces and the module
 */

/**
 * falcon_conn_net_init - set up the connection table of a namespace
 * @fn:		its settings are in place
 */
void falcon_conn_net_init(struct falcon_net *fn)
{
	const struct falcon_sysctls *s = &fn->sysctl;

	xa_init_flags(&fn->conns, XA_FLAGS_LOCK_BH);
	atomic_set(&fn->nr_conns, 0);
	atomic_set(&fn->nr_quarantined, 0);
	INIT_DELAYED_WORK(&fn->reap_work, falcon_cid_reap);
	do {
		fn->dest_fn = get_random_u32() >> 8;
	} while (!fn->dest_fn);
	falcon_res_init(&fn->res);
	falcon_res_limit(&fn->res, FALCON_POOL_RX_NET, s->rx_pool_pkts,
			 s->rx_pool_bytes);
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
