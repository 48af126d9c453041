// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>

#include "base.h"
#include "cache.h"
#include "pattern.h"
#include "workload.h"

#define WORD_BYTES	sizeof(uint64_t)
#define LINE_WORDS	(CACHE_LINE_BYTES / WORD_BYTES)
/* Words of a value. */
enum { KEY, VERSION, CONTENT };
/* From a word of the content to the next one. */
#define CONTENT_STEP	0x9e3779b97f4a7c15ULL

/* @tag: of the key; @value: its number and 1; 0: the slot is empty. */
struct cache_slot {
	uint32_t tag, value;
};

/* Two of three slots are in use. */
static uint64_t slots_for(uint64_t values)
{
	return values + values / 2 + 1;
}

void cache_size(struct cache *cache, uint64_t bytes, uint64_t value_bytes, uint64_t seed)
{
	uint64_t room = bytes > 2 * PAGE_BYTES ? bytes - 2 * PAGE_BYTES : 0;

	cache->nr = room / (value_bytes + sizeof(struct cache_slot) * 3 / 2);
	if (!cache->nr || cache->nr >= UINT32_MAX)
		die("value_bytes=%" PRIu64 ": of a working set of %" PRIu64 " MiB that makes %" PRIu64
		    " values; it must be 1 to %" PRIu32, value_bytes, bytes / MIB, cache->nr, UINT32_MAX - 1);
	cache->value_bytes = value_bytes;
	cache->nr_slots = slots_for(cache->nr);
	cache->seed = seed;
}

static uint64_t pages_of(uint64_t bytes)
{
	return (bytes + PAGE_BYTES - 1) / PAGE_BYTES;
}

uint64_t cache_value_pages(const struct cache *cache)
{
	return pages_of(cache->nr * cache->value_bytes);
}

uint64_t cache_index_bytes(const struct cache *cache)
{
	return pages_of(cache->nr_slots * sizeof(*cache->slots)) * PAGE_BYTES;
}

void cache_map(struct cache *cache, struct place *place, const uint32_t *order, uint64_t hot)
{
	/* A cache makes its index larger as it fills, so the index it ends with is younger than most values. */
	cache->values = place_map_ranked(place, cache_value_pages(cache) * PAGE_BYTES, order, hot);
	cache->slots = place_map(place, cache_index_bytes(cache), PLACE_HOT);
}

uint64_t cache_key(const struct cache *cache, uint64_t i)
{
	return mix64(i ^ cache->seed << 32);
}

/* No two values have the same key, and keys are as random as a hash of them would be. */
static uint64_t first_slot(const struct cache *cache, uint64_t key)
{
	return draw_below(key, cache->nr_slots);
}

static uint64_t next_slot(const struct cache *cache, uint64_t slot)
{
	return slot + 1 < cache->nr_slots ? slot + 1 : 0;
}

static uint64_t *value_of(const struct cache *cache, uint64_t i)
{
	return cache->values + i * (cache->value_bytes / WORD_BYTES);
}

static uint64_t *find(const struct cache *cache, uint64_t key)
{
	uint64_t at = first_slot(cache, key);

	for (; cache->slots[at].value; at = next_slot(cache, at)) {
		uint64_t *value;

		if (cache->slots[at].tag != (uint32_t)key)
			continue;
		value = value_of(cache, cache->slots[at].value - 1);
		if (value[KEY] == key)
			return value;
	}
	return NULL;
}

/* Word CONTENT of a value that was last written with that version; each later one is CONTENT_STEP more. */
static uint64_t content(uint64_t key, uint64_t version)
{
	return mix64(key + version);
}

/* Are words @from, @from + LINE_WORDS, ... what they should be? A set writes those from CONTENT on. */
static bool lines_good(const struct cache *cache, const uint64_t *value, uint64_t from)
{
	const uint64_t *end = value + cache->value_bytes / WORD_BYTES;
	uint64_t want = content(value[KEY], from == CONTENT ? value[VERSION] : 0), differ = 0;

	want += CONTENT_STEP * (from - CONTENT);
	for (const uint64_t *at = value + from; at < end; at += LINE_WORDS, want += CONTENT_STEP * LINE_WORDS)
		differ |= *at ^ want;
	return !differ;
}

static bool value_good(const struct cache *cache, const uint64_t *value)
{
	bool good = true;

	/* Where the first line has the key and the version, the others have content: the last two rounds. */
	for (uint64_t from = CONTENT; from < CONTENT + LINE_WORDS; from++)
		good &= lines_good(cache, value, from);
	return good;
}

/* Words CONTENT, CONTENT + @step, ... */
static void value_write(const struct cache *cache, uint64_t *value, uint64_t key, uint64_t version,
			uint64_t step)
{
	const uint64_t *end = value + cache->value_bytes / WORD_BYTES;
	uint64_t word = content(key, version);

	value[KEY] = key;
	value[VERSION] = version;
	for (uint64_t *at = value + CONTENT; at < end; at += step, word += CONTENT_STEP * step)
		*at = word;
}

void cache_fill(struct cache *cache)
{
	for (uint64_t i = 0; i < cache->nr; i++) {
		uint64_t key = cache_key(cache, i), at = first_slot(cache, key);

		value_write(cache, value_of(cache, i), key, 0, 1);
		while (cache->slots[at].value)
			at = next_slot(cache, at);
		cache->slots[at] = (struct cache_slot){ key, i + 1 };
	}
}

bool cache_get(const struct cache *cache, uint64_t key)
{
	const uint64_t *value = find(cache, key);

	return value && lines_good(cache, value, CONTENT);
}

bool cache_set(const struct cache *cache, uint64_t key)
{
	uint64_t *value = find(cache, key);

	if (!value)
		return false;
	value_write(cache, value, key, value[VERSION] + 1, LINE_WORDS);
	return true;
}

uint64_t cache_verify(const struct cache *cache, const uint32_t *versions)
{
	uint64_t bad = 0;

	for (uint64_t i = 0; i < cache->nr; i++) {
		const uint64_t *value = value_of(cache, i);

		bad += find(cache, cache_key(cache, i)) != value || value[VERSION] != versions[i] ||
		       !value_good(cache, value);
	}
	return bad;
}
