/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Differences between the kernels that e2100sim builds on, 6.1 to 6.12, and
 * nothing else: each has the form of the newer kernel where that is possible.
 */
#ifndef _E2100_COMPAT_H
#define _E2100_COMPAT_H

#include <linux/ethtool.h>
#include <linux/netdevice.h>
#include <linux/version.h>
#include <net/devlink.h>

/* 6.6: segmentation has a header of its own. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 6, 0)
#include <net/gso.h>
#endif

/* 6.4: files of a bus see it constant. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 4, 0)
#define e2100_bus_type	const struct bus_type
#else
#define e2100_bus_type	struct bus_type
#endif

/* 6.11: the kernel has its own form of struct ethtool_ts_info. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 11, 0)
#define e2100_ts_info	struct kernel_ethtool_ts_info
#else
#define e2100_ts_info	struct ethtool_ts_info
#endif

/* 6.10: setting a parameter may explain itself. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 10, 0)
#define E2100_PARAM_SET(fn)						\
static int fn##_op(struct devlink *devlink, u32 id,			\
		   struct devlink_param_gset_ctx *ctx,			\
		   struct netlink_ext_ack *extack)			\
{									\
	return fn(devlink, id, ctx);					\
}									\
struct e2100_swallow_semicolon
#else
#define E2100_PARAM_SET(fn)						\
static int fn##_op(struct devlink *devlink, u32 id,			\
		   struct devlink_param_gset_ctx *ctx)			\
{									\
	return fn(devlink, id, ctx);					\
}									\
struct e2100_swallow_semicolon
#endif

/* 6.4: a devlink instance whose ops reload can be reloaded. */
static inline void e2100_devlink_reloads(struct devlink *devlink)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 4, 0)
	devlink_set_features(devlink, DEVLINK_F_RELOAD);
#endif
}

/* 6.12: transmitting without a lock of the stack is no feature any more. */
static inline void e2100_set_lltx(struct net_device *netdev)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0)
	netdev->lltx = true;
#else
	netdev->features |= NETIF_F_LLTX;
#endif
}

#endif /* _E2100_COMPAT_H */
