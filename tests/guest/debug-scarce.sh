#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# lab: --timeout 300 --set node1.mem_mb=1024
#
# A third of all allocations that the module asks for fails, in every thread of its: while it is
# enabled and disabled, while pages move, while memory comes and goes. Afterwards all is well.
# shellcheck source=tests/guest/lib.sh
. /job/lib.sh

N=2000
MEM=/sys/devices/system/memory

# scarce PERCENT: of allocations that fail from now on
scarce() {
	fault probability "$1"
}

# last_block NODE: the highest memory block of a node
last_block() {
	for dir in /sys/devices/system/node/node"$1"/memory*; do
		echo "${dir##*memory}"
	done | sort -n | tail -n 1
}

# cycle BLOCK: memory goes and comes back; sees to it that the module's worker has followed both times
cycle() {
	echo offline >$MEM/memory"$1"/state || return 1
	usleep 100000
	echo online_movable >$MEM/memory"$1"/state
}

all_tracked() {
	[ "$(stat tracked_pages)" -eq "$tracked" ]
}

faults_in_modules
fault times -1
fault interval 1
load
insmod /job/pghot_tester.ko
echo 0 >/proc/sys/kernel/numa_balancing
knob enabled_sources 1
tracked=$(stat tracked_pages)
knob enabled_sources 0

scarce 30
i=0 enabled=0
while [ $i -lt 40 ]; do
	if knob enabled_sources 1 2>/dev/null; then
		enabled=$((enabled + 1))
		knob enabled_sources 0 || ok 1 "disabling, try $i"
	fi
	is_off="$(knob_is enabled_sources) $(stat hotmap_bytes)"
	[ "$is_off" = "0 0" ] || ok 1 "off after try $i" "$is_off"
	i=$((i + 1))
done
most $enabled 39 "enabling did fail"
scarce 0

knob enabled_sources 1
hold anon 1 $N anon
block=$(last_block 1)
before=$(stat moved)
scarce 30
i=0
while [ $i -lt 8 ]; do
	report anon bulk 3 8
	usleep 300000
	cycle "$block" || note "block $block is busy"
	i=$((i + 1))
done
note "moved meanwhile: $(($(stat moved) - before)); no place: $(stat refused_target_full), maps without memory: $(stat sections_nomem)"
least $(($(stat refused_target_full) + $(stat sections_nomem))) 1 "the scarcity was felt"
scarce 0
cycle "$block"
wait_for 20 all_tracked
is "$(stat tracked_pages)" "$tracked" "once there is memory again, all pages are tracked"
report anon bulk 3 8
wait_for 20 on_node anon "$held" 0 $N
is "$(where anon "$held" 0)" $N "and pages move"
is "$(cat /tmp/anon/bad)" 0 "with their contents"
is "$(vmstat nr_isolated_anon) $(vmstat nr_isolated_file)" "0 0" "none is left isolated"
laws
release "$held"
rmmod pghot_tester
rmmod pghot
finish
