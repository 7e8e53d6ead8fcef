// SPDX-License-Identifier: GPL-2.0
/*
 * Datagrams, of UD queue pairs and QP1: SEND Only packets over one connection
 * for each peer (6.6.3), which many queue pairs share. It is made when somebody
 * first sends, in the background; a connection that the peer made serves as
 * well.
 *
 * A datagram is copied and so done for its sender when it is handed on. What
 * a peer has not acknowledged is bounded, and then its senders wait; but a peer
 * that takes long for so many is not waited for: what comes beyond is dropped, and
 * those behind it in the queue, who may be for others, go. What comes
 * before the connection is there waits in a bounded backlog. The receiver
 * acknowledges every datagram, also one for which there is no receive request
 * or no queue pair: it is dropped and counted, so that nobody blocks others.
 *
 * Peers that have been quiet for long are let go: first the end that connected,
 * so that the other does not forget what the first still uses. A peer has one
 * connection and goes with it.
 *
 * Peers are bounded, and whoever causes them has a share: a user, whose queue
 * pairs send to many, and a host that connects often: an address, of IPv6 the /64.
 * All that connect have half among them, and the last are QP1's, so that users
 * leave rdma_cm its own. When there is no room, peers go
 * that were quiet for a moment alone.
 */
#include <linux/jhash.h>
#include <linux/random.h>
#include <linux/udp.h>
#include <linux/wait_bit.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include <rdma/ib_mad.h>
#include "falcon_ib.h"

#define FAL_UD_OPEN		128	/* datagrams that a peer may owe */
#define FAL_UD_PATIENCE		(HZ / 10)	/* and for how long */
#define FAL_UD_BACKLOG		64	/* that wait for a connection */
#define FAL_UD_USER_BYTES	SZ_1M	/* of one share, in all its backlogs */
#define FAL_UD_DEV_BYTES	SZ_16M	/* of all shares */
#define FAL_UD_MAX_PEERS	4096
#define FAL_UD_QP1_PEERS	512	/* of them, QP1's alone */
#define FAL_UD_USER_PEERS	1024	/* that one user's queue pairs cause */
#define FAL_UD_PASSIVE_PEERS	2048	/* that connect */
#define FAL_UD_HOST_PEERS	64	/* that connect from one host */
#define FAL_UD_IDLE		(30 * HZ)
#define FAL_UD_IDLE_FULL	HZ	/* when there is no room */
#define FAL_UD_GC		(10 * HZ)
#define FAL_UD_GC_FULL		(HZ / 10)
#define FAL_UD_TIMEOUT_MS	5000
#define FAL_GRH_LEN		40
#define FAL_ROCE_PORT		4791	/* in headers that consumers may look at */

/**
 * struct fal_peer - who sends or receives datagrams
 * @node:	in fal_dev_eng::table, if it is to be found
 * @list:	in fal_dev_eng::peers
 * @dev:	device
 * @refs:	of the list, of the connection and of @work
 * @path:	addresses
 * @passive:	the peer made the connection
 * @share:	in fal_dev_eng, where it counts; NULL: QP1's
 * @lock:	all below
 * @conn:	once established
 * @attempt:	before, once it is known. Whoever takes either out closes it
 * @attempting:	a connection is being made
 * @gone:	taken out of the list
 * @tx_sn:	next Sequence Number
 * @open:	datagrams not acknowledged
 * @probe_sn:	of one of them
 * @probe_at:	jiffies when it was sent, or later
 * @backlog:	datagrams that wait for the connection
 * @used:	jiffies when something was sent or received
 * @work:	makes the connection
 * @rcu:	look-ups
 */
struct fal_peer {
	struct hlist_node node;
	struct list_head list;
	struct fal_dev *dev;
	refcount_t refs;
	struct falcon_path path;
	bool passive;
	struct fal_share *share;
	spinlock_t lock;	/* all below */
	struct falcon_conn *conn;
	struct falcon_conn *attempt;
	bool attempting;
	bool gone;
	u32 tx_sn;
	u32 open;
	u32 probe_sn;
	unsigned long probe_at;
	struct sk_buff_head backlog;
	unsigned long used;
	struct work_struct work;
	struct rcu_head rcu;
};

/* A datagram, at the head of its packet */
struct fal_gram {
	struct falcon_txn txn;
	struct sk_buff *skb;
};

#define FAL_GRAM_ROOM	ALIGN(sizeof(struct fal_gram), 8)

static const struct falcon_ulp_ops fal_ud_ops;

/*
 * Peers
 */

static void fal_peer_put(struct fal_peer *p)
{
	atomic_t *n = &p->dev->eng.nr_peers;

	if (!refcount_dec_and_test(&p->refs))
		return;
	kfree_rcu(p, rcu);
	/* At 0 the device may be freed. */
	if (atomic_dec_and_test(n))
		wake_up_var(n);
}

static u32 fal_peer_hash(const struct falcon_path *path)
{
	return jhash(&path->daddr, sizeof(path->daddr),
		     jhash(&path->saddr, sizeof(path->saddr), path->scope_id));
}

/* Held, or NULL */
static struct fal_peer *fal_peer_find(struct fal_dev *dev,
				      const struct falcon_path *path)
{
	struct fal_peer *p;

	rcu_read_lock();
	hash_for_each_possible_rcu(dev->eng.table, p, node,
				   fal_peer_hash(path))
		if (ipv6_addr_equal(&p->path.daddr, &path->daddr) &&
		    ipv6_addr_equal(&p->path.saddr, &path->saddr) &&
		    p->path.scope_id == path->scope_id &&
		    refcount_inc_not_zero(&p->refs))
			goto out;
	p = NULL;
out:
	rcu_read_unlock();
	return p;
}

static void fal_peer_work(struct work_struct *work);

/*
 * A new one to be found by, if there is none. A peer that connects anew has let
 * go of the connection that it made before: the new one takes its place, once it
 * is confirmed.
 */
static void fal_peer_publish(struct fal_peer *p)
{
	struct fal_dev_eng *eng = &p->dev->eng;
	struct fal_peer *other = fal_peer_find(p->dev, &p->path);

	lockdep_assert_held(&eng->lock);
	if (other && p->passive && other->passive)
		hash_del_rcu(&other->node);
	if (!other || hlist_unhashed(&other->node))
		hash_add_rcu(eng->table, &p->node, fal_peer_hash(&p->path));
	if (other)
		fal_peer_put(other);
}

static u32 fal_host_hash(const struct in6_addr *addr, u32 seed)
{
	unsigned int n = ipv6_addr_v4mapped(addr) ? sizeof(*addr) :
						    sizeof(*addr) / 2;

	return jhash(addr, n, seed);
}

/* Where a peer counts that @qp sends to, or that connects if that is NULL */
static struct fal_share *fal_share(struct fal_dev_eng *eng,
				   const struct falcon_path *path,
				   const struct fal_qp *qp)
{
	u32 hash;

	if (!qp) {
		hash = fal_host_hash(&path->daddr, eng->seed);
		return &eng->hosts[hash % FAL_UD_SHARES];
	}
	if (qp->ibqp.qp_type == IB_QPT_GSI)
		return NULL;
	hash = jhash_1word(__kuid_val(qp->cred->euid), eng->seed);
	return &eng->users[hash % FAL_UD_SHARES];
}

/* Is there room for a peer more? Then it is counted. */
static bool fal_share_take(struct fal_dev_eng *eng, struct fal_share *share,
			   bool passive)
{
	lockdep_assert_held(&eng->lock);
	if (!share)
		return true;
	if (atomic_read(&eng->nr_peers) > FAL_UD_MAX_PEERS - FAL_UD_QP1_PEERS ||
	    share->peers >= (passive ? FAL_UD_HOST_PEERS : FAL_UD_USER_PEERS) ||
	    (passive && eng->nr_passive >= FAL_UD_PASSIVE_PEERS))
		return false;
	share->peers++;
	eng->nr_passive += passive;
	return true;
}

/* There is no room: those that were quiet for a moment are to go, soon. */
static void fal_peers_full(struct fal_dev *dev)
{
	struct fal_dev_eng *eng = &dev->eng;

	lockdep_assert_held(&eng->lock);
	fal_count(dev, FAL_STAT_UD_NO_PEER);
	if (eng->full)
		return;
	eng->full = true;
	mod_delayed_work(fal_eng_wq, &eng->gc, FAL_UD_GC_FULL);
}

static struct fal_peer *fal_peer_alloc(struct fal_dev *dev,
				       const struct falcon_path *path,
				       const struct fal_qp *qp)
{
	struct fal_peer *p = kzalloc(sizeof(*p), GFP_ATOMIC | __GFP_NOWARN);

	if (!p)
		return NULL;
	p->dev = dev;
	refcount_set(&p->refs, 2);
	p->path = *path;
	p->passive = !qp;
	p->attempting = !qp;
	p->share = fal_share(&dev->eng, path, qp);
	spin_lock_init(&p->lock);
	__skb_queue_head_init(&p->backlog);
	p->used = jiffies;
	INIT_WORK(&p->work, fal_peer_work);
	INIT_HLIST_NODE(&p->node);
	return p;
}

/* False: there is no room. */
static bool fal_peer_add(struct fal_peer *p)
{
	struct fal_dev_eng *eng = &p->dev->eng;
	bool room;

	spin_lock_bh(&eng->lock);
	room = !eng->dying &&
	       atomic_read(&eng->nr_peers) <= FAL_UD_MAX_PEERS &&
	       fal_share_take(eng, p->share, p->passive);
	if (room) {
		list_add_tail(&p->list, &eng->peers);
		if (!p->passive)
			fal_peer_publish(p);
	} else if (!eng->dying) {
		fal_peers_full(p->dev);
	}
	spin_unlock_bh(&eng->lock);
	return room;
}

/* A new one that @qp sends to, or that connects; held once more */
static struct fal_peer *fal_peer_new(struct fal_dev *dev,
				     const struct falcon_path *path,
				     const struct fal_qp *qp)
{
	struct fal_dev_eng *eng = &dev->eng;
	struct fal_peer *p = fal_peer_alloc(dev, path, qp);

	if (!p)
		return NULL;
	atomic_inc(&eng->nr_peers);
	if (fal_peer_add(p))
		return p;
	kfree(p);
	if (atomic_dec_and_test(&eng->nr_peers))
		wake_up_var(&eng->nr_peers);
	return NULL;
}

/* Is there room for it in the backlogs? QP1's are few, and small. */
static bool fal_backlog_take(struct fal_peer *p, int bytes)
{
	struct fal_dev_eng *eng = &p->dev->eng;

	if (!p->share)
		return true;
	if (atomic_add_return(bytes, &p->share->backlog) > FAL_UD_USER_BYTES)
		goto share;
	if (atomic_add_return(bytes, &eng->backlog) > FAL_UD_DEV_BYTES)
		goto device;
	return true;
device:
	atomic_sub(bytes, &eng->backlog);
share:
	atomic_sub(bytes, &p->share->backlog);
	return false;
}

static struct sk_buff *fal_backlog_next(struct fal_peer *p)
{
	struct sk_buff *skb = __skb_dequeue(&p->backlog);

	lockdep_assert_held(&p->lock);
	if (skb && p->share) {
		atomic_sub(skb->truesize, &p->share->backlog);
		atomic_sub(skb->truesize, &p->dev->eng.backlog);
	}
	return skb;
}

static void fal_peer_purge(struct fal_peer *p)
{
	struct sk_buff *skb;

	lockdep_assert_held(&p->lock);
	while ((skb = fal_backlog_next(p))) {
		fal_count(p->dev, FAL_STAT_UD_DROP);
		kfree_skb(skb);
	}
}

/*
 * Out of the list and out of sight; its connection ends, made or not. @told is
 * the one that has told so, or NULL.
 */
static void fal_peer_drop(struct fal_peer *p, struct falcon_conn *told)
{
	struct fal_dev_eng *eng = &p->dev->eng;
	struct falcon_conn *conn;
	bool gone;

	spin_lock_bh(&eng->lock);
	if (!hlist_unhashed(&p->node))
		hash_del_rcu(&p->node);
	spin_lock(&p->lock);
	gone = p->gone;
	p->gone = true;
	conn = p->conn ?: p->attempt;
	if (!conn && p->attempting)
		conn = told;
	/* fal_peer_work() closes what is not known yet. */
	if (conn)
		p->attempting = false;
	p->conn = NULL;
	p->attempt = NULL;
	fal_peer_purge(p);
	spin_unlock(&p->lock);
	if (!gone) {
		list_del(&p->list);
		if (p->share)
			p->share->peers--;
		eng->nr_passive -= p->passive;
	}
	spin_unlock_bh(&eng->lock);
	if (conn)
		falcon_conn_close(conn);
	if (!gone)
		fal_peer_put(p);
}

/*
 * Senders that wait
 */

static void fal_ud_wait(struct fal_qp *qp)
{
	struct fal_dev_eng *eng = &qp->dev->eng;

	spin_lock_bh(&eng->lock);
	if (list_empty(&qp->eng.wait_node) && fal_qp_hold(qp))
		list_add_tail(&qp->eng.wait_node, &eng->waiters);
	spin_unlock_bh(&eng->lock);
}

/**
 * fal_ud_forget() - a queue pair does not wait any more
 * @qp:	queue pair
 *
 * Context: process or softirq.
 */
void fal_ud_forget(struct fal_qp *qp)
{
	struct fal_dev_eng *eng = &qp->dev->eng;
	bool waited;

	spin_lock_bh(&eng->lock);
	waited = !list_empty(&qp->eng.wait_node);
	list_del_init(&qp->eng.wait_node);
	spin_unlock_bh(&eng->lock);
	if (waited)
		fal_qp_put(qp);
}

static void fal_ud_wake(struct fal_dev *dev)
{
	struct fal_dev_eng *eng = &dev->eng;
	struct fal_qp *qp;
	LIST_HEAD(wake);

	if (list_empty_careful(&eng->waiters))
		return;
	spin_lock_bh(&eng->lock);
	list_splice_init(&eng->waiters, &wake);
	while ((qp = list_first_entry_or_null(&wake, struct fal_qp,
					      eng.wait_node))) {
		list_del_init(&qp->eng.wait_node);
		spin_unlock_bh(&eng->lock);
		fal_req_kick(qp);
		fal_qp_put(qp);
		spin_lock_bh(&eng->lock);
	}
	spin_unlock_bh(&eng->lock);
}

/*
 * Sending
 */

static void fal_copy_path(struct fal_ah *ah, void *arg)
{
	*(struct falcon_path *)arg = ah->eng.path;
}

static struct sk_buff *fal_gram_skb(struct fal_qp *qp,
				    const struct fal_swqe *wqe,
				    enum ib_wc_status *status)
{
	bool imm = wqe->w.opcode == IB_WR_SEND_WITH_IMM;
	struct fal_hdr h = {
		.op = FAL_SVC_UD | (imm ? FAL_OP_SEND_ONLY_IMM :
					  FAL_OP_SEND_ONLY),
		.pad = -wqe->length & 3,
		.se = wqe->w.flags & FALCON_SEND_SOLICITED,
		.dqpn = wqe->w.remote_qpn & FAL_QPN_MASK,
		.imm = wqe->w.ex,
		.qkey = wqe->w.remote_qkey,
		.sqpn = qp->ibqp.qp_num,
	};
	unsigned int hdr = fal_hdr_len(h.op);
	static const u8 zero[3];
	struct sk_buff *skb;
	int err;

	/* A Q_Key with its top bit set means the queue pair's own. */
	if (h.qkey & BIT(31))
		h.qkey = qp->attr.qkey;
	*status = IB_WC_SUCCESS;
	skb = fal_skb_alloc(FAL_GRAM_ROOM, hdr, wqe->length + h.pad);
	if (!skb)
		return NULL;
	fal_hdr_build(&h, skb->data);
	err = skb_store_bits(skb, hdr + wqe->length, zero, h.pad);
	if (err)
		*status = IB_WC_LOC_QP_OP_ERR;
	else if (wqe->w.flags & FALCON_SEND_INLINE)
		err = skb_store_bits(skb, hdr, wqe->data, wqe->length);
	else
		*status = fal_sges_to_skb(qp, wqe->sge, wqe->w.num_sge, 0,
					  wqe->length, skb, hdr);
	if (!err && !*status)
		return skb;
	kfree_skb(skb);
	return NULL;
}

/* The Sequence Number is known when a datagram leaves. */
static bool fal_gram_push(struct fal_peer *p, struct sk_buff *skb)
{
	struct fal_gram *g = (struct fal_gram *)skb->head;

	lockdep_assert_held(&p->lock);
	memset(g, 0, sizeof(*g));
	g->skb = skb;
	fal_hdr_set_sn(skb->data, p->tx_sn);
	if (falcon_push_more(p->conn, &g->txn, skb)) {
		fal_count(p->dev, FAL_STAT_UD_DROP);
		kfree_skb(skb);
		return false;
	}
	if (!p->open) {
		p->probe_sn = p->tx_sn;
		WRITE_ONCE(p->probe_at, jiffies);
	}
	p->tx_sn++;
	p->open++;
	p->used = jiffies;
	return true;
}

/* Without a connection: into the backlog, and somebody is to make one. */
static void fal_gram_queue(struct fal_peer *p, struct sk_buff *skb)
{
	lockdep_assert_held(&p->lock);
	if (p->gone || skb_queue_len(&p->backlog) >= FAL_UD_BACKLOG ||
	    !fal_backlog_take(p, skb->truesize)) {
		fal_count(p->dev, FAL_STAT_UD_DROP);
		kfree_skb(skb);
		return;
	}
	__skb_queue_tail(&p->backlog, skb);
	if (p->attempting)
		return;
	p->attempting = true;
	refcount_inc(&p->refs);
	if (!queue_work(fal_eng_wq, &p->work))
		fal_peer_put(p);
}

static bool fal_gram_full(const struct fal_peer *p)
{
	return READ_ONCE(p->conn) && READ_ONCE(p->open) >= FAL_UD_OPEN;
}

/* When is a peer that owes too much given up? 0: at once. */
static unsigned long fal_gram_patience(const struct fal_peer *p)
{
	unsigned long end = READ_ONCE(p->probe_at) + FAL_UD_PATIENCE;

	return time_before(jiffies, end) ? end - jiffies : 0;
}

/*
 * The sender waits, unless there is room again by the time it is known to, and
 * not for long: it may have datagrams for others. False: it waits no more.
 */
static bool fal_gram_wait(struct fal_qp *qp, const struct fal_peer *p)
{
	unsigned long patience = fal_gram_patience(p);

	if (!patience)
		return false;
	mod_delayed_work(fal_eng_wq, &qp->eng.retry, patience);
	fal_ud_wait(qp);
	/* Pairs with the lock between fal_ud_complete() and the wake-up */
	smp_mb();
	if (!fal_gram_full(p))
		qp->eng.ud_again = true;
	return true;
}

/* False: the sender has to flush first. */
static bool fal_gram_send(struct fal_qp *qp, struct fal_peer *p,
			  const struct fal_swqe *wqe,
			  enum ib_wc_status *status)
{
	struct falcon_conn *other = qp->eng.ud_flush;
	struct sk_buff *skb;

	spin_lock_bh(&p->lock);
	if (p->conn && other && other != p->conn) {
		spin_unlock_bh(&p->lock);
		qp->eng.ud_again = true;
		return false;
	}
	skb = fal_gram_skb(qp, wqe, status);
	if (!skb) {
		if (!*status)
			fal_count(qp->dev, FAL_STAT_UD_DROP);
	} else if (!p->conn) {
		fal_gram_queue(p, skb);
	} else if (fal_gram_push(p, skb) && !other &&
		   falcon_conn_get(p->conn)) {
		qp->eng.ud_flush = p->conn;
	}
	spin_unlock_bh(&p->lock);
	return true;
}

/* To a peer: sent, dropped, or false: not now. */
static bool fal_gram_to(struct fal_qp *qp, struct fal_peer *p,
			const struct fal_swqe *wqe, enum ib_wc_status *status)
{
	if (!fal_gram_full(p))
		return fal_gram_send(qp, p, wqe, status);
	if (fal_gram_wait(qp, p))
		return false;
	fal_count(qp->dev, FAL_STAT_UD_DROP);
	return true;
}

/**
 * fal_ud_send() - hand a datagram on
 * @qp:		queue pair; what it submits waits in fal_qp_eng::ud_flush
 * @wqe:	its send request
 * @status:	set to what is wrong with it, or left as it is
 *
 * A datagram that cannot be delivered is dropped: that is no error.
 *
 * Context: process or softirq, fal_qp_eng::lock held.
 * Return: false: not now.
 */
bool fal_ud_send(struct fal_qp *qp, const struct fal_swqe *wqe,
		 enum ib_wc_status *status)
{
	struct falcon_path path;
	struct fal_peer *p;
	bool done;

	if (!fal_ah_use(qp, wqe->w.ah, fal_copy_path, &path)) {
		*status = IB_WC_LOC_QP_OP_ERR;
		return true;
	}
	if (wqe->length > fal_dev_mtu(qp->dev)) {
		*status = IB_WC_LOC_LEN_ERR;
		return true;
	}
	p = fal_peer_find(qp->dev, &path) ?: fal_peer_new(qp->dev, &path, qp);
	if (!p) {
		fal_count(qp->dev, FAL_STAT_UD_DROP);
		return true;
	}
	done = fal_gram_to(qp, p, wqe, status);
	fal_peer_put(p);
	return done;
}

static void fal_ud_complete(struct falcon_conn *conn, struct falcon_txn *txn)
{
	struct fal_gram *g = container_of(txn, struct fal_gram, txn);
	struct fal_peer *p = falcon_conn_priv(conn);

	if (txn->cmpl)
		fal_count(p->dev, FAL_STAT_UD_DROP);
	kfree_skb(g->skb);
	spin_lock_bh(&p->lock);
	/* They complete in order, and the probe was the last one sent. */
	if (p->tx_sn - p->open == p->probe_sn) {
		p->probe_sn = p->tx_sn - 1;
		WRITE_ONCE(p->probe_at, jiffies);
	}
	p->open--;
	spin_unlock_bh(&p->lock);
}

/* Senders that waited go on, and acknowledgements leave at once. */
static void fal_ud_batch(struct falcon_conn *conn)
{
	struct fal_peer *p = falcon_conn_priv(conn);

	fal_ud_wake(p->dev);
	falcon_flush(conn);
}

/*
 * Receiving
 */

/* What an InfiniBand receiver finds in front of a datagram */
static void fal_grh(const struct falcon_path *path, u32 len, u8 *grh)
{
	struct ipv6hdr *h6 = (struct ipv6hdr *)grh;
	struct iphdr *h4 = (struct iphdr *)(grh + FAL_GRH_LEN - sizeof(*h4));

	memset(grh, 0, FAL_GRH_LEN);
	if (path->family == AF_INET) {
		h4->version = 4;
		h4->ihl = sizeof(*h4) / 4;
		h4->tot_len = htons(sizeof(*h4) + sizeof(struct udphdr) + len);
		h4->frag_off = htons(IP_DF);
		h4->ttl = 64;
		h4->protocol = IPPROTO_UDP;
		h4->saddr = path->daddr.s6_addr32[3];
		h4->daddr = path->saddr.s6_addr32[3];
		ip_send_check(h4);
		return;
	}
	ip6_flow_hdr(h6, 0, 0);
	h6->payload_len = htons(sizeof(struct udphdr) + len);
	h6->nexthdr = IPPROTO_UDP;
	h6->hop_limit = 64;
	h6->saddr = path->daddr;
	h6->daddr = path->saddr;
}

static enum ib_wc_status fal_gram_place(struct fal_qp *qp, struct fal_peer *p,
					const struct fal_rwqe *rwqe,
					const struct sk_buff *skb, u32 hdr,
					u32 len)
{
	struct ib_pd *pd = qp->srq ? qp->srq->ibsrq.pd : qp->ibqp.pd;
	u8 grh[FAL_GRH_LEN] __aligned(4);
	enum ib_wc_status status;

	if (rwqe->bad)
		return IB_WC_LOC_QP_OP_ERR;
	if (rwqe->length < FAL_GRH_LEN + len)
		return IB_WC_LOC_LEN_ERR;
	fal_grh(&p->path, len, grh);
	status = fal_sges_from_buf(qp, pd, rwqe->sge, rwqe->num_sge, grh,
				   sizeof(grh));
	if (status)
		return status;
	return fal_sges_from_skb(qp, pd, rwqe->sge, rwqe->num_sge,
				 FAL_GRH_LEN, len, skb, hdr);
}

/* False: dropped. */
static bool fal_gram_take(struct fal_qp *qp, struct fal_peer *p,
			  const struct fal_hdr *h, const struct sk_buff *skb,
			  u32 hdr)
{
	u32 len = skb->len - hdr - h->pad;
	struct ib_wc wc = {
		.opcode = IB_WC_RECV,
		.byte_len = FAL_GRH_LEN + len,
		.qp = &qp->ibqp,
		.src_qp = h->sqpn,
		.wc_flags = IB_WC_GRH | IB_WC_WITH_NETWORK_HDR_TYPE,
		.port_num = 1,
		.network_hdr_type = p->path.family == AF_INET ?
				    RDMA_NETWORK_IPV4 : RDMA_NETWORK_IPV6,
	};
	struct fal_rwqe rwqe;

	if (fal_rq_take(qp, NULL, &rwqe))
		return false;
	wc.wr_id = rwqe.wr_id;
	wc.status = fal_gram_place(qp, p, &rwqe, skb, hdr, len);
	if (fal_op_flags(h->op) & FAL_H_IMM) {
		wc.wc_flags |= IB_WC_WITH_IMM;
		wc.ex.imm_data = h->imm;
	}
	fal_cq_add(to_fal_cq(qp->ibqp.recv_cq), &wc, h->se || wc.status);
	return true;
}

static bool fal_gram_wanted(const struct fal_qp *qp, const struct fal_hdr *h)
{
	switch (READ_ONCE(qp->state)) {
	case IB_QPS_RTR:
	case IB_QPS_RTS:
	case IB_QPS_SQD:
	case IB_QPS_SQE:
		break;
	default:
		return false;
	}
	if (qp->ibqp.qp_type == IB_QPT_GSI)
		return h->qkey == IB_QP1_QKEY;
	return qp->ibqp.qp_type == IB_QPT_UD && h->qkey == qp->attr.qkey;
}

static void fal_gram_in(struct fal_peer *p, const struct fal_hdr *h,
			const struct sk_buff *skb, u32 hdr)
{
	struct fal_qp *qp = fal_qp_get(p->dev, h->dqpn);
	bool taken = false;

	if (qp) {
		spin_lock_bh(&qp->eng.rx_lock);
		if (fal_gram_wanted(qp, h))
			taken = fal_gram_take(qp, p, h, skb, hdr);
		spin_unlock_bh(&qp->eng.rx_lock);
		fal_qp_put(qp);
	}
	fal_count(p->dev, taken ? FAL_STAT_RX_SEND : FAL_STAT_UD_DROP);
}

static void fal_ud_deliver(struct falcon_conn *conn, struct falcon_rxpkt *rx,
			   struct sk_buff *skb)
{
	struct fal_peer *p = falcon_conn_priv(conn);
	struct fal_hdr h;
	int hdr;

	hdr = fal_hdr_of_skb(&h, skb);
	if (hdr < 0 || rx->type != FALCON_PKT_PUSH_DATA ||
	    (h.op & FAL_SVC_MASK) != FAL_SVC_UD) {
		fal_count(p->dev, FAL_STAT_RX_BAD_HDR);
		falcon_target_nack(conn, rx, FALCON_NACK_NRE, 0);
		return;
	}
	p->used = jiffies;
	fal_gram_in(p, &h, skb, hdr);
	falcon_target_ack_more(conn, rx);
	consume_skb(skb);
}

/* Datagrams pull nothing, so there is nothing to release. */
static void fal_ud_release(struct falcon_conn *conn, struct falcon_resp *resp)
{
	WARN_ON_ONCE(1);
}

/*
 * Connections
 */

/* Whoever only asks for a connection takes no other's place. */
static void fal_peer_confirmed(struct fal_peer *p)
{
	struct fal_dev_eng *eng = &p->dev->eng;

	spin_lock_bh(&eng->lock);
	if (!p->gone)
		fal_peer_publish(p);
	spin_unlock_bh(&eng->lock);
}

static void fal_peer_up(struct fal_peer *p, struct falcon_conn *conn)
{
	struct sk_buff *skb;
	bool mine, use;

	spin_lock_bh(&p->lock);
	mine = p->attempting;
	use = mine && !p->gone;
	p->attempting = false;
	p->attempt = NULL;
	if (use) {
		p->conn = conn;
		p->tx_sn = FAL_FIRST_SN;
		while ((skb = fal_backlog_next(p)))
			fal_gram_push(p, skb);
	}
	spin_unlock_bh(&p->lock);
	if (use && p->passive)
		fal_peer_confirmed(p);
	if (use) {
		fal_count(p->dev, FAL_STAT_CONN_MADE);
		falcon_flush(conn);
	} else if (mine) {
		falcon_conn_close(conn);
	}
}

/* Not established, or lost. Another peer takes the place of this one. */
static void fal_peer_down(struct fal_peer *p, struct falcon_conn *conn,
			  bool was_up)
{
	fal_count(p->dev, was_up ? FAL_STAT_CONN_LOST : FAL_STAT_CONN_FAILED);
	fal_peer_drop(p, conn);
	fal_ud_wake(p->dev);
}

static void fal_ud_event(struct falcon_conn *conn, enum falcon_conn_event ev,
			 int err)
{
	struct fal_peer *p = falcon_conn_priv(conn);

	switch (ev) {
	case FALCON_EV_ESTABLISHED:
		fal_peer_up(p, conn);
		break;
	case FALCON_EV_FAILED:
	case FALCON_EV_ABORTED:
		fal_peer_down(p, conn, ev == FALCON_EV_ABORTED);
		break;
	case FALCON_EV_TX_SPACE:
		fal_ud_wake(p->dev);
		break;
	case FALCON_EV_CLOSED:
		fal_peer_put(p);
		break;
	case FALCON_EV_KILL:
		break;
	}
}

static const struct falcon_ulp_ops fal_ud_ops = {
	.owner		= THIS_MODULE,
	.proto		= FALCON_PROTO_RDMA,
	.deliver	= fal_ud_deliver,
	.complete	= fal_ud_complete,
	.release	= fal_ud_release,
	.batch		= fal_ud_batch,
	.event		= fal_ud_event,
};

/* The attempt is known, unless it is over already. */
static void fal_peer_attempt(struct fal_peer *p, struct falcon_conn *conn)
{
	bool close;

	spin_lock_bh(&p->lock);
	close = p->attempting && p->gone;
	if (close)
		p->attempting = false;
	else if (p->attempting)
		p->attempt = conn;
	spin_unlock_bh(&p->lock);
	if (close)
		falcon_conn_close(conn);
}

static void fal_peer_work(struct work_struct *work)
{
	struct fal_peer *p = container_of(work, struct fal_peer, work);
	struct falcon_cm_params params = {
		.path = p->path,
		.proto = FALCON_PROTO_RDMA,
		.service = FAL_UD_SERVICE,
		.src_service = FAL_UD_SERVICE,
		.ordered = true,
		.loss = FALCON_CM_BY_SYSCTL,
		.cred = p->dev->cred,
		.user_timeout_ms = FAL_UD_TIMEOUT_MS,
	};
	struct net *net = fal_net_get(p->dev);
	struct falcon_conn *conn = ERR_PTR(-ENETDOWN);

	/* The connection's reference */
	refcount_inc(&p->refs);
	if (net) {
		conn = falcon_connect(net, &params, &fal_ud_ops, p);
		put_net(net);
	}
	if (IS_ERR(conn)) {
		fal_count(p->dev, FAL_STAT_CONN_FAILED);
		fal_peer_drop(p, NULL);
		fal_peer_put(p);
	} else {
		fal_peer_attempt(p, conn);
	}
	fal_peer_put(p);
}

/**
 * fal_ud_request() - a peer wants to send datagrams
 * @dev:	device that has the address it asked for
 * @conn:	connection to be
 * @req:	its wish
 * @ulp:	set
 * @ulp_priv:	set
 *
 * Context: process.
 * Return: 0; -ECONNREFUSED; -ENOBUFS: too many peers, or too many of this one.
 */
int fal_ud_request(struct fal_dev *dev, struct falcon_conn *conn,
		   const struct falcon_cm_params *req,
		   const struct falcon_ulp_ops **ulp, void **ulp_priv)
{
	struct fal_peer *p;
	bool gone;

	if (!req->ordered || req->src_service != FAL_UD_SERVICE)
		return -ECONNREFUSED;
	p = fal_peer_new(dev, &req->path, NULL);
	if (!p)
		return -ENOBUFS;
	spin_lock_bh(&p->lock);
	gone = p->gone;
	if (!gone)
		p->attempt = conn;
	spin_unlock_bh(&p->lock);
	if (gone) {
		fal_peer_put(p);
		return -ECONNREFUSED;
	}
	/* fal_peer_new()'s second reference is the connection's. */
	*ulp = &fal_ud_ops;
	*ulp_priv = p;
	return 0;
}

/*
 * The device
 */

/* One that has been quiet for so long, 0: any; held, or NULL */
static struct fal_peer *fal_peer_idle(struct fal_dev *dev, unsigned long quiet)
{
	struct fal_peer *p;
	bool idle;

	spin_lock_bh(&dev->eng.lock);
	list_for_each_entry(p, &dev->eng.peers, list) {
		spin_lock(&p->lock);
		idle = !p->attempting && !p->open &&
		       time_after(jiffies,
				  p->used + quiet * (p->passive ? 2 : 1));
		spin_unlock(&p->lock);
		if ((idle || !quiet) && refcount_inc_not_zero(&p->refs))
			goto out;
	}
	p = NULL;
out:
	spin_unlock_bh(&dev->eng.lock);
	return p;
}

static void fal_peers_drop(struct fal_dev *dev, unsigned long quiet)
{
	struct fal_peer *p;

	while ((p = fal_peer_idle(dev, quiet))) {
		fal_peer_drop(p, NULL);
		fal_peer_put(p);
		cond_resched();
	}
}

static void fal_ud_gc(struct work_struct *work)
{
	struct fal_dev *dev = container_of(to_delayed_work(work),
					   struct fal_dev, eng.gc);
	bool full;

	spin_lock_bh(&dev->eng.lock);
	full = dev->eng.full;
	dev->eng.full = false;
	spin_unlock_bh(&dev->eng.lock);
	fal_peers_drop(dev, full ? FAL_UD_IDLE_FULL : FAL_UD_IDLE);
	queue_delayed_work(fal_eng_wq, &dev->eng.gc, FAL_UD_GC);
}

/**
 * fal_ud_dev_init() - a new device
 * @dev:	device
 */
void fal_ud_dev_init(struct fal_dev *dev)
{
	struct fal_dev_eng *eng = &dev->eng;

	spin_lock_init(&eng->lock);
	hash_init(eng->table);
	INIT_LIST_HEAD(&eng->peers);
	INIT_LIST_HEAD(&eng->waiters);
	eng->seed = get_random_u32();
	INIT_DELAYED_WORK(&eng->gc, fal_ud_gc);
	queue_delayed_work(fal_eng_wq, &eng->gc, FAL_UD_GC);
}

/**
 * fal_ud_dev_exit() - a device goes
 * @dev:	device without queue pairs and GIDs
 *
 * Context: process, may sleep.
 */
void fal_ud_dev_exit(struct fal_dev *dev)
{
	struct fal_dev_eng *eng = &dev->eng;

	spin_lock_bh(&eng->lock);
	eng->dying = true;
	spin_unlock_bh(&eng->lock);
	cancel_delayed_work_sync(&eng->gc);
	fal_peers_drop(dev, 0);
	wait_var_event(&eng->nr_peers, !atomic_read(&eng->nr_peers));
}
