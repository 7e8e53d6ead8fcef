// SPDX-License-Identifier: GPL-2.0
/*
 * The two ends of a sliding window (9.1.1, 9.2.1): bases, bitmaps and how they
 * move. Received and acknowledged are two states: push data is acknowledged
 * when its ULP says so, everything else when it is received; the base moves by
 * what is acknowledged.
 *
 * Called by pdl_tx.c, pdl_rx.c and ack.c; touches the window given, no more.
 */
#include <linux/string.h>
#include "window.h"

#define RING FALCON_RX_WIN_MAX

/**
 * falcon_rxwin_init() - empty receiver window (9.2.1)
 * @w:		the window
 * @rings:	its bitmaps, zeroed
 * @base:	initial PSN
 * @size:	packets, at most FALCON_RX_WIN_MAX
 */
void falcon_rxwin_init(struct falcon_rxwin *w, struct falcon_rings *rings,
		       u32 base, u16 size)
{
	memset(w, 0, sizeof(*w));
	w->rx = rings->a;
	w->ack = rings->b;
	w->base = base;
	w->top = base;
	w->size = size;
}

/**
 * falcon_rxwin_receive() - note a packet as received
 * @w:		the window
 * @psn:	inside it, and not received yet
 */
void falcon_rxwin_receive(struct falcon_rxwin *w, u32 psn)
{
	falcon_ring_set(w->rx, RING, psn);
	w->nr_rx++;
	if (!falcon_before(psn, w->top))
		w->top = psn + 1;
}

/**
 * falcon_rxwin_forget() - a packet received was given up: RNR, no resources
 * @w:		the window
 * @psn:	received and not acknowledged
 *
 * It is awaited again, from the wire.
 */
void falcon_rxwin_forget(struct falcon_rxwin *w, u32 psn)
{
	falcon_ring_clear(w->rx, RING, psn);
	w->nr_rx--;
	while (w->top != w->base && !falcon_ring_test(w->rx, RING, w->top - 1))
		w->top--;
}

/**
 * falcon_rxwin_ack() - note a received packet as acknowledged (9.2.2.4)
 * @w:		the window
 * @psn:	received; nothing happens if it is acknowledged already
 *
 * The base moves to the next PSN that is not acknowledged.
 *
 * Return: true if it was news.
 */
bool falcon_rxwin_ack(struct falcon_rxwin *w, u32 psn)
{
	if (psn == w->base && !w->nr_ack) {	/* in order */
		falcon_ring_clear(w->rx, RING, psn);
		w->nr_rx--;
		w->base++;
		return true;
	}
	if (falcon_rxwin_acked(w, psn))
		return false;

	falcon_ring_set(w->ack, RING, psn);
	w->nr_ack++;
	while (falcon_ring_test(w->ack, RING, w->base)) {
		falcon_ring_clear(w->ack, RING, w->base);
		falcon_ring_clear(w->rx, RING, w->base);
		w->nr_ack--;
		w->nr_rx--;
		w->base++;
	}
	return true;
}

/**
 * falcon_rxwin_acked() - has a packet of the window been acknowledged?
 * @w:		the window
 * @psn:	not beyond it
 *
 * Return: true also for a PSN before the base.
 */
bool falcon_rxwin_acked(const struct falcon_rxwin *w, u32 psn)
{
	return falcon_before(psn, w->base) ||
	       falcon_ring_test(w->ack, RING, psn);
}

/**
 * falcon_rxwin_has_hole() - are PSNs missing below a received one? (9.1.6)
 * @w:		the window
 *
 * Return: true if the '1's of the Rx bitmap are not consecutive from the LSB.
 */
bool falcon_rxwin_has_hole(const struct falcon_rxwin *w)
{
	return w->nr_rx != w->top - w->base;
}

/**
 * falcon_txwin_init() - empty transmitter window (9.1.1)
 * @w:		the window
 * @rings:	its bitmaps, zeroed
 * @base:	initial PSN
 * @size:	packets that may be outstanding
 */
void falcon_txwin_init(struct falcon_txwin *w, struct falcon_rings *rings,
		       u32 base, u16 size)
{
	memset(w, 0, sizeof(*w));
	w->acked = rings->a;
	w->rcvd = rings->b;
	w->base = base;
	w->next = base;
	w->size = size;
	INIT_LIST_HEAD(&w->pkts);
	INIT_LIST_HEAD(&w->rcvd_pkts);
}

/**
 * falcon_txwin_advance() - move the base and the bitmaps with it (9.1.1)
 * @w:		the window
 * @base:	oldest PSN not acknowledged
 */
void falcon_txwin_advance(struct falcon_txwin *w, u32 base)
{
	u32 n = base - w->base;

	if (w->noted) {
		falcon_ring_clear_range(w->acked, RING, w->base, n);
		falcon_ring_clear_range(w->rcvd, RING, w->base, n);
		w->noted = base != w->next;
	}
	w->base = base;
}
