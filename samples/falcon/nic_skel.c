// SPDX-License-Identifier: GPL-2.0
/*
 * A skeleton of a NIC driver for Falcon: the part beside a driver's netdev.
 *
 *	modprobe falcon_nic_skel ifname=eth0
 *
 * offers an existing device to Falcon as if it were a NIC with a counter of
 * its own. What hardware would do is done at once and in software here, in the
 * places where a driver writes to registers and rings. nic-driver.rst explains
 * it line by line; drivers/net/e2100sim is a driver with everything.
 */
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <net/falcon_nic.h>
#include <net/net_namespace.h>

static char *ifname = "eth0";
module_param(ifname, charp, 0444);
MODULE_PARM_DESC(ifname, "device of the initial namespace to offer");

struct skel_ctx {
	struct falcon_nic_ctx base;
	struct rcu_head rcu;
	u32 cid;
};

static struct falcon_nic skel_nic;

/* Hardware: the register of the counter that stamps, converted to ps. */
static u64 skel_counter(struct falcon_nic *nic)
{
	return ktime_get_raw_ns() * 1000;
}

/* Hardware: write the context to the NIC's memory. */
static struct falcon_nic_ctx *skel_conn_add(struct falcon_nic *nic,
					    const struct falcon_nic_conn *conn)
{
	struct skel_ctx *ctx = kzalloc(sizeof(*ctx), GFP_KERNEL);

	if (!ctx)
		return ERR_PTR(-ENOMEM);
	ctx->base.nic = nic;
	ctx->cid = conn->cid;
	return &ctx->base;
}

static void skel_conn_del(struct falcon_nic *nic, struct falcon_nic_ctx *base)
{
	kfree_rcu(container_of(base, struct skel_ctx, base), rcu);
}

/*
 * Hardware: a descriptor with departure time, to be stamped and sealed as it
 * departs. A NIC that cannot wait for @depart_ns leaves xmit NULL: the software
 * NIC paces then, and stamps with the counter above.
 */
static int skel_xmit(struct falcon_nic *nic, struct falcon_nic_ctx *ctx,
		     struct sk_buff *skb, u8 flow, u64 depart_ns)
{
	u64 now_ps = falcon_nic_iv(nic, skb, skel_counter(nic));
	int err = now_ps ? falcon_psp_seal(skb, now_ps) : -ENODEV;

	if (err) {
		falcon_nic_drop(skb);
		return err;
	}
	return falcon_nic_output(skb);
}

static const struct falcon_nic_ops skel_ops = {
	.name		= "skel",
	.owner		= THIS_MODULE,
	.read_counter	= skel_counter,
	.conn_add	= skel_conn_add,
	.conn_del	= skel_conn_del,
	.xmit		= skel_xmit,
};

static int __init skel_init(void)
{
	int err;

	skel_nic.ops = &skel_ops;
	skel_nic.dev = dev_get_by_name(&init_net, ifname);
	if (!skel_nic.dev)
		return -ENODEV;
	err = falcon_nic_register(&skel_nic);
	if (err)
		dev_put(skel_nic.dev);
	return err;
}

static void __exit skel_exit(void)
{
	falcon_nic_unregister(&skel_nic);
	dev_put(skel_nic.dev);
}

module_init(skel_init);
module_exit(skel_exit);

MODULE_LICENSE("GPL");
MODULE_AUTHOR("The Falcon for Linux authors");
MODULE_DESCRIPTION("Skeleton of a NIC driver for Falcon");
