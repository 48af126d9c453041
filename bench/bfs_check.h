/* SPDX-License-Identifier: GPL-2.0-only */
/* bfs_check - the five checks of a breadth-first search's result by the Graph500 specification */
#ifndef PGHOT_BENCH_BFS_CHECK_H
#define PGHOT_BENCH_BFS_CHECK_H

#include <stdint.h>

#include "graph.h"

/* The parent of a vertex that was not reached. */
#define NO_VERTEX	UINT64_MAX

/* As the specification, section "Validation", numbers them. */
enum bfs_check_nr {
	BFS_CYCLE,	/* vertices from which parents do not lead to the root */
	BFS_TREE_LEVEL,	/* tree edges whose levels do not differ by one */
	BFS_EDGE_LEVEL,	/* edges whose levels differ by more than one */
	BFS_SPAN,	/* edges of which only one end was reached */
	BFS_NO_EDGE,	/* vertices to whose parent there is no edge */
	BFS_CHECKS,
};

/**
 * struct bfs_check - what was found
 * @errors: of each check
 * @edges: of the root's component, as input, loops and repeated ones too: the m of the specification
 * @levels: of the tree; the root alone is one
 */
struct bfs_check {
	uint64_t errors[BFS_CHECKS];
	uint64_t edges;
	uint64_t levels;
};

/**
 * bfs_check - is @parents a breadth-first search's tree?
 * @graph: sizes are of interest only, not the rows: it is the input that is searched for errors
 * @edges: the input
 * @parents: of each vertex; its own of the root; NO_VERTEX: was not reached
 * @levels: room for a number a vertex, @graph->vertices in all
 */
void bfs_check(struct bfs_check *check, const struct graph *graph, const struct edge *edges,
	       const uint64_t *parents, uint64_t root, uint32_t *levels);

/** bfs_check_name - what the check says of a result without errors, in a few words */
const char *bfs_check_name(enum bfs_check_nr nr);

#endif
