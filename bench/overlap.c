// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <stdlib.h>

#include "base.h"
#include "overlap.h"

void overlap_begin(struct overlap *overlap, const struct pattern *pattern, bool *fast)
{
	*overlap = (struct overlap){ .pattern = pattern, .before = fast };
	for (uint64_t page = 0; page < pattern->pages; page++)
		overlap->of += !fast[page];
}

/* Of the @promoted hottest of the pages in question, how many are fast? */
static uint64_t count_hottest(const struct overlap *overlap, const bool *fast)
{
	uint64_t pages = overlap->pattern->pages, left = overlap->promoted, hottest = 0;
	uint32_t *by_rank = malloc(pages * sizeof(*by_rank));

	if (!by_rank)
		die("cannot allocate a list of %" PRIu64 " pages", pages);
	for (uint64_t page = 0; page < pages; page++)
		by_rank[overlap->pattern->ranks[page]] = page;
	for (uint64_t rank = 0; rank < pages && left; rank++) {
		if (overlap->before[by_rank[rank]])
			continue;
		hottest += fast[by_rank[rank]];
		left--;
	}
	free(by_rank);
	return hottest;
}

void overlap_look(struct overlap *overlap, const bool *fast)
{
	uint64_t promoted = 0;

	if (overlap->promoted)
		return;
	for (uint64_t page = 0; page < overlap->pattern->pages; page++)
		promoted += fast[page] && !overlap->before[page];
	if (!promoted || promoted * 10 < overlap->of)
		return;
	overlap->promoted = promoted;
	overlap->hottest = count_hottest(overlap, fast);
}

void overlap_free(struct overlap *overlap)
{
	free(overlap->before);
}
