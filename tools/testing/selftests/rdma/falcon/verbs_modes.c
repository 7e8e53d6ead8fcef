// SPDX-License-Identifier: GPL-2.0
/*
 * Ordering and error modes of RDMA over Falcon (its sections 6.2 to 6.4), within
 * the device: what arrives in each, what completes and in which order, and what
 * an error leaves standing. And queue pairs that are encrypted where others are
 * not: $A is the namespace of the device.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <linux/falcon.h>
#include "verbs.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define MSGS		VQP_DEPTH
#define LARGE		40000	/* several packets */

static bool open_pair(struct vqp *a, struct vqp *b, size_t len,
		      enum falcon_qp_order order, enum falcon_qp_errors errors)
{
	return vqp_open_mode(a, IBV_QPT_RC, len, order, errors) &&
	       vqp_open_mode(b, IBV_QPT_RC, len, order, errors) &&
	       vqp_connect(a, b);
}

static void close_pair(struct vqp *a, struct vqp *b)
{
	vqp_close(a);
	vqp_close(b);
}

static void fill(struct vqp *v)
{
	size_t i;

	for (i = 0; i < v->len; i++)
		v->buf[i] = i * 29 + (i >> 10);
}

static struct ibv_sge sge_of(const struct vqp *v, size_t off, size_t len)
{
	return (struct ibv_sge) {
		.addr = (uintptr_t)v->buf + off, .length = len,
		.lkey = v->mr->lkey,
	};
}

static int post(struct vqp *v, enum ibv_wr_opcode opcode, uint64_t id,
		struct ibv_sge *sge, int num_sge, const struct vqp *to,
		size_t to_off, uint32_t rkey)
{
	struct ibv_send_wr *bad, wr = {
		.wr_id = id, .opcode = opcode, .num_sge = num_sge,
		.sg_list = sge, .send_flags = IBV_SEND_SIGNALED,
	};

	if (opcode != IBV_WR_SEND) {
		wr.wr.rdma.remote_addr = (uintptr_t)to->buf + to_off;
		wr.wr.rdma.rkey = rkey;
	}
	return ibv_post_send(v->qp, &wr, &bad);
}

static int post_recv(struct vqp *v, uint64_t id, size_t off, size_t len)
{
	struct ibv_sge sge = sge_of(v, off, len);
	struct ibv_recv_wr *bad, wr = {
		.wr_id = id, .sg_list = &sge, .num_sge = 1,
	};

	return ibv_post_recv(v->qp, &wr, &bad);
}

static bool completes(struct vqp *v, struct ibv_wc *wc,
		      enum ibv_wc_status status)
{
	if (vqp_poll(v->cq, wc, 30) != 1) {
		vsay("no completion");
		return false;
	}
	if (wc->status != status)
		vsay("request %d: %s, not %s", (int)wc->wr_id,
		     ibv_wc_status_str(wc->status), ibv_wc_status_str(status));
	return wc->status == status;
}

/* Of each message the bytes, and who waited for it, in the order of posting */
static bool sends_complete_in_order(enum falcon_qp_order order)
{
	const size_t len = LARGE;
	struct ibv_sge sge;
	struct ibv_wc wc;
	struct vqp a, b;
	int i;

	CHECK(open_pair(&a, &b, MSGS * len, order, FALCON_QP_VERBS_ERRORS));
	fill(&a);
	for (i = 0; i < MSGS; i++)
		CHECK(!post_recv(&b, i, i * len, len));
	for (i = 0; i < MSGS; i++) {
		sge = sge_of(&a, i * len, len);
		CHECK(!post(&a, IBV_WR_SEND, i, &sge, 1, NULL, 0, 0));
	}
	for (i = 0; i < MSGS; i++) {
		CHECK(completes(&b, &wc, IBV_WC_SUCCESS));
		CHECK(wc.wr_id == (unsigned int)i && wc.byte_len == len);
		CHECK(!memcmp(a.buf + i * len, b.buf + i * len, len));
		CHECK(completes(&a, &wc, IBV_WC_SUCCESS));
		CHECK(wc.wr_id == (unsigned int)i);
	}
	close_pair(&a, &b);
	return true;
}

static bool strong_order_completes_in_order(void)
{
	return sends_complete_in_order(FALCON_QP_STRONG);
}

static bool weak_order_completes_in_order(void)
{
	return sends_complete_in_order(FALCON_QP_WEAK);
}

/* A send after a write tells that the write has been placed, in weak order too. */
static bool weak_order_tells_of_writes_before(void)
{
	struct ibv_sge data, none;
	struct ibv_wc wc;
	struct vqp a, b;

	CHECK(open_pair(&a, &b, LARGE, FALCON_QP_WEAK, FALCON_QP_VERBS_ERRORS));
	fill(&a);
	CHECK(!post_recv(&b, 1, 0, 0));
	data = sge_of(&a, 0, LARGE);
	none = sge_of(&a, 0, 0);
	CHECK(!post(&a, IBV_WR_RDMA_WRITE, 1, &data, 1, &b, 0, b.mr->rkey));
	CHECK(!post(&a, IBV_WR_SEND, 2, &none, 1, NULL, 0, 0));
	CHECK(completes(&b, &wc, IBV_WC_SUCCESS));
	CHECK(!memcmp(a.buf, b.buf, LARGE));
	CHECK(completes(&a, &wc, IBV_WC_SUCCESS) && wc.wr_id == 1);
	CHECK(completes(&a, &wc, IBV_WC_SUCCESS) && wc.wr_id == 2);
	close_pair(&a, &b);
	return true;
}

static bool weak_order_reads_and_writes(void)
{
	struct ibv_sge sge;
	struct ibv_wc wc;
	struct vqp a, b;

	CHECK(open_pair(&a, &b, 2 * LARGE, FALCON_QP_WEAK,
			FALCON_QP_VERBS_ERRORS));
	fill(&a);
	sge = sge_of(&a, 0, LARGE);
	CHECK(!post(&a, IBV_WR_RDMA_WRITE, 1, &sge, 1, &b, 0, b.mr->rkey));
	CHECK(completes(&a, &wc, IBV_WC_SUCCESS));
	sge = sge_of(&a, LARGE, LARGE);
	CHECK(!post(&a, IBV_WR_RDMA_READ, 2, &sge, 1, &b, 0, b.mr->rkey));
	CHECK(completes(&a, &wc, IBV_WC_SUCCESS));
	CHECK(!memcmp(a.buf, a.buf + LARGE, LARGE));
	close_pair(&a, &b);
	return true;
}

/* All arrive, each once; in which order is nobody's promise. */
static bool unordered_messages_all_arrive(void)
{
	bool sent[MSGS] = {}, received[MSGS] = {};
	const size_t len = 1000;
	struct ibv_sge sge;
	struct ibv_wc wc;
	struct vqp a, b;
	int i;

	CHECK(open_pair(&a, &b, MSGS * len, FALCON_QP_UNORDERED,
			FALCON_QP_COMPLETE_IN_ERROR));
	for (i = 0; i < MSGS; i++)
		CHECK(!post_recv(&b, i, i * len, len));
	for (i = 0; i < MSGS; i++) {
		memset(a.buf + i * len, i + 1, len);
		sge = sge_of(&a, i * len, len);
		CHECK(!post(&a, IBV_WR_SEND, i, &sge, 1, NULL, 0, 0));
	}
	for (i = 0; i < MSGS; i++) {
		unsigned int nr;

		CHECK(completes(&a, &wc, IBV_WC_SUCCESS) && wc.wr_id < MSGS);
		CHECK(!sent[wc.wr_id]);
		sent[wc.wr_id] = true;
		CHECK(completes(&b, &wc, IBV_WC_SUCCESS) && wc.wr_id < MSGS);
		CHECK(wc.byte_len == len);
		nr = b.buf[wc.wr_id * len] - 1;
		CHECK(nr < MSGS && !received[nr]);
		received[nr] = true;
		CHECK(!memcmp(a.buf + nr * len, b.buf + wc.wr_id * len, len));
	}
	close_pair(&a, &b);
	return true;
}

/* With immediate data, too, for which the peer has to be ready */
static bool unordered_write_of_one_packet_brings_immediate_data(void)
{
	struct ibv_send_wr *bad, wr = {
		.wr_id = 1, .opcode = IBV_WR_RDMA_WRITE_WITH_IMM, .num_sge = 1,
		.send_flags = IBV_SEND_SIGNALED, .imm_data = 0x1234,
	};
	struct ibv_sge sge;
	struct ibv_wc wc;
	struct vqp a, b;

	CHECK(open_pair(&a, &b, LARGE, FALCON_QP_UNORDERED,
			FALCON_QP_COMPLETE_IN_ERROR));
	fill(&a);
	CHECK(!post_recv(&b, 7, 0, 0));
	sge = sge_of(&a, 0, 1000);
	wr.sg_list = &sge;
	wr.wr.rdma.remote_addr = (uintptr_t)b.buf;
	wr.wr.rdma.rkey = b.mr->rkey;
	CHECK(!ibv_post_send(a.qp, &wr, &bad));
	CHECK(completes(&a, &wc, IBV_WC_SUCCESS));
	CHECK(completes(&b, &wc, IBV_WC_SUCCESS) && wc.wr_id == 7);
	CHECK(wc.opcode == IBV_WC_RECV_RDMA_WITH_IMM && wc.byte_len == 1000);
	CHECK(wc.wc_flags & IBV_WC_WITH_IMM && wc.imm_data == 0x1234);
	CHECK(!memcmp(a.buf, b.buf, 1000));
	sge = sge_of(&a, 0, LARGE);
	CHECK(!ibv_post_send(a.qp, &wr, &bad));
	CHECK(completes(&a, &wc, IBV_WC_LOC_LEN_ERR));
	close_pair(&a, &b);
	return true;
}

/* 6.4: one packet. A write without immediate data may be as long as it likes. */
static bool unordered_send_of_two_packets_is_refused(void)
{
	struct ibv_sge sge;
	struct ibv_wc wc;
	struct vqp a, b;

	CHECK(open_pair(&a, &b, LARGE, FALCON_QP_UNORDERED,
			FALCON_QP_COMPLETE_IN_ERROR));
	fill(&a);
	sge = sge_of(&a, 0, LARGE);
	CHECK(!post(&a, IBV_WR_SEND, 1, &sge, 1, NULL, 0, 0));
	CHECK(completes(&a, &wc, IBV_WC_LOC_LEN_ERR));
	CHECK(!post(&a, IBV_WR_RDMA_WRITE, 2, &sge, 1, &b, 0, b.mr->rkey));
	CHECK(completes(&a, &wc, IBV_WC_SUCCESS));
	CHECK(!memcmp(a.buf, b.buf, LARGE));
	close_pair(&a, &b);
	return true;
}

/* 6.3: each of these ends its own request, and the next one works. */
static bool complete_in_error_goes_on(enum falcon_qp_order order)
{
	static const enum ibv_wc_status want[] = {
		IBV_WC_LOC_PROT_ERR, IBV_WC_REM_ACCESS_ERR,
		IBV_WC_REM_ACCESS_ERR,
	};
	struct ibv_sge sge, bad_key;
	struct ibv_wc wc;
	struct vqp a, b;
	size_t i;

	CHECK(open_pair(&a, &b, LARGE, order, FALCON_QP_COMPLETE_IN_ERROR));
	fill(&a);
	sge = sge_of(&a, 0, LARGE);
	bad_key = sge;
	bad_key.lkey++;
	for (i = 0; i < ARRAY_SIZE(want); i++) {
		memset(b.buf, 0, LARGE);
		if (!i)
			CHECK(!post(&a, IBV_WR_RDMA_WRITE, 1, &bad_key, 1, &b,
				    0, b.mr->rkey));
		else
			CHECK(!post(&a, i == 1 ? IBV_WR_RDMA_WRITE :
						 IBV_WR_RDMA_READ, 1, &sge, 1,
				    &b, 0, b.mr->rkey + 1));
		CHECK(completes(&a, &wc, want[i]) && wc.wr_id == 1);
		CHECK(!post(&a, IBV_WR_RDMA_WRITE, 2, &sge, 1, &b, 0,
			    b.mr->rkey));
		CHECK(completes(&a, &wc, IBV_WC_SUCCESS) && wc.wr_id == 2);
		CHECK(!memcmp(a.buf, b.buf, LARGE));
	}
	close_pair(&a, &b);
	return true;
}

static bool complete_in_error_goes_on_strong(void)
{
	return complete_in_error_goes_on(FALCON_QP_STRONG);
}

static bool complete_in_error_goes_on_weak(void)
{
	return complete_in_error_goes_on(FALCON_QP_WEAK);
}

static bool complete_in_error_goes_on_unordered(void)
{
	return complete_in_error_goes_on(FALCON_QP_UNORDERED);
}

/* 8.2 CE: who has a part of a message is told that no more will come. */
static bool message_that_fails_half_way_ends_at_both_ends(void)
{
	struct ibv_sge sge[2];
	struct ibv_wc wc;
	struct vqp a, b;

	CHECK(open_pair(&a, &b, LARGE, FALCON_QP_STRONG,
			FALCON_QP_COMPLETE_IN_ERROR));
	CHECK(!post_recv(&b, 1, 0, LARGE) && !post_recv(&b, 2, 0, LARGE));
	sge[0] = sge_of(&a, 0, LARGE / 2);
	sge[1] = sge_of(&a, LARGE / 2, LARGE / 2);
	sge[1].lkey++;
	CHECK(!post(&a, IBV_WR_SEND, 1, sge, 2, NULL, 0, 0));
	sge[1].lkey--;
	CHECK(!post(&a, IBV_WR_SEND, 2, sge, 2, NULL, 0, 0));
	CHECK(completes(&a, &wc, IBV_WC_LOC_PROT_ERR) && wc.wr_id == 1);
	CHECK(completes(&b, &wc, IBV_WC_REM_ABORT_ERR) && wc.wr_id == 1);
	CHECK(completes(&a, &wc, IBV_WC_SUCCESS) && wc.wr_id == 2);
	CHECK(completes(&b, &wc, IBV_WC_SUCCESS) && wc.wr_id == 2);
	CHECK(wc.byte_len == LARGE);
	close_pair(&a, &b);
	return true;
}

/* 6.3: a message for which the receive request has no room ends alone. */
static bool message_too_long_ends_alone(enum falcon_qp_order order)
{
	struct ibv_sge sge;
	struct ibv_wc wc;
	struct vqp a, b;

	CHECK(open_pair(&a, &b, LARGE, order, FALCON_QP_COMPLETE_IN_ERROR));
	fill(&a);
	sge = sge_of(&a, 0, LARGE);
	CHECK(!post_recv(&b, 1, 0, LARGE / 2) && !post_recv(&b, 2, 0, LARGE));
	CHECK(!post(&a, IBV_WR_SEND, 1, &sge, 1, NULL, 0, 0));
	CHECK(completes(&a, &wc, IBV_WC_REM_INV_REQ_ERR) && wc.wr_id == 1);
	CHECK(completes(&b, &wc, IBV_WC_LOC_LEN_ERR) && wc.wr_id == 1);
	CHECK(!post(&a, IBV_WR_SEND, 2, &sge, 1, NULL, 0, 0));
	CHECK(completes(&a, &wc, IBV_WC_SUCCESS) && wc.wr_id == 2);
	CHECK(completes(&b, &wc, IBV_WC_SUCCESS) && wc.wr_id == 2);
	CHECK(!memcmp(a.buf, b.buf, LARGE));
	close_pair(&a, &b);
	return true;
}

static bool message_too_long_ends_alone_strong(void)
{
	return message_too_long_ends_alone(FALCON_QP_STRONG);
}

static bool message_too_long_ends_alone_weak(void)
{
	return message_too_long_ends_alone(FALCON_QP_WEAK);
}

/* Without it the same ends the queue pair. */
static bool verbs_errors_flush_what_follows(void)
{
	struct ibv_sge sge[2];
	struct ibv_wc wc;
	struct vqp a, b;

	CHECK(open_pair(&a, &b, LARGE, FALCON_QP_STRONG,
			FALCON_QP_VERBS_ERRORS));
	CHECK(!post_recv(&b, 1, 0, LARGE));
	sge[0] = sge_of(&a, 0, LARGE / 2);
	sge[1] = sge_of(&a, LARGE / 2, LARGE / 2);
	sge[1].lkey++;
	CHECK(!post(&a, IBV_WR_SEND, 1, sge, 2, NULL, 0, 0));
	CHECK(!post(&a, IBV_WR_SEND, 2, sge, 1, NULL, 0, 0));
	CHECK(completes(&a, &wc, IBV_WC_LOC_PROT_ERR) && wc.wr_id == 1);
	CHECK(completes(&a, &wc, IBV_WC_WR_FLUSH_ERR) && wc.wr_id == 2);
	close_pair(&a, &b);
	return true;
}

/*
 * 6.3: of a write the first packet is refused, the others are not, and the last
 * one has immediate data: who waits for that is told.
 */
static bool write_that_is_refused_in_part_is_in_error(enum falcon_qp_order order)
{
	struct ibv_send_wr *bad, wr = {
		.wr_id = 1, .opcode = IBV_WR_RDMA_WRITE_WITH_IMM, .num_sge = 1,
		.send_flags = IBV_SEND_SIGNALED,
	};
	struct ibv_sge sge;
	struct ibv_wc wc;
	struct vqp a, b;
	int i;

	CHECK(open_pair(&a, &b, LARGE, order, FALCON_QP_COMPLETE_IN_ERROR));
	fill(&a);
	sge = sge_of(&a, 0, LARGE);
	wr.sg_list = &sge;
	wr.wr.rdma.rkey = b.mr->rkey;
	for (i = 0; i < 4; i++) {
		/* In turn from a page before the region, and from its start */
		wr.wr.rdma.remote_addr = (uintptr_t)b.buf - (i % 2 ? 0 : 4096);
		CHECK(!post_recv(&b, 7, 0, 0));
		CHECK(!ibv_post_send(a.qp, &wr, &bad));
		CHECK(completes(&a, &wc, i % 2 ? IBV_WC_SUCCESS :
						 IBV_WC_REM_ACCESS_ERR));
		CHECK(completes(&b, &wc, i % 2 ? IBV_WC_SUCCESS :
						 IBV_WC_LOC_ACCESS_ERR));
		CHECK(wc.wr_id == 7);
	}
	CHECK(!memcmp(a.buf, b.buf, LARGE));
	close_pair(&a, &b);
	return true;
}

static bool write_that_is_refused_in_part_is_in_error_strong(void)
{
	return write_that_is_refused_in_part_is_in_error(FALCON_QP_STRONG);
}

static bool write_that_is_refused_in_part_is_in_error_weak(void)
{
	return write_that_is_refused_in_part_is_in_error(FALCON_QP_WEAK);
}

static bool arrives(const char *byte, char value)
{
	time_t end = time(NULL) + 30;

	while (__atomic_load_n(byte, __ATOMIC_ACQUIRE) != value &&
	       time(NULL) < end)
		;
	return *byte == value;
}

/*
 * What may overtake does, though the message before it waits for a receive
 * request: also what is posted while that is all that is open.
 */
static bool later_writes_pass_a_send_that_waits(enum falcon_qp_order order)
{
	struct ibv_sge none, sge;
	struct ibv_wc wc;
	struct vqp a, b;
	int i;

	CHECK(open_pair(&a, &b, MSGS, order, FALCON_QP_COMPLETE_IN_ERROR));
	memset(a.buf, 1, MSGS);
	none = sge_of(&a, 0, 0);
	CHECK(!post(&a, IBV_WR_SEND, 0, &none, 1, NULL, 0, 0));
	for (i = 1; i < MSGS / 2; i++) {
		sge = sge_of(&a, i, 1);
		CHECK(!post(&a, IBV_WR_RDMA_WRITE, i, &sge, 1, &b, i,
			    b.mr->rkey));
		if (i > 10)
			CHECK(arrives(b.buf + i, 1));
	}
	CHECK(!post_recv(&b, 7, 0, 0));
	CHECK(completes(&b, &wc, IBV_WC_SUCCESS));
	for (i = 0; i < MSGS / 2; i++)
		CHECK(completes(&a, &wc, IBV_WC_SUCCESS));
	close_pair(&a, &b);
	return true;
}

static bool later_writes_pass_a_send_that_waits_weak(void)
{
	return later_writes_pass_a_send_that_waits(FALCON_QP_WEAK);
}

static bool later_writes_pass_a_send_that_waits_unordered(void)
{
	return later_writes_pass_a_send_that_waits(FALCON_QP_UNORDERED);
}

/* Connects two of 8 bytes, and sends these. */
static bool connected_send(struct vqp *a, struct vqp *b)
{
	struct ibv_sge sge = sge_of(a, 0, 8);
	struct ibv_wc wc;

	CHECK(vqp_connect(a, b));
	CHECK(!post_recv(b, 1, 0, 8));
	CHECK(!post(a, IBV_WR_SEND, 2, &sge, 1, NULL, 0, 0));
	CHECK(completes(a, &wc, IBV_WC_SUCCESS));
	CHECK(completes(b, &wc, IBV_WC_SUCCESS));
	return true;
}

static bool policy_of_a_queue_pair_is_its_own(void)
{
	struct vqp a, b;

	CHECK(!vqp_open_secure(&a, 8, FALCON_SECURITY_PSK + 1) &&
	      errno == EINVAL);
	CHECK(vqp_open_secure(&a, 8, FALCON_SECURITY_OPPORTUNISTIC));
	CHECK(vqp_open_secure(&b, 8, FALCON_SECURITY_OPPORTUNISTIC));
	CHECK(connected_send(&a, &b));
	CHECK(!system("falcon -N $A conn | grep -q ' opportunistic$'"));
	close_pair(&a, &b);
	return true;
}

/* The namespace has Swift; each end has its own. */
static bool congestion_control_of_a_queue_pair_is_its_own(void)
{
	struct vqp a, b;

	CHECK(!vqp_open_fae(&a, IBV_QPT_RC, "no such") && errno == ENOENT);
	CHECK(!vqp_open_fae(&a, IBV_QPT_RC, "sixteen_bytes_of") &&
	      errno == EINVAL);
	CHECK(!vqp_open_fae(&a, IBV_QPT_UD, "aimd") && errno == EOPNOTSUPP);
	CHECK(vqp_open_fae(&a, IBV_QPT_RC, "aimd"));
	CHECK(vqp_open_fae(&b, IBV_QPT_RC, "fixed"));
	CHECK(connected_send(&a, &b));
	CHECK(!system("falcon -N $A -j conn | grep -q '\"fae\": *\"aimd\"'"));
	CHECK(!system("falcon -N $A -j conn | grep -q '\"fae\": *\"fixed\"'"));
	close_pair(&a, &b);
	return true;
}

/*
 * On a wire that loses a packet in ten: what comes after it comes before it. A
 * packet is one, not a train of them.
 */
static bool on_a_lossy_wire(bool (*run)(void))
{
	bool ok;

	if (system("ip netns exec $A sysctl -q net.falcon.train_pkts=1") ||
	    system("tc -n $A qdisc add dev lo root netem loss 10%"))
		return false;
	ok = run();
	return !system("tc -n $A qdisc del dev lo root") && ok;
}

/* A write through a key, and behind it the message that ends the key */
static bool write_and_invalidate(struct vqp *a, struct vqp *b, uint32_t rkey)
{
	struct ibv_send_wr *bad, inv = {
		.wr_id = 2, .opcode = IBV_WR_SEND_WITH_INV,
		.send_flags = IBV_SEND_SIGNALED, .invalidate_rkey = rkey,
	};
	struct ibv_sge sge = sge_of(a, 0, LARGE);
	struct ibv_wc wc;

	memset(b->buf, 0, LARGE);
	CHECK(!post_recv(b, 3, 0, 0));
	CHECK(!post(a, IBV_WR_RDMA_WRITE, 1, &sge, 1, b, 0, rkey));
	CHECK(!ibv_post_send(a->qp, &inv, &bad));
	CHECK(completes(a, &wc, IBV_WC_SUCCESS) && wc.wr_id == 1);
	CHECK(completes(a, &wc, IBV_WC_SUCCESS) && wc.wr_id == 2);
	CHECK(completes(b, &wc, IBV_WC_SUCCESS) && wc.wr_id == 3);
	CHECK(wc.wc_flags & IBV_WC_WITH_INV && wc.invalidated_rkey == rkey);
	CHECK(!memcmp(a->buf, b->buf, LARGE));
	return true;
}

static bool invalidates_often(void)
{
	struct ibv_mw *mw = ibv_alloc_mw(vpd, IBV_MW_TYPE_2);
	struct vqp a, b;
	uint32_t rkey;
	int i;

	CHECK(mw && open_pair(&a, &b, LARGE, FALCON_QP_WEAK,
			      FALCON_QP_VERBS_ERRORS));
	CHECK(!ibv_rereg_mr(b.mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
			    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND));
	fill(&a);
	for (i = 0; i < 20; i++) {
		rkey = vqp_bind(&b, mw);
		CHECK(rkey && write_and_invalidate(&a, &b, rkey));
		mw->rkey = rkey;
	}
	CHECK(!ibv_dealloc_mw(mw));
	close_pair(&a, &b);
	return true;
}

static bool weak_order_invalidates_in_turn(void)
{
	return on_a_lossy_wire(invalidates_often);
}

#define MANY	100	/* messages: more than a target follows out of order */

/* Receive requests are there for all, and no send may have to wait for one. */
static bool sends_many(void)
{
	struct ibv_send_wr *bad, wr[MANY] = {};
	struct ibv_wc wc;
	struct vqp a, b;
	int i;

	CHECK(vqp_open_mode(&a, IBV_QPT_RC, 8, FALCON_QP_WEAK,
			    FALCON_QP_VERBS_ERRORS));
	CHECK(vqp_open_mode(&b, IBV_QPT_RC, 8, FALCON_QP_WEAK,
			    FALCON_QP_VERBS_ERRORS));
	CHECK(!vqp_to_init(a.qp) && !vqp_to_init(b.qp));
	CHECK(!vqp_to_rtr(a.qp, b.qp->qp_num));
	CHECK(!vqp_to_rtr(b.qp, a.qp->qp_num));
	CHECK(!vqp_to_rts_rnr(a.qp, 0) && !vqp_to_rts(b.qp));
	for (i = 0; i < MANY; i++) {
		CHECK(!post_recv(&b, i, 0, 0));
		wr[i].wr_id = i;
		wr[i].opcode = IBV_WR_SEND;
		wr[i].send_flags = IBV_SEND_SIGNALED;
		wr[i].next = i + 1 < MANY ? &wr[i + 1] : NULL;
	}
	CHECK(!ibv_post_send(a.qp, wr, &bad));
	for (i = 0; i < MANY; i++) {
		CHECK(completes(&a, &wc, IBV_WC_SUCCESS));
		CHECK(wc.wr_id == (unsigned int)i);
		CHECK(completes(&b, &wc, IBV_WC_SUCCESS));
		CHECK(wc.wr_id == (unsigned int)i);
	}
	close_pair(&a, &b);
	return true;
}

/* All of them at once, so that what follows a lost one comes before it. */
static bool weak_order_takes_no_loss_for_a_missing_request(void)
{
	bool ok = !system("sysctl -q net.falcon.swift.init_fcwnd=128");
	int i;

	vqp_depth = MANY;
	for (i = 0; i < 5 && ok; i++)
		ok = on_a_lossy_wire(sends_many);
	vqp_depth = VQP_DEPTH;
	return !system("sysctl -q net.falcon.swift.init_fcwnd=32") && ok;
}

int modes_main(void)
{
#define T(name)	{ #name, name }
	static const struct vtest tests[] = {
		T(strong_order_completes_in_order),
		T(weak_order_completes_in_order),
		T(weak_order_tells_of_writes_before),
		T(weak_order_reads_and_writes),
		T(weak_order_invalidates_in_turn),
		T(weak_order_takes_no_loss_for_a_missing_request),
		T(unordered_messages_all_arrive),
		T(unordered_send_of_two_packets_is_refused),
		T(unordered_write_of_one_packet_brings_immediate_data),
		T(complete_in_error_goes_on_strong),
		T(complete_in_error_goes_on_weak),
		T(complete_in_error_goes_on_unordered),
		T(message_that_fails_half_way_ends_at_both_ends),
		T(message_too_long_ends_alone_strong),
		T(message_too_long_ends_alone_weak),
		T(write_that_is_refused_in_part_is_in_error_strong),
		T(write_that_is_refused_in_part_is_in_error_weak),
		T(later_writes_pass_a_send_that_waits_weak),
		T(later_writes_pass_a_send_that_waits_unordered),
		T(verbs_errors_flush_what_follows),
		T(policy_of_a_queue_pair_is_its_own),
		T(congestion_control_of_a_queue_pair_is_its_own),
	};

	return vtests_run(tests, ARRAY_SIZE(tests));
}
