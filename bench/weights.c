// SPDX-License-Identifier: GPL-2.0-only
#include "base.h"
#include "weights.h"

#define WORDS_PER_LINE	8

uint64_t weights_expert_pages(const struct weights *w)
{
	return WEIGHTS_EXPERT * w->dim * w->hidden / PAGE_BYTES;
}

uint64_t weights_attention_pages(const struct weights *w)
{
	return WEIGHTS_ATTENTION * w->dim * w->dim / PAGE_BYTES;
}

static uint64_t experts_pages(const struct weights *w)
{
	return w->layers * w->experts * weights_expert_pages(w);
}

uint64_t weights_pages(const struct weights *w)
{
	return experts_pages(w) + w->layers * weights_attention_pages(w);
}

struct matrix weights_expert(const struct weights *w, uint64_t layer, uint64_t expert, int which)
{
	uint64_t bytes = w->dim * w->hidden, nr = (layer * w->experts + expert) * WEIGHTS_EXPERT + which;
	uint64_t rows = which == WEIGHTS_UP ? w->hidden : w->dim;

	return (struct matrix){ nr * bytes / sizeof(uint64_t), rows, bytes / rows / sizeof(uint64_t) };
}

struct matrix weights_attention(const struct weights *w, uint64_t layer, int which)
{
	uint64_t bytes = w->dim * w->dim, nr = layer * WEIGHTS_ATTENTION + which;

	return (struct matrix){
		experts_pages(w) * WORDS_PER_PAGE + nr * bytes / sizeof(uint64_t), w->dim,
		w->dim / sizeof(uint64_t),
	};
}

/* The matrix that has word @at. */
static struct matrix matrix_of(const struct weights *w, uint64_t at)
{
	uint64_t experts = experts_pages(w) * WORDS_PER_PAGE, nr;

	if (at < experts) {
		nr = at / (w->dim * w->hidden / sizeof(uint64_t));
		return weights_expert(w, nr / WEIGHTS_EXPERT / w->experts, nr / WEIGHTS_EXPERT % w->experts,
				      nr % WEIGHTS_EXPERT);
	}
	nr = (at - experts) / (w->dim * w->dim / sizeof(uint64_t));
	return weights_attention(w, nr / WEIGHTS_ATTENTION, nr % WEIGHTS_ATTENTION);
}

/* What is in word @at if that is of an even row. */
static uint64_t word_of(uint64_t seed, uint64_t at)
{
	uint64_t x = (at + seed) * 0x9e3779b97f4a7c15ULL;

	return (x ^ (x >> 32)) * 0xbf58476d1ce4e5b9ULL;
}

/* Words [@from, @to) of row @row. */
static void fill_row(const struct weights *w, const struct matrix *m, uint64_t row, uint64_t from, uint64_t to,
		     uint64_t *out)
{
	uint64_t even = m->at + (row & ~UINT64_C(1)) * m->words, flip = row & 1 ? UINT64_MAX : 0;

	out += m->at + row * m->words;
	for (uint64_t i = from; i < to; i++)
		out[i] = word_of(w->seed, even + i) ^ flip;
}

void weights_fill(const struct weights *w, uint64_t *to, uint64_t first, uint64_t pages)
{
	uint64_t end = (first + pages) * WORDS_PER_PAGE, next;

	for (uint64_t at = first * WORDS_PER_PAGE; at < end; at = next) {
		struct matrix m = matrix_of(w, at);
		uint64_t row = (at - m.at) / m.words, from = (at - m.at) % m.words;
		uint64_t left = end - at, count = m.words - from < left ? m.words - from : left;

		fill_row(w, &m, row, from, from + count, to);
		next = at + count;
	}
}

uint8_t weights_number(const struct weights *w, const struct matrix *m, uint64_t row, uint64_t column)
{
	uint64_t even = m->at + (row & ~UINT64_C(1)) * m->words;
	uint8_t number = word_of(w->seed, even + column / 8) >> column % 8 * 8;

	return row & 1 ? UINT8_MAX - number : number;
}

static uint64_t verify_matrix(const struct weights *w, const struct matrix *m)
{
	uint64_t bad = 0, last = UINT64_MAX;

	for (uint64_t row = 0; row < m->rows; row++) {
		uint64_t even = m->at + (row & ~UINT64_C(1)) * m->words, flip = row & 1 ? UINT64_MAX : 0;
		uint64_t at = m->at + row * m->words;

		/* Not always the same word of a line. */
		for (uint64_t i = row / 2 % WORDS_PER_LINE; i < m->words; i += WORDS_PER_LINE) {
			if (w->words[at + i] == (word_of(w->seed, even + i) ^ flip) ||
			    (at + i) / WORDS_PER_PAGE == last)
				continue;
			last = (at + i) / WORDS_PER_PAGE;
			bad++;
		}
	}
	return bad;
}

uint64_t weights_verify(const struct weights *w)
{
	uint64_t end = weights_pages(w) * WORDS_PER_PAGE, bad = 0;
	struct matrix m;

	for (uint64_t at = 0; at < end; at += m.rows * m.words) {
		m = matrix_of(w, at);
		bad += verify_matrix(w, &m);
	}
	return bad;
}
