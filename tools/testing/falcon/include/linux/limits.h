/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SHIM_LINUX_LIMITS_H
#define _SHIM_LINUX_LIMITS_H

#include_next <linux/limits.h>

#define U8_MAX		((__u8)~0U)
#define S8_MAX		((__s8)(U8_MAX >> 1))
#define U16_MAX		((__u16)~0U)
#define S16_MAX		((__s16)(U16_MAX >> 1))
#define U32_MAX		((__u32)~0U)
#define S32_MAX		((__s32)(U32_MAX >> 1))
#define S32_MIN		((__s32)(-S32_MAX - 1))
#define U64_MAX		((__u64)~0ULL)
#define S64_MAX		((__s64)(U64_MAX >> 1))
#define S64_MIN		((__s64)(-S64_MAX - 1))

#endif
