// SPDX-License-Identifier: GPL-2.0-only
#include "base.h"
#include "pattern.h"
#include "requests.h"

/* A cache line. @visits: by requests, so each of them writes as well. */
struct requests_line {
	uint64_t number, next, visits;
	uint64_t unused[5];
};

#define LINES_PER_PAGE	(PAGE_BYTES / sizeof(struct requests_line))

static void restart(struct requests *r)
{
	r->rng = mix64(r->seed) | 1;		/* 0 would stay 0 */
}

void requests_map(struct requests *r, struct place *place, uint64_t bytes, uint64_t chain, uint64_t seed)
{
	r->lines = place_map(place, bytes, PLACE_HOT);
	r->nr = bytes / sizeof(*r->lines);
	r->chain = chain;
	r->seed = seed;
	permute_init(&r->next, r->nr, seed);
	for (uint64_t i = 0; i < r->nr; i++) {
		r->lines[i].number = i;
		r->lines[i].next = permute_of(&r->next, i);
	}
	r->checksum = 0;
	restart(r);
}

/* @change: of the visits; the line after one is known only once that is read. */
static bool follow(struct requests *r, uint64_t change)
{
	uint64_t at, wrong = 0;

	r->rng = xorshift64(r->rng);
	at = draw_below(r->rng, r->nr);
	for (uint64_t i = 0; i < r->chain; i++) {
		struct requests_line *line = &r->lines[at];

		wrong |= line->number ^ at;
		line->visits += change;
		at = line->next;
		if (at >= r->nr)
			return false;
	}
	r->checksum += at;
	return !wrong;
}

bool requests_serve(struct requests *r)
{
	return follow(r, 1);
}

static bool line_good(const struct requests *r, uint64_t i)
{
	const struct requests_line *line = &r->lines[i];

	return line->number == i && line->next == permute_of(&r->next, i) && !line->visits;
}

uint64_t requests_verify(struct requests *r, uint64_t count)
{
	uint64_t bad = 0;

	restart(r);
	while (count--)
		follow(r, -1);
	for (uint64_t page = 0; page < r->nr; page += LINES_PER_PAGE) {
		uint64_t i = page;

		while (i < page + LINES_PER_PAGE && line_good(r, i))
			i++;
		bad += i < page + LINES_PER_PAGE;
	}
	return bad;
}

void requests_spoil(struct requests *r)
{
	r->lines[r->nr / 2].visits++;
}
