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
#include <linux/hash.h>
#include <linux/jhash.h>
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
	struct hlist_node node;		/* of falcon_net::peers */
	struct falcon_peer_key key;
	unsigned int users;		/* connections, under peer_lock */
	struct falcon_least least;
};

static struct falcon_peer *falcon_peer_find(struct hlist_head *head,
					    const struct falcon_peer_key *key)
{
	struct falcon_peer *peer;

	hlist_for_each_entry(peer, head, node)
		if (!memcmp(&peer->key, key, sizeof(*key)))
			return peer;
	return NULL;
}

static struct falcon_peer *falcon_peer_new(struct hlist_head *head,
					   const struct falcon_peer_key *key)
{
	struct falcon_peer *peer;

	peer = kzalloc(sizeof(*peer), GFP_ATOMIC | __GFP_NOWARN);
	if (!peer)
		return NULL;
	peer->key = *key;
	falcon_least_init(&peer->least);
	hlist_add_head(&peer->node, head);
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
	struct hlist_head *head;

	lockdep_assert_held(&conn->lock);
	head = &fn->peers[hash_32(jhash(&key, sizeof(key), 0),
				  FALCON_PEER_BITS)];
	spin_lock(&fn->peer_lock);
	peer = falcon_peer_find(head, &key) ?: falcon_peer_new(head, &key);
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
	if (--peer->users)
		peer = NULL;
	else
		hlist_del(&peer->node);
	spin_unlock_bh(&fn->peer_lock);
	kfree(peer);
}
