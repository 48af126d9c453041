// SPDX-License-Identifier: GPL-2.0-only
/*
 * llm: tokens of a language model whose weights are a file that is mapped.
 *
 * For each token the vector of numbers goes through all layers: the attention multiplies it with four
 * matrices and reads the keys and values of all tokens so far, which are kept in a cache that grows; then
 * a few experts, two matrices each, are asked. In a mixture of experts (N. Shazeer et al., Outrageously
 * Large Neural Networks, 2017) each token asks but active_experts of the experts of a layer. Which ones is
 * drawn by Zipf's law here, as hot as skew says, another order in each layer. So the attention, the cache
 * and the experts that are asked often are hot; with experts=1 active_experts=1 layers=0 all weights are
 * read for each token, which is a scan, and nothing is gained by moving any of them.
 *
 * The numbers are integers and the model is nobody's (layer.h): it reads memory as one does.
 *
 * Each product is checked by what is known of pairs of rows (weights.h). At the end the weights, the cache
 * and what the first layer made of the last token, computed once more number by number, are checked.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "base.h"
#include "layer.h"
#include "mapfile.h"
#include "measure.h"
#include "pattern.h"
#include "weights.h"
#include "workload.h"

#define MAX_ACTIVE		256
/* So many draws that give experts who are asked already; then the next one after them is taken. */
#define MAX_REDRAWS		64

struct config {
	struct workload w;
	uint64_t layers, dim, hidden, experts, active_experts, skew, prompt;
	const char *dir;
	enum mapfile_kind map;
};

#define FIELD(field)	offsetof(struct config, field)
#define NUMBER(field)	key_number, FIELD(field)

static bool key_dir(const struct key *key, const char *text, void *cfg)
{
	(void)key;
	((struct config *)cfg)->dir = text;
	return *text;
}

static bool key_map(const struct key *key, const char *text, void *cfg)
{
	static const char * const kinds[] = {
		[MAPFILE_SHARED] = "shared", [MAPFILE_PRIVATE] = "private", [MAPFILE_WRITABLE] = "writable",
	};

	int kind = key_word(text, kinds, sizeof(kinds) / sizeof(*kinds));

	(void)key;
	((struct config *)cfg)->map = kind;
	return kind >= 0;
}

static const struct key keys[] = {
	WORKLOAD_KEYS("2000", "15"),
	{ "layers", "4", "layers; 0: as many as the working set has room for", NUMBER(layers), 0, 1024 },
	{ "dim", "256", "numbers of the vector, a multiple of 64", NUMBER(dim), 64, 1 << 16 },
	{ "hidden", "0", "numbers within an expert, a multiple of 64; 0: twice dim", NUMBER(hidden), 0, 1 << 18 },
	{ "experts", "0", "experts of a layer; 0: as many as the working set has room for", NUMBER(experts), 0,
	  1 << 20 },
	{ "active_experts", "4", "experts of a layer that a token asks", NUMBER(active_experts), 1, MAX_ACTIVE },
	{ "skew", "120", "hundredths of the exponent of Zipf's law by which experts are drawn; 0: all alike",
	  NUMBER(skew), 0, 400 },
	{ "prompt", "1024", "tokens that the cache has from the start", NUMBER(prompt), 0, 1 << 24 },
	{ "dir", "/tmp", "folder for the file of weights: a disk's, or one in memory", key_dir, 0, 0, 0 },
	{ "map", "shared",
	  "how the file is mapped. shared, private: read-only, where the kernel\n"
	  "arms no hint faults; writable: shared, and could be written",
	  key_map, 0, 0, 0 },
};

static const struct keys all = {
	"Multiplies vectors with the mapped weights of a language model, and reads a cache that grows.",
	keys, sizeof(keys) / sizeof(keys[0]),
};

/* What the first layer made of the last token. */
struct witness {
	uint64_t token;
	uint32_t chosen[MAX_ACTIVE];
	uint8_t *before, *after;
};

struct llm {
	struct weights weights;
	struct mapfile file;
	struct cache cache;
	struct scratch *scratch;
	struct pattern *routing;	/* of each layer */
	uint64_t active;
	uint64_t hot_experts;		/* of each layer: the first so many by rank */
	uint64_t rng;			/* of the routing */
	uint64_t text;			/* all tokens so far, as a number */
	uint64_t asked, asked_hot;	/* experts */
	uint64_t bad;			/* products */
	uint8_t *x;
	struct witness witness;
};

/* ---- how large it is ---- */

static uint64_t whole_lines(const char *key, uint64_t value)
{
	if (value % HEAD_DIM)
		die("%s=%" PRIu64 ": it must be a multiple of %d", key, value, HEAD_DIM);
	return value;
}

/* As many layers, or experts of each, as there is room for, if none are given. */
static void shape(const struct config *cfg, struct weights *w, uint64_t layer_cache)
{
	uint64_t bytes = workload_bytes(&cfg->w, cfg->w.working_set), attention, expert, layer;

	attention = weights_attention_pages(w) * PAGE_BYTES + layer_cache;
	expert = weights_expert_pages(w) * PAGE_BYTES;
	if (!w->experts && !w->layers)
		die("layers=0 experts=0: one of them must be given");
	if (!w->experts) {
		layer = bytes / w->layers;
		w->experts = layer > attention ? (layer - attention) / expert : 0;
	} else if (!w->layers) {
		w->layers = bytes / (attention + w->experts * expert);
	}
	if (!w->layers || w->experts < cfg->active_experts)
		die("%" PRIu64 " MiB have room for %" PRIu64 " layers of %" PRIu64 " experts, and a token asks %"
		    PRIu64 ": choose a larger working_set, or less ops, prompt, layers, dim or active_experts",
		    bytes / MIB, w->layers, w->experts, cfg->active_experts);
}

static uint64_t layer_cache_bytes(const struct config *cfg)
{
	if (cfg->w.ops > UINT32_MAX)
		die("ops=%" PRIu64 ": at most %u, as the cache keeps every token", cfg->w.ops, UINT32_MAX);
	return (cfg->prompt + cfg->w.ops) * 2 * cfg->dim;
}

/* The most that are asked, as hot_set has room beside what every token reads. */
static uint64_t count_hot_experts(const struct config *cfg, const struct llm *l, uint64_t fixed)
{
	uint64_t hot = workload_bytes(&cfg->w, cfg->w.hot_set), fit;

	if (l->active == l->weights.experts)
		return l->active;
	fit = hot > fixed ? (hot - fixed) / l->weights.layers / (weights_expert_pages(&l->weights) * PAGE_BYTES) : 0;
	return fit < l->weights.experts ? fit : l->weights.experts;
}

/* ---- the weights' file ---- */

static uint64_t rank_of(const struct llm *l, uint64_t layer, uint64_t expert)
{
	const uint32_t *ranks = l->routing[layer].ranks;

	return ranks ? ranks[expert] : expert;
}

/* Is a piece of the file hot? Experts come first, then the attention. */
static bool is_hot(const struct llm *l, uint64_t expert)
{
	uint64_t experts = l->weights.experts;

	return expert >= l->weights.layers * experts ||
	       rank_of(l, expert / experts, expert % experts) < l->hot_experts;
}

/* Pages of the file that are alike. */
struct run {
	const struct llm *l;
	uint64_t first;
};

static void write_run(void *arg, uint64_t first, uint64_t pages)
{
	const struct run *run = arg;

	weights_fill(&run->l->weights, run->l->file.fill, run->first + first, pages);
}

static void load(struct llm *l, struct place *place)
{
	uint64_t nr = l->weights.layers * l->weights.experts, each = weights_expert_pages(&l->weights);
	uint64_t pages = weights_pages(&l->weights);

	for (uint64_t first = 0, end; first <= nr; first = end) {
		struct run run = { l, first * each };
		uint64_t run_end;

		for (end = first + 1; end <= nr && is_hot(l, end) == is_hot(l, first); )
			end++;
		run_end = end > nr ? pages : end * each;
		place_file(place, (char *)l->file.mem + run.first * PAGE_BYTES, run_end - run.first,
			   is_hot(l, first) ? PLACE_HOT : PLACE_COLD, write_run, &run);
	}
	mapfile_filled(&l->file);
}

/* ---- tokens ---- */

/* A vector of numbers that follow from @seed. */
static void embed(uint64_t seed, uint8_t *x, uint64_t dim)
{
	for (uint64_t i = 0; i < dim; i += sizeof(uint64_t)) {
		uint64_t word = mix64(seed + i) & UINT64_C(0x0f0f0f0f0f0f0f0f);

		memcpy(x + i, &word, sizeof(word));
	}
}

static bool is_chosen(const uint32_t *chosen, uint64_t nr, uint32_t expert)
{
	while (nr--)
		if (chosen[nr] == expert)
			return true;
	return false;
}

static void choose(struct llm *l, uint64_t layer, uint32_t *chosen)
{
	for (uint64_t i = 0; i < l->active; i++) {
		uint32_t expert;
		int draws = 0;

		do {
			l->rng = xorshift64(l->rng);
			expert = pattern_draw(&l->routing[layer], &l->rng);
		} while (is_chosen(chosen, i, expert) && ++draws < MAX_REDRAWS);
		while (is_chosen(chosen, i, expert))
			expert = (expert + 1) % l->weights.experts;
		chosen[i] = expert;
		l->asked_hot += rank_of(l, layer, expert) < l->hot_experts;
	}
	l->asked += l->active;
}

static void run_token(struct llm *l, uint64_t token)
{
	struct witness *witness = &l->witness;
	uint64_t dim = l->weights.dim, word;
	uint32_t chosen[MAX_ACTIVE];

	embed(l->text, l->x, dim);
	memcpy(witness->before, l->x, dim);
	for (uint64_t layer = 0; layer < l->weights.layers; layer++) {
		struct layer_job job = { layer, token, chosen, l->active };

		choose(l, layer, chosen);
		l->bad += layer_run(&l->weights, &l->cache, l->scratch, &job, l->x);
		if (layer)
			continue;
		witness->token = token;
		memcpy(witness->chosen, chosen, sizeof(chosen[0]) * l->active);
		memcpy(witness->after, l->x, dim);
	}
	for (uint64_t i = 0; i < dim; i += sizeof(word)) {
		memcpy(&word, l->x + i, sizeof(word));
		l->text = mix64(l->text ^ word);
	}
}

/* How much of it is not what the naive twin finds. */
static uint64_t verify_witness(const struct llm *l)
{
	const struct witness *witness = &l->witness;
	struct layer_job job = { 0, witness->token, witness->chosen, l->active };
	uint64_t bad = layer_reference(&l->weights, &l->cache, &job, witness->before);

	return bad + (memcmp(witness->before, witness->after, l->weights.dim) != 0);
}

static void fill_cache(struct llm *l, uint64_t tokens)
{
	for (uint64_t layer = 0; layer < l->weights.layers; layer++) {
		for (uint64_t token = 0; token < tokens; token++) {
			embed(l->text + (layer << 32) + token, l->x, 2 * l->weights.dim);
			cache_put(&l->cache, layer, token, l->x, l->x + l->weights.dim);
		}
	}
}

/* ---- all of it ---- */

static void *take(uint64_t nr, uint64_t bytes)
{
	void *mem = calloc(nr, bytes);

	if (!mem)
		die("cannot allocate a table of %" PRIu64 " entries", nr);
	return mem;
}

static void llm_create(struct llm *l, const struct config *cfg, struct place *place)
{
	struct weights *w = &l->weights;
	uint64_t fixed;

	*w = (struct weights){ .layers = cfg->layers, .experts = cfg->experts, .seed = mix64(cfg->w.seed) };
	w->dim = whole_lines("dim", cfg->dim);
	w->hidden = cfg->hidden ? whole_lines("hidden", cfg->hidden) : 2 * cfg->dim;
	shape(cfg, w, layer_cache_bytes(cfg));
	l->active = cfg->active_experts;
	l->rng = mix64(~cfg->w.seed) | 1;
	l->text = mix64(cfg->w.seed ^ 1);
	l->routing = take(w->layers, sizeof(*l->routing));
	for (uint64_t layer = 0; layer < w->layers; layer++) {
		if (cfg->skew)
			pattern_zipf(&l->routing[layer], w->experts, cfg->skew / 100.0, mix64(w->seed + layer));
		else
			pattern_random(&l->routing[layer], w->experts);
	}
	l->cache = (struct cache){
		.layers = w->layers, .tokens = cfg->prompt + cfg->w.ops, .dim = w->dim,
		.sums = take(w->layers, sizeof(uint64_t)),
	};
	fixed = cache_bytes(&l->cache) + w->layers * weights_attention_pages(w) * PAGE_BYTES;
	l->hot_experts = count_hot_experts(cfg, l, fixed);
	place->hot_bytes = fixed + l->hot_experts * w->layers * weights_expert_pages(w) * PAGE_BYTES;
	mapfile_create(&l->file, cfg->dir, weights_pages(w), cfg->map);
	w->words = l->file.mem;
	load(l, place);
	l->cache.mem = place_map(place, cache_bytes(&l->cache), PLACE_HOT);
	l->scratch = scratch_create(w, &l->cache);
	l->x = take(2, w->dim);		/* a key and a value at once */
	l->witness.before = take(1, w->dim);
	l->witness.after = take(1, w->dim);
	fill_cache(l, cfg->prompt);
}

static uint64_t llm_verify(const struct llm *l)
{
	return l->bad + weights_verify(&l->weights) + cache_verify(&l->cache, l->cache.tokens) + verify_witness(l);
}

int main(int argc, char **argv)
{
	static struct measure measure;
	struct config cfg = { 0 };
	struct llm l = { .bad = 0 };
	struct place place;
	uint64_t pages;

	workload_begin(&all, argc, argv, &cfg, &place);
	llm_create(&l, &cfg, &place);
	pages = weights_pages(&l.weights);
	measure_begin(&measure, &place, cfg.w.sample_ms);
	for (uint64_t i = 0; i < cfg.w.ops; i++) {
		run_token(&l, cfg.prompt + i);
		measure_add(&measure, 1);
	}
	measure_end(&measure);
	result("layers", l.weights.layers);
	result("experts", l.weights.experts);
	result("hot_experts", l.hot_experts);
	result("weight_pages", pages);
	result("cache_pages", (cache_bytes(&l.cache) + PAGE_BYTES - 1) / PAGE_BYTES);
	result("asked", l.asked);
	result("asked_hot", l.asked_hot);
	/* Readers of the results may have no more than 53 bits for a number. */
	result("text", l.text >> 12);
	if (cfg.w.spoil)
		mapfile_spoil(&l.file, pages / 2 * PAGE_BYTES, PAGE_BYTES);
	return workload_end(llm_verify(&l));
}
