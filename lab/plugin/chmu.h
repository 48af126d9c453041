/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * chmu - hotness units of the slow nodes: see pghot/chmu.h and struct pghot_labdev_chmus
 *
 * Each has one instance and can do what its capability words say. What the registers' description
 * leaves open is so: settings are taken in when the unit is enabled, and one that it cannot do leaves
 * it disabled, with its enable bit as it was written. Enabling sets all counters to 0 and begins an epoch, and so does a reset; head and
 * tail stay as they are. A write to CFG0 while an operation is in progress does nothing. An always-on
 * unit makes one entry of a counter in an epoch. Without down-sampling at random each CPU's accesses
 * are sampled by themselves.
 */
#ifndef PGHOT_LAB_CHMU_H
#define PGHOT_LAB_CHMU_H

#include <stdbool.h>
#include <stdint.h>

struct vcpu;

/** chmus_open - say in the bar what there is: a unit for each slow node, up to what there is room for */
void chmus_open(void);

/** chmu_write - a write to @at of the bar, aligned; false: there is no register of a unit */
bool chmu_write(uint64_t at, uint64_t value, unsigned int bytes);

/**
 * chmu_count - @node serves an access of @vcpu to its byte @addr
 *
 * @addr: device address; @op: PGHOT_LABDEV_LOAD or PGHOT_LABDEV_STORE
 */
void chmu_count(struct vcpu *vcpu, unsigned int node, uint64_t addr, unsigned int op);

#endif
