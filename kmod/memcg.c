// SPDX-License-Identifier: GPL-2.0-only
#include <linux/cgroup.h>
#include <linux/hashtable.h>
#include <linux/memcontrol.h>
#include <linux/memory_hotplug.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/nsproxy.h>
#include <linux/sched/task.h>
#include <linux/slab.h>

#include "clock.h"
#include "control.h"
#include "engine/bucket.h"
#include "fault.h"
#include "memcg.h"
#include "stat.h"

enum {
	MEMCG_HASH_BITS = 7,
	/* Least time between two searches for dead rows, when the table is full and when it is read. */
	MEMCG_LOOK_MS = 1000,
	MEMCG_READ_MS = 100,
};

/**
 * struct memcg_row
 * @node: in the table
 * @parent: row of the nearest ancestor that has one; NULL: this is the root's
 * @sum: what is shown
 * @users: pages on the move that point here
 * @dead: the cgroup is gone; valid while dead rows are dropped
 * @wants: it had pages for the rate limit of late, and @share is in use
 * @wanted_ms: when it had one last
 * @share: its part of the rate limit
 * @budget: tokens of what @sum.budget says, if it says something
 */
struct memcg_row {
	struct hlist_node node;
	struct memcg_row *parent;
	struct memcg_sum sum;
	unsigned int users;
	bool dead;
	bool wants;
	u64 wanted_ms;
	struct bucket share;
	struct bucket budget;
};

static DEFINE_MUTEX(memcg_mutex); /* protects all below */
static DEFINE_HASHTABLE(rows, MEMCG_HASH_BITS);
static struct memcg_row root;
static unsigned int nr_rows;	/* but the root's */
static unsigned int nr_settings;	/* rows with a budget or an opt-out */
static unsigned int nr_budgets;
static unsigned int nr_wanting;
static u64 looked_ms;		/* when dead rows were last dropped */

/* ---- the table ---- */

static struct memcg_row *row_find(u64 id)
{
	struct memcg_row *row;

	hash_for_each_possible(rows, row, node, id)
		if (row->sum.id == id)
			return row;
	return NULL;
}

static void row_init(struct memcg_row *row, u64 id, struct memcg_row *parent)
{
	row->sum = (struct memcg_sum){ .id = id, .budget = MEMCG_NO_BUDGET };
	row->parent = parent;
	hash_add(rows, &row->node, id);
}

/*
 * Is there still a cgroup of this ID? To a reader in a cgroup namespace the answer is about what it
 * may see, so only the initial namespace is asked.
 */
static bool is_gone(u64 id)
{
	struct cgroup *cgrp = cgroup_get_from_id(id);

	if (!IS_ERR(cgrp)) {
		cgroup_put(cgrp);
		return false;
	}
	return PTR_ERR(cgrp) == -ENOENT;
}

static bool in_initial_namespace(void)
{
	return current->nsproxy && current->nsproxy->cgroup_ns == init_task.nsproxy->cgroup_ns;
}

static void count_settings(void)
{
	struct memcg_row *row;
	unsigned int at;

	nr_settings = nr_budgets = 0;
	hash_for_each(rows, at, row, node) {
		nr_settings += row->sum.optout || row->sum.budget != MEMCG_NO_BUDGET;
		nr_budgets += row->sum.budget != MEMCG_NO_BUDGET;
	}
}

/* What a cgroup did is its parent's when it has gone, so the sum over all rows stays true. */
static void row_drop(struct memcg_row *row)
{
	row->parent->sum.promoted += row->sum.promoted;
	row->parent->sum.refused += row->sum.refused;
	row->parent->sum.ns += row->sum.ns;
	nr_wanting -= row->wants;
	nr_rows--;
	hash_del(&row->node);
	kfree(row);
}

/* A row in use stays until the next time, and its ancestor may go before it. */
static void drop_dead(void)
{
	struct hlist_node *next;
	struct memcg_row *row;
	unsigned int at;

	hash_for_each(rows, at, row, node)
		row->dead = row != &root && !row->users && is_gone(row->sum.id);
	hash_for_each(rows, at, row, node)
		while (row->parent && row->parent->dead)
			row->parent = row->parent->parent;
	hash_for_each_safe(rows, at, next, row, node)
		if (row->dead)
			row_drop(row);
	count_settings();
}

/*
 * Drop dead rows, but not more often than every @least_ms: each row is a question to the kernel, with the
 * mutex held that the movers want.
 */
static void drop_dead_sometimes(u64 least_ms)
{
	u64 now = now_ms();

	if (!in_initial_namespace() || (looked_ms && now - looked_ms < least_ms))
		return;
	looked_ms = now;
	drop_dead();
}

static void make_room(void)
{
	if (nr_rows >= MEMCG_MAX_ROWS)
		drop_dead_sometimes(MEMCG_LOOK_MS);
}

/* The row of a cgroup that is held; where there is no room or no memory for it, an ancestor's. */
static struct memcg_row *row_of(struct cgroup *cgrp)
{
	struct memcg_row *row = &root, *child;
	int level;

	/* Not in the loop: @row must not be one of those that are dropped. */
	if (!row_find(cgroup_id(cgrp)))
		make_room();
	for (level = 1; level <= cgrp->level; level++) {
		u64 id = cgroup_id(cgrp->ancestors[level]);

		child = row_find(id);
		if (!child && nr_rows < MEMCG_MAX_ROWS && !fault_point())
			child = kzalloc(sizeof(*child), GFP_KERNEL | __GFP_NOWARN);
		if (!child) {
			stat_inc(STAT_pghot_memcg_rows_missed);
			return row;
		}
		if (!child->sum.id) {
			row_init(child, id, row);
			nr_rows++;
		}
		row = child;
	}
	return row;
}

/** memcg_on_v2 - is memory charged to cgroups of the default hierarchy? */
bool memcg_on_v2(void)
{
#ifdef CONFIG_MEMCG
	return !mem_cgroup_disabled() && cgroup_subsys_on_dfl(memory_cgrp_subsys);
#else
	return false;
#endif
}

/** memcg_has_controller - is anything charged to this cgroup, and not to one above? */
bool memcg_has_controller(struct cgroup *cgrp)
{
#ifdef CONFIG_MEMCG
	return rcu_access_pointer(cgrp->subsys[memory_cgrp_id]);
#else
	return false;
#endif
}

/*
 * The cgroup that a page is charged to; of those that are gone, the nearest ancestor that is not.
 * NULL: the root, which stands for all where the memory controller is off or not on cgroup v2. Under
 * RCU, which keeps the cgroup of a page alive, and with it its ancestors.
 */
static struct cgroup *cgroup_of(struct folio *folio)
{
#ifdef CONFIG_MEMCG
	struct mem_cgroup *memcg;
	struct cgroup *cgrp;

	if (!memcg_on_v2())
		return NULL;
	memcg = folio_memcg_rcu(folio);
	cgrp = memcg ? memcg->css.cgroup : NULL;
	while (cgrp && !(READ_ONCE(cgrp->self.flags) & CSS_ONLINE))
		cgrp = cgroup_parent(cgrp);
	return cgrp;
#else
	return NULL;
#endif
}

static struct memcg_row *find_or_add(struct folio *folio)
{
	struct memcg_row *row = &root;
	struct cgroup *cgrp;

	rcu_read_lock();
	cgrp = cgroup_of(folio);
	if (cgrp)
		row = row_find(cgroup_id(cgrp));
	if (row || !cgroup_tryget(cgrp))
		cgrp = NULL;
	rcu_read_unlock();
	if (!cgrp)
		return row ?: &root;
	row = row_of(cgrp);
	cgroup_put(cgrp);
	return row;
}

/* ---- limits ---- */

/* The depth of buckets: pages that wait come back once a quarter window, and find what has gathered. */
static u32 depth_ms(void)
{
	return max_t(u32, BUCKET_DEPTH_MS, knob(promote_freq_window_ms) / PHI_WINDOW_EPOCHS);
}

/*
 * That of a target's bucket while it is shared: what is kept for others, and on top what comes in
 * until pages that wait are back. Bounded, for it makes the limit's bursts longer.
 */
static u32 shared_depth_ms(void)
{
	return min_t(u32, BUCKET_DEPTH_MS + knob(promote_freq_window_ms) / PHI_WINDOW_EPOCHS,
		     2 * BUCKET_DEPTH_MS);
}

static u64 share_rate(void)
{
	u64 rate = (u64)knob(promote_rate_limit_MBps) << (20 - PAGE_SHIFT);

	return rate ? max_t(u64, rate / max(nr_wanting, 1U), 1) : 0;
}

static void note_want(struct memcg_row *row)
{
	row->wanted_ms = now_ms();
	if (row->wants)
		return;
	row->wants = true;
	nr_wanting++;
	bucket_init(&row->share, share_rate(), row->wanted_ms);
	bucket_set_depth(&row->share, depth_ms());
}

/* What somebody set for the cgroup or one above it. */
static enum refusal admit_settings(struct memcg_row *row)
{
	enum refusal why = ADMITTED;

	if (!nr_settings)
		return ADMITTED;
	for (; row; row = row->parent) {
		if (row->sum.optout)
			return REFUSED_memcg_optout;
		if (row->sum.budget != MEMCG_NO_BUDGET && !bucket_available(&row->budget, now_ms()))
			why = REFUSED_memcg_budget;
	}
	return why;
}

/**
 * memcg_admit - whose is a page, and do they let it go now?
 * @folio: held, and on an LRU list not long ago: others have other things where the cgroup is noted
 * @c: the page; its row is filled in
 * @why: what the other rules say: if not ADMITTED, the cgroup is not asked
 *
 * Takes no tokens yet. Returns ADMITTED, or which rule or limit says no.
 */
enum refusal memcg_admit(struct folio *folio, struct candidate *c, enum refusal why)
{
	struct memcg_row *row;

	mutex_lock(&memcg_mutex);
	row = find_or_add(folio);
	row->users++;
	if (why == ADMITTED)
		why = admit_settings(row);
	if (why == ADMITTED && !c->exempt) {
		note_want(row);
		if (nr_wanting > 1 && !c->surplus && !bucket_available(&row->share, row->wanted_ms))
			why = REFUSED_memcg_share;
	}
	mutex_unlock(&memcg_mutex);
	c->memcg = row;
	return why;
}

/** memcg_refused - @pages pages do not move; gives the row back, which may be NULL */
void memcg_refused(struct memcg_row *row, unsigned int pages)
{
	if (!row)
		return;
	mutex_lock(&memcg_mutex);
	row->sum.refused += pages;
	row->users--;
	mutex_unlock(&memcg_mutex);
}

/**
 * memcg_take - take tokens for pages that will be tried
 * @row: of the cgroup
 * @pages: how many
 * @exempt: the rate limit does not apply
 *
 * A large folio may take more than there is. Who moves on what others left over does not pay.
 *
 * Returns whether the share was charged; memcg_settled() wants to know.
 */
bool memcg_take(struct memcg_row *row, unsigned int pages, bool exempt)
{
	struct memcg_row *up;
	bool shared;

	mutex_lock(&memcg_mutex);
	for (up = nr_budgets ? row : NULL; up; up = up->parent)
		if (up->sum.budget != MEMCG_NO_BUDGET)
			bucket_take(&up->budget, pages);
	shared = !exempt && row->wants && bucket_available(&row->share, now_ms());
	if (shared)
		bucket_take(&row->share, pages);
	mutex_unlock(&memcg_mutex);
	return shared;
}

/**
 * memcg_settled - pages were tried; gives the row back
 * @row: of the cgroup
 * @pages: those that tokens were taken for
 * @promoted: of these, how many reached the target
 * @shared: what memcg_take() returned
 * @ns: CPU time spent moving them, in nanoseconds
 */
void memcg_settled(struct memcg_row *row, unsigned int pages, unsigned int promoted, bool shared,
		   u64 ns)
{
	unsigned int rest = pages - min(pages, promoted);
	struct memcg_row *up;

	mutex_lock(&memcg_mutex);
	row->sum.promoted += promoted;
	row->sum.refused += rest;
	row->sum.ns += ns;
	row->users--;
	for (up = nr_budgets ? row : NULL; up; up = up->parent)
		if (up->sum.budget != MEMCG_NO_BUDGET)
			bucket_refund(&up->budget, rest);
	if (shared && row->wants)
		bucket_refund(&row->share, rest);
	mutex_unlock(&memcg_mutex);
}

/**
 * memcg_tick - let the time pass that has passed; before each pass
 *
 * Who had no page for the rate limit for longer than pages wait gets no share any more.
 *
 * Returns which limits there are.
 */
struct memcg_limits memcg_tick(void)
{
	u64 now = now_ms(), patience = depth_ms() + 2 * knob(kmigrated_sleep_ms);
	struct memcg_row *row;
	unsigned int at;
	struct memcg_limits limits;

	mutex_lock(&memcg_mutex);
	hash_for_each(rows, at, row, node) {
		if (row->wants && now - row->wanted_ms > patience) {
			row->wants = false;
			nr_wanting--;
		}
		if (!nr_wanting)
			break;
	}
	hash_for_each(rows, at, row, node) {
		if (!nr_wanting && !nr_budgets)
			break;
		if (row->wants) {
			bucket_set_rate(&row->share, share_rate(), now);
			bucket_set_depth(&row->share, depth_ms());
		}
		if (row->sum.budget != MEMCG_NO_BUDGET)
			bucket_set_depth(&row->budget, depth_ms());
	}
	limits = (struct memcg_limits){
		.budgets = nr_budgets,
		.shares = nr_wanting > 1,
		.depth_ms = nr_wanting > 1 ? shared_depth_ms() : BUCKET_DEPTH_MS,
	};
	mutex_unlock(&memcg_mutex);
	return limits;
}

/* Whose page this is wants a share, unless its own settings keep it. */
static void page_waits(struct folio *folio)
{
	struct memcg_row *row;

	mutex_lock(&memcg_mutex);
	row = find_or_add(folio);
	if (admit_settings(row) == ADMITTED)
		note_want(row);
	mutex_unlock(&memcg_mutex);
}

/**
 * memcg_waits - some of the pages that wait for the rate limit
 * @pfns: page frames, of any pages
 * @n: how many
 *
 * A cgroup whose pages are never selected, because others have hotter ones, is known by these.
 */
void memcg_waits(const u64 *pfns, unsigned int n)
{
	struct folio *folio;
	struct page *page;
	unsigned int i;

	for (i = 0; i < n; i++) {
		page = pfn_to_online_page(pfns[i]);
		folio = page ? page_folio(page) : NULL;
		if (!folio || !folio_try_get(folio))
			continue;
		if (folio == page_folio(page) && folio_test_lru(folio))
			page_waits(folio);
		folio_put(folio);
	}
}

/* ---- reading and setting ---- */

/** memcg_read - all rows into @sums, which has room for @most; returns how many there are */
unsigned int memcg_read(struct memcg_sum *sums, unsigned int most)
{
	struct memcg_row *row;
	unsigned int at, n = 0;

	mutex_lock(&memcg_mutex);
	drop_dead_sometimes(MEMCG_READ_MS);
	hash_for_each(rows, at, row, node)
		if (n < most) {
			sums[n] = row->sum;
			sums[n++].parent = row->parent ? row->parent->sum.id : 0;
		}
	mutex_unlock(&memcg_mutex);
	return n;
}

/* The cgroup's own row, or NULL if there is no room or no memory for it. */
static struct memcg_row *own_row(struct cgroup *cgrp)
{
	struct memcg_row *row = row_of(cgrp);

	return row->sum.id == cgroup_id(cgrp) ? row : NULL;
}

static int why_no_row(void)
{
	return nr_rows < MEMCG_MAX_ROWS ? -ENOMEM : -ENOSPC;
}

/**
 * memcg_set_budget - limit what is promoted for a cgroup and all below it
 * @cgrp: of the default hierarchy, held
 * @pages_per_s: 0..BUCKET_MAX_RATE, or MEMCG_NO_BUDGET
 *
 * Returns 0; or without a row for it -ENOSPC if there is no room, -ENOMEM if there is no memory.
 */
int memcg_set_budget(struct cgroup *cgrp, u64 pages_per_s)
{
	struct memcg_row *row;
	int err;

	mutex_lock(&memcg_mutex);
	row = own_row(cgrp);
	if (row) {
		bucket_init(&row->budget, pages_per_s == MEMCG_NO_BUDGET ? 0 : pages_per_s, now_ms());
		row->sum.budget = pages_per_s;
		count_settings();
	}
	err = row ? 0 : why_no_row();
	mutex_unlock(&memcg_mutex);
	return err;
}

/** memcg_set_optout - shall pages of a cgroup and all below it stay? Returns as above. */
int memcg_set_optout(struct cgroup *cgrp, bool optout)
{
	struct memcg_row *row;
	int err;

	mutex_lock(&memcg_mutex);
	row = own_row(cgrp);
	if (row) {
		row->sum.optout = optout;
		count_settings();
	}
	err = row ? 0 : why_no_row();
	mutex_unlock(&memcg_mutex);
	return err;
}

/** memcg_init - make the table, with the root's row */
void memcg_init(void)
{
	row_init(&root, cgroup_id(&cgrp_dfl_root.cgrp), NULL);
}

/** memcg_exit - free the table; the file is gone and no page is on the move any more */
void memcg_exit(void)
{
	struct hlist_node *next;
	struct memcg_row *row;
	unsigned int at;

	hash_for_each_safe(rows, at, next, row, node) {
		hash_del(&row->node);
		if (row != &root)
			kfree(row);
	}
}
