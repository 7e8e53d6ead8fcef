// SPDX-License-Identifier: GPL-2.0
/*
 * Send queues. User space's requests are copied out of its ring, then checked,
 * then seen by the engine; kernel consumers' are posted into the same copies.
 *
 * [tail, head) are open. A request is done when the engine says so, and its slot
 * is given back when all before it are done too.
 */
#include <linux/log2.h>
#include "internal.h"

#define FAL_OP(op)	BIT(IB_WR_##op)
#define FAL_OPS_SEND	(FAL_OP(SEND) | FAL_OP(SEND_WITH_IMM))
#define FAL_OPS_ATOMIC	(FAL_OP(ATOMIC_CMP_AND_SWP) |			\
			 FAL_OP(ATOMIC_FETCH_AND_ADD))
#define FAL_OPS_WRITE	(FAL_OP(RDMA_WRITE) | FAL_OP(RDMA_WRITE_WITH_IMM))
#define FAL_OPS_INLINE	(FAL_OPS_SEND | FAL_OPS_WRITE | FAL_OP(SEND_WITH_INV))
#define FAL_OPS_LOCAL	(FAL_OP(LOCAL_INV) | FAL_OP(BIND_MW))
#define FAL_OPS_RC	(FAL_OPS_INLINE | FAL_OPS_ATOMIC | FAL_OP(RDMA_READ) | \
			 FAL_OPS_LOCAL)
#define FAL_SEND_FLAGS	(FALCON_SEND_FENCE | FALCON_SEND_SIGNALED |	\
			 FALCON_SEND_SOLICITED | FALCON_SEND_INLINE)

/* Which of the opcodes shared with user space a queue pair may post */
static u32 fal_sq_ops(const struct fal_qp *qp)
{
	switch (qp->ibqp.qp_type) {
	case IB_QPT_RC:
	case IB_QPT_XRC_INI:
		return FAL_OPS_RC;
	case IB_QPT_UD:
	case IB_QPT_GSI:
		return FAL_OPS_SEND;
	default:
		return 0;
	}
}

/**
 * fal_sq_wqe - a request by its index
 * @qp:		queue pair
 * @index:	in [tail, head)
 *
 * Return: the request.
 */
struct fal_swqe *fal_sq_wqe(const struct fal_qp *qp, u32 index)
{
	return qp->sq.wqes + (size_t)(index & qp->sq.mask) * qp->sq.stride;
}

/* What is wrong with a request as such; its memory is looked at in its turn. */
static enum ib_wc_status fal_sq_check(const struct fal_qp *qp,
				      const struct fal_swqe *wqe, u64 length)
{
	const struct falcon_send_wqe *w = &wqe->w;
	u32 op;

	if (w->opcode == IB_WR_REG_MR)
		return wqe->mr ? IB_WC_SUCCESS : IB_WC_LOC_QP_OP_ERR;
	if (w->opcode >= 32)
		return IB_WC_LOC_QP_OP_ERR;
	op = BIT(w->opcode);
	if (!(op & fal_sq_ops(qp)))
		return IB_WC_LOC_QP_OP_ERR;
	if (w->flags & FALCON_SEND_INLINE && !(op & FAL_OPS_INLINE))
		return IB_WC_LOC_QP_OP_ERR;
	if (op & FAL_OPS_ATOMIC && (w->num_sge != 1 || length != 8))
		return IB_WC_LOC_LEN_ERR;
	if (length > FAL_MAX_MSG)
		return IB_WC_LOC_LEN_ERR;
	return IB_WC_SUCCESS;
}

static void fal_sq_open(struct fal_qp *qp, struct fal_swqe *wqe, u32 index)
{
	u64 length = 0;
	u32 i;

	if (wqe->w.flags & FALCON_SEND_INLINE)
		length = wqe->w.inline_len;
	else
		for (i = 0; i < wqe->w.num_sge; i++)
			length += wqe->sge[i].length;
	wqe->index = index;
	wqe->length = length;
	wqe->done = false;
	wqe->eng = (struct fal_swqe_eng) { };
	wqe->status = fal_sq_check(qp, wqe, length);
	if (wqe->status != IB_WC_SUCCESS)
		fal_count(qp->dev, FAL_STAT_BAD_WQE);
}

/* What has no meaning yet must be 0, so that it can get one. */
static bool fal_wqe_reserved(const struct falcon_send_wqe *w)
{
	const u32 ops = FAL_OPS_WRITE | FAL_OPS_ATOMIC | FAL_OP(RDMA_READ);

	if (w->flags & ~FAL_SEND_FLAGS)
		return true;
	return w->opcode < 32 && BIT(w->opcode) & ops && w->rsvd;
}

/* User space may write there while this reads: what was copied counts. */
static void fal_sq_copy(struct fal_qp *qp, struct fal_swqe *wqe, u32 index)
{
	const void *slot = fal_ring_slot(&qp->sq.ring, index);
	struct falcon_send_wqe *w = &wqe->w;

	memcpy(w, slot, sizeof(*w));
	wqe->mr = NULL;
	if (fal_wqe_reserved(w))
		goto bad;
	slot += sizeof(*w);
	if (!(w->flags & FALCON_SEND_INLINE)) {
		w->inline_len = 0;
		if (w->num_sge > qp->sq.max_sge)
			goto bad;
		memcpy(wqe->sge, slot, w->num_sge * sizeof(*wqe->sge));
		return;
	}
	w->num_sge = 0;
	if (w->inline_len > qp->sq.max_inline)
		goto bad;
	memcpy(wqe->data, slot, w->inline_len);
	return;
bad:
	w->opcode = U32_MAX;
	w->num_sge = 0;
	w->inline_len = 0;
}

/**
 * fal_sq_fetch - copy what user space has posted
 * @qp:	queue pair, a kernel consumer's too
 *
 * Context: as the engine serialises.
 */
void fal_sq_fetch(struct fal_qp *qp)
{
	struct fal_sq *sq = &qp->sq;
	u32 n;

	if (!sq->ring.hdr)
		return;
	/* Pairs with the release that posts */
	n = smp_load_acquire(&sq->ring.hdr->prod) - sq->head;
	for (n = min(n, sq->mask + 1 - (sq->head - sq->tail)); n; n--) {
		struct fal_swqe *wqe = fal_sq_wqe(qp, sq->head);

		fal_sq_copy(qp, wqe, sq->head);
		fal_sq_open(qp, wqe, sq->head);
		sq->head++;
	}
}

/**
 * fal_sq_bell - say when user space is to ring the doorbell
 * @qp:		queue pair, a kernel consumer's too
 * @more:	so many requests beyond those fetched may wait for the engine to
 *		look by itself
 *
 * Context: as the engine serialises.
 * Return: true if more than that has been posted meanwhile, and perhaps no
 * doorbell rung.
 */
bool fal_sq_bell(struct fal_qp *qp, u32 more)
{
	struct fal_sq *sq = &qp->sq;
	u32 bell = sq->head + more;

	if (!sq->ring.hdr)
		return false;
	WRITE_ONCE(sq->ring.hdr->bell, bell);
	/* Pairs with the barrier between posting and looking at the bell */
	smp_mb();
	return (s32)(READ_ONCE(sq->ring.hdr->prod) - bell) > 0 &&
	       sq->head - sq->tail <= sq->mask;
}

static enum ib_wc_opcode fal_sq_wc_opcode(u32 opcode)
{
	switch (opcode) {
	case IB_WR_RDMA_WRITE:
	case IB_WR_RDMA_WRITE_WITH_IMM:
		return IB_WC_RDMA_WRITE;
	case IB_WR_RDMA_READ:
		return IB_WC_RDMA_READ;
	case IB_WR_ATOMIC_CMP_AND_SWP:
		return IB_WC_COMP_SWAP;
	case IB_WR_ATOMIC_FETCH_AND_ADD:
		return IB_WC_FETCH_ADD;
	case IB_WR_LOCAL_INV:
		return IB_WC_LOCAL_INV;
	case IB_WR_BIND_MW:
		return IB_WC_BIND_MW;
	case IB_WR_REG_MR:
		return IB_WC_REG_MR;
	default:
		return IB_WC_SEND;
	}
}

/* Is a completion of the request wanted? */
static bool fal_sq_tells(const struct fal_qp *qp, const struct fal_swqe *wqe,
			 enum ib_wc_status status)
{
	return status != IB_WC_SUCCESS || qp->sig_all ||
	       wqe->w.flags & FALCON_SEND_SIGNALED;
}

static void fal_sq_wc(struct fal_qp *qp, const struct fal_swqe *wqe,
		      enum ib_wc_status status, u32 vendor_err,
		      struct ib_wc *wc)
{
	*wc = (struct ib_wc) {
		.wr_id		= wqe->w.wr_id,
		.status		= status,
		.opcode		= fal_sq_wc_opcode(wqe->w.opcode),
		.vendor_err	= vendor_err,
		.qp		= &qp->ibqp,
	};
	if (BIT(wc->opcode) & (BIT(IB_WC_RDMA_READ) | BIT(IB_WC_COMP_SWAP) |
			       BIT(IB_WC_FETCH_ADD)))
		wc->byte_len = wqe->length;
}

/**
 * fal_sq_done - a send request is done
 * @qp:		queue pair
 * @wqe:	open request, not done yet. In an unordered queue pair any of them
 * @status:	IB_WC_SUCCESS, or an error: then there is a completion always
 * @vendor_err:	enum falcon_cmpl of the transaction that failed, or 0
 *
 * @wqe is not to be looked at afterwards.
 *
 * Context: as the engine serialises.
 */
void fal_sq_done(struct fal_qp *qp, struct fal_swqe *wqe,
		 enum ib_wc_status status, u32 vendor_err)
{
	struct fal_sq *sq = &qp->sq;
	u32 tail = sq->tail;
	bool tell = fal_sq_tells(qp, wqe, status);
	struct ib_wc wc;

	if (tell)
		fal_sq_wc(qp, wqe, status, vendor_err, &wc);
	wqe->done = true;
	/* Pairs with the release in posting: a slot is seen as it is then. */
	while (tail != smp_load_acquire(&sq->head) &&
	       fal_sq_wqe(qp, tail)->done)
		tail++;
	/* The slots are free from here on. */
	smp_store_release(&sq->tail, tail);
	if (sq->ring.hdr)
		/* User space's, likewise */
		smp_store_release(&sq->ring.hdr->cons, tail);
	/* Not before: whoever sees the completion may post in its place. */
	if (tell)
		fal_cq_add(to_fal_cq(qp->ibqp.send_cq), &wc, false);
}

/**
 * fal_sq_flush - complete all that is open with IB_WC_WR_FLUSH_ERR
 * @qp:	queue pair in error, of whose requests none is in execution
 *
 * Context: as the engine serialises.
 */
void fal_sq_flush(struct fal_qp *qp)
{
	struct fal_sq *sq = &qp->sq;
	u32 i, round;

	/* Twice: what was posted while the queue was full comes too. */
	for (round = 0; round < 2; round++) {
		fal_sq_fetch(qp);
		/* Kernel consumers post meanwhile; pairs with their release. */
		for (i = sq->tail; i != smp_load_acquire(&sq->head); i++) {
			struct fal_swqe *wqe = fal_sq_wqe(qp, i);

			if (!wqe->done)
				fal_sq_done(qp, wqe, IB_WC_WR_FLUSH_ERR, 0);
		}
	}
}

/**
 * fal_sq_reset - forget all requests, without completions
 * @qp:	queue pair that the engine resets
 *
 * Context: as the engine serialises.
 */
void fal_sq_reset(struct fal_qp *qp)
{
	struct fal_sq *sq = &qp->sq;

	if (sq->ring.hdr) {
		sq->head = READ_ONCE(sq->ring.hdr->prod);
		WRITE_ONCE(sq->ring.hdr->cons, sq->head);
		WRITE_ONCE(sq->ring.hdr->bell, sq->head);
	}
	sq->tail = sq->head;
}

/**
 * fal_sq_init - make a send queue
 * @qp:		queue pair
 * @cap:	what is asked for, within the device's limits
 * @udata:	of the user, or NULL
 *
 * Return: 0, -ENOMEM.
 */
int fal_sq_init(struct fal_qp *qp, const struct ib_qp_cap *cap,
		struct ib_udata *udata)
{
	struct fal_sq *sq = &qp->sq;
	u32 slots = roundup_pow_of_two(max(cap->max_send_wr, 1u));
	u32 room;

	spin_lock_init(&sq->lock);
	sq->max_sge = max(cap->max_send_sge, 1u);
	/* What there is room for may be used: programs count on a little. */
	room = max3(sq->max_sge * (u32)sizeof(struct falcon_sge),
		    ALIGN(cap->max_inline_data, (u32)sizeof(struct falcon_sge)),
		    (u32)FAL_MIN_INLINE);
	sq->max_inline = room;
	sq->mask = slots - 1;
	sq->stride = ALIGN(sizeof(struct fal_swqe) + room, 64);
	sq->wqes = kvcalloc(slots, sq->stride, GFP_KERNEL_ACCOUNT);
	if (!sq->wqes)
		return -ENOMEM;
	if (!udata)
		return 0;
	return fal_ring_alloc(&sq->ring, slots,
			      ALIGN(sizeof(struct falcon_send_wqe) + room, 64),
			      udata);
}

/**
 * fal_sq_exit - free a send queue
 * @qp:	queue pair that the engine has let go; fal_sq_init() may have failed
 */
void fal_sq_exit(struct fal_qp *qp)
{
	fal_ring_free(&qp->sq.ring);
	kvfree(qp->sq.wqes);
}

/*
 * Kernel consumers
 */

static void fal_wqe_set_op(struct fal_swqe *wqe, const struct ib_send_wr *wr)
{
	struct falcon_send_wqe *w = &wqe->w;

	switch (wr->opcode) {
	case IB_WR_RDMA_WRITE:
	case IB_WR_RDMA_WRITE_WITH_IMM:
	case IB_WR_RDMA_READ:
		w->remote_addr = rdma_wr(wr)->remote_addr;
		w->rkey = rdma_wr(wr)->rkey;
		break;
	case IB_WR_ATOMIC_CMP_AND_SWP:
	case IB_WR_ATOMIC_FETCH_AND_ADD:
		w->remote_addr = atomic_wr(wr)->remote_addr;
		w->rkey = atomic_wr(wr)->rkey;
		w->compare_add = atomic_wr(wr)->compare_add;
		w->swap = atomic_wr(wr)->swap;
		break;
	case IB_WR_REG_MR:
		wqe->mr = to_fal_mr(reg_wr(wr)->mr);
		wqe->reg_key = reg_wr(wr)->key;
		wqe->reg_access = reg_wr(wr)->access;
		break;
	default:
		break;
	}
}

static void fal_wqe_set_ud(struct fal_swqe *wqe, const struct ib_send_wr *wr)
{
	wqe->w.ah = to_fal_ah(ud_wr(wr)->ah)->nr;
	wqe->w.remote_qpn = ud_wr(wr)->remote_qpn;
	wqe->w.remote_qkey = ud_wr(wr)->remote_qkey;
}

static void fal_wqe_copy_inline(struct fal_swqe *wqe,
				const struct ib_send_wr *wr)
{
	u32 n = 0;
	int i;

	for (i = 0; i < wr->num_sge; i++) {
		memcpy(wqe->data + n, (void *)(uintptr_t)wr->sg_list[i].addr,
		       wr->sg_list[i].length);
		n += wr->sg_list[i].length;
	}
	wqe->w.inline_len = n;
	wqe->w.num_sge = 0;
}

static bool fal_wr_fits(const struct fal_sq *sq, const struct ib_send_wr *wr)
{
	u64 length = 0;
	int i;

	if (wr->num_sge > sq->max_sge)
		return false;
	for (i = 0; i < wr->num_sge; i++)
		length += wr->sg_list[i].length;
	return !(wr->send_flags & IB_SEND_INLINE) || length <= sq->max_inline;
}

static int fal_post_one(struct fal_qp *qp, const struct ib_send_wr *wr)
{
	struct fal_sq *sq = &qp->sq;
	u32 head = sq->head;
	struct fal_swqe *wqe = fal_sq_wqe(qp, head);
	int i;

	/* Pairs with the release that frees slots */
	if (head - smp_load_acquire(&sq->tail) > sq->mask)
		return -ENOMEM;
	if (!fal_wr_fits(sq, wr))
		return -EINVAL;
	memset(&wqe->w, 0, sizeof(wqe->w));
	wqe->mr = NULL;
	wqe->w.wr_id = wr->wr_id;
	wqe->w.opcode = wr->opcode;
	wqe->w.flags = wr->send_flags;
	wqe->w.ex = wr->ex.imm_data;
	if (wr->send_flags & IB_SEND_INLINE) {
		fal_wqe_copy_inline(wqe, wr);
	} else {
		wqe->w.num_sge = wr->num_sge;
		for (i = 0; i < wr->num_sge; i++) {
			wqe->sge[i].addr = wr->sg_list[i].addr;
			wqe->sge[i].length = wr->sg_list[i].length;
			wqe->sge[i].lkey = wr->sg_list[i].lkey;
		}
	}
	if (qp->ibqp.qp_type == IB_QPT_RC)
		fal_wqe_set_op(wqe, wr);
	else
		fal_wqe_set_ud(wqe, wr);
	fal_sq_open(qp, wqe, head);
	/* The request before the index */
	smp_store_release(&sq->head, head + 1);
	return 0;
}

static bool fal_may_post_send(const struct fal_qp *qp)
{
	switch (READ_ONCE(qp->state)) {
	case IB_QPS_RESET:
	case IB_QPS_INIT:
	case IB_QPS_RTR:
		return false;
	default:
		return true;
	}
}

/*
 * ib_device_ops::post_send. User space's is a doorbell: its requests are in the
 * ring.
 */
int fal_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr,
		  const struct ib_send_wr **bad)
{
	struct fal_qp *qp = to_fal_qp(ibqp);
	unsigned long flags;
	int err = 0;

	/* An XRC target has no send queue; nor has it anything of user space. */
	if (!qp->sq.wqes) {
		*bad = wr;
		return -EINVAL;
	}
	if (qp->sq.ring.hdr || ibqp->uobject) {
		/* Before RTS nothing is begun, and that looks by itself. */
		if (fal_may_post_send(qp))
			fal_eng_kick(qp);
		return 0;
	}
	if (!fal_may_post_send(qp)) {
		*bad = wr;
		return -EINVAL;
	}
	spin_lock_irqsave(&qp->sq.lock, flags);
	for (; wr; wr = wr->next) {
		err = fal_post_one(qp, wr);
		if (err) {
			*bad = wr;
			break;
		}
	}
	spin_unlock_irqrestore(&qp->sq.lock, flags);
	fal_eng_kick(qp);
	return err;
}
