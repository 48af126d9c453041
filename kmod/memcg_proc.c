// SPDX-License-Identifier: GPL-2.0-only
/* memcg_proc - /proc/pghot/memcg: the table to read, and the settings to write */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cgroup.h>
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/nsproxy.h>
#include <linux/printk.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/time64.h>

#include "engine/bucket.h"
#include "memcg.h"

/* A verb, a value and two blanks beside the path. */
enum { LINE_MAX = PATH_MAX + 64 };

/* No name of a cgroup has a line feed in it. */
static void show_row(struct seq_file *m, const struct memcg_sum *sum, char *path)
{
	struct cgroup *cgrp = cgroup_get_from_id(sum->id);
	int length;

	if (IS_ERR(cgrp))
		return;
	length = cgroup_path_ns(cgrp, path, PATH_MAX, current->nsproxy->cgroup_ns);
	cgroup_put(cgrp);
	seq_printf(m, "%llu %llu %llu %llu ", sum->id, sum->promoted, sum->refused,
		   div_u64(sum->ns, NSEC_PER_USEC));
	if (sum->budget == MEMCG_NO_BUDGET)
		seq_puts(m, "max");
	else
		seq_printf(m, "%llu", sum->budget);
	seq_printf(m, " %d %s\n", sum->optout, length < 0 ? "(too long)" : path);
}

static struct memcg_sum *find_sum(struct memcg_sum *sums, unsigned int n, u64 id)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		if (sums[i].id == id)
			return &sums[i];
	return NULL;
}

/*
 * Rows of cgroups that have gone are dropped from time to time only; what they did is their ancestor's at
 * once. To a reader in a cgroup namespace those outside are as good as gone, and so are all above them.
 */
static void fold_gone(struct memcg_sum *sums, unsigned int n)
{
	struct memcg_sum *up;
	struct cgroup *cgrp;
	unsigned int i;

	for (i = 0; i < n; i++) {
		cgrp = cgroup_get_from_id(sums[i].id);
		sums[i].gone = IS_ERR(cgrp);
		if (!IS_ERR(cgrp))
			cgroup_put(cgrp);
	}
	for (i = 0; i < n; i++) {
		for (up = &sums[i]; up && up->gone; up = up->parent ? find_sum(sums, n, up->parent) : NULL)
			;
		if (!up || up == &sums[i])
			continue;
		up->promoted += sums[i].promoted;
		up->refused += sums[i].refused;
		up->ns += sums[i].ns;
	}
}

/* Paths are asked for without the table's mutex: the kernel takes its mutex of all cgroups for them. */
static int memcg_show(struct seq_file *m, void *v)
{
	struct memcg_sum *sums = kvcalloc(MEMCG_MAX_ROWS + 1, sizeof(*sums), GFP_KERNEL);
	char *path = kmalloc(PATH_MAX, GFP_KERNEL);
	unsigned int i, n;
	int err = -ENOMEM;

	if (!sums || !path)
		goto out;
	n = memcg_read(sums, MEMCG_MAX_ROWS + 1);
	seq_puts(m, "id promoted_pages refused_pages cpu_us budget optout path\n");
	fold_gone(sums, n);
	for (i = 0; i < n; i++)
		if (!sums[i].gone)
			show_row(m, &sums[i], path);
	err = 0;
out:
	kfree(path);
	kvfree(sums);
	return err;
}

/* The cgroup of a path, with a reference, if the pages of processes in it are charged to it. */
static struct cgroup *cgroup_at(const char *path)
{
	struct cgroup *cgrp;

	if (!memcg_on_v2()) {
		pr_err("memcg: %s: the memory controller is off or on cgroup v1; boot it on cgroup2\n",
		       path);
		return ERR_PTR(-EOPNOTSUPP);
	}
	cgrp = path[0] == '/' ? cgroup_get_from_path(path) : ERR_PTR(-ENOENT);
	if (IS_ERR(cgrp)) {
		pr_err("memcg: there is no cgroup \"%s\"; write its path from the root of cgroup2 on, as in /proc/PID/cgroup\n",
		       path);
		return ERR_PTR(-ENOENT);
	}
	if (!memcg_has_controller(cgrp)) {
		cgroup_put(cgrp);
		pr_err("memcg: %s has no memory controller; write +memory into cgroup.subtree_control of its parent\n",
		       path);
		return ERR_PTR(-EINVAL);
	}
	return cgrp;
}

static int set_budget(struct cgroup *cgrp, const char *value)
{
	u64 pages_per_s;

	if (!strcmp(value, "max"))
		return memcg_set_budget(cgrp, MEMCG_NO_BUDGET);
	if (kstrtou64(value, 10, &pages_per_s) || pages_per_s > BUCKET_MAX_RATE) {
		pr_err("memcg: budget \"%s\": want pages a second, 0 to %llu, or max\n", value,
		       BUCKET_MAX_RATE);
		return -EINVAL;
	}
	return memcg_set_budget(cgrp, pages_per_s);
}

static int set_optout(struct cgroup *cgrp, const char *value)
{
	if (strcmp(value, "0") && strcmp(value, "1")) {
		pr_err("memcg: optout \"%s\": want 0 or 1\n", value);
		return -EINVAL;
	}
	return memcg_set_optout(cgrp, value[0] == '1');
}

static const struct {
	const char *verb;
	int (*set)(struct cgroup *cgrp, const char *value);
} settings[] = {
	{ "budget", set_budget },
	{ "optout", set_optout },
};

/* VERB VALUE PATH; all that follows the second blank is the path. */
static int obey(char *line)
{
	char *path = line, *verb = strsep(&path, " "), *value = path ? strsep(&path, " ") : NULL;
	struct cgroup *cgrp;
	unsigned int i;
	int err;

	for (i = 0; i < ARRAY_SIZE(settings) && strcmp(verb, settings[i].verb); i++)
		;
	if (i == ARRAY_SIZE(settings) || !path) {
		pr_err("memcg: \"%s\": want \"budget PAGES_PER_S|max PATH\" or \"optout 0|1 PATH\"\n", verb);
		return -EINVAL;
	}
	cgrp = cgroup_at(path);
	if (IS_ERR(cgrp))
		return PTR_ERR(cgrp);
	err = settings[i].set(cgrp, value);
	cgroup_put(cgrp);
	if (err == -ENOSPC)
		pr_err("memcg: no room for %s, %d cgroups are listed; set it for one above, or remove cgroups\n",
		       path, MEMCG_MAX_ROWS);
	return err;
}

static ssize_t memcg_write(struct file *file, const char __user *from, size_t n, loff_t *pos)
{
	char *line;
	int err;

	if (!n || n > LINE_MAX) {
		pr_err("memcg: a line of %zu bytes; at most %d\n", n, LINE_MAX);
		return -EINVAL;
	}
	line = memdup_user_nul(from, n);
	if (IS_ERR(line))
		return PTR_ERR(line);
	if (line[n - 1] == '\n')
		line[n - 1] = '\0';
	if (strlen(line) + 1 < n || strchr(line, '\n')) {
		pr_err("memcg: more than one line; write one at a time\n");
		err = -EINVAL;
	} else {
		err = obey(line);
	}
	kfree(line);
	return err ?: n;
}

static int memcg_open(struct inode *inode, struct file *file)
{
	return single_open(file, memcg_show, NULL);
}

static const struct proc_ops memcg_ops = {
	.proc_open = memcg_open,
	.proc_read = seq_read,
	.proc_write = memcg_write,
	.proc_lseek = seq_lseek,
	.proc_release = single_release,
};

/** memcg_proc_init - show the table in @dir; returns whether that worked */
bool memcg_proc_init(struct proc_dir_entry *dir)
{
	return proc_create("memcg", 0644, dir, &memcg_ops) != NULL;
}
