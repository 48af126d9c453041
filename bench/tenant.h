/* SPDX-License-Identifier: GPL-2.0-only */
/* tenant - another process of a benchmark, and memory cgroups for both */
#ifndef PGHOT_BENCH_TENANT_H
#define PGHOT_BENCH_TENANT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/**
 * struct tenant_shared - what both processes see
 * @stop: it is to come to an end
 * @done: operations it has done
 * @bad: pieces of its result that are wrong; written before it ends
 */
struct tenant_shared {
	_Atomic bool stop;
	_Atomic uint64_t done;
	uint64_t bad;
};

/** struct tenant - one of these; but for @shared its fields are its own */
struct tenant {
	const char *name;
	struct tenant_shared *shared;
	pid_t pid;
	int line;		/* to the other process */
};

/**
 * tenant_start - start a process that runs @run and ends
 * @name: what messages call it
 *
 * It maps its memory itself: what it would inherit were shared until it is written. It is killed when
 * the caller's process ends.
 */
void tenant_start(struct tenant *t, const char *name, void (*run)(struct tenant *t, void *arg), void *arg);

/** tenant_ready - for @run: say that memory is there, and wait for tenant_go() */
void tenant_ready(struct tenant *t);

/* For who started it; all end the program, with a message, if the tenant did so before its time. */

/** tenant_await - wait for tenant_ready() */
void tenant_await(struct tenant *t);

/** tenant_go - let it begin */
void tenant_go(struct tenant *t);

/** tenant_check - look whether it is still there; costs nothing */
void tenant_check(struct tenant *t);

/** tenant_join - let it stop, and wait for its end; returns @bad of its shared memory */
uint64_t tenant_join(struct tenant *t);

/**
 * tenant_enter_cgroup - put this process into the cgroup @name below the folder @root of cgroup2
 *
 * Made if it is not there. It stays, as does what was counted for it. Ends the program with status 1 if @root
 * gives those below it no memory controller, as else nothing would be counted for them.
 */
void tenant_enter_cgroup(const char *root, const char *name);

#endif
