#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# lab: --timeout 180 --set plugin=count --set chmu=1024 --with build/tests/guest/chmu
#
# A unit with 1024 counters for 786432 pages of memory: the hot ones among them are found.
# shellcheck source=tests/guest/lib.sh
. /job/lib.sh

echo 0 >/proc/sys/kernel/numa_balancing
load
hold cold 1 4000 anon
cold=$held
hold hot 1 3000 touch
hot=$held
for mode in 0 1; do
	knob chmu_always_on $mode
	knob enabled_sources 8
	wait_for 60 on_node hot "$hot" 0 3000
	is "$(where hot "$hot" 0)" 3000 "always_on=$mode: all hot pages are promoted"
	note "$(grep chmu_unit_0 $STAT)"
	laws
	knob enabled_sources 0
	release "$hot"
	hold hot 1 3000 touch
	hot=$held
done
most "$(where cold "$cold" 0)" 0 "no cold page is"
release "$hot"
release "$cold"
rmmod pghot
finish
