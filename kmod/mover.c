// SPDX-License-Identifier: GPL-2.0-only
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/migrate.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/vmstat.h>

#include "admit.h"
#include "compat/vmstat.h"
#include "control.h"
#include "fault.h"
#include "host.h"
#include "huge.h"
#include "ksym.h"
#include "memcg.h"
#include "mover.h"
#include "stat.h"
#include "target.h"
#include "trace.h"

/**
 * struct entry - one folio on the move
 * @pfn: its first page, while it was on the slow node
 * @nr: its pages
 * @landed: pages of it that have a new place on the target
 * @strayed: pages of it that have a new place elsewhere
 * @left: pages of it that migrate_pages() gave back
 * @exempt: the rate limit does not apply
 * @shared: its cgroup's share of the rate limit was charged
 * @unplaced: the target had no free range of its size
 * @memcg: row of the cgroup that it is charged to
 */
struct entry {
	unsigned long pfn;
	unsigned int nr;
	unsigned int landed;
	unsigned int strayed;
	unsigned int left;
	bool exempt;
	bool shared;
	bool unplaced;
	struct memcg_row *memcg;
};

/**
 * struct batch - pages on the move to one node
 * @target: the node
 * @full: it had no page for one of them
 * @unplaced: the last large folio for which it had no free range, or NULL
 * @ns: CPU time spent moving them, in nanoseconds
 * @pages: pages of all entries
 * @nr: entries in use
 * @entries: sorted by @pfn, without overlap
 */
struct batch {
	int target;
	bool full;
	struct folio *unplaced;
	u64 ns;
	unsigned long pages;
	unsigned int nr;
	struct entry entries[BATCH_MAX];
};

struct batch *batch_alloc(void)
{
	return fault_point() ? NULL : kvzalloc(sizeof(struct batch), GFP_KERNEL | __GFP_NOWARN);
}

void batch_free(struct batch *batch)
{
	kvfree(batch);
}

/* The entry that a page belongs to, or NULL. */
static struct entry *batch_find(struct batch *batch, unsigned long pfn)
{
	unsigned int low = 0, high = batch->nr, mid;

	while (low < high) {
		mid = (low + high) / 2;
		if (pfn >= batch->entries[mid].pfn + batch->entries[mid].nr)
			low = mid + 1;
		else
			high = mid;
	}
	if (low < batch->nr && pfn >= batch->entries[low].pfn)
		return &batch->entries[low];
	return NULL;
}

/* Count a new place for a folio of @e, or its loss. */
static void count_place(const struct batch *batch, struct entry *e, struct folio *dst, bool gained)
{
	unsigned int *places = folio_nid(dst) == batch->target ? &e->landed : &e->strayed;

	*places += gained ? folio_nr_pages(dst) : -folio_nr_pages(dst);
}

/*
 * migrate_pages() wants a new place: on the target and nowhere else, and without reclaim, which is
 * for kswapd, woken by kmigrated. The number of the entry waits in dst->index, which nobody uses
 * until the page has moved, for put_place().
 */
static struct folio *get_place(struct folio *src, unsigned long private)
{
	struct batch *batch = (struct batch *)private;
	struct entry *e = batch_find(batch, folio_pfn(src));
	gfp_t gfp = __GFP_THISNODE | __GFP_NOMEMALLOC | __GFP_NORETRY | __GFP_NOWARN;
	unsigned int order = folio_order(src);
	struct folio *dst = NULL;

	gfp |= (order ? GFP_TRANSHUGE_LIGHT : GFP_HIGHUSER_MOVABLE) & ~__GFP_RECLAIM;
	if (e && !fault_point())
		dst = __folio_alloc(gfp, order, batch->target, NULL);
	if (!dst) {
		if (order)
			batch->unplaced = src;
		else
			batch->full = true;
		return NULL;
	}
	dst->index = e - batch->entries;
	count_place(batch, e, dst, true);
	return dst;
}

/* migrate_pages() did not use the place. */
static void put_place(struct folio *dst, unsigned long private)
{
	struct batch *batch = (struct batch *)private;

	count_place(batch, &batch->entries[dst->index], dst, false);
	folio_put(dst);
}

static void batch_settle(struct slow_node *node, unsigned long pfn, unsigned long nr,
			 enum hotmap_settled how)
{
	mutex_lock(&node->lock);
	engine_settle(&node->engine, pfn, nr, how);
	mutex_unlock(&node->lock);
}

static void batch_refuse(struct slow_node *node, unsigned long pfn, unsigned long nr,
			 enum refusal why)
{
	refusal_count(why, pfn, nr);
	batch_settle(node, pfn, nr, refusal_settled(why));
}

/*
 * Take up the picks that may move, about @most pages: fill the entries, put their folios on
 * @folios. A pick that lies in a folio already taken or refused is part of that. The selector counts
 * pages one by one, but a large folio moves whole: so room and rate limit are looked at again here.
 */
static void batch_gather(struct slow_node *node, struct batch *batch,
			 const struct select_pick *picks, unsigned int n, unsigned int most,
			 bool take_all, struct list_head *folios, struct batch_result *res)
{
	unsigned long room = target_room(batch->target), tokens = target_tokens(batch->target);
	unsigned long half = target_rate(batch->target) / 2; /* of a second's tokens */
	u32 top = phi_top(node->engine.map.layout);
	struct candidate c = {
		.target = batch->target,
		.threshold = take_all ? 1 : knob(freq_threshold),
	};
	unsigned long refused_to = 0;
	unsigned int i;
	enum refusal why;

	batch->nr = 0;
	batch->pages = 0;
	for (i = 0; i < n; i++) {
		bool exempt = take_all || picks[i].heat == top;
		unsigned int nr;

		if (picks[i].pfn < refused_to || batch_find(batch, picks[i].pfn))
			continue;
		if (res->selected >= most)
			break;
		if (!room) {
			res->full = true;
			break;
		}
		if (!exempt && !tokens) {
			res->limited = true;
			continue;
		}
		c.pfn = picks[i].pfn;
		c.exempt = exempt;
		c.surplus = tokens > half;
		why = admit(node, &c);
		if (why == ADMITTED) {
			nr = folio_nr_pages(c.folio);
			batch->entries[batch->nr++] = (struct entry){
				.pfn = folio_pfn(c.folio),
				.nr = nr,
				.exempt = exempt,
				.shared = memcg_take(c.memcg, nr, exempt),
				.memcg = c.memcg,
			};
			batch->pages += nr;
			list_add_tail(&c.folio->lru, folios);
			room -= min_t(unsigned long, room, nr);
			if (!exempt)
				tokens -= min_t(unsigned long, tokens, nr);
		} else {
			nr = c.nr;
			refused_to = c.first + nr;
			batch_refuse(node, c.first, nr, why);
			memcg_refused(c.memcg, nr);
			if (refusal_settled(why) == HOTMAP_WAIT)
				res->waiting += nr;
		}
		res->selected += nr;
		stat_add(exempt ? STAT_pghot_candidates_nrl : STAT_pghot_candidates, nr);
		count_candidates(batch->target, nr, exempt);
	}
	res->taken = i;
	res->tried = batch->pages;
}

static unsigned int limited_pages(const struct batch *batch)
{
	unsigned int i, sum = 0;

	for (i = 0; i < batch->nr; i++)
		sum += batch->entries[i].exempt ? 0 : batch->entries[i].nr;
	return sum;
}

/* What migrate_pages() gave back is noted in its entries and goes back to the LRU. */
static void batch_put_back(struct batch *batch, struct list_head *folios)
{
	struct folio *folio;
	struct entry *e;

	list_for_each_entry(folio, folios, lru) {
		e = batch_find(batch, folio_pfn(folio));
		if (e)
			e->left += folio_nr_pages(folio);
	}
	if (!list_empty(folios))
		ksym(putback_movable_pages)(folios);
}

static enum refusal why_left(const struct batch *batch, const struct entry *e)
{
	if (e->unplaced)
		return REFUSED_fragmented;
	return batch->full ? REFUSED_target_full : REFUSED_busy;
}

/*
 * Settle one entry by where its pages are. Of a folio that was split on the way and went in part, all
 * records are kept: which pages are left is not known, and those of the others are found free later.
 * Returns the pages on the target.
 */
static unsigned int settle_entry(struct slow_node *node, const struct batch *batch,
				 const struct entry *e)
{
	unsigned int placed = e->landed + e->strayed, rest = e->nr - min(e->nr, placed);
	unsigned int left = min(e->left, rest);
	enum refusal why = why_left(batch, e);

	if (e->strayed)
		refusal_count(REFUSED_wrong_node, e->pfn, e->strayed);
	if (left)
		refusal_count(why, e->pfn, left);
	if (rest > left)
		refusal_count(REFUSED_free, e->pfn, rest - left);
	batch_settle(node, e->pfn, e->nr, left ? refusal_settled(why) : HOTMAP_MOVED);
	memcg_settled(e->memcg, e->nr, e->landed, e->shared,
		      div_u64(batch->ns * e->nr, batch->pages));
	return e->landed;
}

/*
 * migrate_pages() gives up on all when one finds no place. A large folio that finds no free range
 * says nothing about smaller ones: put it back, and those of its size and above. If that is allowed
 * they are split first; their pages are tried as any others, those that are hot. Returns whether
 * others are left to try.
 */
static bool batch_set_aside(struct batch *batch, struct list_head *folios)
{
	struct folio *folio, *next;
	unsigned int order;
	struct entry *e;
	LIST_HEAD(aside);

	if (!batch->unplaced)
		return false;
	order = folio_order(batch->unplaced);
	list_for_each_entry_safe(folio, next, folios, lru) {
		if (folio_order(folio) < order)
			continue;
		e = batch_find(batch, folio_pfn(folio));
		if (e)
			e->unplaced = true;
		if (!huge_may_split(folio) || !huge_split_isolated(folio, &aside))
			list_move(&folio->lru, &aside);
	}
	batch->unplaced = NULL;
	if (list_empty(&aside))
		return false;
	batch_put_back(batch, &aside);
	return !list_empty(folios);
}

static void batch_migrate(struct batch *batch, struct list_head *folios, struct batch_result *res)
{
	u64 cpu = ksym(task_sched_runtime)(current);
	ktime_t start = ktime_get();

	batch->full = false;
	batch->unplaced = NULL;
	do {
		ksym(migrate_pages)(folios, get_place, put_place, (unsigned long)batch,
				    MIGRATE_ASYNC, MR_NUMA_MISPLACED, NULL);
		stat_inc(STAT_pghot_batches);
	} while (batch_set_aside(batch, folios));
	res->us = ktime_us_delta(ktime_get(), start);
	res->full |= batch->full;
	stat_add(STAT_pghot_batch_us, res->us);
	batch_put_back(batch, folios);
	batch->ns = ksym(task_sched_runtime)(current) - cpu;
}

/**
 * batch_move - move picked pages to one target, as many as may move and fit
 * @node: where they are
 * @target: fast node
 * @picks: the pages, sorted
 * @n: how many
 * @most: pages at which to stop, 1..BATCH_MAX; the last folio may exceed it
 * @take_all: the rate limit does not apply to any of them
 * @res: what came of it
 *
 * The first @res->taken picks are dealt with when it returns: settled, or left ready if the rate
 * limit allows no more. Tokens are taken for the pages tried, and given back for those that did not
 * move.
 */
void batch_move(struct slow_node *node, int target, const struct select_pick *picks,
		unsigned int n, unsigned int most, bool take_all, struct batch_result *res)
{
	struct batch *batch = node->batch;
	unsigned int i, here, taken, paid = 0;
	ktime_t start = ktime_get();
	LIST_HEAD(folios);

	*res = (struct batch_result){ 0 };
	batch->target = target;
	batch_gather(node, batch, picks, n, most, take_all, &folios, res);
	stat_add(STAT_pghot_admit_us, ktime_us_delta(ktime_get(), start));
	stat_add(STAT_pghot_selected, res->selected);
	taken = limited_pages(batch);
	target_take(target, taken);
	if (!list_empty(&folios))
		batch_migrate(batch, &folios, res);
	for (i = 0; i < batch->nr; i++) {
		here = settle_entry(node, batch, &batch->entries[i]);
		res->moved += here;
		paid += batch->entries[i].exempt ? 0 : here;
	}
	target_refund(target, taken - paid);
	stat_add(STAT_pghot_moved, res->moved);
	count_promoted(target, res->moved);
	trace_pghot_batch(node->nid, target, res->selected, res->moved, res->us);
}
