/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tracepoints of a connection: what left, what came, why it left again, and
 * what congestion control made of it. conn/ and udp.c fire them; nothing
 * here changes state. Every event opens with the two CIDs, so that a filter
 * such as 'cid == 0x1234' follows one connection.
 *
 * Windows are shown in thousandths of a packet, times in the unit their name
 * ends with. Documentation/networking/falcon/observability.rst lists them.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM falcon

#if !defined(_FALCON_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _FALCON_TRACE_H

#include <linux/tracepoint.h>
#include "core/fae.h"
#include "falcon.h"

TRACE_DEFINE_ENUM(FALCON_PKT_PULL_REQ);
TRACE_DEFINE_ENUM(FALCON_PKT_PULL_DATA);
TRACE_DEFINE_ENUM(FALCON_PKT_PUSH_DATA);
TRACE_DEFINE_ENUM(FALCON_PKT_RESYNC);
TRACE_DEFINE_ENUM(FALCON_PKT_NACK);
TRACE_DEFINE_ENUM(FALCON_PKT_BACK);
TRACE_DEFINE_ENUM(FALCON_PKT_EACK);

#define falcon_show_type(type)						\
	__print_symbolic(type,						\
			 { FALCON_PKT_PULL_REQ,		"pull-req" },	\
			 { FALCON_PKT_PULL_DATA,	"pull-data" },	\
			 { FALCON_PKT_PUSH_DATA,	"push-data" },	\
			 { FALCON_PKT_RESYNC,		"resync" },	\
			 { FALCON_PKT_NACK,		"nack" },	\
			 { FALCON_PKT_BACK,		"back" },	\
			 { FALCON_PKT_EACK,		"eack" })

TRACE_DEFINE_ENUM(FALCON_RETX_OOO);
TRACE_DEFINE_ENUM(FALCON_RETX_OWN);
TRACE_DEFINE_ENUM(FALCON_RETX_RACK);
TRACE_DEFINE_ENUM(FALCON_RETX_TLP);
TRACE_DEFINE_ENUM(FALCON_RETX_RTO);
TRACE_DEFINE_ENUM(FALCON_RETX_RNR);

#define falcon_show_reason(reason)					\
	__print_symbolic(reason,					\
			 { FALCON_RETX_OOO,	"ooo" },		\
			 { FALCON_RETX_OWN,	"own" },		\
			 { FALCON_RETX_RACK,	"rack" },		\
			 { FALCON_RETX_TLP,	"tlp" },		\
			 { FALCON_RETX_RTO,	"rto" },		\
			 { FALCON_RETX_RNR,	"rnr" })

TRACE_DEFINE_ENUM(FALCON_CONN_SETUP);
TRACE_DEFINE_ENUM(FALCON_CONN_ESTABLISHED);
TRACE_DEFINE_ENUM(FALCON_CONN_CLOSING);
TRACE_DEFINE_ENUM(FALCON_CONN_DEAD);

#define falcon_show_state(state)					\
	__print_symbolic(state,						\
			 { FALCON_CONN_SETUP,		"setup" },	\
			 { FALCON_CONN_ESTABLISHED,	"established" }, \
			 { FALCON_CONN_CLOSING,		"closing" },	\
			 { FALCON_CONN_DEAD,		"dead" })

/* 11.10 fixed point to thousandths of a packet, and 131.072 ns units to ns */
#define falcon_trace_milli(q10)	((u32)(((u64)(q10) * 1000) >> 10))
#define falcon_trace_ns(units)	((u64)(units) * FALCON_TS_UNIT_PS / 1000)

/* A packet was handed to the NIC: for the first time (falcon_send, and every
 * ACK and NACK), or again (falcon_retransmit, with the reason).
 */
DECLARE_EVENT_CLASS(falcon_tx_class,
	TP_PROTO(const struct falcon_conn *conn, const struct falcon_tx *tx),

	TP_ARGS(conn, tx),

	TP_STRUCT__entry(
		__field(u32, cid)
		__field(u32, peer_cid)
		__field(u32, psn)
		__field(u32, rsn)
		__field(u16, len)
		__field(u8, type)
		__field(u8, flow)
		__field(u8, reason)
		__field(u64, depart_ns)
	),

	TP_fast_assign(
		__entry->cid = conn->cid;
		__entry->peer_cid = conn->core.cfg.peer_cid;
		__entry->psn = tx->psn;
		__entry->rsn = tx->rsn;
		__entry->len = tx->len;
		__entry->type = tx->type;
		__entry->flow = tx->flow;
		__entry->reason = tx->reason;
		__entry->depart_ns = tx->depart_ns;
	),

	TP_printk("cid=%#x peer_cid=%#x type=%s psn=%u rsn=%u len=%u flow=%u depart_ns=%llu",
		  __entry->cid, __entry->peer_cid,
		  falcon_show_type(__entry->type), __entry->psn, __entry->rsn,
		  __entry->len, __entry->flow, __entry->depart_ns)
);

DEFINE_EVENT(falcon_tx_class, falcon_send,
	TP_PROTO(const struct falcon_conn *conn, const struct falcon_tx *tx),
	TP_ARGS(conn, tx)
);

DEFINE_EVENT_PRINT(falcon_tx_class, falcon_retransmit,
	TP_PROTO(const struct falcon_conn *conn, const struct falcon_tx *tx),

	TP_ARGS(conn, tx),

	TP_printk("cid=%#x peer_cid=%#x reason=%s type=%s psn=%u rsn=%u len=%u flow=%u depart_ns=%llu",
		  __entry->cid, __entry->peer_cid,
		  falcon_show_reason(__entry->reason),
		  falcon_show_type(__entry->type), __entry->psn, __entry->rsn,
		  __entry->len, __entry->flow, __entry->depart_ns)
);

/* A reliable packet passed every check before the protocol (9.2.2). */
TRACE_EVENT(falcon_receive,
	TP_PROTO(const struct falcon_conn *conn,
		 const struct falcon_pkt_info *pi,
		 const struct falcon_rx_meta *meta),

	TP_ARGS(conn, pi, meta),

	TP_STRUCT__entry(
		__field(u32, cid)
		__field(u32, peer_cid)
		__field(u32, psn)
		__field(u32, rsn)
		__field(u32, t1)
		__field(u32, t2)
		__field(u16, len)
		__field(u8, type)
		__field(u8, flow)
		__field(u8, hops)
		__field(bool, ar)
		__field(bool, ce)
	),

	TP_fast_assign(
		__entry->cid = conn->cid;
		__entry->peer_cid = conn->core.cfg.peer_cid;
		__entry->psn = pi->psn;
		__entry->rsn = pi->rsn;
		__entry->t1 = meta->t_tx;
		__entry->t2 = meta->t_rx;
		__entry->len = pi->len;
		__entry->type = pi->type;
		__entry->flow = meta->flow;
		__entry->hops = meta->hops;
		__entry->ar = pi->ar;
		__entry->ce = meta->ecn_ce;
	),

	TP_printk("cid=%#x peer_cid=%#x type=%s psn=%u rsn=%u len=%u flow=%u hops=%u ar=%d ce=%d t1=%#x t2=%#x",
		  __entry->cid, __entry->peer_cid,
		  falcon_show_type(__entry->type), __entry->psn, __entry->rsn,
		  __entry->len, __entry->flow, __entry->hops, __entry->ar,
		  __entry->ce, __entry->t1, __entry->t2)
);

/*
 * A BACK, EACK or NACK came (9.2.3, 9.2.4). Bitmaps are those of an EACK. Of the
 * round trip, t4 - t1, the peer held the packet for t3 - t2; no stamps, no times.
 */
TRACE_EVENT(falcon_ack,
	TP_PROTO(const struct falcon_conn *conn,
		 const struct falcon_pkt_info *pi,
		 const struct falcon_rx_meta *meta),

	TP_ARGS(conn, pi, meta),

	TP_STRUCT__entry(
		__field(u32, cid)
		__field(u32, peer_cid)
		__field(u32, rrbpsn)
		__field(u32, rdbpsn)
		__field(u32, nack_psn)
		__field(u32, rtt)
		__field(u32, held)
		__field(u16, ecn)
		__field(u8, type)
		__field(u8, nack_code)
		__field(u8, flow)
		__field(u8, own)
		__field(u8, rx_level)
		__field(u8, hops)
		__array(u64, data_rx, 2)
	),

	TP_fast_assign(
		bool eack = pi->type == FALCON_PKT_EACK;
		bool nack = pi->type == FALCON_PKT_NACK;

		__entry->cid = conn->cid;
		__entry->peer_cid = conn->core.cfg.peer_cid;
		__entry->rrbpsn = pi->rbpsn[FALCON_WIN_REQ];
		__entry->rdbpsn = pi->rbpsn[FALCON_WIN_DATA];
		__entry->nack_psn = nack ? pi->nack_psn : 0;
		__entry->rtt = 0;
		__entry->held = 0;
		if (meta->stamp_ok) {
			__entry->rtt = meta->t_rx - pi->echo_t1;
			__entry->held = meta->t_tx - pi->echo_t2;
		}
		__entry->ecn = pi->ecn;
		__entry->type = pi->type;
		__entry->nack_code = nack ? pi->nack_code : 0;
		__entry->flow = meta->flow;
		__entry->own = nack ? 0 : pi->own;
		__entry->rx_level = pi->rx_level;
		__entry->hops = pi->hops;
		__entry->data_rx[0] = eack ? pi->data_rx[0] : 0;
		__entry->data_rx[1] = eack ? pi->data_rx[1] : 0;
	),

	TP_printk("cid=%#x peer_cid=%#x type=%s rrbpsn=%u rdbpsn=%u data_rx=%016llx%016llx own=%u nack_code=%u nack_psn=%u flow=%u rx_level=%u ecn=%u hops=%u rtt_ns=%llu held_ns=%llu",
		  __entry->cid, __entry->peer_cid,
		  falcon_show_type(__entry->type), __entry->rrbpsn,
		  __entry->rdbpsn, __entry->data_rx[1], __entry->data_rx[0],
		  __entry->own, __entry->nack_code, __entry->nack_psn,
		  __entry->flow, __entry->rx_level, __entry->ecn,
		  __entry->hops, falcon_trace_ns(__entry->rtt),
		  falcon_trace_ns(__entry->held))
);

#ifndef _FALCON_TRACE_CC
#define _FALCON_TRACE_CC
/**
 * struct falcon_cc_state - congestion control before an event, for falcon_cc
 * @fcwnd:	fabric window of the flow, 11.10
 * @ncwnd:	NIC window, packets
 * @rto_ns:	retransmission time-out
 */
struct falcon_cc_state {
	u32 fcwnd;
	u16 ncwnd;
	u64 rto_ns;
};

static inline void falcon_cc_read(struct falcon_cc_state *cc,
				  const struct falcon_conn *conn, u8 flow)
{
	cc->fcwnd = conn->core.flow[flow].fcwnd;
	cc->ncwnd = conn->core.ncwnd;
	cc->rto_ns = conn->core.rto_ns;
}

static inline bool falcon_cc_changed(const struct falcon_cc_state *old,
				     const struct falcon_conn *conn, u8 flow)
{
	return old->fcwnd != conn->core.flow[flow].fcwnd ||
	       old->ncwnd != conn->core.ncwnd ||
	       old->rto_ns != conn->core.rto_ns;
}

/* The delay that windows are held to: absolute, or above the smallest seen. */
static inline u32 falcon_cc_target(const struct falcon_conn *conn, u8 flow)
{
	const struct falcon_core *c = &conn->core;
	u32 least = falcon_fae_least(c, &c->flow[flow]);

	/* U32_MAX: no delay was measured yet. */
	if (c->cfg.delay_absolute || least == U32_MAX)
		return c->cfg.delay_target;
	return c->cfg.delay_target + least;
}
#endif

/* The Falcon Adaptive Engine answered an event (10.6.2). @old is what was in
 * force before; what is in force now is read from @conn.
 */
TRACE_EVENT(falcon_cc,
	TP_PROTO(const struct falcon_conn *conn, u8 flow,
		 const struct falcon_cc_state *old),

	TP_ARGS(conn, flow, old),

	TP_STRUCT__entry(
		__field(u32, cid)
		__field(u32, peer_cid)
		__field(u32, old_fcwnd)
		__field(u32, fcwnd)
		__field(u32, old_ncwnd)
		__field(u32, ncwnd)
		__field(u64, old_rto_ns)
		__field(u64, rto_ns)
		__field(u64, rtt_ns)
		__field(u64, delay_ns)
		__field(u64, target_ns)
		__field(u64, gap_ns)
		__field(u8, flow)
	),

	TP_fast_assign(
		const struct falcon_flow *fl = &conn->core.flow[flow];

		__entry->cid = conn->cid;
		__entry->peer_cid = conn->core.cfg.peer_cid;
		__entry->old_fcwnd = falcon_trace_milli(old->fcwnd);
		__entry->fcwnd = falcon_trace_milli(fl->fcwnd);
		__entry->old_ncwnd = old->ncwnd;
		__entry->ncwnd = conn->core.ncwnd;
		__entry->old_rto_ns = old->rto_ns;
		__entry->rto_ns = conn->core.rto_ns;
		__entry->rtt_ns = falcon_trace_ns(fl->rtt_state);
		__entry->delay_ns = falcon_trace_ns(fl->delay_state);
		__entry->target_ns =
			falcon_trace_ns(falcon_cc_target(conn, flow));
		__entry->gap_ns = falcon_trace_ns(fl->inter_packet_gap);
		__entry->flow = flow;
	),

	TP_printk("cid=%#x peer_cid=%#x flow=%u fcwnd_milli=%u->%u ncwnd=%u->%u rto_ns=%llu->%llu rtt_ns=%llu delay_ns=%llu target_ns=%llu gap_ns=%llu",
		  __entry->cid, __entry->peer_cid, __entry->flow,
		  __entry->old_fcwnd, __entry->fcwnd, __entry->old_ncwnd,
		  __entry->ncwnd, __entry->old_rto_ns, __entry->rto_ns,
		  __entry->rtt_ns, __entry->delay_ns, __entry->target_ns,
		  __entry->gap_ns)
);

/* The life cycle moved; @err says why where the new state is dead. */
TRACE_EVENT(falcon_conn_state,
	TP_PROTO(const struct falcon_conn *conn, u8 old_state, u8 new_state),

	TP_ARGS(conn, old_state, new_state),

	TP_STRUCT__entry(
		__field(u32, cid)
		__field(u32, peer_cid)
		__field(u8, old_state)
		__field(u8, new_state)
		__field(int, err)
		__array(u8, saddr, 16)
		__array(u8, daddr, 16)
	),

	TP_fast_assign(
		__entry->cid = conn->cid;
		__entry->peer_cid = conn->core.cfg.peer_cid;
		__entry->old_state = old_state;
		__entry->new_state = new_state;
		__entry->err = conn->err;
		memcpy(__entry->saddr, &conn->path.saddr, 16);
		memcpy(__entry->daddr, &conn->path.daddr, 16);
	),

	TP_printk("cid=%#x peer_cid=%#x saddr=%pI6c daddr=%pI6c %s->%s err=%d",
		  __entry->cid, __entry->peer_cid, __entry->saddr,
		  __entry->daddr, falcon_show_state(__entry->old_state),
		  falcon_show_state(__entry->new_state), __entry->err)
);

/* A flow took a new path: PLB after congestion, PRR after repeated RTOs. */
TRACE_EVENT(falcon_relabel,
	TP_PROTO(const struct falcon_conn *conn, u8 flow, u32 old_label),

	TP_ARGS(conn, flow, old_label),

	TP_STRUCT__entry(
		__field(u32, cid)
		__field(u32, peer_cid)
		__field(u32, old_label)
		__field(u32, label)
		__field(u8, flow)
		__field(u8, rto_streak)
	),

	TP_fast_assign(
		__entry->cid = conn->cid;
		__entry->peer_cid = conn->core.cfg.peer_cid;
		__entry->old_label = old_label;
		__entry->label = conn->core.flow[flow].label;
		__entry->flow = flow;
		__entry->rto_streak = conn->core.flow[flow].rto_streak;
	),

	TP_printk("cid=%#x peer_cid=%#x flow=%u label=%#x->%#x rto_streak=%u",
		  __entry->cid, __entry->peer_cid, __entry->flow,
		  __entry->old_label, __entry->label, __entry->rto_streak)
);

#endif /* _FALCON_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace

#include <trace/define_trace.h>
