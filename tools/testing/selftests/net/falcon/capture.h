/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What leaves an interface, for programs that forge packets of a connection
 * which they have seen.
 */
#ifndef FALCON_TEST_CAPTURE_H
#define FALCON_TEST_CAPTURE_H

#include <sys/types.h>

/* A socket that sees what leaves @iface; the program ends if there is none. */
int capture_open(const char *iface);

/*
 * The next packet, from its IP header on, into @buf. Returns its length, 0 if
 * there is none for @ms milliseconds.
 */
ssize_t capture_next(int fd, void *buf, size_t size, int ms);

#endif
