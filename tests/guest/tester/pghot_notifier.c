// SPDX-License-Identifier: GPL-2.0-only
/*
 * pghot_notifier - plays a hypervisor whose guest accesses all memory of process @pid, always
 *
 * To whoever asks by MMU notifier, each page of the process has been accessed since the last time, by
 * page tables that are not the process's own. Loading registers it, unloading takes it off. A kernel
 * without MMU notifiers refuses it with EOPNOTSUPP.
 */
#include <linux/mmu_notifier.h>
#include <linux/module.h>
#include <linux/pid.h>
#include <linux/sched/mm.h>

static int pid;
module_param(pid, int, 0444);
MODULE_PARM_DESC(pid, "process");

#ifdef CONFIG_MMU_NOTIFIER
static struct mm_struct *mm;

static int always_young(struct mmu_notifier *subscription, struct mm_struct *of,
			unsigned long start, unsigned long end)
{
	return 1;
}

static const struct mmu_notifier_ops ops = { .clear_young = always_young };
static struct mmu_notifier notifier = { .ops = &ops };

static int __init notifier_init(void)
{
	struct pid *of = find_get_pid(pid);
	struct task_struct *task = get_pid_task(of, PIDTYPE_TGID);
	int err = -ESRCH;

	put_pid(of);
	if (!task)
		return -ESRCH;
	mm = get_task_mm(task);
	put_task_struct(task);
	if (!mm)
		return -ESRCH;
	err = mmu_notifier_register(&notifier, mm);
	if (err)
		mmput(mm);
	return err;
}

static void __exit notifier_exit(void)
{
	mmu_notifier_unregister(&notifier, mm);
	mmput(mm);
}
module_exit(notifier_exit);
#else
static int __init notifier_init(void)
{
	return -EOPNOTSUPP;
}
#endif

module_init(notifier_init);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Test of secondary page tables for pghot");
