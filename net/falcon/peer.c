// SPDX-License-Identifier: GPL-2.0
/*
 * What connections between two hosts know together: the smallest delay of the
 * path, which congestion control measures its queues from (struct falcon_least).
 * A connection that begins when the path is full has it from those before.
 *
 * conn/conn.c joins a connection at its establishment and lets it leave before
 * its memory goes. One record a pair of addresses, as long as there are
 * connections.
 */
#include <linux/rhashtable.h>
#include <linux/slab.h>
#include <net/ipv6.h>
#include "core/fae.h"
#include "falcon.h"

struct falcon_peer_key {
	struct in6_addr saddr;
	struct in6_addr daddr;
	int oif;
	u32 scope_id;
};

struct falcon_peer {
	struct rhash_head node;		/* of falcon_net::peers */
	struct falcon_peer_key key;
	unsigned int users;		/* connections, under peer_lock */
	struct falcon_least least;
	struct rcu_head rcu;		/* a table that grows may still look */
};

/* Its hash has a secret: a peer chooses addresses. */
static const struct rhashtable_params falcon_peer_params = {
	.key_len		= sizeof(struct falcon_peer_key),
	.key_offset		= offsetof(struct falcon_peer, key),
	.head_offset		= offsetof(struct falcon_peer, node),
	.automatic_shrinking	= true,
};

static struct falcon_peer *falcon_peer_new(struct falcon_net *fn,
					   const struct falcon_peer_key *key)
{
	struct falcon_peer *peer;

	peer = kzalloc(sizeof(*peer), GFP_ATOMIC | __GFP_NOWARN);
	if (!peer)
		return NULL;
	peer->key = *key;
	falcon_least_init(&peer->least);
	if (rhashtable_insert_fast(&fn->peers, &peer->node,
				   falcon_peer_params)) {
		kfree(peer);
		return NULL;
	}
	return peer;
}

/**
 * falcon_peer_join - share with others to the same peer
 * @conn:	locked, its core has just begun
 *
 * Without memory it measures for itself alone.
 *
 * Context: bottom halves off.
 */
void falcon_peer_join(struct falcon_conn *conn)
{
	struct falcon_peer_key key = {
		.saddr		= conn->path.saddr,
		.daddr		= conn->path.daddr,
		.oif		= conn->path.oif,
		.scope_id	= conn->path.scope_id,
	};
	struct falcon_net *fn = conn->fn;
	struct falcon_peer *peer;

	lockdep_assert_held(&conn->lock);
	spin_lock(&fn->peer_lock);
	peer = rhashtable_lookup_fast(&fn->peers, &key, falcon_peer_params) ?:
	       falcon_peer_new(fn, &key);
	if (peer)
		peer->users++;
	spin_unlock(&fn->peer_lock);
	falcon_core_share(&conn->core, peer ? &peer->least : NULL);
}

/**
 * falcon_peer_leave - the connection ends
 * @conn:	has no reference left
 *
 * Context: process.
 */
void falcon_peer_leave(struct falcon_conn *conn)
{
	struct falcon_net *fn = conn->fn;
	struct falcon_peer *peer;

	if (!conn->core.least)
		return;
	peer = container_of(conn->core.least, struct falcon_peer, least);
	spin_lock_bh(&fn->peer_lock);
	if (!--peer->users) {
		rhashtable_remove_fast(&fn->peers, &peer->node,
				       falcon_peer_params);
		kfree_rcu(peer, rcu);
	}
	spin_unlock_bh(&fn->peer_lock);
}

/**
 * falcon_peer_net_init - no peer is known in a new namespace
 * @fn:		namespace
 *
 * Context: process.
 * Return: 0 or -ENOMEM.
 */
int falcon_peer_net_init(struct falcon_net *fn)
{
	spin_lock_init(&fn->peer_lock);
	return rhashtable_init(&fn->peers, &falcon_peer_params);
}

/**
 * falcon_peer_net_exit - end the table of a namespace
 * @fn:		namespace, without connections
 *
 * Context: process, may sleep.
 */
void falcon_peer_net_exit(struct falcon_net *fn)
{
	rhashtable_destroy(&fn->peers);
}
