// SPDX-License-Identifier: GPL-2.0-only
/* The driver of hotness units against an emulated one: sound, slow, broken and hostile. */
#include <string.h>

#include "../../hw/chmu.h"
#include "../tap.h"

enum {
	BYTES = 1 << 16,
	LENGTH = 0x80,
	BITMAP = 0x800,
	HOTLIST = 0x1000,
	ENTRIES = 16,
	WIDTH = 16,
	PATIENCE = 20,
	MIB = 1 << 20,
};

#define REG(reg)	(CHMU_INSTANCES + (reg))
#define BUSY		CHMU_PUT(1, CHMU_STATUS_BUSY)
#define ENABLED		CHMU_PUT(1, CHMU_STATUS_ENABLED)

/* @slow: looks that an operation takes; @left: looks until the one under way is over */
static struct emu {
	struct chmu_io io;
	unsigned char mem[BYTES];
	unsigned int slow, left, waits, writes, refuse_after;
	unsigned int unaligned, beyond, while_busy, resets;
	bool enable, never;
} emu;

static u64 get(u64 at, u32 bytes)
{
	u64 value = 0;

	memcpy(&value, emu.mem + at, bytes);
	return value;
}

static void put(u64 at, u64 value, u32 bytes)
{
	memcpy(emu.mem + at, &value, bytes);
}

static void set_field(u64 at, u64 value, u32 shift, u32 width)
{
	u64 mask = CHMU_GET(~0ULL, 0, width) << shift;

	put(at, (get(at, 8) & ~mask) | (value << shift & mask), 8);
}

static void misuse(u64 offset, u32 bytes)
{
	emu.unaligned += offset % bytes != 0;
	emu.beyond += offset + bytes > BYTES;
}

static u64 emu_read(const struct chmu_io *io, u64 offset, u32 bytes)
{
	(void)io;
	misuse(offset, bytes);
	return offset + bytes <= BYTES ? get(offset, bytes) : ~0ULL;
}

static void finish_operation(void)
{
	u64 status = get(REG(CHMU_STATUS), 8) & ~(BUSY | ENABLED);

	put(REG(CHMU_STATUS), status | (emu.enable ? ENABLED : 0), 8);
}

static void write_cfg0(u64 value)
{
	if (get(REG(CHMU_STATUS), 8) & BUSY) {
		emu.while_busy++;
		return;
	}
	emu.resets += CHMU_GET(value, CHMU_CFG0_RESET);
	emu.enable = CHMU_GET(value, CHMU_CFG0_ENABLE);
	put(REG(CHMU_CFG0), value & ~CHMU_PUT(1, CHMU_CFG0_RESET), 8);
	emu.left = emu.slow;
	if (emu.left || emu.never)
		put(REG(CHMU_STATUS), get(REG(CHMU_STATUS), 8) | BUSY, 8);
	else
		finish_operation();
}

static bool emu_write(const struct chmu_io *io, u64 offset, u64 value, u32 bytes)
{
	(void)io;
	misuse(offset, bytes);
	emu.writes++;
	if (emu.refuse_after && emu.writes > emu.refuse_after)
		return false;
	if (offset == REG(CHMU_CFG0))
		write_cfg0(value);
	else if (offset == REG(CHMU_STATUS))
		put(offset, get(offset, 8) & ~value, 8);
	else
		put(offset, value, bytes);
	return true;
}

static bool emu_wait(const struct chmu_io *io, u32 before)
{
	(void)io;
	emu.waits++;
	if (emu.left && !--emu.left && !emu.never)
		finish_operation();
	return before < PATIENCE;
}

/* 3 GiB in two pieces, the second of which the host has below the first. */
static struct chmu_map map;

static void sound_device(void)
{
	memset(&emu, 0, sizeof(emu));
	emu.io = (struct chmu_io){ BYTES, emu_read, emu_write, emu_wait };
	put(CHMU_COMMON0, CHMU_PUT(1, CHMU_COMMON0_VERSION) | CHMU_PUT(1, CHMU_COMMON0_INSTANCES), 8);
	put(CHMU_COMMON1, CHMU_PUT(LENGTH, CHMU_COMMON1_LENGTH), 8);
	put(REG(CHMU_CAP0), CHMU_PUT(7, CHMU_CAP0_TRACKABLE) |
	    CHMU_PUT(5, CHMU_CAP0_MAX_EPOCH_SCALE) | CHMU_PUT(16, CHMU_CAP0_MAX_EPOCH_MULT) |
	    CHMU_PUT(1, CHMU_CAP0_MIN_EPOCH_SCALE) | CHMU_PUT(10, CHMU_CAP0_MIN_EPOCH_MULT) |
	    CHMU_PUT(ENTRIES, CHMU_CAP0_HOTLIST_ENTRIES), 8);
	put(REG(CHMU_CAP1), CHMU_PUT(1 << 0 | 1 << 4 | 1 << 13, CHMU_CAP1_UNIT_SIZES) |
	    CHMU_PUT(0xf, CHMU_CAP1_DOWNSAMPLING) | CHMU_PUT(1, CHMU_CAP1_EPOCH_MODE) |
	    CHMU_PUT(1, CHMU_CAP1_ALWAYS_ON) | CHMU_PUT(1, CHMU_CAP1_RANDOM), 8);
	put(REG(CHMU_BITMAP_OFFSET), BITMAP, 8);
	put(REG(CHMU_HOTLIST_OFFSET), HOTLIST, 8);
	put(REG(CHMU_STATUS), CHMU_PUT(WIDTH, CHMU_STATUS_COUNTER_WIDTH), 8);
	map = (struct chmu_map){ 2, {
		{ .dpa = 0, .hpa = 4096ULL * MIB, .bytes = 2048ULL * MIB },
		{ .dpa = 2048ULL * MIB, .hpa = 1024ULL * MIB, .bytes = 1024ULL * MIB },
	} };
}

static const struct chmu_settings usual = {
	.unit_bytes = 4096,
	.epoch_us = 100000,
	.threshold = 5,
	.count = CHMU_COUNT_BOTH,
	.mode = CHMU_MODE_EPOCH,
};
static const struct chmu_part whole = { .shares = 1, .slices = 1 };

static enum chmu_error open_unit(struct chmu *unit)
{
	u32 instances = 0;
	enum chmu_error error = chmu_instances(&emu.io, &instances);

	return error ? error : chmu_open(unit, &emu.io, 0, &map);
}

/* What the emulated device was asked for that no driver may ask. */
static void is_tidy(const char *name)
{
	ok(!emu.unaligned && !emu.beyond && !emu.while_busy,
	   "%s: no access unaligned (%u), beyond the mapping (%u) or while busy (%u)", name,
	   emu.unaligned, emu.beyond, emu.while_busy);
}

static void test_sound(void)
{
	struct chmu unit;

	sound_device();
	is(open_unit(&unit), CHMU_OK, "a sound device is taken");
	is(unit.caps.entries, ENTRIES, "its hotlist's length");
	is(unit.caps.epoch_min_us, 1000, "its shortest epoch");
	is(unit.caps.epoch_max_us, 16000000, "its longest epoch");
	is(unit.threshold_max, 65535, "its counters' maximum");
	is(emu.writes, 0, "looking at it writes nothing");
	is_tidy("opening");
}

/* One field of a register is broken: the reason. */
static void refused(const char *name, enum chmu_error want, u64 at, u64 value, u32 shift, u32 width)
{
	struct chmu unit;
	enum chmu_error error;

	sound_device();
	set_field(at, value, shift, width);
	error = open_unit(&unit);
	ok(error == want && !emu.beyond && !emu.unaligned && !emu.writes, "%s: refused, %s", name,
	   chmu_error_text(error));
}

static void test_broken(void)
{
	refused("version 0", CHMU_VERSION, CHMU_COMMON0, 0, CHMU_COMMON0_VERSION);
	refused("no instance", CHMU_NO_INSTANCE, CHMU_COMMON0, 0, CHMU_COMMON0_INSTANCES);
	refused("short instances", CHMU_LENGTH, CHMU_COMMON1, CHMU_INSTANCE_BYTES - 8,
		CHMU_COMMON1_LENGTH);
	refused("misaligned instances", CHMU_LENGTH, CHMU_COMMON1, LENGTH + 4, CHMU_COMMON1_LENGTH);
	refused("instances beyond the mapping", CHMU_LENGTH, CHMU_COMMON1, 0xfff8,
		CHMU_COMMON1_LENGTH);
	refused("no hotlist", CHMU_NO_HOTLIST, REG(CHMU_CAP0), 0, CHMU_CAP0_HOTLIST_ENTRIES);
	refused("a hotlist that is always full", CHMU_NO_HOTLIST, REG(CHMU_CAP0), 1,
		CHMU_CAP0_HOTLIST_ENTRIES);
	refused("a hotlist beyond the mapping", CHMU_PLACES, REG(CHMU_CAP0), 0xffff,
		CHMU_CAP0_HOTLIST_ENTRIES);
	refused("a hotlist far away", CHMU_PLACES, REG(CHMU_HOTLIST_OFFSET), ~7ULL, 0, 63);
	refused("a misaligned hotlist", CHMU_PLACES, REG(CHMU_HOTLIST_OFFSET), HOTLIST + 4, 0, 63);
	refused("a hotlist on the registers", CHMU_PLACES, REG(CHMU_HOTLIST_OFFSET), 0, 0, 63);
	refused("a bitmap at the end of the mapping", CHMU_PLACES, REG(CHMU_BITMAP_OFFSET), BYTES,
		0, 63);
	refused("a misaligned bitmap", CHMU_PLACES, REG(CHMU_BITMAP_OFFSET), BITMAP + 1, 0, 63);
	refused("a bitmap on the hotlist", CHMU_PLACES, REG(CHMU_BITMAP_OFFSET), HOTLIST + 8, 0, 63);
	refused("no unit size", CHMU_NO_UNIT_SIZE, REG(CHMU_CAP1), 0, CHMU_CAP1_UNIT_SIZES);
	refused("no mode", CHMU_NO_MODE, REG(CHMU_CAP1), 0, 48, 2);
	refused("minimum epoch scale 0", CHMU_NO_EPOCH, REG(CHMU_CAP0), 0, CHMU_CAP0_MIN_EPOCH_SCALE);
	refused("minimum epoch scale 6", CHMU_NO_EPOCH, REG(CHMU_CAP0), 6, CHMU_CAP0_MIN_EPOCH_SCALE);
	refused("maximum epoch scale 6", CHMU_NO_EPOCH, REG(CHMU_CAP0), 6, CHMU_CAP0_MAX_EPOCH_SCALE);
	refused("maximum epoch multiplier 0", CHMU_NO_EPOCH, REG(CHMU_CAP0), 0,
		CHMU_CAP0_MAX_EPOCH_MULT);
	refused("epochs whose minimum is above their maximum", CHMU_NO_EPOCH, REG(CHMU_CAP0),
		5 | 17 << 4, 32, 16);
	refused("nothing to count", CHMU_NO_COUNT, REG(CHMU_CAP0), 0, CHMU_CAP0_TRACKABLE);

	u32 instances;

	sound_device();
	memset(emu.mem, 0xff, BYTES);
	is(chmu_instances(&emu.io, &instances), CHMU_VERSION, "all ones: no device");
	emu.io.bytes = CHMU_INSTANCES - 1;
	is(chmu_instances(&emu.io, &instances), CHMU_LENGTH, "less than the common words");
}

static void cannot(const char *name, enum chmu_error want, struct chmu_settings settings)
{
	struct chmu unit;

	sound_device();
	open_unit(&unit);
	is(chmu_check(&unit, &settings), want, name);
	is(chmu_start(&unit, &settings, &map, &whole) == want && !emu.writes, 1,
	   "and it is not started");
}

static void test_settings(void)
{
	struct chmu_settings s;

#define WITH(field, value) (s = usual, s.field = (value), s)
	cannot("a unit size it does not have", CHMU_CANNOT_UNIT, WITH(unit_bytes, 8192));
	cannot("no power of two", CHMU_CANNOT_UNIT, WITH(unit_bytes, 4097));
	cannot("unit size 0", CHMU_CANNOT_UNIT, WITH(unit_bytes, 0));
	cannot("unit size 128", CHMU_CANNOT_UNIT, WITH(unit_bytes, 128));
	cannot("a unit size beyond all registers", CHMU_CANNOT_UNIT, WITH(unit_bytes, 1ULL << 40));
	cannot("an unknown mode", CHMU_CANNOT_MODE, WITH(mode, 2));
	cannot("what it cannot count", CHMU_CANNOT_COUNT, WITH(count, CHMU_COUNT_ALL_READS));
	cannot("count 0", CHMU_CANNOT_COUNT, WITH(count, 0));
	cannot("count 7", CHMU_CANNOT_COUNT, WITH(count, 7));
	cannot("down-sampling it cannot", CHMU_CANNOT_DOWNSAMPLE, WITH(downsampling, 4));
	cannot("down-sampling beyond the register", CHMU_CANNOT_DOWNSAMPLE, WITH(downsampling, 16));
	cannot("too short an epoch", CHMU_CANNOT_EPOCH, WITH(epoch_us, 999));
	cannot("too long an epoch", CHMU_CANNOT_EPOCH, WITH(epoch_us, 16000001));
	cannot("threshold 0", CHMU_CANNOT_THRESHOLD, WITH(threshold, 0));
	cannot("a threshold its counters do not reach", CHMU_CANNOT_THRESHOLD, WITH(threshold, 65536));

	sound_device();
	set_field(REG(CHMU_CAP1), 0, CHMU_CAP1_ALWAYS_ON);
	struct chmu unit;
	open_unit(&unit);
	s = WITH(mode, CHMU_MODE_ALWAYS_ON);
	is(chmu_check(&unit, &s), CHMU_CANNOT_MODE, "always-on where there is only epoch mode");
}

static void test_start(void)
{
	struct chmu_settings s = usual;
	struct chmu unit;
	u64 cfg0, cfg1;

	sound_device();
	emu.slow = 3;
	open_unit(&unit);
	put(BITMAP, ~0ULL, 8);
	put(REG(CHMU_TAIL), 5, 2);
	put(REG(CHMU_STATUS), get(REG(CHMU_STATUS), 8) | CHMU_PUT(3, 40, 2), 8);
	s.downsampling = 3;
	s.mode = CHMU_MODE_ALWAYS_ON;
	s.epoch_us = 123456;
	is(chmu_start(&unit, &s, &map, &whole), CHMU_OK, "it starts");
	cfg0 = get(REG(CHMU_CFG0), 8);
	cfg1 = get(REG(CHMU_CFG1), 8);
	is(CHMU_GET(cfg0, CHMU_CFG0_COUNT), CHMU_COUNT_BOTH, "CFG0: what to count");
	is(CHMU_GET(cfg0, CHMU_CFG0_THRESHOLD), 5, "CFG0: threshold");
	is(CHMU_GET(cfg0, CHMU_CFG0_RANDOM), 1, "CFG0: down-sampled at random");
	is(CHMU_GET(cfg0, 9, 2), 0, "CFG0: no interrupts");
	is(CHMU_GET(cfg1, CHMU_CFG1_UNIT_SHIFT), 12, "CFG1: unit");
	is(CHMU_GET(cfg1, CHMU_CFG1_DOWNSAMPLING), 3, "CFG1: down-sampling");
	is(CHMU_GET(cfg1, CHMU_CFG1_MODE), CHMU_MODE_ALWAYS_ON, "CFG1: mode");
	is(CHMU_GET(cfg1, CHMU_CFG1_EPOCH_SCALE), 1, "CFG1: epoch scale");
	is(CHMU_GET(cfg1, CHMU_CFG1_EPOCH_MULT), 1235, "CFG1: epoch multiplier");
	is(s.epoch_us, 123500, "and the epoch as it is rounded is told");
	is(get(BITMAP, 8), 0xfff, "the bitmap has the 12 bits that have memory");
	is(get(REG(CHMU_HEAD), 2), 5, "the hotlist is emptied");
	is(CHMU_GET(get(REG(CHMU_STATUS), 8), 40, 2), 0, "the flags are cleared");
	is(emu.resets, 1, "the counters are reset");
	is(!!(get(REG(CHMU_STATUS), 8) & ENABLED), 1, "it is enabled");
	is_tidy("starting");
	is(chmu_start(&unit, &s, &map, &whole), CHMU_OK, "it starts again while it runs");
	is_tidy("starting again");
	is(chmu_stop(&unit), CHMU_OK, "it stops");
	is(!!(get(REG(CHMU_STATUS), 8) & ENABLED), 0, "and is disabled");
	is_tidy("stopping");
}

static void test_parts(void)
{
	struct chmu_part part = { .shares = 2, .slices = 3 };
	struct chmu_settings s = usual;
	u64 seen = 0, word;
	struct chmu unit;
	u32 n = 0, i;

	sound_device();
	map.range[1].dpa = 4096ULL * MIB;	/* bits 0..7 and 16..19 */
	open_unit(&unit);
	for (i = 0; i < 6; i++) {
		part.share = i / 3;
		part.slice = i % 3;
		chmu_start(&unit, &s, &map, &part);
		word = get(BITMAP, 8);
		check(!(word & seen), "part %u has bits of another", i);
		check(__builtin_popcountll(word) == 2, "part %u has %lx", i, word);
		check(chmu_map_bits(&map, &part) == 2, "part %u", i);
		seen |= word;
		n++;
	}
	is(n, 6, "parts of the memory are equally large and have nothing in common");
	is(seen, 0xf00ff, "together they are all that has memory, and no more");
}

static void test_slow(void)
{
	struct chmu_settings s = usual;
	struct chmu unit;
	u32 n;

	for (n = 0; n <= PATIENCE; n++) {
		sound_device();
		emu.slow = n;
		open_unit(&unit);
		check(chmu_start(&unit, &s, &map, &whole) == CHMU_OK, "%u looks", n);
		check(!emu.while_busy, "%u looks", n);
	}
	ok(1, "operations of up to %u looks are waited for", PATIENCE);
	sound_device();
	emu.never = true;
	open_unit(&unit);
	is(chmu_start(&unit, &s, &map, &whole), CHMU_TIMEOUT, "one that is busy for ever times out");
	ok(emu.waits <= 2 * PATIENCE + 2, "in time: %u looks", emu.waits);
	emu.waits = 0;
	is(chmu_stop(&unit), CHMU_TIMEOUT, "and cannot be stopped either");
	ok(emu.waits <= PATIENCE + 1, "in time: %u looks", emu.waits);

	sound_device();
	open_unit(&unit);
	put(REG(CHMU_STATUS), get(REG(CHMU_STATUS), 8) | BUSY, 8);
	emu.left = 5;
	is(chmu_stop(&unit), CHMU_OK, "one that is busy already is waited for");
	is_tidy("stopping a busy one");

	sound_device();
	open_unit(&unit);
	memset(emu.mem, 0xff, BYTES);
	is(chmu_start(&unit, &s, &map, &whole), CHMU_TIMEOUT, "one that has gone (all ones) times out");
}

static void test_refuses_writes(void)
{
	struct chmu_settings s = usual;
	unsigned int all, n;
	struct chmu unit;

	sound_device();
	open_unit(&unit);
	chmu_start(&unit, &s, &map, &whole);
	all = emu.writes;
	for (n = 1; n < all; n++) {
		sound_device();
		open_unit(&unit);
		emu.refuse_after = n;
		check(chmu_start(&unit, &s, &map, &whole) == CHMU_REFUSES_WRITES, "write %u", n);
	}
	ok(1, "each of the %u writes of starting may fail", all);

	sound_device();
	open_unit(&unit);
	set_field(REG(CHMU_STATUS), 0, CHMU_STATUS_COUNTER_WIDTH);
	is(chmu_start(&unit, &s, &map, &whole), CHMU_WIDTH, "counters of no width: not started");
	is(!!(get(REG(CHMU_STATUS), 8) & ENABLED), 0, "and disabled again");
	sound_device();
	open_unit(&unit);
	put(REG(CHMU_TAIL), ENTRIES, 2);
	is(chmu_start(&unit, &s, &map, &whole), CHMU_INDICES, "a tail beyond the hotlist: not started");
}

static struct seen {
	u32 n;
	u64 dpa[ENTRIES * 2], count[ENTRIES * 2];
} seen;

static void see(void *ctx, u64 dpa, u64 count)
{
	struct seen *s = ctx;

	check(s->n < ENTRIES * 2, "more entries than there can be");
	s->dpa[s->n] = dpa;
	s->count[s->n++] = count;
}

static struct chmu started(void)
{
	struct chmu_settings s = usual;
	struct chmu unit;

	sound_device();
	open_unit(&unit);
	chmu_start(&unit, &s, &map, &whole);
	seen.n = 0;
	return unit;
}

static void put_entry(u32 at, u64 number, u64 count)
{
	put(HOTLIST + at * 8, number << WIDTH | count, 8);
}

static void test_drain(void)
{
	struct chmu unit = started();
	struct chmu_drained d;
	u32 i;

	is(chmu_drain(&unit, see, &seen, &d), CHMU_OK, "an empty hotlist");
	is(d.entries, 0, "has nothing");
	put(REG(CHMU_HEAD), ENTRIES - 2, 2);
	put(REG(CHMU_TAIL), 3, 2);
	for (i = 0; i < 5; i++)
		put_entry((ENTRIES - 2 + i) % ENTRIES, 100 + i, 10 + i);
	is(chmu_drain(&unit, see, &seen, &d), CHMU_OK, "a hotlist that wraps");
	is(d.entries, 5, "is read to its tail");
	for (i = 0; i < 5; i++)
		check(seen.dpa[i] == (100 + i) * 4096 && seen.count[i] == 10 + i, "entry %u", i);
	ok(1, "each entry has its address and its count");
	is(get(REG(CHMU_HEAD), 2), 3, "and its places are given back");
	is(d.overflow, 0, "no overflow");
	is_tidy("draining");

	for (i = 0; i < ENTRIES; i++) {
		put(REG(CHMU_HEAD), i, 2);
		put(REG(CHMU_TAIL), (i + ENTRIES - 1) % ENTRIES, 2);
		seen.n = 0;
		chmu_drain(&unit, see, &seen, &d);
		check(d.entries == ENTRIES - 1 && seen.n == ENTRIES - 1, "from %u on", i);
	}
	ok(1, "a full hotlist is read from any place on");

	put(REG(CHMU_STATUS), get(REG(CHMU_STATUS), 8) | CHMU_PUT(1, CHMU_STATUS_OVERFLOW), 8);
	chmu_drain(&unit, see, &seen, &d);
	is(d.overflow, 1, "an overflow is told");
	chmu_drain(&unit, see, &seen, &d);
	is(d.overflow, 0, "once");

	seen.n = 0;
	put(REG(CHMU_HEAD), 0, 2);
	put(REG(CHMU_TAIL), 2, 2);
	put_entry(0, 0xffffffffffffULL, 1);
	put_entry(1, 0, 0);
	unit.shift = 39;
	chmu_drain(&unit, see, &seen, &d);
	ok(seen.dpa[0] == CHMU_NO_ADDRESS, "an address beyond 64 bits is none");
	is(seen.dpa[1] == 0 && seen.count[1] == 0, 1, "count 0 and unit 0 are told as they are");
}

static void test_hostile(void)
{
	struct chmu unit = started();
	struct chmu_drained d;
	unsigned long random = 1;
	u32 i, width, errors = 0;

	put(REG(CHMU_TAIL), ENTRIES, 2);
	is(chmu_drain(&unit, see, &seen, &d), CHMU_INDICES, "a tail out of range");
	unit = started();
	put(REG(CHMU_HEAD), 0xffff, 2);
	is(chmu_drain(&unit, see, &seen, &d), CHMU_INDICES, "a head out of range");
	unit = started();
	set_field(REG(CHMU_STATUS), 0, CHMU_STATUS_ENABLED);
	is(chmu_drain(&unit, see, &seen, &d), CHMU_STOPPED, "a unit that was reset");
	for (width = 0; width < 256; width++) {
		unit = started();
		set_field(REG(CHMU_STATUS), width, CHMU_STATUS_COUNTER_WIDTH);
		errors += chmu_drain(&unit, see, &seen, &d) == CHMU_WIDTH;
	}
	is(errors, 196, "widths 0 and 61 to 255 are refused, 1 to 60 are not");
	is(seen.n, 0, "nothing was read in any of these");
	for (i = 0; i < 20000; i++) {
		unit = started();
		put(REG(CHMU_HEAD), rnd(&random) % (ENTRIES + 2), 2);
		put(REG(CHMU_TAIL), rnd(&random) % (ENTRIES + 2), 2);
		set_field(REG(CHMU_STATUS), rnd(&random) % 64, CHMU_STATUS_COUNTER_WIDTH);
		for (u32 j = 0; j < ENTRIES; j++)
			put(HOTLIST + j * 8, rnd(&random), 8);
		chmu_drain(&unit, see, &seen, &d);
		check(d.entries < ENTRIES && seen.n == d.entries && !emu.beyond, "run %u", i);
	}
	ok(1, "%u random states: never more than the hotlist's length", i);
}

static void test_epochs(void)
{
	u64 us, got, before = 0, exact = 0;
	u32 scale, mult;

	for (us = 1; us < 5000000000ULL; us += us / 1000 + 1) {
		got = chmu_epoch_encode(us, &scale, &mult);
		check(scale >= 1 && scale <= 5 && mult >= 1 && mult <= 4095, "%lu us", us);
		check(got == chmu_epoch_decode(scale, mult), "%lu us", us);
		check(got >= before, "%lu us: shorter than the one before", us);
		check(us < 100 || us > 4095000000ULL ||
		      (got > us ? got - us : us - got) <= us / 800 + 50, "%lu us: %lu", us, got);
		before = got;
	}
	ok(1, "every epoch is rounded to the nearest that can be said, in order");
	for (scale = 1; scale <= 5; scale++)
		for (mult = 1; mult <= 4095; mult++) {
			u32 s, m;

			us = chmu_epoch_decode(scale, mult);
			exact += chmu_epoch_encode(us, &s, &m) == us;
		}
	is(exact, 5 * 4095, "every epoch that can be said is met");
	is(chmu_epoch_decode(6, 1) + chmu_epoch_decode(0, 1) + chmu_epoch_decode(15, 4095), 0,
	   "scales that do not exist are no epoch");
}

static void test_map(void)
{
	struct chmu_span spans[CHMU_MAX_RANGES];

	sound_device();
	is(chmu_map_check(&map, 4096), CHMU_OK, "a sound map");
	is(chmu_map_spans(&map, 2047ULL * MIB, 2ULL * MIB, spans), 2, "a unit over two ranges");
	ok(spans[0].hpa == 6143ULL * MIB && spans[0].bytes == MIB && spans[1].hpa == 1024ULL * MIB &&
	   spans[1].bytes == MIB, "is where the host has them");
	is(chmu_map_spans(&map, 3071ULL * MIB, 2ULL * MIB, spans), 1, "a unit at the end of memory");
	is(spans[0].bytes, MIB, "is as much of it as there is");
	is(chmu_map_spans(&map, 3072ULL * MIB, 4096, spans), 0, "beyond it there is nothing");
	is(chmu_map_spans(&map, CHMU_NO_ADDRESS, 4096, spans), 0, "nor where there is no address");
	is(chmu_map_spans(&map, ~0ULL - 100, 4096, spans), 0, "nor at the end of all addresses");
	map.range[1].dpa -= 4096;
	is(chmu_map_check(&map, 4096), CHMU_MAP, "device addresses twice");
	sound_device();
	map.range[1].hpa = 4096ULL * MIB;
	is(chmu_map_check(&map, 4096), CHMU_MAP, "host addresses twice");
	sound_device();
	map.range[0].bytes = 0;
	is(chmu_map_check(&map, 4096), CHMU_MAP, "an empty range");
	sound_device();
	map.range[0].hpa += 512;
	is(chmu_map_check(&map, 4096), CHMU_MAP, "a range with half pages");
	sound_device();
	map.range[1].dpa = -4096ULL * 2;
	is(chmu_map_check(&map, 4096), CHMU_MAP, "a range over the end of all addresses");
	sound_device();
	map.range[1].dpa = CHMU_MAX_BITS * CHMU_RANGE_BYTES;
	is(chmu_map_check(&map, 4096), CHMU_TOO_LARGE, "memory beyond the largest bitmap");
	map.nr = 0;
	is(chmu_map_check(&map, 4096), CHMU_NO_MEMORY, "no memory");
	map.nr = CHMU_MAX_RANGES + 1;
	is(chmu_map_check(&map, 4096), CHMU_MAP, "too many ranges");
}

int main(void)
{
	test_sound();
	test_broken();
	test_settings();
	test_start();
	test_parts();
	test_slow();
	test_refuses_writes();
	test_drain();
	test_hostile();
	test_epochs();
	test_map();
	return done();
}
