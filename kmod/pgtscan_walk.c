// SPDX-License-Identifier: GPL-2.0-only
#include <linux/mm.h>
#include <linux/hugetlb.h>
#include <linux/ktime.h>
#include <linux/mmu_notifier.h>
#include <linux/page_idle.h>
#include <linux/pagewalk.h>
#include <linux/swap.h>

#include "host.h"
#include "ksym.h"
#include "pgtscan.h"
#include "stat.h"
#include "topology.h"

#include <asm/tlbflush.h>

enum {
	/* mmap_lock is held no longer than this, plus one page table. */
	PGTSCAN_HOLD_US = 100,
	/* Address space of one walk: bounds what empty mappings cost while the lock is held. */
	PGTSCAN_SPAN_GIB = 16,
	/* A page table without a page of a slow node is looked at again after so many passes, or one to
	 * three more, so that not all are due in the same pass.
	 */
	PGTSCAN_FAST_PASSES = 4,
	/* Pages recorded without a look whether others want the CPU, up to one report more. */
	PGTSCAN_RECORD_PAGES = 16384,
};

/**
 * struct piece - one walk while mmap_lock is held
 * @m: whose memory
 * @buffer: for its reports
 * @deadline_ns: when to let go of the lock
 * @pages: present pages looked at
 * @young: pages of slow nodes found accessed
 * @first: of these, in the first pass
 * @once: of these, by huge mappings that were not young in the pass before
 */
struct piece {
	struct pgtscan_mm *m;
	struct pgtscan_buffer *buffer;
	u64 deadline_ns;
	unsigned long pages;
	unsigned long young;
	unsigned long first;
	unsigned long once;
};

/*
 * Let go of the lock when its time is over, at once if somebody waits, and when the buffer may not
 * take what the next page table has: reports are recorded without the lock.
 */
static bool over(const struct piece *piece)
{
	return piece->buffer->n > PGTSCAN_REPORTS - PTRS_PER_PTE || need_resched() ||
	       mmap_lock_is_contended(piece->m->mm) || ktime_get_ns() >= piece->deadline_ns;
}

/*
 * Pages are recorded one by one under RCU, and what was seen of huge mappings in one hold of the lock
 * may be gigabytes: so not all at once.
 */
static void flush(struct pgtscan_mm *m, struct pgtscan_buffer *buffer)
{
	unsigned int from, to, pages;

	for (from = 0; from < buffer->n; from = to) {
		for (to = from, pages = 0; to < buffer->n && pages < PGTSCAN_RECORD_PAGES; to++)
			pages += buffer->reports[to].nr_pages;
		pghot_record_bulk(buffer->reports + from, to - from, PGHOT_SRC_PGTSCAN, m->flags);
		cond_resched();
	}
	buffer->n = 0;
}

/* Pages were accessed since the pass before. Neighbours in memory share a report. */
static void report(struct piece *piece, unsigned long pfn, unsigned int pages)
{
	struct pgtscan_buffer *buffer = piece->buffer;
	struct pghot_report *last = buffer->reports + buffer->n - 1;

	if (buffer->n && last->pfn + last->nr_pages == pfn &&
	    last->nr_pages + pages <= PGHOT_REPORT_MAX_PAGES) {
		last->nr_pages += pages;
		return;
	}
	buffer->reports[buffer->n++] = (struct pghot_report){
		.pfn = pfn,
		.nr_pages = pages,
		.nid = piece->m->nid,
		.weight = 1,
	};
}

/*
 * The folio of a page that is mapped, if it is one to look at: of a slow node that has a map, and
 * on an LRU list. That leaves out zero pages and those that drivers map. Only the map's directory
 * is looked at for most pages of fast nodes, not their struct page. Under RCU.
 */
static struct folio *slow_folio(struct host_set *set, unsigned long pfn)
{
	struct folio *folio;

	if (!host_find(set, pfn))
		return NULL;
	folio = pfn_folio(pfn);
	return topology_is_slow(folio_nid(folio)) && folio_test_lru(folio) ? folio : NULL;
}

/*
 * The bit is gone, and with it what reclaim and DAMON would have learned from it: leave them word.
 * folio_referenced() and the idle flag are where they look, as with the kernel's own idle page
 * tracking.
 */
static void pass_on_young(struct folio *folio)
{
	if (IS_ENABLED(CONFIG_PAGE_IDLE_FLAG)) {
		folio_set_young(folio);
		folio_clear_idle(folio);
	} else {
		folio_mark_accessed(folio);
	}
}

/* Were these pages accessed through this mm's secondary page tables, as those of guests? */
static bool clear_young_secondary(struct mm_struct *mm, unsigned long addr, unsigned long size)
{
#ifdef CONFIG_MMU_NOTIFIER
	return mm_has_notifiers(mm) && ksym(__mmu_notifier_clear_young)(mm, addr, addr + size);
#else
	return false;
#endif
}

/* Returns whether the table has present pages and none of them is of a slow node. */
static bool look_at_table(struct piece *piece, struct vm_area_struct *vma, pmd_t *pmd,
			  unsigned long addr, unsigned long end)
{
	struct mm_struct *mm = vma->vm_mm;
	bool secondary = mm_has_notifiers(mm), present = false, slow = false;
	struct host_set *set;
	struct folio *folio;
	pte_t *first, *pte, entry;
	spinlock_t *ptl;
	bool young;

	first = ksym(__pte_offset_map_lock)(mm, pmd, addr, &ptl);
	if (!first)
		return false;
	rcu_read_lock();
	set = host_set();
	for (pte = first; addr != end; pte++, addr += PAGE_SIZE) {
		entry = ptep_get(pte);
		if (!pte_present(entry) || pte_special(entry) || pte_devmap(entry))
			continue;
		piece->pages++;
		present = true;
		slow = slow || host_find(set, pte_pfn(entry));
		if (!pte_young(entry) && !secondary)
			continue;
		folio = slow_folio(set, pte_pfn(entry));
		if (!folio)
			continue;
		/* Not flushed here, as in reclaim: see pgtscan_flush(). */
		young = ksym(ptep_test_and_clear_young)(vma, addr, pte);
		if (!(young | clear_young_secondary(mm, addr, PAGE_SIZE)))
			continue;
		pass_on_young(folio);
		piece->young++;
		if (piece->m->primed)
			report(piece, pte_pfn(entry), 1);
		else
			piece->first++;
	}
	rcu_read_unlock();
	pte_unmap_unlock(first, ptl);
	return present && !slow;
}

/*
 * The page table of [addr, end): not now if it had fast pages alone of late. Most memory of a process
 * is like that, and would use up the time that slow memory is to have. A table that several VMAs
 * share is looked at each time.
 */
static void look_at_part(struct piece *piece, struct vm_area_struct *vma, pmd_t *pmd,
			 unsigned long addr, unsigned long end)
{
	struct pgtscan_mm *m = piece->m;
	unsigned long index = addr >> PMD_SHIFT;
	bool whole = end - addr == PMD_SIZE;
	void *due = whole ? xa_load(&m->fast, index) : NULL;

	if (due && xa_to_value(due) > m->pass)
		return;
	if (!look_at_table(piece, vma, pmd, addr, end) || !whole)
		return;
	due = xa_mk_value(m->pass + PGTSCAN_FAST_PASSES + index % PGTSCAN_FAST_PASSES);
	/* Without memory for the note, it is looked at again in the next pass. */
	xa_store(&m->fast, index, due, GFP_NOWAIT | __GFP_NOWARN);
}

/* Is this huge mapping young, and what are its pages? Clears the bit. */
static bool huge_young(struct vm_area_struct *vma, pmd_t *pmd, unsigned long addr,
		       unsigned long *pfn)
{
	spinlock_t *ptl = pmd_lock(vma->vm_mm, pmd);
	pmd_t entry = pmdp_get(pmd);
	struct folio *folio = NULL;
	bool young = false;

	if (pmd_present(entry) && pmd_trans_huge(entry)) {
		*pfn = pmd_pfn(entry);
		rcu_read_lock();
		folio = slow_folio(host_set(), *pfn);
		rcu_read_unlock();
	}
	if (folio) {
		young = ksym(pmdp_test_and_clear_young)(vma, addr, pmd);
		young |= clear_young_secondary(vma->vm_mm, addr, HPAGE_PMD_SIZE);
		if (young)
			pass_on_young(folio);
	}
	spin_unlock(ptl);
	return young;
}

/*
 * One bit for 512 pages: one access anywhere sets it. So the evidence must be of two passes, one
 * after the other, whatever the threshold and the room on the target are.
 */
static void look_at_huge(struct piece *piece, struct vm_area_struct *vma, pmd_t *pmd,
			 unsigned long addr)
{
	struct pgtscan_mm *m = piece->m;
	unsigned long index = addr >> HPAGE_PMD_SHIFT, pfn;

	piece->pages += HPAGE_PMD_NR;
	if (!huge_young(vma, pmd, addr, &pfn))
		return;
	piece->young += HPAGE_PMD_NR;
	if (!m->primed) {
		piece->first += HPAGE_PMD_NR;
		return;
	}
	if (xa_load(&m->huge[!m->now], index))
		report(piece, pfn, HPAGE_PMD_NR);
	else
		piece->once += HPAGE_PMD_NR;
	/* Without memory for the note, it takes a pass more. */
	xa_store(&m->huge[m->now], index, xa_mk_value(1), GFP_NOWAIT | __GFP_NOWARN);
}

static int on_pmd(pmd_t *pmd, unsigned long addr, unsigned long next, struct mm_walk *walk)
{
	struct piece *piece = walk->private;

	if (pmd_trans_huge(pmdp_get(pmd)))
		look_at_huge(piece, walk->vma, pmd, addr);
	else
		look_at_part(piece, walk->vma, pmd, addr, next);
	piece->m->address = next;
	return over(piece);
}

static const struct mm_walk_ops walk_ops = {
	.pmd_entry = on_pmd,
	.walk_lock = PGWALK_RDLOCK,
};

/* Memory of devices, and what is not on LRU lists anyway. */
static bool skip(struct vm_area_struct *vma)
{
	return vma->vm_flags & VM_SPECIAL || is_vm_hugetlb_page(vma) || vma_is_dax(vma);
}

/* Look at memory of @vma from m->address on. Returns whether to let go of the lock. */
static bool walk_vma(struct piece *piece, struct vm_area_struct *vma)
{
	struct pgtscan_mm *m = piece->m;
	unsigned long start = max(m->address, vma->vm_start), end = vma->vm_end;

	if (skip(vma)) {
		m->address = end;
		return over(piece);
	}
	if (end - start > (unsigned long)PGTSCAN_SPAN_GIB << 30)
		end = (start + ((unsigned long)PGTSCAN_SPAN_GIB << 30)) & PMD_MASK;
	if (ksym(walk_page_range_vma)(vma, start, end, &walk_ops, piece))
		return true;
	m->address = end;
	return over(piece);
}

/**
 * pgtscan_walk - look at some more of a process's memory
 * @m: from @m->address on, which moves on
 * @buffer: empty, and so again on return
 *
 * Takes mmap_lock for PGTSCAN_HOLD_US if nobody has it or waits for it, clears the accessed bits of
 * pages on slow nodes, and reports those that were set. Process context.
 */
enum pgtscan_result pgtscan_walk(struct pgtscan_mm *m, struct pgtscan_buffer *buffer)
{
	struct piece piece = { .m = m, .buffer = buffer };
	struct vm_area_struct *vma;

	if (!mmap_read_trylock(m->mm))
		return PGTSCAN_BUSY;
	/* Later on exit_mmap() may empty page tables, but it frees none: that needs the lock. */
	if (!atomic_read(&m->mm->mm_users)) {
		mmap_read_unlock(m->mm);
		return PGTSCAN_ENDED;
	}
	piece.deadline_ns = ktime_get_ns() + PGTSCAN_HOLD_US * NSEC_PER_USEC;
	do {
		vma = find_vma(m->mm, m->address);
	} while (vma && !walk_vma(&piece, vma));
	mmap_read_unlock(m->mm);
	flush(m, buffer);
	m->cleared |= piece.young > 0;
	stat_add(STAT_pgtscan_pages, piece.pages);
	stat_add(STAT_pgtscan_young, piece.young);
	stat_add(STAT_pgtscan_filtered_first, piece.first);
	stat_add(STAT_pgtscan_filtered_once, piece.once);
	return vma ? PGTSCAN_MORE : PGTSCAN_END;
}

/**
 * pgtscan_flush - let accesses after a pass set the bits that it cleared
 * @m: at the end of a pass
 *
 * A CPU does not set the bit of a page whose translation it has. Entries of pages in use may stay
 * for long, those of huge pages above all, and the hottest pages would look idle. One flush a pass
 * interrupts the CPUs on which the process runs now, and no other.
 */
void pgtscan_flush(struct pgtscan_mm *m)
{
	if (m->cleared)
		ksym(flush_tlb_mm_range)(m->mm, 0, TLB_FLUSH_ALL, 0, false);
	m->cleared = false;
}
