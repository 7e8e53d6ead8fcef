// SPDX-License-Identifier: GPL-2.0
/*
 * Between the packet delivery sublayer and a congestion control algorithm
 * (specification 10.6): forms an event from an ACK, a NACK or a
 * retransmission, hands it to the connection's algorithm, and applies the
 * result to the flow's window, gap and path and to the connection's ncwnd and
 * retransmit timeout.
 *
 * Called by ack.c, loss.c and pdl_rx.c, under the connection lock. Events of ACKs and
 * NACKs may wait in a queue of the caller's (fae_queue.c). An event is about
 * the one flow that its RTT sample belongs to; packets of other flows that the
 * same ACK acknowledges wait in flow::num_acked for an event of their own.
 *
 * Times: t1 to t4 come from NICs, whose counters may change under a connection
 * (switch-over), and only their differences mean something. The window guards
 * stand on the caller's clock, which retransmissions have too, in units of
 * 131.072 ns.
 */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/string.h>

#include "core.h"
#include "fae.h"

#define FAE_NO_DELAY	U32_MAX
#define FAE_FEW_PKTS	(4u << FALCON_FCWND_SHIFT)

struct falcon_fae_params falcon_fae_params = {
	.min_delay_window_ms	= 10000,
	.delay_select		= FALCON_FAE_DELAY_FABRIC,
	.policy_depth		= { 256, 512, 1024 },
	.policy_time_ns		= 50000,
	.policy_acked		= 16,
};

const struct falcon_fae_ops * const falcon_fae_builtins[] = {
	&falcon_fae_swift,
	&falcon_fae_aimd,
	&falcon_fae_fixed,
	NULL
};

/**
 * falcon_fae_builtin() - find an algorithm of core by name
 * @name:	NUL-terminated
 *
 * Return: the algorithm, or NULL.
 */
const struct falcon_fae_ops *falcon_fae_builtin(const char *name)
{
	const struct falcon_fae_ops * const *ops;

	for (ops = falcon_fae_builtins; *ops; ops++)
		if (!strcmp((*ops)->name, name))
			return *ops;
	return NULL;
}

/**
 * falcon_fae_event_due() - does an ACK become an event? (10.6.1)
 * @p:		thresholds
 * @depth:	events that wait in the queue already; 0: there is no queue
 * @since_ns:	time since the flow's last event
 * @acked:	packets acknowledged since then
 *
 * The specification names three thresholds and two predicates, not what each
 * threshold asks: below the first every event is queued; from there on one of
 * P1 (time) and P2 (packets) must hold; from the second on both; from the
 * third on none is queued. What is not queued is not lost, it accumulates.
 *
 * Return: true if the event shall be formed now.
 */
bool falcon_fae_event_due(const struct falcon_fae_params *p, u32 depth,
			  u64 since_ns, u32 acked)
{
	bool p1 = since_ns > p->policy_time_ns;
	bool p2 = acked > p->policy_acked;

	if (depth < p->policy_depth[0])
		return true;
	if (depth < p->policy_depth[1])
		return p1 || p2;
	if (depth < p->policy_depth[2])
		return p1 && p2;
	return false;
}

static u32 falcon_fae_now(u64 now_ns)
{
	return falcon_ns_to_units(now_ns) & FALCON_FAE_TIME_MASK;
}

/* An event of flow @f begins, with what the flow has counted since its last */
static void falcon_fae_event_begin(struct falcon_core *c, u8 f, u64 now_ns,
				   struct falcon_fae_event *ev)
{
	struct falcon_flow *fl = &c->flow[f];

	ev->connection_id = c->cfg.cid;
	ev->flow = f;
	ev->delay_select = falcon_fae_params.delay_select;
	ev->num_packets_acked = min_t(u32, fl->num_acked,
				      FALCON_FAE_MAX_ACKED);
	fl->num_acked = 0;
	fl->fae_event = falcon_ns_to_units(now_ns);
}

/**
 * falcon_least_init() - nothing is known yet
 * @least:	of connections between two hosts
 */
void falcon_least_init(struct falcon_least *least)
{
	least->delay = FAE_NO_DELAY;
	least->seen_ns = 0;
}

/*
 * A connection that begins in a crowd sees no delay without the crowd's queue;
 * were that its path's, it would drive the others away. So the smallest delay
 * is that of all connections between two hosts. It lasts as long as one of them
 * that is in use knows of it, and min_delay_window_ms longer. The time of that
 * is written now and then only: its cache line is everybody's.
 */
static void falcon_fae_share(struct falcon_least *least, u32 delay, u64 now_ns)
{
	u64 window_ns = falcon_fae_params.min_delay_window_ms * 1000000ULL;
	u64 seen_ns = READ_ONCE(least->seen_ns);
	u32 known = READ_ONCE(least->delay);

	if (now_ns < seen_ns)
		return;
	if (delay < known || now_ns - seen_ns > window_ns) {
		WRITE_ONCE(least->delay, delay);
		WRITE_ONCE(least->seen_ns, now_ns);
	} else if (delay == known && now_ns - seen_ns > window_ns / 16) {
		WRITE_ONCE(least->seen_ns, now_ns);
	}
}

/*
 * The smallest delay of a flow is its path's, without queues. It cannot simply
 * age: a flow that fills the bottleneck alone never sees its own queue empty,
 * and would add what it sees to its target again and again. Nor may it last
 * for ever: a path that became longer would hold the window down for ever. A
 * flow of less than four packets has next to no queue of its own, so what it
 * sees while that lasts for min_delay_window_ms is believed.
 *
 * A delay of 0, which is all that is left of one below zero, is of stamps that
 * do not belong together: it must not shrink the target for ever.
 */
static void falcon_fae_min_delay(struct falcon_core *c, struct falcon_flow *fl,
				 u32 delay, u64 now_ns)
{
	if (!delay)
		return;
	if (fl->fcwnd >= FAE_FEW_PKTS) {
		fl->few_delay = FAE_NO_DELAY;
		fl->few_since_ns = now_ns;
	}
	fl->few_delay = min(fl->few_delay, delay);
	fl->min_delay = min(fl->min_delay, delay);

	if (now_ns >= fl->few_since_ns +
		      falcon_fae_params.min_delay_window_ms * 1000000ULL) {
		fl->min_delay = fl->few_delay;
		fl->few_delay = FAE_NO_DELAY;
		fl->few_since_ns = now_ns;
	}
	if (c->least)
		falcon_fae_share(c->least, fl->min_delay, now_ns);
}

/**
 * falcon_fae_least() - the smallest delay that a flow goes by
 * @c:		connection
 * @fl:		its flow
 *
 * Context: Connection lock held.
 * Return: the flow's own, or a smaller one between the same hosts, units;
 * U32_MAX: none is known.
 */
u32 falcon_fae_least(const struct falcon_core *c, const struct falcon_flow *fl)
{
	return c->least ? min(READ_ONCE(c->least->delay), fl->min_delay) :
			  fl->min_delay;
}

/*
 * base_delay_target: 10.3 has it absolute, made for one known fabric. On any
 * other it is what queueing may add to the smallest delay.
 */
static u32 falcon_fae_base_target(const struct falcon_core *c,
				  const struct falcon_flow *fl,
				  const struct falcon_fae_event *ev)
{
	u32 base = 0;

	if (!c->cfg.delay_absolute) {
		base = falcon_fae_least(c, fl);
		if (base == FAE_NO_DELAY)
			base = ev->rtt_valid ? falcon_fae_delay(ev) :
					       fl->delay_state;
	}
	return min(base + c->cfg.delay_target, FALCON_FAE_TIME_MASK);
}

/*
 * A sample is one if the NIC that took t4 is the one that took t1, and if the
 * RTT is below half the range of the counts: beyond, it may have wrapped.
 */
static void falcon_fae_sample(const struct falcon_pkt_info *pi,
			      const struct falcon_rx_meta *meta,
			      struct falcon_fae_event *ev)
{
	ev->t1 = pi->echo_t1 & FALCON_FAE_TIME_MASK;
	ev->t2 = pi->echo_t2 & FALCON_FAE_TIME_MASK;
	ev->t3 = meta->t_tx & FALCON_FAE_TIME_MASK;
	ev->t4 = meta->t_rx & FALCON_FAE_TIME_MASK;
	ev->rtt_valid = meta->stamp_ok && meta->t_rx - pi->echo_t1 <=
					  FALCON_FAE_TIME_MASK / 2;
}

/*
 * A new path keeps the smallest delay of the old: taken anew in the congestion
 * that PLB flees from, it would make that the target.
 */
static void falcon_fae_relabel(struct falcon_core *c, struct falcon_flow *fl)
{
	/* Full period: no label comes again before all others have. */
	fl->label = fl->label * 0x9e3779b1u + 0x7f4a7c15u;
	c->stats.relabels++;
}

/*
 * The connection waits for the slowest of its flows that have an RTT; the
 * initial timeout of one not used yet counts while there is no other.
 */
static void falcon_fae_set_rto(struct falcon_core *c)
{
	u32 measured = 0, initial = 0;
	u8 f;

	for (f = 0; f < c->cfg.nr_flows; f++) {
		const struct falcon_flow *fl = &c->flow[f];

		if (fl->rtt_state)
			measured = max(measured, fl->retransmit_timeout);
		else
			initial = max(initial, fl->retransmit_timeout);
	}
	c->rto_ns = clamp(falcon_units_to_ns(measured ?: initial),
			  c->cfg.min_rto_ns, c->cfg.max_rto_ns);
}

/*
 * Takes over a result, cut to the widths of 10.6.2.2: an algorithm that errs
 * may slow a connection down, never stop it.
 */
static void falcon_fae_apply(struct falcon_core *c, struct falcon_flow *fl,
			     const struct falcon_fae_result *res)
{
	fl->fcwnd = clamp(res->fcwnd, 1u, FALCON_FAE_MAX_FCWND);
	fl->inter_packet_gap = min(res->inter_packet_gap, FALCON_FAE_MAX_GAP);
	fl->fabric_time_marker = res->fabric_window_time_marker;
	fl->delay_state = res->delay_state;
	fl->rtt_state = res->rtt_state;
	fl->cc_opaque = res->cc_opaque;
	c->ncwnd = clamp_t(u32, res->ncwnd, 1, FALCON_FAE_MAX_NCWND);
	c->ncwnd_direction = res->ncwnd_direction;
	c->nic_time_marker = res->nic_window_time_marker;
	c->cc_metadata = res->cc_metadata & FALCON_FAE_TIME_MASK;

	if (fl->retransmit_timeout != res->retransmit_timeout) {
		fl->retransmit_timeout = res->retransmit_timeout;
		falcon_fae_set_rto(c);
	}
	if (res->randomize_path)
		falcon_fae_relabel(c, fl);
}

/* The state in force when the algorithm looks at the event, and not before */
static void falcon_fae_in_force(const struct falcon_core *c, u64 now_ns,
				struct falcon_fae_event *ev)
{
	const struct falcon_flow *fl = &c->flow[ev->flow];

	ev->now = falcon_fae_now(now_ns);
	ev->fcwnd = fl->fcwnd;
	ev->inter_packet_gap = fl->inter_packet_gap;
	ev->retransmit_timeout = fl->retransmit_timeout;
	ev->ncwnd = c->ncwnd;
	ev->ncwnd_direction = c->ncwnd_direction;
	ev->fabric_window_time_marker = fl->fabric_time_marker;
	ev->nic_window_time_marker = c->nic_time_marker;
	ev->delay_state = fl->delay_state;
	ev->rtt_state = fl->rtt_state;
	ev->cc_opaque = fl->cc_opaque;
	ev->base_delay_target = falcon_fae_base_target(c, fl, ev);
}

/**
 * falcon_fae_run() - the algorithm takes an event
 * @c:		its connection
 * @ev:		what has happened; the state in force is filled in here, so that
 *		events of a flow that waited together see each other's results
 * @now_ns:	caller's clock
 *
 * The result begins as what is in force: an algorithm writes what changes.
 *
 * Context: Connection lock held.
 */
void falcon_fae_run(struct falcon_core *c, struct falcon_fae_event *ev,
		    u64 now_ns)
{
	struct falcon_flow *fl = &c->flow[ev->flow];
	struct falcon_fae_result res;

	falcon_fae_in_force(c, now_ns, ev);
	res = (struct falcon_fae_result){
		.connection_id = ev->connection_id,
		.flow = ev->flow,
		.ncwnd_direction = ev->ncwnd_direction,
		.cc_opaque = ev->cc_opaque,
		.ncwnd = ev->ncwnd,
		.cc_metadata = c->cc_metadata,
		.fcwnd = ev->fcwnd,
		.inter_packet_gap = ev->inter_packet_gap,
		.retransmit_timeout = ev->retransmit_timeout,
		.fabric_window_time_marker = ev->fabric_window_time_marker,
		.nic_window_time_marker = ev->nic_window_time_marker,
		.base_delay_target = ev->base_delay_target,
		.delay_state = ev->delay_state,
		.rtt_state = ev->rtt_state,
	};

	c->cfg.fae->on_event(fl->fae_priv, ev, &res);
	falcon_fae_apply(c, fl, &res);
}

/* What ACK and NACK events share */
static void falcon_fae_event_rx(struct falcon_core *c,
				const struct falcon_pkt_info *pi,
				const struct falcon_rx_meta *meta,
				struct falcon_fae_event *ev)
{
	falcon_fae_event_begin(c, meta->flow, meta->now_ns, ev);
	falcon_fae_sample(pi, meta, ev);
	if (ev->rtt_valid)
		falcon_fae_min_delay(c, &c->flow[meta->flow],
				     falcon_fae_delay(ev), meta->now_ns);
	ev->forward_hops = pi->hops;
	ev->rx_buffer_level = pi->rx_level;
	ev->cc_metadata = pi->cc_metadata;
	ev->ecn_accumulated = pi->ecn;
}

/* Into the caller's queue; at once if there is none, or no room in it */
static void falcon_fae_post(struct falcon_core *c, struct falcon_fae_event *ev,
			    const struct falcon_rx_meta *meta)
{
	if (!falcon_fae_queue_put(meta->fae, c, ev))
		falcon_fae_run(c, ev, meta->now_ns);
}

/* 10.6.1, for an ACK that has come for a flow */
static bool falcon_fae_ack_due(const struct falcon_core *c,
			       const struct falcon_rx_meta *meta)
{
	const struct falcon_flow *fl = &c->flow[meta->flow];
	u32 since = falcon_ns_to_units(meta->now_ns) - fl->fae_event;

	if (falcon_fae_event_due(&falcon_fae_params,
				 falcon_fae_queue_depth(meta->fae),
				 falcon_units_to_ns(since), fl->num_acked))
		return true;
	if (meta->fae)
		meta->fae->held_back++;
	return false;
}

/**
 * falcon_fae_ack() - an ACK was received and processed (10.3.1)
 * @c:		connection; flow::num_acked counts what this ACK acknowledged
 * @pi:		the BACK or EACK
 * @meta:	its time-stamps; &falcon_rx_meta.flow is the flow whose packet
 *		it echoes
 * @eack_drop:	the EACK shows a loss by out-of-order distance
 *
 * Context: Connection lock held.
 */
void falcon_fae_ack(struct falcon_core *c, const struct falcon_pkt_info *pi,
		    const struct falcon_rx_meta *meta, bool eack_drop)
{
	struct falcon_fae_event ev = { .event_type = FALCON_FAE_ACK };

	if (meta->flow >= c->cfg.nr_flows ||
	    (!pi->own && !falcon_fae_ack_due(c, meta)))
		return;
	falcon_fae_event_rx(c, pi, meta, &ev);
	ev.eack = pi->type == FALCON_PKT_EACK;
	ev.eack_drop = eack_drop;
	falcon_fae_post(c, &ev, meta);
}

/**
 * falcon_fae_nack() - a NACK was received (10.3.1, 10.3.3)
 * @c:		connection
 * @pi:		the NACK
 * @meta:	as of falcon_fae_ack()
 *
 * Context: Connection lock held.
 */
void falcon_fae_nack(struct falcon_core *c, const struct falcon_pkt_info *pi,
		     const struct falcon_rx_meta *meta)
{
	struct falcon_fae_event ev = { .event_type = FALCON_FAE_NACK };

	if (meta->flow >= c->cfg.nr_flows)
		return;
	falcon_fae_event_rx(c, pi, meta, &ev);
	ev.nack_code = pi->nack_code;
	falcon_fae_post(c, &ev, meta);
}

/**
 * falcon_fae_retx() - a packet is retransmitted (10.3.2)
 * @c:		connection
 * @flow:	the flow on which it was lost
 * @reason:	after a time-out, or early
 * @count:	time-outs without news: the larger of the packet's Retransmit
 *		Counter (9.1.1) and, after a time-out, the flow's in a row, as a
 *		packet that was lost on a dead path is sent again on another.
 *		10.6.2.1 calls it cumulative; 10.5.6 counts events of the whole
 *		connection instead, by which three packets lost at once would
 *		throw fcwnd to its minimum
 * @now_ns:	caller's clock
 *
 * The algorithm hears of it at once, whatever waits in a queue.
 *
 * Context: Connection lock held.
 */
void falcon_fae_retx(struct falcon_core *c, u8 flow,
		     enum falcon_fae_retx_reason reason, unsigned int count,
		     u64 now_ns)
{
	struct falcon_fae_event ev = { .event_type = FALCON_FAE_RETX };

	falcon_fae_event_begin(c, flow, now_ns, &ev);
	ev.retransmit_reason = reason;
	ev.retransmit_count = min_t(unsigned int, count, FALCON_FAE_MAX_RETX);
	falcon_fae_run(c, &ev, now_ns);
}

/**
 * falcon_fae_arrived() - a reliable packet has arrived on a flow
 * @c:		connection
 * @flow:	the peer's, on which acknowledgements go back
 * @duplicate:	it had arrived before
 * @now_ns:	caller's clock
 *
 * The other half of PRR: who sends acknowledgements alone has no time-outs. That
 * one thing after the other arrives again, and nothing new, says that they do
 * not: they get a new path, once a retransmit timeout.
 *
 * Context: Connection lock held.
 */
void falcon_fae_arrived(struct falcon_core *c, u8 flow, bool duplicate,
			u64 now_ns)
{
	u8 attempts = falcon_swift_in_use->prr_attempts;
	struct falcon_flow *fl = &c->flow[flow];
	u32 now = falcon_ns_to_units(now_ns);

	if (!duplicate) {
		fl->dups = 0;
		return;
	}
	if (fl->dups < U8_MAX)
		fl->dups++;
	if (!attempts || fl->dups < attempts ||
	    (fl->ack_path_marker && now - fl->ack_path_marker <
				    falcon_ns_to_units(c->rto_ns)))
		return;
	fl->ack_path_marker = now;
	falcon_fae_relabel(c, fl);
}

/**
 * falcon_fae_init() - begin with the algorithm of the connection's cfg
 * @c:		connection, cfg is set; no algorithm there is Swift
 * @now_ns:	caller's clock
 *
 * Context: Connection lock held, or nobody else knows @c.
 */
void falcon_fae_init(struct falcon_core *c, u64 now_ns)
{
	/* Half the range back: no guard holds the first change up. */
	u32 past = (falcon_fae_now(now_ns) - FALCON_FAE_TIME_MASK / 2) &
		   FALCON_FAE_TIME_MASK;
	u8 f;

	if (!c->cfg.fae)
		c->cfg.fae = &falcon_fae_swift;

	c->nic_time_marker = past;
	for (f = 0; f < c->cfg.nr_flows; f++) {
		struct falcon_flow *fl = &c->flow[f];
		struct falcon_fae_result res = {
			.connection_id = c->cfg.cid,
			.flow = f,
			.fabric_window_time_marker = past,
			.nic_window_time_marker = past,
			.retransmit_timeout =
				falcon_ns_to_units(c->cfg.rto_ns),
		};

		fl->min_delay = FAE_NO_DELAY;
		fl->few_delay = FAE_NO_DELAY;
		fl->few_since_ns = now_ns;
		fl->fae_event = falcon_ns_to_units(now_ns);
		memset(fl->fae_priv, 0, sizeof(fl->fae_priv));
		c->cfg.fae->init(fl->fae_priv, &res);
		falcon_fae_apply(c, fl, &res);
	}
	c->rto_ns = c->cfg.rto_ns;
}

/**
 * falcon_fae_release() - the connection ends
 * @c:		connection, after falcon_fae_init()
 *
 * Context: Connection lock held, or nobody else knows @c.
 */
void falcon_fae_release(struct falcon_core *c)
{
	u8 f;

	if (!c->cfg.fae->release)
		return;
	for (f = 0; f < c->cfg.nr_flows; f++)
		c->cfg.fae->release(c->flow[f].fae_priv);
}
