// SPDX-License-Identifier: GPL-2.0
/*
 * The UDP sockets of the connection manager's port, one a family in each
 * netns: from a packet to who sent it and what it says, and back. ICMP port
 * unreachable tells that a peer has no Falcon; only one that quotes the nonce
 * of a set-up is believed. cm.c sends through here and is called from here in
 * softirq.
 */
#include <linux/icmp.h>
#include <linux/icmpv6.h>
#include <net/icmp.h>
#include <net/inet_dscp.h>
#include <net/ip.h>
#include <net/l3mdev.h>
#include <net/route.h>
#include <net/udp.h>
#include <net/udp_tunnel.h>
#if IS_ENABLED(CONFIG_IPV6)
#include <net/ip6_route.h>
#include <net/ipv6.h>
#endif

#include "cm/cm.h"

static int cm_index(sa_family_t family)
{
	return family == AF_INET6;
}

static void cm_peer4(const struct sk_buff *skb, struct falcon_cm_peer *peer)
{
	const struct iphdr *iph = ip_hdr(skb);

	peer->path.family = AF_INET;
	ipv6_addr_set_v4mapped(iph->daddr, &peer->path.saddr);
	ipv6_addr_set_v4mapped(iph->saddr, &peer->path.daddr);
	peer->path.mark = IP4_REPLY_MARK(dev_net(skb->dev), skb->mark);
	peer->sdif = inet_sdif(skb);
	peer->dif = inet_iif(skb);
}

#if IS_ENABLED(CONFIG_IPV6)
static void cm_peer6(const struct sk_buff *skb, struct falcon_cm_peer *peer)
{
	const struct ipv6hdr *ip6h = ipv6_hdr(skb);

	peer->path.family = AF_INET6;
	peer->path.saddr = ip6h->daddr;
	peer->path.daddr = ip6h->saddr;
	peer->path.mark = IP6_REPLY_MARK(dev_net(skb->dev), skb->mark);
	peer->sdif = inet6_sdif(skb);
	peer->dif = inet6_iif(skb);
	if (ipv6_addr_type(&ip6h->saddr) & IPV6_ADDR_LINKLOCAL ||
	    ipv6_addr_type(&ip6h->daddr) & IPV6_ADDR_LINKLOCAL)
		peer->path.scope_id = peer->sdif ? peer->sdif : peer->dif;
}
#else
static void cm_peer6(const struct sk_buff *skb, struct falcon_cm_peer *peer)
{
}
#endif

/* encap_rcv: @skb begins with the UDP header, checksum verified. 0: consumed */
static int cm_encap_rcv(struct sock *sk, struct sk_buff *skb)
{
	struct falcon_cm *cm = rcu_dereference_sk_user_data(sk);
	struct falcon_cm_peer peer = {};
	unsigned int len = skb->len - sizeof(struct udphdr);

	if (!cm || skb->pkt_type != PACKET_HOST)
		goto drop;
	FALCON_INC(cm->fn, CM_IN);
	if (len > FALCON_CM_MAX_LEN || !pskb_may_pull(skb, skb->len)) {
		FALCON_INC(cm->fn, CM_BAD);
		goto drop;
	}
	if (sk->sk_family == AF_INET)
		cm_peer4(skb, &peer);
	else
		cm_peer6(skb, &peer);
	peer.port = udp_hdr(skb)->source;
	peer.path.oif = peer.sdif ? peer.dif : 0;

	falcon_cm_rcv(cm, &peer, skb->data + sizeof(struct udphdr), len);
drop:
	kfree_skb(skb);
	return 0;
}

/* Whether the ICMP error means that nobody there speaks Falcon. Its header of
 * 8 bytes stands before what it quotes, which @skb->data points to.
 */
static bool cm_port_unreachable(const struct sock *sk,
				const struct sk_buff *skb)
{
	const struct icmphdr *icmph;
	const struct icmp6hdr *icmp6h;

	if (sk->sk_family == AF_INET) {
		icmph = (const struct icmphdr *)skb->data - 1;
		return icmph->type == ICMP_DEST_UNREACH &&
		       icmph->code == ICMP_PORT_UNREACH;
	}
	icmp6h = (const struct icmp6hdr *)skb->data - 1;
	return icmp6h->icmp6_type == ICMPV6_DEST_UNREACH &&
	       icmp6h->icmp6_code == ICMPV6_PORT_UNREACH;
}

static void cm_quoted_daddr(const struct sock *sk, const struct sk_buff *skb,
			    struct in6_addr *daddr)
{
	if (sk->sk_family == AF_INET)
		ipv6_addr_set_v4mapped(ip_hdr(skb)->daddr, daddr);
	else
		*daddr = ipv6_hdr(skb)->daddr;
}

/* encap_err_lookup: headers of @skb are those of our packet that is quoted */
static int cm_encap_err(struct sock *sk, struct sk_buff *skb)
{
	struct falcon_cm *cm = rcu_dereference_sk_user_data(sk);
	const struct falcon_cm_hdr *h;
	struct falcon_cm_hdr buf;
	struct in6_addr daddr;

	if (!cm || !cm_port_unreachable(sk, skb))
		return 0;
	h = skb_header_pointer(skb, skb_transport_offset(skb) +
			       sizeof(struct udphdr), sizeof(buf), &buf);
	if (!h || h->magic != cpu_to_be32(FALCON_CM_MAGIC) ||
	    h->type != FALCON_CM_INIT)
		return 0;
	cm_quoted_daddr(sk, skb, &daddr);
	falcon_cm_unreachable(cm, &daddr, be64_to_cpu(h->nonce), -ECONNREFUSED);
	return 0;
}

/**
 * falcon_cm_skb() - an empty packet to build a message in
 *
 * Context: Any but hard interrupts.
 * Return: room for FALCON_CM_MAX_LEN bytes behind headers, or NULL.
 */
struct sk_buff *falcon_cm_skb(void)
{
	const unsigned int headroom = ALIGN(MAX_HEADER +
					    sizeof(struct ipv6hdr) +
					    sizeof(struct udphdr), 8);
	struct sk_buff *skb;

	skb = alloc_skb(headroom + FALCON_CM_MAX_LEN,
			GFP_ATOMIC | __GFP_NOWARN);
	if (skb)
		skb_reserve(skb, headroom);
	return skb;
}

static int cm_xmit4(struct falcon_cm *cm, struct sock *sk,
		    const struct falcon_cm_peer *peer, struct sk_buff *skb)
{
	const struct falcon_path *p = &peer->path;
	struct flowi4 fl4 = {
		.flowi4_oif = p->oif,
		.flowi4_mark = p->mark,
		.flowi4_tos = p->tclass & INET_DSCP_MASK,
		.flowi4_proto = IPPROTO_UDP,
		.flowi4_uid = p->uid,
		.saddr = p->saddr.s6_addr32[3],
		.daddr = p->daddr.s6_addr32[3],
		.fl4_sport = inet_sk(sk)->inet_sport,
		.fl4_dport = peer->port,
	};
	struct rtable *rt = ip_route_output_flow(cm->fn->net, &fl4, sk);

	if (IS_ERR(rt)) {
		kfree_skb(skb);
		return PTR_ERR(rt);
	}
	udp_tunnel_xmit_skb(rt, sk, skb, fl4.saddr, fl4.daddr, p->tclass,
			    p->ttl ? p->ttl : ip4_dst_hoplimit(&rt->dst), 0,
			    fl4.fl4_sport, fl4.fl4_dport, false, false);
	return 0;
}

#if IS_ENABLED(CONFIG_IPV6)
static int cm_xmit6(struct falcon_cm *cm, struct sock *sk,
		    const struct falcon_cm_peer *peer, struct sk_buff *skb)
{
	const struct falcon_path *p = &peer->path;
	struct flowi6 fl6 = {
		.flowi6_oif = p->oif ? p->oif : p->scope_id,
		.flowi6_mark = p->mark,
		.flowi6_proto = IPPROTO_UDP,
		.flowi6_uid = p->uid,
		.flowlabel = ip6_make_flowinfo(p->tclass, 0),
		.saddr = p->saddr,
		.daddr = p->daddr,
		.fl6_sport = inet_sk(sk)->inet_sport,
		.fl6_dport = peer->port,
	};
	struct dst_entry *dst = ip6_dst_lookup_flow(cm->fn->net, sk, &fl6,
						    NULL);

	if (IS_ERR(dst)) {
		kfree_skb(skb);
		return PTR_ERR(dst);
	}
	/* No device: its statistics are not those of a tunnel. */
	udp_tunnel6_xmit_skb(dst, sk, skb, NULL, &fl6.saddr, &fl6.daddr,
			     p->tclass,
			     p->ttl ? p->ttl : ip6_dst_hoplimit(dst), 0,
			     fl6.fl6_sport, fl6.fl6_dport, false);
	return 0;
}
#else
static int cm_xmit6(struct falcon_cm *cm, struct sock *sk,
		    const struct falcon_cm_peer *peer, struct sk_buff *skb)
{
	kfree_skb(skb);
	return -EAFNOSUPPORT;
}
#endif

/**
 * falcon_cm_xmit() - send a message
 * @cm:		connection manager
 * @peer:	where to; an unspecified own address is for routing to choose
 * @skb:	the message, in a packet of falcon_cm_skb(). Consumed
 *
 * Context: Any but hard interrupts.
 * Return: 0, or a negative errno of routing.
 */
int falcon_cm_xmit(struct falcon_cm *cm, const struct falcon_cm_peer *peer,
		   struct sk_buff *skb)
{
	struct socket *sock;
	int err = -EAFNOSUPPORT;

	skb->mark = peer->path.mark;
	rcu_read_lock_bh();
	sock = rcu_dereference_bh(cm->sk[cm_index(peer->path.family)]);
	if (!sock)
		kfree_skb(skb);
	else if (peer->path.family == AF_INET)
		err = cm_xmit4(cm, sock->sk, peer, skb);
	else
		err = cm_xmit6(cm, sock->sk, peer, skb);
	rcu_read_unlock_bh();
	if (err)
		FALCON_INC(cm->fn, OUT_NO_ROUTE);
	else
		FALCON_INC(cm->fn, CM_OUT);
	return err;
}

static int cm_open(struct falcon_cm *cm, sa_family_t family, u16 num,
		   struct socket **sock)
{
	struct udp_port_cfg port = {
		.family = family,
		.local_udp_port = htons(num),
		.use_udp_checksums = 1,
		.use_udp6_tx_checksums = 1,
		.use_udp6_rx_checksums = 1,
		.ipv6_v6only = 1,
	};
	struct udp_tunnel_sock_cfg cfg = {
		.sk_user_data = cm,
		.encap_type = 1,
		.encap_rcv = cm_encap_rcv,
		.encap_err_lookup = cm_encap_err,
	};
	int err;

	err = udp_sock_create(cm->fn->net, &port, sock);
	if (err)
		return err;
	setup_udp_tunnel_sock(cm->fn->net, *sock, &cfg);
	return 0;
}

/* Replaces a socket; what still uses the old one has finished at the return. */
static void cm_replace(struct falcon_cm *cm, sa_family_t family,
		       struct socket *sock)
{
	struct socket *old;

	old = unrcu_pointer(xchg(&cm->sk[cm_index(family)],
				 RCU_INITIALIZER(sock)));
	if (old)
		udp_tunnel_sock_release(old);
}

/**
 * falcon_cm_set_port() - open the port in a netns, instead of the one before
 * @cm:		connection manager; what receives is set up
 * @port:	UDP port
 *
 * A kernel that runs without IPv6 does without that socket. Callers exclude
 * each other.
 *
 * Context: Process, may sleep.
 * Return: 0 or a negative errno, -EADDRINUSE if somebody has the port; then
 * nothing has changed.
 */
int falcon_cm_set_port(struct falcon_cm *cm, u16 port)
{
	struct socket *sock4, *sock6 = NULL;
	int err;

	err = cm_open(cm, AF_INET, port, &sock4);
	if (err)
		return err;
	err = cm_open(cm, AF_INET6, port, &sock6);
	if (err && err != -EAFNOSUPPORT && err != -EPFNOSUPPORT) {
		udp_tunnel_sock_release(sock4);
		return err;
	}
	cm_replace(cm, AF_INET, sock4);
	cm_replace(cm, AF_INET6, sock6);
	return 0;
}

/**
 * falcon_cm_close_port() - close the port
 * @cm:	connection manager
 *
 * Nothing is received any more when it returns.
 *
 * Context: Process, may sleep.
 */
void falcon_cm_close_port(struct falcon_cm *cm)
{
	cm_replace(cm, AF_INET, NULL);
	cm_replace(cm, AF_INET6, NULL);
}
