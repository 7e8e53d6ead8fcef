// SPDX-License-Identifier: GPL-2.0
/*
 * The primitives that core takes from lib/crypto, for user space: OpenSSL's, so
 * that what tests compute does not come from the kernel's own code. Programs
 * that use them link with -lcrypto.
 */
#define OPENSSL_SUPPRESS_DEPRECATED
#include <stdlib.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/sha.h>
#include <crypto/algapi.h>
#include <crypto/chacha20poly1305.h>
#include <crypto/sha2.h>
#include <linux/build_bug.h>

void sha256_init(struct sha256_state *s)
{
	BUILD_BUG_ON(sizeof(SHA256_CTX) > sizeof(*s));
	SHA256_Init((SHA256_CTX *)s->ctx);
}

void sha256_update(struct sha256_state *s, const u8 *data, unsigned int len)
{
	SHA256_Update((SHA256_CTX *)s->ctx, data, len);
}

void sha256_final(struct sha256_state *s, u8 *out)
{
	SHA256_Final(out, (SHA256_CTX *)s->ctx);
}

unsigned long crypto_memneq(const void *a, const void *b, size_t size)
{
	return CRYPTO_memcmp(a, b, size);
}

/* The nonce as lib/crypto has it: four zeros, then little endian */
static void nonce_bytes(u64 nonce, u8 *iv)
{
	int i;

	for (i = 0; i < 12; i++)
		iv[i] = i < 4 ? 0 : nonce >> 8 * (i - 4);
}

static EVP_CIPHER_CTX *begin(bool seal, u64 nonce, const u8 *key,
			     const u8 *ad, size_t ad_len)
{
	EVP_CIPHER_CTX *c = EVP_CIPHER_CTX_new();
	u8 iv[12];
	int n;

	nonce_bytes(nonce, iv);
	if (!c ||
	    !EVP_CipherInit_ex(c, EVP_chacha20_poly1305(), NULL, key, iv,
			       seal) ||
	    !EVP_CipherUpdate(c, NULL, &n, ad, ad_len))
		abort();
	return c;
}

void chacha20poly1305_encrypt(u8 *dst, const u8 *src, const size_t src_len,
			      const u8 *ad, const size_t ad_len,
			      const u64 nonce,
			      const u8 key[CHACHA20POLY1305_KEY_SIZE])
{
	EVP_CIPHER_CTX *c = begin(true, nonce, key, ad, ad_len);
	int n;

	if (!EVP_CipherUpdate(c, dst, &n, src, src_len) ||
	    !EVP_CipherFinal_ex(c, dst + n, &n) ||
	    !EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_AEAD_GET_TAG, 16, dst + src_len))
		abort();
	EVP_CIPHER_CTX_free(c);
}

bool chacha20poly1305_decrypt(u8 *dst, const u8 *src, const size_t src_len,
			      const u8 *ad, const size_t ad_len,
			      const u64 nonce,
			      const u8 key[CHACHA20POLY1305_KEY_SIZE])
{
	EVP_CIPHER_CTX *c = begin(false, nonce, key, ad, ad_len);
	size_t len = src_len - CHACHA20POLY1305_AUTHTAG_SIZE;
	bool ok;
	int n;

	if (!EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_AEAD_SET_TAG, 16,
				 (void *)(src + len)) ||
	    !EVP_CipherUpdate(c, dst, &n, src, len))
		abort();
	ok = EVP_CipherFinal_ex(c, dst + n, &n) == 1;
	EVP_CIPHER_CTX_free(c);
	return ok;
}
