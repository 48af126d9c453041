/* SPDX-License-Identifier: GPL-2.0-only */
/* keys - the KEY=VALUE arguments of a workload: a table with defaults, ranges and help */
#ifndef PGHOT_BENCH_KEYS_H
#define PGHOT_BENCH_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct key - one argument
 * @name: what stands before the "="
 * @def: its default, as text
 * @help: one line or more
 * @parse: puts the value of @text into the program's config; false if it is none
 * @offset: of a number: where in the config the uint64_t is; key_real(): the double
 * @min: of a number: least value
 * @max: of a number: greatest value
 */
struct key {
	const char *name;
	const char *def;
	const char *help;
	bool (*parse)(const struct key *key, const char *text, void *cfg);
	size_t offset;
	uint64_t min, max;
};

/** struct keys - all of a program's; @purpose: one line for --help */
struct keys {
	const char *purpose;
	const struct key *list;
	size_t nr;
};

/** key_digits - the decimal number in @text[0..@len); false if it is none or too large */
bool key_digits(const char *text, size_t len, uint64_t *out);

/** key_number - a struct key's @parse for plain numbers */
bool key_number(const struct key *key, const char *text, void *cfg);

/** key_power_of_two - likewise, for those that are powers of two */
bool key_power_of_two(const struct key *key, const char *text, void *cfg);

/** key_real - likewise, for decimal fractions as 0.99 */
bool key_real(const struct key *key, const char *text, void *cfg);

/** key_node_list - a @parse for a struct node_list of nodes up to @max, as 0,1; not an empty one */
bool key_node_list(const struct key *key, const char *text, void *cfg);

/** key_word - which of the @nr @words @text is; -1: none of them */
int key_word(const char *text, const char *const *words, size_t nr);

/** keys_parse - fill @cfg; ends the program on --help, and with status 2 on a wrong argument */
void keys_parse(const struct keys *keys, int argc, char **argv, void *cfg);

#endif
