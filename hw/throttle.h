/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * throttle - a longer period for a profiler whose samples are too many for the kernel
 *
 * The kernel stops an event for the rest of a tick in which it took too many samples. If that goes
 * on, the period is doubled until it no longer does; when it was quiet for a while, it is halved
 * again, down to what was asked for. A throttling now and then changes nothing: the kernel counts
 * samples from one tick to the next, however far apart those are on a CPU that is idle.
 */
#ifndef PGHOT_HW_THROTTLE_H
#define PGHOT_HW_THROTTLE_H

#include "engine/port.h"

enum {
	HWHINT_THROTTLE_LOOK_MS = 200,
	/* Of the 20 to 200 ticks in that time. */
	HWHINT_THROTTLE_MANY = 5,
	HWHINT_THROTTLE_QUIET_MS = 5000,
};

/**
 * struct hwhint_throttle
 * @asked: the period that was asked for
 * @period: the one in use, @asked or more
 * @most: the longest possible
 * @look_ms: when throttlings were last judged
 * @quiet_ms: since when there were not many
 */
struct hwhint_throttle {
	u32 asked;
	u32 period;
	u32 most;
	u64 look_ms;
	u64 quiet_ms;
};

void hwhint_throttle_init(struct hwhint_throttle *t, u32 asked, u32 most, u64 now_ms);
bool hwhint_throttle_due(const struct hwhint_throttle *t, u64 now_ms);
u32 hwhint_throttle_judge(struct hwhint_throttle *t, u32 throttled, u64 now_ms);

#endif
