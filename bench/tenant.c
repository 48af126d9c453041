// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base.h"
#include "tenant.h"

/* A child has ended since the last look. */
static volatile sig_atomic_t ended;

static void on_end(int signal)
{
	(void)signal;
	ended = 1;
}

static struct tenant_shared *share(void)
{
	void *mem = mmap(NULL, sizeof(struct tenant_shared), PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (mem == MAP_FAILED)
		die("cannot map a page: %s", strerror(errno));
	return mem;
}

void tenant_start(struct tenant *t, const char *name, void (*run)(struct tenant *t, void *arg), void *arg)
{
	const struct sigaction action = { .sa_handler = on_end, .sa_flags = SA_RESTART };
	pid_t parent = getpid();
	int ends[2];

	*t = (struct tenant){ .name = name, .shared = share() };
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		die("cannot make a socket: %s", strerror(errno));
	sigaction(SIGCHLD, &action, NULL);
	t->pid = fork();
	if (t->pid < 0)
		die("cannot start the %s process: %s", name, strerror(errno));
	t->line = ends[!t->pid];
	close(ends[!!t->pid]);
	if (t->pid)
		return;
	/* The parent may have ended just before. */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != parent)
		die("the %s process is alone", name);
	run(t, arg);
	exit(0);
}

/* It ended before its time. */
static void __attribute__((noreturn)) mourn(const struct tenant *t, int status)
{
	if (WIFSIGNALED(status))
		die("the %s process was ended by signal %d (%s)", t->name, WTERMSIG(status),
		    strsignal(WTERMSIG(status)));
	/* It has said why. */
	exit(WEXITSTATUS(status) ? WEXITSTATUS(status) : 1);
}

static int status_of(const struct tenant *t)
{
	int status;

	while (waitpid(t->pid, &status, 0) < 0)
		if (errno != EINTR)
			die("cannot wait for the %s process: %s", t->name, strerror(errno));
	return status;
}

static bool say(const struct tenant *t)
{
	return send(t->line, "", 1, MSG_NOSIGNAL) == 1;
}

static bool hear(const struct tenant *t)
{
	char byte;
	ssize_t got;

	do
		got = read(t->line, &byte, 1);
	while (got < 0 && errno == EINTR);
	return got == 1;
}

void tenant_ready(struct tenant *t)
{
	if (!say(t) || !hear(t))
		exit(1);
}

void tenant_await(struct tenant *t)
{
	if (!hear(t))
		mourn(t, status_of(t));
}

void tenant_go(struct tenant *t)
{
	if (!say(t))
		mourn(t, status_of(t));
}

void tenant_check(struct tenant *t)
{
	int status;

	if (!ended)
		return;
	ended = 0;
	/* Or was it another child? */
	if (waitpid(t->pid, &status, WNOHANG) == t->pid)
		mourn(t, status);
}

uint64_t tenant_join(struct tenant *t)
{
	int status;

	atomic_store(&t->shared->stop, true);
	status = status_of(t);
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		mourn(t, status);
	return t->shared->bad;
}

static void path_in(char path[PATH_MAX], const char *dir, const char *name)
{
	if (snprintf(path, PATH_MAX, "%s/%s", dir, name) >= PATH_MAX)
		die("cgroups=%s: that path is too long", dir);
}

static bool gives_memory(const char *root)
{
	char path[PATH_MAX], word[64];
	bool found = false;
	FILE *file;

	path_in(path, root, "cgroup.subtree_control");
	file = fopen(path, "r");
	while (file && !found && fscanf(file, "%63s", word) == 1)
		found = !strcmp(word, "memory");
	if (file)
		fclose(file);
	return found;
}

void tenant_enter_cgroup(const char *root, const char *name)
{
	char dir[PATH_MAX], procs[PATH_MAX];
	int fd;

	if (!gives_memory(root))
		die("cgroups=%s: no cgroup2 whose %s/cgroup.subtree_control has memory: "
		    "mount -t cgroup2 none %s && echo +memory >%s/cgroup.subtree_control", root, root, root, root);
	path_in(dir, root, name);
	if (mkdir(dir, 0755) && errno != EEXIST)
		die("cgroups=%s: cannot make %s: %s", root, dir, strerror(errno));
	path_in(procs, dir, "cgroup.procs");
	fd = open(procs, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || dprintf(fd, "%d\n", (int)getpid()) < 0)
		die("cgroups=%s: cannot write to %s: %s", root, procs, strerror(errno));
	close(fd);
}
