// SPDX-License-Identifier: GPL-2.0-only
/*
 * holder - holds pages of a certain kind on a node, says where they are, and keeps watch over them
 *
 * usage: holder NODE PAGES KIND DIR
 *
 * KIND: anon, mlock, pinned (io_uring registered buffer), hugetlb (PAGES of 4 KiB are rounded up to
 * huge pages), file (a dirty file in DIR, which should be on a disk or tmpfs), touch (anon, and all
 * pages are touched again and again), part (as touch, but only every fourth page), map (as part, and
 * maps and unmaps other memory all the time), thp (transparent huge pages), partthp (of which the last
 * page is given back), holes (anon, with every second page given back and the others locked), ksm (two
 * pages of each content, merged), lazyfree (MADV_FREE), piped (a pipe holds the pages, as many as fit in 1 MiB),
 * mbind:MODE:MASK and task:MODE:MASK (memory policy of the mapping or of the process),
 * shmbind:MODE:MASK (policy of shared memory), fork:N (N children map the pages, too), cow (a
 * child, bound to NODE, has copies of all pages), cache (a clean file in DIR, not mapped but for the
 * time of an answer; no pfns).
 *
 * Writes DIR/pfns: a line "PFN COUNT" for each run of page frames. Then on SIGUSR1 writes DIR/where:
 * a line "NODE COUNT" for each node, DIR/hot: the same of the pages that are touched, DIR/bad: how
 * many of these have not the content that was written, and DIR/map_us: how long mapping and unmapping took since the last
 * time, the mean in microseconds. On SIGUSR2 touches its pages once. Ends on SIGTERM.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <linux/mempolicy.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { PAGE = 4096, HUGE = 2 << 20, MAX_NODES = 64 };

static const char *kind;
static char *memory;
static size_t pages, step = 1;
static uint64_t map_us, maps_done;
static volatile sig_atomic_t asked, nudged, ended;
static int cache_fd = -1;

static _Noreturn void die(const char *what)
{
	fprintf(stderr, "holder: %s: %s\n", what, strerror(errno));
	exit(1);
}

static FILE *create(const char *dir, const char *name)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "w");
	if (!f)
		die(path);
	return f;
}

/* Readers wait for a file to be there, so it comes into being whole. */
static void finish(const char *dir, const char *name)
{
	char from[256], to[256];

	snprintf(from, sizeof(from), "%s/%s.new", dir, name);
	snprintf(to, sizeof(to), "%s/%s", dir, name);
	if (rename(from, to))
		die(to);
}

static bool is(const char *name)
{
	return !strcmp(kind, name);
}

/* Is it of kind NAME:...? Then what follows, else NULL. */
static const char *argument(const char *name)
{
	size_t n = strlen(name);

	return !strncmp(kind, name, n) && kind[n] == ':' ? kind + n + 1 : NULL;
}

static void bind_to(int node)
{
	unsigned long mask = 1ul << node;

	if (syscall(SYS_set_mempolicy, MPOL_BIND, &mask, MAX_NODES))
		die("set_mempolicy");
}

static uint64_t pattern(size_t page)
{
	return (is("ksm") ? page / 2 : page) * 0x9e3779b97f4a7c15ull + 1;
}

static void fill(void)
{
	for (size_t i = 0; i < pages; i++) {
		uint64_t *p = (uint64_t *)(memory + i * PAGE);

		p[0] = p[PAGE / 8 - 1] = pattern(i);
	}
}

static size_t count_bad(void)
{
	size_t bad = 0;

	/* Looking at a page touches it. */
	for (size_t i = 0; i < pages; i += step) {
		const uint64_t *p = (const uint64_t *)(memory + i * PAGE);

		bad += p[0] != pattern(i) || p[PAGE / 8 - 1] != pattern(i);
	}
	return bad;
}

static void pin(void)
{
	struct io_uring_params params = { 0 };
	struct iovec iov = { memory, pages * PAGE };
	int fd = syscall(SYS_io_uring_setup, 1, &params);

	if (fd < 0)
		die("io_uring_setup");
	if (syscall(SYS_io_uring_register, fd, IORING_REGISTER_BUFFERS, &iov, 1))
		die("io_uring_register");
}

static void pipe_pages(void)
{
	struct iovec iov = { memory, pages * PAGE };
	struct pollfd out;
	int ends[2];

	if (pipe(ends) || fcntl(ends[1], F_SETPIPE_SZ, 1 << 20) < 0)
		die("pipe");
	out = (struct pollfd){ .fd = ends[1], .events = POLLOUT };
	for (ssize_t n; iov.iov_len && poll(&out, 1, 0) == 1; ) {
		n = vmsplice(ends[1], &iov, 1, SPLICE_F_NONBLOCK);
		if (n < 0)
			die("vmsplice");
		iov.iov_base = (char *)iov.iov_base + n;
		iov.iov_len -= n;
	}
}

/*
 * A child that lives as long as its parent. @own: it stays bound to the node, as its parent is now,
 * and writes to all pages, so that it has its own.
 */
static void fork_child(bool own)
{
	int ready[2];
	char byte;

	if (pipe(ready))
		die("pipe");
	switch (fork()) {
	case -1:
		die("fork");
	case 0:
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (own)
			fill();
		else if (syscall(SYS_set_mempolicy, MPOL_DEFAULT, NULL, 0))
			die("set_mempolicy");
		if (write(ready[1], "", 1) != 1)
			die("write");
		for (;;)
			pause();
	default:
		break;
	}
	if (read(ready[0], &byte, 1) != 1)
		die("child");
	close(ready[0]);
	close(ready[1]);
}

/* MODE:MASK for the mapping, or without one for the process. */
static void set_policy(const char *words, bool mapping)
{
	unsigned int mode, mask;
	unsigned long nodes;

	if (sscanf(words, "%u:%i", &mode, (int *)&mask) != 2) {
		fprintf(stderr, "holder: '%s' is no MODE:MASK\n", words);
		exit(2);
	}
	nodes = mask;
	if (mapping ? syscall(SYS_mbind, memory, pages * PAGE, mode, &nodes, MAX_NODES, 0) :
		      syscall(SYS_set_mempolicy, mode, &nodes, MAX_NODES))
		die("policy");
}

/* Until KSM has come round and all pairs are one page. */
static void wait_for_ksm(void)
{
	unsigned long long entry[2];
	int fd = open("/proc/self/pagemap", O_RDONLY);

	if (madvise(memory, pages * PAGE, MADV_MERGEABLE))
		die("MADV_MERGEABLE");
	for (size_t i = 0, tries = 0; i + 1 < pages && tries < 1000; ) {
		if (pread(fd, entry, 16, ((uintptr_t)memory / PAGE + i) * 8) != 16)
			die("/proc/self/pagemap");
		if (entry[0] << 9 == entry[1] << 9) {
			i += 2;
		} else {
			usleep(10000);
			tries++;
		}
	}
	close(fd);
}

/* What makes the pages special, once they are there. */
static void make_special(void)
{
	const char *words;

	if (is("mlock") && mlock(memory, pages * PAGE))
		die("mlock");
	if (is("pinned"))
		pin();
	if (is("piped"))
		pipe_pages();
	if (is("ksm"))
		wait_for_ksm();
	if (is("lazyfree") && madvise(memory, pages * PAGE, MADV_FREE))
		die("MADV_FREE");
	for (size_t i = 0; is("holes") && i < pages; i += 2)
		madvise(memory + i * PAGE, PAGE, MADV_DONTNEED);
	if (is("holes") && mlock2(memory, pages * PAGE, MLOCK_ONFAULT))
		die("mlock2");
	for (size_t i = HUGE / PAGE - 1; is("partthp") && i < pages; i += HUGE / PAGE)
		madvise(memory + i * PAGE, PAGE, MADV_DONTNEED);
	words = argument("mbind") ?: argument("shmbind");
	if (words)
		set_policy(words, true);
	words = argument("fork");
	for (int n = words ? atoi(words) : 0; n; n--)
		fork_child(false);
	if (is("cow"))
		fork_child(true);
}

/* By write(2): a page that was mapped would count as accessed. */
static void get_cache(const char *dir)
{
	uint64_t words[PAGE / 8] = { 0 };
	char path[256];

	snprintf(path, sizeof(path), "%s/file", dir);
	cache_fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	for (size_t i = 0; cache_fd >= 0 && i < pages; i++) {
		words[0] = words[PAGE / 8 - 1] = pattern(i);
		if (write(cache_fd, words, PAGE) != PAGE)
			die(path);
	}
	if (cache_fd < 0 || fsync(cache_fd))
		die(path);
}

static void map_cache(void)
{
	memory = mmap(NULL, pages * PAGE, PROT_READ, MAP_SHARED | MAP_POPULATE, cache_fd, 0);
	if (memory == MAP_FAILED)
		die("mmap");
}

static void get_memory(const char *dir)
{
	int flags = MAP_PRIVATE | MAP_ANONYMOUS, fd = -1;
	bool thp = is("thp") || is("partthp");
	char path[256];

	if (is("hugetlb")) {
		flags |= MAP_HUGETLB;
		pages = (pages * PAGE + HUGE - 1) / HUGE * HUGE / PAGE;
	} else if (argument("shmbind")) {
		flags = MAP_SHARED | MAP_ANONYMOUS;
	} else if (is("file")) {
		snprintf(path, sizeof(path), "%s/file", dir);
		fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
		if (fd < 0 || ftruncate(fd, pages * PAGE))
			die(path);
		flags = MAP_SHARED;
	}
	/* Room to align huge pages in; a file mapping may well be longer than its file. */
	memory = mmap(NULL, pages * PAGE + HUGE, PROT_READ | PROT_WRITE, flags, fd, 0);
	if (memory == MAP_FAILED)
		die("mmap");
	if (thp)
		memory = (char *)(((uintptr_t)memory + HUGE - 1) / HUGE * HUGE);
	madvise(memory, pages * PAGE, thp ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
	fill();
	make_special();
}

static void write_pfns(const char *dir)
{
	int fd = open("/proc/self/pagemap", O_RDONLY);
	FILE *out = create(dir, "pfns.new");
	uint64_t entry, pfn, first = 0, n = 0;

	if (fd < 0)
		die("/proc/self/pagemap");
	for (size_t i = 0; i <= pages; i++) {
		off_t at = ((uintptr_t)memory / PAGE + i) * 8;

		pfn = 0;
		if (memory && i < pages && pread(fd, &entry, 8, at) == 8)
			pfn = entry & ((1ull << 55) - 1);
		if (n && pfn == first + n) {
			n++;
			continue;
		}
		if (n)
			fprintf(out, "%llu %llu\n", (unsigned long long)first, (unsigned long long)n);
		first = pfn;
		n = pfn != 0;
	}
	fclose(out);
	close(fd);
	finish(dir, "pfns");
}

static void write_counts(const char *dir, const char *name, const size_t *counts)
{
	char new[32];
	FILE *out;

	snprintf(new, sizeof(new), "%s.new", name);
	out = create(dir, new);
	for (int node = 0; node < MAX_NODES; node++)
		if (counts[node])
			fprintf(out, "%d %zu\n", node, counts[node]);
	fclose(out);
	finish(dir, name);
}

static void write_number(const char *dir, const char *name, size_t number)
{
	FILE *out = create(dir, name);

	fprintf(out, "%zu\n", number);
	fclose(out);
}

static void write_where(const char *dir)
{
	size_t counts[MAX_NODES] = { 0 }, hot[MAX_NODES] = { 0 };
	void *addresses[256];
	int status[256];

	if (cache_fd >= 0)
		map_cache();
	for (size_t i = 0, n; i < pages; i += n) {
		n = pages - i < 256 ? pages - i : 256;
		for (size_t j = 0; j < n; j++)
			addresses[j] = memory + (i + j) * PAGE;
		if (syscall(SYS_move_pages, 0, n, addresses, NULL, status, 0))
			die("move_pages");
		for (size_t j = 0; j < n; j++) {
			if (status[j] < 0 || status[j] >= MAX_NODES)
				continue;
			counts[status[j]]++;
			hot[status[j]] += (i + j) % step == 0;
		}
	}
	write_counts(dir, "hot", hot);
	write_number(dir, "bad", count_bad());
	if (cache_fd >= 0)
		munmap(memory, pages * PAGE);
	write_number(dir, "map_us", maps_done ? map_us / maps_done : 0);
	map_us = maps_done = 0;
	write_counts(dir, "where", counts);
}

static void touch(void)
{
	for (size_t i = 0; i < pages; i += step)
		(void)*(volatile char *)(memory + i * PAGE);
}

static uint64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000ull + t.tv_nsec / 1000;
}

static void map(void)
{
	uint64_t begun = now_us();
	char *p = mmap(NULL, HUGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		die("mmap");
	*(volatile char *)p = 1;
	munmap(p, HUGE);
	map_us += now_us() - begun;
	maps_done++;
}

static void on_signal(int sig)
{
	if (sig == SIGUSR1)
		asked = 1;
	else if (sig == SIGUSR2)
		nudged = 1;
	else
		ended = 1;
}

int main(int argc, char **argv)
{
	struct sigaction act = { .sa_handler = on_signal };
	bool maps, touches;

	if (argc != 5) {
		fprintf(stderr, "usage: holder NODE PAGES KIND DIR\n");
		return 2;
	}
	sigaction(SIGUSR1, &act, NULL);
	sigaction(SIGUSR2, &act, NULL);
	sigaction(SIGTERM, &act, NULL);
	pages = strtoul(argv[2], NULL, 0);
	kind = argv[3];
	bind_to(atoi(argv[1]));
	if (is("cache"))
		get_cache(argv[4]);
	else
		get_memory(argv[4]);
	if (syscall(SYS_set_mempolicy, MPOL_DEFAULT, NULL, 0))
		die("set_mempolicy");
	if (argument("task"))
		set_policy(argument("task"), false);
	maps = is("map");
	touches = maps || is("part") || is("touch");
	if (touches && !is("touch"))
		step = 4;
	write_pfns(argv[4]);
	while (!ended) {
		if (asked) {
			asked = 0;
			write_where(argv[4]);
		} else if (touches || nudged) {
			nudged = 0;
			touch();
			if (maps)
				map();
		} else {
			usleep(1000);
		}
	}
	return 0;
}
