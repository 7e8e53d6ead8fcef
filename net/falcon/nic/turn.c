// SPDX-License-Identifier: GPL-2.0
/*
 * Connections take turns (8.3) where they contend: at a transmit queue of a
 * device that does not keep up. CPUs share one as they share the device's own
 * queues, and no lock more: with a queue for each CPU they share nothing. Of the
 * devices a few share one, by hash.
 *
 * What has been handed down and not been freed yet is counted, in blocks,
 * a train at a time. Below net.falcon.tx_backlog_kb a connection transmits at
 * once. From there on it waits in the round of the queue (core/arbiter.c); each
 * packet that the device is done with may call the next, by a tasklet. ACKs and
 * NACKs wait for no turn, and packets with a departure time are not counted:
 * the wheel that they wait on is no queue.
 *
 * conn/drain.c asks before it takes packets from core, udp_tx.c counts them.
 * Locks: falcon_conn::lock, then falcon_txq::lock. A round holds a reference of
 * each connection in it.
 */
#include <linux/atomic.h>
#include <linux/delay.h>
#include <linux/hash.h>
#include <linux/interrupt.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <linux/vmalloc.h>
#include "falcon.h"

#define FALCON_TXQ_BITS		4	/* of a CPU */
#define FALCON_TXQ_NR		BIT(FALCON_TXQ_BITS)
#define FALCON_BLOCK_SHIFT	11	/* bytes of a block */
#define FALCON_BLOCKS		63	/* most that one skb counts as */
#define FALCON_TURN_QUANTUM	4096	/* bytes of a turn and unit of weight */
#define FALCON_TURNS		16	/* before softirq gets a rest */

/**
 * struct falcon_txq - connections that transmit by one queue of a device
 * @lock:	of @arb, and of the turns that wait in it
 * @arb:	those that wait
 * @waiting:	somebody does
 * @limit:	blocks, as who waits last has it
 * @blocks:	handed down, not freed yet
 * @task:	serves turns
 */
struct falcon_txq {
	spinlock_t lock;	/* bottom halves off */
	struct falcon_arbiter arb;
	bool waiting;
	int limit;
	atomic_t blocks;
	struct tasklet_struct task;
} __aligned(FALCON_BLOCKS + 1);

static struct falcon_txq *falcon_txqs;	/* FALCON_TXQ_NR for each CPU */

static struct falcon_txq *falcon_txq_here(const struct falcon_conn *conn)
{
	unsigned int cpu = smp_processor_id();
	unsigned int width = READ_ONCE(conn->txq_width);

	if (cpu >= width)
		cpu %= width;
	return &falcon_txqs[cpu * FALCON_TXQ_NR + READ_ONCE(conn->txq_nr)];
}

static int falcon_txq_limit(const struct falcon_conn *conn)
{
	int kb = READ_ONCE(conn->fn->sysctl.tx_backlog_kb);

	return kb ? max(kb >> (FALCON_BLOCK_SHIFT - 10), 1) : INT_MAX;
}

/* Is there room for who waits? */
static void falcon_txq_kick(struct falcon_txq *q)
{
	if (READ_ONCE(q->waiting) &&
	    atomic_read(&q->blocks) < READ_ONCE(q->limit))
		tasklet_schedule(&q->task);
}

/**
 * falcon_txq_room - what a connection may transmit now
 * @conn:	locked
 *
 * Context: bottom halves off.
 * Return: bytes; 0: nothing but ACKs and NACKs.
 */
u32 falcon_txq_room(struct falcon_conn *conn)
{
	struct falcon_txq *q = falcon_txq_here(conn);
	int free;

	lockdep_assert_held(&conn->lock);
	if (conn->txq)
		return 0;
	if (conn->turn.credit > 0)
		return conn->turn.credit;
	if (READ_ONCE(q->waiting))
		return 0;
	free = falcon_txq_limit(conn) - atomic_read(&q->blocks);
	if (free <= 0)
		return 0;
	return (u32)min_t(int, free, INT_MAX >> FALCON_BLOCK_SHIFT) <<
	       FALCON_BLOCK_SHIFT;
}

/* At the end of the round; @conn is not freed as long as it waits. */
static void falcon_txq_wait(struct falcon_conn *conn)
{
	struct falcon_txq *q = falcon_txq_here(conn);

	if (!falcon_conn_get(conn))
		return;
	spin_lock(&q->lock);
	falcon_turn_wait(&q->arb, &conn->turn);
	q->limit = falcon_txq_limit(conn);
	WRITE_ONCE(q->waiting, true);
	spin_unlock(&q->lock);
	conn->txq = q;
	FALCON_INC(conn->fn, OUT_WAITS);
	smp_mb();	/* before the count is read, as in falcon_txq_uncharge() */
	falcon_txq_kick(q);
}

/**
 * falcon_txq_sent - a connection has used what falcon_txq_room() gave it
 * @conn:	locked
 * @bytes:	transmitted
 * @more:	the room did not suffice: it waits for its next turn
 *
 * Context: bottom halves off.
 */
void falcon_txq_sent(struct falcon_conn *conn, u32 bytes, bool more)
{
	lockdep_assert_held(&conn->lock);
	if (conn->txq)
		return;
	if (conn->turn.credit > 0)
		falcon_turn_used(&conn->turn, bytes);
	if (more)
		falcon_txq_wait(conn);
	else if (conn->turn.credit > 0 && !conn->again)
		falcon_turn_end(&conn->turn);
}

/**
 * falcon_txq_charge - count a train that is handed down
 * @conn:	locked
 * @skb:	the train
 *
 * Context: bottom halves off, on the CPU where falcon_txq_room() was called.
 * Return: for falcon_txq_uncharge() when it is freed; NULL: it is not counted.
 */
void *falcon_txq_charge(struct falcon_conn *conn, const struct sk_buff *skb)
{
	struct falcon_txq *q = falcon_txq_here(conn);
	unsigned int n;

	if (falcon_nic_cb(skb)->depart_ns ||
	    !READ_ONCE(conn->fn->sysctl.tx_backlog_kb))
		return NULL;
	n = clamp_t(unsigned int, skb->len >> FALCON_BLOCK_SHIFT, 1,
		    FALCON_BLOCKS);
	atomic_add(n, &q->blocks);
	return (void *)((unsigned long)q | n);	/* a queue is aligned */
}

/**
 * falcon_txq_uncharge - a train has left, or will not
 * @charge:	of falcon_txq_charge()
 *
 * Context: any but hard interrupts.
 */
void falcon_txq_uncharge(void *charge)
{
	unsigned long n = (unsigned long)charge & FALCON_BLOCKS;
	struct falcon_txq *q = (void *)((unsigned long)charge - n);

	if (!charge)
		return;
	/* Ordered before @waiting is read: see falcon_txq_wait(). */
	if (atomic_sub_return(n, &q->blocks) < READ_ONCE(q->limit) / 2 + 1)
		falcon_txq_kick(q);
}

/**
 * falcon_txq_leave - a connection will transmit no more
 * @conn:	locked
 *
 * Context: bottom halves off.
 */
void falcon_txq_leave(struct falcon_conn *conn)
{
	struct falcon_txq *q = conn->txq;
	bool waited;

	lockdep_assert_held(&conn->lock);
	if (!q)
		return;
	spin_lock(&q->lock);
	waited = falcon_turn_waits(&conn->turn);
	if (waited)
		falcon_turn_end(&conn->turn);
	WRITE_ONCE(q->waiting, !falcon_arbiter_idle(&q->arb));
	spin_unlock(&q->lock);
	conn->txq = NULL;
	/* Otherwise its turn has just come, and drops the reference. */
	if (waited)
		falcon_conn_put(conn);
}

/**
 * falcon_conn_weight - a connection's share where connections take turns
 * @conn:	connection
 * @weight:	1..FALCON_WEIGHT_MAX, relative to others'; 16 is what they have
 *		unless net.falcon.tx_weight says otherwise
 *
 * Context: any.
 */
void falcon_conn_weight(struct falcon_conn *conn, u8 weight)
{
	WRITE_ONCE(conn->turn.weight, max_t(u8, weight, 1));
}
EXPORT_SYMBOL_GPL(falcon_conn_weight);

/**
 * falcon_txq_device - a connection transmits by a device from now on
 * @conn:	connection
 * @dev:	the device
 *
 * Context: any.
 */
void falcon_txq_device(struct falcon_conn *conn, const struct net_device *dev)
{
	WRITE_ONCE(conn->txq_nr, hash_ptr(dev, FALCON_TXQ_BITS));
	WRITE_ONCE(conn->txq_width, max(dev->real_num_tx_queues, 1U));
}

static struct falcon_conn *falcon_txq_next(struct falcon_txq *q)
{
	struct falcon_turn *t;

	spin_lock(&q->lock);
	t = falcon_turn_next(&q->arb);
	WRITE_ONCE(q->waiting, !falcon_arbiter_idle(&q->arb));
	spin_unlock(&q->lock);
	return t ? container_of(t, struct falcon_conn, turn) : NULL;
}

static void falcon_txq_task(struct tasklet_struct *task)
{
	struct falcon_txq *q = container_of(task, struct falcon_txq, task);
	struct falcon_conn *conn;
	int i;

	for (i = 0; i < FALCON_TURNS; i++) {
		if (atomic_read(&q->blocks) >= READ_ONCE(q->limit))
			return;
		conn = falcon_txq_next(q);
		if (!conn)
			return;
		falcon_conn_turn(conn);
		falcon_conn_put(conn);
	}
	falcon_txq_kick(q);
}

static unsigned int falcon_txq_count(void)
{
	return nr_cpu_ids * FALCON_TXQ_NR;
}

/**
 * falcon_txq_init - set up the queues
 *
 * Context: module init.
 * Return: 0 or -ENOMEM.
 */
int falcon_txq_init(void)
{
	struct falcon_txq *q;

	/* Of whole pages, so that queues are aligned. */
	falcon_txqs = vzalloc(falcon_txq_count() * sizeof(*q));
	if (!falcon_txqs)
		return -ENOMEM;
	for (q = falcon_txqs; q < falcon_txqs + falcon_txq_count(); q++) {
		spin_lock_init(&q->lock);
		falcon_arbiter_init(&q->arb, FALCON_TURN_QUANTUM);
		tasklet_setup(&q->task, falcon_txq_task);
	}
	return 0;
}

/**
 * falcon_txq_exit - wait until devices are done with what they were handed
 *
 * Context: module exit; no connection is left.
 */
void falcon_txq_exit(void)
{
	struct falcon_txq *q;

	for (q = falcon_txqs; q < falcon_txqs + falcon_txq_count(); q++) {
		while (atomic_read(&q->blocks))
			msleep(20);
		tasklet_kill(&q->task);
	}
	synchronize_net();	/* the last destructor has returned */
	vfree(falcon_txqs);
}
