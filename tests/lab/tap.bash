# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Test points for the host's tests that are written in bash, and what several of them need.
# Sourced from the repository's top folder.

points=0
failed=0
tmp=$(mktemp -d) || exit 1

# at_exit: what a test has to undo besides its temporary folder; may be defined again
at_exit() {
	:
}
trap 'at_exit; rm -rf "$tmp"' EXIT
trap 'exit 130' INT TERM

# ok STATUS NAME [WHY]: one test point; STATUS 0 is good, WHY explains a failure
ok() {
	points=$((points + 1))
	if [[ $1 -eq 0 ]]; then
		echo "ok $points - $2"
	else
		failed=$((failed + 1))
		echo "not ok $points - $2"
	[[ -z ${3:-} ]] || echo "#   ${3//$'\n'/$'\n'#   }"
	fi
}

# is GOT WANT NAME
is() {
	if [[ $1 == "$2" ]]; then ok 0 "$3"; else ok 1 "$3" "got '$1', want '$2'"; fi
}

# like TEXT REGEX NAME
like() {
	if [[ $1 =~ $2 ]]; then ok 0 "$3"; else ok 1 "$3" "got '$1', want a match of '$2'"; fi
}

# none TEXT NAME: there is nothing to complain about
none() {
	if [[ -z $1 ]]; then ok 0 "$2"; else ok 1 "$2" "$1"; fi
}

# skip COUNT REASON: points that cannot be made here
skip() {
	local i
	for ((i = 0; i < $1; i++)); do
		points=$((points + 1))
		echo "ok $points - # SKIP $2"
	done
}

# skip_all REASON: ends the test
skip_all() {
	echo "1..0 # SKIP $1"
	exit 0
}

finish() {
	echo "1..$points"
	exit $((failed != 0))
}

# path_farm DIR: links to all programs of PATH, so that a test can take some away or replace them
path_farm() {
	local dirs dir i
	mkdir -p "$1"
	IFS=: read -ra dirs <<<"$PATH"
	# What comes first in PATH wins, so it is linked last.
	for ((i = ${#dirs[@]} - 1; i >= 0; i--)); do
		dir=${dirs[i]}
		[[ -d $dir ]] || continue
		find -H "$(realpath "$dir")" -maxdepth 1 ! -type d -print0 | xargs -0r ln -sf -t "$1"
	done
}

# stand_in DIR NAME SCRIPT: a program of the farm that does something else
stand_in() {
	rm -f "$1/$2"
	printf '#!/bin/sh\n%s\n' "$3" >"$1/$2"
	chmod +x "$1/$2"
}

# Nothing of the caller's environment decides what a test sees.
unset KVER BUILD OUT V LAB_APPEND LAB_SLOW
