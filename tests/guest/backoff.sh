#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# lab: --timeout 120
#
# Pages that never can move are tried less and less, however often they are reported.
# shellcheck source=tests/guest/lib.sh
. /job/lib.sh

N=100

# tries REASON SECONDS: how often a page was tried meanwhile, in hundreds of all pages' attempts
tries() {
	before=$(stat "refused_$1")
	i=0
	while [ $i -lt $(($2 * 10)) ]; do
		report piped bulk 3 8
		usleep 100000
		i=$((i + 1))
	done
	echo $((($(stat "refused_$1") - before) * 100 / N))
}

load
insmod /job/pghot_tester.ko
echo 0 >/proc/sys/kernel/numa_balancing
knob kmigrated_sleep_ms 10
# An epoch is 200 ms: one attempt in each would be 20 in 4 s. Two windows are 1.6 s.
knob promote_freq_window_ms 800
knob enabled_sources 1
hold piped 1 $N piped
first=$(tries referenced 4)
tries referenced 4 >/dev/null
last=$(tries referenced 4)
note "attempts at a page in 4 s: ${first}/100 at first, ${last}/100 later"
least "$first" 300 "it is tried some times at first"
least "$last" 100 "and later, too"
most "$last" 320 "but only once in two windows"
release "$held"
laws
rmmod pghot_tester
rmmod pghot
finish
