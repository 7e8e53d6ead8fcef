/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The NIC driver ops table: what Falcon hands to hardware.
 *
 * Every op that a NIC lacks (NULL) is served in software by nic/soft.c, so
 * any netdev works; core never knows which NIC it is on. A driver embeds
 * struct falcon_nic, fills in a table and registers; how to write one is in
 * Documentation/networking/falcon/nic-driver.rst.
 *
 * Time. A NIC stamps packets with a free-running counter in picoseconds that
 * begins anywhere, drifts as it likes, is never set and never goes back while
 * the NIC is registered. Falcon adds a constant of its own to it for each
 * connection, so that the IVs of a security association go on increasing when
 * its connection changes NICs. A PHC that people set is a clock over the
 * counter, never the counter.
 *
 * The life of a packet. It comes to the xmit op, unstamped and in clear. As it
 * departs, the driver reads its counter (falcon_nic_iv()), seals it
 * (falcon_psp_seal(), or falcon_psp_inline() and its own engine) and hands it
 * to the stack (falcon_nic_output()), which brings it to the ndo_start_xmit of
 * the device. A packet that waits longer than the op runs is held by
 * falcon_nic_hold(), and if it never departs it ends in falcon_nic_drop().
 *
 * Inline PSP. Keys of connections on the NIC are given to key_add. A key that it
 * refuses, or has no more, works in the kernel: association by association,
 * packet by packet, nothing else changes. IVs are the kernel's to give either
 * way, so that none comes twice.
 *
 * Unplugging. falcon_nic_unregister() moves the connections to the software
 * NIC, which loses at worst packets, never a transaction; after a reset
 * falcon_nic_register() brings back those that leave by the device.
 */
#ifndef _NET_FALCON_NIC_H
#define _NET_FALCON_NIC_H

#include <linux/in6.h>
#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/skbuff.h>
#include <linux/types.h>

struct falcon_conn;
struct falcon_nic;
struct module;
struct net;
struct net_device;

/**
 * struct falcon_nic_conn - a connection as the NIC sees it
 * @fn:		Destination Function, one a netns
 * @cid:	own CID; (@fn, @cid) is the key of the context
 * @nr_flows:	flows that may be paced apart
 */
struct falcon_nic_conn {
	u32 fn;
	u32 cid;
	u8  nr_flows;
};

/**
 * struct falcon_nic_ctx - a connection's context, embedded in the driver's
 * @nic:	set by the driver before conn_add returns, never changed
 *
 * The driver frees it a grace period after conn_del: an xmit that runs at the
 * time may still use it.
 */
struct falcon_nic_ctx {
	struct falcon_nic *nic;
};

/**
 * struct falcon_nic_key - a PSP receive or transmit key
 * @spi:	SPI it belongs to, one of the receiver's
 * @version:	FALCON_PSP_VER_GCM128 to FALCON_PSP_VER_GMAC256
 * @tx:		transmit direction
 * @addr:	of this end, IPv4 mapped; a key that receives opens what comes to it
 *		and nothing else
 * @key:	16 or 32 bytes by @version; the driver keeps no pointer to it
 */
struct falcon_nic_key {
	u32 spi;
	u8  version;
	bool tx;
	struct in6_addr addr;
	const u8 *key;
};

/**
 * struct falcon_nic_sa - a key in the NIC, embedded in the driver's
 * @nic:	set by the driver before key_add returns, never changed
 *
 * The driver frees it a grace period after key_del: a packet that departs at
 * the time may still use it.
 */
struct falcon_nic_sa {
	struct falcon_nic *nic;
};

/**
 * struct falcon_nic_cb - what skb->cb says of a packet given to xmit
 * @conn:	connection that sends it; opaque to drivers
 * @depart_ns:	not before this time of ktime_get_ns(); 0: now
 * @stride:	bytes from one PSP header of a train to the next
 * @nr_pkts:	packets of the train; 1: not a train
 * @held:	falcon_nic_hold() was called
 *
 * The network and transport headers of the skb are set; the first PSP header
 * follows the UDP header.
 */
struct falcon_nic_cb {
	struct falcon_conn *conn;
	u64 depart_ns;
	u16 stride;
	u16 nr_pkts;
	bool held;
};

static inline struct falcon_nic_cb *falcon_nic_cb(const struct sk_buff *skb)
{
	BUILD_BUG_ON(sizeof(struct falcon_nic_cb) > sizeof(skb->cb));
	return (struct falcon_nic_cb *)skb->cb;
}

/**
 * struct falcon_nic_ops - filled by a NIC driver
 * @name:	shown by `falcon nic`
 * @owner:	module of the driver, held while connections use the NIC
 * @read_counter: the free-running counter, picoseconds. Any context
 * @rx_stamp:	the counter when a packet arrived: @napi_id is that of its skb,
 *		@hw what the driver left in skb_hwtstamps() of the first packet
 *		of its train. 0: not received by this NIC, or not stamped; then
 *		the counter is read late, in software. Softirq
 * @conn_add:	a connection was established on the NIC: make its context, or
 *		an ERR_PTR: it works without one. May sleep; one at a time
 * @conn_del:	it ended, or left. May sleep; one at a time
 * @xmit:	transmit @skb (a full IP packet, may be a UDP GSO train) of flow
 *		@flow, not before @depart_ns on the clock of ktime_get_ns() (0:
 *		now). @ctx is the connection's context, or NULL: it has none
 *		yet, or was refused. Consumes @skb, also on error. RCU read
 *		side, bottom halves off; on several CPUs at once. 0 or a
 *		negative errno: lost as if on the wire. A driver with this op
 *		has @read_counter
 * @flush:	drop what waits for departure from @net. May sleep. Not needed by a
 *		driver that drops what waits as its device is closed: devices
 *		leave a namespace before connections end there
 * @rx_level:	occupancy of the receive buffer, 0..31. Any context
 * @key_add:	take a PSP key, or return an ERR_PTR: the kernel seals or opens
 *		what belongs to it. May sleep; one at a time
 * @key_del:	its association ended, or left, or its address is this host's no
 *		more. May sleep; one at a time
 * @rx_opened:	were all packets of a train authentic by keys of key_add, and
 *		has the NIC decrypted them? They have their PSP headers and the
 *		room of their ICVs still, and the IP and UDP headers speak of as
 *		many bytes as were opened. Arguments as of @rx_stamp. Only what
 *		has the MAC address of the device and the IP address of its key,
 *		without a source route, is opened: PSP authenticates neither, and
 *		a host that forwards would pass on in the clear what somebody on
 *		the way has addressed to himself. A train of which the NIC has
 *		not opened each packet it passes on as it came, or takes apart.
 *		Softirq; a driver with @key_add has it
 */
struct falcon_nic_ops {
	const char *name;
	struct module *owner;
	u64 (*read_counter)(struct falcon_nic *nic);
	u64 (*rx_stamp)(struct falcon_nic *nic, unsigned int napi_id,
			const struct skb_shared_hwtstamps *hw);
	struct falcon_nic_ctx *(*conn_add)(struct falcon_nic *nic,
					   const struct falcon_nic_conn *conn);
	void (*conn_del)(struct falcon_nic *nic, struct falcon_nic_ctx *ctx);
	int (*xmit)(struct falcon_nic *nic, struct falcon_nic_ctx *ctx,
		    struct sk_buff *skb, u8 flow, u64 depart_ns);
	void (*flush)(struct falcon_nic *nic, const struct net *net);
	u8 (*rx_level)(struct falcon_nic *nic);
	struct falcon_nic_sa *(*key_add)(struct falcon_nic *nic,
					 const struct falcon_nic_key *key);
	void (*key_del)(struct falcon_nic *nic, struct falcon_nic_sa *sa);
	bool (*rx_opened)(struct falcon_nic *nic, unsigned int napi_id,
			  const struct skb_shared_hwtstamps *hw);
};

/**
 * struct falcon_nic - a registered NIC, embedded by its driver
 * @ops:	the driver's table
 * @dev:	net device it serves, NULL for the software NIC
 * @list:	of the registry
 * @conns:	connections that use it
 * @keys:	that it has
 * @refs:	their number and one of the registry
 *
 * The driver sets the first two, the registry the others.
 */
struct falcon_nic {
	const struct falcon_nic_ops *ops;
	struct net_device *dev;
	struct list_head list;
	struct list_head conns;
	struct list_head keys;
	refcount_t refs;
};

int falcon_nic_register(struct falcon_nic *nic);
void falcon_nic_unregister(struct falcon_nic *nic);

u64 falcon_nic_iv(struct falcon_nic *nic, struct sk_buff *skb, u64 counter_ps);
int falcon_psp_seal(struct sk_buff *skb, u64 now_ps);
struct falcon_nic_sa *falcon_psp_inline(struct falcon_nic *nic,
					struct sk_buff *skb, u64 now_ps);
int falcon_nic_output(struct sk_buff *skb);
void falcon_nic_hold(struct sk_buff *skb);
void falcon_nic_drop(struct sk_buff *skb);
struct net *falcon_nic_net(const struct sk_buff *skb);

#endif /* _NET_FALCON_NIC_H */
