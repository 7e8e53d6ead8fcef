/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The discrete-event engine: simulated time, events in order of time and, at
 * equal times, in the order they were scheduled; pseudo-random numbers from
 * one seed. Nothing reads a clock, so a run is a function of its seed.
 *
 * One simulation a process (sim.c forks one for each cell of an experiment):
 * the engine is global.
 */
#ifndef _FALCON_SIM_H
#define _FALCON_SIM_H

#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/types.h>

#define SIM_NS		1000ULL		/* picoseconds */
#define SIM_US		(1000 * SIM_NS)
#define SIM_MS		(1000 * SIM_US)
#define SIM_S		(1000 * SIM_MS)
#define SIM_NEVER	(~0ULL)

/**
 * struct sim_event - something that happens at a time
 * @at_ps:	when; SIM_NEVER: not scheduled
 * @slot:	place in the heap, meaningful while scheduled
 * @fn:		what; it may schedule the event again
 *
 * Embedded in what it is about.
 */
struct sim_event {
	u64 at_ps;
	u32 slot;
	void (*fn)(struct sim_event *ev);
};

/* Simulated time, picoseconds. */
extern u64 sim_now;

/* Events carried out so far. */
extern u64 sim_events;

void sim_start(u64 seed);
void sim_event_init(struct sim_event *ev, void (*fn)(struct sim_event *ev));
void sim_at(struct sim_event *ev, u64 at_ps);
void sim_cancel(struct sim_event *ev);
bool sim_step(u64 until_ps);
void sim_run(u64 until_ps);

u64 sim_rand(void);
u64 sim_rand_below(u64 n);
bool sim_chance(u32 ppm);

void *sim_alloc(size_t size);
void __noreturn sim_die(const char *fmt, ...) __printf(1, 2);

/* Picoseconds that @bytes take at @mbps megabits a second. */
static inline u64 sim_wire_ps(u64 bytes, u64 mbps)
{
	return bytes * 8000000 / mbps;
}

static inline u64 sim_now_ns(void)
{
	return sim_now / SIM_NS;
}

#endif
