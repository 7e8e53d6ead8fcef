/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Falcon sockets: what user space needs beside <sys/socket.h>.
 *
 *	socket(AF_INET or AF_INET6, SOCK_STREAM or SOCK_SEQPACKET, IPPROTO_FALCON)
 *
 * falcon(7) describes the behaviour.
 */
#ifndef _UAPI_LINUX_FALCON_H
#define _UAPI_LINUX_FALCON_H

#include <linux/types.h>

#define IPPROTO_FALCON		252	/* PSP's next-header value for Falcon */
#define SOL_FALCON		290

/* Socket options at level SOL_FALCON */
#define FALCON_NODELAY		1	/* int: segments are not held back to be filled */
#define FALCON_CONGESTION	2	/* string: congestion control, before connect */
#define FALCON_FLOWS		3	/* int 1..4: flows, before connect */
#define FALCON_USER_TIMEOUT	4	/* int, ms: silent peer; 0 the default */
#define FALCON_INFO		5	/* struct falcon_info, read only */
#define FALCON_SECURITY		6	/* int, before connect or listen, below */
#define FALCON_WEIGHT		7	/* int 1..255: share of a busy device */

/* Values of FALCON_SECURITY, the weakest first */
enum {
	FALCON_SECURITY_DEFAULT,	/* as net.falcon.security says */
	FALCON_SECURITY_NONE,		/* no encryption, if the peer asks, too */
	FALCON_SECURITY_OPPORTUNISTIC,	/* encrypted; who the peer is, is open */
	FALCON_SECURITY_PSK,		/* encrypted, with a pre-shared key */
};

/* falcon_info::state */
enum {
	FALCON_STATE_CLOSED,
	FALCON_STATE_LISTEN,
	FALCON_STATE_CONNECTING,
	FALCON_STATE_ESTABLISHED,
	FALCON_STATE_CLOSING,
};

/**
 * struct falcon_info - state of a connection, may grow at its end
 * @state:		FALCON_STATE_*
 * @flows:		flows in use
 * @psp_version:	0-3 encrypted or authenticated, 15 none
 * @pad:		0
 * @cid:		own connection id
 * @peer_cid:		the peer's
 * @mtu:		payload bytes a packet
 * @rtt_us:		smoothed round trip
 * @rto_us:		retransmission time-out
 * @fcwnd_milli:	fabric window of all flows, thousandths of a packet
 * @ncwnd:		NIC window, packets
 * @unacked:		packets in flight
 * @unsent_bytes:	bytes queued and not yet acknowledged
 * @min_delay_ns:	smallest fabric delay
 * @tx_pkts:		packets sent, with retransmissions
 * @rx_pkts:		packets received
 * @tx_bytes:		payload of packets sent for the first time
 * @rx_bytes:		payload of packets accepted
 * @retx:		retransmissions, all reasons
 * @spurious:		those known to have been needless
 */
struct falcon_info {
	__u8  state;
	__u8  flows;
	__u8  psp_version;
	__u8  pad;
	__u32 cid;
	__u32 peer_cid;
	__u32 mtu;
	__u32 rtt_us;
	__u32 rto_us;
	__u32 fcwnd_milli;
	__u32 ncwnd;
	__u32 unacked;
	__u32 unsent_bytes;
	__u64 min_delay_ns;
	__u64 tx_pkts;
	__u64 rx_pkts;
	__u64 tx_bytes;
	__u64 rx_bytes;
	__u64 retx;
	__u64 spurious;
};

#endif /* _UAPI_LINUX_FALCON_H */
