/* SPDX-License-Identifier: GPL-2.0-only */
/* heat - which pages are the hottest */
#ifndef PGHOT_BENCH_HEAT_H
#define PGHOT_BENCH_HEAT_H

#include <stdint.h>

/**
 * heat_order - the numbers of pages, the hottest first
 * @heat: of each page
 *
 * Pages whose heat differs by less than 1/64 come in the order of their numbers. For free(3).
 */
uint32_t *heat_order(const uint64_t *heat, uint64_t pages);

#endif
