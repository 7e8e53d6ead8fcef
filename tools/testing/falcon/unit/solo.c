// SPDX-License-Identifier: GPL-2.0
/* See solo.h. */
#include "solo.h"

void solo_cfg(struct solo *s, bool ordered)
{
	memset(s, 0, sizeof(*s));
	s->now = 1000 * MS;
	s->rtt_ns = 20 * US;
	s->cfg = (struct falcon_core_cfg) {
		.cid = 0x111111,
		.peer_cid = 0x222222,
		.peer_fn = 0x333333,
		.features = FALCON_F_EACK_ALWAYS |
			    (ordered ? FALCON_F_ORDERED : 0),
		.proto = FALCON_PROTO_SOCK,
		.nr_flows = 1,
		.max_attempts = 3,
		.tx_win = { 1024, 1024 },
		.rx_win = { FALCON_RX_WIN_REQ, FALCON_RX_WIN_DATA },
		.mtu = SOLO_MTU,
		.rto_ns = 1 * MS,
		.min_rto_ns = 1 * MS,
		.max_rto_ns = 16 * MS,
		.ack_coalesce_ns = 8 * US,
		.ack_coalesce_pkts = 10,
		.ooo_threshold = 3,
		.fae = &falcon_fae_fixed,
	};
}

void solo_start(struct solo *s)
{
	falcon_core_init(&s->c, &s->cfg, NULL, s->now);
	solo_window(s, 1000, 1000);
}

void solo_init(struct solo *s, bool ordered)
{
	solo_cfg(s, ordered);
	solo_start(s);
}

/* @fcwnd in packets, of each flow. The fixed algorithm leaves both alone. */
void solo_window(struct solo *s, u32 fcwnd, u16 ncwnd)
{
	u8 i;

	for (i = 0; i < FALCON_MAX_FLOWS; i++)
		s->c.flow[i].fcwnd = fcwnd << FALCON_FCWND_SHIFT;
	s->c.ncwnd = ncwnd;
}

struct falcon_txn *solo_push(struct solo *s, u16 len)
{
	struct falcon_txn *txn = &s->txn[s->nr_txn++];

	ASSERT_LE(s->nr_txn, SOLO_MAX);
	ASSERT_EQ(falcon_core_push(&s->c, txn, txn, len, s->now), 0);
	return txn;
}

struct falcon_txn *solo_pull(struct solo *s, u16 req_len)
{
	struct falcon_txn *txn = &s->txn[s->nr_txn++];

	ASSERT_LE(s->nr_txn, SOLO_MAX);
	ASSERT_EQ(falcon_core_pull(&s->c, txn, txn, 8, req_len, s->now), 0);
	return txn;
}

/* The first of each kind of effect, or NULL */
struct falcon_txn *solo_completed(struct solo *s)
{
	struct falcon_txn *txn;

	txn = list_first_entry_or_null(&s->c.complete, struct falcon_txn, node);
	if (txn)
		list_del_init(&txn->node);
	return txn;
}

static struct falcon_rxpkt *solo_first_rx(struct list_head *head)
{
	struct falcon_rxpkt *rx;

	rx = list_first_entry_or_null(head, struct falcon_rxpkt, node);
	if (rx)
		list_del_init(&rx->node);
	return rx;
}

struct falcon_rxpkt *solo_delivered(struct solo *s)
{
	return solo_first_rx(&s->c.deliver);
}

struct falcon_rxpkt *solo_dropped(struct solo *s)
{
	return solo_first_rx(&s->c.drop);
}

struct falcon_resp *solo_respond(struct solo *s, struct falcon_rxpkt *rx,
				 u16 len)
{
	struct falcon_resp *resp = &s->resp[s->nr_resp++];

	ASSERT_EQ(falcon_core_target_respond(&s->c, rx, resp, resp, len,
					     s->now), 0);
	return resp;
}

struct falcon_resp *solo_released(struct solo *s)
{
	struct falcon_resp *resp;

	resp = list_first_entry_or_null(&s->c.release, struct falcon_resp,
					node);
	if (resp)
		list_del_init(&resp->node);
	return resp;
}

bool solo_tx(struct solo *s)
{
	memset(&s->tx, 0xff, sizeof(s->tx));
	if (!falcon_core_tx(&s->c, s->now, &s->tx))
		return false;
	ASSERT_EQ(falcon_wire_parse(s->tx.hdr, s->tx.hdr_len + s->tx.len,
				    &s->pi), 0);
	ASSERT_EQ(s->pi.cid, s->cfg.peer_cid);
	ASSERT_EQ(s->pi.type, s->tx.type);
	return true;
}

u32 solo_flush(struct solo *s)
{
	u32 n = 0;

	while (solo_tx(s))
		n++;
	return n;
}

void solo_wait(struct solo *s, u64 ns)
{
	s->now += ns;
	falcon_core_timer(&s->c, s->now);
}

bool solo_timer(struct solo *s)
{
	u64 due = falcon_core_next_timer(&s->c);

	if (due == FALCON_NO_TIMER)
		return false;
	s->now = max(s->now, due);
	falcon_core_timer(&s->c, s->now);
	return true;
}

static u32 solo_units(u64 ns)
{
	return (u32)(ns * 1000 >> FALCON_TS_SHIFT);
}

/* A header as the peer would build it: it acknowledges nothing new. */
void solo_base_pi(const struct solo *s, u8 type, struct falcon_pkt_info *pi)
{
	memset(pi, 0, sizeof(*pi));
	pi->type = type;
	pi->cid = s->cfg.cid;
	pi->proto = s->cfg.proto;
	pi->rbpsn[REQ] = s->c.tx[REQ].base;
	pi->rbpsn[DATA] = s->c.tx[DATA].base;
	pi->echo_t1 = solo_units(s->now - s->rtt_ns);
	pi->echo_t2 = solo_units(s->now - s->held_ns);
}

struct falcon_rxpkt *solo_rx(struct solo *s, struct falcon_pkt_info *pi)
{
	struct falcon_rxpkt *rx = &s->rx[s->nr_rx++ % SOLO_MAX];
	struct falcon_rx_meta meta = {
		.now_ns = s->now,
		.t_tx = solo_units(s->now),
		.t_rx = solo_units(s->now),
		.hops = 5,
		.flow = s->flow,
		.ecn_ce = s->ce,
		.stamp_ok = s->rtt_ns,
	};

	s->verdict = falcon_core_rx(&s->c, pi, &meta, rx);
	return s->verdict == FALCON_RX_KEPT ? rx : NULL;
}

static struct falcon_rxpkt *solo_reliable(struct solo *s, u8 type, u32 psn,
					  u32 rsn, u16 len, u16 req_len,
					  bool ar)
{
	struct falcon_pkt_info pi;

	solo_base_pi(s, type, &pi);
	pi.psn = psn;
	pi.rsn = rsn;
	pi.len = len;
	pi.req_len = req_len;
	pi.ar = ar;
	return solo_rx(s, &pi);
}

struct falcon_rxpkt *solo_rx_push(struct solo *s, u32 psn, u32 rsn)
{
	return solo_reliable(s, FALCON_PKT_PUSH_DATA, psn, rsn, 100, 100,
			     false);
}

struct falcon_rxpkt *solo_rx_push_ar(struct solo *s, u32 psn, u32 rsn)
{
	return solo_reliable(s, FALCON_PKT_PUSH_DATA, psn, rsn, 100, 100, true);
}

struct falcon_rxpkt *solo_rx_pull(struct solo *s, u32 psn, u32 rsn)
{
	return solo_reliable(s, FALCON_PKT_PULL_REQ, psn, rsn, 8, 1000, false);
}

struct falcon_rxpkt *solo_rx_pull_data(struct solo *s, u32 psn, u32 rsn,
				       u16 len)
{
	return solo_reliable(s, FALCON_PKT_PULL_DATA, psn, rsn, len, 0, false);
}

struct falcon_rxpkt *solo_rx_resync(struct solo *s, u8 type, u32 psn, u32 rsn,
				    u8 code)
{
	struct falcon_pkt_info pi;

	solo_base_pi(s, FALCON_PKT_RESYNC, &pi);
	pi.psn = psn;
	pi.rsn = rsn;
	pi.resync_type = type;
	pi.resync_code = code;
	return solo_rx(s, &pi);
}

void solo_back(struct solo *s, u32 req, u32 data)
{
	struct falcon_pkt_info pi;

	solo_base_pi(s, FALCON_PKT_BACK, &pi);
	pi.rbpsn[REQ] = req;
	pi.rbpsn[DATA] = data;
	solo_rx(s, &pi);
}

void solo_eack(struct solo *s, u32 req, u32 data, u64 req_bits, u64 data_ack,
	       u64 data_rx, u8 own)
{
	struct falcon_pkt_info pi;

	solo_base_pi(s, FALCON_PKT_EACK, &pi);
	pi.rbpsn[REQ] = req;
	pi.rbpsn[DATA] = data;
	pi.req_bits[0] = req_bits;
	pi.data_ack[0] = data_ack;
	pi.data_rx[0] = data_rx;
	pi.own = own;
	solo_rx(s, &pi);
}

void solo_nack(struct solo *s, u8 win, u32 psn, u8 code)
{
	struct falcon_pkt_info pi;

	solo_base_pi(s, FALCON_PKT_NACK, &pi);
	pi.nack_win = win;
	pi.nack_psn = psn;
	pi.nack_code = code;
	pi.ulp_code = 0x77;
	solo_rx(s, &pi);
}

void solo_rnr(struct solo *s, u32 psn, u8 timeout)
{
	struct falcon_pkt_info pi;

	solo_base_pi(s, FALCON_PKT_NACK, &pi);
	pi.nack_win = DATA;
	pi.nack_psn = psn;
	pi.nack_code = FALCON_NACK_RNR;
	pi.rnr_timeout = timeout;
	solo_rx(s, &pi);
}
