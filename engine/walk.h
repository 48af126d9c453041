/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* walk - going through the records of a section, for the sweep and the selector */
#ifndef PGHOT_ENGINE_WALK_H
#define PGHOT_ENGINE_WALK_H

#include "hotmap.h"
#include "port.h"

static inline u32 walk_first_bit(u64 word)
{
	return (u32)__builtin_ctzll(word);
}

static inline u32 walk_load(enum phi_layout layout, struct hotmap_section *s, u64 pfn)
{
	u64 at = pfn % HOTMAP_SECTION_PAGES;

	if (layout == PHI_BYTE)
		return port_load((u8 *)s->records + at);
	return port_load((u32 *)s->records + at);
}

/* Replace a record that is still *raw. If it is not, *raw becomes what it is, and false. */
static inline bool walk_replace(enum phi_layout layout, struct hotmap_section *s, u64 pfn, u32 *raw,
				u32 new)
{
	u64 at = pfn % HOTMAP_SECTION_PAGES;
	u8 old = (u8)*raw;
	bool done;

	if (layout != PHI_BYTE)
		return port_cmpxchg((u32 *)s->records + at, raw, new);
	done = port_cmpxchg((u8 *)s->records + at, &old, (u8)new);
	*raw = old;
	return done;
}

/**
 * walk_next - find the next record that is not zero
 * @layout: of the map
 * @s: section
 * @at: in: where to begin, out: the record's page; both counted from the section's first page
 * @end: where to stop
 * @raw: the record
 *
 * Zero records are skipped eight bytes at a time: areas are mostly empty.
 */
static inline bool walk_next(enum phi_layout layout, struct hotmap_section *s, u64 *at, u64 end,
			     u32 *raw)
{
	u64 step = sizeof(u64) / hotmap_record_bytes(layout);

	while (*at < end) {
		if (*at % step == 0 && end - *at >= step &&
		    !port_load((u64_alias *)s->records + *at / step)) {
			*at += step;
			continue;
		}
		*raw = walk_load(layout, s, *at);
		if (*raw)
			return true;
		(*at)++;
	}
	return false;
}

#endif
