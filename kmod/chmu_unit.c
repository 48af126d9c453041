// SPDX-License-Identifier: GPL-2.0-only
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/jiffies.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/printk.h>
#include <linux/sched.h>
#include <linux/timekeeping.h>

#include "chmu_unit.h"
#include "fault.h"
#include "pghot.h"
#include "stat.h"

enum {
	/* What automatic epochs begin with, and their least: the thread looks twice in an epoch. */
	EPOCH_FIRST_US = 100000,
	EPOCH_LEAST_US = 10000,
	/* and their most, as a part of the window: a page must be seen several times in one. */
	EPOCHS_A_WINDOW = 4,
	/* An outcome is judged after so many epochs; an overflow after one. */
	EPOCHS_TO_JUDGE = 2,
	/* A unit whose hotlist makes no sense so often in a row, however often started, is given up. */
	FAILURES_MAX = 8,
};

/* The smallest unit that has a page in it, else the largest; not more than a report may have. */
static u64 best_unit_bytes(const struct chmu_caps *caps)
{
	u64 bytes, below = 0;
	unsigned int bit;

	for (bit = 0; bit < 32; bit++) {
		bytes = 1ULL << (CHMU_UNIT_SHIFT_MIN + bit);
		if (!(caps->unit_sizes >> bit & 1) ||
		    bytes > (u64)PGHOT_REPORT_MAX_PAGES * PAGE_SIZE)
			continue;
		if (bytes >= PAGE_SIZE)
			return bytes;
		below = bytes;
	}
	return below;
}

static struct chmu_bounds bounds_of(const struct chmu_unit *unit, const struct chmu_wish *wish)
{
	const struct chmu_caps *caps = &unit->hw.caps;
	struct chmu_bounds b = {
		.threshold_min = wish->threshold ?: 1,
		.threshold_max = wish->threshold ?: unit->hw.threshold_max,
		.epoch_min_us = wish->epoch_us,
		.epoch_max_us = wish->epoch_us,
		.capacity = caps->entries - 1,
	};

	if (!wish->epoch_us) {
		b.epoch_min_us = clamp_t(u64, EPOCH_LEAST_US, caps->epoch_min_us,
					 caps->epoch_max_us);
		b.epoch_max_us = clamp_t(u64, wish->window_us / EPOCHS_A_WINDOW, b.epoch_min_us,
					 caps->epoch_max_us);
	}
	return b;
}

static struct chmu_settings settings_of(const struct chmu_unit *unit, const struct chmu_wish *wish,
					const struct chmu_tuner *tuner)
{
	return (struct chmu_settings){
		.unit_bytes = wish->unit_bytes ?: best_unit_bytes(&unit->hw.caps),
		.epoch_us = tuner->epoch_us,
		.threshold = tuner->threshold,
		.count = wish->count,
		.mode = wish->always_on ? CHMU_MODE_ALWAYS_ON : CHMU_MODE_EPOCH,
		.downsampling = wish->downsampling,
	};
}

/* Tuning begins where a count alone makes a page hot. */
static void begin_tuning(const struct chmu_unit *unit, const struct chmu_wish *wish,
			 struct chmu_tuner *tuner)
{
	struct chmu_bounds bounds = bounds_of(unit, wish);

	chmu_tuner_init(tuner, &bounds, wish->freq_threshold, EPOCH_FIRST_US);
}

/** chmu_unit_check - can it do what the knobs say? Touches no register. */
enum chmu_error chmu_unit_check(const struct chmu_unit *unit, const struct chmu_wish *wish)
{
	struct chmu_settings settings;
	struct chmu_tuner tuner;

	begin_tuning(unit, wish, &tuner);
	settings = settings_of(unit, wish, &tuner);
	return chmu_check(&unit->hw, &settings);
}

static bool same_wish(const struct chmu_wish *a, const struct chmu_wish *b)
{
	return a->unit_bytes == b->unit_bytes && a->threshold == b->threshold &&
	       a->epoch_us == b->epoch_us && a->count == b->count &&
	       a->downsampling == b->downsampling && a->always_on == b->always_on &&
	       a->window_us == b->window_us && a->freq_threshold == b->freq_threshold;
}

/**
 * chmu_unit_set - the knobs have changed
 * @unit: a unit
 * @wish: what chmu_unit_check() found that it can do
 *
 * The next poll starts it with these, if they change its settings.
 */
void chmu_unit_set(struct chmu_unit *unit, const struct chmu_wish *wish)
{
	bool same = same_wish(&unit->wish, wish);

	unit->wish = *wish;
	if (same)
		return;
	begin_tuning(unit, wish, &unit->tuner);
	chmu_turn_init(&unit->turn, chmu_map_bits(&unit->dev->map, &unit->part));
	unit->restart = true;
	unit->poll_at = jiffies;
}

static u64 now_us(void)
{
	return div_u64(ktime_get_ns(), NSEC_PER_USEC);
}

static void give_up(struct chmu_unit *unit, enum chmu_error error)
{
	if (error == CHMU_TIMEOUT)
		stat_inc(STAT_chmu_timeouts);
	unit->refused = chmu_error_text(error);
	pr_warn("chmu %s: not used any more: %s\n", unit->name, unit->refused);
}

/**
 * chmu_unit_start - start it with the settings of its knobs and its tuning
 * @unit: a unit that is not refused
 *
 * May sleep, for as long as the unit takes. If it fails, @unit->refused says why, and the log.
 */
void chmu_unit_start(struct chmu_unit *unit)
{
	enum chmu_error error;

	unit->settings = settings_of(unit, &unit->wish, &unit->tuner);
	unit->part.slices = unit->turn.slices;
	unit->part.slice = unit->turn.slice;
	error = fault_point() ? CHMU_TIMEOUT :
		chmu_start(&unit->hw, &unit->settings, &unit->dev->map, &unit->part);
	if (error) {
		give_up(unit, error);
		return;
	}
	/* Only now is the counters' width known for sure. */
	if (!unit->wish.threshold)
		unit->tuner.bounds.threshold_max = unit->hw.threshold_max;
	unit->restart = false;
	unit->entries = 0;
	unit->overflow = false;
	unit->since_us = now_us();
	unit->poll_every = 1;
	unit->poll_at = jiffies + 1;
}

/** chmu_unit_stop - let it count no more; may sleep */
void chmu_unit_stop(struct chmu_unit *unit)
{
	enum chmu_error error = unit->refused ? CHMU_OK : chmu_stop(&unit->hw);

	if (error)
		give_up(unit, error);
}

static void flush(struct chmu_unit *unit)
{
	bool ready = unit->wish.ready && unit->settings.mode == CHMU_MODE_ALWAYS_ON;

	if (unit->nr_reports)
		pghot_record_bulk(unit->reports, unit->nr_reports, PGHOT_SRC_CHMU,
				  ready ? PGHOT_READY : 0);
	unit->nr_reports = 0;
	unit->report_pages = 0;
	cond_resched();
}

static void add_report(struct chmu_unit *unit, u64 pfn, u64 nr_pages, u32 weight)
{
	u32 nr;

	for (; nr_pages; pfn += nr, nr_pages -= nr) {
		nr = min_t(u64, nr_pages, PGHOT_REPORT_MAX_PAGES);
		unit->reports[unit->nr_reports++] = (struct pghot_report){
			.pfn = pfn,
			.nr_pages = nr,
			.nid = PGHOT_NID_UNKNOWN,
			.weight = weight,
		};
		unit->report_pages += nr;
		if (unit->nr_reports == CHMU_REPORTS ||
		    unit->report_pages >= PGHOT_REPORT_MAX_PAGES)
			flush(unit);
	}
}

/* A count of a unit smaller than a page is one of its page. */
static void on_entry(void *ctx, u64 dpa, u64 count)
{
	struct chmu_unit *unit = ctx;
	u32 i, nr, weight;

	/* Of 2^n accesses one was counted. */
	weight = clamp_t(u64, min_t(u64, count, PGHOT_WEIGHT_MAX) << unit->settings.downsampling, 1,
			 PGHOT_WEIGHT_MAX);
	nr = chmu_map_spans(&unit->dev->map, dpa, unit->settings.unit_bytes, unit->spans);
	if (!nr)
		stat_inc(STAT_chmu_filtered_address);
	for (i = 0; i < nr; i++) {
		u64 first = unit->spans[i].hpa >> PAGE_SHIFT;
		u64 last = (unit->spans[i].hpa + unit->spans[i].bytes - 1) >> PAGE_SHIFT;

		add_report(unit, first, last - first + 1, weight);
	}
}

/* Look again soon if much came, and rarely if not; at least twice in an epoch, or a second. */
static void plan_poll(struct chmu_unit *unit, unsigned int entries)
{
	unsigned long most = usecs_to_jiffies(min_t(u64, unit->settings.epoch_us, 2000000) / 2);

	if (entries > unit->tuner.bounds.capacity / 2)
		unit->poll_every /= 2;
	else if (entries < unit->tuner.bounds.capacity / 8 + 1)
		unit->poll_every *= 2;
	unit->poll_every = clamp(unit->poll_every, 1UL, max(most, 1UL));
	unit->poll_at = jiffies + unit->poll_every;
}

/* Enough epochs have passed to see whether the settings fit: tune them. */
static void judge(struct chmu_unit *unit)
{
	u64 epochs = div64_u64(now_us() - unit->since_us, unit->settings.epoch_us);
	bool over = unit->overflow, tuned = false;
	u32 slices = unit->turn.slices;

	if (epochs < (over ? 1 : EPOCHS_TO_JUDGE))
		return;
	if (chmu_turn_next(&unit->turn, div64_u64(unit->entries, epochs), over)) {
		tuned = chmu_tune(&unit->tuner, unit->turn.most, unit->turn.overflow);
		chmu_turn_adapt(&unit->turn, unit->tuner.bounds.capacity, unit->tuner.crowded);
	}
	if (tuned)
		stat_inc(STAT_chmu_tunings);
	if (tuned || slices > 1 || unit->turn.slices > 1)
		unit->restart = true;
	unit->entries = 0;
	unit->overflow = false;
	unit->since_us = now_us();
}

/* Its hotlist makes no sense, or it does not count any more, as after a reset or a sleep. */
static void resync(struct chmu_unit *unit, enum chmu_error error)
{
	stat_inc(STAT_chmu_resyncs);
	if (++unit->failures < FAILURES_MAX)
		chmu_unit_start(unit);
	else
		give_up(unit, error);
}

/**
 * chmu_unit_poll - empty its hotlist, report what was on it, tune
 * @unit: a unit that was started
 *
 * May sleep. Takes no more than what is on the list now, so it ends.
 */
void chmu_unit_poll(struct chmu_unit *unit)
{
	struct chmu_drained drained;
	enum chmu_error error;

	error = chmu_drain(&unit->hw, on_entry, unit, &drained);
	flush(unit);
	stat_add(STAT_chmu_entries, drained.entries);
	if (error == CHMU_REFUSES_WRITES) {
		give_up(unit, error);
		return;
	}
	if (error) {
		resync(unit, error);
		return;
	}
	unit->failures = 0;
	unit->entries += drained.entries;
	unit->overflow |= drained.overflow;
	if (drained.overflow)
		stat_inc(STAT_chmu_overflows);
	if (!unit->restart)
		judge(unit);
	if (unit->restart)
		chmu_unit_start(unit);
	else
		plan_poll(unit, drained.entries);
}
