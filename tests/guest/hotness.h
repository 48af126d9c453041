/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * hotness - what its parts share: the device, memory whose place is known, and test points
 *
 * A point is a line "is|least|most GOT WANT NAME" on standard output, for the functions of lib.sh.
 */
#ifndef HOTNESS_H
#define HOTNESS_H

#include <stdint.h>

#include "pghot/user/labdev.h"

enum { PAGE = 4096, LINE = 64, LINES = PAGE / LINE };

extern volatile char *dev;

void die(const char *what) __attribute__((noreturn));

void is(uint64_t got, uint64_t want, const char *name);
void least(uint64_t got, uint64_t want, const char *name);
void most(uint64_t got, uint64_t want, const char *name);

/* PGHOT_LABDEV_WRITE; returns its status */
unsigned int write_register(uint64_t at, uint64_t value, unsigned int bytes);

/* All modelled caches are cold from now on. */
void cool(void);

void pin(int cpu);
void sleep_us(unsigned int us);

/* Pages of a node, none of them huge, all there. */
char *map_on(uint64_t bytes, int node);

/* The guest-physical address of a byte, and its address on its node's device. */
uint64_t physical(const volatile void *at);
uint64_t device_address(const volatile void *at);

void test_profiler(int fast, int slow);
void test_unit(int slow);
void test_limited(int slow);

#endif
