/* SPDX-License-Identifier: GPL-2.0-only */
/* source - the table of what can report accesses, and which of it is enabled */
#ifndef PGHOT_SOURCE_H
#define PGHOT_SOURCE_H

#include <linux/types.h>

#include "pghot/sources.h"

struct seq_file;

/**
 * struct source - one kind of report
 * @name: as in sources.h
 * @enable: begin to report; 0 or -errno with nothing left behind. -ENODEV: no such hardware, after a
 *	line in the log that says what was looked for. NULL: others report
 * @disable: stop; no report comes any more when it returns. NULL: as above
 * @apply: a knob has changed while the source is enabled; 0, or -errno with the settings of before
 *	still in force. NULL: has no knobs of its own
 * @show: lines for /proc/pghot/stat, whether enabled or not: what is in use and why the rest is not.
 *	NULL: nothing to say
 *
 * All are called under the control mutex, in process context.
 */
struct source {
	const char *name;
	int (*enable)(void);
	void (*disable)(void);
	int (*apply)(void);
	void (*show)(struct seq_file *m);
};

extern const struct source source_hintfaults;
extern const struct source source_hwhints;
extern const struct source source_pgtscan;
extern const struct source source_chmu;
extern const struct source source_pagecache;

bool source_enabled(int src);
int source_set_mask(u32 mask);
int source_apply_knobs(void);
void source_show(struct seq_file *m);

#endif
