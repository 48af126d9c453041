#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# lab: --timeout 100
#
# The tracepoints tell what comes in, what a batch does, and what is refused.
# shellcheck source=tests/guest/lib.sh
. /job/lib.sh

T=/sys/kernel/tracing
load
insmod /job/pghot_tester.ko
echo 0 >/proc/sys/kernel/numa_balancing
test -d $T/events/pghot
ok $? "the tracepoints are there"
# Without it the scheduler would be patched to record the names of tasks.
echo 0 >$T/options/record-cmd
echo 1 >$T/events/pghot/enable
knob enabled_sources 1
hold anon 1 300 anon
anon=$held
hold mlock 1 50 mlock
report anon bulk 3 8
report mlock bulk 3 0
wait_for 10 on_node anon "$anon" 0 300
wait_for 10 stat_least refused_unevictable 50
echo 0 >$T/events/pghot/enable
read -r pfn nr </tmp/anon/pfns
grep -q "pghot_record: pfn=0x$(printf %x "$pfn") nr_pages=$nr nid=0 weight=3 src=0 flags=0x8" $T/trace
ok $? "pghot_record"
is "$(sed -n 's/.*pghot_batch: nid=1 target=0 .* moved=\([0-9]*\) .*/\1/p' $T/trace | awk '{ s += $1 } END { print s }')" \
	300 "pghot_batch: the moved pages add up"
is "$(grep -c 'pghot_refusal: .* reason=unevictable' $T/trace)" 50 "pghot_refusal: with its reason"
release "$anon"
release "$held"
rmmod pghot_tester
rmmod pghot
! test -d $T/events/pghot
ok $? "the tracepoints are gone"
finish
