/* SPDX-License-Identifier: GPL-2.0-only */
/* nodemap - memory for the records of a slow node, following the node's memory */
#ifndef PGHOT_NODEMAP_H
#define PGHOT_NODEMAP_H

struct slow_node;

int nodemap_refresh(struct slow_node *node);
void nodemap_free(struct slow_node *node);

#endif
