// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <stddef.h>

#include "base.h"
#include "place.h"
#include "populate.h"

/* Pages that are being touched for the first time, from the first to the last. */
struct piece {
	char *mem;			/* NULL: they are a file's */
	uint64_t pages, done;
	void (*touch)(void *arg, uint64_t first, uint64_t pages);
	void *arg;
};

static void touch_anonymous(void *arg, uint64_t first, uint64_t pages)
{
	for (volatile char *at = (char *)arg + first * PAGE_BYTES; pages; pages--, at += PAGE_BYTES)
		*at = 0;
}

/* populate_on() counts from what was left. */
static void touch_left(void *arg, uint64_t first, uint64_t pages)
{
	struct piece *p = arg;

	p->touch(p->arg, p->done + first, pages);
}

/* What is left of the piece on @node, as long as that has room; -1: where the kernel puts it. */
static void piece_on(struct piece *p, int node, uint64_t keep_free)
{
	char *at = p->mem ? p->mem + p->done * PAGE_BYTES : NULL;

	p->done += populate_on(at, p->pages - p->done, node, keep_free, touch_left, p);
}

static void piece_slow(struct piece *p, int node)
{
	piece_on(p, node, node_default_margin(node));
	if (p->done < p->pages)
		die("node %d has no room for %" PRIu64 " MiB more: %" PRIu64 " MiB are free", node,
		    (p->pages - p->done) * PAGE_BYTES / MIB, node_meminfo(node, "MemFree:") / MIB);
}

/* @spare: bytes of the fast nodes that are for others */
static void piece_start(const struct place *place, struct piece *p, uint64_t spare)
{
	if (place->start == PLACE_SPILL) {
		piece_on(p, -1, 0);
		return;
	}
	for (unsigned int i = 0; place->start == PLACE_IDEAL && i < place->fast->nr && p->done < p->pages; i++)
		piece_on(p, place->fast->node[i], node_default_margin(place->fast->node[i]) + spare);
	if (p->done < p->pages)
		piece_slow(p, place->slow);
}

static void add_hot(struct place *place, void *mem, uint64_t pages)
{
	uint64_t bytes = pages * PAGE_BYTES;

	if (place->nr_hot == place->max_hot) {
		place->max_hot = place->max_hot ? 2 * place->max_hot : 8;
		place->hot = realloc(place->hot, place->max_hot * sizeof(*place->hot));
		if (!place->hot)
			die("cannot allocate a list of %u pieces of hot memory", place->max_hot);
	}
	place->hot[place->nr_hot++] = (struct place_piece){ mem, pages };
	place->hot_bytes -= bytes < place->hot_bytes ? bytes : place->hot_bytes;
}

/* What can be had of a node: what files take is given back. */
static uint64_t room(int node)
{
	return node_meminfo(node, "MemFree:") + node_meminfo(node, "FilePages:");
}

void place_need(const struct place *place, uint64_t bytes, const char *what)
{
	uint64_t have = node_list_has(place->fast, place->slow) ? 0 : room(place->slow);

	for (unsigned int i = 0; i < place->fast->nr; i++)
		have += room(place->fast->node[i]);
	if (bytes > have)
		die("%s needs %" PRIu64 " MiB, and the nodes have %" PRIu64 " MiB to give: choose a smaller one",
		    what, bytes / MIB, have / MIB);
}

void *place_map(struct place *place, uint64_t bytes, enum place_heat heat)
{
	uint64_t pages = (bytes + PAGE_BYTES - 1) / PAGE_BYTES;
	char *mem = populate_map(pages * PAGE_BYTES);
	struct piece piece = { .mem = mem, .pages = pages, .touch = touch_anonymous, .arg = mem };

	if (heat == PLACE_HOT)
		add_hot(place, mem, pages);
	piece_start(place, &piece, heat == PLACE_HOT ? 0 : place->hot_bytes);
	return mem;
}

void place_file(struct place *place, void *mem, uint64_t pages, enum place_heat heat,
		void (*write)(void *arg, uint64_t first, uint64_t pages), void *arg)
{
	struct piece piece = { .pages = pages, .touch = write, .arg = arg };

	if (heat == PLACE_HOT)
		add_hot(place, mem, pages);
	piece_start(place, &piece, heat == PLACE_HOT ? 0 : place->hot_bytes);
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
