/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Falcon Adaptive Engine, inside core (specification section 10): what the
 * packet delivery sublayer calls, the parameters, and what the algorithms
 * share. The interface to an algorithm is include/net/falcon_fae.h.
 */
#ifndef _FALCON_CORE_FAE_H
#define _FALCON_CORE_FAE_H

#include <linux/math64.h>
#include <linux/types.h>
#include <net/falcon_fae.h>

struct falcon_core;
struct falcon_flow;
struct falcon_least;
struct falcon_pkt_info;
struct falcon_rx_meta;

#define FALCON_FAE_MAX_ACKED	1023		/* num_packets_acked, 10 bits */
#define FALCON_FAE_MAX_RETX	7		/* retransmit_count, 3 bits */
#define FALCON_FAE_MAX_GAP	0xfffffu	/* inter_packet_gap, 20 bits */
#define FALCON_FAE_MAX_FCWND	0x1fffffu	/* fcwnd, 11.10 */
#define FALCON_FAE_MAX_NCWND	2047u		/* ncwnd, 11 bits */

/**
 * struct falcon_fae_params - of the datapath's side of the interface
 * @min_delay_window_ms:	a flow whose fcwnd has been below 4 for this long
 *				measures its smallest delay anew
 * @delay_select:		enum falcon_fae_delay_select given in events
 * @policy_depth:		event queue occupancy, in events, from which on
 *				an event needs [0] one of P1 and P2, [1] both;
 *				[2] from which on there is none (10.6.1)
 * @policy_time_ns:		P1: time since the flow's last event
 * @policy_acked:		P2: packets acknowledged since then
 *
 * Read without a lock; each field may be written at any time.
 */
struct falcon_fae_params {
	u32 min_delay_window_ms;
	u8  delay_select;
	u32 policy_depth[3];
	u32 policy_time_ns;
	u32 policy_acked;
};

/**
 * struct falcon_swift_params - parameters of Swift and PLB (10.5)
 * @min_fcwnd_q20:		min_fcwnd, packets; at least 2^-10
 * @max_fcwnd_q20:		max_fcwnd, packets; below 2048
 * @init_fcwnd_q20:		of a new flow, packets
 * @fabric_ai_q10:		fabric_additive_increment, packets an RTT, at most
 *				1024
 * @fabric_md_q16:		fabric_multiplicative_decrease_factor
 * @max_fabric_md_q16:		max_fabric_multiplicative_decrease_factor
 * @min_ncwnd:			min_ncwnd, requests; at least 1
 * @max_ncwnd:			max_ncwnd, requests; at most 2047
 * @init_ncwnd:			of a new connection, requests
 * @nic_ai:			nic_additive_increment, requests an RTT
 * @nic_md_q16:			nic_multiplicative_decrease_factor
 * @max_nic_md_q16:		max_nic_multiplicative_decrease_factor
 * @target_rx_buffer_level:	target_rx_buffer_level, 0..31
 * @rtt_smoothing_alpha_q16:	rtt_smoothing_alpha, weight of the old value
 * @delay_smoothing_alpha_q16:	delay_smoothing_alpha, weight of the old value
 * @rtt_smoothing:		the window guards and the inter-packet gap go by
 *				the smoothed RTT instead of the event's
 * @topology_scaling_per_hop_ns: topology_scaling_per_hop, at most 1 ms
 * @min_flow_scaling_q20:	min_flow_scaling_window, packets
 * @max_flow_scaling_q20:	max_flow_scaling_window, packets; at least twice
 *				the min
 * @max_flow_scaling_ns:	max_flow_scaling, at most 1 ms
 * @retransmit_timeout_scalar_q16: retransmit_timeout_scalar
 * @min_retransmit_timeout_ns:	min_retransmission_timeout, at most 1 s
 * @retransmit_limit:		retransmissions of a packet that send fcwnd to
 *				its minimum
 * @plb_delay_multiplier_q10:	plb_target_delay_multiplier
 * @plb_threshold_q16:		plb_congestion_threshold, a fraction
 * @plb_attempts:		plb_attempt_threshold, RTTs; 0 turns PLB off
 * @prr_attempts:		time-outs in a row after which a flow gets a new
 *				path, and duplicates after which its ACKs get
 *				one; 0 turns PRR off
 *
 * Fractions are fixed point, _qN with N bits behind the point. base_delay_target
 * is each connection's own (struct falcon_core_cfg).
 */
struct falcon_swift_params {
	u32 min_fcwnd_q20;
	u32 max_fcwnd_q20;
	u32 init_fcwnd_q20;
	u32 fabric_ai_q10;
	u32 fabric_md_q16;
	u32 max_fabric_md_q16;
	u16 min_ncwnd;
	u16 max_ncwnd;
	u16 init_ncwnd;
	u16 nic_ai;
	u32 nic_md_q16;
	u32 max_nic_md_q16;
	u8  target_rx_buffer_level;
	bool rtt_smoothing;
	u32 rtt_smoothing_alpha_q16;
	u32 delay_smoothing_alpha_q16;
	u32 topology_scaling_per_hop_ns;
	u32 min_flow_scaling_q20;
	u32 max_flow_scaling_q20;
	u32 max_flow_scaling_ns;
	u32 retransmit_timeout_scalar_q16;
	u32 min_retransmit_timeout_ns;
	u8  retransmit_limit;
	u8  plb_attempts;
	u8  prr_attempts;
	u32 plb_delay_multiplier_q10;
	u32 plb_threshold_q16;
};

extern struct falcon_fae_params falcon_fae_params;

/* Read as it is, at any time; changed by falcon_swift_set_params() alone. */
extern const struct falcon_swift_params * const falcon_swift_in_use;

int falcon_swift_set_params(const struct falcon_swift_params *p);

/* The algorithms in tree; ends with NULL. */
extern const struct falcon_fae_ops * const falcon_fae_builtins[];

const struct falcon_fae_ops *falcon_fae_builtin(const char *name);

/* Called by the packet delivery sublayer, under the connection lock. */
void falcon_fae_init(struct falcon_core *c, u64 now_ns);
void falcon_fae_release(struct falcon_core *c);
void falcon_fae_ack(struct falcon_core *c, const struct falcon_pkt_info *pi,
		    const struct falcon_rx_meta *meta, bool eack_drop);
void falcon_fae_nack(struct falcon_core *c, const struct falcon_pkt_info *pi,
		     const struct falcon_rx_meta *meta);
void falcon_fae_retx(struct falcon_core *c, u8 flow,
		     enum falcon_fae_retx_reason reason, unsigned int count,
		     u64 now_ns);

void falcon_fae_run(struct falcon_core *c, struct falcon_fae_event *ev,
		    u64 now_ns);
void falcon_least_init(struct falcon_least *least);
u32 falcon_fae_least(const struct falcon_core *c, const struct falcon_flow *fl);
void falcon_fae_arrived(struct falcon_core *c, u8 flow, bool duplicate,
			u64 now_ns);
bool falcon_fae_event_due(const struct falcon_fae_params *p, u32 depth,
			  u64 since_ns, u32 acked);

/* An event that waits, and whose it is */
struct falcon_fae_slot {
	struct falcon_core *c;
	struct falcon_fae_event ev;
};

/**
 * struct falcon_fae_queue - the CC event queue (10.6.2.1)
 * @slot:	a ring of @size
 * @size:	slots, a power of two
 * @head:	events taken, ever
 * @tail:	events put, ever
 * @held_back:	ACKs that became no event for the policy of 10.6.1
 *
 * Of one context: a CPU in the kernel, which several connections share.
 */
struct falcon_fae_queue {
	struct falcon_fae_slot *slot;
	u32 size;
	u32 head;
	u32 tail;
	u64 held_back;
};

void falcon_fae_queue_init(struct falcon_fae_queue *q,
			   struct falcon_fae_slot *slot, u32 size);
bool falcon_fae_queue_put(struct falcon_fae_queue *q, struct falcon_core *c,
			  const struct falcon_fae_event *ev);
struct falcon_core *falcon_fae_queue_first(const struct falcon_fae_queue *q);
void falcon_fae_queue_run(struct falcon_fae_queue *q, u64 now_ns);

/* Events that wait; of no queue, none */
static inline u32 falcon_fae_queue_depth(const struct falcon_fae_queue *q)
{
	return q ? q->tail - q->head : 0;
}

/* What the algorithms in tree share. */

/**
 * struct falcon_plb - state of PLB (10.4) and PRR, of one flow
 * @acked:		plb_packets_acknowledged
 * @congested:		plb_packets_congestion_acknowledged
 * @attempted:		plb_reroute_attempted
 * @prr_marked:		@prr_marker is valid
 * @prr_marker:		when PRR last asked for a new path
 */
struct falcon_plb {
	u16 acked;
	u16 congested;
	u8  attempted;
	bool prr_marked;
	u32 prr_marker;
};

bool falcon_plb_ack(struct falcon_plb *plb,
		    const struct falcon_swift_params *p,
		    const struct falcon_fae_event *ev, u32 delay,
		    u32 target_q8);
bool falcon_prr_retx(struct falcon_plb *plb, u8 attempts,
		     const struct falcon_fae_event *ev);

u32 falcon_fae_rtt(const struct falcon_fae_event *ev);
u32 falcon_fae_delay(const struct falcon_fae_event *ev);
void falcon_swift_smooth(const struct falcon_fae_event *ev,
			 struct falcon_fae_result *res);
void falcon_swift_ncwnd(const struct falcon_fae_event *ev, u32 rtt,
			struct falcon_fae_result *res);
u32 falcon_swift_rto(const struct falcon_fae_result *res);
u32 falcon_swift_guard_rtt(const struct falcon_fae_event *ev,
			   const struct falcon_fae_result *res);

/* Time from @marker to @now, 24-bit counts that wrap (10.3.6). */
static inline u32 falcon_fae_since(u32 now, u32 marker)
{
	return (now - marker) & FALCON_FAE_TIME_MASK;
}

/*
 * fcwnd in 11.10 moves too coarsely for windows far below one packet, and for
 * increases of a fraction of one: an algorithm keeps 10 more bits of it, which
 * hold as long as the datapath's value is the one they belong to.
 */
static inline u32 falcon_fine_fcwnd(u32 fine_q20, u32 fcwnd)
{
	return fine_q20 >> 10 == fcwnd ? fine_q20 : fcwnd << 10;
}

/* Nanoseconds to units of 131.072 ns, rounded down, and back. */
static inline u64 falcon_ns_to_units(u64 ns)
{
	return mul_u64_u32_shr(ns, 125, 14);
}

static inline u64 falcon_units_to_ns(u32 units)
{
	return div_u64((u64)units << 14, 125);
}

#endif /* _FALCON_CORE_FAE_H */
