/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SHIM_LINUX_KTIME_H
#define _SHIM_LINUX_KTIME_H

#include <linux/time64.h>
#include <linux/types.h>

typedef s64 ktime_t;

#define KTIME_MAX	((s64)~((u64)1 << 63))

#endif
