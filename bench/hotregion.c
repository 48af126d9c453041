// SPDX-License-Identifier: GPL-2.0-only
/*
 * hotregion: make regions of a slow NUMA node hot, one after another.
 *
 * One thread does a fixed number of random accesses, one 8-byte load or store (an increment)
 * in a random 4 KiB page each, to memory that was populated on the slow node (hot_node= for
 * another). The sooner the
 * pages under access are promoted to a fast node, the sooner it is done. With
 * scenario=pressure the fast nodes are filled beforehand with memory that nobody touches
 * again, so that promotion has to be preceded by demotion; with scenario=free there is room.
 *
 * All memory carries a pattern that is verified at the end, and every load is checked as it
 * is made: a migration that loses a store or a page shows up as a number, not as luck.
 *
 * Output, one record a line, the first word says its kind:
 *	phase NAME				populate, access, verify
 *	populated hot|cold NODE PAGES FREE_MB	what NODE got, and its free memory after that
 *	sample MS HOT_FAST_PAGES DONE_ACCESSES	placement MS milliseconds into the access phase
 *	result NAME VALUE
 * Complaints go to stderr. Exit status: 0 all data intact, 1 not so or a runtime error,
 * 2 wrong arguments.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "args.h"
#include "base.h"
#include "clock.h"
#include "nodes.h"
#include "overlap.h"
#include "pattern.h"
#include "probe.h"
#include "range.h"
#include "roi.h"
#include "sampler.h"
#include "workload.h"

/* Accesses between two updates of the progress that the sampler reads. */
#define BATCH_ACCESSES		4096

/* The thread that accesses. Others may read @done only. */
struct accessor {
	uint64_t rng;
	uint64_t load_limit;		/* of 2^32: draws below it are loads */
	uint64_t loads;
	uint64_t loads_bad;
	_Atomic uint64_t done;		/* accesses, updated once per batch */
};

/* What the sampler looks at. */
struct view {
	const struct config *cfg;
	const struct range *hot;
	const struct accessor *acc;
	const struct pattern *pattern;
	int64_t first_95_ms;		/* -1: not seen; main reads these after the sampler's end */
	struct overlap overlap;		/* of the first region, if it has a skew */
};

/*
 * Milliseconds that the calling thread has spent in the kernel. During its accesses all memory is
 * there, so what remains is hint faults, the scanning that arms them, migration on its path, and
 * interrupts.
 */
static int64_t thread_system_ms(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_stime.tv_sec * 1000LL + usage.ru_stime.tv_usec / 1000;
}

/* ---- hot and cold memory ---- */

static uint64_t fast_node_margin(const struct config *cfg, int node)
{
	return cfg->keep_free_mb ? cfg->keep_free_mb * MIB : node_default_margin(node);
}

static void report_populated(const char *kind, int node, const struct range *range)
{
	printf("populated %s %d %" PRIu64 " %" PRIu64 "\n", kind, node, range->pages,
	       node_meminfo(node, "MemFree:") / MIB);
}

static void populate_hot(const struct config *cfg, struct range *hot)
{
	range_populate_all(hot, cfg->hot_node, hot->pages * PAGE_BYTES,
			   node_default_margin(cfg->hot_node));
	report_populated("hot", cfg->hot_node, hot);
}

/* scenario=free: as much as is hot, with room left for the hot pages. */
static void populate_cold_free(const struct config *cfg, const struct range *hot,
			       struct range *cold)
{
	int node = cfg->fast.node[0];

	cold->pages = hot->pages;
	range_populate_all(cold, node, 2 * hot->pages * PAGE_BYTES, fast_node_margin(cfg, node));
}

/* scenario=pressure: all that is free but for the margin. */
static void populate_cold_pressure(const struct config *cfg, int node, struct range *cold)
{
	uint64_t free = node_meminfo(node, "MemFree:"), keep_free = fast_node_margin(cfg, node);

	cold->pages = free > keep_free ? (free - keep_free) / PAGE_BYTES : 0;
	range_populate(cold, node, keep_free);
}

static uint64_t populate_cold(const struct config *cfg, const struct range *hot,
			      struct range cold[MAX_FAST_NODES])
{
	uint64_t pages = 0, spare = 0;
	uint64_t base = hot->base + hot->pages * PATTERN_PAGE_STEP;
	unsigned int nr = cfg->pressure ? cfg->fast.nr : 1;

	for (unsigned int i = 0; i < nr; i++) {
		/* Go on with the pattern of the range before: no two pages are equal. */
		cold[i].base = base + pages * PATTERN_PAGE_STEP;
		if (cfg->pressure)
			populate_cold_pressure(cfg, cfg->fast.node[i], &cold[i]);
		else
			populate_cold_free(cfg, hot, &cold[i]);
		report_populated("cold", cfg->fast.node[i], &cold[i]);
		pages += cold[i].pages;
		spare += fast_node_margin(cfg, cfg->fast.node[i]);
	}
	if (cfg->pressure && spare >= hot->pages * PAGE_BYTES)
		fprintf(stderr, "hotregion: warning: %" PRIu64 " MiB stay free on the fast nodes, "
			"enough for all hot memory: promotion may need no demotion\n",
			spare / MIB);
	return pages;
}

/*
 * Hot memory comes last, so that under pressure the fast nodes are full before any of it is touched; a
 * source sees it being written, too. Where it starts on a fast node it needs its place first. Returns
 * the pages of cold memory.
 */
static uint64_t populate(const struct config *cfg, struct range *hot,
			 struct range cold[MAX_FAST_NODES])
{
	bool hot_first = node_list_has(&cfg->fast, cfg->hot_node);
	uint64_t cold_pages;

	if (hot_first)
		populate_hot(cfg, hot);
	cold_pages = populate_cold(cfg, hot, cold);
	if (!hot_first)
		populate_hot(cfg, hot);
	return cold_pages;
}

/* ---- accesses ---- */

/*
 * What the access word of each hot page must hold. It takes a fast cache line for each access,
 * 0.2 % of the hot memory in all, and in return each load is checked while pages migrate.
 */
static uint64_t *expected_create(const struct range *hot)
{
	uint64_t *expected = malloc(hot->pages * sizeof(*expected));

	if (!expected)
		die("cannot allocate %" PRIu64 " words", hot->pages);
	for (uint64_t page = 0; page < hot->pages; page++)
		expected[page] = hot->base + page * PATTERN_PAGE_STEP +
				 ACCESS_WORD * PATTERN_WORD_STEP;
	return expected;
}

/*
 * @count accesses to the pages of @pattern at @words; @expected has one word for each of them.
 * A store adds to what the page holds rather than copying @expected there: the next store to
 * the page would then hide one that a migration lost.
 */
static void access_batch(struct accessor *acc, volatile uint64_t *words, uint64_t *expected,
			 const struct pattern *pattern, uint64_t count)
{
	/* Copies: stores to the hot memory do not change them, which a compiler cannot know. */
	const struct pattern draw = *pattern;
	const uint64_t load_limit = acc->load_limit;
	uint64_t rng = acc->rng, loads = 0, bad = 0;

	for (uint64_t i = 0; i < count; i++) {
		uint64_t page;

		/* The upper half draws the page, the lower one what to do. */
		rng = xorshift64(rng);
		page = pattern_draw(&draw, &rng);
		if ((uint32_t)rng < load_limit) {
			bad += words[page * WORDS_PER_PAGE + ACCESS_WORD] != expected[page];
			loads++;
		} else {
			words[page * WORDS_PER_PAGE + ACCESS_WORD] += 1;
			expected[page]++;
		}
	}
	acc->rng = rng;
	acc->loads += loads;
	acc->loads_bad += bad;
	atomic_fetch_add_explicit(&acc->done, count, memory_order_relaxed);
}

static void access_regions(const struct config *cfg, const struct range *hot,
			   const struct pattern *pattern, uint64_t *expected, struct accessor *acc,
			   struct probe *probe)
{
	uint64_t region_pages = pattern->pages;

	for (uint64_t region = 0; region < cfg->regions; region++) {
		uint64_t first = region * region_pages;
		uint64_t left = cfg->accesses / cfg->regions;

		if (region == cfg->regions - 1)
			left += cfg->accesses % cfg->regions;
		probe_look_at(probe, first);
		while (left) {
			uint64_t count = left < BATCH_ACCESSES ? left : BATCH_ACCESSES;

			access_batch(acc, hot->words + first * WORDS_PER_PAGE, expected + first,
				     pattern, count);
			left -= count;
		}
	}
}

/* ---- where the hot pages are ---- */

/* Which pages of the first region are fast: to begin with, or later. */
static void take_overlap(struct view *v)
{
	const struct pattern *pattern = v->pattern;
	bool *fast;

	if (!pattern->ranks || v->overlap.promoted)
		return;
	fast = calloc(pattern->pages, sizeof(*fast));
	if (!fast)
		die("cannot allocate a list of %" PRIu64 " pages", pattern->pages);
	node_count(&v->cfg->fast, v->hot->words, pattern->pages, fast);
	if (!v->overlap.before) {
		overlap_begin(&v->overlap, pattern, fast);
	} else {
		overlap_look(&v->overlap, fast);
		free(fast);
	}
}

static uint64_t take_sample(struct view *v, uint64_t ms)
{
	uint64_t done = atomic_load_explicit(&v->acc->done, memory_order_relaxed);
	uint64_t fast = node_count(&v->cfg->fast, v->hot->words, v->hot->pages, NULL);

	printf("sample %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", ms, fast, done);
	if (v->first_95_ms < 0 && fast * 100 >= v->hot->pages * 95)
		v->first_95_ms = ms;
	take_overlap(v);
	return fast;
}

static void look(void *arg, uint64_t ms)
{
	take_sample(arg, ms);
}

/* ---- the whole run ---- */

/* All regions are accessed in the same pattern. */
static void pattern_choose(const struct config *cfg, const struct range *hot,
			   struct pattern *pattern)
{
	uint64_t pages = hot->pages / cfg->regions;

	if (cfg->zipf)
		pattern_zipf(pattern, pages, cfg->zipf_exponent, mix64(cfg->seed + 1));
	else
		pattern_random(pattern, pages);
}

/* Returns the exit status. */
static int run(const struct config *cfg)
{
	struct range cold[MAX_FAST_NODES] = { 0 }, hot = {
		.base = mix64(cfg->seed),
		.pages = cfg->regions * cfg->region_mb * PAGES_PER_MIB,
	};
	struct accessor acc = {
		.rng = mix64(~cfg->seed) | 1,		/* 0 would stay 0 */
		.load_limit = (cfg->loads_percent << 32) / 100,
	};
	struct pattern pattern = { 0 };
	struct probe probe = { 0 };
	struct view view = { .cfg = cfg, .hot = &hot, .acc = &acc, .pattern = &pattern,
			     .first_95_ms = -1 };
	struct sampler sampler = { .period_ms = cfg->sample_ms, .look = look, .arg = &view };
	uint64_t cold_pages, hot_fast, ns, pages_bad, *expected;
	int64_t system_ms;

	puts("phase populate");
	/* These before the fast node is full. */
	expected = expected_create(&hot);
	pattern_choose(cfg, &hot, &pattern);
	if (cfg->probe_pages)
		probe_prepare(&probe, &hot, pattern.pages, cfg->probe_pages);
	cold_pages = populate(cfg, &hot, cold);

	puts("phase access");
	take_sample(&view, 0);
	sampler_start(&sampler);
	if (cfg->probe_pages)
		probe_start(&probe);
	system_ms = thread_system_ms();
	roi_begin();
	access_regions(cfg, &hot, &pattern, expected, &acc, &probe);
	roi_end();
	system_ms = thread_system_ms() - system_ms;
	ns = now_ns() - sampler.start_ns;
	sampler_stop(&sampler);
	if (cfg->probe_pages)
		probe_stop(&probe);
	hot_fast = take_sample(&view, ns / NSEC_PER_MSEC);

	puts("phase verify");
	pages_bad = range_verify("hot", &hot, expected);
	for (unsigned int i = 0; i < cfg->fast.nr; i++)
		pages_bad += range_verify("cold", &cold[i], NULL);
	free(expected);
	pattern_free(&pattern);

	printf("result seconds %" PRIu64 ".%03" PRIu64 "\n", (uint64_t)(ns / NSEC_PER_SEC),
	       (uint64_t)(ns / NSEC_PER_MSEC % 1000));
	result("system_ms", system_ms);
	result("accesses", acc.done);
	result("loads", acc.loads);
	result("stores", acc.done - acc.loads);
	result("loads_bad", acc.loads_bad);
	result("hot_pages", hot.pages);
	result("hot_pages_fast", hot_fast);
	result("hot_pages_first_ms_95", view.first_95_ms);
	if (cfg->zipf) {
		result("first_tenth_of", view.overlap.of);
		result("first_tenth", view.overlap.promoted);
		result("first_tenth_hottest", view.overlap.hottest);
		overlap_free(&view.overlap);
	}
	if (cfg->probe_pages)
		probe_report(&probe);
	result("cold_pages", cold_pages);
	result("pages_bad", pages_bad);
	return pages_bad || acc.loads_bad;
}

int main(int argc, char **argv)
{
	struct config cfg = { 0 };
	int status;

	parse_args(argc, argv, &cfg);
	if (sysconf(_SC_PAGESIZE) != (long)PAGE_BYTES)
		die("needs pages of 4 KiB");
	for (unsigned int i = 0; i < cfg.fast.nr; i++)
		check_node("fast_node", cfg.fast.node[i]);
	check_node("slow_node", cfg.slow_node);
	check_node("hot_node", cfg.hot_node);
	/* Line by line also into a pipe or a file: whoever reads along, or a crash, sees all. */
	setvbuf(stdout, NULL, _IOLBF, 0);
	status = run(&cfg);
	if (fflush(stdout) || ferror(stdout))
		die("cannot write the output");
	return status;
}
