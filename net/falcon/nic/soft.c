// SPDX-License-Identifier: GPL-2.0
/*
 * The software NIC: what any netdev gets that has no Falcon driver. Its
 * free-running counter is ktime in picoseconds; it paces by departure time
 * with a timing wheel a CPU, in the manner of Carousel.
 *
 * A wheel has 512 slots of 16 us, so that it turns in 8.4 ms; a packet that
 * departs later stays for more turns. A slot only finds packets fast: each
 * leaves at its own time, never before. Stamps are of actual departure: a
 * packet is sealed as it leaves the wheel.
 */
#include <linux/cpumask.h>
#include <linux/hrtimer.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/slab.h>
#include "falcon.h"

#define FALCON_WHEEL_SHIFT	14	/* ns of a slot */
#define FALCON_WHEEL_SLOTS	512

/**
 * struct falcon_wheel - packets of one CPU that wait for their departure
 * @lock:	of all fields
 * @timer:	fires at @due_ns
 * @due_ns:	first departure, or FALCON_NO_TIMER
 * @turn:	slots before this one, counted since time 0, hold nothing due
 * @busy:	slots that hold packets
 * @slot:	packets that depart in it, in this turn or a later one
 */
struct falcon_wheel {
	spinlock_t lock;	/* bottom halves off */
	struct hrtimer timer;
	u64 due_ns;
	u64 turn;
	DECLARE_BITMAP(busy, FALCON_WHEEL_SLOTS);
	struct sk_buff_head *slot;
};

static struct falcon_wheel __percpu *falcon_wheels;

static u64 falcon_soft_read_counter(struct falcon_nic *nic)
{
	return ktime_get_ns() * 1000;
}

static int falcon_soft_depart(struct sk_buff *skb)
{
	int err = falcon_psp_seal(skb, falcon_nic_now(falcon_nic_cb(skb)->conn));

	if (err) {
		falcon_nic_drop(skb);
		return err;
	}
	return falcon_nic_output(skb);
}

static void falcon_wheel_arm(struct falcon_wheel *w, u64 due_ns)
{
	lockdep_assert_held(&w->lock);
	WRITE_ONCE(w->due_ns, due_ns);
	if (due_ns != FALCON_NO_TIMER)
		hrtimer_start(&w->timer, ns_to_ktime(due_ns),
			      HRTIMER_MODE_ABS_PINNED_SOFT);
}

static void falcon_wheel_add(struct falcon_wheel *w, struct sk_buff *skb)
{
	u64 depart = falcon_nic_cb(skb)->depart_ns;
	unsigned int i;

	lockdep_assert_held(&w->lock);
	i = (depart >> FALCON_WHEEL_SHIFT) % FALCON_WHEEL_SLOTS;
	__skb_queue_tail(&w->slot[i], skb);
	__set_bit(i, w->busy);
	if (depart < w->due_ns)
		falcon_wheel_arm(w, depart);
}

/* Moves what is due from slot @i to @out; returns the next departure in it. */
static u64 falcon_wheel_take(struct falcon_wheel *w, unsigned int i, u64 now,
			     struct sk_buff_head *out)
{
	struct sk_buff *skb, *next;
	u64 due = FALCON_NO_TIMER;

	lockdep_assert_held(&w->lock);
	skb_queue_walk_safe(&w->slot[i], skb, next) {
		u64 depart = falcon_nic_cb(skb)->depart_ns;

		if (depart <= now) {
			__skb_unlink(skb, &w->slot[i]);
			__skb_queue_tail(out, skb);
		} else {
			due = min(due, depart);
		}
	}
	if (skb_queue_empty(&w->slot[i]))
		__clear_bit(i, w->busy);
	return due;
}

/*
 * Visits the slots in the order of time, from where the last visit ended, for
 * one turn at most; stops at the first that keeps a packet of this turn.
 */
static void falcon_wheel_turn(struct falcon_wheel *w, u64 now,
			      struct sk_buff_head *out)
{
	unsigned int i, start = w->turn % FALCON_WHEEL_SLOTS;
	u64 due = FALCON_NO_TIMER;

	lockdep_assert_held(&w->lock);
	for_each_set_bit_wrap(i, w->busy, FALCON_WHEEL_SLOTS, start) {
		u64 slot = w->turn + (i - start) % FALCON_WHEEL_SLOTS;

		due = min(due, falcon_wheel_take(w, i, now, out));
		if (due >> FALCON_WHEEL_SHIFT <= slot)
			break;
	}
	w->turn = now >> FALCON_WHEEL_SHIFT;
	falcon_wheel_arm(w, due);
}

static enum hrtimer_restart falcon_wheel_fire(struct hrtimer *timer)
{
	struct falcon_wheel *w = container_of(timer, struct falcon_wheel,
					      timer);
	struct sk_buff_head out;
	struct sk_buff *skb;

	__skb_queue_head_init(&out);
	spin_lock(&w->lock);
	falcon_wheel_turn(w, ktime_get_ns(), &out);
	spin_unlock(&w->lock);
	while ((skb = __skb_dequeue(&out)))
		falcon_soft_depart(skb);
	return HRTIMER_NORESTART;
}

static int falcon_soft_xmit(struct falcon_nic *nic, struct falcon_nic_ctx *ctx,
			    struct sk_buff *skb, u8 flow, u64 depart_ns)
{
	struct falcon_wheel *w = this_cpu_ptr(falcon_wheels);
	u64 now;

	if (!depart_ns)
		return falcon_soft_depart(skb);
	now = ktime_get_ns();
	if (depart_ns <= now && READ_ONCE(w->due_ns) > now)
		return falcon_soft_depart(skb);

	/* Or what is due waits still, for a timer that is late: behind it. */
	falcon_nic_cb(skb)->depart_ns = max(depart_ns, now);
	falcon_nic_hold(skb);
	spin_lock(&w->lock);
	if (bitmap_empty(w->busy, FALCON_WHEEL_SLOTS))
		w->turn = now >> FALCON_WHEEL_SHIFT;
	falcon_wheel_add(w, skb);
	spin_unlock(&w->lock);
	return 0;
}

static void falcon_wheel_flush(struct falcon_wheel *w, const struct net *net)
{
	struct sk_buff_head out;
	struct sk_buff *skb, *next;
	unsigned int i;

	__skb_queue_head_init(&out);
	spin_lock_bh(&w->lock);
	for_each_set_bit(i, w->busy, FALCON_WHEEL_SLOTS) {
		skb_queue_walk_safe(&w->slot[i], skb, next) {
			if (falcon_nic_net(skb) != net)
				continue;
			__skb_unlink(skb, &w->slot[i]);
			__skb_queue_tail(&out, skb);
		}
		if (skb_queue_empty(&w->slot[i]))
			__clear_bit(i, w->busy);
	}
	spin_unlock_bh(&w->lock);
	while ((skb = __skb_dequeue(&out)))
		falcon_nic_drop(skb);
}

static void falcon_soft_flush(struct falcon_nic *nic, const struct net *net)
{
	int cpu;

	for_each_possible_cpu(cpu)
		falcon_wheel_flush(per_cpu_ptr(falcon_wheels, cpu), net);
}

static const struct falcon_nic_ops falcon_nic_soft_ops = {
	.name		= "soft",
	.owner		= THIS_MODULE,
	.read_counter	= falcon_soft_read_counter,
	.xmit		= falcon_soft_xmit,
	.flush		= falcon_soft_flush,
};

struct falcon_nic falcon_nic_soft = {
	.ops	= &falcon_nic_soft_ops,
	.list	= LIST_HEAD_INIT(falcon_nic_soft.list),
	.conns	= LIST_HEAD_INIT(falcon_nic_soft.conns),
	.keys	= LIST_HEAD_INIT(falcon_nic_soft.keys),
	.refs	= REFCOUNT_INIT(1),
};

static void falcon_wheels_free(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		kvfree(per_cpu_ptr(falcon_wheels, cpu)->slot);
	free_percpu(falcon_wheels);
}

/**
 * falcon_nic_soft_init - set up the wheels
 *
 * Context: module init.
 * Return: 0 or -ENOMEM.
 */
int falcon_nic_soft_init(void)
{
	unsigned int i;
	int cpu;

	falcon_wheels = alloc_percpu(struct falcon_wheel);
	if (!falcon_wheels)
		return -ENOMEM;
	for_each_possible_cpu(cpu) {
		struct falcon_wheel *w = per_cpu_ptr(falcon_wheels, cpu);

		/* With lock debugging, more than per-CPU memory gives. */
		w->slot = kvmalloc_array(FALCON_WHEEL_SLOTS, sizeof(*w->slot),
					 GFP_KERNEL);
		if (!w->slot) {
			falcon_wheels_free();
			return -ENOMEM;
		}
		spin_lock_init(&w->lock);
		hrtimer_init(&w->timer, CLOCK_MONOTONIC,
			     HRTIMER_MODE_ABS_PINNED_SOFT);
		w->timer.function = falcon_wheel_fire;
		w->due_ns = FALCON_NO_TIMER;
		for (i = 0; i < FALCON_WHEEL_SLOTS; i++)
			__skb_queue_head_init(&w->slot[i]);
	}
	return 0;
}

/**
 * falcon_nic_soft_exit - free the wheels; they hold nothing any more
 */
void falcon_nic_soft_exit(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		hrtimer_cancel(&per_cpu_ptr(falcon_wheels, cpu)->timer);
	falcon_wheels_free();
}
