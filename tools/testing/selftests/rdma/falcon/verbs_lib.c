// SPDX-License-Identifier: GPL-2.0
/*
 * Queue pairs of the tests, connected within a device.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "verbs.h"

#define VQP_ACCESS (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |	\
		    IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC)

unsigned int vqp_depth = VQP_DEPTH;

static struct ibv_qp_init_attr_ex vqp_attr(const struct vqp *v,
					   enum ibv_qp_type type)
{
	return (struct ibv_qp_init_attr_ex) {
		.qp_type	= type,
		.comp_mask	= IBV_QP_INIT_ATTR_PD,
		.pd		= vpd,
		.send_cq	= v->cq,
		.recv_cq	= v->cq,
		.srq		= v->srq,
		.cap = {
			.max_send_wr		= vqp_depth,
			.max_recv_wr		= vqp_depth,
			.max_send_sge		= 4,
			.max_recv_sge		= 4,
			.max_inline_data	= 64,
		},
	};
}

static struct ibv_qp *vqp_make(const struct vqp *v, enum ibv_qp_type type,
			       enum falcon_qp_order order,
			       enum falcon_qp_errors errors)
{
	typeof(falcon_dv_create_qp) *create = vdlsym("falcon_dv_create_qp");
	struct ibv_qp_init_attr_ex attr = vqp_attr(v, type);

	if (order == FALCON_QP_STRONG && errors == FALCON_QP_VERBS_ERRORS)
		return ibv_create_qp_ex(vctx, &attr);
	return create ? create(vctx, &attr, order, errors) : NULL;
}

bool vqp_open(struct vqp *v, enum ibv_qp_type type, size_t len)
{
	return vqp_open_mode(v, type, len, FALCON_QP_STRONG,
			     FALCON_QP_VERBS_ERRORS);
}

/* All but the queue pair */
static bool vqp_prepare(struct vqp *v, size_t len)
{
	memset(v, 0, sizeof(*v));
	v->len = len;
	v->buf = aligned_alloc(4096, (len + 4095) & ~4095ul);
	v->cq = ibv_create_cq(vctx, 4 * vqp_depth, NULL, NULL, 0);
	if (!v->buf || !v->cq)
		return false;
	memset(v->buf, 0, len);
	v->mr = ibv_reg_mr(vpd, v->buf, len, VQP_ACCESS);
	return v->mr;
}

/* Has it all? errno stays that of the creation. */
static bool vqp_made(struct vqp *v)
{
	int err = errno;

	if (v->qp)
		return true;
	vqp_close(v);
	errno = err;
	return false;
}

bool vqp_open_mode(struct vqp *v, enum ibv_qp_type type, size_t len,
		   enum falcon_qp_order order, enum falcon_qp_errors errors)
{
	if (vqp_prepare(v, len)) {
		v->order = order;
		v->errors = errors;
		v->qp = vqp_make(v, type, order, errors);
	}
	return vqp_made(v);
}

bool vqp_open_secure(struct vqp *v, size_t len, unsigned char security)
{
	typeof(falcon_dv_create_secure_qp) *create =
		vdlsym("falcon_dv_create_secure_qp");
	struct ibv_qp_init_attr_ex attr;

	if (create && vqp_prepare(v, len)) {
		attr = vqp_attr(v, IBV_QPT_RC);
		v->qp = create(vctx, &attr, FALCON_QP_STRONG,
			       FALCON_QP_VERBS_ERRORS, security);
	}
	return vqp_made(v);
}

/* With a congestion control of its own, and 8 bytes of memory */
bool vqp_open_fae(struct vqp *v, enum ibv_qp_type type, const char *fae)
{
	typeof(falcon_dv_create_qp_ex) *create =
		vdlsym("falcon_dv_create_qp_ex");
	struct falcon_create_qp_req modes = {};
	struct ibv_qp_init_attr_ex attr;

	memcpy(modes.fae, fae, strnlen(fae, sizeof(modes.fae)));
	if (create && vqp_prepare(v, 8)) {
		attr = vqp_attr(v, type);
		v->qp = create(vctx, &attr, &modes);
	}
	return vqp_made(v);
}

/* With the extended way to post, for @ops, and to poll, of @wc_flags */
bool vqp_open_extended(struct vqp *v, size_t len, uint64_t ops,
		       uint64_t wc_flags)
{
	struct ibv_cq_init_attr_ex cq = {
		.cqe = 4 * vqp_depth, .wc_flags = wc_flags,
	};
	struct ibv_qp_init_attr_ex attr;
	struct ibv_cq_ex *cq_ex;

	if (!vqp_prepare(v, len))
		return vqp_made(v);
	ibv_destroy_cq(v->cq);
	cq_ex = ibv_create_cq_ex(vctx, &cq);
	v->cq = cq_ex ? ibv_cq_ex_to_cq(cq_ex) : NULL;
	attr = vqp_attr(v, IBV_QPT_RC);
	attr.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	attr.send_ops_flags = ops;
	v->qp = v->cq ? ibv_create_qp_ex(vctx, &attr) : NULL;
	return vqp_made(v);
}

void vqp_close(struct vqp *v)
{
	if (v->qp)
		ibv_destroy_qp(v->qp);
	if (v->mr)
		ibv_dereg_mr(v->mr);
	if (v->cq)
		ibv_destroy_cq(v->cq);
	free(v->buf);
	memset(v, 0, sizeof(*v));
}

static bool vqp_remake(struct vqp *v)
{
	ibv_destroy_qp(v->qp);
	v->qp = vqp_make(v, IBV_QPT_RC, v->order, v->errors);
	return v->qp;
}

/* An RC queue pair anew, with a completion queue that is its own from now on */
bool vqp_use_cq(struct vqp *v, struct ibv_cq *cq)
{
	struct ibv_cq *old = v->cq;
	bool ok;

	v->cq = cq;
	ok = vqp_remake(v);
	ibv_destroy_cq(old);
	return ok;
}

/* Likewise, with a shared receive queue */
bool vqp_use_srq(struct vqp *v, struct ibv_srq *srq)
{
	v->srq = srq;
	return vqp_remake(v);
}

int vqp_to_init(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = {
		.qp_state		= IBV_QPS_INIT,
		.port_num		= 1,
		.qp_access_flags	= VQP_ACCESS,
	};

	return ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX |
			     IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
}

/* The way to this very device, where most tests have both ends */
bool vah_back(struct ibv_ah_attr *attr)
{
	*attr = (struct ibv_ah_attr) {
		.is_global	= 1,
		.port_num	= 1,
		.grh = { .sgid_index = vgid, .hop_limit = 64 },
	};
	return !ibv_query_gid(vctx, 1, vgid, &attr->grh.dgid);
}

int vqp_to_rtr(struct ibv_qp *qp, uint32_t peer)
{
	struct ibv_qp_attr attr = {
		.qp_state		= IBV_QPS_RTR,
		.path_mtu		= IBV_MTU_1024,
		.dest_qp_num		= peer,
		.max_dest_rd_atomic	= 4,
		.min_rnr_timer		= 1,
	};

	if (!vah_back(&attr.ah_attr))
		return -1;
	return ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_AV |
			     IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
			     IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
			     IBV_QP_MIN_RNR_TIMER);
}

int vqp_to_rts(struct ibv_qp *qp)
{
	return vqp_to_rts_rnr(qp, 7);
}

int vqp_to_rts_rnr(struct ibv_qp *qp, uint8_t rnr_retry)
{
	struct ibv_qp_attr attr = {
		.qp_state	= IBV_QPS_RTS,
		.timeout	= 14,
		.retry_cnt	= 7,
		.rnr_retry	= rnr_retry,
		.max_rd_atomic	= 4,
	};

	return ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_TIMEOUT |
			     IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			     IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
}

/* A new queue pair of datagrams */
bool vqp_ud_to_rts(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = VQP_QKEY,
	};

	if (ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX |
			  IBV_QP_PORT | IBV_QP_QKEY))
		return false;
	attr.qp_state = IBV_QPS_RTR;
	if (ibv_modify_qp(qp, &attr, IBV_QP_STATE))
		return false;
	attr.qp_state = IBV_QPS_RTS;
	return !ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN);
}

/* From SQD */
int vqp_to_rts_again(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTS };

	return ibv_modify_qp(qp, &attr, IBV_QP_STATE);
}

bool vqp_connect(struct vqp *a, struct vqp *b)
{
	return !vqp_to_init(a->qp) && !vqp_to_init(b->qp) &&
	       !vqp_to_rtr(a->qp, b->qp->qp_num) &&
	       !vqp_to_rtr(b->qp, a->qp->qp_num) &&
	       !vqp_to_rts(a->qp) && !vqp_to_rts(b->qp);
}

/* One completion: 1, or 0 if none came in time. */
int vqp_poll(struct ibv_cq *cq, struct ibv_wc *wc, int seconds)
{
	time_t end = time(NULL) + seconds;
	int n;

	do {
		n = ibv_poll_cq(cq, 1, wc);
	} while (!n && time(NULL) <= end);
	return n;
}

/*
 * A counter of the device; -1 if there is none. Within 10 ms (the lifespan of its
 * counters) the kernel tells again what it read last.
 */
long vcounter(const char *name)
{
	char path[200];
	long n = -1;
	FILE *f;

	usleep(50000);
	snprintf(path, sizeof(path),
		 "/sys/class/infiniband/%s/ports/1/hw_counters/%s",
		 ibv_get_device_name(vctx->device), name);
	f = fopen(path, "r");
	if (f && fscanf(f, "%ld", &n) != 1)
		n = -1;
	if (f)
		fclose(f);
	return n;
}

static int find_provider(struct dl_phdr_info *info, size_t size, void *path)
{
	(void)size;
	if (!strstr(info->dlpi_name, "libfalcon-rdmav"))
		return 0;
	*(const char **)path = info->dlpi_name;
	return 1;
}

/* A function of the provider that libibverbs has loaded; NULL. */
void *vdlsym(const char *name)
{
	const char *path = NULL;
	void *lib;

	dl_iterate_phdr(find_provider, &path);
	lib = path ? dlopen(path, RTLD_NOW | RTLD_NOLOAD) : NULL;
	return lib ? dlsym(lib, name) : NULL;
}

/* Binds a window of type 2 to all of @v's memory; its key, or 0. */
uint32_t vqp_bind(struct vqp *v, struct ibv_mw *mw)
{
	struct ibv_send_wr *bad, wr = {
		.opcode = IBV_WR_BIND_MW, .send_flags = IBV_SEND_SIGNALED,
		.bind_mw = {
			.mw = mw,
			.rkey = ibv_inc_rkey(mw->rkey),
			.bind_info = {
				.mr = v->mr, .addr = (uintptr_t)v->buf,
				.length = v->len,
				.mw_access_flags = IBV_ACCESS_REMOTE_WRITE,
			},
		},
	};
	struct ibv_wc wc;

	if (ibv_post_send(v->qp, &wr, &bad) ||
	    vqp_poll(v->cq, &wc, 60) != 1 || wc.status ||
	    wc.opcode != IBV_WC_BIND_MW)
		return 0;
	return wr.bind_mw.rkey;
}
