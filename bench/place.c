// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <stddef.h>

#include "base.h"
#include "place.h"
#include "populate.h"

static void touch(void *arg, uint64_t first, uint64_t pages)
{
	for (volatile char *at = (char *)arg + first * PAGE_BYTES; pages; pages--, at += PAGE_BYTES)
		*at = 0;
}

/* The first pages of @mem on the fast nodes, but for @spare bytes of these. Returns how many. */
static uint64_t place_fast(const struct place *place, char *mem, uint64_t pages, uint64_t spare)
{
	uint64_t done = 0;

	for (unsigned int i = 0; i < place->fast->nr && done < pages; i++) {
		int node = place->fast->node[i];
		char *at = mem + done * PAGE_BYTES;

		done += populate_on(at, pages - done, node, node_default_margin(node) + spare, touch, at);
	}
	return done;
}

static void place_slow(const struct place *place, char *mem, uint64_t pages)
{
	if (populate_on(mem, pages, place->slow, node_default_margin(place->slow), touch, mem) < pages)
		die("node %d has no room for %" PRIu64 " MiB: %" PRIu64 " MiB are free", place->slow,
		    pages * PAGE_BYTES / MIB, node_meminfo(place->slow, "MemFree:") / MIB);
}

void *place_map(struct place *place, uint64_t bytes, enum place_heat heat)
{
	uint64_t pages = (bytes + PAGE_BYTES - 1) / PAGE_BYTES, fast = 0;
	char *mem = populate_map(pages * PAGE_BYTES);

	if (heat == PLACE_HOT) {
		if (place->nr_hot == PLACE_MAX_HOT)
			die("more than %d pieces of hot memory", PLACE_MAX_HOT);
		place->hot[place->nr_hot++] = (struct place_piece){ mem, pages };
		place->hot_bytes -= bytes < place->hot_bytes ? bytes : place->hot_bytes;
	}
	if (place->start == PLACE_IDEAL)
		fast = place_fast(place, mem, pages, heat == PLACE_HOT ? 0 : place->hot_bytes);
	if (place->start == PLACE_SPILL)
		populate_on(mem, pages, -1, 0, touch, mem);
	else if (fast < pages)
		place_slow(place, mem + fast * PAGE_BYTES, pages - fast);
	return mem;
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

	for (unsigned int i = 0; i < place->nr_hot; i++)
		pages += node_count(place->fast, place->hot[i].mem, place->hot[i].pages, NULL);
	return pages;
}
