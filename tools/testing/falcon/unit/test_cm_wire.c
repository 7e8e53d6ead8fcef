// SPDX-License-Identifier: GPL-2.0
/*
 * Messages of the connection manager, and how two offers become one
 * connection: the rules of Documentation/networking/falcon/
 * connection-manager.rst.
 */
#include <asm/byteorder.h>
#include <linux/errno.h>
#include <net/falcon/core/cm_wire.h>

#include "harness.h"

static u8 buf[FALCON_CM_MAX_LEN + FALCON_CM_COOKIE_TLV_LEN] __aligned(8);

static const u8 cookie[FALCON_CM_COOKIE_LEN] = {
	1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16,
};

static const struct falcon_cm_msg init = {
	.type = FALCON_CM_INIT,
	.present = FALCON_CM_HAS_PARAMS | FALCON_CM_HAS_SERVICE,
	.nonce = 0x0102030405060708,
	.cid = 0xabcdef, .fn = 0x123456, .spi = 0x9a345678,
	.pcid = 0xf1f2f3f4f5f6f7f8,
	.service = 0x00010050, .src_service = 0x0001c001,
	.proto = FALCON_PROTO_SOCK,
	.psn = { 0x11111111, 0x22222222 }, .rsn = 0x33333333,
	.time_ps = 0x0a0b0c0d0e0f1011,
	.rx_win = { 64, 128 },
	.mtu = 4096, .ttl = 64, .nr_flows = 4,
	.flow_port = { 0xc000, 0xc001, 0xc002, 0xc003 },
	.rto_us = 1000, .min_rto_us = 250, .max_rto_us = 100000,
	.credits = { 1, 2, 3, 4, 5, 6 },
	.features = FALCON_F_ORDERED | FALCON_F_EACK_ALWAYS,
	.nr_versions = 1, .versions = { FALCON_PSP_VER_NONE },
};

static struct falcon_cm_msg answer_to(const struct falcon_cm_msg *m)
{
	struct falcon_cm_msg a = *m;

	a.type = FALCON_CM_ACCEPT;
	a.present = FALCON_CM_HAS_PARAMS | FALCON_CM_HAS_ECHO;
	a.echo_cid = m->cid;
	a.echo_pcid = m->pcid;
	a.service = 0;
	a.src_service = 0;
	a.proto = 0;
	a.cid = 0x00beef;
	a.fn = 7;
	a.spi = 0x1a000001;
	a.pcid = 42;
	a.psn[0] = 5;
	a.psn[1] = 6;
	a.rsn = 7;
	a.rx_win[0] = 32;
	a.rx_win[1] = 100;
	return a;
}

/* A message with a header and what @tlvs holds */
static unsigned int message(u8 type, const void *tlvs, unsigned int n)
{
	struct falcon_cm_hdr *h = (void *)buf;

	h->magic = cpu_to_be32(FALCON_CM_MAGIC);
	h->version = FALCON_CM_VERSION;
	h->type = type;
	h->len = cpu_to_be16(sizeof(*h) + n);
	h->nonce = cpu_to_be64(init.nonce);
	memcpy(h + 1, tlvs, n);
	return sizeof(*h) + n;
}

static unsigned int find_tlv(unsigned int len, u16 type)
{
	unsigned int pos = sizeof(struct falcon_cm_hdr);
	struct falcon_cm_tlv tlv;

	while (pos < len) {
		memcpy(&tlv, buf + pos, sizeof(tlv));
		if (be16_to_cpu(tlv.type) == type)
			return pos;
		pos += sizeof(tlv) + ((be16_to_cpu(tlv.len) + 3) & ~3);
	}
	return 0;
}

/* spec: header and TLVs, byte-exact and big endian */
TEST(init_bytes)
{
	static const u8 head[] = {
		'F', 'L', 'C', 'N', 1, 1, 0x01, 0x00,
		1, 2, 3, 4, 5, 6, 7, 8,
		0x80, 0x01, 0, 20,
		0x00, 0xab, 0xcd, 0xef, 0x00, 0x12, 0x34, 0x56,
		0x9a, 0x34, 0x56, 0x78,
		0xf1, 0xf2, 0xf3, 0xf4, 0xf5, 0xf6, 0xf7, 0xf8,
		0x80, 0x03, 0, 12,
		0x00, 0x01, 0x00, 0x50, 0x00, 0x01, 0xc0, 0x01, 4, 0, 0, 0,
		0x80, 0x04, 0, 12,
		0x11, 0x11, 0x11, 0x11, 0x22, 0x22, 0x22, 0x22,
		0x33, 0x33, 0x33, 0x33,
		0x80, 0x05, 0, 8,
		0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f, 0x10, 0x11,
		0x80, 0x06, 0, 4, 0, 64, 0, 128,
		0x80, 0x07, 0, 12, 0x10, 0x00, 64, 4,
		0xc0, 0x00, 0xc0, 0x01, 0xc0, 0x02, 0xc0, 0x03,
		0x80, 0x08, 0, 12,
		0, 0, 0x03, 0xe8, 0, 0, 0, 250, 0, 0x01, 0x86, 0xa0,
		0x80, 0x09, 0, 12, 0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6,
		0x80, 0x0a, 0, 4, 0, 0, 0, 3,
		0x80, 0x0b, 0, 1, 15, 0, 0, 0,
		0x7f, 0xfd, 0, 96,
	};

	ASSERT_EQ(falcon_cm_build(&init, buf), 256);
	EXPECT_BYTES(buf, head, sizeof(head));
	EXPECT_EQ(256 - sizeof(head), 96);
}

/* spec: what was built is what is parsed */
TEST(init_round_trip)
{
	struct falcon_cm_msg want = init, got;
	unsigned int len = falcon_cm_build(&init, buf);

	ASSERT_EQ(falcon_cm_parse(buf, len, &got), 0);
	want.present |= FALCON_CM_HAS_PAD;
	want.body_len = len;
	EXPECT_BYTES(&got, &want, sizeof(got));
}

static void round_trip(const struct falcon_cm_msg *m)
{
	unsigned int len = falcon_cm_build(m, buf);
	struct falcon_cm_msg got, want = *m;

	ASSERT_EQ(falcon_cm_parse(buf, len, &got), 0);
	EXPECT_EQ(got.type, m->type);
	EXPECT_EQ(got.nonce, m->nonce);
	EXPECT_EQ(got.present & ~FALCON_CM_HAS_PAD, m->present);
	want.body_len = len;
	want.present = got.present;
	EXPECT_BYTES(&got, &want, offsetof(struct falcon_cm_msg, key_id));
}

/* spec: each type of message carries what the table says */
TEST(every_message_round_trip)
{
	static const u8 auth[FALCON_CM_AUTH_LEN] = { 1 };
	struct falcon_cm_msg m = { .nonce = ~0ULL };

	m.type = FALCON_CM_CONFIRM;
	m.present = FALCON_CM_HAS_ECHO;
	m.echo_cid = 0xffffff;
	m.echo_pcid = 9;
	round_trip(&m);
	m.type = FALCON_CM_RESET;
	m.present |= FALCON_CM_HAS_REASON;
	m.reason = FALCON_CM_EXPIRED;
	m.detail = 7;
	round_trip(&m);
	m.present |= FALCON_CM_HAS_AUTH;
	m.auth = auth;
	round_trip(&m);

	m = (struct falcon_cm_msg) {
		.type = FALCON_CM_REFUSE, .present = FALCON_CM_HAS_REASON,
		.reason = FALCON_CM_BAD_TLV,
	};
	round_trip(&m);
	m = answer_to(&init);
	round_trip(&m);
}

/* spec: private data up to 512 bytes, kept byte for byte, fill is zero */
TEST(private_data)
{
	struct falcon_cm_msg m = init, got;
	u8 data[513];
	unsigned int i, len;

	for (i = 0; i < sizeof(data); i++)
		data[i] = i * 7 + 1;
	m.present |= FALCON_CM_HAS_PRIVATE;
	m.priv = data;
	for (i = 0; i <= 512; i += i < 8 ? 1 : 56) {
		m.priv_len = i;
		len = falcon_cm_build(&m, buf);
		ASSERT_LE(len, FALCON_CM_MAX_LEN);
		ASSERT_EQ(falcon_cm_parse(buf, len, &got), 0);
		ASSERT_EQ(got.priv_len, i);
		EXPECT_BYTES(got.priv, data, i);
	}
	m.priv_len = 513;
	len = falcon_cm_build(&m, buf);
	EXPECT_EQ(falcon_cm_parse(buf, len, &got), -FALCON_CM_ERR_VALUE);
	EXPECT_EQ(got.detail, FALCON_CM_TLV_PRIVATE);
}

static const u8 key[64] = { 1, 2, 3 };

/* An offer of encryption, with a pre-shared key */
static struct falcon_cm_msg secure_init(void)
{
	struct falcon_cm_msg m = init;

	m.nr_versions = 2;
	m.versions[0] = 0;
	m.versions[1] = 1;
	m.present |= FALCON_CM_HAS_KEY_ID | FALCON_CM_HAS_DH;
	m.key_id = key;
	m.dh = key + 1;
	return m;
}

static struct falcon_cm_msg secure_answer(const struct falcon_cm_msg *m)
{
	struct falcon_cm_msg a = answer_to(m);

	a.nr_versions = 1;
	a.versions[0] = 1;
	a.present |= FALCON_CM_HAS_KEY_ID | FALCON_CM_HAS_DH |
		     FALCON_CM_HAS_WRAPPED | FALCON_CM_HAS_KEY_CONF;
	a.wrapped = key;
	a.key_conf = key + 2;
	return a;
}

/* spec: what encryption needs has its place and its size */
TEST(key_material_has_its_size)
{
	struct falcon_cm_msg m = secure_init(), got;
	unsigned int len;

	len = falcon_cm_build(&m, buf);
	ASSERT_EQ(falcon_cm_parse(buf, len, &got), 0);
	EXPECT_BYTES(got.key_id, key, FALCON_CM_KEY_ID_LEN);
	EXPECT_BYTES(got.dh, key + 1, FALCON_CM_DH_LEN);

	m = secure_answer(&m);
	len = falcon_cm_build(&m, buf);
	ASSERT_EQ(falcon_cm_parse(buf, len, &got), 0);
	EXPECT_BYTES(got.wrapped, key, FALCON_CM_WRAPPED_LEN);
	EXPECT_BYTES(got.key_conf, key + 2, FALCON_CM_KEY_CONF_LEN);

	m = (struct falcon_cm_msg) {
		.type = FALCON_CM_REKEY,
		.present = FALCON_CM_HAS_ECHO | FALCON_CM_HAS_WRAPPED |
			   FALCON_CM_HAS_AUTH,
		.wrapped = key, .auth = key + 3,
	};
	len = falcon_cm_build(&m, buf);
	ASSERT_EQ(falcon_cm_parse(buf, len, &got), 0);
	EXPECT_BYTES(got.wrapped, key, FALCON_CM_WRAPPED_LEN);
	EXPECT_BYTES(got.auth, key + 3, FALCON_CM_AUTH_LEN);

	m.type = FALCON_CM_REKEY_ACK;
	m.present ^= FALCON_CM_HAS_WRAPPED | FALCON_CM_HAS_SPI;
	m.rekey_spi = 0x80000001;
	len = falcon_cm_build(&m, buf);
	ASSERT_EQ(falcon_cm_parse(buf, len, &got), 0);
	EXPECT_EQ(got.rekey_spi, 0x80000001);
	m.rekey_spi = 0;
	len = falcon_cm_build(&m, buf);
	EXPECT_EQ(falcon_cm_parse(buf, len, &got), -FALCON_CM_ERR_VALUE);
}

#define EXPECT_REFUSED(msg, change, err, tlv) do {			\
	struct falcon_cm_msg m = msg, got;				\
	unsigned int len;						\
									\
	change;								\
	len = falcon_cm_build(&m, buf);					\
	EXPECT_EQ(falcon_cm_parse(buf, len, &got), -FALCON_CM_ERR_##err); \
	EXPECT_EQ(got.detail, FALCON_CM_TLV_##tlv);			\
} while (0)

/* spec: an INIT offers encryption or none, never both */
TEST(no_way_out_of_encryption)
{
	EXPECT_REFUSED(secure_init(), m.versions[1] = FALCON_PSP_VER_NONE,
		       VALUE, SECURITY);
	EXPECT_REFUSED(secure_init(), m.versions[0] = FALCON_PSP_VER_NONE,
		       VALUE, SECURITY);
	EXPECT_REFUSED(secure_init(), m.present &= ~FALCON_CM_HAS_DH,
		       MISSING, DH);
	EXPECT_REFUSED(secure_init(),
		       (m.nr_versions = 1,
			m.versions[0] = FALCON_PSP_VER_NONE),
		       VALUE, SECURITY);
}

/* spec: an ACCEPT of encryption has all that it takes, one of none nothing */
TEST(encryption_is_whole)
{
	struct falcon_cm_msg asked = secure_init();
	struct falcon_cm_msg answer = secure_answer(&asked);

	EXPECT_REFUSED(answer, m.present &= ~FALCON_CM_HAS_DH, MISSING, DH);
	EXPECT_REFUSED(answer, m.present &= ~FALCON_CM_HAS_WRAPPED,
		       MISSING, WRAPPED);
	EXPECT_REFUSED(answer, m.present &= ~FALCON_CM_HAS_KEY_CONF,
		       MISSING, KEY_CONF);
	EXPECT_REFUSED(answer, m.versions[0] = FALCON_PSP_VER_NONE,
		       VALUE, SECURITY);
	EXPECT_REFUSED(answer, m.nr_versions = 2, VALUE, SECURITY);

	answer = (struct falcon_cm_msg) {
		.type = FALCON_CM_CONFIRM,
		.present = FALCON_CM_HAS_ECHO | FALCON_CM_HAS_WRAPPED |
			   FALCON_CM_HAS_KEY_CONF,
		.wrapped = key, .key_conf = key,
	};
	EXPECT_REFUSED(answer, m.present &= ~FALCON_CM_HAS_WRAPPED,
		       MISSING, WRAPPED);
	EXPECT_REFUSED(answer, m.present &= ~FALCON_CM_HAS_KEY_CONF,
		       MISSING, KEY_CONF);
}

/* spec: a responder answers with the pre-shared key that was named, or none */
TEST(answer_names_the_same_key)
{
	struct falcon_cm_msg asked = secure_init();
	struct falcon_cm_msg answer = secure_answer(&asked);

	EXPECT_EQ(falcon_cm_check_answer(&asked, &answer), 0);
	answer.key_id = key + 1;
	EXPECT_EQ(falcon_cm_check_answer(&asked, &answer),
		  FALCON_CM_TLV_KEY_ID);
	answer.present &= ~FALCON_CM_HAS_KEY_ID;
	EXPECT_EQ(falcon_cm_check_answer(&asked, &answer),
		  FALCON_CM_TLV_KEY_ID);
	asked.present &= ~FALCON_CM_HAS_KEY_ID;
	EXPECT_EQ(falcon_cm_check_answer(&asked, &answer), 0);
	answer.present |= FALCON_CM_HAS_KEY_ID;
	EXPECT_EQ(falcon_cm_check_answer(&asked, &answer),
		  FALCON_CM_TLV_KEY_ID);
}

/* spec: an ACCEPT with a version that was not offered, or none, is refused */
TEST(answer_takes_an_offered_version)
{
	struct falcon_cm_msg asked = secure_init();
	struct falcon_cm_msg answer = secure_answer(&asked);

	answer.versions[0] = 2;
	EXPECT_EQ(falcon_cm_check_answer(&asked, &answer),
		  FALCON_CM_TLV_SECURITY);
	answer.versions[0] = FALCON_PSP_VER_NONE;
	EXPECT_EQ(falcon_cm_check_answer(&asked, &answer),
		  FALCON_CM_TLV_SECURITY);
}

/* spec: no answer before the cookie is longer than the INIT it answers */
TEST(no_amplification)
{
	struct falcon_cm_msg m = {
		.type = FALCON_CM_COOKIE, .present = FALCON_CM_HAS_COOKIE,
		.cookie = cookie,
	}, got;
	unsigned int len;

	EXPECT_LT(falcon_cm_build(&m, buf), FALCON_CM_INIT_MIN);
	m.type = FALCON_CM_REFUSE;
	m.present = FALCON_CM_HAS_REASON;
	m.reason = FALCON_CM_NO_SERVICE;
	EXPECT_LT(falcon_cm_build(&m, buf), FALCON_CM_INIT_MIN);

	len = falcon_cm_build(&init, buf);
	EXPECT_GE(len, FALCON_CM_INIT_MIN);
	len = find_tlv(len, FALCON_CM_TLV_PAD);
	((struct falcon_cm_hdr *)buf)->len = cpu_to_be16(len);
	EXPECT_EQ(falcon_cm_parse(buf, len, &got), -FALCON_CM_ERR_SHORT);
}

/* spec: the cookie stands last and signs all that is before it */
TEST(cookie_is_appended_to_the_same_bytes)
{
	unsigned int len = falcon_cm_build(&init, buf), n;
	struct falcon_cm_msg got;
	u8 body[FALCON_CM_INIT_MIN];

	memcpy(body, buf, len);
	n = falcon_cm_append_cookie(buf, len, cookie);
	ASSERT_EQ(n, len + FALCON_CM_COOKIE_TLV_LEN);
	ASSERT_EQ(falcon_cm_parse(buf, n, &got), 0);
	EXPECT_EQ(got.body_len, len);
	EXPECT_BYTES(got.cookie, cookie, sizeof(cookie));
	EXPECT_BYTES(buf + 8, body + 8, len - 8);

	n = falcon_cm_append_cookie(buf, len, cookie);
	EXPECT_EQ(n, len + FALCON_CM_COOKIE_TLV_LEN);
	EXPECT_EQ(falcon_cm_parse(buf, n, &got), 0);
}

/* spec: an unknown critical TLV refuses, another is skipped */
TEST(unknown_tlv)
{
	static const u8 optional[] = {
		0x80, 0x11, 0, 4, 0, 3, 0, 0, 0x00, 0x77, 0, 1, 9, 0, 0, 0,
	};
	static const u8 critical[] = {
		0x80, 0x11, 0, 4, 0, 3, 0, 0, 0x80, 0x77, 0, 1, 9, 0, 0, 0,
	};
	struct falcon_cm_msg got;
	unsigned int len;

	len = message(FALCON_CM_REFUSE, optional, sizeof(optional));
	EXPECT_EQ(falcon_cm_parse(buf, len, &got), 0);
	EXPECT_EQ(got.reason, FALCON_CM_BAD_TLV);

	len = message(FALCON_CM_REFUSE, critical, sizeof(critical));
	EXPECT_EQ(falcon_cm_parse(buf, len, &got), -FALCON_CM_ERR_UNKNOWN);
	EXPECT_EQ(got.detail, 0x8077);
	EXPECT_EQ(got.nonce, init.nonce);
	EXPECT_EQ(falcon_cm_err_reason(FALCON_CM_ERR_UNKNOWN),
		  FALCON_CM_BAD_TLV);
}

/* spec: TLVs stand in ascending order, each once */
TEST(tlv_order)
{
	static const u8 twice[] = {
		0x80, 0x11, 0, 4, 0, 3, 0, 0, 0x80, 0x11, 0, 4, 0, 3, 0, 0,
	};
	static const u8 descending[] = {
		0x80, 0x11, 0, 4, 0, 3, 0, 0,
		0x80, 0x02, 0, 12, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2,
	};
	struct falcon_cm_msg got;
	unsigned int len;

	len = message(FALCON_CM_REFUSE, twice, sizeof(twice));
	EXPECT_EQ(falcon_cm_parse(buf, len, &got), -FALCON_CM_ERR_ORDER);
	len = message(FALCON_CM_RESET, descending, sizeof(descending));
	EXPECT_EQ(falcon_cm_parse(buf, len, &got), -FALCON_CM_ERR_ORDER);
}

/* spec: a TLV that the type of message does not carry */
TEST(tlv_out_of_place)
{
	static const u8 echo[] = {
		0x80, 0x02, 0, 12, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2,
		0x80, 0x11, 0, 4, 0, 3, 0, 0,
	};
	struct falcon_cm_msg got;
	unsigned int len = message(FALCON_CM_REFUSE, echo, sizeof(echo));

	EXPECT_EQ(falcon_cm_parse(buf, len, &got), -FALCON_CM_ERR_PLACE);
	len = message(FALCON_CM_RESET, echo, sizeof(echo));
	EXPECT_EQ(falcon_cm_parse(buf, len, &got), 0);
}

/* spec: lengths: of the message, of a TLV, of its fill; fill is zero */
TEST(lengths_and_fill)
{
	u8 tlv[] = { 0x80, 0x11, 0, 4, 0, 3, 0, 0, 0, 0x77, 0, 1, 9, 0, 0, 0 };
	struct falcon_cm_hdr *h = (void *)buf;
	struct falcon_cm_msg got;
	unsigned int len = message(FALCON_CM_REFUSE, tlv, sizeof(tlv));

	EXPECT_EQ(falcon_cm_parse(buf, 15, &got), -FALCON_CM_ERR_SHORT);
	EXPECT_EQ(falcon_cm_parse(buf, len - 1, &got), -FALCON_CM_ERR_LENGTH);
	h->len = cpu_to_be16(len - 3);
	EXPECT_EQ(falcon_cm_parse(buf, len - 3, &got), -FALCON_CM_ERR_LENGTH);
	h->len = cpu_to_be16(len - 6);
	EXPECT_EQ(falcon_cm_parse(buf, len - 6, &got), -FALCON_CM_ERR_LENGTH);

	tlv[11] = 6;
	len = message(FALCON_CM_REFUSE, tlv, sizeof(tlv));
	EXPECT_EQ(falcon_cm_parse(buf, len, &got), -FALCON_CM_ERR_LENGTH);
	tlv[11] = 1;
	tlv[15] = 1;
	len = message(FALCON_CM_REFUSE, tlv, sizeof(tlv));
	EXPECT_EQ(falcon_cm_parse(buf, len, &got), -FALCON_CM_ERR_FILL);

	len = falcon_cm_build(&init, buf);
	buf[len - 1] = 1;
	EXPECT_EQ(falcon_cm_parse(buf, len, &got), -FALCON_CM_ERR_FILL);
}

/* spec: magic, version and type; another version can be refused */
TEST(header_fields)
{
	static const u8 reason[] = { 0x80, 0x11, 0, 4, 0, 3, 0, 0 };
	struct falcon_cm_hdr *h = (void *)buf;
	struct falcon_cm_msg got;
	unsigned int len;

	len = message(FALCON_CM_REFUSE, reason, sizeof(reason));
	h->magic ^= cpu_to_be32(1);
	EXPECT_EQ(falcon_cm_parse(buf, len, &got), -FALCON_CM_ERR_MAGIC);
	message(0, reason, sizeof(reason));
	EXPECT_EQ(falcon_cm_parse(buf, len, &got), -FALCON_CM_ERR_TYPE);
	message(FALCON_CM_REKEY_ACK + 1, reason, sizeof(reason));
	EXPECT_EQ(falcon_cm_parse(buf, len, &got), -FALCON_CM_ERR_TYPE);

	message(FALCON_CM_REFUSE, reason, sizeof(reason));
	h->version = 2;
	EXPECT_EQ(falcon_cm_parse(buf, len, &got), 0);
	EXPECT_EQ(got.reason, FALCON_CM_BAD_TLV);

	len = falcon_cm_build(&init, buf);
	h->version = 2;
	EXPECT_EQ(falcon_cm_parse(buf, len, &got), -FALCON_CM_ERR_VERSION);
	EXPECT_EQ(got.type, FALCON_CM_INIT);
	EXPECT_EQ(got.nonce, init.nonce);
	EXPECT_EQ(falcon_cm_err_reason(FALCON_CM_ERR_VERSION),
		  FALCON_CM_BAD_VERSION);
}

/* spec: each mandatory TLV is missed, by name */
TEST(mandatory_tlvs)
{
	static const u16 types[] = {
		FALCON_CM_TLV_ENDPOINT, FALCON_CM_TLV_SERVICE,
		FALCON_CM_TLV_SEQUENCE, FALCON_CM_TLV_TIME,
		FALCON_CM_TLV_WINDOW, FALCON_CM_TLV_PATH,
		FALCON_CM_TLV_TIMERS, FALCON_CM_TLV_CREDITS,
		FALCON_CM_TLV_FEATURES, FALCON_CM_TLV_SECURITY,
	};
	static const u32 bits[] = {
		FALCON_CM_HAS_ENDPOINT, FALCON_CM_HAS_SERVICE,
		FALCON_CM_HAS_SEQUENCE, FALCON_CM_HAS_TIME,
		FALCON_CM_HAS_WINDOW, FALCON_CM_HAS_PATH,
		FALCON_CM_HAS_TIMERS, FALCON_CM_HAS_CREDITS,
		FALCON_CM_HAS_FEATURES, FALCON_CM_HAS_SECURITY,
	};
	struct falcon_cm_msg m, got;
	unsigned int i, len;

	for (i = 0; i < ARRAY_SIZE(types); i++) {
		m = init;
		m.present &= ~bits[i];
		len = falcon_cm_build(&m, buf);
		EXPECT_EQ(falcon_cm_parse(buf, len, &got),
			  -FALCON_CM_ERR_MISSING);
		EXPECT_EQ(got.detail, types[i]);
	}
	EXPECT_EQ(falcon_cm_err_reason(FALCON_CM_ERR_MISSING),
		  FALCON_CM_BAD_PARAM);
}

#define EXPECT_BAD(change, tlv) do {					\
	struct falcon_cm_msg m = init, got;				\
	unsigned int len;						\
									\
	change;								\
	len = falcon_cm_build(&m, buf);					\
	EXPECT_EQ(falcon_cm_parse(buf, len, &got), -FALCON_CM_ERR_VALUE); \
	EXPECT_EQ(got.detail, tlv);					\
} while (0)

/* spec: ranges of values */
TEST(value_ranges)
{
	EXPECT_BAD(m.cid = 0x1000000, FALCON_CM_TLV_ENDPOINT);
	EXPECT_BAD(m.fn = 0x1000000, FALCON_CM_TLV_ENDPOINT);
	EXPECT_BAD(m.spi = 0, FALCON_CM_TLV_ENDPOINT);
	EXPECT_BAD(m.rx_win[0] = 0, FALCON_CM_TLV_WINDOW);
	EXPECT_BAD(m.rx_win[1] = 0, FALCON_CM_TLV_WINDOW);
	EXPECT_BAD(m.mtu = FALCON_CM_MTU_MIN - 1, FALCON_CM_TLV_PATH);
	EXPECT_BAD(m.ttl = 0, FALCON_CM_TLV_PATH);
	EXPECT_BAD(m.nr_flows = 0, FALCON_CM_TLV_PATH);
	EXPECT_BAD(m.nr_flows = 5, FALCON_CM_TLV_PATH);
	EXPECT_BAD(m.min_rto_us = 0, FALCON_CM_TLV_TIMERS);
	EXPECT_BAD(m.min_rto_us = 1001, FALCON_CM_TLV_TIMERS);
	EXPECT_BAD(m.max_rto_us = 999, FALCON_CM_TLV_TIMERS);
	EXPECT_BAD(m.nr_versions = 0, FALCON_CM_TLV_SECURITY);
}

/* spec: a reserved byte that is set */
TEST(reserved_bytes)
{
	unsigned int len = falcon_cm_build(&init, buf);
	struct falcon_cm_msg got;

	buf[find_tlv(len, FALCON_CM_TLV_SERVICE) + 15] = 1;
	EXPECT_EQ(falcon_cm_parse(buf, len, &got), -FALCON_CM_ERR_VALUE);
	EXPECT_EQ(got.detail, FALCON_CM_TLV_SERVICE);
}

/*
 * spec: 7.7.2+1 wide windows are as wide as both ends ask for; a peer with those
 * of section 9 gets EACKs of 7.7.2
 */
TEST(wide_windows_are_agreed_9)
{
	static const u16 win[][FALCON_NR_WIN] = {
		{ 64, 128 }, { 64, 129 }, { 65, 10 }, { 200, 300 }, { 256, 512 },
		{ 1000, 60000 },
	};
	static const u8 shift[] = { 0, 1, 1, 2, 2, 2 };
	u32 i, k, w;

	for (i = 0; i < ARRAY_SIZE(win); i++)
		for (k = 0; k < ARRAY_SIZE(win); k++) {
			struct falcon_cm_msg own = init, peer = answer_to(&init);
			struct falcon_core_cfg a = { .tx_win = { 1024, 1024 } };
			struct falcon_core_cfg b = a;

			memcpy(own.rx_win, win[i], sizeof(own.rx_win));
			memcpy(peer.rx_win, win[k], sizeof(own.rx_win));
			falcon_cm_agree(&a, &own, &peer);
			falcon_cm_agree(&b, &peer, &own);
			EXPECT_EQ(a.win_shift, min(shift[i], shift[k]));
			EXPECT_EQ(b.win_shift, a.win_shift);
			for (w = 0; w < FALCON_NR_WIN; w++) {
				EXPECT_LE(a.rx_win[w], win[i][w]);
				EXPECT_LE(a.rx_win[w], falcon_win_max(&a, w));
				EXPECT_EQ(a.tx_win[w], b.rx_win[w]);
			}
		}
}

/* spec: what a peer says of time-outs stays within what an end may set for itself. */
TEST(no_peer_dictates_endless_timeouts)
{
	struct falcon_cm_msg acc = answer_to(&init);
	struct falcon_core_cfg cfg = { .tx_win = { 1024, 1024 } };

	acc.rto_us = U32_MAX;
	acc.min_rto_us = U32_MAX;
	acc.max_rto_us = U32_MAX;
	falcon_cm_agree(&cfg, &init, &acc);
	EXPECT_EQ(cfg.rto_ns, FALCON_RTO_MOST_US * 1000ULL);
	EXPECT_EQ(cfg.min_rto_ns, FALCON_RTO_MOST_US * 1000ULL);
	EXPECT_EQ(cfg.max_rto_ns, FALCON_MAX_RTO_MOST_US * 1000ULL);
}

/* spec: both ends come to the same parameters, mirrored */
TEST(both_ends_agree)
{
	struct falcon_cm_msg acc = answer_to(&init);
	struct falcon_core_cfg a = { .tx_win = { 1024, 1024 } };
	struct falcon_core_cfg b = { .tx_win = { 1024, 50 } };
	int i;

	acc.mtu = 8000;
	acc.nr_flows = 2;
	acc.rto_us = 500;
	acc.min_rto_us = 400;
	acc.max_rto_us = 200000;
	acc.features = FALCON_F_ORDERED | BIT(9);
	falcon_cm_reduce(&acc, &init);
	ASSERT_EQ(falcon_cm_check_answer(&init, &acc), 0);
	falcon_cm_agree(&a, &init, &acc);
	falcon_cm_agree(&b, &acc, &init);

	EXPECT_EQ(a.cid, b.peer_cid);
	EXPECT_EQ(b.cid, a.peer_cid);
	EXPECT_EQ(a.peer_fn, 7);
	EXPECT_EQ(b.peer_fn, 0x123456);
	EXPECT_EQ(a.mtu, 4096);
	EXPECT_EQ(b.mtu, 4096);
	EXPECT_EQ(a.nr_flows, 2);
	EXPECT_EQ(b.nr_flows, 2);
	EXPECT_EQ(a.features, FALCON_F_ORDERED);
	EXPECT_EQ(b.features, FALCON_F_ORDERED);
	EXPECT_EQ(a.rto_ns, 1000000);
	EXPECT_EQ(b.rto_ns, 1000000);
	EXPECT_EQ(a.min_rto_ns, 400000);
	EXPECT_EQ(b.min_rto_ns, 400000);
	EXPECT_EQ(a.max_rto_ns, 200000000);
	EXPECT_EQ(b.max_rto_ns, 200000000);
	EXPECT_EQ(a.tx_rsn, b.rx_rsn);
	EXPECT_EQ(b.tx_rsn, a.rx_rsn);
	EXPECT_NE(a.tx_rsn, b.tx_rsn);
	for (i = 0; i < FALCON_NR_WIN; i++) {
		EXPECT_EQ(a.tx_psn[i], b.rx_psn[i]);
		EXPECT_EQ(b.tx_psn[i], a.rx_psn[i]);
		EXPECT_NE(a.tx_psn[i], b.tx_psn[i]);
		EXPECT_LE(a.tx_win[i], b.rx_win[i]);
		EXPECT_LE(b.tx_win[i], a.rx_win[i]);
	}
	EXPECT_EQ(a.rx_win[FALCON_WIN_DATA], 128);
	EXPECT_EQ(b.rx_win[FALCON_WIN_DATA], 100);
	EXPECT_EQ(a.tx_win[FALCON_WIN_DATA], 100);
	EXPECT_EQ(b.tx_win[FALCON_WIN_DATA], 50);
}

#define EXPECT_WRONG(change, tlv) do {					\
	struct falcon_cm_msg m = answer_to(&init);			\
									\
	change;								\
	EXPECT_EQ(falcon_cm_check_answer(&init, &m), tlv);		\
} while (0)

/* spec: an ACCEPT may only reduce what the INIT asked for */
TEST(answer_may_only_reduce)
{
	EXPECT_WRONG(m.mtu = init.mtu, 0);
	EXPECT_WRONG(m.echo_cid++, FALCON_CM_TLV_ECHO);
	EXPECT_WRONG(m.echo_pcid++, FALCON_CM_TLV_ECHO);
	EXPECT_WRONG(m.mtu++, FALCON_CM_TLV_PATH);
	EXPECT_WRONG(m.nr_flows++, FALCON_CM_TLV_PATH);
	EXPECT_WRONG(m.rto_us--, FALCON_CM_TLV_TIMERS);
	EXPECT_WRONG(m.min_rto_us--, FALCON_CM_TLV_TIMERS);
	EXPECT_WRONG(m.max_rto_us--, FALCON_CM_TLV_TIMERS);
	EXPECT_WRONG(m.features |= BIT(20), FALCON_CM_TLV_FEATURES);
	EXPECT_WRONG(m.features &= ~FALCON_F_ORDERED, FALCON_CM_TLV_FEATURES);
	EXPECT_WRONG(m.features &= ~FALCON_F_EACK_ALWAYS, 0);
	EXPECT_WRONG(m.versions[0] = 1, FALCON_CM_TLV_SECURITY);
	EXPECT_WRONG((m.nr_versions = 2, m.versions[1] = 15),
		     FALCON_CM_TLV_SECURITY);
}

/* spec: the initiator's favourite among what the responder has */
TEST(security_choice)
{
	struct falcon_cm_msg m = {
		.nr_versions = 4, .versions = { 200, 1, 0, 15 },
	};
	u8 v = 0;

	EXPECT_TRUE(falcon_cm_choose_version(&m, BIT(0) | BIT(15), &v));
	EXPECT_EQ(v, 0);
	EXPECT_TRUE(falcon_cm_choose_version(&m, BIT(15), &v));
	EXPECT_EQ(v, 15);
	EXPECT_FALSE(falcon_cm_choose_version(&m, BIT(2), &v));
}

/* spec: reasons become errnos, and errnos reasons */
TEST(reasons_and_errnos)
{
	EXPECT_EQ(falcon_cm_reason_errno(FALCON_CM_NO_SERVICE), -ECONNREFUSED);
	EXPECT_EQ(falcon_cm_reason_errno(FALCON_CM_BAD_VERSION),
		  -EPROTONOSUPPORT);
	EXPECT_EQ(falcon_cm_reason_errno(FALCON_CM_LIMIT), -ENOBUFS);
	EXPECT_EQ(falcon_cm_reason_errno(0xffff), -ECONNREFUSED);
	EXPECT_EQ(falcon_cm_errno_reason(-ECONNREFUSED), FALCON_CM_REJECTED);
	EXPECT_EQ(falcon_cm_errno_reason(-ENOMEM), FALCON_CM_LIMIT);
	EXPECT_EQ(falcon_cm_errno_reason(-EIO), FALCON_CM_REJECTED);
}

/* spec: no bit of a message can change and it still parse as the same */
TEST(every_bit_matters)
{
	unsigned int len = falcon_cm_build(&init, buf), i;
	struct falcon_cm_msg want, got;

	ASSERT_EQ(falcon_cm_parse(buf, len, &want), 0);
	for (i = 0; i < len * 8; i++) {
		buf[i / 8] ^= 1 << i % 8;
		if (!falcon_cm_parse(buf, len, &got) &&
		    got.type == want.type && got.present == want.present)
			EXPECT_TRUE(memcmp(&got, &want, sizeof(got)));
		buf[i / 8] ^= 1 << i % 8;
	}
}
