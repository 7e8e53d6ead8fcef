// SPDX-License-Identifier: GPL-2.0
/*
 * How much of a connection's state does the fast path touch? core is built with
 * a call for each load and store (the instrumentation of a thread sanitizer,
 * with functions of our own behind it), pushes run, and the cache lines of
 * struct falcon_core that any of them has used are counted, at each end.
 *
 * A line is of 64 bytes. The rings of bitmaps count whole, as PSNs walk through
 * them. Fails if an end uses more than a kilobyte of them. LINES_TOUCHED=1 prints
 * their offsets.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include "loop.h"

#define LINE		64
#define NR_LINES	DIV_ROUND_UP(sizeof(struct falcon_core), LINE)
#define HOT_BYTES	1024

static bool touched[2][NR_LINES];

static void touch(const void *p, unsigned long len)
{
	u32 i;

	for (i = 0; i < 2; i++) {
		const char *base = (const char *)&loop_ends[i].c;
		unsigned long off = (const char *)p - base;

		if ((const char *)p < base || off >= sizeof(struct falcon_core))
			continue;
		memset(&touched[i][off / LINE], true,
		       (off + len - 1) / LINE - off / LINE + 1);
	}
}

/* What gcc and clang call, by the name of the sanitizer's run-time library */
#define TOUCH(name, len)			\
	void __tsan_##name(void *p);		\
	void __tsan_##name(void *p)		\
	{					\
		touch(p, len);			\
	}

TOUCH(read1, 1)
TOUCH(read2, 2)
TOUCH(read4, 4)
TOUCH(read8, 8)
TOUCH(read16, 16)
TOUCH(write1, 1)
TOUCH(write2, 2)
TOUCH(write4, 4)
TOUCH(write8, 8)
TOUCH(write16, 16)
TOUCH(unaligned_read2, 2)
TOUCH(unaligned_read4, 4)
TOUCH(unaligned_read8, 8)
TOUCH(unaligned_read16, 16)
TOUCH(unaligned_write2, 2)
TOUCH(unaligned_write4, 4)
TOUCH(unaligned_write8, 8)
TOUCH(unaligned_write16, 16)

#define TOUCH_RANGE(name)				\
	void __tsan_##name(void *p, unsigned long len);	\
	void __tsan_##name(void *p, unsigned long len)	\
	{						\
		if (len)				\
			touch(p, len);			\
	}

TOUCH_RANGE(read_range)
TOUCH_RANGE(write_range)

#define NOTHING(name, ...)		\
	void __tsan_##name(__VA_ARGS__);	\
	void __tsan_##name(__VA_ARGS__)	\
	{				\
	}

NOTHING(init, void)
NOTHING(func_entry, void *p)
NOTHING(func_exit, void *p)

/* Operations on pools' counters, which are not in a connection's state */
#define ATOMIC(name, expr)					\
	u32 __tsan_atomic32_##name(u32 *p, u32 v, int order);	\
	u32 __tsan_atomic32_##name(u32 *p, u32 v, int order)	\
	{							\
		u32 old = *p;					\
								\
		*p = expr;					\
		return old;					\
	}

ATOMIC(fetch_add, old + v)
ATOMIC(fetch_sub, old - v)
ATOMIC(store, v)

u32 __tsan_atomic32_load(const u32 *p, int order);
u32 __tsan_atomic32_load(const u32 *p, int order)
{
	return *p;
}

static u32 report(u32 end, const char *what)
{
	u32 i, n = 0;

	for (i = 0; i < NR_LINES; i++)
		n += touched[end][i];
	printf("%-32s %10u cache lines, %u bytes, of %zu\n", what, n, n * LINE,
	       sizeof(struct falcon_core));
	if (getenv("LINES_TOUCHED")) {
		for (i = 0; i < NR_LINES; i++)
			if (touched[end][i])
				printf(" %u", i * LINE);
		printf("\n");
	}
	return n * LINE;
}

int main(void)
{
	u32 i, initiator, target;

	loop_setup(32);
	for (i = 0; i < 1000; i++)
		loop_round_trip(false);
	memset(touched, 0, sizeof(touched));
	for (i = 0; i < 1000; i++)
		loop_round_trip(false);
	initiator = report(0, "push, hot state of the initiator");
	target = report(1, "push, hot state of the target");
	return initiator > HOT_BYTES || target > HOT_BYTES;
}
