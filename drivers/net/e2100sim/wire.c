// SPDX-License-Identifier: GPL-2.0
/*
 * The wire of a port: another port, or a lower netdev, which may be in another
 * namespace. A lower netdev gives all that it receives to the port, as it
 * would to a bridge, and transmits what the port sends.
 *
 * bus.c links and unlinks under rtnl; a lower netdev that goes unlinks itself.
 */
#include <linux/etherdevice.h>
#include <linux/if_arp.h>
#include <linux/rtnetlink.h>
#include "e2100sim.h"

/**
 * e2100_linked - does a port have a wire?
 * @port:	port
 *
 * Context: rtnl.
 */
bool e2100_linked(const struct e2100_port *port)
{
	return rtnl_dereference(port->peer) || rtnl_dereference(port->lower);
}

static bool e2100_wire_up(const struct e2100_port *port)
{
	const struct e2100_port *peer = rtnl_dereference(port->peer);
	struct net_device *lower = rtnl_dereference(port->lower);

	if (!netif_running(port->netdev) || e2100_dead(port))
		return false;
	if (peer)
		return netif_running(peer->netdev) && !e2100_dead(peer);
	return lower && netif_running(lower) && netif_carrier_ok(lower);
}

static void e2100_carrier_one(struct e2100_port *port)
{
	if (e2100_wire_up(port))
		netif_carrier_on(port->netdev);
	else
		netif_carrier_off(port->netdev);
}

/**
 * e2100_carrier - see whether the link of a port is up
 * @port:	port; its peer's link is the same
 *
 * Context: rtnl.
 */
void e2100_carrier(struct e2100_port *port)
{
	struct e2100_port *peer = rtnl_dereference(port->peer);

	e2100_carrier_one(port);
	if (peer)
		e2100_carrier_one(peer);
}

static rx_handler_result_t e2100_rx_handler(struct sk_buff **pskb)
{
	struct e2100_port *port;
	struct sk_buff *skb;

	/* The stack's copy of what it sends itself never was on the wire. */
	if ((*pskb)->pkt_type == PACKET_LOOPBACK)
		return RX_HANDLER_PASS;
	skb = skb_share_check(*pskb, GFP_ATOMIC);
	if (!skb)
		return RX_HANDLER_CONSUMED;
	port = rcu_dereference(skb->dev->rx_handler_data);
	skb_push(skb, ETH_HLEN);
	skb_scrub_packet(skb, !net_eq(dev_net(skb->dev),
				      dev_net(port->netdev)));
	skb->pkt_type = PACKET_HOST;
	skb->protocol = eth_type_trans(skb, port->netdev);
	e2100_rx(port, skb);
	return RX_HANDLER_CONSUMED;
}

static int e2100_link_lower(struct e2100_port *port, struct net_device *lower)
{
	int err;

	if (lower->type != ARPHRD_ETHER || (lower->flags & IFF_LOOPBACK))
		return -EINVAL;
	err = netdev_rx_handler_register(lower, e2100_rx_handler, port);
	if (err)
		return err;
	err = netdev_upper_dev_link(lower, port->netdev, NULL);
	if (err)
		goto handler;
	err = dev_set_promiscuity(lower, 1);
	if (err)
		goto upper;
	/* Only what the lower one carries. */
	if (port->netdev->mtu != lower->mtu) {
		err = dev_set_mtu(port->netdev, lower->mtu);
		if (err)
			goto promisc;
	}
	rcu_assign_pointer(port->lower, lower);
	return 0;

promisc:
	dev_set_promiscuity(lower, -1);
upper:
	netdev_upper_dev_unlink(lower, port->netdev);
handler:
	netdev_rx_handler_unregister(lower);
	return err;
}

static void e2100_link_peer(struct e2100_port *a, struct e2100_port *b)
{
	rcu_assign_pointer(a->peer, b);
	rcu_assign_pointer(b->peer, a);
}

/**
 * e2100_link - give a port a wire
 * @a:		a port, or not
 * @b:		another port; or any Ethernet device, which nobody else uses
 *
 * Context: rtnl.
 * Return: 0; -EINVAL: @a is no port, or @b is @a or not Ethernet; -EBUSY: one of
 * them has a wire, or an upper device; or another negative errno.
 */
int e2100_link(struct net_device *a, struct net_device *b)
{
	struct e2100_port *port;
	int err = 0;

	ASSERT_RTNL();
	if (!e2100_is_port(a) || a == b)
		return -EINVAL;
	port = netdev_priv(a);
	if (e2100_linked(port))
		return -EBUSY;
	if (!e2100_is_port(b))
		err = e2100_link_lower(port, b);
	else if (e2100_linked(netdev_priv(b)))
		err = -EBUSY;
	else
		e2100_link_peer(port, netdev_priv(b));
	if (!err)
		e2100_carrier(port);
	return err;
}

static void e2100_unlink_lower(struct e2100_port *port,
			       struct net_device *lower)
{
	RCU_INIT_POINTER(port->lower, NULL);
	netdev_rx_handler_unregister(lower);
	dev_set_promiscuity(lower, -1);
	netdev_upper_dev_unlink(lower, port->netdev);
}

/**
 * e2100_unlink - cut the wire of a port
 * @port:	port
 *
 * Nothing is on its way between the two ends when this returns.
 *
 * Context: rtnl, may sleep.
 * Return: 0; -ENOLINK: it has none.
 */
int e2100_unlink(struct e2100_port *port)
{
	struct net_device *lower = rtnl_dereference(port->lower);
	struct e2100_port *peer = rtnl_dereference(port->peer);

	ASSERT_RTNL();
	if (lower) {
		e2100_unlink_lower(port, lower);
	} else if (peer) {
		RCU_INIT_POINTER(port->peer, NULL);
		RCU_INIT_POINTER(peer->peer, NULL);
		netif_carrier_off(peer->netdev);
	} else {
		return -ENOLINK;
	}
	netif_carrier_off(port->netdev);
	synchronize_net();
	return 0;
}

static void e2100_send_peer(struct e2100_port *peer, struct sk_buff *skb)
{
	if (__dev_forward_skb(peer->netdev, skb) == NET_RX_SUCCESS)
		e2100_rx(peer, skb);
}

static void e2100_send_lower(struct e2100_port *port, struct net_device *lower,
			     struct sk_buff *skb)
{
	/* To its sender the port was the NIC: no other stamps it again. */
	if (skb_shinfo(skb)->tx_flags & SKBTX_ANY_TSTAMP &&
	    !skb_unclone(skb, GFP_ATOMIC))
		skb_shinfo(skb)->tx_flags &= ~SKBTX_ANY_TSTAMP;
	skb_scrub_packet(skb, !net_eq(dev_net(port->netdev), dev_net(lower)));
	skb->dev = lower;
	dev_queue_xmit(skb);
}

/**
 * e2100_wire_send - a frame leaves
 * @port:	port
 * @skb:	consumed
 *
 * Context: process or softirq, bottom halves off.
 */
void e2100_wire_send(struct e2100_port *port, struct sk_buff *skb)
{
	struct net_device *lower;
	struct e2100_port *peer;

	rcu_read_lock();
	lower = rcu_dereference(port->lower);
	peer = rcu_dereference(port->peer);
	if ((!lower && !peer) || e2100_dead(port)) {
		E2100_INC(port, TX_DOWN);
		dev_core_stats_tx_dropped_inc(port->netdev);
		kfree_skb(skb);
		goto out;
	}
	dev_sw_netstats_tx_add(port->netdev, 1, skb->len);
	if (lower)
		e2100_send_lower(port, lower, skb);
	else
		e2100_send_peer(peer, skb);
out:
	rcu_read_unlock();
}

static void e2100_lower_event(struct e2100_port *port, struct net_device *lower,
			      unsigned long event)
{
	switch (event) {
	case NETDEV_UNREGISTER:
		e2100_unlink(port);
		break;
	case NETDEV_UP:
	case NETDEV_DOWN:
	case NETDEV_CHANGE:
		e2100_carrier(port);
		break;
	case NETDEV_CHANGEMTU:
		if (port->netdev->mtu > lower->mtu)
			dev_set_mtu(port->netdev, lower->mtu);
		break;
	}
}

static int e2100_netdev_event(struct notifier_block *nb, unsigned long event,
			      void *ptr)
{
	struct net_device *lower = netdev_notifier_info_to_dev(ptr);

	if (rcu_access_pointer(lower->rx_handler) == e2100_rx_handler)
		e2100_lower_event(rtnl_dereference(lower->rx_handler_data),
				  lower, event);
	return NOTIFY_DONE;
}

static struct notifier_block e2100_netdev_notifier = {
	.notifier_call	= e2100_netdev_event,
};

/**
 * e2100_wire_init - watch lower devices
 *
 * Context: module init.
 * Return: 0 or a negative errno.
 */
int e2100_wire_init(void)
{
	return register_netdevice_notifier(&e2100_netdev_notifier);
}

/**
 * e2100_wire_exit - watch them no longer
 */
void e2100_wire_exit(void)
{
	unregister_netdevice_notifier(&e2100_netdev_notifier);
}
