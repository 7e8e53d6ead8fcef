/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Verbs over Falcon: what the kernel driver (falcon_ib) and the provider
 * library (libfalcon) share.
 *
 * Work queues and completion queues are rings in memory that the kernel
 * allocates and user space maps, by the offsets that the create commands
 * return. A ring opens with a struct falcon_ring_hdr; its slots follow at
 * FALCON_RING_SLOTS, each of the stride that the create command tells.
 *
 * Both indices of a ring run freely over 32 bits; a slot is index & (size - 1),
 * size a power of two. Each side writes its own index only, with release
 * semantics, and reads its peer's with acquire. The kernel keeps its own copy
 * of every size and of its own index, and copies a work request before it looks
 * at it: what user space scribbles hurts its own queue alone.
 *
 * Send queues need a doorbell, IB_USER_VERBS_CMD_POST_SEND with no work request
 * inside, when the request at falcon_ring_hdr::bell is posted; one covers all
 * that was posted before. Receive queues need none but where
 * FALCON_RING_DOORBELL says so.
 */
#ifndef RDMA_FALCON_ABI_H
#define RDMA_FALCON_ABI_H

#include <linux/types.h>

/* Goes up whenever anything in this file changes its meaning. */
#define FALCON_IB_ABI_VERSION	2

/*
 * The driver_id of ib_device_ops and of every ioctl. The kernel's list counts
 * from 0 and knows nothing of this driver: "FALC".
 */
#define FALCON_IB_DRIVER_ID	0x46414c43

#define FALCON_RING_ALIGN	128
#define FALCON_RING_SLOTS	256

/* falcon_ring_hdr::flags */
#define FALCON_RING_DOORBELL	(1 << 0)

/**
 * struct falcon_ring_hdr - head of a ring
 * @prod:	next slot that the producer fills
 * @cons:	next slot that the consumer has not given back
 * @flags:	the kernel's: FALCON_RING_DOORBELL in a receive queue whose queue
 *		pair is in error, so that what is posted is flushed. To be read
 *		after a full barrier after @prod was written
 * @bell:	the kernel's, send queue: who moves @prod beyond this index, from
 *		at most this index, rings. To be read as @flags is
 * @pad0:	0
 * @pad1:	0
 *
 * Send queue: user space produces, the kernel gives a slot back when the work
 * request has completed. Receive queues: the kernel gives a slot back when a
 * message has taken it. Completion queue: the kernel produces.
 */
struct falcon_ring_hdr {
	__u32 prod;
	__u8 pad0[FALCON_RING_ALIGN - sizeof(__u32)];
	__u32 cons;
	__u32 flags;
	__u32 bell;
	__u8 pad1[FALCON_RING_ALIGN - 3 * sizeof(__u32)];
};

/**
 * struct falcon_sge - piece of memory of a work request
 * @addr:	address in the region of @lkey
 * @length:	bytes
 * @lkey:	region; windows have an rkey alone
 */
struct falcon_sge {
	__aligned_u64 addr;
	__u32 length;
	__u32 lkey;
};

/* falcon_send_wqe::flags; the first four are enum ib_send_flags. */
#define FALCON_SEND_FENCE	(1 << 0)
#define FALCON_SEND_SIGNALED	(1 << 1)
#define FALCON_SEND_SOLICITED	(1 << 2)
#define FALCON_SEND_INLINE	(1 << 3)

/**
 * struct falcon_send_wqe - slot of a send queue, before its data
 * @wr_id:	returned by the completion
 * @opcode:	enum ib_uverbs_wr_opcode
 * @flags:	FALCON_SEND_*
 * @num_sge:	entries of struct falcon_sge that follow; 0 with
 *		FALCON_SEND_INLINE
 * @inline_len:	with FALCON_SEND_INLINE: bytes of data that follow
 * @ex:		immediate data (big endian), or the key to invalidate
 * @srqn:	XRC: receive queue at the target
 * @remote_addr: RDMA and atomics: address at the target
 * @rkey:	RDMA and atomics: key at the target
 * @rsvd:	0
 * @compare_add: atomics
 * @swap:	compare and swap
 * @ah:		UD: struct falcon_create_ah_resp::ah
 * @remote_qpn:	UD
 * @remote_qkey: UD
 * @bind_addr:	bind: start of the window
 * @bind_length: bind: its bytes
 * @bind_mr:	bind: lkey of the region
 * @bind_mw:	bind: present rkey of the window
 * @bind_rkey:	bind: rkey that it gets, type 2 alone; its upper 24 bits are
 *		those of @bind_mw
 * @bind_access: bind: enum ib_access_flags
 *
 * Other bits of @flags, or @rsvd, that are not 0 are an error of the request.
 */
struct falcon_send_wqe {
	__aligned_u64 wr_id;
	__u32 opcode;
	__u32 flags;
	__u32 num_sge;
	__u32 inline_len;
	__be32 ex;
	__u32 srqn;
	union {
		struct {
			__aligned_u64 remote_addr;
			__u32 rkey;
			__u32 rsvd;
			__aligned_u64 compare_add;
			__aligned_u64 swap;
		};
		struct {
			__u32 ah;
			__u32 remote_qpn;
			__u32 remote_qkey;
		};
		struct {
			__aligned_u64 bind_addr;
			__aligned_u64 bind_length;
			__u32 bind_mr;
			__u32 bind_mw;
			__u32 bind_rkey;
			__u32 bind_access;
		};
	};
};

/**
 * struct falcon_recv_wqe - slot of a receive queue, before its data
 * @wr_id:	returned by the completion
 * @num_sge:	entries of struct falcon_sge that follow
 * @rsvd:	0
 */
struct falcon_recv_wqe {
	__aligned_u64 wr_id;
	__u32 num_sge;
	__u32 rsvd;
};

/* falcon_cqe::wc_flags: enum ibv_wc_flags, which is not the kernel's own. */
#define FALCON_WC_GRH		(1 << 0)
#define FALCON_WC_WITH_IMM	(1 << 1)
#define FALCON_WC_WITH_INV	(1 << 3)

/**
 * struct falcon_cqe - slot of a completion queue
 * @wr_id:	of the work request
 * @timestamp:	CLOCK_MONOTONIC, nanoseconds
 * @status:	enum ib_wc_status
 * @opcode:	enum ib_uverbs_wc_opcode
 * @vendor_err:	enum falcon_cmpl of the transaction that failed
 * @byte_len:	bytes received
 * @ex:		immediate data (big endian), or the key that was invalidated
 * @qpn:	own queue pair
 * @src_qp:	UD: sender
 * @wc_flags:	FALCON_WC_*
 * @pkey_index:	0
 * @rsvd:	0
 */
struct falcon_cqe {
	__aligned_u64 wr_id;
	__aligned_u64 timestamp;
	__u32 status;
	__u32 opcode;
	__u32 vendor_err;
	__u32 byte_len;
	__be32 ex;
	__u32 qpn;
	__u32 src_qp;
	__u32 wc_flags;
	__u16 pkey_index;
	__u16 rsvd[7];
};

/* The commands' driver parts. */

/**
 * struct falcon_alloc_ucontext_resp - of IB_USER_VERBS_CMD_GET_CONTEXT
 * @max_inline:	bytes of inline data that a send queue can have
 * @max_sge:	entries that a work request can have
 */
struct falcon_alloc_ucontext_resp {
	__u32 max_inline;
	__u32 max_sge;
};

/**
 * struct falcon_ring - where a ring is
 * @offset:	for mmap()
 * @length:	for mmap()
 * @size:	slots, a power of two
 * @stride:	bytes from slot to slot
 */
struct falcon_ring {
	__aligned_u64 offset;
	__aligned_u64 length;
	__u32 size;
	__u32 stride;
};

struct falcon_create_cq_resp {
	struct falcon_ring ring;
	__u32 cqn;
	__u32 rsvd;
};

/* Copies what was not consumed; the old ring is dead when it returns. */
struct falcon_resize_cq_resp {
	struct falcon_ring ring;
};

struct falcon_create_srq_resp {
	struct falcon_ring ring;
	__u32 srqn;
	__u32 rsvd;
};

/**
 * struct falcon_modify_srq_req - of IB_USER_VERBS_CMD_MODIFY_SRQ
 * @resp:	resizing: where to write a struct falcon_modify_srq_resp; the
 *		command itself has no answer
 */
struct falcon_modify_srq_req {
	__aligned_u64 resp;
};

/* As of CQs; the producer's index goes on. Nothing is posted meanwhile. */
struct falcon_modify_srq_resp {
	struct falcon_ring ring;
};

/* 6.2 Ordering modes */
enum falcon_qp_order {
	FALCON_QP_STRONG,
	FALCON_QP_WEAK,
	FALCON_QP_UNORDERED,
};

/* 6.3 Error handling modes */
enum falcon_qp_errors {
	FALCON_QP_VERBS_ERRORS,
	FALCON_QP_COMPLETE_IN_ERROR,
};

#define FALCON_QP_FAE_MAX	16

/**
 * struct falcon_create_qp_req - of create QP; all zero: as verbs have it
 * @order:	enum falcon_qp_order; both ends must agree
 * @errors:	enum falcon_qp_errors; FALCON_QP_UNORDERED wants
 *		FALCON_QP_COMPLETE_IN_ERROR
 * @security:	FALCON_SECURITY_* of linux/falcon.h, of its connections
 * @rsvd:	0
 * @fae:	name of the congestion control of its connections, at this end;
 *		zeros after it. Empty: that of the namespace
 */
struct falcon_create_qp_req {
	__u8 order;
	__u8 errors;
	__u8 security;
	__u8 rsvd[5];
	char fae[FALCON_QP_FAE_MAX];
};

/**
 * struct falcon_create_qp_resp - of create QP
 * @sq:		send queue
 * @rq:		receive queue; all zero where a shared one is used, or none
 */
struct falcon_create_qp_resp {
	struct falcon_ring sq;
	struct falcon_ring rq;
};

/**
 * struct falcon_create_ah_resp - of create AH
 * @ah:		for falcon_send_wqe::ah
 * @rsvd:	0
 */
struct falcon_create_ah_resp {
	__u32 ah;
	__u32 rsvd;
};

#endif /* RDMA_FALCON_ABI_H */
