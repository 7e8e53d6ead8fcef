/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SHIM_LINUX_STRING_H
#define _SHIM_LINUX_STRING_H

#include <string.h>
#include <linux/types.h>

#define memzero_explicit(p, n)	explicit_bzero(p, n)

static inline void *memchr_inv(const void *p, int c, size_t n)
{
	const unsigned char *b = p;

	for (; n; b++, n--)
		if (*b != (unsigned char)c)
			return (void *)b;
	return NULL;
}

#endif
