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
#define PGHOT_LABDEV_VERSION		2
#define PGHOT_LABDEV_SIZE		0x400000	/* bytes of the bar */

/* Where things are, in bytes from the start of the bar. */
#define PGHOT_LABDEV_REGS		0x000000	/* struct pghot_labdev_regs */
#define PGHOT_LABDEV_ROI		0x001000	/* struct pghot_labdev_roi */
#define PGHOT_LABDEV_RANGES		0x002000	/* struct pghot_labdev_ranges */
#define PGHOT_LABDEV_CHMUS		0x003000	/* struct pghot_labdev_chmus */
#define PGHOT_LABDEV_CHMU_REGS		0x010000	/* register blocks of hotness units */
#define PGHOT_LABDEV_CHMU_REGS_STEP	0x004000	/* bytes from one to the next */
#define PGHOT_LABDEV_CHMU_HOTLIST	0x080000	/* their hotlists */
#define PGHOT_LABDEV_CHMU_HOTLIST_STEP	0x020000
#define PGHOT_LABDEV_PROF_REGS		0x100000	/* struct pghot_labdev_prof of each CPU */
#define PGHOT_LABDEV_PROF_REGS_STEP	0x001000
#define PGHOT_LABDEV_PROF_RINGS		0x200000	/* struct pghot_labdev_sample [] of each CPU */
#define PGHOT_LABDEV_PROF_RINGS_STEP	0x008000

#define PGHOT_LABDEV_MAX_CPUS		64
#define PGHOT_LABDEV_MAX_NODES		16
#define PGHOT_LABDEV_MAX_RANGES		32
#define PGHOT_LABDEV_MAX_CHMUS		4
#define PGHOT_LABDEV_MAX_SLOTS		1024		/* samples in a ring */

/* struct pghot_labdev_chmu_truth, from the start of a hotness unit's register block. */
#define PGHOT_LABDEV_CHMU_TRUTH		0x003000

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
	/*
	 * Write arg[1] to the register of arg[2] bytes (2, 4 or 8) at arg[0] of the bar: one of a
	 * hotness unit, or @control or @period of a profiler. A bit that is "write 1 to clear" is
	 * cleared by it, a write to what is read-only or reserved does nothing, as on hardware. (The
	 * plugin cannot see a store to the bar itself.) INVALID if there is no register.
	 */
	PGHOT_LABDEV_WRITE,
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

/**
 * struct pghot_labdev_chmus - hotness units (pghot/chmu.h), one for each slow node
 * @nr: how many; 0: this machine has none
 * @unit: @node: whose memory it watches; @regs: where its register block is in the bar
 * @pad: alignment
 *
 * Device addresses of a unit are its node's ranges one after the other, in the order of struct
 * pghot_labdev_ranges, from 0 on. Registers are read where they are and written with
 * PGHOT_LABDEV_WRITE.
 */
struct pghot_labdev_chmus {
	__u32 nr;
	__u32 pad;
	struct {
		__u32 node;
		__u32 regs;
	} unit[PGHOT_LABDEV_MAX_CHMUS];
};

/**
 * struct pghot_labdev_chmu_truth - what no real hotness unit tells, for tests
 * @seen: accesses of the kind and the ranges it counts, before down-sampling
 * @entries: entries that it put into the hotlist
 * @lost: entries that found the hotlist full
 * @epochs: epochs that ended
 *
 * All since power-on, brought up to date at the end of each epoch and once it is disabled.
 */
struct pghot_labdev_chmu_truth {
	__u64 seen;
	__u64 entries;
	__u64 lost;
	__u64 epochs;
};

/* pghot_labdev_prof.period: a write of anything else does nothing. */
#define PGHOT_LABDEV_PROF_PERIOD_MIN	5000U
#define PGHOT_LABDEV_PROF_PERIOD_MAX	134217727U

/* pghot_labdev_prof.control. The meanings are those of AMD's Memory Profiler. */
#define PGHOT_LABDEV_PROF_ENABLE	(1U << 0)
#define PGHOT_LABDEV_PROF_L3MISS	(1U << 1)	/* only what missed the modelled cache */
#define PGHOT_LABDEV_PROF_USER		(1U << 2)	/* only what user code did */
#define PGHOT_LABDEV_PROF_LATENCY_SHIFT	8		/* only what took as many times 128 cycles */
#define PGHOT_LABDEV_PROF_LATENCY_MASK	0x1fU		/* 0..16; 0: all */
#define PGHOT_LABDEV_PROF_LATENCY_MAX	16U		/* a write of more does nothing */
#define PGHOT_LABDEV_PROF_LATENCY_CYCLES 128U

/**
 * struct pghot_labdev_prof - the memory profiler of one CPU
 * @nr_slots: samples that its ring holds, a power of two; 0: this machine has no profiler
 * @ops: operations that an access stands for: emulated CPUs are slower than those that
 *	periods are meant for
 * @control: PGHOT_LABDEV_PROF_* (by PGHOT_LABDEV_WRITE)
 * @period: operations from one sample to the next (by PGHOT_LABDEV_WRITE)
 * @head: samples put into the ring since power-on
 * @tail: samples that the guest has taken out (guest, written in place)
 * @dropped: samples lost, because the ring was full
 * @samples: all samples since power-on: @head + @dropped
 * @pad0: zero, as the others
 * @pad1: to the end of a line of the plugin's
 * @pad2: to the end of the guest's
 *
 * Every @period operations (less up to a sixteenth, at random) one access is looked at. It becomes a
 * sample if it passes the filters.
 */
struct pghot_labdev_prof {
	__u32 nr_slots;
	__u32 ops;
	__u64 control;
	__u64 period;
	__u64 pad0[5];
	__u64 head;
	__u64 dropped;
	__u64 samples;
	__u64 pad1[5];
	__u64 tail;
	__u64 pad2[7];
};

/* pghot_labdev_sample.flags */
#define PGHOT_LABDEV_SAMPLE_LOAD	(1U << 0)
#define PGHOT_LABDEV_SAMPLE_STORE	(1U << 1)
#define PGHOT_LABDEV_SAMPLE_USER	(1U << 2)
#define PGHOT_LABDEV_SAMPLE_VADDR	(1U << 3)	/* @vaddr is valid */
#define PGHOT_LABDEV_SAMPLE_PADDR	(1U << 4)	/* @paddr is valid */
#define PGHOT_LABDEV_SAMPLE_CACHE	(1U << 5)	/* served by the modelled cache */
#define PGHOT_LABDEV_SAMPLE_DRAM	(1U << 6)	/* by a fast node */
#define PGHOT_LABDEV_SAMPLE_EXTMEM	(1U << 7)	/* by a slow one */

/**
 * struct pghot_labdev_sample - one access; sample n of a CPU is in slot n % nr_slots
 * @vaddr: virtual address
 * @paddr: guest-physical address
 * @flags: PGHOT_LABDEV_SAMPLE_*
 * @cycles: latency, cycles of a CPU of 2.5 GHz
 * @pad: to a power of two
 */
struct pghot_labdev_sample {
	__u64 vaddr;
	__u64 paddr;
	__u32 flags;
	__u32 cycles;
	__u64 pad;
};

#endif
