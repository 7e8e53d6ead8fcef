// SPDX-License-Identifier: GPL-2.0
/*
 * The connection manager: INIT -> COOKIE -> INIT with cookie -> ACCEPT ->
 * CONFIRM, both roles (Documentation/networking/falcon/connection-manager.rst
 * has the tables). It makes struct falcon_conn, agrees its parameters with the
 * peer, starts it, and is done: a connection ends in band.
 *
 * ULPs call in from process context. Messages and timers are served in softirq,
 * so that a flood of INITs costs a MAC and a packet each; only a request whose
 * cookie has come back waits, in a bounded queue, for a worker, because
 * listeners may sleep. Calls into connections and ULPs hold no lock of these
 * files.
 */
#include <linux/module.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <net/inet_ecn.h>
#include <net/ipv6.h>

#include "cm.h"

/* PSP versions to be had here */
#define CM_VERSIONS	BIT(FALCON_PSP_VER_NONE)

/* falcon_cm_params::loss */
#define CM_BY_SYSCTL	((u8)~0)

#define CM_MAX_RTO_MS	(60 * MSEC_PER_SEC)

enum cm_role {
	CM_INITIATOR,
	CM_RESPONDER,
};

enum cm_state {
	CM_INIT_SENT,		/* initiator: no cookie yet */
	CM_COOKIE_SENT,		/* initiator: INIT with cookie sent */
	CM_ACCEPT_SENT,		/* responder: half open */
	CM_DONE,		/* confirmed; responder: repeated INITs are known */
	CM_GONE,		/* out of the table, nothing to do */
};

/* A connection being set up. References: the table, the timer while it is
 * pending, falcon_conn::cm_priv, and whoever works on it. The lock protects what
 * follows it; nonce, role and the peer's address are the key and do not change.
 */
struct cm_setup {
	struct hlist_node node;		/* in falcon_cm::setups until CM_GONE */
	struct rcu_head rcu;
	struct falcon_cm *cm;
	refcount_t refs;
	u8  role;
	u64 nonce;
	struct falcon_cm_peer peer;

	spinlock_t lock;		/* of what follows */
	u8  state;
	u8  tries;			/* transmissions of @msg */
	u8  max_tries;			/* retransmissions before giving up */
	u16 len;			/* of @msg */
	u16 body_len;			/* initiator: before the cookie in @msg */
	void *msg;			/* what is retransmitted; NULL with @conn */
	struct falcon_conn *conn;	/* with a reference; NULL once settled */
	struct timer_list timer;	/* retransmission; CM_DONE: forget */
	struct falcon_cm_msg own;	/* initiator: the INIT */
	struct falcon_core_cfg cfg;	/* own settings, then what was agreed */
	u64 own_pcid;			/* responder */
	u64 peer_pcid;			/* responder */
};

/* A request whose cookie was good, on its way to the worker */
struct cm_request {
	struct list_head list;
	struct falcon_cm_peer peer;
	u16 len;
	u8  msg[] __aligned(8);
};

static struct workqueue_struct *falcon_cm_wq;

static void cm_timeout(struct timer_list *t);

static void cm_setup_put(struct cm_setup *s)
{
	struct falcon_cm *cm = s->cm;

	if (!refcount_dec_and_test(&s->refs))
		return;
	if (s->cfg.fae)
		falcon_fae_put(s->cfg.fae);
	kfree(s->msg);
	kfree_rcu(s, rcu);
	if (atomic_dec_and_test(&cm->nr_setups))
		wake_up(&cm->idle);
}

/* With a reference of the caller, and one of @conn */
static struct cm_setup *cm_setup_alloc(struct falcon_cm *cm, u8 role, u64 nonce)
{
	struct cm_setup *s = kzalloc(sizeof(*s), GFP_KERNEL);

	if (!s)
		return NULL;
	s->msg = kmalloc(FALCON_CM_MAX_LEN, GFP_KERNEL);
	if (!s->msg) {
		kfree(s);
		return NULL;
	}
	refcount_set(&s->refs, 1);
	spin_lock_init(&s->lock);
	timer_setup(&s->timer, cm_timeout, 0);
	s->cm = cm;
	s->role = role;
	s->nonce = nonce;
	s->max_tries = cm->fn->sysctl.cm_retries;
	atomic_inc(&cm->nr_setups);
	return s;
}

static u32 cm_nonce_hash(struct falcon_cm *cm, u64 nonce)
{
	return siphash_1u64(nonce, &cm->hash_key);
}

static struct cm_setup *cm_setup_find(struct falcon_cm *cm, u8 role, u64 nonce,
				      const struct falcon_cm_peer *peer)
{
	struct cm_setup *s;

	rcu_read_lock();
	hash_for_each_possible_rcu(cm->setups, s, node,
				   cm_nonce_hash(cm, nonce))
		if (s->nonce == nonce && s->role == role &&
		    s->peer.port == peer->port &&
		    ipv6_addr_equal(&s->peer.path.daddr, &peer->path.daddr) &&
		    refcount_inc_not_zero(&s->refs))
			goto out;
	s = NULL;
out:
	rcu_read_unlock();
	return s;
}

/* Enters the table, which takes a reference. -ENETDOWN: too late. */
static int cm_setup_insert(struct cm_setup *s)
{
	struct falcon_cm *cm = s->cm;
	int err = 0;

	spin_lock_bh(&cm->lock);
	if (cm->dead) {
		err = -ENETDOWN;
	} else {
		refcount_inc(&s->refs);
		hash_add_rcu(cm->setups, &s->node, cm_nonce_hash(cm, s->nonce));
	}
	spin_unlock_bh(&cm->lock);
	return err;
}

static void cm_setup_remove(struct cm_setup *s)
{
	struct falcon_cm *cm = s->cm;
	bool hashed;

	spin_lock_bh(&cm->lock);
	hashed = !hlist_unhashed(&s->node);
	if (hashed)
		hlist_del_init_rcu(&s->node);
	spin_unlock_bh(&cm->lock);
	if (hashed)
		cm_setup_put(s);
}

static void cm_arm(struct cm_setup *s, unsigned long delay)
{
	lockdep_assert_held(&s->lock);
	if (!mod_timer(&s->timer, jiffies + delay))
		refcount_inc(&s->refs);
}

static void cm_disarm(struct cm_setup *s)
{
	if (del_timer(&s->timer))
		cm_setup_put(s);
}

/* What to send now, once @s is unlocked; NULL without memory. Then wait: each
 * time twice as long.
 */
static struct sk_buff *cm_next_try(struct cm_setup *s)
{
	u64 ms = (u64)s->cm->fn->sysctl.cm_rto_ms << s->tries;
	struct sk_buff *skb = falcon_cm_skb();

	lockdep_assert_held(&s->lock);
	if (skb)
		skb_put_data(skb, s->msg, s->len);
	s->tries++;
	cm_arm(s, msecs_to_jiffies(min_t(u64, ms, CM_MAX_RTO_MS)));
	return skb;
}

static void cm_xmit(struct cm_setup *s, struct sk_buff *skb)
{
	if (skb)
		falcon_cm_xmit(s->cm, &s->peer, skb);
}

/* Leaves the state of waiting for the peer: the caller that gets the
 * connection, with its reference, decides what becomes of it. NULL: another
 * was first.
 */
static struct falcon_conn *cm_settle(struct cm_setup *s, u8 state)
{
	struct falcon_conn *conn = s->conn;

	lockdep_assert_held(&s->lock);
	if (!conn)
		return NULL;
	s->conn = NULL;
	s->state = state;
	if (s->role == CM_RESPONDER)
		atomic_dec(&s->cm->half_open);
	kfree(s->msg);
	s->msg = NULL;
	return conn;
}

/* The connection has nothing to do with @s any more. */
static void cm_detach(struct cm_setup *s, struct falcon_conn *conn)
{
	if (xchg(&conn->cm_priv, NULL))
		cm_setup_put(s);
}

/* False if another was first. */
static bool cm_fail(struct cm_setup *s, int err)
{
	struct falcon_conn *conn;

	spin_lock_bh(&s->lock);
	conn = cm_settle(s, CM_GONE);
	spin_unlock_bh(&s->lock);
	if (!conn)
		return false;
	cm_disarm(s);
	cm_setup_remove(s);
	cm_detach(s, conn);
	falcon_conn_fail(conn, err);
	falcon_conn_put(conn);
	return true;
}

static void cm_send(struct falcon_cm *cm, const struct falcon_cm_peer *peer,
		    const struct falcon_cm_msg *m)
{
	struct sk_buff *skb = falcon_cm_skb();

	if (!skb)
		return;
	skb_put(skb, falcon_cm_build(m, skb->data));
	falcon_cm_xmit(cm, peer, skb);
}

static void cm_refuse(struct falcon_cm *cm, const struct falcon_cm_peer *peer,
		      u64 nonce, enum falcon_cm_reason reason, u16 detail)
{
	const struct falcon_cm_msg m = {
		.type = FALCON_CM_REFUSE,
		.present = FALCON_CM_HAS_REASON,
		.nonce = nonce,
		.reason = reason,
		.detail = detail,
	};

	FALCON_INC(cm->fn, CM_REFUSED_OUT);
	cm_send(cm, peer, &m);
}

/* @echo: the peer's endpoint, if it is known */
static void cm_reset(struct falcon_cm *cm, const struct falcon_cm_peer *peer,
		     u64 nonce, enum falcon_cm_reason reason, u16 detail,
		     u32 echo_cid, u64 echo_pcid)
{
	const struct falcon_cm_msg m = {
		.type = FALCON_CM_RESET,
		.present = FALCON_CM_HAS_REASON |
			   (echo_pcid ? FALCON_CM_HAS_ECHO : 0),
		.nonce = nonce,
		.reason = reason,
		.detail = detail,
		.echo_cid = echo_cid,
		.echo_pcid = echo_pcid,
	};

	cm_send(cm, peer, &m);
}

static void cm_expire(struct cm_setup *s)
{
	if (!cm_fail(s, -ETIMEDOUT))
		return;
	FALCON_INC(s->cm->fn, CM_TIMEOUT);
	if (s->role == CM_RESPONDER)
		cm_reset(s->cm, &s->peer, s->nonce, FALCON_CM_EXPIRED, 0,
			 s->cfg.peer_cid, s->peer_pcid);
}

static void cm_timeout(struct timer_list *t)
{
	struct cm_setup *s = from_timer(s, t, timer);
	struct sk_buff *skb = NULL;
	bool expired = false;
	u8 state;

	spin_lock_bh(&s->lock);
	state = s->state;
	if (s->conn && s->tries <= s->max_tries)
		skb = cm_next_try(s);
	else
		expired = true;
	spin_unlock_bh(&s->lock);

	cm_xmit(s, skb);
	if (expired && state == CM_DONE)
		cm_setup_remove(s);
	else if (expired)
		cm_expire(s);
	cm_setup_put(s);
}

/* The connection can carry data: parameters are agreed, and the peer is known
 * to be there. Consumes the reference of @conn.
 */
static int cm_start(struct cm_setup *s, struct falcon_conn *conn)
{
	int err = falcon_conn_start(conn, &s->cfg);

	if (err)
		falcon_conn_fail(conn, err);
	else
		FALCON_INC(s->cm->fn, CM_ESTABLISHED);
	falcon_conn_put(conn);
	return err;
}

/* What packets to and from the peer carry (9.2.1) */
static void cm_set_peer(struct falcon_conn *conn, const struct falcon_cm_msg *m,
			u8 version)
{
	spin_lock_bh(&conn->lock);
	conn->rx_sa.version = version;
	conn->tx_sa.version = version;
	conn->tx_sa.spi = m->spi;
	conn->tx_sa.prev_spi = m->spi;
	conn->tx_sa.pcid = m->pcid;
	conn->remote_time = m->time_ps;
	conn->peer_ttl = m->ttl;
	spin_unlock_bh(&conn->lock);
}

static void cm_fill_cfg(struct falcon_net *fn, const struct falcon_cm_params *p,
			struct falcon_core_cfg *cfg)
{
	falcon_conn_cfg_defaults(fn, p->path.family, cfg);
	cfg->proto = p->proto;
	if (p->nr_flows)
		cfg->nr_flows = p->nr_flows;
	if (p->loss != CM_BY_SYSCTL)
		cfg->loss = p->loss;
	if (p->fae) {
		falcon_fae_hold(p->fae);
		falcon_fae_put(cfg->fae);
		cfg->fae = p->fae;
	}
	if (p->user_timeout_ms)
		cfg->user_timeout_ns = (u64)p->user_timeout_ms * NSEC_PER_MSEC;
}

static u32 cm_features(const struct falcon_cm_params *p,
		       const struct falcon_core_cfg *cfg)
{
	u32 features = cfg->features & ~FALCON_F_ORDERED;

	/* 9.1.6: only RACK wants to know at once what has arrived. */
	if (!(cfg->loss & FALCON_LOSS_RACK))
		features &= ~FALCON_F_EACK_ALWAYS;
	return features | (p->ordered ? FALCON_F_ORDERED : 0);
}

/* This end's words, in INIT as in ACCEPT. Needs the route: -EMSGSIZE if its MTU
 * is too small for any connection.
 */
static int cm_fill_offer(struct falcon_conn *conn,
			 const struct falcon_cm_params *p,
			 const struct falcon_core_cfg *cfg,
			 struct falcon_cm_msg *m)
{
	int mtu = falcon_path_mtu(conn), i;

	if (mtu < 0)
		return mtu;
	if (p->max_mtu)
		mtu = min_t(int, mtu, p->max_mtu);
	if (mtu < FALCON_CM_MTU_MIN)
		return -EMSGSIZE;

	m->present = FALCON_CM_HAS_PARAMS;
	m->cid = conn->cid;
	m->fn = conn->fn->dest_fn;
	m->spi = conn->rx_sa.spi;
	m->pcid = conn->rx_sa.pcid;
	m->rsn = get_random_u32();
	for (i = 0; i < FALCON_NR_WIN; i++) {
		m->psn[i] = get_random_u32();
		m->rx_win[i] = cfg->rx_win[i];
	}
	m->mtu = mtu;
	m->ttl = conn->path.ttl;
	m->nr_flows = cfg->nr_flows;
	for (i = 0; i < FALCON_MAX_FLOWS; i++)
		m->flow_port[i] = be16_to_cpu(conn->flow_port[i]);
	m->rto_us = div_u64(cfg->rto_ns, NSEC_PER_USEC);
	m->min_rto_us = div_u64(cfg->min_rto_ns, NSEC_PER_USEC);
	m->max_rto_us = div_u64(cfg->max_rto_ns, NSEC_PER_USEC);
	memcpy(m->credits, p->credits, sizeof(m->credits));
	m->features = cm_features(p, cfg);
	rcu_read_lock();
	m->time_ps = falcon_nic_counter(rcu_dereference(conn->nic));
	rcu_read_unlock();
	return 0;
}

static void cm_fill_private(const struct falcon_cm_params *p,
			    struct falcon_cm_msg *m)
{
	if (!p->priv_len)
		return;
	m->present |= FALCON_CM_HAS_PRIVATE;
	m->priv = p->priv;
	m->priv_len = p->priv_len;
}

static int cm_build_init(struct cm_setup *s, struct falcon_conn *conn,
			 const struct falcon_cm_params *p)
{
	struct falcon_cm_msg *m = &s->own;
	int err;

	cm_fill_cfg(s->cm->fn, p, &s->cfg);
	err = cm_fill_offer(conn, p, &s->cfg, m);
	if (err)
		return err;
	m->type = FALCON_CM_INIT;
	m->present |= FALCON_CM_HAS_SERVICE;
	m->nonce = s->nonce;
	m->service = p->service;
	m->src_service = p->src_service;
	m->proto = p->proto;
	m->versions[m->nr_versions++] = FALCON_PSP_VER_NONE;
	cm_fill_private(p, m);
	s->body_len = falcon_cm_build(m, s->msg);
	s->len = s->body_len;
	/* @p is the caller's only. */
	m->priv = NULL;
	return 0;
}

/* Messages go where packets will, but have no congestion control. */
static void cm_set_addr(struct cm_setup *s, const struct falcon_conn *conn,
			__be16 port)
{
	s->peer.path = conn->path;
	s->peer.path.tclass &= ~INET_ECN_MASK;
	s->peer.port = port;
}

/* From here on messages, timer and the connection find @s. If the netns goes
 * away the connection has failed already.
 */
static void cm_begin(struct cm_setup *s, struct falcon_conn *conn, u8 state)
{
	struct sk_buff *skb;

	falcon_conn_get(conn);
	refcount_inc(&s->refs);
	s->conn = conn;
	s->state = state;
	WRITE_ONCE(conn->cm_priv, s);
	if (cm_setup_insert(s)) {
		cm_fail(s, -ENETDOWN);
		return;
	}
	spin_lock_bh(&s->lock);
	skb = s->conn ? cm_next_try(s) : NULL;
	spin_unlock_bh(&s->lock);
	cm_xmit(s, skb);
}

/**
 * falcon_cm_connect() - set up a connection
 * @fn:		namespace
 * @params:	what is asked for; copied
 * @ulp:	upper layer protocol
 * @ulp_priv:	its own
 *
 * The ULP's event call gets FALCON_EV_ESTABLISHED, or FALCON_EV_FAILED with
 * -ECONNREFUSED, -ETIMEDOUT, -ENETDOWN (the namespace goes away) or what else
 * falcon_cm_reason_errno() gives. That can be before this returns.
 *
 * Context: Process, may sleep.
 * Return: the connection, with the ULP's reference for falcon_conn_close(); or
 * an error: no route, no memory, a bound reached, -EMSGSIZE (private data).
 * Then the ULP hears of nothing.
 */
struct falcon_conn *falcon_cm_connect(struct falcon_net *fn,
				      const struct falcon_cm_params *params,
				      const struct falcon_ulp_ops *ulp,
				      void *ulp_priv)
{
	struct falcon_path path = params->path;
	struct falcon_conn *conn;
	struct cm_setup *s;
	int err;

	if (!fn->cm)
		return ERR_PTR(-ENETDOWN);
	if (params->priv_len > FALCON_CM_PRIV_MAX)
		return ERR_PTR(-EMSGSIZE);
	err = falcon_path_route(fn->net, &path);
	if (err)
		return ERR_PTR(err);
	s = cm_setup_alloc(fn->cm, CM_INITIATOR, get_random_u64());
	if (!s)
		return ERR_PTR(-ENOMEM);
	conn = falcon_conn_alloc(fn, &path, ulp, ulp_priv, GFP_KERNEL);
	if (!IS_ERR(conn)) {
		conn->service = params->src_service;
		conn->peer_service = params->service;
		cm_set_addr(s, conn, htons(fn->sysctl.cm_port));
		if (params->max_tries)
			s->max_tries = params->max_tries - 1;
		err = cm_build_init(s, conn, params);
		if (err)
			falcon_conn_fail(conn, err);
		else
			cm_begin(s, conn, CM_INIT_SENT);
	}
	cm_setup_put(s);
	return conn;
}

static void cm_rx_cookie(struct cm_setup *s, const struct falcon_cm_msg *m)
{
	struct sk_buff *skb = NULL;

	spin_lock_bh(&s->lock);
	if (s->conn) {
		s->len = falcon_cm_append_cookie(s->msg, s->body_len,
						 m->cookie);
		/* A second one comes when the first has become too old: use it
		 * at the next try, or a lost peer could make us send for ever.
		 */
		if (s->state == CM_INIT_SENT) {
			s->state = CM_COOKIE_SENT;
			s->tries = 0;
			skb = cm_next_try(s);
		}
	}
	spin_unlock_bh(&s->lock);
	cm_xmit(s, skb);
}

static void cm_confirm(struct falcon_cm *cm, const struct falcon_cm_peer *peer,
		       const struct falcon_cm_msg *accept)
{
	const struct falcon_cm_msg m = {
		.type = FALCON_CM_CONFIRM,
		.present = FALCON_CM_HAS_ECHO,
		.nonce = accept->nonce,
		.echo_cid = accept->cid,
		.echo_pcid = accept->pcid,
	};

	cm_send(cm, peer, &m);
}

/* An ACCEPT that its set-up has asked for. CONFIRM leaves before any data. */
static void cm_rx_accept(struct cm_setup *s, const struct falcon_cm_peer *peer,
			 const struct falcon_cm_msg *m)
{
	struct falcon_cm *cm = s->cm;
	u16 wrong = falcon_cm_check_answer(&s->own, m);
	struct falcon_conn *conn = NULL;
	int err;

	if (wrong) {
		cm_reset(cm, peer, m->nonce, FALCON_CM_BAD_PARAM, wrong,
			 m->cid, m->pcid);
		cm_fail(s, -EPROTO);
		return;
	}
	spin_lock_bh(&s->lock);
	if (s->state == CM_COOKIE_SENT)
		conn = cm_settle(s, CM_GONE);
	spin_unlock_bh(&s->lock);
	if (!conn)
		return;

	cm_disarm(s);
	falcon_cm_agree(&s->cfg, &s->own, m);
	cm_set_peer(conn, m, m->versions[0]);
	cm_confirm(cm, peer, m);
	cm_setup_remove(s);
	cm_detach(s, conn);
	err = cm_start(s, conn);
	if (err)
		cm_reset(cm, peer, m->nonce, falcon_cm_errno_reason(err), 0,
			 m->cid, m->pcid);
}

/* The connection that a message without a set-up speaks of. The PCID that only
 * the two ends know is proof as long as packets have no better either.
 */
static struct falcon_conn *cm_find_conn(struct falcon_cm *cm,
					const struct falcon_cm_peer *peer,
					const struct falcon_cm_msg *m)
{
	struct falcon_conn *conn;

	if (!(m->present & FALCON_CM_HAS_ECHO))
		return NULL;
	conn = falcon_conn_lookup(cm->fn, m->echo_cid);
	if (!conn)
		return NULL;
	if (conn->rx_sa.pcid == m->echo_pcid &&
	    conn->rx_sa.version == FALCON_PSP_VER_NONE &&
	    ipv6_addr_equal(&conn->path.daddr, &peer->path.daddr))
		return conn;
	falcon_conn_put(conn);
	return NULL;
}

/* An ACCEPT again: our CONFIRM was lost, and the set-up is over. */
static void cm_rx_accept_again(struct falcon_cm *cm,
			       const struct falcon_cm_peer *peer,
			       const struct falcon_cm_msg *m)
{
	struct falcon_conn *conn = cm_find_conn(cm, peer, m);
	bool ours;

	if (!conn) {
		FALCON_INC(cm->fn, CM_BAD_NONCE);
		return;
	}
	spin_lock_bh(&conn->lock);
	ours = conn->tx_sa.pcid == m->pcid && conn->tx_sa.spi == m->spi;
	spin_unlock_bh(&conn->lock);
	if (ours)
		cm_confirm(cm, peer, m);
	else
		FALCON_INC(cm->fn, CM_BAD_NONCE);
	falcon_conn_put(conn);
}

/* The responder knows that ACCEPT has arrived: by CONFIRM, or by data. */
static void cm_confirmed(struct cm_setup *s)
{
	struct falcon_conn *conn;

	spin_lock_bh(&s->lock);
	conn = cm_settle(s, CM_DONE);
	if (conn)
		cm_arm(s, (FALCON_CM_COOKIE_LIFE + 1) * HZ);
	spin_unlock_bh(&s->lock);
	if (!conn)
		return;
	cm_detach(s, conn);
	cm_start(s, conn);
}

/**
 * falcon_cm_confirmed() - the peer has sent data: it has got our ACCEPT
 * @conn:	in state FALCON_CONN_SETUP; the packet passed the acceptance
 *		checks of 9.2.2
 *
 * The connection is established when this returns, unless it failed or another
 * CPU is about to. Nothing happens for an initiator: it is established by the
 * ACCEPT only.
 *
 * Context: Softirq or process, without the connection lock.
 */
void falcon_cm_confirmed(struct falcon_conn *conn)
{
	struct cm_setup *s;

	rcu_read_lock();
	s = READ_ONCE(conn->cm_priv);
	if (s && !refcount_inc_not_zero(&s->refs))
		s = NULL;
	rcu_read_unlock();
	if (!s)
		return;
	if (s->role == CM_RESPONDER)
		cm_confirmed(s);
	cm_setup_put(s);
}

/**
 * falcon_cm_release() - the ULP lets go of a connection that is being set up
 * @conn:	connection, in any state
 *
 * The peer is told at once, and the ULP hears nothing more from here.
 *
 * Context: Softirq or process, without the connection lock.
 */
void falcon_cm_release(struct falcon_conn *conn)
{
	struct cm_setup *s = xchg(&conn->cm_priv, NULL);
	struct falcon_conn *mine;

	if (!s)
		return;
	spin_lock_bh(&s->lock);
	mine = cm_settle(s, CM_GONE);
	spin_unlock_bh(&s->lock);
	if (mine) {
		cm_disarm(s);
		cm_setup_remove(s);
		cm_reset(s->cm, &s->peer, s->nonce, FALCON_CM_CANCELLED, 0,
			 s->cfg.peer_cid, s->peer_pcid);
		falcon_conn_put(mine);
	}
	cm_setup_put(s);
}

static void cm_rx_confirm(struct cm_setup *s, const struct falcon_cm_msg *m)
{
	if (m->echo_cid == s->cfg.cid && m->echo_pcid == s->own_pcid)
		cm_confirmed(s);
	else
		FALCON_INC(s->cm->fn, CM_BAD_NONCE);
}

/* A RESET of a connection that one end holds established already */
static void cm_rx_reset_conn(struct falcon_cm *cm,
			     const struct falcon_cm_peer *peer,
			     const struct falcon_cm_msg *m)
{
	struct falcon_conn *conn = cm_find_conn(cm, peer, m);

	if (!conn) {
		FALCON_INC(cm->fn, CM_BAD_NONCE);
		return;
	}
	falcon_conn_abort(conn, falcon_cm_reason_errno(m->reason));
	falcon_conn_put(conn);
}

static void cm_rx_reset(struct falcon_cm *cm, const struct falcon_cm_peer *peer,
			const struct falcon_cm_msg *m)
{
	struct cm_setup *s = cm_setup_find(cm, CM_INITIATOR, m->nonce, peer);

	if (!s)
		s = cm_setup_find(cm, CM_RESPONDER, m->nonce, peer);
	if (!s || !cm_fail(s, falcon_cm_reason_errno(m->reason)))
		cm_rx_reset_conn(cm, peer, m);
	if (s)
		cm_setup_put(s);
}

static void cm_rx_refuse(struct cm_setup *s, const struct falcon_cm_msg *m)
{
	if (cm_fail(s, falcon_cm_reason_errno(m->reason)))
		FALCON_INC(s->cm->fn, CM_REFUSED_IN);
}

static void cm_send_cookie(struct falcon_cm *cm,
			   const struct falcon_cm_peer *peer,
			   const void *init, const struct falcon_cm_msg *m)
{
	u8 cookie[FALCON_CM_COOKIE_LEN];
	const struct falcon_cm_msg answer = {
		.type = FALCON_CM_COOKIE,
		.present = FALCON_CM_HAS_COOKIE,
		.nonce = m->nonce,
		.cookie = cookie,
	};

	falcon_cm_cookie_make(cm, peer, init, m->body_len, cookie);
	FALCON_INC(cm->fn, CM_COOKIES);
	cm_send(cm, peer, &answer);
}

static bool cm_half_open_full(struct falcon_cm *cm)
{
	return atomic_read(&cm->half_open) >= cm->fn->sysctl.max_half_open;
}

/* A verified request waits for the worker, if there is room. */
static void cm_enqueue(struct falcon_cm *cm, const struct falcon_cm_peer *peer,
		       const void *msg, unsigned int len)
{
	struct cm_request *req = NULL;
	bool queued = false;

	if (!cm_half_open_full(cm))
		req = kmalloc(sizeof(*req) + len, GFP_ATOMIC | __GFP_NOWARN);
	if (req) {
		req->peer = *peer;
		req->len = len;
		memcpy(req->msg, msg, len);
		spin_lock_bh(&cm->lock);
		queued = !cm->dead &&
			 cm->nr_queued < cm->fn->sysctl.max_half_open;
		if (queued) {
			list_add_tail(&req->list, &cm->queue);
			cm->nr_queued++;
		}
		spin_unlock_bh(&cm->lock);
	}
	if (queued) {
		queue_work(falcon_cm_wq, &cm->work);
		return;
	}
	kfree(req);
	FALCON_INC(cm->fn, CM_LIMIT);
}

/* The same INIT again: ACCEPT was lost, or is on its way. */
static void cm_accept_again(struct cm_setup *s)
{
	struct sk_buff *skb = NULL;

	spin_lock_bh(&s->lock);
	if (s->conn)
		skb = falcon_cm_skb();
	if (skb)
		skb_put_data(skb, s->msg, s->len);
	spin_unlock_bh(&s->lock);
	cm_xmit(s, skb);
	cm_setup_put(s);
}

static bool cm_has_listener(struct falcon_cm *cm,
			    const struct falcon_cm_peer *peer,
			    const struct falcon_cm_msg *m)
{
	struct falcon_listener *l;

	l = falcon_cm_find_listener(cm, peer, m->proto, m->service, m->nonce);
	if (l)
		falcon_cm_put_listener(l);
	return l;
}

static void cm_rx_init(struct falcon_cm *cm, const struct falcon_cm_peer *peer,
		       const struct falcon_cm_msg *m, const void *init,
		       unsigned int len)
{
	struct cm_setup *s;

	if (m->cookie) {
		if (falcon_cm_cookie_valid(cm, peer, init, m->body_len,
					   m->cookie)) {
			s = cm_setup_find(cm, CM_RESPONDER, m->nonce, peer);
			if (s)
				cm_accept_again(s);
			else
				cm_enqueue(cm, peer, init, len);
			return;
		}
		FALCON_INC(cm->fn, CM_BAD_COOKIE);
	}
	if (cm_has_listener(cm, peer, m))
		cm_send_cookie(cm, peer, init, m);
	else
		cm_refuse(cm, peer, m->nonce, FALCON_CM_NO_SERVICE, 0);
}

/* The responder's end goes where the request came from, as its listener says */
static void cm_responder_path(const struct falcon_listener *l,
			      const struct falcon_cm_peer *peer,
			      struct falcon_path *path)
{
	*path = l->path;
	path->family = peer->path.family;
	path->saddr = peer->path.saddr;
	path->daddr = peer->path.daddr;
	path->scope_id = peer->path.scope_id;
	if (!path->oif)
		path->oif = peer->path.oif;
}

static void cm_fill_request(const struct falcon_cm_msg *m,
			    const struct falcon_path *path,
			    struct falcon_cm_params *p)
{
	*p = (struct falcon_cm_params) {
		.path = *path,
		.proto = m->proto,
		.service = m->service,
		.src_service = m->src_service,
		.ordered = m->features & FALCON_F_ORDERED,
		.nr_flows = m->nr_flows,
		.loss = CM_BY_SYSCTL,
		.max_mtu = m->mtu,
		.priv = m->priv,
		.priv_len = m->priv_len,
	};
	memcpy(p->credits, m->credits, sizeof(p->credits));
}

static int cm_build_accept(struct cm_setup *s, struct falcon_conn *conn,
			   const struct falcon_cm_params *p,
			   const struct falcon_cm_msg *init, u8 version)
{
	struct falcon_cm_msg m = {
		.type = FALCON_CM_ACCEPT,
		.nonce = s->nonce,
		.echo_cid = init->cid,
		.echo_pcid = init->pcid,
		.nr_versions = 1,
		.versions = { version },
	};
	int err;

	cm_fill_cfg(s->cm->fn, p, &s->cfg);
	err = cm_fill_offer(conn, p, &s->cfg, &m);
	if (err)
		return err;
	m.present |= FALCON_CM_HAS_ECHO;
	falcon_cm_reduce(&m, init);
	falcon_cm_agree(&s->cfg, &m, init);
	s->own_pcid = m.pcid;
	s->peer_pcid = init->pcid;
	s->len = falcon_cm_build(&m, s->msg);
	return 0;
}

/* Asks the listener, and answers. 0, or why not: -EAGAIN is silence. */
static int cm_ask_listener(struct falcon_cm *cm, struct falcon_listener *l,
			   const struct falcon_cm_peer *peer,
			   const struct falcon_cm_msg *m, u8 version)
{
	const struct falcon_ulp_ops *ulp;
	struct falcon_cm_params p;
	struct falcon_conn *conn;
	struct falcon_path path;
	struct cm_setup *s;
	void *ulp_priv;
	int err;

	cm_responder_path(l, peer, &path);
	if (falcon_path_route(cm->fn->net, &path))
		return -EAGAIN;
	s = cm_setup_alloc(cm, CM_RESPONDER, m->nonce);
	if (!s)
		return -ENOMEM;
	conn = falcon_conn_alloc(cm->fn, &path, NULL, NULL, GFP_KERNEL);
	err = PTR_ERR_OR_ZERO(conn);
	if (err)
		goto out;

	conn->service = m->service;
	conn->peer_service = m->src_service;
	cm_set_peer(conn, m, version);
	cm_fill_request(m, &conn->path, &p);
	err = l->request(l, conn, &p, &ulp, &ulp_priv);
	if (!err)
		err = falcon_conn_accept(conn, ulp, ulp_priv);
	if (err) {
		falcon_conn_close(conn);
		goto out;
	}
	cm_set_addr(s, conn, peer->port);
	err = cm_build_accept(s, conn, &p, m, version);
	if (err) {
		falcon_conn_fail(conn, err);
		goto out;
	}
	atomic_inc(&cm->half_open);
	cm_begin(s, conn, CM_ACCEPT_SENT);
out:
	cm_setup_put(s);
	return err;
}

static void cm_accept(struct falcon_cm *cm, const struct falcon_cm_peer *peer,
		      const struct falcon_cm_msg *m)
{
	struct falcon_listener *l;
	u8 version;
	int err;

	if (cm_half_open_full(cm)) {
		FALCON_INC(cm->fn, CM_LIMIT);
		return;
	}
	if (!falcon_cm_choose_version(m, CM_VERSIONS, &version)) {
		cm_refuse(cm, peer, m->nonce, FALCON_CM_BAD_SECURITY, 0);
		return;
	}
	l = falcon_cm_find_listener(cm, peer, m->proto, m->service, m->nonce);
	if (!l) {
		cm_refuse(cm, peer, m->nonce, FALCON_CM_NO_SERVICE, 0);
		return;
	}
	err = cm_ask_listener(cm, l, peer, m, version);
	falcon_cm_put_listener(l);
	if (err == -EAGAIN)
		FALCON_INC(cm->fn, CM_BACKLOG);
	else if (err)
		cm_refuse(cm, peer, m->nonce, falcon_cm_errno_reason(err), 0);
}

static struct cm_request *cm_dequeue(struct falcon_cm *cm)
{
	struct cm_request *req;

	spin_lock_bh(&cm->lock);
	req = list_first_entry_or_null(&cm->queue, struct cm_request, list);
	if (req) {
		list_del(&req->list);
		cm->nr_queued--;
	}
	spin_unlock_bh(&cm->lock);
	return req;
}

static void cm_work(struct work_struct *work)
{
	struct falcon_cm *cm = container_of(work, struct falcon_cm, work);
	struct cm_request *req;
	struct falcon_cm_msg m;
	struct cm_setup *s;

	while ((req = cm_dequeue(cm))) {
		/* It has parsed before. */
		falcon_cm_parse(req->msg, req->len, &m);
		s = cm_setup_find(cm, CM_RESPONDER, m.nonce, &req->peer);
		if (s)
			cm_accept_again(s);
		else
			cm_accept(cm, &req->peer, &m);
		kfree(req);
		cond_resched();
	}
}

/* A message that a peer of another version or build may have meant */
static void cm_rx_bad(struct falcon_cm *cm, const struct falcon_cm_peer *peer,
		      const struct falcon_cm_msg *m, enum falcon_cm_err err)
{
	enum falcon_cm_reason reason = falcon_cm_err_reason(err);
	u16 detail = m->detail;
	struct cm_setup *s;

	FALCON_INC(cm->fn, CM_BAD);
	if (!reason)
		return;
	if (reason == FALCON_CM_BAD_VERSION)
		detail = FALCON_CM_VERSION;
	if (m->type == FALCON_CM_INIT) {
		cm_refuse(cm, peer, m->nonce, reason, detail);
	} else if (m->type == FALCON_CM_ACCEPT) {
		s = cm_setup_find(cm, CM_INITIATOR, m->nonce, peer);
		if (!s)
			return;
		if (cm_fail(s, falcon_cm_reason_errno(reason)))
			cm_reset(cm, peer, m->nonce, reason, detail, 0, 0);
		cm_setup_put(s);
	}
}

/* Answers belong to a set-up. */
static void cm_rx_answer(struct falcon_cm *cm, const struct falcon_cm_peer *peer,
			 const struct falcon_cm_msg *m)
{
	u8 role = m->type == FALCON_CM_CONFIRM ? CM_RESPONDER : CM_INITIATOR;
	struct cm_setup *s = cm_setup_find(cm, role, m->nonce, peer);

	if (!s) {
		if (m->type == FALCON_CM_ACCEPT)
			cm_rx_accept_again(cm, peer, m);
		else
			FALCON_INC(cm->fn, CM_BAD_NONCE);
		return;
	}
	switch (m->type) {
	case FALCON_CM_COOKIE:
		cm_rx_cookie(s, m);
		break;
	case FALCON_CM_ACCEPT:
		cm_rx_accept(s, peer, m);
		break;
	case FALCON_CM_CONFIRM:
		cm_rx_confirm(s, m);
		break;
	case FALCON_CM_REFUSE:
		cm_rx_refuse(s, m);
		break;
	}
	cm_setup_put(s);
}

/**
 * falcon_cm_rcv() - a packet of the connection manager's port
 * @cm:		connection manager
 * @peer:	who sent it
 * @buf:	what UDP carried, aligned to 4 bytes
 * @len:	its bytes
 *
 * Context: Softirq.
 */
void falcon_cm_rcv(struct falcon_cm *cm, const struct falcon_cm_peer *peer,
		   const void *buf, unsigned int len)
{
	struct falcon_cm_msg m;
	int err;

	err = falcon_cm_parse(buf, len, &m);
	if (err)
		cm_rx_bad(cm, peer, &m, -err);
	else if (m.type == FALCON_CM_INIT)
		cm_rx_init(cm, peer, &m, buf, len);
	else if (m.type == FALCON_CM_RESET)
		cm_rx_reset(cm, peer, &m);
	else
		cm_rx_answer(cm, peer, &m);
}

/**
 * falcon_cm_unreachable() - nobody serves the port at a peer
 * @cm:		connection manager
 * @daddr:	the peer
 * @nonce:	of the INIT that could not be delivered
 * @err:	what its ULP is told
 *
 * Context: Softirq.
 */
void falcon_cm_unreachable(struct falcon_cm *cm, const struct in6_addr *daddr,
			   u64 nonce, int err)
{
	const struct falcon_cm_peer peer = {
		.path.daddr = *daddr,
		.port = htons(cm->fn->sysctl.cm_port),
	};
	struct cm_setup *s = cm_setup_find(cm, CM_INITIATOR, nonce, &peer);

	if (!s)
		return;
	cm_fail(s, err);
	cm_setup_put(s);
}

/**
 * falcon_cm_net_init() - the connection manager of a new netns
 * @fn:	namespace, its settings made
 *
 * Context: Process.
 * Return: 0 or a negative errno, -EADDRINUSE if somebody has the port.
 */
int falcon_cm_net_init(struct falcon_net *fn)
{
	struct falcon_cm *cm = kzalloc(sizeof(*cm), GFP_KERNEL);
	int err;

	if (!cm)
		return -ENOMEM;
	cm->fn = fn;
	spin_lock_init(&cm->lock);
	hash_init(cm->setups);
	hash_init(cm->listeners);
	get_random_bytes(&cm->hash_key, sizeof(cm->hash_key));
	falcon_cm_cookie_init(cm);
	INIT_LIST_HEAD(&cm->queue);
	INIT_WORK(&cm->work, cm_work);
	init_waitqueue_head(&cm->idle);
	fn->cm = cm;
	err = falcon_cm_set_port(cm, fn->sysctl.cm_port);
	if (err) {
		fn->cm = NULL;
		kfree(cm);
	}
	return err;
}

/**
 * falcon_cm_change_port() - net.falcon.cm_port was written
 * @fn:		namespace
 * @port:	the new port
 *
 * Set-ups in progress go on with the port of the peer that they know.
 *
 * Context: Process, may sleep. Serialises itself.
 * Return: 0; or -EADDRINUSE and others: nothing has changed.
 */
int falcon_cm_change_port(struct falcon_net *fn, u16 port)
{
	static DEFINE_MUTEX(mutex);
	int err = 0;

	mutex_lock(&mutex);
	if (port != fn->sysctl.cm_port)
		err = falcon_cm_set_port(fn->cm, port);
	if (!err)
		WRITE_ONCE(fn->sysctl.cm_port, port);
	mutex_unlock(&mutex);
	return err;
}

static struct cm_setup *cm_first_setup(struct falcon_cm *cm)
{
	struct cm_setup *s;
	int i;

	spin_lock_bh(&cm->lock);
	hash_for_each(cm->setups, i, s, node)
		if (refcount_inc_not_zero(&s->refs))
			goto out;
	s = NULL;
out:
	spin_unlock_bh(&cm->lock);
	return s;
}

static void cm_drop_setup(struct cm_setup *s)
{
	if (cm_fail(s, -ENETDOWN))
		return;
	spin_lock_bh(&s->lock);
	s->state = CM_GONE;
	spin_unlock_bh(&s->lock);
	cm_disarm(s);
	cm_setup_remove(s);
}

/**
 * falcon_cm_net_exit() - a netns goes away
 * @fn:	namespace
 *
 * Set-ups fail with -ENETDOWN. Nothing comes from here any more when it
 * returns; falcon_unlisten() may still be called.
 *
 * Context: Process, may sleep.
 */
void falcon_cm_net_exit(struct falcon_net *fn)
{
	struct falcon_cm *cm = fn->cm;
	struct cm_request *req;
	struct cm_setup *s;

	spin_lock_bh(&cm->lock);
	cm->dead = true;
	spin_unlock_bh(&cm->lock);
	falcon_cm_drop_listeners(cm);
	cancel_work_sync(&cm->work);
	while ((req = cm_dequeue(cm)))
		kfree(req);
	while ((s = cm_first_setup(cm))) {
		cm_drop_setup(s);
		cm_setup_put(s);
	}
	/* Timers and callers at work have references, and use the sockets. */
	wait_event(cm->idle, !atomic_read(&cm->nr_setups));
	falcon_cm_close_port(cm);
	fn->cm = NULL;
	kfree(cm);
}

/**
 * falcon_cm_init() - once, before any netns
 *
 * Context: Process.
 * Return: 0 or -ENOMEM.
 */
int falcon_cm_init(void)
{
	falcon_cm_wq = alloc_workqueue("falcon_cm", WQ_UNBOUND, 0);
	return falcon_cm_wq ? 0 : -ENOMEM;
}

/**
 * falcon_cm_exit() - after the last netns
 *
 * Context: Process, may sleep.
 */
void falcon_cm_exit(void)
{
	destroy_workqueue(falcon_cm_wq);
}
