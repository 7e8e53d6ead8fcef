// SPDX-License-Identifier: GPL-2.0
/*
 * The key of an SPI: AES-256-CMAC under a device key, in counter mode, as the
 * PSP Architecture Specification has it. Who knows the device key needs no
 * table of associations: each packet names its key by its SPI. And which SPI is
 * next.
 *
 * CMAC of one whole block is two encryptions, so this asks the AES library,
 * not the crypto API: it may run in any context. psp/key.c calls in, once an
 * association.
 */
#include <crypto/aes.h>
#include <linux/export.h>
#include <linux/siphash.h>
#include <linux/string.h>
#include <asm/byteorder.h>
#include "core/wire.h"
#include "psp/kdf.h"

/*
 * A block of AES. What is authenticated has in it a counter, "Pv" and the
 * version, the SPI, and the bits of the key.
 */
union psp_block {
	struct {
		__be32 i;
		u8 label[4];
		__be32 spi;
		__be32 bits;
	};
	__be64 w[2];
	u8 b[AES_BLOCK_SIZE];
};

/* The first subkey of CMAC: the block that whole messages are mixed with */
static void psp_cmac_subkey(const struct crypto_aes_ctx *ctx,
			    union psp_block *k)
{
	u64 hi, lo;

	memset(k, 0, sizeof(*k));
	aes_encrypt(ctx, k->b, k->b);
	hi = be64_to_cpu(k->w[0]);
	lo = be64_to_cpu(k->w[1]);
	k->w[0] = cpu_to_be64(hi << 1 | lo >> 63);
	k->w[1] = cpu_to_be64(lo << 1 ^ (hi >> 63) * 0x87);
}

/**
 * falcon_psp_derive() - the key of an SPI
 * @devkey:	device key, the one that the top bit of @spi names
 * @spi:	SPI
 * @version:	one that has a key
 * @key:	falcon_psp_key_len(@version) bytes, written
 *
 * Context: Any.
 */
void falcon_psp_derive(const struct crypto_aes_ctx *devkey, u32 spi, u8 version,
		       u8 *key)
{
	unsigned int i, nr = falcon_psp_key_len(version) / AES_BLOCK_SIZE;
	union psp_block subkey, block;

	psp_cmac_subkey(devkey, &subkey);
	for (i = 0; i < nr; i++) {
		block.i = cpu_to_be32(i + 1);
		block.label[0] = 'P';
		block.label[1] = 'v';
		block.label[2] = '0' + version;
		block.label[3] = 0;
		block.spi = cpu_to_be32(spi);
		block.bits = cpu_to_be32(8 * falcon_psp_key_len(version));
		block.w[0] ^= subkey.w[0];
		block.w[1] ^= subkey.w[1];
		aes_encrypt(devkey, key + i * AES_BLOCK_SIZE, block.b);
	}
	memzero_explicit(&subkey, sizeof(subkey));
	memzero_explicit(&block, sizeof(block));
}
EXPORT_SYMBOL_NS_GPL(falcon_psp_derive, FALCON_TEST);

#define PSP_SPI_ROUNDS	4

/**
 * falcon_psp_spi() - the SPI that is the @n-th of a device key
 * @secret:	random, of the device key
 * @n:		less than FALCON_PSP_SPIS
 *
 * SPIs look random, but two numbers never have the same one: a Feistel network
 * of 31 bits, whose halves of 16 and 15 bits take turns.
 *
 * Context: Any.
 * Return: less than FALCON_PSP_SPIS; for one @n it is 0, which is no SPI.
 */
u32 falcon_psp_spi(const siphash_key_t *secret, u32 n)
{
	u32 a = n >> 15, b = n & 0x7fff, mask = 0xffff, mixed;
	int round;

	for (round = 0; round < PSP_SPI_ROUNDS; round++) {
		mixed = a ^ (siphash_2u32(b, round, secret) & mask);
		a = b;
		b = mixed;
		mask ^= 0x8000;
	}
	return a << 15 | b;
}
EXPORT_SYMBOL_NS_GPL(falcon_psp_spi, FALCON_TEST);
