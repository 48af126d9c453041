// SPDX-License-Identifier: GPL-2.0-only
/*
 * The plugin sees an address for each access, but what that address means depends on the version
 * of QEMU and on how the machine's memory is put together. So ask: touch pages whose
 * guest-physical address is known, of each contiguous piece of each node, and let the plugin say
 * where it saw that.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <inttypes.h>
#include <linux/mempolicy.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "calibrate.h"
#include "pghot/user/labdev.h"

#define PAGE_BYTES	4096ULL
#define STEP_BYTES	(2ULL << 20)
/* Where no other program has anything: the plugin looks for accesses by virtual address. */
#define PROBE_VADDR	0x5ab000000000ULL
/* Pages of each piece that have to agree. */
#define PROBES		2
/* Left free on a node while looking for a page of each piece of it. */
#define MARGIN_BYTES	(64ULL << 20)

/* The firmware's holes below 1 MiB and the like. */
#define SMALL_HOLE_BYTES (1ULL << 20)

#define CHASE_PAGES	2048
#define CHASE_LINE	64ULL
#define CHASE_TRIES	8

/* Guest-physical [start, end) of one node. */
struct piece {
	unsigned int node;
	uint64_t start, end;
	uint64_t reported;	/* address that the plugin has for @start */
	unsigned int probes;	/* pages that said so */
};

struct pieces {
	struct piece piece[PGHOT_LABDEV_MAX_RANGES];
	unsigned int nr;
};

/* Pieces that adjoin are one. */
static bool pieces_add(struct pieces *pieces, unsigned int node, uint64_t start, uint64_t end)
{
	struct piece *last = pieces->nr ? &pieces->piece[pieces->nr - 1] : NULL;

	if (start >= end)
		return true;
	if (last && last->node == node && last->end + SMALL_HOLE_BYTES >= start) {
		last->end = end;
		return true;
	}
	if (pieces->nr == PGHOT_LABDEV_MAX_RANGES)
		return false;
	pieces->piece[pieces->nr++] = (struct piece) { .node = node, .start = start, .end = end };
	return true;
}

/* The memory of this machine, whoever's it is; node is 0 in all. */
static bool ram_read(struct pieces *ram)
{
	FILE *file = fopen("/proc/iomem", "re");
	unsigned long long start, last;
	char line[256];
	bool ok = file;
	int len;

	while (file && ok && fgets(line, sizeof(line), file)) {
		len = 0;
		if (line[0] != ' ' &&
		    sscanf(line, "%llx-%llx : System RAM%n", &start, &last, &len) == 2 && len)
			ok = pieces_add(ram, 0, start, last + 1);
	}
	if (file)
		fclose(file);
	return ok;
}

/* A zone of a node in two pieces spans the hole between them as well: take the memory in it. */
static bool zone_add(struct pieces *pieces, const struct pieces *ram, unsigned int node,
		     uint64_t start, uint64_t end)
{
	bool ok = true;

	for (unsigned int i = 0; ok && i < ram->nr; i++) {
		const struct piece *piece = &ram->piece[i];

		ok = pieces_add(pieces, node, start > piece->start ? start : piece->start,
				end < piece->end ? end : piece->end);
	}
	return ok;
}

static bool pieces_read(struct pieces *pieces)
{
	FILE *file = fopen("/proc/zoneinfo", "re");
	struct pieces ram = { .nr = 0 };
	unsigned long long spanned = 0, start;
	unsigned int node = 0;
	char line[256];
	bool ok = file && ram_read(&ram);

	while (file && ok && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "Node %u, zone", &node) == 1)
			spanned = 0;
		else if (sscanf(line, " spanned %llu", &spanned) != 1 && spanned &&
			 sscanf(line, " start_pfn: %llu", &start) == 1)
			ok = zone_add(pieces, &ram, node, start * PAGE_BYTES,
				      (start + spanned) * PAGE_BYTES);
	}
	if (file)
		fclose(file);
	return ok && pieces->nr;
}

/* Guest-physical address of the page at @vaddr, or 0. */
static uint64_t pagemap_phys(uintptr_t vaddr)
{
	static int fd = -1;
	uint64_t entry = 0;

	if (fd < 0)
		fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	if (pread(fd, &entry, sizeof(entry), vaddr / PAGE_BYTES * sizeof(entry)) != sizeof(entry))
		return 0;
	return (entry & ((1ULL << 55) - 1)) * PAGE_BYTES;
}

static bool locate(volatile char *dev, uintptr_t vaddr, uint64_t *reported)
{
	volatile struct pghot_labdev_regs *regs = (volatile void *)(dev + PGHOT_LABDEV_REGS);

	regs->arg[0] = vaddr;
	if (labdev_command(dev, PGHOT_LABDEV_LOCATE))
		return false;
	*(volatile char *)vaddr;
	if (!regs->answer[1])
		return false;
	*reported = regs->answer[0];
	return true;
}

static const char *probe(volatile char *dev, struct pieces *pieces, uintptr_t vaddr)
{
	uint64_t phys = pagemap_phys(vaddr), reported;

	for (unsigned int i = 0; i < pieces->nr; i++) {
		struct piece *piece = &pieces->piece[i];

		if (phys < piece->start || phys >= piece->end || piece->probes == PROBES)
			continue;
		if (!locate(dev, vaddr, &reported))
			return "the plugin does not see what this guest accesses";
		reported -= phys - piece->start;
		if (piece->probes && piece->reported != reported)
			return "the plugin sees one piece of memory in two places";
		piece->reported = reported;
		piece->probes++;
	}
	return NULL;
}

static bool node_done(const struct pieces *pieces, unsigned int node)
{
	for (unsigned int i = 0; i < pieces->nr; i++)
		if (pieces->piece[i].node == node && pieces->piece[i].probes < PROBES)
			return false;
	return true;
}

static uint64_t node_free(unsigned int node)
{
	unsigned long long kib = 0;
	char path[64], line[128];
	FILE *file;

	snprintf(path, sizeof(path), "/sys/devices/system/node/node%u/meminfo", node);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "Node %*u MemFree: %llu", &kib) == 1)
			break;
	if (file)
		fclose(file);
	return kib << 10;
}

/*
 * The kernel gives from the highest zone first, so a node in several pieces has to be filled up to
 * the last of them; a node in one piece gives at once what is needed.
 */
static const char *probe_node(volatile char *dev, struct pieces *pieces, unsigned int node)
{
	uint64_t bytes = node_free(node), done = 0;
	unsigned long mask = 1UL << node;
	const char *error = NULL;
	char *mem;

	bytes = bytes > MARGIN_BYTES ? bytes - MARGIN_BYTES : 0;
	bytes -= bytes % STEP_BYTES;
	mem = mmap((void *)PROBE_VADDR, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE |
		   MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
	if (mem == MAP_FAILED)
		return "no memory to look at";
	madvise(mem, bytes, MADV_HUGEPAGE);
	if (syscall(SYS_mbind, mem, bytes, MPOL_BIND, &mask, 8 * sizeof(mask), 0))
		error = "cannot bind memory to a node";
	for (; !error && done < bytes && !node_done(pieces, node); done += STEP_BYTES) {
		for (unsigned int i = 0; !error && i < PROBES; i++) {
			mem[done + i * PAGE_BYTES] = 1;
			error = probe(dev, pieces, (uintptr_t)mem + done + i * PAGE_BYTES);
		}
	}
	munmap(mem, bytes);
	if (!error && !node_done(pieces, node))
		error = "found no free page in one piece of memory";
	return error;
}

static const char *ranges_add(volatile char *dev, const struct pieces *pieces)
{
	static char error[128];
	volatile struct pghot_labdev_regs *regs = (volatile void *)(dev + PGHOT_LABDEV_REGS);

	for (unsigned int i = 0; i < pieces->nr; i++) {
		const struct piece *piece = &pieces->piece[i];

		regs->arg[0] = piece->node;
		regs->arg[1] = piece->start;
		regs->arg[2] = piece->end;
		regs->arg[3] = piece->reported;
		if (!labdev_command(dev, PGHOT_LABDEV_ADD_RANGE))
			continue;
		snprintf(error, sizeof(error), "the plugin refuses node %u [%#" PRIx64 ", %#"
			 PRIx64 ") at %#" PRIx64, piece->node, piece->start, piece->end,
			 piece->reported);
		return error;
	}
	return NULL;
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

/*
 * A ring through more memory than the modelled cache usually has: pages in no order, so that the
 * host's prefetcher does not foresee them, and in each all lines in no order either, so that what
 * the emulator's translation of an address costs is spread. Both are congruential generators whose
 * period is the whole.
 */
static void chase_link(char *mem)
{
	const unsigned int lines = PAGE_BYTES / CHASE_LINE;
	unsigned int page = 0, line = 0;
	void **last = (void **)mem;

	for (unsigned int p = 0; p < CHASE_PAGES; p++) {
		for (unsigned int l = 0; l < lines; l++) {
			char *at = mem + page * PAGE_BYTES + line * CHASE_LINE;

			*last = at;
			last = (void **)at;
			line = (line * 13 + 2 * p + 7) % lines;
		}
		page = (page * 1664525 + 1013904223) % CHASE_PAGES;
	}
	*last = mem;
}

/* Time of a load that depends on the one before; 0 without memory. */
static uint64_t chase_ns(void)
{
	const uint64_t steps = CHASE_PAGES * PAGE_BYTES / CHASE_LINE;
	char *mem = mmap(NULL, CHASE_PAGES * PAGE_BYTES, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t best = UINT64_MAX;

	if (mem == MAP_FAILED)
		return 0;
	chase_link(mem);
	for (unsigned int try = 0; try < CHASE_TRIES; try++) {
		void *volatile *at = (void *)mem;
		uint64_t ns = now_ns();

		for (uint64_t i = 0; i < steps; i++)
			at = *at;
		ns = now_ns() - ns;
		if (ns < best)
			best = ns;
	}
	munmap(mem, CHASE_PAGES * PAGE_BYTES);
	return best / steps;
}

static bool set_access_ns(volatile char *dev, uint64_t ns)
{
	volatile struct pghot_labdev_regs *regs = (volatile void *)(dev + PGHOT_LABDEV_REGS);

	regs->arg[0] = ns;
	return !labdev_command(dev, PGHOT_LABDEV_SET_ACCESS_NS);
}

/* What an access takes while the plugin is at work, but does not delay. */
static bool measure_access(volatile char *dev)
{
	uint64_t ns;

	if (!set_access_ns(dev, UINT32_MAX) || labdev_command(dev, PGHOT_LABDEV_ROI_BEGIN))
		return false;
	ns = chase_ns();
	labdev_command(dev, PGHOT_LABDEV_ROI_END);
	labdev_command(dev, PGHOT_LABDEV_ROI_RESET);
	return set_access_ns(dev, ns);
}

const char *calibrate(void)
{
	volatile char *dev = labdev_open();
	struct pieces pieces = { .nr = 0 };
	const char *error;

	if (!dev)
		return NULL;
	if (!pieces_read(&pieces))
		return "cannot make sense of /proc/zoneinfo and /proc/iomem";
	for (unsigned int i = 0; i < pieces.nr; i++) {
		if (node_done(&pieces, pieces.piece[i].node))
			continue;
		error = probe_node(dev, &pieces, pieces.piece[i].node);
		if (error)
			return error;
	}
	error = ranges_add(dev, &pieces);
	if (error)
		return error;
	if (!measure_access(dev))
		return "the plugin refuses the time of an access";
	munmap((void *)dev, PGHOT_LABDEV_SIZE);
	return NULL;
}
