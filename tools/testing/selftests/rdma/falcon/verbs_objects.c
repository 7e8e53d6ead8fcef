// SPDX-License-Identifier: GPL-2.0
/*
 * Objects: what can be made, what is refused and how, transfers within the
 * device.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "verbs.h"
#include "falcon_dv.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

static int modify(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	return ibv_modify_qp(qp, attr, mask);
}

static int to_state(struct ibv_qp *qp, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = { .qp_state = state };

	return modify(qp, &attr, IBV_QP_STATE);
}

static enum ibv_qp_state state_of(struct ibv_qp *qp)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	if (ibv_query_qp(qp, &attr, IBV_QP_STATE, &init))
		return IBV_QPS_UNKNOWN;
	return attr.qp_state;
}

static bool counts_to(const char *name, long n)
{
	time_t end = time(NULL) + 60;

	while (vcounter(name) < n && time(NULL) < end)
		usleep(10000);
	return vcounter(name) >= n;
}

static bool queues_get_what_they_ask_for(void)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.cap = {
			.max_send_wr = 100, .max_recv_wr = 33,
			.max_send_sge = 5, .max_recv_sge = 7,
			.max_inline_data = 100,
		},
	};
	struct ibv_cq *cq = ibv_create_cq(vctx, 100, NULL, NULL, 0);
	struct ibv_qp *qp;

	CHECK(cq && cq->cqe >= 100);
	attr.send_cq = cq;
	attr.recv_cq = cq;
	qp = ibv_create_qp(vpd, &attr);
	CHECK(qp);
	CHECK(attr.cap.max_send_wr >= 100 && attr.cap.max_recv_wr >= 33);
	CHECK(attr.cap.max_send_sge >= 5 && attr.cap.max_recv_sge >= 7);
	CHECK(attr.cap.max_inline_data >= 100);
	CHECK(ibv_destroy_cq(cq) == EBUSY);
	CHECK(!ibv_destroy_qp(qp));
	CHECK(!ibv_destroy_cq(cq));
	return true;
}

static bool limits_of_the_device_are_held(void)
{
	struct ibv_qp_init_attr attr = { .qp_type = IBV_QPT_RC };
	struct ibv_cq *cq = ibv_create_cq(vctx, 8, NULL, NULL, 0);
	struct ibv_device_attr dev;

	CHECK(cq && !ibv_query_device(vctx, &dev));
	attr.send_cq = cq;
	attr.recv_cq = cq;
	attr.cap.max_send_wr = dev.max_qp_wr + 1;
	CHECK(!ibv_create_qp(vpd, &attr) && errno == EINVAL);
	attr.cap.max_send_wr = 1;
	attr.cap.max_send_sge = dev.max_sge + 1;
	CHECK(!ibv_create_qp(vpd, &attr) && errno == EINVAL);
	CHECK(!ibv_create_cq(vctx, dev.max_cqe + 1, NULL, NULL, 0));
	CHECK(!ibv_create_cq(vctx, 0, NULL, NULL, 0) && errno == EINVAL);
	CHECK(!ibv_destroy_cq(cq));
	return true;
}

static bool unconnected_types_are_refused(void)
{
	static const enum ibv_qp_type types[] = {
		IBV_QPT_UC, IBV_QPT_RAW_PACKET,
	};
	struct ibv_qp_init_attr attr = {
		.cap = { .max_send_wr = 1, .max_send_sge = 1 },
	};
	struct ibv_cq *cq = ibv_create_cq(vctx, 8, NULL, NULL, 0);
	size_t i;

	CHECK(cq);
	attr.send_cq = cq;
	attr.recv_cq = cq;
	for (i = 0; i < ARRAY_SIZE(types); i++) {
		attr.qp_type = types[i];
		CHECK(!ibv_create_qp(vpd, &attr));
	}
	CHECK(!ibv_destroy_cq(cq));
	return true;
}

static bool attributes_out_of_range_are_refused(void)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT };
	int mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
		   IBV_QP_ACCESS_FLAGS;
	struct vqp v;

	CHECK(vqp_open(&v, IBV_QPT_RC, 4096));
	attr.port_num = 2;
	CHECK(modify(v.qp, &attr, mask) == EINVAL);
	attr.port_num = 1;
	attr.pkey_index = 1;
	CHECK(modify(v.qp, &attr, mask) == EINVAL);
	attr.pkey_index = 0;
	CHECK(!modify(v.qp, &attr, mask));
	CHECK(vqp_to_rtr(v.qp, 1u << 24) == EINVAL);
	CHECK(state_of(v.qp) == IBV_QPS_INIT);
	vqp_close(&v);
	return true;
}

static bool queue_pair_has_another_for_its_peer(void)
{
	struct vqp v;

	CHECK(vqp_open(&v, IBV_QPT_RC, 8) && !vqp_to_init(v.qp));
	CHECK(vqp_to_rtr(v.qp, v.qp->qp_num) == EOPNOTSUPP);
	CHECK(state_of(v.qp) == IBV_QPS_INIT);
	vqp_close(&v);
	return true;
}

static bool sends_before_rts_are_refused(void)
{
	struct ibv_send_wr *bad, wr = { .opcode = IBV_WR_SEND };
	struct vqp v;

	CHECK(vqp_open(&v, IBV_QPT_RC, 4096));
	CHECK(ibv_post_send(v.qp, &wr, &bad) == EINVAL && bad == &wr);
	CHECK(!vqp_to_init(v.qp));
	CHECK(ibv_post_send(v.qp, &wr, &bad) == EINVAL);
	vqp_close(&v);
	return true;
}

/* What is posted before and after the error, of both queues */
static bool error_state_flushes_both_queues(void)
{
	struct ibv_recv_wr *bad_recv, recv = { .wr_id = 1 };
	struct ibv_send_wr *bad, send = { .wr_id = 2, .opcode = IBV_WR_SEND };
	struct ibv_wc wc;
	struct vqp v;

	CHECK(vqp_open(&v, IBV_QPT_RC, 4096));
	CHECK(!vqp_to_init(v.qp));
	CHECK(!ibv_post_recv(v.qp, &recv, &bad_recv));
	CHECK(!to_state(v.qp, IBV_QPS_ERR));
	CHECK(vqp_poll(v.cq, &wc, 30) == 1);
	CHECK(wc.wr_id == 1 && wc.status == IBV_WC_WR_FLUSH_ERR);
	CHECK(!ibv_post_recv(v.qp, &recv, &bad_recv));
	CHECK(vqp_poll(v.cq, &wc, 30) == 1);
	CHECK(wc.wr_id == 1 && wc.status == IBV_WC_WR_FLUSH_ERR);
	CHECK(!ibv_post_send(v.qp, &send, &bad));
	CHECK(vqp_poll(v.cq, &wc, 30) == 1);
	CHECK(wc.wr_id == 2 && wc.status == IBV_WC_WR_FLUSH_ERR);
	vqp_close(&v);
	return true;
}

static bool full_queues_refuse(void)
{
	struct ibv_recv_wr *bad, wr = {};
	struct vqp v;
	int i, err = 0;

	CHECK(vqp_open(&v, IBV_QPT_RC, 4096));
	CHECK(!vqp_to_init(v.qp));
	for (i = 0; i < 4 * VQP_DEPTH && !err; i++)
		err = ibv_post_recv(v.qp, &wr, &bad);
	CHECK(err == ENOMEM && i > VQP_DEPTH);
	vqp_close(&v);
	return true;
}

static bool memory_must_be_the_process_own(void)
{
	void *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS,
			  -1, 0);
	struct ibv_mr *mr;

	CHECK(page != MAP_FAILED);
	mr = ibv_reg_mr(vpd, page, 4096, 0);
	CHECK(mr);
	CHECK(!ibv_dereg_mr(mr));
	CHECK(!ibv_reg_mr(vpd, page, 4096, IBV_ACCESS_LOCAL_WRITE));
	munmap(page, 4096);
	CHECK(!ibv_reg_mr(vpd, page, 4096, 0));
	CHECK(!ibv_reg_mr(vpd, NULL, 4096, IBV_ACCESS_REMOTE_WRITE));
	return true;
}

/* 1 MiB written from one end to the other, bytes compared */
static bool write_arrives(void)
{
	const size_t len = 1 << 20;
	struct ibv_send_wr *bad, wr = {
		.opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED,
		.num_sge = 1,
	};
	struct ibv_sge sge;
	struct vqp a, b;
	struct ibv_wc wc;
	size_t i;

	CHECK(vqp_open(&a, IBV_QPT_RC, len) && vqp_open(&b, IBV_QPT_RC, len));
	CHECK(vqp_connect(&a, &b));
	for (i = 0; i < len; i++)
		a.buf[i] = i * 31 + (i >> 12);
	sge.addr = (uintptr_t)a.buf;
	sge.length = len;
	sge.lkey = a.mr->lkey;
	wr.sg_list = &sge;
	wr.wr.rdma.remote_addr = (uintptr_t)b.buf;
	wr.wr.rdma.rkey = b.mr->rkey;
	CHECK(!ibv_post_send(a.qp, &wr, &bad));
	CHECK(vqp_poll(a.cq, &wc, 30) == 1 && wc.status == IBV_WC_SUCCESS);
	CHECK(!memcmp(a.buf, b.buf, len));
	vqp_close(&a);
	vqp_close(&b);
	return true;
}

static bool write_with_status(struct vqp *a, uint64_t addr, uint32_t rkey,
			      uint32_t lkey, uint32_t len,
			      enum ibv_wc_status status)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)a->buf, .length = len, .lkey = lkey,
	};
	struct ibv_send_wr *bad, wr = {
		.opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED,
		.num_sge = 1, .sg_list = &sge,
		.wr.rdma = { .remote_addr = addr, .rkey = rkey },
	};
	struct ibv_wc wc = {};

	if (ibv_post_send(a->qp, &wr, &bad) || vqp_poll(a->cq, &wc, 30) != 1)
		return false;
	if (wc.status != status)
		vsay("status %s, not %s", ibv_wc_status_str(wc.status),
		     ibv_wc_status_str(status));
	return wc.status == status;
}

/* Each error is the end of a connection, so each has its own pair. */
static bool write_fails(bool bad_lkey, bool bad_rkey, bool beyond)
{
	struct vqp a, b;
	bool ok;

	CHECK(vqp_open(&a, IBV_QPT_RC, 8192) && vqp_open(&b, IBV_QPT_RC, 4096));
	CHECK(vqp_connect(&a, &b));
	ok = write_with_status(&a, (uintptr_t)b.buf,
			       b.mr->rkey + (bad_rkey ? 1 : 0),
			       a.mr->lkey + (bad_lkey ? 1 : 0),
			       beyond ? 4097 : 64,
			       bad_lkey ? IBV_WC_LOC_PROT_ERR :
					  IBV_WC_REM_ACCESS_ERR);
	if (ok && state_of(a.qp) != IBV_QPS_ERR) {
		vsay("state %d", state_of(a.qp));
		ok = false;
	}
	ok = ok && !b.buf[0];
	vqp_close(&a);
	vqp_close(&b);
	return ok;
}

static bool wrong_lkey_is_a_local_protection_error(void)
{
	return write_fails(true, false, false);
}

static bool wrong_rkey_is_a_remote_access_error(void)
{
	return write_fails(false, true, false);
}

static bool bytes_beyond_a_region_are_a_remote_access_error(void)
{
	return write_fails(false, false, true);
}

static bool peer_cannot_use_a_deregistered_key(void)
{
	struct vqp a, b;
	uint32_t rkey;

	CHECK(vqp_open(&a, IBV_QPT_RC, 4096) && vqp_open(&b, IBV_QPT_RC, 4096));
	CHECK(vqp_connect(&a, &b));
	rkey = b.mr->rkey;
	CHECK(write_with_status(&a, (uintptr_t)b.buf, rkey, a.mr->lkey, 64,
				IBV_WC_SUCCESS));
	CHECK(!ibv_dereg_mr(b.mr));
	b.mr = NULL;
	CHECK(write_with_status(&a, (uintptr_t)b.buf, rkey, a.mr->lkey, 64,
				IBV_WC_REM_ACCESS_ERR));
	vqp_close(&a);
	vqp_close(&b);
	return true;
}

/* Loses packets of one page of data within the device, and no others. */
static bool answers_are_lost(bool lost)
{
	if (!lost)
		return !system("tc -n $A qdisc del dev lo clsact");
	setenv("PAGES", "u32 match u16 0x1000 0xf000 at 2", 1);
	return !system("modprobe -q -a cls_u32 act_gact") &&
	       !system("tc -n $A qdisc add dev lo clsact") &&
	       !system("tc -n $A filter add dev lo egress protocol ip $PAGES action drop");
}

/*
 * The answer to a read was lost, and comes again when the reader's key has ended:
 * the memory is somebody else's by then.
 */
static bool read_brings_what_was_there_when_the_key_was_good(void)
{
	long before = vcounter("rx_read");
	struct vqp a, b;
	struct ibv_sge sge;
	struct ibv_send_wr *bad, wr = {
		.opcode = IBV_WR_RDMA_READ, .send_flags = IBV_SEND_SIGNALED,
		.num_sge = 1, .sg_list = &sge,
	};
	struct ibv_wc wc;
	int i;

	CHECK(vqp_open(&a, IBV_QPT_RC, 4096) && vqp_open(&b, IBV_QPT_RC, 4096));
	CHECK(vqp_connect(&a, &b));
	CHECK(write_with_status(&a, (uintptr_t)b.buf, b.mr->rkey, a.mr->lkey,
				64, IBV_WC_SUCCESS));
	sge = (struct ibv_sge) {
		.addr = (uintptr_t)a.buf, .length = 4096, .lkey = a.mr->lkey,
	};
	wr.wr.rdma.remote_addr = (uintptr_t)b.buf;
	wr.wr.rdma.rkey = b.mr->rkey;
	memset(b.buf, 'a', 4096);
	CHECK(answers_are_lost(true));
	CHECK(!ibv_post_send(a.qp, &wr, &bad));
	CHECK(counts_to("rx_read", before + 1));
	CHECK(!ibv_dereg_mr(b.mr));
	b.mr = NULL;
	memset(b.buf, 'b', 4096);
	CHECK(!ibv_poll_cq(a.cq, 1, &wc));
	CHECK(answers_are_lost(false));
	CHECK(vqp_poll(a.cq, &wc, 60) == 1 && wc.status == IBV_WC_SUCCESS);
	for (i = 0; i < 4096; i++)
		CHECK(a.buf[i] == 'a');
	vqp_close(&a);
	vqp_close(&b);
	return true;
}

/* The memory is what it was when it was registered, whatever fork() does. */
static bool child_can_exit_while_its_parent_works(void)
{
	struct vqp a, b;
	pid_t child;
	int status;

	CHECK(vqp_open(&a, IBV_QPT_RC, 4096) && vqp_open(&b, IBV_QPT_RC, 4096));
	CHECK(vqp_connect(&a, &b));
	child = fork();
	if (!child)
		_exit(0);
	CHECK(child > 0 && waitpid(child, &status, 0) == child);
	CHECK(write_with_status(&a, (uintptr_t)b.buf, b.mr->rkey, a.mr->lkey,
				64, IBV_WC_SUCCESS));
	vqp_close(&a);
	vqp_close(&b);
	return true;
}

/* @a asks so often for the receive request that @b does not have. */
static bool open_rnr(struct vqp *a, struct vqp *b, uint8_t retries)
{
	return vqp_open(a, IBV_QPT_RC, 4096) && vqp_open(b, IBV_QPT_RC, 4096) &&
	       !vqp_to_init(a->qp) && !vqp_to_init(b->qp) &&
	       !vqp_to_rtr(a->qp, b->qp->qp_num) &&
	       !vqp_to_rtr(b->qp, a->qp->qp_num) &&
	       !vqp_to_rts_rnr(a->qp, retries) && !vqp_to_rts(b->qp);
}

static int send_nothing(struct vqp *v, uint64_t id)
{
	struct ibv_send_wr *bad, wr = {
		.wr_id = id, .opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
	};

	return ibv_post_send(v->qp, &wr, &bad);
}

static bool rnr_retry_is(uint8_t retries)
{
	long before = vcounter("rx_rnr");
	struct vqp a, b;
	struct ibv_wc wc;

	CHECK(open_rnr(&a, &b, retries));
	CHECK(!send_nothing(&a, 1) && !send_nothing(&a, 2));
	CHECK(vqp_poll(a.cq, &wc, 60) == 1 && wc.wr_id == 1);
	CHECK(wc.status == IBV_WC_RNR_RETRY_EXC_ERR);
	CHECK(vqp_poll(a.cq, &wc, 60) == 1 && wc.wr_id == 2);
	CHECK(wc.status == IBV_WC_WR_FLUSH_ERR);
	CHECK(state_of(a.qp) == IBV_QPS_ERR);
	CHECK(vcounter("rx_rnr") > before + retries);
	vqp_close(&a);
	vqp_close(&b);
	return true;
}

static bool rnr_retry_0_wants_a_receive_request_at_once(void)
{
	return rnr_retry_is(0);
}

static bool rnr_retry_bounds_the_wait_for_a_receive_request(void)
{
	return rnr_retry_is(3);
}

/* And no other time-out of transactions ends it. */
static bool rnr_retry_7_waits_for_ever(void)
{
	static const char set[] =
		"ip netns exec $A sysctl -q net.falcon.txn_timeout_ms=";
	struct ibv_recv_wr *bad, recv = { .wr_id = 5 };
	long before = vcounter("rx_rnr");
	char command[100];
	struct vqp a, b;
	struct ibv_wc wc;

	snprintf(command, sizeof(command), "%s1000", set);
	CHECK(!system(command));
	CHECK(open_rnr(&a, &b, 7));
	CHECK(!send_nothing(&a, 1));
	CHECK(counts_to("rx_rnr", before + 20));
	sleep(3);
	snprintf(command, sizeof(command), "%s30000", set);
	CHECK(!system(command));
	CHECK(!ibv_poll_cq(a.cq, 1, &wc));
	CHECK(!ibv_post_recv(b.qp, &recv, &bad));
	CHECK(vqp_poll(b.cq, &wc, 60) == 1 && wc.wr_id == 5 && !wc.status);
	CHECK(vqp_poll(a.cq, &wc, 60) == 1 && wc.wr_id == 1 && !wc.status);
	vqp_close(&a);
	vqp_close(&b);
	return true;
}

/* Of an initiator or target of XRC, which has not all attributes */
static int xrc_connect(struct ibv_qp *qp, uint32_t peer, int rtr, int rts)
{
	struct ibv_qp_attr attr = {
		.qp_state		= IBV_QPS_RTR,
		.path_mtu		= IBV_MTU_1024,
		.dest_qp_num		= peer,
		.min_rnr_timer		= 1,
		.timeout		= 14,
		.retry_cnt		= 7,
		.rnr_retry		= 7,
	};
	int err = vah_back(&attr.ah_attr) ? 0 : -1;

	if (!err)
		err = ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_AV |
				    IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				    IBV_QP_RQ_PSN | rtr);
	attr.qp_state = IBV_QPS_RTS;
	return err ? err : ibv_modify_qp(qp, &attr, IBV_QP_STATE |
					 IBV_QP_TIMEOUT | IBV_QP_SQ_PSN | rts);
}

/* A domain, queue and both queue pairs; @v has memory and completion queue. */
struct xrc {
	struct vqp v;
	struct ibv_xrcd *xrcd;
	struct ibv_srq *srq;
	struct ibv_qp *ini, *tgt;
};

static bool xrc_open(struct xrc *x, size_t len)
{
	struct ibv_xrcd_init_attr xrcd = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
		.fd = -1, .oflags = O_CREAT,
	};
	struct ibv_srq_init_attr_ex srq = {
		.attr = { .max_wr = 4, .max_sge = 1 },
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_XRCD |
			     IBV_SRQ_INIT_ATTR_CQ | IBV_SRQ_INIT_ATTR_PD,
		.srq_type = IBV_SRQT_XRC, .pd = vpd,
	};
	struct ibv_qp_init_attr_ex ini = {
		.qp_type = IBV_QPT_XRC_SEND, .comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = vpd, .cap = { .max_send_wr = 4, .max_send_sge = 2 },
	};
	struct ibv_qp_init_attr_ex tgt = {
		.qp_type = IBV_QPT_XRC_RECV,
		.comp_mask = IBV_QP_INIT_ATTR_XRCD,
	};

	CHECK(vqp_open(&x->v, IBV_QPT_RC, len));
	CHECK(x->xrcd = ibv_open_xrcd(vctx, &xrcd));
	srq.xrcd = x->xrcd;
	srq.cq = x->v.cq;
	CHECK(x->srq = ibv_create_srq_ex(vctx, &srq));
	ini.send_cq = x->v.cq;
	CHECK(x->ini = ibv_create_qp_ex(vctx, &ini));
	tgt.xrcd = x->xrcd;
	CHECK(x->tgt = ibv_create_qp_ex(vctx, &tgt));
	CHECK(!vqp_to_init(x->tgt) && !vqp_to_init(x->ini));
	CHECK(!xrc_connect(x->tgt, x->ini->qp_num, IBV_QP_MAX_DEST_RD_ATOMIC |
			   IBV_QP_MIN_RNR_TIMER, 0));
	CHECK(!xrc_connect(x->ini, x->tgt->qp_num, 0, IBV_QP_RETRY_CNT |
			   IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC));
	return true;
}

/*
 * The sender fails half way and says nothing more: the queue of whose request a
 * part is filled goes all the same, while the target queue pair is there.
 */
static bool xrc_queue_goes_amid_a_message(void)
{
	const uint32_t half = 32768;
	long before = vcounter("rx_send");
	struct ibv_sge sge[2] = { { .length = half }, { .length = half } };
	struct ibv_recv_wr *bad_recv, recv = {
		.wr_id = 7, .sg_list = sge, .num_sge = 1,
	};
	struct ibv_send_wr *bad, wr = {
		.opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED,
		.sg_list = sge, .num_sge = 2,
	};
	struct ibv_wc wc;
	struct xrc x;

	CHECK(xrc_open(&x, 2 * half));
	sge[0].addr = (uintptr_t)x.v.buf;
	sge[0].lkey = x.v.mr->lkey;
	sge[0].length = 2 * half;
	CHECK(!ibv_post_srq_recv(x.srq, &recv, &bad_recv));
	sge[0].length = half;
	CHECK(!ibv_get_srq_num(x.srq, &wr.qp_type.xrc.remote_srqn));
	CHECK(!ibv_post_send(x.ini, &wr, &bad));
	CHECK(counts_to("rx_send", before + 1));
	CHECK(vqp_poll(x.v.cq, &wc, 60) == 1);
	CHECK(wc.status == IBV_WC_LOC_PROT_ERR);
	CHECK(!ibv_destroy_srq(x.srq));
	CHECK(!ibv_destroy_qp(x.tgt) && !ibv_destroy_qp(x.ini));
	CHECK(!ibv_close_xrcd(x.xrcd));
	vqp_close(&x.v);
	return true;
}

static bool open_srq(struct vqp *v, struct ibv_srq **srq, uint32_t max_wr)
{
	struct ibv_srq_init_attr init = {
		.attr = { .max_wr = max_wr, .max_sge = 1 },
	};

	*srq = ibv_create_srq(vpd, &init);
	return *srq && vqp_open(v, IBV_QPT_RC, 4096) && vqp_use_srq(v, *srq);
}

static int post_srq(struct ibv_srq *srq, int from, int to)
{
	struct ibv_recv_wr *bad, wr = {};
	int err = 0;

	for (; from < to && !err; from++) {
		wr.wr_id = from;
		err = ibv_post_srq_recv(srq, &wr, &bad);
	}
	return err;
}

/* Messages take the requests @from to @to, in their order. */
static bool takes(struct vqp *a, struct vqp *b, int from, int to)
{
	struct ibv_wc wc;

	for (; from < to; from++) {
		CHECK(!send_nothing(a, from));
		CHECK(vqp_poll(b->cq, &wc, 60) == 1 && !wc.status);
		CHECK(wc.wr_id == (unsigned int)from);
		CHECK(vqp_poll(a->cq, &wc, 60) == 1 && !wc.status);
	}
	return true;
}

static int resize_srq(struct ibv_srq *srq, uint32_t max_wr)
{
	struct ibv_srq_attr attr = { .max_wr = max_wr };

	return ibv_modify_srq(srq, &attr, IBV_SRQ_MAX_WR);
}

static uint32_t size_of_srq(struct ibv_srq *srq)
{
	struct ibv_srq_attr attr;

	return ibv_query_srq(srq, &attr) ? 0 : attr.max_wr;
}

static bool resized_srq_keeps_what_is_posted(void)
{
	struct ibv_srq *srq;
	struct vqp a, b;

	CHECK(open_srq(&b, &srq, 16) && vqp_open(&a, IBV_QPT_RC, 4096));
	CHECK(vqp_connect(&a, &b));
	CHECK(!post_srq(srq, 0, 5) && takes(&a, &b, 0, 5));
	/* Around the end of the ring, and then full */
	CHECK(!post_srq(srq, 5, 21) && post_srq(srq, 0, 1) == ENOMEM);
	CHECK(!resize_srq(srq, 64) && size_of_srq(srq) == 64);
	CHECK(!post_srq(srq, 21, 69) && post_srq(srq, 0, 1) == ENOMEM);
	CHECK(takes(&a, &b, 5, 60));
	CHECK(!resize_srq(srq, 10) && size_of_srq(srq) == 16);
	CHECK(takes(&a, &b, 60, 69));
	vqp_close(&a);
	vqp_close(&b);
	CHECK(!ibv_destroy_srq(srq));
	return true;
}

static bool srq_is_not_resized_below_its_use(void)
{
	struct ibv_srq_attr limit = { .srq_limit = 20 };
	struct ibv_device_attr dev;
	struct ibv_srq *srq;
	struct vqp b;

	CHECK(open_srq(&b, &srq, 64) && !ibv_query_device(vctx, &dev));
	CHECK(dev.device_cap_flags & IBV_DEVICE_SRQ_RESIZE);
	CHECK(!post_srq(srq, 0, 33));
	CHECK(resize_srq(srq, 32) == EINVAL && size_of_srq(srq) == 64);
	CHECK(resize_srq(srq, 0) == EINVAL);
	CHECK(resize_srq(srq, dev.max_srq_wr + 1) == EINVAL);
	CHECK(!post_srq(srq, 33, 64));
	vqp_close(&b);
	CHECK(!ibv_destroy_srq(srq));
	CHECK(open_srq(&b, &srq, 64));
	CHECK(!ibv_modify_srq(srq, &limit, IBV_SRQ_LIMIT));
	CHECK(resize_srq(srq, 16) == EINVAL && !resize_srq(srq, 32));
	vqp_close(&b);
	CHECK(!ibv_destroy_srq(srq));
	return true;
}

/* Both or nothing: what is posted after a refusal is found. */
static bool srq_is_as_it_was_when_a_limit_is_refused(void)
{
	struct ibv_srq_attr attr = { .max_wr = 64, .srq_limit = 1000 };
	int both = IBV_SRQ_MAX_WR | IBV_SRQ_LIMIT;
	struct ibv_srq *srq;
	struct vqp a, b;

	CHECK(open_srq(&b, &srq, 16) && vqp_open(&a, IBV_QPT_RC, 4096));
	CHECK(vqp_connect(&a, &b));
	CHECK(ibv_modify_srq(srq, &attr, both) == EINVAL);
	CHECK(size_of_srq(srq) == 16);
	CHECK(!post_srq(srq, 0, 5) && takes(&a, &b, 0, 5));
	attr.srq_limit = 64;
	CHECK(!ibv_modify_srq(srq, &attr, both) && size_of_srq(srq) == 64);
	CHECK(!post_srq(srq, 5, 60) && takes(&a, &b, 5, 60));
	vqp_close(&a);
	vqp_close(&b);
	CHECK(!ibv_destroy_srq(srq));
	return true;
}

static bool windows_of_a_region_keep_it(void)
{
	struct ibv_mw_bind bind = { .wr_id = 3, .send_flags = IBV_SEND_SIGNALED };
	struct ibv_mw *mw = ibv_alloc_mw(vpd, IBV_MW_TYPE_1);
	struct ibv_mr *mr;
	struct ibv_wc wc;
	struct vqp a, b;

	CHECK(mw && vqp_open(&a, IBV_QPT_RC, 4096) &&
	      vqp_open(&b, IBV_QPT_RC, 4096) && vqp_connect(&a, &b));
	mr = ibv_reg_mr(vpd, b.buf, 4096, IBV_ACCESS_LOCAL_WRITE |
			IBV_ACCESS_MW_BIND);
	CHECK(mr);
	bind.bind_info = (struct ibv_mw_bind_info) {
		.mr = mr, .addr = (uintptr_t)b.buf, .length = 1024,
		.mw_access_flags = IBV_ACCESS_REMOTE_WRITE,
	};
	CHECK(!ibv_bind_mw(b.qp, mw, &bind));
	CHECK(vqp_poll(b.cq, &wc, 30) == 1 && wc.status == IBV_WC_SUCCESS &&
	      wc.opcode == IBV_WC_BIND_MW);
	CHECK(write_with_status(&a, (uintptr_t)b.buf, mw->rkey, a.mr->lkey,
				1024, IBV_WC_SUCCESS));
	CHECK(ibv_dereg_mr(mr) == EBUSY);
	CHECK(write_with_status(&a, (uintptr_t)b.buf + 1, mw->rkey, a.mr->lkey,
				1024, IBV_WC_REM_ACCESS_ERR));
	CHECK(!ibv_dealloc_mw(mw));
	CHECK(!ibv_dereg_mr(mr));
	vqp_close(&a);
	vqp_close(&b);
	return true;
}

/* Each at once: their process may have any number, and others wait for it. */
static bool many_windows_go_at_once(void)
{
	static struct ibv_mw *mw[2000];
	time_t begin;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(mw); i++)
		CHECK(mw[i] = ibv_alloc_mw(vpd, IBV_MW_TYPE_2));
	begin = time(NULL);
	for (i = 0; i < ARRAY_SIZE(mw); i++)
		CHECK(!ibv_dealloc_mw(mw[i]));
	CHECK(time(NULL) - begin < 5);
	return true;
}

/* A binding that was flushed is none, and no hindrance. */
static bool window_of_type_1_is_bound_after_a_flush(void)
{
	struct ibv_mw_bind bind = { .send_flags = IBV_SEND_SIGNALED };
	struct ibv_mw *mw = ibv_alloc_mw(vpd, IBV_MW_TYPE_1);
	struct ibv_wc wc;
	struct vqp a, b, c;

	CHECK(mw && vqp_open(&a, IBV_QPT_RC, 4096) &&
	      vqp_open(&b, IBV_QPT_RC, 4096) && vqp_connect(&a, &b));
	CHECK(vqp_open(&c, IBV_QPT_RC, 4096) && !vqp_to_init(c.qp));
	CHECK(!to_state(c.qp, IBV_QPS_ERR));
	CHECK(!ibv_rereg_mr(a.mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
			    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND));
	bind.bind_info.mr = a.mr;
	bind.bind_info.addr = (uintptr_t)a.buf;
	bind.bind_info.length = 4096;
	bind.bind_info.mw_access_flags = IBV_ACCESS_REMOTE_WRITE;
	CHECK(!ibv_bind_mw(c.qp, mw, &bind));
	CHECK(vqp_poll(c.cq, &wc, 60) == 1 && wc.status == IBV_WC_WR_FLUSH_ERR);
	CHECK(!ibv_bind_mw(a.qp, mw, &bind));
	CHECK(vqp_poll(a.cq, &wc, 60) == 1 && wc.status == IBV_WC_SUCCESS);
	CHECK(write_with_status(&b, (uintptr_t)a.buf, mw->rkey, b.mr->lkey, 64,
				IBV_WC_SUCCESS));
	CHECK(!ibv_dealloc_mw(mw));
	vqp_close(&a);
	vqp_close(&b);
	vqp_close(&c);
	return true;
}

static bool full_completion_queue_says_so(void)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.cap = { .max_recv_wr = 16, .max_recv_sge = 1,
			 .max_send_wr = 1, .max_send_sge = 1 },
	};
	struct ibv_cq *cq = ibv_create_cq(vctx, 1, NULL, NULL, 0);
	struct ibv_recv_wr *bad, wr = {};
	struct ibv_async_event event;
	struct ibv_qp *qp;
	int i;

	CHECK(cq);
	attr.send_cq = cq;
	attr.recv_cq = cq;
	qp = ibv_create_qp(vpd, &attr);
	CHECK(qp && !vqp_to_init(qp));
	for (i = 0; i < cq->cqe + 2; i++)
		CHECK(!ibv_post_recv(qp, &wr, &bad));
	CHECK(!to_state(qp, IBV_QPS_ERR));
	do {
		CHECK(!ibv_get_async_event(vctx, &event));
		ibv_ack_async_event(&event);
	} while (event.event_type != IBV_EVENT_CQ_ERR);
	CHECK(event.element.cq == cq);
	CHECK(!ibv_destroy_qp(qp));
	CHECK(!ibv_destroy_cq(cq));
	return true;
}

static bool modes_that_do_not_go_together_are_refused(void)
{
	typeof(falcon_dv_create_qp) *create;
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = IBV_QPT_RC, .comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = vpd,
		.cap = { .max_send_wr = 1, .max_send_sge = 1 },
	};
	struct ibv_cq *cq = ibv_create_cq(vctx, 8, NULL, NULL, 0);
	struct ibv_qp *qp;

	create = vdlsym("falcon_dv_create_qp");
	CHECK(create && cq);
	attr.send_cq = cq;
	attr.recv_cq = cq;
	CHECK(!create(vctx, &attr, FALCON_QP_UNORDERED,
		      FALCON_QP_VERBS_ERRORS) && errno == EINVAL);
	CHECK(!create(vctx, &attr, 3, FALCON_QP_VERBS_ERRORS) &&
	      errno == EINVAL);
	qp = create(vctx, &attr, FALCON_QP_UNORDERED,
		    FALCON_QP_COMPLETE_IN_ERROR);
	CHECK(qp && !ibv_destroy_qp(qp));
	qp = create(vctx, &attr, FALCON_QP_WEAK, FALCON_QP_VERBS_ERRORS);
	CHECK(qp && !ibv_destroy_qp(qp));
	CHECK(!ibv_destroy_cq(cq));
	return true;
}

/*
 * The kernel takes no doorbell from who is not what he was when he opened the
 * device, now or later: this is the last test.
 */
static bool doorbell_that_is_refused_names_its_request(void)
{
	struct ibv_send_wr *bad = NULL, wr[2] = {
		{ .opcode = IBV_WR_RDMA_WRITE, .next = &wr[1] },
		{ .opcode = IBV_WR_RDMA_WRITE },
	};
	struct vqp a, b;

	CHECK(vqp_open(&a, IBV_QPT_RC, 8) && vqp_open(&b, IBV_QPT_RC, 8));
	CHECK(vqp_connect(&a, &b));
	CHECK(!seteuid(65534));
	CHECK(ibv_post_send(a.qp, wr, &bad) == EACCES && bad == wr);
	CHECK(!seteuid(0));
	vqp_close(&a);
	vqp_close(&b);
	return true;
}

int objects_main(void)
{
#define T(name)	{ #name, name }
	static const struct vtest tests[] = {
		T(queues_get_what_they_ask_for),
		T(limits_of_the_device_are_held),
		T(unconnected_types_are_refused),
		T(attributes_out_of_range_are_refused),
		T(queue_pair_has_another_for_its_peer),
		T(sends_before_rts_are_refused),
		T(error_state_flushes_both_queues),
		T(full_queues_refuse),
		T(memory_must_be_the_process_own),
		T(write_arrives),
		T(wrong_lkey_is_a_local_protection_error),
		T(wrong_rkey_is_a_remote_access_error),
		T(bytes_beyond_a_region_are_a_remote_access_error),
		T(peer_cannot_use_a_deregistered_key),
		T(read_brings_what_was_there_when_the_key_was_good),
		T(child_can_exit_while_its_parent_works),
		T(rnr_retry_0_wants_a_receive_request_at_once),
		T(rnr_retry_bounds_the_wait_for_a_receive_request),
		T(rnr_retry_7_waits_for_ever),
		T(xrc_queue_goes_amid_a_message),
		T(resized_srq_keeps_what_is_posted),
		T(srq_is_not_resized_below_its_use),
		T(srq_is_as_it_was_when_a_limit_is_refused),
		T(windows_of_a_region_keep_it),
		T(many_windows_go_at_once),
		T(window_of_type_1_is_bound_after_a_flush),
		T(full_completion_queue_says_so),
		T(modes_that_do_not_go_together_are_refused),
		T(doorbell_that_is_refused_names_its_request),
	};

	return vtests_run(tests, ARRAY_SIZE(tests));
}
