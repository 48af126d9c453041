// SPDX-License-Identifier: GPL-2.0-only
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"

/*
 * The cache stands for what a CPU has to itself of the last level. 2 MiB of it is far less than
 * the workloads' hot memory, so that their accesses reach memory, and far more than their
 * bookkeeping; its tags, 128 KiB, still fit the host's second-level cache. The tags of a set of 8
 * ways take half a line of the host's, so that a look costs one miss there.
 */
static const struct options defaults = {
	.mode = PGHOT_LABDEV_LATENCY,
	.cache_kb = 2048,
	.cache_ways = 8,
	.cache_line = 64,
	.scale = 5,
	.kernel = true,
	.quantum_us = 20,
	.prof_slots = 1024,
	.prof_ops = 300,
	.chmu = true,
	.chmu_entries = 4096,
};

static bool complain(const char *arg, const char *want)
{
	fprintf(stderr, "pghot-lab: bad option '%s': %s\n", arg, want);
	return false;
}

static bool parse_number(const char *text, uint32_t *out)
{
	char *end;
	unsigned long value;

	if (*text < '0' || *text > '9' || strlen(text) > 9)
		return false;
	value = strtoul(text, &end, 10);
	*out = value;
	return !*end;
}

static bool power_of_two(uint32_t n)
{
	return n && !(n & (n - 1));
}

struct number_key {
	const char *name;
	size_t offset;			/* in struct options */
	uint32_t min, max;		/* both allowed */
	bool power;			/* must be a power of two */
	const char *want;
};

static const struct number_key number_keys[] = {
	{ "cache_kb", offsetof(struct options, cache_kb), 1, 1 << 20, true,
	  "it must be a power of two from 1 to 1048576 (KiB)" },
	{ "cache_ways", offsetof(struct options, cache_ways), 1, 16, true,
	  "it must be a power of two from 1 to 16" },
	{ "cache_line", offsetof(struct options, cache_line), 32, 1024, true,
	  "it must be a power of two from 32 to 1024 (bytes)" },
	{ "scale", offsetof(struct options, scale), 1, 1000, false,
	  "it must be a number from 1 to 1000" },
	{ "quantum_us", offsetof(struct options, quantum_us), 1, 1000, false,
	  "it must be a number from 1 to 1000 (microseconds)" },
	{ "prof_ops", offsetof(struct options, prof_ops), 1, 10000, false,
	  "it must be a number from 1 to 10000 (operations)" },
	{ "chmu_entries", offsetof(struct options, chmu_entries), 8, 16384, false,
	  "it must be a number from 8 to 16384" },
};

static bool parse_mode(struct options *opts, const char *arg, const char *value)
{
	if (!strcmp(value, "count"))
		opts->mode = PGHOT_LABDEV_COUNT;
	else if (!strcmp(value, "latency"))
		opts->mode = PGHOT_LABDEV_LATENCY;
	else
		return complain(arg, "it must be count or latency");
	return true;
}

static bool parse_kernel(struct options *opts, const char *arg, const char *value)
{
	opts->kernel = !strcmp(value, "on");
	return opts->kernel || !strcmp(value, "off") || complain(arg, "it must be on or off");
}

static bool parse_prof_slots(struct options *opts, const char *arg, const char *value)
{
	uint32_t *slots = &opts->prof_slots;

	return (parse_number(value, slots) &&
		(!*slots || (*slots >= 8 && *slots <= PGHOT_LABDEV_MAX_SLOTS &&
			     power_of_two(*slots)))) ||
	       complain(arg, "it must be 0 or a power of two from 8 to 1024");
}

static bool parse_chmu(struct options *opts, const char *arg, const char *value)
{
	uint32_t counters = 0;

	opts->chmu = strcmp(value, "off");
	if (opts->chmu && strcmp(value, "exact") &&
	    (!parse_number(value, &counters) || counters < 64 || counters > 1048576 ||
	     !power_of_two(counters)))
		return complain(arg, "it must be off, exact, or a power of two from 64 to 1048576 "
				"(counters)");
	opts->chmu_counters = counters;
	return true;
}

/* nodeN=fast:NS:MBPS or nodeN=slow:NS:MBPS; false if @arg is something else or wrong */
static bool parse_node(struct options *opts, const char *arg)
{
	struct node_option node = { 0 };
	unsigned int nr;
	char tier[5];
	int len = 0;

	if (sscanf(arg, "node%2u=%4[a-z]:%9u:%n", &nr, tier, &node.latency_ns, &len) != 3 || !len ||
	    nr >= PGHOT_LABDEV_MAX_NODES || !parse_number(arg + len, &node.bandwidth_mbps) ||
	    !node.latency_ns || node.latency_ns > 65535 ||
	    !node.bandwidth_mbps || node.bandwidth_mbps > 1048576)
		return false;
	node.slow = !strcmp(tier, "slow");
	if (!node.slow && strcmp(tier, "fast"))
		return false;
	opts->nodes[nr] = node;
	return true;
}

static bool parse_one(struct options *opts, const char *arg)
{
	const char *value = strchr(arg, '=');
	size_t len = value ? (size_t)(value - arg) : 0;

	if (!value)
		return complain(arg, "it must be KEY=VALUE");
	value++;
	if (len == 3 && !memcmp(arg, "shm", len)) {
		opts->shm = value;
		return true;
	}
	if (len == 4 && !memcmp(arg, "mode", len))
		return parse_mode(opts, arg, value);
	if (len == 4 && !memcmp(arg, "chmu", len))
		return parse_chmu(opts, arg, value);
	if (len == 6 && !memcmp(arg, "kernel", len))
		return parse_kernel(opts, arg, value);
	if (len == 10 && !memcmp(arg, "prof_slots", len))
		return parse_prof_slots(opts, arg, value);
	if (!strncmp(arg, "node", 4))
		return parse_node(opts, arg) ||
		       complain(arg, "it must be nodeN=fast:NS:MBPS or nodeN=slow:NS:MBPS, N below "
				"16, NS from 1 to 65535, MBPS from 1 to 1048576");
	for (size_t i = 0; i < sizeof(number_keys) / sizeof(*number_keys); i++) {
		const struct number_key *key = &number_keys[i];
		uint32_t *number = (uint32_t *)((char *)opts + key->offset);

		if (strlen(key->name) != len || memcmp(key->name, arg, len))
			continue;
		return (parse_number(value, number) && *number >= key->min &&
			*number <= key->max && (!key->power || power_of_two(*number))) ||
		       complain(arg, key->want);
	}
	return complain(arg, "known are shm mode nodeN cache_kb cache_ways cache_line scale "
			"kernel quantum_us prof_slots prof_ops chmu chmu_entries");
}

bool options_parse(struct options *opts, int argc, char **argv)
{
	*opts = defaults;
	for (int i = 0; i < argc; i++)
		if (!parse_one(opts, argv[i]))
			return false;
	if (!opts->shm)
		return complain("shm=", "it is missing: name the file behind the device");
	if ((uint64_t)opts->cache_kb * 1024 < (uint64_t)opts->cache_ways * opts->cache_line) {
		fprintf(stderr, "pghot-lab: cache_kb=%u is less than one set of cache_ways=%u "
			"lines of cache_line=%u bytes: make it larger\n", opts->cache_kb,
			opts->cache_ways, opts->cache_line);
		return false;
	}
	return true;
}
