#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# lab: --timeout 120
#
# Real pages of a real process move; the kernel's counters and the process's data stay true.
# shellcheck source=tests/guest/lib.sh
. /job/lib.sh

N=5000
for layout in byte precise; do
	load layout=$layout
	insmod /job/pghot_tester.ko
	echo 0 >/proc/sys/kernel/numa_balancing
	knob enabled_sources 1
	hold $layout 1 $N anon
	is "$(where $layout "$held" 1)" $N "$layout: the pages are on the slow node"
	promoted=$(vmstat pgpromote_success) migrated=$(vmstat pgmigrate_success)
	numa=$(vmstat numa_pages_migrated)
	report $layout bulk 1 8
	wait_for 20 on_node $layout "$held" 0 $N
	is "$(where $layout "$held" 0)" $N "$layout: they all reach the fast node"
	is "$(cat /tmp/$layout/bad)" 0 "$layout: with their contents"
	wait_for 5 stat_least moved $N
	is "$(stat moved)" $N "$layout: counted as moved"
	is $(($(vmstat pgpromote_success) - promoted)) $N "$layout: pgpromote_success is true"
	is $(($(vmstat numa_pages_migrated) - numa)) $N "$layout: numa_pages_migrated is true"
	least $(($(vmstat pgmigrate_success) - migrated)) $N "$layout: pgmigrate_success is true"
	is "$(stat refused_wrong_node)" 0 "$layout: none went astray"
	is "$(vmstat nr_isolated_anon) $(vmstat nr_isolated_file)" "0 0" "$layout: none is left isolated"
	most "$(stat passes)" 60 "$layout: the thread did not spin"
	laws
	release "$held"

	# One report for pages that are gone meanwhile.
	hold gone 1 500 anon
	knob promote_rate_limit_MBps 0
	report gone bulk 2 0
	release "$held"
	laws
	knob enabled_sources 0
	rmmod pghot_tester
	rmmod pghot
done
finish
