// SPDX-License-Identifier: GPL-2.0-only
/*
 * pghot_tester - plays a driver that knows which pages are hot, at the command of a test script
 *
 * Lines written to /proc/pghot_tester (numbers in any base that C knows):
 *
 *   access PFN NID SRC AGE_MS              pghot_record_access(), AGE_MS ago
 *   bulk PFN NR NID WEIGHT SRC FLAGS       pghot_record_bulk() with one report
 *   spread PFN NR NID WEIGHT SRC FLAGS     the same pages as NR reports in calls of up to 16
 *   irq PFN NR NID WEIGHT SRC FLAGS        as bulk, from hard interrupt context
 *   null                                   pghot_record_bulk() without reports
 *
 * The write returns what the call returned.
 */
#include <linux/completion.h>
#include <linux/irq_work.h>
#include <linux/jiffies.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/proc_fs.h>
#include <linux/uaccess.h>

#include "pghot.h"

struct command {
	struct pghot_report report;
	int src;
	unsigned int flags;
	int result;
	struct irq_work work;
	struct completion done;
};

static int spread(const struct command *cmd)
{
	struct pghot_report reports[16];
	u32 at, n;
	int err = 0;

	for (at = 0; !err && at < cmd->report.nr_pages; at += n) {
		for (n = 0; n < ARRAY_SIZE(reports) && at + n < cmd->report.nr_pages; n++) {
			reports[n] = cmd->report;
			reports[n].pfn += at + n;
			reports[n].nr_pages = 1;
		}
		err = pghot_record_bulk(reports, n, cmd->src, cmd->flags);
	}
	return err;
}

static void on_irq(struct irq_work *work)
{
	struct command *cmd = container_of(work, struct command, work);

	cmd->result = pghot_record_bulk(&cmd->report, 1, cmd->src, cmd->flags);
	complete(&cmd->done);
}

static int from_irq(struct command *cmd)
{
	cmd->work = IRQ_WORK_INIT_HARD(on_irq);
	init_completion(&cmd->done);
	irq_work_queue(&cmd->work);
	wait_for_completion(&cmd->done);
	irq_work_sync(&cmd->work);
	return cmd->result;
}

static int run(const char *line)
{
	struct command cmd = { 0 };
	unsigned int age_ms;
	char verb[16];
	u64 pfn;
	int nid;

	if (!strcmp(line, "null"))
		return pghot_record_bulk(NULL, 3, PGHOT_SRC_HINTFAULTS, 0);
	if (sscanf(line, "access %lli %i %i %u", &pfn, &nid, &cmd.src, &age_ms) == 4)
		return pghot_record_access(pfn, nid, cmd.src, jiffies - msecs_to_jiffies(age_ms));
	if (sscanf(line, "%15s %lli %u %i %u %i %i", verb, &cmd.report.pfn, &cmd.report.nr_pages,
		   &cmd.report.nid, &cmd.report.weight, &cmd.src, &cmd.flags) != 7)
		return -EDOM;
	if (!strcmp(verb, "bulk"))
		return pghot_record_bulk(&cmd.report, 1, cmd.src, cmd.flags);
	if (!strcmp(verb, "spread"))
		return spread(&cmd);
	return strcmp(verb, "irq") ? -EDOM : from_irq(&cmd);
}

static ssize_t tester_write(struct file *file, const char __user *from, size_t n, loff_t *pos)
{
	char line[128];
	int err;

	if (n >= sizeof(line))
		return -EDOM;
	if (copy_from_user(line, from, n))
		return -EFAULT;
	line[n] = '\0';
	err = run(strim(line));
	return err ?: n;
}

static const struct proc_ops tester_ops = { .proc_write = tester_write };

static int __init tester_init(void)
{
	return proc_create("pghot_tester", 0200, NULL, &tester_ops) ? 0 : -ENOMEM;
}

static void __exit tester_exit(void)
{
	remove_proc_entry("pghot_tester", NULL);
}

module_init(tester_init);
module_exit(tester_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Test driver for pghot");
