// SPDX-License-Identifier: GPL-2.0-only
#include "base.h"
#include "words.h"

void words_fill(uint64_t *words, uint64_t nr)
{
	for (uint64_t i = 0; i < nr; i++)
		words[i] = i;
}

uint64_t words_verify(const uint64_t *words, uint64_t nr)
{
	uint64_t bad = 0;

	for (uint64_t page = 0; page < nr; page += WORDS_PER_PAGE) {
		uint64_t i = page;

		while (i < nr && i < page + WORDS_PER_PAGE && words[i] == i)
			i++;
		bad += i < nr && i < page + WORDS_PER_PAGE;
	}
	return bad;
}
