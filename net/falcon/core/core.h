/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The protocol, without I/O: one struct falcon_core a connection.
 *
 * The caller holds the connection lock, tells core what happened (a packet
 * arrived, the ULP submitted or answered a transaction, a timer ran out) and
 * then takes the effects: deliveries, completions and releases from three
 * lists, packets to transmit one by one from falcon_core_tx(), and the time of
 * the next timer from falcon_core_next_timer(). Effects are pulled, not pushed
 * into a buffer, so that core neither allocates nor bounds them, and so that a
 * packet is built when it leaves, with the newest acknowledgement in it.
 *
 * Nothing here sleeps, locks, allocates, touches payload bytes or reads a
 * clock. Times are nanoseconds of the caller's monotonic clock (_ns) or units
 * of 131.072 ns of a NIC's free-running counter (t1..t4).
 */
#ifndef _FALCON_CORE_H
#define _FALCON_CORE_H

#include <linux/types.h>
#include <linux/list.h>
#include <linux/bits.h>
#include <net/falcon.h>
#include <net/falcon_fae.h>
#include <net/falcon_wire.h>
#include "resource.h"

struct falcon_fae_queue;

#define FALCON_MAX_FLOWS	4
#define FALCON_RX_WIN_REQ	64	/* 9: receiver request window */
#define FALCON_RX_WIN_DATA	128	/* 9: receiver data window */
#define FALCON_RX_WIN_MAX	(FALCON_RX_WIN_DATA << FALCON_WIN_SHIFT_MAX)
#define FALCON_TX_WIN_MAX	1024
#define FALCON_PULL_BUCKETS	16	/* for 64 requests, 4 in each */
#define FALCON_NACK_QUEUE	8	/* pending NACKs; a lost NACK is recovered */
#define FALCON_NO_TIMER		(~0ULL)

enum falcon_win {
	FALCON_WIN_REQ,
	FALCON_WIN_DATA,
	FALCON_NR_WIN,
};

/* falcon_core_cfg::features, negotiated by the connection manager */
#define FALCON_F_ORDERED	BIT(0)
#define FALCON_F_EACK_ALWAYS	BIT(1)	/* 9.1.6: EACK if data-rx-bitmap != 0 */

/* falcon_core_cfg::loss, the loss policies in use */
#define FALCON_LOSS_OOO		BIT(0)	/* 9.1.4 out-of-order distance */
#define FALCON_LOSS_OWN		BIT(1)	/* 9.1.4 EACK-OWN */
#define FALCON_LOSS_RACK	BIT(2)
#define FALCON_LOSS_TLP		BIT(3)

/* The longest initial or smallest RTO, and the longest upper bound, of any end */
#define FALCON_RTO_MOST_US	10000000
#define FALCON_MAX_RTO_MOST_US	60000000

/**
 * struct falcon_core_cfg - what the connection manager sets once
 * @cid:		own connection id, in packets received
 * @peer_cid:		destination CID of packets sent
 * @peer_fn:		Destination Function of packets sent
 * @features:		FALCON_F_*
 * @loss:		FALCON_LOSS_*
 * @proto:		enum falcon_proto
 * @nr_flows:		1..FALCON_MAX_FLOWS
 * @tx_psn:		initial PSN of packets sent, for each window
 * @rx_psn:		initial PSN of packets received, for each window
 * @tx_rsn:		initial RSN as initiator
 * @rx_rsn:		initial RSN as target
 * @tx_win:		transmit window in packets, for each window
 * @rx_win:		receiver window in packets, for each window, own side
 * @win_shift:		receiver windows of both ends may be 2^this times those of
 *		section 9, and the bitmaps of an EACK are; 0 to
 *		FALCON_WIN_SHIFT_MAX
 * @mtu:		largest payload of a packet, bytes
 * @max_attempts:	Max Retransmit Attempts (9.1.1)
 * @rto_ns:		initial RTO
 * @min_rto_ns:	lower bound of RTO
 * @max_rto_ns:	upper bound of RTO, with back-off
 * @ack_coalesce_ns:	ACK Coalescing Timeout
 * @ack_slack_ns:	by how much an acknowledgement may be late without being
 *			lost, for reasons of the machines' own
 * @ack_coalesce_pkts:	packets that force a coalesced ACK
 * @ar_fcwnd:		ACK Request Fcwnd Threshold, packets
 * @ar_percent:		ACK Request Percent
 * @ar_last_bytes:	push data of at least so many bytes that no packet follows
 *			asks for an ACK, unless the peer answers packet for
 *			packet with data; 0: none does for that reason
 * @ooo_threshold:	Out-of-order Distance Threshold
 * @txn_timeout_ns:	reclaims a transaction at its initiator, and after twice
 *			that what the target holds of it; 0 never
 * @user_timeout_ns:	the peer has been silent for this long while packets are
 *			in flight: fatal; 0 never. Half of it bounds the RTO
 * @rnr_limit:		so many RNR NACKs of one push end it; 0: none does
 * @flow_seed:		random; the flows' first path labels come from it
 * @flow_burst:		packets that may follow each other on one flow while its
 *			window is open, so that they can leave as one train; at
 *			most 1: each takes the flow with the largest open window
 * @gate_flight:	fcwnd bounds the packets in flight, not the distance of a PSN
 *		from the window's base as in 9.1.2: one lost packet does not
 *		hold back those that its successors have made room for
 * @delay_target:	base delay target, 131.072 ns units
 * @delay_absolute:	@delay_target is absolute (10.3); otherwise it is added
 *			to the smallest fabric delay seen
 * @fae:		congestion control algorithm
 * @paced:		there is a rate; by falcon_core_set_rate()
 * @pulls:		the peer may pull: push data leaves some of the data window to
 *			pull data
 * @gapless:		a request that is given up ends the connection, at either end:
 *		no resync passes over it. For a ULP of a byte stream
 * @xlr:		drop filters, FALCON_XLR_*; by falcon_core_xlr()
 */
struct falcon_core_cfg {
	/* used once, or seldom */
	u32 tx_psn[FALCON_NR_WIN];
	u32 rx_psn[FALCON_NR_WIN];
	u32 tx_rsn;
	u32 rx_rsn;
	u16 tx_win[FALCON_NR_WIN];
	u16 rx_win[FALCON_NR_WIN];
	u32 flow_seed;
	u8  max_attempts;
	u8  ooo_threshold;
	u8  rnr_limit;
	u64 rto_ns;

	/* used for every packet */
	u32 cid;
	u32 peer_cid;
	u32 peer_fn;
	u32 features;
	u8  loss;
	u8  proto;
	u8  nr_flows;
	u8  win_shift;
	u8  flow_burst;
	u8  ar_percent;
	bool delay_absolute;
	bool gate_flight;
	u16 mtu;
	u16 ar_fcwnd;
	u16 ack_coalesce_pkts;
	u16 ar_last_bytes;
	u32 ack_coalesce_ns;
	u32 ack_slack_ns;
	const struct falcon_fae_ops *fae;
	u64 min_rto_ns;
	u64 max_rto_ns;
	u64 txn_timeout_ns;
	u64 user_timeout_ns;
	u32 delay_target;
	bool paced;
	bool pulls;
	bool gapless;
	u8  xlr;
};

/* The largest receiver window: that of section 9, or wider if agreed. */
static inline u16 falcon_win_max(const struct falcon_core_cfg *cfg, u8 win)
{
	return (win == FALCON_WIN_REQ ? FALCON_RX_WIN_REQ :
					FALCON_RX_WIN_DATA) << cfg->win_shift;
}

/* Why packets were retransmitted, counted apart. */
enum falcon_retx_reason {
	FALCON_RETX_OOO,
	FALCON_RETX_OWN,
	FALCON_RETX_RACK,
	FALCON_RETX_TLP,
	FALCON_RETX_RTO,
	FALCON_RETX_RNR,
	FALCON_NR_RETX,
};

/**
 * struct falcon_core_stats - counters of a connection, since set-up
 * @tx_pkts:		reliable packets sent, with retransmissions
 * @tx_bytes:		payload of first transmissions
 * @rx_pkts:		reliable packets received
 * @rx_bytes:		payload of packets accepted
 * @tx_acks:		BACKs sent
 * @tx_eacks:		EACKs sent
 * @rx_acks:		BACKs received
 * @rtt_samples:	RTT samples
 * @tx_nacks:		NACKs sent
 * @rx_eacks:		EACKs received
 * @rx_nacks:		NACKs received
 * @tx_resyncs:		resyncs sent
 * @rx_resyncs:		resyncs received
 * @retx:		retransmissions, by enum falcon_retx_reason
 * @spurious:		retransmissions shown needless by the peer
 * @rx_dup:		9.2.2.4 old or duplicate
 * @rx_out_of_window:	9.2.2.4 beyond the window, OWN set
 * @rx_no_resource:	8.5.3 dropped, resource NACK
 * @rx_bad_ack:		acknowledgements stale, or outside what was sent
 * @rx_bad_pkt:		protocol violations after parsing
 * @relabels:		path changes of PLB and PRR
 *
 * The kernel reports each by generic netlink under the name it has here.
 */
struct falcon_core_stats {
	/* of every packet or acknowledgement */
	u64 tx_pkts;
	u64 tx_bytes;
	u64 rx_pkts;
	u64 rx_bytes;
	u64 tx_acks;
	u64 tx_eacks;
	u64 rx_acks;
	u64 rtt_samples;

	u64 tx_nacks;
	u64 rx_eacks;
	u64 rx_nacks;
	u64 tx_resyncs;
	u64 rx_resyncs;
	u64 retx[FALCON_NR_RETX];
	u64 spurious;
	u64 rx_dup;
	u64 rx_out_of_window;
	u64 rx_no_resource;
	u64 rx_bad_ack;
	u64 rx_bad_pkt;
	u64 relabels;
};

/**
 * struct falcon_pkt_info - a parsed packet (wire.c)
 * @type:	enum falcon_pkt_type
 * @hdr_len:	bytes of Falcon header; payload follows
 * @len:	bytes of payload
 * @cid:	destination CID
 * @rbpsn:	acknowledged bases: [FALCON_WIN_REQ], [FALCON_WIN_DATA]
 * @fn:		reliable packets: Destination Function
 * @psn:	reliable packets
 * @rsn:	reliable packets
 * @req_len:	push data, pull request: Request Length
 * @proto:	reliable packets: enum falcon_proto
 * @ar:		reliable packets: Ack Req
 * @resync_code: resync: enum falcon_resync_code
 * @resync_type: resync: Packet Type of the original
 * @hops:	BACK, EACK, NACK: forward path hop count
 * @rx_level:	BACK, EACK, NACK: receive buffer occupancy, 0..31
 * @own:	BACK, EACK: FALCON_OWN_*
 * @nack_code:	NACK: enum falcon_nack_code
 * @rnr_timeout: NACK: 5-bit code of 7.8
 * @nack_win:	NACK: enum falcon_win
 * @ulp_code:	NACK: ULP NACK code
 * @ecn:	BACK, EACK, NACK: packets with ECN mark, 14 bits
 * @vendor:	resync: opaque
 * @echo_t1:	BACK, EACK, NACK: t1
 * @echo_t2:	BACK, EACK, NACK: t2
 * @cc_metadata: BACK, EACK, NACK: from RUE to RUE
 * @nack_psn:	NACK: PSN of the packet that it is about
 * @win_shift:	EACK: its bitmaps are 2^this times those of 7.7.2
 * @data_ack:	EACK: bit 0 of word 0 is the base PSN; 2 << @win_shift words
 * @data_rx:	EACK: as @data_ack
 * @req_bits:	EACK: as @data_ack, half as many words
 *
 * Of another type the three bitmaps are undefined.
 */
struct falcon_pkt_info {
	u8  type;
	u8  hdr_len;
	u16 len;
	u32 cid;
	u32 rbpsn[FALCON_NR_WIN];
	u32 fn;
	u32 psn;
	u32 rsn;
	u16 req_len;
	u8  proto;
	bool ar;
	u8  resync_code;
	u8  resync_type;
	u8  hops;
	u8  rx_level;
	u8  own;
	u8  nack_code;
	u8  rnr_timeout;
	u8  nack_win;
	u8  ulp_code;
	u16 ecn;
	u32 vendor;
	u32 echo_t1;
	u32 echo_t2;
	u32 cc_metadata;
	u32 nack_psn;
	u8  win_shift;
	u64 data_ack[FALCON_RX_WIN_MAX / 64];
	u64 data_rx[FALCON_RX_WIN_MAX / 64];
	u64 req_bits[FALCON_RX_WIN_MAX / 128];
};

/**
 * struct falcon_rx_meta - what the NIC and the lower layers know of a packet
 * @now_ns:	time of processing
 * @t_tx:	sender's transmit time from the PSP IV, 131.072 ns units: t1 of
 *		a data packet, t3 of an ACK
 * @t_rx:	own receive time: t2 of a data packet, t4 of an ACK
 * @hops:	initial TTL - TTL received, saturates at 15
 * @flow:	flow of the sender's packet
 * @ecn_ce:	the packet was ECN-marked
 * @stamp_ok:	@t_rx comes from the NIC that stamped the packets acknowledged
 * @csig:	what switches wrote on the packet (congestion signalling), 22 bits:
 *		becomes cc_metadata of the ACKs that follow. 0: nothing, or the
 *		NIC reads no such tags
 * @fae:	where a congestion control event waits (fae.h); NULL: the algorithm
 *		runs at once
 */
struct falcon_rx_meta {
	u64 now_ns;
	u32 t_tx;
	u32 t_rx;
	u8  hops;
	u8  flow;
	bool ecn_ce;
	bool stamp_ok;
	u32 csig;
	struct falcon_fae_queue *fae;
};

/**
 * struct falcon_tx - a packet to transmit, built
 * @hdr:	Falcon header
 * @hdr_len:	bytes of @hdr
 * @type:	enum falcon_pkt_type
 * @flow:	flow to send on
 * @retx:	a retransmission
 * @reason:	enum falcon_retx_reason of a retransmission
 * @psn:	of a reliable packet, or the one that a NACK is about
 * @rsn:	of a reliable packet
 * @payload:	of the packet, or NULL; alive as long as the connection lock
 *		is held: take a reference before dropping it
 * @len:	bytes of payload
 * @depart_ns:	not before this time (pacing); 0: now
 */
struct falcon_tx {
	u8  hdr[FALCON_MAX_HDR_LEN];
	u8  hdr_len;
	u8  type;
	u8  flow;
	bool retx;
	u8  reason;
	u16 len;
	u32 psn;
	u32 rsn;
	void *payload;
	u64 depart_ns;
};

/**
 * struct falcon_least - what the connections between two hosts know together
 * @delay:	smallest fabric delay of any, 131.072 ns units
 * @seen_ns:	when one last knew of it
 *
 * Read and written without a lock: who overwrites news of another brings it
 * again with the next sample.
 */
struct falcon_least {
	u32 delay;
	u64 seen_ns;
};

/* A flow: its own path label, fabric window and RACK state (DESIGN: multipath) */
struct falcon_flow {
	struct list_head sent;		/* in flight, in transmission order */
	u64 last_sent_ns;
	u64 last_depart_ns;		/* pacing */
	u64 rack_sent_ns;		/* transmit time of newest delivered packet */
	u64 rack_due_ns;		/* RACK time-out; FALCON_NO_TIMER */
	u64 rto_epoch_ns;		/* last RTO that backed off */
	u64 progress_ns;		/* last news of a delivery */
	u64 rack_wider_ns;		/* until then the window stays wider */
	u32 rack_rtt_ns;		/* its round trip */
	u32 label;			/* of the path; changed by PLB and PRR */
	u32 fcwnd;			/* 11.10 */
	u32 inter_packet_gap;		/* 131.072 ns units */
	u32 delay_state;
	u32 rtt_state;
	u32 fabric_time_marker;
	u32 num_acked;			/* since the last event */
	u32 retransmit_timeout;		/* of fae, 131.072 ns units */
	u32 min_delay;			/* smallest delay of the path, units */
	u32 few_delay;			/* smallest while fcwnd was below 4 */
	u32 ack_path_marker;		/* new path for ACKs, units; 0: none yet */
	u64 few_since_ns;		/* when that began */
	u32 fae_event;			/* last event, units */
	u16 rx_top[FALCON_NR_WIN];	/* low bits of the peer's highest PSN */
	u16 outstanding[FALCON_NR_WIN];	/* in flight: not lost, not received */
	u8  cc_opaque;
	u8  rto_streak;			/* successive RTOs: back-off, PRR */
	u8  rack_quarters;		/* RACK window, in quarters of an RTT */
	u8  dups;			/* duplicates in a row received on it */
	u64 fae_priv[FALCON_FAE_PRIV_WORDS];
};

/* The three kinds of reliable packet, each with its own gate (9.1.2). */
enum falcon_class {
	FALCON_CLASS_PULL_REQ,
	FALCON_CLASS_PUSH_DATA,
	FALCON_CLASS_PULL_DATA,
	FALCON_NR_CLASS,
};

/* The two queues of the connection scheduler (8.3). */
enum falcon_queue {
	FALCON_QUEUE_REQUESTS,		/* pull requests and push data */
	FALCON_QUEUE_PULL_DATA,
	FALCON_NR_QUEUE,
};

/* struct falcon_txpkt::state: where it is, and so which list @time_node is on */
enum falcon_txpkt_state {
	FALCON_TXPKT_QUEUED,		/* scheduler queue, no PSN yet */
	FALCON_TXPKT_FLIGHT,		/* sent, fate unknown: flow::sent */
	FALCON_TXPKT_RCVD,		/* received, not acked: txwin::rcvd_pkts */
	FALCON_TXPKT_LOST,		/* to be retransmitted: core::lost */
	FALCON_TXPKT_RNR,		/* waits out an RNR: core::rnr */
	FALCON_TXPKT_DONE,		/* acknowledged */
};

/* struct falcon_txpkt::flags */
#define FALCON_TXF_RETX		BIT(0)	/* transmitted more than once */
#define FALCON_TXF_ORRC		BIT(1)	/* counted in RORRC / DORRC (9.1.2) */
#define FALCON_TXF_STALE	BIT(2)	/* received, but not confirmed lately */
#define FALCON_TXF_NO_RESOURCE	BIT(3)	/* resource NACK since it was sent */
#define FALCON_TXF_RESYNC_SENT	BIT(4)	/* the resync has been on the wire */
#define FALCON_TXF_DELIVERED	BIT(5)	/* counted in flow::num_acked */

/* struct falcon_rxpkt::flags */
#define FALCON_RXF_AR		BIT(0)	/* AR bit: ACK when acknowledged */
#define FALCON_RXF_RNR		BIT(1)	/* pull: not before due_ns */
#define FALCON_RXF_HELD		BIT(2)	/* holds network request resources */

/*
 * Bitmaps of windows are rings: bit psn % FALCON_RX_WIN_MAX, so that a base moves
 * without shifting them. They are apart from the rest of a window, which every
 * packet looks at; what comes in order hardly touches them.
 */
#define FALCON_RING_WORDS	(FALCON_RX_WIN_MAX / 64)

/* Transmit window */
struct falcon_txwin {
	u32 base;			/* oldest PSN not acknowledged */
	u32 next;			/* PSN of the next packet */
	u16 size;			/* transmit window */
	u16 orc;			/* RORC / DORC */
	u16 orrc;			/* RORRC / DORRC */
	u8  probe_backoff;
	bool noted;			/* bits of the rings may be set */
	struct list_head pkts;		/* sent and not acknowledged, PSN order */
	struct list_head rcvd_pkts;	/* of these, received; due order */
	u64 *acked;			/* 9.1.1 */
	u64 *rcvd;
};

/* Receiver window */
struct falcon_rxwin {
	u32 base;			/* oldest PSN not acknowledged */
	u32 top;			/* after the highest received; >= base */
	u16 size;
	u16 nr_rx;			/* bits set in @rx */
	u16 nr_ack;			/* bits set in @ack */
	bool own;			/* out-of-window drop since the last EACK */
	u64 *rx;
	u64 *ack;
};

/* The two rings of a window */
struct falcon_rings {
	u64 a[FALCON_RING_WORDS];
	u64 b[FALCON_RING_WORDS];
};

struct falcon_nack_ev {
	u32 psn;
	u8  win;
	u8  code;
	u8  rnr_timeout;
	u8  ulp_code;
};

/*
 * Target, ordered connections: what became of the RSNs in [rx_brsn, rx_nrsn),
 * and of those after it that a resync has cancelled. Rings, as above.
 */
#define FALCON_RSN_WIN		512	/* delivered and not accepted, at most */
#define FALCON_REORDER_MAX	1024	/* RSNs held ahead of rx_nrsn, at most */

struct falcon_rsn_win {
	u64 done[FALCON_RSN_WIN / 64];	/* accepted by the ULP, or cancelled */
	u64 rnr[FALCON_RSN_WIN / 64];	/* RNR NACKed and not accepted since */
	u64 at_ulp[FALCON_RSN_WIN / 64]; /* of these, delivered again */
	u8  timeout;			/* of the oldest RNR, for later RSNs */
};

/*
 * The protocol state of one connection. What packets touch that arrive in order
 * and complete is together, from the second half of @cfg to the first flow, and
 * begins a cache line; the bench_state program counts the lines.
 */
struct falcon_core {
	struct hlist_head pulls[FALCON_PULL_BUCKETS]; /* sent, by RSN */
	struct falcon_nack_ev nack[FALCON_NACK_QUEUE];
	struct list_head pull_rnr;	/* target, unordered: by due_ns */
	struct falcon_core_cfg cfg;

	/* packet delivery, transmit side */
	u32 nr_flight;
	u16 nr_done;			/* bits set in falcon_rsn_win::done */
	u16 nr_rnr;			/* in falcon_rsn_win::rnr */
	struct list_head lost[FALCON_NR_CLASS];	/* to retransmit, PSN order */
	struct list_head rnr;		/* push data waiting out an RNR */
	u64 rto_ns;
	u64 srtt_ns;
	u32 rttvar_ns;			/* mean deviation from srtt_ns */
	u32 tlp_calm;			/* when tlp_patience falls, ms */
	u64 min_rtt_ns;
	u64 tlp_due_ns;
	u64 last_rx_ns;			/* last valid packet of the peer */
	u64 silent_ns;			/* since when it owes an answer, or never */
	u64 echo_sent_ns;		/* ACK in hand: when what it echoes left */
	u32 nic_time_marker;
	u8  ar_count;			/* for AR on a share of packets */
	u8  turns;			/* packets in a row that data answered */
	bool heard;			/* push data came since ours left */
	bool ar_sent;			/* the last packet asks for an ACK */
	u16 ncwnd;
	u8  ncwnd_direction;
	u8  last_flow;
	u8  flow_run;			/* packets in a row on it */
	u8  tlp_probes:4;		/* sent since something was delivered */
	u8  tlp_patience:4;		/* log2 of how often TLP waits its time */
	bool progress;			/* something was delivered just now */
	u8  dying;			/* enum falcon_cmpl to die of, or 0 */

	/* packet delivery, receive side */
	u64 ack_due_ns;			/* coalescing timer; FALCON_NO_TIMER */
	u32 ack_t1, ack_t2;		/* of the most recent packet */
	u32 cc_metadata;
	u16 ecn_count;
	u16 ack_pending;		/* packets since the last ACK */
	u8  ack_flow;
	u8  ack_hops;
	u8  rx_level;			/* ULP's receive buffer, 0..31 */
	bool ack_now;
	bool ack_extended;		/* the next ACK is an EACK */
	u8  nr_nacks;

	/* transaction sublayer */
	u8  sched_turn;			/* queue to serve next */
	u8  fatal;			/* enum falcon_cmpl that killed it, or 0 */
	u32 tx_nrsn, tx_brsn;		/* 8.4.1 */
	u32 rx_nrsn, rx_brsn;		/* 8.5.1 */
	struct list_head init_txns;	/* initiator, RSN order */
	struct list_head sched[FALCON_NR_QUEUE];
	u64 expire_ns;			/* no transaction expires before */
	u64 reclaim_ns;			/* nothing held is given up before */
	struct list_head reorder;	/* target: held, RSN order */
	struct list_head nacked;	/* target: push answered CIE/NRE/CID */

	/* effects, taken by the caller */
	struct list_head deliver;	/* struct falcon_rxpkt::node */
	struct list_head complete;	/* struct falcon_txn::node */
	struct list_head release;	/* struct falcon_resp::node */
	struct list_head drop;		/* struct falcon_rxpkt::node to free */

	struct falcon_resources *res;
	struct falcon_res_use use;
	struct falcon_txwin tx[FALCON_NR_WIN];
	struct falcon_rxwin rx[FALCON_NR_WIN];
	struct falcon_core_stats stats;
	struct falcon_flow flow[FALCON_MAX_FLOWS];

	struct falcon_rings tx_rings[FALCON_NR_WIN];
	struct falcon_rings rx_rings[FALCON_NR_WIN];
	struct falcon_rsn_win rsn;
	struct falcon_pool_state *peer_pool; /* requests of its peer, or NULL */

	/* pacing, if cfg.paced */
	u64 max_rate;			/* payload bytes a second */
	u64 pace_ns;			/* by it, the next packet departs */
	u64 pace_due_ns;		/* early enough to form it */
	bool pace_waits;		/* what comes next has waited for that */
	struct falcon_least *least;	/* of all to the same peer, or NULL */
};

/* What becomes of a packet given to falcon_core_rx(). */
enum falcon_rx_verdict {
	FALCON_RX_KEPT,		/* core or the deliver list holds it */
	FALCON_RX_DONE,		/* not needed any more: free it */
};

/*
 * Who owns a delivered struct falcon_rxpkt (and its skb): the ULP, from
 * delivery to its answer. After _ack() of a push and _respond() to a pull it
 * stays the ULP's, and core has forgotten it. _rnr() and _nack() give it back:
 * it is delivered again, or comes out of the drop list. _ack() of a pull only
 * notes that the ULP took it; the answer is still to come.
 *
 * After FALCON_CMPL_DEAD_CONN answers do nothing, except that _rnr() and
 * _nack() put the packet on the drop list all the same.
 */
void falcon_core_init(struct falcon_core *c, const struct falcon_core_cfg *cfg,
		      struct falcon_resources *res, u64 now_ns);

/*
 * Initiator. The payload handle stays valid until completion. A refusal is an
 * errno and, in falcon_txn::cmpl, the code of section 11 for it.
 */
int falcon_core_push(struct falcon_core *c, struct falcon_txn *txn,
		     void *payload, u16 len, u64 now_ns);
int falcon_core_pull(struct falcon_core *c, struct falcon_txn *txn,
		     void *payload, u16 len, u16 req_len, u64 now_ns);

/* Target, answering what was delivered. */
void falcon_core_target_ack(struct falcon_core *c, struct falcon_rxpkt *rx,
			    u64 now_ns);
void falcon_core_target_rnr(struct falcon_core *c, struct falcon_rxpkt *rx,
			    u8 rnr_timeout, u64 now_ns);
void falcon_core_target_nack(struct falcon_core *c, struct falcon_rxpkt *rx,
			     u8 code, u8 ulp_code, u64 now_ns);
int falcon_core_target_respond(struct falcon_core *c, struct falcon_rxpkt *rx,
			       struct falcon_resp *resp, void *payload,
			       u16 len, u64 now_ns);
void falcon_core_rx_level(struct falcon_core *c, u8 level);
void falcon_core_set_rate(struct falcon_core *c, u64 bytes_per_s);

/* Before the first packet; @least outlives the connection. */
static inline void falcon_core_share(struct falcon_core *c,
				     struct falcon_least *least)
{
	c->least = least;
}

/* Packets and time. */
enum falcon_rx_verdict falcon_core_rx(struct falcon_core *c,
				      const struct falcon_pkt_info *pi,
				      const struct falcon_rx_meta *meta,
				      struct falcon_rxpkt *rx);
void falcon_core_timer(struct falcon_core *c, u64 now_ns);
u64 falcon_core_next_timer(const struct falcon_core *c);
bool falcon_core_tx(struct falcon_core *c, u64 now_ns, struct falcon_tx *tx);
bool falcon_core_tx_ack(struct falcon_core *c, struct falcon_tx *tx);
bool falcon_core_tx_queued(const struct falcon_core *c);

/* Ends everything: each open transaction completes with @code. */
int falcon_core_xlr(struct falcon_core *c, u8 xlr);
void falcon_core_abort(struct falcon_core *c, u8 code);

/* True when nothing sent is unacknowledged and nothing is queued. */
bool falcon_core_idle(const struct falcon_core *c);

#endif /* _FALCON_CORE_H */
