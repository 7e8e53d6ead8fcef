/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Resources of the transaction sublayer (8.2): four pools, each of packet
 * contexts and of buffer cells, carved so that no direction of traffic can
 * starve another (CR rules). Shared by many connections: the counters are
 * atomic, no lock is needed; what one connection holds is counted beside it,
 * under its lock.
 */
#ifndef _FALCON_CORE_RESOURCE_H
#define _FALCON_CORE_RESOURCE_H

#include <linux/atomic.h>
#include <linux/types.h>

#define FALCON_CELL_BYTES	256	/* allocation unit of buffers (8.2.2) */
#define FALCON_RX_LEVELS	32	/* quantised occupancy (10.2) */
#define FALCON_EMA_SHIFT	8	/* fraction bits of the averages */
#define FALCON_ALPHA_NONE	32	/* alpha_shift: no dynamic backpressure */
#define FALCON_RED_CELLS	256	/* what the largest packet takes */

/* Carve-outs of 8.2.2. Tx and Rx name the packet and buffer pools. */
enum falcon_pool {
	FALCON_POOL_TX_REQ,	/* ULP requests, transmit: col 1 */
	FALCON_POOL_RX_REQ,	/* ULP requests, receive: col 2 */
	FALCON_POOL_TX_DATA,	/* ULP data, transmit: col 3 */
	FALCON_POOL_RX_NET,	/* network requests, receive: col 4 */
	FALCON_NR_POOL,
};

/**
 * struct falcon_pool_state - one carve-out
 * @pkts:	packet contexts in use
 * @cells:	buffer cells in use
 * @max_pkts:	packet contexts there are; 0: unlimited, and not counted
 * @max_cells:	cells there are; 0: unlimited, and not counted
 * @red_pkts:	from here on only head-of-line requests enter (8.2.4)
 * @red_cells:	the same of cells
 */
struct falcon_pool_state {
	atomic_t pkts;
	atomic_t cells;
	u32 max_pkts;
	u32 max_cells;
	u32 red_pkts;
	u32 red_cells;
};

/**
 * struct falcon_resources - pools shared by connections
 * @pool:	the carve-outs
 * @ema_pkts:	average occupancy by network requests (10.2), packet contexts
 *		with FALCON_EMA_SHIFT fraction bits. Concurrent updates may be
 *		lost: an average forgives that
 * @ema_cells:	the same of cells
 * @ema_pkts_shift: averaging constant of @ema_pkts, 2^-this; 0: no average
 * @ema_cells_shift: the same of @ema_cells
 * @alpha_shift: a connection may hold 2^-this of what is free, or
 *		FALCON_ALPHA_NONE
 * @alpha_retx_shift: the same for one that is retransmitting
 */
struct falcon_resources {
	struct falcon_pool_state pool[FALCON_NR_POOL];
	u32 ema_pkts;
	u32 ema_cells;
	u8  ema_pkts_shift;
	u8  ema_cells_shift;
	u8  alpha_shift;
	u8  alpha_retx_shift;
};

/**
 * struct falcon_res_use - what one connection holds
 * @pkts:	packet contexts, by carve-out
 * @cells:	buffer cells, by carve-out
 * @xoff:	the ULP was told to stop (dynamic backpressure)
 */
struct falcon_res_use {
	u32 pkts[FALCON_NR_POOL];
	u32 cells[FALCON_NR_POOL];
	bool xoff;
};

/**
 * struct falcon_credits - the six counters of 8.2.3, as the ULP sees them
 * @req_pkt_tx:	Req Pkt Tx, transactions: pushes and pulls
 * @req_buf_tx:	Req Buf Tx, cells
 * @req_pkt_rx:	Req Pkt Rx, transactions
 * @req_buf_rx:	Req Buf Rx, cells
 * @res_pkt_tx:	Res Pkt Tx, transactions: pull data
 * @res_buf_tx:	Res Buf Tx, cells
 */
struct falcon_credits {
	u32 req_pkt_tx;
	u32 req_buf_tx;
	u32 req_pkt_rx;
	u32 req_buf_rx;
	u32 res_pkt_tx;
	u32 res_buf_tx;
};

void falcon_res_init(struct falcon_resources *res);
void falcon_pool_limit(struct falcon_pool_state *p, u32 max_pkts,
		       u32 max_bytes);
void falcon_res_limit(struct falcon_resources *res, enum falcon_pool pool,
		      u32 max_pkts, u32 max_bytes);
bool falcon_res_get(struct falcon_resources *res, struct falcon_res_use *use,
		    enum falcon_pool pool, u32 bytes);
bool falcon_res_get_net(struct falcon_resources *res,
			struct falcon_res_use *use,
			struct falcon_pool_state *peer, u32 bytes, bool hol);
void falcon_res_put(struct falcon_resources *res, struct falcon_res_use *use,
		    enum falcon_pool pool, u32 bytes);
void falcon_res_put_net(struct falcon_resources *res,
			struct falcon_res_use *use,
			struct falcon_pool_state *peer, u32 bytes);
void falcon_res_put_all(struct falcon_resources *res,
			struct falcon_res_use *use,
			struct falcon_pool_state *peer);
u8 falcon_res_level(const struct falcon_resources *res);
bool falcon_res_xon(const struct falcon_resources *res,
		    struct falcon_res_use *use, bool retransmitting);
void falcon_res_credits(const struct falcon_resources *res,
			struct falcon_credits *cr);

#endif /* _FALCON_CORE_RESOURCE_H */
