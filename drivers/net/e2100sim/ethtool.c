// SPDX-License-Identifier: GPL-2.0
/*
 * What ethtool shows and sets of a port. -k works by the features of the
 * netdev.
 */
#include <linux/ethtool.h>
#include <linux/module.h>
#include "e2100sim.h"

static const char e2100_stat_name[E2100_NR_STAT][ETH_GSTRING_LEN] = {
	[E2100_S_TX_PACED]	  = "tx_paced",
	[E2100_S_TX_FALCON]	  = "tx_falcon_trains",
	[E2100_S_TX_STALE]	  = "tx_falcon_moved",
	[E2100_S_TX_NO_DESC]	  = "tx_ring_full",
	[E2100_S_TX_DOWN]	  = "tx_no_wire",
	[E2100_S_RX_FALCON]	  = "rx_falcon",
	[E2100_S_RX_STAMPED]	  = "rx_stamped",
	[E2100_S_RX_BUFFER_FULL]  = "rx_buffer_full",
	[E2100_S_RX_DOWN]	  = "rx_down",
	[E2100_S_RX_NO_MEM]	  = "rx_no_mem",
	[E2100_S_CTX_ADDED]	  = "ctx_added",
	[E2100_S_CTX_DELETED]	  = "ctx_deleted",
	[E2100_S_CTX_REFUSED]	  = "ctx_refused",
	[E2100_S_CTX_HIT]	  = "ctx_hit",
	[E2100_S_CTX_MISS]	  = "ctx_miss",
	[E2100_S_CTX_NONE]	  = "ctx_none",
	[E2100_S_PSP_ADDED]	  = "psp_keys_added",
	[E2100_S_PSP_DELETED]	  = "psp_keys_deleted",
	[E2100_S_PSP_SEALED]	  = "psp_sealed",
	[E2100_S_PSP_OPENED]	  = "psp_opened",
	[E2100_S_PSP_NOT_OPENED]  = "psp_not_opened",
	[E2100_S_FAULT_DROP]	  = "fault_drop",
	[E2100_S_FAULT_REORDER]	  = "fault_reorder",
	[E2100_S_FAULT_DUPLICATE] = "fault_duplicate",
	[E2100_S_FAULT_CORRUPT]	  = "fault_corrupt",
};

static void e2100_get_drvinfo(struct net_device *netdev,
			      struct ethtool_drvinfo *info)
{
	struct e2100_port *port = netdev_priv(netdev);

	strscpy(info->driver, E2100_NAME, sizeof(info->driver));
	strscpy(info->bus_info, dev_name(&port->dev->bus_dev->dev),
		sizeof(info->bus_info));
}

static int e2100_get_link_ksettings(struct net_device *netdev,
				    struct ethtool_link_ksettings *cmd)
{
	u32 mbps = e2100_param(netdev_priv(netdev), E2100_P_LINK_MBPS);

	ethtool_link_ksettings_zero_link_mode(cmd, supported);
	ethtool_link_ksettings_zero_link_mode(cmd, advertising);
	cmd->base.speed = mbps ?: SPEED_200000;
	cmd->base.duplex = DUPLEX_FULL;
	cmd->base.port = PORT_OTHER;
	cmd->base.autoneg = AUTONEG_DISABLE;
	return 0;
}

/* The rate of the wire is the device's: that of all its ports. */
static int e2100_set_link_ksettings(struct net_device *netdev,
				    const struct ethtool_link_ksettings *cmd)
{
	struct e2100_port *port = netdev_priv(netdev);

	if (cmd->base.autoneg != AUTONEG_DISABLE ||
	    cmd->base.duplex != DUPLEX_FULL)
		return -EINVAL;
	if (!cmd->base.speed || cmd->base.speed > E2100_LINK_MAX)
		return -ERANGE;
	WRITE_ONCE(port->dev->param[E2100_P_LINK_MBPS], cmd->base.speed);
	return 0;
}

static void e2100_get_ringparam(struct net_device *netdev,
				struct ethtool_ringparam *ring,
				struct kernel_ethtool_ringparam *kernel_ring,
				struct netlink_ext_ack *extack)
{
	struct e2100_port *port = netdev_priv(netdev);

	ring->tx_max_pending = E2100_RING_MAX;
	ring->rx_max_pending = E2100_RING_MAX;
	ring->tx_pending = port->tx_ring;
	ring->rx_pending = port->rx_ring;
}

static int e2100_set_ringparam(struct net_device *netdev,
			       struct ethtool_ringparam *ring,
			       struct kernel_ethtool_ringparam *kernel_ring,
			       struct netlink_ext_ack *extack)
{
	struct e2100_port *port = netdev_priv(netdev);

	if (!ring->tx_pending || !ring->rx_pending) {
		NL_SET_ERR_MSG_MOD(extack, "a ring has at least one entry");
		return -EINVAL;
	}
	if (ring->tx_pending != port->tx_ring && netif_running(netdev)) {
		NL_SET_ERR_MSG_MOD(extack,
				   "set the transmit ring while it is down");
		return -EBUSY;
	}
	port->tx_ring = ring->tx_pending;
	WRITE_ONCE(port->rx_ring, ring->rx_pending);
	return 0;
}

static void e2100_get_channels(struct net_device *netdev,
			       struct ethtool_channels *ch)
{
	struct e2100_port *port = netdev_priv(netdev);

	ch->max_rx = port->nr_queues;
	ch->max_tx = port->nr_queues;
	ch->rx_count = port->nr_queues;
	ch->tx_count = port->nr_queues;
}

static int e2100_get_sset_count(struct net_device *netdev, int sset)
{
	return sset == ETH_SS_STATS ? E2100_NR_STAT : -EOPNOTSUPP;
}

static void e2100_get_strings(struct net_device *netdev, u32 sset, u8 *data)
{
	if (sset == ETH_SS_STATS)
		memcpy(data, e2100_stat_name, sizeof(e2100_stat_name));
}

static void e2100_get_ethtool_stats(struct net_device *netdev,
				    struct ethtool_stats *stats, u64 *data)
{
	struct e2100_port *port = netdev_priv(netdev);
	unsigned int i;

	for (i = 0; i < E2100_NR_STAT; i++)
		data[i] = atomic64_read(&port->stat[i]);
}

static int e2100_get_ts_info(struct net_device *netdev, e2100_ts_info *info)
{
	struct e2100_port *port = netdev_priv(netdev);

	info->so_timestamping = SOF_TIMESTAMPING_TX_SOFTWARE |
				SOF_TIMESTAMPING_RX_SOFTWARE |
				SOF_TIMESTAMPING_SOFTWARE |
				SOF_TIMESTAMPING_TX_HARDWARE |
				SOF_TIMESTAMPING_RX_HARDWARE |
				SOF_TIMESTAMPING_RAW_HARDWARE;
	info->phc_index = ptp_clock_index(port->dev->clock.ptp);
	info->tx_types = BIT(HWTSTAMP_TX_OFF) | BIT(HWTSTAMP_TX_ON);
	info->rx_filters = BIT(HWTSTAMP_FILTER_NONE) | BIT(HWTSTAMP_FILTER_ALL);
	return 0;
}

const struct ethtool_ops e2100_ethtool_ops = {
	.get_drvinfo		= e2100_get_drvinfo,
	.get_link		= ethtool_op_get_link,
	.get_link_ksettings	= e2100_get_link_ksettings,
	.set_link_ksettings	= e2100_set_link_ksettings,
	.get_ringparam		= e2100_get_ringparam,
	.set_ringparam		= e2100_set_ringparam,
	.get_channels		= e2100_get_channels,
	.get_sset_count		= e2100_get_sset_count,
	.get_strings		= e2100_get_strings,
	.get_ethtool_stats	= e2100_get_ethtool_stats,
	.get_ts_info		= e2100_get_ts_info,
};
