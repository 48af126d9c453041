/* SPDX-License-Identifier: GPL-2.0-only */
/* hwhints - what the source of memory profilers and its back ends want of each other */
#ifndef PGHOT_KMOD_HWHINTS_H
#define PGHOT_KMOD_HWHINTS_H

#include <linux/types.h>

#include "hw/sample.h"

/**
 * struct hwhint_settings - how to sample
 * @period: one of so many operations is looked at
 * @period_max: how far the source may lengthen that by itself; nothing to a back end
 * @l3miss_only: take it only if it missed the last cache, where the profiler can tell
 * @user_only: take it only if user code did it, where the profiler can tell
 * @latency_min: take it only if it took so many cycles, where the profiler can tell; 0: any
 */
struct hwhint_settings {
	unsigned int period;
	unsigned int period_max;
	unsigned int latency_min;
	bool l3miss_only;
	bool user_only;
};

/** struct hwhint_why - a reason in words, for /proc/pghot/stat and the log */
struct hwhint_why {
	char text[96];
};

#define hwhint_say(why, ...)	scnprintf((why)->text, sizeof((why)->text), __VA_ARGS__)

/** What hwhint_take() and hwhint_lost() add to. */
struct hwhint_round;

/**
 * struct hwhint_backend - one kind of memory profiler
 * @name: as in the parameter hwhints_backend and in hwhint_backend_<name>
 * @on_demand: only used if asked for by name
 * @probe: is there one? If not: why. Opens nothing
 * @open: begin to sample; 0, or -errno with nothing left behind and a reason
 * @stop: no sample is taken any more when it returns
 * @close: let go of everything, after @stop
 * @apply: sample with other settings; 0, or -errno with those of before still in force
 * @drain: hand over what was sampled, at most a ring a CPU. May be called after @stop. Returns how
 *	full the fullest ring was, in percent
 * @period: the period in use, which may be longer than the one that was asked for
 *
 * @drain comes from one thread at a time, the rest under the control mutex. All may sleep.
 */
struct hwhint_backend {
	const char *name;
	bool on_demand;
	bool (*probe)(struct hwhint_why *why);
	int (*open)(const struct hwhint_settings *settings, struct hwhint_why *why);
	void (*stop)(void);
	void (*close)(void);
	int (*apply)(const struct hwhint_settings *settings);
	unsigned int (*drain)(struct hwhint_round *round);
	unsigned int (*period)(void);
};

extern const struct hwhint_backend hwhint_lab;
extern const struct hwhint_backend hwhint_ibs;
extern const struct hwhint_backend hwhint_pebs;
extern const struct hwhint_backend hwhint_clock;

void hwhint_take(struct hwhint_round *round, int nid, const struct hwhint_sample *sample);
void hwhint_lost(struct hwhint_round *round, u64 nr);

#endif
