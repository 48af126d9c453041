#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# lab: --timeout 120
#
# Pages that never can move are tried less and less, however often they are reported.
# shellcheck source=tests/guest/lib.sh
. /job/lib.sh

N=100

# seconds: that this machine is up
seconds() {
	cut -d . -f 1 /proc/uptime
}

# tries REASON SECONDS: how often a page was tried meanwhile, in hundredths, all pages being hot
tries() {
	before=$(stat "refused_$1")
	end=$(($(seconds) + $2))
	while [ "$(seconds)" -lt $end ]; do
		report piped bulk 3 8
		usleep 50000
	done
	echo $((($(stat "refused_$1") - before) * 100 / N))
}

load
insmod /job/pghot_tester.ko
echo 0 >/proc/sys/kernel/numa_balancing
knob kmigrated_sleep_ms 10
# An epoch is 200 ms: one attempt in each would be 40 in 8 s. Two windows are 1.6 s.
knob promote_freq_window_ms 800
knob enabled_sources 1
hold piped 1 $N piped
first=$(tries referenced 4)
last=$(tries referenced 8)
note "attempts at a page: $first/100 in 4 s at first, then $last/100 in 8 s"
least "$first" 400 "it is tried some times at first"
least "$last" 200 "and later, too"
most "$last" 700 "but not more often than once in two windows"
release "$held"
laws
rmmod pghot_tester
rmmod pghot
finish
