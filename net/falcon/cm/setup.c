// SPDX-License-Identifier: GPL-2.0
/*
 * A set-up: what is known of a connection that is being made, who refers to
 * it, and when its message is sent again. Initiator and responder move its
 * state (cm/initiator.c, cm/responder.c); here it waits, is found, expires,
 * fails.
 *
 * Whoever takes the connection out by falcon_cm_settle(), under the lock, is
 * the one that starts or fails it, without the lock: so its story has one end.
 */
#include <linux/slab.h>
#include <linux/wait_bit.h>
#include <net/ipv6.h>

#include "cm/cm.h"

#define CM_MAX_RTO_MS	(60 * MSEC_PER_SEC)
#define CM_MAX_SHIFT	20	/* of the first RTO: beyond the maximum */

static void cm_timeout(struct timer_list *t);

/**
 * falcon_cm_put() - drop a reference
 * @s:	set-up; freed after a grace period if this was the last one
 *
 * Context: Any.
 */
void falcon_cm_put(struct falcon_cm_setup *s)
{
	struct falcon_cm *cm = s->cm;

	if (!refcount_dec_and_test(&s->refs))
		return;
	if (s->cfg.fae)
		falcon_fae_put(s->cfg.fae);
	falcon_host_settle(s->host);
	kfree(s->msg);
	memzero_explicit(&s->grant, sizeof(s->grant));
	kfree_rcu(s, rcu);
	falcon_cm_put_user(cm);
}

/**
 * falcon_cm_put_user() - somebody needs the connection manager no more
 * @cm:	connection manager; at the last one falcon_cm_drop_setups() may
 *	return, and @cm be gone
 *
 * Context: Any.
 */
void falcon_cm_put_user(struct falcon_cm *cm)
{
	if (atomic_dec_and_test(&cm->nr_users))
		wake_up_var(&cm->nr_users);
}

static void cm_setup_work(struct work_struct *work)
{
	struct falcon_cm_setup *s = container_of(work, struct falcon_cm_setup,
						 work);

	if (s->role == FALCON_CM_INITIATOR)
		falcon_cm_work_accept(s);
	else
		falcon_cm_work_confirm(s);
	falcon_cm_put(s);
}

/**
 * falcon_cm_queue() - have the work of a set-up done in process context
 * @s:	set-up; its work is neither queued nor running
 *
 * Context: Any.
 */
void falcon_cm_queue(struct falcon_cm_setup *s)
{
	refcount_inc(&s->refs);
	queue_work(s->cm->wq, &s->work);
}

/**
 * falcon_cm_alloc() - a new set-up, not to be found yet
 * @cm:		connection manager
 * @role:	enum falcon_cm_role
 * @nonce:	of the initiator
 *
 * Context: Process, may sleep.
 * Return: the set-up with one reference, or NULL.
 */
struct falcon_cm_setup *falcon_cm_alloc(struct falcon_cm *cm, u8 role,
					u64 nonce)
{
	struct falcon_cm_setup *s = kzalloc(sizeof(*s), GFP_KERNEL_ACCOUNT);

	if (!s)
		return NULL;
	refcount_set(&s->refs, 1);
	spin_lock_init(&s->lock);
	timer_setup(&s->timer, cm_timeout, 0);
	INIT_WORK(&s->work, cm_setup_work);
	s->cm = cm;
	s->role = role;
	s->nonce = nonce;
	s->max_tries = READ_ONCE(cm->fn->sysctl.cm_retries);
	atomic_inc(&cm->nr_users);
	return s;
}

/**
 * falcon_cm_set_msg() - what a set-up sends until it is answered
 * @s:	set-up that nobody else knows yet
 * @m:	INIT or ACCEPT
 *
 * An INIT gets room for its cookie.
 *
 * Context: Process, may sleep.
 * Return: 0 or -ENOMEM.
 */
int falcon_cm_set_msg(struct falcon_cm_setup *s, const struct falcon_cm_msg *m)
{
	void *buf = kmalloc(FALCON_CM_MAX_LEN, GFP_KERNEL);
	unsigned int room = 0;

	if (!buf)
		return -ENOMEM;
	if (m->type == FALCON_CM_INIT)
		room = FALCON_CM_COOKIE_TLV_LEN;
	s->len = falcon_cm_build(m, buf);
	s->body_len = s->len;
	s->msg = kmalloc(s->len + room, GFP_KERNEL_ACCOUNT);
	if (s->msg)
		memcpy(s->msg, buf, s->len);
	kfree(buf);
	return s->msg ? 0 : -ENOMEM;
}

static u32 cm_nonce_hash(struct falcon_cm *cm, u64 nonce)
{
	return siphash_1u64(nonce, &cm->hash_key);
}

/**
 * falcon_cm_find() - the set-up that a message belongs to
 * @cm:		connection manager
 * @role:	own role: both ends may be in one netns
 * @nonce:	from the message
 * @peer:	who sent it
 *
 * Context: Any.
 * Return: the set-up with a reference, or NULL.
 */
struct falcon_cm_setup *falcon_cm_find(struct falcon_cm *cm, u8 role, u64 nonce,
				       const struct falcon_cm_peer *peer)
{
	struct falcon_cm_setup *s;

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
static int cm_setup_insert(struct falcon_cm_setup *s)
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

/**
 * falcon_cm_forget() - messages do not find a set-up any more
 * @s:	set-up, not locked
 *
 * Context: Any but hard interrupts.
 */
void falcon_cm_forget(struct falcon_cm_setup *s)
{
	struct falcon_cm *cm = s->cm;
	bool hashed;

	spin_lock_bh(&cm->lock);
	hashed = !hlist_unhashed(&s->node);
	if (hashed)
		hlist_del_init_rcu(&s->node);
	spin_unlock_bh(&cm->lock);
	if (hashed)
		falcon_cm_put(s);
}

/**
 * falcon_cm_arm() - start the timer, or start it anew
 * @s:		set-up, locked
 * @delay:	jiffies
 */
void falcon_cm_arm(struct falcon_cm_setup *s, unsigned long delay)
{
	lockdep_assert_held(&s->lock);
	if (!mod_timer(&s->timer, jiffies + delay))
		refcount_inc(&s->refs);
}

/**
 * falcon_cm_disarm() - stop the timer
 * @s:	set-up. A timer that runs already finds nothing to do
 *
 * Context: Any.
 */
void falcon_cm_disarm(struct falcon_cm_setup *s)
{
	if (del_timer(&s->timer))
		falcon_cm_put(s);
}

/**
 * falcon_cm_next_try() - one more transmission of the set-up's message
 * @s:	set-up, locked, with a message
 *
 * The timer waits for an answer: each time twice as long.
 *
 * Return: what falcon_cm_xmit_setup() is to send once @s is unlocked; NULL
 * without memory.
 */
struct sk_buff *falcon_cm_next_try(struct falcon_cm_setup *s)
{
	u64 ms = (u64)READ_ONCE(s->cm->fn->sysctl.cm_rto_ms) <<
		 min_t(u8, s->tries, CM_MAX_SHIFT);
	struct sk_buff *skb = falcon_cm_skb();

	lockdep_assert_held(&s->lock);
	if (skb)
		skb_put_data(skb, s->msg, s->len);
	s->tries++;
	falcon_cm_arm(s, msecs_to_jiffies(min_t(u64, ms, CM_MAX_RTO_MS)));
	return skb;
}

/**
 * falcon_cm_xmit_setup() - send to the peer of a set-up
 * @s:		set-up, not locked
 * @skb:	message, consumed; or NULL
 *
 * Context: Any but hard interrupts.
 */
void falcon_cm_xmit_setup(struct falcon_cm_setup *s, struct sk_buff *skb)
{
	if (skb)
		falcon_cm_xmit(s->cm, &s->peer, skb);
}

/**
 * falcon_cm_settle() - the wait for the peer is over
 * @s:		set-up, locked
 * @state:	FALCON_CM_DONE or _GONE
 *
 * Return: the connection, with the set-up's reference: the caller decides what
 * becomes of it. NULL if another was first.
 */
struct falcon_conn *falcon_cm_settle(struct falcon_cm_setup *s, u8 state)
{
	struct falcon_conn *conn = s->conn;

	lockdep_assert_held(&s->lock);
	if (!conn)
		return NULL;
	s->conn = NULL;
	s->state = state;
	if (s->role == FALCON_CM_RESPONDER)
		atomic_dec(&s->cm->half_open);
	falcon_host_settle(s->host);
	s->host = NULL;
	kfree(s->msg);
	s->msg = NULL;
	return conn;
}

/**
 * falcon_cm_detach() - a connection has nothing to do with its set-up any more
 * @s:		set-up; the caller has a reference
 * @conn:	what falcon_cm_settle() returned
 *
 * Context: Any.
 */
void falcon_cm_detach(struct falcon_cm_setup *s, struct falcon_conn *conn)
{
	if (xchg(&conn->cm_priv, NULL))
		falcon_cm_put(s);
}

/**
 * falcon_cm_fail_tell() - there will be no connection, and the peer hears of it
 * @s:		set-up, not locked
 * @err:	negative errno for the ULP
 * @reason:	of the RESET; 0: none is sent
 * @detail:	of @reason
 *
 * Context: Softirq or process. Calls the ULP.
 * Return: false if it had been settled already.
 */
bool falcon_cm_fail_tell(struct falcon_cm_setup *s, int err,
			 enum falcon_cm_reason reason, u16 detail)
{
	struct falcon_conn *conn;

	spin_lock_bh(&s->lock);
	conn = falcon_cm_settle(s, FALCON_CM_GONE);
	spin_unlock_bh(&s->lock);
	if (!conn)
		return false;
	falcon_cm_disarm(s);
	falcon_cm_forget(s);
	falcon_cm_detach(s, conn);
	falcon_conn_fail(conn, err);
	if (reason)
		falcon_cm_reset(s, conn, reason, detail);
	falcon_conn_put(conn);
	return true;
}

/**
 * falcon_cm_fail() - there will be no connection
 * @s:		set-up, not locked
 * @err:	negative errno for the ULP
 *
 * Context: Softirq or process. Calls the ULP.
 * Return: false if it had been settled already.
 */
bool falcon_cm_fail(struct falcon_cm_setup *s, int err)
{
	return falcon_cm_fail_tell(s, err, 0, 0);
}

static void cm_expire(struct falcon_cm_setup *s)
{
	enum falcon_cm_reason reason = 0;

	if (s->role == FALCON_CM_RESPONDER)
		reason = FALCON_CM_EXPIRED;
	if (falcon_cm_fail_tell(s, -ETIMEDOUT, reason, 0))
		FALCON_INC(s->cm->fn, CM_TIMEOUT);
}

static void cm_timeout(struct timer_list *t)
{
	struct falcon_cm_setup *s = from_timer(s, t, timer);
	struct sk_buff *skb = NULL;
	bool expired = false;
	u8 state;

	spin_lock_bh(&s->lock);
	state = s->state;
	/* If it is pending again, somebody settled @s in the meantime. */
	if (s->conn && s->tries <= s->max_tries)
		skb = falcon_cm_next_try(s);
	else
		expired = !timer_pending(&s->timer);
	spin_unlock_bh(&s->lock);

	falcon_cm_xmit_setup(s, skb);
	if (expired && state == FALCON_CM_DONE)
		falcon_cm_forget(s);
	else if (expired)
		cm_expire(s);
	falcon_cm_put(s);
}

/**
 * falcon_cm_begin() - send the message of a new set-up, and wait
 * @s:		set-up, complete
 * @conn:	its connection; a reference is taken
 * @state:	what it waits in
 *
 * From here on messages, the timer and the connection find @s. If the netns
 * goes away @conn has failed at the return.
 *
 * Context: Process or softirq. May call the ULP.
 */
void falcon_cm_begin(struct falcon_cm_setup *s, struct falcon_conn *conn,
		     u8 state)
{
	struct sk_buff *skb;
	int err;

	falcon_conn_get(conn);
	refcount_inc(&s->refs);
	s->conn = conn;
	s->state = state;
	/* Who aborts @conn either finds @s, or has done it where we see it. */
	smp_store_mb(conn->cm_priv, s);
	err = cm_setup_insert(s);
	if (!err && READ_ONCE(conn->state) != FALCON_CONN_SETUP)
		err = -ECONNABORTED;
	if (err) {
		/* Who settled it before it was in the table left it there. */
		if (!falcon_cm_fail(s, err))
			falcon_cm_forget(s);
		return;
	}
	spin_lock_bh(&s->lock);
	skb = s->conn ? falcon_cm_next_try(s) : NULL;
	spin_unlock_bh(&s->lock);
	falcon_cm_xmit_setup(s, skb);
}

/* A rotation passes over what is being set up. */
static void cm_started(struct falcon_net *fn, struct falcon_conn *conn)
{
	u32 gen;

	FALCON_INC(fn, CM_ESTABLISHED);
	/* Pairs with falcon_psp_new_generation(). */
	gen = smp_load_acquire(&fn->key_gen);
	if (conn->cm_sec && READ_ONCE(conn->rx_sa.gen) != gen)
		falcon_cm_rekey(conn);
}

/**
 * falcon_cm_start() - a connection can carry data
 * @s:		set-up, parameters agreed
 * @conn:	what falcon_cm_settle() returned; its reference is dropped
 *
 * Context: Softirq or process. Calls the ULP.
 * Return: 0, or why @conn failed instead, a negative errno.
 */
int falcon_cm_start(struct falcon_cm_setup *s, struct falcon_conn *conn)
{
	struct falcon_cm_sec *sec = conn->cm_sec;
	int err;

	if (sec) {
		sec->peer = s->peer;
		sec->nonce = s->nonce;
		sec->peer_cid = s->cfg.peer_cid;
	}
	err = s->role == FALCON_CM_INITIATOR ? falcon_host_meet(conn) : 0;
	if (!err)
		err = falcon_conn_start(conn, &s->cfg);
	if (err)
		falcon_conn_fail(conn, err);
	else
		cm_started(s->cm->fn, conn);
	falcon_conn_put(conn);
	return err;
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
	struct falcon_cm_setup *s = xchg(&conn->cm_priv, NULL);
	struct falcon_conn *mine;

	if (!s)
		return;
	spin_lock_bh(&s->lock);
	mine = falcon_cm_settle(s, FALCON_CM_GONE);
	spin_unlock_bh(&s->lock);
	if (mine) {
		falcon_cm_disarm(s);
		falcon_cm_forget(s);
		falcon_cm_reset(s, mine, FALCON_CM_CANCELLED, 0);
		falcon_conn_put(mine);
	}
	falcon_cm_put(s);
}

/* A set-up of the buckets from @i on; those before are empty. */
static struct falcon_cm_setup *cm_first_setup(struct falcon_cm *cm,
					      unsigned int *i)
{
	struct falcon_cm_setup *s;

	spin_lock_bh(&cm->lock);
	for (; *i < HASH_SIZE(cm->setups); ++*i)
		hlist_for_each_entry(s, &cm->setups[*i], node)
			if (refcount_inc_not_zero(&s->refs))
				goto out;
	s = NULL;
out:
	spin_unlock_bh(&cm->lock);
	return s;
}

static void cm_drop_setup(struct falcon_cm_setup *s)
{
	if (falcon_cm_fail(s, -ENETDOWN))
		return;
	spin_lock_bh(&s->lock);
	s->state = FALCON_CM_GONE;
	spin_unlock_bh(&s->lock);
	falcon_cm_disarm(s);
	falcon_cm_forget(s);
}

/**
 * falcon_cm_drop_setups() - the netns goes away: set-ups fail with -ENETDOWN
 * @cm:	connection manager, dead, so that no new ones come
 *
 * Waits for timers and callers at work, who use the sockets.
 *
 * Context: Process, may sleep. Calls the ULP.
 */
void falcon_cm_drop_setups(struct falcon_cm *cm)
{
	struct falcon_cm_setup *s;
	unsigned int i = 0;

	while ((s = cm_first_setup(cm, &i))) {
		cm_drop_setup(s);
		falcon_cm_put(s);
	}
	wait_var_event(&cm->nr_users, !atomic_read(&cm->nr_users));
}
