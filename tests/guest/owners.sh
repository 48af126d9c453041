#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# lab: --timeout 250
#
# Who has a page mapped decides where it may go: memory policies, cpusets, processes that opted out,
# and pages that many have mapped.
# shellcheck source=tests/guest/lib.sh
. /job/lib.sh

N=200 PREFERRED=1 BIND=2 INTERLEAVE=3 LOCAL=4 MANY=5
dirs=0

# start KIND: a holder of N pages in a directory of its own, $dir
start() {
	dirs=$((dirs + 1))
	dir=h$dirs
	hold "$dir" 1 $N "$1"
}

# stays REASON WHAT [KIND]: the holder's pages are hot and stay, for that reason
stays() {
	[ -z "${3:-}" ] || start "$3"
	before=$(stat "refused_$1")
	report "$dir" bulk 3 8
	wait_for 10 reaches "pghot_refused_$1" $((before + N))
	least $(($(stat "refused_$1") - before)) $N "$2: refused_$1"
	sleep 1
	is "$(where "$dir" "$held" 1) $(cat "/tmp/$dir/bad")" "$N 0" "$2: the pages stay"
}

# goes WHAT [KIND]
goes() {
	[ -z "${2:-}" ] || start "$2"
	report "$dir" bulk 3 8
	wait_for 10 on_node "$dir" "$held" 0 $N
	is "$(where "$dir" "$held" 0) $(cat "/tmp/$dir/bad")" "$N 0" "$1: the pages go"
}

# costs WHAT KIND: the pages go; what it takes to ask all who have them mapped, beside the move
costs() {
	admit_us=$(stat admit_us) batch_us=$(stat batch_us)
	goes "$1" "$2"
	least $(($(stat admit_us) - admit_us)) 1 "$1: microseconds to decide on $N pages; to move them: $(($(stat batch_us) - batch_us))"
}

load
insmod /job/pghot_tester.ko
echo 0 >/proc/sys/kernel/numa_balancing
knob promote_freq_window_ms 1000
knob enabled_sources 1

stays policy "mapping bound to the slow node" mbind:$BIND:0x2
release "$held"
goes "mapping bound to both nodes" mbind:$BIND:0x3
release "$held"
stays policy "mapping that prefers some nodes, slow" mbind:$MANY:0x2
release "$held"
goes "mapping that prefers some nodes, both" mbind:$MANY:0x3
release "$held"
stays policy "mapping that prefers the slow node" mbind:$PREFERRED:0x2
release "$held"
goes "mapping that prefers the fast node" mbind:$PREFERRED:0x1
release "$held"
stays policy "interleaved mapping" mbind:$INTERLEAVE:0x3
release "$held"
goes "local allocation" mbind:$LOCAL:0
release "$held"
stays policy "shared memory bound to the slow node" shmbind:$BIND:0x2
release "$held"
goes "shared memory without a policy" shmbind:0:0
release "$held"
stays policy "process bound to the slow node" task:$BIND:0x2
release "$held"
goes "process bound to both nodes" task:$BIND:0x3
release "$held"
goes "page whose copy is bound" cow
release "$held"

mount -t cgroup2 none /sys/fs/cgroup
mkdir -p /sys/fs/cgroup/slow
echo +cpuset >/sys/fs/cgroup/cgroup.subtree_control
echo 1 >/sys/fs/cgroup/slow/cpuset.mems
start anon
echo "$held" >/sys/fs/cgroup/slow/cgroup.procs
stays cpuset "cpuset of the slow node"
echo "$held" >/sys/fs/cgroup/cgroup.procs
# The longest back-off is two windows.
sleep 3
goes "out of that cpuset"
release "$held"

start anon
echo "$held" >/proc/pghot/optout
is "$(cat /proc/pghot/optout)" "$held" "a process is on the list"
echo "$held" >/proc/pghot/optout
is "$(wc -l </proc/pghot/optout)" 1 "once"
stays optout "process that opted out"
echo "-$held" >/proc/pghot/optout
is "$(cat /proc/pghot/optout)" "" "it is taken off"
sleep 3
goes "process that opted in again"
echo "$held" >/proc/pghot/optout
release "$held"
is "$(cat /proc/pghot/optout)" "" "a dead process disappears"
for bad in 0 x 4194303 -1 "1 2" 99999999999; do
	if echo "$bad" >/proc/pghot/optout; then ok 1 "'$bad' is refused"; else ok 0 "'$bad' is refused"; fi
done
is "$(cat /proc/pghot/optout)" "" "and changes nothing"
# Whoever is on the list when the module goes is no reference left behind.
echo $$ >/proc/pghot/optout

knob max_mappers 3
stays shared "mapped four times, 3 allowed" fork:3
release "$held"
goes "mapped three times" fork:2
release "$held"
knob max_mappers 64
costs "mapped once" anon
release "$held"
costs "mapped 40 times, 64 allowed" fork:39
release "$held"
laws
rmmod pghot_tester
rmmod pghot
finish
