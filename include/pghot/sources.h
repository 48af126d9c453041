/* SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR MIT */
/*
 * The sources of access reports: X(ID, name, help). The n-th source is bit n of
 * vm.pghot_enabled_sources, and PGHOT_SRC_<ID> in calls of the module's exported functions.
 */
#ifndef PGHOT_SOURCES_H
#define PGHOT_SOURCES_H

#define PGHOT_SOURCES(X)						\
	X(HINTFAULTS, hintfaults, "NUMA hint faults")			\
	X(HWHINTS, hwhints, "hardware memory profilers")		\
	X(PGTSCAN, pgtscan, "page-table accessed bits")			\
	X(CHMU, chmu, "CXL hotness monitoring units")			\
	X(PAGECACHE, pagecache, "unmapped page cache")

#define PGHOT_SOURCE_ENUM(id, name, help) PGHOT_SRC_##id,
enum pghot_src {
	PGHOT_SOURCES(PGHOT_SOURCE_ENUM)
	PGHOT_NR_SOURCES
};
#undef PGHOT_SOURCE_ENUM

#endif
