#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# lab: --timeout 200
#
# Hint faults: while the source is enabled no page moves on the fault path, all moves are pghot's;
# when it is disabled, the kernel's own promotion is back.
# shellcheck source=tests/guest/lib.sh
. /job/lib.sh

N=8000
# Without it the scheduler would be patched to record the names of tasks.
echo 0 >/sys/kernel/tracing/options/record-cmd
T=/sys/kernel/tracing

# weights WEIGHT-REGEX: traced reports with such a weight
weights() {
	grep -c "pghot_record: .* weight=$1 src=0 " $T/trace
}
echo 2 >/proc/sys/kernel/numa_balancing
load
knob enabled_sources 1
before=$(vmstat pgpromote_success)
echo 1 >$T/events/pghot/pghot_record/enable
hold touch 1 $N touch
wait_for 60 on_node touch "$held" 0 $N
is "$(where touch "$held" 0)" $N "a process's touched pages reach the fast node"
least "$(stat reported_hintfaults)" $N "reported by hint faults"
wait_for 10 selected_settled
echo 0 >$T/events/pghot/pghot_record/enable
least "$(weights '[2-4]')" $((N / 2)) "prompt faults weigh as much as the threshold or more"
echo >$T/trace
is $(($(vmstat pgpromote_success) - before)) "$(stat moved)" "and none was migrated on the fault path"
is "$(cat /tmp/touch/bad)" 0 "with their contents"
laws
release "$held"
moved=$(stat moved)

knob enabled_sources 0
reported=$(sum reported_)
before=$(vmstat pgpromote_success)
hold kernel 1 $N touch
wait_for 60 on_node kernel "$held" 0 $((N / 2))
least "$(where kernel "$held" 0)" $((N / 2)) "disabled: the kernel promotes by itself again"
is "$(sum reported_)" "$reported" "disabled: nothing is reported"
release "$held"

knob enabled_sources 1
! echo 0 2>/dev/null >/proc/sys/kernel/ftrace_enabled
ok $? "the hook cannot be taken away while the source is enabled"
echo 0 >/sys/kernel/debug/sched/numa_balancing/hot_threshold_ms
echo 1 >$T/events/pghot/pghot_record/enable
hold late 1 $N touch
wait_for 60 on_node late "$held" 0 $N
is "$(where late "$held" 0)" $N "enabled again: pghot promotes again"
least "$(stat moved)" $((moved + N)) "by itself"
echo 0 >$T/events/pghot/pghot_record/enable
least "$(weights 1)" $N "late faults weigh one access"
is "$(weights '[2-9]')" 0 "and no more"
release "$held"
laws
rmmod pghot
finish
