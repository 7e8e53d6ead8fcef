/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Generic netlink family "falcon": connections, counters, NICs and settings
 * of the network namespace that the request's socket lives in.
 *
 * Documentation/netlink/specs/falcon.yaml describes every operation and
 * attribute; the two are kept alike. Times are nanoseconds (_NS) or
 * milliseconds (_MS), windows thousandths of a packet where so named (_MILLI).
 */
#ifndef _UAPI_LINUX_FALCON_NETLINK_H
#define _UAPI_LINUX_FALCON_NETLINK_H

#define FALCON_GENL_NAME	"falcon"
#define FALCON_GENL_VERSION	1
#define FALCON_GENL_MCGRP_CONN	"conn"

enum {
	FALCON_CMD_CONN_GET = 1,	/* do: by CID; dump: filters */
	FALCON_CMD_CONN_KILL,		/* by CID; CAP_NET_ADMIN */
	FALCON_CMD_CONN_NTF,		/* group "conn": established, closed */
	FALCON_CMD_STAT_GET,		/* dump: namespace, or a CID's */
	FALCON_CMD_NIC_GET,		/* dump */
	FALCON_CMD_PARAM_GET,		/* dump: net.falcon.* and its bounds */
	FALCON_CMD_KEY_ROTATE,		/* do: new device key; CAP_NET_ADMIN */

	__FALCON_CMD_MAX,
	FALCON_CMD_MAX = __FALCON_CMD_MAX - 1
};

/* FALCON_A_CONN_STATE */
enum {
	FALCON_NL_STATE_SETUP,
	FALCON_NL_STATE_ESTABLISHED,
	FALCON_NL_STATE_CLOSING,
	FALCON_NL_STATE_DEAD,
};

/* FALCON_A_CONN_EVENT */
enum {
	FALCON_NL_EVENT_ESTABLISHED = 1,
	FALCON_NL_EVENT_CLOSED,		/* both ends were done with it */
	FALCON_NL_EVENT_ABORTED,	/* FALCON_A_CONN_ERROR says why */
	FALCON_NL_EVENT_FAILED,		/* never was established */
};

/* FALCON_A_CONN_SERVICE of a socket: its port, and above that its type */
#define FALCON_NL_SERVICE_PORT		0xffff
#define FALCON_NL_SERVICE_SEQPACKET	(1 << 16)

/* A connection; those marked F also filter a dump. */
enum {
	FALCON_A_CONN_PAD = 1,
	FALCON_A_CONN_CID,		/* u32; key of do requests */
	FALCON_A_CONN_PEER_CID,		/* u32 */
	FALCON_A_CONN_STATE,		/* u8 */
	FALCON_A_CONN_STATES,		/* F u32: mask of 1 << state */
	FALCON_A_CONN_EVENT,		/* u8, notifications */
	FALCON_A_CONN_ERROR,		/* u32: errno of a dead one */
	FALCON_A_CONN_FAMILY,		/* F u8: AF_INET, AF_INET6 */
	FALCON_A_CONN_SADDR,		/* F 4 or 16 bytes, own */
	FALCON_A_CONN_DADDR,		/* F 4 or 16 bytes, peer's */
	FALCON_A_CONN_SADDR_LEN,	/* F u8: prefix length of SADDR */
	FALCON_A_CONN_DADDR_LEN,	/* F u8: prefix length of DADDR */
	FALCON_A_CONN_PROTO,		/* F u8: 2 RDMA, 3 NVMe, 4 sockets */
	FALCON_A_CONN_SERVICE,		/* F u32: own port or QPN */
	FALCON_A_CONN_PEER_SERVICE,	/* F u32: peer's port or QPN */
	FALCON_A_CONN_IFINDEX,		/* u32: bound device */
	FALCON_A_CONN_MARK,		/* u32 */
	FALCON_A_CONN_UID,		/* u32 */
	FALCON_A_CONN_ORDERED,		/* flag */
	FALCON_A_CONN_PSP_VERSION,	/* u8: 15 is none */
	FALCON_A_CONN_MTU,		/* u32: payload bytes a packet */
	FALCON_A_CONN_FAE,		/* string: congestion control */
	FALCON_A_CONN_NIC,		/* string */
	FALCON_A_CONN_LOSS,		/* u32: loss policies, a bit each */
	FALCON_A_CONN_AGE_MS,		/* u64: since establishment */
	FALCON_A_CONN_RTT_NS,		/* u64: smoothed */
	FALCON_A_CONN_RTO_NS,		/* u64 */
	FALCON_A_CONN_FCWND_MILLI,	/* u32: of all flows */
	FALCON_A_CONN_NCWND,		/* u32: packets */
	FALCON_A_CONN_UNACKED,		/* u32: packets in flight */
	FALCON_A_CONN_TX_REQ_BASE,	/* u32: PSN */
	FALCON_A_CONN_TX_REQ_NEXT,	/* u32: PSN */
	FALCON_A_CONN_TX_DATA_BASE,	/* u32: PSN */
	FALCON_A_CONN_TX_DATA_NEXT,	/* u32: PSN */
	FALCON_A_CONN_RX_REQ_BASE,	/* u32: PSN */
	FALCON_A_CONN_RX_DATA_BASE,	/* u32: PSN */
	FALCON_A_CONN_FLOW,		/* nest FALCON_A_FLOW_*, one a flow */
	FALCON_A_CONN_COUNTERS,		/* nest FALCON_A_COUNTER_* */
	FALCON_A_CONN_RX_SPI,		/* u32: SPI of packets received */
	FALCON_A_CONN_RX_PREV_SPI,	/* u32: the one before, if accepted */
	FALCON_A_CONN_RX_GEN,		/* u32: key generation of RX_SPI */
	FALCON_A_CONN_TX_SPI,		/* u32: SPI of packets sent */
	FALCON_A_CONN_SECURITY,		/* u8: FALCON_SECURITY_* it was set up with */

	__FALCON_A_CONN_MAX,
	FALCON_A_CONN_MAX = __FALCON_A_CONN_MAX - 1
};

/* A flow of a connection */
enum {
	FALCON_A_FLOW_PAD = 1,
	FALCON_A_FLOW_INDEX,		/* u8 */
	FALCON_A_FLOW_LABEL,		/* u32: path label */
	FALCON_A_FLOW_SPORT,		/* u16: UDP source port */
	FALCON_A_FLOW_FCWND_MILLI,	/* u32 */
	FALCON_A_FLOW_UNACKED,		/* u32 */
	FALCON_A_FLOW_DELAY_NS,		/* u64: fabric delay, smoothed */
	FALCON_A_FLOW_MIN_DELAY_NS,	/* u64: smallest seen */
	FALCON_A_FLOW_TARGET_NS,	/* u64: delay target */
	FALCON_A_FLOW_GAP_NS,		/* u64: pacing, between packets */

	__FALCON_A_FLOW_MAX,
	FALCON_A_FLOW_MAX = __FALCON_A_FLOW_MAX - 1
};

/* Counters of a connection, all u64, since set-up */
enum {
	FALCON_A_COUNTER_PAD = 1,
	FALCON_A_COUNTER_TX_PKTS,
	FALCON_A_COUNTER_TX_BYTES,
	FALCON_A_COUNTER_RX_PKTS,
	FALCON_A_COUNTER_RX_BYTES,
	FALCON_A_COUNTER_TX_ACKS,
	FALCON_A_COUNTER_TX_EACKS,
	FALCON_A_COUNTER_TX_NACKS,
	FALCON_A_COUNTER_RX_ACKS,
	FALCON_A_COUNTER_RX_EACKS,
	FALCON_A_COUNTER_RX_NACKS,
	FALCON_A_COUNTER_TX_RESYNCS,
	FALCON_A_COUNTER_RX_RESYNCS,
	FALCON_A_COUNTER_RETX_OOO,
	FALCON_A_COUNTER_RETX_OWN,
	FALCON_A_COUNTER_RETX_RACK,
	FALCON_A_COUNTER_RETX_TLP,
	FALCON_A_COUNTER_RETX_RTO,
	FALCON_A_COUNTER_RETX_RNR,
	FALCON_A_COUNTER_SPURIOUS,
	FALCON_A_COUNTER_RX_DUP,
	FALCON_A_COUNTER_RX_OUT_OF_WINDOW,
	FALCON_A_COUNTER_RX_NO_RESOURCE,
	FALCON_A_COUNTER_RX_BAD_ACK,
	FALCON_A_COUNTER_RX_BAD_PKT,
	FALCON_A_COUNTER_RTT_SAMPLES,
	FALCON_A_COUNTER_RELABELS,

	__FALCON_A_COUNTER_MAX,
	FALCON_A_COUNTER_MAX = __FALCON_A_COUNTER_MAX - 1
};

/* A counter by name; CID in a request asks for a connection's */
enum {
	FALCON_A_STAT_PAD = 1,
	FALCON_A_STAT_CID,		/* u32 */
	FALCON_A_STAT_NAME,		/* string */
	FALCON_A_STAT_VALUE,		/* u64 */
	FALCON_A_STAT_HELP,		/* string */

	__FALCON_A_STAT_MAX,
	FALCON_A_STAT_MAX = __FALCON_A_STAT_MAX - 1
};

/* FALCON_A_NIC_OFFLOADS: what the device does itself */
#define FALCON_NIC_OFFLOAD_STAMP	(1 << 0) /* free-running counter */
#define FALCON_NIC_OFFLOAD_CONN		(1 << 1) /* connection contexts */
#define FALCON_NIC_OFFLOAD_XMIT		(1 << 2) /* pacing and departure stamps */
#define FALCON_NIC_OFFLOAD_LEVEL	(1 << 3) /* receive buffer level */
#define FALCON_NIC_OFFLOAD_KEY		(1 << 4) /* PSP keys */
#define FALCON_NIC_OFFLOAD_ARRIVAL	(1 << 5) /* stamps of arrival */

enum {
	FALCON_A_NIC_PAD = 1,
	FALCON_A_NIC_NAME,		/* string: of the driver */
	FALCON_A_NIC_IFINDEX,		/* u32; absent: software, any device */
	FALCON_A_NIC_IFNAME,		/* string */
	FALCON_A_NIC_OFFLOADS,		/* u32 */
	FALCON_A_NIC_USERS,		/* u32: connections; not of software */
	FALCON_A_NIC_COUNTER_PS,	/* u64: free-running counter now */
	FALCON_A_NIC_RX_LEVEL,		/* u8: 0..31 */

	__FALCON_A_NIC_MAX,
	FALCON_A_NIC_MAX = __FALCON_A_NIC_MAX - 1
};

enum {
	FALCON_A_PARAM_NAME = 1,	/* string: file of /proc/sys/net/falcon */
	FALCON_A_PARAM_VALUE,		/* s32 */
	FALCON_A_PARAM_DEFAULT,		/* s32 */
	FALCON_A_PARAM_LEAST,		/* s32 */
	FALCON_A_PARAM_MOST,		/* s32 */
	FALCON_A_PARAM_HELP,		/* string */

	__FALCON_A_PARAM_MAX,
	FALCON_A_PARAM_MAX = __FALCON_A_PARAM_MAX - 1
};

#endif /* _UAPI_LINUX_FALCON_NETLINK_H */
