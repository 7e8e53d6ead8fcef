// SPDX-License-Identifier: GPL-2.0
/*
 * What verbs promise of requests, completions, events and memory, within the
 * device: one test a promise.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "verbs.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define LEN		4096
#define PATIENCE	60	/* seconds */

/* A request that a test fills in, and its one piece of memory */
struct request {
	struct ibv_send_wr wr;
	struct ibv_sge sge;
};

static bool open_pair(struct vqp *a, struct vqp *b, size_t len)
{
	return vqp_open(a, IBV_QPT_RC, len) && vqp_open(b, IBV_QPT_RC, len) &&
	       vqp_connect(a, b);
}

static void close_pair(struct vqp *a, struct vqp *b)
{
	vqp_close(a);
	vqp_close(b);
}

static void request(struct request *r, enum ibv_wr_opcode opcode,
		    const struct vqp *from, const struct vqp *to, size_t len)
{
	memset(r, 0, sizeof(*r));
	r->sge.addr = (uintptr_t)from->buf;
	r->sge.length = len;
	r->sge.lkey = from->mr->lkey;
	r->wr.opcode = opcode;
	r->wr.send_flags = IBV_SEND_SIGNALED;
	r->wr.sg_list = &r->sge;
	r->wr.num_sge = len ? 1 : 0;
	r->wr.wr.rdma.remote_addr = (uintptr_t)to->buf;
	r->wr.wr.rdma.rkey = to->mr->rkey;
}

static int post(struct vqp *v, struct request *r)
{
	struct ibv_send_wr *bad;

	return ibv_post_send(v->qp, &r->wr, &bad);
}

static int post_recv(struct vqp *v, uint64_t id, size_t len)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)v->buf, .length = len, .lkey = v->mr->lkey,
	};
	struct ibv_recv_wr *bad, wr = {
		.wr_id = id, .sg_list = &sge, .num_sge = len ? 1 : 0,
	};

	return ibv_post_recv(v->qp, &wr, &bad);
}

static bool completes(struct vqp *v, struct ibv_wc *wc,
		      enum ibv_wc_status status)
{
	if (vqp_poll(v->cq, wc, PATIENCE) != 1) {
		vsay("no completion");
		return false;
	}
	if (wc->status != status)
		vsay("%s, not %s", ibv_wc_status_str(wc->status),
		     ibv_wc_status_str(status));
	return wc->status == status;
}

/* Does it, and waits for the end of it. */
static bool does(struct vqp *v, struct request *r, enum ibv_wc_status status)
{
	struct ibv_wc wc;

	return !post(v, r) && completes(v, &wc, status);
}

static bool readable(int fd, int ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, ms) == 1;
}

/*
 * Requests
 */

static bool immediate_data_comes_with_sends_and_writes(void)
{
	static const enum ibv_wr_opcode ops[] = {
		IBV_WR_SEND_WITH_IMM, IBV_WR_RDMA_WRITE_WITH_IMM,
	};
	struct request r;
	struct ibv_wc wc;
	struct vqp a, b;
	size_t i;

	CHECK(open_pair(&a, &b, LEN));
	for (i = 0; i < ARRAY_SIZE(ops); i++) {
		CHECK(!post_recv(&b, i, LEN));
		request(&r, ops[i], &a, &b, 100);
		r.wr.imm_data = 0x12345678 + i;
		CHECK(does(&a, &r, IBV_WC_SUCCESS));
		CHECK(completes(&b, &wc, IBV_WC_SUCCESS));
		CHECK(wc.wc_flags & IBV_WC_WITH_IMM && wc.byte_len == 100);
		CHECK(wc.imm_data == 0x12345678 + i && wc.wr_id == i);
		CHECK(wc.opcode == (i ? IBV_WC_RECV_RDMA_WITH_IMM :
					IBV_WC_RECV));
	}
	close_pair(&a, &b);
	return true;
}

static bool inline_data_is_taken_at_posting(void)
{
	struct request r;
	struct ibv_wc wc;
	struct vqp a, b;

	CHECK(open_pair(&a, &b, LEN));
	memset(a.buf, 7, 64);
	request(&r, IBV_WR_RDMA_WRITE, &a, &b, 64);
	r.wr.send_flags |= IBV_SEND_INLINE;
	r.sge.lkey = 0;
	CHECK(!post(&a, &r));
	memset(a.buf, 8, 64);
	CHECK(completes(&a, &wc, IBV_WC_SUCCESS));
	CHECK(b.buf[0] == 7 && b.buf[63] == 7 && !b.buf[64]);
	close_pair(&a, &b);
	return true;
}

static bool atomics_change_memory_and_tell_what_was_there(void)
{
	uint64_t *mine, *theirs;
	struct request r;
	struct vqp a, b;

	CHECK(open_pair(&a, &b, LEN));
	mine = (uint64_t *)a.buf;
	theirs = (uint64_t *)b.buf;
	*theirs = 40;
	request(&r, IBV_WR_ATOMIC_FETCH_AND_ADD, &a, &b, 8);
	r.wr.wr.atomic.remote_addr = (uintptr_t)b.buf;
	r.wr.wr.atomic.rkey = b.mr->rkey;
	r.wr.wr.atomic.compare_add = 2;
	CHECK(does(&a, &r, IBV_WC_SUCCESS) && *mine == 40 && *theirs == 42);
	r.wr.opcode = IBV_WR_ATOMIC_CMP_AND_SWP;
	r.wr.wr.atomic.swap = 99;
	CHECK(does(&a, &r, IBV_WC_SUCCESS) && *mine == 42 && *theirs == 42);
	r.wr.wr.atomic.compare_add = 42;
	CHECK(does(&a, &r, IBV_WC_SUCCESS) && *mine == 42 && *theirs == 99);
	r.wr.wr.atomic.remote_addr++;
	CHECK(does(&a, &r, IBV_WC_REM_INV_REQ_ERR) && *theirs == 99);
	close_pair(&a, &b);
	return true;
}

/* 6.7: a pull for each piece at least, none across two of them */
static bool reads_are_cut_at_scatter_boundaries(void)
{
	const size_t sizes[] = { 1, 4095, 30000, 2 };
	struct ibv_sge sge[ARRAY_SIZE(sizes)];
	size_t i, at = 0, gap = 3, total;
	long before = vcounter("rx_read");
	struct request r;
	struct vqp a, b;

	CHECK(open_pair(&a, &b, 10 * LEN));
	for (i = 0; i < b.len; i++)
		b.buf[i] = i * 13 + (i >> 8);
	request(&r, IBV_WR_RDMA_READ, &a, &b, 1);
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		sge[i].addr = (uintptr_t)a.buf + at;
		sge[i].length = sizes[i];
		sge[i].lkey = a.mr->lkey;
		at += sizes[i] + gap;
	}
	r.wr.sg_list = sge;
	r.wr.num_sge = ARRAY_SIZE(sizes);
	CHECK(does(&a, &r, IBV_WC_SUCCESS));
	for (i = 0, at = 0, total = 0; i < ARRAY_SIZE(sizes); i++) {
		CHECK(!memcmp(a.buf + at, b.buf + total, sizes[i]));
		CHECK(!a.buf[at + sizes[i]] && !a.buf[at + sizes[i] + gap - 1]);
		at += sizes[i] + gap;
		total += sizes[i];
	}
	CHECK(vcounter("rx_read") >= before + (long)ARRAY_SIZE(sizes));
	close_pair(&a, &b);
	return true;
}

/* What is fenced sees what the reads before it have brought. */
static bool fenced_requests_wait_for_reads(void)
{
	struct request r;
	struct ibv_wc wc;
	struct vqp a, b;
	int i;

	CHECK(open_pair(&a, &b, 64 * LEN));
	for (i = 0; i < 4; i++) {
		memset(a.buf, 0, a.len);
		memset(b.buf, 1 + i, a.len / 2);
		request(&r, IBV_WR_RDMA_READ, &a, &b, a.len / 2);
		CHECK(!post(&a, &r));
		/* Back, behind it */
		request(&r, IBV_WR_RDMA_WRITE, &a, &b, a.len / 2);
		r.wr.send_flags |= IBV_SEND_FENCE;
		r.wr.wr.rdma.remote_addr += a.len / 2;
		CHECK(!post(&a, &r));
		CHECK(completes(&a, &wc, IBV_WC_SUCCESS));
		CHECK(completes(&a, &wc, IBV_WC_SUCCESS));
		CHECK(!memcmp(b.buf, b.buf + a.len / 2, a.len / 2));
	}
	close_pair(&a, &b);
	return true;
}

/*
 * The extended way: requests are built one by one, and posted together; what is
 * read of a completion was asked for at the creation of its queue.
 */

#define EX_OPS	(IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_SEND_WITH_IMM)
#define EX_WC	(IBV_WC_EX_WITH_BYTE_LEN | IBV_WC_EX_WITH_IMM |	\
		 IBV_WC_EX_WITH_QP_NUM | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP)

static bool open_extended(struct vqp *a, struct vqp *b)
{
	return vqp_open_extended(a, LEN, EX_OPS, EX_WC) &&
	       vqp_open_extended(b, LEN, EX_OPS, EX_WC) && vqp_connect(a, b);
}

static void build_write(struct vqp *a, struct vqp *b, uint64_t id)
{
	struct ibv_qp_ex *qp = ibv_qp_to_qp_ex(a->qp);

	qp->wr_id = id;
	qp->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_rdma_write(qp, b->mr->rkey, (uintptr_t)b->buf);
}

static bool built_requests_are_posted_together(void)
{
	struct ibv_qp_ex *qp;
	struct ibv_wc wc;
	struct vqp a, b;

	CHECK(open_extended(&a, &b) && !post_recv(&b, 1, LEN));
	qp = ibv_qp_to_qp_ex(a.qp);
	memset(a.buf, 3, LEN);
	ibv_wr_start(qp);
	build_write(&a, &b, 10);
	ibv_wr_set_inline_data(qp, "inline", 7);
	qp->wr_id = 11;
	ibv_wr_send_imm(qp, 0x01020304);
	ibv_wr_set_sge(qp, a.mr->lkey, (uintptr_t)a.buf + 7, 100);
	/* Not before it is told. */
	CHECK(!vqp_poll(a.cq, &wc, 1) && !b.buf[0]);
	CHECK(!ibv_wr_complete(qp));
	CHECK(completes(&a, &wc, IBV_WC_SUCCESS) && wc.wr_id == 10);
	CHECK(completes(&a, &wc, IBV_WC_SUCCESS) && wc.wr_id == 11);
	CHECK(completes(&b, &wc, IBV_WC_SUCCESS) && wc.byte_len == 100);
	CHECK(wc.imm_data == 0x01020304 && b.buf[99] == 3 && !b.buf[100]);
	close_pair(&a, &b);
	return true;
}

static bool requests_that_cannot_be_are_not_posted_in_part(void)
{
	struct ibv_qp_ex *qp;
	struct ibv_wc wc;
	struct vqp a, b;
	int i;

	CHECK(open_extended(&a, &b));
	qp = ibv_qp_to_qp_ex(a.qp);
	memset(a.buf, 4, LEN);
	ibv_wr_start(qp);
	build_write(&a, &b, 1);
	ibv_wr_set_sge(qp, a.mr->lkey, (uintptr_t)a.buf, 8);
	ibv_wr_abort(qp);
	/* More than there is room for */
	ibv_wr_start(qp);
	for (i = 0; i < 4 * VQP_DEPTH; i++) {
		build_write(&a, &b, i);
		ibv_wr_set_sge(qp, a.mr->lkey, (uintptr_t)a.buf, 8);
	}
	CHECK(ibv_wr_complete(qp) == ENOMEM);
	CHECK(!vqp_poll(a.cq, &wc, 1) && !b.buf[0]);
	ibv_wr_start(qp);
	build_write(&a, &b, 99);
	ibv_wr_set_sge(qp, a.mr->lkey, (uintptr_t)a.buf, 8);
	CHECK(!ibv_wr_complete(qp));
	CHECK(completes(&a, &wc, IBV_WC_SUCCESS) && wc.wr_id == 99);
	close_pair(&a, &b);
	return true;
}

static bool shows(struct ibv_cq_ex *cq, const struct vqp *b, uint64_t id)
{
	CHECK(cq->wr_id == id && cq->status == IBV_WC_SUCCESS);
	CHECK(ibv_wc_read_opcode(cq) == IBV_WC_RECV);
	CHECK(ibv_wc_read_wc_flags(cq) & IBV_WC_WITH_IMM);
	CHECK(ibv_wc_read_byte_len(cq) == 5 + id);
	CHECK(ibv_wc_read_imm_data(cq) == id);
	CHECK(ibv_wc_read_qp_num(cq) == b->qp->qp_num);
	CHECK(ibv_wc_read_completion_ts(cq));
	return true;
}

static bool extended_polling_shows_one_completion_after_another(void)
{
	struct ibv_poll_cq_attr none = {}, bad = { .comp_mask = 1 };
	struct ibv_cq_ex *cq;
	struct request r;
	struct vqp a, b;
	uint64_t ts;
	int i;

	CHECK(open_extended(&a, &b));
	cq = (struct ibv_cq_ex *)b.cq;
	CHECK(ibv_start_poll(cq, &none) == ENOENT);
	CHECK(ibv_start_poll(cq, &bad) == EINVAL);
	for (i = 0; i < 3; i++) {
		CHECK(!post_recv(&b, i, LEN));
		request(&r, IBV_WR_SEND_WITH_IMM, &a, &b, 5 + i);
		r.wr.imm_data = i;
		CHECK(does(&a, &r, IBV_WC_SUCCESS));
	}
	CHECK(!ibv_start_poll(cq, &none) && shows(cq, &b, 0));
	ts = ibv_wc_read_completion_ts(cq);
	CHECK(!ibv_next_poll(cq) && shows(cq, &b, 1));
	CHECK(ibv_wc_read_completion_ts(cq) > ts);
	ibv_end_poll(cq);
	/* What was shown is gone, and no more. */
	CHECK(!ibv_start_poll(cq, &none) && shows(cq, &b, 2));
	CHECK(ibv_next_poll(cq) == ENOENT);
	ibv_end_poll(cq);
	CHECK(ibv_start_poll(cq, &none) == ENOENT);
	close_pair(&a, &b);
	return true;
}

static int to_sqd(struct vqp *v)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_SQD, .en_sqd_async_notify = 1,
	};

	return ibv_modify_qp(v->qp, &attr, IBV_QP_STATE |
			     IBV_QP_EN_SQD_ASYNC_NOTIFY);
}

static bool drained(struct vqp *v)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	return !ibv_query_qp(v->qp, &attr, IBV_QP_STATE, &init) &&
	       attr.qp_state == IBV_QPS_SQD && !attr.sq_draining;
}

/* What was begun ends, an event says so, and what is posted waits for RTS. */
static bool drained_send_queue_says_so_and_goes_on(void)
{
	struct ibv_async_event event;
	struct request r;
	struct ibv_wc wc;
	struct vqp a, b;

	CHECK(open_pair(&a, &b, 64 * LEN));
	request(&r, IBV_WR_RDMA_WRITE, &a, &b, a.len);
	CHECK(does(&a, &r, IBV_WC_SUCCESS) && !post(&a, &r) && !to_sqd(&a));
	CHECK(!ibv_get_async_event(vctx, &event));
	ibv_ack_async_event(&event);
	CHECK(event.event_type == IBV_EVENT_SQ_DRAINED);
	CHECK(event.element.qp == a.qp && drained(&a));
	/* Whether it had begun or not */
	vqp_poll(a.cq, &wc, 0);
	CHECK(!post(&a, &r) && drained(&a));
	CHECK(vqp_poll(a.cq, &wc, 1) == 0);
	CHECK(!vqp_to_rts_again(a.qp));
	CHECK(completes(&a, &wc, IBV_WC_SUCCESS));
	close_pair(&a, &b);
	return true;
}

/*
 * Completions
 */

/* A queue pair whose completions are told through @channel */
static bool open_with_channel(struct vqp *v, struct ibv_comp_channel **channel)
{
	struct ibv_cq *cq;

	*channel = ibv_create_comp_channel(vctx);
	CHECK(*channel && vqp_open(v, IBV_QPT_RC, LEN));
	cq = ibv_create_cq(vctx, 4 * VQP_DEPTH, NULL, *channel, 0);
	CHECK(cq && vqp_use_cq(v, cq));
	return true;
}

static bool event_of(struct ibv_comp_channel *channel, struct ibv_cq *cq)
{
	struct ibv_cq *told;
	void *context;

	if (!readable(channel->fd, PATIENCE * 1000) ||
	    ibv_get_cq_event(channel, &told, &context))
		return false;
	ibv_ack_cq_events(told, 1);
	return told == cq;
}

static bool armed_queue_tells_once(void)
{
	struct ibv_comp_channel *channel;
	struct request r;
	struct ibv_wc wc;
	struct vqp a, b;

	CHECK(open_with_channel(&a, &channel) &&
	      vqp_open(&b, IBV_QPT_RC, LEN) && vqp_connect(&a, &b));
	request(&r, IBV_WR_RDMA_WRITE, &a, &b, 8);
	CHECK(does(&a, &r, IBV_WC_SUCCESS) && !readable(channel->fd, 0));
	CHECK(!ibv_req_notify_cq(a.cq, 0) && !post(&a, &r));
	CHECK(event_of(channel, a.cq) && completes(&a, &wc, IBV_WC_SUCCESS));
	CHECK(does(&a, &r, IBV_WC_SUCCESS) && !readable(channel->fd, 0));
	close_pair(&a, &b);
	CHECK(!ibv_destroy_comp_channel(channel));
	return true;
}

static bool solicited_notification_waits_for_a_solicited_send(void)
{
	struct ibv_comp_channel *channel;
	struct request r;
	struct ibv_wc wc;
	struct vqp a, b;
	int i;

	CHECK(open_with_channel(&b, &channel) &&
	      vqp_open(&a, IBV_QPT_RC, LEN) && vqp_connect(&a, &b));
	request(&r, IBV_WR_SEND, &a, &b, 0);
	for (i = 0; i < 2; i++)
		CHECK(!post_recv(&b, i, 0));
	CHECK(!ibv_req_notify_cq(b.cq, 1));
	CHECK(does(&a, &r, IBV_WC_SUCCESS));
	CHECK(completes(&b, &wc, IBV_WC_SUCCESS) && !readable(channel->fd, 0));
	r.wr.send_flags |= IBV_SEND_SOLICITED;
	CHECK(does(&a, &r, IBV_WC_SUCCESS));
	CHECK(event_of(channel, b.cq) && completes(&b, &wc, IBV_WC_SUCCESS));
	close_pair(&a, &b);
	CHECK(!ibv_destroy_comp_channel(channel));
	return true;
}

static bool moderated_queue_tells_of_many_at_once(void)
{
	struct ibv_modify_cq_attr attr = {
		.attr_mask = IBV_CQ_ATTR_MODERATE, .moderate = { 4, 0 },
	};
	struct ibv_comp_channel *channel;
	struct request r;
	struct vqp a, b;
	int i;

	CHECK(open_with_channel(&a, &channel) &&
	      vqp_open(&b, IBV_QPT_RC, LEN) && vqp_connect(&a, &b));
	CHECK(!ibv_modify_cq(a.cq, &attr) && !ibv_req_notify_cq(a.cq, 0));
	request(&r, IBV_WR_RDMA_WRITE, &a, &b, 8);
	for (i = 0; i < 3; i++)
		CHECK(does(&a, &r, IBV_WC_SUCCESS));
	CHECK(!readable(channel->fd, 0));
	CHECK(!post(&a, &r) && event_of(channel, a.cq));
	/* Or of fewer, after a while */
	attr.moderate.cq_count = 1000;
	attr.moderate.cq_period = 1000;
	CHECK(!ibv_modify_cq(a.cq, &attr) && !ibv_req_notify_cq(a.cq, 0));
	CHECK(!post(&a, &r) && event_of(channel, a.cq));
	close_pair(&a, &b);
	CHECK(!ibv_destroy_comp_channel(channel));
	return true;
}

/* What is pending when moderation changes is told by the new one. */
static bool moderation_that_changes_holds_for_what_is_pending(void)
{
	struct ibv_modify_cq_attr slack = {
		.attr_mask = IBV_CQ_ATTR_MODERATE,
		.moderate = { .cq_count = 10 },
	};
	static const struct ibv_moderate_cq now[] = {
		{ .cq_count = 1 }, { .cq_count = 2 },
		{ .cq_count = 10, .cq_period = 1000 },
	};
	struct ibv_comp_channel *channel;
	struct ibv_modify_cq_attr attr;
	struct request r;
	struct vqp a, b;
	size_t i, j;

	CHECK(open_with_channel(&a, &channel) &&
	      vqp_open(&b, IBV_QPT_RC, LEN) && vqp_connect(&a, &b));
	request(&r, IBV_WR_RDMA_WRITE, &a, &b, 8);
	for (i = 0; i < ARRAY_SIZE(now); i++) {
		CHECK(!ibv_modify_cq(a.cq, &slack));
		CHECK(!ibv_req_notify_cq(a.cq, 0));
		for (j = 0; j < 3; j++)
			CHECK(does(&a, &r, IBV_WC_SUCCESS));
		CHECK(!readable(channel->fd, 100));
		attr = slack;
		attr.moderate = now[i];
		CHECK(!ibv_modify_cq(a.cq, &attr));
		CHECK(event_of(channel, a.cq));
	}
	close_pair(&a, &b);
	CHECK(!ibv_destroy_comp_channel(channel));
	return true;
}

static bool resized_completion_queue_keeps_what_is_in_it(void)
{
	struct ibv_wc wc[2 * VQP_DEPTH];
	struct request r;
	struct vqp a, b;
	int i, n = 0;

	CHECK(open_pair(&a, &b, LEN));
	request(&r, IBV_WR_RDMA_WRITE, &a, &b, 8);
	for (i = 0; i < VQP_DEPTH; i++) {
		r.wr.wr_id = i;
		CHECK(!post(&a, &r));
	}
	CHECK(!ibv_resize_cq(a.cq, 16 * VQP_DEPTH));
	CHECK(a.cq->cqe >= 16 * VQP_DEPTH);
	for (i = 0; i < VQP_DEPTH; i++) {
		CHECK(completes(&a, &wc[i], IBV_WC_SUCCESS));
		CHECK(wc[i].wr_id == (unsigned int)i);
	}
	/* They are there before it shrinks too far. */
	for (i = 0; i < VQP_DEPTH; i++)
		CHECK(!post(&a, &r));
	for (i = 0; n < VQP_DEPTH - 1; i++)
		n += vqp_poll(a.cq, wc, PATIENCE);
	CHECK(!ibv_resize_cq(a.cq, VQP_DEPTH));
	CHECK(completes(&a, wc, IBV_WC_SUCCESS));
	CHECK(ibv_resize_cq(a.cq, 0));
	close_pair(&a, &b);
	return true;
}

/*
 * Asynchronous events
 */

static bool async_is(enum ibv_event_type type, void *object)
{
	struct ibv_async_event event;
	bool ok;

	if (!readable(vctx->async_fd, PATIENCE * 1000) ||
	    ibv_get_async_event(vctx, &event))
		return false;
	ok = event.event_type == type && (void *)event.element.qp == object;
	ibv_ack_async_event(&event);
	return ok;
}

static bool refused_access_is_told_where_it_was_refused(void)
{
	struct request r;
	struct vqp a, b;

	CHECK(open_pair(&a, &b, LEN));
	request(&r, IBV_WR_RDMA_WRITE, &a, &b, 8);
	r.wr.wr.rdma.rkey++;
	CHECK(does(&a, &r, IBV_WC_REM_ACCESS_ERR));
	CHECK(async_is(IBV_EVENT_QP_ACCESS_ERR, b.qp));
	close_pair(&a, &b);
	return true;
}

static bool invalid_request_is_told_where_it_came(void)
{
	struct request r;
	struct vqp a, b;

	CHECK(open_pair(&a, &b, LEN) && !post_recv(&b, 1, 8));
	request(&r, IBV_WR_SEND, &a, &b, 9);
	CHECK(does(&a, &r, IBV_WC_REM_INV_REQ_ERR));
	CHECK(async_is(IBV_EVENT_QP_REQ_ERR, b.qp));
	close_pair(&a, &b);
	return true;
}

/* In whatever order */
static bool fatal_for_both(const struct vqp *a, const struct vqp *b)
{
	struct ibv_async_event event[2];
	int i;

	for (i = 0; i < 2; i++) {
		CHECK(readable(vctx->async_fd, PATIENCE * 1000));
		CHECK(!ibv_get_async_event(vctx, &event[i]));
		ibv_ack_async_event(&event[i]);
		CHECK(event[i].event_type == IBV_EVENT_QP_FATAL);
	}
	CHECK(event[0].element.qp == a->qp || event[1].element.qp == a->qp);
	CHECK(event[0].element.qp == b->qp || event[1].element.qp == b->qp);
	return true;
}

static bool lost_connection_is_told(void)
{
	struct request r;
	struct vqp a, b;

	CHECK(open_pair(&a, &b, LEN));
	request(&r, IBV_WR_RDMA_WRITE, &a, &b, 8);
	CHECK(does(&a, &r, IBV_WC_SUCCESS));
	CHECK(!system("falcon -N $A conn kill all >/dev/null"));
	CHECK(fatal_for_both(&a, &b));
	CHECK(does(&a, &r, IBV_WC_WR_FLUSH_ERR));
	close_pair(&a, &b);
	return true;
}

/* Sets the netdev below; its addresses, so GIDs, may change with it. */
static bool port_tells(const char *state, enum ibv_event_type type)
{
	struct ibv_async_event event;
	char command[80];

	snprintf(command, sizeof(command), "ip -n $A link set e0 %s", state);
	CHECK(!system(command));
	do {
		CHECK(readable(vctx->async_fd, PATIENCE * 1000));
		CHECK(!ibv_get_async_event(vctx, &event));
		ibv_ack_async_event(&event);
	} while (event.event_type != type);
	CHECK(event.element.port_num == 1);
	return true;
}

static bool port_tells_when_it_goes_and_comes(void)
{
	struct ibv_async_event event;

	CHECK(port_tells("down", IBV_EVENT_PORT_ERR));
	CHECK(port_tells("up", IBV_EVENT_PORT_ACTIVE));
	/* Nothing of it is left for the tests after this one. */
	while (readable(vctx->async_fd, 2000)) {
		CHECK(!ibv_get_async_event(vctx, &event));
		ibv_ack_async_event(&event);
	}
	return true;
}

/*
 * Shared receive queues
 */

static bool srq_tells_of_its_limit_and_of_the_last_request(void)
{
	struct ibv_srq_init_attr init = {
		.attr = { .max_wr = 8, .max_sge = 1 },
	};
	struct ibv_srq_attr limit = { .srq_limit = 2 };
	struct ibv_qp_attr error = { .qp_state = IBV_QPS_ERR };
	struct ibv_srq *srq = ibv_create_srq(vpd, &init);
	struct ibv_recv_wr *bad, wr = {};
	struct request r;
	struct vqp a, b;
	int i;

	CHECK(srq && vqp_open(&b, IBV_QPT_RC, LEN) && vqp_use_srq(&b, srq));
	CHECK(vqp_open(&a, IBV_QPT_RC, LEN) && vqp_connect(&a, &b));
	for (i = 0; i < 4; i++)
		CHECK(!ibv_post_srq_recv(srq, &wr, &bad));
	CHECK(!ibv_modify_srq(srq, &limit, IBV_SRQ_LIMIT));
	request(&r, IBV_WR_SEND, &a, &b, 0);
	for (i = 0; i < 2; i++)
		CHECK(does(&a, &r, IBV_WC_SUCCESS));
	CHECK(!readable(vctx->async_fd, 0));
	CHECK(does(&a, &r, IBV_WC_SUCCESS));
	CHECK(async_is(IBV_EVENT_SRQ_LIMIT_REACHED, srq));
	/* Once: it is armed no more. */
	CHECK(!ibv_query_srq(srq, &limit) && !limit.srq_limit);
	CHECK(!ibv_modify_qp(b.qp, &error, IBV_QP_STATE));
	CHECK(async_is(IBV_EVENT_QP_LAST_WQE_REACHED, b.qp));
	close_pair(&a, &b);
	CHECK(!ibv_destroy_srq(srq));
	return true;
}

/*
 * Memory
 */

static bool region_registered_anew_has_its_new_access(void)
{
	struct request r;
	struct vqp a, b;

	CHECK(open_pair(&a, &b, LEN));
	request(&r, IBV_WR_RDMA_WRITE, &a, &b, 8);
	CHECK(does(&a, &r, IBV_WC_SUCCESS));
	CHECK(!ibv_rereg_mr(b.mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
			    IBV_ACCESS_LOCAL_WRITE));
	request(&r, IBV_WR_RDMA_WRITE, &a, &b, 8);
	CHECK(does(&a, &r, IBV_WC_REM_ACCESS_ERR));
	close_pair(&a, &b);
	return true;
}

static bool region_registered_anew_is_where_it_is_now(void)
{
	struct request r;
	struct vqp a, b;

	CHECK(open_pair(&a, &b, 2 * LEN));
	CHECK(!ibv_rereg_mr(b.mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL,
			    b.buf + LEN, LEN, 0));
	a.buf[0] = 5;
	request(&r, IBV_WR_RDMA_WRITE, &a, &b, 8);
	r.wr.wr.rdma.remote_addr += LEN;
	CHECK(does(&a, &r, IBV_WC_SUCCESS) && b.buf[LEN] == 5);
	r.wr.wr.rdma.remote_addr -= LEN;
	CHECK(does(&a, &r, IBV_WC_REM_ACCESS_ERR) && !b.buf[0]);
	close_pair(&a, &b);
	return true;
}

static bool send_with_invalidate_ends_a_window_of_type_2(void)
{
	struct ibv_mw *mw = ibv_alloc_mw(vpd, IBV_MW_TYPE_2);
	struct request r;
	struct ibv_wc wc;
	struct vqp a, b;
	uint32_t rkey;

	CHECK(mw && open_pair(&a, &b, LEN));
	CHECK(!ibv_rereg_mr(b.mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
			    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND));
	rkey = vqp_bind(&b, mw);
	CHECK(rkey);
	a.buf[0] = 6;
	request(&r, IBV_WR_RDMA_WRITE, &a, &b, 8);
	r.wr.wr.rdma.rkey = rkey;
	CHECK(does(&a, &r, IBV_WC_SUCCESS) && b.buf[0] == 6);
	CHECK(!post_recv(&b, 1, 0));
	request(&r, IBV_WR_SEND_WITH_INV, &a, &b, 0);
	r.wr.invalidate_rkey = rkey;
	CHECK(does(&a, &r, IBV_WC_SUCCESS));
	CHECK(completes(&b, &wc, IBV_WC_SUCCESS));
	CHECK(wc.wc_flags & IBV_WC_WITH_INV && wc.invalidated_rkey == rkey);
	request(&r, IBV_WR_RDMA_WRITE, &a, &b, 8);
	r.wr.wr.rdma.rkey = rkey;
	CHECK(does(&a, &r, IBV_WC_REM_ACCESS_ERR));
	CHECK(!ibv_dealloc_mw(mw));
	close_pair(&a, &b);
	return true;
}

static bool local_invalidate_ends_a_window_of_type_2(void)
{
	struct ibv_mw *mw = ibv_alloc_mw(vpd, IBV_MW_TYPE_2);
	struct request r;
	struct vqp a, b;
	uint32_t rkey;

	CHECK(mw && open_pair(&a, &b, LEN));
	CHECK(!ibv_rereg_mr(b.mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
			    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND));
	rkey = vqp_bind(&b, mw);
	CHECK(rkey);
	request(&r, IBV_WR_LOCAL_INV, &b, &a, 0);
	r.wr.invalidate_rkey = rkey;
	CHECK(does(&b, &r, IBV_WC_SUCCESS));
	request(&r, IBV_WR_RDMA_WRITE, &a, &b, 8);
	r.wr.wr.rdma.rkey = rkey;
	CHECK(does(&a, &r, IBV_WC_REM_ACCESS_ERR));
	CHECK(!ibv_dealloc_mw(mw));
	close_pair(&a, &b);
	return true;
}

/*
 * Datagrams
 */

static bool send_datagrams(struct vqp *v, struct ibv_ah *ah, uint32_t qpn,
			   const uint32_t *lkeys, int n)
{
	struct request r[3];
	int i;

	for (i = 0; i < n; i++) {
		request(&r[i], IBV_WR_SEND, v, v, 8);
		r[i].sge.lkey = lkeys[i];
		r[i].wr.wr_id = i;
		r[i].wr.wr.ud.ah = ah;
		r[i].wr.wr.ud.remote_qpn = qpn;
		r[i].wr.wr.ud.remote_qkey = VQP_QKEY;
		r[i].wr.next = i + 1 < n ? &r[i + 1].wr : NULL;
	}
	return !post(v, r);
}

static bool is_in(struct vqp *v, enum ibv_qp_state state)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	return !ibv_query_qp(v->qp, &attr, IBV_QP_STATE, &init) &&
	       attr.qp_state == state;
}

/* What @from sends, @to receives, and nothing else. */
static bool datagram_passes(struct vqp *from, struct vqp *to, struct ibv_ah *ah)
{
	struct ibv_wc wc;

	CHECK(send_datagrams(from, ah, to->qp->qp_num, &from->mr->lkey, 1));
	CHECK(completes(from, &wc, IBV_WC_SUCCESS));
	CHECK(completes(to, &wc, IBV_WC_SUCCESS) && wc.opcode & IBV_WC_RECV);
	CHECK(!ibv_poll_cq(to->cq, 1, &wc));
	return true;
}

/* One that fails ends the send queue, and what is behind it does not leave. */
static bool datagram_that_fails_flushes_those_behind_it(void)
{
	struct ibv_ah_attr attr;
	struct ibv_ah *ah;
	struct vqp a, b;
	struct ibv_wc wc;
	uint32_t keys[3];
	int i, round;

	CHECK(vah_back(&attr) && (ah = ibv_create_ah(vpd, &attr)));
	CHECK(vqp_open(&a, IBV_QPT_UD, LEN) && vqp_ud_to_rts(a.qp));
	CHECK(vqp_open(&b, IBV_QPT_UD, LEN) && vqp_ud_to_rts(b.qp));
	for (i = 0; i < 12; i++)
		CHECK(!post_recv(&a, i, 100) && !post_recv(&b, i, 100));
	for (i = 0; i < 3; i++)
		keys[i] = a.mr->lkey + (i == 1);
	for (round = 0; round < 3; round++) {
		CHECK(send_datagrams(&a, ah, b.qp->qp_num, keys, 3));
		CHECK(completes(&a, &wc, IBV_WC_SUCCESS) && wc.wr_id == 0);
		CHECK(completes(&a, &wc, IBV_WC_LOC_PROT_ERR) && wc.wr_id == 1);
		CHECK(completes(&a, &wc, IBV_WC_WR_FLUSH_ERR) && wc.wr_id == 2);
		CHECK(is_in(&a, IBV_QPS_SQE));
		CHECK(completes(&b, &wc, IBV_WC_SUCCESS));
		/* It receives, and flushes what is sent. */
		CHECK(datagram_passes(&b, &a, ah));
		CHECK(send_datagrams(&a, ah, b.qp->qp_num, keys, 1));
		CHECK(completes(&a, &wc, IBV_WC_WR_FLUSH_ERR));
		CHECK(!vqp_to_rts_again(a.qp) && is_in(&a, IBV_QPS_RTS));
		CHECK(datagram_passes(&a, &b, ah));
	}
	CHECK(!ibv_destroy_ah(ah));
	close_pair(&a, &b);
	return true;
}

int features_main(void)
{
#define T(name)	{ #name, name }
	static const struct vtest tests[] = {
		T(immediate_data_comes_with_sends_and_writes),
		T(inline_data_is_taken_at_posting),
		T(atomics_change_memory_and_tell_what_was_there),
		T(reads_are_cut_at_scatter_boundaries),
		T(fenced_requests_wait_for_reads),
		T(built_requests_are_posted_together),
		T(requests_that_cannot_be_are_not_posted_in_part),
		T(extended_polling_shows_one_completion_after_another),
		T(drained_send_queue_says_so_and_goes_on),
		T(armed_queue_tells_once),
		T(solicited_notification_waits_for_a_solicited_send),
		T(moderated_queue_tells_of_many_at_once),
		T(moderation_that_changes_holds_for_what_is_pending),
		T(resized_completion_queue_keeps_what_is_in_it),
		T(refused_access_is_told_where_it_was_refused),
		T(invalid_request_is_told_where_it_came),
		T(lost_connection_is_told),
		T(port_tells_when_it_goes_and_comes),
		T(srq_tells_of_its_limit_and_of_the_last_request),
		T(region_registered_anew_has_its_new_access),
		T(region_registered_anew_is_where_it_is_now),
		T(send_with_invalidate_ends_a_window_of_type_2),
		T(local_invalidate_ends_a_window_of_type_2),
		T(datagram_that_fails_flushes_those_behind_it),
	};

	return vtests_run(tests, ARRAY_SIZE(tests));
}
