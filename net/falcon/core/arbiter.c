// SPDX-License-Identifier: GPL-2.0
/*
 * Connection scheduler (8.3), the level of connections: those that have
 * something to send, and may not yet, wait in a round. Turns go round robin; a
 * turn brings credit by the connection's weight, in the caller's unit, bytes or
 * packets (deficit round robin). What one sent beyond its credit is a debt that
 * its next turns pay; what it leaves when it has nothing more to send lapses, so
 * that nobody saves up for a burst.
 *
 * All is O(1): a turn that only pays takes a step, and each step pays what has
 * been sent. The kernel has a round for each transmit queue (nic/turn.c), the
 * simulator one for each NIC. Callers lock.
 */
#include <linux/compiler.h>
#include <linux/minmax.h>
#include "arbiter.h"

/**
 * falcon_arbiter_init() - nobody waits
 * @a:		the arbiter
 * @quantum:	credit of a turn for each unit of weight, more than 0
 */
void falcon_arbiter_init(struct falcon_arbiter *a, u32 quantum)
{
	INIT_LIST_HEAD(&a->round);
	a->quantum = quantum;
}

/**
 * falcon_turn_init() - a connection that does not wait
 * @t:		its place
 * @weight:	1..FALCON_WEIGHT_MAX
 */
void falcon_turn_init(struct falcon_turn *t, u8 weight)
{
	INIT_LIST_HEAD(&t->node);
	t->credit = 0;
	t->weight = weight;
}

/**
 * falcon_turn_wait() - a connection has more to send than it may now
 * @a:		where it waits
 * @t:		its place: the last of the round. Nothing happens if it waits
 */
void falcon_turn_wait(struct falcon_arbiter *a, struct falcon_turn *t)
{
	if (falcon_turn_waits(t))
		return;
	t->credit = min(t->credit, 0);
	list_add_tail(&t->node, &a->round);
}

/**
 * falcon_turn_next() - whose turn it is
 * @a:		the arbiter
 *
 * Return: it waits no longer, and has credit; NULL if nobody waits.
 */
struct falcon_turn *falcon_turn_next(struct falcon_arbiter *a)
{
	struct falcon_turn *t;

	while (!list_empty(&a->round)) {
		t = list_first_entry(&a->round, struct falcon_turn, node);
		t->credit += a->quantum * READ_ONCE(t->weight);
		if (t->credit > 0) {
			list_del_init(&t->node);
			return t;
		}
		list_move_tail(&t->node, &a->round);
	}
	return NULL;
}

/**
 * falcon_turn_used() - a connection has sent something in its turn
 * @t:		its place
 * @cost:	of it
 *
 * It may go on while its credit is above 0.
 */
void falcon_turn_used(struct falcon_turn *t, u32 cost)
{
	t->credit -= cost;
}

/**
 * falcon_turn_end() - a connection has nothing more to send, or is no more
 * @t:		its place, in a round or not
 */
void falcon_turn_end(struct falcon_turn *t)
{
	list_del_init(&t->node);
	t->credit = min(t->credit, 0);
}
