// SPDX-License-Identifier: GPL-2.0-only
#include <stdbool.h>

#include "bfs_check.h"

/* Levels that are none, and a mark beside the level. */
#define UNREACHED	UINT32_C(0x7fffffff)
#define ON_THE_WAY	UINT32_C(0x7ffffffe)	/* seen on the way to the root that is being gone */
#define ASTRAY		UINT32_C(0x7ffffffd)	/* its way does not lead to the root */
#define HAS_EDGE	UINT32_C(0x80000000)	/* the tree edge to its parent is in the input */
#define LEVEL(word)	((word) & ~HAS_EDGE)

const char *bfs_check_name(enum bfs_check_nr nr)
{
	static const char * const names[] = {
		[BFS_CYCLE] = "the tree has no cycles",
		[BFS_TREE_LEVEL] = "ends of tree edges are one level apart",
		[BFS_EDGE_LEVEL] = "ends of edges are at most one level apart",
		[BFS_SPAN] = "the tree spans the component",
		[BFS_NO_EDGE] = "tree edges are edges of the graph",
	};

	return names[nr];
}

/* Go from @vertex towards the root until a level is known, or no parent. Returns where; @steps: how far. */
static uint64_t walk(const uint64_t *parents, uint64_t vertices, uint32_t *levels, uint64_t vertex,
		     uint64_t *steps)
{
	*steps = 0;
	while (vertex < vertices && levels[vertex] == UNREACHED && parents[vertex] != NO_VERTEX) {
		levels[vertex] = ON_THE_WAY;
		vertex = parents[vertex];
		++*steps;
	}
	return vertex;
}

/* The level of each vertex is how far it is from the root in the tree. Returns how many have none. */
static uint64_t find_levels(const struct graph *graph, const uint64_t *parents, uint64_t root,
			    uint32_t *levels)
{
	uint64_t bad = 0;

	for (uint64_t v = 0; v < graph->vertices; v++)
		levels[v] = UNREACHED;
	levels[root] = 0;
	for (uint64_t v = 0; v < graph->vertices; v++) {
		uint64_t steps, end, at = v;
		uint32_t level;

		if (parents[v] == NO_VERTEX)
			continue;
		end = walk(parents, graph->vertices, levels, v, &steps);
		level = end < graph->vertices && levels[end] < ASTRAY ? levels[end] : ASTRAY;
		for (uint64_t left = steps; left--; at = parents[at])
			levels[at] = level == ASTRAY ? ASTRAY : level + left + 1;
		if (level == ASTRAY)
			bad += steps;
	}
	return bad + (parents[root] != root);
}

/* @child's parent may be @parent: then this edge is the tree's. */
static void check_tree_edge(struct bfs_check *check, const uint64_t *parents, uint32_t *levels,
			    uint64_t parent, uint64_t child)
{
	if (parents[child] != parent || levels[child] & HAS_EDGE)
		return;
	levels[child] |= HAS_EDGE;
	if (LEVEL(levels[child]) != LEVEL(levels[parent]) + 1)
		check->errors[BFS_TREE_LEVEL]++;
}

static void check_edge(struct bfs_check *check, const struct edge *edge, const uint64_t *parents,
		       uint64_t root, uint32_t *levels)
{
	uint32_t a = LEVEL(levels[edge->a]), b = LEVEL(levels[edge->b]);

	if (a == UNREACHED && b == UNREACHED)
		return;
	if (a == UNREACHED || b == UNREACHED) {
		check->errors[BFS_SPAN]++;
		return;
	}
	check->edges++;
	if (a > b + 1 || b > a + 1)
		check->errors[BFS_EDGE_LEVEL]++;
	if (edge->a != root)
		check_tree_edge(check, parents, levels, edge->b, edge->a);
	if (edge->b != root)
		check_tree_edge(check, parents, levels, edge->a, edge->b);
}

void bfs_check(struct bfs_check *check, const struct graph *graph, const struct edge *edges,
	       const uint64_t *parents, uint64_t root, uint32_t *levels)
{
	*check = (struct bfs_check) { 0 };
	check->errors[BFS_CYCLE] = find_levels(graph, parents, root, levels);
	for (uint64_t i = 0; i < graph->edges; i++)
		check_edge(check, &edges[i], parents, root, levels);
	for (uint64_t v = 0; v < graph->vertices; v++) {
		uint32_t level = LEVEL(levels[v]);

		if (level == UNREACHED)
			continue;
		if (v != root && !(levels[v] & HAS_EDGE))
			check->errors[BFS_NO_EDGE]++;
		if (level < ASTRAY && level >= check->levels)
			check->levels = level + 1;
	}
}
