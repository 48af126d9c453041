/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * sample - what memory profilers say of single accesses, in one form; which of it counts
 *
 * Two kinds are understood: the ring entries of the lab's profiler, and what the kernel's perf
 * makes of the samples of AMD's IBS and Intel's PEBS.
 */
#ifndef PGHOT_HW_SAMPLE_H
#define PGHOT_HW_SAMPLE_H

#include "engine/port.h"

struct pghot_labdev_sample;

/** Flags of a sample. At most one of CACHE, DRAM and EXTMEM; none: the profiler did not tell. */
enum {
	HWHINT_LOAD = 1 << 0,
	HWHINT_STORE = 1 << 1,
	HWHINT_USER = 1 << 2,		/* user code did it */
	HWHINT_PADDR = 1 << 3,		/* the physical address is valid */
	HWHINT_CACHE = 1 << 4,		/* a cache served it */
	HWHINT_DRAM = 1 << 5,		/* plain memory of some node */
	HWHINT_EXTMEM = 1 << 6,		/* CXL or persistent memory */
	HWHINT_GARBAGE = 1 << 7,	/* no profiler would say this */
};

/**
 * struct hwhint_sample - one access
 * @paddr: physical address of the data, if HWHINT_PADDR
 * @flags: HWHINT_*
 * @latency: cycles that it took; 0: unknown
 */
struct hwhint_sample {
	u64 paddr;
	u32 flags;
	u32 latency;
};

/**
 * struct hwhint_filter - which samples count, for profilers that cannot filter by themselves
 * @user_only: only those of user code
 * @latency_min: only those that took so many cycles; 0: any
 */
struct hwhint_filter {
	bool user_only;
	u32 latency_min;
};

enum hwhint_verdict {
	HWHINT_USEFUL,		/* an access of memory */
	HWHINT_IS_GARBAGE,
	HWHINT_IS_KERNEL,
	HWHINT_IS_CACHE,
	HWHINT_IS_QUICK,	/* faster than latency_min */
	HWHINT_NO_ADDRESS,
	HWHINT_NR_VERDICTS
};

enum hwhint_verdict hwhint_judge(const struct hwhint_sample *s, const struct hwhint_filter *f);

/* The lab's profiler. */
void hwhint_from_lab(const struct pghot_labdev_sample *slot, struct hwhint_sample *s);
bool hwhint_lab_pending(u32 nr_slots, u64 head, u64 tail, u32 *pending);

/* perf_mem_data_src of include/uapi/linux/perf_event.h, as far as it is needed: shift, width. */
#define HWHINT_PERF_OP		0, 5
#define HWHINT_PERF_LVL		5, 14
#define HWHINT_PERF_LVL_NUM	33, 4
enum {
	HWHINT_PERF_OP_LOAD = 0x02,
	HWHINT_PERF_OP_STORE = 0x04,

	HWHINT_PERF_LVL_HIT = 0x02,
	HWHINT_PERF_LVL_MISS = 0x04,
	HWHINT_PERF_LVL_L1 = 0x08,
	HWHINT_PERF_LVL_LFB = 0x10,
	HWHINT_PERF_LVL_L2 = 0x20,
	HWHINT_PERF_LVL_L3 = 0x40,
	HWHINT_PERF_LVL_LOC_RAM = 0x80,
	HWHINT_PERF_LVL_REM_RAM1 = 0x100,
	HWHINT_PERF_LVL_REM_RAM2 = 0x200,
	HWHINT_PERF_LVL_REM_CCE1 = 0x400,
	HWHINT_PERF_LVL_REM_CCE2 = 0x800,

	HWHINT_PERF_NUM_L1 = 0x01,
	HWHINT_PERF_NUM_L2 = 0x02,
	HWHINT_PERF_NUM_L3 = 0x03,
	HWHINT_PERF_NUM_L4 = 0x04,
	HWHINT_PERF_NUM_L2_MHB = 0x05,
	HWHINT_PERF_NUM_MSC = 0x06,
	HWHINT_PERF_NUM_CXL = 0x09,
	HWHINT_PERF_NUM_ANY_CACHE = 0x0b,
	HWHINT_PERF_NUM_LFB = 0x0c,
	HWHINT_PERF_NUM_RAM = 0x0d,
	HWHINT_PERF_NUM_PMEM = 0x0e,
	HWHINT_PERF_NUM_NA = 0x0f,
};

/**
 * struct hwhint_perf - what perf hands to an overflow handler
 * @data_src: union perf_mem_data_src; 0: not there
 * @weight: cycles; 0: not there
 * @phys_addr: of the data; 0: not there
 * @user: user code did it
 */
struct hwhint_perf {
	u64 data_src;
	u64 weight;
	u64 phys_addr;
	bool user;
};

void hwhint_from_perf(const struct hwhint_perf *p, struct hwhint_sample *s);

#endif
