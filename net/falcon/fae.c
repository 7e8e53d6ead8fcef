// SPDX-License-Identifier: GPL-2.0
/*
 * Batches of congestion control events (10.6.1): each CPU has a queue, in which
 * events of the packets it receives wait until the softirq is through with its
 * batch of them. Then so many run as net.falcon.fae_batch says, connection by
 * connection; what is left waits for the next batch, or for a timer. The longer
 * the queue, the fewer ACKs become events (core/fae.c).
 *
 * udp.c calls at the end of a batch, conn/rx.c asks for the queue. A queue is used
 * by softirqs of its CPU alone, so that it needs no lock; each event in it holds
 * a reference of its connection.
 */
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/slab.h>
#include "core/fae.h"
#include "falcon.h"

#define FALCON_FAE_REST_NS	(20 * NSEC_PER_USEC)

struct falcon_fae_cpu {
	struct falcon_fae_queue q;
	struct hrtimer timer;		/* for what a batch left over */
};

static DEFINE_PER_CPU(struct falcon_fae_cpu, falcon_fae_cpus);
static DEFINE_MUTEX(falcon_fae_alloc_lock);

/**
 * falcon_fae_batch_alloc - memory for the queues, before the first is used
 *
 * Most hosts never batch: it is taken when somebody asks for that, and kept.
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM.
 */
int falcon_fae_batch_alloc(void)
{
	struct falcon_fae_slot *slot;
	struct falcon_fae_cpu *fc;
	int cpu, err = 0;

	mutex_lock(&falcon_fae_alloc_lock);
	for_each_possible_cpu(cpu) {
		fc = per_cpu_ptr(&falcon_fae_cpus, cpu);
		if (fc->q.slot)
			continue;
		slot = kvcalloc(FALCON_FAE_SLOTS, sizeof(*slot), GFP_KERNEL);
		if (!slot) {
			err = -ENOMEM;
			break;
		}
		falcon_fae_queue_init(&fc->q, slot, FALCON_FAE_SLOTS);
	}
	mutex_unlock(&falcon_fae_alloc_lock);
	return err;
}

/**
 * falcon_fae_batch_queue - where events of a packet wait
 * @fn:		namespace of its connection
 *
 * Context: softirq.
 * Return: the queue of this CPU; NULL: they run at once.
 */
struct falcon_fae_queue *falcon_fae_batch_queue(const struct falcon_net *fn)
{
	/* Pairs with the release after falcon_fae_batch_alloc(), sysctl.c */
	if (!smp_load_acquire(&fn->sysctl.fae_batch))
		return NULL;
	return this_cpu_ptr(&falcon_fae_cpus.q);
}

static void falcon_fae_run_batch(struct falcon_fae_cpu *fc, u32 most)
{
	struct falcon_core *core;

	while (most) {
		core = falcon_fae_queue_first(&fc->q);
		if (!core)
			return;
		most -= falcon_conn_events(container_of(core,
							struct falcon_conn,
							core),
					   &fc->q, most);
	}
	if (falcon_fae_queue_depth(&fc->q))
		hrtimer_start(&fc->timer, ns_to_ktime(FALCON_FAE_REST_NS),
			      HRTIMER_MODE_REL_PINNED_SOFT);
}

/**
 * falcon_fae_batch_end - a batch of packets has been received
 * @fn:		their namespace
 *
 * Context: softirq, no lock held. Calls ULPs.
 */
void falcon_fae_batch_end(const struct falcon_net *fn)
{
	struct falcon_fae_cpu *fc = this_cpu_ptr(&falcon_fae_cpus);

	if (falcon_fae_queue_depth(&fc->q))
		falcon_fae_run_batch(fc, READ_ONCE(fn->sysctl.fae_batch) ?:
					 FALCON_FAE_SLOTS);
}

static enum hrtimer_restart falcon_fae_rest(struct hrtimer *timer)
{
	struct falcon_fae_cpu *fc =
		container_of(timer, struct falcon_fae_cpu, timer);

	falcon_fae_run_batch(fc, FALCON_FAE_SLOTS);
	return HRTIMER_NORESTART;
}

/**
 * falcon_fae_batch_init - the module comes
 */
void falcon_fae_batch_init(void)
{
	struct falcon_fae_cpu *fc;
	int cpu;

	for_each_possible_cpu(cpu) {
		fc = per_cpu_ptr(&falcon_fae_cpus, cpu);
		hrtimer_init(&fc->timer, CLOCK_MONOTONIC,
			     HRTIMER_MODE_REL_PINNED_SOFT);
		fc->timer.function = falcon_fae_rest;
	}
}

/**
 * falcon_fae_batch_exit - the module goes
 *
 * Context: may sleep. There are no connections, and so no events.
 */
void falcon_fae_batch_exit(void)
{
	struct falcon_fae_cpu *fc;
	int cpu;

	for_each_possible_cpu(cpu) {
		fc = per_cpu_ptr(&falcon_fae_cpus, cpu);
		hrtimer_cancel(&fc->timer);
		kvfree(fc->q.slot);
	}
}
