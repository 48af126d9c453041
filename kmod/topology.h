/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * topology - which nodes are fast, which are slow, and where slow pages go
 *
 * The kernel's memory tiers say so, unless the module parameter tiers="FAST>SLOW" does (two node
 * lists, as in tiers="0,1>2"). Only nodes that have memory now count.
 */
#ifndef PGHOT_TOPOLOGY_H
#define PGHOT_TOPOLOGY_H

#include <linux/nodemask.h>

int topology_init(const char *tiers);
void topology_refresh(void);
bool topology_is_slow(int nid);
bool topology_is_fast(int nid);
const nodemask_t *topology_fast(void);
const nodemask_t *topology_slow(void);

#endif
