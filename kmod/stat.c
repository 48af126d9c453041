// SPDX-License-Identifier: GPL-2.0-only
#include <linux/cpumask.h>

#include "stat.h"

DEFINE_PER_CPU(struct pghot_stats, pghot_stats);

#define STAT_NAME(name, help) [STAT_##name] = #name,
#define STAT_NAME_REFUSED(reason, settled, help) \
	[STAT_pghot_refused_##reason] = "pghot_refused_" #reason,

static const char * const stat_names[] = {
	PGHOT_COUNTERS(STAT_NAME)
	PGHOT_REFUSALS(STAT_NAME_REFUSED)
};

const char *stat_name(enum pghot_stat which)
{
	return stat_names[which];
}

/** stat_sum - a counter over all CPUs, not a snapshot: CPUs count on meanwhile */
unsigned long stat_sum(enum pghot_stat which)
{
	unsigned long sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += per_cpu(pghot_stats.n[which], cpu);
	return sum;
}
