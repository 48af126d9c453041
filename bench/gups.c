// SPDX-License-Identifier: GPL-2.0-only
/*
 * gups: random updates of a table, after HPC Challenge's RandomAccess, with a hot set.
 *
 * A table of 64-bit words fills the working set; an operation replaces a random word by its exclusive
 * or with a random number. hot_share percent of the updates go to the hot set, a stretch of the
 * table; the others anywhere. With hot_share=0 all of the table is alike, and there is nothing to gain
 * by moving any of it. With phase_ops= the hot set jumps to the next stretch after so many updates.
 *
 * All words start as their own index. The same updates made once more, in any order, undo
 * themselves: what is not its index then was lost.
 */
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "measure.h"
#include "pattern.h"
#include "words.h"
#include "workload.h"

/* Updates between two reports of progress. */
#define BATCH		8192

struct config {
	struct workload w;
	uint64_t hot_share;
	uint64_t phase_ops;
};

#define NUMBER(field)	key_number, offsetof(struct config, field)

static const struct key keys[] = {
	WORKLOAD_KEYS("60000000", "30"),
	{ "hot_share", "90", "percent of the updates that go to the hot set", NUMBER(hot_share), 0, 100 },
	{ "phase_ops", "0", "updates after which the hot set moves on; 0: it stays", NUMBER(phase_ops), 0,
	  UINT64_C(1) << 50 },
};

static const struct keys all = {
	"Updates random words of a table, most of them in a hot part of it.",
	keys, sizeof(keys) / sizeof(keys[0]),
};

/*
 * The table is two pieces, as cold memory comes first: a hot set that stays is then slow when memory
 * spills. One that moves on, or none, makes it one piece.
 */
struct table {
	uint64_t *cold, *hot;
	uint64_t cold_words, hot_words;
	uint64_t hot_limit;		/* of 2^32: draws below it are of the hot set */
	uint64_t phase_ops;
};

static void table_map(struct table *t, const struct config *cfg, struct place *place)
{
	uint64_t bytes = workload_bytes(&cfg->w, cfg->w.working_set);
	uint64_t hot = cfg->hot_share ? workload_hot_bytes(&cfg->w) : 0;

	if (hot && !cfg->phase_ops) {
		place->hot_bytes = hot;
		t->cold = place_map(place, bytes - hot, PLACE_COLD);
		t->hot = place_map(place, hot, PLACE_HOT);
		t->cold_words = (bytes - hot) / sizeof(uint64_t);
	} else {
		t->cold = t->hot = place_map(place, bytes, PLACE_HOT);
		t->cold_words = bytes / sizeof(uint64_t);
	}
	t->hot_words = hot / sizeof(uint64_t);
	t->hot_limit = (cfg->hot_share << 32) / 100;
	t->phase_ops = hot ? cfg->phase_ops : 0;
}

/* @count updates from update @first on, within one phase. Returns the generator's state. */
static uint64_t update(const struct table *t, uint64_t rng, uint64_t first, uint64_t count)
{
	uint64_t *hot = t->hot;

	if (t->phase_ops)
		hot += first / t->phase_ops % (t->cold_words / t->hot_words) * t->hot_words;
	while (count--) {
		uint64_t value = rng = xorshift64(rng);
		uint64_t *word;

		rng = xorshift64(rng);
		/* The lower half decides where to, the whole of it which word. */
		word = (uint32_t)value < t->hot_limit ? hot + draw_below(rng, t->hot_words) :
						       t->cold + draw_below(rng, t->cold_words);
		*word ^= value;
	}
	return rng;
}

/* @m: NULL: nobody measures */
static void update_all(const struct table *t, uint64_t seed, uint64_t ops, struct measure *m)
{
	uint64_t rng = mix64(seed) | 1;		/* 0 would stay 0 */

	for (uint64_t first = 0, count; first < ops; first += count) {
		uint64_t end = first + BATCH < ops ? first + BATCH : ops;

		if (t->phase_ops && end > (first / t->phase_ops + 1) * t->phase_ops)
			end = (first / t->phase_ops + 1) * t->phase_ops;
		count = end - first;
		rng = update(t, rng, first, count);
		if (m)
			measure_add(m, count);
	}
}

int main(int argc, char **argv)
{
	static struct measure measure;
	struct config cfg = { 0 };
	struct table table = { 0 };
	struct place place;
	bool apart;
	uint64_t bad;

	workload_begin(&all, argc, argv, &cfg, &place);
	table_map(&table, &cfg, &place);
	apart = table.hot != table.cold;
	words_fill(table.cold, table.cold_words);
	if (apart)
		words_fill(table.hot, table.hot_words);
	measure_begin(&measure, &place, cfg.w.sample_ms);
	update_all(&table, cfg.w.seed, cfg.w.ops, &measure);
	measure_end(&measure);
	update_all(&table, cfg.w.seed, cfg.w.ops, NULL);
	table.cold[table.cold_words / 2] += cfg.w.spoil;
	bad = words_verify(table.cold, table.cold_words);
	if (apart)
		bad += words_verify(table.hot, table.hot_words);
	return workload_end(bad);
}
