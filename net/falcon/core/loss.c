// SPDX-License-Identifier: GPL-2.0
/*
 * When is a packet lost? (9.1.4, 9.1.5)
 *
 * Early policies stand in one table, each on or off for a connection: the
 * out-of-order distance of an EACK, its out-of-window notification, RACK on
 * each flow. Behind them are the tail loss probe and, always, the time-out of
 * each packet. A policy only marks: pdl_tx.c retransmits, by the gate.
 *
 * ack.c calls on every acknowledgement, core.c when a timer runs out.
 */
#include <linux/bitops.h>
#include <linux/kernel.h>
#include <linux/minmax.h>
#include "fae.h"
#include "internal.h"
#include "window.h"

#define TLP_MIN_NS	50000u
#define TLP_PROBES	2
#define TLP_MAX_PATIENCE 5
#define TLP_CALM_SHIFT	20		/* ns to ms, nearly */
#define TLP_CALM	1000
#define MAX_BACKOFF	16
#define BURST_NS	FALCON_TX_WIN_MAX /* sent_ns rises through a burst */
#define RACK_MAX_QUARTERS 4
#define RACK_CALM	64		/* RTTs */
#define STAMP_SLACK_NS	1000u		/* time-stamps are in 131 ns */

/* Are losses found early, so that the time-out is the last resort? */
static bool falcon_loss_early(const struct falcon_core *c)
{
	return c->cfg.loss & (FALCON_LOSS_RACK | FALCON_LOSS_TLP);
}

static u64 falcon_rtt(const struct falcon_core *c)
{
	return c->srtt_ns ?: c->rto_ns;
}

/* 9.1.4 recency check: a transmission gets one RTT to be acknowledged. */
static bool falcon_recent(const struct falcon_core *c,
			  const struct falcon_txpkt *p, u64 now_ns)
{
	return p->sent_ns + falcon_rtt(c) >= now_ns;
}

static bool falcon_may_early(const struct falcon_txpkt *p)
{
	return p->state == FALCON_TXPKT_FLIGHT && p->early < FALCON_MAX_EARLY;
}

/*
 * What to report of flows that lost packets early: that they did, and the
 * largest Retransmit Counter among these. It counts time-outs (9.1.1), so it
 * is mostly 0: an early retransmission alone halves no window (10.3.2), delay
 * tells of congestion sooner. "fcwnd *= 1 - max_decrease" is for a first
 * time-out.
 */
struct falcon_loss {
	bool early[FALCON_MAX_FLOWS];
	u8 count[FALCON_MAX_FLOWS];
};

static void falcon_mark(struct falcon_core *c, struct falcon_txpkt *p,
			u8 reason, struct falcon_loss *loss)
{
	p->early++;
	loss->early[p->flow] = true;
	loss->count[p->flow] = max(loss->count[p->flow], p->attempts);
	falcon_pkt_lost(c, p, reason);
}

/*
 * The PSN below which a '0' of the bitmap is a loss: psn_high - ooo_threshold.
 * False if nothing can be: no bits, or no hole below the highest.
 */
static bool falcon_ooo_limit(const struct falcon_core *c,
			     const struct falcon_eack *e, u32 *limit)
{
	u32 len = falcon_eack_len(e), set = 0, i;

	for (i = 0; i < e->words; i++)
		set += hweight64(falcon_eack_rx(e, i));
	if (len == set || len - 1 <= c->cfg.ooo_threshold)
		return false;
	*limit = e->base + len - 1 - c->cfg.ooo_threshold;
	return true;
}

/* Does an EACK show a loss by out-of-order distance? For the FAE event. */
bool falcon_loss_eack_drop(const struct falcon_core *c,
			   const struct falcon_pkt_info *pi)
{
	struct falcon_eack e;
	u32 limit, i;
	u8 win;

	for (win = 0; win < FALCON_NR_WIN; win++) {
		e = falcon_eack_of(pi, win);
		if (!falcon_ooo_limit(c, &e, &limit))
			continue;
		limit -= e.base;
		for (i = 0; 64 * i < limit; i++)
			if (~falcon_eack_rx(&e, i) &
			    ~0ULL >> (64 - min(64U, limit - 64 * i)))
				return true;
	}
	return false;
}

/* 9.1.4 OOO-distance heuristic with recency check */
static void falcon_loss_ooo(struct falcon_core *c,
			    const struct falcon_pkt_info *pi, u64 now_ns,
			    struct falcon_loss *loss)
{
	struct falcon_txpkt *p, *n;
	struct falcon_eack e;
	u32 limit;
	u8 win;

	if (pi->type != FALCON_PKT_EACK)
		return;
	for (win = 0; win < FALCON_NR_WIN; win++) {
		e = falcon_eack_of(pi, win);
		if (!falcon_ooo_limit(c, &e, &limit))
			continue;
		list_for_each_entry_safe(p, n, &c->tx[win].pkts, win_node) {
			if (!falcon_before(p->psn, limit))
				break;
			if (falcon_may_early(p) && !falcon_recent(c, p, now_ns))
				falcon_mark(c, p, FALCON_RETX_OOO, loss);
		}
	}
}

/*
 * 9.1.4 OWN heuristic: of the whole transmit window, inside the bitmap and
 * beyond, what is not received and has not been sent within an RTT.
 */
static void falcon_loss_own(struct falcon_core *c,
			    const struct falcon_pkt_info *pi, u64 now_ns,
			    struct falcon_loss *loss)
{
	struct falcon_txpkt *p, *n;
	u8 win;

	if (pi->type != FALCON_PKT_EACK)
		return;
	for (win = 0; win < FALCON_NR_WIN; win++) {
		u8 bit = win == FALCON_WIN_REQ ? FALCON_OWN_REQUEST :
						 FALCON_OWN_DATA;

		if (!(pi->own & bit))
			continue;
		list_for_each_entry_safe(p, n, &c->tx[win].pkts, win_node)
			if (falcon_may_early(p) && !falcon_recent(c, p, now_ns))
				falcon_mark(c, p, FALCON_RETX_OWN, loss);
	}
}

/*
 * RACK window: a quarter of an RTT of reordering is no loss. A needless
 * retransmission doubles that, up to an RTT; each RACK_CALM RTTs without one
 * take a quarter back. More would hurt where loss comes with the reordering:
 * what follows a packet that is lost leaves the receiver's window.
 */
static u64 falcon_rack_window(const struct falcon_core *c,
			      const struct falcon_flow *f)
{
	return (c->srtt_ns ?: f->rack_rtt_ns) / 4 * f->rack_quarters;
}

static void falcon_rack_widen(struct falcon_core *c, struct falcon_flow *f,
			      u64 now_ns)
{
	f->rack_quarters = min(2 * f->rack_quarters, RACK_MAX_QUARTERS);
	f->rack_wider_ns = now_ns + RACK_CALM * falcon_rtt(c);
}

static void falcon_rack_narrow(const struct falcon_core *c,
			       struct falcon_flow *f, u64 now_ns)
{
	if (f->rack_quarters > 1 && now_ns >= f->rack_wider_ns) {
		f->rack_quarters--;
		f->rack_wider_ns = now_ns + RACK_CALM * falcon_rtt(c);
	}
}

/*
 * RACK, one flow: what was sent before the newest packet delivered, and has
 * had that packet's round trip and the window since, is lost. The rest of what
 * was sent before it comes back when the RACK timer runs out.
 */
static void falcon_rack_flow(struct falcon_core *c, struct falcon_flow *f,
			     u64 now_ns, struct falcon_loss *loss)
{
	struct falcon_txpkt *p, *n;
	u64 grace;

	falcon_rack_narrow(c, f, now_ns);
	grace = f->rack_rtt_ns + falcon_rack_window(c, f);
	f->rack_due_ns = FALCON_NO_TIMER;
	list_for_each_entry_safe(p, n, &f->sent, time_node) {
		if (p->sent_ns >= f->rack_sent_ns)
			break;
		if (p->sent_ns + grace > now_ns) {
			f->rack_due_ns = p->sent_ns + grace;
			break;
		}
		if (falcon_may_early(p))
			falcon_mark(c, p, FALCON_RETX_RACK, loss);
	}
}

static void falcon_loss_rack(struct falcon_core *c,
			     const struct falcon_pkt_info *pi, u64 now_ns,
			     struct falcon_loss *loss)
{
	u8 i;

	if (!c->progress)
		return;
	for (i = 0; i < c->cfg.nr_flows; i++)
		falcon_rack_flow(c, &c->flow[i], now_ns, loss);
}

static void falcon_rack_timer(struct falcon_core *c, u64 now_ns,
			      struct falcon_loss *loss)
{
	u8 i;

	for (i = 0; i < c->cfg.nr_flows; i++)
		if (c->flow[i].rack_due_ns <= now_ns)
			falcon_rack_flow(c, &c->flow[i], now_ns, loss);
}

static u64 falcon_rack_due(const struct falcon_core *c)
{
	u64 due = FALCON_NO_TIMER;
	u8 i;

	for (i = 0; i < c->cfg.nr_flows; i++)
		due = min(due, c->flow[i].rack_due_ns);
	return due;
}

/* The first packet not known to be received, of the window that sent it first */
static struct falcon_txpkt *falcon_tlp_probe(struct falcon_core *c)
{
	struct falcon_txpkt *probe = NULL, *p;
	u8 win;

	for (win = 0; win < FALCON_NR_WIN; win++)
		list_for_each_entry(p, &c->tx[win].pkts, win_node)
			if (p->state == FALCON_TXPKT_FLIGHT) {
				if (!probe || p->sent_ns < probe->sent_ns)
					probe = p;
				break;
			}
	return probe;
}

/*
 * Tail loss probe: silence after the last packets. The first unreceived PSN
 * goes again, to draw an ACK that tells what is missing. Once more after twice
 * the time, as the probe may be lost like any packet; then it is the time-out's
 * turn, until something is delivered. A probe is no sign of congestion: the FAE
 * does not hear of it.
 */
static void falcon_tlp_timer(struct falcon_core *c, u64 now_ns,
			     struct falcon_loss *loss)
{
	struct falcon_txpkt *p;

	if (!c->nr_flight || c->tlp_due_ns > now_ns)
		return;
	c->tlp_due_ns = FALCON_NO_TIMER;
	c->tlp_probes++;
	p = falcon_tlp_probe(c);
	if (!p || !falcon_may_early(p))
		return;
	p->early++;
	falcon_pkt_lost(c, p, FALCON_RETX_TLP);
}

static u64 falcon_tlp_due(const struct falcon_core *c)
{
	return c->nr_flight ? c->tlp_due_ns : FALCON_NO_TIMER;
}

/* By when an answer is due: two RTTs, or more if they vary (RFC 6298). */
static u64 falcon_answer_time(const struct falcon_core *c)
{
	return c->srtt_ns + max(c->srtt_ns, 4ULL * c->rttvar_ns);
}

/*
 * That time, what the peer may coalesce, and what the machines may be late by;
 * before an RTT is known, half of the time-out that the CM expects to do. The
 * RTT leaves out what the peer holds packets for, in a NIC behind a slow bus or
 * in its ULP: that probes are needless tells of it, and doubles the wait.
 */
static u64 falcon_tlp_wait(const struct falcon_core *c)
{
	u64 wait;

	if (!c->srtt_ns)
		return falcon_rto(c, 0) / 2;
	wait = max_t(u64, TLP_MIN_NS,
		     falcon_answer_time(c) + c->cfg.ack_coalesce_ns);
	wait += falcon_answer_wait(c);
	return (wait + c->cfg.ack_slack_ns) << c->tlp_patience;
}

/*
 * Of @p that is delivered. A probe that was needed: silence does mean loss. A
 * second without needless ones takes back one doubling.
 */
static void falcon_tlp_learn(struct falcon_core *c,
			     const struct falcon_txpkt *p, bool spurious,
			     u64 now_ns)
{
	if (!(p->flags & FALCON_TXF_RETX) || p->reason != FALCON_RETX_TLP)
		return;
	if (!spurious)
		c->tlp_patience = 0;
	else if (c->tlp_patience < TLP_MAX_PATIENCE)
		c->tlp_patience++;
	c->tlp_calm = (u32)(now_ns >> TLP_CALM_SHIFT) + TLP_CALM;
}

static void falcon_tlp_forget(struct falcon_core *c, u64 now_ns)
{
	u32 now = now_ns >> TLP_CALM_SHIFT;

	if (!c->tlp_patience || falcon_before(now, c->tlp_calm))
		return;
	c->tlp_patience--;
	c->tlp_calm = now + TLP_CALM;
}

/* What waits for its departure, under pacing, cannot be answered yet. */
static void falcon_tlp_arm(struct falcon_core *c, u64 now_ns)
{
	u64 from = now_ns;
	u8 i;

	if (!(c->cfg.loss & FALCON_LOSS_TLP) || c->tlp_probes >= TLP_PROBES)
		return;
	falcon_tlp_forget(c, now_ns);
	for (i = 0; i < c->cfg.nr_flows; i++)
		from = max(from, c->flow[i].last_depart_ns);
	c->tlp_due_ns = from + (falcon_tlp_wait(c) << c->tlp_probes);
}

/*
 * The early policies. on_ack runs on every acknowledgement, @pi is what
 * carried it; on_timer when due() has passed.
 */
static const struct falcon_loss_policy {
	const char *name;
	u8 flag;
	void (*on_ack)(struct falcon_core *c, const struct falcon_pkt_info *pi,
		       u64 now_ns, struct falcon_loss *loss);
	void (*on_timer)(struct falcon_core *c, u64 now_ns,
			 struct falcon_loss *loss);
	u64 (*due)(const struct falcon_core *c);
} falcon_loss_policies[] = {
	{ "ooo", FALCON_LOSS_OOO, falcon_loss_ooo, NULL, NULL },
	{ "own", FALCON_LOSS_OWN, falcon_loss_own, NULL, NULL },
	{ "rack", FALCON_LOSS_RACK, falcon_loss_rack, falcon_rack_timer,
	  falcon_rack_due },
	{ "tlp", FALCON_LOSS_TLP, NULL, falcon_tlp_timer, falcon_tlp_due },
};

static void falcon_loss_report(struct falcon_core *c,
			       const struct falcon_loss *loss, u64 now_ns)
{
	u8 i;

	for (i = 0; i < c->cfg.nr_flows; i++)
		if (loss->early[i])
			falcon_fae_retx(c, i, FALCON_FAE_RETX_EARLY,
					loss->count[i], now_ns);
}

/* An acknowledgement was processed; @pi carried it, alone or on a packet. */
void falcon_loss_ack(struct falcon_core *c, const struct falcon_pkt_info *pi,
		     u64 now_ns)
{
	const struct falcon_loss_policy *pol;
	struct falcon_loss loss = { 0 };

	for (pol = falcon_loss_policies;
	     pol < falcon_loss_policies + ARRAY_SIZE(falcon_loss_policies);
	     pol++)
		if (c->cfg.loss & pol->flag && pol->on_ack)
			pol->on_ack(c, pi, now_ns, &loss);

	if (c->progress) {
		c->progress = false;
		c->tlp_probes = 0;
		falcon_tlp_arm(c, now_ns);
	}
	falcon_loss_report(c, &loss, now_ns);
}

/* Are requests lost, or retransmitted and not acknowledged? */
bool falcon_loss_recovering(const struct falcon_core *c)
{
	return c->tx[FALCON_WIN_REQ].orrc || c->tx[FALCON_WIN_DATA].orrc ||
	       !list_empty(&c->lost[FALCON_CLASS_PULL_REQ]) ||
	       !list_empty(&c->lost[FALCON_CLASS_PUSH_DATA]);
}

void falcon_loss_sent(struct falcon_core *c, u64 now_ns)
{
	falcon_tlp_arm(c, now_ns);
}

/*
 * Did the original arrive, and not the retransmission? So if that left less
 * than any round trip ago, or after the newest packet that the peer had when
 * it acknowledged this one.
 */
static bool falcon_was_spurious(const struct falcon_core *c,
				const struct falcon_txpkt *p, u64 rtt)
{
	if (!(p->flags & FALCON_TXF_RETX))
		return false;
	if (c->min_rtt_ns != FALCON_NO_TIMER &&
	    rtt + STAMP_SLACK_NS < c->min_rtt_ns)
		return true;
	return c->echo_sent_ns &&
	       c->echo_sent_ns + STAMP_SLACK_NS < p->sent_ns;
}

/*
 * A packet in flight turned out to be delivered. A needless retransmission
 * says nothing about the order of transmissions, but something about how much
 * the network reorders.
 */
void falcon_loss_delivered(struct falcon_core *c, struct falcon_txpkt *p,
			   u64 now_ns)
{
	struct falcon_flow *f = &c->flow[p->flow];
	u64 rtt = now_ns > p->sent_ns ? now_ns - p->sent_ns : 0;
	bool spurious = falcon_was_spurious(c, p, rtt);

	c->progress = true;
	f->progress_ns = now_ns;
	f->rto_streak = 0;
	falcon_tlp_learn(c, p, spurious, now_ns);
	if (spurious) {
		c->stats.spurious++;
		falcon_rack_widen(c, f, now_ns);
		return;
	}
	if (p->sent_ns > f->rack_sent_ns) {
		f->rack_sent_ns = p->sent_ns;
		f->rack_rtt_ns = min_t(u64, rtt, U32_MAX);
	}
}

/*
 * Upper bound of RTO: what was set, but no more than half of the time budget,
 * so that the peer is asked within it and has time to answer.
 */
static u64 falcon_rto_max(const struct falcon_core *c)
{
	u64 half = c->cfg.user_timeout_ns / 2;

	if (!half)
		return c->cfg.max_rto_ns;
	return min(c->cfg.max_rto_ns, max(half, c->cfg.min_rto_ns));
}

/*
 * RTO in force, doubled @backoff times, within its bounds. 10.3.2 knows no
 * variance: where losses are found early, a time-out leaves the probe of the
 * tail its time, and the answer as much.
 */
u64 falcon_rto(const struct falcon_core *c, u8 backoff)
{
	u64 rto = max(c->rto_ns, c->cfg.min_rto_ns);

	if (c->srtt_ns && falcon_loss_early(c))
		rto = max(rto, 2 * falcon_tlp_wait(c));
	rto <<= min_t(u8, backoff, MAX_BACKOFF);
	return min(rto, falcon_rto_max(c));
}

/*
 * Back-off is for a network that carries nothing. While others of the connection
 * deliver, it is this flow's path that is dead, and what was lost there takes
 * another.
 */
static u8 falcon_backoff(const struct falcon_core *c,
			 const struct falcon_flow *f)
{
	u8 i;

	for (i = 0; i < c->cfg.nr_flows; i++)
		if (c->flow[i].progress_ns > f->rto_epoch_ns)
			return 0;
	return f->rto_streak;
}

/*
 * Time-out of the oldest packet in flight on a flow. Each RTO that fires backs
 * off once for what is sent afterwards; what was sent before keeps its timer,
 * so in transmission order is the order of expiry.
 *
 * 9.1.1 starts a packet's timer when it is transmitted. A queue that becomes
 * longer delays all that is in it, and would time it out packet by packet while
 * acknowledgements come in; where losses are found early, the timer starts
 * again with each delivery on the flow, as TCP's does (RFC 6298, 5.3).
 */
static u64 falcon_flow_rto_due(const struct falcon_core *c,
			       const struct falcon_flow *f)
{
	const struct falcon_txpkt *p;
	u8 backoff = falcon_backoff(c, f);
	u64 from;

	if (list_empty(&f->sent))
		return FALCON_NO_TIMER;
	p = list_first_entry(&f->sent, struct falcon_txpkt, time_node);
	if (backoff && p->sent_ns < f->rto_epoch_ns)
		backoff--;
	from = p->sent_ns;
	if (falcon_loss_early(c))
		from = max(from, f->progress_ns);
	return from + falcon_rto(c, backoff);
}

/*
 * Does this time-out bring the packet nearer to Max Retransmit Attempts? Not
 * if the peer lives and has it, has answered that it had no room, or cannot
 * have room because the PSN is beyond its window.
 */
static bool falcon_attempt_counts(const struct falcon_core *c,
				  const struct falcon_txpkt *p)
{
	u8 win = falcon_type_win(p->orig_type);

	if (c->last_rx_ns < p->sent_ns)
		return true;
	if (p->state == FALCON_TXPKT_RCVD || p->flags & FALCON_TXF_NO_RESOURCE)
		return false;
	return p->psn - c->tx[win].base < falcon_win_max(&c->cfg, win);
}

/*
 * Section 11: below Max Retransmit Attempts the packet goes again; at the
 * maximum a resync takes its place; a resync at the maximum is the end.
 *
 * Return: the Retransmit Counter, with this time-out.
 */
static u8 falcon_timed_out(struct falcon_core *c, struct falcon_txpkt *p)
{
	u8 attempts = p->attempts;

	if (!falcon_attempt_counts(c, p)) {
		falcon_pkt_lost(c, p, FALCON_RETX_RTO);
	} else if (attempts < c->cfg.max_attempts) {
		p->attempts = ++attempts;
		falcon_pkt_lost(c, p, FALCON_RETX_RTO);
	} else if (p->type == FALCON_PKT_RESYNC) {
		c->dying = FALCON_CMPL_DEAD_CONN;
	} else {
		falcon_pkt_resync(c, p, FALCON_RESYNC_EXHAUSTED);
	}
	return attempts;
}

static void falcon_flow_rto(struct falcon_core *c, u8 flow, u64 now_ns)
{
	struct falcon_flow *f = &c->flow[flow];
	struct falcon_txpkt *p;
	u8 count = 0;

	if (falcon_flow_rto_due(c, f) > now_ns)
		return;
	while (!c->dying && falcon_flow_rto_due(c, f) <= now_ns + BURST_NS) {
		p = list_first_entry(&f->sent, struct falcon_txpkt, time_node);
		if (p->sent_ns >= f->rto_epoch_ns || !f->rto_streak) {
			f->rto_epoch_ns = now_ns;
			if (f->rto_streak < U8_MAX)
				f->rto_streak++;
		}
		count = max(count, falcon_timed_out(c, p));
	}
	falcon_fae_retx(c, flow, FALCON_FAE_RETX_RTO,
			max(count, f->rto_streak), now_ns);
}

static u64 falcon_rcvd_due(const struct falcon_txwin *w)
{
	if (list_empty(&w->rcvd_pkts))
		return FALCON_NO_TIMER;
	return list_first_entry(&w->rcvd_pkts, struct falcon_txpkt,
				time_node)->due_ns;
}

/*
 * Time-out of packets received and not acknowledged: an ACK or NACK may be
 * lost, or the reader is slow. Only the oldest of the window goes again, as a
 * probe; the others do if no EACK confirms them within one more time-out.
 */
static void falcon_rcvd_timer(struct falcon_core *c, u8 win, u64 now_ns)
{
	struct falcon_txwin *w = &c->tx[win];
	struct falcon_txpkt *p;
	u64 due;

	if (falcon_rcvd_due(w) > now_ns)
		return;
	if (w->probe_backoff < MAX_BACKOFF)
		w->probe_backoff++;
	due = now_ns + falcon_rto(c, w->probe_backoff);
	while (!c->dying && falcon_rcvd_due(w) <= now_ns) {
		p = list_first_entry(&w->rcvd_pkts, struct falcon_txpkt,
				     time_node);
		if (p->flags & FALCON_TXF_STALE ||
		    list_first_entry(&w->pkts, struct falcon_txpkt,
				     win_node) == p) {
			falcon_timed_out(c, p);
			continue;
		}
		p->flags |= FALCON_TXF_STALE;
		p->due_ns = due;
		falcon_txwin_note_rcvd(w, p->psn, false);
		list_move_tail(&p->time_node, &w->rcvd_pkts);
	}
}

/*
 * The time budget: nothing heard for this long while packets were in flight,
 * and the peer is dead. It runs from its last packet, or from the transmission
 * that ended a time with nothing to answer, when its silence meant nothing.
 */
static u64 falcon_silence_due(const struct falcon_core *c)
{
	u64 from = c->silent_ns;

	if (from == FALCON_NO_TIMER && c->nr_flight)
		from = c->last_rx_ns;
	if (!c->cfg.user_timeout_ns || from == FALCON_NO_TIMER)
		return FALCON_NO_TIMER;
	return from + c->cfg.user_timeout_ns;
}

void falcon_loss_timer(struct falcon_core *c, u64 now_ns)
{
	const struct falcon_loss_policy *pol;
	struct falcon_loss loss = { 0 };
	u8 i;

	if (falcon_silence_due(c) <= now_ns)
		c->dying = FALCON_CMPL_DEAD_CONN;
	for (pol = falcon_loss_policies;
	     pol < falcon_loss_policies + ARRAY_SIZE(falcon_loss_policies);
	     pol++)
		if (c->cfg.loss & pol->flag && pol->on_timer)
			pol->on_timer(c, now_ns, &loss);
	falcon_loss_report(c, &loss, now_ns);

	for (i = 0; i < c->cfg.nr_flows; i++)
		falcon_flow_rto(c, i, now_ns);
	for (i = 0; i < FALCON_NR_WIN; i++)
		falcon_rcvd_timer(c, i, now_ns);
}

u64 falcon_loss_due(const struct falcon_core *c)
{
	const struct falcon_loss_policy *pol;
	u64 due = falcon_silence_due(c);
	u8 i;

	for (pol = falcon_loss_policies;
	     pol < falcon_loss_policies + ARRAY_SIZE(falcon_loss_policies);
	     pol++)
		if (c->cfg.loss & pol->flag && pol->due)
			due = min(due, pol->due(c));
	for (i = 0; i < c->cfg.nr_flows; i++)
		due = min(due, falcon_flow_rto_due(c, &c->flow[i]));
	for (i = 0; i < FALCON_NR_WIN; i++)
		due = min(due, falcon_rcvd_due(&c->tx[i]));
	return due;
}
