// SPDX-License-Identifier: GPL-2.0
/*
 * The engine's side of the life of each object, before there is an engine:
 * objects can be made, none can be connected.
 */
#include "falcon_ib.h"

int fal_eng_dev_init(struct fal_dev *dev)
{
	return 0;
}

void fal_eng_dev_exit(struct fal_dev *dev)
{
}

int fal_eng_qp_init(struct fal_qp *qp)
{
	return 0;
}

void fal_eng_qp_exit(struct fal_qp *qp)
{
}

int fal_eng_to_rtr(struct fal_qp *qp)
{
	return qp->ibqp.qp_type == IB_QPT_GSI || qp->ibqp.qp_type == IB_QPT_UD ?
	       0 : -EOPNOTSUPP;
}

void fal_eng_to_rts(struct fal_qp *qp)
{
}

void fal_eng_to_sqd(struct fal_qp *qp)
{
}

void fal_eng_to_err(struct fal_qp *qp)
{
	fal_sq_flush(qp);
	fal_rq_flush(qp);
}

void fal_eng_to_reset(struct fal_qp *qp)
{
}

void fal_eng_kick(struct fal_qp *qp)
{
	if (READ_ONCE(qp->state) == IB_QPS_ERR)
		fal_eng_to_err(qp);
}

int fal_eng_ah_init(struct fal_ah *ah)
{
	return 0;
}

void fal_eng_ah_exit(struct fal_ah *ah)
{
}
