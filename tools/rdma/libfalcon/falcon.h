/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * libfalcon: the objects of the provider, and the rings it shares with the
 * kernel (rdma/falcon-abi.h).
 */
#ifndef LIBFALCON_H
#define LIBFALCON_H

#include <pthread.h>
#ifdef FALCON_IN_RDMA_CORE
#include <infiniband/driver.h>
#else
#include "private34.h"
#endif
#include <rdma/falcon-abi.h>

struct fal_context {
	struct verbs_context vctx;
};

/* A protection domain, or a parent domain that stands for one. */
struct fal_pd {
	struct ibv_pd pd;
	struct fal_pd *parent_of;
	atomic_int refs;
	bool single_threaded;
};

struct fal_td {
	struct ibv_td td;
	atomic_int refs;
};

struct fal_ah {
	struct ibv_ah ah;
	uint32_t nr;
};

/* Taken by no one if a thread domain promises a single thread. */
struct fal_lock {
	pthread_spinlock_t lock;
	bool off;
};

/**
 * struct fal_ring - a mapped ring
 * @hdr:	its head, NULL if there is none
 * @length:	bytes mapped
 * @mask:	slots - 1
 * @stride:	bytes from slot to slot
 */
struct fal_ring {
	struct falcon_ring_hdr *hdr;
	size_t length;
	uint32_t mask;
	uint32_t stride;
};

/**
 * struct fal_cq - completion queue
 * @vcq:	of libibverbs
 * @lock:	polling
 * @ring:	of struct falcon_cqe
 * @cons:	next to poll, or that start_poll() and next_poll() show
 * @prod:	what the kernel's index was when last looked at
 * @cqe:	@cons' entry, between start_poll() and end_poll()
 */
struct fal_cq {
	struct verbs_cq vcq;
	struct fal_lock lock;
	struct fal_ring ring;
	uint32_t cons;
	uint32_t prod;
	const struct falcon_cqe *cqe;
};

/**
 * struct fal_rq - receive queue, of a queue pair or shared
 * @lock:	posting
 * @ring:	of struct falcon_recv_wqe
 * @prod:	next to post
 * @max_sge:	entries of each
 */
struct fal_rq {
	struct fal_lock lock;
	struct fal_ring ring;
	uint32_t prod;
	uint32_t max_sge;
};

struct fal_srq {
	struct verbs_srq vsrq;
	struct fal_rq rq;
};

/**
 * struct fal_qp - queue pair
 * @vqp:	of libibverbs
 * @sq_lock:	posting to the send queue; held from wr_start() to wr_complete()
 * @sq:		of struct falcon_send_wqe
 * @sq_prod:	next to post
 * @sq_posted:	the kernel sees those before
 * @max_sge:	entries of a send request
 * @max_inline:	bytes of inline data
 * @wr:		request that wr_*() builds
 * @wr_prod:	the one after it
 * @wr_err:	errno that wr_complete() returns
 * @rq:		receive queue, if it is not shared
 */
struct fal_qp {
	struct verbs_qp vqp;
	struct fal_lock sq_lock;
	struct fal_ring sq;
	uint32_t sq_prod;
	uint32_t sq_posted;
	uint32_t max_sge;
	uint32_t max_inline;
	struct falcon_send_wqe *wr;
	uint32_t wr_prod;
	int wr_err;
	struct fal_rq rq;
};

#define FAL_TO(type, member, base)					\
static inline struct type *to_##type(struct base *p)			\
{									\
	return container_of(p, struct type, member);			\
}
FAL_TO(fal_context, vctx.context, ibv_context)
FAL_TO(fal_pd, pd, ibv_pd)
FAL_TO(fal_td, td, ibv_td)
FAL_TO(fal_ah, ah, ibv_ah)
FAL_TO(fal_cq, vcq.cq, ibv_cq)
FAL_TO(fal_srq, vsrq.srq, ibv_srq)
FAL_TO(fal_qp, vqp.qp, ibv_qp)

static inline void fal_lock_init(struct fal_lock *l, bool off)
{
	pthread_spin_init(&l->lock, PTHREAD_PROCESS_PRIVATE);
	l->off = off;
}

static inline void fal_lock(struct fal_lock *l)
{
	if (!l->off)
		pthread_spin_lock(&l->lock);
}

static inline void fal_unlock(struct fal_lock *l)
{
	if (!l->off)
		pthread_spin_unlock(&l->lock);
}

static inline uint32_t fal_load(const uint32_t *index)
{
	return __atomic_load_n(index, __ATOMIC_ACQUIRE);
}

static inline void fal_store(uint32_t *index, uint32_t value)
{
	__atomic_store_n(index, value, __ATOMIC_RELEASE);
}

static inline void *fal_slot(const struct fal_ring *ring, uint32_t index)
{
	return (char *)ring->hdr + FALCON_RING_SLOTS +
	       (size_t)(index & ring->mask) * ring->stride;
}

/* falcon.c */
bool fal_is_ours(struct ibv_context *context);

/* ring.c */
int fal_ring_map(struct fal_ring *ring, const struct falcon_ring *where,
		 int fd);
void fal_ring_unmap(struct fal_ring *ring);

/* pd.c */
bool fal_pd_single_threaded(struct ibv_pd *pd);
struct ibv_pd *fal_alloc_pd(struct ibv_context *context);
int fal_dealloc_pd(struct ibv_pd *pd);
struct ibv_pd *fal_import_pd(struct ibv_context *context, uint32_t handle);
void fal_unimport_pd(struct ibv_pd *pd);
struct ibv_td *fal_alloc_td(struct ibv_context *context,
			    struct ibv_td_init_attr *attr);
int fal_dealloc_td(struct ibv_td *td);
struct ibv_pd *
fal_alloc_parent_domain(struct ibv_context *context,
			struct ibv_parent_domain_init_attr *attr);
struct ibv_xrcd *fal_open_xrcd(struct ibv_context *context,
			       struct ibv_xrcd_init_attr *attr);
int fal_close_xrcd(struct ibv_xrcd *xrcd);
struct ibv_ah *fal_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr);
int fal_destroy_ah(struct ibv_ah *ah);

/* mr.c */
struct ibv_mr *fal_reg_mr(struct ibv_pd *pd, void *addr, size_t length,
			  uint64_t hca_va, int access);
int fal_rereg_mr(struct verbs_mr *vmr, int flags, struct ibv_pd *pd,
		 void *addr, size_t length, int access);
int fal_dereg_mr(struct verbs_mr *vmr);
struct ibv_mr *fal_import_mr(struct ibv_pd *pd, uint32_t handle);
void fal_unimport_mr(struct ibv_mr *mr);
struct ibv_mw *fal_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type);
int fal_dealloc_mw(struct ibv_mw *mw);

/* cq.c */
struct ibv_cq *fal_create_cq(struct ibv_context *context, int cqe,
			     struct ibv_comp_channel *channel, int vector);
struct ibv_cq_ex *fal_create_cq_ex(struct ibv_context *context,
				   struct ibv_cq_init_attr_ex *attr);
int fal_resize_cq(struct ibv_cq *cq, int cqe);
int fal_modify_cq(struct ibv_cq *cq, struct ibv_modify_cq_attr *attr);
int fal_destroy_cq(struct ibv_cq *cq);
int fal_poll_cq(struct ibv_cq *cq, int n, struct ibv_wc *wc);
void fal_cq_clean(struct ibv_cq *cq, uint32_t qpn);

/* srq.c */
int fal_rq_init(struct fal_rq *rq, const struct falcon_ring *where,
		uint32_t max_sge, bool single_threaded, int fd);
int fal_rq_post(struct fal_rq *rq, struct ibv_recv_wr *wr,
		struct ibv_recv_wr **bad);
struct ibv_srq *fal_create_srq(struct ibv_pd *pd,
			       struct ibv_srq_init_attr *attr);
struct ibv_srq *fal_create_srq_ex(struct ibv_context *context,
				  struct ibv_srq_init_attr_ex *attr);
int fal_modify_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr, int mask);
int fal_query_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr);
int fal_destroy_srq(struct ibv_srq *srq);
int fal_get_srq_num(struct ibv_srq *srq, uint32_t *num);
int fal_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr,
		      struct ibv_recv_wr **bad);

/* qp.c */
struct ibv_qp *fal_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr);
struct ibv_qp *fal_create_qp_ex(struct ibv_context *context,
				struct ibv_qp_init_attr_ex *attr);
struct ibv_qp *fal_open_qp(struct ibv_context *context,
			   struct ibv_qp_open_attr *attr);
int fal_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask,
		 struct ibv_qp_init_attr *init);
int fal_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask);
int fal_destroy_qp(struct ibv_qp *qp);

/* post.c */
int fal_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr,
		  struct ibv_send_wr **bad);
int fal_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr,
		  struct ibv_recv_wr **bad);
int fal_bind_mw(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *bind);
int fal_doorbell(struct fal_qp *qp);
int fal_sq_publish(struct fal_qp *qp, uint32_t prod);
bool fal_may_send(const struct ibv_qp *qp);
struct falcon_send_wqe *fal_sq_next(struct fal_qp *qp, uint32_t index);

/* post_ex.c */
int fal_check_send_ops(const struct ibv_qp_init_attr_ex *attr);
void fal_fill_qp_ex(struct fal_qp *qp);

#endif /* LIBFALCON_H */
