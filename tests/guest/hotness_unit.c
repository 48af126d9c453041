// SPDX-License-Identifier: GPL-2.0-only
/* hotness: the hotness units */
#include <stdbool.h>
#include <string.h>

#include "hotness.h"
#include "pghot/chmu.h"

#define PAGES		64
#define MAX_LINES	4096
#define EPOCH_MS	300
#define MAX_ENTRIES	16384

static uint64_t base;			/* of the register block, in the bar */
static unsigned int entries, width;

/* What this program did to the node since forget(): device addresses of lines that missed. */
static uint64_t touched[MAX_LINES];
static unsigned int nr_touched;

/* What the unit said of it. */
static struct { uint64_t number, count; } list[MAX_ENTRIES];
static unsigned int nr_list;

/**
 * struct config - what a unit shall do
 */
struct config {
	uint64_t count, threshold, shift, down, mode, scale, mult, random, fill, flags;
};

static const struct config usual = {
	.count = CHMU_COUNT_BOTH, .threshold = 1, .shift = 12, .scale = 3, .mult = EPOCH_MS / 10,
};

static uint64_t get64(uint64_t at)
{
	return *(volatile uint64_t *)(dev + base + at);
}

static uint64_t get(unsigned int at)
{
	return get64(CHMU_INSTANCES + at);
}

static unsigned int get16(unsigned int at)
{
	return *(volatile uint16_t *)(dev + base + CHMU_INSTANCES + at);
}

static unsigned int put(unsigned int at, uint64_t value)
{
	return write_register(base + CHMU_INSTANCES + at, value, 8);
}

static void put_head(unsigned int head)
{
	write_register(base + CHMU_INSTANCES + CHMU_HEAD, head, 2);
}

static struct pghot_labdev_chmu_truth truth(void)
{
	return *(volatile struct pghot_labdev_chmu_truth *)(dev + base + PGHOT_LABDEV_CHMU_TRUTH);
}

static bool flag(unsigned int overflow_or_fill)
{
	return get(CHMU_STATUS) >> overflow_or_fill & 1;
}

enum { OVERFLOW_BIT = 40, FILL_BIT = 41 };

/* Wait until no operation is under way. Is it enabled then? */
static bool settle(void)
{
	unsigned int left = 1000;

	while (CHMU_GET(get(CHMU_STATUS), CHMU_STATUS_BUSY)) {
		if (!left--)
			die("the unit stays busy");
		sleep_us(1000);
	}
	return CHMU_GET(get(CHMU_STATUS), CHMU_STATUS_ENABLED);
}

static void ranges(uint64_t word)
{
	uint64_t bitmap = base + get(CHMU_BITMAP_OFFSET);

	for (unsigned int i = 0; i < 16; i++)
		write_register(bitmap + i * 8, word, 8);
}

static uint64_t cfg0(const struct config *c)
{
	return CHMU_PUT(c->count, CHMU_CFG0_COUNT) | CHMU_PUT(c->random, CHMU_CFG0_RANDOM) |
	       CHMU_PUT(c->threshold, CHMU_CFG0_THRESHOLD) | c->flags;
}

static void disable(void)
{
	put(CHMU_CFG0, 0);
	settle();
}

/* Begin afresh, with an empty hotlist. */
static bool enable(const struct config *c)
{
	disable();
	put_head(get16(CHMU_TAIL));
	put(CHMU_STATUS, get(CHMU_STATUS));
	put(CHMU_CFG1, CHMU_PUT(c->shift, CHMU_CFG1_UNIT_SHIFT) |
	    CHMU_PUT(c->down, CHMU_CFG1_DOWNSAMPLING) | CHMU_PUT(c->mode, CHMU_CFG1_MODE) |
	    CHMU_PUT(c->scale, CHMU_CFG1_EPOCH_SCALE) | CHMU_PUT(c->mult, CHMU_CFG1_EPOCH_MULT));
	put(CHMU_CFG2, c->fill);
	put(CHMU_CFG0, cfg0(c) | CHMU_PUT(1, CHMU_CFG0_ENABLE));
	nr_touched = 0;
	nr_list = 0;
	return settle();
}

/* Miss the first @lines of a page once. Other accesses cannot make it more. */
static void touch(char *page, unsigned int lines, bool store)
{
	uint64_t first = device_address(page);

	cool();
	for (unsigned int i = 0; i < lines; i++) {
		if (store)
			*(volatile char *)(page + i * LINE) = 1;
		else
			*(volatile char *)(page + i * LINE);
	}
	for (unsigned int i = 0; i < lines && nr_touched < MAX_LINES; i++)
		touched[nr_touched++] = first + i * LINE;
}

/* Take the hotlist's entries out. */
static void drain(void)
{
	uint64_t hotlist = get(CHMU_HOTLIST_OFFSET);
	unsigned int head = get16(CHMU_HEAD), tail = get16(CHMU_TAIL);

	while (head != tail && nr_list < MAX_ENTRIES) {
		uint64_t entry = get64(hotlist + head * 8);

		list[nr_list].number = entry >> width;
		list[nr_list++].count = entry & ((1ULL << width) - 1);
		head = (head + 1) % entries;
	}
	put_head(head);
}

/* Until the epoch is over, with its entries. */
static void wait_epoch(void)
{
	uint64_t before = truth().epochs;

	for (unsigned int i = 0; truth().epochs == before; i++) {
		if (i == 3 * EPOCH_MS)
			die("the epoch does not end");
		sleep_us(1000);
	}
	drain();
}

static uint64_t known(uint64_t number, unsigned int shift)
{
	uint64_t count = 0;

	for (unsigned int i = 0; i < nr_touched; i++)
		count += touched[i] >> shift == number;
	return count;
}

static unsigned int found(uint64_t number, uint64_t count)
{
	unsigned int times = 0;

	for (unsigned int i = 0; i < nr_list; i++)
		times += list[i].number == number && list[i].count == count;
	return times;
}

/*
 * Does the list have each of our units that was accessed @threshold times once, with the right count,
 * and none that was less? (There may be units of others.)
 */
static void compare(unsigned int shift, uint64_t threshold, const char *name)
{
	unsigned int want = 0, got = 0, wrong = 0;

	for (unsigned int i = 0; i < nr_touched; i++) {
		uint64_t number = touched[i] >> shift, count = known(number, shift);
		bool seen = false;

		for (unsigned int j = 0; j < i && !seen; j++)
			seen = touched[j] >> shift == number;
		if (seen || count < threshold)
			continue;
		want++;
		got += found(number, count) == 1;
	}
	for (unsigned int i = 0; i < nr_list; i++) {
		uint64_t count = known(list[i].number, shift);

		wrong += list[i].count < threshold || (count && count != list[i].count);
	}
	is(got, want, name);
	is(wrong, 0, name);
}

static void test_capabilities(void)
{
	uint64_t cap1 = get(CHMU_CAP1);

	is(CHMU_GET(get64(CHMU_COMMON0), CHMU_COMMON0_INSTANCES), 1, "unit: one instance");
	least(CHMU_GET(get64(CHMU_COMMON1), CHMU_COMMON1_LENGTH), CHMU_INSTANCE_BYTES,
	      "unit: length of an instance");
	is(CHMU_GET(get(CHMU_CAP0), CHMU_CAP0_HOTLIST_ENTRIES), entries, "unit: entries");
	is(cap1 >> 4 & cap1 >> 8 & 1, 1, "unit: counts by 4 KiB and by 64 KiB");
	is(CHMU_GET(cap1, CHMU_CAP1_EPOCH_MODE) + CHMU_GET(cap1, CHMU_CAP1_ALWAYS_ON), 2,
	   "unit: both modes");
	is(settle(), 0, "unit: off at power-on");
}

static void test_counts(char *mem, char *stored)
{
	static const unsigned int shifts[] = { 8, 12, 16, 21 };
	struct config c = usual;
	char name[64];

	for (unsigned int i = 0; i < 4; i++) {
		c.shift = shifts[i];
		is(enable(&c), 1, "unit: enabled");
		for (unsigned int page = 0; page < 12; page++)
			touch(mem + page * PAGE, 5 * page % LINES + 1, page % 2);
		wait_epoch();
		disable();
		snprintf(name, sizeof(name), "unit: counts by %llu bytes", 1ULL << shifts[i]);
		/* A unit of more than a page may have pages of others. */
		compare(shifts[i], 1, name);
	}
	c = usual;
	c.threshold = 20;
	enable(&c);
	for (unsigned int page = 0; page < PAGES; page++)
		touch(mem + page * PAGE, page < 10 ? 20 + page : 19, false);
	wait_epoch();
	compare(12, 20, "unit: threshold");
	drain();
	most(nr_list, 11, "unit: nobody else is over the threshold");

	c.count = CHMU_COUNT_READS;
	enable(&c);
	touch(stored, LINES, true);
	nr_touched = 0;
	touch(mem, LINES, false);
	wait_epoch();
	compare(12, 20, "unit: reads only");
	is(found(device_address(stored) >> 12, LINES), 0, "unit: reads only: no writes");
	c.count = CHMU_COUNT_WRITES;
	enable(&c);
	touch(mem, LINES, false);
	nr_touched = 0;
	touch(stored, LINES, true);
	wait_epoch();
	compare(12, 20, "unit: writes only");
	is(found(device_address(mem) >> 12, LINES), 0, "unit: writes only: no reads");
	disable();
}

/* One page, again and again, up to more than a counter can hold. */
static void test_saturation(char *mem)
{
	struct config c = usual;

	c.threshold = (1U << width) - 1;
	c.scale = 5;
	c.mult = 2;
	enable(&c);
	for (unsigned int i = 0; i < 1100; i++)
		touch(mem, LINES, false);
	for (unsigned int i = 0; i < 5000 && !nr_list; i++) {
		sleep_us(1000);
		drain();
	}
	is(found(device_address(mem) >> 12, (1U << width) - 1), 1, "unit: a count saturates");
	disable();
}

static void test_always_on(char *mem)
{
	struct config c = usual;
	uint64_t before;

	c.mode = CHMU_MODE_ALWAYS_ON;
	c.threshold = 30;
	c.scale = 5;
	c.mult = 16;
	enable(&c);
	before = truth().epochs;
	touch(mem, 29, false);
	drain();
	is(found(device_address(mem) >> 12, 30), 0, "always on: nothing below the threshold");
	touch(mem, 1, false);
	drain();
	is(found(device_address(mem) >> 12, 30), 1, "always on: an entry as soon as it is reached");
	touch(mem, LINES, false);
	drain();
	is(found(device_address(mem) >> 12, 30), 1, "always on: one entry in an epoch");
	is(truth().epochs, before, "always on: all that in one epoch");
	put(CHMU_CFG0, cfg0(&c) | CHMU_PUT(1, CHMU_CFG0_ENABLE) | CHMU_PUT(1, CHMU_CFG0_RESET));
	is(settle(), 1, "reset: still enabled");
	is(CHMU_GET(get(CHMU_CFG0), CHMU_CFG0_RESET), 0, "reset: the bit clears itself");
	nr_list = 0;
	touch(mem, 29, false);
	drain();
	is(nr_list, 0, "reset: counters begin again");
	touch(mem, 1, false);
	drain();
	is(found(device_address(mem) >> 12, 30), 1, "reset: and count");
	disable();
	nr_list = 0;
	touch(mem, LINES, false);
	touch(mem + PAGE, LINES, false);
	drain();
	is(nr_list, 0, "disabled: no entries");
}

static void test_ranges(char *mem)
{
	uint64_t at = device_address(mem) / CHMU_RANGE_BYTES, before;
	uint64_t bitmap = base + get(CHMU_BITMAP_OFFSET);

	ranges(0);
	enable(&usual);
	before = truth().seen;
	touch(mem, LINES, false);
	wait_epoch();
	is(truth().seen, before, "ranges: none, nothing is counted");
	is(nr_list, 0, "ranges: and no entry");
	ranges(~0ULL);
	write_register(bitmap + at / 64 * 8, ~(1ULL << at % 64), 8);
	enable(&usual);
	touch(mem, LINES, false);
	wait_epoch();
	is(found(device_address(mem) >> 12, LINES), 0, "ranges: all but ours");
	ranges(0);
	is(write_register(bitmap + at / 8 / 2 * 2, 1U << at % 16, 2), PGHOT_LABDEV_OK,
	   "ranges: two bytes of the bitmap");
	enable(&usual);
	touch(mem, LINES, false);
	wait_epoch();
	is(found(device_address(mem) >> 12, LINES), 1, "ranges: only ours");
	disable();
	ranges(~0ULL);
}

static void test_downsampling(char *mem)
{
	struct config c = usual;
	uint64_t seen, sum = 0;

	c.down = 2;
	for (c.random = 0; c.random < 2; c.random++) {
		sum = 0;
		enable(&c);
		seen = truth().seen;
		for (unsigned int i = 0; i < 200; i++)
			touch(mem + i % 10 * PAGE, LINES, false);
		wait_epoch();
		disable();
		seen = truth().seen - seen;
		least(seen, 200 * LINES, "down-sampling: all were seen");
		for (unsigned int i = 0; i < nr_list; i++)
			sum += list[i].count;
		/* Standard deviation: 49. Without chance, one for each CPU. */
		least(sum, seen / 4 - (c.random ? 250 : 2), "down-sampling: one of four is counted");
		most(sum, seen / 4 + (c.random ? 250 : 2), "down-sampling: one of four is counted");
	}
}

static void always_on_pages(char *mem, unsigned int first, unsigned int nr)
{
	for (unsigned int i = first; i < first + nr; i++)
		touch(mem + i * PAGE, LINES, false);
}

static void test_hotlist(char *mem)
{
	struct config c = usual;
	struct pghot_labdev_chmu_truth before;
	unsigned int head, tail, good = 0;

	c.mode = CHMU_MODE_ALWAYS_ON;
	c.threshold = LINES;
	c.scale = 5;
	c.mult = 16;
	c.fill = 4;
	enable(&c);
	for (unsigned int i = 0; i < 40; i += 5) {
		nr_list = 0;
		always_on_pages(mem, i, 3);
		good += !flag(FILL_BIT);
		always_on_pages(mem, i + 3, 2);
		good += flag(FILL_BIT);
		put(CHMU_STATUS, 1ULL << FILL_BIT);
		drain();
		for (unsigned int j = 0; j < 5; j++)
			good += found(device_address(mem + (i + j) * PAGE) >> 12, LINES);
	}
	is(good, 8 * 7, "hotlist: wraps, and tells when it has 4");
	is(flag(OVERFLOW_BIT), 0, "hotlist: no overflow yet");

	enable(&c);
	before = truth();
	head = get16(CHMU_HEAD);
	always_on_pages(mem, 0, entries - 1);
	is(flag(OVERFLOW_BIT), 0, "hotlist: full");
	always_on_pages(mem, entries, 3);
	is(flag(OVERFLOW_BIT), 1, "hotlist: overflow");
	is((get16(CHMU_TAIL) + 1) % entries, head, "hotlist: tail is below head");
	put(CHMU_STATUS, 1ULL << FILL_BIT);
	is(flag(OVERFLOW_BIT), 1, "hotlist: a write of 0 does not clear it");
	put(CHMU_STATUS, 1ULL << OVERFLOW_BIT);
	is(flag(OVERFLOW_BIT), 0, "hotlist: a write of 1 does");
	drain();
	is(nr_list, entries - 1, "hotlist: what was there is still there");
	always_on_pages(mem, entries + 3, 2);
	is(flag(OVERFLOW_BIT), 0, "hotlist: room again");
	disable();
	is(truth().lost - before.lost, 3, "hotlist: three were lost");
	is(truth().entries - before.entries, entries + 1, "hotlist: all others were not");

	head = get16(CHMU_HEAD);
	tail = get16(CHMU_TAIL);
	put_head(entries);
	put_head(0xffff);
	is(get16(CHMU_HEAD), head, "hotlist: head stays within it");
	write_register(base + CHMU_INSTANCES + CHMU_TAIL, tail + 1, 2);
	is(get16(CHMU_TAIL), tail, "hotlist: tail is the unit's");
	write_register(base + CHMU_INSTANCES + CHMU_HEAD, (tail + 1ULL) << 16 | 3, 4);
	is(get16(CHMU_HEAD), 3, "hotlist: head by four bytes");
	is(get16(CHMU_TAIL), tail, "hotlist: and tail is still the unit's");
}

static void test_refusals(void)
{
	const struct { const char *name; struct config c; } bad[] = {
#define BAD(field, value) { #field " " #value, usual }
		BAD(count, 0), BAD(count, 4), BAD(threshold, 0), BAD(threshold, 65536),
		BAD(shift, 7), BAD(shift, 13), BAD(shift, 40), BAD(shift, 4294967295), BAD(down, 9),
		BAD(mode, 2), BAD(scale, 0), BAD(scale, 6), BAD(mult, 0), BAD(flags, overflow),
		BAD(flags, fill),
	};
	const struct { unsigned int offset; uint64_t value; } field[] = {
#define AT(name) offsetof(struct config, name)
		{ AT(count), 0 }, { AT(count), 4 }, { AT(threshold), 0 },
		{ AT(threshold), 1ULL << width }, { AT(shift), 7 }, { AT(shift), 13 },
		{ AT(shift), 40 }, { AT(shift), 4294967295 }, { AT(down), 9 }, { AT(mode), 2 },
		{ AT(scale), 0 }, { AT(scale), 6 }, { AT(mult), 0 },
		{ AT(flags), CHMU_PUT(1, CHMU_CFG0_OVERFLOW_INT) },
		{ AT(flags), CHMU_PUT(1, CHMU_CFG0_FILL_INT) },
	};
	struct config c;
	uint64_t cap0 = get(CHMU_CAP0);
	char name[64];

	for (unsigned int i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		c = bad[i].c;
		*(uint64_t *)((char *)&c + field[i].offset) = field[i].value;
		snprintf(name, sizeof(name), "refused: %s", bad[i].name);
		is(enable(&c), 0, name);
	}
	c = usual;
	c.scale = 1;
	c.mult = 9;
	is(enable(&c), 0, "refused: an epoch of 900 us");
	c.scale = 5;
	c.mult = 17;
	is(enable(&c), 0, "refused: an epoch of 17 s");
	c.mult = 16;
	is(enable(&c), 1, "an epoch of 16 s");
	disable();
	put(CHMU_CAP0, 0);
	is(get(CHMU_CAP0), cap0, "what it can do is not written");
	is(put(0x20, 1), PGHOT_LABDEV_OK, "nor is what is reserved");
	is(write_register(base + 0x1000, 1, 8), PGHOT_LABDEV_INVALID, "no register there");
	is(write_register(base + CHMU_INSTANCES + CHMU_HEAD + 1, 1, 2), PGHOT_LABDEV_INVALID,
	   "not aligned");
	is(write_register(base + CHMU_INSTANCES + CHMU_HEAD, 1, 1), PGHOT_LABDEV_INVALID, "one byte");
	is(write_register(base + get(CHMU_HOTLIST_OFFSET), 1, 8), PGHOT_LABDEV_INVALID,
	   "the hotlist is not written");
}

/* An operation takes its time, and until then the unit takes no other. */
static void test_busy(void)
{
	unsigned int busy = 0, ignored = 0;

	for (unsigned int i = 0; i < 20; i++) {
		enable(&usual);
		put(CHMU_CFG0, 0);
		/* This thread may be stopped for longer than the operation takes. */
		busy += CHMU_GET(get(CHMU_STATUS), CHMU_STATUS_BUSY) != 0;
		put(CHMU_CFG0, cfg0(&usual) | CHMU_PUT(1, CHMU_CFG0_ENABLE));
		ignored += !settle();
	}
	least(busy, 10, "busy while it is disabled");
	least(ignored, 10, "and deaf");
	disable();
}

static void find_unit(int slow)
{
	const struct pghot_labdev_chmus *units = (void *)(dev + PGHOT_LABDEV_CHMUS);

	for (uint32_t i = 0; i < units->nr; i++)
		if (units->unit[i].node == (uint32_t)slow)
			base = units->unit[i].regs;
	if (!base)
		die("no unit for the node");
	entries = CHMU_GET(get(CHMU_CAP0), CHMU_CAP0_HOTLIST_ENTRIES);
	width = CHMU_GET(get(CHMU_STATUS), CHMU_STATUS_COUNTER_WIDTH);
	ranges(~0ULL);
}

void test_unit(int slow)
{
	char *mem = map_on(PAGES * PAGE, slow), *stored = map_on(PAGE, slow);

	find_unit(slow);
	test_capabilities();
	test_refusals();
	test_busy();
	test_counts(mem, stored);
	test_saturation(mem);
	test_always_on(mem);
	test_ranges(mem);
	test_downsampling(mem);
	test_hotlist(mem);
}

/* Eight hot pages among a thousand cold ones, with 64 counters. */
void test_limited(int slow)
{
	enum { HOT = 8, COLD = 1000, ROUNDS = 20, TRUE = ROUNDS * LINES };
	char *mem = map_on((HOT + COLD) * PAGE, slow);
	struct config c = usual;
	unsigned int hot = 0, high = 0;

	find_unit(slow);
	c.threshold = TRUE / 2;
	c.scale = 5;
	c.mult = 4;
	is(enable(&c), 1, "limited: enabled");
	for (unsigned int round = 0; round < ROUNDS; round++) {
		cool();
		for (unsigned int i = 0; i < COLD; i++) {
			*(volatile char *)(mem + (HOT + i) * PAGE);
			if (i < HOT * LINES)
				*(volatile char *)(mem + i % HOT * PAGE + i / HOT * LINE);
		}
	}
	for (unsigned int i = 0; i < 6000 && !nr_list; i++) {
		sleep_us(1000);
		drain();
	}
	sleep_us(10000);
	drain();
	disable();
	for (unsigned int i = 0; i < nr_list; i++) {
		for (unsigned int page = 0; page < HOT; page++)
			hot += list[i].number == device_address(mem + page * PAGE) >> 12;
		high += list[i].count > TRUE;
	}
	is(hot, HOT, "limited: the hot pages are found");
	is(nr_list, HOT, "limited: and no others");
	is(high, 0, "limited: no count is too high");
}
