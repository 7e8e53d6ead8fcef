// SPDX-License-Identifier: GPL-2.0
/*
 * The plain objects: user contexts, protection domains, XRC domains, address
 * handles.
 */
#include <rdma/ib_addr.h>
#include "internal.h"

/* ib_device_ops::alloc_ucontext */
int fal_alloc_ucontext(struct ib_ucontext *ibuc, struct ib_udata *udata)
{
	struct falcon_alloc_ucontext_resp resp = {
		.max_inline	= FAL_MAX_INLINE,
		.max_sge	= FAL_MAX_SGE,
	};

	return ib_copy_to_udata(udata, &resp, min(sizeof(resp), udata->outlen));
}

/* ib_device_ops::dealloc_ucontext */
void fal_dealloc_ucontext(struct ib_ucontext *ibuc)
{
}

/*
 * ib_device_ops::disassociate_ucontext. Mapped rings are ordinary memory that
 * the mappings hold; there is no device memory to take away.
 */
void fal_disassociate_ucontext(struct ib_ucontext *ibuc)
{
}

/* ib_device_ops::alloc_pd */
int fal_alloc_pd(struct ib_pd *ibpd, struct ib_udata *udata)
{
	return 0;
}

/* ib_device_ops::dealloc_pd */
int fal_dealloc_pd(struct ib_pd *ibpd, struct ib_udata *udata)
{
	return 0;
}

/* ib_device_ops::alloc_xrcd */
int fal_alloc_xrcd(struct ib_xrcd *ibxrcd, struct ib_udata *udata)
{
	return 0;
}

/* ib_device_ops::dealloc_xrcd */
int fal_dealloc_xrcd(struct ib_xrcd *ibxrcd, struct ib_udata *udata)
{
	return 0;
}

/* Kernel consumers may call with bottom halves or interrupts off. */
static int fal_ah_number(struct fal_ah *ah, gfp_t gfp)
{
	struct xarray *xa = &ah->dev->ahs;
	unsigned long flags;
	int err;

	xa_lock_irqsave(xa, flags);
	err = __xa_alloc_cyclic(xa, &ah->nr, ah, XA_LIMIT(1, U32_MAX),
				&ah->dev->next_ah, gfp);
	xa_unlock_irqrestore(xa, flags);
	return err < 0 ? err : 0;
}

static void fal_ah_forget(struct fal_ah *ah)
{
	unsigned long flags;

	xa_lock_irqsave(&ah->dev->ahs, flags);
	__xa_erase(&ah->dev->ahs, ah->nr);
	xa_unlock_irqrestore(&ah->dev->ahs, flags);
}

/**
 * fal_ah_use - look at an address handle that a send request names
 * @qp:		of the request
 * @nr:		falcon_send_wqe::ah
 * @use:	called with the handle, under a spinlock with interrupts off; takes
 *		what it needs. The handle may be gone afterwards
 * @arg:	for @use
 *
 * Context: any.
 * Return: false if there is no such handle in the protection domain of @qp.
 */
bool fal_ah_use(struct fal_qp *qp, u32 nr,
		void (*use)(struct fal_ah *ah, void *arg), void *arg)
{
	struct xarray *xa = &qp->dev->ahs;
	unsigned long flags;
	struct fal_ah *ah;

	xa_lock_irqsave(xa, flags);
	ah = xa_load(xa, nr);
	if (ah && ah->ibah.pd != qp->ibqp.pd)
		ah = NULL;
	if (ah)
		use(ah, arg);
	xa_unlock_irqrestore(xa, flags);
	return ah;
}

/* ib_device_ops::create_ah and create_user_ah: unicast, with a GID */
int fal_create_ah(struct ib_ah *ibah, struct rdma_ah_init_attr *init,
		  struct ib_udata *udata)
{
	struct fal_ah *ah = to_fal_ah(ibah);
	struct falcon_create_ah_resp resp = {};
	bool sleeps = init->flags & RDMA_CREATE_AH_SLEEPABLE;
	int err;

	if (!(rdma_ah_get_ah_flags(init->ah_attr) & IB_AH_GRH) ||
	    rdma_is_multicast_addr((struct in6_addr *)
				   init->ah_attr->grh.dgid.raw))
		return -EINVAL;
	ah->dev = to_fal_dev(ibah->device);
	ah->attr = *init->ah_attr;
	err = fal_eng_ah_init(ah);
	if (err)
		return err;
	err = fal_ah_number(ah, sleeps ? GFP_KERNEL : GFP_ATOMIC);
	if (err)
		goto exit;
	resp.ah = ah->nr;
	if (udata)
		err = ib_copy_to_udata(udata, &resp,
				       min(sizeof(resp), udata->outlen));
	if (!err)
		return 0;
	fal_ah_forget(ah);
exit:
	fal_eng_ah_exit(ah);
	return err;
}

/* ib_device_ops::query_ah */
int fal_query_ah(struct ib_ah *ibah, struct rdma_ah_attr *attr)
{
	*attr = to_fal_ah(ibah)->attr;
	attr->type = ibah->type;
	attr->grh.sgid_attr = NULL;
	return 0;
}

/* ib_device_ops::destroy_ah; the core frees the memory after it */
int fal_destroy_ah(struct ib_ah *ibah, u32 flags)
{
	struct fal_ah *ah = to_fal_ah(ibah);

	fal_ah_forget(ah);
	fal_eng_ah_exit(ah);
	return 0;
}
