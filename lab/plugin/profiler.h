/* SPDX-License-Identifier: GPL-2.0-only */
/* profiler - the memory profilers of the CPUs: see struct pghot_labdev_prof */
#ifndef PGHOT_LAB_PROFILER_H
#define PGHOT_LAB_PROFILER_H

#include <stdbool.h>
#include <stdint.h>

#include "pghot/labdev.h"

/**
 * struct prof - only its CPU's thread uses it
 * @countdown: operations until it looks at an access
 * @ops: operations that an access stands for; 0: it is off, and never will
 * @control: PGHOT_LABDEV_PROF_*
 * @period: operations
 * @random: state of a generator
 * @head: samples put into the ring
 * @dropped: samples that found it full
 */
struct prof {
	int64_t countdown;
	int64_t ops;
	uint64_t control;
	uint64_t period;
	uint64_t random;
	uint64_t head;
	uint64_t dropped;
};

/** profilers_open - say in the bar what there is */
void profilers_open(void);

/** profiler_write - a write to @at of the bar; false: there is no register of a profiler */
bool profiler_write(uint64_t at, uint64_t value, unsigned int bytes);

/** profiler_catch_up - @cpu's profiler @prof takes in what was written to its registers */
void profiler_catch_up(struct prof *prof, unsigned int cpu);

/** profiler_look - the profiler of @cpu looks at @seen, which may become a sample */
void profiler_look(struct prof *prof, unsigned int cpu, const struct pghot_labdev_sample *seen);

/** profiler_pass_over - the access that is due is not to be looked at: wait for the next */
void profiler_pass_over(struct prof *prof);

/**
 * profiler_due - @accesses more: is it time to look? Then call profiler_look() or, if the access
 * cannot pass the filters anyway, profiler_pass_over().
 */
static inline bool profiler_due(struct prof *prof, unsigned int accesses)
{
	prof->countdown -= prof->ops * accesses;
	return prof->countdown <= 0;
}

#endif
