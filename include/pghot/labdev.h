/* SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR MIT */
/*
 * labdev - the lab machine's instrument as a PCI device: the layout of its one memory bar
 *
 * A shared memory device (ivshmem, PCI 1af4:1110, BAR 2) whose other side is the lab's QEMU
 * plugin, which sees every load and store of the guest. All numbers are in the byte order of
 * the machine; the guest and its host have the same one.
 *
 * Who writes: "guest" fields the guest, all others the plugin.
 *
 * Commands. The guest fills @arg as the command wants, and then puts the command into @command
 * by a compare-and-exchange from 0. The plugin notices before the guest's next access is over,
 * obeys, writes @status and @answer and sets @command back to 0. Commands without arguments can
 * so come from many programs at once; those with arguments are for one at a time.
 */
#ifndef PGHOT_LABDEV_H
#define PGHOT_LABDEV_H

#include <linux/types.h>

#define PGHOT_LABDEV_PCI_VENDOR		0x1af4
#define PGHOT_LABDEV_PCI_DEVICE		0x1110
#define PGHOT_LABDEV_PCI_BAR		2

#define PGHOT_LABDEV_MAGIC		0x62616c746f686770ULL	/* the bytes "pghotlab" */
/* Grows whenever a field moves or changes its meaning. */
#define PGHOT_LABDEV_VERSION		1
#define PGHOT_LABDEV_SIZE		0x400000	/* bytes of the bar */

/* Where things are, in bytes from the start of the bar. */
#define PGHOT_LABDEV_REGS		0x000000	/* struct pghot_labdev_regs */
#define PGHOT_LABDEV_ROI		0x001000	/* struct pghot_labdev_roi */
#define PGHOT_LABDEV_RANGES		0x002000	/* struct pghot_labdev_ranges */
/* Reserved and zero: [start, start + size) for emulated hotness hardware. */
#define PGHOT_LABDEV_CHMU_REGS		0x010000	/* a hotness monitoring unit */
#define PGHOT_LABDEV_CHMU_REGS_SIZE	0x010000
#define PGHOT_LABDEV_CHMU_HOTLIST	0x080000	/* its list: 65536 entries of 8 bytes */
#define PGHOT_LABDEV_CHMU_HOTLIST_SIZE	0x080000
#define PGHOT_LABDEV_PROF_REGS		0x100000	/* a memory profiler: 4 KiB a CPU */
#define PGHOT_LABDEV_PROF_REGS_SIZE	0x040000
#define PGHOT_LABDEV_PROF_RINGS		0x200000	/* its rings: 32 KiB a CPU */
#define PGHOT_LABDEV_PROF_RINGS_SIZE	0x200000

#define PGHOT_LABDEV_MAX_CPUS		64
#define PGHOT_LABDEV_MAX_NODES		16
#define PGHOT_LABDEV_MAX_RANGES		32

enum pghot_labdev_mode {
	PGHOT_LABDEV_COUNT = 1,		/* counts only */
	PGHOT_LABDEV_LATENCY = 2,	/* and delays each miss */
};

enum pghot_labdev_command {
	PGHOT_LABDEV_IDLE = 0,
	/*
	 * Tell where the plugin sees the guest's page at virtual address arg[0]: answer[0] becomes
	 * the address it reports for the next access at exactly that virtual address, answer[1]
	 * then becomes 1.
	 */
	PGHOT_LABDEV_LOCATE,
	/*
	 * Guest-physical [arg[1], arg[2]) is memory of node arg[0], and what the plugin reports
	 * for its first byte is arg[3].
	 */
	PGHOT_LABDEV_ADD_RANGE,
	/*
	 * An access takes arg[0] ns in this emulation anyway: the delays are shorter by that. The
	 * largest 32-bit number: no delays.
	 */
	PGHOT_LABDEV_SET_ACCESS_NS,
	/* Open a region of interest (they nest), close it, forget what was counted. */
	PGHOT_LABDEV_ROI_BEGIN,
	PGHOT_LABDEV_ROI_END,
	PGHOT_LABDEV_ROI_RESET,
	/*
	 * Regions that open from now on count only accesses to virtual addresses
	 * [arg[0], arg[1]); 0 and 0: all.
	 */
	PGHOT_LABDEV_ROI_LIMIT,
};

enum pghot_labdev_status {
	PGHOT_LABDEV_OK = 0,
	PGHOT_LABDEV_UNKNOWN = 1,	/* no such command */
	PGHOT_LABDEV_INVALID = 2,	/* an argument is out of range, or ranges overlap */
	PGHOT_LABDEV_STATE = 3,		/* not now: no ranges yet, no region open, or one open */
};

/**
 * struct pghot_labdev_regs - identification, configuration and commands
 * @magic: PGHOT_LABDEV_MAGIC once a plugin is there; until then nothing else is valid
 * @version: PGHOT_LABDEV_VERSION of the plugin
 * @size: PGHOT_LABDEV_SIZE of the plugin
 * @mode: enum pghot_labdev_mode
 * @cache_kb: size of the modelled cache of each CPU, KiB
 * @cache_ways: its ways
 * @cache_line: its line, bytes
 * @scale: the delays are this many times the latencies
 * @access_ns: what the guest said in PGHOT_LABDEV_SET_ACCESS_NS
 * @command: enum pghot_labdev_command (guest), on a line of its own
 * @status: enum pghot_labdev_status of the last command
 * @arg: arguments of the command (guest)
 * @answer: results of the command
 * @pad0: zero, as the others
 * @pad1: to the end of the command's line
 * @pad2: alignment
 * @pad3: to the end of a line
 */
struct pghot_labdev_regs {
	__u64 magic;
	__u32 version;
	__u32 size;
	__u32 mode;
	__u32 cache_kb;
	__u32 cache_ways;
	__u32 cache_line;
	__u32 scale;
	__u32 access_ns;
	__u32 pad0[6];
	__u64 command;
	__u64 pad1[7];
	__u32 status;
	__u32 pad2;
	__u64 arg[4];
	__u64 answer[2];
	__u64 pad3;
};

/* Indices of pghot_labdev_roi.count. */
enum { PGHOT_LABDEV_USER, PGHOT_LABDEV_KERNEL, PGHOT_LABDEV_SIDES };
enum { PGHOT_LABDEV_LOAD, PGHOT_LABDEV_STORE, PGHOT_LABDEV_OPS };
enum { PGHOT_LABDEV_HIT, PGHOT_LABDEV_FAST, PGHOT_LABDEV_SLOW, PGHOT_LABDEV_SERVED };

/**
 * struct pghot_labdev_roi - what was counted in the regions of interest that are closed
 * @open: how many regions are open now
 * @regions: how many have been closed since the last reset; outermost ones
 * @wall_ns: the host's time between their begin and their end
 * @memory_ns: misses times latency (streamed ones: times transfer), over all CPUs
 * @delay_ns: what the CPUs were delayed for, with PGHOT_LABDEV_LATENCY
 * @other: accesses to what is no node's memory: devices and ROMs. Not among the counts below.
 * @count: accesses by whether user or kernel code did them, what they are, and what served them
 * @node_misses: misses served by each node
 * @node_streamed: those of them that a prefetcher would have foreseen
 * @pad: alignment
 */
struct pghot_labdev_roi {
	__u32 open;
	__u32 pad;
	__u64 regions;
	__u64 wall_ns;
	__u64 memory_ns;
	__u64 delay_ns;
	__u64 other;
	__u64 count[PGHOT_LABDEV_SIDES][PGHOT_LABDEV_OPS][PGHOT_LABDEV_SERVED];
	__u64 node_misses[PGHOT_LABDEV_MAX_NODES];
	__u64 node_streamed[PGHOT_LABDEV_MAX_NODES];
};

/**
 * struct pghot_labdev_range - guest-physical memory of one node
 * @start: first byte
 * @end: first byte after it
 * @reported: the plugin's address of the first byte
 * @node: its node
 * @slow: 1 if the node is of the slow tier
 * @latency_ns: latency of the node
 * @transfer_ps: picoseconds to transfer a line, by the node's bandwidth
 * @delay_ns: what a miss takes in all, in this emulation
 * @stream_ns: what a streamed miss takes so
 */
struct pghot_labdev_range {
	__u64 start;
	__u64 end;
	__u64 reported;
	__u32 node;
	__u32 slow;
	__u32 latency_ns;
	__u32 transfer_ps;
	__u32 delay_ns;
	__u32 stream_ns;
};

/**
 * struct pghot_labdev_ranges - the machine's memory as the plugin knows it
 * @nr: how many of @range are valid
 * @range: in the order in which they were added; none overlap
 * @pad: alignment
 */
struct pghot_labdev_ranges {
	__u32 nr;
	__u32 pad;
	struct pghot_labdev_range range[PGHOT_LABDEV_MAX_RANGES];
};

#endif
