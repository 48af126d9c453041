/* SPDX-License-Identifier: GPL-2.0-only */
/* govern - what the governor of each slow node (engine/governor.h) sees and says */
#ifndef PGHOT_GOVERN_H
#define PGHOT_GOVERN_H

#include <linux/types.h>

#include "engine/engine.h"

struct slow_node;

int govern_apply(void);
void govern_step(struct slow_node *node);
u32 govern_select(struct slow_node *node, struct select_pick *picks, u32 count,
		  const struct select_target *target, u64 room, bool *spared);
void govern_moved(struct slow_node *node, u64 pages);
bool govern_all_rest(void);

#endif
