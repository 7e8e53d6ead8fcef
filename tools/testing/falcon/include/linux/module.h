/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SHIM_LINUX_MODULE_H
#define _SHIM_LINUX_MODULE_H

#include <linux/export.h>
#include <linux/kernel.h>

#define THIS_MODULE			((struct module *)0)
#define MODULE_LICENSE(s)		_Static_assert(1, s)
#define MODULE_AUTHOR(s)		_Static_assert(1, s)
#define MODULE_DESCRIPTION(s)		_Static_assert(1, s)
#define module_param(name, type, perm)	_Static_assert(1, #name)
#define MODULE_PARM_DESC(name, s)	_Static_assert(1, s)

#endif
