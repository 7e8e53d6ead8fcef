// SPDX-License-Identifier: GPL-2.0
/*
 * Completion queues. User space's are rings of struct falcon_cqe that it polls
 * without a system call; kernel consumers' are arrays of struct ib_wc.
 *
 * The engine adds completions with locks of its own held. User space's
 * completion handler only queues an event and is called at once; a kernel
 * consumer's may post, so a tasklet calls it.
 */
#include <linux/log2.h>
#include <linux/slab.h>
#include "internal.h"

/* Entries between what was added and what the consumer gave back; any number
 * if user space has scribbled over its index.
 */
static u32 fal_cq_used(const struct fal_cq *cq)
{
	if (cq->wcs)
		return cq->prod - cq->cons;
	/* What is written there next comes after what it has read. */
	return cq->prod - smp_load_acquire(&cq->ring.hdr->cons);
}

static u32 fal_cq_user_flags(int wc_flags)
{
	return (wc_flags & IB_WC_GRH ? FALCON_WC_GRH : 0) |
	       (wc_flags & IB_WC_WITH_IMM ? FALCON_WC_WITH_IMM : 0) |
	       (wc_flags & IB_WC_WITH_INVALIDATE ? FALCON_WC_WITH_INV : 0);
}

static void fal_cq_put_user(struct fal_cq *cq, const struct ib_wc *wc)
{
	struct falcon_cqe *cqe = fal_ring_slot(&cq->ring, cq->prod);
	struct falcon_cqe new = {
		.wr_id		= wc->wr_id,
		.timestamp	= ktime_get_ns(),
		.status		= wc->status,
		.opcode		= wc->opcode,
		.vendor_err	= wc->vendor_err,
		.byte_len	= wc->byte_len,
		.ex		= wc->ex.imm_data,
		.qpn		= wc->qp->qp_num,
		.src_qp		= wc->src_qp,
		.wc_flags	= fal_cq_user_flags(wc->wc_flags),
		.pkey_index	= wc->pkey_index,
	};

	*cqe = new;
	/* The entry before the index */
	smp_store_release(&cq->ring.hdr->prod, cq->prod + 1);
}

static void fal_cq_notify(struct fal_cq *cq)
{
	if (cq->wcs)
		tasklet_schedule(&cq->tasklet);
	else
		cq->ibcq.comp_handler(&cq->ibcq, cq->ibcq.cq_context);
}

static void fal_cq_tasklet(struct tasklet_struct *t)
{
	struct fal_cq *cq = from_tasklet(cq, t, tasklet);

	cq->ibcq.comp_handler(&cq->ibcq, cq->ibcq.cq_context);
}

/*
 * Of what is pending the consumer is told now, or it is moderated: by the count,
 * or by the timer, which begins @anew.
 */
static bool fal_cq_ripe(struct fal_cq *cq, bool anew)
{
	lockdep_assert_held(&cq->lock);

	if (cq->count > 1 && cq->pending < cq->count) {
		if (cq->period_us && anew)
			hrtimer_start(&cq->timer,
				      ns_to_ktime(cq->period_us *
						  NSEC_PER_USEC),
				      HRTIMER_MODE_REL);
		return false;
	}
	cq->notify = 0;
	cq->pending = 0;
	return true;
}

/* Whether the consumer is to be told of a completion, now. */
static bool fal_cq_due(struct fal_cq *cq, const struct ib_wc *wc,
		       bool solicited)
{
	lockdep_assert_held(&cq->lock);

	if (!cq->notify || (cq->notify == IB_CQ_SOLICITED && !solicited &&
			    wc->status == IB_WC_SUCCESS))
		return false;
	cq->pending++;
	return fal_cq_ripe(cq, cq->pending == 1);
}

static enum hrtimer_restart fal_cq_timer(struct hrtimer *timer)
{
	struct fal_cq *cq = container_of(timer, struct fal_cq, timer);
	unsigned long flags;
	bool due;

	spin_lock_irqsave(&cq->lock, flags);
	due = cq->notify && cq->pending;
	if (due) {
		cq->notify = 0;
		cq->pending = 0;
	}
	spin_unlock_irqrestore(&cq->lock, flags);
	if (due)
		fal_cq_notify(cq);
	return HRTIMER_NORESTART;
}

static void fal_cq_overflow(struct fal_cq *cq)
{
	struct ib_event event = {
		.device		= cq->ibcq.device,
		.event		= IB_EVENT_CQ_ERR,
		.element.cq	= &cq->ibcq,
	};

	fal_count(to_fal_dev(cq->ibcq.device), FAL_STAT_CQ_OVERFLOW);
	if (cq->ibcq.event_handler)
		cq->ibcq.event_handler(&event, cq->ibcq.cq_context);
}

/**
 * fal_cq_add - add a completion
 * @cq:		queue
 * @wc:		the completion, with @qp set
 * @solicited:	it wakes a consumer that waits for solicited ones; errors always
 *		do
 *
 * A queue that is full takes no more, ever, and its consumer gets
 * IB_EVENT_CQ_ERR.
 *
 * Context: any, with any lock of the engine held.
 */
void fal_cq_add(struct fal_cq *cq, const struct ib_wc *wc, bool solicited)
{
	bool due = false, full = false;
	unsigned long flags;

	spin_lock_irqsave(&cq->lock, flags);
	if (cq->overflow)
		goto unlock;
	if (fal_cq_used(cq) >= cq->size) {
		cq->overflow = true;
		full = true;
		goto unlock;
	}
	if (cq->wcs)
		cq->wcs[cq->prod & (cq->size - 1)] = *wc;
	else
		fal_cq_put_user(cq, wc);
	cq->prod++;
	due = fal_cq_due(cq, wc, solicited);
unlock:
	spin_unlock_irqrestore(&cq->lock, flags);
	if (due)
		fal_cq_notify(cq);
	if (full)
		fal_cq_overflow(cq);
}

/**
 * fal_cq_clean - forget the completions of a queue pair that goes
 * @cq:	kernel consumer's; user space cleans its own
 * @qp:	queue pair, of which nothing completes any more
 */
void fal_cq_clean(struct fal_cq *cq, const struct fal_qp *qp)
{
	unsigned long flags;
	u32 from, to;

	spin_lock_irqsave(&cq->lock, flags);
	for (from = to = cq->cons; cq->wcs && from != cq->prod; from++) {
		struct ib_wc *wc = &cq->wcs[from & (cq->size - 1)];

		if (wc->qp != &qp->ibqp)
			cq->wcs[to++ & (cq->size - 1)] = *wc;
	}
	if (cq->wcs)
		cq->prod = to;
	spin_unlock_irqrestore(&cq->lock, flags);
}

static struct ib_wc *fal_cq_alloc_wcs(u32 size)
{
	return kvmalloc_array(size, sizeof(struct ib_wc), GFP_KERNEL);
}

/* ib_device_ops::create_cq */
int fal_create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
		  fal_cq_udata *attrs)
{
	struct ib_udata *udata = fal_cq_get_udata(attrs);
	struct falcon_create_cq_resp resp = {};
	struct fal_cq *cq = to_fal_cq(ibcq);
	int err = 0;

	if (attr->flags & ~IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION)
		return -EOPNOTSUPP;
	if (!attr->cqe || attr->cqe > FAL_MAX_CQE)
		return -EINVAL;
	spin_lock_init(&cq->lock);
	hrtimer_init(&cq->timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
	cq->timer.function = fal_cq_timer;
	tasklet_setup(&cq->tasklet, fal_cq_tasklet);
	cq->size = roundup_pow_of_two(attr->cqe);
	if (udata) {
		err = fal_ring_alloc(&cq->ring, cq->size,
				     sizeof(struct falcon_cqe), udata);
	} else {
		cq->wcs = fal_cq_alloc_wcs(cq->size);
		if (!cq->wcs)
			err = -ENOMEM;
	}
	if (err)
		return err;
	ibcq->cqe = cq->size;
	if (!udata)
		return 0;
	fal_ring_tell(&cq->ring, &resp.ring);
	err = ib_copy_to_udata(udata, &resp, min(sizeof(resp), udata->outlen));
	if (err)
		fal_ring_free(&cq->ring);
	return err;
}

/* ib_device_ops::destroy_cq: no queue pair uses it any more */
int fal_destroy_cq(struct ib_cq *ibcq, struct ib_udata *udata)
{
	struct fal_cq *cq = to_fal_cq(ibcq);

	hrtimer_cancel(&cq->timer);
	tasklet_kill(&cq->tasklet);
	if (cq->wcs)
		kvfree(cq->wcs);
	else
		fal_ring_free(&cq->ring);
	return 0;
}

/* Moves to a new array; the consumer's index stays where it is. */
static int fal_cq_move_wcs(struct fal_cq *cq, u32 size)
{
	struct ib_wc *wcs = fal_cq_alloc_wcs(size), *old = cq->wcs;
	int err = 0;
	u32 i;

	if (!wcs)
		return -ENOMEM;
	spin_lock_irq(&cq->lock);
	if (fal_cq_used(cq) > size) {
		err = -EINVAL;
		old = wcs;
		goto unlock;
	}
	for (i = cq->cons; i != cq->prod; i++)
		wcs[i & (size - 1)] = cq->wcs[i & (cq->size - 1)];
	cq->wcs = wcs;
	cq->size = size;
unlock:
	spin_unlock_irq(&cq->lock);
	kvfree(old);
	return err;
}

/* Moves to a new ring. User space does not poll meanwhile. */
static int fal_cq_move_ring(struct fal_cq *cq, u32 size, struct ib_udata *udata)
{
	struct falcon_resize_cq_resp resp;
	struct fal_ring ring, old;
	u32 i, used;
	int err;

	err = fal_ring_alloc(&ring, size, sizeof(struct falcon_cqe), udata);
	if (err)
		return err;
	fal_ring_tell(&ring, &resp.ring);
	err = ib_copy_to_udata(udata, &resp, min(sizeof(resp), udata->outlen));
	if (err)
		goto free;
	spin_lock_irq(&cq->lock);
	used = fal_cq_used(cq);
	if (used > min(size, cq->size)) {
		spin_unlock_irq(&cq->lock);
		err = -EINVAL;
		goto free;
	}
	for (i = cq->prod - used; i != cq->prod; i++)
		memcpy(fal_ring_slot(&ring, i), fal_ring_slot(&cq->ring, i),
		       sizeof(struct falcon_cqe));
	ring.hdr->cons = cq->prod - used;
	ring.hdr->prod = cq->prod;
	old = cq->ring;
	cq->ring = ring;
	cq->size = size;
	spin_unlock_irq(&cq->lock);
	ring = old;
free:
	fal_ring_free(&ring);
	return err;
}

/* ib_device_ops::resize_cq: -EINVAL if what is in it would not fit */
int fal_resize_cq(struct ib_cq *ibcq, int cqe, struct ib_udata *udata)
{
	struct fal_cq *cq = to_fal_cq(ibcq);
	u32 size;
	int err;

	if (cqe < 1 || cqe > FAL_MAX_CQE)
		return -EINVAL;
	size = roundup_pow_of_two(cqe);
	if (cq->wcs)
		err = fal_cq_move_wcs(cq, size);
	else
		err = fal_cq_move_ring(cq, size, udata);
	if (!err)
		ibcq->cqe = size;
	return err;
}

/* ib_device_ops::modify_cq: moderation, also of what is pending */
int fal_modify_cq(struct ib_cq *ibcq, u16 count, u16 period_us)
{
	struct fal_cq *cq = to_fal_cq(ibcq);
	bool due;

	spin_lock_irq(&cq->lock);
	cq->count = count;
	cq->period_us = period_us;
	due = cq->notify && cq->pending && fal_cq_ripe(cq, true);
	spin_unlock_irq(&cq->lock);
	if (due)
		fal_cq_notify(cq);
	return 0;
}

/* ib_device_ops::poll_cq, for kernel consumers */
int fal_poll_cq(struct ib_cq *ibcq, int n, struct ib_wc *wc)
{
	struct fal_cq *cq = to_fal_cq(ibcq);
	unsigned long flags;
	int i;

	spin_lock_irqsave(&cq->lock, flags);
	for (i = 0; i < n && cq->cons != cq->prod; i++, cq->cons++)
		wc[i] = cq->wcs[cq->cons & (cq->size - 1)];
	spin_unlock_irqrestore(&cq->lock, flags);
	return i;
}

/* ib_device_ops::peek_cq */
int fal_peek_cq(struct ib_cq *ibcq, int n)
{
	return min_t(u32, fal_cq_used(to_fal_cq(ibcq)), n);
}

/*
 * ib_device_ops::req_notify_cq, for both. The consumer of any completion is not
 * made one of solicited ones before it got its event.
 */
int fal_req_notify_cq(struct ib_cq *ibcq, enum ib_cq_notify_flags flags)
{
	struct fal_cq *cq = to_fal_cq(ibcq);
	unsigned long irq;
	int missed = 0;

	spin_lock_irqsave(&cq->lock, irq);
	if (cq->notify != IB_CQ_NEXT_COMP)
		cq->notify = flags & IB_CQ_SOLICITED_MASK;
	if (flags & IB_CQ_REPORT_MISSED_EVENTS && fal_cq_used(cq))
		missed = 1;
	spin_unlock_irqrestore(&cq->lock, irq);
	return missed;
}
