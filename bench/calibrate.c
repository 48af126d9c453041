// SPDX-License-Identifier: GPL-2.0-only
/*
 * calibrate: does the lab's instrument agree with what this program knows by construction?
 *
 *	calibrate count FAST_NODE SLOW_NODE	known accesses to known pages: counts must be equal
 *	calibrate chase FAST_NODE SLOW_NODE	time of a load that depends on the one before
 *	calibrate speed				time of an access that hits, in and out of a region
 *	calibrate refuse			commands that the plugin must refuse
 *	calibrate ranges			the memory that the plugin knows
 *
 * Writes lines "NAME VALUE...". Exit status: 0 as it should be, 1 not so, 2 called wrongly,
 * 4 no instrument here.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "base.h"
#include "nodes.h"
#include "pghot/user/labdev.h"

#define LINE_BYTES	64
/* No other program has anything there: counts can be limited to it. */
#define BASE_VADDR	0x5ac000000000ULL
#define COUNT_BYTES	(MIB / 2)		/* for each node */
#define CHASE_BYTES	(8 * MIB)
#define CHASE_ROUNDS	9
#define SPEED_ACCESSES	4000000
#define SPEED_LINES	512
#define REP_WORDS	8

static volatile char *dev;
static int failed;

static volatile struct pghot_labdev_regs *regs(void)
{
	return (volatile void *)(dev + PGHOT_LABDEV_REGS);
}

static struct pghot_labdev_roi roi(void)
{
	return *(struct pghot_labdev_roi *)(dev + PGHOT_LABDEV_ROI);
}

static void command(uint64_t what)
{
	unsigned int status = labdev_command(dev, what);

	if (status)
		die("the plugin refuses command %" PRIu64 ": status %u", what, status);
}

static void limit(uint64_t start, uint64_t end)
{
	regs()->arg[0] = start;
	regs()->arg[1] = end;
	command(PGHOT_LABDEV_ROI_LIMIT);
	command(PGHOT_LABDEV_ROI_RESET);
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

static char *map_on(uint64_t vaddr, uint64_t bytes, int node)
{
	char *mem = mmap((void *)vaddr, bytes, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	if (mem == MAP_FAILED)
		die("cannot map memory: %s", strerror(errno));
	madvise(mem, bytes, MADV_NOHUGEPAGE);
	node_bind(mem, bytes, node);
	memset(mem, 1, bytes);
	return mem;
}

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die("cannot run on CPU %d: %s", cpu, strerror(errno));
}

/* ---- count ---- */

struct counter {
	pthread_t thread;
	pthread_barrier_t *barrier;
	char *mem;
	int cpu;
};

/*
 * The accesses of one line, in one basic block, so that nothing comes in between: a load that
 * misses; then hits: a store, a load, an atomic addition (a load and a store), and stores of a
 * string instruction.
 */
#define LINE_LOADS	3
#define LINE_STORES	(2 + REP_WORDS)
#define LINE_HITS	(LINE_LOADS + LINE_STORES - 1)

static void access_line(char *line)
{
	void *to = line;
	uint64_t count = REP_WORDS, value;

	__asm__ volatile("movq (%[line]), %[value]\n\t"
			 "movq %[value], 8(%[line])\n\t"
			 "movq 16(%[line]), %[value]\n\t"
			 "lock incq 24(%[line])\n\t"
			 "rep stosq"
			 : [value] "=&a" (value), "+D" (to), "+c" (count)
			 : [line] "r" (line)
			 : "memory", "cc");
}

static void *count_main(void *arg)
{
	struct counter *c = arg;

	pin(c->cpu);
	pthread_barrier_wait(c->barrier);
	for (char *line = c->mem; line < c->mem + COUNT_BYTES; line += LINE_BYTES)
		access_line(line);
	return NULL;
}

static void expect(const char *name, uint64_t got, uint64_t want)
{
	printf("count %s %" PRIu64 " of %" PRIu64 "\n", name, got, want);
	if (got != want)
		failed = 1;
}

static void count_check(uint64_t lines)
{
	const struct pghot_labdev_roi r = roi();
	const uint64_t (*user)[PGHOT_LABDEV_SERVED] = (void *)r.count[PGHOT_LABDEV_USER];
	uint64_t kernel = 0;

	for (unsigned int i = 0; i < PGHOT_LABDEV_OPS * PGHOT_LABDEV_SERVED; i++)
		kernel += (&r.count[PGHOT_LABDEV_KERNEL][0][0])[i];
	expect("loads", user[PGHOT_LABDEV_LOAD][PGHOT_LABDEV_HIT] +
	       user[PGHOT_LABDEV_LOAD][PGHOT_LABDEV_FAST] +
	       user[PGHOT_LABDEV_LOAD][PGHOT_LABDEV_SLOW], 2 * lines * LINE_LOADS);
	expect("stores", user[PGHOT_LABDEV_STORE][PGHOT_LABDEV_HIT], 2 * lines * LINE_STORES);
	expect("hits", user[PGHOT_LABDEV_LOAD][PGHOT_LABDEV_HIT] +
	       user[PGHOT_LABDEV_STORE][PGHOT_LABDEV_HIT], 2 * lines * LINE_HITS);
	expect("fast", user[PGHOT_LABDEV_LOAD][PGHOT_LABDEV_FAST], lines);
	expect("slow", user[PGHOT_LABDEV_LOAD][PGHOT_LABDEV_SLOW], lines);
	expect("store_misses", user[PGHOT_LABDEV_STORE][PGHOT_LABDEV_FAST] +
	       user[PGHOT_LABDEV_STORE][PGHOT_LABDEV_SLOW], 0);
	expect("kernel", kernel, 0);
	expect("other", r.other, 0);
}

/* The kernel stores into our memory: none of that is ours. */
static void count_kernel(char *mem)
{
	const uint64_t (*user)[PGHOT_LABDEV_SERVED], (*kernel)[PGHOT_LABDEV_SERVED];
	int fd = open("/dev/zero", O_RDONLY);
	struct pghot_labdev_roi r;

	command(PGHOT_LABDEV_ROI_RESET);
	command(PGHOT_LABDEV_ROI_BEGIN);
	if (read(fd, mem, PAGE_BYTES) != (ssize_t)PAGE_BYTES)
		die("cannot read /dev/zero");
	command(PGHOT_LABDEV_ROI_END);
	close(fd);
	r = roi();
	user = (void *)r.count[PGHOT_LABDEV_USER];
	kernel = (void *)r.count[PGHOT_LABDEV_KERNEL];
	expect("user_of_read", user[PGHOT_LABDEV_LOAD][PGHOT_LABDEV_HIT] +
	       user[PGHOT_LABDEV_STORE][PGHOT_LABDEV_HIT], 0);
	expect("misses_of_read", kernel[PGHOT_LABDEV_STORE][PGHOT_LABDEV_FAST],
	       PAGE_BYTES / LINE_BYTES);
}

/* Both nodes at once, by a thread each, on CPUs of their own if there are two. */
static void count(const int *nodes)
{
	struct counter counters[2];
	pthread_barrier_t barrier;
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	pthread_barrier_init(&barrier, NULL, 3);
	for (unsigned int i = 0; i < 2; i++) {
		counters[i].mem = map_on(BASE_VADDR + i * COUNT_BYTES, COUNT_BYTES, nodes[i]);
		counters[i].cpu = i % cpus;
		counters[i].barrier = &barrier;
		if (pthread_create(&counters[i].thread, NULL, count_main, &counters[i]))
			die("cannot start a thread");
	}
	limit(BASE_VADDR, BASE_VADDR + 2 * COUNT_BYTES);
	command(PGHOT_LABDEV_ROI_BEGIN);
	pthread_barrier_wait(&barrier);
	for (unsigned int i = 0; i < 2; i++)
		pthread_join(counters[i].thread, NULL);
	command(PGHOT_LABDEV_ROI_END);
	count_check(COUNT_BYTES / LINE_BYTES);
	count_kernel(counters[0].mem);
	limit(0, 0);
}

/* ---- chase ---- */

static uint64_t draw(uint64_t *rng, uint64_t below)
{
	*rng = *rng * 6364136223846793005ULL + 1442695040888963407ULL;
	return ((*rng >> 32) * below) >> 32;
}

static void shuffle(unsigned int *order, unsigned int nr, uint64_t *rng)
{
	for (unsigned int i = 0; i < nr; i++)
		order[i] = i;
	for (unsigned int i = nr; i-- > 1;) {
		unsigned int other = draw(rng, i + 1), tmp = order[i];

		order[i] = order[other];
		order[other] = tmp;
	}
}

/*
 * A ring through all lines: pages at random, and within a page its lines at random, so that what
 * the emulator's translation of an address costs is spread over 64 accesses.
 */
static void chase_link(char *mem)
{
	enum { PAGES = CHASE_BYTES / PAGE_BYTES, LINES = PAGE_BYTES / LINE_BYTES };
	static unsigned int pages[PAGES];
	unsigned int lines[LINES];
	uint64_t rng = 1;
	void **last = NULL;
	char *first = NULL;

	shuffle(pages, PAGES, &rng);
	for (unsigned int p = 0; p < PAGES; p++) {
		shuffle(lines, LINES, &rng);
		for (unsigned int l = 0; l < LINES; l++) {
			char *at = mem + pages[p] * PAGE_BYTES + lines[l] * LINE_BYTES;

			if (last)
				*last = at;
			else
				first = at;
			last = (void **)at;
		}
	}
	*last = first;
}

/* Picoseconds a load. */
static uint64_t chase_once(char *mem)
{
	void *volatile *at = (void *)mem;
	uint64_t ns = now_ns();

	for (uint64_t i = 0; i < CHASE_BYTES / LINE_BYTES; i++)
		at = *at;
	return (now_ns() - ns) * 1000 / (CHASE_BYTES / LINE_BYTES);
}

static uint32_t configured_delay(int node)
{
	const struct pghot_labdev_ranges *ranges = (void *)(dev + PGHOT_LABDEV_RANGES);

	for (uint32_t i = 0; i < ranges->nr; i++)
		if (ranges->range[i].node == (uint32_t)node)
			return ranges->range[i].delay_ns;
	die("the plugin knows no memory of node %d", node);
}

/*
 * Fast and slow in turn, so that what else the host does meets both; the best round of each,
 * since a delay is never too short.
 */
static void chase(const int *nodes)
{
	uint64_t got[2] = { UINT64_MAX, UINT64_MAX }, ps, ratio, want;
	char *mem[2];

	for (unsigned int i = 0; i < 2; i++) {
		mem[i] = map_on(BASE_VADDR + i * CHASE_BYTES, CHASE_BYTES, nodes[i]);
		chase_link(mem[i]);
	}
	pin(0);
	command(PGHOT_LABDEV_ROI_BEGIN);
	for (unsigned int round = 0; round < CHASE_ROUNDS; round++)
		for (unsigned int i = 0; i < 2; i++) {
			ps = chase_once(mem[i]);
			if (ps < got[i])
				got[i] = ps;
		}
	command(PGHOT_LABDEV_ROI_END);
	for (unsigned int i = 0; i < 2; i++) {
		printf("chase node%d_ns %" PRIu64 " of %" PRIu32 "\n", nodes[i], got[i] / 1000,
		       configured_delay(nodes[i]));
	}
	ratio = got[1] * 1000 / got[0];
	want = configured_delay(nodes[1]) * 1000 / configured_delay(nodes[0]);
	printf("chase ratio_thousandths %" PRIu64 " of %" PRIu64 "\n", ratio, want);
	if (regs()->mode == PGHOT_LABDEV_LATENCY &&
	    (ratio * 10 < want * 9 || ratio * 10 > want * 11))
		failed = 1;
}

/* ---- speed ---- */

/* Picoseconds an access, half of them stores; the best of three. */
static uint64_t speed_once(void)
{
	static volatile uint64_t lines[SPEED_LINES][LINE_BYTES / sizeof(uint64_t)];
	uint64_t best = UINT64_MAX;

	for (unsigned int try = 0; try < 3; try++) {
		uint64_t ns = now_ns();

		for (unsigned int i = 0; i < SPEED_ACCESSES / 2; i++)
			lines[i % SPEED_LINES][0] += 1;
		ns = now_ns() - ns;
		if (ns < best)
			best = ns;
	}
	return best * 1000 / SPEED_ACCESSES;
}

static void speed(void)
{
	printf("speed outside_ps %" PRIu64 "\n", speed_once());
	if (!dev)
		return;
	command(PGHOT_LABDEV_ROI_BEGIN);
	printf("speed inside_ps %" PRIu64 "\n", speed_once());
	command(PGHOT_LABDEV_ROI_END);
}

/* ---- refuse ---- */

static void expect_status(const char *name, uint64_t what, unsigned int want)
{
	unsigned int got = labdev_command(dev, what);

	printf("refuse %s %u of %u\n", name, got, want);
	if (got != want)
		failed = 1;
}

static void add_range(const char *name, uint64_t node, uint64_t start, uint64_t end,
		      uint64_t reported)
{
	regs()->arg[0] = node;
	regs()->arg[1] = start;
	regs()->arg[2] = end;
	regs()->arg[3] = reported;
	expect_status(name, PGHOT_LABDEV_ADD_RANGE, PGHOT_LABDEV_INVALID);
}

static void refuse(void)
{
	const uint64_t far = 1ULL << 50;

	expect_status("unknown", 99, PGHOT_LABDEV_UNKNOWN);
	expect_status("huge", UINT64_MAX, PGHOT_LABDEV_UNKNOWN);
	expect_status("end", PGHOT_LABDEV_ROI_END, PGHOT_LABDEV_STATE);
	add_range("overlap", 0, MIB, 2 * MIB, far);
	add_range("empty", 0, far, far, far);
	add_range("backwards", 0, far, far - 1, far);
	add_range("no_node", PGHOT_LABDEV_MAX_NODES - 1, far, far + 1, far);
	add_range("far_node", UINT64_MAX, far, far + 1, far);
	add_range("wrap", 0, far, UINT64_MAX, far);
	regs()->arg[0] = UINT64_MAX;
	expect_status("access_ns", PGHOT_LABDEV_SET_ACCESS_NS, PGHOT_LABDEV_INVALID);
	regs()->arg[0] = 2;
	regs()->arg[1] = 1;
	expect_status("limit", PGHOT_LABDEV_ROI_LIMIT, PGHOT_LABDEV_INVALID);
	command(PGHOT_LABDEV_ROI_BEGIN);
	expect_status("reset_open", PGHOT_LABDEV_ROI_RESET, PGHOT_LABDEV_STATE);
	expect_status("limit_open", PGHOT_LABDEV_ROI_LIMIT, PGHOT_LABDEV_STATE);
	/* What the guest reads is a copy. */
	memset((char *)dev + PGHOT_LABDEV_ROI, 0xff, sizeof(struct pghot_labdev_roi));
	memset((char *)dev + PGHOT_LABDEV_RANGES, 0xff, sizeof(struct pghot_labdev_ranges));
	command(PGHOT_LABDEV_ROI_END);
	printf("refuse open %u of 0\n", roi().open);
	failed |= roi().open != 0;
	command(PGHOT_LABDEV_ROI_RESET);
}

static void ranges(void)
{
	const struct pghot_labdev_ranges *all = (void *)(dev + PGHOT_LABDEV_RANGES);

	printf("ranges access_ns %u\n", regs()->access_ns);
	for (uint32_t i = 0; i < all->nr; i++) {
		const struct pghot_labdev_range *range = &all->range[i];

		printf("range node %u %s start %#llx end %#llx reported %#llx delay_ns %u\n",
		       range->node, range->slow ? "slow" : "fast", range->start, range->end,
		       range->reported, range->delay_ns);
	}
}

static int usage(void)
{
	fputs("usage: calibrate count|chase FAST_NODE SLOW_NODE\n"
	      "       calibrate speed|refuse|ranges\n", stderr);
	return 2;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	int nodes[2] = { 0, 1 };

	for (int i = 0; i < 2 && i + 2 < argc; i++) {
		nodes[i] = atoi(argv[i + 2]);
		check_node("node", nodes[i]);
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	dev = labdev_open();
	if (!strcmp(what, "speed"))
		speed();
	else if (!dev && argc > 1)
		return 4;
	else if (!strcmp(what, "count"))
		count(nodes);
	else if (!strcmp(what, "chase"))
		chase(nodes);
	else if (!strcmp(what, "refuse"))
		refuse();
	else if (!strcmp(what, "ranges"))
		ranges();
	else
		return usage();
	return failed;
}
