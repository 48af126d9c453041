/* SPDX-License-Identifier: GPL-2.0-only */
/* stat - the counters of the funnel, one set a CPU */
#ifndef PGHOT_STAT_H
#define PGHOT_STAT_H

#include <linux/percpu.h>

#include "pghot/counters.h"

#define PGHOT_STAT_ENUM(name, help) STAT_##name,
#define PGHOT_STAT_REFUSED(reason, settled, help) STAT_pghot_refused_##reason,
enum pghot_stat {
	PGHOT_COUNTERS(PGHOT_STAT_ENUM)
	PGHOT_REFUSALS(PGHOT_STAT_REFUSED)
	NR_PGHOT_STATS
};
#undef PGHOT_STAT_ENUM
#undef PGHOT_STAT_REFUSED

struct pghot_stats {
	unsigned long n[NR_PGHOT_STATS];
};

DECLARE_PER_CPU(struct pghot_stats, pghot_stats);

/* Any context: one instruction on x86, so an NMI in between loses nothing. */
static inline void stat_add(enum pghot_stat which, unsigned long by)
{
	this_cpu_add(pghot_stats.n[which], by);
}

static inline void stat_inc(enum pghot_stat which)
{
	stat_add(which, 1);
}

const char *stat_name(enum pghot_stat which);
unsigned long stat_sum(enum pghot_stat which);

#endif
