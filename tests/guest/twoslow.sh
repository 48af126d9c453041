#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# lab: --timeout 150 --machine 1fast2slow
#
# Two slow nodes: each has its thread and its map; they share the target's rate limit.
# shellcheck source=tests/guest/lib.sh
. /job/lib.sh

N=1000
echo 0 >/proc/sys/kernel/numa_balancing
load
insmod /job/pghot_tester.ko
knob enabled_sources 1
thread kmigrated1 && thread kmigrated2
ok $? "each slow node has its thread"
is "$(stat slow_nodes)" 2 "and is counted"
hold one 1 $N anon
one=$held
hold two 2 $N anon
two=$held
report one bulk 3 8
report two bulk 3 8
wait_for 10 on_node one "$one" 0 $N
wait_for 10 on_node two "$two" 0 $N
is "$(where one "$one" 0) $(where two "$two" 0)" "$N $N" "pages of both reach the fast node"
most "$(($(stat hotmap_bytes) * 100 / $(stat tracked_pages)))" 101 "hundredths of a byte a page"
laws
release "$one"
release "$two"
rmmod pghot_tester
rmmod pghot
finish
