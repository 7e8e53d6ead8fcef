/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Key derivation of PSP: a pure function of a device key and an SPI; and SPIs,
 * of which none comes twice. Callable from any context.
 */
#ifndef _FALCON_PSP_KDF_H
#define _FALCON_PSP_KDF_H

#include <linux/siphash.h>
#include <linux/types.h>

struct crypto_aes_ctx;

#define FALCON_PSP_DEVKEY_LEN	32		/* AES-256-CMAC */
#define FALCON_PSP_SPI_GEN	0x80000000u	/* which of two device keys */
#define FALCON_PSP_SPIS		FALCON_PSP_SPI_GEN	/* of one device key */

void falcon_psp_derive(const struct crypto_aes_ctx *devkey, u32 spi, u8 version,
		       u8 *key);
u32 falcon_psp_spi(const siphash_key_t *secret, u32 n);

#endif /* _FALCON_PSP_KDF_H */
