/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of a connection share. falcon.h has what they offer others.
 *
 *	conn.c	life: set-up, established, closing, dead; memory
 *	cid.c	connection ids
 *	rx.c	the way in: acceptance (9.2.2), then core
 *	drain.c	the way out: packets, calls of the ULP
 *	timer.c	one timer a connection
 *
 * Whoever calls core holds the connection lock, and drains before it is let go.
 */
#ifndef _FALCON_CONN_H
#define _FALCON_CONN_H

#include "falcon.h"
#include "trace.h"

/* What congestion control does inside core, for the tracepoints. */
struct falcon_watch {
	bool on;
	struct falcon_cc_state cc[FALCON_MAX_FLOWS];
	u32 label[FALCON_MAX_FLOWS];
};

/* conn.c */
void falcon_conn_tell(struct falcon_conn *conn, u8 ev);
void falcon_conn_set_state(struct falcon_conn *conn, u8 state);
void falcon_conn_unhash(struct falcon_conn *conn);
void falcon_conn_die(struct falcon_conn *conn, int err);
u64 falcon_linger_end(const struct falcon_conn *conn);

/* cid.c */
void falcon_cid_reap(struct work_struct *work);
void falcon_cid_rest(struct falcon_net *fn, u32 cid);
int falcon_cid_take(struct falcon_conn *conn, gfp_t gfp);

/* drain.c */
void falcon_watch_begin(struct falcon_watch *w, const struct falcon_conn *conn);
void falcon_watch_end(const struct falcon_watch *w,
		      const struct falcon_conn *conn);

/* rx.c */
void falcon_free_held(struct falcon_conn *conn);
void falcon_rx_held(struct falcon_conn *conn);

/* timer.c: one hrtimer a connection, softirq */
void falcon_timer_init(struct falcon_conn *conn);
void falcon_timer_update(struct falcon_conn *conn, u64 due_ns);
void falcon_timer_cancel(struct falcon_conn *conn);

#endif /* _FALCON_CONN_H */
