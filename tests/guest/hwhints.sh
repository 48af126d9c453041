#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# lab: --timeout 400 --set plugin=count --set cache_kb=64 --set prof_slots=8 --with build/tests/guest/prof --with build/tests/faults/pghot.ko
#
# The lab's memory profiler promotes without a hint fault; every sample that it took is accounted for,
# those that found its small ring full, too; rubbish in its memory does no harm.
# shellcheck source=tests/guest/lib.sh
. /job/lib.sh

N=4000

# used: kernel memory in KiB that a leak would show in
used() {
	awk '/^SUnreclaim|^VmallocUsed|^Percpu|^KernelStack/ { s += $2 } END { print s }' /proc/meminfo
}

# faults: what NUMA balancing did
faults() {
	echo $(($(vmstat numa_pte_updates) + $(vmstat numa_hint_faults)))
}

# refused KNOB VALUE
refused() {
	refused_before=$(knob_is "$1")
	! knob "$1" "$2" 2>/dev/null && [ "$(knob_is "$1")" = "$refused_before" ]
	ok $? "$1 $2 is refused"
}

echo 0 >/proc/sys/kernel/numa_balancing
load
is "$(backend lab)" available "the lab's profiler is there"
is "$(backend ibs)" "absent no PMU ibs_op" "IBS is not"
for value in 4999 134217728 -1; do
	refused hwhints_period $value
done
refused hwhints_l3miss_only 2
refused hwhints_user_only 2
refused hwhints_latency_min 100
refused hwhints_latency_min 2176

faults_before=$(faults)
samples_before=$(prof sum samples)
knob enabled_sources 2
is "$(backend lab)" "in_use period 10000" "and in use"
hold touch 1 $N touch
wait_for 60 on_node touch "$held" 0 $N
is "$(where touch "$held" 0)" $N "touched pages reach the fast node"
is "$(cat /tmp/touch/bad)" 0 "with their contents"
is $(($(faults) - faults_before)) 0 "without a hint fault"
least "$(stat reported_hwhints)" $N "reported by memory profilers"
least "$(hw extmem_accesses)" $N "of slow memory"
hw_grows dram_accesses
ok $? "and then of fast memory"
sparse() {
	[ "$(backend lab | cut -d ' ' -f 3)" -gt 10000 ]
}
wait_for 30 sparse
ok $? "of which fewer are enough"
knob hwhints_period_max 5000
is "$(backend lab)" "in_use period 10000" "unless the period may not be longer"

knob hwhints_period 5000
is "$(backend lab)" "in_use period 5000" "another period applies at once"
knob hwhints_user_only 0
knob hwhints_l3miss_only 0
hw_grows cache_accesses
ok $? "with all samples: those that caches served are counted"
knob hwhints_latency_min 2048
sleep 1
useful=$(hw useful_events)
sleep 1
is "$(hw useful_events)" "$useful" "nothing takes 2048 cycles"
knob hwhints_latency_min 0
hw_grows useful_events
ok $? "back to any latency"
hw_grows dropped_events
ok $? "a ring of 8 samples overflows"
knob enabled_sources 0
sleep 1
is "$(hw total_events)" $(($(prof sum samples) - samples_before)) "each sample that was taken is counted"
is "$(stat reported_hwhints)" "$(hw useful_events)" "what is useful is reported"
is "$(hw resyncs) $(hw filtered_garbage)" "0 0" "none made no sense"
hw_law
laws

note "rubbish in rings and registers"
knob enabled_sources 2
least "$(prof rubbish 8 42)" 100 "rubbish was written"
least "$(hw resyncs)" 1 "indices that make no sense are noticed"
least "$(hw filtered_garbage)" 1 "and entries"
hw_grows useful_events
ok $? "then it works on"
prof set nr_slots 100
hw_grows useful_events
ok $? "a ring's size is not asked for again"
knob enabled_sources 0
! knob enabled_sources 2 2>/dev/null
ok $? "but when it is enabled"
is "$(backend lab)" "failed CPU 0 has a ring of 100 samples: not a power of two up to 1024" "it says why"
dmesg | grep -q 'no memory profiler to use (lab: CPU 0 has a ring of 100 samples'
ok $? "so does the log"
prof set nr_slots 8
hw_law
laws

knob enabled_sources 2
knob enabled_sources 0
rmmod pghot
load
sleep 3
before=$(used)
i=0
while [ $i -lt 30 ]; do
	knob enabled_sources 2 || ok 1 "enable $i"
	usleep 100000
	knob enabled_sources 0 || ok 1 "disable $i"
	i=$((i + 1))
done
is "$i $(stat hotmap_bytes)" "30 0" "30 times enabled and disabled under load"
hw_law
sleep 3
most $(($(used) - before)) 1024 "no leak: KiB more than before"
knob enabled_sources 2
rmmod pghot
ok $? "unloaded while enabled and under load"
is "$(prof sum control)" 0 "and the profilers are off"

each_fault 2 hwhints
release "$held"
finish
