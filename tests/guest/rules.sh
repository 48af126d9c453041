#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# lab: --timeout 150 --set node0.mem_mb=1024
#
# Who may go: threshold, rate limit, window, free space. The fast node is kept too full to be ample,
# except where that is the question.
# shellcheck source=tests/guest/lib.sh
. /job/lib.sh

N=2000

load
insmod /job/pghot_tester.ko
echo 0 >/proc/sys/kernel/numa_balancing
knob kmigrated_sleep_ms 10
# All but 80 MiB, where an eighth of the node would be ample.
hold ballast 0 $(($(free_pages 0) - 20480)) anon
ballast=$held
hold hot 1 $N anon
hot=$held
knob enabled_sources 1
kernel_candidates=$(vmstat pgpromote_candidate)

base=$(stat moved)
report hot bulk 1 0
sleep 1
is "$(stat moved)" "$base" "one access of the two needed: nothing moves"
knob promote_rate_limit_MBps 0
report hot bulk 1 0
sleep 1
is "$(stat moved)" "$base" "rate limit 0: nothing moves"
least "$(stat passes_rate_limited)" 1 "and the counters say why"
is "$(stat ready_pages)" $N "the pages wait, none is lost"
knob promote_rate_limit_MBps 2
sleep 1
knob promote_rate_limit_MBps 0
moved=$(($(stat moved) - base))
between $moved 300 1100 "2 MiB/s for a second moves some 512 pages"
knob promote_rate_limit_MBps 1000
report hot bulk 1 0
wait_for 10 reaches pghot_moved $((base + N))
is $(($(stat moved) - base)) $N "a high limit lets the rest go"
is "$(where hot "$hot" 0)" $N "and they are there"
least "$(stat candidates)" $N "they were candidates that the limit applied to"
release "$hot"

hold old 1 $N anon
old=$held
base=$(stat moved)
knob promote_freq_window_ms 400
knob promote_rate_limit_MBps 0
report old bulk 3 0
sleep 3
knob promote_rate_limit_MBps 1000
sleep 1
is "$(stat moved)" "$base" "pages not accessed for longer than the window stay"
knob promote_freq_window_ms 3000
release "$old"

hold decided 1 $N anon
decided=$held
base=$(stat moved)
knob freq_threshold 6
report decided bulk 1 0
sleep 1
is "$(stat moved)" "$base" "threshold 6: one access is nothing"
report decided bulk 1 8
wait_for 10 reaches pghot_moved $((base + N))
is $(($(stat moved) - base)) $N "unless the source has decided"
release "$decided"

# A pass leaves the bit of an area set in which it found something; the next hot page there must not
# wait for the end of an epoch, 150 s with this window.
knob freq_threshold 2
knob promote_freq_window_ms 600000
hold near 1 2 anon
near=$held
read -r pfn nr </tmp/near/pfns
base=$(stat moved)
echo "bulk $pfn 1 0 2 0 8" >/proc/pghot_tester
wait_for 10 reaches pghot_moved $((base + 1))
sed -n '$p' /tmp/near/pfns >/tmp/near/last
read -r last nr </tmp/near/last
echo "bulk $((last + nr - 1)) 1 0 2 0 8" >/proc/pghot_tester
wait_for 10 reaches pghot_moved $((base + 2))
is $(($(stat moved) - base)) 2 "a hot page next to one that just moved goes soon, too"
knob promote_freq_window_ms 3000
release "$near"

hold free 1 $N anon
free=$held
base=$(stat moved)
nrl=$(stat candidates_nrl)
release "$ballast"
knob promote_rate_limit_MBps 0
report free bulk 1 0
wait_for 10 reaches pghot_moved $((base + N))
is $(($(stat moved) - base)) $N "ample free space: one access and no tokens suffice"
is $(($(stat candidates_nrl) - nrl)) $N "counted as outside the rate limit"
release "$free"
is $(($(vmstat pgpromote_candidate) - kernel_candidates)) "$(stat candidates)" "pgpromote_candidate is true"
laws
rmmod pghot_tester
rmmod pghot
finish
