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
 * @useful: useful samples since the last time, HWHINT_RELAX_SAMPLES or more
 * @slow: of these, of slow memory
 *
 * Returns true if the period is another one now.
 */
bool hwhint_relax_judge(struct hwhint_relax *r, u32 useful, u32 slow)
{
	u32 before = r->period;

	if ((u64)slow * HWHINT_RELAX_MANY >= useful || r->most <= r->asked)
		r->period = r->asked;
	else if ((u64)slow * HWHINT_RELAX_FEW < useful)
		r->period = r->period > r->most / 2 ? r->most : r->period * 2;
	return r->period != before;
}
