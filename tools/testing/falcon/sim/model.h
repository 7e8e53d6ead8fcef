/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the comparison transports share: a window of numbered packets, a
 * receiver that accepts them in order or in any, an acknowledgement of each.
 * A model is a struct sim_model_ops: when a packet is lost, and how much may be
 * under way. They are models of principles, with nothing of an implementation's
 * own weaknesses: a real NIC does not do better.
 */
#ifndef _FALCON_SIM_MODEL_H
#define _FALCON_SIM_MODEL_H

#include "host.h"

#define MODEL_MTU	4096

struct sim_model;

/**
 * struct sim_model_ops - a transport
 * @name:	of it
 * @any_order:	the receiver keeps what comes out of order
 * @init:	first window, rate
 * @acked:	an acknowledgement was taken in; @pkt is it, @news the packets
 *		that are newly known to have arrived
 * @gap:	it acknowledges a packet after one that is missing
 * @timeout:	the oldest packet has had no answer for too long
 * @label:	path of the next packet, or NULL: one for all
 */
struct sim_model_ops {
	const char *name;
	bool any_order;
	void (*init)(struct sim_model *m);
	void (*acked)(struct sim_model *m, const struct sim_pkt *pkt, u32 news);
	void (*gap)(struct sim_model *m, const struct sim_pkt *pkt);
	void (*timeout)(struct sim_model *m);
	u32 (*label)(struct sim_model *m);
};

enum { MODEL_LOST = 1, MODEL_ARRIVED = 2, MODEL_AGAIN = 4 };

/* A packet of the window */
struct model_slot {
	struct sim_msg *msg;
	u64 sent_ps;
	u16 len;
	u8  flags;
};

/* DCQCN (Zhu et al., 2015), rates in Mb/s; rate 0: no pacing */
struct model_dcqcn {
	double rate;
	double target;
	double alpha;
	double limit;
	u32 steps;		/* increases since the last decrease */
	u64 cut_ps;
	struct sim_event alpha_timer;
	struct sim_event rate_timer;
};

/**
 * struct sim_model - an endpoint of a model
 * @ep:		first
 * @ops:	its model
 * @msgs:	messages not sent in full
 * @ctl:	acknowledgements to send
 * @reqs:	read requests to send
 * @base:	oldest packet not acknowledged
 * @next:	to send next
 * @top:	after the last one ever sent
 * @lost:	packets marked to be sent again
 * @under_way:	sent, and neither lost nor arrived
 * @recover:	a gap below this one has been reacted to
 * @cwnd:	window, packets
 * @max_cwnd:	bandwidth times delay, or whatever bounds the window
 * @srtt_ps:	smoothed RTT
 * @min_rtt_ps:	smallest RTT
 * @rto_ps:	time-out
 * @label:	path
 * @mark_ps:	last reaction to congestion
 * @slot:	ring of packets between base and top
 * @ring:	its size, a power of two
 * @want:	receiver: the next in order
 * @nacked:	receiver, in order: a gap has been reported
 * @got:	receiver, any order: ring of flags
 * @cnp_ps:	receiver: last congestion notification
 * @timer:	time-out
 * @cc:		rate
 * @retx:	retransmissions
 * @timeouts:	time-outs
 */
struct sim_model {
	struct sim_ep ep;
	const struct sim_model_ops *ops;
	struct list_head msgs;
	struct list_head ctl;
	struct list_head reqs;
	u32 base;
	u32 next;
	u32 top;
	u32 lost;
	u32 under_way;
	u32 recover;
	double cwnd;
	double max_cwnd;
	u64 srtt_ps;
	u64 min_rtt_ps;
	u64 rto_ps;
	u32 label;
	u64 mark_ps;
	struct model_slot *slot;
	u32 ring;
	u32 want;
	bool nacked;
	u8  *got;
	u64 cnp_ps;
	struct sim_event timer;
	struct model_dcqcn cc;
	u64 retx;
	u64 timeouts;
};

/**
 * struct sim_model_cfg - a connection
 * @window_pkts: most packets under way
 * @rate_mbps:	of the link; DCQCN's limit
 * @dcqcn:	react to marks
 * @rto_ps:	time-out
 */
struct sim_model_cfg {
	u32 window_pkts;
	u64 rate_mbps;
	bool dcqcn;
	u64 rto_ps;
};

extern const struct sim_model_ops model_roce_gbn;
extern const struct sim_model_ops model_roce_sr;
extern const struct sim_model_ops model_aimd;
extern const struct sim_model_ops model_spray;

void sim_model_pair(const struct sim_model_ops *ops,
		    const struct sim_model_cfg *cfg, struct sim_host *a,
		    struct sim_host *b, struct sim_model *end_a,
		    struct sim_model *end_b);
struct model_slot *model_slot(struct sim_model *m, u32 psn);
void model_lose(struct sim_model *m, u32 psn);
void model_lose_all(struct sim_model *m);

/* dcqcn.c */
void model_dcqcn_init(struct sim_model *m, u64 rate_mbps);
void model_dcqcn_notified(struct sim_model *m);
u64 model_dcqcn_gap(const struct sim_model *m, u32 bytes);

#endif
