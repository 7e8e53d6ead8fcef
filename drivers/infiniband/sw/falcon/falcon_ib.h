/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Verbs over Falcon: the objects of the driver, and what its two halves call of
 * each other.
 *
 * The front half owns what a verbs consumer sees: devices, protection domains,
 * memory, queues, the state of a queue pair. The engine is the RDMA over Falcon
 * protocol: it takes work requests from the queues, talks to falcon.ko, and
 * puts completions into the queues. It sees work requests in kernel memory
 * alone, copied and checked.
 */
#ifndef _FALCON_IB_H
#define _FALCON_IB_H

#include <linux/netdevice.h>
#include <linux/refcount.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>
#include <rdma/ib_verbs.h>
#include <rdma/falcon-abi.h>
#include "engine.h"

#define FAL_MAX_SGE		32
#define FAL_MIN_INLINE		64
#define FAL_MAX_INLINE		512	/* == FAL_MAX_SGE * sizeof(falcon_sge) */
#define FAL_MAX_WR		BIT(15)
#define FAL_MAX_CQE		BIT(22)
#define FAL_MAX_RD_ATOMIC	128
#define FAL_MAX_MSG		BIT(31)
#define FAL_MAX_FRWR_PAGES	1024

/* Counters of a device; main.c has their names. */
enum fal_stat {
	FAL_STAT_TX_SEND,
	FAL_STAT_TX_WRITE,
	FAL_STAT_TX_READ,
	FAL_STAT_TX_ATOMIC,
	FAL_STAT_RX_SEND,
	FAL_STAT_RX_WRITE,
	FAL_STAT_RX_READ,
	FAL_STAT_RX_ATOMIC,
	FAL_STAT_RX_RNR,
	FAL_STAT_RX_BAD_HDR,
	FAL_STAT_RX_BAD_CID,
	FAL_STAT_RX_BAD_SEQ,
	FAL_STAT_RX_ACCESS,
	FAL_STAT_UD_DROP,
	FAL_STAT_UD_NO_PEER,
	FAL_STAT_CONN_MADE,
	FAL_STAT_CONN_FAILED,
	FAL_STAT_CONN_LOST,
	FAL_STAT_QP_ERROR,
	FAL_STAT_BAD_WQE,
	FAL_STAT_CQ_OVERFLOW,
	FAL_NR_STATS
};

struct fal_stats {
	u64 n[FAL_NR_STATS];
};

/**
 * struct fal_dev - a device
 * @ibdev:	of the verbs core
 * @ndev:	netdev; NULL from its unregistration on. RCU
 * @ndev_lock:	its writers
 * @tracker:	of the reference to @ndev
 * @qps:	queue pairs by QPN
 * @srqs:	XRC shared receive queues by number
 * @mrs:	regions and windows by the upper 24 bits of their keys
 * @ahs:	address handles of user space by number
 * @next_qpn:	where the search for a free QPN begins
 * @next_srqn:	likewise
 * @next_key:	likewise
 * @next_ah:	likewise
 * @stats:	per CPU
 * @cred:	whose keyrings may have pre-shared keys for datagrams: its maker's
 * @eng:	of the engine
 */
struct fal_dev {
	struct ib_device ibdev;
	struct net_device __rcu *ndev;
	spinlock_t ndev_lock;		/* writers of @ndev */
	netdevice_tracker tracker;
	struct xarray qps;
	struct xarray srqs;
	struct xarray mrs;
	struct xarray ahs;
	u32 next_qpn;
	u32 next_srqn;
	u32 next_key;
	u32 next_ah;
	struct fal_stats __percpu *stats;
	const struct cred *cred;
	struct fal_dev_eng eng;
};

static inline void fal_count(struct fal_dev *dev, enum fal_stat stat)
{
	this_cpu_inc(dev->stats->n[stat]);
}

struct fal_ucontext {
	struct ib_ucontext ibuc;
};

struct fal_pd {
	struct ib_pd ibpd;
};

struct fal_xrcd {
	struct ib_xrcd ibxrcd;
};

/**
 * struct fal_ah - address handle
 * @ibah:	of the verbs core
 * @dev:	device
 * @attr:	the peer; its grh.sgid_attr is held
 * @nr:		for user space
 * @eng:	of the engine, which takes what it needs from here when a send
 *		request is started; the handle may be destroyed any time
 */
struct fal_ah {
	struct ib_ah ibah;
	struct fal_dev *dev;
	struct rdma_ah_attr attr;
	u32 nr;
	struct fal_ah_eng eng;
};

/**
 * struct fal_ring - a ring in memory that may be mapped
 * @hdr:	vmalloc_user() memory; what user space can scribble over
 * @entry:	of the mapping, NULL in a kernel consumer's
 * @mask:	slots - 1
 * @stride:	bytes from slot to slot
 * @length:	bytes of the whole
 */
struct fal_ring {
	struct falcon_ring_hdr *hdr;
	struct rdma_user_mmap_entry *entry;
	u32 mask;
	u32 stride;
	u32 length;
};

static inline void *fal_ring_slot(const struct fal_ring *ring, u32 index)
{
	return (void *)ring->hdr + FALCON_RING_SLOTS +
	       (size_t)(index & ring->mask) * ring->stride;
}

/**
 * struct fal_cq - completion queue
 * @ibcq:	of the verbs core
 * @lock:	all below; irq-safe, nothing is called under it
 * @ring:	user space: of struct falcon_cqe
 * @wcs:	kernel: as many slots of the same indices
 * @prod:	next slot to fill
 * @cons:	kernel: next slot to poll
 * @size:	entries the consumer asked for or more
 * @notify:	enum ib_cq_notify_flags armed, or 0
 * @pending:	completions since armed
 * @count:	moderation: events come after so many completions
 * @period_us:	or so much time
 * @timer:	of @period_us
 * @tasklet:	calls the completion handler of kernel consumers, out of
 *		whatever context completed
 * @overflow:	it has overflown; nothing is added any more
 */
struct fal_cq {
	struct ib_cq ibcq;
	spinlock_t lock;		/* all below */
	struct fal_ring ring;
	struct ib_wc *wcs;
	u32 prod;
	u32 cons;
	u32 size;
	u8 notify;
	u32 pending;
	u16 count;
	u16 period_us;
	struct hrtimer timer;
	struct tasklet_struct tasklet;
	bool overflow;
};

/**
 * struct fal_rq - receive queue, of a queue pair or shared
 * @lock:	all below; irq-safe
 * @ring:	of struct falcon_recv_wqe and its entries, user space's and kernel
 *		consumers' alike
 * @prod:	kernel: next slot to post
 * @cons:	next slot to take
 * @max_wr:	requests that fit
 * @max_sge:	entries a work request can have
 * @limit:	shared: event below so many, 0 for none
 */
struct fal_rq {
	spinlock_t lock;		/* all below */
	struct fal_ring ring;
	u32 prod;
	u32 cons;
	u32 max_wr;
	u32 max_sge;
	u32 limit;
};

/**
 * struct fal_rwqe - a receive request, copied and checked
 * @wr_id:	for the completion
 * @num_sge:	valid entries of @sge
 * @length:	bytes that they hold
 * @bad:	what user space wrote was no request: complete it with
 *		IB_WC_LOC_QP_OP_ERR
 * @sge:	pieces
 */
struct fal_rwqe {
	u64 wr_id;
	u32 num_sge;
	u32 length;
	bool bad;
	struct falcon_sge sge[FAL_MAX_SGE];
};

/**
 * struct fal_slot - a message that fills a receive request, in the engine
 * @rwqe:	the request
 * @srq:	XRC: whose it is, held
 * @status:	what it will complete with
 * @taken:	there is one
 * @write:	the message is a WRITE with immediate data
 * @last:	its last packet has come: all below is known
 * @se:		solicited
 * @bytes:	received
 * @total:	of the message
 * @last_sn:	Sequence Number of the last packet
 * @flags:	FAL_H_IMM or FAL_H_IETH
 * @imm:	immediate data
 * @inv_rkey:	key that was invalidated
 */
struct fal_slot {
	struct fal_rwqe rwqe;
	struct fal_srq *srq;
	enum ib_wc_status status;
	bool taken;
	bool write;
	bool last;
	bool se;
	u32 bytes;
	u32 total;
	u32 last_sn;
	u32 flags;
	__be32 imm;
	u32 inv_rkey;
};

/**
 * struct fal_srq - shared receive queue
 * @ibsrq:	of the verbs core
 * @dev:	device
 * @rq:		the queue
 * @nr:		XRC: its number
 * @refs:	fal_srq_get(), fal_srq_put()
 * @idle:	the last reference is gone
 */
struct fal_srq {
	struct ib_srq ibsrq;
	struct fal_dev *dev;
	struct fal_rq rq;
	u32 nr;
	refcount_t refs;
	struct completion idle;
};

/**
 * struct fal_swqe - a send request, copied and checked
 * @w:		the request. Its opcode is one that the queue pair may post
 * @index:	free-running index
 * @length:	bytes of the request's data
 * @status:	IB_WC_SUCCESS, or what it must complete with when its turn
 *		comes, without being executed
 * @done:	fal_sq_done() was called
 * @mr:		IB_WR_REG_MR: the region
 * @reg_key:	IB_WR_REG_MR: its key
 * @reg_access:	IB_WR_REG_MR: its access
 * @eng:	of the engine
 * @sge:	@w.num_sge entries
 * @data:	with FALCON_SEND_INLINE: @w.inline_len bytes
 */
struct fal_swqe {
	struct falcon_send_wqe w;
	u32 index;
	u32 length;
	enum ib_wc_status status;
	bool done;
	struct fal_mr *mr;
	u32 reg_key;
	int reg_access;
	struct fal_swqe_eng eng;
	union {
		DECLARE_FLEX_ARRAY(struct falcon_sge, sge);
		DECLARE_FLEX_ARRAY(u8, data);
	};
};

/**
 * struct fal_sq - send queue
 * @lock:	kernel consumers' posting; irq-safe
 * @ring:	user space's requests; unused by kernel consumers
 * @wqes:	struct fal_swqe, @stride apart: the kernel's copies
 * @stride:	bytes
 * @mask:	slots - 1
 * @max_wr:	requests that may be open
 * @max_sge:	entries a request can have
 * @max_inline:	bytes of inline data
 * @head:	next to be copied or posted: [tail, head) are open
 * @tail:	oldest that is not done
 *
 * fal_sq_fetch(), fal_sq_done() and the engine's own look at the queue are
 * serialised by the engine.
 */
struct fal_sq {
	spinlock_t lock;		/* kernel consumers' posting */
	struct fal_ring ring;
	void *wqes;
	u32 stride;
	u32 mask;
	u32 max_wr;
	u32 max_sge;
	u32 max_inline;
	u32 head;
	u32 tail;
};

/**
 * struct fal_qp - queue pair
 * @ibqp:	of the verbs core
 * @dev:	device
 * @refs:	fal_qp_get(), fal_qp_put()
 * @idle:	the last reference is gone
 * @mutex:	modification
 * @lock:	@state; irq-safe
 * @state:	enum ib_qp_state
 * @attr:	as modified so far; the address vector's sgid_attr is
 *		@ibqp.av_sgid_attr
 * @sq:		send queue, empty in an XRC target
 * @rq:		receive queue, if there is no @srq
 * @srq:	shared receive queue, or NULL. XRC targets name theirs in each
 *		packet
 * @sig_all:	every request makes a completion
 * @order:	enum falcon_qp_order
 * @errors:	enum falcon_qp_errors
 * @security:	of its connections, of falcon_security_check()
 * @fae:	congestion control of its connections, held; NULL: by sysctl
 * @cred:	whose keyrings may have pre-shared keys: its maker's
 * @last_wqe:	IB_EVENT_QP_LAST_WQE_REACHED was told
 * @eng:	of the engine
 */
struct fal_qp {
	struct ib_qp ibqp;
	struct fal_dev *dev;
	refcount_t refs;
	struct completion idle;
	struct mutex mutex;		/* modification */
	spinlock_t lock;		/* @state */
	enum ib_qp_state state;
	struct ib_qp_attr attr;
	struct fal_sq sq;
	struct fal_rq rq;
	struct fal_srq *srq;
	bool sig_all;
	u8 order;
	u8 errors;
	u8 security;
	const struct falcon_fae_ops *fae;
	const struct cred *cred;
	bool last_wqe;
	struct fal_qp_eng eng;
};

/**
 * struct fal_mem - the memory of a region
 * @umem:	pinned user memory, or NULL
 * @kernel:	all memory, by kernel address; there are no @pages
 * @offset:	of the first byte in @pages[0]
 * @nr_pages:	valid ones
 * @max_pages:	room
 * @pages:	pages
 */
struct fal_mem {
	struct ib_umem *umem;
	bool kernel;
	u32 offset;
	u32 nr_pages;
	u32 max_pages;
	struct page *pages[];
};

enum fal_mr_type {
	FAL_MR_DMA,		/* all memory, by kernel address */
	FAL_MR_USER,
	FAL_MR_FAST,		/* registered by work request */
	FAL_MW_TYPE_1,
	FAL_MW_TYPE_2,
};

/**
 * struct fal_mr - memory region or window
 * @ibmr:	of the verbs core; regions alone
 * @dev:	device
 * @rcu:	look-ups
 * @users:	accesses under way
 * @lock:	who changes what is below; a window's is taken before its
 *		region's
 * @type:	what it is
 * @valid:	it can be accessed: not invalidated, bound. What is below
 *		changes only while it is not, and @users is 0
 * @pd:		protection domain
 * @key:	lkey and rkey: index, and eight bits that change
 * @access:	enum ib_access_flags
 * @iova:	address of the first byte
 * @length:	bytes
 * @start:	windows: first byte, from the region's first
 * @mem:	regions: their memory
 * @region:	windows: bound to, which cannot go meanwhile
 * @qpn:	type 2 windows: of the queue pair they are bound on
 * @windows:	regions: windows bound to it
 *
 * An access takes no lock: it counts in @users, then looks at @valid. Who
 * changes the region or ends it resets @valid, then waits for @users, which is
 * for no longer than a packet takes to be copied. So there is no access any more
 * once a region is deregistered or a key is invalidated.
 */
struct fal_mr {
	struct ib_mr ibmr;
	struct fal_dev *dev;
	struct rcu_head rcu;
	atomic_t users;
	spinlock_t lock;		/* changes of what is below */
	enum fal_mr_type type;
	bool valid;
	struct ib_pd *pd;
	u32 key;
	int access;
	u64 iova;
	u64 length;
	u64 start;
	struct fal_mem *mem;
	struct fal_mr *region;
	u32 qpn;
	u32 windows;
};

/**
 * struct fal_mw - what the verbs core has of a window, and frees at once
 * @ibmw:	of the verbs core
 * @mr:		the window, which look-ups may find a little longer
 */
struct fal_mw {
	struct ib_mw ibmw;
	struct fal_mr *mr;
};

/**
 * struct fal_seg - a piece of a region that was found and may be accessed
 * @mr:		the region or window, which stays as it is until fal_seg_put()
 * @mem:	its memory
 * @off:	of its first byte, from the first byte of @mem; of all memory,
 *		its kernel address
 */
struct fal_seg {
	struct fal_mr *mr;
	const struct fal_mem *mem;
	u64 off;
};

#define FAL_TO(type, field, name)					\
static inline struct type *to_##type(struct name *p)			\
{									\
	return container_of(p, struct type, field);			\
}
FAL_TO(fal_dev, ibdev, ib_device)
FAL_TO(fal_ucontext, ibuc, ib_ucontext)
FAL_TO(fal_pd, ibpd, ib_pd)
FAL_TO(fal_xrcd, ibxrcd, ib_xrcd)
FAL_TO(fal_ah, ibah, ib_ah)
FAL_TO(fal_cq, ibcq, ib_cq)
FAL_TO(fal_srq, ibsrq, ib_srq)
FAL_TO(fal_qp, ibqp, ib_qp)
FAL_TO(fal_mr, ibmr, ib_mr)
FAL_TO(fal_mw, ibmw, ib_mw)

/*
 * What the engine calls of the front half
 */

/* main.c */
struct net *fal_dev_net(struct fal_dev *dev);
u32 fal_dev_mtu(struct fal_dev *dev);

/* ucontext.c */
bool fal_ah_use(struct fal_qp *qp, u32 nr,
		void (*use)(struct fal_ah *ah, void *arg), void *arg);

/* cq.c */
void fal_cq_add(struct fal_cq *cq, const struct ib_wc *wc, bool solicited);

/* sq.c */
void fal_sq_fetch(struct fal_qp *qp);
bool fal_sq_bell(struct fal_qp *qp, u32 more);
void fal_sq_reset(struct fal_qp *qp);
struct fal_swqe *fal_sq_wqe(const struct fal_qp *qp, u32 index);
void fal_sq_done(struct fal_qp *qp, struct fal_swqe *wqe,
		 enum ib_wc_status status, u32 vendor_err);
void fal_sq_flush(struct fal_qp *qp);

/* rq.c */
int fal_rq_take(struct fal_qp *qp, struct fal_srq *srq, struct fal_rwqe *rwqe);
void fal_rq_flush(struct fal_qp *qp);
struct fal_srq *fal_srq_get(struct fal_dev *dev, u32 nr, struct ib_xrcd *xrcd);
void fal_srq_put(struct fal_srq *srq);

/* qp.c */
struct fal_qp *fal_qp_get(struct fal_dev *dev, u32 qpn);
bool fal_qp_hold(struct fal_qp *qp);
void fal_qp_put(struct fal_qp *qp);
bool fal_qp_set_error(struct fal_qp *qp);
void fal_qp_set_sqe(struct fal_qp *qp);
void fal_qp_event(struct fal_qp *qp, enum ib_event_type event);

/* mr.c */
enum ib_wc_status fal_mr_find(struct fal_qp *qp, struct ib_pd *pd, u32 key,
			      u64 addr, u32 length, int access,
			      struct fal_seg *seg);
struct page *fal_seg_page(const struct fal_seg *seg, u32 skip,
			  unsigned int *offset, unsigned int *length);
void fal_seg_put(struct fal_seg *seg);
enum ib_wc_status fal_mr_register(struct fal_qp *qp, struct fal_swqe *wqe);
enum ib_wc_status fal_mr_invalidate(struct fal_qp *qp, const struct ib_pd *pd,
				    u32 key, bool remote);
enum ib_wc_status fal_mw_bind(struct fal_qp *qp, struct fal_swqe *wqe);

/*
 * What the front half calls of the engine: engine.h has the rest
 */

int fal_eng_dev_init(struct fal_dev *dev);
void fal_eng_dev_exit(struct fal_dev *dev);
int fal_eng_qp_init(struct fal_qp *qp);
void fal_eng_qp_exit(struct fal_qp *qp);
int fal_eng_to_rtr(struct fal_qp *qp);
void fal_eng_to_rts(struct fal_qp *qp);
void fal_eng_from_sqe(struct fal_qp *qp);
void fal_eng_to_sqd(struct fal_qp *qp);
void fal_eng_to_err(struct fal_qp *qp);
void fal_eng_to_reset(struct fal_qp *qp);
void fal_eng_kick(struct fal_qp *qp);
void fal_eng_srq_gone(struct fal_srq *srq);
int fal_eng_ah_init(struct fal_ah *ah);
void fal_eng_ah_exit(struct fal_ah *ah);

#endif /* _FALCON_IB_H */
