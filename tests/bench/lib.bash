# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# For tests of the benchmarks that share bench/workload.h: runs of a small one on this machine, where node 0
# is fast and slow, and what must hold for all of them. Sourced from the repository's top folder.
# shellcheck source=tests/lab/tap.bash
. tests/lab/tap.bash

MAX_MB=1024		# of a working set of one percent
program=''
small=()		# arguments of each run
rc=0

# workload NAME ARGUMENT...: what is tested, with arguments that make it short
workload() {
	local mb
	program=build/bench/$1
	small=(slow_node=0 working_set=1 "${@:2}")
	[[ -x $program ]] || skip_all "$program is not built: run make"
	mb=$(awk '/MemTotal:/ { print int($4 / 102400) }' /sys/devices/system/node/node0/meminfo 2>/dev/null)
	[[ -n $mb ]] || skip_all "this kernel knows no NUMA nodes"
	[[ $mb -le $MAX_MB ]] || skip_all "one percent of this machine's memory is $mb MiB, which takes too long"
}

# run ARGUMENT...: its output is in $tmp/stdout and $tmp/stderr, its exit status is $rc
run() {
	rc=0
	"$program" "${small[@]}" "$@" >"$tmp/stdout" 2>"$tmp/stderr" || rc=$?
}

# value NAME: of the last run's result
value() {
	awk -v name="$1" '$1 == "result" && $2 == name { print $3 }' "$tmp/stdout"
}

# values NAME...: on one line
values() {
	local name all=()
	for name; do
		all+=("$(value "$name")")
	done
	echo "${all[*]}"
}

# near NAME WANT PERCENT TEXT: a result is within so many percent of what it should be
near() {
	awk -v got="$(value "$1")" -v want="$2" -v off="$3" \
		'BEGIN { d = got - want; exit !(got != "" && (d < 0 ? -d : d) * 100 <= want * off) }'
	ok $? "$4" "$1 is $(value "$1"), want $2 within $3 %"
}

# good NAME: the last run was
good() {
	is "$rc $(value pages_bad)$(cat "$tmp/stderr")" "0 0" "$1"
}

# refused STATUS REGEX NAME ARGUMENT...: one clear line
refused() {
	local status=$1 want=$2 name=$3
	run "${@:4}"
	[[ $rc -eq $status && $(wc -l <"$tmp/stderr") -eq 1 ]] && grep -qE -- "$want" "$tmp/stderr"
	ok $? "$name" "exit status $rc: $(head -n 3 "$tmp/stderr")"
}

# common RESULT...: what all workloads do; RESULT: those that must be the same for the same seed
common() {
	local start first
	refused 2 "^${program##*/}: unknown key in 'nosuch=1'; known keys: scenario " "an unknown key" nosuch=1
	refused 2 "^${program##*/}: expected KEY=VALUE, not 'x'" "no key" x
	refused 2 "^${program##*/}: bad value in 'ops=0'" "no operations" ops=0
	refused 2 "^${program##*/}: bad value in 'start=fast'" "an unknown start" start=fast
	refused 1 "^${program##*/}: slow_node=" "a node that is not there" slow_node=1000
	for start in spill slow ideal; do
		run start="$start"
		good "start=$start"
		[[ $start != spill ]] || first=$(values "$@")
		is "$(values "$@")" "$first" "start=$start: the same operations"
		is "$(value hot_pages_fast)" "$(value hot_pages)" "all hot pages are fast where all nodes are"
	done
	[[ ! $first =~ \ \ |^\ |\ $ ]]
	ok $? "all results are there" "$* are $first"
	run seed=2
	good "another seed"
	[[ $(values "$@") != "$first" ]]
	ok $? "another seed is other operations" "$first"
	run spoil=1
	is "$rc" 1 "spoil=1 is noticed"
	[[ $(value pages_bad) -ge 1 ]]
	ok $? "spoil=1: pages_bad" "$(value pages_bad)"
	like "$(cat "$tmp/stderr")" "^${program##*/}: the self-check found [1-9][0-9]* errors\$" "spoil=1: one line"
}
