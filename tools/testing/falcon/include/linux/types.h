/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Kernel types for net/falcon/core in user space.
 *
 * The headers in this directory give the core files, compiled unchanged into
 * unit tests, fuzzers, the simulator and benchmarks, what they include from
 * the kernel: only what core uses, and thin. __KERNEL__ is not defined, so
 * the public headers show what is common to both worlds.
 */
#ifndef _SHIM_LINUX_TYPES_H
#define _SHIM_LINUX_TYPES_H

#include_next <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <linux/compiler.h>

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s8 s8;
typedef __s16 s16;
typedef __s32 s32;
typedef __s64 s64;

typedef unsigned int gfp_t;

struct list_head {
	struct list_head *next, *prev;
};

struct hlist_node {
	struct hlist_node *next, **pprev;
};

struct hlist_head {
	struct hlist_node *first;
};

typedef struct {
	int counter;
} atomic_t;

typedef struct {
	s64 counter;
} atomic64_t;

#endif
