// SPDX-License-Identifier: GPL-2.0
/*
 * Reception. A packet is stamped as it arrives and waits in the receive
 * buffer until the bus has taken it to memory, at the rate of the bus and as
 * long as the look-up of its connection's context takes; then NAPI gives it to
 * GRO. What the buffer has no room for is lost. wire.c calls with arrivals.
 *
 * The stamp is the free-running counter, in skb_hwtstamps(): ndo_get_tstamp
 * turns it into the PHC's time for those who asked for stamps. Its last bit says
 * that psp.c has opened the packet, or the whole train: so no other packet of
 * PSP may become part of a train that GRO makes of such.
 */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <linux/udp.h>
#include <net/falcon_wire.h>
#include <net/ip.h>
#include "e2100sim.h"

/* skb->cb while a packet is in the buffer */
struct e2100_rx_cb {
	u64 arrived_ns;
	u32 cost_ns;
	u32 bytes;
	bool alone;		/* GRO makes no train of it */
};

#define E2100_STAMP_OPENED	1ULL

static struct e2100_rx_cb *e2100_rx_cb(struct sk_buff *skb)
{
	BUILD_BUG_ON(sizeof(struct e2100_rx_cb) > sizeof(skb->cb));
	return (struct e2100_rx_cb *)skb->cb;
}

/* Offset of the UDP header of a packet that may be Falcon's; 0: it is not. */
static unsigned int e2100_udp_offset(struct sk_buff *skb)
{
	struct ipv6hdr *ip6h, _ip6h;
	struct iphdr *iph, _iph;

	switch (skb->protocol) {
	case htons(ETH_P_IP):
		iph = skb_header_pointer(skb, 0, sizeof(_iph), &_iph);
		if (!iph || iph->protocol != IPPROTO_UDP ||
		    ip_is_fragment(iph))
			return 0;
		return iph->ihl * 4;
	case htons(ETH_P_IPV6):
		ip6h = skb_header_pointer(skb, 0, sizeof(_ip6h), &_ip6h);
		if (!ip6h || ip6h->nexthdr != IPPROTO_UDP)
			return 0;
		return sizeof(*ip6h);
	default:
		return 0;
	}
}

/* Offset of the UDP header of a packet of Falcon; 0: it is none. */
static unsigned int e2100_falcon_offset(struct sk_buff *skb, u32 *cid)
{
	unsigned int off, udp = e2100_udp_offset(skb);
	struct udphdr *uh, _uh;
	__be32 *hdr, _hdr;

	if (!udp)
		return 0;
	uh = skb_header_pointer(skb, udp, sizeof(_uh), &_uh);
	if (!uh || uh->dest != htons(FALCON_PSP_UDP_PORT))
		return 0;
	off = udp + sizeof(*uh) + sizeof(struct falcon_psp_hdr);
	hdr = skb_header_pointer(skb, off, sizeof(_hdr), &_hdr);
	if (!hdr)
		return 0;
	*cid = be32_to_cpu(*hdr) & FALCON_CID_MASK;
	return udp;
}

/* False: no memory, and the stamp in it is not ours. */
static bool e2100_stamp(struct e2100_port *port, struct sk_buff *skb, bool want,
			u64 stamp)
{
	struct skb_shared_hwtstamps *hw = skb_hwtstamps(skb);

	if (!want && !hw->hwtstamp)
		return true;
	/* What the sender keeps for retransmission stays as it is. */
	if (skb_unclone(skb, GFP_ATOMIC))
		return false;
	hw = skb_hwtstamps(skb);
	hw->hwtstamp = 0;
	skb_shinfo(skb)->tx_flags &= ~SKBTX_ANY_TSTAMP;
	if (!want)
		return true;
	hw->netdev_data = (void *)(uintptr_t)stamp;
	skb_shinfo(skb)->tx_flags |= SKBTX_HW_TSTAMP_NETDEV;
	E2100_INC(port, RX_STAMPED);
	return true;
}

static struct e2100_rxq *e2100_rxq_of(struct e2100_port *port,
				      struct sk_buff *skb)
{
	unsigned int i = 0;

	if (port->nr_queues > 1)
		i = reciprocal_scale(skb_get_hash(skb), port->nr_queues);
	return &port->rxq[i];
}

/* Room in the buffer for a packet, and an entry of the ring. */
static bool e2100_rx_admit(struct e2100_rxq *q, struct sk_buff *skb)
{
	struct e2100_port *port = q->port;
	unsigned int bytes = e2100_rx_cb(skb)->bytes;
	u64 size = (u64)e2100_param(port, E2100_P_RX_BUFFER_KB) << 10;

	if (atomic_add_return(bytes, &port->rx_bytes) <= size &&
	    skb_queue_len_lockless(&q->ring) < READ_ONCE(port->rx_ring))
		return true;
	atomic_sub(bytes, &port->rx_bytes);
	return false;
}

/**
 * e2100_rx - a packet arrives
 * @port:	port
 * @skb:	from the network header on, skb->dev is the port's; consumed
 *
 * Context: softirq, RCU read side.
 */
void e2100_rx(struct e2100_port *port, struct sk_buff *skb)
{
	struct e2100_rxq *q = e2100_rxq_of(port, skb);
	u64 stamp = e2100_counter(&port->dev->clock);
	struct e2100_rx_cb *cb;
	unsigned int udp;
	bool opened;
	u32 cid;

	if (!netif_running(port->netdev) || e2100_dead(port)) {
		E2100_INC(port, RX_DOWN);
		dev_core_stats_rx_dropped_inc(port->netdev);
		kfree_skb(skb);
		return;
	}
	skb_orphan(skb);
	udp = e2100_falcon_offset(skb, &cid);
	opened = udp && e2100_psp_open(port, &skb, udp);
	stamp &= ~E2100_STAMP_OPENED;
	if (!e2100_stamp(port, skb, udp || READ_ONCE(port->tstamp.rx_filter) !=
				    HWTSTAMP_FILTER_NONE,
			 opened ? stamp | E2100_STAMP_OPENED : stamp)) {
		E2100_INC(port, RX_NO_MEM);
		dev_core_stats_rx_dropped_inc(port->netdev);
		kfree_skb(skb);
		return;
	}
	cb = e2100_rx_cb(skb);
	cb->alone = udp && !opened && READ_ONCE(port->opens);
	cb->arrived_ns = ktime_get_ns();
	cb->bytes = skb->len + ETH_HLEN;
	cb->cost_ns = 0;
	if (udp) {
		E2100_INC(port, RX_FALCON);
		cb->cost_ns = e2100_ctx_rx(port, cid);
	}
	if (!e2100_rx_admit(q, skb)) {
		E2100_INC(port, RX_BUFFER_FULL);
		dev_core_stats_rx_dropped_inc(port->netdev);
		kfree_skb(skb);
		return;
	}
	skb_queue_tail(&q->ring, skb);
	napi_schedule(&q->napi);
}

/*
 * When the bus has taken a packet, which follows those taken before. What
 * counts is when it arrived, not when NAPI ran.
 */
static u64 e2100_pcie_done(struct e2100_port *port, struct sk_buff *skb,
			   u64 now)
{
	u32 mbps = e2100_param(port, E2100_P_PCIE_MBPS);
	struct e2100_rx_cb *cb = e2100_rx_cb(skb);
	u64 done;

	if (!mbps && !cb->cost_ns)
		return now;
	spin_lock(&port->pcie_lock);
	done = max(port->pcie_ns, cb->arrived_ns) + cb->cost_ns;
	if (mbps)
		done += div_u64((u64)cb->bytes * BITS_PER_BYTE * 1000, mbps);
	if (done <= now)
		port->pcie_ns = done;
	spin_unlock(&port->pcie_lock);
	return done;
}

/* The next packet that the bus has taken; else the time of the next. */
static struct sk_buff *e2100_rxq_next(struct e2100_rxq *q, u64 *due_ns)
{
	struct sk_buff *skb = skb_peek(&q->ring);
	u64 now = ktime_get_ns();

	*due_ns = 0;
	if (!skb)
		return NULL;
	*due_ns = e2100_pcie_done(q->port, skb, now);
	if (*due_ns > now)
		return NULL;
	skb_unlink(skb, &q->ring);
	atomic_sub(e2100_rx_cb(skb)->bytes, &q->port->rx_bytes);
	return skb;
}

/* It came by this queue, even if a queue of the lower device has marked it. */
static void e2100_mark_napi(struct napi_struct *napi, struct sk_buff *skb)
{
#ifdef CONFIG_NET_RX_BUSY_POLL
	skb->napi_id = napi->napi_id;
#endif
}

static void e2100_give(struct napi_struct *napi, struct sk_buff *skb)
{
	bool alone = e2100_rx_cb(skb)->alone;

	memset(skb->cb, 0, sizeof(skb->cb));
	e2100_mark_napi(napi, skb);
	if (alone)
		napi_gro_flush(napi, false);
	napi_gro_receive(napi, skb);
	if (alone)
		napi_gro_flush(napi, false);
}

static int e2100_poll(struct napi_struct *napi, int budget)
{
	struct e2100_rxq *q = container_of(napi, struct e2100_rxq, napi);
	struct sk_buff *skb;
	u64 due_ns = 0;
	int work = 0;

	while (work < budget && (skb = e2100_rxq_next(q, &due_ns))) {
		dev_sw_netstats_rx_add(q->port->netdev, skb->len + ETH_HLEN);
		skb_record_rx_queue(skb, q - q->port->rxq);
		e2100_give(napi, skb);
		work++;
	}
	if (work == budget || !napi_complete_done(napi, work))
		return work;
	if (due_ns)
		hrtimer_start(&q->timer, ns_to_ktime(due_ns),
			      HRTIMER_MODE_ABS_SOFT);
	else if (!skb_queue_empty_lockless(&q->ring))
		napi_schedule(napi);
	return work;
}

static enum hrtimer_restart e2100_rxq_timer(struct hrtimer *timer)
{
	struct e2100_rxq *q = container_of(timer, struct e2100_rxq, timer);

	napi_schedule(&q->napi);
	return HRTIMER_NORESTART;
}

/**
 * e2100_rx_level - occupancy of the receive buffer
 * @port:	port
 *
 * Context: any.
 * Return: 0 to 31.
 */
u8 e2100_rx_level(const struct e2100_port *port)
{
	u64 size = (u64)e2100_param(port, E2100_P_RX_BUFFER_KB) << 10;
	u64 bytes = max(atomic_read(&port->rx_bytes), 0);

	return min_t(u64, div64_u64(bytes * 32, size), 31);
}

/* What e2100_stamp() left, if the packet is ours and of this counter; or 0 */
static u64 e2100_rx_mark(struct e2100_port *port, unsigned int napi_id,
			 const struct skb_shared_hwtstamps *hw)
{
	u64 stamp = (uintptr_t)hw->netdev_data;
	unsigned int i;

	for (i = 0; i < port->nr_queues; i++) {
		if (napi_id && port->rxq[i].napi.napi_id == napi_id &&
		    e2100_counter_was(&port->dev->clock,
				      stamp & ~E2100_STAMP_OPENED))
			return stamp;
	}
	return 0;
}

/**
 * e2100_rx_stamp - the rx_stamp op
 * @port:	port
 * @napi_id:	of the packet's skb
 * @hw:		left by e2100_stamp(), if the packet is ours
 *
 * Context: softirq.
 * Return: picoseconds of the counter, or 0: it came by another device, or before
 * a reset.
 */
u64 e2100_rx_stamp(struct e2100_port *port, unsigned int napi_id,
		   const struct skb_shared_hwtstamps *hw)
{
	return e2100_rx_mark(port, napi_id, hw) & ~E2100_STAMP_OPENED;
}

/**
 * e2100_rx_opened - the rx_opened op
 * @port:	port
 * @napi_id:	of the packet's skb
 * @hw:		left by e2100_stamp(), if the packet is ours
 *
 * Context: softirq.
 */
bool e2100_rx_opened(struct e2100_port *port, unsigned int napi_id,
		     const struct skb_shared_hwtstamps *hw)
{
	return e2100_rx_mark(port, napi_id, hw) & E2100_STAMP_OPENED;
}

/**
 * e2100_rx_init - receive queues of a port that is down
 * @port:	new
 */
void e2100_rx_init(struct e2100_port *port)
{
	unsigned int i;

	for (i = 0; i < port->nr_queues; i++) {
		struct e2100_rxq *q = &port->rxq[i];

		q->port = port;
		skb_queue_head_init(&q->ring);
		hrtimer_init(&q->timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
		q->timer.function = e2100_rxq_timer;
		netif_napi_add(port->netdev, &q->napi, e2100_poll);
	}
}

/**
 * e2100_rx_free - the end of the receive queues
 * @port:	down, or never registered
 *
 * Context: process, may sleep.
 */
void e2100_rx_free(struct e2100_port *port)
{
	unsigned int i;

	for (i = 0; port->rxq && i < port->nr_queues; i++) {
		netif_napi_del(&port->rxq[i].napi);
		/* A poll that was running may have armed it when it was over. */
		hrtimer_cancel(&port->rxq[i].timer);
		skb_queue_purge(&port->rxq[i].ring);
	}
	kfree(port->rxq);
}

/**
 * e2100_rx_open - let NAPI run
 * @port:	coming up
 */
void e2100_rx_open(struct e2100_port *port)
{
	unsigned int i;

	for (i = 0; i < port->nr_queues; i++) {
		napi_enable(&port->rxq[i].napi);
		/* For what has come since the stack said that it is up. */
		local_bh_disable();
		napi_schedule(&port->rxq[i].napi);
		local_bh_enable();
	}
}

static void e2100_rxq_flush(struct e2100_rxq *q)
{
	struct sk_buff *skb;

	while ((skb = skb_dequeue(&q->ring))) {
		atomic_sub(e2100_rx_cb(skb)->bytes, &q->port->rx_bytes);
		kfree_skb(skb);
	}
}

/**
 * e2100_rx_flush - empty the receive buffer
 * @port:	that is reset
 *
 * Context: rtnl, may sleep.
 */
void e2100_rx_flush(struct e2100_port *port)
{
	unsigned int i;

	ASSERT_RTNL();
	if (!netif_running(port->netdev))
		return;
	for (i = 0; i < port->nr_queues; i++) {
		napi_disable(&port->rxq[i].napi);
		e2100_rxq_flush(&port->rxq[i]);
	}
	e2100_rx_open(port);
}

/**
 * e2100_rx_stop - stop it, and empty the buffer
 * @port:	going down, not running any more
 *
 * Context: process, may sleep.
 */
void e2100_rx_stop(struct e2100_port *port)
{
	unsigned int i;

	/* Arrivals that saw the port running. */
	synchronize_net();
	for (i = 0; i < port->nr_queues; i++) {
		struct e2100_rxq *q = &port->rxq[i];

		napi_disable(&q->napi);
		hrtimer_cancel(&q->timer);
		skb_queue_purge(&q->ring);
	}
	atomic_set(&port->rx_bytes, 0);
	port->pcie_ns = 0;
}
