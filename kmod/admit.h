/* SPDX-License-Identifier: GPL-2.0-only */
/* admit - may this page move? */
#ifndef PGHOT_ADMIT_H
#define PGHOT_ADMIT_H

#include "engine/engine.h"
#include "pghot/counters.h"

struct folio;
struct memcg_row;
struct slow_node;

/** enum refusal - why a selected page does not move; ADMITTED: it may */
#define PGHOT_REFUSAL_ENUM(reason, settled, help) REFUSED_##reason,
enum refusal {
	PGHOT_REFUSALS(PGHOT_REFUSAL_ENUM)
	NR_REFUSALS,
	ADMITTED = NR_REFUSALS,
};
#undef PGHOT_REFUSAL_ENUM

/**
 * struct candidate - a page that may move
 * @pfn: the page
 * @target: fast node where it shall go
 * @threshold: heat at which a page is hot, in accesses
 * @exempt: the rate limit does not apply
 * @surplus: the target has tokens that nobody takes
 * @memcg: out: row of the cgroup that it is charged to, which the caller gives back; NULL only if
 *	refused
 * @folio: out, if admitted: its folio, isolated
 * @first: out, if refused: first of the pages that do not move for the same reason
 * @nr: out, if refused: how many they are
 * @cold_end: in and out: pages from @pfn up to here are of a folio just found too cold; 0: none
 */
struct candidate {
	unsigned long pfn;
	int target;
	u32 threshold;
	bool exempt;
	bool surplus;
	struct memcg_row *memcg;
	struct folio *folio;
	unsigned long first;
	unsigned int nr;
	unsigned long cold_end;
};

enum refusal admit(struct slow_node *node, struct candidate *c);
enum hotmap_settled refusal_settled(enum refusal why);
void refusal_count(enum refusal why, unsigned long pfn, unsigned long pages);

#endif
