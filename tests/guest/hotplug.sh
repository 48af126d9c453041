#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# lab: --timeout 240
#
# Slow memory goes offline and comes back while sources are enabled and pages are hot: never blocked,
# maps follow.
# shellcheck source=tests/guest/lib.sh
. /job/lib.sh

tracked() {
	[ "$(stat tracked_pages)" -eq "$1" ]
}

load
insmod /job/pghot_tester.ko
echo 0 >/proc/sys/kernel/numa_balancing
knob enabled_sources 1
hold anon 1 2000 anon
before=$(stat tracked_pages) bytes=$(stat hotmap_bytes)
gone=
for block in $(blocks 1); do
	knob promote_rate_limit_MBps 0
	report anon bulk 3 0
	echo offline >$MEM/memory"$block"/state 2>/dev/null || continue
	gone="$gone $block"
	# shellcheck disable=SC2086 # a list
	set -- $gone
	[ $# -lt 3 ] || break
done
# shellcheck disable=SC2086
set -- $gone
is $# 3 "three blocks of slow memory go offline under load"
wait_for 10 tracked $((before - 3 * 32768))
is "$(stat tracked_pages)" $((before - 3 * 32768)) "their pages are no longer tracked"
most "$(stat hotmap_bytes)" $((bytes - 3 * 32768)) "their maps are freed"
is "$(stat sections_removed)" 3 "and counted"
pfn=$(($(echo "$1" | sed 's/^0*//') * 32768))
reported=$(stat filtered_untracked)
echo "bulk $pfn 10 0 3 0 8" >/proc/pghot_tester
is $(($(stat filtered_untracked) - reported)) 10 "reports of offline memory are filtered"
for block; do
	echo online_movable >$MEM/memory"$block"/state && up=0 || up=1
	ok "$up" "block $block comes back"
done
wait_for 10 tracked "$before"
is "$(stat tracked_pages)" "$before" "and is tracked again"
is "$(stat hotmap_bytes)" "$bytes" "at the same cost"
knob promote_rate_limit_MBps 1000
report anon bulk 3 0
wait_for 20 on_node anon "$held" 0 2000
is "$(where anon "$held" 0)" 2000 "pages move as before"
is "$(cat /tmp/anon/bad)" 0 "with their contents"
release "$held"

knob enabled_sources 0
echo offline >$MEM/memory"$1"/state
echo online_movable >$MEM/memory"$1"/state
is "$(stat hotmap_bytes)" 0 "hotplug while off makes no map"
laws
rmmod pghot_tester
rmmod pghot
finish
