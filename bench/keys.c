// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "keys.h"
#include "nodes.h"

bool key_digits(const char *text, size_t len, uint64_t *out)
{
	uint64_t value = 0;

	if (!len)
		return false;
	for (size_t i = 0; i < len; i++) {
		if (text[i] < '0' || text[i] > '9' || value > (UINT64_MAX - 9) / 10)
			return false;
		value = value * 10 + (text[i] - '0');
	}
	*out = value;
	return true;
}

bool key_number(const struct key *key, const char *text, void *cfg)
{
	uint64_t value;

	if (!key_digits(text, strlen(text), &value) || value < key->min || value > key->max)
		return false;
	*(uint64_t *)((char *)cfg + key->offset) = value;
	return true;
}

bool key_power_of_two(const struct key *key, const char *text, void *cfg)
{
	uint64_t value;

	return key_digits(text, strlen(text), &value) && !(value & (value - 1)) && key_number(key, text, cfg);
}

bool key_real(const struct key *key, const char *text, void *cfg)
{
	char *end;
	double value;

	if (strspn(text, "0123456789.") != strlen(text) || !*text)
		return false;
	value = strtod(text, &end);
	if (*end || value < key->min || value > key->max)
		return false;
	*(double *)((char *)cfg + key->offset) = value;
	return true;
}

bool key_node_list(const struct key *key, const char *text, void *cfg)
{
	struct node_list *list = (void *)((char *)cfg + key->offset);

	list->nr = 0;
	for (;;) {
		size_t len = strcspn(text, ",");
		uint64_t node;

		if (!key_digits(text, len, &node) || node > key->max ||
		    node_list_has(list, node) || list->nr == MAX_FAST_NODES)
			return false;
		list->node[list->nr++] = node;
		if (!text[len])
			return true;
		text += len + 1;
	}
}

int key_word(const char *text, const char *const *words, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (!strcmp(text, words[i]))
			return i;
	return -1;
}

static void print_help(const struct keys *keys)
{
	printf("usage: " PROGRAM_NAME " [KEY=VALUE]...\n%s\nKeys with their defaults:\n", keys->purpose);
	for (size_t i = 0; i < keys->nr; i++) {
		const struct key *key = &keys->list[i];
		const char *line = key->help;
		int width = 24 - (int)strlen(key->name) - 3;

		printf("  %s=%-*s", key->name, width, key->def);
		for (const char *end; (end = strchr(line, '\n')); line = end + 1)
			printf("%.*s\n%24s", (int)(end - line), line, "");
		puts(line);
	}
}

/* One line, closed by the list of known keys. @what: what is wrong with @arg. */
static void __attribute__((noreturn)) refuse(const struct keys *keys, const char *what,
					     const char *arg)
{
	fprintf(stderr, PROGRAM_NAME ": %s '%s'; known keys:", what, arg);
	for (size_t i = 0; i < keys->nr; i++)
		fprintf(stderr, " %s", keys->list[i].name);
	fputs(" (see --help)\n", stderr);
	exit(2);
}

static void parse_arg(const struct keys *keys, const char *arg, void *cfg)
{
	size_t len = strcspn(arg, "=");

	if (!arg[len])
		refuse(keys, "expected KEY=VALUE, not", arg);
	for (size_t i = 0; i < keys->nr; i++) {
		const struct key *key = &keys->list[i];

		if (strlen(key->name) != len || memcmp(key->name, arg, len))
			continue;
		if (!key->parse(key, arg + len + 1, cfg))
			refuse(keys, "bad value in", arg);
		return;
	}
	refuse(keys, "unknown key in", arg);
}

void keys_parse(const struct keys *keys, int argc, char **argv, void *cfg)
{
	for (size_t i = 0; i < keys->nr; i++)
		keys->list[i].parse(&keys->list[i], keys->list[i].def, cfg);
	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--help")) {
			print_help(keys);
			exit(0);
		}
		parse_arg(keys, argv[i], cfg);
	}
}
