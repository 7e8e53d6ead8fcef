// SPDX-License-Identifier: GPL-2.0
/*
 * A small upper layer protocol (ULP) over Falcon: what a push brings is pushed
 * back, what a pull asks for is made up. A request can ask to be refused once
 * as "receiver not ready" (RNR), or to be completed in error (CIE), so that
 * every answer of a target (8.5.3) is seen at work.
 *
 * Every namespace has a server. A client is run by writing an address to
 * falcon_echo/run in debugfs; falcon_echo/result then has a TAP report. It
 * borrows the protocol type of NVMe and a service number of its own.
 *
 * Documentation/networking/falcon/ulp.rst explains the rules followed here.
 */
#include <linux/completion.h>
#include <linux/debugfs.h>
#include <linux/inet.h>
#include <linux/module.h>
#include <linux/nsproxy.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/wait.h>
#include <net/falcon.h>
#include <net/netns/generic.h>

#define ECHO_SERVICE	0xec40
#define ECHO_WINDOW	32		/* transactions that a client has open */
#define ECHO_CIE_CODE	0x5c		/* the ULP's own code beside a CIE */
#define ECHO_RNR_NS	NSEC_PER_MSEC
#define ECHO_MAX	100000		/* of each kind in a run */

static unsigned int count = 100;
module_param(count, uint, 0644);
MODULE_PARM_DESC(count, "pushes, and pulls, of a run");

static unsigned int size = 1000;
module_param(size, uint, 0644);
MODULE_PARM_DESC(size, "bytes of each; cut to what a packet holds");

static unsigned int rnr_every = 5;
module_param(rnr_every, uint, 0644);
MODULE_PARM_DESC(rnr_every, "every n-th transaction is refused once; 0: none");

static unsigned int cie_every = 7;
module_param(cie_every, uint, 0644);
MODULE_PARM_DESC(cie_every, "every n-th transaction ends in error; 0: none");

static bool never_ready;
module_param(never_ready, bool, 0644);
MODULE_PARM_DESC(never_ready, "the server refuses everything, for ever");

static unsigned int timeout_s = 60;
module_param(timeout_s, uint, 0644);
MODULE_PARM_DESC(timeout_s, "seconds that a step of a run may take");

enum echo_op {
	ECHO_PUSH = 1,		/* push: to be pushed back */
	ECHO_REPLY,		/* push: what came back */
	ECHO_PULL,		/* pull request */
	ECHO_DATA,		/* pull data */
	ECHO_BYE,		/* push: the client is done */
};

#define ECHO_F_RNR	BIT(0)	/* refuse it once */
#define ECHO_F_CIE	BIT(1)	/* complete it in error */

/**
 * struct echo_hdr - ULP header of every packet
 * @op:		enum echo_op
 * @flags:	of a request: ECHO_F_*
 * @len:	bytes that follow
 * @seq:	of a request, from 1 on over pushes and pulls; answers repeat it
 * @rnrs:	of an answer: requests that were refused so far because they
 *		asked for it
 */
struct echo_hdr {
	u8	op;
	u8	flags;
	__be16	len;
	__be32	seq;
	__be32	rnrs;
} __packed;

/* A push, pull or pull data, with the packet that is the ULP's to free */
struct echo_txn {
	struct falcon_txn txn;
	struct sk_buff *skb;
	u32 seq;
	u8 op;
	u8 flags;
};

struct echo_resp {
	struct falcon_resp resp;
	struct sk_buff *skb;
};

static u8 echo_byte(u32 seq, unsigned int i)
{
	return seq * 31 + i;
}

static struct sk_buff *echo_skb(const struct echo_hdr *h, gfp_t gfp)
{
	unsigned int len = be16_to_cpu(h->len), i;
	struct sk_buff *skb = alloc_skb(sizeof(*h) + len, gfp);
	u8 *p;

	if (!skb)
		return NULL;
	skb_put_data(skb, h, sizeof(*h));
	p = skb_put(skb, len);
	for (i = 0; i < len; i++)
		p[i] = echo_byte(be32_to_cpu(h->seq), i);
	return skb;
}

static bool echo_hdr_get(const struct sk_buff *skb, struct echo_hdr *h)
{
	return !skb_copy_bits(skb, 0, h, sizeof(*h)) &&
	       skb->len == sizeof(*h) + be16_to_cpu(h->len);
}

/* Payload need not be linear. */
static bool echo_intact(const struct sk_buff *skb, const struct echo_hdr *h)
{
	unsigned int len = be16_to_cpu(h->len), off, n, i;
	u8 buf[64];

	for (off = 0; off < len; off += n) {
		n = min_t(unsigned int, len - off, sizeof(buf));
		if (skb_copy_bits(skb, sizeof(*h) + off, buf, n))
			return false;
		for (i = 0; i < n; i++)
			if (buf[i] != echo_byte(be32_to_cpu(h->seq), off + i))
				return false;
	}
	return true;
}

/*
 * The server. All of it runs in call-backs, one at a time for a connection, so
 * it needs no lock.
 */

/**
 * struct echo_server - a connection at the server
 * @expect:	request that is to be accepted next
 * @refused:	last one that was refused because it asked for it
 * @rnrs:	how many were
 * @open:	own pushes and pull data that are not done
 * @bye:	the client is done
 * @let_go:	falcon_conn_close() was called
 */
struct echo_server {
	u32 expect;
	u32 refused;
	u32 rnrs;
	unsigned int open;
	bool bye;
	bool let_go;
};

/* Once, even if the connection dies in the same round. */
static void echo_server_let_go(struct falcon_conn *conn, struct echo_server *s)
{
	if (s->let_go)
		return;
	s->let_go = true;
	falcon_conn_close(conn);
}

/* A connection that is closed with work open is aborted: wait for it. */
static void echo_server_done(struct falcon_conn *conn, struct echo_server *s)
{
	if (s->bye && !s->open)
		echo_server_let_go(conn, s);
}

/* False if there is no room now. */
static bool echo_server_push_back(struct falcon_conn *conn,
				  struct echo_server *s,
				  const struct echo_hdr *answer,
				  const struct sk_buff *from)
{
	struct echo_txn *t = kzalloc(sizeof(*t), GFP_ATOMIC);

	if (!t)
		return false;
	t->skb = alloc_skb(from->len, GFP_ATOMIC);
	if (!t->skb)
		goto free;
	skb_put_data(t->skb, answer, sizeof(*answer));
	if (skb_copy_bits(from, sizeof(*answer),
			  skb_put(t->skb, from->len - sizeof(*answer)),
			  from->len - sizeof(*answer)))
		goto free;
	if (falcon_push(conn, &t->txn, t->skb))
		goto free;
	s->open++;
	return true;
free:
	kfree_skb(t->skb);
	kfree(t);
	return false;
}

/* 8.5.3.5: a pull that fails is answered with no bytes. False: no room now. */
static bool echo_server_respond(struct falcon_conn *conn, struct echo_server *s,
				struct falcon_rxpkt *rx, struct echo_hdr *answer)
{
	struct echo_resp *r = kzalloc(sizeof(*r), GFP_ATOMIC);

	if (!r)
		return false;
	if (answer->flags & ECHO_F_CIE || rx->req_len < sizeof(*answer)) {
		r->skb = alloc_skb(0, GFP_ATOMIC);
	} else {
		answer->len = cpu_to_be16(rx->req_len - sizeof(*answer));
		r->skb = echo_skb(answer, GFP_ATOMIC);
	}
	if (!r->skb || falcon_target_respond(conn, rx, &r->resp, r->skb)) {
		kfree_skb(r->skb);
		kfree(r);
		return false;
	}
	s->open++;
	return true;
}

/* The answer is decided: false if it must be "not ready" for lack of room. */
static bool echo_server_answer(struct falcon_conn *conn, struct echo_server *s,
			       struct falcon_rxpkt *rx, struct sk_buff *skb,
			       const struct echo_hdr *h)
{
	struct echo_hdr answer = *h;

	answer.rnrs = cpu_to_be32(s->rnrs);
	if (rx->type == FALCON_PKT_PULL_REQ) {
		answer.op = ECHO_DATA;
		if (!echo_server_respond(conn, s, rx, &answer))
			return false;
		kfree_skb(skb);
		return true;
	}
	if (h->flags & ECHO_F_CIE) {
		falcon_target_nack(conn, rx, FALCON_NACK_CIE, ECHO_CIE_CODE);
		return true;
	}
	answer.op = ECHO_REPLY;
	if (h->op == ECHO_BYE)
		s->bye = true;
	else if (!echo_server_push_back(conn, s, &answer, skb))
		return false;
	falcon_target_ack(conn, rx);
	kfree_skb(skb);
	return true;
}

/*
 * What was delivered already when an earlier one was refused is refused too:
 * Falcon delivers all of them again in order (8.5.3.4).
 */
static void echo_server_deliver(struct falcon_conn *conn,
				struct falcon_rxpkt *rx, struct sk_buff *skb)
{
	struct echo_server *s = falcon_conn_priv(conn);
	struct echo_hdr h;
	u32 seq;

	if (!echo_hdr_get(skb, &h)) {
		falcon_target_nack(conn, rx, FALCON_NACK_NRE, 0);
		return;
	}
	seq = be32_to_cpu(h.seq);
	if (READ_ONCE(never_ready)) {
		s->rnrs++;
	} else if (seq == s->expect && h.flags & ECHO_F_RNR && seq != s->refused) {
		s->refused = seq;
		s->rnrs++;
	} else if (seq == s->expect &&
		   echo_server_answer(conn, s, rx, skb, &h)) {
		s->expect++;
		echo_server_done(conn, s);
		return;
	}
	falcon_target_rnr(conn, rx, falcon_rnr_code(ECHO_RNR_NS));
}

static void echo_server_complete(struct falcon_conn *conn,
				 struct falcon_txn *txn)
{
	struct echo_txn *t = container_of(txn, struct echo_txn, txn);
	struct echo_server *s = falcon_conn_priv(conn);

	kfree_skb(t->skb);
	kfree(t);
	s->open--;
	echo_server_done(conn, s);
}

static void echo_server_release(struct falcon_conn *conn,
				struct falcon_resp *resp)
{
	struct echo_resp *r = container_of(resp, struct echo_resp, resp);
	struct echo_server *s = falcon_conn_priv(conn);

	kfree_skb(r->skb);
	kfree(r);
	s->open--;
	echo_server_done(conn, s);
}

static void echo_server_event(struct falcon_conn *conn,
			      enum falcon_conn_event ev, int err)
{
	struct echo_server *s = falcon_conn_priv(conn);

	if (ev == FALCON_EV_FAILED || ev == FALCON_EV_ABORTED)
		echo_server_let_go(conn, s);
	else if (ev == FALCON_EV_CLOSED)
		kfree(s);
}

static const struct falcon_ulp_ops echo_server_ops = {
	.owner		= THIS_MODULE,
	.proto		= FALCON_PROTO_NVME,
	.deliver	= echo_server_deliver,
	.complete	= echo_server_complete,
	.release	= echo_server_release,
	.event		= echo_server_event,
};

static int echo_request(struct falcon_listener *l, struct falcon_conn *conn,
			struct falcon_cm_params *req,
			const struct falcon_ulp_ops **ulp, void **ulp_priv)
{
	struct echo_server *s;

	if (!req->ordered)
		return -EPROTONOSUPPORT;
	s = kzalloc(sizeof(*s), GFP_KERNEL_ACCOUNT);
	if (!s)
		return -ENOMEM;
	s->expect = 1;
	*ulp = &echo_server_ops;
	*ulp_priv = s;
	return 0;
}

/*
 * The client: one process in falcon_echo/run, and call-backs that count. What
 * they count is read when the connection is closed.
 */

/**
 * struct echo_client - a run
 * @conn:	connection
 * @up:		it is established, or failed
 * @closed:	the last call has come
 * @wait:	for @open, @replies, @space, @err
 * @open:	transactions that have not completed
 * @replies:	pushes that came back
 * @space:	a push that was refused may succeed
 * @err:	how the connection ended, or 0
 * @total:	requests of the run, BYE not counted
 * @want_replies: how many of them come back
 * @every_rnr:	&rnr_every as the run began
 * @every_cie:	&cie_every as the run began
 * @next_done:	request that completes next
 * @next_reply:	the one that comes back next
 * @max_rnrs:	as the server says
 * @pushed:	pushes that completed as they should
 * @pulled:	pulls likewise
 * @failed:	requests completed in error as they should
 * @timed_out:	given up by Falcon (section 11)
 * @bad_cmpl:	completed with a code that they should not
 * @bad_order:	completed or came back out of order
 * @bad_data:	content or length wrong
 * @bad_rnr:	answered though they should have been refused before
 */
struct echo_client {
	struct falcon_conn *conn;
	struct completion up;
	struct completion closed;
	wait_queue_head_t wait;
	atomic_t open;
	atomic_t replies;
	bool space;
	int err;
	u32 total;
	u32 want_replies;
	u32 every_rnr;
	u32 every_cie;
	u32 next_done;
	u32 next_reply;
	u32 max_rnrs;
	u32 pushed;
	u32 pulled;
	u32 failed;
	u32 timed_out;
	u32 bad_cmpl;
	u32 bad_order;
	u32 bad_data;
	u32 bad_rnr;
};

static u8 echo_op(const struct echo_client *cl, u32 seq)
{
	if (seq > cl->total)
		return ECHO_BYE;
	return seq % 2 ? ECHO_PUSH : ECHO_PULL;
}

static u8 echo_flags(const struct echo_client *cl, u32 seq)
{
	u8 flags = 0;

	if (seq > cl->total)
		return 0;
	if (cl->every_rnr && !(seq % cl->every_rnr))
		flags |= ECHO_F_RNR;
	if (cl->every_cie && !(seq % cl->every_cie))
		flags |= ECHO_F_CIE;
	return flags;
}

/* From one push that comes back to the next */
static u32 echo_next_reply(const struct echo_client *cl, u32 seq)
{
	do {
		seq++;
	} while (seq <= cl->total && (echo_op(cl, seq) != ECHO_PUSH ||
				      echo_flags(cl, seq) & ECHO_F_CIE));
	return seq;
}

static u32 echo_count_replies(const struct echo_client *cl)
{
	u32 seq, n = 0;

	for (seq = echo_next_reply(cl, 0); seq <= cl->total;
	     seq = echo_next_reply(cl, seq))
		n++;
	return n;
}

static void echo_client_check(struct echo_client *cl, const struct sk_buff *skb,
			      u8 op, u32 seq)
{
	struct echo_hdr h;
	u32 rnrs;

	if (!echo_hdr_get(skb, &h) || h.op != op) {
		cl->bad_data++;
		return;
	}
	if (be32_to_cpu(h.seq) != seq)
		cl->bad_order++;
	if (!h.len || !echo_intact(skb, &h))
		cl->bad_data++;
	rnrs = be32_to_cpu(h.rnrs);
	if (cl->every_rnr && rnrs < seq / cl->every_rnr)
		cl->bad_rnr++;
	cl->max_rnrs = max(cl->max_rnrs, rnrs);
}

static void echo_client_deliver(struct falcon_conn *conn,
				struct falcon_rxpkt *rx, struct sk_buff *skb)
{
	struct echo_client *cl = falcon_conn_priv(conn);

	if (rx->type != FALCON_PKT_PUSH_DATA) {
		falcon_target_nack(conn, rx, FALCON_NACK_CIE, 0);
		return;
	}
	echo_client_check(cl, skb, ECHO_REPLY, cl->next_reply);
	cl->next_reply = echo_next_reply(cl, cl->next_reply);
	falcon_target_ack(conn, rx);
	kfree_skb(skb);
	atomic_inc(&cl->replies);
	wake_up(&cl->wait);
}

static void echo_client_push_done(struct echo_client *cl,
				  const struct echo_txn *t)
{
	if (!(t->flags & ECHO_F_CIE)) {
		if (t->txn.cmpl == FALCON_CMPL_ACK)
			cl->pushed++;
		else
			cl->bad_cmpl++;
	} else if (t->txn.cmpl == FALCON_CMPL_TARGET_NACK_CIE &&
		   t->txn.ulp_code == ECHO_CIE_CODE) {
		cl->failed++;
	} else {
		cl->bad_cmpl++;
	}
}

static void echo_client_pull_done(struct echo_client *cl,
				  const struct echo_txn *t)
{
	struct falcon_rxpkt *rx = t->txn.rx;

	if (t->txn.cmpl != FALCON_CMPL_ACK ||
	    !rx != !!(t->flags & ECHO_F_CIE)) {
		cl->bad_cmpl++;
	} else if (!rx) {
		cl->failed++;
	} else {
		echo_client_check(cl, falcon_rx_skb(rx), ECHO_DATA, t->seq);
		cl->pulled++;
	}
	if (rx)
		kfree_skb(falcon_rx_skb(rx));
}

static void echo_client_complete(struct falcon_conn *conn,
				 struct falcon_txn *txn)
{
	struct echo_txn *t = container_of(txn, struct echo_txn, txn);
	struct echo_client *cl = falcon_conn_priv(conn);

	if (t->seq != cl->next_done++)
		cl->bad_order++;
	if (t->txn.cmpl == FALCON_CMPL_LOCAL_TO)
		cl->timed_out++;
	if (t->op == ECHO_PULL)
		echo_client_pull_done(cl, t);
	else
		echo_client_push_done(cl, t);
	kfree_skb(t->skb);
	kfree(t);
	atomic_dec(&cl->open);
	wake_up(&cl->wait);
}

/* A client is asked for nothing, so it responds with nothing. */
static void echo_client_release(struct falcon_conn *conn,
				struct falcon_resp *resp)
{
	WARN_ON_ONCE(1);
}

static void echo_client_event(struct falcon_conn *conn,
			      enum falcon_conn_event ev, int err)
{
	struct echo_client *cl = falcon_conn_priv(conn);

	switch (ev) {
	case FALCON_EV_ESTABLISHED:
		complete(&cl->up);
		break;
	case FALCON_EV_FAILED:
	case FALCON_EV_ABORTED:
		WRITE_ONCE(cl->err, err);
		complete(&cl->up);
		wake_up(&cl->wait);
		break;
	case FALCON_EV_TX_SPACE:
		WRITE_ONCE(cl->space, true);
		wake_up(&cl->wait);
		break;
	case FALCON_EV_CLOSED:
		/* The last call: @cl may be gone right after. */
		complete(&cl->closed);
		break;
	default:
		break;
	}
}

static const struct falcon_ulp_ops echo_client_ops = {
	.owner		= THIS_MODULE,
	.proto		= FALCON_PROTO_NVME,
	.deliver	= echo_client_deliver,
	.complete	= echo_client_complete,
	.release	= echo_client_release,
	.event		= echo_client_event,
};

static bool echo_has_space(const struct echo_client *cl)
{
	return READ_ONCE(cl->space);
}

static bool echo_window_open(const struct echo_client *cl)
{
	return atomic_read(&cl->open) < ECHO_WINDOW;
}

static bool echo_is_idle(const struct echo_client *cl)
{
	return !atomic_read(&cl->open);
}

static bool echo_all_answered(const struct echo_client *cl)
{
	return echo_is_idle(cl) &&
	       (u32)atomic_read(&cl->replies) == cl->want_replies;
}

/* 0 if @what came true; -ETIMEDOUT, -EINTR, or how the connection ended */
static int echo_wait(struct echo_client *cl,
		     bool (*what)(const struct echo_client *cl))
{
	long left = wait_event_interruptible_timeout(cl->wait,
			READ_ONCE(cl->err) || what(cl), timeout_s * HZ);

	if (READ_ONCE(cl->err))
		return READ_ONCE(cl->err);
	if (left < 0)
		return -EINTR;
	return left ? 0 : -ETIMEDOUT;
}

static int echo_client_try(struct echo_client *cl, struct echo_txn *t, u16 len)
{
	if (t->op == ECHO_PULL)
		return falcon_pull(cl->conn, &t->txn, t->skb,
				   sizeof(struct echo_hdr) + len);
	return falcon_push(cl->conn, &t->txn, t->skb);
}

/* @t may be gone, completed, when this returns 0. */
static int echo_client_submit(struct echo_client *cl, struct echo_txn *t,
			      u16 len)
{
	int err;

	atomic_inc(&cl->open);
	for (;;) {
		WRITE_ONCE(cl->space, false);
		err = echo_client_try(cl, t, len);
		if (err != -EAGAIN && err != -ENOBUFS)
			break;
		err = echo_wait(cl, echo_has_space);
		if (err)
			break;
	}
	if (err)
		atomic_dec(&cl->open);
	return err;
}

static int echo_client_request(struct echo_client *cl, u32 seq)
{
	u16 room = falcon_mtu(cl->conn) - sizeof(struct echo_hdr);
	u16 len = clamp_t(unsigned int, size, 1, room);
	struct echo_hdr h = {
		.op	= echo_op(cl, seq),
		.flags	= echo_flags(cl, seq),
		.seq	= cpu_to_be32(seq),
	};
	struct echo_txn *t;
	int err;

	err = echo_wait(cl, echo_window_open);
	if (err)
		return err;
	t = kzalloc(sizeof(*t), GFP_KERNEL);
	if (!t)
		return -ENOMEM;
	if (h.op == ECHO_PUSH)
		h.len = cpu_to_be16(len);
	t->seq = seq;
	t->op = h.op;
	t->flags = h.flags;
	t->skb = echo_skb(&h, GFP_KERNEL);
	err = t->skb ? echo_client_submit(cl, t, len) : -ENOMEM;
	if (err) {
		kfree_skb(t->skb);
		kfree(t);
	}
	return err;
}

/* All requests, all answers, BYE. */
static int echo_client_talk(struct echo_client *cl)
{
	u32 seq;
	int err;

	if (wait_for_completion_interruptible(&cl->up))
		return -EINTR;
	err = READ_ONCE(cl->err);
	for (seq = 1; !err && seq <= cl->total; seq++)
		err = echo_client_request(cl, seq);
	if (!err)
		err = echo_wait(cl, echo_all_answered);
	if (!err)
		err = echo_client_request(cl, cl->total + 1);
	if (!err)
		err = echo_wait(cl, echo_is_idle);
	return err;
}

static int echo_client_run(struct echo_client *cl, struct net *net,
			   const struct sockaddr_storage *addr)
{
	struct falcon_cm_params params = {
		.proto		= FALCON_PROTO_NVME,
		.service	= ECHO_SERVICE,
		.src_service	= ECHO_SERVICE,
		.ordered	= true,
		.loss		= FALCON_CM_BY_SYSCTL,
	};
	struct falcon_conn *conn;
	int err;

	init_completion(&cl->up);
	init_completion(&cl->closed);
	init_waitqueue_head(&cl->wait);
	cl->total = 2 * clamp_t(u32, READ_ONCE(count), 1, ECHO_MAX);
	cl->every_rnr = READ_ONCE(rnr_every);
	cl->every_cie = READ_ONCE(cie_every);
	cl->next_done = 1;
	cl->next_reply = echo_next_reply(cl, 0);
	cl->want_replies = echo_count_replies(cl);

	err = falcon_path_set_peer(&params.path, addr);
	if (err)
		return err;
	conn = falcon_connect(net, &params, &echo_client_ops, cl);
	if (IS_ERR(conn))
		return PTR_ERR(conn);
	cl->conn = conn;
	err = echo_client_talk(cl);
	falcon_conn_close(conn);
	wait_for_completion(&cl->closed);
	return err;
}

/*
 * Debugfs
 */

static struct dentry *echo_dir;
static DEFINE_MUTEX(echo_lock);		/* one run at a time, and its report */
static char echo_report[1024];
static int echo_len;

static void echo_line(int nr, bool ok, const char *what, u32 n)
{
	echo_len += scnprintf(echo_report + echo_len,
			      sizeof(echo_report) - echo_len,
			      "%sok %d %s # %u\n", ok ? "" : "not ", nr, what,
			      n);
}

static u32 echo_count_cie(const struct echo_client *cl)
{
	return cl->every_cie ? cl->total / cl->every_cie : 0;
}

static void echo_make_report(const struct echo_client *cl, int err)
{
	u32 answered = cl->pushed + cl->pulled + cl->failed;
	u32 refusals = cl->every_rnr ? cl->total / cl->every_rnr : 0;
	u32 replies = atomic_read(&cl->replies);

	echo_len = scnprintf(echo_report, sizeof(echo_report),
			     "TAP version 13\n1..8\n");
	echo_line(1, !err, "the_run_ends", -err);
	/* BYE is a push too. */
	echo_line(2, answered == cl->total + 1, "all_complete", answered);
	echo_line(3, replies == cl->want_replies && !cl->bad_data,
		  "pushes_come_back_intact", replies);
	echo_line(4, cl->pulled && !cl->bad_data, "pulls_bring_data",
		  cl->pulled);
	echo_line(5, !cl->bad_order, "all_in_order", cl->bad_order);
	echo_line(6, !cl->bad_rnr && (!refusals || cl->max_rnrs),
		  "refused_is_tried_again", cl->max_rnrs);
	echo_line(7, !cl->bad_cmpl && cl->failed == echo_count_cie(cl),
		  "errors_have_their_code", cl->failed);
	echo_line(8, !cl->timed_out, "none_times_out", cl->timed_out);
}

static ssize_t echo_run_write(struct file *file, const char __user *ubuf,
			      size_t len, loff_t *ppos)
{
	struct net *net = current->nsproxy->net_ns;
	struct sockaddr_storage addr;
	struct echo_client *cl;
	char buf[64];
	int err;

	if (len >= sizeof(buf))
		return -EINVAL;
	if (copy_from_user(buf, ubuf, len))
		return -EFAULT;
	buf[len] = '\0';
	err = inet_pton_with_scope(net, AF_UNSPEC, strim(buf), NULL, &addr);
	if (err)
		return err;
	cl = kzalloc(sizeof(*cl), GFP_KERNEL);
	if (!cl)
		return -ENOMEM;
	err = mutex_lock_interruptible(&echo_lock);
	if (!err) {
		err = echo_client_run(cl, net, &addr);
		echo_make_report(cl, err);
		mutex_unlock(&echo_lock);
	}
	kfree(cl);
	return err == -EINTR ? err : len;
}

static const struct file_operations echo_run_fops = {
	.owner	= THIS_MODULE,
	.open	= simple_open,
	.write	= echo_run_write,
};

static int echo_result_show(struct seq_file *m, void *v)
{
	mutex_lock(&echo_lock);
	seq_write(m, echo_report, echo_len);
	mutex_unlock(&echo_lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(echo_result);

/*
 * Namespaces. Ours come after Falcon's and so go before them: nobody listens
 * in a namespace that has no Falcon any more. Connections hold the module, and
 * end with FALCON_EV_ABORTED when Falcon's part of the namespace does.
 */

static unsigned int echo_net_id __read_mostly;

static int __net_init echo_net_init(struct net *net)
{
	struct falcon_listener *l = net_generic(net, echo_net_id);

	l->path.family = AF_INET6;	/* and IPv4, any address */
	l->proto = FALCON_PROTO_NVME;
	l->service = ECHO_SERVICE;
	l->owner = THIS_MODULE;
	l->request = echo_request;
	return falcon_listen(net, l);
}

static void __net_exit echo_net_exit(struct net *net)
{
	falcon_unlisten(net, net_generic(net, echo_net_id));
}

static struct pernet_operations echo_net_ops = {
	.init	= echo_net_init,
	.exit	= echo_net_exit,
	.id	= &echo_net_id,
	.size	= sizeof(struct falcon_listener),
};

static int __init echo_init(void)
{
	int err = register_pernet_subsys(&echo_net_ops);

	if (err)
		return err;
	echo_dir = debugfs_create_dir("falcon_echo", NULL);
	debugfs_create_file("run", 0200, echo_dir, NULL, &echo_run_fops);
	debugfs_create_file("result", 0400, echo_dir, NULL, &echo_result_fops);
	return 0;
}

static void __exit echo_exit(void)
{
	debugfs_remove(echo_dir);
	unregister_pernet_subsys(&echo_net_ops);
}

module_init(echo_init);
module_exit(echo_exit);

MODULE_LICENSE("GPL");
MODULE_AUTHOR("The Falcon for Linux authors");
MODULE_DESCRIPTION("Sample upper layer protocol over Falcon");
