/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * governor - does promotion pay?
 *
 * On a full target each page that comes drives another one out. That pays if the page that comes is
 * used more than the one that goes; heat alone does not say so, as it is what made the page a
 * candidate in the first place, and may have been chance or over by now. So both are put to the test,
 * under the same conditions: for half a promotion window a few candidates are kept where they are, and
 * a few pages that just arrived from the fast node, the victims, too. All begin with no heat. What a
 * source reports of them during that time is what the exchange is worth. As both groups are measured
 * with the same sources, it does not matter what a report of these stands for.
 *
 *   no skew, or heat by chance:   candidates and victims show the same
 *   a hot set that moved on:      candidates show nothing any more
 *   the same pages to and fro:    victims show as much as candidates
 *   cold memory makes room:       victims show nothing, candidates go on
 *
 * Where hot pages pay, those that are just warm enough to be candidates may not, as where pages are of
 * all heats: then the last ones that came are as warm as the last ones that went. So among the candidates
 * the warm ones are judged once more on their own, each time as strictly as at the beginning, and left alone
 * while they do not pay.
 *
 * Where nothing is driven out there is nothing to weigh, and the governor lets everything go: while
 * nothing arrives, or the target has more room than reclaim leaves there.
 *
 * States. OPEN: nothing is known; all may move while nothing arrives, and a little when something
 * does. PAYS: all may move, or all but warm pages, and when nothing arrives any more it is OPEN again. RESTS: nothing moves; candidates are still tested, against what the victims
 * showed last, which is enough to see a hot set come; and after a time that doubles, PROBES: a little
 * moves, for fresh victims. Time is counted in the hotmap's epochs.
 *
 * A source must be able to show within half a window that a page is in use: hint faults are not.
 */
#ifndef PGHOT_ENGINE_GOVERNOR_H
#define PGHOT_ENGINE_GOVERNOR_H

#include "hotmap.h"
#include "port.h"

enum {
	/* Pages under test at a time in each group, and new ones an epoch. */
	GOVERNOR_WATCHED = 512,
	GOVERNOR_AN_EPOCH = 96,
	/* Results to judge by, at least, of each group. */
	GOVERNOR_RESULTS = 64,
	/*
	 * An exchange pays if candidates have so many halves of the heat of victims, and at least one of
	 * so many parts of what made them candidates. Who was found to pay goes on doing so for less, as
	 * samples are small.
	 */
	GOVERNOR_GAIN_HALVES = 6,
	GOVERNOR_STAYS_PART = 8,
	GOVERNOR_STILL_GAIN_HALVES = 3,
	GOVERNOR_STILL_STAYS_PART = 16,
	/*
	 * Pages an epoch that may move while it is not known whether that pays: one of so many that the
	 * fast nodes have, and at least so many.
	 */
	GOVERNOR_PROBE_PART = 64,
	GOVERNOR_PROBE_LEAST = 1024,
	/* Epochs of rest before a probe, at first and at most. */
	GOVERNOR_REST_MIN = 16,
	GOVERNOR_REST_MAX = 256,
	/* Candidates are tested one of so many that could move, at most. */
	GOVERNOR_PART = 8,
	/* Candidates with less than so many times the heat that makes them such are warm. */
	GOVERNOR_WARM = 2,
	/* Results of these to judge them by, at least. */
	GOVERNOR_WARM_RESULTS = 32,
};

/** governor_warm - is a candidate of this heat only warm, with this threshold? The highest heats never are. */
static inline bool governor_warm(u32 heat, u32 threshold, enum phi_layout layout)
{
	return heat < GOVERNOR_WARM * threshold && heat + 1 < phi_top(layout);
}

#define GOVERNOR_ALL		(~(u64)0)

enum governor_state { GOVERNOR_OPEN, GOVERNOR_PAYS, GOVERNOR_RESTS, GOVERNOR_PROBES };

/**
 * struct governor_group - pages under test, and what came of others
 * @pfn: the pages, a ring
 * @until: epoch in which the test of each is over
 * @head: where the next page is put
 * @nr: how many there are
 * @fresh: how many more may be put there in this epoch
 * @results: tests of late that are over; old ones fade
 * @heat: what they showed in all
 * @warm: of each page in the ring, whether it was warm
 * @warm_results: of @results, those of warm pages
 * @warm_heat: likewise
 * @tested: tests that are over, since the beginning
 * @shown: what these showed in all
 */
struct governor_group {
	u64 pfn[GOVERNOR_WATCHED];
	u32 until[GOVERNOR_WATCHED];
	bool warm[GOVERNOR_WATCHED];
	u32 head;
	u32 nr;
	u32 fresh;
	u64 results;
	u64 heat;
	u64 warm_results;
	u64 warm_heat;
	u64 tested;
	u64 shown;
};

/**
 * struct governor - of one slow node
 * @state: see above
 * @epoch: of the last step
 * @since: epoch in which the state began, or warm pages began to rest
 * @rest: epochs for which the next rest lasts
 * @warm_rests: it pays, but not for warm pages
 * @probe: pages an epoch that may move while nothing is known
 * @left: pages that may move in this epoch
 * @moved: pages that moved of late; fades
 * @arrived: pages that came from fast nodes of late; fades
 * @candidates: ready pages that were kept
 * @victims: pages that came from fast nodes
 */
struct governor {
	enum governor_state state;
	u32 epoch;
	u32 since;
	u32 rest;
	bool warm_rests;
	u64 probe;
	u64 left;
	u64 moved;
	u64 arrived;
	struct governor_group candidates;
	struct governor_group victims;
};

void governor_init(struct governor *g, u32 epoch);
void governor_set_size(struct governor *g, u64 fast_pages);
bool governor_step(struct governor *g, struct hotmap *map);
bool governor_watch(struct governor_group *group, struct hotmap *map, u64 pfn, bool warm);
void governor_moved(struct governor *g, u64 pages);
void governor_arrived(struct governor *g, u64 pages);
u64 governor_allows(const struct governor *g, u64 room);
bool governor_spares(const struct governor *g, u64 room);
u32 governor_wants(const struct governor *g, u64 ready, u64 room);

#endif
