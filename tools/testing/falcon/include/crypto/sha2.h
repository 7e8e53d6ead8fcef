/* SPDX-License-Identifier: GPL-2.0 */
/* The kernel's SHA-256, by OpenSSL: ../../crypto.c */
#ifndef _SHIM_CRYPTO_SHA2_H
#define _SHIM_CRYPTO_SHA2_H

#include <linux/types.h>

#define SHA256_DIGEST_SIZE	32
#define SHA256_BLOCK_SIZE	64

struct sha256_state {
	u8 ctx[128] __aligned(8);	/* OpenSSL's SHA256_CTX */
};

void sha256_init(struct sha256_state *s);
void sha256_update(struct sha256_state *s, const u8 *data, unsigned int len);
void sha256_final(struct sha256_state *s, u8 *out);

#endif
