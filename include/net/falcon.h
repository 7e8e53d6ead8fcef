/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Falcon, the in-kernel interface for upper layer protocols (ULPs).
 *
 * A ULP pushes and pulls transactions of at most one MTU over a connection,
 * and answers the transactions that the peer's ULP initiates. It embeds
 * struct falcon_txn / struct falcon_resp in its own requests: nothing here
 * allocates. Completions and deliveries reach it through struct
 * falcon_ulp_ops, never under the connection lock, one at a time and in order
 * for a connection, so it may call back in from there.
 *
 * Documentation/networking/falcon/ulp.rst tells how to write one, and
 * samples/falcon/echo_ulp.c is one. The sockets (net/falcon/sock/sock.c) and the
 * verbs driver are the ULPs in tree.
 */
#ifndef _NET_FALCON_H
#define _NET_FALCON_H

#include <linux/types.h>
#include <linux/list.h>
#include <net/falcon_wire.h>

struct falcon_conn;
struct falcon_core;
struct falcon_fae_ops;
struct sk_buff;

/* Section 11, completion codes to the ULP. */
enum falcon_cmpl {
	FALCON_CMPL_ACK			= 0x0,
	FALCON_CMPL_TARGET_NACK_CIE	= 0x1,
	FALCON_CMPL_TARGET_NACK_NRE	= 0x3,
	FALCON_CMPL_TARGET_NACK_CID	= 0x4,
	FALCON_CMPL_LOCAL_TO		= 0x8,
	FALCON_CMPL_OP_ERR		= 0x9,
	FALCON_CMPL_DEAD_CONN		= 0xa,
	FALCON_CMPL_LOCAL_RSRC		= 0xb,
	FALCON_CMPL_ULP_CDT_ERR		= 0xc,
	FALCON_CMPL_REMOTE_ERR		= 0xd,
	FALCON_CMPL_LOCAL_XLR		= 0xf,
};

/* Section 11, xLR drop filters: what they are for, falcon_xlr_drop() */
#define FALCON_XLR_INITIATOR	0x1	/* requests of this end */
#define FALCON_XLR_TARGET	0x2	/* requests of the peer */

/* 8.4.1 Initiator transaction state */
enum falcon_init_state {
	FALCON_PULL_REQ_ULP_RX,
	FALCON_PULL_REQ_TX,
	FALCON_PULL_REQ_ACKD,
	FALCON_PULL_DATA_RX,
	FALCON_PULL_DATA_ULP_TX,
	FALCON_PUSH_REQ_ULP_RX,
	FALCON_PUSH_DATA_TX,
	FALCON_PUSH_DATA_ACKD,
	FALCON_PUSH_CPL_TX,
};

/* 8.5.1 Target transaction state */
enum falcon_target_state {
	FALCON_PULL_REQ_RX,
	FALCON_PULL_REQ_ULP_TX,
	FALCON_PULL_REQ_ULP_ACKD,
	FALCON_PULL_DATA_ULP_RX,
	FALCON_PULL_DATA_TX,
	FALCON_PULL_DATA_ACKD,
	FALCON_PUSH_DATA_RX,
	FALCON_PUSH_REQ_ULP_TX,
	FALCON_PUSH_REQ_ULP_ACKD,
};

/**
 * struct falcon_txpkt - a packet of a transmit sliding window
 * @win_node:	in PSN order in its window; before that, in its scheduler queue
 * @time_node:	in transmission order on its flow, or on the list of those
 *		received, lost or waiting out an RNR
 * @payload:	opaque to core: ULP header and payload (kernel: struct sk_buff)
 * @sent_ns:	time of the last transmission, unique and rising on a flow
 * @due_ns:	when a packet received or RNR NACKed may leave again
 * @psn:	packet sequence number, valid once transmitted
 * @rsn:	request sequence number
 * @len:	bytes of @payload
 * @req_len:	Request Length of a pull request or push data
 * @type:	enum falcon_pkt_type on the wire; a resync replaces it
 * @orig_type:	type before a resync
 * @resync_code: enum falcon_resync_code of a resync
 * @flow:	flow of the last transmission
 * @attempts:	timeout retransmissions that count toward the maximum
 * @early:	early retransmissions
 * @state:	of core (core.h)
 * @reason:	enum falcon_retx_reason of the retransmission to come
 * @flags:	of core (core.h)
 *
 * Owned by core from submission until completion or release.
 */
struct falcon_txpkt {
	struct list_head win_node;
	struct list_head time_node;
	void *payload;
	u64 sent_ns;
	u64 due_ns;
	u32 psn;
	u32 rsn;
	u16 len;
	u16 req_len;
	u8  type;
	u8  orig_type;
	u8  resync_code;
	u8  flow;
	u8  attempts;
	u8  early;
	u8  state;
	u8  reason;
	u16 flags;
};

/**
 * struct falcon_rxpkt - a packet received, held until the target's ULP is done
 * @node:	on one list of core or of the ULP at a time
 * @due_ns:	RNR of a pull: redelivery time
 * @psn:	packet sequence number
 * @rsn:	request sequence number
 * @len:	bytes of payload
 * @req_len:	Request Length: bytes a pull asks for
 * @type:	enum falcon_pkt_type
 * @state:	enum falcon_target_state
 * @proto:	enum falcon_proto
 * @flags:	of core (core.h)
 * @code:	NACK code given by the ULP (CIE, NRE, CID), repeated for duplicates
 * @ulp_code:	ULP NACK code
 *
 * The kernel keeps it in skb->cb of the packet; the ULP must not touch that
 * memory before it has answered the transaction. At most 48 bytes.
 */
struct falcon_rxpkt {
	struct list_head node;
	u64 due_ns;
	u32 psn;
	u32 rsn;
	u16 len;
	u16 req_len;
	u8  type;
	u8  state;
	u8  proto;
	u8  flags;
	u8  code;
	u8  ulp_code;
};

/**
 * struct falcon_txn - a transaction at its initiator
 * @pkt:	the push data or pull request packet
 * @node:	initiator's transactions in RSN order, then the completion list
 * @by_rsn:	pulls that were sent and wait for their data
 * @rx:		pull: the pull data, with its payload; NULL on error or if empty.
 *		The ULP owns it after completion
 * @expires_ns:	time-out that reclaims it
 * @state:	enum falcon_init_state
 * @cmpl:	enum falcon_cmpl, valid at completion
 * @ulp_code:	ULP NACK code, valid with FALCON_CMPL_TARGET_NACK_CIE
 * @rnrs:	times that the peer's ULP has answered a push by RNR;
 *		falcon_conn_rnr_limit() bounds them
 * @pull:	a pull transaction
 * @done:	@cmpl is decided; completes when its turn comes
 */
struct falcon_txn {
	struct falcon_txpkt pkt;
	struct list_head node;
	struct hlist_node by_rsn;
	struct falcon_rxpkt *rx;
	u64 expires_ns;
	u8  state;
	u8  cmpl;
	u8  ulp_code;
	u8  rnrs;
	bool pull;
	bool done;
};

/**
 * struct falcon_resp - pull data at the target
 * @pkt:	the pull data packet
 * @node:	of core; then on the release list
 * @state:	enum falcon_target_state
 */
struct falcon_resp {
	struct falcon_txpkt pkt;
	struct list_head node;
	u8  state;
};

#ifdef __KERNEL__
#include <linux/in6.h>
#include <linux/refcount.h>
#include <linux/skbuff.h>
#include <linux/uidgid.h>
#include <net/net_namespace.h>

/* Why a connection ends, as told to the ULP's event call. */
enum falcon_conn_event {
	FALCON_EV_ESTABLISHED,	/* err 0; sends may start */
	FALCON_EV_FAILED,	/* never established; err: -ECONNREFUSED, ... */
	FALCON_EV_ABORTED,	/* was established; err: -ETIMEDOUT, ... */
	FALCON_EV_TX_SPACE,	/* falcon_push() may succeed again */
	FALCON_EV_CLOSED,	/* after falcon_conn_close(): the last call ever */
	FALCON_EV_KILL,		/* end it and tell the peer; err: -ECONNABORTED */
};

/**
 * struct falcon_path - where a connection's packets go
 * @saddr:		own address; IPv4 as v4-mapped
 * @daddr:		peer's address, likewise
 * @family:		AF_INET or AF_INET6: of the packets
 * @oif:		bound device or VRF, 0 for none
 * @scope_id:		of link-local addresses
 * @mark:		SO_MARK
 * @tclass:		DSCP and ECT outside
 * @ttl:		initial TTL / hop limit, fixed: hop counts are computed
 *			from it at the receiver; 0: 64
 * @uid:		for routing by uid
 */
struct falcon_path {
	struct in6_addr saddr;
	struct in6_addr daddr;
	sa_family_t family;
	u8 tclass;
	u8 ttl;
	int oif;
	u32 scope_id;
	u32 mark;
	kuid_t uid;
};

#define FALCON_CM_PRIV_MAX	512

/* struct falcon_cm_params::loss */
#define FALCON_CM_BY_SYSCTL	((u8)~0)

/* struct falcon_cm_params::txn_timeout_ms */
#define FALCON_CM_NO_TIMEOUT	(~0U)

/**
 * struct falcon_cm_params - what one end of a connection asks for or offers
 * @path:	connect: where to; saddr may be unspecified (routing chooses)
 * @proto:	enum falcon_proto
 * @service:	socket port or QPN at the passive end
 * @src_service: socket port or QPN at the active end
 * @ordered:	ordering mode
 * @gapless:	with @ordered: a transaction that is given up ends the connection.
 *		Otherwise the target passes over it and goes on
 * @nr_flows:	0: by family
 * @loss:	FALCON_LOSS_*, FALCON_CM_BY_SYSCTL: by sysctl
 * @max_mtu:	bound of payload bytes a packet; 0: by path
 * @user_timeout_ms: 0: by sysctl
 * @txn_timeout_ms: time after which a transaction is given up and what it holds
 *		reclaimed, at the target after twice that (section 11); 0: by
 *		sysctl. FALCON_CM_NO_TIMEOUT: never, for a ULP whose targets may
 *		take as long as they like
 * @max_tries:	of INIT; 0: by sysctl
 * @security:	FALCON_SECURITY_* of <uapi/linux/falcon.h>, of which that of
 *		net.falcon.security is the least; or of falcon_security_check()
 * @cred:	whose keyrings may have a pre-shared key; NULL: the caller's
 * @fae:	congestion control, NULL: by sysctl. A listener's request() that
 *		succeeds gives a reference with it (falcon_fae_hold())
 * @credits:	six credit counters (8.2.3)
 * @priv:	ULP private data
 * @priv_len:	its bytes, at most FALCON_CM_PRIV_MAX
 */
struct falcon_cm_params {
	struct falcon_path path;
	u8  proto;
	u32 service;
	u32 src_service;
	bool ordered;
	bool gapless;
	u8  nr_flows;
	u8  loss;
	u16 max_mtu;
	u32 user_timeout_ms;
	u32 txn_timeout_ms;
	int max_tries;
	u8  security;
	const struct cred *cred;
	const struct falcon_fae_ops *fae;
	u16 credits[6];
	const void *priv;
	u16 priv_len;
};

/**
 * struct falcon_ulp_ops - what a ULP provides
 * @owner:	module of the ULP, held while connections exist
 * @proto:	enum falcon_proto carried by its packets
 * @kills:	the ULP ends a connection on FALCON_EV_KILL, so that it can tell
 *		the peer in band; without, such a connection is aborted
 * @deliver:	a push or pull of the peer, in RSN order on ordered
 *		connections. The ULP owns @skb and answers with
 *		falcon_target_ack(), _rnr(), _nack() or _respond(), now or
 *		later; @rx lives in @skb
 * @complete:	@txn is done; ->cmpl says how. In RSN order on ordered
 *		connections
 * @release:	pull data @resp was acknowledged or given up
 * @batch:	the calls of the three above that belong together have been
 *		made: what they brought can be worked on at once, with one
 *		wake-up; or NULL
 * @event:	connection state changed
 * @rx_level:	occupancy of the ULP's receive buffer in 0..31, or NULL
 *
 * All run in softirq or process context with bottom halves disabled, one at a
 * time for a connection, without the connection lock. They may run inside the
 * ULP's own call of falcon_push() and the others, before it returns; what they
 * call in turn is carried out after they return.
 *
 * A ULP learns of the end of a connection by FALCON_EV_FAILED or _ABORTED, at
 * most once and after every open transaction has completed, and lets go by
 * falcon_conn_close(), exactly once, at any time. FALCON_EV_CLOSED is then the
 * last call: the ULP's private data may be freed from there on.
 */
struct falcon_ulp_ops {
	struct module *owner;
	u8 proto;
	bool kills;
	void (*deliver)(struct falcon_conn *conn, struct falcon_rxpkt *rx,
			struct sk_buff *skb);
	void (*complete)(struct falcon_conn *conn, struct falcon_txn *txn);
	void (*release)(struct falcon_conn *conn, struct falcon_resp *resp);
	void (*batch)(struct falcon_conn *conn);
	void (*event)(struct falcon_conn *conn, enum falcon_conn_event ev,
		      int err);
	u8 (*rx_level)(struct falcon_conn *conn);
};

/**
 * struct falcon_listener - a service that takes connections
 * @node:	cm.c
 * @path:	local address in ->saddr (any: unspecified), bound device
 * @v6only:	an unspecified IPv6 address does not take IPv4
 * @proto:	enum falcon_proto that it listens for
 * @service:	socket port or QPN that it listens on
 * @security:	as falcon_cm_params::security
 * @cred:	whose keyrings may have pre-shared keys: set by falcon_listen(),
 *		to the caller's
 * @owner:	module of @request and of the ULP that it names; held while
 *		@request runs, and until the connection holds it instead
 * @request:	a verified request (its cookie came back). Called in process
 *		context. @req is the peer's wish, @req->path this connection's;
 *		the callee may lower @req, and sets @ulp and @ulp_priv of the
 *		connection to be. 0; -EAGAIN drops it silently (backlog full),
 *		-ECONNREFUSED and others refuse it. After 0 the ULP's event call
 *		gets FALCON_EV_ESTABLISHED or FALCON_EV_FAILED
 * @refs:	look-ups hold one; falcon_unlisten() waits for them
 * @rcu:	for the ULP to free the listener by, after falcon_unlisten_rcu()
 */
struct falcon_listener {
	struct hlist_node node;
	struct falcon_path path;
	bool v6only;
	u8  proto;
	u32 service;
	u8  security;
	const struct cred *cred;
	struct module *owner;
	int (*request)(struct falcon_listener *l, struct falcon_conn *conn,
		       struct falcon_cm_params *req,
		       const struct falcon_ulp_ops **ulp, void **ulp_priv);
	refcount_t refs;
	struct rcu_head rcu;
};

/**
 * falcon_rx_skb - the packet that a delivered or pulled rxpkt lives in
 * @rx:	from a deliver call, or falcon_txn::rx
 *
 * Return: the skb, its data the ULP header and payload.
 */
static inline struct sk_buff *falcon_rx_skb(struct falcon_rxpkt *rx)
{
	return container_of((void *)rx, struct sk_buff, cb);
}

/* Connections: cm/listener.c, conn/conn.c, ulp.c */
int falcon_path_set_peer(struct falcon_path *path,
			 const struct sockaddr_storage *addr);
struct falcon_conn *falcon_connect(struct net *net,
				   const struct falcon_cm_params *params,
				   const struct falcon_ulp_ops *ulp,
				   void *ulp_priv);
/* Of falcon_cm_params::security: as it is, be it less than net.falcon.security */
#define FALCON_SECURITY_ADMIN	0x80

int falcon_security_check(struct net *net, int security);
int falcon_listen(struct net *net, struct falcon_listener *l);
void falcon_unlisten(struct net *net, struct falcon_listener *l);
void falcon_unlisten_rcu(struct net *net, struct falcon_listener *l);
void *falcon_conn_priv(const struct falcon_conn *conn);
struct net *falcon_conn_net(const struct falcon_conn *conn);
void falcon_conn_path(const struct falcon_conn *conn, struct falcon_path *path);
bool falcon_conn_get(struct falcon_conn *conn);
void falcon_conn_put(struct falcon_conn *conn);
void falcon_conn_close(struct falcon_conn *conn);
void falcon_conn_abort(struct falcon_conn *conn, int err);

/* Transactions: ulp.c */
int falcon_push(struct falcon_conn *conn, struct falcon_txn *txn,
		struct sk_buff *payload);
int falcon_push_more(struct falcon_conn *conn, struct falcon_txn *txn,
		     struct sk_buff *payload);
void falcon_flush(struct falcon_conn *conn);
void falcon_set_rate(struct falcon_conn *conn, u64 bytes_per_s);
int falcon_pull(struct falcon_conn *conn, struct falcon_txn *txn,
		struct sk_buff *payload, u16 req_len);
int falcon_pull_more(struct falcon_conn *conn, struct falcon_txn *txn,
		     struct sk_buff *payload, u16 req_len);
void falcon_target_ack(struct falcon_conn *conn, struct falcon_rxpkt *rx);
void falcon_target_ack_more(struct falcon_conn *conn, struct falcon_rxpkt *rx);
void falcon_target_rnr(struct falcon_conn *conn, struct falcon_rxpkt *rx,
		       u8 rnr_timeout);
void falcon_target_nack(struct falcon_conn *conn, struct falcon_rxpkt *rx,
			u8 nack_code, u8 ulp_code);
int falcon_target_respond(struct falcon_conn *conn, struct falcon_rxpkt *rx,
			  struct falcon_resp *resp, struct sk_buff *payload);
void falcon_conn_user_timeout(struct falcon_conn *conn, u32 ms);
void falcon_conn_rnr_limit(struct falcon_conn *conn, u8 limit);
int falcon_xlr_drop(struct falcon_conn *conn, u8 xlr);
void falcon_conn_weight(struct falcon_conn *conn, u8 weight);
u16 falcon_mtu(struct falcon_conn *conn);
u8 falcon_rnr_code(u64 ns);
#endif /* __KERNEL__ */

#endif /* _NET_FALCON_H */
