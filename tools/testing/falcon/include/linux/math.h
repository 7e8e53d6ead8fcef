/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SHIM_LINUX_MATH_H
#define _SHIM_LINUX_MATH_H

#include <stdlib.h>	/* its abs() first */
#include <linux/types.h>

#define DIV_ROUND_UP(n, d)	(((n) + (d) - 1) / (d))
#define DIV_ROUND_UP_ULL(n, d)	DIV_ROUND_UP((unsigned long long)(n), d)
#define DIV_ROUND_CLOSEST(n, d) (((n) + (d) / 2) / (d))	/* unsigned only */
#define round_up(x, y)		((((x) - 1) | ((__typeof__(x))(y) - 1)) + 1)
#define round_down(x, y)	((x) & ~((__typeof__(x))(y) - 1))
#define roundup(x, y)		(DIV_ROUND_UP(x, y) * (y))
#define rounddown(x, y)		((x) - (x) % (y))
#define abs(x) ({					\
	__typeof__(x) _a = (x);				\
	_a < 0 ? -_a : _a; })

/* Bit by bit from the top: the largest r with r * r <= x. */
static inline u32 int_sqrt64(u64 x)
{
	u64 r = 0;
	int bit;

	for (bit = 31; bit >= 0; bit--) {
		u64 t = r | 1ULL << bit;

		if (t * t <= x)
			r = t;
	}
	return (u32)r;
}

static inline unsigned long int_sqrt(unsigned long x)
{
	return int_sqrt64(x);
}

#endif
