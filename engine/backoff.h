/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * backoff - pages that are refused again and again are tried less and less
 *
 * A record has no room for a count of refusals, so they are counted beside the records, in a small
 * table that pages share by a hash. Only refused pages are ever looked up: if many of them share a
 * slot they are held longer than each would be alone, which is what is wanted when that many are
 * refused. Thread context; the host serialises.
 */
#ifndef PGHOT_ENGINE_BACKOFF_H
#define PGHOT_ENGINE_BACKOFF_H

#include "port.h"

enum {
	BACKOFF_SLOTS = 4096,
	BACKOFF_SLOT_BITS = 12,
	BACKOFF_MAX_LEVEL = 3,		/* the hold doubles up to so many times */
	BACKOFF_LEVEL_BITS = 2,
	BACKOFF_MEMORY_EPOCHS = 16,	/* a refusal after more than this is a first one again */
};

/** struct backoff - refusals of late. A slot: the level, above it the last epoch; 0: none. */
struct backoff {
	u16 slots[BACKOFF_SLOTS];
};

static inline void backoff_init(struct backoff *b)
{
	u32 i;

	for (i = 0; i < BACKOFF_SLOTS; i++)
		b->slots[i] = 0;
}

static inline u32 backoff_slot(u64 pfn)
{
	return (u32)(pfn * 0x9e3779b97f4a7c15ull >> (64 - BACKOFF_SLOT_BITS));
}

/**
 * backoff_refused - note a refusal
 * @b: table
 * @pfn: page, or first page of a folio
 * @epoch: now
 *
 * Refusals of one epoch count as one, for pages that share the slot.
 *
 * Returns how often the usual hold is to be doubled, 0..BACKOFF_MAX_LEVEL.
 */
static inline u32 backoff_refused(struct backoff *b, u64 pfn, u32 epoch)
{
	u16 *slot = &b->slots[backoff_slot(pfn)];
	u32 level = *slot & ((1 << BACKOFF_LEVEL_BITS) - 1);
	u32 now = epoch << BACKOFF_LEVEL_BITS & 0xffff;
	u32 age = (u16)(now - (*slot - level)) >> BACKOFF_LEVEL_BITS;

	/* The epoch wraps in 14 bits; that a slot is then read as recent costs one doubling. */
	if (!*slot || age > BACKOFF_MEMORY_EPOCHS)
		level = 0;
	else if (age && level < BACKOFF_MAX_LEVEL)
		level++;
	*slot = (u16)(now | level);
	return level;
}

#endif
