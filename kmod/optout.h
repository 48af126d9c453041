/* SPDX-License-Identifier: GPL-2.0-only */
/* optout - processes whose pages stay where they are: /proc/pghot/optout */
#ifndef PGHOT_OPTOUT_H
#define PGHOT_OPTOUT_H

#include <linux/types.h>

struct proc_dir_entry;
struct task_struct;

bool optout_has(struct task_struct *task);
bool optout_proc_init(struct proc_dir_entry *dir);
void optout_exit(void);

#endif
