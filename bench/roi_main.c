// SPDX-License-Identifier: GPL-2.0-only
/*
 * roi: mark a region of interest around a whole program, and print what the lab's plugin counted.
 *
 * Without the lab's device "run" just runs the command and "report" prints nothing.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "roi.h"

static int usage(void)
{
	fputs("usage: roi run COMMAND [ARG...]   run it as one region of interest\n"
	      "       roi report               lines \"roi NAME VALUE\" of what was counted\n"
	      "       roi reset                forget what was counted\n", stderr);
	return 2;
}

/* The command's exit status, as a shell gives it. */
static int run(char **argv)
{
	int status;
	pid_t pid;

	roi_begin();
	pid = fork();
	if (pid == 0) {
		execvp(argv[0], argv);
		fprintf(stderr, "roi: cannot run %s: %s\n", argv[0], strerror(errno));
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid) {
		fprintf(stderr, "roi: cannot run %s: %s\n", argv[0], strerror(errno));
		status = 126 << 8;
	}
	roi_end();
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(int argc, char **argv)
{
	if (argc > 2 && !strcmp(argv[1], "run"))
		return run(argv + 2);
	if (argc == 2 && !strcmp(argv[1], "report")) {
		roi_report(stdout, "roi");
		return 0;
	}
	if (argc == 2 && !strcmp(argv[1], "reset")) {
		roi_reset();
		return 0;
	}
	return usage();
}
