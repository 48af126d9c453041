#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# lab: --timeout 200 --set node0.mem_mb=1024
#
# Large folios move whole: they pay for all their pages, and one that finds no free range does not
# stand in the way of others.
# shellcheck source=tests/guest/lib.sh
. /job/lib.sh

load
insmod /job/pghot_tester.ko
echo 0 >/proc/sys/kernel/numa_balancing
echo 1 >/sys/kernel/mm/numa/demotion_enabled
echo madvise >/sys/kernel/mm/transparent_hugepage/enabled

hold ballast 0 $(($(free_pages 0) - 25000)) anon
ballast=$held
knob enabled_sources 1
hold thp 1 8192 thp
thp=$held
least "$(awk '$1 == "AnonHugePages:" { print $2 }' /proc/meminfo)" 30000 "the pages are huge (KiB)"
knob promote_rate_limit_MBps 2
report thp bulk 3 8
i=0
while [ $i -lt 5 ]; do
	sleep 1
	report thp bulk 3 8
	i=$((i + 1))
done
knob promote_rate_limit_MBps 0
sleep 1
# 512 tokens at first, 512 a second, and at most one folio on credit; the guest's seconds may be long.
most "$(stat moved)" $((512 * 10)) "2 MiB/s for some 5 s: huge pages pay for all their pages"
least "$(stat moved)" 1024 "and do move"
is $(($(stat moved) % 512)) 0 "whole"
laws
release "$thp"
release "$ballast"

# Every second page of the fast node is free: room for many small folios, for few large ones.
echo 0 >/proc/sys/vm/compaction_proactiveness
# And nobody moves the others together.
echo 0 >/proc/sys/vm/compact_unevictable_allowed
echo 0 >/sys/kernel/mm/numa/demotion_enabled
knob promote_rate_limit_MBps 10000
hold holes 0 $(($(free_pages 0) - 10000)) holes
holes=$held
hold thp 1 16384 thp
thp=$held
hold small 1 2000 anon
small=$held
# What is left in whole blocks (order 9 and 10 of /proc/buddyinfo) can take large ones.
whole=$(awk '$2 == "0," { n += $14 + 2 * $15 } END { print n + 0 }' /proc/buddyinfo)
most "$whole" 27 "there are fewer whole blocks than huge pages"
report thp bulk 5 8
report small bulk 3 8
wait_for 30 on_node small "$small" 0 2000
is "$(where small "$small" 0)" 2000 "small folios move, though"
least "$(stat refused_fragmented)" 512 "large ones found no free range"
# A few blocks may come about meanwhile, as pages are freed.
most "$(where thp "$thp" 0)" $(((whole + 4) * 512)) "and stayed, but for what the whole blocks took"
is "$(cat /tmp/thp/bad) $(cat /tmp/small/bad)" "0 0" "with their contents"
laws
release "$holes"
release "$thp"
release "$small"
rmmod pghot_tester
rmmod pghot
finish
