// SPDX-License-Identifier: GPL-2.0
/* See model.h. */
#include <string.h>
#include "model.h"
#include "work.h"

#define MODEL_HDR	(12 + 16 + 4)	/* BTH, RETH, ICRC */
#define CNP_GAP_PS	(50 * SIM_US)

enum { MODEL_DATA, MODEL_ACK, MODEL_NAK, MODEL_REQ };

static struct sim_model *model_of(struct sim_ep *ep)
{
	return container_of(ep, struct sim_model, ep);
}

static bool before(u32 a, u32 b)
{
	return (s32)(a - b) < 0;
}

struct model_slot *model_slot(struct sim_model *m, u32 psn)
{
	return &m->slot[psn & (m->ring - 1)];
}

/* A packet is to be sent again. */
void model_lose(struct sim_model *m, u32 psn)
{
	struct model_slot *s = model_slot(m, psn);

	if (s->flags & (MODEL_LOST | MODEL_ARRIVED))
		return;
	s->flags |= MODEL_LOST;
	m->lost++;
	m->under_way--;
}

/* Everything that has not arrived is. */
void model_lose_all(struct sim_model *m)
{
	u32 psn;

	for (psn = m->base; psn != m->top; psn++)
		model_lose(m, psn);
}

/* --------------------------------------------------------------- transmit */

static void timer_arm(struct sim_model *m)
{
	if (m->base == m->top)
		sim_cancel(&m->timer);
	else
		sim_at(&m->timer, model_slot(m, m->base)->sent_ps + m->rto_ps);
}

static void timer(struct sim_event *ev)
{
	struct sim_model *m = container_of(ev, struct sim_model, timer);

	m->timeouts++;
	m->ops->timeout(m);
	model_slot(m, m->base)->sent_ps = sim_now;
	timer_arm(m);
	sim_ep_ready(&m->ep, false);
}

static struct sim_pkt *make(struct sim_model *m, u8 type, u16 len)
{
	struct sim_pkt *pkt = sim_pkt_alloc();

	pkt->model = (struct sim_model_hdr){ .type = type };
	pkt->len = len;
	pkt->wire_bytes = SIM_L4_BYTES + MODEL_HDR + len;
	sim_pkt_address(&m->ep, pkt, m->label);
	return pkt;
}

/* A new packet into the window; false if there is nothing to send. */
static bool window_grow(struct sim_model *m)
{
	struct sim_msg *msg = list_first_entry_or_null(&m->msgs, struct sim_msg,
						       node);
	struct model_slot *s = model_slot(m, m->top);

	if (!msg || m->top - m->base >= (u32)m->max_cwnd ||
	    m->under_way >= max(m->cwnd, 1.0))
		return false;
	s->msg = msg;
	s->len = min_t(u64, msg->bytes - msg->submitted, MODEL_MTU);
	s->flags = 0;
	msg->submitted += s->len;
	if (msg->submitted == msg->bytes)
		list_del_init(&msg->node);
	m->top++;
	return true;
}

/* The packet that leaves next: the first one lost, else a new one */
static bool pick(struct sim_model *m, u32 *psn)
{
	if (m->lost && m->under_way < max(m->cwnd, 1.0)) {
		for (*psn = m->base;
		     !(model_slot(m, *psn)->flags & MODEL_LOST); ++*psn)
			;
		model_slot(m, *psn)->flags &= ~MODEL_LOST;
		model_slot(m, *psn)->flags |= MODEL_AGAIN;
		m->lost--;
		m->retx++;
		return true;
	}
	*psn = m->top;
	return !m->lost && window_grow(m);
}

static struct sim_pkt *tx_data(struct sim_model *m)
{
	struct model_slot *s;
	struct sim_pkt *pkt;
	u32 psn;

	if (!pick(m, &psn))
		return NULL;
	s = model_slot(m, psn);
	s->sent_ps = sim_now;
	m->under_way++;
	pkt = make(m, MODEL_DATA, s->len);
	pkt->payload = s->msg;
	pkt->model.psn = psn;
	pkt->model.again = s->flags & MODEL_AGAIN;
	if (m->ops->label)
		pkt->label = m->ops->label(m);
	m->ep.next_tx_ps = sim_now + model_dcqcn_gap(m, pkt->wire_bytes);
	if (m->timer.at_ps == SIM_NEVER)
		timer_arm(m);
	return pkt;
}

static struct sim_pkt *first_of(struct list_head *queue)
{
	struct sim_pkt *pkt;

	pkt = list_first_entry_or_null(queue, struct sim_pkt, node);
	if (pkt)
		list_del(&pkt->node);
	return pkt;
}

static struct sim_pkt *model_tx(struct sim_ep *ep, bool urgent)
{
	struct sim_model *m = model_of(ep);
	struct sim_pkt *pkt = first_of(&m->ctl);

	if (!pkt && !urgent)
		pkt = first_of(&m->reqs);
	if (!pkt && !urgent)
		pkt = tx_data(m);
	return pkt;
}

/* ---------------------------------------------------------------- receive */

static void in_memory(struct sim_pkt *pkt)
{
	struct sim_msg *msg = pkt->payload;

	sim_msg_delivered(msg, pkt->len);
	if (msg->op == SIM_READ)
		sim_msg_completed(msg, pkt->len);
	sim_pkt_free(pkt);
}

static void read_from_memory(struct sim_pkt *pkt)
{
	struct sim_model *m = model_of(pkt->to);
	struct sim_msg *msg = pkt->payload;

	list_add_tail(&msg->node, &m->msgs);
	sim_ep_ready(&m->ep, false);
	sim_pkt_free(pkt);
}

static void answer(struct sim_model *m, u8 type, const struct sim_pkt *data)
{
	struct sim_pkt *pkt = make(m, type, 0);

	pkt->model.cum = m->want;
	pkt->model.got = data->model.psn;
	pkt->model.again = data->model.again;
	pkt->model.echo_ps = data->tx_ps;
	if (data->ce && sim_now >= m->cnp_ps + CNP_GAP_PS) {
		m->cnp_ps = sim_now;
		pkt->model.psn = 1;	/* with a congestion notification */
	}
	list_add_tail(&pkt->node, &m->ctl);
	sim_ep_ready(&m->ep, true);
}

/* True if the payload is new. */
static bool accept_any(struct sim_model *m, u32 psn)
{
	u32 mask = m->ring - 1;

	if (before(psn, m->want) || m->got[psn & mask])
		return false;
	m->got[psn & mask] = 1;
	while (m->got[m->want & mask])
		m->got[m->want++ & mask] = 0;
	return true;
}

static bool accept_in_order(struct sim_model *m, u32 psn)
{
	if (psn != m->want)
		return false;
	m->want++;
	m->nacked = false;
	return true;
}

static void rx_data(struct sim_model *m, struct sim_pkt *pkt)
{
	u32 psn = pkt->model.psn;
	bool fresh;

	if (m->ops->any_order) {
		fresh = accept_any(m, psn);
		answer(m, before(m->want, psn) ? MODEL_NAK : MODEL_ACK, pkt);
	} else {
		fresh = accept_in_order(m, psn);
		if (!before(m->want, psn)) {
			answer(m, MODEL_ACK, pkt);
		} else if (!m->nacked) {
			m->nacked = true;
			answer(m, MODEL_NAK, pkt);
		} else if (pkt->ce) {
			answer(m, MODEL_ACK, pkt);	/* for the mark */
		}
	}
	if (fresh)
		sim_dma(m->ep.host, pkt, in_memory);
	else
		sim_pkt_free(pkt);
}

static u32 arrived(struct sim_model *m, u32 psn)
{
	struct model_slot *s = model_slot(m, psn);

	if (s->flags & MODEL_ARRIVED)
		return 0;
	if (s->flags & MODEL_LOST)
		m->lost--;
	else
		m->under_way--;
	s->flags = (s->flags & ~MODEL_LOST) | MODEL_ARRIVED;
	return 1;
}

static void rtt_sample(struct sim_model *m, const struct sim_pkt *pkt)
{
	u64 rtt = pkt->rx_ps - pkt->model.echo_ps;

	m->srtt_ps = m->srtt_ps ? m->srtt_ps - m->srtt_ps / 8 + rtt / 8 : rtt;
	m->min_rtt_ps = m->min_rtt_ps ? min(m->min_rtt_ps, rtt) : rtt;
}

static void rx_ack(struct sim_model *m, struct sim_pkt *pkt)
{
	const struct sim_model_hdr *h = &pkt->model;
	u32 news = 0;

	if (h->type == MODEL_NAK && before(h->cum, m->base))
		goto out;
	rtt_sample(m, pkt);
	if (m->ops->any_order && !before(h->got, m->base))
		news += arrived(m, h->got);
	while (before(m->base, h->cum)) {
		struct model_slot *s = model_slot(m, m->base);

		news += arrived(m, m->base);
		m->base++;
		if (s->msg->op == SIM_WRITE)
			sim_msg_completed(s->msg, s->len);
	}
	timer_arm(m);
	if (h->psn)
		model_dcqcn_notified(m);
	m->ops->acked(m, pkt, news);
	if (h->type == MODEL_NAK)
		m->ops->gap(m, pkt);
	sim_ep_ready(&m->ep, false);
out:
	sim_pkt_free(pkt);
}

static void model_send(struct sim_ep *ep, struct sim_msg *msg)
{
	struct sim_model *m = model_of(ep);
	struct sim_pkt *pkt;

	if (msg->op == SIM_READ) {
		pkt = make(m, MODEL_REQ, 0);
		pkt->payload = msg;
		list_add_tail(&pkt->node, &m->reqs);
	} else {
		list_add_tail(&msg->node, &m->msgs);
	}
	sim_ep_ready(ep, false);
}

static void model_rx(struct sim_ep *ep, struct sim_pkt *pkt)
{
	struct sim_model *m = model_of(ep);

	switch (pkt->model.type) {
	case MODEL_DATA:
		if (sim_rx_buffer(ep->host, pkt))
			rx_data(m, pkt);
		else
			sim_pkt_free(pkt);
		break;
	case MODEL_REQ:
		sim_dma(ep->host, pkt, read_from_memory);
		break;
	default:
		rx_ack(m, pkt);
		break;
	}
}

static const struct sim_transport model_transport = {
	.name	= "model",
	.tx	= model_tx,
	.rx	= model_rx,
	.send	= model_send,
};

/* ----------------------------------------------------------------- set-up */

static void end_init(struct sim_model *m, const struct sim_model_ops *ops,
		     const struct sim_model_cfg *cfg, struct sim_host *host)
{
	sim_ep_init(&m->ep, &model_transport, host);
	m->ops = ops;
	INIT_LIST_HEAD(&m->msgs);
	INIT_LIST_HEAD(&m->ctl);
	INIT_LIST_HEAD(&m->reqs);
	sim_event_init(&m->timer, timer);
	for (m->ring = 64; m->ring < cfg->window_pkts; m->ring *= 2)
		;
	m->slot = sim_alloc(m->ring * sizeof(*m->slot));
	if (ops->any_order)
		m->got = sim_alloc(m->ring);
	m->label = sim_rand();
	m->max_cwnd = cfg->window_pkts;
	m->cwnd = cfg->window_pkts;
	m->rto_ps = cfg->rto_ps;
	model_dcqcn_init(m, cfg->dcqcn ? cfg->rate_mbps : 0);
	ops->init(m);
}

void sim_model_pair(const struct sim_model_ops *ops,
		    const struct sim_model_cfg *cfg, struct sim_host *a,
		    struct sim_host *b, struct sim_model *end_a,
		    struct sim_model *end_b)
{
	end_init(end_a, ops, cfg, a);
	end_init(end_b, ops, cfg, b);
	end_a->ep.peer = &end_b->ep;
	end_b->ep.peer = &end_a->ep;
}
