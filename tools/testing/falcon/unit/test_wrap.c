// SPDX-License-Identifier: GPL-2.0
/*
 * Sequence numbers and times wrap, and nobody notices: a life that begins next
 * to where they do is the same, packet by packet, as one that is far from it.
 * PSNs and RSNs have 32 bits, time-stamps 32 and those of the adaptive engine
 * 24, in units of 131.072 ns. Times are moved by whole multiples of 131072 ns,
 * 1000 units, so that they round alike.
 */
#include <stdlib.h>
#include "pair.h"

#define BLOCK	131072ULL		/* ns */

/* Numbers and the time that a life begins at */
struct origin {
	u32 psn, rsn;
	u64 blocks;
};

static const struct origin *from;
static u64 hash;

static void mix(u64 x)
{
	hash = (hash ^ x) * 0x9e3779b97f4a7c15ULL;
	hash ^= hash >> 29;
}

/* All that a packet says, counted from the origin */
static bool note(struct pair *p, struct pair_pkt *pkt)
{
	const struct falcon_pkt_info *pi = &pkt->pi;
	bool ack = pi->type == FALCON_PKT_BACK || pi->type == FALCON_PKT_EACK;
	u32 unit = from->blocks * 1000;

	mix(p->now_ns - from->blocks * BLOCK);
	mix(pkt->sent_ns - from->blocks * BLOCK);
	mix(pi->type << 16 | pkt->to << 8 | pkt->flow);
	mix(pi->rbpsn[0] - from->psn);
	mix(pi->rbpsn[1] - from->psn);
	if (ack || pi->type == FALCON_PKT_NACK) {
		if (pi->echo_t1)
			mix((u64)(pi->echo_t1 - unit) << 32 |
			    (u32)(pi->echo_t2 - unit));
		mix(pi->data_rx[0] ^ pi->data_rx[1] << 1);
		mix(pi->data_ack[0] ^ pi->req_bits[0] << 7);
		mix(pi->own << 8 | pi->nack_code);
	} else {
		mix(pi->psn - from->psn);
		mix((u64)(pi->rsn - from->rsn) << 32 | pi->len << 1 | pi->ar);
	}
	return true;
}

/* One life of a seed; what it was, as a number */
static u64 live(u64 seed, const struct origin *o)
{
	struct pair *p = calloc(1, sizeof(*p));
	struct falcon_core_cfg cfg;
	u32 i;

	from = o;
	hash = seed;
	unit_srand(seed);
	pair_cfg(&cfg, unit_rand() & 1);
	cfg.loss = unit_rand_below(16);
	cfg.nr_flows = 1 + unit_rand_below(FALCON_MAX_FLOWS);
	cfg.fae = unit_rand() & 1 ? &falcon_fae_swift : &falcon_fae_fixed;
	cfg.max_attempts = 100;
	for (i = 0; i < 2; i++) {
		cfg.tx_psn[i] = o->psn;
		cfg.rx_psn[i] = o->psn;
	}
	cfg.tx_rsn = o->rsn;
	cfg.rx_rsn = o->rsn;
	p->now_ns = o->blocks * BLOCK;
	p->filter = note;
	p->drop_ppm = 50000;
	p->dup_ppm = 20000;
	p->rnr_ppm = 20000;
	p->cie_ppm = 10000;
	p->jitter_ns = unit_rand() & 1 ? 20 * PAIR_US : 0;
	pair_init(p, &cfg);
	for (i = 0; i < 60; i++) {
		struct pair_end *e = &p->end[unit_rand() & 1];

		if (unit_rand() & 1)
			pair_pull(e, unit_rand_below(PAIR_MTU + 1));
		else
			pair_push(e, unit_rand_below(PAIR_MTU + 1));
		if (i % 10 == 9)
			pair_run_until(p, p->now_ns + 100 * PAIR_US);
	}
	EXPECT_TRUE(pair_run_idle(p, 10000 * PAIR_MS));
	pair_check_clean(p);
	mix(p->nr_pkts);
	pair_destroy(p);
	free(p);
	return hash;
}

static const struct origin far = { 0x20000, 0x30000, 7630 };	/* 1 s */

static void same_as_far(const struct origin *o)
{
	u64 seed;

	for (seed = 1; seed <= 300; seed++) {
		if (live(seed, o) == live(seed, &far))
			continue;
		unit_fail(__FILE__, __LINE__, "not the same, seed %llu",
			  (unsigned long long)seed);
		return;
	}
}

/* spec: 6.1.2-2 9.1.1-2 9.1.1-5 9.2.1-1 a life over the wrap of all PSNs */
TEST(psns_wrap_unnoticed)
{
	static const struct origin o = { 0xfffffff4, 0x30000, 7630 };

	same_as_far(&o);
}

/* spec: 8.4.1-2 8.4.1-4 8.5.1-2 8.5.1-4 a life over the wrap of all RSNs */
TEST(rsns_wrap_unnoticed)
{
	static const struct origin o = { 0x20000, 0xfffffff8, 7630 };

	same_as_far(&o);
}

/* spec: 9.1.1-2 8.4.1-2 nor where a signed 32-bit number turns negative */
TEST(signs_change_unnoticed)
{
	static const struct origin o = { 0x7ffffff4, 0x7ffffff8, 7630 };

	same_as_far(&o);
}

/* spec: 10.3.6-2 10.1+1 a life over the wrap of 24-bit times, after 2.2 s */
TEST(times_of_24_bits_wrap_unnoticed)
{
	/* 2^24 units are 16777.216 blocks: the wrap comes after 0.03 and 1 ms */
	static const struct origin o[] = {
		{ 0x20000, 0x30000, 16777 }, { 0x20000, 0x30000, 16770 },
	};

	same_as_far(&o[0]);
	same_as_far(&o[1]);
}

/* spec: 10.1+1 a life over the wrap of 32-bit times, after 563 s */
TEST(times_of_32_bits_wrap_unnoticed)
{
	/* 2^32 units are 4294967.296 blocks */
	static const struct origin o[] = {
		{ 0x20000, 0x30000, 4294967 }, { 0x20000, 0x30000, 4294960 },
	};

	same_as_far(&o[0]);
	same_as_far(&o[1]);
}

/* spec: 9.1.1-2 8.4.1-2 10.1+1 and all at once */
TEST(everything_wraps_unnoticed)
{
	static const struct origin o = { 0xfffffff4, 0xfffffff8, 4294960 };

	same_as_far(&o);
}
