/* SPDX-License-Identifier: GPL-2.0-only */
/* roi - mark the part of a program that the lab's plugin is to count */
#ifndef PGHOT_BENCH_ROI_H
#define PGHOT_BENCH_ROI_H

#include <stdbool.h>
#include <stdio.h>

/* On a machine without the lab's device all of these do nothing. */

/** roi_begin - open a region of interest; regions of several programs nest */
void roi_begin(void);

/** roi_end - close it */
void roi_end(void);

/** roi_reset - forget what was counted; false if a region is open or there is no device */
bool roi_reset(void);

/** roi_report - write "PREFIX NAME VALUE" lines of what was counted; false without a device */
bool roi_report(FILE *to, const char *prefix);

#endif
