/* SPDX-License-Identifier: GPL-2.0-only */
/* target - a fast node as a place to move pages to: its free space and its rate limit */
#ifndef PGHOT_TARGET_H
#define PGHOT_TARGET_H

#include <linux/types.h>

int target_init(void);
void target_exit(void);
void target_set_rate(unsigned int mib_per_s);

unsigned long target_room(int nid);
bool target_is_ample(int nid);
void target_wake_reclaim(int nid);

unsigned long target_tokens(int nid);
unsigned long target_rate(int nid);
void target_set_depth(int nid, unsigned int ms);
void target_take(int nid, unsigned long pages);
void target_refund(int nid, unsigned long pages);

#endif
