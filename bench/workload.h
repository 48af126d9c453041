/* SPDX-License-Identifier: GPL-2.0-only */
/* workload - the arguments, the sizes and the results that all benchmarks share */
#ifndef PGHOT_BENCH_WORKLOAD_H
#define PGHOT_BENCH_WORKLOAD_H

#include <stddef.h>
#include <stdint.h>

#include "keys.h"
#include "nodes.h"
#include "place.h"

/**
 * struct workload - what every one of them is asked; a workload's config begins with one
 * @fast: the fast nodes
 * @slow_node: the slow one
 * @start: where memory starts
 * @by_scenario: what @working_set and @start are unless given
 * @fast_mb: MiB that the fast nodes are taken to have; 0: what they do have
 * @working_set: all of the workload's memory, in percent of what the fast nodes have
 * @hot_set: what is hot of it, likewise
 * @ops: operations to do; what that is each workload says
 * @sample_ms: milliseconds between two looks at its speed
 * @seed: of data and order
 * @spoil: not 0: the workload spoils something of its result or data before it checks them
 */
struct workload {
	struct node_list fast;
	uint64_t slow_node;
	enum place_start start;
	const struct scenario *by_scenario;
	uint64_t fast_mb;
	uint64_t working_set;
	uint64_t hot_set;
	uint64_t ops;
	uint64_t sample_ms;
	uint64_t seed;
	uint64_t spoil;
};

/* @parse of the keys below, which are for a config whose first field is a struct workload. */
bool workload_key_scenario(const struct key *key, const char *text, void *cfg);
bool workload_key_start(const struct key *key, const char *text, void *cfg);

#define WORKLOAD_NUMBER(field)	key_number, offsetof(struct workload, field)

/* All workloads have these keys; OPS: how many operations by default; HOT_SET: percent by default. */
#define WORKLOAD_KEYS(OPS, HOT_SET)								\
	{ "scenario", "fits",									\
	  "how large working_set is, in percent of the fast nodes' memory:\n"			\
	  "fits: 50, starting on the slow node; over2: 200 and over4: 400, starting\n"		\
	  "on the fast ones", workload_key_scenario, 0, 0, 0 },			\
	{ "working_set", "0", "percent of the fast nodes' memory; 0: as scenario says",		\
	  WORKLOAD_NUMBER(working_set), 0, 100000 },						\
	{ "hot_set", HOT_SET, "percent of the fast nodes' memory that is hot, of a workload that has\n"	\
	  "a hot set of a size of its choice", WORKLOAD_NUMBER(hot_set), 1, 100000 },		\
	{ "start", "default",									\
	  "where memory starts. default: as scenario says; spill: what comes first\n"		\
	  "is fast, the rest is where there is room; slow: on the slow node;\n"			\
	  "ideal: what is hot is fast",								\
	  workload_key_start, 0, 0, 0 },							\
	{ "fast_mb", "0", "MiB that the fast nodes are taken to have in all; 0: what they do have",	\
	  WORKLOAD_NUMBER(fast_mb), 0, 1 << 30 },						\
	{ "fast_node", "0", "node, or list as 0,1", key_node_list,				\
	  offsetof(struct workload, fast), 0, MAX_NODES - 1 },					\
	{ "slow_node", "1", "node that is not fast", WORKLOAD_NUMBER(slow_node), 0, MAX_NODES - 1 },	\
	{ "ops", OPS, "operations to do", WORKLOAD_NUMBER(ops), 1, UINT64_C(1) << 50 },		\
	{ "sample_ms", "250", "milliseconds between two looks at the speed",			\
	  WORKLOAD_NUMBER(sample_ms), 1, 3600 * 1000 },						\
	{ "seed", "1", "of data and order", WORKLOAD_NUMBER(seed), 0, INT64_MAX },		\
	{ "spoil", "0", "1: spoil the result before it is checked, which must be noticed",	\
	  WORKLOAD_NUMBER(spoil), 0, 1 }

/**
 * workload_begin - take the arguments, and prepare @place for the workload's memory
 * @keys: all keys, WORKLOAD_KEYS among them
 * @cfg: the workload's config, which begins with a struct workload
 *
 * Ends the program with status 2 on a wrong argument, with 1 on a node that is not there.
 */
void workload_begin(const struct keys *keys, int argc, char **argv, void *cfg, struct place *place);

/** workload_bytes - so many percent of the fast nodes' memory, in whole pages */
uint64_t workload_bytes(const struct workload *w, uint64_t percent);

/**
 * workload_hot_bytes - the bytes of hot_set, at least a page
 *
 * Ends the program with status 1 if that is not less than the working set.
 */
uint64_t workload_hot_bytes(const struct workload *w);

/** result - write a line "result NAME VALUE" */
void result(const char *name, int64_t value);

/** result_real - the same with three digits after the point */
void result_real(const char *name, double value);

/**
 * workload_end - report the outcome of the self-check, as the result pages_bad
 * @bad: how many pieces of the workload's result were wrong
 *
 * Returns the program's exit status: 0, or 1 if something was wrong or the output is lost.
 */
int workload_end(uint64_t bad);

/* splitmix64's finalizer: neighbouring seeds give unrelated values, and only one gives 0. */
static inline uint64_t mix64(uint64_t x)
{
	x += 0x9e3779b97f4a7c15ULL;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
	return x ^ (x >> 31);
}

/* A random @x as a number of [0, 1). */
static inline double unit_of(uint64_t x)
{
	return (x >> 11) * 0x1p-53;
}

#endif
