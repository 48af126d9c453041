// SPDX-License-Identifier: GPL-2.0-only
/*
 * graph500: breadth-first searches of a Kronecker graph, after the Graph500 specification: kernel 1
 * makes compressed sparse rows of a list of edges, kernel 2 searches from random roots, and each tree is
 * checked against the list. An operation is an edge traversed.
 *
 * What is hot: a search reads each entry of a row once, row by row in the order of the queue, whoever's
 * row it is. That of a vertex with many edges is read no more often than others, and being long it
 * streams. But each entry asks for a parent: a page of parents, 512 vertices, is looked at 32 * 512
 * times a search, in random order, and a page of offsets 512 times at random. A page of rows is 64 lines,
 * each of which misses about once. So parents, offsets and the queue, which is as large, are hot: 4
 * percent of all memory, and with a cache a quarter as large as the parents four misses of five. The best
 * placement known has these fast, then rows; the list of edges and the levels are not read by a
 * search at all. Memory is mapped the other way around.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base.h"
#include "bfs_check.h"
#include "clock.h"
#include "graph.h"
#include "measure.h"
#include "pattern.h"
#include "workload.h"

#define EDGE_FACTOR	16
#define MAX_SCALE	40
#define MAX_SEARCHES	4096
/* Edges between two reports of progress, at least. */
#define BATCH		8192

enum validate { VALIDATE_EVERY, VALIDATE_LAST, VALIDATE_NONE };

struct config {
	struct workload w;
	uint64_t scale;
	uint64_t searches;
	enum validate validate;
};

static bool key_validate(const struct key *key, const char *text, void *cfg)
{
	static const char * const words[] = {
		[VALIDATE_EVERY] = "every", [VALIDATE_LAST] = "last", [VALIDATE_NONE] = "none",
	};
	int word = key_word(text, words, sizeof(words) / sizeof(*words));

	(void)key;
	((struct config *)cfg)->validate = word;
	return word >= 0;
}

#define NUMBER(field)	key_number, offsetof(struct config, field)

static const struct key keys[] = {
	WORKLOAD_KEYS("500000000", "100"),
	{ "scale", "0", "there are 2^scale vertices, and 16 times as many edges; 0: the most that\n"
	  "fit the working set", NUMBER(scale), 0, MAX_SCALE },
	{ "nbfs", "0", "searches; published results have 64; 0: as many as it takes for ops",
	  NUMBER(searches), 0, MAX_SEARCHES },
	{ "validate", "every", "every: check the tree of every search after it; last: of the last one, so\n"
	  "that between searches nobody accesses memory; none", key_validate, 0, 0, 0 },
};

static const struct keys all = {
	"Searches a Kronecker graph breadth-first, as Graph500 does.",
	keys, sizeof(keys) / sizeof(keys[0]),
};

/**
 * struct bench - the graph, and what a search needs
 * @edges: kernel 1's input
 * @levels: for the check
 * @parents: the tree
 * @queue: vertices in the order in which they are reached
 */
struct bench {
	struct graph graph;
	struct edge *edges;
	uint32_t *levels;
	uint64_t *parents;
	uint64_t *queue;
};

/* One search: the edges and the vertices of its component, and how long it took. */
struct search {
	uint64_t root, edges, vertices, ns;
	uint64_t levels;	/* of the tree; 0: it was not checked */
};

/* Bytes of hot memory, and of all. */
static uint64_t hot_bytes(uint64_t vertices)
{
	return (3 * vertices + 1) * sizeof(uint64_t);
}

static uint64_t all_bytes(uint64_t vertices)
{
	uint64_t edges = vertices * EDGE_FACTOR;

	return hot_bytes(vertices) + vertices * sizeof(uint32_t) + edges * sizeof(struct edge) +
	       2 * edges * sizeof(uint64_t);
}

static unsigned int choose_scale(const struct config *cfg)
{
	uint64_t bytes = workload_bytes(&cfg->w, cfg->w.working_set);
	unsigned int scale = 1;

	if (cfg->scale)
		return cfg->scale;
	while (scale < MAX_SCALE && all_bytes(UINT64_C(2) << scale) <= bytes)
		scale++;
	return scale;
}

static void bench_map(struct bench *b, struct place *place, unsigned int scale)
{
	uint64_t vertices = UINT64_C(1) << scale, edges = vertices * EDGE_FACTOR;
	uint64_t rows = 2 * edges * sizeof(uint64_t);
	char what[32];

	snprintf(what, sizeof(what), "scale=%u", scale);
	place_need(place, all_bytes(vertices), what);
	b->graph.vertices = vertices;
	b->graph.edges = edges;
	place->hot_bytes = hot_bytes(vertices) + rows;
	b->edges = place_map(place, edges * sizeof(struct edge), PLACE_COLD);
	b->levels = place_map(place, vertices * sizeof(uint32_t), PLACE_COLD);
	place->hot_bytes = hot_bytes(vertices);
	b->graph.rows = place_map(place, rows, PLACE_COLD);
	b->graph.offsets = place_map(place, (vertices + 1) * sizeof(uint64_t), PLACE_HOT);
	b->parents = place_map(place, vertices * sizeof(uint64_t), PLACE_HOT);
	b->queue = place_map(place, vertices * sizeof(uint64_t), PLACE_HOT);
}

/* Kernels 1 and 2 are timed apart. */
static void construct(struct bench *b, unsigned int scale, uint64_t seed)
{
	uint64_t start;

	kronecker_edges(b->edges, b->graph.edges, scale, seed);
	start = now_ns();
	graph_build(&b->graph, b->edges);
	result_real("construction_s", (double)(now_ns() - start) / NSEC_PER_SEC);
}

static uint64_t how_many(const struct config *cfg, uint64_t edges)
{
	uint64_t nr = (cfg->w.ops + edges - 1) / edges;

	if (cfg->searches)
		return cfg->searches;
	return nr < MAX_SEARCHES ? nr : MAX_SEARCHES;
}

/* Does a search begin at @vertex already? */
static bool chosen(const struct search *searches, uint64_t nr, uint64_t vertex)
{
	for (uint64_t i = 0; i < nr; i++)
		if (searches[i].root == vertex)
			return true;
	return false;
}

/* Specification, section "Sampling 64 search keys". Returns how many there are, @want at most. */
static uint64_t choose_roots(const struct graph *graph, struct search *searches, uint64_t want,
			     uint64_t seed)
{
	uint64_t rng = mix64(~seed) | 1, able = 0;

	for (uint64_t v = 0; v < graph->vertices && able < want; v++)
		able += !graph_lonely(graph, v);
	for (uint64_t nr = 0; nr < able;) {
		uint64_t vertex;

		rng = xorshift64(rng);
		vertex = draw_below(rng, graph->vertices);
		if (!graph_lonely(graph, vertex) && !chosen(searches, nr, vertex))
			searches[nr++].root = vertex;
	}
	return able;
}

/* Kernel 2. */
static void bfs(struct bench *b, struct search *search, struct measure *m)
{
	const struct graph *graph = &b->graph;
	const uint64_t *rows = graph->rows;
	uint64_t *parents = b->parents, *queue = b->queue;
	uint64_t tail = 1, entries = 0, told = 0;

	memset(parents, 0xff, graph->vertices * sizeof(*parents));
	parents[search->root] = search->root;
	queue[0] = search->root;
	for (uint64_t head = 0; head < tail; head++) {
		uint64_t vertex = queue[head], end = graph->offsets[vertex + 1];
		uint64_t at = graph->offsets[vertex];

		entries += end - at;
		for (; at < end; at++) {
			uint64_t other = rows[at];

			if (parents[other] != NO_VERTEX)
				continue;
			parents[other] = vertex;
			queue[tail++] = other;
		}
		if (entries / 2 >= told + BATCH) {
			measure_add(m, entries / 2 - told);
			told = entries / 2;
		}
	}
	/* An edge is entered twice, and both of its ends were reached. */
	measure_add(m, entries / 2 - told);
	search->edges = entries / 2;
	search->vertices = tail;
}

/* Returns how many errors there are; a line "error TEXT" says which. */
static uint64_t validate(struct bench *b, struct search *search)
{
	struct bfs_check check;
	uint64_t bad = 0;

	bfs_check(&check, &b->graph, b->edges, b->parents, search->root, b->levels);
	for (unsigned int i = 0; i < BFS_CHECKS; i++) {
		if (check.errors[i])
			printf("error search from %" PRIu64 ": not so that %s: %" PRIu64 " times\n",
			       search->root, bfs_check_name(i), check.errors[i]);
		bad += check.errors[i];
	}
	if (check.edges != search->edges) {
		printf("error search from %" PRIu64 ": traversed %" PRIu64 " edges of %" PRIu64 "\n",
		       search->root, search->edges, check.edges);
		bad++;
	}
	search->levels = check.levels;
	return bad;
}

static uint64_t search_one(struct bench *b, const struct config *cfg, struct search *search, bool last,
			   struct measure *m)
{
	uint64_t start = now_ns(), bad;

	bfs(b, search, m);
	search->ns = now_ns() - start;
	if (cfg->validate == VALIDATE_NONE || (cfg->validate == VALIDATE_LAST && !last))
		return 0;
	measure_pause(m);
	if (cfg->w.spoil)
		b->parents[b->queue[search->vertices - 1]] = b->queue[search->vertices - 1];
	bad = validate(b, search);
	measure_resume(m);
	return bad;
}

/*
 * Specification, section "Output": rates are averaged harmonically, with Norris' standard error of that.
 * A search's line is "search ROOT EDGES VERTICES LEVELS NS".
 */
static void report(const struct search *searches, uint64_t nr)
{
	double sum = 0, squares = 0, ms = 0, mean;

	for (uint64_t i = 0; i < nr; i++) {
		printf("search %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", searches[i].root,
		       searches[i].edges, searches[i].vertices, searches[i].levels, searches[i].ns);
		sum += (double)searches[i].ns / NSEC_PER_SEC / searches[i].edges;
		ms += (double)searches[i].ns / NSEC_PER_MSEC;
	}
	mean = nr / sum;
	for (uint64_t i = 0; i < nr; i++)
		squares += pow((double)searches[i].ns / NSEC_PER_SEC / searches[i].edges - 1 / mean, 2);
	result("nbfs", nr);
	result_real("bfs_ms_mean", ms / nr);
	result_real("teps_harmonic", mean);
	result_real("teps_harmonic_stddev", nr > 1 ? sqrt(squares) / (nr - 1) * mean * mean : 0);
}

int main(int argc, char **argv)
{
	static struct measure measure;
	static struct search searches[MAX_SEARCHES];
	struct config cfg = { 0 };
	struct bench bench = { 0 };
	struct place place;
	unsigned int scale;
	uint64_t nr, bad = 0;

	workload_begin(&all, argc, argv, &cfg, &place);
	if (cfg.w.spoil && cfg.validate == VALIDATE_NONE)
		die("spoil=1 needs validate=every or validate=last, or nobody notices");
	scale = choose_scale(&cfg);
	bench_map(&bench, &place, scale);
	result("scale", scale);
	construct(&bench, scale, cfg.w.seed);
	nr = choose_roots(&bench.graph, searches, how_many(&cfg, bench.graph.edges), cfg.w.seed);
	measure_begin(&measure, &place, cfg.w.sample_ms);
	for (uint64_t i = 0; i < nr; i++)
		bad += search_one(&bench, &cfg, &searches[i], i == nr - 1, &measure);
	measure_end(&measure);
	report(searches, nr);
	return workload_end(bad);
}
