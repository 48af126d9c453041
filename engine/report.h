/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* report - what a source says: pages were accessed, by whom, how surely */
#ifndef PGHOT_ENGINE_REPORT_H
#define PGHOT_ENGINE_REPORT_H

#include "port.h"

enum {
	PGHOT_REPORT_MAX_PAGES = 32768,	/* 128 MiB of 4 KiB pages */
	PGHOT_WEIGHT_MAX = 1 << 30,
	PGHOT_NID_UNKNOWN = -1,
};

/** Flags of a report; they apply to all reports of one call. */
enum {
	PGHOT_SKIP_FREQ = 1 << 0,	/* one access suffices */
	PGHOT_SKIP_RECENCY = 1 << 1,	/* earlier accesses count in full however old they are */
	PGHOT_SKIP_LIMIT = 1 << 2,	/* promote outside the rate limit */
	PGHOT_READY = 1 << 3,		/* the source has decided: SKIP_FREQ and SKIP_RECENCY */
	PGHOT_REPORT_FLAGS = 0xf,
};

/**
 * struct pghot_report - accesses to pages [pfn, pfn + nr_pages)
 * @pfn: first page frame
 * @nr_pages: 1..PGHOT_REPORT_MAX_PAGES
 * @nid: node of the accessor, or PGHOT_NID_UNKNOWN
 * @weight: evidence for each of the pages, in accesses, 1..PGHOT_WEIGHT_MAX
 */
struct pghot_report {
	u64 pfn;
	u32 nr_pages;
	s32 nid;
	u32 weight;
};

/**
 * pghot_report_valid - is this report well-formed?
 * @r: the report
 * @nr_nids: node numbers end before this
 */
static inline bool pghot_report_valid(const struct pghot_report *r, u32 nr_nids)
{
	return r->nr_pages >= 1 && r->nr_pages <= PGHOT_REPORT_MAX_PAGES &&
	       r->weight >= 1 && r->weight <= PGHOT_WEIGHT_MAX &&
	       r->pfn < (u64)1 << 52 && r->nid >= PGHOT_NID_UNKNOWN && r->nid < (s32)nr_nids;
}

#endif
