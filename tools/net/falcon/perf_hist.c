// SPDX-License-Identifier: GPL-2.0
/*
 * A histogram with 64 buckets an octave: exact below 64 ns, above it a
 * percentile is at most 1/64 more than the sample it stands for.
 */
#include "perf.h"

static unsigned int hist_bucket(u64 v)
{
	unsigned int shift = 0;

	if (v >= HIST_SUB)
		shift = 63 - __builtin_clzll(v) - 6;
	return shift * HIST_SUB + (v >> shift);
}

/* Largest value of a bucket. */
static u64 hist_top(unsigned int bucket)
{
	unsigned int shift = bucket < 2 * HIST_SUB ? 0 : bucket / HIST_SUB - 1;
	u64 v = bucket - shift * HIST_SUB;

	return ((v + 1) << shift) - 1;
}

void hist_add(struct hist *h, u64 v)
{
	unsigned int bucket = hist_bucket(v);

	if (bucket >= HIST_BUCKETS)
		bucket = HIST_BUCKETS - 1;
	h->count[bucket]++;
	if (!h->n || v < h->min)
		h->min = v;
	if (v > h->max)
		h->max = v;
	h->sum += v;
	h->n++;
}

u64 hist_percentile(const struct hist *h, double percent)
{
	u64 rank = h->n * percent / 100, seen = 0, top;
	unsigned int i;

	for (i = 0; i < HIST_BUCKETS; i++) {
		seen += h->count[i];
		if (seen > rank) {
			top = hist_top(i);
			return top < h->max ? top : h->max;
		}
	}
	return h->max;
}
