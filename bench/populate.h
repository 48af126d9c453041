/* SPDX-License-Identifier: GPL-2.0-only */
/* populate - map memory, and let its pages come from a node of choice */
#ifndef PGHOT_BENCH_POPULATE_H
#define PGHOT_BENCH_POPULATE_H

#include <stdint.h>

/**
 * populate_map - anonymous memory without a page yet, that will have no huge ones
 * @bytes: a multiple of PAGE_BYTES
 *
 * Ends the program with status 1 if there is no room.
 */
void *populate_map(uint64_t bytes);

/**
 * populate_among - populate_on() for some pages of @mem, which @touch knows
 * @pages: of @mem
 * @count: of these; @touch is asked for pages [@first, @first + @pages) of its own order of them
 *
 * Returns how many of them there are now.
 */
uint64_t populate_among(void *mem, uint64_t pages, uint64_t count, int node, uint64_t keep_free,
			void (*touch)(void *arg, uint64_t first, uint64_t pages), void *arg);

/**
 * populate_on - touch the pages of @mem for the first time, on @node as long as it has room
 * @mem: NULL: pages of a file, whose place is the policy's of the task that brings them in, whatever
 *	maps them
 * @node: -1: where the kernel puts them, for which there is always room
 * @keep_free: bytes of the node that stay free
 * @touch: writes to pages [@first, @first + @pages) of @mem
 *
 * No memory policy is left behind. Returns how many pages there are now.
 */
uint64_t populate_on(void *mem, uint64_t pages, int node, uint64_t keep_free,
		     void (*touch)(void *arg, uint64_t first, uint64_t pages), void *arg);

#endif
