/* SPDX-License-Identifier: GPL-2.0-only */
/* zipf - ranks by a zipf distribution, for any number of them out of a table of some KiB */
#ifndef PGHOT_BENCH_ZIPF_H
#define PGHOT_BENCH_ZIPF_H

#include <stdint.h>

#include "loglin.h"
#include "pattern.h"

/**
 * struct zipf - rank r of 0, 1, ... @nr - 1 is drawn in proportion to 1 / (r + 1)^exponent
 * @buckets: log-linear ones of r + 1, but for the empty first one
 * @share: of each bucket: the part of all draws that one of its ranks gets
 *
 * Buckets are drawn in their true proportion. The ranks of one are drawn alike: those below 127 have a
 * bucket each, of the others each is off by exponent/128 at the most.
 */
struct zipf {
	uint64_t nr;
	struct pattern buckets;
	double share[LOGLIN_BUCKETS];
};

/**
 * zipf_init - prepare drawing from @nr ranks
 * @nr: 1 to 2^32
 * @exponent: 0 or more; 0: all ranks alike
 */
void zipf_init(struct zipf *zipf, uint64_t nr, double exponent);

void zipf_free(struct zipf *zipf);

/** zipf_share - the part of all draws that @rank gets */
static inline double zipf_share(const struct zipf *zipf, uint64_t rank)
{
	return zipf->share[loglin_bucket(rank + 1)];
}

/* How many ranks a bucket has. */
static inline uint64_t zipf_width(const struct zipf *zipf, unsigned int bucket)
{
	uint64_t width = UINT64_C(1) << loglin_shift(bucket);
	uint64_t left = zipf->nr + 1 - loglin_first(bucket);

	return width < left ? width : left;
}

/**
 * zipf_draw - a rank
 * @rng: the state of a generator, which is advanced; its lower half is left to the caller
 */
static inline uint64_t zipf_draw(const struct zipf *zipf, uint64_t *rng)
{
	unsigned int bucket;

	*rng = xorshift64(*rng);
	bucket = pattern_draw(&zipf->buckets, rng) + 1;
	*rng = xorshift64(*rng);
	return loglin_first(bucket) - 1 + ((*rng >> 32) * zipf_width(zipf, bucket) >> 32);
}

#endif
