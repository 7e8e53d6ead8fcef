/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Falcon Adaptive Engine: the congestion control ops table.
 *
 * The datapath produces events and applies results (specification 10.6.2, the
 * Rate Update Engine interface); an algorithm maps one to the other and shares
 * no other state with the datapath. Field names and widths are those of the
 * specification: windows are 11.10 fixed point, times are 24-bit counts of
 * 131.072 ns that wrap after 2.2 s.
 */
#ifndef _NET_FALCON_FAE_H
#define _NET_FALCON_FAE_H

#include <linux/types.h>
#include <linux/list.h>

struct module;

#define FALCON_FAE_NAME_MAX	16
#define FALCON_FAE_PRIV_WORDS	6	/* u64 of private state a flow */
#define FALCON_FAE_TIME_MASK	0xffffffu
#define FALCON_FCWND_SHIFT	10	/* fcwnd is 11.10 fixed point */

enum falcon_fae_event_type {
	FALCON_FAE_ACK	= 0,
	FALCON_FAE_NACK	= 1,
	FALCON_FAE_RETX	= 2,
};

enum falcon_fae_retx_reason {
	FALCON_FAE_RETX_RTO	= 0,
	FALCON_FAE_RETX_EARLY	= 1,
};

enum falcon_fae_delay_select {
	FALCON_FAE_DELAY_FULL	= 0,	/* t4 - t1 */
	FALCON_FAE_DELAY_FABRIC	= 1,	/* (t4 - t1) - (t3 - t2) */
	FALCON_FAE_DELAY_FWD	= 2,	/* t2 - t1, synchronised clocks */
	FALCON_FAE_DELAY_REV	= 3,	/* t4 - t3, synchronised clocks */
};

/**
 * struct falcon_fae_event - one CC event (10.6.2.1)
 * @connection_id:	24 bits
 * @flow:		flow of the connection that the event is about
 * @event_type:		enum falcon_fae_event_type
 * @t1:			time-stamp, ACK and NACK events; good for differences
 *			with the others, not for comparison with @now
 * @t2:			as @t1
 * @t3:			as @t1
 * @t4:			as @t1
 * @now:		time of the event by the clock of the time markers
 * @retransmit_count:	retransmissions of the packet so far, saturates at 7
 * @retransmit_reason:	enum falcon_fae_retx_reason
 * @nack_code:		enum falcon_nack_code, NACK events
 * @forward_hops:	hops of the forward path
 * @rx_buffer_level:	receiver's quantised buffer occupancy, 0..31
 * @cc_metadata:	RUE to RUE field of the received ACK
 * @fcwnd:		fabric window, 11.10 fixed point
 * @inter_packet_gap:	gap in force, 131.072 ns units, 20 bits
 * @ncwnd:		NIC window, requests
 * @retransmit_timeout:	RTO in force
 * @num_packets_acked:	packets acknowledged on the flow since its last event,
 *			saturates at 1023
 * @eack_drop:		the EACK shows a loss by out-of-order distance
 * @eack:		the event comes from an EACK
 * @delay_select:	enum falcon_fae_delay_select
 * @rtt_valid:		@t1..@t4 are a sample of this flow (they are not after
 *			a NIC switch-over, nor for an ACK of another flow)
 * @fabric_window_time_marker: guard of @fcwnd (10.3.6)
 * @nic_window_time_marker: guard of @ncwnd (10.3.6)
 * @ncwnd_direction:	1 if the last change of @ncwnd was an increase
 * @base_delay_target:	target before scaling
 * @delay_state:	smoothed delay, 0: none yet
 * @rtt_state:		smoothed RTT, 0: none yet
 * @cc_opaque:		2 bits of the algorithm's own
 * @ecn_accumulated:	14-bit counter of ECN-marked packets at the receiver
 */
struct falcon_fae_event {
	u32 connection_id;
	u8  flow;
	u8  event_type;
	u8  retransmit_count;
	u8  retransmit_reason;
	u8  nack_code;
	u8  forward_hops;
	u8  rx_buffer_level;
	u8  delay_select;
	u32 t1, t2, t3, t4;
	u32 now;
	u32 cc_metadata;
	u32 fcwnd;
	u32 inter_packet_gap;
	u32 retransmit_timeout;
	u16 ncwnd;
	u16 num_packets_acked;
	u16 ecn_accumulated;
	u8  eack_drop : 1,
	    eack : 1,
	    rtt_valid : 1,
	    ncwnd_direction : 1,
	    cc_opaque : 2;
	u32 fabric_window_time_marker;
	u32 nic_window_time_marker;
	u32 base_delay_target;
	u32 delay_state;
	u32 rtt_state;
};

/**
 * struct falcon_fae_result - one CC result (10.6.2.2)
 * @connection_id:	passed through
 * @flow:		passed through
 * @randomize_path:	give the flow a new path label
 * @ncwnd_direction:	as in the event
 * @cc_opaque:		as in the event
 * @ncwnd:		NIC window, at least 1
 * @cc_metadata:	value for the RUE field of ACKs sent
 * @fcwnd:		fabric window, 11.10 fixed point
 * @inter_packet_gap:	between departures, 131.072 ns units; 0 sends by window
 *			alone
 * @retransmit_timeout:	131.072 ns units
 * @fabric_window_time_marker: guard of @fcwnd
 * @nic_window_time_marker: guard of @ncwnd
 * @base_delay_target:	carried back; the datapath's own choice stands
 * @delay_state:	smoothed delay
 * @rtt_state:		smoothed RTT
 */
struct falcon_fae_result {
	u32 connection_id;
	u8  flow;
	u8  randomize_path : 1,
	    ncwnd_direction : 1,
	    cc_opaque : 2;
	u16 ncwnd;
	u32 cc_metadata;
	u32 fcwnd;
	u32 inter_packet_gap;
	u32 retransmit_timeout;
	u32 fabric_window_time_marker;
	u32 nic_window_time_marker;
	u32 base_delay_target;
	u32 delay_state;
	u32 rtt_state;
};

/**
 * struct falcon_fae_ops - a congestion control algorithm
 * @name:	unique, shown by and selected through sysctl and socket option
 * @owner:	module that holds the code
 * @list:	of the registry (kernel only)
 * @init:	set up @priv, zeroed, of one flow and the initial @res; may be
 *		called under the connection lock
 * @on_event:	map @ev to @res, which comes in holding the values in force.
 *		Called under the connection lock, in softirq: no sleeping, no
 *		allocation, no floating point
 * @release:	tear @priv down, or NULL
 *
 * @priv is FALCON_FAE_PRIV_WORDS u64 a flow, the algorithm's alone.
 */
struct falcon_fae_ops {
	const char *name;
	struct module *owner;
	struct list_head list;
	void (*init)(void *priv, struct falcon_fae_result *res);
	void (*on_event)(void *priv, const struct falcon_fae_event *ev,
			 struct falcon_fae_result *res);
	void (*release)(void *priv);
};

extern const struct falcon_fae_ops falcon_fae_swift;
extern const struct falcon_fae_ops falcon_fae_aimd;
extern const struct falcon_fae_ops falcon_fae_fixed;

int falcon_fae_register(struct falcon_fae_ops *ops);
void falcon_fae_unregister(struct falcon_fae_ops *ops);
const struct falcon_fae_ops *falcon_fae_get(const char *name);
void falcon_fae_hold(const struct falcon_fae_ops *ops);
void falcon_fae_put(const struct falcon_fae_ops *ops);

#endif /* _NET_FALCON_FAE_H */
