/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * vmstat - the kernel's own promotion counters, kept true when pghot moves a page
 *
 * PGPROMOTE_CANDIDATE_NRL came after 6.12; the build probes for it (compat/probe.sh).
 */
#ifndef PGHOT_COMPAT_VMSTAT_H
#define PGHOT_COMPAT_VMSTAT_H

#include <linux/mm.h>
#include <linux/vmstat.h>

#include "probed.h"

/** count_candidates - pages were chosen for promotion; @nrl: outside the rate limit */
static inline void count_candidates(int target, unsigned int pages, bool nrl)
{
	if (!nrl)
		mod_node_page_state(NODE_DATA(target), PGPROMOTE_CANDIDATE, pages);
#ifdef PGHOT_HAVE_PGPROMOTE_CANDIDATE_NRL
	else
		mod_node_page_state(NODE_DATA(target), PGPROMOTE_CANDIDATE_NRL, pages);
#endif
}

/** count_promoted - pages reached a fast node; as migrate_misplaced_folio() counts them */
static inline void count_promoted(int target, unsigned int pages)
{
	count_vm_numa_events(NUMA_PAGE_MIGRATE, pages);
	mod_node_page_state(NODE_DATA(target), PGPROMOTE_SUCCESS, pages);
}

#endif
