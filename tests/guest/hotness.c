// SPDX-License-Identifier: GPL-2.0-only
/*
 * hotness - drives the lab's hotness hardware from user space, and holds what it says against what
 * this program has accessed
 *
 * usage: hotness profiler FAST_NODE SLOW_NODE
 *        hotness unit|limited SLOW_NODE
 */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <linux/mempolicy.h>
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>

#include "hotness.h"

volatile char *dev;

void die(const char *what)
{
	printf("is %s fine hotness: %s\n", strerror(errno), what);
	exit(1);
}

void is(uint64_t got, uint64_t want, const char *name)
{
	printf("is %" PRIu64 " %" PRIu64 " %s\n", got, want, name);
}

void least(uint64_t got, uint64_t want, const char *name)
{
	printf("least %" PRIu64 " %" PRIu64 " %s\n", got, want, name);
}

void most(uint64_t got, uint64_t want, const char *name)
{
	printf("most %" PRIu64 " %" PRIu64 " %s\n", got, want, name);
}

unsigned int write_register(uint64_t at, uint64_t value, unsigned int bytes)
{
	volatile struct pghot_labdev_regs *regs = (volatile void *)(dev + PGHOT_LABDEV_REGS);

	regs->arg[0] = at;
	regs->arg[1] = value;
	regs->arg[2] = bytes;
	return labdev_command(dev, PGHOT_LABDEV_WRITE);
}

/* A region begins with cold caches. */
void cool(void)
{
	labdev_command(dev, PGHOT_LABDEV_ROI_BEGIN);
	labdev_command(dev, PGHOT_LABDEV_ROI_END);
}

void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die("sched_setaffinity");
}

void sleep_us(unsigned int us)
{
	nanosleep(&(struct timespec) { .tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000L },
		  NULL);
}

char *map_on(uint64_t bytes, int node)
{
	char *mem = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned long mask = 1UL << node;

	if (mem == MAP_FAILED || madvise(mem, bytes, MADV_NOHUGEPAGE) ||
	    syscall(SYS_mbind, mem, bytes, MPOL_BIND, &mask, 8 * sizeof(mask), 0))
		die("memory of a node");
	memset(mem, 1, bytes);
	return mem;
}

uint64_t physical(const volatile void *at)
{
	static int fd = -1;
	uint64_t entry = 0, vaddr = (uintptr_t)at;

	if (fd < 0)
		fd = open("/proc/self/pagemap", O_RDONLY);
	if (pread(fd, &entry, sizeof(entry), vaddr / PAGE * 8) != sizeof(entry))
		die("/proc/self/pagemap");
	return (entry & ((1ULL << 55) - 1)) * PAGE + vaddr % PAGE;
}

uint64_t device_address(const volatile void *at)
{
	const struct pghot_labdev_ranges *ranges = (void *)(dev + PGHOT_LABDEV_RANGES);
	uint64_t addr = physical(at), before = 0;
	uint32_t i = 0, node;

	while (i < ranges->nr && (addr < ranges->range[i].start || addr >= ranges->range[i].end))
		i++;
	if (i == ranges->nr)
		die("memory that the device does not know");
	node = ranges->range[i].node;
	for (uint32_t j = 0; j < i; j++)
		if (ranges->range[j].node == node)
			before += ranges->range[j].end - ranges->range[j].start;
	return before + addr - ranges->range[i].start;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	dev = labdev_open();
	if (!dev)
		die("no device");
	pin(0);
	if (!strcmp(what, "profiler") && argc == 4)
		test_profiler(atoi(argv[2]), atoi(argv[3]));
	else if (!strcmp(what, "unit") && argc == 3)
		test_unit(atoi(argv[2]));
	else if (!strcmp(what, "limited") && argc == 3)
		test_limited(atoi(argv[2]));
	else
		return 2;
	return 0;
}
