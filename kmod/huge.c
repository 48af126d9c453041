// SPDX-License-Identifier: GPL-2.0-only
/*
 * huge - large folios: when all of one may go for the sake of its hot pages, and splitting it
 *
 * A large folio moves whole or not at all, so it takes as much evidence as a share of its pages
 * would need alone. It is split only if vm.pghot_split_huge says so. migrate_pages() does not split
 * for MR_NUMA_MISPLACED when it finds no place, but a folio that is partially mapped it always
 * does; such a one is not given to it.
 */
#include <linux/mm.h>
#include <linux/page-flags.h>
#include <linux/pagemap.h>

#include "control.h"
#include "host.h"
#include "huge.h"
#include "ksym.h"

/**
 * huge_admit - is a large folio hot enough, and would it move whole?
 * @node: where it is
 * @folio: held by a reference
 * @threshold: heat that a page needs alone, in accesses
 *
 * Returns ADMITTED, REFUSED_partly_mapped or REFUSED_cold_huge.
 */
enum refusal huge_admit(struct slow_node *node, struct folio *folio, u32 threshold)
{
	unsigned int percent = knob(huge_hot_percent);
	unsigned long nr = folio_nr_pages(folio);
	u64 evidence;

	/* Order 1 has no place on the list of folios to be split. */
	if (nr > 2 && folio_test_partially_mapped(folio))
		return REFUSED_partly_mapped;
	if (!percent)
		return ADMITTED;
	mutex_lock(&node->lock);
	evidence = engine_evidence(&node->engine, folio_pfn(folio), nr, threshold);
	mutex_unlock(&node->lock);
	return evidence * 100 < (u64)nr * threshold * percent ? REFUSED_cold_huge : ADMITTED;
}

/** huge_may_split - does the knob let this large folio be split? Those of files stay whole. */
bool huge_may_split(const struct folio *folio)
{
	return knob(split_huge) && folio_test_anon(folio);
}

/**
 * huge_split - split a large anonymous folio, so that @page is a folio of its own
 * @page: a page of it; the caller has the only extra reference to the folio
 *
 * Returns ADMITTED, then the caller's reference is one to @page; or REFUSED_busy with nothing
 * changed.
 */
enum refusal huge_split(struct page *page)
{
	int err;

	if (!folio_trylock(page_folio(page)))
		return REFUSED_busy;
	err = ksym(split_huge_page_to_list_to_order)(page, NULL, 0);
	folio_unlock(page_folio(page));
	return err ? REFUSED_busy : ADMITTED;
}

/**
 * huge_split_isolated - split a large anonymous folio that is isolated
 * @folio: isolated, on a list
 * @parts: gets its pages, the first included
 *
 * Returns whether it was split; if not, it stays where it is.
 */
bool huge_split_isolated(struct folio *folio, struct list_head *parts)
{
	int err;

	if (!folio_trylock(folio))
		return false;
	err = ksym(split_huge_page_to_list_to_order)(&folio->page, parts, 0);
	folio_unlock(folio);
	if (!err)
		list_move_tail(&folio->lru, parts);
	return !err;
}
