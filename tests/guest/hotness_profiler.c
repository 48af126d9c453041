// SPDX-License-Identifier: GPL-2.0-only
/* hotness: the memory profilers */
#include <stdbool.h>
#include <string.h>

#include "hotness.h"

/* Accesses of one measurement: enough that what else runs on this CPU is lost in it. */
#define ACCESSES	1000000ULL
/* More than the modelled cache has. */
#define REGION		(4ULL << 20)

#define PERIOD		PGHOT_LABDEV_PROF_PERIOD_MIN
#define ENABLE		PGHOT_LABDEV_PROF_ENABLE
#define L3MISS		PGHOT_LABDEV_PROF_L3MISS
#define USER		PGHOT_LABDEV_PROF_USER
#define LATENCY(n)	((uint64_t)(n) << PGHOT_LABDEV_PROF_LATENCY_SHIFT)
#define VALID		(PGHOT_LABDEV_SAMPLE_VADDR | PGHOT_LABDEV_SAMPLE_PADDR)

static volatile struct pghot_labdev_prof *prof(unsigned int cpu)
{
	return (volatile void *)(dev + PGHOT_LABDEV_PROF_REGS + cpu * PGHOT_LABDEV_PROF_REGS_STEP);
}

static volatile struct pghot_labdev_sample *ring(void)
{
	return (volatile void *)(dev + PGHOT_LABDEV_PROF_RINGS);
}

static unsigned int put(unsigned int field, uint64_t value)
{
	return write_register(PGHOT_LABDEV_PROF_REGS + field, value, 8);
}

static void control(uint64_t value)
{
	put(offsetof(struct pghot_labdev_prof, control), value);
}

static void period(uint64_t value)
{
	put(offsetof(struct pghot_labdev_prof, period), value);
}

/* Empty the ring and switch on. */
static uint64_t begin(uint64_t flags)
{
	control(0);
	prof(0)->tail = prof(0)->head;
	control(flags | ENABLE);
	return prof(0)->samples;
}

/* In a loop that does nothing else. */
static void load(const void *at, uint64_t times)
{
	uint64_t value;

	__asm__ volatile("1: movq (%[at]), %[value]\n\tdecq %[times]\n\tjnz 1b"
			 : [value] "=&r" (value), [times] "+r" (times)
			 : [at] "r" (at) : "memory", "cc");
}

static void store(void *at, uint64_t times)
{
	__asm__ volatile("1: movq %[times], (%[at])\n\tdecq %[times]\n\tjnz 1b"
			 : [times] "+r" (times) : [at] "r" (at) : "memory", "cc");
}

static void add(void *at, uint64_t times)
{
	__asm__ volatile("1: lock incq (%[at])\n\tdecq %[times]\n\tjnz 1b"
			 : [times] "+r" (times) : [at] "r" (at) : "memory", "cc");
}

/* Every second line, so that no prefetcher sees a stream: each access misses. */
static void miss(const char *mem, uint64_t times)
{
	for (uint64_t at = 0; times--; at = (at + 2 * LINE) % REGION)
		*(const volatile char *)(mem + at);
}

static void stream(const char *mem, uint64_t times)
{
	for (uint64_t at = 0; times--; at = (at + LINE) % REGION)
		*(const volatile char *)(mem + at);
}

/* How many samples @accesses make, with all of them passing. */
static uint64_t expected(uint64_t accesses, uint64_t every)
{
	/* On average half of a sixteenth less than the period. */
	return accesses * prof(0)->ops * 32 / (every * 31);
}

static void about(uint64_t got, uint64_t want, const char *name)
{
	least(got, want * 97 / 100, name);
	most(got, want * 103 / 100, name);
}

/*
 * Among the samples that wait: how many of [@mem, @mem + @bytes) are as they should be? And all is
 * taken out. In @rest: how many others there are.
 */
static uint64_t take(const char *mem, uint64_t bytes, uint32_t flags, uint32_t cycles,
		     uint64_t *rest)
{
	uint64_t head = prof(0)->head, good = 0;

	*rest = 0;
	for (uint64_t i = prof(0)->tail; i != head; i++) {
		const struct pghot_labdev_sample s = ring()[i % prof(0)->nr_slots];

		if (s.vaddr - (uintptr_t)mem < bytes && s.flags == (flags | VALID) &&
		    s.cycles == cycles && s.paddr == physical((void *)(uintptr_t)s.vaddr))
			good++;
		else
			++*rest;
	}
	prof(0)->tail = head;
	return good;
}

static void consistent(const char *name)
{
	control(0);
	is(prof(0)->head + prof(0)->dropped, prof(0)->samples, name);
}

static void test_registers(void)
{
	const unsigned int field = offsetof(struct pghot_labdev_prof, period);
	const unsigned int flags = offsetof(struct pghot_labdev_prof, control);

	is(prof(0)->nr_slots, 64, "profiler: slots as configured");
	is(prof(0)->ops, 100, "profiler: operations of an access");
	is(prof(0)->control, 0, "profiler: off at power-on");
	period(PERIOD);
	period(PERIOD - 1);
	is(prof(0)->period, PERIOD, "profiler: a period too short does nothing");
	period(PGHOT_LABDEV_PROF_PERIOD_MAX + 1ULL);
	is(prof(0)->period, PERIOD, "profiler: a period too long does nothing");
	control(LATENCY(16) | USER | 1ULL << 40 | 1 << 5);
	is(prof(0)->control, LATENCY(16) | USER, "profiler: reserved bits are not kept");
	control(LATENCY(17));
	is(prof(0)->control, LATENCY(16) | USER, "profiler: a latency too long does nothing");
	control(0);
	is(write_register(PGHOT_LABDEV_PROF_REGS + field, PERIOD, 4), PGHOT_LABDEV_INVALID,
	   "profiler: half a register is none");
	is(put(offsetof(struct pghot_labdev_prof, head), 1), PGHOT_LABDEV_INVALID,
	   "profiler: head is not written");
	is(write_register(PGHOT_LABDEV_PROF_REGS + 63 * PGHOT_LABDEV_PROF_REGS_STEP + flags, 1, 8),
	   PGHOT_LABDEV_INVALID, "profiler: no such CPU");
}

static void test_rate(char *mem)
{
	uint64_t before, rest, head;

	before = begin(USER);
	load(mem, ACCESSES);
	consistent("profiler: samples are put or dropped");
	about(prof(0)->samples - before, expected(ACCESSES, PERIOD), "profiler: rate of samples");
	is(prof(0)->head - prof(0)->tail, 64, "profiler: the ring is full");
	least(take(mem, 1, PGHOT_LABDEV_SAMPLE_LOAD | PGHOT_LABDEV_SAMPLE_USER |
		   PGHOT_LABDEV_SAMPLE_CACHE, 40, &rest), 60, "profiler: samples of loads");

	period(4 * PERIOD);
	before = begin(USER);
	store(mem, ACCESSES);
	control(0);
	about(prof(0)->samples - before, expected(ACCESSES, 4 * PERIOD),
	      "profiler: rate with a longer period");
	least(take(mem, 1, PGHOT_LABDEV_SAMPLE_STORE | PGHOT_LABDEV_SAMPLE_USER |
		   PGHOT_LABDEV_SAMPLE_CACHE, 40, &rest), 60, "profiler: samples of stores");
	period(PERIOD);
	before = begin(USER);
	add(mem, ACCESSES / 2);
	control(0);
	about(prof(0)->samples - before, expected(ACCESSES, PERIOD),
	      "profiler: an atomic one is two accesses");
	least(take(mem, 1, PGHOT_LABDEV_SAMPLE_LOAD | PGHOT_LABDEV_SAMPLE_STORE |
		   PGHOT_LABDEV_SAMPLE_USER | PGHOT_LABDEV_SAMPLE_CACHE, 40, &rest), 60,
	      "profiler: samples of atomic ones");

	before = prof(0)->samples;
	load(mem, ACCESSES);
	is(prof(0)->samples, before, "profiler: none while it is off");
	is(prof(1)->samples, 0, "profiler: none of a CPU whose profiler is off");

	/* A tail that makes no sense means a full ring. */
	begin(USER);
	head = prof(0)->head;
	prof(0)->tail = head + 1000;
	load(mem, ACCESSES / 10);
	consistent("profiler: a tail beyond the head: samples are put or dropped");
	most(prof(0)->head - head, 2, "profiler: a tail beyond the head: the ring is full");
}

static void test_filters(const char *fast, const char *slow)
{
	const uint32_t user = PGHOT_LABDEV_SAMPLE_LOAD | PGHOT_LABDEV_SAMPLE_USER;
	uint64_t before, rest, want = expected(ACCESSES, PERIOD);

	before = begin(USER | L3MISS);
	load(slow, ACCESSES);
	control(0);
	most(prof(0)->samples - before, want / 100, "profiler: L3 misses only: hits are none");
	before = begin(USER | L3MISS);
	miss(slow, ACCESSES);
	control(0);
	about(prof(0)->samples - before, want, "profiler: L3 misses only: misses");
	least(take(slow, REGION, user | PGHOT_LABDEV_SAMPLE_EXTMEM, 625, &rest), 60,
	      "profiler: misses of a slow node");
	begin(USER | L3MISS);
	miss(fast, ACCESSES);
	control(0);
	least(take(fast, REGION, user | PGHOT_LABDEV_SAMPLE_DRAM, 200, &rest), 60,
	      "profiler: misses of a fast node");
	begin(USER | L3MISS);
	stream(slow, ACCESSES);
	control(0);
	least(take(slow, REGION, user | PGHOT_LABDEV_SAMPLE_EXTMEM, 40, &rest), 60,
	      "profiler: streamed misses");

	before = begin(USER | LATENCY(4));
	miss(slow, ACCESSES);
	control(0);
	about(prof(0)->samples - before, want, "profiler: 625 cycles are at least 4 x 128");
	before = begin(USER | LATENCY(5));
	miss(slow, ACCESSES);
	control(0);
	most(prof(0)->samples - before, want / 100, "profiler: and less than 5 x 128");
	before = begin(USER | LATENCY(1));
	load(slow, ACCESSES);
	control(0);
	most(prof(0)->samples - before, want / 100, "profiler: a hit takes less than 128");
}

/* Of what the kernel does for us, in the middle of much that we do. */
static uint64_t kernel_samples(uint64_t flags, char *mem)
{
	int fd = open("/dev/zero", O_RDONLY);
	uint64_t rest, all = 0;

	begin(flags);
	for (unsigned int i = 0; i < 16; i++) {
		if (read(fd, mem, REGION / 16) != REGION / 16)
			die("/dev/zero");
		for (uint64_t at = prof(0)->tail; at != prof(0)->head; at++)
			all += !(ring()[at % prof(0)->nr_slots].flags & PGHOT_LABDEV_SAMPLE_USER);
		take(mem, REGION, 0, 0, &rest);
	}
	control(0);
	close(fd);
	return all;
}

void test_profiler(int fast, int slow)
{
	char *mem[] = { map_on(REGION, fast), map_on(REGION, slow) };

	test_registers();
	test_rate(mem[1]);
	test_filters(mem[0], mem[1]);
	least(kernel_samples(0, mem[1]), 100, "profiler: the kernel's accesses");
	is(kernel_samples(USER, mem[1]), 0, "profiler: user only: none of them");
	consistent("profiler: after all: samples are put or dropped");
}
