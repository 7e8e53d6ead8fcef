// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Completion queues, polled without a system call: the legacy way, and the
 * extended one that reads single fields.
 */
#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include "falcon.h"

#define NSEC_PER_SEC	1000000000ull

static struct fal_cq *to_fal_cq_ex(struct ibv_cq_ex *cq)
{
	return container_of(cq, struct fal_cq, vcq.cq_ex);
}

/* Whether there is an entry; the kernel's index is looked at only if not. */
static inline bool fal_cq_ready(struct fal_cq *cq)
{
	if (cq->cons != cq->prod)
		return true;
	cq->prod = fal_load(&cq->ring.hdr->prod);
	return cq->cons != cq->prod;
}

static void fal_wc_fill(struct ibv_wc *wc, const struct falcon_cqe *cqe)
{
	wc->wr_id = cqe->wr_id;
	wc->status = cqe->status;
	wc->opcode = cqe->opcode;
	wc->vendor_err = cqe->vendor_err;
	wc->byte_len = cqe->byte_len;
	wc->imm_data = cqe->ex;
	wc->qp_num = cqe->qpn;
	wc->src_qp = cqe->src_qp;
	wc->wc_flags = cqe->wc_flags;
	wc->pkey_index = cqe->pkey_index;
	wc->slid = 0;
	wc->sl = 0;
	wc->dlid_path_bits = 0;
}

int fal_poll_cq(struct ibv_cq *ibcq, int n, struct ibv_wc *wc)
{
	struct fal_cq *cq = to_fal_cq(ibcq);
	int i;

	fal_lock(&cq->lock);
	for (i = 0; i < n && fal_cq_ready(cq); i++, cq->cons++)
		fal_wc_fill(&wc[i], fal_slot(&cq->ring, cq->cons));
	if (i)
		fal_store(&cq->ring.hdr->cons, cq->cons);
	fal_unlock(&cq->lock);
	return i;
}

/*
 * Forgets what a queue pair has completed, as it is reset or destroyed. What
 * others completed moves towards the kernel's end; the slots that get free are
 * at ours.
 */
void fal_cq_clean(struct ibv_cq *ibcq, uint32_t qpn)
{
	struct fal_cq *cq;
	uint32_t i, n = 0;

	if (!ibcq)
		return;
	cq = to_fal_cq(ibcq);
	fal_lock(&cq->lock);
	cq->prod = fal_load(&cq->ring.hdr->prod);
	/* Somebody has written over the index: there is nothing to be saved. */
	if (cq->prod - cq->cons > cq->ring.mask + 1)
		cq->prod = cq->cons;
	for (i = cq->prod; i-- != cq->cons;) {
		struct falcon_cqe *cqe = fal_slot(&cq->ring, i);

		if (cqe->qpn == qpn)
			n++;
		else if (n)
			*(struct falcon_cqe *)fal_slot(&cq->ring, i + n) = *cqe;
	}
	cq->cons += n;
	fal_store(&cq->ring.hdr->cons, cq->cons);
	fal_unlock(&cq->lock);
}

/*
 * Extended polling. The lock is held from start_poll() to end_poll().
 */

static void fal_cq_show(struct fal_cq *cq)
{
	cq->cqe = fal_slot(&cq->ring, cq->cons);
	cq->vcq.cq_ex.status = cq->cqe->status;
	cq->vcq.cq_ex.wr_id = cq->cqe->wr_id;
}

static int fal_start_poll(struct ibv_cq_ex *cq_ex,
			  struct ibv_poll_cq_attr *attr)
{
	struct fal_cq *cq = to_fal_cq_ex(cq_ex);

	if (attr->comp_mask)
		return EINVAL;
	fal_lock(&cq->lock);
	if (!fal_cq_ready(cq)) {
		fal_unlock(&cq->lock);
		return ENOENT;
	}
	fal_cq_show(cq);
	return 0;
}

/* The entry shown before is done with, whether there is another or not. */
static int fal_next_poll(struct ibv_cq_ex *cq_ex)
{
	struct fal_cq *cq = to_fal_cq_ex(cq_ex);

	if (cq->cqe)
		cq->cons++;
	cq->cqe = NULL;
	if (!fal_cq_ready(cq))
		return ENOENT;
	fal_cq_show(cq);
	return 0;
}

static void fal_end_poll(struct ibv_cq_ex *cq_ex)
{
	struct fal_cq *cq = to_fal_cq_ex(cq_ex);

	if (cq->cqe)
		cq->cons++;
	cq->cqe = NULL;
	fal_store(&cq->ring.hdr->cons, cq->cons);
	fal_unlock(&cq->lock);
}

#define FAL_READ(type, name, value)					\
static type fal_read_##name(struct ibv_cq_ex *cq_ex)			\
{									\
	const struct falcon_cqe *cqe = to_fal_cq_ex(cq_ex)->cqe;	\
									\
	return (value);							\
}
FAL_READ(enum ibv_wc_opcode, opcode, cqe->opcode)
FAL_READ(uint32_t, vendor_err, cqe->vendor_err)
FAL_READ(uint32_t, byte_len, cqe->byte_len)
FAL_READ(__be32, imm_data, cqe->ex)
FAL_READ(uint32_t, qp_num, cqe->qpn)
FAL_READ(uint32_t, src_qp, cqe->src_qp)
FAL_READ(unsigned int, wc_flags, cqe->wc_flags)
FAL_READ(uint32_t, slid, ((void)cqe, 0))
FAL_READ(uint8_t, sl, ((void)cqe, 0))
FAL_READ(uint8_t, dlid_path_bits, ((void)cqe, 0))
FAL_READ(uint64_t, completion_ts, cqe->timestamp)

static uint64_t fal_clock(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

/* Completions are stamped by the monotonic clock. */
static uint64_t fal_read_completion_wallclock_ns(struct ibv_cq_ex *cq_ex)
{
	uint64_t age = fal_clock(CLOCK_MONOTONIC) -
		       to_fal_cq_ex(cq_ex)->cqe->timestamp;

	return fal_clock(CLOCK_REALTIME) - age;
}

#define FAL_WC_FLAGS (IBV_WC_STANDARD_FLAGS |				\
		      IBV_WC_EX_WITH_COMPLETION_TIMESTAMP |		\
		      IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK)

static void fal_cq_fill_ops(struct ibv_cq_ex *cq, uint64_t flags)
{
	cq->start_poll = fal_start_poll;
	cq->next_poll = fal_next_poll;
	cq->end_poll = fal_end_poll;
	cq->read_opcode = fal_read_opcode;
	cq->read_vendor_err = fal_read_vendor_err;
	cq->read_wc_flags = fal_read_wc_flags;
#define FAL_OFFER(flag, name)						\
	do {								\
		if (flags & IBV_WC_EX_WITH_##flag)			\
			cq->read_##name = fal_read_##name;		\
	} while (0)
	FAL_OFFER(BYTE_LEN, byte_len);
	FAL_OFFER(IMM, imm_data);
	FAL_OFFER(QP_NUM, qp_num);
	FAL_OFFER(SRC_QP, src_qp);
	FAL_OFFER(SLID, slid);
	FAL_OFFER(SL, sl);
	FAL_OFFER(DLID_PATH_BITS, dlid_path_bits);
	FAL_OFFER(COMPLETION_TIMESTAMP, completion_ts);
	FAL_OFFER(COMPLETION_TIMESTAMP_WALLCLOCK, completion_wallclock_ns);
#undef FAL_OFFER
}

/*
 * Life
 */

static bool fal_cq_attr_ok(const struct ibv_cq_init_attr_ex *attr)
{
	return !(attr->comp_mask & ~(IBV_CQ_INIT_ATTR_MASK_FLAGS |
				     IBV_CQ_INIT_ATTR_MASK_PD)) &&
	       !(attr->wc_flags & ~(uint64_t)FAL_WC_FLAGS) &&
	       (!(attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS) ||
		!(attr->flags & ~IBV_CREATE_CQ_ATTR_SINGLE_THREADED));
}

static bool fal_cq_single_threaded(const struct ibv_cq_init_attr_ex *attr)
{
	if (attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS &&
	    attr->flags & IBV_CREATE_CQ_ATTR_SINGLE_THREADED)
		return true;
	return attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_PD &&
	       fal_pd_single_threaded(attr->parent_domain);
}

struct ibv_cq_ex *fal_create_cq_ex(struct ibv_context *context,
				   struct ibv_cq_init_attr_ex *attr)
{
	struct {
		struct ib_uverbs_ex_create_cq_resp base;
		struct falcon_create_cq_resp own;
	} resp = {};
	struct ibv_create_cq_ex cmd;
	struct fal_cq *cq;
	int err;

	if (!fal_cq_attr_ok(attr)) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	cq = calloc(1, sizeof(*cq));
	if (!cq)
		return NULL;
	err = ibv_cmd_create_cq_ex(context, attr, &cq->vcq, &cmd, sizeof(cmd),
				   &resp.base, sizeof(resp), 0);
	if (err)
		goto free;
	err = fal_ring_map(&cq->ring, &resp.own.ring, context->cmd_fd);
	if (err)
		goto destroy;
	fal_lock_init(&cq->lock, fal_cq_single_threaded(attr));
	fal_cq_fill_ops(&cq->vcq.cq_ex, attr->wc_flags);
	return &cq->vcq.cq_ex;
destroy:
	ibv_cmd_destroy_cq(&cq->vcq.cq);
free:
	free(cq);
	errno = err;
	return NULL;
}

struct ibv_cq *fal_create_cq(struct ibv_context *context, int cqe,
			     struct ibv_comp_channel *channel, int vector)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe		= cqe,
		.channel	= channel,
		.comp_vector	= vector,
	};
	struct ibv_cq_ex *cq;

	if (cqe <= 0) {
		errno = EINVAL;
		return NULL;
	}
	cq = fal_create_cq_ex(context, &attr);
	return cq ? ibv_cq_ex_to_cq(cq) : NULL;
}

/* The kernel moves what is in the queue to a new ring; its indices go on. */
int fal_resize_cq(struct ibv_cq *ibcq, int cqe)
{
	struct {
		struct ib_uverbs_resize_cq_resp base;
		struct falcon_resize_cq_resp own;
	} resp;
	struct fal_cq *cq = to_fal_cq(ibcq);
	struct ibv_resize_cq cmd;
	struct fal_ring ring;
	int err;

	fal_lock(&cq->lock);
	err = ibv_cmd_resize_cq(ibcq, cqe, &cmd, sizeof(cmd), &resp.base,
				sizeof(resp));
	if (!err)
		err = fal_ring_map(&ring, &resp.own.ring,
				   ibcq->context->cmd_fd);
	if (!err) {
		fal_ring_unmap(&cq->ring);
		cq->ring = ring;
	}
	fal_unlock(&cq->lock);
	return err;
}

int fal_modify_cq(struct ibv_cq *cq, struct ibv_modify_cq_attr *attr)
{
	struct ibv_modify_cq cmd;

	return ibv_cmd_modify_cq(cq, attr, &cmd, sizeof(cmd));
}

int fal_destroy_cq(struct ibv_cq *ibcq)
{
	struct fal_cq *cq = to_fal_cq(ibcq);
	int err = ibv_cmd_destroy_cq(ibcq);

	if (err)
		return err;
	fal_ring_unmap(&cq->ring);
	free(cq);
	return 0;
}
