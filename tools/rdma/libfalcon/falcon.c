// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * libfalcon: rdma-core's provider for verbs over Falcon. The device, its
 * contexts, and which function does what.
 *
 * libibverbs finds it by /etc/libibverbs.d/falcon.driver, or by RDMAV_DRIVERS
 * in the environment, and takes it for every device whose kernel driver calls
 * itself FALCON_IB_DRIVER_ID. A kernel of another FALCON_IB_ABI_VERSION is
 * refused by libibverbs, with a message that names both.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "falcon.h"

static int fal_query_device_ex(struct ibv_context *context,
			       const struct ibv_query_device_ex_input *input,
			       struct ibv_device_attr_ex *attr, size_t size)
{
	struct ib_uverbs_ex_query_device_resp resp;
	size_t resp_size = sizeof(resp);
	int err;

	err = ibv_cmd_query_device_any(context, input, attr, size, &resp,
				       &resp_size);
	if (!err)
		snprintf(attr->orig_attr.fw_ver, sizeof(attr->orig_attr.fw_ver),
			 "%d.0", FALCON_IB_ABI_VERSION);
	return err;
}

static int fal_query_port(struct ibv_context *context, uint8_t port,
			  struct ibv_port_attr *attr)
{
	struct ibv_query_port cmd;

	return ibv_cmd_query_port(context, port, attr, &cmd, sizeof(cmd));
}

/* The raw clock is what completions are stamped with, in nanoseconds. */
static int fal_query_rt_values(struct ibv_context *context,
			       struct ibv_values_ex *values)
{
	(void)context;
	if (values->comp_mask & ~IBV_VALUES_MASK_RAW_CLOCK)
		return EINVAL;
	if (values->comp_mask & IBV_VALUES_MASK_RAW_CLOCK)
		clock_gettime(CLOCK_MONOTONIC, &values->raw_clock);
	return 0;
}

static void fal_free_context(struct ibv_context *context)
{
	struct fal_context *ctx = to_fal_context(context);

	verbs_uninit_context(&ctx->vctx);
	free(ctx);
}

static const struct verbs_context_ops fal_context_ops = {
	.alloc_mw		= fal_alloc_mw,
	.alloc_parent_domain	= fal_alloc_parent_domain,
	.alloc_pd		= fal_alloc_pd,
	.alloc_td		= fal_alloc_td,
	.bind_mw		= fal_bind_mw,
	.close_xrcd		= fal_close_xrcd,
	.create_ah		= fal_create_ah,
	.create_cq		= fal_create_cq,
	.create_cq_ex		= fal_create_cq_ex,
	.create_qp		= fal_create_qp,
	.create_qp_ex		= fal_create_qp_ex,
	.create_srq		= fal_create_srq,
	.create_srq_ex		= fal_create_srq_ex,
	.dealloc_mw		= fal_dealloc_mw,
	.dealloc_pd		= fal_dealloc_pd,
	.dealloc_td		= fal_dealloc_td,
	.dereg_mr		= fal_dereg_mr,
	.destroy_ah		= fal_destroy_ah,
	.destroy_cq		= fal_destroy_cq,
	.destroy_qp		= fal_destroy_qp,
	.destroy_srq		= fal_destroy_srq,
	.free_context		= fal_free_context,
	.get_srq_num		= fal_get_srq_num,
	.import_mr		= fal_import_mr,
	.import_pd		= fal_import_pd,
	.modify_cq		= fal_modify_cq,
	.modify_qp		= fal_modify_qp,
	.modify_srq		= fal_modify_srq,
	.open_qp		= fal_open_qp,
	.open_xrcd		= fal_open_xrcd,
	.poll_cq		= fal_poll_cq,
	.post_recv		= fal_post_recv,
	.post_send		= fal_post_send,
	.post_srq_recv		= fal_post_srq_recv,
	.query_device_ex	= fal_query_device_ex,
	.query_port		= fal_query_port,
	.query_qp		= fal_query_qp,
	.query_rt_values	= fal_query_rt_values,
	.query_srq		= fal_query_srq,
	.reg_mr			= fal_reg_mr,
	.req_notify_cq		= ibv_cmd_req_notify_cq,
	.rereg_mr		= fal_rereg_mr,
	.resize_cq		= fal_resize_cq,
	.unimport_mr		= fal_unimport_mr,
	.unimport_pd		= fal_unimport_pd,
};

static struct verbs_context *fal_alloc_context(struct ibv_device *device,
					       int cmd_fd, void *private_data)
{
	struct ib_uverbs_get_context_resp resp;
	struct ibv_get_context cmd;
	struct fal_context *ctx;

	(void)private_data;
	ctx = verbs_init_and_alloc_context(device, cmd_fd, ctx, vctx,
					   FALCON_IB_DRIVER_ID);
	if (!ctx)
		return NULL;
	if (ibv_cmd_get_context(&ctx->vctx, &cmd, sizeof(cmd), &resp,
				sizeof(resp))) {
		verbs_uninit_context(&ctx->vctx);
		free(ctx);
		return NULL;
	}
	verbs_set_ops(&ctx->vctx, &fal_context_ops);
	return &ctx->vctx;
}

static struct verbs_device *fal_alloc_device(struct verbs_sysfs_dev *sysfs_dev)
{
	(void)sysfs_dev;
	return calloc(1, sizeof(struct verbs_device));
}

static void fal_uninit_device(struct verbs_device *device)
{
	free(device);
}

static const struct verbs_match_ent fal_match[] = {
	VERBS_DRIVER_ID(FALCON_IB_DRIVER_ID),
	{},
};

static const struct verbs_device_ops fal_device_ops = {
	.name			= "falcon",
	.match_min_abi_version	= FALCON_IB_ABI_VERSION,
	.match_max_abi_version	= FALCON_IB_ABI_VERSION,
	.match_table		= fal_match,
	.alloc_device		= fal_alloc_device,
	.uninit_device		= fal_uninit_device,
	.alloc_context		= fal_alloc_context,
};
PROVIDER_DRIVER(falcon, fal_device_ops)

/* Whether a context is of this provider. */
bool fal_is_ours(struct ibv_context *context)
{
	struct verbs_device *device = container_of(context->device,
						   struct verbs_device, device);

	return device->ops == &fal_device_ops;
}
