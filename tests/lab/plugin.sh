#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The plugin's options: what is wrong refuses to load, with one line that says so. And what the
# plugin costs: the time of an access that hits, measured and printed, not judged.
set -euo pipefail

plugin=build/lab/plugin/pghot-lab.so
if [[ ! -e $plugin ]]; then
	echo "1..0 # SKIP $plugin is not built"
	exit 0
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
points=0 bad=0

# point STATUS NAME [WHY]
point() {
	points=$((points + 1))
	if [[ $1 -eq 0 ]]; then
		echo "ok $points - $2"
	else
		bad=1
		echo "not ok $points - $2"
		[[ -z ${3:-} ]] || echo "#   $3"
	fi
}

# refused NAME OPTIONS LINE: QEMU with these options does not start and says LINE
refused() {
	local status=0 lines
	timeout 20 qemu-system-x86_64 -machine none -display none -nodefaults \
		-plugin "$plugin$2" >"$dir/out" 2>&1 </dev/null || status=$?
	lines=$(grep -c '^pghot-lab: ' "$dir/out") || true
	[[ $status -ne 0 && $status -ne 124 && $lines -eq 1 ]] && grep -qF "pghot-lab: $3" "$dir/out" &&
		status=0 || status=1
	point $status "$1" "$(head -n 1 "$dir/out")"
}

truncate -s 4M "$dir/shm"
truncate -s 1M "$dir/small"
shm=,shm=$dir/shm
refused "an unknown option" "$shm,colour=red" "bad option 'colour=red': known are shm mode"
refused "a cache size that is no power of two" "$shm,cache_kb=1000" "bad option 'cache_kb=1000': it must be a power of two"
refused "a number that is none" "$shm,cache_ways=8x" "bad option 'cache_ways=8x': it must be a power of two"
refused "a number that is too large" "$shm,scale=99999999999999999999" "bad option 'scale=99999999999999999999': it must be"
refused "a mode that is none" "$shm,mode=fast" "bad option 'mode=fast': it must be count or latency"
refused "a node without a latency" "$shm,node0=fast" "bad option 'node0=fast': it must be nodeN"
refused "a node without a bandwidth" "$shm,node0=fast:80" "bad option 'node0=fast:80': it must be nodeN"
refused "a node of no tier" "$shm,node0=warm:80:1" "bad option 'node0=warm:80:1': it must be nodeN"
refused "too many nodes" "$shm,node16=fast:80:1" "bad option 'node16=fast:80:1': it must be nodeN"
refused "a cache of less than a set" "$shm,cache_kb=1,cache_ways=16,cache_line=128" "cache_kb=1 is less than one set"
for value in 7 12 2048 -1 x ""; do
	refused "prof_slots=$value" "$shm,prof_slots=$value" "bad option 'prof_slots=$value': it must be 0 or a power of two from 8 to 1024"
done
refused "prof_ops=0" "$shm,prof_ops=0" "bad option 'prof_ops=0': it must be a number from 1 to 10000"
refused "prof_ops=10001" "$shm,prof_ops=10001" "bad option 'prof_ops=10001': it must be a number"
for value in on 32 100 2097152 exactly ""; do
	refused "chmu=$value" "$shm,chmu=$value" "bad option 'chmu=$value': it must be off, exact, or a power of two from 64 to 1048576"
done
refused "chmu_entries=7" "$shm,chmu_entries=7" "bad option 'chmu_entries=7': it must be a number from 8 to 16384"
refused "chmu_entries=16385" "$shm,chmu_entries=16385" "bad option 'chmu_entries=16385': it must be"
refused "kernel=maybe" "$shm,kernel=maybe" "bad option 'kernel=maybe': it must be on or off"
refused "no file" "" "bad option 'shm='"
refused "a file that is not there" ",shm=$dir/none" "shm=$dir/none: No such file"
refused "a file of the wrong size" ",shm=$dir/small" "shm=$dir/small: the file must have 4194304 bytes"

# usage_error LINE SET...: lab/boot with these --set is called wrongly and says LINE
usage_error() {
	local line=$1 args=() status=0 set
	shift
	for set; do
		args+=(--set "$set")
	done
	lab/boot --out "$dir/boot" "${args[@]}" >"$dir/out" 2>&1 || status=$?
	[[ $status -eq 2 && $(wc -l <"$dir/out") -eq 1 ]] && grep -qF "$line" "$dir/out" && status=0 || status=1
	point $status "--set $*" "$(head -n 1 "$dir/out")"
}

usage_error "bad plugin 'on': known are off count latency" plugin=on
usage_error "bad cache_kb '3000': it must be a power of two" cache_kb=3000
usage_error "bad cache_ways '0': it must be a number" cache_ways=0
usage_error "bad delay_scale '1.5': it must be a number" delay_scale=1.5
usage_error "bad kernel_accesses '1': known are on off" kernel_accesses=1
usage_error "bad prof_slots '12': it must be 0, or a power of two from 8 to 1024" prof_slots=12
usage_error "bad prof_slots 'x': it must be 0, or a number from 8 to 1024" prof_slots=x
usage_error "bad prof_ops '0': it must be a number from 1 to 10000" prof_ops=0
usage_error "bad chmu 'on': it must be off, exact, or a number from 64 to 1048576" chmu=on
usage_error "bad chmu '65': it must be off, exact, or a power of two from 64 to 1048576" chmu=65
usage_error "bad chmu_entries '16385': it must be a number from 8 to 16384" chmu_entries=16385

# speeds NAME [SET]: picoseconds an access, printed
speeds() {
	lab/tap "$dir/speed" --out "$dir/tap" ${2:+--set "$2"} >"$dir/out" 2>&1 || true
	awk -v name="$1" '$2 == "speed" { printf "# %s, %s: %.1f ns an access\n", name, $3, $4 / 1000 }' "$dir/out"
	grep -q '^# speed outside_ps [1-9]' "$dir/out"
	point $? "$1: measured"
}

cat >"$dir/speed" <<-'GUEST'
	#!/bin/sh
	calibrate speed | sed 's/^/# /' >&3
	echo "ok 1 - done" >&3
	echo "1..1" >&3
GUEST
speeds "no plugin"
speeds "plugin=count" plugin=count
echo "1..$points"
exit $bad
