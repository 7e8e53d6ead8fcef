// SPDX-License-Identifier: GPL-2.0
/*
 * Freedom from deadlock (8.2.1) against a scheduler that means ill. Some
 * connections between two hosts share pools for a few packets; at each step
 * the adversary picks what happens next: any packet arrives, or is lost, any
 * ULP submits or answers, any timer runs out. It may lose and refuse only so
 * often; then everything must complete, whatever the order was.
 *
 * A host may also be one whose ULP takes no push while it waits for a pull of
 * its own, as where reads must not be overtaken by writes. On unordered
 * connections, with room and windows for all that arrives, that is its right:
 * the answers that it waits for pass the other's requests (CR rule 2).
 *
 * Each seed is one schedule. SCHEDULES of the environment says how many,
 * SCHEDULE runs one alone.
 */
#include <stdlib.h>
#include "solo.h"

#define CONNS		4
#define MAX_PKTS	256
#define MAX_RX		512
#define MAX_TXNS	6
#define ROOMY		(2 * MAX_TXNS)	/* a window that all of it fits in */
#define PATIENCE	4000		/* steps without a completion */

struct packet {
	u8 conn, to;
	struct falcon_pkt_info pi;
};

struct ulp {
	u32 wanted, submitted, completed, pulls;
	struct falcon_txn txn[MAX_TXNS];
	struct falcon_resp resp[MAX_TXNS];
	bool pull[MAX_TXNS];
	struct falcon_rxpkt *held[MAX_RX];
	u32 nr_held, responses;
};

static struct falcon_core core[CONNS][2];
static struct ulp ulp[CONNS][2];
static struct falcon_resources res[2];
static struct packet net[MAX_PKTS];
static struct falcon_rxpkt rxs[MAX_RX];
static u16 free_rx[MAX_RX];
static u32 conns, nr_net, nr_free, losses, refusals;
static bool reads_first;
static u64 now;
static u64 hol_refused;			/* in all schedules */

static struct falcon_rxpkt *rx_get(void)
{
	ASSERT_GT(nr_free, 0);
	return &rxs[free_rx[--nr_free]];
}

static void rx_put(struct falcon_rxpkt *rx)
{
	free_rx[nr_free++] = rx - rxs;
}

/* Pools for a few packets */
static void setup_pools(void)
{
	u32 k;
	u8 e;

	for (e = 0; e < 2; e++) {
		falcon_res_init(&res[e]);
		res[e].alpha_shift = unit_rand_below(4);
		for (k = 0; k < FALCON_NR_POOL; k++)
			if (!reads_first || k != FALCON_POOL_RX_NET)
				falcon_res_limit(&res[e], k,
						 2 + unit_rand_below(3), 0);
		falcon_res_limit(&res[e], FALCON_POOL_TX_DATA,
				 1 + unit_rand_below(2), 0);
	}
}

static void setup_conn(u32 i, u8 e, const struct falcon_core_cfg *cfg)
{
	struct falcon_core *c = &core[i][e];
	struct ulp *u = &ulp[i][e];
	u32 fcwnd = 1 + unit_rand_below(6), k;

	falcon_core_init(c, cfg, &res[e], now);
	c->ncwnd = 1 + unit_rand_below(reads_first ? 2 : 4);
	c->flow[0].fcwnd = (reads_first ? ROOMY : fcwnd) <<
			   FALCON_FCWND_SHIFT;
	memset(u, 0, offsetof(struct ulp, txn));
	u->wanted = unit_rand_below(MAX_TXNS + 1);
	u->nr_held = 0;
	u->responses = 0;
	for (k = 0; k < MAX_TXNS; k++)
		u->pull[k] = unit_rand() & 1;
}

/* And windows for hardly more */
static void setup(u64 seed)
{
	struct falcon_core_cfg cfg = {
		.features = FALCON_F_ORDERED | FALCON_F_EACK_ALWAYS,
		.proto = FALCON_PROTO_SOCK,
		.nr_flows = 1,
		.max_attempts = 255,
		.mtu = 4096,
		.rto_ns = 1 * MS,
		.min_rto_ns = 1 * MS,
		.max_rto_ns = 2 * MS,
		.ack_coalesce_ns = 10 * US,
		.ack_coalesce_pkts = 2,
		.ooo_threshold = 3,
		.fae = &falcon_fae_fixed,
	};
	u32 i, k;

	unit_srand(seed);
	reads_first = unit_rand_below(4) == 0;
	conns = 2 + unit_rand_below(CONNS - 1);
	losses = unit_rand_below(12);
	refusals = unit_rand_below(6);
	nr_net = 0;
	now = 1000 * MS;
	for (i = 0; i < MAX_RX; i++)
		free_rx[i] = i;
	nr_free = MAX_RX;
	setup_pools();
	cfg.loss = unit_rand_below(4);
	if (reads_first)
		cfg.features &= ~FALCON_F_ORDERED;
	for (k = 0; k < 2; k++) {
		cfg.rx_win[k] = reads_first ? ROOMY : 1 + unit_rand_below(4);
		cfg.tx_win[k] = reads_first ? ROOMY : 1 + unit_rand_below(6);
	}
	for (i = 0; i < conns; i++) {
		setup_conn(i, 0, &cfg);
		setup_conn(i, 1, &cfg);
	}
}

static void effects(u32 i, u8 e)
{
	struct falcon_core *c = &core[i][e];
	struct ulp *u = &ulp[i][e];
	struct falcon_rxpkt *rx, *n;
	struct falcon_txn *txn, *tn;
	struct falcon_tx tx;

	while (falcon_core_tx(c, now, &tx)) {
		if (nr_net == MAX_PKTS)
			continue;	/* a queue overflows: lost */
		net[nr_net].conn = i;
		net[nr_net].to = !e;
		ASSERT_EQ(falcon_wire_parse(tx.hdr, tx.hdr_len + tx.len,
					    &net[nr_net].pi), 0);
		nr_net++;
	}
	list_for_each_entry_safe(rx, n, &c->drop, node)
		rx_put(rx);
	INIT_LIST_HEAD(&c->drop);
	list_for_each_entry_safe(rx, n, &c->deliver, node)
		u->held[u->nr_held++] = rx;
	INIT_LIST_HEAD(&c->deliver);
	list_for_each_entry_safe(txn, tn, &c->complete, node) {
		if (falcon_ordered(c))
			ASSERT_EQ(txn->pkt.rsn, u->completed);
		ASSERT_EQ(txn->cmpl, FALCON_CMPL_ACK);
		u->completed++;
		u->pulls -= txn->pull;
		if (txn->rx)
			rx_put(txn->rx);
	}
	INIT_LIST_HEAD(&c->complete);
	INIT_LIST_HEAD(&c->release);
}

static void submit(u32 i, u8 e)
{
	struct ulp *u = &ulp[i][e];
	struct falcon_txn *txn = &u->txn[u->submitted];
	int err;

	if (u->submitted == u->wanted)
		return;
	if (u->pull[u->submitted])
		err = falcon_core_pull(&core[i][e], txn, txn, 8, 100, now);
	else
		err = falcon_core_push(&core[i][e], txn, txn, 100, now);
	if (err)
		return;
	u->submitted++;
	u->pulls += txn->pull;
}

/* Is a head-of-line request with a ULP of this host, or waits out its RNR? */
static bool hol_admitted(u8 e)
{
	const struct falcon_rxpkt *rx;
	u32 i;

	for (i = 0; i < conns; i++) {
		if (ulp[i][e].nr_held)
			return true;
		list_for_each_entry(rx, &core[i][e].reorder, node)
			if (rx->flags & FALCON_RXF_RNR)
				return true;
	}
	return false;
}

static void arrive(u32 k)
{
	struct packet pkt = net[k];
	struct falcon_core *c = &core[pkt.conn][pkt.to];
	struct falcon_rx_meta meta = { .now_ns = now };
	struct falcon_rxpkt *rx = rx_get();
	u64 refused = c->stats.rx_no_resource;
	bool hol = falcon_ordered(c) && pkt.pi.rsn == c->rx_nrsn &&
		   !c->nr_rnr;

	net[k] = net[--nr_net];
	if (falcon_core_rx(c, &pkt.pi, &meta, rx) == FALCON_RX_DONE)
		rx_put(rx);
	if (c->stats.rx_no_resource != refused && hol) {
		/* CR rule 3: another one has been admitted instead */
		hol_refused++;
		EXPECT_TRUE(hol_admitted(pkt.to));
	}
	effects(pkt.conn, pkt.to);
}

static void answer(u32 i, u8 e)
{
	struct ulp *u = &ulp[i][e];
	struct falcon_core *c = &core[i][e];
	struct falcon_rxpkt *rx;
	u32 k;

	if (!u->nr_held)
		return;
	k = unit_rand_below(u->nr_held);
	rx = u->held[k];
	if (reads_first && u->pulls && rx->type != FALCON_PKT_PULL_REQ)
		return;
	if (refusals && rx->state != FALCON_PULL_REQ_ULP_ACKD &&
	    unit_rand_below(8) == 0) {
		refusals--;
		u->held[k] = u->held[--u->nr_held];
		falcon_core_target_rnr(c, rx, 1, now);
		return;
	}
	if (rx->type != FALCON_PKT_PULL_REQ) {
		falcon_core_target_ack(c, rx, now);
	} else {
		struct falcon_resp *resp = &u->resp[u->responses];

		if (falcon_core_target_respond(c, rx, resp, resp, 100, now)) {
			/* no room yet: taken, so that it holds nothing up */
			if (rx->state == FALCON_PULL_REQ_ULP_TX)
				falcon_core_target_ack(c, rx, now);
			return;
		}
		u->responses++;
	}
	u->held[k] = u->held[--u->nr_held];
	rx_put(rx);
}

/* Time passes: to the next timer of all, or only a little. */
static void tick(void)
{
	u64 next = FALCON_NO_TIMER;
	u32 i;
	u8 e;

	for (i = 0; i < conns; i++)
		for (e = 0; e < 2; e++)
			next = min(next, falcon_core_next_timer(&core[i][e]));
	if (next != FALCON_NO_TIMER)
		now = max(now, next);
	for (i = 0; i < conns; i++)
		for (e = 0; e < 2; e++)
			if (falcon_core_next_timer(&core[i][e]) <= now)
				falcon_core_timer(&core[i][e], now);
}

static bool all_done(void)
{
	u32 i;

	for (i = 0; i < conns; i++)
		if (ulp[i][0].completed != ulp[i][0].wanted ||
		    ulp[i][1].completed != ulp[i][1].wanted)
			return false;
	return true;
}

static u32 total_completed(void)
{
	u32 i, n = 0;

	for (i = 0; i < conns; i++)
		n += ulp[i][0].completed + ulp[i][1].completed;
	return n;
}

static void step(void)
{
	u32 i = unit_rand_below(conns);
	u8 e = unit_rand() & 1;

	now += 100;
	switch (unit_rand_below(16)) {
	case 0 ... 2:
		submit(i, e);
		break;
	case 3:
		if (nr_net && losses) {
			losses--;
			i = unit_rand_below(nr_net);
			net[i] = net[--nr_net];
		}
		return;
	case 4 ... 6:
		answer(i, e);
		break;
	case 7:
		if (!nr_net || unit_rand_below(16) == 0)
			tick();
		for (i = 0; i < conns; i++) {
			effects(i, 0);
			effects(i, 1);
		}
		return;
	default:
		if (nr_net)
			arrive(unit_rand_below(nr_net));
		return;
	}
	effects(i, e);
}

/* False on a stall. */
static bool schedule(u64 seed)
{
	u32 patience = PATIENCE, done = 0;

	setup(seed);
	while (!all_done()) {
		u32 n;

		step();
		n = total_completed();
		patience = n == done ? patience - 1 : PATIENCE;
		done = n;
		if (!patience || unit_failed())
			return false;
	}
	return true;
}

/*
 * spec: 8.2.1.1-1 8.2.1.2-1 8.2.1.2-2 8.2.1.2-5 UR rule and CR rules 1 to 3:
 * connections on small pools get on under any schedule
 */
TEST(deadlock_free_by_any_schedule)
{
	const char *many = getenv("SCHEDULES"), *one = getenv("SCHEDULE");
	u64 seed, schedules = many ? strtoull(many, NULL, 0) : 5000;

	if (one) {
		EXPECT_TRUE(schedule(strtoull(one, NULL, 0)));
		return;
	}
	for (seed = 1; seed <= schedules; seed++) {
		if (schedule(seed))
			continue;
		unit_fail(__FILE__, __LINE__, "stall, schedule %llu",
			  (unsigned long long)seed);
		return;
	}
	/* the pools were as small as that */
	EXPECT_GT(hol_refused, schedules / 100);
}
