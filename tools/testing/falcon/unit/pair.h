/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Two connections of net/falcon/core, joined by a network of the test's making
 * in simulated time. Each end has a ULP that submits transactions and answers
 * those of the other; all it does is checked: completions once and in order,
 * deliveries in order, nothing after the end, nothing left over.
 */
#ifndef _FALCON_UNIT_PAIR_H
#define _FALCON_UNIT_PAIR_H

#include "harness.h"
#include "net/falcon/core/core.h"

#define PAIR_MAX_TXNS	4096
#define PAIR_US		1000ULL
#define PAIR_MS		1000000ULL
#define PAIR_MTU	4096

struct pair;
struct pair_end;

/* A packet in the network */
struct pair_pkt {
	struct list_head node;		/* by arrival time */
	u64 at_ns;
	u64 sent_ns;
	u8  to;				/* end */
	u8  flow;
	u8  hdr_len;
	u8  hdr[FALCON_MAX_HDR_LEN];
	u16 len;			/* payload */
	u32 payload;			/* what stands for it */
	struct falcon_pkt_info pi;	/* parsed, for filters */
};

/* What a ULP does with a delivery */
enum pair_answer {
	PAIR_ACK,			/* push: ack; pull: respond in full */
	PAIR_SHORT,			/* pull: respond with half */
	PAIR_EMPTY,			/* pull: respond with nothing */
	PAIR_RNR,
	PAIR_CIE,
	PAIR_NRE,
	PAIR_HOLD,			/* the test answers */
};

/* A packet received, with its payload */
struct pair_rx {
	struct falcon_rxpkt rx;		/* first */
	struct list_head node;		/* ULP: to be answered at @at_ns */
	u64 at_ns;
	u32 payload;
	u8  answer;
	u8  rnr_code;
	bool taken;			/* pull: acked, response to come */
};

struct pair_txn {
	struct falcon_txn txn;		/* first */
	u32 id;
	u32 completions;
	u32 accepted;			/* by the other ULP */
	u16 len, req_len;
	bool pull;
	u8  expect;			/* completion code, if @expected */
	bool expected;
};

struct pair_resp {
	struct falcon_resp resp;	/* first */
	u32 payload;
};

struct pair_end {
	struct falcon_core c;
	struct pair *pair;
	u8  id;
	struct pair_txn *txns;
	u32 nr_txns;
	u32 nr_completed;
	u32 next_cmpl_rsn;
	struct list_head answers;	/* pair_rx by @at_ns */
	u32 nr_rx;			/* pair_rx alive */
	u32 max_rx;
	u32 nr_resp;
	u32 nr_held;			/* with the ULP */
	u64 rx_lo, rx_hi;		/* delivered: RSNs from the first */
	u8  *rsn_state;			/* by RSN - first: enum in pair.c */
	bool dead;
	u32 cmpl_count[16];
	u32 nr_delivered;
	u32 timers;			/* timer calls without any effect */
};

struct pair {
	struct pair_end end[2];
	struct falcon_core_cfg cfg[2];
	struct falcon_resources *res[2];
	u64 now_ns;			/* 0 at first: it begins at 1 s */
	struct list_head net;
	u64 nr_pkts;
	u64 delay_ns;			/* one way */
	u64 jitter_ns;			/* uniform, on top: reorders */
	u32 drop_ppm, dup_ppm, ecn_ppm;
	u64 extra_flow_ns;		/* flow i has i times this on top */
	u64 black_from_ns, black_to_ns;	/* nothing passes in between */
	/* what the ULPs do; chance of each per million, rest PAIR_ACK now */
	u32 late_ppm, rnr_ppm, cie_ppm, short_ppm, empty_ppm;
	u64 late_ns;			/* longest delay of a late answer */
	enum pair_answer (*answer)(struct pair_end *e, struct pair_rx *rx);
	/* sees each packet as it leaves: false drops it */
	bool (*filter)(struct pair *p, struct pair_pkt *pkt);
	void *priv;
};

void pair_cfg(struct falcon_core_cfg *cfg, bool ordered);
void pair_init(struct pair *p, const struct falcon_core_cfg *cfg);
struct pair_txn *pair_push(struct pair_end *e, u16 len);
struct pair_txn *pair_pull(struct pair_end *e, u16 req_len);
void pair_answer(struct pair_end *e, struct pair_rx *rx, enum pair_answer a);
void pair_pump(struct pair *p);
u64 pair_next(const struct pair *p);
bool pair_step(struct pair *p);
void pair_run_until(struct pair *p, u64 ns);
bool pair_run_idle(struct pair *p, u64 ns);
void pair_abort(struct pair_end *e, u8 code);
bool pair_done(const struct pair *p);
void pair_destroy(struct pair *p);
void pair_check_clean(struct pair *p);

#endif
