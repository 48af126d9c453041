#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# lab: --timeout 400 --set disk_mb=1024 --set node0.mem_mb=1024
#
# Page cache that is read again and again without being mapped goes to the fast node; what is read once,
# in pieces of whatever size, stays. The rate limit holds, dirty pages wait, off means off.
# shellcheck source=tests/guest/lib.sh
. /job/lib.sh

N=2000

# cache NAME PAGES: a clean file on the disk, its pages on the slow node; its holder is $held
cache() {
	mkdir -p "/disk/$1"
	holder 1 "$2" cache "/disk/$1" &
	held=$!
	wait_for 60 test -e "/disk/$1/pfns" || note "holder of $1 did not start"
	reported=$(stat reported_pagecache) base=$(stat moved)
}

# unseen NAME PAGES: likewise, on a tmpfs: its writing is an access, so it is not to be seen
unseen() {
	knob enabled_sources 0
	cache "$1" "$2"
	knob enabled_sources 16
}

# read_file NAME TIMES [BYTES]: from the beginning to the end, so many bytes a read. Passes are more than a
# sixteenth of the window apart.
read_file() {
	passes=$2
	while [ "$passes" -gt 0 ]; do
		dd if="/disk/$1/file" of=/dev/null bs="${3:-4096}" 2>/dev/null
		usleep 250000
		passes=$((passes - 1))
	done
}

# placed NAME NODE: pages of the file there. To look at them maps them, which is an access.
placed() {
	rm -f "/disk/$1/where"
	kill -USR1 "$held"
	wait_for 20 test -e "/disk/$1/where"
	awk -v n="$2" '$1 == n { print $2; found = 1 } END { if (!found) print 0 }' "/disk/$1/where"
}

new_reports() {
	echo $(($(stat reported_pagecache) - reported))
}

moved_now() {
	echo $(($(stat moved) - base))
}

# QEMU before 8.1 may lose a function that one CPU patches while another runs it (lab/boot).
taskset -p 1 $$ >/dev/null

# Metadata of the file system is page cache, too: some reports are of it.
FEW=60

disk /disk
ok $? "there is a disk"
echo 0 >/proc/sys/kernel/numa_balancing
load
knob kmigrated_sleep_ms 10
! hooked folio_mark_accessed
ok $? "off: no hook"
knob enabled_sources 16
ok $? "the source can be enabled"
hooked folio_mark_accessed
ok $? "on: a hook"

# The fast node has ample free memory: one report suffices.
cache once $N
read_file once 1 512
sleep 1
most "$(new_reports)" $FEW "a file read once by 512 bytes is not reported"
most "$(moved_now)" $FEW "and stays, although there is ample free memory"
read_file once 1
wait_for 10 reaches pghot_moved $((base + N))
is "$(placed once 0)" $N "read a second time it moves"
is "$(cat /disk/once/bad)" 0 "with its contents"
release "$held"

# A large folio is one thing. (tmpfs marks it for each of its pages that is read.)
mkdir -p /disk/huge
mount -t tmpfs -o huge=always tmpfs /disk/huge
unseen huge 2048
read_file huge 3
wait_for 10 reaches pghot_moved $((base + 2048))
is "$(placed huge 0)" 2048 "large folios move whole"
least "$(new_reports)" 2048 "and are reported whole"
most "$(new_reports)" $((3 * 2048 + FEW)) "once a pass"
release "$held"
umount /disk/huge

# A descriptor for each piece: the kernel marks the page each time.
knob promote_freq_window_ms 60000
cache pieces 40
piece=0
while [ $piece -lt 160 ]; do
	dd if=/disk/pieces/file of=/dev/null bs=1024 count=1 skip=$piece 2>/dev/null
	piece=$((piece + 1))
done
sleep 1
most "$(new_reports)" 10 "a page read in four pieces, each by another process, was read once"
release "$held"
knob promote_freq_window_ms 3000

# The fast node is kept too full to be ample.
hold ballast 0 $(($(free_pages 0) - 20480)) anon
ballast=$held

cache twice $N
read_file twice 2
sleep 1
least "$(new_reports)" $N "the second pass is reported"
most "$(moved_now)" $FEW "below the threshold nothing moves"
read_file twice 2
wait_for 10 reaches pghot_moved $((base + N))
is "$(placed twice 0)" $N "a file that is read again and again moves"
is "$(cat /disk/twice/bad)" 0 "with its contents"
reported=$(stat reported_pagecache)
read_file twice 3
most "$(new_reports)" $FEW "pages of the fast node are not reported"
release "$held"

echo 0 >/sys/kernel/mm/lru_gen/enabled
cache classic $N
read_file classic 1
most "$(new_reports)" $FEW "the classic LRU: the first pass is not reported"
read_file classic 3
# Some wait in a batch of their CPU for being put on the active list.
wait_for 10 reaches pghot_moved $((base + N - 50))
least "$(moved_now)" $((N - 50)) "a file that is read again and again moves"
echo y >/sys/kernel/mm/lru_gen/enabled
release "$held"

cache limited $N
knob promote_rate_limit_MBps 0
read_file limited 4
sleep 1
is "$(moved_now)" 0 "rate limit 0: nothing moves"
least "$(stat ready_pages)" $N "it waits"
knob promote_rate_limit_MBps 2
sleep 1
knob promote_rate_limit_MBps 0
moved=$(moved_now)
between "$moved" 300 1100 "2 MiB/s for a second moves some 512 pages"
knob promote_rate_limit_MBps 65536
read_file limited 2
wait_for 10 reaches pghot_moved $((base + N))
is "$(placed limited 0)" $N "a high limit lets the rest go"
release "$held"

echo 0 >/proc/sys/vm/dirty_writeback_centisecs
cache dirty $N
dd if=/disk/dirty/file of=/disk/dirty/file bs=4096 conv=notrunc 2>/dev/null
refused=$(stat refused_dirty)
read_file dirty 4
sleep 1
least $(($(stat refused_dirty) - refused)) $N "dirty pages are refused"
most "$(moved_now)" $FEW "and stay"
sync
tries=0
until reaches pghot_moved $((base + N)) || [ $tries -ge 100 ]; do
	read_file dirty 1
	tries=$((tries + 1))
done
is "$(placed dirty 0)" $N "once they are written back they move, if they are still read"
is "$(cat /disk/dirty/bad)" 0 "with their contents"
release "$held"

mkdir -p /disk/tmpfs
mount -t tmpfs tmpfs /disk/tmpfs
unseen tmpfs $N
read_file tmpfs 4
wait_for 10 reaches pghot_moved $((base + N))
is "$(placed tmpfs 0)" $N "files of tmpfs move as well"
release "$held"

# A mapped file: others see who uses it.
mkdir -p /disk/mapped
holder 1 $N file /disk/mapped &
held=$!
wait_for 60 test -e /disk/mapped/pfns
sync
reported=$(stat reported_pagecache)
read_file mapped 4
most "$(new_reports)" $FEW "pages that are mapped are not reported"
release "$held"
release "$ballast"
rm -r /disk/[!lt]*/

# Larger than the fast node, so that it fills both; four reads a page.
base=$(stat moved)
filereader scenario=stream read_bytes=1024 dir=/disk >/tmp/stream
least "$(awk '$2 == "stream_pages_slow" { print $3 }' /tmp/stream)" $N "a stream fills the slow node, too"
pages=$(awk '$2 == "accesses" { print $3 }' /tmp/stream)
most "$(moved_now)" $((pages / 1000)) "of $pages pages read once by 1 KiB next to none move"
laws

# It comes and goes while others read.
cache busy $N
(while :; do dd if=/disk/busy/file of=/dev/null bs=1024; done) 2>/dev/null &
reader=$!
(while :; do dd if=/disk/busy/file of=/dev/null bs=4096; done) 2>/dev/null &
other=$!
n=0
while [ $n -lt 8 ]; do
	{ knob enabled_sources 0 && knob enabled_sources 17 && knob enabled_sources 16; } || break
	n=$((n + 1))
done
is $n 8 "it is enabled and disabled under load"
wait_for 20 reaches pghot_moved $((base + 1))
ok $? "and works afterwards"
knob enabled_sources 0
! hooked folio_mark_accessed
ok $? "off again: no hook"
reported=$(stat reported_pagecache)
sleep 1
is "$(new_reports)" 0 "and no report"
knob enabled_sources 16
rmmod pghot
ok $? "the module unloads under load"
! hooked folio_mark_accessed
ok $? "and leaves no hook"
kill $reader $other
release "$held"
finish
