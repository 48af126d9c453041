/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * pghot - the module's interface for drivers that know which pages are hot
 *
 * Both functions may be called from any context, NMI included. They return 0, or -EINVAL for a
 * malformed report, an unknown source or unknown flags; a bulk call with one malformed report
 * records none of them. What becomes of a well-formed report is visible in /proc/pghot/stat only: a
 * caller need not care whether its source is enabled.
 *
 * struct pghot_report and the flags are in engine/report.h, the sources in pghot/sources.h.
 */
#ifndef PGHOT_H
#define PGHOT_H

#include "engine/report.h"
#include "pghot/sources.h"

int pghot_record_access(unsigned long pfn, int nid, int src, unsigned long now);
int pghot_record_bulk(const struct pghot_report *reports, unsigned int n, int src,
		      unsigned int flags);

#endif
