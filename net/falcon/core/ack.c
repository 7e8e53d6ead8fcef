// SPDX-License-Identifier: GPL-2.0
/*
 * Acknowledgements, both ways: when one is sent, what it says (9.1.6, 9.1.7),
 * and what a received one does to the transmitter's windows (9.2.3, 9.2.4).
 *
 * Nothing moves before a received acknowledgement is known to be possible: its
 * bases and bitmaps must lie within what was sent, and neither base may be
 * older than ours.
 */
#include <linux/bits.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include "fae.h"
#include "internal.h"
#include "window.h"
#include "wire.h"

#define MAX_RTT_UNITS	BIT(25)	/* 4.4 s; a longer one is no sample */
#define ECN_MASK	0x3fffu

/* ------------------------------------------------------------- generation */

/*
 * In ping-pong the answer is on its way. The wait for it is longer than the timer
 * that runs since the last turn, which so need not be moved for each packet.
 */
static u64 falcon_ack_wait(const struct falcon_core *c)
{
	return c->cfg.ack_coalesce_ns + falcon_answer_wait(c);
}

static void falcon_ack_start_timer(struct falcon_core *c, u64 now_ns)
{
	if (c->ack_due_ns == FALCON_NO_TIMER)
		c->ack_due_ns = now_ns + falcon_ack_wait(c);
}

static void falcon_ack_stop_timer(struct falcon_core *c)
{
	c->ack_due_ns = FALCON_NO_TIMER;
	c->ack_pending = 0;
}

static void falcon_ack_count(struct falcon_core *c, u64 now_ns)
{
	falcon_ack_start_timer(c, now_ns);
	if (++c->ack_pending >= c->cfg.ack_coalesce_pkts)
		c->ack_now = true;
}

/* A packet fell into the window; its acknowledgement is the ULP's to give. */
void falcon_ack_received(struct falcon_core *c, u64 now_ns)
{
	falcon_ack_start_timer(c, now_ns);
}

/* A packet is acknowledged; @ar: it had the AR bit (9.1.6). */
void falcon_ack_acknowledged(struct falcon_core *c, bool ar, u64 now_ns)
{
	falcon_ack_count(c, now_ns);
	if (ar)
		c->ack_now = true;
}

/*
 * 9.2.2.4: a packet discarded triggers coalescing, its AR bit is ignored. The
 * sender seems not to know what we have: an EACK tells.
 */
void falcon_ack_discarded(struct falcon_core *c, u64 now_ns)
{
	c->ack_extended = true;
	falcon_ack_count(c, now_ns);
}

static bool falcon_own_set(const struct falcon_core *c)
{
	return c->rx[FALCON_WIN_REQ].own || c->rx[FALCON_WIN_DATA].own;
}

/*
 * 9.1.6: bases go on every outgoing packet. If they say all there is to say,
 * no ACK needs to follow, unless the packet departs after it would be due.
 */
void falcon_ack_piggyback(struct falcon_core *c, struct falcon_pkt_info *pi,
			  u64 depart_ns)
{
	const struct falcon_rxwin *req = &c->rx[FALCON_WIN_REQ];
	const struct falcon_rxwin *data = &c->rx[FALCON_WIN_DATA];

	pi->rbpsn[FALCON_WIN_REQ] = req->base;
	pi->rbpsn[FALCON_WIN_DATA] = data->base;
	if (depart_ns <= c->ack_due_ns && !req->nr_rx && !data->nr_rx &&
	    !falcon_own_set(c))
		falcon_ack_stop_timer(c);
}

/* 9.1.6: BACK or EACK. To send an EACK is always legitimate. */
static bool falcon_eack_needed(const struct falcon_core *c)
{
	const struct falcon_rxwin *data = &c->rx[FALCON_WIN_DATA];

	if (c->rx[FALCON_WIN_REQ].nr_rx || data->nr_ack || falcon_own_set(c))
		return true;
	if (falcon_rxwin_has_hole(data))
		return true;
	return data->nr_rx &&
	       (c->ack_extended || c->cfg.features & FALCON_F_EACK_ALWAYS);
}

/* What BACK, EACK and NACK share */
static void falcon_ack_common(struct falcon_core *c, u8 type,
			      struct falcon_pkt_info *pi)
{
	pi->type = type;
	pi->cid = c->cfg.peer_cid;
	pi->rbpsn[FALCON_WIN_REQ] = c->rx[FALCON_WIN_REQ].base;
	pi->rbpsn[FALCON_WIN_DATA] = c->rx[FALCON_WIN_DATA].base;
	pi->echo_t1 = c->ack_t1;
	pi->echo_t2 = c->ack_t2;
	pi->hops = c->ack_hops;
	pi->rx_level = max(c->rx_level, falcon_res_level(c->res));
	pi->ecn = c->ecn_count;
	pi->cc_metadata = c->cc_metadata;
	pi->own = 0;
}

static void falcon_ack_bitmap(u64 *bits, u32 words, const u64 *ring, u32 base)
{
	u32 i;

	for (i = 0; i < words; i++)
		bits[i] = falcon_ring_extract(ring, FALCON_RX_WIN_MAX,
					      base + 64 * i);
}

static void falcon_ack_extend(struct falcon_core *c, struct falcon_pkt_info *pi)
{
	struct falcon_rxwin *req = &c->rx[FALCON_WIN_REQ];
	struct falcon_rxwin *data = &c->rx[FALCON_WIN_DATA];
	u32 words = 1 << c->cfg.win_shift;

	pi->win_shift = c->cfg.win_shift;
	falcon_ack_bitmap(pi->req_bits, words, req->rx, req->base);
	falcon_ack_bitmap(pi->data_rx, 2 * words, data->rx, data->base);
	falcon_ack_bitmap(pi->data_ack, 2 * words, data->ack, data->base);
	if (req->own)
		pi->own |= FALCON_OWN_REQUEST;
	if (data->own)
		pi->own |= FALCON_OWN_DATA;
	req->own = false;
	data->own = false;
}

static void falcon_ack_tx(struct falcon_core *c,
			  const struct falcon_pkt_info *pi,
			  struct falcon_tx *tx)
{
	tx->hdr_len = falcon_wire_build(pi, tx->hdr);
	tx->type = pi->type;
	tx->flow = c->ack_flow;
	tx->retx = false;
	tx->reason = 0;
	tx->len = 0;
	tx->psn = 0;
	tx->rsn = 0;
	tx->payload = NULL;
	tx->depart_ns = 0;
}

/* The ACK goes back on the flow of the packet whose time-stamps it echoes. */
void falcon_ack_build(struct falcon_core *c, struct falcon_tx *tx)
{
	struct falcon_pkt_info pi;

	if (falcon_eack_needed(c)) {
		falcon_ack_common(c, FALCON_PKT_EACK, &pi);
		falcon_ack_extend(c, &pi);
		c->stats.tx_eacks++;
	} else {
		falcon_ack_common(c, FALCON_PKT_BACK, &pi);
		c->stats.tx_acks++;
	}
	falcon_ack_tx(c, &pi, tx);
	c->ack_now = false;
	c->ack_extended = false;
	falcon_ack_stop_timer(c);
}

/*
 * A NACK to send. If too many wait already it is lost like one that the
 * network loses: the packet comes again, and is NACKed again.
 */
void falcon_nack_queue(struct falcon_core *c, u8 win, u32 psn, u8 code,
		       u8 rnr_timeout, u8 ulp_code)
{
	struct falcon_nack_ev *ev;

	if (c->nr_nacks == FALCON_NACK_QUEUE)
		return;
	ev = &c->nack[c->nr_nacks++];
	ev->win = win;
	ev->psn = psn;
	ev->code = code;
	ev->rnr_timeout = rnr_timeout;
	ev->ulp_code = ulp_code;
}

void falcon_nack_build(struct falcon_core *c, struct falcon_tx *tx)
{
	const struct falcon_nack_ev *ev = &c->nack[0];
	struct falcon_pkt_info pi;
	u8 i;

	falcon_ack_common(c, FALCON_PKT_NACK, &pi);
	pi.nack_psn = ev->psn;
	pi.nack_win = ev->win;
	pi.nack_code = ev->code;
	pi.rnr_timeout = ev->rnr_timeout;
	pi.ulp_code = ev->ulp_code;
	falcon_ack_tx(c, &pi, tx);
	tx->psn = ev->psn;
	c->stats.tx_nacks++;

	c->nr_nacks--;
	for (i = 0; i < c->nr_nacks; i++)
		c->nack[i] = c->nack[i + 1];
}

/* -------------------------------------------------------------- reception */

/* A valid packet of the peer: it is not silent. */
static void falcon_ack_alive(struct falcon_core *c, u64 now_ns)
{
	c->last_rx_ns = now_ns;
	c->silent_ns = FALCON_NO_TIMER;
}

static bool falcon_base_beyond(const struct falcon_txwin *w, u32 rbpsn)
{
	return !falcon_before(rbpsn, w->base) && falcon_before(w->next, rbpsn);
}

/* A base beyond what was sent, or 2^31 away and so on either side of it */
static bool falcon_bases_beyond(const struct falcon_core *c,
				const struct falcon_pkt_info *pi)
{
	return falcon_base_beyond(&c->tx[0], pi->rbpsn[0]) ||
	       falcon_base_beyond(&c->tx[1], pi->rbpsn[1]);
}

static bool falcon_bases_stale(const struct falcon_core *c,
			       const struct falcon_pkt_info *pi)
{
	return falcon_before(pi->rbpsn[0], c->tx[0].base) ||
	       falcon_before(pi->rbpsn[1], c->tx[1].base);
}

/* The oldest PSN not acknowledged is that of the first packet kept. */
static void falcon_ack_settle(struct falcon_txwin *w)
{
	const struct falcon_txpkt *p;

	p = list_first_entry_or_null(&w->pkts, struct falcon_txpkt, win_node);
	falcon_txwin_advance(w, p ? p->psn : w->next);
}

static void falcon_ack_base(struct falcon_core *c, u8 win, u32 rbpsn,
			    u64 now_ns)
{
	struct falcon_txwin *w = &c->tx[win];
	struct falcon_txpkt *p;

	if (!falcon_before(w->base, rbpsn))
		return;
	for (;;) {
		p = list_first_entry_or_null(&w->pkts, struct falcon_txpkt,
					     win_node);
		if (!p || !falcon_before(p->psn, rbpsn))
			break;
		falcon_pkt_acked(c, p, now_ns);
	}
	falcon_ack_settle(w);
}

/* One packet is known to be acknowledged by other means than an ACK. */
void falcon_ack_one(struct falcon_core *c, struct falcon_txpkt *p, u64 now_ns)
{
	struct falcon_txwin *w = &c->tx[falcon_type_win(p->orig_type)];

	falcon_txwin_note_acked(w, p->psn);
	falcon_pkt_acked(c, p, now_ns);
	falcon_ack_settle(w);
}

/*
 * Bases piggybacked on a reliable packet. One that is merely stale is passed
 * over: the packet itself may still be good.
 *
 * Return: false if they are beyond what was sent.
 */
bool falcon_ack_bases(struct falcon_core *c, const struct falcon_pkt_info *pi,
		      u64 now_ns)
{
	u8 win;

	if (falcon_bases_beyond(c, pi)) {
		c->stats.rx_bad_ack++;
		return false;
	}
	falcon_ack_alive(c, now_ns);
	for (win = 0; win < FALCON_NR_WIN; win++)
		falcon_ack_base(c, win, pi->rbpsn[win], now_ns);
	if (c->progress)
		falcon_loss_ack(c, pi, now_ns);
	return true;
}

/* Bitmaps of another width than agreed, or beyond what was sent */
static bool falcon_eack_bad(const struct falcon_core *c,
			    const struct falcon_pkt_info *pi)
{
	struct falcon_eack e;
	u8 win;

	if (pi->type != FALCON_PKT_EACK)
		return false;
	if (pi->win_shift != c->cfg.win_shift)
		return true;
	for (win = 0; win < FALCON_NR_WIN; win++) {
		e = falcon_eack_of(pi, win);
		if (falcon_eack_len(&e) > c->tx[win].next - e.base)
			return true;
	}
	return false;
}

/* What 64 bits of an EACK from @psn on say that is not known yet */
struct falcon_eack_news {
	u64 ack;
	u64 rx;
};

static bool falcon_eack_news(const struct falcon_txwin *w,
			     const struct falcon_eack *e, u32 psn,
			     struct falcon_eack_news *news)
{
	u64 acked = falcon_ring_extract(w->acked, FALCON_RX_WIN_MAX, psn);
	u64 rcvd = falcon_ring_extract(w->rcvd, FALCON_RX_WIN_MAX, psn);

	news->ack = falcon_eack_bits(e, e->ack, psn) & ~acked;
	news->rx = falcon_eack_bits(e, e->rx, psn) & ~acked & ~rcvd;
	return news->ack | news->rx;
}

/* 9.2.3: the bitmaps are ORed into ours; what is new in them is acted on. */
static void falcon_eack_win(struct falcon_core *c,
			    const struct falcon_pkt_info *pi, u8 win,
			    u64 now_ns)
{
	struct falcon_eack_news news[FALCON_RX_WIN_MAX / 64];
	struct falcon_eack e = falcon_eack_of(pi, win);
	struct falcon_txwin *w = &c->tx[win];
	struct falcon_txpkt *p, *n;
	u32 words = 0, off, i;

	for (i = 0; i < e.words; i++)
		if (falcon_eack_news(w, &e, w->base + 64 * i, &news[i]))
			words = i + 1;
	if (!words)
		return;

	list_for_each_entry_safe(p, n, &w->pkts, win_node) {
		off = p->psn - w->base;
		if (off >= 64 * words)
			break;
		if (news[off / 64].ack & falcon_ring_mask(off))
			falcon_pkt_acked(c, p, now_ns);
		else if (news[off / 64].rx & falcon_ring_mask(off))
			falcon_pkt_rcvd(c, p, now_ns);
	}
	for (i = 0; i < words; i++)
		falcon_ring_or(w->acked, FALCON_RX_WIN_MAX, w->base + 64 * i,
			       news[i].ack);
	w->noted = true;
	falcon_ack_settle(w);
}

/* Averages move by 1/8, their deviation by 1/4, as in RFC 6298. */
static void falcon_rtt_average(struct falcon_core *c, u64 rtt)
{
	u64 off = rtt > c->srtt_ns ? rtt - c->srtt_ns : c->srtt_ns - rtt;

	if (c->srtt_ns) {
		off = c->rttvar_ns - c->rttvar_ns / 4 + off / 4;
		c->rttvar_ns = min_t(u64, off, U32_MAX);
		c->srtt_ns = c->srtt_ns - c->srtt_ns / 8 + rtt / 8;
	} else {
		c->srtt_ns = rtt;
		c->rttvar_ns = rtt / 2;
	}
	c->min_rtt_ns = min(c->min_rtt_ns, rtt);
}

/*
 * 9.2.3: RTT sample from t1 and the ACK's receive time.
 * The receiver's own time, t3 - t2, counts as far as coalescing explains it: a
 * ULP that acknowledges late is no property of the path.
 */
static void falcon_ack_rtt(struct falcon_core *c,
			   const struct falcon_pkt_info *pi,
			   const struct falcon_rx_meta *meta)
{
	u32 units = meta->t_rx - pi->echo_t1;
	u32 held = meta->t_tx - pi->echo_t2;
	u64 rtt, held_ns;

	c->echo_sent_ns = 0;
	if (!meta->stamp_ok || !units || units > MAX_RTT_UNITS || held >= units)
		return;
	rtt = falcon_units_to_ns(units);
	held_ns = falcon_units_to_ns(held);
	c->echo_sent_ns = meta->now_ns - rtt;
	if (held_ns > c->cfg.ack_coalesce_ns)
		rtt -= held_ns - c->cfg.ack_coalesce_ns;
	falcon_rtt_average(c, rtt);
	c->stats.rtt_samples++;
}

/*
 * What an acknowledgement says must lie within what was sent, or nothing of it
 * is believed.
 */
static bool falcon_ack_valid(struct falcon_core *c,
			     const struct falcon_pkt_info *pi, u64 now_ns)
{
	if (falcon_bases_beyond(c, pi) || falcon_eack_bad(c, pi) ||
	    (pi->type == FALCON_PKT_NACK &&
	     !falcon_before(pi->nack_psn, c->tx[pi->nack_win].next))) {
		c->stats.rx_bad_ack++;
		return false;
	}
	falcon_ack_alive(c, now_ns);
	return true;
}

/*
 * 9.2.3, 9.2.4: one with a base smaller than ours is discarded. Among several
 * flows it may merely have taken the slower path: no window moves, but its
 * time-stamps are still a sample of that path.
 */
static bool falcon_ack_discard(struct falcon_core *c,
			       const struct falcon_pkt_info *pi,
			       const struct falcon_rx_meta *meta)
{
	if (!falcon_bases_stale(c, pi))
		return false;
	c->stats.rx_bad_ack++;
	if (c->cfg.nr_flows > 1 && pi->type != FALCON_PKT_NACK)
		falcon_fae_ack(c, pi, meta, false);
	return true;
}

/* A BACK or EACK (9.2.3) */
void falcon_ack_rx(struct falcon_core *c, const struct falcon_pkt_info *pi,
		   const struct falcon_rx_meta *meta)
{
	bool eack = pi->type == FALCON_PKT_EACK;
	u64 now_ns = meta->now_ns;
	u8 win;

	if (eack)
		c->stats.rx_eacks++;
	else
		c->stats.rx_acks++;
	if (!falcon_ack_valid(c, pi, now_ns) || falcon_ack_discard(c, pi, meta))
		return;

	/* Nobody asked for it, and the peer had no data to send it with. */
	if (!c->ar_sent)
		c->turns = 0;
	falcon_ack_rtt(c, pi, meta);
	for (win = 0; win < FALCON_NR_WIN; win++) {
		falcon_ack_base(c, win, pi->rbpsn[win], now_ns);
		if (eack)
			falcon_eack_win(c, pi, win, now_ns);
	}
	c->echo_sent_ns = 0;
	falcon_loss_ack(c, pi, now_ns);
	falcon_fae_ack(c, pi, meta, eack && falcon_loss_eack_drop(c, pi));
}

/*
 * Is it the target's ULP that does not take this push? On an ordered connection
 * only if it is the oldest: the target answers alike what follows (8.5.3.4).
 */
static bool falcon_rnr_by_ulp(const struct falcon_core *c,
			      const struct falcon_txn *txn)
{
	const struct falcon_txn *oldest;

	if (!falcon_ordered(c))
		return true;
	list_for_each_entry(oldest, &c->init_txns, node)
		if (!oldest->pull && !oldest->done)
			return oldest == txn;
	return false;
}

/* 8.4.3.4: the packet waits; or it has done so as often as the ULP wants. */
static void falcon_nack_rnr(struct falcon_core *c, struct falcon_txpkt *p,
			    u8 timeout, u64 now_ns)
{
	struct falcon_txn *txn = falcon_pkt_txn(p);
	u64 wait = falcon_rnr_timeout_ns(timeout);

	if (p->type != FALCON_PKT_PUSH_DATA || p->state == FALCON_TXPKT_RNR)
		return;
	if (c->cfg.rnr_limit && falcon_rnr_by_ulp(c, txn) &&
	    ++txn->rnrs >= c->cfg.rnr_limit)
		falcon_pkt_resync(c, p, FALCON_RESYNC_TIMEOUT);
	else
		falcon_pkt_rnr(c, p, now_ns + max(wait, falcon_rto(c, 0)));
}

/* What a NACK code does to the packet it names (9.2.4 table) */
static void falcon_nack_apply(struct falcon_core *c, struct falcon_txpkt *p,
			      const struct falcon_pkt_info *pi, u64 now_ns)
{
	static const u8 resync[] = {
		[FALCON_NACK_XLR] = FALCON_RESYNC_REMOTE_XLR,
		[FALCON_NACK_CIE] = FALCON_RESYNC_CIE,
		[FALCON_NACK_NRE] = FALCON_RESYNC_NRE,
		[FALCON_NACK_CID] = FALCON_RESYNC_CID,
	};

	if (pi->nack_code == FALCON_NACK_RESOURCE) {
		p->flags |= FALCON_TXF_NO_RESOURCE;
		return;
	}
	falcon_pkt_delivered(c, p, now_ns);
	if (pi->nack_code == FALCON_NACK_RNR) {
		falcon_nack_rnr(c, p, pi->rnr_timeout, now_ns);
		return;
	}
	if (falcon_pkt_is_request(p))
		falcon_pkt_txn(p)->ulp_code = pi->ulp_code;
	falcon_pkt_resync(c, p, resync[pi->nack_code]);
}

/* A NACK (9.2.4) */
void falcon_nack_rx(struct falcon_core *c, const struct falcon_pkt_info *pi,
		    const struct falcon_rx_meta *meta)
{
	u64 now_ns = meta->now_ns;
	struct falcon_txpkt *p;
	u8 win;

	c->stats.rx_nacks++;
	if (!falcon_ack_valid(c, pi, now_ns) || falcon_ack_discard(c, pi, meta))
		return;

	falcon_ack_rtt(c, pi, meta);
	for (win = 0; win < FALCON_NR_WIN; win++)
		falcon_ack_base(c, win, pi->rbpsn[win], now_ns);
	p = falcon_pkt_find(c, pi->nack_win, pi->nack_psn);
	if (p && p->type != FALCON_PKT_RESYNC)
		falcon_nack_apply(c, p, pi, now_ns);
	c->echo_sent_ns = 0;
	falcon_loss_ack(c, pi, now_ns);
	falcon_fae_nack(c, pi, meta);
}
