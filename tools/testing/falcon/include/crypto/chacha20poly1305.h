/* SPDX-License-Identifier: GPL-2.0 */
/* The kernel's ChaCha20-Poly1305, by OpenSSL: ../../crypto.c */
#ifndef _SHIM_CRYPTO_CHACHA20POLY1305_H
#define _SHIM_CRYPTO_CHACHA20POLY1305_H

#include <linux/types.h>

#define CHACHA20POLY1305_KEY_SIZE	32
#define CHACHA20POLY1305_AUTHTAG_SIZE	16

void chacha20poly1305_encrypt(u8 *dst, const u8 *src, const size_t src_len,
			      const u8 *ad, const size_t ad_len,
			      const u64 nonce,
			      const u8 key[CHACHA20POLY1305_KEY_SIZE]);
bool chacha20poly1305_decrypt(u8 *dst, const u8 *src, const size_t src_len,
			      const u8 *ad, const size_t ad_len,
			      const u64 nonce,
			      const u8 key[CHACHA20POLY1305_KEY_SIZE]);

#endif
