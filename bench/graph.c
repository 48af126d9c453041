// SPDX-License-Identifier: GPL-2.0-only
#include <math.h>

#include "graph.h"
#include "pattern.h"
#include "permute.h"
#include "workload.h"

/*
 * Graph500 specification, section "Generating the edge list": a vertex number is drawn bit by bit.
 * The bits of both ends at one level are 0,0 with probability A, 0,1 with B, 1,0 with C, else 1,1.
 */
#define A		0.57
#define B		0.19
#define C		0.19

/* Levels that one draw decides, by a table of the probabilities of all that they can be. */
#define STEP		5
#define OUTCOMES	(1U << 2 * STEP)

/* Some levels at once. An outcome is the bits of end a, then those of end b. */
struct levels {
	struct pattern pattern;
	unsigned int nr;
};

static void levels_init(struct levels *levels, unsigned int nr)
{
	static const double quadrant[] = { A, B, C, 1 - (A + B + C) };
	double weights[OUTCOMES];

	for (unsigned int i = 0; i < 1U << 2 * nr; i++) {
		weights[i] = 1;
		for (unsigned int bit = 0; bit < nr; bit++)
			weights[i] *= quadrant[(i >> (nr + bit) & 1) << 1 | (i >> bit & 1)];
	}
	levels->nr = nr;
	pattern_weights(&levels->pattern, weights, 1U << 2 * nr);
}

static inline void levels_draw(const struct levels *levels, uint64_t *rng, struct edge *edge)
{
	uint64_t outcome;

	*rng = xorshift64(*rng);
	outcome = pattern_draw(&levels->pattern, rng);
	edge->a = edge->a << levels->nr | outcome >> levels->nr;
	edge->b = edge->b << levels->nr | (outcome & ((1U << levels->nr) - 1));
}

/* The specification shuffles the edges as well; as each is drawn on its own, no order has another chance. */
void kronecker_edges(struct edge *edges, uint64_t nr, unsigned int scale, uint64_t seed)
{
	uint64_t rng = mix64(seed) | 1;
	struct permute vertices;
	struct levels step, rest;

	permute_init(&vertices, UINT64_C(1) << scale, mix64(seed));
	levels_init(&step, STEP);
	levels_init(&rest, scale % STEP);
	for (struct edge *edge = edges; edge < edges + nr; edge++) {
		struct edge drawn = { 0, 0 };

		for (unsigned int left = scale / STEP; left--;)
			levels_draw(&step, &rng, &drawn);
		if (rest.nr)
			levels_draw(&rest, &rng, &drawn);
		edge->a = permute_of(&vertices, drawn.a);
		edge->b = permute_of(&vertices, drawn.b);
	}
	pattern_free(&step.pattern);
	pattern_free(&rest.pattern);
}

void graph_build(struct graph *graph, const struct edge *edges)
{
	uint64_t *offsets = graph->offsets;

	for (uint64_t i = 0; i < graph->edges; i++) {
		offsets[edges[i].a]++;
		offsets[edges[i].b]++;
	}
	/* To where each row ends; what is put into it moves that to where it begins. */
	for (uint64_t v = 1; v <= graph->vertices; v++)
		offsets[v] += offsets[v - 1];
	for (uint64_t i = 0; i < graph->edges; i++) {
		graph->rows[--offsets[edges[i].a]] = edges[i].b;
		graph->rows[--offsets[edges[i].b]] = edges[i].a;
	}
}

bool graph_lonely(const struct graph *graph, uint64_t vertex)
{
	uint64_t at = graph->offsets[vertex], end = graph->offsets[vertex + 1];

	while (at < end && graph->rows[at] == vertex)
		at++;
	return at == end;
}
