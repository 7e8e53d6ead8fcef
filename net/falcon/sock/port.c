// SPDX-License-Identifier: GPL-2.0
/*
 * Ports of a netns and who may share them, by TCP's rules: SO_REUSEADDR shares
 * a port unless one of the sockets listens on the same address, SO_REUSEPORT
 * shares it among sockets of one user. Streams and messages have ports of
 * their own. A port names a service to the connection manager, no more: it is
 * free as soon as the sockets bound to it, accepted ones included, are gone.
 *
 * Called by sock.c under the socket lock.
 */
#include <linux/cred.h>
#include <linux/hash.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <net/addrconf.h>
#include <net/ip.h>
#include "sock/sock.h"

static unsigned int falcon_port_slot(u32 service)
{
	return hash_32(service, ilog2(FALCON_PORT_HASH));
}

static struct falcon_port *falcon_port_find(struct hlist_head *chain,
					    u32 service)
{
	struct falcon_port *port;

	hlist_for_each_entry(port, chain, node)
		if (port->service == service)
			return port;
	return NULL;
}

static bool falcon_port_same_dev(const struct sock *a, const struct sock *b)
{
	int x = READ_ONCE(a->sk_bound_dev_if);
	int y = READ_ONCE(b->sk_bound_dev_if);

	return !x || !y || x == y;
}

static bool falcon_port_may_share(const struct sock *a, const struct sock *b)
{
	if (a->sk_reuse && b->sk_reuse && b->sk_state != TCP_LISTEN)
		return true;
	return a->sk_reuseport && b->sk_reuseport &&
	       uid_eq(READ_ONCE(a->sk_uid), READ_ONCE(b->sk_uid));
}

static bool falcon_port_conflict(struct sock *sk, struct falcon_port *port)
{
	struct sock *other;

	sk_for_each_bound(other, &port->owners)
		if (other != sk && falcon_port_same_dev(sk, other) &&
		    !falcon_port_may_share(sk, other) &&
		    inet_rcv_saddr_equal(sk, other, true))
			return true;
	return false;
}

/* connect() may share a port that other connections chose, to other peers. */
static bool falcon_port_to_other_peers(struct sock *sk,
				       struct falcon_port *port)
{
	struct sock *other;

	sk_for_each_bound(other, &port->owners) {
		if (!test_bit(FALCON_SK_AUTOPORT, &falcon_sk(other)->flags))
			return false;
		if (other->sk_dport == sk->sk_dport &&
		    ipv6_addr_equal(&other->sk_v6_daddr, &sk->sk_v6_daddr) &&
		    other->sk_daddr == sk->sk_daddr)
			return false;
	}
	return true;
}

enum falcon_port_why {
	FALCON_PORT_BIND,	/* this port, by TCP's rules */
	FALCON_PORT_UNUSED,	/* one that nobody has */
	FALCON_PORT_CONNECT,	/* one that makes the connection unique */
};

static bool falcon_port_ok(struct sock *sk, struct falcon_port *port,
			   enum falcon_port_why why)
{
	switch (why) {
	case FALCON_PORT_BIND:
		return !falcon_port_conflict(sk, port);
	case FALCON_PORT_CONNECT:
		return falcon_port_to_other_peers(sk, port);
	default:
		return false;
	}
}

/* Take @num for @sk. */
static int falcon_port_try(struct sock *sk, u16 num, enum falcon_port_why why)
{
	struct falcon_net_sock *ns = falcon_net_sock(falcon_sock_net(sk));
	u32 service = falcon_service(sk, num);
	unsigned int slot = falcon_port_slot(service);
	struct falcon_sock *fs = falcon_sk(sk);
	struct falcon_port *port;
	int err = -EADDRINUSE;

	spin_lock_bh(&ns->port[slot].lock);
	port = falcon_port_find(&ns->port[slot].chain, service);
	if (!port) {
		err = -ENOMEM;
		port = kzalloc(sizeof(*port), GFP_ATOMIC | __GFP_ACCOUNT);
		if (!port)
			goto out;
		port->service = service;
		hlist_add_head(&port->node, &ns->port[slot].chain);
	} else if (!falcon_port_ok(sk, port, why)) {
		goto out;
	}
	err = 0;
	if (!fs->port) {
		fs->port = port;
		sk_add_bind_node(sk, &port->owners);
		inet_sk(sk)->inet_num = num;
	}
out:
	spin_unlock_bh(&ns->port[slot].lock);
	return err;
}

static int falcon_port_search(struct sock *sk, enum falcon_port_why why)
{
	struct net *net = sock_net(sk);
	int low, high, i, n, start;
	int err;

	inet_sk_get_local_port_range(sk, &low, &high);
	n = high - low + 1;
	start = reciprocal_scale(get_random_u32(), n);
	for (i = 0; i < n; i++) {
		u16 num = low + (start + i) % n;

		if (inet_is_local_reserved_port(net, num))
			continue;
		err = falcon_port_try(sk, num, why);
		if (err != -EADDRINUSE)
			return err;
		if (!(i & 127))
			cond_resched();
	}
	return why == FALCON_PORT_CONNECT ? -EADDRNOTAVAIL : -EADDRINUSE;
}

/**
 * falcon_port_get - bind a socket to a port, struct proto::get_port
 * @sk:		socket, locked, its local address set
 * @snum:	port, or 0 for any that is unused
 *
 * With the port that the socket has already, it checks again: listen() may
 * find that another socket came to listen on the address meanwhile.
 * Return: 0, -EADDRINUSE, -EADDRNOTAVAIL or -ENOMEM.
 */
int falcon_port_get(struct sock *sk, unsigned short snum)
{
	if (sk->sk_family == AF_INET6 ?
	    ipv6_addr_is_multicast(&sk->sk_v6_rcv_saddr) :
	    ipv4_is_multicast(sk->sk_rcv_saddr))
		return -EADDRNOTAVAIL;
	if (snum)
		return falcon_port_try(sk, snum, FALCON_PORT_BIND);
	return falcon_port_search(sk, FALCON_PORT_UNUSED);
}

/* A port for connect(), if the socket has none; its peer's address is set. */
int falcon_port_connect(struct sock *sk)
{
	int err;

	if (inet_sk(sk)->inet_num)
		return 0;
	set_bit(FALCON_SK_AUTOPORT, &falcon_sk(sk)->flags);
	err = falcon_port_search(sk, FALCON_PORT_CONNECT);
	if (err)
		clear_bit(FALCON_SK_AUTOPORT, &falcon_sk(sk)->flags);
	else
		inet_sk(sk)->inet_sport = htons(inet_sk(sk)->inet_num);
	return err;
}

/* An accepted socket has the port of its listener. */
void falcon_port_inherit(struct sock *sk, struct sock *child)
{
	struct falcon_net_sock *ns = falcon_net_sock(falcon_sock_net(sk));
	struct falcon_port *port = falcon_sk(sk)->port;
	unsigned int slot = falcon_port_slot(port->service);

	spin_lock_bh(&ns->port[slot].lock);
	falcon_sk(child)->port = port;
	sk_add_bind_node(child, &port->owners);
	spin_unlock_bh(&ns->port[slot].lock);
	inet_sk(child)->inet_num = inet_sk(sk)->inet_num;
	inet_sk(child)->inet_sport = inet_sk(sk)->inet_sport;
}

void falcon_port_put(struct sock *sk)
{
	struct falcon_net_sock *ns = falcon_net_sock(falcon_sock_net(sk));
	struct falcon_port *port = falcon_sk(sk)->port;
	unsigned int slot;

	if (!port)
		return;
	slot = falcon_port_slot(port->service);
	spin_lock_bh(&ns->port[slot].lock);
	__sk_del_bind_node(sk);
	falcon_sk(sk)->port = NULL;
	inet_sk(sk)->inet_num = 0;
	clear_bit(FALCON_SK_AUTOPORT, &falcon_sk(sk)->flags);
	if (hlist_empty(&port->owners)) {
		hlist_del(&port->node);
		kfree(port);
	}
	spin_unlock_bh(&ns->port[slot].lock);
}

/* Listening */

static void falcon_listen_addr(const struct sock *sk, struct falcon_listener *l)
{
	if (sk->sk_family == AF_INET6) {
		l->path.family = AF_INET6;
		l->path.saddr = sk->sk_v6_rcv_saddr;
		if (ipv6_addr_v4mapped(&l->path.saddr))
			l->path.family = AF_INET;
		l->v6only = ipv6_only_sock(sk);
	} else {
		l->path.family = AF_INET;
		ipv6_addr_set_v4mapped(sk->sk_rcv_saddr, &l->path.saddr);
	}
	l->path.oif = sk->sk_bound_dev_if;
	l->path.uid = sk->sk_uid;
}

/*
 * Those who share an address are one listener for the connection manager, which
 * looks for pre-shared keys with the credentials of whoever listened: so they
 * must have the same. With others it chooses between listeners.
 */
static struct falcon_group *falcon_group_find(struct falcon_net_sock *ns,
					      const struct falcon_listener *l)
{
	struct falcon_group *g;

	list_for_each_entry(g, &ns->groups, node)
		if (g->l.service == l->service &&
		    g->l.path.family == l->path.family &&
		    g->l.path.oif == l->path.oif &&
		    g->l.v6only == l->v6only &&
		    g->l.security == l->security &&
		    g->l.cred == current_cred() &&
		    ipv6_addr_equal(&g->l.path.saddr, &l->path.saddr))
			return g;
	return NULL;
}

static void falcon_group_join(struct falcon_group *g, struct falcon_sock *fs)
{
	spin_lock_bh(&g->lock);
	hlist_add_head(&fs->group_node, &g->members);
	g->nr++;
	spin_unlock_bh(&g->lock);
	fs->group = g;
}

/**
 * falcon_listen_start - offer the port of a socket to peers
 * @sk:		bound socket, locked, in state TCP_LISTEN already
 *
 * Return: 0 or a negative errno of falcon_listen().
 */
int falcon_listen_start(struct sock *sk)
{
	struct falcon_net *fn = falcon_sock_net(sk);
	struct falcon_net_sock *ns = falcon_net_sock(fn);
	struct falcon_sock *fs = falcon_sk(sk);
	struct falcon_group *g, *same;
	int err = 0;

	g = kzalloc(sizeof(*g), GFP_KERNEL_ACCOUNT);
	if (!g)
		return -ENOBUFS;
	spin_lock_init(&g->lock);
	g->l.proto = FALCON_PROTO_SOCK;
	g->l.service = falcon_service(sk, inet_sk(sk)->inet_num);
	g->l.request = falcon_ep_request;
	g->l.security = fs->security;
	falcon_listen_addr(sk, &g->l);

	spin_lock_bh(&fs->aq_lock);
	fs->aq_open = true;
	spin_unlock_bh(&fs->aq_lock);

	mutex_lock(&ns->listen_lock);
	same = falcon_group_find(ns, &g->l);
	if (same) {
		kfree(g);
		falcon_group_join(same, fs);
		goto out;
	}
	falcon_group_join(g, fs);
	err = falcon_listen(fn->net, &g->l);
	if (err) {
		fs->group = NULL;
		hlist_del_init(&fs->group_node);
		kfree(g);
		goto out;
	}
	list_add(&g->node, &ns->groups);
out:
	mutex_unlock(&ns->listen_lock);
	return err;
}

static void falcon_group_leave(struct falcon_net *fn, struct falcon_sock *fs)
{
	struct falcon_net_sock *ns = falcon_net_sock(fn);
	struct falcon_group *g = fs->group;
	bool last;

	if (!g)
		return;
	mutex_lock(&ns->listen_lock);
	spin_lock_bh(&g->lock);
	hlist_del_init(&fs->group_node);
	last = !--g->nr;
	spin_unlock_bh(&g->lock);
	fs->group = NULL;
	if (last) {
		list_del(&g->node);
		falcon_unlisten_rcu(fn->net, &g->l);
		kfree_rcu(g, l.rcu);
	}
	mutex_unlock(&ns->listen_lock);
}

/* Ends the set-ups of a socket that does not listen any more. */
static void falcon_half_open_abort(struct falcon_sock *fs)
{
	struct falcon_ep *ep;

	for (;;) {
		spin_lock_bh(&fs->aq_lock);
		ep = list_first_entry_or_null(&fs->half_open, struct falcon_ep,
					      node);
		if (ep) {
			list_del_init(&ep->node);
			refcount_inc(&ep->refs);
		}
		spin_unlock_bh(&fs->aq_lock);
		if (!ep)
			return;
		falcon_conn_abort(ep->conn, -ECONNRESET);
		falcon_ep_put(ep);
	}
}

/**
 * falcon_listen_stop - listen no more, reset what nobody accepted
 * @sk:		listening socket, locked
 *
 * Context: process, waits for falcon_listener::request calls to end.
 */
void falcon_listen_stop(struct sock *sk)
{
	struct falcon_sock *fs = falcon_sk(sk);
	struct falcon_ep *ep, *next;
	LIST_HEAD(aq);

	falcon_group_leave(falcon_sock_net(sk), fs);
	spin_lock_bh(&fs->aq_lock);
	fs->aq_open = false;
	list_splice_init(&fs->aq, &aq);
	WRITE_ONCE(sk->sk_ack_backlog, 0);
	spin_unlock_bh(&fs->aq_lock);
	list_for_each_entry_safe(ep, next, &aq, node) {
		list_del_init(&ep->node);
		falcon_ep_refuse(ep);
	}
	falcon_half_open_abort(fs);
}
