#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# lab: --timeout 150 --machine 2fast1slow
#
# Two fast nodes: the nearest by distance is the target, unless one is fixed, or the accessor is
# known (layout precise).
# shellcheck source=tests/guest/lib.sh
. /job/lib.sh

N=1000

# goes_to NAME NODE: a holder's pages, reported by NODE's CPUs, go where?
goes_to() {
	hold "$1" 2 $N anon
	while read -r pfn nr; do
		echo "bulk $pfn $nr $2 3 0 8" >/proc/pghot_tester
	done <"/tmp/$1/pfns"
	wait_for 10 stat_least moved $((moved + N))
	wait_for 10 on_node "$1" "$held" "$3" $N
	is "$(where "$1" "$held" "$3")" $N "$1"
	moved=$(stat moved)
	release "$held"
}

echo 0 >/proc/sys/kernel/numa_balancing
load
insmod /job/pghot_tester.ko
knob enabled_sources 1
moved=0
grep -q '^node 2 tier slow .* targets 0,1$' /proc/pghot/nodes
ok $? "targets in order of distance" "$(cat /proc/pghot/nodes)"
goes_to "byte records go to the nearest node" 1 0
knob target_nid 1
ok $? "another fast node can be the target"
goes_to "a fixed target takes all" 0 1
! knob target_nid 2 2>/dev/null
ok $? "a slow node cannot be"
is "$(knob_is target_nid)" 1 "and nothing changes"
knob target_nid -1
goes_to "back to the nearest" 1 0
laws
rmmod pghot_tester
rmmod pghot

load layout=precise
insmod /job/pghot_tester.ko
knob enabled_sources 1
moved=0
goes_to "precise records go to the accessor's node" 1 1
goes_to "each to its own" 0 0
goes_to "or the nearest if it is not known" -1 0
goes_to "or the accessor's nearest if that is not fast" 2 0
laws
rmmod pghot_tester
rmmod pghot
finish
