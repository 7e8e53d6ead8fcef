/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of the socket layer share. A socket (struct falcon_sock) is
 * what an application holds; an endpoint (struct falcon_ep) is the ULP of one
 * connection. They meet in connect() or accept() and part when the connection
 * is reset, dead, or closed in both directions: either can outlive the other.
 *
 *	sock.c		life of a socket: create .. close, poll
 *	ep.c		endpoint: call-backs of the connection
 *	queue.c		receive and transmit queues of a socket
 *	port.c		ports, listeners
 *	opt.c		options, ioctl
 *	stream.c	send and receive bytes
 *	seqpacket.c	send and receive messages
 *
 * Locks, outermost first: socket lock, falcon_net_sock::listen_lock,
 * falcon_ep::lock or falcon_sock::aq_lock, falcon_conn::lock. A connection is
 * called with the socket owned (lock_sock) or from its own call-backs: it may
 * call back before it returns, and a call-back takes the socket's spinlock.
 */
#ifndef _FALCON_SOCK_H
#define _FALCON_SOCK_H

#include <linux/ipv6.h>
#include <linux/mutex.h>
#include <linux/skbuff.h>
#include <linux/workqueue.h>
#include <net/inet_sock.h>
#include <net/sock.h>
#include <net/tcp_states.h>
#include <uapi/linux/falcon.h>
#include "falcon.h"

#define FALCON_SOCK_HDR_LEN	sizeof(struct falcon_sock_hdr)

/* The service of a port: streams and messages never meet. */
#define FALCON_SERVICE_SEQPACKET	BIT(16)

#define FALCON_CORK_TIME	(HZ / 5)	/* MSG_MORE holds a segment */
#define FALCON_ORPHAN_TIME	(60 * HZ)	/* no progress after close() */
#define FALCON_RESET_TIME	(5 * HZ)	/* for a RESET to be acknowledged */
#define FALCON_RESET_TRIES	3		/* by CM, where it was not */

#define FALCON_PORT_HASH	256

struct falcon_ep;

/**
 * struct falcon_port - a bound port
 * @node:	in its hash chain
 * @service:	port, with FALCON_SERVICE_SEQPACKET
 * @owners:	sockets bound to it, by sk_bind_node
 */
struct falcon_port {
	struct hlist_node node;
	u32 service;
	struct hlist_head owners;
};

/**
 * struct falcon_net_sock - the sockets of a netns
 * @port:	ports by hash of the service
 * @listen_lock: protects @groups and their members
 * @groups:	listeners
 * @nr_orphans:	endpoints that live on after close()
 */
struct falcon_net_sock {
	struct {
		spinlock_t lock;	/* protects the chain and its ports */
		struct hlist_head chain;
	} port[FALCON_PORT_HASH];
	struct mutex listen_lock;	/* of @groups and their members */
	struct list_head groups;
	atomic_t nr_orphans;
};

/**
 * struct falcon_group - the sockets that listen on one address and port
 * @l:		what the connection manager sees
 * @node:	of falcon_net_sock::groups
 * @lock:	protects @members against falcon_listener::request
 * @members:	more than one with SO_REUSEPORT
 * @nr:		of @members
 */
struct falcon_group {
	struct falcon_listener l;
	struct list_head node;
	spinlock_t lock;	/* of @members */
	struct hlist_head members;
	unsigned int nr;
};

/* falcon_sock::flags */
enum {
	FALCON_SK_PENDING,	/* falcon_sock_run() when the lock is released */
	FALCON_SK_NODELAY,
	FALCON_SK_AUTOPORT,	/* port chosen by connect() */
};

/**
 * struct falcon_sock - a Falcon socket
 * @inet:	first
 * @flags:	FALCON_SK_*, atomic
 * @ep:		endpoint of the connection, or NULL
 * @port:	port it is bound to
 * @send_head:	first segment of sk_write_queue that is not pushed yet
 * @mss:	bytes of a segment
 * @tx_bytes:	written and not acknowledged
 * @tx_unsent:	of these, not pushed
 * @rx_bytes:	queued and unread
 * @rx_msgs:	messages of which the end is queued
 * @rx_off:	bytes read of the first segment queued
 * @rx_in_msg:	the last segment queued did not end its message
 * @rx_partial:	a part of the first message was read
 * @rx_held:	the held list of the endpoint is not empty
 * @fin_sent:	FIN was queued
 * @fin_acked:	and acknowledged
 * @fin_rcvd:	the peer's FIN was read from the connection
 * @cork_at:	jiffies, 0 none: a segment kept back by MSG_MORE leaves
 * @orphan_at:	jiffies, 0 none: end of the patience after close()
 * @keep_at:	jiffies, 0 none: next keepalive
 * @keep_idle:	seconds of silence before the first keepalive
 * @keep_intvl:	seconds between keepalives
 * @user_timeout_ms: FALCON_USER_TIMEOUT
 * @nr_flows:	FALCON_FLOWS
 * @security:	FALCON_SECURITY
 * @weight:	FALCON_WEIGHT, 0 by sysctl
 * @fae:	FALCON_CONGESTION, or NULL
 * @last_info:	FALCON_INFO of the connection that is over, or NULL
 * @aq_lock:	protects what follows and sk_ack_backlog
 * @aq:		listener: endpoints to accept, by falcon_ep::node
 * @half_open:	listener: endpoints of set-ups, by falcon_ep::node
 * @aq_pending:	set-ups granted, not established yet
 * @aq_open:	listening
 * @group:	listener: its group
 * @group_node:	of falcon_group::members
 *
 * The socket lock protects all but @aq_lock's.
 */
struct falcon_sock {
	struct inet_sock inet;
	unsigned long flags;
	struct falcon_ep *ep;
	struct falcon_port *port;
	struct sk_buff *send_head;
	u16 mss;
	bool rx_in_msg;
	bool rx_partial;
	bool rx_held;
	bool fin_sent;
	bool fin_acked;
	bool fin_rcvd;
	u8  nr_flows;
	u8  security;
	u8  weight;
	u32 tx_bytes;
	u32 tx_unsent;
	u32 rx_bytes;
	u32 rx_msgs;
	u32 rx_off;
	u32 keep_idle;
	u32 keep_intvl;
	u32 user_timeout_ms;
	unsigned long cork_at;
	unsigned long orphan_at;
	unsigned long keep_at;
	const struct falcon_fae_ops *fae;
	struct falcon_info *last_info;

	spinlock_t aq_lock;	/* innermost of the listener */
	u32 aq_pending;
	bool aq_open;
	struct list_head aq;
	struct list_head half_open;
	struct falcon_group *group;
	struct hlist_node group_node;
};

struct falcon6_sock {
	struct falcon_sock fs;
	struct ipv6_pinfo inet6;	/* last: where 6.1 looks for it */
};

static inline struct falcon_sock *falcon_sk(const struct sock *sk)
{
	return (struct falcon_sock *)sk;
}

/* falcon_ep::events */
#define FALCON_EP_ESTABLISHED	BIT(0)
#define FALCON_EP_DEAD		BIT(1)	/* FAILED or ABORTED */
#define FALCON_EP_TX_SPACE	BIT(2)
#define FALCON_EP_KILL		BIT(3)	/* by an operator */

/**
 * struct falcon_ep - endpoint: the ULP of one connection
 * @conn:	the connection; falcon_conn_close() once, FALCON_EV_CLOSED frees
 *		the endpoint
 * @sk:		socket, RCU. NULL before accept() and after they parted
 * @listener:	passive, not accepted: the listening socket
 * @node:	of falcon_sock::half_open, then of falcon_sock::aq
 * @lock:	protects the rest but @held
 * @rx:		delivered, not looked at: struct falcon_rxpkt::node
 * @done:	completed, not looked at: struct falcon_txn::node
 * @held:	queued at the socket, not acknowledged, because its receive buffer
 *		is full; under the socket lock
 * @events:	FALCON_EP_*, not looked at
 * @parted:	no socket any more; waits for @inflight to come back
 * @closed:	falcon_conn_close() was called
 * @orphan:	counted in falcon_net_sock::nr_orphans
 * @resets:	of FALCON_RESET_TRIES
 * @err:	with FALCON_EP_DEAD, negative errno
 * @inflight:	transactions pushed and not completed
 * @rate:	SO_MAX_PACING_RATE that the connection knows of; 0: none
 * @refs:	the connection, @work and an RCU call-back hold one each
 * @work:	time-outs of the socket; after they parted, of the endpoint
 * @put_sk:	socket whose reference @rcu drops
 * @rcu:	drops it after a grace period
 */
struct falcon_ep {
	struct falcon_conn *conn;
	struct sock __rcu *sk;
	struct sock *listener;
	struct list_head node;
	spinlock_t lock;	/* lists and state */
	u8 events;
	bool parted;
	bool closed;
	bool orphan;
	u8 resets;
	int err;
	unsigned int inflight;
	unsigned long rate;
	struct list_head rx;
	struct list_head done;
	struct list_head held;
	refcount_t refs;
	struct delayed_work work;
	struct sock *put_sk;
	struct rcu_head rcu;
};

/**
 * struct falcon_seg - a segment to send, in skb->cb
 * @charged:	its truesize is charged to the socket
 * @flags:	FALCON_SOCK_*, for the header
 * @pushed:	the connection has it
 *
 * The linear part of the skb holds struct falcon_seg_txn, before skb->data, and
 * the header; the payload is in page fragments.
 */
struct falcon_seg {
	bool charged;
	bool pushed;
	u8  flags;
};

static inline struct falcon_seg *falcon_seg(struct sk_buff *skb)
{
	BUILD_BUG_ON(sizeof(struct falcon_seg) > sizeof(skb->cb));
	return (struct falcon_seg *)skb->cb;
}

/* At skb->head: the transaction, and the way back from it. */
struct falcon_seg_txn {
	struct falcon_txn txn;
	struct sk_buff *skb;
};

static inline struct falcon_seg_txn *falcon_seg_txn(struct sk_buff *skb)
{
	return (struct falcon_seg_txn *)skb->head;
}

static inline struct sk_buff *falcon_txn_skb(struct falcon_txn *txn)
{
	return container_of(txn, struct falcon_seg_txn, txn)->skb;
}

static inline u32 falcon_seg_bytes(const struct sk_buff *skb)
{
	return skb->len - FALCON_SOCK_HDR_LEN;
}

/*
 * A segment received keeps its header at skb->data; skb->cb belongs to the
 * connection until it is acknowledged, so that the flags are kept in the mark.
 */
static inline u8 falcon_rx_flags(const struct sk_buff *skb)
{
	return skb->mark;
}

static inline struct falcon_net_sock *falcon_net_sock(struct falcon_net *fn)
{
	return fn->sock;
}

static inline struct falcon_net *falcon_sock_net(const struct sock *sk)
{
	return falcon_net(sock_net(sk));
}

static inline u32 falcon_service(const struct sock *sk, u16 port)
{
	return sk->sk_type == SOCK_SEQPACKET ?
	       port | FALCON_SERVICE_SEQPACKET : port;
}

/* A time-out @delay jiffies from now; 0 means none. */
static inline unsigned long falcon_at(unsigned long delay)
{
	return (jiffies + delay) ? : 1;
}

/* A full receive buffer withholds acknowledgements. */
static inline bool falcon_rx_full(const struct sock *sk)
{
	return atomic_read(&sk->sk_rmem_alloc) > READ_ONCE(sk->sk_rcvbuf);
}

/* sock/sock.c */
void falcon_sock_established(struct sock *sk);
void falcon_sock_dead(struct sock *sk, int err);
void falcon_sock_reset(struct sock *sk, int code);
void falcon_sock_kill(struct sock *sk, int err);
void falcon_sock_destroy(struct sock *sk);
void falcon_sock_fin_progress(struct sock *sk);
void falcon_sock_time(struct sock *sk);
void falcon_sock_arm(struct sock *sk);

/* sock/ep.c */
extern const struct falcon_ulp_ops falcon_sock_ulp;
struct falcon_ep *falcon_ep_alloc(gfp_t gfp);
void falcon_ep_free(struct falcon_ep *ep);
void falcon_ep_put(struct falcon_ep *ep);
void falcon_ep_attach(struct falcon_ep *ep, struct sock *sk);
void falcon_ep_unattach(struct falcon_ep *ep, struct sock *sk);
void falcon_ep_arm(struct falcon_ep *ep, unsigned long delay);
int falcon_ep_request(struct falcon_listener *l, struct falcon_conn *conn,
		      struct falcon_cm_params *req,
		      const struct falcon_ulp_ops **ulp, void **ulp_priv);
bool falcon_ep_orphan(struct falcon_ep *ep);
void falcon_ep_refuse(struct falcon_ep *ep);
void falcon_sock_part(struct sock *sk, int code);
void falcon_sock_run(struct sock *sk);
void falcon_sock_flush(struct sock *sk);
int falcon_ep_init(void);
void falcon_ep_exit(void);

/* sock/queue.c */
void falcon_tx_mss(struct sock *sk);
struct sk_buff *falcon_tx_alloc(struct sock *sk, gfp_t gfp);
struct sk_buff *falcon_tx_control(u8 flags, u16 code, gfp_t gfp);
void falcon_tx_free(struct sock *sk, struct sk_buff *skb);
ssize_t falcon_tx_fill(struct sock *sk, struct sk_buff *skb,
		       struct msghdr *msg, size_t max);
void falcon_tx_queue(struct sock *sk, struct sk_buff *skb);
void falcon_tx_push(struct sock *sk, bool cork);
void falcon_tx_done(struct sock *sk, struct falcon_txn *txn);
void falcon_tx_purge(struct sock *sk);
void falcon_write_space(struct sock *sk);
bool falcon_rx_segment(struct sock *sk, struct falcon_rxpkt *rx);
void falcon_rx_consume(struct sock *sk, u32 bytes);
void falcon_rx_note_stamps(struct sock *sk, struct sk_buff *skb,
			   struct sk_buff **last);
void falcon_rx_tell_stamps(struct sock *sk, struct msghdr *msg,
			   struct sk_buff *last);
void falcon_rx_ack_held(struct sock *sk, bool all);
void falcon_rx_purge(struct sock *sk);
int falcon_rx_wait_error(struct sock *sk, long timeo);

/* sock/port.c */
int falcon_port_get(struct sock *sk, unsigned short snum);
int falcon_port_connect(struct sock *sk);
void falcon_port_inherit(struct sock *sk, struct sock *child);
void falcon_port_put(struct sock *sk);
int falcon_listen_start(struct sock *sk);
void falcon_listen_stop(struct sock *sk);

/* sock/opt.c */
int falcon_setsockopt(struct sock *sk, int level, int optname,
		      sockptr_t optval, unsigned int optlen);
int falcon_getsockopt(struct sock *sk, int level, int optname,
		      char __user *optval, int __user *optlen);
void falcon_info_keep(struct sock *sk);
int falcon_sock_ioctl(struct sock *sk, int cmd, int *karg);
void falcon_sock_keepalive(struct sock *sk, int valbool);

/* sock/stream.c */
int falcon_stream_sendmsg(struct sock *sk, struct msghdr *msg, size_t len);
int falcon_stream_recvmsg(struct sock *sk, struct msghdr *msg, size_t len,
			  int flags);
bool falcon_stream_readable(const struct sock *sk, int target);
ssize_t falcon_stream_sendpage(struct socket *sock, struct page *page,
			       int offset, size_t size, int flags);
ssize_t falcon_stream_splice_read(struct socket *sock, loff_t *ppos,
				  struct pipe_inode_info *pipe, size_t len,
				  unsigned int flags);

/* sock/seqpacket.c */
int falcon_seqpacket_sendmsg(struct sock *sk, struct msghdr *msg, size_t len);
int falcon_seqpacket_recvmsg(struct sock *sk, struct msghdr *msg, size_t len,
			     int flags);
bool falcon_seqpacket_readable(const struct sock *sk);

#endif /* _FALCON_SOCK_H */
