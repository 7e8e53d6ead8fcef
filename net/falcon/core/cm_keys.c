// SPDX-License-Identifier: GPL-2.0
/*
 * The key schedule of a set-up, and the four things its keys do: name a
 * pre-shared key, seal a PSP key, confirm a set-up, sign what comes after.
 *
 * HKDF-SHA256 (RFC 5869) with the hash of the transcript as salt, so that ends
 * which did not see the same INIT and the same ACCEPT have no key in common.
 * Sealing is ChaCha20-Poly1305. Both come from lib/crypto: no allocation, no
 * sleep, so that messages are judged in softirq. cm/sec.c calls in.
 */
#include <crypto/algapi.h>
#include <crypto/chacha20poly1305.h>
#include <crypto/sha2.h>
#include <linux/build_bug.h>
#include <linux/string.h>
#include <asm/byteorder.h>

#include "cm_keys.h"

struct cm_hmac {
	struct sha256_state inner;
	struct sha256_state outer;
};

/* @len: at most the block size, as all keys here are */
static void cm_hmac_init(struct cm_hmac *h, const u8 *key, unsigned int len)
{
	u8 pad[SHA256_BLOCK_SIZE] = {};
	unsigned int i;

	memcpy(pad, key, len);
	for (i = 0; i < sizeof(pad); i++)
		pad[i] ^= 0x36;
	sha256_init(&h->inner);
	sha256_update(&h->inner, pad, sizeof(pad));
	for (i = 0; i < sizeof(pad); i++)
		pad[i] ^= 0x36 ^ 0x5c;
	sha256_init(&h->outer);
	sha256_update(&h->outer, pad, sizeof(pad));
	memzero_explicit(pad, sizeof(pad));
}

static void cm_hmac_update(struct cm_hmac *h, const void *data,
			   unsigned int len)
{
	sha256_update(&h->inner, data, len);
}

static void cm_hmac_final(struct cm_hmac *h, u8 *mac)
{
	sha256_final(&h->inner, mac);
	sha256_update(&h->outer, mac, SHA256_DIGEST_SIZE);
	sha256_final(&h->outer, mac);
	memzero_explicit(h, sizeof(*h));
}

/**
 * falcon_cm_key_id() - the KEY_ID by which an INIT names a pre-shared key
 * @psk:	the key
 * @psk_len:	FALCON_CM_PSK_MIN to _MAX bytes
 * @nonce:	of the set-up: who does not have the key can not tell that two
 *		set-ups use the same one
 * @id:		FALCON_CM_KEY_ID_LEN bytes
 */
void falcon_cm_key_id(const u8 *psk, unsigned int psk_len, u64 nonce, u8 *id)
{
	static const char label[] = "falcon cm key id";
	__be64 be = cpu_to_be64(nonce);
	u8 mac[SHA256_DIGEST_SIZE];
	struct cm_hmac h;

	cm_hmac_init(&h, psk, psk_len);
	cm_hmac_update(&h, label, sizeof(label));
	cm_hmac_update(&h, &be, sizeof(be));
	cm_hmac_final(&h, mac);
	memcpy(id, mac, FALCON_CM_KEY_ID_LEN);
	memzero_explicit(mac, sizeof(mac));
}

/* Bytes @from to @to of a message, with zeros for a value in it */
static unsigned int cm_hash_blank(struct sha256_state *s, const u8 *msg,
				  unsigned int from, const u8 *value,
				  unsigned int len)
{
	static const u8 zeros[FALCON_CM_WRAPPED_LEN];
	unsigned int at = value - msg;

	sha256_update(s, msg + from, at - from);
	sha256_update(s, zeros, len);
	return at + len;
}

/**
 * falcon_cm_transcript() - hash of what both ends have said
 * @init:	INIT
 * @init_len:	its bytes without cookie
 * @accept:	ACCEPT
 * @m:		@accept parsed; it has WRAPPED and KEY_CONF
 * @ends:	with a pre-shared key: FALCON_CM_ENDS_LEN bytes, the addresses of
 *		initiator and responder. NULL without
 * @hash:	FALCON_CM_HASH_LEN bytes
 *
 * All of INIT as it was before the cookie, and all of ACCEPT but for the values
 * of WRAPPED and KEY_CONF, which follow from this hash. Whoever has a pre-shared
 * key is known by his address: what was said to one holder of the key is no
 * transcript of another, nor of the one that said it.
 */
void falcon_cm_transcript(const void *init, unsigned int init_len,
			  const void *accept, const struct falcon_cm_msg *m,
			  const u8 *ends, u8 *hash)
{
	static const u8 label[] = "falcon cm transcript 1";
	struct falcon_cm_hdr hdr;
	struct sha256_state s;
	unsigned int pos;

	memcpy(&hdr, init, sizeof(hdr));
	hdr.len = cpu_to_be16(init_len);

	sha256_init(&s);
	sha256_update(&s, label, sizeof(label));
	sha256_update(&s, (const u8 *)&hdr, sizeof(hdr));
	sha256_update(&s, init + sizeof(hdr), init_len - sizeof(hdr));
	pos = cm_hash_blank(&s, accept, 0, m->wrapped, FALCON_CM_WRAPPED_LEN);
	pos = cm_hash_blank(&s, accept, pos, m->key_conf,
			    FALCON_CM_KEY_CONF_LEN);
	sha256_update(&s, accept + pos, m->body_len - pos);
	if (ends)
		sha256_update(&s, ends, FALCON_CM_ENDS_LEN);
	sha256_final(&s, hash);
}

/* HKDF-Expand to one block; a label and a role make the info. */
static void cm_expand(const u8 *prk, const char *label, u8 role, u8 *key)
{
	static const u8 last = 1;
	struct cm_hmac h;

	cm_hmac_init(&h, prk, FALCON_CM_HASH_LEN);
	cm_hmac_update(&h, label, strlen(label));
	cm_hmac_update(&h, &role, sizeof(role));
	cm_hmac_update(&h, &last, sizeof(last));
	cm_hmac_final(&h, key);
}

/**
 * falcon_cm_derive() - the keys of a set-up
 * @k:		written whole
 * @hash:	of falcon_cm_transcript()
 * @dh:		what X25519 gave both ends, FALCON_CM_DH_LEN bytes, not zero
 * @psk:	pre-shared key; NULL without
 * @psk_len:	its bytes; 0 without
 *
 * Extract takes the length of the pre-shared key (16 bits), that key, and @dh.
 */
void falcon_cm_derive(struct falcon_cm_keys *k, const u8 *hash, const u8 *dh,
		      const u8 *psk, unsigned int psk_len)
{
	__be16 len = cpu_to_be16(psk_len);
	u8 prk[SHA256_DIGEST_SIZE];
	struct cm_hmac h;
	u8 role;

	cm_hmac_init(&h, hash, FALCON_CM_HASH_LEN);
	cm_hmac_update(&h, &len, sizeof(len));
	if (psk_len)
		cm_hmac_update(&h, psk, psk_len);
	cm_hmac_update(&h, dh, FALCON_CM_DH_LEN);
	cm_hmac_final(&h, prk);

	for (role = 0; role < FALCON_CM_NR_ROLES; role++) {
		cm_expand(prk, "falcon cm wrap", role, k->wrap[role]);
		cm_expand(prk, "falcon cm conf", role, k->conf[role]);
		cm_expand(prk, "falcon cm auth", role, k->auth[role]);
	}
	memcpy(k->hash, hash, FALCON_CM_HASH_LEN);
	memzero_explicit(prk, sizeof(prk));
}

/* The value of WRAPPED */
struct cm_wrapped {
	u8 version;
	u8 zero[3];
	struct {
		__be32 spi;
		u8 key[FALCON_CM_KEY_LEN];
		u8 tag[CHACHA20POLY1305_AUTHTAG_SIZE];
	} __packed sealed;
} __packed;

#define CM_SEALED_LEN	(sizeof(__be32) + FALCON_CM_KEY_LEN)

/* What is not sealed but must be right: the transcript and the version */
static void cm_wrap_ad(const struct falcon_cm_keys *k, u8 version, u8 *ad)
{
	memcpy(ad, k->hash, FALCON_CM_HASH_LEN);
	ad[FALCON_CM_HASH_LEN] = version;
}

/**
 * falcon_cm_wrap() - seal an SA for its sender-to-be
 * @k:		keys of the set-up
 * @role:	own
 * @counter:	0 in ACCEPT and CONFIRM; after them that of AUTH. Never used
 *		twice for different SAs
 * @sa:		what to seal
 * @wrapped:	FALCON_CM_WRAPPED_LEN bytes
 */
void falcon_cm_wrap(const struct falcon_cm_keys *k, enum falcon_cm_role role,
		    u64 counter, const struct falcon_cm_sa *sa, u8 *wrapped)
{
	struct cm_wrapped w = { .version = sa->version };
	u8 ad[FALCON_CM_HASH_LEN + 1];

	BUILD_BUG_ON(sizeof(w) != FALCON_CM_WRAPPED_LEN);
	cm_wrap_ad(k, w.version, ad);
	w.sealed.spi = cpu_to_be32(sa->spi);
	memcpy(w.sealed.key, sa->key, sizeof(w.sealed.key));
	chacha20poly1305_encrypt((u8 *)&w.sealed, (u8 *)&w.sealed,
				 CM_SEALED_LEN, ad, sizeof(ad), counter,
				 k->wrap[role]);
	memcpy(wrapped, &w, sizeof(w));
}

/**
 * falcon_cm_unwrap() - open what falcon_cm_wrap() has sealed
 * @k:		keys of the set-up
 * @role:	the peer's
 * @counter:	as there
 * @wrapped:	FALCON_CM_WRAPPED_LEN bytes
 * @sa:		what was in it
 *
 * Return: true; false if it was not sealed so, or its SPI is 0: then @sa is
 * zeroed.
 */
bool falcon_cm_unwrap(const struct falcon_cm_keys *k, enum falcon_cm_role role,
		      u64 counter, const u8 *wrapped, struct falcon_cm_sa *sa)
{
	u8 ad[FALCON_CM_HASH_LEN + 1];
	struct cm_wrapped w;
	bool ok;

	memset(sa, 0, sizeof(*sa));
	memcpy(&w, wrapped, sizeof(w));
	if (memchr_inv(w.zero, 0, sizeof(w.zero)))
		return false;
	cm_wrap_ad(k, w.version, ad);
	ok = chacha20poly1305_decrypt((u8 *)&w.sealed, (u8 *)&w.sealed,
				      sizeof(w.sealed), ad, sizeof(ad), counter,
				      k->wrap[role]) && w.sealed.spi;
	if (ok) {
		sa->version = w.version;
		sa->spi = be32_to_cpu(w.sealed.spi);
		memcpy(sa->key, w.sealed.key, sizeof(sa->key));
	}
	memzero_explicit(&w, sizeof(w));
	return ok;
}

/**
 * falcon_cm_conf_accept() - KEY_CONF of ACCEPT: the responder has the keys
 * @k:		keys of the set-up
 * @wrapped:	value of WRAPPED in the ACCEPT; the hash of the transcript
 *		stands for the rest
 * @conf:	FALCON_CM_KEY_CONF_LEN bytes
 */
void falcon_cm_conf_accept(const struct falcon_cm_keys *k, const u8 *wrapped,
			   u8 *conf)
{
	struct cm_hmac h;

	cm_hmac_init(&h, k->conf[FALCON_CM_RESPONDER], FALCON_CM_KEY_LEN);
	cm_hmac_update(&h, k->hash, sizeof(k->hash));
	cm_hmac_update(&h, wrapped, FALCON_CM_WRAPPED_LEN);
	cm_hmac_final(&h, conf);
}

/**
 * falcon_cm_conf_confirm() - KEY_CONF of CONFIRM: the initiator has them, too
 * @k:		keys of the set-up
 * @accept_conf: value of KEY_CONF in the ACCEPT
 * @confirm:	CONFIRM
 * @m:		@confirm parsed; it has KEY_CONF, whose value does not count
 * @conf:	FALCON_CM_KEY_CONF_LEN bytes
 */
void falcon_cm_conf_confirm(const struct falcon_cm_keys *k,
			    const u8 *accept_conf, const void *confirm,
			    const struct falcon_cm_msg *m, u8 *conf)
{
	struct cm_hmac h;
	unsigned int pos;

	cm_hmac_init(&h, k->conf[FALCON_CM_INITIATOR], FALCON_CM_KEY_LEN);
	cm_hmac_update(&h, k->hash, sizeof(k->hash));
	cm_hmac_update(&h, accept_conf, FALCON_CM_KEY_CONF_LEN);
	pos = cm_hash_blank(&h.inner, confirm, 0, m->key_conf,
			    FALCON_CM_KEY_CONF_LEN);
	cm_hmac_update(&h, confirm + pos, m->body_len - pos);
	cm_hmac_final(&h, conf);
}

/**
 * falcon_cm_same() - compare without telling by time where they differ
 * @a:		one
 * @b:		the other
 * @len:	bytes
 *
 * Return: true if they are the same.
 */
bool falcon_cm_same(const u8 *a, const u8 *b, unsigned int len)
{
	return !crypto_memneq(a, b, len);
}

#define CM_MAC_LEN	(FALCON_CM_AUTH_LEN - sizeof(__be64))

/* The MAC over a message up to the MAC itself, which ends it */
static void cm_mac(const struct falcon_cm_keys *k, enum falcon_cm_role role,
		   const void *msg, const struct falcon_cm_msg *m, u8 *mac)
{
	struct cm_hmac h;

	cm_hmac_init(&h, k->auth[role], FALCON_CM_KEY_LEN);
	cm_hmac_update(&h, msg, m->body_len - CM_MAC_LEN);
	cm_hmac_final(&h, mac);
}

/**
 * falcon_cm_sign() - fill in AUTH
 * @k:		keys of the set-up
 * @role:	own
 * @counter:	larger than in any message of this role before
 * @msg:	message, complete but for the value of AUTH
 * @m:		@msg parsed
 */
void falcon_cm_sign(const struct falcon_cm_keys *k, enum falcon_cm_role role,
		    u64 counter, void *msg, const struct falcon_cm_msg *m)
{
	u8 mac[SHA256_DIGEST_SIZE];
	__be64 be = cpu_to_be64(counter);
	u8 *auth = msg + (m->auth - (const u8 *)msg);

	memcpy(auth, &be, sizeof(be));
	cm_mac(k, role, msg, m, mac);
	memcpy(auth + sizeof(be), mac, CM_MAC_LEN);
}

/**
 * falcon_cm_signed() - whether AUTH is right
 * @k:		keys of the set-up
 * @role:	the peer's
 * @msg:	message
 * @m:		@msg parsed
 * @counter:	of the message; whether it was there before is for the caller
 *		to find
 *
 * Return: true if it is; false if not, or if there is none.
 */
bool falcon_cm_signed(const struct falcon_cm_keys *k, enum falcon_cm_role role,
		      const void *msg, const struct falcon_cm_msg *m,
		      u64 *counter)
{
	u8 mac[SHA256_DIGEST_SIZE];
	__be64 be;

	if (!(m->present & FALCON_CM_HAS_AUTH))
		return false;
	memcpy(&be, m->auth, sizeof(be));
	*counter = be64_to_cpu(be);
	cm_mac(k, role, msg, m, mac);
	return falcon_cm_same(mac, m->auth + sizeof(be), CM_MAC_LEN);
}
