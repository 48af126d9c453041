// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "hotmap.h"
#include "walk.h"

_Static_assert(PHI_DEAD_EPOCHS - 1 + HOTMAP_TICK_STEP < PHI_EPOCHS, "ages may alias");
_Static_assert(PHI_HOLD_MAX_EPOCHS + HOTMAP_TICK_STEP < PHI_EPOCHS, "holds may alias");

enum {
	/* Reports whose records are fetched before the first of them is touched: a record costs a
	 * cache miss, and a locked operation does not overlap with the next miss by itself.
	 */
	RECORD_BLOCK = 32,
};

static struct phi_clock clock_of(const struct hotmap *map)
{
	return (struct phi_clock){
		.epoch = port_load(&map->epoch),
		.threshold = port_load(&map->threshold),
	};
}

/**
 * hotmap_init - make an empty map
 * @map: to fill
 * @layout: of its records
 * @window_ms: promotion window, at least 1; an epoch is a quarter of it, rounded up
 * @threshold: frequency threshold, 1..PHI_MAX_THRESHOLD
 * @now_ms: the host's clock, any origin
 */
void hotmap_init(struct hotmap *map, enum phi_layout layout, u32 window_ms, u32 threshold,
		 u64 now_ms)
{
	map->dir = NULL;
	map->epoch = 0;
	map->threshold = threshold;
	map->ready_threshold = threshold;
	map->idle = 1;
	map->layout = layout;
	map->epoch_ms = 0;
	backoff_init(&map->backoff);
	hotmap_set_window(map, window_ms, now_ms);
}

/**
 * hotmap_set_window - change the promotion window
 * @map: to change
 * @window_ms: at least 1
 * @now_ms: the host's clock
 *
 * If it does change, the current epoch starts afresh; ages so far keep their number of epochs.
 */
void hotmap_set_window(struct hotmap *map, u32 window_ms, u64 now_ms)
{
	u32 epoch_ms = window_ms / PHI_WINDOW_EPOCHS + (window_ms % PHI_WINDOW_EPOCHS != 0);

	if (epoch_ms == map->epoch_ms)
		return;
	map->epoch_ms = epoch_ms;
	map->epoch_start_ms = now_ms;
}

/** hotmap_set_threshold - change the frequency threshold; the next sweep applies it to all. */
void hotmap_set_threshold(struct hotmap *map, u32 threshold)
{
	bool take_all = map->ready_threshold < map->threshold;

	port_store(&map->threshold, threshold);
	port_store(&map->ready_threshold, take_all ? 1 : threshold);
}

/** hotmap_set_take_all - mark areas ready from the first access on (free-space shortcut) */
void hotmap_set_take_all(struct hotmap *map, bool take_all)
{
	port_store(&map->ready_threshold, take_all ? 1 : map->threshold);
}

/**
 * hotmap_replace_dir - publish a new directory
 * @map: to change
 * @dir: holds all sections that shall stay; may be NULL
 *
 * Returns the old directory, to be freed once no reader can see it.
 */
struct hotmap_dir *hotmap_replace_dir(struct hotmap *map, struct hotmap_dir *dir)
{
	struct hotmap_dir *old = map->dir;

	port_store_release(&map->dir, dir);
	return old;
}

/**
 * hotmap_attach - put a section in the directory, or take one out
 * @map: has a directory
 * @nr: section number (pfn / HOTMAP_SECTION_PAGES), within the directory
 * @section: zeroed but for @section->records, or NULL to take the present one out
 *
 * Returns what was there before, to be freed once no reader can see it.
 */
struct hotmap_section *hotmap_attach(struct hotmap *map, u64 nr, struct hotmap_section *section)
{
	struct hotmap_section **at = &map->dir->sections[nr - map->dir->first];
	struct hotmap_section *old = *at;

	port_store_release(at, section);
	return old;
}

static void *record_at(enum phi_layout layout, struct hotmap_section *s, u64 pfn)
{
	return (u8 *)s->records + pfn % HOTMAP_SECTION_PAGES * hotmap_record_bytes(layout);
}

/*
 * Set an area's bit unless it is set. The plain look first keeps the cache line shared; it pairs
 * with the full barrier of port_and64() in the walk: either this look comes after the clearing, or
 * the walk sees the record that was written before it.
 */
static bool mark(u64 *word, u64 bit)
{
	return !(port_load(word) & bit) && !(port_or64(word, bit) & bit);
}

/*
 * Record one page; inlined once per layout so that the layout's arithmetic is constant.
 *
 * The clock is read after the record, each time: a record may carry the stamp of an epoch that
 * began since the last look, and to a clock that is behind it would seem forgotten. The acquiring
 * load pairs with the full barrier of the port_cmpxchg() by which another recorder stored it.
 */
static inline __attribute__((always_inline)) enum phi_touched
touch(enum phi_layout layout, struct hotmap *map, struct hotmap_section *s, u64 pfn, s32 nid,
      u32 weight, u32 flags, struct phi *after)
{
	u8 *r8 = record_at(layout, s, pfn), old8 = 0;
	u32 *r32 = (u32 *)r8, old32 = 0;
	struct phi_clock clock;
	enum phi_touched what;
	u32 old, new;

	for (;;) {
		if (layout == PHI_BYTE)
			old = old8 = port_load_acquire(r8);
		else
			old = old32 = port_load_acquire(r32);
		clock = clock_of(map);
		new = old;
		what = phi_touch(layout, &new, &clock, nid, weight, flags, after);
		if (new == old ||
		    (layout == PHI_BYTE ? port_cmpxchg(r8, &old8, (u8)new) :
					  port_cmpxchg(r32, &old32, new)))
			return what;
	}
}

static inline __attribute__((always_inline)) void
record_run(enum phi_layout layout, struct hotmap *map, struct hotmap_section *s, u64 pfn, u64 end,
	   s32 nid, u32 weight, u32 flags, struct hotmap_tally *tally)
{
	u32 ready_threshold = port_load(&map->ready_threshold);
	struct phi after;
	u64 bit;

	for (; pfn < end; pfn++) {
		if (touch(layout, map, s, pfn, nid, weight, flags, &after) == PHI_UNMOVABLE) {
			tally->pages[HOTMAP_UNMOVABLE]++;
			continue;
		}
		tally->pages[HOTMAP_RECORDED]++;
		bit = (u64)1 << pfn % HOTMAP_SECTION_PAGES / HOTMAP_AREA_PAGES;
		if (mark(&s->live, bit) && port_load(&map->idle))
			tally->wake = true;
		if (phi_ready(&after, ready_threshold) && mark(&s->ready, bit))
			tally->wake = true;
	}
}

static void fetch_record(struct hotmap *map, u64 pfn)
{
	struct hotmap_section *s = hotmap_find(map, pfn);

	if (s)
		port_prefetchw(record_at(map->layout, s, pfn));
}

/* Evidence of a report in accesses, saturating. */
static u32 weigh(const struct pghot_report *r, u32 scale)
{
	u64 weight = (u64)r->weight * scale;

	return weight < PGHOT_WEIGHT_MAX ? (u32)weight : (u32)PGHOT_WEIGHT_MAX;
}

static inline __attribute__((always_inline)) void
record_report(enum phi_layout layout, struct hotmap *map, const struct pghot_report *r, u32 scale,
	      u32 flags, struct hotmap_tally *tally)
{
	u64 pfn = r->pfn, last = r->pfn + r->nr_pages, end;
	u32 weight = weigh(r, scale);
	struct hotmap_section *s;

	for (; pfn < last; pfn = end) {
		end = (pfn / HOTMAP_SECTION_PAGES + 1) * HOTMAP_SECTION_PAGES;
		if (end > last)
			end = last;
		s = hotmap_find(map, pfn);
		if (s)
			record_run(layout, map, s, pfn, end, r->nid, weight, flags, tally);
		else
			tally->pages[HOTMAP_UNTRACKED] += end - pfn;
	}
}

/**
 * hotmap_record - take in reports
 * @map: of the node the pages are on
 * @reports: well-formed (pghot_report_valid())
 * @n: how many
 * @scale: accesses that one access of theirs counts for, at least 1
 * @flags: PGHOT_SKIP_* and PGHOT_READY, for all of them
 * @tally: is added to
 *
 * Any context. Work: one compare-and-exchange a page at most, if nobody else writes that record.
 */
void hotmap_record(struct hotmap *map, const struct pghot_report *reports, u64 n, u32 scale,
		   u32 flags, struct hotmap_tally *tally)
{
	u64 at, end, i;

	for (at = 0; at < n; at = end) {
		end = n - at > RECORD_BLOCK ? at + RECORD_BLOCK : n;
		if (end - at > 1)
			for (i = at; i < end; i++)
				fetch_record(map, reports[i].pfn);
		if (map->layout == PHI_BYTE)
			for (i = at; i < end; i++)
				record_report(PHI_BYTE, map, &reports[i], scale, flags, tally);
		else
			for (i = at; i < end; i++)
				record_report(PHI_PRECISE, map, &reports[i], scale, flags, tally);
	}
}

/* Age the records of one area; sets its bits again if something is left. */
static void sweep_area(struct hotmap *map, struct hotmap_section *s, u32 area,
		       const struct phi_clock *clock)
{
	u64 first = (u64)area * HOTMAP_AREA_PAGES, pfn = first;
	u32 threshold = port_load(&map->ready_threshold);
	bool live = false, ready = false;
	struct phi p;
	u32 raw;

	while (walk_next(map->layout, s, &pfn, first + HOTMAP_AREA_PAGES, &raw)) {
		for (;;) {
			u32 aged = phi_age(map->layout, raw, clock);

			if (aged == raw || walk_replace(map->layout, s, pfn, &raw, aged)) {
				raw = aged;
				break;
			}
		}
		pfn++;
		if (!raw)
			continue;
		live = true;
		p = phi_look(map->layout, raw, clock);
		ready |= phi_ready(&p, threshold);
	}
	if (live)
		mark(&s->live, (u64)1 << area);
	if (ready)
		mark(&s->ready, (u64)1 << area);
}

/* Visit every live area. Returns whether any area is live afterwards. */
static bool sweep(struct hotmap *map)
{
	struct phi_clock clock = clock_of(map);
	bool live = false;
	u64 at, areas;

	for (at = 0; map->dir && at < map->dir->nr; at++) {
		struct hotmap_section *s = map->dir->sections[at];

		areas = s ? port_load(&s->live) : 0;
		if (!areas)
			continue;
		port_and64(&s->live, ~areas);
		for (; areas; areas &= areas - 1)
			sweep_area(map, s, walk_first_bit(areas), &clock);
		live |= port_load(&s->live) != 0;
		port_yield();
	}
	return live;
}

static bool any_live(struct hotmap *map)
{
	u64 at;

	for (at = 0; map->dir && at < map->dir->nr; at++)
		if (map->dir->sections[at] && port_load(&map->dir->sections[at]->live))
			return true;
	return false;
}

/*
 * Go to sleep if nothing is live. The idle flag is set before the look at the live words, a
 * recorder sets a live bit before it looks at the flag: one of the two sees the other.
 */
static void settle_to_idle(struct hotmap *map)
{
	port_store(&map->idle, 1);
	port_barrier();
	if (any_live(map))
		port_store(&map->idle, 0);
}

/**
 * hotmap_tick - let the time pass that has passed
 * @map: to age
 * @now_ms: the host's clock; a step back counts as no time
 *
 * Advances the epoch, and sweeps whenever it does. Thread context. Work: one pass over the live
 * areas, at most six if the tick is more than an epoch late.
 *
 * Returns when the next tick is due, or HOTMAP_NO_DEADLINE if none is until a tally says wake.
 */
u64 hotmap_tick(struct hotmap *map, u64 now_ms)
{
	u64 due = 0, step;

	if (map->idle || now_ms < map->epoch_start_ms) {
		map->epoch_start_ms = now_ms;
	} else {
		due = (now_ms - map->epoch_start_ms) / map->epoch_ms;
		map->epoch_start_ms += due * map->epoch_ms;
	}
	/* Beyond this nothing can be left, holds included. */
	if (due > PHI_EPOCHS)
		due = PHI_EPOCHS;
	for (; due; due -= step) {
		step = due < HOTMAP_TICK_STEP ? due : HOTMAP_TICK_STEP;
		port_store(&map->epoch, map->epoch + (u32)step);
		if (!sweep(map))
			break;
	}
	settle_to_idle(map);
	return map->idle ? HOTMAP_NO_DEADLINE : map->epoch_start_ms + map->epoch_ms;
}

/* Epochs for which to leave a page alone. */
static u32 hold_epochs(struct hotmap *map, u64 pfn, enum hotmap_settled how)
{
	u32 epochs;

	if (how == HOTMAP_WAIT)
		return PHI_WINDOW_EPOCHS / 4;
	if (how == HOTMAP_TRIAL)
		return HOTMAP_TRIAL_EPOCHS;
	if (how != HOTMAP_BUSY && how != HOTMAP_STUCK)
		return PHI_HOLD_MAX_EPOCHS;
	epochs = how == HOTMAP_BUSY ? PHI_WINDOW_EPOCHS / 4 : PHI_WINDOW_EPOCHS;
	epochs <<= backoff_refused(&map->backoff, pfn, map->epoch);
	return epochs < PHI_HOLD_MAX_EPOCHS ? epochs : PHI_HOLD_MAX_EPOCHS;
}

static u32 settled_record(const struct hotmap *map, u32 raw, const struct phi_clock *clock,
			  enum hotmap_settled how, u32 epochs)
{
	switch (how) {
	case HOTMAP_RETRY:
		return raw;
	case HOTMAP_BUSY:
	case HOTMAP_STUCK:
	case HOTMAP_CANNOT:
		return phi_refuse(map->layout, raw, clock, epochs, how == HOTMAP_CANNOT);
	case HOTMAP_WAIT:
		return phi_wait(map->layout, raw, clock, epochs);
	case HOTMAP_TRIAL:
		return phi_trial(map->layout, clock, epochs);
	case HOTMAP_MOVED:
	case HOTMAP_GONE:
		break;
	}
	return 0;
}

/**
 * hotmap_settle - say what became of selected pages
 * @map: of the node they were on
 * @pfn: first page
 * @nr_pages: pages; those outside the map are left out
 * @how: the same for all of them
 *
 * Thread context; HOTMAP_GONE: any.
 */
void hotmap_settle(struct hotmap *map, u64 pfn, u64 nr_pages, enum hotmap_settled how)
{
	struct phi_clock clock = clock_of(map);
	u32 epochs = hold_epochs(map, pfn, how);
	u64 end = pfn + nr_pages;
	struct hotmap_section *s;
	u32 raw, new;

	for (; pfn < end; pfn++) {
		s = hotmap_find(map, pfn);
		if (!s)
			continue;
		raw = walk_load(map->layout, s, pfn);
		do {
			new = settled_record(map, raw, &clock, how, epochs);
		} while (new != raw && !walk_replace(map->layout, s, pfn, &raw, new));
		if (new)
			mark(&s->live, (u64)1 << pfn % HOTMAP_SECTION_PAGES / HOTMAP_AREA_PAGES);
	}
}

/** hotmap_any_ready - may any page be ready? Thread context. */
bool hotmap_any_ready(struct hotmap *map)
{
	struct hotmap_section *s;
	u64 at;

	for (at = 0; map->dir && at < map->dir->nr; at++) {
		s = map->dir->sections[at];
		if (s && port_load(&s->ready) & ~port_load(&s->foreign))
			return true;
	}
	return false;
}

/** hotmap_look - the record of one page, judged now; all zero if there is none */
struct phi hotmap_look(struct hotmap *map, u64 pfn)
{
	struct phi_clock clock = clock_of(map);
	struct hotmap_section *s = hotmap_find(map, pfn);

	return phi_look(map->layout, s ? walk_load(map->layout, s, pfn) : 0, &clock);
}

/**
 * hotmap_evidence - how much was seen of pages that can only move together
 * @map: of the node they are on
 * @pfn: first page
 * @nr_pages: pages; those outside the map count nothing
 * @most: what one page can count for at most, so that a single hot one does not speak for all
 *
 * Thread context. Returns the sum of their heat.
 */
u64 hotmap_evidence(struct hotmap *map, u64 pfn, u64 nr_pages, u32 most)
{
	struct phi_clock clock = clock_of(map);
	u64 last = pfn + nr_pages, end, at, stop, sum = 0;
	struct hotmap_section *s;
	struct phi p;
	u32 raw;

	for (; pfn < last; pfn = end) {
		end = (pfn / HOTMAP_SECTION_PAGES + 1) * HOTMAP_SECTION_PAGES;
		if (end > last)
			end = last;
		s = hotmap_find(map, pfn);
		at = pfn % HOTMAP_SECTION_PAGES;
		stop = at + (end - pfn);
		for (; s && walk_next(map->layout, s, &at, stop, &raw); at++) {
			p = phi_look(map->layout, raw, &clock);
			sum += p.heat < most ? p.heat : most;
		}
	}
	return sum;
}
