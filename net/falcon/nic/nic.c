// SPDX-License-Identifier: GPL-2.0
/*
 * The registry of NICs: which one stamps and paces the packets of a
 * connection, and what a NIC that lacks an op gets instead.
 *
 * A connection uses the NIC of the device that its route leaves by, or the
 * software NIC. The choice changes with the route and when a NIC goes; RTT
 * samples that span a change are discarded, because their time-stamps come
 * from different counters. conn/ and udp.c call in; drivers register.
 *
 * Keys of PSP follow their connections to a NIC that takes keys, in process
 * context: until then, and where it refuses, psp/psp.c works with them.
 *
 * The time of a connection is its NIC's counter and a constant, chosen so that
 * it goes on where the NIC before it was: IVs go on increasing, and the peer
 * sees no step that it would take for a replay.
 *
 * A device may move to another namespace, and an address may go. No key stays in
 * a NIC then: what it opens would be read there, or forwarded.
 *
 * falcon_nic_lock protects falcon_conn::nic and the lists of users, readers
 * of the pointer are RCU; whoever needs pointer and constant together reads
 * falcon_conn::nic_seq. falcon_nic_mutex serialises the driver's calls that
 * may sleep, and protects the lists of keys.
 */
#include <linux/export.h>
#include <linux/inetdevice.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/rculist.h>
#include <net/addrconf.h>
#include <net/ip.h>
#include <net/ip6_route.h>
#include <net/ipv6.h>
#include "psp/psp.h"

static LIST_HEAD(falcon_nics);
static DEFINE_SPINLOCK(falcon_nic_lock);
static DEFINE_MUTEX(falcon_nic_mutex);
/* Goes up when a NIC comes: routes that are cached are not told. */
static unsigned int falcon_nic_gen;

/* A device that leaves @net has no NIC there any more. */
static struct falcon_nic *falcon_nic_find(const struct net *net,
					  const struct net_device *dev)
{
	struct falcon_nic *nic;

	lockdep_assert_held(&falcon_nic_lock);
	list_for_each_entry(nic, &falcon_nics, list) {
		if (nic->dev == dev && net_eq(dev_net(dev), net) &&
		    try_module_get(nic->ops->owner))
			return nic;
	}
	return &falcon_nic_soft;
}

static void falcon_nic_put(struct falcon_nic *nic)
{
	if (nic == &falcon_nic_soft)
		return;
	module_put(nic->ops->owner);
	refcount_dec(&nic->refs);
}

static struct falcon_nic *falcon_nic_of(const struct falcon_conn *conn)
{
	return rcu_dereference_protected(conn->nic,
					 lockdep_is_held(&falcon_nic_lock));
}

/* The time of @conn goes on from where it is, on the counter of @nic. */
static void falcon_nic_switch(struct falcon_conn *conn, struct falcon_nic *nic)
{
	u64 now = falcon_nic_counter(falcon_nic_of(conn)) + conn->nic_off_ps;
	u64 next = atomic64_read(&conn->iv_last) + 1;

	if ((s64)(next - now) > 0)
		now = next;
	write_seqcount_begin(&conn->nic_seq);
	rcu_assign_pointer(conn->nic, nic);
	conn->nic_off_ps = now - falcon_nic_counter(nic);
	write_seqcount_end(&conn->nic_seq);
}

/* @nic was found with its module held; a reference goes with the move. */
static void falcon_nic_move(struct falcon_conn *conn, struct falcon_nic *nic)
{
	struct falcon_nic *old = falcon_nic_of(conn);

	lockdep_assert_held(&falcon_nic_lock);
	list_del_init(&conn->nic_node);
	if (nic != &falcon_nic_soft) {
		refcount_inc(&nic->refs);
		list_add(&conn->nic_node, &nic->conns);
	}
	/* What is being set up has no samples under way but by its first NIC. */
	if (READ_ONCE(conn->established_ns) || old != &falcon_nic_soft)
		WRITE_ONCE(conn->stamp_ns, ktime_get_ns());
	falcon_nic_switch(conn, nic);
	falcon_nic_put(old);
}

/* Contexts follow in process context. */
static void falcon_nic_queue_work(struct falcon_conn *conn)
{
	if (falcon_conn_get(conn) && !queue_work(falcon_wq, &conn->nic_work))
		falcon_conn_put(conn);
}

static void falcon_nic_describe(const struct falcon_conn *conn,
				struct falcon_nic_conn *nc)
{
	nc->fn = conn->fn->dest_fn;
	nc->cid = conn->cid;
	nc->nr_flows = conn->core.cfg.nr_flows;
}

/* Moves the context of a connection from NIC to NIC; NULL: to none. */
static void falcon_nic_sync(struct falcon_conn *conn, struct falcon_nic *nic)
{
	struct falcon_nic_ctx *ctx;
	struct falcon_nic_conn nc;

	ctx = rcu_dereference_protected(conn->nic_ctx,
					lockdep_is_held(&falcon_nic_mutex));
	if (ctx ? ctx->nic == nic : !nic)
		return;
	RCU_INIT_POINTER(conn->nic_ctx, NULL);
	if (ctx)
		ctx->nic->ops->conn_del(ctx->nic, ctx);
	if (!nic)
		return;
	falcon_nic_describe(conn, &nc);
	ctx = nic->ops->conn_add(nic, &nc);
	if (!IS_ERR(ctx))
		rcu_assign_pointer(conn->nic_ctx, ctx);
}

static void falcon_nic_key_remove(struct falcon_psp_key *key)
{
	struct falcon_nic_sa *sa;

	sa = rcu_dereference_protected(key->nic_sa,
				       lockdep_is_held(&falcon_nic_mutex));
	if (!sa)
		return;
	RCU_INIT_POINTER(key->nic_sa, NULL);
	list_del_init(&key->nic_node);
	sa->nic->ops->key_del(sa->nic, sa);
}

/* Moves a key of @conn from NIC to NIC; NULL: to none. */
static void falcon_nic_key_place(struct falcon_conn *conn,
				 struct falcon_psp_key *key,
				 struct falcon_nic *nic)
{
	const struct falcon_nic_key nk = {
		.spi = key->spi,
		.version = key->version,
		.tx = key->tx,
		.addr = conn->path.saddr,
		.key = key->raw,
	};
	struct falcon_nic_sa *sa;

	sa = rcu_dereference_protected(key->nic_sa,
				       lockdep_is_held(&falcon_nic_mutex));
	if (sa ? sa->nic == nic : !nic)
		return;
	falcon_nic_key_remove(key);
	if (!nic)
		return;
	sa = nic->ops->key_add(nic, &nk);
	if (IS_ERR(sa))
		return;
	WRITE_ONCE(key->nic_had, true);
	list_add(&key->nic_node, &nic->keys);
	rcu_assign_pointer(key->nic_sa, sa);
}

/**
 * falcon_nic_key_forget - an association has ended
 * @key:	nobody uses it any more
 *
 * Context: process, may sleep.
 */
void falcon_nic_key_forget(struct falcon_psp_key *key)
{
	if (!key->nic_had)
		return;
	mutex_lock(&falcon_nic_mutex);
	falcon_nic_key_remove(key);
	mutex_unlock(&falcon_nic_mutex);
}

/*
 * Is what arrives by a NIC for the address of @conn for this host? If not, the NIC
 * would open what is then forwarded.
 */
static bool falcon_nic_local(const struct falcon_conn *conn,
			     const struct falcon_nic *nic)
{
	const struct in6_addr *addr = &conn->path.saddr;
	struct net *net = conn->fn->net;

	if (conn->path.family == AF_INET6)
		return ipv6_chk_addr(net, addr, nic->dev, 0);
	return inet_addr_type_dev_table(net, nic->dev, addr->s6_addr32[3]) ==
	       RTN_LOCAL;
}

static bool falcon_nic_takes_keys(const struct falcon_conn *conn,
				  const struct falcon_nic *nic)
{
	return nic->ops->key_add && falcon_nic_local(conn, nic);
}

static void falcon_nic_work(struct work_struct *work)
{
	struct falcon_conn *conn =
		container_of(work, struct falcon_conn, nic_work);
	bool up = READ_ONCE(conn->established_ns);
	struct falcon_nic *nic;

	mutex_lock(&falcon_nic_mutex);
	spin_lock_bh(&falcon_nic_lock);
	nic = falcon_nic_of(conn);
	spin_unlock_bh(&falcon_nic_lock);
	falcon_nic_sync(conn, up && nic->ops->conn_add ? nic : NULL);
	falcon_psp_for_keys(conn, falcon_nic_key_place,
			    up && falcon_nic_takes_keys(conn, nic) ? nic : NULL);
	mutex_unlock(&falcon_nic_mutex);
	falcon_conn_reslacken(conn);
	falcon_conn_put(conn);
}

/**
 * falcon_nic_init_conn - a new connection begins with the software NIC
 * @conn:	not yet seen by others
 */
void falcon_nic_init_conn(struct falcon_conn *conn)
{
	INIT_LIST_HEAD(&conn->nic_node);
	INIT_WORK(&conn->nic_work, falcon_nic_work);
	seqcount_spinlock_init(&conn->nic_seq, &falcon_nic_lock);
	atomic64_set(&conn->iv_last, 0);
	RCU_INIT_POINTER(conn->nic, &falcon_nic_soft);
}
EXPORT_SYMBOL_NS_GPL(falcon_nic_init_conn, FALCON_TEST);

/**
 * falcon_nic_attach - choose the NIC of a connection
 * @conn:	connection
 * @dev:	device that its route leaves by
 *
 * Once it is established, it gets its context there.
 *
 * Context: process or softirq, without the connection lock.
 */
void falcon_nic_attach(struct falcon_conn *conn, struct net_device *dev)
{
	struct falcon_nic *nic;

	falcon_txq_device(conn, dev);
	spin_lock_bh(&falcon_nic_lock);
	WRITE_ONCE(conn->nic_gen, falcon_nic_gen);
	nic = falcon_nic_find(conn->fn->net, dev);
	if (nic != falcon_nic_of(conn)) {
		falcon_nic_move(conn, nic);
		falcon_nic_queue_work(conn);
	} else if (nic != &falcon_nic_soft) {
		module_put(nic->ops->owner);
		if (nic->ops->key_add ||
		    (nic->ops->conn_add && !rcu_access_pointer(conn->nic_ctx)))
			falcon_nic_queue_work(conn);
	}
	spin_unlock_bh(&falcon_nic_lock);
}

/**
 * falcon_nic_rekey - a connection has a new key
 * @conn:	connection, not locked
 *
 * Context: process or softirq.
 */
void falcon_nic_rekey(struct falcon_conn *conn)
{
	rcu_read_lock();
	if (rcu_dereference(conn->nic)->ops->key_add &&
	    READ_ONCE(conn->established_ns))
		falcon_nic_queue_work(conn);
	rcu_read_unlock();
}

/**
 * falcon_nic_stale - has a NIC come since this connection chose?
 * @conn:	connection
 *
 * Context: any.
 */
bool falcon_nic_stale(const struct falcon_conn *conn)
{
	return READ_ONCE(conn->nic_gen) != READ_ONCE(falcon_nic_gen);
}

/**
 * falcon_nic_stamps - does a device stamp what arrives for a connection?
 * @conn:	connection
 *
 * Context: any.
 */
bool falcon_nic_stamps(const struct falcon_conn *conn)
{
	bool stamps;

	rcu_read_lock();
	stamps = rcu_dereference(conn->nic)->ops->rx_stamp;
	rcu_read_unlock();
	return stamps;
}

/**
 * falcon_nic_detach - a connection has ended
 * @conn:	has no reference left
 *
 * Context: process, may sleep.
 */
void falcon_nic_detach(struct falcon_conn *conn)
{
	struct falcon_nic *nic;

	mutex_lock(&falcon_nic_mutex);
	falcon_nic_sync(conn, NULL);
	spin_lock_bh(&falcon_nic_lock);
	nic = falcon_nic_of(conn);
	list_del_init(&conn->nic_node);
	falcon_nic_put(nic);
	spin_unlock_bh(&falcon_nic_lock);
	mutex_unlock(&falcon_nic_mutex);
}

static bool falcon_nic_complete(const struct falcon_nic *nic)
{
	const struct falcon_nic_ops *ops = nic->ops;

	return nic->dev && ops->name &&
	       (ops->read_counter || (!ops->xmit && !ops->rx_stamp)) &&
	       !ops->conn_add == !ops->conn_del &&
	       !ops->key_add == !ops->key_del &&
	       (!ops->key_add || (ops->xmit && ops->rx_opened));
}

/**
 * falcon_nic_register - offer a NIC to connections that leave by its device
 * @nic:	@ops and @dev set; the driver's again when
 *		falcon_nic_unregister() returns
 *
 * Connections that leave by @dev move to it when they transmit next.
 *
 * Context: process, may sleep.
 * Return: 0; -EINVAL: no device, no name, xmit or rx_stamp without a counter,
 * conn_add without conn_del, key_add without key_del, rx_opened or xmit;
 * -EEXIST: the device has one.
 */
int falcon_nic_register(struct falcon_nic *nic)
{
	struct falcon_nic *other;
	int err = 0;

	if (!falcon_nic_complete(nic))
		return -EINVAL;
	mutex_lock(&falcon_nic_mutex);
	spin_lock_bh(&falcon_nic_lock);
	list_for_each_entry(other, &falcon_nics, list) {
		if (other->dev == nic->dev)
			err = -EEXIST;
	}
	if (!err) {
		INIT_LIST_HEAD(&nic->conns);
		INIT_LIST_HEAD(&nic->keys);
		refcount_set(&nic->refs, 1);
		list_add_tail(&nic->list, &falcon_nics);
		WRITE_ONCE(falcon_nic_gen, falcon_nic_gen + 1);
	}
	spin_unlock_bh(&falcon_nic_lock);
	mutex_unlock(&falcon_nic_mutex);
	return err;
}
EXPORT_SYMBOL_GPL(falcon_nic_register);

/**
 * falcon_nic_unregister - take a NIC back
 * @nic:	registered
 *
 * Its connections go on with the software NIC. No op of @nic runs after the
 * return, and conn_del was called for each context, key_del for each key; what
 * waits in the driver for its departure is the driver's to drop.
 *
 * Context: process, may sleep.
 */
void falcon_nic_unregister(struct falcon_nic *nic)
{
	struct falcon_psp_key *key;
	struct falcon_conn *conn;
	bool held;

	mutex_lock(&falcon_nic_mutex);
	spin_lock_bh(&falcon_nic_lock);
	list_del(&nic->list);
	/* The mutex keeps a connection that is being freed in the list. */
	while ((conn = list_first_entry_or_null(&nic->conns, struct falcon_conn,
						nic_node))) {
		held = falcon_conn_get(conn);
		falcon_nic_move(conn, &falcon_nic_soft);
		spin_unlock_bh(&falcon_nic_lock);
		falcon_nic_sync(conn, NULL);
		if (held) {
			falcon_conn_reslacken(conn);
			falcon_conn_put(conn);
		}
		spin_lock_bh(&falcon_nic_lock);
	}
	spin_unlock_bh(&falcon_nic_lock);
	while ((key = list_first_entry_or_null(&nic->keys,
					       struct falcon_psp_key,
					       nic_node)))
		falcon_nic_key_remove(key);
	mutex_unlock(&falcon_nic_mutex);

	/* Packets on their way through xmit; contexts of those that moved. */
	synchronize_net();
	flush_workqueue(falcon_wq);
}
EXPORT_SYMBOL_GPL(falcon_nic_unregister);

/**
 * falcon_nic_for_each - visit the software NIC, then those registered
 * @fn:		called in order of registration until it returns non-zero
 * @arg:	of @fn
 *
 * Context: process; @fn runs under the registry's mutex.
 * Return: what @fn returned last.
 */
int falcon_nic_for_each(int (*fn)(struct falcon_nic *nic, void *arg),
			void *arg)
{
	struct falcon_nic *nic;
	int err;

	mutex_lock(&falcon_nic_mutex);
	err = fn(&falcon_nic_soft, arg);
	list_for_each_entry(nic, &falcon_nics, list) {
		if (err)
			break;
		err = fn(nic, arg);
	}
	mutex_unlock(&falcon_nic_mutex);
	return err;
}

/**
 * falcon_nic_counter - the counter that stamps a NIC's packets
 * @nic:	under RCU
 *
 * Context: any.
 * Return: picoseconds.
 */
u64 falcon_nic_counter(struct falcon_nic *nic)
{
	if (!nic->ops->read_counter)
		nic = &falcon_nic_soft;
	return nic->ops->read_counter(nic);
}

/**
 * falcon_nic_now - the time of a connection
 * @conn:	connection
 *
 * Context: any.
 * Return: picoseconds; what the IVs of its packets say.
 */
u64 falcon_nic_now(struct falcon_conn *conn)
{
	unsigned int seq;
	u64 now;

	rcu_read_lock();
	do {
		seq = read_seqcount_begin(&conn->nic_seq);
		now = falcon_nic_counter(rcu_dereference(conn->nic)) +
		      conn->nic_off_ps;
	} while (read_seqcount_retry(&conn->nic_seq, seq));
	rcu_read_unlock();
	return now;
}
EXPORT_SYMBOL_NS_GPL(falcon_nic_now, FALCON_TEST);

/* When the packets of @rx arrived, by the counter of @nic; read once a train. */
static u64 falcon_nic_stamp(struct falcon_nic *nic, struct falcon_rx *rx)
{
	if (rx->nic == nic)
		return rx->counter_ps;
	rx->nic = nic;
	rx->counter_ps = 0;
	if (nic->ops->rx_stamp)
		rx->counter_ps = nic->ops->rx_stamp(nic, rx->napi_id, &rx->hw);
	if (!rx->counter_ps)
		rx->counter_ps = falcon_nic_counter(nic);
	return rx->counter_ps;
}

/**
 * falcon_nic_arrival - when a packet came, in the time of its connection
 * @conn:	connection
 * @rx:		the packet; remembers the stamp for the rest of its train
 *
 * Context: softirq.
 * Return: picoseconds.
 */
u64 falcon_nic_arrival(struct falcon_conn *conn, struct falcon_rx *rx)
{
	unsigned int seq;
	u64 t;

	rcu_read_lock();
	do {
		seq = read_seqcount_begin(&conn->nic_seq);
		t = falcon_nic_stamp(rcu_dereference(conn->nic), rx) +
		    conn->nic_off_ps;
	} while (read_seqcount_retry(&conn->nic_seq, seq));
	rcu_read_unlock();
	return t;
}

/**
 * falcon_nic_opened - has the NIC opened a received packet?
 * @conn:	connection
 * @key:	the association that its SPI names
 * @rx:		the packet
 *
 * Only the NIC that @conn is on is believed, and only of keys that it was given.
 *
 * Context: softirq, RCU read side.
 */
bool falcon_nic_opened(const struct falcon_conn *conn,
		       const struct falcon_psp_key *key,
		       const struct falcon_rx *rx)
{
	struct falcon_nic *nic = rcu_dereference(conn->nic);

	return READ_ONCE(key->nic_had) && nic->ops->rx_opened &&
	       nic->ops->rx_opened(nic, rx->napi_id, &rx->hw);
}

/**
 * falcon_nic_iv - the IV that a packet or train departing now should have
 * @nic:	that transmits it
 * @skb:	as given to xmit
 * @counter_ps:	the counter of @nic as it departs
 *
 * Context: any.
 * Return: for falcon_psp_seal() and falcon_psp_inline(), which take later ones
 * if it is taken; 0: the connection is on another NIC by now, and @skb is to be dropped.
 */
u64 falcon_nic_iv(struct falcon_nic *nic, struct sk_buff *skb, u64 counter_ps)
{
	struct falcon_conn *conn = falcon_nic_cb(skb)->conn;
	const struct falcon_nic *now_on;
	unsigned int seq;
	u64 off;

	do {
		seq = read_seqcount_begin(&conn->nic_seq);
		now_on = rcu_access_pointer(conn->nic);
		off = conn->nic_off_ps;
	} while (read_seqcount_retry(&conn->nic_seq, seq));
	if (now_on != nic)
		return 0;
	return counter_ps + off;
}
EXPORT_SYMBOL_GPL(falcon_nic_iv);

/**
 * falcon_nic_hold - @skb waits longer than the xmit op runs
 * @skb:	as given to xmit; ends in falcon_nic_output() or
 *		falcon_nic_drop()
 *
 * Context: in xmit.
 */
void falcon_nic_hold(struct sk_buff *skb)
{
	struct falcon_nic_cb *cb = falcon_nic_cb(skb);

	refcount_inc(&cb->conn->refs);
	cb->held = true;
	skb_dst_force(skb);
}
EXPORT_SYMBOL_GPL(falcon_nic_hold);

static void falcon_nic_release(struct sk_buff *skb)
{
	if (falcon_nic_cb(skb)->held)
		falcon_conn_put(falcon_nic_cb(skb)->conn);
	memset(skb->cb, 0, sizeof(skb->cb));
}

/**
 * falcon_nic_output - hand a packet to the stack, as the last step of xmit
 * @skb:	sealed; consumed
 *
 * Context: process or softirq, bottom halves off.
 * Return: 0 or a negative errno.
 */
int falcon_nic_output(struct sk_buff *skb)
{
	struct net *net = falcon_nic_net(skb);
	int err;

	falcon_nic_release(skb);
	if (ip_hdr(skb)->version == 4)
		err = ip_local_out(net, skb->sk, skb);
	else
		err = ip6_local_out(net, skb->sk, skb);
	return net_xmit_eval(err);
}
EXPORT_SYMBOL_GPL(falcon_nic_output);

/**
 * falcon_nic_drop - a packet will not depart
 * @skb:	as given to xmit; consumed
 *
 * Context: any but hard interrupts.
 */
void falcon_nic_drop(struct sk_buff *skb)
{
	falcon_nic_release(skb);
	kfree_skb(skb);
}
EXPORT_SYMBOL_GPL(falcon_nic_drop);

/**
 * falcon_nic_net - the namespace that sends a packet
 * @skb:	as given to xmit
 *
 * Context: any.
 * Return: the namespace; it lives as long as @skb is the driver's.
 */
struct net *falcon_nic_net(const struct sk_buff *skb)
{
	return falcon_nic_cb(skb)->conn->fn->net;
}
EXPORT_SYMBOL_GPL(falcon_nic_net);

static int falcon_nic_flush_one(struct falcon_nic *nic, void *net)
{
	if (nic->ops->flush)
		nic->ops->flush(nic, net);
	return 0;
}

/**
 * falcon_nic_flush - drop what a namespace has waiting in any NIC
 * @net:	its connections have ended
 *
 * Context: process, may sleep.
 */
void falcon_nic_flush(struct net *net)
{
	falcon_nic_for_each(falcon_nic_flush_one, net);
}
EXPORT_SYMBOL_NS_GPL(falcon_nic_flush, FALCON_TEST);

/**
 * falcon_nic_rx_level - occupancy of a NIC's receive buffer
 * @nic:	under RCU
 *
 * Context: any.
 * Return: 0..31; 0 where the NIC cannot tell.
 */
u8 falcon_nic_rx_level(struct falcon_nic *nic)
{
	return nic->ops->rx_level ? nic->ops->rx_level(nic) : 0;
}

/**
 * falcon_nic_xmit - transmit a packet or a train
 * @conn:	that sends it
 * @skb:	as the xmit op takes it; consumed
 * @flow:	flow of the connection
 *
 * Context: process or softirq, RCU read side, bottom halves off.
 * Return: 0 or a negative errno.
 */
int falcon_nic_xmit(struct falcon_conn *conn, struct sk_buff *skb, u8 flow)
{
	struct falcon_nic *nic = rcu_dereference(conn->nic);
	struct falcon_nic_ctx *ctx = rcu_dereference(conn->nic_ctx);

	if (!nic->ops->xmit)
		nic = &falcon_nic_soft;
	if (ctx && ctx->nic != nic)
		ctx = NULL;
	return nic->ops->xmit(nic, ctx, skb, flow,
			      falcon_nic_cb(skb)->depart_ns);
}
EXPORT_SYMBOL_NS_GPL(falcon_nic_xmit, FALCON_TEST);

/*
 * What happens to devices and addresses. Notifiers hold rtnl, or are in softirq:
 * the driver hears of it in process context.
 */

/* A device comes to a namespace or leaves it: whose connections go on in software. */
static void falcon_nic_evict(const struct net_device *dev, bool all)
{
	struct falcon_conn *conn, *next;
	struct falcon_nic *nic;

	spin_lock_bh(&falcon_nic_lock);
	list_for_each_entry(nic, &falcon_nics, list) {
		if (nic->dev != dev)
			continue;
		list_for_each_entry_safe(conn, next, &nic->conns, nic_node) {
			if (!all && net_eq(conn->fn->net, dev_net(dev)))
				continue;
			if (!falcon_conn_get(conn))
				continue;
			falcon_nic_move(conn, &falcon_nic_soft);
			falcon_nic_queue_work(conn);
			falcon_conn_put(conn);
		}
	}
	spin_unlock_bh(&falcon_nic_lock);
}

/* Addresses of @net may have gone: their keys follow. */
static void falcon_nic_review(const struct net *net)
{
	struct falcon_conn *conn;
	struct falcon_nic *nic;

	spin_lock_bh(&falcon_nic_lock);
	list_for_each_entry(nic, &falcon_nics, list) {
		if (!nic->ops->key_add || !net_eq(dev_net(nic->dev), net))
			continue;
		list_for_each_entry(conn, &nic->conns, nic_node) {
			if (net_eq(conn->fn->net, net) &&
			    !falcon_nic_local(conn, nic))
				falcon_nic_queue_work(conn);
		}
	}
	spin_unlock_bh(&falcon_nic_lock);
}

static int falcon_nic_netdev_event(struct notifier_block *nb,
				   unsigned long event, void *ptr)
{
	struct net_device *dev = netdev_notifier_info_to_dev(ptr);

	switch (event) {
	case NETDEV_REGISTER:
	case NETDEV_UNREGISTER:
		falcon_nic_evict(dev, event == NETDEV_UNREGISTER);
		break;
	case NETDEV_DOWN:
		falcon_nic_review(dev_net(dev));
		break;
	}
	return NOTIFY_DONE;
}

static int falcon_nic_inetaddr_event(struct notifier_block *nb,
				     unsigned long event, void *ptr)
{
	struct in_ifaddr *ifa = ptr;

	if (event == NETDEV_DOWN)
		falcon_nic_review(dev_net(ifa->ifa_dev->dev));
	return NOTIFY_DONE;
}

static int falcon_nic_inet6addr_event(struct notifier_block *nb,
				      unsigned long event, void *ptr)
{
	struct inet6_ifaddr *ifp = ptr;

	if (event == NETDEV_DOWN)
		falcon_nic_review(dev_net(ifp->idev->dev));
	return NOTIFY_DONE;
}

static struct notifier_block falcon_nic_netdev_notifier = {
	.notifier_call = falcon_nic_netdev_event,
};

static struct notifier_block falcon_nic_inetaddr_notifier = {
	.notifier_call = falcon_nic_inetaddr_event,
};

static struct notifier_block falcon_nic_inet6addr_notifier = {
	.notifier_call = falcon_nic_inet6addr_event,
};

/**
 * falcon_nic_init - watch devices and addresses
 *
 * Context: module init.
 * Return: 0 or a negative errno.
 */
int falcon_nic_init(void)
{
	int err = register_netdevice_notifier(&falcon_nic_netdev_notifier);

	if (err)
		return err;
	err = register_inetaddr_notifier(&falcon_nic_inetaddr_notifier);
	if (err)
		goto netdev;
	err = register_inet6addr_notifier(&falcon_nic_inet6addr_notifier);
	if (err)
		goto inetaddr;
	return 0;

inetaddr:
	unregister_inetaddr_notifier(&falcon_nic_inetaddr_notifier);
netdev:
	unregister_netdevice_notifier(&falcon_nic_netdev_notifier);
	return err;
}

/**
 * falcon_nic_exit - watch them no longer
 *
 * Context: module exit.
 */
void falcon_nic_exit(void)
{
	unregister_inet6addr_notifier(&falcon_nic_inet6addr_notifier);
	unregister_inetaddr_notifier(&falcon_nic_inetaddr_notifier);
	unregister_netdevice_notifier(&falcon_nic_netdev_notifier);
}
