// SPDX-License-Identifier: GPL-2.0-only
/*
 * optout - processes whose pages stay where they are: /proc/pghot/optout
 *
 * For an administrator who wants one running process left alone. What the kernel has does more than
 * that: a memory policy or a cpuset also says where new pages come from.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/kernel.h>
#include <linux/mutex.h>
#include <linux/pid.h>
#include <linux/printk.h>
#include <linux/proc_fs.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/seq_file.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "optout.h"

enum { OPTOUT_MAX = 64 };

/*
 * Each with a reference, so that no other process can have the same struct pid; NULL: free. Written
 * under the mutex. Readers compare the pointers and never follow them.
 */
static struct pid *pids[OPTOUT_MAX];
static unsigned int nr_pids;
static DEFINE_MUTEX(optout_mutex);

static void drop(unsigned int at)
{
	struct pid *pid = pids[at];

	/* First out of readers' sight: without the reference it may become another process's. */
	WRITE_ONCE(pids[at], NULL);
	put_pid(pid);
	WRITE_ONCE(nr_pids, nr_pids - 1);
}

/* Is it a process, and does it live? */
static bool alive(struct pid *pid)
{
	bool is;

	rcu_read_lock();
	is = pid_task(pid, PIDTYPE_TGID) != NULL;
	rcu_read_unlock();
	return is;
}

static void drop_dead(void)
{
	unsigned int i;

	for (i = 0; i < OPTOUT_MAX; i++)
		if (pids[i] && !alive(pids[i]))
			drop(i);
}

/* The place of @pid, or OPTOUT_MAX; of NULL: a free one. */
static unsigned int find(const struct pid *pid)
{
	unsigned int i;

	for (i = 0; i < OPTOUT_MAX && pids[i] != pid; i++)
		;
	return i;
}

/** optout_has - does the process of @task want its pages left alone? Under RCU. */
bool optout_has(struct task_struct *task)
{
	const struct pid *pid;
	unsigned int i;

	if (!READ_ONCE(nr_pids))
		return false;
	pid = task_tgid(task);
	for (i = 0; pid && i < OPTOUT_MAX; i++)
		if (READ_ONCE(pids[i]) == pid)
			return true;
	return false;
}

static int add(pid_t nr)
{
	struct pid *pid = find_get_pid(nr);
	unsigned int at;

	if (!pid || !alive(pid)) {
		put_pid(pid);
		pr_err("optout: there is no process %d; write the ID of a process, not of a thread\n", nr);
		return -ESRCH;
	}
	if (find(pid) < OPTOUT_MAX) {
		put_pid(pid);
		return 0;
	}
	at = find(NULL);
	if (at == OPTOUT_MAX) {
		put_pid(pid);
		pr_err("optout: no room for process %d, %d are listed; write -PID of one of them, or use a cpuset\n",
		       nr, OPTOUT_MAX);
		return -ENOSPC;
	}
	WRITE_ONCE(pids[at], pid);
	WRITE_ONCE(nr_pids, nr_pids + 1);
	return 0;
}

static int take_off(pid_t nr)
{
	struct pid *pid = find_get_pid(nr);
	unsigned int at = pid ? find(pid) : OPTOUT_MAX;

	put_pid(pid);
	if (at == OPTOUT_MAX) {
		pr_err("optout: process %d is not listed; read the file for those who are\n", nr);
		return -ESRCH;
	}
	drop(at);
	return 0;
}

static ssize_t optout_write(struct file *file, const char __user *from, size_t n, loff_t *pos)
{
	char line[16], *text;
	size_t length = min(n, sizeof(line) - 1);
	int nr, err;

	if (copy_from_user(line, from, length))
		return -EFAULT;
	line[length] = '\0';
	text = strim(line);
	if (n > length || kstrtoint(text, 10, &nr) || !nr || nr == INT_MIN) {
		pr_err("optout: \"%*pE\" is no process; write its ID, or -ID to take it off\n",
		       (int)strlen(text), text);
		return -EINVAL;
	}
	mutex_lock(&optout_mutex);
	drop_dead();
	err = nr > 0 ? add(nr) : take_off(-nr);
	mutex_unlock(&optout_mutex);
	return err ?: n;
}

static int optout_show(struct seq_file *m, void *v)
{
	unsigned int i;

	mutex_lock(&optout_mutex);
	drop_dead();
	for (i = 0; i < OPTOUT_MAX; i++)
		if (pids[i])
			seq_printf(m, "%d\n", pid_vnr(pids[i]));
	mutex_unlock(&optout_mutex);
	return 0;
}

static int optout_open(struct inode *inode, struct file *file)
{
	return single_open(file, optout_show, NULL);
}

static const struct proc_ops optout_ops = {
	.proc_open = optout_open,
	.proc_read = seq_read,
	.proc_write = optout_write,
	.proc_lseek = seq_lseek,
	.proc_release = single_release,
};

/** optout_proc_init - show the list in @dir; returns whether that worked */
bool optout_proc_init(struct proc_dir_entry *dir)
{
	return proc_create("optout", 0644, dir, &optout_ops) != NULL;
}

/** optout_exit - forget the list; the file is gone and nobody asks any more */
void optout_exit(void)
{
	unsigned int i;

	for (i = 0; i < OPTOUT_MAX; i++)
		if (pids[i])
			drop(i);
}
