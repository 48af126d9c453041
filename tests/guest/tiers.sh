#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# lab: --timeout 150 --machine 1tier
#
# A machine where the kernel put all nodes in one tier: the module says so and does nothing, until
# it is told which node is slow.
# shellcheck source=tests/guest/lib.sh
. /job/lib.sh

load
ok $? "the module loads"
is "$(dmesg | grep -c 'pghot: no slow node here')" 1 "and says once that there is nothing to do"
knob enabled_sources 1
ok $? "a source can be enabled"
is "$(stat slow_nodes) $(stat hotmap_bytes)" "0 0" "which costs nothing"
knob enabled_sources 0
rmmod pghot

load 'tiers=0>1'
ok $? "tiers=0>1 is taken"
insmod /job/pghot_tester.ko
grep -q '^node 1 tier slow$' /proc/pghot/nodes
ok $? "and makes node 1 slow" "$(cat /proc/pghot/nodes)"
is "$(dmesg | grep -c 'pghot: no slow node here')" 1 "no complaint this time"
# The kernel thinks the node fast, so it arms faults on it only for balancing proper.
echo 1 >/proc/sys/kernel/numa_balancing
knob enabled_sources 1
hold touch 1 4000 touch
wait_for 90 on_node touch "$held" 0 4000
is "$(where touch "$held" 0)" 4000 "hint faults promote"
least "$(stat moved)" 4000 "by pghot"
laws
release "$held"
hold told 1 1000 anon
report told bulk 2 8
wait_for 20 on_node told "$held" 0 1000
is "$(where told "$held" 0)" 1000 "reports of a driver promote"
release "$held"
rmmod pghot_tester
rmmod pghot
finish
