/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A host: its NIC, and the endpoints of connections that share it. The NIC
 * asks endpoints for packets one by one, as fast as its link takes them:
 * acknowledgements first, then packets whose departure time has come, then
 * endpoints in turns. Both transports and their models sit on it alike.
 */
#ifndef _FALCON_SIM_HOST_H
#define _FALCON_SIM_HOST_H

#include "net.h"
#include "net/falcon/core/arbiter.h"
#include "net/falcon/core/fae.h"
#include "net/falcon/core/resource.h"

struct sim_msg;

/**
 * struct sim_nic - what a NIC can
 * @pcie_mbps:	rate into host memory; 0: no bottleneck
 * @pcie_ps:	latency of one access of host memory
 * @rx_buffer:	bytes that may wait for PCIe, for the models (Falcon has its
 *		pools); 0: any number. From a quarter on they are marked
 * @pipe_ps:	of its pipeline, each way
 * @pkt_gap_ps:	between packets it sends: its packet rate
 * @conn_gap_ps: between packets of one connection
 * @cache:	connection contexts on chip; 0: all
 * @miss_ps:	to fetch one that is not
 * @fae_ps:	adaptive engine: an event takes so long; 0: no time, and none waits
 * @phc_offset_ps: its clock against simulated time
 * @phc_ppb:	drift of that
 */
struct sim_nic {
	u64 pcie_mbps;
	u64 pcie_ps;
	u64 rx_buffer;
	u64 pipe_ps;
	u64 pkt_gap_ps;
	u64 conn_gap_ps;
	u32 cache;
	u64 miss_ps;
	u64 fae_ps;
	s64 phc_offset_ps;
	s32 phc_ppb;
};

/**
 * struct sim_host - a host
 * @id:		number
 * @nic:	its NIC
 * @up:		link to the rack's switch
 * @ready:	endpoints that may have a packet to send: a turn is a packet
 * @urgent:	of these, those with an acknowledgement
 * @due:	packets whose departure time has come
 * @kick:	the link is free again
 * @dma:	packets on their way into memory
 * @dma_ev:	the first has got there
 * @dma_free_ps: PCIe is busy until then
 * @rx_drops:	packets that found @rx_buffer full
 * @lru:	contexts in the cache, most recent first
 * @nr_cached:	how many
 * @hits:	of the cache
 * @misses:	of the cache
 * @res:	Falcon's pools (8.2), all unlimited at first
 * @blocked:	Falcon endpoints that wait for room in the pools
 * @unblock:	there may be room
 * @fae:	events that wait for the engine, if they take time
 * @fae_ev:	it is through with the first
 * @fae_max:	most events that have waited
 */
struct sim_host {
	u16 id;
	struct sim_nic nic;
	struct sim_port up;
	struct falcon_arbiter ready;
	struct list_head urgent;
	struct list_head due;
	struct sim_event kick;
	struct list_head dma;
	struct sim_event dma_ev;
	u64 dma_free_ps;
	u64 rx_drops;
	struct list_head lru;
	u32 nr_cached;
	u64 hits;
	u64 misses;
	struct falcon_resources res;
	struct list_head blocked;
	struct sim_event unblock;
	struct falcon_fae_queue fae;
	struct sim_event fae_ev;
	u32 fae_max;
};

/**
 * struct sim_transport - a transport, from below and above
 * @name:	of it
 * @tx:		the next packet to leave, or NULL; @urgent: only if it is an
 *		acknowledgement
 * @rx:		a packet arrived; the endpoint owns it
 * @send:	begin a message
 */
struct sim_transport {
	const char *name;
	struct sim_pkt *(*tx)(struct sim_ep *ep, bool urgent);
	void (*rx)(struct sim_ep *ep, struct sim_pkt *pkt);
	void (*send)(struct sim_ep *ep, struct sim_msg *msg);
};

/**
 * struct sim_ep - one end of a connection
 * @ops:	its transport
 * @host:	where it is
 * @peer:	other end
 * @turn:	its place among the host's
 * @urgent:	likewise
 * @lru:	likewise, of the context cache
 * @gap:	may send again
 * @next_tx_ps:	that is then
 * @cached:	its context is on chip
 */
struct sim_ep {
	const struct sim_transport *ops;
	struct sim_host *host;
	struct sim_ep *peer;
	struct falcon_turn turn;
	struct list_head urgent;
	struct list_head lru;
	struct sim_event gap;
	u64 next_tx_ps;
	bool cached;
};

void sim_host_init(struct sim_host *host, u16 id);
void sim_host_deliver(void *far, struct sim_pkt *pkt);
void sim_ep_init(struct sim_ep *ep, const struct sim_transport *ops,
		 struct sim_host *host);
void sim_ep_ready(struct sim_ep *ep, bool urgent);
void sim_pkt_depart(struct sim_ep *ep, struct sim_pkt *pkt, u64 at_ps);
void sim_pkt_address(struct sim_ep *ep, struct sim_pkt *pkt, u32 label);
bool sim_rx_buffer(struct sim_host *host, struct sim_pkt *pkt);
void sim_dma(struct sim_host *host, struct sim_pkt *pkt,
	     void (*fn)(struct sim_pkt *pkt));

#endif
