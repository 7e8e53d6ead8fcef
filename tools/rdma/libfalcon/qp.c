// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Queue pairs.
 */
#include <errno.h>
#include <stdlib.h>
#include "falcon.h"
#include "falcon_dv.h"

#define FAL_QP_COMP_MASK (IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_XRCD |	\
			  IBV_QP_INIT_ATTR_CREATE_FLAGS |		\
			  IBV_QP_INIT_ATTR_MAX_TSO_HEADER |		\
			  IBV_QP_INIT_ATTR_SEND_OPS_FLAGS)

static int fal_qp_map(struct fal_qp *qp, struct ibv_pd *pd,
		      const struct ibv_qp_init_attr_ex *attr,
		      const struct falcon_create_qp_resp *resp, int fd)
{
	bool single = fal_pd_single_threaded(pd);
	int err = fal_ring_map(&qp->sq, &resp->sq, fd);

	if (err)
		return err;
	fal_lock_init(&qp->sq_lock, single);
	qp->max_sge = attr->cap.max_send_sge;
	qp->max_inline = attr->cap.max_inline_data;
	err = fal_rq_init(&qp->rq, &resp->rq, attr->cap.max_recv_sge, single,
			  fd);
	if (err)
		fal_ring_unmap(&qp->sq);
	return err;
}

static int fal_qp_make(struct fal_qp *qp, struct ibv_context *context,
		       struct ibv_qp_init_attr_ex *attr,
		       const struct falcon_create_qp_req *modes)
{
	struct {
		struct ib_uverbs_ex_create_qp_resp base;
		struct falcon_create_qp_resp own;
	} resp = {};
	struct {
		struct ibv_create_qp_ex base;
		struct falcon_create_qp_req own;
	} cmd = { .own = *modes };
	struct ibv_pd *pd = attr->comp_mask & IBV_QP_INIT_ATTR_PD ?
			    attr->pd : NULL;
	int err;

	err = fal_check_send_ops(attr);
	if (err)
		return err;
	err = ibv_cmd_create_qp_ex2(context, &qp->vqp, attr, &cmd.base,
				    sizeof(cmd), &resp.base, sizeof(resp));
	if (err)
		return err;
	if (attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS)
		fal_fill_qp_ex(qp);
	err = fal_qp_map(qp, pd, attr, &resp.own, context->cmd_fd);
	if (err)
		ibv_cmd_destroy_qp(&qp->vqp.qp);
	return err;
}

/* No flag of creation means anything here, and nothing segments TCP. */
static bool fal_qp_attr_ok(const struct ibv_qp_init_attr_ex *attr)
{
	if (attr->comp_mask & ~FAL_QP_COMP_MASK)
		return false;
	if (attr->comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS &&
	    attr->create_flags)
		return false;
	return !(attr->comp_mask & IBV_QP_INIT_ATTR_MAX_TSO_HEADER) ||
	       !attr->max_tso_header;
}

static struct ibv_qp *fal_qp_create(struct ibv_context *context,
				    struct ibv_qp_init_attr_ex *attr,
				    const struct falcon_create_qp_req *modes)
{
	struct fal_qp *qp;
	int err;

	if (!fal_qp_attr_ok(attr)) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	qp = calloc(1, sizeof(*qp));
	if (!qp)
		return NULL;
	err = fal_qp_make(qp, context, attr, modes);
	if (!err)
		return &qp->vqp.qp;
	free(qp);
	errno = err;
	return NULL;
}

struct ibv_qp *fal_create_qp_ex(struct ibv_context *context,
				struct ibv_qp_init_attr_ex *attr)
{
	static const struct falcon_create_qp_req as_verbs;

	return fal_qp_create(context, attr, &as_verbs);
}

/* falcon_dv.h */
__attribute__((visibility("default")))
struct ibv_qp *falcon_dv_create_qp(struct ibv_context *context,
				   struct ibv_qp_init_attr_ex *attr,
				   enum falcon_qp_order order,
				   enum falcon_qp_errors errors)
{
	return falcon_dv_create_secure_qp(context, attr, order, errors, 0);
}

__attribute__((visibility("default")))
struct ibv_qp *falcon_dv_create_secure_qp(struct ibv_context *context,
					  struct ibv_qp_init_attr_ex *attr,
					  enum falcon_qp_order order,
					  enum falcon_qp_errors errors,
					  unsigned char security)
{
	const struct falcon_create_qp_req modes = {
		.order		= order,
		.errors		= errors,
		.security	= security,
	};

	return falcon_dv_create_qp_ex(context, attr, &modes);
}

__attribute__((visibility("default")))
struct ibv_qp *falcon_dv_create_qp_ex(struct ibv_context *context,
				      struct ibv_qp_init_attr_ex *attr,
				      const struct falcon_create_qp_req *modes)
{
	if (!fal_is_ours(context)) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	return fal_qp_create(context, attr, modes);
}

struct ibv_qp *fal_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	struct ibv_qp_init_attr_ex ex = {
		.qp_context	= attr->qp_context,
		.send_cq	= attr->send_cq,
		.recv_cq	= attr->recv_cq,
		.srq		= attr->srq,
		.cap		= attr->cap,
		.qp_type	= attr->qp_type,
		.sq_sig_all	= attr->sq_sig_all,
		.comp_mask	= IBV_QP_INIT_ATTR_PD,
		.pd		= pd,
	};
	struct ibv_qp *qp = fal_create_qp_ex(pd->context, &ex);

	if (qp)
		attr->cap = ex.cap;
	return qp;
}

struct ibv_qp *fal_open_qp(struct ibv_context *context,
			   struct ibv_qp_open_attr *attr)
{
	struct ib_uverbs_create_qp_resp resp;
	struct ibv_open_qp cmd;
	struct fal_qp *qp = calloc(1, sizeof(*qp));

	if (!qp)
		return NULL;
	if (ibv_cmd_open_qp(context, &qp->vqp, sizeof(qp->vqp), attr, &cmd,
			    sizeof(cmd), &resp, sizeof(resp))) {
		free(qp);
		return NULL;
	}
	return &qp->vqp.qp;
}

int fal_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask,
		 struct ibv_qp_init_attr *init)
{
	struct ibv_query_qp cmd;

	return ibv_cmd_query_qp(qp, attr, mask, init, &cmd, sizeof(cmd));
}

static void fal_qp_clean(struct ibv_qp *qp)
{
	fal_cq_clean(qp->recv_cq, qp->qp_num);
	if (qp->send_cq != qp->recv_cq)
		fal_cq_clean(qp->send_cq, qp->qp_num);
}

int fal_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	struct ibv_modify_qp cmd = {};
	int err = ibv_cmd_modify_qp(qp, attr, mask, &cmd, sizeof(cmd));

	if (!err && mask & IBV_QP_STATE && attr->qp_state == IBV_QPS_RESET)
		fal_qp_clean(qp);
	return err;
}

int fal_destroy_qp(struct ibv_qp *ibqp)
{
	struct fal_qp *qp = to_fal_qp(ibqp);
	int err = ibv_cmd_destroy_qp(ibqp);

	if (err)
		return err;
	fal_qp_clean(ibqp);
	fal_ring_unmap(&qp->sq);
	fal_ring_unmap(&qp->rq.ring);
	free(qp);
	return 0;
}
