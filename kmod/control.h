/* SPDX-License-Identifier: GPL-2.0-only */
/* control - the knobs in /proc/sys/vm, and the mutex that serialises all changes */
#ifndef PGHOT_CONTROL_H
#define PGHOT_CONTROL_H

#include <linux/compiler.h>
#include <linux/mutex.h>

#include "engine/engine.h"
#include "pghot/knobs.h"

#define PGHOT_KNOB_ENUM(name, def, min, max, unit, help) KNOB_##name,
enum knob {
	PGHOT_KNOBS(PGHOT_KNOB_ENUM)
	NR_KNOBS
};
#undef PGHOT_KNOB_ENUM

extern int knob_values[NR_KNOBS];

/** knob - value of a knob, in its unit. Any context. */
#define knob(name)	READ_ONCE(knob_values[KNOB_##name])

int control_init(void);
void control_exit(void);

/* Enabling and disabling, hotplug and every knob change happen under this mutex. */
extern struct mutex control_mutex;

#endif
