/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Keys of a set-up: from what both ends said, what X25519 gave and what they
 * may share already, to the keys that seal a PSP key on its way, confirm the
 * set-up, and sign the messages after it. connection-manager.rst ("Keys") is
 * the definition; security.rst says what follows from it.
 *
 * Pure functions of their arguments: callable from softirq, without any lock.
 * X25519 itself is the caller's (net/falcon/cm/sec.c).
 */
#ifndef _FALCON_CORE_CM_KEYS_H
#define _FALCON_CORE_CM_KEYS_H

#include <linux/types.h>

#include "cm_wire.h"

#define FALCON_CM_KEY_LEN	32
#define FALCON_CM_HASH_LEN	32
#define FALCON_CM_ENDS_LEN	32	/* two IPv6 addresses */
#define FALCON_CM_PSK_MIN	32	/* bytes of a pre-shared key */
#define FALCON_CM_PSK_MAX	64

enum falcon_cm_role {
	FALCON_CM_INITIATOR,
	FALCON_CM_RESPONDER,
	FALCON_CM_NR_ROLES,
};

/**
 * struct falcon_cm_keys - keys of one set-up, by the role of who uses them
 * @wrap:	seals the PSP keys that a role sends
 * @conf:	confirms the set-up
 * @auth:	signs messages after it
 * @hash:	of the transcript
 */
struct falcon_cm_keys {
	u8 wrap[FALCON_CM_NR_ROLES][FALCON_CM_KEY_LEN];
	u8 conf[FALCON_CM_NR_ROLES][FALCON_CM_KEY_LEN];
	u8 auth[FALCON_CM_NR_ROLES][FALCON_CM_KEY_LEN];
	u8 hash[FALCON_CM_HASH_LEN];
};

/**
 * struct falcon_cm_sa - what WRAPPED carries: an SA that its sender receives on
 * @spi:	never 0
 * @version:	FALCON_PSP_VER_*
 * @key:	versions of 128 bits use the first 16 bytes, the rest is zero
 */
struct falcon_cm_sa {
	u32 spi;
	u8  version;
	u8  key[FALCON_CM_KEY_LEN];
};

void falcon_cm_key_id(const u8 *psk, unsigned int psk_len, u64 nonce, u8 *id);

void falcon_cm_transcript(const void *init, unsigned int init_len,
			  const void *accept, const struct falcon_cm_msg *m,
			  const u8 *ends, u8 *hash);
void falcon_cm_derive(struct falcon_cm_keys *k, const u8 *hash, const u8 *dh,
		      const u8 *psk, unsigned int psk_len);

void falcon_cm_wrap(const struct falcon_cm_keys *k, enum falcon_cm_role role,
		    u64 counter, const struct falcon_cm_sa *sa, u8 *wrapped);
bool falcon_cm_unwrap(const struct falcon_cm_keys *k, enum falcon_cm_role role,
		      u64 counter, const u8 *wrapped, struct falcon_cm_sa *sa);

void falcon_cm_conf_accept(const struct falcon_cm_keys *k, const u8 *wrapped,
			   u8 *conf);
void falcon_cm_conf_confirm(const struct falcon_cm_keys *k,
			    const u8 *accept_conf, const void *confirm,
			    const struct falcon_cm_msg *m, u8 *conf);
bool falcon_cm_same(const u8 *a, const u8 *b, unsigned int len);

void falcon_cm_sign(const struct falcon_cm_keys *k, enum falcon_cm_role role,
		    u64 counter, void *msg, const struct falcon_cm_msg *m);
bool falcon_cm_signed(const struct falcon_cm_keys *k, enum falcon_cm_role role,
		      const void *msg, const struct falcon_cm_msg *m,
		      u64 *counter);

#endif /* _FALCON_CORE_CM_KEYS_H */
