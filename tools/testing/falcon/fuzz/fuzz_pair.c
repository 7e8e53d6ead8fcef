// SPDX-License-Identifier: GPL-2.0
/*
 * Two connections of core, a network and two ULPs, all driven by the input:
 * its first bytes set them up, the rest is a program. Packets are lost,
 * duplicated, reordered, and, in some lives, forged; ULPs submit and answer as
 * they like; timers run out; an end may die.
 *
 * Whatever happens, a transaction completes once, counters agree with lists
 * and bitmaps, and at the end everything has come back. As long as nobody
 * forges, a completion without error is one that the other ULP accepted, once,
 * and the rest completes when the network mends its ways.
 */
#include <linux/minmax.h>
#include <net/falcon/core/internal.h>
#include <net/falcon/core/window.h>
#include <net/falcon/core/wire.h>

#include "fuzz.h"

#define MAX_TXNS	48
#define MAX_RX		512
#define MAX_NET		128
#define MAX_OPS		400
#define MENDED_STEPS	200000
#define MENDED_NS	(20000 * MS)
#define MS		1000000ULL

struct packet {
	u8  to, flow;
	u32 t_tx;
	u16 hdr_len, len;
	u8  hdr[FALCON_MAX_HDR_LEN];
};

struct end {
	struct falcon_core c;
	struct falcon_txn txn[MAX_TXNS];
	u8  completions[MAX_TXNS];
	u8  accepted[MAX_TXNS];		/* of the peer's, by RSN */
	struct falcon_resp resp[MAX_TXNS];
	struct falcon_rxpkt *held[MAX_RX];
	u32 nr_txns, nr_completed, nr_held, nr_resps, nr_released;
	u32 nr_seen;			/* of the peer's, on an ordered connection */
};

static struct end end[2];
static struct falcon_resources res[2];
static struct packet net[MAX_NET];
static struct falcon_rxpkt rx_mem[MAX_RX];
static u16 rx_free[MAX_RX];
static u32 nr_net, nr_free;
static bool forged, mortal;
static u64 now;

static const u8 *input, *input_end;

static u8 byte(void)
{
	return input < input_end ? *input++ : 0;
}

static u32 below(u32 n)
{
	u32 x = byte();

	return (n > 256 ? x << 8 | byte() : x) % n;
}

/* ------------------------------------------------------------ the set-up */

static void set_up(void)
{
	static const struct falcon_fae_ops *faes[] = {
		&falcon_fae_fixed, &falcon_fae_swift, &falcon_fae_aimd,
	};
	u8 flags = byte(), budgets = byte(), e, k;
	struct falcon_core_cfg cfg = {
		.features = flags & 3,		/* ordered, EACK always */
		.loss = flags >> 2 & 15,
		.nr_flows = 1 + (flags >> 6),
		.proto = FALCON_PROTO_SOCK,
		.mtu = 4096,
		.max_attempts = 255,
		.rto_ns = 1 * MS,
		.min_rto_ns = MS / 4,
		.max_rto_ns = 8 * MS,
		.ack_coalesce_ns = 8000,
		.ar_fcwnd = 2,
		.delay_target = 191,
	};

	cfg.ack_coalesce_pkts = 1 + below(10);
	cfg.ar_percent = below(101);
	cfg.ooo_threshold = below(4);
	cfg.fae = faes[below(3)];
	mortal = budgets & 1;
	if (mortal) {
		cfg.max_attempts = 1 + below(4);
		cfg.txn_timeout_ns = budgets & 2 ? below(10) * MS : 0;
		cfg.user_timeout_ns = budgets & 4 ? (1 + below(50)) * MS : 0;
		cfg.gapless = flags & 1 && budgets & 64;
		cfg.rnr_limit = budgets & 128 ? 1 + below(4) : 0;
	}
	for (k = 0; k < FALCON_NR_WIN; k++) {
		u32 psn = budgets & 8 ? 0xfffffffc : below(65536);

		cfg.tx_psn[k] = psn;
		cfg.rx_psn[k] = psn;
		cfg.tx_win[k] = 1 + below(200);
	}
	cfg.gate_flight = budgets & 32;
	cfg.win_shift = below(FALCON_WIN_SHIFT_MAX + 1);
	cfg.rx_win[0] = falcon_win_max(&cfg, 0) >> below(5);
	cfg.rx_win[1] = falcon_win_max(&cfg, 1) >> below(5);
	cfg.tx_rsn = budgets & 8 ? 0xfffffffe : 7;
	cfg.rx_rsn = cfg.tx_rsn;
	for (e = 0; e < 2; e++) {
		falcon_res_init(&res[e]);
		for (k = 0; budgets & 16 && k < FALCON_NR_POOL; k++) {
			u32 pkts = 2 + below(6);

			falcon_res_limit(&res[e], k, pkts,
					 (2 + below(16)) * 4096);
		}
		falcon_core_init(&end[e].c, &cfg, &res[e], now);
	}
}

static void reset(void)
{
	u32 i;

	memset(end, 0, sizeof(end));
	nr_net = 0;
	nr_free = MAX_RX;
	for (i = 0; i < MAX_RX; i++)
		rx_free[i] = i;
	forged = false;
	now = 1000 * MS;
}

/* ------------------------------------------------------------- the checks */

static u32 bits(const u64 *map)
{
	u32 i, n = 0;

	for (i = 0; i < FALCON_RX_WIN_MAX / 64; i++)
		n += __builtin_popcountll(map[i]);
	return n;
}

static u32 check_tx_window(const struct falcon_txwin *w)
{
	u32 orc = 0, orrc = 0, flight = 0, psn = w->base;
	const struct falcon_txpkt *p;

	list_for_each_entry(p, &w->pkts, win_node) {
		HOLDS(!falcon_before(p->psn, psn));
		HOLDS(falcon_before(p->psn, w->next));
		psn = p->psn + 1;
		orc += falcon_pkt_is_request(p);
		orrc += !!(p->flags & FALCON_TXF_ORRC);
		flight += p->state == FALCON_TXPKT_FLIGHT;
	}
	HOLDS(w->orc == orc);
	HOLDS(w->orrc == orrc);
	return flight;
}

static void check_end(const struct end *e)
{
	const struct falcon_core *c = &e->c;
	u32 flight = 0, by_flow = 0, i;

	for (i = 0; i < FALCON_NR_WIN; i++) {
		const struct falcon_rxwin *r = &c->rx[i];

		flight += check_tx_window(&c->tx[i]);
		HOLDS(r->nr_rx == bits(r->rx));
		HOLDS(r->nr_ack == bits(r->ack));
		HOLDS(r->nr_ack <= r->nr_rx && r->nr_rx <= r->size);
		HOLDS(!falcon_rxwin_acked(r, r->base));
		HOLDS(r->top - r->base <= r->size);
	}
	for (i = 0; i < FALCON_MAX_FLOWS; i++)
		by_flow += c->flow[i].outstanding[0] +
			   c->flow[i].outstanding[1];
	HOLDS(c->nr_flight == flight && by_flow == flight);
	HOLDS(c->nr_nacks <= FALCON_NACK_QUEUE);
}

static void check_completion(struct end *e, struct falcon_txn *txn)
{
	const struct end *peer = &end[e == &end[0]];
	u32 i = txn - e->txn;

	HOLDS(i < e->nr_txns);
	HOLDS(!e->completions[i]++);
	if (falcon_ordered(&e->c))
		HOLDS(i == e->nr_completed);
	e->nr_completed++;
	if (txn->cmpl != FALCON_CMPL_ACK || forged)
		return;
	HOLDS(peer->accepted[i] == 1);
	HOLDS(!txn->rx || (txn->pull && txn->rx->len <= txn->pkt.req_len));
}

/* ------------------------------------------------------------- the network */

static void transmit(u8 from, const struct falcon_tx *tx)
{
	struct packet *p;

	HOLDS(!end[from].c.fatal);
	HOLDS(tx->len <= 4096);
	if (nr_net == MAX_NET)
		return;				/* a queue overflows */
	p = &net[nr_net++];
	p->to = !from;
	p->flow = tx->flow;
	p->t_tx = (u32)(now * 1000 >> FALCON_TS_SHIFT);
	p->hdr_len = tx->hdr_len;
	p->len = tx->len;
	memcpy(p->hdr, tx->hdr, tx->hdr_len);
}

static void rx_put(const struct falcon_rxpkt *rx)
{
	HOLDS(nr_free < MAX_RX);
	rx_free[nr_free++] = rx - rx_mem;
}

/* A packet arrives, if it is one and there is memory for it. */
static void arrive(const struct packet *p)
{
	struct falcon_rx_meta meta = {
		.now_ns = now,
		.t_tx = p->t_tx,
		.t_rx = (u32)((now + 20000) * 1000 >> FALCON_TS_SHIFT),
		.hops = 2,
		.flow = p->flow,
		.stamp_ok = true,
	};
	struct falcon_pkt_info pi;
	struct falcon_rxpkt *rx;

	if (falcon_wire_parse(p->hdr, p->hdr_len + p->len, &pi) || !nr_free)
		return;
	rx = &rx_mem[rx_free[--nr_free]];
	memset(rx, 0xa5, sizeof(*rx));
	if (falcon_core_rx(&end[p->to].c, &pi, &meta, rx) == FALCON_RX_DONE)
		rx_put(rx);
}

static void lose(u32 i)
{
	net[i] = net[--nr_net];
}

static void deliver(u32 i, bool keep)
{
	struct packet p = net[i];

	if (!keep)
		lose(i);
	arrive(&p);
}

/* One of the packets under way, with some bytes changed */
static void forge(u32 i)
{
	struct packet p = net[i];
	u32 n = 1 + below(4);

	forged = true;
	while (n--) {
		u32 at = below(p.hdr_len);

		p.hdr[at] ^= byte();
	}
	arrive(&p);
}

/* ---------------------------------------------------------------- the ULPs */

/* In order, and without gaps none is left out; an RNR brings one again. */
static void check_delivery(struct end *e, const struct falcon_rxpkt *rx)
{
	u32 i = rx->rsn - e->c.cfg.rx_rsn;

	if (forged || !falcon_ordered(&e->c))
		return;
	HOLDS(i < MAX_TXNS);
	HOLDS(!e->c.cfg.gapless || i <= e->nr_seen);
	e->nr_seen = max(e->nr_seen, i + 1);
}

static void effects(u8 id)
{
	struct end *e = &end[id];
	struct falcon_rxpkt *rx, *rn;
	struct falcon_txn *txn, *tn;
	struct falcon_resp *resp, *pn;
	struct falcon_tx tx;

	while (falcon_core_tx(&e->c, now, &tx))
		transmit(id, &tx);
	list_for_each_entry_safe(rx, rn, &e->c.drop, node)
		rx_put(rx);
	INIT_LIST_HEAD(&e->c.drop);
	list_for_each_entry_safe(rx, rn, &e->c.deliver, node) {
		check_delivery(e, rx);
		e->held[e->nr_held++] = rx;
	}
	INIT_LIST_HEAD(&e->c.deliver);
	list_for_each_entry_safe(txn, tn, &e->c.complete, node) {
		check_completion(e, txn);
		if (txn->rx)
			rx_put(txn->rx);
	}
	INIT_LIST_HEAD(&e->c.complete);
	list_for_each_entry_safe(resp, pn, &e->c.release, node)
		e->nr_released++;
	INIT_LIST_HEAD(&e->c.release);
}

static void submit(u8 id, bool pull, u16 len)
{
	struct end *e = &end[id];
	struct falcon_txn *txn = &e->txn[e->nr_txns];
	int err;

	if (e->nr_txns == MAX_TXNS)
		return;
	if (pull)
		err = falcon_core_pull(&e->c, txn, txn, len & 15, len, now);
	else
		err = falcon_core_push(&e->c, txn, txn, len, now);
	e->nr_txns += !err;
}

static void accept(struct end *e, const struct falcon_rxpkt *rx)
{
	u32 i = rx->rsn - e->c.cfg.rx_rsn;

	if (i < MAX_TXNS)
		e->accepted[i]++;
	HOLDS(forged || (i < MAX_TXNS && e->accepted[i] == 1));
}

/* False if the ULP has to ask again. */
static bool answer_ok(struct end *e, struct falcon_rxpkt *rx, u32 len)
{
	struct falcon_resp *resp = &e->resp[e->nr_resps];

	if (rx->type != FALCON_PKT_PULL_REQ) {
		if (!e->c.fatal)
			accept(e, rx);
		falcon_core_target_ack(&e->c, rx, now);
		rx_put(rx);
		return true;
	}
	if (e->c.fatal || e->nr_resps == MAX_TXNS) {
		falcon_core_target_nack(&e->c, rx, FALCON_NACK_CID, 0, now);
		return true;
	}
	len = min_t(u32, len, rx->req_len);
	if (falcon_core_target_respond(&e->c, rx, resp, resp, len, now))
		return false;
	accept(e, rx);
	e->nr_resps++;
	rx_put(rx);
	return true;
}

static void answer(u8 id, u32 i, u8 how)
{
	struct end *e = &end[id];
	struct falcon_rxpkt *rx = e->held[i];
	bool pull = rx->type == FALCON_PKT_PULL_REQ;

	if (how >= 16) {
		if (!answer_ok(e, rx, how << 5))
			return;
	} else if (how >= 4 || pull) {
		falcon_core_target_rnr(&e->c, rx, how, now);
	} else {
		falcon_core_target_nack(&e->c, rx, FALCON_NACK_CIE + how % 3,
					how, now);
	}
	e->held[i] = e->held[--e->nr_held];
}

/* ------------------------------------------------------------- the program */

static void tick(void)
{
	u64 next = min(falcon_core_next_timer(&end[0].c),
		       falcon_core_next_timer(&end[1].c));
	u8 e;

	if (next != FALCON_NO_TIMER)
		now = max(now, next);
	for (e = 0; e < 2; e++) {
		falcon_core_timer(&end[e].c, now);
		effects(e);
	}
}

static void op(void)
{
	u8 code = byte(), id = code >> 7;
	u32 which;

	now += 500;
	switch (code & 15) {
	case 0 ... 2:
		submit(id, code & 16, below(4097));
		break;
	case 3:
		if (nr_net)
			lose(below(nr_net));
		return;
	case 4:
		if (nr_net)
			deliver(below(nr_net), true);
		break;
	case 5 ... 7:
		if (!end[id].nr_held)
			return;
		which = below(end[id].nr_held);
		answer(id, which, byte());
		break;
	case 8:
		tick();
		return;
	case 9:
		now += below(65536) * 100;
		break;
	case 10:
		if (nr_net && code & 32)
			forge(below(nr_net));
		break;
	case 11:
		if (code & 16)
			falcon_core_xlr(&end[id].c, byte() & 3);
		else
			falcon_core_rx_level(&end[id].c, byte());
		break;
	case 12:
		if (mortal && code & 64)
			falcon_core_abort(&end[id].c, FALCON_CMPL_DEAD_CONN);
		break;
	default:
		if (nr_net)
			deliver(below(nr_net), false);
		break;
	}
	effects(0);
	effects(1);
}

static bool all_done(void)
{
	return end[0].nr_completed == end[0].nr_txns &&
	       end[1].nr_completed == end[1].nr_txns;
}

/* An honest, reliable network and quick ULPs: everything must complete. */
static void mend(void)
{
	u64 patience = now + MENDED_NS;	/* an RNR may take 655 ms */
	u32 steps = MENDED_STEPS;
	u8 e;

	while (!all_done()) {
		HOLDS(steps-- && now < patience);
		if (nr_net)
			deliver(0, false);
		else
			tick();
		for (e = 0; e < 2; e++) {
			if (end[e].nr_held)
				answer(e, 0, 255);
			effects(e);
		}
	}
}

/* Both ends die: all comes back. */
static void bury(void)
{
	u8 e, k;

	for (e = 0; e < 2; e++) {
		falcon_core_abort(&end[e].c, FALCON_CMPL_DEAD_CONN);
		effects(e);
		while (end[e].nr_held)
			answer(e, 0, 255);
		effects(e);
		HOLDS(end[e].nr_completed == end[e].nr_txns);
		HOLDS(end[e].nr_released == end[e].nr_resps);
		check_end(&end[e]);
		for (k = 0; k < FALCON_NR_POOL; k++)
			HOLDS(!atomic_read(&res[e].pool[k].pkts) &&
			      !atomic_read(&res[e].pool[k].cells));
	}
	HOLDS(nr_free == MAX_RX);
}

int fuzz_one_input(const u8 *data, size_t len)
{
	u32 ops = 0;

	input = data;
	input_end = data + len;
	reset();
	set_up();
	while (input < input_end && ops++ < MAX_OPS) {
		op();
		if (ops % 8 == 0) {
			check_end(&end[0]);
			check_end(&end[1]);
		}
	}
	if (!forged && !mortal)
		mend();
	bury();
	return 0;
}
