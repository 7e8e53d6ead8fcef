/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the RDMA over Falcon engine keeps in each object of the verbs driver,
 * and what its files call of each other.
 *
 * conn.c makes connections for queue pairs, req.c turns send requests into
 * push and pull transactions, resp.c carries the peer's transactions out,
 * ud.c does both for datagrams, copy.c moves bytes between packets and memory,
 * wire.c knows the headers.
 *
 * Locks, outermost first: fal_qp_eng::rx_lock, fal_qp_eng::lock, those of the
 * front half's queues. The connection lock of falcon.ko is taken inside both,
 * by calls that carry nothing out: what is submitted under a lock is flushed
 * after it.
 */
#ifndef _FALCON_IB_ENGINE_H
#define _FALCON_IB_ENGINE_H

#include <linux/hashtable.h>
#include <linux/interrupt.h>
#include <linux/workqueue.h>
#include <net/falcon.h>
#include <rdma/falcon-abi.h>
#include <rdma/ib_verbs.h>
#include "wire.h"

struct fal_ah;
struct fal_dev;
struct fal_peer;
struct fal_qp;
struct fal_slot;
struct fal_srq;
struct fal_swqe;

/* Segments of up to so many bytes are copied, larger ones are page frags. */
#define FAL_COPY_MAX		256
/* Frags that falcon.ko shares without copying */
#define FAL_MAX_FRAGS		(MAX_SKB_FRAGS - 2)
/* Messages, and packets, out of order that a weakly ordered target follows */
#define FAL_RX_WINDOW		64
#define FAL_SN_WINDOW		1024

/**
 * enum fal_nak - ULP NACK codes: why the target ended a transaction
 *
 * InfiniBand's NAK codes where it has one. Of a pull they are the four bytes
 * of a response with Complete-in-Error.
 *
 * @FAL_NAK_OK:		none
 * @FAL_NAK_INVALID:	invalid request
 * @FAL_NAK_ACCESS:	remote access error
 * @FAL_NAK_OPERATION:	remote operational error
 * @FAL_NAK_STATE:	the queue pair is in error
 */
enum fal_nak {
	FAL_NAK_OK		= 0,
	FAL_NAK_INVALID		= 1,
	FAL_NAK_ACCESS		= 2,
	FAL_NAK_OPERATION	= 3,
	FAL_NAK_STATE		= 5,
};

/**
 * struct fal_listen - a service of a device in its namespace
 * @l:		the listener
 * @node:	of all, for the end of a namespace
 * @net:	where it listens, NULL: nowhere any more
 * @owner:	struct fal_qp or, of datagrams, struct fal_dev
 */
struct fal_listen {
	struct falcon_listener l;
	struct list_head node;
	struct net *net;
	void *owner;
};

/* Counts of peers: those of one hash share a bound. */
#define FAL_UD_SHARES	1024

/**
 * struct fal_share - what one user, or one host, takes of a device's datagrams
 * @peers:	that it causes, under fal_dev_eng::lock
 * @backlog:	bytes that wait for their connections
 */
struct fal_share {
	u32 peers;
	atomic_t backlog;
};

/**
 * struct fal_dev_eng - of a device
 * @lock:	@table, @peers, their counts, @waiters
 * @table:	UD: whom to send to, by addresses
 * @peers:	all peers, also those that only send to us
 * @nr_peers:	of @table and not
 * @users:	whose queue pairs send to peers, by a hash of the user
 * @hosts:	of peers that connected, by a hash of the host
 * @nr_passive:	all peers that connected
 * @backlog:	bytes that wait for connections, of all shares
 * @seed:	of these hashes
 * @waiters:	queue pairs that wait for a peer to acknowledge
 * @gc:		ends idle ones
 * @full:	a peer found no room since @gc ran
 * @dying:	the device goes
 */
struct fal_dev_eng {
	spinlock_t lock;	/* tables and lists */
	DECLARE_HASHTABLE(table, 6);
	struct list_head peers;
	atomic_t nr_peers;
	struct fal_share users[FAL_UD_SHARES];
	struct fal_share hosts[FAL_UD_SHARES];
	u32 nr_passive;
	atomic_t backlog;
	u32 seed;
	struct list_head waiters;
	struct delayed_work gc;
	bool full;
	bool dying;
};

/* Whose end a message is that a target is receiving */
enum fal_rx_msg {
	FAL_RX_NONE,
	FAL_RX_SEND,
	FAL_RX_WRITE,
};

/**
 * struct fal_qp_eng - of a queue pair
 * @lock:	requester, and which connection serves it
 * @tasklet:	runs the requester where posting may not
 * @listen:	the peer may connect to this queue pair, or NULL
 * @path:	to the peer
 * @conn:	the connection, once established
 * @attempt:	own attempt, once falcon_connect() has returned
 * @incoming:	the peer's attempt that was accepted
 * @attempting:	there is an own attempt
 * @stray:	one was let go before falcon_connect() returned
 * @peer_tries:	the peer's was refused in favour of it: the peer is ready
 * @live:	between RTR and the error or reset
 * @halted:	a request failed, nothing more is submitted
 * @telling:	@shut is to end the connection, not before
 * @tries:	own attempts so far
 * @nr_conns:	connections that may still call
 * @retry:	next attempt; also after a shortage of memory
 * @shut:	ends the connection of a queue pair in error, once the peer
 *		has been told
 * @give_up:	jiffies when requests that wait for a connection fail, or 0
 * @next:	first send request that is not wholly submitted
 * @off:	bytes of it that are
 * @open:	transactions that have not completed
 * @draining:	in SQD, and what was begun is not yet over
 * @completed:	some have, and were not looked at yet
 * @rd_open:	reads and atomics that have not completed
 * @tx_sn:	next Sequence Number
 * @rmsn:	next RMSN of sends
 * @rmsn_done:	of those, the oldest that has not completed
 * @rd_rmsn:	next RMSN of reads and atomics
 * @wait_node:	UD: in fal_dev_eng::waiters
 * @ud_flush:	UD: connection that submitted packets wait in, held
 * @ud_again:	UD: a request is for another one
 * @rx_lock:	responder, all below
 * @rx_sn:	next Sequence Number: all before were accepted
 * @rx_seen:	weak ordering: of those after it, which were
 * @rx_rmsn:	next RMSN that completes a receive request
 * @rx_taken:	weak ordering: next RMSN that has no receive request yet
 * @rx_bytes:	of the WRITE that is being received
 * @rx_bad:	a packet of that WRITE, or of what was received last, was refused
 * @rx_first:	weak ordering: of @rx_seen, which begin a message
 * @rx_failed:	weak ordering: of @rx_seen, which were refused
 * @rnr:	@rx_sn was answered "not ready"; later ones come again as well
 * @msg:	enum fal_rx_msg that is being received
 * @nr_slots:	entries of @slots
 * @slots:	messages that fill a receive request: one, or with weak
 *		ordering a window of them by RMSN
 * @resps:	pull data that waits for room
 */
struct fal_qp_eng {
	spinlock_t lock;	/* requester, connection */
	struct tasklet_struct tasklet;
	struct fal_listen *listen;
	struct falcon_path path;
	struct falcon_conn *conn;
	struct falcon_conn *attempt;
	struct falcon_conn *incoming;
	bool attempting;
	bool stray;
	bool peer_tries;
	bool live;
	bool halted;
	bool telling;
	u32 tries;
	atomic_t nr_conns;
	struct delayed_work retry;
	struct delayed_work shut;
	unsigned long give_up;

	u32 next;
	u32 off;
	u32 open;
	bool draining;
	bool completed;
	u32 rd_open;
	u32 tx_sn;
	u32 rmsn;
	u32 rmsn_done;
	u32 rd_rmsn;
	struct list_head wait_node;
	struct falcon_conn *ud_flush;
	bool ud_again;

	spinlock_t rx_lock;	/* responder */
	u32 rx_sn;
	DECLARE_BITMAP(rx_seen, FAL_SN_WINDOW);
	u32 rx_rmsn;
	u32 rx_taken;
	u32 rx_bytes;
	bool rx_bad;
	DECLARE_BITMAP(rx_first, FAL_SN_WINDOW);
	DECLARE_BITMAP(rx_failed, FAL_SN_WINDOW);
	bool rnr;
	u8 msg;
	u32 nr_slots;
	struct fal_slot *slots;
	struct sk_buff_head resps;
};

/**
 * struct fal_swqe_eng - of a send request
 * @open:	transactions that have not completed
 * @issued:	all of it is submitted
 * @read:	counts in fal_qp_eng::rd_open
 * @rmsn:	has one
 * @status:	what it will complete with
 * @vendor_err:	enum falcon_cmpl of the transaction that failed
 */
struct fal_swqe_eng {
	u32 open;
	bool issued;
	bool read;
	bool rmsn;
	enum ib_wc_status status;
	u32 vendor_err;
};

/**
 * struct fal_ah_eng - of an address handle
 * @path:	to the peer
 */
struct fal_ah_eng {
	struct falcon_path path;
};

/* copy.c */
enum ib_wc_status fal_sges_to_skb(struct fal_qp *qp,
				  const struct falcon_sge *sge, u32 num_sge,
				  u32 off, u32 len, struct sk_buff *skb,
				  u32 skb_off);
enum ib_wc_status fal_sges_from_skb(struct fal_qp *qp, struct ib_pd *pd,
				    const struct falcon_sge *sge, u32 num_sge,
				    u32 off, u32 len, const struct sk_buff *skb,
				    u32 skb_off);
enum ib_wc_status fal_sges_from_buf(struct fal_qp *qp, struct ib_pd *pd,
				    const struct falcon_sge *sge, u32 num_sge,
				    void *buf, u32 len);
enum ib_wc_status fal_mem_from_skb(struct fal_qp *qp, struct ib_pd *pd,
				   u32 key, u64 addr, u32 len, int access,
				   const struct sk_buff *skb, u32 skb_off);
int fal_hdr_of_skb(struct fal_hdr *h, const struct sk_buff *skb);
struct sk_buff *fal_skb_alloc(unsigned int priv, unsigned int hdr,
			      unsigned int bytes);
struct sk_buff *fal_seg_skb(struct fal_qp *qp, struct ib_pd *pd,
			    const struct falcon_sge *sge, u32 num_sge,
			    u32 off, u32 len, int access, unsigned int priv,
			    const struct fal_hdr *h, enum ib_wc_status *status);
struct sk_buff *fal_seg_skb_copy(struct fal_qp *qp, struct ib_pd *pd,
				 const struct falcon_sge *sge, u32 num_sge,
				 u32 off, u32 len, int access,
				 unsigned int priv, const struct fal_hdr *h,
				 enum ib_wc_status *status);

/* conn.c */
bool fal_path_from_ah(struct falcon_path *path, const struct ib_gid_attr *sgid,
		      const struct rdma_ah_attr *attr);
struct net *fal_net_get(struct fal_dev *dev);
u8 fal_rnr_limit(const struct fal_qp *qp);
void fal_conn_fail(struct fal_qp *qp, bool tell_peer);
int fal_eng_add_gid(const struct ib_gid_attr *attr, void **context);
int fal_eng_del_gid(const struct ib_gid_attr *attr, void **context);
int fal_eng_init(void);
void fal_eng_exit(void);

/* req.c */
void fal_req_kick(struct fal_qp *qp);
void fal_req_complete(struct falcon_conn *conn, struct falcon_txn *txn);
bool fal_req_waiting(struct fal_qp *qp);
void fal_req_give_up(struct fal_qp *qp);
void fal_req_batch(struct falcon_conn *conn);
void fal_req_reset(struct fal_qp *qp);
void fal_req_forget(struct fal_qp *qp);

/* resp.c */
void fal_resp_deliver(struct falcon_conn *conn, struct falcon_rxpkt *rx,
		      struct sk_buff *skb);
void fal_resp_release(struct falcon_conn *conn, struct falcon_resp *resp);
void fal_resp_space(struct fal_qp *qp, struct falcon_conn *conn);
void fal_resp_flush(struct fal_qp *qp);
void fal_resp_reset(struct fal_qp *qp);

/* ud.c */
bool fal_ud_send(struct fal_qp *qp, const struct fal_swqe *wqe,
		 enum ib_wc_status *status);
void fal_ud_forget(struct fal_qp *qp);
int fal_ud_request(struct fal_dev *dev, struct falcon_conn *conn,
		   const struct falcon_cm_params *req,
		   const struct falcon_ulp_ops **ulp, void **ulp_priv);
void fal_ud_dev_init(struct fal_dev *dev);
void fal_ud_dev_exit(struct fal_dev *dev);

/* Service of connections that carry datagrams: QP1 */
#define FAL_UD_SERVICE		1

extern struct workqueue_struct *fal_eng_wq;

#endif /* _FALCON_IB_ENGINE_H */
