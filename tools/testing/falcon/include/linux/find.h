/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SHIM_LINUX_FIND_H
#define _SHIM_LINUX_FIND_H

#include <linux/bitops.h>

#endif
