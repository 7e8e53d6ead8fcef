/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What verbs has no word for: the ordering and error modes of RDMA over Falcon,
 * and what protects and paces the connection of a queue pair.
 * Link with libfalcon, or look falcon_dv_create_qp up with dlsym().
 */
#ifndef FALCON_DV_H
#define FALCON_DV_H

#include <infiniband/verbs.h>
#include <rdma/falcon-abi.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * falcon_dv_create_qp - ibv_create_qp_ex(), in other modes
 * @context:	of a Falcon device
 * @attr:	as of ibv_create_qp_ex()
 * @order:	how data is placed and completed; both ends must ask for the same
 * @errors:	what an error does to the queue pair; FALCON_QP_UNORDERED wants
 *		FALCON_QP_COMPLETE_IN_ERROR
 *
 * Return: the queue pair; NULL with errno: EOPNOTSUPP if @context is of no
 * Falcon device, EINVAL for modes that do not go together, and those of
 * ibv_create_qp_ex().
 */
struct ibv_qp *falcon_dv_create_qp(struct ibv_context *context,
				   struct ibv_qp_init_attr_ex *attr,
				   enum falcon_qp_order order,
				   enum falcon_qp_errors errors);

/**
 * falcon_dv_create_secure_qp - the same, with a policy of its own
 * @context:	of a Falcon device
 * @attr:	as of ibv_create_qp_ex()
 * @order:	as of falcon_dv_create_qp()
 * @errors:	as of falcon_dv_create_qp()
 * @security:	FALCON_SECURITY_* of <linux/falcon.h>
 *
 * Return: as falcon_dv_create_qp(); NULL with EPERM: a weaker policy than that of
 * the namespace takes CAP_NET_ADMIN; EINVAL: there is no such policy;
 * EOPNOTSUPP: datagrams have that of the namespace.
 */
struct ibv_qp *falcon_dv_create_secure_qp(struct ibv_context *context,
					  struct ibv_qp_init_attr_ex *attr,
					  enum falcon_qp_order order,
					  enum falcon_qp_errors errors,
					  unsigned char security);

/**
 * falcon_dv_create_qp_ex - the same, with all that a queue pair can have
 * @context:	of a Falcon device
 * @attr:	as of ibv_create_qp_ex()
 * @modes:	as of the others, and its congestion control: a name of those that
 *		net.falcon.fae takes
 *
 * Return: as falcon_dv_create_secure_qp(); NULL with ENOENT: there is no such
 * congestion control; EOPNOTSUPP: datagrams have that of the namespace.
 */
struct ibv_qp *falcon_dv_create_qp_ex(struct ibv_context *context,
				      struct ibv_qp_init_attr_ex *attr,
				      const struct falcon_create_qp_req *modes);

#ifdef __cplusplus
}
#endif

#endif /* FALCON_DV_H */
