// SPDX-License-Identifier: GPL-2.0
/*
 * Verbs over Falcon: the device, its port, its counters, how it comes and goes.
 *
 * `rdma link add NAME type falcon netdev DEV` makes one; it goes by `rdma link
 * del`, with its netdev (also when that moves to another namespace), or with the
 * module. GIDs are the core's business: this is a RoCE v2 port to it.
 */
#include <linux/etherdevice.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/utsname.h>
#include <net/addrconf.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_mad.h>
#include <rdma/rdma_netlink.h>
#include "internal.h"

#define FAL_GID_TABLE	1024
#define FAL_VENDOR_ID	0x46414c	/* no OUI: "FAL" */

/**
 * fal_dev_net - the namespace that a device's connections live in
 * @dev:	device
 *
 * Context: under rcu_read_lock(), or while the netdev is known to stay.
 * Return: the namespace of its netdev; NULL once that goes.
 */
struct net *fal_dev_net(struct fal_dev *dev)
{
	struct net_device *ndev;
	struct net *net;

	rcu_read_lock();
	ndev = rcu_dereference(dev->ndev);
	net = ndev ? dev_net(ndev) : NULL;
	rcu_read_unlock();
	return net;
}

/*
 * Device and port
 */

static int fal_query_device(struct ib_device *ibdev,
			    struct ib_device_attr *attr, struct ib_udata *udata)
{
	if (udata->inlen || udata->outlen)
		return -EINVAL;
	memset(attr, 0, sizeof(*attr));
	attr->vendor_id = FAL_VENDOR_ID;
	attr->sys_image_guid = ibdev->node_guid;
	attr->max_mr_size = ~0ULL;
	attr->page_size_cap = PAGE_SIZE;
	attr->max_qp = 0xfffff;
	attr->max_qp_wr = FAL_MAX_WR;
	attr->device_cap_flags = IB_DEVICE_CURR_QP_STATE_MOD |
				 IB_DEVICE_PORT_ACTIVE_EVENT |
				 IB_DEVICE_SYS_IMAGE_GUID |
				 IB_DEVICE_RC_RNR_NAK_GEN |
				 IB_DEVICE_SRQ_RESIZE |
				 IB_DEVICE_MEM_MGT_EXTENSIONS |
				 IB_DEVICE_MEM_WINDOW |
				 IB_DEVICE_MEM_WINDOW_TYPE_2B |
				 IB_DEVICE_XRC;
	attr->kernel_cap_flags = IBK_ALLOW_USER_UNREG;
	attr->max_send_sge = FAL_MAX_SGE;
	attr->max_recv_sge = FAL_MAX_SGE;
	attr->max_sge_rd = FAL_MAX_SGE;
	attr->max_cq = 0xfffff;
	attr->max_cqe = FAL_MAX_CQE;
	attr->max_mr = 0xffffff;
	attr->max_mw = 0xffffff;
	attr->max_pd = 0xfffff;
	attr->max_qp_rd_atom = FAL_MAX_RD_ATOMIC;
	attr->max_qp_init_rd_atom = FAL_MAX_RD_ATOMIC;
	attr->max_res_rd_atom = FAL_MAX_RD_ATOMIC * 0x1000;
	attr->atomic_cap = IB_ATOMIC_HCA;
	attr->max_ah = 0xffffff;
	attr->max_srq = 0xfffff;
	attr->max_srq_wr = FAL_MAX_WR;
	attr->max_srq_sge = FAL_MAX_SGE;
	attr->max_fast_reg_page_list_len = FAL_MAX_FRWR_PAGES;
	attr->max_pkeys = 1;
	attr->timestamp_mask = ~0ULL;
	attr->hca_core_clock = 1000000;		/* kHz: nanoseconds */
	attr->cq_caps.max_cq_moderation_count = U16_MAX;
	attr->cq_caps.max_cq_moderation_period = U16_MAX;
	return 0;
}

/**
 * fal_dev_mtu - the longest datagram
 * @dev:	device
 *
 * Context: any.
 * Return: bytes, the port's active MTU.
 */
u32 fal_dev_mtu(struct fal_dev *dev)
{
	enum ib_mtu mtu = IB_MTU_256;
	struct net_device *ndev;

	rcu_read_lock();
	ndev = rcu_dereference(dev->ndev);
	if (ndev)
		mtu = iboe_get_mtu(READ_ONCE(ndev->mtu));
	rcu_read_unlock();
	return max(ib_mtu_enum_to_int(mtu), 0);
}

static void fal_query_netdev(struct net_device *ndev, struct ib_port_attr *attr)
{
	attr->active_mtu = iboe_get_mtu(READ_ONCE(ndev->mtu));
	if (netif_running(ndev) && netif_carrier_ok(ndev)) {
		attr->state = IB_PORT_ACTIVE;
		attr->phys_state = IB_PORT_PHYS_STATE_LINK_UP;
	} else if (netif_running(ndev)) {
		attr->phys_state = IB_PORT_PHYS_STATE_POLLING;
	}
}

static int fal_query_port(struct ib_device *ibdev, u32 port,
			  struct ib_port_attr *attr)
{
	struct fal_dev *dev = to_fal_dev(ibdev);
	struct net_device *ndev;

	attr->gid_tbl_len = FAL_GID_TABLE;
	attr->pkey_tbl_len = 1;
	attr->max_msg_sz = FAL_MAX_MSG;
	attr->port_cap_flags = IB_PORT_CM_SUP;
	attr->ip_gids = true;
	attr->max_vl_num = 1;
	attr->state = IB_PORT_DOWN;
	attr->phys_state = IB_PORT_PHYS_STATE_DISABLED;
	attr->max_mtu = IB_MTU_4096;
	attr->active_mtu = IB_MTU_256;
	ib_get_eth_speed(ibdev, port, &attr->active_speed, &attr->active_width);

	rcu_read_lock();
	ndev = rcu_dereference(dev->ndev);
	if (ndev)
		fal_query_netdev(ndev, attr);
	rcu_read_unlock();
	return 0;
}

static int fal_query_pkey(struct ib_device *ibdev, u32 port, u16 index,
			  u16 *pkey)
{
	if (index)
		return -EINVAL;
	*pkey = IB_DEFAULT_PKEY_FULL;
	return 0;
}

static int fal_modify_device(struct ib_device *ibdev, int mask,
			     struct ib_device_modify *modify)
{
	if (mask & ~IB_DEVICE_MODIFY_NODE_DESC)
		return -EOPNOTSUPP;
	memcpy(ibdev->node_desc, modify->node_desc, sizeof(ibdev->node_desc));
	return 0;
}

static enum rdma_link_layer fal_get_link_layer(struct ib_device *ibdev,
					       u32 port)
{
	return IB_LINK_LAYER_ETHERNET;
}

static int fal_get_port_immutable(struct ib_device *ibdev, u32 port,
				  struct ib_port_immutable *immutable)
{
	immutable->core_cap_flags = RDMA_CORE_PORT_IBA_ROCE_UDP_ENCAP;
	immutable->gid_tbl_len = FAL_GID_TABLE;
	immutable->pkey_tbl_len = 1;
	immutable->max_mad_size = IB_MGMT_MAD_SIZE;
	return 0;
}

static void fal_get_dev_fw_str(struct ib_device *ibdev, char *str)
{
	snprintf(str, IB_FW_VERSION_NAME_MAX, "%d.0", FALCON_IB_ABI_VERSION);
}

/*
 * Counters
 */

static const struct rdma_stat_desc fal_stat_descs[] = {
	[FAL_STAT_TX_SEND]	= { .name = "tx_send" },
	[FAL_STAT_TX_WRITE]	= { .name = "tx_write" },
	[FAL_STAT_TX_READ]	= { .name = "tx_read" },
	[FAL_STAT_TX_ATOMIC]	= { .name = "tx_atomic" },
	[FAL_STAT_RX_SEND]	= { .name = "rx_send" },
	[FAL_STAT_RX_WRITE]	= { .name = "rx_write" },
	[FAL_STAT_RX_READ]	= { .name = "rx_read" },
	[FAL_STAT_RX_ATOMIC]	= { .name = "rx_atomic" },
	[FAL_STAT_RX_RNR]	= { .name = "rx_rnr" },
	[FAL_STAT_RX_BAD_HDR]	= { .name = "rx_bad_header" },
	[FAL_STAT_RX_BAD_CID]	= { .name = "rx_bad_cid" },
	[FAL_STAT_RX_BAD_SEQ]	= { .name = "rx_bad_sequence" },
	[FAL_STAT_RX_ACCESS]	= { .name = "rx_access_error" },
	[FAL_STAT_UD_DROP]	= { .name = "ud_drop" },
	[FAL_STAT_UD_NO_PEER]	= { .name = "ud_no_peer" },
	[FAL_STAT_CONN_MADE]	= { .name = "connections" },
	[FAL_STAT_CONN_FAILED]	= { .name = "connections_failed" },
	[FAL_STAT_CONN_LOST]	= { .name = "connections_lost" },
	[FAL_STAT_QP_ERROR]	= { .name = "qp_error" },
	[FAL_STAT_BAD_WQE]	= { .name = "bad_wqe" },
	[FAL_STAT_CQ_OVERFLOW]	= { .name = "cq_overflow" },
};

static struct rdma_hw_stats *fal_alloc_hw_port_stats(struct ib_device *ibdev,
						     u32 port)
{
	return rdma_alloc_hw_stats_struct(fal_stat_descs,
					  ARRAY_SIZE(fal_stat_descs),
					  RDMA_HW_STATS_DEFAULT_LIFESPAN);
}

static int fal_get_hw_stats(struct ib_device *ibdev,
			    struct rdma_hw_stats *stats, u32 port, int index)
{
	struct fal_dev *dev = to_fal_dev(ibdev);
	int cpu, i;

	if (!port)
		return -EINVAL;
	for (i = 0; i < FAL_NR_STATS; i++) {
		stats->value[i] = 0;
		for_each_possible_cpu(cpu)
			stats->value[i] += per_cpu_ptr(dev->stats, cpu)->n[i];
	}
	return FAL_NR_STATS;
}

/*
 * Life
 */

static void fal_dealloc_driver(struct ib_device *ibdev)
{
	struct fal_dev *dev = to_fal_dev(ibdev);

	fal_eng_dev_exit(dev);
	WARN_ON_ONCE(!xa_empty(&dev->qps));
	WARN_ON_ONCE(!xa_empty(&dev->mrs));
	xa_destroy(&dev->qps);
	xa_destroy(&dev->srqs);
	xa_destroy(&dev->mrs);
	xa_destroy(&dev->ahs);
	free_percpu(dev->stats);
	put_cred(dev->cred);
	if (rcu_access_pointer(dev->ndev))
		netdev_put(rcu_dereference_protected(dev->ndev, true),
			   &dev->tracker);
}

static const struct ib_device_ops fal_dev_ops = {
	.owner			= THIS_MODULE,
	.driver_id		= FALCON_IB_DRIVER_ID,
	.uverbs_abi_ver		= FALCON_IB_ABI_VERSION,

	.add_gid		= fal_eng_add_gid,
	.alloc_hw_port_stats	= fal_alloc_hw_port_stats,
	.alloc_mr		= fal_alloc_mr,
	.alloc_mw		= fal_alloc_mw,
	.alloc_pd		= fal_alloc_pd,
	.alloc_ucontext		= fal_alloc_ucontext,
	.alloc_xrcd		= fal_alloc_xrcd,
	.create_ah		= fal_create_ah,
	.create_cq		= fal_create_cq,
	.create_qp		= fal_create_qp,
	.create_srq		= fal_create_srq,
	.create_user_ah		= fal_create_ah,
	.dealloc_driver		= fal_dealloc_driver,
	.dealloc_mw		= fal_dealloc_mw,
	.dealloc_pd		= fal_dealloc_pd,
	.dealloc_ucontext	= fal_dealloc_ucontext,
	.dealloc_xrcd		= fal_dealloc_xrcd,
	.del_gid		= fal_eng_del_gid,
	.dereg_mr		= fal_dereg_mr,
	.destroy_ah		= fal_destroy_ah,
	.destroy_cq		= fal_destroy_cq,
	.destroy_qp		= fal_destroy_qp,
	.destroy_srq		= fal_destroy_srq,
	.disassociate_ucontext	= fal_disassociate_ucontext,
	.get_dev_fw_str		= fal_get_dev_fw_str,
	.get_dma_mr		= fal_get_dma_mr,
	.get_hw_stats		= fal_get_hw_stats,
	.get_link_layer		= fal_get_link_layer,
	.get_port_immutable	= fal_get_port_immutable,
	.map_mr_sg		= fal_map_mr_sg,
	.mmap			= fal_mmap,
	.mmap_free		= fal_mmap_free,
	.modify_cq		= fal_modify_cq,
	.modify_device		= fal_modify_device,
	.modify_qp		= fal_modify_qp,
	.modify_srq		= fal_modify_srq,
	.peek_cq		= fal_peek_cq,
	.poll_cq		= fal_poll_cq,
	.post_recv		= fal_post_recv,
	.post_send		= fal_post_send,
	.post_srq_recv		= fal_post_srq_recv,
	.query_ah		= fal_query_ah,
	.query_device		= fal_query_device,
	.query_pkey		= fal_query_pkey,
	.query_port		= fal_query_port,
	.query_qp		= fal_query_qp,
	.query_srq		= fal_query_srq,
	.reg_user_mr		= fal_reg_user_mr,
	.req_notify_cq		= fal_req_notify_cq,
	.rereg_user_mr		= fal_rereg_user_mr,
	.resize_cq		= fal_resize_cq,

	INIT_RDMA_OBJ_SIZE(ib_ah, fal_ah, ibah),
	INIT_RDMA_OBJ_SIZE(ib_cq, fal_cq, ibcq),
	INIT_RDMA_OBJ_SIZE(ib_mw, fal_mw, ibmw),
	INIT_RDMA_OBJ_SIZE(ib_pd, fal_pd, ibpd),
	INIT_RDMA_OBJ_SIZE(ib_qp, fal_qp, ibqp),
	INIT_RDMA_OBJ_SIZE(ib_srq, fal_srq, ibsrq),
	INIT_RDMA_OBJ_SIZE(ib_ucontext, fal_ucontext, ibuc),
	INIT_RDMA_OBJ_SIZE(ib_xrcd, fal_xrcd, ibxrcd),
};

static void fal_dev_setup(struct fal_dev *dev, struct net_device *ndev)
{
	struct ib_device *ibdev = &dev->ibdev;

	dev->cred = get_current_cred();
	spin_lock_init(&dev->ndev_lock);
	xa_init_flags(&dev->qps, XA_FLAGS_ALLOC | XA_FLAGS_LOCK_IRQ);
	xa_init_flags(&dev->srqs, XA_FLAGS_ALLOC | XA_FLAGS_LOCK_IRQ);
	xa_init_flags(&dev->mrs, XA_FLAGS_ALLOC | XA_FLAGS_LOCK_IRQ);
	xa_init_flags(&dev->ahs, XA_FLAGS_ALLOC | XA_FLAGS_LOCK_IRQ);
	dev->next_qpn = get_random_u32_below(0x800000) + 16;
	dev->next_key = get_random_u32_below(0x800000) + 1;

	if (is_valid_ether_addr(ndev->dev_addr))
		addrconf_addr_eui48((u8 *)&ibdev->node_guid, ndev->dev_addr);
	else
		get_random_bytes(&ibdev->node_guid, sizeof(ibdev->node_guid));
	ibdev->node_type = RDMA_NODE_IB_CA;
	ibdev->phys_port_cnt = 1;
	ibdev->num_comp_vectors = num_possible_cpus();
	ibdev->uverbs_cmd_mask |= BIT_ULL(IB_USER_VERBS_CMD_POST_SEND) |
				  BIT_ULL(IB_USER_VERBS_CMD_REQ_NOTIFY_CQ);
	strscpy(ibdev->node_desc, init_utsname()->nodename,
		sizeof(ibdev->node_desc));
	ib_set_device_ops(ibdev, &fal_dev_ops);
}

static int fal_dev_register(struct fal_dev *dev, const char *name,
			    struct net_device *ndev)
{
	int err;

	/* First of all: dealloc_driver runs whatever fails. */
	err = fal_eng_dev_init(dev);
	if (err)
		return err;
	dev->stats = alloc_percpu(struct fal_stats);
	if (!dev->stats)
		return -ENOMEM;
	err = ib_device_set_netdev(&dev->ibdev, ndev, 1);
	if (err)
		goto free_stats;
	netdev_hold(ndev, &dev->tracker, GFP_KERNEL);
	rcu_assign_pointer(dev->ndev, ndev);
	err = ib_register_device(&dev->ibdev, name, NULL);
	if (!err)
		return 0;
	/* From here on dealloc_driver undoes it. */
	return err;
free_stats:
	free_percpu(dev->stats);
	dev->stats = NULL;
	return err;
}

static bool fal_netdev_fits(const struct net_device *ndev)
{
	return ndev->type == ARPHRD_ETHER || ndev->type == ARPHRD_LOOPBACK;
}

static int fal_newlink(const char *name, struct net_device *ndev)
{
	struct ib_device *other;
	struct fal_dev *dev;
	int err;

	if (!fal_netdev_fits(ndev))
		return -EINVAL;
	other = ib_device_get_by_netdev(ndev, FALCON_IB_DRIVER_ID);
	if (other) {
		ib_device_put(other);
		return -EEXIST;
	}
	dev = ib_alloc_device(fal_dev, ibdev);
	if (!dev)
		return -ENOMEM;
	fal_dev_setup(dev, ndev);
	err = fal_dev_register(dev, name, ndev);
	if (err)
		ib_dealloc_device(&dev->ibdev);
	return err;
}

static struct rdma_link_ops fal_link_ops = {
	.type		= "falcon",
	.newlink	= fal_newlink,
};

/*
 * The netdev
 */

static void fal_port_event(struct fal_dev *dev, enum ib_event_type type)
{
	struct ib_event event = {
		.device			= &dev->ibdev,
		.event			= type,
		.element.port_num	= 1,
	};

	ib_dispatch_event(&event);
}

/* Its end, or its way to another namespace: the device ends, from a worker. */
static void fal_netdev_gone(struct fal_dev *dev)
{
	struct net_device *ndev;

	spin_lock(&dev->ndev_lock);
	ndev = rcu_replace_pointer(dev->ndev, NULL,
				   lockdep_is_held(&dev->ndev_lock));
	spin_unlock(&dev->ndev_lock);
	if (!ndev)
		return;
	netdev_put(ndev, &dev->tracker);
	ib_unregister_device_queued(&dev->ibdev);
}

static int fal_netdev_event(struct notifier_block *nb, unsigned long event,
			    void *arg)
{
	struct net_device *ndev = netdev_notifier_info_to_dev(arg);
	struct ib_device *ibdev;
	struct fal_dev *dev;

	ibdev = ib_device_get_by_netdev(ndev, FALCON_IB_DRIVER_ID);
	if (!ibdev)
		return NOTIFY_DONE;
	dev = to_fal_dev(ibdev);
	switch (event) {
	case NETDEV_UNREGISTER:
		fal_netdev_gone(dev);
		break;
	case NETDEV_CHANGE:
	case NETDEV_UP:
	case NETDEV_DOWN:
		fal_port_event(dev, netif_running(ndev) &&
			       netif_carrier_ok(ndev) ?
			       IB_EVENT_PORT_ACTIVE : IB_EVENT_PORT_ERR);
		break;
	default:
		break;
	}
	ib_device_put(ibdev);
	return NOTIFY_DONE;
}

static struct notifier_block fal_netdev_nb = {
	.notifier_call = fal_netdev_event,
};

static int __init fal_init(void)
{
	int err = fal_eng_init();

	if (err)
		return err;
	err = register_netdevice_notifier(&fal_netdev_nb);
	if (err) {
		fal_eng_exit();
		return err;
	}
	rdma_link_register(&fal_link_ops);
	return 0;
}

static void __exit fal_exit(void)
{
	rdma_link_unregister(&fal_link_ops);
	ib_unregister_driver(FALCON_IB_DRIVER_ID);
	unregister_netdevice_notifier(&fal_netdev_nb);
	fal_eng_exit();
}

module_init(fal_init);
module_exit(fal_exit);

MODULE_LICENSE("GPL");
MODULE_AUTHOR("The Falcon for Linux authors");
MODULE_DESCRIPTION("RDMA verbs over Falcon");
MODULE_ALIAS_RDMA_LINK("falcon");
