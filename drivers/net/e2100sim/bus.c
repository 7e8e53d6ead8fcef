// SPDX-License-Identifier: GPL-2.0
/*
 * The bus e2100sim and its files, in the argument forms of netdevsim:
 *
 *	new_device	ID [PORTS [QUEUES]]
 *	del_device	ID
 *	link_device	NETNSFD:IFINDEX NETNSFD:IFINDEX
 *	unlink_device	NETNSFD:IFINDEX
 *
 * One end of a link is a port; the other is another port, or any netdev,
 * which becomes the lower device that the port's wire leaves by.
 */
#include <linux/module.h>
#include <linux/nsproxy.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <net/net_namespace.h>
#include "e2100sim.h"

static LIST_HEAD(e2100_bus_devs);
static DEFINE_MUTEX(e2100_bus_lock);	/* e2100_bus_devs, e2100_bus_open */
/* No device is made before the module is ready, nor when it goes. */
static bool e2100_bus_open;

static struct e2100_bus_dev *to_e2100_bus_dev(struct device *dev)
{
	return container_of(dev, struct e2100_bus_dev, dev);
}

static void e2100_bus_dev_release(struct device *dev)
{
	kfree(to_e2100_bus_dev(dev));
}

static const struct device_type e2100_bus_dev_type = {
	.release	= e2100_bus_dev_release,
};

static int e2100_bus_probe(struct device *dev)
{
	return e2100_dev_probe(to_e2100_bus_dev(dev));
}

static void e2100_bus_remove(struct device *dev)
{
	e2100_dev_remove(to_e2100_bus_dev(dev));
}

static const struct attribute_group *e2100_bus_groups[];

static struct bus_type e2100_bus = {
	.name		= E2100_NAME,
	.dev_name	= E2100_NAME,
	.bus_groups	= e2100_bus_groups,
	.probe		= e2100_bus_probe,
	.remove		= e2100_bus_remove,
};

static struct device_driver e2100_driver = {
	.name	= E2100_NAME,
	.bus	= &e2100_bus,
	.owner	= THIS_MODULE,
	/* Devices and their driver come and go together. */
	.suppress_bind_attrs = true,
};

static int e2100_bus_add(unsigned int id, unsigned int ports,
			 unsigned int queues)
{
	struct e2100_bus_dev *bus_dev, *other;
	int err;

	lockdep_assert_held(&e2100_bus_lock);
	if (!e2100_bus_open)
		return -EBUSY;
	list_for_each_entry(other, &e2100_bus_devs, list) {
		if (other->dev.id == id)
			return -EEXIST;
	}
	bus_dev = kzalloc(sizeof(*bus_dev), GFP_KERNEL);
	if (!bus_dev)
		return -ENOMEM;
	bus_dev->dev.id = id;
	bus_dev->dev.bus = &e2100_bus;
	bus_dev->dev.type = &e2100_bus_dev_type;
	bus_dev->nr_ports = ports;
	bus_dev->nr_queues = queues;
	bus_dev->net = current->nsproxy->net_ns;
	err = device_register(&bus_dev->dev);
	if (!err && !dev_get_drvdata(&bus_dev->dev)) {
		/* The driver core has said why. */
		device_unregister(&bus_dev->dev);
		return -ENODEV;
	}
	if (err) {
		put_device(&bus_dev->dev);
		return err;
	}
	/* Its ports are there, and may go elsewhere. */
	bus_dev->net = NULL;
	list_add_tail(&bus_dev->list, &e2100_bus_devs);
	return 0;
}

static void e2100_bus_del(struct e2100_bus_dev *bus_dev)
{
	lockdep_assert_held(&e2100_bus_lock);
	list_del(&bus_dev->list);
	device_unregister(&bus_dev->dev);
}

static ssize_t new_device_store(e2100_bus_type *bus, const char *buf,
				size_t count)
{
	unsigned int id, ports = 1, queues = 1;
	int err;

	if (sscanf(buf, "%u %u %u", &id, &ports, &queues) < 1 ||
	    id > INT_MAX || !ports || ports > E2100_MAX_PORTS || !queues ||
	    queues > E2100_MAX_QUEUES) {
		pr_err("%s: new_device takes \"ID [PORTS [QUEUES]]\", at most %d ports of %d queues\n",
		       E2100_NAME, E2100_MAX_PORTS, E2100_MAX_QUEUES);
		return -EINVAL;
	}
	mutex_lock(&e2100_bus_lock);
	err = e2100_bus_add(id, ports, queues);
	mutex_unlock(&e2100_bus_lock);
	return err ?: count;
}
static BUS_ATTR_WO(new_device);

static ssize_t del_device_store(e2100_bus_type *bus, const char *buf,
				size_t count)
{
	struct e2100_bus_dev *bus_dev;
	ssize_t ret = -ENOENT;
	unsigned int id;

	if (kstrtouint(buf, 0, &id)) {
		pr_err("%s: del_device takes \"ID\"\n", E2100_NAME);
		return -EINVAL;
	}
	mutex_lock(&e2100_bus_lock);
	list_for_each_entry(bus_dev, &e2100_bus_devs, list) {
		if (bus_dev->dev.id != id)
			continue;
		e2100_bus_del(bus_dev);
		ret = count;
		break;
	}
	mutex_unlock(&e2100_bus_lock);
	return ret;
}
static BUS_ATTR_WO(del_device);

static struct net_device *e2100_bus_netdev(int fd, unsigned int ifindex)
{
	struct net *net = get_net_ns_by_fd(fd);
	struct net_device *netdev;

	ASSERT_RTNL();
	if (IS_ERR(net)) {
		pr_err("%s: %d is no descriptor of a namespace\n", E2100_NAME,
		       fd);
		return ERR_CAST(net);
	}
	netdev = __dev_get_by_index(net, ifindex);
	put_net(net);
	if (netdev)
		return netdev;
	pr_err("%s: no device %u in namespace %d\n", E2100_NAME, ifindex, fd);
	return ERR_PTR(-ENODEV);
}

static ssize_t link_device_store(e2100_bus_type *bus, const char *buf,
				 size_t count)
{
	struct net_device *a, *b;
	unsigned int if_a, if_b;
	int fd_a, fd_b, err;

	if (sscanf(buf, "%d:%u %d:%u", &fd_a, &if_a, &fd_b, &if_b) != 4) {
		pr_err("%s: link_device takes \"NETNSFD:IFINDEX NETNSFD:IFINDEX\"\n",
		       E2100_NAME);
		return -EINVAL;
	}
	rtnl_lock();
	a = e2100_bus_netdev(fd_a, if_a);
	b = e2100_bus_netdev(fd_b, if_b);
	if (IS_ERR(a) || IS_ERR(b))
		err = -EINVAL;
	else if (e2100_is_port(a))
		err = e2100_link(a, b);
	else
		err = e2100_link(b, a);
	rtnl_unlock();
	return err ?: count;
}
static BUS_ATTR_WO(link_device);

static ssize_t unlink_device_store(e2100_bus_type *bus, const char *buf,
				   size_t count)
{
	struct net_device *netdev;
	unsigned int ifindex;
	int fd, err;

	if (sscanf(buf, "%d:%u", &fd, &ifindex) != 2) {
		pr_err("%s: unlink_device takes \"NETNSFD:IFINDEX\"\n",
		       E2100_NAME);
		return -EINVAL;
	}
	rtnl_lock();
	netdev = e2100_bus_netdev(fd, ifindex);
	if (IS_ERR(netdev) || !e2100_is_port(netdev))
		err = -EINVAL;
	else
		err = e2100_unlink(netdev_priv(netdev));
	rtnl_unlock();
	return err ?: count;
}
static BUS_ATTR_WO(unlink_device);

static struct attribute *e2100_bus_attrs[] = {
	&bus_attr_new_device.attr,
	&bus_attr_del_device.attr,
	&bus_attr_link_device.attr,
	&bus_attr_unlink_device.attr,
	NULL
};

static const struct attribute_group e2100_bus_group = {
	.attrs	= e2100_bus_attrs,
};

static const struct attribute_group *e2100_bus_groups[] = {
	&e2100_bus_group,
	NULL
};

/**
 * e2100_bus_init - the bus and its driver
 *
 * Context: module init.
 * Return: 0 or a negative errno.
 */
int e2100_bus_init(void)
{
	int err = bus_register(&e2100_bus);

	if (err)
		return err;
	err = driver_register(&e2100_driver);
	if (err) {
		bus_unregister(&e2100_bus);
		return err;
	}
	mutex_lock(&e2100_bus_lock);
	e2100_bus_open = true;
	mutex_unlock(&e2100_bus_lock);
	return 0;
}

/**
 * e2100_bus_exit - remove all devices, and the bus
 */
void e2100_bus_exit(void)
{
	struct e2100_bus_dev *bus_dev, *next;

	mutex_lock(&e2100_bus_lock);
	e2100_bus_open = false;
	list_for_each_entry_safe(bus_dev, next, &e2100_bus_devs, list)
		e2100_bus_del(bus_dev);
	mutex_unlock(&e2100_bus_lock);
	driver_unregister(&e2100_driver);
	bus_unregister(&e2100_bus);
}
