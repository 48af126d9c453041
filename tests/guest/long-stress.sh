#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# lab: --timeout 400
#
# 50 enable/disable and 20 load/unload cycles while a process works on slow memory: no leak, clean
# log, no harm to the process.
# shellcheck source=tests/guest/lib.sh
. /job/lib.sh

# settle_down: let deferred frees happen
settle_down() {
	echo 3 >/proc/sys/vm/drop_caches
	sleep 7
}

N=12000
echo 2 >/proc/sys/kernel/numa_balancing
echo 1 >/sys/kernel/mm/numa/demotion_enabled
load
knob enabled_sources 1
hold touch 1 $N touch
wait_for 30 on_node touch "$held" 0 1000
knob enabled_sources 0
rmmod pghot
settle_down
before=$(used)

load
i=0
while [ $i -lt 50 ]; do
	knob enabled_sources 1 || ok 1 "enable $i"
	[ $((i % 5)) -ne 0 ] || usleep 300000
	knob enabled_sources 0 || ok 1 "disable $i"
	i=$((i + 1))
done
is "$i $(stat hotmap_bytes)" "50 0" "50 times enabled and disabled"
laws
rmmod pghot
settle_down
no_leak "$before"

i=0
while [ $i -lt 20 ]; do
	load layout="$([ $((i % 2)) -eq 0 ] && echo byte || echo precise)" || ok 1 "load $i"
	knob enabled_sources 1
	hold "more$i" 1 2000 touch
	usleep 500000
	release "$held"
	rmmod pghot || ok 1 "unload $i"
	i=$((i + 1))
done
is $i 20 "20 times loaded and unloaded while enabled and under load"
settle_down
no_leak "$before"
is "$(vmstat nr_isolated_anon) $(vmstat nr_isolated_file)" "0 0" "no page is left isolated"
pid=$(pgrep -o holder)
where touch "$pid" 1 >/dev/null
is "$(cat /tmp/touch/bad)" 0 "the process kept its data"
release "$pid"
finish
