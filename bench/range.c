// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/mman.h>

#include "base.h"
#include "nodes.h"
#include "populate.h"
#include "range.h"

/* Bad pages described one by one; the rest are only counted. */
#define BAD_PAGES_SHOWN		8

static void range_fill(void *arg, uint64_t first, uint64_t pages)
{
	const struct range *range = arg;

	for (uint64_t page = first; page < first + pages; page++) {
		uint64_t *words = range->words + page * WORDS_PER_PAGE;
		uint64_t value = range->base + page * PATTERN_PAGE_STEP;

		for (size_t w = 0; w < WORDS_PER_PAGE; w++, value += PATTERN_WORD_STEP)
			words[w] = value;
	}
}

static void range_trim(struct range *range, uint64_t pages)
{
	if (pages < range->pages)
		munmap(range->words + pages * WORDS_PER_PAGE, (range->pages - pages) * PAGE_BYTES);
	range->pages = pages;
}

void range_populate(struct range *range, int node, uint64_t keep_free)
{
	if (!range->pages)
		return;
	range->words = populate_map(range->pages * PAGE_BYTES);
	range_trim(range, populate_on(range->words, range->pages, node, keep_free, range_fill, range));
}

void range_populate_all(struct range *range, int node, uint64_t need, uint64_t keep_free)
{
	uint64_t free = node_meminfo(node, "MemFree:"), pages = range->pages;

	if (free >= need + keep_free)
		range_populate(range, node, keep_free);
	if (free < need + keep_free || range->pages < pages)
		die("node %d has no room: %" PRIu64 " MiB were free, %" PRIu64 " needed and %"
		    PRIu64 " to stay free", node, free / MIB, need / MIB, keep_free / MIB);
}

/* The first wrong word, or WORDS_PER_PAGE. @access_value: what the access word must hold. */
static size_t first_bad_word(const uint64_t *words, uint64_t value, uint64_t access_value)
{
	for (size_t w = 0; w < WORDS_PER_PAGE; w++, value += PATTERN_WORD_STEP)
		if (words[w] != (w == ACCESS_WORD ? access_value : value))
			return w;
	return WORDS_PER_PAGE;
}

uint64_t range_verify(const char *kind, const struct range *range, const uint64_t *expected)
{
	uint64_t bad = 0;

	for (uint64_t page = 0; page < range->pages; page++) {
		const uint64_t *words = range->words + page * WORDS_PER_PAGE;
		uint64_t value = range->base + page * PATTERN_PAGE_STEP;
		uint64_t access_value = value + ACCESS_WORD * PATTERN_WORD_STEP;
		size_t w = first_bad_word(words, value, expected ? expected[page] : access_value);

		if (w == WORDS_PER_PAGE)
			continue;
		if (bad++ < BAD_PAGES_SHOWN)
			fprintf(stderr, PROGRAM_NAME ": %s page %" PRIu64 " is bad from word %zu on: %#"
				PRIx64 "\n", kind, page, w, words[w]);
	}
	return bad;
}
