/* SPDX-License-Identifier: GPL-2.0-only */
/* lab - what the plugin's parts share: the CPUs, and what commands have set for them */
#ifndef PGHOT_LAB_LAB_H
#define PGHOT_LAB_LAB_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "cache.h"
#include "options.h"
#include "profiler.h"
#include "pghot/labdev.h"

#define CACHE_LINE		64

/** struct counts - all only grow, so that a region is a difference */
struct counts {
	uint64_t count[PGHOT_LABDEV_SIDES][PGHOT_LABDEV_OPS][PGHOT_LABDEV_SERVED];
	uint64_t node_misses[PGHOT_LABDEV_MAX_NODES];
	uint64_t node_streamed[PGHOT_LABDEV_MAX_NODES];
	uint64_t other;
	uint64_t delay_ns;
};

#define NR_STREAMS		4
/* Lines in a row after which a prefetcher is sure. */
#define STREAM_SURE		2

/** struct stream - lines that were missed one after the other, upwards */
struct stream {
	uint64_t next;			/* the line that would go on */
	unsigned int lines;
};

/**
 * struct vcpu - written by its CPU's thread alone
 * @counts: others may read them; a CPU that gave a command has all its accesses before it in there
 * @prof: its profiler
 * @generation: lab.generation that it has caught up with
 * @cold: lab.cold, likewise
 * @seen: accesses that each hotness unit was to count; only grow, and others may read them
 * @random: state of a generator, for the hotness units
 * @debt_ns: delay that it owes; negative: it paid too much
 * @recent: virtual line numbers of the last two lines it counted
 * @streams: what it may be walking through
 * @next_stream: the one to give up for a new one
 */
struct vcpu {
	struct counts counts;
	struct cache cache;
	struct prof prof;
	uint64_t generation;
	uint64_t cold;
	uint64_t seen[PGHOT_LABDEV_MAX_CHMUS];
	uint64_t random;
	int64_t debt_ns;
	uint64_t recent[2];
	struct stream streams[NR_STREAMS];
	unsigned int next_stream;
} __attribute__((aligned(CACHE_LINE)));

/* What is to be done at an access; bits of lab.watching. */
enum {
	WATCH_LOCATE = 1 << 0,		/* look for one at lab.locate_vaddr */
	WATCH_REGION = 1 << 1,		/* a region is open: count and delay */
	WATCH_PROFILER = 1 << 2,	/* a profiler is enabled */
	WATCH_CHMU = 1 << 3,		/* hotness unit 0 is; one bit for each of them */
	WATCH_HOTNESS = WATCH_PROFILER | WATCH_CHMU * ((1 << PGHOT_LABDEV_MAX_CHMUS) - 1),
	WATCH_MODEL = WATCH_REGION | WATCH_HOTNESS,	/* what needs the modelled caches */
};

/**
 * struct lab - read by all CPUs at each access, written by commands only
 * @watching: WATCH_* bits, changed by lab_watch() and lab_unwatch()
 * @limit_start, @limit_end: a region is one for these virtual addresses
 * @generation: grows when something changed that CPUs have to notice: @cold, or a profiler
 * @cold: grows when the modelled caches are to be emptied
 * @ranges: the machine's memory
 * @device_start: for each of @ranges its first byte's device address in its node's hotness unit
 * @access_ns: time of an access in this emulation, without a delay
 * @dev: the bar; what is there is for the guest to read, and not trusted
 */
struct lab {
	struct options opts;
	struct vcpu *vcpus;
	unsigned int nr_vcpus;
	struct {
		char *bar;
		volatile struct pghot_labdev_regs *regs;
		struct pghot_labdev_ranges *ranges;
		struct pghot_labdev_roi *roi;
	} dev;
	struct pghot_labdev_ranges ranges;
	uint64_t device_start[PGHOT_LABDEV_MAX_RANGES];
	uint32_t access_ns;
	atomic_uint watching;
	_Atomic uint64_t generation;
	_Atomic uint64_t cold;
	uint64_t locate_vaddr;
	uint64_t limit_start;
	uint64_t limit_end;		/* last byte, for 2^64 cannot be said */
};

extern struct lab lab;

/* A monotonic time of the host. */
uint64_t lab_now_ns(void);

/** lab_node_bytes - memory of @node, as far as it is known; under the lock of commands, or later */
uint64_t lab_node_bytes(unsigned int node);

/** lab_cool - all modelled caches are cold from each CPU's next access on */
void lab_cool(void);

/**
 * lab_watch - there is something to do at each access, WATCH_@bit
 *
 * Caches that were not kept up to date are cold then.
 */
void lab_watch(unsigned int bit);

/** lab_unwatch - and no more; returns whether there was */
bool lab_unwatch(unsigned int bit);

#endif
