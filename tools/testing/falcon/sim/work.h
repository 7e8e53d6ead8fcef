/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What applications do: messages, load in closed loop, and what is measured of
 * it. Messages are the same for every transport.
 */
#ifndef _FALCON_SIM_WORK_H
#define _FALCON_SIM_WORK_H

#include "host.h"

enum sim_op {
	SIM_WRITE,		/* pushed; done when the other end has it all */
	SIM_READ,		/* pulled */
};

/**
 * struct sim_msg - a message
 * @node:	of the transport's queue
 * @ep:		initiator
 * @op:		enum sim_op
 * @bytes:	length, at least 1
 * @submitted:	bytes given to the transport's windows
 * @delivered:	bytes in the memory they are for
 * @completed:	bytes that the initiator knows to be there
 * @start_ps:	beginning
 * @on_delivered: all is in memory, or NULL
 * @on_done:	the initiator knows; the message's end
 * @counter:	bytes delivered are added here
 * @priv:	of the two calls
 */
struct sim_msg {
	struct list_head node;
	struct sim_ep *ep;
	enum sim_op op;
	u64 bytes;
	u64 submitted;
	u64 delivered;
	u64 completed;
	u64 start_ps;
	void (*on_delivered)(struct sim_msg *msg);
	void (*on_done)(struct sim_msg *msg);
	u64 *counter;
	void *priv;
};

/* Measured values, all of them: percentiles are exact. */
struct sim_samples {
	u64 *v;
	u64 nr;
	u64 size;
	bool sorted;
};

void sim_sample(struct sim_samples *s, u64 v);
void sim_samples_reset(struct sim_samples *s);
u64 sim_percentile(struct sim_samples *s, double p);
double sim_mean(const struct sim_samples *s);

/**
 * struct sim_load - one endpoint's messages, a number of them at any time
 * @ep:		initiator
 * @op:		enum sim_op
 * @bytes:	of each message
 * @depth:	messages at a time
 * @limit:	messages in all; 0: no end
 * @begun:	messages begun
 * @done:	messages done
 * @bytes_delivered: in all
 * @delivered:	latencies until delivery go here, picoseconds; or NULL
 * @completed:	latencies until completion go here, picoseconds; or NULL
 */
struct sim_load {
	struct sim_ep *ep;
	enum sim_op op;
	u64 bytes;
	u32 depth;
	u64 limit;
	u64 begun;
	u64 done;
	u64 bytes_delivered;
	struct sim_samples *delivered;
	struct sim_samples *completed;
};

struct sim_msg *sim_msg_alloc(void);
void sim_msg_free(struct sim_msg *msg);
void sim_msg_delivered(struct sim_msg *msg, u64 bytes);
void sim_msg_completed(struct sim_msg *msg, u64 bytes);
void sim_load_start(struct sim_load *load);

#endif
