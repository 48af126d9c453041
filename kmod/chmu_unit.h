/* SPDX-License-Identifier: GPL-2.0-only */
/* chmu_unit - one hotness monitoring unit: its settings, its tuning, and what it reports */
#ifndef PGHOT_KMOD_CHMU_UNIT_H
#define PGHOT_KMOD_CHMU_UNIT_H

#include <linux/list.h>

#include "chmu_dev.h"
#include "engine/report.h"
#include "hw/chmu.h"
#include "hw/chmu_tune.h"

enum { CHMU_REPORTS = 64 };	/* reports in one call */

/** struct chmu_wish - what the knobs say; see pghot/knobs.h. 0 in the first three: automatic */
struct chmu_wish {
	u64 unit_bytes;
	u32 threshold;
	u64 epoch_us;
	u32 count;
	u32 downsampling;
	bool always_on;
	bool ready;
	u64 window_us;
	u32 freq_threshold;
};

/**
 * struct chmu_unit
 * @link: in the list of units
 * @dev: the register block that it is an instance of
 * @name: for people
 * @refused: why it is not used, or NULL
 * @hw: its registers
 * @part: which part of the memory it watches now
 * @wish: the knobs that are in force
 * @settings: the unit's settings that follow from them and from tuning
 * @tuner: threshold and epoch
 * @turn: which part of the memory comes next
 * @restart: @settings are not yet the unit's
 * @failures: how often in a row it was started again because its hotlist made no sense
 * @entries: read since @since_us
 * @overflow: the unit lost entries since then
 * @since_us: when this look at the outcome began, microseconds
 * @poll_at: when to look at the hotlist the next time, jiffies
 * @poll_every: how long until the time after that
 * @spans: scratch: host memory of an entry
 * @reports: scratch: reports that wait for their call
 * @nr_reports: how many
 * @report_pages: pages in them; many are no single call
 */
struct chmu_unit {
	struct list_head link;
	struct chmu_dev *dev;
	char name[48];
	const char *refused;
	struct chmu hw;
	struct chmu_part part;
	struct chmu_wish wish;
	struct chmu_settings settings;
	struct chmu_tuner tuner;
	struct chmu_turn turn;
	bool restart;
	unsigned int failures;
	unsigned int entries;
	bool overflow;
	u64 since_us;
	unsigned long poll_at;
	unsigned long poll_every;
	struct chmu_span spans[CHMU_MAX_RANGES];
	struct pghot_report reports[CHMU_REPORTS];
	unsigned int nr_reports;
	unsigned int report_pages;
};

enum chmu_error chmu_unit_check(const struct chmu_unit *unit, const struct chmu_wish *wish);
void chmu_unit_set(struct chmu_unit *unit, const struct chmu_wish *wish);
void chmu_unit_start(struct chmu_unit *unit);
void chmu_unit_stop(struct chmu_unit *unit);
void chmu_unit_poll(struct chmu_unit *unit);

#endif
