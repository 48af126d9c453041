// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tuning against simulated memory: pages with a rate of accesses each, a hotlist that is filled in
 * the order of addresses at the end of each epoch, and pages that leave when they were seen (promoted)
 * or stay. It must come to rest where the list is neither empty nor overflowing, where there is such
 * a place; and no page that is hot may wait for ever.
 */
#include <string.h>

#include "../../hw/chmu_tune.h"
#include "../tap.h"

enum { MAX_PAGES = 65536, BITS = 12, WINDOW_US = 3000000 };

/*
 * @rate: accesses of a page a second; 0: gone
 * @seen: how often it was on the list
 * @leave: pages go once they were seen
 * @even: accesses come evenly, else at random
 */
static struct sim {
	u32 pages, capacity;
	u32 rate[MAX_PAGES], seen[MAX_PAGES];
	bool leave, even;
	unsigned long random;
	u64 us;
	struct chmu_tuner tuner;
	struct chmu_turn turn;
	u32 changes, overflows, empties;
} sim;

/* Accesses in an epoch: about @rate * epoch, at random by half of it, or evenly with the rest carried. */
static u32 accesses(u32 page)
{
	u64 mean = sim.rate[page] * sim.tuner.epoch_us;
	u64 whole = mean / 1000000, rest = mean % 1000000;

	if (sim.even)
		return (sim.us % 1000000 * sim.rate[page] % 1000000 + mean) / 1000000;
	if (whole)
		whole = whole / 2 + rnd(&sim.random) % (whole + 1);
	return whole + (rnd(&sim.random) % 1000000 < rest);
}

/* One epoch, with the slice whose turn it is; its entries, and whether some were lost. */
static u32 epoch(bool *overflow)
{
	u32 page, entries = 0, bit;

	*overflow = false;
	for (page = 0; page < sim.pages; page++) {
		bit = (u64)page * BITS / sim.pages;
		if (!sim.rate[page] || bit % sim.turn.slices != sim.turn.slice ||
		    accesses(page) < sim.tuner.threshold)
			continue;
		if (entries == sim.capacity) {
			*overflow = true;
			break;
		}
		entries++;
		sim.seen[page]++;
		if (sim.leave)
			sim.rate[page] = 0;
	}
	sim.us += sim.tuner.epoch_us;
	return entries;
}

static void run(u32 epochs)
{
	bool overflow;
	u32 entries;

	sim.changes = sim.overflows = sim.empties = 0;
	while (epochs--) {
		entries = epoch(&overflow);
		sim.overflows += overflow;
		sim.empties += !entries;
		if (!chmu_turn_next(&sim.turn, entries, overflow))
			continue;
		sim.changes += chmu_tune(&sim.tuner, sim.turn.most, sim.turn.overflow);
		chmu_turn_adapt(&sim.turn, sim.capacity, sim.tuner.crowded);
	}
}

static void begin(u32 pages, u32 entries, u32 bits)
{
	struct chmu_bounds bounds = { 1, 65535, 10000, WINDOW_US / 4, entries - 1 };

	memset(&sim, 0, sizeof(sim));
	sim.random = 1;
	sim.pages = pages;
	sim.capacity = entries - 1;
	chmu_tuner_init(&sim.tuner, &bounds, 2, 100000);
	chmu_turn_init(&sim.turn, bits);
}

/* Page n of a Zipf-like mixture, spread over the addresses. */
static void skewed(u32 pages, u32 top)
{
	for (u32 n = 0; n < pages; n++)
		sim.rate[(u64)n * 40503 % pages] = top / (n + 1) + 1;
}

static u32 unseen(void)
{
	u32 page, n = 0;

	for (page = 0; page < sim.pages; page++)
		n += !sim.seen[page];
	return n;
}

static void say(const char *name)
{
	printf("# %s: threshold %u, epoch %lu us, %u slices%s; %u changes, %u overflows, %u empty\n",
	       name, sim.tuner.threshold, sim.tuner.epoch_us, sim.turn.slices,
	       sim.tuner.crowded ? ", crowded" : "", sim.changes, sim.overflows, sim.empties);
}

static void test_converges(u32 entries, u32 top)
{
	begin(MAX_PAGES, entries, BITS);
	skewed(MAX_PAGES, top);
	run(60);
	say("first 60 epochs");
	ok(sim.changes <= 32, "hotlist of %u, hottest %u/s: %u changes until it fits", entries, top,
	   sim.changes);
	run(500);
	say("next 500");
	ok(sim.changes <= 8, "then it rests: %u changes in 500 epochs", sim.changes);
	ok(sim.overflows <= 8, "and overflows hardly ever: %u", sim.overflows);
	ok(sim.empties <= 8, "and is hardly ever empty: %u", sim.empties);
}

/* All pages equally hot, or with noise; the list is far too small; pages leave. */
static void test_all_leave(u32 entries, u32 bits, bool even, const char *name)
{
	u32 page, epochs;

	begin(4096, entries, bits);
	sim.leave = true;
	sim.even = even;
	for (page = 0; page < sim.pages; page++)
		sim.rate[page] = 200;
	for (epochs = 0; unseen() && epochs < 20000; epochs += 10)
		run(10);
	say(name);
	is(unseen(), 0, name);
	ok(epochs < 64 * (4096 / (entries - 1)), "in %u epochs, %u would be the least", epochs,
	   4096 / (entries - 1));
}

/* Pages at the lowest addresses are hot and stay (they cannot move): others must be heard. */
static void test_stayers(void)
{
	u32 page, bit, heard = 0, per_bit = 4096 / BITS;

	begin(4096, 16, BITS);
	sim.even = true;
	for (page = 0; page < sim.pages; page++)
		sim.rate[page] = 200;
	run(4000);
	say("stayers");
	for (bit = 0; bit < BITS; bit++) {
		u32 n = 0;

		for (page = 0; page < sim.pages; page++)
			if (page * BITS / sim.pages == bit)
				n += sim.seen[page] != 0;
		heard += n > 0;
	}
	is(heard, BITS, "if hot pages stay, each part of the memory is heard all the same");
	ok(per_bit > 16, "although each of them is larger than the hotlist");
}

static void test_fixed(void)
{
	struct chmu_bounds bounds = { 7, 7, 20000, 20000, 15 };
	u32 i;

	begin(4096, 16, BITS);
	chmu_tuner_init(&sim.tuner, &bounds, 2, 100000);
	skewed(4096, 100000);
	for (i = 0; i < 100; i++) {
		run(1);
		check(sim.tuner.threshold == 7 && sim.tuner.epoch_us == 20000, "epoch %u", i);
	}
	is(sim.changes, 0, "what is fixed is not tuned");
	ok(sim.turn.slices > 1, "but the memory takes turns if it overflows: %u slices",
	   sim.turn.slices);
	bounds.epoch_max_us = 80000;
	chmu_tuner_init(&sim.tuner, &bounds, 2, 80000);
	run(100);
	is(sim.tuner.threshold, 7, "a fixed threshold with an epoch that is not");
	is(sim.tuner.epoch_us, 20000, "shortens the epoch");
}

/* Outcomes by threshold alone: below @over it overflows, from @few on it has @entries. */
static void feed(struct chmu_tuner *t, u32 over, u32 few, u32 entries, u32 times)
{
	while (times--) {
		u32 threshold = t->threshold;

		chmu_tune(t, threshold < over ? 4095 : threshold < few ? 1000 : entries,
			  threshold < over);
	}
}

static void test_rules(void)
{
	struct chmu_bounds bounds = { 1, 65535, 100000, 100000, 4095 };
	struct chmu_tuner t;
	u32 i, changes = 0;

	chmu_tuner_init(&t, &bounds, 64, 100000);
	for (i = 0; i < 100; i++)
		changes += chmu_tune(&t, i % 2 ? 1000 : 0, false);
	is(changes, 0, "one epoch with few entries, now and then, changes nothing");
	chmu_tune(&t, 0, false);
	chmu_tune(&t, 0, false);
	is(t.threshold, 32, "two in a row halve the threshold");

	for (i = 0; i < 3; i++) {
		static const u32 from[] = { 2, 105, 60000 };

		chmu_tuner_init(&t, &bounds, from[i], 100000);
		feed(&t, 100, 111, 0, 50);
		ok(t.threshold >= 100 && t.threshold <= 110 && !t.crowded,
		   "from %u on, what fits between 100 and 110 is found: %u", from[i], t.threshold);
	}

	chmu_tuner_init(&t, &bounds, 1000, 100000);
	feed(&t, 3, 3, 0, 40);
	is(t.threshold == 2 && t.crowded, 1, "a cliff between 2 and 3, none above: crowded at 2");
	chmu_tuner_init(&t, &bounds, 1000, 100000);
	feed(&t, 3, 3, 1, 40);
	is(t.threshold == 2 && t.crowded, 1, "likewise with a few above that stay");
	for (i = 0, changes = 0; i < 2000; i++) {
		u32 was = t.threshold;

		feed(&t, 3, 3, 1, 1);
		changes += t.threshold != was;
	}
	ok(changes >= 2 && changes <= 20, "and now and then something better is looked for: %u changes",
	   changes);
}

/* Too many at 4, for every second epoch at random, and next to none in the others. */
static void test_bursts(void)
{
	struct chmu_bounds bounds = { 1, 65535, 100000, 100000, 15 };
	unsigned long random = 3;
	struct chmu_tuner t;
	u32 i, changes = 0, overflows = 0;

	chmu_tuner_init(&t, &bounds, 2, 100000);
	for (i = 0; i < 2000; i++) {
		bool burst = rnd(&random) >> 33 & 1;

		changes += chmu_tune(&t, burst ? 8 : 0, burst && t.threshold <= 4);
	}
	ok(changes < 200, "bursts: %u changes in 2000 epochs", changes);

	/* A cliff, in bursts: every page or none at all. */
	bounds.epoch_min_us = 10000;
	chmu_tuner_init(&t, &bounds, 2, 100000);
	for (i = 0, changes = 0; i < 2000; i++) {
		bool burst = rnd(&random) >> 33 & 1;

		overflows += burst && t.threshold <= 4;
		changes += chmu_tune(&t, burst && t.threshold <= 4 ? 15 : 0,
				     burst && t.threshold <= 4);
	}
	ok(changes < 200 && overflows > 700,
	   "bursts of all or nothing: %u changes, %u of about 1000 bursts heard", changes, overflows);
}

static void test_bounds(void)
{
	struct chmu_bounds bounds = { 1, 65535, 10000, 750000, 4095 };
	struct chmu_tuner t;
	unsigned long random = 7;
	u32 i;

	for (i = 0; i < 200000; i++) {
		if (i % 1000 == 0)
			chmu_tuner_init(&t, &bounds, rnd(&random), rnd(&random));
		chmu_tune(&t, rnd(&random) % 4096, rnd(&random) % 3 == 0);
		check(t.threshold >= 1 && t.threshold <= 65535, "threshold %u", t.threshold);
		check(t.epoch_us >= 10000 && t.epoch_us <= 750000, "epoch %lu", t.epoch_us);
	}
	ok(1, "whatever comes, it stays within its bounds");
	chmu_tuner_init(&t, &bounds, 2, 100000);
	for (i = 0; i < 40; i++)
		chmu_tune(&t, 4095, true);
	is(t.threshold, 65535, "if it always overflows, the threshold is at its most soon");
	for (i = 0; i < 300; i++)
		chmu_tune(&t, 0, false);
	is(t.threshold, 1, "if nothing comes, at its least");
	is(t.epoch_us, 750000, "and the epoch is as long as it may");
}

/* The workload ends, another one begins: what was learned must not stand in the way. */
static void test_changes(void)
{
	begin(MAX_PAGES, 4096, BITS);
	skewed(MAX_PAGES, 2000000);
	run(200);
	ok(sim.tuner.threshold > 8, "a hot workload has a high threshold: %u", sim.tuner.threshold);
	skewed(MAX_PAGES, 50);
	run(200);
	say("a cold one");
	ok(sim.tuner.threshold <= 2, "a cold one that follows a low one: %u", sim.tuner.threshold);
	skewed(MAX_PAGES, 2000000);
	run(100);
	run(200);
	ok(sim.overflows <= 4 && sim.changes <= 4, "and hot again, it fits again: %u overflows",
	   sim.overflows);
}

static void test_turns(void)
{
	struct chmu_turn t;
	u32 i;

	chmu_turn_init(&t, 5);
	for (i = 0; i < 10; i++) {
		while (!chmu_turn_next(&t, 15, true))
			;
		chmu_turn_adapt(&t, 15, true);
	}
	is(t.slices, 5, "never more slices than bits");
	while (!chmu_turn_next(&t, 10, false))
		;
	chmu_turn_adapt(&t, 15, false);
	is(t.slices, 5, "as many as before while they are rather full");
	for (i = 0; i < 10; i++) {
		while (!chmu_turn_next(&t, 1, false))
			;
		chmu_turn_adapt(&t, 15, false);
	}
	is(t.slices, 1, "and all memory at once when they are not");
	chmu_turn_init(&t, 1);
	chmu_turn_next(&t, 15, true);
	chmu_turn_adapt(&t, 15, true);
	is(t.slices, 1, "one bit cannot be parted");
}

int main(void)
{
	test_converges(4096, 2000000);
	test_converges(4096, 20000);
	test_converges(256, 2000000);
	test_converges(16, 2000000);
	test_all_leave(16, BITS, false, "all hot pages leave: hotlist of 16");
	test_all_leave(16, 1, false, "all hot pages leave: hotlist of 16, 1 range");
	test_all_leave(16, BITS, true, "all equally hot pages leave: hotlist of 16");
	test_all_leave(16, 1, true, "all equally hot pages leave: hotlist of 16, 1 range");
	test_all_leave(256, 1, true, "all equally hot pages leave: hotlist of 256, 1 range");
	test_stayers();
	test_fixed();
	test_rules();
	test_bursts();
	test_bounds();
	test_changes();
	test_turns();
	return done();
}
