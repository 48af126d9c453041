/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * port - all that the engine needs from the world it runs in
 *
 * This is the engine's one door outward. Everything below is a need, given once for the kernel
 * and once for user space; no other engine file includes anything from outside engine/.
 *
 *   u8 u16 u32 u64 s32 s64      fixed-width integers
 *   u64_alias                   a u64 that may be read over memory of another type
 *   port_load(p)                read *p once, untorn, in no particular order
 *   port_store(p, v)            write *p once, untorn, in no particular order
 *   port_load_acquire(p)        read *p; later accesses stay after it
 *   port_store_release(p, v)    write *p; earlier accesses stay before it
 *   port_cmpxchg(p, oldp, new)  if *p == *oldp: *p = new, true; else *oldp = *p, false.
 *                               On u8, u32 and u64. Full barrier when it succeeds.
 *   port_or64(p, v)             *p |= v, returns the old value, full barrier
 *   port_and64(p, v)            *p &= v, returns the old value, full barrier
 *   port_barrier()              full memory barrier
 *   port_prefetchw(p)           hint: *p is written soon
 *   port_yield()                called between sections of 128 MiB by the functions that are
 *                               documented as "thread context": the host may sleep here
 */
#ifndef PGHOT_ENGINE_PORT_H
#define PGHOT_ENGINE_PORT_H

typedef __UINT64_TYPE__ __attribute__((may_alias)) u64_alias;

#ifdef __KERNEL__

#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/prefetch.h>
#include <linux/sched.h>
#include <linux/types.h>

#define port_load(p)			READ_ONCE(*(p))
#define port_store(p, v)		WRITE_ONCE(*(p), v)
#define port_load_acquire(p)		smp_load_acquire(p)
#define port_store_release(p, v)	smp_store_release(p, v)
#define port_cmpxchg(p, oldp, new)	try_cmpxchg(p, oldp, new)
#define port_barrier()			smp_mb()
#define port_prefetchw(p)		prefetchw(p)
#define port_yield()			cond_resched()

static inline u64 port_or64(u64 *p, u64 v)
{
	return atomic64_fetch_or(v, (atomic64_t *)p);
}

static inline u64 port_and64(u64 *p, u64 v)
{
	return atomic64_fetch_and(v, (atomic64_t *)p);
}

#else /* user space and freestanding */

typedef __UINT8_TYPE__ u8;
typedef __UINT16_TYPE__ u16;
typedef __UINT32_TYPE__ u32;
typedef __UINT64_TYPE__ u64;
typedef __INT32_TYPE__ s32;
typedef __INT64_TYPE__ s64;

#ifndef bool
#define bool _Bool
#define true 1
#define false 0
#endif

#ifndef NULL
#define NULL ((void *)0)
#endif

#define port_load(p)			__atomic_load_n(p, __ATOMIC_RELAXED)
#define port_store(p, v)		__atomic_store_n(p, v, __ATOMIC_RELAXED)
#define port_load_acquire(p)		__atomic_load_n(p, __ATOMIC_ACQUIRE)
#define port_store_release(p, v)	__atomic_store_n(p, v, __ATOMIC_RELEASE)
#define port_cmpxchg(p, oldp, new) \
	__atomic_compare_exchange_n(p, oldp, new, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)
#define port_or64(p, v)			__atomic_fetch_or(p, v, __ATOMIC_SEQ_CST)
#define port_and64(p, v)		__atomic_fetch_and(p, v, __ATOMIC_SEQ_CST)
#define port_barrier()			__atomic_thread_fence(__ATOMIC_SEQ_CST)
#define port_prefetchw(p)		__builtin_prefetch(p, 1)
#define port_yield()			((void)0)

#endif
#endif
