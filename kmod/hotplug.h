/* SPDX-License-Identifier: GPL-2.0-only */
/* hotplug - following memory that comes and goes; never in its way */
#ifndef PGHOT_HOTPLUG_H
#define PGHOT_HOTPLUG_H

int hotplug_init(void);
void hotplug_exit(void);

#endif
