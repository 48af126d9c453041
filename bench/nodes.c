// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <linux/mempolicy.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base.h"
#include "nodes.h"

#define NODE_DIR		"/sys/devices/system/node/"
/* Pages per move_pages(2) call: bounds the time for which one call holds the mmap lock. */
#define QUERY_CHUNK_PAGES	4096

bool node_list_has(const struct node_list *list, int node)
{
	for (unsigned int i = 0; i < list->nr; i++)
		if (list->node[i] == node)
			return true;
	return false;
}

static void read_line(const char *path, char *buf, size_t size)
{
	FILE *file = fopen(path, "r");

	if (!file || !fgets(buf, size, file))
		die("cannot read %s: %s", path, strerror(errno));
	fclose(file);
	buf[strcspn(buf, "\n")] = '\0';
}

/* @list: as the kernel prints it, "0-1,3". */
static bool list_has_node(const char *list, unsigned long node)
{
	char *end;

	for (; *list; list = *end ? end + 1 : end) {
		unsigned long first = strtoul(list, &end, 10);
		unsigned long last = *end == '-' ? strtoul(end + 1, &end, 10) : first;

		if (node >= first && node <= last)
			return true;
	}
	return false;
}

void check_node(const char *key, unsigned long node)
{
	char list[512];

	read_line(NODE_DIR "has_memory", list, sizeof(list));
	if (!list_has_node(list, node))
		die("%s=%lu: no node %lu with memory here; nodes with memory: %s", key, node,
		    node, list);
}

uint64_t node_meminfo(int node, const char *name)
{
	char path[64], line[128], field[64];
	uint64_t kib;
	FILE *file;

	snprintf(path, sizeof(path), NODE_DIR "node%d/meminfo", node);
	file = fopen(path, "r");
	if (!file)
		die("cannot read %s: %s", path, strerror(errno));
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "Node %*d %63s %" SCNu64, field, &kib) == 2 &&
		    !strcmp(field, name)) {
			fclose(file);
			return kib << 10;
		}
	}
	die("no %s in %s", name, path);
}

/* Well over any usual watermark. */
uint64_t node_default_margin(int node)
{
	uint64_t margin = node_meminfo(node, "MemTotal:") / 50;

	return margin > 32 * MIB ? margin : 32 * MIB;
}

struct node_mask {
	unsigned long words[MAX_NODES / (8 * sizeof(unsigned long))];
};

/* The kernel takes one off the number of bits. */
#define MASK_BITS		(MAX_NODES + 1UL)

static struct node_mask mask_of(int node)
{
	const unsigned int bits = 8 * sizeof(unsigned long);
	struct node_mask mask = { { 0 } };

	mask.words[node / bits] = 1UL << (node % bits);
	return mask;
}

void node_bind(void *mem, uint64_t bytes, int node)
{
	struct node_mask mask = mask_of(node);

	if (syscall(SYS_mbind, mem, bytes, MPOL_BIND, mask.words, MASK_BITS, 0))
		die("cannot bind memory to node %d: %s", node, strerror(errno));
}

void node_bind_task(int node)
{
	struct node_mask mask = mask_of(node);

	if (syscall(SYS_set_mempolicy, MPOL_BIND, mask.words, MASK_BITS))
		die("cannot bind the memory of this task to node %d: %s", node, strerror(errno));
}

void node_unbind_task(void)
{
	if (syscall(SYS_set_mempolicy, MPOL_DEFAULT, NULL, 0))
		die("cannot reset the memory policy of this task: %s", strerror(errno));
}

void node_unbind(void *mem, uint64_t bytes)
{
	if (syscall(SYS_mbind, mem, bytes, MPOL_DEFAULT, NULL, 0, 0))
		die("cannot reset the memory policy: %s", strerror(errno));
}

void node_query(void **pages, unsigned long count, int *nodes)
{
	/* Without target nodes it moves nothing, and touches no accessed bit. */
	if (syscall(SYS_move_pages, 0, count, pages, NULL, nodes, 0))
		die("cannot ask where pages are (move_pages): %s", strerror(errno));
}

/* @numbers: of the pages; NULL: 0, 1, 2 and so on */
static uint64_t count_pages(const struct node_list *list, char *mem, const uint32_t *numbers,
			    uint64_t pages, bool *where)
{
	void *addrs[QUERY_CHUNK_PAGES];
	int nodes[QUERY_CHUNK_PAGES];
	uint64_t found = 0;

	for (uint64_t first = 0; first < pages; first += QUERY_CHUNK_PAGES) {
		uint64_t left = pages - first;
		unsigned long count = left < QUERY_CHUNK_PAGES ? left : QUERY_CHUNK_PAGES;

		for (unsigned long i = 0; i < count; i++)
			addrs[i] = mem + (numbers ? numbers[first + i] : first + i) * PAGE_BYTES;
		node_query(addrs, count, nodes);
		for (unsigned long i = 0; i < count; i++) {
			bool on = node_list_has(list, nodes[i]);

			found += on;
			if (where)
				where[first + i] = on;
		}
	}
	return found;
}

uint64_t node_count(const struct node_list *list, void *mem, uint64_t pages, bool *where)
{
	return count_pages(list, mem, NULL, pages, where);
}

uint64_t node_count_of(const struct node_list *list, void *mem, const uint32_t *numbers, uint64_t count)
{
	return count_pages(list, mem, numbers, count, NULL);
}
