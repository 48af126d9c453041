// SPDX-License-Identifier: GPL-2.0-only
/*
 * hostrun: run one program of a root file system as a region of interest, and say how it went.
 *
 * What the program is comes from a file, each word of it ended by a zero byte, so that no shell
 * ever splits or expands it. Its standard output and error are relayed as they come: to devices,
 * since files of the guest would be lost with it, and over pipes, since /dev/stdout of a device
 * that only one may open could not be opened again.
 *
 * With memory=slow the fast nodes are first filled with memory that nobody touches, as other
 * programs do on a machine in use, so that the kernel puts most of the program's memory on a slow
 * node. A memory policy that prefers the slow node would do so too, but the kernel does not arm
 * hint faults for the pages of a task that has one: nothing could be promoted.
 *
 * Output, a line each: "result seconds S", "result exit_status N" or "result signal N", and
 * "error TEXT" unless the program ended with exit status 0. Exit status: 0, or 1 if it did not.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/close_range.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base.h"
#include "nodes.h"
#include "range.h"
#include "roi.h"

#define MAX_WORDS	4096
#define STREAMS		2
#define MSEC_PER_SEC	1000
#define NSEC_PER_MSEC	1000000

/* The arguments, KEY=VALUE each. */
static const char *root, *dir, *command, *out, *err, *memory = "default", *fast_node = "0",
	*release_s = "0";

static const struct key {
	const char *name;
	const char **value;
} keys[] = {
	{ "root", &root },		/* what the program has for / */
	{ "dir", &dir },		/* its working folder, in there */
	{ "command", &command },	/* the file with its words */
	{ "out", &out },		/* where its standard output goes */
	{ "err", &err },
	{ "memory", &memory },		/* default or slow */
	{ "fast_node", &fast_node },	/* "0,1" */
	{ "release_s", &release_s },	/* seconds until the fast nodes are free again; 0: never */
	{ "scenario", NULL },		/* all experiments have one */
};

/* What keeps the fast nodes full. */
static struct range cold[MAX_FAST_NODES];

/* One of the program's two output streams, on its way. */
struct stream {
	int from, to;
};

/* Why the program could not be started; travels from the child. */
struct failure {
	int error;
	enum { AT_ROOT, AT_DIR, AT_COMMAND } at;
};

static int64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * INT64_C(1000) + ts.tv_nsec / NSEC_PER_MSEC;
}

static void parse_args(int argc, char **argv)
{
	const size_t nr = sizeof(keys) / sizeof(keys[0]);
	size_t k;

	for (int i = 1; i < argc; i++) {
		size_t len = strcspn(argv[i], "=");

		for (k = 0; k < nr; k++)
			if (strlen(keys[k].name) == len && !memcmp(keys[k].name, argv[i], len))
				break;
		if (k == nr || !argv[i][len])
			die("bad argument '%s': known are root dir command out err memory fast_node "
			    "release_s, each with =VALUE", argv[i]);
		if (keys[k].value)
			*keys[k].value = argv[i] + len + 1;
	}
	if (!*release_s || release_s[strspn(release_s, "0123456789")] || strlen(release_s) > 6)
		die("bad release_s '%s': it must be a number of seconds, at most 999999", release_s);
	if (!root || !dir || !command || !out || !err)
		die("root, dir, command, out and err must be given");
}

/* The words of the file @command, as execvp() wants them. */
static char **read_command(void)
{
	static char *words[MAX_WORDS + 1];
	size_t nr = 0, size = 0;
	FILE *file = fopen(command, "r");

	if (!file)
		die("cannot read %s: %s", command, strerror(errno));
	while (nr < MAX_WORDS && getdelim(&words[nr], &size, '\0', file) > 0) {
		nr++;
		size = 0;
	}
	if (nr == 0 || nr == MAX_WORDS)
		die("%s has %zu words: it must have 1 to %d", command, nr, MAX_WORDS - 1);
	free(words[nr]);	/* what the read that failed allocated */
	words[nr] = NULL;
	fclose(file);
	return words;
}

/* ---- the fast nodes ---- */

static void fill_fast_nodes(void)
{
	const char *at = fast_node;
	unsigned int nr = 0;
	char *end;

	if (strcmp(memory, "slow"))
		return;
	for (; *at; at = *end ? end + 1 : end) {
		int node = strtol(at, &end, 10);
		uint64_t keep_free, free_bytes;

		if (end == at || nr == MAX_FAST_NODES)
			die("bad fast_node '%s': it must be at most %d nodes, as 0,1", fast_node,
			    MAX_FAST_NODES);
		check_node("fast_node", node);
		keep_free = node_default_margin(node);
		free_bytes = node_meminfo(node, "MemFree:");
		cold[nr].base = (uint64_t)node << 32;
		cold[nr].pages = free_bytes > keep_free ? (free_bytes - keep_free) / PAGE_BYTES : 0;
		range_populate(&cold[nr++], node, keep_free);
	}
}

static void release_fast_nodes(void)
{
	for (unsigned int i = 0; i < MAX_FAST_NODES; i++) {
		if (cold[i].pages)
			munmap(cold[i].words, cold[i].pages * PAGE_BYTES);
		cold[i].pages = 0;
	}
}

/* ---- the program ---- */

/* In the child: does not return. */
static void become(char **words, const int ends[STREAMS], int tell)
{
	struct failure failure = { .at = AT_ROOT };

	for (int i = 0; i < STREAMS; i++)
		dup2(ends[i], STDOUT_FILENO + i);
	/* No descriptor of ours, the channel of results least of all. */
	syscall(SYS_close_range, STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC);
	if (!chroot(root)) {
		failure.at = AT_DIR;
		if (!chdir(dir)) {
			failure.at = AT_COMMAND;
			execvp(words[0], words);
		}
	}
	failure.error = errno;
	if (write(tell, &failure, sizeof(failure)) != sizeof(failure))
		_exit(126);
	_exit(127);
}

static void make_pipe(int ends[2])
{
	if (pipe2(ends, O_CLOEXEC))
		die("cannot make a pipe: %s", strerror(errno));
}

/* Start the program; its streams in @streams. Prints why not and returns -1 if that fails. */
static pid_t start(char **words, struct stream streams[STREAMS])
{
	int pipes[STREAMS][2], tell[2];
	struct failure failure;
	ssize_t got;
	pid_t pid;

	for (int i = 0; i < STREAMS; i++) {
		make_pipe(pipes[i]);
		streams[i].from = pipes[i][0];
		fcntl(streams[i].from, F_SETFL, O_NONBLOCK);
	}
	make_pipe(tell);
	pid = fork();
	if (pid < 0)
		die("cannot fork: %s", strerror(errno));
	if (!pid)
		become(words, (int[]){ pipes[0][1], pipes[1][1] }, tell[1]);
	for (int i = 0; i < STREAMS; i++)
		close(pipes[i][1]);
	close(tell[1]);
	got = read(tell[0], &failure, sizeof(failure));	/* nothing, once it runs */
	close(tell[0]);
	if (got != sizeof(failure))
		return pid;
	printf("error cannot %s %s: %s\n", failure.at == AT_COMMAND ? "run" : "enter",
	       failure.at == AT_COMMAND ? words[0] : failure.at == AT_DIR ? dir : root,
	       strerror(failure.error));
	waitpid(pid, NULL, 0);
	return -1;
}

/* Pass on what is there; false once all writers are gone. */
static bool relay(const struct stream *stream)
{
	char buf[16384];
	ssize_t got;

	while ((got = read(stream->from, buf, sizeof(buf))) > 0) {
		for (ssize_t done = 0, n; done < got; done += n) {
			n = write(stream->to, buf + done, got - done);
			if (n < 0)
				die("cannot pass on the output: %s", strerror(errno));
		}
	}
	return got < 0 && (errno == EAGAIN || errno == EINTR);
}

/* Until the program itself has ended; what it left behind in the background does not count. */
static void follow(pid_t pid, const struct stream streams[STREAMS])
{
	int64_t release_ms = atol(release_s) * MSEC_PER_SEC, start_ms = now_ms(), left = -1;
	struct pollfd fds[STREAMS + 1] = {
		{ .fd = streams[0].from, .events = POLLIN },
		{ .fd = streams[1].from, .events = POLLIN },
		{ .fd = syscall(SYS_pidfd_open, pid, 0), .events = POLLIN },
	};

	if (fds[STREAMS].fd < 0)
		die("cannot wait for the program: %s", strerror(errno));
	while (!fds[STREAMS].revents) {
		if (release_ms)
			left = start_ms + release_ms - now_ms();
		if (release_ms && left <= 0) {
			release_fast_nodes();
			release_ms = 0;
			left = -1;
		}
		if (poll(fds, STREAMS + 1, left) < 0 && errno != EINTR)
			die("cannot wait for the program: %s", strerror(errno));
		for (int i = 0; i < STREAMS; i++)
			if (fds[i].revents && !relay(&streams[i]))
				fds[i].fd = -1;
	}
}

static int report(int64_t ms, int status)
{
	printf("result seconds %" PRId64 ".%03" PRId64 "\n", ms / 1000, ms % 1000);
	if (WIFSIGNALED(status)) {
		printf("result signal %d\n", WTERMSIG(status));
		printf("error the command was killed by signal %d (%s)\n", WTERMSIG(status),
		       strsignal(WTERMSIG(status)));
		return 1;
	}
	printf("result exit_status %d\n", WEXITSTATUS(status));
	if (WEXITSTATUS(status))
		printf("error the command ended with exit status %d\n", WEXITSTATUS(status));
	return WEXITSTATUS(status) != 0;
}

int main(int argc, char **argv)
{
	struct stream streams[STREAMS];
	char **words;
	int64_t start_ms, end_ms;
	int status;
	pid_t pid;

	parse_args(argc, argv);
	words = read_command();
	for (int i = 0; i < STREAMS; i++) {
		streams[i].to = open(i ? err : out, O_WRONLY | O_CLOEXEC);
		if (streams[i].to < 0)
			die("cannot open %s: %s", i ? err : out, strerror(errno));
	}
	fill_fast_nodes();
	start_ms = now_ms();
	roi_begin();
	pid = start(words, streams);
	if (pid < 0) {
		roi_end();
		return 1;
	}
	follow(pid, streams);
	roi_end();
	end_ms = now_ms();
	waitpid(pid, &status, 0);
	for (int i = 0; i < STREAMS; i++)
		relay(&streams[i]);
	return report(end_ms - start_ms, status);
}
