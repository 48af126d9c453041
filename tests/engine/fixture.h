/* SPDX-License-Identifier: GPL-2.0-only */
/* fixture - an engine with memory to watch, for the engine's tests */
#ifndef PGHOT_TESTS_FIXTURE_H
#define PGHOT_TESTS_FIXTURE_H

#include <stdlib.h>
#include <string.h>

#include "../../engine/engine.h"
#include "../tap.h"

#define FIXTURE_FIRST	40ull	/* section number where the test node begins */

static inline struct hotmap_section *new_section(enum phi_layout layout)
{
	struct hotmap_section *s = calloc(1, sizeof(*s));

	s->records = calloc(1, hotmap_section_bytes(layout));
	return s;
}

static inline void free_section(struct hotmap_section *s)
{
	if (s)
		free(s->records);
	free(s);
}

/** fixture_open - an engine with @sections sections from pfn FIXTURE_FIRST * 32768 on */
static inline struct engine *fixture_open(enum phi_layout layout, unsigned int window_ms,
					  unsigned int threshold, unsigned int sections)
{
	struct engine *e = calloc(1, sizeof(*e));
	struct hotmap_dir *dir = calloc(1, hotmap_dir_bytes(sections));
	unsigned int i;

	engine_init(e, layout, window_ms, threshold, 0);
	dir->first = FIXTURE_FIRST;
	dir->nr = sections;
	hotmap_replace_dir(&e->map, dir);
	for (i = 0; i < sections; i++)
		hotmap_attach(&e->map, FIXTURE_FIRST + i, new_section(layout));
	return e;
}

static inline void fixture_close(struct engine *e)
{
	struct hotmap_dir *dir = hotmap_replace_dir(&e->map, NULL);
	unsigned int i;

	for (i = 0; i < dir->nr; i++)
		free_section(dir->sections[i]);
	free(dir);
	free(e);
}

/** page - the pfn of the @nth page of the fixture's memory */
static inline u64 page(u64 nth)
{
	return FIXTURE_FIRST * HOTMAP_SECTION_PAGES + nth;
}

/** record_scaled - report one page by a source of weight @scale; returns what became of it */
static inline enum hotmap_outcome record_scaled(struct engine *e, u64 pfn, s32 nid, u32 weight,
						u32 scale, u32 flags)
{
	struct pghot_report r = { .pfn = pfn, .nr_pages = 1, .nid = nid, .weight = weight };
	struct hotmap_tally tally = { 0 };

	engine_record(e, &r, 1, scale, flags, &tally);
	return tally.pages[HOTMAP_RECORDED] ? HOTMAP_RECORDED :
	       tally.pages[HOTMAP_UNMOVABLE] ? HOTMAP_UNMOVABLE : HOTMAP_UNTRACKED;
}

/** record_one - likewise, where a reported access is an access */
static inline enum hotmap_outcome record_one(struct engine *e, u64 pfn, s32 nid, u32 weight,
					     u32 flags)
{
	return record_scaled(e, pfn, nid, weight, 1, flags);
}

/** select_one - a pass towards a single target; returns the number of picks */
static inline u32 select_one(struct engine *e, u64 room, u64 tokens, bool take_all,
			     struct select_pick *picks, u32 max)
{
	struct select_target t = { .room = room, .tokens = tokens, .take_all = take_all };
	u32 n = engine_select(e, &t, 1, picks, max);

	check(n == t.count && (!n || t.first == 0), "n %u count %u first %u", n, t.count, t.first);
	return n;
}

static inline const char *layout_name(enum phi_layout layout)
{
	return layout == PHI_BYTE ? "byte" : "precise";
}

#endif
