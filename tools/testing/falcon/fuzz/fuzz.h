/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What fuzzers of core share: a property that does not hold ends the program,
 * and libFuzzer keeps the input.
 */
#ifndef _FALCON_FUZZ_H
#define _FALCON_FUZZ_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/types.h>

#define HOLDS(c) do {							\
	if (!(c)) {							\
		fprintf(stderr, "%s:%d: does not hold: %s\n",		\
			__FILE__, __LINE__, #c);			\
		abort();						\
	}								\
} while (0)

int fuzz_one_input(const u8 *data, size_t len);

#endif
