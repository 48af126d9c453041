// SPDX-License-Identifier: GPL-2.0-only
/*
 * pghot_tracker - an external tracker of hot memory, for driver authors to copy from
 *
 * It plays a device that counts accesses by itself and is emptied now and then. What the device would
 * have counted is written to /proc/pghot_tracker, lines "PFN NR COUNT": pages [PFN, PFN + NR) were
 * accessed COUNT times each. The lines wait in a small buffer, as they would in the device, and a
 * timer hands all of it to pghot in one call of pghot_record_bulk().
 *
 * What a driver of real hardware would do otherwise: fill the buffer from its device, and drain it in
 * its interrupt handler, if it has one. pghot_record_bulk() may be called there, and in an NMI.
 * docs/drivers.md says what becomes of the reports, and what the flags are good for.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/proc_fs.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/timer.h>
#include <linux/uaccess.h>

#include "pghot.h"

enum { TRACKER_REPORTS = 256 };

static unsigned int source = PGHOT_SRC_EXTERNAL;
module_param(source, uint, 0444);
MODULE_PARM_DESC(source, "report as the source with this bit of vm.pghot_enabled_sources: its number, 0 for bit 0x1");

static unsigned int period_ms = 20;
module_param(period_ms, uint, 0644);
MODULE_PARM_DESC(period_ms, "milliseconds between two drains of the buffer");

#define FLAG_PARAM(name, help)			\
	static bool name;			\
	module_param(name, bool, 0644);		\
	MODULE_PARM_DESC(name, help)

FLAG_PARAM(skip_freq, "one access suffices (PGHOT_SKIP_FREQ)");
FLAG_PARAM(skip_recency, "earlier accesses count however old they are (PGHOT_SKIP_RECENCY)");
FLAG_PARAM(skip_limit, "hot pages move outside the rate limit (PGHOT_SKIP_LIMIT)");
FLAG_PARAM(ready, "the tracker has decided: the pages are hot (PGHOT_READY)");

/** struct buffer - reports that wait for the timer, or that it is handing over */
struct buffer {
	unsigned int n;
	struct pghot_report reports[TRACKER_REPORTS];
};

/* Writers fill one buffer while the timer empties the other; only the timer swaps them. */
static DEFINE_SPINLOCK(lock);
static struct buffer buffers[2], *filling = &buffers[0];

static unsigned int flags_now(void)
{
	return (skip_freq ? PGHOT_SKIP_FREQ : 0) | (skip_recency ? PGHOT_SKIP_RECENCY : 0) |
	       (skip_limit ? PGHOT_SKIP_LIMIT : 0) | (ready ? PGHOT_READY : 0);
}

/* Hand over all that waits. One at a time: in the timer, or when the timer is no more. */
static void drain(void)
{
	struct buffer *full;

	spin_lock_bh(&lock);
	full = filling;
	filling = full == &buffers[0] ? &buffers[1] : &buffers[0];
	spin_unlock_bh(&lock);
	/* -EINVAL would be a mistake of this driver's: each report was well-formed when it was put in. */
	if (pghot_record_bulk(full->reports, full->n, source, flags_now()))
		pr_warn_ratelimited("%u reports refused: malformed\n", full->n);
	full->n = 0;
}

static void on_timer(struct timer_list *timer)
{
	drain();
	mod_timer(timer, jiffies + max(msecs_to_jiffies(period_ms), 1UL));
}

static DEFINE_TIMER(timer, on_timer);

/* 0, or -ENOSPC: the buffer is full until the timer has been there. */
static int put(const struct pghot_report *report)
{
	int err = 0;

	spin_lock_bh(&lock);
	if (filling->n < TRACKER_REPORTS)
		filling->reports[filling->n++] = *report;
	else
		err = -ENOSPC;
	spin_unlock_bh(&lock);
	return err;
}

/* Who accessed the pages is not known here; a tracker that knows says the node of the accessor. */
static int put_line(const char *line)
{
	struct pghot_report report = { .nid = PGHOT_NID_UNKNOWN };

	if (sscanf(line, "%lli %u %u", &report.pfn, &report.nr_pages, &report.weight) != 3 ||
	    !pghot_report_valid(&report, nr_node_ids))
		return -EINVAL;
	return put(&report);
}

static ssize_t tracker_write(struct file *file, const char __user *from, size_t n, loff_t *pos)
{
	char *text, *rest, *line;
	ssize_t taken = 0;
	int err = 0;

	text = n <= PAGE_SIZE ? memdup_user_nul(from, n) : ERR_PTR(-EFBIG);
	if (IS_ERR(text))
		return PTR_ERR(text);
	for (rest = text; (line = strsep(&rest, "\n")); taken = rest ? rest - text : n) {
		err = *line ? put_line(line) : 0;
		if (err)
			break;
	}
	kfree(text);
	/* Lines that were taken are; the writer comes again with the rest. */
	return taken ?: err;
}

static const struct proc_ops tracker_ops = { .proc_write = tracker_write };

static int __init tracker_init(void)
{
	if (source >= PGHOT_NR_SOURCES) {
		pr_err("source=%u: want 0 to %u, the number of a source's bit\n", source,
		       PGHOT_NR_SOURCES - 1);
		return -EINVAL;
	}
	if (!proc_create("pghot_tracker", 0200, NULL, &tracker_ops))
		return -ENOMEM;
	mod_timer(&timer, jiffies + 1);
	return 0;
}

/* First nobody may write any more, then the timer ends, then what is left is handed over. */
static void __exit tracker_exit(void)
{
	remove_proc_entry("pghot_tracker", NULL);
	timer_shutdown_sync(&timer);
	drain();
}

module_init(tracker_init);
module_exit(tracker_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Example of an external tracker that reports to pghot");
