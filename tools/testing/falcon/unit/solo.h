/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One connection of net/falcon/core, its peer played by the test packet by
 * packet. Time stands still unless the test moves it. PSNs and RSNs begin at
 * 0, so that a test can say "PSN 3"; those that hold near the wrap say so.
 */
#ifndef _FALCON_UNIT_SOLO_H
#define _FALCON_UNIT_SOLO_H

#include <linux/errno.h>
#include "harness.h"
#include "net/falcon/core/core.h"
#include "net/falcon/core/internal.h"
#include "net/falcon/core/window.h"
#include "net/falcon/core/wire.h"

#define US		1000ULL
#define MS		1000000ULL
#define SOLO_MTU	4096
#define SOLO_MAX	2048
#define REQ		FALCON_WIN_REQ
#define DATA		FALCON_WIN_DATA

struct solo {
	struct falcon_core c;
	struct falcon_core_cfg cfg;
	u64 now;
	struct falcon_txn txn[SOLO_MAX];
	struct falcon_rxpkt rx[SOLO_MAX];
	struct falcon_resp resp[SOLO_MAX];
	u32 nr_txn, nr_rx, nr_resp;
	struct falcon_tx tx;		/* last packet transmitted, */
	struct falcon_pkt_info pi;	/* parsed */
	enum falcon_rx_verdict verdict;	/* of the last packet received */
	/* of packets received */
	u32 rtt_ns;			/* age of what an ACK echoes; 0: no stamp */
	u32 held_ns;			/* of that, by the peer */
	u8  flow;
	bool ce;
};

/* @s is static memory of the test: too large for a stack. */
void solo_cfg(struct solo *s, bool ordered);
void solo_start(struct solo *s);
void solo_init(struct solo *s, bool ordered);
void solo_window(struct solo *s, u32 fcwnd, u16 ncwnd);

struct falcon_txn *solo_push(struct solo *s, u16 len);
struct falcon_txn *solo_pull(struct solo *s, u16 req_len);
struct falcon_txn *solo_completed(struct solo *s);
struct falcon_rxpkt *solo_delivered(struct solo *s);
struct falcon_rxpkt *solo_dropped(struct solo *s);
struct falcon_resp *solo_respond(struct solo *s, struct falcon_rxpkt *rx,
				 u16 len);
struct falcon_resp *solo_released(struct solo *s);

/* Transmits one packet; false if there is none. */
bool solo_tx(struct solo *s);
/* Transmits all of them; how many. */
u32 solo_flush(struct solo *s);
/* Transmits one, which must be of this type and PSN. */
#define solo_expect_tx(s, t, n) do {					\
	struct solo *_s = (s);						\
									\
	ASSERT_TRUE(solo_tx(_s));					\
	ASSERT_EQ(_s->pi.type, t);					\
	ASSERT_EQ(_s->pi.psn, n);					\
} while (0)
#define solo_expect_quiet(s)	ASSERT_FALSE(solo_tx(s))

void solo_wait(struct solo *s, u64 ns);
/* Moves to the next timer, runs it; false if there is none. */
bool solo_timer(struct solo *s);

/* Packets of the peer */
struct falcon_rxpkt *solo_rx(struct solo *s, struct falcon_pkt_info *pi);
struct falcon_rxpkt *solo_rx_push(struct solo *s, u32 psn, u32 rsn);
struct falcon_rxpkt *solo_rx_push_ar(struct solo *s, u32 psn, u32 rsn);
struct falcon_rxpkt *solo_rx_pull(struct solo *s, u32 psn, u32 rsn);
struct falcon_rxpkt *solo_rx_pull_data(struct solo *s, u32 psn, u32 rsn,
				       u16 len);
struct falcon_rxpkt *solo_rx_resync(struct solo *s, u8 type, u32 psn, u32 rsn,
				    u8 code);
void solo_back(struct solo *s, u32 req, u32 data);
void solo_eack(struct solo *s, u32 req, u32 data, u64 req_bits, u64 data_ack,
	       u64 data_rx, u8 own);
void solo_nack(struct solo *s, u8 win, u32 psn, u8 code);
void solo_rnr(struct solo *s, u32 psn, u8 timeout);
void solo_base_pi(const struct solo *s, u8 type, struct falcon_pkt_info *pi);

#endif
