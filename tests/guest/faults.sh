#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# lab: --timeout 450 --with build/tests/faults/pghot.ko
#
# Everything in the module that can fail fails once, the N-th thing for every N: loading or enabling
# then fails whole, names the symbol if it was one, and leaves nothing behind.
# shellcheck source=tests/guest/lib.sh
. /job/lib.sh

insmod /job/pghot.ko
total=$(points_passed)
rmmod pghot
least "$total" 8 "fault points while loading"
n=1
while [ $n -le "$total" ]; do
	if insmod /job/pghot.ko fail_at=$n 2>/dev/null; then
		ok 1 "loading with fault $n fails"
		rmmod pghot
	fi
	nothing_left || ok 1 "fault $n while loading leaves nothing behind"
	n=$((n + 1))
done
ok 0 "each of them makes loading fail"
is "$(dmesg | sed -n 's/.*pghot: this kernel has no symbol \([a-z_]*\):.*/\1/p' | sort -u | wc -l)" 9 \
	"a missing symbol is named, each of 9"

each_fault 1 hintfaults
each_fault 2 hwhints hwhints_backend=clock

# While it works: no place on the target, for the first, second, ... page.
insmod /job/pghot.ko
insmod /job/pghot_tester.ko
echo 0 >/proc/sys/kernel/numa_balancing
knob enabled_sources 1
hold anon 1 600 anon
total=$(points_passed)
echo $((total + 300)) >/sys/module/pghot/parameters/fail_at
report anon bulk 3 8
wait_for 20 on_node anon "$held" 0 600
is "$(where anon "$held" 0)" 600 "a page that found no place goes the next time"
least "$(stat refused_target_full)" 1 "the refusal is counted"
is "$(cat /tmp/anon/bad)" 0 "no content is lost"
laws
release "$held"
rmmod pghot_tester
rmmod pghot
finish
