/* SPDX-License-Identifier: GPL-2.0-only */
/* batch - updates of words, at random or one after the other, that undo themselves when made again */
#ifndef PGHOT_BENCH_BATCH_H
#define PGHOT_BENCH_BATCH_H

#include <stdint.h>

#include "place.h"

enum batch_kind { BATCH_RANDOM, BATCH_STREAM };

/** struct batch - all fields are its own */
struct batch {
	enum batch_kind kind;
	uint64_t *words;
	uint64_t nr;
	uint64_t seed;
	uint64_t rng;
	uint64_t at;		/* BATCH_STREAM: the next word */
};

/** batch_map - map @bytes of cold memory, and fill it */
void batch_map(struct batch *b, struct place *place, uint64_t bytes, enum batch_kind kind, uint64_t seed);

/** batch_run - the next @count updates */
void batch_run(struct batch *b, uint64_t count);

/**
 * batch_verify - undo what @count updates have left, which are all that were made
 *
 * Returns how many pages are not as they were at first.
 */
uint64_t batch_verify(struct batch *b, uint64_t count);

#endif
