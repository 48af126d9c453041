// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "hw/chmu_tune.h"

enum {
	/* Parts of the capacity: fewer entries are few, and far fewer next to none. */
	FEW = 8,
	NEXT_TO_NONE = 32,
	/* Outcomes in a row before a lower threshold is tried: an epoch's entries may just have been
	 * missed by one look, and be in the next. If the next lower one is known to overflow, few are
	 * fine for a while, since they are the hottest; but not if they stay where they are.
	 */
	FEW_PATIENCE = 2,
	FEW_HOTTEST_PATIENCE = 8,
	/* Outcomes in a row without an overflow, until a crowded list is not crowded any more. */
	CROWDED_PATIENCE = 16,
	/* Outcomes before a longer epoch is tried. */
	IDLE_PATIENCE = 8,
	/* Outcomes before something better than a crowded list is looked for, at first and at last. */
	HOLD_FIRST = 32,
	HOLD_LAST = 1024,
};

/**
 * chmu_tuner_init - begin to tune
 * @tuner: what to begin
 * @bounds: within which
 * @threshold: to begin with; the bounds have precedence, here and later
 * @epoch_us: likewise
 */
void chmu_tuner_init(struct chmu_tuner *tuner, const struct chmu_bounds *bounds, u32 threshold,
		     u64 epoch_us)
{
	*tuner = (struct chmu_tuner){ .bounds = *bounds, .threshold = threshold, .epoch_us = epoch_us };
	if (threshold < bounds->threshold_min)
		tuner->threshold = bounds->threshold_min;
	if (threshold > bounds->threshold_max)
		tuner->threshold = bounds->threshold_max;
	if (epoch_us < bounds->epoch_min_us)
		tuner->epoch_us = bounds->epoch_min_us;
	if (epoch_us > bounds->epoch_max_us)
		tuner->epoch_us = bounds->epoch_max_us;
}

static void set_threshold(struct chmu_tuner *t, u64 threshold)
{
	if (threshold < t->bounds.threshold_min)
		threshold = t->bounds.threshold_min;
	if (threshold > t->bounds.threshold_max)
		threshold = t->bounds.threshold_max;
	t->threshold = threshold;
}

/* What was learned holds for one epoch only. */
static bool set_epoch(struct chmu_tuner *t, u64 epoch_us)
{
	if (epoch_us < t->bounds.epoch_min_us)
		epoch_us = t->bounds.epoch_min_us;
	if (epoch_us > t->bounds.epoch_max_us)
		epoch_us = t->bounds.epoch_max_us;
	if (epoch_us == t->epoch_us)
		return false;
	t->epoch_us = epoch_us;
	t->over = 0;
	t->under = 0;
	return true;
}

/* Is there no threshold worth a try between the one that overflows and the one that is too empty? */
static bool closed(const struct chmu_tuner *t)
{
	u32 step = t->over / 8 ? t->over / 8 : 1;

	return t->over && t->under && t->under - t->over <= step;
}

static u32 middle(const struct chmu_tuner *t)
{
	return t->over + (t->under - t->over) / 2;
}

/* Half an epoch counts half as much. */
static bool shorten(struct chmu_tuner *t)
{
	if (!set_epoch(t, t->epoch_us / 2))
		return false;
	set_threshold(t, t->threshold / 2);
	return true;
}

static void settle_crowded(struct chmu_tuner *t)
{
	t->crowded = true;
	t->hold = t->hold ? t->hold * 2 : HOLD_FIRST;
	if (t->hold > HOLD_LAST)
		t->hold = HOLD_LAST;
	t->held = 0;
}

/* Too many at one threshold and too few at the next. */
static void step_back(struct chmu_tuner *t)
{
	t->threshold = t->over;
	if (!shorten(t))
		settle_crowded(t);
}

static void too_many(struct chmu_tuner *t)
{
	t->few = 0;
	t->idle = 0;
	t->over = t->threshold;
	if (t->under <= t->over)
		t->under = 0;
	if (t->crowded) {
		if (++t->held < t->hold)
			return;
		t->crowded = false;
		t->under = 0;
	}
	if (t->threshold < t->bounds.threshold_max && !t->under)
		set_threshold(t, 2ULL * t->threshold);
	else if (t->threshold < t->bounds.threshold_max)
		set_threshold(t, closed(t) ? t->under : middle(t));
	else if (!shorten(t))
		settle_crowded(t);
}

static void too_few(struct chmu_tuner *t, u32 entries)
{
	bool cliff = closed(t) && t->threshold == t->under;

	if (++t->few < (cliff && entries ? FEW_HOTTEST_PATIENCE : FEW_PATIENCE))
		return;
	t->few = 0;
	t->under = t->threshold;
	if (t->over >= t->under)
		t->over = 0;
	if (t->threshold > t->bounds.threshold_min) {
		if (!t->over)
			set_threshold(t, t->threshold / 2);
		else if (!closed(t))
			set_threshold(t, middle(t));
		else
			step_back(t);
	} else if (entries < t->bounds.capacity / NEXT_TO_NONE + 1 &&
		   ++t->idle >= IDLE_PATIENCE) {
		/* Twice the epoch brings at most twice the entries: far from too many. */
		t->idle = 0;
		set_epoch(t, t->epoch_us * 2);
	}
}

/* Did it end for good? Accesses may come in bursts. Until then, nothing was learned. */
static bool still_crowded(struct chmu_tuner *t)
{
	if (!t->crowded || ++t->few < CROWDED_PATIENCE)
		return t->crowded;
	t->crowded = false;
	t->over = 0;
	t->few = 0;
	return false;
}

static void fits(struct chmu_tuner *t)
{
	t->hold = 0;
	t->few = 0;
	t->idle = 0;
}

/**
 * chmu_tune - learn from an outcome
 * @tuner: the tuner
 * @entries: entries that came in an epoch with the tuner's settings
 * @overflow: at least one was lost
 *
 * Too many entries: the threshold is doubled at once. Too few, twice in a row: it is halved. Once a
 * threshold was too low and another one too high, those in between are tried by halves. Each step is
 * a factor, so any threshold is found within about 32 steps either way, and one that fits is kept.
 *
 * Returns true if the threshold or the epoch is another one now.
 */
bool chmu_tune(struct chmu_tuner *tuner, u32 entries, bool overflow)
{
	u32 threshold = tuner->threshold;
	u64 epoch_us = tuner->epoch_us;

	if (overflow)
		too_many(tuner);
	else if (still_crowded(tuner))
		return false;
	else if (entries < tuner->bounds.capacity / FEW + 1)
		too_few(tuner, entries);
	else
		fits(tuner);
	return tuner->threshold != threshold || tuner->epoch_us != epoch_us;
}

/** chmu_turn_init - all memory at once, of which @bits bits of the range bitmap could be parted */
void chmu_turn_init(struct chmu_turn *turn, u32 bits)
{
	*turn = (struct chmu_turn){ .bits = bits, .slices = 1 };
}

/**
 * chmu_turn_next - a slice had its turn
 * @turn: the turns
 * @entries: its entries in an epoch
 * @overflow: at least one was lost
 *
 * Returns true if that was the last of them: @turn->most and @turn->overflow are the round's
 * outcome, which chmu_turn_adapt() forgets.
 */
bool chmu_turn_next(struct chmu_turn *turn, u32 entries, bool overflow)
{
	if (entries > turn->most)
		turn->most = entries;
	turn->overflow |= overflow;
	turn->slice++;
	return turn->slice >= turn->slices;
}

/**
 * chmu_turn_adapt - begin the next round
 * @turn: the turns
 * @capacity: entries that the hotlist holds
 * @crowded: tuning does not help
 *
 * Twice as many slices while they overflow, and half as many if two of them at once fit the list for
 * sure.
 */
void chmu_turn_adapt(struct chmu_turn *turn, u32 capacity, bool crowded)
{
	if (turn->overflow && crowded)
		turn->slices = turn->slices * 2 < turn->bits ? turn->slices * 2 : turn->bits;
	else if (!turn->overflow && turn->most < capacity / 4 + 1)
		turn->slices /= 2;
	if (!turn->slices)
		turn->slices = 1;
	turn->slice = 0;
	turn->most = 0;
	turn->overflow = false;
}
