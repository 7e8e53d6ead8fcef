// SPDX-License-Identifier: GPL-2.0
/*
 * The module: what is made once, what is made for each network namespace, and
 * in which order both end. And the registry of congestion control algorithms,
 * core's own and those of other modules.
 *
 * A namespace stops in this order: the connection manager makes no new
 * connections; those that are there are aborted and let go by their ULPs, and
 * what they have waiting for its departure is dropped; the sockets' tables go;
 * the PSP sockets close; hosts and keys are forgotten.
 */
#include <linux/module.h>
#include <linux/slab.h>
#include <net/netns/generic.h>
#include "core/fae.h"
#include "falcon.h"
#include "psp/psp.h"

static unsigned int falcon_net_id __read_mostly;

static LIST_HEAD(falcon_faes);
static DEFINE_SPINLOCK(falcon_fae_lock);

/**
 * falcon_net - Falcon in a namespace
 * @net:	namespace
 *
 * Context: any, while the module is loaded.
 */
struct falcon_net *falcon_net(struct net *net)
{
	return net_generic(net, falcon_net_id);
}
EXPORT_SYMBOL_NS_GPL(falcon_net, FALCON_TEST);

/*
 * Congestion control
 */

static const struct falcon_fae_ops *falcon_fae_find(const char *name)
{
	const struct falcon_fae_ops *ops = falcon_fae_builtin(name);

	lockdep_assert_held(&falcon_fae_lock);
	if (ops)
		return ops;
	list_for_each_entry(ops, &falcon_faes, list) {
		if (!strcmp(ops->name, name))
			return ops;
	}
	return NULL;
}

/**
 * falcon_fae_register - offer a congestion control algorithm
 * @ops:	name, owner and functions set; the caller's until
 *		falcon_fae_unregister()
 *
 * Context: process.
 * Return: 0; -EINVAL: no name, too long a one, or a function missing;
 * -EEXIST: the name is taken.
 */
int falcon_fae_register(struct falcon_fae_ops *ops)
{
	int err = 0;

	if (!ops->name || strlen(ops->name) >= FALCON_FAE_NAME_MAX ||
	    !ops->init || !ops->on_event)
		return -EINVAL;
	spin_lock_bh(&falcon_fae_lock);
	if (falcon_fae_find(ops->name))
		err = -EEXIST;
	else
		list_add_tail(&ops->list, &falcon_faes);
	spin_unlock_bh(&falcon_fae_lock);
	return err;
}
EXPORT_SYMBOL_GPL(falcon_fae_register);

/**
 * falcon_fae_unregister - take an algorithm back
 * @ops:	registered; no connection uses it, because each holds its module
 *
 * Context: process.
 */
void falcon_fae_unregister(struct falcon_fae_ops *ops)
{
	spin_lock_bh(&falcon_fae_lock);
	list_del(&ops->list);
	spin_unlock_bh(&falcon_fae_lock);
}
EXPORT_SYMBOL_GPL(falcon_fae_unregister);

/**
 * falcon_fae_get - look an algorithm up
 * @name:	its name
 *
 * Context: any but hard interrupt.
 * Return: the algorithm, its module held until falcon_fae_put(); or NULL.
 */
const struct falcon_fae_ops *falcon_fae_get(const char *name)
{
	const struct falcon_fae_ops *ops;

	spin_lock_bh(&falcon_fae_lock);
	ops = falcon_fae_find(name);
	if (ops && !try_module_get(ops->owner))
		ops = NULL;
	spin_unlock_bh(&falcon_fae_lock);
	return ops;
}
EXPORT_SYMBOL_GPL(falcon_fae_get);

/**
 * falcon_fae_hold - one more reference
 * @ops:	held already
 *
 * Context: any.
 */
void falcon_fae_hold(const struct falcon_fae_ops *ops)
{
	__module_get(ops->owner);
}
EXPORT_SYMBOL_GPL(falcon_fae_hold);

/**
 * falcon_fae_put - drop a reference
 * @ops:	held
 *
 * Context: any.
 */
void falcon_fae_put(const struct falcon_fae_ops *ops)
{
	module_put(ops->owner);
}
EXPORT_SYMBOL_GPL(falcon_fae_put);

/*
 * Namespaces
 */

/*
 * Who holds a port in one namespace, as its own root may, is not to keep the module
 * from all others.
 */
static int __net_init falcon_net_ports(struct falcon_net *fn)
{
	int err = falcon_cm_ports(fn);

	if (err != -EADDRINUSE)
		return err;
	pr_warn_ratelimited("UDP port %u or %d of a network namespace is in use: no connections there\n",
			    fn->sysctl.cm_port, FALCON_PSP_UDP_PORT);
	return 0;
}

static int __net_init falcon_net_init(struct net *net)
{
	struct falcon_net *fn = falcon_net(net);
	int err;

	fn->net = net;
	falcon_sysctl_defaults(&fn->sysctl);
	fn->mib = alloc_percpu(struct falcon_mib_pcpu);
	if (!fn->mib)
		return -ENOMEM;
	err = falcon_psp_net_init(fn);
	if (err)
		goto mib;
	err = falcon_host_net_init(fn);
	if (err)
		goto psp;
	err = falcon_peer_net_init(fn);
	if (err)
		goto host;
	falcon_conn_net_init(fn);
	err = falcon_sock_net_init(fn);
	if (err)
		goto conn;
	err = falcon_cm_net_init(fn);
	if (err)
		goto sock;
	err = falcon_net_ports(fn);
	if (err)
		goto cm;
	err = falcon_sysctl_net_init(fn);
	if (err)
		goto cm;
	falcon_psp_rotate_arm(fn);
	return 0;

cm:
	falcon_cm_net_exit(fn);
	falcon_udp_net_exit(fn);
sock:
	falcon_sock_net_exit(fn);
conn:
	falcon_conn_net_exit(fn);
	falcon_peer_net_exit(fn);
host:
	falcon_host_net_exit(fn);
psp:
	falcon_psp_net_exit(fn);
mib:
	free_percpu(fn->mib);
	return err;
}

static void __net_exit falcon_net_exit(struct net *net)
{
	struct falcon_net *fn = falcon_net(net);

	falcon_sysctl_net_exit(fn);
	falcon_psp_rotate_stop(fn);
	falcon_cm_net_exit(fn);
	falcon_conn_net_exit(fn);
	falcon_sock_net_exit(fn);
	falcon_udp_net_exit(fn);
	falcon_peer_net_exit(fn);
	falcon_host_net_exit(fn);
	falcon_psp_net_exit(fn);
	free_percpu(fn->mib);
}

static struct pernet_operations falcon_net_ops = {
	.init	= falcon_net_init,
	.exit	= falcon_net_exit,
	.id	= &falcon_net_id,
	.size	= sizeof(struct falcon_net),
};

static int __init falcon_init(void)
{
	int err;

	falcon_fae_batch_init();
	err = falcon_conn_init();
	if (err)
		return err;
	err = falcon_psp_init();
	if (err)
		goto conn;
	err = falcon_txq_init();
	if (err)
		goto psp;
	err = falcon_nic_soft_init();
	if (err)
		goto txq;
	err = falcon_nic_init();
	if (err)
		goto nic_soft;
	err = falcon_cm_init();
	if (err)
		goto nic;
	err = register_pernet_subsys(&falcon_net_ops);
	if (err)
		goto cm;
	err = falcon_sysctl_init();
	if (err)
		goto pernet;
	err = falcon_netlink_init();
	if (err)
		goto sysctl;
	err = falcon_sock_init();
	if (err)
		goto netlink;
	return 0;

netlink:
	falcon_netlink_exit();
sysctl:
	falcon_sysctl_exit();
pernet:
	unregister_pernet_subsys(&falcon_net_ops);
cm:
	falcon_cm_exit();
nic:
	falcon_nic_exit();
nic_soft:
	falcon_nic_soft_exit();
txq:
	falcon_txq_exit();
psp:
	falcon_psp_exit();
conn:
	falcon_conn_exit();
	falcon_fae_batch_exit();
	falcon_udp_tx_exit();
	return err;
}

static void __exit falcon_exit(void)
{
	falcon_sock_exit();
	falcon_netlink_exit();
	falcon_sysctl_exit();
	unregister_pernet_subsys(&falcon_net_ops);
	falcon_cm_exit();
	falcon_nic_exit();
	falcon_nic_soft_exit();
	falcon_txq_exit();
	falcon_conn_exit();
	falcon_fae_batch_exit();
	falcon_psp_exit();
	falcon_udp_tx_exit();
}

module_init(falcon_init);
module_exit(falcon_exit);

MODULE_LICENSE("GPL");
MODULE_AUTHOR("The Falcon for Linux authors");
MODULE_DESCRIPTION("Falcon transport protocol");
/* The fast ciphers of x86, which nothing else asks for by name. */
MODULE_SOFTDEP("pre: aesni_intel gcm");
MODULE_ALIAS_NET_PF_PROTO(PF_INET, 252);
MODULE_ALIAS_NET_PF_PROTO(PF_INET6, 252);
