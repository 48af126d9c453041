# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# shellcheck disable=SC2154 # $tmp is tap.bash's
#
# What tests of the benchmarks share. Sourced from the repository's top folder, after tests/lab/tap.bash.

# Small, and the same on all machines: all memory is node 0's, which is taken to have 64 MiB.
SMALL=(slow_node=0 fast_mb=64 working_set=50 hot_set=10 sample_ms=20)

# need PROGRAM...: ends the test if one is not built
need() {
	local program
	for program; do
		[[ -x build/bench/$program ]] || skip_all "$program is not built: run make"
	done
}

# run PROGRAM ARGUMENT...: of build/bench; $rc, and its output in $tmp/stdout and $tmp/stderr
run() {
	rc=0
	"build/bench/$1" "${@:2}" >"$tmp/stdout" 2>"$tmp/stderr" </dev/null || rc=$?
}

# small PROGRAM ARGUMENT...: run it in little memory, and complain unless it is content with itself
small() {
	run "$1" "${SMALL[@]}" "${@:2}"
	[[ $rc -eq 0 && $(value pages_bad) == 0 ]] ||
		ok 1 "$*" "exit status $rc, $(value pages_bad) bad: $(cat "$tmp/stderr")"
}

# value NAME: a result of the last run
value() {
	sed -n "s/^result $1 //p" "$tmp/stdout"
}

# good NAME: the last run ended well, and was content with itself
good() {
	is "$rc $(value pages_bad)" "0 0" "$1"
	[[ $rc -eq 0 ]] || sed 's/^/#   /' "$tmp/stderr"
}

# holds CONDITION NAME: awk's CONDITION, whose numbers were put into it
holds() {
	awk "BEGIN { exit !($1) }" </dev/null
	ok $? "$2" "not so: $1"
}

# refuses STATUS PROGRAM ARGUMENT WHAT NAME: it ends so, and with one line on stderr that has WHAT
refuses() {
	run "$2" "${SMALL[@]}" "$3"
	[[ $rc -eq $1 && $(wc -l <"$tmp/stderr") -eq 1 && $(cat "$tmp/stderr") == "$2: "*"$4"* ]]
	ok $? "$5" "exit status $rc, '$(cat "$tmp/stderr")'"
}

# near GOT WANT TOLERANCE NAME
near() {
	awk -v got="$1" -v want="$2" -v tolerance="$3" 'BEGIN {
		exit !(got != "" && got >= want - tolerance && got <= want + tolerance) }'
	ok $? "$4" "got '$1', want $2 +- $3"
}
