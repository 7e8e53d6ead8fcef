// SPDX-License-Identifier: GPL-2.0
/*
 * Resource pools of the transaction sublayer (8.2) and what is made of their
 * occupancy: admission by green and red zone (8.2.4, CR rule 3), the averaged
 * and quantised level that ACKs carry (10.2), and dynamic backpressure toward
 * the ULP, an Xoff threshold a connection of alpha times what is free.
 *
 * Called by the transaction sublayer under the connection lock, by many
 * connections at once: only atomic counters are shared.
 */
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/minmax.h>
#include "resource.h"

static u32 falcon_cells(u32 bytes)
{
	return DIV_ROUND_UP(bytes, FALCON_CELL_BYTES);
}

/**
 * falcon_res_init() - set all pools up as unlimited
 * @res:	the pools
 *
 * Context: before any connection uses @res.
 */
void falcon_res_init(struct falcon_resources *res)
{
	int i;

	for (i = 0; i < FALCON_NR_POOL; i++) {
		struct falcon_pool_state *p = &res->pool[i];

		atomic_set(&p->pkts, 0);
		atomic_set(&p->cells, 0);
		p->max_pkts = 0;
		p->max_cells = 0;
		p->red_pkts = 0;
		p->red_cells = 0;
	}
	res->ema_pkts = 0;
	res->ema_cells = 0;
	res->ema_pkts_shift = 0;
	res->ema_cells_shift = 0;
	res->alpha_shift = 3;
	res->alpha_retx_shift = 4;
}

/*
 * The red zone is the last eighth, but at least @least, for a head-of-line
 * request of any size to find room, and at most half.
 */
static u32 falcon_red(u32 max, u32 least)
{
	return max - min(max(max / 8, least), max / 2);
}

/**
 * falcon_pool_limit() - size a pool
 * @p:		the pool
 * @max_pkts:	packet contexts; 0: unlimited
 * @max_bytes:	buffer, bytes; 0: unlimited
 *
 * For forward progress a pool must hold two packets of the largest size.
 *
 * Context: any; from and to unlimited only before any connection uses @p: a pool
 * that is unlimited is not counted.
 */
void falcon_pool_limit(struct falcon_pool_state *p, u32 max_pkts,
		       u32 max_bytes)
{
	p->max_pkts = max_pkts;
	p->max_cells = max_bytes / FALCON_CELL_BYTES;
	if (max_bytes && !p->max_cells)
		p->max_cells = 1;
	p->red_pkts = falcon_red(p->max_pkts, 1);
	p->red_cells = falcon_red(p->max_cells, FALCON_RED_CELLS);
}

/**
 * falcon_res_limit() - size one of the pools
 * @res:	the pools
 * @pool:	which of them
 * @max_pkts:	packet contexts; 0: unlimited
 * @max_bytes:	buffer, bytes; 0: unlimited
 *
 * Context: as falcon_pool_limit().
 */
void falcon_res_limit(struct falcon_resources *res, enum falcon_pool pool,
		      u32 max_pkts, u32 max_bytes)
{
	falcon_pool_limit(&res->pool[pool], max_pkts, max_bytes);
}

/* One counter of a pool: takes @n unless that goes beyond @limit. */
static bool falcon_count_get(atomic_t *count, u32 n, u32 max, u32 limit)
{
	if (!max)
		return true;
	if ((u32)atomic_add_return(n, count) <= limit)
		return true;
	atomic_sub(n, count);
	return false;
}

static void falcon_count_put(atomic_t *count, u32 n, u32 max)
{
	if (max)
		atomic_sub(n, count);
}

/* ema = (1 - alpha) * ema + alpha * current (10.2) */
static u32 falcon_ema(u32 ema, u32 cur, u8 alpha_shift)
{
	s64 delta = ((s64)cur << FALCON_EMA_SHIFT) - ema;

	return ema + (s32)(delta >> alpha_shift);
}

static void falcon_res_average(struct falcon_resources *res)
{
	const struct falcon_pool_state *p = &res->pool[FALCON_POOL_RX_NET];

	WRITE_ONCE(res->ema_pkts, falcon_ema(READ_ONCE(res->ema_pkts),
					     atomic_read(&p->pkts),
					     res->ema_pkts_shift));
	WRITE_ONCE(res->ema_cells, falcon_ema(READ_ONCE(res->ema_cells),
					      atomic_read(&p->cells),
					      res->ema_cells_shift));
}

/* One packet context and its cells; @red: only of the green zone */
static bool falcon_pool_get(struct falcon_pool_state *p, u32 cells, bool red)
{
	if (!falcon_count_get(&p->pkts, 1, p->max_pkts,
			      red ? p->red_pkts : p->max_pkts))
		return false;
	if (falcon_count_get(&p->cells, cells, p->max_cells,
			     red ? p->red_cells : p->max_cells))
		return true;
	falcon_count_put(&p->pkts, 1, p->max_pkts);
	return false;
}

static void falcon_pool_put(struct falcon_pool_state *p, u32 pkts, u32 cells)
{
	falcon_count_put(&p->pkts, pkts, p->max_pkts);
	falcon_count_put(&p->cells, cells, p->max_cells);
}

static bool falcon_res_take(struct falcon_resources *res,
			    struct falcon_res_use *use, enum falcon_pool pool,
			    u32 cells, bool red)
{
	if (res && !falcon_pool_get(&res->pool[pool], cells, red))
		return false;
	if (res && pool == FALCON_POOL_RX_NET)
		falcon_res_average(res);
	use->pkts[pool]++;
	use->cells[pool] += cells;
	return true;
}

/**
 * falcon_res_get() - take one packet context and a buffer from a pool
 * @res:	the pools; NULL: unlimited
 * @use:	what the connection holds
 * @pool:	which pool
 * @bytes:	size of the buffer
 *
 * Context: connection lock of @use.
 * Return: false if either is exhausted; then neither is taken.
 */
bool falcon_res_get(struct falcon_resources *res, struct falcon_res_use *use,
		    enum falcon_pool pool, u32 bytes)
{
	return falcon_res_take(res, use, pool, falcon_cells(bytes), false);
}

/**
 * falcon_res_get_net() - admit a request of the network (8.2.4)
 * @res:	the pools; NULL: unlimited
 * @use:	what the connection holds
 * @peer:	what connections of one peer may hold together, or NULL
 * @bytes:	its payload
 * @hol:	it is the head-of-line transaction of its connection
 *
 * In the green zone everything enters; in the red zone only head-of-line
 * requests do. When even the red zone is full it is full of head-of-line
 * requests, and these make progress (CR rule 3). The pool of the peer, if there
 * is one, has both zones as well.
 *
 * Context: connection lock of @use.
 * Return: false if it must be dropped with a resource NACK.
 */
bool falcon_res_get_net(struct falcon_resources *res,
			struct falcon_res_use *use,
			struct falcon_pool_state *peer, u32 bytes, bool hol)
{
	u32 cells = falcon_cells(bytes);

	if (peer && !falcon_pool_get(peer, cells, !hol))
		return false;
	if (falcon_res_take(res, use, FALCON_POOL_RX_NET, cells, !hol))
		return true;
	if (peer)
		falcon_pool_put(peer, 1, cells);
	return false;
}

/**
 * falcon_res_put() - give back what falcon_res_get() took
 * @res:	the pools; NULL: unlimited
 * @use:	what the connection holds
 * @pool:	which pool
 * @bytes:	the same size as when it was taken
 *
 * Context: connection lock of @use.
 */
void falcon_res_put(struct falcon_resources *res, struct falcon_res_use *use,
		    enum falcon_pool pool, u32 bytes)
{
	u32 cells = falcon_cells(bytes);

	if (res)
		falcon_pool_put(&res->pool[pool], 1, cells);
	if (res && pool == FALCON_POOL_RX_NET)
		falcon_res_average(res);
	use->pkts[pool]--;
	use->cells[pool] -= cells;
}

/**
 * falcon_res_put_net() - give back what falcon_res_get_net() took
 * @res:	the pools; NULL: unlimited
 * @use:	what the connection holds
 * @peer:	the same pool, or NULL, as when it was taken
 * @bytes:	the same size
 *
 * Context: connection lock of @use.
 */
void falcon_res_put_net(struct falcon_resources *res,
			struct falcon_res_use *use,
			struct falcon_pool_state *peer, u32 bytes)
{
	falcon_res_put(res, use, FALCON_POOL_RX_NET, bytes);
	if (peer)
		falcon_pool_put(peer, 1, falcon_cells(bytes));
}

/**
 * falcon_res_put_all() - give back everything a connection holds
 * @res:	the pools; NULL: unlimited
 * @use:	what the connection holds; all zero afterwards
 * @peer:	pool of falcon_res_get_net(), or NULL
 *
 * Context: connection lock of @use.
 */
void falcon_res_put_all(struct falcon_resources *res,
			struct falcon_res_use *use,
			struct falcon_pool_state *peer)
{
	int i;

	if (peer)
		falcon_pool_put(peer, use->pkts[FALCON_POOL_RX_NET],
				use->cells[FALCON_POOL_RX_NET]);
	for (i = 0; i < FALCON_NR_POOL; i++) {
		if (res)
			falcon_pool_put(&res->pool[i], use->pkts[i],
					use->cells[i]);
		use->pkts[i] = 0;
		use->cells[i] = 0;
	}
	if (res)
		falcon_res_average(res);
}

/* 31 evenly spaced thresholds cut the pool into 32 levels (10.2). */
static u8 falcon_quantise(u32 ema, u32 max)
{
	u64 scaled;

	if (!max)
		return 0;
	scaled = ((u64)ema * FALCON_RX_LEVELS) >> FALCON_EMA_SHIFT;
	return min_t(u64, scaled / max, FALCON_RX_LEVELS - 1);
}

/**
 * falcon_res_level() - quantised occupancy of the network request pools (10.2)
 * @res:	the pools; NULL: unlimited
 *
 * Return: 0..31, the larger of the packet and the buffer pool's.
 */
u8 falcon_res_level(const struct falcon_resources *res)
{
	const struct falcon_pool_state *p;

	if (!res)
		return 0;
	p = &res->pool[FALCON_POOL_RX_NET];
	return max(falcon_quantise(READ_ONCE(res->ema_pkts), p->max_pkts),
		   falcon_quantise(READ_ONCE(res->ema_cells), p->max_cells));
}

static bool falcon_below(const atomic_t *count, u32 max, u32 held, u8 shift)
{
	u32 used = atomic_read(count);

	if (!max)
		return true;
	return held <= (max > used ? max - used : 0) >> shift;
}

/**
 * falcon_res_xon() - dynamic backpressure: may the ULP submit more?
 * @res:	the pools; NULL: unlimited
 * @use:	what the connection holds
 * @retransmitting: the connection is recovering from loss, and gets less
 *
 * A connection holds at most alpha times what is free of the pools of ULP
 * requests, so a slow one, whose packets linger, leaves room to fast ones. An
 * idle connection always may.
 *
 * Context: connection lock of @use.
 * Return: true for Xon.
 */
bool falcon_res_xon(const struct falcon_resources *res,
		    struct falcon_res_use *use, bool retransmitting)
{
	const struct falcon_pool_state *p;
	u8 shift;

	use->xoff = false;
	if (!res || !use->pkts[FALCON_POOL_TX_REQ])
		return true;

	shift = retransmitting ? res->alpha_retx_shift : res->alpha_shift;
	if (shift == FALCON_ALPHA_NONE)
		return true;
	p = &res->pool[FALCON_POOL_TX_REQ];
	use->xoff = !falcon_below(&p->pkts, p->max_pkts,
				  use->pkts[FALCON_POOL_TX_REQ], shift) ||
		    !falcon_below(&p->cells, p->max_cells,
				  use->cells[FALCON_POOL_TX_REQ], shift);
	return !use->xoff;
}

static u32 falcon_free(const atomic_t *count, u32 max)
{
	u32 used = atomic_read(count);

	if (!max)
		return U32_MAX;
	return max > used ? max - used : 0;
}

/**
 * falcon_res_credits() - what is left, as the six credit counters of 8.2.3
 * @res:	the pools
 * @cr:		the counters; U32_MAX where a pool is unlimited
 */
void falcon_res_credits(const struct falcon_resources *res,
			struct falcon_credits *cr)
{
	const struct falcon_pool_state *tx = &res->pool[FALCON_POOL_TX_REQ];
	const struct falcon_pool_state *rx = &res->pool[FALCON_POOL_RX_REQ];
	const struct falcon_pool_state *data = &res->pool[FALCON_POOL_TX_DATA];

	cr->req_pkt_tx = falcon_free(&tx->pkts, tx->max_pkts);
	cr->req_buf_tx = falcon_free(&tx->cells, tx->max_cells);
	cr->req_pkt_rx = falcon_free(&rx->pkts, rx->max_pkts);
	cr->req_buf_rx = falcon_free(&rx->cells, rx->max_cells);
	cr->res_pkt_tx = falcon_free(&data->pkts, data->max_pkts);
	cr->res_buf_tx = falcon_free(&data->cells, data->max_cells);
}
