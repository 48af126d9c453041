/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * counters - how often numbered things were counted, by many threads at once
 *
 * Either a counter for each thing, or a given number of them, for the things counted most. Then a
 * set of 8 counters is for all things of one hash, by the algorithm of Misra and Gries: a thing that
 * finds no counter free takes one off each of them. So no count is ever too high, and one that is
 * more than a ninth of its set's total is never lost.
 */
#ifndef PGHOT_LAB_COUNTERS_H
#define PGHOT_LAB_COUNTERS_H

#include <stdbool.h>
#include <stdint.h>

#define COUNTERS_WAYS		8
/* Counters that share a bit which says that any of them is not 0. */
#define COUNTERS_BLOCK		1024

/**
 * struct counters - all of it may be used by many threads at once
 * @count: a counter for each thing, or NULL
 * @slot: or sets of COUNTERS_WAYS slots: thing << 32 | count; a count of 0: free
 * @locked: a byte for each set, 1 while somebody changes it
 * @touched: bits of blocks
 * @nr: counters or slots
 */
struct counters {
	uint32_t *count;
	uint64_t *slot;
	uint8_t *locked;
	uint64_t *touched;
	uint64_t nr;
};

/**
 * counters_init - counters for @things; @nr: how many, a power of two from COUNTERS_WAYS on, or 0:
 * one for each
 *
 * Memory is not used before it is counted in. False: there is not so much address space.
 */
bool counters_init(struct counters *counters, uint64_t things, uint64_t nr);

/** counters_free - give all memory back; also after a counters_init() that failed */
void counters_free(struct counters *counters);

/**
 * counters_add - count @thing once more, unless its count is @max already
 *
 * Returns the new count, or 0 if it was not counted.
 */
uint32_t counters_add(struct counters *counters, uint32_t thing, uint32_t max);

/**
 * counters_take - set all counts to 0, and call @each, if not NULL, for each that was not
 *
 * What is counted meanwhile either is among these or is there the next time.
 */
void counters_take(struct counters *counters,
		   void (*each)(void *data, uint32_t thing, uint32_t count), void *data);

#endif
