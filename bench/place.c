// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <stddef.h>

#include "base.h"
#include "place.h"
#include "populate.h"

/* A piece of memory that gets its pages, @done of them so far, in the order @order. */
struct filling {
	char *mem;
	uint64_t pages, done;
	const uint32_t *order;
};

static void touch(void *arg, uint64_t first, uint64_t pages)
{
	const struct filling *f = arg;

	for (uint64_t at = f->done + first; pages; pages--, at++)
		*(volatile char *)(f->mem + (f->order ? f->order[at] : at) * PAGE_BYTES) = 0;
}

/* What is missing, as far as @node has room and @spare bytes more; -1: where the kernel puts it. */
static void fill_on(struct filling *f, int node, uint64_t spare)
{
	uint64_t keep_free = node < 0 ? 0 : node_default_margin(node) + spare;

	f->done += populate_among(f->mem, f->pages, f->pages - f->done, node, keep_free, touch, f);
}

static void fill_slow(struct filling *f, int node)
{
	fill_on(f, node, 0);
	if (f->done < f->pages)
		die("node %d has no room for %" PRIu64 " MiB: %" PRIu64 " MiB are free", node,
		    (f->pages - f->done) * PAGE_BYTES / MIB, node_meminfo(node, "MemFree:") / MIB);
}

/* @hot pages are so, the first ones of @order. */
static void *map(struct place *place, uint64_t pages, const uint32_t *order, uint64_t hot)
{
	struct filling f = { .mem = populate_map(pages * PAGE_BYTES), .pages = pages };
	uint64_t spare;

	if (hot) {
		if (place->nr_hot == PLACE_MAX_HOT)
			die("more than %d pieces of hot memory", PLACE_MAX_HOT);
		place->hot[place->nr_hot++] = (struct place_piece){ f.mem, hot, order };
		place->hot_bytes -= hot * PAGE_BYTES < place->hot_bytes ? hot * PAGE_BYTES : place->hot_bytes;
	}
	/* What is hot throughout leaves no room for what else is hot. */
	spare = hot == pages && !order ? 0 : place->hot_bytes;
	if (place->start == PLACE_IDEAL) {
		f.order = order;
		for (unsigned int i = 0; i < place->fast->nr; i++)
			fill_on(&f, place->fast->node[i], spare);
	}
	if (place->start == PLACE_SPILL)
		fill_on(&f, -1, 0);
	else
		fill_slow(&f, place->slow);
	return f.mem;
}

static uint64_t pages_of(uint64_t bytes)
{
	return (bytes + PAGE_BYTES - 1) / PAGE_BYTES;
}

void *place_map(struct place *place, uint64_t bytes, enum place_heat heat)
{
	return map(place, pages_of(bytes), NULL, heat == PLACE_HOT ? pages_of(bytes) : 0);
}

void *place_map_ranked(struct place *place, uint64_t bytes, const uint32_t *order, uint64_t hot)
{
	return map(place, pages_of(bytes), order, hot);
}

uint64_t place_hot_pages(const struct place *place)
{
	uint64_t pages = 0;

	for (unsigned int i = 0; i < place->nr_hot; i++)
		pages += place->hot[i].pages;
	return pages;
}

uint64_t place_hot_fast(const struct place *place)
{
	uint64_t pages = 0;

	for (unsigned int i = 0; i < place->nr_hot; i++) {
		const struct place_piece *p = &place->hot[i];

		pages += p->order ? node_count_of(place->fast, p->mem, p->order, p->pages) :
				    node_count(place->fast, p->mem, p->pages, NULL);
	}
	return pages;
}
