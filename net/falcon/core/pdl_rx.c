// SPDX-License-Identifier: GPL-2.0
/*
 * Packet delivery sublayer, receiver (9.2): what becomes of a reliable packet
 * that arrived. The sliding window check says whether it is new, old or beyond
 * the window; a new one goes to the transaction sublayer, which may refuse it;
 * duplicates are answered by the table of section 11.
 *
 * core.c calls, falcon_pdl_rx() after the piggybacked bases were processed.
 */
#include "accept.h"
#include "fae.h"
#include "internal.h"
#include "window.h"

/* The most recent packet's time-stamps go into the next ACK (10.1). */
static void falcon_rx_stamp(struct falcon_core *c,
			    const struct falcon_rx_meta *meta)
{
	c->ack_t1 = meta->t_tx;
	c->ack_t2 = meta->t_rx;
	c->ack_hops = meta->hops;
	if (meta->csig)
		c->cc_metadata = meta->csig;
	c->ack_flow = meta->flow < c->cfg.nr_flows ? meta->flow : 0;
	if (meta->ecn_ce)
		c->ecn_count = (c->ecn_count + 1) & 0x3fff;
}

static void falcon_rx_fill(struct falcon_rxpkt *rx,
			   const struct falcon_pkt_info *pi)
{
	INIT_LIST_HEAD(&rx->node);
	rx->due_ns = 0;
	rx->psn = pi->psn;
	rx->rsn = pi->rsn;
	rx->len = pi->len;
	rx->req_len = pi->req_len;
	rx->type = pi->type;
	rx->state = pi->type == FALCON_PKT_PULL_REQ ? FALCON_PULL_REQ_RX :
						      FALCON_PUSH_DATA_RX;
	rx->proto = pi->proto;
	rx->flags = pi->ar ? FALCON_RXF_AR : 0;
	rx->code = 0;
	rx->ulp_code = 0;
}

/* Received, and acknowledged with that (9.2.2.4; 9.2.5 for a resync) */
static void falcon_rx_acknowledge(struct falcon_core *c, u8 win,
				  const struct falcon_pkt_info *pi, u64 now_ns)
{
	falcon_rxwin_receive(&c->rx[win], pi->psn);
	falcon_rxwin_ack(&c->rx[win], pi->psn);
	falcon_ack_acknowledged(c, pi->ar, now_ns);
}

static enum falcon_rx_verdict
falcon_rx_new_resync(struct falcon_core *c, u8 win,
		     const struct falcon_pkt_info *pi, struct falcon_rxpkt *rx,
		     u64 now_ns)
{
	enum falcon_admit admit = FALCON_ADMIT_DROP;

	if (pi->resync_type == FALCON_PKT_PULL_DATA) {
		falcon_init_pull_resync(c, pi->rsn, now_ns);
	} else {
		falcon_rx_fill(rx, pi);
		admit = falcon_target_resync(c, rx, now_ns);
	}
	if (admit == FALCON_ADMIT_REFUSED) {
		falcon_ack_discarded(c, now_ns);
		return FALCON_RX_DONE;
	}
	falcon_rx_acknowledge(c, win, pi, now_ns);
	return admit == FALCON_ADMIT_TAKEN ? FALCON_RX_KEPT : FALCON_RX_DONE;
}

static enum falcon_rx_verdict
falcon_rx_new_pull_data(struct falcon_core *c, const struct falcon_pkt_info *pi,
			struct falcon_rxpkt *rx, u64 now_ns)
{
	falcon_rx_fill(rx, pi);
	c->stats.rx_bytes += pi->len;
	falcon_rx_acknowledge(c, FALCON_WIN_DATA, pi, now_ns);
	return falcon_init_pull_data(c, rx, now_ns);
}

static enum falcon_rx_verdict
falcon_rx_new_request(struct falcon_core *c, u8 win,
		      const struct falcon_pkt_info *pi, struct falcon_rxpkt *rx,
		      u64 now_ns)
{
	enum falcon_admit admit;

	falcon_rx_fill(rx, pi);
	admit = falcon_target_rx(c, rx, now_ns);
	if (admit == FALCON_ADMIT_REFUSED)
		return FALCON_RX_DONE;
	if (admit == FALCON_ADMIT_DROP || pi->type == FALCON_PKT_PULL_REQ) {
		falcon_rx_acknowledge(c, win, pi, now_ns);
	} else {
		falcon_rxwin_receive(&c->rx[win], pi->psn);
		falcon_ack_received(c, now_ns);
		c->heard = true;
	}
	if (admit == FALCON_ADMIT_DROP)
		return FALCON_RX_DONE;
	c->stats.rx_bytes += pi->len;
	return FALCON_RX_KEPT;
}

static enum falcon_rx_verdict falcon_rx_new(struct falcon_core *c, u8 win,
					    const struct falcon_pkt_info *pi,
					    struct falcon_rxpkt *rx, u64 now_ns)
{
	switch (pi->type) {
	case FALCON_PKT_RESYNC:
		return falcon_rx_new_resync(c, win, pi, rx, now_ns);
	case FALCON_PKT_PULL_DATA:
		return falcon_rx_new_pull_data(c, pi, rx, now_ns);
	default:
		return falcon_rx_new_request(c, win, pi, rx, now_ns);
	}
}

/*
 * Push data that is here already and not acknowledged. A resync is for it and
 * acknowledges its PSN; a duplicate has the NACK repeated if there was one
 * (6.6.5), and else is discarded.
 */
static void falcon_rx_again(struct falcon_core *c,
			    const struct falcon_pkt_info *pi, u64 now_ns)
{
	if (pi->type == FALCON_PKT_RESYNC) {
		falcon_target_cancel(c, pi->psn, now_ns);
		falcon_rxwin_ack(&c->rx[FALCON_WIN_DATA], pi->psn);
		falcon_ack_acknowledged(c, pi->ar, now_ns);
		return;
	}
	c->stats.rx_dup++;
	if (!falcon_target_repeat_nack(c, pi->psn))
		falcon_ack_discarded(c, now_ns);
}

/* Push data or pulls larger than the connection carries: none of ours */
static bool falcon_rx_oversize(const struct falcon_core *c,
			       const struct falcon_pkt_info *pi)
{
	return pi->len > c->cfg.mtu || (pi->type == FALCON_PKT_PULL_REQ &&
					pi->req_len > c->cfg.mtu);
}

/*
 * Can the packet be of this connection? If not it is dropped whole: section 11
 * lets no violation acknowledge anything.
 */
bool falcon_pdl_valid(struct falcon_core *c, const struct falcon_pkt_info *pi)
{
	if (pi->proto == c->cfg.proto && !falcon_rx_oversize(c, pi))
		return true;
	c->stats.rx_bad_pkt++;
	return false;
}

/* The initiator gave up a request that the target may not pass over. */
static bool falcon_rx_gap(const struct falcon_core *c,
			  const struct falcon_pkt_info *pi,
			  enum falcon_accept accept)
{
	return c->cfg.gapless && pi->type == FALCON_PKT_RESYNC &&
	       pi->resync_type != FALCON_PKT_PULL_DATA &&
	       (accept == FALCON_ACCEPT_NEW ||
		accept == FALCON_ACCEPT_RECEIVED);
}

/*
 * A packet that comes after a later one of its own flow was late, or lost and
 * sent again. RACK shall not add the time of coalescing to that of the network,
 * and take what has come late for lost: an ACK tells of it without delay, as
 * TCP's do (RFC 5681, 4.2). That flows overtake each other is nothing.
 */
static bool falcon_rx_is_late(struct falcon_core *c, u8 win, u32 psn)
{
	struct falcon_flow *f = &c->flow[c->ack_flow];
	u16 behind = f->rx_top[win] - (u16)psn;

	if (behind && behind < FALCON_RX_WIN_MAX)
		return c->cfg.features & FALCON_F_EACK_ALWAYS;
	f->rx_top[win] = psn;
	return false;
}

/* Push data that its ULP has now will be acknowledged: that the ACK waits for. */
static enum falcon_rx_verdict
falcon_rx_new_or_late(struct falcon_core *c, u8 win,
		      const struct falcon_pkt_info *pi, struct falcon_rxpkt *rx,
		      u64 now_ns)
{
	bool late = falcon_rx_is_late(c, win, pi->psn);
	enum falcon_rx_verdict verdict = falcon_rx_new(c, win, pi, rx, now_ns);

	if (!late || verdict != FALCON_RX_KEPT)
		return verdict;
	if (pi->type == FALCON_PKT_PUSH_DATA &&
	    (!falcon_ordered(c) || falcon_before(pi->rsn, c->rx_nrsn)))
		rx->flags |= FALCON_RXF_AR;
	else
		c->ack_now = true;
	return verdict;
}

enum falcon_rx_verdict falcon_pdl_rx(struct falcon_core *c,
				     const struct falcon_pkt_info *pi,
				     const struct falcon_rx_meta *meta,
				     struct falcon_rxpkt *rx)
{
	bool resync = pi->type == FALCON_PKT_RESYNC;
	u8 win = falcon_type_win(resync ? pi->resync_type : pi->type);
	u64 now_ns = meta->now_ns;
	enum falcon_accept accept;

	falcon_rx_stamp(c, meta);
	if (resync)
		c->stats.rx_resyncs++;

	accept = falcon_accept_psn(&c->rx[win], pi->psn);
	if (accept != FALCON_ACCEPT_BEYOND)
		falcon_fae_arrived(c, c->ack_flow, accept != FALCON_ACCEPT_NEW,
				   now_ns);
	if (falcon_rx_gap(c, pi, accept)) {
		c->dying = FALCON_CMPL_REMOTE_ERR;
		return FALCON_RX_DONE;
	}
	switch (accept) {
	case FALCON_ACCEPT_NEW:
		return falcon_rx_new_or_late(c, win, pi, rx, now_ns);
	case FALCON_ACCEPT_RECEIVED:
		falcon_rx_again(c, pi, now_ns);
		break;
	case FALCON_ACCEPT_BEYOND:
		c->rx[win].own = true;
		c->stats.rx_out_of_window++;
		falcon_ack_discarded(c, now_ns);
		break;
	case FALCON_ACCEPT_OLD:
	case FALCON_ACCEPT_ACKED:
		c->stats.rx_dup++;
		falcon_ack_discarded(c, now_ns);
		break;
	}
	return FALCON_RX_DONE;
}

/* The ULP acknowledged push data: now its packet is (8.5.3.3). */
void falcon_pdl_ack_push(struct falcon_core *c, const struct falcon_rxpkt *rx,
			 u64 now_ns)
{
	if (falcon_rxwin_ack(&c->rx[FALCON_WIN_DATA], rx->psn))
		falcon_ack_acknowledged(c, rx->flags & FALCON_RXF_AR, now_ns);
}

/* Is the packet of delivered push data still waiting for the ULP's answer? */
bool falcon_pdl_push_open(const struct falcon_core *c,
			  const struct falcon_rxpkt *rx)
{
	return !falcon_rxwin_acked(&c->rx[FALCON_WIN_DATA], rx->psn);
}
