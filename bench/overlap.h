/* SPDX-License-Identifier: GPL-2.0-only */
/* overlap - are the pages that reach the fast node first the hottest ones? */
#ifndef PGHOT_BENCH_OVERLAP_H
#define PGHOT_BENCH_OVERLAP_H

#include <stdbool.h>
#include <stdint.h>

#include "pattern.h"

/**
 * struct overlap - of the pages of a skewed pattern that were slow when the accesses began
 * @pattern: has the truth
 * @before: pages that were fast already: those that a source had seen being written
 * @of: how many were slow
 * @promoted: how many of these were fast at the first look that found at least a tenth of them so; 0:
 *	not yet
 * @hottest: how many of these are among the @promoted hottest
 */
struct overlap {
	const struct pattern *pattern;
	bool *before;
	uint64_t of;
	uint64_t promoted;
	uint64_t hottest;
};

/** overlap_begin - @fast: of each page, whether it is fast now; @overlap takes it over */
void overlap_begin(struct overlap *overlap, const struct pattern *pattern, bool *fast);

/** overlap_look - @fast: likewise, a later time; it stays the caller's */
void overlap_look(struct overlap *overlap, const bool *fast);

void overlap_free(struct overlap *overlap);

#endif
