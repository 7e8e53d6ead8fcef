/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Two connections of core that hand each other packets, without a network
 * between them: what the benchmarks of the fast path drive.
 */
#ifndef _FALCON_BENCH_LOOP_H
#define _FALCON_BENCH_LOOP_H

#include "net/falcon/core/core.h"

#define LOOP_WINDOW	128		/* most transactions outstanding */
#define LOOP_LEN	4096		/* bytes of each */

struct loop_end {
	struct falcon_core c __attribute__((aligned(64)));
	struct falcon_txn txn[LOOP_WINDOW];
	struct falcon_rxpkt rx[4 * LOOP_WINDOW];
	struct falcon_resp resp[2 * LOOP_WINDOW];
	struct list_head free_txn, free_rx, free_resp;
	struct falcon_tx out[2 * LOOP_WINDOW];
	u32 nr_out;
};

extern struct loop_end loop_ends[2];
extern u64 loop_completed;		/* transactions since loop_setup() */
extern u64 loop_packets;		/* transmitted, by both ends */

void loop_setup(u32 window);
void loop_round_trip(bool pull);

#endif
