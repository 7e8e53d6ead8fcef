// SPDX-License-Identifier: GPL-2.0
/*
 * The responder of a connection: COOKIE, the listener's word, ACCEPT, and the
 * wait for CONFIRM or data.
 *
 * An INIT is answered in softirq and leaves nothing behind: a flood costs a MAC
 * and a packet each. One whose cookie has come back waits in a bounded queue
 * for a worker, because listeners may sleep; nothing forged gets there.
 */
#include <linux/module.h>
#include <linux/slab.h>

#include "cm/cm.h"

/* What the policy said of a request */
struct cm_security {
	u8 policy;		/* FALCON_SECURITY_* */
	u8 version;		/* PSP version */
	struct falcon_cm_psk psk;
};

/* A request whose cookie was good, on its way to the worker; @host is half open
 * for it, until a set-up takes that over.
 */
struct cm_request {
	struct list_head list;
	struct falcon_host *host;
	struct falcon_cm_peer peer;
	u16 len;
	u8  msg[] __aligned(8);
};

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
	falcon_cm_send(cm, peer, &answer);
}

static bool cm_half_open_full(struct falcon_cm *cm)
{
	return atomic_read(&cm->half_open) >= cm->fn->sysctl.max_half_open;
}

static void cm_request_free(struct cm_request *req)
{
	if (req)
		falcon_host_settle(req->host);
	kfree(req);
}

static struct cm_request *cm_request_make(struct falcon_host *host,
					  const struct falcon_cm_peer *peer,
					  const void *msg, unsigned int len)
{
	struct cm_request *req;

	req = kmalloc(sizeof(*req) + len, GFP_ATOMIC | __GFP_NOWARN);
	if (!req)
		return NULL;
	req->host = host;
	req->peer = *peer;
	req->len = len;
	memcpy(req->msg, msg, len);
	return req;
}

/* Into the queue, if there is room; false: @req is still the caller's. */
static bool cm_request_queue(struct falcon_cm *cm, struct cm_request *req)
{
	bool queued;

	spin_lock_bh(&cm->lock);
	queued = !cm->dead && cm->nr_queued < cm->fn->sysctl.max_half_open;
	if (queued) {
		list_add_tail(&req->list, &cm->queue);
		cm->nr_queued++;
	}
	spin_unlock_bh(&cm->lock);
	if (queued)
		queue_work(cm->wq, &cm->work);
	return queued;
}

/* A verified request waits for the worker, if there is room. */
static void cm_enqueue(struct falcon_cm *cm, const struct falcon_cm_peer *peer,
		       const void *msg, unsigned int len)
{
	struct falcon_host *host;
	struct cm_request *req;

	if (cm_half_open_full(cm)) {
		FALCON_INC(cm->fn, CM_LIMIT);
		return;
	}
	host = falcon_host_open(cm->fn, &peer->path.daddr);
	if (!host)
		return;
	req = cm_request_make(host, peer, msg, len);
	if (!req)
		falcon_host_settle(host);
	if (req && cm_request_queue(cm, req))
		return;
	cm_request_free(req);
	FALCON_INC(cm->fn, CM_LIMIT);
}

/* The same INIT again: ACCEPT was lost, or is on its way. */
static void cm_accept_again(struct falcon_cm_setup *s)
{
	struct sk_buff *skb = NULL;

	spin_lock_bh(&s->lock);
	if (s->conn)
		skb = falcon_cm_skb();
	if (skb)
		skb_put_data(skb, s->msg, s->len);
	spin_unlock_bh(&s->lock);
	falcon_cm_xmit_setup(s, skb);
	falcon_cm_put(s);
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

/* Somebody who receives at his address asks, perhaps not for the first time. */
static void cm_rx_proven_init(struct falcon_cm *cm,
			      const struct falcon_cm_peer *peer,
			      const struct falcon_cm_msg *m, const void *init,
			      unsigned int len)
{
	struct falcon_cm_setup *s;

	if (!falcon_host_charge(cm->fn, &peer->path.daddr))
		return;
	s = falcon_cm_find(cm, FALCON_CM_RESPONDER, m->nonce, peer);
	if (s)
		cm_accept_again(s);
	else
		cm_enqueue(cm, peer, init, len);
}

/**
 * falcon_cm_rx_init() - somebody asks for a connection
 * @cm:		connection manager
 * @peer:	who
 * @m:		INIT
 * @init:	its bytes, which the cookie signs
 * @len:	how many they are
 *
 * From another port than that of connection managers it could be of any process
 * of the host, which is not to speak for its kernel.
 *
 * Context: Softirq.
 */
void falcon_cm_rx_init(struct falcon_cm *cm, const struct falcon_cm_peer *peer,
		       const struct falcon_cm_msg *m, const void *init,
		       unsigned int len)
{
	if (peer->port != htons(READ_ONCE(cm->fn->sysctl.cm_port))) {
		FALCON_INC(cm->fn, CM_BAD_PORT);
		return;
	}
	if (m->cookie) {
		if (falcon_cm_cookie_valid(cm, peer, init, m->body_len,
					   m->cookie)) {
			cm_rx_proven_init(cm, peer, m, init, len);
			return;
		}
		FALCON_INC(cm->fn, CM_BAD_COOKIE);
	}
	if (cm_has_listener(cm, peer, m))
		cm_send_cookie(cm, peer, init, m);
	else
		falcon_cm_refuse(cm, peer, m->nonce, FALCON_CM_NO_SERVICE, 0);
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
		.loss = FALCON_CM_BY_SYSCTL,
		.max_mtu = m->mtu,
		.priv = m->priv,
		.priv_len = m->priv_len,
	};
	memcpy(p->credits, m->credits, sizeof(p->credits));
}

static int cm_build_accept(struct falcon_cm_setup *s, struct falcon_conn *conn,
			   const struct falcon_cm_params *p,
			   const struct falcon_cm_msg *init, const void *bytes,
			   const struct cm_security *sec)
{
	bool encrypted = sec->version != FALCON_PSP_VER_NONE;
	struct falcon_cm_msg m = {
		.type = FALCON_CM_ACCEPT,
		.nonce = s->nonce,
		.echo_cid = init->cid,
		.echo_pcid = init->pcid,
		.nr_versions = 1,
		.versions = { sec->version },
	};
	int err;

	falcon_cm_fill_cfg(s->cm->fn, p, &s->cfg);
	err = falcon_cm_fill_offer(conn, p, &s->cfg, &m);
	if (err)
		return err;
	m.present |= FALCON_CM_HAS_ECHO;
	falcon_cm_reduce(&m, init);
	falcon_cm_agree(&s->cfg, &m, init);
	s->own_pcid = m.pcid;
	s->peer_pcid = init->pcid;
	if (encrypted)
		err = falcon_cm_sec_answer(conn, sec->policy, &sec->psk, &m);
	if (!err)
		err = falcon_cm_set_msg(s, &m);
	if (!err && encrypted)
		err = falcon_cm_sec_seal(conn, bytes, init, s->msg, s->len);
	return err;
}

/* A ULP's module that is going takes nothing more; else @conn will hold it. */
static int cm_request_ulp(struct falcon_listener *l, struct falcon_conn *conn,
			  struct falcon_cm_params *p)
{
	const struct falcon_ulp_ops *ulp;
	void *ulp_priv;
	int err;

	if (!try_module_get(l->owner))
		return -ECONNREFUSED;
	err = l->request(l, conn, p, &ulp, &ulp_priv);
	if (!err)
		err = falcon_conn_accept(conn, ulp, ulp_priv);
	module_put(l->owner);
	return err;
}

/* Asks the listener, and answers. 0, or why not: -EAGAIN is silence. */
static int cm_ask_listener(struct falcon_cm *cm, struct falcon_listener *l,
			   struct cm_request *req,
			   const struct falcon_cm_msg *m,
			   const struct cm_security *sec)
{
	struct falcon_cm_params p;
	struct falcon_conn *conn;
	struct falcon_path path;
	struct falcon_cm_setup *s;
	int err;

	cm_responder_path(l, &req->peer, &path);
	if (falcon_path_route(cm->fn->net, &path))
		return -EAGAIN;
	s = falcon_cm_alloc(cm, FALCON_CM_RESPONDER, m->nonce);
	if (!s)
		return -ENOMEM;
	conn = falcon_conn_alloc(cm->fn, &path, NULL, NULL, GFP_KERNEL);
	err = PTR_ERR_OR_ZERO(conn);
	if (err)
		goto out;

	/* The ULP may let go as soon as it knows of it. */
	falcon_conn_get(conn);
	conn->service = m->service;
	conn->peer_service = m->src_service;
	falcon_cm_set_peer(conn, m, sec->version);
	cm_fill_request(m, &conn->path, &p);
	err = falcon_host_join(req->host, conn);
	if (!err)
		err = cm_request_ulp(l, conn, &p);
	if (err) {
		falcon_conn_close(conn);
		goto put;
	}
	falcon_cm_set_addr(s, conn, req->peer.port);
	err = cm_build_accept(s, conn, &p, m, req->msg, sec);
	if (err) {
		falcon_conn_fail(conn, err);
		goto put;
	}
	atomic_inc(&cm->half_open);
	s->host = req->host;
	req->host = NULL;
	falcon_cm_begin(s, conn, FALCON_CM_ACCEPT_SENT);
put:
	if (p.fae)
		falcon_fae_put(p.fae);
	falcon_conn_put(conn);
out:
	falcon_cm_put(s);
	return err;
}

static void cm_accept_for(struct falcon_cm *cm, struct falcon_listener *l,
			  struct cm_request *req,
			  const struct falcon_cm_msg *m)
{
	const struct falcon_cm_peer *peer = &req->peer;
	struct cm_security sec = {};
	int err;

	err = falcon_cm_policy_in(l, cm->fn, &peer->path.daddr, m, &sec.psk,
				  &sec.version);
	if (err < 0) {
		falcon_cm_count_reason(cm->fn, -err);
		falcon_cm_refuse(cm, peer, m->nonce, -err, 0);
		goto out;
	}
	sec.policy = err;
	err = cm_ask_listener(cm, l, req, m, &sec);
	if (err == -EAGAIN)
		FALCON_INC(cm->fn, CM_BACKLOG);
	else if (err)
		falcon_cm_refuse(cm, peer, m->nonce,
				 falcon_cm_errno_reason(err), 0);
out:
	memzero_explicit(&sec, sizeof(sec));
}

static void cm_accept(struct falcon_cm *cm, struct cm_request *req,
		      const struct falcon_cm_msg *m)
{
	const struct falcon_cm_peer *peer = &req->peer;
	struct falcon_listener *l;

	if (cm_half_open_full(cm)) {
		FALCON_INC(cm->fn, CM_LIMIT);
		return;
	}
	l = falcon_cm_find_listener(cm, peer, m->proto, m->service, m->nonce);
	if (!l) {
		falcon_cm_refuse(cm, peer, m->nonce, FALCON_CM_NO_SERVICE, 0);
		return;
	}
	cm_accept_for(cm, l, req, m);
	falcon_cm_put_listener(l);
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

/**
 * falcon_cm_work() - ask listeners about verified requests
 * @work:	of struct falcon_cm
 */
void falcon_cm_work(struct work_struct *work)
{
	struct falcon_cm *cm = container_of(work, struct falcon_cm, work);
	struct cm_request *req;
	struct falcon_cm_msg m;
	struct falcon_cm_setup *s;

	while ((req = cm_dequeue(cm))) {
		/* It has parsed before. */
		falcon_cm_parse(req->msg, req->len, &m);
		s = falcon_cm_find(cm, FALCON_CM_RESPONDER, m.nonce,
				   &req->peer);
		if (s)
			cm_accept_again(s);
		else
			cm_accept(cm, req, &m);
		cm_request_free(req);
		cond_resched();
	}
}

/**
 * falcon_cm_flush_queue() - the netns goes away: nobody is asked any more
 * @cm:	connection manager, dead
 *
 * Context: Process, may sleep.
 */
void falcon_cm_flush_queue(struct falcon_cm *cm)
{
	struct cm_request *req;

	cancel_work_sync(&cm->work);
	while ((req = cm_dequeue(cm)))
		cm_request_free(req);
}

/* The responder knows that ACCEPT has arrived: by CONFIRM, or by data. */
static void cm_confirmed(struct falcon_cm_setup *s)
{
	struct falcon_conn *conn;

	spin_lock_bh(&s->lock);
	conn = falcon_cm_settle(s, FALCON_CM_DONE);
	if (conn)
		falcon_cm_arm(s, (FALCON_CM_COOKIE_LIFE + 1) * HZ);
	spin_unlock_bh(&s->lock);
	if (!conn)
		return;
	falcon_cm_detach(s, conn);
	falcon_cm_start(s, conn);
}

/**
 * falcon_cm_confirmed() - the peer has sent data: it has got our ACCEPT
 * @conn:	in state FALCON_CONN_SETUP; the packet passed the acceptance
 *		checks of 9.2.2
 *
 * The connection is established when this returns, unless it failed or another
 * CPU is about to. Nothing happens for an initiator, which is established by the
 * ACCEPT only, nor with encryption: there CONFIRM brings the key to answer with.
 *
 * Context: Softirq or process, without the connection lock.
 */
void falcon_cm_confirmed(struct falcon_conn *conn)
{
	struct falcon_cm_setup *s;

	rcu_read_lock();
	s = READ_ONCE(conn->cm_priv);
	if (s && !refcount_inc_not_zero(&s->refs))
		s = NULL;
	rcu_read_unlock();
	if (!s)
		return;
	if (s->role == FALCON_CM_RESPONDER && !conn->cm_sec)
		cm_confirmed(s);
	falcon_cm_put(s);
}

/* What CONFIRM grants is for the work to install. */
static void cm_rx_confirm_keys(struct falcon_cm_setup *s,
			       const struct falcon_cm_msg *m, const void *buf)
{
	struct falcon_psp_grant grant = {};
	bool first = false, bad = false;

	spin_lock_bh(&s->lock);
	if (s->conn && !s->grant.spi) {
		first = falcon_cm_sec_confirmed(s->conn, buf, m, &grant);
		bad = !first;
	}
	if (first) {
		s->grant = grant;
		falcon_cm_queue(s);
	}
	spin_unlock_bh(&s->lock);
	memzero_explicit(&grant, sizeof(grant));
	if (bad)
		FALCON_INC(s->cm->fn, CM_BAD_AUTH);
}

/**
 * falcon_cm_work_confirm() - packets can go out once the key is installed
 * @s:	set-up with a grant
 *
 * Context: Process, may sleep. Calls the ULP.
 */
void falcon_cm_work_confirm(struct falcon_cm_setup *s)
{
	struct falcon_conn *conn;
	int err;

	spin_lock_bh(&s->lock);
	conn = s->conn;
	if (conn)
		falcon_conn_get(conn);
	spin_unlock_bh(&s->lock);
	if (!conn)
		return;
	err = falcon_psp_tx_install(conn, &s->grant);
	/* Its SPI says that there has been one. */
	memzero_explicit(s->grant.key, sizeof(s->grant.key));
	if (err)
		falcon_cm_fail_tell(s, err, falcon_cm_errno_reason(err), 0);
	else
		cm_confirmed(s);
	falcon_conn_put(conn);
}

/**
 * falcon_cm_rx_confirm() - the initiator has got our ACCEPT
 * @s:		set-up
 * @m:		CONFIRM
 * @buf:	its bytes
 *
 * With encryption the work of @s goes on from here.
 *
 * Context: Softirq. Calls the ULP.
 */
void falcon_cm_rx_confirm(struct falcon_cm_setup *s,
			  const struct falcon_cm_msg *m, const void *buf)
{
	bool encrypted;

	if (m->echo_cid != s->cfg.cid || m->echo_pcid != s->own_pcid) {
		FALCON_INC(s->cm->fn, CM_BAD_NONCE);
		return;
	}
	spin_lock_bh(&s->lock);
	encrypted = s->conn && s->conn->cm_sec;
	spin_unlock_bh(&s->lock);
	if (encrypted)
		cm_rx_confirm_keys(s, m, buf);
	else
		cm_confirmed(s);
}
