/* SPDX-License-Identifier: GPL-2.0-only */
/* graph - undirected graphs: a list of edges, and what can be searched */
#ifndef PGHOT_BENCH_GRAPH_H
#define PGHOT_BENCH_GRAPH_H

#include <stdbool.h>
#include <stdint.h>

/** struct edge - between two vertices, which may be the same; one pair may have several edges */
struct edge {
	uint64_t a, b;
};

/**
 * struct graph - compressed sparse rows: each edge is in the rows of both its ends, a loop twice in one
 * @vertices: numbered from 0
 * @edges: how many; there are twice as many entries in rows
 * @offsets: the row of v is @rows[@offsets[v]..@offsets[v + 1]); has @vertices + 1 entries
 * @rows: the other ends
 */
struct graph {
	uint64_t vertices, edges;
	uint64_t *offsets;
	uint64_t *rows;
};

/**
 * kronecker_edges - the edges of a Kronecker graph in random order, as the Graph500 specification has it
 * @edges: where to; @nr of them
 * @scale: there are 2^@scale vertices, 1 <= @scale <= 40
 */
void kronecker_edges(struct edge *edges, uint64_t nr, unsigned int scale, uint64_t seed);

/** graph_build - fill the rows and their offsets, which are all 0, from @edges */
void graph_build(struct graph *graph, const struct edge *edges);

/** graph_lonely - does no edge lead from @vertex to another one? */
bool graph_lonely(const struct graph *graph, uint64_t vertex);

#endif
