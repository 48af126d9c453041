// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>

#include "base.h"
#include "layer.h"

#define EVEN_BYTES	UINT64_C(0x00ff00ff00ff00ff)
#define ALL_ONES	UINT64_C(0x0101010101010101)
/* Each of them adds up to 15 * 15 to a sum of 16 bits. */
#define SUM_TOKENS	256
#define HEAD_WORDS	(HEAD_DIM / sizeof(uint64_t))

struct scratch {
	uint64_t *packed;		/* a vector as dot8() wants it */
	uint8_t *query, *key, *value, *mixed, *out, *up, *down;
	uint8_t *scores;		/* of each token */
};

/* ---- the cache ---- */

uint64_t cache_bytes(const struct cache *c)
{
	return c->layers * c->tokens * 2 * c->dim;
}

static const uint64_t *cache_row(const struct cache *c, uint64_t layer, uint64_t token, int value)
{
	return (const uint64_t *)(c->mem + ((layer * c->tokens + token) * 2 + value) * c->dim);
}

static uint64_t sum_words(const uint64_t *words, uint64_t nr)
{
	uint64_t sum = 0;

	while (nr--)
		sum += *words++;
	return sum;
}

void cache_put(struct cache *c, uint64_t layer, uint64_t token, const uint8_t *key, const uint8_t *value)
{
	uint64_t *row = (uint64_t *)cache_row(c, layer, token, 0);

	memcpy(row, key, c->dim);
	memcpy((uint8_t *)row + c->dim, value, c->dim);
	c->sums[layer] += sum_words(row, 2 * c->dim / sizeof(*row));
}

uint64_t cache_verify(const struct cache *c, uint64_t tokens)
{
	uint64_t bad = 0;

	for (uint64_t layer = 0; layer < c->layers; layer++)
		bad += sum_words(cache_row(c, layer, 0, 0), tokens * 2 * c->dim / sizeof(uint64_t)) !=
		       c->sums[layer];
	return bad;
}

/* ---- products of eight numbers at a time ---- */

/*
 * The sum of the products of eight bytes with eight numbers of a packed vector is in the upper 16 bits.
 * A product of two words is the sum of products of their 16-bit pieces, in the place of the sum of
 * theirs; what arrives in the uppermost is each piece of one times its opposite of the other. It is
 * at most 8 * 255 * 15, and the pieces below do not carry into it either.
 */
static uint64_t dot8(uint64_t bytes, uint64_t packed)
{
	return (bytes & EVEN_BYTES) * (packed & EVEN_BYTES) +
	       (bytes >> 8 & EVEN_BYTES) * (packed >> 8 & EVEN_BYTES);
}

/* The 16-bit pieces of each word of @vector in the opposite order; returns the sum of all numbers. */
static uint64_t pack(const uint8_t *vector, uint64_t nr, uint64_t *packed)
{
	uint64_t sum = 0;

	for (; nr; nr -= sizeof(uint64_t), vector += sizeof(uint64_t)) {
		uint64_t x;

		memcpy(&x, vector, sizeof(x));
		x = x << 32 | x >> 32;
		x = (x & UINT64_C(0x0000ffff0000ffff)) << 16 | (x >> 16 & UINT64_C(0x0000ffff0000ffff));
		sum += dot8(x, ALL_ONES) >> 48;
		*packed++ = x;
	}
	return sum;
}

/*
 * @out: the matrix's product with @packed, whose numbers have the sum @sum. Returns how many pairs of
 * rows did not give what is known of them.
 */
static uint64_t multiply(const struct weights *w, struct matrix m, const uint64_t *packed, uint64_t sum,
			 uint8_t *out)
{
	const uint64_t *even = w->words + m.at, *odd = even + m.words;
	uint64_t bad = 0;

	for (uint64_t row = 0; row < m.rows; row += 2, even += 2 * m.words, odd += 2 * m.words) {
		uint64_t a = 0, b = 0;

		/* Two of at most 30600 are less than 2^16. */
		for (uint64_t i = 0; i < m.words; i += 2) {
			a += (dot8(even[i], packed[i]) + dot8(even[i + 1], packed[i + 1])) >> 48;
			b += (dot8(odd[i], packed[i]) + dot8(odd[i + 1], packed[i + 1])) >> 48;
		}
		bad += a + b != UINT8_MAX * sum;
		out[row] = NUMBER_OF(a);
		out[row + 1] = NUMBER_OF(b);
	}
	return bad;
}

static void add(uint8_t *x, const uint8_t *y, uint64_t nr)
{
	for (uint64_t i = 0; i < nr; i++)
		x[i] = (x[i] + y[i]) & 15;
}

/* ---- a layer ---- */

/* How much each token has to say to one head: @query is the head's part, packed. */
static void score(const struct cache *c, uint64_t layer, uint64_t head, uint64_t tokens, const uint64_t *query,
		  uint8_t *scores)
{
	for (uint64_t token = 0; token < tokens; token++) {
		const uint64_t *key = cache_row(c, layer, token, 0) + head * HEAD_WORDS;
		uint64_t sum = 0;

		/* Keys are less than 16, so all of them fit. */
		for (uint64_t i = 0; i < HEAD_WORDS; i++)
			sum += dot8(key[i], query[i]);
		scores[token] = NUMBER_OF(sum >> 48);
	}
}

/* The values of word @word of all tokens, each as often as its score says. @out: eight numbers */
static void mix(const struct cache *c, uint64_t layer, uint64_t word, uint64_t tokens, const uint8_t *scores,
		uint8_t *out)
{
	const uint64_t *value = cache_row(c, layer, 0, 1) + word;
	uint64_t step = 2 * c->dim / sizeof(uint64_t), sums[8] = { 0 };

	for (uint64_t first = 0; first < tokens; first += SUM_TOKENS) {
		uint64_t end = tokens - first < SUM_TOKENS ? tokens : first + SUM_TOKENS, even = 0, odd = 0;

		for (uint64_t token = first; token < end; token++, value += step) {
			even += scores[token] * (*value & EVEN_BYTES);
			odd += scores[token] * (*value >> 8 & EVEN_BYTES);
		}
		for (int i = 0; i < 4; i++) {
			sums[2 * i] += even >> 16 * i & 0xffff;
			sums[2 * i + 1] += odd >> 16 * i & 0xffff;
		}
	}
	for (int i = 0; i < 8; i++)
		out[i] = NUMBER_OF(sums[i]);
}

static uint64_t attend(const struct weights *w, struct cache *c, struct scratch *s, const struct layer_job *job,
		       uint8_t *x)
{
	uint64_t sum = pack(x, w->dim, s->packed), tokens = job->token + 1, bad;

	bad = multiply(w, weights_attention(w, job->layer, WEIGHTS_QUERY), s->packed, sum, s->query);
	bad += multiply(w, weights_attention(w, job->layer, WEIGHTS_KEY), s->packed, sum, s->key);
	bad += multiply(w, weights_attention(w, job->layer, WEIGHTS_VALUE), s->packed, sum, s->value);
	cache_put(c, job->layer, job->token, s->key, s->value);
	pack(s->query, w->dim, s->packed);
	for (uint64_t head = 0; head < w->dim / HEAD_DIM; head++) {
		score(c, job->layer, head, tokens, s->packed + head * HEAD_WORDS, s->scores);
		for (uint64_t word = head * HEAD_WORDS; word < (head + 1) * HEAD_WORDS; word++)
			mix(c, job->layer, word, tokens, s->scores, s->mixed + word * sizeof(uint64_t));
	}
	sum = pack(s->mixed, w->dim, s->packed);
	bad += multiply(w, weights_attention(w, job->layer, WEIGHTS_OUT), s->packed, sum, s->out);
	add(x, s->out, w->dim);
	return bad;
}

static uint64_t ask_experts(const struct weights *w, struct scratch *s, const struct layer_job *job, uint8_t *x)
{
	uint64_t bad = 0;

	memset(s->out, 0, w->dim);
	for (uint64_t i = 0; i < job->nr_experts; i++) {
		uint64_t expert = job->experts[i], sum = pack(x, w->dim, s->packed);

		bad += multiply(w, weights_expert(w, job->layer, expert, WEIGHTS_UP), s->packed, sum, s->up);
		sum = pack(s->up, w->hidden, s->packed);
		bad += multiply(w, weights_expert(w, job->layer, expert, WEIGHTS_DOWN), s->packed, sum, s->down);
		add(s->out, s->down, w->dim);
	}
	add(x, s->out, w->dim);
	return bad;
}

static void *take(uint64_t bytes)
{
	void *mem = calloc(1, bytes);

	if (!mem)
		die("cannot allocate a vector of %llu bytes", (unsigned long long)bytes);
	return mem;
}

struct scratch *scratch_create(const struct weights *w, const struct cache *c)
{
	struct scratch *s = take(sizeof(*s));

	*s = (struct scratch){
		.packed = take(w->dim > w->hidden ? w->dim : w->hidden),
		.query = take(w->dim), .key = take(w->dim), .value = take(w->dim), .mixed = take(w->dim),
		.out = take(w->dim), .up = take(w->hidden), .down = take(w->dim), .scores = take(c->tokens),
	};
	return s;
}

uint64_t layer_run(const struct weights *w, struct cache *c, struct scratch *s, const struct layer_job *job,
		   uint8_t *x)
{
	uint64_t bad = attend(w, c, s, job, x);

	return bad + ask_experts(w, s, job, x);
}
