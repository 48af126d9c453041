// SPDX-License-Identifier: GPL-2.0-only
#include "materials.h"
#include "pattern.h"
#include "workload.h"

/*
 * How many nuclides a material has and which ones materials share is as published; nuclides are
 * numbered so that those of a material are one or two stretches. Water and the pressure vessel's
 * steel have one nuclide of the fuel each; reflectors, plates and nozzles are water and some of the
 * steel, ends of assemblies are water and cladding.
 */
struct stretch {
	unsigned int first, nr;
};

#define FUEL		{ 0, 34 }
#define STEEL_IN_FUEL	{ 32, 1 }
#define WATER		{ 33, 4 }
#define WATER_STEEL	{ 33, 21 }
#define STEEL		{ 37, 26 }
#define CLADDING	{ 63, 5 }
#define NONE		{ 0, 0 }

/* Percent of a particle's collisions that are in it: Tramm et al., XSBench; fuel has what is left, 14. */
static const struct {
	struct stretch stretches[2];
	double percent;
} parts[MATERIALS] = {
	{ { FUEL, NONE }, 0 },
	{ { CLADDING, NONE }, 5.2 },
	{ { WATER, NONE }, 27.5 },		/* cold */
	{ { WATER, NONE }, 13.4 },		/* hot */
	{ { STEEL_IN_FUEL, STEEL }, 15.4 },	/* reactor pressure vessel */
	{ { WATER_STEEL, NONE }, 6.4 },		/* radial reflector */
	{ { WATER_STEEL, NONE }, 6.6 },		/* upper reflector, top plate */
	{ { WATER_STEEL, NONE }, 5.5 },		/* bottom plate */
	{ { WATER_STEEL, NONE }, 0.8 },		/* bottom nozzle */
	{ { WATER_STEEL, NONE }, 1.5 },		/* top nozzle */
	{ { WATER, CLADDING }, 2.5 },		/* top of fuel assemblies */
	{ { WATER, CLADDING }, 1.3 },		/* bottom of fuel assemblies */
};

static void add(struct material *material, struct stretch stretch)
{
	for (unsigned int i = 0; i < stretch.nr; i++)
		material->nuclide[material->nr++] = stretch.first + i;
}

/* Densities are random, as XSBench's are. */
void materials_fill(struct material materials[MATERIALS], unsigned int nuclides, uint64_t seed)
{
	uint64_t rng = mix64(seed) | 1;

	for (unsigned int i = 0; i < MATERIALS; i++) {
		struct material *material = &materials[i];

		material->nr = 0;
		add(material, parts[i].stretches[0]);
		add(material, parts[i].stretches[1]);
		if (!i)
			add(material, (struct stretch) { NUCLIDES_SMALL, nuclides - NUCLIDES_SMALL });
		for (unsigned int at = 0; at < material->nr; at++) {
			rng = xorshift64(rng);
			material->density[at] = unit_of(rng);
		}
	}
}

unsigned int materials_pick(double roll)
{
	double percent = roll * 100;

	for (unsigned int i = 1; i < MATERIALS; i++) {
		if (percent < parts[i].percent)
			return i;
		percent -= parts[i].percent;
	}
	return 0;
}
