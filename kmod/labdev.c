// SPDX-License-Identifier: GPL-2.0-only
#include <linux/io.h>
#include <linux/mutex.h>
#include <linux/pci.h>
#include <linux/processor.h>
#include <linux/slab.h>

#include "fault.h"
#include "labdev.h"

/* A command is obeyed before its writer's next access is over. */
#define PATIENCE	1000000

struct labdev {
	struct pci_dev *pci;
	void *bar;
};

/* Commands with arguments come one at a time. */
static DEFINE_MUTEX(command_mutex);

static bool is_ours(const struct pghot_labdev_regs *regs)
{
	return READ_ONCE(regs->magic) == PGHOT_LABDEV_MAGIC &&
	       READ_ONCE(regs->version) == PGHOT_LABDEV_VERSION &&
	       READ_ONCE(regs->size) == PGHOT_LABDEV_SIZE;
}

static void *map_bar(struct pci_dev *pci)
{
	void *bar;

	if (pci_resource_len(pci, PGHOT_LABDEV_PCI_BAR) != PGHOT_LABDEV_SIZE)
		return NULL;
	bar = fault_point() ? NULL :
	      memremap(pci_resource_start(pci, PGHOT_LABDEV_PCI_BAR), PGHOT_LABDEV_SIZE,
		       MEMREMAP_WB);
	if (bar && is_ours(bar + PGHOT_LABDEV_REGS))
		return bar;
	if (bar)
		memunmap(bar);
	return NULL;
}

/**
 * labdev_get - find the lab's device and map it
 *
 * Returns it, or an ERR_PTR: -ENODEV if there is none that pghot/labdev.h describes, -ENOMEM.
 */
struct labdev *labdev_get(void)
{
	struct labdev *dev = fault_point() ? NULL : kzalloc(sizeof(*dev), GFP_KERNEL);
	struct pci_dev *pci = NULL;

	if (!dev)
		return ERR_PTR(-ENOMEM);
	while ((pci = pci_get_device(PGHOT_LABDEV_PCI_VENDOR, PGHOT_LABDEV_PCI_DEVICE, pci))) {
		dev->bar = map_bar(pci);
		if (dev->bar) {
			dev->pci = pci;
			return dev;
		}
	}
	kfree(dev);
	return ERR_PTR(-ENODEV);
}

/** labdev_put - unmap it and let go of it */
void labdev_put(struct labdev *dev)
{
	memunmap(dev->bar);
	pci_dev_put(dev->pci);
	kfree(dev);
}

/** labdev_at - the bar's bytes from @offset on; what is there may change at any time */
void *labdev_at(const struct labdev *dev, u32 offset)
{
	return dev->bar + offset;
}

/**
 * labdev_write - write a register that the plugin must notice
 * @dev: the device
 * @offset: of the register, from the start of the bar
 * @value: what to write
 * @bytes: the register's size: 2, 4 or 8
 *
 * May sleep. Returns 0, -EINVAL if there is no such register, or -ETIMEDOUT if the plugin is deaf.
 */
int labdev_write(struct labdev *dev, u32 offset, u64 value, u32 bytes)
{
	struct pghot_labdev_regs *regs = labdev_at(dev, PGHOT_LABDEV_REGS);
	unsigned int patience = PATIENCE;
	int err = -ETIMEDOUT;

	mutex_lock(&command_mutex);
	WRITE_ONCE(regs->arg[0], offset);
	WRITE_ONCE(regs->arg[1], value);
	WRITE_ONCE(regs->arg[2], bytes);
	while (patience && cmpxchg(&regs->command, PGHOT_LABDEV_IDLE, PGHOT_LABDEV_WRITE)) {
		cpu_relax();
		patience--;
	}
	while (patience && smp_load_acquire(&regs->command) == PGHOT_LABDEV_WRITE) {
		cpu_relax();
		patience--;
	}
	if (patience)
		err = READ_ONCE(regs->status) == PGHOT_LABDEV_OK ? 0 : -EINVAL;
	mutex_unlock(&command_mutex);
	return err;
}
