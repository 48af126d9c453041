// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <stdio.h>

#include "base.h"
#include "clock.h"
#include "measure.h"
#include "roi.h"
#include "workload.h"

#define CONVERGED_PERCENT	90

static void keep_sample(struct measure *m, uint64_t ns)
{
	/* The last place is the end's. */
	if (m->nr_samples >= MEASURE_MAX_SAMPLES - 1)
		return;
	m->samples[m->nr_samples++] = (struct measure_sample){
		ns, atomic_load_explicit(&m->done, memory_order_relaxed),
	};
}

static void look(void *arg, uint64_t ms)
{
	struct measure *m = arg;

	keep_sample(m, now_ns() - m->sampler.start_ns);
	printf("sample %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", ms, place_hot_fast(m->place),
	       m->samples[m->nr_samples - 1].done);
}

void measure_begin(struct measure *m, const struct place *place, uint64_t sample_ms)
{
	m->place = place;
	m->sampler.period_ms = sample_ms;
	m->sampler.look = look;
	m->sampler.arg = m;
	m->nr_samples = 0;
	keep_sample(m, 0);
	puts("phase access");
	sampler_start(&m->sampler);
	roi_begin();
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

	roi_end();
	end.ns = now_ns() - m->sampler.start_ns;
	end.done = atomic_load(&m->done);
	sampler_stop(&m->sampler);
	/* A last look may have been later. */
	while (m->samples[m->nr_samples - 1].ns > end.ns)
		m->nr_samples--;
	m->samples[m->nr_samples++] = end;
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
