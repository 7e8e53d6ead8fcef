/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SHIM_LINUX_BUG_H
#define _SHIM_LINUX_BUG_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <linux/build_bug.h>
#include <linux/compiler.h>

/*
 * Times that a WARN fired, in the whole program: a harness that sees it grow
 * fails the test that was running. With SHIM_WARN_ABORT (fuzzers) the first
 * one ends the program.
 */
extern unsigned int shim_warnings;
unsigned int __weak shim_warnings;

static inline bool shim_warn(bool cond, const char *what, const char *file,
			     int line)
{
	if (likely(!cond))
		return false;
	shim_warnings++;
	fprintf(stderr, "# WARN at %s:%d: %s\n", file, line, what);
#ifdef SHIM_WARN_ABORT
	abort();
#endif
	return true;
}

#define WARN_ON(c)	shim_warn(!!(c), #c, __FILE__, __LINE__)
#define WARN_ON_ONCE(c)	WARN_ON(c)
#define WARN(c, ...)	WARN_ON(c)
#define WARN_ONCE(c, ...) WARN_ON(c)

#define BUG() do {						\
	fprintf(stderr, "# BUG at %s:%d\n", __FILE__, __LINE__);	\
	abort();						\
} while (0)
#define BUG_ON(c)	do { if (unlikely(c)) BUG(); } while (0)

#endif
