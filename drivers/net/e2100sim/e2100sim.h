/* SPDX-License-Identifier: GPL-2.0 */
/*
 * e2100sim: an emulated NIC that offers Falcon what hardware would. This is
 * what its files share.
 *
 * A device (bus.c, dev.c) has a free-running counter and a PHC over it
 * (clock.c), devlink parameters, and ports. A port (netdev.c) is a netdev. What
 * it transmits (tx.c) waits on a timing wheel (wheel.c) for its departure and
 * for the link; on the wire (wire.c) it suffers faults (fault.c) and ends at
 * another port, or leaves by a lower netdev. What arrives (rx.c) is stamped and
 * waits in the receive buffer until the bus has taken it. ctx.c is the cache of
 * connection contexts, psp.c the engine that seals and opens, falcon.c the ops
 * table.
 *
 * Locks: e2100_dev::lock (mutex), rtnl, then the spin locks of queues, which
 * are never held together, bottom halves off.
 */
#ifndef _E2100SIM_H
#define _E2100SIM_H

#include <linux/device.h>
#include <linux/hashtable.h>
#include <linux/hrtimer.h>
#include <linux/mutex.h>
#include <linux/net_tstamp.h>
#include <linux/netdevice.h>
#include <linux/ptp_clock_kernel.h>
#include <linux/seqlock.h>
#include <linux/timecounter.h>
#include <net/devlink.h>
#include <net/falcon_nic.h>
#include "compat.h"
#include "wheel.h"

#define E2100_NAME		"e2100sim"
#define E2100_MAX_PORTS		64
#define E2100_MAX_QUEUES	16
#define E2100_RING_DEFAULT	8192
#define E2100_RING_MAX		131072
#define E2100_LINK_MAX		1000000		/* Mb/s */
/* Preamble, frame check and gap between frames. */
#define E2100_WIRE_OVERHEAD	24
#define E2100_CTX_BITS		12
#define E2100_SA_BITS		10
#define E2100_PS_PER_MS		1000000000ULL

struct e2100_dev;
struct e2100_port;

/**
 * struct e2100_bus_dev - a device on the bus
 * @dev:	in the driver model
 * @list:	of all
 * @net:	while it is made: namespace in which its ports begin
 * @nr_ports:	ports
 * @nr_queues:	queues of each, in either direction
 */
struct e2100_bus_dev {
	struct device dev;
	struct list_head list;
	struct net *net;
	unsigned int nr_ports;
	unsigned int nr_queues;
};

/* devlink parameters, each a u32; dev.c has their names and bounds. */
enum e2100_param {
	E2100_P_CACHE_ENTRIES,		/* contexts; 0: all are at hand */
	E2100_P_CACHE_HIT_NS,
	E2100_P_CACHE_MISS_NS,
	E2100_P_RX_BUFFER_KB,
	E2100_P_PCIE_MBPS,		/* 0: as fast as it comes */
	E2100_P_LINK_MBPS,		/* 0: as fast as it comes */
	E2100_P_COUNTER_MS,		/* where the counter begins */
	E2100_P_PSP_KEYS,		/* places for keys, of a port */
	E2100_P_MAX_CONTEXTS,		/* places for contexts, of a port */
	E2100_NR_PARAM,
};

/**
 * struct e2100_clock - the free-running counter, and the PHC over it
 * @seq:	of the four fields that follow
 * @base_ns:	ktime at which the counter was @base_ps
 * @base_ps:	its value then
 * @since_ps:	its value when it began
 * @drift_ppb:	how much faster than ktime it runs
 * @lock:	of @cc and @tc; bottom halves off
 * @cc:		what the PHC counts: 1.024 ns of the counter
 * @tc:		the PHC's time
 * @info:	of the PHC
 * @ptp:	the PHC
 */
struct e2100_clock {
	seqlock_t seq;
	u64 base_ns;
	u64 base_ps;
	u64 since_ps;
	s32 drift_ppb;
	spinlock_t lock;	/* @cc and @tc */
	struct cyclecounter cc;
	struct timecounter tc;
	struct ptp_clock_info info;
	struct ptp_clock *ptp;
};

/**
 * struct e2100_dev - a device; devlink's private data
 * @bus_dev:	on the bus
 * @clock:	counter and PHC
 * @lock:	resets and removal, one at a time
 * @param:	by enum e2100_param
 * @dead:	hangs: nothing goes in or out until it is reset
 * @resets:	since it was made
 * @health:	devlink health reporter
 * @dir:	debugfs
 * @nr_ports:	of @port
 * @port:	ports
 */
struct e2100_dev {
	struct e2100_bus_dev *bus_dev;
	struct e2100_clock clock;
	struct mutex lock;	/* resets and removal */
	u32 param[E2100_NR_PARAM];
	bool dead;
	u32 resets;
	struct devlink_health_reporter *health;
	struct dentry *dir;
	unsigned int nr_ports;
	struct e2100_port *port[];
};

/* What an skb on the wheel waits for. */
enum e2100_wait {
	E2100_PACED,		/* its departure; then the link */
	E2100_FALCON,		/* the link; then it is sealed */
	E2100_FRAME,		/* the link */
	E2100_DELAYED,		/* the end of a delay on the wire */
};

/**
 * struct e2100_desc - an entry of a transmit ring
 * @node:	on the wheel, or in the list of free ones; first
 * @skb:	what waits
 * @wait:	enum e2100_wait
 * @waiting:	on the wheel
 */
struct e2100_desc {
	struct e2100_wheel_node node;
	struct sk_buff *skb;
	u8 wait;
	bool waiting;
};

/**
 * struct e2100_txq - a transmit queue
 * @port:	port
 * @lock:	of all that follows; bottom halves off
 * @timer:	next departure, softirq
 * @timer_ns:	when; E2100_WHEEL_IDLE: never
 * @engine_ns:	the engine has looked up the contexts of what came before
 * @wheel:	what waits; NULL while the port is down
 * @ring:	descriptors
 * @free:	those that are not in use
 */
struct e2100_txq {
	struct e2100_port *port;
	spinlock_t lock;	/* all that follows */
	struct hrtimer timer;
	u64 timer_ns;
	u64 engine_ns;
	struct e2100_wheel *wheel;
	struct e2100_desc *ring;
	struct e2100_wheel_node *free;
};

/**
 * struct e2100_rxq - a receive queue
 * @port:	port
 * @napi:	its poll
 * @ring:	what has arrived; its own lock
 * @timer:	when the bus has taken the first
 */
struct e2100_rxq {
	struct e2100_port *port;
	struct napi_struct napi;
	struct sk_buff_head ring;
	struct hrtimer timer;
};

/* What the wire does to packets, by debugfs. */
enum e2100_fault {
	E2100_F_DROP,
	E2100_F_REORDER,
	E2100_F_DUPLICATE,
	E2100_F_CORRUPT,
	E2100_NR_FAULT,
};

/**
 * struct e2100_faults - of a port's wire, in the direction out
 * @ppm:	packets in a million, by enum e2100_fault
 * @delay_us:	of every packet
 * @reorder_us:	more of those that are reordered
 * @lock:	of @rnd
 * @rnd:	generator
 */
struct e2100_faults {
	u32 ppm[E2100_NR_FAULT];
	u32 delay_us;
	u32 reorder_us;
	spinlock_t lock;	/* @rnd */
	u64 rnd;
};

/* Counters of a port, as ethtool -S names them (ethtool.c). */
enum e2100_stat {
	E2100_S_TX_PACED,
	E2100_S_TX_FALCON,
	E2100_S_TX_STALE,
	E2100_S_TX_NO_DESC,
	E2100_S_TX_DOWN,
	E2100_S_RX_FALCON,
	E2100_S_RX_STAMPED,
	E2100_S_RX_BUFFER_FULL,
	E2100_S_RX_DOWN,
	E2100_S_RX_NO_MEM,
	E2100_S_CTX_ADDED,
	E2100_S_CTX_DELETED,
	E2100_S_CTX_REFUSED,
	E2100_S_CTX_HIT,
	E2100_S_CTX_MISS,
	E2100_S_CTX_NONE,
	E2100_S_PSP_ADDED,
	E2100_S_PSP_DELETED,
	E2100_S_PSP_SEALED,
	E2100_S_PSP_OPENED,
	E2100_S_PSP_NOT_OPENED,
	E2100_S_FAULT_DROP,
	E2100_S_FAULT_REORDER,
	E2100_S_FAULT_DUPLICATE,
	E2100_S_FAULT_CORRUPT,
	E2100_NR_STAT,
};

/**
 * struct e2100_cache - contexts of connections, some of them at hand
 * @lock:	of all fields; bottom halves off
 * @hash:	all, by CID; RCU look-up
 * @lru:	those at hand, most recently used first
 * @nr:		contexts
 * @nr_cached:	of them at hand
 */
struct e2100_cache {
	spinlock_t lock;	/* all fields */
	DECLARE_HASHTABLE(hash, E2100_CTX_BITS);
	struct list_head lru;
	unsigned int nr;
	unsigned int nr_cached;
};

/**
 * struct e2100_port - a port; private data of its netdev
 * @netdev:	netdev
 * @dev:	device
 * @index:	of the device's ports
 * @nr_queues:	of @txq and @rxq
 * @txq:	transmit queues
 * @rxq:	receive queues
 * @peer:	wire: another port; RCU, changed under rtnl
 * @lower:	wire: a lower netdev; RCU, changed under rtnl
 * @link_lock:	of @link_ns; bottom halves off
 * @link_ns:	the link is busy until then
 * @pcie_lock:	of @pcie_ns; bottom halves off
 * @pcie_ns:	the bus is busy until then
 * @rx_bytes:	in the receive buffer
 * @tx_ring:	descriptors of a transmit queue
 * @rx_ring:	packets of a receive queue
 * @tstamp:	as SIOCSHWTSTAMP set it
 * @faults:	of the wire
 * @cache:	contexts
 * @sas:	receive keys, by SPI; RCU look-up
 * @nr_keys:	keys, of either direction
 * @opens:	it has had keys: some of what waits may be opened
 * @nic:	what Falcon sees
 * @registered:	@nic is
 * @dir:	debugfs
 * @stat:	by enum e2100_stat
 */
struct e2100_port {
	struct net_device *netdev;
	struct e2100_dev *dev;
	unsigned int index;
	unsigned int nr_queues;
	struct e2100_txq *txq;
	struct e2100_rxq *rxq;
	struct e2100_port __rcu *peer;
	struct net_device __rcu *lower;
	spinlock_t link_lock;	/* @link_ns */
	u64 link_ns;
	spinlock_t pcie_lock;	/* @pcie_ns */
	u64 pcie_ns;
	atomic_t rx_bytes;
	u32 tx_ring;
	u32 rx_ring;
	struct hwtstamp_config tstamp;
	struct e2100_faults faults;
	struct e2100_cache cache;
	DECLARE_HASHTABLE(sas, E2100_SA_BITS);
	u32 nr_keys;
	bool opens;
	struct falcon_nic nic;
	bool registered;
	struct dentry *dir;
	atomic64_t stat[E2100_NR_STAT];
};

#define E2100_INC(port, name)	atomic64_inc(&(port)->stat[E2100_S_##name])

static inline u32 e2100_param(const struct e2100_port *port,
			      enum e2100_param p)
{
	return READ_ONCE(port->dev->param[p]);
}

/* The number of a port's device on the bus, for trace events. */
static inline u32 e2100_id(const struct e2100_port *port)
{
	return port->dev->bus_dev->dev.id;
}

static inline bool e2100_dead(const struct e2100_port *port)
{
	return READ_ONCE(port->dev->dead);
}

static inline struct e2100_port *e2100_nic_port(struct falcon_nic *nic)
{
	return container_of(nic, struct e2100_port, nic);
}

/* bus.c */
int e2100_bus_init(void);
void e2100_bus_exit(void);

/* dev.c */
int e2100_dev_probe(struct e2100_bus_dev *bus_dev);
void e2100_dev_remove(struct e2100_bus_dev *bus_dev);
int e2100_dev_break(struct e2100_dev *dev);

/* clock.c */
int e2100_clock_init(struct e2100_clock *clock, struct device *parent);
void e2100_clock_exit(struct e2100_clock *clock);
void e2100_clock_reset(struct e2100_clock *clock, u64 start_ps);
void e2100_clock_drift(struct e2100_clock *clock, s32 ppb);
u64 e2100_counter(const struct e2100_clock *clock);
bool e2100_counter_was(const struct e2100_clock *clock, u64 ps);
u64 e2100_phc_time(struct e2100_clock *clock, u64 counter_ps);

/* netdev.c */
struct e2100_port *e2100_port_new(struct e2100_dev *dev, unsigned int index);
void e2100_port_free(struct e2100_port *port);
bool e2100_is_port(const struct net_device *netdev);
extern const struct ethtool_ops e2100_ethtool_ops;

/* wire.c */
int e2100_link(struct net_device *a, struct net_device *b);
int e2100_unlink(struct e2100_port *port);
bool e2100_linked(const struct e2100_port *port);
void e2100_carrier(struct e2100_port *port);
void e2100_wire_send(struct e2100_port *port, struct sk_buff *skb);
int e2100_wire_init(void);
void e2100_wire_exit(void);

/* fault.c */
void e2100_faults_init(struct e2100_faults *f);
void e2100_faults_seed(struct e2100_faults *f, u64 seed);
void e2100_wire_xmit(struct e2100_port *port, struct sk_buff *skb);

/* tx.c */
int e2100_tx_open(struct e2100_port *port);
void e2100_tx_stop(struct e2100_port *port);
void e2100_tx_init(struct e2100_port *port);
void e2100_tx_flush(struct e2100_port *port);
unsigned int e2100_tx_waiting(struct e2100_port *port);
bool e2100_tx_delay(struct e2100_port *port, struct sk_buff *skb, u64 due_ns);
netdev_tx_t e2100_start_xmit(struct sk_buff *skb, struct net_device *netdev);
int e2100_tx_falcon(struct e2100_port *port, struct falcon_nic_ctx *ctx,
		    struct sk_buff *skb, u64 depart_ns);

/* rx.c */
void e2100_rx_init(struct e2100_port *port);
void e2100_rx_free(struct e2100_port *port);
void e2100_rx_open(struct e2100_port *port);
void e2100_rx_stop(struct e2100_port *port);
void e2100_rx_flush(struct e2100_port *port);
void e2100_rx(struct e2100_port *port, struct sk_buff *skb);
u8 e2100_rx_level(const struct e2100_port *port);
u64 e2100_rx_stamp(struct e2100_port *port, unsigned int napi_id,
		   const struct skb_shared_hwtstamps *hw);
bool e2100_rx_opened(struct e2100_port *port, unsigned int napi_id,
		     const struct skb_shared_hwtstamps *hw);

/* ctx.c */
void e2100_cache_init(struct e2100_cache *cache);
struct falcon_nic_ctx *e2100_ctx_add(struct e2100_port *port,
				     const struct falcon_nic_conn *conn);
void e2100_ctx_del(struct e2100_port *port, struct falcon_nic_ctx *ctx);
u32 e2100_ctx_tx(struct e2100_port *port, struct falcon_nic_ctx *ctx);
u32 e2100_ctx_rx(struct e2100_port *port, u32 cid);

/* psp.c */
struct falcon_nic_sa *e2100_key_add(struct e2100_port *port,
				    const struct falcon_nic_key *key);
void e2100_key_del(struct e2100_port *port, struct falcon_nic_sa *base);
int e2100_psp_seal(struct falcon_nic_sa *base, struct sk_buff *skb);
bool e2100_psp_open(struct e2100_port *port, struct sk_buff **skb,
		    unsigned int udp);
int e2100_psp_init(void);
void e2100_psp_exit(void);

/* falcon.c */
int e2100_falcon_start(struct e2100_port *port);
void e2100_falcon_stop(struct e2100_port *port);

/* debugfs.c */
void e2100_debugfs_init(void);
void e2100_debugfs_exit(void);
void e2100_debugfs_dev(struct e2100_dev *dev);
void e2100_debugfs_port(struct e2100_port *port);

#endif /* _E2100SIM_H */
