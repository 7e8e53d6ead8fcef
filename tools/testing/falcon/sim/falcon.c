// SPDX-License-Identifier: GPL-2.0
/* See falcon.h. */
#include <errno.h>
#include <string.h>
#include "falcon.h"
#include "net/falcon/core/wire.h"
#include "tools/testing/falcon/default_cfg.h"
#include "work.h"

#define ULP_HDR		16	/* that of a read or write, in a pull request */
#define ENGINE_SLOTS	1024
#define UNBLOCK_PS	(200 * SIM_NS)	/* until those that wait try again */

/* A transaction of a message: the payload handle of all its packets */
struct txn {
	struct falcon_txn txn;
	struct sim_msg *msg;
};

static LIST_HEAD(free_txns);
static LIST_HEAD(free_resps);

static void pump(struct sim_falcon *f);

static struct txn *txn_alloc(void)
{
	struct txn *t;

	t = list_first_entry_or_null(&free_txns, struct txn, txn.node);
	if (!t)
		return sim_alloc(sizeof(*t));
	list_del(&t->txn.node);
	return t;
}

static struct falcon_resp *resp_alloc(void)
{
	struct falcon_resp *resp;

	resp = list_first_entry_or_null(&free_resps, struct falcon_resp, node);
	if (!resp)
		return sim_alloc(sizeof(*resp));
	list_del(&resp->node);
	return resp;
}

/* ---------------------------------------------------------------- submit */

/* The next transaction of @msg; an errno if there is no room for it now. */
static int submit_one(struct sim_falcon *f, struct sim_msg *msg)
{
	u16 len = min_t(u64, msg->bytes - msg->submitted, f->c.cfg.mtu);
	struct txn *t = txn_alloc();
	int err;

	t->msg = msg;
	if (msg->op == SIM_READ)
		err = falcon_core_pull(&f->c, &t->txn, t, ULP_HDR, len,
				       sim_now_ns());
	else
		err = falcon_core_push(&f->c, &t->txn, t, len, sim_now_ns());
	if (err) {
		if (err == -ENOTCONN)
			sim_die("a connection died");
		list_add(&t->txn.node, &free_txns);
		f->xoffs++;
		return err;
	}
	f->nr_txns++;
	msg->submitted += len;
	if (msg->submitted == msg->bytes)
		list_del_init(&msg->node);
	return 0;
}

/* What to submit next, if the ULP lets itself */
static struct sim_msg *submittable(const struct sim_falcon *f)
{
	if (f->max_txns && f->nr_txns >= f->max_txns)
		return NULL;
	return list_first_entry_or_null(&f->msgs, struct sim_msg, node);
}

static bool all_blocked(const struct sim_host *host)
{
	return !list_empty(&host->blocked);
}

/* All there is; but behind those that wait for room already. */
static void submit(struct sim_falcon *f)
{
	struct sim_host *host = f->ep.host;
	struct sim_msg *msg;

	while (list_empty(&f->blocked) && (msg = submittable(f)))
		if (all_blocked(host) || submit_one(f, msg))
			list_add_tail(&f->blocked, &host->blocked);
}

/*
 * Room in the pools: who waits gets one transaction in turns, as long as there
 * is any. Who is held back by backpressure keeps its place.
 */
static void unblock(struct sim_event *ev)
{
	struct sim_host *host = container_of(ev, struct sim_host, unblock);
	struct sim_falcon *f, *next, *last;
	struct sim_msg *msg;
	int err = 0;

	if (list_empty(&host->blocked))
		return;
	last = list_last_entry(&host->blocked, struct sim_falcon, blocked);
	list_for_each_entry_safe(f, next, &host->blocked, blocked) {
		msg = submittable(f);
		if (msg)
			err = submit_one(f, msg);
		if (err == -ENOBUFS)
			break;
		if (!msg || !err) {
			list_del_init(&f->blocked);
			if (submittable(f))
				list_add_tail(&f->blocked, &host->blocked);
			pump(f);
		}
		if (f == last)
			break;
	}
}

/* ------------------------------------------------------------------- ULP */

static void write_in_memory(struct sim_pkt *pkt)
{
	struct sim_falcon *f = sim_falcon_of(pkt->to);
	struct txn *t = pkt->payload;

	sim_msg_delivered(t->msg, pkt->len);
	falcon_core_target_ack(&f->c, &pkt->rx, sim_now_ns());
	sim_pkt_free(pkt);
	pump(f);
}

static void read_from_memory(struct sim_pkt *pkt)
{
	struct sim_falcon *f = sim_falcon_of(pkt->to);

	if (falcon_core_target_respond(&f->c, &pkt->rx, resp_alloc(),
				       pkt->payload, pkt->rx.req_len,
				       sim_now_ns()))
		sim_die("a response was refused");
	sim_pkt_free(pkt);
	pump(f);
}

static void deliver(struct sim_falcon *f, struct falcon_rxpkt *rx)
{
	struct sim_pkt *pkt = container_of(rx, struct sim_pkt, rx);

	list_del(&rx->node);
	if (rx->type == FALCON_PKT_PUSH_DATA)
		sim_dma(f->ep.host, pkt, write_in_memory);
	else
		sim_dma(f->ep.host, pkt, read_from_memory);
}

static void txn_done(struct txn *t)
{
	struct sim_msg *msg = t->msg;
	u16 len = t->txn.pull ? t->txn.pkt.req_len : t->txn.pkt.len;

	list_add(&t->txn.node, &free_txns);
	sim_msg_completed(msg, len);
}

static void read_in_memory(struct sim_pkt *pkt)
{
	struct sim_falcon *f = sim_falcon_of(pkt->to);
	struct txn *t = pkt->payload;

	f->nr_txns--;
	sim_msg_delivered(t->msg, pkt->len);
	sim_pkt_free(pkt);
	txn_done(t);
	pump(f);
}

static void complete(struct sim_falcon *f, struct falcon_txn *txn)
{
	struct txn *t = container_of(txn, struct txn, txn);
	struct sim_host *host = f->ep.host;

	list_del(&txn->node);
	if (txn->cmpl != FALCON_CMPL_ACK)
		sim_die("a transaction failed, code %u", txn->cmpl);
	if (!list_empty(&host->blocked) && host->unblock.at_ps == SIM_NEVER)
		sim_at(&host->unblock, sim_now + UNBLOCK_PS);
	if (txn->rx) {
		sim_dma(host, container_of(txn->rx, struct sim_pkt, rx),
			read_in_memory);
		return;
	}
	f->nr_txns--;
	txn_done(t);
}

/* --------------------------------------------------------------- effects */

static bool effects(struct sim_falcon *f)
{
	struct falcon_rxpkt *rx, *rn;
	struct falcon_txn *txn, *tn;
	LIST_HEAD(delivered);
	LIST_HEAD(completed);
	LIST_HEAD(dropped);

	list_splice_init(&f->c.deliver, &delivered);
	list_splice_init(&f->c.complete, &completed);
	list_splice_init(&f->c.drop, &dropped);
	list_splice_init(&f->c.release, &free_resps);
	if (list_empty(&delivered) && list_empty(&completed) &&
	    list_empty(&dropped))
		return false;
	list_for_each_entry_safe(rx, rn, &dropped, node)
		sim_pkt_free(container_of(rx, struct sim_pkt, rx));
	list_for_each_entry_safe(txn, tn, &completed, node)
		complete(f, txn);
	list_for_each_entry_safe(rx, rn, &delivered, node)
		deliver(f, rx);
	return true;
}

static bool has_ack(const struct sim_falcon *f)
{
	return f->c.ack_now || f->c.nr_nacks;
}

static void arm(struct sim_falcon *f)
{
	u64 due = falcon_core_next_timer(&f->c);

	if (due == FALCON_NO_TIMER)
		return;
	if (due * SIM_NS < f->timer.at_ps)
		sim_at(&f->timer, due * SIM_NS);
}

static void pump(struct sim_falcon *f)
{
	if (f->working)
		return;
	f->working = true;
	do {
		submit(f);
	} while (effects(f));
	f->working = false;
	if (f->c.fatal)
		sim_die("connection %u died, code %u", f->c.cfg.cid,
			f->c.fatal);
	sim_ep_ready(&f->ep, has_ack(f));
	arm(f);
}

static void timer(struct sim_event *ev)
{
	struct sim_falcon *f = container_of(ev, struct sim_falcon, timer);

	/* It is set when something gets due earlier, never later. */
	if (falcon_core_next_timer(&f->c) > sim_now_ns()) {
		arm(f);
		return;
	}
	falcon_core_timer(&f->c, sim_now_ns());
	pump(f);
}

/* --------------------------------------------------------------- packets */

static struct sim_pkt *build(struct sim_falcon *f, const struct falcon_tx *tx)
{
	struct sim_pkt *pkt = sim_pkt_alloc();

	memcpy(pkt->hdr, tx->hdr, tx->hdr_len);
	pkt->hdr_len = tx->hdr_len;
	pkt->len = tx->len;
	pkt->payload = tx->payload;
	pkt->flow = tx->flow;
	pkt->wire_bytes = SIM_L4_BYTES + sizeof(struct falcon_psp_hdr) +
			  FALCON_PSP_ICV_LEN + tx->hdr_len + tx->len;
	sim_pkt_address(&f->ep, pkt, f->c.flow[tx->flow].label);
	return pkt;
}

static struct sim_pkt *falcon_tx(struct sim_ep *ep, bool urgent)
{
	struct sim_falcon *f = sim_falcon_of(ep);
	u64 now_ns = sim_now_ns();
	struct sim_pkt *pkt;
	struct falcon_tx tx;

	do {
		if (urgent && !has_ack(f))
			return NULL;
		if (!falcon_core_tx(&f->c, now_ns, &tx))
			return NULL;
		arm(f);
		pkt = build(f, &tx);
		if (tx.depart_ns > now_ns)
			sim_pkt_depart(ep, pkt, tx.depart_ns * SIM_NS);
	} while (tx.depart_ns > now_ns);
	return pkt;
}

/* The adaptive engine is through with an event: the next one is due later. */
static void engine(struct sim_event *ev)
{
	struct sim_host *host = container_of(ev, struct sim_host, fae_ev);
	struct falcon_core *c = falcon_fae_queue_first(&host->fae);

	falcon_fae_queue_run(&host->fae, sim_now_ns());
	if (falcon_fae_queue_depth(&host->fae))
		sim_at(ev, sim_now + host->nic.fae_ps);
	pump(container_of(c, struct sim_falcon, c));
}

/* Events of a received packet wait, if the host's engine takes its time. */
static struct falcon_fae_queue *engine_queue(struct sim_host *host)
{
	if (!host->nic.fae_ps)
		return NULL;
	if (!host->fae.slot) {
		falcon_fae_queue_init(&host->fae,
				      sim_alloc(ENGINE_SLOTS *
						sizeof(*host->fae.slot)),
				      ENGINE_SLOTS);
		sim_event_init(&host->fae_ev, engine);
	}
	return &host->fae;
}

static void engine_start(struct sim_host *host)
{
	u32 depth = falcon_fae_queue_depth(&host->fae);

	host->fae_max = max(host->fae_max, depth);
	if (depth && host->fae_ev.at_ps == SIM_NEVER)
		sim_at(&host->fae_ev, sim_now + host->nic.fae_ps);
}

static void falcon_rx(struct sim_ep *ep, struct sim_pkt *pkt)
{
	struct sim_falcon *f = sim_falcon_of(ep);
	struct falcon_rx_meta meta = {
		.now_ns = sim_now_ns(),
		.t_tx = (u32)(pkt->tx_ps >> FALCON_TS_SHIFT),
		.t_rx = (u32)(pkt->rx_ps >> FALCON_TS_SHIFT),
		.hops = pkt->hops,
		.flow = pkt->flow,
		.ecn_ce = pkt->ce,
		.stamp_ok = true,
		.fae = engine_queue(ep->host),
	};
	struct falcon_pkt_info pi;

	if (falcon_wire_parse(pkt->hdr, pkt->hdr_len + pkt->len, &pi))
		sim_die("a header does not parse");
	if (falcon_core_rx(&f->c, &pi, &meta, &pkt->rx) == FALCON_RX_DONE)
		sim_pkt_free(pkt);
	if (meta.fae)
		engine_start(ep->host);
	pump(f);
}

static void falcon_send(struct sim_ep *ep, struct sim_msg *msg)
{
	struct sim_falcon *f = sim_falcon_of(ep);

	list_add_tail(&msg->node, &f->msgs);
	pump(f);
}

const struct sim_transport sim_falcon_transport = {
	.name	= "falcon",
	.tx	= falcon_tx,
	.rx	= falcon_rx,
	.send	= falcon_send,
};

/* ---------------------------------------------------------------- set-up */

/* An algorithm of a module that is linked with the simulator (make FAE=) */
static const struct falcon_fae_ops *linked;

int falcon_fae_register(struct falcon_fae_ops *ops)
{
	linked = ops;
	return 0;
}

void falcon_fae_unregister(struct falcon_fae_ops *ops)
{
	linked = NULL;
}

/**
 * sim_falcon_cfg() - the defaults: one path, ordered, RACK and TLP, and Swift or
 * what is linked in its place
 * @cfg:	filled in
 */
void sim_falcon_cfg(struct falcon_core_cfg *cfg)
{
	falcon_default_cfg(cfg);
	cfg->mtu = SIM_MTU;
	if (linked)
		cfg->fae = linked;
}

/* Receiver windows, and the bitmaps of EACKs, 2^@shift times as wide */
void sim_falcon_widen(struct falcon_core_cfg *cfg, u8 shift)
{
	u8 win;

	cfg->win_shift = shift;
	for (win = 0; win < FALCON_NR_WIN; win++)
		cfg->rx_win[win] = falcon_win_max(cfg, win);
}

/* Bounds of fcwnd and ncwnd, and the first fcwnd, in packets */
void sim_falcon_windows(u32 max_pkts, u32 init_fcwnd_pkts)
{
	struct falcon_swift_params p = *falcon_swift_in_use;

	p.max_fcwnd_q20 = max_pkts << 20;
	p.max_ncwnd = max_pkts;
	p.init_fcwnd_q20 = init_fcwnd_pkts << 20;
	if (falcon_swift_set_params(&p))
		sim_die("windows out of range");
}

/* What connections from one host to another know together */
struct pair_least {
	struct list_head node;
	const struct sim_host *from;
	const struct sim_host *to;
	struct falcon_least least;
};

static LIST_HEAD(leasts);

static struct falcon_least *least_of(const struct sim_host *from,
				     const struct sim_host *to)
{
	struct pair_least *pl;

	list_for_each_entry(pl, &leasts, node)
		if (pl->from == from && pl->to == to)
			return &pl->least;
	pl = sim_alloc(sizeof(*pl));
	pl->from = from;
	pl->to = to;
	falcon_least_init(&pl->least);
	list_add(&pl->node, &leasts);
	return &pl->least;
}

static void end_init(struct sim_falcon *f, const struct falcon_core_cfg *cfg,
		     struct sim_host *host, const struct sim_host *peer)
{
	sim_ep_init(&f->ep, &sim_falcon_transport, host);
	INIT_LIST_HEAD(&f->msgs);
	INIT_LIST_HEAD(&f->blocked);
	sim_event_init(&f->timer, timer);
	if (!host->unblock.fn)
		sim_event_init(&host->unblock, unblock);
	falcon_core_init(&f->c, cfg, &host->res, sim_now_ns());
	falcon_core_share(&f->c, least_of(host, peer));
}

/**
 * sim_falcon_pair() - a connection
 * @cfg:	of @end_a; the other's is its mirror
 * @a:		host of @end_a
 * @b:		host of @end_b
 * @end_a:	one end, zeroed
 * @end_b:	the other, zeroed
 */
void sim_falcon_pair(const struct falcon_core_cfg *cfg, struct sim_host *a,
		     struct sim_host *b, struct sim_falcon *end_a,
		     struct sim_falcon *end_b)
{
	struct falcon_core_cfg mine = *cfg, mirror;

	mine.flow_seed = sim_rand();
	mirror = mine;
	mirror.cid = cfg->peer_cid;
	mirror.peer_cid = cfg->cid;
	mirror.flow_seed = sim_rand();
	end_init(end_a, &mine, a, b);
	end_init(end_b, &mirror, b, a);
	end_a->ep.peer = &end_b->ep;
	end_b->ep.peer = &end_a->ep;
}
