// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Posting the extended way: ibv_wr_start(), one builder a request, setters for
 * its data, ibv_wr_complete(). The send queue is locked in between, and nothing
 * is posted if anything went wrong.
 */
#include <errno.h>
#include <string.h>
#include "falcon.h"

static struct fal_qp *to_fal_qp_ex(struct ibv_qp_ex *qp)
{
	return container_of(qp, struct fal_qp, vqp.qp_ex);
}

static void fal_wr_start(struct ibv_qp_ex *qp_ex)
{
	struct fal_qp *qp = to_fal_qp_ex(qp_ex);

	fal_lock(&qp->sq_lock);
	qp->wr_prod = qp->sq_prod;
	qp->wr = NULL;
	qp->wr_err = fal_may_send(&qp->vqp.qp) ? 0 : EINVAL;
}

static void fal_wr_abort(struct ibv_qp_ex *qp_ex)
{
	fal_unlock(&to_fal_qp_ex(qp_ex)->sq_lock);
}

static int fal_wr_complete(struct ibv_qp_ex *qp_ex)
{
	struct fal_qp *qp = to_fal_qp_ex(qp_ex);
	int err = qp->wr_err;

	if (!err) {
		qp->sq_prod = qp->wr_prod;
		err = fal_sq_publish(qp, qp->sq_prod);
	}
	fal_unlock(&qp->sq_lock);
	return err;
}

/* The next request, cleared; NULL if it cannot be. */
static struct falcon_send_wqe *fal_wr_new(struct ibv_qp_ex *qp_ex,
					  enum ibv_wr_opcode opcode)
{
	struct fal_qp *qp = to_fal_qp_ex(qp_ex);

	if (qp->wr_err)
		return NULL;
	qp->wr = fal_sq_next(qp, qp->wr_prod);
	if (!qp->wr) {
		qp->wr_err = ENOMEM;
		return NULL;
	}
	memset(qp->wr, 0, sizeof(*qp->wr));
	qp->wr->wr_id = qp_ex->wr_id;
	qp->wr->opcode = opcode;
	qp->wr->flags = qp_ex->wr_flags & (IBV_SEND_FENCE | IBV_SEND_SIGNALED |
					   IBV_SEND_SOLICITED);
	qp->wr_prod++;
	return qp->wr;
}

static void fal_wr_send(struct ibv_qp_ex *qp)
{
	fal_wr_new(qp, IBV_WR_SEND);
}

static void fal_wr_send_imm(struct ibv_qp_ex *qp, __be32 imm)
{
	struct falcon_send_wqe *wr = fal_wr_new(qp, IBV_WR_SEND_WITH_IMM);

	if (wr)
		wr->ex = imm;
}

static void fal_wr_set_key(struct falcon_send_wqe *wr, uint32_t key)
{
	/* The field is of immediate data; a key is in host order. */
	if (wr)
		memcpy(&wr->ex, &key, sizeof(key));
}

static void fal_wr_send_inv(struct ibv_qp_ex *qp, uint32_t key)
{
	fal_wr_set_key(fal_wr_new(qp, IBV_WR_SEND_WITH_INV), key);
}

static void fal_wr_local_inv(struct ibv_qp_ex *qp, uint32_t key)
{
	fal_wr_set_key(fal_wr_new(qp, IBV_WR_LOCAL_INV), key);
}

static struct falcon_send_wqe *fal_wr_rdma(struct ibv_qp_ex *qp,
					   enum ibv_wr_opcode opcode,
					   uint32_t rkey, uint64_t addr)
{
	struct falcon_send_wqe *wr = fal_wr_new(qp, opcode);

	if (wr) {
		wr->rkey = rkey;
		wr->remote_addr = addr;
	}
	return wr;
}

static void fal_wr_rdma_write(struct ibv_qp_ex *qp, uint32_t rkey,
			      uint64_t addr)
{
	fal_wr_rdma(qp, IBV_WR_RDMA_WRITE, rkey, addr);
}

static void fal_wr_rdma_write_imm(struct ibv_qp_ex *qp, uint32_t rkey,
				  uint64_t addr, __be32 imm)
{
	struct falcon_send_wqe *wr;

	wr = fal_wr_rdma(qp, IBV_WR_RDMA_WRITE_WITH_IMM, rkey, addr);
	if (wr)
		wr->ex = imm;
}

static void fal_wr_rdma_read(struct ibv_qp_ex *qp, uint32_t rkey,
			     uint64_t addr)
{
	fal_wr_rdma(qp, IBV_WR_RDMA_READ, rkey, addr);
}

static void fal_wr_cmp_swp(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t addr,
			   uint64_t compare, uint64_t swap)
{
	struct falcon_send_wqe *wr;

	wr = fal_wr_rdma(qp, IBV_WR_ATOMIC_CMP_AND_SWP, rkey, addr);
	if (wr) {
		wr->compare_add = compare;
		wr->swap = swap;
	}
}

static void fal_wr_fetch_add(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t addr,
			     uint64_t add)
{
	struct falcon_send_wqe *wr;

	wr = fal_wr_rdma(qp, IBV_WR_ATOMIC_FETCH_AND_ADD, rkey, addr);
	if (wr)
		wr->compare_add = add;
}

static void fal_wr_bind_mw(struct ibv_qp_ex *qp, struct ibv_mw *mw,
			   uint32_t rkey, const struct ibv_mw_bind_info *info)
{
	struct falcon_send_wqe *wr = fal_wr_new(qp, IBV_WR_BIND_MW);

	if (!wr)
		return;
	wr->bind_addr = info->addr;
	wr->bind_length = info->length;
	wr->bind_mr = info->mr ? info->mr->lkey : 0;
	wr->bind_mw = mw->rkey;
	wr->bind_rkey = rkey;
	wr->bind_access = info->mw_access_flags;
}

/*
 * Setters, of the request that was built last
 */

static void fal_wr_set_ud_addr(struct ibv_qp_ex *qp_ex, struct ibv_ah *ah,
			       uint32_t qpn, uint32_t qkey)
{
	struct fal_qp *qp = to_fal_qp_ex(qp_ex);

	if (qp->wr_err)
		return;
	qp->wr->ah = to_fal_ah(ah)->nr;
	qp->wr->remote_qpn = qpn;
	qp->wr->remote_qkey = qkey;
}

static void fal_wr_set_xrc_srqn(struct ibv_qp_ex *qp_ex, uint32_t srqn)
{
	struct fal_qp *qp = to_fal_qp_ex(qp_ex);

	if (!qp->wr_err)
		qp->wr->srqn = srqn;
}

static void fal_wr_set_sge_list(struct ibv_qp_ex *qp_ex, size_t n,
				const struct ibv_sge *list)
{
	struct fal_qp *qp = to_fal_qp_ex(qp_ex);
	struct falcon_sge *sge;
	size_t i;

	if (qp->wr_err)
		return;
	if (n > qp->max_sge) {
		qp->wr_err = ENOMEM;
		return;
	}
	sge = (void *)(qp->wr + 1);
	for (i = 0; i < n; i++) {
		sge[i].addr = list[i].addr;
		sge[i].length = list[i].length;
		sge[i].lkey = list[i].lkey;
	}
	qp->wr->num_sge = n;
}

static void fal_wr_set_sge(struct ibv_qp_ex *qp, uint32_t lkey, uint64_t addr,
			   uint32_t length)
{
	struct ibv_sge sge = { .addr = addr, .length = length, .lkey = lkey };

	fal_wr_set_sge_list(qp, 1, &sge);
}

static void fal_wr_set_inline_data_list(struct ibv_qp_ex *qp_ex, size_t n,
					const struct ibv_data_buf *list)
{
	struct fal_qp *qp = to_fal_qp_ex(qp_ex);
	size_t i, len = 0;
	char *data;

	if (qp->wr_err)
		return;
	data = (char *)(qp->wr + 1);
	for (i = 0; i < n; i++) {
		if (list[i].length > qp->max_inline - len) {
			qp->wr_err = ENOMEM;
			return;
		}
		memcpy(data + len, list[i].addr, list[i].length);
		len += list[i].length;
	}
	qp->wr->inline_len = len;
	qp->wr->flags |= FALCON_SEND_INLINE;
}

static void fal_wr_set_inline_data(struct ibv_qp_ex *qp, void *addr,
				   size_t length)
{
	struct ibv_data_buf buf = { .addr = addr, .length = length };

	fal_wr_set_inline_data_list(qp, 1, &buf);
}

#define FAL_OPS_UD	(IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM)
#define FAL_OPS_RC	(FAL_OPS_UD | IBV_QP_EX_WITH_SEND_WITH_INV |	\
			 IBV_QP_EX_WITH_RDMA_WRITE |			\
			 IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM |		\
			 IBV_QP_EX_WITH_RDMA_READ |			\
			 IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP |		\
			 IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD |		\
			 IBV_QP_EX_WITH_LOCAL_INV | IBV_QP_EX_WITH_BIND_MW)

static uint64_t fal_send_ops(enum ibv_qp_type type)
{
	switch (type) {
	case IBV_QPT_RC:
	case IBV_QPT_XRC_SEND:
		return FAL_OPS_RC;
	case IBV_QPT_UD:
		return FAL_OPS_UD;
	default:
		return 0;
	}
}

/* 0, or EOPNOTSUPP if an operation is asked for that the type does not have. */
int fal_check_send_ops(const struct ibv_qp_init_attr_ex *attr)
{
	if (attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS &&
	    attr->send_ops_flags & ~fal_send_ops(attr->qp_type))
		return EOPNOTSUPP;
	return 0;
}

/* After the command that makes it, which clears comp_mask */
void fal_fill_qp_ex(struct fal_qp *qp)
{
	struct ibv_qp_ex *ex = &qp->vqp.qp_ex;

	qp->vqp.comp_mask |= VERBS_QP_EX;
	ex->wr_start = fal_wr_start;
	ex->wr_complete = fal_wr_complete;
	ex->wr_abort = fal_wr_abort;
	ex->wr_send = fal_wr_send;
	ex->wr_send_imm = fal_wr_send_imm;
	ex->wr_send_inv = fal_wr_send_inv;
	ex->wr_rdma_write = fal_wr_rdma_write;
	ex->wr_rdma_write_imm = fal_wr_rdma_write_imm;
	ex->wr_rdma_read = fal_wr_rdma_read;
	ex->wr_atomic_cmp_swp = fal_wr_cmp_swp;
	ex->wr_atomic_fetch_add = fal_wr_fetch_add;
	ex->wr_local_inv = fal_wr_local_inv;
	ex->wr_bind_mw = fal_wr_bind_mw;
	ex->wr_set_ud_addr = fal_wr_set_ud_addr;
	ex->wr_set_xrc_srqn = fal_wr_set_xrc_srqn;
	ex->wr_set_sge = fal_wr_set_sge;
	ex->wr_set_sge_list = fal_wr_set_sge_list;
	ex->wr_set_inline_data = fal_wr_set_inline_data;
	ex->wr_set_inline_data_list = fal_wr_set_inline_data_list;
}
