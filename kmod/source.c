// SPDX-License-Identifier: GPL-2.0-only
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bits.h>
#include <linux/printk.h>

#include "host.h"
#include "source.h"

/* Its reports come from outside, see pghot.h. */
static const struct source source_external = {
	.name = "external",
};

#define SOURCE_ENTRY(id, name, help) [PGHOT_SRC_##id] = &source_##name,

/* By enum pghot_src. */
static const struct source * const sources[] = { PGHOT_SOURCES(SOURCE_ENTRY) };

/* Written under the control mutex, read anywhere. */
static u32 enabled;

/** source_enabled - may this source report? Any context. */
bool source_enabled(int src)
{
	return READ_ONCE(enabled) & BIT(src);
}

static void disable_all(u32 mask)
{
	int src;

	WRITE_ONCE(enabled, enabled & ~mask);
	for (src = 0; src < PGHOT_NR_SOURCES; src++)
		if (mask & BIT(src) && sources[src]->disable)
			sources[src]->disable();
}

static int enable_all(u32 mask)
{
	u32 done = 0;
	int src, err;

	for (src = 0; src < PGHOT_NR_SOURCES; src++) {
		if (!(mask & BIT(src)))
			continue;
		WRITE_ONCE(enabled, enabled | BIT(src));
		err = sources[src]->enable ? sources[src]->enable() : 0;
		if (err) {
			pr_err("cannot enable source %s (%d)\n", sources[src]->name, err);
			WRITE_ONCE(enabled, enabled & ~BIT(src));
			disable_all(done);
			return err;
		}
		done |= BIT(src);
	}
	return 0;
}

/**
 * source_set_mask - enable just these sources
 * @mask: bits of enum pghot_src
 *
 * The first source brings the maps and threads into being, the last takes them away. Under the
 * control mutex.
 *
 * Returns 0, or the error of what failed; then all is as before.
 */
int source_set_mask(u32 mask)
{
	u32 before = enabled;
	int err = 0;

	if (mask && !before)
		err = host_start();
	if (err)
		return err;
	err = enable_all(mask & ~before);
	if (!err)
		disable_all(before & ~mask);
	if (!enabled && (before || mask))
		host_stop();
	return err;
}

/**
 * source_apply_knobs - a knob has a new value: tell the enabled sources
 *
 * Under the control mutex. Returns 0, or the error of the source that refuses the value: give the knob
 * its old one and call again.
 */
int source_apply_knobs(void)
{
	int src, err = 0;

	for (src = 0; !err && src < PGHOT_NR_SOURCES; src++)
		if (enabled & BIT(src) && sources[src]->apply)
			err = sources[src]->apply();
	return err;
}

/** source_show - what sources have to say in /proc/pghot/stat. Under the control mutex. */
void source_show(struct seq_file *m)
{
	int src;

	for (src = 0; src < PGHOT_NR_SOURCES; src++)
		if (sources[src]->show)
			sources[src]->show(m);
}
