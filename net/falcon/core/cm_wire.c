// SPDX-License-Identifier: GPL-2.0
/*
 * Messages of the connection manager, between their bytes and struct
 * falcon_cm_msg, and the rule by which two offers become one connection.
 *
 * cm.c parses each packet of its port here first and believes nothing before.
 * One table says for each TLV its size and how to read and write it, another
 * for each message what it must and may carry. All that is reserved is zero and
 * the order of TLVs is fixed, so a message has one form only: a cookie or a MAC
 * over bytes is one over what they mean.
 */
#include <linux/bug.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <asm/byteorder.h>

#include "cm_wire.h"

/* A TLV: values of @min to @max bytes; @get reads one, false if it is out of
 * range; @put writes one and returns its bytes. Those of one size that are kept
 * as they are have @ptr instead, the offset of their pointer in a message.
 */
struct cm_tlv_def {
	u16 type;
	u16 min;
	u16 max;
	u16 ptr;
	bool (*get)(struct falcon_cm_msg *m, const void *v, u16 len);
	unsigned int (*put)(const struct falcon_cm_msg *m, void *v);
};

static bool get_endpoint(struct falcon_cm_msg *m, const void *v, u16 len)
{
	const struct falcon_cm_w_endpoint *w = v;

	m->cid = be32_to_cpu(w->cid);
	m->fn = be32_to_cpu(w->fn);
	m->spi = be32_to_cpu(w->spi);
	m->pcid = be64_to_cpu(w->pcid);
	return m->cid <= FALCON_CID_MASK && m->fn <= FALCON_CID_MASK && m->spi;
}

static unsigned int put_endpoint(const struct falcon_cm_msg *m, void *v)
{
	struct falcon_cm_w_endpoint *w = v;

	w->cid = cpu_to_be32(m->cid);
	w->fn = cpu_to_be32(m->fn);
	w->spi = cpu_to_be32(m->spi);
	w->pcid = cpu_to_be64(m->pcid);
	return sizeof(*w);
}

static bool get_echo(struct falcon_cm_msg *m, const void *v, u16 len)
{
	const struct falcon_cm_w_echo *w = v;

	m->echo_cid = be32_to_cpu(w->cid);
	m->echo_pcid = be64_to_cpu(w->pcid);
	return m->echo_cid <= FALCON_CID_MASK;
}

static unsigned int put_echo(const struct falcon_cm_msg *m, void *v)
{
	struct falcon_cm_w_echo *w = v;

	w->cid = cpu_to_be32(m->echo_cid);
	w->pcid = cpu_to_be64(m->echo_pcid);
	return sizeof(*w);
}

static bool get_service(struct falcon_cm_msg *m, const void *v, u16 len)
{
	const struct falcon_cm_w_service *w = v;

	m->service = be32_to_cpu(w->service);
	m->src_service = be32_to_cpu(w->src_service);
	m->proto = w->proto;
	return !memchr_inv(w->reserved, 0, sizeof(w->reserved));
}

static unsigned int put_service(const struct falcon_cm_msg *m, void *v)
{
	struct falcon_cm_w_service *w = v;

	w->service = cpu_to_be32(m->service);
	w->src_service = cpu_to_be32(m->src_service);
	w->proto = m->proto;
	memset(w->reserved, 0, sizeof(w->reserved));
	return sizeof(*w);
}

static bool get_sequence(struct falcon_cm_msg *m, const void *v, u16 len)
{
	const struct falcon_cm_w_sequence *w = v;
	int i;

	for (i = 0; i < FALCON_NR_WIN; i++)
		m->psn[i] = be32_to_cpu(w->psn[i]);
	m->rsn = be32_to_cpu(w->rsn);
	return true;
}

static unsigned int put_sequence(const struct falcon_cm_msg *m, void *v)
{
	struct falcon_cm_w_sequence *w = v;
	int i;

	for (i = 0; i < FALCON_NR_WIN; i++)
		w->psn[i] = cpu_to_be32(m->psn[i]);
	w->rsn = cpu_to_be32(m->rsn);
	return sizeof(*w);
}

static bool get_time(struct falcon_cm_msg *m, const void *v, u16 len)
{
	__be64 w;

	memcpy(&w, v, sizeof(w));
	m->time_ps = be64_to_cpu(w);
	return true;
}

static unsigned int put_time(const struct falcon_cm_msg *m, void *v)
{
	__be64 w = cpu_to_be64(m->time_ps);

	memcpy(v, &w, sizeof(w));
	return sizeof(w);
}

static bool get_window(struct falcon_cm_msg *m, const void *v, u16 len)
{
	const __be16 *w = v;
	int i;

	for (i = 0; i < FALCON_NR_WIN; i++)
		m->rx_win[i] = be16_to_cpu(w[i]);
	return m->rx_win[FALCON_WIN_REQ] && m->rx_win[FALCON_WIN_DATA];
}

static unsigned int put_window(const struct falcon_cm_msg *m, void *v)
{
	__be16 *w = v;
	int i;

	for (i = 0; i < FALCON_NR_WIN; i++)
		w[i] = cpu_to_be16(m->rx_win[i]);
	return FALCON_NR_WIN * sizeof(*w);
}

static bool get_path(struct falcon_cm_msg *m, const void *v, u16 len)
{
	const struct falcon_cm_w_path *w = v;
	int i;

	m->mtu = be16_to_cpu(w->mtu);
	m->ttl = w->ttl;
	m->nr_flows = w->nr_flows;
	for (i = 0; i < FALCON_MAX_FLOWS; i++)
		m->flow_port[i] = be16_to_cpu(w->flow_port[i]);
	return m->mtu >= FALCON_CM_MTU_MIN && m->ttl &&
	       m->nr_flows && m->nr_flows <= FALCON_MAX_FLOWS;
}

static unsigned int put_path(const struct falcon_cm_msg *m, void *v)
{
	struct falcon_cm_w_path *w = v;
	int i;

	w->mtu = cpu_to_be16(m->mtu);
	w->ttl = m->ttl;
	w->nr_flows = m->nr_flows;
	for (i = 0; i < FALCON_MAX_FLOWS; i++)
		w->flow_port[i] = cpu_to_be16(m->flow_port[i]);
	return sizeof(*w);
}

static bool get_timers(struct falcon_cm_msg *m, const void *v, u16 len)
{
	const struct falcon_cm_w_timers *w = v;

	m->rto_us = be32_to_cpu(w->rto_us);
	m->min_rto_us = be32_to_cpu(w->min_rto_us);
	m->max_rto_us = be32_to_cpu(w->max_rto_us);
	return m->min_rto_us && m->min_rto_us <= m->rto_us &&
	       m->rto_us <= m->max_rto_us;
}

static unsigned int put_timers(const struct falcon_cm_msg *m, void *v)
{
	struct falcon_cm_w_timers *w = v;

	w->rto_us = cpu_to_be32(m->rto_us);
	w->min_rto_us = cpu_to_be32(m->min_rto_us);
	w->max_rto_us = cpu_to_be32(m->max_rto_us);
	return sizeof(*w);
}

static bool get_credits(struct falcon_cm_msg *m, const void *v, u16 len)
{
	const __be16 *w = v;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(m->credits); i++)
		m->credits[i] = be16_to_cpu(w[i]);
	return true;
}

static unsigned int put_credits(const struct falcon_cm_msg *m, void *v)
{
	__be16 *w = v;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(m->credits); i++)
		w[i] = cpu_to_be16(m->credits[i]);
	return sizeof(m->credits);
}

static bool get_features(struct falcon_cm_msg *m, const void *v, u16 len)
{
	m->features = be32_to_cpu(*(const __be32 *)v);
	return true;
}

static unsigned int put_features(const struct falcon_cm_msg *m, void *v)
{
	*(__be32 *)v = cpu_to_be32(m->features);
	return sizeof(__be32);
}

static bool get_security(struct falcon_cm_msg *m, const void *v, u16 len)
{
	memcpy(m->versions, v, len);
	m->nr_versions = len;
	return true;
}

static unsigned int put_security(const struct falcon_cm_msg *m, void *v)
{
	memcpy(v, m->versions, m->nr_versions);
	return m->nr_versions;
}

static bool get_reason(struct falcon_cm_msg *m, const void *v, u16 len)
{
	const struct falcon_cm_w_reason *w = v;

	m->reason = be16_to_cpu(w->reason);
	m->detail = be16_to_cpu(w->detail);
	return m->reason;
}

static unsigned int put_reason(const struct falcon_cm_msg *m, void *v)
{
	struct falcon_cm_w_reason *w = v;

	w->reason = cpu_to_be16(m->reason);
	w->detail = cpu_to_be16(m->detail);
	return sizeof(*w);
}

static bool get_spi(struct falcon_cm_msg *m, const void *v, u16 len)
{
	m->rekey_spi = be32_to_cpu(*(const __be32 *)v);
	return m->rekey_spi;
}

static unsigned int put_spi(const struct falcon_cm_msg *m, void *v)
{
	*(__be32 *)v = cpu_to_be32(m->rekey_spi);
	return sizeof(__be32);
}

static bool get_private(struct falcon_cm_msg *m, const void *v, u16 len)
{
	m->priv = v;
	m->priv_len = len;
	return true;
}

static unsigned int put_private(const struct falcon_cm_msg *m, void *v)
{
	memcpy(v, m->priv, m->priv_len);
	return m->priv_len;
}

static bool get_pad(struct falcon_cm_msg *m, const void *v, u16 len)
{
	return !memchr_inv(v, 0, len);
}

#define CM_TLV(name, lo, hi, fn) {					\
	.type = FALCON_CM_TLV_##name, .min = lo, .max = hi,		\
	.get = get_##fn, .put = put_##fn				\
}

#define CM_FIXED(name, w, fn) {						\
	.type = FALCON_CM_TLV_##name, .min = sizeof(w), .max = sizeof(w), \
	.get = get_##fn, .put = put_##fn				\
}

#define CM_BYTES(name, field) {						\
	.type = FALCON_CM_TLV_##name,					\
	.min = FALCON_CM_##name##_LEN, .max = FALCON_CM_##name##_LEN,	\
	.ptr = offsetof(struct falcon_cm_msg, field)			\
}

/* Ascending, as on the wire; the index is the bit in falcon_cm_msg::present. */
static const struct cm_tlv_def cm_tlvs[] = {
	CM_FIXED(ENDPOINT, struct falcon_cm_w_endpoint, endpoint),
	CM_FIXED(ECHO, struct falcon_cm_w_echo, echo),
	CM_FIXED(SERVICE, struct falcon_cm_w_service, service),
	CM_FIXED(SEQUENCE, struct falcon_cm_w_sequence, sequence),
	CM_FIXED(TIME, __be64, time),
	CM_FIXED(WINDOW, __be16[FALCON_NR_WIN], window),
	CM_FIXED(PATH, struct falcon_cm_w_path, path),
	CM_FIXED(TIMERS, struct falcon_cm_w_timers, timers),
	CM_FIXED(CREDITS, __be16[6], credits),
	CM_FIXED(FEATURES, __be32, features),
	CM_TLV(SECURITY, 1, FALCON_CM_MAX_OFFERS, security),
	CM_BYTES(KEY_ID, key_id),
	CM_BYTES(DH, dh),
	CM_BYTES(WRAPPED, wrapped),
	CM_BYTES(KEY_CONF, key_conf),
	CM_TLV(PRIVATE, 0, FALCON_CM_PRIV_MAX, private),
	CM_FIXED(REASON, struct falcon_cm_w_reason, reason),
	CM_FIXED(SPI, __be32, spi),
	{ .type = FALCON_CM_TLV_PAD, .max = FALCON_CM_MAX_LEN, .get = get_pad },
	CM_BYTES(COOKIE, cookie),
	CM_BYTES(AUTH, auth),
};

/* What a message must carry, and what it may beside that */
static const struct {
	u32 must;
	u32 may;
} cm_types[] = {
	[FALCON_CM_INIT] = {
		.must = FALCON_CM_HAS_PARAMS | FALCON_CM_HAS_SERVICE,
		.may = FALCON_CM_HAS_KEY_ID | FALCON_CM_HAS_DH |
		       FALCON_CM_HAS_PRIVATE | FALCON_CM_HAS_PAD |
		       FALCON_CM_HAS_COOKIE,
	},
	[FALCON_CM_COOKIE] = {
		.must = FALCON_CM_HAS_COOKIE,
	},
	[FALCON_CM_ACCEPT] = {
		.must = FALCON_CM_HAS_PARAMS | FALCON_CM_HAS_ECHO,
		.may = FALCON_CM_HAS_KEY_ID | FALCON_CM_HAS_DH |
		       FALCON_CM_HAS_WRAPPED | FALCON_CM_HAS_KEY_CONF |
		       FALCON_CM_HAS_PRIVATE,
	},
	[FALCON_CM_CONFIRM] = {
		.must = FALCON_CM_HAS_ECHO,
		.may = FALCON_CM_HAS_WRAPPED | FALCON_CM_HAS_KEY_CONF,
	},
	[FALCON_CM_REFUSE] = {
		.must = FALCON_CM_HAS_REASON,
	},
	[FALCON_CM_RESET] = {
		.must = FALCON_CM_HAS_REASON,
		.may = FALCON_CM_HAS_ECHO | FALCON_CM_HAS_AUTH,
	},
	[FALCON_CM_REKEY] = {
		.must = FALCON_CM_HAS_ECHO | FALCON_CM_HAS_WRAPPED |
			FALCON_CM_HAS_AUTH,
	},
	[FALCON_CM_REKEY_ACK] = {
		.must = FALCON_CM_HAS_ECHO | FALCON_CM_HAS_SPI |
			FALCON_CM_HAS_AUTH,
	},
};

static u16 cm_tlv_order(u16 type)
{
	return type & ~FALCON_CM_CRITICAL;
}

static bool cm_get_value(struct falcon_cm_msg *m, const struct cm_tlv_def *def,
			 const void *v, u16 len)
{
	if (def->get)
		return def->get(m, v, len);
	*(const u8 **)((u8 *)m + def->ptr) = v;
	return true;
}

static unsigned int cm_put_value(const struct falcon_cm_msg *m,
				 const struct cm_tlv_def *def, void *v)
{
	if (def->put)
		return def->put(m, v);
	memcpy(v, *(const u8 **)((u8 *)m + def->ptr), def->max);
	return def->max;
}

static int cm_parse_tlv(struct falcon_cm_msg *m, u16 type, const void *v,
			u16 len)
{
	const struct cm_tlv_def *def;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cm_tlvs); i++)
		if (cm_tlvs[i].type == type)
			break;
	if (i == ARRAY_SIZE(cm_tlvs))
		return type & FALCON_CM_CRITICAL ? -FALCON_CM_ERR_UNKNOWN : 0;

	def = &cm_tlvs[i];
	if (!((cm_types[m->type].must | cm_types[m->type].may) & BIT(i)))
		return -FALCON_CM_ERR_PLACE;
	if (len < def->min || len > def->max || !cm_get_value(m, def, v, len))
		return def->type == FALCON_CM_TLV_PAD ? -FALCON_CM_ERR_FILL :
							-FALCON_CM_ERR_VALUE;
	m->present |= BIT(i);
	return 0;
}

static int cm_parse_tlvs(struct falcon_cm_msg *m, const u8 *buf,
			 unsigned int len)
{
	unsigned int pos = sizeof(struct falcon_cm_hdr), end, fill;
	const struct falcon_cm_tlv *tlv;
	u16 type, vlen;
	int last = -1;
	int err;

	for (; pos < len; pos = end + fill) {
		if (len - pos < sizeof(*tlv))
			return -FALCON_CM_ERR_LENGTH;
		tlv = (const void *)(buf + pos);
		type = be16_to_cpu(tlv->type);
		vlen = be16_to_cpu(tlv->len);
		end = pos + sizeof(*tlv) + vlen;
		fill = -vlen & 3;
		if (end + fill > len)
			return -FALCON_CM_ERR_LENGTH;
		if (cm_tlv_order(type) <= last)
			return -FALCON_CM_ERR_ORDER;
		if (memchr_inv(buf + end, 0, fill))
			return -FALCON_CM_ERR_FILL;
		if (type == FALCON_CM_TLV_COOKIE)
			m->body_len = pos;
		err = cm_parse_tlv(m, type, tlv + 1, vlen);
		if (err) {
			m->detail = type;
			return err;
		}
		last = cm_tlv_order(type);
	}
	return 0;
}

/* What encryption adds to a message: all of it, or nothing */
static u32 cm_security_tlvs(u8 type)
{
	switch (type) {
	case FALCON_CM_INIT:
		return FALCON_CM_HAS_DH;
	case FALCON_CM_ACCEPT:
		return FALCON_CM_HAS_DH | FALCON_CM_HAS_WRAPPED |
		       FALCON_CM_HAS_KEY_CONF;
	case FALCON_CM_CONFIRM:
		return FALCON_CM_HAS_WRAPPED | FALCON_CM_HAS_KEY_CONF;
	default:
		return 0;
	}
}

static bool cm_wants_security(const struct falcon_cm_msg *m)
{
	if (m->present & FALCON_CM_HAS_SECURITY)
		return falcon_cm_encrypted(m);
	return m->present & cm_security_tlvs(m->type);
}

static int cm_missing(struct falcon_cm_msg *m, u32 must)
{
	u32 missing = must & ~m->present;

	if (!missing)
		return 0;
	m->detail = cm_tlvs[__builtin_ctz(missing)].type;
	return -FALCON_CM_ERR_MISSING;
}

/* An offer of encryption with a way out of it would be no offer. */
static int cm_check_security(struct falcon_cm_msg *m)
{
	u32 tlvs = cm_security_tlvs(m->type);

	if (!tlvs)
		return 0;
	m->detail = FALCON_CM_TLV_SECURITY;
	if (m->type == FALCON_CM_ACCEPT && m->nr_versions != 1)
		return -FALCON_CM_ERR_VALUE;
	if (cm_wants_security(m)) {
		if (memchr(m->versions, FALCON_PSP_VER_NONE, m->nr_versions))
			return -FALCON_CM_ERR_VALUE;
		return cm_missing(m, tlvs);
	}
	if (m->present & (tlvs | FALCON_CM_HAS_KEY_ID))
		return -FALCON_CM_ERR_VALUE;
	m->detail = 0;
	return 0;
}

static int cm_check_present(struct falcon_cm_msg *m)
{
	int err = cm_missing(m, cm_types[m->type].must);

	return err ? err : cm_check_security(m);
}

/**
 * falcon_cm_parse() - parse and validate a message of the connection manager
 * @buf:	the UDP payload, aligned to 4 bytes
 * @len:	its bytes
 * @m:		the result. On an error only what enum falcon_cm_err says is
 *		valid in it. Pointers in it point into @buf
 *
 * Context: Any. Takes no lock.
 * Return: 0, or the negated enum falcon_cm_err (which is no errno).
 */
int falcon_cm_parse(const void *buf, unsigned int len, struct falcon_cm_msg *m)
{
	const struct falcon_cm_hdr *h = buf;
	int err;

	memset(m, 0, sizeof(*m));
	if (len < sizeof(*h))
		return -FALCON_CM_ERR_SHORT;
	if (be32_to_cpu(h->magic) != FALCON_CM_MAGIC)
		return -FALCON_CM_ERR_MAGIC;

	m->type = h->type;
	m->nonce = be64_to_cpu(h->nonce);
	m->body_len = len;
	if (m->type == FALCON_CM_INIT && len < FALCON_CM_INIT_MIN)
		return -FALCON_CM_ERR_SHORT;
	if (h->version != FALCON_CM_VERSION && m->type != FALCON_CM_REFUSE)
		return -FALCON_CM_ERR_VERSION;
	if (be16_to_cpu(h->len) != len || len > FALCON_CM_MAX_LEN)
		return -FALCON_CM_ERR_LENGTH;
	if (m->type < FALCON_CM_INIT || m->type > FALCON_CM_REKEY_ACK)
		return -FALCON_CM_ERR_TYPE;

	err = cm_parse_tlvs(m, buf, len);
	return err ? err : cm_check_present(m);
}

static unsigned int cm_put_tlv(u8 *buf, u16 type, unsigned int vlen)
{
	struct falcon_cm_tlv *tlv = (void *)buf;
	unsigned int fill = -vlen & 3;

	tlv->type = cpu_to_be16(type);
	tlv->len = cpu_to_be16(vlen);
	memset(buf + sizeof(*tlv) + vlen, 0, fill);
	return sizeof(*tlv) + vlen + fill;
}

/* An INIT is padded, the most that its answers may need. */
static unsigned int cm_put_pad(u8 *buf, unsigned int pos)
{
	unsigned int n = sizeof(struct falcon_cm_tlv);

	if (pos + n > FALCON_CM_INIT_MIN)
		return pos;
	n = FALCON_CM_INIT_MIN - pos - n;
	memset(buf + pos + sizeof(struct falcon_cm_tlv), 0, n);
	return pos + cm_put_tlv(buf + pos, FALCON_CM_TLV_PAD, n);
}

static void cm_put_len(void *buf, unsigned int len)
{
	struct falcon_cm_hdr *h = buf;

	h->len = cpu_to_be16(len);
}

/**
 * falcon_cm_build() - build a message of the connection manager
 * @m:		what it says; &falcon_cm_msg.present tells which TLVs. An INIT
 *		is built without cookie, see falcon_cm_append_cookie()
 * @buf:	where to: FALCON_CM_MAX_LEN bytes, aligned to 4. That is more than
 *		all TLVs together take
 *
 * Context: Any. Takes no lock.
 * Return: bytes of message.
 */
unsigned int falcon_cm_build(const struct falcon_cm_msg *m, void *buf)
{
	struct falcon_cm_hdr *h = buf;
	unsigned int pos = sizeof(*h), n, i;
	u32 present = m->present & ~FALCON_CM_HAS_PAD;
	void *v;

	h->magic = cpu_to_be32(FALCON_CM_MAGIC);
	h->version = FALCON_CM_VERSION;
	h->type = m->type;
	h->nonce = cpu_to_be64(m->nonce);

	for (i = 0; i < ARRAY_SIZE(cm_tlvs); i++) {
		if (!(present & BIT(i)))
			continue;
		v = buf + pos + sizeof(struct falcon_cm_tlv);
		n = cm_put_value(m, &cm_tlvs[i], v);
		pos += cm_put_tlv(buf + pos, cm_tlvs[i].type, n);
	}
	if (m->type == FALCON_CM_INIT)
		pos = cm_put_pad(buf, pos);
	cm_put_len(buf, pos);
	return pos;
}

/**
 * falcon_cm_append_cookie() - make an INIT one with a cookie
 * @buf:	an INIT that falcon_cm_build() built, with room for
 *		FALCON_CM_COOKIE_TLV_LEN bytes more than @body_len
 * @body_len:	bytes that falcon_cm_build() returned. An older cookie after
 *		them is replaced
 * @cookie:	FALCON_CM_COOKIE_LEN bytes from a COOKIE
 *
 * Context: Any. Takes no lock.
 * Return: bytes of message.
 */
unsigned int falcon_cm_append_cookie(void *buf, unsigned int body_len,
				     const u8 *cookie)
{
	void *value = buf + body_len + sizeof(struct falcon_cm_tlv);
	unsigned int n;

	memcpy(value, cookie, FALCON_CM_COOKIE_LEN);
	n = body_len + cm_put_tlv(buf + body_len, FALCON_CM_TLV_COOKIE,
				  FALCON_CM_COOKIE_LEN);
	cm_put_len(buf, n);
	return n;
}

/**
 * falcon_cm_err_reason() - whether a bad message is worth an answer
 * @err:	what falcon_cm_parse() returned, not negated
 *
 * Only what a correct peer of another version or build can send is.
 *
 * Return: the reason of a REFUSE, or 0 to drop the message in silence.
 */
enum falcon_cm_reason falcon_cm_err_reason(enum falcon_cm_err err)
{
	switch (err) {
	case FALCON_CM_ERR_VERSION:
		return FALCON_CM_BAD_VERSION;
	case FALCON_CM_ERR_UNKNOWN:
		return FALCON_CM_BAD_TLV;
	case FALCON_CM_ERR_VALUE:
	case FALCON_CM_ERR_MISSING:
		return FALCON_CM_BAD_PARAM;
	default:
		return 0;
	}
}

/* First the one that stands for an errno the upper layer refuses with */
static const struct {
	u16 reason;
	int err;
} cm_errnos[] = {
	{ FALCON_CM_REJECTED,		-ECONNREFUSED },
	{ FALCON_CM_NO_SERVICE,		-ECONNREFUSED },
	{ FALCON_CM_BAD_VERSION,	-EPROTONOSUPPORT },
	{ FALCON_CM_BAD_TLV,		-EPROTO },
	{ FALCON_CM_BAD_PARAM,		-EPROTO },
	{ FALCON_CM_BAD_SECURITY,	-EKEYREJECTED },
	{ FALCON_CM_BAD_MODE,		-EOPNOTSUPP },
	{ FALCON_CM_LIMIT,		-ENOBUFS },
	{ FALCON_CM_LIMIT,		-ENOMEM },
	{ FALCON_CM_DENIED,		-EACCES },
	{ FALCON_CM_DENIED,		-EPERM },
	{ FALCON_CM_CANCELLED,		-ECONNRESET },
	{ FALCON_CM_EXPIRED,		-ETIMEDOUT },
	{ FALCON_CM_KEY_MISSING,	-EKEYREJECTED },
	{ FALCON_CM_KEY_UNKNOWN,	-EKEYREJECTED },
	{ FALCON_CM_BAD_KEY,		-EKEYREJECTED },
};

/**
 * falcon_cm_reason_errno() - what a REFUSE or RESET means to a caller
 * @reason:	from the message, any value
 *
 * Return: a negative errno; -ECONNREFUSED for what is not known here.
 */
int falcon_cm_reason_errno(u16 reason)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cm_errnos); i++)
		if (cm_errnos[i].reason == reason)
			return cm_errnos[i].err;
	return -ECONNREFUSED;
}

/**
 * falcon_cm_errno_reason() - how to tell a peer of an error here
 * @err:	a negative errno
 *
 * Return: a reason; FALCON_CM_REJECTED for what has none of its own.
 */
enum falcon_cm_reason falcon_cm_errno_reason(int err)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cm_errnos); i++)
		if (cm_errnos[i].err == err)
			return cm_errnos[i].reason;
	return FALCON_CM_REJECTED;
}

/**
 * falcon_cm_encrypted() - whether an offer or an answer is of encryption
 * @m:	INIT or ACCEPT
 *
 * Return: false if it is of PSP version 15 alone, which is none.
 */
bool falcon_cm_encrypted(const struct falcon_cm_msg *m)
{
	return m->nr_versions != 1 || m->versions[0] != FALCON_PSP_VER_NONE;
}

/**
 * falcon_cm_choose_version() - the PSP version for a connection
 * @peer:	an INIT
 * @supported:	BIT(version) of each one to be had here
 * @version:	the initiator's favourite of those
 *
 * Return: true if there is one.
 */
bool falcon_cm_choose_version(const struct falcon_cm_msg *peer, u32 supported,
			      u8 *version)
{
	unsigned int i;

	for (i = 0; i < peer->nr_versions; i++) {
		*version = peer->versions[i];
		if (*version < 32 && supported & BIT(*version))
			return true;
	}
	return false;
}

/**
 * falcon_cm_reduce() - make an offer an answer
 * @own:	what the responder would like; becomes what both will use
 * @peer:	the INIT
 *
 * Sizes become the smaller, times the larger of both, and features those that
 * both have.
 */
void falcon_cm_reduce(struct falcon_cm_msg *own,
		      const struct falcon_cm_msg *peer)
{
	own->mtu = min(own->mtu, peer->mtu);
	own->nr_flows = min(own->nr_flows, peer->nr_flows);
	own->rto_us = max(own->rto_us, peer->rto_us);
	own->min_rto_us = max(own->min_rto_us, peer->min_rto_us);
	own->max_rto_us = max(own->max_rto_us, peer->max_rto_us);
	own->features &= peer->features;
}

/* The pre-shared key that was named, or none */
static bool cm_same_key(const struct falcon_cm_msg *own,
			const struct falcon_cm_msg *answer)
{
	if ((own->present ^ answer->present) & FALCON_CM_HAS_KEY_ID)
		return false;
	return !(own->present & FALCON_CM_HAS_KEY_ID) ||
	       !memcmp(own->key_id, answer->key_id, FALCON_CM_KEY_ID_LEN);
}

/**
 * falcon_cm_check_answer() - whether an ACCEPT answers what was asked
 * @own:	the INIT
 * @answer:	the ACCEPT
 *
 * A responder may only reduce. The ordering mode is no offer but a demand.
 *
 * Return: 0, or the TLV type that is wrong.
 */
u16 falcon_cm_check_answer(const struct falcon_cm_msg *own,
			   const struct falcon_cm_msg *answer)
{
	u32 extra = answer->features & ~own->features;
	u32 lost = own->features & ~answer->features;

	if (answer->echo_cid != own->cid || answer->echo_pcid != own->pcid)
		return FALCON_CM_TLV_ECHO;
	if (answer->mtu > own->mtu || answer->nr_flows > own->nr_flows)
		return FALCON_CM_TLV_PATH;
	if (answer->rto_us < own->rto_us ||
	    answer->min_rto_us < own->min_rto_us ||
	    answer->max_rto_us < own->max_rto_us)
		return FALCON_CM_TLV_TIMERS;
	if (extra || lost & FALCON_F_ORDERED)
		return FALCON_CM_TLV_FEATURES;
	if (answer->nr_versions != 1 ||
	    !memchr(own->versions, answer->versions[0], own->nr_versions))
		return FALCON_CM_TLV_SECURITY;
	return cm_same_key(own, answer) ? 0 : FALCON_CM_TLV_KEY_ID;
}

/* The narrowest windows, 2^shift times those of section 9, that hold @m's */
static u8 falcon_cm_win_shift(const struct falcon_cm_msg *m)
{
	u8 shift = 0;

	while (shift < FALCON_WIN_SHIFT_MAX &&
	       (m->rx_win[FALCON_WIN_REQ] > FALCON_RX_WIN_REQ << shift ||
		m->rx_win[FALCON_WIN_DATA] > FALCON_RX_WIN_DATA << shift))
		shift++;
	return shift;
}

/* The longer of both ends' times, but no longer than any end may set its own. */
static u64 falcon_cm_rto_ns(u32 own_us, u32 peer_us, u32 most_us)
{
	return (u64)max(own_us, min(peer_us, most_us)) * 1000;
}

/**
 * falcon_cm_agree() - the parameters of a connection, from both sides' words
 * @cfg:	in: this end's settings; out: with what concerns both ends
 * @own:	own INIT, or own ACCEPT
 * @peer:	the ACCEPT, or the INIT that @own answers
 *
 * A transmit window larger than the peer's receiver window would only have
 * packets dropped there, so it bounds ours (9.1.1, 9.2.1). Windows wider than
 * those of section 9 need wider EACKs: as wide as both sides asked for.
 */
void falcon_cm_agree(struct falcon_core_cfg *cfg,
		     const struct falcon_cm_msg *own,
		     const struct falcon_cm_msg *peer)
{
	int i;

	cfg->cid = own->cid;
	cfg->peer_cid = peer->cid;
	cfg->peer_fn = peer->fn;
	cfg->features = own->features & peer->features;
	cfg->nr_flows = min(own->nr_flows, peer->nr_flows);
	cfg->mtu = min(own->mtu, peer->mtu);
	cfg->rto_ns = falcon_cm_rto_ns(own->rto_us, peer->rto_us,
				       FALCON_RTO_MOST_US);
	cfg->min_rto_ns = falcon_cm_rto_ns(own->min_rto_us, peer->min_rto_us,
					   FALCON_RTO_MOST_US);
	cfg->max_rto_ns = falcon_cm_rto_ns(own->max_rto_us, peer->max_rto_us,
					   FALCON_MAX_RTO_MOST_US);
	cfg->tx_rsn = own->rsn;
	cfg->rx_rsn = peer->rsn;
	cfg->win_shift = min(falcon_cm_win_shift(own),
			     falcon_cm_win_shift(peer));
	for (i = 0; i < FALCON_NR_WIN; i++) {
		u16 most = falcon_win_max(cfg, i);

		cfg->tx_psn[i] = own->psn[i];
		cfg->rx_psn[i] = peer->psn[i];
		cfg->rx_win[i] = min(own->rx_win[i], most);
		cfg->tx_win[i] = min3(cfg->tx_win[i], peer->rx_win[i], most);
	}
}
