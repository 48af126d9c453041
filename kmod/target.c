// SPDX-License-Identifier: GPL-2.0-only
#include <linux/mm.h>
#include <linux/sched/sysctl.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/vmstat.h>

#include "clock.h"
#include "engine/engine.h"
#include "fault.h"
#include "ksym.h"
#include "stat.h"
#include "target.h"

/* One a node number; kmigrated threads of several slow nodes share a target's bucket. */
static struct target {
	spinlock_t lock; /* protects bucket */
	struct bucket bucket;
} *targets;

/** target_init - returns 0 or -ENOMEM; all rates are 0 until target_set_rate() */
int target_init(void)
{
	int nid;

	targets = fault_point() ? NULL : kcalloc(nr_node_ids, sizeof(*targets), GFP_KERNEL);
	if (!targets)
		return -ENOMEM;
	for (nid = 0; nid < nr_node_ids; nid++) {
		spin_lock_init(&targets[nid].lock);
		bucket_init(&targets[nid].bucket, 0, now_ms());
	}
	return 0;
}

void target_exit(void)
{
	kfree(targets);
}

/** target_set_rate - let @mib_per_s MiB a second move to each target */
void target_set_rate(unsigned int mib_per_s)
{
	u64 pages = (u64)mib_per_s << (20 - PAGE_SHIFT);
	int nid;

	for (nid = 0; nid < nr_node_ids; nid++) {
		spin_lock(&targets[nid].lock);
		bucket_set_rate(&targets[nid].bucket, pages, now_ms());
		spin_unlock(&targets[nid].lock);
	}
}

/*
 * Free pages above a watermark that a movable allocation can get, over all zones. The reserve that
 * lower zones keep from such allocations is left alone, as the allocator leaves it.
 */
static unsigned long free_above(int nid, unsigned long (*wmark)(const struct zone *zone))
{
	struct zone *zones = NODE_DATA(nid)->node_zones;
	unsigned long sum = 0;
	int z;

	for (z = 0; z < MAX_NR_ZONES; z++) {
		unsigned long free, keep;

		if (!managed_zone(&zones[z]))
			continue;
		free = zone_page_state(&zones[z], NR_FREE_PAGES);
		keep = wmark(&zones[z]) + zones[z].lowmem_reserve[ZONE_MOVABLE];
		if (free > keep)
			sum += free - keep;
	}
	return sum;
}

/**
 * target_room - pages that may be moved to a node now
 * @nid: fast node
 *
 * Down to the high watermark and no further, as the kernel's own promotion does
 * (migrate_balanced_pgdat()): below it reclaim would have to work for everybody else, too. All of it
 * must be used before reclaim is asked for more: kswapd does not run while any zone, however small,
 * is above its watermark.
 */
unsigned long target_room(int nid)
{
	return free_above(nid, high_wmark_pages);
}

/** target_is_ample - is there so much free space that every accessed page may come? */
bool target_is_ample(int nid)
{
	return free_above(nid, promo_wmark_pages) >
	       engine_ample_pages(node_present_pages(nid), SZ_1G >> PAGE_SHIFT);
}

/**
 * target_wake_reclaim - let kswapd make room on a node
 * @nid: fast node
 *
 * With kernel.numa_balancing=2 it frees up to the promotion watermark, else to the high one; with
 * demotion enabled it does so by demoting. If neither is set, the user does not want memory to be
 * reclaimed for the sake of promotion, and nothing is done.
 */
void target_wake_reclaim(int nid)
{
	struct zone *zones = NODE_DATA(nid)->node_zones;
	int z;

	if (!ksym_read(numa_demotion_enabled) &&
	    !(ksym_read(sysctl_numa_balancing_mode) & NUMA_BALANCING_MEMORY_TIERING))
		return;
	for (z = MAX_NR_ZONES - 1; z >= 0; z--) {
		if (managed_zone(&zones[z])) {
			ksym(wakeup_kswapd)(&zones[z], 0, 0, ZONE_MOVABLE);
			stat_inc(STAT_pghot_reclaim_wakes);
			return;
		}
	}
}

/** target_tokens - pages that the rate limit allows to a node now */
unsigned long target_tokens(int nid)
{
	unsigned long pages;

	spin_lock(&targets[nid].lock);
	pages = bucket_available(&targets[nid].bucket, now_ms());
	spin_unlock(&targets[nid].lock);
	return pages;
}

/** target_set_depth - let the rate limit save up for @ms milliseconds; BUCKET_DEPTH_MS as a rule */
void target_set_depth(int nid, unsigned int ms)
{
	spin_lock(&targets[nid].lock);
	bucket_set_depth(&targets[nid].bucket, ms);
	spin_unlock(&targets[nid].lock);
}

/** target_rate - the rate limit of a node, in pages a second */
unsigned long target_rate(int nid)
{
	unsigned long rate;

	spin_lock(&targets[nid].lock);
	rate = targets[nid].bucket.rate;
	spin_unlock(&targets[nid].lock);
	return rate;
}

void target_take(int nid, unsigned long pages)
{
	spin_lock(&targets[nid].lock);
	bucket_take(&targets[nid].bucket, pages);
	spin_unlock(&targets[nid].lock);
}

/** target_refund - give back what was taken for pages that did not move */
void target_refund(int nid, unsigned long pages)
{
	spin_lock(&targets[nid].lock);
	bucket_refund(&targets[nid].bucket, pages);
	spin_unlock(&targets[nid].lock);
}
