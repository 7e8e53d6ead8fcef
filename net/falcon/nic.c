// SPDX-License-Identifier: GPL-2.0
/*
 * The registry of NICs: which one stamps and paces the packets of a
 * connection, and what a NIC that lacks an op gets instead.
 *
 * A connection uses the NIC of the device that its route leaves by, or the
 * software NIC. The choice changes with the route and when a NIC goes; RTT
 * samples that span a change are discarded, because their time-stamps come
 * from different counters. conn.c and udp.c call in; drivers register.
 *
 * falcon_nic_lock protects falcon_conn::nic and the lists of users, readers
 * of the pointer are RCU. falcon_nic_mutex serialises the driver's calls that
 * may sleep.
 */
#include <linux/export.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/rculist.h>
#include "falcon.h"

static LIST_HEAD(falcon_nics);
static DEFINE_SPINLOCK(falcon_nic_lock);
static DEFINE_MUTEX(falcon_nic_mutex);

static struct falcon_nic *falcon_nic_find(const struct net_device *dev)
{
	struct falcon_nic *nic;

	lockdep_assert_held(&falcon_nic_lock);
	list_for_each_entry(nic, &falcon_nics, list) {
		if (nic->dev == dev && try_module_get(nic->ops->owner))
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
	if (old)
		WRITE_ONCE(conn->stamp_ns, ktime_get_ns());
	rcu_assign_pointer(conn->nic, nic);
	if (old)
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
	struct falcon_nic_conn nc;

	lockdep_assert_held(&falcon_nic_mutex);
	falcon_nic_describe(conn, &nc);
	if (conn->nic_ctx == nic)
		return;
	if (conn->nic_ctx && conn->nic_ctx->ops->conn_del)
		conn->nic_ctx->ops->conn_del(conn->nic_ctx, &nc);
	conn->nic_ctx = NULL;
	if (nic && nic->ops->conn_add && !nic->ops->conn_add(nic, &nc))
		conn->nic_ctx = nic;
}

static void falcon_nic_work(struct work_struct *work)
{
	struct falcon_conn *conn =
		container_of(work, struct falcon_conn, nic_work);
	struct falcon_nic *nic;

	mutex_lock(&falcon_nic_mutex);
	spin_lock_bh(&falcon_nic_lock);
	nic = falcon_nic_of(conn);
	spin_unlock_bh(&falcon_nic_lock);
	falcon_nic_sync(conn, nic->ops->conn_add ? nic : NULL);
	mutex_unlock(&falcon_nic_mutex);
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
	RCU_INIT_POINTER(conn->nic, &falcon_nic_soft);
}

/**
 * falcon_nic_attach - choose the NIC of a connection
 * @conn:	connection
 * @dev:	device that its route leaves by
 *
 * Context: process or softirq, without the connection lock.
 */
void falcon_nic_attach(struct falcon_conn *conn, struct net_device *dev)
{
	struct falcon_nic *nic;

	spin_lock_bh(&falcon_nic_lock);
	nic = falcon_nic_find(dev);
	if (nic != falcon_nic_of(conn)) {
		falcon_nic_move(conn, nic);
		if (nic->ops->conn_add || conn->nic_ctx)
			falcon_nic_queue_work(conn);
	} else if (nic != &falcon_nic_soft) {
		module_put(nic->ops->owner);
	}
	spin_unlock_bh(&falcon_nic_lock);
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

/**
 * falcon_nic_register - offer a NIC to connections that leave by its device
 * @nic:	@ops, @dev and @priv set; the driver's, until
 *		falcon_nic_unregister() returns
 *
 * Connections that exist move to it when their route is looked up next.
 *
 * Context: process, may sleep.
 * Return: 0; -EINVAL: no device, no name, or xmit without a counter; -EEXIST:
 * the device has one.
 */
int falcon_nic_register(struct falcon_nic *nic)
{
	struct falcon_nic *other;
	int err = 0;

	if (!nic->dev || !nic->ops->name ||
	    (nic->ops->xmit && !nic->ops->read_counter))
		return -EINVAL;
	INIT_LIST_HEAD(&nic->conns);
	refcount_set(&nic->refs, 1);
	nic->gone = false;

	mutex_lock(&falcon_nic_mutex);
	spin_lock_bh(&falcon_nic_lock);
	list_for_each_entry(other, &falcon_nics, list) {
		if (other->dev == nic->dev)
			err = -EEXIST;
	}
	if (!err)
		list_add_tail(&nic->list, &falcon_nics);
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
 * return, and conn_del was called for each context.
 *
 * Context: process, may sleep.
 */
void falcon_nic_unregister(struct falcon_nic *nic)
{
	struct falcon_conn *conn;

	mutex_lock(&falcon_nic_mutex);
	spin_lock_bh(&falcon_nic_lock);
	nic->gone = true;
	list_del(&nic->list);
	/* The mutex keeps a connection that is being freed in the list. */
	while ((conn = list_first_entry_or_null(&nic->conns, struct falcon_conn,
						nic_node))) {
		falcon_nic_move(conn, &falcon_nic_soft);
		spin_unlock_bh(&falcon_nic_lock);
		falcon_nic_sync(conn, NULL);
		spin_lock_bh(&falcon_nic_lock);
	}
	spin_unlock_bh(&falcon_nic_lock);
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
 * @nic:	under RCU
 * @skb:	as the xmit op takes it; consumed
 * @flow:	flow of the connection
 *
 * Context: process or softirq, bottom halves off.
 * Return: 0 or a negative errno.
 */
int falcon_nic_xmit(struct falcon_nic *nic, struct sk_buff *skb, u8 flow)
{
	if (!nic->ops->xmit)
		nic = &falcon_nic_soft;
	return nic->ops->xmit(nic, skb, flow, falcon_nic_cb(skb)->depart_ns);
}
