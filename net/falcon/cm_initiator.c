// SPDX-License-Identifier: GPL-2.0
/*
 * The initiator of a connection: INIT, the cookie, ACCEPT and CONFIRM. Its
 * state is gone once it has an answer; an ACCEPT that comes again is known by
 * the connection that the first one made. ULPs connect from process context,
 * cm.c brings messages in softirq.
 */
#include <linux/random.h>

#include "cm.h"

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
		.nr_versions = 1,
		.versions = { FALCON_PSP_VER_NONE },
	};
	int err;

	falcon_cm_fill_cfg(s->cm->fn, p, &s->cfg);
	err = falcon_cm_fill_offer(conn, p, &s->cfg, &m);
	if (err)
		return err;
	m.present |= FALCON_CM_HAS_SERVICE;
	cm_fill_private(p, &m);
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
	struct falcon_cm_setup *s;
	int err;

	if (!fn->cm)
		return ERR_PTR(-ENETDOWN);
	if (params->priv_len > FALCON_CM_PRIV_MAX)
		return ERR_PTR(-EMSGSIZE);
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
		       const struct falcon_cm_msg *accept)
{
	const struct falcon_cm_msg m = {
		.type = FALCON_CM_CONFIRM,
		.present = FALCON_CM_HAS_ECHO,
		.nonce = accept->nonce,
		.echo_cid = accept->cid,
		.echo_pcid = accept->pcid,
	};

	falcon_cm_send(cm, peer, &m);
}

/**
 * falcon_cm_rx_accept() - the responder says yes
 * @s:		set-up
 * @peer:	the responder
 * @m:		ACCEPT
 *
 * CONFIRM leaves before any data.
 *
 * Context: Softirq. Calls the ULP.
 */
void falcon_cm_rx_accept(struct falcon_cm_setup *s,
			 const struct falcon_cm_peer *peer,
			 const struct falcon_cm_msg *m)
{
	struct falcon_conn *conn = NULL;
	struct falcon_cm *cm = s->cm;
	struct falcon_cm_msg own;
	u16 wrong = 0;
	int err;

	spin_lock_bh(&s->lock);
	if (s->state == FALCON_CM_COOKIE_SENT) {
		falcon_cm_parse(s->msg, s->len, &own);
		wrong = falcon_cm_check_answer(&own, m);
		if (!wrong)
			conn = falcon_cm_settle(s, FALCON_CM_GONE);
	}
	spin_unlock_bh(&s->lock);
	if (wrong && falcon_cm_fail(s, -EPROTO))
		falcon_cm_reset(cm, peer, m->nonce, FALCON_CM_BAD_PARAM,
				wrong, m->cid, m->pcid);
	if (!conn)
		return;

	falcon_cm_disarm(s);
	falcon_cm_agree(&s->cfg, &own, m);
	falcon_cm_set_peer(conn, m, m->versions[0]);
	cm_confirm(cm, peer, m);
	falcon_cm_forget(s);
	falcon_cm_detach(s, conn);
	err = falcon_cm_start(s, conn);
	if (err)
		falcon_cm_reset(cm, peer, m->nonce,
				falcon_cm_errno_reason(err), 0, m->cid,
				m->pcid);
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
	spin_lock_bh(&conn->lock);
	ours = conn->tx_sa.pcid == m->pcid && conn->tx_sa.spi == m->spi;
	spin_unlock_bh(&conn->lock);
	if (ours)
		cm_confirm(cm, peer, m);
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
	if (falcon_cm_fail(s, falcon_cm_reason_errno(m->reason)))
		FALCON_INC(s->cm->fn, CM_REFUSED_IN);
}
