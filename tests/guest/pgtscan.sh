#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# lab: --timeout 400 --with build/tests/tester/pghot_notifier.ko
#
# Source pgtscan: what it finds of a known hot set, how it shares its time among processes, that it
# keeps to its share of a CPU and out of the way, and that it leaves reclaim its word.
# shellcheck source=tests/guest/lib.sh
. /job/lib.sh

# scanner: number of its thread
scanner() {
	grep -l '^pghot_pgtscan$' /proc/[0-9]*/comm | cut -d / -f 3
}

# cpu_us: CPU time of the thread so far
cpu_us() {
	awk '{ printf "%d\n", $1 / 1000 }' "/proc/$(scanner)/schedstat"
}

# now_us: since boot
now_us() {
	awk '{ printf "%d\n", $1 * 1000000 }' /proc/uptime
}

# rounds COUNT: wait until so many more rounds have begun
rounds() {
	wait_for 60 reaches pgtscan_rounds $(($(value pgtscan_rounds) + $1))
}

# hot_on NAME PID NODE: how many of the pages that a holder touches are on NODE
hot_on() {
	where "$1" "$2" "$3" >/dev/null
	awk -v n="$3" '$1 == n { s = $2 } END { print s + 0 }' "/tmp/$1/hot"
}

hot_at_least() {
	[ "$(hot_on "$1" "$2" 0)" -ge "$3" ]
}

# scanner_laws: every page found young is reported, or its reason counted
scanner_laws() {
	awk '$1 == "pgtscan_young" { s += $2 }
		$1 == "pghot_reported_pgtscan" || $1 ~ /^pgtscan_filtered_/ { s -= $2 }
		END { exit s != 0 }' $STAT
}

referenced_kib() {
	awk '/^Referenced/ { s += $2 } END { print s }' "/proc/$1/smaps"
}

N=40000
HOT=$((N / 4))
echo 0 >/proc/sys/kernel/numa_balancing
echo madvise >/sys/kernel/mm/transparent_hugepage/enabled
load
! thread pghot_pgtscan
ok $? "off means off: no thread"

# A known hot set: every fourth page. The target is ample, so one access too many would show.
hold part 1 $N part
part=$held
knob enabled_sources 4
ok $? "the source is enabled"
is "$(awk '{ print $19 }' "/proc/$(scanner)/stat")" 19 "its thread gives way to all others"
wait_for 60 hot_at_least part "$part" $((HOT * 95 / 100))
rounds 3
hot=$(hot_on part "$part" 0)
all=$(where part "$part" 0)
least $((hot * 100 / HOT)) 95 "recall: percent of the hot pages that were promoted"
least $((hot * 100 / (all + 1))) 98 "precision: percent of the promoted pages that are hot"
is "$(cat /tmp/part/bad)" 0 "with their contents"
note "CPU time a GiB scanned: $(($(cpu_us) * 2621 / ($(value pgtscan_pages) / 100 + 1))) us ($(value pgtscan_pages) pages in $(cpu_us) us)"
release "$part"

# Fast memory is looked at every fourth pass or less often: of 8 passes in 3 at most.
hold fast 0 50000 anon
fast=$held
rounds 2
pages=$(value pgtscan_pages)
rounds 8
between $(($(value pgtscan_pages) - pages)) 50000 200000 "pages of 50000 fast ones that 8 passes look at"
release "$fast"

# One bit for 512 pages.
hold thp 1 8192 thp
thp=$held
least "$(awk '$1 == "AnonHugePages:" { print $2 }' /proc/meminfo)" 30000 "the pages are huge (KiB)"
rounds 4
moved=$(stat moved)
once=$(value pgtscan_filtered_once)
kill -USR2 "$thp"
rounds 4
least $(($(value pgtscan_filtered_once) - once)) 512 "huge pages touched once are seen"
is "$(stat moved)" "$moved" "and do not move"
i=0
while [ $i -lt 100 ] && [ $(($(stat moved) - moved)) -lt 8192 ]; do
	kill -USR2 "$thp"
	usleep 200000
	i=$((i + 1))
done
least $(($(stat moved) - moved)) 8192 "touched again and again, they do"
release "$thp"
laws
scanner_laws
ok $? "young = reported + filtered" "$(grep -E 'pgtscan' $STAT | tr '\n' ' ')"

# What was learned from the bit is not lost for reclaim.
knob promote_rate_limit_MBps 0
knob freq_threshold 6
hold seen 1 2000 anon
seen=$held
rounds 3
echo 1 >"/proc/$seen/clear_refs"
most "$(referenced_kib "$seen")" 1000 "nothing is referenced (KiB)"
young=$(value pgtscan_young)
# A CPU that still has a translation sets no bit: touch them until they are seen.
touch_and_find() {
	kill -USR2 "$seen"
	reaches pgtscan_young $((young + 2000))
}
wait_for 20 touch_and_find
ok $? "the touched pages are found"
least "$(referenced_kib "$seen")" 8000 "the kernel still knows them as referenced (KiB)"
release "$seen"
knob promote_rate_limit_MBps 65536
knob freq_threshold 2

# A guest's accesses set no bit in the process's own page tables.
if grep -q ' mmu_notifier_register$' /proc/kallsyms; then
	# Before the scanner's first pass, which says nothing, all pages are there.
	knob enabled_sources 0
	hold guest 1 1000 anon
	guest=$held
	knob enabled_sources 4
	moved=$(stat moved)
	rounds 5
	is "$(stat moved)" "$moved" "pages that nobody touches stay"
	insmod /job/pghot_notifier.ko pid="$guest"
	ok $? "a notifier says that a guest touches them"
	wait_for 20 reaches pghot_moved $((moved + 1000))
	least $(($(stat moved) - moved)) 1000 "then they go"
	rmmod pghot_notifier
	is "$(where guest "$guest" 0) $(cat /tmp/guest/bad)" "1000 0" "all of them, with their contents"
	release "$guest"
else
	skip "accesses of guests" "this kernel has no MMU notifiers"
fi

# A large process and small ones. At 1 percent the large one takes many rounds.
knob pgtscan_interval_ms 200
knob pgtscan_cpu_percent 1
hold large 1 250000 map
large=$held
small=
i=0
while [ $i -lt 10 ]; do
	hold small$i 1 400 part
	small="$small $held"
	i=$((i + 1))
done
late=$(value pgtscan_rounds_late)
i=0
for pid in $small; do
	wait_for 60 hot_at_least small$i "$pid" 90 || ok 1 "small process $i gets its turn"
	i=$((i + 1))
done
ok 0 "small processes get their turn"
least $(($(value pgtscan_rounds_late) - late)) 1 "while the large one takes more than a round"

for percent in 1 10; do
	knob pgtscan_cpu_percent $percent
	knob pgtscan_interval_ms 10
	cpu=$(cpu_us)
	since=$(now_us)
	sleep 5
	used=$((($(cpu_us) - cpu) * 1000 / ($(now_us) - since)))
	most $used $((percent * 10 + percent * 3 + 10)) "$percent percent of a CPU: tenths of a percent used"
done

# Nothing else is slower for it: the large process maps and unmaps memory all the time.
knob enabled_sources 0
where large "$large" 1 >/dev/null
sleep 5
where large "$large" 1 >/dev/null
off=$(cat /tmp/large/map_us)
knob pgtscan_cpu_percent 100
knob enabled_sources 4
sleep 5
where large "$large" 1 >/dev/null
note "mapping and unmapping, mean: off $off us, scanning without a pause $(cat /tmp/large/map_us) us"
most "$(cat /tmp/large/map_us)" $((off * 2 + 10000)) "mapping memory waits for no pass (mean us)"
passes=$(value pgtscan_passes)
wait_for 20 reaches pgtscan_passes $((passes + 20))
ok $? "and does not stop the scanner"
for pid in $small; do
	release "$pid"
done

# Processes come and go while they are looked at.
i=0
while [ $i -lt 20 ]; do
	hold brief 1 3000 touch
	usleep 50000
	release "$held"
	i=$((i + 1))
done
ok 0 "processes end while they are scanned"
i=0
while [ $i -lt 30 ]; do
	knob enabled_sources 0 || ok 1 "disable $i"
	thread pghot_pgtscan && ok 1 "disabled $i: no thread"
	knob enabled_sources 4 || ok 1 "enable $i"
	[ $((i % 5)) -ne 0 ] || usleep 300000
	i=$((i + 1))
done
ok 0 "30 times enabled and disabled under load"
since=$(now_us)
rmmod pghot
ok $? "the module unloads while it scans"
most $(($(now_us) - since)) 3000000 "at once (us)"
! thread pghot_pgtscan
ok $? "and leaves no thread"
where large "$large" 1 >/dev/null
is "$(cat /tmp/large/bad)" 0 "no content is lost"
release "$large"
finish
