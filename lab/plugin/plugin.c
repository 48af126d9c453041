// SPDX-License-Identifier: GPL-2.0-only
/*
 * The lab's QEMU plugin: it sees every load and store of the guest, knows by a modelled cache
 * which of them reach memory, and of which node, counts them in regions of interest and delays
 * the CPU by the latency of the node. Commands come through a device; see pghot/labdev.h.
 *
 * An access is what the emulator does: an instruction that reads and writes makes two, a string
 * instruction one for each element. One that crosses a line counts for its first line. Page table
 * walks and instruction fetches are not seen.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "chmu.h"
#include "device.h"
#include "lab.h"
#include "options.h"
#include "qemu_plugin.h"

#define NSEC_PER_SEC		1000000000ULL
#define NSEC_PER_USEC		1000ULL
#define PSEC_PER_NSEC		1000ULL
/* What may be credited of a delay that came out too long: the host may have taken the CPU away. */
#define MAX_CREDIT_NS		1000
/* What a profiler says: latencies in cycles at 2.5 GHz, of which a hit takes so many. */
#define CYCLES(ps)		((ps) / 400)
#define HIT_CYCLES		40

#define unlikely(x)		__builtin_expect(!!(x), 0)

QEMU_PLUGIN_EXPORT int qemu_plugin_version = QEMU_PLUGIN_API;

struct lab lab;

uint64_t lab_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

/* ---- what is to be done at an access ---- */

/* Whoever changes lab.watching has it: to begin and to end modelling at once would mix them up. */
static pthread_mutex_t watch_lock = PTHREAD_MUTEX_INITIALIZER;

void lab_cool(void)
{
	lab.cold++;
	lab.generation++;
}

void lab_watch(unsigned int bit)
{
	pthread_mutex_lock(&watch_lock);
	if (bit & WATCH_MODEL && !(lab.watching & WATCH_MODEL))
		lab_cool();
	lab.watching |= bit;
	pthread_mutex_unlock(&watch_lock);
}

bool lab_unwatch(unsigned int bit)
{
	unsigned int old;

	pthread_mutex_lock(&watch_lock);
	old = atomic_fetch_and(&lab.watching, ~bit);
	pthread_mutex_unlock(&watch_lock);
	return old & bit;
}

/* ---- the model of memory ---- */

uint64_t lab_node_bytes(unsigned int node)
{
	uint32_t nr = __atomic_load_n(&lab.ranges.nr, __ATOMIC_ACQUIRE);
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < nr; i++)
		if (lab.ranges.range[i].node == node)
			bytes += lab.ranges.range[i].end - lab.ranges.range[i].start;
	return bytes;
}

static const struct pghot_labdev_range *find_range(uint64_t reported)
{
	uint32_t nr = __atomic_load_n(&lab.ranges.nr, __ATOMIC_ACQUIRE);

	for (uint32_t i = 0; i < nr; i++) {
		const struct pghot_labdev_range *range = &lab.ranges.range[i];

		if (reported - range->reported < range->end - range->start)
			return range;
	}
	return NULL;
}

/* To spin for each miss would cost more clock reads than it delays: pay in larger sums. */
static void pay(struct vcpu *vcpu)
{
	uint64_t start = lab_now_ns(), end = start + vcpu->debt_ns, now;

	do {
		now = lab_now_ns();
	} while (now < end);
	vcpu->counts.delay_ns += now - start;
	vcpu->debt_ns = now - end < MAX_CREDIT_NS ? -(int64_t)(now - end) : -MAX_CREDIT_NS;
}

/*
 * Does @line go on where recent misses left off? A CPU's prefetcher then has it on the way already,
 * and what it takes is its share of the bandwidth. Without that the copying of a page would cost 64
 * latencies, many times what it costs on hardware.
 */
static bool streamed(struct vcpu *vcpu, uint64_t line)
{
	for (unsigned int i = 0; i < NR_STREAMS; i++) {
		struct stream *stream = &vcpu->streams[i];

		if (stream->next != line)
			continue;
		stream->next++;
		return stream->lines++ >= STREAM_SURE;
	}
	vcpu->streams[vcpu->next_stream] = (struct stream) { .next = line + 1, .lines = 1 };
	vcpu->next_stream = (vcpu->next_stream + 1) % NR_STREAMS;
	return false;
}

/* An access that is not in a region is not delayed. */
static void delay(struct vcpu *vcpu, uint32_t ns)
{
	/* The emulation of the access takes its time anyway. */
	if (ns > lab.access_ns)
		vcpu->debt_ns += ns - lab.access_ns;
	if (vcpu->debt_ns >= (int64_t)(lab.opts.quantum_us * NSEC_PER_USEC))
		pay(vcpu);
}

static void forget_recent(struct vcpu *vcpu)
{
	vcpu->recent[0] = UINT64_MAX;
	vcpu->recent[1] = UINT64_MAX;
}

/*
 * Is this the virtual line of one of the CPU's last two accesses? Then it hits, and QEMU need not
 * be asked for the address: nobody can have changed the mapping in between, since the CPU would
 * have had to access more than two lines for that. Stacks and copies are full of these.
 */
static bool is_recent(struct vcpu *vcpu, uint64_t vaddr)
{
	uint64_t line = vaddr >> vcpu->cache.line_shift;

	if (vcpu->recent[0] == line || vcpu->recent[1] == line)
		return true;
	vcpu->recent[1] = vcpu->recent[0];
	vcpu->recent[0] = line;
	return false;
}

/* Notice what changed since this CPU's last access. */
static void catch_up(struct vcpu *vcpu)
{
	uint64_t generation = atomic_load_explicit(&lab.generation, memory_order_acquire);
	uint64_t cold;

	if (!unlikely(vcpu->generation != generation))
		return;
	vcpu->generation = generation;
	profiler_catch_up(&vcpu->prof, vcpu - lab.vcpus);
	cold = atomic_load_explicit(&lab.cold, memory_order_relaxed);
	if (vcpu->cold == cold)
		return;
	vcpu->cold = cold;
	cache_flush(&vcpu->cache);
	forget_recent(vcpu);
}

/**
 * struct access - one instruction's, on its way through the model
 * @info: QEMU's description of it
 * @vaddr: virtual address
 * @side: PGHOT_LABDEV_USER or PGHOT_LABDEV_KERNEL
 * @load, @store: what it is; an atomic one is both
 * @counted: it is one of a region: counted there, and delayed
 */
struct access {
	qemu_plugin_meminfo_t info;
	uint64_t vaddr;
	unsigned int side;
	bool load, store;
	bool counted;
};

/**
 * struct served - and what served it
 * @range: whose memory it is; NULL: no node's
 * @addr: guest-physical address
 * @hit: it is in the modelled cache
 * @streamed: it is not, but a prefetcher has foreseen it
 */
struct served {
	const struct pghot_labdev_range *range;
	uint64_t addr;
	bool hit;
	bool streamed;
};

/* Where it is; @served->range is NULL if that is no node's memory. */
static void find(const struct access *access, struct served *served)
{
	struct qemu_plugin_hwaddr *hwaddr = qemu_plugin_get_hwaddr(access->info, access->vaddr);
	uint64_t reported;

	served->range = NULL;
	if (unlikely(!hwaddr || qemu_plugin_hwaddr_is_io(hwaddr)))
		return;
	reported = qemu_plugin_hwaddr_phys_addr(hwaddr);
	served->range = find_range(reported);
	if (!unlikely(!served->range))
		served->addr = served->range->start + (reported - served->range->reported);
}

static uint64_t latency_cycles(const struct served *served)
{
	uint64_t cycles;

	if (served->hit)
		return HIT_CYCLES;
	if (!served->streamed)
		return CYCLES(served->range->latency_ns * PSEC_PER_NSEC);
	cycles = CYCLES(served->range->transfer_ps);
	return cycles > HIT_CYCLES ? cycles : HIT_CYCLES;
}

/* A profiler looks at it. What is no node's memory has neither physical address nor latency. */
static void look(struct vcpu *vcpu, const struct access *access, const struct served *served)
{
	struct pghot_labdev_sample sample = {
		.vaddr = access->vaddr,
		.flags = PGHOT_LABDEV_SAMPLE_VADDR |
			 (access->load ? PGHOT_LABDEV_SAMPLE_LOAD : 0) |
			 (access->store ? PGHOT_LABDEV_SAMPLE_STORE : 0) |
			 (access->side == PGHOT_LABDEV_USER ? PGHOT_LABDEV_SAMPLE_USER : 0),
	};

	if (served->range) {
		sample.paddr = served->addr;
		sample.cycles = latency_cycles(served);
		sample.flags |= PGHOT_LABDEV_SAMPLE_PADDR |
			(served->hit ? PGHOT_LABDEV_SAMPLE_CACHE :
			 served->range->slow ? PGHOT_LABDEV_SAMPLE_EXTMEM :
			 PGHOT_LABDEV_SAMPLE_DRAM);
	}
	profiler_look(&vcpu->prof, vcpu - lab.vcpus, &sample);
}

static void miss(struct vcpu *vcpu, const struct access *access, struct served *served,
		 unsigned int op)
{
	const struct pghot_labdev_range *range = served->range;
	struct counts *counts = &vcpu->counts;

	served->hit = false;
	served->streamed = streamed(vcpu, served->addr >> vcpu->cache.line_shift);
	if (range->slow)
		chmu_count(vcpu, range->node, lab.device_start[range - lab.ranges.range] +
			   (served->addr - range->start), op);
	if (!access->counted)
		return;
	counts->count[access->side][op][range->slow ? PGHOT_LABDEV_SLOW : PGHOT_LABDEV_FAST]++;
	counts->node_misses[range->node]++;
	counts->node_streamed[range->node] += served->streamed;
	if (lab.opts.mode == PGHOT_LABDEV_LATENCY)
		delay(vcpu, served->streamed ? range->stream_ns : range->delay_ns);
}

/* The load of an atomic instruction brings the line, so that its store hits. */
static void serve(struct vcpu *vcpu, const struct access *access, struct served *served)
{
	unsigned int op = access->load ? PGHOT_LABDEV_LOAD : PGHOT_LABDEV_STORE;
	uint64_t (*counts)[PGHOT_LABDEV_SERVED] = vcpu->counts.count[access->side];

	served->hit = true;
	if (!cache_access(&vcpu->cache, served->addr))
		miss(vcpu, access, served, op);
	else
		counts[op][PGHOT_LABDEV_HIT] += access->counted;
	counts[PGHOT_LABDEV_STORE][PGHOT_LABDEV_HIT] +=
		access->counted && access->load && access->store;
}

static void model(struct vcpu *vcpu, const struct access *access)
{
	uint64_t (*counts)[PGHOT_LABDEV_SERVED] = vcpu->counts.count[access->side];
	struct served served = { .hit = true };
	bool due;

	catch_up(vcpu);
	due = profiler_due(&vcpu->prof, access->load + access->store);
	if (is_recent(vcpu, access->vaddr)) {
		counts[PGHOT_LABDEV_LOAD][PGHOT_LABDEV_HIT] += access->counted && access->load;
		counts[PGHOT_LABDEV_STORE][PGHOT_LABDEV_HIT] += access->counted && access->store;
		if (!unlikely(due))
			return;
		/* A hit: where it is need not be found out for a profiler of misses. */
		if (vcpu->prof.control & PGHOT_LABDEV_PROF_L3MISS) {
			profiler_pass_over(&vcpu->prof);
			return;
		}
		find(access, &served);
	} else {
		find(access, &served);
		if (served.range) {
			serve(vcpu, access, &served);
		} else {
			vcpu->counts.other += access->counted;
			forget_recent(vcpu);
		}
	}
	if (unlikely(due))
		look(vcpu, access, &served);
}

static void locate(qemu_plugin_meminfo_t info, uint64_t vaddr)
{
	struct qemu_plugin_hwaddr *hwaddr = qemu_plugin_get_hwaddr(info, vaddr);

	if (hwaddr && !qemu_plugin_hwaddr_is_io(hwaddr))
		device_located(qemu_plugin_hwaddr_phys_addr(hwaddr));
}

static void watch(unsigned int what, struct vcpu *vcpu, qemu_plugin_meminfo_t info, uint64_t vaddr,
		  unsigned int side)
{
	struct access access = { .info = info, .vaddr = vaddr, .side = side };

	if (unlikely(what & WATCH_LOCATE) && vaddr == lab.locate_vaddr)
		locate(info, vaddr);
	access.counted = what & WATCH_REGION && vaddr >= lab.limit_start && vaddr <= lab.limit_end;
	if (!access.counted && !(what & WATCH_HOTNESS)) {
		forget_recent(vcpu);
		return;
	}
	access.store = qemu_plugin_mem_is_store(info);
	access.load = !access.store || qemu_plugin_mem_is_atomic(info);
	model(vcpu, &access);
}

/* After each access of the guest, in the CPU's thread. */
static void on_access(unsigned int cpu, qemu_plugin_meminfo_t info, uint64_t vaddr, void *data)
{
	unsigned int what;

	if (unlikely(device_pending()))
		device_serve();
	what = atomic_load_explicit(&lab.watching, memory_order_relaxed);
	if (!what)
		return;
	if ((uintptr_t)data == PGHOT_LABDEV_KERNEL && !lab.opts.kernel && !(what & WATCH_LOCATE))
		/* It may change mappings. */
		forget_recent(&lab.vcpus[cpu]);
	else
		watch(what, &lab.vcpus[cpu], info, vaddr, (uintptr_t)data);
}

/* Code in the kernel's half of the address space is the kernel's: no cost at run time. */
static void on_translate(uint64_t id, struct qemu_plugin_tb *tb)
{
	uintptr_t side = qemu_plugin_tb_vaddr(tb) >> 63 ? PGHOT_LABDEV_KERNEL : PGHOT_LABDEV_USER;
	size_t insns = qemu_plugin_tb_n_insns(tb);

	(void)id;
	/*
	 * One callback for both: QEMU 7.2 mixes up who wants to hear of loads and who of stores.
	 */
	for (size_t i = 0; i < insns; i++)
		qemu_plugin_register_vcpu_mem_cb(qemu_plugin_tb_get_insn(tb, i), on_access,
						 QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW,
						 (void *)side);
}

static bool vcpus_create(unsigned int nr)
{
	lab.vcpus = aligned_alloc(CACHE_LINE, nr * sizeof(*lab.vcpus));
	if (!lab.vcpus)
		return false;
	memset(lab.vcpus, 0, nr * sizeof(*lab.vcpus));
	lab.nr_vcpus = nr;
	for (unsigned int i = 0; i < nr; i++) {
		lab.vcpus[i].random = i + 1;	/* a generator's seed must not be 0 */
		lab.vcpus[i].prof.countdown = INT64_MAX;
		if (!cache_init(&lab.vcpus[i].cache, lab.opts.cache_kb * 1024ULL,
				lab.opts.cache_ways, lab.opts.cache_line))
			return false;
	}
	lab_cool();
	lab.limit_end = UINT64_MAX;
	return true;
}

int qemu_plugin_install(uint64_t id, const struct qemu_plugin_info *info, int argc, char **argv)
{
	if (!options_parse(&lab.opts, argc, argv))
		return -1;
	if (!info->system_emulation || strcmp(info->target_name, "x86_64")) {
		fprintf(stderr, "pghot-lab: this plugin is for qemu-system-x86_64, not for %s\n",
			info->target_name);
		return -1;
	}
	if (info->system.max_vcpus > PGHOT_LABDEV_MAX_CPUS) {
		fprintf(stderr, "pghot-lab: %d CPUs are more than the %d that the device has "
			"room for: give the machine fewer\n", info->system.max_vcpus,
			PGHOT_LABDEV_MAX_CPUS);
		return -1;
	}
	if (!vcpus_create(info->system.max_vcpus)) {
		fprintf(stderr, "pghot-lab: no memory for the modelled caches\n");
		return -1;
	}
	if (!device_open())
		return -1;
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translate);
	return 0;
}
