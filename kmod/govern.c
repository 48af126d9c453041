// SPDX-License-Identifier: GPL-2.0-only
/*
 * govern - what the governor of each slow node sees and says
 *
 * That pages come down from a fast node is seen at folio_migrate_flags(), which every migration goes
 * through, whoever asked for it. A page that arrives has no heat: what its page frame had was of
 * another page, so that is forgotten, and some of those that arrive are put to the test.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/atomic.h>
#include <linux/bits.h>
#include <linux/mm.h>
#include <linux/printk.h>
#include <linux/rcupdate.h>

#include "admit.h"
#include "control.h"
#include "govern.h"
#include "hook.h"
#include "host.h"
#include "pghot/sources.h"
#include "stat.h"
#include "topology.h"
#include "trace.h"

static bool hooked;

static void notrace on_arrival(struct folio *src, struct folio *dst)
{
	unsigned long pfn = folio_pfn(dst), nr = folio_nr_pages(dst);
	struct slow_node *node;
	unsigned int at;

	rcu_read_lock();
	node = host_find(host_set(), pfn);
	if (node && topology_is_fast(folio_nid(src))) {
		engine_settle(&node->engine, pfn, nr, HOTMAP_GONE);
		atomic_long_add(nr, &node->arrived);
		stat_add(STAT_pghot_arrived, nr);
		/* One record is not the heat of a large folio. */
		at = nr == 1 ? atomic_inc_return(&node->nr_arrivals) - 1 : GOVERNOR_AN_EPOCH;
		if (at < GOVERNOR_AN_EPOCH)
			WRITE_ONCE(node->arrivals[at], pfn);
	}
	rcu_read_unlock();
}

/* Arguments of folio_migrate_flags(newfolio, folio). Both are locked. */
static void notrace on_migrate(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
			       struct ftrace_regs *fregs)
{
	struct folio *dst = (struct folio *)ftrace_regs_get_argument(fregs, 0);
	struct folio *src = (struct folio *)ftrace_regs_get_argument(fregs, 1);

	if (folio_nid(dst) != folio_nid(src))
		on_arrival(src, dst);
}

static struct hook migrate_hook = {
	.function = "folio_migrate_flags",
	.handler = on_migrate,
	.flags = FTRACE_OPS_FL_RECURSION,
};

/**
 * govern_apply - see pages arrive, or not, as the knob says and while slow nodes are watched
 *
 * Under the control mutex. Returns 0, or the error of hook_add() after a line in the log; then it is as
 * before.
 */
int govern_apply(void)
{
	bool want = knob(governor) && host_set();
	int err = 0;

	if (want && !hooked)
		err = hook_add(&migrate_hook);
	else if (!want && hooked)
		hook_remove(&migrate_hook);
	if (err)
		pr_err("pages that are demoted cannot be seen, which vm.pghot_governor=1 needs: mend that, or set it to 0\n");
	else
		hooked = want;
	return err;
}

/*
 * Does the governor have a say? Not where the only source are hint faults: within half a window they look again at few of the pages
 * that are in use.
 */
static bool active(void)
{
	return knob(governor) && knob(enabled_sources) & ~BIT(PGHOT_SRC_HINTFAULTS);
}

/* Put some of the pages that arrived to the test. What is written late is of the next time, or lost. */
static void take_arrivals(struct slow_node *node)
{
	struct governor *gov = &node->engine.gov;
	u32 n = min_t(u32, atomic_read(&node->nr_arrivals), GOVERNOR_AN_EPOCH), i;

	for (i = 0; i < n; i++)
		governor_watch(&gov->victims, &node->engine.map, READ_ONCE(node->arrivals[i]), false);
	atomic_set(&node->nr_arrivals, 0);
	governor_arrived(gov, atomic_long_xchg(&node->arrived, 0));
}

/** govern_step - time may have passed. Under @node->lock, after the tick. */
void govern_step(struct slow_node *node)
{
	static const enum pghot_stat counts[] = {
		[GOVERNOR_OPEN] = STAT_pghot_governor_opens,
		[GOVERNOR_PAYS] = STAT_pghot_governor_resumes,
		[GOVERNOR_RESTS] = STAT_pghot_governor_rests,
		[GOVERNOR_PROBES] = STAT_pghot_governor_probes,
	};
	struct governor *gov = &node->engine.gov;
	enum governor_state before = gov->state;
	u64 fast_pages = 0;
	unsigned int i;

	take_arrivals(node);
	if (!active()) {
		governor_init(gov, node->engine.map.epoch);
		return;
	}
	for (i = 0; i < node->nr_targets; i++)
		fast_pages += node_present_pages(node->target_nids[i]);
	governor_set_size(gov, fast_pages);
	if (!governor_step(gov, &node->engine.map))
		return;
	if (gov->state != before)
		stat_inc(counts[gov->state]);
	trace_pghot_governor(node->nid, gov);
}

/**
 * govern_select - of pages chosen for a target, put some to the test, and leave out what may not move
 * @node: where they are; under its lock
 * @picks: chosen pages; become those that may move
 * @count: how many
 * @target: where they shall go
 * @room: pages that it has room for
 * @spared: set to true if pages were left out as only warm
 *
 * Returns how many are left.
 */
u32 govern_select(struct slow_node *node, struct select_pick *picks, u32 count,
		  const struct select_target *target, u64 room, bool *spared)
{
	struct governor *gov = &node->engine.gov;
	u32 top = phi_top(node->engine.map.layout), left = 0, tested = 0, wants, step, i;
	bool spares = governor_spares(gov, room), warm;
	u64 allowed = governor_allows(gov, room);

	if (!active())
		return count;
	wants = min(governor_wants(gov, target->ready, room), count);
	step = wants ? count / wants : count;
	for (i = 0; i < count; i++) {
		warm = governor_warm(picks[i].heat, node->engine.map.threshold, node->engine.map.layout);
		if (picks[i].heat == top) {
			picks[left++] = picks[i];
		} else if (tested < wants && i % step == 0 &&
			   governor_watch(&gov->candidates, &node->engine.map, picks[i].pfn, warm)) {
			tested++;
			refusal_count(REFUSED_trial, picks[i].pfn, 1);
		} else if (warm && spares) {
			*spared = true;
		} else if (allowed) {
			picks[left++] = picks[i];
			allowed--;
		}
	}
	stat_add(STAT_pghot_selected, tested);
	stat_add(STAT_pghot_candidates, tested);
	return left;
}

/** govern_moved - tell it of pages that moved up */
void govern_moved(struct slow_node *node, u64 pages)
{
	mutex_lock(&node->lock);
	governor_moved(&node->engine.gov, pages);
	mutex_unlock(&node->lock);
}

/** govern_all_rest - are all slow nodes at rest? Under the control mutex. */
bool govern_all_rest(void)
{
	struct host_set *set = host_set();
	unsigned int i;

	if (!set || !set->nr)
		return false;
	for (i = 0; i < set->nr; i++)
		if (READ_ONCE(set->nodes[i]->engine.gov.state) != GOVERNOR_RESTS)
			return false;
	return true;
}
