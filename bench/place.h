/* SPDX-License-Identifier: GPL-2.0-only */
/* place - where the memory of a workload starts, and how much of what is hot is fast */
#ifndef PGHOT_BENCH_PLACE_H
#define PGHOT_BENCH_PLACE_H

#include <stdint.h>

#include "nodes.h"

enum place_start {
	PLACE_DEFAULT,	/* as the scenario says; place_map() never sees it */
	PLACE_SPILL,	/* where the kernel puts it: what comes first is fast, as long as there is room */
	PLACE_SLOW,	/* on the slow node */
	PLACE_IDEAL,	/* what is hot on the fast nodes, what is cold on what they have left */
};

enum place_heat { PLACE_HOT, PLACE_COLD };

/**
 * struct place - all memory of a workload; those that have no hot set say that all of it is hot
 * @fast: the fast nodes
 * @slow: the slow one
 * @start: where memory starts
 * @hot_bytes: PLACE_IDEAL: hot memory that is still to be mapped, which cold memory leaves room for;
 *	set it before the first place_map(). It may include cold memory that is warmer than what is
 *	mapped first, and then be set anew before that is.
 * @hot: the hot memory
 * @nr_hot: pieces of it
 * @max_hot: pieces that there is room for
 */
struct place {
	const struct node_list *fast;
	int slow;
	enum place_start start;
	uint64_t hot_bytes;
	struct place_piece {
		void *mem;
		uint64_t pages;
		const uint32_t *order;	/* the numbers of these pages; NULL: 0, 1, 2 and so on */
	} *hot;
	unsigned int nr_hot, max_hot;
};

/**
 * place_need - end the program with status 1 unless all nodes together have room for @bytes
 * @what: what needs them, for the complaint; the user can choose it smaller
 */
void place_need(const struct place *place, uint64_t bytes, const char *what);

/**
 * place_map - memory that is all zero, and all of it there
 * @bytes: rounded up to whole pages
 *
 * Ends the program with status 1 if there is no room.
 */
void *place_map(struct place *place, uint64_t bytes, enum place_heat heat);

/**
 * place_map_ranked - place_map() where hot pages lie among cold ones
 * @order: the number of each page, the hottest first; stays the caller's, who keeps it
 * @hot: so many of the first of these are hot, the others cold
 *
 * PLACE_IDEAL: the hottest are fast, as many as there is room for. Otherwise memory is filled from its
 * beginning on, whatever is hot of it.
 */
void *place_map_ranked(struct place *place, uint64_t bytes, const uint32_t *order, uint64_t hot);

/**
 * place_file - pages of a file, which start where place_map()'s would
 * @mem: where they are mapped when place_hot_fast() looks
 * @write: brings pages [@first, @first + @pages) of them into the page cache
 *
 * Ends the program with status 1 if there is no room.
 */
void place_file(struct place *place, void *mem, uint64_t pages, enum place_heat heat,
		void (*write)(void *arg, uint64_t first, uint64_t pages), void *arg);

/** place_hot_pages - how many pages are hot */
uint64_t place_hot_pages(const struct place *place);

/** place_hot_fast - how many of them are fast now; moves and touches nothing */
uint64_t place_hot_fast(const struct place *place);

#endif
