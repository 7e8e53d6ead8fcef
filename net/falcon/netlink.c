// SPDX-License-Identifier: GPL-2.0
/*
 * Generic netlink family "falcon": what an operator sees and may end.
 *
 * Everything is of the namespace of the requester's socket. Connections are
 * found under RCU and read one at a time: a snapshot under the connection
 * lock, a message of it after. A dump goes by ascending CID and resumes at the
 * next one: a connection that lives through it is in it exactly once.
 * Every refusal says why in its extended ACK. conn/drain.c calls
 * falcon_netlink_event(); nothing here changes a connection but the kill.
 */
#include <linux/ctype.h>
#include <linux/slab.h>
#include <net/genetlink.h>
#include <net/ipv6.h>
#include <uapi/linux/falcon_netlink.h>
#include "core/fae.h"
#include "falcon.h"
#include "psp/psp.h"
#include "sysctl.h"

static struct genl_family falcon_genl;

/* A flow, and a connection, as they were at one moment. */
struct falcon_flow_snap {
	u32 label;
	u32 fcwnd;
	u32 outstanding;
	u32 delay;
	u32 min_delay;
	u32 target;
	u32 gap;
	u16 sport;
};

struct falcon_conn_snap {
	u32 cid;
	u32 peer_cid;
	u32 service;
	u32 peer_service;
	u32 features;
	u32 ncwnd;
	u32 tx_base[FALCON_NR_WIN];
	u32 tx_next[FALCON_NR_WIN];
	u32 rx_base[FALCON_NR_WIN];
	u32 mtu;
	int err;
	u8  state;
	u8  proto;
	u8  loss;
	u8  nr_flows;
	u8  psp_version;
	u8  security;
	u32 rx_spi;
	u32 rx_prev_spi;
	u32 rx_gen;
	u32 tx_spi;
	u64 age_ms;
	u64 rtt_ns;
	u64 rto_ns;
	char fae[FALCON_FAE_NAME_MAX];
	char nic[FALCON_FAE_NAME_MAX];
	struct falcon_path path;
	struct falcon_flow_snap flow[FALCON_MAX_FLOWS];
	struct falcon_core_stats stats;
};

static u32 falcon_fcwnd_milli(u32 fcwnd)
{
	return ((u64)fcwnd * 1000) >> FALCON_FCWND_SHIFT;
}

static void falcon_flow_snapshot(struct falcon_flow_snap *s,
				 const struct falcon_conn *conn,
				 unsigned int i)
{
	const struct falcon_core_cfg *cfg = &conn->core.cfg;
	const struct falcon_flow *fl = &conn->core.flow[i];

	s->label = fl->label;
	s->fcwnd = fl->fcwnd;
	s->outstanding = fl->outstanding[FALCON_WIN_REQ] +
			 fl->outstanding[FALCON_WIN_DATA];
	s->delay = fl->delay_state;
	/* No delay was measured yet: U32_MAX. */
	s->min_delay = falcon_fae_least(&conn->core, fl);
	if (s->min_delay == U32_MAX)
		s->min_delay = 0;
	s->target = cfg->delay_target;
	if (!cfg->delay_absolute)
		s->target += s->min_delay;
	s->gap = fl->inter_packet_gap;
	s->sport = ntohs(conn->flow_port[i]);
}

static void falcon_conn_snapshot_locked(struct falcon_conn_snap *s,
					const struct falcon_conn *conn)
{
	const struct falcon_core *c = &conn->core;
	const struct falcon_nic *nic;
	unsigned int i;

	lockdep_assert_held(&conn->lock);
	s->cid = conn->cid;
	s->peer_cid = c->cfg.peer_cid;
	s->service = conn->service;
	s->peer_service = conn->peer_service;
	s->features = c->cfg.features;
	s->ncwnd = c->ncwnd;
	for (i = 0; i < FALCON_NR_WIN; i++) {
		s->tx_base[i] = c->tx[i].base;
		s->tx_next[i] = c->tx[i].next;
		s->rx_base[i] = c->rx[i].base;
	}
	s->mtu = conn->mtu;
	s->err = conn->err;
	s->state = conn->state;
	s->proto = conn->ulp ? conn->ulp->proto : 0;
	s->loss = c->cfg.loss;
	s->nr_flows = min_t(unsigned int, c->cfg.nr_flows, FALCON_MAX_FLOWS);
	s->psp_version = conn->tx_sa.version;
	s->security = falcon_cm_policy(conn);
	s->rx_spi = conn->rx_sa.spi;
	s->rx_prev_spi = conn->rx_sa.prev_spi;
	s->rx_gen = conn->rx_sa.gen;
	s->tx_spi = conn->tx_sa.spi;
	if (conn->established_ns)
		s->age_ms = div_u64(ktime_get_ns() - conn->established_ns,
				    NSEC_PER_MSEC);
	s->rtt_ns = c->srtt_ns;
	s->rto_ns = c->rto_ns;
	/* What a dead connection used may be gone with its module. */
	if (conn->state != FALCON_CONN_DEAD) {
		if (c->cfg.fae)
			strscpy(s->fae, c->cfg.fae->name, sizeof(s->fae));
		nic = rcu_dereference(conn->nic);
		if (nic)
			strscpy(s->nic, nic->ops->name, sizeof(s->nic));
	}
	s->path = conn->path;
	for (i = 0; i < s->nr_flows; i++)
		falcon_flow_snapshot(&s->flow[i], conn, i);
	s->stats = c->stats;
}

static void falcon_conn_snapshot(struct falcon_conn_snap *s,
				 struct falcon_conn *conn)
{
	memset(s, 0, sizeof(*s));
	rcu_read_lock();
	spin_lock_bh(&conn->lock);
	falcon_conn_snapshot_locked(s, conn);
	spin_unlock_bh(&conn->lock);
	rcu_read_unlock();
}

/* Counters of a connection: attribute, offset, name and meaning in one row. */
#define FALCON_COUNTER(_attr, _name, _field, _help)			\
	[FALCON_A_COUNTER_##_attr] = {					\
		.name	= _name,					\
		.help	= _help,					\
		.offset	= offsetof(struct falcon_core_stats, _field),	\
	}

static const struct falcon_counter_desc {
	const char *name;
	const char *help;
	size_t offset;
} falcon_counters[__FALCON_A_COUNTER_MAX] = {
	FALCON_COUNTER(TX_PKTS, "tx_pkts", tx_pkts,
		       "reliable packets sent, with retransmissions"),
	FALCON_COUNTER(TX_BYTES, "tx_bytes", tx_bytes,
		       "payload bytes sent, first transmissions"),
	FALCON_COUNTER(RX_PKTS, "rx_pkts", rx_pkts,
		       "reliable packets received"),
	FALCON_COUNTER(RX_BYTES, "rx_bytes", rx_bytes,
		       "payload bytes of packets accepted"),
	FALCON_COUNTER(TX_ACKS, "tx_acks", tx_acks, "BACKs sent"),
	FALCON_COUNTER(TX_EACKS, "tx_eacks", tx_eacks, "EACKs sent"),
	FALCON_COUNTER(TX_NACKS, "tx_nacks", tx_nacks, "NACKs sent"),
	FALCON_COUNTER(RX_ACKS, "rx_acks", rx_acks, "BACKs received"),
	FALCON_COUNTER(RX_EACKS, "rx_eacks", rx_eacks, "EACKs received"),
	FALCON_COUNTER(RX_NACKS, "rx_nacks", rx_nacks, "NACKs received"),
	FALCON_COUNTER(TX_RESYNCS, "tx_resyncs", tx_resyncs, "resyncs sent"),
	FALCON_COUNTER(RX_RESYNCS, "rx_resyncs", rx_resyncs,
		       "resyncs received"),
	FALCON_COUNTER(RETX_OOO, "retx_ooo", retx[FALCON_RETX_OOO],
		       "retransmissions: out-of-order distance"),
	FALCON_COUNTER(RETX_OWN, "retx_own", retx[FALCON_RETX_OWN],
		       "retransmissions: out-of-window notification"),
	FALCON_COUNTER(RETX_RACK, "retx_rack", retx[FALCON_RETX_RACK],
		       "retransmissions: RACK"),
	FALCON_COUNTER(RETX_TLP, "retx_tlp", retx[FALCON_RETX_TLP],
		       "retransmissions: tail loss probe"),
	FALCON_COUNTER(RETX_RTO, "retx_rto", retx[FALCON_RETX_RTO],
		       "retransmissions: time-out"),
	FALCON_COUNTER(RETX_RNR, "retx_rnr", retx[FALCON_RETX_RNR],
		       "retransmissions: receiver was not ready"),
	FALCON_COUNTER(SPURIOUS, "spurious", spurious,
		       "retransmissions shown needless by the peer"),
	FALCON_COUNTER(RX_DUP, "rx_dup", rx_dup,
		       "packets received again"),
	FALCON_COUNTER(RX_OUT_OF_WINDOW, "rx_out_of_window", rx_out_of_window,
		       "packets dropped: beyond the receiver window"),
	FALCON_COUNTER(RX_NO_RESOURCE, "rx_no_resource", rx_no_resource,
		       "packets dropped: receive pools exhausted"),
	FALCON_COUNTER(RX_BAD_ACK, "rx_bad_ack", rx_bad_ack,
		       "ACKs and NACKs refused: stale, or of what was not sent"),
	FALCON_COUNTER(RX_BAD_PKT, "rx_bad_pkt", rx_bad_pkt,
		       "packets dropped: violations of the protocol"),
	FALCON_COUNTER(RTT_SAMPLES, "rtt_samples", rtt_samples,
		       "round-trip samples taken"),
	FALCON_COUNTER(RELABELS, "relabels", relabels,
		       "path changes of PLB and PRR"),
};

static u64 falcon_counter(const struct falcon_core_stats *stats,
			  unsigned int attr)
{
	return *(const u64 *)((const char *)stats +
			      falcon_counters[attr].offset);
}

static int falcon_put_addr(struct sk_buff *skb, int attr, sa_family_t family,
			   const struct in6_addr *addr)
{
	if (family == AF_INET)
		return nla_put_in_addr(skb, attr, addr->s6_addr32[3]);
	return nla_put_in6_addr(skb, attr, addr);
}

static int falcon_put_u64(struct sk_buff *skb, int attr, u64 v)
{
	BUILD_BUG_ON(FALCON_A_CONN_PAD != 1 || FALCON_A_FLOW_PAD != 1 ||
		     FALCON_A_COUNTER_PAD != 1 || FALCON_A_STAT_PAD != 1 ||
		     FALCON_A_NIC_PAD != 1);
	return nla_put_u64_64bit(skb, attr, v, FALCON_A_CONN_PAD);
}

static int falcon_put_flow(struct sk_buff *skb,
			   const struct falcon_flow_snap *s, unsigned int i)
{
	struct nlattr *nest = nla_nest_start(skb, FALCON_A_CONN_FLOW);

	if (!nest ||
	    nla_put_u8(skb, FALCON_A_FLOW_INDEX, i) ||
	    nla_put_u32(skb, FALCON_A_FLOW_LABEL, s->label) ||
	    nla_put_u16(skb, FALCON_A_FLOW_SPORT, s->sport) ||
	    nla_put_u32(skb, FALCON_A_FLOW_FCWND_MILLI,
			falcon_fcwnd_milli(s->fcwnd)) ||
	    nla_put_u32(skb, FALCON_A_FLOW_UNACKED, s->outstanding) ||
	    falcon_put_u64(skb, FALCON_A_FLOW_DELAY_NS,
			   falcon_units_to_ns(s->delay)) ||
	    falcon_put_u64(skb, FALCON_A_FLOW_MIN_DELAY_NS,
			   falcon_units_to_ns(s->min_delay)) ||
	    falcon_put_u64(skb, FALCON_A_FLOW_TARGET_NS,
			   falcon_units_to_ns(s->target)) ||
	    falcon_put_u64(skb, FALCON_A_FLOW_GAP_NS,
			   falcon_units_to_ns(s->gap)))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int falcon_put_counters(struct sk_buff *skb,
			       const struct falcon_core_stats *stats)
{
	struct nlattr *nest = nla_nest_start(skb, FALCON_A_CONN_COUNTERS);
	unsigned int i;

	if (!nest)
		return -EMSGSIZE;
	for (i = FALCON_A_COUNTER_TX_PKTS; i <= FALCON_A_COUNTER_MAX; i++)
		if (falcon_put_u64(skb, i, falcon_counter(stats, i)))
			return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/* Who talks to whom. */
static int falcon_put_identity(struct sk_buff *skb,
			       const struct falcon_conn_snap *s)
{
	const struct falcon_path *path = &s->path;

	if (nla_put_u32(skb, FALCON_A_CONN_CID, s->cid) ||
	    nla_put_u32(skb, FALCON_A_CONN_PEER_CID, s->peer_cid) ||
	    nla_put_u8(skb, FALCON_A_CONN_STATE, s->state) ||
	    (s->err && nla_put_u32(skb, FALCON_A_CONN_ERROR, abs(s->err))) ||
	    nla_put_u8(skb, FALCON_A_CONN_FAMILY, path->family) ||
	    falcon_put_addr(skb, FALCON_A_CONN_SADDR, path->family,
			    &path->saddr) ||
	    falcon_put_addr(skb, FALCON_A_CONN_DADDR, path->family,
			    &path->daddr) ||
	    nla_put_u8(skb, FALCON_A_CONN_PROTO, s->proto) ||
	    nla_put_u32(skb, FALCON_A_CONN_SERVICE, s->service) ||
	    nla_put_u32(skb, FALCON_A_CONN_PEER_SERVICE, s->peer_service) ||
	    (path->oif &&
	     nla_put_u32(skb, FALCON_A_CONN_IFINDEX, path->oif)) ||
	    (path->mark && nla_put_u32(skb, FALCON_A_CONN_MARK, path->mark)))
		return -EMSGSIZE;
	return 0;
}

/* What was agreed, and how it fares. */
static int falcon_put_state(struct sk_buff *skb,
			    const struct falcon_conn_snap *s)
{
	u32 fcwnd = 0, unacked = 0;
	unsigned int i;

	for (i = 0; i < s->nr_flows; i++) {
		fcwnd += s->flow[i].fcwnd;
		unacked += s->flow[i].outstanding;
	}
	if (((s->features & FALCON_F_ORDERED) &&
	     nla_put_flag(skb, FALCON_A_CONN_ORDERED)) ||
	    nla_put_u8(skb, FALCON_A_CONN_PSP_VERSION, s->psp_version) ||
	    nla_put_u8(skb, FALCON_A_CONN_SECURITY, s->security) ||
	    nla_put_u32(skb, FALCON_A_CONN_MTU, s->mtu) ||
	    nla_put_string(skb, FALCON_A_CONN_FAE, s->fae) ||
	    nla_put_string(skb, FALCON_A_CONN_NIC, s->nic) ||
	    nla_put_u32(skb, FALCON_A_CONN_LOSS, s->loss) ||
	    falcon_put_u64(skb, FALCON_A_CONN_AGE_MS, s->age_ms) ||
	    falcon_put_u64(skb, FALCON_A_CONN_RTT_NS, s->rtt_ns) ||
	    falcon_put_u64(skb, FALCON_A_CONN_RTO_NS, s->rto_ns) ||
	    nla_put_u32(skb, FALCON_A_CONN_FCWND_MILLI,
			falcon_fcwnd_milli(fcwnd)) ||
	    nla_put_u32(skb, FALCON_A_CONN_NCWND, s->ncwnd) ||
	    nla_put_u32(skb, FALCON_A_CONN_UNACKED, unacked))
		return -EMSGSIZE;
	return 0;
}

/* SPIs are no secret where they stand before a packet that is authentic. */
static int falcon_put_keys(struct sk_buff *skb, const struct falcon_conn_snap *s)
{
	if (s->psp_version == FALCON_PSP_VER_NONE)
		return 0;
	if (nla_put_u32(skb, FALCON_A_CONN_RX_SPI, s->rx_spi) ||
	    (s->rx_prev_spi != s->rx_spi &&
	     nla_put_u32(skb, FALCON_A_CONN_RX_PREV_SPI, s->rx_prev_spi)) ||
	    nla_put_u32(skb, FALCON_A_CONN_RX_GEN, s->rx_gen) ||
	    nla_put_u32(skb, FALCON_A_CONN_TX_SPI, s->tx_spi))
		return -EMSGSIZE;
	return 0;
}

static int falcon_put_windows(struct sk_buff *skb,
			      const struct falcon_conn_snap *s)
{
	if (nla_put_u32(skb, FALCON_A_CONN_TX_REQ_BASE,
			s->tx_base[FALCON_WIN_REQ]) ||
	    nla_put_u32(skb, FALCON_A_CONN_TX_REQ_NEXT,
			s->tx_next[FALCON_WIN_REQ]) ||
	    nla_put_u32(skb, FALCON_A_CONN_TX_DATA_BASE,
			s->tx_base[FALCON_WIN_DATA]) ||
	    nla_put_u32(skb, FALCON_A_CONN_TX_DATA_NEXT,
			s->tx_next[FALCON_WIN_DATA]) ||
	    nla_put_u32(skb, FALCON_A_CONN_RX_REQ_BASE,
			s->rx_base[FALCON_WIN_REQ]) ||
	    nla_put_u32(skb, FALCON_A_CONN_RX_DATA_BASE,
			s->rx_base[FALCON_WIN_DATA]))
		return -EMSGSIZE;
	return 0;
}

/* A message of @s, whole or not at all. @ev: notifications, otherwise 0. */
static int falcon_conn_fill(struct sk_buff *skb,
			    const struct falcon_conn_snap *s, u8 cmd, u32 portid,
			    u32 seq, int flags, u8 ev,
			    struct user_namespace *user_ns)
{
	unsigned int i;
	void *hdr;

	hdr = genlmsg_put(skb, portid, seq, &falcon_genl, flags, cmd);
	if (!hdr)
		return -EMSGSIZE;
	if ((ev && nla_put_u8(skb, FALCON_A_CONN_EVENT, ev)) ||
	    falcon_put_identity(skb, s) ||
	    nla_put_u32(skb, FALCON_A_CONN_UID,
			from_kuid_munged(user_ns, s->path.uid)) ||
	    falcon_put_state(skb, s) || falcon_put_keys(skb, s) ||
	    falcon_put_windows(skb, s))
		goto cancel;
	for (i = 0; i < s->nr_flows; i++)
		if (falcon_put_flow(skb, &s->flow[i], i))
			goto cancel;
	if (falcon_put_counters(skb, &s->stats))
		goto cancel;
	genlmsg_end(skb, hdr);
	return 0;

cancel:
	genlmsg_cancel(skb, hdr);
	return -EMSGSIZE;
}

/* The connection that FALCON_A_CONN_CID names, with a reference. */
static struct falcon_conn *falcon_nl_conn(struct genl_info *info)
{
	struct nlattr *attr = info->attrs[FALCON_A_CONN_CID];
	struct falcon_conn *conn;

	if (!attr) {
		NL_SET_ERR_MSG(info->extack, "a connection id is needed");
		return ERR_PTR(-EINVAL);
	}
	if (nla_get_u32(attr) & ~FALCON_CID_MASK) {
		NL_SET_ERR_MSG_ATTR(info->extack, attr,
				    "a connection id has 24 bits");
		return ERR_PTR(-ERANGE);
	}
	conn = falcon_conn_lookup(falcon_net(genl_info_net(info)),
				  nla_get_u32(attr));
	if (conn)
		return conn;
	NL_SET_ERR_MSG_ATTR(info->extack, attr,
			    "no connection has this id in this namespace");
	return ERR_PTR(-ENOENT);
}

static int falcon_nl_conn_get(struct sk_buff *skb, struct genl_info *info)
{
	struct falcon_conn_snap snap;
	struct falcon_conn *conn;
	struct sk_buff *reply;
	int err;

	conn = falcon_nl_conn(info);
	if (IS_ERR(conn))
		return PTR_ERR(conn);
	falcon_conn_snapshot(&snap, conn);
	falcon_conn_put(conn);

	reply = genlmsg_new(NLMSG_GOODSIZE, GFP_KERNEL);
	if (!reply) {
		NL_SET_ERR_MSG(info->extack, "no memory for the answer");
		return -ENOMEM;
	}
	err = falcon_conn_fill(reply, &snap, FALCON_CMD_CONN_GET,
			       info->snd_portid, info->snd_seq, 0, 0,
			       sk_user_ns(NETLINK_CB(skb).sk));
	if (err) {
		nlmsg_free(reply);
		return err;
	}
	return genlmsg_reply(reply, info);
}

static int falcon_nl_conn_kill(struct sk_buff *skb, struct genl_info *info)
{
	struct net *net = genl_info_net(info);
	struct falcon_conn *conn;

	if (!netlink_ns_capable(skb, net->user_ns, CAP_NET_ADMIN)) {
		NL_SET_ERR_MSG(info->extack,
			       "killing a connection needs CAP_NET_ADMIN");
		return -EPERM;
	}
	conn = falcon_nl_conn(info);
	if (IS_ERR(conn))
		return PTR_ERR(conn);
	falcon_conn_kill(conn);
	falcon_conn_put(conn);
	return 0;
}

static int falcon_nl_key_rotate(struct sk_buff *skb, struct genl_info *info)
{
	struct net *net = genl_info_net(info);
	int err;

	if (!netlink_ns_capable(skb, net->user_ns, CAP_NET_ADMIN)) {
		NL_SET_ERR_MSG(info->extack,
			       "rotating keys needs CAP_NET_ADMIN");
		return -EPERM;
	}
	err = falcon_psp_rotate(falcon_net(net));
	if (err == -EBUSY)
		NL_SET_ERR_MSG(info->extack,
			       "peers are still moving to the keys before");
	return err;
}

/* What a dump is asked for; addresses as prefixes of v4-mapped ones. */
struct falcon_conn_filter {
	bool has_cid;
	u32 cid;
	u32 states;
	u8  family;
	u8  proto;
	bool has_service;
	bool has_peer_service;
	u32 service;
	u32 peer_service;
	struct in6_addr saddr;
	struct in6_addr daddr;
	u8  saddr_len;
	u8  daddr_len;
};

static int falcon_filter_addr(const struct nlattr *addr,
			      const struct nlattr *plen,
			      struct in6_addr *out, u8 *out_len,
			      struct netlink_ext_ack *extack)
{
	u8 skip = 0;

	if (!addr) {
		if (!plen)
			return 0;
		NL_SET_ERR_MSG_ATTR(extack, plen,
				    "a prefix length without its address");
		return -EINVAL;
	}
	if (nla_len(addr) == sizeof(struct in_addr)) {
		ipv6_addr_set_v4mapped(nla_get_in_addr(addr), out);
		skip = 96;
	} else if (nla_len(addr) == sizeof(struct in6_addr)) {
		*out = nla_get_in6_addr(addr);
	} else {
		NL_SET_ERR_MSG_ATTR(extack, addr,
				    "an address has 4 or 16 bytes");
		return -EINVAL;
	}
	if (plen && nla_get_u8(plen) > 128 - skip) {
		NL_SET_ERR_MSG_ATTR(extack, plen,
				    "prefix longer than the address");
		return -ERANGE;
	}
	*out_len = plen ? nla_get_u8(plen) + skip : 128;
	return 0;
}

static int falcon_filter_parse(struct falcon_conn_filter *f,
			       struct nlattr **a,
			       struct netlink_ext_ack *extack)
{
	int err;

	memset(f, 0, sizeof(*f));
	f->has_cid = a[FALCON_A_CONN_CID];
	if (f->has_cid)
		f->cid = nla_get_u32(a[FALCON_A_CONN_CID]);
	f->states = a[FALCON_A_CONN_STATES] ?
		nla_get_u32(a[FALCON_A_CONN_STATES]) : ~0U;
	if (a[FALCON_A_CONN_FAMILY]) {
		f->family = nla_get_u8(a[FALCON_A_CONN_FAMILY]);
		if (f->family != AF_INET && f->family != AF_INET6) {
			NL_SET_ERR_MSG_ATTR(extack, a[FALCON_A_CONN_FAMILY],
					    "neither AF_INET nor AF_INET6");
			return -EAFNOSUPPORT;
		}
	}
	if (a[FALCON_A_CONN_PROTO])
		f->proto = nla_get_u8(a[FALCON_A_CONN_PROTO]);
	f->has_service = a[FALCON_A_CONN_SERVICE];
	if (f->has_service)
		f->service = nla_get_u32(a[FALCON_A_CONN_SERVICE]);
	f->has_peer_service = a[FALCON_A_CONN_PEER_SERVICE];
	if (f->has_peer_service)
		f->peer_service = nla_get_u32(a[FALCON_A_CONN_PEER_SERVICE]);
	err = falcon_filter_addr(a[FALCON_A_CONN_SADDR],
				 a[FALCON_A_CONN_SADDR_LEN],
				 &f->saddr, &f->saddr_len, extack);
	if (err)
		return err;
	return falcon_filter_addr(a[FALCON_A_CONN_DADDR],
				  a[FALCON_A_CONN_DADDR_LEN],
				  &f->daddr, &f->daddr_len, extack);
}

static bool falcon_filter_match(const struct falcon_conn_filter *f,
				const struct falcon_conn_snap *s)
{
	const struct falcon_path *path = &s->path;

	return (!f->has_cid || f->cid == s->cid) &&
	       (f->states & BIT(s->state)) &&
	       (!f->family || f->family == path->family) &&
	       (!f->proto || f->proto == s->proto) &&
	       (!f->has_service || f->service == s->service) &&
	       (!f->has_peer_service || f->peer_service == s->peer_service) &&
	       ipv6_prefix_equal(&f->saddr, &path->saddr, f->saddr_len) &&
	       ipv6_prefix_equal(&f->daddr, &path->daddr, f->daddr_len);
}

struct falcon_dump_ctx {
	unsigned long next;	/* CID or index to go on with */
	void *snap;		/* counters as they were at the start */
};

static struct falcon_dump_ctx *falcon_dump_ctx(struct netlink_callback *cb)
{
	BUILD_BUG_ON(sizeof(struct falcon_dump_ctx) > sizeof(cb->ctx));
	return (struct falcon_dump_ctx *)cb->ctx;
}

/* The next connection at @cid or above, as it is; false after the last. */
static bool falcon_conn_next(struct falcon_net *fn, unsigned long *cid,
			     struct falcon_conn_snap *snap)
{
	struct falcon_conn *conn;

	for (;; ++*cid) {
		rcu_read_lock();
		conn = xa_find(&fn->conns, cid, FALCON_CID_MASK, XA_PRESENT);
		/* A value is a CID in quarantine. */
		if (conn && !xa_is_value(conn))
			falcon_conn_snapshot(snap, conn);
		rcu_read_unlock();
		if (!xa_is_value(conn))
			return conn;
		cond_resched();
	}
}

static int falcon_nl_conn_dump(struct sk_buff *skb,
			       struct netlink_callback *cb)
{
	struct falcon_net *fn = falcon_net(sock_net(skb->sk));
	struct falcon_dump_ctx *ctx = falcon_dump_ctx(cb);
	struct falcon_conn_filter filter;
	struct falcon_conn_snap snap;
	int err;

	err = falcon_filter_parse(&filter, falcon_dump_attrs(cb), cb->extack);
	if (err)
		return err;

	for (; falcon_conn_next(fn, &ctx->next, &snap); ctx->next++) {
		cond_resched();
		if (!falcon_filter_match(&filter, &snap))
			continue;
		err = falcon_conn_fill(skb, &snap, FALCON_CMD_CONN_GET,
				       NETLINK_CB(cb->skb).portid,
				       cb->nlh->nlmsg_seq, NLM_F_MULTI, 0,
				       sk_user_ns(NETLINK_CB(cb->skb).sk));
		if (err)
			break;
	}
	return skb->len ? skb->len : err;
}

/**
 * falcon_netlink_event - tell monitors that a connection's life cycle moved
 * @conn:	the connection; its lock is not held
 * @ev:		FALCON_NL_EVENT_*
 * @err:	negative errno of an abort or a failure, otherwise 0
 *
 * Costs a look at the listeners' bitmap where nobody listens. A message that
 * cannot be made shows as ENOBUFS at the listeners.
 *
 * Context: any but hard interrupt.
 */
void falcon_netlink_event(struct falcon_conn *conn, u8 ev, int err)
{
	struct net *net = conn->fn->net;
	struct falcon_conn_snap snap;
	struct sk_buff *skb;

	if (!genl_has_listeners(&falcon_genl, net, 0))
		return;
	skb = genlmsg_new(NLMSG_GOODSIZE, GFP_ATOMIC);
	if (!skb)
		goto lost;
	falcon_conn_snapshot(&snap, conn);
	if (err)
		snap.err = err;
	if (falcon_conn_fill(skb, &snap, FALCON_CMD_CONN_NTF, 0, 0, 0, ev,
			     net->user_ns)) {
		nlmsg_free(skb);
		goto lost;
	}
	genlmsg_multicast_netns(&falcon_genl, net, skb, 0, 0, GFP_ATOMIC);
	return;

lost:
	genl_set_err(&falcon_genl, net, 0, 0, -ENOBUFS);
}

/* Counters are dumped as they were when the dump began. */
struct falcon_stat_snap {
	bool of_conn;
	u32 cid;
	union {
		u64 mib[FALCON_NR_MIB];
		struct falcon_core_stats conn;
	};
};

static const struct {
	const char *name;
	const char *help;
} falcon_mib[FALCON_NR_MIB] = {
#define FALCON_MIB(_name, _help)	{ .name = #_name, .help = _help },
#include "mib.h"
};

static void falcon_mib_snapshot(u64 *sum, const struct falcon_net *fn)
{
	unsigned int i;
	int cpu;

	for_each_possible_cpu(cpu) {
		const struct falcon_mib_pcpu *p = per_cpu_ptr(fn->mib, cpu);

		for (i = 0; i < FALCON_NR_MIB; i++)
			sum[i] += READ_ONCE(p->v[i]);
	}
}

/*
 * Taken by the first call of a dump, not by its start: a refusal there would
 * have no extended ACK on older kernels.
 */
static struct falcon_stat_snap *falcon_stat_snapshot(struct falcon_net *fn,
						     struct nlattr *cid,
						     struct netlink_ext_ack *extack)
{
	struct falcon_stat_snap *snap;
	struct falcon_conn *conn;

	snap = kzalloc(sizeof(*snap), GFP_KERNEL);
	if (!snap)
		return ERR_PTR(-ENOMEM);
	if (!cid) {
		falcon_mib_snapshot(snap->mib, fn);
		return snap;
	}
	snap->of_conn = true;
	snap->cid = nla_get_u32(cid);
	conn = falcon_conn_lookup(fn, snap->cid);
	if (!conn) {
		kfree(snap);
		NL_SET_ERR_MSG_ATTR(extack, cid,
				    "no connection has this id in this namespace");
		return ERR_PTR(-ENOENT);
	}
	spin_lock_bh(&conn->lock);
	snap->conn = conn->core.stats;
	spin_unlock_bh(&conn->lock);
	falcon_conn_put(conn);
	return snap;
}

static int falcon_nl_stat_done(struct netlink_callback *cb)
{
	kfree(falcon_dump_ctx(cb)->snap);
	return 0;
}

static int falcon_stat_fill(struct sk_buff *skb, struct netlink_callback *cb,
			    const struct falcon_stat_snap *snap,
			    const char *name, const char *help, u64 value)
{
	char lower[32];
	unsigned int i;
	void *hdr;

	for (i = 0; name[i] && i < sizeof(lower) - 1; i++)
		lower[i] = tolower(name[i]);
	lower[i] = '\0';

	hdr = genlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq,
			  &falcon_genl, NLM_F_MULTI, FALCON_CMD_STAT_GET);
	if (!hdr)
		return -EMSGSIZE;
	if ((snap->of_conn &&
	     nla_put_u32(skb, FALCON_A_STAT_CID, snap->cid)) ||
	    nla_put_string(skb, FALCON_A_STAT_NAME, lower) ||
	    falcon_put_u64(skb, FALCON_A_STAT_VALUE, value) ||
	    nla_put_string(skb, FALCON_A_STAT_HELP, help)) {
		genlmsg_cancel(skb, hdr);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, hdr);
	return 0;
}

static int falcon_nl_stat_dump(struct sk_buff *skb,
			       struct netlink_callback *cb)
{
	struct falcon_dump_ctx *ctx = falcon_dump_ctx(cb);
	struct falcon_stat_snap *snap = ctx->snap;
	unsigned long n;
	int err = 0;

	if (!snap) {
		snap = falcon_stat_snapshot(falcon_net(sock_net(skb->sk)),
					    falcon_dump_attrs(cb)[FALCON_A_STAT_CID],
					    cb->extack);
		if (IS_ERR(snap))
			return PTR_ERR(snap);
		ctx->snap = snap;
	}
	n = snap->of_conn ? FALCON_A_COUNTER_MAX - FALCON_A_COUNTER_PAD :
			    FALCON_NR_MIB;
	for (; ctx->next < n && !err; ctx->next += !err) {
		unsigned int i = ctx->next;

		if (!snap->of_conn) {
			err = falcon_stat_fill(skb, cb, snap,
					       falcon_mib[i].name,
					       falcon_mib[i].help,
					       snap->mib[i]);
			continue;
		}
		i += FALCON_A_COUNTER_TX_PKTS;
		err = falcon_stat_fill(skb, cb, snap, falcon_counters[i].name,
				       falcon_counters[i].help,
				       falcon_counter(&snap->conn, i));
	}
	return skb->len ? skb->len : err;
}

static u32 falcon_nic_offloads(const struct falcon_nic_ops *ops)
{
	return (ops->read_counter ? FALCON_NIC_OFFLOAD_STAMP : 0) |
	       (ops->conn_add ? FALCON_NIC_OFFLOAD_CONN : 0) |
	       (ops->xmit ? FALCON_NIC_OFFLOAD_XMIT : 0) |
	       (ops->rx_level ? FALCON_NIC_OFFLOAD_LEVEL : 0) |
	       (ops->key_add ? FALCON_NIC_OFFLOAD_KEY : 0) |
	       (ops->rx_stamp ? FALCON_NIC_OFFLOAD_ARRIVAL : 0);
}

struct falcon_nic_dump {
	struct sk_buff *skb;
	struct netlink_callback *cb;
	unsigned long index;
};

static int falcon_nic_fill(struct falcon_nic *nic, void *arg)
{
	struct falcon_nic_dump *d = arg;
	struct sk_buff *skb = d->skb;
	const struct falcon_nic_ops *ops = nic->ops;
	struct falcon_dump_ctx *ctx = falcon_dump_ctx(d->cb);
	void *hdr;

	if (nic->dev && !net_eq(dev_net(nic->dev), sock_net(skb->sk)))
		return 0;
	if (d->index++ < ctx->next)
		return 0;
	hdr = genlmsg_put(skb, NETLINK_CB(d->cb->skb).portid,
			  d->cb->nlh->nlmsg_seq, &falcon_genl, NLM_F_MULTI,
			  FALCON_CMD_NIC_GET);
	if (!hdr)
		return -EMSGSIZE;
	if (nla_put_string(skb, FALCON_A_NIC_NAME, ops->name) ||
	    (nic->dev &&
	     (nla_put_u32(skb, FALCON_A_NIC_IFINDEX, nic->dev->ifindex) ||
	      nla_put_string(skb, FALCON_A_NIC_IFNAME, nic->dev->name))) ||
	    nla_put_u32(skb, FALCON_A_NIC_OFFLOADS, falcon_nic_offloads(ops)) ||
	    (nic->dev && nla_put_u32(skb, FALCON_A_NIC_USERS,
				     refcount_read(&nic->refs) - 1)) ||
	    falcon_put_u64(skb, FALCON_A_NIC_COUNTER_PS,
			   falcon_nic_counter(nic)) ||
	    nla_put_u8(skb, FALCON_A_NIC_RX_LEVEL, falcon_nic_rx_level(nic))) {
		genlmsg_cancel(skb, hdr);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, hdr);
	ctx->next = d->index;
	return 0;
}

static int falcon_nl_nic_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct falcon_nic_dump d = { .skb = skb, .cb = cb };
	int err = falcon_nic_for_each(falcon_nic_fill, &d);

	return skb->len ? skb->len : err;
}

static int falcon_param_fill(struct sk_buff *skb, struct netlink_callback *cb,
			     const struct falcon_net *fn,
			     const struct falcon_param *p)
{
	void *hdr;

	hdr = genlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq,
			  &falcon_genl, NLM_F_MULTI, FALCON_CMD_PARAM_GET);
	if (!hdr)
		return -EMSGSIZE;
	if (nla_put_string(skb, FALCON_A_PARAM_NAME, p->name) ||
	    nla_put_s32(skb, FALCON_A_PARAM_VALUE,
			falcon_param_get(&fn->sysctl, p)) ||
	    nla_put_s32(skb, FALCON_A_PARAM_DEFAULT, p->def) ||
	    nla_put_s32(skb, FALCON_A_PARAM_LEAST, p->min) ||
	    nla_put_s32(skb, FALCON_A_PARAM_MOST, p->max) ||
	    nla_put_string(skb, FALCON_A_PARAM_HELP, p->help)) {
		genlmsg_cancel(skb, hdr);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, hdr);
	return 0;
}

static int falcon_nl_param_dump(struct sk_buff *skb,
				struct netlink_callback *cb)
{
	struct falcon_net *fn = falcon_net(sock_net(skb->sk));
	struct falcon_dump_ctx *ctx = falcon_dump_ctx(cb);
	int err = 0;

	while (ctx->next < falcon_nr_params) {
		err = falcon_param_fill(skb, cb, fn, &falcon_params[ctx->next]);
		if (err)
			break;
		ctx->next++;
	}
	return skb->len ? skb->len : err;
}

static const struct nla_policy falcon_conn_kill_policy[] = {
	[FALCON_A_CONN_CID]		= { .type = NLA_U32 },
};

static const struct nla_policy falcon_conn_get_policy[] = {
	[FALCON_A_CONN_CID]		= { .type = NLA_U32 },
	[FALCON_A_CONN_STATES]		= NLA_POLICY_MASK(NLA_U32, 0xf),
	[FALCON_A_CONN_FAMILY]		= { .type = NLA_U8 },
	[FALCON_A_CONN_SADDR]		= { .type = NLA_BINARY, .len = 16 },
	[FALCON_A_CONN_DADDR]		= { .type = NLA_BINARY, .len = 16 },
	[FALCON_A_CONN_SADDR_LEN]	= { .type = NLA_U8 },
	[FALCON_A_CONN_DADDR_LEN]	= { .type = NLA_U8 },
	[FALCON_A_CONN_PROTO]		= NLA_POLICY_RANGE(NLA_U8, 1, 7),
	[FALCON_A_CONN_SERVICE]		= { .type = NLA_U32 },
	[FALCON_A_CONN_PEER_SERVICE]	= { .type = NLA_U32 },
};

static const struct nla_policy falcon_stat_policy[] = {
	[FALCON_A_STAT_CID]		= { .type = NLA_U32 },
};

static const struct genl_ops falcon_genl_ops[] = {
	{
		.cmd		= FALCON_CMD_CONN_GET,
		.doit		= falcon_nl_conn_get,
		.dumpit		= falcon_nl_conn_dump,
		.policy		= falcon_conn_get_policy,
		.maxattr	= ARRAY_SIZE(falcon_conn_get_policy) - 1,
	},
	{
		.cmd		= FALCON_CMD_CONN_KILL,
		.doit		= falcon_nl_conn_kill,
		.policy		= falcon_conn_kill_policy,
		.maxattr	= ARRAY_SIZE(falcon_conn_kill_policy) - 1,
	},
	{
		.cmd		= FALCON_CMD_KEY_ROTATE,
		.doit		= falcon_nl_key_rotate,
	},
	{
		.cmd		= FALCON_CMD_STAT_GET,
		.dumpit		= falcon_nl_stat_dump,
		.done		= falcon_nl_stat_done,
		.policy		= falcon_stat_policy,
		.maxattr	= ARRAY_SIZE(falcon_stat_policy) - 1,
	},
	{
		.cmd		= FALCON_CMD_NIC_GET,
		.dumpit		= falcon_nl_nic_dump,
	},
	{
		.cmd		= FALCON_CMD_PARAM_GET,
		.dumpit		= falcon_nl_param_dump,
	},
};

static const struct genl_multicast_group falcon_genl_mcgrps[] = {
	{ .name = FALCON_GENL_MCGRP_CONN },
};

static struct genl_family falcon_genl __ro_after_init = {
	.name		= FALCON_GENL_NAME,
	.version	= FALCON_GENL_VERSION,
	.netnsok	= true,
	.parallel_ops	= true,
	.module		= THIS_MODULE,
	.ops		= falcon_genl_ops,
	.n_ops		= ARRAY_SIZE(falcon_genl_ops),
	.resv_start_op	= __FALCON_CMD_MAX,
	.mcgrps		= falcon_genl_mcgrps,
	.n_mcgrps	= ARRAY_SIZE(falcon_genl_mcgrps),
};

/**
 * falcon_netlink_init - register the family
 *
 * Context: module init, after the pernet operations, which make what requests
 * read, and before sockets, whose connections make events.
 * Return: 0 or a negative errno.
 */
int falcon_netlink_init(void)
{
	return genl_register_family(&falcon_genl);
}

/**
 * falcon_netlink_exit - unregister the family
 *
 * Context: may sleep; waits for requests that are running.
 */
void falcon_netlink_exit(void)
{
	genl_unregister_family(&falcon_genl);
}
