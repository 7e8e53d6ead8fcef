// SPDX-License-Identifier: GPL-2.0
/*
 * Headers of RDMA over Falcon (drivers/infiniband/sw/falcon/wire.c): byte by
 * byte against the figures of its specification, and what a parser refuses.
 */
#include <asm/byteorder.h>

#include "../../../../drivers/infiniband/sw/falcon/wire.h"
#include "harness.h"

static u8 buf[256];

/* Every field with a value of its own */
static struct fal_hdr full(u8 op)
{
	struct fal_hdr h = {
		.op = op, .dqpn = 0x123456, .sn = 0x01020304,
		.va = 0x1112131415161718, .rkey = 0x21222324, .len = 0,
		.rmsn = 0x31323334, .offset = 0x41424344,
		.sink_va = 0x5152535455565758, .sink_lkey = 0x61626364,
		.imm = cpu_to_be32(0x71727374),
		.swap_add = 0x8182838485868788, .compare = 0x9192939495969798,
		.orig = 0xa1a2a3a4a5a6a7a8, .inv_rkey = 0xb1b2b3b4,
		.srqn = 0xc1c2c3, .qkey = 0xd1d2d3d4, .sqpn = 0xe1e2e3,
	};

	return h;
}

#define BUILDS(h, ...) do {						\
	static const u8 want[] = { __VA_ARGS__ };			\
									\
	ASSERT_EQ(fal_hdr_build(&(h), buf), sizeof(want));		\
	ASSERT_EQ(fal_hdr_len((h).op), sizeof(want));			\
	EXPECT_BYTES(buf, want, sizeof(want));				\
} while (0)

#define RBTH(op)	0x10, 0, 0, op, 0x12, 0x34, 0x56, 0, 1, 2, 3, 4
#define RETH		0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18,	\
			0x21, 0x22, 0x23, 0x24, 0, 0, 0, 0
#define SETH		0x31, 0x32, 0x33, 0x34
#define OETH		0x41, 0x42, 0x43, 0x44
#define STETH		0x51, 0x52, 0x53, 0x54, 0x55, 0x56, 0x57, 0x58,	\
			0x61, 0x62, 0x63, 0x64
#define IMM		0x71, 0x72, 0x73, 0x74
#define IETH		0xb1, 0xb2, 0xb3, 0xb4
#define XRCETH		0xc1, 0xc2, 0xc3, 0
#define ATOMIC		0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18,	\
			0x21, 0x22, 0x23, 0x24,				\
			0x81, 0x82, 0x83, 0x84, 0x85, 0x86, 0x87, 0x88,	\
			0x91, 0x92, 0x93, 0x94, 0x95, 0x96, 0x97, 0x98

/* RDMA 8.2, figure: version, CE, pad, SE, opcode; QP; SN */
TEST(rbth_bits_are_where_the_figure_has_them)
{
	struct fal_hdr h = full(FAL_OP_SEND_ONLY);

	h.ce = true;
	BUILDS(h, 0x10, 0, 0x10, 0x04, 0x12, 0x34, 0x56, 0, 1, 2, 3, 4,
	       SETH, OETH);
	h.ce = false;
	h.pad = 3;
	BUILDS(h, 0x10, 0, 0x0c, 0x04, 0x12, 0x34, 0x56, 0, 1, 2, 3, 4,
	       SETH, OETH);
	h.pad = 0;
	h.se = true;
	BUILDS(h, 0x10, 0, 0x01, 0x04, 0x12, 0x34, 0x56, 0, 1, 2, 3, 4,
	       SETH, OETH);
}

/* RDMA 8.1.3: each row's number, packet type and place in its message */
TEST(opcode_numbers_are_the_tables_8_1_3)
{
#define SEND	(FAL_OPF_PUSH | FAL_OPF_SEND)
#define WRITE	(FAL_OPF_PUSH | FAL_OPF_WRITE)
#define FIRST	FAL_OPF_FIRST
#define LAST	FAL_OPF_LAST
#define WHAT	(SEND | WRITE | FIRST | LAST | FAL_OPF_PULL | FAL_OPF_RESP | \
		 FAL_H_IMM | FAL_H_IETH)
	static const struct {
		u8 op;
		u8 number;
		u32 what;
	} rows[] = {
		{ FAL_OP_SEND_FIRST, 0x00, SEND | FIRST },
		{ FAL_OP_SEND_MIDDLE, 0x01, SEND },
		{ FAL_OP_SEND_LAST, 0x02, SEND | LAST },
		{ FAL_OP_SEND_LAST_IMM, 0x03, SEND | LAST | FAL_H_IMM },
		{ FAL_OP_SEND_ONLY, 0x04, SEND | FIRST | LAST },
		{ FAL_OP_SEND_ONLY_IMM, 0x05, SEND | FIRST | LAST | FAL_H_IMM },
		{ FAL_OP_WRITE_FIRST, 0x06, WRITE | FIRST },
		{ FAL_OP_WRITE_MIDDLE, 0x07, WRITE },
		{ FAL_OP_WRITE_LAST, 0x08, WRITE | LAST },
		{ FAL_OP_WRITE_LAST_IMM, 0x09, WRITE | LAST | FAL_H_IMM },
		{ FAL_OP_WRITE_ONLY, 0x0a, WRITE | FIRST | LAST },
		{ FAL_OP_WRITE_ONLY_IMM, 0x0b,
		  WRITE | FIRST | LAST | FAL_H_IMM },
		{ FAL_OP_READ_REQ, 0x0c, FAL_OPF_PULL | FIRST | LAST },
		{ FAL_OP_READ_RESP_FIRST, 0x0d, FAL_OPF_RESP | FIRST },
		{ FAL_OP_READ_RESP_MIDDLE, 0x0e, FAL_OPF_RESP },
		{ FAL_OP_READ_RESP_LAST, 0x0f, FAL_OPF_RESP | LAST },
		{ FAL_OP_READ_RESP_ONLY, 0x10, FAL_OPF_RESP | FIRST | LAST },
		{ FAL_OP_ATOMIC_RESP, 0x12, FAL_OPF_RESP | FIRST | LAST },
		{ FAL_OP_CMP_SWAP, 0x13, FAL_OPF_PULL | FIRST | LAST },
		{ FAL_OP_FETCH_ADD, 0x14, FAL_OPF_PULL | FIRST | LAST },
		{ FAL_OP_SEND_LAST_INV, 0x16, SEND | LAST | FAL_H_IETH },
		{ FAL_OP_SEND_ONLY_INV, 0x17, SEND | FIRST | LAST | FAL_H_IETH },
		{ FAL_SVC_UD | FAL_OP_SEND_ONLY, 0x64, SEND | FIRST | LAST },
		{ FAL_SVC_UD | FAL_OP_SEND_ONLY_IMM, 0x65,
		  SEND | FIRST | LAST | FAL_H_IMM },
	};
	struct fal_hdr h;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		h = full(rows[i].op);
		fal_hdr_build(&h, buf);
		EXPECT_EQ(buf[3], rows[i].number);
		EXPECT_EQ(fal_op_flags(rows[i].number) & WHAT, rows[i].what);
	}
#undef SEND
#undef WRITE
#undef FIRST
#undef LAST
#undef WHAT
}

/* RDMA 8.1.3: SEND carries SETH and OETH in each packet, then ImmDt or IETH */
TEST(send_headers)
{
	struct fal_hdr h = full(FAL_OP_SEND_FIRST);

	BUILDS(h, RBTH(0x00), SETH, OETH);
	h.op = FAL_OP_SEND_MIDDLE;
	BUILDS(h, RBTH(0x01), SETH, OETH);
	h.op = FAL_OP_SEND_LAST_IMM;
	BUILDS(h, RBTH(0x03), SETH, OETH, IMM);
	h.op = FAL_OP_SEND_ONLY_INV;
	BUILDS(h, RBTH(0x17), SETH, OETH, IETH);
}

/* RDMA 8.1.3: WRITE carries RETH in each packet, and SETH with immediate */
TEST(write_headers)
{
	struct fal_hdr h = full(FAL_OP_WRITE_MIDDLE);

	BUILDS(h, RBTH(0x07), RETH);
	h.op = FAL_OP_WRITE_ONLY_IMM;
	BUILDS(h, RBTH(0x0b), RETH, SETH, IMM);
}

/* RDMA 8.1.3, 8.3.4: a READ carries the sink tag, its response returns it */
TEST(read_headers)
{
	struct fal_hdr h = full(FAL_OP_READ_REQ);

	BUILDS(h, RBTH(0x0c), RETH, SETH, STETH);
	h.op = FAL_OP_READ_RESP_ONLY;
	BUILDS(h, RBTH(0x10), STETH);
}

/* RDMA 8.1.3, 8.3.6, 8.3.7: the table has the two swapped; the text is right */
TEST(atomic_headers)
{
	struct fal_hdr h = full(FAL_OP_CMP_SWAP);

	BUILDS(h, RBTH(0x13), ATOMIC, SETH, STETH);
	h.op = FAL_OP_FETCH_ADD;
	BUILDS(h, RBTH(0x14), ATOMIC, SETH, STETH);
	h.op = FAL_OP_ATOMIC_RESP;
	BUILDS(h, RBTH(0x12), 0xa1, 0xa2, 0xa3, 0xa4, 0xa5, 0xa6, 0xa7, 0xa8,
	       STETH);
}

/* RDMA 8.3.9: every request of XRC, right behind the base header */
TEST(xrc_headers)
{
	struct fal_hdr h = full(FAL_SVC_XRC | FAL_OP_SEND_ONLY);

	BUILDS(h, RBTH(0xa4), XRCETH, SETH, OETH);
	h.op = FAL_SVC_XRC | FAL_OP_FETCH_ADD;
	BUILDS(h, RBTH(0xb4), XRCETH, ATOMIC, SETH, STETH);
	EXPECT_EQ(fal_hdr_len(h.op), FAL_HDR_MAX);
	h.op = FAL_SVC_XRC | FAL_OP_READ_RESP_ONLY;
	BUILDS(h, RBTH(0xb0), STETH);
}

/* RDMA 8.1.3, 8.3.10 */
TEST(ud_headers)
{
	struct fal_hdr h = full(FAL_SVC_UD | FAL_OP_SEND_ONLY);

	BUILDS(h, RBTH(0x64), 0xd1, 0xd2, 0xd3, 0xd4, 0xe1, 0xe2, 0xe3, 0);
	h.op = FAL_SVC_UD | FAL_OP_SEND_ONLY_IMM;
	BUILDS(h, RBTH(0x65), 0xd1, 0xd2, 0xd3, 0xd4, 0xe1, 0xe2, 0xe3, 0, IMM);
}

/* What the parser finds is what was built, for all 256 opcodes. */
TEST(parse_reverses_build)
{
	unsigned int op, n, seen = 0, resp;
	struct fal_hdr h, got;

	for (op = 0; op < 256; op++) {
		n = fal_hdr_len(op);
		if (!n)
			continue;
		seen++;
		h = full(op);
		ASSERT_EQ(fal_hdr_build(&h, buf), n);
		ASSERT_LE(n, FAL_HDR_MAX);
		ASSERT_EQ(fal_hdr_parse(&got, buf, n, n), n);
		memset(buf, 0, sizeof(buf));
		ASSERT_EQ(fal_hdr_build(&got, buf), n);
		EXPECT_EQ(fal_hdr_parse(&h, buf, n, n), n);
		EXPECT_BYTES(&h, &got, sizeof(h));
		resp = fal_op_flags(op) & FAL_OPF_RESP;
		EXPECT_EQ(got.dqpn, 0x123456);
		if (fal_op_flags(op) & FAL_H_STETH)
			EXPECT_EQ(got.sink_va, 0x5152535455565758);
		else
			EXPECT_FALSE(resp);
	}
	/* 22 of RC, as many of XRC, two of UD */
	EXPECT_EQ(seen, 22 + 22 + 2);
}

/* RDMA 8.1.3: reserved opcodes */
TEST(reserved_opcodes_are_refused)
{
	static const u8 bad[] = { 0x11, 0x15, 0x18, 0x1f, 0x20, 0x60, 0x63,
				  0x66, 0x7f, 0x80, 0xb1, 0xb5, 0xc4, 0xff };
	struct fal_hdr h = full(FAL_OP_SEND_ONLY), got;
	unsigned int i;

	fal_hdr_build(&h, buf);
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		buf[3] = bad[i];
		EXPECT_EQ(fal_hdr_parse(&got, buf, 64, 64), -FAL_BAD_OPCODE);
	}
}

/* RDMA 8.2: Version must be 1, what is reserved 0 */
TEST(version_and_reserved_bits)
{
	struct fal_hdr h = full(FAL_SVC_UD | FAL_OP_SEND_ONLY), got;
	unsigned int n = fal_hdr_build(&h, buf), bit;

	buf[0] = 0x20;
	EXPECT_EQ(fal_hdr_parse(&got, buf, n, n), -FAL_BAD_VERSION);
	buf[0] = 0x10;
	for (bit = 4; bit < 24; bit++) {
		if (bit >= 19 && bit != 22)
			continue;
		buf[bit / 8] ^= 0x80 >> bit % 8;
		EXPECT_EQ(fal_hdr_parse(&got, buf, n, n), -FAL_BAD_RESERVED);
		buf[bit / 8] ^= 0x80 >> bit % 8;
	}
	buf[7] = 1;
	EXPECT_EQ(fal_hdr_parse(&got, buf, n, n), -FAL_BAD_RESERVED);
	buf[7] = 0;
	buf[19] = 1;
	EXPECT_EQ(fal_hdr_parse(&got, buf, n, n), -FAL_BAD_RESERVED);
	buf[19] = 0;
	EXPECT_EQ(fal_hdr_parse(&got, buf, n, n), n);
}

TEST(headers_cut_short_are_refused)
{
	unsigned int op, n, len;
	struct fal_hdr h, got;

	for (op = 0; op < 256; op++) {
		n = fal_hdr_len(op);
		h = full(op);
		if (!n)
			continue;
		fal_hdr_build(&h, buf);
		for (len = 0; len < n; len++)
			EXPECT_EQ(fal_hdr_parse(&got, buf, len, len),
				  -FAL_BAD_SHORT);
	}
}

/* RDMA 8.2 Pad, 8.3.1 Length: of this packet's payload */
TEST(lengths_must_agree)
{
	struct fal_hdr h = full(FAL_OP_WRITE_ONLY), got;
	unsigned int n;

	h.len = 5;
	h.pad = 3;
	n = fal_hdr_build(&h, buf);
	EXPECT_EQ(fal_hdr_parse(&got, buf, n, n + 8), n);
	EXPECT_EQ(got.len, 5);
	EXPECT_EQ(fal_hdr_parse(&got, buf, n, n + 12), -FAL_BAD_LENGTH);
	EXPECT_EQ(fal_hdr_parse(&got, buf, n, n + 7), -FAL_BAD_LENGTH);
	EXPECT_EQ(fal_hdr_parse(&got, buf, n, n), -FAL_BAD_LENGTH);

	h = full(FAL_OP_SEND_ONLY);
	h.pad = 1;
	n = fal_hdr_build(&h, buf);
	EXPECT_EQ(fal_hdr_parse(&got, buf, n, n + 4), n);
	EXPECT_EQ(fal_hdr_parse(&got, buf, n, n), -FAL_BAD_LENGTH);

	h = full(FAL_OP_READ_REQ);
	h.len = 4096;
	n = fal_hdr_build(&h, buf);
	EXPECT_EQ(fal_hdr_parse(&got, buf, n, n), n);
	EXPECT_EQ(fal_hdr_parse(&got, buf, n, n + 4), -FAL_BAD_LENGTH);
}
