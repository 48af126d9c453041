// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "throttle.h"

/** hwhint_throttle_init - begin with the period that is asked for */
void hwhint_throttle_init(struct hwhint_throttle *t, u32 asked, u32 most, u64 now_ms)
{
	*t = (struct hwhint_throttle){
		.asked = asked, .period = asked, .most = most,
		.look_ms = now_ms, .quiet_ms = now_ms,
	};
}

/** hwhint_throttle_due - is it time to judge? */
bool hwhint_throttle_due(const struct hwhint_throttle *t, u64 now_ms)
{
	return now_ms - t->look_ms >= HWHINT_THROTTLE_LOOK_MS;
}

/**
 * hwhint_throttle_judge - which period from now on?
 * @t: the state; @period becomes the result
 * @throttled: times since the last call that the CPU was throttled that was most often
 * @now_ms: now
 */
u32 hwhint_throttle_judge(struct hwhint_throttle *t, u32 throttled, u64 now_ms)
{
	t->look_ms = now_ms;
	if (throttled >= HWHINT_THROTTLE_MANY) {
		t->period = t->period > t->most / 2 ? t->most : t->period * 2;
		t->quiet_ms = now_ms;
	} else if (now_ms - t->quiet_ms >= HWHINT_THROTTLE_QUIET_MS) {
		t->period = t->period / 2 < t->asked ? t->asked : t->period / 2;
		t->quiet_ms = now_ms;
	}
	return t->period;
}
