/* SPDX-License-Identifier: GPL-2.0-only */
/* mover - one batch: admit, migrate, see where the pages landed, settle */
#ifndef PGHOT_MOVER_H
#define PGHOT_MOVER_H

#include "engine/engine.h"

struct batch;
struct slow_node;

enum { BATCH_MAX = 4096 }; /* picks in one batch */

/**
 * struct batch_result
 * @selected: pages taken up: large folios count with all their pages
 * @moved: pages that are on the target now
 * @us: time that migrate_pages() took, in microseconds
 * @full: the target had no page for one of them
 */
struct batch_result {
	unsigned int selected;
	unsigned int moved;
	u64 us;
	bool full;
};

struct batch *batch_alloc(void);
void batch_free(struct batch *batch);
void batch_move(struct slow_node *node, int target, struct select_pick *picks, unsigned int n,
		bool take_all, struct batch_result *res);

#endif
