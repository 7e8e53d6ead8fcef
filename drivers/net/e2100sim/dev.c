// SPDX-License-Identifier: GPL-2.0
/*
 * A device: one devlink instance with its parameters, its health reporter and
 * its ports, and the reset that reload and recovery are.
 *
 * A reset is what hardware does to its users: Falcon takes its connections
 * back, what waits is lost, the counter begins anew, and then the ports offer
 * themselves again. Netdevs, addresses and routes stay: so they are not ports of
 * the devlink instance, which would have to go in a reload.
 */
#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/rtnetlink.h>
#include "e2100sim.h"

/* What devlink calls a parameter, and its bounds. */
struct e2100_param_def {
	const char *name;
	u32 init;
	u32 max;
};

static const struct e2100_param_def e2100_param_def[E2100_NR_PARAM] = {
	[E2100_P_CACHE_ENTRIES]	 = { "cache_entries", 10000, 1U << 20 },
	[E2100_P_CACHE_HIT_NS]	 = { "cache_hit_ns", 0, 1000000 },
	[E2100_P_CACHE_MISS_NS]	 = { "cache_miss_ns", 0, 1000000 },
	[E2100_P_RX_BUFFER_KB]	 = { "rx_buffer_kb", 16384, 1U << 20 },
	[E2100_P_PCIE_MBPS]	 = { "pcie_mbps", 0, 1000000 },
	[E2100_P_LINK_MBPS]	 = { "link_mbps", 0, E2100_LINK_MAX },
	[E2100_P_COUNTER_MS]	 = { "counter_ms", 0, U32_MAX },
	[E2100_P_PSP_KEYS]	 = { "psp_keys", 20000, 1U << 20 },
	[E2100_P_MAX_CONTEXTS]	 = { "max_contexts", 1U << 20, 1U << 20 },
};

#define E2100_PARAM_ID(p)	(DEVLINK_PARAM_GENERIC_ID_MAX + 1 + (p))

static int e2100_param_get(struct devlink *devlink, u32 id,
			   struct devlink_param_gset_ctx *ctx)
{
	const struct e2100_dev *dev = devlink_priv(devlink);

	ctx->val.vu32 = dev->param[id - E2100_PARAM_ID(0)];
	return 0;
}

static int e2100_param_set(struct devlink *devlink, u32 id,
			   struct devlink_param_gset_ctx *ctx)
{
	struct e2100_dev *dev = devlink_priv(devlink);

	WRITE_ONCE(dev->param[id - E2100_PARAM_ID(0)], ctx->val.vu32);
	return 0;
}

E2100_PARAM_SET(e2100_param_set);

static int e2100_param_validate(struct devlink *devlink, u32 id,
				union devlink_param_value val,
				struct netlink_ext_ack *extack)
{
	const struct e2100_param_def *def =
		&e2100_param_def[id - E2100_PARAM_ID(0)];

	if (val.vu32 > def->max) {
		NL_SET_ERR_MSG_MOD(extack, "larger than the device can do");
		return -ERANGE;
	}
	if (def == &e2100_param_def[E2100_P_RX_BUFFER_KB] && !val.vu32) {
		NL_SET_ERR_MSG_MOD(extack, "a device has a receive buffer");
		return -EINVAL;
	}
	return 0;
}

#define E2100_PARAM(p, n)						\
	DEVLINK_PARAM_DRIVER(E2100_PARAM_ID(p), n,			\
			     DEVLINK_PARAM_TYPE_U32,			\
			     BIT(DEVLINK_PARAM_CMODE_RUNTIME),		\
			     e2100_param_get, e2100_param_set_op,	\
			     e2100_param_validate)

static const struct devlink_param e2100_params[E2100_NR_PARAM] = {
	E2100_PARAM(E2100_P_CACHE_ENTRIES, "cache_entries"),
	E2100_PARAM(E2100_P_CACHE_HIT_NS, "cache_hit_ns"),
	E2100_PARAM(E2100_P_CACHE_MISS_NS, "cache_miss_ns"),
	E2100_PARAM(E2100_P_RX_BUFFER_KB, "rx_buffer_kb"),
	E2100_PARAM(E2100_P_PCIE_MBPS, "pcie_mbps"),
	E2100_PARAM(E2100_P_LINK_MBPS, "link_mbps"),
	E2100_PARAM(E2100_P_COUNTER_MS, "counter_ms"),
	E2100_PARAM(E2100_P_PSP_KEYS, "psp_keys"),
	E2100_PARAM(E2100_P_MAX_CONTEXTS, "max_contexts"),
};

/*
 * Resets
 */

static void e2100_dev_down(struct e2100_dev *dev)
{
	unsigned int i;

	lockdep_assert_held(&dev->lock);
	for (i = 0; i < dev->nr_ports; i++) {
		struct e2100_port *port = dev->port[i];

		e2100_falcon_stop(port);
		rtnl_lock();
		netif_carrier_off(port->netdev);
		e2100_rx_flush(port);
		rtnl_unlock();
		e2100_tx_flush(port);
	}
}

static int e2100_dev_up(struct e2100_dev *dev)
{
	unsigned int i;
	int err;

	lockdep_assert_held(&dev->lock);
	e2100_clock_reset(&dev->clock, dev->param[E2100_P_COUNTER_MS] *
			  E2100_PS_PER_MS);
	WRITE_ONCE(dev->dead, false);
	for (i = 0; i < dev->nr_ports; i++) {
		err = e2100_falcon_start(dev->port[i]);
		if (err)
			return err;
		rtnl_lock();
		e2100_carrier(dev->port[i]);
		rtnl_unlock();
	}
	dev->resets++;
	return 0;
}

static int e2100_reload_down(struct devlink *devlink, bool netns_change,
			     enum devlink_reload_action action,
			     enum devlink_reload_limit limit,
			     struct netlink_ext_ack *extack)
{
	struct e2100_dev *dev = devlink_priv(devlink);

	if (netns_change) {
		NL_SET_ERR_MSG_MOD(extack,
				   "the device stays, its ports may move");
		return -EOPNOTSUPP;
	}
	mutex_lock(&dev->lock);
	e2100_dev_down(dev);
	mutex_unlock(&dev->lock);
	return 0;
}

static int e2100_reload_up(struct devlink *devlink,
			   enum devlink_reload_action action,
			   enum devlink_reload_limit limit,
			   u32 *actions_performed,
			   struct netlink_ext_ack *extack)
{
	const enum devlink_health_reporter_state healthy =
		DEVLINK_HEALTH_REPORTER_STATE_HEALTHY;
	struct e2100_dev *dev = devlink_priv(devlink);
	int err;

	*actions_performed = BIT(DEVLINK_RELOAD_ACTION_DRIVER_REINIT);
	mutex_lock(&dev->lock);
	err = e2100_dev_up(dev);
	mutex_unlock(&dev->lock);
	if (!err)
		devlink_health_reporter_state_update(dev->health, healthy);
	return err;
}

static int e2100_info_get(struct devlink *devlink,
			  struct devlink_info_req *req,
			  struct netlink_ext_ack *extack)
{
	const struct e2100_dev *dev = devlink_priv(devlink);
	char serial[16];
	int err;

	snprintf(serial, sizeof(serial), "%08u", dev->bus_dev->dev.id);
	err = devlink_info_serial_number_put(req, serial);
	if (err)
		return err;
	return devlink_info_version_fixed_put(req,
					      DEVLINK_INFO_VERSION_GENERIC_BOARD_ID,
					      "E2100-SIM");
}

static const struct devlink_ops e2100_devlink_ops = {
	.reload_actions	= BIT(DEVLINK_RELOAD_ACTION_DRIVER_REINIT),
	.reload_down	= e2100_reload_down,
	.reload_up	= e2100_reload_up,
	.info_get	= e2100_info_get,
};

/*
 * Health
 */

/**
 * e2100_dev_break - the device hangs, and the driver notices
 * @dev:	device
 *
 * Nothing goes in or out until it is reset, which the health reporter does at
 * once unless auto_recover is off.
 *
 * Context: process, may sleep.
 * Return: 0; or what the reporter says, a negative errno.
 */
int e2100_dev_break(struct e2100_dev *dev)
{
	WRITE_ONCE(dev->dead, true);
	return devlink_health_report(dev->health, "the device hangs", dev);
}

static int e2100_health_recover(struct devlink_health_reporter *reporter,
				void *priv_ctx, struct netlink_ext_ack *extack)
{
	struct e2100_dev *dev = devlink_health_reporter_priv(reporter);
	int err;

	mutex_lock(&dev->lock);
	e2100_dev_down(dev);
	err = e2100_dev_up(dev);
	mutex_unlock(&dev->lock);
	return err;
}

static int e2100_health_diagnose(struct devlink_health_reporter *reporter,
				 struct devlink_fmsg *fmsg,
				 struct netlink_ext_ack *extack)
{
	struct e2100_dev *dev = devlink_health_reporter_priv(reporter);

	devlink_fmsg_u8_pair_put(fmsg, "alive", !READ_ONCE(dev->dead));
	devlink_fmsg_u32_pair_put(fmsg, "resets", dev->resets);
	devlink_fmsg_u64_pair_put(fmsg, "counter_ps",
				  e2100_counter(&dev->clock));
	return 0;
}

static int e2100_health_test(struct devlink_health_reporter *reporter,
			     struct netlink_ext_ack *extack)
{
	struct e2100_dev *dev = devlink_health_reporter_priv(reporter);

	if (!READ_ONCE(dev->dead))
		return 0;
	NL_SET_ERR_MSG_MOD(extack, "the device hangs");
	return -EIO;
}

static const struct devlink_health_reporter_ops e2100_health_ops = {
	.name		= "fw",
	.recover	= e2100_health_recover,
	.diagnose	= e2100_health_diagnose,
	.test		= e2100_health_test,
};

/*
 * Coming and going
 */

static void e2100_ports_free(struct e2100_dev *dev)
{
	while (dev->nr_ports)
		e2100_port_free(dev->port[--dev->nr_ports]);
}

static int e2100_ports_new(struct e2100_dev *dev, unsigned int nr)
{
	struct e2100_port *port;

	while (dev->nr_ports < nr) {
		port = e2100_port_new(dev, dev->nr_ports);
		if (IS_ERR(port)) {
			e2100_ports_free(dev);
			return PTR_ERR(port);
		}
		dev->port[dev->nr_ports++] = port;
	}
	return 0;
}

static void e2100_params_init(struct e2100_dev *dev)
{
	unsigned int i;

	for (i = 0; i < E2100_NR_PARAM; i++)
		dev->param[i] = e2100_param_def[i].init;
	/* Counters of hardware begin anywhere. */
	dev->param[E2100_P_COUNTER_MS] = get_random_u32() >> 8;
}

/**
 * e2100_dev_probe - a device was plugged in
 * @bus_dev:	on the bus
 *
 * Context: process, may sleep.
 * Return: 0 or a negative errno.
 */
int e2100_dev_probe(struct e2100_bus_dev *bus_dev)
{
	struct devlink *devlink;
	struct e2100_dev *dev;
	unsigned int i;
	int err;

	devlink = devlink_alloc(&e2100_devlink_ops,
				struct_size(dev, port, bus_dev->nr_ports),
				&bus_dev->dev);
	if (!devlink)
		return -ENOMEM;
	dev = devlink_priv(devlink);
	dev->bus_dev = bus_dev;
	mutex_init(&dev->lock);
	e2100_params_init(dev);
	err = e2100_clock_init(&dev->clock, &bus_dev->dev);
	if (err)
		goto free;
	e2100_clock_reset(&dev->clock, dev->param[E2100_P_COUNTER_MS] *
			  E2100_PS_PER_MS);
	err = devlink_params_register(devlink, e2100_params, E2100_NR_PARAM);
	if (err)
		goto clock;
	dev->health = devlink_health_reporter_create(devlink,
						     &e2100_health_ops, 0, dev);
	if (IS_ERR(dev->health)) {
		err = PTR_ERR(dev->health);
		goto params;
	}
	err = e2100_ports_new(dev, bus_dev->nr_ports);
	if (err)
		goto health;
	e2100_devlink_reloads(devlink);
	dev_set_drvdata(&bus_dev->dev, dev);
	devlink_register(devlink);
	/* One of its files reports to devlink. */
	e2100_debugfs_dev(dev);
	for (i = 0; i < dev->nr_ports; i++)
		e2100_debugfs_port(dev->port[i]);
	return 0;

health:
	devlink_health_reporter_destroy(dev->health);
params:
	devlink_params_unregister(devlink, e2100_params, E2100_NR_PARAM);
clock:
	e2100_clock_exit(&dev->clock);
free:
	devlink_free(devlink);
	return err;
}

/**
 * e2100_dev_remove - a device is unplugged
 * @bus_dev:	on the bus
 *
 * Its connections go on without it.
 *
 * Context: process, may sleep.
 */
void e2100_dev_remove(struct e2100_bus_dev *bus_dev)
{
	struct e2100_dev *dev = dev_get_drvdata(&bus_dev->dev);
	struct devlink *devlink = priv_to_devlink(dev);

	debugfs_remove_recursive(dev->dir);
	devlink_unregister(devlink);
	mutex_lock(&dev->lock);
	e2100_ports_free(dev);
	mutex_unlock(&dev->lock);
	devlink_health_reporter_destroy(dev->health);
	devlink_params_unregister(devlink, e2100_params, E2100_NR_PARAM);
	e2100_clock_exit(&dev->clock);
	devlink_free(devlink);
}

static int __init e2100_init(void)
{
	int err;

	e2100_debugfs_init();
	err = e2100_psp_init();
	if (err)
		goto debugfs;
	err = e2100_wire_init();
	if (err)
		goto psp;
	err = e2100_bus_init();
	if (err)
		goto wire;
	return 0;

wire:
	e2100_wire_exit();
psp:
	e2100_psp_exit();
debugfs:
	e2100_debugfs_exit();
	return err;
}

static void __exit e2100_exit(void)
{
	e2100_bus_exit();
	e2100_wire_exit();
	e2100_psp_exit();
	e2100_debugfs_exit();
	rcu_barrier();
}

module_init(e2100_init);
module_exit(e2100_exit);

MODULE_LICENSE("GPL");
MODULE_AUTHOR("The Falcon for Linux authors");
MODULE_DESCRIPTION("Emulated NIC with Falcon offloads");
