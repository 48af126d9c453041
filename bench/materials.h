/* SPDX-License-Identifier: GPL-2.0-only */
/* materials - of a reactor, after the Hoogenboom-Martin benchmark as XSBench has it */
#ifndef PGHOT_BENCH_MATERIALS_H
#define PGHOT_BENCH_MATERIALS_H

#include <stdint.h>

#define MATERIALS		12
#define NUCLIDES_SMALL		68
#define NUCLIDES_LARGE		355
#define MAX_IN_MATERIAL		321

/** struct material - @nr nuclides, by number, and how dense each is */
struct material {
	unsigned int nr;
	uint16_t nuclide[MAX_IN_MATERIAL];
	double density[MAX_IN_MATERIAL];
};

/**
 * materials_fill - all of them; the first is fuel
 * @nuclides: NUCLIDES_SMALL or NUCLIDES_LARGE: the fuel has all that the others do not have
 */
void materials_fill(struct material materials[MATERIALS], unsigned int nuclides, uint64_t seed);

/** materials_pick - how often a particle meets which material; @roll: at random from [0, 1) */
unsigned int materials_pick(double roll);

#endif
