/* SPDX-License-Identifier: GPL-2.0 */
/*
 * RDMA over Falcon on the wire: the base header, the extended headers and the
 * opcodes of OCP RDMA over Falcon Transport Rev 0.9, section 8, as numbers in
 * the host's order.
 *
 * The requester and the responder build and parse packets through wire.c and
 * touch no header byte themselves. Everything on the wire is big endian.
 */
#ifndef _FAL_WIRE_H
#define _FAL_WIRE_H

#include <linux/bits.h>
#include <linux/types.h>

#define FAL_WIRE_VERSION	1	/* 8.2 Version */
#define FAL_QPN_MASK		0xffffffu
#define FAL_FIRST_SN		1	/* 8.2 SN of a connection's first packet */
#define FAL_FIRST_RMSN		1	/* 8.3.2 */

/* 8.1.3: bits 7:5 of the opcode name the service, as InfiniBand has it. */
#define FAL_SVC_RC		0x00
#define FAL_SVC_UD		0x60
#define FAL_SVC_XRC		0xa0
#define FAL_SVC_MASK		0xe0

/* 8.1.3: bits 4:0. UD has the two SEND Only, XRC all that RC has. */
enum fal_op {
	FAL_OP_SEND_FIRST	= 0x00,
	FAL_OP_SEND_MIDDLE	= 0x01,
	FAL_OP_SEND_LAST	= 0x02,
	FAL_OP_SEND_LAST_IMM	= 0x03,
	FAL_OP_SEND_ONLY	= 0x04,
	FAL_OP_SEND_ONLY_IMM	= 0x05,
	FAL_OP_WRITE_FIRST	= 0x06,
	FAL_OP_WRITE_MIDDLE	= 0x07,
	FAL_OP_WRITE_LAST	= 0x08,
	FAL_OP_WRITE_LAST_IMM	= 0x09,
	FAL_OP_WRITE_ONLY	= 0x0a,
	FAL_OP_WRITE_ONLY_IMM	= 0x0b,
	FAL_OP_READ_REQ		= 0x0c,
	FAL_OP_READ_RESP_FIRST	= 0x0d,
	FAL_OP_READ_RESP_MIDDLE	= 0x0e,
	FAL_OP_READ_RESP_LAST	= 0x0f,
	FAL_OP_READ_RESP_ONLY	= 0x10,
	FAL_OP_ATOMIC_RESP	= 0x12,
	FAL_OP_CMP_SWAP		= 0x13,
	FAL_OP_FETCH_ADD	= 0x14,
	FAL_OP_SEND_LAST_INV	= 0x16,
	FAL_OP_SEND_ONLY_INV	= 0x17,
	FAL_NR_OPS		= 0x18,
};

#define FAL_OP_MASK		0x1f

/* What an opcode is, and which extended headers follow the base header. */
#define FAL_H_XRCETH		BIT(0)	/* 8.3.9 */
#define FAL_H_DETH		BIT(1)	/* 8.3.10 */
#define FAL_H_RETH		BIT(2)	/* 8.3.1 */
#define FAL_H_ATOMIC		BIT(3)	/* 8.3.6 AtomicETH */
#define FAL_H_ATOMIC_ACK	BIT(4)	/* 8.3.7 AtomicAckETH */
#define FAL_H_SETH		BIT(5)	/* 8.3.2 */
#define FAL_H_OETH		BIT(6)	/* 8.3.3 */
#define FAL_H_STETH		BIT(7)	/* 8.3.4 */
#define FAL_H_IMM		BIT(8)	/* 8.3.5 */
#define FAL_H_IETH		BIT(9)	/* 8.3.8 */
#define FAL_H_EXT		GENMASK(9, 0)
#define FAL_OPF_SEND		BIT(10)	/* takes a receive WQE's buffers */
#define FAL_OPF_WRITE		BIT(11)
#define FAL_OPF_FIRST		BIT(12)	/* First or Only */
#define FAL_OPF_LAST		BIT(13)	/* Last or Only */
#define FAL_OPF_PUSH		BIT(14)	/* Falcon packet: push data */
#define FAL_OPF_PULL		BIT(15)	/* pull request */
#define FAL_OPF_RESP		BIT(16)	/* pull data */
#define FAL_OPF_PAYLOAD		BIT(17)	/* bytes may follow the headers */

/**
 * struct fal_hdr - the headers of an RDMA packet
 * @op:		service and opcode
 * @pad:	bytes after the payload, 0..3 (8.2 Pad)
 * @se:		Solicited Event
 * @ce:		Complete-in-Error: the message ends in error
 * @dqpn:	Destination QP, 24 bits
 * @sn:		Sequence Number; of a response that of its request
 * @va:		RETH, AtomicETH: address at the target
 * @rkey:	RETH, AtomicETH: its key
 * @len:	RETH: bytes of this packet's own part of the operation
 * @rmsn:	SETH
 * @offset:	OETH: where in the message the payload begins
 * @sink_va:	STETH: where the initiator wants the response
 * @sink_lkey:	STETH: its key
 * @imm:	ImmDt, as it was given
 * @swap_add:	AtomicETH
 * @compare:	AtomicETH
 * @orig:	AtomicAckETH: what was there before
 * @inv_rkey:	IETH
 * @srqn:	XRCETH, 24 bits
 * @qkey:	DETH
 * @sqpn:	DETH: source QP, 24 bits
 *
 * Fields of headers that an opcode does not have are not looked at, and zero
 * after parsing.
 */
struct fal_hdr {
	u8  op;
	u8  pad;
	bool se;
	bool ce;
	u32 dqpn;
	u32 sn;
	u64 va;
	u32 rkey;
	u32 len;
	u32 rmsn;
	u32 offset;
	u64 sink_va;
	u32 sink_lkey;
	__be32 imm;
	u64 swap_add;
	u64 compare;
	u64 orig;
	u32 inv_rkey;
	u32 srqn;
	u32 qkey;
	u32 sqpn;
};

/* Why a packet is no RDMA packet: negated, what fal_hdr_parse() returns. */
enum fal_bad {
	FAL_BAD_SHORT = 1,	/* headers cut off */
	FAL_BAD_VERSION,
	FAL_BAD_RESERVED,
	FAL_BAD_OPCODE,
	FAL_BAD_LENGTH,		/* payload, pad and RETH do not fit */
};

/* The longest headers: XRC and an atomic request */
#define FAL_HDR_MAX		60
/* and those in front of the bytes of a segment */
#define FAL_SEG_HDR_MAX		40

u32 fal_op_flags(u8 op);
unsigned int fal_hdr_len(u8 op);
unsigned int fal_hdr_build(const struct fal_hdr *h, void *buf);
void fal_hdr_set_sn(void *buf, u32 sn);
int fal_hdr_parse(struct fal_hdr *h, const void *buf, unsigned int linear,
		  unsigned int len);

#endif /* _FAL_WIRE_H */
