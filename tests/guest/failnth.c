// SPDX-License-Identifier: GPL-2.0-only
/*
 * failnth - runs a command whose N-th allocation of kernel memory fails
 *
 * usage: failnth N COMMAND [ARGUMENT...]
 *
 * The command "insmod FILE [PARAMETER...]" is done by itself: busybox's, when it fails, tries again by
 * another system call.
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
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void die(const char *what)
{
	fprintf(stderr, "failnth: %s: %s\n", what, strerror(errno));
	exit(125);
}

/* Insert a module; the exit status. */
static int load(char **words)
{
	char parameters[1024] = "";
	int fd;

	if (!words[0])
		return 2;
	fd = open(words[0], O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		die(words[0]);
	for (char **word = words + 1; *word; word++) {
		size_t used = strlen(parameters);

		snprintf(parameters + used, sizeof(parameters) - used, "%s ", *word);
	}
	if (!syscall(SYS_finit_module, fd, parameters, 0))
		return 0;
	perror(words[0]);
	return 1;
}

/* The child's counter lives through execve(), not through fork(): COMMAND is what counts. */
static void run(const char *n, char **command)
{
	int fd = open("/proc/self/fail-nth", O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, n, strlen(n)) < 0)
		die("/proc/self/fail-nth");
	if (!strcmp(command[0], "insmod"))
		_exit(load(command + 1));
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
