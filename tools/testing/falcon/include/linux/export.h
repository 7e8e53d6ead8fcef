/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SHIM_LINUX_EXPORT_H
#define _SHIM_LINUX_EXPORT_H

#define EXPORT_SYMBOL(s)		_Static_assert(1, #s)
#define EXPORT_SYMBOL_GPL(s)		_Static_assert(1, #s)
#define EXPORT_SYMBOL_NS_GPL(s, ns)	_Static_assert(1, #s)

#endif
