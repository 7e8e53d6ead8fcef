// SPDX-License-Identifier: GPL-2.0
/*
 * A skeleton of a NIC driver for Falcon: the part beside a driver's netdev.
 *
 *	modprobe falcon_nic_skel ifname=eth0
 *
 * offers an existing device to Falcon as if it were a NIC with a counter of
 * its own. What hardware would do is done at once and in software here, in the
 * places where a driver writes to registers and rings. The first part, down to
 * the ops, is what a driver adds; the second is there because the device is
 * somebody else's, and goes when that one likes. nic-driver.rst explains the
 * ops; drivers/net/e2100sim is a driver with everything.
 */
#include <linux/hrtimer.h>
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
static struct sk_buff_head skel_ring;	/* what waits, in its turn */
static struct hrtimer skel_timer;

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

/* As a packet departs, never before: it is stamped, sealed, and gone. */
static int skel_depart(struct falcon_nic *nic, struct sk_buff *skb)
{
	u64 now_ps = falcon_nic_iv(nic, skb, skel_counter(nic));
	int err = now_ps ? falcon_psp_seal(skb, now_ps) : -ENODEV;

	if (err) {
		falcon_nic_drop(skb);
		return err;
	}
	return falcon_nic_output(skb);
}

static void skel_arm(u64 depart_ns)
{
	hrtimer_start(&skel_timer, ns_to_ktime(depart_ns),
		      HRTIMER_MODE_ABS_SOFT);
}

/*
 * Hardware: a descriptor with a departure time. A NIC that cannot wait leaves
 * xmit NULL: the software NIC paces then, and stamps with the counter above.
 */
static int skel_xmit(struct falcon_nic *nic, struct falcon_nic_ctx *ctx,
		     struct sk_buff *skb, u8 flow, u64 depart_ns)
{
	if (depart_ns <= ktime_get_ns())
		return skel_depart(nic, skb);
	falcon_nic_hold(skb);
	skb_queue_tail(&skel_ring, skb);
	if (!hrtimer_is_queued(&skel_timer))
		skel_arm(depart_ns);
	return 0;
}

/* Hardware: its own; here, what is first in the ring holds up the rest. */
static enum hrtimer_restart skel_fire(struct hrtimer *timer)
{
	struct sk_buff *skb;

	while ((skb = skb_dequeue(&skel_ring))) {
		u64 depart_ns = falcon_nic_cb(skb)->depart_ns;

		if (depart_ns > ktime_get_ns()) {
			skb_queue_head(&skel_ring, skb);
			skel_arm(depart_ns);
			break;
		}
		skel_depart(&skel_nic, skb);
	}
	return HRTIMER_NORESTART;
}

/* Hardware: stop the ring; others lose packets by it, which come again. */
static void skel_flush(struct falcon_nic *nic, const struct net *net)
{
	struct sk_buff *skb;

	while ((skb = skb_dequeue(&skel_ring)))
		falcon_nic_drop(skb);
}

static const struct falcon_nic_ops skel_ops = {
	.name		= "skel",
	.owner		= THIS_MODULE,
	.read_counter	= skel_counter,
	.conn_add	= skel_conn_add,
	.conn_del	= skel_conn_del,
	.xmit		= skel_xmit,
	.flush		= skel_flush,
};

/*
 * The device
 */

/* Unplugged: connections go on in software, then what waits is dropped. */
static void skel_remove(struct work_struct *work)
{
	struct net_device *dev = skel_nic.dev;

	if (!dev)
		return;
	falcon_nic_unregister(&skel_nic);
	hrtimer_cancel(&skel_timer);
	skel_flush(&skel_nic, NULL);
	skel_nic.dev = NULL;
	dev_put(dev);
}

static DECLARE_WORK(skel_work, skel_remove);

/*
 * The device goes, which may be said twice. Not here, under rtnl: unregistering
 * may need that.
 */
static int skel_event(struct notifier_block *nb, unsigned long event, void *ptr)
{
	if (event == NETDEV_UNREGISTER &&
	    netdev_notifier_info_to_dev(ptr) == skel_nic.dev)
		schedule_work(&skel_work);
	return NOTIFY_DONE;
}

static struct notifier_block skel_notifier = { .notifier_call = skel_event };

static int __init skel_init(void)
{
	int err;

	skb_queue_head_init(&skel_ring);
	hrtimer_init(&skel_timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
	skel_timer.function = skel_fire;
	skel_nic.ops = &skel_ops;
	skel_nic.dev = dev_get_by_name(&init_net, ifname);
	if (!skel_nic.dev)
		return -ENODEV;
	err = falcon_nic_register(&skel_nic);
	if (err) {
		dev_put(skel_nic.dev);
		return err;
	}
	err = register_netdevice_notifier(&skel_notifier);
	if (err)
		skel_remove(NULL);
	return err;
}

static void __exit skel_exit(void)
{
	unregister_netdevice_notifier(&skel_notifier);
	flush_work(&skel_work);
	skel_remove(NULL);
}

module_init(skel_init);
module_exit(skel_exit);

MODULE_LICENSE("GPL");
MODULE_AUTHOR("The Falcon for Linux authors");
MODULE_DESCRIPTION("Skeleton of a NIC driver for Falcon");
