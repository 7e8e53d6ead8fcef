// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Receive queues, of a queue pair or shared.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "falcon.h"

/* 0, or an errno; without a ring there is no queue. */
int fal_rq_init(struct fal_rq *rq, const struct falcon_ring *where,
		uint32_t max_sge, bool single_threaded, int fd)
{
	fal_lock_init(&rq->lock, single_threaded);
	rq->max_sge = max_sge;
	return fal_ring_map(&rq->ring, where, fd);
}

static int fal_rq_post_one(struct fal_rq *rq, const struct ibv_recv_wr *wr)
{
	struct falcon_recv_wqe *wqe = fal_slot(&rq->ring, rq->prod);
	struct falcon_sge *sge = (void *)(wqe + 1);
	int i;

	if (rq->prod - fal_load(&rq->ring.hdr->cons) > rq->ring.mask)
		return ENOMEM;
	if (wr->num_sge < 0 || (uint32_t)wr->num_sge > rq->max_sge)
		return EINVAL;
	wqe->wr_id = wr->wr_id;
	wqe->num_sge = wr->num_sge;
	for (i = 0; i < wr->num_sge; i++) {
		sge[i].addr = wr->sg_list[i].addr;
		sge[i].length = wr->sg_list[i].length;
		sge[i].lkey = wr->sg_list[i].lkey;
	}
	rq->prod++;
	return 0;
}

int fal_rq_post(struct fal_rq *rq, struct ibv_recv_wr *wr,
		struct ibv_recv_wr **bad)
{
	int err = 0;

	fal_lock(&rq->lock);
	for (; wr; wr = wr->next) {
		err = fal_rq_post_one(rq, wr);
		if (err) {
			*bad = wr;
			break;
		}
	}
	fal_store(&rq->ring.hdr->prod, rq->prod);
	fal_unlock(&rq->lock);
	return err;
}

int fal_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr,
		      struct ibv_recv_wr **bad)
{
	return fal_rq_post(&to_fal_srq(srq)->rq, wr, bad);
}

struct ibv_srq *fal_create_srq_ex(struct ibv_context *context,
				  struct ibv_srq_init_attr_ex *attr)
{
	struct {
		struct ib_uverbs_create_srq_resp base;
		struct falcon_create_srq_resp own;
	} resp = {};
	struct ibv_create_xsrq cmd;
	struct fal_srq *srq;
	int err;

	srq = calloc(1, sizeof(*srq));
	if (!srq)
		return NULL;
	err = ibv_cmd_create_srq_ex(context, &srq->vsrq, attr, &cmd,
				    sizeof(cmd), &resp.base, sizeof(resp));
	if (err)
		goto free;
	srq->vsrq.srq_num = resp.own.srqn;
	err = fal_rq_init(&srq->rq, &resp.own.ring, attr->attr.max_sge,
			  fal_pd_single_threaded(attr->pd), context->cmd_fd);
	if (!err)
		return &srq->vsrq.srq;
	ibv_cmd_destroy_srq(&srq->vsrq.srq);
free:
	free(srq);
	errno = err;
	return NULL;
}

struct ibv_srq *fal_create_srq(struct ibv_pd *pd,
			       struct ibv_srq_init_attr *attr)
{
	struct ibv_srq_init_attr_ex ex = {
		.srq_context	= attr->srq_context,
		.attr		= attr->attr,
		.comp_mask	= IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD,
		.srq_type	= IBV_SRQT_BASIC,
		.pd		= pd,
	};
	struct ibv_srq *srq = fal_create_srq_ex(pd->context, &ex);

	if (srq)
		attr->attr = ex.attr;
	return srq;
}

/* Resizing: the kernel moves what is posted to a new ring; indices go on. */
int fal_modify_srq(struct ibv_srq *ibsrq, struct ibv_srq_attr *attr, int mask)
{
	struct falcon_modify_srq_resp resp = {};
	struct {
		struct ibv_modify_srq base;
		struct falcon_modify_srq_req own;
	} cmd = { .own.resp = (uintptr_t)&resp };
	struct fal_rq *rq = &to_fal_srq(ibsrq)->rq;
	struct fal_ring ring;
	int err;

	fal_lock(&rq->lock);
	err = ibv_cmd_modify_srq(ibsrq, attr, mask, &cmd.base, sizeof(cmd));
	if (!err && mask & IBV_SRQ_MAX_WR) {
		err = fal_ring_map(&ring, &resp.ring, ibsrq->context->cmd_fd);
		if (!err) {
			fal_ring_unmap(&rq->ring);
			rq->ring = ring;
		}
	}
	fal_unlock(&rq->lock);
	return err;
}

int fal_query_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr)
{
	struct ibv_query_srq cmd;

	return ibv_cmd_query_srq(srq, attr, &cmd, sizeof(cmd));
}

int fal_destroy_srq(struct ibv_srq *ibsrq)
{
	struct fal_srq *srq = to_fal_srq(ibsrq);
	int err = ibv_cmd_destroy_srq(ibsrq);

	if (err)
		return err;
	fal_ring_unmap(&srq->rq.ring);
	free(srq);
	return 0;
}

int fal_get_srq_num(struct ibv_srq *ibsrq, uint32_t *num)
{
	struct fal_srq *srq = to_fal_srq(ibsrq);

	if (srq->vsrq.srq_type != IBV_SRQT_XRC)
		return EOPNOTSUPP;
	*num = srq->vsrq.srq_num;
	return 0;
}
