// SPDX-License-Identifier: GPL-2.0
/*
 * One hrtimer a connection, for whatever core waits for next: retransmission
 * (9.1.5), RACK, tail loss probe, RNR, ACK coalescing (9.1.6), transaction
 * time-outs, and the end of linger.
 *
 * The due time mostly moves away: every packet acknowledged postpones the RTO.
 * So the timer is moved only to fire earlier; one that fires too early finds
 * nothing due and is armed for what is. An idle connection has none running. It
 * stays on the CPU that works for the connection, busy or not: to move it would
 * move the lock's cache line as well.
 * conn.c and drain.c call in; the timer runs in softirq and holds no reference: it
 * is cancelled before the memory goes.
 */
#include "conn/conn.h"

static enum hrtimer_restart falcon_timer_fire(struct hrtimer *timer)
{
	struct falcon_conn *conn =
		container_of(timer, struct falcon_conn, timer);

	if (falcon_conn_get(conn)) {
		falcon_conn_timeout(conn);
		falcon_conn_put(conn);
	}
	return HRTIMER_NORESTART;
}

/**
 * falcon_timer_init - set up the timer of a new connection
 * @conn:	not yet seen by others
 */
void falcon_timer_init(struct falcon_conn *conn)
{
	hrtimer_init(&conn->timer, CLOCK_MONOTONIC,
		     HRTIMER_MODE_ABS_PINNED_SOFT);
	conn->timer.function = falcon_timer_fire;
	conn->timer_ns = FALCON_NO_TIMER;
}

/**
 * falcon_timer_update - fire at the latest at a given time
 * @conn:	locked
 * @due_ns:	of ktime_get_ns(), or FALCON_NO_TIMER
 */
void falcon_timer_update(struct falcon_conn *conn, u64 due_ns)
{
	lockdep_assert_held(&conn->lock);
	if (due_ns >= conn->timer_ns)
		return;
	conn->timer_ns = due_ns;
	hrtimer_start(&conn->timer, ns_to_ktime(due_ns),
		      HRTIMER_MODE_ABS_PINNED_SOFT);
}

/**
 * falcon_timer_cancel - stop the timer for good
 * @conn:	has no reference left
 *
 * Context: process; waits for the timer's function.
 */
void falcon_timer_cancel(struct falcon_conn *conn)
{
	hrtimer_cancel(&conn->timer);
}
