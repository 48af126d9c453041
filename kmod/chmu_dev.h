/* SPDX-License-Identifier: GPL-2.0-only */
/* chmu_dev - register blocks of CXL hotness monitoring units, by whatever way they are reached */
#ifndef PGHOT_KMOD_CHMU_DEV_H
#define PGHOT_KMOD_CHMU_DEV_H

#include <linux/list.h>
#include <linux/types.h>

#include "hw/chmu.h"

/**
 * struct chmu_dev - a register block and the memory that its units watch
 * @link: in the list of whoever looked for it
 * @name: for people: the way and the place
 * @refused: why it cannot be used, or NULL; then @io and @map are valid
 * @io: its registers
 * @map: its memory, not checked
 * @free: let go of it and free it; it is in no list any more
 */
struct chmu_dev {
	struct list_head link;
	char name[40];
	const char *refused;
	struct chmu_io io;
	struct chmu_map map;
	void (*free)(struct chmu_dev *dev);
};

/*
 * The ways: each adds what it finds to a list, with a reason where it cannot be used. 0, or -ENOMEM with
 * nothing added. Process context.
 */
int chmu_lab_find(struct list_head *devs);
int chmu_cxl_find(struct list_head *devs);

void chmu_devs_free(struct list_head *devs);
bool chmu_dev_wait(const struct chmu_io *io, u32 before);

#endif
