/* SPDX-License-Identifier: GPL-2.0-only */
/* hwhint_pmu - the PMUs that can be memory profilers, and what perf wants to hear of each */
#ifndef PGHOT_KMOD_HWHINT_PMU_H
#define PGHOT_KMOD_HWHINT_PMU_H

#include <linux/perf_event.h>

#include "hwhints.h"

/**
 * struct hwhint_pmu - a kind of PMU that tells where accesses went
 * @name: the PMU, as in /sys/bus/event_source/devices
 * @scale: its period is this many times the knob's
 * @granule: and a multiple of this
 * @describe: fill in the event's type and configuration; 0, or -ENODEV and a reason
 */
struct hwhint_pmu {
	const char *name;
	unsigned int scale;
	unsigned int granule;
	int (*describe)(const struct hwhint_settings *settings, struct perf_event_attr *attr,
			struct hwhint_why *why);
};

extern const struct hwhint_pmu hwhint_pmu_ibs;
extern const struct hwhint_pmu hwhint_pmu_pebs;
extern const struct hwhint_pmu hwhint_pmu_clock;

void hwhint_pmu_init(void);
int hwhint_pmu_describe(const struct hwhint_pmu *pmu, const struct hwhint_settings *settings,
			struct perf_event_attr *to, struct hwhint_why *why);
u64 hwhint_pmu_period(const struct hwhint_pmu *pmu, unsigned int operations);

#endif
