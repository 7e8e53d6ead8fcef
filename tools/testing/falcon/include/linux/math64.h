/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SHIM_LINUX_MATH64_H
#define _SHIM_LINUX_MATH64_H

#include <linux/math.h>
#include <linux/types.h>

static inline u64 div_u64_rem(u64 n, u32 d, u32 *rem)
{
	*rem = n % d;
	return n / d;
}

static inline u64 div_u64(u64 n, u32 d)
{
	return n / d;
}

static inline s64 div_s64(s64 n, s32 d)
{
	return n / d;
}

static inline u64 div64_u64(u64 n, u64 d)
{
	return n / d;
}

static inline s64 div64_s64(s64 n, s64 d)
{
	return n / d;
}

static inline u64 mul_u32_u32(u32 a, u32 b)
{
	return (u64)a * b;
}

static inline u64 mul_u64_u32_shr(u64 a, u32 b, unsigned int shift)
{
	return (u64)(((unsigned __int128)a * b) >> shift);
}

static inline u64 mul_u64_u32_div(u64 a, u32 b, u32 d)
{
	return (u64)((unsigned __int128)a * b / d);
}

static inline u64 mul_u64_u64_div_u64(u64 a, u64 b, u64 d)
{
	return (u64)((unsigned __int128)a * b / d);
}

#define DIV64_U64_ROUND_UP(n, d)	div64_u64((n) + (d) - 1, d)
#define DIV64_U64_ROUND_CLOSEST(n, d)	div64_u64((n) + (d) / 2, d)

#endif
