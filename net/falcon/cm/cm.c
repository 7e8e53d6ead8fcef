// SPDX-License-Identifier: GPL-2.0
/*
 * The connection manager: INIT -> COOKIE -> INIT with cookie -> ACCEPT ->
 * CONFIRM, both roles (Documentation/networking/falcon/connection-manager.rst
 * has the tables). It makes struct falcon_conn, agrees its parameters with the
 * peer, starts it, and is done: a connection ends in band.
 *
 * Here messages are sorted by what they belong to, and what both roles send and
 * get is served; cm.h says where the rest is. Calls into connections and ULPs
 * hold no lock of these files.
 */
#include <linux/module.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <net/inet_ecn.h>
#include <net/ipv6.h>

#include "cm/cm.h"

/* Works of a namespace's set-ups at a time: X25519, and listeners that sleep */
#define CM_MAX_ACTIVE	16

/**
 * falcon_cm_send() - build a message and send it once
 * @cm:		connection manager
 * @peer:	where to
 * @m:		the message
 *
 * Context: Any but hard interrupts.
 */
void falcon_cm_send(struct falcon_cm *cm, const struct falcon_cm_peer *peer,
		    const struct falcon_cm_msg *m)
{
	struct sk_buff *skb = falcon_cm_skb();

	if (!skb)
		return;
	skb_put(skb, falcon_cm_build(m, skb->data));
	falcon_cm_xmit(cm, peer, skb);
}

/**
 * falcon_cm_refuse() - say no to an INIT
 * @cm:		connection manager
 * @peer:	who asked
 * @nonce:	of the INIT
 * @reason:	why not
 * @detail:	of @reason
 *
 * Context: Any but hard interrupts.
 */
void falcon_cm_refuse(struct falcon_cm *cm, const struct falcon_cm_peer *peer,
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
	falcon_cm_send(cm, peer, &m);
}

/* A RESET of the connection that the peer knows by @cid and @pcid; 0: unknown. */
static struct falcon_cm_msg falcon_cm_reset_msg(u64 nonce, u32 cid, u64 pcid)
{
	return (struct falcon_cm_msg) {
		.type = FALCON_CM_RESET,
		.present = FALCON_CM_HAS_REASON |
			   (pcid ? FALCON_CM_HAS_ECHO : 0),
		.nonce = nonce,
		.reason = FALCON_CM_CANCELLED,
		.echo_cid = cid,
		.echo_pcid = pcid,
	};
}

/**
 * falcon_cm_reset() - tell a peer that what was accepted is no more
 * @s:		set-up
 * @conn:	its connection: signs, if it has keys
 * @reason:	why
 * @detail:	of @reason
 *
 * Context: Any but hard interrupts.
 */
void falcon_cm_reset(struct falcon_cm_setup *s, struct falcon_conn *conn,
		     enum falcon_cm_reason reason, u16 detail)
{
	struct falcon_cm_msg m = falcon_cm_reset_msg(s->nonce, s->cfg.peer_cid,
						     s->peer_pcid);

	m.reason = reason;
	m.detail = detail;
	falcon_cm_send_signed(s->cm, &s->peer, conn, &m, NULL);
}

/**
 * falcon_cm_gone() - tell the peer of an established connection that it is over
 * @conn:	connection; its ULP cannot say so in band
 *
 * Nothing answers, and nothing repeats it.
 *
 * Context: Any but hard interrupts.
 */
void falcon_cm_gone(struct falcon_conn *conn)
{
	struct falcon_cm_sec *sec = READ_ONCE(conn->cm_sec);
	struct falcon_cm_peer peer = {
		.path = conn->path,
		.port = htons(READ_ONCE(conn->fn->sysctl.cm_port)),
	};
	u64 nonce = sec ? sec->nonce : get_random_u64();
	struct falcon_cm_msg m = falcon_cm_reset_msg(nonce,
						     conn->core.cfg.peer_cid,
						     conn->tx_sa.pcid);
	struct falcon_cm *cm;

	peer.path.tclass &= ~INET_ECN_MASK;
	rcu_read_lock();
	cm = READ_ONCE(conn->fn->cm);	/* freed by kvfree_rcu() */
	if (cm)
		falcon_cm_send_signed(cm, sec ? &sec->peer : &peer, conn, &m,
				      NULL);
	rcu_read_unlock();
}

/**
 * falcon_cm_find_conn() - the connection that a message without a set-up is of
 * @cm:		connection manager
 * @peer:	who sent it
 * @m:		the message
 *
 * Its CID, PCID and address are right, which is no proof yet: falcon_cm_proven()
 * and falcon_cm_sec_is_accept() are.
 *
 * Context: Any.
 * Return: the connection with a reference, or NULL.
 */
struct falcon_conn *falcon_cm_find_conn(struct falcon_cm *cm,
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
	    ipv6_addr_equal(&conn->path.daddr, &peer->path.daddr))
		return conn;
	falcon_conn_put(conn);
	return NULL;
}

/* A RESET of a connection that one end holds established already */
static void cm_rx_reset_conn(struct falcon_cm *cm,
			     const struct falcon_cm_peer *peer,
			     const struct falcon_cm_msg *m, const void *buf)
{
	struct falcon_conn *conn = falcon_cm_find_conn(cm, peer, m);

	if (!conn) {
		FALCON_INC(cm->fn, CM_BAD_NONCE);
		return;
	}
	if (falcon_cm_proven(conn, buf, m, NULL))
		falcon_conn_abort(conn, falcon_cm_reason_errno(m->reason));
	falcon_conn_put(conn);
}

static void cm_rx_reset(struct falcon_cm *cm, const struct falcon_cm_peer *peer,
			const struct falcon_cm_msg *m, const void *buf)
{
	struct falcon_cm_setup *s;

	s = falcon_cm_find(cm, FALCON_CM_INITIATOR, m->nonce, peer);
	if (!s)
		s = falcon_cm_find(cm, FALCON_CM_RESPONDER, m->nonce, peer);
	if (s && falcon_cm_fail(s, falcon_cm_reason_errno(m->reason)))
		falcon_cm_count_reason(cm->fn, m->reason);
	else
		cm_rx_reset_conn(cm, peer, m, buf);
	if (s)
		falcon_cm_put(s);
}

/* A message that a peer of another version or build may have meant */
static void cm_rx_bad(struct falcon_cm *cm, const struct falcon_cm_peer *peer,
		      const struct falcon_cm_msg *m, enum falcon_cm_err err)
{
	enum falcon_cm_reason reason = falcon_cm_err_reason(err);
	u16 detail = m->detail;
	struct falcon_cm_setup *s;

	FALCON_INC(cm->fn, CM_BAD);
	if (!reason)
		return;
	if (reason == FALCON_CM_BAD_VERSION)
		detail = FALCON_CM_VERSION;
	if (m->type == FALCON_CM_INIT) {
		falcon_cm_refuse(cm, peer, m->nonce, reason, detail);
	} else if (m->type == FALCON_CM_ACCEPT) {
		s = falcon_cm_find(cm, FALCON_CM_INITIATOR, m->nonce, peer);
		if (!s)
			return;
		falcon_cm_fail_tell(s, falcon_cm_reason_errno(reason), reason,
				    detail);
		falcon_cm_put(s);
	}
}

/* Answers belong to a set-up. */
static void cm_rx_answer(struct falcon_cm *cm,
			 const struct falcon_cm_peer *peer,
			 const struct falcon_cm_msg *m, const void *buf,
			 unsigned int len)
{
	u8 role = m->type == FALCON_CM_CONFIRM ? FALCON_CM_RESPONDER :
						 FALCON_CM_INITIATOR;
	struct falcon_cm_setup *s = falcon_cm_find(cm, role, m->nonce, peer);

	if (!s) {
		if (m->type == FALCON_CM_ACCEPT)
			falcon_cm_rx_accept_again(cm, peer, m);
		else
			FALCON_INC(cm->fn, CM_BAD_NONCE);
		return;
	}
	switch (m->type) {
	case FALCON_CM_COOKIE:
		falcon_cm_rx_cookie(s, m);
		break;
	case FALCON_CM_ACCEPT:
		falcon_cm_rx_accept(s, m, buf, len);
		break;
	case FALCON_CM_CONFIRM:
		falcon_cm_rx_confirm(s, m, buf);
		break;
	case FALCON_CM_REFUSE:
		falcon_cm_rx_refuse(s, m);
		break;
	}
	falcon_cm_put(s);
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
	if (err) {
		cm_rx_bad(cm, peer, &m, -err);
		return;
	}
	switch (m.type) {
	case FALCON_CM_INIT:
		falcon_cm_rx_init(cm, peer, &m, buf, len);
		break;
	case FALCON_CM_RESET:
		cm_rx_reset(cm, peer, &m, buf);
		break;
	case FALCON_CM_REKEY:
		falcon_cm_rx_rekey(cm, peer, &m, buf);
		break;
	case FALCON_CM_REKEY_ACK:
		falcon_cm_rx_rekey_ack(cm, peer, &m, buf);
		break;
	default:
		cm_rx_answer(cm, peer, &m, buf, len);
	}
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
	struct falcon_cm_setup *s;

	s = falcon_cm_find(cm, FALCON_CM_INITIATOR, nonce, &peer);
	if (!s)
		return;
	falcon_cm_fail(s, err);
	falcon_cm_put(s);
}

static void cm_free_queues(struct falcon_cm *cm)
{
	if (cm->wq)
		destroy_workqueue(cm->wq);
	if (cm->rekey_wq)
		destroy_workqueue(cm->rekey_wq);
}

/*
 * Each namespace has its own: its works wait for one mutex when they make keys,
 * and thousands of them may. Nor do set-ups wait behind a rotation of thousands
 * of connections. Freezable: what seals grants stops with psp/hibernate.c.
 */
static int cm_alloc_queues(struct falcon_cm *cm)
{
	cm->wq = alloc_workqueue("falcon_cm", WQ_UNBOUND | WQ_FREEZABLE,
				 CM_MAX_ACTIVE);
	cm->rekey_wq = alloc_ordered_workqueue("falcon_rekey", WQ_FREEZABLE);
	if (cm->wq && cm->rekey_wq)
		return 0;
	cm_free_queues(cm);
	return -ENOMEM;
}

/**
 * falcon_cm_net_init() - the connection manager of a new netns
 * @fn:	namespace, its settings made
 *
 * Context: Process, may sleep.
 * Return: 0 or -ENOMEM.
 */
int falcon_cm_net_init(struct falcon_net *fn)
{
	struct falcon_cm *cm = kvzalloc(sizeof(*cm), GFP_KERNEL);

	if (!cm)
		return -ENOMEM;
	if (cm_alloc_queues(cm)) {
		kvfree(cm);
		return -ENOMEM;
	}
	cm->fn = fn;
	spin_lock_init(&cm->lock);
	hash_init(cm->setups);
	hash_init(cm->listeners);
	get_random_bytes(&cm->hash_key, sizeof(cm->hash_key));
	falcon_cm_cookie_init(cm);
	INIT_LIST_HEAD(&cm->queue);
	INIT_LIST_HEAD(&cm->rekeys);
	INIT_WORK(&cm->work, falcon_cm_work);
	fn->cm = cm;
	return 0;
}

/* Of opening and changing ports; namespaces have to do with neither often. */
static DEFINE_MUTEX(falcon_ports_mutex);

/**
 * falcon_cm_ports() - see to it that a namespace has its UDP ports
 * @fn:		namespace
 *
 * They are opened with the namespace. If somebody else has one, that is this
 * namespace's affair: who connects or listens tries again.
 *
 * Context: Process, may sleep.
 * Return: 0; -EADDRINUSE: somebody still has one of them; or another errno.
 */
int falcon_cm_ports(struct falcon_net *fn)
{
	int err = 0;

	if (likely(READ_ONCE(fn->ports)))
		return 0;
	mutex_lock(&falcon_ports_mutex);
	if (!fn->ports) {
		err = falcon_udp_net_init(fn);
		if (!err)
			err = falcon_cm_set_port(fn->cm, fn->sysctl.cm_port);
		if (err)
			falcon_udp_net_exit(fn);
		else
			WRITE_ONCE(fn->ports, true);
	}
	mutex_unlock(&falcon_ports_mutex);
	return err;
}

/**
 * falcon_cm_change_port() - net.falcon.cm_port was written
 * @fn:		namespace
 * @port:	the new port
 *
 * Set-ups in progress go on with the port of the peer that they know. Without its
 * ports (falcon_cm_ports()) a namespace takes note of the new one.
 *
 * Context: Process, may sleep. Serialises itself.
 * Return: 0; or -EADDRINUSE and others: nothing has changed.
 */
int falcon_cm_change_port(struct falcon_net *fn, u16 port)
{
	int err = 0;

	mutex_lock(&falcon_ports_mutex);
	if (fn->ports && port != fn->sysctl.cm_port)
		err = falcon_cm_set_port(fn->cm, port);
	if (!err)
		WRITE_ONCE(fn->sysctl.cm_port, port);
	mutex_unlock(&falcon_ports_mutex);
	return err;
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

	spin_lock_bh(&cm->lock);
	cm->dead = true;
	spin_unlock_bh(&cm->lock);
	falcon_cm_drop_listeners(cm);
	falcon_cm_flush_queue(cm);
	falcon_cm_drop_rekeys(cm);
	falcon_cm_drop_setups(cm);
	falcon_cm_close_port(cm);
	cm_free_queues(cm);
	falcon_cm_psk_net_exit(fn);
	WRITE_ONCE(fn->cm, NULL);
	kvfree_rcu(cm, rcu);
}

/**
 * falcon_cm_init() - once, before any netns
 *
 * Context: Process.
 * Return: 0 or -EEXIST.
 */
int falcon_cm_init(void)
{
	return falcon_cm_psk_init();
}

/**
 * falcon_cm_exit() - after the last netns
 *
 * Context: Process, may sleep.
 */
void falcon_cm_exit(void)
{
	falcon_cm_psk_exit();
}
