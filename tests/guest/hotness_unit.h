/* SPDX-License-Identifier: GPL-2.0-only */
/* hotness_unit - a hotness unit as its tests use it, and what they have done to its memory */
#ifndef HOTNESS_UNIT_H
#define HOTNESS_UNIT_H

#include <stdbool.h>

#include "hotness.h"
#include "pghot/chmu.h"

#define EPOCH_MS	300
#define QUIET_BYTES	(2ULL << 20)

extern uint64_t base;			/* of the register block, in the bar */
extern unsigned int entries, width;	/* of the hotlist, and the bits of a count */

/* What the hotlist had since enable(). */
struct entry { uint64_t number, count; };
extern struct entry list[];
extern unsigned int nr_list;

/* What a unit shall do, in the fields of CFG0..CFG2; @flags: more bits of CFG0. */
struct config {
	uint64_t count, threshold, shift, down, mode, scale, mult, random, fill, flags;
};

/* All accesses, by page, each epoch. */
extern const struct config usual;

void find_unit(int slow);

/* 2 MiB of the node, of one huge page, in a range where nobody else accesses anything. */
char *quiet_memory(int slow);

/* Registers of the instance. */
uint64_t get(unsigned int at);
uint64_t get64(uint64_t at);		/* of the block */
unsigned int get16(unsigned int at);
unsigned int put(unsigned int at, uint64_t value);
void put_head(unsigned int head);
struct pghot_labdev_chmu_truth truth(void);

enum { OVERFLOW_BIT = 40, FILL_BIT = 41 };
bool flag(unsigned int bit);		/* of STATUS */

uint64_t cfg0(const struct config *c);

/* All words of the bitmap. */
void ranges(uint64_t word);

/* Only the range of quiet_memory(). */
void only_ours(void);

/* Wait until no operation is under way. Is it enabled then? */
bool settle(void);

/* Begin afresh, with an empty hotlist and nothing touched. Is it enabled? */
bool enable(const struct config *c);
void disable(void);

/* Miss the first @lines of a page once. Other accesses cannot make it more. */
void touch(char *page, unsigned int lines, bool store);

/* Take the hotlist's entries out. */
void drain(void);

/* Until the epoch is over, with its entries. */
void wait_epoch(void);

/* All that @work does is in one epoch, which is over, and the unit disabled. */
void in_one_epoch(const struct config *c, void (*work)(char *mem), char *mem);

/* How many entries say this of the unit of memory of @at? */
unsigned int found(const volatile void *at, unsigned int shift, uint64_t count);

/* The list has what was touched @threshold times or more, by units of memory, and nothing else. */
void compare(unsigned int shift, uint64_t threshold, const char *name);

#endif
