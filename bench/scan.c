// SPDX-License-Identifier: GPL-2.0-only
/*
 * scan: reads the whole working set from the beginning to the end, again and again.
 *
 * All pages are as hot as each other, and each is left alone for a whole pass after it was read: nothing is
 * gained by moving any of them. A read is of one word, and the next one is stride bytes away. With
 * a stride of more than a cache line each pass begins a line later than the last one, until all lines
 * have had their turn. write_percent of the lines have their word incremented when it is read.
 *
 * What a word begins with and how often a line was read follow from its number, so the sum of all that
 * was read, and what each word is at the end, are known without having looked at memory.
 */
#include <stdbool.h>
#include <stddef.h>

#include "base.h"
#include "measure.h"
#include "workload.h"

#define LINE_BYTES	64
#define WORDS_PER_LINE	(LINE_BYTES / sizeof(uint64_t))
#define LINES_PER_PAGE	(PAGE_BYTES / LINE_BYTES)
/* Reads between two reports of progress. */
#define BATCH		65536

struct config {
	struct workload w;
	uint64_t stride;
	uint64_t write_percent;
};

#define FIELD(field)	offsetof(struct config, field)

static const struct key keys[] = {
	WORKLOAD_KEYS("300000000", "30"),
	{ "stride", "64", "bytes from one read to the next, a power of two", key_power_of_two, FIELD(stride),
	  LINE_BYTES, PAGE_BYTES },
	{ "write_percent", "0", "percent of the lines that are written when they are read", key_number,
	  FIELD(write_percent), 0, 100 },
};

static const struct keys all = {
	"Reads all of its memory in the order of addresses, pass after pass.",
	keys, sizeof(keys) / sizeof(keys[0]),
};

struct scan {
	uint64_t *words;
	uint64_t lines;
	uint64_t every;			/* lines from one read to the next */
	uint64_t seed;
	uint64_t write_limit;		/* of 2^32 */
};

/* A line's word before anybody wrote to it. */
static uint64_t word_of(const struct scan *s, uint64_t line)
{
	return (line + s->seed) * 0x9e3779b97f4a7c15ULL;
}

static bool is_written(const struct scan *s, uint64_t line)
{
	return (uint32_t)((uint32_t)line * 2654435761U) < s->write_limit;
}

/* Reads a pass makes. */
static uint64_t pass_reads(const struct scan *s)
{
	return s->lines / s->every;
}

/* The line of read @op. */
static uint64_t line_of(const struct scan *s, uint64_t op)
{
	return op % pass_reads(s) * s->every + op / pass_reads(s) % s->every;
}

/* How often the first @ops reads are of @line. */
static uint64_t reads_of(const struct scan *s, uint64_t line, uint64_t ops)
{
	uint64_t passes = ops / pass_reads(s), turn = line % s->every;
	uint64_t reads = passes / s->every + (turn < passes % s->every);

	return reads + (turn == passes % s->every && line / s->every < ops % pass_reads(s));
}

/* @count reads from read @first on, all of one pass. Returns their sum. */
static uint64_t scan_part(const struct scan *s, uint64_t first, uint64_t count)
{
	uint64_t line = line_of(s, first), step = s->every * WORDS_PER_LINE, sum = 0;
	uint64_t *word = s->words + line * WORDS_PER_LINE;

	if (!s->write_limit) {
		for (; count; count--, word += step)
			sum += *word;
		return sum;
	}
	for (; count; count--, word += step, line += s->every) {
		sum += *word;
		if (is_written(s, line))
			++*word;
	}
	return sum;
}

static uint64_t scan_all(const struct scan *s, uint64_t ops, struct measure *m)
{
	uint64_t sum = 0;

	for (uint64_t first = 0, count; first < ops; first += count) {
		uint64_t left = pass_reads(s) - first % pass_reads(s);

		count = ops - first < BATCH ? ops - first : BATCH;
		if (count > left)
			count = left;
		sum += scan_part(s, first, count);
		measure_add(m, count);
	}
	return sum;
}

static void fill(const struct scan *s)
{
	for (uint64_t line = 0; line < s->lines; line++)
		s->words[line * WORDS_PER_LINE] = word_of(s, line);
}

/* How many pages have a wrong word, and one more if @sum is not what @ops reads give. */
static uint64_t verify(const struct scan *s, uint64_t ops, uint64_t sum)
{
	uint64_t bad = 0, in_page = 0, want = 0;

	for (uint64_t line = 0; line < s->lines; line++) {
		uint64_t reads = reads_of(s, line, ops), written = is_written(s, line) ? reads : 0;

		if (line % LINES_PER_PAGE == 0)
			in_page = 0;
		/* A word that is written grows by one with each read, after it. */
		want += reads * word_of(s, line) + (written ? written * (written - 1) / 2 : 0);
		if (s->words[line * WORDS_PER_LINE] != word_of(s, line) + written)
			bad += !in_page++;
	}
	return bad + (sum != want);
}

int main(int argc, char **argv)
{
	static struct measure measure;
	struct config cfg = { 0 };
	struct place place;
	struct scan s;
	uint64_t bytes, sum;

	workload_begin(&all, argc, argv, &cfg, &place);
	bytes = workload_bytes(&cfg.w, cfg.w.working_set);
	place.hot_bytes = bytes;
	s = (struct scan){
		.words = place_map(&place, bytes, PLACE_HOT), .lines = bytes / LINE_BYTES,
		.every = cfg.stride / LINE_BYTES, .seed = mix64(cfg.w.seed),
		.write_limit = (cfg.write_percent << 32) / 100,
	};
	fill(&s);
	measure_begin(&measure, &place, cfg.w.sample_ms);
	sum = scan_all(&s, cfg.w.ops, &measure);
	measure_end(&measure);
	result_real("passes", (double)cfg.w.ops / pass_reads(&s));
	/* Readers of the results may have no more than 53 bits for a number. */
	result("checksum", sum >> 12);
	s.words[s.lines / 2 * WORDS_PER_LINE] += cfg.w.spoil;
	return workload_end(verify(&s, cfg.w.ops, sum));
}
