// SPDX-License-Identifier: GPL-2.0
/*
 * The ops table that Falcon sees, over the other files. dev.c and netdev.c
 * start and stop it. No flush: a port leaves its namespace closed, before
 * connections end there, and drops what waits.
 */
#include <linux/module.h>
#include "e2100sim.h"

static u64 e2100_op_counter(struct falcon_nic *nic)
{
	return e2100_counter(&e2100_nic_port(nic)->dev->clock);
}

static u64 e2100_op_rx_stamp(struct falcon_nic *nic, unsigned int napi_id,
			     const struct skb_shared_hwtstamps *hw)
{
	return e2100_rx_stamp(e2100_nic_port(nic), napi_id, hw);
}

static struct falcon_nic_ctx *
e2100_op_conn_add(struct falcon_nic *nic, const struct falcon_nic_conn *conn)
{
	return e2100_ctx_add(e2100_nic_port(nic), conn);
}

static void e2100_op_conn_del(struct falcon_nic *nic,
			      struct falcon_nic_ctx *ctx)
{
	e2100_ctx_del(e2100_nic_port(nic), ctx);
}

static int e2100_op_xmit(struct falcon_nic *nic, struct falcon_nic_ctx *ctx,
			 struct sk_buff *skb, u8 flow, u64 depart_ns)
{
	return e2100_tx_falcon(e2100_nic_port(nic), ctx, skb, depart_ns);
}

static u8 e2100_op_rx_level(struct falcon_nic *nic)
{
	return e2100_rx_level(e2100_nic_port(nic));
}

static struct falcon_nic_sa *
e2100_op_key_add(struct falcon_nic *nic, const struct falcon_nic_key *key)
{
	return e2100_key_add(e2100_nic_port(nic), key);
}

static void e2100_op_key_del(struct falcon_nic *nic, struct falcon_nic_sa *sa)
{
	e2100_key_del(e2100_nic_port(nic), sa);
}

static bool e2100_op_rx_opened(struct falcon_nic *nic, unsigned int napi_id,
			       const struct skb_shared_hwtstamps *hw)
{
	return e2100_rx_opened(e2100_nic_port(nic), napi_id, hw);
}

static const struct falcon_nic_ops e2100_falcon_ops = {
	.name		= E2100_NAME,
	.owner		= THIS_MODULE,
	.read_counter	= e2100_op_counter,
	.rx_stamp	= e2100_op_rx_stamp,
	.conn_add	= e2100_op_conn_add,
	.conn_del	= e2100_op_conn_del,
	.xmit		= e2100_op_xmit,
	.rx_level	= e2100_op_rx_level,
	.key_add	= e2100_op_key_add,
	.key_del	= e2100_op_key_del,
	.rx_opened	= e2100_op_rx_opened,
};

/**
 * e2100_falcon_start - offer a port to Falcon
 * @port:	port
 *
 * Context: process, may sleep.
 * Return: 0 or a negative errno.
 */
int e2100_falcon_start(struct e2100_port *port)
{
	int err;

	port->nic.ops = &e2100_falcon_ops;
	port->nic.dev = port->netdev;
	err = falcon_nic_register(&port->nic);
	port->registered = !err;
	return err;
}

/**
 * e2100_falcon_stop - take it back
 * @port:	port
 *
 * Context: process, may sleep; not under rtnl.
 */
void e2100_falcon_stop(struct e2100_port *port)
{
	if (port->registered)
		falcon_nic_unregister(&port->nic);
	port->registered = false;
	e2100_tx_flush(port);
}
