/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SHIM_LINUX_BITFIELD_H
#define _SHIM_LINUX_BITFIELD_H

#include <linux/bits.h>

#define shim_bf_shift(mask)	__builtin_ctzll(mask)

#define FIELD_MAX(mask) \
	((__typeof__(mask))((mask) >> shim_bf_shift(mask)))
#define FIELD_FIT(mask, val) \
	(!((((unsigned long long)(val)) << shim_bf_shift(mask)) & ~(mask)))
#define FIELD_PREP(mask, val) \
	((((__typeof__(mask))(val)) << shim_bf_shift(mask)) & (mask))
#define FIELD_GET(mask, reg) \
	((__typeof__(mask))(((reg) & (mask)) >> shim_bf_shift(mask)))

#endif
