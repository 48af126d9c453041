// SPDX-License-Identifier: GPL-2.0-only
/*
 * holder - holds pages of a certain kind on a node, says where they are, and keeps watch over them
 *
 * usage: holder NODE PAGES KIND DIR
 *
 * KIND: anon, mlock, pinned (io_uring registered buffer), hugetlb (PAGES of 4 KiB are rounded up to
 * huge pages), file (a dirty file in DIR, which should be on a disk or tmpfs), touch (anon, and all
 * pages are touched again and again), part (as touch, but only every fourth page), map (as part, and
 * maps and unmaps other memory all the time), thp (transparent huge pages), holes (anon, with every
 * second page given back).
 *
 * Writes DIR/pfns: a line "PFN COUNT" for each run of page frames. Then on SIGUSR1 writes DIR/where:
 * a line "NODE COUNT" for each node, DIR/hot: the same of the pages that are touched, DIR/bad: how
 * many of these have not the content that was written, and DIR/map_us: how long mapping and unmapping took since the last
 * time, the mean in microseconds. On SIGUSR2 touches its pages once. Ends on SIGTERM.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <linux/mempolicy.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { PAGE = 4096, HUGE = 2 << 20, MAX_NODES = 64 };

static char *memory;
static size_t pages, step = 1;
static uint64_t map_us, maps_done;
static volatile sig_atomic_t asked, nudged, ended;

static void die(const char *what)
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

static void bind_to(int node)
{
	unsigned long mask = 1ul << node;

	if (syscall(SYS_set_mempolicy, MPOL_BIND, &mask, MAX_NODES))
		die("set_mempolicy");
}

static uint64_t pattern(size_t page)
{
	return page * 0x9e3779b97f4a7c15ull + 1;
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

static void get_memory(const char *kind, const char *dir)
{
	int flags = MAP_PRIVATE | MAP_ANONYMOUS, fd = -1;
	char path[256];

	if (!strcmp(kind, "hugetlb")) {
		flags |= MAP_HUGETLB;
		pages = (pages * PAGE + HUGE - 1) / HUGE * HUGE / PAGE;
	} else if (!strcmp(kind, "file")) {
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
	if (!strcmp(kind, "thp"))
		memory = (char *)(((uintptr_t)memory + HUGE - 1) / HUGE * HUGE);
	madvise(memory, pages * PAGE, strcmp(kind, "thp") ? MADV_NOHUGEPAGE : MADV_HUGEPAGE);
	fill();
	if (!strcmp(kind, "mlock") && mlock(memory, pages * PAGE))
		die("mlock");
	if (!strcmp(kind, "pinned"))
		pin();
	for (size_t i = 0; !strcmp(kind, "holes") && i < pages; i += 2)
		madvise(memory + i * PAGE, PAGE, MADV_DONTNEED);
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
		if (i < pages && pread(fd, &entry, 8, at) == 8)
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
	bind_to(atoi(argv[1]));
	get_memory(argv[3], argv[4]);
	if (syscall(SYS_set_mempolicy, MPOL_DEFAULT, NULL, 0))
		die("set_mempolicy");
	maps = !strcmp(argv[3], "map");
	touches = maps || !strcmp(argv[3], "part") || !strcmp(argv[3], "touch");
	if (touches && strcmp(argv[3], "touch"))
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
