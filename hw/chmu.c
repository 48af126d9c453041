// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "hw/chmu.h"

enum {
	CHMU_ENTRY_BYTES = 8,
	CHMU_WIDTH_MAX = 60,	/* so that an entry has room for a unit's number */
	CHMU_CHUNK = 64,	/* entries read before the unit is told that their places are free */
};

static const u64 scales_us[] = CHMU_EPOCH_SCALES;

/** chmu_error_text - what is wrong with a unit, to be put after its name and a colon */
const char *chmu_error_text(enum chmu_error error)
{
#define CHMU_ERROR_TEXT(id, text) text,
	static const char * const texts[] = { CHMU_ERRORS(CHMU_ERROR_TEXT) };
#undef CHMU_ERROR_TEXT

	return error < CHMU_NR_ERRORS ? texts[error] : "unknown error";
}

static u64 read_reg(const struct chmu *unit, u32 reg, u32 bytes)
{
	return unit->io->read(unit->io, unit->regs + reg, bytes);
}

static bool write_reg(const struct chmu *unit, u32 reg, u64 value, u32 bytes)
{
	return unit->io->write(unit->io, unit->regs + reg, value, bytes);
}

/**
 * chmu_epoch_decode - the epoch that a register says, in microseconds
 * @scale: CHMU_*_EPOCH_SCALE
 * @multiplier: CHMU_*_EPOCH_MULT
 *
 * Returns 0 if it says none.
 */
u64 chmu_epoch_decode(u32 scale, u32 multiplier)
{
	return scale <= CHMU_EPOCH_SCALE_MAX ? scales_us[scale] * multiplier : 0;
}

/**
 * chmu_epoch_encode - the nearest epoch that a register can say
 * @us: microseconds wanted
 * @scale: the register's scale
 * @multiplier: and multiplier
 *
 * The smallest scale that reaches so far, since it is the finest. For @us between two epochs that
 * can be said, the result is between them, too.
 *
 * Returns the epoch in microseconds.
 */
u64 chmu_epoch_encode(u64 us, u32 *scale, u32 *multiplier)
{
	const u32 most = CHMU_GET(~0ULL, CHMU_CFG1_EPOCH_MULT);
	u64 n = 0;

	for (*scale = 1; *scale <= CHMU_EPOCH_SCALE_MAX; (*scale)++) {
		n = us / scales_us[*scale] + (us % scales_us[*scale] >= scales_us[*scale] / 2);
		if (n <= most)
			break;
	}
	if (*scale > CHMU_EPOCH_SCALE_MAX) {
		*scale = CHMU_EPOCH_SCALE_MAX;
		n = most;
	}
	*multiplier = n ? n : 1;
	return chmu_epoch_decode(*scale, *multiplier);
}

/**
 * chmu_instances - look at a register block
 * @io: the block
 * @instances: how many units it has, if it is fine
 */
enum chmu_error chmu_instances(const struct chmu_io *io, u32 *instances)
{
	u64 common, length;

	if (io->bytes < CHMU_INSTANCES)
		return CHMU_LENGTH;
	common = io->read(io, CHMU_COMMON0, 8);
	length = CHMU_GET(io->read(io, CHMU_COMMON1, 8), CHMU_COMMON1_LENGTH);
	/* Later versions only add, as all of CXL's register blocks do; all ones is no device. */
	if (!CHMU_GET(common, CHMU_COMMON0_VERSION) || common == ~0ULL)
		return CHMU_VERSION;
	*instances = CHMU_GET(common, CHMU_COMMON0_INSTANCES);
	if (!*instances)
		return CHMU_NO_INSTANCE;
	if (length < CHMU_INSTANCE_BYTES || length % 8 ||
	    CHMU_INSTANCES + *instances * length > io->bytes)
		return CHMU_LENGTH;
	return CHMU_OK;
}

static enum chmu_error read_caps(const struct chmu *unit, struct chmu_caps *caps)
{
	u64 cap0 = read_reg(unit, CHMU_CAP0, 8), cap1 = read_reg(unit, CHMU_CAP1, 8);

	*caps = (struct chmu_caps){
		.unit_sizes = CHMU_GET(cap1, CHMU_CAP1_UNIT_SIZES),
		.downsampling = CHMU_GET(cap1, CHMU_CAP1_DOWNSAMPLING) | 1,
		.epoch_min_us = chmu_epoch_decode(CHMU_GET(cap0, CHMU_CAP0_MIN_EPOCH_SCALE),
						  CHMU_GET(cap0, CHMU_CAP0_MIN_EPOCH_MULT)),
		.epoch_max_us = chmu_epoch_decode(CHMU_GET(cap0, CHMU_CAP0_MAX_EPOCH_SCALE),
						  CHMU_GET(cap0, CHMU_CAP0_MAX_EPOCH_MULT)),
		.entries = CHMU_GET(cap0, CHMU_CAP0_HOTLIST_ENTRIES),
		.trackable = CHMU_GET(cap0, CHMU_CAP0_TRACKABLE),
		.epoch_mode = CHMU_GET(cap1, CHMU_CAP1_EPOCH_MODE),
		.always_on = CHMU_GET(cap1, CHMU_CAP1_ALWAYS_ON),
		.random = CHMU_GET(cap1, CHMU_CAP1_RANDOM),
	};
	if (caps->entries < 2)
		return CHMU_NO_HOTLIST;
	if (!caps->unit_sizes)
		return CHMU_NO_UNIT_SIZE;
	if (!caps->epoch_mode && !caps->always_on)
		return CHMU_NO_MODE;
	if (!caps->epoch_min_us || caps->epoch_min_us > caps->epoch_max_us)
		return CHMU_NO_EPOCH;
	if (!caps->trackable)
		return CHMU_NO_COUNT;
	return CHMU_OK;
}

/* Is [offset, offset + bytes) aligned, mapped, and beyond the registers? */
static bool well_placed(const struct chmu_io *io, u64 offset, u64 bytes, u64 registers)
{
	return offset % 8 == 0 && offset >= registers && offset <= io->bytes &&
	       bytes <= io->bytes - offset;
}

static bool overlap(u64 a, u64 a_bytes, u64 b, u64 b_bytes)
{
	return a < b + b_bytes && b < a + a_bytes;
}

/* Numbers of the bitmap's bits that the map needs: [0, result) */
static u64 map_end_bit(const struct chmu_map *map)
{
	u64 end = 0, last;
	u32 i;

	for (i = 0; i < map->nr; i++) {
		last = (map->range[i].dpa + map->range[i].bytes - 1) / CHMU_RANGE_BYTES;
		if (last + 1 > end)
			end = last + 1;
	}
	return end;
}

static u64 bitmap_words(const struct chmu_map *map)
{
	return (map_end_bit(map) + 63) / 64;
}

static u32 counter_max(u64 status)
{
	u32 width = CHMU_GET(status, CHMU_STATUS_COUNTER_WIDTH);

	return width && width < 32 ? (1U << width) - 1 : ~0U;
}

/**
 * chmu_open - look at an instance
 * @unit: to be filled in
 * @io: its register block, which chmu_instances() found to be fine
 * @index: which of its instances
 * @map: the device's memory, which chmu_map_check() found to be fine
 *
 * Changes nothing on the device.
 */
enum chmu_error chmu_open(struct chmu *unit, const struct chmu_io *io, u32 index,
			  const struct chmu_map *map)
{
	u64 length = CHMU_GET(io->read(io, CHMU_COMMON1, 8), CHMU_COMMON1_LENGTH);
	u64 registers, hotlist_bytes, bitmap_bytes = bitmap_words(map) * 8;
	enum chmu_error error;

	*unit = (struct chmu){ .io = io, .regs = CHMU_INSTANCES + index * length };
	if (length < CHMU_INSTANCE_BYTES || unit->regs + length > io->bytes)
		return CHMU_LENGTH;
	error = read_caps(unit, &unit->caps);
	if (error)
		return error;
	registers = unit->regs + length;
	unit->bitmap = read_reg(unit, CHMU_BITMAP_OFFSET, 8);
	unit->hotlist = read_reg(unit, CHMU_HOTLIST_OFFSET, 8);
	hotlist_bytes = (u64)unit->caps.entries * CHMU_ENTRY_BYTES;
	if (!well_placed(io, unit->bitmap, bitmap_bytes, registers) ||
	    !well_placed(io, unit->hotlist, hotlist_bytes, registers) ||
	    overlap(unit->bitmap, bitmap_bytes, unit->hotlist, hotlist_bytes))
		return CHMU_PLACES;
	unit->threshold_max = counter_max(read_reg(unit, CHMU_STATUS, 8));
	return CHMU_OK;
}

static u32 log2_of(u64 power)
{
	u32 shift = 0;

	while (power >>= 1)
		shift++;
	return shift;
}

/**
 * chmu_check - can the unit do this?
 * @unit: a unit that chmu_open() found to be fine
 * @wanted: the settings
 *
 * Pure: touches no register. Returns CHMU_OK or the first of CHMU_CANNOT_* that holds. An epoch that
 * is allowed may still be rounded by chmu_start().
 */
enum chmu_error chmu_check(const struct chmu *unit, const struct chmu_settings *wanted)
{
	const struct chmu_caps *caps = &unit->caps;
	u32 shift = log2_of(wanted->unit_bytes);

	if (wanted->unit_bytes != 1ULL << shift || shift < CHMU_UNIT_SHIFT_MIN ||
	    shift >= CHMU_UNIT_SHIFT_MIN + 32 ||
	    !(caps->unit_sizes >> (shift - CHMU_UNIT_SHIFT_MIN) & 1))
		return CHMU_CANNOT_UNIT;
	if (wanted->mode == CHMU_MODE_EPOCH ? !caps->epoch_mode :
	    wanted->mode != CHMU_MODE_ALWAYS_ON || !caps->always_on)
		return CHMU_CANNOT_MODE;
	if (wanted->count < CHMU_COUNT_READS || wanted->count > CHMU_COUNT_ALL_BOTH ||
	    !(caps->trackable >> (wanted->count - 1) & 1))
		return CHMU_CANNOT_COUNT;
	if (wanted->downsampling > 15 || !(caps->downsampling >> wanted->downsampling & 1))
		return CHMU_CANNOT_DOWNSAMPLE;
	if (wanted->epoch_us < caps->epoch_min_us || wanted->epoch_us > caps->epoch_max_us)
		return CHMU_CANNOT_EPOCH;
	if (!wanted->threshold || wanted->threshold > unit->threshold_max)
		return CHMU_CANNOT_THRESHOLD;
	return CHMU_OK;
}

/* Until these bits of STATUS are as they should be. */
static enum chmu_error await(const struct chmu *unit, u64 mask, u64 value)
{
	u32 before = 0;

	while ((read_reg(unit, CHMU_STATUS, 8) & mask) != value)
		if (!unit->io->wait(unit->io, before++))
			return CHMU_TIMEOUT;
	return CHMU_OK;
}

#define BUSY_BITS	CHMU_PUT(~0ULL, CHMU_STATUS_BUSY)
#define ENABLED_BIT	CHMU_PUT(1, CHMU_STATUS_ENABLED)

/* Until nothing is in progress any more and the unit is @enabled or not, as it should be. */
static enum chmu_error settle(const struct chmu *unit, bool enabled)
{
	return await(unit, BUSY_BITS | ENABLED_BIT, enabled ? ENABLED_BIT : 0);
}

/**
 * chmu_stop - let the unit count no more
 * @unit: a unit that chmu_open() found to be fine
 *
 * Returns CHMU_OK, CHMU_TIMEOUT or CHMU_REFUSES_WRITES.
 */
enum chmu_error chmu_stop(const struct chmu *unit)
{
	enum chmu_error error;
	u64 cfg0;

	/* What is written while an operation is in progress may be lost. */
	error = await(unit, BUSY_BITS, 0);
	if (error)
		return error;
	cfg0 = read_reg(unit, CHMU_CFG0, 8);
	cfg0 &= ~(CHMU_PUT(1, CHMU_CFG0_ENABLE) | CHMU_PUT(1, CHMU_CFG0_RESET));
	if (!write_reg(unit, CHMU_CFG0, cfg0, 8))
		return CHMU_REFUSES_WRITES;
	return settle(unit, false);
}

static bool bit_is_mapped(const struct chmu_map *map, u64 bit)
{
	u64 start = bit * CHMU_RANGE_BYTES;
	u32 i;

	for (i = 0; i < map->nr; i++)
		if (overlap(start, CHMU_RANGE_BYTES, map->range[i].dpa, map->range[i].bytes))
			return true;
	return false;
}

/* Is it in the part? @k: how many mapped bits are below it. */
static bool in_part(const struct chmu_part *part, u32 k)
{
	return k % part->shares == part->share && k / part->shares % part->slices == part->slice;
}

/**
 * chmu_map_bits - how many bits of the range bitmap a part sets
 * @map: the device's memory
 * @part: the part of it
 *
 * Pure. Parts are dealt out bit by bit among those that have memory, so they are equally large.
 */
u32 chmu_map_bits(const struct chmu_map *map, const struct chmu_part *part)
{
	u64 bit, end = map_end_bit(map);
	u32 k = 0, n = 0;

	for (bit = 0; bit < end; bit++)
		if (bit_is_mapped(map, bit))
			n += in_part(part, k++);
	return n;
}

/* What has no host memory stays 0: nobody wants to hear of it. */
static enum chmu_error write_bitmap(const struct chmu *unit, const struct chmu_map *map,
				    const struct chmu_part *part)
{
	u64 word, n, words = bitmap_words(map);
	u32 bit, k = 0;

	for (n = 0; n < words; n++) {
		word = 0;
		for (bit = 0; bit < 64; bit++)
			if (bit_is_mapped(map, n * 64 + bit) && in_part(part, k++))
				word |= 1ULL << bit;
		if (!unit->io->write(unit->io, unit->bitmap + n * 8, word, 8))
			return CHMU_REFUSES_WRITES;
		port_yield();
	}
	return CHMU_OK;
}

/* Reset the counters and empty the hotlist. */
static enum chmu_error clean(const struct chmu *unit, u64 cfg0)
{
	u64 status = CHMU_PUT(1, CHMU_STATUS_OVERFLOW) | CHMU_PUT(1, CHMU_STATUS_FILL);
	enum chmu_error error;
	u32 tail;

	if (!write_reg(unit, CHMU_CFG0, cfg0 | CHMU_PUT(1, CHMU_CFG0_RESET), 8))
		return CHMU_REFUSES_WRITES;
	error = settle(unit, false);
	if (error)
		return error;
	tail = read_reg(unit, CHMU_TAIL, 2);
	if (tail >= unit->caps.entries)
		return CHMU_INDICES;
	if (!write_reg(unit, CHMU_HEAD, tail, 2) || !write_reg(unit, CHMU_STATUS, status, 8))
		return CHMU_REFUSES_WRITES;
	return CHMU_OK;
}

/* @cfg0: what is to be written there last, for it starts operations. */
static enum chmu_error configure(const struct chmu *unit, struct chmu_settings *settings,
				 u64 *cfg0)
{
	bool random = settings->downsampling && unit->caps.random;
	u32 scale, multiplier;
	u64 cfg1;

	settings->epoch_us = chmu_epoch_encode(settings->epoch_us, &scale, &multiplier);
	/* In a fixed step, every 2^n-th of a regular pattern could always be the same address. */
	*cfg0 = CHMU_PUT(settings->count, CHMU_CFG0_COUNT) | CHMU_PUT(random, CHMU_CFG0_RANDOM) |
		CHMU_PUT(settings->threshold, CHMU_CFG0_THRESHOLD);
	cfg1 = CHMU_PUT(unit->shift, CHMU_CFG1_UNIT_SHIFT) |
	       CHMU_PUT(settings->downsampling, CHMU_CFG1_DOWNSAMPLING) |
	       CHMU_PUT(settings->mode, CHMU_CFG1_MODE) |
	       CHMU_PUT(scale, CHMU_CFG1_EPOCH_SCALE) |
	       CHMU_PUT(multiplier, CHMU_CFG1_EPOCH_MULT);
	if (!write_reg(unit, CHMU_CFG1, cfg1, 8) || !write_reg(unit, CHMU_CFG2, 0, 8))
		return CHMU_REFUSES_WRITES;
	return CHMU_OK;
}

static enum chmu_error start(struct chmu *unit, struct chmu_settings *settings,
			     const struct chmu_map *map, const struct chmu_part *part)
{
	enum chmu_error error;
	u64 cfg0 = 0, status;
	u32 width;

	error = configure(unit, settings, &cfg0);
	if (!error)
		error = write_bitmap(unit, map, part);
	if (!error)
		error = clean(unit, cfg0);
	if (error)
		return error;
	if (!write_reg(unit, CHMU_CFG0, cfg0 | CHMU_PUT(1, CHMU_CFG0_ENABLE), 8))
		return CHMU_REFUSES_WRITES;
	error = settle(unit, true);
	if (error)
		return error;
	/* The width may depend on the settings. */
	status = read_reg(unit, CHMU_STATUS, 8);
	width = CHMU_GET(status, CHMU_STATUS_COUNTER_WIDTH);
	if (!width || width > CHMU_WIDTH_MAX)
		return CHMU_WIDTH;
	unit->threshold_max = counter_max(status);
	return CHMU_OK;
}

/**
 * chmu_start - let the unit count, from zero, with an empty hotlist
 * @unit: the unit, stopped or not
 * @settings: what chmu_check() found to be fine; the epoch is rounded to what the unit has
 * @map: the device's memory
 * @part: which of it to watch
 *
 * Returns CHMU_OK, CHMU_TIMEOUT, CHMU_REFUSES_WRITES, CHMU_INDICES, CHMU_WIDTH, or what
 * chmu_check() says; then the unit is stopped, if it obeys.
 */
enum chmu_error chmu_start(struct chmu *unit, struct chmu_settings *settings,
			   const struct chmu_map *map, const struct chmu_part *part)
{
	enum chmu_error error = chmu_check(unit, settings);

	if (!error)
		error = chmu_stop(unit);
	if (error)
		return error;
	unit->shift = log2_of(settings->unit_bytes);
	error = start(unit, settings, map, part);
	/* A unit that is deaf already gets no second time to obey. */
	if (error && error != CHMU_TIMEOUT)
		chmu_stop(unit);
	else if (error)
		write_reg(unit, CHMU_CFG0, 0, 8);
	return error;
}

static void emit_entry(const struct chmu *unit, u64 entry, u32 width, chmu_emit_fn emit, void *ctx)
{
	u64 number = entry >> width, dpa = number << unit->shift;

	/* A number so large that its address would have more than 64 bits. */
	if (dpa >> unit->shift != number)
		dpa = CHMU_NO_ADDRESS;
	emit(ctx, dpa, CHMU_GET(entry, 0, width));
}

/**
 * chmu_drain - take what is on the hotlist
 * @unit: a unit that was started
 * @emit: called for each entry
 * @ctx: for @emit
 * @drained: what was found
 *
 * Takes what is there when it is called, so less than the hotlist's length.
 *
 * Returns CHMU_OK; CHMU_STOPPED (as after a reset), CHMU_INDICES or CHMU_WIDTH: nothing was read, start
 * the unit again; or CHMU_REFUSES_WRITES.
 */
enum chmu_error chmu_drain(const struct chmu *unit, chmu_emit_fn emit, void *ctx,
			   struct chmu_drained *drained)
{
	u64 status = read_reg(unit, CHMU_STATUS, 8);
	u32 width = CHMU_GET(status, CHMU_STATUS_COUNTER_WIDTH);
	u32 head = read_reg(unit, CHMU_HEAD, 2), tail = read_reg(unit, CHMU_TAIL, 2);
	u32 entries = unit->caps.entries;

	*drained = (struct chmu_drained){ 0 };
	if (!CHMU_GET(status, CHMU_STATUS_ENABLED))
		return CHMU_STOPPED;
	if (!width || width > CHMU_WIDTH_MAX)
		return CHMU_WIDTH;
	if (head >= entries || tail >= entries)
		return CHMU_INDICES;
	while (head != tail) {
		emit_entry(unit, unit->io->read(unit->io, unit->hotlist + head * CHMU_ENTRY_BYTES, 8),
			   width, emit, ctx);
		head = head + 1 < entries ? head + 1 : 0;
		drained->entries++;
		if ((head == tail || drained->entries % CHMU_CHUNK == 0) &&
		    !write_reg(unit, CHMU_HEAD, head, 2))
			return CHMU_REFUSES_WRITES;
	}
	drained->overflow = CHMU_GET(status, CHMU_STATUS_OVERFLOW);
	/* What is lost between the look at the status and here is "at least one", too. */
	if (drained->overflow &&
	    !write_reg(unit, CHMU_STATUS, CHMU_PUT(1, CHMU_STATUS_OVERFLOW) |
		       CHMU_PUT(1, CHMU_STATUS_FILL), 8))
		return CHMU_REFUSES_WRITES;
	return CHMU_OK;
}

/**
 * chmu_map_check - does the map make sense?
 * @map: device addresses and the host's
 * @align: all of its numbers must be multiples of this, in bytes
 *
 * Pure. No two ranges may have a device address or a host address in common.
 *
 * Returns CHMU_OK, CHMU_MAP, CHMU_TOO_LARGE or CHMU_NO_MEMORY.
 */
enum chmu_error chmu_map_check(const struct chmu_map *map, u64 align)
{
	const struct chmu_range *a, *b;
	u32 i, j;

	if (!map->nr)
		return CHMU_NO_MEMORY;
	if (map->nr > CHMU_MAX_RANGES)
		return CHMU_MAP;
	for (i = 0; i < map->nr; i++) {
		a = &map->range[i];
		if (!a->bytes || (a->dpa | a->hpa | a->bytes) % align ||
		    a->dpa + a->bytes < a->dpa || a->hpa + a->bytes < a->hpa)
			return CHMU_MAP;
		for (j = 0; j < i; j++) {
			b = &map->range[j];
			if (overlap(a->dpa, a->bytes, b->dpa, b->bytes) ||
			    overlap(a->hpa, a->bytes, b->hpa, b->bytes))
				return CHMU_MAP;
		}
	}
	return map_end_bit(map) > CHMU_MAX_BITS ? CHMU_TOO_LARGE : CHMU_OK;
}

/**
 * chmu_map_spans - host memory of device addresses [dpa, dpa + bytes)
 * @map: the device's memory
 * @dpa: first device address, or CHMU_NO_ADDRESS
 * @bytes: how much
 * @spans: room for CHMU_MAX_RANGES
 *
 * Pure. Returns how many spans there are; 0: none of it is host memory.
 */
u32 chmu_map_spans(const struct chmu_map *map, u64 dpa, u64 bytes, struct chmu_span *spans)
{
	u64 end = dpa + bytes, first, last;
	u32 i, n = 0;

	if (dpa == CHMU_NO_ADDRESS || end < dpa)
		return 0;
	for (i = 0; i < map->nr; i++) {
		const struct chmu_range *r = &map->range[i];

		if (!overlap(dpa, bytes, r->dpa, r->bytes))
			continue;
		first = dpa > r->dpa ? dpa : r->dpa;
		last = end < r->dpa + r->bytes ? end : r->dpa + r->bytes;
		spans[n++] = (struct chmu_span){ r->hpa + (first - r->dpa), last - first };
	}
	return n;
}
