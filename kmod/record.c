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

static_assert(STAT_pghot_reported_pagecache - STAT_pghot_reported_hintfaults ==
	      PGHOT_NR_SOURCES - 1);

static_assert((int)PGHOT_REPORT_MAX_PAGES <= (int)HOTMAP_SECTION_PAGES);

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

/* Give the first reports, as many as one node has, to its engine. Returns how many. */
static unsigned int record_run(struct host_set *set, const struct pghot_report *reports,
			       unsigned int n, unsigned int flags)
{
	struct slow_node *node = host_find(set, reports[0].pfn);
	struct hotmap_tally tally = { 0 };
	unsigned int run = 1;

	if (!node) {
		count_uncovered(&reports[0]);
		return 1;
	}
	while (run < n && !crosses(&reports[run]) &&
	       engine_covers(&node->engine, reports[run].pfn))
		run++;
	engine_record(&node->engine, reports, run, flags, &tally);
	stat_add(STAT_pghot_recorded_accesses, tally.pages[HOTMAP_RECORDED]);
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
static void record_split(struct host_set *set, const struct pghot_report *report,
			 unsigned int flags)
{
	struct pghot_report part = *report;

	part.nr_pages = HOTMAP_SECTION_PAGES - report->pfn % HOTMAP_SECTION_PAGES;
	record_run(set, &part, 1, flags);
	part.pfn += part.nr_pages;
	part.nr_pages = report->nr_pages - part.nr_pages;
	record_run(set, &part, 1, flags);
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
 * Any context, NMI included. The cost is that of one compare-and-exchange a page.
 *
 * Returns 0, or -EINVAL if one report is malformed or @src or @flags are unknown; then none is
 * recorded and pghot_malformed_reports counts the call's reports.
 */
int pghot_record_bulk(const struct pghot_report *reports, unsigned int n, int src,
		      unsigned int flags)
{
	unsigned long pages = 0;
	struct host_set *set;
	unsigned int i;

	if (!all_valid(reports, n, src, flags)) {
		stat_add(STAT_pghot_malformed_reports, n ?: 1);
		return -EINVAL;
	}
	for (i = 0; i < n; i++) {
		pages += reports[i].nr_pages;
		trace_pghot_record(&reports[i], src, flags);
	}
	stat_add(STAT_pghot_reported_hintfaults + src, pages);
	if (!source_enabled(src)) {
		stat_add(STAT_pghot_filtered_off, pages);
		return 0;
	}
	rcu_read_lock();
	set = host_set();
	for (i = 0; i < n; ) {
		if (crosses(&reports[i]))
			record_split(set, &reports[i++], flags);
		else
			i += record_run(set, reports + i, n - i, flags);
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

	if (all_valid(&report, 1, src, 0) && time_after(jiffies, now + window)) {
		trace_pghot_record(&report, src, 0);
		stat_inc(STAT_pghot_reported_hintfaults + src);
		stat_inc(STAT_pghot_filtered_stale);
		return 0;
	}
	return pghot_record_bulk(&report, 1, src, 0);
}
EXPORT_SYMBOL_GPL(pghot_record_access);
