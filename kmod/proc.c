// SPDX-License-Identifier: GPL-2.0-only
#include <linux/proc_fs.h>
#include <linux/seq_file.h>

#include "control.h"
#include "fault.h"
#include "host.h"
#include "kmigrated.h"
#include "memcg.h"
#include "optout.h"
#include "proc.h"
#include "source.h"
#include "stat.h"
#include "topology.h"

static struct proc_dir_entry *dir;

struct gauges {
#define GAUGE_FIELD(name, help) unsigned long name;
	PGHOT_GAUGES(GAUGE_FIELD)
};

static struct gauges read_gauges(void)
{
	struct gauges g = { .pghot_batch_us_max = kmigrated_batch_us_max() };
	const struct governor *gov;
	struct host_set *set;
	unsigned int i;

	mutex_lock(&control_mutex);
	set = host_set();
	for (i = 0; set && i < set->nr; i++) {
		g.pghot_slow_nodes++;
		g.pghot_tracked_pages += set->nodes[i]->tracked_pages;
		g.pghot_hotmap_bytes += set->nodes[i]->hotmap_bytes;
		g.pghot_ready_pages += READ_ONCE(set->nodes[i]->ready_pages);
		gov = &set->nodes[i]->engine.gov;
		g.pghot_resting_nodes += READ_ONCE(gov->state) == GOVERNOR_RESTS;
		g.pghot_sparing_nodes += READ_ONCE(gov->warm_rests);
		g.pghot_tested_candidates += READ_ONCE(gov->candidates.tested);
		g.pghot_tested_candidates_heat += READ_ONCE(gov->candidates.shown);
		g.pghot_tested_victims += READ_ONCE(gov->victims.tested);
		g.pghot_tested_victims_heat += READ_ONCE(gov->victims.shown);
	}
	mutex_unlock(&control_mutex);
	return g;
}

static int stat_show(struct seq_file *m, void *v)
{
	struct gauges g = read_gauges();
	int i;

	for (i = 0; i < NR_PGHOT_STATS; i++)
		seq_printf(m, "%s %lu\n", stat_name(i), stat_sum(i));
#define SUM_ADD(name, help) + stat_sum(STAT_##name)
#define SUM_SHOW(name, list, help) seq_printf(m, #name " %lu\n", 0UL list(SUM_ADD));
	PGHOT_SUMS(SUM_SHOW)
#define GAUGE_SHOW(name, help) seq_printf(m, #name " %lu\n", g.name);
	PGHOT_GAUGES(GAUGE_SHOW)
	mutex_lock(&control_mutex);
	source_show(m);
	mutex_unlock(&control_mutex);
	return 0;
}

static int nodes_show(struct seq_file *m, void *v)
{
	struct slow_node *node;
	struct host_set *set;
	unsigned int i, t;
	int nid;

	mutex_lock(&control_mutex);
	for_each_node_mask(nid, *topology_fast())
		seq_printf(m, "node %d tier fast\n", nid);
	set = host_set();
	for_each_node_mask(nid, *topology_slow()) {
		seq_printf(m, "node %d tier slow", nid);
		for (i = 0; set && i < set->nr; i++) {
			node = set->nodes[i];
			if (node->nid != nid)
				continue;
			mutex_lock(&node->lock);
			seq_printf(m, " tracked_pages %lu hotmap_bytes %lu ready_pages %lu targets ",
				   node->tracked_pages, node->hotmap_bytes, node->ready_pages);
			for (t = 0; t < node->nr_targets; t++)
				seq_printf(m, "%s%d", t ? "," : "", node->target_nids[t]);
			if (!node->nr_targets)
				seq_puts(m, "none");
			mutex_unlock(&node->lock);
		}
		seq_putc(m, '\n');
	}
	mutex_unlock(&control_mutex);
	return 0;
}

/** pghot_proc_init - make /proc/pghot; 0 or -ENOMEM with nothing left behind */
int pghot_proc_init(void)
{
	memcg_init();
	dir = fault_point() ? NULL : proc_mkdir("pghot", NULL);
	if (dir && !fault_point() && proc_create_single("stat", 0444, dir, stat_show) &&
	    proc_create_single("nodes", 0444, dir, nodes_show) && optout_proc_init(dir) &&
	    memcg_proc_init(dir))
		return 0;
	pghot_proc_exit();
	return -ENOMEM;
}

void pghot_proc_exit(void)
{
	proc_remove(dir);
	optout_exit();
	memcg_exit();
}
