/* SPDX-License-Identifier: GPL-2.0-only */
/* lab - what the plugin's parts share: the CPUs, and what commands have set for them */
#ifndef PGHOT_LAB_LAB_H
#define PGHOT_LAB_LAB_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "cache.h"
#include "options.h"
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
 * @generation: lab.generation for which @cache is valid
 * @debt_ns: delay that it owes; negative: it paid too much
 * @recent: virtual line numbers of the last two lines it counted
 * @streams: what it may be walking through
 * @next_stream: the one to give up for a new one
 */
struct vcpu {
	struct counts counts;
	struct cache cache;
	uint64_t generation;
	int64_t debt_ns;
	uint64_t recent[2];
	struct stream streams[NR_STREAMS];
	unsigned int next_stream;
} __attribute__((aligned(CACHE_LINE)));

/**
 * struct lab - read by all CPUs at each access, written by commands only
 * @watching: is there anything to do at an access? A region is open, or a page is looked for
 * @locating: look for an access at @locate_vaddr
 * @counting: a region is open; with @limit_start, @limit_end: for these virtual addresses
 * @generation: grows when the modelled caches are to be emptied
 * @ranges: the machine's memory
 * @access_ns: time of an access in this emulation, without a delay
 * @dev: the bar; what is there is for the guest to read, and not trusted
 */
struct lab {
	struct options opts;
	struct vcpu *vcpus;
	unsigned int nr_vcpus;
	struct {
		volatile struct pghot_labdev_regs *regs;
		struct pghot_labdev_ranges *ranges;
		struct pghot_labdev_roi *roi;
	} dev;
	struct pghot_labdev_ranges ranges;
	uint32_t access_ns;
	atomic_bool watching;
	atomic_bool locating;
	atomic_bool counting;
	_Atomic uint64_t generation;
	uint64_t locate_vaddr;
	uint64_t limit_start;
	uint64_t limit_end;		/* last byte, for 2^64 cannot be said */
};

extern struct lab lab;

/* A monotonic time of the host. */
uint64_t lab_now_ns(void);

#endif
