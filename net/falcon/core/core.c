// SPDX-License-Identifier: GPL-2.0
/*
 * A connection's beginning, its end, and the dispatch of packets and timers to
 * the sublayers. The rules are elsewhere: pdl_tx.c, pdl_rx.c, ack.c, loss.c
 * (packet delivery), tl_initiator.c, tl_target.c (transactions), sched.c,
 * flow.c, fae.c.
 */
#include <linux/build_bug.h>
#include <linux/errno.h>
#include <linux/minmax.h>
#include <linux/stddef.h>
#include <linux/string.h>
#include "fae.h"
#include "internal.h"
#include "window.h"

/* struct falcon_core is laid out for lines of 64 bytes and 64-bit pointers. */
#define MISALIGNED(field)	(sizeof(void *) == 8 &&			\
				 offsetof(struct falcon_core, field) % 64)

/**
 * falcon_core_init() - set a connection up (the CM's part of 8 and 9)
 * @c:		its memory
 * @cfg:	parameters, copied
 * @res:	pools it shares, or NULL; must outlive it
 * @now_ns:	time
 *
 * Context: before anybody else sees @c. Nothing is allocated.
 */
void falcon_core_init(struct falcon_core *c, const struct falcon_core_cfg *cfg,
		      struct falcon_resources *res, u64 now_ns)
{
	u8 i;

	/* What is hot begins a cache line, and so does the first flow. */
	BUILD_BUG_ON(MISALIGNED(cfg.cid));
	BUILD_BUG_ON(MISALIGNED(flow));
	BUILD_BUG_ON(MISALIGNED(rx_rings));
	memset(c, 0, sizeof(*c));
	c->cfg = *cfg;
	c->res = res;
	for (i = 0; i < FALCON_NR_WIN; i++) {
		falcon_txwin_init(&c->tx[i], &c->tx_rings[i], cfg->tx_psn[i],
				  cfg->tx_win[i]);
		falcon_rxwin_init(&c->rx[i], &c->rx_rings[i], cfg->rx_psn[i],
				  min(cfg->rx_win[i], falcon_win_max(cfg, i)));
	}
	for (i = 0; i < FALCON_NR_CLASS; i++)
		INIT_LIST_HEAD(&c->lost[i]);
	for (i = 0; i < FALCON_NR_QUEUE; i++)
		INIT_LIST_HEAD(&c->sched[i]);
	INIT_LIST_HEAD(&c->rnr);
	INIT_LIST_HEAD(&c->init_txns);
	INIT_LIST_HEAD(&c->reorder);
	INIT_LIST_HEAD(&c->nacked);
	INIT_LIST_HEAD(&c->pull_rnr);
	INIT_LIST_HEAD(&c->deliver);
	INIT_LIST_HEAD(&c->complete);
	INIT_LIST_HEAD(&c->release);
	INIT_LIST_HEAD(&c->drop);

	c->tx_nrsn = cfg->tx_rsn;
	c->tx_brsn = cfg->tx_rsn;
	c->rx_nrsn = cfg->rx_rsn;
	c->rx_brsn = cfg->rx_rsn;
	c->rto_ns = cfg->rto_ns;
	c->min_rtt_ns = FALCON_NO_TIMER;
	c->ack_due_ns = FALCON_NO_TIMER;
	c->tlp_due_ns = FALCON_NO_TIMER;
	c->expire_ns = FALCON_NO_TIMER;
	c->reclaim_ns = FALCON_NO_TIMER;
	c->silent_ns = FALCON_NO_TIMER;
	c->pace_due_ns = FALCON_NO_TIMER;
	c->last_rx_ns = now_ns;
	falcon_flow_init(c);
	falcon_fae_init(c, now_ns);
}

static enum falcon_rx_verdict falcon_core_rx_any(struct falcon_core *c,
						 const struct falcon_pkt_info *pi,
						 const struct falcon_rx_meta *meta,
						 struct falcon_rxpkt *rx)
{
	switch (pi->type) {
	case FALCON_PKT_BACK:
	case FALCON_PKT_EACK:
		falcon_ack_rx(c, pi, meta);
		return FALCON_RX_DONE;
	case FALCON_PKT_NACK:
		falcon_nack_rx(c, pi, meta);
		return FALCON_RX_DONE;
	}

	c->stats.rx_pkts++;
	if (!falcon_pdl_valid(c, pi) || !falcon_ack_bases(c, pi, meta->now_ns))
		return FALCON_RX_DONE;
	return falcon_pdl_rx(c, pi, meta, rx);
}

/**
 * falcon_core_rx() - a packet arrived
 * @c:		the connection that its CID names
 * @pi:		its header, parsed; SPI, PCID, replay and Destination Function
 *		checks have passed
 * @meta:	what the lower layers know of it
 * @rx:		memory that goes with the packet: its own as long as it is kept
 *
 * Context: connection lock.
 * Return: FALCON_RX_DONE if the caller still owns the packet, to free it.
 */
enum falcon_rx_verdict falcon_core_rx(struct falcon_core *c,
				      const struct falcon_pkt_info *pi,
				      const struct falcon_rx_meta *meta,
				      struct falcon_rxpkt *rx)
{
	enum falcon_rx_verdict verdict;

	if (c->fatal)
		return FALCON_RX_DONE;
	verdict = falcon_core_rx_any(c, pi, meta, rx);
	if (c->dying)
		falcon_core_abort(c, c->dying);
	return verdict;
}

/**
 * falcon_core_timer() - time has passed
 * @c:		the connection
 * @now_ns:	time; calls before falcon_core_next_timer() do no harm
 *
 * Context: connection lock.
 */
void falcon_core_timer(struct falcon_core *c, u64 now_ns)
{
	if (c->fatal)
		return;

	if (c->ack_due_ns <= now_ns) {
		c->ack_due_ns = FALCON_NO_TIMER;
		c->ack_now = true;
	}
	falcon_loss_timer(c, now_ns);
	falcon_rnr_timer(c, now_ns);
	falcon_target_timer(c, now_ns);
	falcon_init_timer(c, now_ns);
	if (c->dying)
		falcon_core_abort(c, c->dying);
}

/**
 * falcon_core_next_timer() - when falcon_core_timer() has something to do
 * @c:		the connection
 *
 * Context: connection lock.
 * Return: nanoseconds, perhaps in the past; FALCON_NO_TIMER if never.
 */
u64 falcon_core_next_timer(const struct falcon_core *c)
{
	u64 due;

	if (c->fatal)
		return FALCON_NO_TIMER;
	due = min(c->ack_due_ns, c->expire_ns);
	due = min(due, falcon_loss_due(c));
	due = min(due, falcon_rnr_due(c));
	if (c->cfg.paced)
		due = min(due, c->pace_due_ns);
	return min(due, falcon_target_due(c));
}

/**
 * falcon_core_rx_level() - occupancy of the ULP's receive buffer
 * @c:		the connection
 * @level:	0..31; ACKs carry the larger of it and the pools' (10.2)
 *
 * Context: connection lock.
 */
void falcon_core_rx_level(struct falcon_core *c, u8 level)
{
	c->rx_level = min_t(u8, level, FALCON_RX_LEVELS - 1);
}

/**
 * falcon_core_set_rate() - let packets depart at no more than a rate
 * @c:		the connection
 * @bytes_per_s: of payload; 0: no limit
 *
 * What has its departure time already keeps it.
 *
 * Context: connection lock.
 */
void falcon_core_set_rate(struct falcon_core *c, u64 bytes_per_s)
{
	c->max_rate = bytes_per_s;
	c->cfg.paced = bytes_per_s;
}

/**
 * falcon_core_xlr() - switch the xLR drop filters (section 11)
 * @c:		the connection
 * @xlr:	FALCON_XLR_*, from now on; 0: no filter
 *
 * The specification does not say what a filter matches: here, each request of a
 * connection. What has been submitted or delivered goes on.
 *
 * Context: connection lock.
 * Return: 0; -EINVAL if nothing may be passed over (gapless).
 */
int falcon_core_xlr(struct falcon_core *c, u8 xlr)
{
	if (c->cfg.gapless)
		return -EINVAL;
	c->cfg.xlr = xlr;
	return 0;
}

/**
 * falcon_core_abort() - end everything (section 11, connection not alive)
 * @c:		the connection
 * @code:	enum falcon_cmpl of each transaction that is still open, but for
 *		those that a NACK or their own time-out has decided
 *
 * What was not delivered yet is dropped, responses are released, nothing is
 * transmitted or received any more. Pool resources go back even for what the
 * ULP still has.
 *
 * Context: connection lock.
 */
void falcon_core_abort(struct falcon_core *c, u8 code)
{
	if (c->fatal)
		return;
	falcon_init_abort(c, code);
	falcon_target_abort(c);
	falcon_res_put_all(c->res, &c->use, c->peer_pool);
	falcon_fae_release(c);
	c->fatal = code;
}

/**
 * falcon_core_idle() - is everything said and acknowledged?
 * @c:		the connection
 *
 * Context: connection lock.
 * Return: true if nothing sent is unacknowledged and nothing is queued.
 */
bool falcon_core_idle(const struct falcon_core *c)
{
	return list_empty(&c->sched[FALCON_QUEUE_REQUESTS]) &&
	       list_empty(&c->sched[FALCON_QUEUE_PULL_DATA]) &&
	       list_empty(&c->tx[FALCON_WIN_REQ].pkts) &&
	       list_empty(&c->tx[FALCON_WIN_DATA].pkts);
}
