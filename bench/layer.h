/* SPDX-License-Identifier: GPL-2.0-only */
/* layer - what one layer of a model does to the vector of one token */
#ifndef PGHOT_BENCH_LAYER_H
#define PGHOT_BENCH_LAYER_H

#include <stdint.h>

#include "weights.h"

/* Numbers of a vector that one head of the attention has to do with. */
#define HEAD_DIM	64

/*
 * All vectors are of numbers 0..15, one a byte. Sums of products are cut down to bits 8 to 11 of them:
 * so no number is less likely than another, nothing is rounded, and a wrong sum is not averaged away.
 * That is not what a trained model computes, and reads memory just so.
 */
#define NUMBER_OF(sum)	((sum) >> 8 & 15)

/**
 * struct cache - the keys and values of all tokens so far
 * @mem: of each layer, for each token, a key and a value of @dim numbers each
 * @tokens: room for so many
 * @sums: of each layer, the sum of all its words that were written
 */
struct cache {
	uint8_t *mem;
	uint64_t layers, tokens, dim;
	uint64_t *sums;
};

/** cache_bytes - of @mem */
uint64_t cache_bytes(const struct cache *c);

/** cache_put - keep a token's key and value */
void cache_put(struct cache *c, uint64_t layer, uint64_t token, const uint8_t *key, const uint8_t *value);

/** cache_verify - how many layers have a sum of another value over the first @tokens tokens */
uint64_t cache_verify(const struct cache *c, uint64_t tokens);

/** struct scratch - vectors that layer_run() works with */
struct scratch;

/** scratch_create - ends the program with status 1 if there is no room */
struct scratch *scratch_create(const struct weights *w, const struct cache *c);

/**
 * struct layer_job - a token's way through a layer
 * @layer: which one
 * @token: its number; the cache has all before it
 * @experts: who is asked
 * @nr_experts: how many
 */
struct layer_job {
	uint64_t layer, token;
	const uint32_t *experts;
	uint64_t nr_experts;
};

/** layer_run - replace vector @x by what the layer makes of it; how many products were wrong */
uint64_t layer_run(const struct weights *w, struct cache *c, struct scratch *s, const struct layer_job *job,
		   uint8_t *x);

/**
 * layer_reference - the same number by number, with weights from the seed, for checks
 *
 * The cache must have the token itself, too, and stays as it is. Returns how many of the token's key and
 * value are not what the cache has.
 */
uint64_t layer_reference(const struct weights *w, const struct cache *c, const struct layer_job *job, uint8_t *x);

#endif
