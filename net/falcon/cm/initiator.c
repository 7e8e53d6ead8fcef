// SPDX-License-Identifier: GPL-2.0
/*
 * The initiator of a connection: INIT, the cookie, ACCEPT and CONFIRM. Its
 * state is gone once it has an answer; an ACCEPT that comes again is known by
 * the connection that the first one made. ULPs connect from process context,
 * cm.c brings messages in softirq.
 */
#include <linux/random.h>
#include <linux/slab.h>

#include "cm/cm.h"

static void cm_fill_private(const struct falcon_cm_params *p,
			    struct falcon_cm_msg *m)
{
	if (!p->priv_len)
		return;
	m->present |= FALCON_CM_HAS_PRIVATE;
	m->priv = p->priv;
	m->priv_len = p->priv_len;
}

static int cm_build_init(struct falcon_cm_setup *s, struct falcon_conn *conn,
			 const struct falcon_cm_params *p)
{
	struct falcon_cm_msg m = {
		.type = FALCON_CM_INIT,
		.nonce = s->nonce,
		.service = p->service,
		.src_service = p->src_service,
		.proto = p->proto,
	};
	int err;

	falcon_cm_fill_cfg(s->cm->fn, p, &s->cfg);
	err = falcon_cm_fill_offer(conn, p, &s->cfg, &m);
	if (err)
		return err;
	m.present |= FALCON_CM_HAS_SERVICE;
	cm_fill_private(p, &m);
	err = falcon_cm_sec_offer(conn, p, s->nonce, &m);
	if (err)
		return err;
	return falcon_cm_set_msg(s, &m);
}

/**
 * falcon_cm_connect() - set up a connection
 * @fn:		namespace
 * @params:	what is asked for; copied
 * @ulp:	upper layer protocol
 * @ulp_priv:	its own
 *
 * The ULP's event call gets FALCON_EV_ESTABLISHED, or FALCON_EV_FAILED with
 * -ECONNREFUSED, -EKEYREJECTED, -ETIMEDOUT, -ENETDOWN (the namespace goes away)
 * or what else falcon_cm_reason_errno() gives. That can be before this returns.
 *
 * Context: Process, may sleep.
 * Return: the connection, with the ULP's reference for falcon_conn_close(); or
 * an error: no route, no memory, a bound reached, -EMSGSIZE (private data),
 * -EADDRINUSE (somebody else has Falcon's UDP ports). Then the ULP hears of nothing.
 */
struct falcon_conn *falcon_cm_connect(struct falcon_net *fn,
				      const struct falcon_cm_params *params,
				      const struct falcon_ulp_ops *ulp,
				      void *ulp_priv)
{
	struct falcon_path path = params->path;
	struct falcon_conn *conn;
	struct falcon_cm_setup *s;
	int err;

	if (!fn->cm)
		return ERR_PTR(-ENETDOWN);
	if (params->priv_len > FALCON_CM_PRIV_MAX)
		return ERR_PTR(-EMSGSIZE);
	err = falcon_cm_ports(fn);
	if (!err)
		err = falcon_path_route(fn->net, &path);
	if (err)
		return ERR_PTR(err);
	s = falcon_cm_alloc(fn->cm, FALCON_CM_INITIATOR, get_random_u64());
	if (!s)
		return ERR_PTR(-ENOMEM);
	conn = falcon_conn_alloc(fn, &path, ulp, ulp_priv, GFP_KERNEL);
	if (!IS_ERR(conn)) {
		conn->service = params->src_service;
		conn->peer_service = params->service;
		falcon_cm_set_addr(s, conn, htons(fn->sysctl.cm_port));
		if (params->max_tries)
			s->max_tries = params->max_tries - 1;
		err = cm_build_init(s, conn, params);
		if (err)
			falcon_conn_fail(conn, err);
		else
			falcon_cm_begin(s, conn, FALCON_CM_INIT_SENT);
	}
	falcon_cm_put(s);
	return conn;
}

/**
 * falcon_cm_rx_cookie() - the responder wants to see that we receive
 * @s:	set-up
 * @m:	COOKIE
 */
void falcon_cm_rx_cookie(struct falcon_cm_setup *s,
			 const struct falcon_cm_msg *m)
{
	struct sk_buff *skb = NULL;

	spin_lock_bh(&s->lock);
	if (s->conn) {
		s->len = falcon_cm_append_cookie(s->msg, s->body_len,
						 m->cookie);
		/* A second one comes when the first has become too old: use it
		 * at the next try, or a lost peer could make us send for ever.
		 */
		if (s->state == FALCON_CM_INIT_SENT) {
			s->state = FALCON_CM_COOKIE_SENT;
			s->tries = 0;
			skb = falcon_cm_next_try(s);
		}
	}
	spin_unlock_bh(&s->lock);
	falcon_cm_xmit_setup(s, skb);
}

static void cm_confirm(struct falcon_cm *cm, const struct falcon_cm_peer *peer,
		       const struct falcon_conn *conn,
		       const struct falcon_cm_msg *accept)
{
	const struct falcon_cm_msg m = {
		.type = FALCON_CM_CONFIRM,
		.present = FALCON_CM_HAS_ECHO,
		.nonce = accept->nonce,
		.echo_cid = accept->cid,
		.echo_pcid = accept->pcid,
	};
	struct sk_buff *skb;

	if (!conn->cm_sec) {
		falcon_cm_send(cm, peer, &m);
		return;
	}
	skb = falcon_cm_skb();
	if (!skb)
		return;
	skb_put_data(skb, conn->cm_sec->confirm, conn->cm_sec->confirm_len);
	falcon_cm_xmit(cm, peer, skb);
}

/* CONFIRM leaves before any data. @conn is what falcon_cm_settle() returned. */
static void cm_accepted(struct falcon_cm_setup *s, struct falcon_conn *conn,
			const struct falcon_cm_msg *own,
			const struct falcon_cm_msg *m)
{
	int err;

	falcon_cm_disarm(s);
	falcon_cm_agree(&s->cfg, own, m);
	s->peer_pcid = m->pcid;
	falcon_cm_set_peer(conn, m, m->versions[0]);
	cm_confirm(s->cm, &s->peer, conn, m);
	falcon_cm_forget(s);
	falcon_cm_detach(s, conn);
	falcon_conn_get(conn);
	err = falcon_cm_start(s, conn);
	if (err)
		falcon_cm_reset(s, conn, falcon_cm_errno_reason(err), 0);
	falcon_conn_put(conn);
}

/* An ACCEPT with encryption and the INIT that it answers, for the work */
static void cm_keep_answer(struct falcon_cm_setup *s,
			   const struct falcon_cm_msg *own, const void *buf,
			   unsigned int len)
{
	struct falcon_cm_answer *a;

	lockdep_assert_held(&s->lock);
	if (s->answer)
		return;
	a = kmalloc(sizeof(*a), GFP_ATOMIC | __GFP_NOWARN);
	if (!a)
		return;
	a->init_len = s->len;
	a->init_body_len = own->body_len;
	a->len = len;
	memcpy(a->init, s->msg, s->len);
	memcpy(a->msg, buf, len);
	s->answer = a;
	falcon_cm_queue(s);
}

/* The ACCEPT is not what the INIT asked for, or not from who it should be. */
static void cm_not_accepted(struct falcon_cm_setup *s,
			    const struct falcon_cm_msg *m, int err,
			    enum falcon_cm_reason reason, u16 detail)
{
	spin_lock_bh(&s->lock);
	if (s->conn) {
		s->cfg.peer_cid = m->cid;
		s->peer_pcid = m->pcid;
	}
	spin_unlock_bh(&s->lock);
	if (falcon_cm_fail_tell(s, err, reason, detail))
		falcon_cm_count_reason(s->cm->fn, reason);
}

/**
 * falcon_cm_rx_accept() - the responder says yes
 * @s:		set-up
 * @m:		ACCEPT
 * @buf:	its bytes
 * @len:	how many they are
 *
 * With encryption the work of @s goes on from here.
 *
 * Context: Softirq. Calls the ULP.
 */
void falcon_cm_rx_accept(struct falcon_cm_setup *s,
			 const struct falcon_cm_msg *m, const void *buf,
			 unsigned int len)
{
	struct falcon_conn *conn = NULL;
	struct falcon_cm_msg own;
	u16 wrong = 0;

	spin_lock_bh(&s->lock);
	if (s->state == FALCON_CM_COOKIE_SENT) {
		falcon_cm_parse(s->msg, s->len, &own);
		wrong = falcon_cm_check_answer(&own, m);
		if (!wrong && falcon_cm_encrypted(m))
			cm_keep_answer(s, &own, buf, len);
		else if (!wrong)
			conn = falcon_cm_settle(s, FALCON_CM_GONE);
	}
	spin_unlock_bh(&s->lock);
	if (wrong)
		cm_not_accepted(s, m, -EPROTO, FALCON_CM_BAD_PARAM, wrong);
	if (conn)
		cm_accepted(s, conn, &own, m);
}

/* The connection while it is being set up, with a reference; or NULL */
static struct falcon_conn *cm_setup_conn(struct falcon_cm_setup *s)
{
	struct falcon_conn *conn;

	spin_lock_bh(&s->lock);
	conn = s->conn;
	if (conn)
		falcon_conn_get(conn);
	spin_unlock_bh(&s->lock);
	return conn;
}

static void cm_judge_accept(struct falcon_cm_setup *s, struct falcon_conn *conn,
			    const struct falcon_cm_answer *a)
{
	struct falcon_cm_msg own, m;
	struct falcon_conn *mine;
	int err;

	falcon_cm_parse(a->init, a->init_len, &own);
	falcon_cm_parse(a->msg, a->len, &m);
	err = falcon_cm_sec_accepted(conn, a->init, a->init_body_len, a->msg,
				     &m);
	if (err) {
		cm_not_accepted(s, &m, err, err == -EKEYREJECTED ?
				FALCON_CM_BAD_KEY : falcon_cm_errno_reason(err),
				0);
		return;
	}
	spin_lock_bh(&s->lock);
	mine = falcon_cm_settle(s, FALCON_CM_GONE);
	spin_unlock_bh(&s->lock);
	if (mine)
		cm_accepted(s, mine, &own, &m);
}

/**
 * falcon_cm_work_accept() - judge an ACCEPT with encryption, which takes long
 * @s:	set-up whose ACCEPT is in ->answer
 *
 * Once only: whoever wrote an ACCEPT that is wrong has seen the nonce, and could
 * end the set-up by a REFUSE as well.
 *
 * Context: Process, may sleep. Calls the ULP.
 */
void falcon_cm_work_accept(struct falcon_cm_setup *s)
{
	struct falcon_conn *conn = cm_setup_conn(s);

	if (conn) {
		cm_judge_accept(s, conn, s->answer);
		falcon_conn_put(conn);
	}
	kfree(s->answer);
}

/**
 * falcon_cm_rx_accept_again() - ACCEPT of a set-up that is over
 * @cm:		connection manager
 * @peer:	the responder
 * @m:		ACCEPT: our CONFIRM was lost, or this is a duplicate
 */
void falcon_cm_rx_accept_again(struct falcon_cm *cm,
			       const struct falcon_cm_peer *peer,
			       const struct falcon_cm_msg *m)
{
	struct falcon_conn *conn = falcon_cm_find_conn(cm, peer, m);
	bool ours;

	if (!conn) {
		FALCON_INC(cm->fn, CM_BAD_NONCE);
		return;
	}
	if (conn->cm_sec) {
		ours = falcon_cm_sec_is_accept(conn, m);
	} else {
		spin_lock_bh(&conn->lock);
		ours = conn->tx_sa.pcid == m->pcid &&
		       conn->tx_sa.spi == m->spi;
		spin_unlock_bh(&conn->lock);
	}
	if (ours)
		cm_confirm(cm, peer, conn, m);
	else
		FALCON_INC(cm->fn, CM_BAD_NONCE);
	falcon_conn_put(conn);
}

/**
 * falcon_cm_rx_refuse() - the responder says no
 * @s:	set-up
 * @m:	REFUSE
 *
 * Context: Softirq. Calls the ULP.
 */
void falcon_cm_rx_refuse(struct falcon_cm_setup *s,
			 const struct falcon_cm_msg *m)
{
	if (!falcon_cm_fail(s, falcon_cm_reason_errno(m->reason)))
		return;
	FALCON_INC(s->cm->fn, CM_REFUSED_IN);
	falcon_cm_count_reason(s->cm->fn, m->reason);
}
