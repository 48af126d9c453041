// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "chmu.h"
#include "device.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;	/* commands, one at a time */
static struct pghot_labdev_roi roi;				/* the device has a copy */
static struct counts at_begin;
static uint64_t begin_ns;

static uint64_t arg(unsigned int nr)
{
	return lab.dev.regs->arg[nr];
}

/* ---- where memory is ---- */

static uint32_t cmd_locate(void)
{
	lab.dev.regs->answer[0] = 0;
	lab.dev.regs->answer[1] = 0;
	lab.locate_vaddr = arg(0);
	lab_watch(WATCH_LOCATE);
	return PGHOT_LABDEV_OK;
}

void device_located(uint64_t reported)
{
	if (!lab_unwatch(WATCH_LOCATE))
		return;
	lab.dev.regs->answer[0] = reported;
	__atomic_store_n(&lab.dev.regs->answer[1], 1, __ATOMIC_RELEASE);
}

static bool overlaps(uint64_t a, uint64_t a_bytes, uint64_t b, uint64_t b_bytes)
{
	return a < b + b_bytes && b < a + a_bytes;
}

static uint32_t cmd_add_range(void)
{
	struct pghot_labdev_ranges *ranges = &lab.ranges;
	uint64_t node = arg(0), start = arg(1), end = arg(2), reported = arg(3);
	struct pghot_labdev_range new;
	const struct node_option *option = &lab.opts.nodes[node % PGHOT_LABDEV_MAX_NODES];

	if (node >= PGHOT_LABDEV_MAX_NODES || !option->latency_ns || start >= end ||
	    end > 1ULL << 52 || reported > 1ULL << 52 || ranges->nr == PGHOT_LABDEV_MAX_RANGES)
		return PGHOT_LABDEV_INVALID;
	for (uint32_t i = 0; i < ranges->nr; i++) {
		const struct pghot_labdev_range *old = &ranges->range[i];

		if (overlaps(start, end - start, old->start, old->end - old->start) ||
		    overlaps(reported, end - start, old->reported, old->end - old->start))
			return PGHOT_LABDEV_INVALID;
	}
	new = (struct pghot_labdev_range) {
		.start = start,
		.end = end,
		.reported = reported,
		.node = node,
		.slow = option->slow,
		.latency_ns = option->latency_ns,
		.transfer_ps = lab.opts.cache_line * 1000000ULL / option->bandwidth_mbps,
		.delay_ns = option->latency_ns * lab.opts.scale,
	};
	new.stream_ns = (uint64_t)new.transfer_ps * lab.opts.scale / 1000;
	ranges->range[ranges->nr] = new;
	lab.device_start[ranges->nr] = lab_node_bytes(node);
	/* CPUs look through the first @nr at any time. */
	__atomic_store_n(&ranges->nr, ranges->nr + 1, __ATOMIC_RELEASE);
	*lab.dev.ranges = *ranges;
	return PGHOT_LABDEV_OK;
}

static uint32_t cmd_set_access_ns(void)
{
	if (arg(0) > UINT32_MAX)
		return PGHOT_LABDEV_INVALID;
	lab.access_ns = arg(0);
	lab.dev.regs->access_ns = lab.access_ns;
	return PGHOT_LABDEV_OK;
}

/* ---- regions of interest ---- */

static void counts_sum(struct counts *sum)
{
	const unsigned int words = sizeof(*sum) / sizeof(uint64_t);

	memset(sum, 0, sizeof(*sum));
	for (unsigned int cpu = 0; cpu < lab.nr_vcpus; cpu++) {
		const uint64_t *from = (const uint64_t *)&lab.vcpus[cpu].counts;
		uint64_t *to = (uint64_t *)sum;

		for (unsigned int i = 0; i < words; i++)
			to[i] += __atomic_load_n(&from[i], __ATOMIC_RELAXED);
	}
}

/* Of all regions so far. */
static uint64_t memory_ns(void)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < PGHOT_LABDEV_MAX_NODES; i++) {
		const struct node_option *node = &lab.opts.nodes[i];

		if (!node->latency_ns)
			continue;
		ns += (roi.node_misses[i] - roi.node_streamed[i]) * node->latency_ns;
		ns += roi.node_streamed[i] * lab.opts.cache_line * 1000 / node->bandwidth_mbps;
	}
	return ns;
}

static uint32_t cmd_roi_begin(void)
{
	if (!lab.ranges.nr)
		return PGHOT_LABDEV_STATE;
	if (roi.open++)
		return PGHOT_LABDEV_OK;
	counts_sum(&at_begin);
	begin_ns = lab_now_ns();
	/* Every region starts with cold caches: what was before it does not show in it. */
	lab_cool();
	lab_watch(WATCH_REGION);
	return PGHOT_LABDEV_OK;
}

static uint32_t cmd_roi_end(void)
{
	const uint64_t *begin = &at_begin.count[0][0][0];
	struct counts now;

	if (!roi.open)
		return PGHOT_LABDEV_STATE;
	if (--roi.open)
		return PGHOT_LABDEV_OK;
	lab_unwatch(WATCH_REGION);
	counts_sum(&now);
	roi.regions++;
	roi.wall_ns += lab_now_ns() - begin_ns;
	roi.delay_ns += now.delay_ns - at_begin.delay_ns;
	roi.other += now.other - at_begin.other;
	for (size_t i = 0; i < sizeof(roi.count) / sizeof(uint64_t); i++)
		(&roi.count[0][0][0])[i] += (&now.count[0][0][0])[i] - begin[i];
	for (size_t i = 0; i < PGHOT_LABDEV_MAX_NODES; i++) {
		roi.node_misses[i] += now.node_misses[i] - at_begin.node_misses[i];
		roi.node_streamed[i] += now.node_streamed[i] - at_begin.node_streamed[i];
	}
	roi.memory_ns = memory_ns();
	return PGHOT_LABDEV_OK;
}

static uint32_t cmd_roi_reset(void)
{
	if (roi.open)
		return PGHOT_LABDEV_STATE;
	memset(&roi, 0, sizeof(roi));
	return PGHOT_LABDEV_OK;
}

static uint32_t cmd_roi_limit(void)
{
	if (roi.open)
		return PGHOT_LABDEV_STATE;
	if (arg(1) ? arg(0) >= arg(1) : arg(0) != 0)
		return PGHOT_LABDEV_INVALID;
	lab.limit_start = arg(0);
	lab.limit_end = arg(1) - 1;
	return PGHOT_LABDEV_OK;
}

/* ---- registers of hotness hardware ---- */

static uint32_t cmd_write(void)
{
	uint64_t at = arg(0), value = arg(1), bytes = arg(2);

	if ((bytes != 2 && bytes != 4 && bytes != 8) || at % bytes || at >= PGHOT_LABDEV_SIZE)
		return PGHOT_LABDEV_INVALID;
	if (chmu_write(at, value, bytes) || profiler_write(at, value, bytes))
		return PGHOT_LABDEV_OK;
	return PGHOT_LABDEV_INVALID;
}

/* ---- commands ---- */

static uint32_t (*const commands[])(void) = {
	[PGHOT_LABDEV_LOCATE] = cmd_locate,
	[PGHOT_LABDEV_ADD_RANGE] = cmd_add_range,
	[PGHOT_LABDEV_SET_ACCESS_NS] = cmd_set_access_ns,
	[PGHOT_LABDEV_ROI_BEGIN] = cmd_roi_begin,
	[PGHOT_LABDEV_ROI_END] = cmd_roi_end,
	[PGHOT_LABDEV_ROI_RESET] = cmd_roi_reset,
	[PGHOT_LABDEV_ROI_LIMIT] = cmd_roi_limit,
	[PGHOT_LABDEV_WRITE] = cmd_write,
};

void device_serve(void)
{
	uint64_t command;

	pthread_mutex_lock(&lock);
	command = __atomic_load_n(&lab.dev.regs->command, __ATOMIC_ACQUIRE);
	if (command != PGHOT_LABDEV_IDLE) {
		if (command < sizeof(commands) / sizeof(*commands))
			lab.dev.regs->status = commands[command]();
		else
			lab.dev.regs->status = PGHOT_LABDEV_UNKNOWN;
		*lab.dev.roi = roi;
		/* Whoever sees it idle again sees status and answer. */
		__atomic_store_n(&lab.dev.regs->command, PGHOT_LABDEV_IDLE, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&lock);
}

static bool complain(const char *what)
{
	fprintf(stderr, "pghot-lab: shm=%s: %s\n", lab.opts.shm, what);
	return false;
}

bool device_open(void)
{
	int fd = open(lab.opts.shm, O_RDWR | O_CLOEXEC);
	struct stat st;
	char *map;

	if (fd < 0 || fstat(fd, &st))
		return complain(strerror(errno));
	if (st.st_size != PGHOT_LABDEV_SIZE) {
		close(fd);
		return complain("the file must have 4194304 bytes: truncate -s 4M");
	}
	map = mmap(NULL, PGHOT_LABDEV_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (map == MAP_FAILED)
		return complain(strerror(errno));
	memset(map, 0, PGHOT_LABDEV_SIZE);
	lab.dev.bar = map;
	lab.dev.regs = (struct pghot_labdev_regs *)(map + PGHOT_LABDEV_REGS);
	lab.dev.ranges = (struct pghot_labdev_ranges *)(map + PGHOT_LABDEV_RANGES);
	lab.dev.roi = (struct pghot_labdev_roi *)(map + PGHOT_LABDEV_ROI);
	lab.dev.regs->version = PGHOT_LABDEV_VERSION;
	lab.dev.regs->size = PGHOT_LABDEV_SIZE;
	lab.dev.regs->mode = lab.opts.mode;
	lab.dev.regs->cache_kb = lab.opts.cache_kb;
	lab.dev.regs->cache_ways = lab.opts.cache_ways;
	lab.dev.regs->cache_line = lab.opts.cache_line;
	lab.dev.regs->scale = lab.opts.scale;
	profilers_open();
	chmus_open();
	/* Last: it says that the rest is valid. */
	__atomic_store_n(&lab.dev.regs->magic, PGHOT_LABDEV_MAGIC, __ATOMIC_RELEASE);
	return true;
}
