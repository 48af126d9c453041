// SPDX-License-Identifier: GPL-2.0-only
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bug.h>
#include <linux/printk.h>

#include "fault.h"
#include "hook.h"
#include "ksym.h"

/**
 * hook_add - have the handler called from now on
 * @hook: what, where
 *
 * While it is there, kernel.ftrace_enabled cannot be set to 0.
 *
 * Returns 0, or after a line in the log -EBUSY (kernel.ftrace_enabled is 0; with IPMODIFY also:
 * somebody else changes the function), -ENOENT (there is no such function) or another error of
 * ftrace's. Then nothing is left behind.
 */
int hook_add(struct hook *hook)
{
	unsigned long address = fault_point() ? 0 : ksym_address(hook->function);
	int err;

	/* Afresh each time: ftrace_free_filter() leaves pointers to what it freed. */
	hook->ops = (struct ftrace_ops){
		.func = hook->handler,
		.flags = hook->flags | FTRACE_OPS_FL_PERMANENT,
	};
	/*
	 * By address: about a name, ftrace is silent if it did not get the memory to note it; and a
	 * filter that is empty lets all functions through.
	 */
	err = address ? ftrace_set_filter_ip(&hook->ops, address, 0, 1) : -ENOENT;
	if (err) {
		pr_err("this kernel's %s cannot be traced (%d)\n", hook->function, err);
		return err;
	}
	err = fault_point() ? -EBUSY : register_ftrace_function(&hook->ops);
	if (err == -EBUSY)
		pr_err("%s is in the hands of a live patch or another module, or kernel.ftrace_enabled is 0\n",
		       hook->function);
	if (err)
		ftrace_free_filter(&hook->ops);
	return err;
}

/** hook_remove - take it off; no handler runs any more when it returns */
void hook_remove(struct hook *hook)
{
	WARN_ON(unregister_ftrace_function(&hook->ops));
	ftrace_free_filter(&hook->ops);
}
