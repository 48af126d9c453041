/* SPDX-License-Identifier: GPL-2.0-only */
/* words - memory whose words are their own index, so that lost or wrong ones are found */
#ifndef PGHOT_BENCH_WORDS_H
#define PGHOT_BENCH_WORDS_H

#include <stdint.h>

/** words_fill - each of @nr words becomes its index */
void words_fill(uint64_t *words, uint64_t nr);

/** words_verify - returns how many pages have words that are not their index */
uint64_t words_verify(const uint64_t *words, uint64_t nr);

#endif
