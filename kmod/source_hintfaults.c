// SPDX-License-Identifier: GPL-2.0-only
/*
 * source_hintfaults - NUMA hint faults
 *
 * The kernel arms and takes the faults (kernel.numa_balancing), and asks on each
 * should_numa_migrate_memory() whether to move the page at once. While this source is enabled, that
 * question about a page on a slow node is answered here: the fault is recorded, the answer is no.
 * All other questions reach the kernel's own function. An ftrace handler that changes the return
 * address for the slow ones does it; taking it off gives all of them back to the kernel.
 *
 * How long after its arming a page was touched says how hot it is. Within the kernel's hot
 * threshold (numa_balancing/hot_threshold_ms in debugfs, 1 s) one fault suffices, and the sooner the
 * hotter; a later fault is one access like any other.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/ftrace.h>
#include <linux/jiffies.h>
#include <linux/memory-tiers.h>
#include <linux/mm.h>
#include <linux/printk.h>
#include <linux/sched/sysctl.h>
#include <linux/topology.h>

#include "control.h"
#include "fault.h"
#include "ksym.h"
#include "pghot.h"
#include "source.h"
#include "topology.h"

/*
 * Milliseconds from the arming of the fault to the fault, or ~0 if the kernel did not keep it: it
 * does so for pages that it counts as slow itself, in tiering mode. Puts the time of this fault in
 * its place, as the kernel does.
 */
static unsigned int fault_latency_ms(struct folio *folio)
{
	unsigned int now = jiffies_to_msecs(jiffies), then;

	if (!(ksym_read(sysctl_numa_balancing_mode) & NUMA_BALANCING_MEMORY_TIERING) ||
	    ksym(node_is_toptier)(folio_nid(folio)))
		return ~0U;
	/* folio_xchg_access_time(), whose kernel half is not exported. */
	then = ksym(folio_xchg_last_cpupid)(folio, now >> PAGE_ACCESS_TIME_BUCKETS);
	then <<= PAGE_ACCESS_TIME_BUCKETS;
	return (now - then) & PAGE_ACCESS_TIME_MASK;
}

/* Evidence in accesses: the threshold or more for a prompt fault, by quarters of the hot time. */
static unsigned int fault_weight(struct folio *folio)
{
	unsigned int hot_ms = ksym_read(sysctl_numa_balancing_hot_threshold);
	unsigned int ms = fault_latency_ms(folio);

	if (ms >= hot_ms)
		return 1;
	return knob(freq_threshold) + (ms < hot_ms / 2) + (ms < hot_ms / 4);
}

static noinline notrace bool answer_no(void)
{
	return false;
}

/* Arguments of should_numa_migrate_memory(task, folio, src_nid, dst_cpu). Atomic context. */
static void notrace on_question(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
				struct ftrace_regs *fregs)
{
	struct folio *folio = (struct folio *)ftrace_regs_get_argument(fregs, 1);
	int src_nid = (int)ftrace_regs_get_argument(fregs, 2);
	int dst_cpu = (int)ftrace_regs_get_argument(fregs, 3);
	struct pghot_report report;

	if (!topology_is_slow(src_nid))
		return;
	report = (struct pghot_report){
		.pfn = folio_pfn(folio),
		.nr_pages = folio_nr_pages(folio),
		.nid = cpu_to_node(dst_cpu),
		.weight = fault_weight(folio),
	};
	pghot_record_bulk(&report, 1, PGHOT_SRC_HINTFAULTS, 0);
	ftrace_regs_set_instruction_pointer(fregs, (unsigned long)answer_no);
}

static struct ftrace_ops question_ops;

static int hintfaults_enable(void)
{
	static char name[] = "should_numa_migrate_memory";
	int err;

	/* Afresh each time: ftrace_free_filter() leaves pointers to what it freed. */
	question_ops = (struct ftrace_ops){
		.func = on_question,
		.flags = FTRACE_OPS_FL_IPMODIFY | FTRACE_OPS_FL_RECURSION |
			 FTRACE_OPS_FL_PERMANENT,
	};
	err = fault_point() ? -ENOENT : ftrace_set_filter(&question_ops, name, strlen(name), 1);
	if (err) {
		pr_err("this kernel's %s cannot be traced (%d)\n", name, err);
		return err;
	}
	err = fault_point() ? -EBUSY : register_ftrace_function(&question_ops);
	/* The filter is empty: ftrace_set_filter() is silent about memory that it did not get. */
	if (err == -EINVAL)
		err = -ENOMEM;
	if (err == -EBUSY)
		pr_err("%s is in the hands of a live patch or another module, or kernel.ftrace_enabled is 0\n",
		       name);
	if (err)
		ftrace_free_filter(&question_ops);
	else if (!ksym_read(sysctl_numa_balancing_mode))
		pr_notice("source hintfaults: kernel.numa_balancing is 0, so no fault will come; write 2 to it\n");
	return err;
}

static void hintfaults_disable(void)
{
	WARN_ON(unregister_ftrace_function(&question_ops));
	ftrace_free_filter(&question_ops);
}

const struct source source_hintfaults = {
	.name = "hintfaults",
	.enable = hintfaults_enable,
	.disable = hintfaults_disable,
};
