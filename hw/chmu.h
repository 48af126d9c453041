/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * chmu - drive a CXL Hotness Monitoring Unit through callbacks
 *
 * Registers: pghot/chmu.h. What is in them is the device's word, and devices may be broken: each
 * register is read once where it is used, and what makes no sense is refused with a reason. One
 * caller at a time for each unit; all functions but the pure ones may wait.
 */
#ifndef PGHOT_HW_CHMU_H
#define PGHOT_HW_CHMU_H

#include "engine/port.h"
#include "pghot/chmu.h"

enum {
	CHMU_MAX_RANGES = 32,
	CHMU_MAX_BITS = 65536,		/* of the range bitmap: 16 TiB of device memory */
};

#define CHMU_NO_ADDRESS	(~0ULL)

/* X(ID, what is wrong, for people) */
#define CHMU_ERRORS(X)								\
	X(OK, "nothing")							\
	X(VERSION, "its register block has no version that is known")		\
	X(NO_INSTANCE, "its register block has no instance")			\
	X(LENGTH, "its instances are too short or do not fit the mapped registers") \
	X(NO_HOTLIST, "its hotlist has fewer than 2 entries")			\
	X(PLACES, "its hotlist or range bitmap is misaligned, overlaps something or is not mapped") \
	X(NO_UNIT_SIZE, "it offers no unit size")				\
	X(NO_MODE, "it offers neither epoch nor always-on mode")		\
	X(NO_EPOCH, "its range of epochs makes no sense")			\
	X(NO_COUNT, "it offers nothing to count")				\
	X(MAP, "the host addresses of its memory make no sense")		\
	X(TOO_LARGE, "its memory is larger than this driver's range bitmap")	\
	X(NO_MEMORY, "no host memory is left for it")				\
	X(CANNOT_UNIT, "it cannot count in units of that size")			\
	X(CANNOT_MODE, "it does not have that mode")				\
	X(CANNOT_COUNT, "it cannot count that")					\
	X(CANNOT_DOWNSAMPLE, "it cannot down-sample so")			\
	X(CANNOT_EPOCH, "it cannot have an epoch of that length")		\
	X(CANNOT_THRESHOLD, "its counters cannot reach that threshold")		\
	X(REFUSES_WRITES, "it does not take writes to its registers")		\
	X(TIMEOUT, "it took too long to obey")					\
	X(STOPPED, "it stops counting by itself")				\
	X(INDICES, "its hotlist's head or tail is out of range")		\
	X(WIDTH, "the counter width of its hotlist's entries makes no sense")

#define CHMU_ERROR_ENUM(id, text) CHMU_##id,
enum chmu_error {
	CHMU_ERRORS(CHMU_ERROR_ENUM)
	CHMU_NR_ERRORS
};
#undef CHMU_ERROR_ENUM

/**
 * struct chmu_io - how to reach a register block; offsets are in bytes from its start
 * @bytes: how much can be reached
 * @read: a register or hotlist entry of 2 or 8 bytes, aligned
 * @write: likewise; false: it cannot be written
 * @wait: called each time that the unit was seen not to be done yet, with how often before; false:
 *	patience is over
 */
struct chmu_io {
	u64 bytes;
	u64 (*read)(const struct chmu_io *io, u64 offset, u32 bytes);
	bool (*write)(const struct chmu_io *io, u64 offset, u64 value, u32 bytes);
	bool (*wait)(const struct chmu_io *io, u32 before);
};

/**
 * struct chmu_range - device memory that the host can reach
 * @dpa: first device address
 * @hpa: which is this of the host's
 * @bytes: how much
 */
struct chmu_range {
	u64 dpa;
	u64 hpa;
	u64 bytes;
};

/** struct chmu_map - all host memory of a device; see chmu_map_check() */
struct chmu_map {
	u32 nr;
	struct chmu_range range[CHMU_MAX_RANGES];
};

/**
 * struct chmu_span - host memory
 * @hpa: first byte
 * @bytes: how much
 */
struct chmu_span {
	u64 hpa;
	u64 bytes;
};

/**
 * struct chmu_caps - what an instance can do
 * @unit_sizes: bit n: units of 256 << n bytes
 * @downsampling: bit n: one of 2^n; bit 0 is always set
 * @epoch_min_us: shortest epoch
 * @epoch_max_us: longest
 * @entries: places in the hotlist, one of which stays free
 * @trackable: bit n - 1: enum chmu_count n
 * @epoch_mode: has CHMU_MODE_EPOCH
 * @always_on: has CHMU_MODE_ALWAYS_ON
 * @random: which one of 2^n is counted can be random
 */
struct chmu_caps {
	u32 unit_sizes;
	u32 downsampling;
	u64 epoch_min_us;
	u64 epoch_max_us;
	u32 entries;
	u32 trackable;
	bool epoch_mode;
	bool always_on;
	bool random;
};

/**
 * struct chmu_settings - what an instance shall do
 * @unit_bytes: memory of a counter, a power of two
 * @epoch_us: epoch of the counters
 * @threshold: accesses in an epoch that put a unit on the hotlist, as counted
 * @count: enum chmu_count
 * @mode: enum chmu_mode
 * @downsampling: one access of 2^n is counted
 */
struct chmu_settings {
	u64 unit_bytes;
	u64 epoch_us;
	u32 threshold;
	u32 count;
	u32 mode;
	u32 downsampling;
};

/**
 * struct chmu_part - the part of the mapped memory to watch, in pieces of CHMU_RANGE_BYTES
 * @shares: instances that divide the memory among them
 * @share: which of them this one is, from 0
 * @slices: parts of the share that take turns
 * @slice: whose turn it is, from 0
 */
struct chmu_part {
	u32 shares;
	u32 share;
	u32 slices;
	u32 slice;
};

/**
 * struct chmu - an instance
 * @io: its register block
 * @regs: where its registers are in the block
 * @bitmap: where its range bitmap is
 * @hotlist: where its hotlist is
 * @caps: what it can do
 * @threshold_max: what its counters can reach, as far as is known
 * @shift: log2 of the unit since the last chmu_start()
 */
struct chmu {
	const struct chmu_io *io;
	u64 regs;
	u64 bitmap;
	u64 hotlist;
	struct chmu_caps caps;
	u32 threshold_max;
	u32 shift;
};

/**
 * struct chmu_drained - what chmu_drain() found
 * @entries: entries read
 * @overflow: the unit lost at least one entry since the last time
 */
struct chmu_drained {
	u32 entries;
	bool overflow;
};

/** chmu_emit_fn - an entry: @count accesses to the unit at device address @dpa or CHMU_NO_ADDRESS */
typedef void (*chmu_emit_fn)(void *ctx, u64 dpa, u64 count);

const char *chmu_error_text(enum chmu_error error);

enum chmu_error chmu_map_check(const struct chmu_map *map, u64 align);
u32 chmu_map_bits(const struct chmu_map *map, const struct chmu_part *part);
u32 chmu_map_spans(const struct chmu_map *map, u64 dpa, u64 bytes, struct chmu_span *spans);

u64 chmu_epoch_decode(u32 scale, u32 multiplier);
u64 chmu_epoch_encode(u64 us, u32 *scale, u32 *multiplier);

enum chmu_error chmu_instances(const struct chmu_io *io, u32 *instances);
enum chmu_error chmu_open(struct chmu *unit, const struct chmu_io *io, u32 index,
			  const struct chmu_map *map);
enum chmu_error chmu_check(const struct chmu *unit, const struct chmu_settings *wanted);
enum chmu_error chmu_start(struct chmu *unit, struct chmu_settings *settings,
			   const struct chmu_map *map, const struct chmu_part *part);
enum chmu_error chmu_stop(const struct chmu *unit);
enum chmu_error chmu_drain(const struct chmu *unit, chmu_emit_fn emit, void *ctx,
			   struct chmu_drained *drained);

#endif
