/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SHIM_LINUX_PRINTK_H
#define _SHIM_LINUX_PRINTK_H

#include <stdio.h>

#define pr_err(fmt, ...)	fprintf(stderr, "# " fmt, ##__VA_ARGS__)
#define pr_warn			pr_err
#define pr_info			pr_err
#define pr_debug(fmt, ...) \
	do { if (0) pr_err(fmt, ##__VA_ARGS__); } while (0)
#define pr_warn_once		pr_warn
#define pr_err_ratelimited	pr_err

#endif
