// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Protection domains, thread and parent domains, XRC domains, address handles.
 */
#include <errno.h>
#include <stdlib.h>
#include "falcon.h"

static struct fal_pd *fal_real_pd(struct fal_pd *pd)
{
	return pd->parent_of ? pd->parent_of : pd;
}

/* Whether objects of this domain are used by one thread at a time. */
bool fal_pd_single_threaded(struct ibv_pd *pd)
{
	return pd && to_fal_pd(pd)->single_threaded;
}

struct ibv_pd *fal_alloc_pd(struct ibv_context *context)
{
	struct ib_uverbs_alloc_pd_resp resp;
	struct ibv_alloc_pd cmd;
	struct fal_pd *pd = calloc(1, sizeof(*pd));

	if (!pd)
		return NULL;
	if (ibv_cmd_alloc_pd(context, &pd->pd, &cmd, sizeof(cmd), &resp,
			     sizeof(resp))) {
		free(pd);
		return NULL;
	}
	return &pd->pd;
}

int fal_dealloc_pd(struct ibv_pd *ibpd)
{
	struct fal_pd *pd = to_fal_pd(ibpd);
	int err;

	if (atomic_load(&pd->refs))
		return EBUSY;
	if (pd->parent_of) {
		atomic_fetch_sub(&pd->parent_of->refs, 1);
	} else {
		err = ibv_cmd_dealloc_pd(ibpd);
		if (err)
			return err;
	}
	free(pd);
	return 0;
}

struct ibv_pd *fal_import_pd(struct ibv_context *context, uint32_t handle)
{
	struct fal_pd *pd = calloc(1, sizeof(*pd));

	if (!pd)
		return NULL;
	pd->pd.context = context;
	pd->pd.handle = handle;
	return &pd->pd;
}

void fal_unimport_pd(struct ibv_pd *pd)
{
	free(to_fal_pd(pd));
}

struct ibv_td *fal_alloc_td(struct ibv_context *context,
			    struct ibv_td_init_attr *attr)
{
	struct fal_td *td;

	if (attr->comp_mask) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	td = calloc(1, sizeof(*td));
	if (!td)
		return NULL;
	td->td.context = context;
	return &td->td;
}

int fal_dealloc_td(struct ibv_td *td)
{
	free(to_fal_td(td));
	return 0;
}

/*
 * A parent domain is its protection domain to the kernel. With a thread domain,
 * what is made of it goes without locks. Rings are the kernel's memory, so there
 * is nothing that the user's allocators would be asked for.
 */
struct ibv_pd *
fal_alloc_parent_domain(struct ibv_context *context,
			struct ibv_parent_domain_init_attr *attr)
{
	struct fal_pd *pd;

	if (attr->comp_mask & ~(IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS |
				IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT)) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	if (!attr->pd) {
		errno = EINVAL;
		return NULL;
	}
	pd = calloc(1, sizeof(*pd));
	if (!pd)
		return NULL;
	pd->parent_of = fal_real_pd(to_fal_pd(attr->pd));
	atomic_fetch_add(&pd->parent_of->refs, 1);
	pd->single_threaded = attr->td;
	pd->pd.context = context;
	pd->pd.handle = attr->pd->handle;
	return &pd->pd;
}

struct ibv_xrcd *fal_open_xrcd(struct ibv_context *context,
			       struct ibv_xrcd_init_attr *attr)
{
	struct ib_uverbs_open_xrcd_resp resp;
	struct ibv_open_xrcd cmd;
	struct verbs_xrcd *xrcd = calloc(1, sizeof(*xrcd));

	if (!xrcd)
		return NULL;
	if (ibv_cmd_open_xrcd(context, xrcd, sizeof(*xrcd), attr, &cmd,
			      sizeof(cmd), &resp, sizeof(resp))) {
		free(xrcd);
		return NULL;
	}
	return &xrcd->xrcd;
}

int fal_close_xrcd(struct ibv_xrcd *ibxrcd)
{
	struct verbs_xrcd *xrcd = container_of(ibxrcd, struct verbs_xrcd, xrcd);
	int err = ibv_cmd_close_xrcd(xrcd);

	if (!err)
		free(xrcd);
	return err;
}

struct ibv_ah *fal_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
	struct {
		struct ib_uverbs_create_ah_resp base;
		struct falcon_create_ah_resp own;
	} resp;
	struct fal_ah *ah = calloc(1, sizeof(*ah));

	if (!ah)
		return NULL;
	if (ibv_cmd_create_ah(pd, &ah->ah, attr, &resp.base, sizeof(resp))) {
		free(ah);
		return NULL;
	}
	ah->nr = resp.own.ah;
	return &ah->ah;
}

int fal_destroy_ah(struct ibv_ah *ah)
{
	int err = ibv_cmd_destroy_ah(ah);

	if (!err)
		free(to_fal_ah(ah));
	return err;
}
