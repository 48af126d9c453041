/* SPDX-License-Identifier: GPL-2.0-only */
/* options - what the plugin was asked to do, as key=value words */
#ifndef PGHOT_LAB_OPTIONS_H
#define PGHOT_LAB_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "pghot/labdev.h"

struct node_option {
	uint32_t latency_ns;		/* 0: there is no such node */
	uint32_t bandwidth_mbps;	/* 10^6 bytes a second */
	bool slow;
};

struct options {
	const char *shm;		/* the file behind the device */
	enum pghot_labdev_mode mode;
	uint32_t cache_kb;
	uint32_t cache_ways;
	uint32_t cache_line;		/* bytes */
	uint32_t scale;			/* delays are this many times the latencies */
	bool kernel;			/* accesses of kernel code are modelled, too */
	uint32_t quantum_us;		/* a CPU is delayed when it owes that much */
	uint32_t prof_slots;		/* of a profiler's ring; 0: no profilers */
	uint32_t prof_ops;		/* operations that an access stands for */
	bool chmu;			/* slow nodes have hotness units */
	uint32_t chmu_counters;		/* of each; 0: one for each unit of memory */
	uint32_t chmu_entries;		/* of its hotlist */
	struct node_option nodes[PGHOT_LABDEV_MAX_NODES];
};

/** options_parse - fill @opts; false after one line on stderr about what is wrong */
bool options_parse(struct options *opts, int argc, char **argv);

#endif
