// SPDX-License-Identifier: GPL-2.0
/*
 * Every header, between its bytes on the wire and struct falcon_pkt_info
 * (specification section 7) or struct falcon_psp_info.
 *
 * The receive path parses each packet here first and believes nothing before;
 * the transmit path builds each header here last. Only the bytes given are
 * touched, of a packet the payload never.
 *
 * A parser that is lenient today cannot give a meaning to a bit tomorrow, so
 * all that is reserved must be zero: the bits that the specification says to
 * encode as 0 (7.3 Reserved, 7.7.1 and 7.8 Congestion Control Info) and, our
 * choice, those it only draws as reserved (bits 4-7 of every first word, 7.3
 * and 7.5 beside Request Length, 7.6, 7.7.1 and 7.8 beside Packet Type, 7.8
 * beside RNR NACK Timeout, PSP beside the crypt offset). Reserved values of
 * Packet Type, Protocol Type, Resync Code and NACK Code are refused likewise;
 * Version is there to change any of that.
 */
#include <linux/bitfield.h>
#include <linux/bug.h>
#include <linux/export.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <asm/byteorder.h>

#include "core.h"
#include "wire.h"

/* First word of every header: 7.2, 7.7.1, 7.8 */
#define W0_VERSION		GENMASK(31, 28)
#define W0_RESERVED		GENMASK(27, 24)
#define W0_CID			GENMASK(23, 0)

/* Second word. Packet Type stands at the same place in all of them. */
#define W1_FN			GENMASK(31, 8)
#define W1_PROTO		GENMASK(7, 5)
#define W1_TYPE			GENMASK(4, 1)
#define W1_AR			BIT(0)
#define W1_ACK_RESERVED		(GENMASK(31, 5) | BIT(0))

#define RESYNC_CODE		GENMASK(31, 24)
#define RESYNC_TYPE		GENMASK(23, 20)
#define RESYNC_RESERVED		GENMASK(19, 0)

/* Congestion Control Info: NACK has 24 bits for the RUE, ACK 22 and OWN. */
#define CC_HOPS			GENMASK_ULL(63, 60)
#define CC_RX_LEVEL		GENMASK_ULL(59, 55)
#define CC_ECN			GENMASK_ULL(54, 41)
#define CC_RESERVED		GENMASK_ULL(40, 24)
#define CC_NACK_RUE		GENMASK_ULL(23, 0)
#define CC_ACK_RUE		GENMASK_ULL(23, 2)
#define CC_ACK_OWN		GENMASK_ULL(1, 0)

#define NACK_CODE		GENMASK(31, 24)
#define NACK_RESERVED		(GENMASK(23, 21) | GENMASK(14, 8))
#define NACK_RNR_TIMEOUT	GENMASK(20, 16)
#define NACK_WINDOW		BIT(15)
#define NACK_ULP_CODE		GENMASK(7, 0)

#define PSP_CRYPT_RESERVED	GENMASK(7, 6)
#define PSP_CRYPT_OFF		GENMASK(5, 0)
#define PSP_SAMPLE		BIT(7)
#define PSP_DROP		BIT(6)
#define PSP_VERSION		GENMASK(5, 2)
#define PSP_COOKIE		BIT(1)
#define PSP_ONE			BIT(0)

#define PSP_EXT_LEN		((sizeof(struct falcon_psp_hdr) - 8) / 8)
#define PSP_CLEAR_LEN		4	/* 7.1: version and CID */
/* PSP counts from the end of the IV, in 4-byte units: the cookie is clear, too. */
#define PSP_CRYPT_UNITS		((sizeof_field(struct falcon_psp_hdr, cookie) + \
				  PSP_CLEAR_LEN) / 4)

/* A Request Length, and so a payload, has 16 bits. */
#define MAX_PAYLOAD		0xffffu

/* Bytes of header for each Packet Type; 0: reserved */
static const u8 falcon_hdr_len[16] = {
	[FALCON_PKT_PULL_REQ]	= sizeof(struct falcon_pull_req_hdr),
	[FALCON_PKT_PULL_DATA]	= sizeof(struct falcon_base_hdr),
	[FALCON_PKT_PUSH_DATA]	= sizeof(struct falcon_push_data_hdr),
	[FALCON_PKT_RESYNC]	= sizeof(struct falcon_resync_hdr),
	[FALCON_PKT_NACK]	= sizeof(struct falcon_nack_hdr),
	[FALCON_PKT_BACK]	= sizeof(struct falcon_back_hdr),
	[FALCON_PKT_EACK]	= sizeof(struct falcon_eack_hdr),
};

static bool falcon_type_has_payload(u8 type)
{
	return type == FALCON_PKT_PULL_REQ || type == FALCON_PKT_PULL_DATA ||
	       type == FALCON_PKT_PUSH_DATA;
}

static bool falcon_type_is_ack_or_nack(u8 type)
{
	return type == FALCON_PKT_NACK || type == FALCON_PKT_BACK ||
	       type == FALCON_PKT_EACK;
}

static int falcon_parse_base(const struct falcon_base_hdr *h,
			     struct falcon_pkt_info *pi)
{
	u32 w1 = be32_to_cpu(h->fn_type);

	pi->fn = FIELD_GET(W1_FN, w1);
	pi->proto = FIELD_GET(W1_PROTO, w1);
	pi->ar = FIELD_GET(W1_AR, w1);
	pi->psn = be32_to_cpu(h->psn);
	pi->rsn = be32_to_cpu(h->rsn);

	if (pi->proto < FALCON_PROTO_RDMA || pi->proto > FALCON_PROTO_SOCK)
		return -FALCON_BAD_PROTO;
	return 0;
}

static int falcon_parse_pull_req(const struct falcon_pull_req_hdr *h,
				 struct falcon_pkt_info *pi)
{
	pi->req_len = be16_to_cpu(h->req_len);
	if (h->reserved || h->reserved2)
		return -FALCON_BAD_RESERVED;
	return 0;
}

static int falcon_parse_push_data(const struct falcon_push_data_hdr *h,
				  struct falcon_pkt_info *pi)
{
	pi->req_len = be16_to_cpu(h->req_len);
	if (h->reserved)
		return -FALCON_BAD_RESERVED;
	if (pi->req_len != pi->len)
		return -FALCON_BAD_REQ_LEN;
	return 0;
}

static int falcon_parse_resync(const struct falcon_resync_hdr *h,
			       struct falcon_pkt_info *pi)
{
	u32 w = be32_to_cpu(h->code_type);

	pi->resync_code = FIELD_GET(RESYNC_CODE, w);
	pi->resync_type = FIELD_GET(RESYNC_TYPE, w);
	pi->vendor = be32_to_cpu(h->vendor);

	if (w & RESYNC_RESERVED)
		return -FALCON_BAD_RESERVED;
	if (pi->resync_code < FALCON_RESYNC_CIE ||
	    pi->resync_code > FALCON_RESYNC_CID)
		return -FALCON_BAD_RESYNC_CODE;
	if (!falcon_type_has_payload(pi->resync_type))
		return -FALCON_BAD_RESYNC_TYPE;
	return 0;
}

static unsigned int falcon_eack_len_of(u8 win_shift)
{
	return sizeof(struct falcon_back_hdr) +
	       (sizeof(struct falcon_eack_bits) << win_shift);
}

/* What BACK, EACK and NACK share: 7.7.1 and 7.8, words 1 and 4 to 7 */
static int falcon_parse_ack_common(const struct falcon_back_hdr *h,
				   struct falcon_pkt_info *pi)
{
	u64 cc = be64_to_cpu(h->cc);

	pi->echo_t1 = be32_to_cpu(h->t1);
	pi->echo_t2 = be32_to_cpu(h->t2);
	pi->hops = FIELD_GET(CC_HOPS, cc);
	pi->rx_level = FIELD_GET(CC_RX_LEVEL, cc);
	pi->ecn = FIELD_GET(CC_ECN, cc);

	if (cc & CC_RESERVED || be32_to_cpu(h->type) & W1_ACK_RESERVED)
		return -FALCON_BAD_RESERVED;
	return 0;
}

static int falcon_parse_back(const struct falcon_back_hdr *h,
			     struct falcon_pkt_info *pi)
{
	u64 cc = be64_to_cpu(h->cc);

	pi->cc_metadata = FIELD_GET(CC_ACK_RUE, cc);
	pi->own = FIELD_GET(CC_ACK_OWN, cc);
	return falcon_parse_ack_common(h, pi);
}

static int falcon_parse_eack(const struct falcon_eack_hdr *h,
			     struct falcon_pkt_info *pi)
{
	const struct falcon_eack_bits *b = &h->bits;
	u32 i;

	for (i = 0; i < 1 << pi->win_shift; i++, b++) {
		pi->data_ack[2 * i] = be64_to_cpu(b->data_ack[1]);
		pi->data_ack[2 * i + 1] = be64_to_cpu(b->data_ack[0]);
		pi->data_rx[2 * i] = be64_to_cpu(b->data_rx[1]);
		pi->data_rx[2 * i + 1] = be64_to_cpu(b->data_rx[0]);
		pi->req_bits[i] = be64_to_cpu(b->req);
	}
	return falcon_parse_back(&h->back, pi);
}

static bool falcon_nack_code_known(u8 code)
{
	switch (code) {
	case FALCON_NACK_RESOURCE:
	case FALCON_NACK_RNR:
	case FALCON_NACK_XLR:
	case FALCON_NACK_CIE:
	case FALCON_NACK_NRE:
	case FALCON_NACK_CID:
		return true;
	}
	return false;
}

static int falcon_parse_nack(const struct falcon_nack_hdr *h,
			     struct falcon_pkt_info *pi)
{
	u32 w = be32_to_cpu(h->code);

	pi->cc_metadata = FIELD_GET(CC_NACK_RUE, be64_to_cpu(h->cc));
	pi->nack_psn = be32_to_cpu(h->psn);
	pi->nack_code = FIELD_GET(NACK_CODE, w);
	pi->rnr_timeout = FIELD_GET(NACK_RNR_TIMEOUT, w);
	pi->nack_win = w & NACK_WINDOW ? FALCON_WIN_REQ : FALCON_WIN_DATA;
	pi->ulp_code = FIELD_GET(NACK_ULP_CODE, w);

	if (w & NACK_RESERVED)
		return -FALCON_BAD_RESERVED;
	if (!falcon_nack_code_known(pi->nack_code))
		return -FALCON_BAD_NACK_CODE;
	return falcon_parse_ack_common((const struct falcon_back_hdr *)h, pi);
}

static int falcon_parse_by_type(const void *buf, struct falcon_pkt_info *pi)
{
	int err;

	switch (pi->type) {
	case FALCON_PKT_NACK:
		return falcon_parse_nack(buf, pi);
	case FALCON_PKT_BACK:
		return falcon_parse_back(buf, pi);
	case FALCON_PKT_EACK:
		return falcon_parse_eack(buf, pi);
	}

	err = falcon_parse_base(buf, pi);
	if (err)
		return err;

	switch (pi->type) {
	case FALCON_PKT_PULL_REQ:
		return falcon_parse_pull_req(buf, pi);
	case FALCON_PKT_PUSH_DATA:
		return falcon_parse_push_data(buf, pi);
	case FALCON_PKT_RESYNC:
		return falcon_parse_resync(buf, pi);
	}
	return 0;
}

/* An EACK is as long as its bitmaps; it has no payload. */
static void falcon_eack_width(struct falcon_pkt_info *pi, unsigned int len)
{
	u8 shift;

	for (shift = 1; shift <= FALCON_WIN_SHIFT_MAX; shift++)
		if (len == falcon_eack_len_of(shift)) {
			pi->win_shift = shift;
			pi->hdr_len = len;
		}
}

/**
 * falcon_wire_parse() - parse and validate a Falcon header (section 7)
 * @buf:	Falcon header and, in the plain, all of its payload; any
 *		alignment
 * @len:	bytes of both, without PSP header and ICV
 * @pi:		the result; undefined if the packet is refused
 *
 * The payload is not looked at: only header bytes need to be at @buf. A pull
 * request may carry the ULP's header as payload (7.1), pull data may be empty
 * (section 11, note 2).
 *
 * Context: Any. Takes no lock.
 * Return: 0, or the negated enum falcon_wire_err (which is no errno).
 */
int falcon_wire_parse(const void *buf, unsigned int len,
		      struct falcon_pkt_info *pi)
{
	const struct falcon_back_hdr *h = buf;
	u32 w0;
	u8 type;

	if (len < offsetofend(struct falcon_back_hdr, type))
		return -FALCON_BAD_SHORT;

	type = FIELD_GET(W1_TYPE, be32_to_cpu(h->type));
	memset(pi, 0, type == FALCON_PKT_EACK ? sizeof(*pi) :
		      offsetof(struct falcon_pkt_info, data_ack));
	w0 = be32_to_cpu(h->ver_cid);
	pi->cid = FIELD_GET(W0_CID, w0);
	pi->type = type;
	pi->hdr_len = falcon_hdr_len[pi->type];

	if (FIELD_GET(W0_VERSION, w0) != FALCON_WIRE_VERSION)
		return -FALCON_BAD_VERSION;
	if (w0 & W0_RESERVED)
		return -FALCON_BAD_RESERVED;
	if (!pi->hdr_len)
		return -FALCON_BAD_TYPE;
	if (pi->type == FALCON_PKT_EACK)
		falcon_eack_width(pi, len);
	if (len < pi->hdr_len)
		return -FALCON_BAD_SHORT;

	len -= pi->hdr_len;
	if (len > (falcon_type_has_payload(pi->type) ? MAX_PAYLOAD : 0))
		return -FALCON_BAD_LENGTH;
	pi->len = len;

	pi->rbpsn[FALCON_WIN_DATA] = be32_to_cpu(h->rdbpsn);
	pi->rbpsn[FALCON_WIN_REQ] = be32_to_cpu(h->rrbpsn);
	return falcon_parse_by_type(buf, pi);
}

static void falcon_build_ack_common(const struct falcon_pkt_info *pi, u64 rue,
				    struct falcon_back_hdr *h)
{
	u64 cc = FIELD_PREP(CC_HOPS, pi->hops) |
		 FIELD_PREP(CC_RX_LEVEL, pi->rx_level) |
		 FIELD_PREP(CC_ECN, pi->ecn) | rue;

	h->type = cpu_to_be32(FIELD_PREP(W1_TYPE, pi->type));
	h->t1 = cpu_to_be32(pi->echo_t1);
	h->t2 = cpu_to_be32(pi->echo_t2);
	h->cc = cpu_to_be64(cc);
}

static void falcon_build_nack(const struct falcon_pkt_info *pi,
			      struct falcon_nack_hdr *h)
{
	u32 w = FIELD_PREP(NACK_CODE, pi->nack_code) |
		FIELD_PREP(NACK_RNR_TIMEOUT, pi->rnr_timeout) |
		FIELD_PREP(NACK_WINDOW, pi->nack_win == FALCON_WIN_REQ) |
		FIELD_PREP(NACK_ULP_CODE, pi->ulp_code);

	falcon_build_ack_common(pi, FIELD_PREP(CC_NACK_RUE, pi->cc_metadata),
				(struct falcon_back_hdr *)h);
	h->psn = cpu_to_be32(pi->nack_psn);
	h->code = cpu_to_be32(w);
}

static void falcon_build_back(const struct falcon_pkt_info *pi,
			      struct falcon_back_hdr *h)
{
	falcon_build_ack_common(pi, FIELD_PREP(CC_ACK_RUE, pi->cc_metadata) |
				FIELD_PREP(CC_ACK_OWN, pi->own), h);
}

static void falcon_build_eack(const struct falcon_pkt_info *pi,
			      struct falcon_eack_hdr *h)
{
	struct falcon_eack_bits *b = &h->bits;
	u32 i;

	falcon_build_back(pi, &h->back);
	for (i = 0; i < 1 << pi->win_shift; i++, b++) {
		b->data_ack[0] = cpu_to_be64(pi->data_ack[2 * i + 1]);
		b->data_ack[1] = cpu_to_be64(pi->data_ack[2 * i]);
		b->data_rx[0] = cpu_to_be64(pi->data_rx[2 * i + 1]);
		b->data_rx[1] = cpu_to_be64(pi->data_rx[2 * i]);
		b->req = cpu_to_be64(pi->req_bits[i]);
	}
}

static void falcon_build_base(const struct falcon_pkt_info *pi,
			      struct falcon_base_hdr *h)
{
	u32 w1 = FIELD_PREP(W1_FN, pi->fn) | FIELD_PREP(W1_PROTO, pi->proto) |
		 FIELD_PREP(W1_TYPE, pi->type) | FIELD_PREP(W1_AR, pi->ar);

	h->fn_type = cpu_to_be32(w1);
	h->psn = cpu_to_be32(pi->psn);
	h->rsn = cpu_to_be32(pi->rsn);
}

static void falcon_build_pull_req(const struct falcon_pkt_info *pi,
				  struct falcon_pull_req_hdr *h)
{
	h->reserved = 0;
	h->req_len = cpu_to_be16(pi->req_len);
	h->reserved2 = 0;
}

static void falcon_build_push_data(const struct falcon_pkt_info *pi,
				   struct falcon_push_data_hdr *h)
{
	h->reserved = 0;
	h->req_len = cpu_to_be16(pi->req_len);
}

static void falcon_build_resync(const struct falcon_pkt_info *pi,
				struct falcon_resync_hdr *h)
{
	u32 w = FIELD_PREP(RESYNC_CODE, pi->resync_code) |
		FIELD_PREP(RESYNC_TYPE, pi->resync_type);

	h->code_type = cpu_to_be32(w);
	h->vendor = cpu_to_be32(pi->vendor);
}

/**
 * falcon_wire_build() - build a Falcon header (section 7)
 * @pi:		what struct falcon_pkt_info says is valid for its type. Fields
 *		are cut to their width; &falcon_pkt_info.hdr_len and
 *		&falcon_pkt_info.len are not looked at
 * @hdr:	FALCON_MAX_HDR_LEN bytes
 *
 * Context: Any. Takes no lock.
 * Return: bytes of header; 0 for a reserved Packet Type, which is a bug.
 */
unsigned int falcon_wire_build(const struct falcon_pkt_info *pi, void *hdr)
{
	struct falcon_back_hdr *h = hdr;
	u32 w0 = FIELD_PREP(W0_VERSION, FALCON_WIRE_VERSION) |
		 FIELD_PREP(W0_CID, pi->cid);

	if (WARN_ON_ONCE(pi->type >= ARRAY_SIZE(falcon_hdr_len) ||
			 !falcon_hdr_len[pi->type]))
		return 0;

	h->ver_cid = cpu_to_be32(w0);
	h->rdbpsn = cpu_to_be32(pi->rbpsn[FALCON_WIN_DATA]);
	h->rrbpsn = cpu_to_be32(pi->rbpsn[FALCON_WIN_REQ]);
	if (!falcon_type_is_ack_or_nack(pi->type))
		falcon_build_base(pi, hdr);

	switch (pi->type) {
	case FALCON_PKT_PULL_REQ:
		falcon_build_pull_req(pi, hdr);
		break;
	case FALCON_PKT_PUSH_DATA:
		falcon_build_push_data(pi, hdr);
		break;
	case FALCON_PKT_RESYNC:
		falcon_build_resync(pi, hdr);
		break;
	case FALCON_PKT_NACK:
		falcon_build_nack(pi, hdr);
		break;
	case FALCON_PKT_BACK:
		falcon_build_back(pi, hdr);
		break;
	case FALCON_PKT_EACK:
		falcon_build_eack(pi, hdr);
		return falcon_eack_len_of(pi->win_shift);
	}
	return falcon_hdr_len[pi->type];
}
EXPORT_SYMBOL_NS_GPL(falcon_wire_build, FALCON_TEST);

static bool falcon_psp_version_known(u8 version)
{
	return version <= FALCON_PSP_VER_GMAC256 ||
	       version == FALCON_PSP_VER_NONE;
}

/**
 * falcon_psp_parse() - parse and validate a PSP header (7.1)
 * @buf:	UDP payload, of which the PSP header is read; any alignment
 * @len:	bytes of UDP payload
 * @psp:	the result; undefined if the packet is refused
 *
 * The Falcon packet begins sizeof(struct falcon_psp_hdr) bytes after @buf; its
 * version and CID, 4 bytes, are in the clear, and it ends
 * falcon_psp_icv_len() bytes before @len. Nothing is authenticated here.
 *
 * Context: Any. Takes no lock.
 * Return: 0, or the negated enum falcon_wire_err (which is no errno).
 */
int falcon_psp_parse(const void *buf, unsigned int len,
		     struct falcon_psp_info *psp)
{
	const struct falcon_psp_hdr *h = buf;

	if (len < sizeof(*h) + PSP_CLEAR_LEN)
		return -FALCON_BAD_SHORT;
	if (h->nexthdr != FALCON_PSP_NEXTHDR)
		return -FALCON_BAD_PSP_NEXTHDR;
	if (h->ext_len != PSP_EXT_LEN)
		return -FALCON_BAD_PSP_EXT_LEN;
	if (h->crypt_off & PSP_CRYPT_RESERVED)
		return -FALCON_BAD_RESERVED;
	if (FIELD_GET(PSP_CRYPT_OFF, h->crypt_off) != PSP_CRYPT_UNITS)
		return -FALCON_BAD_PSP_CRYPT_OFF;
	if (!(h->flags & PSP_COOKIE) || !(h->flags & PSP_ONE))
		return -FALCON_BAD_PSP_FLAGS;

	psp->version = FIELD_GET(PSP_VERSION, h->flags);
	if (!falcon_psp_version_known(psp->version))
		return -FALCON_BAD_PSP_VERSION;
	if (len < sizeof(*h) + PSP_CLEAR_LEN + falcon_psp_icv_len(psp->version))
		return -FALCON_BAD_SHORT;

	psp->sample = FIELD_GET(PSP_SAMPLE, h->flags);
	psp->drop = FIELD_GET(PSP_DROP, h->flags);
	psp->spi = be32_to_cpu(h->spi);
	psp->iv = be64_to_cpu(h->iv);
	psp->cookie = be64_to_cpu(h->cookie);
	return 0;
}

/**
 * falcon_psp_build() - build a PSP header with virtualization cookie (7.1)
 * @psp:	its fields
 * @hdr:	sizeof(struct falcon_psp_hdr) bytes
 *
 * Context: Any. Takes no lock.
 * Return: bytes of header; 0 for an unknown version, which is a bug.
 */
unsigned int falcon_psp_build(const struct falcon_psp_info *psp, void *hdr)
{
	struct falcon_psp_hdr *h = hdr;

	if (WARN_ON_ONCE(!falcon_psp_version_known(psp->version)))
		return 0;

	h->nexthdr = FALCON_PSP_NEXTHDR;
	h->ext_len = PSP_EXT_LEN;
	h->crypt_off = FIELD_PREP(PSP_CRYPT_OFF, PSP_CRYPT_UNITS);
	h->flags = FIELD_PREP(PSP_SAMPLE, psp->sample) |
		   FIELD_PREP(PSP_DROP, psp->drop) |
		   FIELD_PREP(PSP_VERSION, psp->version) |
		   PSP_COOKIE | PSP_ONE;
	h->spi = cpu_to_be32(psp->spi);
	h->iv = cpu_to_be64(psp->iv);
	h->cookie = cpu_to_be64(psp->cookie);
	return sizeof(*h);
}
EXPORT_SYMBOL_NS_GPL(falcon_psp_build, FALCON_TEST);

/* 7.8 RNR NACK Timeout, in units of 10 us. Code 0 is the longest. */
#define RNR_UNIT_NS		10000u

static const u32 falcon_rnr_table[32] = {
	65536,	1,	2,	3,	4,	6,	8,	12,
	16,	24,	32,	48,	64,	96,	128,	192,
	256,	384,	512,	768,	1024,	1536,	2048,	3072,
	4096,	6144,	8192,	12288,	16384,	24576,	32768,	49152,
};

/**
 * falcon_rnr_timeout_ns() - delay that an RNR NACK asks for (7.8)
 * @code:	RNR NACK Timeout, 5 bits
 *
 * Return: nanoseconds, 10 us to 655.36 ms.
 */
u32 falcon_rnr_timeout_ns(u8 code)
{
	return falcon_rnr_table[code % ARRAY_SIZE(falcon_rnr_table)] *
	       RNR_UNIT_NS;
}

/**
 * falcon_rnr_timeout_code() - the shortest RNR NACK Timeout not below a delay
 * @ns:		delay, nanoseconds; beyond 655.36 ms it is cut to that
 *
 * Return: the 5-bit code of 7.8.
 */
u8 falcon_rnr_timeout_code(u64 ns)
{
	u8 code;

	for (code = 1; code < ARRAY_SIZE(falcon_rnr_table); code++)
		if (falcon_rnr_timeout_ns(code) >= ns)
			return code;
	return 0;
}

static const char * const falcon_wire_err_names[FALCON_NR_WIRE_ERR] = {
	[FALCON_WIRE_OK]		= "ok",
	[FALCON_BAD_SHORT]		= "short",
	[FALCON_BAD_LENGTH]		= "length",
	[FALCON_BAD_REQ_LEN]		= "req_len",
	[FALCON_BAD_VERSION]		= "version",
	[FALCON_BAD_RESERVED]		= "reserved",
	[FALCON_BAD_TYPE]		= "type",
	[FALCON_BAD_PROTO]		= "proto",
	[FALCON_BAD_RESYNC_CODE]	= "resync_code",
	[FALCON_BAD_RESYNC_TYPE]	= "resync_type",
	[FALCON_BAD_NACK_CODE]		= "nack_code",
	[FALCON_BAD_PSP_NEXTHDR]	= "psp_nexthdr",
	[FALCON_BAD_PSP_EXT_LEN]	= "psp_ext_len",
	[FALCON_BAD_PSP_CRYPT_OFF]	= "psp_crypt_off",
	[FALCON_BAD_PSP_VERSION]	= "psp_version",
	[FALCON_BAD_PSP_FLAGS]		= "psp_flags",
};

/**
 * falcon_wire_err_name() - name of the counter of a refusal
 * @err:	below FALCON_NR_WIRE_ERR
 *
 * Return: a constant string.
 */
const char *falcon_wire_err_name(enum falcon_wire_err err)
{
	return falcon_wire_err_names[err];
}
