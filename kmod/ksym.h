/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ksym - the kernel functions and variables that a module needs and the kernel does not export
 *
 * Declared once here. Functions are reached with ksym(name)(...), a static call: a direct call that
 * is patched in, where a call through a pointer would fault on CPUs with indirect-branch tracking.
 * Variables are read with ksym_read(name).
 */
#ifndef PGHOT_KSYM_H
#define PGHOT_KSYM_H

#include <linux/memory-tiers.h>
#include <linux/mempolicy.h>
#include <linux/migrate.h>
#include <linux/mm.h>
#include <linux/mmzone.h>
#include <linux/pagewalk.h>
#include <linux/rmap.h>
#include <linux/sched/cputime.h>
#include <linux/static_call.h>

/* A kernel that nothing needs them in has no MMU notifiers. */
#ifdef CONFIG_MMU_NOTIFIER
#define PGHOT_KSYM_MMU_NOTIFIER(F)						\
	F(int, __mmu_notifier_clear_young, (struct mm_struct *mm,		\
		unsigned long start, unsigned long end))
#else
#define PGHOT_KSYM_MMU_NOTIFIER(F)
#endif

/* F(result, name, (arguments)) */
#define PGHOT_KSYM_FUNCTIONS(F)							\
	F(int, migrate_pages, (struct list_head *from, new_folio_t get_new_folio, \
		free_folio_t put_new_folio, unsigned long private,		\
		enum migrate_mode mode, int reason, unsigned int *ret_succeeded)) \
	F(void, putback_movable_pages, (struct list_head *folios))		\
	F(bool, folio_isolate_lru, (struct folio *folio))			\
	F(void, wakeup_kswapd, (struct zone *zone, gfp_t gfp_mask, int order,	\
		enum zone_type highest_zoneidx))				\
	F(bool, node_is_toptier, (int node))					\
	F(int, folio_xchg_last_cpupid, (struct folio *folio, int cpupid))	\
	F(void, rmap_walk, (struct folio *folio, struct rmap_walk_control *rwc)) \
	F(struct anon_vma *, folio_lock_anon_vma_read, (struct folio *folio,	\
		struct rmap_walk_control *rwc))					\
	F(bool, page_vma_mapped_walk, (struct page_vma_mapped_walk *pvmw))	\
	F(void, __mpol_put, (struct mempolicy *pol))				\
	F(int, split_huge_page_to_list_to_order, (struct page *page,		\
		struct list_head *list, unsigned int new_order))		\
	F(int, walk_page_range_vma, (struct vm_area_struct *vma, unsigned long start, \
		unsigned long end, const struct mm_walk_ops *ops, void *private)) \
	F(pte_t *, __pte_offset_map_lock, (struct mm_struct *mm, pmd_t *pmd,	\
		unsigned long addr, spinlock_t **ptlp))				\
	F(int, ptep_test_and_clear_young, (struct vm_area_struct *vma,		\
		unsigned long addr, pte_t *ptep))				\
	F(int, pmdp_test_and_clear_young, (struct vm_area_struct *vma,		\
		unsigned long addr, pmd_t *pmdp))				\
	PGHOT_KSYM_MMU_NOTIFIER(F)						\
	F(unsigned long long, task_sched_runtime, (struct task_struct *task))	\
	F(void, flush_tlb_mm_range, (struct mm_struct *mm, unsigned long start,	\
		unsigned long end, unsigned int stride_shift, bool freed_tables))

/* V(type, name) */
#define PGHOT_KSYM_VARIABLES(V)							\
	V(bool, numa_demotion_enabled)						\
	V(int, sysctl_compact_unevictable_allowed)				\
	V(int, sysctl_numa_balancing_mode)					\
	V(unsigned int, sysctl_numa_balancing_hot_threshold)

#define PGHOT_KSYM_DECLARE_F(ret, name, args)	\
	typedef ret ksym_##name##_t args;	\
	DECLARE_STATIC_CALL(ksym_##name, ksym_##name##_t);
PGHOT_KSYM_FUNCTIONS(PGHOT_KSYM_DECLARE_F)
#undef PGHOT_KSYM_DECLARE_F

#define PGHOT_KSYM_DECLARE_V(type, name) extern type *ksym_##name;
PGHOT_KSYM_VARIABLES(PGHOT_KSYM_DECLARE_V)
#undef PGHOT_KSYM_DECLARE_V

#define ksym(name)	static_call(ksym_##name)
#define ksym_read(name)	READ_ONCE(*ksym_##name)

int ksym_init(void);
unsigned long ksym_address(const char *name);

#endif
