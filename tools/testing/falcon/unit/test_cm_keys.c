// SPDX-License-Identifier: GPL-2.0
/*
 * Keys of a set-up: the rules of Documentation/networking/falcon/
 * connection-manager.rst, "Keys". What core computes is compared with OpenSSL's
 * HKDF, HMAC and SHA-256, put together here from that page.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <asm/byteorder.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/kdf.h>
#include <openssl/core_names.h>
#include <openssl/params.h>
#include <net/falcon/core/cm_keys.h>

#include "harness.h"

static u8 asked[FALCON_CM_MAX_LEN + FALCON_CM_COOKIE_TLV_LEN] __aligned(8);
static u8 answer[FALCON_CM_MAX_LEN] __aligned(8);
static u8 confirm[FALCON_CM_MAX_LEN] __aligned(8);
static unsigned int asked_len;
static struct falcon_cm_msg answer_msg, confirm_msg;

static u8 psk[40], dh[FALCON_CM_DH_LEN];
static struct falcon_cm_keys keys;

static const struct falcon_cm_sa sa = {
	.spi = 0x9a345678, .version = 1, .key = { 9, 8, 7, 6 },
};

static const struct falcon_cm_msg init = {
	.type = FALCON_CM_INIT,
	.present = FALCON_CM_HAS_PARAMS | FALCON_CM_HAS_SERVICE |
		   FALCON_CM_HAS_KEY_ID | FALCON_CM_HAS_DH,
	.nonce = 0x0102030405060708,
	.cid = 1, .fn = 2, .spi = 3, .pcid = 4, .service = 5, .proto = 4,
	.rx_win = { 64, 128 }, .mtu = 4096, .ttl = 64, .nr_flows = 4,
	.rto_us = 1000, .min_rto_us = 250, .max_rto_us = 100000,
	.nr_versions = 2, .versions = { 0, 1 },
	.key_id = psk, .dh = dh,
};

/* The messages of a set-up, WRAPPED and KEY_CONF still empty */
static void converse(void)
{
	static const u8 empty[FALCON_CM_WRAPPED_LEN];
	struct falcon_cm_msg m = init;
	unsigned int i;

	for (i = 0; i < sizeof(psk); i++)
		psk[i] = i * 3 + 1;
	for (i = 0; i < sizeof(dh); i++)
		dh[i] = i * 5 + 2;
	asked_len = falcon_cm_build(&init, asked);

	m.type = FALCON_CM_ACCEPT;
	m.present = FALCON_CM_HAS_PARAMS | FALCON_CM_HAS_ECHO |
		    FALCON_CM_HAS_KEY_ID | FALCON_CM_HAS_DH |
		    FALCON_CM_HAS_WRAPPED | FALCON_CM_HAS_KEY_CONF;
	m.nr_versions = 1;
	m.echo_cid = 1;
	m.echo_pcid = 4;
	m.wrapped = empty;
	m.key_conf = empty;
	falcon_cm_parse(answer, falcon_cm_build(&m, answer), &answer_msg);

	m.type = FALCON_CM_CONFIRM;
	m.present = FALCON_CM_HAS_ECHO | FALCON_CM_HAS_WRAPPED |
		    FALCON_CM_HAS_KEY_CONF;
	falcon_cm_parse(confirm, falcon_cm_build(&m, confirm), &confirm_msg);
}

static void hash_now(u8 *hash)
{
	falcon_cm_transcript(asked, asked_len, answer, &answer_msg, NULL, hash);
}

static void agree(void)
{
	u8 hash[FALCON_CM_HASH_LEN];

	converse();
	hash_now(hash);
	falcon_cm_derive(&keys, hash, dh, psk, sizeof(psk));
}

static void hkdf(const u8 *salt, const u8 *ikm, size_t ikm_len,
		 const char *label, u8 role, u8 *out)
{
	EVP_KDF *kdf = EVP_KDF_fetch(NULL, "HKDF", NULL);
	EVP_KDF_CTX *c = EVP_KDF_CTX_new(kdf);
	u8 info[64];
	OSSL_PARAM p[] = {
		OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST,
						 "SHA256", 0),
		OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY,
						  (void *)ikm, ikm_len),
		OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_SALT,
						  (void *)salt, 32),
		OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_INFO, info,
						  strlen(label) + 1),
		OSSL_PARAM_END,
	};

	memcpy(info, label, strlen(label));
	info[strlen(label)] = role;
	ASSERT_EQ(EVP_KDF_derive(c, out, 32, p), 1);
	EVP_KDF_CTX_free(c);
	EVP_KDF_free(kdf);
}

/* spec: keys are HKDF-SHA256 with the transcript as salt */
TEST(keys_are_hkdf_of_the_transcript)
{
	u8 ikm[2 + sizeof(psk) + sizeof(dh)] = { 0, sizeof(psk) }, want[32];
	u8 role;

	agree();
	memcpy(ikm + 2, psk, sizeof(psk));
	memcpy(ikm + 2 + sizeof(psk), dh, sizeof(dh));
	for (role = 0; role < FALCON_CM_NR_ROLES; role++) {
		hkdf(keys.hash, ikm, sizeof(ikm), "falcon cm wrap", role, want);
		EXPECT_BYTES(keys.wrap[role], want, 32);
		hkdf(keys.hash, ikm, sizeof(ikm), "falcon cm conf", role, want);
		EXPECT_BYTES(keys.conf[role], want, 32);
		hkdf(keys.hash, ikm, sizeof(ikm), "falcon cm auth", role, want);
		EXPECT_BYTES(keys.auth[role], want, 32);
	}
}

/* spec: without a pre-shared key its length is 0 in what is extracted */
TEST(keys_without_a_pre_shared_one)
{
	u8 ikm[2 + sizeof(dh)] = {}, want[32];
	struct falcon_cm_keys k;

	agree();
	falcon_cm_derive(&k, keys.hash, dh, NULL, 0);
	memcpy(ikm + 2, dh, sizeof(dh));
	hkdf(keys.hash, ikm, sizeof(ikm), "falcon cm wrap", 0, want);
	EXPECT_BYTES(k.wrap[0], want, 32);
	EXPECT_TRUE(memcmp(k.auth[0], keys.auth[0], 32));
}

/* spec: the transcript is a label, INIT without cookie, ACCEPT with blanks */
TEST(transcript_is_a_hash_of_both_messages)
{
	static const char label[] = "falcon cm transcript 1";
	u8 in[2 * FALCON_CM_MAX_LEN], want[32], got[32];
	unsigned int n = sizeof(label);

	converse();
	memcpy(in, label, n);
	memcpy(in + n, asked, asked_len);
	n += asked_len;
	memcpy(in + n, answer, answer_msg.body_len);
	n += answer_msg.body_len;
	ASSERT_EQ(EVP_Digest(in, n, want, NULL, EVP_sha256(), NULL), 1);

	memset((u8 *)answer_msg.wrapped, 0xaa, FALCON_CM_WRAPPED_LEN);
	memset((u8 *)answer_msg.key_conf, 0xbb, FALCON_CM_KEY_CONF_LEN);
	hash_now(got);
	EXPECT_BYTES(got, want, 32);
}

/* spec: the cookie is not of the transcript */
TEST(transcript_without_cookie)
{
	u8 before[32], after[32];
	static const u8 cookie[FALCON_CM_COOKIE_LEN] = { 1, 2 };

	converse();
	hash_now(before);
	falcon_cm_append_cookie(asked, asked_len, cookie);
	hash_now(after);
	EXPECT_BYTES(after, before, 32);
}

/* spec: with a pre-shared key the addresses of both ends are of the transcript, so
 * that who reflects messages, or passes them to another, has no keys of it
 */
TEST(transcript_names_both_ends)
{
	const u8 ends[FALCON_CM_ENDS_LEN] = { [15] = 1, [31] = 2 };
	const u8 turned[FALCON_CM_ENDS_LEN] = { [15] = 2, [31] = 1 };
	const u8 other[FALCON_CM_ENDS_LEN] = { [15] = 1, [31] = 3 };
	u8 without[32], hash[32], got[32];

	converse();
	hash_now(without);
	falcon_cm_transcript(asked, asked_len, answer, &answer_msg, ends, hash);
	EXPECT_TRUE(memcmp(hash, without, 32));
	falcon_cm_transcript(asked, asked_len, answer, &answer_msg, turned,
			     got);
	EXPECT_TRUE(memcmp(got, hash, 32));
	falcon_cm_transcript(asked, asked_len, answer, &answer_msg, other, got);
	EXPECT_TRUE(memcmp(got, hash, 32));
}

static bool in_value(unsigned int at, const u8 *value, unsigned int len)
{
	return at >= value - answer && at < value - answer + len;
}

/* spec: whatever bit of INIT or ACCEPT somebody changes, the keys differ: of
 * versions offered, key ids, flows, features, ports ...
 */
TEST(downgrade_changes_the_transcript)
{
	u8 want[32], got[32];
	unsigned int i;

	converse();
	hash_now(want);
	for (i = 0; i < asked_len * 8; i++) {
		/* The length is checked before, and corrected here. */
		if (i / 8 == 6 || i / 8 == 7)
			continue;
		asked[i / 8] ^= 1 << i % 8;
		hash_now(got);
		EXPECT_TRUE(memcmp(got, want, 32));
		asked[i / 8] ^= 1 << i % 8;
	}
	for (i = 0; i < answer_msg.body_len * 8; i++) {
		if (in_value(i / 8, answer_msg.wrapped,
			     FALCON_CM_WRAPPED_LEN) ||
		    in_value(i / 8, answer_msg.key_conf,
			     FALCON_CM_KEY_CONF_LEN))
			continue;
		answer[i / 8] ^= 1 << i % 8;
		hash_now(got);
		EXPECT_TRUE(memcmp(got, want, 32));
		answer[i / 8] ^= 1 << i % 8;
	}
}

/* spec: another pre-shared key, or another X25519 result, is another set of keys */
TEST(keys_need_both_secrets)
{
	struct falcon_cm_keys k;

	agree();
	psk[3] ^= 1;
	falcon_cm_derive(&k, keys.hash, dh, psk, sizeof(psk));
	EXPECT_TRUE(memcmp(k.conf[0], keys.conf[0], 32));
	psk[3] ^= 1;
	dh[31] ^= 1;
	falcon_cm_derive(&k, keys.hash, dh, psk, sizeof(psk));
	EXPECT_TRUE(memcmp(k.conf[0], keys.conf[0], 32));
	dh[31] ^= 1;
	falcon_cm_derive(&k, keys.hash, dh, psk, sizeof(psk) - 1);
	EXPECT_TRUE(memcmp(k.conf[0], keys.conf[0], 32));
}

/* spec: no key serves two purposes or two directions */
TEST(keys_differ_by_purpose_and_role)
{
	const u8 *k = keys.wrap[0];
	int i, j;

	agree();
	for (i = 0; i < 6; i++)
		for (j = 0; j < i; j++)
			EXPECT_TRUE(memcmp(k + 32 * i, k + 32 * j, 32));
}

/* spec: WRAPPED opens with the same keys, role and counter only */
TEST(wrapped_opens_only_as_it_was_sealed)
{
	u8 w[FALCON_CM_WRAPPED_LEN];
	struct falcon_cm_keys other;
	struct falcon_cm_sa got;

	agree();
	falcon_cm_wrap(&keys, FALCON_CM_RESPONDER, 5, &sa, w);
	ASSERT_TRUE(falcon_cm_unwrap(&keys, FALCON_CM_RESPONDER, 5, w, &got));
	EXPECT_EQ(got.spi, sa.spi);
	EXPECT_EQ(got.version, sa.version);
	EXPECT_BYTES(got.key, sa.key, sizeof(sa.key));
	EXPECT_FALSE(falcon_cm_unwrap(&keys, FALCON_CM_RESPONDER, 6, w, &got));
	EXPECT_EQ(got.spi, 0);
	EXPECT_FALSE(falcon_cm_unwrap(&keys, FALCON_CM_INITIATOR, 5, w, &got));
	other = keys;
	other.hash[0] ^= 1;
	EXPECT_FALSE(falcon_cm_unwrap(&other, FALCON_CM_RESPONDER, 5, w, &got));
}

/* spec: any bit of WRAPPED that is changed is detected */
TEST(wrapped_every_bit)
{
	u8 w[FALCON_CM_WRAPPED_LEN];
	struct falcon_cm_sa got;
	unsigned int i;

	agree();
	falcon_cm_wrap(&keys, FALCON_CM_INITIATOR, 0, &sa, w);
	for (i = 0; i < sizeof(w) * 8; i++) {
		w[i / 8] ^= 1 << i % 8;
		EXPECT_FALSE(falcon_cm_unwrap(&keys, FALCON_CM_INITIATOR, 0, w,
					      &got));
		w[i / 8] ^= 1 << i % 8;
	}
}

/* spec: nothing of the PSP key is in the clear */
TEST(wrapped_hides_the_key)
{
	u8 a[FALCON_CM_WRAPPED_LEN], b[FALCON_CM_WRAPPED_LEN];

	agree();
	falcon_cm_wrap(&keys, FALCON_CM_INITIATOR, 1, &sa, a);
	falcon_cm_wrap(&keys, FALCON_CM_INITIATOR, 2, &sa, b);
	EXPECT_FALSE(memmem(a, sizeof(a), sa.key, 4));
	EXPECT_TRUE(memcmp(a + 4, b + 4, sizeof(a) - 4));
}

/* spec: an SPI of 0 is no SA (9.2.2.3) */
TEST(wrapped_spi_is_not_zero)
{
	struct falcon_cm_sa none = { .version = 0 }, got;
	u8 w[FALCON_CM_WRAPPED_LEN];

	agree();
	falcon_cm_wrap(&keys, FALCON_CM_INITIATOR, 0, &none, w);
	EXPECT_FALSE(falcon_cm_unwrap(&keys, FALCON_CM_INITIATOR, 0, w, &got));
}

/* spec: KEY_CONF of ACCEPT is HMAC over the transcript and WRAPPED */
TEST(accept_confirms_the_transcript)
{
	u8 in[FALCON_CM_HASH_LEN + FALCON_CM_WRAPPED_LEN], want[32], got[32];

	agree();
	falcon_cm_wrap(&keys, FALCON_CM_RESPONDER, 0, &sa,
		       (u8 *)answer_msg.wrapped);
	memcpy(in, keys.hash, FALCON_CM_HASH_LEN);
	memcpy(in + FALCON_CM_HASH_LEN, answer_msg.wrapped,
	       FALCON_CM_WRAPPED_LEN);
	HMAC(EVP_sha256(), keys.conf[FALCON_CM_RESPONDER], 32, in, sizeof(in),
	     want, NULL);
	falcon_cm_conf_accept(&keys, answer_msg.wrapped, got);
	EXPECT_BYTES(got, want, 32);
}

/* spec: KEY_CONF of CONFIRM covers all of it and the ACCEPT's */
TEST(confirm_covers_every_bit)
{
	u8 conf[32] = { 1 }, want[32], got[32];
	const u8 *value;
	unsigned int i;

	agree();
	value = confirm_msg.key_conf;
	falcon_cm_conf_confirm(&keys, conf, confirm, &confirm_msg, want);
	for (i = 0; i < confirm_msg.body_len * 8; i++) {
		bool blank = confirm + i / 8 >= value &&
			     confirm + i / 8 < value + 32;

		confirm[i / 8] ^= 1 << i % 8;
		falcon_cm_conf_confirm(&keys, conf, confirm, &confirm_msg, got);
		EXPECT_EQ(!memcmp(got, want, 32), blank);
		confirm[i / 8] ^= 1 << i % 8;
	}
	conf[0] = 2;
	falcon_cm_conf_confirm(&keys, conf, confirm, &confirm_msg, got);
	EXPECT_TRUE(memcmp(got, want, 32));
}

static void sign_reset(u8 *buf, u64 counter, struct falcon_cm_msg *m)
{
	static const u8 blank[FALCON_CM_AUTH_LEN];
	const struct falcon_cm_msg reset = {
		.type = FALCON_CM_RESET,
		.present = FALCON_CM_HAS_REASON | FALCON_CM_HAS_ECHO |
			   FALCON_CM_HAS_AUTH,
		.reason = FALCON_CM_CANCELLED, .echo_cid = 1, .echo_pcid = 4,
		.auth = blank,
	};

	ASSERT_EQ(falcon_cm_parse(buf, falcon_cm_build(&reset, buf), m), 0);
	falcon_cm_sign(&keys, FALCON_CM_INITIATOR, counter, buf, m);
}

/* spec: any bit of a signed message that is changed is detected */
TEST(signed_every_bit)
{
	u8 buf[FALCON_CM_MAX_LEN] __aligned(8);
	struct falcon_cm_msg m;
	u64 counter = 0;
	unsigned int i;

	agree();
	sign_reset(buf, 77, &m);
	ASSERT_TRUE(falcon_cm_signed(&keys, FALCON_CM_INITIATOR, buf, &m,
				     &counter));
	EXPECT_EQ(counter, 77);
	EXPECT_FALSE(falcon_cm_signed(&keys, FALCON_CM_RESPONDER, buf, &m,
				      &counter));
	for (i = 0; i < m.body_len * 8; i++) {
		buf[i / 8] ^= 1 << i % 8;
		EXPECT_FALSE(falcon_cm_signed(&keys, FALCON_CM_INITIATOR, buf,
					      &m, &counter));
		buf[i / 8] ^= 1 << i % 8;
	}
}

/* spec: a message without AUTH is not signed */
TEST(unsigned_is_not_signed)
{
	u8 buf[FALCON_CM_MAX_LEN] __aligned(8);
	struct falcon_cm_msg m;
	u64 counter;

	agree();
	sign_reset(buf, 1, &m);
	m.present &= ~FALCON_CM_HAS_AUTH;
	EXPECT_FALSE(falcon_cm_signed(&keys, FALCON_CM_INITIATOR, buf, &m,
				      &counter));
}

/* spec: KEY_ID is of the key and the nonce, and gives neither away */
TEST(key_id_is_of_one_set_up)
{
	static const char label[] = "falcon cm key id";
	u8 in[sizeof(label) + 8], want[32], a[16], b[16];
	__be64 nonce = cpu_to_be64(0x1122334455667788);

	converse();
	memcpy(in, label, sizeof(label));
	memcpy(in + sizeof(label), &nonce, 8);
	HMAC(EVP_sha256(), psk, sizeof(psk), in, sizeof(in), want, NULL);
	falcon_cm_key_id(psk, sizeof(psk), 0x1122334455667788, a);
	EXPECT_BYTES(a, want, FALCON_CM_KEY_ID_LEN);
	falcon_cm_key_id(psk, sizeof(psk), 0x1122334455667789, b);
	EXPECT_TRUE(memcmp(a, b, sizeof(a)));
	psk[0] ^= 1;
	falcon_cm_key_id(psk, sizeof(psk), 0x1122334455667788, b);
	EXPECT_TRUE(memcmp(a, b, sizeof(a)));
}
