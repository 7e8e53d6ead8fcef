// SPDX-License-Identifier: GPL-2.0
/*
 * Options and ioctls of Falcon sockets. Level SOL_FALCON is documented in
 * falcon(7); of level IPPROTO_TCP, what programs written for TCP set is
 * accepted where it makes sense here.
 */
#include <linux/slab.h>
#include <linux/tcp.h>
#include <net/ip.h>
#include <net/transp_v6.h>
#include <asm/ioctls.h>
#include "sock/sock.h"

#define FALCON_KEEP_MAX		32767	/* seconds, as TCP */

static void falcon_set_bool(struct falcon_sock *fs, int nr, int val)
{
	if (val)
		set_bit(nr, &fs->flags);
	else
		clear_bit(nr, &fs->flags);
}

static int falcon_set_nodelay(struct sock *sk, int val)
{
	falcon_set_bool(falcon_sk(sk), FALCON_SK_NODELAY, val);
	falcon_tx_push(sk, false);
	return 0;
}

/* Of connections to be: the handshake settles it. */
static bool falcon_opt_late(const struct sock *sk)
{
	return !((1 << sk->sk_state) & (TCPF_CLOSE | TCPF_LISTEN));
}

static int falcon_set_flows(struct sock *sk, int val)
{
	if (val < 1 || val > FALCON_MAX_FLOWS)
		return -EINVAL;
	if (falcon_opt_late(sk))
		return -EISCONN;
	falcon_sk(sk)->nr_flows = val;
	return 0;
}

static int falcon_get_user_timeout(const struct sock *sk)
{
	return falcon_sk(sk)->user_timeout_ms ? :
	       READ_ONCE(falcon_sock_net(sk)->sysctl.user_timeout_ms);
}

static int falcon_set_user_timeout(struct sock *sk, int val)
{
	struct falcon_sock *fs = falcon_sk(sk);

	if (val < 0)
		return -EINVAL;
	fs->user_timeout_ms = val;
	if (fs->ep && fs->mss)
		falcon_conn_user_timeout(fs->ep->conn,
					 falcon_get_user_timeout(sk));
	return 0;
}

static int falcon_set_security(struct sock *sk, int val)
{
	int security = falcon_security_check(sock_net(sk), val);

	if (security < 0)
		return security;
	/* That of a listener is fixed by listen(). */
	if (falcon_opt_late(sk) || sk->sk_state == TCP_LISTEN)
		return -EISCONN;
	falcon_sk(sk)->security = security;
	return 0;
}

static int falcon_set_weight(struct sock *sk, int val)
{
	struct falcon_sock *fs = falcon_sk(sk);

	if (val < 1 || val > FALCON_WEIGHT_MAX)
		return -EINVAL;
	fs->weight = val;
	if (fs->ep && fs->ep->conn)
		falcon_conn_weight(fs->ep->conn, val);
	return 0;
}

static int falcon_set_keep(struct sock *sk, u32 *field, int val)
{
	if (val < 1 || val > FALCON_KEEP_MAX)
		return -EINVAL;
	*field = val;
	if (sock_flag(sk, SOCK_KEEPOPEN))
		falcon_sock_keepalive(sk, 1);
	return 0;
}

/**
 * falcon_sock_keepalive - SO_KEEPALIVE, struct proto::keepalive
 * @sk:		socket, locked
 * @valbool:	on or off
 */
void falcon_sock_keepalive(struct sock *sk, int valbool)
{
	struct falcon_sock *fs = falcon_sk(sk);

	if (!fs->ep || !fs->mss || sock_flag(sk, SOCK_DEAD))
		return;
	fs->keep_at = 0;
	if (valbool) {
		fs->keep_at = falcon_at(fs->keep_idle * HZ);
		falcon_sock_arm(sk);
	}
}

static int falcon_set_congestion(struct sock *sk, sockptr_t optval,
				 unsigned int optlen)
{
	struct falcon_sock *fs = falcon_sk(sk);
	const struct falcon_fae_ops *fae;
	char name[FALCON_FAE_NAME_MAX];
	int n;

	if (!optlen)
		return -EINVAL;
	n = strncpy_from_sockptr(name, optval,
				 min_t(long, sizeof(name) - 1, optlen));
	if (n < 0)
		return -EFAULT;
	name[n] = 0;
	fae = falcon_fae_get(name);
	if (!fae)
		return -ENOENT;
	lock_sock(sk);
	if (falcon_opt_late(sk)) {
		release_sock(sk);
		falcon_fae_put(fae);
		return -EISCONN;
	}
	/* falcon_ep_request() copies it. */
	spin_lock_bh(&fs->aq_lock);
	swap(fs->fae, fae);
	spin_unlock_bh(&fs->aq_lock);
	release_sock(sk);
	if (fae)
		falcon_fae_put(fae);
	return 0;
}

static int falcon_set_int(struct sock *sk, int optname, int val)
{
	switch (optname) {
	case FALCON_NODELAY:
		return falcon_set_nodelay(sk, val);
	case FALCON_FLOWS:
		return falcon_set_flows(sk, val);
	case FALCON_USER_TIMEOUT:
		return falcon_set_user_timeout(sk, val);
	case FALCON_SECURITY:
		return falcon_set_security(sk, val);
	case FALCON_WEIGHT:
		return falcon_set_weight(sk, val);
	}
	return -ENOPROTOOPT;
}

/* What a program for TCP may set and mean here, too. */
static int falcon_set_tcp(struct sock *sk, int optname, int val)
{
	struct falcon_sock *fs = falcon_sk(sk);

	switch (optname) {
	case TCP_NODELAY:
		return falcon_set_nodelay(sk, val);
	case TCP_USER_TIMEOUT:
		return falcon_set_user_timeout(sk, val);
	case TCP_KEEPIDLE:
		return falcon_set_keep(sk, &fs->keep_idle, val);
	case TCP_KEEPINTVL:
		return falcon_set_keep(sk, &fs->keep_intvl, val);
	case TCP_KEEPCNT:
	case TCP_QUICKACK:
	case TCP_DEFER_ACCEPT:
	case TCP_SYNCNT:
	case TCP_LINGER2:
	case TCP_WINDOW_CLAMP:
	case TCP_NOTSENT_LOWAT:
		return 0;
	}
	return -ENOPROTOOPT;
}

int falcon_setsockopt(struct sock *sk, int level, int optname,
		      sockptr_t optval, unsigned int optlen)
{
	int val, err;

	if (level != SOL_FALCON && level != SOL_TCP)
		return sk->sk_family == AF_INET6 ?
		       ipv6_setsockopt(sk, level, optname, optval, optlen) :
		       ip_setsockopt(sk, level, optname, optval, optlen);
	if (level == SOL_FALCON && optname == FALCON_CONGESTION)
		return falcon_set_congestion(sk, optval, optlen);
	if (optlen < sizeof(int))
		return -EINVAL;
	if (copy_from_sockptr(&val, optval, sizeof(val)))
		return -EFAULT;
	lock_sock(sk);
	err = level == SOL_FALCON ? falcon_set_int(sk, optname, val) :
				    falcon_set_tcp(sk, optname, val);
	release_sock(sk);
	return err;
}

static u8 falcon_info_state(const struct sock *sk)
{
	switch (sk->sk_state) {
	case TCP_CLOSE:
		return FALCON_STATE_CLOSED;
	case TCP_LISTEN:
		return FALCON_STATE_LISTEN;
	case TCP_SYN_SENT:
		return FALCON_STATE_CONNECTING;
	case TCP_ESTABLISHED:
		return FALCON_STATE_ESTABLISHED;
	default:
		return FALCON_STATE_CLOSING;
	}
}

static void falcon_info_conn(struct falcon_conn *conn, struct falcon_info *info)
{
	const struct falcon_core *c = &conn->core;
	u64 fcwnd = 0;
	int i;

	memset(info, 0, sizeof(*info));
	spin_lock_bh(&conn->lock);
	info->flows = c->cfg.nr_flows;
	info->psp_version = conn->tx_sa.version;
	info->cid = conn->cid;
	info->peer_cid = c->cfg.peer_cid;
	info->mtu = conn->mtu;
	info->rtt_us = div_u64(c->srtt_ns, NSEC_PER_USEC);
	info->rto_us = div_u64(c->rto_ns, NSEC_PER_USEC);
	info->ncwnd = c->ncwnd;
	for (i = 0; i < c->cfg.nr_flows; i++) {
		const struct falcon_flow *f = &c->flow[i];
		u64 delay_ns = div_u64((u64)f->min_delay * FALCON_TS_UNIT_PS,
				       1000);

		fcwnd += f->fcwnd;
		info->unacked += f->outstanding[FALCON_WIN_REQ] +
				 f->outstanding[FALCON_WIN_DATA];
		if (delay_ns && (!info->min_delay_ns ||
				 delay_ns < info->min_delay_ns))
			info->min_delay_ns = delay_ns;
	}
	info->fcwnd_milli = (fcwnd * 1000) >> FALCON_FCWND_SHIFT;
	info->tx_pkts = c->stats.tx_pkts;
	info->rx_pkts = c->stats.rx_pkts;
	info->tx_bytes = c->stats.tx_bytes;
	info->rx_bytes = c->stats.rx_bytes;
	for (i = 0; i < FALCON_NR_RETX; i++)
		info->retx += c->stats.retx[i];
	info->spurious = c->stats.spurious;
	spin_unlock_bh(&conn->lock);
}

/**
 * falcon_info_keep - FALCON_INFO is to outlive the connection
 * @sk:		socket with an endpoint, locked; they are about to part
 */
void falcon_info_keep(struct sock *sk)
{
	struct falcon_sock *fs = falcon_sk(sk);

	if (!fs->mss)
		return;
	if (!fs->last_info)
		fs->last_info = kzalloc(sizeof(*fs->last_info), GFP_ATOMIC);
	if (fs->last_info)
		falcon_info_conn(fs->ep->conn, fs->last_info);
}

static int falcon_get_info(struct sock *sk, char __user *optval, int len)
{
	struct falcon_sock *fs = falcon_sk(sk);
	struct falcon_info info = {};

	lock_sock(sk);
	if (fs->ep && fs->mss)
		falcon_info_conn(fs->ep->conn, &info);
	else if (!fs->ep && fs->last_info)
		info = *fs->last_info;
	info.state = falcon_info_state(sk);
	info.unsent_bytes = fs->tx_bytes;
	release_sock(sk);
	return copy_to_user(optval, &info, len) ? -EFAULT : 0;
}

static int falcon_get_congestion(struct sock *sk, char __user *optval, int len)
{
	struct falcon_sock *fs = falcon_sk(sk);
	char name[FALCON_FAE_NAME_MAX] = {};

	lock_sock(sk);
	if (fs->ep && fs->mss)
		strscpy(name, fs->ep->conn->core.cfg.fae->name, sizeof(name));
	else if (fs->fae)
		strscpy(name, fs->fae->name, sizeof(name));
	else
		strscpy(name, falcon_sock_net(sk)->sysctl.fae, sizeof(name));
	release_sock(sk);
	return copy_to_user(optval, name, len) ? -EFAULT : 0;
}

static int falcon_get_flows(struct sock *sk)
{
	struct falcon_sysctls *sysctl = &falcon_sock_net(sk)->sysctl;
	struct falcon_sock *fs = falcon_sk(sk);
	int val = fs->nr_flows;

	lock_sock(sk);
	if (fs->ep && fs->mss)
		val = fs->ep->conn->core.cfg.nr_flows;
	release_sock(sk);
	if (val)
		return val;
	return sk->sk_family == AF_INET ? READ_ONCE(sysctl->flows_ipv4) :
					  READ_ONCE(sysctl->flows_ipv6);
}

/* What it was set up with, or will be unless there is a key */
static int falcon_get_security(struct sock *sk)
{
	struct falcon_sock *fs = falcon_sk(sk);
	int val;

	lock_sock(sk);
	val = fs->ep && fs->mss ? falcon_cm_policy(fs->ep->conn) :
				  falcon_cm_wish(falcon_sock_net(sk), fs->security);
	release_sock(sk);
	return val;
}

static int falcon_get_int(struct sock *sk, int optname, int *val)
{
	switch (optname) {
	case FALCON_NODELAY:
		*val = test_bit(FALCON_SK_NODELAY, &falcon_sk(sk)->flags);
		return 0;
	case FALCON_FLOWS:
		*val = falcon_get_flows(sk);
		return 0;
	case FALCON_USER_TIMEOUT:
		*val = falcon_get_user_timeout(sk);
		return 0;
	case FALCON_SECURITY:
		*val = falcon_get_security(sk);
		return 0;
	case FALCON_WEIGHT:
		*val = falcon_sk(sk)->weight ? :
		       READ_ONCE(falcon_sock_net(sk)->sysctl.tx_weight);
		return 0;
	}
	return -ENOPROTOOPT;
}

static int falcon_get_tcp(struct sock *sk, int optname, int *val)
{
	struct falcon_sock *fs = falcon_sk(sk);

	switch (optname) {
	case TCP_NODELAY:
		*val = test_bit(FALCON_SK_NODELAY, &fs->flags);
		return 0;
	case TCP_MAXSEG:
		*val = fs->mss;
		return 0;
	case TCP_USER_TIMEOUT:
		*val = fs->user_timeout_ms;
		return 0;
	case TCP_KEEPIDLE:
		*val = fs->keep_idle;
		return 0;
	case TCP_KEEPINTVL:
		*val = fs->keep_intvl;
		return 0;
	}
	return -ENOPROTOOPT;
}

int falcon_getsockopt(struct sock *sk, int level, int optname,
		      char __user *optval, int __user *optlen)
{
	int len, val, err;

	if (level != SOL_FALCON && level != SOL_TCP)
		return sk->sk_family == AF_INET6 ?
		       ipv6_getsockopt(sk, level, optname, optval, optlen) :
		       ip_getsockopt(sk, level, optname, optval, optlen);
	if (get_user(len, optlen))
		return -EFAULT;
	if (len < 0)
		return -EINVAL;

	if (level == SOL_FALCON && optname == FALCON_INFO) {
		len = min_t(int, len, sizeof(struct falcon_info));
		err = falcon_get_info(sk, optval, len);
	} else if (level == SOL_FALCON && optname == FALCON_CONGESTION) {
		len = min_t(int, len, FALCON_FAE_NAME_MAX);
		err = falcon_get_congestion(sk, optval, len);
	} else {
		err = level == SOL_FALCON ? falcon_get_int(sk, optname, &val) :
					    falcon_get_tcp(sk, optname, &val);
		len = min_t(int, len, sizeof(val));
		if (!err && copy_to_user(optval, &val, len))
			err = -EFAULT;
	}
	if (err)
		return err;
	return put_user(len, optlen);
}

/* Bytes of the first message, as far as they are there. */
static u32 falcon_msg_bytes(const struct sock *sk)
{
	u32 bytes = 0;
	struct sk_buff *skb;

	skb_queue_walk(&sk->sk_receive_queue, skb) {
		bytes += falcon_seg_bytes(skb);
		if (falcon_rx_flags(skb) & FALCON_SOCK_MSG_END)
			break;
	}
	return bytes ? bytes - falcon_sk(sk)->rx_off : 0;
}

/**
 * falcon_sock_ioctl - SIOCINQ, SIOCOUTQ, SIOCOUTQNSD
 * @sk:		socket
 * @cmd:	request
 * @karg:	answer, bytes
 *
 * Return: 0, -EINVAL of a listener, -ENOIOCTLCMD.
 */
int falcon_sock_ioctl(struct sock *sk, int cmd, int *karg)
{
	struct falcon_sock *fs = falcon_sk(sk);
	int err = 0;

	lock_sock(sk);
	if (sk->sk_state == TCP_LISTEN) {
		err = -EINVAL;
	} else {
		switch (cmd) {
		case SIOCINQ:
			*karg = sk->sk_type == SOCK_SEQPACKET ?
				falcon_msg_bytes(sk) : fs->rx_bytes;
			break;
		case SIOCOUTQ:
			*karg = fs->tx_bytes;
			break;
		case SIOCOUTQNSD:
			*karg = fs->tx_unsent;
			break;
		default:
			err = -ENOIOCTLCMD;
		}
	}
	release_sock(sk);
	return err;
}
