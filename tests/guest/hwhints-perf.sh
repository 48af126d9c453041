#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# lab: --timeout 150 --with build/tests/faults/pghot.ko
#
# The way through perf, with the kernel's clock as a profiler whose samples have no address: periods,
# throttling, changes while it runs, CPUs that come and go.
# shellcheck source=tests/guest/lib.sh
. /job/lib.sh

CPU=/sys/devices/system/cpu/cpu1/online
RATE=/proc/sys/kernel/perf_event_max_sample_rate

# rate: samples in two seconds
rate() {
	rate_before=$(hw total_events)
	sleep 2
	echo $(($(hw total_events) - rate_before))
}

# fail_next N: the N-th thing from now on that can fail does
fail_next() {
	echo $(($(points_passed) + $1)) >/sys/module/pghot/parameters/fail_at
}

# period: the period in use
period() {
	backend clock | sed 's/.*period //'
}

# raised: has it been raised to twice what the knob says?
raised() {
	[ "$(period)" -ge $((2 * $(knob_is hwhints_period))) ]
}

# lowered: is it what the knob says?
lowered() {
	[ "$(period)" -eq "$(knob_is hwhints_period)" ]
}

echo 0 >/proc/sys/kernel/numa_balancing
insmod /job/pghot.ko hwhints_backend=clock
is "$(backend clock)" available "the clock is there"
knob hwhints_user_only 0
knob enabled_sources 2
is "$(backend clock)" "in_use period 10000" "and in use"
is "$(backend lab)" "absent no device 1af4:1110 of the lab" "which the others are not"
both=$(rate)
least "$both" 400 "samples of two CPUs in 2 s"

echo 0 >$CPU
one=$(rate)
most $((one * 4)) $((both * 3)) "at most 3 of 4 of them with one CPU offline (4 times the number)"
least "$one" 200 "the other is sampled on"
echo 1 >$CPU
least $(($(rate) * 3)) $((one * 4)) "at least 4 for 3 when it is back (3 times the number)"

knob hwhints_period 100000
is "$(backend clock)" "in_use period 100000" "another period applies at once"
most $(($(rate) * 4)) "$both" "at most a quarter of the samples of both (4 times the number)"
is "$(hw filtered_kernel)" 0 "samples of the kernel were taken"
knob hwhints_user_only 1
knob hwhints_period 10000
sleep 1
least "$(hw filtered_no_address)" 1 "none of them has an address"
is "$(hw useful_events)" 0 "so none is useful"

note "what fails leaves all as it was"
fail_next 1
! knob hwhints_period 20000 2>/dev/null
ok $? "a period that cannot be set is refused"
is "$(knob_is hwhints_period) $(backend clock)" "10000 in_use period 10000" "the old one stays in force"
before=$(hw filtered_kernel)
fail_next 2
! knob hwhints_user_only 0 2>/dev/null
ok $? "a setting that the second CPU does not take is refused"
sleep 1
is "$(knob_is hwhints_user_only) $(hw filtered_kernel)" "1 $before" "it stays as it was"
hw_grows filtered_no_address
ok $? "and samples come"
echo 0 >$CPU
fail_next 1
echo 1 >$CPU
is "$(cat $CPU)" 1 "a CPU that cannot be sampled comes online all the same"
is "$(dmesg | grep -c 'source hwhints: CPU 1 is not sampled: cannot open PMU software on it (-16)')" 1 \
	"which the log says"
echo 0 >$CPU
echo 1 >$CPU

knob hwhints_user_only 0
least $(($(rate) * 3)) $((one * 4)) "both CPUs are sampled again (3 times the number)"
echo 1000 >$RATE
before=$(hw throttled)
knob hwhints_period 5000
wait_for 20 raised
least "$(hw throttled)" $((before + 1)) "the kernel throttles what it finds too much"
least "$(period)" 10000 "and the period is raised"
echo 100000 >$RATE
wait_for 60 lowered
is "$(period)" 5000 "and lowered when it is content"
knob hwhints_period 20000

echo 0 >$CPU
knob enabled_sources 0
echo 1 >$CPU
is "$(backend clock)" available "disabled with a CPU offline"
total=$(hw total_events)
sleep 1
is "$(hw total_events)" "$total" "disabled: no sample comes"
# Those of the kernel that were still in a ring when only the user's were wanted.
is $(($(hw filtered_no_address) + $(hw dropped_events) + $(hw filtered_kernel))) "$total" \
	"all were without an address"
hw_law
laws
i=0
while [ $i -lt 20 ]; do
	knob enabled_sources 2 || ok 1 "enable $i"
	echo $((i % 2)) >$CPU
	knob enabled_sources 0 || ok 1 "disable $i"
	i=$((i + 1))
done
is $i 20 "20 times enabled and disabled with a CPU that comes and goes"
knob enabled_sources 2
rmmod pghot
ok $? "unloaded while enabled"
finish
