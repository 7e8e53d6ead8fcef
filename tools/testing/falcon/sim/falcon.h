/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Falcon endpoints: net/falcon/core on a simulated host. What the kernel's
 * conn/, udp_tx.c and ulp.c do around core, this does in simulated time; the
 * ULP acknowledges a push when its payload is in host memory.
 */
#ifndef _FALCON_SIM_FALCON_H
#define _FALCON_SIM_FALCON_H

#include "host.h"
#include "net/falcon/core/core.h"
#include "net/falcon/core/fae.h"

#define SIM_MTU		4096

/**
 * struct sim_falcon - a Falcon endpoint
 * @ep:		first
 * @c:		core
 * @msgs:	messages not submitted in full
 * @max_txns:	transactions at a time that the ULP allows itself; 0: no limit
 * @nr_txns:	transactions at core
 * @blocked:	in the host's list while the pools have no room
 * @timer:	of core
 * @working:	effects are being carried out
 * @xoffs:	submissions refused for backpressure or lack of room
 */
struct sim_falcon {
	struct sim_ep ep;
	struct falcon_core c;
	struct list_head msgs;
	u32 max_txns;
	u32 nr_txns;
	struct list_head blocked;
	struct sim_event timer;
	bool working;
	u64 xoffs;
};

void sim_falcon_cfg(struct falcon_core_cfg *cfg);
void sim_falcon_pair(const struct falcon_core_cfg *cfg, struct sim_host *a,
		     struct sim_host *b, struct sim_falcon *end_a,
		     struct sim_falcon *end_b);
void sim_falcon_widen(struct falcon_core_cfg *cfg, u8 shift);
void sim_falcon_windows(u32 max_pkts, u32 init_fcwnd_pkts);

extern const struct sim_transport sim_falcon_transport;

static inline struct sim_falcon *sim_falcon_of(struct sim_ep *ep)
{
	return container_of(ep, struct sim_falcon, ep);
}

#endif
