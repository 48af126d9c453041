/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * pgtscan - what the scanner of page tables knows of a process's memory, and a walk over some of it
 *
 * source_pgtscan.c has the thread and decides whose turn it is; pgtscan_walk.c looks at page
 * tables.
 */
#ifndef PGHOT_PGTSCAN_H
#define PGHOT_PGTSCAN_H

#include <linux/list.h>
#include <linux/xarray.h>

#include "pghot.h"

struct mm_struct;

/**
 * struct pgtscan_mm - the memory of a process, or of several that share it
 * @mm: counted by mmgrab(), so that its address is nobody else's meanwhile
 * @hash: in the table of all
 * @turn: in the list of those due, or of those done, in this round
 * @address: where the walk goes on
 * @begun_ms: when this pass over the memory began
 * @nid: node on which a thread of it was seen last
 * @flags: of the reports of this pass
 * @misses: times in this round that mmap_lock was not to be had
 * @cleared: bits were cleared in this pass
 * @primed: the whole memory has been passed over, so that a bit set now was set since
 * @huge: addresses (in huge pages) of huge mappings found young in the pass before, and in this one
 * @now: which of @huge is that of this pass
 * @pass: passes begun before this one
 * @arrived: pages that had come from fast nodes, of all processes, when this pass began
 * @fast: page tables, by address in huge pages, that had no page of a slow node: the pass at which to
 *	look at them again
 */
struct pgtscan_mm {
	struct mm_struct *mm;
	struct hlist_node hash;
	struct list_head turn;
	unsigned long address;
	u64 begun_ms;
	int nid;
	unsigned int flags;
	unsigned int misses;
	bool cleared;
	bool primed;
	struct xarray huge[2];
	unsigned int now;
	unsigned long pass;
	unsigned long arrived;
	struct xarray fast;
};

/* A page table has 512 entries; the buffer takes those of several. */
enum { PGTSCAN_REPORTS = 2048 };

/** struct pgtscan_buffer - reports on their way, all of the same flags */
struct pgtscan_buffer {
	unsigned int n;
	struct pghot_report reports[PGTSCAN_REPORTS];
};

enum pgtscan_result {
	PGTSCAN_MORE,	/* there is more to look at */
	PGTSCAN_END,	/* that was the last of its memory */
	PGTSCAN_ENDED,	/* nobody uses it any more */
	PGTSCAN_BUSY,	/* mmap_lock was not to be had, nothing was looked at */
};

enum pgtscan_result pgtscan_walk(struct pgtscan_mm *m, struct pgtscan_buffer *buffer);
void pgtscan_flush(struct pgtscan_mm *m);

#endif
