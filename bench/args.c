// SPDX-License-Identifier: GPL-2.0-only
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "base.h"
#include "nodes.h"

/*
 * Default work: about 20 s for the default 64 MiB of hot memory at 8 M accesses a second,
 * which is what an emulated guest manages. A per-page number, so that a page of a larger hot
 * set is hit as often, and the time grows with regions x region_mb.
 */
#define ACCESSES_PER_HOT_PAGE	10000

#define NO_NODE			UINT64_MAX

struct key {
	const char *name;
	const char *def;
	const char *help;
	bool (*parse)(const struct key *key, const char *text, struct config *cfg);
	size_t offset;			/* numbers: where in struct config */
	uint64_t min, max;		/* numbers: both allowed */
};

static bool parse_digits(const char *text, size_t len, uint64_t *out)
{
	uint64_t value = 0;

	if (!len)
		return false;
	for (size_t i = 0; i < len; i++) {
		if (text[i] < '0' || text[i] > '9' || value > (UINT64_MAX - 9) / 10)
			return false;
		value = value * 10 + (text[i] - '0');
	}
	*out = value;
	return true;
}

static bool parse_number(const struct key *key, const char *text, struct config *cfg)
{
	uint64_t value;

	if (!parse_digits(text, strlen(text), &value) || value < key->min || value > key->max)
		return false;
	*(uint64_t *)((char *)cfg + key->offset) = value;
	return true;
}

bool is_fast_node(const struct config *cfg, int node)
{
	for (unsigned int i = 0; i < cfg->nr_fast_nodes; i++)
		if (cfg->fast_nodes[i] == node)
			return true;
	return false;
}

static bool parse_fast_nodes(const struct key *key, const char *text, struct config *cfg)
{
	cfg->nr_fast_nodes = 0;
	for (;;) {
		size_t len = strcspn(text, ",");
		uint64_t node;

		if (!parse_digits(text, len, &node) || node > key->max ||
		    is_fast_node(cfg, node) || cfg->nr_fast_nodes == MAX_FAST_NODES)
			return false;
		cfg->fast_nodes[cfg->nr_fast_nodes++] = node;
		if (!text[len])
			return true;
		text += len + 1;
	}
}

static bool parse_scenario(const struct key *key, const char *text, struct config *cfg)
{
	(void)key;
	cfg->pressure = !strcmp(text, "pressure");
	return cfg->pressure || !strcmp(text, "free");
}

static bool parse_access(const struct key *key, const char *text, struct config *cfg)
{
	(void)key;
	cfg->zipf = !strcmp(text, "zipf");
	return cfg->zipf || !strcmp(text, "random");
}

static bool parse_exponent(const struct key *key, const char *text, struct config *cfg)
{
	char *end;

	(void)key;
	if (strspn(text, "0123456789.") != strlen(text) || !*text)
		return false;
	cfg->zipf_exponent = strtod(text, &end);
	return !*end && cfg->zipf_exponent > 0 && cfg->zipf_exponent <= 10;
}

static bool parse_hot_node(const struct key *key, const char *text, struct config *cfg)
{
	if (!*text) {
		cfg->hot_node = NO_NODE;
		return true;
	}
	return parse_number(key, text, cfg);
}

#define NUMBER(field)	parse_number, offsetof(struct config, field)

static const struct key keys[] = {
	{ "scenario", "free",
	  "free: cold memory as large as the hot set, the fast node has room;\n"
	  "pressure: cold memory fills all fast nodes, promotion needs demotion",
	  parse_scenario, 0, 0, 0 },
	{ "fast_node", "0", "node, or list as 0,1; scenario=free puts its cold memory on the first",
	  parse_fast_nodes, 0, 0, MAX_NODES - 1 },
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
	{ "zipf_exponent", "0.99", "above 0, at most 10", parse_exponent, 0, 0, 0 },
	{ "loads_percent", "50", "percent of the accesses that are loads; the rest are stores",
	  NUMBER(loads_percent), 0, 100 },
	{ "sample_ms", "500", "milliseconds between two looks at where the hot pages are",
	  NUMBER(sample_ms), 1, 3600 * 1000 },
	{ "seed", "1", "of the access order and of the data", NUMBER(seed), 0, INT64_MAX },
	{ "keep_free_mb", "0",
	  "MiB of a fast node that cold memory leaves free; 0: 2 % of the node, at\n"
	  "least 32; less than its watermarks need makes populating reclaim or fail",
	  NUMBER(keep_free_mb), 0, 1 << 24 },
};

#define NR_KEYS		(sizeof(keys) / sizeof(keys[0]))

static void print_help(void)
{
	puts("usage: hotregion [KEY=VALUE]...\n"
	     "Makes regions of a slow NUMA node hot and reports where their pages are.\n"
	     "Keys with their defaults:");
	for (size_t i = 0; i < NR_KEYS; i++) {
		const char *line = keys[i].help;
		int width = 24 - (int)strlen(keys[i].name) - 3;

		printf("  %s=%-*s", keys[i].name, width, keys[i].def);
		for (const char *end; (end = strchr(line, '\n')); line = end + 1)
			printf("%.*s\n%24s", (int)(end - line), line, "");
		puts(line);
	}
}

/* One line, closed by the list of known keys. @what: what is wrong with @arg. */
static void __attribute__((noreturn)) refuse(const char *what, const char *arg)
{
	fprintf(stderr, "hotregion: %s '%s'; known keys:", what, arg);
	for (size_t i = 0; i < NR_KEYS; i++)
		fprintf(stderr, " %s", keys[i].name);
	fputs(" (see --help)\n", stderr);
	exit(2);
}

static void parse_arg(const char *arg, struct config *cfg)
{
	size_t len = strcspn(arg, "=");

	if (!arg[len])
		refuse("expected KEY=VALUE, not", arg);
	for (size_t i = 0; i < NR_KEYS; i++) {
		if (strlen(keys[i].name) != len || memcmp(keys[i].name, arg, len))
			continue;
		if (!keys[i].parse(&keys[i], arg + len + 1, cfg))
			refuse("bad value in", arg);
		return;
	}
	refuse("unknown key in", arg);
}

void parse_args(int argc, char **argv, struct config *cfg)
{
	for (size_t i = 0; i < NR_KEYS; i++)
		keys[i].parse(&keys[i], keys[i].def, cfg);
	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--help")) {
			print_help();
			exit(0);
		}
		parse_arg(argv[i], cfg);
	}
	if (cfg->hot_node == NO_NODE)
		cfg->hot_node = cfg->slow_node;
	if (!cfg->accesses)
		cfg->accesses = cfg->regions * cfg->region_mb * PAGES_PER_MIB *
				ACCESSES_PER_HOT_PAGE;
}
