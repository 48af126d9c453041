// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>

#include "base.h"
#include "nodes.h"
#include "populate.h"

/* Populated between two looks at the node's free memory. */
#define STEP_PAGES	512

void *populate_map(uint64_t bytes)
{
	void *mem = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (mem == MAP_FAILED)
		die("cannot map %" PRIu64 " MiB: %s", bytes / MIB, strerror(errno));
	/* EINVAL: a kernel without huge pages, which is as good. */
	if (madvise(mem, bytes, MADV_NOHUGEPAGE) && errno != EINVAL)
		die("cannot turn off huge pages: %s", strerror(errno));
	return mem;
}

static void bind(void *mem, uint64_t bytes, int node)
{
	if (mem)
		node_bind(mem, bytes, node);
	else
		node_bind_task(node);
}

static void unbind(void *mem, uint64_t bytes)
{
	if (mem)
		node_unbind(mem, bytes);
	else
		node_unbind_task();
}

/*
 * Free memory is read again and again because page tables and everybody else take from it too,
 * and a bound allocation that reaches the watermarks reclaims what was just populated, or runs
 * out of memory.
 */
uint64_t populate_among(void *mem, uint64_t pages, uint64_t count, int node, uint64_t keep_free,
			void (*touch)(void *arg, uint64_t first, uint64_t pages), void *arg)
{
	uint64_t done = 0;

	if (!count)
		return 0;
	if (node < 0) {
		touch(arg, 0, count);
		return count;
	}
	bind(mem, pages * PAGE_BYTES, node);
	while (done < count) {
		uint64_t step = count - done;

		if (step > STEP_PAGES)
			step = STEP_PAGES;
		if (node_meminfo(node, "MemFree:") < keep_free + step * PAGE_BYTES)
			break;
		touch(arg, done, step);
		done += step;
	}
	unbind(mem, pages * PAGE_BYTES);
	return done;
}

uint64_t populate_on(void *mem, uint64_t pages, int node, uint64_t keep_free,
		     void (*touch)(void *arg, uint64_t first, uint64_t pages), void *arg)
{
	return populate_among(mem, pages, pages, node, keep_free, touch, arg);
}
