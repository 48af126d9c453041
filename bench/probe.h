/* SPDX-License-Identifier: GPL-2.0-only */
/* probe - how long a thread that touches pages is held up while they are moved */
#ifndef PGHOT_BENCH_PROBE_H
#define PGHOT_BENCH_PROBE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "range.h"

/**
 * struct probe - a thread that loads from @touches random pages once a millisecond
 * @range: the pages are of this
 * @first: of these, from here on; others may read it only
 * @pages: so many
 * @touches: pages a period
 * @ns: how long each period's loads took, in nanoseconds; saturates after 4 s
 * @periods: entries of @ns
 */
struct probe {
	const struct range *range;
	_Atomic uint64_t first;
	uint64_t pages;
	uint64_t touches;
	uint32_t *ns;
	uint64_t periods;
	_Atomic bool stop;
	pthread_t thread;
};

/** probe_prepare - allocate what the thread needs; it then touches none but @range's pages */
void probe_prepare(struct probe *probe, const struct range *range, uint64_t pages,
		   uint64_t touches);

/** probe_start - start the thread; it has a real-time priority, which needs CAP_SYS_NICE */
void probe_start(struct probe *probe);

/** probe_look_at - touch the pages from @first on from now on */
void probe_look_at(struct probe *probe, uint64_t first);

/** probe_stop - end the thread */
void probe_stop(struct probe *probe);

/** probe_report - write result lines: periods, and median, 99.9th percentile and maximum in us */
void probe_report(struct probe *probe);

#endif
