// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* relax: the period grows while slow memory is hardly seen, and is short at once when it is. */
#include "hw/relax.h"
#include "tests/tap.h"

/* Judge a round of samples of which @slow of 256 are of slow memory; the period from then on. */
static u32 judged(struct hwhint_relax *r, u32 slow)
{
	u32 before = r->period;
	bool changed;

	changed = hwhint_relax_judge(r, 256, slow);
	return changed == (r->period != before) ? r->period : 0;
}

int main(void)
{
	struct hwhint_relax r;

	hwhint_relax_init(&r, 10000, 160000);
	ok(r.period == 10000, "begins with the period that is asked for");
	ok(judged(&r, 256) == 10000, "all of slow memory: stays");
	ok(judged(&r, 7) == 20000, "less than one of 32: doubled");
	ok(judged(&r, 8) == 20000, "one of 32: stays");
	ok(judged(&r, 15) == 20000, "less than one of 16: stays");
	ok(judged(&r, 0) == 40000, "none: doubled");
	ok(judged(&r, 0) == 80000 && judged(&r, 0) == 160000 && judged(&r, 0) == 160000,
	   "up to the most");
	ok(judged(&r, 16) == 10000, "one of 16: what was asked for, at once");

	hwhint_relax_init(&r, 10000, 25000);
	ok(judged(&r, 0) == 20000 && judged(&r, 0) == 25000, "the most need not be a multiple");
	hwhint_relax_init(&r, 10000, 10000);
	ok(judged(&r, 0) == 10000, "most as asked: never longer");
	hwhint_relax_init(&r, 10000, 5000);
	ok(judged(&r, 0) == 10000, "most less than asked: never longer, nor shorter");
	hwhint_relax_init(&r, 100000000, 134217727);
	ok(judged(&r, 0) == 134217727, "no overflow at the longest period");
	hwhint_relax_init(&r, 10000, 160000);
	ok(!hwhint_relax_judge(&r, ~0U, ~0U) && hwhint_relax_judge(&r, ~0U, 0), "nor of counts");
	return done();
}
