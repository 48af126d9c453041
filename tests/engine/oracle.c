// SPDX-License-Identifier: GPL-2.0-only
/*
 * The engine against a naive twin, over millions of random operations.
 *
 * The twin keeps for every page the epoch of its last access in 64 bits, the real time of it in
 * milliseconds, and its heat twice: saturating as the layout does, and in full. It knows no stamps,
 * no bits, no areas and no sweep. After every tick and every pass the two must agree on every page:
 *
 *   - heat, age, hold and node are those of the twin: no stamp was ever read a turn too late or
 *     too early, over any jump of time;
 *   - an age in epochs fits the age in milliseconds;
 *   - a ready page would be ready with the full count, too;
 *   - a pass takes exactly as many pages as the budgets allow, none of which is colder than one it
 *     left, only ready ones, each once;
 *   - reported = recorded + untracked + unmovable; a map that says "no deadline" is empty.
 *
 * Usage: oracle [SEED [OPERATIONS]]
 */
#include "fixture.h"

enum { SECTIONS = 3, PAGES = 1500, NODES = 3, MAX_PICKS = 700 };

struct twin {
	u64 pfn;
	u64 heat;	/* saturating */
	u64 full;	/* not saturating */
	u64 epoch;	/* of the last access */
	u64 held_until;	/* epoch; 0: not held */
	u64 from_ms, to_ms; /* the last access was made at a moment between these */
	s32 nid;
};

/* Refusals of all pages that share a slot of the engine's. */
struct refusals {
	u64 epoch, level;
	bool any;
};

struct world {
	struct engine *e;
	struct refusals refusals[BACKOFF_SLOTS];
	struct twin pages[PAGES];
	u64 threshold, window_ms, now_ms, last_tick_ms, epoch, rng;
	u64 reported, tallied, recorded, moved, passes, jumps, compared;
	bool ticking; /* the engine gave a deadline, so time counts */
};

static u64 top(const struct world *w)
{
	return phi_top(w->e->map.layout);
}

static u64 cooled(const struct world *w, const struct twin *t, u64 heat)
{
	u64 age = w->epoch - t->epoch, need = heat < w->threshold ? heat : w->threshold, i;

	if (age >= 12)
		return 0;
	if (age <= 4 && t->heat == top(w))
		return heat;
	for (i = t->epoch / 4; i < w->epoch / 4; i++)
		heat /= 2;
	return age <= 4 && heat < need ? need : heat;
}

static bool twin_held(const struct world *w, const struct twin *t)
{
	return t->held_until > w->epoch;
}

/* A hold that is over counts as an access one window before its end. */
static void twin_release(const struct world *w, struct twin *t)
{
	if (t->held_until && t->held_until <= w->epoch) {
		t->epoch = t->held_until - 4;
		t->held_until = 0;
		t->from_ms = 0;
		t->to_ms = ~0ull;
	}
}

static u64 twin_heat(const struct world *w, const struct twin *t)
{
	return twin_held(w, t) ? t->heat : cooled(w, t, t->heat);
}

static bool twin_ready(const struct world *w, const struct twin *t, u64 threshold, bool full)
{
	return !twin_held(w, t) && w->epoch - t->epoch <= 4 &&
	       cooled(w, t, full ? t->full : t->heat) >= threshold;
}

static void compare(struct world *w)
{
	u32 epoch_ms = w->e->map.epoch_ms, i;

	for (i = 0; i < PAGES; i++) {
		struct twin *t = &w->pages[i];
		struct phi p = hotmap_look(&w->e->map, t->pfn);

		twin_release(w, t);
		w->compared++;
		check(p.heat == twin_heat(w, t), "page %u heat %u, twin %llu (age %llu, epoch %llu)", i,
		      p.heat, (unsigned long long)twin_heat(w, t),
		      (unsigned long long)(w->epoch - t->epoch), (unsigned long long)w->epoch);
		check(p.hold == (twin_held(w, t) ? t->held_until - w->epoch : 0), "page %u hold %u", i,
		      p.hold);
		if (twin_held(w, t) || !p.heat)
			continue;
		check(p.age == w->epoch - t->epoch, "page %u age %u", i, p.age);
		check(w->e->map.layout == PHI_BYTE || p.nid == t->nid, "page %u nid %d", i, p.nid);
		check(!phi_ready(&p, (u32)w->threshold) || twin_ready(w, t, w->threshold, true),
		      "page %u ready only when saturated", i);
		if (t->to_ms == ~0ull)
			continue;
		check((p.age + 1ull) * epoch_ms > w->last_tick_ms - t->to_ms,
		      "page %u: %u epochs are too few for %llu ms", i, p.age,
		      (unsigned long long)(w->last_tick_ms - t->to_ms));
		check(p.age * (u64)epoch_ms < w->last_tick_ms - t->from_ms + epoch_ms,
		      "page %u: %u epochs are too many for %llu ms", i, p.age,
		      (unsigned long long)(w->last_tick_ms - t->from_ms));
	}
}

static void do_record(struct world *w)
{
	static const u32 weights[] = { 1, 1, 1, 1, 2, 2, 3, 9, 1000, 1000000 };
	struct twin *t = &w->pages[rnd(&w->rng) % PAGES];
	u32 weight = weights[rnd(&w->rng) % 10], scale = rnd(&w->rng) % 4 ? 1 : 1 + rnd(&w->rng) % 6;
	u32 flags = rnd(&w->rng) % 8 ? 0 : (u32)(rnd(&w->rng) % 16);
	s32 nid = (s32)(rnd(&w->rng) % (NODES + 1)) - 1;
	enum hotmap_outcome what = record_scaled(w->e, t->pfn, nid, weight, scale, flags), want;
	u64 heat, full, base, sure = flags & (PGHOT_SKIP_FREQ | PGHOT_READY);
	bool keep = flags & (PGHOT_SKIP_RECENCY | PGHOT_READY), held;

	w->reported++;
	w->tallied++;
	twin_release(w, t);
	held = twin_held(w, t);
	want = held && !t->heat ? HOTMAP_UNMOVABLE : HOTMAP_RECORDED;
	check(what == want, "outcome %d, want %d", what, want);
	if (want == HOTMAP_UNMOVABLE)
		return;
	w->recorded++;
	weight *= scale;
	base = w->epoch - t->epoch < 12 || held ? t->heat : 0;
	heat = keep || held ? base : cooled(w, t, t->heat);
	full = keep || held ? (base ? t->full : 0) : cooled(w, t, t->full);
	full += weight;
	if (heat < top(w))
		heat = heat + weight > top(w) - 1 ? top(w) - 1 : heat + weight;
	if (sure && heat < w->threshold)
		heat = w->threshold;
	if (sure && full < w->threshold)
		full = w->threshold;
	if (flags & PGHOT_SKIP_LIMIT && heat >= w->threshold)
		heat = top(w);
	t->heat = heat;
	t->full = full > heat ? full : heat;
	t->nid = nid >= 0 ? nid : base ? t->nid : -1;
	t->epoch = w->epoch;
	if (!w->ticking) {
		/* The recorder was told to wake the thread, which ticks at once. */
		engine_tick(w->e, w->now_ms);
		w->last_tick_ms = w->now_ms;
		w->ticking = true;
	}
	t->from_ms = w->last_tick_ms;
	t->to_ms = w->now_ms;
}

static void do_tick(struct world *w)
{
	u32 epoch_ms = w->e->map.epoch_ms, before = w->e->map.epoch, i;
	u64 kind = rnd(&w->rng) % 100, deadline;

	if (kind < 80)
		w->now_ms += rnd(&w->rng) % (epoch_ms + 1);
	else if (kind < 95)
		w->now_ms += rnd(&w->rng) % (epoch_ms * 6ull);
	else if (kind < 99)
		w->now_ms += rnd(&w->rng) % (epoch_ms * 40ull);
	else
		w->now_ms += rnd(&w->rng) % (1ull << 40);
	w->jumps += kind >= 95;
	deadline = engine_tick(w->e, w->now_ms);
	w->last_tick_ms = w->now_ms;
	w->epoch += (u32)(w->e->map.epoch - before);
	w->ticking = deadline != HOTMAP_NO_DEADLINE;
	check(!w->ticking || (deadline > w->now_ms && deadline <= w->now_ms + epoch_ms), "deadline");
	compare(w);
	for (i = 0; !w->ticking && i < PAGES; i++)
		check(!w->pages[i].held_until && !cooled(w, &w->pages[i], w->pages[i].heat), "page %u is not dead", i);
}

static struct twin *find(struct world *w, u64 pfn)
{
	u32 i;

	for (i = 0; i < PAGES; i++)
		if (w->pages[i].pfn == pfn)
			return &w->pages[i];
	return NULL;
}

/* How often the hold is doubled: once for each earlier epoch with a refusal, up to three times. */
static u64 twin_level(struct world *w, const struct twin *t)
{
	struct refusals *r = &w->refusals[backoff_slot(t->pfn)];
	u64 ago = w->epoch - r->epoch;

	/* The engine's epochs wrap in 14 bits. */
	if (!r->any || ago % 16384 > 16)
		r->level = 0;
	else if (ago % 16384 && r->level < 3)
		r->level++;
	r->any = true;
	r->epoch = w->epoch;
	return r->level;
}

static u64 twin_cool_once(const struct world *w, u64 heat)
{
	u64 floor = heat <= w->threshold ? heat - 1 : w->threshold;

	return heat / 2 > floor ? heat / 2 : floor;
}

/* It waits for an epoch; its heat stands still but for once a window, if nobody touches it. */
static void twin_wait(const struct world *w, struct twin *t)
{
	if (w->epoch - t->epoch < 4) {
		t->heat = twin_heat(w, t);
		t->full = cooled(w, t, t->full);
	} else if (w->epoch % 4 == 0) {
		t->heat = twin_cool_once(w, t->heat);
		t->full = twin_cool_once(w, t->full);
	}
	t->held_until = t->heat ? w->epoch + 1 : 0;
	if (!t->heat)
		t->nid = -1;
}

static void forget(struct world *w, struct twin *t, enum hotmap_settled how)
{
	u64 age = w->epoch - t->epoch, hold;

	engine_settle(w->e, t->pfn, 1, how);
	if (how == HOTMAP_RETRY)
		return;
	if (how == HOTMAP_MOVED || how == HOTMAP_GONE) {
		t->heat = t->full = 0;
		t->nid = -1;
		w->moved++;
		return;
	}
	if (how == HOTMAP_WAIT) {
		twin_wait(w, t);
		return;
	}
	t->heat = twin_heat(w, t);
	t->full = cooled(w, t, t->full);
	if (age >= 4) {
		t->heat /= 2;
		t->full /= 2;
	}
	hold = 8;
	if (how != HOTMAP_CANNOT) {
		hold = (how == HOTMAP_BUSY ? 1ull : 4ull) << twin_level(w, t);
		hold = hold < 8 ? hold : 8;
	}
	t->held_until = w->epoch + hold;
	if (how == HOTMAP_CANNOT) {
		t->heat = t->full = 0;
		t->nid = -1;
	} else if (!t->heat) {
		t->held_until = 0;
		t->nid = -1;
	}
}

static u32 target_of(const struct world *w, s32 nid)
{
	return w->e->map.layout == PHI_BYTE || nid < 0 ? 1 : nid == 0 ? 0 : 1;
}

static void check_target(struct world *w, const struct select_target *t, u32 at,
			 const struct select_pick *picks)
{
	static u8 taken[PAGES];
	u64 need = t->take_all ? 1 : w->threshold, exempt = 0, ready = 0, limited, most;
	u32 i, coldest = ~0u, level;

	memset(taken, 0, sizeof(taken));
	for (i = 0; i < t->count; i++) {
		struct twin *p = find(w, picks[t->first + i].pfn);

		check(p && !taken[p - w->pages], "pick %u unknown or double", i);
		taken[p - w->pages] = 1;
		check(target_of(w, p->nid) == at, "pick %u for another target", i);
		check(twin_ready(w, p, need, false), "pick %u not ready", i);
		level = select_level(w->e->map.layout, (u32)twin_heat(w, p));
		coldest = level < coldest ? level : coldest;
	}
	for (i = 0; i < PAGES; i++) {
		struct twin *p = &w->pages[i];

		if (target_of(w, p->nid) != at || !twin_ready(w, p, need, false))
			continue;
		ready++;
		exempt += twin_heat(w, p) == top(w);
		level = select_level(w->e->map.layout, (u32)twin_heat(w, p));
		check(taken[i] || level <= coldest || level == SELECT_TOP_LEVEL ||
		      !t->count, "a hotter page was left: level %u, took %u", level, coldest);
	}
	check(t->ready == ready, "ready %llu, twin %llu", (unsigned long long)t->ready,
	      (unsigned long long)ready);
	most = t->room < MAX_PICKS / 2 ? t->room : MAX_PICKS / 2;
	limited = t->take_all || t->tokens > most ? most : t->tokens;
	exempt = exempt < most ? exempt : most;
	limited = limited < most - exempt ? limited : most - exempt;
	if (t->take_all)
		limited = most - exempt;
	ready = ready < exempt + limited ? ready : exempt + limited;
	check(t->count <= t->room, "more than fits");
	/* Only with both targets wanting is the share what is assumed here. */
	check(t->count == ready || t->count > MAX_PICKS / 2, "took %u, want %llu", t->count,
	      (unsigned long long)ready);
}

/*
 * When a target becomes ample, pages below the threshold may wait for the next sweep to mark their
 * areas. The twin knows no areas, so spare it the wait.
 */
static void mark_all(struct world *w)
{
	u64 i;

	for (i = 0; i < SECTIONS; i++)
		w->e->map.dir->sections[i]->ready = w->e->map.dir->sections[i]->live;
}

/* Samples are ready pages; and whoever asks often enough sees each area that has one. */
static void check_sample(struct world *w)
{
	u64 pfns[8], areas[PAGES], seen = 0, want = 0, last = ~0ull, i, j;
	u32 n, call;

	for (i = 0; i < PAGES; i++) {
		u64 area = w->pages[i].pfn / HOTMAP_AREA_PAGES;

		/* The twin's pages go up. */
		if (area != last && twin_ready(w, &w->pages[i], w->threshold, false))
			areas[want++] = last = area;
	}
	for (call = 0; call <= 2 * PAGES / 8; call++) {
		n = engine_sample(w->e, pfns, 8);
		check(n == (want < 8 ? want : 8), "sample of %u, %llu areas", n, (unsigned long long)want);
		for (i = 0; i < n; i++) {
			struct twin *t = find(w, pfns[i]);

			check(t && twin_ready(w, t, w->threshold, false), "a sample is not ready");
			for (j = 0; j < want; j++)
				if (areas[j] == pfns[i] / HOTMAP_AREA_PAGES) {
					areas[j] = 0;
					seen++;
				}
		}
		if (seen == want)
			return;
	}
	check(0, "%llu of %llu areas sampled", (unsigned long long)seen, (unsigned long long)want);
}

static void do_pass(struct world *w)
{
	static const enum hotmap_settled ways[] = {
		HOTMAP_MOVED, HOTMAP_MOVED, HOTMAP_GONE, HOTMAP_RETRY,
		HOTMAP_BUSY, HOTMAP_STUCK, HOTMAP_WAIT, HOTMAP_CANNOT,
	};
	static struct select_pick picks[MAX_PICKS];
	struct select_target t[2];
	u32 i, j;

	for (i = 0; i < 2; i++)
		t[i] = (struct select_target){
			.room = rnd(&w->rng) % 4 ? rnd(&w->rng) % 400 : 0,
			.tokens = rnd(&w->rng) % 4 ? rnd(&w->rng) % 200 : 0,
			.take_all = rnd(&w->rng) % 8 == 0,
		};
	if (t[0].take_all || t[1].take_all)
		mark_all(w);
	engine_select(w->e, t, 2, picks, MAX_PICKS);
	w->passes++;
	check_sample(w);
	for (i = 0; i < 2; i++)
		check_target(w, &t[i], i, picks);
	for (i = 0; i < 2; i++)
		for (j = 0; j < t[i].count; j++)
			forget(w, find(w, picks[t[i].first + j].pfn), ways[rnd(&w->rng) % 8]);
	compare(w);
}

static void run(u64 seed, u64 ops, enum phi_layout layout, u32 window_ms, u32 threshold)
{
	static const u8 by_nid[NODES] = { 0, 1, 1 };
	static struct world w;
	u64 i, kind;

	memset(&w, 0, sizeof(w));
	w.rng = seed;
	w.threshold = threshold;
	w.window_ms = window_ms;
	w.now_ms = w.last_tick_ms = 1000000;
	w.epoch = 1000; /* a twin's epoch is never small enough to reach below zero */
	w.e = fixture_open(layout, window_ms, threshold, SECTIONS);
	w.e->map.epoch = 1000;
	engine_route(w.e, by_nid, NODES, 1);
	for (i = 0; i < PAGES; i++) {
		/* Dense in the first area, thin elsewhere, and at both ends. */
		w.pages[i].pfn = i < 300 ? page(i) : i == PAGES - 1 ?
			page(SECTIONS * (u64)HOTMAP_SECTION_PAGES - 1) : page(i * 61 + 211);
		w.pages[i].nid = -1;
	}
	for (i = 0; i < ops; i++) {
		kind = rnd(&w.rng) % 1000;
		if (kind < 990)
			do_record(&w);
		else if (kind < 996)
			do_tick(&w);
		else
			do_pass(&w);
	}
	check(w.reported == w.tallied && w.recorded && w.moved && w.jumps, "the run did its work");
	ok(1, "%s, window %u ms, threshold %u: %llu reports, %llu passes, %llu pages moved, %llu long jumps, %llu pages compared",
	   layout_name(layout), window_ms, threshold, (unsigned long long)w.reported,
	   (unsigned long long)w.passes, (unsigned long long)w.moved, (unsigned long long)w.jumps,
	   (unsigned long long)w.compared);
	fixture_close(w.e);
}

int main(int argc, char **argv)
{
	static const u32 windows[] = { 1, 7, 100, 3000, 60000 };
	u64 seed = seed_from(argc, argv, 20240611), ops = argc > 2 ? strtoull(argv[2], NULL, 0) : 300000;
	enum phi_layout layout;
	size_t i;

	for (layout = PHI_BYTE; layout <= PHI_PRECISE; layout++)
		for (i = 0; i < sizeof(windows) / sizeof(windows[0]); i++)
			run(seed + i, ops, layout, windows[i], 1 + (seed + i) % PHI_MAX_THRESHOLD);
	return done();
}
