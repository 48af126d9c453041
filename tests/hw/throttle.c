// SPDX-License-Identifier: GPL-2.0-only
/* The period of a profiler that the kernel throttles. */
#include "../../hw/throttle.h"
#include "../tap.h"

enum { MOST = 134217727, LOOK = HWHINT_THROTTLE_LOOK_MS };

static u64 now;

/* For @ms, the CPU is throttled @each times between two looks. */
static u32 run(struct hwhint_throttle *t, u32 ms, u32 each)
{
	u32 n;

	for (n = ms / LOOK; n; n--) {
		now += LOOK;
		check(hwhint_throttle_due(t, now), "not due after %d ms", LOOK);
		hwhint_throttle_judge(t, each, now);
		check(!hwhint_throttle_due(t, now + LOOK - 1), "due again at once");
	}
	return t->period;
}

int main(void)
{
	struct hwhint_throttle t;

	now = ~0ull - 3000;		/* the clock may be anywhere */
	hwhint_throttle_init(&t, 10000, MOST, now);
	is(run(&t, 60000, 0), 10000, "nothing: the period that was asked for");
	is(run(&t, 60000, HWHINT_THROTTLE_MANY - 1), 10000, "now and then: likewise");
	is(run(&t, LOOK, HWHINT_THROTTLE_MANY), 20000, "many: doubled");
	is(run(&t, 2 * LOOK, 50), 80000, "still: and again");
	is(run(&t, HWHINT_THROTTLE_QUIET_MS - LOOK, 0), 80000, "quiet, but not for long");
	is(run(&t, LOOK, 0), 40000, "quiet for long: halved");
	is(run(&t, LOOK, 50), 80000, "that was too early");
	is(run(&t, HWHINT_THROTTLE_QUIET_MS - LOOK, 0), 80000, "so the wait begins anew");
	is(run(&t, 3 * HWHINT_THROTTLE_QUIET_MS, 1), 10000, "down to what was asked for");
	is(run(&t, 60000, 0), 10000, "and no further");
	is(run(&t, 60000, 1000), MOST, "up to the longest there is");
	hwhint_throttle_init(&t, 5000, MOST, now);
	is(run(&t, LOOK, 50), 10000, "asked anew: from there");
	hwhint_throttle_init(&t, MOST, MOST, now);
	is(run(&t, 10 * LOOK, 50), MOST, "the longest cannot be longer");
	hwhint_throttle_init(&t, 5001, MOST, now);
	run(&t, LOOK, 50);
	is(run(&t, HWHINT_THROTTLE_QUIET_MS, 0), 5001, "odd ones come back, too");
	return done();
}
