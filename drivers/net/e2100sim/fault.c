// SPDX-License-Identifier: GPL-2.0
/*
 * What goes wrong on the wire, packet by packet: a port can drop, duplicate,
 * corrupt, reorder and delay what it sends, parts in a million, drawn by a
 * generator with a seed. A train is taken apart first, so that a loss is that
 * of one packet, as on a real wire. debugfs sets it; tx.c calls with what
 * departs.
 */
#include <linux/random.h>
#include <linux/skbuff.h>
#include <net/checksum.h>
#include "e2100sim.h"

#define E2100_MILLION	1000000

static const enum e2100_stat e2100_fault_stat[E2100_NR_FAULT] = {
	[E2100_F_DROP]		= E2100_S_FAULT_DROP,
	[E2100_F_REORDER]	= E2100_S_FAULT_REORDER,
	[E2100_F_DUPLICATE]	= E2100_S_FAULT_DUPLICATE,
	[E2100_F_CORRUPT]	= E2100_S_FAULT_CORRUPT,
};

/**
 * e2100_faults_init - a good wire
 * @f:		of a new port
 */
void e2100_faults_init(struct e2100_faults *f)
{
	spin_lock_init(&f->lock);
	f->reorder_us = 1000;
	e2100_faults_seed(f, 1);
}

/**
 * e2100_faults_seed - begin the generator's sequence
 * @f:		of a port
 * @seed:	any
 *
 * Context: process or softirq.
 */
void e2100_faults_seed(struct e2100_faults *f, u64 seed)
{
	spin_lock_bh(&f->lock);
	/* 0 is the one state that xorshift does not leave. */
	f->rnd = seed ^ 0x9e3779b97f4a7c15ULL ?: 1;
	spin_unlock_bh(&f->lock);
}

static u64 e2100_rnd(struct e2100_faults *f)
{
	lockdep_assert_held(&f->lock);
	f->rnd ^= f->rnd << 13;
	f->rnd ^= f->rnd >> 7;
	f->rnd ^= f->rnd << 17;
	return f->rnd;
}

static bool e2100_faulty(const struct e2100_faults *f)
{
	unsigned int i;

	for (i = 0; i < E2100_NR_FAULT; i++) {
		if (READ_ONCE(f->ppm[i]))
			return true;
	}
	return READ_ONCE(f->delay_us);
}

/* Which faults a packet suffers, and a number for how: the same draws always. */
static unsigned long e2100_draw(struct e2100_port *port, u64 *how)
{
	struct e2100_faults *f = &port->faults;
	unsigned long hit = 0;
	unsigned int i;

	spin_lock_bh(&f->lock);
	for (i = 0; i < E2100_NR_FAULT; i++) {
		u32 ppm = READ_ONCE(f->ppm[i]);

		if ((e2100_rnd(f) >> 20) % E2100_MILLION < ppm)
			hit |= BIT(i);
	}
	*how = e2100_rnd(f);
	spin_unlock_bh(&f->lock);
	if (hit & BIT(E2100_F_DROP))
		hit = BIT(E2100_F_DROP);
	for_each_set_bit(i, &hit, E2100_NR_FAULT)
		atomic64_inc(&port->stat[e2100_fault_stat[i]]);
	return hit;
}

/* Flips one bit behind the Ethernet header; the checksum is made before. */
static struct sk_buff *e2100_corrupt(struct sk_buff *skb, u64 how)
{
	unsigned int off = skb_network_offset(skb), bit;

	skb = skb_unshare(skb, GFP_ATOMIC);
	if (!skb)
		return NULL;
	if ((skb->ip_summed == CHECKSUM_PARTIAL && skb_checksum_help(skb)) ||
	    skb_linearize(skb) || skb->len <= off) {
		kfree_skb(skb);
		return NULL;
	}
	bit = how % ((skb->len - off) * BITS_PER_BYTE);
	skb->data[off + bit / BITS_PER_BYTE] ^= BIT(bit % BITS_PER_BYTE);
	skb->ip_summed = CHECKSUM_NONE;
	return skb;
}

static void e2100_send_after(struct e2100_port *port, struct sk_buff *skb,
			     unsigned long hit)
{
	u64 us = READ_ONCE(port->faults.delay_us);

	if (hit & BIT(E2100_F_REORDER))
		us += READ_ONCE(port->faults.reorder_us);
	if (!us)
		e2100_wire_send(port, skb);
	else if (!e2100_tx_delay(port, skb, ktime_get_ns() +
				 us * NSEC_PER_USEC))
		kfree_skb(skb);
}

static void e2100_suffer(struct e2100_port *port, struct sk_buff *skb)
{
	unsigned long hit;
	u64 how;

	hit = e2100_draw(port, &how);
	if (hit & BIT(E2100_F_DROP)) {
		kfree_skb(skb);
		return;
	}
	if (hit & BIT(E2100_F_DUPLICATE)) {
		struct sk_buff *twin = skb_copy(skb, GFP_ATOMIC);

		if (twin)
			e2100_send_after(port, twin, hit);
	}
	if (hit & BIT(E2100_F_CORRUPT))
		skb = e2100_corrupt(skb, how);
	if (skb)
		e2100_send_after(port, skb, hit);
}

/* For sockets that want to know when their packet left. */
static void e2100_tx_stamp(struct e2100_port *port, struct sk_buff *skb)
{
	struct e2100_clock *clock = &port->dev->clock;
	struct skb_shared_hwtstamps hw = {};

	if (READ_ONCE(port->tstamp.tx_type) != HWTSTAMP_TX_ON ||
	    !(skb_shinfo(skb)->tx_flags & SKBTX_HW_TSTAMP))
		return;
	hw.hwtstamp = ns_to_ktime(e2100_phc_time(clock, e2100_counter(clock)));
	skb_tstamp_tx(skb, &hw);
}

/**
 * e2100_wire_xmit - a packet or a train departs
 * @port:	port
 * @skb:	consumed
 *
 * Context: process or softirq, bottom halves off.
 */
void e2100_wire_xmit(struct e2100_port *port, struct sk_buff *skb)
{
	struct sk_buff *segs, *next;

	e2100_tx_stamp(port, skb);
	if (!e2100_faulty(&port->faults)) {
		e2100_wire_send(port, skb);
		return;
	}
	if (!skb_is_gso(skb)) {
		e2100_suffer(port, skb);
		return;
	}
	segs = skb_gso_segment(skb, port->netdev->features &
			       ~NETIF_F_GSO_MASK);
	if (IS_ERR_OR_NULL(segs)) {
		kfree_skb(skb);
		return;
	}
	consume_skb(skb);
	skb_list_walk_safe(segs, skb, next) {
		skb_mark_not_on_list(skb);
		e2100_suffer(port, skb);
	}
}
