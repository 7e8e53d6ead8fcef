/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SHIM_LINUX_MODULE_H
#define _SHIM_LINUX_MODULE_H

#include <linux/export.h>
#include <linux/kernel.h>

#define __init
#define __exit

/* A module that is linked with a program is loaded when that begins. */
#define module_init(fn)							\
	static void __attribute__((constructor)) shim_module_load(void)	\
	{								\
		fn();							\
	}
#define module_exit(fn)							\
	static void __attribute__((destructor)) shim_module_unload(void) \
	{								\
		fn();							\
	}

#define THIS_MODULE			((struct module *)0)
#define MODULE_LICENSE(s)		_Static_assert(1, s)
#define MODULE_AUTHOR(s)		_Static_assert(1, s)
#define MODULE_DESCRIPTION(s)		_Static_assert(1, s)
#define module_param(name, type, perm)	_Static_assert(1, #name)
#define MODULE_PARM_DESC(name, s)	_Static_assert(1, s)

#endif
