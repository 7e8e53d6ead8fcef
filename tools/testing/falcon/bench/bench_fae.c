// SPDX-License-Identifier: GPL-2.0
/*
 * Events a second of each algorithm: by itself, as a rate update engine on a
 * core of its own would run it, and with the forming of the event from an ACK
 * and the application of its result, each at once or in batches of the queue.
 *
 * Many flows take turns, each with its own state, and delays vary around the
 * target, so that neither caches nor branches have it easier than they would.
 */
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include <net/falcon/core/core.h>
#include <net/falcon/core/fae.h>

#include "bench.h"

#define NR_FLOWS	1024
#define NR_EVENTS	(4u << 20)
#define NR_DELAYS	4096
#define NR_BATCH	64

static struct {
	u64 priv[FALCON_FAE_PRIV_WORDS];
	struct falcon_fae_event ev;
} flows[NR_FLOWS];

static u32 delays[NR_DELAYS];

/* 40 us of path and up to 50 us of queue, in 131.072 ns units */
static void make_delays(void)
{
	u32 x = 1, i;

	for (i = 0; i < NR_DELAYS; i++) {
		x = x * 1664525 + 1013904223;
		delays[i] = 305 + (x >> 8) % 380;
	}
}

static void init_flow(const struct falcon_fae_ops *ops, u32 i)
{
	struct falcon_fae_result res = { 0 };

	memset(&flows[i], 0, sizeof(flows[i]));
	ops->init(flows[i].priv, &res);
	flows[i].ev = (struct falcon_fae_event){
		.event_type = FALCON_FAE_ACK, .flow = 0, .connection_id = i,
		.delay_select = FALCON_FAE_DELAY_FABRIC, .rtt_valid = 1,
		.fcwnd = res.fcwnd, .ncwnd = res.ncwnd,
		.base_delay_target = 305 + 191, .forward_hops = 3,
		.rx_buffer_level = 3, .num_packets_acked = 2,
		.retransmit_timeout = 7629,
	};
}

static void one_event(const struct falcon_fae_ops *ops, u32 n)
{
	struct falcon_fae_event *ev = &flows[n % NR_FLOWS].ev;
	struct falcon_fae_result res = {
		.fcwnd = ev->fcwnd, .ncwnd = ev->ncwnd,
		.ncwnd_direction = ev->ncwnd_direction,
		.retransmit_timeout = ev->retransmit_timeout,
		.delay_state = ev->delay_state, .rtt_state = ev->rtt_state,
	};

	ev->t4 = (ev->t1 + 30 + delays[n % NR_DELAYS]) & FALCON_FAE_TIME_MASK;
	ev->t3 = ev->t2 + 30;
	ev->now = n / 8 & FALCON_FAE_TIME_MASK;
	ops->on_event(flows[n % NR_FLOWS].priv, ev, &res);
	ev->fcwnd = res.fcwnd;
	ev->ncwnd = res.ncwnd;
	ev->ncwnd_direction = res.ncwnd_direction;
	ev->fabric_window_time_marker = res.fabric_window_time_marker;
	ev->nic_window_time_marker = res.nic_window_time_marker;
	ev->delay_state = res.delay_state;
	ev->rtt_state = res.rtt_state;
}

static void bench_algorithm(const struct falcon_fae_ops *ops)
{
	char name[40];
	u64 start;
	u32 i;

	for (i = 0; i < NR_FLOWS; i++)
		init_flow(ops, i);
	for (i = 0; i < NR_EVENTS / 8; i++)
		one_event(ops, i);
	start = bench_ns();
	for (; i < NR_EVENTS + NR_EVENTS / 8; i++)
		one_event(ops, i);
	snprintf(name, sizeof(name), "fae %s on_event", ops->name);
	bench_report(name, NR_EVENTS, bench_ns() - start);
}

/* One ACK of each connection in turn, four flows each */
static void one_ack(struct falcon_core *conns, u32 n,
		    struct falcon_fae_queue *queue)
{
	struct falcon_core *c = &conns[n % NR_FLOWS / 4];
	struct falcon_pkt_info pi = {
		.type = FALCON_PKT_BACK, .echo_t1 = 5000, .echo_t2 = 7000,
		.hops = 3, .rx_level = 3,
	};
	struct falcon_rx_meta meta = {
		.now_ns = 1000000000ULL + n * 16ULL, .flow = n % 4,
		.stamp_ok = true, .t_tx = 7030,
		.t_rx = 5030 + delays[n % NR_DELAYS],
		.fae = queue,
	};

	c->flow[meta.flow].num_acked += 2;
	falcon_fae_ack(c, &pi, &meta, false);
}

static void take_batch(struct falcon_fae_queue *queue, u64 now_ns)
{
	while (falcon_fae_queue_first(queue))
		falcon_fae_queue_run(queue, now_ns);
}

/* @batch: events that wait together in the queue; 0: each runs at once */
static void bench_acks(const struct falcon_fae_ops *ops, u32 batch)
{
	struct falcon_core *conns = calloc(NR_FLOWS / 4, sizeof(*conns));
	static struct falcon_fae_slot slots[NR_BATCH];
	struct falcon_fae_queue queue;
	char name[60];
	u64 start;
	u32 i;

	falcon_fae_queue_init(&queue, slots, NR_BATCH);

	for (i = 0; i < NR_FLOWS / 4; i++) {
		conns[i].cfg.nr_flows = 4;
		conns[i].cfg.delay_target = 191;
		conns[i].cfg.rto_ns = 1000000;
		conns[i].cfg.min_rto_ns = 250000;
		conns[i].cfg.max_rto_ns = 1000000000;
		conns[i].cfg.fae = ops;
		falcon_fae_init(&conns[i], 1000000000ULL);
	}
	start = bench_ns();
	for (i = 0; i < NR_EVENTS; i++) {
		one_ack(conns, i, batch ? &queue : NULL);
		if (batch && i % batch == batch - 1)
			take_batch(&queue, 1000000000ULL + i * 16ULL);
	}
	snprintf(name, sizeof(name), "fae %s from ACK to window%s", ops->name,
		 batch ? ", batches" : "");
	bench_report(name, NR_EVENTS, bench_ns() - start);
	free(conns);
}

int main(void)
{
	const struct falcon_fae_ops * const *ops;

	make_delays();
	for (ops = falcon_fae_builtins; *ops; ops++) {
		bench_algorithm(*ops);
		bench_acks(*ops, 0);
		bench_acks(*ops, NR_BATCH);
	}
	return 0;
}
