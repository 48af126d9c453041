// SPDX-License-Identifier: GPL-2.0-only
/*
 * ptrchase: loads of which each one's address is what the one before has loaded.
 *
 * The nodes of hot memory are one cycle in random order, those of cold memory are another; the order
 * comes from Sattolo's algorithm (S. Sattolo, Information Processing Letters 22, 1986), which makes all
 * cycles equally likely. cold_percent of the steps, evenly spread, go on along the cold cycle, the others
 * along the hot one. A processor can neither guess an address nor begin with the next load before this
 * one is done: time is latency.
 *
 * Each node knows its place in its cycle, so after so many steps along a cycle of n nodes the walk must
 * be at that number modulo n. At the end each node's successor must have the next place: so the nodes are
 * one cycle still, and none was lost.
 */
#include <stdbool.h>

#include "base.h"
#include "clock.h"
#include "measure.h"
#include "pattern.h"
#include "workload.h"

/* Loads between two reports of progress. */
#define BATCH		8192

struct config {
	struct workload w;
	uint64_t cold_percent;
	uint64_t node_bytes;
};

#define FIELD(field)	offsetof(struct config, field)

static const struct key keys[] = {
	WORKLOAD_KEYS("30000000", "30"),
	{ "cold_percent", "10", "percent of the loads that are of cold memory", key_number,
	  FIELD(cold_percent), 0, 100 },
	{ "node_bytes", "256", "bytes from one node to the next, a power of two; a load is of one cache line",
	  key_power_of_two, FIELD(node_bytes), 64, PAGE_BYTES },
};

static const struct keys all = {
	"Loads along a random cycle through hot memory, and some along one through cold memory.",
	keys, sizeof(keys) / sizeof(keys[0]),
};

/* The first words of a node's memory. */
struct node {
	struct node *next;
	uint64_t place;			/* in the cycle, from 0 on */
};

struct cycle {
	char *mem;
	uint64_t node_bytes;
	uint64_t nodes;
	struct node *at;
	uint64_t steps;
};

static struct node *node_of(const struct cycle *c, uint64_t i)
{
	return (struct node *)(c->mem + i * c->node_bytes);
}

/* @mem: all zero. While places are not dealt, a node's place is its successor's number. */
static void cycle_build(struct cycle *c, void *mem, uint64_t bytes, uint64_t node_bytes, uint64_t rng)
{
	struct node *node;

	*c = (struct cycle){ .mem = mem, .node_bytes = node_bytes, .nodes = bytes / node_bytes };
	for (uint64_t i = 0; i < c->nodes; i++)
		node_of(c, i)->place = i;
	for (uint64_t i = c->nodes; i-- > 1; ) {
		struct node *a = node_of(c, i), *b;
		uint64_t successor = a->place;

		rng = xorshift64(rng);
		b = node_of(c, draw_below(rng, i));
		a->place = b->place;
		b->place = successor;
	}
	c->at = node = node_of(c, 0);
	for (uint64_t place = 0; place < c->nodes; place++) {
		node->next = node_of(c, node->place);
		node->place = place;
		node = node->next;
	}
}

/* How many pages have a node whose successor is not the next of the cycle. */
static uint64_t cycle_verify(const struct cycle *c)
{
	uint64_t bad = 0, in_page = 0;
	const char *end = c->mem + c->nodes * c->node_bytes;

	for (uint64_t i = 0; i < c->nodes; i++) {
		const struct node *node = node_of(c, i);
		const char *next = (const char *)node->next;
		uint64_t place = node->place + 1 == c->nodes ? 0 : node->place + 1;

		if (i * c->node_bytes % PAGE_BYTES == 0)
			in_page = 0;
		if (next < c->mem || next >= end || (next - c->mem) % c->node_bytes ||
		    node->next->place != place)
			bad += !in_page++;
	}
	return bad;
}

/* Is the walk where so many steps lead? */
static bool cycle_walked(const struct cycle *c)
{
	return c->at->place == c->steps % c->nodes;
}

/*
 * @count loads from load @first on. @zero is 0, which the compiler does not know: so the address of a
 * load depends on the one before also where that was of the other cycle.
 */
static void chase(struct cycle *hot, struct cycle *cold, uint64_t first, uint64_t count,
		  uint64_t cold_percent, uintptr_t zero)
{
	uintptr_t hot_at = (uintptr_t)hot->at, cold_at = (uintptr_t)cold->at, last = 0;
	uint64_t due = (unsigned __int128)first * cold_percent % 100, colds = 0;

	for (uint64_t i = 0; i < count; i++) {
		due += cold_percent;
		if (due >= 100) {
			due -= 100;
			colds++;
			last = cold_at = (uintptr_t)((struct node *)(cold_at + (last & zero)))->next;
		} else {
			last = hot_at = (uintptr_t)((struct node *)(hot_at + (last & zero)))->next;
		}
	}
	hot->at = (struct node *)hot_at;
	cold->at = (struct node *)cold_at;
	hot->steps += count - colds;
	cold->steps += colds;
}

int main(int argc, char **argv)
{
	static struct measure measure;
	static volatile uintptr_t zero;
	struct cycle hot, cold;
	struct config cfg = { 0 };
	struct place place;
	uint64_t hot_bytes, cold_bytes, ns, bad;
	void *mem;

	workload_begin(&all, argc, argv, &cfg, &place);
	place.hot_bytes = hot_bytes = workload_hot_bytes(&cfg.w);
	cold_bytes = workload_bytes(&cfg.w, cfg.w.working_set) - hot_bytes;
	mem = place_map(&place, cold_bytes, PLACE_COLD);
	cycle_build(&cold, mem, cold_bytes, cfg.node_bytes, mix64(cfg.w.seed) | 1);
	mem = place_map(&place, hot_bytes, PLACE_HOT);
	cycle_build(&hot, mem, hot_bytes, cfg.node_bytes, mix64(~cfg.w.seed) | 1);
	measure_begin(&measure, &place, cfg.w.sample_ms);
	for (uint64_t first = 0, count; first < cfg.w.ops; first += count) {
		count = cfg.w.ops - first < BATCH ? cfg.w.ops - first : BATCH;
		chase(&hot, &cold, first, count, cfg.cold_percent, zero);
		measure_add(&measure, count);
	}
	ns = measure_end(&measure);
	result_real("ns_per_load", (double)ns / cfg.w.ops);
	result("hot_nodes", hot.nodes);
	result("cold_loads", cold.steps);
	result("place", hot.at->place);
	node_of(&hot, hot.nodes / 2)->place += cfg.w.spoil;
	bad = !cycle_walked(&hot) + !cycle_walked(&cold);
	bad += cycle_verify(&hot) + cycle_verify(&cold);
	return workload_end(bad);
}
