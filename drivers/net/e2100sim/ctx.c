// SPDX-License-Identifier: GPL-2.0
/*
 * Contexts of connections. All are known; as many as the cache has entries are
 * at hand, the most recently used ones. Each packet, in either direction,
 * looks one up: a hit costs the engine little, a miss much, and replaces
 * the context that was not used for longest. So what the paper calls the cliff
 * of connections can be seen.
 *
 * falcon.c adds and deletes; tx.c and rx.c look up.
 */
#include <linux/rculist.h>
#include <linux/slab.h>
#include "e2100sim.h"
#include "trace.h"

/**
 * struct e2100_ctx - a connection's context
 * @base:	what Falcon sees; first
 * @hash:	in e2100_cache::hash
 * @lru:	in e2100_cache::lru, if it is at hand
 * @rcu:	for its end
 * @fn:		Destination Function
 * @cid:	own CID
 * @dead:	deleted; packets that are on their way do not bring it back
 */
struct e2100_ctx {
	struct falcon_nic_ctx base;
	struct hlist_node hash;
	struct list_head lru;
	struct rcu_head rcu;
	u32 fn;
	u32 cid;
	bool dead;
};

/**
 * e2100_cache_init - no contexts
 * @cache:	of a new port
 */
void e2100_cache_init(struct e2100_cache *cache)
{
	spin_lock_init(&cache->lock);
	hash_init(cache->hash);
	INIT_LIST_HEAD(&cache->lru);
}

/**
 * e2100_ctx_add - the conn_add op
 * @port:	port
 * @conn:	connection
 *
 * Context: process, may sleep.
 * Return: its context; -ENOMEM; -ENOSPC: the port has no place for it.
 */
struct falcon_nic_ctx *e2100_ctx_add(struct e2100_port *port,
				     const struct falcon_nic_conn *conn)
{
	struct e2100_cache *cache = &port->cache;
	struct e2100_ctx *ctx;

	/* Falcon adds one at a time: nobody takes the place meanwhile. */
	if (READ_ONCE(cache->nr) >= e2100_param(port, E2100_P_MAX_CONTEXTS)) {
		E2100_INC(port, CTX_REFUSED);
		return ERR_PTR(-ENOSPC);
	}
	ctx = kzalloc(sizeof(*ctx), GFP_KERNEL);
	if (!ctx)
		return ERR_PTR(-ENOMEM);
	ctx->base.nic = &port->nic;
	ctx->fn = conn->fn;
	ctx->cid = conn->cid;
	INIT_LIST_HEAD(&ctx->lru);
	spin_lock_bh(&cache->lock);
	hash_add_rcu(cache->hash, &ctx->hash, ctx->cid);
	cache->nr++;
	spin_unlock_bh(&cache->lock);
	E2100_INC(port, CTX_ADDED);
	return &ctx->base;
}

/**
 * e2100_ctx_del - the conn_del op
 * @port:	port
 * @base:	from e2100_ctx_add()
 *
 * Context: process, may sleep.
 */
void e2100_ctx_del(struct e2100_port *port, struct falcon_nic_ctx *base)
{
	struct e2100_ctx *ctx = container_of(base, struct e2100_ctx, base);
	struct e2100_cache *cache = &port->cache;

	spin_lock_bh(&cache->lock);
	hash_del_rcu(&ctx->hash);
	cache->nr--;
	if (!list_empty(&ctx->lru)) {
		list_del_init(&ctx->lru);
		cache->nr_cached--;
		trace_e2100_ctx(e2100_id(port), ctx->fn, ctx->cid,
				E2100_CTX_DEL);
	}
	ctx->dead = true;
	spin_unlock_bh(&cache->lock);
	E2100_INC(port, CTX_DELETED);
	kfree_rcu(ctx, rcu);
}

static void e2100_evict(struct e2100_cache *cache, u32 entries)
{
	lockdep_assert_held(&cache->lock);
	while (cache->nr_cached > entries) {
		list_del_init(cache->lru.prev);
		cache->nr_cached--;
	}
}

/* Looks @ctx up; returns what is to be counted. */
static enum e2100_stat e2100_touch(struct e2100_port *port,
				   struct e2100_ctx *ctx, u8 dir)
{
	u32 entries = e2100_param(port, E2100_P_CACHE_ENTRIES);
	struct e2100_cache *cache = &port->cache;
	enum e2100_stat stat = E2100_S_CTX_NONE;

	if (!entries)
		return E2100_S_CTX_HIT;
	spin_lock_bh(&cache->lock);
	if (!ctx->dead) {
		trace_e2100_ctx(e2100_id(port), ctx->fn, ctx->cid, dir);
		stat = list_empty(&ctx->lru) ? E2100_S_CTX_MISS :
					       E2100_S_CTX_HIT;
		cache->nr_cached += stat == E2100_S_CTX_MISS;
		list_move(&ctx->lru, &cache->lru);
		e2100_evict(cache, entries);
	}
	spin_unlock_bh(&cache->lock);
	return stat;
}

/* What the look-up of @ctx costs, ns; without a context, that of a miss. */
static u32 e2100_look_up(struct e2100_port *port, struct e2100_ctx *ctx, u8 dir)
{
	enum e2100_stat stat = E2100_S_CTX_NONE;

	if (ctx)
		stat = e2100_touch(port, ctx, dir);
	atomic64_inc(&port->stat[stat]);
	if (stat == E2100_S_CTX_HIT)
		return e2100_param(port, E2100_P_CACHE_HIT_NS);
	return e2100_param(port, E2100_P_CACHE_MISS_NS);
}

/**
 * e2100_ctx_tx - look up the context of a packet to transmit
 * @port:	port
 * @base:	from e2100_ctx_add(), or NULL
 *
 * Context: RCU read side, bottom halves off.
 * Return: what that costs the engine, ns.
 */
u32 e2100_ctx_tx(struct e2100_port *port, struct falcon_nic_ctx *base)
{
	struct e2100_ctx *ctx = NULL;

	if (base)
		ctx = container_of(base, struct e2100_ctx, base);
	return e2100_look_up(port, ctx, E2100_CTX_TX);
}

/**
 * e2100_ctx_rx - look up the context of a packet that arrives
 * @port:	port
 * @cid:	its CID; acknowledgements have no Destination Function
 *
 * Context: RCU read side, bottom halves off.
 * Return: what that costs the engine, ns.
 */
u32 e2100_ctx_rx(struct e2100_port *port, u32 cid)
{
	struct e2100_ctx *ctx;

	hash_for_each_possible_rcu(port->cache.hash, ctx, hash, cid) {
		if (ctx->cid == cid)
			break;
	}
	return e2100_look_up(port, ctx, E2100_CTX_RX);
}
