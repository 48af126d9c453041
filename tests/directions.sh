#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Which part may include which. TAP on stdout; an offender is named by file and line.
#
# Only quoted includes are judged: angle brackets are the system's or the kernel's. A quoted name
# is looked for beside the including file, from the root, and in engine/, include/ and kmod/, because
# the module is built from one flat folder.

# The first argument, or the checkout that this script is in.
root=$(cd "${1:-$(dirname "$0")/..}" && pwd) || exit 1

# part: the parts that it may include besides itself
rules='
engine:
include:
hw: engine include
kmod: engine hw include
sim: engine include
tests: engine hw include
tools: include
bench: include
examples:
lab: include
'
# Files with more rights than their part: to a part, or to a single file.
exceptions='
bench/engine.c: engine
examples/tracker/pghot_tracker.c: kmod/pghot.h
tests/guest/tester/pghot_tester.c: kmod/pghot.h
tests/bench/graph.c: bench/bfs_check.h bench/graph.c
tests/bench/measure.c: bench/measure.c
tests/bench/place.c: bench/place.c
tests/bench/zipf.c: bench/heat.h bench/latency.h bench/permute.h bench/zipf.c
tests/lab/counters.c: lab/plugin/counters.h
'
# Files that the build makes, by the name they are included with.
generated=' probed.h '

points=0
failed=0

# rights LIST KEY: what the line "KEY: ..." of LIST says
rights() {
	echo "$1" | sed -n "s|^$2: *||p"
}

# resolve FILE NAME: path from the root of the file that #include "NAME" in FILE means
resolve() {
	for path in "$(dirname "$1")/$2" "$2" "engine/$2" "include/$2" "kmod/$2"; do
		if [ -f "$root/$path" ]; then
			realpath --relative-to="$root" "$root/$path"
			return
		fi
	done
}

# Includes of one part, one a line: file line name
includes() {
	find "$1" -type f \( -name '*.c' -o -name '*.h' -o -name '*.S' \) | sort |
		while read -r file; do
			sed -n 's/^[[:space:]]*#[[:space:]]*include[[:space:]]*"\([^"]*\)".*/\1/;t hit
				b
				:hit
				=;p' "$file" | paste -d ' ' - - | sed "s|^|$file |"
		done
}

# offenders PART: includes of it that it may not have
offenders() {
	includes "$1" | while read -r file line name; do
		case $generated in
		*" $name "*) continue ;;
		esac
		target=$(resolve "$file" "$name")
		if [ -z "$target" ]; then
			echo "$file:$line: \"$name\" is no file of this project"
			continue
		fi
		allowed=" $1 $(rights "$rules" "$1") $(rights "$exceptions" "$file") "
		case $allowed in
		*" ${target%%/*} "* | *" $target "*) ;;
		*) echo "$file:$line: $1 may not include $target" ;;
		esac
	done
}

cd "$root" || exit 1
for part in $(echo "$rules" | sed -n 's/:.*//p'); do
	points=$((points + 1))
	may=$(rights "$rules" "$part")
	name="$part includes itself${may:+, }$(echo "$may" | sed 's/ /, /g') and nothing else"
	if [ ! -d "$part" ]; then
		echo "ok $points - $name # SKIP there is no $part yet"
		continue
	fi
	bad=$(offenders "$part")
	if [ -z "$bad" ]; then
		echo "ok $points - $name"
	else
		failed=$((failed + 1))
		echo "not ok $points - $name"
		echo "$bad" | sed 's/^/#   /'
	fi
done
echo "1..$points"
[ "$failed" -eq 0 ]
