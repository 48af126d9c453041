// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "pghot/labdev.h"
#include "sample.h"

#define PADDR_LIMIT	((u64)1 << 52)	/* no x86 CPU has more physical address bits */

/**
 * hwhint_judge - does this sample count, and if not, why?
 * @s: the sample
 * @f: what is wanted
 *
 * What a cache served never counts, whatever the profiler was told to take: its page would gain
 * nothing by moving. A sample without a latency is as one that took no time.
 */
enum hwhint_verdict hwhint_judge(const struct hwhint_sample *s, const struct hwhint_filter *f)
{
	if (s->flags & HWHINT_GARBAGE)
		return HWHINT_IS_GARBAGE;
	if (f->user_only && !(s->flags & HWHINT_USER))
		return HWHINT_IS_KERNEL;
	if (s->flags & HWHINT_CACHE)
		return HWHINT_IS_CACHE;
	if (s->latency < f->latency_min)
		return HWHINT_IS_QUICK;
	if (!(s->flags & HWHINT_PADDR))
		return HWHINT_NO_ADDRESS;
	return HWHINT_USEFUL;
}

static bool one_bit(u32 bits)
{
	return bits && !(bits & (bits - 1));
}

/**
 * hwhint_from_lab - read a ring entry of the lab's profiler (pghot/labdev.h)
 * @slot: the entry, which may change at any time; each field is read once
 * @s: becomes the sample, or one that is just HWHINT_GARBAGE if the entry contradicts itself
 */
void hwhint_from_lab(const struct pghot_labdev_sample *slot, struct hwhint_sample *s)
{
	static const struct {
		u32 lab, flag;
	} map[] = {
		{ PGHOT_LABDEV_SAMPLE_LOAD, HWHINT_LOAD },
		{ PGHOT_LABDEV_SAMPLE_STORE, HWHINT_STORE },
		{ PGHOT_LABDEV_SAMPLE_USER, HWHINT_USER },
		{ PGHOT_LABDEV_SAMPLE_VADDR, 0 },
		{ PGHOT_LABDEV_SAMPLE_PADDR, HWHINT_PADDR },
		{ PGHOT_LABDEV_SAMPLE_CACHE, HWHINT_CACHE },
		{ PGHOT_LABDEV_SAMPLE_DRAM, HWHINT_DRAM },
		{ PGHOT_LABDEV_SAMPLE_EXTMEM, HWHINT_EXTMEM },
	};
	u32 lab = port_load(&slot->flags), i, served;

	s->paddr = port_load(&slot->paddr);
	s->latency = port_load(&slot->cycles);
	s->flags = 0;
	for (i = 0; i < sizeof(map) / sizeof(map[0]); i++) {
		if (lab & map[i].lab)
			s->flags |= map[i].flag;
		lab &= ~map[i].lab;
	}
	served = s->flags & (HWHINT_CACHE | HWHINT_DRAM | HWHINT_EXTMEM);
	/* An atomic instruction is both load and store. */
	if (lab || !(s->flags & (HWHINT_LOAD | HWHINT_STORE)) ||
	    (served && !one_bit(served)) ||
	    (s->flags & HWHINT_PADDR && s->paddr >= PADDR_LIMIT))
		*s = (struct hwhint_sample){ .flags = HWHINT_GARBAGE };
}

/**
 * hwhint_lab_pending - how many samples wait in a ring of the lab's profiler?
 * @nr_slots: what the device says that the ring holds
 * @head: what it says was put in
 * @tail: what was taken out
 * @pending: becomes the number
 *
 * Both indices run freely through all of 2^64. False if the numbers make no sense: then the ring's
 * memory must not be touched.
 */
bool hwhint_lab_pending(u32 nr_slots, u64 head, u64 tail, u32 *pending)
{
	if (!one_bit(nr_slots) || nr_slots > PGHOT_LABDEV_MAX_SLOTS || head - tail > nr_slots)
		return false;
	*pending = (u32)(head - tail);
	return true;
}

static u32 field(u64 word, u32 shift, u32 width)
{
	return (u32)(word >> shift) & ((1U << width) - 1);
}

/* The older field, for the few samples whose level has no number. */
static u32 served_by_level(u32 level)
{
	if (level & (HWHINT_PERF_LVL_L1 | HWHINT_PERF_LVL_LFB | HWHINT_PERF_LVL_L2 |
		     HWHINT_PERF_LVL_L3 | HWHINT_PERF_LVL_REM_CCE1 | HWHINT_PERF_LVL_REM_CCE2))
		return HWHINT_CACHE;
	if (level & (HWHINT_PERF_LVL_LOC_RAM | HWHINT_PERF_LVL_REM_RAM1 | HWHINT_PERF_LVL_REM_RAM2))
		return HWHINT_DRAM;
	return 0;
}

/* HWHINT_CACHE, _DRAM, _EXTMEM, or 0 if perf does not say. */
static u32 served_by(u64 data_src)
{
	u32 level = field(data_src, HWHINT_PERF_LVL);

	/* "Missed the L3" is encoded as that level, too, and says nothing about what served it. */
	if (level & HWHINT_PERF_LVL_MISS && !(level & HWHINT_PERF_LVL_HIT))
		return 0;
	switch (field(data_src, HWHINT_PERF_LVL_NUM)) {
	case HWHINT_PERF_NUM_L1:
	case HWHINT_PERF_NUM_L2:
	case HWHINT_PERF_NUM_L3:
	case HWHINT_PERF_NUM_L4:
	case HWHINT_PERF_NUM_L2_MHB:
	case HWHINT_PERF_NUM_MSC:
	case HWHINT_PERF_NUM_ANY_CACHE:
	/* It waited for a miss that was under way, which was an access of its own. */
	case HWHINT_PERF_NUM_LFB:
		return HWHINT_CACHE;
	case HWHINT_PERF_NUM_RAM:
		return HWHINT_DRAM;
	case HWHINT_PERF_NUM_CXL:
	case HWHINT_PERF_NUM_PMEM:
		return HWHINT_EXTMEM;
	case 0:
	case HWHINT_PERF_NUM_NA:
		return served_by_level(level);
	default:
		return 0;
	}
}

/**
 * hwhint_from_perf - read a sample of IBS or PEBS, as perf understood it
 * @p: from perf; all of it is the kernel's own
 * @s: becomes the sample
 *
 * IBS takes a sample of whatever instruction it is: one that is no access has no address.
 */
void hwhint_from_perf(const struct hwhint_perf *p, struct hwhint_sample *s)
{
	u32 op = field(p->data_src, HWHINT_PERF_OP);

	*s = (struct hwhint_sample){ .paddr = p->phys_addr };
	s->latency = p->weight > ~(u32)0 ? ~(u32)0 : (u32)p->weight;
	s->flags = served_by(p->data_src);
	if (op & HWHINT_PERF_OP_LOAD)
		s->flags |= HWHINT_LOAD;
	if (op & HWHINT_PERF_OP_STORE)
		s->flags |= HWHINT_STORE;
	if (p->user)
		s->flags |= HWHINT_USER;
	if (p->phys_addr)
		s->flags |= HWHINT_PADDR;
}
