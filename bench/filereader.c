// SPDX-License-Identifier: GPL-2.0-only
/*
 * filereader: read a file whose page cache is on a slow NUMA node, without mapping it.
 *
 * scenario=reread writes a file, reads it while its pages are on the fast node, fills that node with
 * other memory until the kernel has demoted the file's pages, gives the memory back, and then reads the
 * file again and again. The sooner its pages are promoted, the sooner a pass takes as long as before.
 * scenario=stream reads a file larger than the fast node, once from the beginning to the end: of its
 * pages none is worth promoting. That file is a hole, so no disk is measured.
 *
 * Where a file's pages are is seen by how many pages are on the nodes' lists for files while it is read,
 * and exactly at the end, when it is mapped. Nothing else should fill the page cache meanwhile.
 *
 * Output, one record a line, the first word says its kind:
 *	phase NAME			write, fast, pressure, access, verify
 *	cache WHEN FAST_MB SLOW_MB	the file's pages on each node
 *	sample MS FAST_PAGES PAGES	after each pass of the access phase: time since its beginning, the
 *					file's pages on the fast node, pages read so far
 *	pass NUMBER MS
 *	result NAME VALUE
 * Complaints go to stderr. Exit status: 0 all data intact, 1 not so or a runtime error, 2 wrong
 * arguments.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base.h"
#include "clock.h"
#include "keys.h"
#include "nodes.h"
#include "roi.h"

/* Passes over the file while it is fast, to say how long one takes. */
#define FAST_PASSES		5
/* The last ones of the access phase, likewise. */
#define LAST_PASSES		5
/* A file is demoted when this percentage of it is on the slow node. */
#define DEMOTED_PERCENT		98
/* Memory taken between two looks at where the file is. */
#define PRESSURE_STEP_PAGES	1024
/* Pages asked about in one go. */
#define QUERY_CHUNK_PAGES	4096

struct config {
	bool stream;
	const char *dir;
	uint64_t fast_node;
	uint64_t slow_node;
	uint64_t file_mb;
	uint64_t stream_mb;		/* 0: from the size of the fast node */
	uint64_t passes;
	uint64_t read_bytes;
	uint64_t seed;
};

/* The file, and what the page cache had before it came. */
struct file {
	int fd;
	uint64_t pages;
	uint64_t seed;
	bool hole;			/* all zeros */
	uint64_t fast_before, slow_before;	/* bytes */
	uint64_t bad;			/* pages that were not as written, each time they were read */
};

static bool parse_scenario(const struct key *key, const char *text, void *cfg)
{
	(void)key;
	((struct config *)cfg)->stream = !strcmp(text, "stream");
	return !strcmp(text, "stream") || !strcmp(text, "reread");
}

static bool parse_dir(const struct key *key, const char *text, void *cfg)
{
	(void)key;
	((struct config *)cfg)->dir = text;
	return *text;
}

#define NUMBER(field)	key_number, offsetof(struct config, field)

static const struct key key_list[] = {
	{ "scenario", "reread",
	  "reread: a file that pressure has made slow is read again and again;\n"
	  "stream: a file larger than the fast node is read once", parse_scenario, 0, 0, 0 },
	{ "dir", ".", "folder for the file, on a disk", parse_dir, 0, 0, 0 },
	{ "fast_node", "0", "node where the file's pages come first", NUMBER(fast_node), 0, MAX_NODES - 1 },
	{ "slow_node", "1", "node where they are demoted to", NUMBER(slow_node), 0, MAX_NODES - 1 },
	{ "file_mb", "64", "MiB of the file of scenario=reread", NUMBER(file_mb), 1, 1 << 20 },
	{ "stream_mb", "0", "MiB of the file of scenario=stream; 0: a quarter more than the fast node",
	  NUMBER(stream_mb), 0, 1 << 20 },
	{ "passes", "30", "passes over the file once it is slow", NUMBER(passes), LAST_PASSES, 1 << 20 },
	{ "read_bytes", "4096", "bytes of a read: a part of a page, or pages", NUMBER(read_bytes), 1, 1 << 20 },
	{ "seed", "1", "of the data", NUMBER(seed), 0, INT64_MAX },
};

static const struct keys keys = {
	"Reads a file whose page cache is on a slow NUMA node and reports how long that takes.",
	key_list, sizeof(key_list) / sizeof(key_list[0]),
};

static void result(const char *name, uint64_t value)
{
	printf("result %s %" PRIu64 "\n", name, value);
}

/* ---- the file ---- */

/* The first and the last word of a page; the rest is of no interest. */
static uint64_t page_word(const struct file *file, uint64_t page)
{
	return file->hole ? 0 : (page + file->seed + 1) * 0x9e3779b97f4a7c15ULL;
}

/* What is on a node's LRU lists for files. FilePages has tmpfs as well, which may be demoted, too. */
static uint64_t lists_bytes(int node)
{
	return node_meminfo(node, "Active(file):") + node_meminfo(node, "Inactive(file):");
}

static void file_create(const struct config *cfg, struct file *file, uint64_t bytes)
{
	char path[4096];

	if (snprintf(path, sizeof(path), "%s/filereader.data", cfg->dir) >= (int)sizeof(path))
		die("dir=%s is too long", cfg->dir);
	file->fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (file->fd < 0)
		die("cannot create %s: %s", path, strerror(errno));
	/* It goes when the program ends, however that is. */
	unlink(path);
	if (ftruncate(file->fd, bytes))
		die("cannot make %s %" PRIu64 " MiB long: %s", path, bytes / MIB, strerror(errno));
	file->pages = bytes / PAGE_BYTES;
	file->seed = cfg->seed;
	file->fast_before = lists_bytes(cfg->fast_node);
	file->slow_before = lists_bytes(cfg->slow_node);
}

static void file_write(struct file *file)
{
	uint64_t words[WORDS_PER_PAGE] = { 0 };

	for (uint64_t page = 0; page < file->pages; page++) {
		words[0] = words[WORDS_PER_PAGE - 1] = page_word(file, page);
		if (pwrite(file->fd, words, sizeof(words), page * PAGE_BYTES) != sizeof(words))
			die("cannot write the file: %s", strerror(errno));
	}
	/* Dirty pages cannot move. */
	if (fsync(file->fd))
		die("cannot write the file to its disk: %s", strerror(errno));
}

static uint64_t cache_bytes(int node, uint64_t before)
{
	uint64_t now = lists_bytes(node);

	return now > before ? now - before : 0;
}

static uint64_t fast_bytes(const struct config *cfg, const struct file *file)
{
	return cache_bytes(cfg->fast_node, file->fast_before);
}

static uint64_t slow_bytes(const struct config *cfg, const struct file *file)
{
	return cache_bytes(cfg->slow_node, file->slow_before);
}

static void report_cache(const struct config *cfg, const struct file *file, const char *when)
{
	printf("cache %s %" PRIu64 " %" PRIu64 "\n", when, fast_bytes(cfg, file) / MIB,
	       slow_bytes(cfg, file) / MIB);
}

/* Read all of it, and check each page's first word, if one read has it whole. Returns the ns. */
static uint64_t read_pass(const struct config *cfg, struct file *file, char *buffer)
{
	uint64_t start = now_ns(), bytes = file->pages * PAGE_BYTES;

	for (uint64_t pos = 0; pos < bytes; ) {
		uint64_t page = (pos + PAGE_BYTES - 1) / PAGE_BYTES, word;
		ssize_t n = pread(file->fd, buffer, cfg->read_bytes, pos);

		if (n <= 0)
			die("cannot read the file at %" PRIu64 ": %s", pos, n ? strerror(errno) : "it has ended");
		for (; page * PAGE_BYTES + sizeof(word) <= pos + n; page++) {
			memcpy(&word, buffer + (page * PAGE_BYTES - pos), sizeof(word));
			file->bad += word != page_word(file, page);
		}
		pos += n;
	}
	return now_ns() - start;
}

/* The pages that are on the fast node now. Maps the file, so it comes last. */
static uint64_t count_fast_pages(const struct config *cfg, struct file *file)
{
	static void *addrs[QUERY_CHUNK_PAGES];
	static int nodes[QUERY_CHUNK_PAGES];
	uint64_t fast = 0;
	uint64_t *words = mmap(NULL, file->pages * PAGE_BYTES, PROT_READ, MAP_SHARED, file->fd, 0);

	if (words == MAP_FAILED)
		die("cannot map the file: %s", strerror(errno));
	for (uint64_t first = 0; first < file->pages; first += QUERY_CHUNK_PAGES) {
		uint64_t left = file->pages - first;
		unsigned long count = left < QUERY_CHUNK_PAGES ? left : QUERY_CHUNK_PAGES;

		for (unsigned long i = 0; i < count; i++) {
			volatile uint64_t *page = words + (first + i) * WORDS_PER_PAGE;

			addrs[i] = (void *)page;
			file->bad += page[0] != page_word(file, first + i) ||
				     page[WORDS_PER_PAGE - 1] != page_word(file, first + i);
		}
		node_query(addrs, count, nodes);
		for (unsigned long i = 0; i < count; i++)
			fast += nodes[i] == (int)cfg->fast_node;
	}
	munmap(words, file->pages * PAGE_BYTES);
	return fast;
}

/* ---- the phases ---- */

/*
 * Take memory of the fast node until the file is demoted, then give it back. What was taken first may
 * be demoted as well, so it takes more than the node has; the slow node must have room for it.
 */
static void press(const struct config *cfg, const struct file *file)
{
	uint64_t want = file->pages * PAGE_BYTES / 100 * DEMOTED_PERCENT;
	uint64_t most = node_meminfo(cfg->fast_node, "MemTotal:") +
			node_meminfo(cfg->slow_node, "MemFree:") / 2, taken = 0;
	char *memory = mmap(NULL, most, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (memory == MAP_FAILED)
		die("cannot map %" PRIu64 " MiB: %s", most / MIB, strerror(errno));
	if (madvise(memory, most, MADV_NOHUGEPAGE) && errno != EINVAL)
		die("cannot turn off huge pages: %s", strerror(errno));
	node_bind(memory, most, cfg->fast_node);
	while (slow_bytes(cfg, file) < want) {
		if (taken + PRESSURE_STEP_PAGES * PAGE_BYTES > most)
			die("%" PRIu64 " MiB of other memory did not push the file off node %" PRIu64
			    " (%" PRIu64 " of %" PRIu64 " MiB of it are on node %" PRIu64
			    "): is demotion enabled?", taken / MIB, cfg->fast_node,
			    slow_bytes(cfg, file) / MIB, file->pages / PAGES_PER_MIB, cfg->slow_node);
		for (uint64_t i = 0; i < PRESSURE_STEP_PAGES; i++, taken += PAGE_BYTES)
			memory[taken] = 1;
	}
	munmap(memory, most);
	result("pressure_mb", taken / MIB);
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* In microseconds, as the passes are short. */
static void result_median(const char *name, uint64_t *ns, uint64_t n)
{
	qsort(ns, n, sizeof(*ns), by_value);
	result(name, ns[n / 2] / 1000);
}

/* Passes in the region of interest, with a line for each. Returns the ns of all. */
static uint64_t access_passes(const struct config *cfg, struct file *file, char *buffer,
			      uint64_t passes, uint64_t *ns)
{
	uint64_t start = now_ns(), sum = 0;

	for (uint64_t pass = 0; pass < passes; pass++) {
		roi_begin();
		ns[pass] = read_pass(cfg, file, buffer);
		roi_end();
		sum += ns[pass];
		printf("pass %" PRIu64 " %" PRIu64 "\n", pass, ns[pass] / NSEC_PER_MSEC);
		printf("sample %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", (now_ns() - start) / NSEC_PER_MSEC,
		       fast_bytes(cfg, file) / PAGE_BYTES, (pass + 1) * file->pages);
	}
	return sum;
}

static void reread(const struct config *cfg, struct file *file, char *buffer)
{
	uint64_t *ns = calloc(cfg->passes > FAST_PASSES ? cfg->passes : FAST_PASSES, sizeof(*ns)), sum;

	if (!ns)
		die("cannot allocate room for %" PRIu64 " times", cfg->passes);
	puts("phase write");
	file_create(cfg, file, cfg->file_mb * MIB);
	file_write(file);
	puts("phase fast");
	report_cache(cfg, file, "fast");
	access_passes(cfg, file, buffer, FAST_PASSES, ns);
	result_median("pass_us_fast", ns, FAST_PASSES);
	puts("phase pressure");
	press(cfg, file);
	report_cache(cfg, file, "slow");
	/* What the fast passes served fast is not what is asked for. */
	roi_reset();
	puts("phase access");
	sum = access_passes(cfg, file, buffer, cfg->passes, ns);
	report_cache(cfg, file, "end");
	printf("result seconds %" PRIu64 ".%03" PRIu64 "\n", sum / NSEC_PER_SEC,
	       sum / NSEC_PER_MSEC % 1000);
	result("accesses", cfg->passes * file->pages);
	result("pass_us_first", ns[0] / 1000);
	result_median("pass_us_last", ns + cfg->passes - LAST_PASSES, LAST_PASSES);
	puts("phase verify");
	result("hot_pages_fast", count_fast_pages(cfg, file));
	result("hot_pages", file->pages);
	free(ns);
}

static void stream(const struct config *cfg, struct file *file, char *buffer)
{
	uint64_t node_mb = node_meminfo(cfg->fast_node, "MemTotal:") / MIB, ns;

	file->hole = true;
	file_create(cfg, file, (cfg->stream_mb ? cfg->stream_mb : node_mb + node_mb / 4) * MIB);
	puts("phase access");
	access_passes(cfg, file, buffer, 1, &ns);
	report_cache(cfg, file, "end");
	printf("result seconds %" PRIu64 ".%03" PRIu64 "\n", ns / NSEC_PER_SEC,
	       ns / NSEC_PER_MSEC % 1000);
	result("accesses", file->pages);
	result("stream_pages_slow", slow_bytes(cfg, file) / PAGE_BYTES);
}

int main(int argc, char **argv)
{
	struct config cfg = { 0 };
	struct file file = { 0 };
	char *buffer;

	keys_parse(&keys, argc, argv, &cfg);
	if (sysconf(_SC_PAGESIZE) != (long)PAGE_BYTES)
		die("needs pages of 4 KiB");
	check_node("fast_node", cfg.fast_node);
	check_node("slow_node", cfg.slow_node);
	/* Line by line also into a pipe or a file: whoever reads along, or a crash, sees all. */
	setvbuf(stdout, NULL, _IOLBF, 0);
	buffer = malloc(cfg.read_bytes);
	if (!buffer)
		die("cannot allocate %" PRIu64 " bytes", cfg.read_bytes);
	if (cfg.stream)
		stream(&cfg, &file, buffer);
	else
		reread(&cfg, &file, buffer);
	result("pages_bad", file.bad);
	if (fflush(stdout) || ferror(stdout))
		die("cannot write the output");
	return file.bad != 0;
}
