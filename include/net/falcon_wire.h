/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Falcon on the wire: the headers of OCP Falcon Transport Protocol Rev 0.9,
 * section 7, and of the PSP encapsulation around them, byte-exact.
 *
 * Everything is big endian. The structures below overlay packet memory; no
 * bit-fields, so that the same layout holds for every compiler. Parsing and
 * building live in net/falcon/core/wire.c.
 */
#ifndef _NET_FALCON_WIRE_H
#define _NET_FALCON_WIRE_H

#include <linux/types.h>

#define FALCON_PSP_UDP_PORT		1000	/* PSP: data packets */
#define FALCON_CM_UDP_PORT		4795	/* connection manager, default */
#define FALCON_PSP_NEXTHDR		252	/* PSP next header: Falcon */

#define FALCON_WIRE_VERSION		1	/* 7.2 Version */
#define FALCON_CID_MASK			0xffffffu	/* 24-bit connection id */
#define FALCON_TS_UNIT_PS		131072	/* 2^17 ps = 131.072 ns */
#define FALCON_TS_SHIFT			17	/* t1 = IV >> 17 */

/* 7.2 Protocol Type. 4 is reserved there: our socket protocol. */
enum falcon_proto {
	FALCON_PROTO_RDMA	= 2,
	FALCON_PROTO_NVME	= 3,
	FALCON_PROTO_SOCK	= 4,
};

/* 7.2 Packet Type */
enum falcon_pkt_type {
	FALCON_PKT_PULL_REQ	= 0x0,
	FALCON_PKT_PULL_DATA	= 0x3,
	FALCON_PKT_PUSH_DATA	= 0x5,
	FALCON_PKT_RESYNC	= 0x6,
	FALCON_PKT_NACK		= 0x8,
	FALCON_PKT_BACK		= 0x9,
	FALCON_PKT_EACK		= 0xa,
};

/* 7.8 NACK Code */
enum falcon_nack_code {
	FALCON_NACK_RESOURCE	= 1,	/* dropped, insufficient resources */
	FALCON_NACK_RNR		= 2,	/* ULP receiver not ready */
	FALCON_NACK_XLR		= 4,	/* xLR drop indication */
	FALCON_NACK_CIE		= 6,	/* ULP complete in error */
	FALCON_NACK_NRE		= 7,	/* ULP non-recoverable error */
	FALCON_NACK_CID		= 8,	/* invalid CID error */
};

/* 7.6 Resync Code */
enum falcon_resync_code {
	FALCON_RESYNC_CIE	= 1,
	FALCON_RESYNC_LOCAL_XLR	= 2,
	FALCON_RESYNC_EXHAUSTED	= 3,	/* packet retransmission error */
	FALCON_RESYNC_TIMEOUT	= 4,	/* transaction timed out */
	FALCON_RESYNC_REMOTE_XLR = 5,
	FALCON_RESYNC_NRE	= 6,
	FALCON_RESYNC_CID	= 7,
};

/* 7.7.1 Out of Window Notification, a 2-bit field */
#define FALCON_OWN_REQUEST		0x1
#define FALCON_OWN_DATA			0x2

/*
 * 7.2 Falcon base header, of every packet but ACK and NACK.
 * @ver_cid: version:4 reserved:4 destination CID:24
 * @fn_type: destination function:24 protocol type:3 packet type:4 ack req:1
 */
struct falcon_base_hdr {
	__be32 ver_cid;
	__be32 fn_type;
	__be32 rdbpsn;		/* receiver data window base PSN */
	__be32 rrbpsn;		/* receiver request window base PSN */
	__be32 psn;
	__be32 rsn;
} __packed;

struct falcon_pull_req_hdr {	/* 7.3 */
	struct falcon_base_hdr base;
	__be16 reserved;
	__be16 req_len;
	__be32 reserved2;
} __packed;

struct falcon_push_data_hdr {	/* 7.5; pull data (7.4) is the bare base */
	struct falcon_base_hdr base;
	__be16 reserved;
	__be16 req_len;
} __packed;

struct falcon_resync_hdr {	/* 7.6: code:8 packet type:4 reserved:20 */
	struct falcon_base_hdr base;
	__be32 code_type;
	__be32 vendor;
} __packed;

/*
 * 7.7.1 BACK.
 * @type: reserved:27 packet type:4 reserved:1
 * @cc:   congestion control info, 62 bits, then OWN:2
 *        (hop count:4 rx buffer occupancy:5 ECN count:14 reserved:17 RUE:22)
 */
struct falcon_back_hdr {
	__be32 ver_cid;
	__be32 type;
	__be32 rdbpsn;
	__be32 rrbpsn;
	__be32 t1;
	__be32 t2;
	__be64 cc;
} __packed;

struct falcon_eack_bits {	/* of 7.7.2; bit 0 is the base PSN */
	__be64 data_ack[2];	/* [0] bits 127:64, [1] bits 63:0 */
	__be64 data_rx[2];
	__be64 req;
} __packed;

struct falcon_eack_hdr {	/* 7.7.2 */
	struct falcon_back_hdr back;
	struct falcon_eack_bits bits;
} __packed;

/*
 * Extension, agreed at set-up: receiver windows of twice or four times the
 * size. An EACK has as many bitmaps then, the next ones for the next 128 data
 * PSNs and the next 64 request PSNs. Its length tells how many.
 */
#define FALCON_WIN_SHIFT_MAX		2

/*
 * 7.8 NACK.
 * @cc:   hop count:4 rx buffer occupancy:5 ECN count:14 reserved:17 RUE:24
 * @code: NACK code:8 reserved:3 RNR timeout:5 window:1 reserved:7 ULP code:8
 */
struct falcon_nack_hdr {
	__be32 ver_cid;
	__be32 type;
	__be32 rdbpsn;
	__be32 rrbpsn;
	__be32 t1;
	__be32 t2;
	__be64 cc;
	__be32 psn;
	__be32 code;
} __packed;

#define FALCON_MAX_HDR_LEN	(sizeof(struct falcon_back_hdr) +	/* 192 */ \
				 (sizeof(struct falcon_eack_bits) <<	\
				  FALCON_WIN_SHIFT_MAX))

/*
 * PSP header with virtualization cookie (PSP Architecture Specification).
 * @crypt_off: reserved:2 crypt offset:6, 4-byte units from the end of @iv
 * @flags:     S:1 D:1 version:4 V:1 one:1
 */
struct falcon_psp_hdr {
	__u8   nexthdr;
	__u8   ext_len;		/* 8-byte units, first 8 bytes not counted: 2 */
	__u8   crypt_off;
	__u8   flags;
	__be32 spi;
	__be64 iv;		/* transmit time, picoseconds */
	__be64 cookie;		/* PCID */
} __packed;

#define FALCON_PSP_ICV_LEN		16
#define FALCON_PSP_VER_GCM128		0
#define FALCON_PSP_VER_GCM256		1
#define FALCON_PSP_VER_GMAC128		2
#define FALCON_PSP_VER_GMAC256		3
#define FALCON_PSP_VER_NONE		15	/* extension: no ICV */

/*
 * Header of the socket ULP (protocol type 4), before the bytes of a DATA.
 * @flags: FALCON_SOCK_*
 * @code:  reason of a RESET, an errno; 0 otherwise
 */
struct falcon_sock_hdr {
	__u8   flags;
	__u8   reserved;
	__be16 code;
	__be32 reserved2;
} __packed;

#define FALCON_SOCK_DATA		0x01
#define FALCON_SOCK_MSG_START		0x02
#define FALCON_SOCK_MSG_END		0x04
#define FALCON_SOCK_FIN			0x08
#define FALCON_SOCK_RESET		0x10

#endif /* _NET_FALCON_WIRE_H */
