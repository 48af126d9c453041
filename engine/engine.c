// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "engine.h"

enum {
	AMPLE_PART = 16,
	AMPLE_SMALL_PART = 8,
};

/**
 * engine_init - make an engine without memory to watch
 * @e: to fill
 * @layout: of its records
 * @window_ms: promotion window, at least 1
 * @threshold: frequency threshold, 1..PHI_MAX_THRESHOLD
 * @now_ms: the host's clock, any origin
 *
 * All pages go to target 0 until engine_route(). Sections are given with hotmap_replace_dir() and
 * hotmap_attach() on @e->map.
 */
void engine_init(struct engine *e, enum phi_layout layout, u32 window_ms, u32 threshold,
		 u64 now_ms)
{
	hotmap_init(&e->map, layout, window_ms, threshold, now_ms);
	e->sel.cursor = 0;
	e->sel.sampled = 0;
	e->sel.phase = 0;
	governor_init(&e->gov, e->map.epoch);
	engine_route(e, NULL, 0, 0);
}

/**
 * engine_route - say where pages go
 * @e: engine
 * @by_nid: index of the target for each accessor's node; stays the host's
 * @nr_nids: entries in @by_nid
 * @fallback: index of the target for pages whose accessor is not known
 *
 * Thread.
 */
void engine_route(struct engine *e, const u8 *by_nid, u32 nr_nids, u32 fallback)
{
	e->sel.by_nid = by_nid;
	e->sel.nr_nids = nr_nids;
	e->sel.fallback = fallback;
}

/**
 * engine_ample_pages - free pages above the promotion watermark at which a target is ample
 * @node_pages: present pages of the target
 * @gib_pages: pages in 1 GiB
 *
 * The kernel asks for max(1 GiB, 1/16 of the node) (pgdat_free_space_enough()). On a node under
 * 8 GiB the 1 GiB would be most of it or all, so there an eighth of the node takes its place:
 * max(min(1 GiB, node / 8), node / 16).
 */
u64 engine_ample_pages(u64 node_pages, u64 gib_pages)
{
	u64 fixed = node_pages / AMPLE_SMALL_PART, part = node_pages / AMPLE_PART;

	if (fixed > gib_pages)
		fixed = gib_pages;
	return fixed > part ? fixed : part;
}

/** engine_covers - is the page tracked by this engine? Any context. */
bool engine_covers(struct engine *e, u64 pfn)
{
	return hotmap_find(&e->map, pfn) != NULL;
}

/**
 * engine_record - take in reports
 * @e: of the node that the pages are on
 * @reports: well-formed (pghot_report_valid())
 * @n: how many
 * @scale: accesses that one access of theirs counts for, at least 1: how much their source is worth
 * @flags: PGHOT_SKIP_* and PGHOT_READY, for all of them
 * @tally: is added to; zero it first
 *
 * Any context.
 */
void engine_record(struct engine *e, const struct pghot_report *reports, u64 n, u32 scale,
		   u32 flags, struct hotmap_tally *tally)
{
	hotmap_record(&e->map, reports, n, scale, flags, tally);
}

/** engine_tick - see hotmap_tick() */
u64 engine_tick(struct engine *e, u64 now_ms)
{
	return hotmap_tick(&e->map, now_ms);
}

/**
 * engine_select - choose the pages to move now; see select_hottest()
 * @e: engine
 * @targets: what each target takes; the out fields are filled in
 * @nr_targets: 0..SELECT_MAX_TARGETS
 * @picks: the chosen pages
 * @max: room in @picks
 *
 * A target with @take_all set makes areas ready from the first access on, until the next call.
 */
u32 engine_select(struct engine *e, struct select_target *targets, u32 nr_targets,
		  struct select_pick *picks, u32 max)
{
	bool take_all = false;
	u32 i;

	for (i = 0; i < nr_targets; i++)
		take_all |= targets[i].take_all;
	hotmap_set_take_all(&e->map, take_all);
	return select_hottest(&e->sel, &e->map, targets, nr_targets, picks, max);
}

/** engine_sample - see select_sample() */
u32 engine_sample(struct engine *e, u64 *pfns, u32 max)
{
	return select_sample(&e->sel, &e->map, pfns, max);
}

/** engine_settle - see hotmap_settle() */
void engine_settle(struct engine *e, u64 pfn, u64 nr_pages, enum hotmap_settled how)
{
	hotmap_settle(&e->map, pfn, nr_pages, how);
}

/** engine_evidence - see hotmap_evidence() */
u64 engine_evidence(struct engine *e, u64 pfn, u64 nr_pages, u32 most)
{
	return hotmap_evidence(&e->map, pfn, nr_pages, most);
}
