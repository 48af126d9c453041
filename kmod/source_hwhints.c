// SPDX-License-Identifier: GPL-2.0-only
/*
 * source_hwhints - hardware memory profilers
 *
 * A profiler looks at one access of many, and tells which physical address it was and what served
 * it. A table has one back end for each kind; the first that is usable is used. A thread empties
 * the rings of all CPUs now and then, sorts out what is no access of memory, and reports the rest.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/freezer.h>
#include <linux/kthread.h>
#include <linux/memory_hotplug.h>
#include <linux/mm.h>
#include <linux/moduleparam.h>
#include <linux/mutex.h>
#include <linux/pfn.h>
#include <linux/printk.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/sysfs.h>
#include <linux/wait.h>

#include "control.h"
#include "fault.h"
#include "govern.h"
#include "hw/relax.h"
#include "hwhints.h"
#include "pghot.h"
#include "source.h"
#include "stat.h"
#include "topology.h"

enum {
	HWHINT_BATCH = 64,		/* reports a call */
	HWHINT_REST_MIN_MS = 4,
	HWHINT_REST_MAX_MS = 128,	/* of an idle system */
	/* The rest between rounds is such that the fullest ring is filled between these. */
	HWHINT_FULL_LOW = 12,		/* percent */
	HWHINT_FULL_HIGH = 25,
};

static const struct hwhint_backend * const backends[] = {
	&hwhint_lab,
	&hwhint_ibs,
	&hwhint_pebs,
#ifdef PGHOT_FAULTS
	&hwhint_clock,
#endif
};

#define for_each_backend(i)	for ((i) = 0; (i) < ARRAY_SIZE(backends); (i)++)

/* What is known of each back end, under the control mutex. */
enum found { UNKNOWN, AVAILABLE, ABSENT, FAILED };
static struct {
	enum found found;
	struct hwhint_why why;
} known[ARRAY_SIZE(backends)];

/**
 * struct hwhint_round - what the thread works with; the final round is the disabling task's
 * @filter: what samples have to be
 * @useful: useful samples since the period was last judged
 * @slow: of these, of slow memory
 * @nr: reports that wait in @reports
 * @reports: on their way to pghot_record_bulk()
 */
struct hwhint_round {
	struct hwhint_filter filter;
	u32 useful;
	u32 slow;
	unsigned int nr;
	struct pghot_report reports[HWHINT_BATCH];
};

/* One round at a time; also taken to change the filter. */
static DEFINE_MUTEX(round_mutex);
static struct hwhint_round the_round;

static const struct hwhint_backend *in_use;	/* under the control mutex */
static struct hwhint_settings settings;		/* likewise; the period is the one that was asked for */
static struct hwhint_relax relax;		/* likewise */
static struct task_struct *task;
static DECLARE_WAIT_QUEUE_HEAD(wait);

/* ---- which back end ---- */

/* Index in backends, or -1: the first that is usable. Fixed when the module is loaded. */
static int wanted = -1;

static int set_backend(const char *value, const struct kernel_param *kp)
{
	unsigned int i;

	wanted = -1;
	if (sysfs_streq(value, "auto"))
		return 0;
	for_each_backend(i) {
		if (sysfs_streq(value, backends[i]->name)) {
			wanted = i;
			return 0;
		}
	}
	pr_err("hwhints_backend=%s: want auto, lab, ibs or pebs\n", value);
	return -EINVAL;
}

static int get_backend(char *buf, const struct kernel_param *kp)
{
	return sysfs_emit(buf, "%s\n", wanted < 0 ? "auto" : backends[wanted]->name);
}

static const struct kernel_param_ops backend_ops = { .set = set_backend, .get = get_backend };
module_param_cb(hwhints_backend, &backend_ops, NULL, 0444);
MODULE_PARM_DESC(hwhints_backend, "memory profiler: auto (the first there is, default), lab, ibs, pebs");

static bool eligible(unsigned int i)
{
	return wanted < 0 ? !backends[i]->on_demand : wanted == (int)i;
}

static void probe(unsigned int i)
{
	known[i].why.text[0] = '\0';
	known[i].found = backends[i]->probe(&known[i].why) ? AVAILABLE : ABSENT;
}

/* ---- rounds ---- */

static void flush(struct hwhint_round *round)
{
	pghot_record_bulk(round->reports, round->nr, PGHOT_SRC_HWHINTS, 0);
	round->nr = 0;
}

/**
 * hwhint_take - for back ends: one sample
 * @round: what drain() was given
 * @nid: node of the CPU that was sampled
 * @sample: the sample
 */
void hwhint_take(struct hwhint_round *round, int nid, const struct hwhint_sample *sample)
{
	static const enum pghot_stat counts[HWHINT_NR_VERDICTS] = {
		[HWHINT_USEFUL] = STAT_hwhint_useful_events,
		[HWHINT_IS_GARBAGE] = STAT_hwhint_filtered_garbage,
		[HWHINT_IS_KERNEL] = STAT_hwhint_filtered_kernel,
		[HWHINT_IS_CACHE] = STAT_hwhint_cache_accesses,
		[HWHINT_IS_QUICK] = STAT_hwhint_filtered_latency,
		[HWHINT_NO_ADDRESS] = STAT_hwhint_filtered_no_address,
	};
	enum hwhint_verdict verdict = hwhint_judge(sample, &round->filter);
	struct page *page = NULL;

	if (verdict == HWHINT_USEFUL) {
		page = pfn_to_online_page(PHYS_PFN(sample->paddr));
		if (!page)
			verdict = HWHINT_IS_GARBAGE;
	}
	stat_inc(STAT_hwhint_total_events);
	stat_inc(counts[verdict]);
	if (!page)
		return;
	if (sample->flags & HWHINT_DRAM)
		stat_inc(STAT_hwhint_dram_accesses);
	if (sample->flags & HWHINT_EXTMEM)
		stat_inc(STAT_hwhint_extmem_accesses);
	round->useful++;
	round->slow += topology_is_slow(page_to_nid(page));
	round->reports[round->nr++] = (struct pghot_report){
		.pfn = PHYS_PFN(sample->paddr),
		.nr_pages = 1,
		.nid = nid,
		.weight = 1,
	};
	if (round->nr == HWHINT_BATCH)
		flush(round);
}

/** hwhint_lost - for back ends: @nr samples were taken, but found no room */
void hwhint_lost(struct hwhint_round *round, u64 nr)
{
	stat_add(STAT_hwhint_total_events, nr);
	stat_add(STAT_hwhint_dropped_events, nr);
}

/* Returns how full the fullest ring was, in percent. */
static unsigned int one_round(void)
{
	unsigned int full;

	mutex_lock(&round_mutex);
	full = in_use->drain(&the_round);
	if (the_round.nr)
		flush(&the_round);
	mutex_unlock(&round_mutex);
	return full;
}

/* Sample less often while that brings little; see hw/relax.h. Only the thread comes here. */
static void adapt_period(void)
{
	struct hwhint_settings with;
	bool changed;

	/* Who disables the source holds that mutex, and waits for this thread. */
	if (the_round.useful < HWHINT_RELAX_SAMPLES || !mutex_trylock(&control_mutex))
		return;
	/* At rest samples of slow memory bring as little as others. */
	changed = hwhint_relax_judge(&relax, the_round.useful, govern_all_rest() ? 0 : the_round.slow);
	the_round.useful = 0;
	the_round.slow = 0;
	if (changed) {
		with = settings;
		with.period = relax.period;
		if (in_use->apply(&with))
			hwhint_relax_init(&relax, settings.period, settings.period_max);
	}
	mutex_unlock(&control_mutex);
}

static int hwhints_thread(void *data)
{
	unsigned int rest_ms = HWHINT_REST_MIN_MS, full;

	set_freezable();
	while (!kthread_should_stop()) {
		full = one_round();
		adapt_period();
		if (full > HWHINT_FULL_HIGH)
			rest_ms = max(rest_ms / 2, (unsigned int)HWHINT_REST_MIN_MS);
		else if (full < HWHINT_FULL_LOW)
			rest_ms = min(rest_ms * 2, (unsigned int)HWHINT_REST_MAX_MS);
		wait_event_freezable_timeout(wait, kthread_should_stop(),
					     msecs_to_jiffies(rest_ms));
	}
	return 0;
}

/* ---- on and off ---- */

static struct hwhint_settings settings_now(void)
{
	return (struct hwhint_settings){
		.period = knob(hwhints_period),
		.period_max = knob(hwhints_period_max),
		.l3miss_only = knob(hwhints_l3miss_only),
		.user_only = knob(hwhints_user_only),
		.latency_min = knob(hwhints_latency_min),
	};
}

static void set_filter(void)
{
	mutex_lock(&round_mutex);
	the_round.filter = (struct hwhint_filter){
		.user_only = settings.user_only,
		.latency_min = settings.latency_min,
	};
	mutex_unlock(&round_mutex);
}

/* Open the first back end that can be opened. 0, or the error of the first that could not. */
static int open_any(void)
{
	int err = -ENODEV, failed;
	unsigned int i;

	for_each_backend(i) {
		if (!eligible(i))
			continue;
		probe(i);
		if (known[i].found != AVAILABLE)
			continue;
		failed = backends[i]->open(&settings, &known[i].why);
		if (!failed) {
			in_use = backends[i];
			return 0;
		}
		known[i].found = FAILED;
		if (err == -ENODEV)
			err = failed;
	}
	return err;
}

/* One line for everything that was looked for. */
static void log_reasons(void)
{
	char *line = kzalloc(ARRAY_SIZE(backends) * (sizeof(struct hwhint_why) + 16), GFP_KERNEL);
	unsigned int i, at = 0;

	if (!line)
		return;
	for_each_backend(i)
		if (eligible(i))
			at += sprintf(line + at, "%s%s: %s", at ? "; " : "", backends[i]->name,
				      known[i].why.text);
	pr_warn("source hwhints: no memory profiler to use (%s)\n", line);
	kfree(line);
}

static void close_it(void)
{
	in_use->stop();
	/* What was sampled until now. */
	one_round();
	in_use->close();
	in_use = NULL;
}

static int hwhints_enable(void)
{
	struct task_struct *created;
	int err;

	settings = settings_now();
	hwhint_relax_init(&relax, settings.period, settings.period_max);
	set_filter();
	err = open_any();
	if (err) {
		log_reasons();
		return err;
	}
	created = fault_point() ? ERR_PTR(-ENOMEM) :
		  kthread_run(hwhints_thread, NULL, "pghot_hwhints");
	if (IS_ERR(created)) {
		close_it();
		return PTR_ERR(created);
	}
	task = created;
	return 0;
}

static void hwhints_disable(void)
{
	kthread_stop(task);
	close_it();
}

static int hwhints_apply(void)
{
	struct hwhint_settings now = settings_now();
	int err;

	if (now.period == settings.period && now.period_max == settings.period_max &&
	    now.l3miss_only == settings.l3miss_only &&
	    now.user_only == settings.user_only && now.latency_min == settings.latency_min)
		return 0;
	err = in_use->apply(&now);
	if (err) {
		pr_warn("source hwhints: %s refuses to sample so (%d); the knob keeps its value\n",
			in_use->name, err);
		return err;
	}
	settings = now;
	hwhint_relax_init(&relax, settings.period, settings.period_max);
	set_filter();
	return 0;
}

static void hwhints_show(struct seq_file *m)
{
	static const char * const words[] = {
		[AVAILABLE] = "available", [ABSENT] = "absent", [FAILED] = "failed",
	};
	unsigned int i;

	for_each_backend(i) {
		/* Hardware does not come and go: asked again only when the source is enabled. */
		if (known[i].found == UNKNOWN)
			probe(i);
		if (backends[i] == in_use)
			seq_printf(m, "hwhint_backend_%s in_use period %u\n", backends[i]->name,
				   in_use->period());
		else
			seq_printf(m, "hwhint_backend_%s %s%s%s\n", backends[i]->name,
				   words[known[i].found], known[i].why.text[0] ? " " : "",
				   known[i].why.text);
	}
}

const struct source source_hwhints = {
	.name = "hwhints",
	.enable = hwhints_enable,
	.disable = hwhints_disable,
	.apply = hwhints_apply,
	.show = hwhints_show,
};
