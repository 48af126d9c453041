// SPDX-License-Identifier: GPL-2.0-only
/* Where the memory of a workload starts, on a machine of two nodes that is only told of. */
#include <string.h>

#include "bench/place.c"
#include "tests/tap.h"

#define FAST		0
#define SLOW		1
#define NODES		2
#define MARGIN		5	/* pages of a node that stay free */
#define MAX_PAGES	1000

/* Pages that the nodes have free, and of each piece of memory the node of each page, -1: none yet. */
static uint64_t free_pages[NODES];
static struct mapping {
	char *mem;
	int node[MAX_PAGES];
} mappings[4];
static unsigned int nr_mappings;

static struct mapping *mapping_of(const void *mem)
{
	for (unsigned int i = 0; i < nr_mappings; i++)
		if (mappings[i].mem == mem)
			return &mappings[i];
	printf("Bail out! nobody mapped that\n");
	exit(1);
}

void *populate_map(uint64_t bytes)
{
	struct mapping *p = &mappings[nr_mappings++];

	p->mem = malloc(bytes);
	/* What is touched becomes 0. */
	memset(p->mem, 0xff, bytes);
	for (unsigned int i = 0; i < MAX_PAGES; i++)
		p->node[i] = -1;
	return p->mem;
}

uint64_t populate_among(void *mem, uint64_t pages, uint64_t count, int node, uint64_t keep_free,
			void (*touch)(void *arg, uint64_t first, uint64_t pages), void *arg)
{
	struct mapping *p = mapping_of(mem);
	uint64_t keep = keep_free / PAGE_BYTES, new = 0;

	/* The kernel fills the fast node first. */
	for (uint64_t at = 0; at < count; at++) {
		int on = node < 0 ? (free_pages[FAST] ? FAST : SLOW) : node;

		if (free_pages[on] <= keep)
			return at;
		touch(arg, at, 1);
		free_pages[on]--;
		new = 0;
		for (uint64_t i = 0; i < pages; i++) {
			if (p->mem[i * PAGE_BYTES] || p->node[i] >= 0)
				continue;
			p->node[i] = on;
			new++;
		}
		check(new == 1, "touching one page made %lu", (unsigned long)new);
	}
	return count;
}

uint64_t node_default_margin(int node)
{
	(void)node;
	return MARGIN * PAGE_BYTES;
}

uint64_t node_meminfo(int node, const char *name)
{
	(void)name;
	return free_pages[node] * PAGE_BYTES;
}

bool node_list_has(const struct node_list *list, int node)
{
	return list->nr == 1 && list->node[0] == node;
}

uint64_t node_count_of(const struct node_list *list, void *mem, const uint32_t *numbers, uint64_t count)
{
	const struct mapping *p = mapping_of(mem);
	uint64_t found = 0;

	for (uint64_t i = 0; i < count; i++)
		found += node_list_has(list, p->node[numbers ? numbers[i] : i]);
	return found;
}

uint64_t node_count(const struct node_list *list, void *mem, uint64_t pages, bool *where)
{
	(void)where;
	return node_count_of(list, mem, NULL, pages);
}

static const struct node_list fast = { { FAST }, 1 };

static struct place place;

static void place_with(enum place_start start, uint64_t fast_pages, uint64_t hot_pages)
{
	while (nr_mappings)
		free(mappings[--nr_mappings].mem);
	free(place.hot);
	free_pages[FAST] = fast_pages + MARGIN;
	free_pages[SLOW] = MAX_PAGES;
	place = (struct place){ .fast = &fast, .slow = SLOW, .start = start, .hot_bytes = hot_pages * PAGE_BYTES };
}

/* How many of the pages [@from, @to) of an order (NULL: as they come) are fast. */
static uint64_t fast_of(void *mem, const uint32_t *order, uint64_t from, uint64_t to)
{
	const struct mapping *p = mapping_of(mem);
	uint64_t found = 0;

	for (uint64_t i = from; i < to; i++)
		found += p->node[order ? order[i] : i] == FAST;
	return found;
}

static void test_pieces(void)
{
	void *cold, *hot;

	place_with(PLACE_IDEAL, 100, 30);
	cold = place_map(&place, 200 * PAGE_BYTES, PLACE_COLD);
	hot = place_map(&place, 30 * PAGE_BYTES - 1, PLACE_HOT);
	is(fast_of(cold, NULL, 0, 200), 70, "ideal: cold memory has what is left of the fast node");
	is(fast_of(cold, NULL, 0, 70), 70, "ideal: its beginning");
	is(fast_of(hot, NULL, 0, 30), 30, "ideal: hot memory is fast");
	is(place_hot_pages(&place), 30, "ideal: so many pages are hot");
	is(place_hot_fast(&place), 30, "ideal: and fast");

	place_with(PLACE_SPILL, 100, 30);
	cold = place_map(&place, 200 * PAGE_BYTES, PLACE_COLD);
	hot = place_map(&place, 30 * PAGE_BYTES, PLACE_HOT);
	is(fast_of(cold, NULL, 0, 100 + MARGIN), 100 + MARGIN, "spill: what comes first is fast");
	is(fast_of(hot, NULL, 0, 30), 0, "spill: what comes last is slow");
	is(place_hot_fast(&place), 0, "spill: nothing hot is fast");

	place_with(PLACE_SLOW, 100, 30);
	cold = place_map(&place, 200 * PAGE_BYTES, PLACE_COLD);
	is(fast_of(cold, NULL, 0, 200), 0, "slow: nothing is fast");
}

static void test_ranked(void)
{
	static uint32_t order[200];
	void *mixed, *hot;

	place_with(PLACE_IDEAL, 100, 40 + 10);
	for (unsigned int i = 0; i < 200; i++)
		order[i] = i * 77 % 200;
	mixed = place_map_ranked(&place, 200 * PAGE_BYTES, order, 40);
	hot = place_map(&place, 10 * PAGE_BYTES, PLACE_HOT);
	is(fast_of(mixed, order, 0, 90), 90, "ranked, ideal: the hottest are fast");
	is(fast_of(mixed, order, 90, 200), 0, "ranked, ideal: and no others");
	is(fast_of(hot, NULL, 0, 10), 10, "ranked, ideal: there is room for hot memory to come");
	is(place_hot_pages(&place), 50, "ranked, ideal: so many pages are hot");
	is(place_hot_fast(&place), 50, "ranked, ideal: and fast");

	place_with(PLACE_SPILL, 100, 50);
	mixed = place_map_ranked(&place, 200 * PAGE_BYTES, order, 40);
	is(fast_of(mixed, NULL, 0, 100 + MARGIN), 100 + MARGIN, "ranked, spill: memory is filled from its beginning");
	is(place_hot_fast(&place), fast_of(mixed, order, 0, 40), "ranked, spill: the hot ones among these are counted");
	ok(place_hot_fast(&place) > 10 && place_hot_fast(&place) < 30, "ranked, spill: which are about half");

	place_with(PLACE_SLOW, 100, 50);
	mixed = place_map_ranked(&place, 200 * PAGE_BYTES, order, 200);
	is(fast_of(mixed, NULL, 0, 200), 0, "ranked, slow: nothing is fast");
	is(place_hot_pages(&place), 200, "ranked: all may be hot");
}

int main(void)
{
	test_pieces();
	test_ranked();
	return done();
}
