/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SHIM_LINUX_UNALIGNED_H
#define _SHIM_LINUX_UNALIGNED_H

#include <linux/types.h>
#include <asm/byteorder.h>

#define shim_get(type, p) \
	(((const struct { type v; } __packed *)(p))->v)
#define shim_put(type, x, p) \
	(((struct { type v; } __packed *)(p))->v = (x))

#define get_unaligned(p)	shim_get(__typeof__(*(p)), p)
#define put_unaligned(x, p)	shim_put(__typeof__(*(p)), x, p)

static inline u16 get_unaligned_be16(const void *p)
{
	return be16_to_cpu(shim_get(__be16, p));
}

static inline u32 get_unaligned_be32(const void *p)
{
	return be32_to_cpu(shim_get(__be32, p));
}

static inline u64 get_unaligned_be64(const void *p)
{
	return be64_to_cpu(shim_get(__be64, p));
}

static inline void put_unaligned_be16(u16 x, void *p)
{
	shim_put(__be16, cpu_to_be16(x), p);
}

static inline void put_unaligned_be32(u32 x, void *p)
{
	shim_put(__be32, cpu_to_be32(x), p);
}

static inline void put_unaligned_be64(u64 x, void *p)
{
	shim_put(__be64, cpu_to_be64(x), p);
}

#endif
