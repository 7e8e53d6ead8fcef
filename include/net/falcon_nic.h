/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The NIC driver ops table: what Falcon hands to hardware.
 *
 * Every op that a NIC lacks (NULL) is served in software by nic_soft.c, so
 * any netdev works; core never knows which NIC it is on.
 */
#ifndef _NET_FALCON_NIC_H
#define _NET_FALCON_NIC_H

#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/skbuff.h>
#include <linux/types.h>

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
 * struct falcon_nic_key - a PSP receive or transmit key
 * @spi:	SPI it belongs to
 * @version:	FALCON_PSP_VER_*
 * @tx:		transmit direction
 * @key:	16 or 32 bytes by @version
 */
struct falcon_nic_key {
	u32 spi;
	u8  version;
	bool tx;
	u8  key[32];
};

/**
 * struct falcon_nic_cb - what skb->cb says of a packet given to xmit
 * @net:	namespace that sends it
 * @depart_ns:	not before this time of ktime_get_ns(); 0: now
 * @stride:	bytes from one PSP header of a train to the next
 * @nr_pkts:	packets of the train; 1: not a train
 *
 * The network and transport headers of the skb are set; the first PSP header
 * follows the UDP header.
 */
struct falcon_nic_cb {
	struct net *net;
	u64 depart_ns;
	u16 stride;
	u16 nr_pkts;
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
 * @read_counter: the free-running counter that stamps packets, picoseconds;
 *		never set, never goes back. Any context
 * @conn_add:	a connection was established on the NIC. May sleep
 * @conn_del:	it ended. May sleep
 * @xmit:	transmit @skb (a full IP packet, may be a UDP GSO train) of flow
 *		@flow, not before @depart_ns on the clock of ktime_get_ns() (0:
 *		now), and write the time of actual departure into each PSP IV:
 *		falcon_psp_reserve(), falcon_psp_seal(), falcon_nic_output().
 *		Consumes @skb. Softirq or process context, bottom halves off.
 *		0 or a negative errno. A driver with this op has @read_counter
 * @rx_level:	occupancy of the receive buffer, 0..31. Any context
 * @key_add:	install a PSP key. May sleep
 * @key_del:	remove it. May sleep
 */
struct falcon_nic_ops {
	const char *name;
	struct module *owner;
	u64 (*read_counter)(struct falcon_nic *nic);
	int (*conn_add)(struct falcon_nic *nic,
			const struct falcon_nic_conn *conn);
	void (*conn_del)(struct falcon_nic *nic,
			 const struct falcon_nic_conn *conn);
	int (*xmit)(struct falcon_nic *nic, struct sk_buff *skb, u8 flow,
		    u64 depart_ns);
	u8 (*rx_level)(struct falcon_nic *nic);
	int (*key_add)(struct falcon_nic *nic,
		       const struct falcon_nic_key *key);
	void (*key_del)(struct falcon_nic *nic,
			const struct falcon_nic_key *key);
};

/**
 * struct falcon_nic - a registered NIC, embedded by its driver
 * @ops:	the driver's table
 * @dev:	net device it serves, NULL for the software NIC
 * @priv:	the driver's own
 * @list:	of the registry
 * @conns:	connections that use it
 * @refs:	their number and one of the registry
 * @gone:	unregistered; connections have been moved off
 *
 * The driver sets the first three, the registry the others.
 */
struct falcon_nic {
	const struct falcon_nic_ops *ops;
	struct net_device *dev;
	void *priv;
	struct list_head list;
	struct list_head conns;
	refcount_t refs;
	bool gone;
};

int falcon_nic_register(struct falcon_nic *nic);
void falcon_nic_unregister(struct falcon_nic *nic);
int falcon_nic_output(struct sk_buff *skb);
u64 falcon_psp_reserve(atomic64_t *last, u64 now_ps, unsigned int nr);
int falcon_psp_seal(struct sk_buff *skb, u64 iv);

#endif /* _NET_FALCON_NIC_H */
