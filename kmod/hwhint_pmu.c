// SPDX-License-Identifier: GPL-2.0-only
/* What a PMU can do, it says in files in sysfs; perf has no other interface for that. */
#include <linux/bits.h>
#include <linux/cred.h>
#include <linux/err.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/fs_struct.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/math.h>
#include <linux/path.h>
#include <linux/sched/task.h>
#include <linux/string.h>

#include "hwhint_pmu.h"

/* Open a file from the root of the system. */
static struct file __init *open_from_root(const char *name)
{
	struct file *file;
	struct path root;

	task_lock(&init_task);
	get_fs_root(init_task.fs, &root);
	task_unlock(&init_task);
	file = file_open_root(&root, name, O_RDONLY, 0);
	path_put(&root);
	return file;
}

/* The files that are looked at, as they were when the module was loaded; @there: it was one of them. */
static struct pmu_file {
	const char *pmu;
	const char *name;
	char text[64];
	bool there;
} files[] = {
	{ "ibs_op", "type" },
	{ "ibs_op", "format/cnt_ctl" },
	{ "ibs_op", "format/l3missonly" },
	{ "cpu", "type" },
	{ "cpu", "events/mem-loads" },
	{ "cpu", "events/mem-loads-aux" },
#ifdef PGHOT_FAULTS
	{ "software", "type" },
#endif
};

static void __init read_file(struct pmu_file *f)
{
	struct file *file;
	char path[96];
	loff_t at = 0;
	ssize_t n;

	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/%s", f->pmu, f->name);
	file = open_from_root(path);
	if (IS_ERR(file))
		return;
	n = kernel_read(file, f->text, sizeof(f->text) - 1, &at);
	fput(file);
	f->there = n >= 0;
}

/**
 * hwhint_pmu_init - see what PMUs there are
 *
 * Now, as PMUs do not come and go: reading such a file takes a lock that whoever reads
 * /proc/pghot/stat holds already. By the rights and from the root of the system, whoever it is that
 * loads the module. (kernel_read_file() is for what the kernel is going to load: security modules warn
 * when it is used for anything else.)
 */
void __init hwhint_pmu_init(void)
{
	struct cred *cred = prepare_kernel_cred(&init_task);
	const struct cred *own;
	unsigned int i;

	if (!cred)
		return;
	own = override_creds(cred);
	for (i = 0; i < ARRAY_SIZE(files); i++)
		read_file(&files[i]);
	revert_creds(own);
	put_cred(cred);
}

/* What a file of a PMU said. False if there was none. */
static bool pmu_read(const char *pmu, const char *name, char *text, size_t size)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(files); i++)
		if (files[i].there && !strcmp(files[i].pmu, pmu) && !strcmp(files[i].name, name))
			return strscpy(text, files[i].text, size) >= 0;
	return false;
}

static int pmu_type(const char *pmu, u32 *type, struct hwhint_why *why)
{
	char text[16];

	if (pmu_read(pmu, "type", text, sizeof(text)) && !kstrtou32(strim(text), 10, type))
		return 0;
	hwhint_say(why, "no PMU %s", pmu);
	return -ENODEV;
}

/* The bit of config that the PMU calls so, or 0 if it has none. */
static u64 pmu_bit(const char *pmu, const char *format)
{
	char text[32];
	unsigned int bit;

	if (!pmu_read(pmu, format, text, sizeof(text)) || sscanf(text, "config:%u", &bit) != 1 ||
	    bit > 63)
		return 0;
	return BIT_ULL(bit);
}

/* In operations, not cycles, where the CPU can. 6.12 has no exclude_kernel for it. */
static int ibs_describe(const struct hwhint_settings *settings, struct perf_event_attr *to,
			struct hwhint_why *why)
{
	int err = pmu_type("ibs_op", &to->type, why);

	if (err)
		return err;
	to->config = pmu_bit("ibs_op", "format/cnt_ctl");
	if (settings->l3miss_only)
		to->config |= pmu_bit("ibs_op", "format/l3missonly");
	return 0;
}

/* The lower 4 bits of an IBS period are not there. */
const struct hwhint_pmu hwhint_pmu_ibs = {
	.name = "ibs_op",
	.scale = 1,
	.granule = 16,
	.describe = ibs_describe,
};

/* Parse an event of the PMU cpu, as in "event=0xcd,umask=0x1,ldlat=3". */
static bool parse_event(char *text, unsigned int latency_min, struct perf_event_attr *to)
{
	char *part, *name;
	u64 value;

	while ((part = strsep(&text, ","))) {
		name = strsep(&part, "=");
		if (!part || kstrtou64(strim(part), 0, &value))
			return false;
		if (!strcmp(name, "event"))
			to->config |= value & 0xff;
		else if (!strcmp(name, "umask"))
			to->config |= (value & 0xff) << 8;
		else if (!strcmp(name, "ldlat"))
			to->config1 = max_t(u64, value, latency_min);
		else
			return false;
	}
	return true;
}

static int pebs_describe(const struct hwhint_settings *settings, struct perf_event_attr *to,
			 struct hwhint_why *why)
{
	/*
	 * Where the loads' latency can only be had in a group with mem-loads-aux (Sapphire Rapids),
	 * which kernel counters cannot form: MEM_LOAD_RETIRED.L3_MISS.
	 */
	char without_latency[] = "event=0xd1,umask=0x20", with_latency[64], aux[64];
	int err = pmu_type("cpu", &to->type, why);
	char *event = with_latency;

	if (err)
		return err;
	if (!pmu_read("cpu", "events/mem-loads", with_latency, sizeof(with_latency))) {
		hwhint_say(why, "PMU cpu has no event mem-loads");
		return -ENODEV;
	}
	if (pmu_read("cpu", "events/mem-loads-aux", aux, sizeof(aux)))
		event = without_latency;
	if (!parse_event(event, settings->latency_min, to)) {
		hwhint_say(why, "PMU cpu has an unknown kind of event mem-loads");
		return -ENODEV;
	}
	to->precise_ip = 1;
	to->exclude_kernel = settings->user_only;
	/*
	 * An interrupt for each sample. Otherwise perf gathers them in the CPU's buffer and lets the
	 * handler see none but the last.
	 */
	to->wakeup_events = 1;
	return 0;
}

const struct hwhint_pmu hwhint_pmu_pebs = {
	.name = "cpu",
	.scale = 1,
	.granule = 1,
	.describe = pebs_describe,
};

#ifdef PGHOT_FAULTS
/*
 * For tests in guests that have no PMU: the kernel's clock as a profiler whose samples have no
 * address. An operation takes it 100 ns.
 */
static int clock_describe(const struct hwhint_settings *settings, struct perf_event_attr *to,
			  struct hwhint_why *why)
{
	to->exclude_kernel = settings->user_only;
	to->config = PERF_COUNT_SW_CPU_CLOCK;
	return pmu_type("software", &to->type, why);
}

const struct hwhint_pmu hwhint_pmu_clock = {
	.name = "software",
	.scale = 100,
	.granule = 1,
	.describe = clock_describe,
};
#endif

/**
 * hwhint_pmu_describe - what to ask perf for
 * @pmu: the kind
 * @settings: how to sample
 * @to: becomes all of an event but its period
 * @why: becomes the reason if there is an error
 *
 * Returns 0, or -ENODEV if this machine has no such PMU.
 */
int hwhint_pmu_describe(const struct hwhint_pmu *pmu, const struct hwhint_settings *settings,
			struct perf_event_attr *to, struct hwhint_why *why)
{
	*to = (struct perf_event_attr){
		.size = sizeof(*to),
		.sample_type = PERF_SAMPLE_ADDR | PERF_SAMPLE_PHYS_ADDR | PERF_SAMPLE_DATA_SRC |
			       PERF_SAMPLE_WEIGHT,
	};
	return pmu->describe(settings, to, why);
}

/** hwhint_pmu_period - the PMU's period that comes closest to so many operations from below */
u64 hwhint_pmu_period(const struct hwhint_pmu *pmu, unsigned int operations)
{
	return rounddown((u64)operations * pmu->scale, pmu->granule);
}
