/* SPDX-License-Identifier: GPL-2.0 */
/* The C library reads this file too: nothing but numbers here. */
#ifndef _SHIM_LINUX_ERRNO_H
#define _SHIM_LINUX_ERRNO_H

#include <asm/errno.h>

#define ENOTSUPP	524

#endif
