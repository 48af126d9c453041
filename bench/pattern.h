/* SPDX-License-Identifier: GPL-2.0-only */
/* pattern - which of a region's pages is accessed next */
#ifndef PGHOT_BENCH_PATTERN_H
#define PGHOT_BENCH_PATTERN_H

#include <stdint.h>

/* A column of an alias table: below @limit the draw is this column's page, else @alias. */
struct pattern_column {
	uint32_t limit;			/* of 2^32 */
	uint32_t alias;
};

/** struct pattern - a distribution over pages [0, @pages) */
struct pattern {
	struct pattern_column *columns;	/* NULL: all pages alike */
	uint32_t *ranks;		/* pattern_zipf(): of each page, 0 is the hottest; else NULL */
	uint64_t pages;
};

/** pattern_random - all pages alike */
void pattern_random(struct pattern *pattern, uint64_t pages);

/** pattern_weights - page i is drawn in proportion to @weights[i] */
void pattern_weights(struct pattern *pattern, const double *weights, uint64_t pages);

/**
 * pattern_zipf - the page of rank r (1, 2, ...) is drawn in proportion to 1 / r^@exponent
 * @seed: of which page has which rank: hot pages are not neighbours
 */
void pattern_zipf(struct pattern *pattern, uint64_t pages, double exponent, uint64_t seed);

void pattern_free(struct pattern *pattern);

/** xorshift64 - the next number of a generator whose state is not 0 */
static inline uint64_t xorshift64(uint64_t x)
{
	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return x;
}

/** draw_below - a number below @n, from all bits of @rng, the upper ones first */
static inline uint64_t draw_below(uint64_t rng, uint64_t n)
{
	return (unsigned __int128)rng * n >> 64;
}

/**
 * pattern_draw - a page
 * @rng: the state of a generator; it may be advanced, and its lower half is not used
 *
 * An alias table takes one look whatever the distribution, so that the draw does not weigh in the
 * time of an access.
 */
static inline uint64_t pattern_draw(const struct pattern *pattern, uint64_t *rng)
{
	uint64_t page = ((*rng >> 32) * pattern->pages) >> 32;

	if (pattern->columns) {
		const struct pattern_column *column = &pattern->columns[page];

		*rng = xorshift64(*rng);
		if (*rng >> 32 >= column->limit)
			page = column->alias;
	}
	return page;
}

#endif
