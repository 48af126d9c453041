/* SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR MIT */
/*
 * The sources of access reports: PGHOT_SOURCES(X) is X(ID, name, help) for each. The n-th source is
 * bit n of vm.pghot_enabled_sources, and PGHOT_SRC_<ID> in calls of the module's exported functions.
 *
 * PGHOT_EACH_SOURCE(F, X) is F(X, ID, name, help) for each: what a source has of its own in another
 * list, the knobs or the counters, is made from this one.
 */
#ifndef PGHOT_SOURCES_H
#define PGHOT_SOURCES_H

#define PGHOT_EACH_SOURCE(F, X)						\
	F(X, HINTFAULTS, hintfaults, "NUMA hint faults")		\
	F(X, HWHINTS, hwhints, "hardware memory profilers")		\
	F(X, PGTSCAN, pgtscan, "page-table accessed bits")		\
	F(X, CHMU, chmu, "CXL hotness monitoring units")		\
	F(X, PAGECACHE, pagecache, "unmapped page cache")		\
	F(X, EXTERNAL, external, "trackers that other modules drive")

#define PGHOT_SOURCE(X, id, name, help) X(id, name, help)
#define PGHOT_SOURCES(X) PGHOT_EACH_SOURCE(PGHOT_SOURCE, X)

#define PGHOT_SOURCE_ENUM(id, name, help) PGHOT_SRC_##id,
enum pghot_src {
	PGHOT_SOURCES(PGHOT_SOURCE_ENUM)
	PGHOT_NR_SOURCES
};
#undef PGHOT_SOURCE_ENUM

#endif
