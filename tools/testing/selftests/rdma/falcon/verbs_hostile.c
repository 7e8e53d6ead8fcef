// SPDX-License-Identifier: GPL-2.0
/*
 * A hostile user: its rings are written over, indices and requests alike, while
 * doorbells ring. The neighbour must not feel it.
 *
 * Most of what the attacker posts is nearly right, and its queue pair goes on
 * after errors, so that the kernel executes it; a second thread changes words of
 * it meanwhile.
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

#define HOSTILE_SECONDS	2
#define ATTACKER_LEN	16384
#define VICTIM_LEN	(256 * 1024)

static atomic_bool stop;
static unsigned int seed;

static uint32_t rnd(void)
{
	static __thread uint32_t state;

	if (!state)
		state = seed + (uintptr_t)&state;
	state = state * 1103515245 + 12345;
	return state >> 8 ^ state << 16;
}

static bool one_in(uint32_t n)
{
	return !(rnd() % n);
}

/* What an attacker and its friend are */
struct kind {
	const char *name;
	enum ibv_qp_type type;
	bool shares_rq;		/* its receive queue is one that it resizes */
	bool shares_cq;		/* its friend completes in the same queue */
	bool indices;		/* whatever is in its rings */
};

static const struct kind kinds[] = {
	{ .name = "connected", .type = IBV_QPT_RC },
	{ .name = "datagrams", .type = IBV_QPT_UD },
	{ .name = "shared receive queue", .type = IBV_QPT_RC,
	  .shares_rq = true },
	{ .name = "indices", .type = IBV_QPT_RC, .indices = true },
	{ .name = "indices of datagrams", .type = IBV_QPT_UD,
	  .indices = true },
	{ .name = "shared completion queue", .type = IBV_QPT_RC,
	  .shares_cq = true, .indices = true },
};

/* @bad scribbles, @friend is what it sends to and hears from. */
struct attack {
	const struct kind *kind;
	struct vqp bad, friend;
	struct ibv_srq *srq;
	struct ibv_mw *mw;
	struct ibv_ah *ah;
	unsigned long posted, done, received, revived;
};

static struct fal_qp *fal_qp_of(const struct vqp *v)
{
	return container_of(v->qp, struct fal_qp, vqp.qp);
}

static struct fal_ring *recv_ring(struct attack *a)
{
	if (a->srq)
		return &container_of(a->srq, struct fal_srq, vsrq.srq)->rq.ring;
	return &fal_qp_of(&a->bad)->rq.ring;
}

/* Words anywhere in a ring; of its head only if @indices. */
static void scribble(struct fal_ring *ring, int words, bool indices)
{
	uint32_t *word = (void *)ring->hdr;
	size_t n = ring->length / sizeof(*word);
	size_t first = indices ? 0 : FALCON_RING_SLOTS / sizeof(*word);

	while (words--)
		word[first + rnd() % (n - first)] = one_in(4) ? rnd() % 64 :
								rnd();
}

/* A piece of memory, mostly of what the attacker has */
static void piece(const struct vqp *v, struct falcon_sge *sge, uint32_t max)
{
	sge->length = rnd() % (max + 1);
	sge->addr = (uintptr_t)v->buf + rnd() % (v->len - sge->length);
	sge->lkey = v->mr->lkey;
}

static uint32_t opcode(const struct attack *a)
{
	static const uint8_t rc[] = {
		IBV_WR_SEND, IBV_WR_SEND_WITH_IMM, IBV_WR_SEND_WITH_INV,
		IBV_WR_RDMA_WRITE, IBV_WR_RDMA_WRITE_WITH_IMM,
		IBV_WR_RDMA_READ, IBV_WR_ATOMIC_CMP_AND_SWP,
		IBV_WR_ATOMIC_FETCH_AND_ADD, IBV_WR_LOCAL_INV, IBV_WR_BIND_MW,
	};

	if (a->kind->type == IBV_QPT_UD)
		return one_in(2) ? IBV_WR_SEND : IBV_WR_SEND_WITH_IMM;
	return rc[rnd() % sizeof(rc)];
}

/* One of three keys that the attacker's window may have by now */
static uint32_t window_key(const struct attack *a)
{
	return (a->mw->rkey & ~0xffu) | ((a->mw->rkey + rnd() % 3) & 0xff);
}

/* What an opcode wants besides pieces, at the friend or of a window */
static void target(const struct attack *a, struct falcon_send_wqe *w)
{
	const struct vqp *f = &a->friend;

	if (a->kind->type == IBV_QPT_UD) {
		w->ah = container_of(a->ah, struct fal_ah, ah)->nr;
		w->remote_qpn = f->qp->qp_num;
		w->remote_qkey = VQP_QKEY;
	} else if (w->opcode == IBV_WR_BIND_MW) {
		w->bind_mr = a->bad.mr->lkey;
		w->bind_addr = (uintptr_t)a->bad.buf;
		w->bind_length = rnd() % ATTACKER_LEN;
		w->bind_mw = window_key(a);
		w->bind_rkey = window_key(a);
		w->bind_access = IBV_ACCESS_REMOTE_WRITE;
	} else if (w->opcode == IBV_WR_LOCAL_INV ||
		   w->opcode == IBV_WR_SEND_WITH_INV) {
		w->ex = window_key(a);
	} else if (w->opcode != IBV_WR_SEND &&
		   w->opcode != IBV_WR_SEND_WITH_IMM) {
		w->remote_addr = (uintptr_t)f->buf +
				 rnd() % (f->len / 2) / 8 * 8;
		w->rkey = f->mr->rkey;
	}
}

/* The next request; one in three is not quite right. False: no slot is free. */
static bool post_send(struct attack *a)
{
	struct fal_ring *ring = &fal_qp_of(&a->bad)->sq;
	uint32_t prod = ring->hdr->prod, i, n = rnd() % 4;
	struct falcon_send_wqe *w = fal_slot(ring, prod);
	struct falcon_sge *sge = (void *)(w + 1);

	if (prod - fal_load(&ring->hdr->cons) > ring->mask)
		return false;
	memset(w, 0, sizeof(*w));
	w->opcode = opcode(a);
	w->flags = rnd() % 8 | FALCON_SEND_SIGNALED;
	w->num_sge = n;
	for (i = 0; i < n; i++)
		piece(&a->bad, &sge[i], ATTACKER_LEN / 8);
	if (w->opcode == IBV_WR_ATOMIC_CMP_AND_SWP ||
	    w->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		w->num_sge = 1;
		piece(&a->bad, sge, 0);
		sge->length = sizeof(uint64_t);
		sge->addr = (uintptr_t)a->bad.buf;
	}
	target(a, w);
	if (one_in(3))
		((uint32_t *)w)[rnd() % (sizeof(*w) / 4 + 4 * n)] = rnd();
	fal_store(&ring->hdr->prod, prod + 1);
	a->posted++;
	return true;
}

static void post_recv(struct attack *a)
{
	struct fal_ring *ring = recv_ring(a);
	uint32_t prod = ring->hdr->prod;
	struct falcon_recv_wqe *w = fal_slot(ring, prod);

	if (prod - fal_load(&ring->hdr->cons) > ring->mask)
		return;
	memset(w, 0, sizeof(*w));
	w->num_sge = 1;
	piece(&a->bad, (void *)(w + 1), ATTACKER_LEN / 2);
	if (one_in(4))
		((uint32_t *)w)[rnd() % ((sizeof(*w) +
					  sizeof(struct falcon_sge)) / 4)] =
			rnd();
	fal_store(&ring->hdr->prod, prod + 1);
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

/* The friend's rings are in order: it receives, and sends a little. */
static void be_friends(struct attack *a)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)a->friend.buf, .length = ATTACKER_LEN / 2,
		.lkey = a->friend.mr->lkey,
	};
	struct ibv_recv_wr *bad_recv, recv = { .sg_list = &sge, .num_sge = 1 };
	struct ibv_send_wr *bad, wr = {
		.opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED,
		.sg_list = &sge, .num_sge = 1,
		.wr.ud = { .ah = a->ah, .remote_qpn = a->bad.qp->qp_num,
			   .remote_qkey = VQP_QKEY },
	};
	struct ibv_wc wc;
	int i;

	for (i = 0; i < 4; i++)
		ibv_post_recv(a->friend.qp, &recv, &bad_recv);
	sge.length = rnd() % (ATTACKER_LEN / 4);
	ibv_post_send(a->friend.qp, &wr, &bad);
	/* There may be no end to a queue that was scribbled over. */
	for (i = 0; i < 100 && ibv_poll_cq(a->friend.cq, 1, &wc) == 1; i++)
		a->received += !wc.status && wc.opcode & IBV_WC_RECV;
}

static bool to_state(struct ibv_qp *qp, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = { .qp_state = state };

	return !ibv_modify_qp(qp, &attr, IBV_QP_STATE);
}

static bool bring_up(struct attack *a)
{
	if (a->kind->type == IBV_QPT_UD)
		return vqp_ud_to_rts(a->bad.qp) && vqp_ud_to_rts(a->friend.qp);
	return vqp_connect(&a->bad, &a->friend);
}

/* By way of ERR, where what is scribbled is flushed, and RESET up again */
static bool revive(struct attack *a)
{
	struct vqp *both[] = { &a->bad, &a->friend };
	int i;

	for (i = 0; i < 2; i++) {
		if (!to_state(both[i]->qp, IBV_QPS_ERR))
			return false;
		if (a->kind->indices)
			scribble(&fal_qp_of(&a->bad)->sq, 50, true);
		if (!to_state(both[i]->qp, IBV_QPS_RESET))
			return false;
	}
	a->revived++;
	return bring_up(a);
}

/* Every other time with an index that cannot be */
static void resize(struct attack *a)
{
	struct ibv_srq_attr attr = { .max_wr = 16 << rnd() % 4 };
	bool lie = one_in(2);

	if (lie)
		fal_store(&recv_ring(a)->hdr->prod, rnd());
	ibv_modify_srq(a->srq, &attr, IBV_SRQ_MAX_WR);
	if (lie)
		fal_store(&recv_ring(a)->hdr->prod,
			  fal_load(&recv_ring(a)->hdr->cons));
}

/* What is done, as far as a ring that was scribbled over says */
static void reap(struct attack *a)
{
	struct fal_cq *cq = container_of(a->bad.cq, struct fal_cq, vcq.cq);
	struct falcon_cqe *cqe;
	uint32_t i;

	if (a->kind->indices)
		scribble(&cq->ring, 20, true);
	for (i = 0; i <= cq->ring.mask && cq->cons != cq->ring.hdr->prod; i++) {
		cqe = fal_slot(&cq->ring, cq->cons++);
		a->done += !cqe->status;
	}
	fal_store(&cq->ring.hdr->cons, cq->cons);
}

static void step(struct attack *a)
{
	uint32_t i, n = rnd() % 8;

	for (i = 0; i < n; i++) {
		post_send(a);
		post_recv(a);
	}
	if (a->kind->indices) {
		scribble(&fal_qp_of(&a->bad)->sq, 10, true);
		scribble(recv_ring(a), 10, true);
	}
	write_post_send(a->bad.qp->handle, false);
	be_friends(a);
	reap(a);
	if (a->srq && one_in(8))
		resize(a);
}

static void *attacker(void *arg)
{
	struct attack *a = arg;
	unsigned int i;

	for (i = 1; !atomic_load(&stop); i++) {
		step(a);
		if (i % (a->kind->indices ? 8 : 200))
			continue;
		if (!revive(a)) {
			vsay("%s: not up again", a->kind->name);
			return a;
		}
	}
	return NULL;
}

/* Changes requests that wait, or are being copied. A resized ring is elsewhere. */
static void *meddler(void *arg)
{
	struct attack *a = arg;

	while (!atomic_load(&stop)) {
		scribble(&fal_qp_of(&a->bad)->sq, 1, false);
		if (!a->srq)
			scribble(recv_ring(a), 1, false);
		usleep(100);
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

static bool prepare(struct attack *a)
{
	struct ibv_srq_init_attr init = { .attr = { 32, 1, 0 } };
	struct vqp *both[] = { &a->bad, &a->friend };
	struct ibv_ah_attr attr;
	int i;

	for (i = 0; i < 2; i++)
		CHECK(vqp_open_mode(both[i], a->kind->type, ATTACKER_LEN,
				    FALCON_QP_STRONG,
				    FALCON_QP_COMPLETE_IN_ERROR));
	if (a->kind->shares_rq) {
		CHECK(a->srq = ibv_create_srq(vpd, &init));
		CHECK(vqp_use_srq(&a->bad, a->srq));
	}
	if (a->kind->shares_cq)
		CHECK(vqp_use_cq(&a->friend, a->bad.cq));
	CHECK(vah_back(&attr) && (a->ah = ibv_create_ah(vpd, &attr)));
	CHECK(a->mw = ibv_alloc_mw(vpd, IBV_MW_TYPE_2));
	return bring_up(a);
}

static bool finish(struct attack *a)
{
	if (a->kind->shares_cq)
		a->friend.cq = NULL;
	vqp_close(&a->friend);
	vqp_close(&a->bad);
	CHECK(!ibv_dealloc_mw(a->mw) && !ibv_destroy_ah(a->ah));
	CHECK(!a->srq || !ibv_destroy_srq(a->srq));
	return true;
}

/* It was no idle threat: the kernel refused much, and did the rest. */
static bool was_executed(const struct attack *a, const long *before,
			 const long *after)
{
	vsay("%s: %lu posted, %lu done, %lu received, %lu times up again",
	     a->kind->name, a->posted, a->done, a->received, a->revived);
	vsay("bad_wqe %ld, tx_read %ld, tx_atomic %ld, rx_send %ld",
	     after[0] - before[0], after[1] - before[1], after[2] - before[2],
	     after[3] - before[3]);
	CHECK(after[0] - before[0] > 50 && a->revived);
	if (a->kind->indices)
		return true;
	CHECK(a->done > 100 && a->received > 10);
	CHECK(after[3] - before[3] > 20);
	CHECK(a->kind->type == IBV_QPT_UD ||
	      (after[1] - before[1] > 20 && after[2] - before[2] > 20));
	return true;
}

/* The victim only writes. */
static void count(long *n)
{
	n[0] = vcounter("bad_wqe");
	n[1] = vcounter("tx_read");
	n[2] = vcounter("tx_atomic");
	n[3] = vcounter("rx_send");
}

static bool round_of(const struct kind *kind, struct vqp *a, struct vqp *b)
{
	struct attack attack = { .kind = kind };
	pthread_t threads[2];
	long before[4], after[4];
	void *lost;
	bool ok;

	CHECK(prepare(&attack));
	count(before);
	atomic_store(&stop, false);
	CHECK(!pthread_create(&threads[0], NULL, attacker, &attack));
	CHECK(!pthread_create(&threads[1], NULL, meddler, &attack));
	ok = victim_works(a, b, HOSTILE_SECONDS);
	atomic_store(&stop, true);
	pthread_join(threads[0], &lost);
	pthread_join(threads[1], NULL);
	count(after);
	CHECK(ok && !lost && was_executed(&attack, before, after));
	return finish(&attack);
}

static bool neighbour_of_a_hostile_ring_goes_on(void)
{
	struct vqp a, b;
	size_t i;

	CHECK(vqp_open(&a, IBV_QPT_RC, VICTIM_LEN));
	CHECK(vqp_open(&b, IBV_QPT_RC, VICTIM_LEN));
	CHECK(vqp_connect(&a, &b));
	for (i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		CHECK(round_of(&kinds[i], &a, &b));
	vqp_close(&a);
	vqp_close(&b);
	return true;
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
	CHECK(!vqp_to_init(qp) && to_state(qp, IBV_QPS_ERR));
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
	CHECK(to_state(v.qp, IBV_QPS_ERR));
	qp->sq.hdr->prod = 2;
	CHECK(!ibv_modify_qp(v.qp, &reset, IBV_QP_STATE));
	for (i = 0; i < 4; i++)
		CHECK(!write_post_send(v.qp->handle, false));
	CHECK(!vqp_to_init(v.qp) && to_state(v.qp, IBV_QPS_ERR));
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
