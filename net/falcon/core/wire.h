/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Parsing and building of every Falcon header (specification section 7), of
 * the PSP header around it, and the RNR timeout code. Pure functions of their
 * arguments: callable from any context, without any lock.
 */
#ifndef _FALCON_CORE_WIRE_H
#define _FALCON_CORE_WIRE_H

#include <linux/types.h>
#include <net/falcon_wire.h>

struct falcon_pkt_info;

/**
 * enum falcon_wire_err - why a packet is not a Falcon packet
 * @FALCON_WIRE_OK:		it is one
 * @FALCON_BAD_SHORT:		fewer bytes than its headers need
 * @FALCON_BAD_LENGTH:		bytes after a header that has no payload, or a
 *				payload of more than 65535 bytes
 * @FALCON_BAD_REQ_LEN:	push data whose payload is not Request Length
 *				bytes (7.5)
 * @FALCON_BAD_VERSION:	Version is not 1 (7.2)
 * @FALCON_BAD_RESERVED:	a reserved bit is set
 * @FALCON_BAD_TYPE:		reserved Packet Type (7.2)
 * @FALCON_BAD_PROTO:		unknown Protocol Type (7.2)
 * @FALCON_BAD_RESYNC_CODE:	reserved Resync Code (7.6)
 * @FALCON_BAD_RESYNC_TYPE:	a resync of no pull request, pull data or push
 *				data (7.6)
 * @FALCON_BAD_NACK_CODE:	reserved NACK Code (7.8)
 * @FALCON_BAD_PSP_NEXTHDR:	PSP carries something else than Falcon
 * @FALCON_BAD_PSP_EXT_LEN:	PSP header length without room for a cookie, or
 *				with more
 * @FALCON_BAD_PSP_CRYPT_OFF:	crypt offset is not the first 4 bytes of Falcon
 * @FALCON_BAD_PSP_VERSION:	unknown PSP version
 * @FALCON_BAD_PSP_FLAGS:	no cookie, or the bit that is always 1 is 0
 * @FALCON_NR_WIRE_ERR:		how many there are, for arrays of counters
 */
enum falcon_wire_err {
	FALCON_WIRE_OK,
	FALCON_BAD_SHORT,
	FALCON_BAD_LENGTH,
	FALCON_BAD_REQ_LEN,
	FALCON_BAD_VERSION,
	FALCON_BAD_RESERVED,
	FALCON_BAD_TYPE,
	FALCON_BAD_PROTO,
	FALCON_BAD_RESYNC_CODE,
	FALCON_BAD_RESYNC_TYPE,
	FALCON_BAD_NACK_CODE,
	FALCON_BAD_PSP_NEXTHDR,
	FALCON_BAD_PSP_EXT_LEN,
	FALCON_BAD_PSP_CRYPT_OFF,
	FALCON_BAD_PSP_VERSION,
	FALCON_BAD_PSP_FLAGS,
	FALCON_NR_WIRE_ERR,
};

/**
 * struct falcon_psp_info - a parsed PSP header
 * @iv:		transmit time in picoseconds of the sender's counter
 * @cookie:	virtualization cookie, the receiver's PCID
 * @spi:	security parameters index
 * @version:	FALCON_PSP_VER_*
 * @sample:	S bit
 * @drop:	D bit
 */
struct falcon_psp_info {
	u64 iv;
	u64 cookie;
	u32 spi;
	u8  version;
	bool sample;
	bool drop;
};

/**
 * falcon_psp_icv_len() - bytes of the trailer that ends a packet
 * @version:	FALCON_PSP_VER_*
 *
 * Return: FALCON_PSP_ICV_LEN, or 0 for FALCON_PSP_VER_NONE.
 */
static inline unsigned int falcon_psp_icv_len(u8 version)
{
	return version == FALCON_PSP_VER_NONE ? 0 : FALCON_PSP_ICV_LEN;
}

/**
 * falcon_psp_key_len() - bytes of key that a version takes
 * @version:	FALCON_PSP_VER_*
 *
 * Return: 16, 32, or 0 for FALCON_PSP_VER_NONE.
 */
static inline unsigned int falcon_psp_key_len(u8 version)
{
	if (version == FALCON_PSP_VER_NONE)
		return 0;
	return version & 1 ? 32 : 16;
}

/**
 * falcon_psp_time() - the time-stamp in an IV (10.1: t1 of data, t3 of an ACK)
 * @iv:		picoseconds
 *
 * Return: units of 131.072 ns, modulo 2^32.
 */
static inline u32 falcon_psp_time(u64 iv)
{
	return (u32)(iv >> FALCON_TS_SHIFT);
}

int falcon_wire_parse(const void *buf, unsigned int len,
		      struct falcon_pkt_info *pi);
unsigned int falcon_wire_build(const struct falcon_pkt_info *pi, void *hdr);
const char *falcon_wire_err_name(enum falcon_wire_err err);

int falcon_psp_parse(const void *buf, unsigned int len,
		     struct falcon_psp_info *psp);
unsigned int falcon_psp_build(const struct falcon_psp_info *psp, void *hdr);

u32 falcon_rnr_timeout_ns(u8 code);
u8 falcon_rnr_timeout_code(u64 ns);

#endif /* _FALCON_CORE_WIRE_H */
