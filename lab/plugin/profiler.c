// SPDX-License-Identifier: GPL-2.0-only
#include <stdatomic.h>
#include <stddef.h>

#include "lab.h"
#include "profiler.h"

#define CONTROL_BITS	(PGHOT_LABDEV_PROF_ENABLE | PGHOT_LABDEV_PROF_L3MISS | \
			 PGHOT_LABDEV_PROF_USER | \
			 PGHOT_LABDEV_PROF_LATENCY_MASK << PGHOT_LABDEV_PROF_LATENCY_SHIFT)
/* A sample comes up to this part of the period early. */
#define JITTER		16

/* What was written last; a CPU takes it over when lab.generation tells it to look. */
static struct {
	_Atomic uint64_t control;
	_Atomic uint64_t period;
} written[PGHOT_LABDEV_MAX_CPUS];
static unsigned int enabled;		/* how many are; under the lock of commands */

static struct pghot_labdev_prof *registers(unsigned int cpu)
{
	return (void *)(lab.dev.bar + PGHOT_LABDEV_PROF_REGS +
			cpu * PGHOT_LABDEV_PROF_REGS_STEP);
}

static unsigned int latency(uint64_t control)
{
	return control >> PGHOT_LABDEV_PROF_LATENCY_SHIFT & PGHOT_LABDEV_PROF_LATENCY_MASK;
}

void profilers_open(void)
{
	if (!lab.opts.prof_slots)
		return;
	for (unsigned int cpu = 0; cpu < lab.nr_vcpus; cpu++) {
		struct pghot_labdev_prof *regs = registers(cpu);

		/* The seed of a generator must not be 0. */
		lab.vcpus[cpu].prof.random = cpu + 1;
		written[cpu].period = PGHOT_LABDEV_PROF_PERIOD_MAX;
		regs->period = PGHOT_LABDEV_PROF_PERIOD_MAX;
		regs->ops = lab.opts.prof_ops;
		regs->nr_slots = lab.opts.prof_slots;
	}
}

static void write_control(unsigned int cpu, uint64_t control)
{
	uint64_t old = written[cpu].control;

	control &= CONTROL_BITS;
	if (latency(control) > PGHOT_LABDEV_PROF_LATENCY_MAX)
		return;
	written[cpu].control = control;
	registers(cpu)->control = control;
	enabled += (control & PGHOT_LABDEV_PROF_ENABLE) - (old & PGHOT_LABDEV_PROF_ENABLE);
	lab.generation++;
	if (enabled)
		lab_watch(WATCH_PROFILER);
	else
		lab_unwatch(WATCH_PROFILER);
}

static void write_period(unsigned int cpu, uint64_t period)
{
	if (period < PGHOT_LABDEV_PROF_PERIOD_MIN || period > PGHOT_LABDEV_PROF_PERIOD_MAX)
		return;
	written[cpu].period = period;
	registers(cpu)->period = period;
	lab.generation++;
}

bool profiler_write(uint64_t at, uint64_t value, unsigned int bytes)
{
	uint64_t cpu = (at - PGHOT_LABDEV_PROF_REGS) / PGHOT_LABDEV_PROF_REGS_STEP;

	if (!lab.opts.prof_slots || bytes != 8 || at < PGHOT_LABDEV_PROF_REGS ||
	    cpu >= lab.nr_vcpus)
		return false;
	switch (at % PGHOT_LABDEV_PROF_REGS_STEP) {
	case offsetof(struct pghot_labdev_prof, control):
		write_control(cpu, value);
		return true;
	case offsetof(struct pghot_labdev_prof, period):
		write_period(cpu, value);
		return true;
	default:
		return false;
	}
}

/* xorshift64: cheap, and good enough to be out of step with any loop */
static uint64_t draw(struct prof *prof)
{
	prof->random ^= prof->random << 13;
	prof->random ^= prof->random >> 7;
	prof->random ^= prof->random << 17;
	return prof->random;
}

void profiler_pass_over(struct prof *prof)
{
	prof->countdown += prof->period - draw(prof) % (prof->period / JITTER + 1);
	/* An access may stand for more than a period: then each is looked at. */
	if (prof->countdown < 1)
		prof->countdown = 1;
}

void profiler_catch_up(struct prof *prof, unsigned int cpu)
{
	uint64_t control = written[cpu].control, period = written[cpu].period;

	if (control == prof->control && period == prof->period)
		return;
	prof->control = control;
	prof->period = period;
	prof->ops = control & PGHOT_LABDEV_PROF_ENABLE ? lab.opts.prof_ops : 0;
	prof->countdown = 0;
	profiler_pass_over(prof);
}

static bool passes(uint64_t control, const struct pghot_labdev_sample *seen)
{
	const uint32_t missed = PGHOT_LABDEV_SAMPLE_DRAM | PGHOT_LABDEV_SAMPLE_EXTMEM;

	if (control & PGHOT_LABDEV_PROF_L3MISS && !(seen->flags & missed))
		return false;
	if (control & PGHOT_LABDEV_PROF_USER && !(seen->flags & PGHOT_LABDEV_SAMPLE_USER))
		return false;
	return seen->cycles >= latency(control) * PGHOT_LABDEV_PROF_LATENCY_CYCLES;
}

void profiler_look(struct prof *prof, unsigned int cpu, const struct pghot_labdev_sample *seen)
{
	struct pghot_labdev_prof *regs = registers(cpu);
	struct pghot_labdev_sample *ring = (void *)(lab.dev.bar + PGHOT_LABDEV_PROF_RINGS +
						    cpu * PGHOT_LABDEV_PROF_RINGS_STEP);
	uint64_t tail;

	profiler_pass_over(prof);
	if (!passes(prof->control, seen))
		return;
	/* Pairs with the guest's release of a slot. What it says is not trusted: only compared. */
	tail = __atomic_load_n(&regs->tail, __ATOMIC_ACQUIRE);
	if (prof->head - tail < lab.opts.prof_slots) {
		ring[prof->head & (lab.opts.prof_slots - 1)] = *seen;
		prof->head++;
		/* Whoever sees the new head sees the sample. */
		__atomic_store_n(&regs->head, prof->head, __ATOMIC_RELEASE);
	} else {
		prof->dropped++;
		__atomic_store_n(&regs->dropped, prof->dropped, __ATOMIC_RELAXED);
	}
	__atomic_store_n(&regs->samples, prof->head + prof->dropped, __ATOMIC_RELAXED);
}
