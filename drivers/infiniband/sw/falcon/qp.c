// SPDX-License-Identifier: GPL-2.0
/*
 * Queue pairs: creation, and the state machine of modify with its checks. What a
 * transition does to the connection is the engine's.
 */
#include <linux/random.h>
#include <net/falcon_fae.h>
#include <rdma/ib_addr.h>
#include <uapi/linux/falcon.h>
#include "internal.h"

#define FAL_FIRST_QPN	2
#define FAL_LAST_QPN	0xffffff
#define FAL_MAX_TIMEOUT	31	/* 5 bits */
#define FAL_MAX_RETRY	7	/* 3 bits */

/*
 * References
 */

/**
 * fal_qp_hold - keep a queue pair
 * @qp:	queue pair in the table
 *
 * Context: any.
 * Return: false if it is being destroyed.
 */
bool fal_qp_hold(struct fal_qp *qp)
{
	return refcount_inc_not_zero(&qp->refs);
}

/**
 * fal_qp_get - find a queue pair
 * @dev:	device
 * @qpn:	its number
 *
 * Context: any.
 * Return: the queue pair, held: fal_qp_put(); or NULL.
 */
struct fal_qp *fal_qp_get(struct fal_dev *dev, u32 qpn)
{
	unsigned long flags;
	struct fal_qp *qp;

	xa_lock_irqsave(&dev->qps, flags);
	qp = xa_load(&dev->qps, qpn);
	if (qp && !fal_qp_hold(qp))
		qp = NULL;
	xa_unlock_irqrestore(&dev->qps, flags);
	return qp;
}

/**
 * fal_qp_put - let go of a queue pair
 * @qp:	held
 *
 * Context: any. Its destruction waits for the last one.
 */
void fal_qp_put(struct fal_qp *qp)
{
	if (refcount_dec_and_test(&qp->refs))
		complete(&qp->idle);
}

/**
 * fal_qp_event - tell the consumer of an asynchronous event
 * @qp:		held
 * @event:	which
 *
 * Context: any, with any lock of the engine held.
 */
void fal_qp_event(struct fal_qp *qp, enum ib_event_type event)
{
	struct ib_event ev = {
		.device		= qp->ibqp.device,
		.event		= event,
		.element.qp	= &qp->ibqp,
	};

	if (qp->ibqp.event_handler)
		qp->ibqp.event_handler(&ev, qp->ibqp.qp_context);
}

/**
 * fal_qp_set_error - move a queue pair to the error state
 * @qp:	held
 *
 * The caller flushes.
 *
 * Context: any, with any lock of the engine held.
 * Return: true if this call moved it; false if it was there, or in reset.
 */
bool fal_qp_set_error(struct fal_qp *qp)
{
	unsigned long flags;
	bool moved;

	spin_lock_irqsave(&qp->lock, flags);
	moved = qp->state != IB_QPS_ERR && qp->state != IB_QPS_RESET;
	if (moved)
		WRITE_ONCE(qp->state, IB_QPS_ERR);
	spin_unlock_irqrestore(&qp->lock, flags);
	if (moved)
		fal_count(qp->dev, FAL_STAT_QP_ERROR);
	return moved;
}

/**
 * fal_qp_set_sqe - a send request of a queue pair of datagrams has failed
 * @qp:	held
 *
 * It receives on. The caller flushes the send queue.
 *
 * Context: any, with any lock of the engine held.
 */
void fal_qp_set_sqe(struct fal_qp *qp)
{
	unsigned long flags;

	spin_lock_irqsave(&qp->lock, flags);
	if (qp->state == IB_QPS_RTS || qp->state == IB_QPS_SQD)
		WRITE_ONCE(qp->state, IB_QPS_SQE);
	spin_unlock_irqrestore(&qp->lock, flags);
}

/*
 * Creation
 */

static bool fal_qp_has_sq(enum ib_qp_type type)
{
	return type != IB_QPT_XRC_TGT;
}

static bool fal_qp_has_rq(enum ib_qp_type type)
{
	return type != IB_QPT_XRC_TGT && type != IB_QPT_XRC_INI;
}

static int fal_qp_check_init(const struct ib_qp_init_attr *init)
{
	const struct ib_qp_cap *cap = &init->cap;

	switch (init->qp_type) {
	case IB_QPT_RC:
	case IB_QPT_UD:
	case IB_QPT_GSI:
	case IB_QPT_XRC_INI:
	case IB_QPT_XRC_TGT:
		break;
	default:
		return -EOPNOTSUPP;
	}
	if (init->create_flags)
		return -EOPNOTSUPP;
	if (cap->max_send_wr > FAL_MAX_WR || cap->max_recv_wr > FAL_MAX_WR ||
	    cap->max_send_sge > FAL_MAX_SGE ||
	    cap->max_recv_sge > FAL_MAX_SGE ||
	    cap->max_inline_data > FAL_MAX_INLINE)
		return -EINVAL;
	if (fal_qp_has_sq(init->qp_type) && !init->send_cq)
		return -EINVAL;
	if (fal_qp_has_rq(init->qp_type) && !init->recv_cq)
		return -EINVAL;
	return 0;
}

/* Datagrams have connections in common, to which the namespace's applies. */
static int fal_qp_set_security(struct fal_qp *qp, u8 security)
{
	struct net *net;
	int err;

	if (security == FALCON_SECURITY_DEFAULT)
		return 0;
	if (qp->ibqp.qp_type == IB_QPT_UD)
		return -EOPNOTSUPP;
	net = fal_net_get(qp->dev);
	if (!net)
		return -ENETDOWN;
	err = falcon_security_check(net, security);
	put_net(net);
	if (err < 0)
		return err;
	qp->security = err;
	return 0;
}

/* Likewise. A name that fills the field, with no zero after it, is none. */
static int fal_qp_set_fae(struct fal_qp *qp, const char *name)
{
	BUILD_BUG_ON(FALCON_QP_FAE_MAX != FALCON_FAE_NAME_MAX);
	if (!name[0])
		return memchr_inv(name, 0, FALCON_QP_FAE_MAX) ? -EINVAL : 0;
	if (qp->ibqp.qp_type == IB_QPT_UD)
		return -EOPNOTSUPP;
	if (strnlen(name, FALCON_QP_FAE_MAX) == FALCON_QP_FAE_MAX)
		return -EINVAL;
	qp->fae = falcon_fae_get(name);
	return qp->fae ? 0 : -ENOENT;
}

/*
 * Ordering and error modes (RDMA over Falcon 6.2 to 6.4), security, congestion
 * control
 */
static int fal_qp_set_modes(struct fal_qp *qp, struct ib_udata *udata)
{
	struct falcon_create_qp_req req = {};
	size_t len;
	int err;

	if (!udata)
		return 0;
	len = min(sizeof(req), udata->inlen);
	err = ib_copy_from_udata(&req, udata, len);
	if (err)
		return err;
	if (memchr_inv(req.rsvd, 0, sizeof(req.rsvd)) ||
	    (udata->inlen > len &&
	     !ib_is_udata_cleared(udata, len, udata->inlen - len)))
		return -EINVAL;
	if (req.order > FALCON_QP_UNORDERED ||
	    req.errors > FALCON_QP_COMPLETE_IN_ERROR)
		return -EINVAL;
	if (req.order == FALCON_QP_UNORDERED &&
	    req.errors != FALCON_QP_COMPLETE_IN_ERROR)
		return -EINVAL;
	qp->order = req.order;
	qp->errors = req.errors;
	err = fal_qp_set_security(qp, req.security);
	return err ?: fal_qp_set_fae(qp, req.fae);
}

static int fal_qp_make_queues(struct fal_qp *qp, struct ib_qp_init_attr *init,
			      struct ib_udata *udata)
{
	struct ib_qp_cap *cap = &init->cap;
	int err;

	if (fal_qp_has_sq(init->qp_type)) {
		err = fal_sq_init(qp, cap, udata);
		if (err)
			return err;
		cap->max_send_wr = qp->sq.mask + 1;
		cap->max_send_sge = qp->sq.max_sge;
		cap->max_inline_data = qp->sq.max_inline;
	}
	if (!fal_qp_has_rq(init->qp_type) || init->srq) {
		cap->max_recv_wr = 0;
		cap->max_recv_sge = 0;
		return 0;
	}
	err = fal_rq_init(&qp->rq, cap->max_recv_wr, cap->max_recv_sge, udata);
	if (err)
		return err;
	cap->max_recv_wr = qp->rq.max_wr;
	cap->max_recv_sge = qp->rq.max_sge;
	return 0;
}

static int fal_qp_number(struct fal_qp *qp, enum ib_qp_type type)
{
	struct fal_dev *dev = qp->dev;
	u32 qpn = 1;
	int err;

	if (type == IB_QPT_GSI)
		err = xa_insert_irq(&dev->qps, qpn, NULL, GFP_KERNEL);
	else
		err = xa_alloc_cyclic_irq(&dev->qps, &qpn, NULL,
					  XA_LIMIT(FAL_FIRST_QPN, FAL_LAST_QPN),
					  &dev->next_qpn, GFP_KERNEL);
	if (err < 0)
		return err;
	qp->ibqp.qp_num = qpn;
	return 0;
}

static int fal_qp_tell(struct fal_qp *qp, struct ib_udata *udata)
{
	struct falcon_create_qp_resp resp;

	if (!udata)
		return 0;
	fal_ring_tell(&qp->sq.ring, &resp.sq);
	fal_ring_tell(&qp->rq.ring, &resp.rq);
	return ib_copy_to_udata(udata, &resp, min(sizeof(resp), udata->outlen));
}

static void fal_qp_free_queues(struct fal_qp *qp)
{
	kvfree(qp->eng.slots);
	fal_rq_exit(&qp->rq);
	fal_sq_exit(qp);
}

static void fal_qp_setup(struct fal_qp *qp, const struct ib_qp_init_attr *init)
{
	qp->dev = to_fal_dev(qp->ibqp.device);
	refcount_set(&qp->refs, 1);
	init_completion(&qp->idle);
	mutex_init(&qp->mutex);
	spin_lock_init(&qp->lock);
	spin_lock_init(&qp->sq.lock);
	spin_lock_init(&qp->rq.lock);
	qp->state = IB_QPS_RESET;
	qp->sig_all = init->sq_sig_type == IB_SIGNAL_ALL_WR;
	qp->srq = init->srq ? to_fal_srq(init->srq) : NULL;
	qp->attr.path_mig_state = IB_MIG_MIGRATED;
	qp->attr.port_num = 1;
	qp->cred = get_current_cred();
}

static void fal_qp_free(struct fal_qp *qp)
{
	if (qp->fae)
		falcon_fae_put(qp->fae);
	put_cred(qp->cred);
}

/* ib_device_ops::create_qp */
int fal_create_qp(struct ib_qp *ibqp, struct ib_qp_init_attr *init,
		  struct ib_udata *udata)
{
	struct fal_qp *qp = to_fal_qp(ibqp);
	int err = fal_qp_check_init(init);

	if (err)
		return err;
	fal_qp_setup(qp, init);
	err = fal_qp_set_modes(qp, udata);
	if (err)
		goto modes;
	err = fal_qp_make_queues(qp, init, udata);
	if (err)
		goto free;
	qp->attr.cap = init->cap;
	err = fal_qp_number(qp, init->qp_type);
	if (err)
		goto free;
	err = fal_eng_qp_init(qp);
	if (err)
		goto forget;
	err = fal_qp_tell(qp, udata);
	if (err)
		goto exit;
	xa_store_irq(&qp->dev->qps, ibqp->qp_num, qp, GFP_KERNEL);
	return 0;
exit:
	fal_eng_to_reset(qp);
forget:
	xa_erase_irq(&qp->dev->qps, ibqp->qp_num);
free:
	fal_qp_free_queues(qp);
modes:
	fal_qp_free(qp);
	return err;
}

static void fal_qp_set_reset(struct fal_qp *qp)
{
	spin_lock_irq(&qp->lock);
	WRITE_ONCE(qp->state, IB_QPS_RESET);
	spin_unlock_irq(&qp->lock);
}

/*
 * Is the device being taken from its users? The core says so to nobody, but holds
 * this lock while it unregisters the device or moves it to another namespace.
 */
static bool fal_qp_is_taken_away(const struct fal_qp *qp)
{
	return mutex_is_locked(&qp->ibqp.device->unregistration_lock);
}

/*
 * User space did not ask for the end, and keeps its mapped completion queues: in
 * them it finds all that was open, flushed.
 */
static void fal_qp_bereave(struct fal_qp *qp)
{
	fal_qp_set_error(qp);
	fal_eng_to_err(qp);
	fal_eng_to_reset(qp);
	/* What the end of the connection has completed last */
	fal_eng_to_err(qp);
}

/* ib_device_ops::destroy_qp */
int fal_destroy_qp(struct ib_qp *ibqp, struct ib_udata *udata)
{
	struct fal_qp *qp = to_fal_qp(ibqp);

	xa_erase_irq(&qp->dev->qps, ibqp->qp_num);
	if (udata && fal_qp_is_taken_away(qp))
		fal_qp_bereave(qp);
	fal_qp_set_reset(qp);
	fal_eng_to_reset(qp);
	fal_qp_put(qp);
	wait_for_completion(&qp->idle);
	fal_eng_qp_exit(qp);
	if (ibqp->send_cq)
		fal_cq_clean(to_fal_cq(ibqp->send_cq), qp);
	if (ibqp->recv_cq && ibqp->recv_cq != ibqp->send_cq)
		fal_cq_clean(to_fal_cq(ibqp->recv_cq), qp);
	fal_qp_free_queues(qp);
	fal_qp_free(qp);
	return 0;
}

/*
 * Modification
 */

static int fal_qp_check_av(const struct rdma_ah_attr *av)
{
	const struct ib_global_route *grh = rdma_ah_read_grh(av);

	if (!(rdma_ah_get_ah_flags(av) & IB_AH_GRH) ||
	    rdma_ah_get_port_num(av) != 1 ||
	    rdma_is_multicast_addr((struct in6_addr *)grh->dgid.raw))
		return -EINVAL;
	return 0;
}

/* The values, one by one; whether they may come now the core's table says. */
static int fal_qp_check_attr(struct fal_qp *qp, const struct ib_qp_attr *attr,
			     int mask)
{
	if (mask & IB_QP_ALT_PATH ||
	    (mask & IB_QP_PATH_MIG_STATE &&
	     attr->path_mig_state != IB_MIG_MIGRATED))
		return -EOPNOTSUPP;
	if (mask & IB_QP_PORT && attr->port_num != 1)
		return -EINVAL;
	if (mask & IB_QP_PKEY_INDEX && attr->pkey_index)
		return -EINVAL;
	if (mask & IB_QP_PATH_MTU && (attr->path_mtu < IB_MTU_256 ||
				      attr->path_mtu > IB_MTU_4096))
		return -EINVAL;
	if (mask & IB_QP_MAX_QP_RD_ATOMIC &&
	    attr->max_rd_atomic > FAL_MAX_RD_ATOMIC)
		return -EINVAL;
	if (mask & IB_QP_MAX_DEST_RD_ATOMIC &&
	    attr->max_dest_rd_atomic > FAL_MAX_RD_ATOMIC)
		return -EINVAL;
	if (mask & IB_QP_DEST_QPN && attr->dest_qp_num > FAL_LAST_QPN)
		return -EINVAL;
	if (mask & IB_QP_TIMEOUT && attr->timeout > FAL_MAX_TIMEOUT)
		return -EINVAL;
	if (mask & IB_QP_MIN_RNR_TIMER && attr->min_rnr_timer > FAL_MAX_TIMEOUT)
		return -EINVAL;
	if (mask & IB_QP_RETRY_CNT && attr->retry_cnt > FAL_MAX_RETRY)
		return -EINVAL;
	if (mask & IB_QP_RNR_RETRY && attr->rnr_retry > FAL_MAX_RETRY)
		return -EINVAL;
	if (mask & IB_QP_AV)
		return fal_qp_check_av(&attr->ah_attr);
	return 0;
}

static void fal_qp_apply(struct fal_qp *qp, const struct ib_qp_attr *attr,
			 int mask)
{
	struct ib_qp_attr *a = &qp->attr;

	if (mask & IB_QP_ACCESS_FLAGS)
		a->qp_access_flags = attr->qp_access_flags;
	if (mask & IB_QP_PKEY_INDEX)
		a->pkey_index = attr->pkey_index;
	if (mask & IB_QP_PORT)
		a->port_num = attr->port_num;
	if (mask & IB_QP_QKEY)
		a->qkey = attr->qkey;
	if (mask & IB_QP_AV)
		a->ah_attr = attr->ah_attr;
	if (mask & IB_QP_PATH_MTU)
		a->path_mtu = attr->path_mtu;
	if (mask & IB_QP_TIMEOUT)
		a->timeout = attr->timeout;
	if (mask & IB_QP_RETRY_CNT)
		a->retry_cnt = attr->retry_cnt;
	if (mask & IB_QP_RNR_RETRY)
		a->rnr_retry = attr->rnr_retry;
	if (mask & IB_QP_RQ_PSN)
		a->rq_psn = attr->rq_psn;
	if (mask & IB_QP_MAX_QP_RD_ATOMIC)
		a->max_rd_atomic = attr->max_rd_atomic;
	if (mask & IB_QP_MIN_RNR_TIMER)
		a->min_rnr_timer = attr->min_rnr_timer;
	if (mask & IB_QP_SQ_PSN)
		a->sq_psn = attr->sq_psn;
	if (mask & IB_QP_MAX_DEST_RD_ATOMIC)
		a->max_dest_rd_atomic = attr->max_dest_rd_atomic;
	if (mask & IB_QP_DEST_QPN)
		a->dest_qp_num = attr->dest_qp_num;
	if (mask & IB_QP_EN_SQD_ASYNC_NOTIFY)
		a->en_sqd_async_notify = attr->en_sqd_async_notify;
}

/* False if the state has changed meanwhile: the engine found an error. */
static bool fal_qp_move(struct fal_qp *qp, enum ib_qp_state from,
			enum ib_qp_state to)
{
	bool moved;

	spin_lock_irq(&qp->lock);
	moved = qp->state == from;
	if (moved)
		WRITE_ONCE(qp->state, to);
	spin_unlock_irq(&qp->lock);
	return moved;
}

static void fal_qp_reset(struct fal_qp *qp)
{
	fal_qp_set_reset(qp);
	fal_eng_to_reset(qp);
	fal_req_forget(qp);
	fal_rq_reset(&qp->rq);
	qp->last_wqe = false;
}

static int fal_qp_transition(struct fal_qp *qp, enum ib_qp_state from,
			     enum ib_qp_state to)
{
	int err = 0;

	if (to == IB_QPS_RESET) {
		fal_qp_reset(qp);
		return 0;
	}
	if (to == IB_QPS_ERR) {
		if (fal_qp_set_error(qp))
			fal_eng_to_err(qp);
		return 0;
	}
	if (from == IB_QPS_SQE)
		fal_eng_from_sqe(qp);
	if (!fal_qp_move(qp, from, to))
		return -EINVAL;
	if (to == IB_QPS_RTR && from == IB_QPS_INIT) {
		err = fal_eng_to_rtr(qp);
		if (err)
			fal_qp_move(qp, to, from);
	} else if (to == IB_QPS_RTS && from != IB_QPS_RTS) {
		fal_eng_to_rts(qp);
	} else if (to == IB_QPS_SQD && from != IB_QPS_SQD) {
		fal_eng_to_sqd(qp);
	}
	return err;
}

static int fal_qp_modify_locked(struct fal_qp *qp, struct ib_qp_attr *attr,
				int mask)
{
	enum ib_qp_state from = READ_ONCE(qp->state), to;
	int err;

	if (mask & IB_QP_CUR_STATE && attr->cur_qp_state != from)
		return -EINVAL;
	to = mask & IB_QP_STATE ? attr->qp_state : from;
	if (!ib_modify_qp_is_ok(from, to, qp->ibqp.qp_type, mask))
		return -EINVAL;
	/* A queue pair that drains keeps its connection, and so its path. */
	if (mask & IB_QP_AV && from != IB_QPS_INIT)
		return -EOPNOTSUPP;
	err = fal_qp_check_attr(qp, attr, mask);
	if (err)
		return err;
	fal_qp_apply(qp, attr, mask);
	return fal_qp_transition(qp, from, to);
}

/* ib_device_ops::modify_qp */
int fal_modify_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		  struct ib_udata *udata)
{
	struct fal_qp *qp = to_fal_qp(ibqp);
	int err;

	if (mask & ~IB_QP_ATTR_STANDARD_BITS)
		return -EOPNOTSUPP;
	mutex_lock(&qp->mutex);
	err = fal_qp_modify_locked(qp, attr, mask);
	mutex_unlock(&qp->mutex);
	return err;
}

/* ib_device_ops::query_qp */
int fal_query_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		 struct ib_qp_init_attr *init)
{
	struct fal_qp *qp = to_fal_qp(ibqp);

	mutex_lock(&qp->mutex);
	*attr = qp->attr;
	attr->qp_state = READ_ONCE(qp->state);
	attr->cur_qp_state = attr->qp_state;
	attr->sq_draining = attr->qp_state == IB_QPS_SQD &&
			    READ_ONCE(qp->eng.draining);
	attr->ah_attr.grh.sgid_attr = NULL;
	mutex_unlock(&qp->mutex);

	init->event_handler = ibqp->event_handler;
	init->qp_context = ibqp->qp_context;
	init->send_cq = ibqp->send_cq;
	init->recv_cq = ibqp->recv_cq;
	init->srq = ibqp->srq;
	init->xrcd = ibqp->xrcd;
	init->cap = attr->cap;
	init->sq_sig_type = qp->sig_all ? IB_SIGNAL_ALL_WR : IB_SIGNAL_REQ_WR;
	init->qp_type = ibqp->qp_type;
	return 0;
}
