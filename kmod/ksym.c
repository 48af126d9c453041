// SPDX-License-Identifier: GPL-2.0-only
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/kprobes.h>
#include <linux/mm.h>
#include <linux/mmu_notifier.h>
#include <linux/printk.h>

#include "fault.h"
#include "ksym.h"

/* The types above are written by hand; where a header has the function, hold them against it. */
static_assert(__same_type(migrate_pages, ksym_migrate_pages_t));
static_assert(__same_type(putback_movable_pages, ksym_putback_movable_pages_t));
static_assert(__same_type(wakeup_kswapd, ksym_wakeup_kswapd_t));
static_assert(__same_type(node_is_toptier, ksym_node_is_toptier_t));
static_assert(__same_type(folio_xchg_last_cpupid, ksym_folio_xchg_last_cpupid_t));
static_assert(__same_type(rmap_walk, ksym_rmap_walk_t));
static_assert(__same_type(folio_lock_anon_vma_read, ksym_folio_lock_anon_vma_read_t));
static_assert(__same_type(page_vma_mapped_walk, ksym_page_vma_mapped_walk_t));
static_assert(__same_type(__mpol_put, ksym___mpol_put_t));
static_assert(__same_type(split_huge_page_to_list_to_order,
			  ksym_split_huge_page_to_list_to_order_t));
static_assert(__same_type(walk_page_range_vma, ksym_walk_page_range_vma_t));
static_assert(__same_type(__pte_offset_map_lock, ksym___pte_offset_map_lock_t));
static_assert(__same_type(ptep_test_and_clear_young, ksym_ptep_test_and_clear_young_t));
static_assert(__same_type(pmdp_test_and_clear_young, ksym_pmdp_test_and_clear_young_t));
static_assert(__same_type(task_sched_runtime, ksym_task_sched_runtime_t));
#ifdef CONFIG_MMU_NOTIFIER
static_assert(__same_type(__mmu_notifier_clear_young, ksym___mmu_notifier_clear_young_t));
#endif

typedef unsigned long ksym_lookup_t(const char *name);
DEFINE_STATIC_CALL_NULL(ksym_lookup, ksym_lookup_t);

#define KSYM_DEFINE_F(ret, name, args) DEFINE_STATIC_CALL_NULL(ksym_##name, ksym_##name##_t);
PGHOT_KSYM_FUNCTIONS(KSYM_DEFINE_F)

#define KSYM_DEFINE_V(type, name) type *ksym_##name;
PGHOT_KSYM_VARIABLES(KSYM_DEFINE_V)

/*
 * kallsyms_lookup_name() is not exported either, but a probe on it tells where it is. A probe that
 * is never armed: no text of the running kernel is patched for it.
 */
static int find_lookup(void)
{
	struct kprobe kp = {
		.symbol_name = "kallsyms_lookup_name",
		.flags = KPROBE_FLAG_DISABLED,
	};
	int err = register_kprobe(&kp);

	if (err) {
		pr_err("cannot find kernel symbol kallsyms_lookup_name (%d): a kernel with kprobes is needed\n",
		       err);
		return err;
	}
	static_call_update(ksym_lookup, (ksym_lookup_t *)kp.addr);
	unregister_kprobe(&kp);
	return 0;
}

/** ksym_address - where a symbol of the kernel is, or 0. After ksym_init(), process context. */
unsigned long ksym_address(const char *name)
{
	return static_call(ksym_lookup)(name);
}

static unsigned long ksym_find(const char *name)
{
	unsigned long addr = fault_point() ? 0 : ksym_address(name);

	if (!addr)
		pr_err("this kernel has no symbol %s: not a supported kernel, nothing is loaded\n",
		       name);
	return addr;
}

/**
 * ksym_init - find all of them
 *
 * Returns 0, or -ENOENT after naming the one that is missing.
 */
int ksym_init(void)
{
	unsigned long addr;
	int err = find_lookup();

	if (err)
		return err;

#define KSYM_FIND_F(ret, name, args)						\
	addr = ksym_find(#name);							\
	if (!addr)								\
		return -ENOENT;							\
	static_call_update(ksym_##name, (ksym_##name##_t *)addr);
	PGHOT_KSYM_FUNCTIONS(KSYM_FIND_F)

#define KSYM_FIND_V(type, name)							\
	addr = ksym_find(#name);							\
	if (!addr)								\
		return -ENOENT;							\
	ksym_##name = (type *)addr;
	PGHOT_KSYM_VARIABLES(KSYM_FIND_V)

	return 0;
}
