#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# lab: --timeout 200 --set node0.mem_mb=1024
#
# Huge pages go whole, when enough of their pages are hot, and are split only if that is asked for.
# shellcheck source=tests/guest/lib.sh
. /job/lib.sh

# some NAME PAGES WEIGHT: report the first pages of each huge page of a holder
some() {
	while read -r pfn nr; do
		end=$((pfn + nr))
		while [ "$pfn" -lt $end ]; do
			echo "bulk $pfn $2 0 $3 0 8" >/proc/pghot_tester
			pfn=$(((pfn / 512 + 1) * 512))
		done
	done <"/tmp/$1/pfns"
}

splits() {
	echo "$(vmstat thp_split_page) $(vmstat thp_migration_split)"
}

load
insmod /job/pghot_tester.ko
echo 0 >/proc/sys/kernel/numa_balancing
echo madvise >/sys/kernel/mm/transparent_hugepage/enabled
# Nobody shall make huge pages of small ones meanwhile.
echo 3600000 >/sys/kernel/mm/transparent_hugepage/khugepaged/scan_sleep_millisecs
echo 0 >/sys/kernel/mm/transparent_hugepage/khugepaged/max_ptes_none
knob promote_freq_window_ms 1000
knob enabled_sources 1
whole=$(splits)

hold thp 1 4096 thp
least "$(awk '$1 == "AnonHugePages:" { print $2 }' /proc/meminfo)" 16000 "the pages are huge (KiB)"
some thp 1 6
wait_for 10 reaches pghot_refused_cold_huge 8
sleep 1
least "$(stat refused_cold_huge)" 8 "one hot page is too little for a huge page"
is "$(where thp "$held" 1)" 4096 "which stays"
# Evidence counts up to the threshold of 2 for each page: a tenth of 512 pages are 51.2.
some thp 51 6
sleep 3
is "$(where thp "$held" 1)" 4096 "as with 51 of 512"
some thp 52 6
wait_for 10 on_node thp "$held" 0 4096
is "$(where thp "$held" 0) $(cat /tmp/thp/bad)" "4096 0" "with 52 all of it goes"
release "$held"
hold thp 1 1024 thp
knob huge_hot_percent 0
some thp 1 6
wait_for 10 on_node thp "$held" 0 1024
is "$(where thp "$held" 0)" 1024 "with pghot_huge_hot_percent 0 one page takes all along"
release "$held"
knob huge_hot_percent 10

before=$(stat refused_partly_mapped)
hold partthp 1 1024 partthp
report partthp bulk 3 8
sleep 1
least $(($(stat refused_partly_mapped) - before)) 1024 "a huge page that is partly unmapped is refused"
is "$(where partthp "$held" 1)" 1022 "and stays"
is "$(splits)" "$whole" "no huge page was split so far"
# Under memory pressure the kernel itself splits what is partly unmapped.
release "$held"
whole=$(splits)

# Every second page of the fast node is free: no room for huge pages.
echo 0 >/proc/sys/vm/compaction_proactiveness
echo 0 >/proc/sys/vm/compact_unevictable_allowed
hold holes 0 $(($(free_pages 0) - 12000)) holes
holes=$held
hold thp 1 24576 thp
large=$held
report thp bulk 3 8
wait_for 20 reaches pghot_refused_fragmented 512
sleep 1
least "$(stat refused_fragmented)" 512 "huge pages find no free range"
is "$(splits)" "$whole" "and are not split for that"

hold partthp 1 1024 partthp
part=$held
knob split_huge 1
i=0
while [ $i -lt 20 ] && ! on_node thp "$large" 0 24576; do
	report thp bulk 3 8
	sleep 1
	i=$((i + 1))
done
is "$(where thp "$large" 0) $(cat /tmp/thp/bad)" "24576 0" "with pghot_split_huge 1 they go in parts"
least "$(vmstat thp_split_page)" $((${whole% *} + 1)) "split"
i=0
while [ $i -lt 20 ] && ! on_node partthp "$part" 0 1022; do
	report partthp bulk 3 8
	sleep 1
	i=$((i + 1))
done
is "$(where partthp "$part" 0)" 1022 "so does what was partly unmapped"
release "$large"
hold thp 1 1024 thp
some thp 3 6
wait_for 10 on_node thp "$held" 0 6
is "$(where thp "$held" 0) $(cat /tmp/thp/bad)" "6 0" "and the hot pages of a huge one go alone"
release "$held"
release "$part"
release "$holes"
is "$(vmstat nr_isolated_anon) $(vmstat nr_isolated_file)" "0 0" "none is left isolated"
laws
rmmod pghot_tester
rmmod pghot
finish
