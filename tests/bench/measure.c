// SPDX-License-Identifier: GPL-2.0-only
/* measure: the speed over the last quarter of the operations, when it was first reached, and pauses. */
#include "bench/measure.c"
#include "tests/tap.h"

static struct measure m;

/* A sample at each whole second: what is done by then. Returns all that is done. */
static uint64_t samples_are(const uint64_t *done, uint64_t nr)
{
	m.nr_samples = 0;
	for (uint64_t i = 0; i < nr; i++) {
		m.done = done[i];
		keep_sample(&m, i * NSEC_PER_SEC);
	}
	return done[nr - 1];
}

#define SAMPLES(...)								\
	samples_are((const uint64_t []){ __VA_ARGS__ },				\
		    sizeof((const uint64_t []){ __VA_ARGS__ }) / sizeof(uint64_t))

static const struct measure_sample *end(void)
{
	return &m.samples[m.nr_samples - 1];
}

/* rate_last of the samples */
static double settled(uint64_t total)
{
	struct measure_sample from = last_quarter(&m, total);

	return rate(&from, end());
}

/* converged_ms of the samples */
static long long converged(uint64_t total)
{
	return converged_ms(&m, settled(total));
}

static void test_rate(void)
{
	struct measure_sample a = { 500 * NSEC_PER_MSEC, 10 }, b = { 2 * NSEC_PER_SEC, 160 };

	ok(rate(&a, &b) == 100, "rate: operations a second");
	ok(rate(&b, &b) == 0, "rate: none where no time has passed");
}

static void test_last_quarter(void)
{
	struct measure_sample from;

	from = last_quarter(&m, SAMPLES(0, 100, 200, 300, 400));
	ok(from.ns == 3 * NSEC_PER_SEC && from.done == 300, "last quarter: at a sample");
	from = last_quarter(&m, SAMPLES(0, 200, 400));
	ok(from.ns == 1500 * NSEC_PER_MSEC && from.done == 300, "last quarter: between two");
	from = last_quarter(&m, SAMPLES(0, 1000));
	ok(from.ns == 750 * NSEC_PER_MSEC && from.done == 750, "last quarter: of one sample, the end's");
	from = last_quarter(&m, SAMPLES(0, 10, 30, 30, 30, 40));
	ok(from.ns == 2 * NSEC_PER_SEC && from.done == 30, "last quarter: what stands still after it belongs to it");
	ok(settled(SAMPLES(0, 10, 30, 30, 30, 40)) == 10 / 3.0, "last quarter: and makes it slow");
	ok(settled(SAMPLES(0, 10, 20, 30, 230, 430)) == 200, "last quarter: how slow it was before says nothing");
	from = last_quarter(&m, SAMPLES(0, 3, 7));
	ok(from.done == 6, "last quarter: of 7 operations 1");
	ok(settled(SAMPLES(0, 0, 0, 1)) == 1 / 3.0, "last quarter: of one operation all");
	ok(settled(SAMPLES(0, 2)) == 2, "last quarter: of two, the last");
	from = last_quarter(&m, SAMPLES(0, UINT64_C(1) << 50));
	ok(from.done == 3 * (UINT64_C(1) << 48) && from.ns == 750 * NSEC_PER_MSEC, "last quarter: of the most there can be");
}

static void test_converged(void)
{
	is(converged(SAMPLES(0, 100, 200, 300, 400)), 0, "converged: at once");
	is(converged(SAMPLES(0, 10, 20, 30, 130, 230, 330, 430)), 3000, "converged: when it is fast");
	is(converged(SAMPLES(0, 10, 110, 120, 130, 230, 330, 430, 530)), 4000, "converged: one fast sample is none");
	is(converged(SAMPLES(0, 90, 180, 280, 380, 480, 580, 680, 780)), 0, "converged: at 90 %");
	is(converged(SAMPLES(0, 89, 178, 278, 378, 478, 578, 678, 778)), 2000, "converged: not at 89 %");
	is(converged(SAMPLES(0, 1000)), -1, "converged: never, with one sample");
	is(converged(SAMPLES(0, 10, 110, 110, 210, 210, 310, 310, 410)), -1,
	   "converged: never, where only each other sample is fast");
	is(converged(SAMPLES(0, 200, 400, 500, 600, 700, 800)), 0, "converged: it may have been faster");
}

static void test_many_samples(void)
{
	m.nr_samples = 0;
	for (uint64_t i = 0; i < 2 * MEASURE_MAX_SAMPLES; i++)
		keep_sample(&m, i);
	is(m.nr_samples, MEASURE_MAX_SAMPLES - 1, "samples: the end's has room, however many there were");
	is(end()->ns, MEASURE_MAX_SAMPLES - 2, "samples: the first ones are kept");
}

static void test_pause(void)
{
	uint64_t before;

	m = (struct measure){ .resumed_ns = now_ns() - NSEC_PER_SEC, .before_ns = 5 * NSEC_PER_SEC };
	pthread_mutex_init(&m.lock, NULL);
	before = measured_ns(&m);
	ok(before >= 6 * NSEC_PER_SEC && before < 60 * NSEC_PER_SEC, "pause: time goes on from what was measured");
	measure_pause(&m);
	before = m.before_ns;
	look(&m, 0);
	is(m.nr_samples, 0, "pause: no sample is taken");
	is(measured_ns(&m), before, "pause: and no time counts");
	m.resumed_ns = 0;
	measure_resume(&m);
	ok(measured_ns(&m) - before < 60 * NSEC_PER_SEC, "pause: nor later the time that it took");
}

int main(void)
{
	test_rate();
	test_last_quarter();
	test_converged();
	test_many_samples();
	test_pause();
	return done();
}
