/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * chmu_tune - find the threshold and the epoch that fit a unit's hotlist
 *
 * A hotlist that overflows has lost entries, mostly of the same addresses each time; one that is almost
 * empty tells only the very hottest. In between are thresholds that fit, unless the heat is so even
 * that the list is too full at one threshold and empty at the next. Then a shorter epoch touches less
 * memory; and if that does not help either, an overflowing list is better than an empty one, but the
 * parts of the memory must take turns, so that each of them is heard.
 *
 * All of it is pure arithmetic on what the last epochs brought.
 */
#ifndef PGHOT_HW_CHMU_TUNE_H
#define PGHOT_HW_CHMU_TUNE_H

#include "engine/port.h"

/**
 * struct chmu_bounds - within which to tune; equal bounds: a fixed value
 * @threshold_min: accesses
 * @threshold_max: accesses
 * @epoch_min_us: microseconds
 * @epoch_max_us: microseconds
 * @capacity: entries that the hotlist holds
 */
struct chmu_bounds {
	u32 threshold_min;
	u32 threshold_max;
	u64 epoch_min_us;
	u64 epoch_max_us;
	u32 capacity;
};

/**
 * struct chmu_tuner - what was learned
 * @bounds: from chmu_tuner_init()
 * @threshold: to be used from now on
 * @epoch_us: likewise
 * @over: highest threshold that is known to overflow with this epoch; 0: none
 * @under: lowest threshold above it known to leave the list almost empty; 0: none
 * @few: outcomes in a row with too few entries, or if it was crowded, without an overflow
 * @idle: outcomes in a row with next to none at the lowest threshold
 * @crowded: overflows, and nothing better is known
 * @hold: outcomes to wait until something better is looked for
 * @held: outcomes waited
 */
struct chmu_tuner {
	struct chmu_bounds bounds;
	u32 threshold;
	u64 epoch_us;
	u32 over;
	u32 under;
	u32 few;
	u32 idle;
	bool crowded;
	u32 hold;
	u32 held;
};

void chmu_tuner_init(struct chmu_tuner *tuner, const struct chmu_bounds *bounds, u32 threshold,
		     u64 epoch_us);
bool chmu_tune(struct chmu_tuner *tuner, u32 entries, bool overflow);

/**
 * struct chmu_turn - parts of the memory that take turns on the hotlist
 * @bits: how many parts there can be: bits of the range bitmap
 * @slices: how many there are now
 * @slice: whose turn it is
 * @most: of the slices that had their turn, most entries
 * @overflow: one of them overflowed
 */
struct chmu_turn {
	u32 bits;
	u32 slices;
	u32 slice;
	u32 most;
	bool overflow;
};

void chmu_turn_init(struct chmu_turn *turn, u32 bits);
bool chmu_turn_next(struct chmu_turn *turn, u32 entries, bool overflow);
void chmu_turn_adapt(struct chmu_turn *turn, u32 capacity, bool crowded);

#endif
