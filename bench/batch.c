// SPDX-License-Identifier: GPL-2.0-only
#include "batch.h"
#include "pattern.h"
#include "words.h"
#include "workload.h"

static void restart(struct batch *b)
{
	b->rng = mix64(b->seed) | 1;		/* 0 would stay 0 */
	b->at = 0;
}

void batch_map(struct batch *b, struct place *place, uint64_t bytes, enum batch_kind kind, uint64_t seed)
{
	b->kind = kind;
	b->words = place_map(place, bytes, PLACE_COLD);
	b->nr = bytes / sizeof(*b->words);
	b->seed = seed;
	words_fill(b->words, b->nr);
	restart(b);
}

static void random_updates(struct batch *b, uint64_t count)
{
	uint64_t rng = b->rng;

	while (count--) {
		rng = xorshift64(rng);
		b->words[draw_below(rng, b->nr)] ^= rng;
	}
	b->rng = rng;
}

static void stream_updates(struct batch *b, uint64_t count)
{
	while (count--) {
		b->words[b->at++] ^= b->rng;
		if (b->at == b->nr) {
			b->at = 0;
			b->rng = xorshift64(b->rng);
		}
	}
}

void batch_run(struct batch *b, uint64_t count)
{
	if (b->kind == BATCH_RANDOM)
		random_updates(b, count);
	else
		stream_updates(b, count);
}

uint64_t batch_verify(struct batch *b, uint64_t count)
{
	restart(b);
	batch_run(b, count);
	return words_verify(b->words, b->nr);
}
