// SPDX-License-Identifier: GPL-2.0
/*
 * Fuzz target: messages of the connection manager (net/falcon/core/cm_wire.c),
 * and what their keys are asked (cm_keys.c).
 *
 * An input that begins as a message does is one. Any other is a list of changes
 * to a good message: what type it is, then a place and a byte each.
 *
 * What parses must have one form only: built again from what was understood it
 * is the same bytes, but for optional TLVs that are unknown here. And two
 * offers that parse make a connection whose ends agree.
 */
#include <stdlib.h>
#include <string.h>
#include <asm/byteorder.h>
#include <linux/kernel.h>
#include <net/falcon/core/cm_keys.h>

int fuzz_one_input(const u8 *data, size_t size);

static void check(bool ok)
{
	if (!ok)
		abort();
}

static bool known(u16 type)
{
	u16 order = type & ~FALCON_CM_CRITICAL;

	if (type == FALCON_CM_TLV_PAD || type == FALCON_CM_TLV_COOKIE ||
	    type == FALCON_CM_TLV_AUTH)
		return true;
	return type & FALCON_CM_CRITICAL && order >= 1 &&
	       order <= (FALCON_CM_TLV_SPI & ~FALCON_CM_CRITICAL);
}

/* Takes the TLVs that the parser skips out of a good message. */
static unsigned int strip(u8 *buf, unsigned int len)
{
	unsigned int pos = sizeof(struct falcon_cm_hdr), n;
	struct falcon_cm_tlv tlv;

	while (pos < len) {
		memcpy(&tlv, buf + pos, sizeof(tlv));
		n = sizeof(tlv) + ((be16_to_cpu(tlv.len) + 3) & ~3u);
		if (known(be16_to_cpu(tlv.type)) &&
		    be16_to_cpu(tlv.type) != FALCON_CM_TLV_PAD) {
			pos += n;
			continue;
		}
		memmove(buf + pos, buf + pos + n, len - pos - n);
		len -= n;
	}
	return len;
}

static void check_canonical(const u8 *data, size_t size,
			    const struct falcon_cm_msg *m)
{
	u8 in[FALCON_CM_MAX_LEN] __aligned(8);
	u8 out[FALCON_CM_MAX_LEN] __aligned(8);
	const unsigned int head = offsetof(struct falcon_cm_hdr, len) +
				  sizeof(__be16);
	unsigned int len, built;

	memcpy(in, data, size);
	len = strip(in, size);
	built = falcon_cm_build(m, out);
	built = strip(out, built);
	check(built == len);
	check(!memcmp(in + head, out + head, len - head));
}

static void check_agreement(const struct falcon_cm_msg *init)
{
	struct falcon_core_cfg a = { .tx_win = { 1024, 1024 } }, b = a;
	struct falcon_cm_msg accept = *init;
	int i;

	accept.echo_cid = init->cid;
	accept.echo_pcid = init->pcid;
	accept.present &= FALCON_CM_HAS_KEY_ID;
	accept.nr_versions = 1;
	accept.mtu = 4096;
	accept.features = FALCON_F_ORDERED | FALCON_F_EACK_ALWAYS;
	falcon_cm_reduce(&accept, init);
	check(!falcon_cm_check_answer(init, &accept));
	falcon_cm_agree(&a, init, &accept);
	falcon_cm_agree(&b, &accept, init);
	check(a.mtu == b.mtu && a.nr_flows == b.nr_flows);
	check(a.features == b.features && a.rto_ns == b.rto_ns);
	check(a.min_rto_ns <= a.rto_ns && a.rto_ns <= a.max_rto_ns);
	for (i = 0; i < FALCON_NR_WIN; i++)
		check(a.tx_win[i] && a.tx_win[i] <= b.rx_win[i]);
}

/* What each type of message carries, with encryption and without */
static const u32 carries[][2] = {
	[FALCON_CM_INIT] = {
		FALCON_CM_HAS_PARAMS | FALCON_CM_HAS_SERVICE |
		FALCON_CM_HAS_PRIVATE,
		FALCON_CM_HAS_KEY_ID | FALCON_CM_HAS_DH,
	},
	[FALCON_CM_COOKIE] = { FALCON_CM_HAS_COOKIE },
	[FALCON_CM_ACCEPT] = {
		FALCON_CM_HAS_PARAMS | FALCON_CM_HAS_ECHO |
		FALCON_CM_HAS_PRIVATE,
		FALCON_CM_HAS_KEY_ID | FALCON_CM_HAS_DH |
		FALCON_CM_HAS_WRAPPED | FALCON_CM_HAS_KEY_CONF,
	},
	[FALCON_CM_CONFIRM] = {
		FALCON_CM_HAS_ECHO,
		FALCON_CM_HAS_WRAPPED | FALCON_CM_HAS_KEY_CONF,
	},
	[FALCON_CM_REFUSE] = { FALCON_CM_HAS_REASON },
	[FALCON_CM_RESET] = {
		FALCON_CM_HAS_REASON | FALCON_CM_HAS_ECHO, FALCON_CM_HAS_AUTH,
	},
	[FALCON_CM_REKEY] = {
		FALCON_CM_HAS_ECHO | FALCON_CM_HAS_WRAPPED | FALCON_CM_HAS_AUTH,
	},
	[FALCON_CM_REKEY_ACK] = {
		FALCON_CM_HAS_ECHO | FALCON_CM_HAS_SPI | FALCON_CM_HAS_AUTH,
	},
};

static unsigned int good_message(u8 type, bool secure, u8 *buf)
{
	static const u8 bytes[FALCON_CM_WRAPPED_LEN] = { 1, 2, 3 };
	const struct falcon_cm_msg m = {
		.type = type, .nonce = 7,
		.present = carries[type][0] | (secure ? carries[type][1] : 0),
		.cid = 1, .fn = 2, .spi = 3, .pcid = 4, .service = 5,
		.proto = FALCON_PROTO_SOCK, .rx_win = { 64, 128 },
		.mtu = 8000, .ttl = 64, .nr_flows = 4,
		.rto_us = 1000, .min_rto_us = 250, .max_rto_us = 100000,
		.features = FALCON_F_ORDERED,
		.nr_versions = secure && type == FALCON_CM_INIT ? 2 : 1,
		.versions = { secure ? 0 : FALCON_PSP_VER_NONE, 1 },
		.reason = FALCON_CM_REJECTED, .rekey_spi = 9, .key_id = bytes,
		.dh = bytes, .wrapped = bytes, .key_conf = bytes,
		.priv = bytes, .priv_len = 13, .cookie = bytes, .auth = bytes,
	};
	unsigned int len = falcon_cm_build(&m, buf);

	if (type == FALCON_CM_INIT)
		len = falcon_cm_append_cookie(buf, len, bytes);
	return len;
}

/* Keys of a set-up of which the input is one half: whatever parses, asking for
 * keys of it and checking its proofs reads nothing beyond it, and nothing that
 * was not made with the keys passes.
 */
static void check_keys(const u8 *data, size_t size, struct falcon_cm_msg *m)
{
	static const u8 dh[FALCON_CM_DH_LEN] = { 5 };
	static const u8 psk[FALCON_CM_PSK_MIN] = { 6 };
	static const u8 ends[FALCON_CM_ENDS_LEN] = { 7 };
	struct falcon_cm_keys k;
	struct falcon_cm_sa sa;
	u8 hash[FALCON_CM_HASH_LEN], conf[FALCON_CM_KEY_CONF_LEN];
	u8 init[FALCON_CM_MAX_LEN] __aligned(8);
	unsigned int len;
	u64 counter;

	len = good_message(FALCON_CM_INIT, true, init);
	memset(hash, 1, sizeof(hash));
	if (m->type == FALCON_CM_ACCEPT && m->present & FALCON_CM_HAS_DH)
		falcon_cm_transcript(init, len - FALCON_CM_COOKIE_TLV_LEN,
				     data, m, ends, hash);
	falcon_cm_derive(&k, hash, dh, psk, sizeof(psk));
	if (m->type == FALCON_CM_ACCEPT && m->present & FALCON_CM_HAS_DH) {
		falcon_cm_conf_accept(&k, m->wrapped, conf);
		check(!falcon_cm_same(conf, m->key_conf, sizeof(conf)));
	}
	if (m->type == FALCON_CM_CONFIRM &&
	    m->present & FALCON_CM_HAS_KEY_CONF) {
		falcon_cm_conf_confirm(&k, hash, data, m, conf);
		check(!falcon_cm_same(conf, m->key_conf, sizeof(conf)));
	}
	if (m->present & FALCON_CM_HAS_WRAPPED)
		check(!falcon_cm_unwrap(&k, FALCON_CM_RESPONDER, 0, m->wrapped,
					&sa));
	if (m->present & FALCON_CM_HAS_AUTH)
		check(!falcon_cm_signed(&k, FALCON_CM_INITIATOR, data, m,
					&counter));
}

static unsigned int changed_message(const u8 *data, size_t size, u8 *buf)
{
	unsigned int len, at;
	size_t i;

	len = good_message(FALCON_CM_INIT + (data[0] & 7), data[0] & 8, buf);
	for (i = 1; i + 3 <= size; i += 3) {
		at = (data[i] << 8 | data[i + 1]) % len;
		buf[at] ^= data[i + 2];
	}
	return len;
}

int fuzz_one_input(const u8 *data, size_t size)
{
	u8 buf[FALCON_CM_MAX_LEN] __aligned(8);
	struct falcon_cm_msg m;
	u8 *copy;
	int err;

	if (size && data[0] != FALCON_CM_MAGIC >> 24) {
		size = changed_message(data, size, buf);
		data = buf;
	}
	/* Of exactly that size, so that a sanitizer sees a read beyond it */
	copy = malloc(size ? size : 1);
	check(copy);
	if (size)
		memcpy(copy, data, size);
	err = falcon_cm_parse(copy, size, &m);
	check(err <= 0 && err > -FALCON_CM_NR_ERR);
	if (!err) {
		check_canonical(copy, size, &m);
		check_keys(copy, size, &m);
		if (m.type == FALCON_CM_INIT)
			check_agreement(&m);
	}
	free(copy);
	return 0;
}
