// SPDX-License-Identifier: GPL-2.0-only
/*
 * chmu - look at the lab's first hotness unit from outside, and do to its registers what no device does
 *
 * usage: chmu truth                       what it counted: "NAME VALUE" lines
 *        chmu peek OFFSET BYTES           a register, hexadecimal; OFFSET from the block's start
 *        chmu poke OFFSET BYTES VALUE     put VALUE there in place, past the plugin
 *        chmu units VALUE                 say that there are so many units
 *        chmu rubbish SECONDS             random entries, and indices in and out of range
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "pghot/chmu.h"
#include "pghot/user/labdev.h"

static volatile char *bar, *block;

static uint64_t get(uint64_t at, unsigned int bytes)
{
	if (bytes == 2)
		return *(volatile uint16_t *)(block + at);
	return bytes == 4 ? *(volatile uint32_t *)(block + at) : *(volatile uint64_t *)(block + at);
}

static void put(uint64_t at, unsigned int bytes, uint64_t value)
{
	if (bytes == 2)
		*(volatile uint16_t *)(block + at) = value;
	else if (bytes == 4)
		*(volatile uint32_t *)(block + at) = value;
	else
		*(volatile uint64_t *)(block + at) = value;
}

static void truth(void)
{
	const volatile struct pghot_labdev_chmu_truth *t =
		(const volatile void *)(block + PGHOT_LABDEV_CHMU_TRUTH);

	printf("seen %llu\nentries %llu\nlost %llu\nepochs %llu\n", (unsigned long long)t->seen,
	       (unsigned long long)t->entries, (unsigned long long)t->lost,
	       (unsigned long long)t->epochs);
}

static uint64_t draw(uint64_t *random)
{
	*random ^= *random << 13;
	*random ^= *random >> 7;
	*random ^= *random << 17;
	return *random;
}

static void rubbish(int seconds)
{
	uint64_t hotlist = get(CHMU_INSTANCES + CHMU_HOTLIST_OFFSET, 8), random = 88172645463325252ULL;
	uint64_t entries = CHMU_GET(get(CHMU_INSTANCES + CHMU_CAP0, 8), CHMU_CAP0_HOTLIST_ENTRIES);
	time_t end = time(NULL) + seconds;

	while (time(NULL) < end) {
		for (uint64_t i = 0; i < entries; i++)
			put(hotlist + i * 8, 8, draw(&random));
		/* Rarely out of range: that alone stops all others. */
		put(CHMU_INSTANCES + CHMU_TAIL, 2, draw(&random) % (entries + entries / 64 + 1));
		usleep(draw(&random) % 20000);
	}
}

int main(int argc, char **argv)
{
	const volatile struct pghot_labdev_chmus *chmus;

	bar = labdev_open();
	if (!bar || argc < 2) {
		fprintf(stderr, argc < 2 ? "usage: chmu truth|peek|poke|units|rubbish ...\n" :
			"chmu: there is no lab device\n");
		return 2;
	}
	chmus = (const volatile void *)(bar + PGHOT_LABDEV_CHMUS);
	block = bar + chmus->unit[0].regs;
	if (!strcmp(argv[1], "truth"))
		truth();
	else if (!strcmp(argv[1], "peek") && argc == 4)
		printf("0x%llx\n", (unsigned long long)get(strtoull(argv[2], NULL, 0), atoi(argv[3])));
	else if (!strcmp(argv[1], "poke") && argc == 5)
		put(strtoull(argv[2], NULL, 0), atoi(argv[3]), strtoull(argv[4], NULL, 0));
	else if (!strcmp(argv[1], "units") && argc == 3)
		((volatile struct pghot_labdev_chmus *)chmus)->nr = atoi(argv[2]);
	else if (!strcmp(argv[1], "rubbish") && argc == 3)
		rubbish(atoi(argv[2]));
	else
		return 2;
	return 0;
}
