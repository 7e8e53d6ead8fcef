// SPDX-License-Identifier: GPL-2.0
/*
 * How fast is the protocol? Two connections in one thread hand each other
 * packets without a network between them. Everything of core is in it, at both
 * ends: submission, scheduling, header build and parse, windows, delivery,
 * acknowledgement, congestion control, completion.
 *
 * usage: bench_core [SECONDS]: transactions a second, for pushes and pulls of
 * 4 KiB, with so many outstanding; the work of both ends is on one CPU. Then
 * packets, ACKs among them, a transaction, and cycles for each. Last, turns of
 * connections that wait for a link, whatever their number.
 */
#include <stdlib.h>
#include <linux/kernel.h>
#include "bench.h"
#include "loop.h"
#include "net/falcon/core/arbiter.h"

static void take_turns(u32 n, double seconds)
{
	static struct falcon_turn turn[65536];
	u64 start = bench_ns(), end, served = 0;
	struct falcon_arbiter arb;
	char name[33];
	u32 i;

	falcon_arbiter_init(&arb, 4096);
	for (i = 0; i < n; i++) {
		falcon_turn_init(&turn[i], 1 + i % 16);
		falcon_turn_wait(&arb, &turn[i]);
	}
	do {
		for (i = 0; i < 1000; i++) {
			struct falcon_turn *t = falcon_turn_next(&arb);

			falcon_turn_used(t, 4096 * t->weight + 1);
			falcon_turn_wait(&arb, t);
		}
		served += 1000;
		end = bench_ns();
	} while (end < start + seconds * 1e9);
	snprintf(name, sizeof(name), "turns among %u connections", n);
	bench_report(name, served, end - start);
}

static void run(const char *what, bool pull, u32 window, double seconds)
{
	u64 start, end, limit;
	char name[33];

	loop_setup(window);
	start = bench_ns();
	limit = start + seconds * 1e9;
	do {
		u32 i;

		for (i = 0; i < 1000; i++)
			loop_round_trip(pull);
		end = bench_ns();
	} while (end < limit);
	snprintf(name, sizeof(name), "%s, both ends, window %u", what, window);
	bench_report(name, loop_completed, end - start);
	printf("%-32s %10.2f packets each %6.0f cycles a packet\n", "",
	       (double)loop_packets / loop_completed,
	       (end - start) * bench_ghz() / loop_packets);
}

int main(int argc, char **argv)
{
	static const u32 windows[] = { 1, 8, 32, 128 };
	double seconds = argc > 1 ? atof(argv[1]) : 0.5;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(windows); i++) {
		run("push", false, windows[i], seconds);
		run("pull", true, windows[i], seconds);
	}
	take_turns(16, seconds);
	take_turns(1024, seconds);
	return 0;
}
