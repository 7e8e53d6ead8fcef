// SPDX-License-Identifier: GPL-2.0
/*
 * Responder: the peer's transactions, carried out in memory and in receive
 * queues, and answered: acknowledged, "not ready" when there is no receive
 * request (Falcon's RNR, by the queue pair's timer), completed in error, or with
 * the data of a read or atomic.
 *
 * Strong ordering (6.2) takes packets in the order of their Sequence Number
 * alone. With weak ordering data goes where RETH, or RMSN and offset, say, in
 * whatever order it comes, and messages complete in order once nothing before
 * them is missing. Unordered messages are a packet each.
 *
 * An error ends the queue pair, or in complete-in-error mode only its message
 * (6.3). All of it runs in the connection's call-backs, one at a time, under
 * fal_qp_eng::rx_lock.
 */
#include <linux/bitmap.h>
#include "falcon_ib.h"

/**
 * struct fal_resp - pull data, at the head of its packet
 * @resp:	falcon.ko's
 * @skb:	the packet that it is in
 * @rx:		the pull, while it waits for room
 */
struct fal_resp {
	struct falcon_resp resp;
	struct sk_buff *skb;
	struct falcon_rxpkt *rx;
};

/*
 * Pulls taken whose data waits for room, of a queue pair; as many as an honest
 * peer has open. Others stay with falcon.ko, which holds its peer back.
 */
#define FAL_RESP_WAIT	256

#define FAL_RESP_ROOM	ALIGN(sizeof(struct fal_resp), 8)

/* What is being answered */
struct fal_in {
	struct fal_qp *qp;
	struct falcon_conn *conn;
	struct falcon_rxpkt *rx;
	struct sk_buff *skb;
	struct ib_pd *pd;
	struct fal_hdr h;
	u32 flags;		/* of its opcode */
	u32 hdr;		/* bytes of headers */
	u32 len;		/* bytes of payload */
};

/* How a packet went */
enum fal_verdict {
	FAL_V_TAKEN,		/* acknowledge it, or it is answered */
	FAL_V_RNR,		/* no receive request, or no memory */
	FAL_V_INVALID,
	FAL_V_ACCESS,
	FAL_V_OPERATION,
};

static bool fal_ordered(const struct fal_qp *qp)
{
	return qp->order == FALCON_QP_STRONG;
}

static bool fal_cie(const struct fal_qp *qp)
{
	return qp->errors == FALCON_QP_COMPLETE_IN_ERROR;
}

/*
 * Answers
 */

static void fal_answer_rnr(struct fal_in *in)
{
	struct fal_qp *qp = in->qp;

	fal_count(qp->dev, FAL_STAT_RX_RNR);
	qp->eng.rnr = true;
	falcon_target_rnr(in->conn, in->rx, qp->attr.min_rnr_timer);
}

/* False: it must wait, for room. */
static bool fal_respond_now(struct falcon_conn *conn, struct fal_resp *r)
{
	struct falcon_rxpkt *rx = r->rx;
	int err = falcon_target_respond(conn, rx, &r->resp, r->skb);

	if (err == -ENOBUFS || err == -EAGAIN)
		return false;
	if (err)
		kfree_skb(r->skb);
	consume_skb(falcon_rx_skb(rx));
	return true;
}

static bool fal_resps_full(const struct fal_qp *qp)
{
	return skb_queue_len(&qp->eng.resps) >= FAL_RESP_WAIT;
}

/* A response, or it waits behind those that do. */
static void fal_respond(struct fal_qp *qp, struct falcon_conn *conn,
			struct fal_resp *r)
{
	if (skb_queue_empty(&qp->eng.resps) && fal_respond_now(conn, r))
		return;
	/* 8.2.1.2: a pull that is taken holds no network resources. */
	falcon_target_ack(conn, r->rx);
	__skb_queue_tail(&qp->eng.resps, r->skb);
}

static struct fal_resp *fal_resp_init(struct fal_in *in, struct sk_buff *skb)
{
	struct fal_resp *r = (struct fal_resp *)skb->head;

	memset(r, 0, sizeof(*r));
	r->skb = skb;
	r->rx = in->rx;
	return r;
}

/* The sink tag goes back as it came (8.3.4). */
static void fal_resp_hdr(const struct fal_in *in, u8 op, struct fal_hdr *h)
{
	*h = (struct fal_hdr) {
		.op = (in->h.op & FAL_SVC_MASK) | op,
		.dqpn = in->qp->attr.dest_qp_num,
		.sn = in->h.sn,
		.sink_va = in->h.sink_va,
		.sink_lkey = in->h.sink_lkey,
	};
}

/* 8.2 CE: a pull ends in error. False: not now. */
static bool fal_respond_error(struct fal_in *in, u8 code)
{
	__be32 why = cpu_to_be32(code);
	struct sk_buff *skb;
	struct fal_hdr h;
	unsigned int n;

	fal_resp_hdr(in, FAL_OP_READ_RESP_ONLY, &h);
	h.ce = true;
	n = fal_hdr_len(h.op);
	if (fal_resps_full(in->qp))
		return false;
	skb = fal_skb_alloc(FAL_RESP_ROOM, n, sizeof(why));
	if (!skb)
		return false;
	fal_hdr_build(&h, skb->data);
	memcpy(skb->data + n, &why, sizeof(why));
	fal_respond(in->qp, in->conn, fal_resp_init(in, skb));
	return true;
}

/* A NACK tells the initiator of a push; of a pull, the response (section 11). */
static bool fal_may_respond(const struct fal_in *in)
{
	return in->rx->type == FALCON_PKT_PULL_REQ && in->hdr &&
	       in->rx->req_len >= fal_hdr_len(FAL_OP_READ_RESP_ONLY) +
				  sizeof(__be32);
}

/* False: not now, for want of memory. */
static bool fal_answer_error(struct fal_in *in, u8 code)
{
	if (fal_may_respond(in))
		return fal_respond_error(in, code);
	falcon_target_nack(in->conn, in->rx, FALCON_NACK_CIE, code);
	return true;
}

/* The queue pair ends: now or never */
static void fal_answer_last(struct fal_in *in, u8 code)
{
	if (!fal_answer_error(in, code))
		falcon_target_nack(in->conn, in->rx, FALCON_NACK_CIE, code);
}

/*
 * Messages that fill a receive request
 */

static struct fal_slot *fal_slot(const struct fal_qp *qp, u32 rmsn)
{
	return &qp->eng.slots[rmsn % qp->eng.nr_slots];
}

static struct fal_cq *fal_recv_cq(const struct fal_qp *qp,
				  const struct fal_slot *s)
{
	return to_fal_cq(s->srq ? s->srq->ibsrq.ext.cq : qp->ibqp.recv_cq);
}

/* One completion, and the slot is free. */
static void fal_slot_complete(struct fal_qp *qp, struct fal_slot *s)
{
	struct ib_wc wc = {
		.wr_id = s->rwqe.wr_id,
		.status = s->status,
		.opcode = s->write ? IB_WC_RECV_RDMA_WITH_IMM : IB_WC_RECV,
		.byte_len = s->bytes,
		.qp = &qp->ibqp,
		.src_qp = qp->attr.dest_qp_num,
	};

	if (s->flags & FAL_H_IMM) {
		wc.wc_flags = IB_WC_WITH_IMM;
		wc.ex.imm_data = s->imm;
	} else if (s->flags & FAL_H_IETH) {
		wc.wc_flags = IB_WC_WITH_INVALIDATE;
		wc.ex.invalidate_rkey = s->inv_rkey;
	}
	fal_cq_add(fal_recv_cq(qp, s), &wc, s->se || s->status);
	if (s->srq)
		fal_srq_put(s->srq);
	s->taken = false;
	s->srq = NULL;
}

/* False if there is no receive request. */
static bool fal_slot_take(struct fal_in *in, struct fal_slot *s)
{
	struct fal_srq *srq = NULL;

	if (in->flags & FAL_H_XRCETH) {
		srq = fal_srq_get(in->qp->dev, in->h.srqn, in->qp->ibqp.xrcd);
		if (!srq)
			return false;
	}
	if (fal_rq_take(in->qp, srq, &s->rwqe)) {
		if (srq)
			fal_srq_put(srq);
		return false;
	}
	s->srq = srq;
	s->taken = true;
	s->write = false;
	s->last = false;
	s->bytes = 0;
	s->flags = 0;
	s->status = s->rwqe.bad ? IB_WC_LOC_QP_OP_ERR : IB_WC_SUCCESS;
	return true;
}

static struct ib_pd *fal_slot_pd(const struct fal_qp *qp,
				 const struct fal_slot *s)
{
	if (s->srq)
		return s->srq->ibsrq.pd;
	return qp->srq ? qp->srq->ibsrq.pd : qp->ibqp.pd;
}

/* What the peer is told of an error in the receive request. */
static enum fal_verdict fal_slot_verdict(const struct fal_slot *s)
{
	switch (s->status) {
	case IB_WC_SUCCESS:
		return FAL_V_TAKEN;
	case IB_WC_LOC_LEN_ERR:
		return FAL_V_INVALID;
	default:
		return FAL_V_OPERATION;
	}
}

static enum fal_verdict fal_slot_place(struct fal_in *in, struct fal_slot *s)
{
	enum fal_verdict v;

	/* An error was told already; what follows goes nowhere. */
	if (s->status && !s->rwqe.bad)
		return FAL_V_TAKEN;
	if (!s->status && in->len)
		s->status = fal_sges_from_skb(in->qp, fal_slot_pd(in->qp, s),
					      s->rwqe.sge, s->rwqe.num_sge,
					      in->h.offset, in->len, in->skb,
					      in->hdr);
	s->rwqe.bad = false;
	v = fal_slot_verdict(s);
	s->bytes += in->len;
	return v;
}

/* The last packet of a message says how it completes. */
static void fal_slot_last(struct fal_in *in, struct fal_slot *s)
{
	s->last = true;
	s->last_sn = in->h.sn;
	s->se = in->h.se;
	s->imm = in->h.imm;
	s->inv_rkey = in->h.inv_rkey;
	s->flags = in->flags & (FAL_H_IMM | FAL_H_IETH);
	s->total = in->h.offset + in->len;
	if (in->h.ce && !s->status)
		s->status = IB_WC_REM_ABORT_ERR;
}

static enum fal_verdict fal_slot_invalidate(struct fal_qp *qp,
					    struct fal_slot *s)
{
	if (s->status || !(s->flags & FAL_H_IETH))
		return FAL_V_TAKEN;
	if (!fal_mr_invalidate(qp, fal_slot_pd(qp, s), s->inv_rkey, true))
		return FAL_V_TAKEN;
	s->status = IB_WC_LOC_PROT_ERR;
	return FAL_V_ACCESS;
}

/*
 * SEND and WRITE
 */

static enum fal_verdict fal_write_place(struct fal_in *in)
{
	enum ib_wc_status status;

	if (!(in->qp->attr.qp_access_flags & IB_ACCESS_REMOTE_WRITE))
		return FAL_V_ACCESS;
	if (!in->len)
		return FAL_V_TAKEN;
	status = fal_mem_from_skb(in->qp, in->pd, in->h.rkey, in->h.va,
				  in->len, IB_ACCESS_REMOTE_WRITE, in->skb,
				  in->hdr);
	return status ? FAL_V_ACCESS : FAL_V_TAKEN;
}

static enum fal_verdict fal_strong_send(struct fal_in *in)
{
	struct fal_qp_eng *eng = &in->qp->eng;
	struct fal_slot *s = &eng->slots[0];
	enum fal_verdict v, v2;

	if (in->h.rmsn != eng->rx_rmsn)
		return FAL_V_INVALID;
	if (in->flags & FAL_OPF_FIRST && !fal_slot_take(in, s))
		return FAL_V_RNR;
	/* Its first packet was refused. */
	if (!s->taken)
		return FAL_V_INVALID;
	if (!s->status && in->h.offset != s->bytes)
		s->status = IB_WC_LOC_LEN_ERR;
	v = fal_slot_place(in, s);
	if (!(in->flags & FAL_OPF_LAST))
		return v;
	fal_slot_last(in, s);
	v2 = fal_slot_invalidate(in->qp, s);
	fal_slot_complete(in->qp, s);
	return v ? v : v2;
}

/* With immediate data the last packet takes a receive request. */
static enum fal_verdict fal_strong_write(struct fal_in *in)
{
	struct fal_qp_eng *eng = &in->qp->eng;
	struct fal_slot *s = &eng->slots[0];
	bool imm = in->flags & FAL_H_IMM;
	enum fal_verdict v;

	if (in->flags & FAL_OPF_FIRST) {
		eng->rx_bytes = 0;
		eng->rx_bad = false;
	}
	if (imm && in->h.rmsn != eng->rx_rmsn)
		return FAL_V_INVALID;
	if (imm && !fal_slot_take(in, s))
		return FAL_V_RNR;
	v = fal_write_place(in);
	eng->rx_bytes += in->len;
	eng->rx_bad |= v != FAL_V_TAKEN;
	if (!imm)
		return v;
	fal_slot_last(in, s);
	s->write = true;
	s->bytes = eng->rx_bytes;
	/* 6.3: the message is in error, whichever of its packets was. */
	if (eng->rx_bad && !s->status)
		s->status = IB_WC_LOC_ACCESS_ERR;
	fal_slot_complete(in->qp, s);
	return v;
}

/* A message's packets follow each other, nothing between them. */
static bool fal_strong_msg(struct fal_in *in)
{
	u8 kind = in->flags & FAL_OPF_SEND ? FAL_RX_SEND :
		  in->flags & FAL_OPF_WRITE ? FAL_RX_WRITE : FAL_RX_NONE;
	u8 msg = in->qp->eng.msg;

	if (in->flags & FAL_OPF_FIRST)
		return msg == FAL_RX_NONE;
	return msg == kind;
}

static void fal_strong_next(struct fal_in *in)
{
	struct fal_qp_eng *eng = &in->qp->eng;

	eng->rx_sn++;
	eng->rnr = false;
	if (!(in->flags & FAL_OPF_PUSH))
		return;
	eng->msg = in->flags & FAL_OPF_SEND ? FAL_RX_SEND : FAL_RX_WRITE;
	if (!(in->flags & FAL_OPF_LAST))
		return;
	eng->msg = FAL_RX_NONE;
	if (in->flags & FAL_H_SETH)
		eng->rx_rmsn++;
}

/*
 * Weak ordering
 */

/* A slot for each message up to this one; requests are taken in their order. */
static bool fal_weak_take(struct fal_in *in)
{
	struct fal_qp_eng *eng = &in->qp->eng;
	u32 ahead = in->h.rmsn - eng->rx_rmsn;

	if (ahead >= eng->nr_slots)
		return false;
	for (; (s32)(eng->rx_taken - in->h.rmsn) <= 0; eng->rx_taken++)
		if (!fal_slot_take(in, fal_slot(in->qp, eng->rx_taken)))
			return false;
	return true;
}

static bool fal_weak_over(const struct fal_qp *qp, const struct fal_slot *s)
{
	/* Of one in error not all was placed; it has come all the same. */
	return s->taken && s->last && (s->status || s->bytes == s->total) &&
	       (s32)(s->last_sn - qp->eng.rx_sn) < 0;
}

/*
 * What is over completes, and a key that it names ends with it: what was sent
 * before may use it until then. The first error of that.
 */
static enum fal_verdict fal_weak_complete(struct fal_qp *qp)
{
	enum fal_verdict v = FAL_V_TAKEN, v2;
	struct fal_qp_eng *eng = &qp->eng;
	struct fal_slot *s;

	while (fal_weak_over(qp, (s = fal_slot(qp, eng->rx_rmsn)))) {
		v2 = fal_slot_invalidate(qp, s);
		v = v ? v : v2;
		fal_slot_complete(qp, s);
		eng->rx_rmsn++;
	}
	return v;
}

static enum fal_verdict fal_weak_send(struct fal_in *in)
{
	struct fal_slot *s;
	enum fal_verdict v;

	if (!fal_weak_take(in))
		return FAL_V_RNR;
	s = fal_slot(in->qp, in->h.rmsn);
	v = fal_slot_place(in, s);
	if (in->flags & FAL_OPF_LAST)
		fal_slot_last(in, s);
	return v;
}

static enum fal_verdict fal_weak_write(struct fal_in *in)
{
	enum fal_verdict v;
	struct fal_slot *s;

	if (in->flags & FAL_H_IMM && !fal_weak_take(in))
		return FAL_V_RNR;
	v = fal_write_place(in);
	if (!(in->flags & FAL_H_IMM))
		return v;
	s = fal_slot(in->qp, in->h.rmsn);
	fal_slot_last(in, s);
	s->write = true;
	s->bytes = in->len;
	if (v)
		s->status = IB_WC_LOC_ACCESS_ERR;
	return v;
}

/* 8.2: Sequence Numbers tell what is missing. False: too far ahead. */
static bool fal_weak_sn(struct fal_in *in)
{
	u32 ahead = in->h.sn - in->qp->eng.rx_sn;

	return ahead < FAL_SN_WINDOW;
}

/*
 * 6.3: a WRITE is in error if any packet of it was refused. Those from its First
 * to its Last have consecutive Sequence Numbers; this is the next one.
 */
static void fal_weak_judge(struct fal_qp *qp, u32 bit)
{
	struct fal_qp_eng *eng = &qp->eng;
	struct fal_slot *s = fal_slot(qp, eng->rx_rmsn);

	if (__test_and_clear_bit(bit, eng->rx_first))
		eng->rx_bad = false;
	if (__test_and_clear_bit(bit, eng->rx_failed))
		eng->rx_bad = true;
	if (eng->rx_bad && s->taken && s->last && s->write && !s->status &&
	    s->last_sn == eng->rx_sn)
		s->status = IB_WC_LOC_ACCESS_ERR;
}

/* @v: how the packet went. The first error of what completes by it. */
static enum fal_verdict fal_weak_next(struct fal_in *in, enum fal_verdict v)
{
	u32 bit = in->h.sn % FAL_SN_WINDOW;
	struct fal_qp_eng *eng = &in->qp->eng;
	enum fal_verdict late = FAL_V_TAKEN, v2;

	__set_bit(bit, eng->rx_seen);
	__assign_bit(bit, eng->rx_first, in->flags & FAL_OPF_FIRST);
	__assign_bit(bit, eng->rx_failed, v != FAL_V_TAKEN);
	while (__test_and_clear_bit(eng->rx_sn % FAL_SN_WINDOW, eng->rx_seen)) {
		fal_weak_judge(in->qp, eng->rx_sn % FAL_SN_WINDOW);
		eng->rx_sn++;
		v2 = fal_weak_complete(in->qp);
		late = late ?: v2;
	}
	return late;
}

/*
 * Unordered
 */

static enum fal_verdict fal_loose_push(struct fal_in *in)
{
	struct fal_slot *s = &in->qp->eng.slots[0];
	bool write = in->flags & FAL_OPF_WRITE;
	enum fal_verdict v = FAL_V_TAKEN, v2;
	u32 only = FAL_OPF_FIRST | FAL_OPF_LAST;

	if (write && !(in->flags & FAL_H_IMM))
		return fal_write_place(in);
	/* 6.4: one MTU */
	if ((in->flags & only) != only)
		return FAL_V_INVALID;
	if (!fal_slot_take(in, s))
		return FAL_V_RNR;
	if (write) {
		v = fal_write_place(in);
		s->write = true;
		s->bytes = in->len;
		if (v)
			s->status = IB_WC_LOC_ACCESS_ERR;
	} else {
		v = fal_slot_place(in, s);
	}
	fal_slot_last(in, s);
	v2 = fal_slot_invalidate(in->qp, s);
	fal_slot_complete(in->qp, s);
	return v ? v : v2;
}

static enum fal_verdict fal_push_in(struct fal_in *in)
{
	bool send = in->flags & FAL_OPF_SEND;
	enum fal_verdict v;

	fal_count(in->qp->dev, send ? FAL_STAT_RX_SEND : FAL_STAT_RX_WRITE);
	switch (in->qp->order) {
	case FALCON_QP_STRONG:
		v = send ? fal_strong_send(in) : fal_strong_write(in);
		break;
	case FALCON_QP_WEAK:
		v = send ? fal_weak_send(in) : fal_weak_write(in);
		break;
	default:
		v = fal_loose_push(in);
	}
	if (v != FAL_V_TAKEN)
		return v;
	falcon_target_ack_more(in->conn, in->rx);
	consume_skb(in->skb);
	return v;
}

/*
 * READ and atomics
 */

static enum fal_verdict fal_no_resp(enum ib_wc_status status)
{
	return status ? FAL_V_ACCESS : FAL_V_RNR;
}

static enum fal_verdict fal_read_in(struct fal_in *in)
{
	const struct falcon_sge sge = {
		.addr = in->h.va, .length = in->h.len, .lkey = in->h.rkey,
	};
	enum ib_wc_status status;
	struct sk_buff *skb;
	struct fal_hdr h;

	fal_count(in->qp->dev, FAL_STAT_RX_READ);
	if (!(in->qp->attr.qp_access_flags & IB_ACCESS_REMOTE_READ))
		return FAL_V_ACCESS;
	fal_resp_hdr(in, FAL_OP_READ_RESP_ONLY, &h);
	h.pad = -in->h.len & 3;
	if (fal_hdr_len(h.op) + (u64)in->h.len + h.pad > in->rx->req_len)
		return FAL_V_INVALID;
	/*
	 * A copy: it may come to be sent again when the key has ended, and the
	 * memory is somebody else's.
	 */
	skb = fal_seg_skb_copy(in->qp, in->pd, &sge, 1, 0, in->h.len,
			       IB_ACCESS_REMOTE_READ, FAL_RESP_ROOM, &h,
			       &status);
	if (!skb)
		return fal_no_resp(status);
	fal_respond(in->qp, in->conn, fal_resp_init(in, skb));
	return FAL_V_TAKEN;
}

static u64 fal_atomic_do(const struct fal_hdr *h, atomic64_t *v)
{
	if ((h->op & FAL_OP_MASK) == FAL_OP_FETCH_ADD)
		return atomic64_fetch_add(h->swap_add, v);
	return atomic64_cmpxchg(v, h->compare, h->swap_add);
}

/* On the memory itself, so that the host's own atomics and these agree. */
static enum ib_wc_status fal_atomic_mem(struct fal_in *in, u64 *orig)
{
	enum ib_wc_status status;
	unsigned int off, n;
	struct fal_seg seg;
	struct page *page;
	void *p;

	status = fal_mr_find(in->qp, in->pd, in->h.rkey, in->h.va, sizeof(u64),
			     IB_ACCESS_REMOTE_ATOMIC, &seg);
	if (status)
		return status;
	page = fal_seg_page(&seg, 0, &off, &n);
	if (n < sizeof(u64) || off % sizeof(u64)) {
		status = IB_WC_LOC_QP_OP_ERR;
	} else {
		p = kmap_local_page(page);
		*orig = fal_atomic_do(&in->h, p + off);
		kunmap_local(p);
	}
	fal_seg_put(&seg);
	return status;
}

static enum fal_verdict fal_atomic_in(struct fal_in *in)
{
	struct sk_buff *skb;
	struct fal_hdr h;
	unsigned int n;

	fal_count(in->qp->dev, FAL_STAT_RX_ATOMIC);
	if (!(in->qp->attr.qp_access_flags & IB_ACCESS_REMOTE_ATOMIC))
		return FAL_V_ACCESS;
	fal_resp_hdr(in, FAL_OP_ATOMIC_RESP, &h);
	n = fal_hdr_len(h.op);
	if (in->h.va % sizeof(u64) || in->rx->req_len < n)
		return FAL_V_INVALID;
	/* Whatever can fail comes before: it happens once. */
	skb = fal_skb_alloc(FAL_RESP_ROOM, n, 0);
	if (!skb)
		return FAL_V_RNR;
	if (fal_atomic_mem(in, &h.orig)) {
		kfree_skb(skb);
		return FAL_V_ACCESS;
	}
	fal_hdr_build(&h, skb->data);
	fal_respond(in->qp, in->conn, fal_resp_init(in, skb));
	return FAL_V_TAKEN;
}

/*
 * Any packet
 */

/* 8.1.3: the opcode fits the Falcon packet and the queue pair. */
static bool fal_op_fits(const struct fal_in *in)
{
	u8 svc = in->qp->ibqp.qp_type == IB_QPT_XRC_TGT ? FAL_SVC_XRC :
							 FAL_SVC_RC;
	u32 want = in->rx->type == FALCON_PKT_PULL_REQ ? FAL_OPF_PULL :
							 FAL_OPF_PUSH;

	return in->flags & want && (in->h.op & FAL_SVC_MASK) == svc;
}

static bool fal_in_parse(struct fal_in *in)
{
	int hdr = fal_hdr_of_skb(&in->h, in->skb);

	if (hdr < 0)
		return false;
	in->flags = fal_op_flags(in->h.op);
	in->hdr = hdr;
	in->len = in->skb->len - hdr - in->h.pad;
	return fal_op_fits(in);
}

/* XRC: memory belongs to the domain of the receive queue that is named. */
static bool fal_in_pd(struct fal_in *in)
{
	struct fal_srq *srq;

	in->pd = in->qp->ibqp.pd;
	if (!(in->flags & FAL_H_XRCETH))
		return true;
	srq = fal_srq_get(in->qp->dev, in->h.srqn, in->qp->ibqp.xrcd);
	if (!srq)
		return false;
	in->pd = srq->ibsrq.pd;
	fal_srq_put(srq);
	return true;
}

static enum fal_verdict fal_in_execute(struct fal_in *in)
{
	enum fal_verdict v;

	if (!fal_in_pd(in))
		return FAL_V_INVALID;
	if (!(in->flags & FAL_OPF_PUSH) && fal_resps_full(in->qp))
		return FAL_V_RNR;
	if (in->flags & FAL_OPF_PUSH)
		v = fal_push_in(in);
	else if (in->flags & FAL_H_RETH)
		v = fal_read_in(in);
	else
		v = fal_atomic_in(in);
	return v;
}

/* In strong mode what comes is the next or an error, but for RNRs before it. */
static enum fal_verdict fal_in_order(struct fal_in *in)
{
	struct fal_qp_eng *eng = &in->qp->eng;

	if (fal_ordered(in->qp)) {
		if (in->h.sn != eng->rx_sn) {
			if (eng->rnr)
				return FAL_V_RNR;
			fal_count(in->qp->dev, FAL_STAT_RX_BAD_SEQ);
			return FAL_V_INVALID;
		}
		return fal_strong_msg(in) ? FAL_V_TAKEN : FAL_V_INVALID;
	}
	if (in->qp->order == FALCON_QP_WEAK && !fal_weak_sn(in))
		return FAL_V_RNR;
	return FAL_V_TAKEN;
}

/* @v: how the packet went. What completes by it may yet be in error. */
static enum fal_verdict fal_in_next(struct fal_in *in, enum fal_verdict v)
{
	if (fal_ordered(in->qp))
		fal_strong_next(in);
	else if (in->qp->order == FALCON_QP_WEAK)
		return fal_weak_next(in, v);
	return FAL_V_TAKEN;
}

static u8 fal_verdict_nak(enum fal_verdict v)
{
	switch (v) {
	case FAL_V_INVALID:
		return FAL_NAK_INVALID;
	case FAL_V_ACCESS:
		return FAL_NAK_ACCESS;
	default:
		return FAL_NAK_OPERATION;
	}
}

/* An error ends the queue pair, which is so in verbs-compatible mode. */
static bool fal_in_ends(struct fal_qp *qp, enum fal_verdict v)
{
	if (fal_qp_set_error(qp))
		fal_qp_event(qp, v == FAL_V_ACCESS ? IB_EVENT_QP_ACCESS_ERR :
						     IB_EVENT_QP_REQ_ERR);
	return true;
}

/* Ends the message in error, and in verbs-compatible mode the queue pair. */
static bool fal_in_failed(struct fal_in *in, enum fal_verdict v)
{
	if (v == FAL_V_ACCESS)
		fal_count(in->qp->dev, FAL_STAT_RX_ACCESS);
	return !fal_cie(in->qp) && fal_in_ends(in->qp, v);
}

static bool fal_state_receives(const struct fal_qp *qp)
{
	switch (READ_ONCE(qp->state)) {
	case IB_QPS_RTR:
	case IB_QPS_RTS:
	case IB_QPS_SQD:
	case IB_QPS_SQE:
		return true;
	default:
		return false;
	}
}

/* True if the queue pair has come to its end by this. */
static bool fal_in_handle(struct fal_in *in)
{
	enum fal_verdict v, late;
	bool ordered;

	if (!fal_in_parse(in)) {
		fal_count(in->qp->dev, FAL_STAT_RX_BAD_HDR);
		falcon_target_nack(in->conn, in->rx, FALCON_NACK_NRE, 0);
		return false;
	}
	/* 6.9: the connection's own queue pair, no other */
	if (in->h.dqpn != in->qp->ibqp.qp_num) {
		fal_count(in->qp->dev, FAL_STAT_RX_BAD_CID);
		falcon_target_nack(in->conn, in->rx, FALCON_NACK_CID, 0);
		return false;
	}
	if (!fal_state_receives(in->qp)) {
		fal_answer_last(in, FAL_NAK_STATE);
		return false;
	}
	v = fal_in_order(in);
	ordered = v == FAL_V_TAKEN;
	if (ordered)
		v = fal_in_execute(in);
	/* Nor is it done if its initiator cannot be told. */
	if (ordered && v != FAL_V_TAKEN && v != FAL_V_RNR &&
	    !fal_answer_error(in, fal_verdict_nak(v)))
		v = FAL_V_RNR;
	if (v == FAL_V_RNR) {
		fal_answer_rnr(in);
		return false;
	}
	/* 6.3: no way leads back from a wrong sequence, in neither mode. */
	if (!ordered) {
		fal_answer_last(in, fal_verdict_nak(v));
		return fal_in_ends(in->qp, v);
	}
	late = fal_in_next(in, v);
	if (v != FAL_V_TAKEN)
		return fal_in_failed(in, v);
	return late && !fal_cie(in->qp) && fal_in_ends(in->qp, late);
}

/**
 * fal_resp_deliver() - a transaction of the peer
 * @conn:	connection of a queue pair
 * @rx:		push data or pull request
 * @skb:	its packet
 *
 * Context: call-back of the connection.
 */
void fal_resp_deliver(struct falcon_conn *conn, struct falcon_rxpkt *rx,
		      struct sk_buff *skb)
{
	struct fal_qp *qp = falcon_conn_priv(conn);
	struct fal_in in = {
		.qp = qp, .conn = conn, .rx = rx, .skb = skb,
	};
	bool failed;

	spin_lock_bh(&qp->eng.rx_lock);
	failed = fal_in_handle(&in);
	spin_unlock_bh(&qp->eng.rx_lock);
	if (!failed)
		return;
	fal_conn_fail(qp, true);
	fal_req_kick(qp);
}

/**
 * fal_resp_release() - pull data is acknowledged, or given up
 * @conn:	connection
 * @resp:	of fal_respond()
 *
 * Context: call-back of the connection.
 */
void fal_resp_release(struct falcon_conn *conn, struct falcon_resp *resp)
{
	kfree_skb(container_of(resp, struct fal_resp, resp)->skb);
}

/**
 * fal_resp_space() - there is room for pull data that waits
 * @qp:		queue pair
 * @conn:	its connection
 *
 * Context: call-back of the connection.
 */
void fal_resp_space(struct fal_qp *qp, struct falcon_conn *conn)
{
	struct sk_buff *skb;

	spin_lock_bh(&qp->eng.rx_lock);
	while ((skb = skb_peek(&qp->eng.resps))) {
		__skb_unlink(skb, &qp->eng.resps);
		if (fal_respond_now(conn, (struct fal_resp *)skb->head))
			continue;
		__skb_queue_head(&qp->eng.resps, skb);
		break;
	}
	spin_unlock_bh(&qp->eng.rx_lock);
}

static void fal_resp_purge(struct fal_qp *qp)
{
	struct sk_buff *skb;

	lockdep_assert_held(&qp->eng.rx_lock);
	while ((skb = __skb_dequeue(&qp->eng.resps))) {
		kfree_skb(falcon_rx_skb(((struct fal_resp *)skb->head)->rx));
		kfree_skb(skb);
	}
}

/* What a message half received holds. */
static void fal_slots_end(struct fal_qp *qp, bool tell)
{
	struct fal_qp_eng *eng = &qp->eng;
	u32 i, rmsn = fal_ordered(qp) ? 0 : eng->rx_rmsn;
	struct fal_slot *s;

	for (i = 0; i < eng->nr_slots; i++, rmsn++) {
		s = fal_slot(qp, rmsn);
		if (!s->taken)
			continue;
		if (!s->status)
			s->status = IB_WC_WR_FLUSH_ERR;
		if (tell) {
			fal_slot_complete(qp, s);
			continue;
		}
		if (s->srq)
			fal_srq_put(s->srq);
		s->srq = NULL;
		s->taken = false;
	}
}

/**
 * fal_resp_flush() - the queue pair is in error: flush its receive side
 * @qp:	queue pair; if it has been reset meanwhile, nothing happens
 *
 * Context: process or softirq.
 */
void fal_resp_flush(struct fal_qp *qp)
{
	spin_lock_bh(&qp->eng.rx_lock);
	if (READ_ONCE(qp->state) == IB_QPS_ERR) {
		fal_slots_end(qp, true);
		fal_rq_flush(qp);
	}
	spin_unlock_bh(&qp->eng.rx_lock);
}

static bool fal_holds_srq(struct fal_qp *qp, const struct fal_srq *srq)
{
	struct fal_qp_eng *eng = &qp->eng;
	bool holds = false;
	u32 i;

	spin_lock_bh(&eng->rx_lock);
	for (i = 0; i < eng->nr_slots; i++)
		holds |= eng->slots[i].taken && eng->slots[i].srq == srq;
	spin_unlock_bh(&eng->rx_lock);
	return holds;
}

/**
 * fal_eng_srq_gone() - a shared receive queue of XRC is destroyed
 * @srq:	cannot be found any more
 *
 * A message that it has a part of will not end there: its queue pair does.
 *
 * Context: process.
 */
void fal_eng_srq_gone(struct fal_srq *srq)
{
	struct fal_dev *dev = srq->dev;
	unsigned long qpn;
	struct fal_qp *qp;

	xa_for_each(&dev->qps, qpn, qp) {
		qp = fal_qp_get(dev, qpn);
		if (!qp)
			continue;
		if (fal_holds_srq(qp, srq)) {
			if (fal_qp_set_error(qp))
				fal_qp_event(qp, IB_EVENT_QP_FATAL);
			fal_conn_fail(qp, false);
			fal_req_kick(qp);
		}
		fal_qp_put(qp);
	}
}

/**
 * fal_resp_reset() - begin anew
 * @qp:	queue pair without a connection
 */
void fal_resp_reset(struct fal_qp *qp)
{
	struct fal_qp_eng *eng = &qp->eng;

	spin_lock_bh(&eng->rx_lock);
	fal_slots_end(qp, false);
	fal_resp_purge(qp);
	eng->rx_sn = FAL_FIRST_SN;
	eng->rx_rmsn = FAL_FIRST_RMSN;
	eng->rx_taken = FAL_FIRST_RMSN;
	eng->rx_bytes = 0;
	eng->rx_bad = false;
	eng->rnr = false;
	eng->msg = FAL_RX_NONE;
	bitmap_zero(eng->rx_seen, FAL_SN_WINDOW);
	spin_unlock_bh(&eng->rx_lock);
}
