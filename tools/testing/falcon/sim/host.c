// SPDX-License-Identifier: GPL-2.0
/* See host.h. */
#include "host.h"

/* The time of a NIC's free-running clock when simulated time is @at_ps */
static u64 phc(const struct sim_host *host, u64 at_ps)
{
	s64 drift = (s64)(at_ps / 1000) * host->nic.phc_ppb / 1000000;

	return at_ps + host->nic.phc_offset_ps + drift;
}

/* -------------------------------------------------------- context cache */

/* Time to wait for the context of @ep, which is on chip after that. */
static u64 context_wait(struct sim_host *host, struct sim_ep *ep)
{
	struct sim_ep *old;

	if (!host->nic.cache)
		return 0;
	if (ep->cached) {
		host->hits++;
		list_move(&ep->lru, &host->lru);
		return 0;
	}
	host->misses++;
	if (host->nr_cached == host->nic.cache) {
		old = list_last_entry(&host->lru, struct sim_ep, lru);
		list_del(&old->lru);
		old->cached = false;
		host->nr_cached--;
	}
	list_add(&ep->lru, &host->lru);
	ep->cached = true;
	host->nr_cached++;
	return host->nic.miss_ps;
}

/* --------------------------------------------------------------- transmit */

static void ep_gap(struct sim_event *ev)
{
	sim_ep_ready(container_of(ev, struct sim_ep, gap), false);
}

/* A packet of @ep, unless it must wait for its context or its turn. */
static struct sim_pkt *ep_tx(struct sim_host *host, struct sim_ep *ep)
{
	struct sim_pkt *pkt;
	u64 wait;

	if (ep->next_tx_ps > sim_now) {
		falcon_turn_end(&ep->turn);
		sim_at(&ep->gap, ep->next_tx_ps);
		return NULL;
	}
	pkt = ep->ops->tx(ep, false);
	if (!pkt) {
		falcon_turn_end(&ep->turn);
		return NULL;
	}
	falcon_turn_used(&ep->turn, 1);
	falcon_turn_wait(&host->ready, &ep->turn);
	ep->next_tx_ps = max(ep->next_tx_ps, sim_now + host->nic.conn_gap_ps);
	wait = context_wait(host, ep);
	if (!wait)
		return pkt;
	ep->next_tx_ps = sim_now + wait;
	sim_pkt_depart(ep, pkt, ep->next_tx_ps);
	return NULL;
}

static struct sim_pkt *next_pkt(struct sim_host *host)
{
	struct falcon_turn *turn;
	struct sim_pkt *pkt;
	struct sim_ep *ep;

	while (!list_empty(&host->urgent)) {
		ep = list_first_entry(&host->urgent, struct sim_ep, urgent);
		pkt = ep->ops->tx(ep, true);
		if (pkt)
			return pkt;
		list_del_init(&ep->urgent);
	}
	if (!list_empty(&host->due)) {
		pkt = list_first_entry(&host->due, struct sim_pkt, node);
		list_del(&pkt->node);
		return pkt;
	}
	while ((turn = falcon_turn_next(&host->ready))) {
		pkt = ep_tx(host, container_of(turn, struct sim_ep, turn));
		if (pkt)
			return pkt;
	}
	return NULL;
}

static void host_kick(struct sim_event *ev)
{
	struct sim_host *host = container_of(ev, struct sim_host, kick);
	struct sim_pkt *pkt = next_pkt(host);

	if (!pkt)
		return;
	pkt->tx_ps = phc(host, sim_now + host->nic.pipe_ps);
	sim_port_send(&host->up, pkt);
	sim_at(ev, max(host->up.free_ps, sim_now + host->nic.pkt_gap_ps));
}

static void host_work(struct sim_host *host)
{
	if (host->kick.at_ps == SIM_NEVER)
		sim_at(&host->kick, max(sim_now, host->up.free_ps));
}

/* @ep may have something to send; @urgent: an acknowledgement among it. */
void sim_ep_ready(struct sim_ep *ep, bool urgent)
{
	struct sim_host *host = ep->host;

	if (urgent && list_empty(&ep->urgent))
		list_add_tail(&ep->urgent, &host->urgent);
	falcon_turn_wait(&host->ready, &ep->turn);
	host_work(host);
}

static void pkt_due(struct sim_event *ev)
{
	struct sim_pkt *pkt = container_of(ev, struct sim_pkt, ev);
	struct sim_host *host = pkt->to->peer->host;

	list_add_tail(&pkt->node, &host->due);
	host_work(host);
}

/* The timing wheel: @pkt leaves at @at_ps, or as soon as the link is free. */
void sim_pkt_depart(struct sim_ep *ep, struct sim_pkt *pkt, u64 at_ps)
{
	sim_event_init(&pkt->ev, pkt_due);
	sim_at(&pkt->ev, at_ps);
}

void sim_pkt_address(struct sim_ep *ep, struct sim_pkt *pkt, u32 label)
{
	pkt->to = ep->peer;
	pkt->src = ep->host->id;
	pkt->dst = ep->peer->host->id;
	pkt->label = label;
}

/* ---------------------------------------------------------------- receive */

static void pkt_process(struct sim_event *ev)
{
	struct sim_pkt *pkt = container_of(ev, struct sim_pkt, ev);

	pkt->to->ops->rx(pkt->to, pkt);
}

/* The NIC's pipelines and, if it is not on chip, the context take time. */
void sim_host_deliver(void *far, struct sim_pkt *pkt)
{
	struct sim_host *host = far;
	u64 wait = context_wait(host, pkt->to) + 2 * host->nic.pipe_ps;

	pkt->rx_ps = phc(host, sim_now + host->nic.pipe_ps);
	if (!wait) {
		pkt->to->ops->rx(pkt->to, pkt);
		return;
	}
	sim_event_init(&pkt->ev, pkt_process);
	sim_at(&pkt->ev, sim_now + wait);
}

static void dma_done(struct sim_event *ev)
{
	struct sim_host *host = container_of(ev, struct sim_host, dma_ev);
	struct sim_pkt *pkt, *next;

	pkt = list_first_entry(&host->dma, struct sim_pkt, node);
	list_del(&pkt->node);
	next = list_first_entry_or_null(&host->dma, struct sim_pkt, node);
	if (next)
		sim_at(ev, next->at_ps);
	pkt->fn(pkt);
}

/* Room for a packet in the NIC? It is marked if there is little. */
bool sim_rx_buffer(struct sim_host *host, struct sim_pkt *pkt)
{
	u64 wait = host->dma_free_ps > sim_now ? host->dma_free_ps - sim_now :
						 0;
	u64 used = wait * host->nic.pcie_mbps / 8000000;

	if (!host->nic.rx_buffer)
		return true;
	if (used + pkt->len > host->nic.rx_buffer) {
		host->rx_drops++;
		return false;
	}
	if (used > host->nic.rx_buffer / 4)
		pkt->ce = true;
	return true;
}

/* Payload into host memory, or a request to read from there, then @fn. */
void sim_dma(struct sim_host *host, struct sim_pkt *pkt,
	     void (*fn)(struct sim_pkt *pkt))
{
	u64 start = max(host->dma_free_ps, sim_now);

	pkt->fn = fn;
	host->dma_free_ps = start;
	if (host->nic.pcie_mbps)
		host->dma_free_ps += sim_wire_ps(pkt->len, host->nic.pcie_mbps);
	pkt->at_ps = host->dma_free_ps + host->nic.pcie_ps;
	list_add_tail(&pkt->node, &host->dma);
	if (host->dma_ev.at_ps == SIM_NEVER)
		sim_at(&host->dma_ev, pkt->at_ps);
}

/* ----------------------------------------------------------------- set-up */

void sim_host_init(struct sim_host *host, u16 id)
{
	host->id = id;
	falcon_arbiter_init(&host->ready, 1);
	INIT_LIST_HEAD(&host->urgent);
	INIT_LIST_HEAD(&host->due);
	INIT_LIST_HEAD(&host->dma);
	INIT_LIST_HEAD(&host->lru);
	INIT_LIST_HEAD(&host->blocked);
	sim_event_init(&host->kick, host_kick);
	sim_event_init(&host->dma_ev, dma_done);
	falcon_res_init(&host->res);
}

void sim_ep_init(struct sim_ep *ep, const struct sim_transport *ops,
		 struct sim_host *host)
{
	ep->ops = ops;
	ep->host = host;
	falcon_turn_init(&ep->turn, 1);
	INIT_LIST_HEAD(&ep->urgent);
	INIT_LIST_HEAD(&ep->lru);
	sim_event_init(&ep->gap, ep_gap);
}
