// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base.h"
#include "clock.h"
#include "measure.h"
#include "roi.h"
#include "workload.h"

#define CONVERGED_PERCENT	90

/* The time measured so far, without what was paused. The caller holds the lock. */
static uint64_t measured_ns(const struct measure *m)
{
	return m->before_ns + (m->paused ? 0 : now_ns() - m->resumed_ns);
}

static struct measure_sample sample_at(const struct measure *m, uint64_t ns)
{
	return (struct measure_sample){ ns, atomic_load_explicit(&m->done, memory_order_relaxed) };
}

static void keep_sample(struct measure *m, uint64_t ns)
{
	/* The last place is the end's. */
	if (m->nr_samples < MEASURE_MAX_SAMPLES - 1)
		m->samples[m->nr_samples++] = sample_at(m, ns);
}

static void look(void *arg, uint64_t ms)
{
	struct measure *m = arg;
	struct measure_sample now;
	bool paused;

	(void)ms;	/* with pauses, so no measured time */
	pthread_mutex_lock(&m->lock);
	paused = m->paused;
	now = sample_at(m, measured_ns(m));
	if (!paused)
		keep_sample(m, now.ns);
	pthread_mutex_unlock(&m->lock);
	if (!paused)
		printf("sample %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", now.ns / NSEC_PER_MSEC,
		       place_hot_fast(m->place), now.done);
}

void measure_pause(struct measure *m)
{
	roi_end();
	pthread_mutex_lock(&m->lock);
	m->before_ns = measured_ns(m);
	m->paused = true;
	pthread_mutex_unlock(&m->lock);
}

void measure_resume(struct measure *m)
{
	pthread_mutex_lock(&m->lock);
	m->resumed_ns = now_ns();
	m->paused = false;
	pthread_mutex_unlock(&m->lock);
	roi_begin();
}

/* Whoever runs us may have something to do then, as to switch on what is measured. */
static void run_at(const char *when)
{
	const char *program = getenv("PGHOT_AT_ROI");
	char command[512];

	if (!program)
		return;
	fflush(stdout);
	if (snprintf(command, sizeof(command), "%s %s", program, when) >= (int)sizeof(command) || system(command))
		die("PGHOT_AT_ROI: '%s %s' failed", program, when);
}

void measure_begin(struct measure *m, const struct place *place, uint64_t sample_ms)
{
	m->place = place;
	m->sampler.period_ms = sample_ms;
	m->sampler.look = look;
	m->sampler.arg = m;
	pthread_mutex_init(&m->lock, NULL);
	m->paused = true;
	m->before_ns = 0;
	m->nr_samples = 0;
	keep_sample(m, 0);
	run_at("begin");
	puts("phase access");
	sampler_start(&m->sampler);
	measure_resume(m);
}

/* Operations a second between two samples. */
static double rate(const struct measure_sample *from, const struct measure_sample *to)
{
	return to->ns > from->ns ? (double)(to->done - from->done) * NSEC_PER_SEC / (to->ns - from->ns) : 0;
}

/* Where the last quarter of the operations begins, which is at least one. */
static struct measure_sample last_quarter(const struct measure *m, uint64_t total)
{
	uint64_t want = total - (total / 4 ? total / 4 : 1);
	const struct measure_sample *at = m->samples;
	double part;

	if (!want)
		return *at;
	while (at[1].done < want)
		at++;
	part = (double)(want - at->done) / (at[1].done - at->done);
	return (struct measure_sample){ at->ns + (uint64_t)(part * (at[1].ns - at->ns)), want };
}

static int64_t converged_ms(const struct measure *m, double settled)
{
	const struct measure_sample *at = m->samples;
	unsigned int good = 0;

	for (uint64_t i = 1; i < m->nr_samples; i++) {
		good = rate(&at[i - 1], &at[i]) * 100 >= settled * CONVERGED_PERCENT ? good + 1 : 0;
		if (good == 2)
			return at[i - 2].ns / NSEC_PER_MSEC;
	}
	return -1;
}

uint64_t measure_end(struct measure *m)
{
	struct measure_sample end, quarter;
	double settled;

	/* No look comes later than this. */
	measure_pause(m);
	sampler_stop(&m->sampler);
	end = sample_at(m, m->before_ns);
	m->samples[m->nr_samples++] = end;
	run_at("end");
	puts("phase verify");
	result_real("seconds", (double)end.ns / NSEC_PER_SEC);
	result("ops", end.done);
	result("hot_pages", place_hot_pages(m->place));
	result("hot_pages_fast", place_hot_fast(m->place));
	if (!end.done)
		return end.ns;
	quarter = last_quarter(m, end.done);
	settled = rate(&quarter, &end);
	result_real("rate", rate(m->samples, &end));
	result_real("rate_last", settled);
	result("converged_ms", converged_ms(m, settled));
	return end.ns;
}
