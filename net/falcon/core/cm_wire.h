/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Messages of the connection manager: their bytes on the wire, their parsed
 * form, and how two offers become one set of parameters. The specification
 * leaves connection management to the implementation (6.2);
 * Documentation/networking/falcon/connection-manager.rst is the protocol.
 * Pure functions of their arguments: callable from any context, without any
 * lock.
 */
#ifndef _FALCON_CORE_CM_WIRE_H
#define _FALCON_CORE_CM_WIRE_H

#include <linux/types.h>

#include "core.h"

#define FALCON_CM_MAGIC		0x464c434eu	/* "FLCN" */
#define FALCON_CM_VERSION	1

/* A message fits the smallest IPv6 MTU: 1280 less IPv6 and UDP headers. */
#define FALCON_CM_MAX_LEN	1232
/* No answer to an INIT whose cookie has not come back is as long as this. */
#define FALCON_CM_INIT_MIN	256
#define FALCON_CM_PRIV_MAX	512	/* ULP private data, bytes */
#define FALCON_CM_MTU_MIN	256	/* smallest payload of a packet to offer */
#define FALCON_CM_MAX_OFFERS	8	/* PSP versions in one offer */

enum falcon_cm_type {
	FALCON_CM_INIT		= 1,	/* initiator: asks; with a cookie, again */
	FALCON_CM_COOKIE	= 2,	/* responder: prove your address */
	FALCON_CM_ACCEPT	= 3,	/* responder: its side of the parameters */
	FALCON_CM_CONFIRM	= 4,	/* initiator: has got the ACCEPT */
	FALCON_CM_REFUSE	= 5,	/* responder: no, and why */
	FALCON_CM_RESET		= 6,	/* either: what was accepted is no more */
	FALCON_CM_REKEY		= 7,	/* either: send to me by this SA now */
	FALCON_CM_REKEY_ACK	= 8,	/* either: I do */
};

/* Beginning of every message. These 16 bytes, and REASON, are the same in all
 * versions to come, so that a version can be refused.
 * @len: bytes of the whole message, all that UDP carries
 */
struct falcon_cm_hdr {
	__be32 magic;
	__u8   version;
	__u8   type;
	__be16 len;
	__be64 nonce;
} __packed;

/* Then TLVs in ascending order of type, the critical bit aside. */
struct falcon_cm_tlv {
	__be16 type;
	__be16 len;		/* bytes of value; zeros fill up to 4 */
} __packed;

#define FALCON_CM_CRITICAL	0x8000	/* not understood: refuse */

enum falcon_cm_tlv_type {
	FALCON_CM_TLV_ENDPOINT	= 0x8001,
	FALCON_CM_TLV_ECHO	= 0x8002,
	FALCON_CM_TLV_SERVICE	= 0x8003,
	FALCON_CM_TLV_SEQUENCE	= 0x8004,
	FALCON_CM_TLV_TIME	= 0x8005,
	FALCON_CM_TLV_WINDOW	= 0x8006,
	FALCON_CM_TLV_PATH	= 0x8007,
	FALCON_CM_TLV_TIMERS	= 0x8008,
	FALCON_CM_TLV_CREDITS	= 0x8009,
	FALCON_CM_TLV_FEATURES	= 0x800a,
	FALCON_CM_TLV_SECURITY	= 0x800b,
	FALCON_CM_TLV_KEY_ID	= 0x800c,
	FALCON_CM_TLV_DH	= 0x800d,
	FALCON_CM_TLV_WRAPPED	= 0x800e,
	FALCON_CM_TLV_KEY_CONF	= 0x800f,
	FALCON_CM_TLV_PRIVATE	= 0x8010,
	FALCON_CM_TLV_REASON	= 0x8011,
	FALCON_CM_TLV_SPI	= 0x8012,
	FALCON_CM_TLV_PAD	= 0x7ffd,
	FALCON_CM_TLV_COOKIE	= 0xfffe,	/* last: signs what is before */
	FALCON_CM_TLV_AUTH	= 0xffff,	/* last: signs what is before */
};

struct falcon_cm_w_endpoint {
	__be32 cid;		/* 24 bits: Destination CID of packets to me */
	__be32 fn;		/* 24 bits: Destination Function likewise */
	__be32 spi;		/* of packets to me; never 0 */
	__be64 pcid;
} __packed;

struct falcon_cm_w_echo {	/* the receiver's own, to prove who asks */
	__be32 cid;
	__be64 pcid;
} __packed;

struct falcon_cm_w_service {
	__be32 service;
	__be32 src_service;
	__u8   proto;		/* enum falcon_proto */
	__u8   reserved[3];
} __packed;

struct falcon_cm_w_sequence {	/* of the sender's first packets */
	__be32 psn[FALCON_NR_WIN];
	__be32 rsn;
} __packed;

struct falcon_cm_w_path {
	__be16 mtu;		/* payload bytes of a packet */
	__u8   ttl;		/* initial TTL of the sender's packets */
	__u8   nr_flows;
	__be16 flow_port[FALCON_MAX_FLOWS];	/* UDP source ports */
} __packed;

struct falcon_cm_w_timers {	/* microseconds */
	__be32 rto_us;
	__be32 min_rto_us;
	__be32 max_rto_us;
} __packed;

struct falcon_cm_w_reason {
	__be16 reason;		/* enum falcon_cm_reason */
	__be16 detail;		/* TLV type, or the version spoken */
} __packed;

#define FALCON_CM_COOKIE_LEN	16
#define FALCON_CM_KEY_ID_LEN	16
#define FALCON_CM_DH_LEN	32	/* X25519 public value */
#define FALCON_CM_KEY_CONF_LEN	32	/* HMAC-SHA256 over the transcript */
#define FALCON_CM_AUTH_LEN	24	/* replay counter, HMAC cut to 16 bytes */
/* PSP version, 3 zeros; sealed: SPI, key of 32 bytes; tag of 16 */
#define FALCON_CM_WRAPPED_LEN	(4 + 4 + 32 + 16)

/* Bytes that an INIT grows by when its cookie is appended */
#define FALCON_CM_COOKIE_TLV_LEN					\
	(sizeof(struct falcon_cm_tlv) + FALCON_CM_COOKIE_LEN)

/* falcon_cm_msg::present */
#define FALCON_CM_HAS_ENDPOINT	BIT(0)
#define FALCON_CM_HAS_ECHO	BIT(1)
#define FALCON_CM_HAS_SERVICE	BIT(2)
#define FALCON_CM_HAS_SEQUENCE	BIT(3)
#define FALCON_CM_HAS_TIME	BIT(4)
#define FALCON_CM_HAS_WINDOW	BIT(5)
#define FALCON_CM_HAS_PATH	BIT(6)
#define FALCON_CM_HAS_TIMERS	BIT(7)
#define FALCON_CM_HAS_CREDITS	BIT(8)
#define FALCON_CM_HAS_FEATURES	BIT(9)
#define FALCON_CM_HAS_SECURITY	BIT(10)
#define FALCON_CM_HAS_KEY_ID	BIT(11)
#define FALCON_CM_HAS_DH	BIT(12)
#define FALCON_CM_HAS_WRAPPED	BIT(13)
#define FALCON_CM_HAS_KEY_CONF	BIT(14)
#define FALCON_CM_HAS_PRIVATE	BIT(15)
#define FALCON_CM_HAS_REASON	BIT(16)
#define FALCON_CM_HAS_SPI	BIT(17)
#define FALCON_CM_HAS_PAD	BIT(18)
#define FALCON_CM_HAS_COOKIE	BIT(19)
#define FALCON_CM_HAS_AUTH	BIT(20)

/* What both INIT and ACCEPT must say */
#define FALCON_CM_HAS_PARAMS						\
	(FALCON_CM_HAS_ENDPOINT | FALCON_CM_HAS_SEQUENCE |		\
	 FALCON_CM_HAS_TIME | FALCON_CM_HAS_WINDOW | FALCON_CM_HAS_PATH | \
	 FALCON_CM_HAS_TIMERS | FALCON_CM_HAS_CREDITS |			\
	 FALCON_CM_HAS_FEATURES | FALCON_CM_HAS_SECURITY)

/**
 * enum falcon_cm_reason - why there is no connection
 * @FALCON_CM_NO_SERVICE:	nobody listens to that service
 * @FALCON_CM_BAD_VERSION:	version of this protocol; detail is the newest
 *				one that the refuser speaks
 * @FALCON_CM_BAD_TLV:		a critical TLV is unknown; detail is its type
 * @FALCON_CM_BAD_PARAM:	a TLV is missing or its value out of range;
 *				detail is its type
 * @FALCON_CM_BAD_SECURITY:	no PSP version in common, which one that wants no
 *				encryption and one that does never have
 * @FALCON_CM_BAD_MODE:		ordering mode not offered by that service
 * @FALCON_CM_LIMIT:		a bound of the refuser is reached
 * @FALCON_CM_DENIED:		not allowed
 * @FALCON_CM_REJECTED:		the upper layer says no
 * @FALCON_CM_CANCELLED:	the sender has given up the set-up
 * @FALCON_CM_EXPIRED:		the set-up was not confirmed in time
 * @FALCON_CM_KEY_MISSING:	a pre-shared key is required, the INIT names none
 * @FALCON_CM_KEY_UNKNOWN:	the INIT names a pre-shared key that the refuser
 *				does not have for that address
 * @FALCON_CM_BAD_KEY:		the ends do not have the same keys
 */
enum falcon_cm_reason {
	FALCON_CM_NO_SERVICE	= 1,
	FALCON_CM_BAD_VERSION	= 2,
	FALCON_CM_BAD_TLV	= 3,
	FALCON_CM_BAD_PARAM	= 4,
	FALCON_CM_BAD_SECURITY	= 5,
	FALCON_CM_BAD_MODE	= 6,
	FALCON_CM_LIMIT		= 7,
	FALCON_CM_DENIED	= 8,
	FALCON_CM_REJECTED	= 9,
	FALCON_CM_CANCELLED	= 10,
	FALCON_CM_EXPIRED	= 11,
	FALCON_CM_KEY_MISSING	= 12,
	FALCON_CM_KEY_UNKNOWN	= 13,
	FALCON_CM_BAD_KEY	= 14,
};

/**
 * enum falcon_cm_err - why bytes are not a message
 * @FALCON_CM_OK:		they are one
 * @FALCON_CM_ERR_SHORT:	shorter than a header, or an INIT below
 *				FALCON_CM_INIT_MIN
 * @FALCON_CM_ERR_MAGIC:	something else
 * @FALCON_CM_ERR_VERSION:	another version; type and nonce are valid
 * @FALCON_CM_ERR_LENGTH:	length is not what UDP carried, or a TLV or its
 *				fill goes beyond the end
 * @FALCON_CM_ERR_TYPE:		unknown type
 * @FALCON_CM_ERR_ORDER:	TLVs not in ascending order, or twice the same
 * @FALCON_CM_ERR_FILL:		fill or padding is not zero
 * @FALCON_CM_ERR_PLACE:	a TLV that this message does not carry
 * @FALCON_CM_ERR_UNKNOWN:	unknown critical TLV; type, nonce, detail valid
 * @FALCON_CM_ERR_VALUE:	value or size of a TLV; type, nonce, detail valid
 * @FALCON_CM_ERR_MISSING:	a mandatory TLV; type, nonce, detail valid
 * @FALCON_CM_NR_ERR:		how many there are
 */
enum falcon_cm_err {
	FALCON_CM_OK,
	FALCON_CM_ERR_SHORT,
	FALCON_CM_ERR_MAGIC,
	FALCON_CM_ERR_VERSION,
	FALCON_CM_ERR_LENGTH,
	FALCON_CM_ERR_TYPE,
	FALCON_CM_ERR_ORDER,
	FALCON_CM_ERR_FILL,
	FALCON_CM_ERR_PLACE,
	FALCON_CM_ERR_UNKNOWN,
	FALCON_CM_ERR_VALUE,
	FALCON_CM_ERR_MISSING,
	FALCON_CM_NR_ERR,
};

/**
 * struct falcon_cm_msg - a message, parsed or to be built
 * @type:	enum falcon_cm_type
 * @proto:	enum falcon_proto
 * @ttl:	initial TTL of the sender's packets
 * @nr_flows:	flows of the connection
 * @nr_versions: entries of @versions
 * @body_len:	parsed: bytes before the cookie, which it signs
 * @present:	FALCON_CM_HAS_*: what of the rest is valid
 * @nonce:	of the initiator, in every message of a set-up
 * @pcid:	in the PSP cookie of packets to the sender
 * @echo_pcid:	the receiver's PCID
 * @time_ps:	sender's free-running counter (9.2.1 Remote Time), picoseconds
 * @cid:	Destination CID of packets to the sender
 * @fn:		Destination Function of packets to the sender
 * @spi:	SPI of packets to the sender; with encryption WRAPPED has it
 * @echo_cid:	the receiver's CID
 * @rekey_spi:	SPI of the SA that the sender has switched to
 * @service:	socket port or QPN of the passive end
 * @src_service: socket port or QPN of the active end
 * @psn:	first PSNs of the sender
 * @rsn:	first RSN of the sender
 * @rto_us:	initial RTO
 * @min_rto_us:	smallest RTO
 * @max_rto_us:	largest RTO with back-off
 * @features:	FALCON_F_*
 * @rx_win:	sender's receiver windows, packets
 * @mtu:	payload bytes of a packet
 * @flow_port:	UDP source ports of the sender's flows
 * @credits:	six credit counters (8.2.3)
 * @reason:	enum falcon_cm_reason
 * @detail:	of @reason; also the TLV that falcon_cm_parse() did not like
 * @priv_len:	bytes of @priv
 * @versions:	PSP versions offered, best first; in ACCEPT the one
 * @key_id:	which pre-shared key, FALCON_CM_KEY_ID_LEN bytes; this and the
 *		rest point into the message
 * @dh:		public value, FALCON_CM_DH_LEN bytes
 * @wrapped:	SPI and key, sealed, FALCON_CM_WRAPPED_LEN bytes
 * @key_conf:	key confirmation, FALCON_CM_KEY_CONF_LEN bytes
 * @priv:	ULP private data
 * @cookie:	FALCON_CM_COOKIE_LEN bytes
 * @auth:	replay counter and MAC, FALCON_CM_AUTH_LEN bytes
 */
struct falcon_cm_msg {
	u8  type;
	u8  proto;
	u8  ttl;
	u8  nr_flows;
	u8  nr_versions;
	u16 body_len;
	u32 present;
	u64 nonce;
	u64 pcid;
	u64 echo_pcid;
	u64 time_ps;
	u32 cid;
	u32 fn;
	u32 spi;
	u32 echo_cid;
	u32 rekey_spi;
	u32 service;
	u32 src_service;
	u32 psn[FALCON_NR_WIN];
	u32 rsn;
	u32 rto_us;
	u32 min_rto_us;
	u32 max_rto_us;
	u32 features;
	u16 rx_win[FALCON_NR_WIN];
	u16 mtu;
	u16 flow_port[FALCON_MAX_FLOWS];
	u16 credits[6];
	u16 reason;
	u16 detail;
	u16 priv_len;
	u8  versions[FALCON_CM_MAX_OFFERS];
	const u8 *key_id;
	const u8 *dh;
	const u8 *wrapped;
	const u8 *key_conf;
	const u8 *priv;
	const u8 *cookie;
	const u8 *auth;
};

int falcon_cm_parse(const void *buf, unsigned int len,
		    struct falcon_cm_msg *m);
unsigned int falcon_cm_build(const struct falcon_cm_msg *m, void *buf);
unsigned int falcon_cm_append_cookie(void *buf, unsigned int body_len,
				     const u8 *cookie);

enum falcon_cm_reason falcon_cm_err_reason(enum falcon_cm_err err);
int falcon_cm_reason_errno(u16 reason);
enum falcon_cm_reason falcon_cm_errno_reason(int err);

bool falcon_cm_encrypted(const struct falcon_cm_msg *m);
bool falcon_cm_choose_version(const struct falcon_cm_msg *peer, u32 supported,
			      u8 *version);
void falcon_cm_reduce(struct falcon_cm_msg *own,
		      const struct falcon_cm_msg *peer);
u16 falcon_cm_check_answer(const struct falcon_cm_msg *own,
			   const struct falcon_cm_msg *answer);
void falcon_cm_agree(struct falcon_core_cfg *cfg,
		     const struct falcon_cm_msg *own,
		     const struct falcon_cm_msg *peer);

#endif /* _FALCON_CORE_CM_WIRE_H */
