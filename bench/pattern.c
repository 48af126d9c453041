// SPDX-License-Identifier: GPL-2.0-only
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "base.h"
#include "pattern.h"

void pattern_random(struct pattern *pattern, uint64_t pages)
{
	*pattern = (struct pattern) { .pages = pages };
}

/* Deal the ranks to the pages at random. */
static void ranks_fill(uint32_t *ranks, uint64_t pages, uint64_t seed)
{
	uint64_t rng = seed | 1;

	for (uint64_t i = 0; i < pages; i++)
		ranks[i] = i;
	for (uint64_t i = pages; i--;) {
		uint32_t rank = ranks[i];
		uint64_t other;

		rng = xorshift64(rng);
		other = ((rng >> 32) * (i + 1)) >> 32;
		ranks[i] = ranks[other];
		ranks[other] = rank;
	}
}

static uint32_t limit_of(double share)
{
	return share >= 1 ? UINT32_MAX : (uint32_t)(share * 4294967296.0);
}

/*
 * Vose's way: a column that is less than full on average gets the rest from one that is more
 * than full, which so becomes less full itself.
 */
static void columns_fill(struct pattern_column *columns, double *shares, uint64_t pages)
{
	/* Columns that are less than full from below, the others from above. */
	uint64_t *todo = xcalloc(pages, sizeof(*todo)), less = 0, more = pages;

	for (uint64_t i = 0; i < pages; i++) {
		columns[i] = (struct pattern_column) { UINT32_MAX, i };
		todo[shares[i] < 1 ? less++ : --more] = i;
	}
	while (less && more < pages) {
		uint64_t small = todo[--less], large = todo[more];

		columns[small] = (struct pattern_column) { limit_of(shares[small]), large };
		shares[large] -= 1 - shares[small];
		if (shares[large] < 1) {
			more++;
			todo[less++] = large;
		}
	}
	free(todo);
}

void pattern_weights(struct pattern *pattern, const double *weights, uint64_t pages)
{
	/* How often each page is drawn where others are drawn once, on average. */
	double *shares = xcalloc(pages, sizeof(*shares)), sum = 0;

	for (uint64_t i = 0; i < pages; i++)
		sum += weights[i];
	for (uint64_t i = 0; i < pages; i++)
		shares[i] = weights[i] * (pages / sum);
	*pattern = (struct pattern) { .pages = pages, .columns = xcalloc(pages, sizeof(*pattern->columns)) };
	columns_fill(pattern->columns, shares, pages);
	free(shares);
}

void pattern_zipf(struct pattern *pattern, uint64_t pages, double exponent, uint64_t seed)
{
	double *weights = xcalloc(pages, sizeof(*weights));
	uint32_t *ranks = xcalloc(pages, sizeof(*ranks));

	ranks_fill(ranks, pages, seed);
	for (uint64_t i = 0; i < pages; i++)
		weights[i] = pow(ranks[i] + 1, -exponent);
	pattern_weights(pattern, weights, pages);
	pattern->ranks = ranks;
	free(weights);
}

void pattern_free(struct pattern *pattern)
{
	free(pattern->columns);
	free(pattern->ranks);
}
