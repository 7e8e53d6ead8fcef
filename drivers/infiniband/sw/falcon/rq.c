// SPDX-License-Identifier: GPL-2.0
/*
 * Receive queues, of a queue pair or shared. The ring is the queue, user space's
 * and kernel consumers' alike; a request is copied when a message takes it.
 */
#include <linux/log2.h>
#include "internal.h"

/* Copies the next request; false if there is none. */
static bool fal_rq_next(struct fal_rq *rq, struct fal_rwqe *out, u32 *left)
{
	const struct falcon_recv_wqe *slot;
	u64 length = 0;
	u32 n, i;

	lockdep_assert_held(&rq->lock);

	/* Pairs with the release that posts */
	n = smp_load_acquire(&rq->ring.hdr->prod) - rq->cons;
	if (!n)
		return false;
	*left = n - 1;
	slot = fal_ring_slot(&rq->ring, rq->cons);
	out->wr_id = READ_ONCE(slot->wr_id);
	out->num_sge = READ_ONCE(slot->num_sge);
	out->bad = out->num_sge > rq->max_sge || READ_ONCE(slot->rsvd);
	if (out->bad)
		out->num_sge = 0;
	memcpy(out->sge, slot + 1, out->num_sge * sizeof(*out->sge));
	for (i = 0; i < out->num_sge; i++)
		length += out->sge[i].length;
	out->length = min_t(u64, length, U32_MAX);
	rq->cons++;
	/* The slot is read before it is given back. */
	smp_store_release(&rq->ring.hdr->cons, rq->cons);
	return true;
}

static void fal_srq_event(struct fal_srq *srq, enum ib_event_type type)
{
	struct ib_event event = {
		.device		= srq->ibsrq.device,
		.event		= type,
		.element.srq	= &srq->ibsrq,
	};

	if (srq->ibsrq.event_handler)
		srq->ibsrq.event_handler(&event, srq->ibsrq.srq_context);
}

/**
 * fal_rq_take - take the next receive request
 * @qp:		queue pair that received
 * @srq:	shared queue that the packet names (XRC), or NULL: the queue
 *		pair's own, or the shared one that it was made with
 * @rwqe:	written
 *
 * Context: any.
 * Return: 0; -ENOENT if there is none.
 */
int fal_rq_take(struct fal_qp *qp, struct fal_srq *srq, struct fal_rwqe *rwqe)
{
	bool found, low = false;
	unsigned long flags;
	struct fal_rq *rq;
	u32 left;

	srq = srq ?: qp->srq;
	rq = srq ? &srq->rq : &qp->rq;
	if (!rq->ring.hdr)
		return -ENOENT;
	spin_lock_irqsave(&rq->lock, flags);
	found = fal_rq_next(rq, rwqe, &left);
	if (found && left < rq->limit) {
		rq->limit = 0;
		low = true;
	}
	spin_unlock_irqrestore(&rq->lock, flags);
	if (low)
		fal_srq_event(srq, IB_EVENT_SRQ_LIMIT_REACHED);
	return found ? 0 : -ENOENT;
}

static void fal_rq_flush_one(struct fal_qp *qp, const struct fal_rwqe *rwqe)
{
	struct ib_wc wc = {
		.wr_id		= rwqe->wr_id,
		.status		= IB_WC_WR_FLUSH_ERR,
		.opcode		= IB_WC_RECV,
		.qp		= &qp->ibqp,
	};

	fal_cq_add(to_fal_cq(qp->ibqp.recv_cq), &wc, true);
}

static bool fal_rq_take_one(struct fal_rq *rq, struct fal_rwqe *rwqe)
{
	unsigned long flags;
	bool found;
	u32 left;

	spin_lock_irqsave(&rq->lock, flags);
	found = fal_rq_next(rq, rwqe, &left);
	spin_unlock_irqrestore(&rq->lock, flags);
	return found;
}

/**
 * fal_rq_flush - the receive side of a queue pair in error
 * @qp:	queue pair that takes no receive request any more
 *
 * Its own requests complete with IB_WC_WR_FLUSH_ERR, and whoever posts more
 * rings the doorbell. Of a shared queue the consumer is told, once, that none
 * will be taken for this queue pair.
 *
 * Context: any; one at a time.
 */
void fal_rq_flush(struct fal_qp *qp)
{
	struct fal_rq *rq = &qp->rq;
	struct fal_rwqe rwqe;
	u32 n;

	if (qp->srq && !qp->last_wqe) {
		qp->last_wqe = true;
		fal_qp_event(qp, IB_EVENT_QP_LAST_WQE_REACHED);
	}
	if (!rq->ring.hdr)
		return;
	WRITE_ONCE(rq->ring.hdr->flags, FALCON_RING_DOORBELL);
	/* Pairs with the barrier between posting and looking at the flag */
	smp_mb();
	for (n = 0; n <= rq->ring.mask && fal_rq_take_one(rq, &rwqe); n++)
		fal_rq_flush_one(qp, &rwqe);
}

/**
 * fal_rq_init - make a receive queue
 * @rq:		written
 * @max_wr:	requests
 * @max_sge:	entries of each
 * @udata:	of the user, or NULL
 *
 * Return: 0, -ENOMEM.
 */
int fal_rq_init(struct fal_rq *rq, u32 max_wr, u32 max_sge,
		struct ib_udata *udata)
{
	u32 slots = roundup_pow_of_two(max(max_wr, 1u));

	spin_lock_init(&rq->lock);
	rq->max_wr = slots;
	rq->max_sge = max(max_sge, 1u);
	return fal_ring_alloc(&rq->ring, slots,
			      sizeof(struct falcon_recv_wqe) +
			      rq->max_sge * sizeof(struct falcon_sge), udata);
}

/**
 * fal_rq_reset - forget all requests, without completions
 * @rq:	queue that nothing takes from
 */
void fal_rq_reset(struct fal_rq *rq)
{
	if (!rq->ring.hdr)
		return;
	spin_lock_irq(&rq->lock);
	WRITE_ONCE(rq->ring.hdr->flags, 0);
	rq->cons = READ_ONCE(rq->ring.hdr->prod);
	WRITE_ONCE(rq->ring.hdr->cons, rq->cons);
	spin_unlock_irq(&rq->lock);
}

/**
 * fal_rq_exit - free a receive queue
 * @rq:	queue that nothing takes from; may never have been made
 */
void fal_rq_exit(struct fal_rq *rq)
{
	fal_ring_free(&rq->ring);
}

/*
 * Kernel consumers
 */

static int fal_rq_post_one(struct fal_rq *rq, const struct ib_recv_wr *wr)
{
	struct falcon_recv_wqe *slot = fal_ring_slot(&rq->ring, rq->prod);
	struct falcon_sge *sge = (void *)(slot + 1);
	int i;

	if (rq->prod - rq->cons > rq->ring.mask)
		return -ENOMEM;
	if (wr->num_sge > rq->max_sge)
		return -EINVAL;
	slot->wr_id = wr->wr_id;
	slot->num_sge = wr->num_sge;
	for (i = 0; i < wr->num_sge; i++) {
		sge[i].addr = wr->sg_list[i].addr;
		sge[i].length = wr->sg_list[i].length;
		sge[i].lkey = wr->sg_list[i].lkey;
	}
	/* The request before the index */
	smp_store_release(&rq->ring.hdr->prod, ++rq->prod);
	return 0;
}

static int fal_rq_post(struct fal_rq *rq, const struct ib_recv_wr *wr,
		       const struct ib_recv_wr **bad)
{
	unsigned long flags;
	int err = 0;

	spin_lock_irqsave(&rq->lock, flags);
	for (; wr && !err; wr = wr->next) {
		err = fal_rq_post_one(rq, wr);
		if (err)
			*bad = wr;
	}
	spin_unlock_irqrestore(&rq->lock, flags);
	return err;
}

/* ib_device_ops::post_recv, for kernel consumers */
int fal_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr,
		  const struct ib_recv_wr **bad)
{
	struct fal_qp *qp = to_fal_qp(ibqp);
	int err;

	if (!qp->rq.ring.hdr || READ_ONCE(qp->state) == IB_QPS_RESET) {
		*bad = wr;
		return -EINVAL;
	}
	err = fal_rq_post(&qp->rq, wr, bad);
	/* Pairs with the barrier in fal_rq_flush() */
	smp_mb();
	if (READ_ONCE(qp->rq.ring.hdr->flags) & FALCON_RING_DOORBELL)
		fal_eng_kick(qp);
	return err;
}

/* ib_device_ops::post_srq_recv, for kernel consumers */
int fal_post_srq_recv(struct ib_srq *ibsrq, const struct ib_recv_wr *wr,
		      const struct ib_recv_wr **bad)
{
	return fal_rq_post(&to_fal_srq(ibsrq)->rq, wr, bad);
}

/*
 * Shared receive queues
 */

/**
 * fal_srq_get - find the shared receive queue that an XRC packet names
 * @dev:	device
 * @nr:		XRCETH: its number
 * @xrcd:	XRC domain of the queue pair
 *
 * Context: any.
 * Return: the queue, held: fal_srq_put(); NULL if it is not in @xrcd.
 */
struct fal_srq *fal_srq_get(struct fal_dev *dev, u32 nr, struct ib_xrcd *xrcd)
{
	struct fal_srq *srq;
	unsigned long flags;

	xa_lock_irqsave(&dev->srqs, flags);
	srq = xa_load(&dev->srqs, nr);
	if (srq && (srq->ibsrq.ext.xrc.xrcd != xrcd ||
		    !refcount_inc_not_zero(&srq->refs)))
		srq = NULL;
	xa_unlock_irqrestore(&dev->srqs, flags);
	return srq;
}

/**
 * fal_srq_put - let go of what fal_srq_get() found
 * @srq:	queue
 *
 * Context: any.
 */
void fal_srq_put(struct fal_srq *srq)
{
	if (refcount_dec_and_test(&srq->refs))
		complete(&srq->idle);
}

/* Nobody finds it yet. */
static int fal_srq_number(struct fal_srq *srq)
{
	struct fal_dev *dev = srq->dev;
	int err;

	err = xa_alloc_cyclic_irq(&dev->srqs, &srq->nr, NULL,
				  XA_LIMIT(1, 0xffffff), &dev->next_srqn,
				  GFP_KERNEL);
	if (err < 0)
		return err;
	srq->ibsrq.ext.xrc.srq_num = srq->nr;
	return 0;
}

/* ib_device_ops::create_srq */
int fal_create_srq(struct ib_srq *ibsrq, struct ib_srq_init_attr *init,
		   struct ib_udata *udata)
{
	struct falcon_create_srq_resp resp = {};
	struct fal_srq *srq = to_fal_srq(ibsrq);
	struct ib_srq_attr *attr = &init->attr;
	int err;

	if (init->srq_type != IB_SRQT_BASIC && init->srq_type != IB_SRQT_XRC)
		return -EOPNOTSUPP;
	if (!attr->max_wr || attr->max_wr > FAL_MAX_WR ||
	    attr->max_sge > FAL_MAX_SGE)
		return -EINVAL;
	srq->dev = to_fal_dev(ibsrq->device);
	refcount_set(&srq->refs, 1);
	init_completion(&srq->idle);
	err = fal_rq_init(&srq->rq, attr->max_wr, attr->max_sge, udata);
	if (err)
		return err;
	if (init->srq_type == IB_SRQT_XRC) {
		err = fal_srq_number(srq);
		if (err)
			goto free;
	}
	attr->max_wr = srq->rq.max_wr;
	attr->max_sge = srq->rq.max_sge;
	if (udata) {
		fal_ring_tell(&srq->rq.ring, &resp.ring);
		resp.srqn = srq->nr;
		err = ib_copy_to_udata(udata, &resp,
				       min(sizeof(resp), udata->outlen));
		if (err)
			goto forget;
	}
	if (srq->nr)
		xa_store_irq(&srq->dev->srqs, srq->nr, srq, GFP_KERNEL);
	return 0;
forget:
	if (srq->nr)
		xa_erase_irq(&srq->dev->srqs, srq->nr);
free:
	fal_rq_exit(&srq->rq);
	return err;
}

/* Where user space finds its new ring */
static int fal_srq_tell(const struct fal_ring *ring, struct ib_udata *udata)
{
	struct falcon_modify_srq_resp resp;
	struct falcon_modify_srq_req req;
	int err;

	if (!udata)
		return 0;
	if (udata->inlen < sizeof(req))
		return -EINVAL;
	err = ib_copy_from_udata(&req, udata, sizeof(req));
	if (err)
		return err;
	fal_ring_tell(ring, &resp.ring);
	if (copy_to_user(u64_to_user_ptr(req.resp), &resp, sizeof(resp)))
		return -EFAULT;
	return 0;
}

/* What is posted moves to @ring, under its indices. False: there is no room. */
static bool fal_rq_move(struct fal_rq *rq, struct fal_ring *ring)
{
	u32 prod, i;

	lockdep_assert_held(&rq->lock);
	/* Pairs with the release that posts */
	prod = smp_load_acquire(&rq->ring.hdr->prod);
	if (prod - rq->cons > min(ring->mask, rq->ring.mask) + 1 ||
	    rq->limit > ring->mask + 1)
		return false;
	for (i = rq->cons; i != prod; i++)
		memcpy(fal_ring_slot(ring, i), fal_ring_slot(&rq->ring, i),
		       ring->stride);
	ring->hdr->prod = prod;
	ring->hdr->cons = rq->cons;
	swap(rq->ring, *ring);
	rq->max_wr = rq->ring.mask + 1;
	return true;
}

/* To @max_wr, which can be. */
static int fal_srq_resize(struct fal_srq *srq, u32 max_wr,
			  struct ib_udata *udata)
{
	struct fal_rq *rq = &srq->rq;
	struct fal_ring ring;
	int err;

	err = fal_ring_alloc(&ring, roundup_pow_of_two(max_wr), rq->ring.stride,
			     udata);
	if (err)
		return err;
	err = fal_srq_tell(&ring, udata);
	if (err)
		goto free;
	spin_lock_irq(&rq->lock);
	if (!fal_rq_move(rq, &ring))
		err = -EINVAL;
	spin_unlock_irq(&rq->lock);
free:
	/* The new one, or the old */
	fal_ring_free(&ring);
	return err;
}

/*
 * ib_device_ops::modify_srq: size and limit. -EINVAL if what is posted, or the
 * limit, would not fit
 */
int fal_modify_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr,
		   enum ib_srq_attr_mask mask, struct ib_udata *udata)
{
	struct fal_rq *rq = &to_fal_srq(ibsrq)->rq;
	int err = 0;

	if (mask & IB_SRQ_MAX_WR) {
		/* Both or none: who is told of an error keeps its ring. */
		if (!attr->max_wr || attr->max_wr > FAL_MAX_WR ||
		    (mask & IB_SRQ_LIMIT &&
		     attr->srq_limit > roundup_pow_of_two(attr->max_wr)))
			return -EINVAL;
		err = fal_srq_resize(to_fal_srq(ibsrq), attr->max_wr, udata);
	}
	if (err || !(mask & IB_SRQ_LIMIT))
		return err;
	spin_lock_irq(&rq->lock);
	if (attr->srq_limit > rq->max_wr)
		err = -EINVAL;
	else
		rq->limit = attr->srq_limit;
	spin_unlock_irq(&rq->lock);
	return err;
}

/* ib_device_ops::query_srq */
int fal_query_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr)
{
	struct fal_rq *rq = &to_fal_srq(ibsrq)->rq;

	attr->max_wr = rq->max_wr;
	attr->max_sge = rq->max_sge;
	attr->srq_limit = READ_ONCE(rq->limit);
	return 0;
}

/* ib_device_ops::destroy_srq */
int fal_destroy_srq(struct ib_srq *ibsrq, struct ib_udata *udata)
{
	struct fal_srq *srq = to_fal_srq(ibsrq);

	if (srq->nr) {
		xa_erase_irq(&srq->dev->srqs, srq->nr);
		fal_eng_srq_gone(srq);
	}
	fal_srq_put(srq);
	wait_for_completion(&srq->idle);
	fal_rq_exit(&srq->rq);
	return 0;
}
