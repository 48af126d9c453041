// SPDX-License-Identifier: GPL-2.0-only
/* record - the door for reports: checks, counts, and finds the engine */
#include <linux/export.h>
#include <linux/jiffies.h>
#include <linux/memory_hotplug.h>
#include <linux/mm.h>
#include <linux/rcupdate.h>

#include "control.h"
#include "host.h"
#include "kmigrated.h"
#include "pghot.h"
#include "source.h"
#include "stat.h"
#include "topology.h"
#include "trace.h"

enum { PAGES_PER_MIB = (1 << 20) / PAGE_SIZE };

static_assert((int)PGHOT_REPORT_MAX_PAGES <= (int)HOTMAP_SECTION_PAGES);

/* What each source has of its own, by enum pghot_src. */
#define BY_SOURCE(id, name, help)					\
	[PGHOT_SRC_##id] = {						\
		.reported = STAT_pghot_reported_##name,			\
		.recorded = STAT_pghot_recorded_##name,			\
		.weight = KNOB_weight_##name,				\
		.limit_MBps = KNOB_limit_##name##_MBps,			\
	},
static const struct {
	enum pghot_stat reported, recorded;
	enum knob weight, limit_MBps;
} of_source[PGHOT_NR_SOURCES] = { PGHOT_SOURCES(BY_SOURCE) };

/* How far each source has used up its limit, and which limit that was. */
static struct {
	u64 quota;
	u32 limit;
} ____cacheline_aligned_in_smp used[PGHOT_NR_SOURCES];

/**
 * struct call - what holds for all reports of a call
 * @set: the slow nodes
 * @src: who reports
 * @flags: of the call
 * @weight: accesses that one of this source counts for
 * @limit: pages a second that this source may have recorded; 0: any number
 */
struct call {
	struct host_set *set;
	int src;
	unsigned int flags;
	u32 weight;
	u32 limit;
};

static bool crosses(const struct pghot_report *report)
{
	return report->pfn % HOTMAP_SECTION_PAGES + report->nr_pages > HOTMAP_SECTION_PAGES;
}

/* No engine covers these pages: count them by what they are. */
static void count_uncovered(const struct pghot_report *report)
{
	struct page *page = pfn_to_online_page(report->pfn);

	if (page && topology_is_fast(page_to_nid(page)))
		stat_add(STAT_pghot_filtered_fast, report->nr_pages);
	else
		stat_add(STAT_pghot_filtered_untracked, report->nr_pages);
}

/*
 * Does its source's own limit let these pages of slow memory in? What a larger limit let in is no debt
 * under a smaller one, which might take hours to pay it off.
 */
static bool within_limit(const struct call *call, const struct pghot_report *report)
{
	if (!call->limit)
		return true;
	if (READ_ONCE(used[call->src].limit) != call->limit) {
		WRITE_ONCE(used[call->src].limit, call->limit);
		WRITE_ONCE(used[call->src].quota, 0);
	}
	if (quota_take(&used[call->src].quota, jiffies / HZ, call->limit, report->nr_pages))
		return true;
	stat_add(STAT_pghot_filtered_limited, report->nr_pages);
	return false;
}

/*
 * Give the first reports, as many as one node has, to its engine; with a limit one at a time.
 * Returns how many.
 */
static unsigned int record_run(const struct call *call, const struct pghot_report *reports,
			       unsigned int n)
{
	struct slow_node *node = host_find(call->set, reports[0].pfn);
	struct hotmap_tally tally = { 0 };
	unsigned int run = 1;

	if (!node) {
		count_uncovered(&reports[0]);
		return 1;
	}
	if (!within_limit(call, &reports[0]))
		return 1;
	while (!call->limit && run < n && !crosses(&reports[run]) &&
	       engine_covers(&node->engine, reports[run].pfn))
		run++;
	engine_record(&node->engine, reports, run, call->weight, call->flags, &tally);
	stat_add(of_source[call->src].recorded, tally.pages[HOTMAP_RECORDED]);
	if (tally.pages[HOTMAP_UNTRACKED])
		stat_add(STAT_pghot_filtered_untracked, tally.pages[HOTMAP_UNTRACKED]);
	if (tally.pages[HOTMAP_UNMOVABLE])
		stat_add(STAT_pghot_filtered_unmovable, tally.pages[HOTMAP_UNMOVABLE]);
	if (tally.wake)
		kmigrated_kick(node);
	return run;
}

/*
 * A range that crosses into the next section may have two owners, or one and none. A report has at
 * most as many pages as a section, so it touches two.
 */
static void record_split(const struct call *call, const struct pghot_report *report)
{
	struct pghot_report part = *report;

	part.nr_pages = HOTMAP_SECTION_PAGES - report->pfn % HOTMAP_SECTION_PAGES;
	record_run(call, &part, 1);
	part.pfn += part.nr_pages;
	part.nr_pages = report->nr_pages - part.nr_pages;
	record_run(call, &part, 1);
}

static bool all_valid(const struct pghot_report *reports, unsigned int n, int src,
		      unsigned int flags)
{
	unsigned int i;

	if ((!reports && n) || src < 0 || src >= PGHOT_NR_SOURCES || flags & ~PGHOT_REPORT_FLAGS)
		return false;
	for (i = 0; i < n; i++)
		if (!pghot_report_valid(&reports[i], nr_node_ids))
			return false;
	return true;
}

/**
 * pghot_record_bulk - report accesses to pages
 * @reports: what was accessed; see struct pghot_report
 * @n: how many; 0 is allowed and does nothing
 * @src: who reports, PGHOT_SRC_*
 * @flags: PGHOT_SKIP_FREQ, _SKIP_RECENCY, _SKIP_LIMIT, PGHOT_READY; for all reports of the call
 *
 * Any context, NMI included. The cost is that of one compare-and-exchange a page, and one more a
 * report if the source has a limit of its own.
 *
 * Returns 0, or -EINVAL if one report is malformed or @src or @flags are unknown; then none is
 * recorded and pghot_malformed_reports counts the call's reports.
 */
int pghot_record_bulk(const struct pghot_report *reports, unsigned int n, int src,
		      unsigned int flags)
{
	unsigned long pages = 0;
	struct call call;
	unsigned int i;

	if (!all_valid(reports, n, src, flags)) {
		stat_add(STAT_pghot_malformed_reports, n ?: 1);
		return -EINVAL;
	}
	for (i = 0; i < n; i++) {
		pages += reports[i].nr_pages;
		trace_pghot_record(&reports[i], src, flags);
	}
	stat_add(of_source[src].reported, pages);
	if (!source_enabled(src)) {
		stat_add(STAT_pghot_filtered_off, pages);
		return 0;
	}
	rcu_read_lock();
	call = (struct call){
		.set = host_set(),
		.src = src,
		.flags = flags,
		.weight = READ_ONCE(knob_values[of_source[src].weight]),
		.limit = READ_ONCE(knob_values[of_source[src].limit_MBps]) * PAGES_PER_MIB,
	};
	for (i = 0; i < n; ) {
		if (crosses(&reports[i]))
			record_split(&call, &reports[i++]);
		else
			i += record_run(&call, reports + i, n - i);
	}
	rcu_read_unlock();
	return 0;
}
EXPORT_SYMBOL_GPL(pghot_record_bulk);

/**
 * pghot_record_access - report one access to one page
 * @pfn: page frame
 * @nid: node of the accessor, or PGHOT_NID_UNKNOWN
 * @src: who reports, PGHOT_SRC_*
 * @now: when it was, in jiffies; what is older than the promotion window is filtered as stale
 *
 * Any context, NMI included.
 *
 * Returns 0, or -EINVAL for a malformed report.
 */
int pghot_record_access(unsigned long pfn, int nid, int src, unsigned long now)
{
	struct pghot_report report = { .pfn = pfn, .nr_pages = 1, .nid = nid, .weight = 1 };
	unsigned long window = msecs_to_jiffies(knob(promote_freq_window_ms));

	/* What is not stale is looked at by pghot_record_bulk(). */
	if (time_after(jiffies, now + window) && all_valid(&report, 1, src, 0)) {
		trace_pghot_record(&report, src, 0);
		stat_inc(of_source[src].reported);
		stat_inc(STAT_pghot_filtered_stale);
		return 0;
	}
	return pghot_record_bulk(&report, 1, src, 0);
}
EXPORT_SYMBOL_GPL(pghot_record_access);
