#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# lab: --timeout 900 --set node0.mem_mb=1024 --set node1.mem_mb=1024 --set plugin=count
#
# Ten minutes (stress_s= on the kernel's command line for other than 600 s) of everything at once: all
# sources, knobs that change at random, processes that come and go with all kinds of pages, memory
# pressure, cgroups, memory that goes offline, readers, and a module that is loaded and unloaded. All
# processes keep their data, and the funnel adds up.
# shellcheck source=tests/guest/lib.sh
. /job/lib.sh

KINDS='anon touch touch part map thp thp partthp holes ksm lazyfree mlock pinned piped cow fork:3 mbind:2:2 mbind:3:3 task:1:2'
CGROUPS=/sys/fs/cgroup
did=/tmp/did

# seed N: this worker's random numbers
seed() {
	# shellcheck disable=SC3028 # busybox has it
	RANDOM=$((seed + $1))
}

# below N: a random number
below() {
	# shellcheck disable=SC3028
	drawn=$((RANDOM % $1))
}

# one_of WORD...: one of them, in $drawn
one_of() {
	below $#
	shift "$drawn"
	drawn=$1
}

# doze MS: up to so many milliseconds
doze() {
	below "$1"
	usleep $((drawn * 1000))
}

running() {
	! test -e /tmp/stop
}

# done_one WHAT: count it
done_one() {
	echo >>"$did/$1"
}

# wrong WORDS: something that must not be
wrong() {
	echo "$*" >>/tmp/wrong
}

# attempt FILE TEXT: write; the module and its files may be gone at the moment
attempt() {
	why=$({ echo "$2" >"$1"; } 2>&1) && return
	case $why in
	*nonexistent* | *"o such file"* | *"can't create"*) ;;
	*) wrong "$1: $2: $why" ;;
	esac
	return 1
}

# draw_knob: a knob in $name and a value that it takes in $drawn
draw_knob() {
	one_of enabled_sources enabled_sources enabled_sources freq_threshold promote_freq_window_ms \
		promote_rate_limit_MBps kmigrated_sleep_ms kmigrated_batch_nr max_mappers mlocked \
		huge_hot_percent split_huge hwhints_period chmu_threshold chmu_epoch_us chmu_always_on \
		chmu_ready chmu_unit_bytes chmu_count pgtscan_interval_ms pgtscan_cpu_percent pgtscan_flush target_nid \
		weight_hintfaults weight_pgtscan limit_hintfaults_MBps limit_hwhints_MBps
	name=$drawn
	case $name in
	enabled_sources) one_of 0 1 2 4 8 16 63 63 63 63 63 ;;
	freq_threshold) one_of 1 2 3 6 ;;
	promote_freq_window_ms) one_of 100 1000 3000 10000 ;;
	promote_rate_limit_MBps) one_of 0 1 16 65536 ;;
	kmigrated_sleep_ms) one_of 1 10 100 1000 ;;
	kmigrated_batch_nr) one_of 1 7 512 4096 ;;
	max_mappers) one_of 1 2 64 ;;
	mlocked) one_of 0 1 2 ;;
	huge_hot_percent) one_of 0 10 100 ;;
	split_huge | chmu_always_on | chmu_ready | pgtscan_flush) one_of 0 1 ;;
	hwhints_period) one_of 5000 10000 80000 ;;
	chmu_threshold) one_of 0 1 8 1000 ;;
	chmu_epoch_us) one_of 0 100000 1000000 ;;
	chmu_unit_bytes) one_of 0 0 4096 65536 ;;
	pgtscan_interval_ms) one_of 10 100 1000 ;;
	pgtscan_cpu_percent) one_of 1 5 50 100 ;;
	target_nid) one_of -1 -1 -1 0 ;;
	chmu_count) one_of 1 2 3 ;;
	weight_*) one_of 1 2 6 ;;
	limit_*) one_of 0 0 1 16 ;;
	esac
}

knobs() {
	seed 1
	while running; do
		draw_knob
		attempt "$VM/pghot_$name" "$drawn" && done_one knobs
		doze 300
	done
}

# hold_for MS NAME NODE PAGES KIND: a process that holds pages for so long, and its data
hold_for() {
	ms=$1
	shift
	hold "$@"
	doze "$ms"
	where "$1" "$held" 0 >/dev/null
	case $4 in
	partthp | holes | lazyfree) ;;	# some or all of their pages are given back
	*) [ "$(cat "/tmp/$1/bad")" = 0 ] || wrong "$*: $(cat "/tmp/$1/bad") bad pages" ;;
	esac
	release "$held"
	rm -rf "/tmp/${1:?}"
}

# processes N: the N-th of those who start them
processes() {
	seed $((10 + $1))
	while running; do
		# shellcheck disable=SC2086 # a list
		one_of $KINDS
		kind=$drawn
		below 3000
		hold_for 4000 "process$1" 1 $((500 + drawn)) "$kind"
		done_one processes
	done
}

pressure() {
	seed 2
	while running; do
		hold_for 1000 pressure 0 $(($(free_pages 0) / 2)) anon
		echo 3 >/proc/sys/vm/drop_caches
		done_one pressure
		doze 6000
	done
}

# A process in a cgroup of its own, with a budget or left alone or neither.
cgroups() {
	seed 3
	mkdir -p /tmp/group
	while running; do
		below 3
		group=/stress$drawn
		mkdir -p "$CGROUPS$group"
		sh -c "echo \$\$ >$CGROUPS$group/cgroup.procs && exec holder 1 2000 touch /tmp/group" &
		doze 1000
		one_of "budget 100" "budget max" "optout 1" "optout 0"
		attempt /proc/pghot/memcg "$drawn $group" && done_one settings
		doze 3000
		echo 1 >"$CGROUPS$group/cgroup.kill"
		wait
		rmdir "$CGROUPS$group" || wrong "cgroup $group cannot be removed"
		done_one cgroups
	done
}

hotplug() {
	seed 4
	while running; do
		for block in $(blocks 1); do
			doze 4000
			echo offline >"$MEM/memory$block"/state 2>/dev/null || continue
			doze 2000
			echo online_movable >"$MEM/memory$block"/state || wrong "block $block does not come back"
			done_one hotplug
			running || break
		done
	done
}

readers() {
	seed 5
	dd if=/dev/zero of=/tmp/file bs=1M count=8 2>/dev/null
	while running; do
		cat /proc/pghot/* /proc/vmstat /tmp/file >/dev/null 2>&1
		done_one readers
		doze 200
	done
}

all_on() {
	knob enabled_sources 63 || wrong "all sources cannot be enabled"
}

seconds=$(sed -n 's/.*stress_s=\([0-9]*\).*/\1/p' /proc/cmdline)
seconds=${seconds:-600}
seed=$(date +%s)
note "seed $seed, $seconds s"
mkdir -p $did
mount -t cgroup2 cgroup2 $CGROUPS 2>/dev/null
echo +memory >$CGROUPS/cgroup.subtree_control
echo 2 >/proc/sys/kernel/numa_balancing
echo 1 >/sys/kernel/mm/numa/demotion_enabled
echo 1 >/sys/kernel/mm/ksm/run
echo madvise >/sys/kernel/mm/transparent_hugepage/enabled
load
all_on
for worker in knobs "processes 1" "processes 2" pressure cgroups hotplug readers; do
	$worker &
	workers="${workers:-} $!"
	# As patient as the kernel's and pghot's scanners: those would starve beside processes that spin.
	renice -n 19 -p $! >/dev/null
done
seed 0
end=$(($(date +%s) + seconds))
while [ "$(date +%s)" -lt $end ]; do
	doze 15000
	rmmod pghot || wrong "the module cannot be unloaded"
	nothing_left || wrong "something is left of the module"
	one_of byte precise
	load layout="$drawn" || wrong "the module cannot be loaded"
	all_on
	done_one loads
done
touch /tmp/stop
# shellcheck disable=SC2086 # a list
wait $workers

touch /tmp/wrong
is "$(wc -l </tmp/wrong)" 0 "nothing went wrong"
sed 's/^/#   /' /tmp/wrong | head -20 >&3
for what in knobs processes pressure cgroups settings hotplug readers loads; do
	least "$(wc -l <"$did/$what")" 1 "$what"
done
rmmod pghot
load
all_on
hold last 1 2000 touch
wait_for 60 on_node last "$held" 0 1900
least "$(where last "$held" 0)" 1900 "after all of that pages still move"
is "$(cat /tmp/last/bad)" 0 "with their contents"
release "$held"
knob enabled_sources 0
laws
is "$(vmstat nr_isolated_anon) $(vmstat nr_isolated_file)" "0 0" "no page is left isolated"
rmmod pghot
nothing_left
ok $? "nothing is left of the module"
finish
