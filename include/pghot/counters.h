/* SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR MIT */
/*
 * The counter list: all that /proc/pghot/stat shows, declared once.
 *
 *   PGHOT_COUNTERS(X)   X(name, help): counters, they only grow while the module is loaded
 *   PGHOT_REFUSALS(X)   X(reason, settled, help): why a selected page did not move;
 *                       each is the counter pghot_refused_<reason>
 *   PGHOT_SUMS(X)       X(name, list, help): counters of a list above, added up
 *   PGHOT_GAUGES(X)     X(name, help): values of now
 *
 * The funnel: every page that a source reports, and every page selected, is counted once more
 * where it leaves the path. Two laws hold whenever no report and no batch is under way:
 *
 *   sum of pghot_reported_<source>  =  pghot_recorded_accesses + sum of pghot_filtered_*
 *   pghot_selected                  =  pghot_moved + sum of pghot_refused_*
 *
 * and pghot_recorded_accesses is the sum of pghot_recorded_<source>. All of these are in pages.
 * A record of a page does not say who reported it, so what follows has no counters per source.
 *
 * A memory profiler has a law of its own, in samples:
 *
 *   hwhint_total_events  =  hwhint_useful_events + hwhint_dropped_events +
 *                           hwhint_cache_accesses + sum of hwhint_filtered_*
 *
 * Names and order may gain entries; readers go by name.
 */
#ifndef PGHOT_COUNTERS_H
#define PGHOT_COUNTERS_H

#include "sources.h"

/* One for each source, in the order of PGHOT_SOURCES. */
#define PGHOT_REPORTED_BY(X, id, name, help)					\
	X(pghot_reported_##name, "pages reported by source " #name ": " help)
#define PGHOT_REPORTED(X) PGHOT_EACH_SOURCE(PGHOT_REPORTED_BY, X)

#define PGHOT_RECORDED_BY(X, id, name, help)					\
	X(pghot_recorded_##name, "of these, pages whose access was recorded")
#define PGHOT_RECORDED(X) PGHOT_EACH_SOURCE(PGHOT_RECORDED_BY, X)

#define PGHOT_FILTERED(X)							\
	X(pghot_filtered_off, "reports of a source that is not enabled")	\
	X(pghot_filtered_stale, "reports older than the promotion window")	\
	X(pghot_filtered_fast, "page is on a fast node already")		\
	X(pghot_filtered_untracked, "page is in no slow memory that has a map")	\
	X(pghot_filtered_unmovable, "page is remembered as one that cannot move") \
	X(pghot_filtered_limited, "more than the source's own limit (pghot_limit_*_MBps)")

/*
 * @settled: what the engine does with the record (enum hotmap_settled without its prefix):
 * GONE forget; RETRY leave as it is; BUSY back off 1/4 window; STUCK back off a window, both doubled
 * at each further time up to two windows; WAIT back off 1/4 window each time; TRIAL half a window, without its heat; CANNOT remember for two
 * windows that the page cannot move.
 */
#define PGHOT_REFUSALS(X)							\
	X(offline, GONE, "page frame is offline or not there")			\
	X(not_slow, GONE, "page is not on this slow node")			\
	X(free, GONE, "page was freed")						\
	X(hugetlb, CANNOT, "hugetlb page")					\
	X(kernel, CANNOT, "kernel or driver page, not on an LRU list")		\
	X(unevictable, CANNOT, "unevictable, but not mlocked")			\
	X(mlocked, CANNOT, "mlocked, and such pages shall stay (pghot_mlocked)") \
	X(ksm, CANNOT, "merged by KSM: shared by all who have this content")	\
	X(lazyfree, CANNOT, "given up with MADV_FREE")				\
	X(optout, CANNOT, "of a process that opted out (/proc/pghot/optout)")	\
	X(memcg_optout, CANNOT, "of a cgroup that opted out (/proc/pghot/memcg)") \
	X(memcg_budget, WAIT, "the budget of its cgroup, or of one above, is used up")	\
	X(memcg_share, WAIT, "its cgroup had its share of the rate limit, and others want theirs") \
	X(policy, STUCK, "a memory policy excludes the target")			\
	X(cpuset, STUCK, "the owner's cpuset excludes the target")		\
	X(shared, STUCK, "mapped more often than pghot_max_mappers")		\
	X(pinned, STUCK, "may be pinned for DMA")				\
	X(referenced, BUSY, "somebody holds a reference, as vmsplice does")	\
	X(partly_mapped, STUCK, "large folio that is partly unmapped: moving would split it") \
	X(cold_huge, BUSY, "large folio, and too few of its pages are hot")	\
	X(writeback, BUSY, "being written back")				\
	X(dirty, BUSY, "dirty file page")					\
	X(not_lru, BUSY, "not on its LRU list at the moment")			\
	X(trial, TRIAL, "kept for half a window, to see whether it stays hot")		\
	X(busy, BUSY, "migration failed: locked or extra references")		\
	X(fragmented, BUSY, "no free range of a large folio's size on the target")	\
	X(target_full, RETRY, "no free page on the target node")		\
	X(wrong_node, MOVED, "moved, but to another node than the target")

/* useful = dram + extmem + those whose memory the profiler did not tell */
#define PGHOT_HWHINT(X)								\
	X(hwhint_total_events, "samples that memory profilers took")		\
	X(hwhint_useful_events, "of these, reported as accesses of memory")	\
	X(hwhint_dropped_events, "samples that found a ring full")	\
	X(hwhint_cache_accesses, "samples that a cache served: not reported")	\
	X(hwhint_filtered_kernel, "samples of kernel code: not reported")	\
	X(hwhint_filtered_no_address, "samples without a data address")		\
	X(hwhint_filtered_latency, "samples faster than hwhints_latency_min")	\
	X(hwhint_filtered_garbage, "samples of no memory, or that make no sense")	\
	X(hwhint_dram_accesses, "useful samples that plain memory served")	\
	X(hwhint_extmem_accesses, "useful samples that CXL or persistent memory served")	\
	X(hwhint_resyncs, "rings emptied because their indices made no sense")	\
	X(hwhint_throttled, "times that the kernel throttled a profiler")

#define PGHOT_CHMU(X)								\
	X(chmu_entries, "hotlist entries read")					\
	X(chmu_filtered_address, "entries whose address is no host memory")	\
	X(chmu_overflows, "times that hotlists lost at least one entry")	\
	X(chmu_resyncs, "units started again: hotlist made no sense, or counting had stopped") \
	X(chmu_timeouts, "enabling, disabling or resetting a unit took too long") \
	X(chmu_tunings, "changes of a threshold or an epoch by itself")

/* young = pghot_reported_pgtscan + sum of pgtscan_filtered_* */
#define PGHOT_PGTSCAN(X)							\
	X(pgtscan_rounds, "rounds begun, one an interval")			\
	X(pgtscan_rounds_late, "rounds that ended with processes left over: too little time") \
	X(pgtscan_passes, "passes over the memory of one process")		\
	X(pgtscan_lock_busy, "processes put off to the next round: mmap_lock was taken") \
	X(pgtscan_pages, "present pages looked at")				\
	X(pgtscan_young, "pages of slow nodes found accessed")			\
	X(pgtscan_filtered_first, "of these, in a first pass: when is not known") \
	X(pgtscan_filtered_once, "of these, huge and not accessed before the last pass")

#define PGHOT_COUNTERS(X)							\
	PGHOT_REPORTED(X)							\
	PGHOT_FILTERED(X)							\
	PGHOT_RECORDED(X)							\
	X(pghot_malformed_reports, "reports refused with EINVAL (reports, not pages)")	\
	X(pghot_selected, "pages taken up for promotion")			\
	X(pghot_moved, "pages moved to their target node")			\
	X(pghot_candidates, "selected pages that the rate limit applied to")	\
	X(pghot_candidates_nrl, "selected pages that it did not apply to")	\
	X(pghot_passes, "passes of all kmigrated threads")			\
	X(pghot_passes_rate_limited, "passes that left ready pages: rate limit")	\
	X(pghot_passes_target_full, "passes that left ready pages: target full")	\
	X(pghot_batches, "calls of migrate_pages")				\
	X(pghot_batch_us, "time spent in them, in microseconds")		\
	X(pghot_admit_us, "time spent on whether pages may move, in microseconds")	\
	X(pghot_reclaim_wakes, "times reclaim was woken on a full target")	\
	X(pghot_passes_resting, "passes that left ready pages: the governor rests")	\
	X(pghot_arrived, "pages that came from fast nodes: demoted, as a rule")	\
	X(pghot_governor_opens, "times that a governor found no page driven out")	\
	X(pghot_governor_resumes, "times that it found that promotion pays")	\
	X(pghot_governor_rests, "times that it found that promotion does not pay")	\
	X(pghot_governor_probes, "times that it let some pages move to see")	\
	X(pghot_memcg_rows_missed, "times that a cgroup got no row: too many, or no memory")	\
	X(pghot_sections_added, "sections of 128 MiB that got a map")		\
	X(pghot_sections_removed, "sections whose map was freed")		\
	X(pghot_sections_nomem, "sections left without a map: out of memory")	\
	PGHOT_HWHINT(X)								\
	PGHOT_CHMU(X)								\
	PGHOT_PGTSCAN(X)

#define PGHOT_SUMS(X)								\
	X(pghot_recorded_accesses, PGHOT_RECORDED, "pages whose access was recorded")

#define PGHOT_GAUGES(X)								\
	X(pghot_slow_nodes, "slow nodes being watched")				\
	X(pghot_tracked_pages, "pages that have a record")			\
	X(pghot_hotmap_bytes, "memory of all maps")				\
	X(pghot_ready_pages, "pages that were ready at the last pass")		\
	X(pghot_resting_nodes, "slow nodes whose governor rests")		\
	X(pghot_sparing_nodes, "slow nodes whose governor lets only hot pages move, not warm ones")	\
	X(pghot_tested_candidates, "ready pages that were kept for half a window, to see") \
	X(pghot_tested_candidates_heat, "accesses that were recorded of these meanwhile") \
	X(pghot_tested_victims, "pages that came from fast nodes, likewise")	\
	X(pghot_tested_victims_heat, "accesses that were recorded of these meanwhile") \
	X(pghot_batch_us_max, "longest call of migrate_pages, in microseconds")

#endif
