// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "relax.h"

/** hwhint_relax_init - begin with the period that is asked for */
void hwhint_relax_init(struct hwhint_relax *r, u32 asked, u32 most)
{
	*r = (struct hwhint_relax){ .asked = asked, .period = asked, .most = most };
}

/**
 * hwhint_relax_judge - which period from now on?
 * @r: the state; @period becomes the result
 * @told: samples since the last time that told which memory served them, HWHINT_RELAX_SAMPLES or more
 * @slow: of these, of slow memory
 *
 * Returns true if the period is another one now.
 */
bool hwhint_relax_judge(struct hwhint_relax *r, u32 told, u32 slow)
{
	u32 before = r->period;

	if ((u64)slow * HWHINT_RELAX_MANY >= told || r->most <= r->asked)
		r->period = r->asked;
	else if ((u64)slow * HWHINT_RELAX_FEW < told)
		r->period = r->period > r->most / 2 ? r->most : r->period * 2;
	return r->period != before;
}
