/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of the front half call of each other, and the verbs that
 * main.c puts into the device's table.
 */
#ifndef _FALCON_IB_INTERNAL_H
#define _FALCON_IB_INTERNAL_H

#include "falcon_ib.h"
#include "compat.h"

/* ring.c */
int fal_ring_alloc(struct fal_ring *ring, u32 slots, u32 stride,
		   struct ib_udata *udata);
void fal_ring_free(struct fal_ring *ring);
void fal_ring_tell(const struct fal_ring *ring, struct falcon_ring *resp);
int fal_mmap(struct ib_ucontext *ibuc, struct vm_area_struct *vma);
void fal_mmap_free(struct rdma_user_mmap_entry *entry);

/* ucontext.c */
int fal_alloc_ucontext(struct ib_ucontext *ibuc, struct ib_udata *udata);
void fal_dealloc_ucontext(struct ib_ucontext *ibuc);
void fal_disassociate_ucontext(struct ib_ucontext *ibuc);
int fal_alloc_pd(struct ib_pd *ibpd, struct ib_udata *udata);
int fal_dealloc_pd(struct ib_pd *ibpd, struct ib_udata *udata);
int fal_alloc_xrcd(struct ib_xrcd *ibxrcd, struct ib_udata *udata);
int fal_dealloc_xrcd(struct ib_xrcd *ibxrcd, struct ib_udata *udata);
int fal_create_ah(struct ib_ah *ibah, struct rdma_ah_init_attr *init,
		  struct ib_udata *udata);
int fal_query_ah(struct ib_ah *ibah, struct rdma_ah_attr *attr);
int fal_destroy_ah(struct ib_ah *ibah, u32 flags);

/* cq.c */
int fal_create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
		  fal_cq_udata *udata);
int fal_destroy_cq(struct ib_cq *ibcq, struct ib_udata *udata);
int fal_resize_cq(struct ib_cq *ibcq, int cqe, struct ib_udata *udata);
int fal_modify_cq(struct ib_cq *ibcq, u16 count, u16 period_us);
int fal_poll_cq(struct ib_cq *ibcq, int n, struct ib_wc *wc);
int fal_peek_cq(struct ib_cq *ibcq, int n);
int fal_req_notify_cq(struct ib_cq *ibcq, enum ib_cq_notify_flags flags);
void fal_cq_clean(struct fal_cq *cq, const struct fal_qp *qp);

/* sq.c */
int fal_sq_init(struct fal_qp *qp, const struct ib_qp_cap *cap,
		struct ib_udata *udata);
void fal_sq_exit(struct fal_qp *qp);
int fal_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr,
		  const struct ib_send_wr **bad);

/* rq.c */
int fal_rq_init(struct fal_rq *rq, u32 max_wr, u32 max_sge,
		struct ib_udata *udata);
void fal_rq_reset(struct fal_rq *rq);
void fal_rq_exit(struct fal_rq *rq);
int fal_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr,
		  const struct ib_recv_wr **bad);
int fal_post_srq_recv(struct ib_srq *ibsrq, const struct ib_recv_wr *wr,
		      const struct ib_recv_wr **bad);
int fal_create_srq(struct ib_srq *ibsrq, struct ib_srq_init_attr *init,
		   struct ib_udata *udata);
int fal_modify_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr,
		   enum ib_srq_attr_mask mask, struct ib_udata *udata);
int fal_query_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr);
int fal_destroy_srq(struct ib_srq *ibsrq, struct ib_udata *udata);

/* qp.c */
int fal_create_qp(struct ib_qp *ibqp, struct ib_qp_init_attr *init,
		  struct ib_udata *udata);
int fal_modify_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		  struct ib_udata *udata);
int fal_query_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		 struct ib_qp_init_attr *init);
int fal_destroy_qp(struct ib_qp *ibqp, struct ib_udata *udata);

/* mem.c */
struct fal_mem *fal_mem_alloc(u32 max_pages);
struct fal_mem *fal_mem_pin(struct fal_dev *dev, u64 start, u64 length,
			    int access);
void fal_mem_free(struct fal_mem *mem);

/* mr.c */
struct ib_mr *fal_get_dma_mr(struct ib_pd *ibpd, int access);
struct ib_mr *fal_reg_user_mr(struct ib_pd *ibpd, u64 start, u64 length,
			      u64 iova, int access, struct ib_udata *udata);
struct ib_mr *fal_rereg_user_mr(struct ib_mr *ibmr, int flags, u64 start,
				u64 length, u64 iova, int access,
				struct ib_pd *ibpd, struct ib_udata *udata);
struct ib_mr *fal_alloc_mr(struct ib_pd *ibpd, enum ib_mr_type type,
			   u32 max_sg);
int fal_map_mr_sg(struct ib_mr *ibmr, struct scatterlist *sg, int nents,
		  unsigned int *offset);
int fal_dereg_mr(struct ib_mr *ibmr, struct ib_udata *udata);
int fal_alloc_mw(struct ib_mw *ibmw, struct ib_udata *udata);
int fal_dealloc_mw(struct ib_mw *ibmw);

#endif /* _FALCON_IB_INTERNAL_H */
