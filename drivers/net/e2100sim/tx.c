// SPDX-License-Identifier: GPL-2.0
/*
 * Transmission. What has to wait, waits on the timing wheel of a queue, in
 * two stages: a paced packet for its departure, then whatever departs for the
 * link, if the link has a rate. A packet of Falcon takes its IVs, is sealed and
 * goes through the stack when both are over: its stamp is that of its actual
 * departure. It then comes back to ndo_start_xmit on the same CPU, and leaves
 * at once.
 *
 * netdev.c and falcon.c call. The time at which something should have departed
 * counts, not when the timer ran: a machine that stands still for a while
 * neither makes the link slower nor a flow. Nor does what comes while the timer is
 * late overtake what waits for it: it waits as well.
 */
#include <linux/percpu.h>
#include <linux/slab.h>
#include <linux/tcp.h>
#include <linux/udp.h>
#include "e2100sim.h"
#include "trace.h"

/* The port that a packet of Falcon departs from right now, on this CPU. */
static DEFINE_PER_CPU(struct e2100_port *, e2100_departing);

#define E2100_NO_ROOM	U64_MAX

static void e2100_txq_arm(struct e2100_txq *q)
{
	u64 next = e2100_wheel_next(q->wheel);

	lockdep_assert_held(&q->lock);
	if (next == q->timer_ns)
		return;
	WRITE_ONCE(q->timer_ns, next);
	if (next != E2100_WHEEL_IDLE)
		hrtimer_start(&q->timer, ns_to_ktime(next),
			      HRTIMER_MODE_ABS_SOFT);
}

/* May what is due then depart at once? Not before what is due already. */
static bool e2100_txq_now(const struct e2100_txq *q, u64 due_ns)
{
	u64 now = ktime_get_ns();

	return due_ns <= now && READ_ONCE(q->timer_ns) > now;
}

static void e2100_txq_put(struct e2100_txq *q, struct e2100_desc *desc,
			  enum e2100_wait wait, u64 due_ns)
{
	lockdep_assert_held(&q->lock);
	desc->wait = wait;
	desc->waiting = true;
	desc->node.due_ns = due_ns;
	e2100_wheel_add(q->wheel, &desc->node, ktime_get_ns());
	e2100_txq_arm(q);
}

/* False: no descriptor, or the port is down; @skb is the caller's still. */
static bool e2100_txq_wait(struct e2100_txq *q, struct sk_buff *skb,
			   enum e2100_wait wait, u64 due_ns)
{
	struct e2100_desc *desc;

	spin_lock_bh(&q->lock);
	if (!q->wheel || !q->free || due_ns == E2100_NO_ROOM) {
		spin_unlock_bh(&q->lock);
		E2100_INC(q->port, TX_NO_DESC);
		dev_core_stats_tx_dropped_inc(q->port->netdev);
		return false;
	}
	desc = container_of(q->free, struct e2100_desc, node);
	q->free = desc->node.next;
	desc->skb = skb;
	e2100_txq_put(q, desc, wait, due_ns);
	spin_unlock_bh(&q->lock);
	return true;
}

/* What has left the wheel goes on waiting; false: the port went down. */
static bool e2100_txq_rewait(struct e2100_txq *q, struct e2100_desc *desc,
			     enum e2100_wait wait, u64 due_ns)
{
	bool up;

	spin_lock_bh(&q->lock);
	up = q->wheel;
	if (up)
		e2100_txq_put(q, desc, wait, due_ns);
	spin_unlock_bh(&q->lock);
	return up;
}

static struct e2100_txq *e2100_txq_here(struct e2100_port *port)
{
	return &port->txq[raw_smp_processor_id() % port->nr_queues];
}

/*
 * The link
 */

static unsigned int e2100_wire_hdr(const struct sk_buff *skb)
{
	unsigned int hdr = skb_transport_offset(skb);

	if (skb_shinfo(skb)->gso_type & SKB_GSO_UDP_L4)
		return hdr + sizeof(struct udphdr);
	return hdr + tcp_hdrlen(skb);
}

/*
 * Bytes that the link is busy with: every packet has headers of its own, of
 * which @add are not in @skb yet.
 */
static u64 e2100_wire_bytes(const struct sk_buff *skb, unsigned int add)
{
	unsigned int segs = max_t(unsigned int, skb_shinfo(skb)->gso_segs, 1);
	u64 bytes = skb->len + segs * (E2100_WIRE_OVERHEAD + add);

	if (segs > 1)
		bytes += (segs - 1) * e2100_wire_hdr(skb);
	return bytes;
}

/*
 * Takes the link for @bytes from @from_ns on; returns when they begin. What would
 * have to wait, for which it needs @room, and finds none takes nothing, and gets
 * NO_ROOM.
 */
static u64 e2100_link_take(struct e2100_txq *q, u64 from_ns, u64 bytes,
			   bool room)
{
	struct e2100_port *port = q->port;
	u32 mbps = e2100_param(port, E2100_P_LINK_MBPS);

	if (!mbps)
		return from_ns;
	spin_lock_bh(&port->link_lock);
	from_ns = max(from_ns, port->link_ns);
	if (!e2100_txq_now(q, from_ns) && !room)
		from_ns = E2100_NO_ROOM;
	else
		port->link_ns = from_ns +
				div_u64(bytes * BITS_PER_BYTE * 1000, mbps);
	spin_unlock_bh(&port->link_lock);
	return from_ns;
}

/* Whatever had taken it is gone. */
static void e2100_link_free(struct e2100_port *port)
{
	spin_lock_bh(&port->link_lock);
	port->link_ns = 0;
	spin_unlock_bh(&port->link_lock);
}

/*
 * Departures
 */

/* Inline, if the device has the key. */
static int e2100_seal_at(struct e2100_port *port, struct sk_buff *skb, u64 iv)
{
	struct falcon_nic_sa *sa;
	int err;

	rcu_read_lock();
	sa = falcon_psp_inline(&port->nic, skb, iv);
	if (IS_ERR(sa)) {
		err = PTR_ERR(sa);
	} else if (sa) {
		err = e2100_psp_seal(sa, skb);
		if (!err)
			E2100_INC(port, PSP_SEALED);
	} else {
		err = falcon_psp_seal(skb, iv);
	}
	rcu_read_unlock();
	return err;
}

static int e2100_seal(struct e2100_port *port, struct sk_buff *skb)
{
	u64 iv = falcon_nic_iv(&port->nic, skb,
			       e2100_counter(&port->dev->clock));

	if (!iv) {
		E2100_INC(port, TX_STALE);
		trace_e2100_drop(e2100_id(port), E2100_DROP_MOVED);
		return -ENODEV;
	}
	return e2100_seal_at(port, skb, iv);
}

static int e2100_depart(struct e2100_port *port, struct sk_buff *skb)
{
	struct e2100_port *outer = this_cpu_read(e2100_departing);
	int err = e2100_seal(port, skb);

	if (err) {
		falcon_nic_drop(skb);
		return err;
	}
	E2100_INC(port, TX_FALCON);
	this_cpu_write(e2100_departing, port);
	err = falcon_nic_output(skb);
	this_cpu_write(e2100_departing, outer);
	return err;
}

static u64 e2100_link_take_falcon(struct e2100_txq *q, const struct sk_buff *skb,
				  u64 due_ns, bool room)
{
	return e2100_link_take(q, due_ns, e2100_wire_bytes(skb, ETH_HLEN),
			       room);
}

/* A packet may depart: once the link has time for it. */
static int e2100_to_link(struct e2100_txq *q, struct sk_buff *skb, u64 due_ns)
{
	u64 begin = e2100_link_take_falcon(q, skb, due_ns, READ_ONCE(q->free));

	if (e2100_txq_now(q, begin))
		return e2100_depart(q->port, skb);
	falcon_nic_hold(skb);
	if (e2100_txq_wait(q, skb, E2100_FALCON, begin))
		return 0;
	falcon_nic_drop(skb);
	return -ENOBUFS;
}

/* The same of one that was paced; false: it waits on, in its descriptor. */
static bool e2100_paced_to_link(struct e2100_txq *q, struct e2100_desc *desc)
{
	u64 begin = e2100_link_take_falcon(q, desc->skb, desc->node.due_ns,
					   true);

	if (e2100_txq_now(q, begin)) {
		e2100_depart(q->port, desc->skb);
		return true;
	}
	if (e2100_txq_rewait(q, desc, E2100_FALCON, begin))
		return false;
	falcon_nic_drop(desc->skb);
	return true;
}

/* Is it done with its descriptor? */
static bool e2100_desc_depart(struct e2100_txq *q, struct e2100_desc *desc)
{
	struct e2100_port *port = q->port;

	switch (desc->wait) {
	case E2100_PACED:
		trace_e2100_depart(e2100_id(port), desc->node.due_ns,
				   ktime_get_ns());
		return e2100_paced_to_link(q, desc);
	case E2100_FALCON:
		e2100_depart(port, desc->skb);
		break;
	case E2100_FRAME:
		e2100_wire_xmit(port, desc->skb);
		break;
	case E2100_DELAYED:
		e2100_wire_send(port, desc->skb);
		break;
	}
	return true;
}

/* What is due leaves the wheel, its descriptors are the caller's. */
static struct e2100_wheel_node *e2100_txq_due(struct e2100_txq *q)
{
	struct e2100_wheel_node *first = NULL, *node;

	spin_lock_bh(&q->lock);
	WRITE_ONCE(q->timer_ns, E2100_WHEEL_IDLE);
	if (q->wheel) {
		first = e2100_wheel_advance(q->wheel, ktime_get_ns());
		for (node = first; node; node = node->next)
			container_of(node, struct e2100_desc,
				     node)->waiting = false;
		e2100_txq_arm(q);
	}
	spin_unlock_bh(&q->lock);
	return first;
}

static enum hrtimer_restart e2100_txq_timer(struct hrtimer *timer)
{
	struct e2100_txq *q = container_of(timer, struct e2100_txq, timer);
	struct e2100_wheel_node *node, *next, *done = NULL, *last = NULL;

	for (node = e2100_txq_due(q); node; node = next) {
		next = node->next;
		if (!e2100_desc_depart(q, container_of(node, struct e2100_desc,
						       node)))
			continue;
		node->next = done;
		done = node;
		last = last ?: node;
	}
	if (last) {
		spin_lock_bh(&q->lock);
		last->next = q->free;
		q->free = done;
		spin_unlock_bh(&q->lock);
	}
	return HRTIMER_NORESTART;
}

/**
 * e2100_start_xmit - ndo_start_xmit
 * @skb:	consumed
 * @netdev:	of a port
 *
 * Context: process or softirq, bottom halves off; on several CPUs at once.
 */
netdev_tx_t e2100_start_xmit(struct sk_buff *skb, struct net_device *netdev)
{
	struct e2100_port *port = netdev_priv(netdev);
	struct e2100_txq *q = e2100_txq_here(port);
	u64 begin;

	/* One stamp a packet: software's not, where there will be ours. */
	if (READ_ONCE(port->tstamp.tx_type) == HWTSTAMP_TX_ON &&
	    skb_shinfo(skb)->tx_flags & SKBTX_HW_TSTAMP)
		skb_shinfo(skb)->tx_flags |= SKBTX_IN_PROGRESS;
	skb_tx_timestamp(skb);
	if (this_cpu_read(e2100_departing) == port) {
		e2100_wire_xmit(port, skb);
		return NETDEV_TX_OK;
	}
	begin = e2100_link_take(q, ktime_get_ns(), e2100_wire_bytes(skb, 0),
				READ_ONCE(q->free));
	if (e2100_txq_now(q, begin))
		e2100_wire_xmit(port, skb);
	else if (!e2100_txq_wait(q, skb, E2100_FRAME, begin))
		dev_kfree_skb_any(skb);
	return NETDEV_TX_OK;
}

/**
 * e2100_tx_delay - hold a packet that the wire delays
 * @port:	port
 * @skb:	the wheel's if this succeeds
 * @due_ns:	until when
 *
 * Context: process or softirq.
 * Return: false if there is no room.
 */
bool e2100_tx_delay(struct e2100_port *port, struct sk_buff *skb, u64 due_ns)
{
	/* It has left: its sender's queue is shorter. */
	skb_orphan(skb);
	return e2100_txq_wait(e2100_txq_here(port), skb, E2100_DELAYED, due_ns);
}

/*
 * When the engine has the context of a packet that comes now; NO_ROOM: it does
 * not look it up, for the packet could not wait.
 */
static u64 e2100_engine(struct e2100_txq *q, u64 now, u32 cost_ns)
{
	if (!cost_ns)
		return now;
	spin_lock_bh(&q->lock);
	if (q->free) {
		q->engine_ns = max(q->engine_ns, now) + cost_ns;
		now = q->engine_ns;
	} else {
		now = E2100_NO_ROOM;
	}
	spin_unlock_bh(&q->lock);
	return now;
}

/**
 * e2100_tx_falcon - the xmit op
 * @port:	port
 * @ctx:	context of the connection, or NULL
 * @skb:	consumed
 * @depart_ns:	0: now
 *
 * Context: process or softirq, RCU read side, bottom halves off.
 * Return: 0 or a negative errno.
 */
int e2100_tx_falcon(struct e2100_port *port, struct falcon_nic_ctx *ctx,
		    struct sk_buff *skb, u64 depart_ns)
{
	struct e2100_txq *q = e2100_txq_here(port);
	u64 due = max(depart_ns, e2100_engine(q, ktime_get_ns(),
					      e2100_ctx_tx(port, ctx)));

	if (e2100_txq_now(q, due))
		return e2100_to_link(q, skb, due);
	E2100_INC(port, TX_PACED);
	falcon_nic_hold(skb);
	if (e2100_txq_wait(q, skb, E2100_PACED, due))
		return 0;
	falcon_nic_drop(skb);
	return -ENOBUFS;
}

/*
 * Up and down
 */

static void e2100_desc_drop(struct e2100_port *port, struct e2100_desc *desc)
{
	trace_e2100_drop(e2100_id(port), E2100_DROP_ALL);
	if (desc->wait == E2100_PACED || desc->wait == E2100_FALCON)
		falcon_nic_drop(desc->skb);
	else
		kfree_skb(desc->skb);
}

/* A new ring: nothing waits, but for what the timer has in its hands. */
static void e2100_txq_empty(struct e2100_txq *q)
{
	unsigned int i;

	lockdep_assert_held(&q->lock);
	for (i = 0; i < q->port->tx_ring; i++) {
		struct e2100_desc *desc = &q->ring[i];

		if (!desc->waiting)
			continue;
		desc->waiting = false;
		desc->node.next = q->free;
		q->free = &desc->node;
	}
	e2100_wheel_init(q->wheel);
	e2100_txq_arm(q);
	q->engine_ns = 0;
}

static void e2100_txq_flush(struct e2100_txq *q)
{
	unsigned int i;

	spin_lock_bh(&q->lock);
	for (i = 0; q->ring && i < q->port->tx_ring; i++) {
		if (q->ring[i].waiting)
			e2100_desc_drop(q->port, &q->ring[i]);
	}
	if (q->wheel)
		e2100_txq_empty(q);
	spin_unlock_bh(&q->lock);
}

/**
 * e2100_tx_flush - drop what waits
 * @port:	port
 *
 * Context: process.
 */
void e2100_tx_flush(struct e2100_port *port)
{
	unsigned int i;

	for (i = 0; i < port->nr_queues; i++)
		e2100_txq_flush(&port->txq[i]);
	e2100_link_free(port);
}

static unsigned int e2100_txq_waiting(struct e2100_txq *q)
{
	unsigned int i, nr = 0;

	spin_lock_bh(&q->lock);
	for (i = 0; q->ring && i < q->port->tx_ring; i++) {
		if (q->ring[i].waiting)
			nr++;
	}
	spin_unlock_bh(&q->lock);
	return nr;
}

/**
 * e2100_tx_waiting - packets and trains that wait
 * @port:	port
 *
 * Context: process or softirq.
 */
unsigned int e2100_tx_waiting(struct e2100_port *port)
{
	unsigned int i, nr = 0;

	for (i = 0; i < port->nr_queues; i++)
		nr += e2100_txq_waiting(&port->txq[i]);
	return nr;
}

static int e2100_txq_open(struct e2100_txq *q, unsigned int size)
{
	struct e2100_wheel *wheel = kvmalloc(sizeof(*wheel), GFP_KERNEL);
	struct e2100_desc *ring = kvcalloc(size, sizeof(*ring), GFP_KERNEL);
	unsigned int i;

	if (!wheel || !ring) {
		kvfree(wheel);
		kvfree(ring);
		return -ENOMEM;
	}
	e2100_wheel_init(wheel);
	spin_lock_bh(&q->lock);
	for (i = 0; i < size; i++) {
		ring[i].node.next = q->free;
		q->free = &ring[i].node;
	}
	q->ring = ring;
	q->timer_ns = E2100_WHEEL_IDLE;
	q->wheel = wheel;
	spin_unlock_bh(&q->lock);
	return 0;
}

static void e2100_txq_stop(struct e2100_txq *q)
{
	struct e2100_desc *ring = q->ring;
	struct e2100_wheel *wheel;

	spin_lock_bh(&q->lock);
	wheel = q->wheel;
	q->wheel = NULL;
	spin_unlock_bh(&q->lock);
	hrtimer_cancel(&q->timer);
	e2100_txq_flush(q);
	spin_lock_bh(&q->lock);
	q->free = NULL;
	q->ring = NULL;
	q->engine_ns = 0;
	spin_unlock_bh(&q->lock);
	kvfree(wheel);
	kvfree(ring);
}

/**
 * e2100_tx_open - give the transmit queues their rings and wheels
 * @port:	coming up
 *
 * Context: process, may sleep.
 * Return: 0 or -ENOMEM.
 */
int e2100_tx_open(struct e2100_port *port)
{
	unsigned int i;
	int err;

	for (i = 0; i < port->nr_queues; i++) {
		err = e2100_txq_open(&port->txq[i], port->tx_ring);
		if (err) {
			while (i--)
				e2100_txq_stop(&port->txq[i]);
			return err;
		}
	}
	return 0;
}

/**
 * e2100_tx_stop - take them away; what waits is dropped
 * @port:	going down
 *
 * Context: process, may sleep.
 */
void e2100_tx_stop(struct e2100_port *port)
{
	unsigned int i;

	for (i = 0; i < port->nr_queues; i++)
		e2100_txq_stop(&port->txq[i]);
	e2100_link_free(port);
}

/**
 * e2100_tx_init - transmit queues of a port that is down
 * @port:	new
 */
void e2100_tx_init(struct e2100_port *port)
{
	unsigned int i;

	for (i = 0; i < port->nr_queues; i++) {
		struct e2100_txq *q = &port->txq[i];

		q->port = port;
		spin_lock_init(&q->lock);
		hrtimer_init(&q->timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
		q->timer.function = e2100_txq_timer;
		q->timer_ns = E2100_WHEEL_IDLE;
	}
}
