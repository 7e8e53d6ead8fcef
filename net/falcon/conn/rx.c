// SPDX-License-Identifier: GPL-2.0
/*
 * Receiving: a packet passes the acceptance checks of 9.2.2 before any state
 * moves, and meets core. udp.c calls in, in softirq.
 */
#include <linux/slab.h>
#include <net/ipv6.h>
#include "conn/conn.h"
#include "core/accept.h"
#include "core/fae.h"
#include "psp/psp.h"

#define FALCON_STAMP_GUARD_NS	NSEC_PER_SEC
#define FALCON_MAX_HELD		32	/* packets that come before CONFIRM's key */

/**
 * struct falcon_held - a packet that came before there was a key to answer it with
 * @node:	in falcon_conn::held
 * @skb:	packet
 * @bytes:	its memory, out of the pools of network requests
 * @peer:	that of the peer, or NULL: an initiator may not have met it yet
 * @use:	what that took of them
 * @rx:		what is known of it
 */
struct falcon_held {
	struct list_head node;
	struct sk_buff *skb;
	u32 bytes;
	struct falcon_pool_state *peer;
	struct falcon_res_use use;
	struct falcon_rx rx;
};

static struct falcon_held *falcon_held_new(struct falcon_conn *conn,
					   struct sk_buff *skb)
{
	struct falcon_held *held;

	if (conn->nr_held >= FALCON_MAX_HELD)
		return NULL;
	held = kzalloc(sizeof(*held), GFP_ATOMIC | __GFP_NOWARN);
	if (!held)
		return NULL;
	held->skb = skb;
	held->bytes = skb->truesize;
	held->peer = falcon_host_pool(conn);
	if (falcon_res_get_net(&conn->fn->res, &held->use, held->peer,
			       held->bytes, false))
		return held;
	kfree(held);
	return NULL;
}

static void falcon_held_free(struct falcon_conn *conn, struct falcon_held *held)
{
	falcon_res_put_net(&conn->fn->res, &held->use, held->peer,
			   held->bytes);
	kfree(held);
}

/**
 * falcon_free_held() - nobody will answer what is held
 * @conn:	the last reference has gone
 *
 * Context: process.
 */
void falcon_free_held(struct falcon_conn *conn)
{
	struct falcon_held *held, *next;

	list_for_each_entry_safe(held, next, &conn->held, node) {
		kfree_skb(held->skb);
		falcon_held_free(conn, held);
	}
}

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
 * CONFIRM on. What it opens in between waits, as far as the bound goes, and the
 * pools of network requests.
 */
static bool falcon_rx_hold(struct falcon_conn *conn, struct sk_buff *skb,
			   struct falcon_rx *rx)
{
	struct falcon_held *held;

	lockdep_assert_held(&conn->lock);
	held = falcon_held_new(conn, skb);
	if (!held) {
		FALCON_INC(conn->fn, IN_EARLY);
		return false;
	}
	falcon_nic_arrival(conn, rx);	/* not when the key comes */
	held->rx = *rx;
	list_add_tail(&held->node, &conn->held);
	conn->nr_held++;
	return true;
}

/*
 * A packet that has passed all checks meets the protocol. Consumes @skb. Of two
 * CPUs with packets of one connection, the one that read the clock first may be
 * the second here: for core time never goes back.
 */
static void falcon_rx_admit(struct falcon_conn *conn, struct sk_buff *skb,
			    struct falcon_rx *rx)
{
	lockdep_assert_held(&conn->lock);
	rx->meta.now_ns = max(rx->meta.now_ns, conn->last_rx_ns);
	conn->last_rx_ns = rx->meta.now_ns;
	falcon_rx_measure(conn, rx);
	falcon_rx_strip(skb, rx);
	if (falcon_rx_core(conn, rx, skb) == FALCON_RX_DONE)
		consume_skb(skb);
}

/**
 * falcon_rx_held() - what came before the key to answer it with
 * @conn:	locked, established by now
 *
 * Context: bottom halves off.
 */
void falcon_rx_held(struct falcon_conn *conn)
{
	struct falcon_held *held, *next;

	list_for_each_entry_safe(held, next, &conn->held, node) {
		held->rx.meta.fae = NULL;
		falcon_rx_admit(conn, held->skb, &held->rx);
		falcon_held_free(conn, held);
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
