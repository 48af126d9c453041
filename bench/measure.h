/* SPDX-License-Identifier: GPL-2.0-only */
/* measure - how fast a workload is: in all, once it has settled, and when that was */
#ifndef PGHOT_BENCH_MEASURE_H
#define PGHOT_BENCH_MEASURE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "place.h"
#include "sampler.h"

#define MEASURE_MAX_SAMPLES	16384

/**
 * struct measure - all fields are its own
 *
 * Results: seconds, ops, rate (operations a second from begin to end), rate_last (of the last quarter of
 * the operations), converged_ms (when two samples one after the other first had 90 % of rate_last; -1:
 * never), hot_pages, hot_pages_fast (at the end). While it measures a line "sample MS FAST OPS" is
 * written each period: hot pages that are fast, and operations done. No time counts, and no sample is
 * taken, between measure_pause() and measure_resume().
 */
struct measure {
	const struct place *place;
	_Atomic uint64_t done;
	uint64_t nr_samples;
	struct measure_sample {
		uint64_t ns, done;
	} samples[MEASURE_MAX_SAMPLES];
	struct sampler sampler;
	pthread_mutex_t lock;		/* for the rest, and for samples while there is a sampler */
	bool paused;
	uint64_t resumed_ns;		/* when it was resumed; on the clock of now_ns() */
	uint64_t before_ns;		/* time measured until then */
};

/**
 * measure_begin - the region of interest begins
 * @sample_ms: milliseconds between two samples
 *
 * If the environment has PGHOT_AT_ROI, that is run first, as a command of the shell with the argument "begin",
 * and with "end" in measure_end(); if it fails, the program ends with status 1.
 *
 * @m is large: let it be static.
 */
void measure_begin(struct measure *m, const struct place *place, uint64_t sample_ms);

/** measure_add - @ops operations more are done; for any thread, some thousand times a second at most */
static inline void measure_add(struct measure *m, uint64_t ops)
{
	atomic_fetch_add_explicit(&m->done, ops, memory_order_relaxed);
}

/** measure_pause - what follows is not measured, as the check of a result; from the thread that began */
void measure_pause(struct measure *m);

/** measure_resume - it is again */
void measure_resume(struct measure *m);

/** measure_end - the region of interest ends; writes the results; returns its nanoseconds */
uint64_t measure_end(struct measure *m);

#endif
