/* SPDX-License-Identifier: GPL-2.0-only */
/* nuclides - cross sections by energy, one table a nuclide, and an index to all tables at once */
#ifndef PGHOT_BENCH_NUCLIDES_H
#define PGHOT_BENCH_NUCLIDES_H

#include <stdint.h>

#include "place.h"

/* Total, elastic, absorption, fission, nu-fission. */
#define CROSS_SECTIONS	5

/** struct gridpoint - a nuclide's cross sections at one energy; energies are in [0, 1) */
struct gridpoint {
	double energy;
	double xs[CROSS_SECTIONS];
};

/**
 * struct nuclides - @nr tables of @gridpoints each, one after the other, and their unionised grid
 * @table: that of nuclide n is @table[n * @gridpoints], by energy
 * @energies: those of all tables, sorted; @nr * @gridpoints of them
 * @index: for each of them @nr numbers: the last point of each table at that energy or below it, but its
 *	first if there is none, and never its last, so that a point follows
 */
struct nuclides {
	uint64_t nr, gridpoints;
	struct gridpoint *table;
	double *energies;
	uint32_t *index;
};

/** nuclides_bytes - what one gridpoint of each of @nr nuclides takes in all */
uint64_t nuclides_bytes(uint64_t nr);

/** nuclides_map - memory for @n, whose nr and gridpoints are set: the index is cold, the rest hot */
void nuclides_map(struct nuclides *n, struct place *place);

/** nuclides_fill - energies and cross sections at random, and the index to them */
void nuclides_fill(struct nuclides *n, uint64_t seed);

/** nuclides_union_search - the last of @n->energies that is at most @energy, or the first of all */
static inline uint64_t nuclides_union_search(const struct nuclides *n, double energy)
{
	uint64_t low = 0, high = n->nr * n->gridpoints;

	while (high - low > 1) {
		uint64_t middle = low + (high - low) / 2;

		if (n->energies[middle] <= energy)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/** nuclides_search - what the index should say of @nuclide at @energy, found in the nuclide's table alone */
uint32_t nuclides_search(const struct nuclides *n, uint64_t nuclide, double energy);

#endif
