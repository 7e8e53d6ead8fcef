// SPDX-License-Identifier: GPL-2.0
/*
 * net.falcon.*: the settings of a network namespace.
 *
 * Every parameter that the specification leaves to the implementation is a
 * file here, with a default and bounds; new connections take the values of
 * their namespace, those that exist keep what they were made with. main.c
 * calls in when a namespace comes and goes. Nothing here touches connections.
 */
#include <linux/slab.h>
#include <linux/sysctl.h>
#include <linux/user_namespace.h>
#include <uapi/linux/falcon.h>
#include "falcon.h"
#include "psp/psp.h"
#include "sysctl.h"

/* A socket buffer: three sizes in bytes, each at least the one before. */
static int falcon_sysctl_do_mem(falcon_ctl_table *ctl, int write, void *buffer,
				size_t *lenp, loff_t *ppos)
{
	int *mem = ctl->data;
	int val[3] = { mem[0], mem[1], mem[2] };
	int min = 4096, max = 1 << 30;
	struct ctl_table tmp = {
		.data	= val,
		.maxlen	= sizeof(val),
		.extra1	= &min,
		.extra2	= &max,
	};
	int err;

	err = proc_dointvec_minmax(&tmp, write, buffer, lenp, ppos);
	if (err || !write)
		return err;
	if (val[0] > val[1] || val[1] > val[2])
		return -EINVAL;
	WRITE_ONCE(mem[0], val[0]);
	WRITE_ONCE(mem[1], val[1]);
	WRITE_ONCE(mem[2], val[2]);
	return 0;
}

/* Congestion control by name: only one that is registered is accepted. */
static int falcon_sysctl_do_fae(falcon_ctl_table *ctl, int write, void *buffer,
				size_t *lenp, loff_t *ppos)
{
	const struct falcon_fae_ops *ops;
	char name[FALCON_FAE_NAME_MAX];
	struct ctl_table tmp = {
		.data	= name,
		.maxlen	= sizeof(name),
	};
	int err;

	strscpy(name, ctl->data, sizeof(name));
	err = proc_dostring(&tmp, write, buffer, lenp, ppos);
	if (err || !write)
		return err;
	ops = falcon_fae_get(strim(name));
	if (!ops)
		return -ENOENT;
	strscpy(ctl->data, ops->name, FALCON_FAE_NAME_MAX);
	falcon_fae_put(ops);
	return 0;
}

/* Policies by FALCON_SECURITY_* */
static const char * const falcon_security_names[] = {
	[FALCON_SECURITY_NONE]		= "none",
	[FALCON_SECURITY_OPPORTUNISTIC]	= "opportunistic",
	[FALCON_SECURITY_PSK]		= "psk",
};

static int falcon_sysctl_do_security(falcon_ctl_table *ctl, int write,
				     void *buffer, size_t *lenp, loff_t *ppos)
{
	int *security = ctl->data, i;
	char name[16];
	struct ctl_table tmp = {
		.data	= name,
		.maxlen	= sizeof(name),
	};
	int err;

	strscpy(name, falcon_security_names[READ_ONCE(*security)],
		sizeof(name));
	err = proc_dostring(&tmp, write, buffer, lenp, ppos);
	if (err || !write)
		return err;
	i = match_string(falcon_security_names + FALCON_SECURITY_NONE,
			 ARRAY_SIZE(falcon_security_names) -
			 FALCON_SECURITY_NONE, strim(name));
	if (i < 0)
		return -EINVAL;
	WRITE_ONCE(*security, i + FALCON_SECURITY_NONE);
	return 0;
}

/* The namespace whose setting a table entry made of falcon_params[] is. */
static struct falcon_net *falcon_sysctl_fn(falcon_ctl_table *ctl)
{
	const struct falcon_param *p =
		container_of((const int *)ctl->extra1, struct falcon_param,
			     min);

	return container_of((void *)((char *)ctl->data - p->offset),
			    struct falcon_net, sysctl);
}

/* Into a copy: @val is what shows, and what was written, if it is in range. */
static int falcon_sysctl_do_copy(falcon_ctl_table *ctl, int *val, int write,
				 void *buffer, size_t *lenp, loff_t *ppos)
{
	struct ctl_table tmp = {
		.data	= val,
		.maxlen	= sizeof(*val),
		.extra1	= ctl->extra1,
		.extra2	= ctl->extra2,
	};

	return proc_dointvec_minmax(&tmp, write, buffer, lenp, ppos);
}

/* The port of the connection manager: its sockets move there, or it stays. */
static int falcon_sysctl_do_port(falcon_ctl_table *ctl, int write, void *buffer,
				 size_t *lenp, loff_t *ppos)
{
	struct falcon_net *fn = falcon_sysctl_fn(ctl);
	int port = fn->sysctl.cm_port;
	int err;

	err = falcon_sysctl_do_copy(ctl, &port, write, buffer, lenp, ppos);
	if (err || !write)
		return err;
	return falcon_cm_change_port(fn, port);
}

/* A pool takes its new size at once; what is beyond it drains. */
static int falcon_sysctl_do_pool(falcon_ctl_table *ctl, int write, void *buffer,
				 size_t *lenp, loff_t *ppos)
{
	struct falcon_net *fn = falcon_sysctl_fn(ctl);
	int err;

	err = proc_dointvec_minmax(ctl, write, buffer, lenp, ppos);
	if (!err && write)
		falcon_res_limit(&fn->res, FALCON_POOL_RX_NET,
				 fn->sysctl.rx_pool_pkts,
				 fn->sysctl.rx_pool_bytes);
	return err;
}

/* The queues have their memory before anybody puts an event there. */
static int falcon_sysctl_do_batch(falcon_ctl_table *ctl, int write,
				  void *buffer, size_t *lenp, loff_t *ppos)
{
	int *batch = ctl->data;
	int val = READ_ONCE(*batch);
	int err;

	err = falcon_sysctl_do_copy(ctl, &val, write, buffer, lenp, ppos);
	if (err || !write)
		return err;
	if (val) {
		err = falcon_fae_batch_alloc();
		if (err)
			return err;
	}
	/* Pairs with falcon_fae_batch_queue() */
	smp_store_release(batch, val);
	return 0;
}

/* The next rotation is as far away as it would be from now on. */
static int falcon_sysctl_do_rotate(falcon_ctl_table *ctl, int write,
				   void *buffer, size_t *lenp, loff_t *ppos)
{
	int err = proc_dointvec_minmax(ctl, write, buffer, lenp, ppos);

	if (!err && write)
		falcon_psp_rotate_arm(falcon_sysctl_fn(ctl));
	return err;
}

#define FALCON_PARAM(_field, _def, _min, _max, _help)			\
	FALCON_PARAM_BY(NULL, false, _field, _def, _min, _max, _help)

/* Memory of the machine's: not for a user namespace to raise. */
#define FALCON_BOUND(_field, _def, _min, _max, _help)			\
	FALCON_PARAM_BY(NULL, true, _field, _def, _min, _max, _help)

#define FALCON_PARAM_BY(_handler, _bound, _field, _def, _min, _max, _help) { \
	.name	= #_field,						\
	.help	= _help,						\
	.offset	= offsetof(struct falcon_sysctls, _field),		\
	.def	= _def,							\
	.min	= _min,							\
	.max	= _max,							\
	.handler = _handler,						\
	.bound	= _bound,						\
}

const struct falcon_param falcon_params[] = {
	FALCON_PARAM_BY(falcon_sysctl_do_port, false,
			cm_port, FALCON_CM_UDP_PORT, 1, 65535,
			"UDP port of the connection manager"),
	FALCON_BOUND(max_conns, 65536, 1, 1 << 20,
		     "connections in the namespace"),
	FALCON_BOUND(max_half_open, 1024, 1, 65536,
		     "set-ups in progress as responder"),
	FALCON_BOUND(max_peers, 16384, 1, 1 << 20,
		     "peers whose requests are counted, address or IPv6 /64"),
	FALCON_BOUND(peer_half_open, 512, 1, 65536,
		     "set-ups in progress as responder to one peer"),
	FALCON_PARAM(peer_rate, 2000, 1, 1000000,
		     "requests of one peer in a second"),
	FALCON_BOUND(peer_conns, 32768, 1, 1 << 20,
		     "connections that one peer has asked for"),
	FALCON_BOUND(peer_rx_pkts, 1 << 16, 64, 1 << 24,
		     "requests of one peer that are held, packets"),
	FALCON_BOUND(peer_rx_bytes, 128 << 20, 1 << 16, INT_MAX,
		     "requests of one peer that are held, bytes"),
	FALCON_PARAM(cm_retries, 6, 0, 20,
		     "retransmissions of a set-up message before ETIMEDOUT"),
	FALCON_PARAM(cm_rto_ms, 250, 1, 10000,
		     "first retransmission of a set-up message, ms"),
	FALCON_BOUND(linger_ms, 1000, 0, 60000,
		     "how long a closed connection answers duplicates, ms"),
	FALCON_BOUND(quarantine_ms, 5000, 0, 600000,
		     "rest of a CID before it is used again, ms"),
	FALCON_PARAM(flows_ipv4, 1, 1, FALCON_MAX_FLOWS,
		     "flows of a new IPv4 connection"),
	FALCON_PARAM(flows_ipv6, 4, 1, FALCON_MAX_FLOWS,
		     "flows of a new IPv6 connection"),
	FALCON_PARAM(loss_policy, FALCON_LOSS_RACK | FALCON_LOSS_TLP, 0,
		     FALCON_LOSS_OOO | FALCON_LOSS_OWN | FALCON_LOSS_RACK |
		     FALCON_LOSS_TLP,
		     "loss policies: 1 ooo-distance, 2 eack-own, 4 rack, 8 tlp"),
	FALCON_PARAM(max_attempts, 100, 1, 255,
		     "Max Retransmit Attempts of a packet (9.1.1)"),
	FALCON_PARAM(user_timeout_ms, 60000, 0, 3600000,
		     "silence of a peer that ends a connection, ms; 0 never"),
	FALCON_PARAM(txn_timeout_ms, 30000, 0, 3600000,
		     "time after which a transaction is given up, ms; 0 never"),
	FALCON_PARAM(rto_us, 1000, 100, FALCON_RTO_MOST_US,
		     "initial retransmission time-out, us"),
	FALCON_PARAM(min_rto_us, 250, 1, FALCON_RTO_MOST_US,
		     "smallest retransmission time-out, us"),
	FALCON_PARAM(max_rto_us, 1000000, 1000, FALCON_MAX_RTO_MOST_US,
		     "largest retransmission time-out with back-off, us"),
	FALCON_PARAM(ack_coalesce_us, 8, 0, 100000,
		     "ACK Coalescing Timeout, us"),
	FALCON_PARAM(ack_coalesce_pkts, 10, 1, 64,
		     "packets that force a coalesced ACK"),
	FALCON_PARAM(ar_fcwnd, 2, 0, 256,
		     "every packet asks for an ACK while fcwnd is at most this"),
	FALCON_PARAM(ar_percent, 10, 0, 100,
		     "packets that ask for an ACK above ar_fcwnd, percent"),
	FALCON_PARAM(ooo_threshold, 3, 1, 128,
		     "Out-of-order Distance Threshold, packets"),
	FALCON_PARAM(gate_flight, 0, 0, 1,
		     "fcwnd bounds 0: base + fcwnd (9.1.2), 1: packets in flight"),
	FALCON_PARAM(win_shift, 0, 0, FALCON_WIN_SHIFT_MAX,
		     "receiver windows of 64 and 128 packets, times 2^this"),
	FALCON_PARAM(delay_target_us, 25, 1, 100000,
		     "base delay target of congestion control, us"),
	FALCON_PARAM(delay_absolute, 0, 0, 1,
		     "1: the target is absolute; 0: above the least delay seen"),
	FALCON_PARAM_BY(falcon_sysctl_do_batch, true,
			fae_batch, 0, 0, FALCON_FAE_SLOTS,
			"congestion control events of a batch; 0: each at once"),
	FALCON_PARAM(soft_slack_us, 1000, 0, 100000,
		     "delay that is no congestion where no device stamps, us"),
	FALCON_PARAM(replay_margin_ms, 1000, 1, 600000,
		     "age of a packet that is refused as a replay, ms (9.2.2.2)"),
	FALCON_PARAM_BY(falcon_sysctl_do_rotate, false,
			psp_rotate_s, 86400, 0, 30 * 86400,
			"between new device keys, s; 0 is only on demand"),
	FALCON_PARAM(train_pkts, 40, 1, 64,
		     "most packets of a GSO train"),
	FALCON_PARAM(tx_backlog_kb, 0, 0, 1 << 20,
		     "in a device's queue, from which on connections take turns"),
	FALCON_PARAM(tx_weight, 16, 1, FALCON_WEIGHT_MAX,
		     "of new connections where they take turns (8.3)"),
	FALCON_PARAM_BY(falcon_sysctl_do_pool, true,
			rx_pool_pkts, 1 << 17, 64, 1 << 24,
			"receive pool of network requests, packets"),
	FALCON_PARAM_BY(falcon_sysctl_do_pool, true,
			rx_pool_bytes, 256 << 20, 1 << 16, INT_MAX,
			"receive pool of network requests, bytes"),
	FALCON_PARAM(psp_versions, FALCON_PSP_GCM_VERSIONS, 1,
		     FALCON_PSP_GCM_VERSIONS | FALCON_PSP_GMAC_VERSIONS,
		     "PSP versions: 1 GCM-128, 2 GCM-256, 4 GMAC-128, 8 GMAC-256"),
	FALCON_BOUND(max_orphans, 8192, 0, 1 << 20,
		     "connections that outlive their sockets"),
};

const unsigned int falcon_nr_params = ARRAY_SIZE(falcon_params);

static const struct {
	const char *name;
	size_t offset;
	size_t len;
	proc_handler *handler;
} falcon_sysctl_special[] = {
	{ "wmem", offsetof(struct falcon_sysctls, wmem),
	  sizeof_field(struct falcon_sysctls, wmem), falcon_sysctl_do_mem },
	{ "rmem", offsetof(struct falcon_sysctls, rmem),
	  sizeof_field(struct falcon_sysctls, rmem), falcon_sysctl_do_mem },
	{ "fae", offsetof(struct falcon_sysctls, fae),
	  sizeof_field(struct falcon_sysctls, fae), falcon_sysctl_do_fae },
	{ "security", offsetof(struct falcon_sysctls, security),
	  sizeof_field(struct falcon_sysctls, security),
	  falcon_sysctl_do_security },
};

#define FALCON_NR_SYSCTLS						\
	(ARRAY_SIZE(falcon_params) + ARRAY_SIZE(falcon_sysctl_special))

/**
 * falcon_sysctl_defaults - the settings of a new namespace
 * @s:	written whole
 */
void falcon_sysctl_defaults(struct falcon_sysctls *s)
{
	unsigned int i;

	memset(s, 0, sizeof(*s));
	for (i = 0; i < falcon_nr_params; i++) {
		const struct falcon_param *p = &falcon_params[i];

		*(int *)((char *)s + p->offset) = p->def;
	}
	s->wmem[0] = 4096;
	s->wmem[1] = 1 << 20;
	s->wmem[2] = 4 << 20;
	s->rmem[0] = 4096;
	s->rmem[1] = 2 << 20;
	s->rmem[2] = 6 << 20;
	s->security = FALCON_SECURITY_OPPORTUNISTIC;
	strscpy(s->fae, falcon_fae_swift.name, sizeof(s->fae));
}

static void falcon_sysctl_fill(struct ctl_table *table,
			       struct falcon_sysctls *s, bool owner)
{
	unsigned int i;

	for (i = 0; i < falcon_nr_params; i++, table++) {
		const struct falcon_param *p = &falcon_params[i];

		table->procname = p->name;
		table->data = (char *)s + p->offset;
		table->maxlen = sizeof(int);
		table->mode = owner || !p->bound ? 0644 : 0444;
		table->proc_handler = p->handler ?: proc_dointvec_minmax;
		table->extra1 = (void *)&p->min;
		table->extra2 = (void *)&p->max;
	}
	for (i = 0; i < ARRAY_SIZE(falcon_sysctl_special); i++, table++) {
		table->procname = falcon_sysctl_special[i].name;
		table->data = (char *)s + falcon_sysctl_special[i].offset;
		table->maxlen = falcon_sysctl_special[i].len;
		table->mode = 0644;
		table->proc_handler = falcon_sysctl_special[i].handler;
	}
}

/**
 * falcon_sysctl_net_init - register net.falcon of a namespace
 * @fn:	its settings are in place (falcon_sysctl_defaults())
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM.
 */
int falcon_sysctl_net_init(struct falcon_net *fn)
{
	struct ctl_table *table;

	/* One more, empty: the end mark that kernels before 6.6 look for. */
	table = kcalloc(FALCON_NR_SYSCTLS + 1, sizeof(*table), GFP_KERNEL);
	if (!table)
		return -ENOMEM;
	falcon_sysctl_fill(table, &fn->sysctl,
			   fn->net->user_ns == &init_user_ns);
	fn->sysctl_hdr = falcon_register_sysctl(fn->net, "net/falcon", table,
						FALCON_NR_SYSCTLS);
	if (fn->sysctl_hdr)
		return 0;
	kfree(table);
	return -ENOMEM;
}

/**
 * falcon_sysctl_net_exit - remove net.falcon of a namespace
 * @fn:	falcon_sysctl_net_init() returned 0 for it
 *
 * Context: may sleep; waits for readers and writers of the files.
 */
void falcon_sysctl_net_exit(struct falcon_net *fn)
{
	const struct ctl_table *table = fn->sysctl_hdr->ctl_table_arg;

	unregister_net_sysctl_table(fn->sysctl_hdr);
	kfree(table);
}
