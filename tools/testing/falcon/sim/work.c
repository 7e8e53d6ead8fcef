// SPDX-License-Identifier: GPL-2.0
/* See work.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "work.h"

static LIST_HEAD(free_msgs);

/* --------------------------------------------------------------- samples */

void sim_sample(struct sim_samples *s, u64 v)
{
	if (s->nr == s->size) {
		s->size = s->size ? s->size * 2 : 1024;
		s->v = realloc(s->v, s->size * sizeof(*s->v));
		if (!s->v)
			sim_die("out of memory");
	}
	s->v[s->nr++] = v;
	s->sorted = false;
}

void sim_samples_reset(struct sim_samples *s)
{
	s->nr = 0;
}

static int compare(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

/* The smallest sample that @p percent of them do not exceed; 0 of none */
u64 sim_percentile(struct sim_samples *s, double p)
{
	u64 rank;

	if (!s->nr)
		return 0;
	if (!s->sorted)
		qsort(s->v, s->nr, sizeof(*s->v), compare);
	s->sorted = true;
	rank = ceil(p / 100 * s->nr);
	return s->v[rank ? rank - 1 : 0];
}

double sim_mean(const struct sim_samples *s)
{
	double sum = 0;
	u64 i;

	for (i = 0; i < s->nr; i++)
		sum += s->v[i];
	return s->nr ? sum / s->nr : 0;
}

/* -------------------------------------------------------------- messages */

struct sim_msg *sim_msg_alloc(void)
{
	struct sim_msg *msg;

	msg = list_first_entry_or_null(&free_msgs, struct sim_msg, node);
	if (!msg)
		return sim_alloc(sizeof(*msg));
	list_del(&msg->node);
	memset(msg, 0, sizeof(*msg));
	return msg;
}

void sim_msg_free(struct sim_msg *msg)
{
	list_add(&msg->node, &free_msgs);
}

/* Transports call: @bytes more are where they belong. */
void sim_msg_delivered(struct sim_msg *msg, u64 bytes)
{
	msg->delivered += bytes;
	*msg->counter += bytes;
	if (msg->delivered == msg->bytes && msg->on_delivered)
		msg->on_delivered(msg);
}

/* Transports call: the initiator knows of @bytes more. */
void sim_msg_completed(struct sim_msg *msg, u64 bytes)
{
	msg->completed += bytes;
	if (msg->completed == msg->bytes)
		msg->on_done(msg);
}

/* ------------------------------------------------------------------ load */

static void load_next(struct sim_load *load);

static void load_delivered(struct sim_msg *msg)
{
	struct sim_load *load = msg->priv;

	if (load->delivered)
		sim_sample(load->delivered, sim_now - msg->start_ps);
}

static void load_done(struct sim_msg *msg)
{
	struct sim_load *load = msg->priv;

	load->done++;
	if (load->completed)
		sim_sample(load->completed, sim_now - msg->start_ps);
	sim_msg_free(msg);
	load_next(load);
}

static void load_next(struct sim_load *load)
{
	struct sim_msg *msg;

	if (load->limit && load->begun == load->limit)
		return;
	load->begun++;
	msg = sim_msg_alloc();
	msg->ep = load->ep;
	msg->op = load->op;
	msg->bytes = load->bytes;
	msg->start_ps = sim_now;
	msg->on_delivered = load_delivered;
	msg->on_done = load_done;
	msg->counter = &load->bytes_delivered;
	msg->priv = load;
	load->ep->ops->send(load->ep, msg);
}

void sim_load_start(struct sim_load *load)
{
	u32 i;

	for (i = 0; i < load->depth; i++)
		load_next(load);
}
