/* SPDX-License-Identifier: GPL-2.0-only */
/* hook - an ftrace handler at the entry of one function of the kernel */
#ifndef PGHOT_HOOK_H
#define PGHOT_HOOK_H

#include <linux/ftrace.h>

/**
 * struct hook
 * @function: the kernel function
 * @handler: called at its entry
 * @flags: FTRACE_OPS_FL_RECURSION if ftrace shall see to it that the handler is not called from within
 *	itself, at some cost, else it does so with ftrace_test_recursion_trylock();
 *	FTRACE_OPS_FL_IPMODIFY if the handler changes where the function returns to or continues
 * @ops: the hook's own
 */
struct hook {
	const char *function;
	ftrace_func_t handler;
	unsigned long flags;
	struct ftrace_ops ops;
};

int hook_add(struct hook *hook);
void hook_remove(struct hook *hook);

#endif
