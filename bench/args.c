// SPDX-License-Identifier: GPL-2.0-only
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "base.h"
#include "keys.h"
#include "nodes.h"

/*
 * Default work: about 20 s for the default 64 MiB of hot memory at 8 M accesses a second,
 * which is what an emulated guest manages. A per-page number, so that a page of a larger hot
 * set is hit as often, and the time grows with regions x region_mb.
 */
#define ACCESSES_PER_HOT_PAGE	10000

#define NO_NODE			UINT64_MAX

static bool parse_scenario(const struct key *key, const char *text, void *config)
{
	struct config *cfg = config;

	(void)key;
	cfg->pressure = !strcmp(text, "pressure");
	return cfg->pressure || !strcmp(text, "free");
}

static bool parse_access(const struct key *key, const char *text, void *config)
{
	struct config *cfg = config;

	(void)key;
	cfg->zipf = !strcmp(text, "zipf");
	return cfg->zipf || !strcmp(text, "random");
}

static bool parse_exponent(const struct key *key, const char *text, void *config)
{
	struct config *cfg = config;

	return key_real(key, text, config) && cfg->zipf_exponent > 0;
}

static bool parse_hot_node(const struct key *key, const char *text, void *config)
{
	struct config *cfg = config;

	if (!*text) {
		cfg->hot_node = NO_NODE;
		return true;
	}
	return key_number(key, text, cfg);
}

#define NUMBER(field)	key_number, offsetof(struct config, field)

static const struct key keys[] = {
	{ "scenario", "free",
	  "free: cold memory as large as the hot set, the fast node has room;\n"
	  "pressure: cold memory fills all fast nodes, promotion needs demotion",
	  parse_scenario, 0, 0, 0 },
	{ "fast_node", "0", "node, or list as 0,1; scenario=free puts its cold memory on the first",
	  key_node_list, offsetof(struct config, fast), 0, MAX_NODES - 1 },
	{ "slow_node", "1", "node that is not fast", NUMBER(slow_node), 0, MAX_NODES - 1 },
	{ "hot_node", "", "node where the hot regions start; empty: slow_node",
	  parse_hot_node, offsetof(struct config, hot_node), 0, MAX_NODES - 1 },
	{ "region_mb", "32", "MiB in a hot region", NUMBER(region_mb), 1, 1 << 20 },
	{ "regions", "2", "hot regions, accessed one after another", NUMBER(regions), 1, 1 << 16 },
	{ "accesses", "0",
	  "accesses over all regions; 0: 10000 for each hot page (164 M by default,\n"
	  "about 20 s at 8 M a second), so the time grows with regions x region_mb",
	  NUMBER(accesses), 0, 1ULL << 60 },
	{ "access", "random",
	  "random: all pages of a region alike; zipf: the page of rank r in proportion\n"
	  "to 1 / r^zipf_exponent", parse_access, 0, 0, 0 },
	{ "zipf_exponent", "0.99", "above 0, at most 10", parse_exponent,
	  offsetof(struct config, zipf_exponent), 0, 10 },
	{ "loads_percent", "50", "percent of the accesses that are loads; the rest are stores",
	  NUMBER(loads_percent), 0, 100 },
	{ "sample_ms", "500", "milliseconds between two looks at where the hot pages are",
	  NUMBER(sample_ms), 1, 3600 * 1000 },
	{ "probe_pages", "0",
	  "random pages of the hot region that another thread touches once a\n"
	  "millisecond; how long that took is reported. 0: no such thread",
	  NUMBER(probe_pages), 0, 1 << 16 },
	{ "seed", "1", "of the access order and of the data", NUMBER(seed), 0, INT64_MAX },
	{ "keep_free_mb", "0",
	  "MiB of a fast node that cold memory leaves free; 0: 2 % of the node, at\n"
	  "least 32; less than its watermarks need makes populating reclaim or fail",
	  NUMBER(keep_free_mb), 0, 1 << 24 },
};

static const struct keys all = {
	"Makes regions of a slow NUMA node hot and reports where their pages are.",
	keys, sizeof(keys) / sizeof(keys[0]),
};

void parse_args(int argc, char **argv, struct config *cfg)
{
	keys_parse(&all, argc, argv, cfg);
	if (cfg->hot_node == NO_NODE)
		cfg->hot_node = cfg->slow_node;
	if (!cfg->accesses)
		cfg->accesses = cfg->regions * cfg->region_mb * PAGES_PER_MIB *
				ACCESSES_PER_HOT_PAGE;
}
