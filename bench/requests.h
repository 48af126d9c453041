/* SPDX-License-Identifier: GPL-2.0-only */
/* requests - a server's memory, and requests that follow chains of random cache lines through it */
#ifndef PGHOT_BENCH_REQUESTS_H
#define PGHOT_BENCH_REQUESTS_H

#include <stdbool.h>
#include <stdint.h>

#include "permute.h"
#include "place.h"

/**
 * struct requests - but for @checksum its fields are its own
 * @lines: memory of cache lines, each of which names another one of it, on any page
 * @nr: of lines
 * @chain: lines that a request visits, one after the other
 * @next: which line names which
 * @checksum: of the lines that requests ended at: for the same seed the same
 */
struct requests {
	struct requests_line *lines;
	uint64_t nr;
	uint64_t chain;
	struct permute next;
	uint64_t seed;
	uint64_t rng;
	uint64_t checksum;
};

/** requests_map - map @bytes of hot memory, and fill it */
void requests_map(struct requests *r, struct place *place, uint64_t bytes, uint64_t chain, uint64_t seed);

/** requests_serve - the next request: visit its lines; returns whether they are what they should be */
bool requests_serve(struct requests *r);

/**
 * requests_verify - undo what @count requests have left, which are all that were served
 *
 * Returns how many pages are not as they were at first.
 */
uint64_t requests_verify(struct requests *r, uint64_t count);

/** requests_spoil - change a line, so that it is wrong */
void requests_spoil(struct requests *r);

#endif
