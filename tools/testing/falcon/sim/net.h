/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The network: packets, links with their output queues, switches that share a
 * drop-tail buffer among their ports and spread flow labels over equal paths,
 * and the topologies. What a packet means to its endpoints is theirs.
 */
#ifndef _FALCON_SIM_NET_H
#define _FALCON_SIM_NET_H

#include <net/falcon.h>
#include <net/falcon_wire.h>
#include "sim.h"

struct sim_ep;
struct sim_host;
struct sim_port;

/* Preamble, gap, Ethernet, FCS, IPv6, UDP: every packet on the wire */
#define SIM_L4_BYTES	(20 + 14 + 4 + 40 + 8)

/* Header of the comparison transports (model.h); Falcon has its own bytes. */
struct sim_model_hdr {
	u8  type;
	bool again;		/* a retransmission */
	u32 psn;
	u32 cum;		/* ACK, NAK: everything before has arrived */
	u32 got;		/* ACK: the packet that drew it */
	u64 echo_ps;		/* ACK: when that left */
};

/**
 * struct sim_pkt - a packet
 * @node:	of the one queue it is in
 * @ev:		of its own, when it leaves the order of its queue
 * @at_ps:	end of its present stage
 * @late:	port that it has left out of order
 * @fn:		what comes after the receiving host's PCIe
 * @to:		endpoint it is for
 * @payload:	sender's handle of the payload
 * @tx_ps:	departure, by the clock of the sending NIC
 * @rx_ps:	arrival, by the clock of the receiving NIC
 * @wire_bytes:	all that takes time on a link
 * @label:	flow label: what switches choose paths by
 * @src:	host
 * @dst:	host
 * @len:	bytes of payload
 * @hops:	switches passed
 * @flow:	flow of a Falcon connection
 * @ce:		marked by a switch
 * @hdr_len:	bytes of @hdr
 * @hdr:	Falcon header
 * @model:	header of a comparison transport
 * @rx:		what core keeps of it
 */
struct sim_pkt {
	struct list_head node;
	struct sim_event ev;
	u64 at_ps;
	struct sim_port *late;
	void (*fn)(struct sim_pkt *pkt);
	struct sim_ep *to;
	void *payload;
	u64 tx_ps;
	u64 rx_ps;
	u32 wire_bytes;
	u32 label;
	u16 src;
	u16 dst;
	u16 len;
	u8  hops;
	u8  flow;
	bool ce;
	u8  hdr_len;
	u8  hdr[FALCON_MAX_HDR_LEN];
	struct sim_model_hdr model;
	struct falcon_rxpkt rx;
};

struct sim_samples;

/**
 * struct sim_port - an output queue and the link behind it
 * @mbps:	link rate, megabits a second
 * @prop_ps:	from the last bit sent to the far end's decision
 * @limit_bytes: of this queue; 0: only what @sw shares
 * @ecn_min_bytes: queue from which on packets are marked by chance; 0: none
 * @ecn_max_bytes: queue from which on all are
 * @drop_ppm:	packets lost by chance, per million
 * @drop_reliable: @drop_ppm and @late_ppm are for packets with payload alone
 * @late_ppm:	packets that arrive out of order, per million
 * @late_ps:	by how much at most; uniform
 * @down:	nothing passes
 * @sw:		switch whose buffer it shares, or NULL
 * @deliver:	far end
 * @far:	of @deliver
 * @free_ps:	the link is busy until then
 * @flight:	packets queued and on the link, in order of arrival
 * @ev:		arrival of the first
 * @delays:	queueing delay of each packet goes here, if set
 * @tx_bytes:	sent
 * @tx_pkts:	sent
 * @tail_drops:	for lack of buffer
 * @fault_drops: by @drop_ppm and @down
 * @max_bytes:	longest queue
 *
 * The queue is not simulated: its length follows from @free_ps.
 */
struct sim_port {
	u64 mbps;
	u64 prop_ps;
	u64 limit_bytes;
	u64 ecn_min_bytes;
	u64 ecn_max_bytes;
	u32 drop_ppm;
	u32 late_ppm;
	bool drop_reliable;
	bool down;
	u64 late_ps;
	struct sim_switch *sw;
	void (*deliver)(void *far, struct sim_pkt *pkt);
	void *far;
	u64 free_ps;
	struct list_head flight;
	struct sim_event ev;
	struct sim_samples *delays;
	u64 tx_bytes;
	u64 tx_pkts;
	u64 tail_drops;
	u64 fault_drops;
	u64 max_bytes;
};

/**
 * struct sim_switch - a switch
 * @port:	its ports
 * @nr_ports:	how many
 * @nr_down:	the first of these lead down
 * @first_host:	to the hosts from this one on
 * @buffer_bytes: shared by all ports; a port may take as much as is free
 * @salt:	of the hash over labels
 * @group:	hosts that a port below leads to
 *
 * A host below is reached by its port, any other by one of the ports above.
 */
struct sim_switch {
	struct sim_port *port;
	u32 nr_ports;
	u32 nr_down;
	u32 first_host;
	u64 buffer_bytes;
	u32 salt;
	u32 group;
};

/**
 * struct sim_net - a topology
 * @host:	hosts
 * @nr_hosts:	how many
 * @leaf:	switches with hosts
 * @nr_leaves:	how many; 1: a single rack
 * @spine:	switches between leaves
 * @nr_spines:	how many
 */
struct sim_net {
	struct sim_host *host;
	u32 nr_hosts;
	struct sim_switch *leaf;
	u32 nr_leaves;
	struct sim_switch *spine;
	u32 nr_spines;
};

/**
 * struct sim_net_cfg - what a topology is made of
 * @hosts:	hosts a rack
 * @leaves:	racks
 * @spines:	between them; 0 with one rack
 * @host_mbps:	links to hosts
 * @spine_mbps:	links between switches
 * @rtt_ps:	of an empty packet over the longest path, without NICs
 * @buffer_bytes: of each switch
 */
struct sim_net_cfg {
	u32 hosts;
	u32 leaves;
	u32 spines;
	u64 host_mbps;
	u64 spine_mbps;
	u64 rtt_ps;
	u64 buffer_bytes;
};

/**
 * struct sim_background - traffic of others on a link, that heeds nothing
 * @ev:		its next packet
 * @port:	where it waits among the rest; it is seen no further
 * @mbps:	mean rate; gaps between packets of 4 KiB vary by chance
 */
struct sim_background {
	struct sim_event ev;
	struct sim_port *port;
	u64 mbps;
};

void sim_background_start(struct sim_background *bg, struct sim_port *port,
			  u64 mbps);

struct sim_pkt *sim_pkt_alloc(void);
void sim_pkt_free(struct sim_pkt *pkt);
void sim_port_init(struct sim_port *port, u64 mbps, u64 prop_ps);
void sim_port_send(struct sim_port *port, struct sim_pkt *pkt);
u64 sim_port_queue(const struct sim_port *port);
void sim_net_init(struct sim_net *net, const struct sim_net_cfg *cfg);

/* The port of a leaf that leads to a host, and that to a spine */
struct sim_port *sim_net_down(struct sim_net *net, u32 host);
struct sim_port *sim_net_up(struct sim_net *net, u32 leaf, u32 spine);

#endif
