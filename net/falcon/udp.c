// SPDX-License-Identifier: GPL-2.0
/*
 * The PSP sockets of a namespace, and the way in: skbs become packets, packets
 * find their connection.
 *
 * A plain kernel UDP socket with UDP_GRO takes trains whole; it is drained in
 * sk_data_ready. Each packet of a train becomes an skb of its own that shares
 * the payload pages, because core keeps it until the ULP is done with it. The
 * packets that follow each other for one connection are given to it before
 * their effects are carried out once, so that a train costs one ACK and one
 * wake-up. Events of congestion control may wait for the end (fae.c). Nothing
 * here moves the state of a connection: conn/rx.c does.
 */
#include <linux/inetdevice.h>
#include <linux/net.h>
#include <linux/netdevice.h>
#include <linux/udp.h>
#include <net/busy_poll.h>
#include <net/inet_ecn.h>
#include <net/ipv6.h>
#include <net/sock.h>
#include <net/udp.h>
#include "falcon.h"

/* Headers that a packet needs in one piece. */
#define FALCON_RX_HDR	(sizeof(struct falcon_psp_hdr) + FALCON_MAX_HDR_LEN)
/* Shorter packets are copied: they would pin a page each. */
#define FALCON_RX_COPY	1024
/* True size from which on a packet of @len bytes is copied into one of its own */
#define FALCON_RX_WIDE(len)	(4 * (len) + 4096)
/* skbs taken in one go; each arrival asks again. */
#define FALCON_RX_BATCH	16
#define FALCON_UDP_RCVBUF	(32 << 20)

/* The connection that the packets at hand belong to. */
struct falcon_rx_batch {
	struct falcon_net *fn;
	struct falcon_conn *conn;
};

static void falcon_batch_end(struct falcon_rx_batch *b)
{
	if (!b->conn)
		return;
	falcon_conn_run(b->conn);
	falcon_conn_put(b->conn);
	b->conn = NULL;
}

static struct falcon_conn *falcon_batch_conn(struct falcon_rx_batch *b, u32 cid)
{
	if (b->conn && b->conn->cid == cid)
		return b->conn;
	falcon_batch_end(b);
	b->conn = falcon_conn_lookup(b->fn, cid);
	return b->conn;
}

/*
 * The CID stands in the first four bytes of a Falcon header, in the clear in
 * every PSP version; the rest of the header only without encryption.
 */
static bool falcon_rx_parse(struct falcon_net *fn, const struct sk_buff *skb,
			    struct falcon_rx *rx)
{
	const void *hdr = skb->data + sizeof(struct falcon_psp_hdr);
	unsigned int len;

	if (falcon_psp_parse(skb->data, skb->len, &rx->psp)) {
		FALCON_INC(fn, IN_BAD_PSP);
		return false;
	}
	if (rx->psp.version != FALCON_PSP_VER_NONE) {
		rx->pi.cid = be32_to_cpup(hdr) & FALCON_CID_MASK;
		return true;
	}
	len = skb->len - sizeof(struct falcon_psp_hdr);
	if (falcon_wire_parse(hdr, len, &rx->pi)) {
		FALCON_INC(fn, IN_BAD_HDR);
		return false;
	}
	return true;
}

/* One packet, from its PSP header on. Consumes @skb. */
static void falcon_rx_packet(struct falcon_rx_batch *b, struct sk_buff *skb,
			     struct falcon_rx *rx)
{
	struct falcon_conn *conn;

	if (!pskb_may_pull(skb, min_t(unsigned int, skb->len, FALCON_RX_HDR))) {
		FALCON_INC(b->fn, IN_NO_MEM);
		goto drop;
	}
	if (!falcon_rx_parse(b->fn, skb, rx))
		goto drop;
	conn = falcon_batch_conn(b, rx->pi.cid);
	if (!conn) {
		FALCON_INC(b->fn, IN_NO_CONN);
		goto drop;
	}
	falcon_conn_rx(conn, skb, rx);
	return;
drop:
	kfree_skb(skb);
}

/* What the outer headers tell of a packet, or of all packets of a train. */
static void falcon_rx_outer(const struct sk_buff *skb, struct falcon_rx *rx)
{
	const struct udphdr *uh = udp_hdr(skb);

	memset(rx, 0, sizeof(*rx));
	if (ip_hdr(skb)->version == 4) {
		const struct iphdr *iph = ip_hdr(skb);

		ipv6_addr_set_v4mapped(iph->saddr, &rx->saddr);
		rx->ttl = iph->ttl;
		rx->meta.ecn_ce = INET_ECN_is_ce(iph->tos);
		rx->iif = skb->skb_iif;
	} else {
		const struct ipv6hdr *ip6h = ipv6_hdr(skb);

		rx->saddr = ip6h->saddr;
		rx->ttl = ip6h->hop_limit;
		rx->meta.ecn_ce = INET_ECN_is_ce(ipv6_get_dsfield(ip6h));
		/* The link of a link-local address, even if it went by lo. */
		rx->iif = IP6CB(skb)->iif;
	}
	rx->meta.flow = ntohs(uh->source) & (FALCON_MAX_FLOWS - 1);
	rx->meta.now_ns = ktime_get_ns();
	rx->hw = skb_shinfo(skb)->hwtstamps;
	rx->napi_id = skb_napi_id(skb);
}

/* Adds @len bytes of the page frags of @train from @off on to @skb. */
static void falcon_train_share(struct sk_buff *skb, struct sk_buff *train,
			       unsigned int off, unsigned int len)
{
	unsigned int i, n = 0;

	for (i = 0; i < skb_shinfo(train)->nr_frags && len; i++) {
		skb_frag_t *frag = &skb_shinfo(train)->frags[i];
		unsigned int take, size = skb_frag_size(frag);

		if (off >= size) {
			off -= size;
			continue;
		}
		take = min(size - off, len);
		__skb_frag_ref(frag);
		skb_fill_page_desc(skb, n++, skb_frag_page(frag),
				   skb_frag_off(frag) + off, take);
		skb->len += take;
		skb->data_len += take;
		len -= take;
		off = 0;
	}
}

/* A copy of @len bytes at @off, with the time of arrival; NULL: no memory. */
static struct sk_buff *falcon_rx_copy(const struct sk_buff *from,
				      unsigned int off, unsigned int len)
{
	struct sk_buff *skb = alloc_skb(len, GFP_ATOMIC | __GFP_NOWARN);

	if (!skb)
		return NULL;
	if (skb_copy_bits(from, off, __skb_put(skb, len), len)) {
		kfree_skb(skb);
		return NULL;
	}
	skb->tstamp = from->tstamp;
	return skb;
}

/*
 * Makes an skb of @len bytes at @off of a train. Headers, and short packets
 * whole, are copied; long payloads are shared. What is shared is charged with
 * @part, its part of the train's true size, so that one packet that a slow
 * reader keeps does not pin memory that nobody accounts for.
 */
static struct sk_buff *falcon_train_cut(struct sk_buff *train, unsigned int off,
					unsigned int len, unsigned int part)
{
	unsigned int copy = len, headlen = skb_headlen(train);
	struct sk_buff *skb;

	if (len > FALCON_RX_COPY && off + FALCON_RX_HDR >= headlen &&
	    !skb_has_frag_list(train))
		copy = FALCON_RX_HDR;

	skb = falcon_rx_copy(train, off, copy);
	if (skb && copy < len) {
		falcon_train_share(skb, train, off + copy - headlen,
				   len - copy);
		skb_shinfo(skb)->flags |= SKBFL_SHARED_FRAG;
		skb->truesize += max(part, len - copy);
	}
	return skb;
}

static void falcon_rx_train(struct falcon_rx_batch *b, struct sk_buff *train,
			    struct falcon_rx *rx)
{
	unsigned int off, stride = skb_shinfo(train)->gso_size;
	unsigned int nr = DIV_ROUND_UP(train->len, stride);

	FALCON_INC(b->fn, IN_TRAINS);
	FALCON_ADD(b->fn, IN_PKTS, nr);
	for (off = 0; off < train->len; off += stride) {
		struct sk_buff *skb;

		skb = falcon_train_cut(train, off,
				       min(stride, train->len - off),
				       train->truesize / nr);
		if (skb)
			falcon_rx_packet(b, skb, rx);
		else
			FALCON_INC(b->fn, IN_NO_MEM);
	}
	consume_skb(train);
}

/*
 * Does a packet pin more memory than its length tells, by which it is charged? As
 * IP joins fragments each of them is an skb, or a page, however short; of Falcon's
 * own packets none is one of several but what was sent before a path MTU shrank.
 */
static bool falcon_rx_is_wide(const struct sk_buff *skb)
{
	return skb_has_frag_list(skb) ||
	       skb->truesize > FALCON_RX_WIDE(skb->len);
}

/* One that does not is made of it; NULL without memory. Consumes @skb. */
static struct sk_buff *falcon_rx_compact(struct sk_buff *skb)
{
	struct sk_buff *copy;

	if (likely(!falcon_rx_is_wide(skb)))
		return skb;
	copy = falcon_rx_copy(skb, 0, skb->len);
	if (copy)
		consume_skb(skb);
	else
		kfree_skb(skb);
	return copy;
}

/* A datagram, or a train of them, as UDP has queued it. */
static void falcon_rx_datagram(struct falcon_rx_batch *b, struct sk_buff *skb)
{
	struct falcon_rx rx;

	skb->dev = NULL;	/* UDP keeps its own notes there */
	if (udp_lib_checksum_complete(skb)) {
		FALCON_INC(b->fn, IN_BAD_CSUM);
		kfree_skb(skb);
		return;
	}
	falcon_rx_outer(skb, &rx);
	if (skb_is_gso(skb)) {
		falcon_rx_train(b, skb, &rx);
		return;
	}
	FALCON_INC(b->fn, IN_PKTS);
	skb = falcon_rx_compact(skb);
	if (!skb) {
		FALCON_INC(b->fn, IN_NO_MEM);
		return;
	}
	skb_dst_drop(skb);
	skb_ext_reset(skb);
	falcon_rx_packet(b, skb, &rx);
}

static void falcon_udp_data_ready(struct sock *sk)
{
	struct falcon_rx_batch b = {};
	struct sk_buff *skb;
	int i, off, err;

	rcu_read_lock();
	b.fn = rcu_dereference_sk_user_data(sk);
	for (i = 0; b.fn && i < FALCON_RX_BATCH; i++) {
		off = 0;
		err = 0;
		skb = __skb_recv_udp(sk, MSG_DONTWAIT, &off, &err);
		if (skb)
			falcon_rx_datagram(&b, skb);
		else if (err == -EAGAIN)
			break;
	}
	falcon_batch_end(&b);
	if (b.fn)
		falcon_fae_batch_end(b.fn);
	rcu_read_unlock();
}

/*
 * An ICMP error about a packet that went to the PSP port of somebody: the
 * routing table learns the path MTU or the redirect. Anything else is soft: if
 * it lasts, the protocol's time-outs find out.
 */
static int falcon_udp_err_lookup(struct sock *sk, struct sk_buff *skb)
{
	return udp_hdr(skb)->dest == htons(FALCON_PSP_UDP_PORT) ? 0 : -ENOENT;
}

static int falcon_udp_bind(struct socket *sock, sa_family_t family)
{
	struct sockaddr_in6 a6 = {
		.sin6_family	= AF_INET6,
		.sin6_port	= htons(FALCON_PSP_UDP_PORT),
	};
	struct sockaddr_in a4 = {
		.sin_family	= AF_INET,
		.sin_port	= htons(FALCON_PSP_UDP_PORT),
	};

	if (family == AF_INET)
		return kernel_bind(sock, (struct sockaddr *)&a4, sizeof(a4));
	ip6_sock_set_v6only(sock->sk);
	return kernel_bind(sock, (struct sockaddr *)&a6, sizeof(a6));
}

static int falcon_udp_gro(struct socket *sock)
{
	int one = 1;

	return sock->ops->setsockopt(sock, SOL_UDP, UDP_GRO,
				     KERNEL_SOCKPTR(&one), sizeof(one));
}

/* Packets go through this socket into softirq at once, never to a reader. */
static void falcon_udp_attach(struct falcon_net *fn, struct sock *sk)
{
	sk->sk_allocation = GFP_ATOMIC;
#ifdef CONFIG_NET_RX_BUSY_POLL
	WRITE_ONCE(sk->sk_ll_usec, 0);
#endif
	WRITE_ONCE(sk->sk_rcvbuf, FALCON_UDP_RCVBUF);
	WRITE_ONCE(udp_sk(sk)->encap_err_lookup, falcon_udp_err_lookup);
	write_lock_bh(&sk->sk_callback_lock);
	rcu_assign_sk_user_data(sk, fn);
	WRITE_ONCE(sk->sk_data_ready, falcon_udp_data_ready);
	write_unlock_bh(&sk->sk_callback_lock);
}

static int falcon_udp_open(struct falcon_net *fn, sa_family_t family,
			   struct socket **res)
{
	struct socket *sock;
	int err;

	err = sock_create_kern(fn->net, family, SOCK_DGRAM, IPPROTO_UDP, &sock);
	if (err)
		return err;
	err = falcon_udp_bind(sock, family);
	if (!err)
		err = falcon_udp_gro(sock);
	if (err) {
		sock_release(sock);
		return err;
	}
	falcon_udp_attach(fn, sock->sk);
	*res = sock;
	return 0;
}

static void falcon_udp_close(struct socket **res)
{
	struct socket *sock = *res;

	if (!sock)
		return;
	rcu_assign_sk_user_data(sock->sk, NULL);
	sock_release(sock);
	*res = NULL;
}

/**
 * falcon_udp_net_init - open the PSP sockets of a namespace
 * @fn:		its connections can be looked up
 *
 * A kernel without IPv6 has only the other one.
 *
 * Context: process, may sleep.
 * Return: 0; -EADDRINUSE: somebody else has the port; or another errno. Then
 * falcon_udp_net_exit() closes what is open.
 */
int falcon_udp_net_init(struct falcon_net *fn)
{
	int err;

	err = falcon_udp_open(fn, AF_INET, &fn->psp_sk[0]);
	if (err)
		return err;
	err = falcon_udp_open(fn, AF_INET6, &fn->psp_sk[1]);
	return err == -EAFNOSUPPORT ? 0 : err;
}

/**
 * falcon_udp_net_exit - close the PSP sockets of a namespace
 * @fn:		nothing is received for it after the return
 *
 * Context: process, may sleep.
 */
void falcon_udp_net_exit(struct falcon_net *fn)
{
	falcon_udp_close(&fn->psp_sk[0]);
	falcon_udp_close(&fn->psp_sk[1]);
	synchronize_net();
}
