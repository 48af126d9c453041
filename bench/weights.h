/* SPDX-License-Identifier: GPL-2.0-only */
/* weights - the matrices of a model: where each is, and which numbers are in it */
#ifndef PGHOT_BENCH_WEIGHTS_H
#define PGHOT_BENCH_WEIGHTS_H

#include <stdint.h>

/* The matrices of a layer's attention; each is dim x dim. */
enum { WEIGHTS_QUERY, WEIGHTS_KEY, WEIGHTS_VALUE, WEIGHTS_OUT, WEIGHTS_ATTENTION };
/* Those of an expert: hidden x dim, and dim x hidden. */
enum { WEIGHTS_UP, WEIGHTS_DOWN, WEIGHTS_EXPERT };

/**
 * struct weights - first all experts, layer by layer, then the attention of all layers
 * @layers, @experts: how many; experts of each layer
 * @dim: numbers that go from layer to layer; a multiple of 64
 * @hidden: numbers within an expert; likewise
 * @seed: of all numbers
 * @words: the matrices, row by row, a byte a number
 *
 * A matrix is an even number of rows. The bytes of an even row follow from the seed, and those of the
 * odd row after it are 255 less that: so for every vector x the products of the two rows with x add up
 * to 255 times the sum of x. That is the column checksum of Huang and Abraham (Algorithm-Based Fault
 * Tolerance for Matrix Operations, IEEE Transactions on Computers C-33, 1984), for each pair of rows:
 * every product is checked, at the cost of an addition.
 */
struct weights {
	uint64_t layers, experts, dim, hidden;
	uint64_t seed;
	const uint64_t *words;
};

/** struct matrix - @rows rows of @words words, from word @at of the weights on; whole pages */
struct matrix {
	uint64_t at, rows, words;
};

/** weights_expert_pages - of one expert; expert e of layer l begins at page (l * experts + e) * this */
uint64_t weights_expert_pages(const struct weights *w);

/** weights_attention_pages - of the attention of one layer */
uint64_t weights_attention_pages(const struct weights *w);

/** weights_pages - of all */
uint64_t weights_pages(const struct weights *w);

/** weights_expert - matrix @which of an expert of a layer */
struct matrix weights_expert(const struct weights *w, uint64_t layer, uint64_t expert, int which);

/** weights_attention - matrix @which of a layer's attention */
struct matrix weights_attention(const struct weights *w, uint64_t layer, int which);

/** weights_fill - write what belongs there to pages [@first, @first + @pages) of @to */
void weights_fill(const struct weights *w, uint64_t *to, uint64_t first, uint64_t pages);

/** weights_number - one number, from the seed alone */
uint8_t weights_number(const struct weights *w, const struct matrix *m, uint64_t row, uint64_t column);

/** weights_verify - how many pages hold other numbers; looks at one word of each cache line */
uint64_t weights_verify(const struct weights *w);

#endif
