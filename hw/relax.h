/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * relax - a longer period for a profiler that has little to say
 *
 * Once what is hot is on the fast nodes, nearly all samples are of fast memory, and each costs its
 * CPU an interrupt for nothing. So the period is doubled as long as few samples are of slow memory,
 * and is what was asked for as soon as a noticeable part of them is.
 */
#ifndef PGHOT_HW_RELAX_H
#define PGHOT_HW_RELAX_H

#include "engine/port.h"

enum {
	HWHINT_RELAX_SAMPLES = 256,	/* to judge by, at least */
	HWHINT_RELAX_FEW = 32,		/* few: less than one of so many is of slow memory */
	HWHINT_RELAX_MANY = 16,		/* many: one of so many or more */
};

/**
 * struct hwhint_relax
 * @asked: the period that was asked for
 * @period: the one in use, @asked or more
 * @most: the longest to be used; if it is not more than @asked, there is no other
 */
struct hwhint_relax {
	u32 asked;
	u32 period;
	u32 most;
};

void hwhint_relax_init(struct hwhint_relax *r, u32 asked, u32 most);
bool hwhint_relax_judge(struct hwhint_relax *r, u32 useful, u32 slow);

#endif
