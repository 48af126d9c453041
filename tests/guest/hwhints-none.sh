#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# lab: --timeout 120
#
# A machine without a memory profiler: the source says what it looked for, and the module goes on.
# shellcheck source=tests/guest/lib.sh
. /job/lib.sh

N=2000
echo 2 >/proc/sys/kernel/numa_balancing
! insmod "/lib/modules/$(uname -r)/extra/pghot.ko" hwhints_backend=clock 2>/dev/null
ok $? "a profiler that is not known refuses the load"
least "$(dmesg | grep -c "hwhints_backend=clock: want auto, lab, ibs or pebs")" 1 "and is named"
load
is "$(backend lab)" "absent no device 1af4:1110 of the lab" "the lab's profiler is absent"
is "$(backend ibs)" "absent no PMU ibs_op" "IBS is absent"
is "$(backend pebs)" "absent no PMU cpu" "PEBS is absent"
knob enabled_sources 2 2>/tmp/error
is "$(sed 's/.*: //' /tmp/error)" "No such device" "enabling fails with ENODEV"
is "$(knob_is enabled_sources) $(stat hotmap_bytes)" "0 0" "and nothing is on"
dmesg | grep -q 'no memory profiler to use (lab: no device 1af4:1110 of the lab; ibs: no PMU ibs_op; pebs: no PMU cpu)'
ok $? "one line names all that was looked for" "$(dmesg | grep pghot | tail -n 2)"
thread pghot_hwhints && ok 1 "no thread is left"

knob enabled_sources 1
! knob enabled_sources 3 2>/dev/null
ok $? "nor together with hint faults"
is "$(knob_is enabled_sources)" 1 "which stay enabled"
hold touch 1 $N touch
wait_for 60 on_node touch "$held" 0 $N
is "$(where touch "$held" 0)" $N "and work on"
release "$held"
laws
rmmod pghot

load hwhints_backend=ibs
! knob enabled_sources 2 2>/dev/null
ok $? "one that is asked for by name and absent"
dmesg | grep -q 'no memory profiler to use (ibs: no PMU ibs_op)'
ok $? "is the only one looked for"
rmmod pghot
finish
