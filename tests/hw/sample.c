// SPDX-License-Identifier: GPL-2.0-only
/*
 * Samples of memory profilers: entries as the lab writes them and records as perf makes them of IBS
 * and PEBS, what counts of them, and the ring between a handler and a thread.
 *
 * Usage: sample [SEED]
 */
#include <pthread.h>
#include <string.h>

#include "../../hw/ring.h"
#include "../../include/pghot/labdev.h"
#include "../tap.h"

enum {
	LOAD = PGHOT_LABDEV_SAMPLE_LOAD,
	STORE = PGHOT_LABDEV_SAMPLE_STORE,
	USER = PGHOT_LABDEV_SAMPLE_USER,
	VADDR = PGHOT_LABDEV_SAMPLE_VADDR,
	PADDR = PGHOT_LABDEV_SAMPLE_PADDR,
	CACHE = PGHOT_LABDEV_SAMPLE_CACHE,
	DRAM = PGHOT_LABDEV_SAMPLE_DRAM,
	EXTMEM = PGHOT_LABDEV_SAMPLE_EXTMEM,
	FULL = VADDR | PADDR,
};

static struct hwhint_sample lab(u32 flags, u64 paddr, u32 cycles)
{
	struct pghot_labdev_sample slot = {
		.vaddr = 0x7f0000001234, .paddr = paddr, .flags = flags, .cycles = cycles,
	};
	struct hwhint_sample s;

	hwhint_from_lab(&slot, &s);
	return s;
}

static void test_lab(void)
{
	static const struct {
		const char *name;
		u32 flags;
		u64 paddr;
		u32 want;
	} cases[] = {
		{ "load from slow memory", LOAD | USER | FULL | EXTMEM, 0x140000040,
		  HWHINT_LOAD | HWHINT_USER | HWHINT_PADDR | HWHINT_EXTMEM },
		{ "store of the kernel to fast memory", STORE | FULL | DRAM, 0x1000,
		  HWHINT_STORE | HWHINT_PADDR | HWHINT_DRAM },
		{ "cache hit", LOAD | USER | FULL | CACHE, 0x2000,
		  HWHINT_LOAD | HWHINT_USER | HWHINT_PADDR | HWHINT_CACHE },
		{ "no physical address", LOAD | USER | VADDR | DRAM, ~0ull,
		  HWHINT_LOAD | HWHINT_USER | HWHINT_DRAM },
		{ "nobody knows what served it", STORE | PADDR, 0, HWHINT_STORE | HWHINT_PADDR },
		{ "highest address there can be", LOAD | PADDR, (1ull << 52) - 1,
		  HWHINT_LOAD | HWHINT_PADDR },
		{ "address of 53 bits", LOAD | PADDR, 1ull << 52, HWHINT_GARBAGE },
		{ "an empty entry", 0, 0, HWHINT_GARBAGE },
		{ "neither load nor store", USER | FULL | DRAM, 0x1000, HWHINT_GARBAGE },
		{ "an atomic instruction", LOAD | STORE | FULL | DRAM, 0x1000,
		  HWHINT_LOAD | HWHINT_STORE | HWHINT_PADDR | HWHINT_DRAM },
		{ "served by two", LOAD | FULL | DRAM | EXTMEM, 0x1000, HWHINT_GARBAGE },
		{ "served by all", LOAD | FULL | CACHE | DRAM | EXTMEM, 0x1000, HWHINT_GARBAGE },
		{ "unknown flag", LOAD | FULL | DRAM | 1u << 8, 0x1000, HWHINT_GARBAGE },
		{ "all ones", ~0u, ~0ull, HWHINT_GARBAGE },
	};
	u32 i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hwhint_sample s = lab(cases[i].flags, cases[i].paddr, 625);

		is(s.flags, cases[i].want, cases[i].name);
		if (s.flags & HWHINT_GARBAGE)
			is(s.paddr | s.latency, 0, "  of garbage nothing is kept");
		else
			ok(s.latency == 625 && s.paddr == cases[i].paddr, "  address and latency");
	}
}

static void test_pending(void)
{
	static const struct {
		const char *name;
		u32 slots;
		u64 head, tail;
		long long want;		/* -1: makes no sense */
	} cases[] = {
		{ "empty", 256, 77, 77, 0 },
		{ "one", 256, 78, 77, 1 },
		{ "full", 256, 77 + 256, 77, 256 },
		{ "more than full", 256, 77 + 257, 77, -1 },
		{ "tail before head", 256, 76, 77, -1 },
		{ "across 2^32", 1024, (1ull << 32) + 3, (1ull << 32) - 4, 7 },
		{ "across 2^64", 1024, 3, ~0ull - 4, 8 },
		{ "full across 2^64", 8, 4, ~0ull - 3, 8 },
		{ "no slots", 0, 5, 5, -1 },
		{ "a ring of one", 1, 6, 5, 1 },
		{ "not a power of two", 250, 77, 77, -1 },
		{ "too many slots", 2048, 77, 77, -1 },
		{ "all ones", ~0u, ~0ull, 0, -1 },
		{ "2^31 slots", 1u << 31, 5, 0, -1 },
	};
	u32 i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		u32 pending = 99;
		bool good = hwhint_lab_pending(cases[i].slots, cases[i].head, cases[i].tail,
					       &pending);

		is(good ? (long long)pending : -1, cases[i].want, cases[i].name);
	}
}

/*
 * perf_mem_data_src as arch/x86/events puts it together: LVLNUM << 33 | LVL << 5 | OP. The records
 * are those that g_zen4_data_src[] (IBS) and pebs_data_source[] (PEBS) make.
 */
#define SRC(num, lvl, op)	((u64)(num) << 33 | (u64)(lvl) << 5 | (u64)(op))
#define REMOTE			((u64)1 << 37)
enum {
	NA = 1, HIT = 2, MISS = 4, L1 = 8, LFB = 0x10, L2 = 0x20, L3 = 0x40, LOC_RAM = 0x80,
	REM_RAM1 = 0x100, REM_CCE1 = 0x400, REM_CCE2 = 0x800, IO = 0x1000, UNC = 0x2000,
	OP_NA = 1, OP_LOAD = 2, OP_STORE = 4,
};

static void test_perf(void)
{
	static const struct {
		const char *name;
		u64 src;
		u32 want;		/* of load, store, and what served it */
	} cases[] = {
		{ "IBS: no access", SRC(0, 0, OP_NA), 0 },
		{ "IBS: L1", SRC(1, L1 | HIT, OP_LOAD), HWHINT_LOAD | HWHINT_CACHE },
		{ "IBS: store that hit L2", SRC(2, L2 | HIT, OP_STORE), HWHINT_STORE | HWHINT_CACHE },
		{ "IBS: L3", SRC(3, L3 | HIT, OP_LOAD), HWHINT_LOAD | HWHINT_CACHE },
		{ "IBS: another CCX's cache", SRC(0xb, REM_CCE1 | HIT, OP_LOAD) | REMOTE,
		  HWHINT_LOAD | HWHINT_CACHE },
		{ "IBS: DRAM", SRC(0xd, LOC_RAM | HIT, OP_LOAD), HWHINT_LOAD | HWHINT_DRAM },
		{ "IBS: remote DRAM", SRC(0xd, REM_RAM1 | HIT, OP_LOAD) | REMOTE,
		  HWHINT_LOAD | HWHINT_DRAM },
		{ "IBS: persistent memory", SRC(0xe, 0, OP_LOAD), HWHINT_LOAD | HWHINT_EXTMEM },
		{ "IBS: CXL", SRC(9, 0, OP_LOAD), HWHINT_LOAD | HWHINT_EXTMEM },
		{ "IBS: remote CXL", SRC(9, 0, OP_LOAD) | REMOTE, HWHINT_LOAD | HWHINT_EXTMEM },
		{ "IBS: a store that missed the L2", SRC(0xf, NA, OP_STORE), HWHINT_STORE },
		{ "IBS: a miss under way", SRC(0xc, LFB | HIT, OP_LOAD), HWHINT_LOAD | HWHINT_CACHE },
		{ "IBS: a device", SRC(0xa, IO | HIT, OP_LOAD), HWHINT_LOAD },
		{ "IBS: uncached", SRC(8, UNC | HIT, OP_LOAD), HWHINT_LOAD },
		{ "PEBS: some L3 miss", SRC(3, MISS, OP_LOAD), HWHINT_LOAD },
		{ "PEBS: L3", SRC(3, L3 | HIT, OP_LOAD), HWHINT_LOAD | HWHINT_CACHE },
		{ "PEBS: L2 miss handling buffer", SRC(5, 0, OP_LOAD), HWHINT_LOAD | HWHINT_CACHE },
		{ "PEBS: memory-side cache", SRC(6, 0, OP_LOAD), HWHINT_LOAD | HWHINT_CACHE },
		{ "PEBS: DRAM", SRC(0xd, LOC_RAM | HIT, OP_LOAD), HWHINT_LOAD | HWHINT_DRAM },
		{ "PEBS: remote cache, no number", SRC(0, REM_CCE2 | HIT, OP_LOAD),
		  HWHINT_LOAD | HWHINT_CACHE },
		{ "PEBS: remote DRAM, no number", SRC(0, REM_RAM1 | HIT, OP_LOAD),
		  HWHINT_LOAD | HWHINT_DRAM },
		{ "PEBS: uncached, no number", SRC(0, UNC | HIT, OP_LOAD), HWHINT_LOAD },
		{ "PEBS: not said", SRC(0xf, NA, OP_LOAD), HWHINT_LOAD },
		{ "no data source", 0, 0 },
	};
	struct hwhint_perf p = { .weight = 900, .phys_addr = 0x123456789, .user = true };
	struct hwhint_sample s;
	u32 i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		p.data_src = cases[i].src;
		hwhint_from_perf(&p, &s);
		is(s.flags, cases[i].want | HWHINT_PADDR | HWHINT_USER, cases[i].name);
	}
	ok(s.paddr == 0x123456789 && s.latency == 900, "address and latency");
	p = (struct hwhint_perf){ .weight = 1ull << 40 };
	hwhint_from_perf(&p, &s);
	is(s.latency, ~0u, "a latency of more than 32 bits is the most that there is");
	is(s.flags, 0, "no address, not of user code");
}

static void test_judge(void)
{
	enum { GOOD = HWHINT_LOAD | HWHINT_USER | HWHINT_PADDR | HWHINT_EXTMEM };
	static const struct {
		const char *name;
		u32 flags, latency;
		bool user_only;
		u32 latency_min;
		enum hwhint_verdict want;
	} cases[] = {
		{ "all is well", GOOD, 700, true, 0, HWHINT_USEFUL },
		{ "as slow as is wanted", GOOD, 640, true, 640, HWHINT_USEFUL },
		{ "a cycle too fast", GOOD, 639, true, 640, HWHINT_IS_QUICK },
		{ "latency unknown and not wanted", GOOD, 0, true, 0, HWHINT_USEFUL },
		{ "latency unknown and wanted", GOOD, 0, true, 128, HWHINT_IS_QUICK },
		{ "of the kernel", GOOD & ~HWHINT_USER, 700, true, 0, HWHINT_IS_KERNEL },
		{ "of the kernel, which is wanted", GOOD & ~HWHINT_USER, 700, false, 0, HWHINT_USEFUL },
		{ "no address", GOOD & ~HWHINT_PADDR, 700, true, 0, HWHINT_NO_ADDRESS },
		{ "served by a cache", HWHINT_LOAD | HWHINT_USER | HWHINT_PADDR | HWHINT_CACHE, 4,
		  true, 0, HWHINT_IS_CACHE },
		{ "garbage", HWHINT_GARBAGE, 700, false, 0, HWHINT_IS_GARBAGE },
		{ "garbage, first of all", HWHINT_GARBAGE, 0, true, 640, HWHINT_IS_GARBAGE },
	};
	u32 i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hwhint_sample s = { .flags = cases[i].flags, .latency = cases[i].latency };
		struct hwhint_filter f = {
			.user_only = cases[i].user_only, .latency_min = cases[i].latency_min,
		};

		is(hwhint_judge(&s, &f), cases[i].want, cases[i].name);
	}
}

/* ---- the ring ---- */

static struct hwhint_sample numbered(u64 n)
{
	return (struct hwhint_sample){ .paddr = n, .flags = (u32)n, .latency = (u32)~n };
}

static bool is_numbered(const struct hwhint_sample *s, u64 n)
{
	return s->paddr == n && s->flags == (u32)n && s->latency == (u32)~n;
}

/* Indices begin at @start: fill it, let more be dropped, empty it, three times over. */
static void test_ring_at(u32 start)
{
	enum { EXTRA = 37, ROUNDS = 3 };
	struct hwhint_ring *r = calloc(1, sizeof(*r));
	u64 n = 0, bad = 0;
	u32 round, i, dropped = 0, taken = 0, used;

	r->head = r->tail = start;
	r->dropped = r->dropped_seen = start;
	for (round = 0; round < ROUNDS; round++) {
		u64 first = n;

		for (i = 0; i < HWHINT_RING_SLOTS + EXTRA; i++, n++) {
			struct hwhint_sample s = numbered(n);

			hwhint_ring_push(r, &s);
		}
		used = hwhint_ring_used(r);
		check(used == HWHINT_RING_SLOTS, "%u of %u are used", used, HWHINT_RING_SLOTS);
		for (i = 0; i < used; i++) {
			bad += !is_numbered(hwhint_ring_first(r), first + i);
			hwhint_ring_shift(r);
		}
		taken += used;
		dropped += hwhint_ring_dropped(r);
	}
	is((long long)bad, 0, "what comes out is what went in, in order");
	is(dropped, ROUNDS * EXTRA, "what found it full is counted");
	is(taken + dropped, (long long)n, "and nothing else is lost");
	is(hwhint_ring_used(r) + hwhint_ring_dropped(r), 0, "now it is empty");
	free(r);
}

struct duel {
	struct hwhint_ring ring;
	u64 pushed;
	u32 stop;
};

static void *producer(void *arg)
{
	struct duel *d = arg;

	while (!__atomic_load_n(&d->stop, __ATOMIC_RELAXED)) {
		struct hwhint_sample s = numbered(d->pushed++);

		hwhint_ring_push(&d->ring, &s);
	}
	return NULL;
}

/* Numbers come out ascending; the gaps are what was dropped. */
static void test_threads(unsigned long long seed)
{
	enum { TAKE = 300000 };
	static struct duel d;
	unsigned long rng = seed;
	u64 taken = 0, dropped = 0, last = 0, gaps = 0, bad = 0;
	pthread_t thread;
	u32 n;

	memset(&d, 0, sizeof(d));
	/* They wrap while it runs. */
	d.ring.head = d.ring.tail = ~0u - 100000;
	check(!pthread_create(&thread, NULL, producer, &d), "no thread");
	while (taken < TAKE) {
		n = hwhint_ring_used(&d.ring);
		check(n <= HWHINT_RING_SLOTS, "%u used", n);
		dropped += hwhint_ring_dropped(&d.ring);
		/* At times all of them, at times some. */
		if (n && rnd(&rng) % 4 == 0)
			n = 1 + (u32)(rnd(&rng) % n);
		for (; n; n--, taken++) {
			struct hwhint_sample s = *hwhint_ring_first(&d.ring);

			bad += !is_numbered(&s, s.paddr) || (taken && s.paddr <= last);
			gaps += taken ? s.paddr - last - 1 : s.paddr;
			last = s.paddr;
			hwhint_ring_shift(&d.ring);
		}
	}
	__atomic_store_n(&d.stop, 1, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	n = hwhint_ring_used(&d.ring);
	dropped += hwhint_ring_dropped(&d.ring);
	printf("# %llu pushed, %llu taken, %u left, %llu dropped\n", (unsigned long long)d.pushed,
	       (unsigned long long)taken, n, (unsigned long long)dropped);
	is((long long)bad, 0, "two threads: whole samples, in order");
	is((long long)(taken + n + dropped), (long long)d.pushed, "pushed = taken + dropped");
	ok(gaps <= dropped, "no gap that is not counted as dropped");
}

int main(int argc, char **argv)
{
	unsigned long long seed = seed_from(argc, argv, 11);

	test_lab();
	test_pending();
	test_perf();
	test_judge();
	test_ring_at(0);
	test_ring_at(~0u - HWHINT_RING_SLOTS / 2);
	test_ring_at(1u << 31);
	test_threads(seed);
	return done();
}
