// SPDX-License-Identifier: GPL-2.0
/*
 * Connection ids: how a connection gets one, is found by it, and what becomes
 * of it afterwards: a CID rests before it is used again, so that late packets
 * of the old connection do not meet a new one.
 */
#include <linux/random.h>
#include "conn/conn.h"

#define FALCON_CID_TRIES	64

/* A value entry of falcon_net::conns rests; marks tell for how long. */
#define FALCON_CID_YOUNG	XA_MARK_0
#define FALCON_CID_OLD		XA_MARK_1

/**
 * falcon_cid_reap() - CIDs that have rested are free again
 * @work:	falcon_net::reap_work
 *
 * Context: process.
 */
void falcon_cid_reap(struct work_struct *work)
{
	struct falcon_net *fn = container_of(to_delayed_work(work),
					     struct falcon_net, reap_work);
	unsigned long cid;
	void *entry;

	xa_for_each_marked(&fn->conns, cid, entry, FALCON_CID_OLD) {
		xa_erase_bh(&fn->conns, cid);
		atomic_dec(&fn->nr_quarantined);
		cond_resched();
	}
	xa_for_each_marked(&fn->conns, cid, entry, FALCON_CID_YOUNG) {
		xa_lock_bh(&fn->conns);
		__xa_clear_mark(&fn->conns, cid, FALCON_CID_YOUNG);
		__xa_set_mark(&fn->conns, cid, FALCON_CID_OLD);
		xa_unlock_bh(&fn->conns);
		cond_resched();
	}
	if (atomic_read(&fn->nr_quarantined))
		queue_delayed_work(falcon_wq, &fn->reap_work,
				   msecs_to_jiffies(READ_ONCE(fn->sysctl.quarantine_ms)));
}

/**
 * falcon_cid_rest() - a connection is no longer found by its CID
 * @fn:	namespace
 * @cid:	its CID
 *
 * The CID rests for one to two quarantine times. As many may rest as may live;
 * beyond that they are free at once, and late packets of the old connection are
 * told apart by SPI and PCID alone.
 *
 * Context: any but hard interrupts.
 */
void falcon_cid_rest(struct falcon_net *fn, u32 cid)
{
	unsigned int ms = READ_ONCE(fn->sysctl.quarantine_ms);
	int max = READ_ONCE(fn->sysctl.max_conns);
	void *old;

	xa_lock_bh(&fn->conns);
	if (!ms || atomic_read(&fn->nr_quarantined) >= max) {
		__xa_erase(&fn->conns, cid);
		ms = 0;
	} else {
		old = __xa_store(&fn->conns, cid, xa_mk_value(0), GFP_ATOMIC);
		WARN_ON_ONCE(xa_is_err(old));
		__xa_set_mark(&fn->conns, cid, FALCON_CID_YOUNG);
		atomic_inc(&fn->nr_quarantined);
	}
	xa_unlock_bh(&fn->conns);
	if (ms)
		queue_delayed_work(falcon_wq, &fn->reap_work,
				   msecs_to_jiffies(ms));
}

/**
 * falcon_cid_take() - give a connection a CID, by which it is found from now on
 * @conn:	new connection
 * @gfp:	allocation flags
 *
 * CIDs are random: not the next, not the last, not to be guessed.
 *
 * Context: as @gfp says.
 * Return: 0; -ENOBUFS: none was found; -ENOMEM.
 */
int falcon_cid_take(struct falcon_conn *conn, gfp_t gfp)
{
	int i, err = -EBUSY;

	for (i = 0; i < FALCON_CID_TRIES && err == -EBUSY; i++) {
		conn->cid = get_random_u32() & FALCON_CID_MASK;
		if (!conn->cid)
			continue;
		err = xa_insert_bh(&conn->fn->conns, conn->cid, conn, gfp);
	}
	return err == -EBUSY ? -ENOBUFS : err;
}

/**
 * falcon_conn_lookup - find a connection by its own CID
 * @fn:		namespace
 * @cid:	24 bits
 *
 * Context: any.
 * Return: the connection, referenced, or NULL.
 */
struct falcon_conn *falcon_conn_lookup(struct falcon_net *fn, u32 cid)
{
	struct falcon_conn *conn;

	rcu_read_lock();
	conn = xa_load(&fn->conns, cid);
	if (!conn || xa_is_value(conn) || !falcon_conn_get(conn))
		conn = NULL;
	rcu_read_unlock();
	return conn;
}

/**
 * falcon_conn_find_next - go through the connections of a namespace
 * @fn:		namespace
 * @cid:	in: where to go on; out: the own CID of what was found
 *
 * Context: any.
 * Return: the connection with the smallest CID of @cid or above, referenced;
 * NULL after the last.
 */
struct falcon_conn *falcon_conn_find_next(struct falcon_net *fn,
					  unsigned long *cid)
{
	struct falcon_conn *conn;

	rcu_read_lock();
	for (conn = xa_find(&fn->conns, cid, FALCON_CID_MASK, XA_PRESENT); conn;
	     conn = xa_find_after(&fn->conns, cid, FALCON_CID_MASK, XA_PRESENT))
		if (!xa_is_value(conn) && falcon_conn_get(conn))
			break;
	rcu_read_unlock();
	return conn;
}
