// SPDX-License-Identifier: GPL-2.0-only
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/printk.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "ksym.h"
#include "topology.h"

/* What the user said; both empty: ask the kernel. Written at load only. */
static nodemask_t forced_fast, forced_slow;

/* Written under the control mutex, read anywhere; a bit may be seen a moment late. */
static nodemask_t fast_nodes, slow_nodes;

static int parse_nodes(char *list, nodemask_t *nodes, const char *tiers)
{
	int nid;

	if (nodelist_parse(strim(list), *nodes) || nodes_empty(*nodes)) {
		pr_err("tiers=\"%s\": \"%s\" is not a node list; say for instance tiers=\"0>1\"\n",
		       tiers, list);
		return -EINVAL;
	}
	for_each_node_mask(nid, *nodes) {
		if (!node_possible(nid)) {
			pr_err("tiers=\"%s\": there is no node %d; this machine can have nodes %*pbl\n",
			       tiers, nid, nodemask_pr_args(&node_possible_map));
			return -EINVAL;
		}
	}
	return 0;
}

static int parse_tiers(const char *tiers)
{
	char *copy = kstrdup(tiers, GFP_KERNEL), *slow = copy, *fast;
	int err;

	if (!copy)
		return -ENOMEM;
	fast = strsep(&slow, ">");
	if (!slow || strchr(slow, '>')) {
		pr_err("tiers=\"%s\": want two node lists with one '>' between, fast first, as in tiers=\"0>1\"\n",
		       tiers);
		err = -EINVAL;
		goto out;
	}
	err = parse_nodes(fast, &forced_fast, tiers) ?: parse_nodes(slow, &forced_slow, tiers);
	if (!err && nodes_intersects(forced_fast, forced_slow)) {
		pr_err("tiers=\"%s\": a node cannot be both fast and slow\n", tiers);
		err = -EINVAL;
	}
out:
	kfree(copy);
	return err;
}

/**
 * topology_init - read the user's tiers, if any, and look at the machine
 * @tiers: "FAST>SLOW", or NULL or "" for the kernel's memory tiers
 *
 * Returns 0, or -EINVAL or -ENOMEM after saying what is wrong.
 */
int topology_init(const char *tiers)
{
	int err = tiers && *tiers ? parse_tiers(tiers) : 0;

	if (!err)
		topology_refresh();
	return err;
}

/** topology_refresh - look at the machine again. Under the control mutex. */
void topology_refresh(void)
{
	bool forced = !nodes_empty(forced_fast);
	int nid;

	for_each_node(nid) {
		bool memory = node_state(nid, N_MEMORY), fast, slow;

		fast = forced ? node_isset(nid, forced_fast) : ksym(node_is_toptier)(nid);
		slow = forced ? node_isset(nid, forced_slow) : !fast;
		if (memory && fast)
			node_set(nid, fast_nodes);
		else
			node_clear(nid, fast_nodes);
		if (memory && slow)
			node_set(nid, slow_nodes);
		else
			node_clear(nid, slow_nodes);
	}
}

/** topology_is_slow - is @nid a slow node? Any context. */
bool topology_is_slow(int nid)
{
	return nid >= 0 && nid < MAX_NUMNODES && node_isset(nid, slow_nodes);
}

/** topology_is_fast - is @nid a fast node, that is, a possible target? Any context. */
bool topology_is_fast(int nid)
{
	return nid >= 0 && nid < MAX_NUMNODES && node_isset(nid, fast_nodes);
}

const nodemask_t *topology_fast(void)
{
	return &fast_nodes;
}

const nodemask_t *topology_slow(void)
{
	return &slow_nodes;
}
