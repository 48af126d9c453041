// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include "clock.h"

void sleep_until(uint64_t ns)
{
	struct timespec until = timespec_of(ns);

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL))
		;
}
