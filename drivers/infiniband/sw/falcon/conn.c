// SPDX-License-Identifier: GPL-2.0
/*
 * One connected queue pair, one Falcon connection (6.6). Queue pairs know each
 * other by GID and number; the connection manager's service is the number.
 *
 * Whoever enters RTR listens first and then tries to connect. The first to come
 * is refused, because nobody listens yet, and leaves it to the other. If both
 * try at a time, the end with the larger address and number has its way; when
 * that one has been refused nevertheless, it tries again at once, because the
 * other has shown to be ready. A slow retry makes up for what is lost.
 *
 * A connection belongs to whoever takes it out of fal_qp_eng under its lock:
 * that one closes it. Namespaces end while devices live, so all listeners are
 * in one list.
 */
#include <linux/wait_bit.h>
#include <net/falcon_fae.h>
#include <net/ipv6.h>
#include <net/netns/generic.h>
#include <rdma/ib_cache.h>
#include <uapi/linux/falcon.h>
#include "falcon_ib.h"

#define FAL_RETRY_MS		50	/* doubles up to */
#define FAL_RETRY_MAX_MS	1000
#define FAL_TELL_MS		200	/* a NACK and its repetitions */
#define FAL_MIN_BUDGET_MS	20000
#define FAL_RNR_FOREVER		7	/* rnr_retry */

struct workqueue_struct *fal_eng_wq;

static DEFINE_MUTEX(fal_listen_lock);
static LIST_HEAD(fal_listens);

/* What both ends must agree about: private data of the request */
struct fal_conn_priv {
	u8 order;
	u8 errors;
	u8 xrc;
	u8 reserved;
};

/*
 * Addresses
 */

static void fal_path_scope(struct falcon_path *path,
			   const struct ib_gid_attr *sgid)
{
	struct net_device *ndev;

	if (!(ipv6_addr_type(&path->daddr) & IPV6_ADDR_LINKLOCAL) &&
	    !(ipv6_addr_type(&path->saddr) & IPV6_ADDR_LINKLOCAL))
		return;
	rcu_read_lock();
	ndev = rcu_dereference(sgid->ndev);
	if (ndev) {
		path->scope_id = ndev->ifindex;
		path->oif = ndev->ifindex;
	}
	rcu_read_unlock();
}

/**
 * fal_path_from_ah() - the addresses behind an address vector
 * @path:	written whole
 * @sgid:	own GID
 * @attr:	the vector
 *
 * Return: false if the two are not of one family.
 */
bool fal_path_from_ah(struct falcon_path *path, const struct ib_gid_attr *sgid,
		      const struct rdma_ah_attr *attr)
{
	const struct ib_global_route *grh = rdma_ah_read_grh(attr);

	memset(path, 0, sizeof(*path));
	memcpy(&path->saddr, sgid->gid.raw, sizeof(path->saddr));
	memcpy(&path->daddr, grh->dgid.raw, sizeof(path->daddr));
	path->family = ipv6_addr_v4mapped(&path->daddr) ? AF_INET : AF_INET6;
	path->tclass = grh->traffic_class;
	fal_path_scope(path, sgid);
	return ipv6_addr_v4mapped(&path->saddr) ==
	       ipv6_addr_v4mapped(&path->daddr);
}

/**
 * fal_net_get() - the namespace that connections of a device are made in
 * @dev:	device
 *
 * Context: any.
 * Return: the namespace, held; NULL if it or the netdev goes.
 */
struct net *fal_net_get(struct fal_dev *dev)
{
	struct net *net;

	rcu_read_lock();
	net = fal_dev_net(dev);
	if (net)
		net = maybe_get_net(net);
	rcu_read_unlock();
	return net;
}

/*
 * Listening
 */

/*
 * Keys are those of @cred, whoever asks. Never NULL: the listener, or an error as a
 * pointer
 */
static struct fal_listen *
fal_listen_start(struct fal_dev *dev, const struct falcon_path *path,
		 u32 service, u8 security, const struct cred *cred, void *owner,
		 int (*request)(struct falcon_listener *l,
				struct falcon_conn *conn,
				struct falcon_cm_params *req,
				const struct falcon_ulp_ops **ulp,
				void **ulp_priv))
{
	struct fal_listen *fl = kzalloc(sizeof(*fl), GFP_KERNEL_ACCOUNT);
	struct net *net = fal_net_get(dev);
	int err = net ? -ENOMEM : -ENETDOWN;
	const struct cred *old;

	if (!fl || !net)
		goto free;
	fl->owner = owner;
	fl->net = net;
	fl->l.path.family = path->family;
	fl->l.path.saddr = path->saddr;
	fl->l.path.scope_id = path->scope_id;
	fl->l.path.oif = path->oif;
	fl->l.v6only = true;
	fl->l.proto = FALCON_PROTO_RDMA;
	fl->l.service = service;
	fl->l.security = security;
	fl->l.owner = THIS_MODULE;
	fl->l.request = request;
	old = override_creds(cred);
	mutex_lock(&fal_listen_lock);
	err = falcon_listen(net, &fl->l);
	if (!err)
		list_add(&fl->node, &fal_listens);
	mutex_unlock(&fal_listen_lock);
	revert_creds(old);
free:
	if (net)
		put_net(net);
	if (!err)
		return fl;
	kfree(fl);
	return ERR_PTR(err);
}

static void fal_listen_stop_locked(struct fal_listen *fl)
{
	lockdep_assert_held(&fal_listen_lock);
	if (!fl->net)
		return;
	falcon_unlisten_rcu(fl->net, &fl->l);
	fl->net = NULL;
	list_del(&fl->node);
}

/* Frees it, too. */
static void fal_listen_stop(struct fal_listen *fl)
{
	if (!fl)
		return;
	mutex_lock(&fal_listen_lock);
	fal_listen_stop_locked(fl);
	mutex_unlock(&fal_listen_lock);
	kfree_rcu(fl, l.rcu);
}

static void __net_exit fal_net_exit(struct net *net)
{
	struct fal_listen *fl, *n;

	mutex_lock(&fal_listen_lock);
	list_for_each_entry_safe(fl, n, &fal_listens, node)
		if (fl->net == net)
			fal_listen_stop_locked(fl);
	mutex_unlock(&fal_listen_lock);
}

static struct pernet_operations fal_net_ops = {
	.exit = fal_net_exit,
};

/*
 * UD: a listener for each GID
 */

static int fal_gid_request(struct falcon_listener *l, struct falcon_conn *conn,
			   struct falcon_cm_params *req,
			   const struct falcon_ulp_ops **ulp, void **ulp_priv)
{
	struct fal_listen *fl = container_of(l, struct fal_listen, l);

	return fal_ud_request(fl->owner, conn, req, ulp, ulp_priv);
}

/* ib_device_ops::add_gid: whoever knows this GID may send datagrams to it. */
int fal_eng_add_gid(const struct ib_gid_attr *attr, void **context)
{
	struct fal_dev *dev = to_fal_dev(attr->device);
	struct falcon_path path = {};
	struct fal_listen *fl;

	memcpy(&path.saddr, attr->gid.raw, sizeof(path.saddr));
	path.family = ipv6_addr_v4mapped(&path.saddr) ? AF_INET : AF_INET6;
	fal_path_scope(&path, attr);
	fl = fal_listen_start(dev, &path, FAL_UD_SERVICE,
			      FALCON_SECURITY_DEFAULT, dev->cred, dev,
			      fal_gid_request);
	if (IS_ERR(fl))
		return PTR_ERR(fl);
	*context = fl;
	return 0;
}

/* ib_device_ops::del_gid */
int fal_eng_del_gid(const struct ib_gid_attr *attr, void **context)
{
	fal_listen_stop(*context);
	*context = NULL;
	return 0;
}

/*
 * Queue pairs
 */

static bool fal_connected_type(const struct fal_qp *qp)
{
	switch (qp->ibqp.qp_type) {
	case IB_QPT_RC:
	case IB_QPT_XRC_INI:
	case IB_QPT_XRC_TGT:
		return true;
	default:
		return false;
	}
}

static bool fal_is_xrc(const struct fal_qp *qp)
{
	return qp->ibqp.qp_type != IB_QPT_RC;
}

/* How long the peer may be silent: the verbs' time-outs, which are short. */
static u32 fal_budget_ms(const struct fal_qp *qp)
{
	u64 us;

	if (!qp->attr.timeout)
		return 0;
	us = (4096ULL << qp->attr.timeout) / 1000 * (qp->attr.retry_cnt + 1);
	return clamp_t(u64, us / USEC_PER_MSEC, FAL_MIN_BUDGET_MS, 1 << 30);
}

/**
 * fal_rnr_limit() - RNR NACKs that end a request
 * @qp:	queue pair
 *
 * Return: one more than the retries of its rnr_retry; 0: none does.
 */
u8 fal_rnr_limit(const struct fal_qp *qp)
{
	return qp->attr.rnr_retry == FAL_RNR_FOREVER ? 0 :
						       qp->attr.rnr_retry + 1;
}

static void fal_conn_bounds(struct fal_qp *qp, struct falcon_conn *conn)
{
	falcon_conn_user_timeout(conn, fal_budget_ms(qp));
	falcon_conn_rnr_limit(conn, fal_rnr_limit(qp));
}

static void fal_retry(struct fal_qp *qp, unsigned int ms)
{
	mod_delayed_work(fal_eng_wq, &qp->eng.retry, msecs_to_jiffies(ms));
}

static unsigned int fal_retry_ms(const struct fal_qp *qp)
{
	return min(FAL_RETRY_MS << min(qp->eng.tries, 8U), FAL_RETRY_MAX_MS);
}

static void fal_conn_gone(struct fal_qp *qp)
{
	atomic_t *n = &qp->eng.nr_conns;

	/* At 0 the queue pair may be freed. */
	if (atomic_dec_and_test(n))
		wake_up_var(n);
}

/* Takes @conn out of wherever it is; false: somebody else has. */
static bool fal_conn_take(struct fal_qp_eng *eng, struct falcon_conn *conn)
{
	lockdep_assert_held(&eng->lock);
	if (eng->incoming == conn) {
		eng->incoming = NULL;
	} else if (eng->conn == conn) {
		eng->conn = NULL;
	} else if (eng->attempting && (!eng->attempt || eng->attempt == conn)) {
		eng->attempting = false;
		eng->attempt = NULL;
	} else {
		return false;
	}
	return true;
}

static void fal_conn_up(struct fal_qp *qp, struct falcon_conn *conn)
{
	struct fal_qp_eng *eng = &qp->eng;
	bool mine, use;

	spin_lock_bh(&eng->lock);
	mine = fal_conn_take(eng, conn);
	use = mine && eng->live && !eng->conn;
	if (use)
		eng->conn = conn;
	spin_unlock_bh(&eng->lock);
	if (!use) {
		if (mine)
			falcon_conn_close(conn);
		return;
	}
	fal_count(qp->dev, FAL_STAT_CONN_MADE);
	fal_conn_bounds(qp, conn);
	fal_req_kick(qp);
}

static void fal_conn_down(struct fal_qp *qp, struct falcon_conn *conn)
{
	struct fal_qp_eng *eng = &qp->eng;
	bool mine, lost, retry;

	spin_lock_bh(&eng->lock);
	lost = eng->conn == conn;
	mine = fal_conn_take(eng, conn);
	retry = mine && !lost && eng->live && !eng->conn;
	spin_unlock_bh(&eng->lock);
	if (mine)
		falcon_conn_close(conn);
	if (retry)
		fal_retry(qp, READ_ONCE(eng->peer_tries) ? 0 :
			      fal_retry_ms(qp));
	if (!lost)
		return;
	fal_count(qp->dev, FAL_STAT_CONN_LOST);
	if (fal_qp_set_error(qp))
		fal_qp_event(qp, IB_EVENT_QP_FATAL);
	fal_req_kick(qp);
}

static void fal_conn_event(struct falcon_conn *conn, enum falcon_conn_event ev,
			   int err)
{
	struct fal_qp *qp = falcon_conn_priv(conn);

	switch (ev) {
	case FALCON_EV_ESTABLISHED:
		fal_conn_up(qp, conn);
		break;
	case FALCON_EV_FAILED:
	case FALCON_EV_ABORTED:
		fal_conn_down(qp, conn);
		break;
	case FALCON_EV_TX_SPACE:
		fal_resp_space(qp, conn);
		fal_req_kick(qp);
		break;
	case FALCON_EV_CLOSED:
		fal_conn_gone(qp);
		break;
	case FALCON_EV_KILL:
		break;
	}
}

static const struct falcon_ulp_ops fal_rc_ops = {
	.owner		= THIS_MODULE,
	.proto		= FALCON_PROTO_RDMA,
	.deliver	= fal_resp_deliver,
	.complete	= fal_req_complete,
	.release	= fal_resp_release,
	.batch		= fal_req_batch,
	.event		= fal_conn_event,
};

static struct fal_conn_priv fal_conn_wish(const struct fal_qp *qp)
{
	return (struct fal_conn_priv) {
		.order	= qp->order,
		.errors	= qp->errors,
		.xrc	= fal_is_xrc(qp),
	};
}

/* Of two attempts at a time, is it ours that counts? */
static bool fal_wins(const struct fal_qp *qp)
{
	int c = memcmp(&qp->eng.path.saddr, &qp->eng.path.daddr,
		       sizeof(struct in6_addr));

	return c ? c > 0 : qp->ibqp.qp_num > qp->attr.dest_qp_num;
}

/* From the queue pair that this one was told of, which wants the same? */
static bool fal_expected(const struct fal_qp *qp,
			 const struct falcon_cm_params *req)
{
	struct fal_conn_priv wish = fal_conn_wish(qp);

	return req->src_service == qp->attr.dest_qp_num &&
	       ipv6_addr_equal(&req->path.daddr, &qp->eng.path.daddr) &&
	       req->ordered == (qp->order == FALCON_QP_STRONG) &&
	       req->priv_len == sizeof(wish) &&
	       !memcmp(req->priv, &wish, sizeof(wish));
}

static int fal_rc_request(struct falcon_listener *l, struct falcon_conn *conn,
			  struct falcon_cm_params *req,
			  const struct falcon_ulp_ops **ulp, void **ulp_priv)
{
	struct fal_qp *qp = container_of(l, struct fal_listen, l)->owner;
	struct fal_qp_eng *eng = &qp->eng;
	int err = -ECONNREFUSED;

	if (!fal_expected(qp, req))
		return err;
	spin_lock_bh(&eng->lock);
	if (eng->attempting && fal_wins(qp)) {
		WRITE_ONCE(eng->peer_tries, true);
	} else if (eng->live && !eng->conn && !eng->incoming) {
		eng->incoming = conn;
		atomic_inc(&eng->nr_conns);
		err = 0;
	}
	spin_unlock_bh(&eng->lock);
	if (!err && qp->fae) {
		falcon_fae_hold(qp->fae);
		req->fae = qp->fae;
	}
	/* timeout, retry_cnt and rnr_retry bound it (fal_conn_bounds()). */
	req->txn_timeout_ms = FALCON_CM_NO_TIMEOUT;
	*ulp = &fal_rc_ops;
	*ulp_priv = qp;
	return err;
}

static struct falcon_conn *fal_connect(struct fal_qp *qp)
{
	struct fal_conn_priv wish = fal_conn_wish(qp);
	struct falcon_cm_params params = {
		.path = qp->eng.path,
		.proto = FALCON_PROTO_RDMA,
		.service = qp->attr.dest_qp_num,
		.src_service = qp->ibqp.qp_num,
		.ordered = qp->order == FALCON_QP_STRONG,
		.loss = FALCON_CM_BY_SYSCTL,
		.txn_timeout_ms = FALCON_CM_NO_TIMEOUT,
		.security = qp->security,
		.cred = qp->cred,
		.fae = qp->fae,
		.priv = &wish,
		.priv_len = sizeof(wish),
	};
	struct net *net = fal_net_get(qp->dev);
	struct falcon_conn *conn;

	if (!net)
		return ERR_PTR(-ENETDOWN);
	conn = falcon_connect(net, &params, &fal_rc_ops, qp);
	put_net(net);
	return conn;
}

/* One attempt, unless there is one, or a connection. */
static void fal_try(struct fal_qp *qp)
{
	struct fal_qp_eng *eng = &qp->eng;
	struct falcon_conn *conn;
	bool go, stray;

	spin_lock_bh(&eng->lock);
	go = eng->live && !eng->conn && !eng->incoming && !eng->attempting;
	if (go) {
		eng->attempting = true;
		eng->attempt = NULL;
		eng->peer_tries = false;
		eng->tries++;
		atomic_inc(&eng->nr_conns);
	}
	spin_unlock_bh(&eng->lock);
	if (!go)
		return;
	conn = fal_connect(qp);
	spin_lock_bh(&eng->lock);
	stray = eng->stray;
	eng->stray = false;
	if (IS_ERR(conn))
		eng->attempting = false;
	else if (eng->attempting)
		eng->attempt = conn;
	spin_unlock_bh(&eng->lock);
	if (IS_ERR(conn)) {
		fal_count(qp->dev, FAL_STAT_CONN_FAILED);
		fal_conn_gone(qp);
	} else if (stray) {
		falcon_conn_close(conn);
	}
}

/* Requests wait for a connection: not for ever. True if it is too late. */
static bool fal_too_late(struct fal_qp *qp)
{
	struct fal_qp_eng *eng = &qp->eng;
	u32 ms = fal_budget_ms(qp);

	if (!ms || !fal_req_waiting(qp)) {
		eng->give_up = 0;
		return false;
	}
	if (!eng->give_up)
		eng->give_up = jiffies + msecs_to_jiffies(ms);
	return time_after(jiffies, eng->give_up);
}

static void fal_retry_work(struct work_struct *work)
{
	struct fal_qp *qp = container_of(to_delayed_work(work), struct fal_qp,
					 eng.retry);

	if (!fal_connected_type(qp) || READ_ONCE(qp->eng.conn) ||
	    !READ_ONCE(qp->eng.live)) {
		fal_req_kick(qp);
		return;
	}
	if (fal_too_late(qp)) {
		fal_count(qp->dev, FAL_STAT_CONN_FAILED);
		fal_req_give_up(qp);
		return;
	}
	fal_try(qp);
	fal_retry(qp, fal_retry_ms(qp));
}

/*
 * Takes the connection, or the attempts, and lets go of them. For an @error not if
 * the queue pair has been reset since: they are of its next life.
 */
static void fal_conn_drop(struct fal_qp *qp, bool error)
{
	struct fal_qp_eng *eng = &qp->eng;
	struct falcon_conn *c[3];
	unsigned int i;

	spin_lock_bh(&eng->lock);
	if (error && READ_ONCE(qp->state) != IB_QPS_ERR) {
		spin_unlock_bh(&eng->lock);
		return;
	}
	c[0] = eng->conn;
	c[1] = eng->incoming;
	c[2] = eng->attempt;
	/* fal_try() closes what it does not know yet. */
	if (eng->attempting && !eng->attempt)
		eng->stray = true;
	eng->live = false;
	eng->conn = NULL;
	eng->incoming = NULL;
	eng->attempt = NULL;
	eng->attempting = false;
	spin_unlock_bh(&eng->lock);
	for (i = 0; i < ARRAY_SIZE(c); i++)
		if (c[i])
			falcon_conn_close(c[i]);
}

static void fal_shut_work(struct work_struct *work)
{
	struct fal_qp *qp = container_of(to_delayed_work(work), struct fal_qp,
					 eng.shut);

	fal_conn_drop(qp, true);
}

/**
 * fal_conn_fail() - the connection of a queue pair in error ends
 * @qp:		queue pair in the error state
 * @tell_peer:	the peer's transaction was refused: it has to hear of that
 *
 * What is open completes. The receive side is flushed; requests that were not
 * begun are the requester's to flush.
 *
 * Context: process or softirq.
 */
void fal_conn_fail(struct fal_qp *qp, bool tell_peer)
{
	struct fal_qp_eng *eng = &qp->eng;
	bool telling;

	spin_lock_bh(&eng->lock);
	if (tell_peer)
		eng->telling = true;
	telling = eng->telling;
	/* Not once it is reset: nobody would wait for that work. */
	if (telling && eng->live)
		queue_delayed_work(fal_eng_wq, &eng->shut,
				   msecs_to_jiffies(FAL_TELL_MS));
	spin_unlock_bh(&eng->lock);
	fal_resp_flush(qp);
	if (!telling)
		fal_conn_drop(qp, true);
}

/*
 * What the front half calls
 */

static void fal_kick_tasklet(struct tasklet_struct *t)
{
	struct fal_qp *qp = from_tasklet(qp, t, eng.tasklet);

	fal_req_kick(qp);
}

/**
 * fal_eng_kick() - a queue pair has work
 * @qp:	queue pair
 *
 * Context: any.
 */
void fal_eng_kick(struct fal_qp *qp)
{
	if (in_hardirq() || irqs_disabled())
		tasklet_schedule(&qp->eng.tasklet);
	else
		fal_req_kick(qp);
}

/**
 * fal_eng_to_rtr() - a queue pair gets ready to receive
 * @qp:	queue pair, its attributes set
 *
 * Return: 0; -EINVAL: addresses; -EOPNOTSUPP: to itself; -ENETDOWN; -ENOMEM.
 */
int fal_eng_to_rtr(struct fal_qp *qp)
{
	struct fal_qp_eng *eng = &qp->eng;
	const struct rdma_ah_attr *av = &qp->attr.ah_attr;
	struct fal_listen *fl;

	fal_req_reset(qp);
	fal_resp_reset(qp);
	if (!fal_connected_type(qp))
		return 0;
	if (!av->grh.sgid_attr ||
	    !fal_path_from_ah(&eng->path, av->grh.sgid_attr, av))
		return -EINVAL;
	/* It has one connection, of which it cannot be both ends. */
	if (qp->attr.dest_qp_num == qp->ibqp.qp_num &&
	    ipv6_addr_equal(&eng->path.saddr, &eng->path.daddr))
		return -EOPNOTSUPP;
	spin_lock_bh(&eng->lock);
	eng->live = true;
	eng->telling = false;
	eng->peer_tries = false;
	eng->tries = 0;
	eng->give_up = 0;
	spin_unlock_bh(&eng->lock);
	fl = fal_listen_start(qp->dev, &eng->path, qp->ibqp.qp_num,
			      qp->security, qp->cred, qp, fal_rc_request);
	if (IS_ERR(fl)) {
		eng->live = false;
		return PTR_ERR(fl);
	}
	eng->listen = fl;
	fal_retry(qp, 0);
	return 0;
}

/**
 * fal_eng_to_rts() - a queue pair may send
 * @qp:	queue pair
 */
void fal_eng_to_rts(struct fal_qp *qp)
{
	struct falcon_conn *conn = NULL;

	spin_lock_bh(&qp->eng.lock);
	if (qp->eng.conn && falcon_conn_get(qp->eng.conn))
		conn = qp->eng.conn;
	spin_unlock_bh(&qp->eng.lock);
	if (conn) {
		fal_conn_bounds(qp, conn);
		falcon_conn_put(conn);
	}
	fal_req_kick(qp);
}

/**
 * fal_eng_from_sqe() - a queue pair of datagrams is to send again
 * @qp:	queue pair in SQE
 *
 * When it returns all that was posted behind the request that failed is flushed.
 */
void fal_eng_from_sqe(struct fal_qp *qp)
{
	/* SQE is set, and the queue flushed, in one go under this lock. */
	spin_lock_bh(&qp->eng.lock);
	qp->eng.halted = false;
	spin_unlock_bh(&qp->eng.lock);
}

/**
 * fal_eng_to_sqd() - a queue pair drains its send queue
 * @qp:	queue pair
 *
 * What was begun goes on, nothing else is. The consumer that asked for it gets
 * IB_EVENT_SQ_DRAINED when that is over.
 */
void fal_eng_to_sqd(struct fal_qp *qp)
{
	spin_lock_bh(&qp->eng.lock);
	qp->eng.draining = true;
	spin_unlock_bh(&qp->eng.lock);
	fal_req_kick(qp);
}

/**
 * fal_eng_to_err() - a queue pair was moved to the error state
 * @qp:	queue pair
 */
void fal_eng_to_err(struct fal_qp *qp)
{
	fal_req_kick(qp);
}

/**
 * fal_eng_to_reset() - a queue pair is to forget everything
 * @qp:	queue pair
 *
 * Context: process, may sleep. When it returns nothing of the engine refers to
 * @qp, but for whoever holds it.
 */
void fal_eng_to_reset(struct fal_qp *qp)
{
	struct fal_qp_eng *eng = &qp->eng;

	spin_lock_bh(&eng->lock);
	eng->live = false;
	spin_unlock_bh(&eng->lock);
	fal_listen_stop(eng->listen);
	eng->listen = NULL;
	cancel_delayed_work_sync(&eng->retry);
	cancel_delayed_work_sync(&eng->shut);
	fal_conn_drop(qp, false);
	wait_var_event(&eng->nr_conns, !atomic_read(&eng->nr_conns));
	/* Call-backs may have started it anew. */
	cancel_delayed_work_sync(&eng->retry);
	cancel_delayed_work_sync(&eng->shut);
	fal_ud_forget(qp);
	tasklet_kill(&eng->tasklet);
	fal_resp_reset(qp);
}

/**
 * fal_eng_qp_exit() - a queue pair goes
 * @qp:	queue pair in RESET that nobody holds any more
 *
 * Whoever held it may have found more to do, and left that to the retry, after
 * fal_eng_to_reset().
 *
 * Context: process, may sleep.
 */
void fal_eng_qp_exit(struct fal_qp *qp)
{
	cancel_delayed_work_sync(&qp->eng.retry);
}

/**
 * fal_eng_qp_init() - a new queue pair
 * @qp:	queue pair
 *
 * Return: 0; -ENOMEM.
 */
int fal_eng_qp_init(struct fal_qp *qp)
{
	struct fal_qp_eng *eng = &qp->eng;

	eng->nr_slots = qp->order == FALCON_QP_WEAK ? FAL_RX_WINDOW : 1;
	eng->slots = kvcalloc(eng->nr_slots, sizeof(*eng->slots),
			      GFP_KERNEL_ACCOUNT);
	if (!eng->slots)
		return -ENOMEM;
	spin_lock_init(&eng->lock);
	spin_lock_init(&eng->rx_lock);
	__skb_queue_head_init(&eng->resps);
	INIT_LIST_HEAD(&eng->wait_node);
	tasklet_setup(&eng->tasklet, fal_kick_tasklet);
	INIT_DELAYED_WORK(&eng->retry, fal_retry_work);
	INIT_DELAYED_WORK(&eng->shut, fal_shut_work);
	return 0;
}

/**
 * fal_eng_ah_init() - a new address handle
 * @ah:	address handle
 *
 * Return: 0; -EINVAL: addresses.
 */
int fal_eng_ah_init(struct fal_ah *ah)
{
	const struct ib_gid_attr *sgid = ah->attr.grh.sgid_attr;

	if (!sgid || !fal_path_from_ah(&ah->eng.path, sgid, &ah->attr))
		return -EINVAL;
	return 0;
}

/**
 * fal_eng_ah_exit() - an address handle goes
 * @ah:	address handle; requests have copied what they need
 */
void fal_eng_ah_exit(struct fal_ah *ah)
{
}

/**
 * fal_eng_dev_init() - a new device
 * @dev:	device
 *
 * Return: 0.
 */
int fal_eng_dev_init(struct fal_dev *dev)
{
	fal_ud_dev_init(dev);
	return 0;
}

/**
 * fal_eng_dev_exit() - a device goes
 * @dev:	device without objects
 *
 * Context: process, may sleep.
 */
void fal_eng_dev_exit(struct fal_dev *dev)
{
	fal_ud_dev_exit(dev);
}

/**
 * fal_eng_init() - the module is loaded
 *
 * Return: 0 or a negative errno.
 */
int fal_eng_init(void)
{
	int err;

	fal_eng_wq = alloc_workqueue("falcon_ib", WQ_UNBOUND | WQ_MEM_RECLAIM,
				     0);
	if (!fal_eng_wq)
		return -ENOMEM;
	err = register_pernet_subsys(&fal_net_ops);
	if (err)
		destroy_workqueue(fal_eng_wq);
	return err;
}

/**
 * fal_eng_exit() - the module goes: there are no devices
 */
void fal_eng_exit(void)
{
	unregister_pernet_subsys(&fal_net_ops);
	destroy_workqueue(fal_eng_wq);
}
