// SPDX-License-Identifier: GPL-2.0-only
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/nodemask.h>
#include <linux/printk.h>
#include <linux/slab.h>
#include <linux/topology.h>

#include "clock.h"
#include "control.h"
#include "fault.h"
#include "govern.h"
#include "host.h"
#include "kmigrated.h"
#include "nodemap.h"
#include "target.h"
#include "topology.h"

static struct host_set __rcu *the_set;
static enum phi_layout the_layout;

struct host_set *host_set(void)
{
	return rcu_dereference_check(the_set, lockdep_is_held(&control_mutex));
}

/** host_find - the node of @set whose map has this page, or NULL. Where host_set() may be called. */
struct slow_node *host_find(struct host_set *set, u64 pfn)
{
	unsigned int i;

	for (i = 0; set && i < set->nr; i++)
		if (engine_covers(&set->nodes[i]->engine, pfn))
			return set->nodes[i];
	return NULL;
}

/* The fast nodes of a slow node, nearest first; of equally near ones the lower number first. */
static unsigned int nearest_targets(int nid, int *targets)
{
	nodemask_t left = *topology_fast();
	unsigned int n = 0;
	int fast, best;

	while (n < SELECT_MAX_TARGETS && !nodes_empty(left)) {
		best = first_node(left);
		for_each_node_mask(fast, left)
			if (node_distance(nid, fast) < node_distance(nid, best))
				best = fast;
		targets[n++] = best;
		node_clear(best, left);
	}
	return n;
}

/* The index of the target that is nearest to an accessor on @nid. */
static unsigned int target_for(const struct slow_node *node, int nid)
{
	unsigned int i, best = 0;

	for (i = 1; i < node->nr_targets; i++)
		if (node_distance(nid, node->target_nids[i]) <
		    node_distance(nid, node->target_nids[best]))
			best = i;
	return best;
}

/* Say where the node's pages go, from the topology and vm.pghot_target_nid. Under @node->lock. */
static void route(struct slow_node *node)
{
	int fixed = knob(target_nid), nid;

	if (fixed >= 0) {
		/* If its memory has gone, nothing moves: no silent fallback to another node. */
		node->target_nids[0] = fixed;
		node->nr_targets = topology_is_fast(fixed);
	} else {
		node->nr_targets = nearest_targets(node->nid, node->target_nids);
	}
	for (nid = 0; nid < nr_node_ids; nid++)
		node->by_nid[nid] = target_for(node, nid);
	engine_route(&node->engine, node->by_nid, nr_node_ids, 0);
	WRITE_ONCE(node->routes, node->routes + 1);
}

static void apply_knobs(struct slow_node *node)
{
	mutex_lock(&node->lock);
	hotmap_set_threshold(&node->engine.map, knob(freq_threshold));
	hotmap_set_window(&node->engine.map, knob(promote_freq_window_ms), now_ms());
	route(node);
	mutex_unlock(&node->lock);
}

static void node_destroy(struct slow_node *node)
{
	if (!node)
		return;
	kmigrated_stop(node);
	nodemap_free(node);
	kfree(node->by_nid);
	kfree(node);
}

static struct slow_node *node_create(int nid)
{
	struct slow_node *node = fault_point() ? NULL : kzalloc(sizeof(*node), GFP_KERNEL);
	int err = -ENOMEM;

	if (!node)
		return ERR_PTR(-ENOMEM);
	node->nid = nid;
	mutex_init(&node->lock);
	node->by_nid = fault_point() ? NULL : kzalloc(nr_node_ids, GFP_KERNEL);
	if (!node->by_nid)
		goto fail;
	engine_init(&node->engine, the_layout, knob(promote_freq_window_ms), knob(freq_threshold),
		    now_ms());
	mutex_lock(&node->lock);
	route(node);
	err = nodemap_refresh(node);
	mutex_unlock(&node->lock);
	if (err)
		goto fail;
	err = kmigrated_start(node);
	if (err)
		goto fail;
	return node;
fail:
	node_destroy(node);
	return ERR_PTR(err);
}

static struct slow_node *set_find(struct host_set *set, int nid)
{
	unsigned int i;

	for (i = 0; set && i < set->nr; i++)
		if (set->nodes[i]->nid == nid)
			return set->nodes[i];
	return NULL;
}

/* A set of all slow nodes: those of @old that are still slow, and new ones. */
static struct host_set *set_create(struct host_set *old)
{
	const nodemask_t *slow = topology_slow();
	struct host_set *set;
	struct slow_node *node;
	int nid;

	set = fault_point() ? NULL :
		kzalloc(struct_size(set, nodes, nodes_weight(*slow)), GFP_KERNEL);
	if (!set)
		return ERR_PTR(-ENOMEM);
	for_each_node_mask(nid, *slow) {
		node = set_find(old, nid) ?: node_create(nid);
		if (IS_ERR(node)) {
			while (set->nr--)
				if (!set_find(old, set->nodes[set->nr]->nid))
					node_destroy(set->nodes[set->nr]);
			kfree(set);
			return ERR_CAST(node);
		}
		set->nodes[set->nr++] = node;
	}
	return set;
}

/* Let recorders see @set from now on, and free what was in the old one and is not in it. */
static void set_replace(struct host_set *set)
{
	struct host_set *old = host_set();
	unsigned int i;

	rcu_assign_pointer(the_set, set);
	if (!old)
		return;
	synchronize_rcu();
	for (i = 0; i < old->nr; i++)
		if (!set_find(set, old->nodes[i]->nid))
			node_destroy(old->nodes[i]);
	kfree(old);
}

/** host_init - @layout is that of all records from now on */
void host_init(enum phi_layout layout)
{
	the_layout = layout;
}

/**
 * host_start - watch all slow nodes
 *
 * Returns 0, or -ENOMEM or an error of govern_apply() with nothing left behind.
 */
int host_start(void)
{
	struct host_set *set;
	int err;

	topology_refresh();
	set = set_create(NULL);
	if (IS_ERR(set)) {
		pr_err("cannot watch the slow nodes (%ld): no memory for a map, or no thread\n",
		       PTR_ERR(set));
		return PTR_ERR(set);
	}
	set_replace(set);
	err = govern_apply();
	if (err)
		set_replace(NULL);
	return err;
}

/** host_stop - stop watching: threads end, maps are freed */
void host_stop(void)
{
	set_replace(NULL);
	govern_apply();
}

/**
 * host_refresh - follow memory that came or went
 *
 * Where there is no memory for a map, the pages stay untracked and pghot_sections_nomem counts it.
 */
void host_refresh(void)
{
	struct host_set *old = host_set(), *set;
	unsigned int i;

	topology_refresh();
	if (!old)
		return;
	set = set_create(old);
	if (IS_ERR(set))
		pr_warn("memory hotplug: no memory to watch new slow nodes (%ld)\n", PTR_ERR(set));
	else
		set_replace(set);
	set = host_set();
	for (i = 0; i < set->nr; i++) {
		mutex_lock(&set->nodes[i]->lock);
		route(set->nodes[i]);
		nodemap_refresh(set->nodes[i]);
		mutex_unlock(&set->nodes[i]->lock);
	}
}

/** host_apply_knobs - let all nodes see changed knobs */
void host_apply_knobs(void)
{
	struct host_set *set = host_set();
	unsigned int i;

	target_set_rate(knob(promote_rate_limit_MBps));
	for (i = 0; set && i < set->nr; i++) {
		apply_knobs(set->nodes[i]);
		kmigrated_kick(set->nodes[i]);
	}
}
