// SPDX-License-Identifier: GPL-2.0
/*
 * A port as the stack sees it: net_device_ops, time-stamp settings, and the
 * order in which a port is set up and torn down. dev.c makes and frees ports.
 */
#include <linux/etherdevice.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include "e2100sim.h"

#define E2100_FEATURES	(NETIF_F_SG | NETIF_F_FRAGLIST | NETIF_F_HIGHDMA |    \
			 NETIF_F_HW_CSUM | NETIF_F_RXCSUM |		      \
			 NETIF_F_GSO_SOFTWARE | NETIF_F_GSO_UDP_L4)

static int e2100_open(struct net_device *netdev)
{
	struct e2100_port *port = netdev_priv(netdev);
	int err = e2100_tx_open(port);

	if (err)
		return err;
	e2100_rx_open(port);
	netif_tx_start_all_queues(netdev);
	e2100_carrier(port);
	return 0;
}

static int e2100_stop(struct net_device *netdev)
{
	struct e2100_port *port = netdev_priv(netdev);
	struct e2100_port *peer = rtnl_dereference(port->peer);

	netif_carrier_off(netdev);
	if (peer)
		netif_carrier_off(peer->netdev);
	netif_tx_stop_all_queues(netdev);
	e2100_tx_stop(port);
	e2100_rx_stop(port);
	return 0;
}

static int e2100_change_mtu(struct net_device *netdev, int mtu)
{
	struct e2100_port *port = netdev_priv(netdev);
	struct net_device *lower = rtnl_dereference(port->lower);

	if (lower && mtu > lower->mtu)
		return -EINVAL;
	WRITE_ONCE(netdev->mtu, mtu);
	return 0;
}

static int e2100_set_tstamp(struct e2100_port *port, struct ifreq *ifr)
{
	struct hwtstamp_config cfg;

	if (copy_from_user(&cfg, ifr->ifr_data, sizeof(cfg)))
		return -EFAULT;
	if (cfg.tx_type != HWTSTAMP_TX_OFF && cfg.tx_type != HWTSTAMP_TX_ON)
		return -ERANGE;
	if (cfg.rx_filter != HWTSTAMP_FILTER_NONE)
		cfg.rx_filter = HWTSTAMP_FILTER_ALL;
	port->tstamp = cfg;
	return copy_to_user(ifr->ifr_data, &cfg, sizeof(cfg)) ? -EFAULT : 0;
}

static int e2100_eth_ioctl(struct net_device *netdev, struct ifreq *ifr,
			   int cmd)
{
	struct e2100_port *port = netdev_priv(netdev);

	switch (cmd) {
	case SIOCSHWTSTAMP:
		return e2100_set_tstamp(port, ifr);
	case SIOCGHWTSTAMP:
		return copy_to_user(ifr->ifr_data, &port->tstamp,
				    sizeof(port->tstamp)) ? -EFAULT : 0;
	default:
		return -EOPNOTSUPP;
	}
}

/* skbs carry the counter; who reads a stamp wants it, or the PHC's time. */
static ktime_t e2100_get_tstamp(struct net_device *netdev,
				const struct skb_shared_hwtstamps *hw,
				bool cycles)
{
	struct e2100_port *port = netdev_priv(netdev);
	u64 ps = (uintptr_t)hw->netdev_data;

	/* Of a counter that was reset since */
	if (!e2100_counter_was(&port->dev->clock, ps))
		return 0;
	if (cycles)
		return ns_to_ktime(div_u64(ps, 1000));
	return ns_to_ktime(e2100_phc_time(&port->dev->clock, ps));
}

static int e2100_get_iflink(const struct net_device *netdev)
{
	struct e2100_port *port = netdev_priv(netdev);
	const struct net_device *end;
	struct e2100_port *peer;
	int iflink;

	rcu_read_lock();
	end = rcu_dereference(port->lower);
	peer = rcu_dereference(port->peer);
	if (!end)
		end = peer ? peer->netdev : netdev;
	iflink = READ_ONCE(end->ifindex);
	rcu_read_unlock();
	return iflink;
}

static const struct net_device_ops e2100_netdev_ops = {
	.ndo_open		= e2100_open,
	.ndo_stop		= e2100_stop,
	.ndo_start_xmit		= e2100_start_xmit,
	.ndo_get_stats64	= dev_get_tstats64,
	.ndo_set_mac_address	= eth_mac_addr,
	.ndo_validate_addr	= eth_validate_addr,
	.ndo_change_mtu		= e2100_change_mtu,
	.ndo_eth_ioctl		= e2100_eth_ioctl,
	.ndo_get_tstamp		= e2100_get_tstamp,
	.ndo_get_iflink		= e2100_get_iflink,
};

/**
 * e2100_is_port - is a netdev one of ours?
 * @netdev:	any
 */
bool e2100_is_port(const struct net_device *netdev)
{
	return netdev->netdev_ops == &e2100_netdev_ops;
}

static void e2100_setup(struct net_device *netdev)
{
	netdev->netdev_ops = &e2100_netdev_ops;
	netdev->ethtool_ops = &e2100_ethtool_ops;
	netdev->priv_flags |= IFF_NO_QUEUE | IFF_LIVE_ADDR_CHANGE;
	netdev->features |= E2100_FEATURES;
	netdev->hw_features |= E2100_FEATURES;
	netdev->hw_enc_features |= E2100_FEATURES;
	netdev->vlan_features |= E2100_FEATURES;
	netdev->min_mtu = ETH_MIN_MTU;
	netdev->max_mtu = ETH_MAX_MTU;
	netdev->mtu = ETH_DATA_LEN;
	e2100_set_lltx(netdev);
	eth_hw_addr_random(netdev);
}

static int e2100_queues_new(struct e2100_port *port)
{
	unsigned int nr = port->nr_queues;

	port->txq = kcalloc(nr, sizeof(*port->txq), GFP_KERNEL);
	port->rxq = kcalloc(nr, sizeof(*port->rxq), GFP_KERNEL);
	if (!port->txq || !port->rxq) {
		kfree(port->rxq);
		port->rxq = NULL;
		return -ENOMEM;
	}
	e2100_tx_init(port);
	e2100_rx_init(port);
	return 0;
}

static void e2100_port_init(struct e2100_port *port, struct e2100_dev *dev,
			    unsigned int index)
{
	port->dev = dev;
	port->index = index;
	port->nr_queues = dev->bus_dev->nr_queues;
	port->tx_ring = E2100_RING_DEFAULT;
	port->rx_ring = E2100_RING_DEFAULT;
	spin_lock_init(&port->link_lock);
	spin_lock_init(&port->pcie_lock);
	e2100_faults_init(&port->faults);
	e2100_cache_init(&port->cache);
	hash_init(port->sas);
}

/**
 * e2100_port_new - make a port, and register its netdev
 * @dev:	device
 * @index:	of its ports
 *
 * Context: process, may sleep.
 * Return: the port or an ERR_PTR.
 */
struct e2100_port *e2100_port_new(struct e2100_dev *dev, unsigned int index)
{
	unsigned int nr = dev->bus_dev->nr_queues;
	struct net_device *netdev;
	struct e2100_port *port;
	int err = -ENOMEM;

	netdev = alloc_etherdev_mqs(sizeof(*port), nr, nr);
	if (!netdev)
		return ERR_PTR(-ENOMEM);
	port = netdev_priv(netdev);
	port->netdev = netdev;
	e2100_setup(netdev);
	e2100_port_init(port, dev, index);
	dev_net_set(netdev, dev->bus_dev->net);
	SET_NETDEV_DEV(netdev, &dev->bus_dev->dev);
	netdev->tstats = netdev_alloc_pcpu_stats(struct pcpu_sw_netstats);
	if (!netdev->tstats)
		goto free;
	err = e2100_queues_new(port);
	if (err)
		goto queues;
	netif_carrier_off(netdev);
	err = register_netdev(netdev);
	if (err)
		goto queues;
	err = e2100_falcon_start(port);
	if (err)
		goto netdev;
	return port;

netdev:
	unregister_netdev(netdev);
queues:
	e2100_rx_free(port);
	kfree(port->txq);
	free_percpu(netdev->tstats);
free:
	free_netdev(netdev);
	return ERR_PTR(err);
}

/**
 * e2100_port_free - unplug a port
 * @port:	of a device that goes; its debugfs has gone
 *
 * Context: process, may sleep.
 */
void e2100_port_free(struct e2100_port *port)
{
	struct net_device *netdev = port->netdev;

	e2100_falcon_stop(port);
	rtnl_lock();
	if (e2100_linked(port))
		e2100_unlink(port);
	unregister_netdevice(netdev);
	rtnl_unlock();
	e2100_rx_free(port);
	kfree(port->txq);
	free_percpu(netdev->tstats);
	free_netdev(netdev);
}
