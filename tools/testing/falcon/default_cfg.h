/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The configuration that programs in user space begin with: the kernel's
 * defaults for RDMA (falcon_conn_cfg_defaults()), but for one path, no software
 * between packet and stamp, and more patience. What a program has otherwise it
 * says where it calls this.
 */
#ifndef _FALCON_DEFAULT_CFG_H
#define _FALCON_DEFAULT_CFG_H

#include "net/falcon/core/core.h"

static inline void falcon_default_cfg(struct falcon_core_cfg *cfg)
{
	*cfg = (struct falcon_core_cfg) {
		.cid = 1,
		.peer_cid = 2,
		.features = FALCON_F_ORDERED | FALCON_F_EACK_ALWAYS,
		.loss = FALCON_LOSS_RACK | FALCON_LOSS_TLP,
		.proto = FALCON_PROTO_RDMA,
		.nr_flows = 1,
		.max_attempts = 255,
		.tx_win = { FALCON_TX_WIN_MAX, FALCON_TX_WIN_MAX },
		.rx_win = { FALCON_RX_WIN_REQ, FALCON_RX_WIN_DATA },
		.mtu = 4096,
		.rto_ns = 1000000,
		.min_rto_ns = 250000,
		.max_rto_ns = 1000000000,
		.ack_coalesce_ns = 8000,
		.ack_coalesce_pkts = 10,
		.ar_fcwnd = 2,
		.ar_percent = 10,
		.ar_last_bytes = 1,
		.ooo_threshold = 3,
		.delay_target = 191,
		.fae = &falcon_fae_swift,
	};
}

#endif /* _FALCON_DEFAULT_CFG_H */
