// SPDX-License-Identifier: GPL-2.0-only
/*
 * zipfcache: a key-value cache, keys by a zipf distribution, after the Yahoo! Cloud Serving Benchmark
 * (Cooper et al., SoCC 2010): requests for records that are there, with its zipfian constant of 0.99.
 *
 * An operation gets or sets the value of a key. Which values are hot has nothing to do with where they
 * are, unless scatter=0. A page that holds several values is as hot as these together, so the larger
 * values are the more pages differ: results hot_percent (of the operations, those for values on hot
 * pages) and top1_percent (those for the hundredth of the keys that is most popular at first) say how
 * much. Hot pages are the hottest ones, hot_set of them, and the index. They stay where they are among the
 * others: with start=ideal the hottest are fast page by page, and addresses are the same whatever the start.
 * With shift_ops= the ranking of the keys goes round by an eighth after so many operations: what was
 * lukewarm becomes hot.
 *
 * Each get checks what it reads. In the end the operations are drawn once more to know how often each
 * value was set, and all words of all values must be of that version.
 */
#include <stdlib.h>

#include "base.h"
#include "cache.h"
#include "clock.h"
#include "heat.h"
#include "latency.h"
#include "measure.h"
#include "permute.h"
#include "workload.h"
#include "zipf.h"

/* Operations that are drawn at once, and between two reports of progress. */
#define BATCH		1024
/* A shift goes round by one of so many parts of the ranking. */
#define SHIFT_PARTS	8
/* Of all pages together. */
#define ALL_HEAT	(UINT64_C(1) << 50)

struct config {
	struct workload w;
	uint64_t value_bytes;
	double zipf_exponent;
	uint64_t get_percent;
	uint64_t scatter;
	uint64_t shift_ops;
	uint64_t timed;
};

#define NUMBER(field)	key_number, offsetof(struct config, field)

static bool parse_value_bytes(const struct key *key, const char *text, void *cfg)
{
	return key_number(key, text, cfg) && ((struct config *)cfg)->value_bytes % CACHE_LINE_BYTES == 0;
}

static const struct key keys[] = {
	WORKLOAD_KEYS("20000000", "30"),
	{ "value_bytes", "1024", "bytes of a value, a multiple of 64", parse_value_bytes,
	  offsetof(struct config, value_bytes), CACHE_LINE_BYTES, MIB },
	{ "zipf_exponent", "0.99", "how skewed the keys are, 0 to 10; 0: all alike", key_real,
	  offsetof(struct config, zipf_exponent), 0, 10 },
	{ "get_percent", "90", "percent of the operations that are gets; the others are sets",
	  NUMBER(get_percent), 0, 100 },
	{ "scatter", "1", "1: hot values lie anywhere; 0: by popularity, the most popular last", NUMBER(scatter), 0, 1 },
	{ "shift_ops", "0", "operations after which the ranking shifts; 0: it stays", NUMBER(shift_ops), 0,
	  UINT64_C(1) << 50 },
	{ "timed", "1", "one of so many operations has its latency taken", NUMBER(timed), 1, 1 << 20 },
};

static const struct keys all = {
	"Gets and sets values of a cache by keys of which few are popular.",
	keys, sizeof(keys) / sizeof(keys[0]),
};

/**
 * struct popularity - which value is of which rank
 * @zipf: of the ranks
 * @permute: where they are, if @scatter is not 0
 * @shift: of the ranking, in ranks
 */
struct popularity {
	struct zipf zipf;
	struct permute permute;
	uint64_t nr, scatter, shift;
};

/* The rank that what has @rank now had at first. */
static inline uint64_t first_rank(const struct popularity *p, uint64_t rank)
{
	rank += p->shift;
	return rank < p->nr ? rank : rank - p->nr;
}

/* @rank: at first */
static inline uint64_t value_of_rank(const struct popularity *p, uint64_t rank)
{
	return p->scatter ? permute_of(&p->permute, rank) : p->nr - 1 - rank;
}

static void popularity_init(struct popularity *p, const struct config *cfg, uint64_t values)
{
	zipf_init(&p->zipf, values, cfg->zipf_exponent);
	permute_init(&p->permute, values, cfg->w.seed);
	p->nr = values;
	p->scatter = cfg->scatter;
	p->shift = 0;
}

/**
 * struct op - an operation
 * @rank: of its key, at first
 * @value: that it is for
 * @get: or else it sets it
 */
struct op {
	uint32_t rank, value;
	bool get;
};

/* The operations, one after the other; the same each time they are drawn. */
struct draw {
	struct popularity *popularity;
	uint64_t rng, left, shift_ops, until_shift;
	uint64_t get_limit;		/* of 2^32: draws below it are gets */
};

static struct draw draw_begin(struct popularity *p, const struct config *cfg)
{
	p->shift = 0;
	return (struct draw){
		.popularity = p,
		.rng = mix64(cfg->w.seed) | 1,	/* 0 would stay 0 */
		.left = cfg->w.ops,
		.shift_ops = cfg->shift_ops,
		.until_shift = cfg->shift_ops,
		.get_limit = (cfg->get_percent << 32) / 100,
	};
}

/*
 * The next ones, within one ranking; returns how many, 0: that was all. Many at once, as what drawing
 * needs then stays in registers: in a guest an access costs more than its instruction.
 */
static uint64_t draw_next(struct draw *d, struct op ops[BATCH])
{
	struct popularity *p = d->popularity;
	uint64_t count = d->left < BATCH ? d->left : BATCH, rng = d->rng;

	if (d->shift_ops) {
		if (!d->until_shift) {
			p->shift = (p->shift + p->nr / SHIFT_PARTS) % p->nr;
			d->until_shift = d->shift_ops;
		}
		if (count > d->until_shift)
			count = d->until_shift;
		d->until_shift -= count;
	}
	for (struct op *op = ops; op < ops + count; op++) {
		uint64_t rank = first_rank(p, zipf_draw(&p->zipf, &rng));

		*op = (struct op){ rank, value_of_rank(p, rank), (uint32_t)rng < d->get_limit };
	}
	d->rng = rng;
	d->left -= count;
	return count;
}

/* The pages of the values by what the ranks on them get, the hottest first. */
static uint32_t *order_create(const struct popularity *p, const struct cache *cache)
{
	uint64_t pages = cache_value_pages(cache), *heat = xcalloc(pages, sizeof(*heat));
	uint32_t *order;

	for (uint64_t rank = 0; rank < p->nr; rank++) {
		uint64_t first = value_of_rank(p, rank) * cache->value_bytes;
		uint64_t last = (first + cache->value_bytes - 1) / PAGE_BYTES;

		for (uint64_t page = first / PAGE_BYTES; page <= last; page++)
			heat[page] += (uint64_t)(zipf_share(&p->zipf, rank) * ALL_HEAT);
	}
	order = heat_order(heat, pages);
	free(heat);
	return order;
}

static struct latency gets, sets;

/* Returns whether the operation found what it should. */
static bool operate(const struct cache *cache, const struct op *op)
{
	uint64_t key = cache_key(cache, op->value);

	return op->get ? cache_get(cache, key) : cache_set(cache, key);
}

static bool operate_timed(const struct cache *cache, const struct op *op)
{
	uint64_t begin = now_ns();
	bool good = operate(cache, op);

	latency_add(op->get ? &gets : &sets, now_ns() - begin);
	return good;
}

/* Returns how many operations were wrong. */
static uint64_t run(const struct cache *cache, struct popularity *p, const struct config *cfg,
		    struct measure *m)
{
	static struct op ops[BATCH];
	struct draw draw = draw_begin(p, cfg);
	uint64_t bad = 0, until_timed = cfg->timed, count;

	while ((count = draw_next(&draw, ops))) {
		for (uint64_t i = 0; i < count; i++) {
			if (--until_timed) {
				bad += !operate(cache, &ops[i]);
			} else {
				bad += !operate_timed(cache, &ops[i]);
				until_timed = cfg->timed;
			}
		}
		measure_add(m, count);
	}
	return bad;
}

/* What the operations were: how often each value was set, and how many percent went where. */
static uint32_t *replay(const struct cache *cache, struct popularity *p, const struct config *cfg,
			const uint32_t *order, uint64_t hot)
{
	static struct op ops[BATCH];
	struct draw draw = draw_begin(p, cfg);
	uint32_t *versions = xcalloc(cache->nr, sizeof(*versions));
	bool *is_hot = xcalloc(cache_value_pages(cache), sizeof(*is_hot));
	uint64_t on_hot = 0, on_top = 0, top = (cache->nr + 99) / 100, count;

	for (uint64_t i = 0; i < hot; i++)
		is_hot[order[i]] = true;
	while ((count = draw_next(&draw, ops))) {
		for (const struct op *op = ops; op < ops + count; op++) {
			versions[op->value] += !op->get;
			on_top += op->rank < top;
			on_hot += is_hot[op->value * cache->value_bytes / PAGE_BYTES];
		}
	}
	free(is_hot);
	result_real("top1_percent", 100.0 * on_top / cfg->w.ops);
	result_real("hot_percent", 100.0 * on_hot / cfg->w.ops);
	return versions;
}

/* How many pages of the values are called hot. */
static uint64_t hot_pages(const struct config *cfg, const struct cache *cache)
{
	uint64_t pages = cache_value_pages(cache);
	uint64_t hot = workload_bytes(&cfg->w, cfg->w.hot_set) / PAGE_BYTES;

	/* Where the ranking shifts, each has its turn. */
	return cfg->shift_ops || hot > pages ? pages : hot;
}

int main(int argc, char **argv)
{
	static struct measure measure;
	static struct popularity popularity;
	struct config cfg = { 0 };
	struct cache cache;
	struct place place;
	uint32_t *order, *versions;
	uint64_t hot, bad;

	workload_begin(&all, argc, argv, &cfg, &place);
	cache_size(&cache, workload_bytes(&cfg.w, cfg.w.working_set), cfg.value_bytes, cfg.w.seed);
	popularity_init(&popularity, &cfg, cache.nr);
	order = order_create(&popularity, &cache);
	hot = hot_pages(&cfg, &cache);
	place.hot_bytes = hot * PAGE_BYTES + cache_index_bytes(&cache);
	cache_map(&cache, &place, order, hot);
	cache_fill(&cache);
	measure_begin(&measure, &place, cfg.w.sample_ms);
	bad = run(&cache, &popularity, &cfg, &measure);
	measure_end(&measure);
	latency_report(&gets, "get");
	latency_report(&sets, "set");
	result("keys", cache.nr);
	versions = replay(&cache, &popularity, &cfg, order, hot);
	cache.values[cache.value_bytes / sizeof(uint64_t) - 1] ^= cfg.w.spoil;
	bad += cache_verify(&cache, versions);
	return workload_end(bad);
}
