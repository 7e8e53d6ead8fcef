// SPDX-License-Identifier: GPL-2.0
/*
 * The pattern of verified data. Eight bytes at offset 8 i are a mix of the
 * seed and i, so every byte is known from its place alone: a receiver that
 * compares them finds what was lost, repeated, moved or altered, and where,
 * without being told a check-sum. Seeds differ between connections.
 */
#include <string.h>
#include "perf.h"

/* A bijection that spreads every bit of its input over all of its output. */
static u64 pattern_word(u64 seed, u64 i)
{
	u64 x = seed + i * 0x9e3779b97f4a7c15ull;

	x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93ull;
	x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93ull;
	return x ^ (x >> 32);
}

static void pattern_bytes(u64 seed, u64 offset, unsigned char *out,
			  size_t len)
{
	unsigned char word[8];
	unsigned int i;
	u64 w;

	w = pattern_word(seed, offset / 8);
	for (i = 0; i < 8; i++)
		word[i] = w >> (8 * i);
	memcpy(out, word + offset % 8, len);
}

/* Bytes from @offset to the end of its word, at most @len. */
static size_t pattern_step(u64 offset, size_t len)
{
	size_t step = 8 - offset % 8;

	return step < len ? step : len;
}

void pattern_fill(u64 seed, u64 offset, void *buf, size_t len)
{
	unsigned char *p = buf;
	size_t step;

	for (; len; len -= step, p += step, offset += step) {
		step = pattern_step(offset, len);
		pattern_bytes(seed, offset, p, step);
	}
}

long long pattern_check(u64 seed, u64 offset, const void *buf,
			size_t len)
{
	const unsigned char *p = buf;
	unsigned char want[8];
	size_t step, i;

	for (; len; len -= step, p += step, offset += step) {
		step = pattern_step(offset, len);
		pattern_bytes(seed, offset, want, step);
		if (!memcmp(p, want, step))
			continue;
		for (i = 0; p[i] == want[i];)
			i++;
		return p + i - (const unsigned char *)buf;
	}
	return -1;
}
