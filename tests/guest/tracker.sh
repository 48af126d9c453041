#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# lab: --timeout 150 --set node0.mem_mb=1024
#
# An external tracker, examples/tracker, with each of the flags of the bulk interface; and what a source
# has of its own: its weight, its limit, its counters. The fast node is kept too full to be ample.
# shellcheck source=tests/guest/lib.sh
. /job/lib.sh

N=500
TRACKER=/proc/pghot_tracker
PARAMETERS=/sys/module/pghot_tracker/parameters

# track NAME COUNT: each page of a holder was accessed COUNT times; waits until the tracker has told it
track() {
	want=$(($(stat recorded_external) + N))
	while read -r run_pfn run_nr; do
		# Its buffer may be full for a moment.
		wait_for 5 put "$run_pfn $run_nr $2" || ok 1 "the tracker takes $run_pfn $run_nr $2"
	done <"/tmp/$1/pfns"
	wait_for 5 reaches pghot_recorded_external "$want" || ok 1 "all pages are recorded"
}

# put LINE
put() {
	echo "$1" >$TRACKER
}

# flag NAME VALUE
flag() {
	echo "$2" >"$PARAMETERS/$1"
}

# stays NAME: no page has moved, a second later
stays() {
	sleep 1
	is "$(stat moved)" "$base" "$1"
}

# moves NAME: all pages of a holder move, and become the new base
moves() {
	wait_for 10 reaches pghot_moved $((base + N))
	is $(($(stat moved) - base)) $N "$1"
	base=$(stat moved)
}

# refused LINE ERROR: a write is
refused() {
	error=$(put "$1" 2>&1)
	case $error in
	*"$2"*) ok 0 "'$1' is refused" ;;
	*) ok 1 "'$1' is refused with: $2" "$error" ;;
	esac
}

load
insmod /job/pghot_tracker.ko source=6 2>/dev/null
ok $((! $?)) "a source that there is not is refused"
insmod /job/pghot_tracker.ko period_ms=10
ok $? "the tracker is loaded"
insmod /job/pghot_tester.ko
echo 0 >/proc/sys/kernel/numa_balancing
knob kmigrated_sleep_ms 10
# All but 80 MiB, where an eighth of the node would be ample.
hold ballast 0 $(($(free_pages 0) - 20480)) anon
ballast=$held
knob enabled_sources 32
base=$(stat moved)

# --- flags --------------------------------------------------------------------------------

hold plain 1 $N anon
plain=$held
track plain 1
stays "one report, and two accesses are needed: nothing moves"
flag ready 1
track plain 1
moves "a tracker that has decided: one report suffices"
flag ready 0
is "$(where plain "$plain" 0)" $N "and the pages are there"
release "$plain"

hold freq 1 $N anon
freq=$held
knob freq_threshold 6
flag skip_freq 1
track freq 1
moves "skip_freq: one access of six suffices"
flag skip_freq 0
knob freq_threshold 2
release "$freq"

hold old 1 $N anon
old=$held
knob promote_freq_window_ms 2000
track old 1
usleep 3500000
track old 1
stays "two reports further apart than the window do not add up"
usleep 2500000
flag skip_recency 1
track old 1
moves "skip_recency: then they do"
flag skip_recency 0
knob promote_freq_window_ms 3000
release "$old"

hold limited 1 $N anon
limited=$held
knob promote_rate_limit_MBps 0
track limited 2
stays "rate limit 0: hot pages stay"
flag skip_limit 1
track limited 1
moves "skip_limit: they move"
flag skip_limit 0
knob promote_rate_limit_MBps 1000
release "$limited"

# --- what a source has of its own -----------------------------------------------------------

hold heavy 1 $N anon
heavy=$held
knob weight_chmu 2
track heavy 1
stays "another source's weight is another's"
# With new maps nothing is known of the pages.
knob enabled_sources 0
knob enabled_sources 32
knob weight_external 2
track heavy 1
moves "weight 2: one access suffices"
knob weight_external 1
release "$heavy"

hold both 1 $N anon
both=$held
knob enabled_sources 48
before=$(stat recorded_external)
track both 1
stays "one access told by one source: nothing moves"
is $(($(stat recorded_external) - before)) $N "its pages are counted as recorded by it"
before=$(stat recorded_pagecache)
while read -r pfn nr; do
	echo "bulk $pfn $nr -1 1 4 0" >/proc/pghot_tester
done </tmp/both/pfns
moves "one more told by another source: the evidence adds up"
least $(($(stat recorded_pagecache) - before)) $N "and those are counted as recorded by that one"
knob enabled_sources 32
release "$both"

hold quota 1 1000 anon
quota=$held
knob enabled_sources 33
knob promote_rate_limit_MBps 0
# What a larger limit let in is no debt under a smaller one.
knob limit_hintfaults_MBps 1000
report quota bulk 1 0
knob limit_hintfaults_MBps 1
recorded=$(stat recorded_hintfaults)
reported=$(stat reported_hintfaults)
filtered=$(stat filtered_limited)
report quota spread 1 0
recorded=$(($(stat recorded_hintfaults) - recorded))
is $(($(stat reported_hintfaults) - reported)) 1000 "1000 pages are reported"
# A second may have begun meanwhile, or two.
between $recorded 256 768 "1 MiB a second lets 256 of them in"
is $((recorded % 256)) 0 "exactly so many for each second"
is $(($(stat filtered_limited) - filtered)) $((1000 - recorded)) "the rest is counted as limited"
sleep 1
recorded=$(stat recorded_hintfaults)
report quota bulk 1 0
least $(($(stat recorded_hintfaults) - recorded)) 1 "a second later some go in again"
knob limit_hintfaults_MBps 0
recorded=$(stat recorded_hintfaults)
report quota spread 1 0
is $(($(stat recorded_hintfaults) - recorded)) 1000 "without a limit all do, whatever was used before"
knob promote_rate_limit_MBps 1000
release "$quota"

# --- the tracker itself -----------------------------------------------------------------------

hold some 1 $N anon
some=$held
read -r pfn nr </tmp/some/pfns
refused nonsense "nvalid argument"
refused "$pfn 0 1" "nvalid argument"
refused "$pfn 1 0" "nvalid argument"
flag period_ms 3000
usleep 200000
i=0
while [ $i -lt 300 ]; do
	echo "$pfn 1 1"
	i=$((i + 1))
done >/tmp/lines
recorded=$(stat recorded_external)
cat /tmp/lines 2>/dev/null >$TRACKER
ok $((! $?)) "300 reports are too many at once"
flag period_ms 10
wait_for 10 reaches pghot_recorded_external $((recorded + 256))
is $(($(stat recorded_external) - recorded)) 256 "256 of them are handed over"

rmmod pghot 2>/dev/null
ok $((! $?)) "pghot stays while a driver uses it"
while test -e $TRACKER; do cat /tmp/lines >$TRACKER; done 2>/dev/null &
writer=$!
while test -e $TRACKER; do put "$pfn 1 1"; done 2>/dev/null &
writer2=$!
usleep 300000
rmmod pghot_tracker
ok $? "the tracker goes while reports come in"
wait $writer $writer2
insmod /job/pghot_tracker.ko period_ms=1
put "$pfn 1 1"
rmmod pghot_tracker
ok $? "and comes and goes again"
knob enabled_sources 0
release "$some"
release "$ballast"
is "$(stat malformed_reports)" 0 "no report was malformed"
is "$(sum recorded_)" $((2 * $(stat recorded_accesses))) "pghot_recorded_accesses is the sum of all sources'"
laws
rmmod pghot_tester
rmmod pghot
finish
