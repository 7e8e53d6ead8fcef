// SPDX-License-Identifier: GPL-2.0
/*
 * Headers on the wire: byte arrays written by hand from the figures of
 * section 7, both ways; each reserved bit; each length; round trips.
 */
#include <net/falcon/core/core.h>
#include <net/falcon/core/wire.h>

#include "harness.h"

struct sample {
	const char *name;
	unsigned int hdr_len;
	unsigned int len;		/* payload */
	u8 bytes[FALCON_MAX_HDR_LEN];
	u8 reserved[FALCON_MAX_HDR_LEN];	/* bits that must be 0 */
	struct falcon_pkt_info pi;
};

/* Figure 7.3: words 0-5 base header, 6 reserved:16 length:16, 7 reserved */
static const struct sample pull_req = {
	.name = "pull request", .hdr_len = 32, .len = 5,
	.bytes = {
		0x10, 0xab, 0xcd, 0xef,
		0x12, 0x34, 0x56, 0x41,	/* RDMA 010, type 0000, AR 1 */
		0xd0, 0xd1, 0xd2, 0xd3,
		0xc0, 0xc1, 0xc2, 0xc3,
		0xb0, 0xb1, 0xb2, 0xb3,
		0xa0, 0xa1, 0xa2, 0xa3,
		0x00, 0x00, 0x10, 0x20,
		0x00, 0x00, 0x00, 0x00,
	},
	.reserved = {
		[0] = 0x0f,
		[24] = 0xff, 0xff,
		[28] = 0xff, 0xff, 0xff, 0xff,
	},
	.pi = {
		.type = FALCON_PKT_PULL_REQ, .hdr_len = 32, .len = 5,
		.cid = 0xabcdef, .fn = 0x123456,
		.proto = FALCON_PROTO_RDMA, .ar = true,
		.rbpsn = { 0xc0c1c2c3, 0xd0d1d2d3 },
		.psn = 0xb0b1b2b3, .rsn = 0xa0a1a2a3, .req_len = 0x1020,
	},
};

/* Figure 7.4: the bare base header */
static const struct sample pull_data = {
	.name = "pull data", .hdr_len = 24, .len = 9,
	.bytes = {
		0x10, 0x00, 0x00, 0x01,
		0xff, 0xff, 0xff, 0x66,	/* NVMe 011, type 0011, AR 0 */
		0x00, 0x00, 0x00, 0x02,
		0x00, 0x00, 0x00, 0x03,
		0x00, 0x00, 0x00, 0x04,
		0x00, 0x00, 0x00, 0x05,
	},
	.reserved = { [0] = 0x0f },
	.pi = {
		.type = FALCON_PKT_PULL_DATA, .hdr_len = 24, .len = 9,
		.cid = 1, .fn = 0xffffff, .proto = FALCON_PROTO_NVME,
		.rbpsn = { 3, 2 }, .psn = 4, .rsn = 5,
	},
};

/* Figure 7.5: base header, reserved:16 length:16 */
static const struct sample push_data = {
	.name = "push data", .hdr_len = 28, .len = 0x0102,
	.bytes = {
		0x10, 0xff, 0xff, 0xff,
		0x00, 0x00, 0x07, 0x8b,	/* sockets 100, type 0101, AR 1 */
		0xff, 0xff, 0xff, 0xff,
		0x80, 0x00, 0x00, 0x00,
		0x00, 0x00, 0x00, 0x00,
		0x00, 0x00, 0x00, 0x01,
		0x00, 0x00, 0x01, 0x02,
	},
	.reserved = { [0] = 0x0f, [24] = 0xff, 0xff },
	.pi = {
		.type = FALCON_PKT_PUSH_DATA, .hdr_len = 28, .len = 0x0102,
		.cid = 0xffffff, .fn = 7, .proto = FALCON_PROTO_SOCK,
		.ar = true, .rbpsn = { 0x80000000, 0xffffffff },
		.psn = 0, .rsn = 1, .req_len = 0x0102,
	},
};

/* Figure 7.6: base header, code:8 packet type:4 reserved:20, vendor:32 */
static const struct sample resync = {
	.name = "resync", .hdr_len = 32,
	.bytes = {
		0x10, 0x01, 0x02, 0x03,
		0x04, 0x05, 0x06, 0x4c,	/* RDMA 010, type 0110, AR 0 */
		0x10, 0x11, 0x12, 0x13,
		0x20, 0x21, 0x22, 0x23,
		0x30, 0x31, 0x32, 0x33,
		0x40, 0x41, 0x42, 0x43,
		0x03, 0x50, 0x00, 0x00,
		0x50, 0x51, 0x52, 0x53,
	},
	.reserved = { [0] = 0x0f, [25] = 0x0f, 0xff, 0xff },
	.pi = {
		.type = FALCON_PKT_RESYNC, .hdr_len = 32,
		.cid = 0x010203, .fn = 0x040506, .proto = FALCON_PROTO_RDMA,
		.rbpsn = { 0x20212223, 0x10111213 },
		.psn = 0x30313233, .rsn = 0x40414243,
		.resync_code = FALCON_RESYNC_EXHAUSTED,
		.resync_type = FALCON_PKT_PUSH_DATA, .vendor = 0x50515253,
	},
};

/*
 * Figure 7.7.1. Words 6 and 7: hops 1010, occupancy 10101, ECN
 * 11001100110011, reserved 17 x 0, RUE 22 bits 0x2aaaaa, OWN 10:
 *   1010 10101 11001100110011 0 00000000 | 00000000 101010101010101010101010
 */
static const struct sample back = {
	.name = "BACK", .hdr_len = 32,
	.bytes = {
		0x10, 0x01, 0x02, 0x03,
		0x00, 0x00, 0x00, 0x12,	/* type 1001, R 0 */
		0x10, 0x11, 0x12, 0x13,
		0x20, 0x21, 0x22, 0x23,
		0x30, 0x31, 0x32, 0x33,
		0x40, 0x41, 0x42, 0x43,
		0xaa, 0xe6, 0x66, 0x00,
		0x00, 0xaa, 0xaa, 0xaa,
	},
	.reserved = {
		[0] = 0x0f,
		[4] = 0xff, 0xff, 0xff, 0xe1,
		[26] = 0x01, 0xff, 0xff,
	},
	.pi = {
		.type = FALCON_PKT_BACK, .hdr_len = 32, .cid = 0x010203,
		.rbpsn = { 0x20212223, 0x10111213 },
		.echo_t1 = 0x30313233, .echo_t2 = 0x40414243,
		.hops = 10, .rx_level = 21, .ecn = 0x3333,
		.cc_metadata = 0x2aaaaa, .own = FALCON_OWN_DATA,
	},
};

/* Figure 7.7.2: words 8-11 ack, 12-15 rx, 16-17 requests, high word first */
static const struct sample eack = {
	.name = "EACK", .hdr_len = 72,
	.bytes = {
		0x10, 0x01, 0x02, 0x03,
		0x00, 0x00, 0x00, 0x14,	/* type 1010, R 0 */
		0x10, 0x11, 0x12, 0x13,
		0x20, 0x21, 0x22, 0x23,
		0x30, 0x31, 0x32, 0x33,
		0x40, 0x41, 0x42, 0x43,
		0x55, 0x19, 0x98, 0x00,	/* 0101 01010 00110011001100 */
		0x00, 0x55, 0x55, 0x55,	/* RUE 0x155555, OWN 01 */
		0x80, 0x00, 0x00, 0x00,	/* ack 127:96 */
		0x00, 0x00, 0x00, 0x01,	/* ack 95:64 */
		0x40, 0x00, 0x00, 0x00,	/* ack 63:32 */
		0x00, 0x00, 0x00, 0x02,	/* ack 31:0 */
		0xf0, 0x01, 0x02, 0x03,	/* rx 127:96 */
		0x04, 0x05, 0x06, 0x07,
		0x08, 0x09, 0x0a, 0x0b,
		0x0c, 0x0d, 0x0e, 0x0f,
		0x20, 0x00, 0x00, 0x00,	/* requests 63:32 */
		0x00, 0x00, 0x00, 0x04,
	},
	.reserved = {
		[0] = 0x0f,
		[4] = 0xff, 0xff, 0xff, 0xe1,
		[26] = 0x01, 0xff, 0xff,
	},
	.pi = {
		.type = FALCON_PKT_EACK, .hdr_len = 72, .cid = 0x010203,
		.rbpsn = { 0x20212223, 0x10111213 },
		.echo_t1 = 0x30313233, .echo_t2 = 0x40414243,
		.hops = 5, .rx_level = 10, .ecn = 0x0ccc,
		.cc_metadata = 0x155555, .own = FALCON_OWN_REQUEST,
		.data_ack = { 0x4000000000000002, 0x8000000000000001 },
		.data_rx = { 0x08090a0b0c0d0e0f, 0xf001020304050607 },
		.req_bits = { 0x2000000000000004 },
	},
};

/*
 * Figure 7.8: as BACK, but 24 bits for the RUE; word 8 the PSN, word 9
 * code:8 reserved:3 RNR timeout:5 W:1 reserved:7 ULP code:8
 */
static const struct sample nack = {
	.name = "NACK", .hdr_len = 40,
	.bytes = {
		0x10, 0xfe, 0xdc, 0xba,
		0x00, 0x00, 0x00, 0x10,	/* type 1000, R 0 */
		0x10, 0x11, 0x12, 0x13,
		0x20, 0x21, 0x22, 0x23,
		0x30, 0x31, 0x32, 0x33,
		0x40, 0x41, 0x42, 0x43,
		0xf0, 0x00, 0x02, 0x00,	/* hops 15, ECN 1 */
		0x00, 0x81, 0x42, 0x24,
		0x60, 0x61, 0x62, 0x63,
		0x02, 0x15, 0x80, 0x99,	/* RNR, 10101, W 1 */
	},
	.reserved = {
		[0] = 0x0f,
		[4] = 0xff, 0xff, 0xff, 0xe1,
		[26] = 0x01, 0xff, 0xff,
		[37] = 0xe0, 0x7f,
	},
	.pi = {
		.type = FALCON_PKT_NACK, .hdr_len = 40, .cid = 0xfedcba,
		.rbpsn = { 0x20212223, 0x10111213 },
		.echo_t1 = 0x30313233, .echo_t2 = 0x40414243,
		.hops = 15, .rx_level = 0, .ecn = 1, .cc_metadata = 0x814224,
		.nack_psn = 0x60616263, .nack_code = FALCON_NACK_RNR,
		.rnr_timeout = 21, .nack_win = FALCON_WIN_REQ,
		.ulp_code = 0x99,
	},
};

static const struct sample * const samples[] = {
	&pull_req, &pull_data, &push_data, &resync, &back, &eack, &nack,
};

static bool has_payload(const struct sample *s)
{
	return s == &pull_req || s == &pull_data || s == &push_data;
}

static int parse(const u8 *bytes, const struct sample *s,
		 struct falcon_pkt_info *pi)
{
	return falcon_wire_parse(bytes, s->hdr_len + s->len, pi);
}

/* Only an EACK has bitmaps. */
static size_t pi_len(const struct falcon_pkt_info *pi)
{
	return pi->type == FALCON_PKT_EACK ?
	       sizeof(*pi) : offsetof(struct falcon_pkt_info, data_ack);
}

static void check_sample(const struct sample *s)
{
	u8 hdr[FALCON_MAX_HDR_LEN];
	struct falcon_pkt_info pi;

	memset(hdr, 0x5a, sizeof(hdr));
	ASSERT_EQ(falcon_wire_build(&s->pi, hdr), s->hdr_len);
	EXPECT_BYTES(hdr, s->bytes, s->hdr_len);

	memset(&pi, 0xa5, sizeof(pi));
	ASSERT_EQ(parse(s->bytes, s, &pi), 0);
	EXPECT_EQ(pi.type, s->pi.type);
	EXPECT_EQ(pi.cid, s->pi.cid);
	EXPECT_EQ(pi.rbpsn[FALCON_WIN_REQ], s->pi.rbpsn[FALCON_WIN_REQ]);
	EXPECT_EQ(pi.rbpsn[FALCON_WIN_DATA], s->pi.rbpsn[FALCON_WIN_DATA]);
	EXPECT_BYTES(&pi, &s->pi, pi_len(&pi));
}

/*
 * spec: 7.1-2 7.2-3 7.3-1 7.3-2 base header; 7.3 pull request header, 32
 * bytes, ULP header after
 */
TEST(pull_request_bytes)
{
	check_sample(&pull_req);
}

/* spec: 7.2-1 7.4-1 pull data is the base header and a payload */
TEST(pull_data_bytes)
{
	check_sample(&pull_data);
}

/* spec: 7.2-8 7.5-1 push data header */
TEST(push_data_bytes)
{
	check_sample(&push_data);
}

/* spec: 7.6-1 resync header */
TEST(resync_bytes)
{
	check_sample(&resync);
}

/*
 * spec: 7.2-7 7.7.1-2 7.7.1-3 7.7.1-6 7.7.1-7 7.7.1-10 BACK header, congestion
 * control info and OWN
 */
TEST(back_bytes)
{
	check_sample(&back);
}

/*
 * spec: 7.7.2-1 7.7.2-2 7.7.2-3 7.7.2-4 EACK header, bit 0 of each bitmap in
 * its last word
 */
TEST(eack_bytes)
{
	check_sample(&eack);
}

/* spec: 7.2-7 7.8-1 7.8-9 NACK header */
TEST(nack_bytes)
{
	check_sample(&nack);
}

/* spec: 7-2 7.2-1 header lengths */
TEST(structures_have_the_size_of_the_figures)
{
	EXPECT_EQ(sizeof(struct falcon_base_hdr), 6 * 4);
	EXPECT_EQ(sizeof(struct falcon_pull_req_hdr), 8 * 4);
	EXPECT_EQ(sizeof(struct falcon_push_data_hdr), 7 * 4);
	EXPECT_EQ(sizeof(struct falcon_resync_hdr), 8 * 4);
	EXPECT_EQ(sizeof(struct falcon_back_hdr), 8 * 4);
	EXPECT_EQ(sizeof(struct falcon_eack_hdr), 18 * 4);
	EXPECT_EQ(sizeof(struct falcon_nack_hdr), 10 * 4);
	EXPECT_EQ(FALCON_MAX_HDR_LEN, (8 + 4 * 10) * 4);
	EXPECT_EQ(sizeof(struct falcon_psp_hdr), 24);
	EXPECT_EQ(sizeof(struct falcon_sock_hdr), 8);
}

/* spec: 7.7.1-11 OWN bit 0 is the request window, bit 1 the data window */
TEST(own_bits)
{
	struct falcon_pkt_info pi = back.pi;
	u8 hdr[FALCON_MAX_HDR_LEN];

	pi.cc_metadata = 0;
	pi.own = FALCON_OWN_REQUEST;
	falcon_wire_build(&pi, hdr);
	EXPECT_EQ(hdr[31], 0x01);
	pi.own = FALCON_OWN_DATA;
	falcon_wire_build(&pi, hdr);
	EXPECT_EQ(hdr[31], 0x02);
}

/* spec: 7.8-6 W is 1 for the request window, 0 for the data window */
TEST(nack_window_bit)
{
	struct falcon_pkt_info pi = nack.pi;
	u8 hdr[FALCON_MAX_HDR_LEN];

	pi.nack_win = FALCON_WIN_DATA;
	falcon_wire_build(&pi, hdr);
	EXPECT_EQ(hdr[38], 0x00);
	ASSERT_EQ(falcon_wire_parse(hdr, 40, &pi), 0);
	EXPECT_EQ(pi.nack_win, FALCON_WIN_DATA);
	pi.nack_win = FALCON_WIN_REQ;
	falcon_wire_build(&pi, hdr);
	EXPECT_EQ(hdr[38], 0x80);
	ASSERT_EQ(falcon_wire_parse(hdr, 40, &pi), 0);
	EXPECT_EQ(pi.nack_win, FALCON_WIN_REQ);
}

static bool is_version_bit(unsigned int bit)
{
	return bit < 4;
}

/* Packet Type, bits 27 to 30 of the second word */
static bool is_type_bit(unsigned int bit)
{
	return bit >= 32 + 27 && bit <= 32 + 30;
}

/*
 * Every single bit of every header: if it is reserved, setting it is refused
 * as such; if not, it is not. Bits are numbered as in the figures.
 */
static void flip_each_bit(const struct sample *s)
{
	struct falcon_pkt_info pi;
	u8 hdr[FALCON_MAX_HDR_LEN];
	unsigned int bit, reserved = 0;

	for (bit = 0; bit < s->hdr_len * 8; bit++) {
		u8 mask = 0x80 >> (bit % 8);
		int err;

		memcpy(hdr, s->bytes, s->hdr_len);
		hdr[bit / 8] ^= mask;
		err = parse(hdr, s, &pi);
		if (is_version_bit(bit)) {
			EXPECT_EQ(err, -FALCON_BAD_VERSION);
		} else if (s->reserved[bit / 8] & mask) {
			EXPECT_EQ(err, -FALCON_BAD_RESERVED);
			reserved++;
		} else if (!is_type_bit(bit)) {
			EXPECT_NE(err, -FALCON_BAD_RESERVED);
		}
	}
	EXPECT_GT(reserved, 3);
}

/* spec: 7.3-3 7.7.1-9 9.2.2.1-1 reserved bits must be encoded as 0 */
TEST(every_reserved_bit_is_refused)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(samples); i++)
		flip_each_bit(samples[i]);
}

/* spec: 7.2-2 Version must be 1 */
TEST(version_is_one)
{
	struct falcon_pkt_info pi;
	u8 hdr[FALCON_MAX_HDR_LEN];
	unsigned int i, v;

	for (i = 0; i < ARRAY_SIZE(samples); i++) {
		memcpy(hdr, samples[i]->bytes, sizeof(hdr));
		for (v = 0; v < 16; v++) {
			hdr[0] = v << 4;
			EXPECT_EQ(parse(hdr, samples[i], &pi),
				  v == 1 ? 0 : -FALCON_BAD_VERSION);
		}
	}
}

/* spec: 7.2-6 Packet Type: 0, 3, 5, 6, 8, 9 and 10; the rest is reserved */
TEST(reserved_packet_types_are_refused)
{
	static const u8 reserved[] = { 1, 2, 4, 7, 11, 12, 13, 14, 15 };
	struct falcon_pkt_info pi;
	u8 hdr[FALCON_MAX_HDR_LEN];
	unsigned int i;

	memcpy(hdr, pull_data.bytes, sizeof(hdr));
	for (i = 0; i < ARRAY_SIZE(reserved); i++) {
		hdr[7] = 0x40 | reserved[i] << 1;
		EXPECT_EQ(falcon_wire_parse(hdr, sizeof(hdr), &pi),
			  -FALCON_BAD_TYPE);
	}
}

/* spec: 7.2-5 Protocol Type: 2 RDMA, 3 NVMe; 4 is our sockets */
TEST(reserved_protocol_types_are_refused)
{
	static const struct sample * const of_base[] = {
		&pull_req, &pull_data, &push_data, &resync,
	};
	struct falcon_pkt_info pi;
	u8 hdr[FALCON_MAX_HDR_LEN];
	unsigned int i, proto;

	for (i = 0; i < ARRAY_SIZE(of_base); i++) {
		memcpy(hdr, of_base[i]->bytes, sizeof(hdr));
		for (proto = 0; proto < 8; proto++) {
			hdr[7] = (hdr[7] & 0x1f) | proto << 5;
			EXPECT_EQ(parse(hdr, of_base[i], &pi),
				  proto >= 2 && proto <= 4 ?
				  0 : -FALCON_BAD_PROTO);
		}
	}
}

/* spec: 7.6-2 Resync Code 1 to 7 */
TEST(reserved_resync_codes_are_refused)
{
	struct falcon_pkt_info pi;
	u8 hdr[FALCON_MAX_HDR_LEN];
	unsigned int code;

	memcpy(hdr, resync.bytes, sizeof(hdr));
	for (code = 0; code < 256; code++) {
		hdr[24] = code;
		EXPECT_EQ(parse(hdr, &resync, &pi),
			  code >= 1 && code <= 7 ?
			  0 : -FALCON_BAD_RESYNC_CODE);
	}
}

/* spec: 7.6-3 Resync Packet Type is that of an original packet */
TEST(resync_is_of_a_request_or_data)
{
	struct falcon_pkt_info pi;
	u8 hdr[FALCON_MAX_HDR_LEN];
	unsigned int type;

	memcpy(hdr, resync.bytes, sizeof(hdr));
	for (type = 0; type < 16; type++) {
		hdr[25] = type << 4;
		EXPECT_EQ(parse(hdr, &resync, &pi),
			  type == 0 || type == 3 || type == 5 ?
			  0 : -FALCON_BAD_RESYNC_TYPE);
	}
}

/* spec: 7.8-4 NACK Code: 1, 2, 4, 6, 7, 8 */
TEST(reserved_nack_codes_are_refused)
{
	struct falcon_pkt_info pi;
	u8 hdr[FALCON_MAX_HDR_LEN];
	unsigned int code;

	memcpy(hdr, nack.bytes, sizeof(hdr));
	for (code = 0; code < 256; code++) {
		bool known = code == 1 || code == 2 || code == 4 ||
			     code == 6 || code == 7 || code == 8;

		hdr[36] = code;
		EXPECT_EQ(parse(hdr, &nack, &pi),
			  known ? 0 : -FALCON_BAD_NACK_CODE);
	}
}

/*
 * spec: 7-1 9.2.2.1-1 a packet shorter than its header is refused
 *
 * Each length has a buffer of just that size: the address sanitizer sees a
 * read beyond it.
 */
TEST(every_truncated_length_is_refused)
{
	unsigned int i, len;

	for (i = 0; i < ARRAY_SIZE(samples); i++) {
		for (len = 0; len < samples[i]->hdr_len; len++) {
			struct falcon_pkt_info pi;
			u8 *buf = malloc(len ?: 1);

			memcpy(buf, samples[i]->bytes, len);
			EXPECT_EQ(falcon_wire_parse(buf, len, &pi),
				  -FALCON_BAD_SHORT);
			free(buf);
		}
	}
}

/* spec: 7.6-1 resync, ACK and NACK have no payload */
TEST(trailing_bytes_are_refused)
{
	struct falcon_pkt_info pi;
	unsigned int i, extra;

	for (i = 0; i < ARRAY_SIZE(samples); i++) {
		const struct sample *s = samples[i];

		if (has_payload(s))
			continue;
		ASSERT_EQ(falcon_wire_parse(s->bytes, s->hdr_len, &pi), 0);
		for (extra = 1; extra < 40; extra++)
			EXPECT_EQ(falcon_wire_parse(s->bytes,
						    s->hdr_len + extra, &pi),
				  -FALCON_BAD_LENGTH);
		EXPECT_EQ(falcon_wire_parse(s->bytes, ~0u, &pi),
			  -FALCON_BAD_LENGTH);
	}
}

/* spec: 7.5-2 the payload of push data matches Request Length */
TEST(push_payload_is_request_length)
{
	struct falcon_pkt_info pi;
	unsigned int len;
	u8 hdr[FALCON_MAX_HDR_LEN];

	for (len = 0; len <= 0x200; len++)
		EXPECT_EQ(falcon_wire_parse(push_data.bytes, 28 + len, &pi),
			  len == 0x102 ? 0 : -FALCON_BAD_REQ_LEN);

	memcpy(hdr, push_data.bytes, sizeof(hdr));
	memset(hdr + 26, 0xff, 2);
	ASSERT_EQ(falcon_wire_parse(hdr, 28 + 0xffff, &pi), 0);
	EXPECT_EQ(pi.len, 0xffff);
	EXPECT_EQ(falcon_wire_parse(hdr, 28 + 0x10000, &pi),
		  -FALCON_BAD_LENGTH);
	memset(hdr + 26, 0, 2);
	EXPECT_EQ(falcon_wire_parse(hdr, 28, &pi), 0);
}

/* spec: 7.3+1 7.4-1 pull request and pull data take any payload of 16 bits */
TEST(pull_payload_lengths)
{
	static const struct sample * const s[] = { &pull_req, &pull_data };
	struct falcon_pkt_info pi;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(s); i++) {
		unsigned int h = s[i]->hdr_len;

		ASSERT_EQ(falcon_wire_parse(s[i]->bytes, h, &pi), 0);
		EXPECT_EQ(pi.len, 0);
		ASSERT_EQ(falcon_wire_parse(s[i]->bytes, h + 0xffff, &pi), 0);
		EXPECT_EQ(pi.len, 0xffff);
		EXPECT_EQ(falcon_wire_parse(s[i]->bytes, h + 0x10000, &pi),
			  -FALCON_BAD_LENGTH);
	}
}

/* spec: 7.1-2 a header may stand at any alignment */
TEST(unaligned_headers)
{
	u8 buf[FALCON_MAX_HDR_LEN + 8];
	struct falcon_pkt_info pi;
	unsigned int i, off;

	for (i = 0; i < ARRAY_SIZE(samples); i++) {
		for (off = 0; off < 8; off++) {
			falcon_wire_build(&samples[i]->pi, buf + off);
			EXPECT_BYTES(buf + off, samples[i]->bytes,
				     samples[i]->hdr_len);
			EXPECT_EQ(parse(buf + off, samples[i], &pi), 0);
		}
	}
}

static const u8 nack_codes[] = {
	FALCON_NACK_RESOURCE, FALCON_NACK_RNR, FALCON_NACK_XLR,
	FALCON_NACK_CIE, FALCON_NACK_NRE, FALCON_NACK_CID,
};

static const u8 resync_types[] = {
	FALCON_PKT_PULL_REQ, FALCON_PKT_PULL_DATA, FALCON_PKT_PUSH_DATA,
};

/* Random fields, each in the width of its figure */
static void random_reliable(struct falcon_pkt_info *pi)
{
	pi->fn = unit_rand() & 0xffffff;
	pi->proto = 2 + unit_rand_below(3);
	pi->ar = unit_rand() & 1;
	pi->psn = unit_rand();
	pi->rsn = unit_rand();
	if (pi->type == FALCON_PKT_PULL_REQ || pi->type == FALCON_PKT_PUSH_DATA)
		pi->req_len = unit_rand();
	if (pi->type == FALCON_PKT_PUSH_DATA)
		pi->len = pi->req_len;
	else if (pi->type != FALCON_PKT_RESYNC)
		pi->len = unit_rand();
	if (pi->type == FALCON_PKT_RESYNC) {
		pi->resync_code = 1 + unit_rand_below(7);
		pi->resync_type = resync_types[unit_rand_below(3)];
		pi->vendor = unit_rand();
	}
}

static void random_ack(struct falcon_pkt_info *pi)
{
	pi->echo_t1 = unit_rand();
	pi->echo_t2 = unit_rand();
	pi->hops = unit_rand() & 0xf;
	pi->rx_level = unit_rand() & 0x1f;
	pi->ecn = unit_rand() & 0x3fff;
	if (pi->type == FALCON_PKT_NACK) {
		pi->cc_metadata = unit_rand() & 0xffffff;
		pi->nack_psn = unit_rand();
		pi->nack_code = nack_codes[unit_rand_below(6)];
		pi->rnr_timeout = unit_rand() & 0x1f;
		pi->nack_win = unit_rand() & 1;
		pi->ulp_code = unit_rand();
		return;
	}
	pi->cc_metadata = unit_rand() & 0x3fffff;
	pi->own = unit_rand() & 3;
	if (pi->type == FALCON_PKT_EACK) {
		u32 i;

		pi->win_shift = unit_rand_below(FALCON_WIN_SHIFT_MAX + 1);
		pi->hdr_len = 32 + (40 << pi->win_shift);
		for (i = 0; i < 2u << pi->win_shift; i++) {
			pi->data_ack[i] = unit_rand();
			pi->data_rx[i] = unit_rand();
			pi->req_bits[i / 2] = unit_rand();
		}
	}
}

/*
 * spec: 7.7.2+1 of a wider window, an EACK has the bitmaps of 7.7.2 two or four
 * times, the first for the first 128 data and 64 request PSNs; no other number
 */
TEST(wide_eack_repeats_the_bitmaps_7_7_2)
{
	struct falcon_pkt_info pi = eack.pi, got;
	u8 hdr[FALCON_MAX_HDR_LEN + 80] = { 0 };
	unsigned int len;

	pi.win_shift = 2;
	pi.data_rx[7] = 1ULL << 63;
	pi.data_ack[6] = 1;
	pi.req_bits[3] = 2;
	ASSERT_EQ(falcon_wire_build(&pi, hdr), 192);
	EXPECT_BYTES(hdr, eack.bytes, 72);
	EXPECT_EQ(hdr[192 - 40 + 15], 1);	/* data ACK 384 */
	EXPECT_EQ(hdr[192 - 24], 0x80);		/* data Rx 511 */
	EXPECT_EQ(hdr[191], 2);			/* request 193 */

	for (len = 0; len <= sizeof(hdr); len++) {
		int err = falcon_wire_parse(hdr, len, &got);

		if (len < 72)
			EXPECT_EQ(err, -FALCON_BAD_SHORT);
		else if (len != 72 && len != 112 && len != 192)
			EXPECT_EQ(err, -FALCON_BAD_LENGTH);
		else
			EXPECT_EQ(got.win_shift, len / 80);
	}
}

/* spec: 7-2 every value of every field survives build and parse */
TEST(random_round_trips)
{
	struct falcon_pkt_info pi, back_again;
	u8 hdr[FALCON_MAX_HDR_LEN];
	unsigned int n;

	for (n = 0; n < 700000; n++) {
		const struct sample *s = samples[n % ARRAY_SIZE(samples)];

		memset(&pi, 0, sizeof(pi));
		pi.type = s->pi.type;
		pi.hdr_len = s->hdr_len;
		pi.cid = unit_rand() & 0xffffff;
		pi.rbpsn[0] = unit_rand();
		pi.rbpsn[1] = unit_rand();
		if (pi.type < FALCON_PKT_NACK)
			random_reliable(&pi);
		else
			random_ack(&pi);

		ASSERT_EQ(falcon_wire_build(&pi, hdr), pi.hdr_len);
		ASSERT_EQ(falcon_wire_parse(hdr, pi.hdr_len + pi.len,
					    &back_again), 0);
		ASSERT_BYTES(&back_again, &pi, pi_len(&pi));
	}
}

/* spec: 7-2 each value of each narrow field, one at a time */
TEST(exhaustive_narrow_fields)
{
	struct falcon_pkt_info pi = nack.pi, got;
	u8 hdr[FALCON_MAX_HDR_LEN];
	unsigned int v;

	for (v = 0; v < 0x4000; v++) {
		pi.ecn = v;
		pi.hops = v & 0xf;
		pi.rx_level = v & 0x1f;
		pi.rnr_timeout = v & 0x1f;
		pi.ulp_code = v & 0xff;
		falcon_wire_build(&pi, hdr);
		ASSERT_EQ(parse(hdr, &nack, &got), 0);
		ASSERT_BYTES(&got, &pi, pi_len(&pi));
	}
}

/* spec: 7-2 a field never spills into its neighbour */
TEST(oversized_fields_are_cut)
{
	struct falcon_pkt_info pi, got;
	u8 hdr[FALCON_MAX_HDR_LEN];

	memset(&pi, 0xff, sizeof(pi));
	pi.ar = true;
	pi.type = FALCON_PKT_NACK;
	pi.nack_code = FALCON_NACK_CID;
	falcon_wire_build(&pi, hdr);
	ASSERT_EQ(falcon_wire_parse(hdr, 40, &got), 0);
	EXPECT_EQ(got.cid, 0xffffff);
	EXPECT_EQ(got.hops, 15);
	EXPECT_EQ(got.rx_level, 31);
	EXPECT_EQ(got.ecn, 0x3fff);
	EXPECT_EQ(got.cc_metadata, 0xffffff);
	EXPECT_EQ(got.rnr_timeout, 31);

	pi.type = FALCON_PKT_BACK;
	falcon_wire_build(&pi, hdr);
	ASSERT_EQ(falcon_wire_parse(hdr, 32, &got), 0);
	EXPECT_EQ(got.cc_metadata, 0x3fffff);
	EXPECT_EQ(got.own, 3);

	pi.type = FALCON_PKT_PULL_DATA;
	pi.proto = FALCON_PROTO_SOCK;
	falcon_wire_build(&pi, hdr);
	ASSERT_EQ(falcon_wire_parse(hdr, 24, &got), 0);
	EXPECT_EQ(got.fn, 0xffffff);
}

/* spec: 7.2-6 a reserved Packet Type is not built */
TEST(build_of_reserved_type_warns)
{
	struct falcon_pkt_info pi = pull_data.pi;
	u8 hdr[FALCON_MAX_HDR_LEN];

	EXPECT_WARN(2);
	pi.type = 7;
	EXPECT_EQ(falcon_wire_build(&pi, hdr), 0);
	pi.type = 16;
	EXPECT_EQ(falcon_wire_build(&pi, hdr), 0);
}

/* spec: 7+1 each refusal has a counter of its own */
TEST(refusals_have_names)
{
	unsigned int i, j;

	for (i = 0; i < FALCON_NR_WIRE_ERR; i++)
		for (j = 0; j < i; j++)
			EXPECT_TRUE(strcmp(falcon_wire_err_name(i),
					   falcon_wire_err_name(j)));
	EXPECT_STREQ(falcon_wire_err_name(FALCON_BAD_REQ_LEN), "req_len");
}

/* 7.8 RNR NACK Timeout, milliseconds, as printed in the table */
static const double rnr_ms[32] = {
	655.36, 0.01, 0.02, 0.03, 0.04, 0.06, 0.08, 0.12,
	0.16, 0.24, 0.32, 0.48, 0.64, 0.96, 1.28, 1.92,
	2.56, 3.84, 5.12, 7.68, 10.24, 15.36, 20.48, 30.72,
	40.96, 61.44, 81.92, 122.88, 163.84, 245.76, 327.68, 491.52,
};

/* spec: 7.8-5 RNR NACK Timeout, code to time */
TEST(rnr_timeout_of_code)
{
	unsigned int code;

	for (code = 0; code < 32; code++)
		EXPECT_NEAR(falcon_rnr_timeout_ns(code), rnr_ms[code] * 1e6,
			    0.5);
	EXPECT_EQ(falcon_rnr_timeout_ns(33), falcon_rnr_timeout_ns(1));
}

/* spec: 7.8+1 RNR NACK Timeout, time to the shortest code not below it */
TEST(rnr_code_of_timeout)
{
	unsigned int code;

	EXPECT_EQ(falcon_rnr_timeout_code(0), 1);
	for (code = 0; code < 32; code++) {
		u64 ns = falcon_rnr_timeout_ns(code);
		unsigned int longer = (code + 1) % 32;

		EXPECT_EQ(falcon_rnr_timeout_code(ns), code);
		EXPECT_EQ(falcon_rnr_timeout_code(ns - 1), code);
		if (code)
			EXPECT_EQ(falcon_rnr_timeout_code(ns + 1), longer);
	}
	EXPECT_EQ(falcon_rnr_timeout_code(655360001), 0);
	EXPECT_EQ(falcon_rnr_timeout_code(U64_MAX), 0);
}

/*
 * spec: 7.7.1-12 7.8-9 the RUE has 22 bits of an ACK, above OWN, and 24 of a
 * NACK; hop count, level and ECN count stand at the same bits of both
 */
TEST(rue_has_22_bits_in_an_ack_and_24_in_a_nack_7_7_1)
{
	struct falcon_pkt_info pi = {
		.type = FALCON_PKT_BACK, .hops = 0xf, .rx_level = 0x1f,
		.ecn = 0x3fff, .cc_metadata = 0xffffff,
	};
	u8 hdr[FALCON_MAX_HDR_LEN];
	struct falcon_back_hdr *back = (void *)hdr;
	struct falcon_nack_hdr *nack = (void *)hdr;

	falcon_wire_build(&pi, hdr);
	EXPECT_EQ(be64_to_cpu(back->cc), 0xfffffe0000fffffcULL);
	pi.own = FALCON_OWN_REQUEST | FALCON_OWN_DATA;
	pi.cc_metadata = 0;
	falcon_wire_build(&pi, hdr);
	EXPECT_EQ(be64_to_cpu(back->cc), 0xfffffe0000000003ULL);
	pi.type = FALCON_PKT_NACK;
	pi.cc_metadata = 0xffffff;
	pi.nack_code = FALCON_NACK_RESOURCE;
	falcon_wire_build(&pi, hdr);
	EXPECT_EQ(be64_to_cpu(nack->cc), 0xfffffe0000ffffffULL);
}
