// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base.h"
#include "workload.h"

/* How much memory there is, in percent of the fast nodes', and where it starts. */
struct scenario {
	const char *name;
	uint64_t working_set;
	enum place_start start;
};

bool workload_key_scenario(const struct key *key, const char *text, void *cfg)
{
	static const struct scenario scenarios[] = {
		{ "fits", 50, PLACE_SLOW }, { "over2", 200, PLACE_SPILL }, { "over4", 400, PLACE_SPILL },
	};
	struct workload *w = cfg;

	(void)key;
	for (size_t i = 0; i < sizeof(scenarios) / sizeof(*scenarios); i++) {
		if (strcmp(text, scenarios[i].name))
			continue;
		w->by_scenario = &scenarios[i];
		return true;
	}
	return false;
}

bool workload_key_start(const struct key *key, const char *text, void *cfg)
{
	static const char * const starts[] = {
		[PLACE_DEFAULT] = "default", [PLACE_SPILL] = "spill", [PLACE_SLOW] = "slow", [PLACE_IDEAL] = "ideal",
	};
	int start = key_word(text, starts, sizeof(starts) / sizeof(*starts));

	(void)key;
	((struct workload *)cfg)->start = start;
	return start >= 0;
}

void workload_begin(const struct keys *keys, int argc, char **argv, void *cfg, struct place *place)
{
	struct workload *w = cfg;

	keys_parse(keys, argc, argv, cfg);
	if (!w->working_set)
		w->working_set = w->by_scenario->working_set;
	if (w->start == PLACE_DEFAULT)
		w->start = w->by_scenario->start;
	if (sysconf(_SC_PAGESIZE) != (long)PAGE_BYTES)
		die("needs pages of 4 KiB");
	for (unsigned int i = 0; i < w->fast.nr; i++)
		check_node("fast_node", w->fast.node[i]);
	check_node("slow_node", w->slow_node);
	/* Line by line also into a pipe or a file: whoever reads along, or a crash, sees all. */
	setvbuf(stdout, NULL, _IOLBF, 0);
	*place = (struct place){ .fast = &w->fast, .slow = w->slow_node, .start = w->start };
	puts("phase populate");
}

uint64_t workload_bytes(const struct workload *w, uint64_t percent)
{
	uint64_t bytes = w->fast_mb * MIB;

	for (unsigned int i = 0; i < w->fast.nr && !w->fast_mb; i++)
		bytes += node_meminfo(w->fast.node[i], "MemTotal:");
	return bytes / PAGE_BYTES * percent / 100 * PAGE_BYTES;
}

uint64_t workload_hot_bytes(const struct workload *w)
{
	uint64_t hot = workload_bytes(w, w->hot_set);

	if (!hot || hot >= workload_bytes(w, w->working_set))
		die("hot_set=%" PRIu64 ": it must be a page or more and less than working_set, which is %" PRIu64,
		    w->hot_set, w->working_set);
	return hot;
}

void result(const char *name, int64_t value)
{
	printf("result %s %" PRId64 "\n", name, value);
}

void result_real(const char *name, double value)
{
	printf("result %s %.3f\n", name, value);
}

int workload_end(uint64_t bad)
{
	if (bad)
		fprintf(stderr, PROGRAM_NAME ": the self-check found %" PRIu64 " errors\n", bad);
	result("pages_bad", bad);
	if (fflush(stdout) || ferror(stdout))
		die("cannot write the output");
	return bad != 0;
}
