// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdint.h>

#include "pghot/user/labdev.h"
#include "roi.h"

/* NULL if there is none; looked for once. */
static volatile char *device(void)
{
	static volatile char *dev;
	static bool looked;

	if (!looked) {
		dev = labdev_open();
		looked = true;
	}
	return dev;
}

void roi_begin(void)
{
	if (device())
		labdev_command(device(), PGHOT_LABDEV_ROI_BEGIN);
}

void roi_end(void)
{
	if (device())
		labdev_command(device(), PGHOT_LABDEV_ROI_END);
}

bool roi_reset(void)
{
	return device() && labdev_command(device(), PGHOT_LABDEV_ROI_RESET) == PGHOT_LABDEV_OK;
}

/* Accesses by what served them, of one side or (SIDES) of both, of one kind or (OPS) of both. */
static uint64_t sum(const struct pghot_labdev_roi *roi, unsigned int side, unsigned int op,
		    unsigned int served)
{
	uint64_t total = 0;

	for (unsigned int s = 0; s < PGHOT_LABDEV_SIDES; s++)
		for (unsigned int o = 0; o < PGHOT_LABDEV_OPS; o++)
			for (unsigned int v = 0; v < PGHOT_LABDEV_SERVED; v++)
				if ((side == PGHOT_LABDEV_SIDES || s == side) &&
				    (op == PGHOT_LABDEV_OPS || o == op) &&
				    (served == PGHOT_LABDEV_SERVED || v == served))
					total += roi->count[s][o][v];
	return total;
}

static void report_side(FILE *to, const char *prefix, const struct pghot_labdev_roi *roi,
			unsigned int side)
{
	static const struct {
		const char *name;
		unsigned int op, served;
	} lines[] = {
		{ "loads", PGHOT_LABDEV_LOAD, PGHOT_LABDEV_SERVED },
		{ "stores", PGHOT_LABDEV_STORE, PGHOT_LABDEV_SERVED },
		{ "hits", PGHOT_LABDEV_OPS, PGHOT_LABDEV_HIT },
		{ "fast", PGHOT_LABDEV_OPS, PGHOT_LABDEV_FAST },
		{ "slow", PGHOT_LABDEV_OPS, PGHOT_LABDEV_SLOW },
	};
	static const char * const sides[] = { "user_", "kernel_", "" };

	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++)
		fprintf(to, "%s %s%s %" PRIu64 "\n", prefix, sides[side], lines[i].name,
			sum(roi, side, lines[i].op, lines[i].served));
}

bool roi_report(FILE *to, const char *prefix)
{
	struct pghot_labdev_roi roi;
	uint64_t streamed = 0;

	if (!device())
		return false;
	roi = *(struct pghot_labdev_roi *)(device() + PGHOT_LABDEV_ROI);
	report_side(to, prefix, &roi, PGHOT_LABDEV_SIDES);
	for (unsigned int i = 0; i < PGHOT_LABDEV_MAX_NODES; i++)
		streamed += roi.node_streamed[i];
	fprintf(to, "%s streamed %" PRIu64 "\n", prefix, streamed);
	fprintf(to, "%s memory_ns %" PRIu64 "\n", prefix, (uint64_t)roi.memory_ns);
	fprintf(to, "%s delay_ns %" PRIu64 "\n", prefix, (uint64_t)roi.delay_ns);
	fprintf(to, "%s wall_ns %" PRIu64 "\n", prefix, (uint64_t)roi.wall_ns);
	report_side(to, prefix, &roi, PGHOT_LABDEV_USER);
	report_side(to, prefix, &roi, PGHOT_LABDEV_KERNEL);
	return true;
}
