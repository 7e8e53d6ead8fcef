// SPDX-License-Identifier: GPL-2.0
/*
 * See pair.h. The simulation is a loop over the earliest of: a packet's
 * arrival, a ULP's late answer, a timer of either core.
 */
#include <stdlib.h>
#include "net/falcon/core/wire.h"
#include "net/falcon/core/internal.h"
#include "pair.h"

/* What the target's ULP knows of an RSN of an ordered connection */
enum { RSN_NEW, RSN_AT_ULP, RSN_RNR, RSN_ACCEPTED };

static bool chance(u32 ppm)
{
	return ppm && unit_rand_below(1000000) < ppm;
}

void pair_cfg(struct falcon_core_cfg *cfg, bool ordered)
{
	memset(cfg, 0, sizeof(*cfg));
	cfg->cid = 0x111111;
	cfg->peer_cid = 0x222222;
	cfg->features = FALCON_F_EACK_ALWAYS;
	if (ordered)
		cfg->features |= FALCON_F_ORDERED;
	cfg->loss = FALCON_LOSS_RACK | FALCON_LOSS_TLP;
	cfg->proto = FALCON_PROTO_SOCK;
	cfg->nr_flows = 1;
	cfg->max_attempts = 10;
	cfg->tx_psn[0] = 0xfffffff0;
	cfg->tx_psn[1] = 0xffffffe0;
	cfg->rx_psn[0] = 0x7ffffff0;
	cfg->rx_psn[1] = 0xfffffff8;
	cfg->tx_rsn = 0xfffffffa;
	cfg->rx_rsn = 0x7ffffffd;
	cfg->tx_win[0] = FALCON_TX_WIN_MAX;
	cfg->tx_win[1] = FALCON_TX_WIN_MAX;
	cfg->rx_win[0] = FALCON_RX_WIN_REQ;
	cfg->rx_win[1] = FALCON_RX_WIN_DATA;
	cfg->mtu = PAIR_MTU;
	cfg->rto_ns = 1 * PAIR_MS;
	cfg->min_rto_ns = 250 * PAIR_US;
	cfg->max_rto_ns = 64 * PAIR_MS;
	cfg->ack_coalesce_ns = 8 * PAIR_US;
	cfg->ack_coalesce_pkts = 10;
	cfg->ar_fcwnd = 2;
	cfg->ar_percent = 10;
	cfg->ooo_threshold = 3;
	cfg->delay_target = 191;
	cfg->fae = &falcon_fae_fixed;
}

/* @cfg is end 0's; end 1's is its mirror. */
void pair_init(struct pair *p, const struct falcon_core_cfg *cfg)
{
	u8 i;

	INIT_LIST_HEAD(&p->net);
	if (!p->delay_ns)
		p->delay_ns = 10 * PAIR_US;
	if (!p->now_ns)
		p->now_ns = 1000 * PAIR_MS;
	p->cfg[0] = *cfg;
	p->cfg[1] = *cfg;
	p->cfg[1].cid = cfg->peer_cid;
	p->cfg[1].peer_cid = cfg->cid;
	p->cfg[1].tx_rsn = cfg->rx_rsn;
	p->cfg[1].rx_rsn = cfg->tx_rsn;
	for (i = 0; i < FALCON_NR_WIN; i++) {
		p->cfg[1].tx_psn[i] = cfg->rx_psn[i];
		p->cfg[1].rx_psn[i] = cfg->tx_psn[i];
	}
	for (i = 0; i < 2; i++) {
		struct pair_end *e = &p->end[i];

		memset(e, 0, sizeof(*e));
		e->pair = p;
		e->id = i;
		INIT_LIST_HEAD(&e->answers);
		e->txns = calloc(PAIR_MAX_TXNS, sizeof(*e->txns));
		e->rsn_state = calloc(PAIR_MAX_TXNS, 1);
		falcon_core_init(&e->c, &p->cfg[i], p->res[i], p->now_ns);
		e->next_cmpl_rsn = p->cfg[i].tx_rsn;
	}
}

static struct pair_end *pair_peer(struct pair_end *e)
{
	return &e->pair->end[!e->id];
}

static bool ordered(const struct pair_end *e)
{
	return e->c.cfg.features & FALCON_F_ORDERED;
}

static struct pair_txn *pair_txn(struct pair_end *e, bool pull, u16 len)
{
	struct pair_txn *t;
	int err;

	ASSERT_LT(e->nr_txns, PAIR_MAX_TXNS);
	t = &e->txns[e->nr_txns];
	t->id = e->nr_txns + 1;
	t->pull = pull;
	t->len = pull ? 8 : len;
	t->req_len = len;
	if (pull)
		err = falcon_core_pull(&e->c, &t->txn, t, t->len, len,
				       e->pair->now_ns);
	else
		err = falcon_core_push(&e->c, &t->txn, t, len, e->pair->now_ns);
	if (err)
		return NULL;
	e->nr_txns++;
	return t;
}

struct pair_txn *pair_push(struct pair_end *e, u16 len)
{
	return pair_txn(e, false, len);
}

struct pair_txn *pair_pull(struct pair_end *e, u16 req_len)
{
	return pair_txn(e, true, req_len);
}

/* ------------------------------------------------------------- the network */

static void pair_deliver_at(struct pair *p, struct pair_pkt *pkt)
{
	struct pair_pkt *q;

	list_for_each_entry_reverse(q, &p->net, node)
		if (q->at_ns <= pkt->at_ns)
			break;
	list_add(&pkt->node, &q->node);
}

static void pair_wire(struct pair_end *e, const struct falcon_tx *tx)
{
	struct pair *p = e->pair;
	struct pair_pkt *pkt = calloc(1, sizeof(*pkt));
	u64 depart = max(tx->depart_ns, p->now_ns);

	p->nr_pkts++;
	pkt->to = !e->id;
	pkt->flow = tx->flow;
	pkt->sent_ns = depart;
	pkt->hdr_len = tx->hdr_len;
	memcpy(pkt->hdr, tx->hdr, tx->hdr_len);
	pkt->len = tx->len;
	if (tx->payload)
		pkt->payload = tx->type == FALCON_PKT_PULL_DATA ?
			       ((struct pair_resp *)tx->payload)->payload :
			       ((struct pair_txn *)tx->payload)->id;
	ASSERT_EQ(falcon_wire_parse(pkt->hdr, pkt->hdr_len + pkt->len,
				    &pkt->pi), 0);
	ASSERT_EQ(pkt->pi.cid, pair_peer(e)->c.cfg.cid);
	pkt->at_ns = depart + p->delay_ns + tx->flow * p->extra_flow_ns;
	if (p->jitter_ns)
		pkt->at_ns += unit_rand_below(p->jitter_ns);

	if (chance(p->drop_ppm) ||
	    (p->now_ns >= p->black_from_ns && p->now_ns < p->black_to_ns) ||
	    (p->filter && !p->filter(p, pkt))) {
		free(pkt);
		return;
	}
	pair_deliver_at(p, pkt);
	if (chance(p->dup_ppm)) {
		struct pair_pkt *dup = malloc(sizeof(*dup));

		*dup = *pkt;
		dup->at_ns += unit_rand_below(p->delay_ns * 3);
		pair_deliver_at(p, dup);
	}
}

static struct pair_rx *rx_of(struct falcon_rxpkt *rx)
{
	return container_of(rx, struct pair_rx, rx);
}

static void pair_rx_free(struct pair_end *e, struct pair_rx *rx)
{
	e->nr_rx--;
	free(rx);
}

static void pair_arrive(struct pair *p, struct pair_pkt *pkt)
{
	struct pair_end *e = &p->end[pkt->to];
	struct falcon_rx_meta meta = {
		.now_ns = p->now_ns,
		.t_tx = (u32)(pkt->sent_ns * 1000 >> FALCON_TS_SHIFT),
		.t_rx = (u32)(p->now_ns * 1000 >> FALCON_TS_SHIFT),
		.hops = 3,
		.flow = pkt->flow,
		.ecn_ce = chance(p->ecn_ppm),
		.stamp_ok = true,
	};
	struct pair_rx *rx = calloc(1, sizeof(*rx));

	e->nr_rx++;
	rx->payload = pkt->payload;
	if (falcon_core_rx(&e->c, &pkt->pi, &meta, &rx->rx) == FALCON_RX_DONE)
		pair_rx_free(e, rx);
	e->max_rx = max(e->max_rx, e->nr_rx);
	free(pkt);
}

/* -------------------------------------------------------------- the ULPs */

static u8 *rsn_state(struct pair_end *e, u32 rsn)
{
	u32 i = rsn - e->c.cfg.rx_rsn;

	ASSERT_LT(i, PAIR_MAX_TXNS);
	return &e->rsn_state[i];
}

static bool given_up(const struct falcon_txn *txn)
{
	return txn->pkt.type == FALCON_PKT_RESYNC ||
	       (txn->done && txn->cmpl == FALCON_CMPL_LOCAL_TO);
}

/* Deliveries on an ordered connection: 8.5.2 and 8.5.3.4 */
static void check_delivery(struct pair_end *e, const struct falcon_rxpkt *rx)
{
	u32 i, n = rx->rsn - e->c.cfg.rx_rsn;

	ASSERT_LT(n, PAIR_MAX_TXNS);
	if (!ordered(e))
		return;
	ASSERT_TRUE(e->rsn_state[n] == RSN_NEW || e->rsn_state[n] == RSN_RNR);
	/*
	 * Before it, none unseen and none that waits out an RNR, unless their
	 * initiator has given them up; without gaps, not even then.
	 */
	for (i = e->rx_lo; i < n; i++)
		if (e->rsn_state[i] == RSN_NEW || e->rsn_state[i] == RSN_RNR)
			EXPECT_TRUE(!e->c.cfg.gapless &&
				    given_up(&pair_peer(e)->txns[i].txn));
	while (e->rx_lo < n && e->rsn_state[e->rx_lo] == RSN_ACCEPTED)
		e->rx_lo++;
}

static enum pair_answer pick_answer(struct pair_end *e, struct pair_rx *rx)
{
	struct pair *p = e->pair;
	bool pull = rx->rx.type == FALCON_PKT_PULL_REQ;

	if (p->answer)
		return p->answer(e, rx);
	if (chance(p->rnr_ppm)) {
		rx->rnr_code = 1 + unit_rand_below(8);
		return PAIR_RNR;
	}
	if (!pull)
		return chance(p->cie_ppm) ?
		       (unit_rand() & 1 ? PAIR_CIE : PAIR_NRE) : PAIR_ACK;
	if (chance(p->short_ppm))
		return PAIR_SHORT;
	return chance(p->empty_ppm) ? PAIR_EMPTY : PAIR_ACK;
}

static void pair_respond(struct pair_end *e, struct pair_rx *rx, u16 len)
{
	struct pair_resp *r = calloc(1, sizeof(*r));

	r->payload = rx->payload;
	e->nr_resp++;
	ASSERT_EQ(falcon_core_target_respond(&e->c, &rx->rx, &r->resp, r, len,
					     e->pair->now_ns), 0);
}

static void set_expect(struct pair_end *e, u32 id, u8 cmpl)
{
	struct pair_txn *t = &pair_peer(e)->txns[id - 1];

	t->accepted++;
	t->expect = cmpl;
	t->expected = true;
}

void pair_answer(struct pair_end *e, struct pair_rx *rx, enum pair_answer a)
{
	bool pull = rx->rx.type == FALCON_PKT_PULL_REQ;
	u64 now = e->pair->now_ns;
	u32 rsn = rx->rx.rsn;
	u32 id = rx->payload;

	e->nr_held--;
	if (e->dead) {
		/* 6: answers after the end must be harmless */
		if (a == PAIR_RNR) {
			falcon_core_target_rnr(&e->c, &rx->rx, 1, now);
		} else {
			if (!pull)
				falcon_core_target_ack(&e->c, &rx->rx, now);
			pair_rx_free(e, rx);
		}
		return;
	}
	if (a == PAIR_RNR) {
		*rsn_state(e, rsn) = RSN_RNR;
		falcon_core_target_rnr(&e->c, &rx->rx, rx->rnr_code, now);
		return;
	}
	*rsn_state(e, rsn) = RSN_ACCEPTED;
	if (!pull && (a == PAIR_CIE || a == PAIR_NRE)) {
		set_expect(e, id, a == PAIR_CIE ? FALCON_CMPL_TARGET_NACK_CIE :
						  FALCON_CMPL_TARGET_NACK_NRE);
		falcon_core_target_nack(&e->c, &rx->rx, a == PAIR_CIE ?
					FALCON_NACK_CIE : FALCON_NACK_NRE,
					0x5a, now);
		return;
	}
	set_expect(e, id, FALCON_CMPL_ACK);
	if (!pull)
		falcon_core_target_ack(&e->c, &rx->rx, now);
	else
		pair_respond(e, rx, a == PAIR_EMPTY ? 0 :
				    a == PAIR_SHORT ? rx->rx.req_len / 2 :
						      rx->rx.req_len);
	pair_rx_free(e, rx);
}

static void pair_answer_later(struct pair_end *e, struct pair_rx *rx, u64 at)
{
	struct pair_rx *q;

	rx->at_ns = at;
	list_for_each_entry_reverse(q, &e->answers, node)
		if (q->at_ns <= at)
			break;
	list_add(&rx->node, &q->node);
}

static void pair_ulp_deliver(struct pair_end *e, struct pair_rx *rx)
{
	struct pair *p = e->pair;
	u32 id = rx->rx.rsn - e->c.cfg.rx_rsn + 1;
	struct pair_txn *t = &pair_peer(e)->txns[id - 1];

	ASSERT_FALSE(e->dead);
	if (rx->rx.len)
		ASSERT_EQ(rx->payload, id);
	rx->payload = id;
	ASSERT_EQ(t->txn.pkt.rsn, rx->rx.rsn);
	ASSERT_EQ(t->pull, rx->rx.type == FALCON_PKT_PULL_REQ);
	ASSERT_EQ(t->len, rx->rx.len);
	e->nr_delivered++;
	e->nr_held++;
	rx->answer = pick_answer(e, rx);
	if (rx->answer == PAIR_HOLD)
		return;
	if (!chance(p->late_ppm)) {
		pair_answer(e, rx, rx->answer);
		return;
	}
	if (rx->rx.type == FALCON_PKT_PULL_REQ && rx->answer != PAIR_RNR &&
	    unit_rand() & 1)
		falcon_core_target_ack(&e->c, &rx->rx, p->now_ns);
	pair_answer_later(e, rx, p->now_ns + unit_rand_below(p->late_ns + 1));
}

static void pair_ulp_complete(struct pair_end *e, struct falcon_txn *txn)
{
	struct pair_txn *t = container_of(txn, struct pair_txn, txn);

	t->completions++;
	ASSERT_EQ(t->completions, 1);
	if (ordered(e))
		ASSERT_EQ(txn->pkt.rsn, e->next_cmpl_rsn++);
	e->nr_completed++;
	e->cmpl_count[txn->cmpl]++;
	if (txn->cmpl == FALCON_CMPL_ACK) {
		/* an ACK means that the ULP has accepted it, once */
		EXPECT_TRUE(t->expected);
		EXPECT_EQ(t->accepted, 1);
		EXPECT_EQ(t->expect, FALCON_CMPL_ACK);
	} else if (t->expected && !e->dead &&
		   txn->cmpl != FALCON_CMPL_LOCAL_TO &&
		   txn->cmpl != FALCON_CMPL_REMOTE_ERR) {
		EXPECT_EQ(txn->cmpl, t->expect);
		if (txn->cmpl == FALCON_CMPL_TARGET_NACK_CIE)
			EXPECT_EQ(txn->ulp_code, 0x5a);
	}
	if (txn->rx) {
		EXPECT_TRUE(t->pull);
		EXPECT_EQ(rx_of(txn->rx)->payload, t->id);
		pair_rx_free(e, rx_of(txn->rx));
	}
}

/* Takes the effects of one end; true if there were any. */
static bool pair_effects(struct pair_end *e)
{
	struct falcon_rxpkt *rx, *rn;
	struct falcon_txn *txn, *tn;
	struct falcon_resp *resp, *pn;
	struct falcon_tx tx;
	LIST_HEAD(deliver);
	LIST_HEAD(complete);
	LIST_HEAD(release);
	LIST_HEAD(drop);
	bool any = false;

	while (falcon_core_tx(&e->c, e->pair->now_ns, &tx)) {
		ASSERT_FALSE(e->dead);
		pair_wire(e, &tx);
		any = true;
	}
	if (e->c.fatal)
		e->dead = true;
	list_splice_init(&e->c.complete, &complete);
	list_splice_init(&e->c.deliver, &deliver);
	list_splice_init(&e->c.release, &release);
	list_splice_init(&e->c.drop, &drop);
	list_for_each_entry_safe(rx, rn, &drop, node) {
		pair_rx_free(e, rx_of(rx));
		any = true;
	}
	list_for_each_entry_safe(txn, tn, &complete, node) {
		pair_ulp_complete(e, txn);
		any = true;
	}
	list_for_each_entry_safe(resp, pn, &release, node) {
		e->nr_resp--;
		free(container_of(resp, struct pair_resp, resp));
		any = true;
	}
	/* order is judged by what core had been told when it gave them out */
	list_for_each_entry(rx, &deliver, node) {
		check_delivery(e, rx);
		*rsn_state(e, rx->rsn) = RSN_AT_ULP;
	}
	list_for_each_entry_safe(rx, rn, &deliver, node) {
		pair_ulp_deliver(e, rx_of(rx));
		any = true;
	}
	return any;
}

void pair_pump(struct pair *p)
{
	bool any;

	do {
		any = pair_effects(&p->end[0]);
		any |= pair_effects(&p->end[1]);
	} while (any);
}

/* When something happens next; FALCON_NO_TIMER: never */
u64 pair_next(const struct pair *p)
{
	u64 t = FALCON_NO_TIMER;
	struct pair_pkt *pkt;
	u8 i;

	pkt = list_first_entry_or_null(&p->net, struct pair_pkt, node);
	if (pkt)
		t = pkt->at_ns;
	for (i = 0; i < 2; i++) {
		const struct pair_end *e = &p->end[i];
		struct pair_rx *rx;

		rx = list_first_entry_or_null(&e->answers, struct pair_rx,
					      node);
		if (rx)
			t = min(t, rx->at_ns);
		t = min(t, falcon_core_next_timer(&e->c));
	}
	return t;
}

static void pair_end_events(struct pair_end *e)
{
	struct pair *p = e->pair;
	struct pair_rx *rx, *n;

	if (falcon_core_next_timer(&e->c) <= p->now_ns) {
		falcon_core_timer(&e->c, p->now_ns);
		/* a timer that does nothing and stays due would spin */
		if (falcon_core_next_timer(&e->c) <= p->now_ns)
			e->timers++;
		else
			e->timers = 0;
		ASSERT_LT(e->timers, 100);
	}
	list_for_each_entry_safe(rx, n, &e->answers, node) {
		if (rx->at_ns > p->now_ns)
			break;
		list_del(&rx->node);
		pair_answer(e, rx, rx->answer);
	}
}

/* The next event; false if there is none. */
bool pair_step(struct pair *p)
{
	struct pair_pkt *pkt, *n;
	u64 t;

	pair_pump(p);
	t = pair_next(p);
	if (t == FALCON_NO_TIMER)
		return false;
	p->now_ns = max(p->now_ns, t);
	list_for_each_entry_safe(pkt, n, &p->net, node) {
		if (pkt->at_ns > p->now_ns)
			break;
		list_del(&pkt->node);
		pair_arrive(p, pkt);
	}
	pair_end_events(&p->end[0]);
	pair_end_events(&p->end[1]);
	pair_pump(p);
	return true;
}

void pair_run_until(struct pair *p, u64 ns)
{
	pair_pump(p);
	while (pair_next(p) <= ns && pair_step(p))
		;
	p->now_ns = max(p->now_ns, ns);
}

bool pair_done(const struct pair *p)
{
	return p->end[0].nr_completed == p->end[0].nr_txns &&
	       p->end[1].nr_completed == p->end[1].nr_txns;
}

/* Runs until nothing happens any more, for @ns at most; false on a stall. */
bool pair_run_idle(struct pair *p, u64 ns)
{
	u64 end = p->now_ns + ns;

	while (pair_step(p))
		if (p->now_ns > end)
			return false;
	return true;
}

void pair_abort(struct pair_end *e, u8 code)
{
	falcon_core_abort(&e->c, code);
	e->dead = true;
}

/* Everything that was handed out has come back. */
void pair_check_clean(struct pair *p)
{
	u8 i;

	for (i = 0; i < 2; i++) {
		struct pair_end *e = &p->end[i];
		u8 k;

		EXPECT_EQ(e->nr_completed, e->nr_txns);
		EXPECT_EQ(e->nr_rx, 0);
		EXPECT_EQ(e->nr_resp, 0);
		EXPECT_EQ(e->nr_held, 0);
		EXPECT_TRUE(falcon_core_idle(&e->c));
		EXPECT_TRUE(list_empty(&e->c.reorder));
		EXPECT_TRUE(list_empty(&e->c.nacked));
		for (k = 0; k < FALCON_NR_POOL; k++) {
			EXPECT_EQ(e->c.use.pkts[k], 0);
			EXPECT_EQ(e->c.use.cells[k], 0);
		}
		for (k = 0; k < FALCON_NR_WIN; k++) {
			EXPECT_EQ(e->c.tx[k].orc, 0);
			EXPECT_EQ(e->c.tx[k].orrc, 0);
			if (e->dead)
				continue;
			EXPECT_EQ(e->c.rx[k].nr_ack, 0);
			EXPECT_EQ(e->c.rx[k].nr_rx, 0);
			EXPECT_EQ(e->c.tx[k].base, e->c.tx[k].next);
		}
		EXPECT_EQ(e->c.nr_flight, 0);
		for (k = 0; k < FALCON_MAX_FLOWS; k++) {
			EXPECT_EQ(e->c.flow[k].outstanding[0], 0);
			EXPECT_EQ(e->c.flow[k].outstanding[1], 0);
		}
	}
}

/* Memory only: also after a failed assertion */
void pair_destroy(struct pair *p)
{
	struct pair_pkt *pkt, *n;
	u8 i;

	list_for_each_entry_safe(pkt, n, &p->net, node)
		free(pkt);
	for (i = 0; i < 2; i++) {
		free(p->end[i].txns);
		free(p->end[i].rsn_state);
	}
}
