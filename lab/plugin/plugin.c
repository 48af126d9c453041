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
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "device.h"
#include "lab.h"
#include "options.h"
#include "qemu_plugin.h"

#define NSEC_PER_SEC		1000000000ULL
#define NSEC_PER_USEC		1000ULL
/* What may be credited of a delay that came out too long: the host may have taken the CPU away. */
#define MAX_CREDIT_NS		1000

#define unlikely(x)		__builtin_expect(!!(x), 0)

QEMU_PLUGIN_EXPORT int qemu_plugin_version = QEMU_PLUGIN_API;

struct lab lab;

uint64_t lab_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
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

static void miss(struct vcpu *vcpu, const struct pghot_labdev_range *range, uint64_t addr)
{
	bool stream = streamed(vcpu, addr >> vcpu->cache.line_shift);
	uint32_t ns = stream ? range->stream_ns : range->delay_ns;

	vcpu->counts.node_misses[range->node]++;
	vcpu->counts.node_streamed[range->node] += stream;
	if (lab.opts.mode != PGHOT_LABDEV_LATENCY)
		return;
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

/* A new region begins with a cold cache. */
static void catch_up(struct vcpu *vcpu)
{
	uint64_t generation = atomic_load_explicit(&lab.generation, memory_order_relaxed);

	if (!unlikely(vcpu->generation != generation))
		return;
	cache_flush(&vcpu->cache);
	forget_recent(vcpu);
	vcpu->generation = generation;
}

static void count(struct vcpu *vcpu, unsigned int side, unsigned int op, uint64_t reported)
{
	const struct pghot_labdev_range *range = find_range(reported);
	uint64_t *counts = vcpu->counts.count[side][op], addr;

	if (unlikely(!range)) {
		vcpu->counts.other++;
		forget_recent(vcpu);
		return;
	}
	addr = range->start + (reported - range->reported);
	if (cache_access(&vcpu->cache, addr)) {
		counts[PGHOT_LABDEV_HIT]++;
		return;
	}
	counts[range->slow ? PGHOT_LABDEV_SLOW : PGHOT_LABDEV_FAST]++;
	miss(vcpu, range, addr);
}

static void count_access(struct vcpu *vcpu, qemu_plugin_meminfo_t info, uint64_t vaddr,
			 unsigned int side)
{
	bool store = qemu_plugin_mem_is_store(info);
	bool load = !store || qemu_plugin_mem_is_atomic(info);
	struct qemu_plugin_hwaddr *hwaddr;

	catch_up(vcpu);
	if (is_recent(vcpu, vaddr)) {
		vcpu->counts.count[side][PGHOT_LABDEV_LOAD][PGHOT_LABDEV_HIT] += load;
		vcpu->counts.count[side][PGHOT_LABDEV_STORE][PGHOT_LABDEV_HIT] += store;
		return;
	}
	hwaddr = qemu_plugin_get_hwaddr(info, vaddr);
	if (unlikely(!hwaddr || qemu_plugin_hwaddr_is_io(hwaddr))) {
		vcpu->counts.other++;
		forget_recent(vcpu);
		return;
	}
	if (load)
		count(vcpu, side, PGHOT_LABDEV_LOAD, qemu_plugin_hwaddr_phys_addr(hwaddr));
	if (store)
		count(vcpu, side, PGHOT_LABDEV_STORE, qemu_plugin_hwaddr_phys_addr(hwaddr));
}

static void locate(qemu_plugin_meminfo_t info, uint64_t vaddr)
{
	struct qemu_plugin_hwaddr *hwaddr = qemu_plugin_get_hwaddr(info, vaddr);

	if (hwaddr && !qemu_plugin_hwaddr_is_io(hwaddr))
		device_located(qemu_plugin_hwaddr_phys_addr(hwaddr));
}

static void watch(unsigned int cpu, qemu_plugin_meminfo_t info, uint64_t vaddr, unsigned int side)
{
	struct vcpu *vcpu = &lab.vcpus[cpu];

	if (unlikely(atomic_load_explicit(&lab.locating, memory_order_relaxed)) &&
	    vaddr == lab.locate_vaddr)
		locate(info, vaddr);
	if (!atomic_load_explicit(&lab.counting, memory_order_relaxed))
		return;
	if (vaddr >= lab.limit_start && vaddr <= lab.limit_end)
		count_access(vcpu, info, vaddr, side);
	else
		forget_recent(vcpu);
}

/* After each access of the guest, in the CPU's thread. */
static void on_access(unsigned int cpu, qemu_plugin_meminfo_t info, uint64_t vaddr, void *data)
{
	if (unlikely(device_pending()))
		device_serve();
	if (atomic_load_explicit(&lab.watching, memory_order_relaxed))
		watch(cpu, info, vaddr, (uintptr_t)data);
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
	for (unsigned int i = 0; i < nr; i++)
		if (!cache_init(&lab.vcpus[i].cache, lab.opts.cache_kb * 1024ULL,
				lab.opts.cache_ways, lab.opts.cache_line))
			return false;
	lab.generation = 1;		/* that of no CPU: the first access empties the cache */
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
