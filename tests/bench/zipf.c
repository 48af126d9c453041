// SPDX-License-Identifier: GPL-2.0-only
/* What the benchmarks draw and count with: buckets, percentiles, permutations, zipf, the order of heat. */
#include <math.h>
#include <string.h>

#include "bench/heat.h"
#include "bench/latency.h"
#include "bench/permute.h"
#include "bench/zipf.c"
#include "tests/tap.h"

#define DRAWS		4000000
#define RANKS		50000
#define TIMES		100000

static char reported[512];

void result(const char *name, int64_t value)
{
	snprintf(reported + strlen(reported), sizeof(reported) - strlen(reported), "%s=%ld ", name, (long)value);
}

void result_real(const char *name, double value)
{
	snprintf(reported + strlen(reported), sizeof(reported) - strlen(reported), "%s=%.3f ", name, value);
}

static void test_buckets(void)
{
	unsigned long state = 1;

	for (unsigned int b = 0; b < LOGLIN_BUCKETS; b++) {
		uint64_t first = loglin_first(b), last = first + (UINT64_C(1) << loglin_shift(b)) - 1;

		check(loglin_bucket(first) == b && loglin_bucket(last) == b, "bucket %u", b);
		check(!b || loglin_bucket(first - 1) == b - 1, "bucket %u", b);
		check(first < 128 || (last - first + 1) * 64 <= first, "bucket %u is too wide", b);
	}
	ok(loglin_bucket(UINT64_MAX) == LOGLIN_BUCKETS - 1, "buckets: they cover all values");
	for (unsigned int i = 0; i < 100000; i++) {
		uint64_t value = rnd(&state) >> (i % 64), first = loglin_first(loglin_bucket(value));

		check(value >= first && value - first < UINT64_C(1) << loglin_shift(loglin_bucket(value)),
		      "value %lu", (unsigned long)value);
	}
	ok(1, "buckets: each value is in its own");
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void test_latency(void)
{
	static const unsigned int per_mille[] = { 1, 500, 900, 990, 999, 1000 };
	static struct latency l, none;
	static uint64_t times[TIMES];
	unsigned long state = 2;

	for (unsigned int i = 0; i < TIMES; i++) {
		times[i] = rnd(&state) >> (24 + rnd(&state) % 30);
		latency_add(&l, times[i]);
	}
	qsort(times, TIMES, sizeof(*times), by_value);
	for (unsigned int i = 0; i < sizeof(per_mille) / sizeof(*per_mille); i++) {
		double want = times[TIMES / 1000 * per_mille[i] - 1];
		double got = latency_percentile(&l, per_mille[i]);

		ok(fabs(got - want) <= want / 128, "latency: %u of 1000 take no longer than %.0f ns, told %.0f",
		   per_mille[i], want, got);
	}
	is(latency_percentile(&none, 999), 0, "latency: of none");
	latency_add(&none, 1000000);
	is(latency_percentile(&none, 1), 1000000, "latency: of one, no more than the longest");
	latency_add(&none, 100);
	latency_report(&none, "x");
	ok(!strcmp(reported, "x_p50_us=0.100 x_p99_us=1000.000 x_p999_us=1000.000 x_max_us=1000.000 x_timed=2 "),
	   "latency: reported %s", reported);
}

static void test_permute(void)
{
	static const uint64_t sizes[] = { 1, 2, 3, 4, 5, 7, 8, 9, 1000, 65536, 65537, RANKS };
	static char seen[65537];
	struct permute p;
	uint64_t near = 0;

	for (unsigned int i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		permute_init(&p, sizes[i], i);
		memset(seen, 0, sizeof(seen));
		for (uint64_t at = 0; at < sizes[i]; at++) {
			uint64_t to = permute_of(&p, at);

			check(to < sizes[i] && !seen[to], "%lu of %lu goes to %lu", (unsigned long)at,
			      (unsigned long)sizes[i], (unsigned long)to);
			seen[to] = 1;
		}
	}
	ok(1, "permute: everything goes somewhere, nothing to the same place");
	/* By chance one of 25 neighbours is that near. */
	for (uint64_t at = 1; at < RANKS; at++)
		near += llabs((long long)permute_of(&p, at) - (long long)permute_of(&p, at - 1)) < RANKS / 50;
	ok(near > RANKS / 40 && near < RANKS / 16, "permute: %lu of %d neighbours stay near",
	   (unsigned long)near, RANKS);
}

/* Chi-squared over the buckets, by the definition: its mean is their number. */
static void test_zipf(double exponent)
{
	static struct zipf zipf;
	static double want[LOGLIN_BUCKETS];
	static uint64_t count[LOGLIN_BUCKETS];
	double sum = 0, shares = 0, chi = 0, mean = loglin_bucket(RANKS), off = 0;
	uint64_t rng = 1;

	memset(want, 0, sizeof(want));
	memset(count, 0, sizeof(count));
	for (uint64_t k = 1; k <= RANKS; k++)
		sum += pow(k, -exponent);
	zipf_init(&zipf, RANKS, exponent);
	for (uint64_t k = 1; k <= RANKS; k++) {
		double share = pow(k, -exponent) / sum;

		want[loglin_bucket(k)] += share;
		shares += zipf_share(&zipf, k - 1);
		off = fmax(off, fabs(zipf_share(&zipf, k - 1) / share - 1));
	}
	ok(fabs(shares - 1) < 1e-6, "zipf %.2f: shares add up", exponent);
	ok(off <= exponent / 128 * 1.05 + 1e-6, "zipf %.2f: no rank's share is off by more than %.2f %%", exponent, off * 100);
	for (unsigned int i = 0; i < DRAWS; i++) {
		uint64_t rank = zipf_draw(&zipf, &rng);

		check(rank < RANKS, "rank %lu", (unsigned long)rank);
		count[loglin_bucket(rank + 1)]++;
	}
	for (unsigned int b = 1; b <= mean; b++)
		chi += pow(count[b] - want[b] * DRAWS, 2) / (want[b] * DRAWS);
	ok(chi < mean + 5 * sqrt(2 * mean), "zipf %.2f: draws are as told, chi-squared %.0f of %.0f buckets",
	   exponent, chi, mean);
	zipf_free(&zipf);
}

static void test_heat(void)
{
	static const uint64_t heat[] = { 5, 0, 1000, 7, UINT64_MAX, 5 };
	static const uint32_t want[] = { 4, 2, 3, 0, 5, 1 };
	uint32_t *order = heat_order(heat, 6);

	ok(!memcmp(order, want, sizeof(want)), "heat: the hottest first, equal ones as they come");
	free(order);
}

int main(void)
{
	test_buckets();
	test_latency();
	test_permute();
	test_zipf(0);
	test_zipf(0.99);
	test_zipf(1);
	test_zipf(2);
	test_heat();
	return done();
}
