// SPDX-License-Identifier: GPL-2.0
/*
 * Requester: send requests become push and pull transactions of at most one
 * MTU (6.7), their completions become one completion a request. Reads are cut
 * at scatter entries as well: a pull fills one piece of memory.
 *
 * Requests are submitted in order, under fal_qp_eng::lock; transactions
 * complete on an ordered connection in order, on others in any. Completions
 * are told in the order of posting, but for unordered queue pairs (6.2).
 *
 * An error ends the queue pair, or with complete-in-error mode only its
 * request (6.3): then a message of which the target has a part ends with an
 * empty last packet that says so (8.2 CE).
 *
 * Posting, connections that come up, and completions call in.
 */
#include "falcon_ib.h"

/* Transactions that a queue pair has open at most */
#define FAL_REQ_OPEN		256

/*
 * While so many requests are open, their completions will make the requester look
 * for more: then posting rings once for half as many, which leave as a train, and
 * at most for so many.
 */
#define FAL_BELL_OPEN		8
#define FAL_BELL_BATCH		32

/* So often requests that come meanwhile are seen to before others have a turn */
#define FAL_KICK_ROUNDS		8

/**
 * struct fal_txn - a transaction, at the head of its packet
 * @txn:	falcon.ko's
 * @skb:	the packet that it is in
 * @index:	of the send request
 * @len:	pull: bytes asked for
 * @sn:		Sequence Number
 * @sink_va:	pull: where they go
 * @sink_lkey:	pull: region of that
 * @op:		opcode
 */
struct fal_txn {
	struct falcon_txn txn;
	struct sk_buff *skb;
	u32 index;
	u32 len;
	u32 sn;
	u64 sink_va;
	u32 sink_lkey;
	u8  op;
};

#define FAL_TXN_ROOM	ALIGN(sizeof(struct fal_txn), 8)

/* What comes of an attempt to go on */
enum fal_go {
	FAL_GO_ON,	/* submitted something */
	FAL_GO_AGAIN,	/* submitted nothing, there is something else to do */
	FAL_GO_DONE,	/* all of the request is submitted */
	FAL_GO_WAIT,	/* for room, memory, or completions */
};

static u32 fal_sq_head(const struct fal_qp *qp)
{
	/* Pairs with the release in posting: the requests before it are there. */
	return smp_load_acquire(&qp->sq.head);
}

static bool fal_cie(const struct fal_qp *qp)
{
	return qp->errors == FALCON_QP_COMPLETE_IN_ERROR;
}

static bool fal_in_error(const struct fal_qp *qp)
{
	enum ib_qp_state state = READ_ONCE(qp->state);

	return state == IB_QPS_ERR || state == IB_QPS_SQE;
}

static u8 fal_service(const struct fal_qp *qp)
{
	return qp->ibqp.qp_type == IB_QPT_XRC_INI ? FAL_SVC_XRC : FAL_SVC_RC;
}

/*
 * 6.3. What the target has never taken leaves a hole in the Sequence Numbers:
 * that ends the queue pair in either mode.
 */
static bool fal_ends_qp(const struct fal_qp *qp, enum ib_wc_status status)
{
	return !fal_cie(qp) || status == IB_WC_RETRY_EXC_ERR ||
	       status == IB_WC_RNR_RETRY_EXC_ERR;
}

static void fal_wqe_fail(struct fal_qp *qp, struct fal_swqe *wqe,
			 enum ib_wc_status status, u32 vendor_err)
{
	if (wqe->eng.status == IB_WC_SUCCESS) {
		wqe->eng.status = status;
		wqe->eng.vendor_err = vendor_err;
	}
	if (fal_ends_qp(qp, status))
		qp->eng.halted = true;
}

/*
 * Segments: as large as the connection carries, whole pages if it carries
 * some.
 */
static u32 fal_seg_bytes(const struct falcon_conn *conn)
{
	u32 mtu = falcon_mtu((struct falcon_conn *)conn) - FAL_HDR_MAX;

	return mtu >= SZ_4K ? round_down(mtu, SZ_4K) : round_down(mtu, 64);
}

static struct fal_txn *fal_txn_init(struct sk_buff *skb,
				    const struct fal_hdr *h, u32 index)
{
	struct fal_txn *t = (struct fal_txn *)skb->head;

	memset(t, 0, sizeof(*t));
	t->skb = skb;
	t->index = index;
	t->sn = h->sn;
	t->op = h->op;
	return t;
}

static void fal_hdr_init(const struct fal_qp *qp, const struct fal_swqe *wqe,
			 u8 op, struct fal_hdr *h)
{
	*h = (struct fal_hdr) {
		.op = fal_service(qp) | op,
		.dqpn = qp->attr.dest_qp_num,
		.sn = qp->eng.tx_sn,
		.srqn = wqe->w.srqn,
	};
}

static bool fal_is_read(const struct fal_swqe *wqe)
{
	return wqe->w.opcode == IB_WR_RDMA_READ ||
	       wqe->w.opcode == IB_WR_ATOMIC_CMP_AND_SWP ||
	       wqe->w.opcode == IB_WR_ATOMIC_FETCH_AND_ADD;
}

/*
 * A request has failed here: nothing more of it is submitted, but for the packet
 * that tells a target which has a part of it.
 */
static enum fal_go fal_failed(struct fal_qp *qp, struct fal_swqe *wqe,
			      enum ib_wc_status status, u32 vendor_err)
{
	fal_wqe_fail(qp, wqe, status, vendor_err);
	if (qp->eng.off && fal_cie(qp) && !fal_is_read(wqe))
		return FAL_GO_AGAIN;
	return FAL_GO_DONE;
}

/* A transaction was given to falcon.ko, or @err says why not. */
static enum fal_go fal_submitted(struct fal_qp *qp, struct fal_swqe *wqe,
				 struct sk_buff *skb, int err)
{
	if (err) {
		kfree_skb(skb);
		if (err == -EMSGSIZE)
			return fal_failed(qp, wqe, IB_WC_LOC_LEN_ERR,
					  FALCON_CMPL_OP_ERR);
		return FAL_GO_WAIT;
	}
	qp->eng.tx_sn++;
	qp->eng.open++;
	wqe->eng.open++;
	return FAL_GO_ON;
}

/* No packet: an error of the request, or no memory now. */
static enum fal_go fal_no_skb(struct fal_qp *qp, struct fal_swqe *wqe,
			      enum ib_wc_status status)
{
	if (status)
		return fal_failed(qp, wqe, status, 0);
	mod_delayed_work(fal_eng_wq, &qp->eng.retry, 1);
	return FAL_GO_WAIT;
}

/*
 * Push: SEND and WRITE
 */

static u8 fal_send_op(u32 opcode, bool first, bool last)
{
	if (!last)
		return first ? FAL_OP_SEND_FIRST : FAL_OP_SEND_MIDDLE;
	switch (opcode) {
	case IB_WR_SEND_WITH_IMM:
		return first ? FAL_OP_SEND_ONLY_IMM : FAL_OP_SEND_LAST_IMM;
	case IB_WR_SEND_WITH_INV:
		return first ? FAL_OP_SEND_ONLY_INV : FAL_OP_SEND_LAST_INV;
	default:
		return first ? FAL_OP_SEND_ONLY : FAL_OP_SEND_LAST;
	}
}

static u8 fal_write_op(u32 opcode, bool first, bool last)
{
	if (!last)
		return first ? FAL_OP_WRITE_FIRST : FAL_OP_WRITE_MIDDLE;
	if (opcode == IB_WR_RDMA_WRITE_WITH_IMM)
		return first ? FAL_OP_WRITE_ONLY_IMM : FAL_OP_WRITE_LAST_IMM;
	return first ? FAL_OP_WRITE_ONLY : FAL_OP_WRITE_LAST;
}

static bool fal_is_write(const struct fal_swqe *wqe)
{
	return wqe->w.opcode == IB_WR_RDMA_WRITE ||
	       wqe->w.opcode == IB_WR_RDMA_WRITE_WITH_IMM;
}

/* 6.4: what takes a receive request of an unordered queue pair is one packet */
static bool fal_may_split(const struct fal_qp *qp, const struct fal_swqe *wqe)
{
	return qp->order != FALCON_QP_UNORDERED ||
	       wqe->w.opcode == IB_WR_RDMA_WRITE;
}

/* The headers of the segment of @len bytes at fal_qp_eng::off */
static void fal_push_hdr(struct fal_qp *qp, const struct fal_swqe *wqe,
			 u32 len, bool last, struct fal_hdr *h)
{
	const struct fal_qp_eng *eng = &qp->eng;
	u8 op = fal_is_write(wqe) ?
		fal_write_op(wqe->w.opcode, !eng->off, last) :
		fal_send_op(wqe->w.opcode, !eng->off, last);

	fal_hdr_init(qp, wqe, op, h);
	h->pad = -len & 3;
	h->se = last && wqe->w.flags & FALCON_SEND_SOLICITED;
	h->rmsn = eng->rmsn;
	h->imm = wqe->w.ex;
	if (fal_is_write(wqe)) {
		h->va = wqe->w.remote_addr + eng->off;
		h->rkey = wqe->w.rkey;
		h->len = len;
	} else {
		h->offset = eng->off;
		h->inv_rkey = (__force u32)wqe->w.ex;
	}
}

static struct sk_buff *fal_push_inline(const struct fal_swqe *wqe, u32 off,
				       u32 len, const struct fal_hdr *h)
{
	unsigned int hdr = fal_hdr_len(h->op);
	struct sk_buff *skb = fal_skb_alloc(FAL_TXN_ROOM, hdr, len + h->pad);

	if (!skb)
		return NULL;
	fal_hdr_build(h, skb->data);
	memcpy(skb->data + hdr, wqe->data + off, len);
	memset(skb->data + hdr + len, 0, h->pad);
	return skb;
}

static enum fal_go fal_push_skb(struct fal_qp *qp, struct fal_swqe *wqe,
				struct sk_buff *skb, const struct fal_hdr *h)
{
	struct fal_qp_eng *eng = &qp->eng;
	u32 flags = fal_op_flags(h->op);
	struct fal_txn *t = fal_txn_init(skb, h, wqe->index);
	enum fal_go go;

	go = fal_submitted(qp, wqe, skb,
			   falcon_push_more(eng->conn, &t->txn, skb));
	/* 8.3.2: after the last packet of what takes a receive request */
	if (go == FAL_GO_ON && flags & FAL_OPF_LAST && flags & FAL_H_SETH) {
		eng->rmsn++;
		wqe->eng.rmsn = true;
	}
	return go;
}

/* 8.2 CE: the target has a part of a message that went wrong here. */
static enum fal_go fal_push_ce(struct fal_qp *qp, struct fal_swqe *wqe)
{
	struct sk_buff *skb;
	struct fal_hdr h;
	enum fal_go go;

	fal_push_hdr(qp, wqe, 0, true, &h);
	h.ce = true;
	skb = fal_skb_alloc(FAL_TXN_ROOM, fal_hdr_len(h.op), 0);
	if (!skb)
		return fal_no_skb(qp, wqe, IB_WC_SUCCESS);
	fal_hdr_build(&h, skb->data);
	go = fal_push_skb(qp, wqe, skb, &h);
	return go == FAL_GO_ON ? FAL_GO_DONE : go;
}

static enum fal_go fal_push(struct fal_qp *qp, struct fal_swqe *wqe)
{
	struct fal_qp_eng *eng = &qp->eng;
	u32 len = min(wqe->length - eng->off, fal_seg_bytes(eng->conn));
	bool last = eng->off + len == wqe->length;
	enum ib_wc_status status = IB_WC_SUCCESS;
	struct sk_buff *skb;
	struct fal_hdr h;
	enum fal_go go;

	if (wqe->eng.status && eng->off && fal_cie(qp))
		return fal_push_ce(qp, wqe);
	if (wqe->eng.status)
		return FAL_GO_DONE;
	if (!last && !fal_may_split(qp, wqe)) {
		fal_wqe_fail(qp, wqe, IB_WC_LOC_LEN_ERR, 0);
		return FAL_GO_DONE;
	}
	fal_push_hdr(qp, wqe, len, last, &h);
	if (wqe->w.flags & FALCON_SEND_INLINE)
		skb = fal_push_inline(wqe, eng->off, len, &h);
	else
		skb = fal_seg_skb(qp, qp->ibqp.pd, wqe->sge, wqe->w.num_sge,
				  eng->off, len, 0, FAL_TXN_ROOM, &h, &status);
	if (!skb)
		return fal_no_skb(qp, wqe, status);
	go = fal_push_skb(qp, wqe, skb, &h);
	if (go != FAL_GO_ON)
		return go;
	eng->off += len;
	return last ? FAL_GO_DONE : FAL_GO_ON;
}

/*
 * Pull: READ and atomics
 */

/* Fills in where the response of a pull goes. */
static void fal_sink(const struct fal_swqe *wqe, u32 off, u32 len,
		     struct fal_hdr *h)
{
	const struct falcon_sge *sge = wqe->sge;
	u32 i;

	for (i = 0; i < wqe->w.num_sge && len; i++, sge++) {
		if (off < sge->length) {
			h->sink_va = sge->addr + off;
			h->sink_lkey = sge->lkey;
			return;
		}
		off -= sge->length;
	}
}

/* 6.7: a pull crosses no boundary of scatter entries. */
static u32 fal_pull_bytes(const struct fal_qp *qp, const struct fal_swqe *wqe)
{
	u32 max = min(wqe->length - qp->eng.off, fal_seg_bytes(qp->eng.conn));
	const struct falcon_sge *sge = wqe->sge;
	u32 off = qp->eng.off, i;

	for (i = 0; i < wqe->w.num_sge; i++, sge++) {
		if (off < sge->length)
			return min(max, sge->length - off);
		off -= sge->length;
	}
	return max;
}

/*
 * A response says why it is an error in four bytes: they must fit, however
 * little was asked for.
 */
static u16 fal_resp_bytes(const struct fal_hdr *h)
{
	if (fal_op_flags(h->op) & FAL_H_ATOMIC)
		return fal_hdr_len(FAL_OP_ATOMIC_RESP);
	return fal_hdr_len(FAL_OP_READ_RESP_ONLY) + max(ALIGN(h->len, 4), 4U);
}

static enum fal_go fal_pull_skb(struct fal_qp *qp, struct fal_swqe *wqe,
				const struct fal_hdr *h, u32 len)
{
	struct fal_qp_eng *eng = &qp->eng;
	struct sk_buff *skb = fal_skb_alloc(FAL_TXN_ROOM, fal_hdr_len(h->op),
					    0);
	struct fal_txn *t;
	enum fal_go go;

	if (!skb)
		return fal_no_skb(qp, wqe, IB_WC_SUCCESS);
	fal_hdr_build(h, skb->data);
	t = fal_txn_init(skb, h, wqe->index);
	t->len = len;
	t->sink_va = h->sink_va;
	t->sink_lkey = h->sink_lkey;
	go = fal_submitted(qp, wqe, skb,
			   falcon_pull_more(eng->conn, &t->txn, skb,
					    fal_resp_bytes(h)));
	if (go == FAL_GO_ON)
		eng->rd_rmsn++;
	return go;
}

static enum fal_go fal_read(struct fal_qp *qp, struct fal_swqe *wqe)
{
	struct fal_qp_eng *eng = &qp->eng;
	struct fal_hdr h;
	enum fal_go go;

	if (wqe->eng.status)
		return FAL_GO_DONE;
	fal_hdr_init(qp, wqe, FAL_OP_READ_REQ, &h);
	h.va = wqe->w.remote_addr + eng->off;
	h.rkey = wqe->w.rkey;
	h.len = fal_pull_bytes(qp, wqe);
	h.rmsn = eng->rd_rmsn;
	fal_sink(wqe, eng->off, h.len, &h);
	go = fal_pull_skb(qp, wqe, &h, h.len);
	if (go != FAL_GO_ON)
		return go;
	eng->off += h.len;
	return eng->off == wqe->length ? FAL_GO_DONE : FAL_GO_ON;
}

static enum fal_go fal_atomic(struct fal_qp *qp, struct fal_swqe *wqe)
{
	bool swap = wqe->w.opcode == IB_WR_ATOMIC_CMP_AND_SWP;
	struct fal_hdr h;
	enum fal_go go;

	fal_hdr_init(qp, wqe, swap ? FAL_OP_CMP_SWAP : FAL_OP_FETCH_ADD, &h);
	h.va = wqe->w.remote_addr;
	h.rkey = wqe->w.rkey;
	h.swap_add = swap ? wqe->w.swap : wqe->w.compare_add;
	h.compare = swap ? wqe->w.compare_add : 0;
	h.rmsn = qp->eng.rd_rmsn;
	fal_sink(wqe, 0, sizeof(u64), &h);
	go = fal_pull_skb(qp, wqe, &h, sizeof(u64));
	return go == FAL_GO_ON ? FAL_GO_DONE : go;
}

/*
 * The queue
 */

/*
 * A weakly ordered target follows so many messages: one beyond would look as if
 * there were no receive request for it.
 */
static bool fal_beyond_window(const struct fal_qp *qp,
			      const struct fal_swqe *wqe)
{
	return qp->order == FALCON_QP_WEAK &&
	       qp->eng.rmsn - qp->eng.rmsn_done >= FAL_RX_WINDOW &&
	       !fal_is_read(wqe) && wqe->w.opcode != IB_WR_RDMA_WRITE;
}

/* A request's turn has come; false: not yet. */
static bool fal_wqe_start(struct fal_qp *qp, struct fal_swqe *wqe)
{
	struct fal_qp_eng *eng = &qp->eng;
	bool read = fal_is_read(wqe);

	if (eng->off || wqe->eng.open)
		return true;
	/* Tried before, it counts itself. */
	if (wqe->w.flags & FALCON_SEND_FENCE && eng->rd_open > wqe->eng.read)
		return false;
	if (fal_beyond_window(qp, wqe))
		return false;
	if (read && !wqe->eng.read &&
	    eng->rd_open >= max_t(u32, qp->attr.max_rd_atomic, 1))
		return false;
	if (read && !wqe->eng.read)
		eng->rd_open++;
	wqe->eng.read = read;
	if (wqe->status)
		fal_wqe_fail(qp, wqe, wqe->status, 0);
	return true;
}

static enum fal_go fal_local(struct fal_qp *qp, struct fal_swqe *wqe)
{
	enum ib_wc_status status;

	switch (wqe->w.opcode) {
	case IB_WR_LOCAL_INV:
		status = fal_mr_invalidate(qp, qp->ibqp.pd,
					   (__force u32)wqe->w.ex, false);
		break;
	case IB_WR_REG_MR:
		status = fal_mr_register(qp, wqe);
		break;
	case IB_UVERBS_WR_BIND_MW:
		status = fal_mw_bind(qp, wqe);
		break;
	default:
		status = IB_WC_LOC_QP_OP_ERR;
	}
	if (status)
		fal_wqe_fail(qp, wqe, status, 0);
	return FAL_GO_DONE;
}

static enum fal_go fal_wqe_step(struct fal_qp *qp, struct fal_swqe *wqe)
{
	if (!fal_wqe_start(qp, wqe))
		return FAL_GO_WAIT;
	if (wqe->status)
		return FAL_GO_DONE;
	switch (wqe->w.opcode) {
	case IB_WR_SEND:
	case IB_WR_SEND_WITH_IMM:
	case IB_WR_SEND_WITH_INV:
	case IB_WR_RDMA_WRITE:
	case IB_WR_RDMA_WRITE_WITH_IMM:
		return fal_push(qp, wqe);
	case IB_WR_RDMA_READ:
		return fal_read(qp, wqe);
	case IB_WR_ATOMIC_CMP_AND_SWP:
	case IB_WR_ATOMIC_FETCH_AND_ADD:
		return fal_atomic(qp, wqe);
	default:
		return fal_local(qp, wqe);
	}
}

static bool fal_is_ud(const struct fal_qp *qp)
{
	return qp->ibqp.qp_type == IB_QPT_UD || qp->ibqp.qp_type == IB_QPT_GSI;
}

static enum fal_go fal_ud_step(struct fal_qp *qp, struct fal_swqe *wqe)
{
	enum ib_wc_status status = wqe->status;

	if (!status && !fal_ud_send(qp, wqe, &status))
		return FAL_GO_WAIT;
	if (status)
		fal_wqe_fail(qp, wqe, status, 0);
	return FAL_GO_DONE;
}

static void fal_count_tx(const struct fal_qp *qp, const struct fal_swqe *wqe)
{
	switch (wqe->w.opcode) {
	case IB_WR_SEND:
	case IB_WR_SEND_WITH_IMM:
	case IB_WR_SEND_WITH_INV:
		fal_count(qp->dev, FAL_STAT_TX_SEND);
		break;
	case IB_WR_RDMA_WRITE:
	case IB_WR_RDMA_WRITE_WITH_IMM:
		fal_count(qp->dev, FAL_STAT_TX_WRITE);
		break;
	case IB_WR_RDMA_READ:
		fal_count(qp->dev, FAL_STAT_TX_READ);
		break;
	case IB_WR_ATOMIC_CMP_AND_SWP:
	case IB_WR_ATOMIC_FETCH_AND_ADD:
		fal_count(qp->dev, FAL_STAT_TX_ATOMIC);
		break;
	}
}

/* Requests that may be submitted now */
static bool fal_req_may(const struct fal_qp *qp)
{
	const struct fal_qp_eng *eng = &qp->eng;

	if (READ_ONCE(qp->state) != IB_QPS_RTS &&
	    !(READ_ONCE(qp->state) == IB_QPS_SQD && eng->off))
		return false;
	return !eng->halted && eng->open < FAL_REQ_OPEN &&
	       (eng->conn || fal_is_ud(qp));
}

static bool fal_req_submit(struct fal_qp *qp)
{
	struct fal_qp_eng *eng = &qp->eng;
	struct fal_swqe *wqe;
	bool some = false;
	enum fal_go go;

	while (fal_req_may(qp)) {
		if (eng->next == fal_sq_head(qp))
			fal_sq_fetch(qp);
		if (eng->next == fal_sq_head(qp))
			break;
		wqe = fal_sq_wqe(qp, eng->next);
		go = fal_is_ud(qp) ? fal_ud_step(qp, wqe) :
				     fal_wqe_step(qp, wqe);
		if (go == FAL_GO_WAIT)
			break;
		some = true;
		if (go != FAL_GO_DONE)
			continue;
		fal_count_tx(qp, wqe);
		wqe->eng.issued = true;
		eng->next++;
		eng->off = 0;
	}
	return some;
}

/*
 * Tells one completion; an error ends the queue pair, before it is told, or of
 * datagrams its send queue alone.
 */
static void fal_wqe_done(struct fal_qp *qp, struct fal_swqe *wqe)
{
	enum ib_wc_status status = wqe->eng.status;

	if (wqe->eng.read)
		qp->eng.rd_open--;
	if (wqe->eng.rmsn)
		qp->eng.rmsn_done++;
	if (fal_in_error(qp) && status)
		status = IB_WC_WR_FLUSH_ERR;
	if (status && fal_ends_qp(qp, status)) {
		if (fal_is_ud(qp))
			fal_qp_set_sqe(qp);
		else
			fal_qp_set_error(qp);
	}
	fal_sq_done(qp, wqe, status, wqe->eng.vendor_err);
}

static bool fal_wqe_over(const struct fal_swqe *wqe)
{
	return wqe->eng.issued && !wqe->eng.open && !wqe->done;
}

/*
 * What is over is told: in order, or with an unordered queue pair at once.
 * Whatever waits behind a request that failed is flushed once nothing of the
 * queue pair is under way. True if it was any.
 */
static bool fal_req_reap(struct fal_qp *qp)
{
	struct fal_qp_eng *eng = &qp->eng;
	struct fal_swqe *wqe;
	bool some = false;
	u32 i;

	for (i = qp->sq.tail; i != eng->next; i++) {
		wqe = fal_sq_wqe(qp, i);
		if (fal_wqe_over(wqe)) {
			fal_wqe_done(qp, wqe);
			some = true;
		} else if (!wqe->done && qp->order != FALCON_QP_UNORDERED) {
			break;
		}
	}
	/* One that failed half way is over, too. */
	if (eng->halted && !eng->open && eng->next != fal_sq_head(qp) &&
	    i == eng->next) {
		wqe = fal_sq_wqe(qp, i);
		if (wqe->eng.status && eng->off) {
			wqe->eng.issued = true;
			eng->next++;
			eng->off = 0;
			fal_wqe_done(qp, wqe);
		}
	}
	if (fal_in_error(qp) && !eng->open) {
		fal_sq_fetch(qp);
		fal_sq_flush(qp);
		eng->next = qp->sq.tail;
		eng->off = 0;
		eng->rd_open = 0;
	}
	return some;
}

/* In SQD: is all over that was begun? Then the consumer may want to know. */
static void fal_req_drained(struct fal_qp *qp)
{
	struct fal_qp_eng *eng = &qp->eng;

	if (!eng->draining || (READ_ONCE(qp->state) == IB_QPS_SQD &&
			       (eng->off || qp->sq.tail != eng->next)))
		return;
	eng->draining = false;
	if (READ_ONCE(qp->state) == IB_QPS_SQD &&
	    qp->attr.en_sqd_async_notify)
		fal_qp_event(qp, IB_EVENT_SQ_DRAINED);
}

/* True if requests were posted meanwhile that no doorbell announces. */
static bool fal_req_bell(struct fal_qp *qp)
{
	struct fal_qp_eng *eng = &qp->eng;
	u32 open = eng->next - qp->sq.tail, more = 0;

	/* In other orders a single one that waits may keep all behind it open. */
	if (!fal_is_ud(qp) && qp->order == FALCON_QP_STRONG &&
	    open >= FAL_BELL_OPEN)
		more = min_t(u32, open / 2, FAL_BELL_BATCH);
	if (!fal_sq_bell(qp, more))
		return false;
	return (fal_req_may(qp) && eng->next == fal_sq_head(qp)) ||
	       (fal_in_error(qp) && !eng->open);
}

/*
 * Submits and tells what there is. The connection to be flushed, or NULL; and
 * whether there is more to do.
 */
static struct falcon_conn *fal_req_run(struct fal_qp *qp, bool *again)
{
	struct fal_qp_eng *eng = &qp->eng;
	struct falcon_conn *flush = NULL;
	bool some;

	lockdep_assert_held(&eng->lock);
	/* What is over makes room: for reads, behind fences, in the ring. */
	fal_req_reap(qp);
	some = fal_req_submit(qp);
	if (some && eng->conn && falcon_conn_get(eng->conn))
		flush = eng->conn;
	if (eng->ud_flush) {
		flush = eng->ud_flush;
		eng->ud_flush = NULL;
	}
	*again = fal_req_reap(qp) && some && fal_req_may(qp);
	*again |= fal_req_bell(qp) || eng->ud_again;
	eng->ud_again = false;
	fal_req_drained(qp);
	return flush;
}

static void fal_req_after(struct fal_qp *qp, struct falcon_conn *flush,
			  bool failed)
{
	if (flush) {
		falcon_flush(flush);
		falcon_conn_put(flush);
	}
	if (failed)
		fal_conn_fail(qp, false);
}

/**
 * fal_req_kick() - submit what can be
 * @qp:	queue pair, held
 *
 * Context: process or softirq, interrupts on. Completions of the connection
 * may run inside.
 */
void fal_req_kick(struct fal_qp *qp)
{
	struct falcon_conn *flush;
	bool failed, again;
	int rounds = 0;

	do {
		spin_lock_bh(&qp->eng.lock);
		flush = fal_req_run(qp, &again);
		failed = READ_ONCE(qp->state) == IB_QPS_ERR;
		spin_unlock_bh(&qp->eng.lock);
		fal_req_after(qp, flush, failed);
	} while (again && ++rounds < FAL_KICK_ROUNDS);
	if (again)
		mod_delayed_work(fal_eng_wq, &qp->eng.retry, 0);
}

/**
 * fal_req_waiting() - are there requests that nothing has become of?
 * @qp:	queue pair
 *
 * Context: process or softirq.
 * Return: true if there are.
 */
bool fal_req_waiting(struct fal_qp *qp)
{
	bool waiting;

	spin_lock_bh(&qp->eng.lock);
	fal_sq_fetch(qp);
	waiting = READ_ONCE(qp->state) == IB_QPS_RTS &&
		  qp->eng.next != fal_sq_head(qp);
	spin_unlock_bh(&qp->eng.lock);
	return waiting;
}

/**
 * fal_req_give_up() - there will be no connection
 * @qp:	queue pair with requests that wait for one
 *
 * The first fails, the others are flushed.
 *
 * Context: process or softirq.
 */
void fal_req_give_up(struct fal_qp *qp)
{
	struct fal_qp_eng *eng = &qp->eng;
	struct fal_swqe *wqe;

	spin_lock_bh(&eng->lock);
	if (!eng->conn && eng->next != fal_sq_head(qp)) {
		wqe = fal_sq_wqe(qp, eng->next++);
		wqe->eng.issued = true;
		wqe->eng.status = IB_WC_RETRY_EXC_ERR;
		wqe->eng.vendor_err = FALCON_CMPL_LOCAL_TO;
		eng->halted = true;
		fal_req_reap(qp);
		fal_qp_set_error(qp);
	}
	spin_unlock_bh(&eng->lock);
	fal_req_kick(qp);
}

/*
 * Completions
 */

static enum ib_wc_status fal_nak_status(u32 code)
{
	switch (code) {
	case FAL_NAK_INVALID:
		return IB_WC_REM_INV_REQ_ERR;
	case FAL_NAK_ACCESS:
		return IB_WC_REM_ACCESS_ERR;
	case FAL_NAK_STATE:
		return IB_WC_RETRY_EXC_ERR;
	default:
		return IB_WC_REM_OP_ERR;
	}
}

static enum ib_wc_status fal_cmpl_status(const struct fal_qp *qp,
					 const struct falcon_txn *txn)
{
	u8 limit = fal_rnr_limit(qp);

	switch (txn->cmpl) {
	case FALCON_CMPL_ACK:
		return IB_WC_SUCCESS;
	case FALCON_CMPL_TARGET_NACK_CIE:
		return fal_nak_status(txn->ulp_code);
	case FALCON_CMPL_TARGET_NACK_NRE:
		return IB_WC_REM_OP_ERR;
	case FALCON_CMPL_TARGET_NACK_CID:
		return IB_WC_REM_INV_REQ_ERR;
	case FALCON_CMPL_OP_ERR:
		return IB_WC_BAD_RESP_ERR;
	case FALCON_CMPL_LOCAL_TO:
		if (limit && txn->rnrs >= limit)
			return IB_WC_RNR_RETRY_EXC_ERR;
		return IB_WC_RETRY_EXC_ERR;
	default:
		return IB_WC_RETRY_EXC_ERR;
	}
}

/* 8.2 CE: the payload says why. */
static enum ib_wc_status fal_ce_status(const struct sk_buff *skb,
				       unsigned int hdr)
{
	__be32 code;

	if (skb_copy_bits(skb, hdr, &code, sizeof(code)))
		return IB_WC_REM_OP_ERR;
	return fal_nak_status(be32_to_cpu(code));
}

static enum ib_wc_status fal_place_atomic(struct fal_qp *qp,
					  const struct fal_txn *t,
					  const struct fal_hdr *h,
					  struct sk_buff *skb)
{
	/* In the order of this host, over the header that brought it */
	if (skb_store_bits(skb, 0, &h->orig, sizeof(h->orig)))
		return IB_WC_BAD_RESP_ERR;
	return fal_mem_from_skb(qp, qp->ibqp.pd, t->sink_lkey, t->sink_va,
				sizeof(h->orig), IB_ACCESS_LOCAL_WRITE, skb,
				0);
}

/*
 * Pull data. Everything in it repeats what was asked for, so all is compared;
 * it is placed as this end remembers, not as the packet says.
 */
static enum ib_wc_status fal_place(struct fal_qp *qp, const struct fal_txn *t)
{
	struct sk_buff *skb = falcon_rx_skb(t->txn.rx);
	struct fal_hdr h;
	bool atomic;
	int hdr;

	hdr = fal_hdr_of_skb(&h, skb);
	if (hdr < 0 || !(fal_op_flags(h.op) & FAL_OPF_RESP) ||
	    h.dqpn != qp->ibqp.qp_num || h.sn != t->sn ||
	    h.sink_va != t->sink_va || h.sink_lkey != t->sink_lkey)
		return IB_WC_BAD_RESP_ERR;
	if (h.ce)
		return fal_ce_status(skb, hdr);
	atomic = fal_op_flags(t->op) & FAL_H_ATOMIC;
	if (atomic != !!(fal_op_flags(h.op) & FAL_H_ATOMIC_ACK))
		return IB_WC_BAD_RESP_ERR;
	if (atomic)
		return fal_place_atomic(qp, t, &h, skb);
	if (skb->len - hdr - h.pad != t->len)
		return IB_WC_BAD_RESP_ERR;
	return fal_mem_from_skb(qp, qp->ibqp.pd, t->sink_lkey, t->sink_va,
				t->len, IB_ACCESS_LOCAL_WRITE, skb, hdr);
}

static enum ib_wc_status fal_txn_status(struct fal_qp *qp,
					const struct fal_txn *t)
{
	enum ib_wc_status status = fal_cmpl_status(qp, &t->txn);

	if (status || !t->txn.pull)
		return status;
	/* 8.5.3.5: no bytes tell an error. */
	if (!t->txn.rx)
		return IB_WC_REM_OP_ERR;
	return fal_in_error(qp) ? IB_WC_WR_FLUSH_ERR : fal_place(qp, t);
}

/**
 * fal_req_complete() - a transaction is done
 * @conn:	connection
 * @txn:	of fal_push_skb() or fal_pull_skb()
 *
 * Context: call-back of the connection.
 */
void fal_req_complete(struct falcon_conn *conn, struct falcon_txn *txn)
{
	struct fal_txn *t = container_of(txn, struct fal_txn, txn);
	struct fal_qp *qp = falcon_conn_priv(conn);
	enum ib_wc_status status;
	struct fal_swqe *wqe;

	spin_lock_bh(&qp->eng.lock);
	wqe = fal_sq_wqe(qp, t->index);
	status = fal_txn_status(qp, t);
	if (status)
		fal_wqe_fail(qp, wqe, status, txn->cmpl);
	qp->eng.open--;
	wqe->eng.open--;
	qp->eng.completed = true;
	spin_unlock_bh(&qp->eng.lock);

	if (txn->rx)
		kfree_skb(falcon_rx_skb(txn->rx));
	kfree_skb(t->skb);
}

/**
 * fal_req_batch() - the calls that belong together have been made
 * @conn:	connection
 *
 * Requests that are done are told, others take their place, and what that and
 * the responder's acknowledgements have caused leaves at once.
 *
 * Context: call-back of the connection.
 */
void fal_req_batch(struct falcon_conn *conn)
{
	struct fal_qp *qp = falcon_conn_priv(conn);
	bool completed;

	spin_lock_bh(&qp->eng.lock);
	completed = qp->eng.completed;
	qp->eng.completed = false;
	spin_unlock_bh(&qp->eng.lock);
	if (completed)
		fal_req_kick(qp);
	falcon_flush(conn);
}

static void fal_req_begin(struct fal_qp *qp)
{
	struct fal_qp_eng *eng = &qp->eng;

	lockdep_assert_held(&eng->lock);
	eng->halted = false;
	eng->draining = false;
	eng->next = qp->sq.tail;
	eng->off = 0;
	eng->open = 0;
	eng->rd_open = 0;
	eng->tx_sn = FAL_FIRST_SN;
	eng->rmsn = FAL_FIRST_RMSN;
	eng->rmsn_done = FAL_FIRST_RMSN;
	eng->rd_rmsn = FAL_FIRST_RMSN;
}

/**
 * fal_req_reset() - begin anew
 * @qp:	queue pair without a connection
 */
void fal_req_reset(struct fal_qp *qp)
{
	spin_lock_bh(&qp->eng.lock);
	fal_req_begin(qp);
	spin_unlock_bh(&qp->eng.lock);
}

/**
 * fal_req_forget() - forget all that was posted, without completions
 * @qp:	queue pair in RESET, without a connection
 *
 * Doorbells may ring meanwhile.
 */
void fal_req_forget(struct fal_qp *qp)
{
	spin_lock_bh(&qp->eng.lock);
	fal_sq_reset(qp);
	fal_req_begin(qp);
	spin_unlock_bh(&qp->eng.lock);
}
