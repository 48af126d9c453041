/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * host - the slow nodes being watched: an engine, its memory and a thread for each
 *
 * They exist from host_start() to host_stop(), that is, while any source is enabled. Nodes come and
 * go meanwhile with memory hotplug (host_refresh()). All functions here but host_set() and
 * host_find() are called under the control mutex.
 */
#ifndef PGHOT_HOST_H
#define PGHOT_HOST_H

#include <linux/atomic.h>
#include <linux/irq_work.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/wait.h>

#include "engine/engine.h"

struct task_struct;
struct batch;

/**
 * struct slow_node
 * @nid: the node
 * @lock: serialises the engine's thread-side calls, and protects @tracked_pages, @hotmap_bytes,
 *	@nr_targets, @target_nids, @by_nid and @routes. Not held while pages move.
 * @engine: its records
 * @nr_targets: entries in @target_nids
 * @target_nids: fast nodes by index of target, nearest first
 * @by_nid: index of target for each accessor's node
 * @routes: how often these three, or other knobs, were set
 * @tracked_pages: pages covered by the map
 * @hotmap_bytes: memory of the map: records, sections and directory
 * @ready_pages: ready pages seen by the last pass
 * @task: kmigrated<nid>
 * @wait: where it sleeps
 * @kick: wakes it from any context
 * @kicked: set by @kick, cleared by the thread before it looks for work
 * @picks: kmigrated's scratch: the pages chosen by a pass, KMIGRATED_PICKS of them
 * @batch: kmigrated's scratch: pages on the move
 * @batch_nr: kmigrated's: batch size that keeps to the time budget
 * @arrived: pages that came from fast nodes since kmigrated last looked
 * @nr_arrivals: how many of them are in @arrivals, or would be if it were larger
 * @arrivals: the first of them
 */
struct slow_node {
	int nid;
	struct mutex lock;
	struct engine engine;
	unsigned int nr_targets;
	int target_nids[SELECT_MAX_TARGETS];
	u8 *by_nid;
	unsigned int routes;
	unsigned long tracked_pages;
	unsigned long hotmap_bytes;
	unsigned long ready_pages;

	struct task_struct *task;
	wait_queue_head_t wait;
	struct irq_work kick;
	bool kicked;
	struct select_pick *picks;
	struct batch *batch;
	unsigned int batch_nr;

	atomic_long_t arrived;
	atomic_t nr_arrivals;
	u64 arrivals[GOVERNOR_AN_EPOCH];
};

/** struct host_set - the slow nodes, as recorders see them; replaced whole */
struct host_set {
	unsigned int nr;
	struct slow_node *nodes[];
};

void host_init(enum phi_layout layout);
int host_start(void);
void host_stop(void);
void host_refresh(void);
void host_apply_knobs(void);

/** host_set - the current set or NULL; under rcu_read_lock() or the control mutex. */
struct host_set *host_set(void);

struct slow_node *host_find(struct host_set *set, u64 pfn);

#endif
