/* SPDX-License-Identifier: GPL-2.0-only */
/* latency - percentiles of times, out of a histogram of fixed size */
#ifndef PGHOT_BENCH_LATENCY_H
#define PGHOT_BENCH_LATENCY_H

#include <stdint.h>

#include "loglin.h"

/**
 * struct latency - all zero to begin with; 30 KiB, of which only what occurs is touched
 * @count: times by the log-linear bucket of their nanoseconds
 * @nr: of all
 * @max: the longest, in nanoseconds
 */
struct latency {
	uint64_t count[LOGLIN_BUCKETS];
	uint64_t nr;
	uint64_t max;
};

/** latency_add - something took @ns nanoseconds */
static inline void latency_add(struct latency *l, uint64_t ns)
{
	l->count[loglin_bucket(ns)]++;
	l->nr++;
	if (ns > l->max)
		l->max = ns;
}

/**
 * latency_percentile - nanoseconds that @per_mille of 1000 times do not exceed; 0 if there are none
 *
 * The middle of the bucket that the time is in, so it is off by 1/128 (0.8 %) at the most, and not at
 * all below 128 ns.
 */
uint64_t latency_percentile(const struct latency *l, unsigned int per_mille);

/** latency_report - write results NAME_p50_us, _p99_us, _p999_us, _max_us, and how many, NAME_timed */
void latency_report(const struct latency *l, const char *name);

#endif
