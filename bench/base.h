/* SPDX-License-Identifier: GPL-2.0-only */
/* base - units, and how a workload gives up; PROGRAM_NAME is set by bench.mk */
#ifndef PGHOT_BENCH_BASE_H
#define PGHOT_BENCH_BASE_H

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define PAGE_BYTES		UINT64_C(4096)
#define WORDS_PER_PAGE		(PAGE_BYTES / sizeof(uint64_t))
#define MIB			(UINT64_C(1) << 20)
#define PAGES_PER_MIB		(MIB / PAGE_BYTES)

/** die - complain in one line on stderr, and end with status 1 */
static inline void __attribute__((noreturn, format(printf, 1, 2))) die(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fputs(PROGRAM_NAME ": ", stderr);
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
	va_end(ap);
	exit(1);
}

/** xcalloc - memory for @count times @size bytes, all 0, or the program ends */
static inline void *xcalloc(uint64_t count, size_t size)
{
	void *mem = calloc(count, size);

	if (!mem)
		die("cannot allocate %llu times %zu bytes", (unsigned long long)count, size);
	return mem;
}

#endif
