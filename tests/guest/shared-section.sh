#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# lab: --timeout 100 --set node0.mem_mb=320 --set node1.mem_mb=704
#
# Node 0 ends, and node 1 begins, within a section of 128 MiB: each page there is of its own node.
# shellcheck source=tests/guest/lib.sh
. /job/lib.sh

SECTION=32768 # pages
START=81920   # 320 MiB

# clip NAME FROM TO: keep those of a holder's pages, /tmp/NAME/pfns, that lie in [FROM, TO); prints how many
clip() {
	awk -v from="$2" -v to="$3" '{
		first = $1 < from ? from : $1
		end = $1 + $2 > to ? to : $1 + $2
		if (first < end) print first, end - first
	}' "/tmp/$1/pfns" >"/tmp/$1/clipped"
	mv "/tmp/$1/clipped" "/tmp/$1/pfns"
	awk '{ n += $2 } END { print n + 0 }' "/tmp/$1/pfns"
}

load
insmod /job/pghot_tester.ko
echo 0 >/proc/sys/kernel/numa_balancing
is "$(awk '$1 == "Node" && $2 == "1," { zone = 1 } zone && $1 == "start_pfn:" { print $2; exit }' /proc/zoneinfo)" \
	$START "node 1 begins within a section"
knob enabled_sources 1
knob freq_threshold 6
hold fast 0 $(($(free_pages 0) - 12000)) anon
fast=$held
hold slow 1 30000 anon
slow=$held
on_fast=$(clip fast $((START / SECTION * SECTION)) $START)
on_slow=$(clip slow $START $(((START / SECTION + 1) * SECTION)))
least "$on_fast" 1000 "there are pages of node 0 in the section"
least "$on_slow" 1000 "and of node 1"
report fast bulk 1 0
is "$(stat recorded_hintfaults) $(stat filtered_fast)" "0 $on_fast" "pages of node 0 are fast, all of them"
report slow bulk 1 0
is "$(stat recorded_hintfaults) $(stat filtered_fast)" "$on_slow $on_fast" "pages of node 1 are recorded, all of them"
is "$(stat refused_not_slow)" 0 "none is chosen that is not slow"
laws
release "$fast"
release "$slow"
rmmod pghot_tester
rmmod pghot
finish
