// SPDX-License-Identifier: GPL-2.0
/*
 * What a ULP calls: connect; push and pull as initiator, ack, RNR, NACK and
 * respond as target (section 8, include/net/falcon.h). Listening is in
 * cm/listener.c, closing in conn/conn.c.
 *
 * Each call of a transaction takes the connection lock, tells core, and carries
 * the effects out unless somebody is at it: so ULP call-backs may run inside
 * these calls.
 */
#include <linux/export.h>
#include <net/ipv6.h>
#include "falcon.h"

/**
 * falcon_path_set_peer - where to connect, from a socket address
 * @path:	@family, @daddr and, for a link-local peer, @scope_id and @oif
 *		are set; the rest is left alone
 * @addr:	IPv4 or IPv6; a v4-mapped address means IPv4. Its port is not
 *		looked at
 *
 * Context: any.
 * Return: 0; -EAFNOSUPPORT; -EINVAL: link-local without a scope.
 */
int falcon_path_set_peer(struct falcon_path *path,
			 const struct sockaddr_storage *addr)
{
	const struct sockaddr_in *in = (const void *)addr;
	const struct sockaddr_in6 *in6 = (const void *)addr;

	if (addr->ss_family == AF_INET) {
		path->family = AF_INET;
		ipv6_addr_set_v4mapped(in->sin_addr.s_addr, &path->daddr);
		return 0;
	}
	if (addr->ss_family != AF_INET6)
		return -EAFNOSUPPORT;
	path->daddr = in6->sin6_addr;
	path->family = ipv6_addr_v4mapped(&path->daddr) ? AF_INET : AF_INET6;
	if (ipv6_addr_type(&path->daddr) & IPV6_ADDR_LINKLOCAL) {
		if (!in6->sin6_scope_id)
			return -EINVAL;
		path->scope_id = in6->sin6_scope_id;
		path->oif = in6->sin6_scope_id;
	}
	return 0;
}
EXPORT_SYMBOL_GPL(falcon_path_set_peer);

/**
 * falcon_connect - set up a connection
 * @net:	namespace, which must not end during the call. The connection
 *		holds no reference: when @net ends it is aborted with -ENETDOWN
 * @params:	what is asked for; copied
 * @ulp:	upper layer; its module is held until the connection is freed
 * @ulp_priv:	for falcon_conn_priv()
 *
 * The ULP's event call gets FALCON_EV_ESTABLISHED, or FALCON_EV_FAILED with
 * -ECONNREFUSED, -ETIMEDOUT, -ENETDOWN or another errno; perhaps before the
 * return. falcon_conn_close() is due in every case, once.
 *
 * Context: process, may sleep. ULP call-backs may run before it returns.
 * Return: the connection; or a negative errno as a pointer, and the ULP hears
 * nothing: -EINVAL: @params do not fit @ulp; -EMSGSIZE: private data;
 * -ENOBUFS: net.falcon.max_conns; -ENODEV: the ULP's module is going;
 * -ENETDOWN; -ENOMEM; no route.
 */
struct falcon_conn *falcon_connect(struct net *net,
				   const struct falcon_cm_params *params,
				   const struct falcon_ulp_ops *ulp,
				   void *ulp_priv)
{
	if (params->proto != ulp->proto ||
	    params->proto < FALCON_PROTO_RDMA ||
	    params->proto > FALCON_PROTO_SOCK ||
	    params->nr_flows > FALCON_MAX_FLOWS)
		return ERR_PTR(-EINVAL);
	return falcon_cm_connect(falcon_net(net), params, ulp, ulp_priv);
}
EXPORT_SYMBOL_GPL(falcon_connect);

/**
 * falcon_conn_priv - what the ULP gave with the connection
 * @conn:	connection that has a ULP
 *
 * Context: any.
 * Return: @ulp_priv of falcon_connect(), or of the listener's request call.
 */
void *falcon_conn_priv(const struct falcon_conn *conn)
{
	return conn->ulp_priv;
}
EXPORT_SYMBOL_GPL(falcon_conn_priv);

/**
 * falcon_conn_net - the namespace of a connection
 * @conn:	connection, referenced
 *
 * Context: any.
 * Return: the namespace; it does not end before @conn is freed.
 */
struct net *falcon_conn_net(const struct falcon_conn *conn)
{
	return conn->fn->net;
}
EXPORT_SYMBOL_GPL(falcon_conn_net);

/**
 * falcon_conn_path - the addresses of a connection
 * @conn:	connection
 * @path:	written whole; ->saddr is what routing chose
 *
 * Context: any.
 */
void falcon_conn_path(const struct falcon_conn *conn, struct falcon_path *path)
{
	*path = conn->path;
}
EXPORT_SYMBOL_GPL(falcon_conn_path);

static void falcon_ulp_lock(struct falcon_conn *conn)
	__acquires(&conn->lock)
{
	spin_lock_bh(&conn->lock);
}

/* Carries out what the call has caused, and unlocks. */
static void falcon_ulp_unlock(struct falcon_conn *conn)
	__releases(&conn->lock)
{
	falcon_conn_drain(conn);
	spin_unlock_bh(&conn->lock);
}

/* Only an established connection takes new transactions. */
static int falcon_ulp_check(struct falcon_conn *conn)
{
	if (conn->state == FALCON_CONN_ESTABLISHED)
		return 0;
	return conn->err ?: -ENOTCONN;
}

/* A ULP refused for resources is told when to come back. */
static int falcon_ulp_submitted(struct falcon_conn *conn, int err)
{
	if (err == -EAGAIN || err == -ENOBUFS)
		conn->flags |= FALCON_CONN_WANT_SPACE;
	return err;
}

static int falcon_ulp_push(struct falcon_conn *conn, struct falcon_txn *txn,
			   struct sk_buff *payload)
{
	int err = falcon_ulp_check(conn);

	if (err)
		return err;
	if (payload->len > conn->core.cfg.mtu)
		return -EMSGSIZE;
	err = falcon_core_push(&conn->core, txn, payload, payload->len,
			       ktime_get_ns());
	return falcon_ulp_submitted(conn, err);
}

/**
 * falcon_push - start a push transaction (8.4.3.3)
 * @conn:	connection
 * @txn:	the ULP's, until its complete call
 * @payload:	ULP header and data, at most falcon_mtu() bytes; the ULP's, and
 *		unchanged until the complete call
 *
 * Context: process or softirq. ULP call-backs may run before it returns.
 * Return: 0 if @txn will complete. -EAGAIN or -ENOBUFS: resources, an event
 * FALCON_EV_TX_SPACE follows. -EMSGSIZE: larger than the MTU of the
 * connection. -ENOTCONN or why the connection died.
 */
int falcon_push(struct falcon_conn *conn, struct falcon_txn *txn,
		struct sk_buff *payload)
{
	int err;

	falcon_ulp_lock(conn);
	err = falcon_ulp_push(conn, txn, payload);
	falcon_ulp_unlock(conn);
	return err;
}
EXPORT_SYMBOL_GPL(falcon_push);

/**
 * falcon_push_more - falcon_push(), but more will follow at once
 * @conn: connection
 * @txn:	as in falcon_push()
 * @payload:	as in falcon_push()
 *
 * Nothing is transmitted before the next falcon_push() or falcon_flush(),
 * so that packets can leave as one train.
 *
 * Context: process or softirq. No call-back runs inside.
 * Return: as falcon_push().
 */
int falcon_push_more(struct falcon_conn *conn, struct falcon_txn *txn,
		     struct sk_buff *payload)
{
	int err;

	falcon_ulp_lock(conn);
	err = falcon_ulp_push(conn, txn, payload);
	spin_unlock_bh(&conn->lock);
	return err;
}
EXPORT_SYMBOL_GPL(falcon_push_more);

/**
 * falcon_flush - transmit what push_more(), pull_more(), ack_more() queued
 * @conn:	connection
 *
 * Context: process or softirq. ULP call-backs may run before it returns.
 */
void falcon_flush(struct falcon_conn *conn)
{
	falcon_ulp_lock(conn);
	falcon_ulp_unlock(conn);
}
EXPORT_SYMBOL_GPL(falcon_flush);

/**
 * falcon_set_rate - let packets depart at no more than a rate
 * @conn:	connection
 * @bytes_per_s: of payload, ULP headers included; 0: no limit
 *
 * The NIC paces them. A connection begins without a limit.
 *
 * Context: process or softirq.
 */
void falcon_set_rate(struct falcon_conn *conn, u64 bytes_per_s)
{
	spin_lock_bh(&conn->lock);
	if (conn->established_ns)
		falcon_core_set_rate(&conn->core, bytes_per_s);
	spin_unlock_bh(&conn->lock);
}
EXPORT_SYMBOL_GPL(falcon_set_rate);

static int falcon_ulp_pull(struct falcon_conn *conn, struct falcon_txn *txn,
			   struct sk_buff *payload, u16 req_len)
{
	int err = falcon_ulp_check(conn);

	if (err)
		return err;
	if (max_t(u32, payload->len, req_len) > conn->core.cfg.mtu)
		return -EMSGSIZE;
	err = falcon_core_pull(&conn->core, txn, payload, payload->len,
			       req_len, ktime_get_ns());
	return falcon_ulp_submitted(conn, err);
}

/**
 * falcon_pull - start a pull transaction (8.4.3.1)
 * @conn:	connection
 * @txn:	the ULP's, until its complete call
 * @payload:	ULP header of the request
 * @req_len:	bytes of response asked for, ULP headers included
 *
 * Context: process or softirq. ULP call-backs may run before it returns.
 * Return: as falcon_push().
 */
int falcon_pull(struct falcon_conn *conn, struct falcon_txn *txn,
		struct sk_buff *payload, u16 req_len)
{
	int err;

	falcon_ulp_lock(conn);
	err = falcon_ulp_pull(conn, txn, payload, req_len);
	falcon_ulp_unlock(conn);
	return err;
}
EXPORT_SYMBOL_GPL(falcon_pull);

/**
 * falcon_pull_more - falcon_pull(), but more will follow at once
 * @conn:	connection
 * @txn:	as in falcon_pull()
 * @payload:	as in falcon_pull()
 * @req_len:	as in falcon_pull()
 *
 * Context: process or softirq. No call-back runs inside.
 * Return: as falcon_push().
 */
int falcon_pull_more(struct falcon_conn *conn, struct falcon_txn *txn,
		     struct sk_buff *payload, u16 req_len)
{
	int err;

	falcon_ulp_lock(conn);
	err = falcon_ulp_pull(conn, txn, payload, req_len);
	spin_unlock_bh(&conn->lock);
	return err;
}
EXPORT_SYMBOL_GPL(falcon_pull_more);

/**
 * falcon_target_ack - the target ULP took a push, or will answer a pull
 * @conn:	connection
 * @rx:		what was delivered. Of a push it is the ULP's alone from here
 *		on, with its skb
 *
 * Context: process or softirq. ULP call-backs may run before it returns.
 */
void falcon_target_ack(struct falcon_conn *conn, struct falcon_rxpkt *rx)
{
	falcon_ulp_lock(conn);
	falcon_core_target_ack(&conn->core, rx, ktime_get_ns());
	falcon_ulp_unlock(conn);
}
EXPORT_SYMBOL_GPL(falcon_target_ack);

/**
 * falcon_target_ack_more - falcon_target_ack(), but more will follow at once
 * @conn:	connection
 * @rx:		as in falcon_target_ack()
 *
 * No ACK leaves before the next falcon_target_ack() or falcon_flush(), so that
 * one can speak for all.
 *
 * Context: process or softirq. No call-back runs inside.
 */
void falcon_target_ack_more(struct falcon_conn *conn, struct falcon_rxpkt *rx)
{
	falcon_ulp_lock(conn);
	falcon_core_target_ack(&conn->core, rx, ktime_get_ns());
	spin_unlock_bh(&conn->lock);
}
EXPORT_SYMBOL_GPL(falcon_target_ack_more);

/**
 * falcon_target_rnr - the target ULP is not ready (8.5.3.4)
 * @conn:	connection
 * @rx:		what was delivered; goes back, with its skb
 * @rnr_timeout: code of 7.8, see falcon_rnr_code(): when to try again
 *
 * Context: process or softirq. ULP call-backs may run before it returns.
 */
void falcon_target_rnr(struct falcon_conn *conn, struct falcon_rxpkt *rx,
		       u8 rnr_timeout)
{
	falcon_ulp_lock(conn);
	falcon_core_target_rnr(&conn->core, rx, rnr_timeout, ktime_get_ns());
	falcon_ulp_unlock(conn);
}
EXPORT_SYMBOL_GPL(falcon_target_rnr);

/**
 * falcon_target_nack - the target ULP refuses a transaction (8.5.3.5)
 * @conn:	connection
 * @rx:		what was delivered; goes back, with its skb
 * @nack_code:	FALCON_NACK_CIE, _NRE or _CID
 * @ulp_code:	told to the initiator's ULP
 *
 * Context: process or softirq. ULP call-backs may run before it returns.
 */
void falcon_target_nack(struct falcon_conn *conn, struct falcon_rxpkt *rx,
			u8 nack_code, u8 ulp_code)
{
	falcon_ulp_lock(conn);
	falcon_core_target_nack(&conn->core, rx, nack_code, ulp_code,
				ktime_get_ns());
	falcon_ulp_unlock(conn);
}
EXPORT_SYMBOL_GPL(falcon_target_nack);

/**
 * falcon_target_respond - answer a pull with data (8.5.3.2)
 * @conn:	connection
 * @rx:		the pull request delivered; the ULP's again, with its skb
 * @resp:	the ULP's, until its release call
 * @payload:	ULP header and data; the ULP's, unchanged until the release call
 *
 * Context: process or softirq. ULP call-backs may run before it returns.
 * Return: 0 if @resp will be released; or as falcon_push(), and @rx is still
 * to be answered.
 */
int falcon_target_respond(struct falcon_conn *conn, struct falcon_rxpkt *rx,
			  struct falcon_resp *resp, struct sk_buff *payload)
{
	int err;

	falcon_ulp_lock(conn);
	err = falcon_ulp_check(conn);
	if (!err && payload->len > conn->core.cfg.mtu)
		err = -EMSGSIZE;
	if (!err) {
		err = falcon_core_target_respond(&conn->core, rx, resp, payload,
						 payload->len, ktime_get_ns());
		falcon_ulp_submitted(conn, err);
	}
	falcon_ulp_unlock(conn);
	return err;
}
EXPORT_SYMBOL_GPL(falcon_target_respond);

/**
 * falcon_conn_user_timeout - how long the peer may be silent
 * @conn:	connection
 * @ms:		milliseconds while something is unanswered; 0: for ever
 *
 * Context: process or softirq. Calls the ULP. Without effect before the
 * connection is established.
 */
void falcon_conn_user_timeout(struct falcon_conn *conn, u32 ms)
{
	spin_lock_bh(&conn->lock);
	if (conn->state == FALCON_CONN_ESTABLISHED) {
		conn->core.cfg.user_timeout_ns = (u64)ms * NSEC_PER_MSEC;
		falcon_conn_drain(conn);	/* sets the timer */
	}
	spin_unlock_bh(&conn->lock);
}
EXPORT_SYMBOL_GPL(falcon_conn_user_timeout);

/**
 * falcon_conn_rnr_limit - how often a target may not be ready for a push
 * @conn:	connection
 * @limit:	so many RNR NACKs of a push by the peer's ULP end it, with
 *		FALCON_CMPL_LOCAL_TO and falcon_txn::rnrs at @limit; 0: none does
 *
 * A connection begins without a limit.
 *
 * Context: process or softirq.
 */
void falcon_conn_rnr_limit(struct falcon_conn *conn, u8 limit)
{
	spin_lock_bh(&conn->lock);
	if (conn->established_ns)
		conn->core.cfg.rnr_limit = limit;
	spin_unlock_bh(&conn->lock);
}
EXPORT_SYMBOL_GPL(falcon_conn_rnr_limit);

/**
 * falcon_xlr_drop - switch the xLR drop filters of a connection (section 11)
 * @conn:	connection
 * @xlr:	FALCON_XLR_INITIATOR: what this end submits ends with
 *		FALCON_CMPL_LOCAL_XLR. FALCON_XLR_TARGET: what the peer submits is
 *		not delivered, and ends there with FALCON_CMPL_REMOTE_ERR. 0: none
 *
 * Context: process or softirq.
 * Return: 0, -ENOTCONN before the connection is established and after its end,
 * -EINVAL on one without gaps.
 */
int falcon_xlr_drop(struct falcon_conn *conn, u8 xlr)
{
	int err;

	falcon_ulp_lock(conn);
	err = falcon_ulp_check(conn);
	if (!err)
		err = falcon_core_xlr(&conn->core, xlr);
	falcon_ulp_unlock(conn);
	return err;
}
EXPORT_SYMBOL_GPL(falcon_xlr_drop);

/**
 * falcon_mtu - largest payload that a new transaction should have
 * @conn:	an established connection
 *
 * The MTU agreed at set-up, or less if the path has shrunk since.
 *
 * Context: any.
 * Return: bytes, ULP header included.
 */
u16 falcon_mtu(struct falcon_conn *conn)
{
	return READ_ONCE(conn->mtu);
}
EXPORT_SYMBOL_GPL(falcon_mtu);

/**
 * falcon_rnr_code - RNR NACK Timeout for a delay (7.8)
 * @ns:	nanoseconds; beyond 655.36 ms it is cut to that
 *
 * Context: any.
 * Return: the code of the shortest time that is not shorter, for
 * falcon_target_rnr().
 */
u8 falcon_rnr_code(u64 ns)
{
	return falcon_rnr_timeout_code(ns);
}
EXPORT_SYMBOL_GPL(falcon_rnr_code);
