/* SPDX-License-Identifier: GPL-2.0-only */
/* tap - a test program's output for prove(1): one line a test point, the plan last */
#ifndef PGHOT_TESTS_TAP_H
#define PGHOT_TESTS_TAP_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static int tap_points, tap_failed;

/** ok - one test point; returns @good, so that a test can stop at its first failure */
__attribute__((format(printf, 2, 3)))
static inline int ok(int good, const char *fmt, ...)
{
	va_list ap;

	tap_points++;
	tap_failed += !good;
	printf("%sok %d - ", good ? "" : "not ", tap_points);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
	return good;
}

/** is - compare two numbers, and show both when they differ */
static inline int is(long long got, long long want, const char *name)
{
	if (ok(got == want, "%s", name))
		return 1;
	printf("#   got %lld, want %lld\n", got, want);
	return 0;
}

/** done - print the plan; the program's exit status */
static inline int done(void)
{
	printf("1..%d\n", tap_points);
	return tap_failed != 0;
}

/** check - for invariants inside loops: nothing is printed unless it fails, which ends the test */
#define check(cond, ...)							\
	do {									\
		if (!(cond)) {							\
			printf("# %s:%d: %s\n# ", __FILE__, __LINE__, #cond);	\
			printf(__VA_ARGS__);					\
			printf("\n");						\
			ok(0, "invariant holds: %s", #cond);			\
			exit(done());						\
		}								\
	} while (0)

/* xorshift64*: repeatable randomness for tests that print their seed */
static inline unsigned long rnd(unsigned long *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 2685821657736338717ul;
}

/** seed_from - the seed given as the program's first argument, or one from @fallback; printed */
static inline unsigned long long seed_from(int argc, char **argv, unsigned long long fallback)
{
	unsigned long long seed = argc > 1 ? strtoull(argv[1], NULL, 0) : fallback;

	if (!seed)
		seed = 1;
	printf("# seed %llu (give it as the first argument to repeat this run)\n", seed);
	return seed;
}

#endif
