/* SPDX-License-Identifier: GPL-2.0-only */
/* clock - monotonic time in nanoseconds */
#ifndef PGHOT_BENCH_CLOCK_H
#define PGHOT_BENCH_CLOCK_H

#include <stdint.h>
#include <time.h>

#define NSEC_PER_SEC		UINT64_C(1000000000)
#define NSEC_PER_MSEC		UINT64_C(1000000)

static inline uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

/** timespec_of - @ns as the C library wants it */
static inline struct timespec timespec_of(uint64_t ns)
{
	return (struct timespec){ .tv_sec = ns / NSEC_PER_SEC, .tv_nsec = ns % NSEC_PER_SEC };
}

/** sleep_until - until the monotonic clock shows @ns; not at all if it has */
void sleep_until(uint64_t ns);

#endif
