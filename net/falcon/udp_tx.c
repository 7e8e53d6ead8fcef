// SPDX-License-Identifier: GPL-2.0
/*
 * The way out: packets become trains, trains find their route and get their
 * UDP and IP headers, and the NIC takes them.
 *
 * conn/drain.c calls falcon_udp_build() under the connection lock for each packet of
 * core, because a payload lives only under it, and falcon_udp_xmit() after.
 * Consecutive packets of one flow, departure and size (the last may be
 * shorter) form a train: one skb with UDP_SEGMENT semantics. Payload pages are
 * shared with the ULP's skb; short payloads are copied beside their header,
 * so that MAX_SKB_FRAGS does not cut the train. What will be encrypted is
 * always copied: the ULP's bytes stay as they are for a retransmission.
 *
 * ECT(0) outside, the TTL fixed, the path label in the IPv6 flow label or the
 * IPv4 source port (DESIGN: on the wire). Packets carry DF; only one that the
 * path has become too narrow for leaves as IP fragments, because a PSN cannot
 * be cut again.
 */
#include <linux/netdevice.h>
#include <linux/percpu.h>
#include <linux/udp.h>
#include <net/dst.h>
#include <net/inet_ecn.h>
#include <net/ip.h>
#include <net/ip6_checksum.h>
#include <net/ip6_fib.h>
#include <net/ip6_route.h>
#include <net/ipv6.h>
#include <net/route.h>
#include <net/sock.h>
#include "falcon.h"
#include "psp/psp.h"

#define FALCON_TX_HEADROOM	(MAX_HEADER + sizeof(struct ipv6hdr) +	\
				 sizeof(struct udphdr))
/* Payloads up to this are copied, larger ones shared. */
#define FALCON_TX_COPY		2048
/* Of these, what fits beside the first header of an skb. */
#define FALCON_TX_LINEAR	256
/* UDP payload of a train: what an IP length field holds. */
#define FALCON_TX_TRAIN_MAX	(IP_MAX_MTU - sizeof(struct ipv6hdr) -	\
				 sizeof(struct udphdr))
/* Payloads stay small enough for the frags of one skb. */
#define FALCON_TX_MTU_MAX	16384

/* skb->cb from building to the NIC, which sees the first part */
struct falcon_tx_cb {
	struct falcon_nic_cb nic;
	u32 label;
	__be16 sport;
	u8  flow;
	bool full;
};

static struct falcon_tx_cb *falcon_tx_cb(const struct sk_buff *skb)
{
	BUILD_BUG_ON(sizeof(struct falcon_tx_cb) > sizeof(skb->cb));
	return (struct falcon_tx_cb *)skb->cb;
}

/* Where copied headers and payloads go; used with bottom halves off. */
static DEFINE_PER_CPU(struct page_frag, falcon_tx_page);

static void falcon_tx_add_frag(struct sk_buff *skb, struct page *page,
			       unsigned int off, unsigned int len)
{
	int n = skb_shinfo(skb)->nr_frags;

	if (n && skb_can_coalesce(skb, n, page, off)) {
		skb_frag_size_add(&skb_shinfo(skb)->frags[n - 1], len);
	} else {
		get_page(page);
		skb_fill_page_desc(skb, n, page, off, len);
	}
	skb->len += len;
	skb->data_len += len;
	skb->truesize += len;
}

/* Room of at most @len bytes for a copy at the end of @skb; NULL: no memory. */
static void *falcon_tx_room(struct sk_buff *skb, unsigned int *len,
			    unsigned int least)
{
	struct page_frag *pf = this_cpu_ptr(&falcon_tx_page);
	void *p;

	if (!skb_page_frag_refill(least, pf, GFP_ATOMIC | __GFP_NOWARN))
		return NULL;
	*len = min(*len, pf->size - pf->offset);
	p = page_address(pf->page) + pf->offset;
	falcon_tx_add_frag(skb, pf->page, pf->offset, *len);
	pf->offset += *len;
	return p;
}

static bool falcon_tx_copy(struct sk_buff *skb, const struct sk_buff *payload,
			   unsigned int off, unsigned int len)
{
	while (len) {
		unsigned int n = len;
		void *p = falcon_tx_room(skb, &n, min(len, 256u));

		if (!p || skb_copy_bits(payload, off, p, n))
			return false;
		off += n;
		len -= n;
	}
	return true;
}

static void falcon_tx_share(struct sk_buff *skb, const struct sk_buff *payload)
{
	const struct skb_shared_info *from = skb_shinfo(payload);
	unsigned int i;

	for (i = 0; i < from->nr_frags; i++)
		falcon_tx_add_frag(skb, skb_frag_page(&from->frags[i]),
				   skb_frag_off(&from->frags[i]),
				   skb_frag_size(&from->frags[i]));
	/* The ULP sends them again: on their way nobody may write to them. */
	skb_shinfo(skb)->flags |= SKBFL_SHARED_FRAG;
}

static bool falcon_tx_encrypts(const struct falcon_conn *conn)
{
	return BIT(conn->tx_sa.version) & FALCON_PSP_GCM_VERSIONS;
}

/* Bytes of a payload that are copied; the rest is page frags to share. */
static unsigned int falcon_tx_copied(const struct falcon_conn *conn,
				     const struct sk_buff *payload)
{
	if (!payload)
		return 0;
	if (falcon_tx_encrypts(conn) || payload->len <= FALCON_TX_COPY ||
	    skb_has_frag_list(payload) ||
	    skb_shinfo(payload)->nr_frags > MAX_SKB_FRAGS - 2)
		return payload->len;
	return skb_headlen(payload);
}

static unsigned int falcon_tx_frags(const struct falcon_conn *conn,
				    const struct sk_buff *payload,
				    unsigned int copied)
{
	unsigned int n = 2 + (copied >> PAGE_SHIFT);

	if (conn->tx_sa.version != FALCON_PSP_VER_NONE)
		n++;
	if (payload && copied < payload->len)
		n += skb_shinfo(payload)->nr_frags;
	return n;
}

static unsigned int falcon_tx_size(const struct falcon_conn *conn,
				   const struct falcon_tx *tx)
{
	return sizeof(struct falcon_psp_hdr) + tx->hdr_len + tx->len +
	       falcon_psp_icv_len(conn->tx_sa.version);
}

/* The IV is written at departure (falcon_psp_seal()). */
static void falcon_tx_headers(const struct falcon_conn *conn,
			      const struct falcon_tx *tx, void *p)
{
	struct falcon_psp_info psp = {
		.version	= conn->tx_sa.version,
		.spi		= conn->tx_sa.spi,
		.cookie		= conn->tx_sa.pcid,
	};

	falcon_psp_build(&psp, p);
	memcpy(p + sizeof(struct falcon_psp_hdr), tx->hdr, tx->hdr_len);
}

/* Appends the payload of @tx, of which @copied bytes are copied. */
static bool falcon_tx_payload(struct sk_buff *skb, const struct falcon_tx *tx,
			      unsigned int copied)
{
	const struct sk_buff *payload = tx->payload;

	if (!payload)
		return true;
	if (!skb_is_nonlinear(skb) && copied <= skb_tailroom(skb)) {
		if (skb_copy_bits(payload, 0, skb_put(skb, copied), copied))
			return false;
	} else if (!falcon_tx_copy(skb, payload, 0, copied)) {
		return false;
	}
	if (copied < payload->len)
		falcon_tx_share(skb, payload);
	return true;
}

/* Room for the ICV, which falcon_psp_seal() writes. */
static bool falcon_tx_icv(struct sk_buff *skb, const struct falcon_conn *conn)
{
	unsigned int n = falcon_psp_icv_len(conn->tx_sa.version);

	if (!n)
		return true;
	if (!skb_is_nonlinear(skb) && n <= skb_tailroom(skb)) {
		skb_put(skb, n);
		return true;
	}
	return falcon_tx_room(skb, &n, n);
}

/* The path label of a flow is the source port in IPv4 (DESIGN: on the wire). */
static __be16 falcon_tx_sport(struct falcon_conn *conn, u8 flow, u32 label)
{
	if (conn->path.family == AF_INET)
		conn->flow_port[flow] = htons(0xc000 | (label << 2 & 0x3ffc) |
					      flow);
	return conn->flow_port[flow];
}

static struct sk_buff *falcon_train_start(struct falcon_conn *conn,
					  const struct falcon_tx *tx)
{
	unsigned int hdr = sizeof(struct falcon_psp_hdr) + tx->hdr_len;
	unsigned int copied = falcon_tx_copied(conn, tx->payload);
	u32 label = conn->core.flow[tx->flow].label;
	struct falcon_tx_cb *cb;
	struct sk_buff *skb;

	skb = alloc_skb(FALCON_TX_HEADROOM + hdr +
			(copied <= FALCON_TX_LINEAR ?
			 copied + FALCON_PSP_ICV_LEN : 0),
			GFP_ATOMIC | __GFP_NOWARN);
	if (!skb)
		return NULL;
	skb_reserve(skb, FALCON_TX_HEADROOM);
	falcon_tx_headers(conn, tx, skb_put(skb, hdr));
	if (!falcon_tx_payload(skb, tx, copied) || !falcon_tx_icv(skb, conn)) {
		kfree_skb(skb);
		return NULL;
	}
	cb = falcon_tx_cb(skb);
	cb->nic.conn = conn;
	cb->nic.depart_ns = tx->depart_ns;
	cb->nic.stride = falcon_tx_size(conn, tx);
	cb->nic.nr_pkts = 1;
	cb->nic.held = false;
	cb->label = label;
	cb->sport = falcon_tx_sport(conn, tx->flow, label);
	cb->flow = tx->flow;
	cb->full = false;
	return skb;
}

static bool falcon_train_takes(const struct falcon_conn *conn,
			       const struct sk_buff *skb,
			       const struct falcon_tx *tx)
{
	const struct falcon_tx_cb *cb = falcon_tx_cb(skb);
	unsigned int size = falcon_tx_size(conn, tx);
	unsigned int copied = falcon_tx_copied(conn, tx->payload);

	return !cb->full && cb->flow == tx->flow &&
	       cb->nic.depart_ns == tx->depart_ns &&
	       cb->label == conn->core.flow[tx->flow].label &&
	       size <= cb->nic.stride &&
	       cb->nic.nr_pkts < READ_ONCE(conn->fn->sysctl.train_pkts) &&
	       skb->len + size <= FALCON_TX_TRAIN_MAX &&
	       skb_shinfo(skb)->nr_frags +
	       falcon_tx_frags(conn, tx->payload, copied) <= MAX_SKB_FRAGS;
}

/* On failure the train is as before. */
static bool falcon_train_add(const struct falcon_conn *conn,
			     struct sk_buff *skb, const struct falcon_tx *tx)
{
	unsigned int n, hdr = sizeof(struct falcon_psp_hdr) + tx->hdr_len;
	unsigned int copied = falcon_tx_copied(conn, tx->payload);
	struct falcon_tx_cb *cb = falcon_tx_cb(skb);
	unsigned int old = skb->len;
	void *p;

	n = hdr;
	p = falcon_tx_room(skb, &n, copied <= FALCON_TX_COPY ? hdr + copied :
			   hdr);
	if (!p)
		return false;
	falcon_tx_headers(conn, tx, p);
	if (!falcon_tx_payload(skb, tx, copied) || !falcon_tx_icv(skb, conn)) {
		WARN_ON_ONCE(pskb_trim(skb, old));
		return false;
	}
	cb->nic.nr_pkts++;
	cb->full = skb->len - old < cb->nic.stride;
	return true;
}

/**
 * falcon_udp_build - make an skb of a packet of core, or lengthen a train
 * @conn:	locked
 * @tx:		the packet
 * @list:	trains of @conn to be transmitted; the last one may grow
 *
 * A packet for which there is no memory is lost as if on the wire.
 *
 * Context: bottom halves off.
 */
void falcon_udp_build(struct falcon_conn *conn, const struct falcon_tx *tx,
		      struct sk_buff_head *list)
{
	struct sk_buff *skb = skb_peek_tail(list);

	lockdep_assert_held(&conn->lock);
	if (skb && falcon_train_takes(conn, skb, tx) &&
	    falcon_train_add(conn, skb, tx))
		return;
	skb = falcon_train_start(conn, tx);
	if (skb)
		__skb_queue_tail(list, skb);
	else
		FALCON_INC(conn->fn, OUT_ERRORS);
}

/**
 * falcon_udp_train_pkts - packets of full size that make one train
 * @fn:		namespace
 * @mtu:	payload bytes of a packet
 *
 * Return: at least 1.
 */
u8 falcon_udp_train_pkts(struct falcon_net *fn, u16 mtu)
{
	unsigned int size = sizeof(struct falcon_psp_hdr) +
			    sizeof(struct falcon_push_data_hdr) + mtu +
			    FALCON_PSP_ICV_LEN;

	return clamp_t(unsigned int, FALCON_TX_TRAIN_MAX / size, 1,
		       READ_ONCE(fn->sysctl.train_pkts));
}

/* Like TCP's: the last one in flight frees a socket that has been closed. */
static void falcon_tx_free(struct sk_buff *skb)
{
	struct sock *sk = skb->sk;

	falcon_txq_uncharge(skb_shinfo(skb)->destructor_arg);
	if (!sk)
		return;
	WARN_ON_ONCE(refcount_sub_and_test(skb->truesize - 1,
					   &sk->sk_wmem_alloc));
	sk_free(sk);
}

/**
 * falcon_udp_charge - charge packets to the device's queue and the ULP's socket
 * @conn:	locked
 * @list:	trains that will not grow any more
 *
 * Context: bottom halves off.
 */
void falcon_udp_charge(struct falcon_conn *conn, struct sk_buff_head *list)
{
	struct sk_buff *skb;

	lockdep_assert_held(&conn->lock);
	skb_queue_walk(list, skb) {
		void *charge = falcon_txq_charge(conn, skb);

		if (!charge && !conn->sk)
			continue;
		skb_shinfo(skb)->destructor_arg = charge;
		skb->destructor = falcon_tx_free;
		if (!conn->sk)
			continue;
		skb->sk = conn->sk;
		skb->priority = READ_ONCE(conn->sk->sk_priority);
		refcount_add(skb->truesize, &conn->sk->sk_wmem_alloc);
	}
}

static struct dst_entry *falcon_route4(struct net *net,
				       const struct falcon_path *path,
				       __be16 sport, struct in6_addr *saddr)
{
	struct flowi4 fl4 = {
		.flowi4_oif	= path->oif,
		.flowi4_mark	= path->mark,
		.flowi4_tos	= path->tclass & 0x1c,
		.flowi4_proto	= IPPROTO_UDP,
		.flowi4_uid	= path->uid,
		.saddr		= path->saddr.s6_addr32[3],
		.daddr		= path->daddr.s6_addr32[3],
		.fl4_sport	= sport,
		.fl4_dport	= htons(FALCON_PSP_UDP_PORT),
	};
	struct rtable *rt = ip_route_output_flow(net, &fl4, NULL);

	if (IS_ERR(rt))
		return ERR_CAST(rt);
	if (rt->rt_flags & (RTCF_BROADCAST | RTCF_MULTICAST)) {
		ip_rt_put(rt);
		return ERR_PTR(-ENETUNREACH);
	}
	ipv6_addr_set_v4mapped(fl4.saddr, saddr);
	return &rt->dst;
}

static struct dst_entry *falcon_route6(struct net *net,
				       const struct falcon_path *path,
				       __be16 sport, struct in6_addr *saddr)
{
	struct flowi6 fl6 = {
		.flowi6_oif	= path->oif ?: path->scope_id,
		.flowi6_mark	= path->mark,
		.flowi6_proto	= IPPROTO_UDP,
		.flowi6_uid	= path->uid,
		.flowlabel	= ip6_make_flowinfo(path->tclass, 0),
		.saddr		= path->saddr,
		.daddr		= path->daddr,
		.fl6_sport	= sport,
		.fl6_dport	= htons(FALCON_PSP_UDP_PORT),
	};
	struct dst_entry *dst;

	if (ipv6_addr_is_multicast(&path->daddr))
		return ERR_PTR(-ENETUNREACH);
	dst = ip6_dst_lookup_flow(net, NULL, &fl6, NULL);
	if (!IS_ERR(dst))
		*saddr = fl6.saddr;
	return dst;
}

static struct dst_entry *falcon_route(struct net *net,
				      const struct falcon_path *path,
				      __be16 sport, struct in6_addr *saddr)
{
	if (path->family == AF_INET)
		return falcon_route4(net, path, sport, saddr);
	return falcon_route6(net, path, sport, saddr);
}

/**
 * falcon_path_route - find out whether a path has a route
 * @net:	namespace
 * @path:	an unspecified @saddr is filled in
 *
 * Context: process or softirq.
 * Return: 0, or -ENETUNREACH, -EHOSTUNREACH, -EINVAL (not a local address)...
 */
int falcon_path_route(struct net *net, struct falcon_path *path)
{
	struct in6_addr saddr;
	struct dst_entry *dst = falcon_route(net, path, 0, &saddr);

	if (IS_ERR(dst))
		return PTR_ERR(dst);
	dst_release(dst);
	if (ipv6_addr_any(&path->saddr) ||
	    (ipv6_addr_v4mapped(&path->saddr) && !path->saddr.s6_addr32[3]))
		path->saddr = saddr;
	return 0;
}

static struct dst_entry *falcon_dst_cached(struct falcon_conn *conn)
{
	struct dst_entry *dst;

	rcu_read_lock();
	dst = rcu_dereference(conn->dst);
	if (dst && (!dst_check(dst, READ_ONCE(conn->dst_cookie)) ||
		    !dst_hold_safe(dst)))
		dst = NULL;
	rcu_read_unlock();
	return dst;
}

static void falcon_dst_cache(struct falcon_conn *conn, struct dst_entry *dst)
{
	u32 cookie = 0;

	if (conn->path.family == AF_INET6)
		cookie = rt6_get_cookie((struct rt6_info *)dst);
	WRITE_ONCE(conn->dst_cookie, cookie);
	dst_hold(dst);
	dst_release(unrcu_pointer(xchg(&conn->dst, RCU_INITIALIZER(dst))));
}

/*
 * UDP payload of a packet, less the largest headers of one with payload, and
 * the ICV: whether there will be one is not known when an MTU is offered.
 */
static int falcon_dst_mtu(const struct falcon_conn *conn,
			  const struct dst_entry *dst)
{
	int over = conn->path.family == AF_INET ? sizeof(struct iphdr) :
						  sizeof(struct ipv6hdr);

	over += sizeof(struct udphdr) + sizeof(struct falcon_psp_hdr) +
		sizeof(struct falcon_pull_req_hdr) + FALCON_PSP_ICV_LEN;
	return clamp_t(int, dst_mtu(dst) - over, 0, FALCON_TX_MTU_MAX);
}

/**
 * falcon_path_dst - the route of a connection
 * @conn:	connection
 *
 * A change of route may mean another NIC, and so may a NIC that comes.
 *
 * Context: process or softirq, without the connection lock.
 * Return: a referenced route or an ERR_PTR.
 */
struct dst_entry *falcon_path_dst(struct falcon_conn *conn)
{
	struct dst_entry *dst = falcon_dst_cached(conn);
	struct in6_addr saddr;

	if (dst) {
		if (falcon_nic_stale(conn))
			falcon_nic_attach(conn, dst->dev);
		return dst;
	}
	dst = falcon_route(conn->fn->net, &conn->path, conn->flow_port[0],
			   &saddr);
	if (IS_ERR(dst))
		return dst;
	falcon_dst_cache(conn, dst);
	falcon_nic_attach(conn, dst->dev);
	return dst;
}

/**
 * falcon_path_mtu - the largest payload of a packet that the path takes
 * @conn:	connection with its path set
 *
 * Context: process or softirq, without the connection lock.
 * Return: bytes, ULP header included, or a negative errno: no route.
 */
int falcon_path_mtu(struct falcon_conn *conn)
{
	struct dst_entry *dst = falcon_path_dst(conn);
	int mtu;

	if (IS_ERR(dst))
		return PTR_ERR(dst);
	mtu = falcon_dst_mtu(conn, dst);
	dst_release(dst);
	return mtu;
}

static void falcon_tx_udp(struct sk_buff *skb)
{
	const struct falcon_tx_cb *cb = falcon_tx_cb(skb);
	struct udphdr *uh = skb_push(skb, sizeof(*uh));

	skb_reset_transport_header(skb);
	uh->source = cb->sport;
	uh->dest = htons(FALCON_PSP_UDP_PORT);
	uh->len = htons(skb->len);
	skb->ip_summed = CHECKSUM_PARTIAL;
	skb->csum_start = skb_transport_header(skb) - skb->head;
	skb->csum_offset = offsetof(struct udphdr, check);
	if (cb->nic.nr_pkts > 1) {
		skb_shinfo(skb)->gso_type = SKB_GSO_UDP_L4;
		skb_shinfo(skb)->gso_size = cb->nic.stride;
		skb_shinfo(skb)->gso_segs = cb->nic.nr_pkts;
	}
}

static void falcon_tx_ip4(const struct falcon_path *path, struct sk_buff *skb,
			  bool wide)
{
	__be32 saddr = path->saddr.s6_addr32[3];
	__be32 daddr = path->daddr.s6_addr32[3];
	struct iphdr *iph;

	udp_hdr(skb)->check = ~csum_tcpudp_magic(saddr, daddr, skb->len,
						 IPPROTO_UDP, 0);
	iph = skb_push(skb, sizeof(*iph));
	skb_reset_network_header(skb);
	iph->version = 4;
	iph->ihl = sizeof(*iph) / 4;
	iph->tos = path->tclass;
	iph->frag_off = wide ? 0 : htons(IP_DF);
	iph->ttl = path->ttl;
	iph->protocol = IPPROTO_UDP;
	iph->saddr = saddr;
	iph->daddr = daddr;
	__ip_select_ident(falcon_nic_net(skb), iph,
			  falcon_nic_cb(skb)->nr_pkts);
}

static void falcon_tx_ip6(const struct falcon_path *path, struct sk_buff *skb)
{
	u32 label = falcon_tx_cb(skb)->label;
	struct ipv6hdr *ip6h;

	udp_hdr(skb)->check = ~csum_ipv6_magic(&path->saddr, &path->daddr,
					       skb->len, IPPROTO_UDP, 0);
	ip6h = skb_push(skb, sizeof(*ip6h));
	skb_reset_network_header(skb);
	ip6_flow_hdr(ip6h, path->tclass, htonl(label) & IPV6_FLOWLABEL_MASK);
	ip6h->payload_len = htons(skb->len - sizeof(*ip6h));
	ip6h->nexthdr = IPPROTO_UDP;
	ip6h->hop_limit = path->ttl;
	ip6h->saddr = path->saddr;
	ip6h->daddr = path->daddr;
}

/* A packet, or the packets of a train, wider than the path is now? */
static bool falcon_tx_wide(const struct falcon_conn *conn,
			   const struct dst_entry *dst,
			   const struct sk_buff *skb)
{
	unsigned int over = sizeof(struct udphdr) +
			    (conn->path.family == AF_INET ?
			     sizeof(struct iphdr) : sizeof(struct ipv6hdr));

	return falcon_nic_cb(skb)->stride + over > dst_mtu(dst);
}

static void falcon_udp_send(struct falcon_conn *conn, struct dst_entry *dst,
			    struct sk_buff *skb)
{
	u16 nr_pkts = falcon_nic_cb(skb)->nr_pkts;
	bool wide = falcon_tx_wide(conn, dst, skb);

	falcon_tx_udp(skb);
	if (conn->path.family == AF_INET)
		falcon_tx_ip4(&conn->path, skb, wide);
	else
		falcon_tx_ip6(&conn->path, skb);
	skb->ignore_df = wide;
	skb->mark = conn->path.mark;
	skb_dst_set(skb, dst_clone(dst));

	FALCON_ADD(conn->fn, OUT_PKTS, nr_pkts);
	if (nr_pkts > 1)
		FALCON_INC(conn->fn, OUT_TRAINS);
	if (falcon_nic_xmit(conn, skb, falcon_tx_cb(skb)->flow))
		FALCON_INC(conn->fn, OUT_ERRORS);
}

/* What new transactions should not exceed, from now on. */
static void falcon_conn_set_mtu(struct falcon_conn *conn,
				const struct dst_entry *dst)
{
	u16 mtu = min_t(int, conn->core.cfg.mtu, falcon_dst_mtu(conn, dst));

	if (mtu != conn->mtu)
		WRITE_ONCE(conn->mtu, mtu);
}

/**
 * falcon_udp_xmit - transmit trains
 * @conn:	connection, not locked; the caller is its only drainer
 * @list:	emptied
 *
 * What cannot be sent is lost as if on the wire: the protocol tries again.
 *
 * Context: process or softirq, bottom halves off.
 */
void falcon_udp_xmit(struct falcon_conn *conn, struct sk_buff_head *list)
{
	struct dst_entry *dst;
	struct sk_buff *skb;

	if (skb_queue_empty(list))
		return;
	dst = falcon_path_dst(conn);
	if (IS_ERR(dst)) {
		FALCON_ADD(conn->fn, OUT_NO_ROUTE, skb_queue_len(list));
		__skb_queue_purge(list);
		return;
	}
	falcon_conn_set_mtu(conn, dst);
	rcu_read_lock();
	while ((skb = __skb_dequeue(list)))
		falcon_udp_send(conn, dst, skb);
	rcu_read_unlock();
	dst_release(dst);
}

/**
 * falcon_udp_tx_exit - free the pages that copies went to
 */
void falcon_udp_tx_exit(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct page_frag *pf = per_cpu_ptr(&falcon_tx_page, cpu);

		if (pf->page)
			put_page(pf->page);
		pf->page = NULL;
	}
}
