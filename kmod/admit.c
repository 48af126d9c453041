// SPDX-License-Identifier: GPL-2.0-only
#include <linux/hugetlb.h>
#include <linux/memory_hotplug.h>
#include <linux/mm.h>
#include <linux/mm_inline.h>
#include <linux/page-flags.h>
#include <linux/swap.h>

#include "admit.h"
#include "ksym.h"
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

/* The rules for a folio that is held by a reference of ours. */
static enum refusal admit_folio(struct folio *folio)
{
	if (folio_test_hugetlb(folio))
		return REFUSED_hugetlb;
	/* Slab, page table, balloon and the like, whose other fields mean other things. */
	if (page_has_type(&folio->page) || __folio_test_movable(folio))
		return REFUSED_kernel;
	if (folio_test_unevictable(folio) || folio_test_mlocked(folio))
		return REFUSED_unevictable;
	/* A page of a process or a file is off its list for moments only, others for good. */
	if (!folio_test_lru(folio))
		return folio_mapped(folio) || folio->mapping ? REFUSED_not_lru : REFUSED_kernel;
	if (folio_maybe_dma_pinned(folio))
		return REFUSED_pinned;
	if (folio_test_writeback(folio))
		return REFUSED_writeback;
	/* As migrate_misplaced_folio_prepare(): many file systems cannot move it asynchronously. */
	if (folio_is_file_lru(folio) && folio_test_dirty(folio))
		return REFUSED_dirty;
	return ADMITTED;
}

/**
 * admit - take a page up for moving, if it may move
 * @pfn: the page, any number
 * @nid: the slow node it was seen on
 * @foliop: out: its folio, isolated from the LRU and with a reference; counted as isolated
 *
 * Returns ADMITTED, or why not, with nothing held.
 */
enum refusal admit(unsigned long pfn, int nid, struct folio **foliop)
{
	struct page *page = pfn_to_online_page(pfn);
	enum refusal why;
	struct folio *folio;

	if (!page)
		return REFUSED_offline;
	if (page_to_nid(page) != nid)
		return REFUSED_not_slow;
	folio = page_folio(page);
	if (!folio_try_get(folio))
		return REFUSED_free;
	if (folio != page_folio(page)) {
		folio_put(folio);
		return REFUSED_busy;
	}
	why = admit_folio(folio);
	if (why == ADMITTED && !ksym(folio_isolate_lru)(folio))
		why = REFUSED_not_lru;
	if (why == ADMITTED) {
		/* migrate_pages() or putback_movable_pages() take this back. */
		mod_node_page_state(folio_pgdat(folio), NR_ISOLATED_ANON + folio_is_file_lru(folio),
				    folio_nr_pages(folio));
		*foliop = folio;
	}
	/* The isolation holds a reference of its own. */
	folio_put(folio);
	return why;
}
