// SPDX-License-Identifier: GPL-2.0-only
/*
 * hwhint_lab - the lab's emulated memory profiler, one for each CPU (pghot/labdev.h)
 *
 * Its rings are in the device's memory, where anything may be found at any time. Their sizes are
 * read once when the profilers are started; indices once a round, and believed only if they make
 * sense.
 */
#include <linux/cpumask.h>
#include <linux/io.h>
#include <linux/kernel.h>
#include <linux/slab.h>
#include <linux/topology.h>

#include "fault.h"
#include "hwhints.h"
#include "labdev.h"
#include "stat.h"

/* More cannot be dropped between two rounds. */
#define DROPPED_MAX	((u64)U32_MAX)

/**
 * struct lab_cpu - a CPU's profiler as we know it
 * @nr_slots: samples that its ring holds; 0: the CPU has no profiler
 * @tail: samples taken out of its ring
 * @dropped: of its samples that were lost, how many have been counted
 * @starved: the last round found the ring empty
 */
struct lab_cpu {
	u32 nr_slots;
	u64 tail;
	u64 dropped;
	bool starved;
};

static struct labdev *dev;
static struct lab_cpu *cpus;	/* by number */
static unsigned int nr_cpus;
static struct hwhint_settings applied;

static struct pghot_labdev_prof *regs_of(struct labdev *of, unsigned int cpu)
{
	return labdev_at(of, PGHOT_LABDEV_PROF_REGS + cpu * PGHOT_LABDEV_PROF_REGS_STEP);
}

static const struct pghot_labdev_sample *ring_of(unsigned int cpu)
{
	return labdev_at(dev, PGHOT_LABDEV_PROF_RINGS + cpu * PGHOT_LABDEV_PROF_RINGS_STEP);
}

static int set_reg(unsigned int cpu, size_t offset, u64 value)
{
	return labdev_write(dev, PGHOT_LABDEV_PROF_REGS + cpu * PGHOT_LABDEV_PROF_REGS_STEP + offset,
			    value, sizeof(u64));
}

#define SET_REG(cpu, reg, value)	set_reg(cpu, offsetof(struct pghot_labdev_prof, reg), value)

static bool lab_probe(struct hwhint_why *why)
{
	struct labdev *found = labdev_get();
	bool has;	/* the first CPU, and so all */

	if (IS_ERR(found) && PTR_ERR(found) != -ENODEV) {
		hwhint_say(why, "cannot map the lab's device (%ld)", PTR_ERR(found));
		return false;
	}
	if (IS_ERR(found)) {
		hwhint_say(why, "no device %04x:%04x of the lab", PGHOT_LABDEV_PCI_VENDOR,
			   PGHOT_LABDEV_PCI_DEVICE);
		return false;
	}
	has = READ_ONCE(regs_of(found, 0)->nr_slots) != 0;
	labdev_put(found);
	if (!has)
		hwhint_say(why, "the lab's device has no profiler");
	return has;
}

static u64 control_of(const struct hwhint_settings *settings)
{
	u64 control = PGHOT_LABDEV_PROF_ENABLE;

	if (settings->l3miss_only)
		control |= PGHOT_LABDEV_PROF_L3MISS;
	if (settings->user_only)
		control |= PGHOT_LABDEV_PROF_USER;
	return control | (u64)(settings->latency_min / 128) << PGHOT_LABDEV_PROF_LATENCY_SHIFT;
}

/*
 * Begin with an empty ring. Where that is, @samples and @dropped say: if a ring seems full to the
 * device, because our tail is wrong, those are written at each sample, and @head is not.
 */
static void resync(unsigned int cpu)
{
	struct pghot_labdev_prof *regs = regs_of(dev, cpu);

	cpus[cpu].dropped = READ_ONCE(regs->dropped);
	cpus[cpu].tail = READ_ONCE(regs->samples) - cpus[cpu].dropped;
	cpus[cpu].starved = false;
	WRITE_ONCE(regs->tail, cpus[cpu].tail);
}

static int configure(const struct hwhint_settings *settings)
{
	unsigned int cpu;
	int err = 0;

	for (cpu = 0; !err && cpu < nr_cpus; cpu++) {
		if (!cpus[cpu].nr_slots)
			continue;
		err = SET_REG(cpu, period, settings->period);
		if (!err)
			err = SET_REG(cpu, control, control_of(settings));
	}
	if (!err)
		applied = *settings;
	return err;
}

static void lab_stop(void)
{
	unsigned int cpu;

	for (cpu = 0; cpu < nr_cpus; cpu++)
		if (cpus[cpu].nr_slots)
			SET_REG(cpu, control, 0);
}

/* Look at the rings, once and for all. 0, or -EIO and a reason. */
static int find_rings(struct hwhint_why *why)
{
	unsigned int cpu;
	u32 nr_slots, none;

	for (cpu = 0; cpu < nr_cpus; cpu++) {
		nr_slots = READ_ONCE(regs_of(dev, cpu)->nr_slots);
		if (nr_slots && !hwhint_lab_pending(nr_slots, 0, 0, &none)) {
			hwhint_say(why, "CPU %u has a ring of %u samples: not a power of two up to %u",
				   cpu, nr_slots, PGHOT_LABDEV_MAX_SLOTS);
			return -EIO;
		}
		cpus[cpu].nr_slots = nr_slots;
	}
	return 0;
}

static void lab_close(void)
{
	labdev_put(dev);
	kfree(cpus);
	dev = NULL;
	cpus = NULL;
}

static int lab_start(const struct hwhint_settings *settings, struct hwhint_why *why)
{
	unsigned int cpu;
	int err = find_rings(why);

	if (err)
		return err;
	/* Whoever had them before: from here on only our samples come. */
	lab_stop();
	for (cpu = 0; cpu < nr_cpus; cpu++)
		resync(cpu);
	err = fault_point() ? -ETIMEDOUT : configure(settings);
	if (err) {
		lab_stop();
		hwhint_say(why, "cannot start the profilers (%d)", err);
	}
	return err;
}

static int lab_open(const struct hwhint_settings *settings, struct hwhint_why *why)
{
	int err;

	dev = labdev_get();
	if (IS_ERR(dev)) {
		err = PTR_ERR(dev);
		hwhint_say(why, "cannot map the lab's device (%d)", err);
		return err;
	}
	nr_cpus = min(nr_cpu_ids, (unsigned int)PGHOT_LABDEV_MAX_CPUS);
	cpus = fault_point() ? NULL : kcalloc(nr_cpus, sizeof(*cpus), GFP_KERNEL);
	if (cpus) {
		err = lab_start(settings, why);
	} else {
		err = -ENOMEM;
		hwhint_say(why, "out of memory");
	}
	if (err)
		lab_close();
	return err;
}

static int lab_apply(const struct hwhint_settings *settings)
{
	int err = fault_point() ? -ETIMEDOUT : configure(settings);

	if (err)
		configure(&applied);
	return err;
}

/* Returns how full the ring was, in percent. */
static unsigned int drain_cpu(struct hwhint_round *round, unsigned int cpu)
{
	const struct pghot_labdev_sample *ring = ring_of(cpu);
	struct pghot_labdev_prof *regs = regs_of(dev, cpu);
	struct lab_cpu *mine = &cpus[cpu];
	/* In this order: who dropped a sample before had filled the ring before. */
	u64 dropped = smp_load_acquire(&regs->dropped) - mine->dropped;
	u64 head = smp_load_acquire(&regs->head);
	struct hwhint_sample sample;
	u32 pending, i;

	if (!mine->nr_slots)
		return 0;
	if (!hwhint_lab_pending(mine->nr_slots, head, mine->tail, &pending) || dropped > DROPPED_MAX ||
	    (mine->starved && !pending && dropped)) {
		/* No ring drops anything while it is empty. */
		resync(cpu);
		stat_inc(STAT_hwhint_resyncs);
		return 0;
	}
	hwhint_lost(round, dropped);
	mine->dropped += dropped;
	mine->starved = !pending;
	for (i = 0; i < pending; i++) {
		hwhint_from_lab(&ring[mine->tail++ % mine->nr_slots], &sample);
		hwhint_take(round, cpu_to_node(cpu), &sample);
	}
	/* The slots have been read. */
	smp_store_release(&regs->tail, mine->tail);
	return pending * 100 / mine->nr_slots;
}

static unsigned int lab_drain(struct hwhint_round *round)
{
	unsigned int cpu, most = 0;

	for (cpu = 0; cpu < nr_cpus; cpu++) {
		most = max(most, drain_cpu(round, cpu));
		cond_resched();
	}
	return most;
}

static unsigned int lab_period(void)
{
	return applied.period;
}

const struct hwhint_backend hwhint_lab = {
	.name = "lab",
	.probe = lab_probe,
	.open = lab_open,
	.stop = lab_stop,
	.close = lab_close,
	.apply = lab_apply,
	.drain = lab_drain,
	.period = lab_period,
};
