/* SPDX-License-Identifier: GPL-2.0-only */
/* range - memory on a node of choice, whose every page carries a pattern of its own */
#ifndef PGHOT_BENCH_RANGE_H
#define PGHOT_BENCH_RANGE_H

#include <stdint.h>

#include "base.h"

/* Word w of page p of a range is base + p * PATTERN_PAGE_STEP + w * PATTERN_WORD_STEP. */
#define PATTERN_PAGE_STEP	0x9e3779b97f4a7c15ULL
#define PATTERN_WORD_STEP	0xd1342543de82ef95ULL
/*
 * The word that accesses use. It starts as its pattern and each store adds one to it. In the
 * middle of the page, so that a copy cut short at either end spoils plain pattern words.
 */
#define ACCESS_WORD		(WORDS_PER_PAGE / 2)

/** struct range - a mapping whose pages all carry the pattern */
struct range {
	uint64_t *words;
	uint64_t pages;
	uint64_t base;			/* pattern of the first word */
};

/**
 * range_populate - map and fill up to range->pages pages on @node
 *
 * Fewer if the node's free memory would fall below @keep_free bytes; range->pages is then what was
 * populated.
 */
void range_populate(struct range *range, int node, uint64_t keep_free);

/** range_populate_all - all of range->pages or die: @need bytes must be free beside @keep_free */
void range_populate_all(struct range *range, int node, uint64_t need, uint64_t keep_free);

/**
 * range_verify - count the pages that do not hold what they must, and describe some on stderr
 * @kind: what to call the range
 * @expected: of the access words; NULL: nobody stored
 */
uint64_t range_verify(const char *kind, const struct range *range, const uint64_t *expected);

#endif
