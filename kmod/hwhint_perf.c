// SPDX-License-Identifier: GPL-2.0-only
/*
 * hwhint_perf - AMD's IBS and Intel's PEBS, through the kernel's perf
 *
 * One kernel counter for each online CPU. Its overflow handler runs in an NMI: it takes what perf
 * has decoded and puts it into the CPU's ring. Perf's own decoding is used, not the raw registers
 * (PERF_SAMPLE_RAW): it is made before the handler is called if the event asks for it, and comes
 * with each processor's encodings of the data source and the workarounds for their errata.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/io.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/printk.h>
#include <linux/slab.h>
#include <linux/topology.h>
#include <linux/uaccess.h>

#include "clock.h"
#include "fault.h"
#include "hw/ring.h"
#include "hw/throttle.h"
#include "hwhint_pmu.h"
#include "hwhints.h"
#include "pghot/knobs.h"
#include "stat.h"

/* hw/sample.c knows perf's bits by itself; hold them against the kernel's. */
#define SAME(a, b)	static_assert((u64)HWHINT_PERF_##a == (u64)PERF_MEM_##b)
SAME(OP_LOAD, OP_LOAD);
SAME(OP_STORE, OP_STORE);
SAME(LVL_HIT, LVL_HIT);
SAME(LVL_MISS, LVL_MISS);
SAME(LVL_L1, LVL_L1);
SAME(LVL_LFB, LVL_LFB);
SAME(LVL_L2, LVL_L2);
SAME(LVL_L3, LVL_L3);
SAME(LVL_LOC_RAM, LVL_LOC_RAM);
SAME(LVL_REM_RAM1, LVL_REM_RAM1);
SAME(LVL_REM_RAM2, LVL_REM_RAM2);
SAME(LVL_REM_CCE1, LVL_REM_CCE1);
SAME(LVL_REM_CCE2, LVL_REM_CCE2);
SAME(NUM_L1, LVLNUM_L1);
SAME(NUM_L2, LVLNUM_L2);
SAME(NUM_L3, LVLNUM_L3);
SAME(NUM_L4, LVLNUM_L4);
SAME(NUM_L2_MHB, LVLNUM_L2_MHB);
SAME(NUM_MSC, LVLNUM_MSC);
SAME(NUM_CXL, LVLNUM_CXL);
SAME(NUM_ANY_CACHE, LVLNUM_ANY_CACHE);
SAME(NUM_LFB, LVLNUM_LFB);
SAME(NUM_RAM, LVLNUM_RAM);
SAME(NUM_PMEM, LVLNUM_PMEM);
SAME(NUM_NA, LVLNUM_NA);

/* What perf puts into hw.interrupts of an event that it throttles; kernel/events/core.c has it. */
#define THROTTLED	(~0ULL)

#define KNOB_MAX(name, def, min, max, unit, help) KNOB_MAX_##name = max,
enum { PGHOT_KNOBS(KNOB_MAX) };

/**
 * struct perf_cpu - one CPU
 * @event: its counter while it is online
 * @next: the one that will take its place, while settings change
 * @ring: from its handler to the draining thread; stays when the CPU goes offline
 * @throttled: times that perf throttled it (handler)
 * @throttled_seen: of these, how many have been judged (draining thread)
 */
struct perf_cpu {
	struct perf_event *event;
	struct perf_event *next;
	struct hwhint_ring *ring;
	unsigned int throttled;
	unsigned int throttled_seen;
};

/*
 * Guards events, @attr and @throttle. Taken by the callbacks of CPU hotplug, so nobody may wait
 * for CPU hotplug with it held.
 */
static DEFINE_MUTEX(events_mutex);
static DEFINE_PER_CPU(struct perf_cpu, perf_cpus);
static const struct hwhint_pmu *pmu;
static struct perf_event_attr attr;
static struct hwhint_throttle throttle;	/* has the periods */

/* Under the control mutex, but for @opening, which callbacks of CPU hotplug read. */
static int hp_state;
static bool opening;
static unsigned int failed_cpu;

/* ---- the handler ---- */

/*
 * Where a virtual address is, or 0: IBS tells, PEBS does not. As perf itself does it for user
 * space: the page tables stay, since interrupts are off, and nothing is faulted in.
 */
static u64 phys_of(u64 addr)
{
	struct page *page;
	u64 phys = 0;

	if (addr >= TASK_SIZE_MAX) {
		if (virt_addr_valid((void *)addr) && !is_vmalloc_addr((void *)addr))
			phys = virt_to_phys((void *)addr);
		return phys;
	}
	if (!addr || !current->mm || current->flags & (PF_KTHREAD | PF_USER_WORKER))
		return 0;
	pagefault_disable();
	if (get_user_page_fast_only(addr, 0, &page)) {
		phys = page_to_phys(page) + offset_in_page(addr);
		put_page(page);
	}
	pagefault_enable();
	return phys;
}

/* NMI, or an interrupt. */
static void on_overflow(struct perf_event *event, struct perf_sample_data *data,
			struct pt_regs *regs)
{
	struct perf_cpu *mine = event->overflow_handler_context;
	struct hwhint_perf perf = { .user = user_mode(regs) };
	struct hwhint_sample sample;

	if (event->hw.interrupts == THROTTLED) {
		WRITE_ONCE(mine->throttled, mine->throttled + 1);
		stat_inc(STAT_hwhint_throttled);
	}
	if (data->sample_flags & PERF_SAMPLE_DATA_SRC)
		perf.data_src = data->data_src.val;
	if (data->sample_flags & PERF_SAMPLE_WEIGHT)
		perf.weight = data->weight.full;
	if (data->sample_flags & PERF_SAMPLE_PHYS_ADDR)
		perf.phys_addr = data->phys_addr;
	hwhint_from_perf(&perf, &sample);
	/* What a cache served is not reported, so it does not matter where that is. */
	if (!(sample.flags & (HWHINT_PADDR | HWHINT_CACHE)) &&
	    data->sample_flags & PERF_SAMPLE_ADDR) {
		perf.phys_addr = phys_of(data->addr);
		hwhint_from_perf(&perf, &sample);
	}
	hwhint_ring_push(mine->ring, &sample);
}

/* ---- one event for each CPU ---- */

/* Under events_mutex. */
static struct perf_event *create(unsigned int cpu, const struct perf_event_attr *from,
				 bool disabled)
{
	struct perf_event_attr copy = *from;

	copy.sample_period = hwhint_pmu_period(pmu, throttle.period);
	copy.disabled = disabled;
	if (fault_point())
		return ERR_PTR(-EBUSY);
	return perf_event_create_kernel_counter(&copy, cpu, NULL, on_overflow,
						per_cpu_ptr(&perf_cpus, cpu));
}

/* Under events_mutex. */
static int sample_cpu(unsigned int cpu)
{
	struct perf_cpu *mine = per_cpu_ptr(&perf_cpus, cpu);
	struct hwhint_ring *ring;
	struct perf_event *event;

	if (!mine->ring) {
		ring = fault_point() ? NULL :
		       kvzalloc_node(sizeof(*ring), GFP_KERNEL | __GFP_NOWARN, cpu_to_node(cpu));
		if (!ring)
			return -ENOMEM;
		/* Pairs with the acquire in perf_drain(). */
		smp_store_release(&mine->ring, ring);
	}
	event = create(cpu, &attr, false);
	if (IS_ERR(event))
		return PTR_ERR(event);
	mine->event = event;
	return 0;
}

/* A CPU comes online, or is when the profiler is opened. A failure must not keep it from coming. */
static int on_cpu_online(unsigned int cpu)
{
	int err;

	mutex_lock(&events_mutex);
	err = sample_cpu(cpu);
	mutex_unlock(&events_mutex);
	if (!err)
		return 0;
	if (READ_ONCE(opening)) {
		failed_cpu = cpu;
		return err;
	}
	pr_warn("source hwhints: CPU %u is not sampled: cannot open PMU %s on it (%d)\n", cpu,
		pmu->name, err);
	return 0;
}

static int on_cpu_offline(unsigned int cpu)
{
	struct perf_cpu *mine = per_cpu_ptr(&perf_cpus, cpu);

	mutex_lock(&events_mutex);
	if (mine->event)
		perf_event_release_kernel(mine->event);
	mine->event = NULL;
	mutex_unlock(&events_mutex);
	return 0;
}

static void perf_close(void)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		kvfree(per_cpu(perf_cpus.ring, cpu));
		per_cpu(perf_cpus, cpu) = (struct perf_cpu){ 0 };
	}
}

static int perf_open(const struct hwhint_pmu *of, const struct hwhint_settings *settings,
		     struct hwhint_why *why)
{
	int err;

	err = hwhint_pmu_describe(of, settings, &attr, why);
	if (err)
		return err;
	pmu = of;
	hwhint_throttle_init(&throttle, settings->period, KNOB_MAX_hwhints_period, now_ms());
	WRITE_ONCE(opening, true);
	err = fault_point() ? -ENOSPC :
	      cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, "pghot/hwhints:online", on_cpu_online,
				on_cpu_offline);
	WRITE_ONCE(opening, false);
	if (err < 0) {
		perf_close();
		hwhint_say(why, "cannot open PMU %s on CPU %u (%d)", of->name, failed_cpu, err);
		return err;
	}
	hp_state = err;
	return 0;
}

static void perf_stop(void)
{
	/* Takes the events of all CPUs away, too: no handler runs any more. */
	cpuhp_remove_state(hp_state);
}

/* ---- changes ---- */

/* Under events_mutex. 0, or an error with all events as they were. */
static int replace_events(const struct perf_event_attr *with)
{
	struct perf_event *next;
	unsigned int cpu;
	int err = 0;

	for_each_possible_cpu(cpu) {
		if (!per_cpu(perf_cpus.event, cpu))
			continue;
		next = create(cpu, with, true);
		if (IS_ERR(next)) {
			err = PTR_ERR(next);
			break;
		}
		per_cpu(perf_cpus.next, cpu) = next;
	}
	for_each_possible_cpu(cpu) {
		struct perf_cpu *mine = per_cpu_ptr(&perf_cpus, cpu);

		if (!mine->next)
			continue;
		if (!err) {
			swap(mine->event, mine->next);
			/* In this order: the ring has one producer. */
			perf_event_release_kernel(mine->next);
			perf_event_enable(mine->event);
		} else {
			perf_event_release_kernel(mine->next);
		}
		mine->next = NULL;
	}
	return err;
}

/* Under events_mutex. 0, or an error with some events changed. */
static int set_period(unsigned int operations)
{
	unsigned int cpu;
	int err = 0;

	for_each_possible_cpu(cpu) {
		struct perf_event *event = per_cpu(perf_cpus.event, cpu);

		if (event && !err)
			err = perf_event_period(event, hwhint_pmu_period(pmu, operations));
	}
	return err;
}

static int perf_apply(const struct hwhint_settings *settings)
{
	struct hwhint_throttle before;
	struct perf_event_attr now;
	struct hwhint_why why;
	int err;

	err = hwhint_pmu_describe(pmu, settings, &now, &why);
	if (err)
		return err;
	mutex_lock(&events_mutex);
	before = throttle;
	if (settings->period != throttle.asked) {
		hwhint_throttle_init(&throttle, settings->period, KNOB_MAX_hwhints_period, now_ms());
		err = fault_point() ? -EIO : set_period(throttle.period);
	}
	if (!err && memcmp(&now, &attr, sizeof(now)))
		err = replace_events(&now);
	if (!err) {
		attr = now;
	} else {
		throttle = before;
		set_period(throttle.period);
	}
	mutex_unlock(&events_mutex);
	return err;
}

/* Throttlings since the last time, of the CPU that had the most. */
static unsigned int most_throttled(void)
{
	unsigned int cpu, throttled, most = 0;

	for_each_possible_cpu(cpu) {
		struct perf_cpu *mine = per_cpu_ptr(&perf_cpus, cpu);

		throttled = READ_ONCE(mine->throttled);
		most = max(most, throttled - mine->throttled_seen);
		mine->throttled_seen = throttled;
	}
	return most;
}

/* If there are too many samples for the kernel, ask for fewer. */
static void adjust_period(void)
{
	unsigned int before;

	mutex_lock(&events_mutex);
	if (hwhint_throttle_due(&throttle, now_ms())) {
		before = throttle.period;
		if (hwhint_throttle_judge(&throttle, most_throttled(), now_ms()) != before)
			set_period(throttle.period);
	}
	mutex_unlock(&events_mutex);
}

static unsigned int drain_cpu(struct hwhint_round *round, unsigned int cpu,
			      struct hwhint_ring *ring)
{
	u32 used = hwhint_ring_used(ring), i;

	hwhint_lost(round, hwhint_ring_dropped(ring));
	for (i = 0; i < used; i++) {
		hwhint_take(round, cpu_to_node(cpu), hwhint_ring_first(ring));
		hwhint_ring_shift(ring);
	}
	return used * 100 / HWHINT_RING_SLOTS;
}

static unsigned int perf_drain(struct hwhint_round *round)
{
	unsigned int cpu, most = 0;

	for_each_possible_cpu(cpu) {
		struct perf_cpu *mine = per_cpu_ptr(&perf_cpus, cpu);
		/* Pairs with the release in sample_cpu(). */
		struct hwhint_ring *ring = smp_load_acquire(&mine->ring);

		if (!ring)
			continue;
		most = max(most, drain_cpu(round, cpu, ring));
		cond_resched();
	}
	adjust_period();
	return most;
}

static unsigned int perf_period(void)
{
	return READ_ONCE(throttle.period);
}

/* ---- the kinds ---- */

#define PERF_BACKEND(name_, on_demand_)							\
static bool name_##_probe(struct hwhint_why *why)					\
{											\
	struct hwhint_settings any = { 0 };						\
	struct perf_event_attr ignored;							\
											\
	return !hwhint_pmu_describe(&hwhint_pmu_##name_, &any, &ignored, why);		\
}											\
											\
static int name_##_open(const struct hwhint_settings *settings, struct hwhint_why *why)	\
{											\
	return perf_open(&hwhint_pmu_##name_, settings, why);				\
}											\
											\
const struct hwhint_backend hwhint_##name_ = {						\
	.name = #name_,									\
	.on_demand = on_demand_,							\
	.probe = name_##_probe,								\
	.open = name_##_open,								\
	.stop = perf_stop,								\
	.close = perf_close,								\
	.apply = perf_apply,								\
	.drain = perf_drain,								\
	.period = perf_period,								\
}

PERF_BACKEND(ibs, false);
PERF_BACKEND(pebs, false);

#ifdef PGHOT_FAULTS
PERF_BACKEND(clock, true);
#endif
