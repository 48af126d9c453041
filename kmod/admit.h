/* SPDX-License-Identifier: GPL-2.0-only */
/* admit - may this page move? */
#ifndef PGHOT_ADMIT_H
#define PGHOT_ADMIT_H

#include "engine/engine.h"
#include "pghot/counters.h"

struct folio;

/** enum refusal - why a selected page does not move; ADMITTED: it may */
#define PGHOT_REFUSAL_ENUM(reason, settled, help) REFUSED_##reason,
enum refusal {
	PGHOT_REFUSALS(PGHOT_REFUSAL_ENUM)
	NR_REFUSALS,
	ADMITTED = NR_REFUSALS,
};
#undef PGHOT_REFUSAL_ENUM

enum refusal admit(unsigned long pfn, int nid, struct folio **foliop);
enum hotmap_settled refusal_settled(enum refusal why);
void refusal_count(enum refusal why, unsigned long pfn, unsigned long pages);

#endif
