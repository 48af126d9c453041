// SPDX-License-Identifier: GPL-2.0-only
/* The counters of the lab's hotness units: one for each thing, and fewer than there are things. */
#include <pthread.h>
#include <string.h>

#include "../../lab/plugin/counters.h"
#include "../tap.h"

#define THINGS		100000
#define MAX		65535
#define THREADS		4
#define ROUNDS		30000
#define COUNTED		20

/* What was taken out, by thing. */
static uint64_t taken[THINGS];
static unsigned int nr_taken;

static void take(void *data, uint32_t thing, uint32_t count)
{
	(void)data;
	taken[thing] += count;
	nr_taken++;
}

static void take_all(struct counters *counters)
{
	memset(taken, 0, sizeof(taken));
	nr_taken = 0;
	counters_take(counters, take, NULL);
}

static void test_exact(void)
{
	struct counters counters;
	unsigned int bad = 0;

	ok(counters_init(&counters, THINGS, 0), "exact: made");
	for (unsigned int i = 0; i < THINGS; i += 7)
		for (unsigned int n = 1; n <= i % 5 + 1; n++)
			bad += counters_add(&counters, i, MAX) != n;
	ok(!bad, "exact: each gives the new count");
	take_all(&counters);
	for (unsigned int i = 0; i < THINGS; i++)
		bad += taken[i] != (i % 7 ? 0 : i % 5 + 1);
	ok(!bad, "exact: all are taken, once");
	take_all(&counters);
	ok(!nr_taken, "exact: nothing is left");
	ok(counters_add(&counters, THINGS - 1, MAX) == 1, "exact: the last thing");
	ok(!counters_add(&counters, THINGS, MAX), "exact: none beyond it");
	ok(!counters_add(&counters, UINT32_MAX, MAX), "exact: none far beyond it");
	for (unsigned int n = 1; n <= 10; n++)
		bad += counters_add(&counters, 3, 4) != (n <= 4 ? n : 0);
	take_all(&counters);
	ok(!bad && taken[3] == 4, "exact: a count ends at the largest");
	counters_free(&counters);
}

/* Heavy things among many light ones, of which all counters are full when the heavy ones come. */
static void test_limited(void)
{
	enum { HEAVY = 16, COUNTERS = 128, TURNS = 2000 };
	struct counters counters;
	unsigned int high = 0, lost = 0;
	static uint64_t truth[THINGS];
	uint64_t light = HEAVY;

	ok(counters_init(&counters, THINGS, COUNTERS), "limited: made");
	for (; light < HEAVY + 20 * COUNTERS; light++) {
		counters_add(&counters, light, MAX);
		truth[light]++;
	}
	for (unsigned int turn = 0; turn < TURNS; turn++)
		for (unsigned int i = 0; i < HEAVY; i++) {
			counters_add(&counters, i, MAX);
			truth[i]++;
			counters_add(&counters, light, MAX);
			truth[light]++;
			light = light + 1 < THINGS ? light + 1 : HEAVY;
		}
	take_all(&counters);
	ok(nr_taken <= COUNTERS, "limited: no more than there are counters");
	for (unsigned int i = 0; i < THINGS; i++)
		high += taken[i] > truth[i];
	ok(!high, "limited: no count is too high");
	/* A set has about 1/16 of all accesses; the error is at most a ninth of that. */
	for (unsigned int i = 0; i < HEAVY; i++)
		lost += taken[i] < TURNS / 2;
	ok(!lost, "limited: the heavy ones are there");
	take_all(&counters);
	ok(!nr_taken, "limited: nothing is left");
	for (unsigned int n = 1; n <= 10; n++)
		high += counters_add(&counters, 5, 4) != (n <= 4 ? n : 0);
	ok(!high, "limited: a count ends at the largest");
	counters_free(&counters);
}

/* ---- while it is counted, it is taken ---- */

static struct counters shared;
static bool all_counted;
static pthread_barrier_t together;

static void *count_main(void *arg)
{
	(void)arg;
	pthread_barrier_wait(&together);
	for (unsigned int round = 0; round < ROUNDS; round++)
		for (unsigned int i = 0; i < COUNTED; i++)
			counters_add(&shared, i, UINT32_MAX);
	return NULL;
}

static void *take_main(void *arg)
{
	(void)arg;
	while (!__atomic_load_n(&all_counted, __ATOMIC_SEQ_CST))
		counters_take(&shared, take, NULL);
	return NULL;
}

/* @nr: counters, as many as there are things that are counted at least */
static void test_threads(uint64_t nr, const char *name)
{
	pthread_t threads[THREADS], taker;
	unsigned int bad = 0;

	counters_init(&shared, THINGS, nr);
	memset(taken, 0, sizeof(taken));
	all_counted = false;
	pthread_barrier_init(&together, NULL, THREADS);
	pthread_create(&taker, NULL, take_main, NULL);
	for (unsigned int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, count_main, NULL);
	for (unsigned int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	__atomic_store_n(&all_counted, true, __ATOMIC_SEQ_CST);
	pthread_join(taker, NULL);
	counters_take(&shared, take, NULL);
	for (unsigned int i = 0; i < THINGS; i++)
		bad += taken[i] != (i < COUNTED ? THREADS * ROUNDS : 0);
	ok(!bad, "%s", name);
	counters_free(&shared);
}

int main(void)
{
	test_exact();
	test_limited();
	test_threads(0, "exact: four threads count while a fifth takes: nothing is lost");
	/* With so many sets none of them is ever full. */
	test_threads(1 << 16, "limited: four threads count while a fifth takes: nothing is lost");
	return done();
}
