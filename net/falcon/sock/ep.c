// SPDX-License-Identifier: GPL-2.0
/*
 * Endpoints: the ULP of a connection that carries a socket's bytes.
 *
 * Call-backs of the connection only queue what they bring and then run the
 * socket, at once if nobody owns its lock, else when the owner releases it
 * (falcon_release_cb). An endpoint without a socket is one of two: not accepted
 * yet, and then everything waits unacknowledged; or parted, and then it
 * acknowledges and drops what comes until its own transactions are back.
 */
#include <linux/slab.h>
#include <net/ipv6.h>
#include "sock/sock.h"

/* Level of a receive buffer that is just full: the default target of Swift */
#define FALCON_LEVEL_FULL	15

static struct workqueue_struct *falcon_ep_wq;

/* Drops a reference. */
void falcon_ep_put(struct falcon_ep *ep)
{
	if (!refcount_dec_and_test(&ep->refs))
		return;
	if (ep->conn)
		falcon_conn_put(ep->conn);
	kfree(ep);
}

/* Time-outs. The work holds a reference while it is armed. */
void falcon_ep_arm(struct falcon_ep *ep, unsigned long delay)
{
	refcount_inc(&ep->refs);
	if (mod_delayed_work(falcon_ep_wq, &ep->work, delay))
		falcon_ep_put(ep);
}

static struct sock *falcon_ep_hold_sk(struct falcon_ep *ep)
{
	struct sock *sk;

	rcu_read_lock();
	sk = rcu_dereference(ep->sk);
	if (sk)
		sock_hold(sk);
	rcu_read_unlock();
	return sk;
}

/*
 * In band the RESET did not get through: the peer's window is full, or the peer
 * is away. One that reads on must not wait for bytes that will not come.
 */
static void falcon_ep_give_up(struct falcon_ep *ep)
{
	falcon_cm_gone(ep->conn);
	if (++ep->resets < FALCON_RESET_TRIES)
		falcon_ep_arm(ep, HZ);
	else
		falcon_conn_abort(ep->conn, -ETIMEDOUT);
}

/* Parted, and what it waits for has not come back. */
static bool falcon_ep_stuck(struct falcon_ep *ep)
{
	bool stuck;

	spin_lock_bh(&ep->lock);
	stuck = ep->parted && ep->inflight && !ep->closed;
	spin_unlock_bh(&ep->lock);
	return stuck;
}

static void falcon_ep_work(struct work_struct *work)
{
	struct falcon_ep *ep = container_of(to_delayed_work(work),
					    struct falcon_ep, work);
	struct sock *sk = falcon_ep_hold_sk(ep);

	if (sk) {
		lock_sock(sk);
		if (falcon_sk(sk)->ep == ep)
			falcon_sock_time(sk);
		release_sock(sk);
		sock_put(sk);
	} else if (falcon_ep_stuck(ep)) {
		falcon_ep_give_up(ep);
	}
	falcon_ep_put(ep);
}

struct falcon_ep *falcon_ep_alloc(gfp_t gfp)
{
	struct falcon_ep *ep = kzalloc(sizeof(*ep), gfp | __GFP_ACCOUNT);

	if (!ep)
		return NULL;
	spin_lock_init(&ep->lock);
	INIT_LIST_HEAD(&ep->node);
	INIT_LIST_HEAD(&ep->rx);
	INIT_LIST_HEAD(&ep->done);
	INIT_LIST_HEAD(&ep->held);
	refcount_set(&ep->refs, 1);
	INIT_DELAYED_WORK(&ep->work, falcon_ep_work);
	return ep;
}

/* An endpoint that no connection knows. */
void falcon_ep_free(struct falcon_ep *ep)
{
	falcon_ep_put(ep);
}

void falcon_ep_attach(struct falcon_ep *ep, struct sock *sk)
{
	sock_hold(sk);
	falcon_sk(sk)->ep = ep;
	rcu_assign_pointer(ep->sk, sk);
}

/* Undo falcon_ep_attach() where no connection has come to be. */
void falcon_ep_unattach(struct falcon_ep *ep, struct sock *sk)
{
	falcon_sk(sk)->ep = NULL;
	RCU_INIT_POINTER(ep->sk, NULL);
	__sock_put(sk);
}

/*
 * Parted, or never to be accepted: acknowledge and drop what came, and close
 * the connection when nothing is in flight.
 */
static void falcon_ep_run_parted(struct falcon_ep *ep)
{
	struct falcon_rxpkt *rx, *next_rx;
	struct falcon_txn *txn, *next_txn;
	LIST_HEAD(rx_list);
	LIST_HEAD(done);
	bool close;

	spin_lock_bh(&ep->lock);
	list_splice_init(&ep->rx, &rx_list);
	list_splice_init(&ep->done, &done);
	list_for_each_entry(txn, &done, node)
		ep->inflight--;
	close = !ep->inflight && !ep->closed;
	if (close)
		WRITE_ONCE(ep->closed, true);
	spin_unlock_bh(&ep->lock);

	list_for_each_entry_safe(rx, next_rx, &rx_list, node) {
		falcon_target_ack(ep->conn, rx);
		kfree_skb(falcon_rx_skb(rx));
	}
	list_for_each_entry_safe(txn, next_txn, &done, node)
		kfree_skb(falcon_txn_skb(txn));
	if (!close)
		return;
	if (cancel_delayed_work(&ep->work))
		falcon_ep_put(ep);
	falcon_conn_close(ep->conn);
}

/*
 * The connection is dead, and what it had from the pools has gone back. What came
 * for a socket is its reader's; without one nobody accounts for it any more, and
 * who accepts it has the error.
 */
static void falcon_ep_drop_rx(struct falcon_ep *ep)
{
	struct falcon_rxpkt *rx, *next;
	LIST_HEAD(list);

	spin_lock_bh(&ep->lock);
	if (!rcu_access_pointer(ep->sk))
		list_splice_init(&ep->rx, &list);
	spin_unlock_bh(&ep->lock);
	list_for_each_entry_safe(rx, next, &list, node) {
		falcon_target_ack(ep->conn, rx);
		kfree_skb(falcon_rx_skb(rx));
	}
}

/*
 * A socket was closed, or parted from, with something still in flight. False:
 * there are more of them than net.falcon.max_orphans.
 */
bool falcon_ep_orphan(struct falcon_ep *ep)
{
	struct falcon_net_sock *ns = falcon_net_sock(ep->conn->fn);

	if (!ep->orphan) {
		ep->orphan = true;
		atomic_inc(&ns->nr_orphans);
	}
	if (atomic_read(&ns->nr_orphans) <=
	    READ_ONCE(ep->conn->fn->sysctl.max_orphans))
		return true;
	FALCON_INC(ep->conn->fn, SOCK_ORPHANS);
	return false;
}

static int falcon_ep_push(struct falcon_ep *ep, struct sk_buff *skb)
{
	struct falcon_seg_txn *st = falcon_seg_txn(skb);
	int err;

	memset(st, 0, sizeof(*st));
	st->skb = skb;
	((struct falcon_sock_hdr *)skb->data)->flags = falcon_seg(skb)->flags;
	spin_lock_bh(&ep->lock);
	ep->inflight++;
	spin_unlock_bh(&ep->lock);
	err = falcon_push(ep->conn, &st->txn, skb);
	if (!err)
		return 0;
	spin_lock_bh(&ep->lock);
	ep->inflight--;
	spin_unlock_bh(&ep->lock);
	kfree_skb(skb);
	return err;
}

/*
 * An endpoint goes on alone, until what is in flight has come back. What the
 * peer does not acknowledge in time, and more orphans than a netns may have,
 * end the connection at once.
 */
static void falcon_ep_leave(struct falcon_ep *ep)
{
	bool abort = false;

	refcount_inc(&ep->refs);
	/* Once it has parted, another CPU may see the last of it off. */
	if (ep->inflight) {
		falcon_ep_arm(ep, FALCON_RESET_TIME);
		abort = !falcon_ep_orphan(ep);
	}
	spin_lock_bh(&ep->lock);
	WRITE_ONCE(ep->parted, true);
	spin_unlock_bh(&ep->lock);
	if (abort)
		falcon_conn_abort(ep->conn, -ECONNRESET);
	falcon_ep_run_parted(ep);
	falcon_ep_put(ep);
}

/* Tell the peer that this is over, behind what is in flight. */
static void falcon_ep_reset(struct falcon_ep *ep, int code)
{
	struct sk_buff *skb = falcon_tx_control(FALCON_SOCK_RESET, code,
						gfp_any());

	if (!skb || falcon_ep_push(ep, skb))
		falcon_conn_abort(ep->conn, -code);
}

static void falcon_ep_put_sk(struct rcu_head *head)
{
	struct falcon_ep *ep = container_of(head, struct falcon_ep, rcu);

	sock_put(ep->put_sk);
	falcon_ep_put(ep);
}

/**
 * falcon_sock_part - a socket and its endpoint part
 * @sk:		socket with an endpoint, locked
 * @code:	positive errno to RESET the connection with, or 0
 *
 * A RESET is on its way before the acknowledgements of what the receive buffer
 * held back, so that they do not make the peer send more. Data received and
 * unread stays with the socket.
 */
void falcon_sock_part(struct sock *sk, int code)
{
	struct falcon_ep *ep = falcon_sk(sk)->ep;

	if (code)
		falcon_ep_reset(ep, code);
	falcon_rx_ack_held(sk, true);
	falcon_tx_purge(sk);
	falcon_conn_set_sk(ep->conn, NULL);
	falcon_sk(sk)->ep = NULL;
	ep->put_sk = sk;
	RCU_INIT_POINTER(ep->sk, NULL);
	refcount_inc(&ep->refs);
	call_rcu(&ep->rcu, falcon_ep_put_sk);
	falcon_ep_leave(ep);
}

/* A connection that nobody will accept. */
void falcon_ep_refuse(struct falcon_ep *ep)
{
	sock_put(ep->listener);
	ep->listener = NULL;
	falcon_ep_reset(ep, ECONNRESET);
	falcon_ep_leave(ep);
}

/* Established: to the listener's accept queue. */
static void falcon_ep_offer(struct falcon_ep *ep)
{
	struct sock *sk = ep->listener;
	struct falcon_sock *fs = falcon_sk(sk);
	bool open;

	spin_lock_bh(&fs->aq_lock);
	fs->aq_pending--;
	list_del_init(&ep->node);
	open = fs->aq_open;
	if (open) {
		sock_hold(sk);
		list_add_tail(&ep->node, &fs->aq);
		sk_acceptq_added(sk);
	}
	spin_unlock_bh(&fs->aq_lock);
	if (!open) {
		falcon_ep_refuse(ep);
		return;
	}
	sk->sk_data_ready(sk);
	sock_put(sk);
}

/* The set-up failed before there was anything to accept. */
static void falcon_ep_offer_failed(struct falcon_ep *ep)
{
	struct falcon_sock *fs = falcon_sk(ep->listener);

	spin_lock_bh(&fs->aq_lock);
	fs->aq_pending--;
	list_del_init(&ep->node);
	spin_unlock_bh(&fs->aq_lock);
	sock_put(ep->listener);
	ep->listener = NULL;
	falcon_ep_leave(ep);
}

static struct sock *falcon_group_pick(struct falcon_group *g,
				      const struct falcon_conn *conn)
{
	struct falcon_sock *fs;
	struct sock *sk = NULL;
	u32 hash, i;

	hash = __ipv6_addr_jhash(&conn->path.daddr, conn->peer_service);
	spin_lock_bh(&g->lock);
	i = reciprocal_scale(hash, g->nr);
	hlist_for_each_entry(fs, &g->members, group_node) {
		if (i--)
			continue;
		sk = (struct sock *)fs;
		sock_hold(sk);
		break;
	}
	spin_unlock_bh(&g->lock);
	return sk;
}

/*
 * Set-ups that are not confirmed take places of a backlog, one peer's at most half
 * of them (rounded up): who never confirms any keeps nobody else out.
 */
static bool falcon_aq_is_full(const struct sock *sk,
			      const struct falcon_host *host)
{
	const struct falcon_sock *fs = falcon_sk(sk);
	u32 backlog = READ_ONCE(sk->sk_max_ack_backlog), theirs = 0;
	const struct falcon_ep *ep;

	lockdep_assert_held(&fs->aq_lock);
	if (sk->sk_ack_backlog + fs->aq_pending > backlog)
		return true;
	if (fs->aq_pending <= backlog / 2)
		return false;
	list_for_each_entry(ep, &fs->half_open, node)
		theirs += ep->conn->host == host;
	return theirs > backlog / 2;
}

static int falcon_aq_reserve(struct sock *sk, const struct falcon_host *host)
{
	struct falcon_sock *fs = falcon_sk(sk);
	int err = 0;

	spin_lock_bh(&fs->aq_lock);
	if (!fs->aq_open)
		err = -ECONNREFUSED;
	else if (falcon_aq_is_full(sk, host))
		err = -EAGAIN;
	else
		fs->aq_pending++;
	spin_unlock_bh(&fs->aq_lock);
	return err;
}

/**
 * falcon_ep_request - falcon_listener::request of sockets
 * @l:		listener, part of a struct falcon_group
 * @conn:	connection to be
 * @req:	the peer's wish; lowered to the options of the listening socket
 * @ulp:	set to the socket ULP
 * @ulp_priv:	set to a new endpoint
 *
 * Context: process.
 * Return: 0; -EAGAIN if the backlog is full or memory is short, so that the
 * peer tries again; -ECONNREFUSED if nobody listens any more, or the peer asks
 * for a connection without order.
 */
int falcon_ep_request(struct falcon_listener *l, struct falcon_conn *conn,
		      struct falcon_cm_params *req,
		      const struct falcon_ulp_ops **ulp, void **ulp_priv)
{
	struct sock *sk = falcon_group_pick(container_of(l, struct falcon_group,
							 l), conn);
	struct falcon_sock *fs;
	struct falcon_ep *ep;
	int err;

	if (!sk)
		return -ECONNREFUSED;
	err = req->ordered ? falcon_aq_reserve(sk, conn->host) : -ECONNREFUSED;
	if (err)
		goto out_put;
	fs = falcon_sk(sk);
	ep = falcon_ep_alloc(GFP_KERNEL);
	if (!ep) {
		err = -EAGAIN;
		goto out_unreserve;
	}
	if (!falcon_conn_get(conn)) {
		err = -ECONNREFUSED;
		goto out_free;
	}
	ep->conn = conn;
	ep->listener = sk;
	req->nr_flows = fs->nr_flows;
	if (fs->user_timeout_ms)
		req->user_timeout_ms = fs->user_timeout_ms;
	req->gapless = true;
	req->txn_timeout_ms = FALCON_CM_NO_TIMEOUT;
	/* From here on falcon_listen_stop() finds it. */
	spin_lock_bh(&fs->aq_lock);
	if (fs->aq_open)
		list_add_tail(&ep->node, &fs->half_open);
	else
		err = -ECONNREFUSED;
	if (!err && fs->fae) {
		falcon_fae_hold(fs->fae);
		req->fae = fs->fae;
	}
	spin_unlock_bh(&fs->aq_lock);
	if (err)
		goto out_free;
	*ulp = &falcon_sock_ulp;
	*ulp_priv = ep;
	return 0;

out_free:
	falcon_ep_free(ep);
out_unreserve:
	spin_lock_bh(&fs->aq_lock);
	fs->aq_pending--;
	spin_unlock_bh(&fs->aq_lock);
out_put:
	sock_put(sk);
	return err;
}

/* Take what the call-backs queued, but what was delivered. */
static u8 falcon_ep_take(struct falcon_ep *ep, struct list_head *done, int *err)
{
	u8 events;

	spin_lock_bh(&ep->lock);
	list_splice_init(&ep->done, done);
	events = ep->events;
	ep->events = 0;
	*err = ep->err;
	spin_unlock_bh(&ep->lock);
	return events;
}

static struct falcon_rxpkt *falcon_ep_take_rx(struct falcon_ep *ep)
{
	struct falcon_rxpkt *rx;

	spin_lock_bh(&ep->lock);
	rx = list_first_entry_or_null(&ep->rx, struct falcon_rxpkt, node);
	if (rx)
		list_del(&rx->node);
	spin_unlock_bh(&ep->lock);
	return rx;
}

/**
 * falcon_sock_run - carry out what the call-backs of the connection queued
 * @sk:		socket: its spinlock held and not owned, or owned
 *
 * In the first case the caller is a call-back of the connection, so that what
 * this calls there is carried out after it has returned.
 */
void falcon_sock_run(struct sock *sk)
{
	struct falcon_sock *fs = falcon_sk(sk);
	struct falcon_ep *ep = fs->ep;
	struct falcon_txn *txn, *next;
	struct falcon_rxpkt *rx;
	bool wake = false, acked = false;
	LIST_HEAD(done);
	u8 events;
	int err;

	if (!ep)
		return;
	events = falcon_ep_take(ep, &done, &err);
	if (events & FALCON_EP_ESTABLISHED)
		falcon_sock_established(sk);
	if (!list_empty(&done))
		events |= FALCON_EP_TX_SPACE;
	list_for_each_entry_safe(txn, next, &done, node)
		falcon_tx_done(sk, txn);

	/* A RESET among what was delivered parts them. */
	while (fs->ep == ep && (rx = falcon_ep_take_rx(ep))) {
		wake |= falcon_rx_segment(sk, rx);
		acked = true;
	}
	if (fs->ep == ep && acked)
		falcon_flush(ep->conn);
	if (wake && !sock_flag(sk, SOCK_DEAD))
		sk->sk_data_ready(sk);
	if (fs->ep == ep && events & FALCON_EP_TX_SPACE) {
		falcon_tx_push(sk, false);
		falcon_write_space(sk);
		falcon_sock_fin_progress(sk);
	}
	if (fs->ep == ep && events & FALCON_EP_DEAD)
		falcon_sock_dead(sk, err);
	if (fs->ep == ep && events & FALCON_EP_KILL)
		falcon_sock_kill(sk, err);
}

/**
 * falcon_sock_flush - do it now, for callers that keep the lock long
 * @sk:		socket, owned
 */
void falcon_sock_flush(struct sock *sk)
{
	if (test_and_clear_bit(FALCON_SK_PENDING, &falcon_sk(sk)->flags))
		falcon_sock_run(sk);
}

/* Call-backs of the connection, bottom halves disabled, one at a time. */

static void falcon_ep_kick(struct falcon_ep *ep)
{
	bool parted = false;
	struct sock *sk;

	rcu_read_lock();
	sk = rcu_dereference(ep->sk);
	if (sk) {
		bh_lock_sock(sk);
		if (falcon_sk(sk)->ep != ep)
			/* If it is parting, falcon_ep_leave() runs all. */
			parted = READ_ONCE(ep->parted);
		else if (sock_owned_by_user(sk))
			set_bit(FALCON_SK_PENDING, &falcon_sk(sk)->flags);
		else
			falcon_sock_run(sk);
		bh_unlock_sock(sk);
	} else {
		parted = READ_ONCE(ep->parted);
	}
	rcu_read_unlock();
	if (parted)
		falcon_ep_run_parted(ep);
}

static void falcon_ulp_deliver(struct falcon_conn *conn,
			       struct falcon_rxpkt *rx, struct sk_buff *skb)
{
	struct falcon_ep *ep = conn->ulp_priv;

	spin_lock(&ep->lock);
	list_add_tail(&rx->node, &ep->rx);
	spin_unlock(&ep->lock);
}

static void falcon_ulp_complete(struct falcon_conn *conn,
				struct falcon_txn *txn)
{
	struct falcon_ep *ep = conn->ulp_priv;

	spin_lock(&ep->lock);
	list_add_tail(&txn->node, &ep->done);
	spin_unlock(&ep->lock);
}

/* Sockets do not pull. */
static void falcon_ulp_release(struct falcon_conn *conn,
			       struct falcon_resp *resp)
{
	WARN_ON_ONCE(1);
}

/* The socket runs once for all that a train, or an ACK, has brought. */
static void falcon_ulp_batch(struct falcon_conn *conn)
{
	falcon_ep_kick(conn->ulp_priv);
}

static void falcon_ep_closed(struct falcon_ep *ep)
{
	if (ep->orphan)
		atomic_dec(&falcon_net_sock(ep->conn->fn)->nr_orphans);
	if (cancel_delayed_work(&ep->work))
		falcon_ep_put(ep);
	falcon_ep_put(ep);
}

static void falcon_ulp_event(struct falcon_conn *conn,
			     enum falcon_conn_event ev, int err)
{
	static const u8 bit[] = {
		[FALCON_EV_ESTABLISHED]	= FALCON_EP_ESTABLISHED,
		[FALCON_EV_FAILED]	= FALCON_EP_DEAD,
		[FALCON_EV_ABORTED]	= FALCON_EP_DEAD,
		[FALCON_EV_TX_SPACE]	= FALCON_EP_TX_SPACE,
		[FALCON_EV_KILL]	= FALCON_EP_KILL,
	};
	struct falcon_ep *ep = conn->ulp_priv;

	if (ev == FALCON_EV_CLOSED) {
		falcon_ep_closed(ep);
		return;
	}
	if (ev == FALCON_EV_FAILED && ep->listener) {
		falcon_ep_offer_failed(ep);
		return;
	}
	/* Without a socket there is nobody who would tell the peer. */
	if (ev == FALCON_EV_KILL && !rcu_access_pointer(ep->sk)) {
		falcon_conn_abort(conn, err);
		return;
	}
	spin_lock(&ep->lock);
	ep->events |= bit[ev];
	if (err)
		ep->err = err;
	spin_unlock(&ep->lock);
	if (ev == FALCON_EV_ABORTED)
		falcon_ep_drop_rx(ep);
	if (ev == FALCON_EV_ESTABLISHED && ep->listener)
		falcon_ep_offer(ep);
	else
		falcon_ep_kick(ep);
}

/*
 * A receive buffer may be full, that is what it is for, and its owner set its
 * size. So the level is at most the target of Swift (10.3.1) up to there, and
 * beyond it by what is held unacknowledged: were the target in the middle of the
 * buffer, a reader that is slower than its peer would bring ncwnd down to one
 * packet at a time.
 */
static u8 falcon_ulp_rx_level(struct falcon_conn *conn)
{
	struct falcon_ep *ep = conn->ulp_priv;
	u64 level = 0, size, used;
	struct sock *sk;

	rcu_read_lock();
	sk = rcu_dereference(ep->sk);
	if (sk) {
		size = READ_ONCE(sk->sk_rcvbuf);
		used = atomic_read(&sk->sk_rmem_alloc);
		level = div64_u64(FALCON_LEVEL_FULL * min(used, size), size);
		if (used > size)
			level += div64_u64((31 - FALCON_LEVEL_FULL) *
					   (used - size), size);
	}
	rcu_read_unlock();
	return min_t(u64, level, 31);
}

const struct falcon_ulp_ops falcon_sock_ulp = {
	.owner		= THIS_MODULE,
	.proto		= FALCON_PROTO_SOCK,
	.kills		= true,
	.deliver	= falcon_ulp_deliver,
	.complete	= falcon_ulp_complete,
	.release	= falcon_ulp_release,
	.batch		= falcon_ulp_batch,
	.event		= falcon_ulp_event,
	.rx_level	= falcon_ulp_rx_level,
};

int falcon_ep_init(void)
{
	falcon_ep_wq = alloc_workqueue("falcon_sock", WQ_MEM_RECLAIM, 0);
	return falcon_ep_wq ? 0 : -ENOMEM;
}

/* After the last connection: nothing is armed, but some may still run. */
void falcon_ep_exit(void)
{
	rcu_barrier();
	destroy_workqueue(falcon_ep_wq);
	rcu_barrier();
}
