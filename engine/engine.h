/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * engine - the parts put together for one slow node; the only header that hosts include
 *
 * The way of one access:
 *
 *   engine_record()   a report becomes heat in the hotmap        any context
 *   engine_tick()     time passes, records cool and fade         thread
 *   engine_select()   the hottest ready pages within a budget    thread
 *   (the host admits and moves them)
 *   engine_settle()   moved: forgotten; refused: kept, backing off, by reason     thread
 *
 * The engine takes no lock, allocates nothing, reads no clock and calls nobody. Calls marked
 * "thread" are serialised by the host, for one engine; engine_record() runs beside them.
 */
#ifndef PGHOT_ENGINE_ENGINE_H
#define PGHOT_ENGINE_ENGINE_H

#include "bucket.h"
#include "governor.h"
#include "hotmap.h"
#include "phi.h"
#include "port.h"
#include "quota.h"
#include "report.h"
#include "select.h"

/** struct engine - the records of one slow node, who chooses among them, and who says whether it pays */
struct engine {
	struct hotmap map;
	struct selector sel;
	struct governor gov;
};

void engine_init(struct engine *e, enum phi_layout layout, u32 window_ms, u32 threshold,
		 u64 now_ms);
void engine_route(struct engine *e, const u8 *by_nid, u32 nr_nids, u32 fallback);
u64 engine_ample_pages(u64 node_pages, u64 gib_pages);
bool engine_covers(struct engine *e, u64 pfn);
void engine_record(struct engine *e, const struct pghot_report *reports, u64 n, u32 scale,
		   u32 flags, struct hotmap_tally *tally);
u64 engine_tick(struct engine *e, u64 now_ms);
u32 engine_select(struct engine *e, struct select_target *targets, u32 nr_targets,
		  struct select_pick *picks, u32 max);
u32 engine_sample(struct engine *e, u64 *pfns, u32 max);
void engine_settle(struct engine *e, u64 pfn, u64 nr_pages, enum hotmap_settled how);
u64 engine_evidence(struct engine *e, u64 pfn, u64 nr_pages, u32 most);

#endif
