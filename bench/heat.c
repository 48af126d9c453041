// SPDX-License-Identifier: GPL-2.0-only
#include "base.h"
#include "heat.h"
#include "loglin.h"

/* A counting sort: a sort by comparison would take a guest seconds. */
uint32_t *heat_order(const uint64_t *heat, uint64_t pages)
{
	uint64_t place[LOGLIN_BUCKETS] = { 0 }, before = 0;
	uint32_t *order = xcalloc(pages, sizeof(*order));

	for (uint64_t i = 0; i < pages; i++)
		place[loglin_bucket(heat[i])]++;
	for (unsigned int b = LOGLIN_BUCKETS; b--;) {
		uint64_t count = place[b];

		place[b] = before;
		before += count;
	}
	for (uint64_t i = 0; i < pages; i++)
		order[place[loglin_bucket(heat[i])]++] = i;
	return order;
}
