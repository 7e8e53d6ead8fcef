/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Serial numbers and bitmaps of the sliding windows. PSN, RSN and the 32-bit
 * times all wrap: only differences are compared. Receiver bitmaps are rings
 * indexed by the number itself; the transmitter's are relative to its base, as
 * on the wire.
 */
#ifndef _FALCON_CORE_WINDOW_H
#define _FALCON_CORE_WINDOW_H

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

/* A 128-bit bitmap whose bit 0 is the base, as the base moves by @n. */
static inline void falcon_bits_shift(u64 bits[2], u32 n)
{
	if (n >= 128) {
		bits[0] = 0;
		bits[1] = 0;
	} else if (n >= 64) {
		bits[0] = bits[1] >> (n - 64);
		bits[1] = 0;
	} else if (n) {
		bits[0] = bits[0] >> n | bits[1] << (64 - n);
		bits[1] >>= n;
	}
}

static inline bool falcon_bits_test(const u64 bits[2], u32 n)
{
	return n < 128 && bits[n >> 6] & falcon_ring_mask(n);
}

static inline void falcon_bits_set(u64 bits[2], u32 n)
{
	if (n < 128)
		bits[n >> 6] |= falcon_ring_mask(n);
}

static inline void falcon_bits_clear(u64 bits[2], u32 n)
{
	if (n < 128)
		bits[n >> 6] &= ~falcon_ring_mask(n);
}

/* Bits up to and including the highest one set; 0 if none is. */
static inline u32 falcon_bits_len(const u64 bits[2])
{
	if (bits[1])
		return 128 - __builtin_clzll(bits[1]);
	if (bits[0])
		return 64 - __builtin_clzll(bits[0]);
	return 0;
}

/* window.c: the receiver's sliding window (9.2.1, 9.2.2.4, 9.2.5) */
void falcon_rxwin_init(struct falcon_rxwin *w, u32 base, u16 size);
void falcon_rxwin_receive(struct falcon_rxwin *w, u32 psn);
void falcon_rxwin_forget(struct falcon_rxwin *w, u32 psn);
bool falcon_rxwin_ack(struct falcon_rxwin *w, u32 psn);
bool falcon_rxwin_acked(const struct falcon_rxwin *w, u32 psn);
bool falcon_rxwin_has_hole(const struct falcon_rxwin *w);

/* window.c: the transmitter's (9.1.1) */
void falcon_txwin_init(struct falcon_txwin *w, u32 base, u16 size);
void falcon_txwin_advance(struct falcon_txwin *w, u32 base);

#endif /* _FALCON_CORE_WINDOW_H */
