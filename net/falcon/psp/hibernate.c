// SPDX-License-Identifier: GPL-2.0
/*
 * No nonce twice, by a kernel and by the one that its snapshot becomes.
 *
 * Suspend keeps memory, and with it the newest IV of each association. Of
 * hibernation a snapshot of memory is what goes on, and until the power is off
 * the kernel that made it runs as well: an IV that it took then would be taken
 * again. So nothing is sealed from before the snapshot until what was restored
 * runs, or hibernation was given up; what departs is lost as if on the wire.
 * Grants are sealed by works of the connection manager, which are frozen
 * meanwhile (cm/cm.c).
 *
 * psp/psp.c asks before it takes IVs.
 */
#include <linux/export.h>
#include <linux/netdevice.h>
#include <linux/suspend.h>
#include "psp/psp.h"

bool falcon_psp_stopped __read_mostly;

/**
 * falcon_psp_stop() - seal nothing, or seal again
 * @stop:	which; with true none is being sealed at the return any more
 *
 * Context: process, may sleep.
 */
void falcon_psp_stop(bool stop)
{
	WRITE_ONCE(falcon_psp_stopped, stop);
	if (stop)
		synchronize_net();
}
EXPORT_SYMBOL_NS_GPL(falcon_psp_stop, FALCON_TEST);

static int psp_pm_event(struct notifier_block *nb, unsigned long event,
			void *data)
{
	if (event == PM_HIBERNATION_PREPARE)
		falcon_psp_stop(true);
	else if (event == PM_POST_HIBERNATION)
		falcon_psp_stop(false);
	return NOTIFY_DONE;
}

static struct notifier_block psp_pm_nb = {
	.notifier_call = psp_pm_event,
};

/**
 * falcon_psp_hibernate_init() - hear of hibernation
 *
 * Context: module init.
 * Return: 0 or an errno.
 */
int falcon_psp_hibernate_init(void)
{
	return register_pm_notifier(&psp_pm_nb);
}

/**
 * falcon_psp_hibernate_exit() - undo falcon_psp_hibernate_init()
 */
void falcon_psp_hibernate_exit(void)
{
	unregister_pm_notifier(&psp_pm_nb);
}
