/* SPDX-License-Identifier: GPL-2.0-only */
/* proc - what can be read in /proc/pghot; the formats are in docs/abi.md */
#ifndef PGHOT_PROC_H
#define PGHOT_PROC_H

int pghot_proc_init(void);
void pghot_proc_exit(void);

#endif
