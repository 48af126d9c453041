// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "bucket.h"

static void cap(struct bucket *b)
{
	s64 most = (s64)(b->rate * b->depth_ms);

	if (b->level > most)
		b->level = most;
}

/** bucket_init - make a full bucket */
void bucket_init(struct bucket *b, u64 rate, u64 now_ms)
{
	b->rate = rate;
	b->level = (s64)(rate * BUCKET_DEPTH_MS);
	b->last_ms = now_ms;
	b->depth_ms = BUCKET_DEPTH_MS;
}

/* Add what has come since the last time; a step back of the clock adds nothing. */
static void refill(struct bucket *b, u64 now_ms)
{
	u64 ms = now_ms > b->last_ms ? now_ms - b->last_ms : 0;

	b->last_ms = now_ms;
	b->level += (s64)(b->rate * (ms > b->depth_ms ? b->depth_ms : ms));
	cap(b);
}

/** bucket_set_rate - from now on @rate pages a second; what is above the new depth is lost */
void bucket_set_rate(struct bucket *b, u64 rate, u64 now_ms)
{
	refill(b, now_ms);
	b->rate = rate;
	cap(b);
}

/** bucket_set_depth - from now on it holds what comes in @ms, 1..BUCKET_MAX_DEPTH_MS */
void bucket_set_depth(struct bucket *b, u32 ms)
{
	b->depth_ms = ms;
	cap(b);
}

/** bucket_available - fill up to now, and return the whole pages in the bucket */
u64 bucket_available(struct bucket *b, u64 now_ms)
{
	refill(b, now_ms);
	return b->level > 0 ? (u64)b->level / 1000 : 0;
}

/** bucket_take - take tokens out, at most BUCKET_MAX_RATE; what is not there becomes debt */
void bucket_take(struct bucket *b, u64 pages)
{
	b->level -= (s64)(pages * 1000);
}

/** bucket_refund - give tokens back for pages that did not move */
void bucket_refund(struct bucket *b, u64 pages)
{
	u64 most = BUCKET_MAX_RATE * b->depth_ms;

	b->level += (s64)(pages > most / 1000 ? most : pages * 1000);
	cap(b);
}
