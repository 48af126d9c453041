#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# lab: --timeout 300 --set node1.mem_mb=1024
#
# Some of all allocations that the module asks for fail, in every thread: while it is enabled and
# disabled, while pages move, while memory comes and goes. Afterwards all is well.
# shellcheck source=tests/guest/lib.sh
. /job/lib.sh

N=2000

# scarce PERCENT: of allocations that fail from now on
scarce() {
	fault probability "$1"
}

# movable_block NODE: a memory block that can go offline; the kernel's own data are in some
movable_block() {
	for candidate in $(blocks "$1"); do
		cycle "$candidate" 2>/dev/null || continue
		echo "$candidate"
		return
	done
}

# cycle BLOCK: memory goes and comes back, and the module's worker has time to follow both
cycle() {
	echo offline >$MEM/memory"$1"/state || return 1
	usleep 300000
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

i=0 enabled=0
while [ $i -lt 60 ]; do
	scarce $((i % 12 + 1))
	if knob enabled_sources 1 2>/dev/null; then
		enabled=$((enabled + 1))
		knob enabled_sources 0 || ok 1 "disabling, try $i"
	fi
	is_off="$(knob_is enabled_sources) $(stat hotmap_bytes)"
	[ "$is_off" = "0 0" ] || ok 1 "off after try $i" "$is_off"
	i=$((i + 1))
done
most $enabled 59 "enabling failed at times"
least $enabled 1 "and at times it did not"
scarce 0

knob enabled_sources 1
hold anon 1 $N anon
block=$(movable_block 1)
[ -n "$block" ]
ok $? "block $block can go offline"
before=$(stat moved)
scarce 30
i=0
while [ $i -lt 8 ]; do
	report anon bulk 3 8
	usleep 300000
	cycle "$block" || note "block $block is busy"
	usleep 300000
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
