// SPDX-License-Identifier: GPL-2.0-only
/*
 * prof - the registers of the lab's memory profilers, from user space
 *
 * usage: prof sum FIELD			of all CPUs
 *        prof set FIELD VALUE			of each CPU: a store to the bar, behind the plugin's back
 *        prof rubbish SECONDS SEED		write rubbish to rings and registers, then put the sizes right
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "pghot/user/labdev.h"

#define FIELD(name)	{ #name, offsetof(struct pghot_labdev_prof, name), \
			  sizeof(((struct pghot_labdev_prof *)0)->name) }
static const struct field {
	const char *name;
	size_t offset, size;
} fields[] = {
	FIELD(nr_slots), FIELD(control), FIELD(period), FIELD(head), FIELD(dropped), FIELD(samples),
	FIELD(tail),
};

enum { NR_FIELDS = sizeof(fields) / sizeof(fields[0]) };

static volatile char *dev;
static unsigned int cpus;

static void die(const char *what)
{
	fprintf(stderr, "prof: %s\n", what);
	exit(1);
}

static const struct field *find(const char *name)
{
	for (unsigned int i = 0; i < NR_FIELDS; i++)
		if (!strcmp(fields[i].name, name))
			return &fields[i];
	die("no such field");
	return NULL;
}

static volatile void *at(unsigned int cpu, const struct field *f)
{
	return dev + PGHOT_LABDEV_PROF_REGS + cpu * PGHOT_LABDEV_PROF_REGS_STEP + f->offset;
}

static uint64_t get(unsigned int cpu, const struct field *f)
{
	return f->size == 4 ? *(volatile uint32_t *)at(cpu, f) : *(volatile uint64_t *)at(cpu, f);
}

static void set(unsigned int cpu, const struct field *f, uint64_t value)
{
	if (f->size == 4)
		*(volatile uint32_t *)at(cpu, f) = (uint32_t)value;
	else
		*(volatile uint64_t *)at(cpu, f) = value;
}

static uint64_t roll(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* Anything; often numbers that are near what is right, or at an edge. */
static uint64_t rubbish_near(uint64_t right, uint64_t *rng)
{
	switch (roll(rng) % 5) {
	case 0:
		return right + roll(rng) % 64 - 32;
	case 1:
		return 1ull << roll(rng) % 64;
	case 2:
		return 0 - roll(rng) % 3;
	default:
		return roll(rng);
	}
}

static void rubbish_once(unsigned int cpu, uint64_t *rng)
{
	volatile uint64_t *ring = (volatile uint64_t *)(dev + PGHOT_LABDEV_PROF_RINGS +
							cpu * PGHOT_LABDEV_PROF_RINGS_STEP);
	const struct field *f = &fields[roll(rng) % NR_FIELDS];
	unsigned int words = PGHOT_LABDEV_PROF_RINGS_STEP / 8, i;

	for (i = 0; i < words; i++)
		ring[i] = rubbish_near(0xe3, rng);
	/* Settings are the plugin's business. */
	if (strcmp(f->name, "control") && strcmp(f->name, "period"))
		set(cpu, f, rubbish_near(get(cpu, f), rng));
}

static void rubbish(unsigned int seconds, uint64_t rng)
{
	const struct field *slots = find("nr_slots");
	time_t end = time(NULL) + seconds;
	uint64_t right = get(0, slots), rounds = 0;

	while (time(NULL) < end) {
		rubbish_once(roll(&rng) % cpus, &rng);
		rounds++;
		usleep(3000);
	}
	for (unsigned int cpu = 0; cpu < cpus; cpu++)
		set(cpu, slots, right);
	printf("%llu\n", (unsigned long long)rounds);
}

int main(int argc, char **argv)
{
	uint64_t sum = 0;

	cpus = (unsigned int)sysconf(_SC_NPROCESSORS_ONLN);
	dev = labdev_open();
	if (!dev)
		die("the lab's device is not there");
	if (argc == 3 && !strcmp(argv[1], "sum")) {
		for (unsigned int cpu = 0; cpu < cpus; cpu++)
			sum += get(cpu, find(argv[2]));
		printf("%llu\n", (unsigned long long)sum);
	} else if (argc == 4 && !strcmp(argv[1], "set")) {
		for (unsigned int cpu = 0; cpu < cpus; cpu++)
			set(cpu, find(argv[2]), strtoull(argv[3], NULL, 0));
	} else if (argc == 4 && !strcmp(argv[1], "rubbish")) {
		rubbish((unsigned int)atoi(argv[2]), strtoull(argv[3], NULL, 0) | 1);
	} else {
		die("usage: prof sum FIELD | set FIELD VALUE | rubbish SECONDS SEED");
	}
	return 0;
}
