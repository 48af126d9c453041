/* SPDX-License-Identifier: GPL-2.0-only */
/* calibrate - tell the lab's plugin where the guest's memory is and how long an access takes */
#ifndef PGHOT_LAB_CALIBRATE_H
#define PGHOT_LAB_CALIBRATE_H

/** calibrate - NULL: done, or there is no plugin; else what went wrong */
const char *calibrate(void);

#endif
