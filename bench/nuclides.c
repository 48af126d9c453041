// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>

#include "base.h"
#include "nuclides.h"
#include "pattern.h"
#include "workload.h"

/* A nuclide's next point in the making of the unionised grid. */
struct next {
	double energy;
	uint64_t nuclide;
};

static uint64_t hot_bytes(uint64_t nr)
{
	return nr * (sizeof(struct gridpoint) + sizeof(double));
}

uint64_t nuclides_bytes(uint64_t nr)
{
	return hot_bytes(nr) + nr * nr * sizeof(uint32_t);
}

void nuclides_map(struct nuclides *n, struct place *place)
{
	uint64_t points = n->nr * n->gridpoints;

	place->hot_bytes = hot_bytes(n->nr) * n->gridpoints;
	n->index = place_map(place, points * n->nr * sizeof(*n->index), PLACE_COLD);
	n->energies = place_map(place, points * sizeof(*n->energies), PLACE_HOT);
	n->table = place_map(place, points * sizeof(*n->table), PLACE_HOT);
}

static double draw(uint64_t *rng)
{
	*rng = xorshift64(*rng);
	return unit_of(*rng);
}

/*
 * Random energies in order: each goes to the part of the table where numbers of its size are on
 * average, for which the same numbers are drawn twice; what is left is to sort neighbours.
 * @ends: a number for each point, all 0
 */
static void fill_energies(struct gridpoint *table, uint64_t gridpoints, uint32_t *ends, uint64_t seed)
{
	uint64_t rng = seed;

	for (uint64_t i = 0; i < gridpoints; i++)
		ends[(uint64_t)(draw(&rng) * gridpoints)]++;
	for (uint64_t i = 1; i < gridpoints; i++)
		ends[i] += ends[i - 1];
	rng = seed;
	for (uint64_t i = 0; i < gridpoints; i++) {
		double energy = draw(&rng);

		table[--ends[(uint64_t)(energy * gridpoints)]].energy = energy;
	}
	for (uint64_t i = 1; i < gridpoints; i++) {
		double energy = table[i].energy;
		uint64_t to = i;

		for (; to && table[to - 1].energy > energy; to--)
			table[to].energy = table[to - 1].energy;
		table[to].energy = energy;
	}
}

static void fill_tables(struct nuclides *n, uint64_t seed)
{
	uint32_t *ends = xcalloc(n->gridpoints, sizeof(*ends));

	for (uint64_t i = 0; i < n->nr; i++) {
		struct gridpoint *table = n->table + i * n->gridpoints;
		uint64_t rng = mix64(seed + i) | 1;

		memset(ends, 0, n->gridpoints * sizeof(*ends));
		fill_energies(table, n->gridpoints, ends, rng);
		for (uint64_t at = 0; at < n->gridpoints; at++)
			for (unsigned int xs = 0; xs < CROSS_SECTIONS; xs++)
				table[at].xs[xs] = draw(&rng);
	}
	free(ends);
}

/* Restore the order of a heap, the least energy first, of which only @at may be too large. */
static void sift(struct next *heap, uint64_t nr, uint64_t at)
{
	struct next moved = heap[at];

	for (uint64_t child; (child = 2 * at + 1) < nr; at = child) {
		if (child + 1 < nr && heap[child + 1].energy < heap[child].energy)
			child++;
		if (heap[child].energy >= moved.energy)
			break;
		heap[at] = heap[child];
	}
	heap[at] = moved;
}

/* Each row of the index is the one before, but for the nuclide whose energy it is. */
static void fill_index(struct nuclides *n)
{
	uint64_t points = n->nr * n->gridpoints, row_bytes = n->nr * sizeof(*n->index);
	struct next *heap = xcalloc(n->nr, sizeof(*heap));
	uint64_t *used = xcalloc(n->nr, sizeof(*used));
	uint32_t *row = n->index;

	for (uint64_t i = 0; i < n->nr; i++)
		heap[i] = (struct next) { n->table[i * n->gridpoints].energy, i };
	for (uint64_t i = n->nr / 2; i--;)
		sift(heap, n->nr, i);
	for (uint64_t i = 0; i < points; i++, row += n->nr) {
		uint64_t nuclide = heap->nuclide, at = used[nuclide]++;

		n->energies[i] = heap->energy;
		if (i)
			memcpy(row, row - n->nr, row_bytes);
		row[nuclide] = at < n->gridpoints - 1 ? at : n->gridpoints - 2;
		heap->energy = at < n->gridpoints - 1 ?
			n->table[nuclide * n->gridpoints + at + 1].energy : 2;	/* beyond all */
		sift(heap, n->nr, 0);
	}
	free(used);
	free(heap);
}

void nuclides_fill(struct nuclides *n, uint64_t seed)
{
	fill_tables(n, mix64(seed));
	fill_index(n);
}

uint32_t nuclides_search(const struct nuclides *n, uint64_t nuclide, double energy)
{
	const struct gridpoint *table = n->table + nuclide * n->gridpoints;
	uint64_t below = 0, above = n->gridpoints;

	/* How many are at most @energy? */
	while (below < above) {
		uint64_t middle = (below + above) / 2;

		if (table[middle].energy <= energy)
			below = middle + 1;
		else
			above = middle;
	}
	if (!below)
		return 0;
	return below < n->gridpoints ? below - 1 : n->gridpoints - 2;
}
