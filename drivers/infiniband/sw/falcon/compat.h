/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Differences of the verbs core between the kernels that the driver builds on,
 * 6.1 to 6.12, and nothing else.
 */
#ifndef _FALCON_IB_COMPAT_H
#define _FALCON_IB_COMPAT_H

#include <linux/mm.h>
#include <linux/version.h>
#include <rdma/uverbs_ioctl.h>

/* 6.11: create_cq gets all attributes. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 11, 0)
#define fal_cq_udata			struct uverbs_attr_bundle
#define fal_cq_get_udata(attrs)		((attrs) ? &(attrs)->driver_udata : NULL)
#else
#define fal_cq_udata			struct ib_udata
#define fal_cq_get_udata(udata)		(udata)
#endif

/* 6.3: flags of a mapping are set by a function. */
static inline void fal_vm_flags_set(struct vm_area_struct *vma,
				    unsigned long flags)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0)
	vm_flags_set(vma, flags);
#else
	vma->vm_flags |= flags;
#endif
}

#endif /* _FALCON_IB_COMPAT_H */
