/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SHIM_LINUX_BITMAP_H
#define _SHIM_LINUX_BITMAP_H

#include <linux/bitops.h>
#include <linux/string.h>

/*
 * As in the kernel, whole words are copied and cleared; bits of the last word
 * beyond nbits do not count in a question about the map.
 */
#define DECLARE_BITMAP(name, bits)	unsigned long name[BITS_TO_LONGS(bits)]
#define BITMAP_LAST_WORD_MASK(n)	(~0UL >> (-(n) & (BITS_PER_LONG - 1)))

static inline void bitmap_zero(unsigned long *d, unsigned int nbits)
{
	memset(d, 0, BITS_TO_LONGS(nbits) * sizeof(long));
}

static inline void bitmap_fill(unsigned long *d, unsigned int nbits)
{
	memset(d, 0xff, BITS_TO_LONGS(nbits) * sizeof(long));
}

static inline void bitmap_copy(unsigned long *d, const unsigned long *s,
			       unsigned int nbits)
{
	memcpy(d, s, BITS_TO_LONGS(nbits) * sizeof(long));
}

static inline bool bitmap_empty(const unsigned long *s, unsigned int nbits)
{
	return find_first_bit(s, nbits) == nbits;
}

static inline bool bitmap_full(const unsigned long *s, unsigned int nbits)
{
	return find_first_zero_bit(s, nbits) == nbits;
}

static inline unsigned int bitmap_weight(const unsigned long *s,
					 unsigned int nbits)
{
	unsigned int i, w = 0;

	for (i = 0; i < nbits / BITS_PER_LONG; i++)
		w += hweight_long(s[i]);
	if (nbits % BITS_PER_LONG)
		w += hweight_long(s[i] & BITMAP_LAST_WORD_MASK(nbits));
	return w;
}

static inline void bitmap_set(unsigned long *d, unsigned int start,
			      unsigned int len)
{
	while (len--)
		__set_bit(start++, d);
}

static inline void bitmap_clear(unsigned long *d, unsigned int start,
				unsigned int len)
{
	while (len--)
		__clear_bit(start++, d);
}

static inline bool bitmap_equal(const unsigned long *a, const unsigned long *b,
				unsigned int nbits)
{
	unsigned int i;

	for (i = 0; i < nbits; i++)
		if (test_bit(i, a) != test_bit(i, b))
			return false;
	return true;
}

static inline bool bitmap_and(unsigned long *d, const unsigned long *a,
			      const unsigned long *b, unsigned int nbits)
{
	unsigned int i;

	for (i = 0; i < BITS_TO_LONGS(nbits); i++)
		d[i] = a[i] & b[i];
	return !bitmap_empty(d, nbits);
}

static inline void bitmap_or(unsigned long *d, const unsigned long *a,
			     const unsigned long *b, unsigned int nbits)
{
	unsigned int i;

	for (i = 0; i < BITS_TO_LONGS(nbits); i++)
		d[i] = a[i] | b[i];
}

static inline bool bitmap_andnot(unsigned long *d, const unsigned long *a,
				 const unsigned long *b, unsigned int nbits)
{
	unsigned int i;

	for (i = 0; i < BITS_TO_LONGS(nbits); i++)
		d[i] = a[i] & ~b[i];
	return !bitmap_empty(d, nbits);
}

/* Towards bit 0; zeroes come in at the top. d may be s. */
static inline void bitmap_shift_right(unsigned long *d, const unsigned long *s,
				      unsigned int shift, unsigned int nbits)
{
	unsigned int i, n = BITS_TO_LONGS(nbits);
	unsigned int off = shift / BITS_PER_LONG, rem = shift % BITS_PER_LONG;

	for (i = 0; i < n; i++) {
		unsigned long lo = 0, hi = 0;

		if (off + i < n)
			lo = s[off + i];
		if (off + i == n - 1)
			lo &= BITMAP_LAST_WORD_MASK(nbits);
		if (off + i + 1 < n)
			hi = s[off + i + 1];
		if (off + i + 1 == n - 1)
			hi &= BITMAP_LAST_WORD_MASK(nbits);
		d[i] = lo >> rem;
		if (rem)
			d[i] |= hi << (BITS_PER_LONG - rem);
	}
}

/* Away from bit 0; zeroes come in at the bottom. d may be s. */
static inline void bitmap_shift_left(unsigned long *d, const unsigned long *s,
				     unsigned int shift, unsigned int nbits)
{
	unsigned int off = shift / BITS_PER_LONG, rem = shift % BITS_PER_LONG;
	unsigned int i = BITS_TO_LONGS(nbits);

	while (i--) {
		unsigned long hi = i >= off ? s[i - off] : 0;
		unsigned long lo = i > off ? s[i - off - 1] : 0;

		d[i] = hi << rem;
		if (rem)
			d[i] |= lo >> (BITS_PER_LONG - rem);
	}
}

static inline void bitmap_to_arr64(u64 *buf, const unsigned long *s,
				   unsigned int nbits)
{
	unsigned int i;

	for (i = 0; i < (nbits + 63) / 64; i++)
		buf[i] = s[i];
	if (nbits % 64)
		buf[i - 1] &= BITMAP_LAST_WORD_MASK(nbits);
}

static inline void bitmap_from_arr64(unsigned long *d, const u64 *buf,
				     unsigned int nbits)
{
	unsigned int i;

	for (i = 0; i < (nbits + 63) / 64; i++)
		d[i] = buf[i];
	if (nbits % 64)
		d[i - 1] &= BITMAP_LAST_WORD_MASK(nbits);
}

#endif
