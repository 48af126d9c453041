/* SPDX-License-Identifier: GPL-2.0-only */
/* cache - the modelled cache of one CPU: set associative, least recently used goes first */
#ifndef PGHOT_LAB_CACHE_H
#define PGHOT_LAB_CACHE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/**
 * struct cache - only its CPU's thread uses it
 * @tags: of all sets, those of one set from the most to the least recently used; 0: empty
 * @ways: tags in a set
 * @line_shift: log2 of the bytes in a line
 * @set_shift: log2 of the number of sets
 */
struct cache {
	uint32_t *tags;
	uint32_t ways;
	uint32_t line_shift;
	uint32_t set_shift;
};

static inline bool cache_init(struct cache *cache, uint64_t bytes, uint32_t ways, uint32_t line)
{
	uint64_t sets = bytes / line / ways;

	cache->ways = ways;
	cache->line_shift = __builtin_ctz(line);
	cache->set_shift = __builtin_ctzll(sets);
	/* A set does not straddle two lines of the host's cache. */
	cache->tags = aligned_alloc(64, (sets * ways * sizeof(uint32_t) + 63) & ~63ULL);
	return cache->tags;
}

static inline void cache_flush(struct cache *cache)
{
	memset(cache->tags, 0, sizeof(uint32_t) * cache->ways << cache->set_shift);
}

/*
 * cache_access - is the line of @addr there? It is from now on.
 *
 * A tag is the line's number above the set's, plus one: 32 bits reach 2^32 times the size of a way.
 */
static inline bool cache_access(struct cache *cache, uint64_t addr)
{
	uint64_t line = addr >> cache->line_shift;
	uint64_t set = line & ((1ULL << cache->set_shift) - 1);
	uint32_t *tags = cache->tags + set * cache->ways;
	uint32_t tag = (uint32_t)(line >> cache->set_shift) + 1;
	uint32_t carry = tags[0];

	if (carry == tag)
		return true;
	tags[0] = tag;
	for (uint32_t way = 1; way < cache->ways; way++) {
		uint32_t old = tags[way];

		tags[way] = carry;
		if (old == tag)
			return true;
		carry = old;
	}
	return false;
}

#endif
