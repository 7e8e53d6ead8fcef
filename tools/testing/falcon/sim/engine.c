// SPDX-License-Identifier: GPL-2.0
/*
 * See sim.h. A heap with four children a node, its keys beside the pointers so
 * that sifting touches no event that it does not move.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "sim.h"

#define ARITY	4

struct node {
	u64 at_ps;
	u64 seq;
	struct sim_event *ev;
};

u64 sim_now;
u64 sim_events;

static struct node *heap;
static u32 heap_len, heap_size;
static u64 heap_seq;
static u64 rand_state;

void sim_die(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fprintf(stderr, "sim: ");
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
	va_end(ap);
	exit(1);
}

void *sim_alloc(size_t size)
{
	void *p = calloc(1, size);

	if (!p)
		sim_die("out of memory");
	return p;
}

/* Forgets what was scheduled before. Time begins at 1 s: 0 often means none. */
void sim_start(u64 seed)
{
	sim_now = SIM_S;
	sim_events = 0;
	heap_len = 0;
	heap_seq = 0;
	rand_state = seed;
}

/* splitmix64 */
u64 sim_rand(void)
{
	u64 z = rand_state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

u64 sim_rand_below(u64 n)
{
	return (u64)(((__uint128_t)sim_rand() * n) >> 64);
}

bool sim_chance(u32 ppm)
{
	return ppm && sim_rand_below(1000000) < ppm;
}

static bool before(const struct node *a, const struct node *b)
{
	return a->at_ps != b->at_ps ? a->at_ps < b->at_ps : a->seq < b->seq;
}

static void place(u32 slot, struct node n)
{
	heap[slot] = n;
	n.ev->slot = slot;
}

static void sift_up(u32 slot, struct node n)
{
	while (slot) {
		u32 up = (slot - 1) / ARITY;

		if (!before(&n, &heap[up]))
			break;
		place(slot, heap[up]);
		slot = up;
	}
	place(slot, n);
}

static void sift_down(u32 slot, struct node n)
{
	for (;;) {
		u32 first = slot * ARITY + 1, best, i;

		if (first >= heap_len)
			break;
		best = first;
		for (i = first + 1; i < first + ARITY && i < heap_len; i++)
			if (before(&heap[i], &heap[best]))
				best = i;
		if (!before(&heap[best], &n))
			break;
		place(slot, heap[best]);
		slot = best;
	}
	place(slot, n);
}

static void settle(u32 slot, struct node n)
{
	if (slot && before(&n, &heap[(slot - 1) / ARITY]))
		sift_up(slot, n);
	else
		sift_down(slot, n);
}

static void take_out(u32 slot)
{
	struct node last = heap[--heap_len];

	heap[slot].ev->at_ps = SIM_NEVER;
	if (slot < heap_len)
		settle(slot, last);
}

void sim_event_init(struct sim_event *ev, void (*fn)(struct sim_event *ev))
{
	ev->at_ps = SIM_NEVER;
	ev->fn = fn;
}

void sim_cancel(struct sim_event *ev)
{
	if (ev->at_ps != SIM_NEVER)
		take_out(ev->slot);
}

/* Schedules, or moves what is scheduled. The past is now. */
void sim_at(struct sim_event *ev, u64 at_ps)
{
	struct node n = { max(at_ps, sim_now), heap_seq++, ev };

	if (at_ps == SIM_NEVER) {
		sim_cancel(ev);
		return;
	}
	if (ev->at_ps != SIM_NEVER) {
		ev->at_ps = n.at_ps;
		settle(ev->slot, n);
		return;
	}
	if (heap_len == heap_size) {
		heap_size = heap_size ? heap_size * 2 : 1024;
		heap = realloc(heap, heap_size * sizeof(*heap));
		if (!heap)
			sim_die("out of memory");
	}
	ev->at_ps = n.at_ps;
	sift_up(heap_len++, n);
}

/* The next event, unless it is after @until_ps. */
bool sim_step(u64 until_ps)
{
	struct sim_event *ev;

	if (!heap_len || heap[0].at_ps > until_ps)
		return false;
	ev = heap[0].ev;
	sim_now = heap[0].at_ps;
	sim_events++;
	take_out(0);
	ev->fn(ev);
	return true;
}

void sim_run(u64 until_ps)
{
	while (sim_step(until_ps))
		;
	sim_now = max(sim_now, until_ps);
}
