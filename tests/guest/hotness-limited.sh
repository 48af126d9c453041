#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# lab: --timeout 90 --machine 1fast2slow --set plugin=count --set cache_kb=64 --set chmu=64
#
# A hotness unit with far fewer counters than there are pages finds the hot ones. On a machine with
# two slow nodes, each with a unit of its own.
# shellcheck source=tests/guest/lib.sh
. /job/lib.sh

echo 0 >/proc/sys/kernel/numa_balancing
for node in 1 2; do
	hotness limited $node >/tmp/hotness
	ok $? "hotness limited $node"
	while read -r verb got want name; do
		"$verb" "$got" "$want" "$name"
	done </tmp/hotness
done
finish
