// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <inttypes.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "clock.h"
#include "pattern.h"
#include "probe.h"

#define PERIOD_NS		UINT64_C(1000000)
/* Periods that are kept, 17 minutes of them; what comes later is not measured. */
#define MAX_PERIODS		(UINT64_C(1) << 20)
/* Beside the word that the accessing thread uses. */
#define PROBE_WORD		(ACCESS_WORD + 16)

static void touch(const struct probe *probe, uint64_t *rng)
{
	const volatile uint64_t *words = probe->range->words + PROBE_WORD;
	uint64_t first = atomic_load_explicit(&probe->first, memory_order_relaxed);

	for (uint64_t i = 0; i < probe->touches; i++) {
		*rng = xorshift64(*rng);
		(void)words[(first + ((*rng >> 32) * probe->pages >> 32)) * WORDS_PER_PAGE];
	}
}

static void *probe_main(void *arg)
{
	struct probe *probe = arg;
	uint64_t rng = 1, next = now_ns(), begin, took;

	while (!atomic_load(&probe->stop) && probe->periods < MAX_PERIODS) {
		/* Periods that were slept through are gone. */
		next += PERIOD_NS;
		begin = now_ns();
		if (next < begin)
			next = begin;
		sleep_until(next);
		begin = now_ns();
		touch(probe, &rng);
		took = now_ns() - begin;
		probe->ns[probe->periods++] = took < UINT32_MAX ? took : UINT32_MAX;
	}
	return NULL;
}

void probe_prepare(struct probe *probe, const struct range *range, uint64_t pages,
		   uint64_t touches)
{
	probe->range = range;
	probe->pages = pages;
	probe->touches = touches;
	probe->ns = malloc(MAX_PERIODS * sizeof(*probe->ns));
	if (!probe->ns)
		die("cannot allocate room for %" PRIu64 " times of the probe", MAX_PERIODS);
	/* So that no page of it is missing when it is written. */
	memset(probe->ns, 0, MAX_PERIODS * sizeof(*probe->ns));
}

void probe_start(struct probe *probe)
{
	struct sched_param param = { .sched_priority = 1 };
	int err = pthread_create(&probe->thread, NULL, probe_main, probe);

	if (err)
		die("cannot start the probe's thread: %s", strerror(err));
	/* Else what it measures is also how others use its CPU. */
	err = pthread_setschedparam(probe->thread, SCHED_FIFO, &param);
	if (err)
		die("cannot give the probe's thread a real-time priority: %s", strerror(err));
}

void probe_look_at(struct probe *probe, uint64_t first)
{
	atomic_store_explicit(&probe->first, first, memory_order_relaxed);
}

void probe_stop(struct probe *probe)
{
	atomic_store(&probe->stop, true);
	pthread_join(probe->thread, NULL);
}

static int by_value(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static void result_us(const char *name, uint32_t ns)
{
	printf("result probe_%s_us %" PRIu32 ".%03" PRIu32 "\n", name, ns / 1000, ns % 1000);
}

void probe_report(struct probe *probe)
{
	uint64_t n = probe->periods;

	printf("result probe_periods %" PRIu64 "\n", n);
	if (n) {
		qsort(probe->ns, n, sizeof(*probe->ns), by_value);
		result_us("p50", probe->ns[n / 2]);
		result_us("p999", probe->ns[n - 1 - n / 1000]);
		result_us("max", probe->ns[n - 1]);
	}
	free(probe->ns);
}
