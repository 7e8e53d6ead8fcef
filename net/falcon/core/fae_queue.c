// SPDX-License-Identifier: GPL-2.0
/*
 * The CC event queue (specification 10.6.2.1): events of many connections wait
 * for the algorithm, which takes them together. How long it is decides which
 * ACKs become events at all (10.6.1, falcon_fae_event_due()).
 *
 * fae.c puts events in. The owner of the queue takes them out, at the end of a
 * batch of packets: it looks whose the first one is, takes the lock of that
 * connection, and runs it. The result is applied at once, so that there is no
 * queue on the way back.
 */
#include <linux/bug.h>

#include "core.h"
#include "fae.h"

/**
 * falcon_fae_queue_init() - an empty queue
 * @q:		the queue
 * @slot:	its memory
 * @size:	slots, a power of two
 */
void falcon_fae_queue_init(struct falcon_fae_queue *q,
			   struct falcon_fae_slot *slot, u32 size)
{
	*q = (struct falcon_fae_queue){ .slot = slot, .size = size };
}

/**
 * falcon_fae_queue_put() - an event begins to wait
 * @q:		the queue, or NULL
 * @c:		whose event; it stays until the event is taken
 * @ev:		copied
 *
 * Context: Connection lock held; by the owner of @q alone.
 * Return: false if there is no queue, or no room.
 */
bool falcon_fae_queue_put(struct falcon_fae_queue *q, struct falcon_core *c,
			  const struct falcon_fae_event *ev)
{
	struct falcon_fae_slot *slot;

	if (!q || falcon_fae_queue_depth(q) == q->size)
		return false;
	slot = &q->slot[q->tail++ & (q->size - 1)];
	slot->c = c;
	slot->ev = *ev;
	return true;
}

/**
 * falcon_fae_queue_first() - whose event is next?
 * @q:		the queue
 *
 * Context: by the owner of @q.
 * Return: the connection, to be locked; NULL if no event waits.
 */
struct falcon_core *falcon_fae_queue_first(const struct falcon_fae_queue *q)
{
	if (q->head == q->tail)
		return NULL;
	return q->slot[q->head & (q->size - 1)].c;
}

/**
 * falcon_fae_queue_run() - take the next event
 * @q:		the queue, not empty
 * @now_ns:	caller's clock
 *
 * An event of a connection that has died since is dropped.
 *
 * Context: Lock of falcon_fae_queue_first() held; by the owner of @q.
 */
void falcon_fae_queue_run(struct falcon_fae_queue *q, u64 now_ns)
{
	struct falcon_fae_slot *slot;

	if (WARN_ON_ONCE(q->head == q->tail))
		return;
	slot = &q->slot[q->head++ & (q->size - 1)];
	if (!slot->c->fatal)
		falcon_fae_run(slot->c, &slot->ev, now_ns);
}
