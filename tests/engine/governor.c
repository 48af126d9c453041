// SPDX-License-Identifier: GPL-2.0-only
/* The governor over a real hotmap: what the pages under test show decides, and nothing else. */
#include "fixture.h"

enum { EPOCH_MS = 250, SECTION = FIXTURE_FIRST * HOTMAP_SECTION_PAGES };

/* A node whose candidates and victims get so many reports each epoch, for one page in @part of them. */
struct play {
	struct engine *e;
	u64 now_ms;
	u64 next_pfn;
	u32 candidate_reports, candidate_part;
	u32 victim_reports, victim_part;
	u64 moved, arrived;	/* an epoch */
	bool warm;		/* the candidates */
};

static struct play *play_open(enum phi_layout layout)
{
	struct play *p = calloc(1, sizeof(*p));

	p->e = fixture_open(layout, 4 * EPOCH_MS, 2, 4);
	p->candidate_part = p->victim_part = 1;
	p->moved = p->arrived = 1000;
	return p;
}

static void play_close(struct play *p)
{
	fixture_close(p->e);
	free(p);
}

static void report(struct play *p, u64 pfn)
{
	struct pghot_report r = { .pfn = pfn, .nr_pages = 1, .nid = -1, .weight = 1 };
	struct hotmap_tally tally = { 0 };

	engine_record(p->e, &r, 1, 1, 0, &tally);
}

static void report_group(struct play *p, const struct governor_group *group, u32 reports, u32 part)
{
	u32 i, n, at;

	for (i = 0; i < group->nr; i++) {
		at = (group->head + GOVERNOR_WATCHED - group->nr + i) % GOVERNOR_WATCHED;
		for (n = 0; i % part == 0 && n < reports; n++)
			report(p, group->pfn[at]);
	}
}

/* One epoch: pages are put to the test, reported, and time passes. */
static void play_epoch(struct play *p)
{
	struct governor *g = &p->e->gov;

	/* Something that is alive, or time would stand still. */
	report(p, SECTION);
	while (governor_watch(&g->candidates, &p->e->map, SECTION + 1 + p->next_pfn++ % 100000, p->warm))
		;
	if (p->arrived)
		while (governor_watch(&g->victims, &p->e->map, SECTION + 1 + p->next_pfn++ % 100000, false))
			;
	governor_moved(g, p->moved);
	governor_arrived(g, p->arrived);
	report_group(p, &g->candidates, p->candidate_reports, p->candidate_part);
	report_group(p, &g->victims, p->victim_reports, p->victim_part);
	p->now_ms += EPOCH_MS;
	engine_tick(p->e, p->now_ms);
	governor_step(g, &p->e->map);
}

/* Epochs until the state is @state, at most @most; 0: never. */
static u32 play_until(struct play *p, enum governor_state state, u32 most)
{
	u32 n;

	for (n = 1; n <= most; n++) {
		play_epoch(p);
		if (p->e->gov.state == state)
			return n;
	}
	return 0;
}

static void test_beginning(void)
{
	struct play *p = play_open(PHI_BYTE);

	ok(governor_allows(&p->e->gov, 0) == GOVERNOR_ALL, "at first all may move");
	p->arrived = 0;
	play_until(p, GOVERNOR_PAYS, 40);
	is(p->e->gov.state, GOVERNOR_OPEN, "nothing arrives, nothing is judged");
	ok(governor_allows(&p->e->gov, 0) == GOVERNOR_ALL, "and all may move");
	is(governor_wants(&p->e->gov, 100000, 0), 0, "none is kept for a test");
	p->arrived = 1000;
	p->candidate_reports = 1;
	play_epoch(p);
	is(governor_allows(&p->e->gov, 0), GOVERNOR_PROBE_LEAST, "pages arrive: a little may move");
	is(governor_wants(&p->e->gov, 80, 0), 80 / GOVERNOR_PART, "and a few are kept");
	is(governor_wants(&p->e->gov, 100000, 0), GOVERNOR_AN_EPOCH, "not more than so many");
	governor_moved(&p->e->gov, 1000);
	is(governor_allows(&p->e->gov, 0), GOVERNOR_PROBE_LEAST - 1000, "less what has moved");
	governor_moved(&p->e->gov, 1000);
	is(governor_allows(&p->e->gov, 0), 0, "until nothing is left");
	play_close(p);
	p = play_open(PHI_BYTE);
	governor_set_size(&p->e->gov, 1 << 20);
	/* Time begins with the first tick. */
	play_epoch(p);
	play_epoch(p);
	is(governor_allows(&p->e->gov, 0), (1 << 20) / GOVERNOR_PROBE_PART, "in proportion to the fast nodes");
	play_close(p);
}

/* What both groups show, and what the verdict is after some windows. */
static void test_verdicts(enum phi_layout layout)
{
	static const struct {
		const char *name;
		u32 candidates, candidate_part, victims, victim_part;
		enum governor_state want;
	} cases[] = {
		{ "a hot set against cold memory", 1, 1, 0, 1, GOVERNOR_PAYS },
		{ "no skew: both show the same", 1, 1, 1, 1, GOVERNOR_RESTS },
		{ "no skew, and few reports: heat was chance", 1, 8, 1, 8, GOVERNOR_RESTS },
		{ "candidates are cold by now", 0, 1, 0, 1, GOVERNOR_RESTS },
		{ "almost cold: one in sixteen has an access an epoch", 1, 16, 0, 1, GOVERNOR_RESTS },
		{ "victims are hotter", 1, 4, 1, 1, GOVERNOR_RESTS },
		{ "twice as hot is too little to begin", 1, 1, 1, 2, GOVERNOR_RESTS },
		{ "three times as hot is enough", 1, 1, 1, 3, GOVERNOR_PAYS },
	};

	for (u32 i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct play *p = play_open(layout);
		u32 took;

		p->candidate_reports = cases[i].candidates;
		p->candidate_part = cases[i].candidate_part;
		p->victim_reports = cases[i].victims;
		p->victim_part = cases[i].victim_part;
		took = play_until(p, cases[i].want, 12);
		ok(took > 0 && took <= 8, "layout %d: %s: %s after %u epochs", layout, cases[i].name,
		   cases[i].want == GOVERNOR_PAYS ? "pays" : "rests", took);
		play_close(p);
	}
}

/* Warm candidates that pay no more than so-so stay where they are, and may go again when they do. */
static void test_warm(void)
{
	struct play *p = play_open(PHI_BYTE);

	ok(governor_warm(3, 2, PHI_BYTE) && !governor_warm(4, 2, PHI_BYTE), "twice the threshold is not warm");
	ok(governor_warm(5, 6, PHI_BYTE) && !governor_warm(6, 6, PHI_BYTE), "nor is the highest heat there is");
	p->candidate_reports = 1;
	ok(play_until(p, GOVERNOR_PAYS, 12) > 0, "hot candidates pay");
	p->warm = true;
	p->victim_reports = 1;
	p->victim_part = 2;
	for (u32 i = 0; i < 12; i++)
		play_epoch(p);
	is(p->e->gov.state, GOVERNOR_PAYS, "twice what victims show is enough to go on");
	ok(governor_spares(&p->e->gov, 0), "but not for warm ones");
	ok(!governor_spares(&p->e->gov, GOVERNOR_PROBE_LEAST + 1), "where there is room they may go");
	p->victim_part = 4;
	for (u32 i = 0; i < 12; i++)
		play_epoch(p);
	ok(!governor_spares(&p->e->gov, 0), "four times is enough for these, too");
	p->victim_part = 2;
	for (u32 i = 0; i < 12; i++)
		play_epoch(p);
	p->arrived = 0;
	for (u32 i = 0; i < 12; i++)
		play_epoch(p);
	ok(governor_spares(&p->e->gov, 0), "so-so again: they stay, also while nothing arrives");
	p->arrived = 1000;
	p->victim_part = 1;
	for (u32 i = 0; i < 20; i++)
		play_epoch(p);
	ok(p->e->gov.state == GOVERNOR_PAYS && governor_spares(&p->e->gov, 0), "as warm as victims: that is not held against hot ones");
	p->warm = false;
	ok(play_until(p, GOVERNOR_RESTS, 20) > 0 && !governor_spares(&p->e->gov, 0), "hot ones that do not pay end it");
	play_close(p);
}

static void test_rest(void)
{
	struct play *p = play_open(PHI_BYTE);
	u32 rests[4], i, probed;

	p->candidate_reports = p->victim_reports = 1;
	p->candidate_part = p->victim_part = 4;
	ok(play_until(p, GOVERNOR_RESTS, 12) > 0, "it rests");
	is(governor_allows(&p->e->gov, 0), 0, "and nothing may move");
	is(governor_allows(&p->e->gov, GOVERNOR_PROBE_LEAST), 0, "nor to the room that reclaim leaves");
	is(governor_wants(&p->e->gov, 80, GOVERNOR_PROBE_LEAST), 80, "but candidates are tested");
	is(governor_allows(&p->e->gov, GOVERNOR_PROBE_LEAST + 5000), 5000, "to more room it may");
	is(governor_wants(&p->e->gov, 80, GOVERNOR_PROBE_LEAST + 5000), 0, "and none is tested then");
	p->moved = p->arrived = 0;
	for (i = 0; i < 4; i++) {
		rests[i] = play_until(p, GOVERNOR_PROBES, 1000);
		probed = governor_allows(&p->e->gov, 0);
		p->moved = p->arrived = GOVERNOR_PROBE_LEAST;
		play_epoch(p);
		ok(probed == GOVERNOR_PROBE_LEAST && governor_allows(&p->e->gov, 0) == 0,
		   "probe %u: for one epoch a little may move", i + 1);
		p->moved = p->arrived = 0;
		ok(play_until(p, GOVERNOR_RESTS, 12) > 0, "then it rests again");
	}
	ok(rests[0] >= GOVERNOR_REST_MIN - 1 && rests[1] > rests[0] && rests[2] > rests[1] &&
	   rests[3] > rests[2], "each time longer: %u %u %u %u epochs", rests[0], rests[1], rests[2],
	   rests[3]);
	p->candidate_part = 1;
	ok(play_until(p, GOVERNOR_PAYS, 12) > 0, "a hot set comes: it does not wait for a probe");
	is(p->e->gov.rest, GOVERNOR_REST_MIN, "and the next rest is short again");
	play_close(p);
}

/* It pays, and then nobody has to go any more. */
static void test_enough(void)
{
	struct play *p = play_open(PHI_BYTE);

	p->candidate_reports = 1;
	ok(play_until(p, GOVERNOR_PAYS, 12) > 0, "it pays");
	p->arrived = 0;
	ok(play_until(p, GOVERNOR_OPEN, 60) > 0, "nothing arrives any more: nothing is weighed");
	is(governor_wants(&p->e->gov, 100000, 0), 0, "and none is kept for a test");
	play_close(p);
}

/* A probe drives nothing out: memory was given back. */
static void test_room(void)
{
	struct play *p = play_open(PHI_BYTE);

	p->candidate_reports = p->victim_reports = 1;
	play_until(p, GOVERNOR_RESTS, 12);
	p->moved = p->arrived = 0;
	play_until(p, GOVERNOR_PROBES, 1000);
	p->moved = GOVERNOR_PROBE_LEAST;
	play_epoch(p);
	p->moved = 0;
	ok(play_until(p, GOVERNOR_OPEN, 12) > 0, "there is room: it does not rest any more");
	play_close(p);
}

/* Pages that were moved or freed meanwhile say nothing, and a full ring takes no more. */
static void test_watch(void)
{
	struct play *p = play_open(PHI_BYTE);
	struct governor *g = &p->e->gov;
	u32 i, taken = 0;

	for (i = 0; i < 1000; i++)
		taken += governor_watch(&g->victims, &p->e->map, SECTION + i, false);
	is(taken, GOVERNOR_AN_EPOCH, "so many an epoch");
	for (i = 0; i < GOVERNOR_AN_EPOCH / 2; i++)
		engine_settle(p->e, SECTION + i, 1, HOTMAP_MOVED);
	for (i = 0; i < GOVERNOR_AN_EPOCH; i++)
		if (i >= GOVERNOR_AN_EPOCH / 2)
			report(p, SECTION + i);
	ok(hotmap_look(&p->e->map, SECTION + GOVERNOR_AN_EPOCH - 1).hold == HOTMAP_TRIAL_EPOCHS,
	   "a page under test is not ready for a window");
	/* Time begins with the first tick. */
	for (i = 0; i <= HOTMAP_TRIAL_EPOCHS; i++) {
		report(p, SECTION + 30000);
		engine_tick(p->e, p->now_ms);
		governor_step(g, &p->e->map);
		p->now_ms += EPOCH_MS;
	}
	is(g->victims.tested, GOVERNOR_AN_EPOCH / 2, "those that are gone do not count");
	is(g->victims.shown, GOVERNOR_AN_EPOCH / 2, "the others have what was reported");
	is(g->victims.nr, 0, "no page is left under test");
	play_close(p);
}

int main(void)
{
	test_beginning();
	test_verdicts(PHI_BYTE);
	test_verdicts(PHI_PRECISE);
	test_warm();
	test_rest();
	test_enough();
	test_room();
	test_watch();
	return done();
}
