/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of falcon.ko share: the per-netns state, the connection, and
 * the few functions that each file offers the others.
 *
 * One direction of calls: sockets and verbs -> ulp.c, cm/ -> conn/ -> core/;
 * effects of core -> udp.c -> nic. Nothing below includes anything above.
 *
 * Locks, outermost first: socket lock, falcon_conn::lock, falcon_net::peer_lock.
 * The connection lock is taken with bottom halves disabled; under it nothing
 * transmits, delivers or completes. Look-ups are RCU.
 */
#ifndef _FALCON_H
#define _FALCON_H

#include <linux/hrtimer.h>
#include <linux/in6.h>
#include <linux/refcount.h>
#include <linux/rhashtable-types.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>
#include <net/falcon.h>
#include <net/falcon_nic.h>
#include <net/net_namespace.h>
#include "compat.h"
#include "core/arbiter.h"
#include "core/core.h"
#include "core/resource.h"
#include "core/wire.h"

struct dst_entry;
struct falcon_cm;
struct falcon_cm_sec;
struct falcon_conn;
struct falcon_fae_queue;
struct falcon_host;
struct falcon_hosts;
struct falcon_listener;
struct falcon_psp;
struct falcon_psp_key;
struct falcon_txq;
struct ctl_table_header;
struct sock;
struct socket;

enum falcon_mib {
#define FALCON_MIB(name, text)	FALCON_MIB_##name,
#include "mib.h"
	FALCON_NR_MIB,
};

struct falcon_mib_pcpu {
	u64 v[FALCON_NR_MIB];
};

/*
 * struct falcon_sysctls - net.falcon.*, per netns
 *
 * Each field is one file under /proc/sys/net/falcon with the field's name;
 * Documentation/networking/falcon/sysctl.rst says what it does.
 */
struct falcon_sysctls {
	int cm_port;			/* UDP port of the connection manager */
	int max_conns;			/* connections in the netns */
	int max_half_open;		/* set-ups in progress as responder */
	int max_peers;			/* hosts that have an account */
	int peer_half_open;		/* set-ups in progress for one of them */
	int peer_rate;			/* messages of one a second */
	int peer_conns;			/* connections that one asked for */
	int peer_rx_pkts, peer_rx_bytes; /* network requests of one */
	int cm_retries;			/* retransmissions before ETIMEDOUT */
	int cm_rto_ms;			/* first retransmission */
	int linger_ms;			/* closed connections answer duplicates */
	int quarantine_ms;		/* a CID rests before reuse */
	int flows_ipv4, flows_ipv6;	/* flows of new connections */
	int loss_policy;		/* FALCON_LOSS_* of new connections */
	int max_attempts;		/* Max Retransmit Attempts */
	int user_timeout_ms;		/* time budget for a silent peer */
	int txn_timeout_ms;		/* of a transaction, at its initiator */
	int rto_us, min_rto_us, max_rto_us;
	int ack_coalesce_us, ack_coalesce_pkts;
	int ar_fcwnd, ar_percent;
	int ooo_threshold;
	int gate_flight;		/* fcwnd is of packets in flight */
	int win_shift;			/* receiver windows, times 2^this */
	int delay_target_us;
	int delay_absolute;
	int fae_batch;			/* CC events run together; 0: at once */
	int soft_slack_us;		/* where no device stamps packets */
	int replay_margin_ms;
	int psp_rotate_s;		/* between new device keys; 0: never */
	int train_pkts;			/* most packets in a GSO train */
	int tx_backlog_kb;		/* below a connection, before turns */
	int tx_weight;			/* of new connections in their turns */
	int rx_pool_pkts, rx_pool_bytes; /* network request pools */
	int max_orphans;		/* endpoints that outlive sockets */
	int wmem[3], rmem[3];		/* socket buffers: min default max */
	int psp_versions;		/* of new connections, BIT(version) each */
	int security;			/* FALCON_SECURITY_* of new connections */
	char fae[FALCON_FAE_NAME_MAX];	/* congestion control of new connections */
};

/**
 * struct falcon_net - Falcon in one network namespace
 * @net:	the namespace
 * @conns:	CID -> struct falcon_conn, RCU look-up; a quarantined CID holds
 *		a value entry
 * @nr_conns:	connections whose memory is not freed yet
 * @nr_quarantined: CIDs that rest before they are used again
 * @dest_fn:	own Destination Function (7.2), 24 bits, random: it names the
 *		namespace
 * @key_gen:	current SPI generation (9.2.1)
 * @prev_gen_ok: the one before is accepted as well (9.2.2.3)
 * @res:	resource pools shared by the connections
 * @psp:	psp/key.c: device keys and associations
 * @psp_sk:	UDP sockets of the PSP port: [0] IPv4, [1] IPv6
 * @ports:	they are open, and those of the connection manager
 * @cm:		connection manager
 * @hosts:	cm/host.c: what each host of the network costs
 * @mib:	counters
 * @sysctl:	settings
 * @sysctl_hdr:	their files
 * @reap_work:	ends the rest of quarantined CIDs
 * @peer_lock:	of @peers; innermost
 * @peers:	peer.c: what connections between two hosts share
 * @sock:	sock.c: port table
 */
struct falcon_net {
	struct net *net;
	struct xarray conns;
	atomic_t nr_conns;
	atomic_t nr_quarantined;
	u32 dest_fn;
	u32 key_gen;
	bool prev_gen_ok;
	struct falcon_resources res;
	struct falcon_psp *psp;
	struct socket *psp_sk[2];
	bool ports;
	struct falcon_cm *cm;
	struct falcon_hosts *hosts;
	struct falcon_mib_pcpu __percpu *mib;
	struct falcon_sysctls sysctl;
	struct ctl_table_header *sysctl_hdr;
	struct delayed_work reap_work;	/* quarantined CIDs */
	spinlock_t peer_lock;		/* of @peers */
	struct rhashtable peers;
	void *sock;			/* sock/sock.c: port table */
};

struct falcon_net *falcon_net(struct net *net);

#define FALCON_INC(fn, name)	this_cpu_inc((fn)->mib->v[FALCON_MIB_##name])
#define FALCON_ADD(fn, name, n)	this_cpu_add((fn)->mib->v[FALCON_MIB_##name], n)

/* Connection life cycle. CLOSING: the ULP has let go; duplicates are answered. */
enum falcon_conn_state {
	FALCON_CONN_SETUP,		/* CID reserved, handshake running */
	FALCON_CONN_ESTABLISHED,
	FALCON_CONN_CLOSING,
	FALCON_CONN_DEAD,
};

/**
 * struct falcon_psp_sa - one direction of a connection's PSP association
 * @spi:	SPI, allocated by the receiver; never 0
 * @prev_spi:	receive: accepted during a key rotation
 * @gen:	generation of @spi (9.2.2.3)
 * @version:	FALCON_PSP_VER_*
 * @pcid:	PCID in the virtualization cookie, random
 * @key:	of @spi; NULL: without encryption
 * @prev_key:	of @prev_spi, if that is another
 * @moved_ns:	receive: when the peer was first seen to use @spi, or 0
 */
struct falcon_psp_sa {
	u32 spi;
	u32 prev_spi;
	u32 gen;
	u8  version;
	u64 pcid;
	struct falcon_psp_key __rcu *key;
	struct falcon_psp_key __rcu *prev_key;
	u64 moved_ns;
};

/* falcon_conn::flags */
#define FALCON_CONN_HASHED	BIT(0)	/* in falcon_net::conns */
#define FALCON_CONN_WANT_SPACE	BIT(1)	/* a push was refused for resources */
#define FALCON_CONN_LET_GO	BIT(2)	/* falcon_conn_close() was called */

/**
 * struct falcon_conn - a Falcon connection
 * @refs:	references: one of the table of CIDs until it is dead, one of
 *		the ULP until falcon_conn_close(). Freed after a grace period
 * @lock:	protects @core, @state, @flags, @events, @draining, @again, @txq,
 *		@turn while it does not wait, @rx_sa, @tx_sa, @remote_time,
 *		@held, @sk and the time of @timer
 * @fn:		namespace
 * @cid:	own CID, key of falcon_net::conns
 * @state:	enum falcon_conn_state
 * @flags:	FALCON_CONN_*
 * @events:	BIT(enum falcon_conn_event) that the ULP has yet to be told
 * @draining:	somebody carries effects out
 * @again:	there are more
 * @err:	why it died, negative errno
 * @rx_sa:	PSP association of packets received
 * @tx_sa:	of packets sent
 * @remote_time: newest PSP IV received (9.2.2.2); cm/cm.c sets the first
 * @last_rx_ns:	last packet accepted
 * @core:	the protocol, valid from falcon_conn_start() on
 * @turn:	its place among connections that wait to transmit
 * @txq:	where it waits, or NULL
 * @txq_nr:	which of the transmit queues is its device's
 * @txq_width:	transmit queues of that device, at least 1
 * @ulp:	upper layer; NULL until a responder's request is accepted
 * @ulp_priv:	its own; set with @ulp, not changed after
 * @sk:		charged for packets in flight, or NULL
 * @path:	addresses
 * @dst:	route cache
 * @dst_cookie:	for its check
 * @mtu:	payload bytes that the path takes now; 0 before establishment
 * @flow_port:	UDP source port of each flow; the low two bits are the flow
 * @peer_ttl:	initial TTL of the peer's packets
 * @nic:	device that stamps and paces, never NULL; RCU
 * @nic_ctx:	its context on a NIC, or NULL; RCU
 * @nic_node:	in the list of users of @nic
 * @nic_seq:	of @nic and @nic_off_ps together
 * @nic_off_ps:	the connection's time less the counter of @nic
 * @nic_gen:	NICs there had been when it chose @nic
 * @iv_last:	newest IV taken; only goes up
 * @stamp_ns:	RTT samples from before are of another NIC: discarded
 * @slack_target: core's delay target without the slack of software stamps
 * @slack_rto_ns: core's minimum RTO, likewise
 * @slack_coalesce_ns: core's ACK Coalescing Timeout, likewise
 * @timer:	next timer of core, or the end of linger
 * @timer_ns:	when @timer is due
 * @held:	packets opened in SETUP: they run when it is established
 * @nr_held:	how many they are
 * @cm_priv:	cm.c: set-up in progress
 * @cm_sec:	cm/sec.c: secrets of the set-up and of messages after it; NULL
 *		without encryption. Set in SETUP, not changed after
 * @host:	account of the peer, with a reference; NULL: not established yet
 * @host_asked:	the peer asked for it
 * @service:	own socket port or QPN, set by cm/cm.c before the connection is
 *		told to anybody
 * @peer_service: the peer's, likewise
 * @established_ns: when, 0 if it never was
 * @closed_ns:	when the ULP let go
 * @nic_work:	tells NICs that keep contexts
 * @free_work:	after the last reference
 */
struct falcon_conn {
	refcount_t refs;
	spinlock_t lock;	/* bottom halves off; of what is listed above */
	struct falcon_net *fn;
	u32 cid;
	u8  state;
	u8  flags;
	u8  events;
	u8  peer_ttl;
	bool draining;
	bool again;
	int err;
	struct falcon_psp_sa rx_sa;
	struct falcon_psp_sa tx_sa;
	u64 remote_time;
	u64 last_rx_ns;
	struct falcon_core core ____cacheline_aligned;

	struct falcon_turn turn;
	struct falcon_txq *txq;
	u8  txq_nr;
	u16 txq_width;

	const struct falcon_ulp_ops *ulp;
	void *ulp_priv;
	struct sock *sk;
	struct falcon_path path;
	struct dst_entry __rcu *dst;
	u32 dst_cookie;
	u16 mtu;
	__be16 flow_port[FALCON_MAX_FLOWS];
	struct falcon_nic __rcu *nic;
	struct falcon_nic_ctx __rcu *nic_ctx;
	struct list_head nic_node;
	seqcount_spinlock_t nic_seq;
	unsigned int nic_gen;
	u64 nic_off_ps;
	atomic64_t iv_last;
	u64 stamp_ns;
	u64 slack_rto_ns;
	u32 slack_target;
	u32 slack_coalesce_ns;
	struct hrtimer timer;
	u64 timer_ns;
	struct list_head held;
	u8  nr_held;
	void *cm_priv;
	struct falcon_cm_sec *cm_sec;
	struct falcon_host *host;
	bool host_asked;
	u32 service;
	u32 peer_service;
	u64 established_ns;
	u64 closed_ns;
	union {
		struct work_struct nic_work;
		struct rcu_work free_work;
	};
};

/**
 * struct falcon_rx - a packet received, taken apart
 * @psp:	its PSP header
 * @pi:		its Falcon header, if the PSP version leaves it in the clear
 * @meta:	times and marks; conn/rx.c adds what depends on the connection
 * @nic:	whose counter gave @counter_ps; NULL: not read yet
 * @counter_ps:	when it arrived
 * @hw:		what the driver that received it left with the skb
 * @napi_id:	and by which of its queues
 * @saddr:	source address, IPv4 as v4-mapped
 * @iif:	device that it came by
 * @ttl:	TTL or hop limit as received
 */
struct falcon_rx {
	struct falcon_psp_info psp;
	struct falcon_pkt_info pi;
	struct falcon_rx_meta meta;
	const struct falcon_nic *nic;
	u64 counter_ps;
	struct skb_shared_hwtstamps hw;
	unsigned int napi_id;
	struct in6_addr saddr;
	int iif;
	u8  ttl;
};

/* conn/ */
extern struct workqueue_struct *falcon_wq;
struct falcon_conn *falcon_conn_alloc(struct falcon_net *fn,
				      const struct falcon_path *path,
				      const struct falcon_ulp_ops *ulp,
				      void *ulp_priv, gfp_t gfp);
int falcon_conn_accept(struct falcon_conn *conn,
		       const struct falcon_ulp_ops *ulp, void *ulp_priv);
void falcon_conn_kill(struct falcon_conn *conn);
int falcon_conn_start(struct falcon_conn *conn,
		      const struct falcon_core_cfg *cfg);
struct falcon_conn *falcon_conn_lookup(struct falcon_net *fn, u32 cid);
struct falcon_conn *falcon_conn_find_next(struct falcon_net *fn,
					  unsigned long *cid);
void falcon_conn_fail(struct falcon_conn *conn, int err);
void falcon_conn_run(struct falcon_conn *conn);
void falcon_conn_drain(struct falcon_conn *conn);
void falcon_conn_reslacken(struct falcon_conn *conn);
void falcon_conn_turn(struct falcon_conn *conn);
void falcon_conn_set_sk(struct falcon_conn *conn, struct sock *sk);
void falcon_conn_rx(struct falcon_conn *conn, struct sk_buff *skb,
		    struct falcon_rx *rx);
void falcon_conn_timeout(struct falcon_conn *conn);
u32 falcon_conn_events(struct falcon_conn *conn, struct falcon_fae_queue *q,
		       u32 most);
void falcon_conn_cfg_defaults(struct falcon_net *fn, sa_family_t family,
			      struct falcon_core_cfg *cfg);
void falcon_conn_net_init(struct falcon_net *fn);
void falcon_conn_net_exit(struct falcon_net *fn);
int falcon_conn_init(void);
void falcon_conn_exit(void);

/* udp.c: the PSP sockets and what they receive */
int falcon_udp_net_init(struct falcon_net *fn);
void falcon_udp_net_exit(struct falcon_net *fn);

/* udp_tx.c: trains, routes, and the way out */
void falcon_udp_build(struct falcon_conn *conn, const struct falcon_tx *tx,
		      struct sk_buff_head *list);
void falcon_udp_charge(struct falcon_conn *conn, struct sk_buff_head *list);
void falcon_udp_xmit(struct falcon_conn *conn, struct sk_buff_head *list);
u8 falcon_udp_train_pkts(struct falcon_net *fn, u16 mtu);
struct dst_entry *falcon_path_dst(struct falcon_conn *conn);
int falcon_path_mtu(struct falcon_conn *conn);
int falcon_path_route(struct net *net, struct falcon_path *path);
void falcon_udp_tx_exit(void);

/* peer.c */
void falcon_peer_join(struct falcon_conn *conn);
void falcon_peer_leave(struct falcon_conn *conn);
int falcon_peer_net_init(struct falcon_net *fn);
void falcon_peer_net_exit(struct falcon_net *fn);

/* fae.c: congestion control events of a softirq batch */
#define FALCON_FAE_SLOTS	1024	/* of the queue of a CPU */
int falcon_fae_batch_alloc(void);
struct falcon_fae_queue *falcon_fae_batch_queue(const struct falcon_net *fn);
void falcon_fae_batch_end(const struct falcon_net *fn);
void falcon_fae_batch_init(void);
void falcon_fae_batch_exit(void);

/* nic/nic.c */
int falcon_nic_init(void);
void falcon_nic_exit(void);
void falcon_nic_init_conn(struct falcon_conn *conn);
void falcon_nic_attach(struct falcon_conn *conn, struct net_device *dev);
void falcon_nic_detach(struct falcon_conn *conn);
bool falcon_nic_stale(const struct falcon_conn *conn);
bool falcon_nic_stamps(const struct falcon_conn *conn);
void falcon_nic_rekey(struct falcon_conn *conn);
void falcon_nic_key_forget(struct falcon_psp_key *key);
bool falcon_nic_opened(const struct falcon_conn *conn,
		       const struct falcon_psp_key *key,
		       const struct falcon_rx *rx);
u64 falcon_nic_now(struct falcon_conn *conn);
u64 falcon_nic_arrival(struct falcon_conn *conn, struct falcon_rx *rx);
u64 falcon_nic_counter(struct falcon_nic *nic);
u8 falcon_nic_rx_level(struct falcon_nic *nic);
int falcon_nic_xmit(struct falcon_conn *conn, struct sk_buff *skb, u8 flow);
void falcon_nic_flush(struct net *net);

/* nic/turn.c: connections take turns where the device does not keep up */
u32 falcon_txq_room(struct falcon_conn *conn);
void falcon_txq_sent(struct falcon_conn *conn, u32 bytes, bool more);
void *falcon_txq_charge(struct falcon_conn *conn, const struct sk_buff *skb);
void falcon_txq_uncharge(void *charge);
void falcon_txq_leave(struct falcon_conn *conn);
void falcon_txq_device(struct falcon_conn *conn, const struct net_device *dev);
int falcon_txq_init(void);
void falcon_txq_exit(void);

/* nic/soft.c */
extern struct falcon_nic falcon_nic_soft;
int falcon_nic_soft_init(void);
void falcon_nic_soft_exit(void);

/* cm/cm.c */
struct falcon_conn *falcon_cm_connect(struct falcon_net *fn,
				      const struct falcon_cm_params *params,
				      const struct falcon_ulp_ops *ulp,
				      void *ulp_priv);
void falcon_cm_confirmed(struct falcon_conn *conn);
void falcon_cm_release(struct falcon_conn *conn);
void falcon_cm_gone(struct falcon_conn *conn);
void falcon_cm_sec_free(struct falcon_conn *conn);
int falcon_cm_rekey(struct falcon_conn *conn);
void falcon_cm_rekey_end(struct falcon_conn *conn);
u8 falcon_cm_policy(const struct falcon_conn *conn);
u8 falcon_cm_wish(struct falcon_net *fn, u8 wish);
int falcon_cm_change_port(struct falcon_net *fn, u16 port);
int falcon_cm_net_init(struct falcon_net *fn);
int falcon_cm_ports(struct falcon_net *fn);
void falcon_cm_net_exit(struct falcon_net *fn);
int falcon_cm_init(void);
void falcon_cm_exit(void);

/* cm/host.c */
void falcon_host_leave(struct falcon_conn *conn);
struct falcon_pool_state *falcon_host_pool(const struct falcon_conn *conn);
int falcon_host_net_init(struct falcon_net *fn);
void falcon_host_net_exit(struct falcon_net *fn);

/* psp/psp.c */
void falcon_psp_sa_init(struct falcon_psp_sa *sa, u8 version);
u64 falcon_psp_reserve(atomic64_t *last, u64 now_ps, unsigned int nr);

/*
 * nic/nic.c: call @fn for the software NIC and each registered one, in order of
 * registration, under the registry's lock, until it returns non-zero.
 */
int falcon_nic_for_each(int (*fn)(struct falcon_nic *nic, void *arg),
			void *arg);

/* sock/sock.c */
int falcon_sock_init(void);
void falcon_sock_exit(void);
int falcon_sock_net_init(struct falcon_net *fn);
void falcon_sock_net_exit(struct falcon_net *fn);

/* netlink.c, sysctl.c */
int falcon_netlink_init(void);
void falcon_netlink_exit(void);
void falcon_netlink_event(struct falcon_conn *conn, u8 ev, int err);
int falcon_sysctl_init(void);
void falcon_sysctl_exit(void);
int falcon_sysctl_net_init(struct falcon_net *fn);
void falcon_sysctl_net_exit(struct falcon_net *fn);
void falcon_sysctl_defaults(struct falcon_sysctls *s);

#endif /* _FALCON_H */
