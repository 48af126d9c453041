// SPDX-License-Identifier: GPL-2.0-only
#include <linux/kernel.h>
#include <linux/mutex.h>
#include <linux/sysctl.h>

#include "control.h"
#include "fault.h"
#include "host.h"
#include "source.h"
#include "target.h"
#include "topology.h"

static DEFINE_MUTEX(lock);
static struct ctl_table_header *header;
static enum phi_layout the_layout;

#define KNOB_DEFAULT(name, def, min, max, unit, help) [KNOB_##name] = def,
int knob_values[] = { PGHOT_KNOBS(KNOB_DEFAULT) };

static const struct {
	int min, max;
} knob_limits[] = {
#define KNOB_LIMITS(name, def, min, max, unit, help) [KNOB_##name] = { min, max },
	PGHOT_KNOBS(KNOB_LIMITS)
};

/* Enabling and disabling, hotplug and every knob change happen under this mutex. */
void control_lock(void)
{
	mutex_lock(&lock);
}

void control_unlock(void)
{
	mutex_unlock(&lock);
}

/* For lockdep expressions; without lockdep there is nothing better than whether it is held at all. */
bool control_lock_held(void)
{
	return mutex_is_locked(&lock);
}

static int set_knob(enum knob which, int value)
{
	int err;

	if (value < knob_limits[which].min || value > knob_limits[which].max)
		return -EINVAL;
	if (which == KNOB_target_nid && value >= 0 && !topology_is_fast(value))
		return -EINVAL;
	if (which == KNOB_enabled_sources) {
		err = source_set_mask(value, the_layout);
		if (err)
			return err;
	}
	WRITE_ONCE(knob_values[which], value);
	if (which != KNOB_enabled_sources)
		host_apply_knobs();
	return 0;
}

/* One number and nothing else; the kernel's own parsers are content with a number at the start. */
static int parse(char *buffer, size_t length, int *value)
{
	char text[32];

	if (length >= sizeof(text))
		return -EINVAL;
	memcpy(text, buffer, length);
	text[length] = '\0';
	return kstrtoint(strim(text), 0, value) ? -EINVAL : 0;
}

static int knob_handler(const struct ctl_table *table, int write, void *buffer, size_t *length,
			loff_t *pos)
{
	enum knob which = (int *)table->data - knob_values;
	int value, err;

	if (!write)
		return proc_dointvec(table, write, buffer, length, pos);
	if (*pos)
		return -EINVAL;
	err = parse(buffer, *length, &value);
	if (err)
		return err;
	control_lock();
	err = set_knob(which, value);
	control_unlock();
	if (!err)
		*pos += *length;
	return err;
}

static struct ctl_table knob_table[] = {
#define KNOB_TABLE(name, def, min, max, unit, help)		\
	{							\
		.procname = "pghot_" #name,			\
		.data = &knob_values[KNOB_##name],		\
		.maxlen = sizeof(int),				\
		.mode = 0644,					\
		.proc_handler = knob_handler,			\
	},
	PGHOT_KNOBS(KNOB_TABLE)
};

/**
 * control_init - show the knobs
 * @layout: of the records, once a source is enabled
 *
 * Returns 0 or -ENOMEM.
 */
int control_init(enum phi_layout layout)
{
	the_layout = layout;
	target_set_rate(knob(promote_rate_limit_MBps));
	header = fault_point() ? NULL : register_sysctl("vm", knob_table);
	return header ? 0 : -ENOMEM;
}

/** control_exit - take the knobs away and disable everything */
void control_exit(void)
{
	unregister_sysctl_table(header);
	control_lock();
	source_set_mask(0, the_layout);
	control_unlock();
}
