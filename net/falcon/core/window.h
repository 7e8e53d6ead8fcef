/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Serial numbers and bitmaps of the sliding windows. PSN, RSN and the 32-bit
 * times all wrap: only differences are compared. Bitmaps are rings
 * indexed by the number itself; only an EACK has them relative to its base.
 */
#ifndef _FALCON_CORE_WINDOW_H
#define _FALCON_CORE_WINDOW_H

#include <linux/minmax.h>
#include "core.h"

/* a precedes b, for numbers less than 2^31 apart */
static inline bool falcon_before(u32 a, u32 b)
{
	return (s32)(a - b) < 0;
}

static inline u64 falcon_ring_mask(u32 n)
{
	return 1ULL << (n & 63);
}

/* Rings of a power of two bits, at least 64. */
static inline u64 *falcon_ring_word(u64 *ring, u32 bits, u32 n)
{
	return &ring[(n & (bits - 1)) >> 6];
}

static inline bool falcon_ring_test(const u64 *ring, u32 bits, u32 n)
{
	return ring[(n & (bits - 1)) >> 6] & falcon_ring_mask(n);
}

static inline void falcon_ring_set(u64 *ring, u32 bits, u32 n)
{
	*falcon_ring_word(ring, bits, n) |= falcon_ring_mask(n);
}

static inline void falcon_ring_clear(u64 *ring, u32 bits, u32 n)
{
	*falcon_ring_word(ring, bits, n) &= ~falcon_ring_mask(n);
}

/* 64 bits of a ring, the first is that of @n: a word of an EACK. */
static inline u64 falcon_ring_extract(const u64 *ring, u32 bits, u32 n)
{
	u32 word = (n & (bits - 1)) >> 6;
	u32 next = (word + 1) & (bits / 64 - 1);
	u32 shift = n & 63;

	if (!shift)
		return ring[word];
	return ring[word] >> shift | ring[next] << (64 - shift);
}

/* The reverse: 64 bits, the first for @n, are ORed into a ring. */
static inline void falcon_ring_or(u64 *ring, u32 bits, u32 n, u64 word)
{
	u32 shift = n & 63;

	*falcon_ring_word(ring, bits, n) |= word << shift;
	if (shift)
		*falcon_ring_word(ring, bits, n + 64) |= word >> (64 - shift);
}

/* Clears the bits of @n numbers from @from on. */
static inline void falcon_ring_clear_range(u64 *ring, u32 bits, u32 from, u32 n)
{
	while (n) {
		u32 len = min(64 - (from & 63), n);

		*falcon_ring_word(ring, bits, from) &=
			~(~0ULL >> (64 - len) << (from & 63));
		from += len;
		n -= len;
	}
}

/* In a transmit window; no bitmap reaches to where @psn may be. */
static inline void falcon_txwin_note_rcvd(struct falcon_txwin *w, u32 psn,
					  bool rcvd)
{
	if (psn - w->base >= FALCON_RX_WIN_MAX)
		return;
	if (rcvd) {
		falcon_ring_set(w->rcvd, FALCON_RX_WIN_MAX, psn);
		w->noted = true;
	} else {
		falcon_ring_clear(w->rcvd, FALCON_RX_WIN_MAX, psn);
	}
}

static inline void falcon_txwin_note_acked(struct falcon_txwin *w, u32 psn)
{
	if (psn - w->base < FALCON_RX_WIN_MAX) {
		falcon_ring_set(w->acked, FALCON_RX_WIN_MAX, psn);
		w->noted = true;
	}
}

/* What an EACK says of one window (7.7.2), bit 0 is that of @base. */
struct falcon_eack {
	const u64 *ack;
	const u64 *rx;
	u32 words;
	u32 base;
};

static inline struct falcon_eack
falcon_eack_of(const struct falcon_pkt_info *pi, u8 win)
{
	struct falcon_eack e = { .base = pi->rbpsn[win] };

	if (win == FALCON_WIN_REQ) {
		e.ack = pi->req_bits;
		e.rx = pi->req_bits;
		e.words = 1 << pi->win_shift;
	} else {
		e.ack = pi->data_ack;
		e.rx = pi->data_rx;
		e.words = 2 << pi->win_shift;
	}
	return e;
}

/* 64 bits of a bitmap of an EACK, the first is that of @n. */
static inline u64 falcon_eack_bits(const struct falcon_eack *e, const u64 *bits,
				   u32 n)
{
	u32 word = (n - e->base) >> 6, shift = (n - e->base) & 63;
	u64 low;

	if (word >= e->words)
		return 0;
	low = bits[word] >> shift;
	if (!shift || word + 1 == e->words)
		return low;
	return low | bits[word + 1] << (64 - shift);
}

/* Received PSNs, by words of the bitmap: one acknowledged is received. */
static inline u64 falcon_eack_rx(const struct falcon_eack *e, u32 word)
{
	return e->rx[word] | e->ack[word];
}

/* PSNs up to and including the highest received; 0 if none is. */
static inline u32 falcon_eack_len(const struct falcon_eack *e)
{
	u32 i;

	for (i = e->words; i--;)
		if (falcon_eack_rx(e, i))
			return 64 * i + 64 -
			       __builtin_clzll(falcon_eack_rx(e, i));
	return 0;
}

/* window.c: the receiver's sliding window (9.2.1, 9.2.2.4, 9.2.5) */
void falcon_rxwin_init(struct falcon_rxwin *w, struct falcon_rings *rings,
		       u32 base, u16 size);
void falcon_rxwin_receive(struct falcon_rxwin *w, u32 psn);
void falcon_rxwin_forget(struct falcon_rxwin *w, u32 psn);
bool falcon_rxwin_ack(struct falcon_rxwin *w, u32 psn);
bool falcon_rxwin_acked(const struct falcon_rxwin *w, u32 psn);
bool falcon_rxwin_has_hole(const struct falcon_rxwin *w);

/* window.c: the transmitter's (9.1.1) */
void falcon_txwin_init(struct falcon_txwin *w, struct falcon_rings *rings,
		       u32 base, u16 size);
void falcon_txwin_advance(struct falcon_txwin *w, u32 base);

#endif /* _FALCON_CORE_WINDOW_H */
