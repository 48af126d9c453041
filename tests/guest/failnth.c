// SPDX-License-Identifier: GPL-2.0-only
/*
 * failnth - runs a command whose N-th allocation of kernel memory fails
 *
 * usage: failnth N COMMAND [ARGUMENT...]
 *
 * Writes a line "STATUS LEFT": the command's exit status (128 + signal), and how many allocations more
 * it would have taken to the N-th; 0 if that came and failed. Which allocations count is up to
 * the filters of failslab and fail_page_alloc in debugfs. Needs a kernel with fault injection.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void die(const char *what)
{
	fprintf(stderr, "failnth: %s: %s\n", what, strerror(errno));
	exit(125);
}

/* The child's counter lives through execve(), not through fork(): COMMAND is what counts. */
static void run(const char *n, char **command)
{
	int fd = open("/proc/self/fail-nth", O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, n, strlen(n)) < 0)
		die("/proc/self/fail-nth");
	execvp(command[0], command);
	die(command[0]);
}

int main(int argc, char **argv)
{
	char path[64], left[32] = "";
	siginfo_t info;
	pid_t pid;
	int fd;

	if (argc < 3) {
		fprintf(stderr, "usage: failnth N COMMAND [ARGUMENT...]\n");
		return 2;
	}
	pid = fork();
	if (pid < 0)
		die("fork");
	if (!pid)
		run(argv[1], argv + 2);
	/* As long as it is not reaped its counter can be read. */
	if (waitid(P_PID, pid, &info, WEXITED | WNOWAIT))
		die("waitid");
	snprintf(path, sizeof(path), "/proc/%d/fail-nth", pid);
	fd = open(path, O_RDONLY);
	if (fd < 0 || read(fd, left, sizeof(left) - 1) <= 0)
		die(path);
	left[strcspn(left, "\n")] = '\0';
	printf("%d %s\n", info.si_code == CLD_EXITED ? info.si_status : 128 + info.si_status, left);
	waitpid(pid, NULL, 0);
	return 0;
}
