/* SPDX-License-Identifier: GPL-2.0-only */
/* Tracepoints pghot:* ; their fields are documented in docs/abi.md */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM pghot

#if !defined(PGHOT_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define PGHOT_TRACE_H

#include <linux/tracepoint.h>

#include "engine/governor.h"
#include "engine/report.h"

/* A well-formed report came in, whether its source is enabled or not. */
TRACE_EVENT(pghot_record,
	TP_PROTO(const struct pghot_report *report, int src, unsigned int flags),
	TP_ARGS(report, src, flags),
	TP_STRUCT__entry(
		__field(u64, pfn)
		__field(u32, nr_pages)
		__field(s32, nid)
		__field(u32, weight)
		__field(int, src)
		__field(unsigned int, flags)
	),
	TP_fast_assign(
		__entry->pfn = report->pfn;
		__entry->nr_pages = report->nr_pages;
		__entry->nid = report->nid;
		__entry->weight = report->weight;
		__entry->src = src;
		__entry->flags = flags;
	),
	TP_printk("pfn=0x%llx nr_pages=%u nid=%d weight=%u src=%d flags=0x%x", __entry->pfn,
		  __entry->nr_pages, __entry->nid, __entry->weight, __entry->src, __entry->flags)
);

/* A batch is over. */
TRACE_EVENT(pghot_batch,
	TP_PROTO(int nid, int target, unsigned int selected, unsigned int moved, u64 us),
	TP_ARGS(nid, target, selected, moved, us),
	TP_STRUCT__entry(
		__field(int, nid)
		__field(int, target)
		__field(unsigned int, selected)
		__field(unsigned int, moved)
		__field(u64, us)
	),
	TP_fast_assign(
		__entry->nid = nid;
		__entry->target = target;
		__entry->selected = selected;
		__entry->moved = moved;
		__entry->us = us;
	),
	TP_printk("nid=%d target=%d selected=%u moved=%u us=%llu", __entry->nid, __entry->target,
		  __entry->selected, __entry->moved, __entry->us)
);

/* Selected pages did not move. */
TRACE_EVENT(pghot_refusal,
	TP_PROTO(unsigned long pfn, unsigned long nr_pages, const char *reason),
	TP_ARGS(pfn, nr_pages, reason),
	TP_STRUCT__entry(
		__field(unsigned long, pfn)
		__field(unsigned long, nr_pages)
		__string(reason, reason)
	),
	TP_fast_assign(
		__entry->pfn = pfn;
		__entry->nr_pages = nr_pages;
		__assign_str(reason);
	),
	TP_printk("pfn=0x%lx nr_pages=%lu reason=%s", __entry->pfn, __entry->nr_pages,
		  __get_str(reason))
);

/* A governor's state is another one. */
TRACE_EVENT(pghot_governor,
	TP_PROTO(int nid, const struct governor *gov),
	TP_ARGS(nid, gov),
	TP_STRUCT__entry(
		__field(int, nid)
		__field(int, state)
		__field(bool, spares)
		__field(u64, candidates)
		__field(u64, candidates_heat)
		__field(u64, victims)
		__field(u64, victims_heat)
		__field(u64, moved)
		__field(u64, arrived)
	),
	TP_fast_assign(
		__entry->nid = nid;
		__entry->state = gov->state;
		__entry->spares = gov->warm_rests;
		__entry->candidates = gov->candidates.results;
		__entry->candidates_heat = gov->candidates.heat;
		__entry->victims = gov->victims.results;
		__entry->victims_heat = gov->victims.heat;
		__entry->moved = gov->moved;
		__entry->arrived = gov->arrived;
	),
	TP_printk("nid=%d state=%s spares=%d candidates=%llu candidates_heat=%llu victims=%llu victims_heat=%llu moved=%llu arrived=%llu",
		  __entry->nid,
		  __print_symbolic(__entry->state, { GOVERNOR_OPEN, "open" },
				   { GOVERNOR_PAYS, "pays" }, { GOVERNOR_RESTS, "rests" },
				   { GOVERNOR_PROBES, "probes" }), __entry->spares,
		  __entry->candidates, __entry->candidates_heat, __entry->victims,
		  __entry->victims_heat, __entry->moved, __entry->arrived)
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
