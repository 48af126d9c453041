/* SPDX-License-Identifier: GPL-2.0-only */
/* control - the knobs in /proc/sys/vm, and the mutex that serialises all changes */
#ifndef PGHOT_CONTROL_H
#define PGHOT_CONTROL_H

#include <linux/compiler.h>

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

int control_init(enum phi_layout layout);
void control_exit(void);

void control_lock(void);
void control_unlock(void);
bool control_lock_held(void);

#endif
