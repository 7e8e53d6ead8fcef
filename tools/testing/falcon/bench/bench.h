/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What benchmarks of core share: CPU time, and one way to report.
 */
#ifndef _FALCON_BENCH_H
#define _FALCON_BENCH_H

#include <stdio.h>
#include <time.h>
#include <linux/types.h>

/* CPU time of the thread, so that a busy machine disturbs less. */
static inline u64 bench_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

static inline void bench_report(const char *name, u64 n, u64 ns)
{
	printf("%-32s %10.3f M/s %10.2f ns\n", name, n * 1e3 / ns,
	       (double)ns / n);
}

#endif
