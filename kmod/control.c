// SPDX-License-Identifier: GPL-2.0-only
#include <linux/ctype.h>
#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/string.h>
#include <linux/sysctl.h>

#include "control.h"
#include "fault.h"
#include "govern.h"
#include "host.h"
#include "pghot/chmu.h"
#include "source.h"
#include "target.h"
#include "topology.h"

DEFINE_MUTEX(control_mutex);
static struct ctl_table_header *header;

#define KNOB_DEFAULT(name, def, min, max, unit, help) [KNOB_##name] = def,
int knob_values[] = { PGHOT_KNOBS(KNOB_DEFAULT) };

static const struct {
	int min, max;
} knob_limits[] = {
#define KNOB_LIMITS(name, def, min, max, unit, help) [KNOB_##name] = { min, max },
	PGHOT_KNOBS(KNOB_LIMITS)
};

/* Is it a value that some machine could take? */
static bool knob_accepts(enum knob which, int value)
{
	if (value < knob_limits[which].min || value > knob_limits[which].max)
		return false;
	switch (which) {
	case KNOB_target_nid:
		return value < 0 || topology_is_fast(value);
	case KNOB_hwhints_latency_min:
		return value % 128 == 0;
	case KNOB_chmu_unit_bytes:
		return !value || (is_power_of_2(value) && value >= 1 << CHMU_UNIT_SHIFT_MIN);
	default:
		return true;
	}
}

static int set_knob(enum knob which, int value)
{
	int before = knob_values[which];
	int err;

	if (!knob_accepts(which, value))
		return -EINVAL;
	if (which == KNOB_enabled_sources) {
		err = source_set_mask(value);
		if (!err)
			WRITE_ONCE(knob_values[which], value);
		return err;
	}
	WRITE_ONCE(knob_values[which], value);
	err = source_apply_knobs();
	if (!err)
		err = govern_apply();
	if (err) {
		WRITE_ONCE(knob_values[which], before);
		source_apply_knobs();
		return err;
	}
	host_apply_knobs();
	return 0;
}

/*
 * One number, decimal or 0x, and nothing else; the kernel's own parsers are content with a number
 * at the start, and take 010 for 8.
 */
static int parse(char *buffer, size_t length, int *value)
{
	char text[32], *number;
	int base;

	if (length >= sizeof(text))
		return -EINVAL;
	memcpy(text, buffer, length);
	text[length] = '\0';
	number = strim(text);
	base = number[0] == '0' && tolower(number[1]) == 'x' ? 16 : 10;
	return kstrtoint(number, base, value) ? -EINVAL : 0;
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
	mutex_lock(&control_mutex);
	err = set_knob(which, value);
	mutex_unlock(&control_mutex);
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

/** control_init - show the knobs; 0 or -ENOMEM */
int control_init(void)
{
	target_set_rate(knob(promote_rate_limit_MBps));
	header = fault_point() ? NULL : register_sysctl("vm", knob_table);
	return header ? 0 : -ENOMEM;
}

/** control_exit - take the knobs away and disable everything */
void control_exit(void)
{
	unregister_sysctl_table(header);
	mutex_lock(&control_mutex);
	source_set_mask(0);
	mutex_unlock(&control_mutex);
}
