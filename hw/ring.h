/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * ring - samples on their way from a CPU's interrupt handler to a thread
 *
 * One producer, the handler of one CPU, which never waits: what finds the ring full is dropped and
 * counted. One consumer. Indices run freely through all of 2^32 and are never reset, so full and
 * empty differ and nothing is lost or counted twice when they wrap; the number of slots must divide
 * 2^32 for that, hence a power of two. 1024 of them last for 10 ms at the 100,000 samples a second
 * where the kernel throttles by default, and are 16 KiB.
 */
#ifndef PGHOT_HW_RING_H
#define PGHOT_HW_RING_H

#include "sample.h"

enum { HWHINT_RING_SLOTS = 1024 };

/**
 * struct hwhint_ring - all zero: empty
 * @head: samples put in (producer)
 * @dropped: samples that found it full (producer)
 * @pad0: the producer's words and the consumer's are in different cache lines
 * @tail: samples taken out (consumer)
 * @dropped_seen: of @dropped, how many the consumer knows (consumer)
 * @pad1: likewise
 * @slot: sample n is in slot n % HWHINT_RING_SLOTS
 */
struct hwhint_ring {
	u32 head;
	u32 dropped;
	u32 pad0[14];
	u32 tail;
	u32 dropped_seen;
	u32 pad1[14];
	struct hwhint_sample slot[HWHINT_RING_SLOTS];
};

/** hwhint_ring_push - put a copy of @s in, or count it as dropped. The producer. */
static inline void hwhint_ring_push(struct hwhint_ring *r, const struct hwhint_sample *s)
{
	u32 head = r->head;

	/* Pairs with the release in hwhint_ring_shift(): the slot has been read. */
	if (head - port_load_acquire(&r->tail) >= HWHINT_RING_SLOTS) {
		port_store(&r->dropped, r->dropped + 1);
		return;
	}
	r->slot[head % HWHINT_RING_SLOTS] = *s;
	/* Pairs with the acquire in hwhint_ring_used(): the slot is filled. */
	port_store_release(&r->head, head + 1);
}

/** hwhint_ring_used - how many samples can be taken out now. The consumer. */
static inline u32 hwhint_ring_used(const struct hwhint_ring *r)
{
	return port_load_acquire(&r->head) - r->tail;
}

/** hwhint_ring_first - the oldest sample, if any is there. The consumer. */
static inline const struct hwhint_sample *hwhint_ring_first(const struct hwhint_ring *r)
{
	return &r->slot[r->tail % HWHINT_RING_SLOTS];
}

/** hwhint_ring_shift - the oldest sample was read; its slot may be used again. The consumer. */
static inline void hwhint_ring_shift(struct hwhint_ring *r)
{
	port_store_release(&r->tail, r->tail + 1);
}

/** hwhint_ring_dropped - how many were dropped since the last call. The consumer. */
static inline u32 hwhint_ring_dropped(struct hwhint_ring *r)
{
	u32 dropped = port_load(&r->dropped), n = dropped - r->dropped_seen;

	r->dropped_seen = dropped;
	return n;
}

#endif
