// SPDX-License-Identifier: GPL-2.0
/*
 * What one end of a connection offers: from a ULP's wish and the settings of
 * the netns to a message, and from the peer's message to what packets must
 * carry. How two offers become one is in core/cm_wire.c. Both roles call in.
 */
#include <linux/math64.h>
#include <linux/random.h>
#include <net/inet_ecn.h>

#include "cm/cm.h"

/**
 * falcon_cm_set_addr() - where the messages of a set-up go
 * @s:		set-up
 * @conn:	its connection
 * @port:	UDP port of the peer
 *
 * They take the way of the connection's packets, but have no congestion
 * control.
 */
void falcon_cm_set_addr(struct falcon_cm_setup *s,
			const struct falcon_conn *conn, __be16 port)
{
	s->peer.path = conn->path;
	s->peer.path.tclass &= ~INET_ECN_MASK;
	s->peer.port = port;
}

/**
 * falcon_cm_set_peer() - what packets to and from a peer carry (9.2.1)
 * @conn:	connection, not locked
 * @m:		INIT or ACCEPT of the peer
 * @version:	PSP version agreed
 *
 * Context: Any but hard interrupts.
 */
void falcon_cm_set_peer(struct falcon_conn *conn, const struct falcon_cm_msg *m,
			u8 version)
{
	spin_lock_bh(&conn->lock);
	/* With encryption the associations come sealed, from elsewhere. */
	if (version == FALCON_PSP_VER_NONE) {
		conn->rx_sa.version = version;
		conn->tx_sa.version = version;
		conn->tx_sa.spi = m->spi;
		conn->tx_sa.prev_spi = m->spi;
	}
	conn->tx_sa.pcid = m->pcid;
	conn->remote_time = m->time_ps;
	conn->peer_ttl = m->ttl;
	spin_unlock_bh(&conn->lock);
}

/**
 * falcon_cm_fill_cfg() - own settings of a connection
 * @fn:		namespace
 * @p:		what the ULP wants; the rest is by sysctl
 * @cfg:	written whole; has a reference of its congestion control
 *
 * Context: Any.
 */
void falcon_cm_fill_cfg(struct falcon_net *fn, const struct falcon_cm_params *p,
			struct falcon_core_cfg *cfg)
{
	falcon_conn_cfg_defaults(fn, p->path.family, cfg);
	cfg->proto = p->proto;
	cfg->gapless = p->gapless;
	if (p->nr_flows)
		cfg->nr_flows = p->nr_flows;
	if (p->loss != FALCON_CM_BY_SYSCTL)
		cfg->loss = p->loss;
	if (p->fae) {
		falcon_fae_hold(p->fae);
		falcon_fae_put(cfg->fae);
		cfg->fae = p->fae;
	}
	if (p->user_timeout_ms)
		cfg->user_timeout_ns = (u64)p->user_timeout_ms * NSEC_PER_MSEC;
	if (p->txn_timeout_ms == FALCON_CM_NO_TIMEOUT)
		cfg->txn_timeout_ns = 0;
	else if (p->txn_timeout_ms)
		cfg->txn_timeout_ns = (u64)p->txn_timeout_ms * NSEC_PER_MSEC;
}

static u32 cm_features(const struct falcon_cm_params *p,
		       const struct falcon_core_cfg *cfg)
{
	u32 features = cfg->features & ~FALCON_F_ORDERED;

	/* 9.1.6: only RACK wants to know at once what has arrived. */
	if (!(cfg->loss & FALCON_LOSS_RACK))
		features &= ~FALCON_F_EACK_ALWAYS;
	return features | (p->ordered ? FALCON_F_ORDERED : 0);
}

/**
 * falcon_cm_fill_offer() - this end's words, in INIT as in ACCEPT
 * @conn:	connection, its path set
 * @p:		what the ULP wants
 * @cfg:	own settings
 * @m:		filled with FALCON_CM_HAS_PARAMS, but for nonce and PSP versions
 *
 * Context: Process or softirq.
 * Return: 0; a negative errno of routing; -EMSGSIZE if the path takes no packet
 * of FALCON_CM_MTU_MIN bytes.
 */
int falcon_cm_fill_offer(struct falcon_conn *conn,
			 const struct falcon_cm_params *p,
			 const struct falcon_core_cfg *cfg,
			 struct falcon_cm_msg *m)
{
	int mtu = falcon_path_mtu(conn), i;

	if (mtu < 0)
		return mtu;
	if (p->max_mtu)
		mtu = min_t(int, mtu, p->max_mtu);
	if (mtu < FALCON_CM_MTU_MIN)
		return -EMSGSIZE;

	m->present = FALCON_CM_HAS_PARAMS;
	m->cid = conn->cid;
	m->fn = conn->fn->dest_fn;
	m->spi = conn->rx_sa.spi;
	m->pcid = conn->rx_sa.pcid;
	m->rsn = get_random_u32();
	for (i = 0; i < FALCON_NR_WIN; i++) {
		m->psn[i] = get_random_u32();
		m->rx_win[i] = cfg->rx_win[i];
	}
	m->mtu = mtu;
	m->ttl = conn->path.ttl;
	m->nr_flows = cfg->nr_flows;
	for (i = 0; i < FALCON_MAX_FLOWS; i++)
		m->flow_port[i] = be16_to_cpu(conn->flow_port[i]);
	m->rto_us = div_u64(cfg->rto_ns, NSEC_PER_USEC);
	m->min_rto_us = div_u64(cfg->min_rto_ns, NSEC_PER_USEC);
	m->max_rto_us = div_u64(cfg->max_rto_ns, NSEC_PER_USEC);
	memcpy(m->credits, p->credits, sizeof(m->credits));
	m->features = cm_features(p, cfg);
	m->time_ps = falcon_nic_now(conn);
	return 0;
}
