/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of core offer each other, and nobody else. Arrows go from the
 * packet delivery sublayer to the transaction sublayer on receive, and back on
 * transmit; all run under the connection lock of their caller.
 */
#ifndef _FALCON_CORE_INTERNAL_H
#define _FALCON_CORE_INTERNAL_H

#include "core.h"

/* Early retransmissions of one packet; then only its RTO (9.1.4). */
#define FALCON_MAX_EARLY	16

static inline u8 falcon_type_class(u8 type)
{
	switch (type) {
	case FALCON_PKT_PULL_REQ:
		return FALCON_CLASS_PULL_REQ;
	case FALCON_PKT_PUSH_DATA:
		return FALCON_CLASS_PUSH_DATA;
	default:
		return FALCON_CLASS_PULL_DATA;
	}
}

static inline u8 falcon_pkt_class(const struct falcon_txpkt *p)
{
	return falcon_type_class(p->orig_type);
}

/* Section 9: requests in one window, push and pull data in the other. */
static inline u8 falcon_type_win(u8 type)
{
	return type == FALCON_PKT_PULL_REQ ? FALCON_WIN_REQ : FALCON_WIN_DATA;
}

/* Packets that start ULP transactions: what ncwnd and RORC / DORC count. */
static inline bool falcon_pkt_is_request(const struct falcon_txpkt *p)
{
	return p->orig_type != FALCON_PKT_PULL_DATA;
}

static inline bool falcon_pkt_sent(const struct falcon_txpkt *p)
{
	return p->state != FALCON_TXPKT_QUEUED;
}

static inline bool falcon_ordered(const struct falcon_core *c)
{
	return c->cfg.features & FALCON_F_ORDERED;
}

static inline struct falcon_txn *falcon_pkt_txn(struct falcon_txpkt *p)
{
	return container_of(p, struct falcon_txn, pkt);
}

static inline struct falcon_resp *falcon_pkt_resp(struct falcon_txpkt *p)
{
	return container_of(p, struct falcon_resp, pkt);
}

/* flow.c */
void falcon_flow_init(struct falcon_core *c);
u32 falcon_flow_fcwnd(const struct falcon_flow *f);
u32 falcon_flow_fcwnd_total(const struct falcon_core *c);
u32 falcon_flow_outstanding(const struct falcon_core *c, u8 win);
void falcon_flow_took(struct falcon_core *c, u8 flow);
bool falcon_flow_pick(struct falcon_core *c, u8 win, bool any, u64 now_ns,
		      u8 *flow);
u64 falcon_flow_depart(struct falcon_core *c, struct falcon_flow *f, u32 len,
		       u64 now_ns);
bool falcon_pace_wait(struct falcon_core *c, u64 now_ns);

/* sched.c */
struct falcon_txpkt *falcon_sched_next(struct falcon_core *c, u64 now_ns,
				       u8 *flow);
bool falcon_sched_window_closes(const struct falcon_core *c, u8 type);

/* pdl_tx.c */
void falcon_pkt_init(struct falcon_txpkt *p, u8 type, u32 rsn, void *payload,
		     u16 len, u16 req_len);
void falcon_pkt_delivered(struct falcon_core *c, struct falcon_txpkt *p,
			  u64 now_ns);
void falcon_pkt_acked(struct falcon_core *c, struct falcon_txpkt *p,
		      u64 now_ns);
void falcon_pkt_rcvd(struct falcon_core *c, struct falcon_txpkt *p,
		     u64 now_ns);
void falcon_pkt_lost(struct falcon_core *c, struct falcon_txpkt *p, u8 reason);
void falcon_pkt_rnr(struct falcon_core *c, struct falcon_txpkt *p, u64 due_ns);
void falcon_pkt_resync(struct falcon_core *c, struct falcon_txpkt *p, u8 code);
void falcon_pkt_unlink(struct falcon_core *c, struct falcon_txpkt *p);
struct falcon_txpkt *falcon_pkt_find(struct falcon_core *c, u8 win, u32 psn);
void falcon_rnr_timer(struct falcon_core *c, u64 now_ns);
u64 falcon_rnr_due(const struct falcon_core *c);

/* loss.c */
bool falcon_loss_eack_drop(const struct falcon_core *c,
			   const struct falcon_pkt_info *pi);
void falcon_loss_ack(struct falcon_core *c, const struct falcon_pkt_info *pi,
		     u64 now_ns);
void falcon_loss_delivered(struct falcon_core *c, struct falcon_txpkt *p,
			   u64 now_ns);
bool falcon_loss_recovering(const struct falcon_core *c);
void falcon_loss_sent(struct falcon_core *c, u64 now_ns);
void falcon_loss_timer(struct falcon_core *c, u64 now_ns);
u64 falcon_loss_due(const struct falcon_core *c);
u64 falcon_rto(const struct falcon_core *c, u8 backoff);

/*
 * Ping-pong: the peer has answered so many packets in a row with data, and we
 * it. The answer brings the acknowledgement along (9.1.6); an ACK that comes
 * alone and was not asked for ends it.
 */
#define FALCON_TURNS	8

static inline bool falcon_ping_pong(const struct falcon_core *c)
{
	return c->turns >= FALCON_TURNS;
}

/*
 * What an ACK waits for an answer in ping-pong, which may come from a process:
 * two RTTs, and what machines are late by. A tail loss probe waits as long for it.
 */
static inline u64 falcon_answer_wait(const struct falcon_core *c)
{
	return falcon_ping_pong(c) ? 2 * c->srtt_ns + c->cfg.ack_slack_ns : 0;
}

/* ack.c */
void falcon_ack_received(struct falcon_core *c, u64 now_ns);
void falcon_ack_acknowledged(struct falcon_core *c, bool ar, u64 now_ns);
void falcon_ack_discarded(struct falcon_core *c, u64 now_ns);
void falcon_ack_piggyback(struct falcon_core *c, struct falcon_pkt_info *pi,
			  u64 depart_ns);
void falcon_ack_build(struct falcon_core *c, struct falcon_tx *tx);
void falcon_nack_queue(struct falcon_core *c, u8 win, u32 psn, u8 code,
		       u8 rnr_timeout, u8 ulp_code);
void falcon_nack_build(struct falcon_core *c, struct falcon_tx *tx);
bool falcon_ack_bases(struct falcon_core *c, const struct falcon_pkt_info *pi,
		      u64 now_ns);
void falcon_ack_one(struct falcon_core *c, struct falcon_txpkt *p, u64 now_ns);
void falcon_ack_rx(struct falcon_core *c, const struct falcon_pkt_info *pi,
		   const struct falcon_rx_meta *meta);
void falcon_nack_rx(struct falcon_core *c, const struct falcon_pkt_info *pi,
		    const struct falcon_rx_meta *meta);

/* pdl_rx.c */
bool falcon_pdl_valid(struct falcon_core *c, const struct falcon_pkt_info *pi);
enum falcon_rx_verdict falcon_pdl_rx(struct falcon_core *c,
				     const struct falcon_pkt_info *pi,
				     const struct falcon_rx_meta *meta,
				     struct falcon_rxpkt *rx);
void falcon_pdl_ack_push(struct falcon_core *c, const struct falcon_rxpkt *rx,
			 u64 now_ns);
bool falcon_pdl_push_open(const struct falcon_core *c,
			  const struct falcon_rxpkt *rx);

/* tl_initiator.c */
void falcon_init_sent(struct falcon_core *c, struct falcon_txn *txn);
void falcon_init_acked(struct falcon_core *c, struct falcon_txn *txn);
enum falcon_rx_verdict falcon_init_pull_data(struct falcon_core *c,
					     struct falcon_rxpkt *rx,
					     u64 now_ns);
void falcon_init_pull_resync(struct falcon_core *c, u32 rsn, u64 now_ns);
u8 falcon_resync_cmpl(u8 code);
void falcon_init_timer(struct falcon_core *c, u64 now_ns);
void falcon_init_abort(struct falcon_core *c, u8 code);

/* What the target makes of a request or resync that is new to its window. */
enum falcon_admit {
	FALCON_ADMIT_TAKEN,	/* held or delivered */
	FALCON_ADMIT_REFUSED,	/* not received: awaited again */
	FALCON_ADMIT_DROP,	/* acknowledge and drop: nothing to hold */
};

/* tl_target.c */
enum falcon_admit falcon_target_rx(struct falcon_core *c,
				   struct falcon_rxpkt *rx, u64 now_ns);
enum falcon_admit falcon_target_resync(struct falcon_core *c,
				       struct falcon_rxpkt *rx, u64 now_ns);
void falcon_target_cancel(struct falcon_core *c, u32 psn, u64 now_ns);
bool falcon_target_repeat_nack(struct falcon_core *c, u32 psn);
void falcon_target_sent(struct falcon_resp *resp);
void falcon_target_acked(struct falcon_core *c, struct falcon_resp *resp);
void falcon_target_timer(struct falcon_core *c, u64 now_ns);
u64 falcon_target_due(const struct falcon_core *c);
void falcon_target_abort(struct falcon_core *c);

#endif /* _FALCON_CORE_INTERNAL_H */
