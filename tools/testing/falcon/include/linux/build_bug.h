/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SHIM_LINUX_BUILD_BUG_H
#define _SHIM_LINUX_BUILD_BUG_H

#include <assert.h>

#define BUILD_BUG_ON(cond)		_Static_assert(!(cond), #cond)
#define BUILD_BUG_ON_MSG(cond, msg)	_Static_assert(!(cond), msg)

#endif
