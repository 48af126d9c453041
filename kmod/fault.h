/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * fault - fail the N-th thing that can fail
 *
 * Only in the build for the fault tests (PGHOT_FAULTS), whose parameter fail_at says which. In the
 * product fault_point() is false and gone.
 */
#ifndef PGHOT_FAULT_H
#define PGHOT_FAULT_H

#include <linux/types.h>

#ifdef PGHOT_FAULTS
bool fault_point(void);
#else
static inline bool fault_point(void)
{
	return false;
}
#endif

#endif
