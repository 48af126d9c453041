#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# lab: --timeout 300 --set node0.mem_mb=512 --set node1.mem_mb=1536
#
# Promotion to a full node rests where there is nothing to gain, and goes on where there is: a table
# twice as large as the fast node, updated evenly, then with a hot part.
# shellcheck source=tests/guest/lib.sh
. /job/lib.sh

# table ARGUMENT...: a process that updates a table until it is released; $held
table() {
	gups scenario=over2 ops=1000000000000 sample_ms=1000 "$@" >/tmp/gups 2>&1 &
	held=$!
	wait_for 60 grep -q "^phase access" /tmp/gups
	ok $? "the table is there: $*" "$(cat /tmp/gups)"
}

# settles: does it come to rest, so that next to nothing moves in 2 s? The first pages that have to go are
# those that nobody uses, of whatever process, and for these it does pay.
settles() {
	tries=0
	while [ $tries -lt $((20 * ${LAB_SLOW:-1})) ]; do
		before=$(stat moved)
		sleep 2
		[ "$(stat resting_nodes)" = 0 ] || [ $(($(stat moved) - before)) -gt 1200 ] || return 0
		tries=$((tries + 1))
	done
	return 1
}

# last_fast: hot pages of the table that are fast, when it last looked
last_fast() {
	awk '$1 == "sample" { fast = $3 } END { print fast + 0 }' /tmp/gups
}

is_fast() {
	[ "$(last_fast)" -ge "$1" ]
}

echo 0 >/proc/sys/kernel/numa_balancing
echo 1 >/sys/kernel/mm/numa/demotion_enabled
load
knob promote_freq_window_ms 2000
knob pgtscan_interval_ms 300
knob pgtscan_cpu_percent 50
knob promote_rate_limit_MBps 64

T=/sys/kernel/tracing
# Without it the scheduler would be patched to record the names of tasks.
echo 0 >$T/options/record-cmd
echo 1 >$T/events/pghot/pghot_governor/enable
table hot_share=0
even=$held
moved=$(stat moved)
knob enabled_sources 4
settles
ok $? "where all memory is alike it rests" "$(grep -E 'arrived|governor|tested|moved' $STAT | tr '\n' ' ')"
echo 0 >$T/events/pghot/pghot_governor/enable
grep -q 'pghot_governor: nid=1 state=rests spares=0 candidates=[1-9]' $T/trace
ok $? "and says so, with what it judged by" "$(grep -c pghot_governor $T/trace) lines"
most $(($(stat moved) - moved)) 40000 "after a few pages"
least "$(stat tested_candidates)" 48 "candidates were tested"
least "$(stat tested_victims)" 48 "and victims"
least "$(stat refused_trial)" 48 "those kept for it are refused as such"
least "$(stat arrived)" 48 "pages came down"
least "$(stat passes_resting)" 1 "passes leave pages for that"
least "$(stat ready_pages)" 1000 "although many are hot"
moved=$(stat moved)
knob governor 0
wait_for 30 reaches pghot_moved $((moved + 5000))
ok $? "without the governor they go to and fro" "$(stat moved), from $moved"
knob governor 1
settles
ok $? "with it again it rests again"
release "$even"

table hot_share=100 hot_set=20
hot=$(awk '$3 == "MemTotal:" { print int($4 / 4 / 5) }' /sys/devices/system/node/node0/meminfo)
wait_for 60 is_fast $((hot * 9 / 10))
least "$(last_fast)" $((hot * 9 / 10)) "a hot set in the same memory: it goes on, and nearly all of it becomes fast"
release "$held"
laws
knob enabled_sources 0
off
ok $? "off is off"
rmmod pghot
finish
