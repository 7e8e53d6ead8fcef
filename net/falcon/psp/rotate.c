// SPDX-License-Identifier: GPL-2.0
/*
 * Rotation of the device key (9.2.2.3), by time, on demand, and when many SPIs
 * have been given away, under traffic.
 *
 * Step 1, a new device key and generation; steps 2 and 3 for each connection:
 * a new association, whose predecessor is still accepted, and its grant for
 * the peer, in a REKEY that falcon_cm_rekey() sends until it is acknowledged.
 * Step 4, the predecessor goes a while after the peer has been seen to use the
 * new one (falcon_psp_rx_used()). Step 5 comes with the next step 1: who is
 * two generations behind is not accepted.
 *
 * So no packet is lost as long as a rotation waits for the one before. One
 * peer that has gone must not hold up the keys of all others, though: after
 * PSP_PATIENCE_NS nobody waits for it any more.
 */
#include "psp/psp.h"

#define PSP_PATIENCE_NS	(30 * NSEC_PER_SEC)
#define PSP_RETRY	(5 * HZ)

/* Is the peer still on its way to the newest association? */
static bool psp_conn_moving(struct falcon_conn *conn, u64 now)
{
	const struct falcon_psp_sa *sa = &conn->rx_sa;
	bool moving = false;

	spin_lock_bh(&conn->lock);
	if (conn->state == FALCON_CONN_ESTABLISHED &&
	    sa->version != FALCON_PSP_VER_NONE) {
		if (sa->gen != conn->fn->key_gen)
			moving = true;
		else if (rcu_access_pointer(sa->prev_key))
			moving = !sa->moved_ns ||
				 now - sa->moved_ns < FALCON_PSP_RETIRE_NS;
	}
	spin_unlock_bh(&conn->lock);
	return moving;
}

static bool psp_any_moving(struct falcon_net *fn, u64 now)
{
	struct falcon_conn *conn;
	unsigned long cid;
	bool moving = false;

	for (cid = 0; !moving && (conn = falcon_conn_find_next(fn, &cid)); cid++) {
		moving = psp_conn_moving(conn, now);
		falcon_conn_put(conn);
		cond_resched();
	}
	return moving;
}

/* Steps 2 and 3; what is being set up, or closing, has no use for it. */
static void psp_rekey_all(struct falcon_net *fn)
{
	struct falcon_conn *conn;
	unsigned long cid;

	for (cid = 0; (conn = falcon_conn_find_next(fn, &cid)); cid++) {
		falcon_cm_rekey(conn);
		falcon_conn_put(conn);
		cond_resched();
	}
}

/**
 * falcon_psp_rotate - new keys for all that is received here
 * @fn:		namespace
 *
 * Returns when the peers are being told.
 *
 * Context: process, may sleep.
 * Return: 0; -EBUSY: peers are still moving to the keys before; -ENETDOWN: the
 * namespace goes away.
 */
int falcon_psp_rotate(struct falcon_net *fn)
{
	struct falcon_psp *psp = fn->psp;
	u64 now = ktime_get_ns();
	int err = 0;

	mutex_lock(&psp->rotate_mutex);
	if (psp->stopped) {
		err = -ENETDOWN;
	} else if (psp->rotated_ns && now - psp->rotated_ns < PSP_PATIENCE_NS &&
		   psp_any_moving(fn, now)) {
		err = -EBUSY;
	} else {
		psp->rotated_ns = now;
		falcon_psp_new_generation(fn);
		FALCON_INC(fn, KEY_ROTATIONS);
		psp_rekey_all(fn);
	}
	mutex_unlock(&psp->rotate_mutex);
	return err;
}

static void psp_rotate_work(struct work_struct *work)
{
	struct falcon_psp *psp = container_of(to_delayed_work(work),
					      struct falcon_psp, rotate_work);

	if (falcon_psp_rotate(psp->fn) == -EBUSY)
		queue_delayed_work(falcon_wq, &psp->rotate_work, PSP_RETRY);
	else
		falcon_psp_rotate_arm(psp->fn);
}

/**
 * falcon_psp_rotate_arm - rotate psp_rotate_s from now on, if ever
 * @fn:		namespace
 *
 * Context: process, may sleep.
 */
void falcon_psp_rotate_arm(struct falcon_net *fn)
{
	struct falcon_psp *psp = fn->psp;
	unsigned long s = READ_ONCE(fn->sysctl.psp_rotate_s);

	mutex_lock(&psp->rotate_mutex);
	if (!s)
		cancel_delayed_work(&psp->rotate_work);
	else if (!psp->stopped)
		mod_delayed_work(falcon_wq, &psp->rotate_work, s * HZ);
	mutex_unlock(&psp->rotate_mutex);
}

/**
 * falcon_psp_rotate_soon - rotate as soon as peers have moved
 * @psp:	of the namespace
 *
 * Context: any but hard interrupt; before the end of the namespace.
 */
void falcon_psp_rotate_soon(struct falcon_psp *psp)
{
	mod_delayed_work(falcon_wq, &psp->rotate_work, 0);
}

/**
 * falcon_psp_rotate_init - nothing has been rotated yet
 * @psp:	being made
 */
void falcon_psp_rotate_init(struct falcon_psp *psp)
{
	mutex_init(&psp->rotate_mutex);
	INIT_DELAYED_WORK(&psp->rotate_work, psp_rotate_work);
}

/**
 * falcon_psp_rotate_stop - the namespace goes away
 * @fn:		no rotation runs after the return
 *
 * Context: process, may sleep.
 */
void falcon_psp_rotate_stop(struct falcon_net *fn)
{
	struct falcon_psp *psp = fn->psp;

	mutex_lock(&psp->rotate_mutex);
	psp->stopped = true;
	mutex_unlock(&psp->rotate_mutex);
	cancel_delayed_work_sync(&psp->rotate_work);
}
