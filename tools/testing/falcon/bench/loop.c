// SPDX-License-Identifier: GPL-2.0
/* See loop.h. */
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include "loop.h"
#include "tools/testing/falcon/default_cfg.h"
#include "net/falcon/core/wire.h"

struct loop_end loop_ends[2];
u64 loop_completed;
u64 loop_packets;

static u64 now_ns = 1000000000;

void loop_setup(u32 window)
{
	struct falcon_core_cfg cfg;
	u32 i, k;

	falcon_default_cfg(&cfg);
	cfg.proto = FALCON_PROTO_SOCK;
	cfg.ar_last_bytes = 0;		/* ACKs by coalescing and by percentage */
	cfg.mtu = LOOP_LEN;
	for (i = 0; i < 2; i++) {
		struct loop_end *e = &loop_ends[i];

		memset(e, 0, sizeof(*e));
		INIT_LIST_HEAD(&e->free_txn);
		INIT_LIST_HEAD(&e->free_rx);
		INIT_LIST_HEAD(&e->free_resp);
		for (k = 0; k < window; k++)
			list_add_tail(&e->txn[k].node, &e->free_txn);
		for (k = 0; k < 2 * LOOP_WINDOW; k++)
			list_add_tail(&e->resp[k].node, &e->free_resp);
		for (k = 0; k < 4 * LOOP_WINDOW; k++)
			list_add_tail(&e->rx[k].node, &e->free_rx);
		falcon_core_init(&e->c, &cfg, NULL, now_ns);
	}
	loop_completed = 0;
	loop_packets = 0;
}

static void submit(struct loop_end *e, bool pull)
{
	struct falcon_txn *txn, *n;

	list_for_each_entry_safe(txn, n, &e->free_txn, node) {
		list_del(&txn->node);
		if (pull)
			falcon_core_pull(&e->c, txn, NULL, 0, LOOP_LEN, now_ns);
		else
			falcon_core_push(&e->c, txn, txn, LOOP_LEN, now_ns);
	}
}

static void transmit(struct loop_end *e)
{
	e->nr_out = 0;
	while (e->nr_out < 2 * LOOP_WINDOW &&
	       falcon_core_tx(&e->c, now_ns, &e->out[e->nr_out]))
		e->nr_out++;
	loop_packets += e->nr_out;
}

static void receive(struct loop_end *e, const struct falcon_tx *tx)
{
	u32 t = (now_ns * 1000) >> FALCON_TS_SHIFT;
	struct falcon_rx_meta meta = {
		.now_ns = now_ns, .t_tx = t - 80, .t_rx = t, .stamp_ok = true,
	};
	struct falcon_pkt_info pi;
	struct falcon_rxpkt *rx;

	if (falcon_wire_parse(tx->hdr, tx->hdr_len + tx->len, &pi))
		abort();
	rx = list_first_entry(&e->free_rx, struct falcon_rxpkt, node);
	list_del(&rx->node);
	if (falcon_core_rx(&e->c, &pi, &meta, rx) == FALCON_RX_DONE)
		list_add(&rx->node, &e->free_rx);
}

static void answer(struct loop_end *e, struct falcon_rxpkt *rx)
{
	struct falcon_resp *resp;

	list_del(&rx->node);
	if (rx->type == FALCON_PKT_PUSH_DATA) {
		falcon_core_target_ack(&e->c, rx, now_ns);
	} else {
		resp = list_first_entry(&e->free_resp, struct falcon_resp,
					node);
		list_del(&resp->node);
		if (falcon_core_target_respond(&e->c, rx, resp, resp, LOOP_LEN,
					       now_ns))
			abort();
	}
	list_add(&rx->node, &e->free_rx);
}

static void effects(struct loop_end *e)
{
	struct falcon_rxpkt *rx, *rn;
	struct falcon_txn *txn, *tn;
	struct falcon_resp *resp, *pn;

	list_for_each_entry_safe(rx, rn, &e->c.deliver, node)
		answer(e, rx);
	list_for_each_entry_safe(txn, tn, &e->c.complete, node) {
		loop_completed++;
		if (txn->cmpl != FALCON_CMPL_ACK)
			abort();
		if (txn->rx)
			list_add(&txn->rx->node, &e->free_rx);
		list_move_tail(&txn->node, &e->free_txn);
	}
	list_for_each_entry_safe(resp, pn, &e->c.release, node)
		list_move_tail(&resp->node, &e->free_resp);
}

void loop_round_trip(bool pull)
{
	u32 i, k;

	submit(&loop_ends[0], pull);
	for (i = 0; i < 2; i++) {
		struct loop_end *from = &loop_ends[i], *to = &loop_ends[!i];

		transmit(from);
		now_ns += 10000;
		for (k = 0; k < from->nr_out; k++)
			receive(to, &from->out[k]);
		if (falcon_core_next_timer(&to->c) <= now_ns)
			falcon_core_timer(&to->c, now_ns);
		effects(to);
	}
}
