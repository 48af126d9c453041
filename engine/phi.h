/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * phi - page hotness information: the record of one page
 *
 * A record is one word of 8 or 32 bits, changed by compare-and-exchange only. Zero means that
 * nothing is known of the page. Time is counted in epochs; an epoch is a quarter of the promotion
 * window, and a record keeps the epoch modulo PHI_EPOCHS. That is unambiguous because the sweep
 * (hotmap.h) visits every record before its age could wrap.
 *
 *                bits      byte   precise
 *   stamp                  3:0    3:0       epoch of the last access; if held: of the release
 *   heat                   6:4    17:5      weight of the accesses seen, cooled, saturating
 *   held                   7      4         backing off after a refusal
 *   nid + 1                -      28:18     node of the last accessor, 0: unknown
 *
 * Cooling is lazy: it is worked out from the age when a record is looked at, and written back only
 * with the next access. With r accesses a window, heat settles near 2r:
 *   - at each window boundary (every PHI_WINDOW_EPOCHS epochs) the heat halves,
 *   - but while the page was accessed within the last window, never below what it needs to pass
 *     the frequency threshold: evidence that suffices does not fade before it may be acted upon,
 *   - and after PHI_DEAD_EPOCHS without an access the page is forgotten.
 * The highest heat, phi_top(), is no count: it marks a page whose source waived the rate limit.
 *
 * A held record is not ready until its release epoch, whatever is reported meanwhile (the weight
 * is still added). With heat 0 it is a negative memory: the page cannot move, so reports about it
 * are turned away until the release.
 */
#ifndef PGHOT_ENGINE_PHI_H
#define PGHOT_ENGINE_PHI_H

#include "port.h"
#include "report.h"

/** enum phi_layout - how a record is laid out; chosen once, for all records of a map */
enum phi_layout {
	PHI_BYTE,	/* 1 byte a page */
	PHI_PRECISE,	/* 4 bytes a page: wider heat, and the accessor's node */
};

enum {
	PHI_EPOCHS = 16,	/* stamps count modulo this */
	PHI_WINDOW_EPOCHS = 4,	/* epochs in one promotion window */
	PHI_DEAD_EPOCHS = 12,	/* a record of this age is forgotten */
	PHI_HOLD_MAX_EPOCHS = 8, /* the longest hold */
	PHI_MAX_NID = 2046,	/* the largest node number that PHI_PRECISE can keep */
	PHI_MAX_THRESHOLD = 6,	/* the highest frequency threshold that both layouts can count */
};

/**
 * struct phi_clock - what is needed to judge a record
 * @epoch: the current epoch, not reduced
 * @threshold: heat that a page needs to be promoted, 1..PHI_MAX_THRESHOLD
 */
struct phi_clock {
	u32 epoch;
	u32 threshold;
};

/**
 * struct phi - a record, unpacked and judged at one moment
 * @heat: cooled heat, 0..phi_top(); 0 and not held: nothing is known
 * @raw_heat: heat without cooling (0 once the page is forgotten)
 * @age: epochs since the last access, 0..PHI_DEAD_EPOCHS - 1; 0 while held
 * @hold: epochs until the release, 1..PHI_HOLD_MAX_EPOCHS; 0: not held
 * @nid: node of the last accessor, -1: unknown
 */
struct phi {
	u32 heat;
	u32 raw_heat;
	u32 age;
	u32 hold;
	s32 nid;
};

/** enum phi_touched - what became of one reported page */
enum phi_touched {
	PHI_RECORDED,
	PHI_UNMOVABLE,	/* turned away: the page is remembered as one that cannot move */
};

static inline u32 phi_top(enum phi_layout layout)
{
	return layout == PHI_BYTE ? 7 : 8191;
}

/* Layout-independent fields; the two functions below are all that knows bit positions. */
struct phi_bits {
	u32 stamp;
	u32 heat;
	u32 held;
	u32 nid1;
};

static inline struct phi_bits phi_unpack(enum phi_layout layout, u32 raw)
{
	struct phi_bits b = { .stamp = raw & 15 };

	if (layout == PHI_BYTE) {
		b.heat = raw >> 4 & 7;
		b.held = raw >> 7 & 1;
	} else {
		b.held = raw >> 4 & 1;
		b.heat = raw >> 5 & 8191;
		b.nid1 = raw >> 18 & 2047;
	}
	return b;
}

static inline u32 phi_pack(enum phi_layout layout, struct phi_bits b)
{
	b.stamp &= PHI_EPOCHS - 1;
	if (layout == PHI_BYTE)
		return b.stamp | b.heat << 4 | b.held << 7;
	return b.stamp | b.held << 4 | b.heat << 5 | b.nid1 << 18;
}

/* Heat of a page last accessed @age epochs ago; the rules stand at the top of this file. */
static inline u32 phi_cool(enum phi_layout layout, u32 heat, u32 age, const struct phi_clock *clock)
{
	u32 into_window = clock->epoch % PHI_WINDOW_EPOCHS;
	u32 boundaries, halved, floor;

	if (age <= into_window)
		return heat;
	if (age <= PHI_WINDOW_EPOCHS && heat == phi_top(layout))
		return heat;
	boundaries = (age - into_window + PHI_WINDOW_EPOCHS - 1) / PHI_WINDOW_EPOCHS;
	halved = heat >> boundaries;
	if (age > PHI_WINDOW_EPOCHS)
		return halved;
	floor = heat < clock->threshold ? heat : clock->threshold;
	return halved > floor ? halved : floor;
}

/**
 * phi_look - judge a record now
 * @layout: of the map
 * @raw: the record
 * @clock: now
 *
 * A hold that has ended leaves a page that counts as accessed one window before its release: it is
 * ready once more in that epoch, and cools from there.
 */
static inline struct phi phi_look(enum phi_layout layout, u32 raw, const struct phi_clock *clock)
{
	struct phi_bits b = phi_unpack(layout, raw);
	struct phi p = { .nid = (s32)b.nid1 - 1 };
	u32 ahead;

	if (b.held) {
		ahead = (b.stamp - clock->epoch) % PHI_EPOCHS;
		if (ahead >= 1 && ahead <= PHI_HOLD_MAX_EPOCHS) {
			p.hold = ahead;
			p.heat = b.heat;
			p.raw_heat = b.heat;
			return p;
		}
		b.stamp -= PHI_WINDOW_EPOCHS;
	}
	p.age = (clock->epoch - b.stamp) % PHI_EPOCHS;
	if (p.age >= PHI_DEAD_EPOCHS) {
		p.age = 0;
		p.nid = -1;
		return p;
	}
	p.raw_heat = b.heat;
	p.heat = phi_cool(layout, b.heat, p.age, clock);
	return p;
}

/* May a page with this record go to a target that asks for @threshold? Recent, hot, not held. */
static inline bool phi_ready(const struct phi *p, u32 threshold)
{
	return !p->hold && p->heat >= threshold && p->age <= PHI_WINDOW_EPOCHS;
}

/**
 * phi_touch - add an access to a record
 * @layout: of the map
 * @raw: in: the record, out: the record to store
 * @clock: now
 * @nid: node of the accessor, -1: unknown
 * @weight: evidence in accesses, at least 1; saturates
 * @flags: PGHOT_SKIP_* and PGHOT_READY
 * @after: out: the record after the access
 */
static inline enum phi_touched phi_touch(enum phi_layout layout, u32 *raw,
					 const struct phi_clock *clock, s32 nid, u32 weight,
					 u32 flags, struct phi *after)
{
	u32 most = phi_top(layout) - 1;
	struct phi p = phi_look(layout, *raw, clock);
	u32 heat = flags & (PGHOT_SKIP_RECENCY | PGHOT_READY) ? p.raw_heat : p.heat;
	struct phi_bits b = { .stamp = clock->epoch };

	if (p.hold && !p.heat) {
		*after = p;
		return PHI_UNMOVABLE;
	}
	if (heat <= most)
		heat = weight > most - heat ? most : heat + weight;
	if (flags & (PGHOT_SKIP_FREQ | PGHOT_READY) && heat < clock->threshold)
		heat = clock->threshold;
	if (flags & PGHOT_SKIP_LIMIT && heat >= clock->threshold)
		heat = phi_top(layout);
	if (p.hold) {
		b.held = 1;
		b.stamp = clock->epoch + p.hold;
	}
	if (nid < 0 || nid > PHI_MAX_NID)
		nid = p.nid;
	b.heat = heat;
	b.nid1 = layout == PHI_PRECISE ? (u32)(nid + 1) : 0;
	*raw = phi_pack(layout, b);
	p.heat = p.raw_heat = heat;
	p.age = 0;
	p.nid = nid;
	*after = p;
	return PHI_RECORDED;
}

/**
 * phi_refuse - the record of a page that was selected and could not move
 * @layout: of the map
 * @raw: the record
 * @clock: now
 * @epochs: how long to leave the page alone, 1..PHI_HOLD_MAX_EPOCHS
 * @unmovable: remember only that the page cannot move
 *
 * The heat is kept. Only a page that nobody touched since its last release loses half at each
 * further refusal, so that an untouched page is not tried for ever.
 *
 * Returns the record to store.
 */
static inline u32 phi_refuse(enum phi_layout layout, u32 raw, const struct phi_clock *clock,
			     u32 epochs, bool unmovable)
{
	struct phi p = phi_look(layout, raw, clock);
	struct phi_bits b = { .stamp = clock->epoch + epochs, .held = 1 };

	if (!unmovable) {
		b.heat = p.age >= PHI_WINDOW_EPOCHS ? p.heat / 2 : p.heat;
		if (!b.heat)
			return 0;
		b.nid1 = layout == PHI_PRECISE ? (u32)(p.nid + 1) : 0;
	}
	return phi_pack(layout, b);
}

/**
 * phi_wait - the record of a page that was selected when it was not its turn
 * @layout: of the map
 * @raw: the record
 * @clock: now
 * @epochs: how long to leave the page alone, 1..PHI_HOLD_MAX_EPOCHS
 *
 * The page is not to blame and may have to wait time after time, so what it has is kept as if time
 * stood still for it. Only once a window it cools if nobody touched it since its last release: by
 * half, or to the threshold, and from there by one, so that an access a window keeps it hot. A hold
 * that is there already stays as it is.
 *
 * Returns the record to store.
 */
static inline u32 phi_wait(enum phi_layout layout, u32 raw, const struct phi_clock *clock,
			   u32 epochs)
{
	struct phi p = phi_look(layout, raw, clock);
	struct phi_bits b = { .stamp = clock->epoch + epochs, .heat = p.heat, .held = 1 };
	u32 floor;

	if (p.hold)
		return raw;
	if (p.age >= PHI_WINDOW_EPOCHS)
		b.heat = p.raw_heat;
	if (p.age >= PHI_WINDOW_EPOCHS && b.heat && clock->epoch % PHI_WINDOW_EPOCHS == 0) {
		floor = b.heat - 1 < clock->threshold ? b.heat - 1 : clock->threshold;
		b.heat = b.heat / 2 > floor ? b.heat / 2 : floor;
	}
	if (!b.heat)
		return 0;
	b.nid1 = layout == PHI_PRECISE ? (u32)(p.nid + 1) : 0;
	return phi_pack(layout, b);
}

/**
 * phi_trial - the record of a page that is to be watched: nothing is known of it, and it stays
 * @layout: of the map
 * @clock: now
 * @epochs: for how long, 1..PHI_HOLD_MAX_EPOCHS
 *
 * Its heat begins at 1, as held without heat means something else. What is reported meanwhile is
 * added, and when the time is over phi_look() has it all as @raw_heat.
 */
static inline u32 phi_trial(enum phi_layout layout, const struct phi_clock *clock, u32 epochs)
{
	return phi_pack(layout, (struct phi_bits){
		.stamp = clock->epoch + epochs, .heat = 1, .held = 1,
	});
}

/**
 * phi_age - the record that the sweep leaves behind
 * @layout: of the map
 * @raw: the record
 * @clock: now
 *
 * Gives back 0 for a forgotten page and turns an ended hold into a plain record, so that no stamp
 * is read more than PHI_EPOCHS epochs from the one it means.
 */
static inline u32 phi_age(enum phi_layout layout, u32 raw, const struct phi_clock *clock)
{
	struct phi p = phi_look(layout, raw, clock);
	struct phi_bits b = phi_unpack(layout, raw);

	if (p.hold)
		return raw;
	if (!p.raw_heat)
		return 0;
	if (b.held) {
		b.held = 0;
		b.stamp -= PHI_WINDOW_EPOCHS;
	}
	return phi_pack(layout, b);
}

#endif
