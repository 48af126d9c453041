/* SPDX-License-Identifier: GPL-2.0-only */
/* cache - a store of values of one size, found by key through an open hash table */
#ifndef PGHOT_BENCH_CACHE_H
#define PGHOT_BENCH_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "place.h"

#define CACHE_LINE_BYTES	UINT64_C(64)

/**
 * struct cache - value i of 0, 1, ... @nr - 1 has the key cache_key(i)
 * @value_bytes: of one value: its key, its version, and words that follow from these
 * @values: one after the other, as in the slab of an allocator
 * @slots: the index; what it costs is 12 bytes a value
 * @seed: of the keys
 */
struct cache {
	uint64_t nr;
	uint64_t value_bytes;
	uint64_t *values;
	struct cache_slot *slots;
	uint64_t nr_slots;
	uint64_t seed;
};

/**
 * cache_size - make a cache that fits @bytes, index included; it has no memory yet
 * @value_bytes: a multiple of CACHE_LINE_BYTES
 *
 * Ends the program with status 1 if it would have more values than 32 bits can number, or none.
 */
void cache_size(struct cache *cache, uint64_t bytes, uint64_t value_bytes, uint64_t seed);

/** cache_value_pages - pages of memory that the values take */
uint64_t cache_value_pages(const struct cache *cache);

/** cache_index_bytes - what the index takes, in whole pages */
uint64_t cache_index_bytes(const struct cache *cache);

/**
 * cache_map - give it memory: first the values, then the index, all of which is hot
 * @order, @hot: of the values, as for place_map_ranked()
 */
void cache_map(struct cache *cache, struct place *place, const uint32_t *order, uint64_t hot);

/** cache_fill - set all values for the first time: version 0 */
void cache_fill(struct cache *cache);

/** cache_key - the key of value @i */
uint64_t cache_key(const struct cache *cache, uint64_t i);

/*
 * Gets and sets touch a word of each of a value's cache lines. That moves all of it between memory and the
 * CPU's caches, as copying it would, at an eighth of the instructions: an emulator takes longer for
 * those than for the memory.
 */

/** cache_get - read the value of @key; returns whether it is there and its words are right */
bool cache_get(const struct cache *cache, uint64_t key);

/** cache_set - write the value of @key, its version one higher; returns whether it is there */
bool cache_set(const struct cache *cache, uint64_t key);

/**
 * cache_verify - look at all words of all values
 * @versions: of each value, what its version should be
 *
 * Returns how many values are wrong, or are not what is found for their key.
 */
uint64_t cache_verify(const struct cache *cache, const uint32_t *versions);

#endif
