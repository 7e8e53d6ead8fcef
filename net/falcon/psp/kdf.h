/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Key derivation of PSP: a pure function of a device key and an SPI, callable
 * from any context.
 */
#ifndef _FALCON_PSP_KDF_H
#define _FALCON_PSP_KDF_H

#include <linux/types.h>

struct crypto_aes_ctx;

#define FALCON_PSP_DEVKEY_LEN	32		/* AES-256-CMAC */
#define FALCON_PSP_SPI_GEN	0x80000000u	/* which of two device keys */

void falcon_psp_derive(const struct crypto_aes_ctx *devkey, u32 spi, u8 version,
		       u8 *key);

#endif /* _FALCON_PSP_KDF_H */
