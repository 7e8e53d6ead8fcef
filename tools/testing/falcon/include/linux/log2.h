/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SHIM_LINUX_LOG2_H
#define _SHIM_LINUX_LOG2_H

#include <linux/bitops.h>

#define ilog2(n)		(fls64(n) - 1)
#define is_power_of_2(n)	((n) != 0 && !((n) & ((n) - 1)))
#define roundup_pow_of_two(n)	((n) == 1 ? 1UL : 1UL << fls64((n) - 1UL))
#define rounddown_pow_of_two(n)	(1UL << ilog2(n))

#endif
