/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A timing wheel in the manner of Carousel: what is to depart at a time waits
 * in the slot of that time, so that thousands of paced flows cost the same per
 * packet as one. Slots are 512 ns wide; the horizon of 67 ms holds the next
 * 4 KiB packet of a flow of 500 kb/s, and what departs later comes round
 * again. Nothing departs early; it departs late by less than a slot.
 *
 * Plain data and arithmetic, no locks, no clock of its own: it is the same
 * file in the unit tests, which run it in virtual time.
 */
#ifndef _E2100_WHEEL_H
#define _E2100_WHEEL_H

#include <linux/bitmap.h>
#include <linux/bits.h>
#include <linux/limits.h>
#include <linux/types.h>

#define E2100_WHEEL_SHIFT	9	/* ns of a slot */
#define E2100_WHEEL_SLOTS	BIT(17)
#define E2100_WHEEL_HORIZON_NS	((u64)E2100_WHEEL_SLOTS << E2100_WHEEL_SHIFT)
#define E2100_WHEEL_IDLE	U64_MAX

#define E2100_WHEEL_WORDS	(E2100_WHEEL_SLOTS / BITS_PER_LONG)

/**
 * struct e2100_wheel_node - embedded in what waits
 * @next:	in its slot, or in what e2100_wheel_advance() returned
 * @due_ns:	not to depart before
 */
struct e2100_wheel_node {
	struct e2100_wheel_node *next;
	u64 due_ns;
};

/**
 * struct e2100_wheel - what waits for its time
 * @turn:	slots before this one, counted since time 0, are empty
 * @count:	nodes that wait
 * @sum:	words of @busy that are not 0
 * @busy:	slots that are not empty
 * @last:	of each slot; a slot is a ring, this node's @next is the first
 */
struct e2100_wheel {
	u64 turn;
	unsigned int count;
	DECLARE_BITMAP(sum, E2100_WHEEL_WORDS);
	DECLARE_BITMAP(busy, E2100_WHEEL_SLOTS);
	struct e2100_wheel_node *last[E2100_WHEEL_SLOTS];
};

void e2100_wheel_init(struct e2100_wheel *w);
void e2100_wheel_add(struct e2100_wheel *w, struct e2100_wheel_node *node,
		     u64 now_ns);
u64 e2100_wheel_next(const struct e2100_wheel *w);
struct e2100_wheel_node *e2100_wheel_advance(struct e2100_wheel *w, u64 now_ns);

#endif /* _E2100_WHEEL_H */
