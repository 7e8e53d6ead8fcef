// SPDX-License-Identifier: GPL-2.0
/*
 * A hostile user: its rings are written over, indices and requests alike, while
 * doorbells ring. The neighbour must not feel it.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "verbs.h"
#include "falcon.h"

#define HOSTILE_ROUNDS	8
#define HOSTILE_SECONDS	1
#define VICTIM_LEN	(256 * 1024)

static atomic_bool stop;
static unsigned int seed;

static uint32_t rnd(void)
{
	seed = seed * 1103515245 + 12345;
	return seed >> 8 ^ seed << 16;
}

static void scribble(struct fal_ring *ring)
{
	uint32_t *words = (void *)ring->hdr;
	size_t n = ring->length / sizeof(*words);
	int i;

	if (!words)
		return;
	for (i = 0; i < 200; i++)
		words[rnd() % n] = rnd() % 4 ? rnd() : rnd() % 64;
	if (rnd() % 2)
		ring->hdr->prod += rnd() % 8;
	if (rnd() % 8 == 0)
		ring->hdr->cons = rnd();
}

static void *attack(void *arg)
{
	struct vqp *v = arg;
	struct fal_qp *qp = container_of(v->qp, struct fal_qp, vqp.qp);
	struct fal_cq *cq = container_of(v->cq, struct fal_cq, vcq.cq);
	struct ibv_send_wr *bad, wr = {
		.opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED,
	};

	while (!atomic_load(&stop)) {
		scribble(&qp->sq);
		scribble(&qp->rq.ring);
		scribble(&cq->ring);
		ibv_post_send(v->qp, &wr, &bad);
	}
	return NULL;
}

static bool victim_works(struct vqp *a, struct vqp *b, int seconds)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)a->buf, .length = VICTIM_LEN,
		.lkey = a->mr->lkey,
	};
	struct ibv_send_wr *bad, wr = {
		.opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED,
		.num_sge = 1, .sg_list = &sge,
		.wr.rdma = { .remote_addr = (uintptr_t)b->buf,
			     .rkey = b->mr->rkey },
	};
	time_t end = time(NULL) + seconds;
	struct ibv_wc wc;

	do {
		memset(a->buf, rnd(), VICTIM_LEN);
		CHECK(!ibv_post_send(a->qp, &wr, &bad));
		CHECK(vqp_poll(a->cq, &wc, 60) == 1);
		CHECK(wc.status == IBV_WC_SUCCESS);
		CHECK(!memcmp(a->buf, b->buf, VICTIM_LEN));
	} while (time(NULL) < end);
	return true;
}

/* The attacker is connected to a queue pair of its own, or goes nowhere. */
static bool round_of(struct vqp *a, struct vqp *b, bool connected)
{
	struct vqp bad, peer;
	pthread_t thread;
	bool ok;

	CHECK(vqp_open(&bad, IBV_QPT_RC, 4096));
	CHECK(vqp_open(&peer, IBV_QPT_RC, 4096));
	CHECK(!connected || vqp_connect(&bad, &peer));
	atomic_store(&stop, false);
	CHECK(!pthread_create(&thread, NULL, attack, &bad));
	ok = victim_works(a, b, HOSTILE_SECONDS);
	atomic_store(&stop, true);
	pthread_join(thread, NULL);
	vqp_close(&bad);
	vqp_close(&peer);
	return ok;
}

static bool neighbour_of_a_hostile_ring_goes_on(void)
{
	struct vqp a, b;
	int i;

	CHECK(vqp_open(&a, IBV_QPT_RC, VICTIM_LEN));
	CHECK(vqp_open(&b, IBV_QPT_RC, VICTIM_LEN));
	CHECK(vqp_connect(&a, &b));
	for (i = 0; i < HOSTILE_ROUNDS; i++) {
		CHECK(round_of(&a, &b, i % 4));
		vsay("round %d of %d", i + 1, HOSTILE_ROUNDS);
	}
	vqp_close(&a);
	vqp_close(&b);
	return true;
}

/* POST_SEND as uverbs has it, with a request inside or, as a doorbell, none */
static int write_post_send(uint32_t qp_handle, bool request)
{
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_post_send cmd;
		struct ib_uverbs_send_wr wr;
	} c = {
		.hdr.command	= IB_USER_VERBS_CMD_POST_SEND,
		.cmd.qp_handle	= qp_handle,
		.cmd.wqe_size	= sizeof(struct ib_uverbs_send_wr),
		.cmd.wr_count	= request,
		.wr.opcode	= IB_UVERBS_WR_SEND,
	};
	struct ib_uverbs_post_send_resp resp;
	size_t n = request ? sizeof(c) : sizeof(c) - sizeof(c.wr);

	c.cmd.response = (uintptr_t)&resp;
	c.hdr.in_words = n / 4;
	c.hdr.out_words = sizeof(resp) / 4;
	return write(vctx->cmd_fd, &c, n) == (ssize_t)n ? 0 : errno;
}

static bool to_error(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };

	return !ibv_modify_qp(qp, &attr, IBV_QP_STATE);
}

static bool requests_for_a_target_of_xrc_are_refused(void)
{
	struct ibv_xrcd_init_attr xrcd_attr = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
		.fd = -1, .oflags = O_CREAT,
	};
	struct ibv_qp_init_attr_ex init = {
		.qp_type = IBV_QPT_XRC_RECV,
		.comp_mask = IBV_QP_INIT_ATTR_XRCD,
	};
	struct ibv_qp *qp;

	CHECK(init.xrcd = ibv_open_xrcd(vctx, &xrcd_attr));
	CHECK(qp = ibv_create_qp_ex(vctx, &init));
	CHECK(!vqp_to_init(qp) && to_error(qp));
	CHECK(write_post_send(qp->handle, true) == EINVAL);
	CHECK(write_post_send(qp->handle, false) == EINVAL);
	CHECK(!ibv_destroy_qp(qp) && !ibv_close_xrcd(init.xrcd));
	return true;
}

/* An index written over before RESET: nobody counts up to it slot by slot. */
static bool reset_forgets_a_scribbled_index(void)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC, .cap = { .max_send_wr = 1 },
	};
	struct ibv_qp_attr reset = { .qp_state = IBV_QPS_RESET };
	time_t begin = time(NULL);
	struct fal_qp *qp;
	struct vqp v;
	int i;

	CHECK(vqp_open(&v, IBV_QPT_RC, 4096));
	init.send_cq = v.cq;
	init.recv_cq = v.cq;
	ibv_destroy_qp(v.qp);
	CHECK(v.qp = ibv_create_qp(vpd, &init));
	qp = container_of(v.qp, struct fal_qp, vqp.qp);
	CHECK(!vqp_to_init(v.qp));
	qp->sq.hdr->prod = 1;
	CHECK(to_error(v.qp));
	qp->sq.hdr->prod = 2;
	CHECK(!ibv_modify_qp(v.qp, &reset, IBV_QP_STATE));
	for (i = 0; i < 4; i++)
		CHECK(!write_post_send(v.qp->handle, false));
	CHECK(!vqp_to_init(v.qp) && to_error(v.qp));
	CHECK(!write_post_send(v.qp->handle, false));
	vqp_close(&v);
	CHECK(time(NULL) - begin < 20);
	return true;
}

/* What has no meaning yet is an error, so that it can get one. */
static bool reserved_bits_of_a_request_are_refused(void)
{
	struct falcon_send_wqe *wqe;
	struct fal_qp *qp;
	struct vqp a, b;
	struct ibv_wc wc;
	int i;

	for (i = 0; i < 2; i++) {
		CHECK(vqp_open(&a, IBV_QPT_RC, 8) &&
		      vqp_open(&b, IBV_QPT_RC, 8) && vqp_connect(&a, &b));
		qp = container_of(a.qp, struct fal_qp, vqp.qp);
		wqe = fal_slot(&qp->sq, 0);
		memset(wqe, 0, sizeof(*wqe));
		wqe->opcode = IBV_WR_RDMA_WRITE;
		wqe->flags = FALCON_SEND_SIGNALED | (i ? 0 : 1 << 4);
		wqe->rsvd = i;
		fal_store(&qp->sq.hdr->prod, 1);
		CHECK(!write_post_send(a.qp->handle, false));
		CHECK(vqp_poll(a.cq, &wc, 60) == 1);
		CHECK(wc.status == IBV_WC_LOC_QP_OP_ERR);
		vqp_close(&a);
		vqp_close(&b);
	}
	return true;
}

/* The layout is what the header says, to the byte. */
static bool rings_lie_as_the_abi_says(void)
{
	struct fal_qp *qp;
	struct fal_cq *cq;
	struct vqp v;

	CHECK(sizeof(struct falcon_ring_hdr) == FALCON_RING_SLOTS);
	CHECK(offsetof(struct falcon_ring_hdr, cons) == FALCON_RING_ALIGN);
	CHECK(sizeof(struct falcon_send_wqe) == 64);
	CHECK(sizeof(struct falcon_recv_wqe) == 16);
	CHECK(sizeof(struct falcon_sge) == 16);
	CHECK(sizeof(struct falcon_cqe) == 64);
	CHECK(vqp_open(&v, IBV_QPT_RC, 4096));
	qp = container_of(v.qp, struct fal_qp, vqp.qp);
	cq = container_of(v.cq, struct fal_cq, vcq.cq);
	CHECK(!(qp->sq.mask & (qp->sq.mask + 1)));
	CHECK(qp->sq.stride >= sizeof(struct falcon_send_wqe) + 64);
	CHECK(FALCON_RING_SLOTS + (size_t)(qp->sq.mask + 1) * qp->sq.stride <=
	      qp->sq.length);
	CHECK(qp->rq.ring.stride == sizeof(struct falcon_recv_wqe) +
	      4 * sizeof(struct falcon_sge));
	CHECK(cq->ring.stride == sizeof(struct falcon_cqe));
	CHECK(!qp->sq.hdr->prod && !qp->sq.hdr->cons);
	vqp_close(&v);
	return true;
}

int hostile_main(void)
{
	static const struct vtest tests[] = {
		{ "rings_lie_as_the_abi_says", rings_lie_as_the_abi_says },
		{ "neighbour_of_a_hostile_ring_goes_on",
		  neighbour_of_a_hostile_ring_goes_on },
		{ "requests_for_a_target_of_xrc_are_refused",
		  requests_for_a_target_of_xrc_are_refused },
		{ "reset_forgets_a_scribbled_index",
		  reset_forgets_a_scribbled_index },
		{ "reserved_bits_of_a_request_are_refused",
		  reserved_bits_of_a_request_are_refused },
	};

	seed = time(NULL);
	vsay("seed %u", seed);
	return vtests_run(tests, sizeof(tests) / sizeof(*tests));
}
