// SPDX-License-Identifier: GPL-2.0-only
/* chmu_lab - the hotness units of the lab's device */
#include <linux/io.h>
#include <linux/slab.h>

#include "chmu_dev.h"
#include "fault.h"
#include "labdev.h"

struct lab_unit {
	struct chmu_dev dev;
	struct labdev *labdev;
	u32 regs;		/* of the bar */
};

static struct lab_unit *unit_of(const struct chmu_io *io)
{
	return container_of(io, struct lab_unit, dev.io);
}

static u64 lab_read(const struct chmu_io *io, u64 offset, u32 bytes)
{
	const struct lab_unit *unit = unit_of(io);
	void *at = labdev_at(unit->labdev, unit->regs + offset);

	/* Who sees an index move sees the entries before it. */
	return bytes == 2 ? smp_load_acquire((u16 *)at) : smp_load_acquire((u64 *)at);
}

static bool lab_write(const struct chmu_io *io, u64 offset, u64 value, u32 bytes)
{
	const struct lab_unit *unit = unit_of(io);

	return !labdev_write(unit->labdev, unit->regs + offset, value, bytes);
}

static void lab_free(struct chmu_dev *dev)
{
	struct lab_unit *unit = container_of(dev, struct lab_unit, dev);

	labdev_put(unit->labdev);
	kfree(unit);
}

/* The memory of @node; device addresses follow each other in the order of the ranges. */
static void read_map(const struct labdev *labdev, u32 node, struct chmu_map *map)
{
	const struct pghot_labdev_ranges *ranges = labdev_at(labdev, PGHOT_LABDEV_RANGES);
	u32 i, nr = min_t(u32, READ_ONCE(ranges->nr), PGHOT_LABDEV_MAX_RANGES);
	u64 start, end, dpa = 0;

	BUILD_BUG_ON((int)PGHOT_LABDEV_MAX_RANGES > (int)CHMU_MAX_RANGES);
	for (i = 0; i < nr; i++) {
		start = READ_ONCE(ranges->range[i].start);
		end = READ_ONCE(ranges->range[i].end);
		if (READ_ONCE(ranges->range[i].node) != node)
			continue;
		map->range[map->nr++] = (struct chmu_range){
			.dpa = dpa,
			.hpa = start,
			.bytes = end - start,
		};
		dpa += end - start;
	}
}

static struct lab_unit *lab_unit_create(u32 node, u32 regs)
{
	struct lab_unit *unit = fault_point() ? NULL : kzalloc(sizeof(*unit), GFP_KERNEL);

	if (!unit)
		return ERR_PTR(-ENOMEM);
	/* One mapping for each: then each can go by itself. */
	unit->labdev = labdev_get();
	if (IS_ERR(unit->labdev)) {
		kfree(unit);
		return ERR_PTR(-ENOMEM);
	}
	unit->regs = regs;
	unit->dev.free = lab_free;
	scnprintf(unit->dev.name, sizeof(unit->dev.name), "lab node %u", node);
	if (regs % 8 || regs < PGHOT_LABDEV_CHMU_REGS || regs >= PGHOT_LABDEV_SIZE) {
		unit->dev.refused = "its registers are not where the lab's device has room for them";
		return unit;
	}
	unit->dev.io = (struct chmu_io){
		.bytes = PGHOT_LABDEV_SIZE - regs,
		.read = lab_read,
		.write = lab_write,
		.wait = chmu_dev_wait,
	};
	read_map(unit->labdev, node, &unit->dev.map);
	return unit;
}

/** chmu_lab_find - see chmu_dev.h */
int chmu_lab_find(struct list_head *devs)
{
	const struct pghot_labdev_chmus *chmus;
	struct labdev *labdev = labdev_get();
	struct lab_unit *unit;
	LIST_HEAD(found);
	int err = 0;
	u32 i, nr;

	if (IS_ERR(labdev))
		return PTR_ERR(labdev) == -ENODEV ? 0 : PTR_ERR(labdev);
	chmus = labdev_at(labdev, PGHOT_LABDEV_CHMUS);
	nr = min_t(u32, READ_ONCE(chmus->nr), PGHOT_LABDEV_MAX_CHMUS);
	for (i = 0; i < nr && !err; i++) {
		unit = lab_unit_create(READ_ONCE(chmus->unit[i].node),
				       READ_ONCE(chmus->unit[i].regs));
		if (IS_ERR(unit))
			err = PTR_ERR(unit);
		else
			list_add_tail(&unit->dev.link, &found);
	}
	labdev_put(labdev);
	if (err)
		chmu_devs_free(&found);
	else
		list_splice_tail(&found, devs);
	return err;
}
