// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base.h"
#include "mapfile.h"

static void *map(const struct mapfile *file, int protection, int flags)
{
	void *mem = mmap(NULL, file->pages * PAGE_BYTES, protection, flags, file->fd, 0);

	if (mem == MAP_FAILED)
		die("cannot map a file of %" PRIu64 " MiB: %s", file->pages / PAGES_PER_MIB, strerror(errno));
	return mem;
}

/* A store to a page of a mapping that there is no room for would be the end, without a word. */
static void check_room(const char *dir, const struct mapfile *file)
{
	struct statvfs fs;
	uint64_t room;

	if (fstatvfs(file->fd, &fs))
		die("cannot ask how much room %s has: %s", dir, strerror(errno));
	room = (uint64_t)fs.f_bavail * fs.f_frsize;
	if (room < file->pages * PAGE_BYTES)
		die("dir=%s has room for %" PRIu64 " MiB and the file takes %" PRIu64
		    ": choose another folder, or less memory", dir, room / MIB, file->pages / PAGES_PER_MIB);
}

void mapfile_create(struct mapfile *file, const char *dir, uint64_t pages, enum mapfile_kind kind)
{
	file->pages = pages;
	file->fd = open(dir, O_TMPFILE | O_RDWR, 0600);
	if (file->fd < 0)
		die("dir=%s: cannot create a file there: %s", dir, strerror(errno));
	check_room(dir, file);
	if (ftruncate(file->fd, pages * PAGE_BYTES))
		die("dir=%s: cannot make a file of %" PRIu64 " MiB there: %s", dir, pages / PAGES_PER_MIB,
		    strerror(errno));
	file->fill = map(file, PROT_READ | PROT_WRITE, MAP_SHARED);
	/* Else reading ahead would bring pages in whose place is not decided yet. */
	if (madvise(file->fill, pages * PAGE_BYTES, MADV_RANDOM))
		die("cannot turn off reading ahead: %s", strerror(errno));
	file->mem = map(file, kind == MAPFILE_WRITABLE ? PROT_READ | PROT_WRITE : PROT_READ,
			kind == MAPFILE_PRIVATE ? MAP_PRIVATE : MAP_SHARED);
}

void mapfile_filled(struct mapfile *file)
{
	if (munmap(file->fill, file->pages * PAGE_BYTES))
		die("cannot unmap the file: %s", strerror(errno));
	file->fill = NULL;
	/* Dirty pages wait for the disk before they can move. */
	if (fsync(file->fd))
		die("cannot write the file to its disk: %s", strerror(errno));
	/* Only a page that is mapped can be asked for its node. */
	for (uint64_t page = 0; page < file->pages; page++)
		(void)((volatile char *)file->mem)[page * PAGE_BYTES];
}

void mapfile_spoil(const struct mapfile *file, uint64_t at, uint64_t bytes)
{
	static const char zeros[PAGE_BYTES];

	while (bytes) {
		uint64_t step = bytes < sizeof(zeros) ? bytes : sizeof(zeros);

		if (pwrite(file->fd, zeros, step, at) != (ssize_t)step)
			die("cannot write to the file: %s", strerror(errno));
		at += step;
		bytes -= step;
	}
}
