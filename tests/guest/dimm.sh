#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# lab: --timeout 240 --set hmat=off --set node1.dimm=yes --set node1.mem_mb=1024 --append memhp_default_state=online_movable
#
# A whole slow node goes and comes back under load, and in the end its memory is taken out of the
# machine, while sources are enabled and pages are hot.
# shellcheck source=tests/guest/lib.sh
. /job/lib.sh

N=4000

# blocks_to STATE: of all blocks; how many did not follow. Hot pages are in use and move elsewhere.
blocks_to() {
	stuck=0
	for block in $blocks; do
		wait_for 20 sh -c "echo $1 >$MEM/memory$block/state" || stuck=$((stuck + 1))
	done
	echo $stuck
}

gone() {
	! test -e "$MEM/memory${blocks%%[!0-9]*}" && tracked "0 0"
}

tracked() {
	[ "$(stat tracked_pages) $(stat slow_nodes)" = "$1" ]
}

load "tiers=0>1"
insmod /job/pghot_tester.ko
echo 2 >/proc/sys/kernel/numa_balancing
knob enabled_sources 5
blocks=$(blocks 1)
before=$(stat tracked_pages)
least "$before" 262144 "pages of the slow node are tracked"
thread kmigrated1
ok $? "and have a thread"

round=0
while [ $round -lt 3 ]; do
	hold "touch$round" 1 $N touch
	hold "anon$round" 1 $N anon
	anon=$held
	report "anon$round" bulk 3 0
	is "$(blocks_to offline)" 0 "round $round: all blocks of the slow node go offline under load"
	wait_for 10 tracked "0 0"
	is "$(stat tracked_pages) $(stat slow_nodes) $(stat hotmap_bytes)" "0 0 0" \
		"round $round: no slow node is left, and no map"
	! thread kmigrated1
	ok $? "round $round: nor a thread"
	is "$(where "anon$round" "$anon" 1)" 0 "round $round: its pages are elsewhere"
	report "anon$round" bulk 3 0
	is "$(blocks_to online_movable)" 0 "round $round: they come back"
	wait_for 10 tracked "$before 1"
	is "$(stat tracked_pages) $(stat slow_nodes)" "$before 1" "round $round: and are tracked"
	round=$((round + 1))
done
# shellcheck disable=SC2046 # a list
kill $(pgrep holder)

hold anon 1 $N anon
report anon bulk 3 0
wait_for 20 on_node anon "$held" 0 $N
is "$(where anon "$held" 0)" $N "pages move as before"
is "$(cat /tmp/anon/bad)" 0 "with their contents"
bad=0
for dir in /tmp/touch? /tmp/anon?; do
	[ ! -e "$dir/bad" ] || bad=$((bad + $(cat "$dir/bad")))
done
is $bad 0 "as have those of the rounds"

hold last 1 $N touch
for device in /sys/bus/acpi/devices/PNP0C80:*; do
	[ ! -e "$device/eject" ] || echo 1 >"$device/eject"
done
wait_for 20 gone
ok $? "the memory is taken out of the machine"
is "$(where last "$held" 0)" $N "its pages were moved to the fast node"
is "$(cat /tmp/last/bad)" 0 "with their contents"
release "$held"
laws
rmmod pghot_tester
rmmod pghot
nothing_left
ok $? "nothing is left of the module"
finish
