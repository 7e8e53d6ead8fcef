// SPDX-License-Identifier: GPL-2.0
/*
 * Falcon sockets: socket(AF_INET or AF_INET6, SOCK_STREAM or SOCK_SEQPACKET,
 * IPPROTO_FALCON), from creation to the last reference.
 *
 * States are those of TCP, in sk_state, so that the generic code for connect(),
 * accept() and shutdown() works on them; errors are TCP's too. Close is in
 * band (DESIGN of the socket protocol, falcon_wire.h): a FIN ends one
 * direction, behind the data; a RESET ends both. The connection is closed when
 * both FINs are acknowledged.
 */
#include <linux/bpf-cgroup.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/security.h>
#include <linux/swap.h>
#include <net/addrconf.h>
#include <net/inet_common.h>
#include <net/inet_ecn.h>
#include <net/ip.h>
#include <net/protocol.h>
#include <net/transp_v6.h>
#include <net/xfrm.h>
#include "sock/sock.h"

static atomic_long_t falcon_memory_allocated;
static DEFINE_PER_CPU(int, falcon_memory_per_cpu_fw_alloc);
static struct percpu_counter falcon_sockets_allocated;
static unsigned long falcon_memory_pressure;
static long falcon_mem[3] __read_mostly;

static void falcon_enter_memory_pressure(struct sock *sk)
{
	WRITE_ONCE(falcon_memory_pressure, 1);
}

static void falcon_leave_memory_pressure(struct sock *sk)
{
	WRITE_ONCE(falcon_memory_pressure, 0);
}

static int falcon_init_sock(struct sock *sk)
{
	struct falcon_sysctls *sysctl = &falcon_sock_net(sk)->sysctl;
	struct falcon_sock *fs = falcon_sk(sk);

	spin_lock_init(&fs->aq_lock);
	INIT_LIST_HEAD(&fs->aq);
	INIT_LIST_HEAD(&fs->half_open);
	INIT_HLIST_NODE(&fs->group_node);
	fs->keep_idle = 7200;
	fs->keep_intvl = 75;
	WRITE_ONCE(sk->sk_sndbuf, READ_ONCE(sysctl->wmem[1]));
	WRITE_ONCE(sk->sk_rcvbuf, READ_ONCE(sysctl->rmem[1]));
	sk->sk_write_space = falcon_write_space;
	sock_set_flag(sk, SOCK_USE_WRITE_QUEUE);	/* not for each skb */
	sk_sockets_allocated_inc(sk);
	sock_prot_inuse_add(sock_net(sk), sk->sk_prot, 1);
	return 0;
}

static void falcon_destroy_sock(struct sock *sk)
{
	struct falcon_sock *fs = falcon_sk(sk);
	const struct falcon_fae_ops *fae;

	falcon_port_put(sk);
	spin_lock_bh(&fs->aq_lock);
	fae = fs->fae;
	fs->fae = NULL;
	spin_unlock_bh(&fs->aq_lock);
	if (fae)
		falcon_fae_put(fae);
	kfree(fs->last_info);
	fs->last_info = NULL;
	sk_sockets_allocated_dec(sk);
	sock_prot_inuse_add(sock_net(sk), sk->sk_prot, -1);
}

/**
 * falcon_sock_destroy - an orphan without endpoint goes
 * @sk:		socket, locked, dead and in state TCP_CLOSE
 *
 * The caller holds a reference of its own.
 */
void falcon_sock_destroy(struct sock *sk)
{
	WARN_ON_ONCE(falcon_sk(sk)->ep || sk->sk_state != TCP_CLOSE);
	falcon_rx_purge(sk);
	sk->sk_prot->destroy(sk);
	xfrm_sk_free_policy(sk);
	sock_put(sk);
}

static void falcon_sock_wake_all(struct sock *sk)
{
	if (sock_flag(sk, SOCK_DEAD))
		return;
	sk->sk_state_change(sk);
	sk_wake_async(sk, SOCK_WAKE_WAITD, sk->sk_shutdown == SHUTDOWN_MASK ?
		      POLL_HUP : POLL_IN);
}

/* A port that nobody has bound goes with the connection, or the attempt at one. */
static void falcon_sock_unbind(struct sock *sk)
{
	if (!(sk->sk_userlocks & SOCK_BINDPORT_LOCK))
		falcon_port_put(sk);
}

/* Both directions are over. What was received stays to be read. */
static void falcon_sock_over(struct sock *sk, int code)
{
	if (!sock_flag(sk, SOCK_DEAD))
		falcon_info_keep(sk);
	inet_sk_set_state(sk, TCP_CLOSE);
	WRITE_ONCE(sk->sk_shutdown, SHUTDOWN_MASK);
	falcon_sock_part(sk, code);
	falcon_sock_unbind(sk);
	if (sock_flag(sk, SOCK_DEAD))
		falcon_sock_destroy(sk);
}

/**
 * falcon_sock_established - connect() has succeeded, or accept() takes over
 * @sk:		socket with an endpoint, locked
 */
void falcon_sock_established(struct sock *sk)
{
	falcon_tx_mss(sk);
	inet_sk_set_state(sk, TCP_ESTABLISHED);
	falcon_sock_keepalive(sk, sock_flag(sk, SOCK_KEEPOPEN));
	if (sock_flag(sk, SOCK_DEAD))
		return;
	sk->sk_state_change(sk);
	sk_wake_async(sk, SOCK_WAKE_IO, POLL_OUT);
}

/**
 * falcon_sock_dead - the connection failed, died or was reset by the peer
 * @sk:		socket with an endpoint, locked
 * @err:	negative errno, for the application
 */
void falcon_sock_dead(struct sock *sk, int err)
{
	/* As TCP: a reset after the peer's FIN means that nobody reads. */
	if (err == -ECONNRESET && sk->sk_state == TCP_CLOSE_WAIT)
		err = -EPIPE;
	WRITE_ONCE(sk->sk_err, -err);
	falcon_sock_over(sk, 0);
	if (!sock_flag(sk, SOCK_DEAD)) {
		sk_error_report(sk);
		falcon_sock_wake_all(sk);
	}
}

/**
 * falcon_sock_reset - end the connection here and tell the peer
 * @sk:		socket with an endpoint, locked
 * @code:	positive errno for the peer
 */
void falcon_sock_reset(struct sock *sk, int code)
{
	falcon_sock_over(sk, sk->sk_state == TCP_SYN_SENT ? 0 : code);
	falcon_sock_wake_all(sk);
}

/**
 * falcon_sock_kill - an operator ends the connection
 * @sk:		socket with an endpoint, locked
 * @err:	negative errno for the socket; the peer sees ECONNRESET
 */
void falcon_sock_kill(struct sock *sk, int err)
{
	WRITE_ONCE(sk->sk_err, -err);
	falcon_sock_reset(sk, ECONNRESET);
	if (!sock_flag(sk, SOCK_DEAD))
		sk_error_report(sk);
}

/* sk_state after a FIN was sent, was acknowledged, or came in. */
static int falcon_fin_state(const struct falcon_sock *fs)
{
	if (!fs->fin_sent)
		return fs->fin_rcvd ? TCP_CLOSE_WAIT : TCP_ESTABLISHED;
	if (!fs->fin_acked)
		return fs->fin_rcvd ? TCP_LAST_ACK : TCP_FIN_WAIT1;
	return fs->fin_rcvd ? TCP_CLOSE : TCP_FIN_WAIT2;
}

/**
 * falcon_sock_fin_progress - follow the FINs
 * @sk:		socket, locked
 *
 * Called when a FIN came or was acknowledged, and when the reader has made
 * room: the connection is needed until everything received is acknowledged.
 */
void falcon_sock_fin_progress(struct sock *sk)
{
	struct falcon_sock *fs = falcon_sk(sk);
	int state = falcon_fin_state(fs);
	bool rcvd;

	if (!fs->ep || (!fs->fin_sent && !fs->fin_rcvd))
		return;
	rcvd = fs->fin_rcvd && !(sk->sk_shutdown & RCV_SHUTDOWN);
	if (fs->fin_rcvd) {
		WRITE_ONCE(sk->sk_shutdown, sk->sk_shutdown | RCV_SHUTDOWN);
		sock_set_flag(sk, SOCK_DONE);
	}
	if (state == TCP_CLOSE) {
		if (!list_empty(&fs->ep->held))
			return;
		falcon_sock_over(sk, 0);
		falcon_sock_wake_all(sk);
	} else if (state != sk->sk_state) {
		inet_sk_set_state(sk, state);
		falcon_sock_wake_all(sk);
	} else if (rcvd) {
		falcon_sock_wake_all(sk);
	}
}

static void falcon_send_fin(struct sock *sk)
{
	struct falcon_sock *fs = falcon_sk(sk);
	struct sk_buff *skb;

	if (fs->fin_sent)
		return;
	skb = falcon_tx_control(FALCON_SOCK_FIN, 0, sk->sk_allocation);
	if (!skb) {
		falcon_sock_reset(sk, ECONNABORTED);
		return;
	}
	fs->fin_sent = true;
	falcon_tx_queue(sk, skb);
	falcon_tx_push(sk, false);
	falcon_sock_fin_progress(sk);
}

/* Time-outs: MSG_MORE, keepalive, patience after close(). */

static bool falcon_due(unsigned long at)
{
	return at && time_after_eq(jiffies, at);
}

void falcon_sock_arm(struct sock *sk)
{
	struct falcon_sock *fs = falcon_sk(sk);
	unsigned long at[] = { fs->cork_at, fs->orphan_at, fs->keep_at };
	long delay = LONG_MAX;
	int i;

	for (i = 0; i < ARRAY_SIZE(at); i++)
		if (at[i])
			delay = min(delay, max(0L, (long)(at[i] - jiffies)));
	if (fs->ep && delay != LONG_MAX)
		falcon_ep_arm(fs->ep, delay);
}

/*
 * An empty segment of data asks whether the peer is there; its loss ends the
 * connection as that of any segment does.
 */
static void falcon_keep_time(struct sock *sk)
{
	struct falcon_sock *fs = falcon_sk(sk);
	u64 idle_ns = ktime_get_ns() - READ_ONCE(fs->ep->conn->last_rx_ns);
	unsigned long wait = fs->keep_intvl * HZ;
	struct sk_buff *skb = NULL;

	if (idle_ns < (u64)fs->keep_idle * NSEC_PER_SEC)
		wait = fs->keep_idle * HZ - nsecs_to_jiffies(idle_ns);
	else if (skb_queue_empty(&sk->sk_write_queue))
		skb = falcon_tx_control(FALCON_SOCK_DATA, 0, GFP_KERNEL);
	if (skb) {
		falcon_tx_queue(sk, skb);
		falcon_tx_push(sk, false);
	}
	fs->keep_at = falcon_at(wait);
}

/**
 * falcon_sock_time - a time-out of the socket has passed, or may have
 * @sk:		socket with an endpoint, owned
 */
void falcon_sock_time(struct sock *sk)
{
	struct falcon_sock *fs = falcon_sk(sk);

	falcon_sock_flush(sk);
	/*
	 * TCP forgets a peer that does not close its side without a word, and
	 * answers what comes later with a RST. Here nobody is left to answer.
	 */
	if (fs->ep && falcon_due(fs->orphan_at))
		falcon_sock_reset(sk, sk->sk_state == TCP_FIN_WAIT2 ?
				      ECONNRESET : ETIMEDOUT);
	if (fs->ep && falcon_due(fs->cork_at))
		falcon_tx_push(sk, false);
	if (fs->ep && falcon_due(fs->keep_at))
		falcon_keep_time(sk);
	falcon_sock_arm(sk);
}

/* proto::release_cb: the lock is about to be released; called with the
 * spinlock held and the socket still owned.
 */
static void falcon_release_cb(struct sock *sk)
	__must_hold(&sk->sk_lock.slock)
{
	struct falcon_sock *fs = falcon_sk(sk);

	while (test_and_clear_bit(FALCON_SK_PENDING, &fs->flags)) {
		spin_unlock_bh(&sk->sk_lock.slock);
		falcon_sock_run(sk);
		cond_resched();
		spin_lock_bh(&sk->sk_lock.slock);
	}
}

/* Addresses */

static void falcon_set_peer(struct sock *sk, const struct in6_addr *addr,
			    __be16 port)
{
	struct inet_sock *inet = inet_sk(sk);

	inet->inet_dport = port;
	inet->inet_daddr = ipv6_addr_v4mapped(addr) ? addr->s6_addr32[3] :
						      LOOPBACK4_IPV6;
	sk->sk_v6_daddr = *addr;
}

static void falcon_set_local(struct sock *sk, const struct in6_addr *addr)
{
	struct inet_sock *inet = inet_sk(sk);

	inet->inet_saddr = ipv6_addr_v4mapped(addr) ? addr->s6_addr32[3] :
						      LOOPBACK4_IPV6;
	inet->inet_rcv_saddr = inet->inet_saddr;
	if (sk->sk_family == AF_INET6) {
		inet6_sk(sk)->saddr = *addr;
		sk->sk_v6_rcv_saddr = *addr;
	}
}

static void falcon_forget_peer(struct sock *sk)
{
	inet_sk(sk)->inet_dport = 0;
	inet_sk(sk)->inet_daddr = 0;
	sk->sk_v6_daddr = in6addr_any;
	if (!(sk->sk_userlocks & SOCK_BINDADDR_LOCK))
		inet_reset_saddr(sk);
}

static int falcon_path_of(struct sock *sk, struct falcon_path *path)
{
	struct inet_sock *inet = inet_sk(sk);
	bool v4 = ipv6_addr_v4mapped(&sk->sk_v6_daddr);

	path->daddr = sk->sk_v6_daddr;
	path->family = v4 ? AF_INET : AF_INET6;
	path->oif = sk->sk_bound_dev_if;
	path->mark = READ_ONCE(sk->sk_mark);
	path->uid = READ_ONCE(sk->sk_uid);
	path->tclass = inet->tos;
	if (inet->uc_ttl > 0)
		path->ttl = inet->uc_ttl;
	if (sk->sk_family == AF_INET) {
		if (inet->inet_rcv_saddr)
			ipv6_addr_set_v4mapped(inet->inet_rcv_saddr,
					       &path->saddr);
	} else {
		path->saddr = sk->sk_v6_rcv_saddr;
		if (!ipv6_addr_any(&path->saddr) &&
		    ipv6_addr_v4mapped(&path->saddr) != v4)
			return -ENETUNREACH;
		if (!v4) {
			path->tclass = inet6_sk(sk)->tclass;
			if (inet6_sk(sk)->hop_limit > 0)
				path->ttl = inet6_sk(sk)->hop_limit;
			if (ipv6_addr_type(&path->daddr) & IPV6_ADDR_LINKLOCAL)
				path->scope_id = sk->sk_bound_dev_if;
		}
	}
	path->tclass &= ~INET_ECN_MASK;
	return 0;
}

/* connect() */

static int falcon_connect_start(struct sock *sk)
{
	struct falcon_sock *fs = falcon_sk(sk);
	struct falcon_cm_params params = {
		.proto		= FALCON_PROTO_SOCK,
		.service	= falcon_service(sk,
						 ntohs(inet_sk(sk)->inet_dport)),
		.ordered	= true,
		.gapless	= true,
		.nr_flows	= fs->nr_flows,
		.loss		= 0xff,
		.user_timeout_ms = fs->user_timeout_ms,
		/* A slow reader may take as long as it likes. */
		.txn_timeout_ms	= FALCON_CM_NO_TIMEOUT,
		.security	= fs->security,
		.fae		= fs->fae,
	};
	struct falcon_conn *conn;
	struct falcon_ep *ep;
	int err;

	err = falcon_path_of(sk, &params.path);
	if (err)
		return err;
	err = falcon_port_connect(sk);
	if (err)
		return err;
	params.src_service = falcon_service(sk, inet_sk(sk)->inet_num);
	ep = falcon_ep_alloc(GFP_KERNEL);
	if (!ep)
		return -ENOBUFS;

	inet_sk_set_state(sk, TCP_SYN_SENT);
	falcon_ep_attach(ep, sk);
	conn = falcon_cm_connect(falcon_sock_net(sk), &params,
				 &falcon_sock_ulp, ep);
	if (IS_ERR(conn)) {
		inet_sk_set_state(sk, TCP_CLOSE);
		falcon_ep_unattach(ep, sk);
		falcon_ep_free(ep);
		return PTR_ERR(conn);
	}
	WARN_ON_ONCE(!falcon_conn_get(conn));
	ep->conn = conn;
	falcon_conn_set_sk(conn, sk);
	if (falcon_sk(sk)->weight)
		falcon_conn_weight(conn, falcon_sk(sk)->weight);
	falcon_set_local(sk, &conn->path.saddr);
	return 0;
}

static int falcon_connect_to(struct sock *sk, const struct in6_addr *addr,
			     __be16 port)
{
	struct falcon_sock *fs = falcon_sk(sk);
	int err;

	fs->fin_sent = false;
	fs->fin_acked = false;
	fs->fin_rcvd = false;
	fs->rx_in_msg = false;
	fs->mss = 0;
	WRITE_ONCE(sk->sk_shutdown, 0);
	WRITE_ONCE(sk->sk_err, 0);
	sock_reset_flag(sk, SOCK_DONE);

	falcon_set_peer(sk, addr, port);
	err = falcon_connect_start(sk);
	if (err) {
		falcon_forget_peer(sk);
		falcon_sock_unbind(sk);
	}
	return err;
}

static int falcon_v4_connect(struct sock *sk, struct sockaddr *uaddr,
			     int addr_len)
{
	struct sockaddr_in *addr4 = (struct sockaddr_in *)uaddr;
	struct in6_addr addr;
	__be32 daddr;

	if (addr_len < sizeof(*addr4))
		return -EINVAL;
	if (addr4->sin_family != AF_INET)
		return -EAFNOSUPPORT;
	daddr = addr4->sin_addr.s_addr;
	if (!daddr)
		daddr = htonl(INADDR_LOOPBACK);
	if (ipv4_is_multicast(daddr) || ipv4_is_lbcast(daddr))
		return -ENETUNREACH;
	ipv6_addr_set_v4mapped(daddr, &addr);
	return falcon_connect_to(sk, &addr, addr4->sin_port);
}

static int falcon_v6_scope(struct sock *sk, const struct sockaddr_in6 *addr6)
{
	if (!__ipv6_addr_needs_scope_id(ipv6_addr_type(&addr6->sin6_addr)))
		return 0;
	if (addr6->sin6_scope_id) {
		if (!sk_dev_equal_l3scope(sk, addr6->sin6_scope_id))
			return -EINVAL;
		sk->sk_bound_dev_if = addr6->sin6_scope_id;
	}
	return sk->sk_bound_dev_if ? 0 : -EINVAL;
}

static int falcon_v6_connect(struct sock *sk, struct sockaddr *uaddr,
			     int addr_len)
{
	struct sockaddr_in6 *addr6 = (struct sockaddr_in6 *)uaddr;
	struct in6_addr addr;
	int err;

	if (addr_len < SIN6_LEN_RFC2133)
		return -EINVAL;
	if (addr6->sin6_family != AF_INET6)
		return -EAFNOSUPPORT;
	addr = addr6->sin6_addr;
	if (ipv6_addr_any(&addr)) {
		if (ipv6_addr_v4mapped(&sk->sk_v6_rcv_saddr))
			ipv6_addr_set_v4mapped(htonl(INADDR_LOOPBACK), &addr);
		else
			addr = in6addr_loopback;
	}
	if (ipv6_addr_is_multicast(&addr) ||
	    (ipv6_addr_v4mapped(&addr) && ipv6_only_sock(sk)))
		return -ENETUNREACH;
	if (addr_len >= sizeof(*addr6)) {
		err = falcon_v6_scope(sk, addr6);
		if (err)
			return err;
	}
	return falcon_connect_to(sk, &addr, addr6->sin6_port);
}

static int falcon_v4_pre_connect(struct sock *sk, struct sockaddr *uaddr,
				 int addr_len)
{
	if (addr_len < sizeof(struct sockaddr_in))
		return -EINVAL;
	return falcon_bpf_inet4_connect(sk, uaddr, &addr_len);
}

static int falcon_v6_pre_connect(struct sock *sk, struct sockaddr *uaddr,
				 int addr_len)
{
	if (addr_len < SIN6_LEN_RFC2133)
		return -EINVAL;
	return falcon_bpf_inet6_connect(sk, uaddr, &addr_len);
}

/* connect() to AF_UNSPEC, a failed connect(), shutdown() of a listener. */
static int falcon_disconnect(struct sock *sk, int flags)
{
	struct falcon_sock *fs = falcon_sk(sk);

	if (sk->sk_state == TCP_LISTEN) {
		falcon_listen_stop(sk);
		inet_sk_set_state(sk, TCP_CLOSE);
	} else if (fs->ep) {
		WRITE_ONCE(sk->sk_err, ECONNRESET);
		falcon_sock_reset(sk, ECONNRESET);
	}
	falcon_rx_purge(sk);
	falcon_tx_purge(sk);
	falcon_forget_peer(sk);
	WRITE_ONCE(sk->sk_shutdown, 0);
	sock_reset_flag(sk, SOCK_DONE);
	sk_error_report(sk);
	return 0;
}

/* listen() and accept() */

static int falcon_listen_op(struct socket *sock, int backlog)
{
	struct sock *sk = sock->sk;
	int err = -EINVAL;

	lock_sock(sk);
	if (sock->state != SS_UNCONNECTED ||
	    !((1 << sk->sk_state) & (TCPF_CLOSE | TCPF_LISTEN)))
		goto out;
	WRITE_ONCE(sk->sk_max_ack_backlog, backlog);
	err = 0;
	if (sk->sk_state == TCP_LISTEN)
		goto out;

	inet_sk_set_state(sk, TCP_LISTEN);
	err = falcon_port_get(sk, inet_sk(sk)->inet_num);
	if (!err) {
		inet_sk(sk)->inet_sport = htons(inet_sk(sk)->inet_num);
		err = falcon_listen_start(sk);
	}
	if (err)
		inet_sk_set_state(sk, TCP_CLOSE);
out:
	release_sock(sk);
	return err;
}

static void falcon_child_inherit(const struct sock *sk, struct sock *child)
{
	const struct inet_sock *inet = inet_sk(sk);
	struct inet_sock *ninet = inet_sk(child);
	unsigned long keep = BIT(SOCK_KEEPOPEN) | BIT(SOCK_LINGER) |
			     BIT(SOCK_LOCALROUTE) | BIT(SOCK_DBG) |
			     BIT(SOCK_RCVTSTAMP) | BIT(SOCK_RCVTSTAMPNS) |
			     BIT(SOCK_TSTAMP_NEW) | SK_FLAGS_TIMESTAMP;

	child->sk_type = sk->sk_type;
	child->sk_protocol = sk->sk_protocol;
	child->sk_flags |= sk->sk_flags & keep;
	child->sk_tsflags = sk->sk_tsflags;
	if (child->sk_flags & SK_FLAGS_TIMESTAMP)
		net_enable_timestamp();	/* until it is destroyed */
	child->sk_reuse = sk->sk_reuse;
	child->sk_reuseport = sk->sk_reuseport;
	child->sk_ipv6only = sk->sk_ipv6only;
	child->sk_bound_dev_if = sk->sk_bound_dev_if;
	/* Nobody has bound its port, which goes with the connection. */
	child->sk_userlocks = sk->sk_userlocks & ~SOCK_BINDPORT_LOCK;
	child->sk_priority = sk->sk_priority;
	child->sk_mark = sk->sk_mark;
	child->sk_max_pacing_rate = sk->sk_max_pacing_rate;
	child->sk_rcvlowat = sk->sk_rcvlowat;
	child->sk_rcvtimeo = sk->sk_rcvtimeo;
	child->sk_sndtimeo = sk->sk_sndtimeo;
	child->sk_lingertime = sk->sk_lingertime;
	child->sk_backlog_rcv = sk->sk_prot->backlog_rcv;
	ninet->tos = inet->tos;
	ninet->uc_ttl = inet->uc_ttl;
	ninet->pmtudisc = inet->pmtudisc;
	ninet->mc_ttl = 1;
	if (sk->sk_family == AF_INET6) {
		struct ipv6_pinfo *np = &((struct falcon6_sock *)child)->inet6;

		child->sk_destruct = inet6_sock_destruct;
		ninet->pinet6 = np;
		np->hop_limit = inet6_sk(sk)->hop_limit;
		np->tclass = inet6_sk(sk)->tclass;
		np->pmtudisc = inet6_sk(sk)->pmtudisc;
		np->mcast_hops = IPV6_DEFAULT_MCASTHOPS;
	} else {
		child->sk_destruct = inet_sock_destruct;
	}
}

/*
 * The socket of an accepted connection, made in accept() so that its memory is
 * charged to the process that asked for it.
 */
static struct sock *falcon_accept_child(struct sock *sk, struct falcon_ep *ep,
					bool kern)
{
	struct falcon_conn *conn = ep->conn;
	struct falcon_sock *fs;
	struct sock *child;

	child = sk_alloc(sock_net(sk), sk->sk_family, GFP_KERNEL, sk->sk_prot,
			 kern);
	if (!child)
		return NULL;
	sock_init_data(NULL, child);
	falcon_child_inherit(sk, child);
	falcon_init_sock(child);
	security_sk_clone(sk, child);

	fs = falcon_sk(child);
	child->sk_sndbuf = sk->sk_sndbuf;
	child->sk_rcvbuf = sk->sk_rcvbuf;
	fs->flags |= falcon_sk(sk)->flags & BIT(FALCON_SK_NODELAY);
	fs->keep_idle = falcon_sk(sk)->keep_idle;
	fs->keep_intvl = falcon_sk(sk)->keep_intvl;
	fs->user_timeout_ms = falcon_sk(sk)->user_timeout_ms;
	fs->nr_flows = falcon_sk(sk)->nr_flows;
	fs->weight = falcon_sk(sk)->weight;
	if (!child->sk_bound_dev_if)
		child->sk_bound_dev_if = conn->path.oif;
	falcon_set_peer(child, &conn->path.daddr,
			htons((u16)conn->peer_service));
	falcon_set_local(child, &conn->path.saddr);
	falcon_port_inherit(sk, child);
	return child;
}

static int falcon_accept_wait(struct sock *sk, long timeo)
{
	struct falcon_sock *fs = falcon_sk(sk);
	DEFINE_WAIT(wait);
	int err;

	for (;;) {
		prepare_to_wait_exclusive(sk_sleep(sk), &wait,
					  TASK_INTERRUPTIBLE);
		release_sock(sk);
		if (list_empty_careful(&fs->aq))
			timeo = schedule_timeout(timeo);
		sched_annotate_sleep();
		lock_sock(sk);
		err = 0;
		if (!list_empty_careful(&fs->aq))
			break;
		err = -EINVAL;
		if (sk->sk_state != TCP_LISTEN)
			break;
		err = sock_intr_errno(timeo);
		if (signal_pending(current))
			break;
		err = -EAGAIN;
		if (!timeo)
			break;
	}
	finish_wait(sk_sleep(sk), &wait);
	return err;
}

static struct falcon_ep *falcon_accept_take(struct sock *sk, bool *empty)
{
	struct falcon_sock *fs = falcon_sk(sk);
	struct falcon_ep *ep;

	spin_lock_bh(&fs->aq_lock);
	ep = list_first_entry_or_null(&fs->aq, struct falcon_ep, node);
	if (ep) {
		list_del_init(&ep->node);
		sk_acceptq_removed(sk);
	}
	*empty = list_empty(&fs->aq);
	spin_unlock_bh(&fs->aq_lock);
	return ep;
}

static void falcon_accept_give_back(struct sock *sk, struct falcon_ep *ep)
{
	struct falcon_sock *fs = falcon_sk(sk);

	spin_lock_bh(&fs->aq_lock);
	list_add(&ep->node, &fs->aq);
	sk_acceptq_added(sk);
	spin_unlock_bh(&fs->aq_lock);
}

static struct sock *falcon_accept(struct sock *sk, struct proto_accept_arg *arg)
{
	struct falcon_ep *ep = NULL;
	struct sock *child = NULL;
	bool empty = true;
	long timeo;

	lock_sock(sk);
	arg->err = -EINVAL;
	if (sk->sk_state != TCP_LISTEN)
		goto out;
	timeo = sock_rcvtimeo(sk, arg->flags & O_NONBLOCK);
	arg->err = -EAGAIN;
	while (!(ep = falcon_accept_take(sk, &empty))) {
		if (!timeo)
			goto out;
		arg->err = falcon_accept_wait(sk, timeo);
		if (arg->err)
			goto out;
	}
	child = falcon_accept_child(sk, ep, arg->kern);
	if (!child) {
		falcon_accept_give_back(sk, ep);
		arg->err = -ENOMEM;
		goto out;
	}
	sock_put(ep->listener);
	ep->listener = NULL;
	lock_sock_nested(child, SINGLE_DEPTH_NESTING);
	falcon_ep_attach(ep, child);
	falcon_conn_set_sk(ep->conn, child);
	if (falcon_sk(child)->weight)
		falcon_conn_weight(ep->conn, falcon_sk(child)->weight);
	falcon_sock_run(child);
	release_sock(child);
	arg->is_empty = empty;
out:
	release_sock(sk);
	return child;
}

FALCON_PROTO_ACCEPT(falcon_accept);

/* shutdown() and close() */

static void falcon_shutdown(struct sock *sk, int how)
{
	if (!(how & SEND_SHUTDOWN))
		return;
	if ((1 << sk->sk_state) & (TCPF_ESTABLISHED | TCPF_CLOSE_WAIT))
		falcon_send_fin(sk);
}

static void falcon_close_conn(struct sock *sk)
{
	struct falcon_sock *fs = falcon_sk(sk);
	bool unread = !skb_queue_empty(&sk->sk_receive_queue);

	if (!fs->ep)
		return;
	if (unread || sk->sk_state == TCP_SYN_SENT ||
	    (sock_flag(sk, SOCK_LINGER) && !sk->sk_lingertime))
		falcon_sock_reset(sk, ECONNRESET);
	else
		falcon_send_fin(sk);
}

/* proto::close. An orphan lives on until its FIN and the peer's are done. */
static void falcon_close(struct sock *sk, long timeout)
{
	struct falcon_sock *fs = falcon_sk(sk);

	lock_sock(sk);
	WRITE_ONCE(sk->sk_shutdown, SHUTDOWN_MASK);
	if (sk->sk_state == TCP_LISTEN) {
		falcon_listen_stop(sk);
		inet_sk_set_state(sk, TCP_CLOSE);
	} else {
		falcon_close_conn(sk);
		sk_stream_wait_close(sk, timeout);
	}
	sock_hold(sk);
	sock_orphan(sk);
	if (fs->ep && !falcon_ep_orphan(fs->ep)) {
		falcon_sock_reset(sk, ECONNRESET);
	} else if (fs->ep) {
		fs->orphan_at = falcon_at(FALCON_ORPHAN_TIME);
		fs->keep_at = 0;
		falcon_sock_arm(sk);
	} else {
		falcon_sock_destroy(sk);
	}
	release_sock(sk);
	sock_put(sk);
}

/* poll() */

static __poll_t falcon_poll_out(struct sock *sk)
{
	if (sk->sk_shutdown & SEND_SHUTDOWN || __sk_stream_is_writeable(sk, 1))
		return EPOLLOUT | EPOLLWRNORM;
	sk_set_bit(SOCKWQ_ASYNC_NOSPACE, sk);
	set_bit(SOCK_NOSPACE, &sk->sk_socket->flags);
	/* Space may have come before the flag; pairs with falcon_write_space(). */
	smp_mb__after_atomic();
	return __sk_stream_is_writeable(sk, 1) ? EPOLLOUT | EPOLLWRNORM : 0;
}

static bool falcon_poll_in(struct sock *sk)
{
	if (sk->sk_type == SOCK_SEQPACKET)
		return falcon_seqpacket_readable(sk);
	return falcon_stream_readable(sk, sock_rcvlowat(sk, 0, INT_MAX));
}

static __poll_t falcon_poll(struct file *file, struct socket *sock,
			    struct poll_table_struct *wait)
{
	struct sock *sk = sock->sk;
	__poll_t mask = 0;
	u8 shutdown;
	int state;

	sock_poll_wait(file, sock, wait);
	state = inet_sk_state_load(sk);
	if (state == TCP_LISTEN)
		return list_empty_careful(&falcon_sk(sk)->aq) ?
		       0 : EPOLLIN | EPOLLRDNORM;

	shutdown = READ_ONCE(sk->sk_shutdown);
	if (shutdown == SHUTDOWN_MASK || state == TCP_CLOSE)
		mask |= EPOLLHUP;
	if (shutdown & RCV_SHUTDOWN)
		mask |= EPOLLIN | EPOLLRDNORM | EPOLLRDHUP;
	if (state != TCP_SYN_SENT) {
		if (falcon_poll_in(sk))
			mask |= EPOLLIN | EPOLLRDNORM;
		mask |= falcon_poll_out(sk);
	}
	if (READ_ONCE(sk->sk_err) ||
	    !skb_queue_empty_lockless(&sk->sk_error_queue))
		mask |= EPOLLERR;
	return mask;
}

/* sendmsg() and recvmsg() */

static int falcon_sendmsg(struct sock *sk, struct msghdr *msg, size_t len)
{
	int err;

	if (msg->msg_flags & MSG_OOB)
		return -EOPNOTSUPP;
	msg->msg_flags &= FALCON_USER_MSG_FLAGS;
	lock_sock(sk);
	if (sk->sk_type == SOCK_SEQPACKET)
		err = falcon_seqpacket_sendmsg(sk, msg, len);
	else
		err = falcon_stream_sendmsg(sk, msg, len);
	release_sock(sk);
	return err;
}

static int falcon_recvmsg(struct sock *sk, struct msghdr *msg, size_t len,
			  int flags, int *addr_len)
{
	int err;

	if (flags & MSG_ERRQUEUE)
		return inet_recv_error(sk, msg, len, addr_len);
	if (flags & MSG_OOB)
		return -EOPNOTSUPP;
	lock_sock(sk);
	if (sk->sk_state == TCP_LISTEN)
		err = -ENOTCONN;
	else if (sk->sk_type == SOCK_SEQPACKET)
		err = falcon_seqpacket_recvmsg(sk, msg, len, flags);
	else
		err = falcon_stream_recvmsg(sk, msg, len, flags);
	release_sock(sk);
	return err;
}

static int falcon_set_rcvlowat(struct sock *sk, int val)
{
	WRITE_ONCE(sk->sk_rcvlowat, min(val, sk->sk_rcvbuf >> 1) ? : 1);
	if (falcon_poll_in(sk))
		sk->sk_data_ready(sk);
	return 0;
}

/* sk_common_release() of a socket that could not be created calls it. */
static void falcon_unhash(struct sock *sk)
{
}

static int falcon_backlog_rcv(struct sock *sk, struct sk_buff *skb)
{
	kfree_skb(skb);
	return 0;
}

FALCON_PROTO_IOCTL(falcon_sock_ioctl);

/* What sk_get_wmem0() and sk_get_rmem0() guarantee under memory pressure. */
static int falcon_wmem[3] = { 4096, 4096, 4096 };
static int falcon_rmem[3] = { 4096, 4096, 4096 };

#define FALCON_PROTO_COMMON						\
	.owner			= THIS_MODULE,				\
	.close			= falcon_close,				\
	.disconnect		= falcon_disconnect,			\
	.accept			= falcon_accept_op,			\
	.ioctl			= falcon_sock_ioctl_op,			\
	.init			= falcon_init_sock,			\
	.destroy		= falcon_destroy_sock,			\
	.shutdown		= falcon_shutdown,			\
	.setsockopt		= falcon_setsockopt,			\
	.getsockopt		= falcon_getsockopt,			\
	.keepalive		= falcon_sock_keepalive,		\
	.sendmsg		= falcon_sendmsg,			\
	.recvmsg		= falcon_recvmsg,			\
	.backlog_rcv		= falcon_backlog_rcv,			\
	.release_cb		= falcon_release_cb,			\
	.unhash			= falcon_unhash,			\
	.get_port		= falcon_port_get,			\
	.put_port		= falcon_port_put,			\
	.enter_memory_pressure	= falcon_enter_memory_pressure,		\
	.leave_memory_pressure	= falcon_leave_memory_pressure,		\
	.memory_allocated	= &falcon_memory_allocated,		\
	.per_cpu_fw_alloc	= &falcon_memory_per_cpu_fw_alloc,	\
	.sockets_allocated	= &falcon_sockets_allocated,		\
	.memory_pressure	= &falcon_memory_pressure,		\
	.sysctl_mem		= falcon_mem,				\
	.sysctl_wmem		= falcon_wmem,				\
	.sysctl_rmem		= falcon_rmem,				\
	.no_autobind		= true

static struct proto falcon_prot = {
	.name			= "FALCON",
	FALCON_PROTO_COMMON,
	.pre_connect		= falcon_v4_pre_connect,
	.connect		= falcon_v4_connect,
	.obj_size		= sizeof(struct falcon_sock),
};

static struct proto falconv6_prot = {
	.name			= "FALCONv6",
	FALCON_PROTO_COMMON,
	.pre_connect		= falcon_v6_pre_connect,
	.connect		= falcon_v6_connect,
	.obj_size		= sizeof(struct falcon6_sock),
	FALCON_IPV6_PINFO_OFFSET(struct falcon6_sock, inet6)
};

#define FALCON_OPS_COMMON						\
	.owner			= THIS_MODULE,				\
	.connect		= inet_stream_connect,			\
	.socketpair		= sock_no_socketpair,			\
	.accept			= inet_accept,				\
	.poll			= falcon_poll,				\
	.gettstamp		= sock_gettstamp,			\
	.listen			= falcon_listen_op,			\
	.shutdown		= inet_shutdown,			\
	.setsockopt		= sock_common_setsockopt,		\
	.getsockopt		= sock_common_getsockopt,		\
	.sendmsg		= inet_sendmsg,				\
	.recvmsg		= inet_recvmsg,				\
	.mmap			= sock_no_mmap,				\
	.set_rcvlowat		= falcon_set_rcvlowat

#define FALCON_OPS_V4							\
	.family			= PF_INET,				\
	.release		= inet_release,				\
	.bind			= inet_bind,				\
	.getname		= inet_getname,				\
	.ioctl			= inet_ioctl

#define FALCON_OPS_V6							\
	.family			= PF_INET6,				\
	.release		= inet6_release,			\
	.bind			= inet6_bind,				\
	.getname		= inet6_getname,			\
	.ioctl			= inet6_ioctl

static const struct proto_ops falcon_stream_ops = {
	FALCON_OPS_COMMON,
	FALCON_OPS_V4,
	.splice_read		= falcon_stream_splice_read,
	FALCON_SENDPAGE(falcon_stream_sendpage)
};

static const struct proto_ops falcon_seqpacket_ops = {
	FALCON_OPS_COMMON,
	FALCON_OPS_V4,
	FALCON_SENDPAGE(sock_no_sendpage)
};

static const struct proto_ops falconv6_stream_ops = {
	FALCON_OPS_COMMON,
	FALCON_OPS_V6,
	.splice_read		= falcon_stream_splice_read,
	FALCON_SENDPAGE(falcon_stream_sendpage)
};

static const struct proto_ops falconv6_seqpacket_ops = {
	FALCON_OPS_COMMON,
	FALCON_OPS_V6,
	FALCON_SENDPAGE(sock_no_sendpage)
};

static struct inet_protosw falcon_protosw[] = {
	{
		.type		= SOCK_STREAM,
		.protocol	= IPPROTO_FALCON,
		.prot		= &falcon_prot,
		.ops		= &falcon_stream_ops,
	}, {
		.type		= SOCK_SEQPACKET,
		.protocol	= IPPROTO_FALCON,
		.prot		= &falcon_prot,
		.ops		= &falcon_seqpacket_ops,
	},
};

static struct inet_protosw falconv6_protosw[] = {
	{
		.type		= SOCK_STREAM,
		.protocol	= IPPROTO_FALCON,
		.prot		= &falconv6_prot,
		.ops		= &falconv6_stream_ops,
	}, {
		.type		= SOCK_SEQPACKET,
		.protocol	= IPPROTO_FALCON,
		.prot		= &falconv6_prot,
		.ops		= &falconv6_seqpacket_ops,
	},
};

/* Per netns */

int falcon_sock_net_init(struct falcon_net *fn)
{
	struct falcon_net_sock *ns = kvzalloc(sizeof(*ns), GFP_KERNEL);
	int i;

	if (!ns)
		return -ENOMEM;
	for (i = 0; i < FALCON_PORT_HASH; i++)
		spin_lock_init(&ns->port[i].lock);
	mutex_init(&ns->listen_lock);
	INIT_LIST_HEAD(&ns->groups);
	fn->sock = ns;
	return 0;
}

/* After the connections: sockets keep their netns, so that none is left. */
void falcon_sock_net_exit(struct falcon_net *fn)
{
	struct falcon_net_sock *ns = falcon_net_sock(fn);

	WARN_ON_ONCE(!list_empty(&ns->groups) ||
		     atomic_read(&ns->nr_orphans));
	fn->sock = NULL;
	kvfree(ns);
}

/* A share of memory as TCP has it: pages at no pressure, pressure, most. */
static void falcon_mem_init(void)
{
	unsigned long limit = max(nr_free_buffer_pages() / 16, 128UL);

	falcon_mem[0] = limit / 4 * 3;
	falcon_mem[1] = limit;
	falcon_mem[2] = falcon_mem[0] * 2;
}

static int falcon_register_v6(void)
{
	int i, err;

	for (i = 0; i < ARRAY_SIZE(falconv6_protosw); i++) {
		err = inet6_register_protosw(&falconv6_protosw[i]);
		if (err)
			goto undo;
	}
	return 0;
undo:
	while (i--)
		inet6_unregister_protosw(&falconv6_protosw[i]);
	return err;
}

int falcon_sock_init(void)
{
	int i, err;

	BUILD_BUG_ON(sizeof(struct falcon6_sock) !=
		     offsetofend(struct falcon6_sock, inet6));
	falcon_mem_init();
	err = percpu_counter_init(&falcon_sockets_allocated, 0, GFP_KERNEL);
	if (err)
		return err;
	err = falcon_ep_init();
	if (err)
		goto out_counter;
	err = proto_register(&falcon_prot, 1);
	if (err)
		goto out_ep;
	err = proto_register(&falconv6_prot, 1);
	if (err)
		goto out_v4;
	err = falcon_register_v6();
	if (err)
		goto out_v6;
	for (i = 0; i < ARRAY_SIZE(falcon_protosw); i++)
		inet_register_protosw(&falcon_protosw[i]);
	return 0;

out_v6:
	proto_unregister(&falconv6_prot);
out_v4:
	proto_unregister(&falcon_prot);
out_ep:
	falcon_ep_exit();
out_counter:
	percpu_counter_destroy(&falcon_sockets_allocated);
	return err;
}

void falcon_sock_exit(void)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(falcon_protosw); i++)
		inet_unregister_protosw(&falcon_protosw[i]);
	for (i = 0; i < ARRAY_SIZE(falconv6_protosw); i++)
		inet6_unregister_protosw(&falconv6_protosw[i]);
	falcon_ep_exit();
	proto_unregister(&falconv6_prot);
	proto_unregister(&falcon_prot);
	percpu_counter_destroy(&falcon_sockets_allocated);
}
