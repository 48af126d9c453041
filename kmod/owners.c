// SPDX-License-Identifier: GPL-2.0-only
/*
 * owners - do those who have a page mapped let it go to a node?
 *
 * The owners are found through the reverse map, before the page is isolated: so a page that stays is
 * never taken off its LRU list, and none is unmapped for nothing. What an owner decides in the
 * milliseconds between this look and the move comes too late, as it does for the kernel's own
 * migration.
 *
 * Locks: the folio's lock (tried) keeps its mapping and makes the file side of the walk legal; the
 * walk's own rmap lock (tried) keeps the VMAs. A VMA's policy may be replaced under the mmap lock,
 * which is not held here: it is looked at under the VMA's lock (tried). A task's policy is looked at
 * under task_lock(), a task found through mm->owner under RCU. Nothing here waits for an owner.
 */
#include <linux/cpuset.h>
#include <linux/hugetlb.h>
#include <linux/mempolicy.h>
#include <linux/mm.h>
#include <linux/rmap.h>
#include <linux/sched/task.h>

#include "control.h"
#include "ksym.h"
#include "optout.h"
#include "owners.h"

/**
 * struct question - may this page go?
 * @from: node it is on
 * @target: node it shall go to
 * @seen: VMAs looked at
 * @why: the answer so far
 */
struct question {
	int from;
	int target;
	unsigned int seen;
	enum refusal why;
};

/*
 * Does a policy let a hot page go from @q->from to @q->target? As mpol_misplaced() sees it, with two
 * differences: a page may move within the nodes of a policy although MPOL_F_NUMA_BALANCING was not
 * asked for; and where the answer depends on the CPU that accesses the page, which nobody knows
 * here, it is yes.
 */
static bool policy_allows(const struct mempolicy *pol, const struct question *q)
{
	switch (pol->mode) {
	case MPOL_BIND:
	case MPOL_PREFERRED_MANY:
	case MPOL_PREFERRED:
		return node_isset(q->target, pol->nodes);
	case MPOL_INTERLEAVE:
	case MPOL_WEIGHTED_INTERLEAVE:
		/* Each page has its place among the nodes, and it is there. */
		return !node_isset(q->from, pol->nodes) && node_isset(q->target, pol->nodes);
	default:
		return true;
	}
}

/*
 * What the VMA's own policy says; *found: it has one. A file that can have policies keeps them
 * beside the VMA.
 */
static enum refusal ask_vma(struct vm_area_struct *vma, unsigned long addr,
			    const struct question *q, bool *found)
{
	bool keeps = vma->vm_ops && vma->vm_ops->get_policy;
	enum refusal why = ADMITTED;
	struct mempolicy *pol;
	pgoff_t ilx = 0;

	*found = false;
	if (!keeps && !READ_ONCE(vma->vm_policy))
		return ADMITTED;
	if (!vma_start_read(vma))
		return REFUSED_busy;
	pol = keeps ? vma->vm_ops->get_policy(vma, addr, &ilx) : vma->vm_policy;
	if (pol) {
		*found = true;
		if (!policy_allows(pol, q))
			why = REFUSED_policy;
		if (mpol_needs_cond_ref(pol))
			ksym(__mpol_put)(pol);
	}
	vma_end_read(vma);
	return why;
}

/* Under RCU. */
static enum refusal ask_task(struct task_struct *task, const struct question *q, bool vma_decides)
{
	bool allows = true;

	if (optout_has(task))
		return REFUSED_optout;
	if (!vma_decides && READ_ONCE(task->mempolicy)) {
		task_lock(task);
		if (task->mempolicy)
			allows = policy_allows(task->mempolicy, q);
		task_unlock(task);
	}
	if (!allows)
		return REFUSED_policy;
	/* One bit, which a change of the cpuset sets or clears at once. */
	if (!node_isset(q->target, task->mems_allowed))
		return REFUSED_cpuset;
	return ADMITTED;
}

static enum refusal ask_owner(struct vm_area_struct *vma, unsigned long addr,
			      const struct question *q)
{
	struct task_struct *task;
	enum refusal why;
	bool found;

	why = ask_vma(vma, addr, q, &found);
	if (why != ADMITTED)
		return why;
	rcu_read_lock();
	/* NULL: the process is about to end. */
	task = rcu_dereference(vma->vm_mm->owner);
	if (task)
		why = ask_task(task, q, found);
	rcu_read_unlock();
	return why;
}

/* The walk finds VMAs that may map the folio; after a fork many have pages of their own instead. */
static bool maps(struct folio *folio, struct vm_area_struct *vma, unsigned long addr)
{
	DEFINE_FOLIO_VMA_WALK(walk, folio, vma, addr, 0);

	if (!ksym(page_vma_mapped_walk)(&walk))
		return false;
	page_vma_mapped_walk_done(&walk);
	return true;
}

/* Called by rmap_walk(); returns whether to go on. */
static bool on_vma(struct folio *folio, struct vm_area_struct *vma, unsigned long addr, void *arg)
{
	struct question *q = arg;
	enum refusal why;

	if (++q->seen > OWNERS_MAX) {
		q->why = REFUSED_shared;
		return false;
	}
	why = ask_owner(vma, addr, q);
	if (why == ADMITTED || !maps(folio, vma, addr))
		return true;
	q->why = why;
	return false;
}

/* How many times the page is mapped, alone or with its folio. */
static unsigned int mappings(const struct folio *folio, const struct page *page)
{
	if (!folio_test_large(folio))
		return folio_mapcount(folio);
	return atomic_read(&page->_mapcount) + 1 + folio_entire_mapcount(folio);
}

/**
 * owners_admit - may a page go as far as its owners are concerned?
 * @folio: held by a reference, no hugetlb, not locked by the caller
 * @page: the page of it that was picked
 * @target: node it shall go to
 *
 * Asks the policy of the VMA or else of the process (that of its leading thread), the process's
 * cpuset and the list of those who opted out. Work: at most OWNERS_MAX VMAs. Process context.
 *
 * Returns ADMITTED or why not: REFUSED_shared, _ksm, _policy, _cpuset, _optout, or _busy if it
 * cannot be told now because somebody holds a lock.
 */
enum refusal owners_admit(struct folio *folio, struct page *page, int target)
{
	struct question q = { .from = folio_nid(folio), .target = target, .why = ADMITTED };
	struct rmap_walk_control walk = {
		.arg = &q,
		.try_lock = true,
		.rmap_one = on_vma,
		.anon_lock = static_call_query(ksym_folio_lock_anon_vma_read),
	};

	if (!folio_mapped(folio))
		return ADMITTED;
	if (mappings(folio, page) > knob(max_mappers))
		return REFUSED_shared;
	if (!folio_trylock(folio))
		return REFUSED_busy;
	if (folio_test_ksm(folio))
		q.why = REFUSED_ksm;
	else
		ksym(rmap_walk)(folio, &walk);
	folio_unlock(folio);
	return walk.contended ? REFUSED_busy : q.why;
}
