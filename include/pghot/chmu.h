/* SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR MIT */
/*
 * chmu - registers of a CXL Hotness Monitoring Unit (Compute Express Link 3.2, "CHMU Registers")
 *
 * A block begins with two 64-bit words that all its instances share; instance n follows at
 * CHMU_INSTANCES + n * the instance length. All offsets are in bytes. A field is "shift, width",
 * for CHMU_GET() and CHMU_PUT().
 *
 * A unit counts accesses to aligned units of device memory, and puts the numbers of those whose
 * count reached a threshold within an epoch into a ring, the hotlist, which the host empties.
 */
#ifndef PGHOT_CHMU_H
#define PGHOT_CHMU_H

#define CHMU_GET(reg, ...)		CHMU_GET_(reg, __VA_ARGS__)
#define CHMU_GET_(reg, shift, width)	(((reg) >> (shift)) & ((1ULL << (width)) - 1))
#define CHMU_PUT(value, ...)		CHMU_PUT_(value, __VA_ARGS__)
#define CHMU_PUT_(value, shift, width)	(((value) & ((1ULL << (width)) - 1)) << (shift))

/* The block. */
#define CHMU_COMMON0		0x00
#define CHMU_COMMON0_VERSION		0, 4
#define CHMU_COMMON0_INSTANCES		8, 8
#define CHMU_COMMON1		0x08
#define CHMU_COMMON1_LENGTH		0, 16	/* bytes of an instance */
#define CHMU_INSTANCES		0x10

/* An instance: what it can do. */
#define CHMU_CAP0		0x00
#define CHMU_CAP0_MSI			0, 4
#define CHMU_CAP0_OVERFLOW_INT		4, 1
#define CHMU_CAP0_FILL_INT		5, 1
#define CHMU_CAP0_EPOCH_TYPE		6, 2	/* 0: all counters at once, 1: each its own */
#define CHMU_CAP0_TRACKABLE		8, 6	/* bit n - 1: may count enum chmu_count n */
#define CHMU_CAP0_MAX_EPOCH_SCALE	16, 4
#define CHMU_CAP0_MAX_EPOCH_MULT	20, 12
#define CHMU_CAP0_MIN_EPOCH_SCALE	32, 4
#define CHMU_CAP0_MIN_EPOCH_MULT	36, 12
#define CHMU_CAP0_HOTLIST_ENTRIES	48, 16
#define CHMU_CAP1		0x08
#define CHMU_CAP1_UNIT_SIZES		0, 32	/* bit n: units of 256 << n bytes */
#define CHMU_CAP1_DOWNSAMPLING		32, 16	/* bit n: one access of 2^n is counted */
#define CHMU_CAP1_EPOCH_MODE		48, 1
#define CHMU_CAP1_ALWAYS_ON		49, 1
#define CHMU_CAP1_RANDOM		50, 1	/* which one of 2^n may be random */
#define CHMU_CAP1_OVERLAP		51, 1	/* an address may be counted more than once */
#define CHMU_CAP1_POSTPONE		52, 1	/* a full hotlist delays entries */
#define CHMU_BITMAP_OFFSET	0x10		/* of the range bitmap, from the block's start */
#define CHMU_HOTLIST_OFFSET	0x18		/* of the hotlist, likewise */

/* What it shall do. */
#define CHMU_CFG0		0x40
#define CHMU_CFG0_COUNT			0, 8	/* enum chmu_count */
#define CHMU_CFG0_RANDOM		8, 1
#define CHMU_CFG0_OVERFLOW_INT		9, 1
#define CHMU_CFG0_FILL_INT		10, 1
#define CHMU_CFG0_ENABLE		16, 1
#define CHMU_CFG0_RESET			17, 1	/* reset all counters */
#define CHMU_CFG0_THRESHOLD		32, 32
#define CHMU_CFG1		0x48
#define CHMU_CFG1_UNIT_SHIFT		0, 32	/* log2 of the unit's bytes */
#define CHMU_CFG1_DOWNSAMPLING		32, 4	/* log2 */
#define CHMU_CFG1_MODE			40, 8	/* enum chmu_mode */
#define CHMU_CFG1_EPOCH_SCALE		48, 4
#define CHMU_CFG1_EPOCH_MULT		52, 12
#define CHMU_CFG2		0x50
#define CHMU_CFG2_FILL_THRESHOLD	0, 16

/* What it does. */
#define CHMU_STATUS		0x60
#define CHMU_STATUS_ENABLED		0, 1
#define CHMU_STATUS_BUSY		16, 16	/* enabling, disabling or resetting: not 0 */
#define CHMU_STATUS_COUNTER_WIDTH	32, 8	/* bits of a count in a hotlist entry */
#define CHMU_STATUS_OVERFLOW		40, 1	/* at least one entry was lost; write 1 to clear */
#define CHMU_STATUS_FILL		41, 1	/* likewise */
#define CHMU_HEAD		0x68		/* 16 bits: the next entry that the host reads */
#define CHMU_TAIL		0x6a		/* 16 bits: the next entry that the unit writes */
#define CHMU_INSTANCE_BYTES	0x70		/* the least length of an instance */

#define CHMU_RANGE_BYTES	(256ULL << 20)	/* of device memory for each bit of the bitmap */
#define CHMU_UNIT_SHIFT_MIN	8

enum chmu_count {
	CHMU_COUNT_READS = 1,		/* 1..3: of what is not in a trusted environment */
	CHMU_COUNT_WRITES,
	CHMU_COUNT_BOTH,
	CHMU_COUNT_ALL_READS,		/* 4..6: of all */
	CHMU_COUNT_ALL_WRITES,
	CHMU_COUNT_ALL_BOTH,
};

enum chmu_mode {
	CHMU_MODE_EPOCH = 0,		/* entries at the end of an epoch */
	CHMU_MODE_ALWAYS_ON = 1,	/* an entry as soon as a counter passes the threshold */
};

/* Epoch = scale x multiplier: microseconds of scale 1..5. */
#define CHMU_EPOCH_SCALES	{ 0, 100, 1000, 10000, 100000, 1000000 }
#define CHMU_EPOCH_SCALE_MAX	5

#endif
