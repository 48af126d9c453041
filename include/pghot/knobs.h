/* SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR MIT */
/*
 * The knobs, /proc/sys/vm/pghot_<name>: X(name, default, min, max, unit, help).
 *
 * A write that is not one decimal or 0x-number within [min, max] is refused with EINVAL and changes
 * nothing; some knobs ask more, as their help says.
 */
#ifndef PGHOT_KNOBS_H
#define PGHOT_KNOBS_H

#include "sources.h"

/* Two for each source, both in the order of PGHOT_SOURCES. */
#define PGHOT_KNOB_WEIGHT(X, id, name, help)					\
	X(weight_##name, 1, 1, 6, "accesses",					\
	  "accesses that one reported access of source " #name " counts for")
#define PGHOT_KNOB_LIMIT(X, id, name, help)					\
	X(limit_##name##_MBps, 0, 0, 1048576, "MiB/s",				\
	  "slow pages reported by source " #name " that are recorded; 0: no limit")

#define PGHOT_KNOBS(X)								\
	X(enabled_sources, 0, 0, (1 << PGHOT_NR_SOURCES) - 1, "bits",		\
	  "sources that may report; 0 is off: no memory, no hooks. "		\
	  "A bit whose source this module does not have is refused")		\
	X(target_nid, -1, -1, 1023, "node",					\
	  "where pages go; -1: the nearest fast node. Must be a fast node")	\
	X(freq_threshold, 2, 1, 6, "accesses",					\
	  "accesses within the window that make a page hot")			\
	X(promote_freq_window_ms, 3000, 100, 600000, "ms",			\
	  "the window; a page not accessed for longer is not promoted")		\
	X(promote_rate_limit_MBps, 65536, 0, 1048576, "MiB/s",			\
	  "pages that may move to one target node; 0: none")			\
	PGHOT_EACH_SOURCE(PGHOT_KNOB_WEIGHT, X)					\
	PGHOT_EACH_SOURCE(PGHOT_KNOB_LIMIT, X)					\
	X(kmigrated_sleep_ms, 100, 1, 10000, "ms",				\
	  "least time between two passes that new reports ask for")		\
	X(kmigrated_batch_nr, 512, 1, 4096, "pages",				\
	  "most pages in one batch")						\
	X(governor, 1, 0, 1, "flag",						\
	  "1: promotion to a full target rests while it does not pay")		\
	X(max_mappers, 64, 1, 1024, "mappings",					\
	  "a page that is mapped more often stays")				\
	X(mlocked, 2, 0, 2, "enum",						\
	  "mlocked pages: 0 stay, 1 may move, 2 as vm.compact_unevictable_allowed says") \
	X(huge_hot_percent, 10, 0, 100, "percent",				\
	  "share of a large folio's pages that must be hot for all of it to move; 0: one page") \
	X(split_huge, 0, 0, 1, "flag",						\
	  "1: split a large anonymous folio that cannot move whole")		\
	X(hwhints_period, 10000, 5000, 134217727, "operations",			\
	  "a memory profiler looks at one of so many operations")		\
	X(hwhints_period_max, 80000, 5000, 134217727, "operations",		\
	  "the period is lengthened up to this while few samples are of slow memory")	\
	X(hwhints_l3miss_only, 1, 0, 1, "flag",					\
	  "1: and takes it only if it missed the last cache")			\
	X(hwhints_user_only, 1, 0, 1, "flag",					\
	  "1: and only if user code did it")					\
	X(hwhints_latency_min, 0, 0, 2048, "cycles",				\
	  "and only if it took so long; a multiple of 128, 0: any")		\
	X(chmu_unit_bytes, 0, 0, 1 << 27, "bytes",				\
	  "memory of one counter, a power of two that the unit has and at most what a report may " \
	  "cover; 0: what is next to a page")					\
	X(chmu_threshold, 0, 0, 2147483647, "accesses",				\
	  "accesses in an epoch that put memory on the hotlist; 0: as fits the hotlist") \
	X(chmu_epoch_us, 0, 0, 2147483647, "us",				\
	  "epoch of the counters, rounded to what the unit has; 0: as fits the window") \
	X(chmu_always_on, 0, 0, 1, "flag",					\
	  "1: an entry as soon as a counter passes the threshold; 0: at the end of an epoch") \
	X(chmu_ready, 0, 0, 1, "flag",						\
	  "1: always-on entries are promoted without more evidence")		\
	X(chmu_count, 1, 1, 6, "enum chmu_count",				\
	  "what is counted: 1 reads, 2 writes, 3 both; 4..6: those of trusted environments, too") \
	X(chmu_downsampling, 0, 0, 15, "log2",					\
	  "one access of 2^n is counted")					\
	X(pgtscan_interval_ms, 1000, 10, 600000, "ms",				\
	  "a pass over each process's page tables begins so often")		\
	X(pgtscan_cpu_percent, 5, 1, 100, "percent of a CPU",			\
	  "most time spent on it")						\
	X(pgtscan_flush, 1, 0, 1, "flag",					\
	  "1: flush a process's TLB entries once a pass, so that all later accesses show")

#endif
