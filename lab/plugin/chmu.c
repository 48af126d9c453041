// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "chmu.h"
#include "counters.h"
#include "lab.h"
#include "pghot/chmu.h"

/* The block: common words, the instance, and the bitmap, with gaps that a driver has to skip. */
#define INSTANCE_BYTES		0x80
#define BITMAP			0x100
#define BITMAP_WORDS		64		/* 4096 x 256 MiB = 1 TiB of device memory */
#define BLOCK_BYTES		(BITMAP + BITMAP_WORDS * 8)

/* Units of 256 bytes, 4 KiB, 16 KiB, 64 KiB and 2 MiB. */
#define UNIT_SIZES		(1U << 0 | 1U << 4 | 1U << 6 | 1U << 8 | 1U << 13)
#define TRACKABLE		(1U << (CHMU_COUNT_READS - 1) | 1U << (CHMU_COUNT_WRITES - 1) | \
				 1U << (CHMU_COUNT_BOTH - 1))
#define DOWNSAMPLINGS		0x1ffU		/* one of 2^0 .. 2^8 */
#define COUNTER_WIDTH		16
#define COUNTER_MAX		((1U << COUNTER_WIDTH) - 1)

/* Epochs from 10 x 100 us to 16 x 1 s. */
#define MIN_EPOCH_SCALE		1
#define MIN_EPOCH_MULT		10
#define MAX_EPOCH_SCALE		CHMU_EPOCH_SCALE_MAX
#define MAX_EPOCH_MULT		16

/* What an operation takes: whoever does not wait for it is found out. */
#define OPERATION_US		50
#define NSEC_PER_SEC		1000000000ULL
#define NSEC_PER_USEC		1000ULL

static const uint64_t scales_us[] = CHMU_EPOCH_SCALES;

/* In STATUS as long as they last. */
enum operation { OP_NONE, OP_ENABLE, OP_DISABLE, OP_RESET };

/**
 * struct settings - what an enabled unit counts: a single word, which CPUs read with no lock
 * @ops: bits of PGHOT_LABDEV_LOAD and PGHOT_LABDEV_STORE
 * @shift: log2 of the bytes of a unit of memory
 * @down: log2 of the accesses of which one is counted
 * @random: is it any of them?
 * @always_on: CHMU_MODE_ALWAYS_ON
 * @threshold: count of what is hot
 */
struct settings {
	uint8_t ops;
	uint8_t shift;
	uint8_t down;
	bool random : 1;
	bool always_on : 1;
	uint32_t threshold;
} __attribute__((aligned(8)));

_Static_assert(sizeof(struct settings) == 8, "one access of a CPU");

/**
 * struct chmu - one unit
 * @nr: which
 * @node: whose
 * @lock: CPUs read @bitmap and @settings without it, and @counters need none
 * @wake: an operation is to be done
 * @cfg: CFG0, CFG1, CFG2
 * @status: STATUS
 * @head, @tail: of the hotlist
 * @bitmap: which ranges are counted
 * @has_thread: there is one: as long as it is enabled or an operation is under way
 * @operation: that one
 * @epoch_ns: length of an epoch
 * @deadline_ns: end of this one
 * @settings: what it counts
 * @counters: made when it is enabled first, and kept: CPUs may be about to use them
 * @truth: what is published
 */
struct chmu {
	unsigned int nr;
	unsigned int node;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	uint64_t cfg[3];
	uint64_t status;
	uint16_t head, tail;
	uint64_t bitmap[BITMAP_WORDS];
	bool has_thread;
	enum operation operation;
	uint64_t epoch_ns;
	uint64_t deadline_ns;
	struct settings settings;
	struct counters counters;
	struct pghot_labdev_chmu_truth truth;
};

static struct chmu units[PGHOT_LABDEV_MAX_CHMUS];
static unsigned int nr_units;
static struct chmu *unit_of_node[PGHOT_LABDEV_MAX_NODES];

/* ---- the bar ---- */

static char *block(const struct chmu *unit)
{
	return lab.dev.bar + PGHOT_LABDEV_CHMU_REGS + unit->nr * PGHOT_LABDEV_CHMU_REGS_STEP;
}

static void put64(const struct chmu *unit, unsigned int at, uint64_t value)
{
	__atomic_store_n((uint64_t *)(block(unit) + at), value, __ATOMIC_RELEASE);
}

static void put_instance(const struct chmu *unit, unsigned int at, uint64_t value)
{
	put64(unit, CHMU_INSTANCES + at, value);
}

/* What a guest may see change. */
static void publish(const struct chmu *unit)
{
	put_instance(unit, CHMU_CFG0, unit->cfg[0]);
	put_instance(unit, CHMU_CFG1, unit->cfg[1]);
	put_instance(unit, CHMU_CFG2, unit->cfg[2]);
	put_instance(unit, CHMU_HEAD, unit->head | (uint64_t)unit->tail << 16);
	put_instance(unit, CHMU_STATUS, unit->status);
}

static void publish_truth(struct chmu *unit)
{
	uint64_t seen = 0;

	for (unsigned int cpu = 0; cpu < lab.nr_vcpus; cpu++)
		seen += __atomic_load_n(&lab.vcpus[cpu].seen[unit->nr], __ATOMIC_RELAXED);
	unit->truth.seen = seen;
	*(struct pghot_labdev_chmu_truth *)(block(unit) + PGHOT_LABDEV_CHMU_TRUTH) = unit->truth;
}

static uint64_t hotlist_at(const struct chmu *unit)
{
	return PGHOT_LABDEV_CHMU_HOTLIST + unit->nr * PGHOT_LABDEV_CHMU_HOTLIST_STEP;
}

static void unit_open(struct chmu *unit)
{
	put64(unit, CHMU_COMMON0, CHMU_PUT(1, CHMU_COMMON0_VERSION) |
	      CHMU_PUT(1, CHMU_COMMON0_INSTANCES));
	put64(unit, CHMU_COMMON1, CHMU_PUT(INSTANCE_BYTES, CHMU_COMMON1_LENGTH));
	put_instance(unit, CHMU_CAP0, CHMU_PUT(TRACKABLE, CHMU_CAP0_TRACKABLE) |
		     CHMU_PUT(MAX_EPOCH_SCALE, CHMU_CAP0_MAX_EPOCH_SCALE) |
		     CHMU_PUT(MAX_EPOCH_MULT, CHMU_CAP0_MAX_EPOCH_MULT) |
		     CHMU_PUT(MIN_EPOCH_SCALE, CHMU_CAP0_MIN_EPOCH_SCALE) |
		     CHMU_PUT(MIN_EPOCH_MULT, CHMU_CAP0_MIN_EPOCH_MULT) |
		     CHMU_PUT(lab.opts.chmu_entries, CHMU_CAP0_HOTLIST_ENTRIES));
	put_instance(unit, CHMU_CAP1, CHMU_PUT(UNIT_SIZES, CHMU_CAP1_UNIT_SIZES) |
		     CHMU_PUT(DOWNSAMPLINGS, CHMU_CAP1_DOWNSAMPLING) |
		     CHMU_PUT(1, CHMU_CAP1_EPOCH_MODE) | CHMU_PUT(1, CHMU_CAP1_ALWAYS_ON) |
		     CHMU_PUT(1, CHMU_CAP1_RANDOM));
	put_instance(unit, CHMU_BITMAP_OFFSET, BITMAP);
	put_instance(unit, CHMU_HOTLIST_OFFSET,
		     hotlist_at(unit) - (block(unit) - lab.dev.bar));
	unit->status = CHMU_PUT(COUNTER_WIDTH, CHMU_STATUS_COUNTER_WIDTH);
	publish(unit);
}

void chmus_open(void)
{
	struct pghot_labdev_chmus *chmus = (void *)(lab.dev.bar + PGHOT_LABDEV_CHMUS);
	pthread_condattr_t monotonic;

	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	for (unsigned int node = 0; lab.opts.chmu && node < PGHOT_LABDEV_MAX_NODES; node++) {
		struct chmu *unit = &units[nr_units];

		if (!lab.opts.nodes[node].slow || nr_units == PGHOT_LABDEV_MAX_CHMUS)
			continue;
		unit->nr = nr_units;
		unit->node = node;
		pthread_mutex_init(&unit->lock, NULL);
		pthread_cond_init(&unit->wake, &monotonic);
		unit_of_node[node] = unit;
		unit_open(unit);
		chmus->unit[nr_units].node = node;
		chmus->unit[nr_units].regs = block(unit) - lab.dev.bar;
		nr_units++;
	}
	chmus->nr = nr_units;
}

/* ---- the hotlist ---- */

static void hotlist_add(struct chmu *unit, uint32_t number, uint32_t count)
{
	uint64_t *list = (uint64_t *)(lab.dev.bar + hotlist_at(unit));
	unsigned int entries = lab.opts.chmu_entries, next, used;

	pthread_mutex_lock(&unit->lock);
	next = (unit->tail + 1U) % entries;
	if (next == unit->head) {
		unit->truth.lost++;
		unit->status |= CHMU_PUT(1, CHMU_STATUS_OVERFLOW);
	} else {
		list[unit->tail] = (uint64_t)number << COUNTER_WIDTH | count;
		unit->tail = next;
		unit->truth.entries++;
	}
	used = (unit->tail + entries - unit->head) % entries;
	if (used && used == CHMU_GET(unit->cfg[2], CHMU_CFG2_FILL_THRESHOLD))
		unit->status |= CHMU_PUT(1, CHMU_STATUS_FILL);
	/* With release, as all registers: whoever sees the new tail sees the entry. */
	publish(unit);
	pthread_mutex_unlock(&unit->lock);
}

/* ---- counting, in the CPUs' threads ---- */

static uint64_t draw(uint64_t *random)
{
	*random ^= *random << 13;
	*random ^= *random >> 7;
	*random ^= *random << 17;
	return *random;
}

/* Is this one of those that are counted? @seen: of this CPU, with it */
static bool sampled(struct vcpu *vcpu, struct settings settings, uint64_t seen)
{
	uint64_t mask = (1ULL << settings.down) - 1;

	return !((settings.random ? draw(&vcpu->random) : seen) & mask);
}

void chmu_count(struct vcpu *vcpu, unsigned int node, uint64_t addr, unsigned int op)
{
	struct chmu *unit = unit_of_node[node];
	uint64_t range = addr / CHMU_RANGE_BYTES, seen;
	struct settings settings;
	uint32_t count;

	if (!unit || !(atomic_load_explicit(&lab.watching, memory_order_acquire) &
		       WATCH_CHMU << unit->nr))
		return;
	__atomic_load(&unit->settings, &settings, __ATOMIC_RELAXED);
	if (!(settings.ops & 1U << op) || range >= BITMAP_WORDS * 64 ||
	    !(__atomic_load_n(&unit->bitmap[range / 64], __ATOMIC_RELAXED) & 1ULL << range % 64))
		return;
	seen = vcpu->seen[unit->nr] + 1;
	__atomic_store_n(&vcpu->seen[unit->nr], seen, __ATOMIC_RELAXED);
	if (settings.down && !sampled(vcpu, settings, seen))
		return;
	count = counters_add(&unit->counters, addr >> settings.shift, COUNTER_MAX);
	if (settings.always_on && count == settings.threshold)
		hotlist_add(unit, addr >> settings.shift, count);
}

/* ---- the unit's own thread ---- */

static uint64_t epoch_us(uint64_t scale, uint64_t mult)
{
	return scale <= CHMU_EPOCH_SCALE_MAX ? scales_us[scale] * mult : 0;
}

/* False if it cannot do what the registers ask for. */
static bool settings_take(struct chmu *unit)
{
	uint64_t cfg0 = unit->cfg[0], cfg1 = unit->cfg[1];
	uint64_t what = CHMU_GET(cfg0, CHMU_CFG0_COUNT);
	uint64_t shift = CHMU_GET(cfg1, CHMU_CFG1_UNIT_SHIFT);
	uint64_t threshold = CHMU_GET(cfg0, CHMU_CFG0_THRESHOLD);
	uint64_t down = CHMU_GET(cfg1, CHMU_CFG1_DOWNSAMPLING);
	uint64_t mode = CHMU_GET(cfg1, CHMU_CFG1_MODE);
	uint64_t us = epoch_us(CHMU_GET(cfg1, CHMU_CFG1_EPOCH_SCALE),
			       CHMU_GET(cfg1, CHMU_CFG1_EPOCH_MULT));

	const struct settings settings = {
		.ops = (what & CHMU_COUNT_READS ? 1U << PGHOT_LABDEV_LOAD : 0) |
		       (what & CHMU_COUNT_WRITES ? 1U << PGHOT_LABDEV_STORE : 0),
		.shift = shift,
		.down = down,
		.random = CHMU_GET(cfg0, CHMU_CFG0_RANDOM),
		.always_on = mode == CHMU_MODE_ALWAYS_ON,
		.threshold = threshold,
	};

	if (what < 1 || what > 6 || !(TRACKABLE & 1U << (what - 1)) ||
	    CHMU_GET(cfg0, CHMU_CFG0_OVERFLOW_INT) || CHMU_GET(cfg0, CHMU_CFG0_FILL_INT) ||
	    shift < CHMU_UNIT_SHIFT_MIN || shift >= CHMU_UNIT_SHIFT_MIN + 32 ||
	    !(UNIT_SIZES & 1U << (shift - CHMU_UNIT_SHIFT_MIN)) || !(DOWNSAMPLINGS & 1U << down) ||
	    (mode != CHMU_MODE_EPOCH && mode != CHMU_MODE_ALWAYS_ON) ||
	    threshold < 1 || threshold > COUNTER_MAX ||
	    us < epoch_us(MIN_EPOCH_SCALE, MIN_EPOCH_MULT) ||
	    us > epoch_us(MAX_EPOCH_SCALE, MAX_EPOCH_MULT))
		return false;
	unit->epoch_ns = us * NSEC_PER_USEC;
	/* A CPU may still be about to count an access by the old ones. */
	__atomic_store(&unit->settings, &settings, __ATOMIC_RELAXED);
	return true;
}

/* Memory is added while the guest starts only, so its size is known by now. */
static bool counters_ready(struct chmu *unit)
{
	uint64_t smallest = lab_node_bytes(unit->node) >> CHMU_UNIT_SHIFT_MIN;

	return unit->counters.nr ||
	       (smallest && counters_init(&unit->counters, smallest, lab.opts.chmu_counters));
}

static void begin_epoch(struct chmu *unit)
{
	counters_take(&unit->counters, NULL, NULL);
	unit->deadline_ns = lab_now_ns() + unit->epoch_ns;
}

static void perform(struct chmu *unit)
{
	const uint64_t enabled = CHMU_PUT(1, CHMU_STATUS_ENABLED);

	switch (unit->operation) {
	case OP_ENABLE:
		if (!counters_ready(unit) || !settings_take(unit))
			break;
		begin_epoch(unit);
		unit->status |= enabled;
		lab_watch(WATCH_CHMU << unit->nr);
		break;
	case OP_DISABLE:
		lab_unwatch(WATCH_CHMU << unit->nr);
		unit->status &= ~enabled;
		publish_truth(unit);
		break;
	case OP_RESET:
		if (unit->status & enabled)
			begin_epoch(unit);
		break;
	case OP_NONE:
		break;
	}
	unit->operation = OP_NONE;
	unit->status &= ~CHMU_PUT(~0ULL, CHMU_STATUS_BUSY);
	publish(unit);
}

static void each_count(void *data, uint32_t number, uint32_t count)
{
	struct chmu *unit = data;

	if (count >= unit->settings.threshold)
		hotlist_add(unit, number, count > COUNTER_MAX ? COUNTER_MAX : count);
}

/* With the lock, which it gives up in between: entries take it, and guests may not wait long. */
static void end_epoch(struct chmu *unit)
{
	uint64_t now;

	pthread_mutex_unlock(&unit->lock);
	counters_take(&unit->counters, unit->settings.always_on ? NULL : each_count, unit);
	pthread_mutex_lock(&unit->lock);
	unit->truth.epochs++;
	publish_truth(unit);
	/* Late by more than an epoch, it does not catch up. */
	now = lab_now_ns();
	unit->deadline_ns += unit->epoch_ns;
	if (unit->deadline_ns < now)
		unit->deadline_ns = now + unit->epoch_ns;
}

static void wait_deadline(struct chmu *unit)
{
	struct timespec until = {
		.tv_sec = unit->deadline_ns / NSEC_PER_SEC,
		.tv_nsec = unit->deadline_ns % NSEC_PER_SEC,
	};

	pthread_cond_timedwait(&unit->wake, &unit->lock, &until);
}

static void *unit_main(void *arg)
{
	struct chmu *unit = arg;

	pthread_mutex_lock(&unit->lock);
	while (unit->operation || CHMU_GET(unit->status, CHMU_STATUS_ENABLED)) {
		if (unit->operation) {
			pthread_mutex_unlock(&unit->lock);
			usleep(OPERATION_US);
			pthread_mutex_lock(&unit->lock);
			perform(unit);
		} else if (lab_now_ns() >= unit->deadline_ns) {
			end_epoch(unit);
		} else {
			wait_deadline(unit);
		}
	}
	unit->has_thread = false;
	pthread_mutex_unlock(&unit->lock);
	return NULL;
}

static bool start_thread(struct chmu *unit)
{
	sigset_t all, old;
	pthread_t thread;
	int error;

	/* Signals are QEMU's. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	error = pthread_create(&thread, NULL, unit_main, unit);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (error) {
		fprintf(stderr, "pghot-lab: no thread for a hotness unit: %s\n", strerror(error));
		return false;
	}
	pthread_detach(thread);
	return true;
}

/* ---- writes ---- */

/* In all of them @mask tells which bits of the register's word are written, @value what. */

static void write_cfg0(struct chmu *unit, uint64_t mask, uint64_t value)
{
	const uint64_t known = CHMU_PUT(~0ULL, CHMU_CFG0_COUNT) | CHMU_PUT(1, CHMU_CFG0_RANDOM) |
		CHMU_PUT(1, CHMU_CFG0_OVERFLOW_INT) | CHMU_PUT(1, CHMU_CFG0_FILL_INT) |
		CHMU_PUT(1, CHMU_CFG0_ENABLE) | CHMU_PUT(~0ULL, CHMU_CFG0_THRESHOLD);
	bool enabled = CHMU_GET(unit->status, CHMU_STATUS_ENABLED);
	bool enable;

	if (unit->operation)
		return;
	unit->cfg[0] = ((unit->cfg[0] & ~mask) | value) & known;
	enable = CHMU_GET(unit->cfg[0], CHMU_CFG0_ENABLE);
	if (enable != enabled)
		unit->operation = enable ? OP_ENABLE : OP_DISABLE;
	else if (CHMU_GET(value, CHMU_CFG0_RESET))
		unit->operation = OP_RESET;
	if (!unit->operation)
		return;
	unit->status |= CHMU_PUT(unit->operation, CHMU_STATUS_BUSY);
	if (!unit->has_thread)
		unit->has_thread = start_thread(unit);
	if (unit->has_thread) {
		pthread_cond_signal(&unit->wake);
	} else {
		unit->operation = OP_NONE;
		unit->status &= ~CHMU_PUT(~0ULL, CHMU_STATUS_BUSY);
	}
}

static void write_head(struct chmu *unit, uint64_t mask, uint64_t value)
{
	if (mask & 0xffff && (value & 0xffff) < lab.opts.chmu_entries)
		unit->head = value;
}

static void write_bitmap(struct chmu *unit, unsigned int word, uint64_t mask, uint64_t value)
{
	uint64_t new = (unit->bitmap[word] & ~mask) | value;

	__atomic_store_n(&unit->bitmap[word], new, __ATOMIC_RELAXED);
	put64(unit, BITMAP + word * 8, new);
}

static void write_word(struct chmu *unit, unsigned int at, uint64_t mask, uint64_t value)
{
	const uint64_t flags = CHMU_PUT(1, CHMU_STATUS_OVERFLOW) | CHMU_PUT(1, CHMU_STATUS_FILL);

	switch (at) {
	case CHMU_INSTANCES + CHMU_CFG0:
		write_cfg0(unit, mask, value);
		break;
	case CHMU_INSTANCES + CHMU_CFG1:
		unit->cfg[1] = (unit->cfg[1] & ~mask) | value;
		break;
	case CHMU_INSTANCES + CHMU_CFG2:
		unit->cfg[2] = ((unit->cfg[2] & ~mask) | value) &
			       CHMU_PUT(~0ULL, CHMU_CFG2_FILL_THRESHOLD);
		break;
	case CHMU_INSTANCES + CHMU_STATUS:
		unit->status &= ~(value & flags);
		break;
	case CHMU_INSTANCES + CHMU_HEAD:
		write_head(unit, mask, value);
		break;
	default:
		if (at >= BITMAP)
			write_bitmap(unit, (at - BITMAP) / 8, mask, value);
		break;
	}
}

bool chmu_write(uint64_t at, uint64_t value, unsigned int bytes)
{
	uint64_t nr = (at - PGHOT_LABDEV_CHMU_REGS) / PGHOT_LABDEV_CHMU_REGS_STEP;
	uint64_t in_block = (at - PGHOT_LABDEV_CHMU_REGS) % PGHOT_LABDEV_CHMU_REGS_STEP;
	unsigned int shift = in_block % 8 * 8;
	uint64_t mask = (bytes == 8 ? ~0ULL : (1ULL << bytes * 8) - 1) << shift;

	if (at < PGHOT_LABDEV_CHMU_REGS || nr >= nr_units || in_block >= BLOCK_BYTES)
		return false;
	pthread_mutex_lock(&units[nr].lock);
	write_word(&units[nr], in_block & ~7ULL, mask, value << shift & mask);
	publish(&units[nr]);
	pthread_mutex_unlock(&units[nr].lock);
	return true;
}
