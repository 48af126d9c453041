// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "select.h"
#include "walk.h"

/*
 * What one target still takes in the second pass: every page above @cut, @quota pages at it,
 * @slots pages at most, and of those within the rate limit @limited: heat may change between the
 * passes.
 */
struct plan {
	u32 cut;
	u32 quota;
	u32 slots;
	u64 limited;
};

/** struct pass - one call of select_hottest() */
struct pass {
	struct selector *sel;
	struct hotmap *map;
	struct select_target *targets;
	u32 nr_targets;
	struct phi_clock clock;
	struct plan plans[SELECT_MAX_TARGETS];
};

/**
 * select_level - the histogram level of a heat
 * @layout: of the map
 * @heat: 0..phi_top()
 *
 * One level for each heat below 8, then two for each power of two; SELECT_TOP_LEVEL is for
 * phi_top() alone. A hotter page is never in a lower level.
 */
u32 select_level(enum phi_layout layout, u32 heat)
{
	u32 log2;

	if (heat == phi_top(layout))
		return SELECT_TOP_LEVEL;
	if (heat < 8)
		return heat;
	log2 = 31 - (u32)__builtin_clz(heat);
	return 8 + (log2 - 3) * 2 + (heat >> (log2 - 1) & 1);
}

/* The target of a record that is ready, or NULL if it is not. */
static struct select_target *target_if_ready(const struct pass *pass, const struct phi *p)
{
	const struct selector *sel = pass->sel;
	u32 at = sel->fallback;
	struct select_target *t;

	if (p->nid >= 0 && (u32)p->nid < sel->nr_nids)
		at = sel->by_nid[p->nid];
	if (at >= pass->nr_targets)
		return NULL;
	t = &pass->targets[at];
	return phi_ready(p, t->take_all ? 1 : pass->clock.threshold) ? t : NULL;
}

static bool count_area(struct pass *pass, struct hotmap_section *s, u32 area)
{
	u64 at = (u64)area * HOTMAP_AREA_PAGES, end = at + HOTMAP_AREA_PAGES;
	struct select_target *t;
	bool any = false;
	struct phi p;
	u32 raw;

	for (; walk_next(pass->map->layout, s, &at, end, &raw); at++) {
		p = phi_look(pass->map->layout, raw, &pass->clock);
		t = target_if_ready(pass, &p);
		if (!t)
			continue;
		t->ready++;
		pass->sel->hist[t - pass->targets][select_level(pass->map->layout, p.heat)]++;
		any = true;
	}
	return any;
}

/* First pass: fill the histogram, clear the bits of areas with nothing ready. */
static void count_ready(struct pass *pass)
{
	struct hotmap_dir *dir = pass->map->dir;
	u64 at, areas;

	for (at = 0; at < dir->nr; at++) {
		struct hotmap_section *s = dir->sections[at];

		areas = s ? port_load(&s->ready) : 0;
		if (!areas)
			continue;
		/* Clear, look, set again: see mark() in hotmap.c. */
		port_and64(&s->ready, ~areas);
		for (areas &= ~port_load(&s->foreign); areas; areas &= areas - 1)
			if (count_area(pass, s, walk_first_bit(areas)))
				port_or64(&s->ready, areas & -areas);
		port_yield();
	}
}

/* Find where the budget of one target ends. */
static struct plan plan_target(const struct select_target *t, const u32 *hist, u64 share)
{
	u64 room = t->room < share ? t->room : share;
	u64 limited = t->take_all || t->tokens > room ? room : t->tokens;
	struct plan plan = { .limited = limited };
	u64 allowed;
	u32 level;

	for (level = SELECT_TOP_LEVEL; level; level--) {
		allowed = level == SELECT_TOP_LEVEL || room < limited ? room : limited;
		if (hist[level] > allowed) {
			plan.cut = level;
			plan.quota = (u32)allowed;
			plan.slots += plan.quota;
			break;
		}
		room -= hist[level];
		if (level != SELECT_TOP_LEVEL)
			limited -= hist[level];
		plan.slots += hist[level];
	}
	return plan;
}

/* Give every target its share of @max and its slice of the picks. Returns the pages planned. */
static u32 plan_all(struct pass *pass, u32 max)
{
	u32 wanting = 0, first = 0, i;

	for (i = 0; i < pass->nr_targets; i++)
		wanting += pass->targets[i].ready != 0;
	for (i = 0; i < pass->nr_targets; i++) {
		if (!pass->targets[i].ready)
			continue;
		pass->plans[i] = plan_target(&pass->targets[i], pass->sel->hist[i], max / wanting);
		pass->targets[i].first = first;
		first += pass->plans[i].slots;
	}
	return first;
}

/* Take the page if its target still wants it. Returns whether it was taken. */
static bool take(struct pass *pass, u64 pfn, const struct phi *p, struct select_pick *picks)
{
	struct select_target *t = target_if_ready(pass, p);
	struct plan *plan;
	u32 level;

	if (!t)
		return false;
	plan = &pass->plans[t - pass->targets];
	level = select_level(pass->map->layout, p->heat);
	if (level < plan->cut || !plan->slots || (level == plan->cut && !plan->quota))
		return false;
	if (level != SELECT_TOP_LEVEL && !plan->limited)
		return false;
	plan->limited -= level != SELECT_TOP_LEVEL;
	if (level == plan->cut) {
		plan->quota--;
		pass->sel->cursor = pfn + 1;
	}
	plan->slots--;
	picks[t->first + t->count++] = (struct select_pick){ .pfn = pfn, .heat = p->heat };
	return true;
}

/* Second pass, over pages [from, to). Returns how many of @left pages are still to be taken. */
static u32 pick_range(struct pass *pass, u64 from, u64 to, struct select_pick *picks, u32 left)
{
	struct hotmap_dir *dir = pass->map->dir;
	u64 nr, base, at, end, areas;
	struct phi p;
	u32 raw;

	for (nr = from / HOTMAP_SECTION_PAGES; left && nr * HOTMAP_SECTION_PAGES < to; nr++) {
		struct hotmap_section *s = dir->sections[nr - dir->first];

		base = nr * HOTMAP_SECTION_PAGES;
		areas = s ? port_load(&s->ready) & ~port_load(&s->foreign) : 0;
		for (; left && areas; areas &= areas - 1) {
			at = (u64)walk_first_bit(areas) * HOTMAP_AREA_PAGES;
			end = at + HOTMAP_AREA_PAGES;
			if (base + at < from)
				at = from - base;
			if (base + end > to)
				end = to - base;
			for (; left && walk_next(pass->map->layout, s, &at, end, &raw); at++) {
				p = phi_look(pass->map->layout, raw, &pass->clock);
				left -= take(pass, base + at, &p, picks);
			}
		}
		port_yield();
	}
	return left;
}

/**
 * select_hottest - choose the pages to move now
 * @sel: the map's selector
 * @map: where to look
 * @targets: what each target takes; the out fields are filled in
 * @nr_targets: 0..SELECT_MAX_TARGETS
 * @picks: the chosen pages, grouped by target
 * @max: room in @picks; shared evenly among the targets that have ready pages
 *
 * Thread context. Work: two passes over the ready areas.
 *
 * Returns the number of pages chosen; none is chosen twice. The slices may have gaps between them.
 */
u32 select_hottest(struct selector *sel, struct hotmap *map, struct select_target *targets,
		   u32 nr_targets, struct select_pick *picks, u32 max)
{
	struct pass pass = {
		.sel = sel,
		.map = map,
		.targets = targets,
		.nr_targets = nr_targets,
		.clock = { .epoch = map->epoch, .threshold = map->threshold },
	};
	u64 first, end, start;
	u32 planned, left, i, level;

	for (i = 0; i < nr_targets; i++) {
		targets[i].first = targets[i].count = 0;
		targets[i].ready = 0;
		for (level = 0; level < SELECT_LEVELS; level++)
			sel->hist[i][level] = 0;
	}
	if (!map->dir)
		return 0;
	count_ready(&pass);
	planned = plan_all(&pass, max);
	first = map->dir->first * HOTMAP_SECTION_PAGES;
	end = first + map->dir->nr * HOTMAP_SECTION_PAGES;
	start = sel->cursor >= first && sel->cursor < end ? sel->cursor : first;
	left = pick_range(&pass, start, end, picks, planned);
	left = pick_range(&pass, first, start, picks, left);
	return planned - left;
}

enum {
	/* Odd, so that samples begin at every page of an area in turn. */
	SAMPLE_PHASE_STEP = 197,
};

/* Find a ready page among pages [at, end) of a section. Returns its offset, or @end. */
static u64 find_ready(struct hotmap *map, struct hotmap_section *s, u64 at, u64 end)
{
	struct phi_clock clock = { .epoch = map->epoch, .threshold = map->threshold };
	struct phi p;
	u32 raw;

	for (; walk_next(map->layout, s, &at, end, &raw); at++) {
		p = phi_look(map->layout, raw, &clock);
		if (phi_ready(&p, clock.threshold))
			return at;
	}
	return end;
}

/* Any ready page of an area, beginning somewhere in it. Returns whether there is one. */
static bool sample_area(const struct selector *sel, struct hotmap *map, struct hotmap_section *s,
			u32 area, u64 *offset)
{
	u64 first = (u64)area * HOTMAP_AREA_PAGES, end = first + HOTMAP_AREA_PAGES;
	u64 middle = first + sel->phase;

	*offset = find_ready(map, s, middle, end);
	if (*offset < end)
		return true;
	*offset = find_ready(map, s, first, middle);
	return *offset < middle;
}

/**
 * select_sample - some of the ready pages, whatever their heat
 * @sel: the map's selector
 * @map: where to look
 * @pfns: the pages
 * @max: room in @pfns, at least 1
 *
 * At most one page of each area; the next call goes on in the areas that follow. Thread context.
 * Work: the ready areas looked at, at most all of them.
 *
 * Returns the number of pages.
 */
u32 select_sample(struct selector *sel, struct hotmap *map, u64 *pfns, u32 max)
{
	u64 nr = map->dir ? map->dir->nr : 0, start, at, areas, before, offset, round;
	struct hotmap_section *s;
	u32 n = 0, area;

	if (!nr)
		return 0;
	sel->phase = (sel->phase + SAMPLE_PHASE_STEP) % HOTMAP_AREA_PAGES;
	start = sel->sampled / HOTMAP_SECTION_AREAS % nr;
	/* Areas of the first section that come last. */
	before = ((u64)1 << sel->sampled % HOTMAP_SECTION_AREAS) - 1;
	for (round = 0; round <= nr; round++) {
		at = (start + round) % nr;
		s = map->dir->sections[at];
		areas = s ? port_load(&s->ready) & ~port_load(&s->foreign) : 0;
		if (!round)
			areas &= ~before;
		else if (round == nr)
			areas &= before;
		for (; areas; areas &= areas - 1) {
			area = walk_first_bit(areas);
			if (n == max) {
				sel->sampled = at * HOTMAP_SECTION_AREAS + area;
				return n;
			}
			if (sample_area(sel, map, s, area, &offset))
				pfns[n++] = (map->dir->first + at) * HOTMAP_SECTION_PAGES + offset;
		}
		port_yield();
	}
	return n;
}
