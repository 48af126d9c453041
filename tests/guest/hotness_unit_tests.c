// SPDX-License-Identifier: GPL-2.0-only
/* hotness: what a hotness unit has to do */
#include "hotness_unit.h"

#define PAGES		64

static void test_capabilities(void)
{
	uint64_t cap1 = get(CHMU_CAP1);

	is(CHMU_GET(get64(CHMU_COMMON0), CHMU_COMMON0_INSTANCES), 1, "unit: one instance");
	least(CHMU_GET(get64(CHMU_COMMON1), CHMU_COMMON1_LENGTH), CHMU_INSTANCE_BYTES,
	      "unit: length of an instance");
	is(CHMU_GET(get(CHMU_CAP0), CHMU_CAP0_HOTLIST_ENTRIES), 101, "unit: entries");
	is(cap1 >> 4 & cap1 >> 8 & 1, 1, "unit: counts by 4 KiB and by 64 KiB");
	is(CHMU_GET(cap1, CHMU_CAP1_EPOCH_MODE) + CHMU_GET(cap1, CHMU_CAP1_ALWAYS_ON), 2,
	   "unit: both modes");
	is(settle(), 0, "unit: off at power-on");
}

/* ---- what it refuses ---- */

struct wrong {
	const char *name;
	unsigned int offset;
	uint64_t value;
};

#define WRONG(field, value)	{ #field " " #value, offsetof(struct config, field), value }

static const struct wrong wrongs[] = {
	WRONG(count, 0), WRONG(count, CHMU_COUNT_ALL_READS), WRONG(count, 7),
	WRONG(threshold, 0), WRONG(threshold, 65536),
	WRONG(shift, 0), WRONG(shift, 7), WRONG(shift, 13), WRONG(shift, 40),
	WRONG(shift, 4294967295), WRONG(down, 9), WRONG(mode, 2), WRONG(scale, 0), WRONG(scale, 6),
	WRONG(mult, 0), WRONG(flags, CHMU_PUT(1, CHMU_CFG0_OVERFLOW_INT)),
	WRONG(flags, CHMU_PUT(1, CHMU_CFG0_FILL_INT)),
};

static void test_refusals(void)
{
	uint64_t cap0 = get(CHMU_CAP0);
	struct config c;
	char name[128];

	for (unsigned int i = 0; i < sizeof(wrongs) / sizeof(*wrongs); i++) {
		c = usual;
		*(uint64_t *)((char *)&c + wrongs[i].offset) = wrongs[i].value;
		snprintf(name, sizeof(name), "refused: %s", wrongs[i].name);
		is(enable(&c), 0, name);
	}
	c = usual;
	c.scale = 1;
	c.mult = 9;
	is(enable(&c), 0, "refused: an epoch of 900 us");
	c.mult = 10;
	is(enable(&c), 1, "an epoch of 1 ms");
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
	least(busy, 5, "busy while it is disabled");
	least(ignored, 5, "and deaf");
	disable();
}

/* ---- what it counts ---- */

static void touch_some(char *mem)
{
	for (unsigned int page = 0; page < 12; page++)
		touch(mem + page * PAGE, 5 * page % (LINES / 2) + 1, page % 2);
}

static void touch_around(char *mem)
{
	for (unsigned int page = 0; page < PAGES; page++)
		touch(mem + page * PAGE, page < 10 ? 20 + page : 19, false);
}

/* Page 0 is read, page 1 written; page 2 is both. */
static void touch_both(char *mem)
{
	touch(mem, 10, false);
	touch(mem + PAGE, 11, true);
	touch(mem + 2 * PAGE, 12, true);
	touch(mem + 2 * PAGE, 13, false);
}

static void test_counts(char *mem)
{
	static const unsigned int shifts[] = { 8, 12, 14, 16, 21 };
	struct config c = usual;
	char name[64];

	for (unsigned int i = 0; i < sizeof(shifts) / sizeof(*shifts); i++) {
		c.shift = shifts[i];
		in_one_epoch(&c, touch_some, mem);
		snprintf(name, sizeof(name), "counts: by %llu bytes", 1ULL << shifts[i]);
		compare(shifts[i], 1, name);
	}
	c = usual;
	c.threshold = 20;
	in_one_epoch(&c, touch_around, mem);
	compare(12, 20, "counts: threshold");
	in_one_epoch(&usual, touch_both, mem);
	compare(12, 1, "counts: reads and writes");
	c = usual;
	c.count = CHMU_COUNT_READS;
	in_one_epoch(&c, touch_both, mem);
	is(found(mem, 12, 10) + found(mem + 2 * PAGE, 12, 13), 2, "counts: reads only");
	is(nr_list, 2, "counts: reads only: no writes");
	c.count = CHMU_COUNT_WRITES;
	in_one_epoch(&c, touch_both, mem);
	is(found(mem + PAGE, 12, 11) + found(mem + 2 * PAGE, 12, 12), 2, "counts: writes only");
	is(nr_list, 2, "counts: writes only: no reads");
}

/* Hits are the cache's, not the device's. */
static void hit(char *mem)
{
	touch(mem, 1, false);
	for (unsigned int i = 0; i < 1000; i++)
		*(volatile char *)mem;
}

/* More than a counter can hold, of one page. */
static void saturate(char *mem)
{
	for (unsigned int i = 0; i < (1U << width) / LINES + 10; i++) {
		cool();
		for (unsigned int line = 0; line < LINES; line++)
			*(volatile char *)(mem + line * LINE);
	}
}

static void test_extremes(char *mem)
{
	struct config c = usual;

	in_one_epoch(&usual, hit, mem);
	compare(12, 1, "counts: no hits");
	c.threshold = (1U << width) - 1;
	c.mult *= 4;
	in_one_epoch(&c, saturate, mem);
	is(found(mem, 12, (1U << width) - 1), 1, "counts: one saturates");
	is(nr_list, 1, "counts: and is listed once");
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
	is(nr_list, 0, "always on: nothing below the threshold");
	touch(mem, 1, false);
	drain();
	is(found(mem, 12, 30), 1, "always on: an entry as soon as it is reached");
	touch(mem, LINES, false);
	drain();
	is(nr_list, 1, "always on: one entry in an epoch");
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
	is(found(mem, 12, 30), 1, "reset: and count");
	disable();
	nr_list = 0;
	touch(mem, LINES, false);
	touch(mem + PAGE, LINES, false);
	drain();
	is(nr_list, 0, "disabled: no entries");

	/* Counters begin again with each epoch, in this mode as well. */
	c.threshold = 1;
	c.scale = 2;
	c.mult = 300;
	enable(&c);
	touch(mem, LINES, false);
	wait_epoch();
	touch(mem, LINES, false);
	drain();
	is(found(mem, 12, 1), 2, "always on: an entry in the next epoch");
	disable();
}

/* ---- of which it counts ---- */

static void touch_page(char *mem)
{
	touch(mem, LINES, false);
}

static void test_ranges(char *mem)
{
	uint64_t at = device_address(mem) / CHMU_RANGE_BYTES, before;
	uint64_t bitmap = base + get(CHMU_BITMAP_OFFSET);

	ranges(0);
	before = truth().seen;
	in_one_epoch(&usual, touch_page, mem);
	is(truth().seen, before, "ranges: none, nothing is counted");
	is(nr_list, 0, "ranges: and no entry");
	ranges(~0ULL);
	write_register(bitmap + at / 64 * 8, ~(1ULL << at % 64), 8);
	is(get64(get(CHMU_BITMAP_OFFSET) + at / 64 * 8), ~(1ULL << at % 64), "ranges: read back");
	in_one_epoch(&usual, touch_page, mem);
	is(found(mem, 12, LINES), 0, "ranges: all but ours");
	ranges(0);
	is(write_register(bitmap + at / 16 * 2, 1U << at % 16, 2), PGHOT_LABDEV_OK,
	   "ranges: two bytes of the bitmap");
	in_one_epoch(&usual, touch_page, mem);
	is(found(mem, 12, LINES), 1, "ranges: only ours");
}

static void touch_200(char *mem)
{
	for (unsigned int i = 0; i < 200; i++)
		touch(mem + i % 10 * PAGE, LINES, false);
}

static uint64_t sum_of_counts(void)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < nr_list; i++)
		sum += list[i].count;
	return sum;
}

static void test_downsampling(char *mem)
{
	struct config c = usual;

	c.down = 2;
	in_one_epoch(&c, touch_200, mem);
	is(sum_of_counts(), 200 * LINES / 4, "down-sampling: one of four is counted");
	c.down = 8;
	in_one_epoch(&c, touch_200, mem);
	is(sum_of_counts(), 200 * LINES / 256, "down-sampling: one of 256 is counted");
	c.random = 1;
	c.down = 2;
	in_one_epoch(&c, touch_200, mem);
	/* Standard deviation: 49. */
	least(sum_of_counts(), 200 * LINES / 4 - 250, "down-sampling: about one of four, by chance");
	most(sum_of_counts(), 200 * LINES / 4 + 250, "down-sampling: about one of four, by chance");
}

/* ---- its hotlist ---- */

static void touch_pages(char *mem, unsigned int first, unsigned int nr)
{
	for (unsigned int i = first; i < first + nr; i++)
		touch(mem + i * PAGE, 1, false);
}

static void test_wrap(const struct config *c, char *mem)
{
	unsigned int good = 0;

	enable(c);
	for (unsigned int i = 0; i < 300; i += 5) {
		nr_list = 0;
		touch_pages(mem, i, 3);
		good += !flag(FILL_BIT);
		touch_pages(mem, i + 3, 2);
		good += flag(FILL_BIT);
		put(CHMU_STATUS, 1ULL << FILL_BIT);
		drain();
		for (unsigned int j = 0; j < 5; j++)
			good += found(mem + (i + j) * PAGE, 12, 1);
	}
	is(good, 60 * 7, "hotlist: wraps, and tells when it has 4");
	is(flag(OVERFLOW_BIT), 0, "hotlist: no overflow yet");
}

static void test_overflow(const struct config *c, char *mem)
{
	struct pghot_labdev_chmu_truth before;
	unsigned int head;

	enable(c);
	before = truth();
	head = get16(CHMU_HEAD);
	touch_pages(mem, 0, entries - 1);
	is(flag(OVERFLOW_BIT), 0, "hotlist: full");
	touch_pages(mem, entries, 3);
	is(flag(OVERFLOW_BIT), 1, "hotlist: overflow");
	is((get16(CHMU_TAIL) + 1) % entries, head, "hotlist: tail is below head");
	put(CHMU_STATUS, 1ULL << FILL_BIT);
	is(flag(OVERFLOW_BIT), 1, "hotlist: a write of 0 does not clear it");
	put(CHMU_STATUS, 1ULL << OVERFLOW_BIT);
	is(flag(OVERFLOW_BIT), 0, "hotlist: a write of 1 does");
	drain();
	is(nr_list, entries - 1, "hotlist: what was there is still there");
	touch_pages(mem, entries + 3, 2);
	is(flag(OVERFLOW_BIT), 0, "hotlist: room again");
	disable();
	is(truth().lost - before.lost, 3, "hotlist: three were lost");
	is(truth().entries - before.entries, entries + 1, "hotlist: all others were not");
}

static void test_indices(void)
{
	unsigned int head = get16(CHMU_HEAD), tail = get16(CHMU_TAIL);

	put_head(entries);
	put_head(0xffff);
	is(get16(CHMU_HEAD), head, "hotlist: head stays within it");
	write_register(base + CHMU_INSTANCES + CHMU_TAIL, tail + 1, 2);
	is(get16(CHMU_TAIL), tail, "hotlist: tail is the unit's");
	write_register(base + CHMU_INSTANCES + CHMU_HEAD, (tail + 1ULL) << 16 | 3, 4);
	is(get16(CHMU_HEAD), 3, "hotlist: head by four bytes");
	is(get16(CHMU_TAIL), tail, "hotlist: and tail is still the unit's");
}

static void test_hotlist(char *mem)
{
	struct config c = usual;

	c.mode = CHMU_MODE_ALWAYS_ON;
	c.scale = 5;
	c.mult = 16;
	c.fill = 4;
	test_wrap(&c, mem);
	test_overflow(&c, mem);
	test_indices();
}

void test_unit(int slow)
{
	char *mem;

	find_unit(slow);
	test_capabilities();
	test_refusals();
	test_busy();
	mem = quiet_memory(slow);
	test_counts(mem);
	test_extremes(mem);
	test_always_on(mem);
	test_ranges(mem);
	only_ours();
	test_downsampling(mem);
	test_hotlist(mem);
}

/* ---- fewer counters than there are pages ---- */

/* Eight hot pages among as many cold ones as there are, with 64 counters. */
void test_limited(int slow)
{
	enum { HOT = 8, COLD = QUIET_BYTES / PAGE - HOT, ROUNDS = 20, TRUE = ROUNDS * LINES };
	struct config c = usual;
	unsigned int hot = 0, high = 0;
	char *mem;

	find_unit(slow);
	mem = quiet_memory(slow);
	c.threshold = TRUE / 2;
	c.scale = 5;
	c.mult = 2;
	is(enable(&c), 1, "limited: enabled");
	for (unsigned int round = 0; round < ROUNDS; round++) {
		cool();
		for (unsigned int i = 0; i < HOT * LINES; i++) {
			*(volatile char *)(mem + (HOT + i % COLD) * PAGE + i / COLD * LINE);
			*(volatile char *)(mem + i % HOT * PAGE + i / HOT * LINE);
		}
	}
	wait_epoch();
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
