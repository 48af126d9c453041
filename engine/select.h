/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * select - who goes now: the hottest ready pages of a map, within each target's budget
 *
 * Two passes over the ready areas. The first counts the ready pages in a histogram of heat levels,
 * one per target; it fixes the cut, the level at which the budget ends. The second takes all pages
 * above the cut, and at the cut level as many as still fit, from a cursor on that moves round the
 * map: where heat decides nothing, everybody gets a turn. Memory is constant; nothing is sorted.
 *
 * Where the budget is small and the hot pages many, a pass sees the hottest alone. A sample
 * (select_sample()) tells who else is waiting.
 *
 * Selecting changes no record. A page that is not taken, or taken and not settled, is simply found
 * again by the next pass.
 */
#ifndef PGHOT_ENGINE_SELECT_H
#define PGHOT_ENGINE_SELECT_H

#include "hotmap.h"
#include "port.h"

enum {
	SELECT_MAX_TARGETS = 8,
	SELECT_LEVELS = 32,
	SELECT_TOP_LEVEL = SELECT_LEVELS - 1,	/* pages outside the rate limit */
};

/** struct select_pick - one page to move: its frame, and its heat for whoever wants to know */
struct select_pick {
	u64 pfn;
	u32 heat;
};

/**
 * struct select_target - one node that pages can go to
 * @room: pages that fit there now
 * @tokens: pages that the rate limit allows now
 * @take_all: the node has ample space: one access suffices and no rate limit applies
 * @first: out: this target's picks are @picks[first, first + count)
 * @count: out: how many
 * @ready: out: how many pages were ready for this target
 */
struct select_target {
	u64 room;
	u64 tokens;
	bool take_all;
	u32 first;
	u32 count;
	u64 ready;
};

/**
 * struct selector - where pages go, and the selector's memory between passes
 * @by_nid: index of the target for an accessor's node (PHI_PRECISE), owned by the host
 * @nr_nids: entries in @by_nid
 * @fallback: index of the target when the accessor's node is not known
 * @cursor: page at which the next pass begins
 * @sampled: area at which the next sample begins, counted from the map's first
 * @phase: page within an area at which a sample looks first
 * @hist: ready pages by target and level, of the current pass
 */
struct selector {
	const u8 *by_nid;
	u32 nr_nids;
	u32 fallback;
	u64 cursor;
	u64 sampled;
	u32 phase;
	u32 hist[SELECT_MAX_TARGETS][SELECT_LEVELS];
};

u32 select_level(enum phi_layout layout, u32 heat);
u32 select_hottest(struct selector *sel, struct hotmap *map, struct select_target *targets,
		   u32 nr_targets, struct select_pick *picks, u32 max);
u32 select_sample(struct selector *sel, struct hotmap *map, u64 *pfns, u32 max);

#endif
