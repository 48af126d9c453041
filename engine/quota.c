// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "quota.h"

/**
 * quota_take - may so many pages go now?
 * @quota: 0 at first; nobody else touches it
 * @second: of the host's clock, any origin; may step back a little, as it does for one who was
 *	interrupted between reading the clock and this call
 * @per_second: pages, 0..QUOTA_MAX
 * @pages: 1..QUOTA_MAX
 *
 * Any context. Work: one compare-and-exchange, if nobody else asks at the moment; a load if refused.
 *
 * Returns whether all of them may go.
 */
bool quota_take(u64 *quota, u32 second, u32 per_second, u32 pages)
{
	u64 old = port_load(quota), new, paid;
	u32 now, used;
	s32 passed;

	do {
		now = (u32)(old >> 32);
		used = (u32)old;
		passed = (s32)(second - now);
		if (passed > 0) {
			paid = (u64)(u32)passed * per_second;
			used = used > paid ? used - (u32)paid : 0;
			now = second;
		}
		if (used >= per_second)
			return false;
		new = (u64)now << 32 | (used + pages);
	} while (!port_cmpxchg(quota, &old, new));
	return true;
}
