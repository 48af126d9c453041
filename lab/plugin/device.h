/* SPDX-License-Identifier: GPL-2.0-only */
/* device - the plugin's side of the shared memory device */
#ifndef PGHOT_LAB_DEVICE_H
#define PGHOT_LAB_DEVICE_H

#include "lab.h"

/** device_open - map the file; false after one line on stderr */
bool device_open(void);

/** device_pending - did the guest give a command? */
static inline bool device_pending(void)
{
	/* Pairs with the guest's compare-and-exchange: arguments were written before. */
	return __atomic_load_n(&lab.dev.regs->command, __ATOMIC_ACQUIRE) != PGHOT_LABDEV_IDLE;
}

/** device_serve - obey it; any CPU's thread */
void device_serve(void);

/** device_located - an access at lab.locate_vaddr was seen: it is reported as @reported */
void device_located(uint64_t reported);

#endif
