// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Posting: ibv_post_send(), ibv_post_recv(), ibv_bind_mw(), and the doorbell.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include "falcon.h"

/*
 * Tells the kernel that there is work: in the send queue, or in the receive
 * queue of a queue pair in error. 0, or an errno.
 */
int fal_doorbell(struct fal_qp *qp)
{
	struct ib_uverbs_post_send_resp resp;
	struct ibv_post_send cmd = {
		.hdr.command	= IB_USER_VERBS_CMD_POST_SEND,
		.hdr.in_words	= sizeof(cmd) / 4,
		.hdr.out_words	= sizeof(resp) / 4,
		.core_payload = {
			.response	= (uintptr_t)&resp,
			.qp_handle	= qp->vqp.qp.handle,
			.wqe_size	= sizeof(struct ib_uverbs_send_wr),
		},
	};

	if (write(qp->vqp.qp.context->cmd_fd, &cmd, sizeof(cmd)) == sizeof(cmd))
		return 0;
	return errno;
}

/*
 * Posts the requests up to @prod. The kernel says when it wants to be told; else
 * it looks by itself. 0, or an errno.
 */
int fal_sq_publish(struct fal_qp *qp, uint32_t prod)
{
	struct falcon_ring_hdr *hdr = qp->sq.hdr;
	uint32_t new = prod - qp->sq_posted;

	fal_store(&hdr->prod, prod);
	qp->sq_posted = prod;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (prod - fal_load(&hdr->bell) - 1 < new)
		return fal_doorbell(qp);
	return 0;
}

/* A free slot at @index, or NULL: the queue is full. */
struct falcon_send_wqe *fal_sq_next(struct fal_qp *qp, uint32_t index)
{
	if (index - fal_load(&qp->sq.hdr->cons) > qp->sq.mask)
		return NULL;
	return fal_slot(&qp->sq, index);
}

static int fal_wqe_inline(const struct fal_qp *qp, struct falcon_send_wqe *wqe,
			  const struct ibv_send_wr *wr)
{
	char *data = (char *)(wqe + 1);
	uint32_t n = 0;
	int i;

	for (i = 0; i < wr->num_sge; i++) {
		const struct ibv_sge *sge = &wr->sg_list[i];

		if (sge->length > qp->max_inline - n)
			return EINVAL;
		memcpy(data + n, (void *)(uintptr_t)sge->addr, sge->length);
		n += sge->length;
	}
	wqe->inline_len = n;
	return 0;
}

static int fal_wqe_data(const struct fal_qp *qp, struct falcon_send_wqe *wqe,
			const struct ibv_send_wr *wr)
{
	struct falcon_sge *sge = (void *)(wqe + 1);
	int i;

	if (wr->num_sge < 0 || (uint32_t)wr->num_sge > qp->max_sge)
		return EINVAL;
	if (wr->send_flags & IBV_SEND_INLINE)
		return fal_wqe_inline(qp, wqe, wr);
	wqe->num_sge = wr->num_sge;
	for (i = 0; i < wr->num_sge; i++) {
		sge[i].addr = wr->sg_list[i].addr;
		sge[i].length = wr->sg_list[i].length;
		sge[i].lkey = wr->sg_list[i].lkey;
	}
	return 0;
}

static void fal_wqe_bind(struct falcon_send_wqe *wqe,
			 const struct ibv_send_wr *wr)
{
	const struct ibv_mw_bind_info *info = &wr->bind_mw.bind_info;

	wqe->bind_addr = info->addr;
	wqe->bind_length = info->length;
	wqe->bind_mr = info->mr ? info->mr->lkey : 0;
	wqe->bind_mw = wr->bind_mw.mw->rkey;
	wqe->bind_rkey = wr->bind_mw.rkey;
	wqe->bind_access = info->mw_access_flags;
}

/* What the opcode wants; 0 or EINVAL. */
static int fal_wqe_op(const struct fal_qp *qp, struct falcon_send_wqe *wqe,
		      const struct ibv_send_wr *wr)
{
	switch (wr->opcode) {
	case IBV_WR_SEND:
	case IBV_WR_SEND_WITH_IMM:
	case IBV_WR_SEND_WITH_INV:
	case IBV_WR_LOCAL_INV:
		wqe->ex = wr->imm_data;
		break;
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		wqe->ex = wr->imm_data;
		/* fall through */
	case IBV_WR_RDMA_WRITE:
	case IBV_WR_RDMA_READ:
		wqe->remote_addr = wr->wr.rdma.remote_addr;
		wqe->rkey = wr->wr.rdma.rkey;
		break;
	case IBV_WR_ATOMIC_CMP_AND_SWP:
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		wqe->remote_addr = wr->wr.atomic.remote_addr;
		wqe->rkey = wr->wr.atomic.rkey;
		wqe->compare_add = wr->wr.atomic.compare_add;
		wqe->swap = wr->wr.atomic.swap;
		break;
	case IBV_WR_BIND_MW:
		fal_wqe_bind(wqe, wr);
		break;
	default:
		return EINVAL;
	}
	switch (qp->vqp.qp.qp_type) {
	case IBV_QPT_UD:
		wqe->ah = to_fal_ah(wr->wr.ud.ah)->nr;
		wqe->remote_qpn = wr->wr.ud.remote_qpn;
		wqe->remote_qkey = wr->wr.ud.remote_qkey;
		break;
	case IBV_QPT_XRC_SEND:
		wqe->srqn = wr->qp_type.xrc.remote_srqn;
		break;
	default:
		break;
	}
	return 0;
}

static int fal_post_one(struct fal_qp *qp, const struct ibv_send_wr *wr)
{
	struct falcon_send_wqe *wqe = fal_sq_next(qp, qp->sq_prod);
	int err;

	if (!wqe)
		return ENOMEM;
	if (wr->send_flags & ~(IBV_SEND_FENCE | IBV_SEND_SIGNALED |
			       IBV_SEND_SOLICITED | IBV_SEND_INLINE))
		return EINVAL;
	if (qp->vqp.qp.qp_type == IBV_QPT_UD && !wr->wr.ud.ah)
		return EINVAL;
	memset(wqe, 0, sizeof(*wqe));
	wqe->wr_id = wr->wr_id;
	wqe->opcode = wr->opcode;
	wqe->flags = wr->send_flags;
	err = fal_wqe_op(qp, wqe, wr);
	if (!err)
		err = fal_wqe_data(qp, wqe, wr);
	if (!err)
		qp->sq_prod++;
	return err;
}

/* Whether its state takes send requests; in the error state they are flushed. */
bool fal_may_send(const struct ibv_qp *qp)
{
	return qp->state != IBV_QPS_RESET && qp->state != IBV_QPS_INIT &&
	       qp->state != IBV_QPS_RTR;
}

int fal_post_send(struct ibv_qp *ibqp, struct ibv_send_wr *wr,
		  struct ibv_send_wr **bad)
{
	struct fal_qp *qp = to_fal_qp(ibqp);
	struct ibv_send_wr *first = wr;
	int err = 0, ring = 0;

	if (!qp->sq.hdr || !fal_may_send(ibqp)) {
		*bad = wr;
		return EINVAL;
	}
	fal_lock(&qp->sq_lock);
	for (; wr; wr = wr->next) {
		err = fal_post_one(qp, wr);
		if (err) {
			*bad = wr;
			break;
		}
	}
	ring = fal_sq_publish(qp, qp->sq_prod);
	fal_unlock(&qp->sq_lock);
	/* The kernel has heard of none. */
	if (ring && !err)
		*bad = first;
	return err ? err : ring;
}

int fal_post_recv(struct ibv_qp *ibqp, struct ibv_recv_wr *wr,
		  struct ibv_recv_wr **bad)
{
	struct fal_qp *qp = to_fal_qp(ibqp);
	int err;

	if (!qp->rq.ring.hdr || ibqp->state == IBV_QPS_RESET) {
		*bad = wr;
		return EINVAL;
	}
	err = fal_rq_post(&qp->rq, wr, bad);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (fal_load(&qp->rq.ring.hdr->flags) & FALCON_RING_DOORBELL)
		fal_doorbell(qp);
	return err;
}

/* A window of type 1 gets a new key with every binding. */
int fal_bind_mw(struct ibv_qp *ibqp, struct ibv_mw *mw,
		struct ibv_mw_bind *bind)
{
	struct ibv_send_wr *bad, wr = {
		.wr_id		= bind->wr_id,
		.opcode		= IBV_WR_BIND_MW,
		.send_flags	= bind->send_flags,
		.bind_mw = {
			.mw		= mw,
			.rkey		= ibv_inc_rkey(mw->rkey),
			.bind_info	= bind->bind_info,
		},
	};
	int err = fal_post_send(ibqp, &wr, &bad);

	if (!err)
		mw->rkey = wr.bind_mw.rkey;
	return err;
}
