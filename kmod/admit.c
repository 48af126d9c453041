// SPDX-License-Identifier: GPL-2.0-only
#include <linux/hugetlb.h>
#include <linux/memory_hotplug.h>
#include <linux/mm.h>
#include <linux/mm_inline.h>
#include <linux/page-flags.h>
#include <linux/swap.h>

#include "admit.h"
#include "control.h"
#include "host.h"
#include "huge.h"
#include "ksym.h"
#include "memcg.h"
#include "owners.h"
#include "stat.h"
#include "trace.h"

#define REFUSAL_SETTLED(reason, settled, help) [REFUSED_##reason] = HOTMAP_##settled,
#define REFUSAL_STAT(reason, settled, help) [REFUSED_##reason] = STAT_pghot_refused_##reason,
#define REFUSAL_NAME(reason, settled, help) [REFUSED_##reason] = #reason,

/** refusal_settled - what the engine shall remember of a page refused for this reason */
enum hotmap_settled refusal_settled(enum refusal why)
{
	static const enum hotmap_settled settled[] = { PGHOT_REFUSALS(REFUSAL_SETTLED) };

	return settled[why];
}

/** refusal_count - count and trace @pages pages, from @pfn on, that do not move */
void refusal_count(enum refusal why, unsigned long pfn, unsigned long pages)
{
	static const enum pghot_stat stats[] = { PGHOT_REFUSALS(REFUSAL_STAT) };
	static const char * const names[] = { PGHOT_REFUSALS(REFUSAL_NAME) };

	stat_add(stats[why], pages);
	trace_pghot_refusal(pfn, pages, names[why]);
}

/* As the administrator says; the kernel's own default is that compaction may move them. */
static bool mlocked_may_move(void)
{
	int how = knob(mlocked);

	return how == 2 ? ksym_read(sysctl_compact_unevictable_allowed) : how;
}

/*
 * Does anybody beside its mappings, its cache and us hold a reference? Then migration would unmap
 * the folio, find that out and map it again, time after time.
 */
static bool has_other_references(const struct folio *folio)
{
	bool cached = folio_test_anon(folio) ? folio_test_swapcache(folio) : folio->mapping != NULL;
	int expected = 1 + folio_mapcount(folio) + folio_test_private(folio);

	return folio_ref_count(folio) > expected + (cached ? folio_nr_pages(folio) : 0);
}

/* The rules for a folio that is held by a reference of ours. */
static enum refusal admit_folio(struct folio *folio)
{
	if (folio_test_hugetlb(folio))
		return REFUSED_hugetlb;
	/* Slab, page table, balloon and the like, whose other fields mean other things. */
	if (page_has_type(&folio->page) || __folio_test_movable(folio))
		return REFUSED_kernel;
	if (folio_test_mlocked(folio) && !mlocked_may_move())
		return REFUSED_mlocked;
	if (folio_test_unevictable(folio) && !folio_test_mlocked(folio))
		return REFUSED_unevictable;
	/* A page of a process or a file is off its list for moments only, others for good. */
	if (!folio_test_lru(folio))
		return folio_mapped(folio) || folio->mapping ? REFUSED_not_lru : REFUSED_kernel;
	if (folio_test_ksm(folio))
		return REFUSED_ksm;
	if (folio_test_anon(folio) && !folio_test_swapbacked(folio))
		return REFUSED_lazyfree;
	if (folio_maybe_dma_pinned(folio))
		return REFUSED_pinned;
	if (folio_test_writeback(folio))
		return REFUSED_writeback;
	/* As migrate_misplaced_folio_prepare(): many file systems cannot move it asynchronously. */
	if (folio_is_file_lru(folio) && folio_test_dirty(folio))
		return REFUSED_dirty;
	if (has_other_references(folio))
		return REFUSED_referenced;
	return ADMITTED;
}

/*
 * All rules in the order of their cost: what the folio's fields say, what is set for its cgroup,
 * what is known of its heat, what its owners say. A split leaves our reference with the page, so
 * *foliop may change.
 */
static enum refusal admit_page(struct slow_node *node, struct candidate *c, struct page *page,
			       struct folio **foliop)
{
	enum refusal why = admit_folio(*foliop), whole = ADMITTED;

	/* What is on no LRU list may be charged in other ways. None goes without its cgroup's word. */
	if (folio_test_lru(*foliop))
		why = memcg_admit(*foliop, c, why);
	else if (why == ADMITTED)
		why = REFUSED_not_lru;
	if (why == ADMITTED && folio_test_large(*foliop))
		whole = c->pfn < c->cold_end ? REFUSED_cold_huge :
			huge_admit(node, *foliop, c->threshold);
	if (whole != ADMITTED && !huge_may_split(*foliop))
		why = whole;
	if (why == ADMITTED)
		why = owners_admit(*foliop, page, c->target);
	if (why == ADMITTED && whole != ADMITTED) {
		why = huge_split(page);
		*foliop = page_folio(page);
	}
	return why;
}

/*
 * What is said of a folio is said of all its pages, so the picks that lie in it need not be asked
 * again; as far as the area goes, since folios may be very large. But one that is only too cold may
 * become hot by any other of its pages.
 */
static void refuse_whole(struct candidate *c, struct folio *folio)
{
	unsigned long area = round_down(c->pfn, HOTMAP_AREA_PAGES);
	unsigned long end = min(folio_pfn(folio) + folio_nr_pages(folio), area + HOTMAP_AREA_PAGES);

	c->first = max(folio_pfn(folio), area);
	c->nr = end - c->first;
}

/**
 * admit - take a page up for moving, if it may move
 * @node: the slow node it was seen on
 * @c: the page; what is filled in depends on the result
 *
 * Returns ADMITTED, and @c->folio is isolated from the LRU, with a reference, and counted as
 * isolated; or why not, with nothing held, and @c->first and @c->nr are the pages this is true of.
 */
enum refusal admit(struct slow_node *node, struct candidate *c)
{
	struct page *page = pfn_to_online_page(c->pfn);
	enum refusal why;
	struct folio *folio;

	c->first = c->pfn;
	c->nr = 1;
	c->memcg = NULL;
	if (!page)
		return REFUSED_offline;
	if (page_to_nid(page) != node->nid)
		return REFUSED_not_slow;
	folio = page_folio(page);
	if (!folio_try_get(folio))
		return REFUSED_free;
	if (folio != page_folio(page)) {
		folio_put(folio);
		return REFUSED_busy;
	}
	why = admit_page(node, c, page, &folio);
	if (why == ADMITTED && !ksym(folio_isolate_lru)(folio))
		why = REFUSED_not_lru;
	if (why == ADMITTED) {
		/* migrate_pages() or putback_movable_pages() take this back. */
		mod_node_page_state(folio_pgdat(folio), NR_ISOLATED_ANON + folio_is_file_lru(folio),
				    folio_nr_pages(folio));
		c->folio = folio;
	} else if (why == REFUSED_cold_huge) {
		c->cold_end = folio_pfn(folio) + folio_nr_pages(folio);
	} else {
		refuse_whole(c, folio);
	}
	/* The isolation holds a reference of its own. */
	folio_put(folio);
	return why;
}
