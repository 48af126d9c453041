// SPDX-License-Identifier: GPL-2.0-only
/* The naive twin of layer.c: number by number, and no weight is read. */
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "layer.h"

static uint8_t *vector(uint64_t nr)
{
	uint8_t *numbers = calloc(nr, 1);

	if (!numbers)
		die("cannot allocate a vector of %llu numbers", (unsigned long long)nr);
	return numbers;
}

static void multiply(const struct weights *w, struct matrix m, const uint8_t *x, uint8_t *out)
{
	for (uint64_t row = 0; row < m.rows; row++) {
		uint64_t sum = 0;

		for (uint64_t column = 0; column < m.words * sizeof(uint64_t); column++)
			sum += weights_number(w, &m, row, column) * x[column];
		out[row] = NUMBER_OF(sum);
	}
}

static const uint8_t *key_of(const struct cache *c, const struct layer_job *job, uint64_t token)
{
	return c->mem + (job->layer * c->tokens + token) * 2 * c->dim;
}

/* What one head makes of the tokens so far. */
static void attend(const struct cache *c, const struct layer_job *job, const uint8_t *query, uint64_t head,
		   uint8_t *out)
{
	uint64_t sums[HEAD_DIM] = { 0 };

	for (uint64_t token = 0; token <= job->token; token++) {
		const uint8_t *key = key_of(c, job, token) + head * HEAD_DIM, *value = key + c->dim;
		uint64_t score = 0;

		for (uint64_t i = 0; i < HEAD_DIM; i++)
			score += key[i] * query[head * HEAD_DIM + i];
		for (uint64_t i = 0; i < HEAD_DIM; i++)
			sums[i] += NUMBER_OF(score) * value[i];
	}
	for (uint64_t i = 0; i < HEAD_DIM; i++)
		out[head * HEAD_DIM + i] = NUMBER_OF(sums[i]);
}

uint64_t layer_reference(const struct weights *w, const struct cache *c, const struct layer_job *job, uint8_t *x)
{
	uint8_t *a = vector(w->dim), *b = vector(w->dim), *sum = vector(w->dim), *up = vector(w->hidden);
	const uint8_t *key = key_of(c, job, job->token);
	uint64_t bad;

	multiply(w, weights_attention(w, job->layer, WEIGHTS_KEY), x, a);
	bad = memcmp(a, key, w->dim) != 0;
	multiply(w, weights_attention(w, job->layer, WEIGHTS_VALUE), x, a);
	bad += memcmp(a, key + w->dim, w->dim) != 0;
	multiply(w, weights_attention(w, job->layer, WEIGHTS_QUERY), x, a);
	for (uint64_t head = 0; head < w->dim / HEAD_DIM; head++)
		attend(c, job, a, head, b);
	multiply(w, weights_attention(w, job->layer, WEIGHTS_OUT), b, a);
	for (uint64_t i = 0; i < w->dim; i++)
		x[i] = (x[i] + a[i]) % 16;
	for (uint64_t i = 0; i < job->nr_experts; i++) {
		multiply(w, weights_expert(w, job->layer, job->experts[i], WEIGHTS_UP), x, up);
		multiply(w, weights_expert(w, job->layer, job->experts[i], WEIGHTS_DOWN), up, b);
		for (uint64_t j = 0; j < w->dim; j++)
			sum[j] += b[j] % 16;
	}
	for (uint64_t i = 0; i < w->dim; i++)
		x[i] = (x[i] + sum[i]) % 16;
	free(a);
	free(b);
	free(sum);
	free(up);
	return bad;
}
