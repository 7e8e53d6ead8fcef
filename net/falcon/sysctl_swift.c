// SPDX-License-Identifier: GPL-2.0
/*
 * net.falcon.swift.*: the parameters of Swift and PLB (10.5), and those of the
 * events that algorithms get (10.6.1), under the specification's names. They
 * hold for all connections from their next event on, so that they are files of
 * the initial namespace alone.
 *
 * Fractions are read and written as decimals, kept in fixed point. main.c calls
 * in when the module comes and goes.
 */
#include <linux/ctype.h>
#include <linux/math64.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/sysctl.h>
#include "core/fae.h"
#include "falcon.h"

#define DECIMALS	6
#define MILLION		1000000U	/* 10^DECIMALS */

/**
 * struct falcon_knob - a parameter
 * @name:	of the file
 * @offset:	in struct falcon_swift_params, or in struct falcon_fae_params
 * @size:	bytes
 * @bits:	behind the point of its fixed-point value; 0: an integer
 * @max:	largest value of a parameter that falcon_swift_set_params() does
 *		not look at
 * @events:	a parameter of events
 */
struct falcon_knob {
	const char *name;
	u16 offset;
	u8  size;
	u8  bits;
	u32 max;
	bool events;
};

#define SWIFT(_name, _field, _bits) {					\
	.name	= _name,						\
	.offset	= offsetof(struct falcon_swift_params, _field),		\
	.size	= sizeof_field(struct falcon_swift_params, _field),	\
	.bits	= _bits,						\
	.max	= U32_MAX >> (32 - 8 *					\
		  sizeof_field(struct falcon_swift_params, _field)),	\
}

/* On or off, in a bool */
#define SWIFT_SWITCH(_name, _field) {					\
	.name	= _name,						\
	.offset	= offsetof(struct falcon_swift_params, _field),		\
	.size	= sizeof_field(struct falcon_swift_params, _field),	\
	.max	= 1,							\
}

#define EVENT(_name, _field, _max) {					\
	.name	= _name,						\
	.offset	= offsetof(struct falcon_fae_params, _field),		\
	.size	= sizeof_field(struct falcon_fae_params, _field),	\
	.max	= _max,							\
	.events	= true,							\
}

static const struct falcon_knob falcon_knobs[] = {
	SWIFT("min_fcwnd", min_fcwnd_q20, 20),
	SWIFT("max_fcwnd", max_fcwnd_q20, 20),
	SWIFT("init_fcwnd", init_fcwnd_q20, 20),
	SWIFT("fabric_additive_increment", fabric_ai_q10, 10),
	SWIFT("fabric_multiplicative_decrease_factor", fabric_md_q16, 16),
	SWIFT("max_fabric_multiplicative_decrease_factor", max_fabric_md_q16,
	      16),
	SWIFT("min_ncwnd", min_ncwnd, 0),
	SWIFT("max_ncwnd", max_ncwnd, 0),
	SWIFT("init_ncwnd", init_ncwnd, 0),
	SWIFT("nic_additive_increment", nic_ai, 0),
	SWIFT("nic_multiplicative_decrease_factor", nic_md_q16, 16),
	SWIFT("max_nic_multiplicative_decrease_factor", max_nic_md_q16, 16),
	SWIFT("target_rx_buffer_level", target_rx_buffer_level, 0),
	SWIFT_SWITCH("rtt_smoothing", rtt_smoothing),
	SWIFT("rtt_smoothing_alpha", rtt_smoothing_alpha_q16, 16),
	SWIFT("delay_smoothing_alpha", delay_smoothing_alpha_q16, 16),
	SWIFT("topology_scaling_per_hop_ns", topology_scaling_per_hop_ns, 0),
	SWIFT("min_flow_scaling_window", min_flow_scaling_q20, 20),
	SWIFT("max_flow_scaling_window", max_flow_scaling_q20, 20),
	SWIFT("max_flow_scaling_ns", max_flow_scaling_ns, 0),
	SWIFT("retransmit_timeout_scalar", retransmit_timeout_scalar_q16, 16),
	SWIFT("min_retransmission_timeout_ns", min_retransmit_timeout_ns, 0),
	SWIFT("retransmit_limit", retransmit_limit, 0),
	SWIFT("plb_target_delay_multiplier", plb_delay_multiplier_q10, 10),
	SWIFT("plb_congestion_threshold", plb_threshold_q16, 16),
	SWIFT("plb_attempt_threshold", plb_attempts, 0),
	SWIFT("prr_attempt_threshold", prr_attempts, 0),
	EVENT("delay_select", delay_select, FALCON_FAE_DELAY_REV),
	EVENT("min_delay_window_ms", min_delay_window_ms, 3600000),
	EVENT("event_queue_threshold_1", policy_depth[0], FALCON_FAE_SLOTS),
	EVENT("event_queue_threshold_2", policy_depth[1], FALCON_FAE_SLOTS),
	EVENT("event_queue_threshold_3", policy_depth[2], FALCON_FAE_SLOTS),
	EVENT("event_time_threshold_ns", policy_time_ns, NSEC_PER_SEC),
	EVENT("event_packets_threshold", policy_acked, FALCON_FAE_MAX_ACKED),
};

static DEFINE_MUTEX(falcon_knob_lock);		/* writers */
static struct ctl_table_header *falcon_knob_hdr;

static u32 falcon_knob_load(const void *base, const struct falcon_knob *k)
{
	const void *p = base + k->offset;

	switch (k->size) {
	case sizeof(u8):
		return READ_ONCE(*(const u8 *)p);
	case sizeof(u16):
		return READ_ONCE(*(const u16 *)p);
	default:
		return READ_ONCE(*(const u32 *)p);
	}
}

static void falcon_knob_store(void *base, const struct falcon_knob *k, u32 val)
{
	void *p = base + k->offset;

	switch (k->size) {
	case sizeof(u8):
		WRITE_ONCE(*(u8 *)p, val);
		break;
	case sizeof(u16):
		WRITE_ONCE(*(u16 *)p, val);
		break;
	default:
		WRITE_ONCE(*(u32 *)p, val);
		break;
	}
}

static void falcon_knob_print(const struct falcon_knob *k, u32 val, char *text,
			      size_t len)
{
	u64 millionths = ((u64)val * MILLION + (1ULL << k->bits) / 2) >>
			 k->bits;
	u32 fraction = do_div(millionths, MILLION);
	int n;

	n = scnprintf(text, len, "%llu", millionths);
	if (!fraction)
		return;
	n += scnprintf(text + n, len - n, ".%0*u", DECIMALS, fraction);
	while (text[n - 1] == '0')
		text[--n] = '\0';
}

/* Up to DECIMALS digits, in millionths */
static int falcon_knob_fraction(const char *digits, u32 *fraction)
{
	int n;

	*fraction = 0;
	for (n = 0; n < DECIMALS; n++) {
		*fraction *= 10;
		if (!*digits)
			continue;
		if (!isdigit(*digits))
			return -EINVAL;
		*fraction += *digits++ - '0';
	}
	return *digits ? -EINVAL : 0;
}

static int falcon_knob_parse(const struct falcon_knob *k, char *text, u32 *val)
{
	char *point = strchr(text, '.');
	u32 whole, fraction = 0;
	u64 fixed;
	int err;

	if (point) {
		*point = '\0';
		err = k->bits ? falcon_knob_fraction(point + 1, &fraction) :
				-EINVAL;
		if (err)
			return err;
	}
	err = kstrtou32(text, 10, &whole);
	if (err)
		return err;
	fixed = ((u64)whole << k->bits) +
		div_u64(((u64)fraction << k->bits) + MILLION / 2, MILLION);
	if (fixed > k->max)
		return -EINVAL;
	*val = fixed;
	return 0;
}

static int falcon_knob_set(const struct falcon_knob *k, u32 val)
{
	struct falcon_swift_params p;

	lockdep_assert_held(&falcon_knob_lock);
	if (k->events) {
		falcon_knob_store(&falcon_fae_params, k, val);
		return 0;
	}
	p = *falcon_swift_in_use;
	falcon_knob_store(&p, k, val);
	return falcon_swift_set_params(&p);
}

static int falcon_sysctl_do_knob(falcon_ctl_table *ctl, int write, void *buffer,
				 size_t *lenp, loff_t *ppos)
{
	const struct falcon_knob *k = ctl->extra1;
	char text[32];
	struct ctl_table tmp = {
		.data	= text,
		.maxlen	= sizeof(text),
	};
	u32 val;
	int err;

	if (k->events)
		val = falcon_knob_load(&falcon_fae_params, k);
	else
		val = falcon_knob_load(falcon_swift_in_use, k);
	falcon_knob_print(k, val, text, sizeof(text));
	err = proc_dostring(&tmp, write, buffer, lenp, ppos);
	if (err || !write)
		return err;
	err = falcon_knob_parse(k, strim(text), &val);
	if (err)
		return err;
	mutex_lock(&falcon_knob_lock);
	err = falcon_knob_set(k, val);
	mutex_unlock(&falcon_knob_lock);
	return err;
}

/**
 * falcon_sysctl_init - register net.falcon.swift
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM.
 */
int falcon_sysctl_init(void)
{
	struct ctl_table *table;
	unsigned int i;

	/* One more, empty, for kernels before 6.6. */
	table = kcalloc(ARRAY_SIZE(falcon_knobs) + 1, sizeof(*table),
			GFP_KERNEL);
	if (!table)
		return -ENOMEM;
	for (i = 0; i < ARRAY_SIZE(falcon_knobs); i++) {
		table[i].procname = falcon_knobs[i].name;
		table[i].mode = 0644;
		table[i].proc_handler = falcon_sysctl_do_knob;
		table[i].extra1 = (void *)&falcon_knobs[i];
	}
	falcon_knob_hdr = falcon_register_sysctl(&init_net, "net/falcon/swift",
						 table,
						 ARRAY_SIZE(falcon_knobs));
	if (falcon_knob_hdr)
		return 0;
	kfree(table);
	return -ENOMEM;
}

/**
 * falcon_sysctl_exit - remove net.falcon.swift
 *
 * Context: may sleep; waits for readers and writers of the files.
 */
void falcon_sysctl_exit(void)
{
	const struct ctl_table *table = falcon_knob_hdr->ctl_table_arg;

	unregister_net_sysctl_table(falcon_knob_hdr);
	kfree(table);
}
