/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SHIM_ASM_UNALIGNED_H
#define _SHIM_ASM_UNALIGNED_H

#include <linux/unaligned.h>

#endif
