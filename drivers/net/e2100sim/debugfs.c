// SPDX-License-Identifier: GPL-2.0
/*
 * /sys/kernel/debug/e2100sim/e2100simN: what no real NIC lets one set.
 *
 *	counter_ps	reads the free-running counter
 *	drift_ppb	how much faster than the system's clock it runs
 *	break		any write: the device hangs
 *	portN/drop_ppm, reorder_ppm, duplicate_ppm, corrupt_ppm
 *			packets in a million that suffer it on the way out
 *	portN/delay_us	that every packet takes; reorder_us: that reordered ones
 *			take in addition
 *	portN/seed	writing begins the generator's sequence anew
 *	portN/tx_waiting
 *			packets and trains that wait for their departure, for
 *			the link, or for the end of a delay
 *	portN/rx_bytes	in the receive buffer
 *	portN/contexts	known, and at hand
 */
#include <linux/debugfs.h>
#include <linux/seq_file.h>
#include "e2100sim.h"

static struct dentry *e2100_dir;

static int e2100_counter_get(void *data, u64 *val)
{
	struct e2100_dev *dev = data;

	*val = e2100_counter(&dev->clock);
	return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE(e2100_counter_fops, e2100_counter_get, NULL, "%llu\n");

static int e2100_drift_get(void *data, u64 *val)
{
	struct e2100_dev *dev = data;

	*val = (s64)READ_ONCE(dev->clock.drift_ppb);
	return 0;
}

static int e2100_drift_set(void *data, u64 val)
{
	struct e2100_dev *dev = data;
	s64 ppb = val;

	/* A tenth of a per cent is more than any crystal. */
	if (ppb < -1000000 || ppb > 1000000)
		return -ERANGE;
	e2100_clock_drift(&dev->clock, ppb);
	return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE_SIGNED(e2100_drift_fops, e2100_drift_get,
				e2100_drift_set, "%lld\n");

static int e2100_break_set(void *data, u64 val)
{
	return e2100_dev_break(data);
}
DEFINE_DEBUGFS_ATTRIBUTE(e2100_break_fops, NULL, e2100_break_set, "%llu\n");

static int e2100_seed_set(void *data, u64 val)
{
	struct e2100_port *port = data;

	e2100_faults_seed(&port->faults, val);
	return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE(e2100_seed_fops, NULL, e2100_seed_set, "%llu\n");

static int e2100_contexts_show(struct seq_file *m, void *data)
{
	struct e2100_port *port = m->private;

	spin_lock_bh(&port->cache.lock);
	seq_printf(m, "%u %u\n", port->cache.nr, port->cache.nr_cached);
	spin_unlock_bh(&port->cache.lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(e2100_contexts);

static int e2100_waiting_get(void *data, u64 *val)
{
	*val = e2100_tx_waiting(data);
	return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE(e2100_waiting_fops, e2100_waiting_get, NULL, "%llu\n");

/**
 * e2100_debugfs_dev - files of a device
 * @dev:	device; removes @dev->dir
 */
void e2100_debugfs_dev(struct e2100_dev *dev)
{
	dev->dir = debugfs_create_dir(dev_name(&dev->bus_dev->dev), e2100_dir);
	debugfs_create_file("counter_ps", 0444, dev->dir, dev,
			    &e2100_counter_fops);
	debugfs_create_file("drift_ppb", 0644, dev->dir, dev,
			    &e2100_drift_fops);
	debugfs_create_file("break", 0200, dev->dir, dev, &e2100_break_fops);
}

/**
 * e2100_debugfs_port - files of a port, below its device's
 * @port:	port
 */
void e2100_debugfs_port(struct e2100_port *port)
{
	struct e2100_faults *f = &port->faults;
	char name[16];

	snprintf(name, sizeof(name), "port%u", port->index);
	port->dir = debugfs_create_dir(name, port->dev->dir);
	debugfs_create_u32("drop_ppm", 0644, port->dir, &f->ppm[E2100_F_DROP]);
	debugfs_create_u32("reorder_ppm", 0644, port->dir,
			   &f->ppm[E2100_F_REORDER]);
	debugfs_create_u32("duplicate_ppm", 0644, port->dir,
			   &f->ppm[E2100_F_DUPLICATE]);
	debugfs_create_u32("corrupt_ppm", 0644, port->dir,
			   &f->ppm[E2100_F_CORRUPT]);
	debugfs_create_u32("delay_us", 0644, port->dir, &f->delay_us);
	debugfs_create_u32("reorder_us", 0644, port->dir, &f->reorder_us);
	debugfs_create_file("seed", 0200, port->dir, port, &e2100_seed_fops);
	debugfs_create_file("tx_waiting", 0444, port->dir, port,
			    &e2100_waiting_fops);
	debugfs_create_atomic_t("rx_bytes", 0444, port->dir, &port->rx_bytes);
	debugfs_create_file("contexts", 0444, port->dir, port,
			    &e2100_contexts_fops);
}

/**
 * e2100_debugfs_init - the directory of all devices
 */
void e2100_debugfs_init(void)
{
	e2100_dir = debugfs_create_dir(E2100_NAME, NULL);
}

/**
 * e2100_debugfs_exit - remove it
 */
void e2100_debugfs_exit(void)
{
	debugfs_remove_recursive(e2100_dir);
}
