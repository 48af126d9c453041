// SPDX-License-Identifier: GPL-2.0-only
/* The engine's rules one by one, in both layouts: each test is a sentence of the documentation. */
#include "fixture.h"

enum { WINDOW_MS = 4000, EPOCH_MS = 1000 };

static struct select_pick picks[4096];

static void test_threshold(enum phi_layout layout)
{
	struct engine *e = fixture_open(layout, WINDOW_MS, 2, 2);

	record_one(e, page(7), 0, 1, 0);
	is(select_one(e, 100, 100, false, picks, 100), 0, "one access is not enough for threshold 2");
	record_one(e, page(7), 0, 1, 0);
	is(select_one(e, 100, 100, false, picks, 100), 1, "two accesses within the window are");
	is((long long)picks[0].pfn, (long long)page(7), "and it is that page");
	record_one(e, page(9), 0, 2, 0);
	is(select_one(e, 100, 100, false, picks, 100), 2, "one report of weight 2 is enough");
	fixture_close(e);
}

static void test_scale(enum phi_layout layout)
{
	struct engine *e = fixture_open(layout, WINDOW_MS, 3, 2);
	struct phi one, max;

	record_scaled(e, page(7), 0, 1, 2, 0);
	is(select_one(e, 100, 100, false, picks, 100), 0, "an access that counts for 2 is not 3");
	record_scaled(e, page(7), 0, 1, 1, 0);
	is(select_one(e, 100, 100, false, picks, 100), 1, "with one of another source it is");
	record_scaled(e, page(9), 0, 3, 2, 0);
	is(hotmap_look(&e->map, page(9)).heat, 6, "a report's weight times its source's");
	record_scaled(e, page(11), 0, PGHOT_WEIGHT_MAX, 6, 0);
	record_scaled(e, page(12), 0, PGHOT_WEIGHT_MAX, 1, 0);
	max = hotmap_look(&e->map, page(11));
	one = hotmap_look(&e->map, page(12));
	ok(max.heat == one.heat && max.heat == phi_top(layout) - 1, "saturates");
	fixture_close(e);
}

static void test_window(enum phi_layout layout)
{
	struct engine *e = fixture_open(layout, WINDOW_MS, 2, 1);

	engine_tick(e, 0);
	record_one(e, page(1), 0, 1, 0);
	engine_tick(e, 1);
	engine_tick(e, 1 + WINDOW_MS);
	record_one(e, page(1), 0, 1, 0);
	is(select_one(e, 100, 100, false, picks, 100), 1, "accesses one window apart add up");
	engine_tick(e, 1 + WINDOW_MS + WINDOW_MS + EPOCH_MS);
	is(select_one(e, 100, 100, false, picks, 100), 0,
	   "a page not accessed for a window and an epoch is not recent");
	engine_settle(e, page(1), 1, HOTMAP_MOVED);

	record_one(e, page(2), 0, 1, 0);
	engine_tick(e, 20000);
	record_one(e, page(2), 0, 1, 0);
	is(select_one(e, 100, 100, false, picks, 100), 0, "accesses two windows apart do not add up");
	record_one(e, page(3), 0, 1, 0);
	engine_tick(e, 20000 + 2 * WINDOW_MS);
	record_one(e, page(3), 0, 1, PGHOT_SKIP_RECENCY);
	is(select_one(e, 100, 100, false, picks, 100), 1, "unless recency is waived");
	fixture_close(e);
}

static void test_forgetting(enum phi_layout layout)
{
	struct engine *e = fixture_open(layout, WINDOW_MS, 2, 1);
	u64 now;

	record_one(e, page(5), 0, 1000, 0);
	engine_tick(e, 0);
	for (now = EPOCH_MS; now < PHI_DEAD_EPOCHS * EPOCH_MS; now += EPOCH_MS)
		engine_tick(e, now);
	ok(layout == PHI_BYTE || hotmap_look(&e->map, page(5)).heat > 0,
	   "a very hot page is remembered for almost three windows");
	is(engine_tick(e, PHI_DEAD_EPOCHS * EPOCH_MS) == HOTMAP_NO_DEADLINE, 1,
	   "after three windows nothing is live and no tick is due");
	is(hotmap_look(&e->map, page(5)).heat, 0, "and the page is forgotten");
	record_one(e, page(5), 0, 1, 0);
	ok(engine_tick(e, 1000000000) != HOTMAP_NO_DEADLINE &&
	   hotmap_look(&e->map, page(5)).age == 0,
	   "time stands still while nothing is live, however long");
	fixture_close(e);
}

static void test_flags(enum phi_layout layout)
{
	struct engine *e = fixture_open(layout, WINDOW_MS, 4, 1);

	record_one(e, page(1), 0, 1, PGHOT_SKIP_FREQ);
	record_one(e, page(2), 0, 1, PGHOT_READY);
	record_one(e, page(3), 0, 1, PGHOT_SKIP_LIMIT);
	is(select_one(e, 100, 100, false, picks, 100), 2, "SKIP_FREQ and READY pass the threshold at once");
	is(select_one(e, 100, 0, false, picks, 100), 0, "but not the rate limit");
	record_one(e, page(3), 0, 3, PGHOT_SKIP_LIMIT);
	is(select_one(e, 100, 0, false, picks, 100), 1, "SKIP_LIMIT passes it once the page is hot");
	is((long long)picks[0].pfn, (long long)page(3), "only the page it was said of");
	is(picks[0].heat, phi_top(layout), "which has the heat that no count reaches");
	record_one(e, page(4), 0, PGHOT_WEIGHT_MAX, 0);
	is(hotmap_look(&e->map, page(4)).heat, phi_top(layout) - 1, "a count saturates below it");
	is(select_one(e, 0, 100, false, picks, 100), 0, "nobody passes a full target");
	is(select_one(e, 100, 100, false, picks, 100), 4, "and nothing was lost by waiting");
	fixture_close(e);
}

static void test_hottest_first(enum phi_layout layout)
{
	struct engine *e = fixture_open(layout, WINDOW_MS, 2, 3);
	u32 i, n, hot = 0;

	for (i = 0; i < 3000; i++)
		record_one(e, page(i * 31), 0, i % 10 == 3 ? 5 : 2, 0);
	n = select_one(e, 4096, 500, false, picks, 4096);
	for (i = 0; i < n; i++)
		hot += picks[i].heat == 5;
	is(n, 500, "the budget is used up");
	is(hot, 300, "by all of the hotter pages first");
	n = select_one(e, 200, 500, false, picks, 4096);
	for (hot = i = 0; i < n; i++)
		hot += picks[i].heat == 5;
	ok(n == 200 && hot == 200, "a budget smaller than the hottest level goes to that level");
	fixture_close(e);
}

static void test_cursor(enum phi_layout layout)
{
	enum { PAGES = 1000, BUDGET = 64, PASSES = 48 };
	static u32 taken[PAGES];
	struct engine *e = fixture_open(layout, WINDOW_MS, 2, 2);
	u32 i, pass, n, least = ~0u, most = 0;

	memset(taken, 0, sizeof(taken));
	for (i = 0; i < PAGES; i++)
		record_one(e, page(i * 60), 0, 2, 0);
	for (pass = 0; pass < PASSES; pass++) {
		n = select_one(e, BUDGET, BUDGET, false, picks, 4096);
		check(n == BUDGET, "pass %u took %u", pass, n);
		for (i = 0; i < n; i++)
			taken[(picks[i].pfn - page(0)) / 60]++;
	}
	for (i = 0; i < PAGES; i++) {
		least = taken[i] < least ? taken[i] : least;
		most = taken[i] > most ? taken[i] : most;
	}
	ok(most - least <= 1, "pages of equal heat take turns (%u to %u times)", least, most);
	fixture_close(e);
}

static void test_refusals(enum phi_layout layout)
{
	struct engine *e = fixture_open(layout, WINDOW_MS, 2, 1);
	u64 now = 0, p = page(100);
	u32 tries = 0, i;

	record_one(e, p, 0, 5, 0);
	engine_tick(e, now);
	engine_settle(e, p, 1, HOTMAP_RETRY);
	is(select_one(e, 9, 9, false, picks, 9), 1, "a page that was not tried is found again at once");
	engine_settle(e, p, 1, HOTMAP_BUSY);
	is(select_one(e, 9, 9, false, picks, 9), 0, "a busy page backs off");
	is(hotmap_look(&e->map, p).heat, 5, "with its heat");
	engine_tick(e, now += EPOCH_MS);
	is(select_one(e, 9, 9, false, picks, 9), 1, "for one epoch");
	engine_settle(e, p, 1, HOTMAP_MOVED);
	record_one(e, p = page(101), 0, 5, 0);
	engine_settle(e, p, 1, HOTMAP_STUCK);
	for (i = 1; i < PHI_WINDOW_EPOCHS; i++) {
		engine_tick(e, now += EPOCH_MS);
		check(select_one(e, 9, 9, false, picks, 9) == 0, "released after %u epochs", i);
	}
	record_one(e, p, 0, 4, 0);
	check(select_one(e, 9, 9, false, picks, 9) == 0, "an access released it");
	engine_tick(e, now += EPOCH_MS);
	is(select_one(e, 9, 9, false, picks, 9), 1, "a stuck page for a window");
	ok(hotmap_look(&e->map, p).heat >= 2, "and accesses meanwhile were not lost");
	engine_settle(e, p, 1, HOTMAP_CANNOT);
	is(record_one(e, p, 0, 5, PGHOT_READY), HOTMAP_UNMOVABLE, "reports of an unmovable page are turned away");
	for (i = 1; i < PHI_HOLD_MAX_EPOCHS; i++)
		engine_tick(e, now += EPOCH_MS);
	is(record_one(e, p, 0, 5, 0), HOTMAP_UNMOVABLE, "for two windows");
	engine_tick(e, now += EPOCH_MS);
	is(record_one(e, p, 0, 5, 0), HOTMAP_RECORDED, "and no longer");
	for (i = 0; i < 100; i++) {
		if (select_one(e, 9, 9, false, picks, 9)) {
			tries++;
			engine_settle(e, p, 1, HOTMAP_BUSY);
		}
		engine_tick(e, now += EPOCH_MS);
	}
	ok(tries >= 2 && tries <= 4, "a page nobody touches any more is tried %u times", tries);
	record_one(e, p, 0, 5, 0);
	engine_settle(e, p, 1, HOTMAP_MOVED);
	is(hotmap_look(&e->map, p).raw_heat, 0, "a moved page is forgotten");
	fixture_close(e);
}

/* Attempts in two windows at a page that is accessed all the time and never moves. */
static u32 attempts(struct engine *e, u64 pfn, u64 *now, enum hotmap_settled how)
{
	u32 tries = 0, i;

	for (i = 0; i < 2 * PHI_WINDOW_EPOCHS; i++) {
		record_one(e, pfn, 0, 5, 0);
		if (select_one(e, 9, 9, false, picks, 9)) {
			tries++;
			engine_settle(e, pfn, 1, how);
		}
		engine_tick(e, *now += EPOCH_MS);
	}
	return tries;
}

static void test_escalation(enum phi_layout layout)
{
	struct engine *e = fixture_open(layout, WINDOW_MS, 2, 1);
	u32 first, second, i;
	u64 now = 0;

	engine_tick(e, now);
	first = attempts(e, page(5), &now, HOTMAP_BUSY);
	second = attempts(e, page(5), &now, HOTMAP_BUSY);
	ok(first == 4 && second == 1, "a page that is busy each time is tried %u times, then %u", first, second);
	for (i = 0; i < 10; i++)
		check(attempts(e, page(5), &now, HOTMAP_BUSY) == 1, "two windows without one attempt");
	ok(1, "and once in two windows from then on");
	engine_settle(e, page(5), 1, HOTMAP_MOVED);
	is(attempts(e, page(6), &now, HOTMAP_STUCK), 2, "a stuck page is tried twice in two windows");
	is(attempts(e, page(6), &now, HOTMAP_STUCK), 1, "then once");
	engine_settle(e, page(6), 1, HOTMAP_MOVED);
	attempts(e, page(7), &now, HOTMAP_RETRY);
	attempts(e, page(7), &now, HOTMAP_RETRY);
	attempts(e, page(7), &now, HOTMAP_RETRY);
	engine_settle(e, page(7), 1, HOTMAP_MOVED);
	is(attempts(e, page(5), &now, HOTMAP_BUSY), 4, "long after, a refusal is a first one again");
	fixture_close(e);
}

static void test_waiting(enum phi_layout layout)
{
	struct engine *e = fixture_open(layout, WINDOW_MS, 2, 1);
	u32 tries = 0, used = 0, i;
	u64 now = 0;

	record_one(e, page(5), 0, 1, 0);
	engine_tick(e, now);
	for (i = 0; i < 20; i++)
		tries += attempts(e, page(5), &now, HOTMAP_WAIT);
	is(tries, 20 * 2 * PHI_WINDOW_EPOCHS, "a page whose turn it is not is tried once an epoch, however often");
	ok(hotmap_look(&e->map, page(5)).raw_heat >= 6, "with its heat");
	engine_settle(e, page(5), 1, HOTMAP_MOVED);

	/* Two accesses a window are as many as the threshold asks for. */
	for (i = 0; i < 40 * PHI_WINDOW_EPOCHS; i++) {
		if (i % PHI_WINDOW_EPOCHS == 1)
			record_one(e, page(6), 0, 2, 0);
		if (select_one(e, 9, 9, false, picks, 9)) {
			used++;
			engine_settle(e, page(6), 1, HOTMAP_WAIT);
		}
		engine_tick(e, now += EPOCH_MS);
	}
	ok(used >= 39 * PHI_WINDOW_EPOCHS - 1, "a page that is just hot stays so while it waits (%u)", used);
	for (i = 0; i < 10 * PHI_WINDOW_EPOCHS; i++) {
		if (select_one(e, 9, 9, false, picks, 9))
			engine_settle(e, page(6), 1, HOTMAP_WAIT);
		engine_tick(e, now += EPOCH_MS);
	}
	is(hotmap_look(&e->map, page(6)).raw_heat, 0, "one that nobody touches any more is forgotten");
	record_one(e, page(7), 0, 5, 0);
	engine_settle(e, page(7), 1, HOTMAP_CANNOT);
	engine_settle(e, page(7), 1, HOTMAP_WAIT);
	is(hotmap_look(&e->map, page(7)).hold, PHI_HOLD_MAX_EPOCHS, "waiting ends no longer hold");
	fixture_close(e);
}

static void test_sample(enum phi_layout layout)
{
	struct engine *e = fixture_open(layout, WINDOW_MS, 2, 2);
	u32 i, n, many = 0, seen = 0;
	u64 pfns[4];

	is(engine_sample(e, pfns, 4), 0, "no page is ready");
	for (i = 0; i < 10 * HOTMAP_AREA_PAGES; i++)
		record_one(e, page(i), 0, 6, 0);
	record_one(e, page(HOTMAP_SECTION_PAGES + 9), 0, 2, 0);
	record_one(e, page(HOTMAP_SECTION_PAGES + 999), 0, 1, 0);
	for (i = 0; i < 11; i++) {
		n = engine_sample(e, pfns, 4);
		check(n == 4, "sample of %u", n);
		for (; n; n--) {
			seen += pfns[n - 1] == page(HOTMAP_SECTION_PAGES + 9);
			many += pfns[n - 1] < page(HOTMAP_SECTION_PAGES);
		}
	}
	ok(seen == 4 && many == 40, "a sample sees a lukewarm area as often as a hot one (%u, %u)", seen, many);
	fixture_close(e);
}

static void test_evidence(enum phi_layout layout)
{
	struct engine *e = fixture_open(layout, WINDOW_MS, 2, 2);
	u64 huge = page(HOTMAP_SECTION_PAGES - 512);

	engine_tick(e, 0);
	is((long long)engine_evidence(e, huge, 512, 2), 0, "nothing was seen of a huge page");
	record_one(e, huge + 3, 0, 6, 0);
	is((long long)engine_evidence(e, huge, 512, 2), 2, "one very hot page counts for one");
	record_one(e, huge + 511, 0, 1, 0);
	record_one(e, huge + 512, 0, 1, 0);
	record_one(e, huge - 1, 0, 1, 0);
	is((long long)engine_evidence(e, huge, 512, 2), 3, "a lukewarm one for less, the neighbours for nothing");
	is((long long)engine_evidence(e, huge, 513, 2), 4, "over the end of a section");
	engine_settle(e, huge + 3, 1, HOTMAP_BUSY);
	engine_tick(e, 0);
	is((long long)engine_evidence(e, huge, 512, 2), 3, "a page that is backing off counts, too");
	engine_tick(e, PHI_DEAD_EPOCHS * EPOCH_MS + 2 * EPOCH_MS);
	is((long long)engine_evidence(e, huge, 512, 2), 0, "forgotten pages do not");
	is((long long)engine_evidence(e, page(2 * HOTMAP_SECTION_PAGES - 1), 99, 2), 0, "nor those outside the map");
	fixture_close(e);
}

static void test_ample(enum phi_layout layout)
{
	struct engine *e = fixture_open(layout, WINDOW_MS, 2, 1);

	record_one(e, page(1), 0, 1, 0);
	is(select_one(e, 100, 0, true, picks, 100), 0, "an area below the threshold is not looked at at first");
	record_one(e, page(2), 0, 1, 0);
	is(select_one(e, 100, 0, true, picks, 100), 2, "an ample target takes one access and no tokens");
	is(select_one(e, 1, 0, true, picks, 100), 1, "but not more than fits");
	is(select_one(e, 100, 100, false, picks, 100), 0, "when space is tight again, both wait");
	fixture_close(e);

	is((long long)engine_ample_pages(64ull << 18, 1 << 18), 4 << 18, "ample on 64 GiB: 1/16");
	is((long long)engine_ample_pages(12ull << 18, 1 << 18), 1 << 18, "ample on 12 GiB: 1 GiB");
	is((long long)engine_ample_pages(2ull << 18, 1 << 18), 1 << 16, "ample on 2 GiB: 1/8, not half the node");
}

static void test_ranges(enum phi_layout layout)
{
	struct engine *e = fixture_open(layout, WINDOW_MS, 2, 2);
	struct pghot_report r = { .pfn = page(HOTMAP_SECTION_PAGES - 600), .nr_pages = 1200,
				  .nid = 0, .weight = 2 };
	struct hotmap_tally tally = { 0 };

	engine_record(e, &r, 1, 1, 0, &tally);
	is((long long)tally.pages[HOTMAP_RECORDED], 1200, "a range across two sections is recorded whole");
	is(tally.wake, 1, "and wakes the thread");
	is(select_one(e, 4096, 4096, false, picks, 4096), 1200, "and found again whole");
	r.pfn = page(2 * HOTMAP_SECTION_PAGES) - 100;
	memset(&tally, 0, sizeof(tally));
	engine_record(e, &r, 1, 1, 0, &tally);
	ok(tally.pages[HOTMAP_RECORDED] == 100 && tally.pages[HOTMAP_UNTRACKED] == 1100,
	   "what lies outside is counted as untracked");
	is(engine_covers(e, page(0)) && !engine_covers(e, page(0) - 1) && !engine_covers(e, ~0ull),
	   1, "the map knows what it covers");
	fixture_close(e);
}

static void test_reports(void)
{
	static const struct { struct pghot_report r; bool good; const char *name; } cases[] = {
		{ { 1, 1, 0, 1 }, true, "a plain report" },
		{ { 1, 1, -1, 1 }, true, "accessor unknown" },
		{ { 1, PGHOT_REPORT_MAX_PAGES, 3, PGHOT_WEIGHT_MAX }, true, "all at their limits" },
		{ { 1, 0, 0, 1 }, false, "no pages" },
		{ { 1, PGHOT_REPORT_MAX_PAGES + 1, 0, 1 }, false, "too many pages" },
		{ { 1, 1, -2, 1 }, false, "node below -1" },
		{ { 1, 1, 4, 1 }, false, "node too large" },
		{ { 1, 1, 0, 0 }, false, "no weight" },
		{ { 1, 1, 0, PGHOT_WEIGHT_MAX + 1u }, false, "too much weight" },
		{ { 1ull << 52, 1, 0, 1 }, false, "page frame too large" },
		{ { ~0ull, 1, 0, 1 }, false, "page frame wraps" },
	};
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		is(pghot_report_valid(&cases[i].r, 4), cases[i].good, cases[i].name);
}

static void test_targets(void)
{
	static const u8 by_nid[] = { 0, 1, 1 };
	struct engine *e = fixture_open(PHI_PRECISE, WINDOW_MS, 2, 1);
	struct select_target t[2] = { { .room = 50, .tokens = 99 }, { .room = 99, .tokens = 20 } };
	u32 i, n;

	engine_route(e, by_nid, 3, 1);
	for (i = 0; i < 300; i++)
		record_one(e, page(i), i % 3, 2, 0);
	record_one(e, page(300), PGHOT_NID_UNKNOWN, 2, 0);
	n = engine_select(e, t, 2, picks, 4096);
	ok(t[0].ready == 100 && t[1].ready == 201, "pages are counted for the node that accesses them");
	ok(n == 70 && t[0].count == 50 && t[1].count == 20, "each target has a budget of its own");
	for (i = 0; i < t[0].count; i++)
		check((picks[t[0].first + i].pfn - page(0)) % 3 == 0, "pick %u is not node 0's", i);
	for (i = 0; i < t[1].count; i++)
		check((picks[t[1].first + i].pfn - page(0)) % 3 != 0 ||
		      picks[t[1].first + i].pfn == page(300), "pick %u is not node 1's", i);
	t[0].room = t[1].room = t[0].tokens = t[1].tokens = 1000;
	n = engine_select(e, t, 2, picks, 20);
	ok(t[0].count == 10 && t[1].count == 10, "room for picks is shared evenly");
	fixture_close(e);
}

static void test_hotplug(enum phi_layout layout)
{
	struct engine *e = fixture_open(layout, WINDOW_MS, 2, 2);
	struct hotmap_section *old;

	record_one(e, page(3), 0, 2, 0);
	record_one(e, page(HOTMAP_SECTION_PAGES + 3), 0, 2, 0);
	old = hotmap_attach(&e->map, FIXTURE_FIRST, NULL);
	is(record_one(e, page(3), 0, 2, 0), HOTMAP_UNTRACKED, "a section taken out is not recorded");
	is(select_one(e, 9, 9, false, picks, 9), 1, "nor selected; its neighbour is");
	engine_settle(e, page(3), 1, HOTMAP_CANNOT);
	engine_tick(e, EPOCH_MS);
	free_section(old);
	hotmap_attach(&e->map, FIXTURE_FIRST, new_section(layout));
	is(record_one(e, page(3), 0, 2, 0), HOTMAP_RECORDED, "a section put back starts from nothing");
	is(hotmap_look(&e->map, page(3)).heat, 2, "with the new access only");
	fixture_close(e);
}

static void test_foreign_areas(enum phi_layout layout)
{
	struct engine *e = fixture_open(layout, WINDOW_MS, 2, 2);
	struct hotmap_section *s = hotmap_find(&e->map, page(0));

	record_one(e, page(3), 0, 2, 0);
	record_one(e, page(HOTMAP_AREA_PAGES), 0, 2, 0);
	s->foreign = 1;
	ok(!engine_covers(e, page(3)) && engine_covers(e, page(HOTMAP_AREA_PAGES)), "an area of another node is not covered");
	is(record_one(e, page(3), 0, 2, 0), HOTMAP_UNTRACKED, "nor recorded");
	is(select_one(e, 9, 9, false, picks, 9), 1, "nor is selected what it had");
	is(picks[0].pfn, page(HOTMAP_AREA_PAGES), "its neighbour is");
	engine_settle(e, page(HOTMAP_AREA_PAGES), 1, HOTMAP_MOVED);
	is(select_one(e, 9, 9, false, picks, 9), 0, "then nothing is left");
	ok(!hotmap_any_ready(&e->map), "and nobody waits for the area");
	s->foreign = 0;
	is(record_one(e, page(3), 0, 2, 0), HOTMAP_RECORDED, "an area that is the node's again is recorded");
	fixture_close(e);
}

static void test_levels(void)
{
	u32 heat, last = 0, level;

	for (heat = 1; heat <= phi_top(PHI_PRECISE); heat++) {
		level = select_level(PHI_PRECISE, heat);
		check(level >= last && level < SELECT_LEVELS, "heat %u level %u", heat, level);
		check((level == SELECT_TOP_LEVEL) == (heat == phi_top(PHI_PRECISE)), "heat %u", heat);
		last = level;
	}
	for (heat = 1; heat < phi_top(PHI_BYTE); heat++)
		check(select_level(PHI_BYTE, heat) == heat, "heat %u", heat);
	ok(1, "levels rise with heat, and only the top heat is in the top level");
}

static void test_bucket(void)
{
	struct bucket b;
	u64 moved = 0, now;

	bucket_init(&b, 100, 5000);
	is((long long)bucket_available(&b, 5000), 100, "a new bucket is full");
	bucket_take(&b, 100);
	is((long long)bucket_available(&b, 5009), 0, "9 ms at 100 pages/s make no page");
	is((long long)bucket_available(&b, 5010), 1, "10 ms do: fractions are kept");
	bucket_take(&b, 1);
	bucket_refund(&b, 1);
	is((long long)bucket_available(&b, 5010), 1, "a page that did not move is refunded");
	is((long long)bucket_available(&b, 4000), 1, "a clock that steps back gives nothing");
	is((long long)bucket_available(&b, 1000000), 100, "a long rest fills it once");
	bucket_set_rate(&b, 0, 1000000);
	is((long long)bucket_available(&b, 2000000), 0, "rate 0 lets nothing through");
	bucket_set_rate(&b, BUCKET_MAX_RATE, 2000000);
	is((long long)bucket_available(&b, 2001000), (long long)BUCKET_MAX_RATE, "the highest rate does not overflow");
	bucket_refund(&b, ~0ull);
	is((long long)bucket_available(&b, 2001000), (long long)BUCKET_MAX_RATE, "nor does a wild refund");

	bucket_init(&b, 100, 0);
	bucket_set_depth(&b, 5000);
	is((long long)bucket_available(&b, 0), 100, "a deeper bucket has what it had");
	is((long long)bucket_available(&b, 60000), 500, "and fills up further");
	bucket_set_depth(&b, 2000);
	is((long long)bucket_available(&b, 60000), 200, "one that is less deep spills");

	bucket_init(&b, 1000, 0);
	bucket_take(&b, 1000);
	for (now = 0; now <= 60000; now += 7) {
		u64 n = bucket_available(&b, now);

		bucket_take(&b, n);
		bucket_refund(&b, n / 2);
		moved += n - n / 2;
	}
	ok(moved >= 59900 && moved <= 60000, "60 s at 1000 pages/s, half of them refused, move %llu",
	   (unsigned long long)moved);
}

static void test_quota(void)
{
	u64 quota = 0;
	u32 i, granted = 0;

	for (i = 0; i < 300; i++)
		granted += quota_take(&quota, 1000, 256, 1);
	is(granted, 256, "a quota of 256 grants 256 of 300 pages");
	is(quota_take(&quota, 999, 256, 1), 0, "a step back of the clock does not fill it");
	is(quota_take(&quota, 1001, 256, 1), 1, "the next second does");
	is(quota_take(&quota, 1001, 256, 512), 1, "a large request is granted whole while anything is left");
	is(quota_take(&quota, 1002, 256, 1), 0, "and leaves a debt: 513 - 256 are still all");
	is(quota_take(&quota, 1003, 256, 254), 1, "a second later 513 - 512 are used");
	is(quota_take(&quota, 1003, 256, 1), 1, "so there was one page left");
	is(quota_take(&quota, 1003, 256, 1), 0, "and no more");
	is(quota_take(&quota, 1003, 0, 1), 0, "a quota of 0 grants nothing");
	is(quota_take(&quota, 0x7fffffff, QUOTA_MAX, QUOTA_MAX - 1), 1, "a long rest leaves no debt");
	is(quota_take(&quota, 0x7fffffff, QUOTA_MAX, QUOTA_MAX), 1, "the largest requests do not overflow");
	is(quota_take(&quota, 0xfffffff0, QUOTA_MAX, QUOTA_MAX), 1, "nor does what a long rest pays off");
	is(quota_take(&quota, 5, QUOTA_MAX, 1), 1, "nor the clock");
}

int main(void)
{
	enum phi_layout layout;

	for (layout = PHI_BYTE; layout <= PHI_PRECISE; layout++) {
		printf("# layout %s\n", layout_name(layout));
		test_threshold(layout);
		test_scale(layout);
		test_window(layout);
		test_forgetting(layout);
		test_flags(layout);
		test_hottest_first(layout);
		test_cursor(layout);
		test_refusals(layout);
		test_escalation(layout);
		test_waiting(layout);
		test_sample(layout);
		test_evidence(layout);
		test_ample(layout);
		test_ranges(layout);
		test_hotplug(layout);
		test_foreign_areas(layout);
	}
	test_reports();
	test_targets();
	test_levels();
	test_bucket();
	test_quota();
	return done();
}
