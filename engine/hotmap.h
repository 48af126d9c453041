/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * hotmap - the records of one slow node, and the bits that say where to look
 *
 * Pages are grouped in sections of 128 MiB, a section in 64 areas of 2 MiB. A section has one word
 * of ready areas (one that may hold a page to promote) and one of live areas (one that may hold a
 * record); every pass follows these bits, so its cost is in proportion to hot areas and not to
 * memory. A bit may be set with nothing behind it, never the other way round: who clears it looks
 * afterwards and sets it again if it was wrong.
 *
 * Who may do what:
 *   - hotmap_record(), and hotmap_settle() with HOTMAP_GONE: any context, any number at once, no lock.
 *   - all other functions that take a map: one at a time (the host serialises them), thread
 *     context. They run beside those two.
 *   - the host gives all memory. It frees a directory or a section only after it was replaced or
 *     detached and every reader that may still see it has gone (in the kernel: after a grace
 *     period).
 *
 * Time: recorders use the map's epoch, which only hotmap_tick() advances, at most
 * HOTMAP_TICK_STEP between two full sweeps. If ticks come late, heat ages late; it never aliases.
 * While nothing is live, time stands still and no tick is needed. Settling may make a map live:
 * tick after it before going to sleep.
 */
#ifndef PGHOT_ENGINE_HOTMAP_H
#define PGHOT_ENGINE_HOTMAP_H

#include "backoff.h"
#include "phi.h"
#include "port.h"
#include "report.h"

enum {
	HOTMAP_AREA_PAGES = 512,	/* 2 MiB */
	HOTMAP_SECTION_AREAS = 64,
	HOTMAP_SECTION_PAGES = HOTMAP_AREA_PAGES * HOTMAP_SECTION_AREAS, /* 128 MiB */
	/* PHI_DEAD_EPOCHS - 1 + this < PHI_EPOCHS: the age of a record that one sweep left alone
	 * is still unambiguous in the next.
	 */
	HOTMAP_TICK_STEP = 3,
	HOTMAP_TRIAL_EPOCHS = PHI_WINDOW_EPOCHS / 2,
};

#define HOTMAP_NO_DEADLINE	(~(u64)0)

/**
 * struct hotmap_section - 128 MiB of records
 * @ready: bit n: area n may hold a page that passes the threshold
 * @live: bit n: area n may hold a record that is not zero
 * @foreign: bit n: area n is not this node's, so not covered. The host writes it at any time; what such an area
 *	has is not selected, and ages
 * @records: HOTMAP_SECTION_PAGES records of the map's layout, zeroed by the host at first
 */
struct hotmap_section {
	u64 ready;
	u64 live;
	u64 foreign;
	void *records;
};

/**
 * struct hotmap_dir - where the sections are
 * @first: number of the first section (pfn / HOTMAP_SECTION_PAGES)
 * @nr: number of entries
 * @sections: the sections, NULL where the node has no memory
 */
struct hotmap_dir {
	u64 first;
	u64 nr;
	struct hotmap_section *sections[];
};

/**
 * struct hotmap - the records of one slow node
 * @dir: the current directory, or NULL; replaced whole
 * @epoch: current epoch; hotmap_tick() writes
 * @threshold: frequency threshold, 1..PHI_MAX_THRESHOLD
 * @ready_threshold: heat at which an area is marked ready: @threshold, or 1 while a target takes
 *	every page (free-space shortcut)
 * @idle: nothing was live at the last tick, so that nobody waits for the next one
 * @layout: of all records
 * @epoch_ms: length of an epoch
 * @epoch_start_ms: when the current epoch began
 * @backoff: refusals of late; hotmap_settle() alone uses it
 */
struct hotmap {
	struct hotmap_dir *dir;
	u32 epoch;
	u32 threshold;
	u32 ready_threshold;
	u32 idle;
	enum phi_layout layout;
	u32 epoch_ms;
	u64 epoch_start_ms;
	struct backoff backoff;
};

/** enum hotmap_outcome - what became of one reported page */
enum hotmap_outcome {
	HOTMAP_RECORDED,
	HOTMAP_UNTRACKED,	/* no section covers the page */
	HOTMAP_UNMOVABLE,	/* negative memory */
	HOTMAP_NR_OUTCOMES,
};

/**
 * struct hotmap_tally - what became of the pages of one or more reports; zero it first
 * @pages: pages per outcome
 * @wake: the host's thread has something new to do
 */
struct hotmap_tally {
	u64 pages[HOTMAP_NR_OUTCOMES];
	bool wake;
};

/** enum hotmap_settled - what became of a selected page */
enum hotmap_settled {
	HOTMAP_MOVED,	/* it is elsewhere: forget */
	HOTMAP_GONE,	/* it was freed: forget */
	HOTMAP_RETRY,	/* it was not tried: leave as it is */
	/* Back off, at first for so long, doubled at each further time up to PHI_HOLD_MAX_EPOCHS: */
	HOTMAP_BUSY,	/* in use for a moment: PHI_WINDOW_EPOCHS / 4 */
	HOTMAP_STUCK,	/* held by somebody: PHI_WINDOW_EPOCHS */
	HOTMAP_WAIT,	/* it is not its turn: PHI_WINDOW_EPOCHS / 4 each time, see phi_wait() */
	HOTMAP_TRIAL,	/* it is watched for HOTMAP_TRIAL_EPOCHS, from no heat on: phi_trial() */
	HOTMAP_CANNOT,	/* of a kind that never moves: forget, and remember that for
			 * PHI_HOLD_MAX_EPOCHS
			 */
};

/** hotmap_record_bytes - size of one record of this layout, in bytes */
static inline u64 hotmap_record_bytes(enum phi_layout layout)
{
	return layout == PHI_BYTE ? 1 : 4;
}

/** hotmap_section_bytes - size of one section's records, in bytes */
static inline u64 hotmap_section_bytes(enum phi_layout layout)
{
	return HOTMAP_SECTION_PAGES * hotmap_record_bytes(layout);
}

/** hotmap_dir_bytes - size of a directory of @nr sections, in bytes */
static inline u64 hotmap_dir_bytes(u64 nr)
{
	return sizeof(struct hotmap_dir) + nr * sizeof(struct hotmap_section *);
}

/** hotmap_find - the section that covers @pfn, or NULL. A range is judged by its first page. Any context. */
static inline struct hotmap_section *hotmap_find(struct hotmap *map, u64 pfn)
{
	struct hotmap_dir *dir = port_load_acquire(&map->dir);
	struct hotmap_section *s;
	u64 at;

	if (!dir)
		return NULL;
	at = pfn / HOTMAP_SECTION_PAGES - dir->first;
	s = at < dir->nr ? port_load_acquire(&dir->sections[at]) : NULL;
	if (s && port_load(&s->foreign) >> pfn % HOTMAP_SECTION_PAGES / HOTMAP_AREA_PAGES & 1)
		return NULL;
	return s;
}

void hotmap_init(struct hotmap *map, enum phi_layout layout, u32 window_ms, u32 threshold,
		 u64 now_ms);
void hotmap_set_window(struct hotmap *map, u32 window_ms, u64 now_ms);
void hotmap_set_threshold(struct hotmap *map, u32 threshold);
void hotmap_set_take_all(struct hotmap *map, bool take_all);
struct hotmap_dir *hotmap_replace_dir(struct hotmap *map, struct hotmap_dir *dir);
struct hotmap_section *hotmap_attach(struct hotmap *map, u64 nr, struct hotmap_section *section);

void hotmap_record(struct hotmap *map, const struct pghot_report *reports, u64 n, u32 scale,
		   u32 flags, struct hotmap_tally *tally);

u64 hotmap_tick(struct hotmap *map, u64 now_ms);
void hotmap_settle(struct hotmap *map, u64 pfn, u64 nr_pages, enum hotmap_settled how);
bool hotmap_any_ready(struct hotmap *map);
struct phi hotmap_look(struct hotmap *map, u64 pfn);
u64 hotmap_evidence(struct hotmap *map, u64 pfn, u64 nr_pages, u32 most);

#endif
