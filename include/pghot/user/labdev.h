/* SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR MIT */
/* user/labdev - reach the lab's device from a program, through sysfs; needs to be root */
#ifndef PGHOT_USER_LABDEV_H
#define PGHOT_USER_LABDEV_H

#include <dirent.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pghot/labdev.h"

#define PGHOT_LABDEV_SYSFS	"/sys/bus/pci/devices"

/* The number in the file @attr of the PCI device @name, or -1. */
static inline long labdev_pci_number(const char *name, const char *attr)
{
	char path[512], text[32] = "";
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), PGHOT_LABDEV_SYSFS "/%s/%s", name, attr);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	return n > 0 ? strtol(text, NULL, 0) : -1;
}

/* Map the bar of the PCI device @name; NULL if it is another shared memory device. */
static inline volatile char *labdev_map(const char *name)
{
	const volatile struct pghot_labdev_regs *regs;
	char path[512];
	struct stat st;
	void *map;
	int fd;

	snprintf(path, sizeof(path), PGHOT_LABDEV_SYSFS "/%s/resource%d", name,
		 PGHOT_LABDEV_PCI_BAR);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	map = MAP_FAILED;
	if (!fstat(fd, &st) && st.st_size == PGHOT_LABDEV_SIZE)
		map = mmap(NULL, PGHOT_LABDEV_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (map == MAP_FAILED)
		return NULL;
	regs = (const volatile struct pghot_labdev_regs *)((char *)map + PGHOT_LABDEV_REGS);
	if (regs->magic == PGHOT_LABDEV_MAGIC && regs->version == PGHOT_LABDEV_VERSION &&
	    regs->size == PGHOT_LABDEV_SIZE)
		return map;
	munmap(map, PGHOT_LABDEV_SIZE);
	return NULL;
}

/** labdev_open - map the device; NULL if there is none that this header describes */
static inline volatile char *labdev_open(void)
{
	DIR *dir = opendir(PGHOT_LABDEV_SYSFS);
	volatile char *map = NULL;
	struct dirent *entry;

	if (!dir)
		return NULL;
	while (!map && (entry = readdir(dir))) {
		if (labdev_pci_number(entry->d_name, "vendor") == PGHOT_LABDEV_PCI_VENDOR &&
		    labdev_pci_number(entry->d_name, "device") == PGHOT_LABDEV_PCI_DEVICE)
			map = labdev_map(entry->d_name);
	}
	closedir(dir);
	return map;
}

/**
 * labdev_command - give @command and wait until it was obeyed
 *
 * Returns enum pghot_labdev_status. With another program's commands in between the status may be
 * that program's.
 */
static inline unsigned int labdev_command(volatile char *dev, __u64 command)
{
	struct pghot_labdev_regs *regs = (struct pghot_labdev_regs *)(dev + PGHOT_LABDEV_REGS);
	__u64 idle;

	do {
		idle = PGHOT_LABDEV_IDLE;
	} while (!__atomic_compare_exchange_n(&regs->command, &idle, command, 0,
					      __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
	while (__atomic_load_n(&regs->command, __ATOMIC_ACQUIRE) == command)
		;
	return *(volatile __u32 *)&regs->status;
}

#endif
