// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <stddef.h>

#include "base.h"
#include "place.h"
#include "populate.h"

/* Pages that are being touched for the first time. */
struct piece {
	char *mem;			/* NULL: they are a file's */
	uint64_t pages, done;
	const uint32_t *order;		/* of anonymous memory: which comes when; NULL: as they lie */
	void (*write)(void *arg, uint64_t first, uint64_t pages);	/* of a file */
	void *arg;
};

/* populate_among() counts from what was left. */
static void touch_left(void *arg, uint64_t first, uint64_t pages)
{
	const struct piece *p = arg;

	first += p->done;
	if (!p->mem) {
		p->write(p->arg, first, pages);
		return;
	}
	for (uint64_t at = first; at < first + pages; at++)
		*(volatile char *)(p->mem + (p->order ? p->order[at] : at) * PAGE_BYTES) = 0;
}

/* What is left of the piece on @node, as long as that has room; -1: where the kernel puts it. */
static void piece_on(struct piece *p, int node, uint64_t keep_free)
{
	p->done += populate_among(p->mem, p->pages, p->pages - p->done, node, keep_free, touch_left, p);
}

static void piece_slow(struct piece *p, int node)
{
	piece_on(p, node, node_default_margin(node));
	if (p->done < p->pages)
		die("node %d has no room for %" PRIu64 " MiB more: %" PRIu64 " MiB are free", node,
		    (p->pages - p->done) * PAGE_BYTES / MIB, node_meminfo(node, "MemFree:") / MIB);
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

/* @spare: bytes of the fast nodes that are for others */
static void piece_start(const struct place *place, struct piece *p, uint64_t spare)
{
	if (place->start == PLACE_SPILL) {
		place_need(place, p->pages * PAGE_BYTES, "this piece of memory");
		piece_on(p, -1, 0);
		return;
	}
	for (unsigned int i = 0; place->start == PLACE_IDEAL && i < place->fast->nr && p->done < p->pages; i++)
		piece_on(p, place->fast->node[i], node_default_margin(place->fast->node[i]) + spare);
	if (p->done < p->pages)
		piece_slow(p, place->slow);
}

/* @pages: those of @order, as of a struct place_piece */
static void add_hot(struct place *place, void *mem, const uint32_t *order, uint64_t pages)
{
	uint64_t bytes = pages * PAGE_BYTES;

	if (place->nr_hot == place->max_hot) {
		place->max_hot = place->max_hot ? 2 * place->max_hot : 8;
		place->hot = realloc(place->hot, place->max_hot * sizeof(*place->hot));
		if (!place->hot)
			die("cannot allocate a list of %u pieces of hot memory", place->max_hot);
	}
	place->hot[place->nr_hot++] = (struct place_piece){ mem, pages, order };
	place->hot_bytes -= bytes < place->hot_bytes ? bytes : place->hot_bytes;
}

static struct piece piece_map(uint64_t bytes)
{
	uint64_t pages = (bytes + PAGE_BYTES - 1) / PAGE_BYTES;

	return (struct piece){ .mem = populate_map(pages * PAGE_BYTES), .pages = pages };
}

void *place_map(struct place *place, uint64_t bytes, enum place_heat heat)
{
	struct piece piece = piece_map(bytes);

	if (heat == PLACE_HOT)
		add_hot(place, piece.mem, NULL, piece.pages);
	piece_start(place, &piece, heat == PLACE_HOT ? 0 : place->hot_bytes);
	return piece.mem;
}

void *place_map_ranked(struct place *place, uint64_t bytes, const uint32_t *order, uint64_t hot)
{
	struct piece piece = piece_map(bytes);

	if (place->start == PLACE_IDEAL)
		piece.order = order;
	add_hot(place, piece.mem, order, hot);
	piece_start(place, &piece, place->hot_bytes);
	return piece.mem;
}

void place_file(struct place *place, void *mem, uint64_t pages, enum place_heat heat,
		void (*write)(void *arg, uint64_t first, uint64_t pages), void *arg)
{
	struct piece piece = { .pages = pages, .write = write, .arg = arg };

	if (heat == PLACE_HOT)
		add_hot(place, mem, NULL, pages);
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

	for (unsigned int i = 0; i < place->nr_hot; i++) {
		const struct place_piece *p = &place->hot[i];

		pages += p->order ? node_count_of(place->fast, p->mem, p->order, p->pages) :
				    node_count(place->fast, p->mem, p->pages, NULL);
	}
	return pages;
}
