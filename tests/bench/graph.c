// SPDX-License-Identifier: GPL-2.0-only
/* Kronecker graphs have the distribution they should have, and each check of a search notices its error. */
#include <math.h>
#include <string.h>

#include "bench/bfs_check.h"
#include "bench/graph.c"
#include "tests/tap.h"

#define SCALE		14
#define VERTICES	(1U << SCALE)
#define EDGES		(16 * VERTICES)

/* How many of VERTICES are no end of any of @ends, if ends are drawn bit by bit: 1 with 24 percent. */
static double expect_unused(double ends)
{
	double ways = 1, sum = 0;

	for (int ones = 0; ones <= SCALE; ones++) {
		sum += ways * exp(-ends * pow(0.76, SCALE - ones) * pow(0.24, ones));
		ways = ways * (SCALE - ones) / (ones + 1);
	}
	return sum;
}

static int near(double got, double want, double percent, const char *name)
{
	return ok(fabs(got - want) <= want * percent / 100, "%s: %.0f of about %.0f", name, got, want);
}

static void test_kronecker(void)
{
	static struct edge edges[EDGES];
	static unsigned int as_a[VERTICES], as_b[VERTICES];
	unsigned int no_a = 0, no_b = 0, most_a = 0, loops = 0, beyond = 0;

	kronecker_edges(edges, EDGES, SCALE, 1);
	for (unsigned int i = 0; i < EDGES; i++) {
		if (edges[i].a >= VERTICES || edges[i].b >= VERTICES) {
			beyond++;
			continue;
		}
		as_a[edges[i].a]++;
		as_b[edges[i].b]++;
		loops += edges[i].a == edges[i].b;
	}
	for (unsigned int v = 0; v < VERTICES; v++) {
		no_a += !as_a[v];
		no_b += !as_b[v];
		most_a = as_a[v] > most_a ? as_a[v] : most_a;
	}
	is(beyond, 0, "kronecker: all ends are vertices");
	near(no_a, expect_unused(EDGES), 2, "kronecker: no first end");
	near(no_b, expect_unused(EDGES), 2, "kronecker: no second end");
	near(most_a, EDGES * pow(0.76, SCALE), 5, "kronecker: edges of the vertex that has most");
	/* Both ends have the same bits with A, and with 1 - (A + B + C). */
	near(loops, EDGES * pow(0.57 + 0.05, SCALE), 20, "kronecker: loops");
}

/* A number of an edge, whichever end is named first. */
static uint64_t number(uint64_t a, uint64_t b)
{
	uint64_t product = (a * a + b * b + 1) * 0x9e3779b97f4a7c15ULL;

	return (product ^ product >> 29) * (a * b + 1);
}

static void test_build(void)
{
	static struct edge edges[EDGES];
	static uint64_t offsets[VERTICES + 1], rows[2 * EDGES], degrees[VERTICES];
	struct graph graph = { VERTICES, EDGES, offsets, rows };
	uint64_t sum = 0, bad = 0;

	kronecker_edges(edges, EDGES, SCALE, 2);
	graph_build(&graph, edges);
	is(offsets[VERTICES], 2 * EDGES, "build: there is a place for both ends of each edge");
	for (unsigned int i = 0; i < EDGES; i++) {
		degrees[edges[i].a]++;
		degrees[edges[i].b]++;
		sum += 2 * number(edges[i].a, edges[i].b);
	}
	for (unsigned int v = 0; v < VERTICES; v++) {
		bad += offsets[v + 1] - offsets[v] != degrees[v];
		for (uint64_t at = offsets[v]; at < offsets[v + 1]; at++)
			sum -= number(v, rows[at]);
	}
	is(bad, 0, "build: rows are as long as vertices have edges");
	is(sum, 0, "build: rows have the edges that there are");
}

/*
 * 0 - 1 - 3 - 4, 0 - 2 - 3, with a loop at 3 and the edge of 1 and 3 twice; 5 - 6 is another
 * component, 7 is alone. From 0, vertex 3 has two possible parents.
 */
static const struct edge small_edges[] = {
	{ 0, 1 }, { 2, 0 }, { 1, 3 }, { 3, 1 }, { 2, 3 }, { 3, 4 }, { 3, 3 }, { 5, 6 },
};

#define SMALL		8
#define NONE		NO_VERTEX

/* Each error that is wanted, and how many of them. */
static void check_tree(const char *name, const uint64_t parents[SMALL], const uint64_t want[BFS_CHECKS])
{
	const struct graph graph = { .vertices = SMALL, .edges = sizeof(small_edges) / sizeof(*small_edges) };
	uint32_t levels[SMALL];
	struct bfs_check check;
	int good;

	bfs_check(&check, &graph, small_edges, parents, 0, levels);
	good = !memcmp(check.errors, want, sizeof(check.errors));
	if (!ok(good, "check: %s", name))
		for (unsigned int i = 0; i < BFS_CHECKS; i++)
			printf("#   %s: %d errors, want %d\n", bfs_check_name(i), (int)check.errors[i],
			       (int)want[i]);
}

static void test_check(void)
{
	static const struct {
		const char *name;
		uint64_t parents[SMALL], errors[BFS_CHECKS];
	} trees[] = {
		{ "a tree", { 0, 0, 0, 1, 3, NONE, NONE, NONE }, { 0 } },
		{ "another", { 0, 0, 0, 2, 3, NONE, NONE, NONE }, { 0 } },
		{ "3 and 4 are each other's parents", { 0, 0, 0, 4, 3, NONE, NONE, NONE },
		  { [BFS_CYCLE] = 2, [BFS_TREE_LEVEL] = 2, [BFS_EDGE_LEVEL] = 3 } },
		{ "4 is its own parent", { 0, 0, 0, 1, 4, NONE, NONE, NONE },
		  { [BFS_CYCLE] = 1, [BFS_EDGE_LEVEL] = 1, [BFS_NO_EDGE] = 1 } },
		{ "the root has a parent", { 1, 0, 0, 1, 3, NONE, NONE, NONE }, { [BFS_CYCLE] = 1 } },
		{ "a parent that was not reached", { 0, 0, NONE, 2, 3, NONE, NONE, NONE },
		  { [BFS_CYCLE] = 2, [BFS_TREE_LEVEL] = 1, [BFS_EDGE_LEVEL] = 2, [BFS_SPAN] = 2, [BFS_NO_EDGE] = 1 } },
		{ "a parent that is no vertex", { 0, 0, 0, 1, 99, NONE, NONE, NONE },
		  { [BFS_CYCLE] = 1, [BFS_EDGE_LEVEL] = 1, [BFS_NO_EDGE] = 1 } },
		{ "a way around: 2 by 3", { 0, 0, 3, 1, 3, NONE, NONE, NONE }, { [BFS_EDGE_LEVEL] = 1 } },
		{ "4 was left out", { 0, 0, 0, 1, NONE, NONE, NONE, NONE }, { [BFS_SPAN] = 1 } },
		{ "4 by an edge that is none", { 0, 0, 0, 1, 1, NONE, NONE, NONE }, { [BFS_NO_EDGE] = 1 } },
		{ "another component's", { 0, 0, 0, 1, 3, 4, 5, NONE }, { [BFS_NO_EDGE] = 1 } },
	};

	for (unsigned int i = 0; i < sizeof(trees) / sizeof(*trees); i++)
		check_tree(trees[i].name, trees[i].parents, trees[i].errors);
}

static void test_counts(void)
{
	static const uint64_t parents[SMALL] = { 0, 0, 0, 1, 3, NONE, NONE, NONE };
	const struct graph graph = { .vertices = SMALL, .edges = sizeof(small_edges) / sizeof(*small_edges) };
	uint32_t levels[SMALL];
	struct bfs_check check;

	bfs_check(&check, &graph, small_edges, parents, 0, levels);
	is(check.edges, 7, "check: the component's edges, loops and repeated ones as well");
	is(check.levels, 4, "check: the tree's levels");
}

int main(void)
{
	test_kronecker();
	test_build();
	test_check();
	test_counts();
	return done();
}
