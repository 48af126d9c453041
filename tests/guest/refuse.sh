#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# lab: --timeout 200
#
# Pages that must not move do not, and are counted by their reason; others go on moving.
# shellcheck source=tests/guest/lib.sh
. /job/lib.sh

# stays KIND REASON PAGES: a holder of this kind stays where it is
stays() {
	before=$(stat "refused_$2")
	hold "$1" 1 "$3" "$1"
	report "$1" bulk 3 8
	wait_for 10 stat_least "refused_$2" $((before + 1))
	sleep 1
	n=$(where "$1" "$held" 1)
	least "$n" "$3" "$1: stays on the slow node"
	least $(($(stat "refused_$2") - before)) 1 "$1: refused_$2 says why"
	is "$(cat "/tmp/$1/bad")" 0 "$1: with its contents"
}

load
insmod /job/pghot_tester.ko
echo 0 >/proc/sys/kernel/numa_balancing
echo 8 >/sys/devices/system/node/node1/hugepages/hugepages-2048kB/nr_hugepages
knob enabled_sources 1

stays mlock unevictable 100
before=$(stat filtered_unmovable)
report mlock bulk 3 8
is $(($(stat filtered_unmovable) - before)) 100 "mlock: reports are turned away for a while"
munlocked=$held
stays pinned pinned 100
pinned=$held
stays hugetlb hugetlb 1024
release "$held"
tried=$(stat refused_pinned)
sleep 4
most $(($(stat refused_pinned) - tried)) 300 "pinned: not tried again and again"
release "$pinned"
release "$munlocked"

# Page frames that belong to the kernel, to nobody, or to no memory at all.
before=$(stat moved)
first=$(awk '/Node 1, zone +Normal/ { z = 1 } z && /start_pfn:/ { print $2; exit }' /proc/zoneinfo)
echo "bulk $first 4096 0 3 0 8" >/proc/pghot_tester
refused_both() {
	echo $(($(stat refused_kernel) + $(stat refused_free)))
}
all_refused() {
	[ "$(refused_both)" -ge 4096 ]
}
wait_for 10 all_refused
least "$(refused_both)" 1 "kernel and free pages are refused"
is "$(stat moved)" "$before" "none of them moved"

hold anon 1 1000 anon
report anon bulk 3 8
wait_for 10 on_node anon "$held" 0 1000
is "$(where anon "$held" 0)" 1000 "a plain process's pages still move"
release "$held"
laws
rmmod pghot_tester
rmmod pghot
finish
