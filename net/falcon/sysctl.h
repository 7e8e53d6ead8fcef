/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The settings of a namespace as a table: one row a field of struct
 * falcon_sysctls that is a number, with its default and its bounds. sysctl.c
 * makes /proc/sys/net/falcon of it and netlink.c reports it, so that a bound
 * is written down once.
 */
#ifndef _FALCON_SYSCTL_H
#define _FALCON_SYSCTL_H

#include <linux/sysctl.h>
#include "falcon.h"

/**
 * struct falcon_param - a setting: one file under /proc/sys/net/falcon
 * @name:	field of struct falcon_sysctls and name of the file
 * @help:	what it does, with its unit
 * @offset:	of the field in struct falcon_sysctls
 * @def:	default
 * @min:	smallest value allowed
 * @max:	largest value allowed
 * @handler:	of the file, where a new value has to be told to somebody
 * @bound:	of the machine's memory: other user namespaces only read it
 */
struct falcon_param {
	const char *name;
	const char *help;
	size_t offset;
	int def;
	int min;
	int max;
	proc_handler *handler;
	bool bound;
};

extern const struct falcon_param falcon_params[];
extern const unsigned int falcon_nr_params;

static inline int falcon_param_get(const struct falcon_sysctls *s,
				   const struct falcon_param *p)
{
	return READ_ONCE(*(const int *)((const char *)s + p->offset));
}

#endif /* _FALCON_SYSCTL_H */
