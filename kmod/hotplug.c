// SPDX-License-Identifier: GPL-2.0-only
#include <linux/memory.h>
#include <linux/workqueue.h>

#include "control.h"
#include "fault.h"
#include "host.h"
#include "hotplug.h"

static void hotplug_refresh(struct work_struct *work)
{
	mutex_lock(&control_mutex);
	host_refresh();
	mutex_unlock(&control_mutex);
}

static DECLARE_WORK(refresh_work, hotplug_refresh);

/*
 * All is done later, by a worker: maps hold no reference to the memory they describe, and every
 * page is looked up anew before it is touched, so that offlining need not wait for us.
 */
static int on_memory(struct notifier_block *nb, unsigned long action, void *arg)
{
	if (action == MEM_ONLINE || action == MEM_OFFLINE)
		schedule_work(&refresh_work);
	return NOTIFY_OK;
}

/* After the memory tiers have made up their mind about a new node (MEMTIER_HOTPLUG_PRI). */
static struct notifier_block memory_nb = {
	.notifier_call = on_memory,
	.priority = DEFAULT_CALLBACK_PRI,
};

/** hotplug_init - begin to follow; 0 or -errno */
int hotplug_init(void)
{
	return fault_point() ? -ENOMEM : register_memory_notifier(&memory_nb);
}

void hotplug_exit(void)
{
	unregister_memory_notifier(&memory_nb);
	cancel_work_sync(&refresh_work);
}
