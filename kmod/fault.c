// SPDX-License-Identifier: GPL-2.0-only
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/atomic.h>
#include <linux/moduleparam.h>
#include <linux/printk.h>
#include <linux/sysfs.h>

#include "fault.h"

static int fail_at;
module_param(fail_at, int, 0644);
MODULE_PARM_DESC(fail_at, "test build: fail at this fault point, counted from 1 on");

static atomic_t points = ATOMIC_INIT(0);

static int get_points(char *buf, const struct kernel_param *kp)
{
	return sysfs_emit(buf, "%d\n", atomic_read(&points));
}

static const struct kernel_param_ops points_ops = { .get = get_points };
module_param_cb(fault_points, &points_ops, NULL, 0444);
MODULE_PARM_DESC(fault_points, "test build: fault points passed so far");

bool fault_point(void)
{
	int at = atomic_inc_return(&points);

	if (at != READ_ONCE(fail_at))
		return false;
	pr_info("fault point %d fails\n", at);
	return true;
}
