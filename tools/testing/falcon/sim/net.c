// SPDX-License-Identifier: GPL-2.0
/* See net.h. */
#include <stdlib.h>
#include "host.h"
#include "net.h"
#include "work.h"

static LIST_HEAD(free_pkts);

struct sim_pkt *sim_pkt_alloc(void)
{
	struct sim_pkt *pkt;

	pkt = list_first_entry_or_null(&free_pkts, struct sim_pkt, node);
	if (pkt)
		list_del(&pkt->node);
	else
		pkt = sim_alloc(sizeof(*pkt));
	pkt->hops = 0;
	pkt->ce = false;
	return pkt;
}

void sim_pkt_free(struct sim_pkt *pkt)
{
	list_add(&pkt->node, &free_pkts);
}

/* ----------------------------------------------------------------- links */

static void port_arrive(struct sim_event *ev)
{
	struct sim_port *port = container_of(ev, struct sim_port, ev);
	struct sim_pkt *pkt, *next;

	pkt = list_first_entry(&port->flight, struct sim_pkt, node);
	list_del(&pkt->node);
	next = list_first_entry_or_null(&port->flight, struct sim_pkt, node);
	if (next)
		sim_at(ev, next->at_ps);
	port->deliver(port->far, pkt);
}

void sim_port_init(struct sim_port *port, u64 mbps, u64 prop_ps)
{
	port->mbps = mbps;
	port->prop_ps = prop_ps;
	INIT_LIST_HEAD(&port->flight);
	sim_event_init(&port->ev, port_arrive);
}

/* Bytes that wait, with the rest of the one that is being sent */
u64 sim_port_queue(const struct sim_port *port)
{
	if (port->free_ps <= sim_now)
		return 0;
	return (port->free_ps - sim_now) * port->mbps / 8000000;
}

/* Out of order, a packet finds its own way. */
static void late_arrive(struct sim_event *ev)
{
	struct sim_pkt *pkt = container_of(ev, struct sim_pkt, ev);

	pkt->late->deliver(pkt->late->far, pkt);
}

static bool buffer_full(const struct sim_port *port, u64 queue, u32 bytes)
{
	const struct sim_switch *sw = port->sw;
	u64 used = 0;
	u32 i;

	if (port->limit_bytes)
		return queue + bytes > port->limit_bytes;
	if (!sw)
		return false;
	for (i = 0; i < sw->nr_ports; i++)
		used += sim_port_queue(&sw->port[i]);
	/* a port may hold as much as is free: half of the buffer, alone */
	return queue + bytes > sw->buffer_bytes - min(used, sw->buffer_bytes);
}

#define BACKGROUND_BYTES	(4096 + 154)

/* A packet takes its place in the queue, and time on the link. */
static void background(struct sim_event *ev)
{
	struct sim_background *bg =
		container_of(ev, struct sim_background, ev);
	struct sim_port *port = bg->port;
	u64 gap = sim_wire_ps(BACKGROUND_BYTES, bg->mbps);

	if (!buffer_full(port, sim_port_queue(port), BACKGROUND_BYTES))
		port->free_ps = max(port->free_ps, sim_now) +
				sim_wire_ps(BACKGROUND_BYTES, port->mbps);
	sim_at(ev, sim_now + gap / 2 + sim_rand_below(gap));
}

void sim_background_start(struct sim_background *bg, struct sim_port *port,
			  u64 mbps)
{
	bg->port = port;
	bg->mbps = mbps;
	sim_event_init(&bg->ev, background);
	sim_at(&bg->ev, sim_now);
}

static bool port_loses(struct sim_port *port, const struct sim_pkt *pkt,
		       u64 queue)
{
	if (port->down ||
	    ((pkt->len || !port->drop_reliable) &&
	     sim_chance(port->drop_ppm))) {
		port->fault_drops++;
		return true;
	}
	if (buffer_full(port, queue, pkt->wire_bytes)) {
		port->tail_drops++;
		return true;
	}
	return false;
}

static void port_mark(const struct sim_port *port, struct sim_pkt *pkt,
		      u64 queue)
{
	u64 min = port->ecn_min_bytes, max = port->ecn_max_bytes;

	if (!min || queue < min)
		return;
	if (queue >= max || sim_rand_below(max - min) < queue - min)
		pkt->ce = true;
}

static void port_depart(struct sim_port *port, struct sim_pkt *pkt)
{
	if ((pkt->len || !port->drop_reliable) && sim_chance(port->late_ppm)) {
		pkt->late = port;
		sim_event_init(&pkt->ev, late_arrive);
		sim_at(&pkt->ev, pkt->at_ps + sim_rand_below(port->late_ps));
		return;
	}
	list_add_tail(&pkt->node, &port->flight);
	if (port->ev.at_ps == SIM_NEVER)
		sim_at(&port->ev, pkt->at_ps);
}

/* Into the queue, or lost. */
void sim_port_send(struct sim_port *port, struct sim_pkt *pkt)
{
	u64 queue = sim_port_queue(port);
	u64 start = max(port->free_ps, sim_now);

	if (port_loses(port, pkt, queue)) {
		sim_pkt_free(pkt);
		return;
	}
	port_mark(port, pkt, queue);
	if (port->delays && pkt->len)
		sim_sample(port->delays, start - sim_now);
	port->free_ps = start + sim_wire_ps(pkt->wire_bytes, port->mbps);
	pkt->at_ps = port->free_ps + port->prop_ps;
	port->tx_bytes += pkt->wire_bytes;
	port->tx_pkts++;
	port->max_bytes = max(port->max_bytes, queue + pkt->wire_bytes);
	port_depart(port, pkt);
}

/* --------------------------------------------------------------- switches */

static u32 mix(u32 x)
{
	x ^= x >> 16;
	x *= 0x7feb352du;
	x ^= x >> 15;
	x *= 0x846ca68bu;
	return x ^ x >> 16;
}

/* ECMP over source, destination and flow label */
static u32 switch_hash(const struct sim_switch *sw, const struct sim_pkt *pkt)
{
	return mix(pkt->label ^ mix((u32)pkt->src << 16 | pkt->dst) ^ sw->salt);
}

static void switch_deliver(void *far, struct sim_pkt *pkt)
{
	struct sim_switch *sw = far;
	u32 below = (pkt->dst - sw->first_host) / sw->group;
	u32 port;

	pkt->hops++;
	if (pkt->dst >= sw->first_host && below < sw->nr_down)
		port = below;
	else
		port = sw->nr_down +
		       switch_hash(sw, pkt) % (sw->nr_ports - sw->nr_down);
	sim_port_send(&sw->port[port], pkt);
}

static void switch_init(struct sim_switch *sw, u32 nr_down, u32 nr_up,
			u64 buffer_bytes)
{
	sw->nr_down = nr_down;
	sw->nr_ports = nr_down + nr_up;
	sw->port = sim_alloc(sw->nr_ports * sizeof(*sw->port));
	sw->buffer_bytes = buffer_bytes;
	sw->salt = sim_rand();
	sw->group = 1;
}

static void link_to(struct sim_port *port, struct sim_switch *from,
		    void (*deliver)(void *far, struct sim_pkt *pkt), void *far)
{
	port->sw = from;
	port->deliver = deliver;
	port->far = far;
}

static void rack_init(struct sim_net *net, const struct sim_net_cfg *cfg,
		      u32 rack, u64 prop_ps)
{
	struct sim_switch *leaf = &net->leaf[rack];
	u32 i;

	switch_init(leaf, cfg->hosts, cfg->spines, cfg->buffer_bytes);
	leaf->first_host = rack * cfg->hosts;
	for (i = 0; i < cfg->hosts; i++) {
		struct sim_host *host = &net->host[leaf->first_host + i];
		struct sim_port *down = &leaf->port[i];

		sim_host_init(host, leaf->first_host + i);
		sim_port_init(&host->up, cfg->host_mbps, prop_ps);
		link_to(&host->up, NULL, switch_deliver, leaf);
		sim_port_init(down, cfg->host_mbps, prop_ps);
		link_to(down, leaf, sim_host_deliver, host);
	}
	for (i = 0; i < cfg->spines; i++) {
		struct sim_port *up = &leaf->port[cfg->hosts + i];
		struct sim_port *down = &net->spine[i].port[rack];

		sim_port_init(up, cfg->spine_mbps, prop_ps);
		link_to(up, leaf, switch_deliver, &net->spine[i]);
		sim_port_init(down, cfg->spine_mbps, prop_ps);
		link_to(down, &net->spine[i], switch_deliver, leaf);
	}
}

/**
 * sim_net_init() - build a single rack or a three-stage Clos
 * @net:	the network
 * @cfg:	what of
 *
 * Hosts have the NIC of sim_nic_default; change it before endpoints exist.
 */
void sim_net_init(struct sim_net *net, const struct sim_net_cfg *cfg)
{
	u32 links = cfg->leaves > 1 ? 8 : 4;
	u32 i;

	net->nr_hosts = cfg->hosts * cfg->leaves;
	net->nr_leaves = cfg->leaves;
	net->nr_spines = cfg->spines;
	net->host = sim_alloc(net->nr_hosts * sizeof(*net->host));
	net->leaf = sim_alloc(net->nr_leaves * sizeof(*net->leaf));
	net->spine = sim_alloc(max(cfg->spines, 1u) * sizeof(*net->spine));
	for (i = 0; i < cfg->spines; i++) {
		switch_init(&net->spine[i], cfg->leaves, 0, cfg->buffer_bytes);
		net->spine[i].group = cfg->hosts;
	}
	for (i = 0; i < cfg->leaves; i++)
		rack_init(net, cfg, i, cfg->rtt_ps / links);
}

struct sim_port *sim_net_down(struct sim_net *net, u32 host)
{
	u32 rack = host / net->leaf[0].nr_down;

	return &net->leaf[rack].port[host % net->leaf[0].nr_down];
}

struct sim_port *sim_net_up(struct sim_net *net, u32 leaf, u32 spine)
{
	return &net->leaf[leaf].port[net->leaf[leaf].nr_down + spine];
}
