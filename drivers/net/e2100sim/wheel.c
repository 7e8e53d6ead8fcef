// SPDX-License-Identifier: GPL-2.0
/*
 * The timing wheel of wheel.h. A bit a slot and a bit a word of those bits find
 * the next busy slot in a bounded number of steps, however many are empty.
 * tx.c calls, under the lock of its queue.
 */
#include <linux/bitops.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include "wheel.h"

/**
 * e2100_wheel_init - an empty wheel
 * @w:		written whole
 */
void e2100_wheel_init(struct e2100_wheel *w)
{
	memset(w, 0, sizeof(*w));
}

/* The first busy slot from @slot on, not around the end; SLOTS: none. */
static unsigned int e2100_wheel_find(const struct e2100_wheel *w,
				     unsigned int slot)
{
	unsigned int word = slot / BITS_PER_LONG;
	unsigned long bits = w->busy[word] & (~0UL << slot % BITS_PER_LONG);

	if (!bits) {
		word = find_next_bit(w->sum, E2100_WHEEL_WORDS, word + 1);
		if (word >= E2100_WHEEL_WORDS)
			return E2100_WHEEL_SLOTS;
		bits = w->busy[word];
	}
	return word * BITS_PER_LONG + __ffs(bits);
}

/* The next busy slot in the order of time, counted since time 0. */
static u64 e2100_wheel_first(const struct e2100_wheel *w)
{
	unsigned int start = w->turn % E2100_WHEEL_SLOTS;
	unsigned int slot = e2100_wheel_find(w, start);

	if (slot == E2100_WHEEL_SLOTS)
		slot = e2100_wheel_find(w, 0);
	return w->turn + (slot - start) % E2100_WHEEL_SLOTS;
}

/* Puts @node where it is due, or as far ahead as the wheel reaches. */
static void e2100_wheel_put(struct e2100_wheel *w,
			    struct e2100_wheel_node *node)
{
	u64 due = (node->due_ns + (1 << E2100_WHEEL_SHIFT) - 1) >>
		  E2100_WHEEL_SHIFT;
	struct e2100_wheel_node **last;
	unsigned int slot;

	due = clamp(due, w->turn, w->turn + E2100_WHEEL_SLOTS - 1);
	slot = due % E2100_WHEEL_SLOTS;
	last = &w->last[slot];
	if (*last) {
		node->next = (*last)->next;
		(*last)->next = node;
	} else {
		node->next = node;
		__set_bit(slot, w->busy);
		__set_bit(slot / BITS_PER_LONG, w->sum);
	}
	*last = node;
	w->count++;
}

/* Empties a slot; returns its nodes in the order in which they came. */
static struct e2100_wheel_node *e2100_wheel_take(struct e2100_wheel *w,
						 unsigned int slot)
{
	struct e2100_wheel_node *last = w->last[slot], *first = last->next;

	last->next = NULL;
	w->last[slot] = NULL;
	__clear_bit(slot, w->busy);
	if (!w->busy[slot / BITS_PER_LONG])
		__clear_bit(slot / BITS_PER_LONG, w->sum);
	return first;
}

/**
 * e2100_wheel_add - something waits for its time
 * @w:		wheel
 * @node:	@node->due_ns is set
 * @now_ns:	the time; what is due already departs with the next slot
 *
 * Nodes of the same slot depart in the order of their coming.
 */
void e2100_wheel_add(struct e2100_wheel *w, struct e2100_wheel_node *node,
		     u64 now_ns)
{
	if (!w->count)
		w->turn = (now_ns >> E2100_WHEEL_SHIFT) + 1;
	e2100_wheel_put(w, node);
}

/**
 * e2100_wheel_next - when to call e2100_wheel_advance() next
 * @w:		wheel
 *
 * Return: ns, or E2100_WHEEL_IDLE if nothing waits.
 */
u64 e2100_wheel_next(const struct e2100_wheel *w)
{
	if (!w->count)
		return E2100_WHEEL_IDLE;
	return e2100_wheel_first(w) << E2100_WHEEL_SHIFT;
}

/**
 * e2100_wheel_advance - take what departs
 * @w:		wheel
 * @now_ns:	the time, never less than in calls before
 *
 * Return: nodes whose time has come, linked by next in the order of their
 * departure; NULL: none.
 */
struct e2100_wheel_node *e2100_wheel_advance(struct e2100_wheel *w, u64 now_ns)
{
	u64 slot, limit = now_ns >> E2100_WHEEL_SHIFT;
	struct e2100_wheel_node *out = NULL, **tail = &out;

	while (w->count && (slot = e2100_wheel_first(w)) <= limit) {
		struct e2100_wheel_node *node, *next;

		node = e2100_wheel_take(w, slot % E2100_WHEEL_SLOTS);
		w->turn = slot + 1;
		for (; node; node = next) {
			next = node->next;
			w->count--;
			if (node->due_ns > slot << E2100_WHEEL_SHIFT) {
				e2100_wheel_put(w, node);
				continue;
			}
			node->next = NULL;
			*tail = node;
			tail = &node->next;
		}
	}
	return out;
}
