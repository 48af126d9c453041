/* SPDX-License-Identifier: GPL-2.0-only */
/* args - what hotregion was asked to do */
#ifndef PGHOT_BENCH_ARGS_H
#define PGHOT_BENCH_ARGS_H

#include <stdbool.h>
#include <stdint.h>

#include "nodes.h"

struct config {
	uint64_t slow_node;
	uint64_t hot_node;		/* where the hot regions start */
	uint64_t region_mb;
	uint64_t regions;
	uint64_t accesses;		/* over all regions; 0: from the number of hot pages */
	uint64_t loads_percent;
	uint64_t sample_ms;
	uint64_t probe_pages;		/* 0: no probe */
	uint64_t seed;
	uint64_t keep_free_mb;		/* 0: from the size of the node */
	struct node_list fast;
	bool pressure;
	bool zipf;			/* skewed access, by zipf_exponent */
	double zipf_exponent;
};

/** parse_args - fill @cfg; ends the program on --help, and with status 2 on a wrong argument */
void parse_args(int argc, char **argv, struct config *cfg);

#endif
