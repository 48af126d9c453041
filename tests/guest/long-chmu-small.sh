#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# lab: --timeout 240 --set plugin=count --set chmu_entries=16 --with build/tests/guest/chmu
#
# A hotlist of 16 entries for hundreds of hot pages: it overflows, which is counted; but no hot page
# anywhere waits for ever, neither with tuning nor with a threshold that lets everything through.
# shellcheck source=tests/guest/lib.sh
. /job/lib.sh

# spread NAME PARTS: hot processes far apart in memory, all of whose pages must go
spread() {
	parts=$(seq "$2")
	for n in $parts; do
		hold "hot$n" 1 300 touch
		eval "hot$n=$held"
		# 256 MiB between them: other ranges of the unit.
		hold "gap$n" 1 65536 anon
		eval "gap$n=$held"
	done
	knob enabled_sources 8 || ok 1 "$1: enabled"
	for n in $parts; do
		pid=
		eval "pid=\$hot$n"
		wait_for 60 on_node "hot$n" "$pid" 0 300
		is "$(where "hot$n" "$pid" 0)" 300 "$1: all hot pages of part $n are promoted"
	done
	note "$(grep chmu_unit_0 $STAT)"
	laws
	knob enabled_sources 0
	for n in $parts; do
		eval "release \$hot$n"
		eval "release \$gap$n"
	done
}

# lost: entries that the unit lost so far
lost() {
	chmu truth | awk '$1 == "lost" { print $2 }'
}

echo 0 >/proc/sys/kernel/numa_balancing
load
spread "tuned" 3
least "$(lost)" 1 "the unit lost entries"
least "$(value chmu_overflows)" 1 "overflows are counted"
least "$(value chmu_tunings)" 1 "tunings are counted"
most "$(value chmu_overflows)" "$(lost)" "one overflow stands for at least one lost entry"
knob chmu_threshold 1
knob chmu_epoch_us 20000
before=$(value chmu_overflows)
spread "threshold 1" 2
least "$(value chmu_overflows)" $((before + 1)) "threshold 1: it overflows all the time"
rmmod pghot
finish
