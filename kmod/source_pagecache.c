// SPDX-License-Identifier: GPL-2.0-only
/*
 * source_pagecache - page cache that is read again and again without being mapped
 *
 * No hint fault and no accessed bit tells of a page that is only read(2): the kernel copies it through
 * its own mapping. But it marks it, by folio_mark_accessed(), for its own reclaim. An ftrace handler at
 * that function's entry reports pages of slow nodes. For all others it is a look at one word of
 * struct page, the one that the function itself is about to read.
 *
 * Who else calls it: writes, buffer heads (metadata of a file system), and for pages that are mapped
 * the end of a mapping and get_user_pages(). Mapped pages have other sources, so they are left out, and
 * those callers with them. Pages of tmpfs count as page cache.
 *
 * A page in use is not yet one that is used again. What lies between the two is judged here, as the
 * engine sees single accesses only:
 *
 *  - The first access since reclaim last looked at the page is not reported: a file that is read once
 *    leaves no trace, not even where free memory is ample and one report suffices.
 *  - Several calls for one page in a short time are one access. filemap_read() takes care of a page
 *    that one file descriptor reads piece by piece, but splice(2), writes, metadata and readers with a
 *    descriptor for each piece mark the page each time.
 *
 * From there on threshold and window decide, as for every source.
 *
 * A large folio is reported whole: the kernel marks it once for all that a sequential reader takes of
 * it, and does not say which part.
 */
#include <linux/bits.h>
#include <linux/hash.h>
#include <linux/jiffies.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/page-flags.h>
#include <linux/topology.h>
#include <linux/wordpart.h>

#include "control.h"
#include "hook.h"
#include "pghot.h"
#include "source.h"
#include "topology.h"

enum {
	/* Readers that go on at the same time share the slots. */
	SEEN_SLOT_BITS = 10,
	/* Accesses of one page that are told apart in a window; the highest threshold is below. */
	ACCESSES_A_WINDOW = 16,
};

/*
 * The page that was last accessed of those that share a slot, and when: the lower halves of its number
 * and of jiffies, in one word, so that any number of CPUs may read and write it. A page that is taken
 * for another one loses an access, no more.
 */
static u64 seen[1 << SEEN_SLOT_BITS];

/* Calls for one page within this time are one access. */
static unsigned int one_access_jiffies;

static bool notrace same_access(unsigned long pfn)
{
	/* By a hash: the numbers of large folios are multiples of their size. */
	u64 *slot = &seen[hash_64(pfn, SEEN_SLOT_BITS)], last = READ_ONCE(*slot);
	u32 now = jiffies;

	if (upper_32_bits(last) == lower_32_bits(pfn) &&
	    now - lower_32_bits(last) < READ_ONCE(one_access_jiffies))
		return true;
	WRITE_ONCE(*slot, (u64)lower_32_bits(pfn) << 32 | now);
	return false;
}

/* A page of a file or device that no process maps? It may be truncated while we look. */
static bool notrace is_unmapped_cache(struct folio *folio)
{
	unsigned long mapping = (unsigned long)READ_ONCE(folio->mapping);

	return mapping && !(mapping & PAGE_MAPPING_FLAGS) && !folio_mapped(folio);
}

/* Report it, unless it is the first access. Not inlined, so that the way of a fast page needs no stack. */
static noinline notrace void look_at_slow(struct folio *folio)
{
	struct pghot_report report;

	if (!is_unmapped_cache(folio) || same_access(folio_pfn(folio)))
		return;
	/* Without the multi-generational LRU the second access makes a page active, unreferenced. */
	if (!folio_test_referenced(folio) && !folio_test_active(folio))
		return;
	report = (struct pghot_report){
		.pfn = folio_pfn(folio),
		.nr_pages = folio_nr_pages(folio),
		.nid = numa_node_id(),
		.weight = 1,
	};
	pghot_record_bulk(&report, 1, PGHOT_SRC_PAGECACHE, 0);
}

/*
 * Argument of folio_mark_accessed(folio), before it changes anything. Any context that may call it, with
 * preemption enabled perhaps. That the handler is not called from within itself is seen to here rather
 * than by ftrace: a page of a fast node has no use for it.
 */
static void notrace on_access(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
			      struct ftrace_regs *fregs)
{
	struct folio *folio = (struct folio *)ftrace_regs_get_argument(fregs, 0);
	int bit;

	if (!topology_is_slow(folio_nid(folio)))
		return;
	bit = ftrace_test_recursion_trylock(ip, parent_ip);
	if (bit < 0)
		return;
	look_at_slow(folio);
	ftrace_test_recursion_unlock(bit);
}

static struct hook access_hook = {
	.function = "folio_mark_accessed",
	.handler = on_access,
};

static int pagecache_apply(void)
{
	unsigned int ms = knob(promote_freq_window_ms) / ACCESSES_A_WINDOW;

	WRITE_ONCE(one_access_jiffies, max(1UL, msecs_to_jiffies(ms)));
	return 0;
}

static int pagecache_enable(void)
{
	pagecache_apply();
	return hook_add(&access_hook);
}

static void pagecache_disable(void)
{
	hook_remove(&access_hook);
}

const struct source source_pagecache = {
	.name = "pagecache",
	.enable = pagecache_enable,
	.disable = pagecache_disable,
	.apply = pagecache_apply,
};
