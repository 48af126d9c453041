#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# lab: --timeout 60 --set plugin=off
#
# A machine without hotness units: the source says so and stays off, everything else works.
# shellcheck source=tests/guest/lib.sh
. /job/lib.sh

load
is "$(grep ^chmu_unit $STAT)" "chmu_units 0" "no unit"
error=$(knob enabled_sources 8 2>&1)
case $error in
*"o such device"*) ok 0 "enabling it fails with ENODEV" ;;
*) ok 1 "enabling it fails with ENODEV" "$error" ;;
esac
is "$(dmesg | grep -c 'pghot: source chmu: no hotness monitoring unit here: looked for ')" 1 \
	"a line says what was looked for"
is "$(knob_is enabled_sources) $(stat hotmap_bytes)" "0 0" "all is off"
thread "pghot_chmu\|kmigrated.*" && ok 1 "no thread is left"
echo 2 >/proc/sys/kernel/numa_balancing
knob enabled_sources 1
knob enabled_sources 9 2>/dev/null
is "$? $(knob_is enabled_sources)" "1 1" "a source that works goes on when it cannot be added"
hold touch 1 1000 touch
wait_for 40 on_node touch "$held" 0 1000
is "$(where touch "$held" 0)" 1000 "and promotes"
knob chmu_threshold 100
knob chmu_unit_bytes 1000 2>/dev/null
is "$? $(knob_is chmu_threshold) $(knob_is chmu_unit_bytes)" "1 100 0" "its knobs can be set, within their limits"
laws
release "$held"
rmmod pghot
finish
