#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# twotenants: both tenants' data right and damage noticed, latencies that count from the schedule, and each
# tenant in a cgroup of its own.
set -uo pipefail
# shellcheck source=tests/lab/tap.bash
. tests/lab/tap.bash
# shellcheck source=tests/bench/lib.bash
. tests/bench/lib.bash
need twotenants

FEW=(ops=20000 chain=8)

small twotenants "${FEW[@]}"
sum=$(value lc_checksum)
small twotenants "${FEW[@]}" batch=stream
is "$(value lc_checksum)" "$sum" "the server does the same whatever the batch does"
small twotenants "${FEW[@]}" seed=2
[[ $(value lc_checksum) != "$sum" ]]
ok $? "another seed is other requests"
run twotenants "${SMALL[@]}" "${FEW[@]}" spoil=1
is "$rc $(value pages_bad)" "1 2" "what is spoilt of each tenant is noticed"

# background ARGUMENT...: a run of which $! is the process, once it is at its requests
background() {
	rc=0
	build/bench/twotenants "${SMALL[@]}" "${FEW[@]}" "$@" >"$tmp/stdout" 2>"$tmp/stderr" &
	until grep -q '^sample' "$tmp/stdout" || ! kill -0 $! 2>/dev/null; do
		sleep 0.02
	done
}

small twotenants ops=600 chain=8 backlog=0 batch=stream
good "backlog=0, batch=stream"
[[ $(value batch_ops) -gt 0 ]]
ok $? "the batch does something" "$(value batch_ops)"
is "$(value lc_timed)" 600 "backlog=0: all requests are of the schedule"
near "$(value rate)" 1000 200 "backlog=0: as many a second as the schedule has"

# The schedule does not wait: a quarter of a second is as many late requests.
background ops=2500 backlog=0
kill -STOP $!
sleep 0.25
kill -CONT $!
wait $! || rc=$?
good "held up for a quarter of a second"
near "$(value seconds)" 2.5 0.2 "what was due in that time is served, and soon"
holds "$(value lc_max_us) >= 240000 && $(value lc_p99_us) >= 150000 && $(value lc_p50_us) < $(value lc_p99_us)" \
	"and counted from when it was due"

background ops=2000000000
batch=$(cat /proc/$!/task/$!/children)
kill -KILL "${batch% }"
wait $! || rc=$?
is "$rc $(cat "$tmp/stderr")" "1 twotenants: the batch process was ended by signal 9 (Killed)" "a tenant that is killed"
background ops=2000000000
batch=$(cat /proc/$!/task/$!/children)
kill -KILL $!
wait $! 2>/dev/null
# runs PID: not one that has ended and that nobody has waited for yet
runs() {
	grep -qs '^State:[[:space:]]*[^ZX]' "/proc/$1/status"
}
for _ in {1..50}; do
	runs "${batch% }" || break
	sleep 0.1
done
! runs "${batch% }"
ok $? "a tenant ends with the other" "$(cat "/proc/${batch% }/status" 2>&1)"

groups=$tmp/groups
mkdir -p "$groups"/{lc,batch}
touch "$groups"/{lc,batch}/cgroup.procs
refuses 1 twotenants cgroups="$groups" \
	"cgroups=$groups: no cgroup2 whose $groups/cgroup.subtree_control has memory: mount" "no memory controller"
echo cpu memory pids >"$groups/cgroup.subtree_control"
background cgroups="$groups"
pid=$!
wait $pid || rc=$?
good "cgroups=, in folders that look like them"
is "$(cat "$groups/lc/cgroup.procs")" $pid "one is the server's"
like "$(cat "$groups/batch/cgroup.procs")" '^[0-9]+$' "the other has a process"
[[ $(cat "$groups/batch/cgroup.procs") -ne $pid ]]
ok $? "which is not the server"
rm "$groups/lc/cgroup.procs"
refuses 1 twotenants cgroups="$groups" "cgroups=$groups: cannot write to $groups/lc/cgroup.procs: No such file" \
	"no cgroup"
refuses 2 twotenants cgroups=here "bad value in 'cgroups=here'" "a folder that is no absolute path"
refuses 2 twotenants batch=x "bad value in 'batch=x'" "an unknown kind of batch"
refuses 1 twotenants hot_set=50 "hot_set=50: it must be a page or more and less than working_set, which is 50" \
	"a hot set that is all"

finish
