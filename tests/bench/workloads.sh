#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What all benchmarks that are built on bench/workload.h have in common: arguments, placement, results, and
# a self-check that notices what is wrong.
set -uo pipefail
# shellcheck source=tests/lab/tap.bash
. tests/lab/tap.bash
# shellcheck source=tests/bench/lib.bash
. tests/bench/lib.bash

# What makes a short run of a program; others get DEFAULT.
DEFAULT='ops=100000'
declare -A SHORT=(
	[llm]="ops=40 dim=64 prompt=64 dir=$tmp"
	[twotenants]="ops=20000"
)
KEYS='scenario working_set hot_set start fast_mb fast_node slow_node ops sample_ms seed spoil'
RESULTS='seconds ops rate rate_last converged_ms hot_pages hot_pages_fast pages_bad'
# Results that are times, or made of them, or of what is done until a time.
TIMES='seconds|rate|rate_last|converged_ms|batch_ops|batch_rate|lc_timed|ns_per_.*|.*_(s|ns|us|ms)|.*_(ns|us|ms)_.*|.*teps.*'

# lacks WORDS FILE PATTERN: those for which no line of the file matches PATTERN, where % is the word
lacks() {
	local word
	for word in $1; do
		grep -qE "${3//%/$word}" "$2" || echo "$word"
	done
}

# same_results PROGRAM START: the last run's results that are no times are as those of the first
same_results() {
	grep -vE "^result ($TIMES) " "$tmp/stdout" | grep '^result ' >"$tmp/results"
	if [[ -e $tmp/first ]]; then
		none "$(diff "$tmp/first" "$tmp/results")" "$1: start=$2 has the same results but for times"
	else
		mv "$tmp/results" "$tmp/first"
	fi
}

check_arguments() {
	local program=$1
	run "$program" --help
	is "$rc$(lacks "$KEYS" "$tmp/stdout" '^  %=')" 0 "$program: --help has the keys that all have"
	refuses 2 "$program" colour=red "unknown key in 'colour=red'" "$program: an unknown key is named"
	refuses 2 "$program" 17 "expected KEY=VALUE, not '17'" "$program: so is what is no argument"
	refuses 2 "$program" start=somewhere "bad value in 'start=somewhere'" "$program: and an unknown word"
	refuses 2 "$program" ops=0 "bad value in 'ops=0'" "$program: and a number out of range"
	refuses 2 "$program" seed=-1 "bad value in 'seed=-1'" "$program: and what is no number"
	refuses 1 "$program" slow_node=1023 "slow_node=1023: no node 1023 with memory" "$program: and a node that is not there"
}

check_runs() {
	local program=$1 start
	shift
	rm -f "$tmp/first"
	for start in spill slow ideal; do
		run "$program" "${SMALL[@]}" "$@" start=$start
		is "$rc $(value pages_bad)" "0 0" "$program: start=$start runs, and nothing is wrong"
		none "$(lacks "$RESULTS" "$tmp/stdout" '^result % -?[0-9.]+$'; cat "$tmp/stderr")" \
			"$program: start=$start has all results, and no complaints"
		is "$(value hot_pages_fast)" "$(value hot_pages)" "$program: start=$start finds all hot pages on the only node"
		same_results "$program" $start
	done
	# Seconds have three digits after the point.
	near "$(awk -v rate="$(value rate)" -v s="$(value seconds)" 'BEGIN { print rate * s }')" "$(value ops)" \
		"$(awk -v rate="$(value rate)" 'BEGIN { print rate / 1000 + 1 }')" "$program: rate is operations by seconds"
	PGHOT_AT_ROI="echo" run "$program" "${SMALL[@]}" "$@"
	is "$(grep -nE '^(begin|phase access|end|phase verify)$' "$tmp/stdout" | cut -d : -f 2 | paste -sd ,)" \
		"begin,phase access,end,phase verify" "$program: PGHOT_AT_ROI is told where the region of interest is"
	PGHOT_AT_ROI=false run "$program" "${SMALL[@]}" "$@"
	is "$rc $(cat "$tmp/stderr")" "1 $program: PGHOT_AT_ROI: 'false begin' failed" "$program: and can refuse it"
	run "$program" "${SMALL[@]}" "$@" spoil=1
	[[ $rc -eq 1 && $(value pages_bad) -gt 0 && $(cat "$tmp/stderr") == "$program: the self-check found "*" errors" ]]
	ok $? "$program: spoil=1 is noticed" "exit status $rc, $(value pages_bad) bad, '$(cat "$tmp/stderr")'"
}

# shellcheck disable=SC2016 # make's variable
mapfile -t programs < <(make -s --eval='list: ; @printf "%s\n" $(notdir $(WORKLOADS))' list)
[[ " ${programs[*]} " == *" gups "* ]]
ok $? "there are ${#programs[@]} benchmarks, and gups is one of them"
for program in "${programs[@]}"; do
	if [[ ! -x build/bench/$program ]]; then
		skip 1 "$program is not built: run make"
		continue
	fi
	check_arguments "$program"
	read -ra short <<<"${SHORT[$program]:-$DEFAULT}"
	check_runs "$program" "${short[@]}"
done

# --- sizes ------------------------------------------------------------------------------------

need gups
for want in 'fits 8192' 'over2 32768' 'over4 65536'; do
	run gups slow_node=0 fast_mb=64 ops=1000 hot_share=0 scenario="${want% *}"
	is "$(value hot_pages)" "${want#* }" "scenario=${want% *}: so many pages"
done
run gups slow_node=0 fast_mb=64 ops=1000 hot_share=0 scenario=over4 working_set=25
is "$(value hot_pages)" 4096 "working_set= has the last word"
refuses 1 gups hot_set=50 "hot_set=50: it must be a page or more and less than working_set, which is 50" \
	"a hot set of all memory is none"

finish
