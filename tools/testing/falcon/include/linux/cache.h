/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SHIM_LINUX_CACHE_H
#define _SHIM_LINUX_CACHE_H

#define SMP_CACHE_BYTES			64
#define ____cacheline_aligned		__attribute__((__aligned__(64)))
#define ____cacheline_aligned_in_smp	____cacheline_aligned

#endif
