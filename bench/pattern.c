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

static void *take(uint64_t count, size_t size)
{
	void *mem = calloc(count, size);

	if (!mem)
		die("cannot allocate a table for %llu pages", (unsigned long long)count);
	return mem;
}

/* Weights of the ranks, dealt to the pages at random, their sum 1. */
static void weights_fill(double *weights, uint64_t pages, double exponent, uint64_t seed)
{
	uint64_t rng = seed | 1;
	double sum = 0;

	for (uint64_t i = 0; i < pages; i++)
		sum += weights[i] = pow(i + 1, -exponent);
	for (uint64_t i = 0; i < pages; i++)
		weights[i] /= sum;
	for (uint64_t i = pages; i--;) {
		double weight = weights[i];
		uint64_t other;

		rng = xorshift64(rng);
		other = ((rng >> 32) * (i + 1)) >> 32;
		weights[i] = weights[other];
		weights[other] = weight;
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
static void columns_fill(struct pattern_column *columns, const double *weights, uint64_t pages)
{
	double *share = take(pages, sizeof(*share));
	uint64_t *todo = take(pages, sizeof(*todo));	/* less than full from below, others from above */
	uint64_t less = 0, more = pages;

	for (uint64_t i = 0; i < pages; i++) {
		share[i] = weights[i] * pages;
		columns[i] = (struct pattern_column) { UINT32_MAX, i };
		todo[share[i] < 1 ? less++ : --more] = i;
	}
	while (less && more < pages) {
		uint64_t small = todo[--less], large = todo[more];

		columns[small] = (struct pattern_column) { limit_of(share[small]), large };
		share[large] -= 1 - share[small];
		if (share[large] < 1) {
			more++;
			todo[less++] = large;
		}
	}
	free(share);
	free(todo);
}

void pattern_zipf(struct pattern *pattern, uint64_t pages, double exponent, uint64_t seed)
{
	pattern->pages = pages;
	pattern->weights = take(pages, sizeof(*pattern->weights));
	pattern->columns = take(pages, sizeof(*pattern->columns));
	weights_fill(pattern->weights, pages, exponent, seed);
	columns_fill(pattern->columns, pattern->weights, pages);
}

void pattern_free(struct pattern *pattern)
{
	free(pattern->columns);
	free(pattern->weights);
}
