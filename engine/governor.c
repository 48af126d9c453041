// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "governor.h"

/* What counts as an exchange: one page that arrives for so many that move. */
#define EXCHANGE_PART	4

static void group_init(struct governor_group *group)
{
	group->head = 0;
	group->nr = 0;
	group->fresh = GOVERNOR_AN_EPOCH;
	group->results = 0;
	group->heat = 0;
	group->warm_results = 0;
	group->warm_heat = 0;
	group->tested = 0;
	group->shown = 0;
}

/** governor_init - nothing is known; @epoch: of the map */
void governor_init(struct governor *g, u32 epoch)
{
	g->state = GOVERNOR_OPEN;
	g->epoch = epoch;
	g->since = epoch;
	g->rest = GOVERNOR_REST_MIN;
	g->warm_rests = false;
	g->probe = GOVERNOR_PROBE_LEAST;
	g->left = GOVERNOR_ALL;
	g->moved = 0;
	g->arrived = 0;
	group_init(&g->candidates);
	group_init(&g->victims);
}

/** governor_set_size - @fast_pages: what the fast nodes have, which says how much is a little */
void governor_set_size(struct governor *g, u64 fast_pages)
{
	g->probe = fast_pages / GOVERNOR_PROBE_PART;
	if (g->probe < GOVERNOR_PROBE_LEAST)
		g->probe = GOVERNOR_PROBE_LEAST;
}

/**
 * governor_watch - test a page from now on
 * @group: it belongs to
 * @map: of the node it is on
 * @pfn: the page
 * @warm: it is a candidate that is only warm
 *
 * Thread context. Returns false if there is no room for more, and leaves the page alone.
 */
bool governor_watch(struct governor_group *group, struct hotmap *map, u64 pfn, bool warm)
{
	if (!group->fresh || group->nr == GOVERNOR_WATCHED)
		return false;
	group->fresh--;
	group->pfn[group->head] = pfn;
	group->until[group->head] = map->epoch + HOTMAP_TRIAL_EPOCHS;
	group->warm[group->head] = warm;
	group->head = (group->head + 1) % GOVERNOR_WATCHED;
	group->nr++;
	hotmap_settle(map, pfn, 1, HOTMAP_TRIAL);
	return true;
}

/** governor_moved - so many pages moved to the fast nodes */
void governor_moved(struct governor *g, u64 pages)
{
	g->moved += pages;
	if (g->left != GOVERNOR_ALL)
		g->left -= pages < g->left ? pages : g->left;
}

/** governor_arrived - so many pages came from the fast nodes */
void governor_arrived(struct governor *g, u64 pages)
{
	g->arrived += pages;
}

/* Take down what the pages showed whose test is over. Those that are gone say nothing. */
static void group_collect(struct governor_group *group, struct hotmap *map)
{
	u32 at, heat;

	for (; group->nr; group->nr--) {
		at = (group->head + GOVERNOR_WATCHED - group->nr) % GOVERNOR_WATCHED;
		if ((s32)(map->epoch - group->until[at]) < 0)
			break;
		heat = hotmap_look(map, group->pfn[at]).raw_heat;
		if (!heat)
			continue;
		group->results++;
		group->heat += heat - 1;
		if (group->warm[at]) {
			group->warm_results++;
			group->warm_heat += heat - 1;
		}
		group->tested++;
		group->shown += heat - 1;
	}
	group->fresh = GOVERNOR_AN_EPOCH;
}

static void group_fade(struct governor_group *group)
{
	group->results /= 2;
	group->heat /= 2;
	group->warm_results /= 2;
	group->warm_heat /= 2;
}

/* Is there enough to judge by? */
static bool can_judge(const struct governor *g)
{
	return g->candidates.results >= GOVERNOR_RESULTS && g->victims.results >= GOVERNOR_RESULTS;
}

/* Do candidates that showed so much stay hot, and are they hotter than victims? */
static bool gains(const struct governor *g, u64 heat, u64 results, u32 threshold, bool still)
{
	u64 halves = still ? GOVERNOR_STILL_GAIN_HALVES : GOVERNOR_GAIN_HALVES;
	u64 part = still ? GOVERNOR_STILL_STAYS_PART : GOVERNOR_STAYS_PART;

	return heat * part >= results * threshold &&
	       2 * heat * g->victims.results >= halves * g->victims.heat * results;
}

/* Do pages leave for those that come? */
static bool exchanges(const struct governor *g)
{
	return g->arrived && g->arrived * EXCHANGE_PART >= g->moved;
}

/* Reclaim leaves less room than this, so nobody has to go for pages that come to what is above. */
static bool has_room(const struct governor *g, u64 room)
{
	return room > g->probe;
}

/**
 * governor_allows - how many pages may move now
 * @g: the governor
 * @room: pages that the target has room for
 *
 * Returns GOVERNOR_ALL if as many as there are.
 */
u64 governor_allows(const struct governor *g, u64 room)
{
	if (has_room(g, room) && room - g->probe > g->left)
		return room - g->probe;
	return g->left;
}

/** governor_spares - are warm pages to stay where they are? @room: pages that the target has room for */
bool governor_spares(const struct governor *g, u64 room)
{
	return g->warm_rests && !has_room(g, room);
}

/**
 * governor_wants - how many candidates to test now
 * @g: the governor
 * @ready: ready pages
 * @room: pages that the target has room for
 *
 * None where nothing has to be weighed: a page that is kept loses time.
 */
u32 governor_wants(const struct governor *g, u64 ready, u64 room)
{
	u64 most = g->state == GOVERNOR_RESTS ? ready : ready / GOVERNOR_PART;

	if (has_room(g, room) || (g->state == GOVERNOR_OPEN && !exchanges(g)))
		return 0;
	return most < g->candidates.fresh ? (u32)most : g->candidates.fresh;
}

static void enter(struct governor *g, enum governor_state state)
{
	g->state = state;
	g->since = g->epoch;
}

static void judge(struct governor *g, u32 threshold)
{
	const struct governor_group *c = &g->candidates;
	u64 heat = c->heat, results = c->results;

	if (!can_judge(g))
		return;
	if (g->warm_rests) {
		/* What does not move says nothing of what does. */
		heat -= c->warm_heat;
		results -= c->warm_results;
		if (results < GOVERNOR_WARM_RESULTS)
			return;
	}
	if (gains(g, heat, results, threshold, g->state == GOVERNOR_PAYS)) {
		if (g->state != GOVERNOR_PAYS)
			enter(g, GOVERNOR_PAYS);
		g->rest = GOVERNOR_REST_MIN;
		return;
	}
	/* If nobody has to go, what victims show is of an earlier time. */
	if (g->state == GOVERNOR_RESTS || !exchanges(g))
		return;
	if (g->state == GOVERNOR_PROBES)
		g->rest = g->rest < GOVERNOR_REST_MAX / 2 ? g->rest * 2 : GOVERNOR_REST_MAX;
	enter(g, GOVERNOR_RESTS);
}

/* Victims are few while warm pages rest, so after a while these go once more, to be judged anew. */
static void judge_warm(struct governor *g, u32 threshold)
{
	const struct governor_group *c = &g->candidates;
	bool rests = g->warm_rests;

	if (g->state != GOVERNOR_PAYS || (rests && g->epoch - g->since >= GOVERNOR_REST_MAX))
		rests = false;
	else if (can_judge(g) && c->warm_results >= GOVERNOR_WARM_RESULTS)
		rests = !gains(g, c->warm_heat, c->warm_results, threshold, false);
	if (rests && !g->warm_rests)
		g->since = g->epoch;
	g->warm_rests = rests;
}

/* A probe's victims have been tested, or there were none. */
static void end_probe(struct governor *g)
{
	if (g->state == GOVERNOR_PROBES && g->epoch - g->since > 2 * HOTMAP_TRIAL_EPOCHS)
		enter(g, exchanges(g) ? GOVERNOR_RESTS : GOVERNOR_OPEN);
}

static void begin_probe(struct governor *g)
{
	if (g->state != GOVERNOR_RESTS || g->epoch - g->since < g->rest)
		return;
	enter(g, GOVERNOR_PROBES);
	/* Only fresh victims count. */
	g->victims.results = 0;
	g->victims.heat = 0;
	g->moved = 0;
	g->arrived = 0;
}

static u64 allowance(const struct governor *g)
{
	switch (g->state) {
	case GOVERNOR_OPEN:
		return exchanges(g) ? g->probe : GOVERNOR_ALL;
	case GOVERNOR_PAYS:
		return GOVERNOR_ALL;
	case GOVERNOR_PROBES:
		return g->epoch == g->since ? g->probe : 0;
	case GOVERNOR_RESTS:
		break;
	}
	return 0;
}

/* Old results count half, every other epoch. At rest those of victims must last. */
static void fade(struct governor *g)
{
	if (g->epoch % 2)
		return;
	group_fade(&g->candidates);
	if (g->state != GOVERNOR_RESTS || g->victims.results > GOVERNOR_WATCHED)
		group_fade(&g->victims);
	g->moved /= 2;
	g->arrived /= 2;
}

/**
 * governor_step - judge anew if time has passed
 * @g: the governor
 * @map: of the node; it was ticked
 *
 * Thread context. Returns whether the state, or what is decided of warm pages, is another now.
 */
bool governor_step(struct governor *g, struct hotmap *map)
{
	enum governor_state before = g->state;
	bool rested = g->warm_rests;

	if (map->epoch == g->epoch)
		return false;
	g->epoch = map->epoch;
	group_collect(&g->candidates, map);
	group_collect(&g->victims, map);
	judge(g, map->threshold);
	if (g->state == GOVERNOR_PAYS && !g->arrived && !g->warm_rests)
		enter(g, GOVERNOR_OPEN);
	end_probe(g);
	begin_probe(g);
	judge_warm(g, map->threshold);
	g->left = allowance(g);
	fade(g);
	return g->state != before || g->warm_rests != rested;
}
