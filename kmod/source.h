/* SPDX-License-Identifier: GPL-2.0-only */
/* source - the table of what can report accesses, and which of it is enabled */
#ifndef PGHOT_SOURCE_H
#define PGHOT_SOURCE_H

#include <linux/types.h>

#include "pghot/sources.h"

/**
 * struct source - one kind of report
 * @name: as in sources.h
 * @enable: begin to report; 0 or -errno with nothing left behind
 * @disable: stop; no report comes any more when it returns
 *
 * Both are called under the control mutex, in process context.
 */
struct source {
	const char *name;
	int (*enable)(void);
	void (*disable)(void);
};

extern const struct source source_hintfaults;

bool source_enabled(int src);
int source_set_mask(u32 mask);

#endif
