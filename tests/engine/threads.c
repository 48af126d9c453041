// SPDX-License-Identifier: GPL-2.0-only
/*
 * The engine under real concurrency: three recorders and the owner of the map, for half a second
 * each in both layouts, with time standing still and with time passing. To be run under the
 * address and the thread sanitizer.
 *
 * While it runs, the owner does as a host's thread does: tick, select, settle in every way, and
 * sleep when the tick gave no deadline until a recorder's tally said wake. When all have stopped:
 *
 *   - reported = recorded + untracked + unmovable, for every recorder;
 *   - with time standing still, pages that nobody settles hold the sum of all weights, saturated;
 *   - a record that is not zero lies in a live area, a ready one in a ready area;
 *   - the owner does not sleep on live records without having been woken;
 *   - a pass with a large budget finds all ready pages;
 *   - left alone for three windows, the map is empty: no record was out of the sweep's sight.
 *
 * A quota is asked by all at once, too.
 *
 * Usage: threads [SEED]
 */
#include <pthread.h>
#include <sched.h>
#include <time.h>

#include "fixture.h"

enum {
	RECORDERS = 3,
	RUN_MS = 500,
	WINDOW_MS = 400,
	THRESHOLD = 2,
	SECTIONS = 4,
	QUIET_FIRST = 3 * HOTMAP_SECTION_PAGES,	/* pages that are not settled: a section ... */
	QUIET_PAGES = 300,			/* ... and every so many pages there */
	QUIET_STEP = 7,
	QUIET_MOST = 2000,			/* weight from each recorder: below saturation */
	BATCH = 40,
	MAX_PICKS = 1024,
	QUOTA_ASKED = 2000000,			/* by each of the recorders */
	QUOTA_PAGES = 4000000,
	DRAIN_EPOCHS = PHI_DEAD_EPOCHS + PHI_HOLD_MAX_EPOCHS + 1,
};

struct world {
	struct engine *e;
	bool moving;			/* time passes */
	u64 seed;
	u64 now_ms;			/* the owner's */
	u64 moved, passes, naps;
	u32 wake, stop;			/* atomic */
};

struct recorder {
	struct world *w;
	u64 rng;
	u64 reported;
	struct hotmap_tally tally;
	u32 quiet[QUIET_PAGES];		/* weight given */
	pthread_t thread;
};

static unsigned long roll(u64 *state)
{
	unsigned long s = *state, r = rnd(&s);

	*state = s;
	return r >> 8;
}

static u64 quiet_page(u32 at)
{
	return page(QUIET_FIRST + at * (u64)QUIET_STEP);
}

/* Mostly a few pages, so that recorders meet; some ranges, some anywhere, some outside. */
static struct pghot_report draw(struct recorder *r)
{
	struct pghot_report report = {
		.nr_pages = 1, .nid = (s32)(roll(&r->rng) % 4) - 1, .weight = 1,
	};
	u64 kind = roll(&r->rng) % 100, at;

	if (kind < 60) {
		report.pfn = page(roll(&r->rng) % 64 * 1021);
	} else if (kind < 61) {
		report.pfn = page(HOTMAP_SECTION_PAGES - roll(&r->rng) % 2000);
		report.nr_pages = 1 + (u32)(roll(&r->rng) % 700);
	} else if (kind < 63) {
		report.pfn = page(0) - 1 - roll(&r->rng) % 1000;
	} else if (kind < 80 && !r->w->moving) {
		at = roll(&r->rng) % QUIET_PAGES;
		report.pfn = quiet_page((u32)at);
		report.weight += (u32)(roll(&r->rng) % 2);
		if (r->quiet[at] + report.weight > QUIET_MOST)
			report.pfn = page(0);
		else
			r->quiet[at] += report.weight;
	} else {
		report.pfn = page(roll(&r->rng) % 3000 * 29);
	}
	return report;
}

static void *recorder_main(void *arg)
{
	static const u32 flags[] = { 0, 0, 0, 0, 0, PGHOT_SKIP_FREQ, PGHOT_READY, PGHOT_SKIP_LIMIT };
	struct recorder *r = arg;
	struct pghot_report reports[BATCH];
	u64 n, i, batches = 0;
	bool quiet;

	while (!__atomic_load_n(&r->w->stop, __ATOMIC_RELAXED)) {
		n = 1 + roll(&r->rng) % BATCH;
		quiet = false;
		for (i = 0; i < n; i++) {
			reports[i] = draw(r);
			r->reported += reports[i].nr_pages;
			quiet |= reports[i].pfn >= page(QUIET_FIRST);
		}
		/* Flags could raise the heat of a quiet page above its sum of weights. */
		r->tally.wake = false;
		engine_record(r->w->e, reports, n, 1, quiet ? 0 : flags[roll(&r->rng) % 8], &r->tally);
		if (r->tally.wake)
			__atomic_store_n(&r->w->wake, 1, __ATOMIC_SEQ_CST);
		/* Let the map become idle at times. */
		if (r->w->moving && ++batches % 64 == 0)
			nanosleep(&(struct timespec){ .tv_nsec = 2000000 }, NULL);
	}
	return NULL;
}

static void settle(struct world *w, u64 *rng, const struct select_pick *pick)
{
	static const enum hotmap_settled ways[] = {
		HOTMAP_MOVED, HOTMAP_MOVED, HOTMAP_GONE, HOTMAP_RETRY,
		HOTMAP_BUSY, HOTMAP_STUCK, HOTMAP_WAIT, HOTMAP_CANNOT,
	};
	enum hotmap_settled how = ways[roll(rng) % 8];

	check(engine_covers(w->e, pick->pfn), "a page outside of the map was selected");
	if (pick->pfn >= page(QUIET_FIRST))
		how = HOTMAP_RETRY;
	engine_settle(w->e, pick->pfn, 1, how);
	w->moved += how == HOTMAP_MOVED;
}

/* One pass of the owner. Returns when the next is due. */
static u64 work(struct world *w, u64 *rng)
{
	static struct select_pick picks[MAX_PICKS];
	struct select_target t[2];
	u32 i, j;

	engine_tick(w->e, w->now_ms);
	for (i = 0; i < 2; i++)
		t[i] = (struct select_target){
			.room = roll(rng) % 600, .tokens = roll(rng) % 600,
			.take_all = w->moving && roll(rng) % 4 == 0,
		};
	engine_select(w->e, t, 2, picks, MAX_PICKS);
	for (i = 0; i < 2; i++) {
		check(t[i].count <= t[i].room, "more pages were selected than there is room");
		for (j = 0; j < t[i].count; j++)
			settle(w, rng, &picks[t[i].first + j]);
	}
	w->passes++;
	return engine_tick(w->e, w->now_ms);
}

static void *owner_main(void *arg)
{
	struct world *w = arg;
	u64 rng = w->seed + 99;

	while (!__atomic_load_n(&w->stop, __ATOMIC_RELAXED)) {
		__atomic_store_n(&w->wake, 0, __ATOMIC_SEQ_CST);
		if (w->moving)
			w->now_ms += roll(&rng) % WINDOW_MS;
		if (work(w, &rng) != HOTMAP_NO_DEADLINE)
			continue;
		w->naps++;
		while (!__atomic_load_n(&w->wake, __ATOMIC_SEQ_CST) &&
		       !__atomic_load_n(&w->stop, __ATOMIC_RELAXED))
			sched_yield();
	}
	return NULL;
}

static void check_quiet(struct world *w, const struct recorder *r)
{
	u32 most = phi_top(w->e->map.layout) - 1, i, j, sum, right = 0;

	for (i = 0; i < QUIET_PAGES; i++) {
		for (sum = j = 0; j < RECORDERS; j++)
			sum += r[j].quiet[i];
		right += hotmap_look(&w->e->map, quiet_page(i)).heat == (sum < most ? sum : most);
	}
	is(right, QUIET_PAGES, "every page that was not settled holds the sum of its weights");
}

/* Returns the number of ready pages. */
static u64 check_bits(struct world *w)
{
	struct engine *e = w->e;
	u64 pfn, ready = 0, lost = 0, dark = 0, live_areas = 0;

	for (pfn = page(0); pfn < page(SECTIONS * (u64)HOTMAP_SECTION_PAGES); pfn++) {
		struct hotmap_section *s = hotmap_find(&e->map, pfn);
		u64 at = pfn % HOTMAP_SECTION_PAGES, area = at / HOTMAP_AREA_PAGES;
		u32 raw = e->map.layout == PHI_BYTE ? ((u8 *)s->records)[at] :
			  ((u32 *)s->records)[at];
		struct phi p = hotmap_look(&e->map, pfn);

		lost += raw && !(s->live >> area & 1);
		dark += phi_ready(&p, THRESHOLD) && !(s->ready >> area & 1);
		ready += phi_ready(&p, THRESHOLD);
		live_areas |= s->live;
	}
	is((long long)lost, 0, "every record lies in a live area");
	is((long long)dark, 0, "every ready page lies in a ready area");
	ok(!e->map.idle || !live_areas || w->wake, "nobody sleeps on live records unwoken");
	return ready;
}

static void check_ready(struct world *w, u64 ready)
{
	u32 most = SECTIONS * HOTMAP_SECTION_PAGES;
	struct select_pick *picks = calloc(2 * (size_t)most, sizeof(*picks));
	struct select_target t[2] = { { .room = most, .tokens = most }, { .room = most, .tokens = most } };

	is(engine_select(w->e, t, 2, picks, 2 * most), (long long)ready,
	   "a pass finds all ready pages");
	free(picks);
}

static void check_drained(struct world *w)
{
	u64 deadline = 0, pfn, left = 0;
	u32 i;

	engine_tick(w->e, w->now_ms);
	for (i = 0; i < DRAIN_EPOCHS; i++)
		deadline = engine_tick(w->e, w->now_ms += WINDOW_MS / PHI_WINDOW_EPOCHS);
	for (pfn = page(0); pfn < page(SECTIONS * (u64)HOTMAP_SECTION_PAGES); pfn++)
		left += hotmap_look(&w->e->map, pfn).raw_heat != 0;
	ok(deadline == HOTMAP_NO_DEADLINE && !left, "left alone, the map is empty in the end");
}

static void run(u64 seed, enum phi_layout layout, bool moving)
{
	static const u8 by_nid[] = { 0, 1, 1 };
	static struct recorder r[RECORDERS];
	struct world w = { .moving = moving, .seed = seed, .now_ms = 1000 };
	u64 recorded = 0, bad = 0, ready;
	pthread_t owner;
	u32 i, j;

	memset(r, 0, sizeof(r));
	w.e = fixture_open(layout, WINDOW_MS, THRESHOLD, SECTIONS);
	engine_route(w.e, by_nid, 3, 1);
	check(!pthread_create(&owner, NULL, owner_main, &w), "no thread");
	for (i = 0; i < RECORDERS; i++) {
		r[i].w = &w;
		r[i].rng = (seed + i + 1) * 2654435761u;
		check(!pthread_create(&r[i].thread, NULL, recorder_main, &r[i]), "no thread");
	}
	nanosleep(&(struct timespec){ .tv_nsec = RUN_MS * 1000000L }, NULL);
	__atomic_store_n(&w.stop, 1, __ATOMIC_RELAXED);
	pthread_join(owner, NULL);
	for (i = 0; i < RECORDERS; i++) {
		pthread_join(r[i].thread, NULL);
		for (j = 0; j < HOTMAP_NR_OUTCOMES; j++)
			r[i].reported -= r[i].tally.pages[j];
		bad += r[i].reported != 0;
		recorded += r[i].tally.pages[HOTMAP_RECORDED];
	}
	printf("# %s, time %s: %llu pages recorded, %llu moved, %llu passes, %llu naps\n",
	       layout_name(layout), moving ? "passes" : "stands still",
	       (unsigned long long)recorded, (unsigned long long)w.moved,
	       (unsigned long long)w.passes, (unsigned long long)w.naps);
	is((long long)bad, 0, "reported = recorded + untracked + unmovable");
	ok(recorded && w.moved && w.passes && w.moved <= recorded, "the run did its work");
	if (!moving)
		check_quiet(&w, r);
	ready = check_bits(&w);
	check_ready(&w, ready);
	check_drained(&w);
	fixture_close(w.e);
}

/** struct claimant - one of many that ask a quota for pages */
struct claimant {
	u64 *quota;
	u32 granted;
	pthread_t thread;
};

static void *claimant_main(void *data)
{
	struct claimant *c = data;
	u32 i;

	for (i = 0; i < QUOTA_ASKED; i++)
		c->granted += quota_take(c->quota, 7, QUOTA_PAGES, 1);
	return NULL;
}

static void run_quota(void)
{
	struct claimant c[RECORDERS] = { 0 };
	u64 quota = 0, granted = 0;
	u32 i;

	for (i = 0; i < RECORDERS; i++) {
		c[i].quota = &quota;
		check(!pthread_create(&c[i].thread, NULL, claimant_main, &c[i]), "no thread");
	}
	for (i = 0; i < RECORDERS; i++) {
		pthread_join(c[i].thread, NULL);
		granted += c[i].granted;
	}
	is((long long)granted, QUOTA_PAGES, "many who ask a quota at once get all of it and no more");
}

int main(int argc, char **argv)
{
	u64 seed = seed_from(argc, argv, 7);
	enum phi_layout layout;

	for (layout = PHI_BYTE; layout <= PHI_PRECISE; layout++) {
		run(seed, layout, false);
		run(seed, layout, true);
	}
	run_quota();
	return done();
}
