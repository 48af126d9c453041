/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * quota - at most so many pages a second, asked for by many at once, without a lock
 *
 * One word holds a second, in its upper half, and the pages taken in it. A request is granted whole
 * while anything is left, so that no report is too large for a small quota; what it takes beyond is a
 * debt, and nothing is granted until the seconds that follow have paid it off. Unlike a bucket it
 * keeps no fractions and saves nothing up, and it may be asked in any context.
 */
#ifndef PGHOT_ENGINE_QUOTA_H
#define PGHOT_ENGINE_QUOTA_H

#include "port.h"

/* Upper bound of what is granted in a second and of what is asked for at once. */
enum { QUOTA_MAX = 1 << 30 };

bool quota_take(u64 *quota, u32 second, u32 per_second, u32 pages);

#endif
