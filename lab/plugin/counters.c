// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <sched.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#include "counters.h"

#define WORD_BITS	64
#define SPINS		100

/* Zeroes; pages come into being when they are written to. */
static void *reserve(uint64_t bytes)
{
	void *mem = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return mem == MAP_FAILED ? NULL : mem;
}

static void release(void *mem, uint64_t bytes)
{
	if (mem)
		munmap(mem, bytes);
}

static uint64_t touched_words(uint64_t nr)
{
	return nr / COUNTERS_BLOCK / WORD_BITS + 1;
}

bool counters_init(struct counters *counters, uint64_t things, uint64_t nr)
{
	memset(counters, 0, sizeof(*counters));
	counters->nr = nr ? nr : things;
	counters->touched = reserve(touched_words(counters->nr) * sizeof(uint64_t));
	if (nr) {
		counters->slot = reserve(nr * sizeof(*counters->slot));
		counters->locked = reserve(nr / COUNTERS_WAYS);
	} else {
		counters->count = reserve(things * sizeof(*counters->count));
	}
	if (counters->touched && (counters->count || (counters->slot && counters->locked)))
		return true;
	counters_free(counters);
	return false;
}

void counters_free(struct counters *counters)
{
	release(counters->touched, touched_words(counters->nr) * sizeof(uint64_t));
	release(counters->count, counters->nr * sizeof(*counters->count));
	release(counters->slot, counters->nr * sizeof(*counters->slot));
	release(counters->locked, counters->nr / COUNTERS_WAYS);
	memset(counters, 0, sizeof(*counters));
}

/*
 * Call it after the counter was changed: whoever takes all counts clears the bit first and looks at
 * the counters then, so that a count without its bit set is never left.
 */
static void touch(struct counters *counters, uint64_t counter)
{
	uint64_t block = counter / COUNTERS_BLOCK;
	uint64_t *word = &counters->touched[block / WORD_BITS];
	uint64_t bit = 1ULL << block % WORD_BITS;

	if (!(__atomic_load_n(word, __ATOMIC_SEQ_CST) & bit))
		__atomic_fetch_or(word, bit, __ATOMIC_SEQ_CST);
}

/* ---- a counter for each ---- */

static uint32_t add_exact(struct counters *counters, uint32_t thing, uint32_t max)
{
	uint32_t *count = &counters->count[thing], new;

	if (__atomic_load_n(count, __ATOMIC_RELAXED) >= max)
		return 0;
	/* Several threads may get here at @max - 1. */
	new = __atomic_add_fetch(count, 1, __ATOMIC_SEQ_CST);
	touch(counters, thing);
	return new <= max ? new : 0;
}

/* ---- counters for those counted most ---- */

static uint64_t set_of(const struct counters *counters, uint32_t thing)
{
	/* Neighbours go to different sets. */
	return (thing * 0x9e3779b97f4a7c15ULL >> 32) & (counters->nr / COUNTERS_WAYS - 1);
}

static void set_lock(struct counters *counters, uint64_t set)
{
	for (unsigned int spins = 0;
	     __atomic_exchange_n(&counters->locked[set], 1, __ATOMIC_SEQ_CST); spins++)
		if (spins >= SPINS)
			sched_yield();
}

static void set_unlock(struct counters *counters, uint64_t set)
{
	__atomic_store_n(&counters->locked[set], 0, __ATOMIC_SEQ_CST);
}

static uint32_t slot_count(uint64_t slot)
{
	return (uint32_t)slot;
}

static uint32_t slot_thing(uint64_t slot)
{
	return slot >> 32;
}

static uint32_t add_to_set(uint64_t *slots, uint32_t thing, uint32_t max)
{
	uint64_t *free = NULL;

	for (unsigned int way = 0; way < COUNTERS_WAYS; way++) {
		uint32_t count = slot_count(slots[way]);

		if (!count) {
			free = &slots[way];
		} else if (slot_thing(slots[way]) == thing) {
			if (count >= max)
				return 0;
			slots[way]++;
			return count + 1;
		}
	}
	if (free) {
		*free = (uint64_t)thing << 32 | 1;
		return 1;
	}
	for (unsigned int way = 0; way < COUNTERS_WAYS; way++)
		slots[way]--;
	return 0;
}

static uint32_t add_limited(struct counters *counters, uint32_t thing, uint32_t max)
{
	uint64_t set = set_of(counters, thing);
	uint32_t count;

	set_lock(counters, set);
	count = add_to_set(&counters->slot[set * COUNTERS_WAYS], thing, max);
	set_unlock(counters, set);
	touch(counters, set * COUNTERS_WAYS);
	return count;
}

/* ---- either ---- */

uint32_t counters_add(struct counters *counters, uint32_t thing, uint32_t max)
{
	if (!counters->count)
		return add_limited(counters, thing, max);
	return thing < counters->nr ? add_exact(counters, thing, max) : 0;
}

static void take_exact(struct counters *counters, uint64_t first, uint64_t end,
		       void (*each)(void *data, uint32_t thing, uint32_t count), void *data)
{
	for (uint64_t thing = first; thing < end; thing++) {
		uint32_t count;

		if (!__atomic_load_n(&counters->count[thing], __ATOMIC_RELAXED))
			continue;
		count = __atomic_exchange_n(&counters->count[thing], 0, __ATOMIC_SEQ_CST);
		if (each)
			each(data, thing, count);
	}
}

static void take_set(struct counters *counters, uint64_t set,
		     void (*each)(void *data, uint32_t thing, uint32_t count), void *data)
{
	uint64_t slots[COUNTERS_WAYS], *from = &counters->slot[set * COUNTERS_WAYS];

	set_lock(counters, set);
	memcpy(slots, from, sizeof(slots));
	memset(from, 0, sizeof(slots));
	set_unlock(counters, set);
	for (unsigned int way = 0; each && way < COUNTERS_WAYS; way++)
		if (slot_count(slots[way]))
			each(data, slot_thing(slots[way]), slot_count(slots[way]));
}

static void take_block(struct counters *counters, uint64_t block,
		       void (*each)(void *data, uint32_t thing, uint32_t count), void *data)
{
	uint64_t first = block * COUNTERS_BLOCK, end = first + COUNTERS_BLOCK;

	if (end > counters->nr)
		end = counters->nr;
	if (counters->count) {
		take_exact(counters, first, end, each, data);
		return;
	}
	for (uint64_t set = first / COUNTERS_WAYS; set < end / COUNTERS_WAYS; set++)
		take_set(counters, set, each, data);
}

void counters_take(struct counters *counters,
		   void (*each)(void *data, uint32_t thing, uint32_t count), void *data)
{
	for (uint64_t i = 0; i < touched_words(counters->nr); i++) {
		uint64_t word = 0;

		if (__atomic_load_n(&counters->touched[i], __ATOMIC_RELAXED))
			word = __atomic_exchange_n(&counters->touched[i], 0, __ATOMIC_SEQ_CST);
		for (; word; word &= word - 1)
			take_block(counters, i * WORD_BITS + __builtin_ctzll(word), each, data);
	}
}
