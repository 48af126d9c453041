// SPDX-License-Identifier: GPL-2.0-only
/*
 * xsbench: the lookup of macroscopic cross sections in Monte Carlo neutronics, after XSBench (Tramm,
 * Siegel, Islam, Schulz: "XSBench - the development and verification of a performance abstraction for
 * Monte Carlo reactor analysis", PHYSOR 2014), event by event on a unionised grid. An operation is a
 * lookup: at a random energy and in a random material, the energy is searched in the unionised grid, whose
 * index says where it is in the tables of all nuclides; the cross sections of those in the material are
 * interpolated and added up by density.
 *
 * What is hot: a lookup misses the cache in 2 lines of a row of the index, the most memory by far, in 30
 * of two points each of some 15 nuclides, and in 6 or more of a search of 20 steps in the energies. So
 * a page of tables or of energies is read 80 times as often as one of the index, or more. With 68
 * nuclides they are 17 percent of all memory (4 percent with 355); the best placement known has these
 * fast, and the index on what is left. Of the tables those of water are read five times as often as
 * those that only the fuel has.
 *
 * Check: some lookups are made again without the index, by a search of each nuclide's table, and must
 * give the same to the last bit.
 */
#include <string.h>

#include "base.h"
#include "materials.h"
#include "measure.h"
#include "nuclides.h"
#include "workload.h"

/* Lookups between two reports of progress. */
#define BATCH		256
/* Of the lookups one in so many is made again; fewer, so that no more results than this are kept. */
#define CHECK_EACH	32
#define MAX_KEPT	65536

struct size;

struct config {
	struct workload w;
	const struct size *size;
};

/* As published; gridpoints 0: what fits the working set. */
static const struct size {
	const char *name;
	uint64_t nuclides, gridpoints;
} sizes[] = {
	{ "0", NUCLIDES_SMALL, 0 },
	{ "small", NUCLIDES_SMALL, 11303 },
	{ "large", NUCLIDES_LARGE, 11303 },
	{ "XL", NUCLIDES_LARGE, 238847 },
};

static bool key_size(const struct key *key, const char *text, void *cfg)
{
	(void)key;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		if (strcmp(text, sizes[i].name))
			continue;
		((struct config *)cfg)->size = &sizes[i];
		return true;
	}
	return false;
}

static const struct key keys[] = {
	WORKLOAD_KEYS("3000000", "100"),
	{ "size", "0",
	  "small, large or XL, as published: 68 nuclides of 11303 gridpoints, 355 of 11303,\n"
	  "355 of 238847; 0: 68 nuclides of as many gridpoints as fit the working set", key_size, 0, 0, 0 },
};

static const struct keys all = {
	"Looks up macroscopic cross sections of neutrons, as XSBench does.",
	keys, sizeof(keys) / sizeof(keys[0]),
};

/**
 * struct bench - what lookups are made of, and what some of them gave
 * @kept: of lookup @each * i, its sum
 */
struct bench {
	struct nuclides nuclides;
	struct material materials[MATERIALS];
	uint64_t seed;
	uint64_t *kept;
	uint64_t each, nr_kept;
};

struct lookup {
	double energy;
	const struct material *material;
};

/* Lookup @nr, whatever those before it were. */
static struct lookup draw(const struct bench *b, uint64_t nr)
{
	uint64_t energy = mix64(b->seed + 2 * nr), roll = mix64(b->seed + 2 * nr + 1);

	return (struct lookup) {
		unit_of(energy), &b->materials[materials_pick(unit_of(roll))],
	};
}

/* Add what a nuclide contributes, interpolated between @low and the point after it. */
static inline void add(double sums[CROSS_SECTIONS], const struct gridpoint *low, double energy,
		       double density)
{
	double part = (low[1].energy - energy) / (low[1].energy - low->energy);

	for (unsigned int i = 0; i < CROSS_SECTIONS; i++)
		sums[i] += density * (low[1].xs[i] - part * (low[1].xs[i] - low->xs[i]));
}

/* One number that tells of all. */
static uint64_t checksum(const double sums[CROSS_SECTIONS])
{
	uint64_t sum = 0, bits;

	for (unsigned int i = 0; i < CROSS_SECTIONS; i++) {
		memcpy(&bits, &sums[i], sizeof(bits));
		sum = sum * 31 + bits;
	}
	return sum;
}

static uint64_t look_up(const struct bench *b, struct lookup lookup)
{
	const struct nuclides *n = &b->nuclides;
	const uint32_t *row = n->index + nuclides_union_search(n, lookup.energy) * n->nr;
	double sums[CROSS_SECTIONS] = { 0 };

	for (unsigned int i = 0; i < lookup.material->nr; i++) {
		uint64_t nuclide = lookup.material->nuclide[i];

		add(sums, n->table + nuclide * n->gridpoints + row[nuclide], lookup.energy,
		    lookup.material->density[i]);
	}
	return checksum(sums);
}

/* The same without index and unionised grid. */
static uint64_t look_up_again(const struct bench *b, struct lookup lookup)
{
	const struct nuclides *n = &b->nuclides;
	double sums[CROSS_SECTIONS] = { 0 };

	for (unsigned int i = 0; i < lookup.material->nr; i++) {
		uint64_t nuclide = lookup.material->nuclide[i];

		add(sums, n->table + nuclide * n->gridpoints + nuclides_search(n, nuclide, lookup.energy),
		    lookup.energy, lookup.material->density[i]);
	}
	return checksum(sums);
}

/* Returns a sum of all lookups' sums. */
static uint64_t look_up_all(struct bench *b, uint64_t ops, struct measure *m)
{
	uint64_t sum = 0;

	for (uint64_t first = 0, end; first < ops; first = end) {
		end = first + BATCH < ops ? first + BATCH : ops;
		for (uint64_t i = first; i < end; i++) {
			uint64_t one = look_up(b, draw(b, i));

			sum += one;
			if (i % b->each == 0)
				b->kept[b->nr_kept++] = one;
		}
		measure_add(m, end - first);
	}
	return sum;
}

/* Returns how many lookups are not the same when they are made again. */
static uint64_t verify(const struct bench *b)
{
	uint64_t bad = 0;

	for (uint64_t i = 0; i < b->nr_kept; i++)
		bad += look_up_again(b, draw(b, i * b->each)) != b->kept[i];
	return bad;
}

/* How lookups are distributed: by this a run can be told to be of this benchmark. */
static void report(const struct bench *b, uint64_t ops)
{
	uint64_t fuel = 0, nuclides = 0;

	for (uint64_t i = 0; i < ops; i++) {
		const struct material *material = draw(b, i).material;

		fuel += material == b->materials;
		nuclides += material->nr;
	}
	result_real("fuel_percent", fuel * 100.0 / ops);
	result_real("nuclides_per_lookup", (double)nuclides / ops);
	result("lookups_checked", b->nr_kept);
}

static void bench_init(struct bench *b, const struct config *cfg, struct place *place)
{
	uint64_t ops = cfg->w.ops, each = ops / MAX_KEPT + 1;
	struct nuclides *n = &b->nuclides;
	char what[32];

	b->seed = mix64(cfg->w.seed);
	b->each = each > CHECK_EACH ? each : CHECK_EACH;
	b->kept = xcalloc(ops / b->each + 1, sizeof(*b->kept));
	n->nr = cfg->size->nuclides;
	n->gridpoints = cfg->size->gridpoints;
	if (!n->gridpoints)
		n->gridpoints = workload_bytes(&cfg->w, cfg->w.working_set) / nuclides_bytes(n->nr);
	snprintf(what, sizeof(what), "size=%s", cfg->size->name);
	place_need(place, n->gridpoints * nuclides_bytes(n->nr), what);
	nuclides_map(n, place);
	nuclides_fill(n, b->seed);
	materials_fill(b->materials, n->nr, ~b->seed);
	result("nuclides", n->nr);
	result("gridpoints", n->gridpoints);
}

int main(int argc, char **argv)
{
	static struct measure measure;
	static struct bench bench;
	struct config cfg = { 0 };
	struct place place;
	uint64_t sum;

	workload_begin(&all, argc, argv, &cfg, &place);
	bench_init(&bench, &cfg, &place);
	measure_begin(&measure, &place, cfg.w.sample_ms);
	sum = look_up_all(&bench, cfg.w.ops, &measure);
	measure_end(&measure);
	report(&bench, cfg.w.ops);
	result("checksum", sum >> 1);
	bench.kept[bench.nr_kept / 2] ^= cfg.w.spoil;
	return workload_end(verify(&bench));
}
