/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SHIM_LINUX_MINMAX_H
#define _SHIM_LINUX_MINMAX_H

/* As in the kernel, mixed types are refused: say which with min_t(). */
#define shim_cmp(x, y, op) ({				\
	__typeof__(x) _x = (x);				\
	__typeof__(y) _y = (y);				\
	(void)(&_x == &_y);				\
	_x op _y ? _x : _y; })

#define min(x, y)		shim_cmp(x, y, <)
#define max(x, y)		shim_cmp(x, y, >)
#define min_t(type, x, y)	min((type)(x), (type)(y))
#define max_t(type, x, y)	max((type)(x), (type)(y))
#define min3(x, y, z)		min((__typeof__(x))min(x, y), z)
#define max3(x, y, z)		max((__typeof__(x))max(x, y), z)
#define clamp(v, lo, hi)	min((__typeof__(v))max(v, lo), hi)
#define clamp_t(type, v, lo, hi) clamp((type)(v), (type)(lo), (type)(hi))
#define clamp_val(v, lo, hi)	clamp_t(__typeof__(v), v, lo, hi)

#define swap(a, b) do {					\
	__typeof__(a) _t = (a);				\
	(a) = (b);					\
	(b) = _t;					\
} while (0)

#endif
