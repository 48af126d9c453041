/* SPDX-License-Identifier: GPL-2.0-only */
/* permute - a permutation of [0, nr) that takes no memory: neighbours end up anywhere */
#ifndef PGHOT_BENCH_PERMUTE_H
#define PGHOT_BENCH_PERMUTE_H

#include <stdint.h>

#include "workload.h"

#define PERMUTE_ROUNDS	3

/** struct permute - one of them; all fields are its own */
struct permute {
	uint64_t nr, mask;
	uint64_t factor[PERMUTE_ROUNDS], add[PERMUTE_ROUNDS];
	unsigned int half;
};

/** permute_init - the permutation of @seed; @nr: at least 1 */
static inline void permute_init(struct permute *p, uint64_t nr, uint64_t seed)
{
	unsigned int bits = nr > 2 ? 64 - __builtin_clzll(nr - 1) : 1;

	p->nr = nr;
	p->mask = UINT64_MAX >> (64 - bits);
	p->half = (bits + 1) / 2;
	for (unsigned int i = 0; i < PERMUTE_ROUNDS; i++) {
		p->factor[i] = mix64(seed + 2 * i) | 1;
		p->add[i] = mix64(seed + 2 * i + 1);
	}
}

/**
 * permute_of - where @at, which is below @nr, goes
 *
 * Each step can be undone within the next power of two: what lands beyond @nr goes on from there until it
 * is back, twice at the most on average.
 */
static inline uint64_t permute_of(const struct permute *p, uint64_t at)
{
	do {
		for (unsigned int i = 0; i < PERMUTE_ROUNDS; i++) {
			at = (at * p->factor[i] + p->add[i]) & p->mask;
			at ^= at >> p->half;
		}
	} while (at >= p->nr);
	return at;
}

#endif
