/* SPDX-License-Identifier: GPL-2.0-only */
/* nodes - what the kernel says of NUMA nodes, and which node memory is on */
#ifndef PGHOT_BENCH_NODES_H
#define PGHOT_BENCH_NODES_H

#include <stdbool.h>
#include <stdint.h>

#define MAX_NODES		1024
#define MAX_FAST_NODES		16

/** struct node_list - the fast nodes, in the order of preference */
struct node_list {
	int node[MAX_FAST_NODES];
	unsigned int nr;
};

/** node_list_has - is @node (a number, or a negative errno) one of them? */
bool node_list_has(const struct node_list *list, int node);

/* All of them end the program with status 1 on an error. */

/** check_node - the node exists and has memory; @key: the argument that named it */
void check_node(const char *key, unsigned long node);

/** node_meminfo - bytes in the field @name ("MemFree:") of the node's meminfo */
uint64_t node_meminfo(int node, const char *name);

/** node_default_margin - bytes that populating leaves free unless told otherwise */
uint64_t node_default_margin(int node);

/** node_bind - give pages of [@mem, @mem + @bytes) that are populated from now on to @node only */
void node_bind(void *mem, uint64_t bytes, int node);

/** node_unbind - undo node_bind(): NUMA balancing and demotion leave bound memory alone */
void node_unbind(void *mem, uint64_t bytes);

/** node_bind_task - give pages that this thread makes from now on to @node only, also those of files */
void node_bind_task(int node);

/** node_unbind_task - undo node_bind_task(): a task with a policy gets no hint faults */
void node_unbind_task(void);

/** node_query - the node of each of @count pages, or a negative errno; moves and touches nothing */
void node_query(void **pages, unsigned long count, int *nodes);

/**
 * node_count - how many of @pages pages at @mem are on nodes of @list
 * @where: if not NULL, which of them
 *
 * A page that is just migrating counts as being on none.
 */
uint64_t node_count(const struct node_list *list, void *mem, uint64_t pages, bool *where);

/** node_count_of - how many of @mem's pages with these @numbers are on nodes of @list */
uint64_t node_count_of(const struct node_list *list, void *mem, const uint32_t *numbers, uint64_t count);

#endif
