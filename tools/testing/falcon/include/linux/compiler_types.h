/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SHIM_LINUX_COMPILER_TYPES_H
#define _SHIM_LINUX_COMPILER_TYPES_H

#include <linux/compiler.h>

#endif
