// SPDX-License-Identifier: GPL-2.0-only
/*
 * engine: what a record and a pass of the engine cost, beside plain memory accesses.
 *
 * Records: one report a call and 512 reports a call, to random pages of a map larger than the
 * last-level cache, and to a map that fits the second-level cache. Each is timed beside a plain
 * read and a plain increment of the same records in the same order, and all of them in turn in
 * every repeat, so that a slower moment of the machine slows all alike: the ratios are the result,
 * the nanoseconds are this machine's.
 *
 * Passes: a tick with an epoch due, and a selection, over a map of 1 TiB of slow memory with no
 * hot area, and with 1 % of the areas hot.
 *
 * Before each timed part the records are zeroed, so that every record is really written (a
 * saturated one would not be), and the same lines are in the cache. The bits of live areas stay
 * set from the first, untimed repeat: this is the cost while the system runs, not that of its first
 * moments.
 */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "../engine/engine.h"

#define MIB			((u64)1 << 20)
#define GIB			((u64)1 << 30)
#define PAGE_BYTES		((u64)4096)

enum {
	REPEATS = 9,
	BULK = 512,			/* reports a call */
	HOT_BYTES = 64 << 10,		/* records of the small map: one draw a page on average */
	HOT_ROUNDS = 16,
	LINE_BYTES = 64,
	WINDOW_MS = 4000,
	THRESHOLD = 2,
	PASS_SECTIONS = 8192,		/* 1 TiB */
	PASS_HOT_PART = 100,		/* one area in so many is hot */
	PASS_READY_PAGES = 64,		/* in a hot area */
	PASS_BUDGET = 16384,
	MAX_METRICS = 48,
};

struct options {
	const char *json;
	u64 map_bytes;			/* records of the large map */
	u64 draws;			/* accesses to it in one timed part */
	u64 seed;
	u32 repeats;
	bool small_pages;
};

/* One line of the table: a value a repeat. */
struct metric {
	char name[64];
	const char *unit;
	double values[REPEATS];
	u32 nr;
};

static struct metric metrics[MAX_METRICS];
static u32 nr_metrics;
static volatile u64 sink;		/* keeps plain reads from being optimised away */

static void __attribute__((noreturn, format(printf, 2, 3))) die(int status, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fputs("bench/engine: ", stderr);
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
	va_end(ap);
	exit(status);
}

static double now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1e9 + ts.tv_nsec;
}

static u64 rnd(u64 *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 2685821657736338717ull;
}

static void *map_memory(u64 bytes, bool huge)
{
	void *mem = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (mem == MAP_FAILED)
		die(1, "cannot map %llu MiB", (unsigned long long)(bytes / MIB));
	/* The kernel's own memory, where the records will be, is mapped with large pages. */
	madvise(mem, bytes, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
	return mem;
}

/* ---- results ---- */

static struct metric *metric(const char *name, const char *unit)
{
	u32 i;

	for (i = 0; i < nr_metrics; i++)
		if (!strcmp(metrics[i].name, name))
			return &metrics[i];
	if (nr_metrics == MAX_METRICS)
		die(1, "too many metrics");
	snprintf(metrics[i].name, sizeof(metrics[i].name), "%s", name);
	metrics[i].unit = unit;
	nr_metrics++;
	return &metrics[i];
}

/* Add one repeat's value to the metric "@name@suffix". */
static void add(const char *name, const char *suffix, const char *unit, double value)
{
	char full[64];
	struct metric *m;

	snprintf(full, sizeof(full), "%s%s", name, suffix);
	m = metric(full, unit);
	if (m->nr < REPEATS)
		m->values[m->nr++] = value;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(const struct metric *m)
{
	return m->nr % 2 ? m->values[m->nr / 2] :
	       (m->values[m->nr / 2 - 1] + m->values[m->nr / 2]) / 2;
}

static void finish_metrics(void)
{
	u32 i;

	for (i = 0; i < nr_metrics; i++)
		qsort(metrics[i].values, metrics[i].nr, sizeof(double), by_value);
}

static void print_table(void)
{
	u32 i;

	printf("%-40s %10s %-6s %21s\n", "", "median", "unit", "min .. max");
	for (i = 0; i < nr_metrics; i++) {
		const struct metric *m = &metrics[i];

		printf("%-40s %10.3f %-6s %10.3f ..%9.3f\n", m->name, median(m), m->unit,
		       m->values[0], m->values[m->nr - 1]);
	}
}

static void write_json(const struct options *opt)
{
	FILE *out = fopen(opt->json, "w");
	u32 i;

	if (!out)
		die(1, "cannot write %s", opt->json);
	fprintf(out, "{\n");
	for (i = 0; i < nr_metrics; i++)
		fprintf(out, "\t\"%s\": {\"value\": %.4f, \"unit\": \"%s\"},\n", metrics[i].name,
			median(&metrics[i]), metrics[i].unit);
	fprintf(out, "\t\"map\": {\"value\": %llu, \"unit\": \"bytes\"},\n",
		(unsigned long long)opt->map_bytes);
	fprintf(out, "\t\"draws\": {\"value\": %llu, \"unit\": \"accesses\"},\n",
		(unsigned long long)opt->draws);
	fprintf(out, "\t\"repeats\": {\"value\": %u, \"unit\": \"runs\"},\n", opt->repeats);
	fprintf(out, "\t\"seed\": {\"value\": %llu, \"unit\": \"number\"}\n}\n",
		(unsigned long long)opt->seed);
	if (fflush(out) || ferror(out))
		die(1, "cannot write %s", opt->json);
	fclose(out);
}

/* ---- an engine whose records are one piece of memory ---- */

static void open_engine(struct engine *e, enum phi_layout layout, void *records, u64 sections)
{
	struct hotmap_dir *dir = calloc(1, hotmap_dir_bytes(sections));
	struct hotmap_section *all = calloc(sections, sizeof(*all));
	u64 i;

	if (!dir || !all)
		die(1, "out of memory");
	engine_init(e, layout, WINDOW_MS, THRESHOLD, 0);
	dir->nr = sections;
	hotmap_replace_dir(&e->map, dir);
	for (i = 0; i < sections; i++) {
		all[i].records = (u8 *)records + i * hotmap_section_bytes(layout);
		hotmap_attach(&e->map, i, &all[i]);
	}
}

static void close_engine(struct engine *e)
{
	struct hotmap_dir *dir = hotmap_replace_dir(&e->map, NULL);

	free(dir->sections[0]);
	free(dir);
}

/* ---- records ---- */

/* One comparison: the same pages, in the same order, in four ways. */
struct record_run {
	struct engine engine;
	enum phi_layout layout;
	void *records;
	u64 bytes;			/* of @records, no more than are drawn from */
	const u32 *pages;		/* drawn */
	u64 draws;
	u32 rounds;			/* how often all of them are accessed, from zero each time */
};

static void reset_records(const struct record_run *run)
{
	memset(run->records, 0, run->bytes);
}

static double time_read(struct record_run *run)
{
	const u8 *r8 = run->records;
	const u32 *r32 = run->records;
	double start = now_ns();
	u64 sum = 0, i;

	if (run->layout == PHI_BYTE)
		for (i = 0; i < run->draws; i++)
			sum += r8[run->pages[i]];
	else
		for (i = 0; i < run->draws; i++)
			sum += r32[run->pages[i]];
	sink = sum;
	return now_ns() - start;
}

static double time_increment(struct record_run *run)
{
	u8 *r8 = run->records;
	u32 *r32 = run->records;
	double start = now_ns();
	u64 i;

	if (run->layout == PHI_BYTE)
		for (i = 0; i < run->draws; i++)
			r8[run->pages[i]]++;
	else
		for (i = 0; i < run->draws; i++)
			r32[run->pages[i]]++;
	return now_ns() - start;
}

/* A source fills its reports before the call; that is not the engine's time, so not timed. */
static double time_reports(struct record_run *run, u64 bulk)
{
	struct pghot_report reports[BULK];
	struct hotmap_tally tally = { 0 };
	double spent = 0, start;
	u64 at, i, n;

	for (at = 0; at < run->draws; at += n) {
		n = run->draws - at < BULK ? run->draws - at : BULK;
		for (i = 0; i < n; i++)
			reports[i] = (struct pghot_report){
				.pfn = run->pages[at + i], .nr_pages = 1, .nid = 0, .weight = 1,
			};
		start = now_ns();
		for (i = 0; i < n; i += bulk)
			engine_record(&run->engine, reports + i, bulk < n - i ? bulk : n - i, 1,
				      0, &tally);
		spent += now_ns() - start;
	}
	if (tally.pages[HOTMAP_RECORDED] != run->draws)
		die(1, "%llu records were not taken",
		    (unsigned long long)(run->draws - tally.pages[HOTMAP_RECORDED]));
	return spent;
}

static double time_record(struct record_run *run)
{
	return time_reports(run, 1);
}

static double time_bulk(struct record_run *run)
{
	return time_reports(run, BULK);
}

static double per_access(struct record_run *run, double (*part)(struct record_run *run))
{
	double spent = 0;
	u32 round;

	for (round = 0; round < run->rounds; round++) {
		reset_records(run);
		spent += part(run);
	}
	return spent / run->rounds / run->draws;
}

/* Each part once, and what it took beside the plain increment of the same repeat. */
static void repeat_records(struct record_run *run, const char *suffix, bool timed)
{
	double read = per_access(run, time_read), increment = per_access(run, time_increment);
	double single = per_access(run, time_record), bulk = per_access(run, time_bulk);
	char ratio[32];

	if (!timed)
		return;
	add("read", suffix, "ns", read);
	add("increment", suffix, "ns", increment);
	add("record", suffix, "ns", single);
	add("record_bulk", suffix, "ns", bulk);
	snprintf(ratio, sizeof(ratio), "%s_over_increment", suffix);
	add("record", ratio, "ratio", single / increment);
	add("record_bulk", ratio, "ratio", bulk / increment);
}

static void bench_records(const struct options *opt, const char *suffix, enum phi_layout layout,
			  u64 bytes, u64 draws, u32 rounds)
{
	struct record_run run = { .layout = layout, .draws = draws, .rounds = rounds };
	u64 sections = bytes / hotmap_section_bytes(layout), rng = opt->seed, nr_pages, i;
	u32 *pages = malloc(draws * sizeof(*pages)), repeat;

	sections += !sections;
	run.bytes = sections * hotmap_section_bytes(layout);
	run.records = map_memory(run.bytes, !opt->small_pages);
	nr_pages = sections * HOTMAP_SECTION_PAGES;
	if (bytes < run.bytes)
		nr_pages = bytes / hotmap_record_bytes(layout);
	if (!pages || nr_pages > ~(u32)0)
		die(1, "cannot draw %llu pages", (unsigned long long)draws);
	for (i = 0; i < draws; i++)
		pages[i] = (u32)(rnd(&rng) % nr_pages);
	run.pages = pages;
	open_engine(&run.engine, layout, run.records, sections);
	for (repeat = 0; repeat <= opt->repeats; repeat++)
		repeat_records(&run, suffix, repeat > 0);
	close_engine(&run.engine);
	munmap(run.records, run.bytes);
	free(pages);
}

/* ---- passes ---- */

/* Make @one_in areas hot (0: none): spread over the map, PASS_READY_PAGES ready pages in each. */
static void heat_areas(struct engine *e, u64 one_in, u64 *rng)
{
	u64 areas = (u64)PASS_SECTIONS * HOTMAP_SECTION_AREAS, area, i;
	struct pghot_report r = { .nr_pages = 1, .nid = 0, .weight = THRESHOLD };
	struct hotmap_tally tally = { 0 };

	for (area = 0; one_in && area < areas; area += one_in)
		for (i = 0; i < PASS_READY_PAGES; i++) {
			r.pfn = area * HOTMAP_AREA_PAGES + i * (HOTMAP_AREA_PAGES / PASS_READY_PAGES) +
				rnd(rng) % (HOTMAP_AREA_PAGES / PASS_READY_PAGES);
			engine_record(e, &r, 1, 1, 0, &tally);
		}
}

static void bench_passes(const struct options *opt, const char *suffix, u64 one_in)
{
	static struct select_pick picks[PASS_BUDGET];
	struct select_target target = { .room = PASS_BUDGET, .tokens = PASS_BUDGET };
	u64 bytes = PASS_SECTIONS * hotmap_section_bytes(PHI_BYTE), now_ms = 0, rng = opt->seed;
	void *records = map_memory(bytes, false);
	double start, ticked, selected;
	struct engine e;
	u32 repeat, n;

	open_engine(&e, PHI_BYTE, records, PASS_SECTIONS);
	for (repeat = 0; repeat <= opt->repeats; repeat++) {
		/* Forget the last repeat. */
		now_ms += 4 * WINDOW_MS;
		engine_tick(&e, now_ms);
		heat_areas(&e, one_in, &rng);
		engine_tick(&e, now_ms);
		/* As if something had been live until now: an idle map would not be swept at all. */
		e.map.idle = 0;
		now_ms += WINDOW_MS / PHI_WINDOW_EPOCHS;
		start = now_ns();
		engine_tick(&e, now_ms);
		ticked = now_ns();
		n = engine_select(&e, &target, 1, picks, PASS_BUDGET);
		selected = now_ns();
		if ((n != 0) != (one_in != 0))
			die(1, "a pass took %u pages", n);
		if (!repeat)
			continue;
		add("tick", suffix, "ms", (ticked - start) / 1e6);
		add("select", suffix, "ms", (selected - ticked) / 1e6);
		add("pass", suffix, "ms", (selected - start) / 1e6);
	}
	close_engine(&e);
	munmap(records, bytes);
}

/* ---- options ---- */

static u64 available_bytes(void)
{
	return (u64)sysconf(_SC_AVPHYS_PAGES) * (u64)sysconf(_SC_PAGESIZE);
}

/* Twice the last-level cache, for the records not to be found there; what memory allows. */
static u64 default_map_bytes(void)
{
	long cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
	u64 want = 2 * (cache > 0 ? (u64)cache : 256 * MIB), most = available_bytes() / 2;

	return want < most ? want : most;
}

static u64 number(const char *option, const char *text, u64 most)
{
	char *end;
	u64 value = text && *text >= '0' && *text <= '9' ? strtoull(text, &end, 10) : 0;

	if (!value || *end || value > most)
		die(2, "%s needs a number from 1 to %llu", option, (unsigned long long)most);
	return value;
}

static void parse(int argc, char **argv, struct options *opt)
{
	bool quick = false;
	u64 most = 0;
	int i;

	for (i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--quick"))
			quick = true;
		else if (!strcmp(argv[i], "--small-pages"))
			opt->small_pages = true;
		else if (!strcmp(argv[i], "--json") && i + 1 < argc)
			opt->json = argv[++i];
		else if (!strcmp(argv[i], "--map-gib"))
			most = number(argv[i], argv[i + 1], 4) * GIB, i++;
		else if (!strcmp(argv[i], "--seed"))
			opt->seed = number(argv[i], argv[i + 1], ~(u64)0 >> 1), i++;
		else
			die(2, "unknown '%s'; known: --json FILE, --map-gib N (records at most), "
			    "--seed N, --small-pages, --quick", argv[i]);
	}
	opt->map_bytes = quick ? 16 * MIB : default_map_bytes();
	if (most && opt->map_bytes > most)
		opt->map_bytes = most;
	opt->map_bytes -= opt->map_bytes % hotmap_section_bytes(PHI_PRECISE);
	opt->draws = opt->map_bytes / LINE_BYTES;
	opt->repeats = quick ? 3 : REPEATS;
	if (!opt->map_bytes)
		die(1, "no memory to spare");
}

int main(int argc, char **argv)
{
	struct options opt = { .seed = 1 };

	parse(argc, argv, &opt);
	printf("records: %llu MiB, %llu draws, %u repeats, seed %llu, %s pages\n\n",
	       (unsigned long long)(opt.map_bytes / MIB), (unsigned long long)opt.draws,
	       opt.repeats, (unsigned long long)opt.seed, opt.small_pages ? "small" : "large");
	bench_records(&opt, "_hot", PHI_BYTE, HOT_BYTES, HOT_BYTES, HOT_ROUNDS);
	bench_records(&opt, "_random", PHI_BYTE, opt.map_bytes, opt.draws, 1);
	bench_records(&opt, "_random_precise", PHI_PRECISE, opt.map_bytes, opt.draws, 1);
	bench_passes(&opt, "_1tib_idle", 0);
	bench_passes(&opt, "_1tib_hot", PASS_HOT_PART);
	finish_metrics();
	print_table();
	if (opt.json)
		write_json(&opt);
	return 0;
}
