/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * bucket - token bucket: how many pages may move to a target now
 *
 * A token is a page. Tokens are taken before a batch and given back for pages that did not move, so
 * that the rate is one of pages that moved. The bucket holds one second's worth, or what
 * bucket_set_depth() says. More may be taken than there is, as a large folio moves whole or not at
 * all: then nothing is available until the debt is paid off. The host serialises the calls.
 */
#ifndef PGHOT_ENGINE_BUCKET_H
#define PGHOT_ENGINE_BUCKET_H

#include "port.h"

enum {
	BUCKET_DEPTH_MS = 1000,
	BUCKET_MAX_DEPTH_MS = 1000000,
};

#define BUCKET_MAX_RATE		((u64)1 << 40)

/**
 * struct bucket
 * @rate: pages a second, 0..BUCKET_MAX_RATE; 0: nothing moves
 * @level: tokens in it, in thousandths of a page, so that no fraction is lost; below 0: debt
 * @last_ms: when it was last filled
 * @depth_ms: it holds what comes in so many milliseconds
 */
struct bucket {
	u64 rate;
	s64 level;
	u64 last_ms;
	u32 depth_ms;
};

void bucket_init(struct bucket *b, u64 rate, u64 now_ms);
void bucket_set_rate(struct bucket *b, u64 rate, u64 now_ms);
void bucket_set_depth(struct bucket *b, u32 ms);
u64 bucket_available(struct bucket *b, u64 now_ms);
void bucket_take(struct bucket *b, u64 pages);
void bucket_refund(struct bucket *b, u64 pages);

#endif
