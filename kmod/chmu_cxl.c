// SPDX-License-Identifier: GPL-2.0-only
/*
 * chmu_cxl - the hotness units of CXL memory devices
 *
 * The kernel's own driver may or may not be bound to the device; it does not use these registers. What
 * it maps is read here, not changed: which host addresses are the device's memory.
 */
#include <linux/io.h>
#include <linux/io-64-nonatomic-lo-hi.h>
#include <linux/pci.h>
#include <linux/sizes.h>
#include <linux/slab.h>

#include "chmu_dev.h"
#include "fault.h"
#include "hw/cxl.h"

#define CXL_CLASS		(PCI_CLASS_MEMORY_CXL << 8 | 0x10)
#define COMPONENT_BYTES		SZ_64K
#define CHMU_BYTES_MAX		SZ_16M	/* registers, bitmap and hotlist: 64 Ki entries are 512 KiB */

struct config {
	struct cxl_io io;
	struct pci_dev *pci;
};

struct component {
	struct cxl_io io;
	void __iomem *regs;
};

struct cxl_unit {
	struct chmu_dev dev;
	struct pci_dev *pci;
	void __iomem *regs;
};

static u32 config_read(const struct cxl_io *io, u64 offset)
{
	u32 value;

	pci_read_config_dword(container_of(io, struct config, io)->pci, offset, &value);
	return value;
}

static u32 component_read(const struct cxl_io *io, u64 offset)
{
	return readl(container_of(io, struct component, io)->regs + offset);
}

static u64 unit_read(const struct chmu_io *io, u64 offset, u32 bytes)
{
	void __iomem *at = container_of(io, struct cxl_unit, dev.io)->regs + offset;

	return bytes == 2 ? readw(at) : readq(at);
}

static bool unit_write(const struct chmu_io *io, u64 offset, u64 value, u32 bytes)
{
	void __iomem *at = container_of(io, struct cxl_unit, dev.io)->regs + offset;

	if (bytes == 2)
		writew(value, at);
	else
		writeq(value, at);
	return true;
}

static void unit_free(struct chmu_dev *dev)
{
	struct cxl_unit *unit = container_of(dev, struct cxl_unit, dev);

	if (unit->regs)
		iounmap(unit->regs);
	pci_dev_put(unit->pci);
	kfree(unit);
}

/* Map a block, of at least @least bytes and up to @most; *@bytes: how much. NULL: there is no such. */
static void __iomem *map_block(struct pci_dev *pci, const struct cxl_block *block, u64 least,
			       u64 most, u64 *bytes)
{
	u64 length = pci_resource_len(pci, block->bar);

	if (!(pci_resource_flags(pci, block->bar) & IORESOURCE_MEM) || block->offset >= length ||
	    length - block->offset < least)
		return NULL;
	*bytes = min(length - block->offset, most);
	return fault_point() ? NULL :
	       ioremap(pci_resource_start(pci, block->bar) + block->offset, *bytes);
}

/* What is wrong with the way to the device's memory, or NULL. */
static const char *read_map(struct pci_dev *pci, const struct cxl_block *blocks, u32 nr,
			    struct chmu_map *map)
{
	struct component component = { .io.read = component_read };
	enum cxl_error error;
	u32 i;

	for (i = 0; i < nr && blocks[i].id != CXL_BLOCK_COMPONENT; i++)
		;
	if (i == nr)
		return cxl_error_text(CXL_NO_COMPONENT);
	component.regs = map_block(pci, &blocks[i], COMPONENT_BYTES, COMPONENT_BYTES,
				   &component.io.bytes);
	if (!component.regs)
		return "its component registers cannot be mapped";
	error = cxl_map(&component.io, map);
	iounmap(component.regs);
	return error ? cxl_error_text(error) : NULL;
}

static struct cxl_unit *unit_create(struct pci_dev *pci, const struct cxl_block *blocks, u32 nr,
				    u32 which)
{
	struct cxl_unit *unit = fault_point() ? NULL : kzalloc(sizeof(*unit), GFP_KERNEL);
	u16 command;

	if (!unit)
		return NULL;
	unit->pci = pci_dev_get(pci);
	unit->dev.free = unit_free;
	unit->dev.io = (struct chmu_io){
		.read = unit_read,
		.write = unit_write,
		.wait = chmu_dev_wait,
	};
	scnprintf(unit->dev.name, sizeof(unit->dev.name), "cxl %s", pci_name(pci));
	pci_read_config_word(pci, PCI_COMMAND, &command);
	if (!(command & PCI_COMMAND_MEMORY)) {
		unit->dev.refused = "the device is not enabled";
		return unit;
	}
	unit->dev.refused = read_map(pci, blocks, nr, &unit->dev.map);
	if (unit->dev.refused)
		return unit;
	unit->regs = map_block(pci, &blocks[which], CHMU_INSTANCES, CHMU_BYTES_MAX,
			       &unit->dev.io.bytes);
	if (!unit->regs)
		unit->dev.refused = "its registers cannot be mapped";
	return unit;
}

static int find_on(struct pci_dev *pci, struct list_head *found)
{
	struct config config = { { .bytes = pci->cfg_size, .read = config_read }, pci };
	struct cxl_block blocks[CXL_MAX_BLOCKS];
	struct cxl_unit *unit;
	u32 i, nr;

	if (cxl_blocks(&config.io, blocks, &nr))
		return 0;
	for (i = 0; i < nr; i++) {
		if (blocks[i].id != CXL_BLOCK_CHMU)
			continue;
		unit = unit_create(pci, blocks, nr, i);
		if (!unit)
			return -ENOMEM;
		list_add_tail(&unit->dev.link, found);
	}
	return 0;
}

/** chmu_cxl_find - see chmu_dev.h */
int chmu_cxl_find(struct list_head *devs)
{
	struct pci_dev *pci = NULL;
	LIST_HEAD(found);
	int err = 0;

	while (!err && (pci = pci_get_class(CXL_CLASS, pci)))
		err = find_on(pci, &found);
	if (err) {
		pci_dev_put(pci);
		chmu_devs_free(&found);
	} else {
		list_splice_tail(&found, devs);
	}
	return err;
}
