// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <linux/mempolicy.h>
#include <string.h>
#include <sys/syscall.h>

#include "hotness_unit.h"

#define MAX_LINES	16384
#define MAX_ENTRIES	16384
#define WAIT_MS		5000		/* much more than any epoch that a test waits for */
#define TRIES		20
/* How much of a node may be looked through for a quiet range. */
#define LOOK_BYTES	(1ULL << 30)

uint64_t base;
unsigned int entries, width;
struct entry list[MAX_ENTRIES];
unsigned int nr_list;
static uint64_t touched[MAX_LINES];	/* device addresses of lines that missed */
static unsigned int nr_touched;
static uint64_t our_range;

const struct config usual = {
	.count = CHMU_COUNT_BOTH, .threshold = 1, .shift = 12, .scale = 3, .mult = EPOCH_MS / 10,
};

uint64_t get64(uint64_t at)
{
	return *(volatile uint64_t *)(dev + base + at);
}

uint64_t get(unsigned int at)
{
	return get64(CHMU_INSTANCES + at);
}

unsigned int get16(unsigned int at)
{
	return *(volatile uint16_t *)(dev + base + CHMU_INSTANCES + at);
}

unsigned int put(unsigned int at, uint64_t value)
{
	return write_register(base + CHMU_INSTANCES + at, value, 8);
}

void put_head(unsigned int head)
{
	write_register(base + CHMU_INSTANCES + CHMU_HEAD, head, 2);
}

struct pghot_labdev_chmu_truth truth(void)
{
	return *(volatile struct pghot_labdev_chmu_truth *)(dev + base + PGHOT_LABDEV_CHMU_TRUTH);
}

bool flag(unsigned int bit)
{
	return get(CHMU_STATUS) >> bit & 1;
}

bool settle(void)
{
	unsigned int left = 1000;

	while (CHMU_GET(get(CHMU_STATUS), CHMU_STATUS_BUSY)) {
		if (!left--)
			die("the unit stays busy");
		sleep_us(1000);
	}
	return CHMU_GET(get(CHMU_STATUS), CHMU_STATUS_ENABLED);
}

void ranges(uint64_t word)
{
	uint64_t bitmap = base + get(CHMU_BITMAP_OFFSET);

	for (unsigned int i = 0; i < 16; i++)
		write_register(bitmap + i * 8, word, 8);
}

uint64_t cfg0(const struct config *c)
{
	return CHMU_PUT(c->count, CHMU_CFG0_COUNT) | CHMU_PUT(c->random, CHMU_CFG0_RANDOM) |
	       CHMU_PUT(c->threshold, CHMU_CFG0_THRESHOLD) | c->flags;
}

void disable(void)
{
	put(CHMU_CFG0, 0);
	settle();
}

bool enable(const struct config *c)
{
	disable();
	put_head(get16(CHMU_TAIL));
	put(CHMU_STATUS, get(CHMU_STATUS));
	put(CHMU_CFG1, CHMU_PUT(c->shift, CHMU_CFG1_UNIT_SHIFT) |
	    CHMU_PUT(c->down, CHMU_CFG1_DOWNSAMPLING) | CHMU_PUT(c->mode, CHMU_CFG1_MODE) |
	    CHMU_PUT(c->scale, CHMU_CFG1_EPOCH_SCALE) | CHMU_PUT(c->mult, CHMU_CFG1_EPOCH_MULT));
	put(CHMU_CFG2, c->fill);
	put(CHMU_CFG0, cfg0(c) | CHMU_PUT(1, CHMU_CFG0_ENABLE));
	nr_touched = 0;
	nr_list = 0;
	return settle();
}

void touch(char *page, unsigned int lines, bool store)
{
	uint64_t first = device_address(page);

	cool();
	for (unsigned int i = 0; i < lines; i++) {
		if (store)
			*(volatile char *)(page + i * LINE) = 1;
		else
			*(volatile char *)(page + i * LINE);
	}
	if (nr_touched + lines > MAX_LINES)
		die("too many lines");
	for (unsigned int i = 0; i < lines; i++)
		touched[nr_touched++] = first + i * LINE;
}

void drain(void)
{
	uint64_t hotlist = get(CHMU_HOTLIST_OFFSET);
	unsigned int head = get16(CHMU_HEAD), tail = get16(CHMU_TAIL);

	while (head != tail && nr_list < MAX_ENTRIES) {
		uint64_t entry = get64(hotlist + head * 8);

		list[nr_list].number = entry >> width;
		list[nr_list++].count = entry & ((1ULL << width) - 1);
		head = (head + 1) % entries;
	}
	put_head(head);
}

void wait_epoch(void)
{
	uint64_t before = truth().epochs;

	for (unsigned int i = 0; truth().epochs == before; i++) {
		if (i == WAIT_MS)
			die("the epoch does not end");
		sleep_us(1000);
	}
	drain();
}

static uint64_t known(uint64_t number, unsigned int shift)
{
	uint64_t count = 0;

	for (unsigned int i = 0; i < nr_touched; i++)
		count += touched[i] >> shift == number;
	return count;
}

unsigned int found(const volatile void *at, unsigned int shift, uint64_t count)
{
	uint64_t number = device_address(at) >> shift;
	unsigned int times = 0;

	for (unsigned int i = 0; i < nr_list; i++)
		times += list[i].number == number && list[i].count == count;
	return times;
}

void compare(unsigned int shift, uint64_t threshold, const char *name)
{
	unsigned int want = 0, good = 0;

	for (unsigned int i = 0; i < nr_touched; i++) {
		bool first = true;

		for (unsigned int j = 0; j < i && first; j++)
			first = touched[j] >> shift != touched[i] >> shift;
		want += first && known(touched[i] >> shift, shift) >= threshold;
	}
	/* Each unit of memory is there once, for there are as many as there should be. */
	for (unsigned int i = 0; i < nr_list; i++) {
		bool first = true;

		for (unsigned int j = 0; j < i && first; j++)
			first = list[j].number != list[i].number;
		good += first && list[i].count >= threshold &&
			list[i].count == known(list[i].number, shift);
	}
	is(good, want, name);
	is(nr_list, want, name);
}

void in_one_epoch(const struct config *c, void (*work)(char *mem), char *mem)
{
	unsigned int tries = 0;
	uint64_t before;

	do {
		if (tries++ == TRIES)
			die("an epoch is too short for this");
		enable(c);
		before = truth().epochs;
		work(mem);
	} while (truth().epochs != before);
	wait_epoch();
	disable();
}

void only_ours(void)
{
	ranges(0);
	write_register(base + get(CHMU_BITMAP_OFFSET) + our_range / 64 * 8, 1ULL << our_range % 64,
		       8);
}

static bool is_quiet(uint64_t range)
{
	our_range = range;
	only_ours();
	enable(&usual);
	wait_epoch();
	disable();
	return !nr_list;
}

char *quiet_memory(int slow)
{
	char *mem = mmap(NULL, LOOK_BYTES, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	uint64_t mask = 1ULL << slow, range, last = ~0ULL;

	if (mem == MAP_FAILED || madvise(mem, LOOK_BYTES, MADV_HUGEPAGE) ||
	    syscall(SYS_mbind, mem, LOOK_BYTES, MPOL_BIND, &mask, 8 * sizeof(mask), 0))
		die("memory of a node");
	for (char *at = mem + -(uintptr_t)mem % QUIET_BYTES; at + QUIET_BYTES <= mem + LOOK_BYTES;
	     at += QUIET_BYTES) {
		*(volatile char *)at = 1;
		range = device_address(at) / CHMU_RANGE_BYTES;
		if (range == last ||
		    device_address(at + QUIET_BYTES - PAGE) - device_address(at) != QUIET_BYTES - PAGE)
			continue;
		if (is_quiet(range))
			return at;
		last = range;
	}
	die("no quiet range on the node");
}

void find_unit(int slow)
{
	const struct pghot_labdev_chmus *units = (void *)(dev + PGHOT_LABDEV_CHMUS);

	for (uint32_t i = 0; i < units->nr; i++)
		if (units->unit[i].node == (uint32_t)slow)
			base = units->unit[i].regs;
	if (!base)
		die("no unit for the node");
	entries = CHMU_GET(get(CHMU_CAP0), CHMU_CAP0_HOTLIST_ENTRIES);
	width = CHMU_GET(get(CHMU_STATUS), CHMU_STATUS_COUNTER_WIDTH);
	ranges(~0ULL);
}
