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
	gups scenario=over2 ops=1000000000000 sample_ms=100000 "$@" >/tmp/gups 2>&1 &
	held=$!
	wait_for 60 grep -q "^phase access" /tmp/gups
	ok $? "the table is there: $*" "$(cat /tmp/gups)"
}

# rests and pays: the state of the one slow node
rests() {
	[ "$(stat resting_nodes)" = 1 ]
}

pays() {
	! rests && reaches pghot_governor_resumes "$resumes"
}

echo 0 >/proc/sys/kernel/numa_balancing
echo 1 >/sys/kernel/mm/numa/demotion_enabled
load
knob promote_freq_window_ms 2000
knob pgtscan_interval_ms 300
knob pgtscan_cpu_percent 50
knob promote_rate_limit_MBps 64

table hot_share=0
even=$held
moved=$(stat moved)
knob enabled_sources 4
wait_for 40 rests
ok $? "where all memory is alike it rests" "$(grep -E 'arrived|governor|tested|moved' $STAT | tr '\n' ' ')"
most $(($(stat moved) - moved)) 40000 "after a few pages"
least "$(stat tested_candidates)" 48 "candidates were tested"
least "$(stat tested_victims)" 48 "and victims"
least "$(stat refused_trial)" 48 "those kept for it are refused as such"
least "$(stat arrived)" 48 "pages came down"
moved=$(stat moved)
sleep 3
most $(($(stat moved) - moved)) 1200 "at rest next to nothing moves"
least "$(stat passes_resting)" 1 "passes leave pages for that"
least "$(stat ready_pages)" 1000 "although many are hot"
moved=$(stat moved)
knob governor 0
sleep 3
least $(($(stat moved) - moved)) 5000 "without the governor they go to and fro"
knob governor 1
wait_for 40 rests
ok $? "with it again it rests again"
release "$even"

resumes=$(($(stat governor_resumes) + 1))
table hot_share=95 hot_set=20
wait_for 60 pays
ok $? "a hot set in the same memory: it goes on" "$(grep -E 'arrived|governor|tested|moved' $STAT | tr '\n' ' ')"
moved=$(stat moved)
wait_for 30 reaches pghot_moved $((moved + 5000))
ok $? "and pages move"
release "$held"
laws
knob enabled_sources 0
off
ok $? "off is off"
rmmod pghot
finish
