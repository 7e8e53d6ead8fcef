/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Differences between the kernels that Falcon builds on, 6.1 to 6.12, and
 * nothing else: each has the form of the newer kernel where that is possible.
 */
#ifndef _FALCON_COMPAT_H
#define _FALCON_COMPAT_H

#include <linux/sysctl.h>
#include <linux/version.h>
#include <net/genetlink.h>

/* 6.11: proc handlers take a constant table. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 11, 0)
typedef const struct ctl_table falcon_ctl_table;
#else
typedef struct ctl_table falcon_ctl_table;
#endif

/* 6.6: the number of entries is told, an empty one no longer ends a table. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 6, 0)
#define falcon_register_sysctl(net, path, table, n) \
	register_net_sysctl_sz(net, path, table, n)
#else
#define falcon_register_sysctl(net, path, table, n) \
	register_net_sysctl(net, path, table)
#endif

/* 6.7: a dump's request is a genl_info. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 7, 0)
#define falcon_dump_attrs(cb)	(genl_info_dump(cb)->attrs)
#else
#define falcon_dump_attrs(cb)	(genl_dumpit_info(cb)->attrs)
#endif

#endif /* _FALCON_COMPAT_H */
