/* SPDX-License-Identifier: GPL-2.0-only */
/* mover - one batch: admit, migrate, see where the pages landed, settle */
#ifndef PGHOT_MOVER_H
#define PGHOT_MOVER_H

#include "engine/engine.h"

struct batch;
struct slow_node;

enum { BATCH_MAX = 4096 }; /* folios in one batch */

/**
 * struct batch_result
 * @taken: picks used up
 * @selected: pages taken up: large folios count with all their pages
 * @tried: pages of it that migrate_pages() was called for
 * @moved: pages that are on the target now
 * @waiting: pages of it that a limit of their cgroup keeps for now
 * @us: time that migrate_pages() took, in microseconds
 * @full: the target had no page for one of them, or no room for more
 * @limited: picks were left out because the rate limit allows no more
 */
struct batch_result {
	unsigned int taken;
	unsigned int selected;
	unsigned int tried;
	unsigned int moved;
	unsigned int waiting;
	u64 us;
	bool full;
	bool limited;
};

struct batch *batch_alloc(void);
void batch_free(struct batch *batch);
void batch_move(struct slow_node *node, int target, const struct select_pick *picks,
		unsigned int n, unsigned int most, bool take_all, struct batch_result *res);

#endif
