/* SPDX-License-Identifier: GPL-2.0-only */
/* labdev - the lab's device, which stands for hotness hardware; see pghot/labdev.h */
#ifndef PGHOT_KMOD_LABDEV_H
#define PGHOT_KMOD_LABDEV_H

#include <linux/err.h>
#include <linux/types.h>

#include "pghot/labdev.h"

struct labdev;

struct labdev *labdev_get(void);
void labdev_put(struct labdev *dev);
void *labdev_at(const struct labdev *dev, u32 offset);
int labdev_write(struct labdev *dev, u32 offset, u64 value, u32 bytes);

#endif
