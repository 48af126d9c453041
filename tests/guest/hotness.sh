#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# lab: --timeout 120 --set plugin=count --set cache_kb=64 --set prof_slots=64 --set prof_ops=100 --set chmu_entries=101
#
# The lab's hotness hardware, driven from user space: memory profilers sample what they should, at the
# rate they should, and a hotness unit counts exactly what a program knows by construction.
# shellcheck source=tests/guest/lib.sh
. /job/lib.sh

echo 0 >/proc/sys/kernel/numa_balancing

# hotness_points COMMAND...: the program is content; each line of it is a point
hotness_points() {
	hotness "$@" >/tmp/hotness
	status=$?
	while read -r verb got want name; do
		"$verb" "$got" "$want" "$name"
	done </tmp/hotness
	ok $status "hotness $1"
}

hotness_points profiler 0 1
hotness_points unit 1
finish
