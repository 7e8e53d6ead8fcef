/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SHIM_LINUX_BITOPS_H
#define _SHIM_LINUX_BITOPS_H

#include <linux/bits.h>
#include <linux/types.h>

#define BITS_PER_TYPE(t)	(sizeof(t) * BITS_PER_BYTE)
#define BITS_TO_LONGS(n)	(((n) + BITS_PER_LONG - 1) / BITS_PER_LONG)

static inline unsigned int hweight8(u8 w)
{
	return __builtin_popcount(w);
}

static inline unsigned int hweight16(u16 w)
{
	return __builtin_popcount(w);
}

static inline unsigned int hweight32(u32 w)
{
	return __builtin_popcount(w);
}

static inline unsigned long hweight64(u64 w)
{
	return __builtin_popcountll(w);
}

static inline unsigned long hweight_long(unsigned long w)
{
	return __builtin_popcountl(w);
}

/* 1-based; 0 of 0 */
static inline int fls(unsigned int x)
{
	return x ? 32 - __builtin_clz(x) : 0;
}

static inline int fls64(u64 x)
{
	return x ? 64 - __builtin_clzll(x) : 0;
}

/* 0-based; undefined of 0 */
static inline unsigned long __ffs(unsigned long x)
{
	return __builtin_ctzl(x);
}

static inline unsigned long __fls(unsigned long x)
{
	return BITS_PER_LONG - 1 - __builtin_clzl(x);
}

static inline unsigned long __ffs64(u64 x)
{
	return __builtin_ctzll(x);
}

#define ffz(x)	__ffs(~(x))

static inline u32 rol32(u32 w, unsigned int n)
{
	return (w << (n & 31)) | (w >> (-n & 31));
}

static inline u32 ror32(u32 w, unsigned int n)
{
	return (w >> (n & 31)) | (w << (-n & 31));
}

static inline s32 sign_extend32(u32 v, int index)
{
	return (s32)(v << (31 - index)) >> (31 - index);
}

static inline void __set_bit(unsigned int nr, unsigned long *p)
{
	p[BIT_WORD(nr)] |= BIT_MASK(nr);
}

static inline void __clear_bit(unsigned int nr, unsigned long *p)
{
	p[BIT_WORD(nr)] &= ~BIT_MASK(nr);
}

static inline void __assign_bit(unsigned int nr, unsigned long *p, bool v)
{
	if (v)
		__set_bit(nr, p);
	else
		__clear_bit(nr, p);
}

static inline bool test_bit(unsigned int nr, const unsigned long *p)
{
	return p[BIT_WORD(nr)] & BIT_MASK(nr);
}

static inline bool __test_and_set_bit(unsigned int nr, unsigned long *p)
{
	bool old = test_bit(nr, p);

	__set_bit(nr, p);
	return old;
}

static inline bool __test_and_clear_bit(unsigned int nr, unsigned long *p)
{
	bool old = test_bit(nr, p);

	__clear_bit(nr, p);
	return old;
}

/* core runs under its connection's lock: here these need not be atomic */
#define set_bit			__set_bit
#define clear_bit		__clear_bit
#define assign_bit		__assign_bit
#define test_and_set_bit	__test_and_set_bit
#define test_and_clear_bit	__test_and_clear_bit

/* The next bit that is @v in [start, size); size if there is none. */
static inline unsigned long shim_find(const unsigned long *p,
				      unsigned long size, unsigned long start,
				      bool v)
{
	unsigned long i = start;

	while (i < size) {
		unsigned long w = v ? p[BIT_WORD(i)] : ~p[BIT_WORD(i)];

		w &= ~0UL << (i % BITS_PER_LONG);
		i -= i % BITS_PER_LONG;
		if (w) {
			i += __ffs(w);
			return i < size ? i : size;
		}
		i += BITS_PER_LONG;
	}
	return size;
}

static inline unsigned long find_next_bit(const unsigned long *p,
					  unsigned long size,
					  unsigned long start)
{
	return shim_find(p, size, start, true);
}

static inline unsigned long find_next_zero_bit(const unsigned long *p,
					       unsigned long size,
					       unsigned long start)
{
	return shim_find(p, size, start, false);
}

#define find_first_bit(p, size)		find_next_bit(p, size, 0)
#define find_first_zero_bit(p, size)	find_next_zero_bit(p, size, 0)

static inline unsigned long find_last_bit(const unsigned long *p,
					  unsigned long size)
{
	unsigned long i = size;

	while (i)
		if (test_bit(--i, p))
			return i;
	return size;
}

#define for_each_set_bit(bit, p, size)				\
	for ((bit) = find_first_bit(p, size); (bit) < (size);	\
	     (bit) = find_next_bit(p, size, (bit) + 1))

#define for_each_set_bit_from(bit, p, size)			\
	for ((bit) = find_next_bit(p, size, bit); (bit) < (size); \
	     (bit) = find_next_bit(p, size, (bit) + 1))

#define for_each_clear_bit(bit, p, size)			\
	for ((bit) = find_first_zero_bit(p, size); (bit) < (size); \
	     (bit) = find_next_zero_bit(p, size, (bit) + 1))

#endif
