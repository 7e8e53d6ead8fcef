/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The other level of the connection scheduler (8.3): which connection is next.
 * sched.c has the one within a connection.
 */
#ifndef _FALCON_CORE_ARBITER_H
#define _FALCON_CORE_ARBITER_H

#include <linux/list.h>
#include <linux/types.h>

#define FALCON_WEIGHT_MAX	255

/**
 * struct falcon_turn - a connection's place in a round
 * @node:	in falcon_arbiter::round, or alone
 * @credit:	what it may still send in its turn; below 0, a debt
 * @weight:	1..FALCON_WEIGHT_MAX: its share, relative to the others'. May
 *		change at any time
 *
 * While it waits it is the arbiter's; then it is its owner's.
 */
struct falcon_turn {
	struct list_head node;
	s32 credit;
	u8  weight;
};

/**
 * struct falcon_arbiter - what connections share: a link, or a queue of one
 * @round:	who waits, in the order of turns
 * @quantum:	credit that a turn brings, for each unit of weight
 */
struct falcon_arbiter {
	struct list_head round;
	u32 quantum;
};

void falcon_arbiter_init(struct falcon_arbiter *a, u32 quantum);
void falcon_turn_init(struct falcon_turn *t, u8 weight);
void falcon_turn_wait(struct falcon_arbiter *a, struct falcon_turn *t);
struct falcon_turn *falcon_turn_next(struct falcon_arbiter *a);
void falcon_turn_used(struct falcon_turn *t, u32 cost);
void falcon_turn_end(struct falcon_turn *t);

static inline bool falcon_turn_waits(const struct falcon_turn *t)
{
	return !list_empty(&t->node);
}

static inline bool falcon_arbiter_idle(const struct falcon_arbiter *a)
{
	return list_empty(&a->round);
}

#endif /* _FALCON_CORE_ARBITER_H */
