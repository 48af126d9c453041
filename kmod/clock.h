/* SPDX-License-Identifier: GPL-2.0-only */
/* clock - the clock that the engine is given */
#ifndef PGHOT_CLOCK_H
#define PGHOT_CLOCK_H

#include <linux/jiffies.h>

/** now_ms - milliseconds, monotonic, standing still in suspend */
static inline u64 now_ms(void)
{
	return jiffies64_to_msecs(get_jiffies_64());
}

#endif
