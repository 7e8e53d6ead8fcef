// SPDX-License-Identifier: GPL-2.0
/*
 * Who listens to which service, and who of several gets a request: a listener
 * bound to the device before one that is not, one bound to the address before
 * one that takes any; among equals (SO_REUSEPORT) the nonce decides, so that a
 * repeated request meets the same one. ULPs register here; cm.c looks up from
 * softirq and process context.
 */
#include <linux/cred.h>
#include <linux/export.h>
#include <linux/siphash.h>
#include <linux/wait_bit.h>
#include <net/ipv6.h>

#include "cm/cm.h"

static u32 cm_service_hash(struct falcon_cm *cm, u8 proto, u32 service)
{
	return siphash_2u32(proto, service, &cm->hash_key);
}

static bool cm_any_addr(const struct falcon_path *p)
{
	return p->family == AF_INET ? !p->saddr.s6_addr32[3] :
				      ipv6_addr_any(&p->saddr);
}

static bool cm_family_fits(const struct falcon_listener *l, sa_family_t family)
{
	if (l->path.family == family)
		return true;
	return l->path.family == AF_INET6 && !l->v6only;
}

/* 0: not for this listener; otherwise the better the higher */
static int cm_score(const struct falcon_listener *l,
		    const struct falcon_cm_peer *peer)
{
	const struct falcon_path *p = &l->path;
	bool any = cm_any_addr(p);
	int score = 1;

	if (!cm_family_fits(l, peer->path.family))
		return 0;
	if (p->oif) {
		if (p->oif != peer->dif && p->oif != peer->sdif)
			return 0;
		score += 4;
	}
	if (!any) {
		if (!ipv6_addr_equal(&p->saddr, &peer->path.saddr))
			return 0;
		if (p->scope_id && p->scope_id != peer->path.scope_id)
			return 0;
		score += 2;
	}
	/* An IPv4 socket before an IPv6 one that takes IPv4 as well */
	return 2 * score + (p->family == peer->path.family);
}

/**
 * falcon_cm_find_listener() - who takes a request
 * @cm:		connection manager
 * @peer:	where the request came from, and to which address
 * @proto:	enum falcon_proto
 * @service:	socket port or QPN
 * @nonce:	of the set-up
 *
 * Context: Any but hard interrupts.
 * Return: a listener with a reference for falcon_cm_put_listener(), or NULL.
 */
struct falcon_listener *
falcon_cm_find_listener(struct falcon_cm *cm, const struct falcon_cm_peer *peer,
			u8 proto, u32 service, u64 nonce)
{
	struct falcon_listener *l, *best = NULL;
	int score, top = 0, equals = 0;

	rcu_read_lock();
	hash_for_each_possible_rcu(cm->listeners, l, node,
				   cm_service_hash(cm, proto, service)) {
		if (l->proto != proto || l->service != service)
			continue;
		score = cm_score(l, peer);
		if (!score || score < top)
			continue;
		equals = score > top ? 1 : equals + 1;
		top = score;
		/* Each of n equals stays with probability 1 / n. */
		if (equals == 1 ||
		    !reciprocal_scale(siphash_1u64(nonce + equals,
						   &cm->hash_key), equals))
			best = l;
	}
	if (best && !refcount_inc_not_zero(&best->refs))
		best = NULL;
	rcu_read_unlock();
	return best;
}

/**
 * falcon_cm_put_listener() - give back a reference
 * @l:	from falcon_cm_find_listener()
 */
void falcon_cm_put_listener(struct falcon_listener *l)
{
	refcount_t *refs = &l->refs;

	/* At 0 falcon_unlisten() may return and @l be gone. */
	if (refcount_dec_and_test(refs)) {
		/* Who waits either sees 0 or is seen to wait. */
		smp_mb();
		wake_up_var(refs);
	}
}

/**
 * falcon_listen() - take requests for a service
 * @net:	namespace; the caller sees to it that falcon_unlisten() comes before
 *		its end, by a reference or by pernet operations of its own
 * @l:		the listener, zeroed and then filled but for its node and refs;
 *		it stays the caller's
 *
 * Who may listen beside whom is for the ULP to say: its own table of ports
 * knows about sharing.
 *
 * Context: Process, may sleep: its keyrings are those that may have pre-shared keys.
 * Return: 0; -ENETDOWN if the namespace goes away; -EADDRINUSE if somebody else has
 * the UDP ports of Falcon there.
 */
int falcon_listen(struct net *net, struct falcon_listener *l)
{
	struct falcon_net *fn = falcon_net(net);
	struct falcon_cm *cm = fn->cm;
	int err;

	refcount_set(&l->refs, 1);
	INIT_HLIST_NODE(&l->node);
	if (!cm)
		return -ENETDOWN;
	err = falcon_cm_ports(fn);
	if (err)
		return err;
	l->cred = get_current_cred();
	spin_lock_bh(&cm->lock);
	if (cm->dead)
		err = -ENETDOWN;
	else
		hash_add_rcu(cm->listeners, &l->node,
			     cm_service_hash(cm, l->proto, l->service));
	spin_unlock_bh(&cm->lock);
	if (err) {
		put_cred(l->cred);
		l->cred = NULL;
	}
	return err;
}
EXPORT_SYMBOL_GPL(falcon_listen);

/**
 * falcon_unlisten_rcu() - take no more requests; look-ups may still see it
 * @net:	namespace
 * @l:		what falcon_listen() took; to be freed by kfree_rcu() or the like
 *
 * When it returns, request() of @l does not run and will not be called again,
 * so the caller must not hold a lock that request() takes.
 *
 * Context: Process, may sleep.
 */
void falcon_unlisten_rcu(struct net *net, struct falcon_listener *l)
{
	struct falcon_cm *cm = falcon_net(net)->cm;

	if (cm) {
		spin_lock_bh(&cm->lock);
		hlist_del_init_rcu(&l->node);
		spin_unlock_bh(&cm->lock);
	}
	if (!refcount_dec_and_test(&l->refs))
		wait_var_event(&l->refs, !refcount_read(&l->refs));
	put_cred(l->cred);
}
EXPORT_SYMBOL_GPL(falcon_unlisten_rcu);

/**
 * falcon_unlisten() - take no more requests, and let go of the listener
 * @net:	namespace
 * @l:		what falcon_listen() took; its memory is the caller's again
 *
 * Like falcon_unlisten_rcu(), but slow: a grace period each.
 *
 * Context: Process, may sleep.
 */
void falcon_unlisten(struct net *net, struct falcon_listener *l)
{
	falcon_unlisten_rcu(net, l);
	synchronize_rcu();
}
EXPORT_SYMBOL_GPL(falcon_unlisten);

/**
 * falcon_cm_drop_listeners() - nobody listens any more: the netns goes away
 * @cm:	connection manager
 */
void falcon_cm_drop_listeners(struct falcon_cm *cm)
{
	struct falcon_listener *l;
	struct hlist_node *next;
	int i;

	spin_lock_bh(&cm->lock);
	hash_for_each_safe(cm->listeners, i, next, l, node)
		hlist_del_init_rcu(&l->node);
	spin_unlock_bh(&cm->lock);
}
