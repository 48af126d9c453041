// SPDX-License-Identifier: GPL-2.0-only
/*
 * PID 1 of a lab guest.
 *
 * Runs /job/main and reports on the second serial port, the result channel, which
 * the job has as file descriptor 3. When the job is over, its verdict follows:
 *
 *	dmesg TEXT		each bad line of the kernel log, and what kmemleak knows
 *	dmesg_bad N		how many there were
 *	verdict pass|fail|timeout CODE	the last line, always
 *
 * A guest that crashes or hangs never gets to write the verdict, so the host takes
 * its absence for a failure. With "lab.shell" on the kernel's command line there is
 * a shell on the console instead; "lab.timeout=SECONDS" bounds the job.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "calibrate.h"

#define RESULT_FD	3
#define TICK_MS		100
#define FLUSH_MS	100
#define KMEMLEAK	"/sys/kernel/debug/kmemleak"
#define KMEMLEAK_AGE_S	6	/* it keeps silent about what is younger than 5 s */

static const struct mount_point {
	const char *type, *dir;
} mount_points[] = {
	{ "proc", "/proc" },
	{ "sysfs", "/sys" },
	{ "devtmpfs", "/dev" },
	{ "debugfs", "/sys/kernel/debug" },
	{ "tracefs", "/sys/kernel/tracing" },
	{ "tmpfs", "/tmp" },
};

/*
 * What a healthy kernel does not say. Each must start a word: "BUG:" is one and
 * "DEBUG:" is not. The patterns end where the kernel's wording begins to vary.
 */
static const char * const bad_words[] = {
	"BUG:", "BUG ", "kernel BUG at", "WARNING:", "WARNING ", "Oops", "Call Trace",
	"INFO: task", "INFO: trying to register", "INFO: rcu", "detected stall",
	"self-detected stall", "detected expedited stalls", "soft lockup", "hard LOCKUP",
	"general protection fault", "stack guard page", "double fault", "invalid opcode",
	"unable to handle", "Unable to handle", "Unexpected", "KASAN:", "KCSAN:", "KFENCE:",
	"KMSAN:", "UBSAN:", "suspected memory leaks", "list_add corruption", "list_del corruption",
	"list_add double add", "refcount_t:", "Bad page", "Bad rss-counter", "bad pmd",
	"bad pte", "swap_free:", "possible recursive locking", "possible circular locking",
	"possible irq lock inversion", "inconsistent lock state", "bad unlock balance",
	"held lock freed", "suspicious RCU usage", "Invalid wait context",
	"invalid wait context", "sleeping function called", "scheduling while atomic",
	"page allocation failure", "Out of memory", "invoked oom-killer", "Kernel panic",
	"workqueue lockup", "Objects remaining", "stack-protector", "lab/init: lost",
};

/* The kernel log as far as it was read: bad lines are kept for the report. */
struct log {
	int fd;
	unsigned int bad;
	char *lines;
	size_t size;
	FILE *keep;
};

static volatile sig_atomic_t child_died;

static void on_sigchld(int sig)
{
	(void)sig;
	child_died = 1;
}

/* PID 1 must not return: say why on the console and let the host see no verdict. */
static void die(const char *what)
{
	fprintf(stderr, "lab/init: %s: %s\n", what, strerror(errno));
	reboot(RB_POWER_OFF);
	for (;;)
		pause();
}

static void mount_all(void)
{
	for (size_t i = 0; i < sizeof(mount_points) / sizeof(*mount_points); i++) {
		const struct mount_point *m = &mount_points[i];

		mkdir(m->dir, 0755);
		if (mount(m->type, m->dir, m->type, 0, NULL) && errno != EBUSY)
			die(m->dir);
	}
}

/* The value of "KEY=VALUE" or of the bare word KEY on the command line, or NULL. */
static const char *cmdline_word(char *cmdline, const char *key)
{
	size_t len = strlen(key);

	for (char *word = strtok(cmdline, " \n"); word; word = strtok(NULL, " \n")) {
		if (strncmp(word, key, len))
			continue;
		if (word[len] == '=')
			return word + len + 1;
		if (!word[len])
			return word + len;
	}
	return NULL;
}

static const char *cmdline_get(const char *key)
{
	static char buf[4096];
	int fd = open("/proc/cmdline", O_RDONLY);
	ssize_t n = fd < 0 ? -1 : read(fd, buf, sizeof(buf) - 1);

	if (n < 0)
		die("/proc/cmdline");
	close(fd);
	buf[n] = '\0';
	return cmdline_word(buf, key);
}

static bool starts_word(const char *text, const char *at)
{
	return at == text || !((at[-1] >= 'a' && at[-1] <= 'z') || (at[-1] >= 'A' && at[-1] <= 'Z') ||
			       at[-1] == '_');
}

static bool line_is_bad(const char *text)
{
	for (size_t i = 0; i < sizeof(bad_words) / sizeof(*bad_words); i++) {
		const char *at = text;

		while ((at = strstr(at, bad_words[i]))) {
			if (starts_word(text, at))
				return true;
			at++;
		}
	}
	return false;
}

static void log_line(struct log *log, const char *text)
{
	if (!line_is_bad(text))
		return;
	log->bad++;
	fprintf(log->keep, "dmesg %s\n", text);
}

static void log_open(struct log *log)
{
	log->fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	log->keep = open_memstream(&log->lines, &log->size);
	if (log->fd < 0 || !log->keep)
		die("/dev/kmsg");
}

/* Take in what the kernel said since last time; a record is "prio,seq,time,-;text\n". */
static void log_drain(struct log *log)
{
	char buf[8192], *text;
	ssize_t n;

	for (;;) {
		n = read(log->fd, buf, sizeof(buf) - 1);
		if (n < 0 && errno == EPIPE) {
			log_line(log, "lab/init: lost part of the kernel log");
			continue;
		}
		if (n <= 0)
			return;
		buf[n] = '\0';
		text = strchr(buf, ';');
		if (!text)
			continue;
		text[1 + strcspn(text + 1, "\n")] = '\0';
		log_line(log, text + 1);
	}
}

static long now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000L + ts.tv_nsec / 1000000;
}

/* The result channel carries bytes as they are. */
static int result_open(void)
{
	struct termios tio;
	int fd = open("/dev/ttyS1", O_RDWR | O_NOCTTY | O_CLOEXEC);

	if (fd < 0 || tcgetattr(fd, &tio))
		die("/dev/ttyS1");
	cfmakeraw(&tio);
	cfsetspeed(&tio, B115200);
	tcsetattr(fd, TCSANOW, &tio);
	return fd;
}

static void child_setup(void)
{
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGCHLD, SIG_DFL);
	setenv("PATH", "/job:/bin:/sbin", 1);
	setenv("HOME", "/root", 1);
	setenv("TERM", "linux", 0);
}

static pid_t spawn_job(int result)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	child_setup();
	setsid();
	close(0);
	if (open("/dev/null", O_RDONLY) != 0 || dup2(result, RESULT_FD) < 0 ||
	    fcntl(RESULT_FD, F_SETFD, 0) || chdir("/job"))
		_exit(126);
	execl("/job/main", "main", (char *)NULL);
	fprintf(stderr, "lab/init: /job/main: %s\n", strerror(errno));
	_exit(127);
}

static pid_t spawn_shell(void)
{
	pid_t pid = fork();
	int tty;

	if (pid)
		return pid;
	child_setup();
	setsid();
	tty = open("/dev/ttyS0", O_RDWR);
	if (tty < 0 || ioctl(tty, TIOCSCTTY, 1))
		_exit(126);
	for (int fd = 0; fd < 3; fd++)
		dup2(tty, fd);
	if (tty > 2)
		close(tty);
	if (chdir("/root"))
		_exit(126);
	execl("/bin/sh", "-sh", (char *)NULL);
	_exit(127);
}

/* Reap everything that died; the exit code of @pid once it did, -1 before. */
static int reap(pid_t pid)
{
	int status, code = -1;
	pid_t dead;

	while ((dead = waitpid(-1, &status, WNOHANG)) > 0) {
		if (dead == pid)
			code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	}
	return code;
}

/*
 * Wait for @pid, for at most @timeout_ms (0: for ever), and follow the kernel log.
 * The exit code (128 + N after signal N), or -ETIMEDOUT.
 */
static int wait_child(pid_t pid, long timeout_ms, struct log *log)
{
	long start = now_ms();
	int code;

	while ((code = reap(pid)) < 0) {
		log_drain(log);
		if (timeout_ms && now_ms() - start > timeout_ms)
			return -ETIMEDOUT;
		if (!child_died)
			poll(NULL, 0, TICK_MS);
		child_died = 0;
	}
	return code;
}

/* One look at all memory. kmemleak takes its time, and the log may say something about it. */
static bool kmemleak_scan(int fd)
{
	return write(fd, "scan", 4) == 4;
}

/*
 * On a kernel that can: look for memory that nobody points at, and keep what is known of it.
 * How many blocks there are, the kernel says in its log, with words that are bad. What changed since
 * the last look is not reported, so it takes two.
 */
static void find_leaks(struct log *log)
{
	int fd = open(KMEMLEAK, O_RDWR | O_CLOEXEC);
	char line[512];
	FILE *file;

	if (fd < 0)
		return;
	sleep(KMEMLEAK_AGE_S);
	if (!kmemleak_scan(fd) || !kmemleak_scan(fd)) {
		log->bad++;
		fprintf(log->keep, "dmesg lab/init: kmemleak does not work: %s\n", strerror(errno));
	}
	lseek(fd, 0, SEEK_SET);
	file = fdopen(fd, "r");
	if (!file)
		die(KMEMLEAK);
	while (fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		fprintf(log->keep, "dmesg kmemleak: %s\n", line);
	}
	fclose(file);
}

static void report(int fd, struct log *log, int code)
{
	const char *verdict = "fail";

	/* The deaths of those killed here must not interrupt the writing of the verdict. */
	signal(SIGCHLD, SIG_DFL);
	kill(-1, SIGKILL);	/* nobody writes after the verdict */
	find_leaks(log);
	log_drain(log);
	fclose(log->keep);
	if (code == -ETIMEDOUT)
		verdict = "timeout";
	else if (code == 0 && log->bad == 0)
		verdict = "pass";
	/* The job may have left half a line. */
	dprintf(fd, "\n%sdmesg_bad %u\nverdict %s %d\n", log->lines, log->bad, verdict, code);
	tcdrain(fd);
}

/*
 * QEMU's software TLB starts with 256 entries and grows only when the guest flushes it, that
 * is when a CPU changes to another process. A workload alone on its CPU would run with the
 * small one, at about a sixth of the speed, until something such as a migration flushes it,
 * and so would seem to be sped up by the migration. One sleeper per CPU makes the
 * conditions equal for all.
 */
static void start_flushers(void)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	cpu_set_t set;

	for (long cpu = 0; cpu < cpus; cpu++) {
		if (fork())
			continue;
		CPU_ZERO(&set);
		CPU_SET(cpu, &set);
		sched_setaffinity(0, sizeof(set), &set);
		for (;;)
			poll(NULL, 0, FLUSH_MS);
	}
}

/* A plugin that does not know where memory is would count nothing: no run without it. */
static void calibrate_or_die(int result)
{
	const char *error = calibrate();

	if (!error)
		return;
	fprintf(stderr, "lab/init: cannot calibrate the plugin: %s\n", error);
	if (result >= 0) {
		dprintf(result, "error cannot calibrate the plugin: %s\n", error);
		tcdrain(result);
	}
	reboot(RB_POWER_OFF);
}

static void install_busybox(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		execl("/bin/busybox", "busybox", "--install", "-s", "/bin", (char *)NULL);
		_exit(127);
	}
	waitpid(pid, NULL, 0);
}

int main(void)
{
	struct sigaction chld = { .sa_handler = on_sigchld, .sa_flags = SA_NOCLDSTOP };
	const char *timeout;
	long timeout_ms = 0;
	struct log log = { .fd = -1 };
	int result, code;

	mount_all();
	log_open(&log);
	sigaction(SIGCHLD, &chld, NULL);
	install_busybox();
	if (cmdline_get("lab.shell")) {
		calibrate_or_die(-1);
		wait_child(spawn_shell(), 0, &log);
	} else {
		result = result_open();
		timeout = cmdline_get("lab.timeout");
		if (timeout)
			timeout_ms = atol(timeout) * 1000;
		calibrate_or_die(result);
		start_flushers();
		code = wait_child(spawn_job(result), timeout_ms, &log);
		report(result, &log, code);
	}
	sync();
	reboot(RB_POWER_OFF);
	die("reboot");
}
