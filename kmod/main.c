// SPDX-License-Identifier: GPL-2.0-only
/* main - the order in which the module comes to life, and goes */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>
#include <linux/printk.h>
#include <linux/string.h>
#include <linux/version.h>

#include "control.h"
#include "host.h"
#include "hotplug.h"
#include "hwhint_pmu.h"
#include "ksym.h"
#include "proc.h"
#include "target.h"
#include "topology.h"

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 12, 0) || LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0)
#error "pghot supports Linux 6.12 only; build with make kmod KVER=... for a 6.12 kernel"
#endif

static char *layout = "byte";
module_param(layout, charp, 0444);
MODULE_PARM_DESC(layout, "record of a page: byte (1 byte, default) or precise (4 bytes: wider count, accessor's node)");

static char *tiers;
module_param(tiers, charp, 0444);
MODULE_PARM_DESC(tiers, "fast and slow nodes, as in tiers=\"0,1>2\"; default: the kernel's memory tiers");

static int parse_layout(enum phi_layout *which)
{
	if (!strcmp(layout, "byte"))
		*which = PHI_BYTE;
	else if (!strcmp(layout, "precise"))
		*which = PHI_PRECISE;
	else
		return -EINVAL;
	return 0;
}

static int __init pghot_init(void)
{
	enum phi_layout which;
	int err = parse_layout(&which);

	if (err) {
		pr_err("layout=%s: want byte or precise\n", layout);
		return err;
	}
	err = ksym_init();
	if (err)
		return err;
	err = topology_init(tiers);
	if (err)
		return err;
	host_init(which);
	hwhint_pmu_init();
	err = target_init();
	if (err)
		goto fail;
	err = pghot_proc_init();
	if (err)
		goto free_targets;
	err = hotplug_init();
	if (err)
		goto remove_proc;
	err = control_init();
	if (err)
		goto stop_hotplug;
	if (nodes_empty(*topology_slow()))
		pr_info("no slow node here, so there is nothing to do; if the kernel put all nodes in one tier, load with tiers=\"FAST>SLOW\"\n");
	return 0;

stop_hotplug:
	hotplug_exit();
remove_proc:
	pghot_proc_exit();
free_targets:
	target_exit();
fail:
	pr_err("not loaded (%d)\n", err);
	return err;
}

static void __exit pghot_exit(void)
{
	control_exit();
	hotplug_exit();
	pghot_proc_exit();
	target_exit();
}

module_init(pghot_init);
module_exit(pghot_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Hot page promotion from slow to fast memory nodes");
MODULE_AUTHOR("The pghot authors");
