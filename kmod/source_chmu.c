// SPDX-License-Identifier: GPL-2.0-only
/*
 * source_chmu - CXL hotness monitoring units
 *
 * The units count by themselves; one thread looks at their hotlists, without interrupts, since that is
 * due a few times a second only, reports what is on them, and tunes the units to their hotlists.
 *
 * The list of units is made when the source is enabled and freed when it is disabled. What was found
 * then is remembered in words for /proc/pghot/stat.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/delay.h>
#include <linux/err.h>
#include <linux/freezer.h>
#include <linux/kthread.h>
#include <linux/mm.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "chmu_dev.h"
#include "chmu_unit.h"
#include "control.h"
#include "fault.h"
#include "source.h"

enum {
	MAX_UNITS = 64,
	/* What a unit may take for an operation: 500 looks, 1 ms or more apart. */
	PATIENCE = 500,
	LOOK_US = 1000,
};

/* Protects the units. The thread holds it while it polls, all others together with the control mutex. */
static DEFINE_MUTEX(units_mutex);
static LIST_HEAD(devs);
static LIST_HEAD(units);

static struct task_struct *thread;
static DECLARE_WAIT_QUEUE_HEAD(thread_wait);
static bool thread_kicked;

/* What the last look found. Under the control mutex. */
static struct {
	char name[48];
	const char *refused;
} notes[MAX_UNITS];
static unsigned int nr_notes;
static bool looked;

/** chmu_dev_wait - struct chmu_io.wait of every way */
bool chmu_dev_wait(const struct chmu_io *io, u32 before)
{
	if (before >= PATIENCE)
		return false;
	usleep_range(LOOK_US, 2 * LOOK_US);
	return true;
}

/** chmu_devs_free - let go of all in the list */
void chmu_devs_free(struct list_head *list)
{
	struct chmu_dev *dev, *next;

	list_for_each_entry_safe(dev, next, list, link) {
		list_del(&dev->link);
		dev->free(dev);
	}
}

/* Let go of all units, which are stopped, and their devices. */
static void forget(void)
{
	struct chmu_unit *unit, *next;

	list_for_each_entry_safe(unit, next, &units, link) {
		list_del(&unit->link);
		kfree(unit);
	}
	chmu_devs_free(&devs);
}

static struct chmu_unit *add_unit(struct chmu_dev *dev, u32 index, u32 instances)
{
	struct chmu_unit *unit = fault_point() ? NULL : kzalloc(sizeof(*unit), GFP_KERNEL);

	if (!unit)
		return NULL;
	unit->dev = dev;
	unit->refused = dev->refused;
	if (instances > 1)
		scnprintf(unit->name, sizeof(unit->name), "%s.%u", dev->name, index);
	else
		strscpy(unit->name, dev->name);
	list_add_tail(&unit->link, &units);
	return unit;
}

/* Those instances of a device that are fine share its memory. */
static void share_memory(struct chmu_dev *dev)
{
	struct chmu_unit *unit;
	u32 shares = 0;

	list_for_each_entry(unit, &units, link)
		if (unit->dev == dev && !unit->refused)
			unit->part.share = shares++;
	list_for_each_entry(unit, &units, link) {
		if (unit->dev != dev || unit->refused)
			continue;
		unit->part.shares = shares;
		unit->part.slices = 1;
		if (!chmu_map_bits(&dev->map, &unit->part))
			unit->refused = chmu_error_text(CHMU_NO_MEMORY);
	}
}

static int add_units(struct chmu_dev *dev)
{
	enum chmu_error error = CHMU_OK;
	struct chmu_unit *unit;
	u32 i, instances = 1;

	if (!dev->refused)
		error = chmu_map_check(&dev->map, PAGE_SIZE);
	if (!dev->refused && !error)
		error = chmu_instances(&dev->io, &instances);
	if (error) {
		dev->refused = chmu_error_text(error);
		instances = 1;
	}
	for (i = 0; i < instances; i++) {
		unit = add_unit(dev, i, instances);
		if (!unit)
			return -ENOMEM;
		if (unit->refused)
			continue;
		error = chmu_open(&unit->hw, &dev->io, i, &dev->map);
		if (error)
			unit->refused = chmu_error_text(error);
	}
	share_memory(dev);
	return 0;
}

/* Write down what there is. */
static void take_notes(void)
{
	struct chmu_unit *unit;

	nr_notes = 0;
	looked = true;
	list_for_each_entry(unit, &units, link) {
		if (nr_notes == MAX_UNITS)
			break;
		strscpy(notes[nr_notes].name, unit->name);
		notes[nr_notes++].refused = unit->refused;
	}
}

/* Find all units. 0, or -ENOMEM with none. */
static int look(void)
{
	struct chmu_dev *dev;
	int err;

	err = chmu_lab_find(&devs);
	if (!err)
		err = chmu_cxl_find(&devs);
	list_for_each_entry(dev, &devs, link)
		if (!err)
			err = add_units(dev);
	if (err)
		forget();
	else
		take_notes();
	return err;
}

static struct chmu_wish read_knobs(void)
{
	return (struct chmu_wish){
		.unit_bytes = knob(chmu_unit_bytes),
		.threshold = knob(chmu_threshold),
		.epoch_us = knob(chmu_epoch_us),
		.count = knob(chmu_count),
		.downsampling = knob(chmu_downsampling),
		.always_on = knob(chmu_always_on),
		.ready = knob(chmu_ready),
		.window_us = knob(promote_freq_window_ms) * 1000ULL,
		.freq_threshold = knob(freq_threshold),
	};
}

/* " 1 2 4": FIRST << n for each bit n of @bits */
static void list_bits(char *text, size_t size, u32 bits, u64 first, bool numbers)
{
	size_t n = 0;
	u32 bit;

	text[0] = '\0';
	for (bit = 0; bit < 32; bit++)
		if (bits >> bit & 1)
			n += scnprintf(text + n, size - n, " %llu",
				       numbers ? first + bit : first << bit);
}

/* The line for a knob that asks for what a unit cannot do: the knob, the value, what it can. */
static void complain(const struct chmu_unit *unit, enum chmu_error error)
{
	const struct chmu_caps *caps = &unit->hw.caps;
	char text[256];

	switch (error) {
	case CHMU_CANNOT_UNIT:
		list_bits(text, sizeof(text), caps->unit_sizes, 1 << CHMU_UNIT_SHIFT_MIN, false);
		pr_err("vm.pghot_chmu_unit_bytes=%d: chmu %s can do%s\n", knob(chmu_unit_bytes),
		       unit->name, text);
		break;
	case CHMU_CANNOT_MODE:
		pr_err("vm.pghot_chmu_always_on=%d: chmu %s can do %d only\n",
		       knob(chmu_always_on), unit->name, caps->always_on);
		break;
	case CHMU_CANNOT_COUNT:
		list_bits(text, sizeof(text), caps->trackable, CHMU_COUNT_READS, true);
		pr_err("vm.pghot_chmu_count=%d: chmu %s can do%s\n", knob(chmu_count), unit->name,
		       text);
		break;
	case CHMU_CANNOT_DOWNSAMPLE:
		list_bits(text, sizeof(text), caps->downsampling, 0, true);
		pr_err("vm.pghot_chmu_downsampling=%d: chmu %s can do%s\n",
		       knob(chmu_downsampling), unit->name, text);
		break;
	case CHMU_CANNOT_EPOCH:
		pr_err("vm.pghot_chmu_epoch_us=%d: chmu %s can do %llu to %llu, and 0\n",
		       knob(chmu_epoch_us), unit->name, caps->epoch_min_us, caps->epoch_max_us);
		break;
	case CHMU_CANNOT_THRESHOLD:
		pr_err("vm.pghot_chmu_threshold=%d: chmu %s can do 1 to %u, and 0\n",
		       knob(chmu_threshold), unit->name, unit->hw.threshold_max);
		break;
	default:
		pr_err("chmu %s: %s\n", unit->name, chmu_error_text(error));
	}
}

/* Start all units that can do what the knobs say. 0, or why there is none. */
static int start_units(void)
{
	struct chmu_wish wish = read_knobs();
	struct chmu_unit *unit;
	enum chmu_error error;
	int err = -ENODEV;

	list_for_each_entry(unit, &units, link) {
		if (unit->refused) {
			pr_warn("chmu %s: refused: %s\n", unit->name, unit->refused);
			continue;
		}
		error = chmu_unit_check(unit, &wish);
		if (error) {
			complain(unit, error);
			unit->refused = chmu_error_text(error);
			if (err)
				err = -EINVAL;
			continue;
		}
		chmu_unit_set(unit, &wish);
		chmu_unit_start(unit);
		if (!unit->refused)
			err = 0;
	}
	take_notes();
	return err;
}

static void stop_units(void)
{
	struct chmu_unit *unit;

	list_for_each_entry(unit, &units, link)
		chmu_unit_stop(unit);
}

/* Poll those that are due. Returns when the next one is, in jiffies from now. */
static unsigned long poll_units(void)
{
	unsigned long next = HZ, now;
	struct chmu_unit *unit;

	mutex_lock(&units_mutex);
	list_for_each_entry(unit, &units, link) {
		if (!unit->refused && time_after_eq(jiffies, unit->poll_at))
			chmu_unit_poll(unit);
		if (unit->refused)
			continue;
		now = jiffies;
		next = time_after(unit->poll_at, now) ? min(next, unit->poll_at - now) : 1;
	}
	mutex_unlock(&units_mutex);
	return next;
}

static int pghot_chmu(void *unused)
{
	unsigned long next;

	set_freezable();
	while (!kthread_should_stop()) {
		WRITE_ONCE(thread_kicked, false);
		next = poll_units();
		wait_event_freezable_timeout(thread_wait,
					     READ_ONCE(thread_kicked) || kthread_should_stop(), next);
	}
	return 0;
}

static int run_thread(void)
{
	thread = fault_point() ? ERR_PTR(-ENOMEM) : kthread_run(pghot_chmu, NULL, "pghot_chmu");
	return PTR_ERR_OR_ZERO(thread);
}

static int chmu_enable(void)
{
	int err;

	mutex_lock(&units_mutex);
	err = look();
	if (!err && list_empty(&units)) {
		pr_warn("source chmu: no hotness monitoring unit here: looked for CXL memory devices (PCI class 0502) with CHMU registers, and for the lab's device\n");
		err = -ENODEV;
	}
	if (!err)
		err = start_units();
	if (!err)
		err = run_thread();
	if (err) {
		stop_units();
		forget();
	}
	mutex_unlock(&units_mutex);
	return err;
}

static void chmu_disable(void)
{
	kthread_stop(thread);
	mutex_lock(&units_mutex);
	stop_units();
	take_notes();
	forget();
	mutex_unlock(&units_mutex);
}

static int chmu_apply(void)
{
	struct chmu_wish wish = read_knobs();
	enum chmu_error error = CHMU_OK;
	struct chmu_unit *unit;

	mutex_lock(&units_mutex);
	list_for_each_entry(unit, &units, link) {
		if (unit->refused)
			continue;
		error = chmu_unit_check(unit, &wish);
		if (error) {
			complain(unit, error);
			break;
		}
	}
	list_for_each_entry(unit, &units, link)
		if (!error && !unit->refused)
			chmu_unit_set(unit, &wish);
	mutex_unlock(&units_mutex);
	WRITE_ONCE(thread_kicked, true);
	wake_up(&thread_wait);
	return error ? -EINVAL : 0;
}

static void show_unit(struct seq_file *m, const struct chmu_unit *unit)
{
	seq_printf(m, "in_use %s unit_bytes %llu threshold %u epoch_us %llu mode %s entries %u slices %u\n",
		   unit->name, unit->settings.unit_bytes, unit->settings.threshold,
		   unit->settings.epoch_us,
		   unit->settings.mode == CHMU_MODE_ALWAYS_ON ? "always_on" : "epoch",
		   unit->hw.caps.entries, unit->turn.slices);
}

static void show_units(struct seq_file *m)
{
	struct chmu_unit *unit;
	unsigned int n = 0;

	seq_printf(m, "chmu_units %zu\n", list_count_nodes(&units));
	list_for_each_entry(unit, &units, link) {
		seq_printf(m, "chmu_unit_%u ", n++);
		if (unit->refused)
			seq_printf(m, "refused %s: %s\n", unit->name, unit->refused);
		else
			show_unit(m, unit);
	}
}

/* Looks at the hardware only once, and then at each enabling: everybody may read the file. */
static void show_notes(struct seq_file *m)
{
	unsigned int n;

	if (!looked && !look())
		forget();
	seq_printf(m, "chmu_units %u\n", nr_notes);
	for (n = 0; n < nr_notes; n++) {
		if (notes[n].refused)
			seq_printf(m, "chmu_unit_%u refused %s: %s\n", n, notes[n].name,
				   notes[n].refused);
		else
			seq_printf(m, "chmu_unit_%u off %s\n", n, notes[n].name);
	}
}

static void chmu_show(struct seq_file *m)
{
	mutex_lock(&units_mutex);
	if (list_empty(&units))
		show_notes(m);
	else
		show_units(m);
	mutex_unlock(&units_mutex);
}

const struct source source_chmu = {
	.name = "chmu",
	.enable = chmu_enable,
	.disable = chmu_disable,
	.apply = chmu_apply,
	.show = chmu_show,
};
