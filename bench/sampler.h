/* SPDX-License-Identifier: GPL-2.0-only */
/* sampler - a thread that looks at something every so many milliseconds */
#ifndef PGHOT_BENCH_SAMPLER_H
#define PGHOT_BENCH_SAMPLER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/**
 * struct sampler - its first three fields are the caller's to set
 * @period_ms: between two looks; longer if a look takes more than a tenth of it
 * @look: @ms milliseconds have passed since sampler_start()
 * @arg: its first argument
 * @start_ns: when sampler_start() was called
 */
struct sampler {
	uint64_t period_ms;
	void (*look)(void *arg, uint64_t ms);
	void *arg;
	uint64_t start_ns;
	pthread_t thread;
	pthread_mutex_t lock;		/* for @stop */
	pthread_cond_t wake;
	bool stop;
};

/** sampler_start - start the thread; its first look is a period later */
void sampler_start(struct sampler *s);

/** sampler_stop - end the thread; a look that it is at is finished */
void sampler_stop(struct sampler *s);

/** sampler_ms - milliseconds since sampler_start() */
uint64_t sampler_ms(const struct sampler *s);

#endif
