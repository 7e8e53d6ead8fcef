// SPDX-License-Identifier: GPL-2.0
/*
 * What one host of the network may cost here: set-ups that are not confirmed,
 * messages of the connection manager, connections, and memory of requests that
 * wait for a ULP. A host is an IPv4 address or, because whoever has one of
 * them has all, 64 bits of an IPv6 address; a link-local one counts whole.
 *
 * Only an address that has shown that it receives what is sent to it has an
 * account: by its cookie, or by an answer to a request of ours.
 * An account for the address that a packet merely bears would let anybody use
 * up that of another.
 *
 * The table is bounded by net.falcon.max_peers. An account that nobody refers to
 * goes when it has rested for so long that a new one would be the same. cm/ and
 * conn/ call in, from softirq and process context, never for a packet of a
 * connection.
 */
#include <linux/hashtable.h>
#include <linux/siphash.h>
#include <linux/slab.h>
#include <net/ipv6.h>

#include "cm/cm.h"

#define HOST_REST	(2 * HZ)	/* a bucket is full after one second */

/**
 * struct falcon_hosts - the accounts of a netns
 * @fn:		the namespace
 * @lock:	protects all of them but their memory
 * @table:	accounts by address
 * @key:	of @table: a peer chooses addresses
 * @nr:		how many there are
 * @reap:	removes those that have rested
 */
struct falcon_hosts {
	struct falcon_net *fn;
	spinlock_t lock;	/* bottom halves off */
	DECLARE_HASHTABLE(table, 10);
	siphash_key_t key;
	int nr;
	struct delayed_work reap;
};

/**
 * struct falcon_host - the account of a host
 * @node:	in falcon_hosts::table
 * @hosts:	that table
 * @addr:	address, or the first 64 bits of one
 * @refs:	set-ups and connections that refer to it
 * @used:	jiffies when it was last referred to
 * @nr_half_open: set-ups that are not confirmed, and requests for some
 * @nr_conns:	connections that it asked for; those that were asked for here only
 *		have their part in @refs and @rx
 * @credit_ns:	of its token bucket: a message costs a second / peer_rate
 * @filled_ns:	when the bucket was last filled
 * @rx:		pool of requests from it that are held here (8.2.4)
 */
struct falcon_host {
	struct hlist_node node;
	struct falcon_hosts *hosts;
	struct in6_addr addr;
	unsigned int refs;
	unsigned long used;
	unsigned int nr_half_open;
	unsigned int nr_conns;
	u64 credit_ns;
	u64 filled_ns;
	struct falcon_pool_state rx;
};

static void host_addr(const struct in6_addr *addr, struct in6_addr *host)
{
	*host = *addr;
	if (ipv6_addr_v4mapped(addr) ||
	    ipv6_addr_type(addr) & IPV6_ADDR_LINKLOCAL)
		return;
	host->s6_addr32[2] = 0;
	host->s6_addr32[3] = 0;
}

static u32 host_hash(const struct falcon_hosts *hosts,
		     const struct in6_addr *addr)
{
	return siphash(addr, sizeof(*addr), &hosts->key);
}

static struct falcon_host *host_find(struct falcon_hosts *hosts,
				     const struct in6_addr *addr)
{
	struct falcon_host *host;

	lockdep_assert_held(&hosts->lock);
	hash_for_each_possible(hosts->table, host, node,
			       host_hash(hosts, addr)) {
		if (ipv6_addr_equal(&host->addr, addr))
			return host;
	}
	return NULL;
}

static struct falcon_host *host_make(struct falcon_hosts *hosts,
				     const struct in6_addr *addr, int max)
{
	struct falcon_host *host;

	lockdep_assert_held(&hosts->lock);
	if (hosts->nr >= max)
		return NULL;
	host = kzalloc(sizeof(*host), GFP_ATOMIC | __GFP_NOWARN);
	if (!host)
		return NULL;
	host->hosts = hosts;
	host->addr = *addr;
	host->credit_ns = NSEC_PER_SEC;
	host->filled_ns = ktime_get_ns();
	hash_add(hosts->table, &host->node, host_hash(hosts, addr));
	hosts->nr++;
	queue_delayed_work(falcon_wq, &hosts->reap, HOST_REST);
	return host;
}

/* The account of an address, made if there are fewer than @max. */
static struct falcon_host *host_get_max(struct falcon_hosts *hosts,
					const struct in6_addr *addr, int max)
{
	struct falcon_host *host;
	struct in6_addr key;

	host_addr(addr, &key);
	host = host_find(hosts, &key) ?: host_make(hosts, &key, max);
	if (host)
		host->used = jiffies;
	return host;
}

/* Of one that asks for something. NULL: there is no room, counted. */
static struct falcon_host *host_get(struct falcon_hosts *hosts,
				    const struct in6_addr *addr)
{
	struct falcon_net *fn = hosts->fn;
	struct falcon_host *host;

	host = host_get_max(hosts, addr, READ_ONCE(fn->sysctl.max_peers));
	if (!host)
		FALCON_INC(fn, CM_PEERS);
	return host;
}

static void host_put(struct falcon_host *host)
{
	lockdep_assert_held(&host->hosts->lock);
	host->refs--;
	host->used = jiffies;
}

/* Takes what a message costs out of the bucket, which holds a second's worth. */
static bool host_pay(struct falcon_host *host)
{
	u64 now = ktime_get_ns();
	u32 cost = NSEC_PER_SEC /
		   READ_ONCE(host->hosts->fn->sysctl.peer_rate);

	host->credit_ns = min_t(u64, NSEC_PER_SEC,
				host->credit_ns + now - host->filled_ns);
	host->filled_ns = now;
	if (host->credit_ns < cost)
		return false;
	host->credit_ns -= cost;
	return true;
}

/**
 * falcon_host_charge() - a host has sent a request, which makes work
 * @fn:		namespace
 * @addr:	its address, which has been proven
 *
 * Context: Any but hard interrupts.
 * Return: false if it has sent too many (net.falcon.peer_rate), or there are too
 * many hosts; counted. Then the message is to be dropped.
 */
bool falcon_host_charge(struct falcon_net *fn, const struct in6_addr *addr)
{
	struct falcon_hosts *hosts = fn->hosts;
	struct falcon_host *host;
	bool paid = false;

	spin_lock_bh(&hosts->lock);
	host = host_get(hosts, addr);
	if (host) {
		paid = host_pay(host);
		if (!paid)
			FALCON_INC(fn, CM_PEER_RATE);
	}
	spin_unlock_bh(&hosts->lock);
	return paid;
}

/**
 * falcon_host_open() - a host begins one more set-up
 * @fn:		namespace
 * @addr:	its address, which has been proven
 *
 * Context: Any but hard interrupts.
 * Return: its account, with a reference for falcon_host_settle(); NULL if too
 * many of its set-ups are not confirmed (net.falcon.peer_half_open), or there
 * are too many hosts; counted.
 */
struct falcon_host *falcon_host_open(struct falcon_net *fn,
				     const struct in6_addr *addr)
{
	struct falcon_hosts *hosts = fn->hosts;
	struct falcon_host *host;

	spin_lock_bh(&hosts->lock);
	host = host_get(hosts, addr);
	if (host && host->nr_half_open >=
		    READ_ONCE(fn->sysctl.peer_half_open)) {
		FALCON_INC(fn, CM_PEER_HALF_OPEN);
		host = NULL;
	}
	if (host) {
		host->refs++;
		host->nr_half_open++;
	}
	spin_unlock_bh(&hosts->lock);
	return host;
}

/**
 * falcon_host_settle() - a set-up is confirmed, or is no more
 * @host:	from falcon_host_open(), or NULL
 *
 * Context: Any but hard interrupts.
 */
void falcon_host_settle(struct falcon_host *host)
{
	if (!host)
		return;
	spin_lock_bh(&host->hosts->lock);
	host->nr_half_open--;
	host_put(host);
	spin_unlock_bh(&host->hosts->lock);
}

/* @conn refers to @host until falcon_host_leave(). */
static void host_refer(struct falcon_host *host, struct falcon_conn *conn)
{
	const struct falcon_sysctls *sysctl = &host->hosts->fn->sysctl;

	lockdep_assert_held(&host->hosts->lock);
	host->refs++;
	conn->host = host;
	falcon_pool_limit(&host->rx, READ_ONCE(sysctl->peer_rx_pkts),
			  READ_ONCE(sysctl->peer_rx_bytes));
}

/**
 * falcon_host_join() - a connection that a host asked for
 * @host:	from falcon_host_open()
 * @conn:	connection; it refers to @host until falcon_host_leave()
 *
 * Context: Any but hard interrupts.
 * Return: 0; -ENOBUFS: the host has as many as it may (net.falcon.peer_conns),
 * counted.
 */
int falcon_host_join(struct falcon_host *host, struct falcon_conn *conn)
{
	struct falcon_net *fn = host->hosts->fn;
	int err = 0;

	spin_lock_bh(&host->hosts->lock);
	if (host->nr_conns >= READ_ONCE(fn->sysctl.peer_conns)) {
		FALCON_INC(fn, CM_PEER_CONNS);
		err = -ENOBUFS;
	} else {
		host->nr_conns++;
		conn->host_asked = true;
		host_refer(host, conn);
	}
	spin_unlock_bh(&host->hosts->lock);
	return err;
}

/**
 * falcon_host_meet() - a connection that was asked for here
 * @conn:	connection whose peer has answered; it refers to the peer's account
 *		until falcon_host_leave()
 *
 * What the peer has held here is bounded as by connections that it asks for. It
 * needs no room among those: max_conns bounds the connections of this side.
 *
 * Context: Any but hard interrupts.
 * Return: 0 or -ENOMEM.
 */
int falcon_host_meet(struct falcon_conn *conn)
{
	struct falcon_hosts *hosts = conn->fn->hosts;
	struct falcon_host *host;

	spin_lock_bh(&hosts->lock);
	host = host_get_max(hosts, &conn->path.daddr, INT_MAX);
	if (host)
		host_refer(host, conn);
	spin_unlock_bh(&hosts->lock);
	return host ? 0 : -ENOMEM;
}

/**
 * falcon_host_leave() - the memory of a connection is given back
 * @conn:	connection; nothing happens if it was never established
 *
 * Context: Any but hard interrupts.
 */
void falcon_host_leave(struct falcon_conn *conn)
{
	struct falcon_host *host = conn->host;

	if (!host)
		return;
	spin_lock_bh(&host->hosts->lock);
	if (conn->host_asked)
		host->nr_conns--;
	host_put(host);
	spin_unlock_bh(&host->hosts->lock);
}

/**
 * falcon_host_pool() - the pool of requests that a host may have held here
 * @conn:	connection
 *
 * Context: Any.
 * Return: the pool, as long as @conn; NULL: it has no account, and none but that
 * of the namespace.
 */
struct falcon_pool_state *falcon_host_pool(const struct falcon_conn *conn)
{
	return conn->host ? &conn->host->rx : NULL;
}

static void host_reap(struct work_struct *work)
{
	struct falcon_hosts *hosts = container_of(to_delayed_work(work),
						  struct falcon_hosts, reap);
	struct falcon_host *host;
	struct hlist_node *next;
	int i;

	for (i = 0; i < HASH_SIZE(hosts->table); i++) {
		spin_lock_bh(&hosts->lock);
		hlist_for_each_entry_safe(host, next, &hosts->table[i], node) {
			if (host->refs ||
			    time_before(jiffies, host->used + HOST_REST))
				continue;
			hash_del(&host->node);
			hosts->nr--;
			kfree(host);
		}
		spin_unlock_bh(&hosts->lock);
		cond_resched();
	}
	spin_lock_bh(&hosts->lock);
	if (hosts->nr)
		queue_delayed_work(falcon_wq, &hosts->reap, HOST_REST);
	spin_unlock_bh(&hosts->lock);
}

/**
 * falcon_host_net_init() - no host is known in a new netns
 * @fn:	namespace
 *
 * Context: Process.
 * Return: 0 or -ENOMEM.
 */
int falcon_host_net_init(struct falcon_net *fn)
{
	struct falcon_hosts *hosts = kzalloc(sizeof(*hosts), GFP_KERNEL);

	if (!hosts)
		return -ENOMEM;
	hosts->fn = fn;
	spin_lock_init(&hosts->lock);
	hash_init(hosts->table);
	get_random_bytes(&hosts->key, sizeof(hosts->key));
	INIT_DELAYED_WORK(&hosts->reap, host_reap);
	fn->hosts = hosts;
	return 0;
}

/**
 * falcon_host_net_exit() - forget all hosts
 * @fn:	namespace: no set-up and no connection is left
 *
 * Context: Process, may sleep.
 */
void falcon_host_net_exit(struct falcon_net *fn)
{
	struct falcon_hosts *hosts = fn->hosts;
	struct falcon_host *host;
	struct hlist_node *next;
	int i;

	cancel_delayed_work_sync(&hosts->reap);
	hash_for_each_safe(hosts->table, i, next, host, node) {
		WARN_ON_ONCE(host->refs);
		hash_del(&host->node);
		kfree(host);
	}
	fn->hosts = NULL;
	kfree(hosts);
}
