/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * memcg - promotion by memory cgroup: what moved for whom, budgets, opt-outs, fair shares
 *
 * A table has a row for each cgroup that pages were selected of, or that somebody set something
 * for. Rows are found by the cgroup's ID and hold no reference to it, so a row keeps no cgroup
 * alive. The row of a cgroup that is gone is added to its nearest living ancestor's and dropped when
 * the table is read, or full. The table lives as long as the module.
 *
 * All functions may sleep. One mutex serialises them.
 */
#ifndef PGHOT_MEMCG_H
#define PGHOT_MEMCG_H

#include <linux/types.h>

#include "admit.h"

struct cgroup;
struct folio;
struct memcg_row;
struct proc_dir_entry;

enum { MEMCG_MAX_ROWS = 1024 };

#define MEMCG_NO_BUDGET	(~(u64)0)

/**
 * struct memcg_sum - what a row says
 * @id: of the cgroup
 * @parent: that of the nearest ancestor that has a row; 0: this is the root
 * @promoted: pages that reached a fast node
 * @refused: pages that were selected and did not
 * @ns: CPU time spent moving, in nanoseconds
 * @budget: pages a second, or MEMCG_NO_BUDGET
 * @optout: none shall move
 * @gone: whoever reads sees no such cgroup
 */
struct memcg_sum {
	u64 id;
	u64 parent;
	u64 promoted;
	u64 refused;
	u64 ns;
	u64 budget;
	bool optout;
	bool gone;
};

/**
 * struct memcg_limits - what there is to be kept
 * @budgets: somebody set one
 * @shares: several cgroups want to promote: while the rate limit binds, each has its share
 * @depth_ms: for how long the rate limit should save up
 */
struct memcg_limits {
	bool budgets;
	bool shares;
	unsigned int depth_ms;
};

/* The mover's part. A row from memcg_admit() is given back with memcg_refused() or memcg_settled(). */
enum refusal memcg_admit(struct folio *folio, struct candidate *c, enum refusal why);
void memcg_refused(struct memcg_row *row, unsigned int pages);
bool memcg_take(struct memcg_row *row, unsigned int pages, bool exempt);
void memcg_settled(struct memcg_row *row, unsigned int pages, unsigned int promoted, bool shared,
		   u64 ns);

/* kmigrated's part. */
struct memcg_limits memcg_tick(void);
void memcg_waits(const u64 *pfns, unsigned int n);

/* Reading and setting. */
bool memcg_on_v2(void);
bool memcg_has_controller(struct cgroup *cgrp);
unsigned int memcg_read(struct memcg_sum *sums, unsigned int most);
int memcg_set_budget(struct cgroup *cgrp, u64 pages_per_s);
int memcg_set_optout(struct cgroup *cgrp, bool optout);
void memcg_init(void);
bool memcg_proc_init(struct proc_dir_entry *dir);
void memcg_exit(void);

#endif
