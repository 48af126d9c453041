// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>

#include "latency.h"
#include "workload.h"

#define NSEC_PER_USEC	1000.0

uint64_t latency_percentile(const struct latency *l, unsigned int per_mille)
{
	/* Rounded up: the least rank that has so many of the times at or below it. */
	uint64_t rank = (l->nr * per_mille + 999) / 1000, seen = 0, ns;
	unsigned int bucket = 0;

	if (!l->nr)
		return 0;
	while ((seen += l->count[bucket]) < rank || !seen)
		bucket++;
	ns = loglin_first(bucket) + (UINT64_C(1) << loglin_shift(bucket)) / 2;
	return ns < l->max ? ns : l->max;
}

static void report(const char *name, const char *what, uint64_t ns)
{
	char full[64];

	snprintf(full, sizeof(full), "%s_%s_us", name, what);
	result_real(full, ns / NSEC_PER_USEC);
}

void latency_report(const struct latency *l, const char *name)
{
	char full[64];

	report(name, "p50", latency_percentile(l, 500));
	report(name, "p99", latency_percentile(l, 990));
	report(name, "p999", latency_percentile(l, 999));
	report(name, "max", l->max);
	snprintf(full, sizeof(full), "%s_timed", name);
	result(full, l->nr);
}
