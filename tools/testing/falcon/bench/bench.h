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

/*
 * Cycles of the time-stamp counter a nanosecond: a CPU's nominal clock. Without
 * such a counter, nanoseconds are what there is.
 */
static inline double bench_ghz(void)
{
#ifdef __x86_64__
	static double ghz;
	struct timespec a, b;
	u64 tsc;

	if (ghz)
		return ghz;
	clock_gettime(CLOCK_MONOTONIC, &a);
	tsc = __builtin_ia32_rdtsc();
	do {
		clock_gettime(CLOCK_MONOTONIC, &b);
	} while (b.tv_sec * 1e9 + b.tv_nsec < a.tv_sec * 1e9 + a.tv_nsec + 5e7);
	tsc = __builtin_ia32_rdtsc() - tsc;
	ghz = tsc / ((b.tv_sec - a.tv_sec) * 1e9 + b.tv_nsec - a.tv_nsec);
	return ghz;
#else
	return 1;
#endif
}

static inline void bench_report(const char *name, u64 n, u64 ns)
{
	printf("%-32s %10.3f M/s %10.2f ns %6.0f cycles\n", name,
	       n * 1e3 / ns, (double)ns / n, ns * bench_ghz() / n);
}

#endif
