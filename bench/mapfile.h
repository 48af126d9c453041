/* SPDX-License-Identifier: GPL-2.0-only */
/* mapfile - a file that is mapped to be read, as programs do with data that they do not change */
#ifndef PGHOT_BENCH_MAPFILE_H
#define PGHOT_BENCH_MAPFILE_H

#include <stdint.h>

/* The kernel arms no hint faults in files that are mapped read-only. */
enum mapfile_kind {
	MAPFILE_SHARED,		/* read-only */
	MAPFILE_PRIVATE,	/* likewise, as a private mapping */
	MAPFILE_WRITABLE,	/* shared, and could be written */
};

/**
 * struct mapfile - all fields are its own, to be read only
 * @fd: the file, which has no name and goes with the program
 * @pages: of the file
 * @mem: the mapping to read from
 * @fill: another one to write the data through, until mapfile_filled()
 */
struct mapfile {
	int fd;
	uint64_t pages;
	void *mem;
	void *fill;
};

/* All of them end the program with status 1 on an error. */

/** mapfile_create - an empty file of @pages pages in folder @dir; what touches @fill first places a page */
void mapfile_create(struct mapfile *file, const char *dir, uint64_t pages, enum mapfile_kind kind);

/** mapfile_filled - its data is complete: clean, if it is on a disk, and all of it mapped at @mem */
void mapfile_filled(struct mapfile *file);

/** mapfile_spoil - overwrite @bytes bytes at @at with zeros */
void mapfile_spoil(const struct mapfile *file, uint64_t at, uint64_t bytes);

#endif
