// SPDX-License-Identifier: GPL-2.0
/*
 * RDMA over Falcon headers between their bytes and struct fal_hdr
 * (specification section 8). The responder and the requester parse each packet
 * here first and believe nothing before; they build each header here.
 *
 * What the specification leaves open: the table of 8.1.3 gives atomic requests
 * the header of their responses and the other way round, 8.3.6 and 8.3.7 say
 * which is which; AckReq of 8.2 has no bit in the figure, so none on the wire;
 * XRC opcodes and the place of XRCETH are InfiniBand's. As in the Falcon
 * headers below, all that is reserved must be zero.
 *
 * Builds in user space too: the unit tests hold it to the figures.
 */
#include <linux/bitfield.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <asm/byteorder.h>
#include "wire.h"

/* 8.2, first word */
#define W0_VERSION	GENMASK(31, 28)
#define W0_RESERVED	(GENMASK(27, 13) | BIT(9))
#define W0_CE		BIT(12)
#define W0_PAD		GENMASK(11, 10)
#define W0_SE		BIT(8)
#define W0_OPCODE	GENMASK(7, 0)

/* A word of a 24-bit number and 8 reserved bits: 8.2, 8.3.9, 8.3.10 */
#define W24_NUMBER	GENMASK(31, 8)
#define W24_RESERVED	GENMASK(7, 0)

#define RBTH_LEN	12

#define SEND_OP(more)	(FAL_OPF_PUSH | FAL_OPF_SEND | FAL_OPF_PAYLOAD | \
			 FAL_H_SETH | FAL_H_OETH | (more))
#define WRITE_OP(more)	(FAL_OPF_PUSH | FAL_OPF_WRITE | FAL_OPF_PAYLOAD | \
			 FAL_H_RETH | (more))
#define READ_RESP_OP(more)	(FAL_OPF_RESP | FAL_OPF_PAYLOAD | FAL_H_STETH | (more))
#define ATOMIC_REQ	(FAL_OPF_PULL | FAL_H_ATOMIC | FAL_H_SETH | \
			 FAL_H_STETH | ONLY)
#define FIRST		FAL_OPF_FIRST
#define LAST		FAL_OPF_LAST
#define ONLY		(FAL_OPF_FIRST | FAL_OPF_LAST)
#define UD_SEND(more)	(FAL_OPF_PUSH | FAL_OPF_SEND | FAL_OPF_PAYLOAD | \
			 FAL_H_DETH | ONLY | (more))

/* 8.1.3; 0: reserved */
static const u32 fal_ops[FAL_NR_OPS] = {
	[FAL_OP_SEND_FIRST]	= SEND_OP(FIRST),
	[FAL_OP_SEND_MIDDLE]	= SEND_OP(0),
	[FAL_OP_SEND_LAST]	= SEND_OP(LAST),
	[FAL_OP_SEND_LAST_IMM]	= SEND_OP(LAST | FAL_H_IMM),
	[FAL_OP_SEND_ONLY]	= SEND_OP(ONLY),
	[FAL_OP_SEND_ONLY_IMM]	= SEND_OP(ONLY | FAL_H_IMM),
	[FAL_OP_WRITE_FIRST]	= WRITE_OP(FIRST),
	[FAL_OP_WRITE_MIDDLE]	= WRITE_OP(0),
	[FAL_OP_WRITE_LAST]	= WRITE_OP(LAST),
	[FAL_OP_WRITE_LAST_IMM]	= WRITE_OP(LAST | FAL_H_SETH | FAL_H_IMM),
	[FAL_OP_WRITE_ONLY]	= WRITE_OP(ONLY),
	[FAL_OP_WRITE_ONLY_IMM]	= WRITE_OP(ONLY | FAL_H_SETH | FAL_H_IMM),
	[FAL_OP_READ_REQ]	= FAL_OPF_PULL | FAL_H_RETH | FAL_H_SETH |
				  FAL_H_STETH | ONLY,
	[FAL_OP_READ_RESP_FIRST]  = READ_RESP_OP(FIRST),
	[FAL_OP_READ_RESP_MIDDLE] = READ_RESP_OP(0),
	[FAL_OP_READ_RESP_LAST]	= READ_RESP_OP(LAST),
	[FAL_OP_READ_RESP_ONLY]	= READ_RESP_OP(ONLY),
	[FAL_OP_ATOMIC_RESP]	= FAL_OPF_RESP | FAL_H_ATOMIC_ACK |
				  FAL_H_STETH | ONLY,
	[FAL_OP_CMP_SWAP]	= ATOMIC_REQ,
	[FAL_OP_FETCH_ADD]	= ATOMIC_REQ,
	[FAL_OP_SEND_LAST_INV]	= SEND_OP(LAST | FAL_H_IETH),
	[FAL_OP_SEND_ONLY_INV]	= SEND_OP(ONLY | FAL_H_IETH),
};

static const u8 fal_ext_len[] = {	/* by bit of FAL_H_*, in wire order */
	4, 8, 16, 28, 8, 4, 4, 12, 4, 4,
};

/**
 * fal_op_flags() - what an opcode is
 * @op:	service and opcode
 *
 * Return: FAL_H_* and FAL_OPF_*; 0: reserved.
 */
u32 fal_op_flags(u8 op)
{
	u8 low = op & FAL_OP_MASK;

	if (low >= FAL_NR_OPS || !fal_ops[low])
		return 0;
	switch (op & FAL_SVC_MASK) {
	case FAL_SVC_RC:
		return fal_ops[low];
	case FAL_SVC_XRC:
		/* 8.3.9: in all request packets */
		if (fal_ops[low] & FAL_OPF_RESP)
			return fal_ops[low];
		return fal_ops[low] | FAL_H_XRCETH;
	case FAL_SVC_UD:
		if (low == FAL_OP_SEND_ONLY)
			return UD_SEND(0);
		if (low == FAL_OP_SEND_ONLY_IMM)
			return UD_SEND(FAL_H_IMM);
		return 0;
	default:
		return 0;
	}
}

static unsigned int fal_flags_len(u32 flags)
{
	unsigned int i, len = RBTH_LEN;

	for (i = 0; i < ARRAY_SIZE(fal_ext_len); i++)
		if (flags & BIT(i))
			len += fal_ext_len[i];
	return len;
}

/**
 * fal_hdr_len() - bytes of headers that an opcode has
 * @op:	service and opcode
 *
 * Return: bytes; 0: reserved.
 */
unsigned int fal_hdr_len(u8 op)
{
	u32 flags = fal_op_flags(op);

	return flags ? fal_flags_len(flags) : 0;
}

static u8 *put32(u8 *p, u32 v)
{
	__be32 w = cpu_to_be32(v);

	memcpy(p, &w, sizeof(w));
	return p + sizeof(w);
}

static u8 *put64(u8 *p, u64 v)
{
	__be64 w = cpu_to_be64(v);

	memcpy(p, &w, sizeof(w));
	return p + sizeof(w);
}

static u8 *put24(u8 *p, u32 v)
{
	return put32(p, FIELD_PREP(W24_NUMBER, v & FAL_QPN_MASK));
}

/**
 * fal_hdr_build() - write the headers of a packet
 * @h:		its fields; the opcode is not reserved
 * @buf:	room for fal_hdr_len() bytes
 *
 * Return: bytes written.
 */
unsigned int fal_hdr_build(const struct fal_hdr *h, void *buf)
{
	u32 flags = fal_op_flags(h->op);
	u8 *p = buf;

	p = put32(p, FIELD_PREP(W0_VERSION, FAL_WIRE_VERSION) |
		     FIELD_PREP(W0_CE, h->ce) | FIELD_PREP(W0_PAD, h->pad) |
		     FIELD_PREP(W0_SE, h->se) | FIELD_PREP(W0_OPCODE, h->op));
	p = put24(p, h->dqpn);
	p = put32(p, h->sn);
	if (flags & FAL_H_XRCETH)
		p = put24(p, h->srqn);
	if (flags & FAL_H_DETH) {
		p = put32(p, h->qkey);
		p = put24(p, h->sqpn);
	}
	if (flags & (FAL_H_RETH | FAL_H_ATOMIC)) {
		p = put64(p, h->va);
		p = put32(p, h->rkey);
	}
	if (flags & FAL_H_RETH)
		p = put32(p, h->len);
	if (flags & FAL_H_ATOMIC) {
		p = put64(p, h->swap_add);
		p = put64(p, h->compare);
	}
	if (flags & FAL_H_ATOMIC_ACK)
		p = put64(p, h->orig);
	if (flags & FAL_H_SETH)
		p = put32(p, h->rmsn);
	if (flags & FAL_H_OETH)
		p = put32(p, h->offset);
	if (flags & FAL_H_STETH) {
		p = put64(p, h->sink_va);
		p = put32(p, h->sink_lkey);
	}
	if (flags & FAL_H_IMM) {
		memcpy(p, &h->imm, sizeof(h->imm));
		p += sizeof(h->imm);
	}
	if (flags & FAL_H_IETH)
		p = put32(p, h->inv_rkey);
	return p - (u8 *)buf;
}

/**
 * fal_hdr_set_sn() - give headers their Sequence Number
 * @buf:	of fal_hdr_build()
 * @sn:		Sequence Number
 */
void fal_hdr_set_sn(void *buf, u32 sn)
{
	put32(buf + RBTH_LEN - 4, sn);
}

static const u8 *get32(const u8 *p, u32 *v)
{
	__be32 w;

	memcpy(&w, p, sizeof(w));
	*v = be32_to_cpu(w);
	return p + sizeof(w);
}

static const u8 *get64(const u8 *p, u64 *v)
{
	__be64 w;

	memcpy(&w, p, sizeof(w));
	*v = be64_to_cpu(w);
	return p + sizeof(w);
}

/* Gathers reserved bits in @reserved, to be judged once. */
static const u8 *get24(const u8 *p, u32 *v, u32 *reserved)
{
	u32 w;

	p = get32(p, &w);
	*v = FIELD_GET(W24_NUMBER, w);
	*reserved |= w & W24_RESERVED;
	return p;
}

/* The extended headers; false if something reserved is not zero. */
static bool fal_parse_ext(struct fal_hdr *h, const u8 *p, u32 flags)
{
	u32 reserved = 0;

	if (flags & FAL_H_XRCETH)
		p = get24(p, &h->srqn, &reserved);
	if (flags & FAL_H_DETH) {
		p = get32(p, &h->qkey);
		p = get24(p, &h->sqpn, &reserved);
	}
	if (flags & (FAL_H_RETH | FAL_H_ATOMIC)) {
		p = get64(p, &h->va);
		p = get32(p, &h->rkey);
	}
	if (flags & FAL_H_RETH)
		p = get32(p, &h->len);
	if (flags & FAL_H_ATOMIC) {
		p = get64(p, &h->swap_add);
		p = get64(p, &h->compare);
	}
	if (flags & FAL_H_ATOMIC_ACK)
		p = get64(p, &h->orig);
	if (flags & FAL_H_SETH)
		p = get32(p, &h->rmsn);
	if (flags & FAL_H_OETH)
		p = get32(p, &h->offset);
	if (flags & FAL_H_STETH) {
		p = get64(p, &h->sink_va);
		p = get32(p, &h->sink_lkey);
	}
	if (flags & FAL_H_IMM) {
		memcpy(&h->imm, p, sizeof(h->imm));
		p += sizeof(h->imm);
	}
	if (flags & FAL_H_IETH)
		p = get32(p, &h->inv_rkey);
	return !reserved;
}

/* Payload, pad and RETH Length must agree; @bytes is payload and pad. */
static bool fal_lengths_fit(const struct fal_hdr *h, u32 flags,
			    unsigned int bytes)
{
	if (!(flags & FAL_OPF_PAYLOAD))
		return !bytes && !h->pad;
	if (bytes % 4 || h->pad > bytes)
		return false;
	return !(flags & FAL_OPF_WRITE) || h->len == bytes - h->pad;
}

/**
 * fal_hdr_parse() - take the headers of a packet apart
 * @h:		written whole
 * @buf:	the packet
 * @linear:	bytes of it that @buf holds: all, or at least FAL_HDR_MAX
 * @len:	bytes of it in all
 *
 * Return: bytes of headers, after which @len - that - @h->pad bytes of payload
 * follow; or -FAL_BAD_*.
 */
int fal_hdr_parse(struct fal_hdr *h, const void *buf, unsigned int linear,
		  unsigned int len)
{
	u32 w0, flags, reserved = 0;
	const u8 *p = buf;
	unsigned int n;

	memset(h, 0, sizeof(*h));
	if (linear < RBTH_LEN)
		return -FAL_BAD_SHORT;
	p = get32(p, &w0);
	p = get24(p, &h->dqpn, &reserved);
	p = get32(p, &h->sn);
	if (FIELD_GET(W0_VERSION, w0) != FAL_WIRE_VERSION)
		return -FAL_BAD_VERSION;
	if (reserved || w0 & W0_RESERVED)
		return -FAL_BAD_RESERVED;
	h->op = FIELD_GET(W0_OPCODE, w0);
	h->pad = FIELD_GET(W0_PAD, w0);
	h->se = w0 & W0_SE;
	h->ce = w0 & W0_CE;
	flags = fal_op_flags(h->op);
	if (!flags)
		return -FAL_BAD_OPCODE;
	n = fal_flags_len(flags);
	if (linear < n)
		return -FAL_BAD_SHORT;
	if (!fal_parse_ext(h, p, flags))
		return -FAL_BAD_RESERVED;
	if (!fal_lengths_fit(h, flags, len - n))
		return -FAL_BAD_LENGTH;
	return n;
}
