/* SPDX-License-Identifier: GPL-2.0 */
/* The kernel's comparison in constant time, by OpenSSL: ../../crypto.c */
#ifndef _SHIM_CRYPTO_ALGAPI_H
#define _SHIM_CRYPTO_ALGAPI_H

#include <linux/types.h>

unsigned long crypto_memneq(const void *a, const void *b, size_t size);

#endif
