/* SPDX-License-Identifier: GPL-2.0-only */
/* loglin - log-linear buckets: each power of two is cut into 64 of equal width */
#ifndef PGHOT_BENCH_LOGLIN_H
#define PGHOT_BENCH_LOGLIN_H

#include <stdint.h>

#define LOGLIN_BITS		6
#define LOGLIN_PARTS		(1U << LOGLIN_BITS)
/* For all 64-bit values. Those below 128 have a bucket each; a wider one is 1/64 of its values at most. */
#define LOGLIN_BUCKETS		((64 - LOGLIN_BITS + 1) * LOGLIN_PARTS)

/** loglin_bucket - the bucket of @value; greater ones have no lower buckets */
static inline unsigned int loglin_bucket(uint64_t value)
{
	unsigned int shift;

	if (value < 2 * LOGLIN_PARTS)
		return value;
	shift = 63 - LOGLIN_BITS - __builtin_clzll(value);
	return shift * LOGLIN_PARTS + (value >> shift);
}

/** loglin_shift - the bucket has 2^this values */
static inline unsigned int loglin_shift(unsigned int bucket)
{
	return bucket < 2 * LOGLIN_PARTS ? 0 : bucket / LOGLIN_PARTS - 1;
}

/** loglin_first - the least value of the bucket */
static inline uint64_t loglin_first(unsigned int bucket)
{
	unsigned int shift = loglin_shift(bucket);

	return (bucket - (uint64_t)shift * LOGLIN_PARTS) << shift;
}

#endif
