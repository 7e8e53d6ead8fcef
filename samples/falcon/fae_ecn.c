// SPDX-License-Identifier: GPL-2.0
/*
 * A congestion control algorithm in a module of its own: by ECN marks, as DCTCP
 * does it. All that it knows of Falcon is include/net/falcon_fae.h.
 *
 *	modprobe falcon_fae_ecn; sysctl net.falcon.fae=ecn
 *
 * or setsockopt(SOL_FALCON, FALCON_CONGESTION, "ecn"). A round is a round trip.
 * Of each, the fraction of packets marked is averaged; a round with marks costs
 * half of that average of the window, one without brings a packet. The counter
 * of marks is the receiver's, of the whole connection: with several flows, each
 * hears of the marks of all.
 */
#include <linux/bits.h>
#include <linux/build_bug.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <net/falcon_fae.h>

#define ONE_PACKET	((u32)BIT(FALCON_FCWND_SHIFT))
#define MAX_FCWND	(256U << FALCON_FCWND_SHIFT)
#define INIT_FCWND	(32U << FALCON_FCWND_SHIFT)
#define INIT_NCWND	64
#define MAX_NCWND	256
#define FULL_LEVEL	15		/* of 31: the receiver falls behind */
#define ECN_MASK	0x3fffU
#define ALPHA_ONE	1024U
#define ALPHA_GAIN	16
#define MIN_RTO		1907U		/* 250 us */
#define RETX_LIMIT	3

/**
 * struct ecn_flow - private state of a flow
 * @acked:	packets acknowledged in this round
 * @marked:	marks counted in this round
 * @counter:	the receiver's counter when last seen
 * @alpha:	average fraction of packets marked, of ALPHA_ONE
 * @seen:	@counter is valid
 */
struct ecn_flow {
	u32 acked;
	u32 marked;
	u16 counter;
	u16 alpha;
	bool seen;
};

static u32 ecn_since(u32 now, u32 then)
{
	return (now - then) & FALCON_FAE_TIME_MASK;
}

static void ecn_measure_rtt(const struct falcon_fae_event *ev,
			    struct falcon_fae_result *res)
{
	u32 rtt;

	if (!ev->rtt_valid)
		return;
	rtt = ecn_since(ev->t4, ev->t1);
	res->rtt_state = ev->rtt_state ? (7 * ev->rtt_state + rtt) / 8 : rtt;
	res->retransmit_timeout = max(2 * res->rtt_state, MIN_RTO);
}

static void ecn_count(struct ecn_flow *f, const struct falcon_fae_event *ev)
{
	if (f->seen)
		f->marked += (ev->ecn_accumulated - f->counter) & ECN_MASK;
	f->counter = ev->ecn_accumulated;
	f->seen = true;
	f->acked += ev->num_packets_acked;
}

/* A round trip is over: what it has shown moves both windows. */
static void ecn_round(struct ecn_flow *f, const struct falcon_fae_event *ev,
		      struct falcon_fae_result *res)
{
	u32 fraction = min(f->marked, f->acked) * ALPHA_ONE / f->acked;

	f->alpha = (f->alpha * (ALPHA_GAIN - 1) + fraction) / ALPHA_GAIN;
	if (f->marked)
		res->fcwnd -= (u64)res->fcwnd * f->alpha / (2 * ALPHA_ONE);
	else
		res->fcwnd += ONE_PACKET;
	res->fcwnd = clamp(res->fcwnd, ONE_PACKET, MAX_FCWND);

	if (ev->rx_buffer_level > FULL_LEVEL)
		res->ncwnd = max(ev->ncwnd / 2, 1);
	else
		res->ncwnd = min(ev->ncwnd + 1, MAX_NCWND);
	res->fabric_window_time_marker = ev->now;
	f->acked = 0;
	f->marked = 0;
}

static void ecn_retransmit(const struct falcon_fae_event *ev,
			   struct falcon_fae_result *res)
{
	if (ev->retransmit_count >= RETX_LIMIT)
		res->fcwnd = ONE_PACKET;
	else if (ev->retransmit_reason == FALCON_FAE_RETX_RTO)
		res->fcwnd = max(ev->fcwnd / 2, ONE_PACKET);
}

static void ecn_on_event(void *priv, const struct falcon_fae_event *ev,
			 struct falcon_fae_result *res)
{
	struct ecn_flow *f = priv;

	if (ev->event_type == FALCON_FAE_RETX) {
		ecn_retransmit(ev, res);
		return;
	}
	ecn_measure_rtt(ev, res);
	ecn_count(f, ev);
	if (f->acked && ecn_since(ev->now, ev->fabric_window_time_marker) >=
			res->rtt_state)
		ecn_round(f, ev, res);
}

static void ecn_init(void *priv, struct falcon_fae_result *res)
{
	BUILD_BUG_ON(sizeof(struct ecn_flow) >
		     FALCON_FAE_PRIV_WORDS * sizeof(u64));
	res->fcwnd = INIT_FCWND;
	res->ncwnd = INIT_NCWND;
}

static struct falcon_fae_ops ecn_ops = {
	.name		= "ecn",
	.owner		= THIS_MODULE,
	.init		= ecn_init,
	.on_event	= ecn_on_event,
};

static int __init ecn_module_init(void)
{
	return falcon_fae_register(&ecn_ops);
}

static void __exit ecn_module_exit(void)
{
	falcon_fae_unregister(&ecn_ops);
}

module_init(ecn_module_init);
module_exit(ecn_module_exit);

MODULE_LICENSE("GPL");
MODULE_AUTHOR("The Falcon for Linux authors");
MODULE_DESCRIPTION("Sample congestion control for Falcon, by ECN marks");
